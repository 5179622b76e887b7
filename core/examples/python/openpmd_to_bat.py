"""Writes the particles of an openPMD series as .bat: one series of files for each species.

    python3 openpmd_to_bat.py diags/data_%T.h5 out/{name}_{timestep:08d}.bat
    mpirun -n 4 python3 openpmd_to_bat.py run.h5 out/{name}_{timestep:08d}.bat --follow 600

The series is one HDF5 file with all iterations, or one file for each, whose name has %T (%06T) for
the number. What is there already is not written again, so that the same command goes on where it
has stopped; with --follow it waits for iterations that are still to come. Arrays keep their types,
ids of 64 bits included. Numbers stay as they are stored, and the metadata has what turns them into
SI units; --si does it, in double precision. Positions are those of the record `position` plus
`positionOffset`: as they are stored where the offsets are constants of 0, else in double precision.

Needs h5py, numpy, mpi4py, and parabat (core/python) in PYTHONPATH.
"""

import argparse
import collections
import glob
import json
import os
import re
import sys
import time

import parabat
import h5py
import numpy as np
from mpi4py import MPI

COMM = MPI.COMM_WORLD
AXES = ("x", "y", "z")
MOST_COMPONENTS = 9
UNITS = ("m", "kg", "s", "A", "K", "mol", "cd")  # of unitDimension

Step = collections.namedtuple("Step", "number key file time species")


class Refused(Exception):
    """What a file has and this program, or the standard, does not allow."""


def refuse(where, found, allowed):
    raise Refused(f"{where.file.filename}: {where.name}: {found}; allowed: {allowed}")


def attribute(node, name, default=None):
    if name not in node.attrs:
        if default is None:
            refuse(node, f"no attribute '{name}'", "what openPMD 1.x demands")
        return default
    value = node.attrs[name]
    if isinstance(value, bytes):
        return value.decode()
    return value.item() if isinstance(value, np.ndarray) and value.size == 1 else value


def is_constant(node):
    return isinstance(node, h5py.Group) and "value" in node.attrs


def is_component(node):
    return isinstance(node, h5py.Dataset) or is_constant(node)


def length(component):
    shape = component.shape if isinstance(component, h5py.Dataset) else attribute(component, "shape")
    shape = np.atleast_1d(shape)
    if len(shape) != 1:
        refuse(component, f"{len(shape)} dimensions", "1, the particles")
    return int(shape[0])


