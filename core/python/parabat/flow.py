# SPDX-License-Identifier: BSD-3-Clause
"""Computes path lines, streak surfaces and Lyapunov exponents in unsteady flow, reading only the data that
particles visit.

    import parabat.flow

    parabat.flow.write_series("wind.bricks.series", [(0.0, v0), (0.5, v1), (1.0, v2)],
                              origin=(0, 0, 0), spacing=(0.1, 0.1, 0.1))
    with parabat.flow.open("wind.bricks.series") as wind:
        lines = wind.path_lines(seeds)          # seeds: (n, 3), released at the first time; see release_times
        lines.ends, lines.reasons               # (n, 3), (n,)
        lines.line(0)                           # (points, 3)
        lines.statistics["touched"], lines.statistics["bricks"]
        wind.streak_surface([(0, 0, 1), (0, 5, 1)], max_edge=0.1).triangles   # (m, 3)
        wind.ftle((0, 0, 1, 9, 9, 1), (91, 91, 1), length=0.5).exponents   # (1, 91, 91)
    parabat.flow.path_lines("wind.idx", seeds, fields=["u", "v", "w"])     # as stored on disk
    parabat.flow.path_lines([(0.0, v0), (0.5, v1)], seeds, spacing=(0.1, 0.1, 0.1))   # in memory
    with parabat.flow.from_function(lambda level, box: zarr_array[level][box], times, (512, 512, 256)) as wind:
        wind.path_lines(seeds)                  # from any source of boxes

Velocities are arrays of shape (nz, ny, nx, components), float32 or float64, with 2 or 3 components;
NaN means no flow. File format: core/bricks/BRICKS.md. Integration: core/flow/README.md.
"""

from __future__ import annotations

import ctypes
import dataclasses
import math
import os
import pathlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ._arguments import as_box, as_integer, as_list, as_path, as_real, as_text, new_array
from ._files import display_name, file_name
from ._library import DTYPES, Owned, check, describe_error
from ._progress import Progress
from .bricks import Grid, Level, Piece, as_flags, as_triple, as_velocity, describe, flow_library, make_grid
from .bricks import next_time, validate, write_level, write_series
from .errors import INVALID_ARGUMENT, BatTypeError, available, refuse, refuse_type, shown

__all__ = ["Flow", "Ftle", "Level", "PathLines", "Piece", "REASONS", "StreakSurface", "convert", "describe", "from_arrays", "from_function",
           "open", "path_lines", "validate", "write_level", "write_series"]

#: The reasons why lines end, by the numbers in PathLines.reasons.
REASONS = {1: "left the domain", 5: "too many cells or steps in one interval", 6: "stagnation",
           8: "end time", 9: "arrived", 10: "reached cells without flow",
           11: "seed outside the domain or times, or in cells without flow", 12: "max_age"}

_INTEGRATORS = ("cell-by-cell", "rk4")
_PREFETCH = ("none", "velocity")
_HINTS = ("off", "read", "learn")
_MAX_NODES = 0xFFFFFFFE


class _Options(ctypes.Structure):
    _fields_ = [("backward", ctypes.c_int64), ("end_time", ctypes.c_double), ("max_age", ctypes.c_double),
                ("runge_kutta_4", ctypes.c_int64), ("max_error", ctypes.c_double),
                ("step_share", ctypes.c_double), ("terminal_speed", ctypes.c_double),
                ("no_slip", ctypes.c_int64), ("destination_count", ctypes.c_uint64),
                ("destinations", ctypes.POINTER(ctypes.c_double)), ("stop_on_arrival", ctypes.c_int64),
                ("keep_points", ctypes.c_int64), ("keep_faces", ctypes.c_int64),
                ("threads", ctypes.c_int64), ("prefetch", ctypes.c_int64), ("hints", ctypes.c_int64),
                ("keep_resting", ctypes.c_int64)]


class _Statistics(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in (
        "bricks", "touched", "hits", "read", "prefetched", "prefetches_used", "prefetches_wasted",
        "bytes_read", "value_bytes", "waits", "cells", "steps", "cache_bytes",
        "max_cache_bytes", "hinted", "hints_used")] + [("wait_seconds", ctypes.c_double)]

    def as_dict(self):
        return {name: getattr(self, name) for name, _ in self._fields_}


