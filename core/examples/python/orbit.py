# SPDX-License-Identifier: BSD-3-Clause
"""A tiny simulation in Python: written in one collective call, restarted on any number of ranks.

    mpirun -n 4 python3 orbit.py write orbit.bat      10 steps, then the dataset
    mpirun -n 2 python3 orbit.py restart orbit.bat    reads it, 10 more steps, compares with a run of 20
    python3 orbit.py serial orbit.bat                 both in one process, without MPI

parabat (core/python) must be in PYTHONPATH.
"""

import sys

import parabat
import numpy as np

PARTICLES, STEPS = 30000, 10


def start(ids):
    positions = np.column_stack([1 + ids % 997 / 997, ids % 31 / 310, np.zeros(len(ids))])
    velocities = np.column_stack([np.zeros(len(ids)), 0.5 + 0.1 * (ids % 7), np.full(len(ids), 0.01)])
    return positions, velocities


def advance(positions, velocities, steps):
    """Each particle by itself, so that the outcome does not depend on the ranks."""
    for _ in range(steps):
        x, y, z = positions.T
        r2 = x * x + y * y + z * z
        velocities = velocities - 0.01 * positions / (r2 * r2)[:, None]
        positions = positions + 0.01 * velocities
    return positions, velocities


def write(comm, path, rank, ranks):
    ids = np.arange(PARTICLES * rank // ranks, PARTICLES * (rank + 1) // ranks)
    positions, velocities = advance(*start(ids), STEPS)
    report = parabat.write(path, positions, {"velocity": velocities, "id": ids}, comm=comm, step=STEPS,
                       time=0.01 * STEPS, target_bytes=400000)
    if rank == 0:
        print(report.json())


def restart(comm, path, rank, ranks):
    with parabat.Dataset(path, comm) as dataset:
        step = dataset.step
        particles = dataset.read(part=rank, parts=ranks)
    positions, velocities = advance(particles.positions, particles["velocity"], STEPS)
    expected = advance(*start(particles["id"]), step + STEPS)
    wrong = int(np.count_nonzero(positions != expected[0]) + np.count_nonzero(velocities != expected[1]))
    count = particles.count
    if comm is not None:
        count, wrong = comm.allreduce(count), comm.allreduce(wrong)
    if rank == 0:
        print(f"{count} particles on {ranks} ranks after step {step + STEPS}, {wrong} differ")
    return count == PARTICLES and wrong == 0


def main():
    action, path = sys.argv[1:]
    if action == "serial":
        write(None, path, 0, 1)
        return 0 if restart(None, path, 0, 1) else 1
    from mpi4py import MPI
    comm = MPI.COMM_WORLD
    if action == "write":
        write(comm, path, comm.rank, comm.size)
        return 0
    return 0 if restart(comm, path, comm.rank, comm.size) else 1


if __name__ == "__main__":
    sys.exit(main())
