# SPDX-License-Identifier: BSD-3-Clause
"""Binary formats that the converter reads itself: Gadget 1 and 2, TIPSY, GenericIO, DualSPHysics, Potree 2, Houdini. The files
are written here by the layouts that their authors publish. With --venv: readers of PyPI read the same files."""

import gzip
import importlib.util
import json
import os
import struct
import sys

import numpy as np
import parabat
from parabat.convert import crc64, registry
from parabat.convert.formats import gadget_binary, genericio as genericio_format
from parabat.convert.model import Options
from support import alike_in_parts, converted, equal, in_small_parts, put, refused, same

random = np.random.default_rng(12)
IN_VENV = "--venv" in sys.argv
CASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../data/cases")


def metadata(path):
    with parabat.open(path) as dataset:
        return json.loads(dataset.metadata)


def detected(path, name):
    assert registry.find_format(path).name == name, registry.find_format(path).name


def cuts(path, count=12):
    """Cuts of a file at many places are refused in one line."""
    with open(path, "rb") as file:
        content = file.read()
    row = registry.find_format(path).name
    for place in sorted({*random.integers(1, len(content), count).tolist(), 1, 4, 8, len(content) - 1}):
        refused(put("cut_" + os.path.basename(path), content[:place]), "bad.bat", "--format", row, "--quiet")
    os.remove("cut_" + os.path.basename(path))


# --- Gadget
def record(order, block):
    return struct.pack(order + "I", len(block)) + block + struct.pack(order + "I", len(block))


def gadget(path, counts, blocks, order="<", named=False, masses=(0,) * 6, totals=None, files=1, box=3.0, flags=None):
    """blocks: (name, bytes) in the order of the file."""
    head = np.zeros(64, order + "i4")
    head[:6] = counts
    head[24:30] = [n % 2 ** 32 for n in (counts if totals is None else totals)]
    head[31] = files
    for place, value in (flags or {}).items():
        head[place] = value
    block = bytearray(head.tobytes())
    struct.pack_into(order + "8d", block, 24, *masses, 0.25, 3.0)
    struct.pack_into(order + "4d", block, 128, box, 0.3, 0.7, 0.7)
    content = b""
    for name, data in [("HEAD", bytes(block)), *blocks]:
        if named:
            content += record(order, struct.pack(order + "4si", name.ljust(4).encode(), len(data) + 8))
        content += record(order, data)
    return put(path, content)


def particles(counts, ids="u4", real="f4"):
    n = sum(counts)
    return {"POS": random.random((n, 3)).astype(real), "VEL": random.normal(size=(n, 3)).astype(real),
            "ID": (np.arange(n) + (2 ** 40 if ids == "u8" else 0)).astype(ids)}


def packed(values, order):
    return [(name, array.astype(array.dtype.newbyteorder(order)).tobytes()) for name, array in values.items()]


converted(os.path.join(CASES, "gadget_000"), "case.bat")
same("case_PartType1.bat", np.array([[0, 1, 2], [3, 4, 5]], "f4"), {"VEL": np.zeros((2, 3), "f4"), "ID": np.array([1, 2], "u4"),
                                                                    "MASS": np.full(2, 0.5)}, "ID", 0.25)
assert metadata("case_PartType1.bat")["periodic_box"] == {"lower": [0, 0, 0], "upper": [100.0] * 3}
counts, masses = (40, 30, 0, 0, 20, 0), (0, 0.5, 0, 0, 0, 0)
bounds = {0: slice(0, 40), 1: slice(40, 70), 4: slice(70, 90)}
for order in "<>":
    for named in (False, True):
        for real, ids in (("f4", "u4"), ("f8", "u8")):
            values = particles(counts, ids, real)
            mass = random.random(60).astype(real)
            gas = {name: random.random(40).astype(real) for name in ("U", "RHO", "HSML")}
            path = gadget("snapshot_010", counts, packed({**values, "MASS": mass, **gas}, order), order, named, masses)
            detected(path, "gadget-binary")
            assert converted(path, "snap.bat") == "", path
            for kind, part in bounds.items():
                expected = {name: values[name][part] for name in ("VEL", "ID")}
                expected["MASS"] = {0: mass[:40], 1: np.full(30, 0.5), 4: mass[40:]}[kind]
                same(f"snap_PartType{kind}.bat", values["POS"][part], {**expected, **(gas if kind == 0 else {})}, "ID", 0.25)
about = metadata("snap_PartType0.bat")
assert about["gadget"]["format"] == 2 and about["gadget"]["Header"]["OmegaLambda"] == 0.7, about
assert about["species"] == "PartType0", about
alike_in_parts([path], ("_PartType0", "_PartType1", "_PartType4"))
converted(path, "few.bat", "--species", "PartType4", "--arrays", "ID")
same("few.bat", values["POS"][70:], {"ID": values["ID"][70:]}, "ID", 0.25)
cuts(path)

# Other blocks of format 2: by INFO, by their size, or left out.
values = particles(counts)
blocks = packed({**values, "MASS": mass.astype("f4")}, "<")
named = {"XA": random.random((40, 3)).astype("f4"), "XB": random.random((90, 3)).astype("f4"),
         "XC": random.random(60).astype("f4")}
