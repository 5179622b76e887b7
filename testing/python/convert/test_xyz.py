# SPDX-License-Identifier: BSD-3-Clause
"""XYZ and extended XYZ become datasets, every value to the last bit, against values by hand."""

import bz2
import gzip
import json
import lzma
import os
import pathlib

import numpy as np
import parabat
from parabat.convert import ConvertError, Options, streams
from parabat.convert.formats import xyz
from support import alike_in_parts, converted, is_in_parts, put, refused, same

CASES = pathlib.Path(__file__).parents[2] / "data" / "cases"
random = np.random.default_rng(6)
BIG = 2 ** 53 + 1


def about(path):
    with parabat.open(path) as dataset:
        found = dataset.read()
        return found, dataset.time, dataset.step, json.loads(dataset.metadata) if dataset.metadata else {}


def rows(path):
    """Positions and attributes by name in the order of x."""
    found, time, step, meta = about(path)
    order = np.argsort(found.positions[:, 0], kind="stable")
    return found.positions[order].tolist(), {name: values[order].tolist() for name, values in found.items()}, time, step, meta


def read(content):
    """The last step of a file and its particles."""
    for step in xyz.steps(put("read.xyz", content), Options()):
        particles, = step.read()
    return step, particles


def fails(content, *says):
    try:
        read(content)
    except ConvertError as error:
        assert all(text in str(error) for text in says), (says, error)
    else:
        raise AssertionError((content, says))


# --- The case that was reported
converted(CASES / "ext.xyz", "ext.bat")
for i, (y, z) in enumerate(((5, 7.5), (5.1, 7.6))):
    positions, values, time, step, meta = rows(f"ext_000{i}.bat")
    assert positions == [[1 + i / 10, 2, 3], [4, y, 6], [7, 8, z]], positions
    assert values == {"species": [1, 0, 0], "forces": [[0.1, 0.2, 0.3], [-0.1, 0, 0], [0, 0, 0]], "charge": [1.5, -0.75, -0.75],
                      "tags": [7, 8, 9]}, values
    assert (time, step) == (0.5 + i / 2, None), (time, step)
    assert meta["xyz"]["texts"] == {"species": ["O", "Si"]} and meta["xyz"]["info"] == {"energy": -1.5}, meta
    assert meta["xyz"]["box"] == {"origin": [0, 0, 0], "edges": [[10, 0, 0], [2, 9, 0], [0, 0, 8]], "boundary": "pp pp ff"}, meta
    assert meta["xyz"]["pbc"] == [True, True, False] and "periodic_box" not in meta, meta

# --- All kinds of columns, several frames, compressed, by several processes, in parts and in small blocks
text = ""
taken = []
for number, n in ((0, 1000), (2 ** 40, 1), (2 ** 41, 0), (2 ** 42, 2500)):
    values = {"species": random.choice(["H", "Carbon_13", "Ölgas"], n),
              "pos": random.normal(size=(n, 3)) * 10.0 ** random.integers(-300, 300, (n, 3)),
              "id": BIG + random.permutation(n), "forces": random.normal(size=(n, 3)), "fixed": random.integers(0, 2, n)}
    taken.append((number, values))
    text += (f"{n}\nProperties=species:S:1:pos:R:3:id:I:1:forces:R:3:fixed:L:1 "
             f"Lattice=\"4 0 0 0 5.5 0 0 0 6\" Origin=\"-1 0 0.25\" "
             f"pbc=\"T F T\" Time={number / 8} step={number} name=\"a b\" virial=[[1, 2],[3,4]] flag key=value\n")
    for row in zip(*(each.tolist() for each in values.values())):
        text += (f"{row[0]}\t" + " ".join(map(repr, row[1])) + f"   {row[2]} " + " ".join(map(repr, row[3]))
                 + (" T" if row[4] else " F") + "\r\n")
text += "\n \n\n"
put("all.xyz", text)
for name, pack in (("all.xyz.gz", gzip.compress), ("all.xyz.bz2", bz2.compress), ("all.xyz.xz", lzma.compress)):
    put(name, pack(text.encode()))


def check(stem):
    for i, (number, values) in enumerate(taken):
        names = sorted(set(values["species"]))
        meta = json.loads(same(f"{stem}_{i:04}.bat", values["pos"], {
            "species": np.array([names.index(each) for each in values["species"]], np.int32), "id": values["id"],
            "forces": values["forces"],
            "fixed": values["fixed"].astype("u1")}, time=number / 8, step=number))
        assert meta["xyz"]["texts"]["species"] == names, meta
        assert meta["xyz"]["info"] == {"name": "a b", "virial": [[1, 2], [3, 4]], "flag": True, "key": "value"}, meta
        assert meta["periodic_box"] == {"lower": [-1, None, 0.25], "upper": [3, None, 6.25]}, meta


