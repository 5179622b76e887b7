# SPDX-License-Identifier: BSD-3-Clause
"""Gadget, SWIFT, AREPO and GIZMO snapshots in HDF5, in one or several files. Each PartType becomes a species.

Numbers are unchanged. Header, Units and Cosmology go into the metadata, with the attributes that SWIFT and AREPO write for
each field. The time is the Time of the header: the scale factor in cosmological runs of Gadget and AREPO, otherwise the time
in code units. BoxSize is the periodic box, unless the file states that the run is not periodic.

SWIFT writes a virtual file NAME.hdf5 next to its parts NAME.0.hdf5, NAME.1.hdf5 ...: together they are one snapshot, which
is read from the parts.
"""

import functools
import math
import os
import re

import numpy as np

from .. import hdf5
from ..model import Collector, ConvertError, Divided, Format, Step, check_memory, listed, part_of, plain

GROUPS = ("Header", "Units", "Cosmology", "InternalCodeUnits", "RuntimePars")
PART = re.compile(r"(.*)\.(\d+)(\.(?:hdf5|h5))\Z", re.IGNORECASE)
PART_TYPE = re.compile(r"PartType\d+")
ONE_OF_MANY = "use --part to convert it alone"


def steps(path, options):
    with hdf5.opened(path, options) as file:
        header = file["Header"]
        time = hdf5.single(header, "Time")
    snapshot = functools.lru_cache(maxsize=None)(lambda: Snapshot([path] if options.part else _parts(path)[0], options))
    yield Step(lambda: _read(snapshot(), options), time=time, divided=lambda: _divided(snapshot(), options))


def siblings(path):
    """Returns the files of a snapshot, beginning with the one that steps() needs. A virtual file follows the parts that it
    combines."""
    parts, virtual = _parts(path)
    if virtual is None:
        return parts
    return [*parts, *(_sources(virtual) if parts == [virtual] else [virtual])]


def _parts(path):
    """Returns the files from which a snapshot is read, and the virtual file that combines them, or None."""
    virtual, sources = path, _sources(path)
    match = PART.match(path)
    if not sources and match and os.path.isfile(match[1] + match[3]):
        virtual = match[1] + match[3]
        sources = _sources(virtual)
        if os.path.realpath(path) not in map(os.path.realpath, sources):
            sources = []
    if not sources:
        return _numbered(path), None
    # Parts with the usual names are read without the virtual file, so no link has to be followed.
    stem, end = os.path.splitext(virtual)
    found = [PART.match(each) for each in sources]
    if not all(each and (os.path.realpath(each[1]), each[3]) == (os.path.realpath(stem), end) for each in found):
        return [path], virtual if virtual == path else None
    missing = [each for each in sources if not os.path.exists(each)]
    if missing and virtual == path:
        raise ConvertError(f"combines {len(sources)} files, but {missing[0]} does not exist")
    if missing:
        raise ConvertError(f"is one of {len(sources)} files of a snapshot, but {missing[0]} is missing; {ONE_OF_MANY}")
    numbered = _numbered(sources[0])
    return numbered if set(sources) <= set(numbered) else sorted(sources, key=lambda each: int(PART.match(each)[2])), virtual


def _count(path):
    """Returns the number of files of the snapshot that a file states, and whether it states the total number of particles."""
    with hdf5.opened(path) as file:
        return int(hdf5.single(file["Header"], "NumFilesPerSnapshot", 1)), "NumPart_Total" in file["Header"].attrs


def _numbered(path):
    """Returns the files of a snapshot, in the order of their numbers."""
    count, is_counted = _count(path)
    match = PART.match(path)
    if count <= 1:
        return [path]
    if not match and not is_counted:  # a cutout
        return [path]
    if not match:
        raise ConvertError(f"is one of {count} files of a snapshot, which must be called NAME.0.hdf5, NAME.1.hdf5 ...; "
                           f"{ONE_OF_MANY}")
    names = []
    for i in range(count):
        names.append(f"{match[1]}.{i}{match[3]}")
        if not os.path.exists(names[-1]):
            raise ConvertError(f"is one of {count} files of a snapshot, but {names[-1]} is missing; {ONE_OF_MANY}")
    return names


def _sources(path):
    """Returns the files whose arrays a virtual file combines; none for other files."""
    found = {}
    try:
        with hdf5.opened(path) as file:
            for name in file:
                if PART_TYPE.fullmatch(name):
                    found.update(dict.fromkeys(hdf5.virtual_files(file[name], "Coordinates")))
    except ConvertError:
        pass  # reading the file will report the error
    return [os.path.join(os.path.dirname(path), each) for each in found]


class Species:
    """A PartType, over all files."""

    def __init__(self, name):
        self.name = name
        self.counts = {}  # by file number
        self.fields = None  # name -> (shape of a value, type) in the first file that has particles
        self.left_out = set()  # names of arrays with a wrong length in some file
        self.unreachable = set()  # names of links that are not followed
        self.about = {}
        self.units = {}


