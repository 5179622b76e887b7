# SPDX-License-Identifier: BSD-3-Clause
"""Particles in code-specific HDF5 files: OSIRIS and PySPH.

    OSIRIS (RAW)    attributes NAME, TYPE "particles", TIME, ITER; arrays x1, x2, x3, p1, p2, p3, ene, q, tag (n, 2); the box in
                    XMIN, XMAX, PERIODIC, in the file or the group SIMULATION
    PySPH           particles/<name>/arrays/x, y, z, ...; particles/<name>/constants; solver_data with attributes t, count, dt
"""

import numpy as np

from .. import hdf5
from ..model import Collector, ConvertError, Divided, Format, Step, as_json, listed, part_of

OSIRIS_AXES = ("x1", "x2", "x3")
MAX_CONSTANT = 64  # maximum values of a PySPH constant in the metadata


def _read(node, part, remarks):
    """Returns all values of an array, or those of a part (i, n)."""
    return hdf5.read(node, ... if part is None else slice(*part_of(len(node), *part)), remarks)


def _text(attributes, name):
    value = np.atleast_1d(attributes.get(name, ""))
    return as_json(value[0]) if len(value) == 1 else ""


# --- OSIRIS

def osiris_steps(path, options):
    with hdf5.opened(path, options) as file:
        time, number = hdf5.single(file, "TIME"), hdf5.single(file, "ITER")
        yield Step(lambda: [_osiris(file, options)], int(number), float(time), lambda: [_osiris_divided(file, options)])


def _osiris_arrays(file, options, remarks):
    """Returns the names of arrays to read, beginning with positions, and the number of particles."""
    import h5py  # pylint: disable=import-outside-toplevel
    axes = [name for name in OSIRIS_AXES if name in file]
    if axes != list(OSIRIS_AXES[:len(axes)]) or not axes:
        raise ConvertError(f"no positions: x1, and x2, x3 if it has them, are required; available: {listed(file)}")
    names = [name for name in file if name not in axes and isinstance(file[name], h5py.Dataset)]
    groups = [name for name in file if not isinstance(file[name], h5py.Dataset) and name != "SIMULATION"]
    if groups:
        remarks.append(("groups", f"groups are not written: {listed(groups)}"))
    collector = Collector(options)
    names = axes + [name for name in names if collector.wants(name)]
    count = len(file[axes[0]]) if file[axes[0]].shape else 0  # without particles, arrays have no shape
    return axes, names, count


def _osiris(file, options, part=None):
    collector = Collector(options)
    axes, names, count = _osiris_arrays(file, options, collector.remarks)
    collector.others |= {name for name in file if name not in names}
    first, end = (0, count) if part is None else part_of(count, *part)
    collector.count = end - first
    units = {"positions": _text(file["x1"].attrs, "UNITS"), "time": _text(file.attrs, "TIME UNITS")}
    if part is None:
        hdf5.check_all(file[name] for name in names if file[name].shape)
    for name in names:
        node = file[name]
        length = len(node) if node.shape else 0
        if length != count and name in axes:
            raise ConvertError(f"{node.name}: {length} values, but the others have {count}")
        if length != count:
            collector.leave_out(name, f"it has {length} values for {count} particles")
            continue
        collector.add(name, _read(node, part, collector.remarks) if node.shape else np.empty(0, node.dtype))
        if name not in axes:
            units[name] = _text(node.attrs, "UNITS")
    positions = [collector.arrays.pop(name) for name in axes]
    if len(axes) < 3:
        words = "2 dimensions: z is 0" if axes[1:] else "1 dimension: y and z are 0"
        collector.remarks.append(("dimensions", f"the file has {words}"))
        positions += [np.zeros_like(positions[0])] * (3 - len(axes))
    about = hdf5.attributes(file)
    if "SIMULATION" in file:
        about["SIMULATION"] = hdf5.attributes(file["SIMULATION"])
    metadata = {"osiris": about}
    if any(units.values()):
        metadata["units"] = {name: unit for name, unit in units.items() if unit}
    box = _osiris_box({**about, **about.get("SIMULATION", {})}, len(axes))
    if box:
        metadata["periodic_box"] = box
    return collector.particles(np.stack(positions, axis=1), metadata)


def _osiris_box(about, dimensions):
    """Returns the box, if the file states which axes are periodic."""
    try:
        lower, upper, periodic = (np.atleast_1d(np.asarray(about[name], float))[:dimensions]
                                  for name in ("XMIN", "XMAX", "PERIODIC"))
    except (KeyError, ValueError, TypeError):
        return None
    if not len(lower) == len(upper) == len(periodic) == dimensions:
        return None
    is_cyclic = [bool(periodic[i]) and lower[i] < upper[i] if i < dimensions else False for i in range(3)]
    return {"lower": [float(lower[i]) if is_cyclic[i] else None for i in range(3)],
            "upper": [float(upper[i]) if is_cyclic[i] else None for i in range(3)]}


