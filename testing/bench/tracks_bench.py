# SPDX-License-Identifier: BSD-3-Clause
"""Measures tracks of a running simulation: their cost relative to the steps, and reading speed.

    PYTHONPATH=core/python BAT_LIBRARY=build/lib/libbat_capi.so python3 testing/bench/tracks_bench.py FOLDER \\
        [--particles 1000000] [--ids 1000] [--samples 1000] [--rounds 9]

Writing: steps of `particles` with id, position and velocity, and the tracks of `ids` of them, alternately; medians and
the median of the ratios of pairs, with and without waiting for the disk. Reading: all histories, and that of one
particle, of `samples` samples, with and without the page cache (posix_fadvise), from a finished file and from one whose
writer died. Needs NumPy and mpi4py. The values read are compared with those written."""

import argparse
import os
import pathlib
import resource
import time

import numpy as np
import parabat
from mpi4py import MPI


def timed(act):
    begin = time.perf_counter()
    result = act()
    return time.perf_counter() - begin, result


def writing(folder, particles, ids, rounds):
    random = np.random.default_rng(1)
    places = random.random((particles, 3), dtype=np.float32)
    columns = {"id": random.permutation(particles).astype(np.int64) + 2**40,
               "velocity": random.standard_normal((particles, 3)).astype(np.float32)}
    expected = random.choice(columns["id"], ids, replace=False)
    for flush in (True, False):
        how = {"flush": flush, "sorted_indexes": ["id"]}
        with parabat.Series(folder / "steps.bat", MPI.COMM_SELF, **how) as steps, \
                parabat.Series(folder / "alone.bat", MPI.COMM_SELF, every=10**9, tracks={"ids": expected}, **how) as tracks:
            tracks.write(0, 0, places, columns)  # there is a file of these, too
            pairs = []
            for step in range(1, rounds + 2):
                whole, _ = timed(lambda now=step: steps.write(now, now, places, columns))
                alone, _ = timed(lambda now=step: tracks.write(now, now, places, columns))
                pairs.append((whole, alone))
        whole, alone = np.array(pairs[1:]).T
        print(f"writing, {'waiting for the disk' if flush else 'without waiting'}: a step {np.median(whole) * 1e3:.1f} ms, "
              f"its tracks {np.median(alone) * 1e3:.2f} ms, {np.median(alone / whole):.2%} ({np.min(alone / whole):.2%} to {np.max(alone / whole):.2%})")
        for file in folder.glob("steps_*.bat"):
            file.unlink()


def forget(path):
    """Evicts a file from the page cache."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def reading(folder, ids, samples, rounds):
    random = np.random.default_rng(2)
    names = np.arange(ids, dtype=np.int64) * 7 + 2**50
    first = random.random((ids, 3), dtype=np.float32)
    velocity = random.standard_normal((ids, 3)).astype(np.float32)
    path = folder / "run.tracks.bat"
    died = folder / "died.tracks.bat"
    with parabat.Series(folder / "run.bat", MPI.COMM_SELF, every=10**9, tracks={"every_id": 1}, flush=False) as series:
        for step in range(samples):
            series.write(step, step, first + np.float32(step), {"id": names, "velocity": velocity})
        died.write_bytes(path.read_bytes())
    for name, file in (("finished", path), ("of a writer that died", died)):
        print(f"reading, {name}: {os.path.getsize(file) / 1e6:.1f} MB, {parabat.Tracks(file).blocks} blocks")
        for which, chosen in (("all histories", names), ("one", names[ids // 2:ids // 2 + 1])):
            seconds = {"cold": [], "warm": []}
            for _ in range(rounds):
                for state, all_of_them in seconds.items():
                    if state == "cold":
                        forget(file)
                    took, trails = timed(lambda p=file, c=chosen: parabat.follow(p, c, threads=2))
                    all_of_them.append(took)
            rows = np.searchsorted(names, chosen)
            assert trails.counts.shape == (samples, len(chosen)) and (trails.counts == 1).all()
            for step in range(0, samples, 97):
                assert np.array_equal(trails.positions.data[step], first[rows] + np.float32(step))
                assert np.array_equal(trails["velocity"].data[step], velocity[rows])
            print(f"  {which}: " + ", ".join(f"{state} {np.median(took) * 1e3:.1f} ms ({min(took) * 1e3:.1f} to {max(took) * 1e3:.1f})"
                                             for state, took in seconds.items()))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folder", type=pathlib.Path)
    for name, default in (("particles", 1000000), ("ids", 1000), ("samples", 1000), ("rounds", 9)):
        parser.add_argument(f"--{name}", type=int, default=default)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    reading(arguments.folder, arguments.ids, arguments.samples, arguments.rounds)
    print(f"  memory: {(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024:.0f} MiB more")
    writing(arguments.folder, arguments.particles, arguments.ids, arguments.rounds)


if __name__ == "__main__":
    main()