def rows(n):
    """Those that this rank reads."""
    return slice(n * COMM.rank // COMM.size, n * (COMM.rank + 1) // COMM.size)


def values(component, n):
    """This rank's values of a component, in the type in which they are stored."""
    if length(component) != n:
        refuse(component, f"{length(component)} values", f"{n}, as position has")
    here = rows(n)
    if is_constant(component):
        return as_number(component, np.full(here.stop - here.start, component.attrs["value"]))
    return as_number(component, component[here])


def as_number(component, array):
    if array.dtype == bool:
        array = array.astype(np.uint8)
    if array.dtype.kind not in "iuf" or array.dtype.itemsize > 8 or array.dtype == np.float16:
        refuse(component, f"type {array.dtype}", "integers of 8 to 64 bits, float32, float64")
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def unit_si(component):
    return float(attribute(component, "unitSI", 1.0))


def is_zero(component):
    return is_constant(component) and component.attrs["value"] == 0


def positions_of(species, n, si):
    """Shape (n, 3); and what turns them into metres."""
    position, offset = ({"x": node} if is_component(node) else dict(node)
                        for node in (species["position"], species["positionOffset"]))
    for record, components in (("position", position), ("positionOffset", offset)):
        if not components or set(components) - set(AXES):
            refuse(species[record], f"components '{', '.join(sorted(components))}'",
                   "x, y, z or some of them")
    for axis in set(offset) - set(position):
        if not is_zero(offset[axis]):
            refuse(offset[axis], "an offset of a component that position lacks", "a constant of 0")
    arrays = {axis: values(component, n) for axis, component in position.items()}
    for axis, array in arrays.items():
        if array.dtype.kind != "f":
            refuse(position[axis], f"type {array.dtype}", "float32, float64")
    units = {axis: unit_si(component) for axis, component in position.items()}
    unit = 1.0 if si else max(units.values())
    if any(u != unit for u in units.values()) or not all(map(is_zero, offset.values())):
        for axis, array in arrays.items():
            arrays[axis] = array.astype(np.float64) * (units[axis] / unit)
            if axis in offset:
                arrays[axis] += values(offset[axis], n) * (unit_si(offset[axis]) / unit)
    type_ = np.result_type(*arrays.values())
    here = rows(n)
    zeros = np.zeros(here.stop - here.start, type_)  # a plane or a line
    return np.column_stack([arrays.get(axis, zeros) for axis in AXES]), unit


def record_of(node, name, n, si):
    """Attributes that a record becomes, each with what turns it into SI units."""
    if is_component(node):
        components = {"": node}
    else:
        components = {c: node[c] for c in node if is_component(node[c])}
        if set(components) != set(node):
            refuse(node, f"groups or data sets {', '.join(sorted(set(node) - set(components)))}",
                   "components")
    names = [a for a in AXES if a in components] + sorted(set(components) - set(AXES))
    arrays = [values(components[c], n) for c in names]
    units = [unit_si(components[c]) for c in names]
    if si:
        arrays = [a if u == 1.0 else a.astype(np.float64) * u for a, u in zip(arrays, units)]
        units = [1.0] * len(units)
    alike = len({a.dtype for a in arrays}) == 1 and len(set(units)) == 1
    if len(arrays) == 1 and names[0] == "":
        return {name: (arrays[0], units[0])}
    if alike and 1 < len(arrays) <= MOST_COMPONENTS:
        return {name: (np.column_stack(arrays), units[0])}
    return {f"{name}_{c}": (a, u) for c, a, u in zip(names, arrays, units)}


def unit_text(node):
    powers = np.atleast_1d(attribute(node, "unitDimension", np.zeros(7)))
    if len(powers) != 7:
        refuse(node, f"unitDimension of {len(powers)} numbers", "7")
    return " ".join(u if p == 1 else f"{u}^{p:g}" for u, p in zip(UNITS, powers) if p != 0)


def species_of(particles):
    """Those with particles' positions; other groups are not the standard's."""
    return {name: node for name, node in particles.items()
            if isinstance(node, h5py.Group) and "position" in node and "positionOffset" in node}


def count_of(species):
    node = species["position"]
    components = [node] if is_component(node) else [c for c in node.values() if is_component(c)]
    if not components:
        refuse(node, "no component", "x, y, z or some of them")
    return length(components[0])


def add_species(series, particles, si):
    for name, species in species_of(particles).items():
        n = count_of(species)
        positions, unit = positions_of(species, n, si)
        attributes, factors, units = {}, {"position": unit}, {}
        for record, node in species.items():
            if record in ("position", "positionOffset", "particlePatches"):
                continue
            for key, (array, factor) in record_of(node, record, n, si).items():
                if key in attributes:
                    refuse(node, f"'{key}', which another record becomes too", "names that differ")
                attributes[key], factors[key] = array, factor
                if factor == 1.0 and unit_text(node):
                    units[key] = unit_text(node)
        series.add(positions, attributes, species=name, metadata=json.dumps(
            {"units": units, "openPMD": {"species": name, "unitSI": factors}}))


def convert(series, step, si):
    """Collective. Writes all species of an iteration."""
    series.begin(step.number, step.time)
    try:
        with h5py.File(step.file, "r") as file:
            add_species(series, file[f"data/{step.key}/{check_file(file)}"], si)
    except (Refused, parabat.BatError) as error:
        series.fail(error)
    except Exception as error:  # pylint: disable=broad-except
        series.fail(Refused(f"{step.file}: iteration {step.number}: {error!r}"))
    return series.end()


def check_file(file):
    version = str(attribute(file, "openPMD"))
    if not version.startswith("1."):
        refuse(file, f"openPMD {version}", "1.x")
    base = str(attribute(file, "basePath")).strip("/")
    if base != "data/%T":
        refuse(file, f"basePath '{base}'", "/data/%T/")
    return str(attribute(file, "particlesPath", "particles/")).strip("/")


def is_closed(iteration):
    return bool(attribute(iteration, "closed", True))


def files_of(source):
    """Files of a series with the numbers in their names; one file without a number otherwise."""
    pattern = re.search(r"%0?\d*T", source)
    if not pattern:
        return [source]
    before, after = source[:pattern.start()], source[pattern.end():]
    number = re.compile(re.escape(before) + r"(\d+)" + re.escape(after) + r"\Z")
    found = [f for f in glob.glob(glob.escape(before) + "*" + glob.escape(after)) if number.match(f)]
    return sorted(found, key=lambda f: int(number.match(f).group(1)))


def look(source, is_followed):
    """The Steps that are finished, ascending."""
    found = []
    for name in files_of(source):
        try:
            with h5py.File(name, "r") as file:
                particles_path = check_file(file)
                for key, iteration in file.get("data", {}).items():
                    if not key.isdecimal():
                        refuse(iteration, f"iteration '{key}'", "numbers")
                    if is_closed(iteration) and particles_path in iteration:
                        seconds = attribute(iteration, "time", 0.0) * attribute(iteration, "timeUnitSI", 1.0)
                        species = list(species_of(iteration[particles_path]))
                        found.append(Step(int(key), key, name, float(seconds), species))
        except OSError as error:
            if not is_followed:
                raise Refused(f"{name}: {error}") from error
            # A simulation has it open, or has not finished it.
    found.sort()
    for one, other in zip(found, found[1:]):
        if one.number == other.number:
            raise Refused(f"{other.file}: iteration {one.number} is in {one.file} too; allowed: each once")
    steps = [step for step in found if step.species]
    if not (steps or is_followed):
        raise Refused(f"{source}: no finished iteration with particles; allowed: one and more")
    return steps


def written(files):
    """(number, species) of what is there."""
    done = set()
    root, extension = os.path.splitext(files)
    files = root + ("" if "timestep" in root or "ts" in root else "*") + (extension or ".bat")
    for path in glob.glob(re.sub(r"\{(name|channel|time|timestep)[^}]*\}|%\d*ts", "*", glob.escape(files))):
        try:
            with parabat.Dataset(path) as dataset:
                done.add((dataset.step, json.loads(dataset.metadata)["openPMD"]["species"]))
        except (parabat.BatError, ValueError, KeyError, TypeError):
            continue  # damaged, or somebody else's
    return done


def pending(source, is_followed, done):
    """Collective. Steps from the first that is not written on; `done` is rank 0's."""
    steps, failure = None, None
    if COMM.rank == 0:
        try:
            steps = look(source, is_followed)
            while steps and all((steps[0].number, s) in done for s in steps[0].species):
                steps.pop(0)
        except Exception as error:  # pylint: disable=broad-except
            failure = str(error) if isinstance(error, Refused) else f"{source}: {error!r}"
    steps, failure = COMM.bcast((steps, failure))
    if failure is not None:
        raise Refused(failure)
    return steps


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("source", help="FILE.h5, or FILES_%%T.h5")
    parser.add_argument("files", help="pattern of the files, as out/{name}_{timestep:08d}.bat")
    parser.add_argument("--si", action="store_true", help="numbers in SI units, in double precision")
    parser.add_argument("--follow", type=float, metavar="SECONDS", default=0,
                        help="go on until no iteration has come for so long")
    parser.add_argument("--poll", type=float, metavar="SECONDS", default=2,
                        help="how often --follow looks (default: %(default)s)")
    parser.add_argument("--no-flush", action="store_true", help="do not wait for the disk")
    parser.add_argument("--sorted-index", action="append", default=[], metavar="RECORD",
                        help="find particles by the values of a record, as id, at once")
    given = parser.parse_args()
    if "{name}" not in given.files:
        parser.error(f"'{given.files}': the pattern of the files must have {{name}} in it")
    return given


def run(given):
    done = written(given.files) if COMM.rank == 0 else set()
    last = time.monotonic()
    with parabat.Series(given.files, COMM, flush=not given.no_flush,
                    sorted_indexes=given.sorted_index) as series:
        while True:
            steps = pending(given.source, given.follow > 0, done)
            for step in steps:
                report = convert(series, step, given.si)
                done.update((step.number, name) for name in step.species)
                if COMM.rank == 0:
                    print(f"iteration {step.number}: {', '.join(step.species)}: {report.json()}", flush=True)
            last = time.monotonic() if steps else last
            if not COMM.bcast(time.monotonic() - last < given.follow):
                return
            time.sleep(given.poll)


def main():
    given = arguments()
    try:
        run(given)
        if given.follow and COMM.rank == 0:
            look(given.source, False)  # what could not be read until now is an error
    except (Refused, parabat.BatError) as error:
        if COMM.rank == 0:
            print(f"openpmd_to_bat: {error}", file=sys.stderr, flush=True)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
