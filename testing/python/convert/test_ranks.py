# SPDX-License-Identifier: BSD-3-Clause
"""Ranks share the steps of a conversion, or the samples of grids; if one fails, all return the same error and nothing
is left."""

import os
import signal
import types

import numpy as np
from mpi4py import MPI
from parabat import bricks, flow, idx
from parabat.convert import grid_job, layout
from support import command, same

world = MPI.COMM_WORLD
os.chdir(world.bcast(os.getcwd()))
steps = np.random.default_rng(1).random((5, 100, 4))
if world.rank == 0:
    for number, step in enumerate(steps):
        np.savez(f"in_{number}.npz", pos=step[:, :3], id=np.arange(100), q=step[:, 3])
    np.savez("in_5.npz", pos=steps[0][:, :2], id=np.arange(100))
world.barrier()

code, out, err = command("in_[0-4].npz", "out.bat", "--json")
assert code == 0 and err == "", err
assert len(out.splitlines()) == (5 if world.rank == 0 else 0), out
for number, step in enumerate(steps):
    same(f"out_{number:04}.bat", step[:, :3], {"id": np.arange(100), "q": step[:, 3]})
assert os.path.exists("out.bat.series")
world.barrier()
if world.rank == 0:
    for number in range(5):
        os.unlink(f"out_{number:04}.bat")
before = world.bcast(sorted(os.listdir(".")))

# The only step: each rank reads a part, whatever types the parts of the others have.
rows = [f"{x!r},{y!r},{z!r},{i}" for i, (x, y, z, _) in enumerate(steps[1].tolist())]
if world.rank == 0:
    with open("one.csv", "w", encoding="ascii") as file:
        file.write("x,y,z,id\n" + "\n".join(rows[:-1] + [rows[-1] + ".5"]) + "\n")
world.barrier()
for name, number, values in (("in_0.npz", 0, {"id": np.arange(100), "q": steps[0][:, 3]}),
                             ("one.csv", 1, {"id": np.append(np.arange(99), 99.5)})):
    code, out, err = command(name, "one.bat", "--json")
    assert code == 0 and err == "", err
    assert len(out.splitlines()) == (1 if world.rank == 0 else 0), out
    same("one.bat", steps[number][:, :3], values)
    world.barrier()
shares = []
whole = layout.part_of


def part_of(count, i, n):
    shares.append((i, n))
    return whole(count, i, n)


layout.part_of = part_of
assert command("in_1.npz", "one.bat")[0] == 0 and shares == [(world.rank, world.size)], shares
layout.part_of = whole
world.barrier()
if world.rank == 0:
    os.unlink("one.bat")
    os.unlink("one.csv")
world.barrier()
before = world.bcast(sorted(os.listdir(".")))

code, _, err = command("in_5.npz", "bad.bat")
assert code == 3, err
world.barrier()
assert sorted(os.listdir(".")) == before, os.listdir(".")
# Nothing after the bad step is done twice, and all ranks return.
code, _, err = command("in_*.npz", "out.bat")
assert code == 3 and (world.rank != 0 or ("in_5.npz: no positions" in err and "5 datasets" in err)), err
assert world.rank == 0 or err == "", err
world.barrier()

# Grids: each rank reads a slab of every step, and all write it together.
try:
    import h5py
except ImportError:
    h5py = None
v = np.random.default_rng(2).random((5, 6, 7, 3)).astype("f4")
place = {"origin": (-1, 0, 1), "spacing": (0.5, 1, 2)}
names = ["plane.npy", "wind_12.npz", "wind.idx", "7x6x5.raw"] + (["wind.h5"] if h5py else [])
if world.rank == 0:
    np.save("plane.npy", v[:1])
    np.savez("wind_12.npz", **dict(zip("uvw", np.moveaxis(v, -1, 0))))
    for step in (0, 3):
        idx.write("wind.idx", {"wind": v + step, "n": np.ones((5, 6, 7), "i2")}, step=step, first=(0, 0, 2), flush=False,
                  mode="add_step" if step else "replace", **place)
    v.tofile("7x6x5.raw")
    if h5py:
        with h5py.File("wind.h5", "w") as file:
            file["wind"] = v