flag = np.arange(20, dtype="u4")
info = struct.pack("<4s8si6i", b"FLG ", b"LONG    ", 1, 0, 0, 0, 0, 1, 0)
gadget("other", counts, [*blocks, *packed(named, "<"), ("ODD", bytes(7)), ("INFO", info), ("FLG", flag.tobytes())], named=True,
       masses=masses)
reported = converted("other", "other.bat")
assert "'XB' is read as 3 float32 for each particle of 'PartType0', 'PartType1', 'PartType4'" in reported, reported
assert "'XC' is not written: its 240 bytes fit values of several types" in reported, reported
assert "'ODD' is not written: its 7 bytes fit no type of particles" in reported, reported
with parabat.open("other_PartType4.bat") as dataset:
    found = dataset.read()
    order = np.argsort(found["ID"])
    assert found["FLG"][order].tolist() == list(range(20)) and (found["XB"][order] == named["XB"][70:]).all(), found
gadget("more", counts, [*blocks, *packed({"U": mass[:40].astype("f4"), "RHO": mass[:40].astype("f4"), "X": values["VEL"]}, "<")],
       masses=masses, flags={30: 1})
reported = converted("more", "more.bat")
assert "block 7 after the header is not written: format 1 does not name it, 1080 bytes" in reported, reported
gadget("bare", (0, 3, 0, 0, 0, 0), packed({name: array[:3] for name, array in values.items()}, "<"), masses=masses, box=0,
       totals=(0,) * 6)
converted("bare", "bare.bat")
assert "periodic_box" not in metadata("bare_PartType1.bat")

# Many files, of which one lacks a type; one of them alone.
pieces = [(3, 5, 0, 0, 0, 0), (0, 4, 0, 0, 0, 0), (2, 0, 0, 0, 0, 0)]
made = [{**particles(each), "U": random.random(each[0]).astype("f4")} for each in pieces]
for i, (count, arrays) in enumerate(zip(pieces, made)):
    arrays["ID"] += np.uint32(100 * i)
    gadget(f"many_3.{i}", count, packed({name: array for name, array in arrays.items() if len(array)}, ">"), ">",
           masses=(2, 3, 0, 0, 0, 0),
           totals=(5, 9, 0, 0, 0, 0), files=3)
for words in (["many_3.*"], ["many_3.2"], ["many_3.1", "many_3.0"]):
    converted(*words, "many.bat")
    for kind, parts in ((0, [(0, slice(0, 3)), (2, slice(0, 2))]), (1, [(0, slice(3, 8)), (1, slice(0, 4))])):
        joined = {name: np.concatenate([made[i][name][part] for i, part in parts]) for name in ("POS", "VEL", "ID")}
        gas = {"U": np.concatenate([made[i]["U"] for i, _ in parts])} if kind == 0 else {}
        same(f"many_PartType{kind}.bat", joined.pop("POS"),
             {**joined, **gas, "MASS": np.full(5 if kind == 0 else 9, 2.0 + kind)}, "ID", 0.25)
part, = gadget_binary.steps("many_3.1", Options(part=True))
assert part.read()[0].attributes["ID"].tolist() == [100, 101, 102, 103]
os.rename("many_3.1", "away")
refused("many_3.2", "bad.bat", says=["is one of 3 files of a snapshot, but many_3.1 is missing; use --part to convert it alone"])
os.rename("away", "many_3.1")
refused(gadget("wrong", (0, 3, 0, 0, 0, 0), packed(particles((0, 3, 0, 0, 0, 0)), "<"), totals=(0, 4, 0, 0, 0, 0), masses=masses),
        "bad.bat", says=["PartType1: the header claims 4 particles of the whole snapshot; 1 file has 3"])

# Damage
with open(os.path.join(CASES, "gadget_000"), "rb") as file:
    content = file.read()
for place, value, says in ((4, 3, "block POS: has 24 bytes, but the header claims 5 particles"),
                           (8, 2 ** 30, "block POS: has 24 bytes, but"),
                           (8, -1, "claims -1 particles"), (264, 20, "block POS: its length is 20 before and"),
                           (264, 2 ** 31, "block POS: has 2147483648 bytes from byte 268 on, but the file ends at byte 344"),
                           (292, 7, "block POS: its length is 24 before and 7 after it"),
                           (4 + 260 - 4, 255, "its length is 256 before and 255 after")):
    broken = bytearray(content)
    struct.pack_into("<i" if value < 0 else "<I", broken, place, value)
    refused(put("broken", bytes(broken)), "bad.bat", "--format", "gadget-binary", says=[says])
refused(put("broken", content + bytes(8008)), "bad.bat", says=["has more than 1000 blocks"])
empty = gadget("empty", (0,) * 6, [])
refused(empty, "bad.bat", says=["has no particles"])

