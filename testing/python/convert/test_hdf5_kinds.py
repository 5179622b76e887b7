# SPDX-License-Identifier: BSD-3-Clause
"""openPMD as programs write it (without positionOffset, with the extension BeamPhysics), OSIRIS and PySPH."""

import json
import os
import pathlib

import numpy as np
import parabat
from support import alike_in_parts, converted, put, refused, same, without

without("h5py")
import h5py  # pylint: disable=wrong-import-position

CASES = pathlib.Path(__file__).resolve().parents[2] / "data" / "cases"
random = np.random.default_rng(6)
N = 40
xyz = random.normal(size=(N, 3))
ids = random.permutation(N).astype("u8") + 2 ** 53


def components(group, name, values, unit=1.0):
    for axis, column in zip("xyz", values.T):
        group[f"{name}/{axis}"] = column
        group[f"{name}/{axis}"].attrs["unitSI"] = unit
    return group[name]


def header(file, version="1.1.0", extension=np.uint32(0), base="/data/%T/", path="particles/"):
    for key, value in (("openPMD", version), ("openPMDextension", extension), ("basePath", base), ("particlesPath", path)):
        file.attrs[key] = np.bytes_(value) if isinstance(value, str) else value


def first(metadata):
    return json.loads(metadata)


# --- openPMD without positionOffset, in some species or in all
row = np.arange(4.0)
reported = converted(CASES / "nooffset.h5", "none.bat")
assert "electrons has no positionOffset; 0 is used" in reported, reported
for species in ("electrons", "ions"):
    with parabat.open(f"none_{species}.bat") as dataset:
        found = dataset.read()
        assert (np.sort(found.positions, axis=0) == np.stack([row, row + 1, row + 2], axis=1)).all()
        assert list(found) == ["weighting"] and (dataset.time, dataset.step) == (1.0, 10)
with h5py.File("pmd.h5", "w") as file:
    header(file)
    for number in (5, 20):
        iteration = file.create_group(f"data/{number}")
        if number == 20:
            iteration.attrs["time"], iteration.attrs["timeUnitSI"] = 3.0, 0.5
        group = iteration.create_group("particles/ions")
        components(group, "position", (xyz * number).astype("f4"), 1e-6)
        group["position"].attrs["unitDimension"] = [1.0, 0, 0, 0, 0, 0, 0]
        group["id"] = ids
        group["matrix"] = np.zeros((N, 3, 3))                    # records that are no attributes
        group["matrix_of_frame/W"] = np.zeros((3, 3))
        group["label"] = np.array([b"a"] * N)
        group["nested/a/b"] = np.zeros(N)
        group.create_group("hollow")
reported = converted("pmd.h5", "pmd.bat")
for name in ("matrix", "matrix_of_frame", "label", "nested", "hollow"):
    assert f"'{name}' is not written: /data/5/particles/ions/{name}" in reported, (name, reported)
meta = [first(same(f"pmd_ions_000{i}.bat", (xyz * number).astype("f4"), {"id": ids}, time=time, step=number))
        for i, (number, time) in enumerate(((5, None), (20, 1.5)))]
assert meta[0]["units"] == {} and meta[1]["units"] == {"time": "s"}, meta  # a factor of 1e-6 is in unitSI
assert meta[0]["openPMD"]["unitSI"]["position"] == 1e-6, meta
# Why there is nothing.
for change, says in (
        (lambda file: file["data/5"].attrs.__setitem__("closed", 0) or file["data/20"].attrs.__setitem__("closed", 0),
         "the attribute 'closed' of '/data/5', '/data/20' is 0: the simulation has not finished writing"),
        (lambda file: file.attrs.__setitem__("particlesPath", np.bytes_("beams/")),
         "/data/5 has no group 'beams' (particlesPath); it has 'particles'"),
        (lambda file: [file.__delitem__(f"data/{number}/particles/ions/position") for number in (5, 20)],
         "/data/5/particles/ions has no position; it has 'hollow', 'id', 'label'"),
        (lambda file: [file.__delitem__(f"data/{number}/particles/ions") for number in (5, 20)], "/data/5/particles is empty"),
        (lambda file: [file.__delitem__(f"data/{number}") for number in (5, 20)], "the group /data has no iterations"),
        (lambda file: file.__delitem__("data"), "the group /data, which holds the iterations, is missing")):
    put("none.h5", open("pmd.h5", "rb").read())
    with h5py.File("none.h5", "a") as file:
        change(file)
    refused("none.h5", "bad.bat", says=[f"none.h5: no complete iteration with particles: {says}"])

# --- openPMD-beamphysics: as it is in the case, by its Python package, and by Bmad
reported = converted(CASES / "beam.h5", "beam.bat")
assert "the particles have no positionOffset" in reported, reported
places = np.arange(4.0)[:, None] * 1e-6 + np.arange(3.0)
momentum = (np.arange(4.0) * 1000)[:, None] * np.ones(3)
with h5py.File(CASES / "beam.h5", "r") as file:
    places = np.stack([file[f"data/00001/position/{axis}"][:] for axis in "xyz"], axis=1)
