# SPDX-License-Identifier: BSD-3-Clause
"""Tables of text: missing values, decimal commas, Fortran exponents, comments, columns without names, and columns with
times and step numbers, against values by hand and against the csv module."""

import csv
import glob
import json
import os
import pathlib
import re
import shutil
import signal

import numpy as np
import parabat
from parabat.convert import convert, rows_by_step, text_tables
import support
from support import command, converted, in_small_parts, put, refused

CASES = pathlib.Path(__file__).parents[2] / "data" / "cases"
BIG = 2 ** 53 + 1  # no double


def f8(*values):
    return np.array(values, "f8")


def i8(*values):
    return np.array(values, "i8")


def same(path, positions, attributes, **options):
    return support.same(path, np.array(positions, "f8").reshape(-1, 3), attributes, **options)


def listed(name):
    """(file, time) of each entry of a list."""
    with open(name, encoding="utf-8") as file:
        return [(entry["name"], entry["time"]) for entry in json.load(file)["files"]]


def table(text, **options):
    """Columns, and the words of the remarks, of a text."""
    put("some.txt", text)
    found = []
    for parts in (1, 2, 5):
        layout = text_tables.look("some.txt", **options)
        shares = [text_tables.Share("some.txt", layout, part, parts) for part in range(parts)]
        types, remarks = text_tables.agree(layout, [share.facts for share in shares])
        columns = [share.columns(types) for share in shares]
        columns = {name: np.concatenate([each[name] for each in columns]) for name in types}
        found.append((columns, [words for _, words in remarks]))
    for columns, remarks in found[1:]:
        assert remarks == found[0][1], (remarks, found[0][1])
        equal(columns, found[0][0])
    return found[0]


def equal(found, expected):
    assert list(found) == list(expected), (list(found), list(expected))
    for name, values in expected.items():
        assert found[name].dtype == values.dtype, (name, found[name].dtype, values.dtype)
        assert found[name].tobytes() == values.tobytes(), (name, found[name], values)


# --- Tables without positions

for text, says in (("x;y;z;v\n1.234,5;2,5;3;1\n1,5;2,5;4;2\n", ["not numeric: 'x' ('1.234,5' ...)"]),
                   ("time,particle,x,y\n0,1,1,2\n0,2,3,4\n1,1,5,6\n", ["--columns x,y,none"]),
                   ("id,x (m),y (m)\n1,2,3\n", ["--columns 'x (m),y (m),none'"]),
                   ("% Dimension: 3\n% x y z  c (mol/m^3) @ t=0 c (mol/m^3) @ t=1\n1 2 3 4 5\n",
                    ["the comment above its rows has 11 names, but there are 5 columns"])):
    refused(put("none.csv", text), "bad.bat", says=["no positions", *says])
converted("none.csv", "plane.bat", "--columns", "Field 0,Field 1,none")
converted(put("none.csv", "id,x (m),y (m)\n1,2,3\n"), "plane.bat", "--columns", "x (m),y (m),none")
same("plane.bat", [(2, 3, 0)], {"id": i8(1)})


# --- Comments among the rows

for sign, delimiter in (("#", " "), ("%", ","), ("#", ",")):
    rows = [f"{i},{BIG + i},0.5".replace(",", delimiter) for i in range(9)]
    rows[3:3] = [f"{sign} 5 6 7", f'  {sign}"{sign}']
    found, remarks = table(f"{sign} id{delimiter}n{delimiter}v\n" + "\n".join(rows) + f"\n{sign}1{delimiter}2{delimiter}3\n")
    equal(found, {"id": i8(*range(9)), "n": i8(*range(BIG, BIG + 9)), "v": f8(*[0.5] * 9)})
    assert remarks == [f"comments among the rows, beginning with {sign}, are skipped: 3"], remarks
reported = converted(put("mid.txt", "# x y z rho\n1 2 3 4\n# 5 6 7 8\n9 9 9 9\n"), "mid.bat")
same("mid.bat", [(1, 2, 3), (9, 9, 9)], {"rho": i8(4, 9)}, key="rho")
assert "comments among the rows, beginning with #, are skipped" in reported, reported
refused(put("mid.txt", "# x y z\n1 2 3\n# 5\n\n1 2\n"), "bad.bat", says=["line 5 has 2 fields"])
refused(put("mid.txt", "x y z\n1 2 3\n# 5 6 7\n"), "bad.bat", says=["line 3 has 4 fields", "looks like a comment"])
refused(put("mid.txt", "x,y,z\n1,2,3\n" + "4,5,6\n" * 1000 + "#5,6,7\n"), "bad.bat", says=["line 1003", "looks like a comment"])
found, _ = table("# colours\ncolour,v\nred,1\n#ff0000,2\n")  # which is a text, instead of a comment
equal(found, {"v": i8(1, 2)})


