# SPDX-License-Identifier: BSD-3-Clause
"""H5MD: groups at their own steps, fixed groups, placeholders, dimensions, boxes and units become what the file says."""

import json
import os
import pathlib

import numpy as np
import parabat
from support import converted, put, refused, same, without

without("h5py")
import h5py  # pylint: disable=wrong-import-position

CASES = pathlib.Path(__file__).resolve().parents[2] / "data" / "cases"
random = np.random.default_rng(5)
xyz = random.random((6, 9, 3))
ids = np.arange(9) + 2 ** 40


def element(group, name, value, step=None, time=None, unit=None, time_unit=None, fill=None):
    node = group.create_group(name)
    node.create_dataset("value", data=value, **({} if fill is None else {"fillvalue": fill}))
    for key, numbers in (("step", step), ("time", time)):
        if numbers is not None:
            node[key] = numbers
    if unit:
        node["value"].attrs["unit"] = unit
    if time_unit:
        node["time"].attrs["unit"] = time_unit
    return node


def h5md(path, **groups):
    """A file with a group for each function that fills one."""
    with h5py.File(path, "w") as file:
        file.create_group("h5md").attrs["version"] = np.array([1, 1])
        for name, fill in groups.items():
            group = file.create_group(f"particles/{name}")
            fill(group)
    return path


def about(path, positions, attributes=None, key="id", time=None, step=None):
    """Metadata of a dataset that has these particles."""
    if attributes is None:
        with parabat.open(path) as dataset:
            assert (dataset.time, dataset.step) == (time, step), (path, dataset.time, dataset.step)
            found = dataset.read()
            assert not found.keys(), list(found)
            assert sorted(map(tuple, found.positions)) == sorted(map(tuple, positions)), (path, found.positions, positions)
            return json.loads(dataset.metadata)
    return json.loads(same(path, positions, attributes, key, time, step))


def left():
    """Datasets, which are removed."""
    found = sorted(name for name in os.listdir(".") if name.endswith(".bat"))
    for name in found:
        os.unlink(name)
    return found


# --- Groups at their own steps
converted(CASES / "grids.h5md", "grids.bat")
about("grids_a_0000.bat", [(1, 0, 0)], time=0.0, step=0)
about("grids_b_0000.bat", [(100, 0, 0)], time=0.0, step=0)
about("grids_a_0001.bat", [(11, 0, 0)], time=1.0, step=10)
about("grids_b_0002.bat", [(120, 0, 0)], time=2.0, step=20)
assert len(left()) == 4
converted(CASES / "grids.h5md", "b.bat", "--species", "b")
about("b_0001.bat", [(120, 0, 0)], time=2.0, step=20)
assert left() == ["b_0000.bat", "b_0001.bat"]
refused(CASES / "grids.h5md", "bad.bat", "--species", "c", says=["unknown species 'c'; available: 'a', 'b'"])

# Increments with offsets, times only, elements with other steps than positions, repeated steps.
h5md("increments.h5md",
     a=lambda g: element(g, "position", xyz[:3], 10, 0.5)["step"].attrs.__setitem__("offset", 5),
     b=lambda g: element(g, "position", xyz[3:5] + 1, [15, 40], [0.75, 4.0]))
reported = converted("increments.h5md", "out.bat")
assert "the group 'b' has time 0.75 for step 15, other groups 0.5, which is used" in reported, reported
for name, i, place, time, step in (("a", 0, 0, 0.0, 5), ("a", 1, 1, 0.5, 15), ("b", 1, 3, 0.5, 15), ("a", 2, 2, 1.0, 25),
                                   ("b", 3, 4, 4.0, 40)):
    about(f"out_{name}_000{i}.bat", xyz[place] + (name == "b"), time=time, step=step)
assert len(left()) == 5
h5md("times.h5md", a=lambda g: element(g, "position", xyz[:2], time=[0.1 * 3, 0.5]),
     b=lambda g: element(g, "position", xyz[2:4], time=[0.3, 0.75]))
