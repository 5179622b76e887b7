# SPDX-License-Identifier: BSD-3-Clause
"""Dumps of LIGGGHTS and SPARTA, LAMMPS data files, dump yaml and dump cfg become datasets, every value as this file writes it;
and, if there is a lmp, as LAMMPS writes it of one run.

Usage: test_lammps_kinds.py [lmp]"""

import gzip
import json
import os
import subprocess
import sys

import numpy as np
import parabat
from parabat.convert import ConvertError, convert, streams
from support import alike_in_parts, converted, put, refused, same

random = np.random.default_rng(3)
cases = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../data/cases")


def case(name):
    return os.path.join(cases, name)


def about(path):
    with parabat.open(path) as dataset:
        return json.loads(dataset.metadata), dataset.time, dataset.step


def dump(names, rows, box="BOX BOUNDS pp pp ff\n0 1\n0 2\n-1 3\n", number=0):
    return (f"ITEM: TIMESTEP\n{number}\nITEM: NUMBER OF ATOMS\n{len(rows)}\nITEM: {box}ITEM: ATOMS {names}\n"
            + "".join(" ".join(map(str, row)) + "\n" for row in rows))


# --- LIGGGHTS: a column twice; SPARTA's boundaries; columns of texts
reported = converted(case("liggghts_0.dump"), "twice.bat")
assert "column 'type' occurs again with the same values and is written once" in reported, reported
with parabat.open("twice.bat") as dataset:
    found = dataset.read()
    assert dataset.step == 1000 and sorted(found["type"]) == [1, 2] and "type_2" not in found, sorted(found)
converted(case("sparta.dump"), "sparta.bat")
metadata = json.loads(same("sparta.bat", np.array([[0.001, 0.002, 0], [0.003, 0.004, 0]]), {
    "id": np.array([123456789, -2147483647]), "type": np.array([1, 2]), "v": np.array([[300, -20, 5], [200, 10, 1.0]])}, step=5))
assert metadata["lammps"]["box"]["boundary"] == "oo oo pp", metadata
rows = [(i, i % 3, i % 3, 0.5, i, -i, i % 3) for i in range(100)]
reported = converted(put("three.dump", dump("id type type x y z type", rows)), "three.bat")
assert reported.count("is written once") == 2, reported
places = np.array([row[3:6] for row in rows], float)
expected = {"id": np.arange(100), "type": np.arange(100) % 3}
same("three.bat", places, expected, step=0)
rows[57] = (57, 0, 5, 0.5, 57, -57, 0)
reported = converted(put("differ.dump", dump("id type type x y z type", rows)), "differ.bat")
assert "two columns are named 'type'; the second is called 'type_2'" in reported and reported.count("is written once") == 1, reported
same("differ.bat", places, {**expected, "type_2": np.array([row[2] for row in rows])}, step=0)
converted(put("places.dump", dump("id x y z x", [(1, 1, 2, 3, 1), (2, "nan", 5, 6, "nan")])), "places.bat")
same("places.bat", np.array([[1, 2, 3], [np.nan, 5, 6]]), {"id": np.array([1, 2])}, step=0)
converted("differ.dump", "chosen.bat", "--arrays", "id,type_2")
same("chosen.bat", places, {"id": np.arange(100), "type_2": np.array([row[2] for row in rows])}, step=0)
# In parts, of which only some differ.
many = [(i, "AB"[i % 2], i % 3, i % 3 + (i == 70000), i % 3, i, 0, 0) for i in range(90000)]
reported = alike_in_parts(put("parts.dump", dump("id Structure type type type x y z", many)), columns=None)
assert any("second is called 'type_2'" in each for each in reported) and any("written once" in each for each in reported), reported
# Texts are known from the first row.
rows = [("1", "FCC", "O", "1", "2", "3", "9"), ("2", "HCP", "H", "4", "5", "6", "8")]
reported = converted(put("texts.dump", dump("id StructureType type x y z q", rows)), "texts.bat")
metadata = json.loads(same("texts.bat", np.array([[1, 2, 3], [4, 5, 6.0]]), {
    "id": np.array([1, 2]), "StructureType": np.array([0, 1], "i4"), "type": np.array([1, 0], "i4"), "q": np.array([9.0, 8])}, step=0))
