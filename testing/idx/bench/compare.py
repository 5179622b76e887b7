# SPDX-License-Identifier: BSD-3-Clause
"""Processor time of reads beside OpenVisus, on the same files, in turn.

Usage: compare.py IDX_TIME [--size N] [--repeats R] [--folder F]
In a Python that has OpenVisus (pip install OpenVisusNoGui). One thread each; milliseconds, medians; page cache warm.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time


def openvisus_reads(path, repeats):
    """Runs in a process of its own: OpenVisus prints a lot."""
    os.environ["VISUS_DISABLE_WRITE_LOCK"] = "1"
    import OpenVisus
    db = OpenVisus.LoadDataset(str(path))
    n, most = db.getLogicBox()[1][0], db.getMaxResolution()
    q, m = n // 4, n // 2 + 1
    reads = {"full": {}, "level M-3": {"max_resolution": most - 3}, "level M-6": {"max_resolution": most - 6},
             "level M-9": {"max_resolution": most - 9}, "box": {"x": [q + 3, 2 * q + 3], "y": [q + 5, 2 * q + 5], "z": [q + 7, 2 * q + 7]},
             "slice z": {"z": [m, m + 1]}, "slice x": {"x": [m, m + 1]}}
    for name, options in reads.items():
        times = []
        for _ in range(repeats):
            begin = time.process_time()
            db.read(field="p", **options)
            times.append(1e3 * (time.process_time() - begin))
        print(f"RESULT:{name}:{statistics.median(times)}")


def results(command):
    lines = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True).stdout.splitlines()
    return {words[-2 if line.startswith("RESULT") else 0]: words for line in lines if len(words := line.split(":")) == 3}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--size", type=int, default=256)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--folder")
    parser.add_argument("--openvisus")
    arguments = parser.parse_args()
    if arguments.openvisus:
        openvisus_reads(arguments.openvisus, arguments.repeats)
        return
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        for codec, layout in (("raw", "row"), ("raw", "hz"), ("zip", "row")):
            path = pathlib.Path(folder) / f"{codec}_{layout}.idx"
            written = results([arguments.program, "write", path, arguments.size, codec, layout, 1])["write"]
            print(f"{codec} {layout}: written in {written[1]} ms")
            ours = results([arguments.program, "read", path, 1, arguments.repeats])
            theirs = results([sys.executable, __file__, arguments.program, "--repeats", arguments.repeats, "--openvisus", path])
            for name, words in ours.items():
                a, b = float(words[1]), float(theirs[name][2])
                print(f"  {name:10} {a:9.2f} ms  OpenVisus {b:9.2f} ms  ratio {a / b:5.2f}  {int(words[2]):>10} bytes read", flush=True)


if __name__ == "__main__":
    main()
