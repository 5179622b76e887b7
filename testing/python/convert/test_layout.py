# SPDX-License-Identifier: BSD-3-Clause
"""Arrays that no format describes, in HDF5 and in .npz alike: single values, times, arrays of several steps, tables."""

import json
import os
import pathlib
import zipfile

import numpy as np
import parabat
from support import alike_in_parts, converted, is_in_parts, put, refused, same, without

without("h5py")
import h5py  # pylint: disable=wrong-import-position

CASES = pathlib.Path(__file__).resolve().parents[2] / "data" / "cases"
random = np.random.default_rng(7)
T, N = 3, 5
xyz = random.normal(size=(T, N, 3))
ids = np.arange(N) + 2 ** 60
mass = random.random((T, N))


def files(arrays, attributes=None):
    """The arrays in both formats, or those in HDF5 if there are attributes."""
    with h5py.File("any.h5", "w") as file:
        for name, values in arrays.items():
            file[name] = values if np.asarray(values).dtype.kind != "U" else np.asarray(values).astype("S")
        file.attrs.update(attributes or {})
    if attributes is None:
        np.savez("any.npz", **arrays)
    return ["any.h5"] if attributes is not None else ["any.h5", "any.npz"]


def clean():
    for name in os.listdir("."):
        if ".bat" in name:
            os.unlink(name)


def check(arrays, expected, says=(), metadata=None, attributes=None, words=(), silent=()):
    """expected: (positions, attributes, time, step) of each step. metadata: of the first one, what the single values are."""
    for path in files(arrays, attributes):
        clean()
        reported = converted(path, "out.bat", *words)
        for text in says:
            assert text in reported, (path, text, reported)
        for text in silent:
            assert text not in reported, (path, text, reported)
        names = ["out.bat"] if len(expected) == 1 else [f"out_{i:04}.bat" for i in range(len(expected))]
        assert sorted(name for name in os.listdir(".") if name.endswith(".bat")) == names, (path, os.listdir("."))
        for i, (name, (positions, values, time, step)) in enumerate(zip(names, expected)):
            key = next(iter(values), None)
            about = json.loads(same(name, positions, values, key, time, step) or "{}")
            if i == 0 and metadata is not None:
                assert about.get("single_values", {}) == metadata, (path, about)


def series(values, times=None, numbers=None):
    """Steps of xyz with these values: name -> arrays (steps, n...)."""
    return [(xyz[i], {name: each[i] for name, each in values.items()}, times and times[i], numbers and numbers[i])
            for i in range(T)]


# --- One step: what is of the box, of the step, or a text
reported = converted(CASES / "flat.h5", "flat.bat")
assert "'box' is not written: it describes the box, not particles; the metadata keeps it" in reported, reported
assert "'name' is not written: it is a single value; the metadata keeps it" in reported, reported
with parabat.open("flat.bat") as dataset:
    assert dataset.time == 0.5 and dataset.step is None and list(dataset.read()) == ["vel"] and len(dataset) == 4
    assert json.loads(dataset.metadata)["single_values"] == {"box": [10, 10, 10], "name": "run"}
one = {"pos": xyz[0], "id": ids, "vel": xyz[1]}
check({**one, "box": np.array([4.0, 5, 6]), "dt": 0.5, "name": np.array("run"), "time": 0.25, "step": 7},
      [(xyz[0], {"id": ids, "vel": xyz[1]}, 0.25, 7)], metadata={"box": [4, 5, 6], "dt": 0.5, "name": "run"},
      says=["'dt' is not written: it is a single value"], silent=["'time'", "'step'"])
# A box of three particles is not an attribute; single values in an array of one; steps that are not integers.
check({"pos": xyz[0, :3], "id": ids[:3], "box": np.array([4.0, 5, 6]), "time": np.array([2]), "step": 0.5, "lattice": np.eye(3)},
      [(xyz[0, :3], {"id": ids[:3]}, 2.0, None)], metadata={"box": [4, 5, 6], "step": 0.5, "lattice": np.eye(3).tolist()})
