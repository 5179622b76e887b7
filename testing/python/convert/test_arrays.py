# SPDX-License-Identifier: BSD-3-Clause
"""NumPy arrays and text tables become datasets, exact to the last bit; errors are reported in one line."""

import contextlib
import io
import json
import os
import pathlib
import shutil
import zipfile

import numpy as np
import parabat
from parabat import amrex
from parabat.convert import convert
from parabat.convert.formats import amrex as plotfiles
from support import converted, in_small_parts, put, refused, same

random = np.random.default_rng(3)
N = 3000
BIG = 2 ** 53 + 1
ids = (BIG + random.permutation(N)).astype("i8")
xyz = random.normal(size=(N, 3)) * 10.0 ** random.integers(-300, 300, (N, 3))
xyz[5] = [np.nan, np.inf, -0.0]

# --- AMReX ids, with the numbers of testing/particles/unit/test_ids.cpp, and the steps of its plotfiles.
packed = np.array([0x8000000001000002, 0x0000000005000003, 0xFFFFFFFFFFFFFFFF, 0x7FFFFFFFFF000000, 0], "u8")
amrex_ids, amrex_cpus = amrex.unpack_ids(packed)
assert amrex_ids.dtype == "i8" and amrex_ids.tolist() == [1, -5, 549755813887, -549755813887, 0], amrex_ids
assert amrex_cpus.dtype == "i4" and amrex_cpus.tolist() == [2, 3, 16777215, 0, 0], amrex_cpus
halves = packed.view("i4").reshape(-1, 2)
assert (amrex.join_halves(halves[:, 0], halves[:, 1]) == packed).all()
try:
    amrex.unpack_ids(halves)
    raise AssertionError("halves were taken")
except TypeError as error:
    assert "int32" in str(error)
DATA = pathlib.Path(__file__).resolve().parents[2] / "data" / "amrex"
for number in (0, 5):
    assert plotfiles._number(DATA / f"plt{number:05d}") == number  # pylint: disable=protected-access
assert plotfiles._number(DATA) is None  # pylint: disable=protected-access


def archive(**arrays):
    memory = io.BytesIO()
    np.savez(memory, **arrays)
    return memory.getvalue()


# --- .npy
with np.errstate(over="ignore"):
    single = xyz.astype("f4")
np.save("single.npy", single[:, ::-1])
from support import converted, equal  # pylint: disable=wrong-import-position,reimported
import parabat  # pylint: disable=wrong-import-position
converted("single.npy", "single.bat")
with parabat.open("single.bat") as dataset:
    found = dataset.read().positions
order = [np.lexsort(each.view("u4").T) for each in (np.ascontiguousarray(found), np.ascontiguousarray(single[:, ::-1]))]
equal("single.bat", "positions", found[order[0]], single[:, ::-1][order[1]])
np.save("steps.npy", np.arange(2 * 10 * 3, dtype=">f8").reshape(2, 10, 3))
for jobs in ("0", "2"):  # 0: one process per processor
    converted("steps.npy", "steps.bat", "--jobs", jobs)
with parabat.open("steps_0001.bat") as dataset:
    assert sorted(dataset.read().positions.ravel()) == list(range(30, 60))
records = np.zeros(N, [("id", ">u8"), ("pos", "f4", 3), ("half", "f2"), ("flag", "?"), ("name", "U3"), ("spin", "c8"),
                       ("wide", "i2", 12)])
records["id"], records["pos"] = np.uint64(2 ** 64 - 1) - np.arange(N, dtype="u8"), single
for name in ("half", "flag", "spin", "wide"):
    records[name] = random.integers(0, 2, records[name].shape)
np.save("records.npy", records)
reported = converted("records.npy", "records.bat", "--columns", "pos")
assert "'name' is not written: it contains texts" in reported and "'wide' has 12 components" in reported, reported
expected = {"id": records["id"], "half": records["half"].astype("f4"), "flag": records["flag"].astype("u1"),
          "spin": np.stack([records["spin"].real, records["spin"].imag], axis=1)}
expected.update({f"wide_{i}": records["wide"][:, i] for i in range(12)})
same("records.bat", single, expected)

# --- .npz
put("all.npz", archive(pos=xyz, id=ids, time=np.float64(0.25), step=np.int64(7), tensor=xyz[:, :, None] * np.ones(3),
                       name=np.array(["a"] * N), box=np.float64(3)))
reported = converted("all.npz", "all.bat")
assert "'name' is not written" in reported and "'box' is not written: it is a single value" in reported, reported
same("all.bat", xyz, {"id": ids, "tensor": np.repeat(xyz, 3, axis=1).reshape(N, 9)}, time=0.25, step=7)
put("axes.npz", archive(X=ids, Y=ids - BIG, Z=xyz[:, 2], id=ids))
refused("axes.npz", "bad.bat", says=["cannot be represented as float64"])
converted("axes.npz", "axes.bat", "--columns", "Y,Z,none", "--arrays", "id")
same("axes.bat", np.stack([(ids - BIG).astype("f8"), xyz[:, 2], np.zeros(N)], axis=1), {"id": ids})

