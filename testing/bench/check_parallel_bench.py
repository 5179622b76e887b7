# SPDX-License-Identifier: BSD-3-Clause
"""Runs parallel_bench.py and plot_bench.py on few particles and checks results that do not depend on
time.

Usage: check_parallel_bench.py MPIEXEC PVBATCH FOLDER
"""

import glob
import importlib.util
import json
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
RANKS = 2
PARTICLES = 20_000
KEYS = {
    "write_over_raw": float, "read_over_raw": float, "write_over_raw_unflushed": float, "ranks": int,
    "particles": int, "bytes_per_particle": int, "answer_checksum": str, "seconds": dict, "gb_per_s": dict,
    "phases": dict, "leaf_file_bytes": list, "variants": list, "direct": dict, "vtk": dict,
}

failures = []


def check(what, good):
    print(("ok      " if good else "WRONG   ") + what)
    if not good:
        failures.append(what)


def bench(*options, ranks=RANKS):
    return subprocess.run(
        [sys.argv[1], "-np", str(ranks), sys.argv[2], os.path.join(HERE, "parallel_bench.py"), *options],
        capture_output=True, text=True)


def check_kind(folder, name, *options):
    path = os.path.join(folder, name + ".json")
    done = bench("--json", path, "--folder", folder, "--particles", str(PARTICLES), "--repeat", "1", *options)
    check(f"{name}: runs", done.returncode == 0)
    if done.returncode:
        print(done.stdout, done.stderr)
        return
    with open(path, encoding="utf-8") as file:
        figures = json.load(file)
    for key, kind in KEYS.items():
        check(f"{name}: {key}", isinstance(figures.get(key), kind))
    check(f"{name}: ranks", figures["ranks"] == RANKS)
    check(f"{name}: particles", figures["particles"] == PARTICLES)
    check(f"{name}: checksum", len(figures["answer_checksum"]) == 16)
    for variant in figures["variants"]:
        words = f"{name} {variant['mode']} {variant['target_size_mib']}"
        sizes = variant["leaf_file_bytes"]
        check(f"{words}: a size of each leaf file", len(sizes) == variant["leaf_files"])
        check(f"{words}: files are larger than data", sum(sizes) >= PARTICLES * figures["bytes_per_particle"])
        check(f"{words}: seconds", all(value > 0 for value in variant["seconds"].values()))
    for part in ("direct", "vtk"):
        check(f"{name}: {part} is there or says why not", ("write_over_raw" in figures[part]
                                                             or len(figures[part].get("missing", "")) > 0))


def main():
    folder = sys.argv[3]
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    check_kind(folder, "boiler", "--mode", "adaptive", "aug", "--target-size", "0.2")
    check_kind(folder, "clustered", "--kind", "clustered", "--attributes", "14", "--deal", "rows", "--cold",
               "--target-size", "0.2", "auto")
    check("nothing is left behind", not glob.glob(os.path.join(folder, "bat_bench_*")))
    wrong = bench("--json", os.path.join(folder, "wrong.json"), "--kind", "npz:nothing.npz", ranks=1)
    check("a wrong kind is refused", wrong.returncode != 0 and "nothing.npz" in wrong.stderr)
    if importlib.util.find_spec("matplotlib"):
        names = [os.path.join(folder, name + ".json") for name in ("boiler", "clustered")]
        subprocess.run([sys.executable, os.path.join(HERE, "plot_bench.py"), "--folder", folder, *names], check=True)
        for name in ("bandwidth.png", "phases.png", "sizes.png", "table.md"):
            check(f"plot_bench.py: {name}", os.path.getsize(os.path.join(folder, name)) > 0)
    else:
        print("plot_bench.py is not run: there is no matplotlib")
    print(f"{len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