if IN_VENV:
    import yt
    yt.set_log_level(50)
    path = gadget("yt_000", counts, packed({**values, "MASS": mass.astype("f4"),
                                            **{name: random.random(40).astype("f4") for name in (
        "U", "RHO", "HSML")}}, "<"), masses=masses)
    converted(path, "yt.bat")
    data = yt.load(path, bounding_box=[[0, 3]] * 3).all_data()
    fields = {"VEL": "Velocities", "MASS": "Mass", "U": "InternalEnergy", "RHO": "Density", "HSML": "SmoothingLength"}
    for kind, species in ((0, "Gas"), (1, "Halo"), (4, "Stars")):
        with parabat.open(f"yt_PartType{kind}.bat") as dataset:
            found = dataset.read()
        order, own = np.argsort(found["ID"]), np.argsort(data[species, "ParticleIDs"])
        assert set(found) == {"ID", *list(fields)[:2 if kind else 5]}, set(found)
        for name in set(found) - {"ID"}:
            assert (found[name][order] == data[species, fields[name]].value[own].astype(found[name].dtype)).all(), (kind, name)
        assert (found.positions[order] == data[species, "Coordinates"].value[own].astype("f4")).all(), kind

# --- TIPSY
TIPSY = {"gas": ("rho", "temp", "hsmooth", "metals", "phi"), "dark": ("eps", "phi"), "star": ("metals", "tform", "eps", "phi")}


def tipsy(path, counts, order=">", head=32, real=("f4", "f4"), claims=None, pad=0):
    """Writes a file and returns the arrays of each species."""
    content = struct.pack(order + "d6i", 0.75, sum(claims or counts), 3, *(claims or counts), pad)[:head]
    made = {}
    for (name, fields), count in zip(TIPSY.items(), counts):
        rows = np.empty(count, [("mass", order + "f4"), ("pos", order + real[0], (3,)), ("vel", order + real[1], (3,)),
                                *((field, order + "f4") for field in fields)])
        for field in rows.dtype.names:
            rows[field] = random.random(rows[field].shape)
        rows["phi"] = -np.arange(count)
        content += rows.tobytes()
        made[name] = {field: rows[field] for field in rows.dtype.names}
    put(path, content)
    return made


for order in "><":
    for head in (32, 28):
        for real in (("f4", "f4"), ("f8", "f4"), ("f8", "f8")):
            made = tipsy("galaxy.00100", (20, 30, 10), order, head, real)
            detected("galaxy.00100", "tipsy")
            converted("galaxy.00100", "tipsy.bat")
            for name, arrays in made.items():
                same(f"tipsy_{name}.bat", arrays["pos"].astype(real[0]),
                     {field: array.astype(array.dtype.newbyteorder("=")) for field, array in
                                                                         arrays.items() if field != "pos"}, "phi", 0.75)
about = metadata("tipsy_dark.bat")
assert about["tipsy"]["counts"] == {"gas": 20, "dark": 30, "star": 10} and "periodic_box" not in about, about
with in_small_parts():
    converted("galaxy.00100", "parts.bat", "--arrays", "phi,mass")
same("parts_dark.bat", made["dark"]["pos"].astype("f8"), {field: made["dark"][field].astype("f4") for field in ("phi", "mass")},
     "phi", 0.75)
made = tipsy("one.std", (0, 1, 0))
converted("one.std", "one.bat")
same("one_dark.bat", made["dark"]["pos"].astype("f4"),
     {field: made["dark"][field].astype("f4") for field in ("mass", "vel", "eps", "phi")}, "phi", 0.75)
refused("one.std", "bad.bat", "--species", "gas", says=["has no particles of 'gas'"])
refused("one.std", "bad.bat", "--species", "gass", says=["unknown species 'gass'; available: 'gas', 'dark', 'star'"])
cuts("one.std")
tipsy("wrong.std", (0, 1, 0), claims=(0, 2 ** 30, 0))
refused("wrong.std", "bad.bat", says=["is not a TIPSY file, or is truncated: its 68 bytes do not match its header"])

if IN_VENV:
    made = tipsy("yt.tipsy", (20, 30, 10))
    converted("yt.tipsy", "yt.bat")
    data = yt.load("yt.tipsy", bounding_box=[[0, 1]] * 3).all_data()
    for name, species in (("gas", "Gas"), ("dark", "DarkMatter"), ("star", "Stars")):
        with parabat.open(f"yt_{name}.bat") as dataset:
            found = dataset.read()
        order, own = np.argsort(found["phi"]), np.argsort(data[species, "Phi"])
        assert (found["mass"][order] == data[species, "Mass"].value[own]).all(), name
        assert (found["vel"][order] == data[species, "Velocities"].value[own]).all(), name
        assert (found.positions[order] == data[species, "Coordinates"].value[own]).all(), name

# --- GenericIO: the checksum of which is that of xz
def crc_of_xz(data):
    """CRC-64 of bytes, from the index of an .xz file that liblzma writes."""
    import lzma  # pylint: disable=import-outside-toplevel
    packed = lzma.compress(data, lzma.FORMAT_XZ, lzma.CHECK_CRC64, 0)
    size = (struct.unpack("<I", packed[-8:-4])[0] + 1) * 4  # of the index, which comes after the check of the only block
    return struct.unpack("<Q", packed[-12 - size - 8:-12 - size])[0]


for size in (1, 9, 4095, 4096, 70001):
    assert crc64.crc64(bytes(random.integers(0, 256, size, "u1"))) != 0
    block = bytes(random.integers(0, 256, size, "u1"))
    assert crc64.crc64(block) == crc_of_xz(block), size
assert crc64.crc64(b"123456789") == 0x995DC9BBDF1939FA


def checked(data):
    return data + struct.pack("<Q", crc64.crc64(data) ^ crc64.ONES)


