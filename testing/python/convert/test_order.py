# SPDX-License-Identifier: BSD-3-Clause
"""The order of a time series, whatever the order of its inputs; steps that repeat, go back or have no time; and files of
an earlier, longer conversion."""

import json
import os

import numpy as np
import parabat
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
