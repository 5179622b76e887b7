# SPDX-License-Identifier: BSD-3-Clause
"""Writes arrays as a dataset."""

from __future__ import annotations

import ctypes
import json
import os
from typing import Any, Callable

import numpy as np

from ._arguments import (
    as_array, as_box, as_integer, as_names, as_path, as_real, as_text, columns_of, passed)
from ._library import Owned, agreed, call, check, library, make
from ._library import describe_error
from ._options import PARTICLES, with_meanings
from ._progress import Progress
from .errors import INVALID_ARGUMENT, BatTypeError, available, refuse, shown


class Report(ctypes.Structure):
    """The report of a write: bat_report in bat/bat.h."""

    _fields_ = (
        [(name, ctypes.c_uint64) for name in (
            "particles", "leaf_files", "target_bytes", "file_bytes", "data_bytes",
            "largest_leaf_bytes", "moved_bytes", "skipped")]
        + [(name, ctypes.c_int32) for name in (
            "ranks", "nodes", "aggregators", "threads", "leaders")]
        + [(name, ctypes.c_uint64) for name in (
            "messages_within", "bytes_within", "messages_between", "bytes_between",
            "max_received", "max_received_bytes", "peak_memory_bytes")]
        + [("seconds_" + name, ctypes.c_double) for name in (
            "check", "plan", "exchange", "build", "write", "commit", "total")]
        + [("_advice", ctypes.c_char * 256)])

    @property
    def advice(self) -> str:
        """Returns the reason why ranks did not use available processors, or ""."""
        return self._advice.decode()

    def _text(self, function):
        text = ctypes.create_string_buffer(2048)
        check(function(ctypes.byref(self), text, ctypes.c_size_t(len(text))))
        return text.value.decode()

    def json(self) -> str:
        """Returns one line of JSON."""
        return self._text(library().bat_report_json)

    def line(self) -> str:
        """Returns one or two sentences for display."""
        return self._text(library().bat_report_line)

    def __repr__(self):
        return f"<parabat.Report {self.json()}>"


def describe(particles, positions, attributes, metadata):
    """Fills a handle of particles, which the caller frees. Returns the arrays that it borrows."""
    lib = library()
    xyz = as_array(positions, "positions", allowed="(n, 3)")
    if xyz.shape[1] != 3 and len(xyz):
        refuse(f"positions: shape {np.shape(positions)}; allowed: (n, 3)")
    check(lib.bat_particles_create(ctypes.c_uint64(len(xyz)), ctypes.byref(particles.pointer)))
    type_, _, address, stride = passed(xyz)
    check(lib.bat_particles_set_positions(particles, type_, address, stride))
    arrays = {}
    for name, values in columns_of(attributes):
        text = as_text(name, "attribute name")
        if name in arrays:
            refuse(f"attribute '{name}' occurs twice")
        arrays[name] = as_array(values, f"attribute '{name}'", len(xyz))
        check(lib.bat_particles_set_attribute(particles, text, *passed(arrays[name])))
    check(lib.bat_particles_set_metadata(particles, as_text(metadata, "metadata")))
    return [xyz, *arrays.values()]


def options_table() -> list[dict]:
    """Returns all options of a write: dicts with name, type, default, allowed values and meaning."""
    return with_meanings(json.loads(library().bat_options_table()), PARTICLES)


def set_options(handle, given):
    """Sets the keyword arguments `given` in an options handle; an empty list is also a value."""
    lib = library()
    table = {row["name"]: row for row in options_table()} if given else {}
    for name, value in given.items():
        if name not in table:
            raise BatTypeError(INVALID_ARGUMENT,
                               f"unknown option '{name}'{available(name, table)}")
        kind, option = table[name]["type"], name.encode()
        if kind == "list of strings":
            texts = as_names(value, name)
            check(lib.bat_options_set_list(handle, option, ctypes.c_uint64(len(texts)),
                                           (ctypes.c_char_p * len(texts))(*texts)))
        elif kind == "word" and isinstance(value, str):
            check(lib.bat_options_set_text(handle, option, as_text(value, name)))
        elif kind == "word":
            refuse(f"{name} is {shown(value)}; {table[name]['allowed']} is allowed")
        elif kind == "number":
            check(lib.bat_options_set_real(handle, option, as_real(value, name)))
        else:
            number = ctypes.c_int64(bool(value)) if kind == "flag" else as_integer(value, name)
            check(lib.bat_options_set_integer(handle, option, number))


