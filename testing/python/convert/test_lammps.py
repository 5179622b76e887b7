# SPDX-License-Identifier: BSD-3-Clause
"""LAMMPS dumps become datasets, exact to the last bit: compared with the data of this test and, if lmp is
installed, with LAMMPS's own dumps of one run in all kinds."""

import bz2
import gzip
import json
import lzma
import os
import shutil
import struct
import subprocess
import sys

import numpy as np
import parabat
from support import converted, equal, put, refused, same

random = np.random.default_rng(5)
BIG = 2 ** 53 + 1


def dump(number, names, rows, box="BOX BOUNDS pp pp ff\n0 1\n0 2\n-1 3\n", before="", count=None):
    return (f"{before}ITEM: TIMESTEP\n{number}\nITEM: NUMBER OF ATOMS\n{len(rows) if count is None else count}\n"
            f"ITEM: {box}ITEM: ATOMS {names} \n" + "".join(" ".join(row) + " \n" for row in rows))


def atoms(n, columns):
    """Values of one column each: ids beyond 2^53 in any order, types, and numbers of all sizes."""
    values = {}
    for name in columns:
        if name == "id":
            values[name] = BIG + random.permutation(n)
        elif name in ("type", "ix"):
            values[name] = random.integers(-4, 4, n)
        else:
            values[name] = random.normal(size=n) * 10.0 ** random.integers(-300, 300, n)
    return values


def rows_of(values):
    texts = [[repr(value) for value in column.tolist()] for column in values.values()]
    return list(zip(*texts))


# All columns, several steps of different sizes, times and units; compressed, and by several processes.
names = "id type x y z vx vy vz q ix c_a[1] c_a[2] i_flag".split()
taken = []
text = ""
for number, n in ((0, 1000), (2 ** 40, 1), (2 ** 41, 0), (2 ** 42, 2500)):
    values = atoms(n, names)
    values["i_flag"] = values["ix"]
    taken.append((number, values))
    text += dump(number, " ".join(names), rows_of(values),
                 before=("ITEM: UNITS\nmetal\n" if number == 0 else "") + f"ITEM: TIME\n{number / 8}\n")
put("all.lammpstrj", text)
for name, pack in (("all.gz", gzip.compress), ("all.bz2", bz2.compress), ("all.xz", lzma.compress)):
    put(name, pack(text.encode()))


def check(stem):
    for i, (number, values) in enumerate(taken):
        expected = {name: values[name] for name in ("id", "type", "q", "ix", "i_flag")}
        expected["v"] = np.stack([values[name] for name in ("vx", "vy", "vz")], axis=1)
        expected["c_a"] = np.stack([values[name] for name in ("c_a[1]", "c_a[2]")], axis=1)
        positions = np.stack([values[name] for name in "xyz"], axis=1)
        about = json.loads(same(f"{stem}_{i:04}.bat", positions, expected, time=number / 8, step=number))["lammps"]
        assert about["units"] == "metal" and about["box"]["boundary"] == "pp pp ff", about
        assert about["box"]["origin"] == [0, 0, -1] and about["box"]["edges"] == [[1, 0, 0], [0, 2, 0], [0, 0, 4]], about
    with open(f"{stem}.bat.series", encoding="utf-8") as file:
        listed = json.load(file)["files"]
    assert [(each["name"], each["time"]) for each in listed] == [
        (f"{stem}_{i:04}.bat", number / 8) for i, (number, _) in enumerate(taken)], listed


assert converted("all.lammpstrj", "a.bat") == ""
check("a")
for end in ("gz", "bz2", "xz"):
    converted(f"all.{end}", f"{end}.bat", "--jobs", 1 + len(end))
    check(end)
converted("all.lammpstrj", "j.bat", "--jobs", 3)
check("j")
converted("all.lammpstrj", "one.bat", "--steps", "-1", "--arrays", "id,v")
assert os.path.exists("one.bat") and not os.path.exists("one.bat.series")
values = taken[3][1]
same("one.bat", np.stack([values[name] for name in "xyz"], axis=1), {
    "id": values["id"], "v": np.stack([values[name] for name in ("vx", "vy", "vz")], axis=1)}, time=2 ** 39, step=2 ** 42)
