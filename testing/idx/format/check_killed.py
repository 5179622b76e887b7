# SPDX-License-Identifier: BSD-3-Clause
"""Kills a program that replaces a step of a dataset, again and again: what is there is the old step or the new one, whole.

Usage: check_killed.py WRITE_GRID [RUNS]
"""

import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "spec_reader"))
import idx_spec


def main():
    program, runs, dice = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 15, random.Random(11)
    with tempfile.TemporaryDirectory() as folder:
        path, dims = pathlib.Path(folder) / "n.idx", (40, 40, 40)

        def command(value):
            raw = pathlib.Path(folder) / f"{value}.raw"
            if not raw.exists():
                np.full(np.prod(dims), value, np.float32).tofile(raw)
            return [program, path, *map(str, dims), "raw", "row", "9", "7", f"p:float32:1:{raw}"]

        begin = time.monotonic()
        subprocess.run(command(1), check=True)
        usual, now, killed = time.monotonic() - begin, 1, 0
        for run in range(runs):
            writer = subprocess.Popen(command(run + 2))
            time.sleep(dice.uniform(0, 1.2 * usual))
            writer.kill()
            ended = writer.wait() == 0
            killed += not ended
            dataset = idx_spec.Dataset(path)
            found = set(np.unique(dataset.read("p", 7, dataset.levels, dataset.box)).tolist())
            allowed = [{run + 2}] if ended else [{now}, {run + 2}]
            if found not in allowed:
                print(f"run {run}: {sorted(found)[:5]} are there, not {now} or {run + 2} alone")
                return 1
            now = found.pop()
        subprocess.run(command(999), check=True)
        left = [name for _, folders, files in os.walk(folder) for name in folders + files if name.endswith(".tmp")]
        if left:
            print(f"left over: {left}")
            return 1
        print(f"{killed} of {runs} killed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
