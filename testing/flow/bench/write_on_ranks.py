# SPDX-License-Identifier: BSD-3-Clause
"""Compares a time level that ranks write together in bricks with the same values written by MPI in memory order, as a
line of JSON.

    PYTHONPATH=core/python BAT_LIBRARY=BUILD/lib/libbat_capi.so mpiexec -n 4 python3 write_on_ranks.py FOLDER [--points N]
"""

import argparse
import json
import pathlib
import statistics
import time

import numpy as np
from mpi4py import MPI

from parabat import flow


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--points", type=int, default=161)
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    comm, n = MPI.COMM_WORLD, arguments.points
    ends = [n * rank // comm.size for rank in range(comm.size + 1)]
    first, last = ends[comm.rank], ends[comm.rank + 1]
    z, y, x = np.meshgrid(*(2 * np.pi * np.arange(a, b) / (n - 1) for a, b in ((first, last), (0, n), (0, n))), indexing="ij")
    random = np.random.default_rng(comm.rank)
    wind = np.stack([np.sin(3 * z) + np.cos(5 * y), np.sin(4 * x) + np.cos(2 * z), np.sin(y) + np.cos(7 * x)], -1)
    wind = np.float32(wind + 1e-3 * random.normal(size=wind.shape))

    def in_bricks(compress):
        flow.write_level(arguments.folder / "wind.bricks", [flow.Piece(wind, (0, 0, first))], comm=comm, compress=compress,
                         flush=False)

    def as_it_lies():
        file = MPI.File.Open(comm, str(arguments.folder / "wind.raw"), MPI.MODE_CREATE | MPI.MODE_WRONLY)
        file.Set_size(0)
        file.Write_at_all(first * n * n * 12, wind)
        file.Close()

    def seconds(work, *words):
        comm.Barrier()
        begin = time.perf_counter()
        work(*words)
        comm.Barrier()
        return comm.bcast(time.perf_counter() - begin)

    rounds = [(seconds(as_it_lies), seconds(in_bricks, True), seconds(in_bricks, False)) for _ in range(arguments.rounds)]
    if comm.rank == 0:
        print(json.dumps({"ranks": comm.size, "bytes": n ** 3 * 12,
                          **{f"{name}_over_raw": statistics.median(each[i] / each[0] for each in rounds)
                             for i, name in ((1, "packed"), (2, "not_packed"))}, "seconds": rounds}))


main()
