# SPDX-License-Identifier: BSD-3-Clause
"""NetCDF, through xarray: variables over the same two or three spatial axes; a time axis becomes steps.

Evenly spaced coordinates become origin and spacing. Descending axes are reversed, and axes are reordered to z, y, x. Packed
numbers are unpacked, and missing values become NaN (cf.py). Curvilinear grids are rejected.
"""

import contextlib

import numpy as np

from .. import cf
from ..hdf5 import check_links
from ..model import ConvertError, Fields, Format, Step, check_memory, listed, part_of

EVEN = 1e-4  # tolerance for even spacing, as a fraction of it, in addition to rounding
LONGITUDES = ("longitude", "grid_longitude")
LATITUDES = ("latitude", "grid_latitude")
# Names of axes in lower case: CF names and common ones.
KINDS = {"X": (*LONGITUDES, "projection_x_coordinate", "x", "xc", "lon", "rlon", "xt_ocean", "xu_ocean"),
         "Y": (*LATITUDES, "projection_y_coordinate", "y", "yc", "lat", "rlat", "yt_ocean", "yu_ocean"),
         "Z": ("z", "depth", "deptht", "depthu", "depthv", "depthw", "height", "altitude", "air_pressure", "lev", "level", "plev",
               "pressure_level", "isobaricinhpa", "st_ocean", "sw_ocean", "model_level_number", "olevel")}


def steps(path, options):
    check_links(path, options)
    import xarray  # pylint: disable=import-outside-toplevel
    in_group = {"group": options.group} if options.group else {}
    with xarray.open_dataset(path, decode_cf=False, cache=False, **in_group) as data:
        grid = _Grid(data, options, path)
        clock = cf.clock(data[grid.time].attrs) if grid.time is not None else None
        times = grid.times()
        if grid.time_dim is None or grid.time_dim not in grid.dims():
            yield Step(lambda: grid.read({}), None, times[0] if len(times) == 1 else None, clock=clock)
            return
        for i in range(data.sizes[grid.time_dim]):
            yield Step(lambda i=i: grid.read({grid.time_dim: i}), i, times[i] if times else None, clock=clock)


def _of_time(name, variable):
    """Returns a score for how likely a variable contains times; 0 if it does not."""
    about = variable.attrs
    if variable.dtype.kind not in "iuf" or about.get("standard_name") == "forecast_reference_time":
        return 0
    is_named = str(name).lower() in ("time", "t") or about.get("standard_name") == "time" or about.get("axis") == "T"
    return 2 * is_named + (" since " in str(about.get("units", "")))


def _kind(name, about):
    """Returns X, Y or Z as in CF, or ""."""
    if about.get("axis") in KINDS:
        return about["axis"]
    units = str(about.get("units", "")).lower().replace("_", "")
    if units in ("degreeseast", "degreeeast", "degreese", "degreee"):
        return "X"
    if units in ("degreesnorth", "degreenorth", "degreesn", "degreen"):
        return "Y"
    for word in (str(about.get("standard_name", "")), str(name).lower()):
        for kind, words in KINDS.items():
            if word in words:
                return kind
    return "Z" if about.get("positive") in ("up", "down") else ""


def _even(values, turn=0):
    """Returns (first, distance, whether they descend) for coordinates. If they are not evenly spaced, returns the minimum and
    maximum of their distances. turn: 360 for longitudes, which may jump by it."""
    stored = np.asarray(values)
    values = np.asarray(stored, np.float64)
    if values.ndim != 1 or not np.isfinite(values).all():
        return None, (np.nan, np.nan)
    if len(values) == 1:
        return (float(values[0]), 1.0, False), None
    if turn:
        values = values[0] + np.concatenate([[0], np.cumsum((np.diff(values) + turn / 2) % turn - turn / 2)])
    distances = np.diff(values)
    descends = values[-1] < values[0]
    values = values[::-1] if descends else values
    distance = (values[-1] - values[0]) / (len(values) - 1)
    rounding = np.finfo(stored.dtype).eps * np.abs(values).max() if stored.dtype.kind == "f" else 0
    if not distance > 0 or np.abs(values - values[0] - distance * np.arange(len(values))).max() > EVEN * distance + rounding:
        return None, (distances.min(), distances.max())
    return (float(values[0]), float(distance), bool(descends)), None


