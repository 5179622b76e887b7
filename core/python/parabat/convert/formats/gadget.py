# SPDX-License-Identifier: BSD-3-Clause
"""Snapshots of Gadget, SWIFT, AREPO, GIZMO in HDF5, in one file or in many: each PartType becomes a species.

Numbers stay as they are stored; Header, Units and Cosmology go into the metadata, with what SWIFT says of
each field.
"""

import functools
import math
import os
import re

import numpy as np

from .. import hdf5
from ..model import Collector, ConvertError, Divided, Format, Step, check_memory, part_of, plain

GROUPS = ("Header", "Units", "Cosmology", "InternalCodeUnits", "RuntimePars")
PART = re.compile(r"(.*)\.(\d+)(\.(?:hdf5|h5))\Z", re.IGNORECASE)


def steps(path, options):
    with hdf5.opened(path, options) as file:
        header = file["Header"]
        time = hdf5.single(header, "Time")
    snapshot = functools.lru_cache(maxsize=None)(lambda: Snapshot(siblings(path), options))
    yield Step(lambda: _read(snapshot(), options), time=time, divided=lambda: _divided(snapshot(), options))


def siblings(path):
    """The files of a snapshot that was written in several."""
    with hdf5.opened(path) as file:
        count = int(hdf5.single(file["Header"], "NumFilesPerSnapshot", 1))
    match = PART.match(path)
    if count <= 1:
        return [path]
    if not match:
        raise ConvertError(f"is one of {count} files of a snapshot, which must be called NAME.0.hdf5, NAME.1.hdf5 ...")
    names = []
    for i in range(count):
        names.append(f"{match[1]}.{i}{match[3]}")
        if not os.path.exists(names[-1]):
            raise ConvertError(f"is one of {count} files of a snapshot, but {names[-1]} is missing")
    return names


class Species:
    """A PartType of all files."""

    def __init__(self, name):
        self.name = name
        self.counts = {}  # by number of the file
        self.fields = {}  # name -> (shape of a value, type) of the first file that has particles
        self.about = {}
        self.units = {}


class Snapshot:
    """What its files say of it."""

    def __init__(self, paths, options):
        self.paths = paths
        self.remarks = []
        self.species, self.metadata = _look(paths, options, self.remarks)


def _read(snapshot, options):
    """Particles of each species."""
    result = []
    for each in snapshot.species.values():
        check_memory(f"{each.name}: claims {sum(each.counts.values())} particles", _bytes(each, options))
        result.append(_read_one(snapshot, each, options))
    return result


def _divided(snapshot, options):
    """The same in parts."""
    return [Divided(_bytes(each, options), lambda i, n, each=each: _read_one(snapshot, each, options, i, n), each.name)
            for each in snapshot.species.values()]


def _bytes(species, options):
    requested = Collector(options).wants
    return sum(species.counts.values()) * sum(math.prod(shape) * dtype.itemsize
                                              for name, (shape, dtype) in species.fields.items() if requested(name))


def _read_one(snapshot, species, options, i=0, n=1):
    """The i-th of n parts of a species."""
    first, end = part_of(sum(species.counts.values()), i, n)
    collector = Collector(options, end - first)
    collector.remarks += snapshot.remarks
    names = [name for name in species.fields if collector.wants(name)]
    for place, name in enumerate(names):
        options.at(place / len(names))
        shape, dtype = species.fields[name]
        array = np.empty((end - first, *shape), dtype)
        if plain(array[:0])[0] is None:
            collector.leave_out(f"{species.name}/{name}", plain(array[:0])[1])
            continue
        _fill(snapshot.paths, species, name, first, array, options)
        collector.add(name, array)
    about = dict(snapshot.metadata, species=species.name, fields=species.about)
    units = {name: unit for name, unit in species.units.items() if options.wants(name)}
    if units:
        about["units"] = units
    if "Coordinates" not in collector.arrays and not options.columns:
        raise ConvertError(f"{species.name}: has no Coordinates")
    positions = None if options.columns else collector.arrays.pop("Coordinates")
    return collector.particles(positions, about, species.name)


