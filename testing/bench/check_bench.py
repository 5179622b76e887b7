# SPDX-License-Identifier: BSD-3-Clause
"""Runs bat_bench on small data sets and checks results that do not depend on time.

Usage: check_bench.py BAT_BENCH
"""

import json
import subprocess
import sys

failures = []


def check(what, good):
    print(("ok      " if good else "WRONG   ") + what)
    if not good:
        failures.append(what)


def run(kind, particles, threads):
    command = [sys.argv[1], "--kind", kind, "--particles", str(particles), "--threads", str(threads),
               "--seed", "3", "--repeat", "1"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main():
    for kind in ("uniform", "clustered", "duplicates"):
        figures = run(kind, 1_000_000, 1)
        check(f"{kind}: 68 bytes a particle", figures["bytes_per_particle"] == 68)
        check(f"{kind}: index {figures['index_ratio']:.4f} of the data, at most 0.01",
              figures["index_ratio"] <= 0.01)
        check(f"{kind}: peak memory {figures['peak_memory_ratio']:.2f} of the data, at most 2.2",
              figures["peak_memory_ratio"] <= 2.2)
        ratio = figures["peak_memory_ratio_with_sorted_index"]
        check(f"{kind}: peak memory with a sorted index {ratio:.2f} of the data, at most 2.6", ratio <= 2.6)
        ids = figures["attribute"]["list_of_ids"]
        check(f"{kind}: 101 ids are found without a test of any value", ids["of_101"]["rows"] == 101
              and ids["of_101"]["sorted_index_tested_ratio"] == 0)
        check(f"{kind}: sorted index {ids['index_ratio']:.4f} of the data, at most 0.18", ids["index_ratio"] <= 0.18)
        check(f"{kind}: quality is off by {figures['quality_error_max']:.2g}, at most 0.001",
              figures["quality_error_max"] <= 0.001)
        for quality in ("q0.1", "q0.5", "q1"):
            ratio = figures["touched_ratio"][quality]
            check(f"{kind}: touched {ratio:.3f} at {quality}, at most 1.15", ratio <= 1.15)
        check(f"{kind}: largest treelet {figures['treelets']['largest_over_mean']:.2f} of the mean",
              figures["treelets"]["largest_over_mean"] <= 2.5)
        if kind == "uniform":
            ratio = figures["touched_ratio"]["box_100k"]
            check(f"uniform: touched {ratio:.2f} by a box of 100,000, at most 4", ratio <= 4)
        # Enough for several of the parts that threads share; the limits above need more particles.
        one, two = (run(kind, 200_000, threads)["answer_checksum"] for threads in (1, 2))
        check(f"{kind}: the same answers on two threads", one == two)
    print(f"{len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
