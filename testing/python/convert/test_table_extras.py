# SPDX-License-Identifier: BSD-3-Clause
"""Tables of Arrow with times, and trajectories of Parcels, against pyarrow, pandas and netCDF4."""

import glob
import json
import os
import pathlib
import sys

import netCDF4
import numpy as np
import pandas
import parabat
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import support
import xarray
from parabat.convert import convert
from parabat.convert.formats import parquet as format_parquet
from support import alike_in_parts, converted, put, refused

CASES = pathlib.Path(__file__).parents[2] / "data" / "cases"
BIG = 2 ** 53 + 1  # no double


def same(path, positions, attributes, **options):
    return json.loads(support.same(path, np.array(positions, "f8").reshape(-1, 3), attributes, **options))


def times_of(name):
    with open(name, encoding="utf-8") as file:
        return [entry["time"] for entry in json.load(file)["files"]]


# --- Parquet and Feather

reported = converted(CASES / "parcels.parquet", "p.bat")
frame = pandas.read_parquet(CASES / "parcels.parquet")
for i, (when, rows) in enumerate(frame.groupby("time")):
    metadata = same(f"p_{i:04}.bat", rows[["lon", "lat", "z"]].to_numpy(), {"trajectory": rows["trajectory"].to_numpy()},
                    key="trajectory", time=when.timestamp())
    assert metadata["units"] == {"time": "seconds since 1970-01-01"}, metadata
assert times_of("p.bat.series") == [0, 3600] and "2 steps" in reported and "--time-column none" in reported, reported
converted(CASES / "parcels.parquet", "one.bat", "--time-column", "none")
with parabat.open("one.bat") as dataset:
    assert len(dataset) == 3 and dataset.time is None and dataset.read()["time"].tolist() == [0, 0, 3600000]

random = np.random.default_rng(1)
COUNT, TIMES = 1000, 4
format_parquet.PIECE = 900
for order in ("time", "particle"):
    t, p = np.meshgrid(np.arange(TIMES), np.arange(COUNT), indexing="ij" if order == "time" else "xy")
    t, p = t.reshape(-1), p.reshape(-1)
    columns = {"t": t / 8, "step": (BIG + t).astype("i8"), "id": BIG + p, "x": random.normal(size=len(t)), "y": p * 0.5,
               "z": t * 1.0, "mass": pa.array(p.astype("i4"), mask=(p == 7) & (t == 2)),
               "v": pa.FixedSizeListArray.from_arrays(pa.array(np.arange(3.0 * len(t))), 3), "name": ["a"] * len(t)}
    table = pa.table(columns)
    pa.parquet.write_table(table, "t.parquet", row_group_size=700)
    pa.feather.write_feather(table, "t.feather", chunksize=450)
    for name in ("t.parquet", "t.feather"):
        reported = converted(name, "t.bat")
        assert "'name' is not written" in reported and "4 steps" in reported, reported
        for i in range(TIMES):
            own = np.flatnonzero(t == i)
            mass = p[own].astype("i4") if i != 2 else np.where(p[own] == 7, np.nan, p[own])
            same(f"t_{i:04}.bat", np.stack([columns["x"][own], p[own] * 0.5, np.full(COUNT, i)], axis=1),
                 {"id": BIG + p[own], "mass": mass, "v": np.arange(3.0 * len(t)).reshape(-1, 3)[own]}, time=i / 8, step=BIG + i)
        alike_in_parts([name], ("_0000", "_0003"))
