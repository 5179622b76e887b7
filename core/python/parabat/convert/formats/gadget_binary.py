# SPDX-License-Identifier: BSD-3-Clause
"""Binary Gadget snapshots in formats 1 and 2, in either byte order, in one or several files. Each particle type becomes a
species, PartType0 to PartType5. Attributes are named after the blocks of format 2.

A file is a sequence of blocks, each between two equal lengths of 4 bytes:

    256 | header                       | 256     numbers of particles, masses, time, box ...
      n | positions                    | n       all types one after the other, float32 or float64
      n | velocities                   | n
      n | ids                          | n       32 or 64 bits
      n | masses                       | n       of the types whose mass in the header is 0
      n | internal energy, density ... | n       of gas

In format 2, each block follows one of 8 bytes with a name and a length. In format 1, blocks have no names: those in the
standard order are known, others are left out.
"""

import functools
import os
import re
import struct

import numpy as np

from ..model import Collector, ConvertError, Divided, Format, Step, check_memory, listed, open_all, part_of

PART = re.compile(r"(.*)\.(\d+)\Z")
ONE_OF_MANY = "use --part to convert it alone"
HEADER = 256
MAX_BLOCKS = 1000
TYPES = 6
ALL, GAS, STARS, HOLES = (0, 1, 2, 3, 4, 5), (0,), (4,), (5,)
# Named blocks of format 2: components, and the types that have them. MASS depends on the header.
BLOCKS = {"POS": (3, ALL), "VEL": (3, ALL), "ID": (1, ALL), "MASS": (1, None), "U": (1, GAS), "RHO": (1, GAS), "HSML": (1, GAS),
          "NE": (1, GAS), "NH": (1, GAS), "NHP": (1, GAS), "NHE": (1, GAS), "SFR": (1, GAS), "TEMP": (1, GAS), "ENDT": (1, GAS),
          "BFLD": (3, GAS), "AGE": (1, STARS), "HSMS": (1, STARS), "BHMA": (1, HOLES), "BHMD": (1, HOLES), "POT": (1, ALL),
          "ACCE": (3, ALL), "TSTP": (1, ALL)}
ORDER = ("POS", "VEL", "ID", "MASS", "U", "RHO")  # order in format 1; HSML is next in runs without cooling
INFO_TYPES = {"FLOAT": "f4", "FLOATN": "f4", "DOUBLE": "f8", "DOUBLEN": "f8", "LONG": "u4", "LLONG": "u8"}


class Header:
    """The header, which is the first block of a file."""

    def __init__(self, block, order):
        integers = np.frombuffer(block, order + "i4")
        self.counts = integers[:6].tolist()
        self.masses = np.frombuffer(block, order + "f8", 6, 24).tolist()
        self.time, self.redshift = struct.unpack_from(order + "2d", block, 72)
        low, high = (np.frombuffer(block, order + "u4", 6, place).astype(np.uint64) for place in (96, 168))
        self.totals = [int(a) + (int(b) << 32) for a, b in zip(low, high)]
        self.files = int(integers[31])
        self.box, self.omega, self.lambda_, self.hubble = struct.unpack_from(order + "4d", block, 128)
        self.flags = {"Flag_Sfr": integers[22], "Flag_Feedback": integers[23], "Flag_Cooling": integers[30],
                      "Flag_StellarAge": integers[40], "Flag_Metals": integers[41], "Flag_Entropy_ICs": integers[48],
                      "Flag_DoublePrecision": integers[49]}

    def metadata(self):
        about = {"NumPart_ThisFile": self.counts, "NumPart_Total": self.totals, "MassTable": self.masses, "Time": self.time,
                 "Redshift": self.redshift, "NumFilesPerSnapshot": self.files, "BoxSize": self.box, "Omega0": self.omega,
                 "OmegaLambda": self.lambda_, "HubbleParam": self.hubble}
        return {**about, **{name: int(value) for name, value in self.flags.items()}}