converted("times.h5md", "out.bat")
about("out_b_0000.bat", xyz[2], time=0.1 * 3)
about("out_a_0001.bat", xyz[1], time=0.5)
about("out_b_0002.bat", xyz[3], time=0.75)
assert len(left()) == 4
h5md("none.h5md", a=lambda g: element(g, "position", xyz[:2], [3, 9]), b=lambda g: element(g, "position", xyz[2:4]),
     c=lambda g: element(g, "position", xyz[:5]))
reported = converted("none.h5md", "out.bat")
assert "'b' has no steps and times; those of 'a' are used" in reported, reported
assert "the group 'c' is not written: its 5 frames cannot be matched with the 2 of 'a'" in reported, reported
about("out_b_0001.bat", xyz[3], step=9)
assert len(left()) == 4
converted("none.h5md", "out.bat", "--species", "c", "--steps", "4")
about("out.bat", xyz[4])


def sparse(g):
    element(g, "position", xyz[:4], [0, 10, 20, 30], [0.0, 1, 2, 3])
    element(g, "velocity", xyz[4:], [10, 30])
    element(g, "weight", xyz[:4, :, 0])  # without steps, as many
    element(g, "extra", xyz[:3, :, 0])   # without steps, fewer
    g["id"] = ids
    g["total"] = 5.0
    g.create_group("notes")["a"] = 1


reported = converted(h5md("sparse.h5md", all=sparse), "sparse.bat")
for words in ("'velocity' is not written: it has no value for step 0", "'extra' is not written: it has no value for step 0",
              "'total' is not written: it does not have one value per particle", "'notes' is not written: it is a group"):
    assert words in reported, (words, reported)
