# SPDX-License-Identifier: BSD-3-Clause
"""A tiny simulation in Python that writes its particles while it runs, every fifth of 20 steps.

    mpirun -n 4 python3 orbit_insitu.py out/orbit_{timestep:04d}.bat

parabat (core/python) must be in PYTHONPATH.
"""

import sys

import parabat
import numpy as np
from mpi4py import MPI

PARTICLES, GHOSTS, STEPS, EVERY = 30000, 10, 20, 5


def main():
    comm = MPI.COMM_WORLD
    first = PARTICLES * comm.rank // comm.size
    end = PARTICLES * (comm.rank + 1) // comm.size
    ids = np.arange(first, end + GHOSTS) % PARTICLES  # the last ones belong to the neighbour
    ghosts = np.arange(len(ids)) >= end - first
    positions = np.column_stack([1 + ids % 997 / 997, ids % 31 / 310, np.zeros(len(ids))])
    velocities = np.column_stack([np.zeros(len(ids)), 0.5 + 0.1 * (ids % 7), np.full(len(ids), 0.01)])

    with parabat.Series(sys.argv[1], comm, every=EVERY) as series:
        for step in range(STEPS + 1):
            report = series.write(step, 0.01 * step, positions, {"velocity": velocities, "id": ids},
                                  ghosts=ghosts)
            if report.particles and comm.rank == 0:
                print(f"step {step}: {report.json()}")
            r2 = np.sum(positions * positions, axis=1)
            velocities = velocities - 0.01 * positions / (r2 * r2)[:, None]
            positions = positions + 0.01 * velocities


if __name__ == "__main__":
    main()
