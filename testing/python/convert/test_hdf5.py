# SPDX-License-Identifier: BSD-3-Clause
"""Snapshots of Gadget and SWIFT, H5Part, H5MD and other HDF5 become datasets, exact to the last bit."""

import json
import os

import numpy as np
import parabat.idx
from support import converted, put, refused, same, without

without("h5py")
import h5py  # pylint: disable=wrong-import-position

random = np.random.default_rng(8)
BIG = 2 ** 53 + 1


def fields(n, kind="f4", first=0):
    return {"Coordinates": random.random((n, 3)), "Velocities": random.normal(size=(n, 3)).astype(kind),
            "ParticleIDs": np.uint64(2 ** 63 + 5 + first) + random.permutation(n).astype("u8"),
            "Masses": random.random(n).astype(kind), "Metals": random.random((n, 11)).astype(">f4"),
            "Flag": random.integers(0, 2, n).astype("i1")}


def snapshot(path, parts, files=1, total=None, header=None, swift=False):
    """A file as written by the simulations."""
    counts = [len(parts[f"PartType{i}"]["ParticleIDs"]) if f"PartType{i}" in parts else 0 for i in range(6)]
    total = counts if total is None else total
    with h5py.File(path, "w") as file:
        about = file.create_group("Header").attrs
        about["NumPart_ThisFile"] = np.array(counts, "i4")
        about["NumPart_Total"] = np.array([n % 2 ** 32 for n in total], "u4")
        about["NumPart_Total_HighWord"] = np.array([n >> 32 for n in total], "u4")
        about["MassTable"] = np.array([0, 0.5, 0, 0, 0, 0])
        about["Time"], about["BoxSize"], about["NumFilesPerSnapshot"] = (
            np.array([0.25]) if swift else 0.25, np.array([1.0, 1, 1]), files)
        for name, value in (header or {}).items():
            about[name] = value
        file.create_group("Units").attrs["Unit length in cgs (U_L)"] = np.array([3.08567758e24])
        for name, arrays in parts.items():
            group = file.create_group(name)
            for field, values in arrays.items():
                node = group.create_dataset(field, data=values, chunks=swift or None, compression="gzip" if swift else None)
                if swift and field == "Velocities":
                    node.attrs["Expression for physical CGS units"] = np.bytes_(b"U_L U_t^-1  [ cm s^-1 ]")


def check(path, values, time=0.25):
    """Metadata of a dataset that contains these."""
    expected = {name: array for name, array in values.items() if name not in ("Coordinates", "Metals")}
    expected.update({f"Metals_{i}": values["Metals"][:, i].astype("f4") for i in range(11)} if "Metals" in values else {})
    return json.loads(same(path, values["Coordinates"], expected, "ParticleIDs", time))


# One file: species, units, header.
gas, dark = fields(2000), fields(500, "f8")
del dark["Masses"]
snapshot("swift_0000.hdf5", {"PartType0": gas, "PartType1": dark}, swift=True)
reported = converted("swift_0000.hdf5", "swift.bat")
assert "'Metals' has 11 components" in reported and "PartType1 has no Masses: each is 0.5" in reported, reported
about = check("swift_PartType0.bat", gas)
assert about["units"] == {"Velocities": "U_L U_t^-1  [ cm s^-1 ]"}, about
assert about["gadget"]["Header"]["BoxSize"] == [1, 1, 1] and about["species"] == "PartType0", about
assert about["gadget"]["Units"] == {"Unit length in cgs (U_L)": 3.08567758e24}, about
assert check("swift_PartType1.bat", dark)["fields"]["Masses"] == {"all": 0.5}
converted("swift_0000.hdf5", "gas.bat", "--species", "PartType0", "--arrays", "ParticleIDs")
same("gas.bat", gas["Coordinates"], {"ParticleIDs": gas["ParticleIDs"]}, "ParticleIDs", 0.25)

# Many files, some of which lack a species; a time series of them, by several processes, each named once.
pieces = [fields(n, first=first) for n, first in ((700, 0), (0, 0), (300, 700))]
for number in (1, 2):
    for i, piece in enumerate(pieces):
        parts = {"PartType4": piece} if len(piece["Masses"]) else {}
        if i == 1:
            parts["PartType1"] = dark
        snapshot(f"snap_00{number}.{i}.hdf5", parts, 3, [0, 500, 0, 0, 1000, 0], {"Time": number / 2})