converted("all.lammpstrj", "two.bat", "--steps", "1:4:2")
assert [name for name in sorted(os.listdir(".")) if name.startswith("two")] == [
    "two.bat.series", "two.vtkhdf.series", "two_0001.bat", "two_0003.bat"]

# Blocks of a few lines, and more rows than announced.
from parabat.convert import streams  # pylint: disable=wrong-import-position
from parabat.convert.formats import lammps  # pylint: disable=wrong-import-position
whole, streams.BLOCK = streams.BLOCK, 3000
grown, lammps.GROW = lammps.GROW, 7
converted("all.lammpstrj", "b.bat")
check("b")
converted("all.gz", "c.bat")
check("c")
converted("all.gz", "d.bat", "--steps", "3")
same("d.bat", np.stack([values[name] for name in "xyz"], axis=1), {
    "id": values["id"], "type": values["type"], "q": values["q"], "ix": values["ix"], "i_flag": values["i_flag"],
    "v": np.stack([values[name] for name in ("vx", "vy", "vz")], axis=1),
    "c_a": np.stack([values[name] for name in ("c_a[1]", "c_a[2]")], axis=1)}, time=2 ** 39, step=2 ** 42)
streams.BLOCK, lammps.GROW = whole, grown

# Components are adjacent as parsed, so that none is copied; the results of take() do not change.
from parabat.convert import Options  # pylint: disable=wrong-import-position
first = next(lammps.steps("all.lammpstrj", Options())).read()[0]
assert all(first.attributes[name].base.shape == (1000, count) and first.attributes[name].flags.c_contiguous
           for name, count in (("v", 3), ("c_a", 2))), first.attributes
with streams.Stream("all.lammpstrj") as stream:
    streams.BLOCK = 100
    pieces = []
    for _ in range(20):
        pieces += [stream.take(50), stream.peek(30)]
        stream.skip(30)
    pieces.append(stream.take(250))
    streams.BLOCK = whole
    assert b"".join(pieces) == text.encode()[:1850]

# Scaled coordinates in tilted boxes of both kinds, and unwrapped ones: reported.
fractions = random.random((50, 3))
ids = np.arange(50)
rows = [(str(i), *map(repr, row)) for i, row in zip(ids, fractions.tolist())]
tilted = "BOX BOUNDS xy xz yz pp pp pp\n-1.5 12 1.5\n0 10 -1.25\n2 9 0.5\n"
put("scaled.dump", dump(7, "id xs ys zs", rows, tilted))
assert "scaled coordinates" in converted("scaled.dump", "scaled.bat")
low = [-1.5 - min(0, 1.5, -1.25, 0.25), 0, 2]
high = [12 - max(0, 1.5, -1.25, 0.25), 10 - 0.5, 9]
x = low[0] + fractions[:, 0] * (high[0] - low[0]) + fractions[:, 1] * 1.5 + fractions[:, 2] * -1.25
y = low[1] + fractions[:, 0] * 0.0 + fractions[:, 1] * (high[1] - low[1]) + fractions[:, 2] * 0.5
z = low[2] + fractions[:, 0] * 0.0 + fractions[:, 1] * 0.0 + fractions[:, 2] * (high[2] - low[2])
same("scaled.bat", np.stack([x, y, z], axis=1), {"id": ids, "xs": fractions[:, 0], "ys": fractions[:, 1],
                                                 "zs": fractions[:, 2]}, step=7)