# --- Missing values

reported = converted(CASES / "na.csv", "na.bat")
same("na.bat", [(1, 2, 3), (4, 5, 6), (7, 8, 9), (10, 11, 12)], {"id": i8(1, 2, 3, 4), "temp": f8(np.nan, 300.5, np.nan, np.nan)})
assert "column 'temp' lacks values, the first in line 2; they become NaN" in reported, reported
for word in ("NA", "N/A", "n/a", "null", "NULL", "None", "-", "--", ".", "", "<NA>"):
    for rows in ((word, "1.5", "2"), ("1", word, "2"), ("3", "2", word), (word, word, "7")):
        found, remarks = table("id,v\n" + "".join(f"{BIG + i},{value}\n" for i, value in enumerate(rows)))
        equal(found, {"id": i8(BIG, BIG + 1, BIG + 2), "v": f8(*(np.nan if value == word else float(value) for value in rows))})
        first = 2 + rows.index(word)
        assert remarks == [f"column 'v' lacks values, the first in line {first}; they become NaN"], (word, remarks)
found, remarks = table("id,v,kind\n1,NA,-\n2,null,a\n")  # no number shows what they are
equal(found, {"id": i8(1, 2), "v": f8(np.nan, np.nan)})
assert any("'kind' ('a' ...)" in each or "'kind' ('-' ...)" in each for each in remarks), remarks
rows = [str(i) if i % 7 else "NA" for i in range(5000)]  # beyond the rows that are looked at first
found, _ = table("v\n" + "1\n" * 5000 + "\n".join(rows))
equal(found, {"v": f8(*[1] * 5000, *(np.nan if each == "NA" else float(each) for each in rows))})
refused(put("bad.csv", "x,y,z\n1,2,3\n4,abc,6\n"), "bad.bat", says=["line 3: 'abc' in column 'y' is not a number"])

# --- Decimal commas

reported = converted(CASES / "euro.csv", "euro.bat")
same("euro.bat", [(1.5, 2.25, 3), (4.5, -5.125, 6)], {"id": i8(1, 2), "Durchmesser": f8(0.001, 0.002)})
assert "decimal commas" in reported, reported
converted(CASES / "euro.csv", "euro.bat", "--decimal", ",", "--delimiter", "semicolon")
same("euro.bat", [(1.5, 2.25, 3), (4.5, -5.125, 6)], {"id": i8(1, 2), "Durchmesser": f8(0.001, 0.002)})
refused(CASES / "euro.csv", "bad.bat", "--decimal", ".", says=["no positions"])
numbers = np.random.default_rng(3).normal(size=3000)
ids = BIG + np.arange(3000)
for delimiter in (";", "\t", " "):
    text = "\n".join([delimiter.join(("id", "a", "b"))] + [
        delimiter.join((str(i), repr(v), f"{v:.6E}")).replace(".", ",") for i, v in zip(ids, numbers.tolist())])
    equal(table(text)[0], {"id": ids, "a": numbers, "b": f8(*(float(f"{float(v):.6E}") for v in numbers))})
equal(table('a,b\n"1,5","-2,25"\n3,"0,125"\n')[0], {"a": f8(1.5, 3), "b": f8(-2.25, 0.125)})
found, remarks = table('a,b\n"1,500","2,345,678"\n1,2\n')  # thousands
assert not found and len(remarks) == 1, (found, remarks)
equal(table("1,5 2,5 3\n4 5 6,5\n")[0], {"Field 0": f8(1.5, 4), "Field 1": f8(2.5, 5), "Field 2": f8(3, 6.5)})
equal(table("1, 2, 3\n")[0], {"Field 0": i8(1), "Field 1": i8(2), "Field 2": i8(3)})
equal(table("a;b\n1;2\n", decimal=",")[0], {"a": i8(1), "b": i8(2)})
late = "x;y;z\n" + "1;2;3\n" * 2000
refused(put("late.csv", late + "1,5;2;3\n"), "bad.bat", says=["line 2002: '1,5'", "--decimal , "])
refused(put("late.csv", late + "1.5;2;3\n"), "bad.bat", "--decimal", ",", says=["line 2002: '1.5'", "--decimal . "])
converted(put("late.csv", late + "1,5;2;3\n"), "late.bat", "--decimal", "comma")