def _positions(values, what):
    """Returns positions as (n, 3), from several, a single one (x, y, z), or an empty list."""
    try:
        array = np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        refuse_type(what, values, "arrays of shape (n, 3)")
    if array.shape in ((0,), (3,)):
        array = array.reshape(-1, 3)
    if array.ndim != 2 or array.shape[1] != 3:
        refuse(f"{what}: shape {array.shape}; allowed: (n, 3), or (3,) for a single one")
    return array


def _choice(value, what, allowed):
    if value not in allowed:
        refuse(f"{what}: {shown(value)}; allowed: {', '.join(allowed)}")
    return allowed.index(value)


def _new_array(shape, dtype=np.float64):
    return new_array((shape,) if isinstance(shape, int) else tuple(shape), dtype, "flow")


def _address(array, kind=ctypes.c_double):
    return array.ctypes.data_as(ctypes.POINTER(kind))


def convert(inputs: str | os.PathLike | Iterable[str | os.PathLike], path: str | os.PathLike, *,
            times: Sequence[float] | None = None, arrays: Sequence[str] | None = None,
            origin: Sequence[float] | None = None, spacing: Sequence[float] | None = None,
            progress: Callable[[float], Any] | None = None, **options: Any) -> list[pathlib.Path]:
    """Converts grid files to a series: .npy of shape (nz, ny, nx, components), .npz, .idx, netCDF, HDF5, or raw
    numbers. Files are given by name or as a pattern, ordered by the numbers in their names.

    times: times of the levels; default: those in the files, else 0, 1, 2, ...
    arrays: names of the velocity: one with 2 or 3 components, or two or three with one.
    origin, spacing: replace those in the files.
    options: those of write_series() except comm, and steps and format of parabat.convert.convert(). Units of netCDF
        files are converted consistently or rejected (`parabat convert --help`: time_unit, velocity_unit,
        coordinate_unit, vertical, ignore_units, fill, group).

    Files are mapped where possible, else read one level at a time. Returns the files of the levels. Collective if
    started on several ranks (mpirun), which read slabs of each level.
    """
    from .convert import ConvertError  # pylint: disable=import-outside-toplevel
    from .convert import convert as convert_files  # pylint: disable=import-outside-toplevel
    of_files = {name: options.pop(name) for name in (
        "format", "steps", "mapping", "dimensions", "type", "byte_order", "skip", "fill", "group", "time_unit", "velocity_unit",
        "coordinate_unit", "vertical", "ignore_units", "stored", "follow_links") if name in options}
    allowed = ("cyclic", "field", "metadata", "compress", "flush", "replace")
    for name in options:
        if name not in allowed:
            raise BatTypeError(INVALID_ARGUMENT, f"unknown option '{name}'{available(name, allowed)}")
    if times is not None:
        times = [as_real(time, "times").value for time in times]

    def show(news):
        if "share" in news and progress is not None and progress(news["share"]) is False:
            raise ConvertError(f"{os.fspath(path)}: cancelled")
    try:
        done = convert_files(inputs if isinstance(inputs, (str, os.PathLike)) else list(inputs), os.fspath(path), show=show,
                             arrays=arrays, origin=None if origin is None else as_triple(origin, "origin").tolist(),
                             spacing=None if spacing is None else as_triple(spacing, "spacing").tolist(),
                             settings={"times": times, **options}, **of_files)
    except ConvertError as error:
        refuse(str(error))
    return [pathlib.Path(news["level"] if "level" in news else news["done"]) for news in done]


@dataclasses.dataclass(frozen=True)
class PathLines:
    """Path lines for n seeds. Owns its arrays. Positions are not wrapped along cyclic axes."""

    reasons: np.ndarray     #: (n,) int64, why each line ends: a key of REASONS
    ends: np.ndarray        #: (n, 3), where it ends; for lines without points, the seed
    end_times: np.ndarray   #: (n,)
    arrivals: np.ndarray    #: (n,), when it first reached a destination; NaN: never
    destinations: np.ndarray  #: (n,) int64, index of that destination; -1: none
    offsets: np.ndarray     #: (n + 1,) int64: line i has points offsets[i] to offsets[i + 1] - 1
    positions: np.ndarray   #: (points, 3)
    times: np.ndarray       #: (points,)
    velocities: np.ndarray  #: (points, 3)
    resting: np.ndarray     #: (bytes,) uint8, state to resume lines as if in one run
    statistics: dict        #: bricks touched, bytes read, ...: bat::flow::Statistics
    checksum: int           #: equal for bitwise identical results

    def __len__(self) -> int:
        return len(self.reasons)

    def line(self, number: int) -> np.ndarray:
        """Returns the positions (points, 3) of one line, as a view."""
        number = range(len(self))[number]
        return self.positions[self.offsets[number]:self.offsets[number + 1]]

    def __repr__(self):
        return (f"PathLines({len(self)} lines of {len(self.times)} points; "
                f"{self.statistics['touched']} of {self.statistics['bricks']} bricks touched)")


