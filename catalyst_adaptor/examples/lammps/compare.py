# SPDX-License-Identifier: BSD-3-Clause
"""Compares a series with the dumps that LAMMPS wrote next to it: every atom, every bit.

    python3 compare.py FOLDER        FOLDER/collision.bat.series and FOLDER/collision.*.dump
"""

import json
import pathlib
import sys

import parabat
import numpy as np


def read_dump(path):
    """Step, and columns by name, in order of id."""
    with open(path, encoding="ascii") as file:
        lines = [file.readline() for _ in range(9)]
        names = lines[8].split()[2:]
        columns = np.loadtxt(file, ndmin=2)
    columns = columns[np.argsort(columns[:, names.index("id")])]
    return int(lines[1]), {name: columns[:, i] for i, name in enumerate(names)}


def compare(folder):
    series = json.loads((folder / "collision.bat.series").read_text(encoding="utf-8"))["files"]
    dumps = sorted(folder.glob("collision.*.dump"))
    if len(series) != len(dumps) or not dumps:
        raise SystemExit(f"{len(series)} files in the series, {len(dumps)} dumps")
    for entry, path in zip(series, dumps):
        step, columns = read_dump(path)
        with parabat.Dataset(folder / entry["name"]) as dataset:
            if dataset.step != step or dataset.time != entry["time"]:
                raise SystemExit(f"{entry}: step {dataset.step}, time {dataset.time}; {path}: {step}")
            atoms = dataset.read()
        order = np.argsort(atoms["id"])
        for name, values in (("id", atoms["id"]), ("type", atoms["type"]),
                             ("c_energy", atoms["c_energy"]),
                             *zip("xyz", atoms.positions.T),
                             *zip(("vx", "vy", "vz"), atoms["v"].T)):
            if not np.array_equal(values[order].astype(np.float64), columns[name]):
                raise SystemExit(f"{entry['name']} and {path} differ in {name}")
        print(f"{entry['name']}: {atoms.count} atoms as in {path.name}, bit by bit")


if __name__ == "__main__":
    compare(pathlib.Path(sys.argv[1]))
