# SPDX-License-Identifier: BSD-3-Clause
"""Creates a large particle file to try the reader with: a disc galaxy in its halo.

Each particle has a position (float32), id (int64), velocity (3 x float32), temperature and density (float32):
40 bytes. The particles are the same for any number of ranks.

Usage: [mpirun -np N] python3 make_particles.py COUNT FILE.bat [--steps S]

Needs NumPy and mpi4py, and BAT_LIBRARY and PYTHONPATH as for the Python API (core/python). Takes about
three times the size of the particles as memory, over all ranks. With --steps it writes a time series
FILE_0000.bat, ... in which the disc turns.
"""

import argparse
import os

import parabat
import numpy as np
from mpi4py import MPI

CHUNK = 1 << 20  # particles per seed


def chunk(number, count, angle):
    """`count` particles from number * CHUNK on, with the disc turned by `angle` at radius 1."""
    rng = np.random.default_rng(number)
    kind = rng.random(count)
    halo, bulge = kind < 0.15, kind > 0.85
    disc = ~(halo | bulge)

    radius = rng.exponential(1.0, count) + 0.02
    radius[bulge] = 0.35 * np.abs(rng.standard_normal(bulge.sum())) ** 1.5 + 1e-3
    radius[halo] = 8.0 * rng.random(halo.sum()) ** 0.7
    phase = 2 * np.pi * rng.random(count)
    # Two logarithmic arms, near which most of the disc gathers.
    arm = 2.2 * np.log(radius[disc] + 0.2) + np.pi * rng.integers(0, 2, disc.sum())
    width = 0.25 + 0.9 * rng.random(disc.sum()) ** 3
    phase[disc] = arm + width * rng.standard_normal(disc.sum())
    speed = np.sqrt(radius) / (0.3 + radius) ** 0.5
    phase += angle * speed / np.maximum(radius, 0.05)

    height = rng.standard_normal(count)
    z = 0.06 * height
    z[bulge] = 0.6 * radius[bulge] * height[bulge]
    cosine = 2 * rng.random(halo.sum()) - 1
    z[halo] = radius[halo] * cosine
    plane = radius.copy()
    plane[halo] = radius[halo] * np.sqrt(1 - cosine**2)

    positions = np.stack([plane * np.cos(phase), plane * np.sin(phase), z], axis=1)
    velocity = np.stack([-speed * np.sin(phase), speed * np.cos(phase), 0.05 * height], axis=1)
    density = np.exp(-radius - np.abs(z) / 0.06)
    density[disc] *= 1 + 3 * np.exp(-((phase[disc] - arm) / 0.3) ** 2)
    temperature = 1e4 / (density + 1e-2) * (0.5 + rng.random(count))
    first = number * CHUNK
    return positions.astype(np.float32), {
        "id": np.arange(first, first + count, dtype=np.int64),
        "velocity": velocity.astype(np.float32),
        "temperature": temperature.astype(np.float32),
        "density": density.astype(np.float32),
    }


def share(comm, count, angle):
    """This rank's particles: every comm.size-th chunk."""
    numbers = range(comm.rank, -(-count // CHUNK), comm.size)
    sizes = [min(CHUNK, count - n * CHUNK) for n in numbers]
    positions, columns, at = np.empty((sum(sizes), 3), np.float32), {}, 0
    for number, size in zip(numbers, sizes):
        xyz, values = chunk(number, size, angle)
        positions[at:at + size] = xyz
        for name, column in values.items():
            if name not in columns:
                columns[name] = np.empty((sum(sizes),) + column.shape[1:], column.dtype)
            columns[name][at:at + size] = column
        at += size
    return positions, columns or {name: column[:0] for name, column in chunk(0, 1, angle)[1].items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("count", type=lambda text: int(float(text)), help="particles, such as 1e8")
    parser.add_argument("file", help="the .bat file to write")
    parser.add_argument("--steps", type=int, default=0, help="write a time series of so many files")
    options = parser.parse_args()
    comm = MPI.COMM_WORLD
    stem = os.path.splitext(options.file)[0]
    for step in range(max(1, options.steps)):
        path = f"{stem}_{step:04d}.bat" if options.steps else options.file
        positions, columns = share(comm, options.count, 0.1 * step)
        report = parabat.write(path, positions, columns, comm=comm, time=0.1 * step, step=step,
                           metadata='{"title":"disc galaxy"}')
        if comm.rank == 0:
            print(f"{path}: {report.particles} particles in {report.leaf_files} leaf files", flush=True)


if __name__ == "__main__":
    main()