@dataclasses.dataclass(frozen=True)
class Ftle:
    """Exponents at nodes, in the order (z, y, x). Owns its arrays."""

    #: (nz, ny, nx), ln sqrt(largest eigenvalue of F^T F) / length, per unit of time; F is the gradient
    #: of the flow map. NaN if a particle needed for F ends early or has no line.
    exponents: np.ndarray
    flow_map: np.ndarray    #: (nz, ny, nx, 3), end of each node's particle; not wrapped
    end_times: np.ndarray   #: (nz, ny, nx), when it ends
    statistics: dict        #: see PathLines.statistics

    def __repr__(self):
        return (f"Ftle({' x '.join(map(str, self.exponents.shape[::-1]))} nodes; "
                f"{self.statistics['touched']} of {self.statistics['bricks']} bricks touched)")


@dataclasses.dataclass(frozen=True)
class StreakSurface:
    """Triangles between particles at one time, all released from a line. Owns its arrays. Positions
    are not wrapped along cyclic axes."""

    positions: np.ndarray       #: (n, 3)
    normals: np.ndarray         #: (n, 3), of length 1
    line_places: np.ndarray     #: (n,), release place: 2.5 is between points 2 and 3
    release_times: np.ndarray   #: (n,)
    triangles: np.ndarray       #: (m, 3) int64, consistently oriented
    followed: int               #: particles, including those that are not vertices
    statistics: dict            #: see PathLines.statistics

    def __repr__(self):
        return (f"StreakSurface({len(self.triangles)} triangles of {len(self.positions)} particles; "
                f"{self.statistics['touched']} of {self.statistics['bricks']} bricks touched)")


# Addresses are integers here: creating a pointer could run Python's garbage collector before fill() holds what it
# needs, and a thread cannot free the flow for which it reads.
_READ = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_void_p,
                         ctypes.c_void_p)


def _reader(lib, read, shape, dtype):
    """Returns the function that the library calls for a brick's velocities."""
    def fill(_data, level, first, count, values):
        try:
            starts, lengths = ((ctypes.c_int64 * 3).from_address(numbers) for numbers in (first, count))
            box = tuple(slice(starts[axis], starts[axis] + lengths[axis]) for axis in (2, 1, 0))
            requested = (*(one.stop - one.start for one in box), shape[3])
            found = as_velocity(read(level, box))
            if found.shape != requested or found.dtype != dtype:
                refuse(f"read(): shape {found.shape} of type {found.dtype}; expected {requested} of {dtype}")
            ctypes.memmove(values, found.ctypes.data, found.nbytes)
            return 0
        except BaseException as failure:  # pylint: disable=broad-except
            return lib.bat_fail(*describe_error(failure))
    return _READ(fill)


