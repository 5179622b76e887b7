# SPDX-License-Identifier: BSD-3-Clause
"""Writes the steps of a running simulation, one file per step."""

from __future__ import annotations

import collections
import ctypes
import json
import os
from typing import Any, Iterable, Mapping

import numpy as np

from ._arguments import as_array, as_integer, as_path, as_real, as_text, passed
from ._files import display_name, is_address, open_regular
from ._library import Owned, agreed, check, handle_of, library, make, describe_error
from .errors import BatError, refuse, refuse_type
from .writing import Report, describe, set_options


def _tracks_json(tracks):
    if not isinstance(tracks, Mapping):
        refuse_type("tracks", tracks, "dicts")
    plain = {key: value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value for key, value in tracks.items()}
    if "ids" in plain and isinstance(plain["ids"], Iterable) and not isinstance(plain["ids"], (str, bytes)):
        plain["ids"] = [one.tolist() if isinstance(one, (np.ndarray, np.generic)) else
                        [part.tolist() if isinstance(part, np.generic) else part for part in one] if isinstance(one, (tuple, list)) else one
                        for one in plain["ids"]]
    try:
        return json.dumps(plain, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        return refuse(f"tracks: {error}")


class Series:
    """Writes the steps of a running simulation, each as a file; see bat/bat_insitu.h.

        series = parabat.Series("out/dust_{timestep:06d}.bat", MPI.COMM_WORLD)
        series.write(step, time, positions, {"id": ids, "velocity": v})

    or, if a rank has several pieces or species, begin(), add() as often as needed, end(). comm is
    an mpi4py communicator (MPI.COMM_SELF for one process) and must outlive the series. Creating a
    Series, write() and end() are collective. Only every `every`-th step is written. options: as for
    write(); with several species, those without an attribute that an option names are written
    without the option.

    tracks: records chosen particles in every step, regardless of `every`, in NAME.tracks.bat next to
    the list; follow() can read it while it grows. A dict with one of

    "ids": numbers, or pairs;
    "box": 6 numbers: the particles that are inside at the first step in which the box is not empty;
    "every_id": k: the particles whose id is a multiple of k;

    and optionally

    "id": the name of the id attribute;
    "second": the attribute together with which ids are unique; by default "cpu" if ids are called
        "id", and "X_cpu" if "X_id";
    "attributes": names of those to record; default: all;
    "every": records every n-th step only.

    close() sorts the histories; in a series that is not closed they remain one by one.

    species: a dict from name to a dict of settings that override the general ones for that species:
    "every", "tracks" (None for none), options of write().

    A step whose number is not greater than those in the list, as after a restart, replaces what was
    written from that number on, with a message on rank 0's stderr. read_series() reads the list.
    """

    def __init__(self, files: str | os.PathLike, comm: Any, *, every: int = 1,
                 tracks: Mapping[str, Any] | None = None,
                 species: Mapping[str, Mapping[str, Any]] | None = None, **options: Any):
        lib = library()
        self._comm = comm  # must outlive the series
        self._arrays = []  # alive until the end of the step
        self._failure = None
        self._is_due = True
        if comm is None or not hasattr(lib, "bat_insitu_open_f"):
            refuse("comm: a series requires a library with MPI, and an mpi4py communicator, MPI.COMM_SELF for one process" + (
                       "" if hasattr(lib, "bat_insitu_open_f") else
                       "; this libbat_capi.so was built without MPI. Use write() for single steps"))
        self._owned = Owned(lib.bat_insitu_close)
        with make("options") as handle:
            with agreed(comm):
                set_options(handle, options)
                name = as_path(files)
            check(lib.bat_insitu_open_f(handle_of(comm), name, handle,
                                         ctypes.byref(self._owned.pointer)))
        with agreed(comm):
            check(lib.bat_insitu_set_every(self._owned, as_integer(every, "every")))
            if tracks is not None:
                check(lib.bat_insitu_set_tracks(
                    self._owned, _tracks_json(tracks), ctypes.c_int(0), None, ctypes.c_uint64(0)))
            if not isinstance(species or {}, Mapping):
                refuse_type("species", species, "dicts")
            for name, own in (species or {}).items():
                self._set_species(name, own, options)

    def _set_species(self, name, own, options):
        if not isinstance(own, Mapping):
            refuse_type(f"species: {name}", own, "dicts")
        own = dict(own)
        every = as_integer(own.pop("every"), "every") if "every" in own else ctypes.c_int64(0)
        tracks = own.pop("tracks", {})  # {}: as for all species
        tracks = b"" if tracks is None else _tracks_json(tracks) if tracks else None
        with make("options") as handle:
            set_options(handle, {**options, **own})
            check(library().bat_insitu_set_species(
                self._owned, as_text(name, "species"), every, handle, tracks))

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def close(self):
        """Closes the series. Not collective."""
        self._owned = self._owned.closed()

    def keep_memory(self, max_bytes: int) -> None:
        """Sets how many bytes of the memory used by a step in this process are kept for the next
        one: 64 MiB by default, 0 for none. Memory beyond that returns to the system immediately.
        All series of a process share this memory, and the largest limit applies. Call between
        steps. Not collective."""
        check(library().bat_insitu_keep_memory(
            self._owned, as_integer(max_bytes, "max_bytes")))

    def begin(self, step, time):
        """Begins a step. Returns True if it is written; otherwise add() is ignored for it."""
        due = ctypes.c_int()
        self._arrays, self._failure = [], None
        number, seconds, failure = ctypes.c_int64(), ctypes.c_double(), None
        try:
            number, seconds = as_integer(step, "step"), as_real(time, "time")
        except BatError as error:
            failure = error
        # A step that this rank cannot begin still counts, as it does on the others.
        check(library().bat_insitu_begin_step(
            self._owned, number, seconds, ctypes.byref(due)))
        self._is_due = bool(due.value)
        if failure is not None:
            self.fail(failure)
            raise failure
        return self._is_due

    def add(self, positions, attributes=None, *, species=None, ghosts=None, metadata=""):
        """Adds particles of this rank: arrays as for write(), which must not change until end().

        A step without particles has the attributes and types for which any rank adds arrays of length 0, or otherwise
        those of the previous step. species: the name of the particles' species in the series. ghosts: (n,), integers or
        bool; particles with a non-zero value are left out. An invalid argument makes end() fail on all ranks.
        """
        lib = library()
        if not self._is_due:
            return
        try:
            name = None if species is None else as_text(species, "species")
            with Owned(lib.bat_particles_free) as particles:
                arrays = describe(particles, positions, attributes, metadata)
                if ghosts is None:
                    check(lib.bat_insitu_add(self._owned, name, particles))
                else:
                    marks = as_array(ghosts, "ghosts", len(arrays[0]), "(n,)")
                    if marks.shape[1] != 1 and len(marks):
                        refuse(f"ghosts: shape {np.shape(ghosts)}; allowed: (n,)")
                    arrays.append(marks)
                    type_, _, address, stride = passed(marks)
                    check(lib.bat_insitu_add_without_ghosts(
                        self._owned, name, particles, type_, address, stride))
                self._arrays += arrays
        except Exception as error:
            self.fail(error)
            raise

    def fail(self, error):
        """Makes end() raise on all ranks, for example if this rank cannot add its particles."""
        self._failure = self._failure or error
        library().bat_insitu_fail(self._owned, *describe_error(error))

    def end(self):
        """Writes the step. Returns a Report, which is zero if the step is not written.
        Collective."""
        report = Report()
        failure, self._failure = self._failure, None
        status = library().bat_insitu_end_step(self._owned, ctypes.byref(report))
        self._arrays = []
        if status and failure is not None:
            raise failure
        check(status)
        return report

    def write(self, step, time, positions, attributes=None, *, species=None, ghosts=None,
              metadata=""):
        """Writes a whole step: begin(), add() and end(). Collective."""
        try:
            if self.begin(step, time):
                self.add(positions, attributes, species=species, ghosts=ghosts, metadata=metadata)
        except Exception:  # pylint: disable=broad-except
            pass  # end() raises it, on all ranks
        return self.end()

    @property
    def written(self):
        """The files of the last written step: a list of dicts, one per file."""
        text = ctypes.c_char_p()
        check(library().bat_insitu_written(self._owned, ctypes.byref(text)))
        return json.loads(text.value)


Step = collections.namedtuple("Step", "path time")
Step.__doc__ = """A step of a series: the path of its dataset, and its time."""


def _read_remote(path, storage_options):
    """Returns the steps of a list at an address."""
    text = ctypes.c_char_p()
    check(library().bat_series_steps(as_path(path, storage_options), ctypes.byref(text)))
    steps = json.loads(text.value.decode())
    if not all("time" in step for step in steps):
        raise BatError(3, f"{display_name(path)}: is not a series list with a \"time\" for each file")
    return [Step(step["path"], step["time"]) for step in steps]


def read_series(path: str | os.PathLike, storage_options: dict | None = None) -> list[Step]:
    """Returns the steps of a .bat.series file, as written by Series, with paths that open() takes. storage_options: as of
    open(), which does not need them again for these paths; such paths are valid in this process.

    Raises BatNotFoundError; BatError if it is not such a file.
    """
    if is_address(path) or storage_options is not None:
        return _read_remote(path, storage_options)
    try:
        with open_regular(path) as file:
            listed = json.loads(file.read(os.fstat(file.fileno()).st_size).decode())["files"]
        folder = os.path.dirname(os.fspath(path))
        # A local list must not name an address; without a folder, the name alone would be one.
        steps = [Step(os.path.join(folder or ("." if is_address(one["name"]) else ""), one["name"]), float(one["time"]))
                 for one in listed]
        for step in steps:
            if b"\0" in os.fsencode(step.path) or not os.path.basename(step.path):
                raise ValueError(step.path)
        if not all(np.isfinite(step.time) for step in steps):
            raise ValueError("a time that is not a finite number")
        return steps
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise BatError(3, f"{os.fspath(path)}: is not a series list, a JSON object with \"files\", each with a valid file \"name\" and a finite \"time\"") from error