assert metadata["lammps"]["texts"] == {"StructureType": ["FCC", "HCP"], "type": ["H", "O"]} and reported.count("converted to numbers") == 2
refused(put("late.dump", dump("id q x y z", [(1, 2, 3, 4, 5), (2, "two", 3, 4, 5)])), "bad.bat", says=["'two' in column 'q' is not a valid number"])
refused(put("axis.dump", dump("id x y z", [(1, "one", 3, 4)])), "bad.bat", says=["'one' in column 'x' is not a valid number"])
several = dump("id note x y z", [(i, f"n{i}", 1, 2, 3) for i in range(10001)])
assert "contains 10001 different texts" in converted(put("notes.dump", several), "notes.bat")
same("notes.bat", np.tile([1, 2, 3.0], (10001, 1)), {"id": np.arange(10001)}, step=0)
converted(put("units.dump", "ITEM: UNITS\nreal\nITEM: TIME\n2.5\n" + dump("id x y z", [(1, 2, 3, 4)])), "units.bat")
metadata, time, _ = about("units.bat")
assert time == 2.5 and metadata["units"] == {"style": "real", "positions": "angstrom", "time": "fs", "v": "angstrom/fs", "f": "kcal/mol/angstrom"}

# --- Types of columns: integers where LAMMPS's manual says so, or where a name suggests ids and all steps of the file have integers
names = "id type mol proc procp1 ix i_group i2_pair[1] id_multisphere x y z c_tag c_count d_id f_ids c_id"


def typed(number, fraction):
    return dump(names, [(2 ** 60 + i, 1, 2, 0, 1, -3, i, 2 ** 31, 7, 0.5, 1, 2, i, i, i, 2 ** 60 + i, i + fraction) for i in range(4)],
                number=number)


def types_of(path):
    with parabat.open(path) as dataset:
        return {name: values.dtype.name for name, values in dataset.read().items()}


integers = "id type mol proc procp1 ix i_group i2_pair[1] id_multisphere c_tag f_ids".split()
expected = {name: "int64" if name in integers else "float64" for name in names.split() if name not in "xyz"}
put("typed.dump", typed(0, 0) + typed(10, 0.5) + typed(20, 0))
put("typed.dump.gz", gzip.compress(typed(0, 0).encode() + typed(10, 0.5).encode() + typed(20, 0).encode()))
for name in ("typed.dump", "typed.dump.gz"):
    for options in ((), ("--jobs", 3)):
        assert "column 'c_id' has fractions and becomes float64" in converted(name, "typed.bat", *options)
        assert [types_of(f"typed_{i:04}.bat") for i in range(3)] == [expected] * 3
    converted(name, "typed_last.bat", "--steps", "-1")
    assert types_of("typed_last.bat") == expected
converted(put("typed_one.dump", typed(0, 0)), "typed_one.bat")
assert types_of("typed_one.bat") == {**expected, "c_id": "int64"}
converted(put("typed_cut.dump", typed(0, 0) + typed(10, 0.5)[:-9]), "typed_cut.bat", "--steps", "0")
assert any("c_id" in remark for remark in alike_in_parts(["typed.dump"], steps=slice(0, 1)))

# --- Data files
HEAD = "LAMMPS data file via write_data, version 1 Jan 2030, timestep = 12, units = metal\n\n{n} atoms # all\n2 atom types\n\n"
BOX = "-1 2.5 xlo xhi\n0 4 ylo yhi\n1e-1 8 zlo zhi\n0.5 -0.25 1 xy xz yz\n\nMasses\n\n1 1.5 # H\n2 16\n\n"
n = 40
ids = random.permutation(n) + 1
places, speeds = random.normal(size=(n, 3)), random.normal(size=(n, 3))
types, molecules, images, charges = random.integers(1, 3, n), random.integers(0, 9, n), random.integers(-2, 3, (n, 3)), random.normal(size=n)


def section(name, *columns, comment=""):
    lines = [" ".join(repr(value) for value in row) + comment for row in zip(*(column.tolist() for column in columns))]
    return f"{name}\n\n" + "\n".join(lines) + "\n\n"


def images_of(table):
    return {name: table[:, i] for i, name in enumerate(("ix", "iy", "iz"))}