for kind, second, expected in ((pa.timestamp("ns"), 7e-9, "seconds since 1970-01-01"),
                               (pa.date32(), 7 * 86400.0, "seconds since 1970-01-01"),
                               (pa.duration("ms"), 7e-3, "s"), (pa.time64("us"), 7e-6, "s")):
    ticks = pa.array([5, 5, 7], "i8" if kind.bit_width == 64 else "i4").cast(kind)
    pa.parquet.write_table(pa.table({"when": ticks, "x": [1.0, 2, 3], "y": [0.0] * 3, "z": [0.0] * 3}), "kinds.parquet")
    reported = converted("kinds.parquet", "kinds.bat", "--time-column", "when")
    with parabat.open("kinds_0001.bat") as dataset:
        assert dataset.time == second and len(dataset) == 1, (kind, dataset.time)
        assert json.loads(dataset.metadata)["units"]["time"] == expected, (kind, dataset.metadata)
gaps = pa.table({"time": pa.array([1.0, None, 1.0, 2.0]), "x": [1.0, 2, 3, 4], "y": [0.0] * 4, "z": [0.0] * 4})
pa.parquet.write_table(gaps, "gap.parquet")
assert "1 rows without a value in 'time' are left out" in converted("gap.parquet", "gap.bat")
with parabat.open("gap_0000.bat") as dataset:
    assert sorted(dataset.read().positions[:, 0].tolist()) == [1, 3] and dataset.time == 1
pa.parquet.write_table(pa.table({"frame": [1.5, 1.5, 2], "x": [1.0, 2, 3], "y": [0.0] * 3, "z": [0.0] * 3}), "frame.parquet")
assert "'frame' stays an attribute" in converted("frame.parquet", "frame.bat")
refused("frame.parquet", "bad.bat", "--time-column", "when", says=["argument --time-column: unknown column 'when'"])
with open("t.parquet", "rb") as file:
    whole = file.read()
refused(put("damaged.parquet", whole[:300] + b"xxxxxxxxxxxxxxxx" + whole[316:]), "bad.bat", says=["damaged.parquet: "])

# --- Parcels

PARTICLES, OBSERVATIONS = 5, 6
first = np.array([0, 0, 1, 2, 0])  # when each is released
last = np.array([6, 4, 6, 3, 1])
lon, lat, z, hours = (np.full((PARTICLES, OBSERVATIONS), np.nan) for _ in range(4))
speed = np.full((PARTICLES, OBSERVATIONS), np.nan, "f4")
stuck = np.full((PARTICLES, OBSERVATIONS), -999, "i4")
for p in range(PARTICLES):
    count = last[p] - first[p]
    lon[p, :count], lat[p, :count], z[p, :count] = random.normal(size=(3, count))
    hours[p, :count] = 3600.0 * np.arange(first[p], last[p])
    speed[p, :count] = random.normal(size=count)
    stuck[p, :count] = np.arange(count) % 2


def write(path, style, **options):
    """A file of Parcels 2 ("2"), of later ones ("3"), or of OpenDrift ("drift")."""
    with netCDF4.Dataset(path, "w", **options) as file:
        row, column = ("traj", "obs") if style == "2" else ("trajectory", "obs" if style == "3" else "time")
        file.createDimension(row, PARTICLES)
        file.createDimension(column, OBSERVATIONS)
        ids = 10 * np.arange(PARTICLES, dtype="i4") if options else BIG + 10 * np.arange(PARTICLES)
        if style == "2":
            variable = file.createVariable("trajectory", ids.dtype, (row, column), fill_value=-1)
            variable[:] = np.where(np.isnan(lon), -1, ids[:, None])
        else:
            file.createVariable("trajectory", ids.dtype, (row,))[:] = ids
            file.createVariable("release", "f4", (row,))[:] = np.arange(PARTICLES) / 2
        if style == "3":
            file.createVariable("obs", "i4", ("obs",))[:] = np.arange(OBSERVATIONS)
        if style == "drift":
            file.createVariable("time", "f8", ("time",))[:] = 3600.0 * np.arange(OBSERVATIONS)
        else:
            file.createVariable("time", "f8", (row, column), fill_value=np.nan)[:] = hours
        file["time"].units, file["time"].calendar = "seconds since 2000-01-01T00:00:00", "gregorian"
        for name, values in (("lon", lon), ("lat", lat), ("z", z), ("speed", speed), ("stuck", stuck)):
            fill = -999 if values.dtype.kind == "i" else np.nan
            file.createVariable(name, values.dtype, (row, column), fill_value=fill)[:] = values
        file["lon"].units, file["lat"].units, file["z"].units, file["speed"].units = "degrees_east", "degrees_north", "m", "m s-1"
    return ids


