# SPDX-License-Identifier: BSD-3-Clause
"""The parts of the package that `parabat convert` uses: writing a dataset, and the library's parser of numbers."""

import contextlib
import ctypes
import glob
import json
import os
import shutil

import numpy as np

from .. import BatError, PieceWriter, write
from .._library import TYPES, library
from .model import ConvertError, as_json

INDEXES = {"sorted_indexes": "sorted-index", "stable_samples": "stable-samples"}  # settings that name attributes


class _Parsed(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("rows", "used", "bad_row", "bad_place")] + [
        ("bad_column", ctypes.c_int64)]


class BadRow(Exception):
    """A row that does not match its columns. `row`: its index among the rows passed. `column`: the field that is wrong,
    or -1 if the number of fields is. `place`: the byte where its line begins."""

    def __init__(self, row, column, place):
        super().__init__()
        self.row = row
        self.column = column
        self.place = place


def parse_columns(text, columns, delimiter=" ", max_rows=None, threads=0):
    """Parses the numbers in the lines of `text` (bytes) into arrays, at most as many rows as the arrays have: see
    bat_parse_columns in bat/bat.h. columns: an array for each column, or None to skip it. Returns the numbers of rows
    and bytes that were parsed."""
    count = len(columns)
    types = (ctypes.c_int * count)(*(0 if each is None else TYPES[each.dtype.name] for each in columns))
    values = (ctypes.c_void_p * count)(*(None if each is None else each.ctypes.data for each in columns))
    strides = (ctypes.c_size_t * count)(*(0 if each is None or len(each) < 2 else each.strides[0] for each in columns))
    if max_rows is None:
        max_rows = min((len(each) for each in columns if each is not None), default=2 ** 62)
    parsed = _Parsed()
    text = memoryview(text)
    address = np.frombuffer(text, np.uint8).ctypes.data if len(text) else None
    status = library().bat_parse_columns(
        ctypes.c_void_p(address), ctypes.c_size_t(len(text)), ctypes.c_int(ord(delimiter)), ctypes.c_uint64(count),
        types, values, strides, ctypes.c_uint64(max_rows), ctypes.c_int64(threads), ctypes.byref(parsed))
    if status:
        if parsed.bad_column != -2:
            raise BadRow(parsed.bad_row, parsed.bad_column, parsed.bad_place)
        raise ConvertError(library().bat_last_error().decode(errors="replace"))
    return parsed.rows, parsed.used


@contextlib.contextmanager
def _describe(path):
    """Turns errors of the library into a ConvertError that names the file."""
    try:
        yield
    except BatError as error:
        text = str(error)
        raise ConvertError(text if path in text else f"{path}: {text}") from None


def _about(particles, step):
    """Returns keywords for write(): time, step and metadata."""
    return {"time": step.time, "step": step.number,
            "metadata": json.dumps(as_json(particles.metadata)) if particles.metadata else ""}


def has_attribute(name, names):
    """Returns whether `names` contains an attribute, or the vector of which `name[i]` is a component."""
    return name in names or (name.endswith("]") and name.rpartition("[")[0] in names)


def _format_settings(settings, particles):
    """Returns the settings for one species: only the indexes of attributes that it has."""
    return {**settings, **{key: [name for name in settings[key] if has_attribute(name, particles.attributes)]
                           for key in INDEXES if settings.get(key)}}


def write_particles(path, particles, step, settings, comm=None):
    """Writes a dataset and returns the Report. With a communicator, the particles of all ranks go into it."""
    with _describe(path):
        return write(path, particles.positions, particles.attributes, comm=comm, **_about(particles, step),
                     **_format_settings(settings, particles))


def write_parts(path, parts, step, settings, memory_bytes, held, done):
    """Writes a dataset from Particles that come one after another, within the given memory. held(): returns a context
    for the call that writes, and for done(report)."""
    with contextlib.ExitStack() as stack:
        writer = None
        for part in parts:
            with _describe(path):
                if writer is None:
                    writer = stack.enter_context(PieceWriter(
                        path, memory_bytes=memory_bytes, **_about(part, step), **_format_settings(settings, part)))
                writer.add(part.positions, part.attributes)
            del part
        with held():
            with _describe(path):
                report = writer.finish()
            done(report)


def remove_temporary(path):
    """Removes the temporary files of a dataset whose writer was killed; AtomicFile gives them these names."""
    folder, name = os.path.split(path)
    end, leaves = f".{'[0-9a-f]' * 8}.tmp", path + ".leaves"
    for each in [*glob.glob(os.path.join(glob.escape(folder), f".{glob.escape(name[:200])}{end}")),
                 *glob.glob(os.path.join(glob.escape(leaves), f".*{end}"))]:
        os.unlink(each)
    if not os.path.lexists(path):  # otherwise the leaf files may belong to an earlier dataset
        shutil.rmtree(leaves, ignore_errors=True)


def remove(path):
    """Removes a dataset if it exists."""
    shutil.rmtree(path + ".leaves", ignore_errors=True)
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