order = random.permutation(n)
velocities = section("Velocities", ids[order], *speeds[order].T)
full = section("Atoms # full", ids, molecules, types, charges, *places.T, *images.T, comment="  # an atom")
bonds = "Bonds\n\n1 1 1 2\n2 1 2 3\n"
text = HEAD.format(n=n).replace("2 atom types", "2 bonds\n2 atom types\n1 bond types") + BOX + full + velocities + bonds
base = {"id": ids, "type": types}
reported = converted(put("some.data", text), "data.bat")
assert "not the sections 'Bonds'" in reported, reported
expected = {**base, "mol": molecules, "q": charges, "v": speeds, **images_of(images)}
metadata = json.loads(same("data.bat", places, expected, step=12))
assert metadata["lammps"]["box"] == {"origin": [-1, 0, 0.1], "edges": [[3.5, 0, 0], [0.5, 4, 0], [-0.25, 1, 7.9]], "boundary": None}, metadata
assert metadata["lammps"]["masses"] == {"1": 1.5, "2": 16} and metadata["units"]["positions"] == "angstrom" and metadata["lammps"]["style"] == "full"
whole, streams.BLOCK = streams.BLOCK, 300
converted("some.data", "small.bat")
streams.BLOCK = whole
same("small.bat", places, expected, step=12)
converted("some.data", "few.bat", "--arrays", "id,v")
same("few.bat", places, {"id": ids, "v": speeds}, step=12)
# Styles: by name, by number of columns, by --columns.
plain = "by hand\n\n" + f"{n} atoms\n2 atom types\n" + BOX
for name, columns, words, names in (
        ("Atoms", (ids, types), [], ["id", "type"]), ("Atoms", (ids, types, charges), ["--columns", "charge"], ["id", "type", "q"]),
        ("Atoms # hybrid", (ids, types), ["--columns", "hybrid charge sphere"], ["id", "type"]),
        ("Atoms  # dipole", (ids, types, charges), [], ["id", "type", "q"]), ("Atoms # peri", (ids, types, charges, charges), [], ["id", "type", "volume", "density"]),
        ("Atoms # ellipsoid", (ids, types, types - 1, charges), [], ["id", "type", "ellipsoidflag", "density"])):
    values = dict(zip(names, columns))
    after = {"dipole": {"mu": speeds}, "hybrid": {"q": charges, "diameter": speeds[:, 0], "density": speeds[:, 1]}}
    rest = next((found for key, found in after.items() if key in name), {})
    columns = [*columns, *places.T, *(column for each in rest.values() for column in (each.T if each.ndim > 1 else [each]))]
    put("style.data", plain + section(name, *columns))
    converted("style.data", "style.bat", *words)
    same("style.bat", places, {**values, **rest})
put("vmd.data", plain.replace("by hand", "LAMMPS data file. CGCMM style. atom_style charge generated by VMD/TopoTools v1.7").replace("Masses", " Masses")
    + section(" Atoms", ids, types, charges, *places.T))
converted("vmd.data", "vmd.bat")
same("vmd.bat", places, {**base, "q": charges})
convert(["style.data"], "named.bat", columns=["id", "kind", "flag", "w", "x", "y", "z"])
same("named.bat", places, {"id": ids, "kind": types.astype(float), "flag": types - 1.0, "w": charges})
labels = plain.replace("Masses", "Atom Type Labels\n\n1 H\n2 Ow\n\nMasses") + section("Atoms # atomic", ids, types, *places.T)
rows = labels.split("\n")
first = next(i for i, line in enumerate(rows) if line.startswith("Atoms")) + 2
for i in range(first, first + n):
    words = rows[i].split()
    rows[i] = " ".join([words[0], ["H", "Ow"][int(words[1]) - 1], *words[2:]])
converted(put("labels.data", "\n".join(rows)), "labels.bat")
same("labels.bat", places, {"id": ids, "type": types})
assert about("labels.bat")[0]["lammps"]["type_labels"] == {"1": "H", "2": "Ow"}
general = plain.replace("-1 2.5 xlo xhi\n0 4 ylo yhi\n1e-1 8 zlo zhi\n0.5 -0.25 1 xy xz yz", "1 2 0 avec\n0 3 0 bvec\n0 1 4 cvec\n-1 -2 -3 abc origin")
converted(put("general.data", general + section("Atoms # atomic", ids, types, *places.T)), "general.bat")
assert about("general.bat")[0]["lammps"]["box"] == {"origin": [-1, -2, -3], "edges": [[1, 2, 0], [0, 3, 0], [0, 1, 4]], "boundary": None}
spheres = plain + section("Atoms # sphere", ids, types, charges, charges, *places.T) + section("Velocities", ids, *speeds.T, *places.T)
converted(put("sphere.data", spheres), "sphere.bat")
same("sphere.bat", places, {**base, "diameter": charges, "density": charges, "v": speeds, "omega": places})
for style, columns, names in (("rheo", (types, charges), ["status", "rho"]), ("rheo/thermal", (types, charges, charges), ["status", "rho", "esph"]),
                              ("apip", (), []), ("oxdna", (), [])):
    converted(put("more.data", plain + section(f"Atoms # {style}", ids, types, *columns, *places.T)), "more.bat")
    same("more.bat", places, {**base, **dict(zip(names, columns))})