whole = archive(pos=xyz, id=ids)
refused(put("cut.npz", whole[:-300]), "bad.bat", says=["cut.npz: "])
refused(put("damaged.npz", whole[:5000] + b"x" + whole[5001:]), "bad.bat", says=["'pos' cannot be read"])
assert "'id' is not written: it has 2999 values for 3000 particles" in converted(
    put("other.npz", archive(pos=xyz, id=ids[:-1], key=ids)), "other.bat")
same("other.bat", xyz, {"key": ids}, "key")
refused("other.npz", "bad.bat", "--arrays", "id", says=["'id' cannot be an attribute: it has 2999 values for 3000 particles"])
refused(put("none.npz", archive(a=xyz[:, 0], id=ids)), "bad.bat", says=["no positions", "'a', 'id'"])
refused(put("two.npz", archive(pos=xyz, Pos=xyz)), "bad.bat", says=["'pos', 'Pos' could all be positions"])
refused("two.npz", "bad.bat", "--columns", "position", says=["unknown position array 'position'"])
memory = io.BytesIO()
with zipfile.ZipFile(memory, "w") as twice:
    for _ in range(2):
        array = io.BytesIO()
        np.save(array, xyz)
        twice.writestr("pos.npy", array.getvalue())
refused(put("twice.npz", memory.getvalue()), "bad.bat", says=["two arrays are named 'pos'"])
memory = io.BytesIO()
np.save(memory, xyz)
npy = memory.getvalue()
refused(put("cut.npy", npy[:-8]), "bad.bat", says=["cut.npy: cannot be read as an array"])
refused(put("billions.npy", npy.replace(b"(3000, 3)", b"(9999999999, 3)")), "bad.bat", says=["cannot be read as an array"])
refused(put("shape.npy", npy.replace(b"(3000, 3)", b"(1500, 6)")), "bad.bat", says=["shape (1500, 6)"])
np.save("objects.npy", np.array([None] * 3), allow_pickle=True)
refused("objects.npy", "bad.bat", says=["objects.npy: "])
refused(put("empty.npy", ""), "bad.bat", says=["empty.npy: is empty"])

# --- Tables
columns = {"id": ids, "key": np.uint64(2 ** 64 - 1) - np.arange(N, dtype="u8"), "x": xyz[:, 0], "y": xyz[:, 1], "z": xyz[:, 2]}
lines = [[repr(value) for value in column.tolist()] for column in columns.values()]
for name, delimiter in (("a.csv", ","), ("a.tsv", "\t"), ("a.txt", " "), ("b.csv", ";")):
    put(name, delimiter.join(columns) + "\n" + "".join(delimiter.join(row) + "\n" for row in zip(*lines)))
    assert converted(name, f"{name}.bat") == ""
    same(f"{name}.bat", xyz, {"id": ids, "key": columns["key"]})
converted("a.csv", "c.bat", "--columns", "z,y,none", "--arrays", "id,x")
same("c.bat", np.stack([xyz[:, 2], xyz[:, 1], np.zeros(N)], axis=1), {"id": ids, "x": xyz[:, 0]})
converted("a.csv", "b.csv", "two.bat")
same("two_0001.bat", xyz, {"id": ids, "key": columns["key"]})
rows = "id,x,y,z,name,m\n" + "".join(f'{BIG + i},{i}.5,1,2,"n, {i}",{"" if i == 7 else i}\n' for i in range(20))
reported = converted(put("gaps.csv", rows), "gaps.bat")
assert "'name'" in reported and "column 'm' lacks values, the first in line 9; they become NaN" in reported, reported
m = np.arange(20.0)
m[7] = np.nan
same("gaps.bat", np.stack([np.arange(20) + 0.5, np.ones(20), np.full(20, 2.0)], axis=1), {
    "id": BIG + np.arange(20), "m": m})
reported = converted(put("rounded.csv", "id,x,y,z,q\n" + "".join(f"{i},1.5,2,3,0.5\n" for i in range(5)) + f"9,1,2,3,{BIG}\n"),
                 "rounded.bat")
assert f"its integer {BIG} is rounded to {BIG - 1}" in reported, reported
same("rounded.bat", np.array([[1.5, 2, 3]] * 5 + [[1, 2, 3.0]]), {
    "id": np.array([0, 1, 2, 3, 4, 9]), "q": np.array([0.5] * 5 + [float(BIG)])})