stars = {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}
for words in (["snap_00*.hdf5"], ["snap_001.2.hdf5", "snap_002.0.hdf5", "--jobs", "2"]):
    converted(*words[:-2] if "--jobs" in words else words, "snap.bat", *words[-2:] if "--jobs" in words else [])
    for number in (1, 2):
        check(f"snap_PartType4_000{number - 1}.bat", stars, number / 2)
        check(f"snap_PartType1_000{number - 1}.bat", dark, number / 2)
    with open("snap_PartType4.bat.series", encoding="utf-8") as file:
        assert [each["time"] for each in json.load(file)["files"]] == [0.5, 1.0]
    assert not os.path.exists("snap_PartType1_0002.bat")

os.rename("snap_001.1.hdf5", "away")
refused("snap_001.0.hdf5", "bad.bat", says=["one of 3 files of a snapshot, but snap_001.1.hdf5 is missing"])
os.rename("away", "snap_001.1.hdf5")
for total, says in (([0, 500, 0, 0, 5 * 2 ** 32, 0], ["PartType4: the header claims 21474836480 particles"]),
                    ([0, 500, 0, 0, 999, 0], ["claims 999 particles", "3 files have 1000"])):
    snapshot("snap_001.0.hdf5", {"PartType4": pieces[0]}, 3, total)
    refused("snap_001.2.hdf5", "bad.bat", says=["snap_001.0.hdf5: ", *says])
other = dict(pieces[0], Velocities=pieces[0]["Velocities"].astype("f8"))
snapshot("snap_001.0.hdf5", {"PartType4": other}, 3, [0, 500, 0, 0, 1000, 0])
refused("snap_001.0.hdf5", "bad.bat", says=["snap_001.2.hdf5: PartType4/Velocities: is float32", "float64"])
snapshot("claims.hdf5", {"PartType0": gas}, header={"NumPart_ThisFile": np.array([2 ** 31 - 1, 0, 0, 0, 0, 0])})
refused("claims.hdf5", "bad.bat", says=["claims.hdf5: /PartType0/", "the header claims 2147483647 particles"])
snapshot("claims.hdf5", {"PartType0": gas}, header={"NumPart_ThisFile": np.array([2000, 7, 0, 0, 0, 0])})
refused("claims.hdf5", "bad.bat", says=["claims 7 particles of PartType1, which is missing"])
snapshot("places.hdf5", {"PartType0": {name: gas[name] for name in ("ParticleIDs", "Masses")}})
refused("places.hdf5", "bad.bat", says=["PartType0: has no Coordinates"])
snapshot("empty.hdf5", {})
refused("empty.hdf5", "bad.bat", says=["has no particles"])
with open("swift_0000.hdf5", "rb") as file:
    content = file.read()
refused(put("cut.hdf5", content[:-1000]), "bad.bat", says=["cut.hdf5: cannot be read as HDF5"])
refused("swift_0000.hdf5", "bad.bat", "--species", "PartType3", says=["has no particles of PartType3"])
with h5py.File("claims.hdf5", "w") as file:
    file.create_group("Header").attrs["NumPart_ThisFile"] = [2 ** 40]
    file["Header"].attrs["NumPart_Total"] = np.array([2 ** 40], "u8")
    file.create_dataset("PartType0/Coordinates", (2 ** 40, 3), "f8", chunks=(1000, 3))
refused("claims.hdf5", "bad.bat", says=["/PartType0/Coordinates: claims (1099511627776, 3) values, but none were ever"])
# The virtual file that SWIFT puts in front of many: without the others, it would be zeros.
layout = h5py.VirtualLayout((2000, 3), "f8")
layout[:] = h5py.VirtualSource("swift_0000.hdf5", "PartType0/Coordinates", (2000, 3))
with h5py.File("virtual.hdf5", "w") as file:
    file.create_group("Header").attrs["NumPart_ThisFile"] = [2000]
    file["Header"].attrs["NumPart_Total"] = [2000]
    file.create_virtual_dataset("PartType0/Coordinates", layout)
    file["PartType0/ParticleIDs"] = gas["ParticleIDs"]
refused("virtual.hdf5", "bad.bat", says=[
    "PartType0: has no Coordinates; /PartType0/Coordinates: combines arrays in the file 'swift_0000.hdf5'; use --follow-links"])
assert "note: virtual.hdf5: /PartType0/Coordinates: combines arrays in the file 'swift_0000.hdf5', which is read" in (
    converted("virtual.hdf5", "virtual.bat", "--follow-links"))
