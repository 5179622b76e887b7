# SPDX-License-Identifier: BSD-3-Clause
"""Kills a program that replaces a step of a dataset, again and again. Afterwards the step must be the complete old or
new one. If the dataset has other steps, these must be unchanged, and the step may be absent for a moment.

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
    program, runs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 8
    return replace_again_and_again(program, runs, False) or replace_again_and_again(program, runs, True)


def replace_again_and_again(program, runs, among_others):
    """Step 7, alone or after a step 3."""
    dice = random.Random(11 + among_others)
    with tempfile.TemporaryDirectory() as folder:
        path, dims = pathlib.Path(folder) / "n.idx", (40, 40, 40)

        def command(value, step=7):
            raw = pathlib.Path(folder) / f"{value}.raw"
            if not raw.exists():
                np.full(np.prod(dims), value, np.float32).tofile(raw)
            return [program, path, *map(str, dims), "raw", "row", "9", str(step), f"p:float32:1:{raw}"]

        def value_of(dataset, step):
            found = set(np.unique(dataset.read("p", step, dataset.levels, dataset.box)).tolist())
            assert len(found) == 1, f"step {step} has samples of {sorted(found)[:5]}"
            return found.pop()

        if among_others:
            subprocess.run(command(0, 3), check=True)
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
            steps = dataset.steps()
            if among_others:
                assert steps[0] == 3 and value_of(dataset, 3) == 0, steps
            if among_others and not ended and steps == [3]:
                now = None
                continue
            assert steps == ([3, 7] if among_others else [7]), steps
            found = value_of(dataset, 7)
            if found not in ([run + 2] if ended else [now, run + 2]):
                print(f"run {run}: {found} is there, not {now} or {run + 2}")
                return 1
            now = found
        subprocess.run(command(999), check=True)
        left = [name for _, folders, files in os.walk(folder) for name in folders + files if name.endswith(".tmp")]
        if left:
            print(f"left over: {left}")
            return 1
        print(f"{killed} of {runs} killed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
