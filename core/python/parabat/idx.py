# SPDX-License-Identifier: BSD-3-Clause
"""Reads and writes multiresolution structured grids with NumPy: .idx datasets of this library,
OpenVisus and PIDX.

    import parabat.idx

    parabat.idx.write("flow.idx", {"pressure": p}, spacing=(0.1, 0.1, 0.1), time=0.5)
    with parabat.idx.open("flow.idx") as dataset:
        grid = dataset.read(["pressure"], level=dataset.levels - 3)  # 1/8 of the samples
        grid["pressure"], grid.origin, grid.spacing

Arrays have the shape (nz, ny, nx), or (nz, ny, nx, components); grids without a third axis (ny, nx).
Everything named by axis (boxes, origins, spacings) is in the order x, y, z. Samples are numbered from 0. A
box is six integers, first x, y, z, last x, y, z, both included.

In parallel, all ranks call write() and open() with `comm=MPI.COMM_WORLD` of mpi4py; the calls are then
collective. Reads are independent on each rank. Failures raise BatError, as for particles.
"""

from __future__ import annotations

import collections
import contextlib
import ctypes
import json
import math
import os
import threading
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Sequence

import numpy as np

from ._arguments import as_box, as_integer, as_layers, as_list, as_path, as_plain, as_real, as_text, new_array
from ._files import display_name, file_name
from ._library import DTYPES, TYPES, Owned, agreed, call, check, library
from ._options import GRIDS, with_meanings
from ._progress import Progress
from ._remote import agree
from ._text import printable
from .errors import INVALID_ARGUMENT, BatTypeError, available, refuse, refuse_type, shown
from .export import needed

if TYPE_CHECKING:
    import pyvista
    import xarray

__all__ = ["Cost", "Dataset", "Field", "Grid", "Lattice", "Piece", "Report", "can_open", "open", "options_table",
           "write"]

Field = collections.namedtuple("Field", "name dtype components range")
Field.__doc__ = """A field as the dataset's text describes it. range: minimum and maximum as recorded by the writer,
for fields with one component; None if not recorded."""

Lattice = collections.namedtuple("Lattice", "first distance count")
Lattice.__doc__ = """The samples of a level in a box: indices of the first one, strides, and counts, each (x, y, z)."""

Cost = collections.namedtuple("Cost", "samples bytes blocks block_bytes")
Cost.__doc__ = """The cost of a read: samples per array, bytes of all arrays, blocks that contain some of the samples,
and their uncompressed bytes, the maximum that is read."""


def _library():
    lib = library()
    if not hasattr(lib, "bat_idx_open"):
        refuse("this libbat_capi.so was built without zlib or LZ4 and does not support structured grids (.idx)")
    lib.bat_idx_options_table.restype = ctypes.c_char_p
    return lib


class _Numbers(ctypes.Structure):
    """A C structure that prints as text."""

    def asdict(self) -> dict:
        """Returns names and numbers as a dict."""
        return {name: getattr(self, name) for name, *_ in self._fields_}

    def __repr__(self):
        return f"<parabat.idx.{type(self).__name__.lstrip('_')} {json.dumps(self.asdict())}>"


class Report(_Numbers):
    """The report of a write, summed over all ranks: bat_idx_report in bat/bat_idx.h."""

    _fields_ = [(name, ctypes.c_uint64) for name in (
        "samples", "files", "file_bytes", "blocks", "messages_within", "bytes_within", "messages_between",
        "bytes_between")]


class _ReadReport(_Numbers):
    _fields_ = [(name, ctypes.c_uint64) for name in ("samples", "blocks", "absent_blocks", "bytes_read")]


class _Cost(_Numbers):
    _fields_ = [(name, ctypes.c_uint64) for name in Cost._fields]


