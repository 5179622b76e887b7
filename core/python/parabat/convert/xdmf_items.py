# SPDX-License-Identifier: BSD-3-Clause
"""DataItems of XDMF files: arrays in HDF5, in the text itself, or in binary files.

    <DataItem Format="HDF" Dimensions="100 3" NumberType="Float" Precision="8">run.h5:/step_0/positions</DataItem>

An array in HDF5 keeps its stored type. hdf5.py opens the file, so links to other files are followed only with
--follow-links. An item may also be a reference to another item, or a HyperSlab of one.
"""

import contextlib
import os

import numpy as np

from . import hdf5
from .model import ConvertError, check_memory

TYPES = {"float": "f", "int": "i", "uint": "u", "char": "i", "uchar": "u"}
PRECISIONS = {"float": 4, "int": 4, "uint": 4, "char": 1, "uchar": 1}
MAX_REFERENCES = 16


class Items:
    """Reads the DataItems of one file."""

    def __init__(self, path, root, options):
        self._path, self._root, self._options = path, root, options
        self._folder = os.path.dirname(path)

    def resolve(self, node):
        """Returns the element, or the one that it refers to: Reference="/Xdmf/Domain/DataItem[@Name='t']", or "XML" with
        that path as the text."""
        for _ in range(MAX_REFERENCES):
            reference = node.get("Reference")
            if reference is None:
                return node
            path = ((node.text or "") if reference == "XML" else reference).strip()
            try:
                found = self._root.find("." + path[len("/" + self._root.tag):] if path.startswith("/" + self._root.tag) else path)
            except (SyntaxError, KeyError):
                found = None
            if found is None:
                raise ConvertError(f"refers to {path[:80]}, which does not exist")
            node = found
        raise ConvertError(f"refers to other items more than {MAX_REFERENCES} times")

    def read(self, node, remarks=None):
        """Returns the values in the shape of the item."""
        node = self.resolve(node)
        kind = (node.get("ItemType") or node.get("Type") or "Uniform").lower()
        if kind == "hyperslab":
            return self._slab(node, remarks)
        if kind != "uniform":
            raise ConvertError(f"a DataItem of type {node.get('ItemType')}, which is not supported; allowed are Uniform and "
                               "HyperSlab")
        shape = self.shape(node)
        form = (node.get("Format") or "XML").upper()
        if form == "HDF":
            return self._from_hdf5(node, shape, remarks)
        dtype = self._dtype(node)
        count = int(np.prod(shape))
        check_memory(f"a DataItem claims {count} values", count * dtype.itemsize)
        if form == "XML":
            return self._from_text(node, shape, dtype)
        if form == "BINARY":
            return self._from_binary(node, shape, dtype)
        raise ConvertError(f"a DataItem in the format {form[:20]}; allowed are HDF, XML, Binary")

    @staticmethod
    def shape(node):
        text = node.get("Dimensions") or ""
        try:
            shape = tuple(map(int, text.split()))
        except ValueError:
            shape = (-1,)
        if not shape or min(shape) < 0:
            raise ConvertError(f"a DataItem with the Dimensions '{text[:40]}'; allowed are non-negative integers")
        return shape

    @staticmethod
    def _dtype(node):
        name = (node.get("NumberType") or node.get("DataType") or "Float").lower()
        precision = node.get("Precision") or str(PRECISIONS.get(name, 0))
        if name not in TYPES or precision not in ("1", "2", "4", "8") or (name == "float" and precision in ("1", "2")):
            raise ConvertError(f"a DataItem of the NumberType {name[:20]} and Precision {precision[:20]}, which is unknown")
        return np.dtype(TYPES[name] + precision)

    def file(self, name):
        """Returns the path of a regular file that the item names."""
        path = os.path.join(self._folder, name)
        if not os.path.isfile(path):
            raise ConvertError(f"names {name}, which does not exist or is not a regular file")
        return path

    def _from_hdf5(self, node, shape, remarks):
        name, _, place = (node.text or "").strip().rpartition(":")
        if not name:
            raise ConvertError(f"a DataItem names '{(node.text or '').strip()[:80]}'; expected FILE:/PATH")
        path = self.file(name)
        with self._opened(path) as file:
            array = hdf5.node_of(file, place)
            if int(np.prod(array.shape)) != int(np.prod(shape)):
                raise ConvertError(f"{name}: {place} has shape {array.shape}, but the DataItem has the Dimensions {shape}")
            return hdf5.read(array, remarks=remarks).reshape(shape)

    @contextlib.contextmanager
    def _opened(self, path):
        with contextlib.ExitStack() as stack:
            try:
                file = stack.enter_context(hdf5.opened(path, self._options))
            except ConvertError as error:
                raise ConvertError(f"{os.path.basename(path)}: {error}") from None
            yield file

    @staticmethod
    def _from_text(node, shape, dtype):
        words = (node.text or "").split()
        count = int(np.prod(shape))
        if len(words) != count:
            raise ConvertError(f"a DataItem has {len(words)} values, but the Dimensions {shape}")
        try:
            if dtype.kind == "f":
                return np.array(words, np.float64).astype(dtype).reshape(shape)
            return np.array([int(word) for word in words], dtype).reshape(shape)
        except (ValueError, OverflowError) as error:
            raise ConvertError(f"a DataItem of type {dtype}: {error}") from None

    def _from_binary(self, node, shape, dtype):
        name = (node.text or "").strip()
        path, count = self.file(name), int(np.prod(shape))
        try:
            skip = int(node.get("Seek") or 0)
        except ValueError:
            skip = -1
        if skip < 0 or (node.get("Compression") or "Raw").lower() != "raw":
            raise ConvertError(f"{name}: an unsupported Seek or Compression of a binary DataItem")
        order = {"big": ">", "little": "<"}.get((node.get("Endian") or "Native").lower(), "=")
        if skip + count * dtype.itemsize > os.path.getsize(path):
            raise ConvertError(f"{name}: has {os.path.getsize(path)} bytes, but a DataItem needs "
                               f"{skip + count * dtype.itemsize}: the file is truncated or damaged")
        return np.fromfile(path, dtype.newbyteorder(order), count, offset=skip).astype(dtype, copy=False).reshape(shape)

    def _slab(self, node, remarks):
        """Returns a HyperSlab: start, stride and count along each axis, and the array."""
        children = node.findall("DataItem")
        if len(children) != 2:
            raise ConvertError(f"a HyperSlab with {len(children)} DataItems; expected 2")
        numbers, array = self.read(children[0]), self.read(children[1], remarks)
        numbers = numbers.reshape(3, -1).astype(np.int64) if numbers.size == 3 * array.ndim else None
        if numbers is None or (numbers < 0).any() or (numbers[1] < 1).any():
            raise ConvertError("a HyperSlab needs start, stride and count for each axis of its array")
        start, stride, count = numbers
        if any(n and s + (n - 1) * t >= size for s, t, n, size in zip(start, stride, count, array.shape)):
            raise ConvertError(f"a HyperSlab outside its array, which has shape {array.shape}")
        part = array[tuple(slice(s, s + (n - 1) * t + 1 if n else s, t) for s, t, n in zip(start, stride, count))]
        shape = self.shape(node) if node.get("Dimensions") else part.shape
        if int(np.prod(shape)) != part.size:
            raise ConvertError(f"a HyperSlab has {part.size} values, but the Dimensions {shape}")
        return part.reshape(shape)
