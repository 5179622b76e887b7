# SPDX-License-Identifier: BSD-3-Clause
"""Runs bat_plan on small cases and checks its JSON.

Usage: check_bat_plan.py BAT_PLAN
"""

import json
import os
import subprocess
import sys
import tempfile

KEYS = {
    "ranks": int, "kind": str, "mode": str, "particles": int, "target_bytes": int,
    "leaf_files": int, "mean_bytes": float, "stddev_bytes": float, "largest_bytes": float,
    "max_over_mean": float, "seconds": float, "seconds_summarise": float, "peak_bytes": int,
    "estimate_error_max": float, "whole_ranks": int,
}

failures = []


def check(what, good):
    print(("ok      " if good else "WRONG   ") + what)
    if not good:
        failures.append(what)


def run(*arguments):
    command = [sys.argv[1], "--json", "-", *arguments]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main():
    for kind in ("boiler", "dam", "uniform"):
        for mode in ("adaptive", "rank-border", "aug"):
            name = f"{kind} {mode}"
            f = run("--ranks", "300", "--kind", kind, "--mode", mode, "--target-size", "800kB",
                    "--particles", "300000", "--sizes")
            for key, kind_of_value in KEYS.items():
                check(f"{name}: {key}", isinstance(f.get(key), kind_of_value))
            check(f"{name}: sizes add up", sum(f["sizes"]) == 300000 * 68)
            check(f"{name}: a size per file", len(f["sizes"]) == f["leaf_files"])
            check(f"{name}: target {f['target_bytes']}", f["target_bytes"] == 800000)
            check(f"{name}: {f['whole_ranks']} ranks go whole", 0 < f["whole_ranks"] <= 300)
            if mode == "adaptive":
                check(f"{name}: largest {f['max_over_mean']:.3f} of the mean, at most 1.15",
                      f["max_over_mean"] <= 1.15)
    check("one thread plans the same", run("--particles", "100000", "--threads", "1", "--sizes")["sizes"]
          == run("--particles", "100000", "--threads", "2", "--sizes")["sizes"])
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/plan.json"
        line = subprocess.run([sys.argv[1], "--particles", "10000", "--target-size", "auto", "--json", path],
                              check=True, capture_output=True, text=True).stdout
        check("a line for people", "leaf files" in line)
        with open(path) as file:
            check("JSON in a file", json.load(file)["particles"] == 10000)
        points = f"{folder}/points.f4"
        begins = run("--particles", "10000", "--ranks", "7", "--points", points)["rank_begins"]
        check("a file of 10000 positions", os.path.getsize(points) == 10000 * 12)
        check("where each rank's begin, and the end", len(begins) == 8 and begins == sorted(begins)
              and (begins[0], begins[-1]) == (0, 10000))
    nowhere = subprocess.run([sys.argv[1], "--particles", "1000", "--points", "/nowhere/points.f4"],
                             capture_output=True, text=True)
    check("positions that cannot be written are an error",
          nowhere.returncode != 0 and "/nowhere/points.f4" in nowhere.stderr)
    wrong = subprocess.run([sys.argv[1], "--target-size", "8 parsecs"], capture_output=True, text=True)
    check("a wrong size is refused", wrong.returncode != 0 and wrong.stderr != "")
    print(f"{len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
