# SPDX-License-Identifier: BSD-3-Clause
"""Kills a rank of a collective write that adds a step to a series of bricks, in each phase and before each rename and
removal. mpirun must end, the list must name complete files of one run with increasing times, earlier steps must be
unchanged, and nothing may obstruct the next run. The same must hold if a run returns to an existing step.

Usage: check_killed_bricks.py MPIEXEC WRITER
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import bricks_spec

RANKS = 3


def write(folder, first, last, run, *fault, ranks=1):
    """Returns whether the program ended by itself."""
    launcher = [sys.argv[1], "--oversubscribe", "-np", str(ranks)] if ranks > 1 else []
    how = "together" if ranks > 1 else "alone"
    done = subprocess.run([*launcher, sys.argv[2], how, folder, *map(str, (first, last, run, *fault))], capture_output=True,
                          text=True, timeout=100, check=False)
    return done.returncode == 0


def levels(folder):
    """Returns the run that wrote each step."""
    path = folder / "flow.bricks.series"
    if not path.exists():
        return {}
    found, times = {}, []
    for entry in json.loads(path.read_text())["files"]:
        level = bricks_spec.read(folder / entry["name"])
        values = set(np.unique(level["values"]).tolist())
        assert len(values) == 1, f"{entry}: values of {sorted(values)} are mixed"
        assert level["time"] == entry["time"] == 0.5 * level["step"], entry
        found[level["step"]] = int(values.pop())
        times.append(entry["time"])
    assert times == sorted(set(times)), times
    return found


def check(first, steps, step, ranks, *fault):
    """Kills a run that writes `step` into a series with the steps of `steps`, which may include it and later
    ones."""
    clean, kept = dict.fromkeys(range(steps), 1), dict.fromkeys(range(step), 1)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name) / "run"
        shutil.copytree(first, folder)
        assert levels(folder) == clean
        assert not write(folder, step, step, 2, *fault, ranks=ranks), f"{fault} has not come"
        found = levels(folder)
        assert found in (clean, kept, {**kept, step: 2}), (fault, found)
        # The next run, which also returns to the step.
        assert write(folder, step, step + 1, 3)
        assert levels(folder) == {**kept, step: 3, step + 1: 3}, (fault, levels(folder))
        # No list names later steps of a run that died while it returned.
        left = {path.name for path in folder.iterdir()} - {f"flow_{s}.bricks" for s in range(step + 2)}
        assert left - {f"flow_{s}.bricks" for s in range(steps)} == {"flow.bricks.series"}, left
        return found


def main():
    steps = 3
    clean = dict.fromkeys(range(steps), 1)
    with tempfile.TemporaryDirectory() as name:
        first = pathlib.Path(name)
        assert write(first, 0, steps - 1, 1)
        # In the first round of a collective write, in the last one, and before the file has its name.
        for fault in (("--progress", RANKS - 1, 1), ("--progress", 1, 2), ("--rename", 1)):
            assert check(first, steps, steps, RANKS, *fault) == clean
        # What rank 0 does is the same without other ranks. The file has its name, but is not in the list
        # yet.
        assert check(first, steps, steps, 1, "--rename", 2) == clean
        # 1: the list without later steps, 2: the file, 3: the list, 4: later files of the previous
        # run.
        found = [check(first, steps, 1, 1, "--rename", n) for n in range(1, 5)]
        assert found == [clean, {0: 1}, {0: 1}, {0: 1, 1: 2}], found
        # Starting over: 1: the list is removed, 2: the file, 3: the list.
        found = [check(first, steps, 0, 1, "--rename", n) for n in (2, 3)]
        assert found == [{}, {}], found


if __name__ == "__main__":
    main()