def genericio(path, ranks, order="<", flags=None, blocks=False, compress=None, elements=None):
    """ranks: dicts of arrays, one for each rank. elements: writes the sizes of elements, as new versions do."""
    names = list(ranks[0])
    size = 280 if elements else 272
    head = 168 + size * len(names) + 48 * len(ranks) + (48 * len(names) * len(ranks) if blocks else 0)
    counts = [len(rank[names[0]]) for rank in ranks]
    variables = ranks_table = blocks_table = data = b""
    for name in names:
        array = ranks[0][name]
        flag = (flags or {}).get(name, 0) | {"f": 1, "i": 2}.get(array.dtype.kind, 0)
        item = array.dtype.itemsize * (array.shape[1] if array.ndim > 1 else 1)
        variables += name.encode().ljust(256, b"\0") + struct.pack(order + "2Q", flag, item)
        variables += struct.pack(order + "Q", array.dtype.itemsize) if elements else b""
    for i, rank in enumerate(ranks):
        ranks_table += struct.pack(order + "6Q", i, 0, 0, counts[i], head + CHECKSUM + len(data), i)
        for name in names:
            stored = rank[name].astype(rank[name].dtype.newbyteorder(order)).tobytes()
            if compress:
                stored = struct.pack(order + "Q", crc64.crc64(stored)) + compress(stored, rank[name].dtype.itemsize)
            blocks_table += (b"BLOSC" if compress else b"").ljust(32, b"\0")
            blocks_table += struct.pack(order + "2Q", head + CHECKSUM + len(data), len(stored))
            data += checked(stored)
    header = b"HACC01" + (b"L\0" if order == "<" else b"B\0") + struct.pack(
        order + "12Q6d2Q", head, sum(counts), len(ranks), 1, 1, len(names), size, 168, len(ranks), 48,
        168 + size * len(names), 168, 0, 0, 0, 64, 64, 64, 48 if blocks else 0, head - len(blocks_table) if blocks else 0)
    return put(path, checked(header + variables + ranks_table + (blocks_table if blocks else b"")) + data)


CHECKSUM = 8
hacc = []
for i, count in enumerate((50, 0, 30)):
    hacc.append({**{name: random.random(count).astype("f4") for name in ("x", "y", "z", "vx", "vy", "vz", "phi")},
                 "id": (2 ** 40 + 100 * i + np.arange(count)).astype("i8"),
                 "mask": random.integers(0, 2 ** 16, count).astype("u2")})
whole = {name: np.concatenate([rank[name] for rank in hacc]) for name in hacc[0]}
places = np.stack([whole[name] for name in "xyz"], axis=1)
rest = {name: array for name, array in whole.items() if name not in "xyz"}
for order in "<>":
    for blocks in (False, True):
        path = genericio("m000.full.mpicosmo.499", hacc, order, {"x": 4, "y": 8, "z": 16}, blocks)
        detected(path, "genericio")
        assert converted(path, "hacc.bat") == ""
        same("hacc.bat", places, rest)
assert metadata("hacc.bat")["genericio"] == {"physical_origin": [0, 0, 0], "physical_scale": [64, 64, 64], "ranks": 3}
alike_in_parts([path])
converted(path, "few.bat", "--arrays", "id,mask")
same("few.bat", places, {name: whole[name] for name in ("id", "mask")})
converted(genericio("halos.haloproperties", [{**rank, "vector": np.stack([rank["vx"]] * 4, axis=1)} for rank in hacc],
                    elements=True), "halos.bat")
same("halos.bat", places, {**rest, "vector": np.stack([whole["vx"]] * 4, axis=1)})
converted(path, "chosen.bat", "--columns", "vx,vy,vz", "--arrays", "id")
same("chosen.bat", np.stack([whole[name] for name in ("vx", "vy", "vz")], axis=1), {"id": whole["id"]})
cuts(path)
with open(path, "rb") as file:
    content = bytearray(file.read())
for place, says in ((300, "the checksum of its header is wrong"),
                    (len(content) - 20, "the checksum of 'mask' of rank 2 is wrong")):
    broken = bytearray(content)
    broken[place] ^= 4
    refused(put("broken", bytes(broken)), "bad.bat", says=[says])
# Split into a map and files for partitions.
for number, ranks in ((0, hacc[:2]), (7, hacc[2:])):
    genericio(f"split#{number}", ranks)
genericio("split", [{"$rank": np.arange(3, dtype="i4"), "$partition": np.array([0, 0, 7], "i4")}])
for words in (["split"], ["split*"], ["split#7"]):
    converted(*words, "joined.bat")
    same("joined.bat", places, rest)
os.rename("split#7", "away")
refused("split", "bad.bat", says=["is the map of 2 files, but split#7 is missing"])
os.rename("away", "split#7")
os.rename("split", "away")
refused("split#7", "bad.bat", says=["split#7: is one of several files, but their map split is missing; use --part"])
part, = genericio_format.steps("split#7", Options(part=True))
assert len(part.read()[0].positions) == 30
try:
    import blosc
except ImportError:
    path = genericio("packed", hacc, blocks=True, compress=lambda data, size: bytes(24))
    refused(path, "bad.bat", says=["'x' is compressed, which requires blosc: pip install 'parabat[blosc]'"])
