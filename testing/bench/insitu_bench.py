# SPDX-License-Identifier: BSD-3-Clause
"""Measures the cost of a simulation step written as .bat, as LAMMPS's own dumps, and by ParaView in
situ.

    python3 testing/bench/insitu_bench.py [--ranks 1,2,4] [--cells 50] [--steps 10] [--json FILE] [--out DIR]

Runs insitu_doors.py on each number of ranks: all ways of writing in one run, alternately, on the same
atoms; then bat and vtp alone, for their startup cost. Prints a table; times are medians in seconds.
Debian's ParaView, which writes vtp, is compiled without optimisation.
"""

import argparse
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

DOORS = ["bat", "unflushed", "binary", "short", "text", "vtp"]
HERE = pathlib.Path(__file__).parent


def run(options, ranks, doors, folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    command = ["mpirun", "-np", str(ranks), sys.executable, HERE / "insitu_doors.py", "--cells",
               str(options.cells), "--steps", str(options.steps), "--every", str(options.every),
               "--doors", ",".join(doors), "--out", folder]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith('{"ranks"')]
    shutil.rmtree(folder)
    if not lines:
        raise SystemExit(f"{command} failed:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return json.loads(lines[0])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ranks", default="1,2,4")
    parser.add_argument("--cells", type=int, default=50)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--every", type=int, default=10)
    parser.add_argument("--doors", default=",".join(DOORS))
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    doors = options.doors.split(",")
    root = pathlib.Path(tempfile.mkdtemp(prefix="bat_insitu_", dir=options.out))
    results = []
    for ranks in map(int, options.ranks.split(",")):
        result = run(options, ranks, doors, root / "all")
        alone = {name: run(options, ranks, [name], root / name)
                 for name in ("bat", "vtp") if name in doors}
        result["alone"] = {name: {"start_seconds": r["doors"][name]["start_seconds"],
                                  "start_mib": r["doors"][name]["start_mib"],
                                  "steps_mib": r["steps_mib"]} for name, r in alone.items()}
        results.append(result)
        show(result)
    shutil.rmtree(root, ignore_errors=True)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1), encoding="utf-8")


def show(result):
    print(f"\n{result['ranks']} ranks, {result['atoms']} atoms, checksum "
          f"{result.get('checksum', '-')}; {statistics.median(result['run_seconds']):.2f} s of simulation "
          "between two steps")
    print(f"{'':9} {'step s':>8} {'/ bat':>7} {'MB':>8} {'start s':>8} {'start MiB':>10} {'steps MiB':>10}")
    bat = statistics.median(result["doors"].get("bat", {"seconds": [float("nan")]})["seconds"])
    for name, door in result["doors"].items():
        seconds = statistics.median(door["seconds"])
        alone = result["alone"].get(name)
        start = (f"{alone['start_seconds']:8.2f} {alone['start_mib']:10.0f} {alone['steps_mib']:10.0f}"
                 if alone else "")
        print(f"{name:9} {seconds:8.3f} {seconds / bat:7.2f} {door['bytes_per_step'] / 1e6:8.1f} {start}",
              flush=True)


if __name__ == "__main__":
    main()
