# SPDX-License-Identifier: BSD-3-Clause
"""GenericIO files of HACC. All numbers keep their types, and the checksums of all data that is read are verified.

A file has a header, a table of variables, a table of the ranks that wrote it, and, if variables are compressed, one of blocks:

    "HACC01L" or "HACC01B", sizes and places of the tables, physical origin and scale
    variables   name, flags, bytes of a value, bytes of an element
    ranks       coordinates, number of values, place
    blocks      filter ("BLOSC" or none), place, size, for each variable of each rank
    checksum

The values of one variable and rank are contiguous and followed by a CRC-64. If the data are split, the file itself is a map of
the ranks, and NAME#0, NAME#1 ... contain the values.
"""

import os
import re
import struct

import numpy as np

from ..._extras import install
from .. import crc64
from ..model import Collector, ConvertError, Divided, Format, Step, check_memory, listed, open_all, part_of

MAGICS = {b"HACC01L\0": "<", b"HACC01B\0": ">"}
IS_FLOAT, IS_SIGNED = 1, 2
AXES = (4, 8, 16)  # flags that mark the variables x, y, z
PART = re.compile(r"(.*)#(\d+)\Z")
CHECKSUM = 8
MAX_TABLE = 1 << 30


class Variable:
    """A variable, over all ranks."""

    def __init__(self, name, flags, size, element_size, order):
        self.name, self.flags, self.size = name, flags, size
        self.components = size // element_size if size and element_size and size % element_size == 0 else 1
        kind = "f" if flags & IS_FLOAT else "i" if flags & IS_SIGNED else "u"
        name = f"{kind}{size // self.components}"
        self.dtype = np.dtype(order + name) if name in ("f4", "f8") or kind != "f" and name[1:] in ("1", "2", "4", "8") else None


