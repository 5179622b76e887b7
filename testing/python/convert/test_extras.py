# SPDX-License-Identifier: BSD-3-Clause
"""Formats read through their fields' libraries: datasets contain what those libraries read, to the last bit; file
errors are reported in one line."""

import json
import os
import struct

import gsd.hoomd
import laspy
import MDAnalysis
import numpy as np
import openpmd_api as io
import pye57
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import parabat
import zstandard
from parabat.convert import ConvertError, convert, running
from parabat.convert.formats import lidar
from parabat.convert.model import Options
from pypcd4 import Encoding, PointCloud
from support import alike_in_parts, converted, in_small_parts, is_in_parts, put, refused, same

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
expected = {"id": ids, "flag": columns["flag"].astype("u1"), "half": columns["half"].astype("f4"), "key": columns["key"],
          "v": single, "pair": np.stack([np.arange(N), -np.arange(N)], axis=1).astype("i2"), "when": np.arange(N),
          "gap": np.where(np.arange(N) == 5, np.nan, np.arange(N)),
          "nan": np.where(np.arange(N) == 6, np.nan, np.arange(N) / 2).astype("f4")}
pa.parquet.write_table(table, "t.parquet", row_group_size=700)
pa.feather.write_feather(table, "t.feather", compression="lz4", chunksize=700)
for name in ("t.parquet", "t.feather"):
    reported = converted(name, "t.bat")
    for text in ("'name' is not written: its type is string", "'gap' lacks 1 values", "'nan' lacks 1 values"):
        assert text in reported, reported
    assert json.loads(same("t.bat", xyz, expected))["units"] == {"when": "timestamp[us]"}
converted("t.parquet", "v.bat", "--columns", "v", "--arrays", "id,x")
same("v.bat", single, {"id": ids, "x": xyz[:, 0]})
whole = content("t.parquet")
refused(put("cut.parquet", whole[:-100]), "bad.bat", says=["cut.parquet: cannot be read"])
refused(put("damaged.parquet", whole[:300] + b"xxxxxxxxxxxxxxxx" + whole[316:]), "bad.bat", says=["damaged.parquet: "])
refused(put("cut.feather", content("t.feather")[:-100]), "bad.bat", says=["cut.feather: cannot be read"])
many = 60000
late = np.arange(many) > many - 5
large = pa.table({"x": np.arange(many) * 0.5, "y": np.arange(many) * 0.25, "z": np.zeros(many, "f4"),
                  "id": np.arange(many, dtype="u8") + 2**63, "gaps": pa.array(np.arange(many), mask=late),
                  "v": pa.FixedSizeListArray.from_arrays(pa.array(np.arange(3.0 * many)), 3), "a.b": np.arange(many) % 7,
                  "ragged": [[1.0]] * (many - 1) + [[1.0, 2.0]]})
pa.parquet.write_table(large, "large.parquet", row_group_size=17000)
pa.feather.write_feather(large, "large.feather", chunksize=9000)
for name in ("large.parquet", "large.feather"):
    reported = " ".join(alike_in_parts([name], arrays=["id", "gaps", "v", "a.b"]))
    assert "'gaps' lacks" in reported, reported
    alike_in_parts([name], arrays=["id", "v"])
    assert is_in_parts("parquet", name)
    reported = []
    with in_small_parts():
        convert([name], "ragged.bat", show=lambda news: reported.append(news.get("remark", "")))
    assert any("'ragged' is not written" in remark for remark in reported), reported
    with parabat.open("ragged.bat") as dataset:
        assert "ragged" not in dataset.attributes and "gaps" in dataset.attributes and len(dataset) == many
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
with gsd.hoomd.open("lost.gsd", "w") as file:
    for n in (100, 60):
        frame = gsd.hoomd.Frame()
        frame.particles.N = n
        frame.particles.position = single[:n] if n == 100 else None
        file.append(frame)
refused("lost.gsd", "bad.bat", says=["lost.gsd: frame 1: has no positions"])
with gsd.fl.open("claims.gsd", "w", application="t", schema="hoomd", schema_version=[1, 4]) as file:
    file.write_chunk("particles/N", np.array([2 ** 31], "u4"))
    file.write_chunk("particles/position", single[:10])
    file.end_frame()