class _Info(ctypes.Structure):
    _fields_ = [
        ("box", ctypes.c_int64 * 6), ("origin", ctypes.c_double * 3), ("spacing", ctypes.c_double * 3),
        ("blocks_per_file", ctypes.c_uint64), ("arco", ctypes.c_uint64), ("levels", ctypes.c_int32),
        ("axes", ctypes.c_int32), ("version", ctypes.c_int32), ("pidx", ctypes.c_int32),
        ("bits_per_block", ctypes.c_int32), ("big_endian", ctypes.c_int32)]


def _whole(value, what):
    return as_integer(value, what).value


def _box_of_samples(box):
    """Returns six int64, or None."""
    if box is None:
        return None
    ends = as_list(box, "box", "six whole numbers: first x, y, z, last x, y, z")
    if len(ends) != 6:
        refuse(f"box: {shown(box)}; a box is six whole numbers: first x, y, z, last x, y, z")
    return (ctypes.c_int64 * 6)(*(_whole(end, "box") for end in ends))


def _three(values, kind, what, convert):
    numbers = as_list(values, what, "three numbers x, y, z")
    if len(numbers) != 3:
        refuse(f"{what}: {shown(values)}; three numbers x, y, z are required")
    return (kind * 3)(*(convert(number, what).value for number in numbers))


class Grid(dict):
    """The samples of a level in a box: arrays by field name, owned by the caller.

    origin, spacing: the position of the first sample, and the distances between samples, (3,)
        float64 in the order x, y, z.
    lattice: the indices of the samples.
    level, step, time: those of the read.
    absent_blocks: the number of absent blocks, whose samples have their field's default value.
    bytes_read: the number of bytes read from files.
    """

    origin: np.ndarray = None
    spacing: np.ndarray = None
    lattice: Lattice = None
    level: int = 0
    step: int = 0
    time: float = 0.0
    absent_blocks: int = 0
    bytes_read: int = 0
    _key = None  # arguments of the read, except level and fields
    _axes = 3  # the arrays' axes

    def __repr__(self):
        count = " x ".join(str(n) for n in self.lattice.count)
        return f"<parabat.idx.Grid: {count} samples of level {self.level}; " + ", ".join(
            f"{printable(name)} {values.dtype}{list(values.shape)}" for name, values in self.items()) + ">"

    def coordinates(self, axis: int) -> np.ndarray:
        """Returns the coordinates of the samples along an axis, 0 to 2 for x to z: (n,) float64."""
        return self.origin[axis] + np.arange(self.lattice.count[axis]) * self.spacing[axis]

    def to_pyvista(self) -> pyvista.ImageData:
        """Returns ImageData with all fields as point data, and the time as field data "TimeValue".
        Raises BatImportError without pyvista."""
        pyvista = needed("pyvista", "to_pyvista()")
        image = pyvista.ImageData(dimensions=self.lattice.count, spacing=self.spacing, origin=self.origin)
        samples = int(np.prod(self.lattice.count))
        for name, values in self.items():
            image.point_data[name] = values.reshape(samples, -1) if values.size != samples else values.reshape(samples)
        image.field_data["TimeValue"] = np.array([self.time])
        return image

    def to_xarray(self) -> xarray.Dataset:
        """Returns an xarray Dataset with the dimensions z, y, x, and `component` for vectors.
        Raises BatImportError without xarray."""
        xarray = needed("xarray", "to_xarray()")
        dims = ("z", "y", "x")[-self._axes:]
        fields = {name: (dims if values.ndim == len(dims) else (*dims, f"component_{values.shape[-1]}"), values)
                  for name, values in self.items()}
        return xarray.Dataset(fields, {dim: self.coordinates("xyz".index(dim)) for dim in dims},
                              {"level": self.level, "step": self.step, "time": self.time})


