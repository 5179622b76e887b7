# SPDX-License-Identifier: BSD-3-Clause
"""XYZ against ase, which reads and writes it independently, and PCD files with padding and packed colours against pypcd4."""

import json
import pathlib

import ase
import ase.io
import numpy as np
import parabat
from ase.calculators.singlepoint import SinglePointCalculator
from pypcd4 import Encoding, PointCloud
from support import converted, put, refused, same

CASES = pathlib.Path(__file__).parents[2] / "data" / "cases"
random = np.random.default_rng(12)
N = 300

# --- XYZ: ase reads what the converter reads, and the converter what ase writes
cell = np.array([[10, 0, 0], [2, 9, 0], [1, -1, 8]])


def check(path, stem, plain=False):
    """All frames of a file, in the order in which both readers have the atoms; returns the metadata."""
    frames = ase.io.read(path, ":", format="xyz" if plain else "extxyz")
    converted(path, stem)
    found = []
    for i, atoms in enumerate(frames):
        name = stem if len(frames) == 1 else stem.replace(".bat", f"_{i:04}.bat")
        arrays = {key: values for key, values in atoms.arrays.items() if key not in ("numbers", "positions")}
        if not plain and atoms.calc is not None:
            arrays.update((key, np.asarray(values)) for key, values in atoms.calc.results.items()
                          if len(np.shape(values)) and len(values) == len(atoms))
        names = sorted(set(atoms.get_chemical_symbols()))
        kinds = {"b": "u1", "i": "i8"}
        arrays = {"charge" if key == "charges" else key: values.astype(kinds.get(values.dtype.kind, values.dtype))
                  for key, values in arrays.items()}
        arrays["species"] = np.array([names.index(symbol) for symbol in atoms.get_chemical_symbols()], np.int32)
        key = next(each for each in ("id", "tags", "species") if each in arrays)
        meta = json.loads(same(name, atoms.positions, arrays, key,
                               atoms.info.get("Time"), atoms.info.get("step")))
        assert meta["xyz"]["texts"]["species"] == names, meta
        if not plain and atoms.cell.rank == 3:
            assert meta["xyz"]["box"]["edges"] == atoms.cell[:].tolist() and meta["xyz"]["pbc"] == atoms.pbc.tolist(), meta
        found.append(meta)
    return found


for i, meta in enumerate(check(str(CASES / "ext.xyz"), "case.bat")):
    assert meta["xyz"]["info"] == {"energy": -1.5}, meta
frames = []
for i in range(4):
    count = (N, 1, 17, 5)[i]
    frames.append(ase.Atoms(numbers=random.integers(1, 90, count), positions=random.normal(size=(count, 3)) * 10,
        cell=cell * (i + 1),
                            pbc=[i % 2 == 0, True, False]))
    frames[-1].info.update(Time=i / 8, step=100 * i, name="run 1", key="x=1", ok=True)
    frames[-1].arrays["id"] = random.permutation(count) + 2 ** 30
    frames[-1].arrays["velo"] = random.normal(size=(count, 3))
    frames[-1].arrays["wide"] = random.normal(size=(count, 2))
    frames[-1].arrays["fixed"] = random.integers(0, 2, count).astype(bool)
    frames[-1].calc = SinglePointCalculator(frames[-1], energy=-i / 3, forces=random.normal(size=(count, 3)),
        stress=np.arange(6.0))
for name in ("made.xyz", "made.extxyz", "made.xyz.gz"):
    ase.io.write(name, frames, format="extxyz")
    for i, meta in enumerate(check(name, "made.bat")):
        assert meta["xyz"]["info"] == {"energy": -i / 3, "stress": [0, 5, 4, 5, 1, 3, 4, 3, 2], "name": "run 1", "key": "x=1",
            "ok": True}, meta
frames[0].set_cell([4, 5, 6])
ase.io.write("right.xyz", frames[0], format="extxyz")
assert check("right.xyz", "right.bat")[0]["periodic_box"] == {"lower": [0, 0, None], "upper": [4, 5, None]}
for atoms in frames:
    atoms.positions = np.arange(3 * len(atoms)).reshape(-1, 3) / 8
    atoms.symbols = ["H", *["O"] * (len(atoms) - 1)]
ase.io.write("plain.xyz", [ase.Atoms("H", [[0.5, 1, 2]]), ase.Atoms("O", [[1.5, 1, 2]])], format="xyz", comment="frame")
check("plain.xyz", "plain.bat", plain=True)
refused(put("cut.xyz", (CASES / "ext.xyz").read_bytes()[:-60]), "bad.bat",
    says=["cut.xyz: the frame at line 6", "the file is truncated"])

