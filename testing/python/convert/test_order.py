# SPDX-License-Identifier: BSD-3-Clause
"""The order of a time series, whatever the order of its inputs; steps that repeat, go back or have no time; and files of
an earlier, longer conversion; lists that several processes write."""

import glob
import json
import os
import shutil
import subprocess
import sys

import numpy as np
import parabat
import parabat.flow
from parabat._library import library
from parabat._list_lock import ListLock
from parabat.convert import convert
from support import converted, put, refused


def dump(*steps, mark=0.0, times=None):
    """A LAMMPS dump of one particle, whose x tells the step and whose y is `mark`."""
    return "".join((f"ITEM: TIME\n{times[i]}\n" if times else "") + f"ITEM: TIMESTEP\n{step}\nITEM: NUMBER OF ATOMS\n1\n"
                   f"ITEM: BOX BOUNDS pp pp pp\n0 9\n0 9\n0 9\nITEM: ATOMS id x y z\n1 {step} {mark} 0\n" for i, step in enumerate(steps))


def series(name="s.bat.series"):
    """(time, x, y) of each entry of a list."""
    with open(name, encoding="utf-8") as file:
        entries = json.load(file)["files"]
    found = []
    for entry in entries:
        with parabat.open(entry["name"]) as dataset:
            x, y, _ = dataset.read().positions[0]
            found.append((entry["time"], x, y))
    return found


def files(stem):
    return sorted(name for name in os.listdir(".") if name.startswith(stem))


# --- Inputs in the order in which a shell gives them, by steps, by times, and by numbers in names
names = [put(f"lmp.{step}.dump", dump(step)) for step in (0, 1000, 1200, 200)]
for inputs in (names, names[::-1], ["lmp.*.dump"]):
    assert converted(*inputs, "s.bat") == ""
    assert series() == [(0, 0, 0), (200, 200, 0), (1000, 1000, 0), (1200, 1200, 0)]
    assert files("s_") == [f"s_{i:04}.bat" for i in range(4)]
put("b.dump", dump(5, times=[0.5]))
put("a.dump", dump(2, 3, times=[1.5, 2.5]))  # its steps are less, its times are later
converted("a.dump", "b.dump", "s.bat")
assert series() == [(0.5, 5, 0), (1.5, 2, 0), (2.5, 3, 0)], series()
tables = [put(f"t_{i}.csv", f"x,y,z\n{i},0,0\n") for i in (10, 9, 100)]
converted(*tables, "s.bat")
assert series() == [(0, 9, 0), (1, 10, 0), (2, 100, 0)]
other = put("other.csv", "x,y,z\n-1,0,0\n")
converted(tables[2], other, tables[1], "s.bat")  # no order is in these names
assert series() == [(0, 100, 0), (1, -1, 0), (2, 9, 0)]

# --- A shorter conversion removes what it replaces, and nothing else
keep = [put(name, b"") for name in ("s_0009.bat", "s_0007.bat.other", "s_00.bat")]
converted(*names, "s.bat")
converted(*names[:2], "s.bat")
assert files("s_") == ["s_00.bat", "s_0000.bat", "s_0001.bat", "s_0007.bat.other", "s_0009.bat"]
converted("lmp.0.dump", "lmp.200.dump", "s.bat", "--steps", "1")  # one step, beside the series
assert os.path.exists("s.bat.series") and os.path.exists("s.bat")
converted("lmp.0.dump", "s.bat")
assert not os.path.exists("s.bat.series") and files("s_") == ["s_00.bat", "s_0007.bat.other", "s_0009.bat"]
for name in keep:
    os.unlink(name)
refused(put("cut.dump", dump(0, 1)[:-9]), "s.bat")
assert os.path.exists("s.bat")

# --- Restarts: steps that overlap, within a file and between files
put("first.dump", dump(0, 10, 20, mark=1))
put("second.dump", dump(10, 20, 30, mark=2))
put("both.dump", dump(0, 10, 20, mark=1) + dump(10, 20, 30, mark=2))
for inputs in (["second.dump", "first.dump"], ["both.dump"], ["both.dump", "--jobs", "2"]):
    inputs, options = [word for word in inputs if word.endswith("dump")], inputs[1:] if "--jobs" in inputs else []
    reported = converted(*inputs, "s.bat", *options)
    assert reported.count("2 steps repeat the step number of another (10, 20); the last of each is kept") == 1, reported
    assert series() == [(0, 0, 1), (10, 10, 2), (20, 20, 2), (30, 30, 2)]
    assert len(files("s_")) == 4
    reported = converted(*inputs, "s.bat", "--on-repeat", "keep-first", *options)
    assert "the first of each is kept" in reported
    assert series() == [(0, 0, 1), (10, 10, 1), (20, 20, 1), (30, 30, 2)]
    refused(*inputs, "new.bat", "--on-repeat", "fail", *options, says=["the step number 10 occurs twice", "--on-repeat"])
assert converted("first.dump", "new.bat", "--on-repeat", "fail") == ""
done = convert(["both.dump"], "s.bat")
assert [news["step"] for news in done] == [0, 10, 20, 30]
assert all(os.path.exists(news["done"]) for news in done)

