# SPDX-License-Identifier: BSD-3-Clause
"""Compares the processor time of a step in situ with raw writes of the same arrays.

    mpirun -np 2 python3 testing/bench/insitu_cpu.py [--particles 2000000] [--steps 6] [--out DIR]

PYTHONPATH and BAT_LIBRARY as in core/capi/README.md. Each rank writes its particles, 68 bytes each (xyz float32, six
doubles, an int64 id), alternately by fwrite and fsync into its own file and by parabat.Series, with new files in every
step. Prints a line of JSON: seconds of processor time, user and system, per step and rank (medians over steps without
the first, then over ranks), their ratio, wall time, and the sum of the ids in the last step.
"""

import argparse
import json
import os
import resource
import shutil
import statistics
import tempfile
import time

import parabat
import numpy as np
from mpi4py import MPI


def seconds():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return np.array([used.ru_utime, used.ru_stime, time.perf_counter()])


def write_raw(path, arrays):
    with open(path, "wb", buffering=0) as file:
        for array in arrays:
            file.write(array.data)
        os.fsync(file.fileno())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--particles", type=int, default=2_000_000, help="of each rank")
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--out", help="folder to write in; a temporary one by default")
    options = parser.parse_args()
    comm = MPI.COMM_WORLD
    folder = comm.bcast(tempfile.mkdtemp(prefix="bat_cpu_", dir=options.out) if comm.rank == 0 else None)
    random = np.random.default_rng(comm.rank)
    n = options.particles
    positions = (random.random((n, 3)) + [comm.rank, 0, 0]).astype(np.float32)
    attributes = {f"v{k}": random.standard_normal(n) for k in range(6)}
    attributes["id"] = np.arange(n) + comm.rank * n
    series = parabat.Series(os.path.join(folder, "step_{timestep:04d}.bat"), comm)
    raw, own = [], []
    for step in range(options.steps):
        for costs, write in (
                (raw, lambda: write_raw(os.path.join(folder, f"raw_{step}_{comm.rank}"),
                                        [positions, *attributes.values()])),
                (own, lambda: series.write(step, float(step), positions, attributes))):
            comm.Barrier()
            before = seconds()
            write()
            costs.append(seconds() - before)
    with parabat.Dataset(os.path.join(folder, f"step_{options.steps - 1:04d}.bat")) as dataset:
        ids = int(dataset.read(["id"])["id"].sum()) if comm.rank == 0 else 0

    def median(costs):
        of_ranks = comm.allgather(np.median(costs[1:] or costs, axis=0))
        return [round(statistics.median(values), 4) for values in zip(*of_ranks)]

    raw, own = median(raw), median(own)
    comm.Barrier()
    if comm.rank == 0:
        shutil.rmtree(folder)
        print(json.dumps({
            "ranks": comm.size, "particles": n * comm.size, "raw_user_system_wall": raw,
            "bat_user_system_wall": own, "ratio": round(sum(own[:2]) / max(sum(raw[:2]), 1e-4), 2),
            "sum_of_ids": ids}))


main()
