# SPDX-License-Identifier: BSD-3-Clause
"""Particles in openPMD files (HDF5, openPMD 1.x): each species with its records, for all or a share of its rows.

Numbers are either unchanged, with factors that convert them to SI units, or multiplied by these factors in double precision.
Positions are the record `position` plus `positionOffset`: unchanged if the offsets are constants of 0 or missing, otherwise in
double precision.

    data/100/particles/electrons/position/x     a species in the group `particlesPath`
    data/1/position/x                           extension BeamPhysics: that group may itself be a species without a name,
    particles/electron/position/x               and iterations may be missing (basePath "/")
"""

import collections
import functools

import numpy as np

from . import hdf5
from .model import MAX_COMPONENTS, ConvertError, check_memory, listed

try:
    import h5py
except ImportError:  # h5py is only needed for HDF5
    h5py = None

AXES = ("x", "y", "z")
BEAM = ("speciesType", "numParticles", "totalCharge", "chargeLive", "chargeUnitSI", "latticeElementName")  # attributes
UNITS = ("m", "kg", "s", "A", "K", "mol", "cd")  # the base units of unitDimension

Species = collections.namedtuple("Species", "name positions attributes metadata")


class OddRecord(ConvertError):
    """A record that cannot be an attribute."""


def refuse(where, found, allowed, kind=ConvertError):
    raise kind(f"{where.file.filename}: {where.name}: {found}; allowed: {allowed}")


def attribute(node, name, default=None):
    if name not in node.attrs:
        if default is None:
            refuse(node, f"no attribute '{name}'", "what openPMD 1.x requires")
        return default
    value = node.attrs[name]
    if isinstance(value, bytes):
        return value.decode()
    return value.item() if isinstance(value, np.ndarray) and value.size == 1 else value


def is_array(node):
    """Returns whether a node is an array, of h5py or of another library (is_array)."""
    return getattr(node, "is_array", False) or (h5py is not None and isinstance(node, h5py.Dataset))


def is_constant(node):
    return not is_array(node) and "value" in node.attrs


def is_component(node):
    return is_array(node) or is_constant(node)


def length(component):
    shape = component.shape if is_array(component) else attribute(component, "shape")
    shape = np.atleast_1d(shape)
    if len(shape) != 1:
        refuse(component, f"{len(shape)} dimensions", "1, the particles", OddRecord)
    return int(shape[0])


def values(component, n, here, remarks=None):
    """Returns the values of a component in the rows `here` of n, in their stored type."""
    if length(component) != n:
        refuse(component, f"{length(component)} values", f"{n}, like position")
    check_memory(f"{component.name}: claims {n} values", (here.stop - here.start) * 8)
    if is_constant(component):
        return as_number(component, np.full(here.stop - here.start, component.attrs["value"]))
    read = getattr(component, "read", None) or functools.partial(hdf5.read, component)
    return as_number(component, read(here, remarks))


def as_number(component, array):
    if array.dtype == bool:
        array = array.astype(np.uint8)
    if array.dtype.kind not in "iuf" or array.dtype.itemsize > 8 or array.dtype == np.float16:
        refuse(component, f"type {array.dtype}", "integers of 8 to 64 bits, float32, float64", OddRecord)
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def unit_si(component):
    return float(attribute(component, "unitSI", 1.0))


def is_zero(component):
    return is_constant(component) and component.attrs["value"] == 0


