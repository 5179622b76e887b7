# SPDX-License-Identifier: BSD-3-Clause
"""What `parabat convert` needs of the package: writing a dataset, and the parser of the library."""

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

INDEXES = {"sorted_indexes": "sorted-index", "stable_samples": "stable-samples"}  # settings with names of attributes


class _Parsed(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("rows", "used", "bad_row", "bad_place")] + [
        ("bad_column", ctypes.c_int64)]


class BadRow(Exception):
    """A row that is not as its columns say: `row` of those that were passed, `column` (-1: another number of
    fields) and the byte where its line begins."""

    def __init__(self, row, column, place):
        super().__init__()
        self.row = row
        self.column = column
        self.place = place


def parse_columns(text, columns, delimiter=" ", max_rows=None, threads=0):
    """Numbers in the lines of `text` (bytes) into arrays, at most as many rows as those have: bat_parse_columns in
    bat/bat.h. columns: of each an array, or None for one that is not kept. Returns the rows and the bytes that
    were used."""
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
    """What the library says becomes a ConvertError."""
    try:
        yield
    except BatError as error:
        text = str(error)
        raise ConvertError(text if path in text else f"{path}: {text}") from None


def _about(particles, step):
    """Keywords of a write."""
    return {"time": step.time, "step": step.number,
            "metadata": json.dumps(as_json(particles.metadata)) if particles.metadata else ""}


def has_attribute(name, names):
    """Whether an attribute, or the one that name[0] is a component of, is among `names`."""
    return name in names or (name.endswith("]") and name.rpartition("[")[0] in names)


def _format_settings(settings, particles):
    """Those of a species: indexes of the attributes that it has."""
    return {**settings, **{key: [name for name in settings[key] if has_attribute(name, particles.attributes)]
                           for key in INDEXES if settings.get(key)}}


def write_particles(path, particles, step, settings, comm=None):
    """Writes a dataset, of all ranks with a communicator; returns the Report."""
    with _describe(path):
        return write(path, particles.positions, particles.attributes, comm=comm, **_about(particles, step),
                     **_format_settings(settings, particles))


def write_parts(path, parts, step, settings, memory_bytes, held, done):
    """The same of Particles that come one after another, in so much memory. held(): a context for the call that
    writes, and for done(report)."""
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
    """Of a dataset whose writer was killed: what the library leaves then, as AtomicFile names it."""
    folder, name = os.path.split(path)
    end, leaves = f".{'[0-9a-f]' * 8}.tmp", path + ".leaves"
    for each in [*glob.glob(os.path.join(glob.escape(folder), f".{glob.escape(name[:200])}{end}")),
                 *glob.glob(os.path.join(glob.escape(leaves), f".*{end}"))]:
        os.unlink(each)
    if not os.path.lexists(path):  # else leaf files may be those of the dataset that was there before
        shutil.rmtree(leaves, ignore_errors=True)


def remove(path):
    """A dataset, if it is there."""
    shutil.rmtree(path + ".leaves", ignore_errors=True)
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