check({"pos": xyz[0], "id": ids, "few": np.arange(2), "names": np.array(["a"] * N), "times": np.arange(N) / 2.0},
      [(xyz[0], {"id": ids, "times": np.arange(N) / 2}, None, None)], metadata={"few": [0, 1]},
      says=["'few' is not written: it has 2 values for 5 particles", "'names' is not written: it contains texts",
            "'times' has a value for each particle and is an attribute"])
check({"pos": xyz[0, :1], "id": ids[:1], "time": np.array([0.5])}, [(xyz[0, :1], {"id": ids[:1]}, 0.5, None)])  # of one particle
check(one, [(xyz[0], {"id": ids, "vel": xyz[1]}, 0.75, 9)], attributes={"Time": 0.75, "step": np.array([9])})
for path in files({**one, "few": np.arange(2)}):
    refused(path, "bad.bat", "--arrays", "few", says=["'few' cannot be an attribute: it has 2 values for 5 particles"])
for path in files({"x": xyz[0, :, 0], "y": xyz[0, :, 1], "z": xyz[0, :4, 2]}):
    refused(path, "bad.bat", says=["z: 4 values, but the others have 5"])

# --- Several steps
reported = converted(CASES / "flat_t.h5", "steps.bat")
for words in ("'position' with shape (3, 4, 3) is read as 3 steps of 4 particles", "'dt' is not written: it is a single value"):
    assert words in reported, reported
cases = np.arange(36.0).reshape(3, 4, 3)
for i in range(3):
    same(f"steps_000{i}.bat", cases[i], {"particle_type": np.arange(4), "velocity": np.zeros((4, 3))}, "particle_type")
moving = {"positions": xyz, "m": mass, "v": xyz[::-1], "id": ids, "wide": np.ones((N, 2))}
values = {"id": [ids] * T, "m": mass, "v": xyz[::-1], "wide": [np.ones((N, 2))] * T}
read_as = ["'positions' with shape (3, 5, 3) is read as 3 steps of 5 particles"]
check(moving, series(values), read_as)
check({**moving, "time": np.array([0.5, 1, 4]), "steps": np.array([10, 20, 80])},
      series(values, [0.5, 1.0, 4.0], [10, 20, 80]), read_as)
check({**moving, "time": 0.5, "dt": 0.25, "energy": np.array([1.0, 2, 3]), "few": np.ones(4), "cell": np.eye(3),
       "box": np.ones(3)}, series(values),
      ["'energy' is not written: it has a value for each step, not for each particle", "'time' is not written",
       "'few' is not written: it has 4 values for 3 steps of 5 particles"],
      {"time": 0.5, "dt": 0.25, "energy": 1.0, "few": [1] * 4, "cell": np.eye(3).tolist(), "box": [1, 1, 1]})
check({**moving, "t": np.array([0.5, 1, 4])}, series(values, [0.5, 1.0, 4.0]),
      ["'t' with a value for each step is used as their times"])
check({**moving, "iteration": np.array([4, 2, 9])}, series(values, None, [4, 2, 9]), read_as)
check(moving, series({"m": mass}), read_as, words=["--arrays", "m"])
# As many steps as particles: what could be either is left out, positions and values of both axes are as elsewhere.
square = random.normal(size=(3, 3, 3))
check({"r": square, "id": np.tile(np.arange(3), (3, 1)), "kind": np.arange(3), "time": np.arange(3) / 2, "u": np.ones((3, 2))},
      [(square[i], {"id": np.arange(3)}, i / 2, None) for i in range(3)],
      ["'id' with shape (3, 3) is read as 3 steps of 3 particles",
       "'kind' is not written: its 3 values could be those of the steps or of the particles",
       "'u' is not written: its 3 values could be"])
# Times show which axis is which, or contradict.
check({"x": xyz[..., 0], "y": xyz[..., 1], "z": xyz[..., 2], "m": mass, "time": np.arange(T) / 4},
      series({"m": mass}, [0.0, 0.25, 0.5]), ["'x' with shape (3, 5) is read as 3 steps of 5 particles"])
