# SPDX-License-Identifier: BSD-3-Clause
"""Follows chosen particles through the steps of a series."""

from __future__ import annotations

import collections
import ctypes
import os
from typing import TYPE_CHECKING, Any, Callable, Iterable, Sequence

import numpy as np

from . import export
from ._arguments import as_box, as_integer, as_list, as_names, as_numbers, as_path, as_real, as_text
from ._library import DTYPES, TYPES, Owned, check, library, make
from ._progress import Progress
from ._text import printable
from .errors import from_status, refuse, refuse_type
from .series import Step
from .tracks import Tracks, is_tracks

if TYPE_CHECKING:
    import pandas
    import pyvista

_POSITIONS = -1

Problem = collections.namedtuple("Problem", "step error")
Problem.__doc__ = """A file of a step that was left out: the step's number, and the BatError."""


class Trails(dict):
    """Particles through time: attributes by name, each a masked array of shape (steps, ids), or (steps,
    ids, components), masked where a particle is absent or its step lacks the attribute. `positions`,
    (steps, ids, 3), is masked likewise. The values under the masks are NaN, or 0 for integers.

    ids: an (ids,) array, or a pair of such arrays if ids are pairs.
    times: (steps,) float64, NaN if a dataset has none.
    steps: (steps,) masked int64, the step numbers in the datasets.
    paths: paths of the datasets.
    counts: (steps, ids) uint32, the number of particles with the id; 0 if it is absent. If several have
        it, all values are those of the first in the dataset's order.
    present: counts > 0.
    problems: what skip_damaged left out.
    advice: text on what would make the call faster, or "".

    The arrays are read-only; copies of them are writable.
    """

    positions: np.ma.MaskedArray = None

    def __init__(self, owned, ids):
        super().__init__()
        self._owned = owned
        self.ids = ids
        sizes = [ctypes.c_uint64() for _ in range(4)]
        check(library().bat_trails_size(owned, *map(ctypes.byref, sizes)))
        steps, count, attributes, problems = (size.value for size in sizes)
        self._shape = (steps, count)
        self.paths, times, numbers = [], np.full(steps, np.nan), np.ma.masked_all(steps, np.int64)
        for i in range(steps):
            path, has_time, time = ctypes.c_char_p(), ctypes.c_int(), ctypes.c_double()
            has_number, number = ctypes.c_int(), ctypes.c_int64()
            check(library().bat_trails_step(
                owned, ctypes.c_uint64(i), *map(ctypes.byref, (path, has_time, time, has_number, number))))
            self.paths.append(os.fsdecode(path.value))
            if has_time.value:
                times[i] = time.value
            if has_number.value:
                numbers[i] = number.value
        self.times, self.steps = times, numbers
        counts = ctypes.c_void_p()
        check(library().bat_trails_counts(owned, ctypes.byref(counts)))
        self.counts = self._array(counts, np.dtype(np.uint32), self._shape)
        self.present = self.counts > 0
        self.positions = self._column(_POSITIONS)[1]
        self.update(self._column(i) for i in range(attributes))
        self.problems = [self._problem(i) for i in range(problems)]
        advice = ctypes.c_char_p()
        check(library().bat_trails_advice(owned, ctypes.byref(advice)))
        self.advice = advice.value.decode()

    def _array(self, address, dtype, shape):
        size = int(dtype.itemsize * np.prod(shape, dtype=np.int64))
        if size == 0:
            return np.empty(shape, dtype)
        memory = (ctypes.c_char * size).from_address(address.value)
        memory.trails = self._owned
        return np.frombuffer(memoryview(memory).toreadonly(), dtype).reshape(shape)

    def _column(self, index):
        name, type_, components = ctypes.c_char_p(), ctypes.c_int(), ctypes.c_int()
        values, in_step = ctypes.c_void_p(), ctypes.c_void_p()
        check(library().bat_trails_values(
            self._owned, ctypes.c_int64(index), *map(ctypes.byref, (name, type_, components, values, in_step))))
        shape = self._shape + (components.value,) * (components.value > 1)
        known = self._array(in_step, np.dtype(np.uint8), self._shape[:1]) > 0
        there = self.present & known[:, np.newaxis]
        mask = np.broadcast_to(there.reshape(there.shape + (1,) * (len(shape) - 2)), shape)
        return name.value.decode(), np.ma.MaskedArray(
            self._array(values, DTYPES[type_.value], shape), ~mask, shrink=False)

    def _problem(self, index):
        step, status, text = ctypes.c_uint64(), ctypes.c_int(), ctypes.c_char_p()
        check(library().bat_trails_problem(
            self._owned, ctypes.c_uint64(index), *map(ctypes.byref, (step, status, text))))
        return Problem(step.value, from_status(status.value, text.value.decode(errors="replace")))

    def __repr__(self):
        columns = [("positions", self.positions), *self.items()]
        return f"<parabat.Trails: {self._shape[1]:,} ids in {self._shape[0]:,} steps; " + ", ".join(
            f"{printable(name)} {values.dtype}{list(values.shape[2:])}" for name, values in columns) + ">"

    def columns(self) -> dict[str, np.ndarray]:
        """Returns one row for each id and step in which it is present, id by id, in the order of
        the steps: a dict from name to (rows,) array. The columns are "step index", from 0; "time";
        "id", or for pairs "id[0]" and "id[1]"; "x", "y", "z"; and the attributes, vectors as
        "velocity[0]", masked where a step lacks one."""
        ids, steps = np.nonzero(self.present.T)
        rows = {"step index": steps, "time": self.times[steps]}
        pairs = isinstance(self.ids, tuple)
        rows.update((f"id[{i}]" if pairs else "id", part[ids])
                    for i, part in enumerate(self.ids if pairs else (self.ids,)))
        particles = _Rows({name: values[steps, ids] for name, values in self.items()},
                          self.positions.data[steps, ids])
        for name, values in export.columns(particles).items():
            if name in rows:
                refuse(f"two columns would be called '{name}'; exclude that attribute")
            rows[name] = values
        return rows

    def to_pandas(self) -> pandas.DataFrame:
        """Returns a DataFrame of columns(). Raises BatImportError without pandas."""
        pandas = export.needed("pandas", "to_pandas()")

        def column(values):
            if not np.ma.is_masked(values):
                return np.ma.getdata(values)
            if values.dtype.kind == "f":
                return values.filled(np.nan)
            kind = values.dtype.name.replace("int", "Int").replace("u", "U")  # nullable types
            array = pandas.array(values.data, dtype=kind)
            array[np.ma.getmaskarray(values)] = pandas.NA
            return array

        return pandas.DataFrame({name: column(values) for name, values in self.columns().items()})

    def to_pyvista(self) -> pyvista.PolyData:
        """Returns PolyData with a polyline for each run of steps in which an id is present, or a
        vertex for a single step. "step index", "time", the ids and all attributes are point data.
        Raises BatImportError without pyvista."""
        pyvista = export.needed("pyvista", "to_pyvista()")
        ids, steps = np.nonzero(self.present.T)
        ends = np.flatnonzero((np.diff(ids) != 0) | (np.diff(steps) != 1)) + 1
        stretches = np.split(np.arange(len(ids)), ends) if len(ids) else []
        cells = {True: [], False: []}
        for stretch in stretches:
            cells[len(stretch) == 1] += [len(stretch), *stretch]
        mesh = pyvista.PolyData()
        if len(ids):
            mesh = pyvista.PolyData(np.ascontiguousarray(self.positions.data[steps, ids]),
                                    verts=cells[True] or None, lines=cells[False] or None)
        data = {"step index": steps, "time": self.times[steps]}
        pairs = isinstance(self.ids, tuple)
        data.update((f"id[{i}]" if pairs else "id", part[ids])
                    for i, part in enumerate(self.ids if pairs else (self.ids,)))
        data.update((name, values.data[steps, ids]) for name, values in self.items())
        for name, values in data.items() if len(ids) else ():
            mesh.point_data[name] = values
        return mesh


