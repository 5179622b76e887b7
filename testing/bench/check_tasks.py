#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that bat_tasks accounts for the whole build, and that builds are divided into many tasks. Only uses ratios
within one process.

Usage: check_tasks.py BAT_TASKS
"""

import json
import subprocess
import sys

# For a million particles; several times as many are usual.
MIN_PARALLELISM = 4.0
LOOPS = ("morton_order.cpp", "spatial_order.cpp", "encoder.cpp", "checksum.cpp")


def main(argv):
    """Runs the checks."""
    program, = argv
    found = json.loads(subprocess.run([program, "--particles", "1000000", "--kind", "clustered"], check=True,
                                      stdout=subprocess.PIPE).stdout)
    for name in ("build", "read", "box", "range_of_temperature", "range_of_noise"):
        times = found[name]
        speedups = list(times["max_speedup"].values())
        assert abs(times["alone_ms"] + sum(loop["work_ms"] for loop in times["loops"]) - times["ms"]) < 1e-6 * times["ms"], name
        assert all(loop["critical_path_ms"] <= loop["work_ms"] * (1 + 1e-9) for loop in times["loops"]), name
        assert speedups == sorted(speedups) and abs(speedups[0] - 1) < 1e-9 and speedups[-1] <= times["parallelism"] * (1 + 1e-9), name
        assert all(speedup <= cores * (1 + 1e-9) for cores, speedup in zip(map(int, times["max_speedup"]), speedups)), name
    loops = {loop["loop"].split(":")[0] for loop in found["build"]["loops"]}
    missing = [name for name in LOOPS if name not in loops]
    assert not missing, "no loops were noted in %s" % missing
    assert found["build"]["parallelism"] >= MIN_PARALLELISM, json.dumps(found["build"], indent=2)
    print("a build of a million particles could use %.1f cores" % found["build"]["parallelism"])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
