# SPDX-License-Identifier: BSD-3-Clause
"""NetCDF, through xarray: variables over the same two or three axes of space; an axis of time becomes steps.

Coordinates that are evenly spaced become origin and spacing; axes that descend are turned round. Numbers are those that
the file stores: fill values, scales and offsets are said and not applied.
"""

import numpy as np

from ..model import ConvertError, Fields, Format, Step, check_memory, listed, part_of

EVEN = 1e-4  # of a spacing, that coordinates may be off
PACKED = ("_FillValue", "missing_value", "scale_factor", "add_offset")


def steps(path, options):
    import xarray  # pylint: disable=import-outside-toplevel
    with xarray.open_dataset(path, decode_cf=False, cache=False) as data:
        time = _time_of(data)
        space = _space_of(data, time, options)
        if time is None or time not in _dims(data, space):
            yield Step(lambda: _read(data, space, {}, time, options))
            return
        values = data[time].values if time in data.coords or time in data.variables else np.arange(data.sizes[time])
        for i in range(data.sizes[time]):
            yield Step(lambda i=i: _read(data, space, {time: i}, time, options), i,
                       float(values[i]) if values.dtype.kind in "iuf" else None)


def _time_of(data):
    for dim in data.sizes:
        about = data[dim].attrs if dim in data.variables else {}
        if str(dim).lower() in ("time", "t") or " since " in str(about.get("units", "")) or about.get("axis") == "T":
            return dim
    return None


def _dims(data, space):
    return {dim for name in data.data_vars for dim in data[name].dims if set(space) <= set(data[name].dims)}


def _space_of(data, time, options):
    """The axes (z, y, x) or (y, x) of the first variable that has some; --arrays chooses others."""
    for name, variable in data.data_vars.items():
        dims = tuple(dim for dim in variable.dims if dim != time)
        if options.wants(name) and len(dims) in (2, 3) and variable.dtype.kind in "iufb" and dims == variable.dims[-len(dims):]:
            return dims
    raise ConvertError(f"has no variable of two or three axes of space; there are "
                       f"{listed(f'{name} {tuple(data[name].dims)}' for name in data.data_vars)}")


def _even(values):
    """(first, distance, whether it descends) of coordinates; None if they are not evenly spaced."""
    values = np.asarray(values, np.float64)
    if values.ndim != 1 or not np.isfinite(values).all():
        return None
    if len(values) == 1:
        return values[0], 1.0, False
    descends = values[-1] < values[0]
    values = values[::-1] if descends else values
    distance = (values[-1] - values[0]) / (len(values) - 1)
    if not distance > 0 or np.abs(values - values[0] - distance * np.arange(len(values))).max() > EVEN * distance:
        return None
    return values[0], distance, bool(descends)


def _read(data, space, at, time, options):
    origin, spacing, turned, remarks = [0.0] * 3, [1.0] * 3, {}, []
    for axis, dim in enumerate(reversed(space)):
        found = _even(data[dim].values) if dim in data.variables else None
        if found is None and dim in data.variables:
            remarks.append((f"axis {dim}", f"coordinates of '{dim}' are not evenly spaced: samples are 1 apart along it"))
        elif found is not None:
            origin[axis], spacing[axis], turned[dim] = found
    fields, others = {}, []
    rows = data.sizes[space[0]]
    begin, end = part_of(rows, *options.part)
    for name, variable in data.data_vars.items():
        if not options.wants(name):
            others.append(name)
            continue
        own = tuple(dim for dim in variable.dims if dim != time)
        if own != space or variable.dtype.kind not in "iufb":
            remarks.append((f"left out {name}", f"'{name}' is not written: its axes are {tuple(variable.dims)}"
                            if own != space else f"'{name}' is not written: it holds no numbers"))
            continue
        check_memory(f"'{name}': claims {variable.shape} values",
                     variable.nbytes // ((data.sizes[time] if at else 1) * options.part[1]))
        # An axis that is turned round is cut from its end.
        slab = slice(rows - end, rows - begin) if turned.get(space[0]) else slice(begin, end)
        values = variable.isel({space[0]: slab, **{dim: i for dim, i in at.items() if dim in variable.dims}}).values
        turn = tuple(slice(None, None, -1) if turned.get(dim) else slice(None) for dim in space)
        fields[name] = values[turn]
        kept = [key for key in PACKED if key in variable.attrs]
        if kept:
            remarks.append((f"packed {name}", f"'{name}' keeps the numbers of the file; not applied: "
                            + ", ".join(f"{key} {variable.attrs[key]}" for key in kept)))
    first = [0, 0, 0]
    first[len(space) - 1] = begin
    found = Fields(fields, origin, spacing, first, remarks, others, len(space), options, is_part=True)
    for name in fields:
        about = data[name].attrs
        found.absent[name] = [number for key in PACKED[:2] if key in about for number in np.ravel(about[key])]
    return found


FORMAT = Format("netcdf", "netCDF, through xarray", steps, extensions=(".nc", ".nc4", ".cdf", ".netcdf"),
                modules=(("xarray", "xarray", "netcdf"), ("netCDF4|h5netcdf|scipy", "netCDF4", "netcdf")),
                options=("origin", "spacing"), rank=20,
                sniff=lambda head, path: head.startswith((b"CDF\x01", b"CDF\x02", b"CDF\x05")))