for arrays, says in (
        ({"x": xyz[..., 0], "y": xyz[..., 1], "z": xyz[..., 2]}, "x: has shape (3, 5), of which either axis could be the steps"),
        ({"position": xyz, "time": np.arange(N)},
         "position: has shape (3, 5, 3), which is read as 3 steps of 5 particles, but 'time' has 5 values"),
        ({"position": xyz, "x": ids, "y": ids, "z": ids},
         "'x', 'y', 'z' and 'position' could both be positions; choose with --columns"),
        ({"position": xyz[..., :2]}, "no ")):
    for path in files(arrays):
        refused(path, "bad.bat", says=[says])
check({"position": xyz, "x": mass[0], "y": mass[0], "z": mass[0], "id": ids},
      series({"id": [ids] * T, **{axis: [mass[0]] * T for axis in "xyz"}}), words=["--columns", "position"])
# In parts, and in the order of Fortran.
many = random.normal(size=(2, 200000, 3))
large = {"pos": many, "id": np.arange(200000), "m": many[..., 0], "time": np.array([0.5, 1.0])}
for path in files(large):
    clean()
    alike_in_parts([path], ["_0000", "_0001"])
    assert is_in_parts({"any.h5": "hdf5", "any.npz": "npy"}[path], path)
check({"pos": np.asfortranarray(xyz), "id": ids, "m": np.asfortranarray(mass)}, series({"id": [ids] * T, "m": mass}))

# --- Tables: records with x, y, z or a field of three, in rows or in steps of rows
record = np.zeros((T, N), [("id", "i8"), ("place", [("x", ">f8"), ("y", ">f8"), ("z", ">f8")]), ("pos", "f4", 3),
                           ("label", "S4"), ("flag", "?")])
record["id"], record["pos"], record["flag"] = ids, xyz, mass > 0.5
for i, axis in enumerate("xyz"):
    record["place"][axis] = xyz[..., i]
table = {"id": [ids] * T, "flag": (mass > 0.5).astype("u1"), **{f"place_{axis}": xyz[..., i] for i, axis in enumerate("xyz")}}
rows = [(xyz[i].astype("f4"), {name: each[i] for name, each in table.items()}, None, None) for i in range(T)]
check({"t": record[1]}, [rows[1]], ["'label' is not written: it contains texts"])
check({"t": record}, rows, ["'pos' with shape (3, 5, 3) is read as 3 steps of 5 particles"])
check({"t": record, "time": np.array(0.5), "other": np.arange(4)}, rows)
check({"t": record[0], "time": np.array(0.5)}, [(*rows[0][:2], 0.5, None)])
np.save("any.npy", record)
converted("any.npy", "npy.bat")
for i in range(T):
    same(f"npy_000{i}.bat", *rows[i][:2])
simple = np.zeros(N, [("x", "f8"), ("y", "f8"), ("z", "f8"), ("id", "i8")])
simple["x"], simple["y"], simple["z"], simple["id"] = *xyz[0].T, ids
check({"t": simple}, [(xyz[0], {"id": ids}, None, None)], silent=["note"])
with h5py.File("tables.h5", "w") as file:  # of several tables and groups, with attributes
    file["gas/part"], file["gas/ids"] = simple, ids
    file["gas/part"].attrs["time"] = 0.5
    file["dust/x"], file["dust/y"], file["dust/z"], file["dust/id"] = *xyz[1].T, ids
    file["dust"].attrs["time"] = 0.5
    file["dust/x"].attrs["units"] = "km"
    file.attrs["step"] = 4
converted("tables.h5", "tables.bat")
same("tables_gas_part.bat", xyz[0], {"id": ids}, time=0.5, step=4)
assert json.loads(same("tables_dust.bat", xyz[1], {"id": ids}, time=0.5, step=4))["units"] == {"positions": "km"}
with h5py.File("tables.h5", "a") as file:
    file["dust"].attrs["time"] = 0.75