class Flow:
    """An open flow that caches bricks in memory: bricks read by one call need not be read again by
    the next. Several threads may use it concurrently. Use it in a `with`, or call close(). Created
    by open(), from_arrays() and from_function()."""

    def __init__(self, owned: Owned, name: str, kept: Any = None):
        lib = flow_library()
        self._owned = owned
        self._kept = kept  # arrays and functions in use by the library
        grid, count = Grid(), ctypes.c_uint64()
        times = ctypes.POINTER(ctypes.c_double)()
        check(lib.bat_flow_describe(self._owned, ctypes.byref(grid), ctypes.byref(count),
                                    ctypes.byref(times)))
        self.path = name  #: path of the files, or the flow's source
        self.times = np.ctypeslib.as_array(times, (count.value,)).copy()  #: times of the levels
        self.points = tuple(grid.points)                 #: grid points along x, y, z
        self.origin = tuple(grid.origin)
        self.spacing = tuple(grid.spacing)
        self.cyclic = tuple(bool(flag) for flag in grid.cyclic)
        self.components = grid.components
        self.dtype = DTYPES[grid.type]

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def close(self) -> None:
        """Frees the memory once the calls of other threads have finished. Lines remain valid."""
        self._owned = self._owned.closed()

    def _library(self):
        if self._owned.pointer.value is None:
            refuse(f"{self.path}: is closed")
        return flow_library()

    def __repr__(self):
        return (f"Flow({self.path!r}: {' x '.join(map(str, self.points))} points, {len(self.times)} times "
                f"from {self.times[0]:g} to {self.times[-1]:g})")

    def path_lines(self, seeds: Any, release_times: Any = None, *, backward: bool = False,
                   end_time: float | None = None, max_age: float | None = None,
                   integrator: str = "cell-by-cell",
                   max_error: float = 1e-6, step_share: float = 0.5, terminal_speed: float = 0,
                   no_slip: bool = False, destination: Sequence[float] | np.ndarray | None = None,
                   stop_on_arrival: bool = False, keep_points: bool = True, keep_faces: bool | None = None,
                   threads: int = 0, prefetch: str = "velocity", hints: str = "read",
                   resume: PathLines | None = None,
                   progress: Callable[[float], Any] | None = None) -> PathLines:
        """Traces particles from seeds, shape (n, 3), or (3,) for one.

        release_times: times at which the seeds are released, one number for all or shape (n,), one for each seed;
        default: the first time of the series, or backwards the last.

        Lines end at end_time (default: the last time, or backwards the first), at max_age after their release, where
        they leave the domain or meet NaN, or, with stop_on_arrival, in a destination.

        destination: lower x, y, z, upper x, y, z, or an array of shape (m, 6) for several boxes; the first that
            contains a particle counts.
        integrator: "cell-by-cell" follows the interpolated field within max_error cells per step; "rk4" takes steps of
            step_share of an interval, like ParaView's tracers.
        terminal_speed: lines end where the speed does not exceed it; with 0, particles rest until the flow moves again.
        no_slip: treats NaN as velocity 0.
        keep_points: keeps the points of lines at their release, at each time level and at their end. False keeps only
            how lines end (ends, end_times, reasons, arrivals, destinations); positions, times and velocities are empty.
        keep_faces: adds points where lines cross cell faces (None: in steady flow only). Requires keep_points.
        threads: maximum number of computing threads; 0 for all available.
        prefetch: "velocity" or "none".
        progress: called with the completed share, from 0 to 1; returning False cancels.

        Results are bitwise identical for any cache, threads, prefetch and hints.

        A flow with one time level is steady: lines are stream lines from its time to end_time,
        which is then required and lies after it or, backwards, before it. The steps of "rk4" are
        shares of that whole interval.

        hints: earlier runs may have left NAME.bricks.hints next to the series, which records where
        particles went from each brick. "read" uses it to prefetch and writes nothing; "learn" also
        adds what this run observes, or writes to a file in the user's cache folder,
        ~/.cache/parabat, if the hints file is not writable; "off" does neither.
        statistics["hinted"] is the number of bricks prefetched this way, statistics["hints_used"]
        the number of those that were needed.

        resume: the whole PathLines of an earlier call with the same seeds, release times and options, made when
        the series had fewer times, e.g. while a simulation runs; returns whole lines. Lines that had ended
        with the times continue, and seeds whose release was too late begin, so only the new times are read.
        The result is bitwise identical to one run if points are kept and the earlier end_time was not
        between two levels.
        A series that has grown must be opened again. PathLines may be built from saved arrays.
        """
        lib = self._library()
        if seeds is None:
            refuse_type("seeds", seeds, "arrays of shape (n, 3), or (3,) for a single one; with resume, the seeds of the earlier call")
        seeds = _positions(seeds, "seeds")
        if release_times is None:
            release_times = self.times[-1 if backward else 0]
        try:
            releases = np.ascontiguousarray(np.broadcast_to(np.asarray(release_times, np.float64), len(seeds)))
        except (TypeError, ValueError):
            refuse(f"release_times: {shown(release_times)}; allowed: one number, or one for each of {len(seeds)} seeds")
        options = _options(lib, backward, integrator, max_error, step_share, terminal_speed, no_slip,
                           threads, prefetch, hints)
        if end_time is not None:
            options.end_time = as_real(end_time, "end_time").value
            if math.isnan(options.end_time):
                refuse("end_time: is NaN")
        if destination is not None:
            boxes = _boxes(destination)
            options.destination_count = len(boxes)
            options.destinations = _address(boxes)
            options.stop_on_arrival = bool(stop_on_arrival)
        elif stop_on_arrival:
            refuse("stop_on_arrival: no destination is set")
        if max_age is not None:
            options.max_age = as_real(max_age, "max_age").value
        options.keep_points = options.keep_resting = bool(keep_points)
        options.keep_faces = len(self.times) == 1 if keep_faces is None else bool(keep_faces)
        if not isinstance(resume, (PathLines, type(None))):
            refuse_type("resume", resume, "PathLines, and None")
        on_progress = Progress(progress)
        given = (ctypes.c_uint64(len(seeds)), _address(seeds), _address(releases), ctypes.byref(options),
                 on_progress.callback, None)
        owned = Owned(lib.bat_flow_lines_free)
        with on_progress.watched():
            if resume is None:
                check(lib.bat_flow_trace(self._owned, *given, ctypes.byref(owned.pointer)))
            else:
                with _lines_from(lib, resume) as old:
                    check(lib.bat_flow_resume(self._owned, old, *given, ctypes.byref(owned.pointer)))
            return _make_lines(lib, owned)

    def streak_surface(self, line: Any, time: float | None = None, *, max_edge: float,
                       start: float | None = None, tear: float = 4, backward: bool = False,
                       integrator: str = "cell-by-cell", max_error: float = 1e-6, step_share: float = 0.5,
                       terminal_speed: float = 0, no_slip: bool = False, threads: int = 0,
                       prefetch: str = "velocity", hints: str = "read",
                       progress: Callable[[float], Any] | None = None) -> StreakSurface:
        """Returns the surface at `time` (default: the last, or backwards the first) formed by
        particles that a line, points of shape (n, 3), has released continuously since `start`
        (default: the first time, or backwards the last).

        Edges longer than max_edge are halved; the new particles are released in between and
        followed from there. The surface is torn where edges stay longer than tear times max_edge
        (values below 2 count as 2, since diagonals may be that long), and has holes where particles
        have ended. Other arguments and results are as for path_lines(); the shares passed to
        progress are estimates.
        """
        lib = self._library()
        line = _positions(line, "line")
        when = as_real(self.times[0 if backward else -1] if time is None else time, "time")
        options = _options(lib, backward, integrator, max_error, step_share, terminal_speed, no_slip,
                           threads, prefetch, hints)
        on_progress = Progress(progress)
        owned = Owned(lib.bat_flow_surface_free)
        with owned, on_progress.watched():
            check(lib.bat_flow_streak_surface(
                self._owned, ctypes.c_uint64(len(line)), _address(line), when,
                None if start is None else ctypes.byref(as_real(start, "start")),
                as_real(max_edge, "max_edge"), as_real(tear, "tear"), ctypes.byref(options),
                on_progress.callback, None, ctypes.byref(owned.pointer)))
            return _make_surface(lib, owned)

    def ftle(self, box: Sequence[float], points: Sequence[int] = (64, 64, 64), *, time: float | None = None,
             length: float | None = None, backward: bool = False, integrator: str = "cell-by-cell",
             max_error: float = 1e-6, step_share: float = 0.5, terminal_speed: float = 0,
             no_slip: bool = False, threads: int = 0, prefetch: str = "velocity", hints: str = "read",
             progress: Callable[[float], Any] | None = None) -> Ftle:
        """Computes finite-time Lyapunov exponents, the rate at which neighbouring particles separate, at
        nodes that fill box (lower x, y, z, upper x, y, z) from face to face.

        points: numbers of nodes along x, y, z. An axis with one node, or without extent, has its node
        in the middle: a slice, with separation measured in its plane. Particles start at `time`
        (default: the first, or backwards the last) and are followed for the duration `length`, above 0
        and in the unit of the times (default: as long as the times last). Other arguments and results are as for path_lines(), including integrators,
        errors, and bitwise identical results for any threads.
        """
        lib = self._library()
        box = as_box(box, "box")
        counts = [as_integer(n, "points").value for n in as_list(points, "points", "three whole numbers")]
        if len(counts) != 3:
            refuse(f"points: {shown(points)}; three whole numbers are required, along x, y, z")
        first, last = (self.times[-1], self.times[0]) if backward else (self.times[0], self.times[-1])
        start = as_real(first if time is None else time, "time").value
        duration = as_real(abs(last - start) if length is None else length, "length").value
        options = _options(lib, backward, integrator, max_error, step_share, terminal_speed, no_slip,
                           threads, prefetch, hints)
        shape = [max(n, 1) if upper > lower else 1
                 for n, lower, upper in zip(counts, box[:3], box[3:])]
        if math.prod(shape) > _MAX_NODES:
            refuse(f"points: {shown(points)}; at most {_MAX_NODES} nodes are allowed at a time")
        exponents, end_times = _new_array(shape[::-1]), _new_array(shape[::-1])
        flow_map = _new_array((*shape[::-1], 3))
        statistics = _Statistics()
        on_progress = Progress(progress)
        with on_progress.watched():
            check(lib.bat_flow_ftle(
                self._owned, _address(box), (ctypes.c_int64 * 3)(*counts), ctypes.c_double(start),
                ctypes.c_double(duration), ctypes.byref(options), on_progress.callback, None,
                _address(exponents), _address(flow_map), _address(end_times), ctypes.byref(statistics)))
        return Ftle(exponents, flow_map, end_times, statistics.as_dict())