class File:
    """The tables of one file."""

    def __init__(self, path):
        self.path = path
        self._verified = set()
        self._size = os.path.getsize(path)
        with open(path, "rb") as file:
            self.order = MAGICS.get(file.read(8))
            if self.order is None:
                raise ConvertError("is not a GenericIO file: it does not begin with HACC01L or HACC01B")
            header_size, = struct.unpack(self.order + "Q", file.read(8).ljust(8, b"\0"))
            if not 136 <= header_size <= min(MAX_TABLE, self._size - CHECKSUM):
                raise ConvertError(f"its header claims {header_size} bytes, but the file has {self._size}")
            file.seek(0)
            self._header = file.read(header_size + CHECKSUM)
        if crc64.crc64(self._header) != crc64.ONES:
            raise ConvertError("the checksum of its header is wrong")
        (_, self.count, *_, variables, variable_size, variables_at, ranks, rank_size, ranks_at,
         global_size) = struct.unpack_from(self.order + "12Q", self._header, 8)
        self.origin, self.scale = (list(struct.unpack_from(self.order + "3d", self._header, place)) for place in (104, 128))
        self.block_size = self._blocks_at = 0
        if global_size >= 168:
            self.block_size, self._blocks_at = struct.unpack_from(self.order + "2Q", self._header, 152)
        for size, number, place, minimum, name in (
                (variable_size, variables, variables_at, 272, "variables"), (rank_size, ranks, ranks_at, 40, "ranks"),
                (self.block_size, variables * ranks if self.block_size else 0, self._blocks_at, 48, "blocks")):
            if number and size < minimum or place + number * size > header_size:
                raise ConvertError(f"its header claims {number} {name} of {size} bytes at byte {place}, but has {header_size} "
                                   "bytes")
        self.variables = [self._variable(variables_at + i * variable_size, variable_size) for i in range(variables)]
        self.ranks = [struct.unpack_from(self.order + "2Q", self._header, ranks_at + i * rank_size + 24) for i in range(ranks)]
        found = sum(count for count, _ in self.ranks)
        if found != self.count:
            raise ConvertError(f"its header claims {self.count} particles; its ranks have {found}")

    def _variable(self, place, size):
        name = self._header[place:place + 256].split(b"\0")[0].decode("utf-8", "replace")
        flags, bytes_ = struct.unpack_from(self.order + "2Q", self._header, place + 256)
        element, = struct.unpack_from(self.order + "Q", self._header, place + 272) if size >= 280 else (0,)
        return Variable(name, flags, bytes_, element, self.order)

    def names(self):
        return [variable.name for variable in self.variables]

    def _block(self, number, rank):
        """Returns the offset and size of the stored values of a variable of a rank, and the filter name."""
        count, place = self.ranks[rank]
        if self.block_size:
            at = self._blocks_at + (rank * len(self.variables) + number) * self.block_size
            filters, (place, size) = self._header[at:at + 32], struct.unpack_from(self.order + "2Q", self._header, at + 32)
            name = filters[:8].split(b"\0")[0].decode("latin-1")
            if any(filters[8 * i:8 * i + 1] != b"\0" for i in (1, 2, 3)):
                raise ConvertError(f"{self.path}: '{self.variables[number].name}' has several filters; allowed: one, BLOSC")
        else:
            place += sum(count * variable.size + CHECKSUM for variable in self.variables[:number])
            name, size = "", count * self.variables[number].size
        if place + size + CHECKSUM > self._size:
            raise ConvertError(f"{self.path}: '{self.variables[number].name}' has {size} bytes from byte {place} on, but the "
                               f"file ends at byte {self._size}")
        return place, size, name

    def read(self, number, rank, first, array):
        """Fills an array with the values of a variable of a rank, beginning with value `first`."""
        variable, count = self.variables[number], self.ranks[rank][0]
        place, size, filter_name = self._block(number, rank)
        with open(self.path, "rb") as file:
            self._verify(file, number, rank, place, size)
            if filter_name:
                file.seek(place)
                values = self._decompressed(file.read(size), variable, count, filter_name)
                found = np.frombuffer(values, variable.dtype)[first * variable.components:][:array.size]
            elif size != count * variable.size:
                raise ConvertError(f"{self.path}: '{variable.name}' has {size} bytes for {count} values of {variable.size} bytes")
            else:
                file.seek(place + first * variable.size)
                found = np.fromfile(file, variable.dtype, array.size)
        array[...] = found.reshape(array.shape)

    def _verify(self, file, number, rank, place, size):
        if (number, rank) in self._verified:
            return
        file.seek(place)
        register, left = crc64.ONES, size + CHECKSUM
        while left:
            data = np.fromfile(file, np.uint8, min(left, crc64.CHUNK))
            if not len(data):
                break
            register, left = crc64.update(register, data), left - len(data)
        if register ^ crc64.ONES != crc64.ONES:
            raise ConvertError(f"{self.path}: the checksum of '{self.variables[number].name}' of rank {rank} is wrong")
        self._verified.add((number, rank))

    def _decompressed(self, data, variable, count, filter_name):
        if filter_name != "BLOSC":
            raise ConvertError(f"{self.path}: '{variable.name}' has the filter '{filter_name}'; allowed: BLOSC")
        try:
            import blosc  # pylint: disable=import-outside-toplevel
        except ImportError:
            raise ConvertError(f"{self.path}: '{variable.name}' is compressed, which requires blosc: "
                               + install("blosc")) from None
        if len(data) < 24:
            raise ConvertError(f"{self.path}: '{variable.name}' has {len(data)} compressed bytes; a block has 24 or more")
        expected, = struct.unpack("<I", data[12:16])  # in the Blosc header
        if expected != count * variable.size:
            raise ConvertError(f"{self.path}: '{variable.name}' is {expected} bytes for {count} values of {variable.size} bytes")
        try:
            values = blosc.decompress(data[8:])
        except Exception as error:  # of several types  pylint: disable=broad-except
            raise ConvertError(f"{self.path}: '{variable.name}' cannot be decompressed: {error}") from None
        if len(values) != expected or crc64.crc64(values) != struct.unpack(self.order + "Q", data[:8])[0]:
            raise ConvertError(f"{self.path}: the checksum of '{variable.name}' is wrong after decompression")
        return values