def check(name, ids, style):
    with parabat.open(f"{name}_0000.bat") as dataset:
        assert dataset.step is None
    for i in range(OBSERVATIONS):
        if style == "drift":
            p = np.flatnonzero(~np.isnan(lon[:, i]))
            o = np.full(len(p), i)
        else:
            p, o = np.nonzero(hours == 3600 * i)
        attributes = {"id": ids[p], "speed": speed[p, o], "stuck": stuck[p, o]}
        if style != "2":
            attributes["release"] = (p / 2).astype("f4")
        metadata = same(f"{name}_{i:04}.bat", np.stack([lon[p, o], lat[p, o], z[p, o]], axis=1), attributes, time=3600.0 * i)
        assert metadata["units"] == {"lon": "degrees_east", "lat": "degrees_north", "z": "m", "speed": "m s-1",
                                     "time": "seconds since 2000-01-01T00:00:00"}, metadata
    assert times_of(f"{name}.bat.series") == [3600 * i for i in range(OBSERVATIONS)]


for style in ("2", "3", "drift"):
    for options in ({}, {"format": "NETCDF3_CLASSIC"}):
        if style == "2" and options:
            continue
        for each in glob.glob("d*.bat"):
            os.unlink(each)
        ids = write("drift.nc", style, **options)
        reported = converted("drift.nc", "d.bat")
        assert not reported, reported
        check("d", ids, style)
        if style == "3":
            converted("drift.nc", "j.bat", "--jobs", "2")
            check("j", ids, style)
            alike_in_parts(["drift.nc"], ("_0000", "_0005"))
converted("drift.nc", "some.bat", "--arrays", "id", "--steps", "1")
with parabat.open("some.bat") as dataset:
    assert list(dataset.read()) == ["id"]
with netCDF4.Dataset("flat.nc", "w") as file:  # without depth
    file.createDimension("traj", 2)
    file.createDimension("obs", 1)
    for name in ("lon", "lat", "time", "trajectory"):
        file.createVariable(name, "f8", ("traj", "obs"))[:] = [[1], [2]]
converted("flat.nc", "flat.bat")
same("flat_0001.bat", [(2, 2, 0)], {"id": np.array([2])}, time=2.0)
with netCDF4.Dataset("none.nc", "w") as file:
    file.createDimension("traj", 2)
    file.createDimension("obs", 1)
    for name in ("lon", "lat", "time", "trajectory"):
        file.createVariable(name, "f8", ("traj", "obs"))
refused("none.nc", "bad.bat", says=["none.nc: has no observations with a time"])
with open("drift.nc", "rb") as file:
    whole = file.read()
refused(put("cut.nc", whole[:len(whole) // 2]), "bad.bat", "--format", "parcels", says=["cut.nc: "])

# Stores of zarr, of both formats.
ids = write("drift.nc", "3")
with xarray.open_dataset("drift.nc", decode_times=False, mask_and_scale=False) as dataset:
    for version in (2, 3):
        dataset.to_zarr(f"drift{version}.zarr", zarr_format=version, consolidated=version == 2)
        reported = converted(f"drift{version}.zarr", "z.bat")
        assert not reported, reported
        check("z", ids, "3")
put("drift3.zarr/lon/c/0/0", b"damaged")
refused("drift3.zarr", "bad.bat", says=["drift3.zarr: "])
sys.modules["zarr"] = None  # as where it is not installed
refused("drift2.zarr", "bad.bat", says=["the format parcels-zarr requires zarr: pip install 'parabat[zarr]'"])

print("all checks passed")
