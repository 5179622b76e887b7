# SPDX-License-Identifier: BSD-3-Clause
"""Variables of netCDF files, record by record: the classic formats (CDF-1, CDF-2, CDF-5) by this module, netCDF-4 by h5py.

A classic file is a header, the variables without records, and then the records, each with one slab of every other variable:

    "CDF" version | number of records | dimensions | attributes | variables (name, dimensions, attributes, type, offset)

The C library returns zeros for what a truncated file lacks; here, this is an error.
"""

import math
import os

import numpy as np

from . import hdf5
from .model import ConvertError, check_memory

TYPES = {1: "i1", 2: "S1", 3: ">i2", 4: ">i4", 5: ">f4", 6: ">f8", 7: "u1", 8: ">u2", 9: ">u4", 10: ">i8", 11: ">u8"}
MAGICS = (b"CDF\x01", b"CDF\x02", b"CDF\x05")
ONLY_DIMENSION = "This is a netCDF dimension but not a netCDF variable"  # the mark in netCDF-4
DIMENSIONS, VARIABLES, ATTRIBUTES = 10, 11, 12  # list tags


class Variable:
    """A variable: names of its `dimensions`, its `shape` and `attributes`. read(i): returns record i, or all values of a
    variable without records."""

    def __init__(self, name, dimensions, shape, attributes, dtype, has_records, read):
        self.name = name
        self.dimensions = dimensions
        self.shape = shape
        self.attributes = attributes
        self.dtype = dtype
        self.has_records = has_records
        self.read = read