def _boxes(destination):
    """Returns an array of shape (m, 6) from one box or several."""
    try:
        boxes = np.ascontiguousarray(destination, dtype=np.float64)
    except (TypeError, ValueError):
        boxes = np.empty(0)
    if boxes.ndim == 2 and boxes.shape[1] == 6:
        return boxes
    return as_box(destination, "destination").reshape(1, 6)


def _options(lib, backward, integrator, max_error, step_share, terminal_speed, no_slip, threads, prefetch, hints):
    options = _Options()
    lib.bat_flow_options_init(ctypes.byref(options))
    options.backward = bool(backward)
    options.runge_kutta_4 = _choice(integrator, "integrator", _INTEGRATORS)
    options.max_error = as_real(max_error, "max_error").value
    options.step_share = as_real(step_share, "step_share").value
    options.terminal_speed = as_real(terminal_speed, "terminal_speed").value
    options.no_slip = bool(no_slip)
    options.threads = as_integer(threads, "threads").value
    options.prefetch = _choice(prefetch, "prefetch", _PREFETCH)
    options.hints = _choice(hints, "hints", _HINTS)
    return options


def _make_surface(lib, pointer):
    vertices, triangles, followed = ctypes.c_uint64(), ctypes.c_uint64(), ctypes.c_uint64()
    statistics = _Statistics()
    check(lib.bat_flow_surface_describe(pointer, ctypes.byref(vertices), ctypes.byref(triangles),
                                        ctypes.byref(followed), ctypes.byref(statistics)))
    n, m = vertices.value, triangles.value
    arrays = [_new_array((n, 3)), _new_array((n, 3)), _new_array(n), _new_array(n), _new_array((m, 3), np.int64)]
    check(lib.bat_flow_surface_mesh(pointer, *map(_address, arrays[:4]), _address(arrays[4], ctypes.c_int64)))
    return StreakSurface(*arrays, followed.value, statistics.as_dict())


