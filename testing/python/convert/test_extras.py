"""Formats through the libraries that their fields keep: datasets hold what those libraries read, to the last bit; what is
wrong with a file is said in a line."""

import json
import os
import struct

import gsd.hoomd
import laspy
import MDAnalysis
import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import zstandard
from pypcd4 import Encoding, PointCloud
from support import converted, put, refused, same

random = np.random.default_rng(11)
N = 2500
BIG = 2 ** 53 + 1
ids = BIG + random.permutation(N)
xyz = random.normal(size=(N, 3)) * 10.0 ** random.integers(-300, 300, (N, 3))
with np.errstate(over="ignore", under="ignore"):
    single = xyz.astype("f4")
single[~np.isfinite(single)] = 0


def content(path):
    with open(path, "rb") as file:
        return file.read()


# --- zstd, in one frame and in several
text = "ITEM: TIMESTEP\n1\nITEM: NUMBER OF ATOMS\n3\nITEM: BOX BOUNDS pp pp pp\n0 1\n0 1\n0 1\nITEM: ATOMS id x y z\n" \
    "1 1 2 3\n2 4 5 6\n3 7 8 9\n"
compress = zstandard.ZstdCompressor().compress
for name, data in (("one.zst", compress(text.encode())),
                   ("two.zst", compress(text[:90].encode()) + compress(text[90:].encode()))):
    converted(put(name, data), "zst.bat")
    same("zst.bat", np.arange(1, 10.0).reshape(3, 3), {"id": np.arange(1, 4)}, step=1)
refused(put("cut.zst", compress(text.encode() * 100)[:-20]), "bad.bat", says=["cut.zst: "])

# --- Parquet and Feather
columns = {"id": ids, "x": xyz[:, 0], "y": xyz[:, 1], "z": xyz[:, 2], "flag": ids % 2 == 0,
           "half": np.arange(N).astype("f2"), "key": ids.astype("u8") * 2}
table = pa.table({**columns, "v": pa.FixedSizeListArray.from_arrays(pa.array(single.ravel()), 3),
                  "pair": pa.array([[i, -i] for i in range(N)], pa.list_(pa.int16())),
                  "when": pa.array(np.arange(N), pa.timestamp("us")), "name": ["a"] * N,
                  "gap": pa.array([None if i == 5 else i for i in range(N)], pa.int32()),
                  "nan": pa.array([None if i == 6 else i / 2 for i in range(N)], pa.float32())})
wanted = {"id": ids, "flag": columns["flag"].astype("u1"), "half": columns["half"].astype("f4"), "key": columns["key"],
          "v": single, "pair": np.stack([np.arange(N), -np.arange(N)], axis=1).astype("i2"), "when": np.arange(N),
          "gap": np.where(np.arange(N) == 5, np.nan, np.arange(N)),
          "nan": np.where(np.arange(N) == 6, np.nan, np.arange(N) / 2).astype("f4")}
pa.parquet.write_table(table, "t.parquet", row_group_size=700)
pa.feather.write_feather(table, "t.feather", compression="lz4", chunksize=700)
for name in ("t.parquet", "t.feather"):
    said = converted(name, "t.bat")
    for text in ("'name' is not written: its type is string", "'gap' lacks 1 values", "'nan' lacks 1 values"):
        assert text in said, said
    assert json.loads(same("t.bat", xyz, wanted))["units"] == {"when": "timestamp[us]"}
converted("t.parquet", "v.bat", "--columns", "v", "--arrays", "id,x")
same("v.bat", single, {"id": ids, "x": xyz[:, 0]})
whole = content("t.parquet")
refused(put("cut.parquet", whole[:-100]), "bad.bat", says=["cut.parquet: cannot be read"])
refused(put("damaged.parquet", whole[:300] + b"xxxxxxxxxxxxxxxx" + whole[316:]), "bad.bat", says=["damaged.parquet: "])
refused(put("cut.feather", content("t.feather")[:-100]), "bad.bat", says=["cut.feather: cannot be read"])
pa.parquet.write_table(table.drop_columns(["x", "v"]), "none.parquet")
refused("none.parquet", "bad.bat", says=["no positions"])
pa.feather.write_feather(pa.table([pa.array([1.0])] * 2, names=["x", "x"]), "twice.feather")
refused("twice.feather", "bad.bat", says=["two columns are named 'x'"])
pa.parquet.write_table(pa.table({"x": [1.0, 2], "y": [1.0, 2], "z": [1.0, 2], "id": pa.array([None, BIG])}), "gap.parquet")
refused("gap.parquet", "bad.bat", says=["'id' lacks 1 values", "beyond 2^53"])