general = "BOX BOUNDS abc origin pp pp pp\n1 2 3 10\n-4 5 6 20\n7 8 -9 30\n"
put("general.dump", dump(7, "id xsu ysu zsu", rows, general))
assert "scaled and unwrapped" in converted("general.dump", "general.bat")
a, b, c = np.array([[1, 2, 3], [-4, 5, 6], [7, 8, -9.0]])
expected = np.array([10, 20, 30.0]) + fractions[:, :1] * a + fractions[:, 1:2] * b + fractions[:, 2:] * c
same("general.bat", expected, {"id": ids, "xsu": fractions[:, 0], "ysu": fractions[:, 1], "zsu": fractions[:, 2]}, step=7)
put("unwrapped.dump", dump(7, "id xu yu zu xs ys zs", [row + row[1:] for row in rows]))
assert "unwrapped coordinates xu yu zu" in converted("unwrapped.dump", "unwrapped.bat")
same("unwrapped.bat", fractions, {"id": ids, "xs": fractions[:, 0], "ys": fractions[:, 1], "zs": fractions[:, 2]}, step=7)
converted("unwrapped.dump", "chosen.bat", "--columns", "xu,yu,none", "--arrays", "id,zu")
same("chosen.bat", fractions * [1, 1, 0], {"id": ids, "zu": fractions[:, 2]}, step=7)

# Texts, numbers with fractions where integers are usual, infinities.
put("texts.dump", dump(0, "id element x y z type", [
    ("1", "O", "1", "2", "3", "1"), ("2", "H", "inf", "nan", "-1e-320", "1.5"), ("3", "H", "+1", "2.", ".5", "7")]))
reported = converted("texts.dump", "texts.bat")
assert "'element' is converted to numbers" in reported and "'type' contains '1.5' and becomes float64" in reported, reported
about = same("texts.bat", np.array([[1, 2, 3], [np.inf, np.nan, -1e-320], [1, 2, 0.5]]), {
    "id": np.array([1, 2, 3]), "element": np.array([1, 0, 0], "i4"), "type": np.array([1, 1.5, 7])}, step=0)
assert json.loads(about)["lammps"]["texts"] == {"element": ["H", "O"]}, about


# Binary dumps in both byte orders and with several pieces.
def binary(number, names, table, order="<", time=None, units="", pieces=3, magic=b"DUMPCUSTOM", width=None, count=None,
           tilt=None):
    n, columns = table.shape
    numbers = struct.pack(order + "q", -len(magic)) + magic + struct.pack(
        order + "iiqqi6i6d", 1, 2, number, n if count is None else count, 0 if tilt is None else 1, 0, 0, 0, 1, 2, 3,
        0, 1, 0, 2, -1, 3)
    if tilt:
        numbers += struct.pack(order + "3d", *tilt)
    numbers += struct.pack(order + "ii", columns if width is None else width, len(units)) + units.encode()
    numbers += b"\0" if time is None else b"\1" + struct.pack(order + "d", time)
    numbers += struct.pack(order + "i", len(names)) + names.encode() + struct.pack(order + "i", pieces)
    for piece in np.array_split(table, pieces):
        numbers += struct.pack(order + "i", piece.size) + piece.astype(order + "f8").tobytes()
    return numbers


table = random.normal(size=(100, 6)) * 10.0 ** random.integers(-300, 300, (100, 6))
table[:, 0] = random.permutation(100) + 2 ** 52
table[:, 1] = random.integers(1, 5, 100)
expected = {"id": table[:, 0].astype("i8"), "type": table[:, 1].astype("i8"), "q": table[:, 5]}
for order in "<>":
    put("two.bin", binary(3, "id type x y z q", table, order, 0.5, "lj") + binary(4, "id type x y z q", table[:40], order,
                                                                               pieces=1))
    converted("two.bin", f"bin{ord(order)}.bat")
    same(f"bin{ord(order)}_0000.bat", table[:, 2:5], expected, time=0.5, step=3)
    about = same(f"bin{ord(order)}_0001.bat", table[:40, 2:5], {k: v[:40] for k, v in expected.items()}, step=4)
    assert json.loads(about)["lammps"]["box"]["boundary"] == "pp pf sm", about
    converted("two.bin", "last.bat", "--steps", "1")
    same("last.bat", table[:40, 2:5], {k: v[:40] for k, v in expected.items()}, step=4)
    streams.BLOCK = 1000  # less than a piece
    converted("two.bin", "pieces.bat", "--steps", "0")
    same("pieces.bat", table[:, 2:5], expected, time=0.5, step=3)
    streams.BLOCK = whole