def _view(address, shape, owned):
    """Returns a view of values that belong to an owner, which it keeps alive."""
    count = int(np.prod(shape))
    if count == 0:
        return np.empty(shape)
    memory = (ctypes.c_double * count).from_address(address.value)
    memory.owned = owned
    return np.frombuffer(memory).reshape(shape)


def _make_lines(lib, owned):
    pointer = owned.pointer
    count, points, checksum = ctypes.c_uint64(), ctypes.c_uint64(), ctypes.c_uint64()
    statistics = _Statistics()
    check(lib.bat_flow_lines_describe(pointer, ctypes.byref(count), ctypes.byref(points),
                                      ctypes.byref(checksum), ctypes.byref(statistics)))
    n, m = count.value, points.value
    reasons, offsets = _new_array(n, np.int64), _new_array(n + 1, np.int64)
    ends, end_times, arrivals, destinations = _new_array((n, 3)), _new_array(n), _new_array(n), _new_array(n, np.int64)
    check(lib.bat_flow_lines_ends(
        pointer, _address(reasons, ctypes.c_int64), _address(ends), _address(end_times),
        _address(arrivals), _address(destinations, ctypes.c_int64), _address(offsets, ctypes.c_uint64)))
    # Points exist once in memory: the arrays are views of the library's lines.
    places = [ctypes.c_void_p() for _ in range(3)]
    check(lib.bat_flow_lines_view(pointer, *map(ctypes.byref, places)))
    positions, times, velocities = (
        _view(place, shape, owned) for place, shape in zip(places, ((m, 3), (m,), (m, 3))))
    check(lib.bat_flow_lines_resting(pointer, ctypes.byref(count), None))
    resting = _new_array(count.value, np.uint8)
    check(lib.bat_flow_lines_resting(pointer, None, resting.ctypes.data_as(ctypes.c_void_p)))
    return PathLines(reasons, ends, end_times, arrivals, destinations, offsets, positions, times, velocities, resting,
                     statistics.as_dict(), checksum.value)


