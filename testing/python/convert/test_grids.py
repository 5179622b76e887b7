# SPDX-License-Identifier: BSD-3-Clause
"""Grids to .idx: every value of numpy's files, bare numbers, HDF5 and other .idx; netCDF where xarray is (test_grids.py
--netcdf)."""

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
    said = converted("a.nc", "a.idx")
    for word in ("'table' is not written", "not applied: ", "scale_factor 0.5"):
        assert word in said, (word, said)
    with idx.open("a.idx") as dataset:
        assert (dataset.steps, dataset.times) == ([0, 1], [0.5, 1.5])
        np.testing.assert_allclose(dataset.origin, [0, -60, 1])
        np.testing.assert_allclose(dataset.spacing, [0.25, 10, 0.125])
        for step in (0, 1):
            equal("a.idx", "temp", dataset.read("temp", step=step)["temp"], np.ascontiguousarray(both[step, :, ::-1]))
    stored = xarray.open_dataset("a.nc", decode_cf=False)["mask"].values
    equal("a.idx", "mask", idx.open("a.idx").read("mask", step=1)["mask"], np.ascontiguousarray(stored[:, ::-1]))
    coordinates["lon"] = np.arange(21.0) ** 2
    data.assign_coords(lon=coordinates["lon"]).to_netcdf("b.nc")
    said = converted("b.nc", "b.idx", "--steps", 1, "--arrays", "temp")
    assert "coordinates of 'lon' are not evenly spaced" in said, said
    with idx.open("b.idx") as dataset:
        assert dataset.spacing[0] == 1 and dataset.steps == [1]
    xarray.Dataset({"a": (("y", "x"), p[0])}).to_netcdf("c.nc", format="NETCDF3_CLASSIC")
    converted("c.nc", "c.idx")
    same("c.idx", {"a": p[0]})
    xarray.Dataset({"a": (("x",), p[0, 0])}).to_netcdf("d.nc")
    refused("d.nc", "d.idx", says=("d.nc: has no variable of two or three axes",))
    # Slabs, as ranks read them, also of an axis that is turned round.
    xarray.Dataset({"a": (("lat", "lon"), p[0])}, {"lat": np.linspace(70, -60, 14)}).to_netcdf("f.nc")
    for name, field in (("a.nc", "temp"), ("f.nc", "a")):
        slabs = []
        for i in range(-1, 3):
            steps = formats_of_netcdf.steps(name, Options(arrays=[field], part=(i, 3) if i >= 0 else (0, 1)))
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
    with open("ocean.bricks", "rb") as found, open("expected.bricks", "rb") as wanted:
        assert found.read() == wanted.read()
    ocean.assign_coords(x=np.arange(21.0) ** 2).to_netcdf("uneven.nc")
    refused("uneven.nc", "n.bricks", "--arrays", "u,v", says=("coordinates of 'x' are not evenly spaced",))
    put("e.nc", open("a.nc", "rb").read()[:700])
    refused("e.nc", "e.idx", says=("e.nc: ",))


if "--netcdf" in sys.argv:
    netcdf()
    sys.exit(0)

# --- numpy
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
assert "samples lie at their logical coordinates" in converted("turned.idx", "straight.idx")
converted("all.npz", "some.idx", "--arrays", "k", "--dialect", "pidx")
same("some.idx", {"k": k}, 4, 0.25, (0, 0, 8), (1, 2, 4))
for step in range(3):
    np.savez(f"t_{step * 5}.npz", p=p + step)
converted("t_*.npz", "t.idx")
for step in range(3):
    same("t.idx", {"p": p + step}, step, steps=3)
converted("t_*.npz", "t.idx", "--steps", "::2")
same("t.idx", {"p": p + 2}, 2, steps=2)
for i in range(3):  # of one step each, with the same number
    np.savez(f"same_{i}.npz", p=p + i, step=2)
