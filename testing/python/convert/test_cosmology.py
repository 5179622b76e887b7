# SPDX-License-Identifier: BSD-3-Clause
"""Snapshots of Gadget, SWIFT and AREPO in HDF5: virtual files and their parts, cutouts, species without positions, ids of 6
bytes, periodic boxes, parts of many."""

import json
import os
import shutil

import numpy as np
import parabat
from parabat.convert.formats import gadget
from parabat.convert.model import ConvertError, Options
from support import converted, folder, refused, same, without

without("h5py")
import h5py  # pylint: disable=wrong-import-position

random = np.random.default_rng(11)
CASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../data/cases")


def fields(n, first=0):
    return {"Coordinates": random.random((n, 3)), "Velocities": random.normal(size=(n, 3)).astype("f4"),
            "ParticleIDs": np.arange(first, first + n).astype("u8")}


def write(path, parts, counts=None, config=None, parameters=None, **header):
    """A file whose header has these attributes, of which None leaves one out."""
    counts = [len(parts[f"PartType{i}"]["ParticleIDs"]) if f"PartType{i}" in parts else 0 for i in range(6)]
    about = {"NumPart_ThisFile": counts, "NumPart_Total": np.array(counts, "u4"), "Time": 0.25, "BoxSize": 2.0,
             "NumPart_Total_HighWord": np.zeros(6, "u4"), "NumFilesPerSnapshot": 1, **header}
    with h5py.File(path, "w") as file:
        node = file.create_group("Header").attrs
        for name, value in about.items():
            if value is not None:
                node[name] = value
        for name, values in (("Config", config), ("Parameters", parameters)):
            if values is not None:
                file.create_group(name).attrs.update(values)
        for name, arrays in parts.items():
            for field, values in arrays.items():
                file[f"{name}/{field}"] = values


def metadata(path):
    with parabat.open(path) as dataset:
        return json.loads(dataset.metadata)


def check(path, values, time=0.25):
    return json.loads(same(path, values["Coordinates"], {name: array for name, array in values.items() if name != "Coordinates"},
                           "ParticleIDs", time))


def leftovers():
    """Removes all datasets."""
    for name in os.listdir(folder):
        if ".bat" in name:
            os.remove(name)


# --- SWIFT: two parts, of which the last lacks gas, and the virtual file that combines them
def swift(stem, time=0.25):
    pieces = [{"PartType0": fields(30), "PartType1": fields(20)}, {"PartType1": fields(25, 20)}]
    for i, piece in enumerate(pieces):
        write(f"{stem}.{i}.hdf5", piece, NumPart_Total=np.array([30, 45, 0, 0, 0, 0], "u4"), NumFilesPerSnapshot=2, Time=[time],
              BoxSize=[1.0, 2.0, 3.0], Virtual=0, ThisFile=i)
    write(f"{stem}.hdf5", {}, NumPart_ThisFile=[30, 45, 0, 0, 0, 0], NumPart_Total=np.array([30, 45, 0, 0, 0, 0], "u4"),
          Time=[time], BoxSize=[1.0, 2.0, 3.0], Virtual=1)
    with h5py.File(f"{stem}.hdf5", "a") as file:
        for name in ("PartType0", "PartType1"):
            having = [i for i in (0, 1) if name in pieces[i]]
            for field in pieces[0][name]:
                arrays = [pieces[i][name][field] for i in having]
                layout = h5py.VirtualLayout((sum(map(len, arrays)), *arrays[0].shape[1:]), arrays[0].dtype)
                place = 0
                for i, array in zip(having, arrays):
                    layout[place:place + len(array)] = h5py.VirtualSource(f"{os.path.basename(stem)}.{i}.hdf5",
                                                                          f"{name}/{field}", array.shape)
                    place += len(array)
                file.create_virtual_dataset(f"{name}/{field}", layout)
        file["PartType1/Coordinates"].attrs["Expression for physical CGS units"] = np.bytes_(b"a U_L  [ cm ]")
    with h5py.File(f"{stem}.0.hdf5", "a") as file:
        file.create_group("Units").attrs["Unit time in cgs (U_t)"] = [3.0e13]
        file["PartType1/Coordinates"].attrs["Expression for physical CGS units"] = np.bytes_(b"a U_L  [ cm ]")
    names = list(pieces[0]["PartType1"])
    return pieces[0]["PartType0"], {name: np.concatenate([piece["PartType1"][name] for piece in pieces]) for name in names}


