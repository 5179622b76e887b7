# SPDX-License-Identifier: BSD-3-Clause
"""Writes, describes and validates velocity fields in bricks: .bricks files, one for each time level, and the lists that
name them, .bricks.series. parabat.flow has the public functions of this module. File format: core/bricks/BRICKS.md.
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import json
import math
import os
import pathlib
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ._arguments import as_integer, as_layers, as_list, as_path, as_real, as_text, flat_numbers
from ._library import DTYPES, TYPES, Owned, agreed, call, check, library
from ._progress import Progress
from .errors import INVALID_ARGUMENT, BatError, BatImportError, refuse, refuse_type, shown

__all__ = ["Level", "Piece", "SeriesWriter", "describe", "validate", "write_level", "write_series"]


class Grid(ctypes.Structure):
    _fields_ = [("points", ctypes.c_int64 * 3), ("origin", ctypes.c_double * 3),
                ("spacing", ctypes.c_double * 3), ("cyclic", ctypes.c_int64 * 3),
                ("components", ctypes.c_int64), ("type", ctypes.c_int64)]


def flow_library():
    lib = library()
    if not hasattr(lib, "bat_flow_trace"):
        raise BatImportError(INVALID_ARGUMENT, "this libbat_capi.so was built without flow; set BAT_LIBRARY to one built with lz4")
    return lib


def as_triple(values, what):
    array = flat_numbers(values, 3)
    if array is None:
        refuse(f"{what}: {shown(values)}; three numbers x, y, z are required")
    return array


def as_flags(values, what):
    flags = [values] * 3 if isinstance(values, (bool, np.bool_)) else list(values)
    if len(flags) != 3 or not all(isinstance(flag, (bool, np.bool_)) for flag in flags):
        refuse(f"{what}: {shown(values)}; one or three of True and False are required")
    return [int(flag) for flag in flags]


def as_velocity(values):
    """Returns the velocity packed and in native byte order, with shape (nz, ny, nx, 2 or 3)."""
    array = np.asanyarray(values)
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    if array.dtype not in (np.float32, np.float64):
        refuse(f"velocity: type {array.dtype}; allowed: float32, float64")
    if np.ma.isMaskedArray(array):
        array = np.ma.filled(array, np.nan)
    if array.ndim != 4 or array.shape[3] not in (2, 3) or 0 in array.shape:
        refuse(f"velocity: shape {array.shape}; allowed: (nz, ny, nx, 2) and (nz, ny, nx, 3)")
    return np.ascontiguousarray(array)


def make_grid(shape, dtype, origin, spacing, cyclic):
    """Describes a grid of shape (nz, ny, nx, components)."""
    grid = Grid()
    grid.points[:] = shape[2::-1]
    grid.origin[:] = as_triple(origin, "origin")
    grid.spacing[:] = as_triple(spacing, "spacing")
    grid.cyclic[:] = as_flags(cyclic, "cyclic")
    grid.components = shape[3]
    grid.type = TYPES[dtype.name]
    return grid


def next_time(number, time, before):
    """Returns the time of level `number` as a float. before: the time of the previous level, or
    None."""
    time = as_real(time, "time").value
    if not math.isfinite(time) or (before is not None and time <= before):
        refuse(f"time {time} of step {number}: times must be finite and increase" +
               (f"; the previous one is {before}" if before is not None else ""))
    return time


class Piece:
    """The part of a level that one rank has.

    velocity: as for write_level().
    first: indices of its first point along x, y, z.
    ghosts: layers around the points that are in the array but not written: one number, or three
        pairs, before and after along x, y, z.
    """

    def __init__(self, velocity: Any, first: Sequence[int] = (0, 0, 0), ghosts: Any = 0):
        self.velocity = velocity
        self.first = first
        self.ghosts = ghosts


class _Part(ctypes.Structure):
    """A piece in the form that C takes."""

    _fields_ = [("box", ctypes.c_int64 * 6), ("stored", ctypes.c_int64 * 6), ("values", ctypes.c_void_p)]


def _make_pieces(velocity):
    """[(packed array, box to write, box of the array)], with boxes as lower x, y, z, upper x, y,
    z"""
    given = velocity if isinstance(velocity, (list, tuple)) else [Piece(velocity)]
    pieces = []
    for piece in given:
        if not isinstance(piece, Piece):
            refuse_type("velocity", piece, "an array, a list of Piece")
        array = as_velocity(piece.velocity)
        first = [as_integer(number, "first").value for number in as_list(piece.first, "first", "three whole numbers")]
        if len(first) != 3:
            refuse(f"first: {shown(piece.first)}; three whole numbers x, y, z are required")
        stored = (*first, *(begin + count - 1 for begin, count in zip(first, array.shape[2::-1])))
        layers = as_layers(piece.ghosts)
        if not hasattr(piece.ghosts, "__iter__"):
            layers = [[0, 0] if count == 1 else pair for count, pair in zip(array.shape[2::-1], layers)]
        box = (*(stored[axis] + layers[axis][0] for axis in range(3)), *(stored[axis + 3] - layers[axis][1] for axis in range(3)))
        if any(box[axis] > box[axis + 3] for axis in range(3)):
            refuse(f"a piece of {' x '.join(map(str, array.shape[2::-1]))} points contains only ghosts")
        pieces.append((array, box, stored))
    if len({(array.dtype, array.shape[3]) for array, _, _ in pieces}) > 1:
        refuse("velocity: pieces differ in type or number of components")
    return pieces


def write_level(path: str | os.PathLike, velocity: Any, *, comm: Any = None, origin: Sequence[float] = (0, 0, 0),
                spacing: Sequence[float] = (1, 1, 1), cyclic: bool | Sequence[bool] = False,
                time: float | None = None, step: int | None = None, field: str = "velocity",
                metadata: dict | None = None, compress: bool = True, flush: bool = True,
                progress: Callable[[float], Any] | None = None) -> None:
    """Writes one time level as a .bricks file, which appears complete or not at all.

    velocity: stored bit by bit; masked values of a masked array become NaN.
    cyclic: for x, y, z, whether a last cell connects the last point to the first.
    origin: the position of point (0, 0, 0).

    For simulations, a path NAME.bricks.series names a list: the level is written as NAME_000012.bricks, by
    its step, and appended to the list, which may be read at any time. It requires time and step. An existing
    list is continued; levels from this step on, written before a restart, are replaced, with a message on
    stderr.

    comm: an mpi4py communicator. The call is then collective, and velocity is a list of Piece, which
    may be empty. All ranks together write the union of their pieces; the bytes are the same for any
    number of ranks and any partition. A point in several pieces is taken from the lowest rank; missing
    points are an error. Path, field, time, step, metadata, compress and flush are rank 0's.
    """
    lib = flow_library()
    on_progress = Progress(progress)
    with agreed(comm):
        if comm is None and isinstance(velocity, (list, tuple)):
            refuse("velocity: pieces are written by the ranks of a communicator; set `comm`")
        pieces = _make_pieces(velocity)
        array = pieces[0][0] if pieces else np.empty((1, 1, 1, 3), np.float32)
        grid = make_grid(array.shape, array.dtype, origin, spacing, cyclic)
        text = None if metadata is None else as_text(json.dumps(metadata), "metadata")
        about = (as_text(field, "field"), text,
                 None if time is None else ctypes.byref(as_real(time, "time")),
                 None if step is None else ctypes.byref(as_integer(step, "step")),
                 ctypes.c_int64(bool(compress)), ctypes.c_int64(bool(flush)), on_progress.callback, None)
        name = as_path(path)
    with on_progress.watched():
        if comm is None:
            check(lib.bat_bricks_write(name, ctypes.byref(grid), array.ctypes.data_as(ctypes.c_void_p),
                                       ctypes.c_size_t(array.nbytes), *about))
        else:
            parts = (_Part * max(1, len(pieces)))(*(
                _Part((ctypes.c_int64 * 6)(*box), (ctypes.c_int64 * 6)(*stored), values.ctypes.data)
                for values, box, stored in pieces))
            call(comm, "bricks_write", name, ctypes.byref(grid), ctypes.c_uint64(len(pieces)), parts, *about)


class SeriesWriter:
    """Writes the levels of a series one by one, and its list; the arguments are those of
    write_series(). Collective with a communicator."""

    def __init__(self, path, comm, replace, options):
        self.path = path
        self.files = []
        self._comm, self._replace, self._options = comm, replace, options
        self._times, self._first = [], None
        with agreed(comm):
            as_text(path.name, "series name")  # the list is UTF-8
            if not path.name.endswith(".bricks.series"):
                refuse(f"{path}: the name of a series must end in .bricks.series")
            if self._leads() and path.exists() and not replace:
                refuse(f"{path}: already exists; use replace=True to replace it and its steps")
            if self._leads() and path.exists() and path.stat().st_mode & 0o222 == 0:
                refuse(f"{path}: is read-only and was not replaced")
            self._before = _list_levels(path) if self._leads() and replace else set()

    def _leads(self):
        return self._comm is None or self._comm.rank == 0

    def _shape(self, pieces):
        """Returns the properties that all levels share: numbers of points of the whole grid,
        components and type."""
        found = [(box, array.shape[3], array.dtype) for array, box, _ in pieces]
        if self._comm is not None:
            found = [one for of_rank in self._comm.allgather(found) for one in of_rank]
        if not found:
            return None  # rejected when it is written
        boxes = np.array([box for box, _, _ in found])
        return (tuple(np.concatenate([boxes[:, :3].min(0), boxes[:, 3:].max(0)]).tolist()), found[0][1], found[0][2])

    def add(self, time, velocity, progress=None, **options):
        """Writes a level and returns its file. options: those of this level."""
        number, pieces = len(self.files), []
        with agreed(self._comm):
            time = next_time(number, time, self._times[-1] if self._times else None)
            if self._comm is None and isinstance(velocity, (list, tuple)):
                refuse("velocity: pieces are written by the ranks of a communicator; set `comm`")
            pieces = _make_pieces(velocity)
        shape = self._shape(pieces)
        self._first = self._first or shape
        file = self.path.with_name(f"{self.path.name[:-len('.bricks.series')]}_{number:04d}.bricks")
        with agreed(self._comm):
            if shape != self._first:
                (box, components, kind), (first, of_first, kind_of_first) = shape or (0, 0, 0), self._first
                refuse(f"velocity: step {number} has points {box}, {components} components of type {kind}; step 0 has {first}, {of_first} of "
                       f"{kind_of_first}, and a series has one grid")
            if self._leads() and file.exists() and not self._replace:
                refuse(f"{file}: already exists and belongs to another series; use replace=True to replace it")
        with self._list_away() if number == 0 else contextlib.nullcontext():
            write_level(file, velocity if self._comm is not None else pieces[0][0], comm=self._comm, time=time,
                        progress=progress, **{"step": number, **self._options, **options})
        self.files.append(file)
        self._times.append(time)
        with agreed(self._comm):
            if self._leads():
                self._list()
        return file

    @contextlib.contextmanager
    def _list_away(self):
        """Removes the list while the first level replaces that of another series, so that no list
        ever names levels of both."""
        place = pathlib.Path(os.path.realpath(self.path))
        old = None
        with agreed(self._comm):
            if self._leads() and place.is_file():
                old = place.read_bytes()
                place.unlink()
        try:
            yield
        except BaseException:
            if old is not None:
                place.write_bytes(old)
            raise

    def _list(self):
        names = (ctypes.c_char_p * len(self.files))(*[as_path(file.name) for file in self.files])
        check(flow_library().bat_bricks_write_list(
            as_path(self.path), ctypes.c_uint64(len(self.files)), names, (ctypes.c_double * len(self._times))(*self._times)))

    def finish(self):
        """Removes the levels of a replaced series that this one does not have."""
        with agreed(self._comm):
            if not self.files:
                refuse(f"{self.path}: no steps were given; a series has at least one")
            if self._leads():
                for file in self._before - {file.name for file in self.files}:
                    with contextlib.suppress(OSError):
                        self.path.with_name(file).unlink()


def _list_levels(path):
    """Returns the files in a list that are named as by write_series(); none if it is not a list."""
    try:
        names = [entry["name"] for entry in json.loads(path.read_text("utf-8"))["files"]]
    except (OSError, ValueError, KeyError, TypeError):
        return set()
    stem = re.escape(path.name[:-len(".bricks.series")])
    return {name for name in names if isinstance(name, str) and re.fullmatch(stem + r"_\d{4,}\.bricks", name)}


def write_series(path: str | os.PathLike, levels: Iterable[tuple[float, Any]], *, comm: Any = None,
                 replace: bool = False, progress: Callable[[float], Any] | None = None,
                 **options: Any) -> list[pathlib.Path]:
    """Writes pairs of time and velocity as NAME.bricks.series and, next to it, NAME_0000.bricks and
    so on.

    Times must increase; all levels have the shape and type of the first. The list is replaced after
    each level, so that an unfinished series can be opened. An existing list or level is an error unless
    `replace`, which finally removes the list's other levels. comm and options: as in write_level(),
    except time and step; with comm, all ranks pass the same number of levels. progress: called with the
    share of each level. Returns the files of the levels.
    """
    series = SeriesWriter(pathlib.Path(os.fsdecode(path)), comm, replace, options)
    levels = iter(levels)
    while True:
        level = time = velocity = None
        with agreed(comm):
            level = next(levels, None)
            if level is not None:
                time, velocity = level
        ended = [level is None] if comm is None else comm.allgather(level is None)
        if all(ended):
            break
        if any(ended):
            refuse(f"{path}: ranks have different numbers of steps")  # identical on all ranks
        series.add(time, velocity, progress)
    series.finish()
    return series.files


class _Level(ctypes.Structure):
    _fields_ = [("file", ctypes.c_char_p), ("field", ctypes.c_char_p), ("metadata", ctypes.c_char_p), ("grid", Grid),
                ("edge", ctypes.c_int64), ("has_time", ctypes.c_int64), ("has_step", ctypes.c_int64), ("time", ctypes.c_double),
                ("step", ctypes.c_int64), ("max_speed", ctypes.c_double), ("minimum", ctypes.c_double * 3),
                ("maximum", ctypes.c_double * 3)] + [(name, ctypes.c_uint64) for name in (
                    "bricks", "blank_bricks", "resting_bricks", "brick_bytes", "file_bytes", "value_bytes")]


@dataclasses.dataclass(frozen=True)
class Level:
    """The description that a .bricks file contains."""

    file: str
    field: str              #: name of the velocity field
    time: float | None      #: in the file; a series has its own
    step: int | None
    metadata: dict | None
    points: tuple           #: grid points along x, y, z
    origin: tuple
    spacing: tuple
    cyclic: tuple
    components: int
    dtype: np.dtype
    brick_points: int       #: points of a brick along each axis
    max_speed: float        #: points with flow
    minimum: tuple          #: for each component; above the maximum if there is no flow at all
    maximum: tuple
    bricks: int
    blank_bricks: int       #: bricks without flow
    resting_bricks: int     #: bricks with velocity 0
    brick_bytes: int        #: stored bytes of the other bricks
    file_bytes: int
    value_bytes: int        #: bytes of all values, uncompressed


def describe(path: str | os.PathLike) -> list[tuple[float, Level | BatError]]:
    """Yields (time, Level) for each level of a .bricks.series, or of a .bricks file. If a level
    cannot be read, a BatError with the reason takes the place of the Level. Reads headers and
    indexes, but no bricks."""
    lib = flow_library()
    count, times = ctypes.c_uint64(), ctypes.POINTER(ctypes.c_double)()
    owned = Owned(lib.bat_bricks_free)
    found = []
    with owned:
        check(lib.bat_bricks_open(as_path(path), ctypes.byref(owned.pointer), ctypes.byref(count), ctypes.byref(times)))
        for number in range(count.value):
            about = _Level()
            try:
                check(lib.bat_bricks_describe(owned.pointer, ctypes.c_uint64(number), ctypes.byref(about)))
                found.append((times[number], _make_level(about)))
            except BatError as error:
                found.append((times[number], error))
    return found


def _make_level(about):
    grid = about.grid
    metadata = json.loads(about.metadata) if about.metadata else None
    return Level(os.fsdecode(about.file), about.field.decode(), about.time if about.has_time else None,
                 about.step if about.has_step else None, metadata, tuple(grid.points), tuple(grid.origin), tuple(grid.spacing),
                 tuple(bool(flag) for flag in grid.cyclic), grid.components, DTYPES[grid.type], about.edge, about.max_speed,
                 *(tuple(ends[:grid.components]) for ends in (about.minimum, about.maximum)), about.bricks, about.blank_bricks,
                 about.resting_bricks, about.brick_bytes, about.file_bytes, about.value_bytes)


def validate(path: str | os.PathLike) -> None:
    """Reads every byte of a .bricks file, or of all files of a series, and checks every rule.
    Raises a BatError that describes the problem."""
    check(flow_library().bat_bricks_validate(as_path(path)))
