# SPDX-License-Identifier: BSD-3-Clause
"""Reads datasets."""

from __future__ import annotations

import collections
import ctypes
import json
import os
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Sequence

import numpy as np

from . import export
from ._arguments import as_integer, as_names, as_path, as_real, as_text, new_array
from ._files import display_name
from ._library import DTYPES, WHOLE, Owned, agreed, call, check, library, make
from ._progress import Progress
from ._remote import agree
from ._query import fill
from ._text import printable
from .errors import refuse

if TYPE_CHECKING:
    import pandas
    import pyarrow
    import pyvista

Attribute = collections.namedtuple("Attribute", "name dtype components range")
Attribute.__doc__ = """An attribute as the dataset describes it: name, dtype, number of components, and
value range. The range of integers is two exact integers; that of a vector is the range of its
magnitude. Without values, the lower end is above the upper."""

Leaf = collections.namedtuple("Leaf", "path particles bytes box")
Leaf.__doc__ = """A leaf file as the dataset describes it, without opening it. box: (6,), as in
Dataset.box."""

Storage = collections.namedtuple("Storage", "compressed bound stored_bytes raw_bytes")
Storage.__doc__ = """How a leaf file stores the values of a column. bound: the maximum absolute
difference between an original and its stored value; 0 if lossless."""

Count = collections.namedtuple("Count", "minimum likely maximum")
Count.__doc__ = """The number of matching particles: at least `minimum` and at most `maximum`, both
guaranteed, with the estimate `likely` between them."""


class Histogram(collections.namedtuple("Histogram", "counts edges")):
    """An estimate of the distribution of values.

    counts: (bins,) float64. edges: (bins + 1,) float64, ascending. If no value is finite, there are
    no edges and counts are 0.
    """

    __slots__ = ()


class Particles(dict):
    """A dict of attributes by name, (n,) or (n, components), and `positions`, (n, 3).

    All arrays are in the same order and owned by the caller, who may change them.
    """

    positions: np.ndarray = None
    time: float | None = None  # the dataset's time
    step: int | None = None
    report: dict | None = None  # set by a read with report=True: ranks, messages, seconds, ...
    report_line: str | None = None  # the same as text

    def __init__(self, count, of_nothing=False):
        super().__init__()
        self.count = count
        self._of_nothing = of_nothing  # from a dataset without particles, which may lack columns

    def __missing__(self, name):
        if self._of_nothing:
            return np.empty(0)
        raise KeyError(name)

    def __repr__(self):
        columns = [("positions", self.positions), *self.items()]
        return f"<parabat.Particles: {self.count:,} particles; " + ", ".join(
            f"{printable(name)} {values.dtype}{list(values.shape)}" for name, values in columns
            if values is not None) + ">"

    def to_pandas(self) -> pandas.DataFrame:
        """Returns a DataFrame with the columns x, y, z and one per attribute; a vector has one per
        component: "velocity[0]". If an attribute has the name of a coordinate, the coordinates are
        called "position[0]" to [2]. Every column keeps its type. Raises BatImportError without
        pandas."""
        return export.to_pandas(self)

    def to_arrow(self) -> pyarrow.Table:
        """Returns an Arrow table with the columns of to_pandas(). Raises BatImportError without
        pyarrow."""
        return export.to_arrow(self)

    def to_pyvista(self) -> pyvista.PolyData:
        """Returns PolyData of vertices with all attributes as point data, and the time and the step
        number as field data "TimeValue" and "timestep". Raises BatImportError without pyvista."""
        return export.to_pyvista(self)


def _read_report(selection):
    """Returns the report of a read, as a dict and as text; None and None unless requested."""
    json_text, line = ctypes.c_char_p(), ctypes.c_char_p()
    check(library().bat_selection_report(
        selection, ctypes.byref(json_text), ctypes.byref(line)))
    return (json.loads(json_text.value), line.value.decode()) if json_text.value else (None, None)