# A column whose name suggests ids has one type in all steps.
tags = np.column_stack([table[:, :5], np.arange(100)])
for shift, kind in ((0, "i8"), (0.5, "f8")):
    put("tags.bin", binary(0, "id type x y z c_tag", tags) + binary(1, "id type x y z c_tag", tags + [0, 0, 0, 0, 0, shift]))
    reported = converted("tags.bin", "tags.bat")
    assert ("'c_tag' has fractions" in reported) == bool(shift), reported
    for step in (0, 1):
        same(f"tags_000{step}.bat", table[:, 2:5], {"id": expected["id"], "type": expected["type"],
                                                    "c_tag": (np.arange(100) + step * shift).astype(kind)}, step=step)

# Each fault is reported in one line, and no file is left.
good = dump(0, "id x y z", [("1", "1", "2", "3"), ("2", "4", "5", "6")])
for name, content, says in (
        ("cut", good.replace("1 1 2 3", "1 1.125 2.125 3.125")[:-4], ["line 11", "3 values instead of 4"]),
        ("cut_line", good[:good.index("2 4")], ["claims 2 atoms", "truncated or damaged"]),
        ("cut_second", good + dump(5, "id x y z", [("1", "1.25", "2.25", "3.25")] * 30)[:-36], ["timestep 5", "ends after 28"]),
        ("cut_header", good + "ITEM: TIMESTEP\n5\nITEM: NUM", ["line 14", "ITEM: NUM"]),
        ("more", good.replace("ATOMS\n2", "ATOMS\n1"), ["instead of an ITEM", "more lines than atoms"]),
        ("fewer", good.replace("ATOMS\n2", "ATOMS\n3") + good, ["'ITEM: TIMESTEP' after 2 of 3 atoms"]),
        ("word", good.replace("4 5 6", "4 five 6"), ["line 11", "'five' in column 'y' is not a valid number"]),
        ("huge", good.replace("4 5 6", "4 1e999 6"), ["'1e999' in column 'y' is not a valid number"]),
        ("id", good.replace("2 4 5", "99999999999999999999 4 5"), ["is not a valid integer of 64 bits"]),
        ("wide", good.replace("4 5 6", "4 5 6 7"), ["5 values instead of 4"]),
        ("billions", good.replace("ATOMS\n2", "ATOMS\n9000000000000"), ["claims 9000000000000 atoms"]),
        ("negative", good.replace("ATOMS\n2", "ATOMS\n-2"), ["-2 atoms"]),
        ("twice", good.replace("id x y z", "id x y x"), ["no positions", "'x_2'"]),
        ("no_positions", good.replace("id x y z", "id a b c"), ["no positions", "'a', 'b', 'c'"]),
        ("local", good.replace("ATOMS", "ENTRIES"), ["NUMBER OF ENTRIES", "only atoms have positions"]),
        ("no_box", good.replace("ITEM: BOX BOUNDS pp pp ff\n0 1\n0 2\n-1 3\n", ""), ["without BOX BOUNDS"])):
    refused(put(f"{name}.dump", content), "bad.bat", says=[f"{name}.dump: ", *says])
    refused(put(f"{name}.dump.gz", gzip.compress(content.encode())), "bad.bat", *(["--jobs", "2"] if name == "cut_second" else []),
            says=[f"{name}.dump.gz: "])
refused(put("cut.gz", gzip.compress(text.encode())[:-2000]), "bad.bat", says=["cannot be decompressed"])
refused(put("billions.gz", gzip.compress(good.replace("ATOMS\n2", "ATOMS\n9000000000000").encode())), "bad.bat",
        says=["ends after 2 of 9000000000000 atoms"])