def _lines_from(lib, lines):
    """Creates library lines from arrays, which may come from a file, after checking their types and
    shapes."""
    def array(name, shape, dtype=np.float64):
        values = np.ascontiguousarray(getattr(lines, name), dtype=dtype)
        if values.shape != shape:
            refuse(f"{name} of the lines to extend: shape {values.shape}; allowed: {shape}")
        return values
    n = len(lines.reasons)
    offsets = array("offsets", (n + 1,), np.int64)
    m = int(offsets[-1])
    reasons = array("reasons", (n,), np.int64)
    ends = [array("ends", (n, 3)), array("end_times", (n,)), array("arrivals", (n,))]
    destinations = array("destinations", (n,), np.int64)
    points = [array("positions", (m, 3)), array("times", (m,)), array("velocities", (m, 3))]
    resting = array("resting", (len(lines.resting),), np.uint8)
    owned = Owned(lib.bat_flow_lines_free)
    check(lib.bat_flow_lines_from(
        ctypes.c_uint64(n), _address(reasons, ctypes.c_int64), *map(_address, ends),
        _address(destinations, ctypes.c_int64), _address(offsets, ctypes.c_uint64), *map(_address, points),
        resting.ctypes.data_as(ctypes.c_void_p), ctypes.c_uint64(resting.nbytes), ctypes.byref(owned.pointer)))
    return owned


def _opened(name, call, arguments, cache_bytes, io_threads, kept=None):
    """Returns a Flow that a function of the library opens."""
    lib = flow_library()
    owned = Owned(lib.bat_flow_free, at_exit=kept is not None)
    check(getattr(lib, call)(*arguments, ctypes.c_uint64(as_integer(cache_bytes, "cache_bytes").value),
                             as_integer(io_threads, "io_threads"), ctypes.byref(owned.pointer)))
    return Flow(owned, name, kept)


def open(path: str | os.PathLike, *, fields: str | Sequence[str] | None = None,  # pylint: disable=redefined-builtin
         cyclic: bool | Sequence[bool] | None = None, cache_bytes: int = 1 << 29, io_threads: int = 32,
         storage_options: dict | None = None) -> Flow:
    """Opens a .bricks.series, or the time steps of an .idx dataset, reading only a header. Uses at
    most cache_bytes of memory for the data read, and io_threads concurrent reads. A .bricks file, or
    a list of one, is a steady flow (see path_lines()).

    cache_bytes: 0 for 512 MiB. Less than 32 bricks need (289,024 bytes for float32) is an error; if many threads
    need more, 16 bricks each, it is raised, and statistics["max_cache_bytes"] reports it.

    fields, for an .idx: the name of the velocity, with 2 or 3 components, or two or three names, for x,
    y, z; None for the only candidate. cyclic, for an .idx: for x, y, z, whether a last cell connects
    the last sample to the first. Absent blocks have no flow. Compared with .idx, bricks are smaller,
    checksummed, and read in one piece; convert() creates them.

    storage_options: as of parabat.open().
    """
    name = os.fspath(path)
    if fields is None and cyclic is None:
        return _opened(name, "bat_flow_open", [as_path(path, storage_options)], cache_bytes, io_threads)
    if not file_name(os.fsdecode(name)).endswith(".idx"):
        refuse(f"{display_name(os.fsdecode(name))}: fields and cyclic apply to .idx; a .bricks.series has its own")
    names = [fields] if isinstance(fields, str) else as_list([] if fields is None else fields, "fields", "names")
    texts = (ctypes.c_char_p * max(1, len(names)))(*[as_text(one, "fields") for one in names])
    flags = (ctypes.c_int64 * 3)(*as_flags(False if cyclic is None else cyclic, "cyclic"))
    return _opened(name, "bat_flow_open_idx", [as_path(path, storage_options), ctypes.c_uint64(len(names)), texts, flags],
                   cache_bytes, io_threads)