reported = converted("tables.h5", "tables.bat")
assert "groups have different steps or times, dust (4, 0.75), gas_part (4, 0.5): none is used" in reported, reported
same("tables_dust.bat", xyz[1], {"id": ids}, step=4)
converted("tables.h5", "dust.bat", "--species", "dust")
same("dust.bat", xyz[1], {"id": ids}, time=0.75, step=4)
refused("tables.h5", "bad.bat", "--species", "mist", says=["unknown species 'mist'; available: 'dust', 'gas_part'"])
# Groups with steps of their own, and one without.
with h5py.File("groups.h5", "w") as file:
    for name, times in (("a", [0.0, 1.0, 2.0]), ("b", [0.0, 2.0, 4.0])):
        file[f"{name}/pos"], file[f"{name}/time"], file[f"{name}/id"] = xyz, times, ids
    file["walls/pos"], file["walls/id"] = xyz[0], ids
clean()
converted("groups.h5", "groups.bat")
same("groups_b_0002.bat", xyz[1], {"id": ids}, time=2.0)
same("groups_b_0003.bat", xyz[2], {"id": ids}, time=4.0)
same("groups_walls_0004.bat", xyz[0], {"id": ids})

# --- A mapping: times next to positions, of the mapping, and of an array with steps
with h5py.File("map.h5", "w") as file:
    for i in range(T):
        file[f"run/out_{i * 5}/r"], file[f"run/out_{i * 5}/ids"] = xyz[i], ids
        file[f"run/out_{i * 5}"].attrs["time"] = i / 2
        file[f"clock/t_{i * 5}"] = i / 8
    file["all/r"], file["all/m"], file["all/t"] = xyz, mass, [0.5, 1, 2]
    file.attrs["time"] = 99.0
mapping = ["--map", "positions=/run/out_*/r", "--map", "id=/run/out_*/ids"]
converted("map.h5", "map.bat", *mapping)
same("map_0002.bat", xyz[2], {"id": ids}, time=1.0, step=10)
converted("map.h5", "map.bat", *mapping, "--map", "time=/clock/t_*")
same("map_0002.bat", xyz[2], {"id": ids}, time=0.25, step=10)
refused("map.h5", "bad.bat", *mapping, "--map", "time=/run/out_*/ids", says=["'time' must be a single number"])
reported = converted("map.h5", "all.bat", "--map", "positions=all/r", "--map", "m=all/m", "--map", "time=all/t")
assert "'positions' with shape (3, 5, 3) is read as 3 steps of 5 particles" in reported, reported
same("all_0001.bat", xyz[1], {"m": mass[1]}, "m", 1.0)

# --- A column of times makes several steps of a table; other arrays do so only if they are asked for
flights = np.zeros(2 * N, [("t", "f8"), ("x", "f8"), ("y", ">f8"), ("z", "f8"), ("id", "i8"), ("step", "i4"), ("n", "u2")])
flights["n"] = np.arange(2 * N)
flights["t"], flights["step"], flights["id"] = [0.5, 0.25] * N, [20, 10] * N, np.repeat(ids, 2)
for i, axis in enumerate("xyz"):
    flights[axis] = np.stack([xyz[1][:, i], xyz[0][:, i]], axis=1).ravel()
flown = [(xyz[i], {"id": ids, "n": flights["n"][1 - i::2]}, 0.25 * (i + 1), 10 * (i + 1)) for i in range(2)]
check({"tracks": flights}, flown, ["rows become 2 steps by the columns 't' and 'step'; --time-column none keeps"])
np.save("flights.npy", flights)
converted("flights.npy", "flights.bat")
for i, expected in enumerate(flown):
    same(f"flights_000{i}.bat", *expected[:2], time=expected[2], step=expected[3])
whole = {name: flights[name] for name in ("n", "t", "id", "step")}
rows_at = np.stack([flights[axis] for axis in "xyz"], axis=1)
check({"tracks": flights}, [(rows_at, whole, None, None)], words=["--time-column", "none"], silent=["note"])
check({"tracks": flights, "time": np.array(2.0)}, [(rows_at, whole, 2.0, None)])
check({"pos": xyz[0], "id": ids, "age": np.array([0.0, 1, 0, 1, 0])},
      [(xyz[0][i::2], {"id": ids[i::2]}, float(i), None) for i in range(2)], words=["--time-column", "age"])