class File:
    """One file: its header, and the locations of its blocks."""

    def __init__(self, path):
        self.path = path
        self.remarks = []
        self._size = os.path.getsize(path)
        with open(path, "rb") as file:
            self.order, self.is_named = _kind(file.read(16))
            self._file, self._place = file, 0
            name = self._name() if self.is_named else "HEAD"
            begin, size = self._record(name)
            if size != HEADER:
                raise ConvertError(f"its header has {size} bytes; allowed: {HEADER}")
            file.seek(begin)
            self.header = Header(file.read(size), self.order)
            if min(self.header.counts) < 0:
                raise ConvertError(f"its header claims {min(self.header.counts)} particles of a type")
            self.blocks = {}  # name -> (first byte, type, components, particle types)
            self._info = {}
            self._find_blocks()
        missing = [name for name in ("POS", "VEL", "ID") if name not in self.blocks and sum(self.header.counts)]
        if "POS" in missing or missing and not self.is_named:
            raise ConvertError(f"has no block {missing[0]}")

    def count(self, types):
        return sum(self.header.counts[i] for i in types)

    def _bytes(self, count):
        taken = self._file.read(count)
        if len(taken) < count:
            raise ConvertError(f"ends at byte {self._size}, within a block that starts at byte {self._place}")
        return taken

    def _name(self):
        """Reads the name of the next block in format 2."""
        self._file.seek(self._place)
        first, name, _, last = struct.unpack(self.order + "i4sii", self._bytes(16))
        if first != 8 or last != 8:
            raise ConvertError(f"byte {self._place}: the name of a block is expected, between two lengths of 8; found {first} "
                               f"and {last}")
        self._place += 16
        return name.decode("latin-1").strip(" \0") or "block"

    def _record(self, name, expected=()):
        """Returns the first byte and size of the next block. expected: possible sizes; lengths are stored modulo 2^32."""
        self._file.seek(self._place)
        length, = struct.unpack(self.order + "I", self._bytes(4))
        size = next((each for each in expected if each % 2 ** 32 == length), length)
        begin = self._place + 4
        if begin + size + 4 > self._size:
            raise ConvertError(f"block {name}: has {size} bytes from byte {begin} on, but the file ends at byte {self._size}")
        self._file.seek(begin + size)
        last, = struct.unpack(self.order + "I", self._bytes(4))
        if last != length:
            raise ConvertError(f"block {name}: its length is {length} before and {last} after it (byte {begin})")
        self._place = begin + size + 4
        return begin, size

    def _find_blocks(self):
        waiting = [name for name in self._standard() if self.count(self._types(name))]
        number = 0
        while self._place < self._size:
            number += 1
            if number > MAX_BLOCKS:
                raise ConvertError(f"has more than {MAX_BLOCKS} blocks")
            if self.is_named:
                name = self._name()
            else:
                name = waiting.pop(0) if waiting else f"block {number}"
            values = BLOCKS[name][0] * self.count(self._types(name)) if name in BLOCKS else 0
            begin, size = self._record(name, (4 * values, 8 * values) if values else ())
            if name == "INFO":
                self._read_info(begin, size)
            elif name in self.blocks:
                raise ConvertError(f"has two blocks that are named '{name}'")
            elif values and size in (4 * values, 8 * values):
                kind = ("u" if name == "ID" else "f") + str(size // values)
                self.blocks[name] = begin, np.dtype(self.order + kind), BLOCKS[name][0], self._types(name)
            elif name in ("POS", "VEL", "ID", "MASS") and (values or size):
                raise ConvertError(f"block {name}: has {size} bytes, but the header claims {self.count(self._types(name))} "
                                   f"particles; allowed: {4 * values}, {8 * values}")
            elif size:
                waiting.clear()  # the following blocks are uncertain too
                self._guess(name if self.is_named else f"block {number}", begin, size)

    def _standard(self):
        """Returns the block names in format 1."""
        has_unnamed = self.header.flags["Flag_Cooling"] or self.header.flags["Flag_Sfr"]
        return ORDER if has_unnamed else (*ORDER, "HSML")

    def _types(self, name):
        types = BLOCKS[name][1]
        return [i for i in ALL if self.header.masses[i] == 0] if types is None else types

    def _read_info(self, begin, size):
        """Reads the block INFO: 40 bytes per block with its name, type, components, and the particle types that have it."""
        self._file.seek(begin)
        for name, kind, components, *present in struct.iter_unpack(self.order + "4s8si6i", self._bytes(size // 40 * 40)):
            kind = INFO_TYPES.get(kind.decode("latin-1").strip(" \0"))
            if kind and 0 < components < 1000:
                self._info[name.decode("latin-1").strip(" \0")] = kind, components, [i for i in ALL if present[i]]

    def _guess(self, name, begin, size):
        """Adds a block whose form is given by the block INFO, or whose size fits only one form."""
        if not self.is_named:
            self.remarks.append((f"left out {name}", f"{name} after the header is not written: format 1 does not name it, {size} "
                                                     "bytes"))
            return
        if name in self._info:
            kind, components, types = self._info[name]
            if size == self.count(types) * components * int(kind[1]):
                self.blocks[name] = begin, np.dtype(self.order + kind), components, types
                return
        precision = self.blocks["POS"][1].itemsize if "POS" in self.blocks else 4
        forms = {}
        for types in (ALL, *((i,) for i in ALL), (0, 4), (1, 2, 3, 4, 5)):
            for components in (1, 3):
                if self.count(types) and size == self.count(types) * components * precision:
                    having = tuple(i for i in types if self.header.counts[i])
                    forms[having, components] = begin, np.dtype(f"{self.order}f{precision}"), components, having
        if len(forms) != 1:
            self.remarks.append((f"left out {name}", f"'{name}' is not written: its {size} bytes fit "
                                 + ("values of several types of particles" if forms else "no type of particles")))
            return
        (types, components), self.blocks[name] = forms.popitem()
        self.remarks.append((f"form {name}", f"'{name}' is read as {components} float{8 * precision} for each particle of "
                             f"{listed(f'PartType{i}' for i in types)}, the only form that its size fits"))

    def fields(self, kind):
        """Returns name -> (components, type) for the values of a particle type."""
        return {name: (components, dtype.newbyteorder("="))
                for name, (_, dtype, components, types) in self.blocks.items() if kind in types}

    def read(self, name, kind, first, array):
        """Fills an array with the values of a particle type, beginning with particle `first`."""
        begin, dtype, components, types = self.blocks[name]
        place = first + sum(self.header.counts[i] for i in types if i < kind)
        with open(self.path, "rb") as file:
            file.seek(begin + place * components * dtype.itemsize)
            found = np.fromfile(file, dtype, array.size)
        if len(found) < array.size:
            raise ConvertError(f"{self.path}: block {name}: ends within its values")
        array[...] = found.reshape(array.shape)


class Snapshot:
    """A snapshot of one or several files."""

    def __init__(self, paths, options):
        self.files = open_all(paths, File)
        first = self.files[0].header
        if not options.part and any(first.totals):
            for i in range(TYPES):
                found = sum(file.header.counts[i] for file in self.files)
                if found != first.totals[i]:
                    raise ConvertError(f"PartType{i}: the header claims {first.totals[i]} particles of the whole snapshot; "
                                       f"{len(paths)} file{'s have' if len(paths) > 1 else ' has'} {found}")
        requested = [i for i in range(TYPES) if options.species is None or f"PartType{i}" in options.species]
        self.species = [i for i in requested if any(file.header.counts[i] for file in self.files)]
        if not self.species:
            raise ConvertError("has no particles" + (f" of {listed(options.species)}" if options.species else ""))
        self.fields = {i: self._fields(i) for i in self.species}
        self.metadata = {"gadget": {"Header": first.metadata(), "format": 2 if self.files[0].is_named else 1}}
        if np.isfinite(first.box) and first.box > 0:
            self.metadata["periodic_box"] = {"lower": [0, 0, 0], "upper": [first.box] * 3}

    def _fields(self, kind):
        having = [file for file in self.files if file.header.counts[kind]]
        fields = having[0].fields(kind)
        for file in having[1:]:
            if file.fields(kind) != fields:
                name = next(each for each in {**fields, **file.fields(kind)} if fields.get(each) != file.fields(kind).get(each))
                raise ConvertError(f"{file.path}: PartType{kind}: block {name} has another form than in {having[0].path}")
        return fields

    def count(self, kind):
        return sum(file.header.counts[kind] for file in self.files)

    def bytes(self, kind, options):
        requested = Collector(options).wants
        return self.count(kind) * sum(components * dtype.itemsize for name, (components, dtype) in self.fields[kind].items()
                                      if name == "POS" or requested(name))

    def read(self, kind, options, part=0, parts=1):
        """Returns one of the parts of a species."""
        first, end = part_of(self.count(kind), part, parts)
        collector = Collector(options, end - first)
        collector.remarks += [remark for file in self.files for remark in file.remarks]
        names = [name for name in self.fields[kind] if collector.wants(name) or name == "POS" and not options.columns]
        for place, name in enumerate(names):
            options.at(place / len(names))
            components, dtype = self.fields[kind][name]
            shape = (end - first, components)[:1 + (components > 1)]
            collector.add(name, self._values(kind, name, first, np.empty(shape, dtype)))
        mass = self.files[0].header.masses[kind]
        if "MASS" not in self.fields[kind] and mass and collector.wants("MASS"):
            collector.add("MASS", np.full(end - first, mass))  # the mass in the header
        positions = None if options.columns else collector.arrays.pop("POS")
        return collector.particles(positions, dict(self.metadata, species=f"PartType{kind}"), f"PartType{kind}")

    def _values(self, kind, name, first, array):
        place = -first  # index in the array of the first particle of a file
        for file in self.files:
            count = file.header.counts[kind]
            begin, end = max(0, place), min(len(array), place + count)
            if begin < end:
                file.read(name, kind, begin - place, array[begin:end])
            place += count
        return array


def steps(path, options):
    first = File(path)
    snapshot = functools.lru_cache(maxsize=None)(lambda: Snapshot([path] if options.part else siblings(path), options))
    yield Step(lambda: _read(snapshot(), options), time=first.header.time, divided=lambda: _divided(snapshot(), options))


def _read(snapshot, options):
    for kind in snapshot.species:
        check_memory(f"PartType{kind}: claims {snapshot.count(kind)} particles", snapshot.bytes(kind, options))
    return [snapshot.read(kind, options) for kind in snapshot.species]


def _divided(snapshot, options):
    return [Divided(snapshot.bytes(kind, options), lambda i, n, kind=kind: snapshot.read(kind, options, i, n), f"PartType{kind}")
            for kind in snapshot.species]


def siblings(path):
    """Returns the files of a snapshot that consists of several."""
    count = File(path).header.files
    match = PART.match(path)
    if count <= 1:
        return [path]
    if not match:
        raise ConvertError(f"is one of {count} files of a snapshot, which must be called NAME.0, NAME.1 ...; {ONE_OF_MANY}")
    names = []
    for i in range(count):
        names.append(f"{match[1]}.{i}")
        if not os.path.exists(names[-1]):
            raise ConvertError(f"is one of {count} files of a snapshot, but {names[-1]} is missing; {ONE_OF_MANY}")
    return names


def _kind(head):
    """Returns the byte order, and whether blocks have names, from the first 16 bytes."""
    for order in "<>":
        if head[:4] == struct.pack(order + "I", HEADER):
            return order, False
        if head[:8] == struct.pack(order + "I4s", 8, b"HEAD") and head[12:16] == struct.pack(order + "I", 8):
            return order, True
    raise ConvertError("is not a binary snapshot of Gadget: it begins with neither a block of 256 bytes nor the name HEAD")


def _sniff(head, _):
    try:
        order, is_named = _kind(head)
    except ConvertError:
        return False
    place = 16 * is_named
    return head[place + 4 + HEADER:place + 8 + HEADER] in (b"", struct.pack(order + "I", HEADER))


FORMAT = Format("gadget-binary", "Gadget snapshots in format 1 and 2", steps, sniff=_sniff, siblings=siblings,
                options=("columns", "part"))
