# SPDX-License-Identifier: BSD-3-Clause
"""Writes the particles of an openPMD series as .bat: one series of files for each species.

    python3 openpmd_to_bat.py diags/data_%T.h5 out/{name}_{timestep:08d}.bat
    mpirun -n 4 python3 openpmd_to_bat.py run.h5 out/{name}_{timestep:08d}.bat --follow 600

The series is one HDF5 file with all iterations, or one file for each, whose name has %T (%06T) for
the number. Existing datasets are not written again, so repeating a command resumes it. With
--follow, the program waits for new iterations. Arrays keep their types, including 64-bit ids.
Numbers are not converted, and the metadata contains the factors to SI units; --si applies them, in
double precision. Positions are the record `position` plus `positionOffset`: unchanged if the offsets
are the constant 0, otherwise in double precision. HDF5 links to other files are skipped and listed;
--follow-links reads them.

Needs h5py, numpy, mpi4py, and parabat (core/python) in PYTHONPATH.
"""

import argparse
import collections
import contextlib
import glob
import json
import os
import re
import sys
import time

import parabat
import h5py
from mpi4py import MPI
from parabat.convert import ConvertError, hdf5_links, openpmd

COMM = MPI.COMM_WORLD
Step = collections.namedtuple("Step", "number file time species")


def rows(n):
    """Those that this rank reads."""
    return slice(n * COMM.rank // COMM.size, n * (COMM.rank + 1) // COMM.size)


class Files:
    """Opens files; notes on links are printed once, by rank 0."""

    def __init__(self):
        self.start(False)

    def start(self, follows_links):
        self._follows_links, self._notes, self._printed = follows_links, {}, set()

    @contextlib.contextmanager
    def opened(self, name):
        with h5py.File(name, "r") as file:
            yield hdf5_links.root(file, self._follows_links, self._notes)
        for words in self._notes.values() if COMM.rank == 0 else ():
            if words not in self._printed:
                print(f"openpmd_to_bat: {name}: {ascii(words)[1:-1]}", file=sys.stderr, flush=True)
                self._printed.add(words)


FILES = Files()


def convert(series, step, si):
    """Collective. Writes all species of an iteration."""
    series.begin(step.number, step.time)
    try:
        with FILES.opened(step.file) as file:
            particles = next(group for number, _, group, _ in openpmd.iterations(file) if number == step.number)
            for species in openpmd.read(particles, si, rows):
                series.add(species.positions, species.attributes, species=species.name,
                           metadata=json.dumps(species.metadata))
    except (ConvertError, parabat.BatError) as error:
        series.fail(error)
    except Exception as error:  # pylint: disable=broad-except
        series.fail(ConvertError(f"{step.file}: iteration {step.number}: {error!r}"))
    return series.end()


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
            with FILES.opened(name) as file:
                for number, seconds, particles, is_closed in openpmd.iterations(file):
                    if number is None:
                        raise ConvertError(f"{name}: has no iterations; `parabat convert` reads it")
                    if is_closed:
                        found.append(Step(number, name, seconds or 0.0, list(openpmd.list_species(particles))))
        except OSError as error:
            if not is_followed:
                raise ConvertError(f"{name}: {error}") from error
            # A simulation has it open, or has not finished it.
    found.sort()
    for one, other in zip(found, found[1:]):
        if one.number == other.number:
            raise ConvertError(f"{other.file}: iteration {one.number} is also in {one.file}; each iteration may occur once")
    steps = [step for step in found if step.species]
    if not (steps or is_followed):
        raise ConvertError(f"{source}: no complete iteration with particles; at least one is required")
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
            continue  # damaged, or written by another program
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
            failure = str(error) if isinstance(error, ConvertError) else f"{source}: {error!r}"
    steps, failure = COMM.bcast((steps, failure))
    if failure is not None:
        raise ConvertError(failure)
    return steps


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("source", help="FILE.h5, or FILES_%%T.h5")
    parser.add_argument("files", help="file pattern, such as out/{name}_{timestep:08d}.bat")
    parser.add_argument("--si", action="store_true", help="write numbers in SI units, in double precision")
    parser.add_argument("--follow", type=float, metavar="SECONDS", default=0,
                        help="keep waiting for new iterations until none has arrived for this long")
    parser.add_argument("--poll", type=float, metavar="SECONDS", default=2,
                        help="how often --follow checks (default: %(default)s)")
    parser.add_argument("--follow-links", action="store_true",
                        help="follow HDF5 links to other files")
    parser.add_argument("--no-flush", action="store_true", help="do not wait until data is on disk")
    parser.add_argument("--sorted-index", action="append", default=[], metavar="RECORD",
                        help="make lookups by the values of a record, such as id, fast")
    given = parser.parse_args()
    if "{name}" not in given.files:
        parser.error(f"'{given.files}': the file pattern must contain {{name}}")
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
    FILES.start(given.follow_links)
    try:
        run(given)
        if given.follow and COMM.rank == 0:
            look(given.source, False)  # what could not be read until now is an error
    except (ConvertError, parabat.BatError) as error:
        if COMM.rank == 0:
            print(f"openpmd_to_bat: {error}", file=sys.stderr, flush=True)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
