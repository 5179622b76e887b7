# SPDX-License-Identifier: BSD-3-Clause
"""Describes a tracks file, which contains chosen particles at many times."""

from __future__ import annotations

import ctypes
import os

import numpy as np

from ._arguments import as_path
from ._files import file_name
from ._library import DTYPES, Owned, check, library
from ._text import printable


def is_tracks(path: str | os.PathLike) -> bool:
    """Returns whether the path ends in .tracks.bat, like those of tracks files."""
    return file_name(path).endswith(".tracks.bat")


class Tracks:
    """A tracks file, NAME.tracks.bat, as written by Series; follow() reads its values.

    ids: the distinct ids of all samples, ascending: an (ids,) array of int64, uint64 or float64, or a
        pair of arrays if ids are pairs.
    id: the name of their attribute, or a pair of names.
    steps: (samples,) int64, ascending.
    times: (samples,) float64, NaN if there is none.
    particles: (samples,) uint64, the number in each sample.
    attributes: a dict from name to (dtype, components), for the last sample with particles.
    position_dtype: the type of the positions.
    blocks: the number of runs of bytes that hold samples: one per sample while the file grows, later
        one per 64 MiB.
    file_bytes: the size of the file.
    unfinished_bytes: the bytes at the end that belong to a sample that is being written, or was never
        finished.

    Reads ids and samples on creation and keeps no file open. Arrays are copies. Not collective.
    Raises BatNotFoundError; BatError for other and damaged files.
    """

    def __init__(self, path: str | os.PathLike):
        lib = library()
        self.path = path
        owned = Owned(lib.bat_tracks_free)
        check(lib.bat_tracks_open(as_path(path), ctypes.byref(owned.pointer)))
        with owned:
            count, name, second_name = ctypes.c_uint64(), ctypes.c_char_p(), ctypes.c_char_p()
            type_, second_type = ctypes.c_int(), ctypes.c_int()
            ids, second = ctypes.c_void_p(), ctypes.c_void_p()
            check(lib.bat_tracks_ids(owned, *map(ctypes.byref, (
                count, name, type_, ids, second_name, second_type, second))))
            self.id = name.value.decode()
            self.ids = _array(ids, DTYPES[type_.value], count.value)
            if second_name.value:
                self.id = (self.id, second_name.value.decode())
                self.ids = (self.ids, _array(second, DTYPES[second_type.value], count.value))
            steps, times, particles = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
            check(lib.bat_tracks_samples(owned, *map(ctypes.byref, (count, steps, times, particles))))
            self.steps = _array(steps, np.dtype(np.int64), count.value)
            self.times = _array(times, np.dtype(np.float64), count.value)
            self.particles = _array(particles, np.dtype(np.uint64), count.value)
            check(lib.bat_tracks_attribute_count(owned, ctypes.byref(type_), ctypes.byref(count)))
            self.position_dtype = DTYPES[type_.value]
            self.attributes = {}
            for i in range(count.value):
                components = ctypes.c_int()
                check(lib.bat_tracks_attribute(
                    owned, ctypes.c_uint64(i), *map(ctypes.byref, (name, type_, components))))
                self.attributes[name.value.decode()] = (DTYPES[type_.value], components.value)
            sizes = [ctypes.c_uint64() for _ in range(3)]
            check(lib.bat_tracks_size(owned, *map(ctypes.byref, sizes)))
            self.blocks, self.file_bytes, self.unfinished_bytes = (size.value for size in sizes)

    def __len__(self):
        """Returns the number of samples."""
        return len(self.steps)

    def __repr__(self):
        count = len(self.ids[0] if isinstance(self.ids, tuple) else self.ids)
        columns = [f"positions {self.position_dtype.name}[3]"] + [
            f"{printable(name)} {dtype.name}" + (f"[{components}]" if components > 1 else "")
            for name, (dtype, components) in self.attributes.items()]
        return f"<parabat.Tracks {os.fspath(self.path)}: {count:,} ids in {len(self):,} samples; {', '.join(columns)}>"

    def validate(self) -> None:
        """Checks every byte and every rule of the format; raises BatError for the first problem."""
        check(library().bat_tracks_validate(as_path(self.path)))


def _array(address, dtype, count):
    if not count:
        return np.empty(0, dtype)
    return np.frombuffer((ctypes.c_char * (count * dtype.itemsize)).from_address(address.value), dtype).copy()