class _Rows(dict):
    """Returns particles in the form that export.columns() takes."""

    def __init__(self, attributes, positions):
        super().__init__(attributes)
        self.positions = positions


_IDS = "lists and arrays of numbers, and of pairs of numbers"


def _parse_ids(given, pairs):
    """Returns one array of ids, or two with the parts of pairs. If `pairs`, the ids must be
    pairs."""
    if isinstance(given, np.ndarray):
        if given.ndim == 2 and given.shape[1] == 2:
            return tuple(as_numbers(given[:, i], "ids") for i in range(2))
        if given.ndim != 1 or pairs:
            refuse(f"ids: shape {given.shape}; allowed: " + ("(n, 2), because id names two attributes" if pairs else "(n,), or (n, 2) for pairs"))
        return (as_numbers(given, "ids"),)
    listed = as_list(given, "ids", _IDS)
    if not listed or not all(isinstance(one, (tuple, list, np.ndarray)) and len(one) == 2 for one in listed):
        if not pairs:
            return (as_numbers(listed, "ids"),)
        refuse_type("ids", given, "pairs of numbers, because id names two attributes")
    return tuple(as_numbers([one[i] for one in listed], "ids") for i in range(2))


def _add_steps(follow, series):
    lib = library()
    if isinstance(series, (str, bytes, os.PathLike)):
        check(lib.bat_follow_add_steps(follow, as_path(series)))
        return
    for step in as_list(series, "series", "paths, and lists of paths and of Step"):
        if isinstance(step, Step):
            check(lib.bat_follow_add_step(follow, as_path(step.path), as_real(step.time, "time")))
        else:
            check(lib.bat_follow_add_steps(follow, as_path(step)))


def _ids_of_tracks(series, id):  # pylint: disable=redefined-builtin
    """Returns the ids of a tracks file and their names."""
    if isinstance(series, (list, tuple)) and len(series) == 1:
        series, = series
    if not isinstance(series, (str, bytes, os.PathLike)) or not is_tracks(os.fsdecode(series)):
        refuse("ids: None; allowed only with the path of a tracks file, NAME.tracks.bat, where it means all ids")
    tracks = Tracks(series)
    if id is None and isinstance(tracks.ids, tuple):
        return np.stack(tracks.ids, axis=1) if tracks.ids[0].dtype == tracks.ids[1].dtype else list(zip(*map(np.ndarray.tolist, tracks.ids))), tracks.id
    ids = tracks.ids[0] if isinstance(tracks.ids, tuple) and (isinstance(id, str) or len(id) == 1) else tracks.ids
    return (list(zip(*map(np.ndarray.tolist, ids))) if isinstance(ids, tuple) else np.unique(ids)), id


