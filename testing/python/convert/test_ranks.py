# SPDX-License-Identifier: BSD-3-Clause
"""Ranks share the steps of a conversion; if one cannot, all return the same error and nothing is left."""

import os

import numpy as np
from mpi4py import MPI
from parabat.convert.formats import npy
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
whole = npy.part_of


def part_of(count, i, n):
    shares.append((i, n))
    return whole(count, i, n)


npy.part_of = part_of
assert command("in_1.npz", "one.bat")[0] == 0 and shares == [(world.rank, world.size)], shares
npy.part_of = whole
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
# Nothing of what comes after the bad one's turn is done twice, and all ranks come back.
code, _, err = command("in_*.npz", "out.bat")
assert code == 3 and (world.rank != 0 or ("in_5.npz: no positions" in err and "5 datasets" in err)), err
assert world.rank == 0 or err == "", err
world.barrier()