step = binary(3, "id type x y z q", table)
for name, content, says in (
        ("cut", step[:-80], ["claims 100 atoms", "truncated or damaged"]),
        ("cut_value", step[:-1], ["ends at byte"]),
        ("cut_header", step[:60], ["within"]),
        ("second", step + step[:-99], ["truncated or damaged"]),
        ("garbage", step + b"123", ["expected a step of a binary dump"]),
        ("width", binary(3, "id type x y z q", table, width=7), ["7 values for each atom, but 6 names"]),
        ("billions", binary(3, "id type x y z q", table, count=2 ** 60), ["claims 1152921504606846976 atoms"]),
        ("fewer", binary(3, "id type x y z q", table, count=99), ["a piece has"])):
    refused(put(f"{name}.bin", content), "bad.bat", says=[f"{name}.bin: ", *says])
# With a pattern, complete steps remain and are reported; nothing is left of the bad file.
shutil.copy("all.lammpstrj", "p1.dump")
put("p2.dump", text[:-3000])
put("p3.dump", good)
for jobs in ("1", "2"):
    before = set(os.listdir("."))
    from support import command  # pylint: disable=wrong-import-position
    code, _, err = command("p*.dump", "p.bat", "--jobs", jobs)
    assert code == 3 and "error: p2.dump: timestep" in err, err
    left = sorted(set(os.listdir(".")) - before)
    assert all(name in [f"p_000{i}.bat" for i in range(4)] for name in left), left
    assert not any(".tmp" in name or "leaves" in name for name in left), left
    if jobs == "1":
        assert len(left) == 4 and "4 datasets of other inputs are complete and kept: p_0000.bat ... p_0003.bat" in err, err
    for name in left:
        os.unlink(name)
refused("nothing*.dump", "bad.bat", says=["none matches the pattern"])
refused("all.lammpstrj", "folder/that/is/not/there.bat", says=["does not exist"])
refused("all.lammpstrj", "bad.bat", "--arrays", "mass", says=["unknown attribute 'mass'", "'q'"])
refused("all.lammpstrj", "bad.bat", "--species", "H", says=["has no species names"])
refused("all.lammpstrj", "bad.bat", "--map", "a=b", says=["--map", "does not support it"])
refused("all.lammpstrj", "bad.txt", code=2, says=["must end in .bat"])
refused("all.lammpstrj", "bad.bat", "--steps", "9:", says=["no steps selected by --steps"])
put("input.bat", good)
refused("input.bat", "input.bat", says=["is an input and cannot be overwritten"])

