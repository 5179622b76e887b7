# SPDX-License-Identifier: BSD-3-Clause
"""Writes the particles of each rank through bat_io.h several times; bat_io_bench.py starts it on ranks.

    mpirun -np 4 python3 bat_io_writer.py LIBRARY '{"path": ..., "target_bytes": ..., "repeat": ..., "make": {...}}'

LIBRARY is any shared library with the functions of bat_io.h. Between the writes each rank writes the same bytes to
its own file. Nothing is overwritten: files of the previous write are removed first, which is not timed. Prints one
line of JSON: seconds of the slowest rank, and the checksum of the particles.
"""

import ctypes
import json
import os
import shutil
import sys
import time

import numpy as np
from mpi4py import MPI

import rank_particles

COMM = MPI.COMM_WORLD
FLOAT64, VEC3_FLOAT = 10, 25  # defined in bat_io.h


def load(path):
    library = ctypes.CDLL(os.path.abspath(path))
    state, number, name = ctypes.c_void_p, ctypes.c_uint64, ctypes.c_char_p
    signatures = {
        "allocate": (state,), "free": (None, state), "set_positions": (None, state, state, number, ctypes.c_int),
        "set_attribute": (None, state, name, state, number, ctypes.c_int), "set_local_bounds": (None, state, state),
        "set_bytes_per_subfile": (None, state, number), "set_build_local_trees": (None, state, ctypes.c_uint32),
        "write": (number, state, name)}
    for function, (result, *arguments) in signatures.items():
        found = getattr(library, "bat_io_" + function)
        found.restype, found.argtypes = result, arguments
    return library


def bounds_of(positions):
    bounds = np.zeros(6, np.float32)
    if len(positions):
        bounds[:3] = positions.min(axis=0)
        bounds[3:] = positions.max(axis=0)
    return bounds


def write(library, particles, bounds, path, target_bytes):
    rows = len(particles["positions"])
    state = library.bat_io_allocate()
    for name, values in particles.items():
        if name == "positions":
            library.bat_io_set_positions(state, values.ctypes.data, rows, VEC3_FLOAT)
        else:
            library.bat_io_set_attribute(state, name.encode(), values.ctypes.data, rows, FLOAT64)
    library.bat_io_set_local_bounds(state, bounds.ctypes.data)
    library.bat_io_set_bytes_per_subfile(state, target_bytes)
    library.bat_io_set_build_local_trees(state, 1)
    written = library.bat_io_write(state, path.encode())
    library.bat_io_free(state)
    if written == 0 and COMM.Get_rank() == 0:
        raise RuntimeError("bat_io_write failed")


def remove_all(folder):
    COMM.Barrier()
    if COMM.Get_rank() == 0:
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
    COMM.Barrier()


def flush_all():
    """Flushes data that a library leaves in the page cache, so that it is not written during the
    next library's time."""
    if COMM.Get_rank() == 0:
        os.sync()
    COMM.Barrier()


def seconds_of(work):
    COMM.Barrier()
    begin = time.perf_counter()
    work()
    return COMM.allreduce(time.perf_counter() - begin, MPI.MAX)


def main():
    library = load(sys.argv[1])
    how = json.loads(sys.argv[2])
    particles = rank_particles.make(COMM.Get_rank(), COMM.Get_size(), **how["make"])
    bounds = bounds_of(particles["positions"])
    raw = f"{how['path']}.raw.{COMM.Get_rank()}"
    ways = {"bat_io": lambda: write(library, particles, bounds, how["path"], how["target_bytes"]),
            "raw": lambda: rank_particles.write_arrays(raw, particles, flush=True)}
    seconds = {way: [] for way in ways}
    for _ in range(how["repeat"] + 1):
        remove_all(os.path.dirname(how["path"]))
        for way, work in ways.items():
            seconds[way].append(seconds_of(work))
            flush_all()
    seconds = {way: of_way[1:] for way, of_way in seconds.items()}  # the first writes warm up
    checksum = COMM.reduce(rank_particles.checksum(particles))
    if COMM.Get_rank() == 0:
        print(json.dumps({"seconds": seconds, "checksum": f"{checksum % 2**64:016x}"}), flush=True)


if __name__ == "__main__":
    try:
        main()
    except BaseException as error:  # pylint: disable=broad-except
        print(f"rank {COMM.Get_rank()}: {error!r}", file=sys.stderr, flush=True)
        COMM.Abort(1)