class Dataset:
    """An open .idx dataset. Opening reads its text but no samples. While it is open, all reads of a
    step see one version of it; if the step has been replaced or removed, they raise BatError.

    Raises BatNotFoundError; BatError if the file is not an .idx, is damaged, or requires an
    unsupported feature, which the text names.
    """

    def __init__(self, path: str | os.PathLike, comm: Any = None, *, storage_options: dict | None = None):
        lib = _library()
        self._owned = Owned(lib.bat_idx_close)
        self._turn = threading.RLock()  # progress functions may also read
        with agreed(comm):
            name = as_path(path, storage_options)
        agree(comm, name)
        self.path = path
        call(comm, "idx_open", name, ctypes.byref(self._owned.pointer))
        self._info, self._fields = _Info(), {}
        check(lib.bat_idx_get_info(self._owned, ctypes.byref(self._info)))

    def __enter__(self) -> Dataset:
        return self

    def __exit__(self, *unused) -> None:
        self.close()

    def close(self) -> None:
        """Closes the dataset. Arrays that were read stay valid. Calls that other threads have begun
        finish normally, or raise BatValueError if they need the dataset again."""
        self._owned = self._owned.closed()

    def __repr__(self):
        if not self._owned.pointer:
            return f"<parabat.idx.Dataset {display_name(self.path)!r}, closed>"
        steps = self.steps
        facts = [" x ".join(str(n) for n in self.lattice().count) + " samples", f"{self.levels + 1} levels"]
        facts += [f"{len(steps):,} steps"] * (len(steps) != 1)
        rows = [(printable(field.name), f"{field.dtype}" + f"[{field.components}]" * (field.components > 1),
                 f"{field.range[0]:.6g} to {field.range[1]:.6g}" if field.range else "") for field in self.fields.values()]
        widths = [max(len(row[i]) for row in rows) for i in range(2)]
        return "\n  ".join([f"<parabat.idx.Dataset {display_name(self.path)!r}: {', '.join(facts)}"] + [
            f"{row[0]:{widths[0]}} {row[1]:{widths[1]}} {row[2]}".rstrip() for row in rows]) + ">"

    def _texts(self):
        owned, texts = self._owned, [ctypes.c_char_p() for _ in range(3)]
        check(_library().bat_idx_texts(owned, *map(ctypes.byref, texts)))
        return [text.value.decode(errors="replace") for text in texts]

    @property
    def box(self) -> tuple[int, ...]:
        """The box of all samples: first x, y, z, last x, y, z."""
        return tuple(self._info.box)

    @property
    def levels(self) -> int:
        """The number of the finest level; level 0 is one sample."""
        return self._info.levels

    @property
    def axes(self) -> int:
        """The number of axes, 1 to 3, that have samples."""
        return max(int(digit) for digit in self.bits[1:]) + 1

    @property
    def origin(self) -> np.ndarray:
        """The position of sample (0, 0, 0), even if the box begins elsewhere, (3,) float64."""
        return np.array(self._info.origin)

    @property
    def spacing(self) -> np.ndarray:
        """The distances between samples, (3,) float64."""
        return np.array(self._info.spacing)

    @property
    def bits(self) -> str:
        """The order in which axes are halved, e.g. "V012012": a digit for each level above 0."""
        return self._texts()[0]

    @property
    def text(self) -> str:
        """The text of the .idx file."""
        return self._texts()[1]

    @property
    def warning(self) -> str:
        """The reason why origin and spacing cannot express the dataset's position in space, or
        ""."""
        return self._texts()[2]

    @property
    def version(self) -> str:
        """The version: "1" to "6", or "6.1" for PIDX."""
        return "6.1" if self._info.pidx else str(self._info.version)

    @property
    def bits_per_block(self) -> int:
        """The base-2 logarithm of the number of samples in a block."""
        return self._info.bits_per_block

    @property
    def blocks_per_file(self) -> int:
        """The number of blocks of a field in one file."""
        return self._info.blocks_per_file

    @property
    def fields(self) -> dict[str, Field]:
        """Descriptions of the fields, by name."""
        count = ctypes.c_int()
        check(_library().bat_idx_field_count(self._owned, ctypes.byref(count)))
        if len(self._fields) != count.value:  # an open dataset's text does not change
            self._fields = {field.name: field for field in map(self._field, range(count.value))}
        return dict(self._fields)

    def _field(self, index):
        lib, owned, number = _library(), self._owned, ctypes.c_int64(index)
        name, kind, components = ctypes.c_char_p(), ctypes.c_int(), ctypes.c_int()
        check(lib.bat_idx_field(owned, number, ctypes.byref(name), ctypes.byref(kind),
                                ctypes.byref(components)))
        low, high = ctypes.c_double(), ctypes.c_double()
        check(lib.bat_idx_field_range(owned, number, ctypes.c_int64(0), ctypes.byref(low),
                                      ctypes.byref(high)))
        has_range = components.value == 1 and low.value <= high.value
        return Field(name.value.decode(), DTYPES[kind.value], components.value,
                     (low.value, high.value) if has_range else None)

    def _steps(self, with_times):
        lib, count = _library(), ctypes.c_uint64()
        check(lib.bat_idx_step_count(self._owned, ctypes.byref(count)))
        values = np.empty(count.value, np.float64 if with_times else np.int64)
        where = ctypes.c_void_p(values.ctypes.data)
        check(lib.bat_idx_steps(self._owned, count, None if with_times else where,
                                where if with_times else None))
        return values.tolist()

    @property
    def steps(self) -> list[int]:
        """The time steps, ascending; those found in the folder if the text does not list them."""
        return self._steps(False)

    @property
    def times(self) -> list[float]:
        """The times of the steps, as stored by the writer, or the steps themselves."""
        return self._steps(True)

    def lattice(self, level: int | None = None, box: Sequence[int] | None = None) -> Lattice:
        """Returns the lattice of the samples that a read returns; level: None for the finest.
        Raises BatValueError if the level does not exist."""
        first, distance, count = ((ctypes.c_int64 * 3)() for _ in range(3))
        check(_library().bat_idx_lattice(self._owned, self._level(level), _box_of_samples(box), first,
                                         distance, count))
        return Lattice(tuple(first), tuple(distance), tuple(count))

    def box_of(self, bounds: Sequence[float]) -> tuple[int, ...]:
        """Returns the box of the samples inside a spatial box, lower x, y, z, upper x, y, z,
        including its faces. If there are none, a last index is below the first."""
        ends, box = as_box(bounds, "bounds"), (ctypes.c_int64 * 6)()
        if np.isnan(ends).any():
            refuse(f"bounds: an end along {'xyz'[np.flatnonzero(np.isnan(ends))[0] % 3]} is NaN; ends must be numbers")
        check(_library().bat_idx_box_of(self._owned, ctypes.c_void_p(ends.ctypes.data), box))
        return tuple(box)

    def first_level(self, box: Sequence[int]) -> int | None:
        """Returns the coarsest level at which a box has samples; None if it has none at any level."""
        level = ctypes.c_int()
        check(_library().bat_idx_first_level(self._owned, _box_of_samples(box), ctypes.byref(level)))
        return None if level.value < 0 else level.value

    def cost(self, fields: Iterable[str] | None = None, *, level: int | None = None,
             box: Sequence[int] | None = None) -> Cost:
        """Returns the cost of read() with these arguments, from the text alone. fields: None for all. level: None for
        the finest. box: first and last sample, as for read(); None for all samples."""
        cost = _Cost()
        check(_library().bat_idx_get_cost(self._owned, *self._names(fields), self._level(level),
                                          _box_of_samples(box), ctypes.byref(cost)))
        return Cost(**cost.asdict())

    def level_within(self, budget: int, fields: Iterable[str] | None = None, *, level: int | None = None,
                     box: Sequence[int] | None = None) -> int:
        """Returns the finest level, up to `level`, at which the arrays of these fields take at most
        `budget` bytes; 0 if none does. The other arguments are as for cost()."""
        found = ctypes.c_int()
        check(_library().bat_idx_finest_level(
            self._owned, *self._names(fields), self._level(level), ctypes.c_uint64(_whole(budget, "budget")),
            _box_of_samples(box), ctypes.byref(found)))
        return found.value

    def _level(self, level):
        return ctypes.c_int64(self.levels) if level is None else as_integer(level, "level")

    def _chosen(self, fields):
        if fields is None:
            return list(self.fields)
        names = [fields] if isinstance(fields, str) else as_list(fields, "fields", "names, lists of names")
        return list(dict.fromkeys(names))

    def _names(self, fields):
        names = [as_text(name, "fields") for name in self._chosen(fields)]
        return ctypes.c_uint64(len(names)), (ctypes.c_char_p * max(1, len(names)))(*names)

    def read(self, fields: str | Iterable[str] | None = None, *, level: int | None = None,
             box: Sequence[int] | None = None, bounds: Sequence[float] | None = None, step: int | None = None,
             budget: int | None = None, axes: int | None = None, coarse: Grid | None = None, threads: int = 0,
             progress: Callable[[float], bool | None] | None = None) -> Grid:
        """Returns the samples of a level in a box as a Grid.

        fields: names; None for all.
        level: from 0, one sample, to `levels`, all of them; None for `levels`.
        box: six integers, first and last sample of x, y, z; parts outside of the dataset are ignored.
        bounds: the same as a spatial box, six reals.
        step: one of `steps`; None for the first.
        budget: reads the finest level up to `level` whose arrays take at most this many bytes.
        axes: 3 for arrays (nz, ny, nx) even if the grid is flat; None for the dataset's `axes`.
        coarse: a Grid read before with the same box and step, whose samples are reused.
        threads: the maximum number of threads; 0 for all available.
        progress: called with the completed share, from 0 to 1. If it returns False, reading stops with
            BatCancelledError.

        Every value is returned as it was written, in its type. Raises BatValueError and BatTypeError for invalid
        arguments, BatNotFoundError for a step without any data, BatError for damaged files and if there is not
        enough memory for the arrays.
        """
        if bounds is not None:
            if box is not None:
                refuse("box and bounds: only one of them is allowed")
            box = self.box_of(bounds)
        names, known = self._chosen(fields), self.fields
        for name in names:
            if name not in known:
                refuse(f"{os.fspath(self.path)}: unknown field {shown(name)}{available(name, known)}")
        if budget is not None:
            level = self.level_within(budget, names, level=level, box=box)
        level = self._level(level).value
        steps = self.steps
        number = (steps[0] if steps else 0) if step is None else _whole(step, "step")
        ends, grid = _box_of_samples(box), Grid()
        grid.lattice = self.lattice(level, box)
        grid.level, grid.step = level, number
        grid.time = self.times[steps.index(number)] if number in steps else float(number)
        grid.spacing = self.spacing * grid.lattice.distance
        grid.origin = self.origin + self.spacing * grid.lattice.first
        grid._key = (os.fspath(self.path), None if ends is None else tuple(ends), number)
        given = self.axes if axes is None else _whole(axes, "axes")
        if not self.axes <= given <= 3:
            refuse(f"axes is {given}; allowed here are {self.axes} to 3")
        self._check_coarse(coarse, grid, names)
        grid._axes = given
        on_progress, maximum = Progress(progress), as_integer(threads, "threads")
        if names and math.prod(grid.lattice.count) >= 1 << 28:
            self._look_for(known[names[0]], number)
        with on_progress.watched():
            for i, name in enumerate(names):
                on_progress.span = (i / len(names), (i + 1) / len(names))
                with self._telling(on_progress, maximum):
                    grid[name] = self._read(known[name], number, grid, ends, given, coarse)
        return grid

    @contextlib.contextmanager
    def _telling(self, on_progress, threads):
        """Calls progress during a read. The library has one progress function and one number of
        threads for all reads of a dataset, so threads of this process take turns, field by
        field."""
        lib = _library()
        with self._turn:
            check(lib.bat_idx_set_threads(self._owned, threads))
            check(lib.bat_idx_set_progress(self._owned, on_progress.callback, None))
            try:
                yield
            finally:
                lib.bat_idx_set_progress(self._owned, None, None)

    def _check_coarse(self, coarse, grid, names):
        if coarse is None:
            return
        if not isinstance(coarse, Grid):
            refuse_type("coarse", coarse, "a Grid that was read before")
        if coarse._key != grid._key or coarse.level >= grid.level:  # pylint: disable=protected-access
            refuse("coarse: belongs to another dataset, box or step, or does not have a coarser level")
        known = self.fields
        for name in names:
            about, count = known[name], coarse.lattice.count
            requested = int(np.prod(count)) * about.components
            if name not in coarse or coarse[name].dtype != about.dtype or coarse[name].size != requested:
                refuse(f"coarse: its samples of '{name}' were changed")

    def _look_for(self, about, step):
        """Raises BatNotFoundError if the step has no data, which its coarsest level reveals, before
        memory is allocated."""
        count = self.lattice(0).count
        if math.prod(count):
            one = np.empty((math.prod(count), about.components), about.dtype)
            check(_library().bat_idx_read(
                self._owned, as_text(about.name, "fields"), ctypes.byref(ctypes.c_int64(step)), ctypes.c_int64(0),
                None, ctypes.c_void_p(one.ctypes.data), ctypes.c_size_t(one.nbytes), None))

    def _read(self, about, step, grid, ends, axes, coarse):
        lib, name, report = _library(), about.name, _ReadReport()
        shape = grid.lattice.count[::-1][3 - axes:] + ((about.components,) if about.components > 1 else ())
        values = new_array(shape, about.dtype, self.path)
        where = (ctypes.c_int64(grid.level), ends, ctypes.c_void_p(values.ctypes.data), ctypes.c_size_t(values.nbytes),
                 ctypes.byref(report))
        field = (self._owned, as_text(name, "fields"), ctypes.byref(ctypes.c_int64(step)))
        if coarse is None:
            check(lib.bat_idx_read(*field, *where))
        else:
            old = np.ascontiguousarray(coarse[name])
            check(lib.bat_idx_refine(*field, ctypes.c_int64(coarse.level), ctypes.c_void_p(old.ctypes.data), *where))
        grid.absent_blocks += report.absent_blocks
        grid.bytes_read += report.bytes_read
        return values

    def iter_levels(self, fields: str | Iterable[str] | None = None, *, level: int | None = None,
                    first: int | None = None, **options: Any) -> Iterator[Grid]:
        """Yields grids from a coarse level to `level`, three levels (8 times the samples) at a
        time; each reads only what the previous one lacks. first: the coarsest level; None for one
        that takes at most 2 MiB. options: box, bounds, step, threads and progress of read()."""
        finest, fields = self._level(level).value, self._chosen(fields)
        bounds = options.pop("bounds", None)
        if bounds is not None:
            if options.get("box") is not None:
                refuse("box and bounds: only one of them is allowed")
            options["box"] = self.box_of(bounds)
        if first is None:
            first = self.level_within(1 << 21, fields, level=finest, box=options.get("box"))
        grid = None
        for number in [*range(_whole(first, "first"), finest, 3), finest]:
            grid = self.read(fields, level=number, coarse=grid, **options)
            yield grid

    def validate(self, progress: Callable[[float], bool | None] | None = None) -> dict:
        """Checks every block of all fields and steps. Returns samples, blocks, absent_blocks and
        bytes_read. Raises a BatError for the first problem."""
        on_progress, report = Progress(progress), _ReadReport()
        with on_progress.watched(), self._telling(on_progress, ctypes.c_int64(0)):
            check(_library().bat_idx_validate(self._owned, ctypes.byref(report)))
        return report.asdict()


