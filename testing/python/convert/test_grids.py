# SPDX-License-Identifier: BSD-3-Clause
"""Grids to .idx: every value of NumPy files, raw numbers, HDF5 and other .idx; netCDF if xarray is available
(test_grids.py --netcdf)."""

import json
import os
import sys

import numpy as np
from parabat import flow, idx
from parabat.convert import Options, convert, formats
from parabat.convert.grids import netcdf as formats_of_netcdf
from support import command, converted, equal, put, refused

random = np.random.default_rng(17)
SHAPE = (9, 14, 21)
p = random.normal(size=SHAPE).astype("f4")
v = random.normal(size=(*SHAPE, 3))
k = random.integers(-2 ** 62, 2 ** 62, SHAPE)


def same(path, fields, step=0, time=None, origin=(0, 0, 0), spacing=(1, 1, 1), steps=1, first=(0, 0, 0)):
    with idx.open(path) as dataset:
        assert len(dataset.steps) == steps and step in dataset.steps, (path, dataset.steps)
        assert time is None or dataset.times[dataset.steps.index(step)] == time, (path, dataset.times)
        assert dataset.box[:3] == tuple(first), (path, dataset.box)
        np.testing.assert_allclose(dataset.origin, origin, rtol=1e-12, err_msg=path)
        np.testing.assert_allclose(dataset.spacing, spacing, rtol=1e-12, err_msg=path)
        found = dataset.read(step=step)
    assert set(found) == set(fields), (path, sorted(found))
    for name, values in fields.items():
        equal(path, name, found[name], np.asarray(values))