def positions_of(species, n, si, here, remarks=None):
    """Returns positions of shape (n, 3), and the factors that convert them to metres."""
    position, offset = ({} if record not in species else {"x": species[record]} if is_component(species[record]) else
                        dict(species[record]) for record in ("position", "positionOffset"))
    for record, components in (("position", position), ("positionOffset", offset)):
        if (not components and record in species) or set(components) - set(AXES):
            refuse(species[record], f"components '{', '.join(sorted(components))}'",
                   "x, y, z or some of them")
    for axis in set(offset) - set(position):
        if not is_zero(offset[axis]):
            refuse(offset[axis], "an offset of a component missing from position", "a constant of 0")
    arrays = {axis: values(component, n, here, remarks) for axis, component in position.items()}
    for axis, array in arrays.items():
        if array.dtype.kind != "f":
            refuse(position[axis], f"type {array.dtype}", "float32, float64")
    units = {axis: unit_si(component) for axis, component in position.items()}
    unit = 1.0 if si else max(units.values())
    if any(u != unit for u in units.values()) or not all(map(is_zero, offset.values())):
        for axis, array in arrays.items():
            arrays[axis] = array.astype(np.float64) * (units[axis] / unit)
            if axis in offset:
                arrays[axis] += values(offset[axis], n, here, remarks) * (unit_si(offset[axis]) / unit)
    type_ = np.result_type(*arrays.values())
    zeros = np.zeros(here.stop - here.start, type_)  # positions in a plane or on a line
    return np.column_stack([arrays.get(axis, zeros) for axis in AXES]), unit


def find_record(node, name, n, si, here, remarks=None):
    """Returns the attributes that a record becomes: name -> (values, factor to SI units)."""
    if is_component(node):
        components = {"": node}
    else:
        components = {c: node[c] for c in node if is_component(node[c])}
        if set(components) != set(node):
            refuse(node, f"groups or data sets {', '.join(sorted(set(node) - set(components)))}",
                   "components", OddRecord)
        if not components:
            refuse(node, "no components", "at least 1", OddRecord)
    names = [a for a in AXES if a in components] + sorted(set(components) - set(AXES))
    arrays = [values(components[c], n, here, remarks) for c in names]
    units = [unit_si(components[c]) for c in names]
    if si:
        arrays = [a if u == 1.0 else a.astype(np.float64) * u for a, u in zip(arrays, units)]
        units = [1.0] * len(units)
    alike = len({a.dtype for a in arrays}) == 1 and len(set(units)) == 1
    if len(arrays) == 1 and names[0] == "":
        return {name: (arrays[0], units[0])}
    if alike and 1 < len(arrays) <= MAX_COMPONENTS:
        return {name: (np.column_stack(arrays), units[0])}
    return {f"{name}_{c}": (a, u) for c, a, u in zip(names, arrays, units)}


def unit_text(node):
    """Returns the SI unit of a record. BeamPhysics stores the dimension in its components."""
    if "unitDimension" not in node.attrs and not is_component(node):
        node = next((each for each in node.values() if "unitDimension" in each.attrs), node)
    powers = np.atleast_1d(attribute(node, "unitDimension", np.zeros(7)))
    if len(powers) != 7:
        refuse(node, f"unitDimension of {len(powers)} numbers", "7")
    return " ".join(u if p == 1 else f"{u}^{p:g}" for u, p in zip(UNITS, powers) if p != 0)


def list_species(particles):
    """Returns the groups with positions, by name; "" stands for `particles` itself."""
    if "position" in particles and not is_array(particles["position"]) and set(particles["position"]) & set(AXES):
        return {"": particles}
    return {name: node for name, node in particles.items() if not is_array(node) and "position" in node}


def count_of(species):
    node = species["position"]
    components = [node] if is_component(node) else [c for c in node.values() if is_component(c)]
    if not components:
        refuse(node, "no component", "x, y, z or some of them")
    return length(components[0])


def check_file(file):
    """Returns the paths of the iterations (None if the file has none) and of the particles in each."""
    version = str(attribute(file, "openPMD"))
    is_beam = "BeamPhysics" in str(attribute(file, "openPMDextension", 0))
    if not version.startswith("1.") and not (is_beam and version.startswith("2.")):
        refuse(file, f"openPMD {version}", "1.x")
    base = str(attribute(file, "basePath")).strip("/")
    if base != "data/%T" and (base or not is_beam):
        refuse(file, f"basePath '{base}'", "/data/%T/")
    particles = str(attribute(file, "particlesPath", "particles/")).strip("./")
    return base.rpartition("/")[0] or None, particles


def in_group(group, path):
    """Returns the group at a path, which may be empty, or None if it is missing."""
    return group if not path else group[path] if path in group else None