else:
    path = genericio("packed", hacc, blocks=True, compress=lambda data, size: blosc.compress(data, size))
    converted(path, "packed.bat")
    same("packed.bat", places, rest)
    cuts(path)

# --- DualSPHysics: the tree of JBinaryData
BI4 = {"u4": 8, "u8": 10, "f4": 11, "f8": 12, "i4": 7, "u1": 4}
BI4_OF_THREE = {"f4": 22, "f8": 23, "i4": 20, "u4": 21}


def bi4_text(order, text):
    return struct.pack(order + "I", len(text)) + text.encode()


def bi4_value(order, name, value):
    if isinstance(value, str):
        return bi4_text(order, name) + struct.pack(order + "i", 1) + bi4_text(order, value)
    if isinstance(value, tuple):
        return bi4_text(order, name) + struct.pack(order + "i3d", 23, *value)
    kind, form = (12, "d") if isinstance(value, float) else (8, "I")
    return bi4_text(order, name) + struct.pack(order + "i" + form, kind, value)


def bi4_array(order, name, array, wide):
    stored = array.astype(array.dtype.newbyteorder(order)).tobytes()
    kind = (BI4 if array.ndim == 1 else BI4_OF_THREE)[array.dtype.str[1:]]
    definition = bi4_text(order, "\nARRAY") + bi4_text(order, name) + struct.pack(order + "2i", 0, kind) + struct.pack(
        order + ("2Q" if wide else "2I"), len(array), len(stored))
    return struct.pack(order + "I", len(definition)) + definition + stored


def bi4_item(order, name, values, arrays=(), items=(), wide=False):
    block = bi4_text(order, "\nVALUES") + struct.pack(order + "I", len(values)) + b"".join(
        bi4_value(order, *each) for each in values.items())
    definition = (bi4_text(order, "\nITEM\n") + bi4_text(order, name) + struct.pack(order + "2i", 0, 0) + bi4_text(order, "%.7E")
                  + bi4_text(order, "%.15E") + struct.pack(order + "3I", len(arrays), len(items), len(block)))
    return (struct.pack(order + "I", len(definition)) + definition + block
            + b"".join(bi4_array(order, *each, wide) for each in dict(arrays).items()) + b"".join(items))


def bi4(path, arrays, order="<", wide=False, time=0.35, step=1200, number=7, **case):
    root = {"Piece": 0, "Npiece": 1, "CaseName": "dam", "Dp": 0.01, "PeriActive": 0, **case}
    part = bi4_item(order, f"PART_{number:04}",
                    {"Cpart": number, "TimeStep": time, "Npok": len(arrays.get("Idp", ())), "Step": step}, arrays, wide=wide)
    head = b"#FileJBD JPartDataBi4".ljust(58) + b"\n\0" + bytes([(order == ">") + 10 * wide, wide, 0, 0])
    return put(path, head + bi4_item(order, "JPartDataBi4", root, (), [part], wide))


def sph(count, first=0, real="f8"):
    return {"Idp": np.arange(first, first + count, dtype="u4"),
            "Posd" if real == "f8" else "Pos": random.random((count, 3)).astype(real),
            "Vel": random.random((count, 3)).astype("f4"), "Rhop": random.random(count).astype("f4")}


for order in "<>":
    for wide in (False, True):
        for real in ("f4", "f8"):
            made = sph(40, real=real)
            path = bi4("Part_0007.bi4", made, order, wide)
            detected(path, "dualsphysics")
            assert converted(path, "sph.bat") == ""
            same("sph.bat", made["Posd" if real == "f8" else "Pos"], {name: made[name] for name in ("Idp", "Vel", "Rhop")},
                 "Idp", 0.35, 1200)
about = metadata("sph.bat")
assert about["dualsphysics"]["case"]["CaseName"] == "dam" and about["dualsphysics"]["part"]["Cpart"] == 7, about
assert "periodic_box" not in about, about
cuts(path)
bi4("Part_0008.bi4", sph(40), time=0.4, step=1300, PeriActive=5, PeriXinc=(-2.0, 0.0, 0.0), PeriZinc=(0.0, 0.5, -3.0),
    MapPosMin=(-1.0, 0.0, 0.0),
    MapPosMax=(1.0, 5.0, 3.0))
converted("Part_0008.bi4", "Part_0007.bi4", "film.bat")
assert [(parabat.open(f"film_000{i}.bat").time, parabat.open(f"film_000{i}.bat").step) for i in (0, 1)] == [
    (0.35, 1200), (0.4, 1300)]
assert metadata("film_0001.bat")["periodic_box"] == {"lower": [-1, None, None],
                                                     "upper": [1, None, None]}, metadata("film_0001.bat")
pieces = [sph(10), sph(5, 10)]
for i, piece in enumerate(pieces):
    bi4(f"Part_0009_p{i}.bi4", piece, Npiece=2, Piece=i)
converted("Part_0009_p*.bi4", "pieces.bat")
joined = {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}
same("pieces.bat", joined.pop("Posd"), joined, "Idp", 0.35, 1200)
os.remove("Part_0009_p0.bi4")
refused("Part_0009_p1.bi4", "bad.bat", says=["is one of 2 pieces of a step, but Part_0009_p0.bi4 is missing; use --part"])
refused(bi4("PartInfo.ibi4", {}), "bad.bat", "--format", "dualsphysics",
        says=["has no particles: no item has Posd or Pos, but 'JPartDataBi4', 'PART_0007'"])