if len(sys.argv) > 1:
    SCRIPT = """
units metal
atom_style charge
lattice fcc 3.6
region box prism 0 3 0 3 0 3 0.5 0.3 -0.4
create_box 2 box
create_atoms 1 box
set group all type/fraction 2 0.5 12
mass * 60
pair_style lj/cut 5
pair_coeff * * 0.1 2.5
velocity all create 300 1 dist gaussian
dump text all custom 5 run.dump id type x y z vx vy vz q ix iy iz
dump_modify text format float %.17g time yes units yes sort id
dump gz all custom/gz 5 run.dump.gz id type x y z vx vy vz q ix iy iz
dump_modify gz format float %.17g time yes units yes
dump binary all custom 5 run.bin id type x y z vx vy vz q ix iy iz
dump_modify binary time yes units yes
dump each all custom 5 run.*.bin id type x y z vx vy vz q ix iy iz
dump scaled all custom 5 scaled.lammpstrj id xs ys zs
dump_modify scaled format float %.17g
fix 1 all nve
run 10
"""
    if subprocess.run([sys.argv[1], "-h"], capture_output=True, check=False).stdout.find(b"custom/gz") < 0:
        SCRIPT = "\n".join(line for line in SCRIPT.splitlines() if " gz " not in line)
    put("in.run", SCRIPT)
    subprocess.run([*sys.argv[1:], "-in", "in.run", "-log", "none"], check=True, stdout=subprocess.DEVNULL)
    with open("run.dump", encoding="utf-8") as file:
        lines = file.read().split("\n")
    starts = [i for i, line in enumerate(lines) if line.startswith("ITEM: ATOMS")]
    kinds = ["run.dump", "run.bin", "run.*.bin"] + ["run.dump.gz"] * os.path.exists("run.dump.gz")
    for number, name in enumerate(kinds):
        converted(name, f"run{number}.bat")
        for i, start in enumerate(starts):
            words = [line.split() for line in lines[start + 1:start + 109]]
            column = {key: np.array([float(row[j]) for row in words])
                      for j, key in enumerate("id type x y z vx vy vz q ix iy iz".split())}
            expected = {key: column[key].astype("i8") for key in ("id", "type", "ix", "iy", "iz")}
            expected.update(q=column["q"], v=np.stack([column[key] for key in ("vx", "vy", "vz")], axis=1))
            same(f"run{number}_{i:04}.bat", np.stack([column[key] for key in "xyz"], axis=1), expected, step=5 * i,
                 time=None if "*" in name else 5 * i * 0.001)
    converted("scaled.lammpstrj", "from_scaled.bat")
    for i in range(3):  # LAMMPS divides by the box, and we multiply again: as close as doubles allow
        with parabat.open(f"from_scaled_{i:04}.bat") as one, parabat.open(f"run0_{i:04}.bat") as other:
            found, expected = one.read(["id"]), other.read(["id"])
        found, expected = (each.positions[np.argsort(each["id"])] for each in (found, expected))
        assert abs(found - expected).max() < 1e-13 * abs(expected).max(), i
# Integers that a column with fractions cannot represent are not changed; elsewhere this is
# reported.
for rows in ([[str(BIG), "1", "2", "3"], ["1.5", "4", "5", "6"]], [["1e3", "1", "2", "3"], [str(BIG), "4", "5", "6"]]):
    put("mixed.dump", dump(1, "id x y z", rows))
    refused("mixed.dump", "bad.bat", says=["column 'id'", str(BIG), "no type can represent"])
put("tags.dump", dump(1, "id c_tag x y z", [["1", str(BIG + 2), "1", "2", "3"], ["2", "0.5", "4", "5", "6"]]))
assert "rounds " + str(BIG + 2) in converted("tags.dump", "tags.bat")
put("tags.dump", dump(1, "id v_tag ParticleIDs c_q x y z", [[str(i), str(BIG + i), str(-i), str(i), "1", "2", str(i)] for i in (1, 2)]))
assert converted("tags.dump", "tags.bat") == ""
same("tags.bat", np.array([[1.0, 2, 1], [1, 2, 2]]), {"id": np.array([1, 2]), "v_tag": np.array([BIG + 1, BIG + 2]),
                                                      "ParticleIDs": np.array([-1, -2]), "c_q": np.array([1.0, 2])}, step=1)

# Steps without particles have the columns of the others; for a table without rows, the types are unknown.
put("late.lammpstrj", "".join(dump(step, "id type x y z vx", rows) for step, rows in enumerate(
    ([], [["7", "1", "0.5", "0.5", "0.5", "1.5"]], []))))
converted("late.lammpstrj", "late.bat")
for step, rows in enumerate(("", "1,2,3,7,2\n", "")):
    put(f"late_{step}.csv", "x,y,z,id,kind\n" + rows)
converted("late_0.csv", "late_1.csv", "late_2.csv", "table.bat")
for name, expected in (("late", ["id", "type", "vx"]), ("table", ["id", "kind"])):
    for step in range(3):
        with parabat.open(f"{name}_{step:04}.bat") as one:
            one.validate()
            assert len(one) == step % 2 and list(one.attributes) == expected, (name, step, one)
    trails = parabat.follow([f"{name}_{step:04}.bat" for step in range(3)], [7], expected[1:2])
    assert trails[expected[1]].dtype.kind == "i" and trails[expected[1]].mask.ravel().tolist() == [True, False, True], trails