def open(path: str | os.PathLike, comm: Any = None, storage_options: dict | None = None) -> Dataset:  # pylint: disable=redefined-builtin
    """Opens the dataset at a path or an address and returns a Dataset. Collective if `comm` (mpi4py)
    is given; the path is then rank 0's. storage_options: as of parabat.open()."""
    return Dataset(path, comm, storage_options=storage_options)


def can_open(path: str | os.PathLike) -> bool:
    """Returns whether a path names an .idx dataset."""
    return file_name(path).endswith(".idx")


class Piece:
    """The part of a grid that one rank has.

    fields: a dict from name to array, all of one shape except for components.
    first: indices of the arrays' first sample, x, y, z.
    ghosts: layers around the samples that are in the arrays but not written: one number, or three
        pairs, before and after along x, y, z.
    """

    def __init__(self, fields: dict[str, Any], first: Sequence[int] = (0, 0, 0), ghosts: Any = 0):
        self.fields = fields
        self.first = first
        self.ghosts = ghosts


def _arrays_of(fields, axes):
    """Returns a dict from name to packed array of the same shape (nz, ny, nx, components), except
    for components."""
    if not hasattr(fields, "items"):
        refuse_type("fields", fields, "a dict of names and arrays")
    plain = {name: as_plain(values, f"field {shown(name)}") for name, values in fields.items()}
    if axes is None:
        axes = min((array.ndim for array in plain.values()), default=3)
        axes = min(axes, 3)
    if axes not in (1, 2, 3):
        refuse(f"axes is {shown(axes)}; allowed are 1 to 3")
    found = {}
    for name, array in plain.items():
        if array.ndim not in (axes, axes + 1):
            refuse(f"field {shown(name)}: shape {array.shape}; allowed are {axes} axes, optionally followed by one of components; set `axes` to their "
                   "number")
        grid = (1,) * (3 - axes) + array.shape[:axes]
        components = 1 if array.ndim == axes else array.shape[axes]
        found[name] = np.ascontiguousarray(array).reshape(*grid, components)
        if found[name].shape[:3] != next(iter(found.values())).shape[:3]:
            refuse(f"field {shown(name)}: {array.shape[:axes]} samples, but the others have {next(iter(found.values())).shape[3 - axes:3]}")
    return found