class Snapshot:
    """A snapshot, described by the headers of its files."""

    def __init__(self, paths, options):
        self.paths = paths
        self.remarks = []
        self.species, self.metadata, self.time_unit = {}, {}, None
        self._totals, self._masses = None, ()
        for number, path in enumerate(paths):
            try:
                with hdf5.opened(path, options) as file:
                    self._add(file, number, options)
            except ConvertError as error:
                raise ConvertError(str(error) if len(paths) == 1 else f"{path}: {error}") from None
        self._check_totals(options)
        self._drop_without_positions(options)
        if not self.species:
            raise ConvertError("has no particles" + (f" of {', '.join(options.species)}" if options.species else ""))

    def _add(self, file, number, options):
        counts = np.atleast_1d(file["Header"].attrs["NumPart_ThisFile"]).astype(np.int64)
        if number == 0:
            self._totals = _totals(file["Header"])
            self.metadata = {"gadget": {name: hdf5.attributes(file[name]) for name in GROUPS if name in file}}
            box = _periodic_box(file)
            if box:
                self.metadata["periodic_box"] = box
            self._masses = np.atleast_1d(file["Header"].attrs.get("MassTable", np.zeros(0)))
            if "Units" in file and "Unit time in cgs (U_t)" in file["Units"].attrs:
                self.time_unit = "U_t"
        _add_types(file, counts, self.species, number, options, self.remarks)

    def _check_totals(self, options):
        for i, total in enumerate(self._totals or ()):
            name = f"PartType{i}"
            found = sum(self.species[name].counts.values()) if name in self.species else 0
            if found != total and not options.part and (options.species is None or name in options.species):
                raise ConvertError(f"{name}: the header claims {total} particles of the whole snapshot; {len(self.paths)} "
                                   f"file{'s have' if len(self.paths) > 1 else ' has'} {found}"
                                   + (f"; {ONE_OF_MANY}" if len(self.paths) == 1 and found < total else ""))
        for name, each in self.species.items():
            i = int(name[len("PartType"):])
            if "Masses" not in each.fields and i < len(self._masses) and self._masses[i]:
                each.about["Masses"] = {"all": float(self._masses[i])}
                self.remarks.append((f"mass {name}", f"{name} has no Masses: each is {self._masses[i]:g}, stored in the "
                                                     "metadata"))

    def _drop_without_positions(self, options):
        """Leaves out species without positions, if other species have them and none was requested."""
        needed = _places(options)
        odd = [name for name, each in self.species.items() if not set(needed) <= set(each.fields) | each.unreachable]
        if options.species or len(odd) == len(self.species):
            return
        for name in odd:
            count = sum(self.species.pop(name).counts.values())
            self.remarks.append((f"no positions {name}", f"{name} is not written: its {count} particles have no "
                                                         f"{listed(needed)}"))


def _read(snapshot, options):
    """Returns the Particles of each species."""
    result = []
    for each in snapshot.species.values():
        check_memory(f"{each.name}: claims {sum(each.counts.values())} particles", _bytes(each, options))
        result.append(_read_one(snapshot, each, options))
    return result


def _divided(snapshot, options):
    """Returns a Divided for each species."""
    return [Divided(_bytes(each, options), lambda i, n, each=each: _read_one(snapshot, each, options, i, n), each.name)
            for each in snapshot.species.values()]


def _places(options):
    """Returns the names of the position arrays."""
    return [name for name in options.columns or ("Coordinates",) if name != "none"]


def _bytes(species, options):
    requested = Collector(options).wants
    return sum(species.counts.values()) * sum(math.prod(shape) * dtype.itemsize
                                              for name, (shape, dtype) in species.fields.items() if requested(name))


def _read_one(snapshot, species, options, i=0, n=1):
    """Returns the Particles of the i-th of n parts of a species."""
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
    about["units"] = {"positions" if name in _places(options) else name: unit for name, unit in species.units.items()
                      if options.wants(name) or name in _places(options)}
    if snapshot.time_unit:
        about["units"]["time"] = snapshot.time_unit
    if not about["units"]:
        del about["units"]
    if "Coordinates" not in collector.arrays and not options.columns:
        raise ConvertError(f"{species.name}: has no Coordinates")
    positions = None if options.columns else collector.arrays.pop("Coordinates")
    return collector.particles(positions, about, species.name)


def _totals(header):
    """Returns the total number of particles of the snapshot, or None for cutouts, which do not state it."""
    if "NumPart_Total" not in header.attrs:
        return None
    low = np.atleast_1d(header.attrs["NumPart_Total"]).astype(np.uint64)
    high = np.atleast_1d(header.attrs.get("NumPart_Total_HighWord", np.zeros_like(low))).astype(np.uint64)
    if len(high) != len(low):
        raise ConvertError(f"Header: {len(low)} of NumPart_Total, but {len(high)} of NumPart_Total_HighWord")
    return [int(a) + (int(b) << 32) for a, b in zip(low, high)]