for name, words in (("all.xyz", ()), ("all.xyz", ("--jobs", 3)), ("all.xyz.gz", ()), ("all.xyz.bz2", ("--jobs", 2)),
    ("all.xyz.xz", ())):
    converted(name, "a.bat", *words)
    check("a")
whole, streams.BLOCK = streams.BLOCK, 3000
grown, xyz.GROW = xyz.GROW, 7
for name in ("all.xyz", "all.xyz.gz"):
    converted(name, "b.bat")
    check("b")
streams.BLOCK, xyz.GROW = whole, grown
converted("all.xyz", "one.bat", "--steps", "-1", "--arrays", "id")
assert os.path.exists("one.bat") and not os.path.exists("one.bat.series")
same("one.bat", taken[3][1]["pos"], {"id": taken[3][1]["id"]}, time=2 ** 39, step=2 ** 42)
converted("all.xyz", "f.bat", "--steps", "0", "--columns", "forces", "--arrays", "id,pos")
same("f.bat", taken[0][1]["forces"], {"id": taken[0][1]["id"], "pos": taken[0][1]["pos"]}, time=0, step=0)
n = 40000
put("parts.xyz", f"{n}\nProperties=kind:S:1:id:I:1:pos:R:3:q:I:1:on:L:1 Time=2\n" + "".join(
    f"{'ab'[i % 2] if i < n - 3 else 'aa'} {i} {i}.5 {-i} 1 {i if i < n - 2 else i + 0.5} {'T' if i % 3 else 'F'}\n"
    for i in range(n)))
assert is_in_parts("xyz", "parts.xyz")
assert any("becomes float64" in remark for remark in alike_in_parts(["parts.xyz"]))

# --- Plain XYZ, and comments of several programs
converted(put("water.xyz", "3\nwater\nO 0 0 0.125\nH 1 0 0\nH\t2  1e-3 -.5\n"), "p.bat")
assert rows("p.bat") == ([[0, 0, 0.125], [1, 0, 0], [2, 0.001, -0.5]], {"species": [1, 0, 0]}, None, None,
                         {"xyz": {"comment": "water", "texts": {"species": ["H", "O"]}}, "writer": about("p.bat")[3]["writer"]})
frame = "1\n{}\nH 0 0 0\n"
for comment, time, number, info in (
        (" i =        5, time =        2.500, E =        -1.0000000000", 2.5, 5, {"E": -1}),
        ("Atoms. Timestep: 1000", None, 1000, None), ("Atoms. Timestep: 1000 Time: 0.25", 0.25, 1000, None),
        ("Protein in water t=   1.50000 step= 500", 1.5, 500, None), ("MD iter: 7", None, 7, None),
        ("frame=3 E=1_0", None, 3, {"E": "1_0"}),
        ("time = 12:30:15", None, None, {"time": "12:30:15"}), ("Time=nan step=1.5", None, None, {"Time": "nan", "step": 1.5}),
        ("", None, None, None), ("time = 1e400", None, None, {"time": "1e400"}),
        ("Properties=species:S:1:pos:R:3 t=2 Timestep=4", 2, 4, None)):
    step, particles = read(frame.format(comment))
    assert (step.time, step.number, particles.metadata["xyz"].get("info")) == (time, number, info), (
        comment, step.time, step.number, particles.metadata)
converted(put("c.xyz", "1 bohr\ntime = 2 fs\nH 0 0 0\n"), "c.bat")
assert about("c.bat")[3]["units"] == {"positions": "bohr", "time": "fs"}, about("c.bat")
assert "called Field 4, Field 5" in converted(put("c.xyz", "2\n\n6 1 2 3 0.5 up\n8 4 5 6 1 down"), "c.bat")
assert rows("c.bat")[:2] == ([[1, 2, 3], [4, 5, 6]], {"species": [6, 8], "Field 4": [0.5, 1], "Field 5": [1, 0]}), rows("c.bat")
assert about("c.bat")[0]["species"].dtype == np.int64 and about("c.bat")[0]["Field 4"].dtype == np.float64
converted(put("c.xyz", "2\n\n1 2 3\n4 5 nan\n"), "c.bat")
assert about("c.bat")[0].positions.tolist()[0] == [1, 2, 3] and not list(about("c.bat")[0])
assert f"column 'Field 4' becomes float64, which rounds {BIG}" in converted(put("c.xyz", f"1\n\nH 1 2 3 {BIG}\n"), "c.bat")
converted(put("empty.xyz", "0\n\n"), "c.bat")
assert len(about("c.bat")[0].positions) == 0
converted(put("first.dat", "3\nany words\nO 0 0 0\nH 1 0 0\nH 0 1 0\n"), "c.bat")  # by content