refused("claims.gsd", "bad.bat", says=["frame 0: claims 2147483648 particles, but has 10 positions"])
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
    expected = {dimension: np.array(read[dimension]) for dimension in read.point_format.dimension_names
              if dimension not in "XYZ"}
    about = json.loads(same("las.bat", read.xyz, expected, "key"))["las"]
    assert about["scales"] == [0.001, 0.01, 0.1] and about["point_format"] == 7, about
    assert (expected["key"] == ids.astype("u8")).all() and {"gps_time", "overlap", "return_number"} <= set(expected), expected
header.vlrs.append(laspy.VLR("LASF_Projection", 34735, "", struct.pack("<4H", 1, 1, 0, 0)))
laspy.LasData(header).write("keys.las")
assert "the coordinate system is not written" in converted("keys.las", "keys.bat")
header.vlrs.pop()
many = laspy.LasData(header)
many.x, many.y, many.key = np.arange(60000) * 0.01, np.arange(60000) % 97, np.arange(60000)
for name in ("many.las", "many.laz"):
    many.write(name)
    alike_in_parts([name])
    assert is_in_parts("las", name)
    divided = lidar._divided(name, Options())  # pylint: disable=protected-access
    for part in (3, 1, 2):  # like ranks, which begin anywhere
        found = divided.read(part, 4)
        assert (found.attributes["key"] == np.arange(15000 * part, 15000 * (part + 1))).all(), (name, part)
whole = content("scan.las")
refused(put("cut.las", whole[:-100]), "bad.bat", says=["cut.las: claims 2500 points"])
refused(put("billions.las", whole[:247] + struct.pack("<Q", 2 ** 40) + whole[255:]), "bad.bat", says=["claims 1099511627776 points"])
refused(put("cut.laz", content("scan.laz")[:-3000]), "bad.bat", says=["cut.laz: "])
content_of_laz = content("scan.laz")
refused(put("billions.laz", content_of_laz[:247] + struct.pack("<Q", 800_000_000) + content_of_laz[255:]), "bad.bat",
        says=["claims 800000000 points, but its chunks have at most 50000"])
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
packed = content("binary_compressed.pcd")
start = packed.index(b"\nDATA")
refused(put("billions.pcd", packed[:start].replace(b" 2500", b" 900000000") + packed[start:]), "bad.bat",
        says=["claims 900000000 points", "compressed bytes contain at most"])
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
        expected = {"index": np.arange(40)}
        if frame.has_velocities:
            expected["velocities"] = frame.velocities.copy()
        places_of_frame = frame.positions.copy()
        if kind == "gro":  # of which all decimals are kept
            rows = [line for line in content("run.gro").decode().splitlines()[2:-1]]
            places_of_frame, expected["velocities"] = (np.array([[float(row[i:i + 8]) for i in range(first, first + 24, 8)] for row in rows])
                                                       for first in (20, 44))
        if frame.has_forces:
            expected["forces"] = frame.forces.copy()
        if kind in ("gro", "trr"):
            expected.update(ids=np.array(read.atoms.ids), resids=np.array(read.atoms.resids))
            expected.update(names=np.array([0 if name == "H" else 1 for name in read.atoms.names], "i4"), resnames=np.zeros(40, "i4"))
        if kind == "trr":
            expected["segids"] = np.zeros(40, "i4")
        number, time = {"dcd": (i, i), "gro": (None, None)}.get(kind, (frame.data.get("step"), float(frame.time)))
        same(f"{kind}.bat" if kind == "gro" else f"{kind}_000{i}.bat", places_of_frame, expected, "index", time, number)
    whole = content(f"run.{kind}")
    refused(put(f"cut.{kind}", whole[:-100]), "bad.bat", says=[f"cut.{kind}: "])
refused(put("cut.xtc", content("run.xtc")[:-30]), "bad.bat", "--arrays", "index", says=["cut.xtc: "])
head = content("run.xtc")
refused(put("billions.xtc", head[:4] + struct.pack(">i", 2 ** 31 - 1) + head[8:]), "bad.bat", says=["claims 2147483647 atoms, which do not fit in its"])
refused("run.xtc", "bad.bat", "--topology", put("nothing.gro", "nothing"), says=["run.xtc: MDAnalysis cannot read it"])