# Errors in the first rows, and where only the fast parser reads.
for text, says in (
        ("id,a,b\n1,2,3\n", ["no positions", "'id', 'a', 'b'"]),
        ("id,x,y,z\n1,2,3\n", ["line 2 has 3 fields instead of 4"]),
        ("id,x,y,z\n" + "1,2,3,4\n" * 5000 + "1,2,3,four\n", ["line 5002: 'four' in column 'z' is not a number"]),
        ("id,x,y,z\n" + "1,2,3,4\n" * 5000 + "1,2,3", ["line 5002 has 3 fields instead of 4"]),
        ("id,x,y,z\n1,0x10,3,4\n", ["no positions"])):
    refused(put("bad.csv", text), "bad.bat", says=["bad.csv: ", *says])
assert "two columns are named 'x'" in converted(put("twice.csv", "x,x,y,z\n1,2,3,4\n"), "twice.bat")
refused("a.csv", "bad.bat", "--delimiter", "x", code=2)
refused("single.npy", "bad.bat", "--delimiter", ",", says=["--delimiter", "does not support it"])
refused(put("unknown", "hello"), "bad.bat", says=["no format known"])

# --- A user-defined format, in one file
put("dots.py", '''
import numpy as np
from parabat.convert import Format, Particles, Step

def steps(path, options):
    with open(path) as file:
        for number, line in enumerate(file):
            yield Step(lambda line=line: [Particles(np.full((3, 3), float(line)), {"id": np.arange(3)},
                                                    {"line": line.strip()}, species)
                                          for species in ("a", "b")], number, number / 2)

FORMAT = Format("dots", "three dots for each line", steps, extensions=(".dots",))
''')
converted(put("some.dots", "1\n2\n3\n"), "dots.bat", "--format", "dots.py")
about = same("dots_b_0002.bat", np.full((3, 3), 3.0), {"id": np.arange(3)}, time=1.0, step=2)
assert json.loads(about)["line"] == "3", about
converted("some.dots", "a.bat", "--format", "dots.py", "--species", "a", "--steps", "1")
same("a.bat", np.full((3, 3), 2.0), {"id": np.arange(3)}, time=0.5, step=1)
refused("some.dots", "bad.bat", "--format", "dots.py", "--species", "c", says=["unknown species 'c'", "'a', 'b'"])
refused(put("bad.dots", "1\nx\n"), "bad.bat", "--format", "dots.py", says=["bad.dots: cannot be read: ValueError"])
refused("some.dots", "bad.bat", "--format", "nothing", says=["'nothing'; allowed are", "'lammps'"])
assert convert(pathlib.Path("some.dots"), pathlib.Path("path.bat"), format="dots.py", steps=slice(1), species=["a"])[0]["step"] == 0
# A killed process is noticed; the others end, and nothing is left.
put("killed.py", '''
import os, signal
import numpy as np
from parabat.convert import Format, Particles, Step

def read(number):
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return [Particles(np.random.random((20000, 3)), {})]

def steps(path, options):
    for number in range(6):
        yield Step(lambda number=number: read(number))

FORMAT = Format("killed", "a process that is killed", steps)
''')
refused("some.dots", "bad.bat", "--format", "killed.py", "--jobs", "2", says=["some.dots: its process ended unexpectedly (signal SIGKILL)"])
# Requested attributes are those of the species that have them; one that none has is rejected, whole and in parts.
put("ragged.py", '''
import numpy as np
from parabat.convert import Divided, Format, Particles, Step

def part(species, i=0, n=1):
    ids = np.arange(9 * i // n, 9 * (i + 1) // n)
    v = np.ones((len(ids), 3))
    return Particles(v * ids[:, None], {"v": v, **({"id": ids} if species == "a" else {})}, species=species)

def steps(path, options):
    yield Step(lambda: [part(one) for one in "ab"], 0, 0.0, lambda: [
        Divided(3 << 20, lambda i, n, one=one: part(one, i, n), one) for one in "ab"])

FORMAT = Format("ragged", "two species of other attributes", steps)
''')
for way in (contextlib.nullcontext, in_small_parts):
    with way():
        converted("some.dots", "ragged.bat", "--format", "ragged.py", "--stable-samples", "id", "--sorted-index", "id,v[1]",
                  "--arrays", "id,v")
        for species, names in (("a", ["id"]), ("b", [])):
            with parabat.open(f"ragged_{species}.bat") as dataset:
                assert dataset.stable_samples == names and len(dataset) == 9, dataset
            os.unlink(f"ragged_{species}.bat")
            shutil.rmtree(f"ragged_{species}.bat.leaves", ignore_errors=True)
        for option in ("--stable-samples", "--sorted-index", "--arrays"):
            reported = refused("some.dots", "ragged.bat", "--format", "ragged.py", option, "id,nope", says=[
                "some.dots: ", "'nope'", "'id', 'v'", "" if option == "--arrays" else f"argument {option}: "])
            assert "--steps" not in reported, reported
# Existing files survive a conversion that fails.
with open("a.bat", "rb") as file:
    before = file.read()
refused("some.dots", "a.bat", "--format", "dots.py", "--species", "a", "--steps", "1", "--sorted-index", "nope", says=["nope"])
with open("a.bat", "rb") as file:
    assert file.read() == before