# --- GSD: what is stored, not what the schema says by default
with gsd.hoomd.open("run.gsd", "w") as file:
    for step, n in ((5, 100), (9, 60)):
        frame = gsd.hoomd.Frame()
        frame.configuration.step = step
        frame.configuration.box = [1, 2, 3, 0, 0, 0]
        frame.particles.N = n
        frame.particles.position = single[:n]
        frame.particles.velocity = single[n:2 * n]
        frame.particles.typeid = np.arange(n) % 2
        frame.particles.types = ["A", "B"]
        frame.log["particles/energy"] = xyz[:n, 0]
        file.append(frame)
converted("run.gsd", "gsd.bat", "--jobs", "2")
for i, (step, n) in enumerate(((5, 100), (9, 60))):
    about = same(f"gsd_000{i}.bat", single[:n], {"tag": np.arange(n, dtype="u4"), "velocity": single[n:2 * n],
                                                 "typeid": (np.arange(n) % 2).astype("u4"), "energy": xyz[:n, 0]},
                 "tag", step=step)
    assert json.loads(about)["gsd"]["types"] == ["A", "B"], about
refused(put("cut.gsd", content("run.gsd")[:-200]), "bad.bat", says=["cut.gsd: "])

# --- LAS, LAZ
header = laspy.LasHeader(version="1.4", point_format=7)
header.scales, header.offsets = [0.001, 0.01, 0.1], [1e6, -5, 0.25]
header.add_extra_dims([laspy.ExtraBytesParams("key", "uint64"), laspy.ExtraBytesParams("normal", "3f4")])
las = laspy.LasData(header)
for axis in "XYZ":
    las[axis] = random.integers(-2 ** 31, 2 ** 31, N)
las.key, las.normal, las.gps_time = ids.astype("u8"), single, xyz[:, 0]
las.intensity, las.red, las.return_number, las.classification = (random.integers(0, top, N) for top in (65536, 65536, 16, 256))
las.write("scan.las")
las.write("scan.laz")
for name in ("scan.las", "scan.laz"):
    converted(name, "las.bat")
    read = laspy.read(name)
    wanted = {dimension: np.array(read[dimension]) for dimension in read.point_format.dimension_names
              if dimension not in "XYZ"}
    about = json.loads(same("las.bat", read.xyz, wanted, "key"))["las"]
    assert about["scales"] == [0.001, 0.01, 0.1] and about["point_format"] == 7, about
    assert (wanted["key"] == ids.astype("u8")).all() and {"gps_time", "overlap", "return_number"} <= set(wanted), wanted
whole = content("scan.las")
refused(put("cut.las", whole[:-100]), "bad.bat", says=["cut.las: claims 2500 points"])
refused(put("billions.las", whole[:247] + struct.pack("<Q", 2 ** 40) + whole[255:]), "bad.bat", says=["claims 1099511627776 points"])
refused(put("cut.laz", content("scan.laz")[:-3000]), "bad.bat", says=["cut.laz: "])
refused(put("header.las", whole[:100]), "bad.bat", says=["header.las: "])

# --- PCD
with np.errstate(all="ignore"):
    fields = np.rec.fromarrays([single[:, 0], single[:, 1], single[:, 2], ids.astype("u4") % 2 ** 31, np.arange(N, dtype="u2")],
                               names="x,y,z,id,ring")
cloud = PointCloud.from_points(np.stack([fields[name].astype("f8") for name in fields.dtype.names], axis=1),
                               fields.dtype.names, (np.float32, np.float32, np.float32, np.uint32, np.uint16))