for content, found in (("O 0 0 0 1\nH 1 0 0\nH 2 0 0.5 7 # x\n", "line 4: 4 values instead of 5: 'H 1 0 0'"),
                       ("O 0 0 0\nH 1 0 0 bond\nH 2 0 0.5\n", "line 4: 5 values instead of 4"),
                       ("O 0 0 0 1\nH 1 0 0 x\nH 2 0 0.5 1\n", "line 4: 'x' in column 'Field 4' is not a number")):
    for ending in ("", f"3\n\n{content}"):
        assert f"the columns after the coordinates are not written: {found}" in converted(put("c.xyz",
            f"3\n\n{content}{ending}"), "c.bat")
        name = "c_0001.bat" if ending else "c.bat"
        assert rows(name)[:2] == ([[0, 0, 0], [1, 0, 0], [2, 0, 0.5]], {"species": [1, 0, 0]}), rows(name)
        os.remove(name)
many = f"{n}\n\n" + "".join(f"{'CH'[i % 2]} {i} 0 0.5{' 1' * (i % 7)}\n" for i in range(n))
for size in (streams.BLOCK, 10000):
    whole, streams.BLOCK = streams.BLOCK, size
    step, particles = read(many + many[:-1])
    assert (particles.positions[:, 0] == np.arange(n)).all() and list(particles.attributes) == ["species"]
    assert (particles.attributes["species"] == np.arange(n) % 2).all()
    streams.BLOCK = whole
fails("2\n\nH 0 0 0 0.5\nH 1.5 0 0 ", "line 4: 4 values instead of 5: 'H 1.5 0 0'; the file may be truncated")

# --- Boxes
for words, box, note in (
        ('Lattice="4 0 0 0 5 0 0 0 6"', {"lower": [0, 0, 0], "upper": [4, 5, 6]}, "Lattice without pbc: all axes are periodic"),
        ('Lattice="4 0 0 0 5 0 1 0 6" pbc="T T F"', {"lower": [0, 0, None], "upper": [4, 5, None]}, ""),
        ('Lattice="4 0 0 0 5 0 1 0 6" pbc="F F T"', None, ""), ('Lattice="4 0 0 0 5 0 0 0 6" pbc="F F F"', None, ""),
        ('Lattice="0 4 0 4 0 0 0 0 6" pbc="T T T"', None, ""),
        ('Lattice="4 0 0 0 0 0 0 0 6" pbc=[T, F, T]', {"lower": [0, None, 0], "upper": [4, None, 6]}, ""),
        ('lattice={4 0 0 0 5 0 0 0 6} pbc="1 0 0" origin="1 2 3"', {"lower": [1, None, None], "upper": [5, None, None]}, ""),
        ('Lattice=[[4,0,0],[0,5,0],[0,0,6]] pbc=T', {"lower": [0, 0, 0], "upper": [4, 5, 6]}, ""),
        ('Lattice=[[4,0,0],[1,5,0],[0,0,6]] pbc=F', None, "rows are used as the vectors")):
    _, particles = read(frame.format(words))
    assert note in str(particles.remarks) and ("pbc" in words or note), (words, particles.remarks)
    assert particles.metadata.get("periodic_box") == box, (words, particles.metadata)

for words, note in (('Lattice="1 2" pbc="T T T"', "the box of the frame at line 1 is not written: Lattice: '[1, 2]'; allowed are"),
                    ('Lattice="1 1 1" pbc="T T"', "pbc: '[True, True]'"), ('Lattice="1 1 1" Origin="0 0"', "Origin: '[0, 0]'")):
    _, particles = read(frame.format(words))
    assert note in str(dict(particles.remarks)["box"]) and "Lattice" in particles.metadata["xyz"]["info"], (words,
        particles.metadata)
    assert "box" not in particles.metadata["xyz"] and "periodic_box" not in particles.metadata, particles.metadata