class _Grid:
    """Decides what to convert from a file: spatial axes (z, y, x) or (y, x), and the time axis."""

    def __init__(self, data, options, path):
        self._data, self._options = data, options
        self._bounds = {str(about[key]) for about in (data[name].attrs for name in data.variables)
                        for key in ("bounds", "climatology") if key in about}
        self.time_dim, self.time = self._find_time()
        self.space = self._find_space(path)
        self._places = {}  # axis -> coordinates from a variable with another name, and its attributes
        self._refuse_curvilinear()

    # --- Time

    def _find_time(self):
        """Returns (time axis or None, time variable or None)."""
        data = self._data
        known = sorted(((_of_time(name, data[name]), str(name)) for name in data.variables if name not in self._bounds), reverse=True)
        for dim in data.sizes:
            if dim in data.variables and data[dim].ndim == 1 and _of_time(dim, data[dim]):
                return dim, dim
        for sure, name in known:
            if sure and data[name].ndim == 1 and data[name].dims[0] not in data.variables:
                return data[name].dims[0], name
        dim = next((dim for dim in data.sizes if str(dim).lower() in ("time", "t")), None)
        alone = next((name for sure, name in known if sure and data[name].size == 1 and set(data[name].dims) <= {dim}), None)
        return dim, alone

    def times(self):
        """Returns the times as numbers on the file's clock, or nothing without times."""
        if self.time is None:
            return []
        about = self._data[self.time].attrs
        values = np.ravel(cf.unpacked(self.time, self._data[self.time].values, about, []))
        return values.astype(np.float64).tolist()

    def dims(self):
        """Returns the axes of variables that have all spatial axes."""
        return {dim for name in self._data.data_vars for dim in self._data[name].dims if set(self.space) <= set(self._data[name].dims)}

    # --- Space

    def _own(self, variable):
        """Returns the axes of a variable without time and, if there are too many, without those of one sample."""
        dims = [dim for dim in variable.dims if dim != self.time_dim]
        for dim in list(dims):
            if len(dims) > 3 and variable.sizes[dim] == 1 and not self._kind(dim):
                dims.remove(dim)
        for dim in list(dims):
            if len(dims) > 3 and variable.sizes[dim] == 1:
                dims.remove(dim)
        return tuple(dims)

    def _kind(self, dim):
        return _kind(dim, self._data[dim].attrs if dim in self._data.variables else {})

    def _is_field(self, name):
        return name not in self._bounds and name != self.time and self._data[name].dtype.kind in "iufb"

    def _find_space(self, path):
        """Returns the axes (z, y, x) or (y, x) of the first variable that has them; --arrays chooses another variable."""
        data = self._data
        places = self._coordinates()  # these have two axes, but are fields only if no others exist
        found = [name for name in data.data_vars if self._options.wants(name) and self._is_field(name)
                 and len(self._own(data[name])) in (2, 3)]
        for name in sorted(found, key=lambda name: name in places):
            dims = self._own(data[name])
            kinds = [self._kind(dim) for dim in dims]
            if all(kinds) and len(set(kinds)) == len(kinds):
                dims = tuple(sorted(dims, key=lambda dim: -"XYZ".index(self._kind(dim))))
            return dims
        groups = _groups(path) if not self._options.group else []
        raise ConvertError("has no variable with two or three spatial axes; available: "
                           f"{listed(f'{name} {tuple(data[name].dims)}' for name in data.data_vars)}"
                           + (f", and groups, one of which --group selects: {listed(groups)}" if groups else ""))

    def _coordinates(self):
        """Returns the variables of longitudes and latitudes with at least two axes: name -> X or Y."""
        named = {name for each in self._data.variables.values() for name in str(each.attrs.get("coordinates", "")).split()}
        found = {}
        for name, variable in self._data.variables.items():
            if len(tuple(dim for dim in variable.dims if dim != self.time_dim)) != 2 or name in self._bounds:
                continue
            word, about = str(name).lower(), variable.attrs
            standard, units = about.get("standard_name"), str(about.get("units", "")).lower()
            for kind, standards, sign, words in (("X", LONGITUDES, "east", ("lon", "xlong")), ("Y", LATITUDES, "north", ("lat", "xlat"))):
                is_named = any(part in word for part in words)
                if standard in standards or (units.startswith("degree") and sign in units) or (
                        is_named and (name in named or word.startswith(("nav_", *words)))):
                    found[name] = kind
        return found

    def _refuse_curvilinear(self):
        data, by_name = self._data, {}
        for name, kind in self._coordinates().items():
            if set(data[name].dims) - {self.time_dim} <= set(self.space):
                by_name.setdefault(kind, name)
        for dim in self.space:
            about = data[dim].attrs if dim in data.variables and data[dim].ndim == 1 else None
            if about is not None and (about.get("units") or about.get("standard_name") or about.get("axis")):
                continue
            named = [name for name in by_name.values() if dim in data[name].dims]
            if not named or self._options.spacing is not None:
                continue
            for kind, name in by_name.items():
                if dim in data[name].dims:
                    line = self._line(name, dim)
                    if line is not None:
                        self._places[dim] = (line, {**data[name].attrs, "axis": kind})
            if dim not in self._places:
                raise ConvertError(f"is a curvilinear grid with samples at {listed(sorted(named))}; only regular grids can be converted. Use --spacing "
                                   "and --origin to treat it as regular")

    def _line(self, name, dim):
        """Returns coordinates along one axis of a two-axis variable that is constant along the other, or None."""
        variable = self._data[name]
        if self.time_dim in variable.dims:
            variable = variable.isel({self.time_dim: 0})
        values = np.asarray(variable.transpose(dim, ...).values, np.float64)
        if values.ndim != 2 or not np.isfinite(values).all() or np.ptp(values, axis=1).max() > 1e-9 * max(1, np.abs(values).max()):
            return None
        line = values[:, 0].astype(variable.dtype)
        return line if len(line) == 1 or np.ptp(line) > 0 else None

    def _axis(self, dim):
        """Returns (a cf.Axis, coordinates or None)."""
        values, about = self._places.get(dim, (None, {}))
        if values is None and dim in self._data.variables and self._data[dim].ndim == 1 and self._data[dim].dtype.kind in "iuf":
            about = self._data[dim].attrs
            values = cf.unpacked(dim, self._data[dim].values, about, [])
        standard, kind = str(about.get("standard_name", "")), _kind(dim, about)
        positive = str(about.get("positive", "")).lower()
        if not positive and values is not None and kind == "Z":
            is_depth = (standard or str(dim).lower()).startswith("depth") and len(values) and np.min(values) >= 0
            positive = "down" if is_depth else "up" if standard in ("height", "altitude") else ""
        return cf.Axis(str(dim), self._data.sizes[dim], str(about.get("units") or ""), kind, positive, values is not None, standard), values

    def read(self, at):
        """Returns the Fields of a step, or a slab of them."""
        data, space, options = self._data, self.space, self._options
        origin, spacing, turned, remarks, axes = [0.0] * 3, [1.0] * 3, {}, [], [cf.Axis(name) for name in "xyz"]
        for i, dim in enumerate(reversed(space)):
            axes[i], values = self._axis(dim)
            is_longitude = axes[i].kind == "X" and axes[i].is_degrees()
            found, ends = _even(values, 360 if is_longitude else 0) if values is not None else (None, None)
            if values is not None and found is None:
                remarks.append((f"axis {dim}", f"coordinates of '{dim}' are not evenly spaced, their distances are {ends[0]:.6g} to {ends[1]:.6g}: "
                                               "using a spacing of 1"))
            elif found is not None:
                origin[i], spacing[i], turned[dim] = found
                if is_longitude and options.spacing is None:
                    origin[i], spacing[i], axes[i].turns = _globe(origin[i], spacing[i], axes[i].points)
        fields, others = {}, []
        rows = data.sizes[space[0]]
        begin, end = part_of(rows, *options.slab)
        # A slab of a reversed axis is counted from the end of the file's axis.
        slab = slice(rows - end, rows - begin) if turned.get(space[0]) else slice(begin, end)
        turn = tuple(slice(None, None, -1) if turned.get(dim) else slice(None) for dim in space)
        for name, variable in data.data_vars.items():
            if not options.wants(name):
                others.append(name)
                continue
            own = self._own(variable)
            if not self._is_field(name) or sorted(map(str, own)) != sorted(map(str, space)):
                if options.arrays is not None and self._is_field(name):
                    raise ConvertError(f"'{name}' has the axes {tuple(variable.dims)}, but the first of --arrays {space}: fields of a grid must agree")
                if name not in self._bounds and name != self.time:
                    remarks.append((f"left out {name}", f"'{name}' is not written: its axes are {tuple(variable.dims)}"
                                    if self._is_field(name) else f"'{name}' is not written: it is not numeric"))
                continue
            check_memory(f"'{name}': claims {variable.shape} values",
                         variable.nbytes // ((data.sizes[self.time_dim] if at else 1) * options.slab[1]))
            alone = {dim: 0 for dim in variable.dims if dim not in space and dim not in at}
            values = variable.isel({space[0]: slab, **alone, **{dim: i for dim, i in at.items() if dim in variable.dims}})
            values = values.transpose(*space).values[turn]
            if options.stored:
                kept = [f"{key} {variable.attrs[key]}" for key in ("_FillValue", "missing_value", "scale_factor", "add_offset")
                        if key in variable.attrs]
                if kept:
                    remarks.append((f"packed {name}", f"'{name}' keeps the stored numbers; not applied: " + ", ".join(kept)))
            else:
                values = cf.unpacked(name, values, variable.attrs, remarks)
            fields[name] = values
        first = [0, 0, 0]
        first[len(space) - 1] = begin
        found = Fields(fields, origin, spacing, first, remarks, others, len(space), options, is_part=True)
        self._set_radius(axes, fields)
        found.axis, found.about = axes, {name: data[name].attrs for name in fields}
        return found

    def _set_radius(self, axes, fields):
        """Sets the radius of the earth from the file's grid mapping, if it has one."""
        for name in fields:
            mapping = self._data.variables.get(str(self._data[name].attrs.get("grid_mapping", "")).split(":")[0])
            for key in ("earth_radius", "semi_major_axis"):
                radius = np.ravel(mapping.attrs.get(key, [])) if mapping is not None else []
                if len(radius) == 1 and np.asarray(radius).dtype.kind in "iuf" and radius[0] > 0:
                    for axis in axes:
                        axis.radius = float(radius[0])
                    return


def _globe(origin, spacing, points):
    """Returns origin and distance of longitudes, exact if they span the globe, and the value of Axis.turns."""
    for turns, cells in ((360, points), (361, points - 1)):
        if cells > 3 and abs(cells * spacing - 360) < 0.01 * spacing:
            return origin, 360 / cells, turns
    return origin, spacing, 0


def _groups(path):
    with contextlib.suppress(ImportError, OSError):
        import netCDF4  # pylint: disable=import-outside-toplevel
        with netCDF4.Dataset(path) as file:
            return list(file.groups)
    return []


FORMAT = Format("netcdf", "netCDF, through xarray", steps, extensions=(".nc", ".nc4", ".cdf", ".netcdf"),
                modules=(("xarray", "xarray", "netcdf"), ("netCDF4|h5netcdf|scipy", "netCDF4", "netcdf")),
                options=("origin", "spacing", "group", "stored", "time_unit", "velocity_unit", "coordinate_unit", "vertical",
                         "ignore_units", "follow_links"), rank=20,
                sniff=lambda head, path: head.startswith((b"CDF\x01", b"CDF\x02", b"CDF\x05")))