class Classic:
    """A file of a classic format: `attributes`, `variables` and `records`, the number of records."""

    def __init__(self, path):
        self._file = open(path, "rb")  # pylint: disable=consider-using-with
        try:
            self._size = os.fstat(self._file.fileno()).st_size
            self._read_header()
        except BaseException:
            self._file.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self._file.close()

    def _read_header(self):
        version = self._take(4)
        if version not in MAGICS:
            raise ConvertError("is not a netCDF file of a classic format")
        self._wide = version[3] == 5                 # counts take 8 bytes
        self._offset = 4 if version[3] == 1 else 8   # bytes per offset
        self.records = self._count()
        lengths, names = [], []
        for _ in range(self._list(DIMENSIONS)):
            names.append(self._name())
            lengths.append(self._count())
        self.attributes = self._attributes()
        rows = [self._variable_row() for _ in range(self._list(VARIABLES))]
        unlimited = lengths.index(0) if 0 in lengths else None
        has_records = [unlimited is not None and row[1][:1] == (unlimited,) for row in rows]
        slabs = []
        for (name, dims, _, dtype, _), is_record in zip(rows, has_records):
            if any(dim >= len(names) for dim in dims):
                raise ConvertError(f"variable '{name}' has a dimension that does not exist: the file is damaged")
            slabs.append(math.prod(lengths[dim] for dim in dims[is_record:]) * np.dtype(dtype).itemsize)
        of_records = [slab for slab, is_record in zip(slabs, has_records) if is_record]
        record = of_records[0] if len(of_records) == 1 else sum(-(-slab // 4) * 4 for slab in of_records)
        first = min((row[4] for row, is_record in zip(rows, has_records) if is_record), default=0)
        if self.records in (2 ** 32 - 1, 2 ** 64 - 1):  # written as a stream, without a count
            self.records = (self._size - first) // record if record else 0
        self.variables = {}
        for row, is_record, slab in zip(rows, has_records, slabs):
            name, dims, attributes, dtype, begin = row
            shape = tuple(self.records if is_record and k == 0 else lengths[dim] for k, dim in enumerate(dims))
            own = np.dtype(dtype).newbyteorder("=")
            self.variables[name] = Variable(name, [names[dim] for dim in dims], shape, attributes, own, is_record,
                                            self._reader(name, dtype, shape[is_record:], begin, record if is_record else 0, slab))

    def _reader(self, name, dtype, shape, begin, record, slab):
        def read(i=0):
            start = begin + i * record
            if start + slab > self._size:
                raise ConvertError(f"variable '{name}'" + (f", record {i}" if record else "") + f": ends at byte "
                                   f"{start + slab}, but the file has "
                                   f"{self._size} bytes: the file is truncated or damaged")
            check_memory(f"variable '{name}' claims {slab} bytes", slab)
            self._file.seek(start)
            values = np.frombuffer(self._file.read(slab), dtype).reshape(shape)
            return values if dtype == "S1" else values.astype(values.dtype.newbyteorder("="))
        return read

    def _take(self, count):
        if not 0 <= count <= self._size - self._file.tell():
            raise ConvertError("ends within its header: the file is truncated or damaged")
        return self._file.read(count)

    def _number(self, size):
        return int.from_bytes(self._take(size), "big")

    def _count(self):
        return self._number(8 if self._wide else 4)

    def _list(self, tag):
        found, count = self._number(4), self._count()
        if found not in (0, tag) or (found == 0 and count) or count > self._size:
            raise ConvertError(f"byte {self._file.tell()}: expected a list of the netCDF header: the file is damaged")
        return count

    def _name(self):
        return self._padded(self._count()).decode("utf-8", "replace")

    def _padded(self, size):
        data = self._take(size)
        self._take(-size % 4)
        return data

    def _attributes(self):
        found = {}
        for _ in range(self._list(ATTRIBUTES)):
            name, dtype = self._name(), self._type()
            data = self._padded(self._count() * np.dtype(dtype).itemsize)
            found[name] = data.decode("utf-8", "replace").rstrip("\0") if dtype == "S1" else np.frombuffer(data, dtype).astype(
                np.dtype(dtype).newbyteorder("="))
        return found

    def _type(self):
        number = self._number(4)
        if number not in TYPES:
            raise ConvertError(f"byte {self._file.tell()}: unknown netCDF type {number}; allowed: 1 to 11: the file is damaged")
        return TYPES[number]

    def _variable_row(self):
        name = self._name()
        count = self._count()
        if count > 1024:
            raise ConvertError(f"variable '{name}' has {count} dimensions: the file is damaged")
        dims = tuple(self._count() for _ in range(count))
        attributes, dtype = self._attributes(), self._type()
        self._count()  # skips the size, whose field is too small for large files
        return name, dims, attributes, dtype, self._number(self._offset)


class Nested:
    """Same interface for a netCDF-4 file; `file` is its root group."""

    def __init__(self, file, is_record_dimension):
        import h5py  # pylint: disable=import-outside-toplevel
        self.attributes = {name: _plain(value) for name, value in file.attrs.items()}
        self.variables = {}
        for name in file:
            node = file[name]
            if not isinstance(node, h5py.Dataset) or node.shape is None:
                continue
            if str(_plain(node.attrs.get("NAME", ""))).startswith(ONLY_DIMENSION):
                continue
            dims = [_dimension(node, i) for i in range(len(node.shape))]
            attributes = {key: _plain(value) for key, value in node.attrs.items() if key not in (
                "DIMENSION_LIST", "REFERENCE_LIST", "CLASS", "NAME", "_Netcdf4Dimid", "_Netcdf4Coordinates")}
            has_records = bool(dims) and is_record_dimension(dims[0])
            self.variables[name] = Variable(
                name, dims, node.shape, attributes, node.dtype, has_records,
                lambda i=0, node=node, has_records=has_records: hdf5.read(node, i) if has_records else hdf5.read(node))
        self.records = max((each.shape[0] for each in self.variables.values() if each.has_records), default=0)


def _dimension(node, i):
    """Returns the name of a dimension, taken from its scale."""
    if node.attrs.get("CLASS") == b"DIMENSION_SCALE" and len(node.shape) == 1:
        return node.name.rpartition("/")[2]
    try:
        return node.dims[i][0].name.rpartition("/")[2]
    except (RuntimeError, KeyError, IndexError, AttributeError):
        return ""


def _plain(value):
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, np.ndarray) and value.dtype.kind in "SO" and value.size == 1:
        return _plain(value.reshape(-1)[0])
    return value
