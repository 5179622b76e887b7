# SPDX-License-Identifier: BSD-3-Clause
"""Compares the series of an in situ example with the orbits that it must contain.

Usage: check_orbit.py FOLDER COMMAND...

Runs the command with a file pattern in a new folder as its last argument.
"""

import json
import pathlib
import shutil
import subprocess
import sys

import parabat
import numpy as np

PARTICLES, STEPS, EVERY = 30000, 20, 5


def orbits(steps):
    ids = np.arange(PARTICLES)
    positions = np.column_stack([1 + ids % 997 / 997, ids % 31 / 310, np.zeros(PARTICLES)])
    velocities = np.column_stack(
        [np.zeros(PARTICLES), 0.5 + 0.1 * (ids % 7), np.full(PARTICLES, 0.01)])
    for _ in range(steps):
        r2 = np.sum(positions * positions, axis=1)
        velocities = velocities - 0.01 * positions / (r2 * r2)[:, None]
        positions = positions + 0.01 * velocities
    return positions, velocities


def main():
    folder, command = pathlib.Path(sys.argv[1]), sys.argv[2:]
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([*command, str(folder / "orbit_{timestep:04d}.bat")], check=True, timeout=100)
    series = json.loads((folder / "orbit.bat.series").read_text())["files"]
    steps = list(range(0, STEPS + 1, EVERY))
    assert [f["name"] for f in series] == [f"orbit_{s:04d}.bat" for s in steps], series
    for entry, step in zip(series, steps):
        assert abs(entry["time"] - 0.01 * step) < 1e-12, entry
        with parabat.Dataset(folder / entry["name"]) as dataset:
            assert dataset.step == step and dataset.time == entry["time"]
            particles = dataset.read()
        order = np.argsort(particles["id"])
        np.testing.assert_array_equal(particles["id"][order], np.arange(PARTICLES))
        positions, velocities = orbits(step)
        # Compilers may contract or reorder the operations that compute the orbits.
        np.testing.assert_allclose(particles.positions[order], positions, rtol=0, atol=1e-12)
        np.testing.assert_allclose(particles["velocity"][order], velocities, rtol=0, atol=1e-12)
    print(f"{len(steps)} steps of {PARTICLES} particles")


if __name__ == "__main__":
    main()