converted(bi4("one.bi4", {**sph(1), "Table": np.arange(3, dtype="i4")}), "one.bat")
assert len(parabat.open("one.bat")) == 1

# --- Potree 2
def potree(path, encoding="DEFAULT", pack=None, claimed=None, **changes):
    """A cloud of a root, two children, one of which is in a chunk of its own with a child. Returns its columns."""
    os.makedirs(path, exist_ok=True)
    kinds = [("position", "int32", 3, "<i4"), ("intensity", "uint16", 1, "<u2"), ("rgb", "uint16", 3, "<u2"),
             ("gps-time", "double", 1, "<f8")]
    parts, data = [], b""
    for count in (50, 0, 30, 7):
        columns = {"position": random.integers(0, 2 ** 31, (count, 3)), "intensity": random.integers(0, 2 ** 16, (count, 1)),
                   "rgb": random.integers(0, 2 ** 16, (count, 3)), "gps-time": random.random((count, 1))}
        columns = {name: columns[name].astype(kind) for name, _, _, kind in kinds}
        block = pack(columns) if pack else np.concatenate([columns[name].view("u1") for name, *_ in kinds], axis=1).tobytes()
        block = block if count else b""
        parts.append((columns, len(data), len(block)))
        data += block
    nodes = [struct.pack("<BBIQQ", 0, 0b10100, 50, *parts[0][1:]), struct.pack("<BBIQQ", 1, 0, 12, *parts[1][1:]),
             struct.pack("<BBIQQ", 2, 1, 30, 66, 44), struct.pack("<BBIQQ", 0, 1, 30, *parts[2][1:]),
             struct.pack("<BBIQQ", 1, 0, 7, *parts[3][1:])]
    put(f"{path}/hierarchy.bin", b"".join(nodes))
    put(f"{path}/octree.bin", data)
    put(f"{path}/metadata.json", json.dumps({
        "version": "2.0", "name": "cloud", "points": claimed or 87, "projection": "EPSG:25832", "encoding": encoding,
        "hierarchy": {"firstChunkSize": 66, "stepSize": 4, "depth": 2}, "offset": [100.0, -5, 2], "scale": [0.001, 0.001, 0.01],
        "boundingBox": {"min": [0, 0, 0], "max": [1, 1, 1]}, "spacing": 1.0,
        "attributes": [{"name": name, "type": kind, "numElements": n, "elementSize": np.dtype(form).itemsize,
                        "size": n * np.dtype(form).itemsize,
                        "min": [0] * n, "max": [1] * n} for name, kind, n, form in kinds], **changes}))
    whole = {name: np.concatenate([columns[name] for columns, *_ in parts]) for name, *_ in kinds}
    return whole.pop("position") * np.array([0.001, 0.001, 0.01]) + [100, -5, 2], {
        name: array if name == "rgb" else array[:, 0] for name, array in whole.items()}


places, rest = potree("cloud")
for path in ("cloud", "cloud/metadata.json"):
    detected(path, "potree")
    assert converted(path, "potree.bat") == "", path
    same("potree.bat", places, rest, "gps-time")
assert metadata("potree.bat")["potree"]["projection"] == "EPSG:25832"
with in_small_parts():
    converted("cloud", "parts.bat", "--arrays", "gps-time,rgb")
same("parts.bat", places, {name: rest[name] for name in ("gps-time", "rgb")}, "gps-time")
potree("cloud", claimed=90)
assert "metadata.json claims 90 points; the octree has 87" in converted("cloud", "potree.bat")
with open("cloud/octree.bin", "rb") as file:
    content = file.read()
put("cloud/octree.bin", content[:-1])
refused("cloud", "bad.bat", says=["octree.bin: has ", "but a node has"])
put("cloud/octree.bin", content)
for change, says in (({"hierarchy": {"firstChunkSize": 67}}, "a chunk has 67 bytes from byte 0 on"),
                     ({"scale": [1]}, "scale and offset must have three"),
                     ({"attributes": []}, "attributes need distinct names"), ({"version": "1.8"}, "was not written by Potree 2"),
                     ({"offset": None}, "metadata.json")):
    potree("cloud", **change)
    refused("cloud", "bad.bat", says=[says])
put("cloud/metadata.json", "{")
refused("cloud", "bad.bat", says=["metadata.json is not valid JSON"])


def morton(columns):
    """The bits of three columns in turn, from the lowest on."""
    code = np.zeros(len(columns), "<u8")
    for bit in range(16):
        for axis in range(3):
            code |= (columns[:, axis].astype("u8") >> np.uint64(bit) & np.uint64(1)) << np.uint64(3 * bit + axis)
    return code


def packed_by_brotli(columns):
    codes = np.stack([morton(columns["position"] >> 16), morton(columns["position"] & 0xFFFF)], axis=1)
    blocks = codes, columns["intensity"], morton(columns["rgb"]), columns["gps-time"]
    return brotli.compress(b"".join(block.tobytes() for block in blocks))


try:
    import brotli
except ImportError:
    potree("packed_cloud", "BROTLI")
    refused("packed_cloud", "bad.bat", says=["its encoding is BROTLI, which requires brotli: pip install 'parabat[brotli]'"])
