# SPDX-License-Identifier: BSD-3-Clause
"""Kills a rank of a collective grid write, in each phase and before each rename. mpirun must end, the dataset must be
the complete old or new one, and the next write must leave nothing but its own files. A step that is replaced among
others is the old one, the new one, or absent; the others are unchanged.

Usage: check_killed_ranks.py MPIEXEC WRITER
"""

import itertools
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "spec_reader"))
import idx_spec

RANKS = 3
values = itertools.count(1)


def write(path, step, *fault, route="flat"):
    """(value, whether the program ended by itself). Step 0 is the whole dataset."""
    value = next(values)
    done = subprocess.run([sys.argv[1], "--oversubscribe", "-np", str(RANKS), sys.argv[2], path, str(value), route, *map(str, (step, *fault))],
                          capture_output=True, text=True, timeout=100, check=False)
    return value, done.returncode == 0


def values_of(path):
    """Returns the value of all samples for each step."""
    dataset, values = idx_spec.Dataset(path), {}
    for step in dataset.steps():
        found = set(np.unique(dataset.read("p", step, dataset.levels, dataset.box)).tolist())
        assert len(found) == 1, f"samples of {sorted(found)} are mixed"
        values[step] = found.pop()
    return values


def files_below(folder):
    """Their names, except that of the shape's folder, of which there are two."""
    return sorted(re.sub("/[0-9a-f]{8}", "/SHAPE", str(path.relative_to(folder))) for path in folder.rglob("*"))


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        path = folder / "n.idx"
        now, ended = write(path, 0)
        assert ended and values_of(path) == {0: now}
        clean = files_below(folder)
        came, new = 0, 0
        for i, fault in enumerate([("--progress", 0, 1), ("--progress", 1, 99), ("--rename", 1), ("--rename", 2)]):
            value, ended = write(path, 0, *fault, route="leaders" if i % 2 else "flat")
            found = values_of(path)
            assert found in ([{0: value}] if ended else [{0: now}, {0: value}]), (fault, found, now, value)
            came += not ended
            new += not ended and found == {0: value}
            now = found[0]
        later, _ = write(path, 1)
        gone = 0
        for i, fault in enumerate([("--progress", RANKS - 1, 2), ("--rename", 1), ("--rename", 2), ("--rename", 3)]):
            value, ended = write(path, 1, *fault, route="flat" if i % 2 else "leaders")
            found = values_of(path)
            allowed = [{0: now, 1: value}] if ended else [{0: now, 1: later}, {0: now, 1: value}, {0: now}]
            assert found in allowed, (fault, found, now, later, value)
            came += not ended
            gone += found == {0: now}
            later, _ = write(path, 1) if found == {0: now} else (found[1], True)
        assert came >= 7 and gone == 2, f"only {came} faults came, of which {gone} while the step was not there"
        now, ended = write(path, 0)
        assert ended and values_of(path) == {0: now}
        assert files_below(folder) == clean, set(files_below(folder)) ^ set(clean)
        print(f"{came} faults came; {new} times the new dataset was there, {gone} times the step was not")


if __name__ == "__main__":
    main()