class Dataset:
    """An open dataset. With a communicator, opening and read() are collective.

    storage_options: for the file system of fsspec that reads `path`, for example {"key": ..., "secret": ...}.

    map=True maps the files into memory instead of reading them, so that map_positions() and
    map_attribute() give columns without a copy. Use it only for files that no process changes in
    place: if a file is truncated while it is in use, or its disk fails, the process ends with
    SIGBUS. A page is checked when it is first used, and not again while the dataset is open.

    Files are closed by close(), at the end of a `with`, or when the dataset is garbage-collected.

    Raises BatNotFoundError; BatError if the file is not a .bat file, is damaged, or has a newer
    version.
    """

    def __init__(self, path: str | os.PathLike, comm: Any = None, *, map: bool = False,  # pylint: disable=redefined-builtin
                 storage_options: dict | None = None):
        self._comm = comm
        self._owned = Owned(library().bat_close)
        with agreed(comm):
            name = as_path(path, storage_options)
        agree(comm, name)
        self.path = path
        call(comm, "open_mapped" if map else "open", name, ctypes.byref(self._owned.pointer))

    def __enter__(self) -> Dataset:
        return self

    def __exit__(self, *unused) -> None:
        self.close()

    def close(self) -> None:
        """Closes the dataset. Arrays of map_positions() and map_attribute() stay valid. Calls that
        other threads have begun finish normally, or raise BatValueError if they need the dataset
        again; the files close after them."""
        self._owned = self._owned.closed()

    def __repr__(self):
        if not self._owned.pointer:
            return f"<parabat.Dataset {_named(self.path)}, closed>"
        facts, rows = self._described()
        return "\n  ".join([f"<parabat.Dataset {_named(self.path)}: {facts}", *rows]) + ">"

    def _described(self):
        """Returns a description of the content, with a line for each array."""
        many = self.leaf_file_count
        facts = [f"{len(self):,} particles"] + [f"{many:,} leaf files"] * (many != 1)
        facts += [f"{name} {value!r}" for name, value in (("step", self.step), ("time", self.time))
                  if value is not None]
        box = self.box
        rows = [("positions", f"{self.position_dtype}[3]",
                 f"box {_numbers(box[:3])} to {_numbers(box[3:])}" if box[0] <= box[3] else "no box")]
        for name, dtype, components, (low, high) in self.attributes.values():
            values = f"{low:.6g} to {high:.6g}" if isinstance(low, float) else f"{low} to {high}"
            what = "magnitude " * (components > 1)
            rows.append((printable(name), f"{dtype}" + f"[{components}]" * (components > 1),
                         what + values if low <= high else "no values"))
        widths = [max(len(row[i]) for row in rows) for i in range(2)]
        return ", ".join(facts), [f"{row[0]:{widths[0]}} {row[1]:{widths[1]}} {row[2]}" for row in rows]

    def _get(self, name, ctype):
        owned, value = self._owned, ctype()  # owns the text that a value may point to
        check(getattr(library(), "bat_dataset_" + name)(owned, ctypes.byref(value)))
        return value.value

    def _optional(self, name, ctype):
        has, value = ctypes.c_int(), ctype()
        check(getattr(library(), "bat_dataset_" + name)(
            self._owned, ctypes.byref(has), ctypes.byref(value)))
        return value.value if has.value else None

    def __len__(self) -> int:
        return self._get("count", ctypes.c_uint64)

    @property
    def time(self) -> float | None:
        """The simulation time, in the simulation's unit."""
        return self._optional("time", ctypes.c_double)

    @property
    def step(self) -> int | None:
        """The step number."""
        return self._optional("step", ctypes.c_int64)

    @property
    def metadata(self) -> str:
        """The text of a JSON object, or ""."""
        return self._get("metadata", ctypes.c_char_p).decode()

    @property
    def stable_samples(self) -> list[str]:
        """The attributes whose values determine which particles belong to a quality, so that all
        steps of a series show the same ones (write(stable_samples=...)). Empty if samples are the
        most evenly spread particles instead."""
        owned, names, name = self._owned, [], ctypes.c_char_p()
        while True:
            check(library().bat_dataset_stable_sample(
                owned, ctypes.c_uint64(len(names)), ctypes.byref(name)))
            if name.value is None:
                return names
            names.append(name.value.decode())

    @property
    def hdf5_view(self) -> dict:
        """About the HDF5 view of the file: "exists"; "reason", why it cannot have one, or ""; and "left_out", a list with a
        dict of "name" and "reason" for each attribute that the view does not show. Opens all leaf files."""
        return json.loads(self._get("hdf5_view", ctypes.c_char_p))

    @property
    def leaf_file_count(self) -> int:
        """The number of leaf files."""
        return self._get("leaf_files", ctypes.c_uint64)

    @property
    def leaves(self) -> list[Leaf]:
        """The leaf files, in an order that keeps spatial neighbours together. Opens none of
        them."""
        return [self._leaf(number) for number in range(self.leaf_file_count)]

    def _leaf(self, number):
        path, particles, size = ctypes.c_char_p(), ctypes.c_uint64(), ctypes.c_uint64()
        owned, box = self._owned, np.empty(6)
        check(library().bat_dataset_leaf(
            owned, ctypes.c_uint64(number), ctypes.byref(path),
            ctypes.byref(particles), ctypes.byref(size), ctypes.c_void_p(box.ctypes.data)))
        return Leaf(os.fsdecode(path.value), particles.value, size.value, box)

    def storage(self, leaf: int = 0) -> dict[str, Storage]:
        """Opens a leaf file and returns how it stores the positions ("") and attributes; an alias
        is described by the array that it repeats. Raises BatValueError if the leaf file does not
        exist or was written by the paper's library. Not collective."""
        return {name: self._storage(leaf, name) for name in ("", *self.attributes)}

    def _storage(self, leaf, name):
        raw, stored, compressed, bound = ctypes.c_uint64(), ctypes.c_uint64(), ctypes.c_int(), ctypes.c_double()
        check(library().bat_leaf_storage(
            self._owned, ctypes.c_uint64(leaf), name.encode() or None, ctypes.byref(raw),
            ctypes.byref(stored), ctypes.byref(compressed), ctypes.byref(bound)))
        return Storage(bool(compressed.value), bound.value, stored.value, raw.value)

    @property
    def file_bytes(self) -> int:
        """The total size of all files, in bytes."""
        return self._get("file_bytes", ctypes.c_uint64)

    @property
    def position_dtype(self) -> np.dtype:
        """The type of the positions: float32 or float64."""
        return DTYPES[self._get("position_type", ctypes.c_int)]

    @property
    def box(self) -> np.ndarray:
        """The bounding box of the particles with finite coordinates: lower x, y, z, upper x, y, z,
        (6,) float64; inf and -inf if there are none."""
        box = np.empty(6)
        check(library().bat_dataset_bounds(self._owned, ctypes.c_void_p(box.ctypes.data)))
        return box

    bounds = box

    @property
    def attributes(self) -> dict[str, Attribute]:
        """Descriptions of the attributes, by name."""
        return {about.name: about for about in map(
            self._attribute, range(self._get("attribute_count", ctypes.c_int)))}

    def _attribute(self, index):
        owned, number = self._owned, ctypes.c_int64(index)
        name, type_, components = ctypes.c_char_p(), ctypes.c_int(), ctypes.c_int()
        check(library().bat_dataset_attribute(
            owned, number, ctypes.byref(name), ctypes.byref(type_),
            ctypes.byref(components)))
        dtype = DTYPES[type_.value]
        kind = dtype.kind if components.value == 1 else "f"
        suffix, end = {"i": ("_int64", ctypes.c_int64), "u": ("_uint64", ctypes.c_uint64)}.get(
            kind, ("", ctypes.c_double))
        low, high = end(), end()
        check(getattr(library(), "bat_dataset_attribute_range" + suffix)(
            owned, number, ctypes.c_int64(WHOLE), ctypes.byref(low),
            ctypes.byref(high)))
        return Attribute(name.value.decode(), dtype, components.value, (low.value, high.value))

    def _index(self, name):
        """Returns the index of an attribute whose name is given in UTF-8."""
        index = ctypes.c_int()
        check(library().bat_dataset_attribute_index(
            self._owned, name, ctypes.byref(index)))
        return index.value

    def _find(self, name):
        return self._attribute(self._index(name))

    def _is_absent_when_empty(self, name):
        """Returns whether an attribute is missing because the dataset has no particles, as in the
        first steps of a series. Such a column is empty, and conditions on it match nothing."""
        return len(self) == 0 and name not in self.attributes

    def read(self, attributes: Iterable[str] | None = None, *, quality: float = 1.0,
             after_quality: float = 0.0, box: Sequence[float] | None = None,
             half_open: bool = False, ranges: Any = None, values: dict | None = None,
             not_values: dict | None = None, shapes: Iterable | None = None, part: int = 0,
             parts: int = 1, threads: int = 0,
             progress: Callable[[float], bool | None] | None = None, mode: str | None = None,
             memory_bytes: int = 0, report: bool = False) -> Particles:
        """Reads the matching particles and returns them as Particles.

        attributes: names, or None for all. In a dataset without particles, a missing attribute is
            an empty array, since the first steps of a series may lack columns.
        quality: the share of the particles to return, coarse ones first, in [0, 1].
        after_quality: excludes the particles that a read with this quality returned.
        box: 6 numbers (lower x, y, z, upper x, y, z). Closed, or without its upper faces if
            half_open.
        ranges: a list of (name, lower, upper) or (name, component, lower, upper), or a dict from
            name, or (name, component), to (lower, upper). Ranges are closed. Each end is any real
            number, however large, or None for no limit, and is compared without rounding.
        values: a dict from name, or (name, component), to the allowed numbers, e.g. {"id": ids}.
            64-bit integers are compared exactly and are best passed as an array. A pair in a list
            is a closed range: {"id": [3, (5, 90)]}.
        not_values: numbers and ranges to exclude, in the same form. NaN is never excluded.
        shapes: a list of Sphere, Slab and OrientedBox. Particles must be inside all of them, or
            outside of those created with `outside`.
        part, parts: which equal share of the result to read, and the number of shares.
        threads: the maximum number of threads; 0 for all available.
        progress: called with the completed share, from 0 to 1. If it returns False, reading stops
            with BatCancelledError; read() raises its exceptions.

        If the dataset was opened with a communicator, the call is collective. Ranks may pass
        different conditions, but all must name the same attributes. The following arguments require
        a communicator and disable progress; rank 0's mode and memory_bytes count:

        mode: with "direct", each rank opens the leaf files that its query needs; with "aggregated",
            each leaf file is opened by one rank, which serves the others; "auto" chooses what is
            likely to be faster; None is "direct", into arrays without a copy. The result is the
            same.
        memory_bytes: the limit for the leaf files that a rank holds at a time in an aggregated
            read; 0 for 256 MiB.
        report: if any rank requests it, the Particles of all ranks report what the read did.

        Raises BatValueError and BatTypeError for invalid arguments; BatError for files that are
        missing or damaged.
        """
        lib = library()
        owned, comm = self._owned, self._comm
        with make("query") as query, Owned(lib.bat_selection_free) as selection:
            with agreed(comm):
                on_progress = Progress(progress)
                names = [as_text(name, "attributes") for name in self.attributes] if (
                    attributes is None) else as_names(attributes, "attributes")
                order = [name.decode() for name in names]
                names = [name for name in names if not self._is_absent_when_empty(name.decode())]
                found = [self._find(name) for name in names]
                fill(query, quality, after_quality, box, half_open, ranges, values, not_values,
                     shapes, part, parts, threads, kinds=self._kinds(ranges, values, not_values))
                if on_progress.callback is not None:
                    check(lib.bat_query_set_progress(query, on_progress.callback, None))
                how = None if mode is None else as_text(mode, "mode")
                maximum = as_integer(memory_bytes, "memory_bytes")
                requested = how is not None or maximum.value != 0 or bool(report)
                if comm is None and requested:
                    refuse("mode, memory_bytes and report apply to datasets opened with a communicator")
            # All ranks must do what any rank requests.
            if comm is not None and comm.allreduce(int(requested)) > 0:
                call(comm, "read", owned, query, ctypes.c_uint64(len(names)),
                     (ctypes.c_char_p * len(names))(*names), how, maximum,
                     ctypes.c_int(bool(report)), ctypes.byref(selection.pointer))
            else:
                call(comm, "select", owned, query,
                     ctypes.byref(selection.pointer))
            with agreed(comm):
                count = ctypes.c_uint64()
                check(lib.bat_selection_count(selection, ctypes.byref(count)))
                particles = Particles(count.value, len(self) == 0)
                particles.time, particles.step = self.time, self.step
                particles.report, particles.report_line = _read_report(selection)
                particles.positions = new_array((count.value, 3), self.position_dtype, self.path)
                particles.update((name, np.empty(0)) for name in order)
                for about in found:
                    shape = (count.value,) + (about.components,) * (about.components > 1)
                    particles[about.name] = new_array(shape, about.dtype, self.path)
            xyz, arrays = particles.positions, [particles[about.name] for about in found]
            first = xyz.nbytes / max(1, xyz.nbytes + sum(array.nbytes for array in arrays))
            with on_progress.watched():
                on_progress.span = (0.0, first)
                call(comm, "read_positions", owned, selection,
                     ctypes.c_void_p(xyz.ctypes.data), ctypes.c_size_t(xyz.nbytes))
                on_progress.span = (first, 1.0)
                call(comm, "read_attributes", owned, ctypes.c_uint64(len(names)),
                     (ctypes.c_char_p * len(names))(*names), selection,
                     (ctypes.c_void_p * len(names))(*(array.ctypes.data for array in arrays)),
                     (ctypes.c_size_t * len(names))(*(array.nbytes for array in arrays)))
        return particles

    def iter_quality(self, steps: int | Sequence[float] = 10,
                     attributes: Iterable[str] | None = None, *, quality: float = 1.0,
                     **query) -> Iterator[Particles]:
        """Yields the particles that each increase in quality adds. Together they are the particles
        of read() with this `quality`, each once, coarse ones first.

        steps: the number of equal steps, or the qualities at which they end, ascending. The other
        arguments are those of read(). Each step is collective if read() is.
        """
        if isinstance(steps, (list, tuple, np.ndarray)):
            ends = [as_real(end, "steps").value for end in steps]
        else:
            number = as_integer(steps, "steps").value
            if number < 1:
                refuse(f"steps: {number}; at least 1 is required")
            maximum = as_real(quality, "quality").value
            ends = [maximum * (i + 1) / number for i in range(number)]
        if any(b < a for a, b in zip([0.0, *ends], ends)) or "after_quality" in query:
            refuse(f"steps: {ends}; allowed are qualities in ascending order from 0, without after_quality")
        return self._steps(ends, attributes, query)

    def _steps(self, ends, attributes, query):
        for before, end in zip([0.0, *ends], ends):
            yield self.read(attributes, quality=end, after_quality=before, **query)

    def _kinds(self, *conditions):
        """Returns types and component counts of the attributes if there are conditions on any."""
        if all(one is None for one in conditions):
            return {}
        return {a.name: (a.dtype, a.components) for a in self.attributes.values()}

    def _requested(self, name, conditions, *results):
        """Calls bat_NAME with a query built from the keyword arguments of read()."""
        with make("query") as query:
            fill(query, **conditions,
                 kinds=self._kinds(*map(conditions.get, ("ranges", "values", "not_values"))))
            check(getattr(library(), "bat_" + name)(self._owned, query, *results))

    def estimate(self, **query) -> Count:
        """Estimates the number of particles that read(**query) would return, from the indexes and a
        sample, at a fraction of its cost. Not collective."""
        minimum, likely, maximum = (ctypes.c_uint64() for _ in range(3))
        self._requested("estimate_count", query, *map(ctypes.byref, (minimum, likely, maximum)))
        return Count(minimum.value, likely.value, maximum.value)

    def upper_bound(self, **query) -> int:
        """Returns the maximum number of particles that read(**query) can return, from the indexes
        alone. Not collective."""
        maximum = ctypes.c_uint64()
        self._requested("upper_bound", query, ctypes.byref(maximum))
        return maximum.value

    def quality_within(self, budget: int, **query) -> float:
        """Returns a quality, up to that of the query, at which read() returns at most `budget`
        particles: the highest such quality, or one close to it. Not collective."""
        quality, maximum = ctypes.c_double(), as_integer(budget, "budget")
        if maximum.value < 0:
            refuse(f"budget: {maximum.value}; it must not be negative")
        self._requested("quality_within", query, ctypes.c_uint64(maximum.value), ctypes.byref(quality))
        return quality.value

    def histogram(self, name: str, component: int | None = None, *, bins: int = 64,
                  logarithmic: bool = False) -> Histogram:
        """Estimates the distribution of an attribute's values, of one component, or of a vector's
        magnitude, from the index and the coarsest particles. The share of the particles below any
        value is accurate to about 1 %.

        logarithmic: bins of equal width in asinh(value / s), logarithmic on both sides of zero.
        Raises BatValueError if the attribute or component does not exist, or bins is below 1 or
        above 65,536. Not collective.
        """
        text = as_text(name, "attribute name")
        of_nothing = self._is_absent_when_empty(text.decode())
        index = 0 if of_nothing else self._index(text)
        part = WHOLE if component is None else as_integer(component, "component").value
        number = as_integer(bins, "bins")
        if component is not None and part < 0:
            refuse(f"component {part} of '{name}'; components are numbered from 0")
        if not 1 <= number.value <= 65536:
            refuse(f"bins: {number.value}; allowed are 1 to 65536")
        counts = np.zeros(number.value)
        if of_nothing:
            return Histogram(counts, np.empty(0))
        lower, upper, straight = (ctypes.c_double() for _ in range(3))
        check(library().bat_dataset_histogram(
            self._owned, ctypes.c_int64(index), ctypes.c_int64(part),
            ctypes.c_int(bool(logarithmic)), ctypes.c_uint64(number.value),
            ctypes.c_void_p(counts.ctypes.data), *map(ctypes.byref, (lower, upper, straight))))
        low, high, scale = lower.value, upper.value, straight.value
        if low > high:
            return Histogram(counts, np.empty(0))
        if scale > 0:
            places = np.linspace(np.arcsinh(low / scale), np.arcsinh(high / scale), counts.size + 1)
            edges = np.sinh(places) * scale
        else:
            edges = np.linspace(low, high, counts.size + 1)
        edges[0], edges[-1] = low, high
        return Histogram(counts, edges)

    def validate(self) -> None:
        """Checks every checksum and every rule of the format in all files; reads everything once.
        Raises a BatError that describes the first problem. Not collective."""
        check(library().bat_validate(self._owned))

    def to_pandas(self, attributes: Iterable[str] | None = None, **query) -> pandas.DataFrame:
        """Returns read(...).to_pandas()."""
        return self.read(attributes, **query).to_pandas()

    def to_arrow(self, attributes: Iterable[str] | None = None, **query) -> pyarrow.Table:
        """Returns read(...).to_arrow()."""
        return self.read(attributes, **query).to_arrow()

    def to_pyvista(self, attributes: Iterable[str] | None = None, **query) -> pyvista.PolyData:
        """Returns read(...).to_pyvista()."""
        return self.read(attributes, **query).to_pyvista()

    def map_positions(self, leaf: int = 0, quality: float = 1.0) -> np.ndarray:
        """Returns, without a copy, the positions of the coarsest share `quality` of leaf file
        number `leaf` (below leaf_file_count): read-only, shape (n, 3). The dataset must have been opened
        with map=True. The call checks pages that have not been used before. The array keeps the
        files open. Not collective."""
        return self._map("positions", (leaf, quality), (3,), self.position_dtype)

    def map_attribute(self, name: str, leaf: int = 0, quality: float = 1.0) -> np.ndarray:
        """Returns the values of an attribute like map_positions(), in the same order: shape (n,),
        or (n, components)."""
        text = as_text(name, "attribute name")
        if self._is_absent_when_empty(text.decode()):
            return np.empty(0)
        about = self._find(text)
        shape = (about.components,) if about.components > 1 else ()
        return self._map("attribute", (leaf, quality), shape, about.dtype, text)

    def _map(self, what, where, shape, dtype, *name):
        owned, leaf, quality = self._owned, as_integer(where[0], "leaf"), as_real(where[1], "quality")
        values, count = ctypes.c_void_p(), ctypes.c_uint64()
        check(getattr(library(), "bat_map_" + what)(
            owned, *name, leaf, quality, ctypes.byref(values), ctypes.byref(count)))
        if count.value == 0:
            return np.empty((0, *shape), dtype)
        size = int(count.value * dtype.itemsize * np.prod(shape, dtype=np.int64))
        memory = (ctypes.c_char * size).from_address(values.value)
        memory.dataset = owned
        return np.frombuffer(memoryview(memory).toreadonly(), dtype).reshape(count.value, *shape)


def _named(path):
    """Returns a path for C; only rank 0's is used."""
    return repr(display_name(path)) if path is not None else "of rank 0"


def _numbers(values):
    return "(" + ", ".join(f"{value:.6g}" for value in values) + ")"


def open(path: str | os.PathLike, comm: Any = None, map: bool = False,  # pylint: disable=redefined-builtin
         storage_options: dict | None = None) -> Dataset:
    """Opens a dataset at a path or an address and returns a Dataset. Collective with a communicator.

    The library reads http, https and s3 addresses. Others, such as gs:// and sftp://, and those with storage_options are
    read through fsspec.
    """
    return Dataset(path, comm, map=map, storage_options=storage_options)