# --- Fortran

equal(table("id x y z\n1 1.0D+00 2.5d-3 -3.0-101\n2 1.D2 .5d0 1.25+101\n")[0],
      {"id": i8(1, 2), "x": f8(1, 100), "y": f8(0.0025, 0.5), "z": f8(-3e-101, 1.25e101)})
text = "\n".join(f"{i} {v:.16E}".replace("E", "D") for i, v in zip(ids, numbers.tolist()))
equal(table(text)[0], {"Field 0": ids, "Field 1": numbers})
text = "i x\n" + "1 2.5\n" * 2000 + "2 3.5D1\n"
equal(table(text)[0], {"i": i8(*[1] * 2000, 2), "x": f8(*[2.5] * 2000, 35)})
refused(put("large.txt", "x y z\n1.0D+400 2 3\n"), "bad.bat", says=["'1.0D+400' in column 'x' exceeds the range"])

# --- Comments, names and units

reported = converted(CASES / "comsol.txt", "comsol.bat")
same("comsol.bat", [(1.5, 2.5, 3.5), (4.5, 5.5, 6.5)], {"cpt.V (m/s)": f8(0.25, 0.125)}, key="cpt.V (m/s)")
assert not reported, reported
for head in ("#", "%", "!", "//", "##", "# a file by us\n#", "# x y z\n#---\n#"):
    text = f"{head} x y z\n1 2 3\n" if "---" not in head else "# x y z\n#-----\n1 2 3\n"
    equal(table(text)[0], {"x": i8(1), "y": i8(2), "z": i8(3)})
equal(table("# x, y, z\n1 2 3\n")[0], {"x": i8(1), "y": i8(2), "z": i8(3)})
equal(table("% X,Y,Z,cpt.V (m/s)\n1,2,3,4\n")[0], {"X": i8(1), "Y": i8(2), "Z": i8(3), "cpt.V (m/s)": i8(4)})
for text in ("x (mm) y (mm) z (mm) v [m/s]\n1 2 3 4\n", "x (mm),y (mm),z (mm),v [m/s]\n1,2,3,4\n"):
    converted(put("units.txt", text), "units.bat")
    metadata = same("units.bat", [(1, 2, 3)], {"v [m/s]": i8(4)}, key="v [m/s]")
    assert json.loads(metadata)["units"] == {"positions": "mm"}, metadata

# --- No names

rows = put("rows.txt", "7 1.5 2 3\n8 4 5 6.5\n")
reported = refused(rows, "bad.bat", says=["no positions", "'Field 0'", "--columns"])
converted(rows, "rows.bat", "--columns", "Field 1,Field 2,Field 3")
same("rows.bat", [(1.5, 2, 3), (4, 5, 6.5)], {"Field 0": i8(7, 8)}, key="Field 0")
reported = converted(put("xyz.txt", "1.5 2 3 7\n4 5 6.5 8\n"), "rows.bat", "--columns", "x,y,z")
same("rows.bat", [(1.5, 2, 3), (4, 5, 6.5)], {"Field 3": i8(7, 8)}, key="Field 3")
assert "the first columns are x, y, z, the others Field 3 ..." in reported, reported
convert([rows], "rows.bat", columns=["id", "x", "y", "z"])
same("rows.bat", [(1.5, 2, 3), (4, 5, 6.5)], {"id": i8(7, 8)})
converted(put("atoms.txt", "He 0.5 1 2\nNe 3 4.5 5\n"), "rows.bat", "--columns", "Field 1,Field 2,Field 3")
with parabat.open("rows.bat") as dataset:
    assert sorted(dataset.read().positions.tolist()) == [[0.5, 1, 2], [3, 4.5, 5]]

# --- Times and steps

reported = converted(CASES / "traj.csv", "traj.bat")
with open(CASES / "traj.csv", encoding="utf-8") as file:
    known = list(csv.DictReader(file))
for step in range(3):
    own = [row for row in known if int(row["frame"]) == step]
    same(f"traj_{step:04}.bat", [[float(row[axis]) for axis in "xyz"] for row in own],
         {name: i8(*(int(row[name]) for row in own)) for name in ("particle", "mass")}, key="particle", step=step)
