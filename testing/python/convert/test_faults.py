# SPDX-License-Identifier: BSD-3-Clause
"""Mistaken or malicious input to `parabat convert`: invalid numbers, claims that a file cannot satisfy, crashing
libraries, interrupted conversions; and its command line and progress bar."""

import argparse
import glob
import os
import pty
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import parabat
from parabat.convert import model, option_types
from parabat.convert._output import remove_temporary
from support import command, converted, put, refused, same

random = np.random.default_rng(5)
xyz = random.random((10, 3))
ids = np.arange(10)

# --- Numbers that only Python accepts, and those that no double represents
rows = ["1,2,3,4", "5,6,7,8", "9,10,11,12"]
for word, says in (("1e400", ["line 3: '1e400' in column 'z' exceeds the range of float64"]),
                   ("-1e400", ["line 3: '-1e400'"]), ("9" * 400, ["line 3: '999"]), ("1_0", ["line 3: '1_0' in column 'z'"]),
                   ("\u0661", ["line 3: "])):
    refused(put("a.csv", "\n".join(["x,y,z,id", rows[0], f"5,6,{word},8", rows[2]])), "bad.bat", says=["a.csv: ", *says])
converted(put("a.csv", "x,y,z,id,w\n1,2,3,0,inf\n4,5,6,1,-Infinity\n1,2,3,2,1e308"), "a.bat")
same("a.bat", np.array([[1, 2, 3], [4, 5, 6], [1, 2, 3.0]]), {"id": ids[:3], "w": np.array([np.inf, -np.inf, 1e308])})
dump = ("ITEM: TIMESTEP\n{step}\nITEM: NUMBER OF ATOMS\n{count}\nITEM: BOX BOUNDS pp pp pp\n0 {top}\n0 1\n0 1\n"
        "ITEM: ATOMS id x y z\n{id} {x} 2 3\n2 4 5 6\n")
good = {"step": 10, "count": 2, "top": 1, "id": 1, "x": 1}
for name, word, says in (("step", "1_0", "line 2: '1_0' is not the timestep"), ("count", "0_2", "line 4: '0_2'"),
                         ("top", "1_0", "line 6: '0 1_0'"), ("top", "1e400", "line 6: '0 1e400'"),
                         ("id", "1_0", "line 10: '1_0' in column 'id'"), ("x", "1_0", "line 10: '1_0' in column 'x'"),
                         ("x", "1e400", "line 10: '1e400' in column 'x'")):
    refused(put("a.dump", dump.format(**{**good, name: word})), "bad.bat", says=["a.dump: ", says])
converted(put("a.dump", dump.format(**good)), "a.bat")
ply = ("ply\nformat ascii 1.0\nelement vertex 2\nproperty double x\nproperty double y\nproperty double z\nproperty float w\n"
       "property int id\nend_header\n{x} 2 3 {w} {id}\n4 5 6 7 8\n")
good = {"x": 1, "w": "inf", "id": 3}
for name, word in (("x", "1e400"), ("w", "1e39"), ("x", "1_0"), ("id", "1_0")):
    refused(put("a.ply", ply.format(**{**good, name: word})), "bad.bat", says=[f"vertex 0, property '{name}': '{word}'"])
converted(put("a.ply", ply.format(**good)), "a.bat")
same("a.bat", np.array([[1, 2, 3], [4, 5, 6.0]]), {"w": np.array([np.inf, 7], "f4"), "id": np.array([3, 8], "i4")})

# --- The command line: options anywhere, steps from the end
np.save("steps.npy", np.stack([xyz, xyz + 1, xyz + 2]))
for words in (["--steps", "-1:", "steps.npy", "--quiet", "last.bat"], ["steps.npy", "--steps=-2:", "last.bat"],
              ["steps.npy", "--jobs", "2", "last.bat", "--steps", "-2:-1"], ["steps.npy", "last.bat", "--steps", "-1"]):
    converted(*words)
done = subprocess.run([sys.executable, "-m", "parabat.convert", "steps.npy", "--steps", "-1:", "module.bat"], check=False,
                      capture_output=True, text=True)
assert done.returncode == 0 and os.path.exists("module.bat"), done
assert done.stderr == "note: steps.npy: an array with shape (3, 10, 3) is read as 3 steps of 10 particles\n", done
for text, meaning in {"8": 8 << 20, "8M": 8 << 20, "8 MiB": 8 << 20, "8mb": 8 << 20, ".5": 1 << 19, "1.5K": 1536, "2G": 2 << 30, "1T": 1 << 40,
                      "1e-300": 1, "auto": 0}.items():
    assert option_types.size(text) == meaning, text
for text in ("", "0", "0M", "-8", "+8", "8X", "8B", "1_0", "M", "1e400", "inf", "nan", "8388608T"):
    try:
        raise AssertionError(option_types.size(text))
    except argparse.ArgumentTypeError as error:
        assert "allowed is auto or a size above 0" in str(error), error