# --- Cells and units of i-PI
CELL = "# CELL(abcABC):   10.00000    11.00000    12.00000    90.00000    90.00000    {}  Traj: positions{{{}}} Step:  50 Bead: 3 {}"
bohr = 0.529177210903
frame = "1\n{}\nH 0 0 0\n"
for words, edges, unit, note in (
        (CELL.format(90, "angstrom", "cell{angstrom}"), np.diag([10, 11, 12]), "angstrom", ""),
        (CELL.format(90, "angstrom", "cell{atomic_unit}"), np.diag([10, 11, 12]) * bohr, "angstrom", ""),
        (CELL.format(90, "atomic_unit", "cell{atomic_unit}"), np.diag([10, 11, 12]), "bohr", ""),
        (CELL.format(90, "automatic", "cell{angstrom}"), np.diag([10, 11, 12]) / bohr, "bohr", ""),
        (CELL.format(90, "angstrom", ""), np.diag([10, 11, 12]) * bohr, "angstrom", "does not name the unit of the cell"),
        (CELL.format(60, "angstrom", "cell{angstrom}"), [[10, 0, 0], [5.5, 11 * np.sqrt(0.75), 0], [0, 0, 12]], "angstrom", ""),
        ("# bead: 0 CELL(abcABC): 4 5 6 90 90 90", np.diag([4, 5, 6]), None, ""),
        ("CELL{H}: 4 1 0 0 5 0 0 0 6 cell{nanometer} Traj: x_centroid{nanometer}", [[4, 0, 0], [1, 5, 0], [0, 0, 6]], "nm", ""),
        ("# CELL[GENH]: 4 1 0 0 5 0 0 0 6 positions{angstrom} cell{angstrom}", [[4, 1, 0], [0, 5, 0], [0, 0, 6]], "angstrom", ""),
        ("# CELL(H): 4 1 0 0 5 0 0 cell{angstrom} positions{angstrom}", None, "angstrom", "the box is not written: CELL(H): "),
        ("# CELL(abcABC): -1 -1 -1 90 90 90 positions{angstrom} cell{angstrom}", None, "angstrom", ""),
        (CELL.format(90, "furlong", "cell{angstrom}"), None, "furlong", "its cell is in 'angstrom', the positions in 'furlong'"),
        (CELL.format(90, "angstrom", "cell{angstrom}").replace("positions", "velocities"), None, None,
         "called 'velocities' by i-PI")):
    step, particles = read(frame.format(words))
    assert note in str(particles.remarks) and len(particles.remarks) == 1 + bool(note), (words, particles.remarks)
    assert (particles.metadata.get("units") or {}).get("positions") == unit, (words, particles.metadata)
    assert step.number == (50 if "Step" in words else None) and step.time is None, (words, step.number)
    box = particles.metadata["xyz"].get("box")
    assert (box is None) == (edges is None), (words, particles.metadata)
    if edges is not None:
        assert np.allclose(box["edges"], edges, rtol=1e-12) and box["boundary"] == "pp pp pp", (words, box)
    right = edges is not None and not (np.asarray(edges) - np.diag(np.diag(edges))).any()
    assert ("periodic_box" in particles.metadata) == right, particles.metadata
    if right:
        assert particles.metadata["periodic_box"]["lower"] == [0, 0, 0]

# --- What is wrong
P = "Properties=species:S:1:pos:R:3:tag:I:1:on:L:1"
good = f"2\n{P}\nH 1 2 3 4 T\nH 1 2 3 5 F\n"
for content, says in (
        (good + good[:-12], ["the frame at line 5 claims 2 atoms, but only 12 bytes follow: the file is truncated or damaged"]),
        (good + f"2\n{P}\nH 1.0000000000000000 2 3 4 T\n", ["the frame at line 5 ends after 1 of 2 atoms: the file is truncated"]),
        (good + good.replace("1 2", "1.50000000 2")[:-5],
         ["line 8: 4 values instead of 6: 'H 1.50000000 2 3'; the file may be truncated"]),
        (good + "2\n", ["the frame at line 5 ends before its comment"]),
        (good + "H 1 2 3 4 T\n" + good, ["line 5: 'H 1 2 3 4 T' is not a number of atoms"]),
        (good.replace("H 1 2 3 5 F\n", "") + good,
         ["line 4: 1 values instead of 6: '2'; the frame at line 1 may have fewer than 2 atoms"]),
        (good.replace("2 3 5", "2 x 5"), ["line 4: 'x' in column 'pos' is not a number"]),
        (good.replace("2 3 5", "2 1.0D+400 5"), ["line 4: '1.0D+400' in column 'pos'"]),
        (good.replace("2 3 5", "2 1.0D+ 5"), ["line 4: '1.0D+' in column 'pos'"]),
        (good.replace("3 5 F", "3 1e400 F"), ["'1e400' in column 'tag'"]),
        (good.replace("3 5 F", f"3 {2 ** 63} F"), [f"'{2 ** 63}' in column 'tag' is not an integer of 64 bits"]),
        (good.replace("5 F", "5 maybe"), ["line 4: the value in column 'on' is not a logical value"]),
        (good.replace("4 T\n", "4 T\n\n"), ["line 4: is blank, within 2 atoms"]),
        (good.replace("2\nP", "9000000000000\nP"), ["claims 9000000000000 atoms, but only"]),
        (good.replace("R:3", "Q:3"), ["line 2: Properties: 'pos:Q:3'; allowed"]),
        (good.replace(":on:L:1", ":on:L"), ["is not a list of name:kind:columns"]),
        (good.replace("tag", "species"), ["two properties are called 'species'"]),
        (good.replace("pos:", "place:"), ["no positions"]),
        ("-1\n\nH 0 0 0\n", []), ("3\n\nH 0.00000000 0.00000000 0\n", ["ends after 1 of 3 atoms"]),
        ("2\n\nH 0 0 0\nH 0 0\n", ["line 4: 3 values instead of 4: 'H 0 0'"])):
    fails(content, *says)