assert listed("traj.bat.series") == [("traj_0000.bat", 0), ("traj_0001.bat", 1), ("traj_0002.bat", 2)]
assert "3 steps" in reported and "'frame'" in reported and "--time-column none" in reported, reported
converted(CASES / "traj.csv", "kept.bat", "--time-column", "none")
with parabat.open("kept.bat") as dataset:
    assert len(dataset) == 5 and "frame" in dataset.read(), dataset


def series(name, text, steps, *words, unit=None):
    """Converts a table; steps: (time, number, {attribute: values}) of each, with x = id."""
    for each in pathlib.Path().glob(f"{name}*.bat"):
        os.unlink(each)
    reported = converted(put(f"{name}.csv", text), f"{name}.bat", *words)
    found = sorted(str(path) for path in pathlib.Path().glob(f"{name}*.bat"))
    assert len(found) == len(steps), (found, reported)
    for path, (time, number, attributes) in zip(found, steps):
        positions = [(value, 0, 0) for value in attributes["id"].tolist()]
        metadata = same(path, positions, attributes, time=time, step=number)
        assert json.loads(metadata or "{}").get("units", {}).get("time") == unit, metadata
    return reported


# Rows of one time that are not adjacent; times in any order; int64 ids beyond 2^53.
text = "id,t,x,y,z\n" + "".join(f"{BIG + i},{t},{BIG - 1 + 2 * i},0,0\n" for i in range(2) for t in (1.5, 0.25))
converted(put("far.csv", text), "far.bat")
for place, time in enumerate((0.25, 1.5)):
    same(f"far_000{place}.bat", [(BIG - 1, 0, 0), (BIG + 1, 0, 0)], {"id": i8(BIG, BIG + 1)}, time=time)
for name, unit in (("time", None), ("Time", None), ("TIME", None), ("t", None), ("time (s)", "s"), ("Time [ns]", "ns"),
                   ("t (ps)", "ps")):
    reported = series("names", f"{name},id,x,y,z\n0.5,1,1,0,0\n0.5,2,2,0,0\n1,1,1,0,0\n", [
        (0.5, None, {"id": i8(1, 2)}), (1.0, None, {"id": i8(1)})], unit=unit)
    assert f"'{name}'" in reported and "2 steps" in reported, reported
for name in ("step", "Step", "frame", "Frame", "timestep", "TimeStep", "time_step"):
    series("names", f"id,{name},x,y,z\n1,200,1,0,0\n1,100,1,0,0\n2,100,2,0,0\n", [
        (None, 100, {"id": i8(1, 2)}), (None, 200, {"id": i8(1)})])
series("names", "id,frame,x,y,z\n1,2.0,1,0,0\n1,1.0,1,0,0\n2,1.0,2,0,0\n", [
    (None, 1, {"id": i8(1, 2)}), (None, 2, {"id": i8(1)})])
# Both, if the step is the same at each time; else the time alone.
series("both", "id,time,step,x,y,z\n1,0.5,100,1,0,0\n1,1,200,1,0,0\n2,0.5,100,2,0,0\n", [
    (0.5, 100, {"id": i8(1, 2)}), (1.0, 200, {"id": i8(1)})])
reported = series("both", "id,time,step,x,y,z\n1,0.5,100,1,0,0\n1,1,200,1,0,0\n2,0.5,101,2,0,0\n", [
    (0.5, None, {"id": i8(1, 2), "step": i8(100, 101)}), (1.0, None, {"id": i8(1), "step": i8(200)})])
assert "'step' stays an attribute" in reported, reported
series("both", "id,time,frame,x,y,z\n1,0.5,1,1,0,0\n1,1,2,1,0,0\n2,0.625,1,2,0,0\n", [  # a time of each row
    (None, 1, {"id": i8(1, 2), "time": f8(0.5, 0.625)}), (None, 2, {"id": i8(1), "time": f8(1)})])
# The option.
text = "id,epoch,time,x,y,z\n1,5,0.5,1,0,0\n1,6,0.5,1,0,0\n2,5,0.75,2,0,0\n"
reported = series("option", text, [(5.0, None, {"id": i8(1, 2), "time": f8(0.5, 0.75)}), (6.0, None, {"id": i8(1), "time": f8(0.5)})],
              "--time-column", "epoch")
