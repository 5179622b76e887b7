# SPDX-License-Identifier: BSD-3-Clause
"""Kills a rank of a collective write that adds a step to a series of bricks, in each phase and before each rename and removal:
mpirun ends, the list names whole files of one run with times that increase, the steps before are as they were, and the next run
finds nothing in its way. So it is where a run comes back to a step that is there.

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
    """Whether the program ended by itself."""
    launcher = [sys.argv[1], "--oversubscribe", "-np", str(ranks)] if ranks > 1 else []
    how = "together" if ranks > 1 else "alone"
    done = subprocess.run([*launcher, sys.argv[2], how, folder, *map(str, (first, last, run, *fault))], capture_output=True,
                          text=True, timeout=100, check=False)
    return done.returncode == 0


def levels(folder):
    """By step, the run that it is of."""
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
    """Kills a run that writes `step` into a series of as many steps as `steps`, which may have it and later ones."""
    clean, kept = dict.fromkeys(range(steps), 1), dict.fromkeys(range(step), 1)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name) / "run"
        shutil.copytree(first, folder)
        assert levels(folder) == clean
        assert not write(folder, step, step, 2, *fault, ranks=ranks), f"{fault} has not come"
        found = levels(folder)
        assert found in (clean, kept, {**kept, step: 2}), (fault, found)
        # The next run, which also comes back to the step.
        assert write(folder, step, step + 1, 3)
        assert levels(folder) == {**kept, step: 3, step + 1: 3}, (fault, levels(folder))
        # What a run had written later that died while it came back is named by nobody.
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
        # What rank 0 does is the same without others. The file has its name, the list does not have it yet.
        assert check(first, steps, steps, 1, "--rename", 2) == clean
        # 1: the list without what comes, 2: the file, 3: the list, 4: what the run before had later.
        found = [check(first, steps, 1, 1, "--rename", n) for n in range(1, 5)]
        assert found == [clean, {0: 1}, {0: 1}, {0: 1, 1: 2}], found
        # All over again: 1: the list goes, 2: the file, 3: the list.
        found = [check(first, steps, 0, 1, "--rename", n) for n in (2, 3)]
        assert found == [{}, {}], found


if __name__ == "__main__":
    main()
