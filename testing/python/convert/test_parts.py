# SPDX-License-Identifier: BSD-3-Clause
"""Steps converted in parts equal those converted as a whole, within the memory limit."""

import gzip
import os
import subprocess
import sys

import numpy as np
import parabat
from parabat.convert import ConvertError, running
from support import alike_in_parts, converted, in_small_parts, is_in_parts, put, refused

N = 60000
random = np.random.default_rng(4)
positions = random.normal(size=(N, 3))
ids = np.uint64(2 ** 63 + 7) + random.permutation(N).astype("u8")
mass = random.random(N).astype("f4")


# --- NumPy arrays
np.save("xyz.npy", positions)
np.save("steps.npy", np.stack([positions, positions + 1]))
record = np.empty(N, [("x", "f8"), ("y", "f8"), ("z", "f8"), ("id", ">u8"), ("m", "f4")])
for axis, name in enumerate("xyz"):
    record[name] = positions[:, axis]
record["id"], record["m"] = ids, mass
np.save("records.npy", record)
arrays = dict(pos=positions.astype("f4"), id=ids, m=mass, tensor=random.random((N, 2, 5)), time=0.5, box=np.ones(3)[:1],
              label=np.array(["a"] * N))
np.savez("stored.npz", **arrays)
np.savez_compressed("packed.npz", **arrays)
assert is_in_parts("npy", "packed.npz") and is_in_parts("npy", "records.npy")
alike_in_parts(["xyz.npy"])
alike_in_parts(["steps.npy"], ["_0000", "_0001"])
alike_in_parts(["records.npy"])
assert any("'label'" in remark for remark in alike_in_parts(["stored.npz"]))
alike_in_parts(["packed.npz"], arrays=["id"])

# --- Tables: types that only the last rows decide on
lines = [f"{x!r},{y!r},{z!r},{i},{i % 7}" for (x, y, z), i in zip(positions.tolist(), range(N))]
put("late.csv", "x,y,z,id,kind\n" + "\n".join(lines + ["0.5,0.5,0.5,70000,1.5", "1,2,3,70001,"]) + "\n")
assert any("lacks values" in remark for remark in alike_in_parts(["late.csv"]))

# --- LAMMPS: the same, texts, compressed
elements = ["He", "Ar", "Xe"]


def dump(step, rows):
    return (f"ITEM: TIMESTEP\n{step}\nITEM: NUMBER OF ATOMS\n{len(rows)}\nITEM: BOX BOUNDS pp pp pp\n0 1\n0 1\n0 1\n"
            "ITEM: ATOMS id type element x y z vx vy vz i_flag\n" + "\n".join(rows) + "\n")


rows = [f"{i} {i % 3 + 1} {elements[i * 3 // N]} {x!r} {y!r} {z!r} {y!r} {z!r} {x!r} {i}"
        for (x, y, z), i in zip(positions.tolist(), range(N))]
rows[-1] = rows[-1].rsplit(" ", 1)[0] + " 0.25"
text = dump(5, rows) + dump(6, rows[:100])
put("two.dump", text)
put("two.dump.gz", gzip.compress(text.encode(), 1))
assert any("'i_flag' contains '0.25'" in remark for remark in alike_in_parts(["two.dump"], ["_0000", "_0001"]))
alike_in_parts(["two.dump.gz"], ["_0000", "_0001"], steps=slice(0, 2))
assert is_in_parts("lammps", "two.dump")
width, third = 5, N // 3
table = np.column_stack([np.arange(N), positions, np.arange(N) % 4])
head = np.array([-8], "<i8").tobytes() + b"DUMPATOM" + np.array([1, 2], "<i4").tobytes() + np.array([9, N], "<i8").tobytes() + \
    np.array([0] + [0] * 6, "<i4").tobytes() + np.array([0, 1] * 3, "<f8").tobytes() + np.array([width, 0], "<i4").tobytes() + \
    b"\0" + np.array([15], "<i4").tobytes() + b"id x y z i_what" + np.array([3], "<i4").tobytes()
put("one.bin", head + b"".join(np.array([len(piece) * width], "<i4").tobytes() + piece.tobytes()
                               for piece in (table[:third], table[third:third + 11], table[third + 11:])))
alike_in_parts(["one.bin"])
put("cut.dump", dump(1, rows)[:-200000])
try:
    alike_in_parts(["cut.dump"])
except ConvertError as error:
    assert str(error).startswith("cut.dump: timestep 1"), error
else:
    raise AssertionError("a cut dump was converted")
refused("cut.dump", "bad.bat")

# --- HDF5
try:
    import h5py
except ImportError:
    h5py = None