assert "note" not in reported, reported
for word, says in (("epoche", "unknown column 'epoche'"), ("x", "has positions")):
    refused("option.csv", "bad.bat", "--columns", "x,y,z", "--time-column", word, says=["argument --time-column", says])
refused(put("texts.csv", "x,y,z,when\n1,2,3,noon\n"), "bad.bat", "--time-column", "when", says=["not numeric"])
series("option", "id,time,x,y,z\n1,5,1,0,0\n2,6,2,0,0\n", [
    (5.0, None, {"id": i8(1)}), (6.0, None, {"id": i8(2)})], "--time-column", "time")
# Dates.
SINCE = "seconds since 1970-01-01"
for first, second, times in (
        ("2020-01-01", "2020-01-02", (1577836800, 1577923200)),
        ("2020-01-01 00:00:00", "2020-01-01 01:00", (1577836800, 1577840400)),
        ("2020-01-01T00:00:00Z", "2020-01-01T00:30:00-00:30", (1577836800, 1577838600 + 1800)),
        ("1969-12-31T23:59:59.25Z", "1970-01-01T05:30+05:30", (-0.75, 0)), ("1850-06-01T00:00:00", "2020-02-29T12:00:00+0100", (
            -3773779200, 1582974000))):
    for name, words in (("time", ()), ("t", ()), ("date", ("--time-column", "date"))):
        text = f"id,{name},x,y,z\n1,{first},1,0,0\n2,{second},2,0,0\n3,{first},3,0,0\n"
        reported = series("dates", text, [(float(times[0]), None, {"id": i8(1, 3)}), (
            float(times[1]), None, {"id": i8(2)})], *words, unit=SINCE)
        assert "not written" not in reported, reported
reported = series("dates", 'id;time;x;y;z\r\n1;"2020-01-01";1;0;0\r\n2;;2;0;0\r\n3; 2020-01-01 ;3;0;0\r\n', [
    (1577836800.0, None, {"id": i8(1, 3)})], unit=SINCE)
assert "1 rows without a value in 'time' are left out" in reported, reported
reported = series("dates", "id,time,x,y,z\n1,2020-01-01,1,0,0\n2,2020-01-02,2,0,0\n", [
    (None, None, {"id": i8(1, 2), "time": f8(1577836800, 1577923200)})], unit=SINCE)
assert "'time' stays an attribute" in reported, reported
text = "id,time,x,y,z\n1,2020-01-01,1,0,0\n2,{},2,0,0\n3,2020-01-01,3,0,0\n"
for word in ("2020-13-01", "yesterday", "01.02.2020", "2020-01-01T25:00"):  # no date: the column stays out
    reported = series("dates", text.format(word), [(None, None, {"id": i8(1, 2, 3)})])
    assert "non-numeric columns are not written: 'time' ('2020-01-01' ...)" in reported, reported
    refused("dates.csv", "bad.bat", "--time-column", "time", says=["line 3", word, "not a date"])
series("dates", text.format("2020-01-02"), [(None, None, {"id": i8(1, 2, 3)})], "--time-column", "none")
series("dates", "id,time,t,x,y,z\n1,2020-01-01,5,1,0,0\n2,2020-01-02,5,2,0,0\n", [
    (5.0, None, {"id": i8(1, 2)})])  # times in numbers
rows = "".join(f"{i},2020-01-0{1 + i % 2}T00:00:00Z,{i},0,0\n" for i in range(1000))
for chunk in (text_tables.CHUNK, 5000):
    kept, text_tables.CHUNK = text_tables.CHUNK, chunk
    for words in ((), ("--jobs", "2")):
        series("dates", "id,time,x,y,z\n" + rows, [(1577836800.0, None, {"id": i8(*range(0, 1000, 2))}), (
            1577923200.0, None, {"id": i8(*range(1, 1000, 2))})], *words, unit=SINCE)
    text_tables.CHUNK = kept