# --- Steps that go back keep their numbers; all of them in the order of the list
put("back.dump", dump(20, 10, 0))
assert converted("back.dump", "s.bat") == ""
assert series() == [(0, 0, 0), (10, 10, 0), (20, 20, 0)]

# --- A step counter that is set back while times go on, and the reverse
put("reset.dump", dump(0, 10, 0, 10, times=[0, 1, 2, 3]))
assert converted("reset.dump", "s.bat") == ""
assert [time for time, _, _ in series()] == [0, 1, 2, 3]
put("same.dump", dump(0, 10, 20, times=[0.5, 0.5, 1]))
assert "3 steps have only 2 different times; the list of the series contains their step numbers" in converted("same.dump", "s.bat")
assert [time for time, _, _ in series()] == [0, 10, 20]

# --- Times that say nothing, and steps of which only some have one
by_hand = put("rows.py", """
import numpy as np
from parabat.convert import Format, Particles, Step
def steps(path, options):
    for line in open(path):
        x, time, number = (None if word == '-' else float(word) for word in line.split())
        yield Step(lambda x=x: [Particles(np.array([[x, 0, 0]]), {})], number=None if number is None else int(number), time=time)
FORMAT = Format("rows", "x time step in each line", steps)
""")
for text, says, expected in (
        ("7 1.5 -\n8 1.5 -\n", "all steps have the time 1.5; the list", [0, 1]),
        ("7 1.5 -\n8 - 4\n", "only some steps have a finite time", [0, 1]),
        ("7 nan 3\n8 nan 4\n", "", [3, 4]),
        ("7 nan -\n8 1 -\n", "only some steps have a finite time", [0, 1]),
        ("7 - -\n8 - -\n", "", [0, 1]),
        ("7 0.5 3\n8 0.25 4\n", "", [0.25, 0.5]),
        ("7 1.5 3\n8 1.5 3\n", "all steps have the time 1.5", [0, 1]), ("7 - 3\n8 - 3\n", "all steps have the step number 3", [0, 1]),
        ("7 1.5 3\n8 1.5 3\n9 2 4\n", "1 step repeats the time of another (1.5)", [1.5, 2])):
    reported = converted(put("rows.txt", text), "s.bat", "--format", by_hand)
    assert says in reported if says else not reported, (text, reported)
    assert [time for time, _, _ in series()] == expected, (text, series())
refused("rows.txt", "s.idx", "--on-repeat", "fail", code=2, says=["argument --on-repeat: applies to particles"])
assert np.isfinite(series()[0][0])

# --- Codes of texts that differ between steps
head = "ITEM: TIMESTEP\n{}\nITEM: NUMBER OF ATOMS\n{}\nITEM: BOX BOUNDS pp pp pp\n0 9\n0 9\n0 9\nITEM: ATOMS id element x y z\n"
put("o.dump", head.format(5, 1) + "1 O 1 2 3\n")
put("oh.dump", head.format(6, 2) + "1 O 1 2 3\n2 H 1 2 3\n")
put("ho.dump", head.format(7, 2) + "1 H 1 2 3\n2 O 1 2 3\n")
assert "the codes of 'element' differ between steps" in converted("o.dump", "oh.dump", "s.bat")
assert "differ" not in converted("oh.dump", "ho.dump", "s.bat")

# --- A library that crashes on one of the inputs
crashing = put("crash.py", """
import os, signal
import numpy as np
from parabat.convert import Format, Particles, Step
def steps(path, options):
    if "bad" in path:
        os.kill(os.getpid(), signal.SIGSEGV)
    yield Step(lambda: [Particles(np.zeros((1, 3)), {})], number=0)
FORMAT = Format("crash", "nothing", steps)
""")
refused(put("good.x", b""), put("bad.x", b""), "new2.bat", "--format", crashing, says=["bad.x: its process ended unexpectedly (signal SIGSEGV)"])

# --- Lists that others write: a lock as the library's, entries of simulations stay
LISTED = ".w.bat.series.lock"


def entries(name="w.bat.series"):
    with open(name, encoding="utf-8") as file:
        return [(entry["name"], entry["time"], entry.get("step")) for entry in json.load(file)["files"]]