converted(put("more.data", plain + section("Atoms # amoeba", ids, molecules, types, charges, *places.T)), "more.bat")
same("more.bat", places, {**base, "mol": molecules, "q": charges})
# tdpd: any number of concentrations, with and without image flags
for count in (0, 1, 2, 3, 9, 11):
    for flags in ((), images.T):
        species = random.random((n, count))
        reported = converted(put("tdpd.data", plain + section("Atoms # tdpd", ids, types, *places.T, *species.T, *flags)), "tdpd.bat")
        assert f"{count} concentrations (cc), {'and' if len(flags) else 'without'} image flags" in reported, reported
        own = {"cc": species} if 2 <= count <= 9 else {f"cc[{i + 1}]": species[:, i] for i in range(count)}
        same("tdpd.bat", places, {**base, **own, **(images_of(images) if len(flags) else {})})
converted(put("none.data", "no atoms\n\n0 atoms\n0 1 xlo xhi\n"), "none.bat")
with parabat.open("none.bat") as dataset:
    assert len(dataset) == 0 and "id" in dataset.attributes, dataset
for name, content, says in (
        ("style", plain + section("Atoms", ids, types, charges, *places.T), ["does not name its atom style", "have 6 values", "--columns full"]),
        ("unknown", plain + section("Atoms # foo", ids, types, *places.T), ["atom style 'foo'", "--columns"]),
        ("width", plain + section("Atoms # full", ids, types, *places.T), ["rows have 5 values", "are 7, or 10 with image flags"]),
        ("cut", plain + section("Atoms # charge", ids, types, charges, *places.T)[:-200], ["section Atoms"]),
        ("cut_velocities", text[:text.index("Bonds") - 100], ["section Velocities"]),
        ("cut_bonds", text[:-10], ["section Bonds: ends after 1 of 2 lines"]),
        ("no_bonds", text[:text.index("Bonds\n")], ["claims 2 bonds, but has no section Bonds"]),
        ("claim", text.replace(f"{n} atoms", "99999999999 atoms"), ["Atoms: claims 99999999999 atoms"]),
        ("no_atoms", plain, ["has no section Atoms"]), ("word", text.replace(repr(places[3, 1]), "five", 1), ["'five' in column 'y'"]),
        ("others", text.replace(velocities, section("Velocities", ids + 1, *speeds.T)), ["its ids are not those of section Atoms"]),
        ("header", text.replace("0 4 ylo yhi", "0 four ylo yhi"), ["'0 four ylo yhi' is not a line of the header"]),
        ("more", text.replace("Velocities", "77 1 1 0 1 1 1 0 0 0\n\nVelocities", 1), ["'77' after the 40 lines of a section"])):
    refused(put(f"{name}.data", content), "bad.bat", says=[f"{name}.data: ", *says])
try:
    convert(["style.data"], "bad.bat", columns=["x", "y", "z", "w"])
    raise AssertionError("4 names were taken")
except ConvertError as error:
    assert "rows have 6 values" in str(error), error


# --- dump yaml
def document(number, names, rows, box="  - [ 0, 1 ]\n  - [ 0, 2 ]\n  - [ -1, 3 ]\n", before="", count=None):
    return (f"---\ncreator: LAMMPS\ntimestep: {number}\n{before}natoms: {len(rows) if count is None else count}\nboundary: [ p, p, f, s, m, m, ]\n"
            f"thermo:\n  - keywords: [ Step, Temp, ]\n  - data: [ 0, 300, ]\nbox:\n{box}keywords: [ {', '.join(names)},  ]\ndata:\n"
            + "".join("  - [ " + " , ".join(map(str, row)) + ", ]\n" for row in rows) + "...\n")