for i in range(4):
    same(f"sparse_000{i}.bat", xyz[i], {"id": ids, "weight": xyz[i, :, 0], **({"velocity": xyz[4 + i // 2]} if i % 2 else {})},
         time=float(i), step=10 * i)
converted("sparse.h5md", "some.bat", "--arrays", "velocity")
left()
# Steps that another element names, as the standard requires of positions only.
h5md("other.h5md", all=lambda g: (element(g, "position", xyz[:2]), element(g, "charge", xyz[:2, :, 1], [7, 8], [0.25, 0.5])))
assert "/particles/all/position has no steps or times; those of 'charge' are used" in converted("other.h5md", "other.bat")
same("other_0001.bat", xyz[1], {"charge": xyz[1, :, 1]}, "charge", 0.5, 8)

# --- Fixed in time
reported = converted(CASES / "fixed.h5md", "fixed.bat")
assert "'walls' does not change in time and becomes one dataset without a time" in reported, reported
rows = np.arange(18.0).reshape(2, 3, 3)
about("fixed_fluid_0000.bat", rows[0], step=0)
about("fixed_fluid_0001.bat", rows[1], step=1)
about("fixed_walls.bat", rows[0])
left()
converted(CASES / "fixed.h5md", "walls.bat", "--species", "walls")
about("walls.bat", rows[0])


def heated(g):  # places that do not change, values that do
    g["position"] = xyz[0]
    element(g, "temperature", xyz[:2, :, 0], [4, 8], [0.5, 1.0])


converted(h5md("heated.h5md", all=heated), "heated.bat")
for i in (0, 1):
    same(f"heated_000{i}.bat", xyz[0], {"temperature": xyz[i, :, 0]}, "temperature", (i + 1) / 2, 4 * (i + 1))

# --- Placeholders
reported = converted(CASES / "grand.h5", "grand.bat")
assert "entries whose id is the fill value -1 are placeholders, not particles, and are not written" in reported, reported
box = {"lower": [0.0, 0.0, None], "upper": [10.0, 10.0, None]}
for i, n in ((0, 2), (1, 3)):
    meta = about(f"grand_000{i}.bat", np.arange(1.0, 10).reshape(3, 3)[:n], {"id": np.array([5, 7, 9])[:n]}, time=float(i),
                 step=10 * i)
    assert meta["periodic_box"] == box and meta["h5md"]["box"]["boundary"] == ["periodic", "periodic", "none"], meta


def changing(g, fill=0, dtype="u4"):
    element(g, "position", xyz[:3], [0, 1, 2])
    value = np.tile(np.arange(9, dtype=dtype), (3, 1))
    value[1, 4:] = 0
    value[2] = 0
    element(g, "id", value, [0, 1, 2], fill=fill)
    element(g, "velocity", xyz[3:], [0, 1, 2])


converted(h5md("zeros.h5md", all=changing), "zeros.bat")
same("zeros_0000.bat", xyz[0, 1:], {"id": np.arange(1, 9, dtype="u4"), "velocity": xyz[3, 1:]}, step=0)
same("zeros_0001.bat", xyz[1, 1:4], {"id": np.arange(1, 4, dtype="u4"), "velocity": xyz[4, 1:4]}, step=1)
with parabat.open("zeros_0002.bat") as dataset:
    assert len(dataset) == 0 and dataset.step == 2
converted("zeros.h5md", "zeros.bat", "--arrays", "velocity", "--steps", "1")
with parabat.open("zeros.bat") as dataset:  # ids that are not written are read nevertheless
    found = dataset.read()
    assert list(found) == ["velocity"] and sorted(found["velocity"][:, 0]) == sorted(xyz[4, 1:4, 0])
# A 0 that no one chose as the fill value is an id.
converted(h5md("ids.h5md", all=lambda g: changing(g, None)), "ids.bat", "--steps", "0")
same("ids.bat", xyz[0], {"id": np.arange(9, dtype="u4"), "velocity": xyz[3]}, step=0)

# --- Dimensions, boxes, units, enumerations, and what is not written


def plane(g):
    element(g, "position", xyz[:2, :, :2].astype("f4"), [0, 1], [0.0, 0.5], "nm", "ps")
    element(g, "velocity", xyz[2:4, :, :2], [0, 1], unit="nm ps-1")
    g["mass"] = xyz[0, :, 0]
    g["mass"].attrs["unit"] = "u"
    g.create_dataset("species", data=np.arange(9, dtype="i1") % 2, dtype=h5py.enum_dtype({"Ar": 0, "Xe": 1}, "i1"))
    g.create_group("box").attrs["dimension"] = 2
    g["box"].attrs["boundary"] = [b"periodic", b"none"]
    element(g["box"], "edges", [[4.0, 5], [6, 7]], [0, 1])


with h5py.File(h5md("plane.h5md", all=plane), "a") as file:
    file["observables/energy"] = 1.0
    file.create_group("particles/lists")["a"] = 1
    file.create_group("h5md/modules/units").attrs["system"] = "SI"
reported = converted("plane.h5md", "plane.bat")
for words in ("has 2 dimensions: z is 0", "'observables' is not written: only /particles is",
              "groups in /particles without a position are not written: 'lists'"):
    assert words in reported, (words, reported)
flat = np.concatenate([xyz[:2, :, :2], np.zeros((2, 9, 1))], axis=2).astype("f4")
for i in (0, 1):
    meta = about(f"plane_000{i}.bat", flat[i], {"mass": xyz[0, :, 0], "velocity": xyz[2 + i, :, :2],
                                                "species": np.arange(9, dtype="i1") % 2}, "mass", i / 2, i)
    assert meta["units"] == {"positions": "nm", "time": "ps", "velocity": "nm ps-1", "mass": "u"}, meta
    assert meta["periodic_box"] == {"lower": [0, None, None], "upper": [4.0 + 2 * i, None, None]}, meta
    assert meta["h5md"]["enumerations"] == {"species": {"Ar": 0, "Xe": 1}} and meta["h5md"]["unit_system"] == "SI", meta
    assert meta["h5md"]["box"]["edges"] == [4 + 2 * i, 5 + 2 * i], meta
for edges, boundary, expected in (
        (np.diag([2.0, 3, 4]), ["periodic"] * 3, {"lower": [0, 0, 0], "upper": [2, 3, 4]}),
        ([2.0, 3, 4], "none", {"lower": [None] * 3, "upper": [None] * 3}), ([2.0, 3, 4], None, None),
        ([[2.0, 0, 0], [1, 3, 0], [0, 0, 4]], ["periodic"] * 3, None), ([2.0, np.nan, 4], ["periodic"] * 3, {
            "lower": [0, None, 0], "upper": [2, None, 4]})):
    def boxed(g, edges=edges, boundary=boundary):
        g["position"] = xyz[0]
        g.create_group("box").attrs["dimension"] = 3
        g["box/edges"] = edges
        if boundary is not None:
            g["box"].attrs["boundary"] = boundary
    reported = converted(h5md("boxed.h5md", all=boxed), "boxed.bat")
    meta = about("boxed.bat", xyz[0])
    assert meta.get("periodic_box") == expected, (meta, expected)
    assert np.array_equal(np.array(meta["h5md"]["box"]["edges"], float), edges, equal_nan=True), meta
    assert ("axis 1 of the box is periodic, but its length is nan" in reported) == np.isnan(edges).any(), reported
# A box with other than right angles unwraps as before; a particle that crosses it shows that it is understood.
for tilt in (0.0, 0.5):
    def crossing(g, tilt=tilt):
        element(g, "position", [[[0.9, 0.5, 0.5]], [[0.1, 0.5, 0.5]]], [0, 1])
        g["id"] = [7]
        g.create_group("box").attrs["dimension"] = 3
        g["box"].attrs["boundary"] = ["periodic"] * 3
        g["box/edges"] = [[1, 0, 0], [tilt, 1, 0], [0, 0, 1.0]]
    converted(h5md("crossing.h5md", all=crossing), "crossing.bat")
    assert abs(parabat.follow("crossing.bat.series", [7], unwrap="files").positions.reshape(2, 3)[1, 0] - 1.1) < 1e-12

# --- Empty, of one particle, damaged
h5md("empty.h5md", all=lambda g: element(g, "position", np.zeros((2, 0, 3)), [0, 1]))
converted("empty.h5md", "empty.bat")
with parabat.open("empty_0001.bat") as dataset:
    assert len(dataset) == 0 and dataset.step == 1
h5md("bad.h5md", all=lambda g: element(g, "position", xyz[:3], [0, 1]))
refused("bad.h5md", "bad.bat", says=["/particles/all/position/step: has 2 values, fewer than the number of steps"])
h5md("bad.h5md", all=lambda g: element(g, "position", np.zeros((2, 5, 4)), [0, 1]))
refused("bad.h5md", "bad.bat", says=[
    "/particles/all/position/value: has shape (2, 5, 4); allowed: frames, particles and 1 to 3 dimensions"])
h5md("bad.h5md", all=lambda g: g.create_group("position"))
refused("bad.h5md", "bad.bat", says=["no group in /particles has a position", "available: 'all'"])
h5md("bad.h5md", all=lambda g: element(g, "position", np.zeros((0, 5, 3)), []))
refused("bad.h5md", "bad.bat", says=["no steps"])
for shape, times in (((0, 5, 3), []), ((0, 2, 3), np.zeros((0, 1)))):
    h5md("some.h5md", a=lambda g: element(g, "position", np.zeros(shape), np.zeros(len(times), "i8"), times),
         b=lambda g: element(g, "position", xyz[:3], [0, 1, 2]))
    assert "'a' is not written: no steps" in converted("some.h5md", "some.bat")
    with parabat.open("some_b_0002.bat") as dataset:
        assert len(dataset) == len(xyz[2]) and dataset.step == 2
    assert not [name for name in os.listdir(".") if name.startswith("some_a")]
with h5py.File(h5md("claims.h5md", all=lambda g: None), "a") as file:
    file.create_dataset("particles/all/position/value", (2 ** 40, 5, 3), "f4", chunks=(1, 5, 3))
    file["particles/all/position/step"] = 1
refused("claims.h5md", "bad.bat", says=["/particles/all/position/value: claims 1099511627776 frames", "the free memory of this machine"])
with open(h5md("whole.h5md", all=sparse), "rb") as file:
    whole = file.read()
for size in (len(whole) // 4, len(whole) // 2, len(whole) - 100):
    refused(put("cut.h5md", whole[:size]), "bad.bat", says=["cut.h5md: cannot be read"])