world.barrier()
request = {"wind.idx": ["--arrays", "wind"], "7x6x5.raw": ["--dimensions", "7,6,5", "--type", "float32[3]"]}
for name in names:
    code, out, err = command(name, "to.bricks.series", "--json", *request.get(name, ["--origin=-1,0,1", "--spacing=0.5,1,2"]), "--replace")
    assert code == 0 and err == "", err
    assert len(out.splitlines()) == ((2 if name == "wind.idx" else 1) if world.rank == 0 else 0), out
    if world.rank == 0:
        for level, step in enumerate((0, 3) if name == "wind.idx" else (0,)):
            own = {} if name == "7x6x5.raw" else {**place, "origin": (-1, 0, 5)} if name == "wind.idx" else place
            field = {"wind_12.npz": "velocity", "plane.npy": "plane", "7x6x5.raw": "7x6x5"}.get(name, "wind")
            flow.write_level("expected.bricks", v[:1] if name == "plane.npy" else v + step, step=step, field=field, flush=False,
                             time=float(step if name == "wind.idx" else 0), **own)
            with open(f"to_{level:04}.bricks", "rb") as found, open("expected.bricks", "rb") as expected:
                assert found.read() == expected.read(), (name, level)
    world.barrier()
code, out, err = command("wind.idx", "again.idx", "--json", "--codec", "zip")
assert code == 0 and err == "", err
if world.rank == 0:
    with idx.open("again.idx") as dataset:
        assert (dataset.steps, dataset.box) == ([0, 3], (0, 0, 2, 6, 5, 6))
        found = dataset.read(step=3)
        assert np.array_equal(found["wind"], v + 3) and np.array_equal(found["n"], np.ones((5, 6, 7), "i2"))
    with open("cut.npy", "wb") as file, open("plane.npy", "rb") as sound:
        file.write(sound.read()[:-9])
world.barrier()
before = world.bcast(sorted(os.listdir(".")))
for words in (["cut.npy", "bad.bricks.series"], ["wind.idx", "bad.bricks.series"], ["wind.idx", "bad.bricks", "--arrays", "wind"],
              ["plane.npy", "to.bricks.series"]):
    code, _, err = command(*words)
    assert code == 3 and (err != "") == (world.rank == 0), (words, code, err)
    assert sorted(os.listdir(".")) == before, os.listdir(".")
    world.barrier()

# An error or message on one rank is reported on all.
if h5py:
    if world.rank == 0:
        with h5py.File("holes.h5", "w") as file:
            for name in "uvw":
                file.create_dataset(name, (4 * world.size, 3, 3), "f4", chunks=(4, 3, 3))[:4 * world.size - 4] = 1
    world.barrier()
    code, _, err = command("holes.h5", "holes.bricks.series")
    assert code == 0 and (world.rank != 0 or f"/u: 1 of {world.size} chunks" in err), err
    world.barrier()


def fails(*_, **__):
    raise MemoryError


if world.rank == world.size - 1:
    grid_job.np = types.SimpleNamespace(**{**vars(np), "stack": fails})
code, _, err = command("wind_12.npz", "bad.bricks.series")
assert code == 3 and (world.rank != 0 or "wind_12.npz: out of memory" in err), err
grid_job.np = np
if world.rank == world.size - 1:
    bricks.SeriesWriter.add = lambda *_, add=bricks.SeriesWriter.add, **__: (add(*_, **__), signal.raise_signal(signal.SIGINT))[0]
code, _, err = command("wind.idx", "int.bricks.series", "--arrays", "wind")
assert code == 130 and (world.rank != 0 or "interrupted" in err), (code, err)