converted("same_*.npz", "numbers.idx")
for i in range(3):
    same("numbers.idx", {"p": p + i}, 2 + i, steps=3)
np.savez("words.npz", text=np.array(["a", "b"]), p=p, **{"a b/c": p * 2})
said = converted("words.npz", "words.idx")
assert "'text' is not written" in said and "'a b/c' becomes the field 'a_b_c'" in said, said
same("words.idx", {"p": p, "a_b_c": p * 2})
np.savez("shapes.npz", p=p, q=p[1:])
refused("shapes.npz", "n.idx", says=("different shapes", "--arrays"))
converted("shapes.npz", "shapes.idx", "--arrays", "q")
refused("shapes.npz", "n.idx", "--arrays", "r", says=("there is no field 'r'; there are 'p', 'q'",))
put("cut.npy", open("p.npy", "rb").read()[:-5])
refused("cut.npy", "n.idx", says=("cut.npy: ",))
np.save("objects.npy", np.array([[1, "a"]], object), allow_pickle=True)
refused("objects.npy", "n.idx")

# --- bare numbers
p.tofile("engine_21x14x9_float32.raw")
converted("engine_21x14x9_float32.raw", "e.idx")
same("e.idx", {"engine": p})
put("head.dat", b"12345" + v.astype(">f8").tobytes())
converted("head.dat", "h.idx", "--format", "raw", "--dimensions", "21,14,9", "--type", "float64[3]", "--byte-order", "big", "--skip", 5)
same("h.idx", {"head": v})
refused("head.dat", "n.idx", "--format", "raw", "--dimensions", "21,14,9", "--type", "float64[3]",
        says=("has 63509 bytes; 21x14x9 of float64[3] are 63504",))
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
    refused("s.h5", "n.idx", "--map", "p=/cycle_*/q", says=("nothing in the file is called so",))
    put("cut.h5", open("a.h5", "rb").read()[:2000])
    refused("cut.h5", "n.idx", says=("cut.h5: ",))

# --- velocities to bricks
def bricks_are(path, velocity, time, step, field, **place):
    flow.write_level("expected.bricks", velocity, time=time, step=step, field=field, flush=False, **place)
    with open(path, "rb") as found, open("expected.bricks", "rb") as wanted:
        assert found.read() == wanted.read(), path
    os.unlink("expected.bricks")


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
refused("wind.idx", "one.bricks", "--arrays", "u,v", "--steps", 1, says=("is there already", "--replace"))
converted("wind.idx", "one.bricks", "--arrays", "u,v", "--steps", 0, "--replace", "--times", "8")
bricks_are("one.bricks", np.stack([uvw["u"], uvw["v"]], -1), 8.0, 0, "velocity", **place)
refused("wind.idx", "n.bricks", "--arrays", "wind", says=("2 steps",))
np.savez("named.npz", **{"meridional (v)": uvw["v"], "zonal (u)": uvw["u"]})  # names that are changed, in another order
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
refused("wind.idx", "n.bricks.series", "--arrays", "wind", "--times", "2,1", says=("1.0 behind 2.0",))
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

# --- what goes for all
refused("p.npy", "n.idx", "--columns", "x,y,z", code=2)
refused("p.npy", "n.bat", "--codec", "zip", code=2)
refused("p.npy", "n.idx", "--jobs", 2, code=2)
refused("nowhere.npy", "n.idx", says=("no such file",))
refused("p.npy", "p%d.idx", says=("the name",))
put("nothing.npy", b"")
refused("nothing.npy", "n.idx", says=("is empty",))
put("unknown.xyz", b"abc")
refused("unknown.xyz", "n.idx", says=("of no format",))
# Steps that were whole stay when a later one fails, and the line says so.
np.savez("t_99.npz", p=p[1:])
code, _, err = command("t_0.npz", "t_99.npz", "u.idx")
assert code == 3 and "u.idx has what was whole when it failed: step 0" in err, err
same("u.idx", {"p": p})
# One's own format, and the function.
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