assert option_types.three_numbers("1,2,3") == option_types.three_numbers("1 2, 3") == option_types.numbers(" 1 2 3 ") == [1, 2, 3]
assert option_types.dimensions("4,5,6") == option_types.dimensions("4x5x6") == option_types.dimensions("4 5 6") == (4, 5, 6)
for words in (["--steps", "1_0"], ["--steps", "::0"], ["--steps", "1:2:3:4"], ["--jobs", "1_0"], ["--jobs", "4097"], ["--jobs", "-1"], ["--target-size", "1_0"]):
    assert "see 'parabat convert --help'" in refused("steps.npy", "bad.bat", *words, code=2)
# Less than a byte becomes the minimum size, not the default.
np.savez("few.npz", pos=xyz[:3], id=ids[:3])
for size, leaves in (("1e-300", 3), ("auto", 1)):
    converted("few.npz", "few.bat", "--target-size", size)
    with parabat.open("few.bat") as few:
        assert few.leaf_file_count == leaves, (size, few.leaf_file_count)
    same("few.bat", xyz[:3], {"id": ids[:3]})

# --- More than fits in memory; pieces of HDF5 that were never written; groups that become species
try:
    import h5py
except ImportError as error:
    print(f"HDF5 is not tested: {error}")
    h5py = None
if h5py:
    with h5py.File("holes.h5", "w") as file:
        for name, shape in (("positions", (1000, 3)), ("w", (1000,))):
            node = file.create_dataset(name, shape, "f8", chunks=(100, *shape[1:]), compression="gzip", fillvalue=7)
            node[:900] = random.random((900, *shape[1:]))
        file["id"] = np.arange(1000)
        values = {name: file[name][...] for name in file}
    for words in ([], ["--map", "positions=positions", "--map", "w=w", "--map", "id=id"]):
        reported = converted("holes.h5", "holes.bat", *words)
        for name in ("positions", "w"):
            assert f"/{name}: 1 of 10 chunks of the array were never written; their values are 7" in reported, reported
        same("holes.bat", values["positions"], {name: values[name] for name in ("w", "id")})
    for name, shape in (("few", (1000, 3)), ("billion", (2 ** 30, 3))):
        with h5py.File("few.h5", "w") as file:
            node = file.create_dataset("positions", shape, "f8", chunks=(100, 3), compression="gzip")
            node[:400] = 1
        refused("few.h5", "bad.bat", says=["few.h5: /positions: claims (", "most of which were never written: "])
    with h5py.File("steps.h5md", "w") as file:  # a simulation that did not finish
        file.create_group("h5md")
        file["particles/all/id"] = ids
        file["particles/all/position/step"] = [1, 2, 3]
        node = file.create_dataset("particles/all/position/value", (3, 10, 3), "f8", chunks=(1, 5, 3))
        node[0], node[1, :5] = xyz, xyz[:5]
    reported = converted("steps.h5md", "h5md.bat", "--steps", ":2")
    assert "/particles/all/position/value: 1 of 2 chunks" in reported, reported
    same("h5md_0000.bat", xyz, {"id": ids}, step=1)
    refused("steps.h5md", "bad.bat", "--steps", "2", says=["/particles/all/position/value: claims (3, 10, 3) values, but none"])
    with h5py.File("groups.h5", "w") as file:
        for name in ("/", "gas/inner", "other"):
            group = file.require_group(name)
            group["ids" if name == "other" else "positions"] = xyz
    reported = converted("groups.h5", "groups.bat")
    assert "groups in / are not written: 'other'\n" in reported, reported
    assert os.path.exists("groups_gas_inner.bat"), os.listdir(".")
    memory, model.memory = model.memory, lambda: 30000
    refused("holes.h5", "bad.bat", says=["holes.h5: ", "claims (1000,) values in each of 3 arrays, 0.0 GiB: more than the free memory"])
    model.memory = memory

# --- A library that crashes, when inspecting and when reading a file, costs one line
put("crashing.py", '''
import os, signal
from parabat.convert import Format, Step

def crash(path=None):
    if path is None or path.startswith("look"):
        os.kill(os.getpid(), signal.SIGSEGV)
    return [path]

def steps(path, options):
    yield Step(crash)

FORMAT = Format("crashing", "a library that crashes", steps, siblings=crash)
''')
for name in ("look.x", "read.x"):
    refused(put(name, "x"), "bad.bat", "--format", "crashing.py",
            says=[f"error: {name}: its process ended unexpectedly (signal SIGSEGV); the file may be damaged\n"])

# --- Datasets of other inputs remain if one cannot be written, or reported
for number in range(3):
    put(f"in_{number}.csv", f"id,x,y,z\n{number},1,2,3\n")