gas, dark = swift("snap_0000")
later_gas, later_dark = swift("snap_0001", 0.5)
for words in (["snap_*.hdf5"], ["snap_0001.1.hdf5", "snap_0000.hdf5", "snap_0000.0.hdf5", "snap_0001.hdf5"],
              ["snap_*.hdf5", "--follow-links"]):
    converted(*words, "run.bat")
    for i, (time, one, other) in enumerate(((0.25, gas, dark), (0.5, later_gas, later_dark))):
        check(f"run_PartType0_000{i}.bat", one, time)
        about = check(f"run_PartType1_000{i}.bat", other, time)
    assert about["periodic_box"] == {"lower": [0, 0, 0], "upper": [1, 2, 3]}, about
    assert about["units"] == {"positions": "a U_L  [ cm ]", "time": "U_t"}, about
    assert not os.path.exists("run_PartType0_0002.bat")
    leftovers()
os.mkdir("deep")
swift("deep/snap_0000")
converted("deep/snap_0000*.hdf5", "deep.bat")
assert sorted(name for name in os.listdir(".") if name.endswith(".bat")) == ["deep_PartType0.bat", "deep_PartType1.bat"]
leftovers()
converted("snap_0000.hdf5", "one.bat")  # the parts are those of the same name in the same folder
check("one_PartType1.bat", dark)
leftovers()
os.rename("snap_0000.1.hdf5", "away")
for words in (["snap_0000.hdf5"], ["snap_0000.0.hdf5"], ["snap_0000*.hdf5"], ["snap_0000.hdf5", "--follow-links"]):
    refused(*words, "bad.bat", says=["snap_0000.1.hdf5"])
os.rename("away", "snap_0000.1.hdf5")

# Parts that do not say how many they are, and one that no array of the virtual file needs
os.mkdir("bare")
bare_gas, bare_dark = swift("bare/snap_0000")
for i in (0, 1):
    with h5py.File(f"bare/snap_0000.{i}.hdf5", "a") as file:
        del file["Header"].attrs["NumFilesPerSnapshot"]
for words in (["bare/*.hdf5"], ["bare/snap_0000.1.hdf5"], ["bare/snap_0000.hdf5"]):
    converted(*words, "bare.bat")
    check("bare_PartType0.bat", bare_gas)
    check("bare_PartType1.bat", bare_dark)
    assert not os.path.exists("bare_PartType1_0001.bat")
    leftovers()

# A virtual file that combines files of other names is read if links may be followed.
shutil.copy("snap_0000.hdf5", "whole.hdf5")
refused("whole.hdf5", "bad.bat", says=["use --follow-links to read it"])
converted("whole.hdf5", "whole.bat", "--follow-links")
check("whole_PartType1.bat", dark)
leftovers()

# --- One part of many
refused("snap_0001.1.hdf5", "bad.bat", "--species", "PartType5", says=["has no particles of PartType5"])
os.rename("snap_0000.0.hdf5", "away")
refused("snap_0000.1.hdf5", "bad.bat", says=[
    "is one of 2 files of a snapshot, but snap_0000.0.hdf5 is missing; use --part to convert it alone"])
shutil.copy("snap_0000.1.hdf5", "piece.hdf5")
refused("piece.hdf5", "bad.bat", says=["is one of 2 files of a snapshot, which must be called NAME.0.hdf5", "use --part"])
for path in ("snap_0000.1.hdf5", "piece.hdf5"):
    step, = gadget.steps(path, Options(part=True))
    part, = step.read()
    assert part.species == "PartType1" and step.time == 0.25, part.species
    assert part.attributes["ParticleIDs"].tolist() == list(range(20, 45)), part.attributes