same("virtual_PartType0.bat", gas["Coordinates"], {"ParticleIDs": gas["ParticleIDs"]}, "ParticleIDs")
os.rename("swift_0000.hdf5", "away")
refused("virtual.hdf5", "bad.bat", "--follow-links", says=["combines files, but swift_0000.hdf5 does not exist"])
os.rename("away", "swift_0000.hdf5")
layout[:] = h5py.VirtualSource("swift_0000.hdf5", "PartType0/Nothing", (2000, 3))
with h5py.File("virtual.hdf5", "a") as file:
    del file["PartType0/Coordinates"]
    file.create_virtual_dataset("PartType0/Coordinates", layout)
refused("virtual.hdf5", "bad.bat", "--follow-links", says=["combines arrays, but PartType0/Nothing is not in swift_0000.hdf5"])

# --- H5Part
xyz = [random.normal(size=(n, 3)) for n in (100, 0, 70)]
ids = [BIG + np.arange(len(each)) for each in xyz]
with h5py.File("run.h5part", "w") as file:
    for step, number in enumerate((0, 2, 10)):
        group = file.create_group(f"Step#{number}")
        group.attrs["TimeValue"] = np.array([number / 4])
        for axis, name in enumerate("xyz"):
            group[name] = xyz[step][:, axis]
            group[name].attrs["unit"] = "mm"
        group["id"] = ids[step]
        group["id"].attrs["units"] = "1"
        group.create_group("Block")
assert "groups in /Step#0 are not written: 'Block'" in converted("run.h5part", "h5part.bat", "--jobs", "2")
for step, number in enumerate((0, 2, 10)):
    metadata = same(f"h5part_000{step}.bat", xyz[step], {"id": ids[step]}, time=number / 4, step=number)
    assert json.loads(metadata)["units"] == {"positions": "mm", "id": "1"}, metadata
with h5py.File("run.h5part", "a") as file:
    del file["Step#10/z"]
    file["Step#10/z"] = xyz[2][:50, 2]
for jobs in "12":
    refused("run.h5part", "bad.bat", "--jobs", jobs, says=["run.h5part: /Step#10/z: 50 values, but the others have 70"])
with h5py.File("run.h5part", "a") as file:
    del file["Step#10/z"]
refused("run.h5part", "bad.bat", "--steps", "2", says=["no positions", "'id', 'x', 'y'"])

# --- H5MD: time-dependent, constant, and with other steps
with h5py.File("run.h5md", "w") as file:
    file.create_group("h5md")
    for name in ("water", "ions"):
        group = file.create_group(f"particles/{name}")
        group["position/value"] = np.stack([xyz[0], xyz[0] + 1]).astype("f4")
        group["position/step"] = [3, 6]
        group["position/time"] = [0.5, 1.0]
        group["position/value"].attrs["unit"] = "nm"
        group["id"] = ids[0]
        group["charge/value"] = xyz[0][np.newaxis, :, 0]
        group["charge/step"] = [6]
        group.create_group("box").attrs["dimension"] = 3
        group["box/edges/value"] = np.array([[1, 2, 3], [4, 5, 6.0]])
        group["box/edges/step"] = [3, 6]
with h5py.File("increments.h5md", "w") as file:  # charges have different steps, and begin later
    file.create_group("h5md")
    for name, values, increment, offset in (("position", np.stack(5 * [xyz[0]]), 10, 0), ("id", np.stack(5 * [ids[0]]), 10, 0),
                                            ("charge", np.arange(2.0)[:, None].repeat(len(ids[0]), 1), 20, 10)):
        element = file.create_group(f"particles/all/{name}")
        element["value"], element["step"] = values, increment
        element["step"].attrs["offset"] = offset
converted("increments.h5md", "increments.bat")
for number, charge in enumerate((None, 0.0, None, 1.0, None)):
    same(f"increments_{number:04}.bat", xyz[0], {"id": ids[0], **({} if charge is None else {
        "charge": np.full(len(ids[0]), charge)})}, step=10 * number)
converted("increments.h5md", "increments.bat", "--species", "all", "--steps", "0")  # may be named, too
refused("increments.h5md", "bad.bat", "--species", "some", says=["unknown species 'some'; available: 'all'"])
assert "'charge' is not written: it has no value for step 3" in converted("run.h5md", "h5md.bat")
about = same("h5md_ions_0000.bat", xyz[0].astype("f4"), {"id": ids[0]}, time=0.5, step=3)
about = same("h5md_water_0001.bat", (xyz[0] + 1).astype("f4"), {"id": ids[0], "charge": xyz[0][:, 0]}, time=1.0, step=6)
assert json.loads(about)["h5md"]["box"]["edges"] == [4, 5, 6], about