# --- openPMD by openpmd-api: groups, files and steps as iterations; constants, offsets, units
def write_openpmd(path, encoding=None):
    series = io.Series(path, io.Access.create)
    if encoding:
        series.iteration_encoding = encoding
    for number in (100, 200):
        iteration = series.write_iterations()[number]
        iteration.time, iteration.time_unit_SI = number / 2, 0.5
        for species in ("electrons", "ions"):
            group = iteration.particles[species]
            scalar = io.Record_Component.SCALAR
            for i, axis in enumerate("xyz"):
                for record, values in (("position", single[:100, i] + number), ("momentum", xyz[:100, i])):
                    component = group[record][axis]
                    component.reset_dataset(io.Dataset(values.dtype, values.shape))
                    component.store_chunk(np.ascontiguousarray(values))
                group["momentum"][axis].unit_SI = 2.5
                component = group["positionOffset"][axis]
                component.reset_dataset(io.Dataset(np.dtype("f8"), [100]))
                component.make_constant(0.0 if species == "electrons" else 1.5)
            group["id"][scalar].reset_dataset(io.Dataset(np.dtype("u8"), [100]))
            group["id"][scalar].store_chunk(ids[:100].astype("u8"))
            group["charge"].unit_dimension = {io.Unit_Dimension.T: 1, io.Unit_Dimension.I: 1}
            group["charge"][scalar].reset_dataset(io.Dataset(np.dtype("f8"), [100]))
            group["charge"][scalar].make_constant(-1.0)
        iteration.close()
    series.close()


expected = {"momentum": xyz[:100], "id": ids[:100].astype("u8"), "charge": np.full(100, -1.0)}
for path, encoding, words in (("groups.bp4", None, []), ("steps.bp5", io.Iteration_Encoding.variable_based, []),
                              ("files_%06T.bp", None, ["--jobs", "2"]), ("text.json", None, []), ("groups.h5", None, [])):
    write_openpmd(path, encoding)
    converted(path, "pmd.bat", *words)
    for i, number in enumerate((100, 200)):
        places = single[:100] + np.float32(number)
        about = json.loads(same(f"pmd_electrons_000{i}.bat", places, expected, time=number / 4, step=number))
        assert about["openPMD"]["unitSI"]["momentum"] == 2.5 and about["units"] == {"charge": "s A", "positions": "m", "time": "s"}, about
        same(f"pmd_ions_000{i}.bat", places.astype("f8") + 1.5, expected, time=number / 4, step=number)
        for species in ("electrons", "ions"):
            os.unlink(f"pmd_{species}_000{i}.bat")
refused("groups.bp4", "bad.bat", "--species", "muons", says=["groups.bp4: has no species muons"])
for name in os.listdir("groups.bp4"):
    if name.startswith("data"):
        put(os.path.join("groups.bp4", name), content(os.path.join("groups.bp4", name))[:500])
running.STUCK_SECONDS = 1  # ADIOS2 waits without end for the rest
refused("groups.bp4", "bad.bat", says=["groups.bp4: "])
running.STUCK_SECONDS = 60

# --- E57: integers of declared ranges, floats of both kinds, scaled ones, a pose
def write_e57(path, fields, **pose):
    """fields: name -> (node of the prototype, array)."""
    lib = pye57.libe57
    with pye57.E57(path, "w") as file:
        image = file.image_file
        for scan in fields:
            node, prototype = lib.StructureNode(image), lib.StructureNode(image)
            node.set("guid", lib.StringNode(image, "{scan}"))
            node.set("acquisitionStart", lib.StructureNode(image))
            node["acquisitionStart"].set("dateTimeValue", lib.FloatNode(image, 1.25e9))
            buffers, kept = lib.VectorSourceDestBuffer(), []
            for name, (make, array) in scan.items():
                if array.dtype == np.int64:
                    array = array.astype("q")  # libE57 takes NumPy's "l" as 32 bits
                kept.append(array)
                prototype.set(name, make(image))
                buffers.append(lib.SourceDestBuffer(image, name, array, len(array), True, True))
            if pose:
                about = lib.StructureNode(image)
                for part, values in pose.items():
                    about.set(part, lib.StructureNode(image))
                    for key, value in zip("wxyz"[-len(values):], values):
                        about[part].set(key, lib.FloatNode(image, value))
                node.set("pose", about)
            points = lib.CompressedVectorNode(image, prototype, lib.VectorNode(image, True))
            node.set("points", points)
            file.data3d.append(node)
            writer = points.writer(buffers)
            writer.write(len(array))
            writer.close()


