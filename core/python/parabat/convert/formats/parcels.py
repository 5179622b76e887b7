# SPDX-License-Identifier: BSD-3-Clause
"""Trajectories of drifting particles, written by Parcels and OpenDrift: netCDF, and zarr stores of Parcels.

Each row is a trajectory, and each column an observation:

    lon, lat, z   (trajectory, obs)     NaN or the fill value after the last observation
    time          (trajectory, obs)     or (time) if all trajectories have the same times
    trajectory    (trajectory)          or (trajectory, obs): the id of the particle

Each distinct time becomes a step with the particles observed at that time.
"""

import contextlib
import dataclasses
import functools
import os

import numpy as np

from .. import cf, hdf5
from ..model import AXES, Collector, ConvertError, Format, as_json, check_memory, part_of
from ..netcdf_classic import MAGICS, Classic
from ..step_columns import KeyColumns, find_keys
from ..table_times import GroupedSteps

PIECE = 1 << 21  # observations read at a time
LONGITUDES = ("lon", "longitude")
IDS = ("trajectory", "traj", "particle")
NAMES = ("lon", "lat", "time")


def steps(path, options):
    if not os.path.isdir(path):
        hdf5.check_links(path, options)
    with contextlib.ExitStack() as stack:
        store = stack.enter_context(_open(path))
        source = _Observations(store, options)
        yield from GroupedSteps(source, source.keys).steps()


def _open(path):
    if os.path.isdir(path):
        return _Zarr(path)
    with open(path, "rb") as file:
        return _Classic(path) if file.read(4) in MAGICS else _NetCDF(path)


class _Classic:
    """The stored arrays of a netCDF file in a classic format."""

    def __init__(self, path):
        self._file = Classic(path)
        self.names = list(self._file.variables)
        self._read = functools.lru_cache(maxsize=4)(self._read_all)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self._file.__exit__()

    def shape(self, name):
        return tuple(self._file.variables[name].shape)

    def about(self, name):
        return self._file.variables[name].attributes

    def read(self, name, place):
        return self._read(name)[place]

    def _read_all(self, name):
        variable = self._file.variables[name]
        if not variable.has_records:
            return variable.read()
        records = [variable.read(i) for i in range(variable.shape[0])]
        return np.stack(records) if records else np.empty(variable.shape, variable.dtype)


class _NetCDF:
    """The stored arrays of a netCDF-4 file."""

    def __init__(self, path):
        import netCDF4  # pylint: disable=import-outside-toplevel
        self._file = netCDF4.Dataset(path)
        self._file.set_auto_maskandscale(False)
        self.names = list(self._file.variables)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self._file.close()

    def shape(self, name):
        return tuple(map(int, self._file.variables[name].shape))

    def about(self, name):
        variable = self._file.variables[name]
        return {key: variable.getncattr(key) for key in variable.ncattrs()}

    def read(self, name, place):
        return np.asarray(self._file.variables[name][place])


class _Zarr:
    """The stored arrays of a zarr store."""

    def __init__(self, path):
        import zarr  # pylint: disable=import-outside-toplevel
        self._group = zarr.open_group(path, mode="r")
        self.names = sorted(name for name, _ in self._group.arrays())

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        pass

    def shape(self, name):
        return tuple(self._group[name].shape)

    def about(self, name):
        array = self._group[name]
        about = {key: value for key, value in dict(array.attrs).items() if key != "_ARRAY_DIMENSIONS"}
        fill = getattr(array, "fill_value", None)
        if fill is not None and np.asarray(array.dtype.type(fill)) != 0:
            about["_FillValue"] = fill  # a fill value of 0 is only the initial value of chunks
        return about

    def read(self, name, place):
        return np.asarray(self._group[name][place])