converted("snap_0000.1.hdf5", "part.bat", "--part")
same("part_PartType1.bat", dark["Coordinates"][20:], {name: dark[name][20:] for name in ("Velocities", "ParticleIDs")}, "ParticleIDs", 0.25)
os.rename("away", "snap_0000.0.hdf5")
write("few.hdf5", {"PartType1": fields(5)}, NumPart_Total=np.array([0, 9, 0, 0, 0, 0], "u4"))
refused("few.hdf5", "bad.bat", says=["PartType1: the header claims 9 particles of the whole snapshot; 1 file has 5; use --part"])
step, = gadget.steps("few.hdf5", Options(part=True))
assert len(step.read()[0].positions) == 5

# --- Species without positions, arrays of other lengths, cutouts
reported = converted(os.path.join(CASES, "tng.hdf5"), "tng.bat")
assert "PartType3 is not written: its 5 particles have no 'Coordinates'" in reported, reported
assert reported.count("PartType3") == 1, reported
for name, count in (("PartType0", 3), ("PartType1", 2)):
    with h5py.File(os.path.join(CASES, "tng.hdf5")) as file:
        about = check(f"tng_{name}.bat", {field: file[name][field][:] for field in file[name]}, 0.5)
    assert about["periodic_box"]["upper"] == [25000, 25000, 25000] and len(parabat.open(f"tng_{name}.bat")) == count, about
assert not os.path.exists("tng_PartType3.bat")
refused(os.path.join(CASES, "tng.hdf5"), "bad.bat", "--species", "PartType3", says=["PartType3: has no Coordinates"])
tracers = {"ParticleIDs": np.arange(4)}
write("tracers.hdf5", {"PartType3": tracers})
refused("tracers.hdf5", "bad.bat", says=["PartType3: has no Coordinates"])
odd = fields(12)
write("odd.hdf5", {"PartType0": {**odd, "Table": np.arange(3), "Text": np.array([b"a"] * 12)}, "PartType3": tracers})
reported = converted("odd.hdf5", "odd.bat")
assert "/PartType0/Table is not written: it has 3 values for 12 particles" in reported, reported
assert "'PartType0/Text' is not written" in reported, reported
check("odd_PartType0.bat", odd)
for count, name in ((1, "cutout.hdf5"), (600, "cutout_12.hdf5")):
    write(name, {"PartType0": odd}, NumPart_Total=None, NumPart_Total_HighWord=None, NumFilesPerSnapshot=count)
    converted(name, "cut.bat")
    check("cut_PartType0.bat", odd)
write("wrong.hdf5", {"PartType0": dict(odd, Coordinates=random.random((11, 3)))})
refused("wrong.hdf5", "bad.bat", says=["/PartType0/Coordinates: has shape (11, 3), but the header claims 12 particles"])

# --- Ids of 6 bytes, and other integers that NumPy does not have
converted(os.path.join(CASES, "g4_6byte.hdf5"), "six.bat")
with parabat.open("six_PartType1.bat") as dataset:
    found = dataset.read()
    assert found["ParticleIDs"].dtype == np.uint64 and dataset.time == 0.25, found["ParticleIDs"].dtype
    order = np.argsort(found["ParticleIDs"])
    assert found["ParticleIDs"][order].tolist() == [2 ** 40 + i for i in range(4)], found["ParticleIDs"]
    assert found.positions[order].ravel().tolist() == list(range(12)), found.positions
for base, sign, values in ((h5py.h5t.STD_U64BE, "u8", [0, 2 ** 48 - 1, 5]),
                           (h5py.h5t.STD_I64LE, "i8", [-(2 ** 47), 2 ** 47 - 1, -1])):
    kind = base.copy()
    kind.set_precision(48)
    kind.set_size(6)
    few = fields(3)
    write("own.hdf5", {"PartType1": few})
    with h5py.File("own.hdf5", "a") as file:
        node = h5py.h5d.create(file["PartType1"].id, b"Own", kind, h5py.h5s.create_simple((3,)))
        node.write(h5py.h5s.ALL, h5py.h5s.ALL, np.array(values, sign))
        file["PartType1/Triple"] = np.zeros(3, np.dtype(("u2", (3,))))
        bare = h5py.h5t.create(h5py.h5t.OPAQUE, 6)
        h5py.h5d.create(file["PartType1"].id, b"Bare", bare, h5py.h5s.create_simple((3,)))
    reported = converted("own.hdf5", "own.bat", "--arrays", "Own,ParticleIDs")
    check("own_PartType1.bat", {"Coordinates": few["Coordinates"], "ParticleIDs": few["ParticleIDs"],
                                "Own": np.array(values, sign)})