with parabat.open("beam.bat") as dataset:
    found = dataset.read()
    order, own = np.argsort(found.positions[:, 0]), np.argsort(places[:, 0])
    assert (found.positions[order] == places[own]).all() and (found["momentum"][order] == momentum).all()
    assert set(found) == {"momentum", "weight"} and (dataset.step, dataset.time) == (1, None)
    meta = json.loads(dataset.metadata)["openPMD"]
    assert meta["beam"] == {"numParticles": 4, "speciesType": "electron"} and meta["unitSI"]["momentum"] == 5.344286e-28, meta


def beam(group, name="electron"):
    """As write_pmd_bunch() does it: status may be constant."""
    group.attrs["speciesType"], group.attrs["numParticles"], group.attrs["totalCharge"] = np.bytes_(name), N, 1e-9
    components(group, "position", xyz)
    components(group, "momentum", xyz * 2, 5.344286e-28)
    for record, values in (("time", xyz[:, 0] * 3), ("weight", xyz[:, 1])):
        group[record] = values
        group[record].attrs["unitSI"] = 1.0
        group[record].attrs["unitDimension"] = [0, 0, 1.0, 0, 0, 0, 0] if record == "time" else [0, 0, 1.0, 1, 0, 0, 0]
    status = group.create_group("particleStatus")
    status.attrs["value"], status.attrs["shape"], status.attrs["unitSI"] = 1, np.array([N]), 1.0
    group["id"] = ids
    group["timeOffset"] = np.full(N, 5.0)


expected = {"momentum": xyz * 2, "time": xyz[:, 0] * 3, "weight": xyz[:, 1], "particleStatus": np.ones(N, "i8"), "id": ids,
            "timeOffset": np.full(N, 5.0)}
for name, base, path, where, step in (
        ("package.h5", "/", "particles", "particles/electron", None), ("old.h5", "/", ".", "", None),
        ("bunches.h5", "/data/%T/", "./", "data/00003", 3), ("bmad.h5", "/data/%T/", "particles/", "data/00003/particles", 3),
        ("species.h5", "/data/%T/", "particles/", "data/00003/particles/electron", 3)):
    with h5py.File(name, "w") as file:
        header(file, "2.0.0", "BeamPhysics;SpeciesType", base, path)
        beam(file.require_group(where) if where else file)
    reported = converted(name, "out.bat")
    assert "'time' does not include 'timeOffset', which is an attribute too" in reported, reported
    output = "out_electron.bat" if where.endswith("electron") else "out.bat"
    meta = first(same(output, xyz, expected, step=step))
    assert meta["units"] == {"time": "s", "weight": "s A"} and meta["openPMD"]["beam"]["totalCharge"] == 1e-9, meta
    os.unlink(output)
with h5py.File("other.h5", "w") as file:  # 2.0 of something else
    header(file, "2.0.0")
refused("other.h5", "bad.bat", says=["openPMD 2.0.0; allowed: 1.x"])
with h5py.File("other.h5", "w") as file:
    header(file, "2.0.0", "BeamPhysics", "/", "particles")
refused("other.h5", "bad.bat", says=["no complete iteration with particles: / has no group 'particles' (particlesPath)"])


# --- OSIRIS: RAW files of three and of two dimensions, and of no particles
def osiris(path, dimensions=3, count=N, **attributes):
    with h5py.File(path, "w") as file:
        about = {"NAME": np.array([b"electrons"], "S256"), "TYPE": np.array([b"particles"], "S9"), "ITER": np.array([120], "i4"),
                 "TIME": np.array([4.2], "f4"), "TIME UNITS": np.array([rb"1/\omega_p"], "S256"),
                 "PERIODIC": np.array([1, 0, 1][:dimensions]),
                 "XMIN": np.array([-1.0, -2, -3][:dimensions]), "XMAX": np.array([1.0, 2, 3][:dimensions]), **attributes}
        where = file.create_group("SIMULATION") if "QUANTS" in attributes else file
        for name, value in about.items():
            (where if name in ("PERIODIC", "XMIN", "XMAX") else file).attrs[name] = value
        for i in range(3):
            for name, values in ((f"x{i + 1}", xyz[:count, i]), (f"p{i + 1}", xyz[:count, i] * 2)):
                if name[0] == "p" or i < dimensions:
                    file[name] = values.astype("f4") if count else h5py.Empty("f4")
                    file[name].attrs["UNITS"] = np.array([b"m_e c" if name[0] == "p" else rb"c/\omega_p"], "S256")
        file["q"] = xyz[:count, 0] if count else h5py.Empty("f4")
        if count:
            file["tag"] = np.stack([np.arange(count), ids[:count] % 97], axis=1).astype("i4")
    return path


