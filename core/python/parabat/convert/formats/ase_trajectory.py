# SPDX-License-Identifier: BSD-3-Clause
"""Trajectories of the Atomic Simulation Environment (.traj), read by ase: all arrays of the atoms, and the per-atom results
of calculators.

The format has no fields for times and steps; `time` and `step` in the dictionary `info` are used. `index` is the index of an
atom in the file.
"""

import math

import numpy as np

from .. import cells
from ..model import Collector, ConvertError, Format, Step, codes_of

MAGIC = b"- of UlmASE-Trajectory"
UNITS = {"positions": "angstrom", "momenta": "sqrt(amu eV)", "forces": "eV/angstrom", "initial_charges": "e", "masses": "amu"}


def steps(path, options):
    from ase.io.trajectory import Trajectory  # pylint: disable=import-outside-toplevel
    try:
        trajectory = Trajectory(path, "r")
    except Exception as error:  # of several types  pylint: disable=broad-except
        raise ConvertError(f"ase cannot read it: {_line(error)}") from None
    with trajectory:
        for i in range(len(trajectory)):
            try:
                atoms = trajectory[i]
            except Exception as error:  # pylint: disable=broad-except
                raise ConvertError(f"frame {i}: ase cannot read it: {_line(error)}") from None
            yield Step(lambda atoms=atoms: [_read(atoms, options)], _number(atoms.info.get("step")),
                       _real(atoms.info.get("time")))


def _line(error):
    return " ".join(str(error).split())[:300] or type(error).__name__


def _number(value):
    is_number = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    return int(value) if is_number and abs(int(value)) < 2 ** 63 else None


def _real(value):
    is_number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    return float(value) if is_number and math.isfinite(value) else None


def _read(atoms, options):
    collector = Collector(options, len(atoms))
    collector.add("index", np.arange(len(atoms), dtype=np.int64))
    texts, units, results = {}, {"positions": UNITS["positions"]}, {}
    arrays = {name: values for name, values in atoms.arrays.items() if name != "positions"}
    for name, value in (getattr(atoms.calc, "results", None) or {}).items():
        value = np.asarray(value)
        if value.ndim and len(value) == len(atoms) and name not in ("stress", "dipole", "magmom"):
            arrays.setdefault(name, value)
        else:
            results[name] = value
    for name, values in arrays.items():
        if not collector.wants(name):
            continue
        if values.dtype.kind in "SU":
            values, texts[name] = codes_of(values)
            collector.remarks.append((f"texts {name}", f"'{name}' is converted to numbers; the metadata contains their texts"))
        collector.add(name, values)
        if name in UNITS:
            units[name] = UNITS[name]
    cell, periodic = np.asarray(atoms.cell), np.asarray(atoms.pbc, bool)
    about = {"ase": {"cell": cell, "pbc": periodic.tolist(), "info": dict(atoms.info), "results": results, "texts": texts},
             "units": units}
    if np.count_nonzero(cell) == np.count_nonzero(np.diag(cell)):
        about.update(cells.periodic_box(np.where(periodic, np.diag(cell), 0.0)))
    return collector.particles(np.array(atoms.positions), about)


FORMAT = Format("ase", "ASE .traj", steps, extensions=(".traj",), modules=(("ase", "ase", "md"),),
                sniff=lambda head, path: head.startswith(MAGIC))