def child(code, *words):
    """A process that has printed a line, and ends after another one is sent."""
    process = subprocess.Popen([sys.executable, "-c", code, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n", process.wait()
    return process


def end(process):
    process.communicate("\n")
    assert process.returncode == 0, process.returncode


TAKEN = "w.bat.series: another process is adding steps to this list; only one can at a time"
CONVERTING = put("waits.py", """
import numpy as np
from parabat.convert import Format, Particles, Step
def read(i):
    if i == 1:
        print("ready", flush=True)
        input()
    return [Particles(np.full((1, 3), float(i)), {})]
def steps(path, options):
    for i in range(3):
        yield Step(lambda i=i: read(i), number=i)
FORMAT = Format("waits", "three steps", steps)
""")
first = child("import sys; from parabat.convert import convert; convert(['first.dump'], 'w.bat', format=sys.argv[1])", CONVERTING)
assert os.path.exists(LISTED)
refused("first.dump", "w.bat", says=[TAKEN])
refused("first.dump", "w.bat", "--jobs", "2", says=[TAKEN])
converted("first.dump", "w.bat", "--steps", "1")  # no series
converted("first.dump", "w_gas.bat")  # another one
end(first)
assert [entry[0] for entry in entries()] == [f"w_{i:04}.bat" for i in range(3)] and not os.path.exists(LISTED)
killed = child("import sys; from parabat.convert import convert; convert(['first.dump'], 'w.bat', format=sys.argv[1])", CONVERTING)
killed.kill()
killed.communicate()
assert os.path.exists(LISTED)
converted("first.dump", "w.bat")
assert not os.path.exists(LISTED) and len(entries()) == 3

# The library keeps out of lists that are locked here.
lock = ListLock("f.bricks.series")
levels = [(time, np.zeros((2, 2, 2, 3), "f4")) for time in (0.0, 1.0)]
try:
    parabat.flow.write_series("f.bricks.series", levels)
except parabat.BatError as error:
    assert "f.bricks.series: another process is adding steps to this list" in str(error), error
else:
    raise AssertionError("a locked list was written")
lock.close()
lock.close()
parabat.flow.write_series("f.bricks.series", levels, replace=True)
assert not os.path.exists(".f.bricks.series.lock")
lock = ListLock("r.bat.series")  # of repack, too
try:
    parabat.repack("w.bat.series", "r.bat.series", flush=False)
except parabat.BatError as error:
    assert "r.bat.series: another process is adding steps to this list" in str(error), error
else:
    raise AssertionError("repack wrote a locked list")
lock.close()
assert not glob.glob("r_*")
parabat.repack("w.bat.series", "r.bat.series", flush=False)
os.mkdir("linked")
os.symlink("linked", "way")
os.symlink("linked/a.bat.series", "b.bat.series")
lock = ListLock("way/a.bat.series")
assert os.path.exists("linked/.a.bat.series.lock")
refused("first.dump", "b.bat", says=["b.bat.series: another process"])
lock.close()
ListLock("nowhere/a.bat.series").close()
os.unlink("b.bat.series")

# A simulation, a conversion in the midst of it, and one after it.
SIMULATION = """
import sys, numpy as np, parabat
from mpi4py import MPI
with parabat.Series("w_{timestep:06d}.bat", MPI.COMM_SELF, flush=False) as series:
    for step in map(int, sys.argv[1:]):
        series.write(step, step / 4, np.full((1, 3), step, "f4"))
    print("ready", flush=True)
    input()
"""
RUN = [("w_000005.bat", 1.25, 5), ("w_000025.bat", 6.25, 25)]
CONVERTED = [(f"w_{i:04}.bat", 10 * i, None) for i in range(3)]
try:
    import mpi4py.MPI  # noqa: F401  # pylint: disable=unused-import
    has_mpi = True
except ImportError:
    has_mpi = False
if has_mpi and hasattr(library(), "bat_insitu_open_f"):
    simulation = child(SIMULATION, "5", "25")  # continues the list of the conversion
    refused("first.dump", "w.bat", says=[TAKEN])
    assert [entry[0] for entry in entries()] == ["w_0000.bat", "w_000005.bat", "w_0001.bat", "w_0002.bat", "w_000025.bat"], entries()
    end(simulation)
    os.unlink("w.bat.series")
    end(child(SIMULATION, "5", "25"))
else:
    for name, time, step in RUN:
        shutil.copy("w_0000.bat", name)
    put("w.bat.series", json.dumps({"files": [{"name": name, "time": time, "step": step} for name, time, step in RUN]}))
assert entries() == RUN
reported = converted("first.dump", "w.bat")
assert "w.bat.series: keeps 2 entries that were not written by a conversion" in reported, reported
merged = entries()
assert [entry[0] for entry in merged] == ["w_0000.bat", "w_000005.bat", "w_0001.bat", "w_0002.bat", "w_000025.bat"], merged
assert all(one[1] < two[1] for one, two in zip(merged, merged[1:])) and set(merged[:4]) == {*CONVERTED, RUN[0]}, merged
assert [step.path for step in parabat.read_series("w.bat.series")] == [entry[0] for entry in merged]
converted("first.dump", "w.bat", "--steps", ":2")  # a shorter one
assert [entry[0] for entry in entries()] == ["w_0000.bat", "w_000005.bat", "w_0001.bat", "w_000025.bat"], entries()
assert not os.path.exists("w_0002.bat")
os.unlink("w_000005.bat")  # is no entry any more
converted("lmp.0.dump", "w.bat")
assert [entry[0] for entry in entries()] == ["w_000025.bat"] and not os.path.exists("w_0000.bat")
for text in ("{", "[]", '{"files": [{"name": 3, "time": 0}]}', '{"files": [{"name": "a.bat"}]}'):
    put("w.bat.series", text)
    refused("first.dump", "w.bat", says=["w.bat.series: is not a series list; it was not replaced, move it away"])