def _periodic_box(file):
    """Returns the box of the header in the form that `parabat follow --unwrap` reads, or None without a box or if the run is
    not periodic. Axes without a periodic boundary are None."""
    try:
        sizes = np.atleast_1d(file["Header"].attrs["BoxSize"]).astype(float)
    except (KeyError, TypeError, ValueError):
        return None
    if sizes.shape == (1,):
        sizes = np.repeat(sizes, 3)
    if sizes.shape != (3,):
        return None
    config = hdf5.attributes(file["Config"]) if "Config" in file else {}
    parameters = hdf5.attributes(file["Parameters"]) if "Parameters" in file else {}
    is_gadget4 = config and "Git_commit" in file["Header"].attrs and "NumPart_Total_HighWord" not in file["Header"].attrs
    if str(parameters.get("InitialConditions:periodic", "1")).strip() == "0" or is_gadget4 and "PERIODIC" not in config:
        return None
    for i, axis in enumerate("XYZ"):
        sizes[i] *= _factor(config, axis, is_gadget4)
    upper = [float(size) if np.isfinite(size) and size > 0 else None for size in sizes]
    return {"lower": [None if size is None else 0 for size in upper], "upper": upper} if any(upper) else None


def _factor(config, axis, is_gadget4):
    """Returns the length of a box axis relative to BoxSize, from the code's compile options; 0 for a non-periodic axis."""
    try:
        if is_gadget4:
            return 0.5 ** int(config.get(f"LONG_{axis}_BITS", 0) or 0)
        if str(config.get(f"REFLECTIVE_{axis}", "0") or "0").strip() != "0":
            return 0
        return float(config.get(f"LONG_{axis}", 1) or 1)
    except ValueError:
        return 0


def _add_types(file, counts, species, number, options, remarks):
    for i, count in enumerate(counts):
        name = f"PartType{i}"
        if not count or (options.species is not None and name not in options.species):
            continue
        if name not in file:
            raise ConvertError(f"the header claims {count} particles of {name}, which is missing")
        each = species.setdefault(name, Species(name))
        each.counts[number] = int(count)
        each.unreachable |= {field for field in _places(options) if hdf5.has_link(file[name], field) and field not in file[name]}
        fields = _fields(file[name], int(count), each, options, remarks)
        if each.fields is not None and fields != each.fields:
            name = next(field for field in {**fields, **each.fields} if fields.get(field) != each.fields.get(field))
            raise ConvertError(f"{each.name}/{name}: is {_reported(fields.get(name))}, but {_reported(each.fields.get(name))} in "
                               "earlier files")
        each.fields = fields


def _fields(group, count, species, options, remarks):
    """Returns name -> (shape of a value, type) for the arrays of a species in a file."""
    fields = {}
    for field in hdf5.datasets(group, remarks):
        node = group[field]
        is_position = field in _places(options)
        if node.shape[0] != count or field in species.left_out:
            if is_position:
                raise ConvertError(f"{node.name}: has shape {node.shape}, but the header claims {count} particles")
            remarks.append((f"length {node.name}", f"{node.name} is not written: it has {node.shape[0]} values for {count} "
                                                   "particles"))
            species.left_out.add(field)
            if species.fields:
                species.fields.pop(field, None)
            continue
        if options.wants(field) or is_position:
            hdf5.check(node, remarks=remarks, whole=False)
        dtype = node.dtype
        native = dtype.base.newbyteorder("=") if dtype.base.kind in "iuf" else dtype.base
        fields[field] = (*node.shape[1:], *dtype.shape), native
        if field not in species.about:
            species.about[field] = hdf5.attributes(node)
            unit = species.about[field].get("Expression for physical CGS units")
            if isinstance(unit, str) and unit.strip():
                species.units[field] = unit.strip()
    return fields


def _reported(field):
    return "missing" if field is None else f"{field[1]} with shape {field[0] or 'of one number'}"


def _fill(paths, species, name, first, array, options):
    """Fills an array with values of particles from `first` on, counted over all files."""
    place = -first  # index in the array of the first particle of a file
    for number, path in enumerate(paths):
        count = species.counts.get(number, 0)
        begin, end = max(0, place), min(len(array), place + count)
        if begin < end:
            with hdf5.opened(path, options) as file:
                hdf5.read_into(file[species.name][name], array[begin:end], begin - place)
        place += count


FORMAT = Format("gadget", "Gadget, SWIFT, AREPO and GIZMO snapshots in HDF5", steps, modules=hdf5.MODULE,
                sniff=hdf5.sniffer(lambda file: "Header" in file and "NumPart_ThisFile" in file["Header"].attrs),
                siblings=siblings, options=("columns", "follow_links", "part"))