table = random.normal(size=(300, 6)) * 10.0 ** random.integers(-300, 300, (300, 6))
rows = [(2 ** 53 + i, ["O", "Cu"][i % 2], *row) for i, row in enumerate(table.tolist())]
names = ["id", "element", "x", "y", "z", "vx", "vy", "vz"]
tilted = "  - [ 0, 10.08 ]\n  - [ -1.4400000000000002, 7.2 ]\n  - [ 0, 7.2 ]\n  - [ 1.8, 1.08, -1.4400000000000002 ]\n"
text = document(100, names, rows, before="units: metal\ntime: 0.125\n") + document(200, names, [], before="units: metal\ntime: 0.25\n") + document(
    300, names, rows[:7], tilted, "units: metal\ntime: 0.375\n")
put("some.yaml", text)
for block in (streams.BLOCK, 1000):
    whole, streams.BLOCK = streams.BLOCK, block
    converted("some.yaml", "yaml.bat")
    streams.BLOCK = whole
    for i, count in enumerate((300, 0, 7)):
        element = np.arange(count, dtype="i4") % 2
        metadata = json.loads(same(f"yaml_{i:04}.bat", table[:count, :3], {
            "id": 2 ** 53 + np.arange(count), "element": 1 - element, "v": table[:count, 3:]}, time=0.125 * (i + 1), step=100 * (i + 1)))
        assert metadata["units"]["time"] == "ps" and metadata["lammps"]["box"]["boundary"] == "pp fs mm", metadata
assert metadata["lammps"]["box"]["edges"][2] == [1.08, -1.4400000000000002, 7.2], metadata
converted("some.yaml", "last.bat", "--steps", "2", "--arrays", "id")
same("last.bat", table[:7, :3], {"id": 2 ** 53 + np.arange(7)}, time=0.375, step=300)
alike_in_parts(put("parts.yaml", document(1, ["id", "x", "y", "z"], [(i, i / 7, 0, 1) for i in range(30000)])))
for name, content, says in (
        ("cut", text[:text.rindex("  - [")] + "\n", ["timestep 300"]), ("cut_row", text[:text.rindex(",") - 30], ["timestep 300, line"]),
        ("claim", document(5, names, rows, count=10 ** 12), ["claims 1000000000000 atoms"]),
        ("more", document(5, names, rows, count=299) + document(6, names, rows), ["is not part of a LAMMPS yaml dump", "more lines than atoms"]),
        ("fewer", document(5, names, rows, count=301) + document(6, names, rows), ["timestep 5, line"]),
        ("word", document(5, ["id", "x", "y", "z"], [(1, 2, "three", 4)]), ["'three' in column 'y'"]),
        ("number", text.replace("timestep: 100", "timestep: 1e2"), ["'1e2' is not a 64-bit number for timestep"]),
        ("box", text.replace("  - [ 0, 2 ]\n", "", 1), ["its box has rows of"])):
    refused(put(f"{name}.yaml", content), "bad.bat", says=[f"{name}.yaml: ", *says])

# --- AtomEye: extended, as LAMMPS writes it, and standard
CELL = "Number of particles = {n}\nA = {a} Angstrom (basic length-scale)\n" + "".join(
    f"H0({i + 1},{j + 1}) = {value} A\n" for i, row in enumerate(((7, 0, 0), (1.5, 6, 0), (-1, 0.25, 8))) for j, value in enumerate(row))
fractions, extra = random.random((9, 3)), random.normal(size=(9, 4))
expected = np.stack([fractions[:, 0] * h[0] + fractions[:, 1] * h[1] + fractions[:, 2] * h[2] for h in ((7, 1.5, -1), (0, 6, 0.25), (0, 0, 8))], axis=1)
rows = [" ".join(map(repr, [*fractions[i].tolist(), *extra[i].tolist(), i + 1])) + "\n" for i in range(9)]
extended = (CELL.format(n=9, a=1) + ".NO_VELOCITY.\nentry_count = 8\nauxiliary[0] = vx [A/ps]\nauxiliary[1] = vy\nauxiliary[2] = vz\nauxiliary[3] = pe [eV]\n"
            "auxiliary[4] = id\n63.5\nCu\n" + "".join(rows[:5]) + "16 \nO \n" + "".join(rows[5:]))
converted(put("extended.cfg", extended), "cfg.bat")
metadata = json.loads(same("cfg.bat", expected, {"mass": np.repeat([63.5, 16], [5, 4]), "element": np.repeat(np.array([0, 1], "i4"), [5, 4]),
                                                 "v": extra[:, :3], "pe": extra[:, 3], "id": np.arange(9) + 1}))
