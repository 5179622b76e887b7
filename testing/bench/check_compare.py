# SPDX-License-Identifier: BSD-3-Clause
"""Runs compare.py on few particles and checks results that do not depend on time.

Usage: check_compare.py BUILD FOLDER

Only runs systems that need no virtual environment; one that cannot be installed must be reported.
"""

import importlib.util
import json
import os
import shutil
import subprocess
import sys

import numpy as np

import compare
import compare_rows
import compare_table

HERE = os.path.dirname(os.path.abspath(__file__))
failures = []


def check(what, good):
    print(("ok      " if good else "WRONG   ") + what)
    if not good:
        failures.append(what)


def run(build, folder, *arguments):
    # pip finds nothing, so systems that need an environment are missing.
    return subprocess.run([sys.executable, os.path.join(HERE, "compare.py"), "--build", build, "--folder", folder,
                           "--particles", "20000", "--repeat", "2", *arguments],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env={**os.environ, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "", "PIP_CONFIG_FILE": os.devnull})


def check_other_results(folder):
    """Rows made from the output of parallel_bench.py and reader_bench.py."""
    samples = [{"bat_write": 0.3, "raw_write": 0.1}, {"bat_write": 0.2, "raw_write": 0.1},
               {"bat_write": 0.1, "raw_write": 0.1}]
    parallel = {"ranks": 4, "kind": "boiler", "particles": 1000, "bytes_per_particle": 68,
                "variants": [{"samples": samples}]}
    (one,) = compare_rows.sets_of(json.dumps(parallel, indent=1))
    row = one["rows"]["parallel_write"]
    check("a parallel write is twice as slow as raw files and reaches the bar",
          abs(row["ratio"]["median"] - 2) < 1e-9 and row["must_ratio"] == 2)
    (alone,) = compare_rows.sets_of(json.dumps({**parallel, "ranks": 1}))
    check("one rank has no bar", alone["rows"]["parallel_write"]["reached"] is None)
    reader = [{"file": f"/a/{name}.bat", "particles": 5, "of": 100, "read": seconds}
              for name, seconds in (("some", 0.5), ("all", 3.0), ("some", 0.7))]
    some, other = compare_rows.sets_of("\n".join(map(json.dumps, reader)))
    check("two reads of one file, one of the other",
          some["rows"]["apply"]["ours"]["samples"] == [0.5, 0.7] and other["rows"]["apply"]["ours"]["samples"] == [3.0])
    check("one is fast enough", some["rows"]["apply"]["reached"] is True and other["rows"]["apply"]["reached"] is False)
    check("the table has them", "1,000 particles of 68 bytes on 4 ranks" in compare_table.table([one])
          and "**no**" in compare_table.table([other]))
    names = [os.path.join(folder, name) for name in ("parallel.json", "reader.json", "none.json")]
    for name, text in zip(names, (json.dumps(parallel), "\n".join(map(json.dumps, reader)), "{}")):
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)
    if importlib.util.find_spec("matplotlib"):
        program = os.path.join(HERE, "plot_compare.py")
        plotted = subprocess.run([sys.executable, program, "--folder", folder, *names[:2]], check=False)
        check("pictures of both", plotted.returncode == 0 and all(
            os.path.exists(os.path.join(folder, name)) for name in ("parallel_write.png", "apply.png", "table.md")))
        other = subprocess.run([sys.executable, program, "--folder", folder, names[2]], capture_output=True, text=True,
                               check=False)
        check(f"something else is refused by name: {other.stderr.strip()}",
              other.returncode == 1 and "none.json" in other.stderr)


def main():
    build, folder = (os.path.abspath(word) for word in sys.argv[1:])
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    without_ids = os.path.join(folder, "noids.npz")
    random = np.random.default_rng(1)
    np.savez(without_ids, pos=random.random((3000, 3)), a=random.random(3000), v=random.random((3000, 3)))
    done = run(build, folder, "--kind", "clustered", f"npz:{without_ids}", "--systems", "bat", "bat_indexed",
               "bat_lossless", "raw", "hdf5", "duckdb")
    check(f"compare.py ends with status {done.returncode}: {done.stderr.strip().splitlines()[-1:]}", done.returncode == 0)
    if done.returncode:
        return 1
    with open(os.path.join(folder, "compare.json"), encoding="utf-8") as file:
        clustered, own = json.load(file)["sets"]
    for one, rows in ((clustered, 19), (own, 17)):
        check(f"{one['kind']}: {len(one['rows'])} rows, expected {rows}", len(one["rows"]) == rows)
        systems = one["systems"]
        check(f"{one['kind']}: HDF5 is missing, with a reason", systems["hdf5"].get("missing", "") != "")
        check(f"{one['kind']}: DuckDB is missing, with a reason", "Parquet" in systems["duckdb"].get("missing", ""))
        check(f"{one['kind']}: raw arrays do all that BAT does",
              systems["raw"]["operations"].keys() == systems["bat"]["operations"].keys())
        sizes = [systems[name]["operations"]["write"]["bytes"] for name in ("bat_lossless", "bat")]
        check(f"{one['kind']}: {sizes[0]} bytes with compression, {sizes[1]} without", sizes[0] < sizes[1])
        check(f"{one['kind']}: two repetitions of each",
              all(len(of["seconds"]["samples"]) == 2 for of in systems["raw"]["operations"].values()))
    check("no ids, no questions for them", "ids" in clustered["answers"] and "ids" not in own["answers"])
    check("101 ids were found", clustered["answers"]["ids"]["rows"] == 101)
    check("1 % was found", clustered["answers"]["correlated"]["rows"] == 200)
    with open(os.path.join(folder, "table.md"), encoding="utf-8") as file:
        check("the table says what is missing", file.read().count("missing: ") == 5)
    if importlib.util.find_spec("matplotlib"):
        for name in ("build", "threads", "read_full", "progressive", "box", "correlated", "uncorrelated", "ids",
                     "id_range", "index", "write"):
            path = os.path.join(folder, name + ".png")
            check(f"{name}.png", os.path.exists(path) and os.path.getsize(path) > 5000)
    check_other_results(folder)
    wrong = {**clustered["answers"]["correlated"], "ids": "1"}
    try:
        compare.check_answer("clustered", "correlated", "raw", wrong, clustered["answers"]["correlated"])
        check("another answer ends the run", False)
    except compare.CompareError as error:
        check(f"another answer ends the run: {error}", "raw arrays" in str(error) and "correlated" in str(error))
    shutil.rmtree(folder)
    print(f"{len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