def netcdf():
    import xarray
    coordinates = {"time": [0.5, 1.5], "z": np.linspace(1, 2, 9), "lat": np.linspace(70, -60, 14), "lon": np.arange(21) * 0.25}
    dims = ("time", "z", "lat", "lon")
    both = np.stack([p, p + 1])
    data = xarray.Dataset({"temp": (dims, both), "mask": (dims[1:], (k % 7).astype("i2"), {"scale_factor": 0.5, "_FillValue": np.int16(-1)}),
                           "table": (("z",), np.arange(9.0)), "name": (("z",), list("abcdefghi"))}, coordinates)
    data.to_netcdf("a.nc", engine="netcdf4", encoding={"temp": {"_FillValue": None}})
    reported = converted("a.nc", "a.idx")
    for word in ("'table' is not written", "'mask' is unpacked from int16 to float64: scale_factor 0.5"):
        assert word in reported, (word, reported)
    with idx.open("a.idx") as dataset:
        assert (dataset.steps, dataset.times) == ([0, 1], [0.5, 1.5])
        np.testing.assert_allclose(dataset.origin, [0, -60, 1])
        np.testing.assert_allclose(dataset.spacing, [0.25, 10, 0.125])
        for step in (0, 1):
            equal("a.idx", "temp", dataset.read("temp", step=step)["temp"], np.ascontiguousarray(both[step, :, ::-1]))
    equal("a.idx", "mask", idx.open("a.idx").read("mask", step=1)["mask"], 0.5 * (k % 7)[:, ::-1])
    assert "not applied: " in converted("a.nc", "stored.idx", "--stored", "--steps", 1)
    stored = xarray.open_dataset("a.nc", decode_cf=False)["mask"].values
    equal("stored.idx", "mask", idx.open("stored.idx").read("mask", step=1)["mask"], np.ascontiguousarray(stored[:, ::-1]))
    coordinates["lon"] = np.arange(21.0) ** 2
    data.assign_coords(lon=coordinates["lon"]).to_netcdf("b.nc")
    reported = converted("b.nc", "b.idx", "--steps", 1, "--arrays", "temp")
    assert "coordinates of 'lon' are not evenly spaced, their distances are 1 to 39" in reported, reported
    with idx.open("b.idx") as dataset:
        assert dataset.spacing[0] == 1 and dataset.steps == [1]
    xarray.Dataset({"a": (("y", "x"), p[0])}).to_netcdf("c.nc", format="NETCDF3_CLASSIC")
    converted("c.nc", "c.idx")
    same("c.idx", {"a": p[0]})
    xarray.Dataset({"a": (("x",), p[0, 0])}).to_netcdf("d.nc")
    refused("d.nc", "d.idx", says=("d.nc: has no variable with two or three spatial axes",))
    # Slabs, as ranks read them, also along a reversed axis.
    xarray.Dataset({"a": (("lat", "lon"), p[0])}, {"lat": np.linspace(70, -60, 14)}).to_netcdf("f.nc")
    for name, field in (("a.nc", "temp"), ("f.nc", "a")):
        slabs = []
        for i in range(-1, 3):
            steps = formats_of_netcdf.steps(name, Options(arrays=[field], slab=(i, 3) if i >= 0 else (0, 1)))
            slabs.append(next(steps).read())
            steps.close()
        whole, *slabs = slabs
        equal(name, field, np.concatenate([each.arrays[field] for each in slabs]), whole.arrays[field])
        axis = whole.axes - 1
        assert [each.first[axis] for each in slabs] == [whole.dimensions[axis] * i // 3 for i in range(3)]
        assert all(list(each.origin) == list(whole.origin) for each in slabs)
    # Velocities: where there is no number, there is no flow.
    land = np.where(p > 1, np.float32(1e20), p)
    ocean = xarray.Dataset({name: (("z", "y", "x"), land) for name in "uv"})
    ocean.to_netcdf("ocean.nc", encoding={name: {"_FillValue": np.float32(1e20)} for name in "uv"})
    converted("ocean.nc", "ocean.bricks", "--arrays", "u,v")
    flow.write_level("expected.bricks", np.stack([np.where(p > 1, np.float32(np.nan), p)] * 2, -1), step=0, flush=False)
    with open("ocean.bricks", "rb") as found, open("expected.bricks", "rb") as expected:
        assert found.read() == expected.read()
    ocean.assign_coords(x=np.arange(21.0) ** 2).to_netcdf("uneven.nc")
    refused("uneven.nc", "n.bricks", "--arrays", "u,v", says=("coordinates of 'x' are not evenly spaced",))
    put("e.nc", open("a.nc", "rb").read()[:700])
    refused("e.nc", "e.idx", says=("e.nc: ",))
    # netCDF-4 is HDF5, whose links to other files are followed if requested.
    import h5py
    xarray.Dataset({"a": (("y", "x"), p[0])}).to_netcdf("linked.nc")
    xarray.Dataset({"b": (("y", "x"), p[1])}).to_netcdf("private.nc")
    with h5py.File("linked.nc", "a") as file:
        file["b"] = h5py.ExternalLink("private.nc", "/b")
    refused("linked.nc", "l.idx", says=("linked.nc: /b: is an external link to /b in the file private.nc; use --follow-links to read it",))
    assert "private.nc, which is read" in converted("linked.nc", "linked.idx", "--follow-links")
    same("linked.idx", {"a": p[0], "b": p[1]})
    netcdf_packed(xarray)
    netcdf_clocks(xarray)
    netcdf_units(xarray)
    netcdf_axes(xarray)


def netcdf_packed(xarray):
    """Packed numbers and fill values, as netCDF4 itself reads them."""
    import netCDF4
    kinds = {"both": ("i2", {"scale_factor": np.float64(0.01), "add_offset": np.float64(3), "_FillValue": np.int16(-32768)}),
             "small": ("i1", {"scale_factor": np.float32(0.5), "missing_value": np.int8(3)}),
             "turned": ("i1", {"scale_factor": np.float32(0.5), "_Unsigned": "true", "_FillValue": np.int8(-1)}),
             "wide": ("i4", {"scale_factor": np.float32(1e-3), "_FillValue": np.int32(7), "missing_value": np.int32([7, 8])[1]}),
             "ranged": ("i2", {"scale_factor": np.float64(0.1), "valid_range": np.int16([-50, 60])}),
             "bounded": ("f4", {"valid_min": np.float32(-1), "valid_max": np.float32(2)}),
             "never": ("f4", {}), "plain": ("f4", {"_FillValue": np.float32(np.nan)})}
    with netCDF4.Dataset("packed.nc", "w") as file:
        file.createDimension("y", 20), file.createDimension("x", 30)
        for name, (kind, about) in kinds.items():
            values = random.integers(-100, 100, (20, 30)) if kind[0] == "i" else random.normal(size=(20, 30)) * 2
            variable = file.createVariable(name, kind, ("y", "x"), fill_value=about.get("_FillValue"))
            variable.set_auto_maskandscale(False)
            variable.setncatts({key: value for key, value in about.items() if key != "_FillValue"})
            rows = 20 if kind == "i1" else 19  # the last row is never written, and bytes have no fill value
            variable[:rows] = values.astype(kind)[:rows]
            if "_FillValue" in about:
                variable[3, 4] = about["_FillValue"]
    with netCDF4.Dataset("packed.nc") as file:
        expected = {name: file[name][:] for name in kinds}
    reported = converted("packed.nc", "packed.idx")
    with idx.open("packed.idx") as dataset:
        found = dataset.read()
    for name, values in expected.items():
        got = found[name]
        assert got.dtype == ("f4" if name in ("small", "turned", "bounded", "never", "plain") else "f8"), (name, got.dtype)
        assert (np.isnan(got) == np.ma.getmaskarray(values) | np.isnan(np.ma.filled(values.astype("f8"), np.nan))).all(), name
        np.testing.assert_allclose(got[~np.isnan(got)], np.ma.compressed(np.ma.masked_invalid(values)), rtol=1e-6, err_msg=name)
    assert "'plain'" not in reported and "'bounded' marked as missing become NaN: valid_min -1" in reported, reported
    fields = {name: (("y", "x"), np.where(p[0] > 1, np.float32(1e20), p[0])) for name in "uv"}
    xarray.Dataset(fields).to_netcdf("unmarked.nc", encoding={name: {"_FillValue": None} for name in "uv"})
    reported = converted("unmarked.nc", "unmarked.bricks")
    count = int((p[0] > 1).sum())
    assert f"'u' has {count} values of 1.00000002e+20, which may mark missing data; use --fill=1.00000002e+20 to replace them by NaN" in reported, reported
    assert "warning" not in converted("unmarked.nc", "unmarked.bricks", "--replace", "--fill=1e20")
    land = np.stack([np.where(p[0] > 1, np.float32(np.nan), p[0])] * 2, -1)[None]
    bricks_are("unmarked.bricks", land, None, 0, "velocity")


def netcdf_clocks(xarray):
    """Files of one day each, with their own dates and units, form one time axis."""
    dims = ("time", "y", "x")
    axes = {"y": ("y", np.arange(6.0), {"units": "km"}), "x": ("x", np.arange(9) * 0.5, {"units": "km"})}

    def write(name, times, units, calendar=None, velocity="m s-1", **more):
        about = {"units": units, **({"calendar": calendar} if calendar else {})}
        fields = {each: (dims, np.full((len(times), 6, 9), 0.5, "f4"), {"units": velocity} if velocity else {}) for each in "uv"}
        data = xarray.Dataset(fields, {"time": ("time", np.asarray(times), about if units else {}), **axes, **more})
        data.to_netcdf(name)
        return data

    write("day_0.nc", [0.0, 0.5], "days since 2004-02-28", "noleap")
    write("day_1.nc", [0.0, 12.0], "hours since 2004-03-01 00:00", "noleap")
    reported = converted("day_*.nc", "day.bricks.series")
    assert "coordinates of 'x' (km), 'y' (km) are converted to the unit of the velocity, m s-1" in reported, reported
    with flow.open("day.bricks.series") as days:
        assert days.times.tolist() == [0, 43200, 86400, 129600], days.times
        assert days.spacing == (500, 1000, 1) and days.dtype == np.float32
        np.testing.assert_allclose(days.path_lines([[100.0, 0, 0]], end_time=400).ends[0], [300, 200, 0], rtol=1e-9)
    assert "times are in 'days since 2004-02-28', but 'u' in 'm s-1': an .idx file has no units" in converted("day_*.nc", "day.idx")
    with idx.open("day.idx") as dataset:
        assert dataset.times == [0, 0.5, 1, 1.5], dataset.times
    write("day_1.nc", [0.0, 1.0], "days since 2004-03-01", "standard")
    stopped("day_*.nc", "left.bricks.series", says="day_1.nc: times use the calendar standard, earlier ones noleap; use --times")
    stopped("day_*.nc", "left.idx", says="day_1.nc: times use the calendar standard, earlier ones noleap; left.idx contains")
    write("day_1.nc", [0.0, 1.0], "days")
    stopped("day_*.nc", "left.idx", says="day_1.nc: times are in 'days', earlier ones in 'days since 2004-02-28'")
    for name, day in (("one_0.nc", "2004-02-29"), ("one_1.nc", "2004-03-01")):  # one level, as scalar or as axis
        data = write(name, [0.0], f"days since {day}")
        if name == "one_1.nc":
            data.isel(time=0).to_netcdf(name)
    converted("one_*.nc", "one.bricks.series")
    with flow.open("one.bricks.series") as days:
        assert days.times.tolist() == [0, 86400], days.times

    # The manual's example: 0.5 m/s for two days are 86,400 m. Insufficient information is rejected with what is
    # missing.
    write("two.nc", [0.0, 1.0, 2.0], "days since 2000-01-01")
    converted("two.nc", "two.bricks.series", "--spacing", "50000,50000,1")
    with flow.open("two.bricks.series") as days:
        assert abs(days.path_lines([[0.0, 0, 0]]).ends[0][0] - 86400) < 1e-6
    write("no_unit.nc", [0.0, 1.0], "")
    refused("no_unit.nc", "n.bricks.series", says=("times have no units", "--time-unit"))
    converted("no_unit.nc", "hours.bricks.series", "--time-unit", "hours")
    with flow.open("hours.bricks.series") as days:
        assert days.times.tolist() == [0, 3600]
    write("no_velocity.nc", [0.0, 1.0], "days since 2000-01-01", velocity=None)
    refused("no_velocity.nc", "n.bricks.series", says=("'u' has no units", "--velocity-unit"))
    converted("no_velocity.nc", "daily.bricks.series", "--velocity-unit", "km/day")
    with flow.open("daily.bricks.series") as days:
        assert days.times.tolist() == [0, 1] and days.spacing[0] == 0.5
    converted("no_velocity.nc", "raw.bricks.series", "--ignore-units")
    with flow.open("raw.bricks.series") as days:
        assert days.times.tolist() == [0, 1] and days.spacing[0] == 0.5
    write("months.nc", [0.0, 1.0], "months since 2000-01-01")
    refused("months.nc", "n.bricks.series", says=("'months since 2000-01-01' of the calendar standard", "--times"))
    write("months.nc", [0.0, 1.0], "months since 2000-01-01", "360_day")
    converted("months.nc", "months.bricks.series")
    with flow.open("months.bricks.series") as days:
        assert days.times.tolist() == [0, 30 * 86400]
    write("odd.nc", [0.0, 1.0], "days since 2000-01-01", velocity="furlong/fortnight")
    refused("odd.nc", "n.bricks.series", says=("'u' has the unknown unit 'furlong/fortnight'", "--velocity-unit"))


def netcdf_units(xarray):
    """Velocities in degrees, and components with other units or signs."""
    times = ("time", [0.0, 1.0], {"units": "hours since 2000-01-01"})
    latitudes, longitudes = np.linspace(80, -80, 9), np.arange(36) * 10.0
    globe = {"time": times, "lat": ("lat", latitudes, {"units": "degrees_north"}), "lon": ("lon", longitudes, {"units": "degrees_east"})}
    wind = {"u": (("time", "lat", "lon"), np.full((2, 9, 36), 10.0), {"units": "m s-1", "standard_name": "eastward_wind"}),
            "v": (("time", "lat", "lon"), np.full((2, 9, 36), 0.002), {"units": "m s-1", "standard_name": "northward_wind"})}
    xarray.Dataset(wind, globe).to_netcdf("globe.nc")
    reported = converted("globe.nc", "globe.bricks.series")
    assert "'u', 'v' in m s-1 over degrees are converted to degree s-1 on a sphere of 6371000 m" in reported, reported
    assert "'lon' spans the globe: the flow is periodic along x; use --cyclic none" in reported, reported
    degree = np.pi / 180 * 6371000
    with flow.open("globe.bricks.series") as found:
        assert found.cyclic == (True, False, False) and found.spacing[:2] == (10, 20) and found.origin[:2] == (0, -80)
        lines = found.path_lines([[355.0, 60, 0], [100, -40, 0]])
        for (x, y, _), seed, share in zip(lines.ends, ((355, 60), (100, -40)), (0.5, np.cos(np.radians(40)))):
            assert abs(y - seed[1] - 7.2 / degree) < 1e-9, (x, y)
            assert abs(x - seed[0] - 36000 / degree / share) < 1e-3, (x, y)  # the cosine is that of the rows
    assert "use --cyclic x to continue them" in converted("globe.nc", "bounded.bricks.series", "--cyclic", "none")
    xarray.Dataset({name: each[:1] + (np.concatenate([each[1], each[1][..., :1]], -1),) + each[2:] for name, each in wind.items()}, {
        **globe, "lon": ("lon", np.arange(37) * 10.0, {"units": "degrees_east"})}).to_netcdf("closed.nc")
    assert "the last sample along 'lon' repeats the first one and is skipped" in converted("closed.nc", "closed.bricks.series")
    for number in range(2):
        with open(f"closed_{number:04}.bricks", "rb") as found, open(f"globe_{number:04}.bricks", "rb") as expected:
            assert found.read() == expected.read()
    wrapped = {**globe, "lon": ("lon", (np.arange(36) * 10.0 + 180) % 360 - 180, {"units": "degrees_east"})}
    xarray.Dataset(wind, wrapped).to_netcdf("wrapped.nc")  # 0 ... 170, -180 ... -10
    converted("wrapped.nc", "wrapped.bricks.series")
    with flow.open("wrapped.bricks.series") as found:
        assert found.cyclic[0] and found.spacing[0] == 10 and found.origin[0] == 0
    poles = {**globe, "lat": ("lat", np.linspace(-90, 90, 9), {"units": "degrees_north"})}
    xarray.Dataset(wind, poles).to_netcdf("poles.nc")
    assert "the poles have no flow" in converted("poles.nc", "poles.bricks.series")
    swapped = {"u": wind["v"], "v": wind["u"]}
    xarray.Dataset(swapped, globe).to_netcdf("swapped.nc")
    refused("swapped.nc", "n.bricks.series", says=("'u' is northward_wind, but would be along the axis 'lon'",))
    xarray.Dataset(wind, {**globe, "lon": ("lon", np.arange(36) * 10.0, {"units": "m"})}).to_netcdf("mixed.nc")
    with_unit = converted("mixed.nc", "mixed.bricks.series", "--coordinate-unit", "m")
    assert "degree" not in with_unit, with_unit

    # Up and down, and another unit for the third component.
    deep = {"time": times, "depth": ("depth", np.arange(5) * 10.0, {"units": "m", "positive": "down"}),
            "y": ("y", np.arange(6.0), {"units": "m"}), "x": ("x", np.arange(7.0), {"units": "m"})}
    dims = ("time", "depth", "y", "x")
    sea = {name: (dims, np.full((2, 5, 6, 7), value, "f4"), {"units": unit}) for name, value, unit in (
        ("u", 0, "m s-1"), ("v", 0, "m s-1"), ("w", 0.5, "cm/s"))}
    xarray.Dataset(sea, deep).to_netcdf("sea.nc")
    refused("sea.nc", "n.bricks.series", says=("'w' does not declare whether it is positive upward or downward", "--vertical"))
    sea["w"][2]["standard_name"] = "upward_sea_water_velocity"
    xarray.Dataset(sea, deep).to_netcdf("sea.nc")
    for options, end in (((), 2), (("--vertical", "down"), 38)):
        converted("sea.nc", "sea.bricks.series", "--replace", *options)
        with flow.open("sea.bricks.series") as found:
            assert abs(found.path_lines([[1.0, 1, 20]]).ends[0][2] - end) < 1e-5


def netcdf_axes(xarray):
    """Axes in another order, curvilinear grids, groups."""
    import netCDF4
    field = random.normal(size=(5, 4, 6)).astype("f4")
    axes = {"lev": ("lev", np.arange(5.0), {"axis": "Z"}), "lat": ("lat", np.arange(4.0), {"units": "degrees_north"}),
            "lon": ("lon", (np.arange(6) / 12).astype("f4") + np.float32(300), {"units": "degrees_east"})}
    data = xarray.Dataset({"a": (("lev", "lat", "lon"), field)}, axes)
    data.transpose("lon", "lat", "lev").to_netcdf("order.nc")
    converted("order.nc", "order.idx")
    same("order.idx", {"a": field}, origin=(300, 0, 0), spacing=(np.ptp(axes["lon"][1]).astype("f8") / 5, 1, 1))
    xarray.Dataset({"a": (("record", "y", "x"), field[:1]), "ocean_time": (("record",), [7.0], {"units": "seconds since 2000-01-01"})}
                   ).to_netcdf("record.nc")
    converted("record.nc", "record.idx")
    same("record.idx", {"a": field[0]}, time=7)
    member = xarray.Dataset({"a": (("time", "member", "lev", "lat", "lon"), field[None, None])}, axes)
    member.to_netcdf("member.nc")
    converted("member.nc", "member.idx")
    same("member.idx", {"a": field}, origin=(300, 0, 0), spacing=(np.ptp(axes["lon"][1]).astype("f8") / 5, 1, 1))

    jj, ii = np.meshgrid(np.arange(4.0), np.arange(6.0), indexing="ij")
    about = {"units": "m/s", "coordinates": "time_counter nav_lat nav_lon"}
    for name, bend in (("nemo.nc", 0.1), ("straight.nc", 0)):
        xarray.Dataset({"nav_lat": (("y", "x"), jj * 2 + bend * ii), "nav_lon": (("y", "x"), ii + bend * jj),
                        **{each: (("time_counter", "y", "x"), field[:2], about) for each in "uv"}},
                       {"time_counter": ("time_counter", [0.0, 1.0], {"units": "days since 1950-01-01"})}).to_netcdf(name)
    for end in ("bricks.series", "idx"):
        refused("nemo.nc", f"n.{end}", "--arrays", "u,v", says=("is a curvilinear grid with samples at 'nav_lat', 'nav_lon'",))
    converted("nemo.nc", "nemo.idx", "--arrays", "u,v", "--spacing", "1,1,1")
    converted("straight.nc", "straight.idx", "--arrays", "u")
    with idx.open("straight.idx") as dataset:
        np.testing.assert_allclose(dataset.spacing[:2], (1, 2))
    with netCDF4.Dataset("groups.nc", "w") as file:
        group = file.createGroup("ocean")
        group.createDimension("y", 4), group.createDimension("x", 6)
        group.createVariable("a", "f4", ("y", "x"))[:] = field[0]
    refused("groups.nc", "n.idx", says=("one of which --group selects: 'ocean'",))
    converted("groups.nc", "groups.idx", "--group", "ocean")
    same("groups.idx", {"a": field[0]})
    staggered = xarray.Dataset({"u": (("y", "xu"), p[0]), "v": (("yv", "x"), p[0])})
    staggered.to_netcdf("staggered.nc")
    refused("staggered.nc", "n.bricks", "--arrays", "u,v", says=("'v' has the axes ('yv', 'x'), but the first of --arrays ('y', 'xu')",))


def stopped(*words, says):
    """A later step cannot be converted; those before it stay."""
    code, _, err = command(*words, *(["--replace"] if words[1].endswith("series") else []))
    assert code == 3 and says in err, (says, err)


def bricks_are(path, velocity, time, step, field, **place):
    flow.write_level("expected.bricks", velocity, time=time, step=step, field=field, flush=False, **place)
    with open(path, "rb") as found, open("expected.bricks", "rb") as expected:
        assert found.read() == expected.read(), path
    os.unlink("expected.bricks")


if "--netcdf" in sys.argv:
    netcdf()
    sys.exit(0)

# --- NumPy
np.save("p.npy", p)
converted("p.npy", "p.idx", "--spacing", "0.5,1,2", "--origin", "1,0,-1")
same("p.idx", {"p": p}, origin=(1, 0, -1), spacing=(0.5, 1, 2))
np.save("v.npy", v)
np.save("plane.npy", p[0])
converted("v.npy", "v.idx", "--codec", "lz4", "--layout", "hz")
same("v.idx", {"v": v})
converted("plane.npy", "plane.idx")
same("plane.idx", {"plane": p[0]})
np.savez("all.npz", p=p, v=v, k=k, flag=p > 0, half=p.astype("f2"), spacing=[1, 2, 4.0], origin=[0, 0, 8.0], step=4, time=0.25)
assert json.loads(command("all.npz", "all.idx", "--json")[1])["dimensions"] == [21, 14, 9]
same("all.idx", {"p": p, "v": v, "k": k, "flag": (p > 0).view("u1"), "half": p.astype("f2").astype("f4")}, 4, 0.25,
     (0, 0, 8), (1, 2, 4))
with open("turned.idx", "w") as file:  # the samples of all.idx
    file.write(open("all.idx").read().split("(physic_box)")[0].split("(logic_to_physic)")[0]
               + "(logic_to_physic)\n0 -1 0 0 1 0 0 0 0 0 1 0 0 0 0 1\n")
assert "samples are placed at their logical coordinates" in converted("turned.idx", "straight.idx")
converted("all.npz", "some.idx", "--arrays", "k", "--dialect", "pidx")
same("some.idx", {"k": k}, 4, 0.25, (0, 0, 8), (1, 2, 4))
for step in range(3):
    np.savez(f"t_{step * 5}.npz", p=p + step)
converted("t_*.npz", "t.idx")
for step in range(3):
    same("t.idx", {"p": p + step}, step, steps=3)
converted("t_*.npz", "t.idx", "--steps", "::2")
same("t.idx", {"p": p + 2}, 2, steps=2)
for i in range(3):  # one step each, with the same number
    np.savez(f"same_{i}.npz", p=p + i, step=2)
converted("same_*.npz", "numbers.idx")
for i in range(3):
    same("numbers.idx", {"p": p + i}, 2 + i, steps=3)
np.savez("words.npz", text=np.array(["a", "b"]), p=p, **{"a b/c": p * 2})
reported = converted("words.npz", "words.idx")
assert "'text' is not written" in reported and "'a b/c' becomes the field 'a_b_c'" in reported, reported
same("words.idx", {"p": p, "a_b_c": p * 2})
np.savez("shapes.npz", p=p, q=p[1:])
refused("shapes.npz", "n.idx", says=("differ in shape", "--arrays"))
converted("shapes.npz", "shapes.idx", "--arrays", "q")
refused("shapes.npz", "n.idx", "--arrays", "r", says=("unknown field 'r'; available: 'p', 'q'",))
put("cut.npy", open("p.npy", "rb").read()[:-5])
refused("cut.npy", "n.idx", says=("cut.npy: ",))
np.save("objects.npy", np.array([[1, "a"]], object), allow_pickle=True)
refused("objects.npy", "n.idx")

# --- raw numbers
p.tofile("engine_21x14x9_float32.raw")
converted("engine_21x14x9_float32.raw", "e.idx")
same("e.idx", {"engine": p})
put("head.dat", b"12345" + v.astype(">f8").tobytes())
converted("head.dat", "h.idx", "--format", "raw", "--dimensions", "21,14,9", "--type", "float64[3]", "--byte-order", "big", "--skip", 5)
same("h.idx", {"head": v})
refused("head.dat", "n.idx", "--format", "raw", "--dimensions", "21,14,9", "--type", "float64[3]",
        says=("has 63509 bytes; 21x14x9 of float64[3] need 63504",))
refused("head.dat", "n.idx", "--format", "raw", says=("--dimensions",))
refused("head.dat", "n.idx", "--format", "raw", "--dimensions", "21,14,0", code=2)
refused("p.npy", "n.idx", "--type", "uint8", says=("the format npy",))

# --- other .idx
converted("all.idx", "again.idx", "--codec", "zip")
assert command("all.idx", "again.idx")[0] == 0
with idx.open("again.idx") as dataset:
    assert dataset.times == [0.25]
same("again.idx", {"p": p, "v": v, "k": k, "flag": (p > 0).view("u1"), "half": p.astype("f2").astype("f4")}, 4, 0.25,
     (0, 0, 8), (1, 2, 4))
idx.write("first.idx", {"p": p}, first=(3, 4, 5), origin=(1, 1, 1))
converted("first.idx", "moved.idx", "--layout", "hz")
same("moved.idx", {"p": p}, origin=(1, 1, 1), first=(3, 4, 5))
refused("all.idx", "all.idx", says=("is an input",))
same("all.idx", {"p": p, "v": v, "k": k, "flag": (p > 0).view("u1"), "half": p.astype("f2").astype("f4")}, 4, 0.25,
     (0, 0, 8), (1, 2, 4))

# --- HDF5
try:
    import h5py
except ImportError:
    h5py = None
if h5py:
    with h5py.File("a.h5", "w") as file:
        file["fields/p"], file["fields/v"], file["other/k"] = p, v, k
        file["list"] = np.arange(4)
    converted("a.h5", "a.idx")
    same("a.idx", {"p": p, "v": v, "k": k})
    converted("a.h5", "b.idx", "--map", "pressure=/fields/p")
    same("b.idx", {"pressure": p})
    with h5py.File("s.h5", "w") as file:
        for step in (2, 10):
            file[f"cycle_{step}/p"] = p * step
    converted("s.h5", "s.idx", "--map", "p=/cycle_*/p")
    same("s.idx", {"p": p * 10}, 10, steps=2)
    with h5py.File("packed.h5", "w") as file:
        file["p"] = np.arange(24, dtype="i2").reshape(4, 6)
        file["p"].attrs.update({"scale_factor": np.array([0.5], "f4"), "add_offset": np.float32(2), "_FillValue": np.array([3], "i2")})
    assert "'/p' is unpacked from int16 to float32: scale_factor" in converted("packed.h5", "packed.idx")
    packed = np.arange(24, dtype="f4").reshape(4, 6) * np.float32(0.5) + 2
    packed[0, 3] = np.nan
    same("packed.idx", {"p": packed})
    converted("packed.h5", "packed.idx", "--stored")
    same("packed.idx", {"p": np.arange(24, dtype="i2").reshape(4, 6)})
    refused("s.h5", "n.idx", "--map", "p=/cycle_*/q", says=("no name in the file matches",))
    put("cut.h5", open("a.h5", "rb").read()[:2000])
    refused("cut.h5", "n.idx", says=("cut.h5: ",))

# --- velocities to bricks
uvw = dict(zip("uvw", np.ascontiguousarray(np.moveaxis(v, -1, 0))))
for step, time in ((0, 0.5), (3, 0.75)):
    idx.write("wind.idx", {"wind": v + step, "p": p, **uvw}, step=step, time=time, first=(3, 4, 5), origin=(1, 1, 1),
              spacing=(0.5, 1, 2), mode="add_step" if step else "replace")
place = {"origin": (2.5, 5, 11), "spacing": (0.5, 1, 2)}
converted("wind.idx", "wind.bricks.series", "--arrays", "wind", "--cyclic", "y")
for level, (step, time) in enumerate(((0, 0.5), (3, 0.75))):
    bricks_are(f"wind_{level:04}.bricks", v + step, time, step, "wind", cyclic=(False, True, False), **place)
with flow.open("wind.bricks.series") as series:
    assert series.times.tolist() == [0.5, 0.75]
converted("wind.idx", "one.bricks", "--arrays", "w,u", "--steps", 1)
bricks_are("one.bricks", np.stack([uvw["w"], uvw["u"]], -1), 0.75, 3, "velocity", **place)
refused("wind.idx", "one.bricks", "--arrays", "u,v", "--steps", 1, says=("already exists", "--replace"))
converted("wind.idx", "one.bricks", "--arrays", "u,v", "--steps", 0, "--replace", "--times", "8")
bricks_are("one.bricks", np.stack([uvw["u"], uvw["v"]], -1), 8.0, 0, "velocity", **place)
refused("wind.idx", "n.bricks", "--arrays", "wind", says=("2 steps",))
np.savez("named.npz", **{"meridional (v)": uvw["v"], "zonal (u)": uvw["u"]})  # renamed, in another order
convert("named.npz", "one.bricks", arrays=["zonal (u)", "meridional (v)"], settings={"replace": True})
bricks_are("one.bricks", np.stack([uvw["u"], uvw["v"]], -1), None, 0, "velocity")
refused("wind.idx", "n.bricks.series", says=("wind.idx: no velocity", "wind of type float64[3]", "--arrays"))
refused("wind.idx", "n.bricks.series", "--arrays", "p,u", says=("no velocity", "p of type float32"))
for names, places in (("uvw", "uvw"), ("wuv", "uvw"), ("YZX", "XYZ"), (("2_v", "1_v", "3_v"), ("1_v", "2_v", "3_v")), ("VU", "UV")):
    parts = {name: uvw["uvw"[place]] for place, name in enumerate(names)}
    np.savez("parts.npz", **parts)
    converted("parts.npz", "parts.bricks", "--replace")
    bricks_are("parts.bricks", np.stack([parts[name] for name in places], -1), None, 0, "velocity")
for names in (("energy", "density"), ("u", "w"), ("ux", "vy"), ("wu", "wv", "p")):
    np.savez("no_parts.npz", **dict(zip(names, uvw.values())))
    refused("no_parts.npz", "n.bricks", says=("no_parts.npz: no velocity", names[0], "--arrays"))
    converted("no_parts.npz", "parts.bricks", "--replace", "--arrays", ",".join(names))
refused("wind.idx", "n.bricks.series", "--arrays", "wind", "--times", "2,1", says=("1.0 after 2.0",))
refused("wind.idx", "n.bricks.series", "--arrays", "wind", "--codec", "zip", code=2)
converted("head.dat", "h.bricks.series", "--format", "raw", "--dimensions", "21,14,9", "--type", "float64[3]", "--byte-order", "big",
          "--skip", 5, "--origin=-1,0,1")
bricks_are("h_0000.bricks", v, 0.0, 0, "head", origin=(-1, 0, 1))
if h5py:
    with h5py.File("w.h5", "w") as file:
        for step in (2, 10):
            file[f"cycle_{step}/v"] = v * step
    converted("w.h5", "w.bricks.series", "--map", "wind=/cycle_*/v", "--times", "0.5,9")
    for level, (step, time) in enumerate(((2, 0.5), (10, 9.0))):
        bricks_are(f"w_{level:04}.bricks", v * step, time, step, "wind")

# File names that number steps name one field.
for level in range(3):
    np.save(f"u10_{level:04}.npy", p + level)
    np.save(f"v_{9 + level}.npy", v + level)
    (p + level).tofile(f"{level}_dens_21x14x9_float32.raw")
converted("u10_*.npy", "u10.idx")
converted("*_dens_*.raw", "dens.idx")
for level in range(3):
    same("u10.idx", {"u10": p + level}, level, steps=3)
    same("dens.idx", {"dens": p + level}, level, steps=3)
converted("v_*.npy", "levels.bricks.series")
converted("v.npy", "p.npy", "v_9.npy", "mixed.bricks.series", "--steps", "::2")
for level in range(3):
    bricks_are(f"levels_{level:04}.bricks", v + level, float(level), level, "v")
bricks_are("mixed_0001.bricks", v, 1.0, 2, "v")
# A number that may be a fill value is reported, whatever the format.
np.save("filled.npy", np.where(v > 1, -9999, v * 1e-3))
assert "'filled' has" in converted("filled.npy", "filled.bricks") and os.path.exists("filled.bricks")
assert not converted("filled.npy", "filled.bricks", "--replace", "--fill=-9999")
bricks_are("filled.bricks", np.where(v > 1, np.nan, v * 1e-3), None, 0, "filled")

# --- common behaviour
refused("p.npy", "n.idx", "--columns", "x,y,z", code=2)
refused("p.npy", "n.bat", "--codec", "zip", code=2)
refused("p.npy", "n.idx", "--jobs", 2, code=2)
refused("nowhere.npy", "n.idx", says=("no such file",))
refused("p.npy", "p%d.idx", says=("the name",))
put("nothing.npy", b"")
refused("nothing.npy", "n.idx", says=("is empty",))
put("unknown.xyz", b"abc")
refused("unknown.xyz", "n.idx", says=("no format known",))
# Complete steps remain if a later one fails, and the message says so.
np.savez("t_99.npz", p=p[1:])
code, _, err = command("t_0.npz", "t_99.npz", "u.idx")
assert code == 3 and "u.idx contains what was complete when it failed: step 0" in err, err
same("u.idx", {"p": p})
# A user-defined format, and the function.
put("mine.py", "import numpy as np\nfrom parabat.convert import Fields, Format, Step\n"
    "def steps(path, options):\n    yield Step(lambda: Fields({'n': np.fromfile(path, 'u1').reshape(2, 2, 2)}), 3, 0.5)\n"
    "FORMAT = Format('mine', 'eight bytes', steps)\n")
put("eight.bin", bytes(range(8)))
done, = convert("eight.bin", "eight.idx", format="mine.py", settings={"codec": "zip"})
assert (done["step"], done["dimensions"], done["fields"]) == (3, (2, 2, 2), ["n"]), done
same("eight.idx", {"n": np.arange(8, dtype="u1").reshape(2, 2, 2)}, 3, 0.5)
listed = [json.loads(line) for line in command("x", "--list", "json")[1].splitlines()]
assert {row["format"] for row in listed if row["of"] == "grids"} == {row.name for row in formats(grids=True)}
assert {row.name for row in formats(grids=True)} == {"idx", "npy", "raw", "hdf5", "netcdf"}