lib = pye57.libe57
wide = random.normal(size=(N, 3)) * 10.0 ** random.integers(-30, 30, (N, 3))
narrow = wide.astype("f4")
def double(image):
    return lib.FloatNode(image, 0.0, lib.E57_DOUBLE, -1e300, 1e300)
def floating(image):
    return lib.FloatNode(image, 0.0, lib.E57_SINGLE, -3e38, 3e38)
def whole_number(low, high):
    return lambda image: lib.IntegerNode(image, low, low, high)
def scaled(image):
    return lib.ScaledIntegerNode(image, 0, -2 ** 30, 2 ** 30, 0.001, 0.25)


ticks = random.integers(-2 ** 30, 2 ** 30, (N, 3))
bright = random.integers(0, 256, (N, 3)).astype("u1")
common = {"timeStamp": (double, wide[:, 0].copy()), "rowIndex": (whole_number(-5, 40000), np.arange(N)),
          "columnIndex": (whole_number(0, 2 ** 40), np.arange(N) * 2 ** 28),
          "intensity": (floating, narrow[:, 1].copy()),
          **{name: (whole_number(0, 255), bright[:, i].copy()) for i, name in enumerate(("colorRed", "colorGreen", "colorBlue"))}}
expected = {"timeStamp": wide[:, 0], "rowIndex": np.arange(N, dtype="i4"), "columnIndex": np.arange(N) * 2 ** 28,
          "intensity": narrow[:, 1], "RGB": bright}
axes = ("cartesianX", "cartesianY", "cartesianZ")
write_e57("single.e57", [{**{name: (floating, narrow[:, i].copy()) for i, name in enumerate(axes)}, **common}])
write_e57("scans.e57", [{**{name: (double, wide[:, i].copy()) for i, name in enumerate(axes)}, **common},
                        {**{name: (scaled, ticks[:, i] * 0.001 + 0.25) for i, name in enumerate(axes)},
                         "rowIndex": common["rowIndex"]}])
converted("single.e57", "e57.bat")
about = json.loads(same("e57.bat", narrow, expected, "rowIndex"))
assert about["e57"]["acquisitionStart"] == 1.25e9 and about["units"] == {"positions": "m"}, about
converted("scans.e57", "e57.bat")
same("e57_scan0.bat", wide, expected, "rowIndex")
same("e57_scan1.bat", ticks * 0.001 + 0.25, {"rowIndex": expected["rowIndex"]}, "rowIndex")
unit = random.normal(size=(N, 3))
write_e57("pose.e57", [{**{name: (double, unit[:, i].copy()) for i, name in enumerate(axes)}, "rowIndex": common["rowIndex"]}],
          rotation=(0.5, 0.5, 0.5, 0.5), translation=(1.0, 20.0, 300.0))
assert "rotated and translated by the pose" in converted("pose.e57", "e57.bat")
same("e57.bat", unit[:, [2, 0, 1]] + [1.0, 20.0, 300.0], {"rowIndex": expected["rowIndex"]}, "rowIndex")
write_e57("unturned.e57", [{**{name: (double, unit[:, i].copy()) for i, name in enumerate(axes)}, "rowIndex": common["rowIndex"]}],
          rotation=(0.0, 0.0, 0.0, 0.0), translation=(1.0, 2.0, 3.0))
refused("unturned.e57", "bad.bat", says=["unturned.e57: scan 0: its pose has rotation [0.0, 0.0, 0.0, 0.0]"])
angles = ("sphericalRange", "sphericalAzimuth", "sphericalElevation")
write_e57("angles.e57", [{**{name: (double, unit[:, i].copy()) for i, name in enumerate(angles)}, "rowIndex": common["rowIndex"]}])
assert "computed from spherical coordinates" in converted("angles.e57", "e57.bat")
with pye57.E57("angles.e57") as file:
    read = pye57.utils.convert_spherical_to_cartesian(np.stack([unit[:, i] for i in range(3)], axis=1))
same("e57.bat", read, {"rowIndex": expected["rowIndex"], **{name: unit[:, i] for i, name in enumerate(angles)}}, "rowIndex")
whole = content("single.e57")
refused(put("cut.e57", whole[:-5000]), "bad.bat", says=["cut.e57: "])
refused(put("damaged.e57", whole[:3000] + b"x" * 8 + whole[3008:]), "bad.bat", says=["damaged.e57: "])
write_e57("places.e57", [{"rowIndex": common["rowIndex"]}])
refused("places.e57", "bad.bat", says=["scan 0: no positions"])