# One time; a time of each row; none; missing ones.
series("one", "id,time,x,y,z\n1,2.5,1,0,0\n2,2.5,2,0,0\n", [(2.5, None, {"id": i8(1, 2)})])
series("one", "id,time,x,y,z\n1,2.5,1,0,0\n", [(2.5, None, {"id": i8(1)})])
reported = series("one", "id,time,x,y,z\n1,2.5,1,0,0\n2,3.5,2,0,0\n", [(None, None, {"id": i8(1, 2), "time": f8(2.5, 3.5)})])
assert "'time' stays an attribute" in reported and "--time-column" in reported, reported
series("one", "id,time,x,y,z\n", [(None, None, {"id": f8(), "time": f8()})])
reported = series("one", "id,time,x,y,z\n1,NA,1,0,0\n2,1,2,0,0\n3,1,3,0,0\n", [(1.0, None, {"id": i8(2, 3)})])
assert "1 rows without a value in 'time' are left out" in reported and "NaN" not in reported, reported
series("one", "id,time,x,y,z\n1,NA,1,0,0\n2,NA,2,0,0\n", [(None, None, {"id": i8(1, 2), "time": f8(np.nan, np.nan)})])
# Types are those of the whole table, also of steps that have integers only.
series("types", "id,time,v,x,y,z\n1,0,1,1,0,0\n1,1,0.5,1,0,0\n2,0,2,2,0,0\n3,1,NA,3,0,0\n", [
    (0.0, None, {"id": i8(1, 2), "v": f8(1, 2)}), (1.0, None, {"id": i8(1, 3), "v": f8(0.5, np.nan)})])
# Nanoseconds since 1970 that no double tells apart are no times.
reported = converted(put("ns.csv", "time,x,y,z\n" + "".join(f"{2 ** 60 + i // 2},{i},0,0\n" for i in range(4))), "ns.bat")
assert "float64 cannot tell apart" in reported, reported
# Names of attributes, and steps, of such a table.
converted("far.csv", "some.bat", "--arrays", "id", "--steps", "1")
same("some.bat", [(BIG - 1, 0, 0), (BIG + 1, 0, 0)], {"id": i8(BIG, BIG + 1)}, time=1.5)
converted("far.csv", "some.bat", "--arrays", "t")
with parabat.open("some_0000.bat") as dataset:
    assert not list(dataset.read()) and dataset.time == 0.25

# In pieces, in parts and by several processes, with times in order and particle by particle.
random = np.random.default_rng(5)
count, times = 12000, 5
x = random.normal(size=(times, count))
text_tables.CHUNK = 200_000
for order in ("time", "particle"):
    rows = [(t, p) for t in range(times) for p in range(count)]
    rows = rows if order == "time" else sorted(rows, key=lambda row: row[1])
    put("pieces.csv", "time,id,x,y,z\n" + "".join(f"{t / 4},{BIG + p},{x[t, p].item()!r},{p},{t}\n" for t, p in rows))
    for words, way in (((), None), ((), in_small_parts), (("--jobs", "2"), None)):
        if way:
            with way():
                converted("pieces.csv", "pieces.bat", *words)
        else:
            converted("pieces.csv", "pieces.bat", *words)
        for t in range(times):
            same(f"pieces_{t:04}.bat", np.stack([x[t], np.arange(count), np.full(count, t)], axis=1),
                 {"id": BIG + np.arange(count)}, time=t / 4)
# Rows of each step all over the table, with more than memory has room for, are sorted on disk: the same bytes.
def content_of(stem):
    """The bytes of each dataset."""
    found = {}
    for name in sorted(glob.glob(stem + "_*.bat")):
        with open(name, "rb") as file:
            found[name[len(stem):]] = file.read()
    return found


def sorted_on_disk(text, steps, *words, runs=1 << 20):
    """Converts a table in memory, and sorted on disk in runs of a few bytes, by one process and several; the bytes are
    the same."""
    put("spread.csv", text)
    converted("spread.csv", "memory.bat", *words)
    expected = content_of("memory")
    assert len(expected) == steps, sorted(expected)
    before = rows_by_step.MAX_RUN, rows_by_step.MIN_RUN
    rows_by_step.MAX_RUN = rows_by_step.MIN_RUN = runs
    for jobs in ("1", "3"):
        with in_small_parts():
            reported = converted("spread.csv", "disk.bat", "--jobs", jobs, *words)
        assert "rows sorted by step" in reported, reported
        assert content_of("disk") == expected, (jobs, words)
        assert not glob.glob("*rows_by_step*"), os.listdir(".")
    rows_by_step.MAX_RUN, rows_by_step.MIN_RUN = before


text_tables.CHUNK = 2000
places = [(p, t) for p in range(300) for t in range(7)]
spread = [f"{t / 8},{BIG + p},{p}.5,{p * t},{'NA' if p % 5 else p},{t}\n" for p, t in places]
for runs in (1, 3000, 1 << 20):
    sorted_on_disk("time,id,x,y,v,z\n" + "".join(spread), 7, runs=runs)