def _look(paths, options, remarks):
    species, metadata, totals = {}, {}, None
    for number, path in enumerate(paths):
        try:
            with hdf5.opened(path, options) as file:
                counts = np.atleast_1d(file["Header"].attrs["NumPart_ThisFile"]).astype(np.int64)
                if totals is None:
                    totals = _totals(file["Header"])
                    metadata = {"gadget": {name: hdf5.attributes(file[name]) for name in GROUPS if name in file}}
                    masses = np.atleast_1d(file["Header"].attrs.get("MassTable", np.zeros(0)))
                _look_at_types(file, counts, species, number, options, remarks)
        except ConvertError as error:
            raise ConvertError(str(error) if len(paths) == 1 else f"{path}: {error}") from None
    for i, total in enumerate(totals):
        name = f"PartType{i}"
        found = sum(species[name].counts.values()) if name in species else 0
        if found != total and (options.species is None or name in options.species):
            raise ConvertError(f"{name}: the header claims {total} particles of the whole snapshot; {len(paths)} "
                               f"file{'s have' if len(paths) > 1 else ' has'} {found}")
        if found and "Masses" not in species[name].fields and i < len(masses) and masses[i]:
            species[name].about["Masses"] = {"all": float(masses[i])}
            remarks.append((f"mass {name}", f"{name} has no Masses: each is {masses[i]:g}, stored in the metadata"))
    if not species:
        raise ConvertError("has no particles" + (f" of {', '.join(options.species)}" if options.species else ""))
    return species, metadata


def _totals(header):
    if "NumPart_Total" not in header.attrs:
        raise ConvertError("Header: has no NumPart_Total")
    low = np.atleast_1d(header.attrs["NumPart_Total"]).astype(np.uint64)
    high = np.atleast_1d(header.attrs.get("NumPart_Total_HighWord", np.zeros_like(low))).astype(np.uint64)
    if len(high) != len(low):
        raise ConvertError(f"Header: {len(low)} of NumPart_Total, but {len(high)} of NumPart_Total_HighWord")
    return [int(a) + (int(b) << 32) for a, b in zip(low, high)]


def _look_at_types(file, counts, species, number, options, remarks):
    for i, count in enumerate(counts):
        name = f"PartType{i}"
        if not count or (options.species is not None and name not in options.species):
            continue
        if name not in file:
            raise ConvertError(f"the header claims {count} particles of {name}, which is missing")
        each = species.setdefault(name, Species(name))
        each.counts[number] = int(count)
        fields = {}
        for field in hdf5.datasets(file[name], remarks):
            node = file[name][field]
            if not node.shape or node.shape[0] != count:
                raise ConvertError(f"{node.name}: has shape {node.shape}, but the header claims {count} particles")
            if options.wants(field) or field == "Coordinates" or field in (options.columns or ()):
                hdf5.check(node, remarks=remarks, whole=False)
            fields[field] = (node.shape[1:], node.dtype.newbyteorder("=") if node.dtype.kind in "iuf" else node.dtype)
            if field not in each.about:
                each.about[field] = hdf5.attributes(node)
                unit = each.about[field].get("Expression for physical CGS units")
                if isinstance(unit, str) and unit.strip():
                    each.units[field] = unit.strip()
        if each.fields and fields != each.fields:
            name = next(field for field in {**fields, **each.fields} if fields.get(field) != each.fields.get(field))
            raise ConvertError(f"{each.name}/{name}: is {_reported(fields.get(name))}, but {_reported(each.fields.get(name))} in earlier files")
        each.fields = fields


def _reported(field):
    return "missing" if field is None else f"{field[1]} with shape {field[0] or 'of one number'}"


def _fill(paths, species, name, first, array, options):
    """Values of particles from `first` on, counted over all files."""
    place = -first  # of the first particle of a file in the array
    for number, path in enumerate(paths):
        count = species.counts.get(number, 0)
        begin, end = max(0, place), min(len(array), place + count)
        if begin < end:
            with hdf5.opened(path, options) as file:
                hdf5.read_into(file[species.name][name], array[begin:end], begin - place)
        place += count


FORMAT = Format("gadget", "Gadget, SWIFT, AREPO and GIZMO snapshots in HDF5", steps, modules=hdf5.MODULE,
                sniff=hdf5.sniffer(lambda file: "Header" in file and "NumPart_ThisFile" in file["Header"].attrs),
                siblings=siblings, options=("columns", "follow_links"))