# --- AMReX plotfiles, as WriteBinaryParticleData() lays them out
def write_plotfile(path, species, claimed=None, version="Version_Two_Dot_Zero"):
    """species: name -> (kind of the reals, names of reals, reals, names of integers, integers), in two grids of one
    level."""
    os.makedirs(f"{path}/Level_0")
    put(f"{path}/Header", "HyperCLaw-V1.1\n1\nrho\n3\n1.25\n0\n0 0 0\n1 1 1\n\n((0,0,0) (7,7,7) (0,0,0))\n7\n0.125 0.125 0.125\n"
        "0\n0\n0 2 1.25\n7\n0 0.5\n0 1\n0 1\n0.5 1\n0 1\n0 1\nLevel_0/Cell\n")
    boxes = "((0,0,0) (3,7,7) (0,0,0))\n((4,0,0) (7,7,7) (0,0,0))\n"
    head = "FAB ((8, (64 11 52 0 1 12 0 1023)),(8, (8 7 6 5 4 3 2 1)))"
    cells = b"".join(f"{head}{box} 1\n".encode() + np.zeros(256).tobytes() for box in boxes.split("\n")[:2])
    put(f"{path}/Level_0/Cell_D_00000", cells)
    put(f"{path}/Level_0/Cell_H", f"1\n1\n1\n0\n(2 0\n{boxes})\n2\nFabOnDisk: Cell_D_00000 0\nFabOnDisk: Cell_D_00000 "
        f"{len(cells) // 2}\n\n2,1\n0,\n0,\n\n2,1\n0,\n0,\n")
    put(f"{path}/job_info", "")
    for name, (kind, real_names, reals, integer_names, integers) in species.items():
        os.makedirs(f"{path}/{name}/Level_0")
        data, grids = b"", ""
        for part in (slice(0, 70), slice(70, None)):
            grids += f"0 {len(reals[part])} {len(data)}\n"
            data += np.ascontiguousarray(integers[part], "i4").tobytes() + np.ascontiguousarray(reals[part]).tobytes()
        put(f"{path}/{name}/Level_0/DATA_00000", data)
        put(f"{path}/{name}/Level_0/Particle_H", boxes)
        put(f"{path}/{name}/Header", "\n".join([
            f"{version}_{kind}", "3", str(len(real_names)), *real_names, str(len(integer_names)), *integer_names, "1",
            str(claimed or len(reals)), str(len(reals) + 1), "0", "2", grids]))


reals = np.concatenate([random.random((150, 3)), xyz[:150, :2]], axis=1)
reals[5, 0] = 1.5  # outside of the domain, but otherwise ordinary
whole_numbers = np.stack([random.permutation(150), random.integers(0, 9, 150), random.integers(-2 ** 31, 2 ** 31, 150)], axis=1)
with np.errstate(over="ignore"):
    both = {"gas": ("double", ["mass", "weight"], reals, ["kind"], whole_numbers),
            "stars": ("single", ["mass", "weight"], np.nan_to_num(reals).astype("f4"), ["kind"], whole_numbers)}
write_plotfile("plt00002", both)
write_plotfile("plt00003", {"gas": both["gas"]})
columns = {name: whole_numbers[:, i].astype("i4") for i, name in enumerate(("id", "cpu", "kind"))}
converted("plt00002", "amrex.bat")
for name, (_, _, table, _, _) in both.items():
    about = same(f"amrex_{name}.bat", table[:, :3], {**columns, "mass": table[:, 3], "weight": table[:, 4]}, time=1.25, step=7)
    assert json.loads(about)["amrex"]["domain"] == {"lower": [0, 0, 0], "upper": [1, 1, 1]}, about
converted("plt00003", "amrex.bat", "--arrays", "id,mass")
same("amrex.bat", reals[:, :3], {"id": columns["id"], "mass": reals[:, 3]}, time=1.25, step=7)
converted("plt00003", "amrex.bat", "--arrays", "id,mass", "--species", "gas")
assert parabat.open("amrex.bat").step == 7  # level_steps of the Header
real = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../data/amrex/plt00005")  # written by AMReX 24.10
converted(real, "real.bat")
with parabat.open("real_dust.bat") as dust, parabat.open("real_ions.bat") as ions:
    assert (dust.step, dust.time, ions.step) == (5, 0.5, 5), (dust.step, dust.time, ions.step)
    found = dust.read()
    assert len(dust) == 100 and (found["i0"] == 3 * found["id"]).all() and (found["si0"] == -found["id"]).all()
    found = ions.read()
    assert len(ions) == 100 and (found["k"] == found["cpu"] & 0xFFFF).all()
