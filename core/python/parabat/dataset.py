"""Datasets that are read."""

import collections
import ctypes

import numpy as np

from ._arguments import as_integer, as_names, as_path, as_real, as_text
from ._library import DTYPES, WHOLE, Owned, agreed, call, check, library, make
from ._query import add_values, fill

Attribute = collections.namedtuple("Attribute", "name dtype components range")


class Particles(dict):
    """Attributes by name, each (n,) or (n, components), and `positions`, (n, 3)."""

    positions = None

    def __init__(self, count):
        super().__init__()
        self.count = count

    def __repr__(self):
        columns = [("positions", self.positions), *self.items()]
        return f"<parabat.Particles: {self.count} particles; " + ", ".join(
            f"{name} {values.dtype}{list(values.shape)}" for name, values in columns
            if values is not None) + ">"


class Dataset:
    """An open dataset. With a communicator, opening and read() are collective.

    map=True maps the files into memory instead of reading them, so that map_positions() and
    map_attribute() give columns without a copy. Only for files that nobody changes in place: one
    that is cut short while it is looked at, or on a disk that fails, ends the process with SIGBUS.
    A page is checked when it is first used, and not again while the dataset is open.

    Files are closed by close(), at the end of a `with`, or when nobody has the dataset any more.
    """

    def __init__(self, path, comm=None, *, map=False):  # pylint: disable=redefined-builtin
        self._comm = comm
        self._mapped = bool(map)
        self._owned = Owned(library().bat_close)
        with agreed(comm):
            name = as_path(path)
        call(comm, "open_mapped" if map else "open", name, ctypes.byref(self._owned.pointer))

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def close(self):
        """Arrays of map_positions() and map_attribute() stay."""
        owned, self._owned = self._owned, Owned(library().bat_close)
        if not self._mapped:
            owned.close()

    def __repr__(self):
        if not self._owned.pointer:
            return "<parabat.Dataset, closed>"
        columns = [f"positions {self.position_dtype}[3]"] + [
            f"{a.name} {a.dtype}" + f"[{a.components}]" * (a.components > 1)
            for a in self.attributes.values()]
        return f"<parabat.Dataset of {len(self)} particles: {', '.join(columns)}>"

    def _get(self, name, ctype):
        value = ctype()
        check(getattr(library(), "bat_dataset_" + name)(self._owned.pointer, ctypes.byref(value)))
        return value.value

    def _optional(self, name, ctype):
        has, value = ctypes.c_int(), ctype()
        check(getattr(library(), "bat_dataset_" + name)(
            self._owned.pointer, ctypes.byref(has), ctypes.byref(value)))
        return value.value if has.value else None

    def __len__(self):
        return self._get("count", ctypes.c_uint64)

    @property
    def time(self):
        return self._optional("time", ctypes.c_double)

    @property
    def step(self):
        return self._optional("step", ctypes.c_int64)

    @property
    def metadata(self):
        return self._get("metadata", ctypes.c_char_p).decode()

    @property
    def leaf_files(self):
        return self._get("leaf_files", ctypes.c_uint64)

    @property
    def file_bytes(self):
        return self._get("file_bytes", ctypes.c_uint64)

    @property
    def position_dtype(self):
        return DTYPES[self._get("position_type", ctypes.c_int)]

    @property
    def bounds(self):
        """Lower x, y, z, upper x, y, z."""
        box = np.empty(6)
        check(library().bat_dataset_bounds(self._owned.pointer, ctypes.c_void_p(box.ctypes.data)))
        return box

    @property
    def attributes(self):
        """Name -> Attribute; the range is that of the value, for integers two integers, exactly, or
        that of the magnitude of a vector. Without values its first end is above its second."""
        return {about.name: about for about in map(
            self._attribute, range(self._get("attribute_count", ctypes.c_int)))}

    def _attribute(self, index):
        name, type_, components = ctypes.c_char_p(), ctypes.c_int(), ctypes.c_int()
        number = ctypes.c_int64(index)
        check(library().bat_dataset_attribute(
            self._owned.pointer, number, ctypes.byref(name), ctypes.byref(type_),
            ctypes.byref(components)))
        dtype = DTYPES[type_.value]
        kind = dtype.kind if components.value == 1 else "f"
        call, end = {"i": ("_int64", ctypes.c_int64), "u": ("_uint64", ctypes.c_uint64)}.get(
            kind, ("", ctypes.c_double))
        low, high = end(), end()
        check(getattr(library(), "bat_dataset_attribute_range" + call)(
            self._owned.pointer, number, ctypes.c_int64(WHOLE), ctypes.byref(low),
            ctypes.byref(high)))
        return Attribute(name.value.decode(), dtype, components.value, (low.value, high.value))

    def _find(self, name):
        """The Attribute of a name in UTF-8."""
        index = ctypes.c_int()
        check(library().bat_dataset_attribute_index(self._owned.pointer, name, ctypes.byref(index)))
        return self._attribute(index.value)

    def read(self, attributes=None, *, quality=1.0, after_quality=0.0, box=None, half_open=False,
             ranges=None, values=None, not_values=None, shapes=None, part=0, parts=1, threads=0):
        """The particles that match, as Particles.

        attributes: names; None for all. box: 6 numbers, closed, or without its upper faces if
        half_open. ranges: list of (name, lower, upper) or (name, component, lower, upper), closed;
        each end is any real number, however large, or None for no limit, and is compared without
        rounding. values: dict of name, or (name, component), to numbers of which the value must be
        one, e.g. {"id": ids}; 64-bit integers exactly, best as an array. A pair in a list is a closed
        range: {"id": [3, (5, 90)]}. not_values: the same of what the value must not be; NaN is
        nothing that is named. shapes: list of Sphere, Slab and OrientedBox, in all of which the
        particles are, or outside of which. part, parts: this reader's equal share.

        Collective if the dataset was opened with a communicator; each rank asks its own question,
        and all ranks name the same attributes.
        """
        lib = library()
        comm = self._comm
        with make("query") as query, Owned(lib.bat_selection_free) as selection:
            with agreed(comm):
                names = [as_text(name, "attributes") for name in self.attributes] if (
                    attributes is None) else as_names(attributes, "attributes")
                found = [self._find(name) for name in names]
                fill(query, quality, after_quality, box, half_open, ranges, shapes, part, parts,
                      threads)
                add_values(query, values, "values", False)
                add_values(query, not_values, "not_values", True)
            call(comm, "select", self._owned.pointer, query.pointer,
                  ctypes.byref(selection.pointer))
            with agreed(comm):
                count = ctypes.c_uint64()
                check(lib.bat_selection_count(selection.pointer, ctypes.byref(count)))
                particles = Particles(count.value)
                particles.positions = np.empty((count.value, 3), self.position_dtype)
                for about in found:
                    shape = (count.value,) + (about.components,) * (about.components > 1)
                    particles[about.name] = np.empty(shape, about.dtype)
            xyz, arrays = particles.positions, particles.values()
            call(comm, "read_positions", self._owned.pointer, selection.pointer,
                  ctypes.c_void_p(xyz.ctypes.data), ctypes.c_size_t(xyz.nbytes))
            call(comm, "read_attributes", self._owned.pointer, ctypes.c_uint64(len(names)),
                  (ctypes.c_char_p * len(names))(*names), selection.pointer,
                  (ctypes.c_void_p * len(names))(*(array.ctypes.data for array in arrays)),
                  (ctypes.c_size_t * len(names))(*(array.nbytes for array in arrays)))
        return particles

    def map_positions(self, leaf=0, quality=1.0):
        """Positions of the coarse share `quality` of leaf file number `leaf`, below leaf_files,
        where they lie in a dataset that was opened with map=True: read-only, shape (n, 3). Nothing
        is copied; pages that were not used before are checked in the call. The array keeps the
        files open. Not collective."""
        return self._map("positions", (leaf, quality), (3,), self.position_dtype)

    def map_attribute(self, name, leaf=0, quality=1.0):
        """The same for an attribute: shape (n,), or (n, components); in the order of map_positions()."""
        text = as_text(name, "name of an attribute")
        about = self._find(text)
        shape = (about.components,) if about.components > 1 else ()
        return self._map("attribute", (leaf, quality), shape, about.dtype, text)

    def _map(self, what, where, shape, dtype, *name):
        leaf, quality = as_integer(where[0], "leaf"), as_real(where[1], "quality")
        values, count = ctypes.c_void_p(), ctypes.c_uint64()
        check(getattr(library(), "bat_map_" + what)(
            self._owned.pointer, *name, leaf, quality, ctypes.byref(values), ctypes.byref(count)))
        if count.value == 0:
            return np.empty((0, *shape), dtype)
        size = int(count.value * dtype.itemsize * np.prod(shape, dtype=np.int64))
        memory = (ctypes.c_char * size).from_address(values.value)
        memory.dataset = self._owned
        return np.frombuffer(memoryview(memory).toreadonly(), dtype).reshape(count.value, *shape)


def open(path, comm=None, map=False):  # pylint: disable=redefined-builtin
    """A Dataset: see there. Collective with a communicator."""
    return Dataset(path, comm, map=map)