with h5py.File("own.hdf5", "a") as file:
    del file["PartType1/Triple"]
    array_type = h5py.h5t.array_create(h5py.h5t.NATIVE_UINT16, (3,))
    node = h5py.h5d.create(file["PartType1"].id, b"Triple", array_type, h5py.h5s.create_simple((3,)))
    node.write(h5py.h5s.ALL, h5py.h5s.ALL, np.arange(9, dtype="u2").reshape(3, 3), array_type)
    file["PartType1/Bare"][...] = np.frombuffer(bytes(range(18)), "V6")
reported = converted("own.hdf5", "own.bat")
assert "'PartType1/Bare' is not written" in reported, reported
check("own_PartType1.bat", {**few, "Own": np.array(values, sign), "Triple": np.arange(9, dtype="u2").reshape(3, 3)})

# The same in other HDF5 files; numbers of 16 bytes are left out.
with h5py.File("own.h5", "w") as file:
    file["xyz"], file["id"] = few["Coordinates"], np.arange(3)
    for name, size in ((b"six", 6), (b"big", 16)):
        kind = h5py.h5t.STD_U64LE.copy()
        kind.set_precision(8 * size)
        kind.set_size(size)
        node = h5py.h5d.create(file.id, name, kind, h5py.h5s.create_simple((3,)))
        node.write(h5py.h5s.ALL, h5py.h5s.ALL, np.array([2 ** 47, 1, 5], "u8"))
reported = converted("own.h5", "own.bat")
assert "'big' is not written: its type is |V16" in reported, reported
same("own.bat", few["Coordinates"], {"id": np.arange(3), "six": np.array([2 ** 47, 1, 5], "u8")})

# --- Periodic boxes
one = {"PartType1": fields(1)}
for size, config, parameters, header, upper in (
        (2.0, None, None, {}, [2, 2, 2]), ([1.0, 2.0, 3.0], None, None, {}, [1, 2, 3]),
        ([1.0, 2.0, 0.0], None, None, {}, [1, 2, None]),
        (0.0, None, None, {}, None), (None, None, None, {}, None), ([1.0, 2.0], None, None, {}, None),
        (np.nan, None, None, {}, None),
        (2.0, None, {"InitialConditions:periodic": np.bytes_(b"0")}, {}, None),
        (2.0, None, {"InitialConditions:periodic": np.bytes_(b"1")}, {}, [2, 2, 2]),
        (2.0, {"SELFGRAVITY": ""}, None, {"Git_commit": "abc", "NumPart_Total_HighWord": None}, None),
        (2.0, {"PERIODIC": "", "LONG_X_BITS": "1"}, None, {"Git_commit": "abc", "NumPart_Total_HighWord": None}, [1, 2, 2]),
        (2.0, {"VORONOI_DYNAMIC_UPDATE": ""}, None, {"Git_commit": "abc"}, [2, 2, 2]),
        (2.0, {"REFLECTIVE_X": "1", "LONG_Y": "4.0"}, None, {}, [None, 8, 2])):
    write("box.hdf5", one, config=config, parameters=parameters, BoxSize=size, **header)
    converted("box.hdf5", "box.bat")
    expected = upper and {"lower": [None if each is None else 0 for each in upper], "upper": upper}
    assert metadata("box_PartType1.bat").get("periodic_box") == expected, (size, config, parameters,
                                                                           metadata("box_PartType1.bat"))
try:
    gadget.siblings("few.hdf5.none")
    raise AssertionError("a missing file was found")
except (ConvertError, OSError):
    pass