for encoding in (Encoding.BINARY, Encoding.BINARY_COMPRESSED):
    name = f"{encoding.value}.pcd"
    cloud.save(name, encoding)
    converted(name, "pcd.bat")
    read = PointCloud.from_path(name).pc_data
    same("pcd.bat", single, {"id": read["id"], "ring": np.arange(N, dtype="u2")}, "ring")
    refused(put("cut.pcd", content(name)[:-50]), "bad.bat", says=["cut.pcd: claims 2500 points"])
put("text.pcd", "# .PCD v0.7\nVERSION 0.7\nFIELDS x y z id v\nSIZE 8 8 8 4 4\nTYPE F F F U F\nCOUNT 1 1 1 1 2\nWIDTH 3\nHEIGHT 1\n"
    "VIEWPOINT 0 0 0 1 0 0 0\nPOINTS 3\nDATA ascii\n" + "".join(
        f"{' '.join(map(repr, xyz[i].tolist()))} {4294967290 + i} {i}.5 nan\n" for i in range(3)))
converted("text.pcd", "pcd.bat", "--arrays", "id")
same("pcd.bat", xyz[:3], {"id": np.arange(4294967290, 4294967293, dtype="u4")})
refused(put("cut.pcd", content("text.pcd")[:-60]), "bad.bat", says=["cut.pcd: "])
whole = content("binary.pcd")
refused(put("billions.pcd", whole.replace(b"POINTS 2500", b"POINTS 99999999999")), "bad.bat", says=["claims 99999999999 points"])
refused(put("twice.pcd", whole.replace(b"FIELDS x y z id", b"FIELDS x y z x")), "bad.bat", says=["two fields are named 'x'"])
refused(put("places.pcd", whole.replace(b"FIELDS x y z", b"FIELDS a b c")), "bad.bat", says=["no positions"])

# --- Trajectories
atoms = MDAnalysis.Universe.empty(40, trajectory=True, velocities=True, forces=True)
atoms.add_TopologyAttr("names", ["O", "H"] * 20)
atoms.add_TopologyAttr("resnames", ["SOL"])
atoms.add_TopologyAttr("resids", [1])
atoms.dimensions = [30, 31, 32, 90, 90, 90]
places = (random.random((3, 40, 3)) * 30).astype("f4")
for kind in ("xtc", "trr", "dcd", "gro"):
    with MDAnalysis.Writer(f"run.{kind}", 40) as writer:
        for frame in places[:1 if kind == "gro" else 3]:
            atoms.atoms.positions, atoms.atoms.velocities, atoms.atoms.forces = frame, frame[::-1], frame * 2
            writer.write(atoms)
for kind in ("xtc", "trr", "dcd", "gro"):
    topology = ["--topology", "run.gro"] if kind == "trr" else []
    converted(f"run.{kind}", f"{kind}.bat", *topology)
    hidden = [name for name in os.listdir(".") if name.startswith(f".run.{kind}")]
    assert not hidden, hidden
    read = MDAnalysis.Universe("run.gro", f"run.{kind}", convert_units=False, to_guess=())
    for i, frame in enumerate(read.trajectory):
        wanted = {"index": np.arange(40)}
        if frame.has_velocities:
            wanted["velocities"] = frame.velocities.copy()
        if frame.has_forces:
            wanted["forces"] = frame.forces.copy()
        if kind in ("gro", "trr"):
            wanted.update(ids=np.array(read.atoms.ids), resids=np.array(read.atoms.resids))
            wanted.update(names=np.array([0 if name == "H" else 1 for name in read.atoms.names], "i4"),
                          resnames=np.zeros(40, "i4"), segids=np.zeros(40, "i4"))
        is_timed = "step" in frame.data
        same(f"{kind}.bat" if kind == "gro" else f"{kind}_000{i}.bat", frame.positions.copy(), wanted, "index",
             float(frame.time) if is_timed else None, frame.data["step"] if is_timed else None)
    whole = content(f"run.{kind}")
    refused(put(f"cut.{kind}", whole[:-100]), "bad.bat", says=[f"cut.{kind}: "])
refused(put("cut.xtc", content("run.xtc")[:-30]), "bad.bat", "--arrays", "index", says=["cut.xtc: "])
refused("run.xtc", "bad.bat", "--topology", put("nothing.gro", "nothing"), says=["run.xtc: MDAnalysis cannot read it"])