os.mkdir("kept_0002.bat")
code, _, err = command("in_0.csv", "in_1.csv", "in_2.csv", "kept.bat")
assert code == 3 and "error: kept_0002.bat: " in err and "2 datasets of other inputs are complete and kept: kept_0000.bat" in err, err
os.rmdir("kept_0002.bat")
assert sorted(glob.glob("kept*")) == ["kept_0000.bat", "kept_0001.bat"], glob.glob("kept*")

# --- What a killed writer leaves
for name in ("gone.bat.leaves", "there.bat.leaves"):
    os.mkdir(name)
    put(f"{name}/.00000-5295d42032ce4b8b.bat.b34282fc.tmp", "")
    put(f"{name}/00001-5295d42032ce4b8b.bat", "")
put("there.bat", "what was there before")
for name in ("gone.bat", "there.bat"):
    remove_temporary(name)
assert not os.path.exists("gone.bat.leaves") and os.listdir("there.bat.leaves") == ["00001-5295d42032ce4b8b.bat"]
shutil.rmtree("there.bat.leaves")

# --- An interrupted conversion leaves nothing
put("endless.py", '''
import itertools
import numpy as np
from parabat.convert import Format, Particles, Step

def steps(path, options):
    for number in itertools.count():
        yield Step(lambda: [Particles(np.random.random((200000, 3)), {"w": np.random.random(200000)})], number)

FORMAT = Format("endless", "steps without end", steps)
''')
for jobs, number in (("1", signal.SIGTERM), ("2", signal.SIGTERM), ("1", signal.SIGINT)):
    before = sorted(os.listdir("."))
    with subprocess.Popen([sys.executable, "-m", "parabat.convert", "steps.npy", "endless.bat", "--format", "endless.py",
                           "--jobs", jobs], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None and not os.path.exists("endless_0001.bat"):
            time.sleep(0.002)
        process.send_signal(number)
        reported = process.communicate()[1]
    assert process.returncode == 130 and reported == "error: interrupted\n", (process.returncode, reported)
    assert sorted(os.listdir(".")) == before, set(os.listdir(".")) - set(before)

# --- Jobs of a threaded program, whose __main__ cannot be run twice
put("own.py", """
import numpy as np
from parabat.convert import Format, Particles, Step

def steps(path, options):
    for number in range(5):
        yield Step(lambda number=number: [Particles(np.full((9, 3), number * 1.0), {"id": np.arange(9)})], number)

FORMAT = Format("own", "five steps", steps)
""")
put("program.py", """
import os, sys, threading
lock = threading.Lock()
threading.Thread(target=lambda: (lock.acquire(), threading.Event().wait()), daemon=True).start()
os.register_at_fork(before=lambda: sys.exit("it forks"))
from parabat.convert import ConvertError, convert
found = convert("steps.npy", "jobs.bat", format="own.py", jobs=3, show=print)
assert [each["step"] for each in found] == [0, 1, 2, 3, 4], found
for bad in ({"settings": {"progress": lambda share: True}}, {"format": "not.py"}):
    try:
        convert("steps.npy", "bad.bat", jobs=2, **bad)
    except ConvertError as error:
        print(error)
    else:
        sys.exit("no error")
""")
done = subprocess.run([sys.executable, "program.py"], capture_output=True, text=True, timeout=120, check=False)
assert done.returncode == 0 and "jobs: the work cannot be passed" in done.stdout and not done.stderr, done
for number in range(5):
    with parabat.open(f"jobs_{number:04}.bat") as dataset:
        assert dataset.step == number and (dataset.read().positions == number).all()

# --- The progress bar: on a terminal only, and not with --quiet
text = "".join(f"{i},1,2,3\n" for i in range(3000))
put("bar.csv", "id,x,y,z\n" + text)
assert "%" not in converted("bar.csv", "bar.bat")
for words in ([], ["--quiet"]):
    own, theirs = pty.openpty()
    with subprocess.Popen([sys.executable, "-m", "parabat.convert", "bar.csv", "bar.bat", *words], stdout=subprocess.DEVNULL,
                          stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        try:
            while more := os.read(own, 4096):
                shown += more
        except OSError:  # the other end is closed
            pass
    os.close(own)
    assert process.returncode == 0, shown
    assert (b"writing bar.bat [###" in shown and shown.endswith(b"\r\x1b[K")) != bool(words), shown
    assert not words or not shown, shown
code, out, err = command("bar.csv", "bar.bat", "--json")
assert code == 0 and out.count("\n") == 1 and not err, (out, err)

# Inputs that block, or have no end.
os.mkfifo("pipe.csv")
os.symlink("/dev/zero", "zero.csv")
for name in ("pipe.csv", "zero.csv", "/dev/null"):
    refused(name, "bad.bat", says=[f"{name}: is not a regular file or a folder"])