# --- PCD
single = random.normal(size=(N, 3)).astype("f4")
colours = random.integers(0, 256, (N, 3)).astype("u1")
converted(CASES / "padded.pcd", "padded.bat")
with parabat.open("padded.bat") as dataset:
    padded = dataset.read()
    assert sorted(padded) == ["intensity", "ring"], padded
    assert padded["intensity"].tolist() == [0.5, 1.5] and padded["ring"].tolist() == [7, 8], padded
for count in (1, 2):
    put("text.pcd", f"# .PCD v0.7\nVERSION 0.7\nFIELDS x y z id v\nSIZE 8 8 8 4 4\nTYPE F F F U F\nCOUNT 1 1 1 1 2\nWIDTH {count}\n"
        f"HEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS {count}\nDATA ascii\n"
        + "".join(f"{i} 0.1 -2 {4294967290 + i} {i}.5 nan\n" for i in range(count)))
    converted("text.pcd", "pcd.bat")
    same("pcd.bat", np.array([[i, 0.1, -2] for i in range(count)]), {"id": np.arange(4294967290, 4294967290 + count, dtype="u4"),
                                                                  "v": np.array([[i + 0.5, np.nan] for i in range(count)], "f4")})


def cloud(name, kind):
    return (f"VERSION 0.7\nFIELDS x _ y z {name} id _\nSIZE 4 1 4 4 4 2 2\nTYPE F U F F {kind} U I\nCOUNT 1 3 1 1 1 1 2\n"
            f"WIDTH {N}\nHEIGHT 1\nPOINTS {N}\nDATA binary\n").encode() + table.tobytes()


table = np.zeros(N, [("x", "f4"), ("p", "u1", 3), ("y", "f4"), ("z", "f4"), ("c", "u4"), ("id", "u2"), ("q", "i2", 2)])
table["x"], table["y"], table["z"] = single.T
table["id"] = np.arange(N)
for alpha in (0, 255):
    table["c"] = colours.astype("u4") @ np.array([1 << 16, 1 << 8, 1], "u4") + np.uint32(alpha << 24)
    for name, kind in (("rgb", "F"), ("rgb", "U"), ("rgb", "I"), ("rgba", "F"), ("rgba", "U")):
        assert converted(put("colours.pcd", cloud(name, kind)), "pcd.bat") == ""
        assert (PointCloud.decode_rgb(PointCloud.from_path("colours.pcd").pc_data[name].view("f4")) == colours).all()
        same("pcd.bat", single, {name: np.column_stack([colours, np.full(N, alpha, "u1")]) if name == "rgba" else colours,
            "id": table["id"]})
        for encoding in (Encoding.ASCII, Encoding.BINARY_COMPRESSED) if kind == "U" else ():  # pypcd4 writes them
            made = PointCloud.from_points([single[:, 0], single[:, 1], single[:, 2], table["c"]], ("x", "y", "z", name),
                (*["f4"] * 3, "u4"))
            made.save("made.pcd", encoding)
            converted("made.pcd", "made.bat")
            with parabat.open("made.bat") as dataset:
                assert dataset.read()[name].dtype == np.uint8 and dataset.read()[name].shape == (N, 3 + (name == "rgba"))
whole = cloud("rgb", "U")
converted(put("colours.pcd", whole.replace(f"POINTS {N}\n".encode(), b"")), "pcd.bat")  # WIDTH x HEIGHT
same("pcd.bat", single, {"rgb": colours, "id": table["id"]})
table["c"] = np.linspace(0, 1, N, dtype="f4").view("u4")
assert "'rgb' is unchanged" in converted(put("colours.pcd", cloud("rgb", "F")), "pcd.bat")
with parabat.open("pcd.bat") as dataset:
    assert sorted(dataset.read()["rgb"].tolist()) == table["c"].view("f4").tolist()
table["c"] = colours.astype("u4") @ np.array([1 << 16, 1 << 8, 1], "u4") + np.uint32(0x4a << 24)
assert "'rgb' is read as packed colours 0xXXRRGGBB" in converted(put("colours.pcd", cloud("rgb", "F")), "pcd.bat")
same("pcd.bat", single, {"rgb": colours, "id": table["id"]})
assert "'rgb' is unchanged" in converted(put("colours.pcd", cloud("rgb", "U")), "pcd.bat")
table["c"] = 0
refused(put("bad.pcd", cloud("rgb", "X")), "bad.bat", says=["bad.pcd: pypcd4 cannot read it"])