def follow(series: str | os.PathLike | Iterable, ids: Sequence | np.ndarray | None = None,
           attributes: Iterable[str] | None = None, *, id: str | tuple[str | None, str] | None = None,  # pylint: disable=redefined-builtin
           unwrap: str | Sequence[float] | None = None, skip_damaged: bool = False, threads: int = 0, map: bool = False,  # pylint: disable=redefined-builtin
           progress: Callable[[float], bool | None] | None = None) -> Trails:
    """Returns the particles with these ids in all steps of a series, as Trails.

    series: the path of a .bat.series, of a tracks file (.tracks.bat; all of its samples) or of one
        dataset, or a list of such paths or of Steps from read_series().
    ids: numbers in any order, compared without rounding. None, for a tracks file only: all of its ids. If
        ids are unique only together with a second attribute, pairs: a list of tuples, or an (n, 2) array.
    id: the name of the id attribute, which must have one component. None for the one named id, ids,
        particle_id ..., or in AMReX data X_id or X_idcpu. For pairs, a pair of names; by default the
        second attribute is cpu for id, and X_cpu for X_id.
    attributes: names; None for all in any step except those of the ids. Types are widened to hold the
        values of all steps.

    unwrap: the box of a periodic domain (6 numbers: lower x, y, z, upper x, y, z; an axis with infinite
        ends is not periodic), or "files" for the box in each file's metadata, {"periodic_box":
        {"lower": [...], "upper": [...]}} or as in files converted from LAMMPS, XYZ, GSD, H5MD and
        MDAnalysis. A particle that crosses a periodic border continues outside of the box, as float64.
        It must move by less than half of the domain between two steps in which it is present.

    skip_damaged: skips files that are missing or damaged; Trails.problems lists them.
    map: maps files instead of reading them, which is faster, but only safe for files that no process changes in place;
        see Dataset.
    threads: the maximum number of threads; 0 for all available.
    progress: called with the completed share; returning False cancels, which raises BatCancelledError.

    If a file has a sorted index for the id attribute (sorted_indexes of write(), repack() and Series),
    ids are looked up in it, in time proportional to their number. Otherwise all ids of the step are
    compared, and Trails.advice says so. Memory grows with steps x ids. Not collective; thread-safe.
    Raises BatValueError, BatTypeError, BatNotFoundError; BatError for damaged files.
    """
    lib = library()
    if ids is None:
        ids, id = _ids_of_tracks(series, id)
    names = (id,) if id is None or isinstance(id, str) else tuple(as_list(id, "id", "a name, or a pair of names"))
    if len(names) not in (1, 2) or (len(names) == 2 and names[1] is None):
        refuse(f"id: {names}; allowed: a name, or a pair of names")
    arrays = _parse_ids(ids, len(names) == 2)
    if len(arrays) == 2:
        names = (names[0], names[1] if len(names) == 2 else None)
    on_progress = Progress(progress)
    with make("follow") as request:
        _add_steps(request, series)
        for set_ids, name, array in zip((lib.bat_follow_set_ids, lib.bat_follow_set_second), names, arrays):
            array = array.astype(np.int64) if not array.size else array
            check(set_ids(request, None if name is None else as_text(name, "id"),
                          ctypes.c_int(TYPES[array.dtype.name]), ctypes.c_void_p(array.ctypes.data),
                          ctypes.c_uint64(array.size)))
        if attributes is not None:
            requested = as_names(attributes, "attributes")
            check(lib.bat_follow_set_attributes(
                request, ctypes.c_uint64(len(requested)), (ctypes.c_char_p * len(requested))(*requested)))
        if isinstance(unwrap, str):
            if unwrap != "files":
                refuse(f"unwrap: '{unwrap}'; allowed: six numbers, \"files\", None")
            check(lib.bat_follow_set_periodic(request, None))
        elif unwrap is not None:
            box = as_box(unwrap, "unwrap")
            check(lib.bat_follow_set_periodic(request, ctypes.c_void_p(box.ctypes.data)))
        check(lib.bat_follow_set_leave_out_damaged(request, ctypes.c_int(bool(skip_damaged))))
        check(lib.bat_follow_set_map(request, ctypes.c_int(bool(map))))
        check(lib.bat_follow_set_threads(request, as_integer(threads, "threads")))
        if on_progress.callback is not None:
            check(lib.bat_follow_set_progress(request, on_progress.callback, None))
        trails = Owned(lib.bat_trails_free)
        with on_progress.watched():
            check(lib.bat_follow_run(request, ctypes.byref(trails.pointer)))
    ids = tuple(array.copy() for array in arrays)
    return Trails(trails, ids[0] if len(ids) == 1 else ids)