def from_arrays(levels: Iterable[tuple[float, Any]], *, origin: Sequence[float] = (0, 0, 0),
                spacing: Sequence[float] = (1, 1, 1), cyclic: bool | Sequence[bool] = False,
                cache_bytes: int = 1 << 26, io_threads: int = 2) -> Flow:
    """Creates a flow in memory from pairs of time and velocity as for write_series(). Packed arrays,
    including mapped ones, are used in place and must not change while the flow is open.

    cache_bytes: the memory limit for bricks, which are copied from the arrays. io_threads: the number of threads that
    copy. Neither affects results.
    """
    times, arrays = [], []
    for number, (time, velocity) in enumerate(levels):
        times.append(next_time(number, time, times[-1] if times else None))
        arrays.append(as_velocity(velocity))
        if (arrays[-1].shape, arrays[-1].dtype) != (arrays[0].shape, arrays[0].dtype):
            refuse(f"velocity: shape {arrays[-1].shape} and type {arrays[-1].dtype} of step {number}; step 0 has {arrays[0].shape} and "
                   f"{arrays[0].dtype}, and a flow has one grid")
    if not arrays:
        refuse("levels: none were given; at least one is required, for a steady flow")
    grid = make_grid(arrays[0].shape, arrays[0].dtype, origin, spacing, cyclic)
    addresses = (ctypes.c_void_p * len(arrays))(*[array.ctypes.data for array in arrays])
    return _opened(f"{len(arrays)} arrays", "bat_flow_open_arrays", [
        ctypes.byref(grid), ctypes.c_uint64(len(arrays)), (ctypes.c_double * len(arrays))(*times), addresses],
                   cache_bytes, io_threads, arrays)


def from_function(read: Callable[[int, tuple[slice, slice, slice]], Any], times: Sequence[float],
                  points: Sequence[int], *, components: int = 3, dtype: Any = np.float32,
                  origin: Sequence[float] = (0, 0, 0), spacing: Sequence[float] = (1, 1, 1),
                  cyclic: bool | Sequence[bool] = False, brick_points: int = 8, cache_bytes: int = 1 << 29,
                  io_threads: int = 8) -> Flow:
    """Creates a flow whose data a function reads box by box, e.g. from Zarr, netCDF, HDF5, or a
    formula.

    read(level, box) returns the velocities of a level as an array (nz, ny, nx, components) of dtype; box:
    slices along z, y, x, as in `lambda level, box: data[level][box]`. It is called by io_threads threads
    for bricks of brick_points (4 to 32) points along each axis, also to prefetch. At most cache_bytes of
    what it returned stay in memory. An exception in read becomes a BatError in the call that needs the
    brick. points: numbers of points along x, y, z. components: 3, or 2 for x and y.
    """
    lib = flow_library()
    if not callable(read):
        refuse_type("read", read, "functions of a time step and a box")
    whole = [as_integer(count, "points").value for count in as_list(points, "points", "three whole numbers")]
    if len(whole) != 3:
        refuse(f"points: {shown(points)}; three whole numbers are required, along x, y, z")
    when = [as_real(time, "times").value for time in as_list(times, "times", "numbers")]
    kind = np.dtype(dtype).newbyteorder("=")
    if kind not in (np.float32, np.float64):
        refuse(f"dtype: {kind}; allowed: float32, float64")
    shape = (*whole[::-1], as_integer(components, "components").value)
    grid = make_grid(shape, kind, origin, spacing, cyclic)
    function = _reader(lib, read, shape, kind)
    return _opened("a function", "bat_flow_open_function", [
        ctypes.byref(grid), ctypes.c_uint64(len(when)), (ctypes.c_double * max(1, len(when)))(*when),
        as_integer(brick_points, "brick_points"), function, None], cache_bytes, io_threads, function)


_OF_OPEN = ("fields", "cyclic", "cache_bytes", "io_threads")
_OF_ARRAYS = ("origin", "spacing", "cyclic", "cache_bytes", "io_threads")


def path_lines(series: str | os.PathLike | Flow | Iterable[tuple[float, Any]], seeds: Any,
               release_times: Any = None, **options: Any) -> PathLines:
    """Calls Flow.path_lines() on an open flow, a path, or pairs of time and velocity. For the latter two,
    options may also be those of open() or from_arrays(). release_times: one number for all seeds, or one
    for each; default: the first time, or backwards the last."""
    if isinstance(series, Flow):
        return series.path_lines(seeds, release_times, **options)
    is_path = isinstance(series, (str, bytes, os.PathLike))
    own = {name: options.pop(name) for name in (_OF_OPEN if is_path else _OF_ARRAYS) if name in options}
    with (open if is_path else from_arrays)(series, **own) as flow:
        return flow.path_lines(seeds, release_times, **options)