class Snapshot:
    """A data set of one or several files."""

    def __init__(self, paths, options):
        self.files = open_all(paths, File)
        self.variables = self.files[0].variables
        for file in self.files[1:]:
            if [vars(each) for each in file.variables] != [vars(each) for each in self.variables]:
                raise ConvertError(f"{file.path}: its variables differ from those of {self.files[0].path}")
        self.count = sum(file.count for file in self.files)
        twice = next((name for name in self.files[0].names() if self.files[0].names().count(name) > 1), None)
        if twice is not None:
            raise ConvertError(f"two variables are named '{twice}'")
        axes = [[each.name for each in self.variables if each.flags & flag] for flag in AXES]
        self.axes = None
        if all(len(names) == 1 for names in axes) and len({names[0] for names in axes}) == 3 and not options.columns:
            self.axes = [names[0] for names in axes]
        requested = Collector(options).wants
        self.requested = [i for i, each in enumerate(self.variables) if requested(each.name) or self.axes and each.name in self.axes]
        self.bytes = self.count * sum(self.variables[i].size for i in self.requested)

    def read(self, options, part=0, parts=1):
        first, end = part_of(self.count, part, parts)
        collector = Collector(options, end - first)
        for place, number in enumerate(self.requested):
            options.at(place / len(self.requested))
            variable = self.variables[number]
            collector.wants(variable.name)
            if variable.dtype is None:
                collector.leave_out(variable.name, f"it has values of {variable.size} bytes")
                continue
            shape = (end - first, variable.components)[:1 + (variable.components > 1)]
            collector.add(variable.name, self._values(number, first, np.empty(shape, variable.dtype.newbyteorder("="))))
        positions = None
        if self.axes and all(name in collector.arrays for name in self.axes):
            positions = [collector.arrays.pop(name) for name in self.axes]
            if len({array.dtype for array in positions}) > 1 or positions[0].dtype.kind != "f" or positions[0].ndim > 1:
                collector.arrays.update(zip(self.axes, positions))
                positions = None
            else:
                positions = np.stack(positions, axis=1)
        about = {"genericio": {"physical_origin": self.files[0].origin, "physical_scale": self.files[0].scale,
                               "ranks": sum(len(file.ranks) for file in self.files)}}
        return collector.particles(positions, about)

    def _values(self, number, first, array):
        place = -first  # index in the array of the first value of a rank
        for file in self.files:
            for rank, (count, _) in enumerate(file.ranks):
                begin, end = max(0, place), min(len(array), place + count)
                if begin < end:
                    file.read(number, rank, begin - place, array[begin:end])
                place += count
        return array


def steps(path, options):
    snapshot = Snapshot([path] if options.part else _data_files(path), options)
    if not snapshot.count:
        raise ConvertError("has no particles")

    def whole():
        check_memory(f"claims {snapshot.count} particles", snapshot.bytes)
        return [snapshot.read(options)]

    yield Step(whole, divided=lambda: [Divided(snapshot.bytes, lambda i, n: snapshot.read(options, i, n))])


def _data_files(path):
    """Returns the files that contain the values."""
    file = File(path)
    if "$partition" not in file.names():
        return [path]
    partitions = np.empty(file.count, file.variables[file.names().index("$partition")].dtype)
    place = 0
    for rank, (count, _) in enumerate(file.ranks):
        if count:
            file.read(file.names().index("$partition"), rank, 0, partitions[place:place + count])
        place += count
    names = [f"{path}#{number}" for number in sorted(set(partitions.tolist()))]
    missing = [name for name in names if not os.path.exists(name)]
    if missing:
        raise ConvertError(f"is the map of {len(names)} files, but {missing[0]} is missing")
    return names


def siblings(path):
    """Returns the map and the files that it names, beginning with the map."""
    match = PART.match(path)
    if match and not os.path.isfile(match[1]):
        raise ConvertError(f"is one of several files, but their map {match[1]} is missing; use --part to convert it alone")
    main = match[1] if match else path
    names = _data_files(main)
    return [main] if names == [main] else [main, *names]


FORMAT = Format("genericio", "GenericIO files of HACC", steps, siblings=siblings, options=("columns", "part"),
                sniff=lambda head, _: head[:8] in MAGICS)