refused("any.npz", "bad.bat", "--time-column", "nope", says=["unknown column 'nope'; available: 'id', 'age', or none"])
refused("any.h5", "bad.bat", "--time-column", "pos", says=["the column 'pos' has positions"])

# --- Groups that differ in a number: steps, if their names or times say so
def groups(names, **attributes):
    with h5py.File("numbered.h5", "w") as file:
        for i, name in enumerate(names):
            file[f"{name}/x"], file[f"{name}/y"], file[f"{name}/z"], file[f"{name}/id"] = *xyz[i].T, ids
            for key, values in attributes.items():
                file[name].attrs[key] = values[i]
    clean()
    return converted("numbered.h5", "numbered.bat")


for names, times in ((("step_0", "step_2", "step_10"), [0.0, 0.5, 1.5]), (("run/step2", "run/step4", "run/step30"), None),
                     (("0", "2", "10"), [0.0, 0.5, 1.5])):
    reported = groups(names, **({"time": times} if times else {}))
    assert f"groups /{names[0]} ... /{names[2]} are read as 3 steps" in reported, reported
    for i, name in enumerate(names):
        same(f"numbered_000{i}.bat", xyz[i], {"id": ids}, step=int(name.lstrip("runstep_/")), time=times[i] if times else None)
for names, attributes in ((("0", "2", "10"), {}), (("type1", "type2", "type3"), {}), (("step_0", "step_2", "step_10"), {"step": [7, 8, 9]})):
    path = {"0": "*", "type1": "type*", "step_0": "step_*"}[names[0]]
    assert f"if they are steps, use --map positions=/{path}/x,/{path}/y,/{path}/z, and" in groups(names, **attributes)
    for i, name in enumerate(names):
        same(f"numbered_{name}.bat", xyz[i], {"id": ids})

# --- A single t is the time where nothing else is
check({"pos": xyz[0], "id": ids, "t": np.array(1.5)}, [(xyz[0], {"id": ids}, 1.5, None)],
      ["'t' with a single value is used as the time"])
check({"pos": xyz[0], "id": ids, "t": np.array(1.5), "time": np.array(2.5)}, [(xyz[0], {"id": ids}, 2.5, None)],
      ["'t' is not written: it is a single value"])
check({"pos": xyz[0], "id": ids, "t": np.array(1.5)}, [(xyz[0], {"id": ids}, 2.5, None)], attributes={"time": 2.5})

# --- Cut files, and headers that claim too much
with h5py.File("claims.h5", "w") as file:
    file.create_dataset("position", (2 ** 40, 5, 3), "f4", chunks=(1, 5, 3))
refused("claims.h5", "bad.bat", says=["/position: claims 1099511627776 steps", "the free memory of this machine"])
with h5py.File("claims.h5", "w") as file:
    file.create_dataset("position", (4, 2 ** 40, 3), "f4", chunks=(1, 5, 3))
refused("claims.h5", "bad.bat", says=["/position: claims"])
np.save("claims.npy", xyz[0])
with open("claims.npy", "rb") as file, zipfile.ZipFile("claims.npz", "w") as archive:
    archive.writestr("pos.npy", file.read().replace(b"(5, 3), }      ", b"(555555, 3), } "))
refused("claims.npz", "bad.bat", says=["its header claims (555555, 3) values of float64, more than its 248 bytes"])
for path in files(large):
    with open(path, "rb") as file:
        whole = file.read()
    refused(put("cut." + path, whole[:len(whole) // 2]), "bad.bat", says=["cut." + path])
np.save("whole.npy", record)
with open("whole.npy", "rb") as file:
    refused(put("cut.npy", file.read()[:-10]), "bad.bat", says=["cut.npy: cannot be read as an array"])
