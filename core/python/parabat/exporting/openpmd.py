# SPDX-License-Identifier: BSD-3-Clause
"""openPMD 1.1.0 in HDF5: one iteration with one species, named as in the metadata, otherwise "particles"."""

import datetime
import re
from decimal import Decimal

import numpy as np

from ..export import needed
from .source import create_hdf5, hdf5_name, unique_names

STANDARD = "1.1.0"
# unitDimension of attributes with these names: powers of m, kg, s, A, K, mol, cd.
LENGTH = (1, 0, 0, 0, 0, 0, 0)
DIMENSIONS = {"velocity": (1, 0, -1, 0, 0, 0, 0), "v": (1, 0, -1, 0, 0, 0, 0), "mass": (0, 1, 0, 0, 0, 0, 0),
              "charge": (0, 0, 1, 1, 0, 0, 0), "momentum": (1, 1, -1, 0, 0, 0, 0)}
DIMENSIONS.update(velocities=DIMENSIONS["velocity"], masses=DIMENSIONS["mass"])
SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "ps": 1e-12, "fs": 1e-15, "as": 1e-18, "min": 60.0, "h": 3600.0,
           "d": 86400.0}
METRES = {"m": 1.0, "km": 1e3, "cm": 1e-2, "mm": 1e-3, "um": 1e-6, "nm": 1e-9, "angstrom": 1e-10, "Angstrom": 1e-10,
          "A": 1e-10, "pm": 1e-12, "bohr": 5.29177210544e-11,  # CODATA 2022
          "au": 149597870700.0, "pc": 3.0856775814913673e16, "kpc": 3.0856775814913673e19, "Mpc": 3.0856775814913673e22}
OF_VELOCITIES = ("s", "ms", "us", "ns", "ps", "fs", "as")  # without h, since kpc/h is a length
AXES = ("x", "y", "z")


def write_openpmd(source, path):
    h5py = needed("h5py", "export to openPMD")
    about = source.program("openPMD")
    species = str(about.get("species") or source.metadata.get("species") or "particles")
    if source.step is None:
        source.note("the dataset has no step number, which openPMD requires; the iteration is 0")
    if source.time is None:
        source.note("the dataset has no time, which openPMD requires; it is 0")
    source.has_no_place("openPMD", "periodic box")
    source.has_only_codes("openPMD")
    with create_hdf5(h5py, path) as file:
        for name, value in (("openPMD", STANDARD), ("basePath", "/data/%T/"), ("particlesPath", "particles/"),
                            ("iterationEncoding", "groupBased"), ("iterationFormat", "/data/%T/"), ("software", "ParaBAT"),
                            ("date", datetime.datetime.now().astimezone().strftime("%Y-%m-%d %H:%M:%S %z"))):
            file.attrs[name] = np.bytes_(value)
        file.attrs["openPMDextension"] = np.uint32(0)
        iteration = file.create_group(f"data/{source.step or 0}")
        iteration.attrs["time"] = float(source.time or 0)
        iteration.attrs["dt"] = 0.0
        iteration.attrs["timeUnitSI"] = _time_unit(source)
        group = iteration.create_group("particles/" + (re.sub(r"\W", "_", species) or "particles"))
        _write_species(group, source, about)


def _time_unit(source):
    """Returns the time unit in seconds; times of converted openPMD files are in seconds."""
    unit = source.units.get("time")
    if unit is None and source.time is not None:
        source.note("the time unit is unknown; timeUnitSI is 1")
    if unit is not None and unit not in SECONDS:
        source.note(f"the time unit '{unit}' is not known as a multiple of a second; timeUnitSI is 1")
    return SECONDS.get(unit, 1.0)


def _write_species(group, source, about):
    factors = about.get("unitSI") if isinstance(about.get("unitSI"), dict) else {}
    unit = source.units.get("positions", source.units.get("position"))
    if unit is not None and unit not in METRES and "position" not in factors:
        source.note(f"the length unit '{unit}' is not known as a multiple of a metre; unitSI is 1")
    factor = float(factors.get("position", METRES.get(unit, 1.0)))
    _record(group, "position", source.positions, LENGTH, factor)
    offset = group.create_group("positionOffset")
    _describe(offset, LENGTH)
    for axis in AXES:
        component = offset.create_group(axis)
        component.attrs["value"] = 0.0
        component.attrs["shape"] = np.array([source.count], np.uint64)
        component.attrs["unitSI"] = factor
    unknown = ["positions"] if unit is None and "position" not in factors else []
    for written, name in unique_names(source, hdf5_name, taken=("position", "positionOffset")):
        unit, dimension = source.units.get(name), DIMENSIONS.get(name, (0,) * 7)
        factor, dimension = (factors[name], dimension) if name in factors else _of_unit(unit, dimension)
        if factor is None and isinstance(unit, str):
            source.note(f"the unit '{unit}' of '{name}' is not converted: unitSI is 1")
        elif factor is None and any(dimension):
            unknown.append(name)
        _record(group, written, source.attributes[name], dimension, 1.0 if factor is None else float(factor))
    if unknown:
        source.note(f"units unknown; unitSI is 1: {', '.join(unknown)}")


def _of_unit(unit, dimension):
    """Returns (unitSI, dimension) for a unit that is a length divided by a time, otherwise (None, dimension)."""
    length, slash, time = unit.partition("/") if isinstance(unit, str) else ("", "", "")
    if not slash or length not in METRES or time not in OF_VELOCITIES:
        return None, dimension
    # In decimal arithmetic, since 1e-10 / 1e-15 is not exactly 1e5.
    return float(Decimal(repr(METRES[length])) / Decimal(repr(SECONDS[time]))), DIMENSIONS["velocity"]


def _describe(node, dimension):
    """Writes the attributes of a record."""
    node.attrs["unitDimension"] = np.array(dimension, np.float64)
    node.attrs["timeOffset"] = np.float32(0)
    node.attrs["macroWeighted"] = np.uint32(0)
    node.attrs["weightingPower"] = 0.0


def _record(group, name, values, dimension, factor):
    if values.ndim == 1:
        group[name] = values
        group[name].attrs["unitSI"] = factor
    else:
        record = group.create_group(name)
        labels = AXES if values.shape[1] == 3 else [str(i) for i in range(values.shape[1])]
        for i, label in enumerate(labels):
            record[label] = np.ascontiguousarray(values[:, i])
            record[label].attrs["unitSI"] = factor
    _describe(group[name], dimension)