else:
    places, rest = potree("packed_cloud", "BROTLI", packed_by_brotli)
    converted("packed_cloud", "potree.bat")
    same("potree.bat", places, rest, "gps-time")

# --- Houdini: version 5, JSON as text and binary
def classic(path, positions, attributes, primitives=0, weights=None):
    """attributes: name -> array of float32 or int32, or a list of texts and their numbers."""
    definitions, columns = b"", [positions.astype(">f4"),
                                 np.ones((len(positions), 1), ">f4") if weights is None else weights.astype(">f4")[:, None]]
    for name, values in attributes.items():
        definitions += struct.pack(">H", len(name)) + name.encode()
        if isinstance(values, tuple):
            definitions += struct.pack(">Hii", 1, 4, len(values[0]))
            definitions += b"".join(struct.pack(">H", len(text)) + text.encode() for text in values[0])
            columns.append(np.array(values[1], ">i4")[:, None])
            continue
        values = values.reshape(len(values), -1)
        kind = 1 if values.dtype.kind == "i" else 5 if values.shape[1] == 3 else 0
        definitions += struct.pack(">Hi", values.shape[1], kind) + bytes(4 * values.shape[1])
        columns.append(values.astype(">" + values.dtype.str[1:]))
    rows = np.concatenate([column.view("u1").reshape(len(positions), -1) for column in map(np.ascontiguousarray, columns)],
                          axis=1)
    return put(path, b"BgeoV" + struct.pack(">9i", 5, len(positions), primitives, 0, 0, len(attributes), 0, 0, 0) + definitions
               + rows.tobytes()
               + b"\0\xff" * 2)


