# SPDX-License-Identifier: BSD-3-Clause
"""Rows of a table on disk, in the order of their steps, for tables that do not fit in memory.

A table whose rows are sorted by particle has some rows of each step everywhere. One pass over it collects rows until a
buffer is full, sorts them by step, and appends them to a file as a run. A step is then one segment of each run:

    table      a0 a1 a2  b0 b1 b2 | c0 c1 c2  d0 d1 d2      letters: particles, numbers: steps
    runs       a0 b0 a1 b1 a2 b2  | c0 d0 c1 d1 c2 d2
    step 1           -----                -----

The rows of a step keep their order. The index of a run has the ends of its segments; it is in a second file, since there may
be many steps. Processes of a conversion share these files: the first one that needs them makes them, others wait.
"""

import contextlib
import fcntl
import glob
import hashlib
import json
import os
import shutil
import time

import numpy as np

MIN_RUN, MAX_RUN = 8 << 20, 256 << 20  # bytes of rows in memory
RUN_SHARE = 6                          # of the memory, since a run is in memory up to three times while it is sorted
_WAIT = 0.05                           # seconds


class Scratch:
    """A folder next to the output of a conversion. It is made when it is needed; remove() ends it."""

    def __init__(self, output, token, is_one=False):
        """token: makes the name unique, the same in all processes. is_one: a single step is converted."""
        self._stem = output.removesuffix(".bat") + "_rows_by_step_"
        self.folder = f"{self._stem}{token}.tmp"
        self.is_one = is_one
        self._use = None  # descriptor of a file on which each process that uses the folder has a lock

    def __getstate__(self):
        return {**self.__dict__, "_use": None}

    def rows_of(self, path, make):
        """Returns the RowsByStep of a table, or why there are none, in words. make(name): writes the files with this
        beginning of their names and returns what RowsByStep takes; an OSError is such a reason."""
        name = os.path.join(self.folder, hashlib.sha256(os.path.realpath(path).encode(errors="surrogateescape")).hexdigest()[:16])
        try:
            if not os.path.isdir(self.folder):
                self._sweep()
                os.makedirs(self.folder, 0o700, exist_ok=True)
            with self._in_turn(name):
                try:
                    with open(name + ".json", encoding="ascii") as file:
                        made = json.load(file)
                except FileNotFoundError:
                    made = self._make(name, make)
        except OSError as error:
            return error.strerror or str(error)
        return made if isinstance(made, str) else RowsByStep(name, *made)

    @staticmethod
    def _make(name, make):
        try:
            made = make(name)
        except OSError as error:
            made = error.strerror or str(error)
            for end in (".rows", ".index"):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(name + end)
        with open(name + ".new", "w", encoding="ascii") as file:
            json.dump(made, file)
        os.replace(name + ".new", name + ".json")
        return made

    @contextlib.contextmanager
    def _in_turn(self, name):
        """One process at a time."""
        if self._use is None:
            self._use = os.open(os.path.join(self.folder, "in_use"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._use, fcntl.LOCK_SH | fcntl.LOCK_NB)
        with open(name + ".lock", "a+b") as file:
            file.write(b".")
            file.flush()
            while True:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    time.sleep(_WAIT)
                    os.pread(file.fileno(), 1, 0)  # shows whoever watches this process that it is not stuck
            yield

    def _sweep(self):
        """Removes what killed conversions to the same output left."""
        for folder in glob.glob(glob.escape(self._stem) + "*.tmp"):
            with contextlib.suppress(OSError):
                descriptor = os.open(os.path.join(folder, "in_use"), os.O_RDWR | os.O_CLOEXEC)
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(folder, ignore_errors=True)
                finally:
                    os.close(descriptor)

    def remove(self):
        """Called when no process uses the folder any more."""
        if self._use is not None:
            os.close(self._use)
            self._use = None
        shutil.rmtree(self.folder, ignore_errors=True)


def write_rows(name, kinds, count, pieces, memory_bytes):
    """Writes the files of a table. kinds: (name, type, shape of a value) of each column; count: of rows; pieces: yields (index
    of the step of each row, or -1; arrays by name). Returns what RowsByStep takes."""
    dtype = np.dtype([(column, np.dtype(kind), tuple(shape)) for column, kind, shape in kinds])
    free = shutil.disk_usage(os.path.dirname(name)).free
    needed = 2 * count * dtype.itemsize  # the datasets are about as large as the rows
    if needed > free:
        raise OSError(f"it and the output need {needed / 2 ** 30:.1f} GiB of disk space, {free / 2 ** 30:.1f} GiB are free")
    run_bytes = min(max(memory_bytes // RUN_SHARE, MIN_RUN), MAX_RUN)
    runs, held, size = [], [], 0
    with open(name + ".rows", "wb") as rows, open(name + ".index", "wb") as index:
        for codes, arrays in pieces:
            held.append((codes, arrays))
            size += len(codes) * dtype.itemsize
            del codes, arrays
            if size >= run_bytes:
                _write_run(rows, index, dtype, held, runs)
                held, size = [], 0
        _write_run(rows, index, dtype, held, runs)
    return kinds, runs


def _write_run(rows, index, dtype, held, runs):
    """Appends [first step, last step, first row, place in the index] of a run to `runs`."""
    codes = np.concatenate([each for each, _ in held]) if held else np.empty(0, np.int64)
    order = np.argsort(codes, kind="stable")
    order = order[np.searchsorted(codes[order], 0):]
    if not len(order):
        return
    sorted_rows = np.empty(len(order), dtype)
    for name in dtype.names or ():
        sorted_rows[name] = np.concatenate([arrays[name] for _, arrays in held])[order]
    first, last = int(codes[order[0]]), int(codes[order[-1]])
    runs.append([first, last, rows.tell() // max(1, dtype.itemsize), index.tell()])
    index.write(np.searchsorted(codes[order], np.arange(first, last + 2)).astype(np.int64))
    rows.write(sorted_rows)


class RowsByStep:
    """The rows of each step of a table."""

    def __init__(self, name, kinds, runs):
        self._dtype = np.dtype([(column, np.dtype(kind), tuple(shape)) for column, kind, shape in kinds])
        self._runs = runs
        self._rows = open(name + ".rows", "rb")  # pylint: disable=consider-using-with
        self._index = open(name + ".index", "rb")  # pylint: disable=consider-using-with
        self._segments = None, []  # of the last step

    @property
    def row_bytes(self):
        return self._dtype.itemsize

    def close(self):
        self._rows.close()
        self._index.close()

    def _find_segments(self, step):
        """Returns (first row in the file, number of rows) of each run that has rows of a step."""
        if self._segments[0] != step:
            found = []
            for first, last, row, place in self._runs:
                if first <= step <= last:
                    ends = np.frombuffer(os.pread(self._index.fileno(), 16, place + 8 * (step - first)), np.int64)
                    if ends[1] > ends[0]:
                        found.append((row + int(ends[0]), int(ends[1] - ends[0])))
            self._segments = step, found
        return self._segments[1]

    def read(self, step, first, end):
        """Returns the columns of some rows of a step."""
        columns = {name: np.empty((end - first, *self._dtype[name].shape), self._dtype[name].base) for name in self._dtype.names}
        if not columns:
            return columns
        at = 0  # the first row of a segment, among those of the step
        for row, count in self._find_segments(step):
            begin, stop = max(first, at), min(end, at + count)
            if begin < stop:
                size = (stop - begin) * self._dtype.itemsize
                content = os.pread(self._rows.fileno(), size, (row + begin - at) * self._dtype.itemsize)
                if len(content) < size:
                    raise OSError("a temporary file with rows was cut")
                found = np.frombuffer(content, self._dtype)
                for name, column in columns.items():
                    column[begin - first:stop - first] = found[name]
            at += count
        return columns