# Checkpoints have the high and low half of a packed number where old plotfiles have id and cpu.
true_ids = np.concatenate([random.integers(1, 2 ** 39, 75), -random.integers(1, 2 ** 39, 75)])
true_cpus = random.integers(0, 2 ** 24, 150)
packed = (true_ids >= 0).astype("u8") << np.uint64(63) | abs(true_ids).astype("u8") << np.uint64(24) | true_cpus.astype("u8")
halves = np.stack([packed >> np.uint64(32), packed & np.uint64(0xFFFFFFFF), np.arange(150, dtype="u8")], axis=1).astype("u4")
write_plotfile("chk00007", {"gas": ("double", ["mass", "weight"], reals, ["kind"], halves.view("i4"))},
               version="Version_Two_Dot_One")
rest = {"kind": np.arange(150, dtype="i4"), "mass": reals[:, 3], "weight": reals[:, 4]}
reported = converted("chk00007", "unpacked.bat")
assert reported.count("idcpu") == 1 and "--amrex-ids keep" in reported, reported
same("unpacked.bat", reals[:, :3], {"id": true_ids, "cpu": true_cpus.astype("i4"), **rest}, key="kind", time=1.25, step=7)
reported = converted("chk00007", "kept.bat", "--amrex-ids", "keep")
assert "idcpu" not in reported, reported
same("kept.bat", reals[:, :3], {"idcpu": packed, **rest}, key="kind", time=1.25, step=7)
convert(["chk00007"], "chosen.bat", amrex_ids="keep", arrays=["idcpu", "kind"])
same("chosen.bat", reals[:, :3], {"idcpu": packed, "kind": rest["kind"]}, key="kind", time=1.25, step=7)
with np.errstate(over="ignore"):
    single = reals.astype("f4")
write_plotfile("chk00008", {"gas": ("single", ["mass", "weight"], single, ["kind"], halves.view("i4"))},
               version="Version_Two_Dot_One")
converted("chk00008", "unpacked.bat")
same("unpacked.bat", single[:, :3], {"id": true_ids, "cpu": true_cpus.astype("i4"), "kind": rest["kind"], "mass": single[:, 3],
                                     "weight": single[:, 4]}, key="kind", time=1.25, step=7)
converted(os.path.join(os.path.dirname(real), "../cases/plt_ids_checkpoint"), "case.bat")
with parabat.open("case.bat") as dataset:
    found = dataset.read()
    order = np.argsort(found["id"])
    assert found["id"][order].tolist() == [1, 2, 300, 5000000000] and found["cpu"][order].tolist() == [0, 1, 0, 3], found
    assert (dataset.time, dataset.step, set(found)) == (1.25, 7, {"id", "cpu", "w"}), (dataset.time, dataset.step, set(found))
converted("plt00003", "plain.bat", "--amrex-ids", "keep")  # its ids are not packed
with parabat.open("plain.bat") as plain:
    assert {"id", "cpu"} <= set(plain.attributes), plain
try:
    convert(["chk00007"], "bad.bat", amrex_ids="kept")
    raise AssertionError("kept was taken")
except ConvertError as error:
    assert "'kept'; allowed: unpack, keep" in str(error), error
refused(put("some.csv", "x,y,z\n1,2,3\n"), "bad.bat", "--amrex-ids", "keep", says=["argument --amrex-ids: the format table"])
refused("plt00003", "bad.bat", "--species", "stars", says=["unknown species 'stars'; available: gas"])
data = content("plt00003/gas/Level_0/DATA_00000")
put("plt00003/gas/Level_0/DATA_00000", data[:-100])
refused("plt00003", "bad.bat", says=["plt00003", "ends within the 80 particles"])
write_plotfile("plt00004", {"gas": both["gas"]}, 2 ** 40)
refused("plt00004", "bad.bat", says=["gas: claims 1099511627776 particles"])
write_plotfile("plt00006", {"gas": (*both["gas"][:2], reals[:0], ["kind"], whole_numbers[:0])})
converted("plt00006", "late.bat")  # before the first particle
with parabat.open("late.bat") as late:
    assert len(late) == 0 and {"id", "cpu", "kind", "mass", "weight"} == set(late.attributes), late