def _add_piece(handle, piece, axes):
    """Adds a piece and returns the arrays that are borrowed."""
    lib, arrays = _library(), _arrays_of(piece.fields, axes)
    if not arrays:
        refuse("fields: a piece without fields")
    shape = next(iter(arrays.values())).shape[2::-1]
    first = list(_three(piece.first, ctypes.c_int64, "first", as_integer))
    layers = as_layers(piece.ghosts)
    for axis in range(3 - (axes or 3)):  # a plane has no ghosts perpendicular to it
        layers[2 - axis] = [0, 0]
    for axis in range(3):
        if shape[axis] == 1 and not hasattr(piece.ghosts, "__iter__"):
            layers[axis] = [0, 0]
    last = [begin + count - 1 for begin, count in zip(first, shape)]
    stored = (ctypes.c_int64 * 6)(*first, *last)
    inside = (ctypes.c_int64 * 6)(*(begin + pair[0] for begin, pair in zip(first, layers)),
                                  *(end - pair[1] for end, pair in zip(last, layers)))
    if any(inside[i] > inside[i + 3] for i in range(3)):
        refuse(f"a piece of {' x '.join(map(str, shape))} samples contains only ghosts")
    check(lib.bat_grid_add_piece(handle, inside, stored))
    for name, array in arrays.items():
        check(lib.bat_grid_set_field(
            handle, as_text(name, "field name"), ctypes.c_int(TYPES[array.dtype.name]),
            ctypes.c_int64(array.shape[3]), ctypes.c_void_p(array.ctypes.data)))
    return list(arrays.values())