momenta = {f"p{i + 1}": (xyz[:, i] * 2).astype("f4") for i in range(3)}
tags = np.stack([np.arange(N), ids % 97], axis=1).astype("i4")
single = xyz.astype("f4")
for name, more in (("raw.h5", {}), ("raw_new.h5", {"QUANTS": np.array([b"x1", b"q"], "S256")})):
    converted(osiris(name, **more), "raw.bat")
    meta = first(same("raw.bat", single, {**momenta, "q": xyz[:, 0], "tag": tags}, "q", float(np.float32(4.2)), 120))
    assert meta["units"] == {"positions": r"c/\omega_p", "time": r"1/\omega_p", "p1": "m_e c", "p2": "m_e c", "p3": "m_e c"}, meta
    assert meta["periodic_box"] == {"lower": [-1, None, -3], "upper": [1, None, 3]}, meta
    assert meta["osiris"]["NAME"] == "electrons", meta
alike_in_parts(["raw.h5"])
assert "the file has 2 dimensions: z is 0" in converted(osiris("flat.h5", 2), "flat.bat", "--arrays", "q")
same("flat.bat", np.concatenate([single[:, :2], np.zeros((N, 1), "f4")], axis=1), {"q": xyz[:, 0]}, "q",
     float(np.float32(4.2)), 120)
converted(osiris("empty.h5", count=0), "empty.bat")
with parabat.open("empty.bat") as dataset:
    assert len(dataset) == 0 and dataset.step == 120
osiris("one.h5", count=1)
converted("one.h5", "one.bat")
with h5py.File("one.h5", "a") as file:
    del file["x2"]
    file["x2"] = np.zeros(3)
refused("one.h5", "bad.bat", says=["/x2: 3 values, but the others have 1"])
with h5py.File("one.h5", "a") as file:
    del file["x2"]
refused("one.h5", "bad.bat", says=["no positions: x1, and x2, x3 if it has them, are required"])


# --- PySPH: properties that are not stored, strides, constants, several arrays
def pysph(path, **arrays):
    with h5py.File(path, "w") as file:
        for name, value in (("t", 0.125), ("dt", 1e-3), ("count", 250)):
            file.require_group("solver_data").attrs[name] = value
        for name, properties in arrays.items():
            group = file.create_group(f"particles/{name}")
            group["constants/c0"] = [10.0]
            for key, values in properties.items():
                is_stored = values is not None
                stride = 1 if not is_stored else len(values) // max(1, np.size(properties["x"]))
                node = group.create_dataset(f"arrays/{key}", **(
                    {"data": values, "compression": "gzip"} if is_stored else {"shape": (0,)}))
                node.attrs.update({"name": key, "type": "double", "default": 0.0, "stored": is_stored, "stride": max(1, stride)})
    return path


def fluid(n):
    return {"x": xyz[:n, 0], "y": xyz[:n, 1], "z": xyz[:n, 2], "gid": np.arange(n, dtype="u4"), "h": None, "A": xyz[:n].ravel()}


converted(pysph("dam_250.hdf5", fluid=fluid(N), wall=fluid(7)), "dam.bat")
for name, n in (("fluid", N), ("wall", 7)):
    meta = first(same(f"dam_{name}.bat", xyz[:n], {"gid": np.arange(n, dtype="u4"), "A": xyz[:n]}, "gid", 0.125, 250))
    assert meta["pysph"] == {"solver_data": {"count": 250, "dt": 1e-3, "t": 0.125}, "name": name, "constants": {"c0": 10},
                             "not_stored": ["h"]}, meta
none = dict.fromkeys("xyz", np.zeros(0))
converted(pysph("alone_250.hdf5", fluid=fluid(N), none=none), "alone.bat", "--species", "fluid")
same("alone.bat", xyz, {"gid": np.arange(N, dtype="u4"), "A": xyz}, "gid", 0.125, 250)
plane = {name: values for name, values in fluid(N).items() if name != "z"}
assert "z is not in the file; 0 is used" in converted(pysph("plane_250.hdf5", fluid={**plane, "odd": np.zeros(3)}), "plane.bat")
same("plane.bat", xyz * [1, 1, 0] + 0.0, {"gid": np.arange(N, dtype="u4"), "A": xyz}, "gid", 0.125, 250)
refused(pysph("bad_250.hdf5", fluid={**fluid(N), "y": xyz[:3, 1]}), "bad.bat",
        says=["/particles/fluid/arrays/y: 3 values, but x has 40"])
refused(pysph("bad_250.hdf5", fluid={"y": xyz[:3, 1], "x": None, "z": None}), "bad.bat", says=["no particle array has x"])
np.savez("pysph.npz", particles=np.array({"a": 1}), solver_data=np.array({}), version=2)
refused("pysph.npz", "bad.bat", says=["is an archive of PySPH, whose arrays are pickled objects"])
with open("dam_250.hdf5", "rb") as file:
    whole = file.read()
refused(put("cut.hdf5", whole[:len(whole) // 2]), "bad.bat", says=["cut.hdf5: cannot be read"])

# A species that some iterations lack.
with h5py.File("pmd.h5", "a") as file:
    file.move("data/5/particles/ions", "data/5/particles/muons")
converted("pmd.h5", "some.bat", "--species", "muons")
same("some.bat", (xyz * 5).astype("f4"), {"id": ids}, step=5)
refused("pmd.h5", "bad.bat", "--species", "taus", says=["has no species taus"])