class _Observations:
    """Reads the observations of a store in pieces of some columns; a `source` for GroupedSteps."""

    varies = False

    def __init__(self, store, options):
        self._store, self._options = store, options
        self._shape = self._find_shape()
        trajectories, count = self._shape
        width = max(1, PIECE // max(1, trajectories))
        self._ends = [*range(0, max(count, 1), width), count]
        self._about = {name: store.about(name) for name in store.names}
        self._columns = self._choose_positions()
        self._arrays, self._remarks = self._choose_arrays()
        self._id = "trajectory" if "id" in store.names else "id"
        self.keys = find_keys(KeyColumns("time", None, "time"), self._walk)
        if not self.keys.groups:
            raise ConvertError("has no observations with a time")
        self.keys.unit = str(self._about["time"].get("units") or "")
        self.keys.calendar = str(self._about["time"].get("calendar") or "standard")
        self.keys.remarks = []  # missing observations are normal

    def _find_shape(self):
        names = self._store.names
        longitude = next((name for name in LONGITUDES if name in names), None)
        if longitude is None or "time" not in names:
            raise ConvertError("has no trajectories: arrays lon, lat and time are needed")
        shape = self._store.shape(longitude)
        if len(shape) != 2 or self._store.shape("time") not in (shape, shape[1:]):
            raise ConvertError(f"has no trajectories: lon has shape {shape} and time {self._store.shape('time')}; needed are "
                               "(trajectory, obs) and the same, or (obs)")
        return shape

    def _choose_positions(self):
        """Returns the names of the position arrays, or None to find them by name."""
        names = [name for name in self._store.names if self._store.shape(name) == self._shape]
        if self._options.columns is not None or any(set(axes) <= set(names) for axes in AXES):
            return self._options.columns
        pair = next((pair for pair in (("lon", "lat"), ("longitude", "latitude")) if set(pair) <= set(names)), None)
        return [*pair, "none"] if pair else None

    def _choose_arrays(self):
        """Returns the names of arrays with a value per observation or per trajectory, and remarks on other arrays."""
        found, remarks = [], []
        collector = Collector(self._options)
        for name in self._store.names:
            shape = self._store.shape(name)
            if name in ("time", "obs") or name in IDS:
                continue
            if not (collector.wants(name) or name in (self._columns or ())):
                continue
            if shape in (self._shape, self._shape[:1]):
                found.append(name)
            else:
                why = f"its shape is {shape}; allowed are {self._shape} and {self._shape[:1]}"
                remarks.append((f"left out {name}", f"'{name}' is not written: {why}"))
        return found, remarks

    def _walk(self, _):
        for first, end in zip(self._ends, self._ends[1:]):
            yield self._times(slice(None), slice(first, end)), None

    def _times(self, rows, columns):
        """Returns the time of each observation of a block, NaN where missing."""
        if self._store.shape("time") == self._shape:
            times = self._floats("time", (rows, columns))
        else:
            places = [name for name in (*LONGITUDES, "lat", "latitude") if name in self._store.names]
            missing = np.all([np.isnan(self._floats(name, (rows, columns))) for name in places], axis=0)
            times = np.where(missing, np.nan, self._floats("time", columns))
        return times.reshape(-1)

    def _floats(self, name, place):
        values, about = self._store.read(name, place), self._about[name]
        if values.dtype.kind in "iu" and not {"scale_factor", "add_offset"} & set(about):
            missing = _is_fill(values, about)
            return np.where(missing, np.nan, values.astype(np.float64)) if missing.any() else values
        return cf.unpacked(name, values, about, [])

    def size(self, first, last):
        return 8 * (len(self._arrays) + 2) * self._shape[0] * (self._ends[last + 1] - self._ends[first])

    def load(self, first, last, i, n):
        rows, columns = slice(*part_of(self._shape[0], i, n)), slice(self._ends[first], self._ends[last + 1])
        count = (rows.stop - rows.start) * (columns.stop - columns.start)
        check_memory(f"claims {count} observations of {len(self._arrays)} arrays", 8 * count * (len(self._arrays) + 2))
        times = self._times(rows, columns)
        content = {}
        for name in self._arrays:
            content[name] = self._block(name, rows, columns)
        content[self._id] = self._ids(rows, columns)
        return times, None, content

    def _block(self, name, rows, columns):
        if self._store.shape(name) == self._shape:
            return self._store.read(name, (rows, columns)).reshape(-1)
        return np.repeat(self._store.read(name, rows), columns.stop - columns.start)

    def _ids(self, rows, columns):
        shapes = (self._shape, self._shape[:1])
        name = next((name for name in IDS if name in self._store.names and self._store.shape(name) in shapes), None)
        if name is None:
            return np.repeat(np.arange(rows.start, rows.stop), columns.stop - columns.start)
        return self._block(name, rows, columns)

    def particles(self, content, rows):
        collector = Collector(dataclasses.replace(self._options, columns=self._columns), len(rows))
        collector.remarks += self._remarks
        collector.others |= {name for name in self._store.names if not self._options.wants(name)}
        units = {}
        for name, values in content.items():
            values = values[rows].astype(values.dtype.newbyteorder("="), copy=False)
            about = dict(self._about.get(name, {}))
            if name == self._id:
                values = _integers(values)
            elif values.dtype.kind in "iuf":
                if not _is_fill(values, about).any():
                    about.pop("_FillValue", None)
                    about.pop("missing_value", None)
                values = cf.unpacked(name, values, about, collector.remarks)
            if isinstance(about.get("units"), str) and values.dtype.kind in "iuf":
                units[name] = about["units"]
            collector.add(name, values)
        return collector.particles(None, {"units": as_json(units)} if units else None)


def _is_fill(values, about):
    """Returns where values are marked as missing."""
    marks = [about[key] for key in ("_FillValue", "missing_value") if key in about]
    return np.isin(values, np.concatenate([np.ravel(mark) for mark in marks])) if marks else np.zeros(values.shape, bool)


def _integers(values):
    """Returns ids as integers if they are stored as other numbers."""
    if values.dtype.kind == "f" and len(values) and np.all(np.isfinite(values)) and np.all(values == np.floor(values)) and (
            np.abs(values) < 2.0 ** 63).all():
        return values.astype(np.int64)
    return values


def _is_trajectories(file):
    """Returns whether an HDF5 file has trajectories."""
    if not all(name in file and hasattr(file[name], "shape") for name in NAMES):
        return False
    shape = tuple(file["lon"].shape)
    return len(shape) == 2 and tuple(file["lat"].shape) == shape and tuple(file["time"].shape) in (shape, shape[1:]) and any(
        name in file for name in (*IDS, "obs"))


_is_netcdf4 = hdf5.sniffer(_is_trajectories)


def _is_netcdf(head, path):
    if not head.startswith(MAGICS):
        return _is_netcdf4(head, path)
    return all(name in head for name in (b"lon", b"lat", b"time")) and (b"traj" in head or b"\0obs" in head)


def _is_zarr(_, path):
    def has(*names):
        return any(os.path.exists(os.path.join(path, name, file)) for name in names for file in (".zarray", "zarr.json"))
    return os.path.isdir(path) and all(map(has, NAMES)) and has(*IDS, "obs")


FORMATS = [Format("parcels", "trajectories of Parcels and OpenDrift in netCDF", steps,
                  modules=(("netCDF4", "netCDF4", "netcdf"),), sniff=_is_netcdf, options=("columns", "follow_links"), rank=9),
           Format("parcels-zarr", "trajectories of Parcels in zarr stores", steps, modules=(("zarr", "zarr", "zarr"),),
                  sniff=_is_zarr, options=("columns",), rank=9)]
