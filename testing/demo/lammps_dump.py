# SPDX-License-Identifier: BSD-3-Clause
"""Reads LAMMPS text dumps (dump custom, dump_modify time yes) into NumPy arrays of exact types."""

import numpy as np

# The type of each dump column. Other columns are float64.
COLUMN_TYPES = {
    "id": np.int64,
    "type": np.uint8,
    "proc": np.int16,
    "radius": np.float32,
    "c_contacts": np.int32,
    "omegax": np.float32,
    "omegay": np.float32,
    "omegaz": np.float32,
}

# Columns that form one attribute: its name, and its columns.
ATTRIBUTES = [
    ("id", ["id"]),
    ("layer", ["type"]),
    ("radius", ["radius"]),
    ("velocity", ["vx", "vy", "vz"]),
    ("omega", ["omegax", "omegay", "omegaz"]),
    ("force", ["fx", "fy", "fz"]),
    ("contacts", ["c_contacts"]),
    ("owner", ["proc"]),
]


class Dump:
    """One step: `time`, `step`, `positions` (n, 3) float64, `attributes` by name, in file order."""

    def __init__(self, path):
        header, names = self._read_header(path)
        self.step = int(header["TIMESTEP"])
        self.time = float(header["TIME"])
        self.count = int(header["NUMBER OF ATOMS"])

        types = np.dtype([(name, COLUMN_TYPES.get(name, np.float64)) for name in names])
        rows = np.loadtxt(path, dtype=types, skiprows=self._header_lines, comments=None, ndmin=1)
        if len(rows) != self.count:
            raise ValueError(f"{path}: {len(rows)} rows, but its header says {self.count}")

        self.positions = self._columns(rows, ["xu", "yu", "zu"])
        self.attributes = {name: self._columns(rows, columns) for name, columns in ATTRIBUTES
                           if set(columns) <= set(names)}

    def _read_header(self, path):
        """The lines up to ITEM: ATOMS, as (first value by item, names of the columns)."""
        header = {}
        with open(path, encoding="ascii") as file:
            for number, line in enumerate(file, start=1):
                if line.startswith("ITEM: ATOMS"):
                    self._header_lines = number
                    return header, line.split()[2:]
                if line.startswith("ITEM: "):
                    item = line[len("ITEM: "):].strip()
                else:
                    header.setdefault(item, line.strip())
        raise ValueError(f"{path}: no 'ITEM: ATOMS' line; is it a LAMMPS text dump?")

    @staticmethod
    def _columns(rows, names):
        if len(names) == 1:
            return np.ascontiguousarray(rows[names[0]])
        return np.stack([rows[name] for name in names], axis=1)