if h5py:
    def snapshot(path, count, first, files):
        with h5py.File(path, "w") as file:
            about = file.create_group("Header").attrs
            about["NumPart_ThisFile"], about["NumPart_Total"] = np.array([count, 3], "i4"), np.array([N, 3 * files], "u4")
            about["NumFilesPerSnapshot"], about["Time"] = files, 0.25
            part = np.s_[first:first + count]
            for name, values in (("Coordinates", positions), ("ParticleIDs", ids), ("Masses", mass), (
                    "Metals", random.random((N, 12)).astype("f4"))):
                file[f"PartType0/{name}"] = values[part]
                file[f"PartType1/{name}"] = values[:3]
    for number, (first, end) in enumerate(((0, 20000), (20000, 20001), (20001, N))):
        snapshot(f"snap.{number}.hdf5", end - first, first, 3)
    alike_in_parts(["snap.0.hdf5"], ["_PartType0", "_PartType1"])
    alike_in_parts(["snap.0.hdf5"], species=["PartType0"], arrays=["ParticleIDs"])
    with h5py.File("run.h5", "w") as file:
        for number in (2, 10):
            for axis, name in enumerate("xyz"):
                file[f"Step#{number}/{name}"] = positions[:, axis]
            file[f"Step#{number}/id"] = ids
            file[f"Step#{number}"].attrs["TimeValue"] = 0.5 * number
    alike_in_parts(["run.h5"], ["_0000", "_0001"])
    alike_in_parts(["run.h5"], ["_0000", "_0001"], format="hdf5", mapping={
        "positions": ["/Step#*/x", "/Step#*/y", "/Step#*/z"], "id": ["/Step#*/id"]})
    with h5py.File("any.h5", "w") as file:
        file["a/pos"], file["a/id"], file["b/pos"] = positions, ids, positions[:10]
    alike_in_parts(["any.h5"], ["_a", "_b"])
    assert is_in_parts("h5part", "run.h5")

    # --- Memory: the maximum of the process from beginning to end, for a file of twice the size
    MANY, LIMIT = 4_000_000, 128
    with h5py.File("large.h5", "w") as file:
        for name in ("x", "y", "z", "a", "b", "c", "d"):
            file[f"Step#0/{name}"] = np.random.default_rng(len(name)).random(MANY)
        file["Step#0/id"] = np.arange(MANY)
    assert os.path.getsize("large.h5") > LIMIT * 1.9 * 2 ** 20
    code = """if True:
        import resource, sys
        from parabat.cli import main
        code = main(["convert", "large.h5", "large.bat", *sys.argv[1:]])
        print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024, file=sys.stderr)
        sys.exit(code)"""

    def peak(*words):
        done = subprocess.run([sys.executable, "-c", code, *words], stderr=subprocess.PIPE, text=True, check=True)
        return int(done.stderr.split()[-1])
    limited = peak("--memory", f"{LIMIT}M")
    assert limited < LIMIT, limited
    with parabat.open("large.bat") as dataset:
        assert len(dataset) == MANY and dataset.leaf_file_count > 3
        with h5py.File("large.h5") as file:
            for part in np.array_split(np.arange(MANY), 7)[::3]:
                found = dataset.read(values={"id": [(int(part[0]), int(part[-1]))]})
                order = np.argsort(found["id"])
                assert len(order) == len(part) and (found["id"][order] == part).all()
                for name in ("a", "d"):
                    assert found[name][order].tobytes() == file[f"Step#0/{name}"][part[0]:part[-1] + 1].tobytes()
                assert found.positions[order, 1].tobytes() == file["Step#0/y"][part[0]:part[-1] + 1].tobytes()
    room, running.resident = running.resident, lambda: 40 << 20
    job = running.Job([], "out.bat", None, memory_bytes=LIMIT << 20)
    assert job.room() == (LIMIT - 40) << 20
    running.resident = lambda: 70 << 20  # after some steps, whose memory it has kept
    assert job.room() == running.MIN_ROOM
    running.resident = room
    assert peak() > 2 * LIMIT  # otherwise the limit above would be meaningless
    refused("large.h5", "bad.bat", "--memory", "20M", says=["argument --memory: 20M; the program itself needs"])

# Values whose length differs between parts, as Parquet lists allow.
put("others.py", '''
import numpy as np
from parabat.convert import Divided, Format, Particles, Step

def part(i=0, n=1):
    v = np.full((4, 3), float(i))
    return Particles(v, {"same": v[:, 0], "kind": v[:, 0].astype("i4" if i else "f4"), "shape": v[:, :1 + i % 3],
                         **({"some": v} if i else {})})

def steps(path, options):
    yield Step(lambda: [part()], divided=lambda: [Divided(3 << 20, part, varies=True)])

FORMAT = Format("others", "parts that differ", steps)
''')
with in_small_parts():
    reported = converted("xyz.npy", "others.bat", "--format", "others.py")
assert all(f"'{name}' is not written: some particles do not have it in the same form" in reported for name in ("shape", "some")), reported
with parabat.open("others.bat") as dataset:
    assert {name: about.dtype for name, about in dataset.attributes.items()} == {
        "same": np.float64, "kind": np.float64} and len(dataset) == 12, dataset

refused("xyz.npy", "bad.bat", "--memory", "2X", code=2, says=["'2X'; allowed is auto or a size"])
put("a.ply", "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\nend_header\n1 2 3\n")
refused("a.ply", "bad.bat", "--memory", "1G", says=["argument --memory: the format ply reads whole steps"])
