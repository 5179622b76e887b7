# SPDX-License-Identifier: BSD-3-Clause
"""Kills a rank of a collective write of a grid, in each phase and before each rename: mpirun ends, the dataset is the old one
or the new one, whole, and the next write leaves nothing but its own files.

Usage: check_killed_ranks.py MPIEXEC WRITER
"""

import itertools
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "spec_reader"))
import idx_spec

RANKS = 3
values = itertools.count(1)


def write(path, *fault, route="flat"):
    """(value, whether the program ended by itself)."""
    value = next(values)
    done = subprocess.run([sys.argv[1], "--oversubscribe", "-np", str(RANKS), sys.argv[2], path, str(value), route, *map(str, fault)],
                          capture_output=True, text=True, timeout=100, check=False)
    return value, done.returncode == 0


def value_of(path):
    """The value that all samples have."""
    dataset = idx_spec.Dataset(path)
    found = set(np.unique(dataset.read("p", 0, dataset.levels, dataset.box)).tolist())
    assert len(found) == 1, f"samples of {sorted(found)} are mixed"
    return found.pop()


def files_below(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        path = folder / "n.idx"
        now, ended = write(path)
        assert ended and value_of(path) == now
        clean = files_below(folder)
        came, new = 0, 0
        faults = [("--progress", 0, 1), ("--progress", RANKS - 1, 2), ("--progress", 1, 99)]
        faults += [("--rename", n) for n in range(1, 6)]
        for i, fault in enumerate(faults):
            value, ended = write(path, *fault, route="leaders" if i % 2 else "flat")
            found = value_of(path)
            assert found in ({value} if ended else {now, value}), (fault, found, now, value)
            came += not ended
            new += not ended and found == value
            now = found
        assert came >= 4, f"only {came} of {len(faults)} faults came"
        now, ended = write(path)
        assert ended and value_of(path) == now
        assert files_below(folder) == clean, set(files_below(folder)) ^ set(clean)
        print(f"{came} of {len(faults)} faults came; {new} times the new dataset was there")


if __name__ == "__main__":
    main()