refused(put("bad.xyz", good.replace("2 3 5", "2 x 5")), "bad.bat", says=["bad.xyz: line 4: 'x' in column 'pos' is not a number"])
refused(put("bad.xyz", good + good[:-12]), "bad.bat", "--jobs", 2, says=["bad.xyz: the frame at line 5"])
refused(put("bad.xyz.gz", gzip.compress((good * 50).encode())[:-20]), "bad.bat",
    says=["bad.xyz.gz: cannot be decompressed beyond byte"])
refused(put("bad.xyz.gz", gzip.compress(good.replace("2\nP", "9000000000000\nP").encode())), "bad.bat", says=["bad.xyz.gz: "])
converted(put("cut.xyz", good + good[:-12]), "cut.bat", "--steps", "0")
fails(good.replace("5 F", "5.5 F").replace("4 T", f"{BIG} T"), "has both fractions and the integer",
    "which no type can represent")

# --- Exponents of Fortran; texts stay as they are
for content in (f"2\nProperties=species:S:1:pos:R:3:q:R:1:kind:S:1\n1D2 1 2.5d-1 3 1.D1 1D2\nH 1.0D+00 2 -.5D2 1 1d2\n",
                "2\n\n1D2 1.0 2.5d-1 3 1.D1\nH 1.0D+00 2 -.5D2 1\n"):
    step, particles = read(content)
    assert particles.positions.tolist() == [[1, 0.25, 3], [1, 2, -50]], particles.positions
    name = "q" if "q:R" in content else "Field 4"
    assert particles.attributes[name].tolist() == [10, 1], particles.attributes
    assert particles.texts["species"] == ["1D2", "H"], particles.texts
    assert particles.texts.get("kind", ["1D2", "1d2"]) == ["1D2", "1d2"], particles.texts
converted(put("fortran.xyz", "1\n\nH 1.0D+00 2 -.5D2\n"), "fortran.bat")
assert rows("fortran.bat")[0] == [[1, 2, -50]]

# --- Other formats' files stay theirs
for content in ("2\n1 2 3\n4 5 6\n", "2\n1 2 3 0.5\n4 5 6 0.25\n", "1 2 3\n4 5 6\n", "x y z\n1 2 3\n",
    "title\n    1\n    1SOL     OW    1   0.126   1.624   1.679\n   1 1 1\n",
                "7\nSystem\n    1SOL     OW    1   0.126   1.624   1.679\n", "3\n4\n5\n6\n", ""):
    assert not xyz.FORMAT.sniff(content.encode(), "a.txt"), content
for name, expected in (("a.xyz", True), ("a.xyz.gz", True), ("a.txt", False)):
    assert xyz.FORMAT.sniff(b"1\n\nbroken", name) is expected, name
converted(put("cloud.xyz", "x y z id\n1 2 3 4\n"), "cloud.bat")  # a point cloud without a count is a table
same("cloud.bat", np.array([[1.0, 2, 3]]), {"id": np.array([4])})

# --- A particle that crosses a tilted periodic box
frame = '1\nLattice="10 0 0 2 9 0 0 0 8" Properties=pos:R:3:id:I:1 pbc="T T F" Time={}\n{} 1 1 7\n'
converted(put("crossing.xyz", frame.format(0, 9.5) + frame.format(1, 0.25)), "crossing.bat")
trail = parabat.follow("crossing.bat.series", [7], unwrap="files").positions.reshape(2, 3)
assert np.allclose(trail, [[9.5, 1, 1], [10.25, 1, 1]]), trail