def write(path: str | os.PathLike, positions: Any, attributes: Any = None, *, comm: Any = None,
          time: float | None = None, step: int | None = None, metadata: str = "",
          local_bounds: Any = None, progress: Callable[[float], bool | None] | None = None,
          **options: Any) -> Report:
    """Writes the particles of all ranks of `comm` (mpi4py), or of this process (None), as a dataset.

    positions: (n, 3), float32 or float64. n may be 0 on some ranks.
    attributes: a dict, DataFrame or structured array from name to (n,) or (n, k), with at most 9 components k. The
        index of a DataFrame is not written. Values are stored exactly unless compression is "bounded"; arrays of other
        shapes or types, and arrays with masked values, are errors.
    step: a 64-bit integer.
    metadata: text of a JSON object.
    local_bounds: 6 numbers, lower x, y, z, upper x, y, z: the box that this rank declares as its own (default: the
        box of its particles, which may also lie outside). Used only with `comm` and mode "rank_border" or "aug".
    progress: called on rank 0 only, with the completed share, from 0 to 1. If it returns False, writing stops with
        BatCancelledError, and an existing file is unchanged; write() raises its exceptions.

    options, all as in bat/bat.h; options_table() lists their meanings and allowed values:

    target_bytes, mode ("adaptive", "rank_border", "aug"), find_best_axis, max_split_imbalance_ratio,
        max_overfull_factor: partition into leaf files.
    sorted_indexes: names, e.g. ["id"].
    stable_samples: names of integer attributes, e.g. ["id"], by which all steps of a series show the same particles at
        qualities 0.9, 0.8 ... 0.1, 0.09 ..., and at others all but at most a tenth.
    repeats ("store", "link", "leave_out"), compare_values: treatment of attributes that repeat positions or each other.
    treelet_particles, block_particles, chunk_particles, index_budget: sizes inside files.
    hdf5_view: True (default) makes uncompressed files HDF5 files too, which ParaView opens without a plugin.
    compression: "none", "lossless", or "bounded" for the arrays in error_bounds.
    error_bounds: texts such as "temperature=0.5", in units of the array, or "positions=0.01%" of the range: the maximum
        difference between an original and its stored value. All other arrays stay exact.
    exchange ("auto", "flat", "leaders"), leaders_per_node, ranks_per_node: exchange between ranks.
    threads, flush: threads per rank, and whether to flush files to disk.

    An existing file is replaced atomically at the end, and kept if the write fails. Returns a Report. Raises
    BatValueError, BatTypeError; BatError if the file cannot be written.

    Collective if `comm` is given; errors found by this function itself also fail on all ranks.
    """
    lib = library()
    report = Report()
    arrays = []  # alive until the write is complete
    with make("options") as handle, Owned(lib.bat_particles_free) as particles:
        with agreed(comm):
            on_progress = Progress(progress)
            name = as_path(path)
            arrays = describe(particles, positions, attributes, metadata)
            if time is not None:
                check(lib.bat_particles_set_time(particles, as_real(time, "time")))
            if step is not None:
                check(lib.bat_particles_set_step(particles, as_integer(step, "step")))
            set_options(handle, options)
            if local_bounds is not None:
                box = as_box(local_bounds, "local_bounds")
                check(lib.bat_options_set_local_bounds(
                    handle, ctypes.c_void_p(box.ctypes.data)))
            if on_progress.callback is not None:
                check(lib.bat_options_set_progress(handle, on_progress.callback, None))
        with on_progress.watched():
            call(comm, "write", name, particles, handle, ctypes.byref(report))
    del arrays
    return report