def options_table() -> list[dict]:
    """Returns all options of a write: dicts with name, type, default, allowed values and meaning."""
    return with_meanings(json.loads(_library().bat_idx_options_table()), GRIDS)


def _set_options(handle, given):
    lib = _library()
    table = {row["name"]: row for row in options_table()} if given else {}
    for name, value in given.items():
        if name not in table:
            raise BatTypeError(INVALID_ARGUMENT, f"unknown option '{name}'{available(name, table)}")
        if value is None:
            continue
        kind, option = table[name]["type"], name.encode()
        if kind == "word" and not isinstance(value, str):
            refuse(f"{name} is {shown(value)}; {table[name]['allowed']} is allowed")
        if kind == "word":
            check(lib.bat_idx_options_set_text(handle, option, as_text(value, name)))
        elif kind == "number":
            check(lib.bat_idx_options_set_real(handle, option, as_real(value, name)))
        else:
            number = ctypes.c_int64(bool(value)) if kind == "flag" else as_integer(value, name)
            check(lib.bat_idx_options_set_integer(handle, option, number))


def _made(what):
    lib = _library()
    owned = Owned(getattr(lib, f"bat_{what}_free"))
    check(getattr(lib, f"bat_{what}_create")(ctypes.byref(owned.pointer)))
    return owned