assert metadata["cfg"]["cell"] == [[7, 0, 0], [1.5, 6, 0], [-1, 0.25, 8]] and metadata["units"] == {"positions": "angstrom", "vx": "A/ps", "pe": "eV"}, metadata
standard = "# by hand\n" + CELL.format(n=9, a=2.5) + "R = 1.0 [ns^-1]\n" + "".join(
    f"1.5 H {' '.join(map(repr, [*fractions[i].tolist(), *extra[i, :3].tolist()]))}\n" for i in range(9))
assert "'ds' contains time derivatives" in converted(put("standard", standard), "cfg.bat", "--format", "cfg")
with parabat.open("cfg.bat") as dataset:
    found = dataset.read()
    places_of = {tuple(place): tuple(rate) for place, rate in zip((2.5 * expected).tolist(), extra[:, :3].tolist())}
    assert {tuple(place): tuple(rate) for place, rate in zip(found.positions.tolist(), found["ds"].tolist())} == places_of
for name, content, says in (
        ("cut", extended[:-200], ["of 9 atoms"]), ("cut_row", extended[:-30], ["values instead of 8"]),
        ("cell", extended.replace("H0(2,2) = 6 A\n", ""), ["not all of H0(1,1)"]), ("mass", extended.replace("63.5\nCu\n", ""), ["without preceding lines with its mass"]),
        ("strain", extended.replace("A = 1 ", "Transform(1,1) = 1\nTransform(1,2) = 0.5\nA = 1 "), ["'Transform(1,2) = 0.5': a cell that is"]),
        ("claim", extended.replace("particles = 9", "particles = 99999999999"), ["claims 99999999999 atoms"]),
        ("word", extended.replace(repr(extra[2, 1]), "x"), ["'x' in column 'vy'"])):
    refused(put(f"{name}.cfg", content), "bad.bat", says=[f"{name}.cfg: ", *says])

# --- LAMMPS itself
if len(sys.argv) > 1:
    put("in.run", """
units metal
atom_style hybrid full sphere
lattice fcc 3.6
region box prism 0 3 0 3 0 3 0.5 0.3 -0.4
create_box 2 box
create_atoms 1 box
set group all type/fraction 2 0.5 12
set group all diameter 1.5 density 2.5 charge 0.125
set type 2 mol 7
mass * 60
pair_style lj/cut 5
pair_coeff * * 0.1 2.5
velocity all create 300 1 dist gaussian
dump text all custom 10 run.dump id type x y z vx vy vz q ix iy iz mol mass
dump_modify text format float %.17g sort id
dump cfg all cfg 10 run.*.cfg mass type xs ys zs id vx vy vz q
dump_modify cfg element Cu O format float %.17g
fix 1 all nve
run 10
write_data run.data nocoeff
""")
    subprocess.run([*sys.argv[1:], "-in", "in.run", "-log", "none"], check=True, stdout=subprocess.DEVNULL)
    converted("run.dump", "run.bat", "--steps", "1")
    converted("run.data", "written.bat", "--columns", "hybrid full sphere")
    converted("run.10.cfg", "eye.bat")
    opened = [parabat.open(name) for name in ("run.bat", "written.bat", "eye.bat")]
    run, written, eye = (dataset.read() for dataset in opened)
    first, second, third = (np.argsort(each["id"]) for each in (run, written, eye))
    assert opened[1].step == 10 and len(first) == len(second) == len(third) == 108
    for name in ("type", "q", "mol", "v"):
        assert run[name].dtype == written[name].dtype and (run[name][first] == written[name][second]).all(), name
    assert (written["diameter"] == 1.5).all() and (written["density"] == 2.5).all()
    assert {name: np.unique(written["omega"]).tolist() for name in ("omega",)} == {"omega": [0]}
    boxes = [about(name)[0]["lammps"]["box"] for name in ("run.bat", "written.bat")]
    assert np.allclose(boxes[0]["edges"], boxes[1]["edges"], 1e-14, 1e-14) and boxes[0]["origin"] == boxes[1]["origin"], boxes
    flat = [each.positions + np.stack([each[axis] for axis in ("ix", "iy", "iz")], axis=1) @ np.array(boxes[0]["edges"]) for each in (run, written)]
    assert abs(flat[0][first] - flat[1][second]).max() < 1e-13  # write_data puts atoms back into the box
    # The cell of dump cfg has six digits.
    assert abs(run.positions[first] - eye.positions[third]).max() < 1e-4 and (run["v"][first] == eye["v"][third]).all()
    assert np.allclose(eye["mass"], run["mass"][0], 1e-5) and (eye["element"][third] == run["type"][first] - 1).all()