# --- Any HDF5, by names and by a mapping
with h5py.File("any.h5", "w") as file:
    for number in (1, 20):
        file[f"run/out_{number}/r"] = xyz[0] * number
        file[f"run/out_{number}/ids"] = ids[0]
        file[f"run/out_{number}/vel/u"] = xyz[0][:, 1]
        file[f"run/out_{number}/vel/v"] = xyz[0][:, 2]
    file["flags"] = np.arange(100, dtype="u1")
converted("any.h5", "named.bat")
same("named_run_out_20.bat", xyz[0] * 20, {"ids": ids[0]}, "ids")
mapping = ["--map", "positions=/run/out_*/r", "--map", "id=/run/out_*/ids", "--map", "v=/run/out_*/vel/u,/run/out_*/vel/v",
           "--map", "flag=flags"]
converted("any.h5", "mapped.bat", *mapping)
for step, number in enumerate((1, 20)):
    same(f"mapped_000{step}.bat", xyz[0] * number, {"id": ids[0], "v": xyz[0][:, 1:], "flag": np.arange(100, dtype="u1")},
         step=number)
for words, says in ((["--map", "id=flags"], ["positions is missing"]),
                    (["--map", "positions=/run/out_*/q"], ["no name in the file matches"]),
                    (["--map", "positions=/run"], ["/run is a group"]),
                    (["--map", "positions=/here"], ["unknown path /here; available: 'flags', 'run'"]),
                    (["--map", "positions=/run/out_1/r", "--map", "id=/run/out_1/ids,flags"], ["differ in shape or type"]),
                    (["--map", "positions=/run/out_1/ids"], ["positions with shape (100,)"])):
    refused("any.h5", "bad.bat", *words, says=["any.h5: " if "name pos" not in says[0] else "", *says])
with h5py.File("nothing.h5", "w") as file:
    file["a"] = ids[0]
refused("nothing.h5", "bad.bat", says=["no group has positions", "--map positions=PATH"])

# --- openPMD: constants, offsets, an unfinished iteration
with h5py.File("run_pmd.h5", "w") as file:
    for name, value in (("openPMD", "1.1.0"), ("basePath", "/data/%T/"), ("particlesPath", "particles/")):
        file.attrs[name] = np.bytes_(value)
    for number in (100, 200, 300):
        iteration = file.create_group(f"data/{number}")
        iteration.attrs["time"], iteration.attrs["timeUnitSI"] = number / 2, 0.5
        iteration.attrs["closed"] = np.uint8(number != 300)
        for species in ("electrons", "ions"):
            group = iteration.create_group(f"particles/{species}")
            for axis, name in enumerate("xyz"):
                group[f"position/{name}"] = single = (xyz[0][:, axis] * number).astype("f4")
                group[f"momentum/{name}"] = xyz[0][:, axis]
                group[f"momentum/{name}"].attrs["unitSI"] = 2.5
                node = group.create_group(f"positionOffset/{name}")
                node.attrs["value"], node.attrs["shape"] = (0.0 if species == "electrons" else 1.5), np.array([100])
            group["id"] = ids[0].astype("u8")
            charge = group.create_group("charge")
            charge.attrs["value"], charge.attrs["shape"], charge.attrs["unitSI"] = -1.0, np.array([100]), 1.6e-19
reported = converted("run_pmd.h5", "pmd.bat", "--jobs", "2")
assert "unfinished iterations are not written: 300" in reported, reported
expected = {"momentum": xyz[0], "id": ids[0].astype("u8"), "charge": np.full(100, -1.0)}
for i, number in enumerate((100, 200)):
    places = (xyz[0] * number).astype("f4")
    about = same(f"pmd_electrons_000{i}.bat", places, expected, time=number / 4, step=number)
    assert json.loads(about)["openPMD"]["unitSI"]["momentum"] == 2.5, about
    same(f"pmd_ions_000{i}.bat", places.astype("f8") + 1.5, expected, time=number / 4, step=number)
converted("run_pmd.h5", "pmd.bat", "--species", "ions", "--arrays", "id", "--steps", "1")
same("pmd.bat", places.astype("f8") + 1.5, {"id": expected["id"]}, time=50.0, step=200)
with h5py.File("run_pmd.h5", "a") as file:
    file["data/200/particles/ions/charge"].attrs["shape"] = np.array([99])
