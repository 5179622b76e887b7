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


def write(folder, first, last, run, *fault):
    """Whether the program ended by itself."""
    done = subprocess.run([sys.argv[1], "--oversubscribe", "-np", str(RANKS), sys.argv[2], folder, *map(str, (first, last, run, *fault))],
                          capture_output=True, text=True, timeout=100, check=False)
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


def check(faults, before, step):
    """Kills runs that write `step` into a series of as many steps as `before`, which may have it and later ones."""
    came = 0
    with tempfile.TemporaryDirectory() as name:
        first = pathlib.Path(name) / "first"
        first.mkdir()
        assert write(first, 0, before - 1, 1)
        clean, kept = dict.fromkeys(range(before), 1), dict.fromkeys(range(step), 1)
        assert levels(first) == clean
        for number, fault in enumerate(faults):
            folder = pathlib.Path(name) / str(number)
            shutil.copytree(first, folder)
            ended = write(folder, step, step, 2, *fault)
            came += not ended
            found, new = levels(folder), {**kept, step: 2}
            assert found in ([new] if ended else [clean, kept, new]), (fault, found)
            # The next run, which also comes back to the step.
            assert write(folder, step, step + 1, 3)
            assert levels(folder) == {**kept, step: 3, step + 1: 3}, (fault, levels(folder))
            # What a run had written later that died while it came back is named by nobody.
            left = {path.name for path in folder.iterdir()} - {f"flow_{s}.bricks" for s in range(step + 2)}
            assert left - {f"flow_{s}.bricks" for s in range(before)} == {"flow.bricks.series"}, left
    return came


def main():
    # Of a new step, the renames are 1: the file, 2: the list.
    came = check([("--progress", RANKS - 1, 1), ("--progress", 0, 2), ("--progress", 1, 2), ("--rename", 1), ("--rename", 2)], 2, 2)
    # 1: the list without what comes, 2: the file, 3: the list, 4 and 5: what the run before had later.
    came += check([("--progress", 1, 2), *(("--rename", n) for n in range(1, 6))], 4, 1)
    # 1: there is no list, 2: the file, 3: the list.
    came += check([("--rename", 2), ("--rename", 3)], 3, 0)
    assert came == 13, came
    print(f"{came} faults came")


if __name__ == "__main__":
    main()