sorted_on_disk("time,id,x,y,v,z\n" + "".join(spread), 2, "--steps", "2:4", "--arrays", "id")
sorted_on_disk("time,x,y,z\n" + "".join(f"{t},{p},0,0\n" for p, t in places), 7)  # no attributes
sorted_on_disk("x,time,y,z\n" + "".join(f"{p},{'' if p % 3 else t},{t},0\n" for p, t in places), 7)  # rows without a time
sorted_on_disk("step,time,x,y,z\n" + "".join(f"{-t},{t},{p},{t},0\n" for p, t in places), 7)  # descending numbers
sorted_on_disk("t,x,y,z\n" + "".join(f"{t},{p},{t},0\n" for p, t in places if t < 6 or p in (0, 299)), 7)  # few rows of a step
sorted_on_disk("t,x,y,z\n" + "".join(f"{2020 + t}-01-01,{p},{t},0\n" for p, t in places), 7)
random_order = np.random.default_rng(3).permutation(len(spread))
sorted_on_disk("time,id,x,y,v,z\n" + "".join(spread[i] for i in random_order), 7, runs=5000)
# Without disk space, or with one step, the table itself is read; a damaged table, or a killed process, leaves nothing.
put("spread.csv", "time,id,x,y,v,z\n" + "".join(spread))
converted("spread.csv", "memory.bat")
usage = shutil.disk_usage
for disk_usage in (lambda _: usage(".")._replace(free=1000), lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device"))):
    rows_by_step.shutil.disk_usage = disk_usage
    with in_small_parts():
        reported = converted("spread.csv", "disk.bat")
    assert "sorting its rows on disk failed: " in reported and re.search("0.0 GiB are free|No space left", reported), reported
    assert content_of("disk") == content_of("memory") and not glob.glob("*rows_by_step*")
rows_by_step.shutil.disk_usage = usage
with in_small_parts():
    assert "sorted" not in converted("spread.csv", "one.bat", "--steps", "3")
    refused(put("cut.csv", "time,id,x,y,v,z\n" + "".join(spread) + "1,2\n"), "bad.bat", says=["has 2 fields instead of 6"])
left = "left_rows_by_step_0123.tmp"
os.mkdir(left)
put(left + "/in_use", "")
put(left + "/abc.rows", "x")
with in_small_parts():
    converted("spread.csv", "left.bat")
assert not os.path.exists(left)
if not os.fork():  # ends in the midst of sorting
    def interrupt(*_):
        assert glob.glob("ended_rows_by_step_*.tmp/*.rows")
        os.kill(os.getppid(), signal.SIGTERM)
        signal.pause()
    rows_by_step._write_run = interrupt
    rows_by_step.MAX_RUN = rows_by_step.MIN_RUN = 1
    with in_small_parts():
        os._exit(command("spread.csv", "ended.bat")[0])
_, status = os.wait()
assert os.waitstatus_to_exitcode(status) == 130, status
assert not glob.glob("ended*"), glob.glob("ended*")

# Each row is parsed once, and once more for the order of several inputs.
passes = []
share = text_tables.Share.__init__
text_tables.Share.__init__ = lambda *words, **options: (passes.append(words[1]), share(*words, **options))[1]
text_tables.CHUNK = 1 << 20
spread_rows = "time,id,x,y,v,z\n" + "".join(spread)
for order in (spread_rows, "time,id,x,y,v,z\n" + "".join(sorted(spread))):
    passes.clear()
    convert([put("spread.csv", order)], "spread.bat")
    assert len(passes) == 1 and content_of("spread") == content_of("memory"), passes
convert([put("later.csv", "time,x,y,z\n8,0,0,0\n8,1,0,0\n9,0,0,0\n"), put("first.csv", "time,x,y,z\n1,0,0,0\n1,1,0,0\n")], "two.bat")
assert listed("two.bat.series") == [("two_0000.bat", 1), ("two_0001.bat", 8), ("two_0002.bat", 9)]
assert sorted(passes[1:]) == ["first.csv", "first.csv", "later.csv", "later.csv"], passes
text_tables.Share.__init__ = share

text_tables.CHUNK = 200_000
refused(put("cut.csv", "time,x,y,z\n1,2,3,4\n1,2,3,4\n1,2"), "bad.bat", says=["line 4 has 2 fields instead of 4"])

print("all checks passed")