def write(path: str | os.PathLike, fields: Any, *, comm: Any = None, first: Sequence[int] = (0, 0, 0),
          origin: Sequence[float] = (0, 0, 0), spacing: Sequence[float] = (1, 1, 1), ghosts: Any = 0,
          axes: int | None = None, progress: Callable[[float], bool | None] | None = None,
          **options: Any) -> Report:
    """Writes NAME.idx and, next to it, the folder NAME, from the arrays of all ranks of `comm` (mpi4py), or of
    this process (None).

    fields: a dict from name to array (nz, ny, nx), or (nz, ny, nx, components) with at most 64 components. (ny,
        nx) and (nx,), with or without components, are grids with fewer axes. `axes` resolves ambiguity: a single
        field (ny, nx, 3) is a scalar volume unless axes=2. Types are those of the arrays, and values are stored
        exactly. Instead of a dict, several pieces are a list of Piece; ranks without data pass [].
    first, ghosts: as for Piece.
    origin: the position of sample (0, 0, 0), in the order x, y, z.
    spacing: the distances between samples, above 0, in the order x, y, z.

    options, all as in bat/bat_idx.h: step (a number: the step is added, or replaced if it exists; other steps stay),
    mode ("auto", "replace", "add_step", "continue"), time, codec ("raw", "zip", "lz4"), zip_level, layout
    ("row_major", "hz"), dialect ("openvisus", "pidx"), bits_per_block, file_bytes, missing ("refuse", "zero": samples
    that no rank has), threads, flush, exchange ("auto", "flat", "leaders"), leaders_per_node, ranks_per_node. None
    means the default; options_table() lists their meanings and allowed values. progress: called with the completed
    share, from 0 to 1; unlike in parabat.write(), every rank calls its own. If one returns False, writing stops on all
    ranks with BatCancelledError, and an existing dataset is unchanged.

    Without step, or with mode="replace", an existing dataset is replaced atomically at the end. A step whose grid
    has another shape or other fields than the dataset's is an error. After any failure, the dataset is unchanged.
    The bytes are the same for any number of ranks and any partition. Returns a Report. Raises BatValueError,
    BatTypeError; BatError if files cannot be written. Collective if `comm` is given.
    """
    lib = _library()
    report = Report()
    arrays = []  # alive until the write is complete
    with _made("grid") as grid, _made("idx_options") as handle:
        with agreed(comm):
            on_progress = Progress(progress)
            name = as_path(path)
            check(lib.bat_grid_set_geometry(
                grid, _three(origin, ctypes.c_double, "origin", as_real),
                _three(spacing, ctypes.c_double, "spacing", as_real)))
            pieces = fields if isinstance(fields, (list, tuple)) else [Piece(fields, first, ghosts)]
            for piece in pieces:
                if not isinstance(piece, Piece):
                    refuse_type("fields", piece, "a dict of names and arrays, a list of Piece")
                arrays += _add_piece(grid, piece, axes)
            _set_options(handle, options)
            if on_progress.callback is not None:
                check(lib.bat_idx_options_set_progress(handle, on_progress.callback, None))
        with on_progress.watched():
            call(comm, "idx_write", name, grid, handle, ctypes.byref(report))
    del arrays
    return report