refused("run_pmd.h5", "bad.bat", says=["run_pmd.h5: /data/200/particles/ions/charge: 99 values; allowed: 100"])
with h5py.File("run_pmd.h5", "a") as file:
    file["data/200/particles/ions/charge"].attrs["shape"] = np.array([100])
    for name in "xyz":
        for record in ("position", "positionOffset"):
            del file[f"data/100/particles/ions/{record}/{name}"]
            node = file.create_group(f"data/100/particles/ions/{record}/{name}")
            node.attrs["value"], node.attrs["shape"] = 1.0, np.array([2 ** 50])
refused("run_pmd.h5", "bad.bat", says=["1125899906842624 values", "the free memory of this machine"])
refused("run_pmd.h5", "bad.bat", "--species", "muons", "--steps", "1", says=["no species muons"])
# Two groups that would get one name.
with h5py.File("clash.h5", "w") as file:
    for name in ("a/b", "a_b", "c"):
        file.create_group(name)["positions"] = np.zeros((5, 3))
refused("clash.h5", "bad.bat", says=["/a/b and /a_b would both be the species 'a_b'"])

# --- External data, in each of the formats: not read unless --follow-links requests it, and reported by name
SECRET = np.arange(100.0) + 0.125


def external(file, path):
    file[path] = h5py.ExternalLink("secret.h5", "/secret")


def stored_elsewhere(file, path):
    file.create_dataset(path, (100,), "f8", external=[("secret.bin", 16, 800)])


def virtual(file, path):
    layout = h5py.VirtualLayout((100,), "f8")
    layout[:] = h5py.VirtualSource("secret.h5", "secret", (100,))
    file.create_virtual_dataset(path, layout)


def soft_to_external(file, path):
    file.require_group("way")["out"] = h5py.ExternalLink("secret.h5", "/")
    file[path] = h5py.SoftLink("/way/out/secret")


def virtual_here(file, path):
    """For an array in the same file, which is an external link."""
    file.require_group("way")["there"] = h5py.ExternalLink("secret.h5", "/secret")
    layout = h5py.VirtualLayout((100,), "f8")
    layout[:] = h5py.VirtualSource(".", "way/there", (100,))
    file.create_virtual_dataset(path, layout)


def looping(file, path):
    """A link to itself, a pair of links, a dangling one, and a group that contains itself."""
    folder = path.rpartition("/")[0]
    file[path] = h5py.SoftLink("/" + path)
    for name, aim in (("loop1", "loop2"), ("loop2", "loop1"), ("nowhere", "none")):
        file[f"{folder}/{name}"] = h5py.SoftLink(f"/{folder}/{aim}")
    file.require_group("way")["cycle"] = file["/"]


def any_file(name, put_link):
    with h5py.File(name, "w") as file:
        file["g/x"], file["g/y"], file["g/z"], file["g/id"] = *xyz[0].T, ids[0]
        put_link(file, "g/mass")


def gadget_file(name, put_link):
    snapshot(name, {"PartType0": {"Coordinates": xyz[0], "ParticleIDs": ids[0]}})
    with h5py.File(name, "a") as file:
        put_link(file, "PartType0/mass")


def h5part_file(name, put_link):
    with h5py.File(name, "w") as file:
        for axis, values in zip("xyz", xyz[0].T):
            file[f"Step#0/{axis}"] = values
        file["Step#0/id"] = ids[0]
        put_link(file, "Step#0/mass")


def h5md_file(name, put_link):
    with h5py.File(name, "w") as file:
        file.create_group("h5md")
        file["particles/all/position/value"] = xyz[0][np.newaxis]
        file["particles/all/id"] = ids[0]
        put_link(file, "particles/all/mass")


def openpmd_file(name, put_link):
    with h5py.File(name, "w") as file:
        for key, value in (("openPMD", "1.1.0"), ("basePath", "/data/%T/"), ("particlesPath", "particles/")):
            file.attrs[key] = np.bytes_(value)
        group = file.create_group("data/5/particles/all")
        for axis, values in zip("xyz", xyz[0].T):
            group[f"position/{axis}"] = values
            node = group.create_group(f"positionOffset/{axis}")
            node.attrs["value"], node.attrs["shape"] = 0.0, np.array([100])
        group["id"] = ids[0]
        put_link(file, "data/5/particles/all/mass")