class PieceWriter:
    """Writes a dataset from pieces that arrive one by one and together exceed memory.

        with parabat.PieceWriter("all.bat", memory_bytes=1 << 30) as writer:
            for positions, attributes in pieces:
                writer.add(positions, attributes)
            writer.finish()

    memory_bytes: the memory limit, excluding the pieces: at least 32 MiB, or 0 for 1 GiB. The rest
        waits in an unnamed file next to `path`, as large as the arrays.
    time, step, metadata, options: as for write(). Leaf files are as large as memory allows, or
        target_bytes if that is less; mode and repeats must keep their defaults.
    progress: as for write(), called during finish().

    Not collective. Raises BatValueError, BatTypeError; BatError if files cannot be written.
    """

    def __init__(self, path: str | os.PathLike, *, memory_bytes: int = 0, time: float | None = None,
                 step: int | None = None, metadata: str = "",
                 progress: Callable[[float], bool | None] | None = None, **options: Any):
        lib = library()
        self._reported = Progress(progress)
        self._time, self._step, self._metadata = time, step, metadata
        self._owned = Owned(lib.bat_piece_writer_free)
        maximum = as_integer(memory_bytes, "memory_bytes")
        if maximum.value < 0:
            refuse(f"memory_bytes: {maximum.value}; it must not be negative")
        with make("options") as handle:
            set_options(handle, options)
            if self._reported.callback is not None:
                check(lib.bat_options_set_progress(handle, self._reported.callback, None))
            check(lib.bat_piece_writer_create(as_path(path), handle, maximum,
                                              ctypes.byref(self._owned.pointer)))

    def __enter__(self) -> PieceWriter:
        return self

    def __exit__(self, *unused) -> None:
        self.close()

    def close(self) -> None:
        """Frees memory and disk space. Without finish(), nothing is written."""
        self._owned = self._owned.closed()

    def add(self, positions: Any, attributes: Any = None) -> None:
        """Copies a piece: arrays as for write(), with the same attributes in the same order in all
        pieces. Concurrent calls are an error. After any error the piece is lost, and finish()
        raises BatValueError instead of writing a dataset without it."""
        lib, owned = library(), self._owned
        with Owned(lib.bat_particles_free) as particles:
            try:
                arrays = describe(particles, positions, attributes, self._metadata)
                if self._time is not None:
                    check(lib.bat_particles_set_time(particles, as_real(self._time, "time")))
                if self._step is not None:
                    check(lib.bat_particles_set_step(particles, as_integer(self._step, "step")))
            except BaseException as error:
                lib.bat_piece_writer_fail(owned, describe_error(error)[1])
                raise
            check(lib.bat_piece_writer_add(owned, particles))
        del arrays

    def finish(self) -> Report:
        """Writes the dataset, which atomically replaces an existing `path` at the end. A failure
        leaves no files behind. Raises BatValueError if a piece was lost; BatError, also if another
        writer writes the same dataset. Returns a Report."""
        report, owned = Report(), self._owned
        with self._reported.watched():
            check(library().bat_piece_writer_finish(owned, ctypes.byref(report)))
        self.close()
        return report


class RepackReport(ctypes.Structure):
    """The report of a repack: bat_repack_report in bat/bat.h."""

    _fields_ = (
        [(name, ctypes.c_uint64) for name in (
            "particles", "datasets", "leaf_files", "bytes_before", "bytes_after")]
        + [("seconds", ctypes.c_double)])

    def asdict(self) -> dict:
        """Returns names and numbers as a dict."""
        return {name: getattr(self, name) for name, *_ in self._fields_}

    def __repr__(self):
        return f"<parabat.RepackReport {json.dumps(self.asdict())}>"


def repack(source: str | os.PathLike, target: str | os.PathLike, *,
           progress: Callable[[float], bool | None] | None = None, **options: Any) -> RepackReport:
    """Writes the dataset at `source` to `target`: the same particles, stored in another way.

    options: compression, error_bounds, chunk_particles, sorted_indexes and stable_samples ([] for none),
    hdf5_view, treelet_particles, block_particles, index_budget, threads, flush, as for write(). Options that are
    not given stay as they are in `source`; error_bounds alone imply "bounded". An array with an error
    bound keeps it; another compression or a bound of 0 removes it, and the metadata then record it as
    "error_bounds". Files of the paper's library (.pbat) become .bat; a .bat.series becomes
    TARGET_0000.bat, TARGET_0001.bat ... and the list TARGET.bat.series. Uses the memory of one leaf file
    at a time. Every value is read back and compared before `target`, which may be `source` itself, is
    replaced atomically; a failure leaves no files behind. progress: as for write().

    Returns a RepackReport with particles (all compared), datasets, leaf_files, bytes_before,
    bytes_after and seconds. Raises BatValueError, BatTypeError; BatError if a file cannot be read
    or written, or what was written is not what was read. Not collective.
    """
    lib = library()
    report = RepackReport()
    on_progress = Progress(progress)
    with make("options") as handle:
        set_options(handle, options)
        if on_progress.callback is not None:
            check(lib.bat_options_set_progress(handle, on_progress.callback, None))
        with on_progress.watched():
            check(lib.bat_repack(as_path(source), as_path(target), handle,
                                 ctypes.byref(report)))
    return report