def hou_binary(value, tokens, order="<"):
    """Binary JSON of a value; texts are defined once."""
    if isinstance(value, np.ndarray) and value.dtype == bool:
        bits = np.packbits(value, bitorder="little").tobytes()
        words = np.frombuffer(bits.ljust((len(value) + 31) // 32 * 4, b"\0"), "<u4").astype(order + "u4").tobytes()
        return b"\x40\x10" + hou_length(len(value), order) + words
    if isinstance(value, np.ndarray):
        kind = {"f4": 0x19, "f8": 0x1A, "i4": 0x13, "i8": 0x14, "u1": 0x21, "f2": 0x18}[value.dtype.str[1:]]
        return bytes([0x40, kind]) + hou_length(len(value), order) + value.astype(order + value.dtype.str[1:]).tobytes()
    if isinstance(value, str):
        if value in tokens:
            return b"\x26" + hou_length(tokens[value], order)
        if len(tokens) % 2 or not value:
            tokens[value] = len(tokens)
            number = hou_length(tokens[value], order)
            return b"\x2b" + number + hou_length(len(value), order) + value.encode() + b"\x26" + number
        tokens.setdefault("unused" + value, len(tokens))
        return b"\x27" + hou_length(len(value), order) + value.encode()
    if value is None or isinstance(value, bool):
        return {None: b"\0", False: b"\x30", True: b"\x31"}[value]
    if isinstance(value, int):
        return b"\x14" + struct.pack(order + "q", value)
    if isinstance(value, float):
        return b"\x1a" + struct.pack(order + "d", value)
    if isinstance(value, dict):
        return b"{" + b"".join(hou_binary(key, tokens, order) + hou_binary(each, tokens, order)
                               for key, each in value.items()) + b"}"
    return b"[" + b"".join(hou_binary(each, tokens, order) for each in value) + b"]"


def hou_length(count, order):
    if count < 0xF1:
        return bytes([count])
    return b"\xf2" + struct.pack(order + "H", count) if count < 2 ** 16 else b"\xf4" + struct.pack(order + "I", count)


STORAGE = {"f4": "fpreal32", "f8": "fpreal64", "i4": "int32", "i8": "int64", "u1": "uint8", "f2": "fpreal16"}


def hou_pages(array, page, constant, packing):
    """The numbers of an array in pages, and the flags of parts that do not change in a page."""
    raw, flags = [], [[] for _ in packing]
    for first in range(0, len(array), page):
        column = 0
        for part, width in enumerate(packing):
            rows = array[first:first + page, column:column + width]
            column += width
            same_value = constant and (rows == rows[0]).all()
            flags[part].append(bool(same_value))
            raw.append(rows[:1 if same_value else None].ravel())
    return np.concatenate(raw), flags


def houdini(path, arrays, form="tuples", binary=None, page=16, packing=None, texts=(), count=None, primitives=0):
    native = (lambda array: array) if binary else (lambda array: array.tolist())
    attributes = []
    for name, array in arrays.items():
        two = array.reshape(len(array), -1)
        values = ["size", two.shape[1], "storage", STORAGE[array.dtype.str[1:]]]
        if form == "tuples" and two.shape[1] > 1:
            values += ["tuples", [native(row) for row in two]]
        elif form == "pages":
            parts = packing if packing and sum(packing) == two.shape[1] else [two.shape[1]]
            raw, flags = hou_pages(two, page, True, parts)
            values += ["packing", parts, "pagesize", page, "constantpageflags",
                       [np.array(each) if binary else each for each in flags],
                       "rawpagedata", native(raw)]
        else:
            values += ["arrays", [native(np.ascontiguousarray(two[:, i])) for i in range(two.shape[1])]]
        attributes.append([["scope", "public", "type", "numeric", "name", name, "options", {}], values[:4] + ["values", values]])
    for name in texts:
        attributes.append([["scope", "public", "type", "string", "name", name],
                           ["size", 1, "storage", "int32", "strings", ["a"], "indices", []]])
    content = ["fileversion", "19.5.303", "hasindex", False, "pointcount",
               len(next(iter(arrays.values()))) if count is None else count,
               "vertexcount", 0, "primitivecount", primitives, "info", {"software": "hand", "time": 0.5}, "topology",
               ["pointref", ["indices", []]],
               "attributes", ["pointattributes", attributes]]
    if binary:
        return put(path, b"\x7f" + (b"NSJb" if binary == "<" else b"bJSN") + hou_binary(content, {}, binary))
    return put(path, json.dumps(content))


points = {"P": random.random((40, 3)).astype("f4"), "v": random.random((40, 3)).astype("f4"), "id": np.arange(40, dtype="i4"),
          "age": random.random(40).astype("f4"), "pair": np.stack([np.arange(40.0)] * 2, axis=1).astype("f4")}
points["v"][16:32] = [1, 2, 3]  # constant in a page
points["pair"][:16, 1] = 7
rest = {name: array for name, array in points.items() if name != "P"}
classic("old.bgeo", points["P"], {**rest, "name": (["a", "bb"], [0, 1] * 20)}, 3)
detected("old.bgeo", "houdini")
reported = converted("old.bgeo", "old.bat")
assert "'name' is not written: it contains texts" in reported and "3 primitives are not written" in reported, reported
same("old.bat", points["P"], rest)
with open("old.bgeo", "rb") as file:
    content = file.read()
put("old.bgeo.gz", gzip.compress(content))
converted("old.bgeo.gz", "zipped.bat")
same("zipped.bat", points["P"], rest)
for place in (4, 10, 41, 60, 200, len(content) - 5):
    refused(put("cut.bgeo", content[:place]), "bad.bat")
refused(put("later.bgeo", content[:5] + struct.pack(">i", 6) + content[9:]), "bad.bat", says=["is of version 6; allowed: 5"])
converted(classic("weights.bgeo", points["P"], {"id": points["id"]}, weights=points["age"]), "weights.bat")
same("weights.bat", points["P"], {"id": points["id"], "Pw": points["age"]})
wide = {**points, "P": points["P"].astype("f8"), "big": 2 ** 40 + np.arange(40), "half": points["age"].astype("f2"),
        "flag": np.arange(40, dtype="u1")}
for binary in (None, "<", ">"):
    for form, packing in (("tuples", None), ("pages", None), ("pages", [1, 1]), ("pages", [2, 1]), ("arrays", None)):
        path = houdini("new.bgeo", wide, form, binary, packing=packing, texts=["name"], primitives=2)
        detected(path, "houdini")
        reported = converted(path, "new.bat")
        assert "'name' is not written: it contains texts" in reported and "2 primitives are not written" in reported, reported
        same("new.bat", wide["P"], {name: array.astype("f4") if name == "half" else array
                                    for name, array in wide.items() if name != "P"})
    cuts(path)
for arrays, says in (({"id": points["id"]}, "has no point attribute P"),
                     ({"P": points["P"], "id": points["id"][:3]}, "'id': has values of shape (3, 1)")):
    refused(houdini("bad.geo", arrays), "bad.bat", says=[says])
refused(houdini("bad.geo", {"P": points["P"][:, :2]}), "bad.bat", says=["positions with shape (40, 2)"])
refused(houdini("bad.geo", points, count=0), "bad.bat", says=["has no points"])
# Compressed with Blosc, in chunks
if importlib.util.find_spec("blosc") is None:
    refused(put("new.bgeo.sc", b"scf1" + bytes(100)), "bad.bat", says=["compressed with Blosc (.sc), which requires blosc: pip install 'parabat[blosc]'"])
else:
    import blosc  # pylint: disable=import-outside-toplevel
    for binary in "<", ">", None:
        with open(houdini("new.bgeo", wide, "pages", binary), "rb") as file:
            content = file.read()
        chunks = [blosc.compress(content[i:i + 1000], typesize=4) for i in range(0, len(content), 1000)]
        assert len(chunks) > 1
        whole = b"scf1" + bytes(8) + b"".join(chunks)
        index = bytes(8) + struct.pack(f">{len(chunks)}Q", *range(len(chunks))) + b"1fcs"
        detected(put("packed.bgeo.sc", whole + index), "houdini")
        assert "names the time 0.5" in converted("packed.bgeo.sc", "packed.bat")
        same("packed.bat", wide["P"], {name: array.astype("f4") if name == "half" else array for name, array in wide.items() if name != "P"})
    for content, says in ((whole[:-7], ["ends within"]), (whole[:12], ["expected compressed data"]), (b"".join([b"scf1", bytes(8), *chunks[:-1]]), []),
                          (whole[:40] + bytes(9) + whole[49:], []), (whole[:16] + b"\xff\xff\xff\x7f" + whole[20:], [])):
        refused(put("bad.bgeo.sc", content), "bad.bat", says=says)
refused(put("text.geo", b"PGEOMETRY V5\n"), "bad.bat", says=["is a text file from before Houdini 12"])