with h5py.File("secret.h5", "w") as file:
    file["secret"] = SECRET
put("secret.bin", bytes(16) + SECRET.tobytes())
WAYS = {external: "external link to /secret in the file secret.h5", stored_elsewhere: "has its values in the file 'secret.bin'",
        virtual: "combines arrays in the file 'secret.h5'", soft_to_external: "external link to / in the file secret.h5",
        virtual_here: "external link to /secret in the file secret.h5", looping: "circular link"}
for make, name, key in ((any_file, "out.h5", "id"), (gadget_file, "out.hdf5", "ParticleIDs"), (h5part_file, "out.h5part", "id"),
                        (h5md_file, "out.h5md", "id"), (openpmd_file, "out_pmd.h5", "id")):
    result = {"out.hdf5": "out_PartType0.bat", "out_pmd.h5": "out_all.bat"}.get(name, "out.bat")
    for way, words in WAYS.items():
        if make is not any_file and way not in (external, looping):
            continue  # the same code
        make(name, way)
        for jobs in ("1", "2") if way is virtual else "1":
            reported = converted(name, "out.bat", "--jobs", jobs)
            assert words in reported and "mass: " in reported, (name, way, reported)
            time, step = {"out.hdf5": (0.25, None), "out.h5part": (None, 0), "out_pmd.h5": (None, 5)}.get(name, (None, None))
            same(result, xyz[0], {key: ids[0]}, key, time, step)
        if way is not looping:
            reported = converted(name, "out.bat", "--follow-links")
            assert words + ", which is read" in reported, (name, way, reported)
            same(result, xyz[0], {key: ids[0], "mass": SECRET}, key, time, step)
            refused(name, "bad.bat", "--arrays", "mass", says=[words, "--follow-links"])
        elif make is any_file:
            assert "/g/nowhere: is a broken link" in converted(name, "out.bat", "--arrays", "id")
# Single values, and endless links, which are listed up to a number.
any_file("out.h5", lambda file, path: file.__setitem__("g/one", 5.0))
assert "'one' is not written: it is a single value" in converted("out.h5", "out.bat")
any_file("out.h5", lambda file, path: [file.__setitem__(f"g/l{i}", h5py.SoftLink(f"/g/l{i + 1}")) for i in range(300)])
reported = converted("out.h5", "out.bat")
assert reported.count("circular link") == 20 and reported.count("more links are skipped") == 1, reported
# Required parts; a mapping; files of other kinds that would block; grids.
any_file("out.h5", virtual)
refused("out.h5", "bad.bat", "--map", "positions=g/x,g/y,g/mass", says=["/g/mass: combines", "use --follow-links to read"])
converted("out.h5", "out.bat", "--map", "positions=g/x,g/y,g/mass", "--follow-links")
os.mkfifo("pipe.h5")
any_file("out.h5", lambda file, path: file.__setitem__(path, h5py.ExternalLink("pipe.h5", "/a")))
converted("out.h5", "out.bat")
refused("out.h5", "bad.bat", "--follow-links", says=["pipe.h5 is not a regular file"])
os.remove("pipe.h5")
refused("out.h5", "bad.bat", "--follow-links", says=["/g/mass: is an external link to /a in the file pipe.h5, which cannot be opened"])
put("secret.bin", bytes(16) + SECRET.tobytes()[:-1])
any_file("out.h5", stored_elsewhere)
refused("out.h5", "bad.bat", "--follow-links", says=["/g/mass: has 800 of its bytes in secret.bin, from byte 16, but that file has 815"])
refused(put("out.csv", "x,y,z\n1,2,3\n"), "bad.bat", "--follow-links", says=["the format table", "does not support it"])
with h5py.File("grid.h5", "w") as file:
    file["a"], file["b"] = np.ones((4, 5)), h5py.ExternalLink("grid2.h5", "/b")
    file["loop"] = h5py.SoftLink("/loop")
with h5py.File("grid2.h5", "w") as file:
    file["b"] = np.ones((4, 5))
reported = converted("grid.h5", "grid.idx")
assert "/b: is an external link" in reported and "/loop: is a circular link" in reported, reported
with parabat.idx.open("grid.idx") as grid:
    assert list(grid.fields) == ["a"]
assert "which is read" in converted("grid.h5", "grid.idx", "--follow-links")
with parabat.idx.open("grid.idx") as grid:
    assert sorted(grid.fields) == ["a", "b"]