def is_closed(iteration):
    return bool(attribute(iteration, "closed", True))


def read(particles, si=False, share=lambda n: slice(0, n), wants=lambda species, name: True,
         remarks=None):
    """Yields each Species of the group `particles`. share(n): returns which of n rows to read. wants(species, name): whether
    to read a record, or, if name is None, the species. remarks: receives messages about arrays."""
    remarks_of = [] if remarks is None else remarks
    for name, species in list_species(particles).items():
        if not wants(name, None):
            continue
        n = count_of(species)
        here = share(n)
        positions, unit = positions_of(species, n, si, here, remarks)
        if "positionOffset" not in species:
            remarks_of.append(("offset", f"{name + ' has' if name else 'the particles have'} no positionOffset; 0 "
                               "is used"))
        attributes, factors, units = {}, {"position": unit}, {}
        for record, node in species.items():
            if record in ("position", "positionOffset", "particlePatches"):
                continue
            if not wants(name, record):
                continue
            if record + "Offset" in species:
                remarks_of.append((f"offset {record}", f"'{record}' does not include '{record}Offset', which is an attribute "
                                   "too"))
            try:
                found = find_record(node, record, n, si, here, remarks)
            except OddRecord as error:
                if remarks is None:
                    raise
                why = str(error).removeprefix(f"{node.file.filename}: ")
                remarks.append((f"left out {record}", f"'{record}' is not written: {why}"))
                continue
            for key, (array, factor) in found.items():
                if key in attributes:
                    refuse(node, f"'{key}', also the name of another record", "distinct names")
                attributes[key], factors[key] = array, factor
                if factor == 1.0 and unit_text(node):
                    units[key] = unit_text(node)
        if unit == 1.0 and unit_text(species["position"]):
            units["positions"] = unit_text(species["position"])
        about = {key: value for key, value in species.attrs.items() if key in BEAM}
        yield Species(name, positions, attributes, {
            "units": units, "openPMD": {"species": name, "unitSI": factors, **({"beam": about} if about else {})}})


def iterations(file):
    """Returns (number, seconds, particle group, whether the simulation has finished it) for iterations with particles, in
    ascending order. Unfinished iterations are not inspected. seconds: None if the file has no time. number: None for a file
    without iterations."""
    folder, path = check_file(file)
    if folder is None:
        particles = in_group(file, path)
        return [] if particles is None else [(None, None, particles, True)]
    found = []
    for key, iteration in file.get(folder, {}).items():
        if not key.isdecimal():
            refuse(iteration, f"iteration '{key}'", "numbers")
        if not is_closed(iteration):
            found.append((int(key), None, None, False))
            continue
        particles = in_group(iteration, path)
        if particles is not None:
            found.append((int(key), seconds_of(iteration), particles, True))
    return sorted(found, key=lambda each: each[0])


def seconds_of(iteration):
    if "time" not in iteration.attrs:
        return None
    return float(attribute(iteration, "time") * attribute(iteration, "timeUnitSI", 1.0))


def why_none(file):
    """Explains why no complete iteration has particles."""
    folder, path = check_file(file)
    base = file if folder is None else in_group(file, folder)
    if base is None:
        return f"the group /{folder}, which holds the iterations, is missing"
    if folder is not None and not len(base):
        return f"the group /{folder} has no iterations"
    groups = [base] if folder is None else sorted(base.values(), key=lambda node: (len(node.name), node.name))
    unfinished = [node.name for node in groups if not is_closed(node)]
    if len(unfinished) == len(groups):
        return f"the attribute 'closed' of {listed(unfinished)} is 0: the simulation has not finished writing"
    group = next(node for node in groups if is_closed(node))
    particles = in_group(group, path)
    if particles is None:
        return f"{group.name} has no group '{path}' (particlesPath); it has {listed(group)}"
    if not len(particles):
        return f"{particles.name} is empty"
    species = next((node for node in particles.values() if not is_array(node)), particles)
    return f"{species.name} has no position; it has {listed(species)}"