def _osiris_divided(file, options):
    _, names, _ = _osiris_arrays(file, options, [])
    return Divided(sum(file[name].size * file[name].dtype.itemsize for name in names if file[name].shape),
                   lambda i, n: _osiris(file, options, (i, n)))


def _is_osiris(file):
    return "x1" in file and "TIME" in file.attrs and "ITER" in file.attrs and _text(file.attrs, "TYPE") in ("particles", "")


# --- PySPH

def pysph_steps(path, options):
    with hdf5.opened(path, options) as file:
        groups = {name: group for name, group in file["particles"].items() if hasattr(group, "keys") and "arrays" in group}
        placed = {name: group for name, group in groups.items() if _stored(group["arrays"], "x")}
        if not placed:
            raise ConvertError(f"no particle array has x; available: {listed(groups)}")
        others = [name for name in groups if name not in placed]
        remarks = [("no x", f"particle arrays without x are not written: {listed(others)}")] if others else []
        solver = file["solver_data"]
        number = _solver_value(solver, "count", "iu")
        time = _solver_value(solver, "t", "iuf")
        is_alone = len(placed) == 1 and not options.species
        about = {"solver_data": hdf5.attributes(solver)}
        yield Step(lambda: [_pysph(group, options, about, "" if is_alone else name, remarks) for name, group in placed.items()],
                   None if number is None else int(number), None if time is None else float(time))


def _solver_value(solver, name, kinds):
    """Returns an attribute of the solver data, or, as in older versions, an array there."""
    value = solver.attrs.get(name)
    if value is None and name in solver and not hasattr(solver[name], "keys"):
        value = hdf5.read(solver[name])
    value = np.asarray(value)
    return value.reshape(-1)[0] if value.size == 1 and value.dtype.kind in kinds else None


def _stored(arrays, name):
    """Returns whether a property has values in the file."""
    return name in arrays and bool(arrays[name].attrs.get("stored", True))


def _pysph(group, options, about, species, remarks):
    arrays = group["arrays"]
    stored = [name for name in hdf5.datasets(arrays, []) if _stored(arrays, name)]
    axes = [name for name in "xyz" if name in stored]
    collector = Collector(options, len(arrays["x"]))
    collector.remarks += remarks
    names = axes + [name for name in stored if name not in axes and collector.wants(name)]
    hdf5.check_all(arrays[name] for name in names)
    for name in names:
        values = _in_rows(hdf5.read(arrays[name], remarks=collector.remarks), arrays[name], collector.count)
        if len(values) == collector.count:
            collector.add(name, values)
        elif name in axes:
            raise ConvertError(f"{arrays[name].name}: {len(values)} values, but x has {collector.count}")
        else:
            collector.leave_out(name, f"it has {len(values)} values for {collector.count} particles")
    missing = [axis for axis in "xyz" if axis not in axes]
    if missing:
        collector.remarks.append(("dimensions", f"{' and '.join(missing)} {'are' if missing[1:] else 'is'} "
                                               "not in the file; 0 is used"))
    zeros = np.zeros_like(collector.arrays["x"])
    positions = np.stack([collector.arrays.pop(axis, zeros) for axis in "xyz"], axis=1)
    about = {**about, "name": group.name.rpartition("/")[2]}
    unstored = sorted(name for name in arrays if name not in stored)
    if unstored:
        about["not_stored"] = unstored
    if "constants" in group:
        constants = group["constants"]
        about["constants"] = {name: as_json(hdf5.read(constants[name])) for name in hdf5.datasets(constants, [])
                              if constants[name].size <= MAX_CONSTANT}
        large = [name for name in hdf5.datasets(constants, []) if constants[name].size > MAX_CONSTANT]
        if large:
            collector.remarks.append(("constants", f"constants of more than {MAX_CONSTANT} values are not written: "
                                      f"{listed(large)}"))
    return collector.particles(positions, {"pysph": about}, species)


def _in_rows(values, node, count):
    """Returns a property with several consecutive values per particle."""
    stride = np.asarray(node.attrs.get("stride", 1)).reshape(-1)
    if len(stride) == 1 and stride[0] > 1 and len(values) == stride[0] * count:
        return values.reshape(count, int(stride[0]))
    return values


def _is_pysph(file):
    if "particles" not in file or "solver_data" not in file or not hasattr(file["particles"], "keys"):
        return False
    return any(hasattr(group, "keys") and "arrays" in group for group in file["particles"].values())


FORMATS = [
    Format("osiris", "particles of OSIRIS (RAW) in HDF5", osiris_steps, modules=hdf5.MODULE, options=("follow_links",),
           sniff=hdf5.sniffer(_is_osiris)),
    Format("pysph", "particle arrays of PySPH in HDF5", pysph_steps, modules=hdf5.MODULE, options=("follow_links",),
           sniff=hdf5.sniffer(_is_pysph))]
