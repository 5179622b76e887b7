# SPDX-License-Identifier: BSD-3-Clause
"""Checks the files of the example that writes a grid, its velocity in bricks, and particles through Catalyst, on any
number of ranks.

Usage: test_vortex.py FOLDER VORTEX MPIEXEC [ARGUMENT ...] -np"""

import filecmp
import json
import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import parabat
from parabat import flow as flows
from parabat import idx

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "bricks"))
import bricks_spec

SAMPLES, STEPS, GRAINS, SPEED = 12, [0, 2, 4], 500, 0.1


def simulate(folder, vortex, launcher, ranks):
    folder.mkdir(parents=True)
    options = {"grid_output": ["flow.idx", "flow.bricks"], "bricks_cyclic": "xyz"}
    (folder / "options.json").write_text(json.dumps(options))
    numbers = map(str, (SAMPLES, STEPS[-1], STEPS[1], GRAINS))
    result = subprocess.run([*launcher, str(ranks), vortex, *numbers], cwd=folder, capture_output=True, text=True,
                            timeout=300, env={**os.environ, "CATALYST_BAT_CONFIG": "options.json"})
    assert result.returncode == 0, result.stdout + result.stderr
    assert "catalyst-bat" not in result.stderr, result.stderr


def check_flow(path):
    flow = idx.open(path)
    assert flow.steps == STEPS and flow.times == STEPS, (flow.steps, flow.times)
    # The Taylor-Green vortices at the start.
    angle = 2 * np.pi / SAMPLES * np.arange(SAMPLES)
    z, y, x = np.meshgrid(angle, angle, angle, indexing="ij")
    truth = SPEED * np.cos(z)[..., None] * np.stack(
        [np.sin(x) * np.cos(y), -np.cos(x) * np.sin(y), 0 * x], axis=-1)
    assert np.abs(flow.read(step=0)["velocity"] - truth).max() < 1e-7
    for step in STEPS:
        grid = flow.read(step=step)

        def slope(component, axis):
            values = grid["velocity"][..., component].astype("f8")
            return (np.roll(values, -1, 2 - axis) - np.roll(values, 1, 2 - axis)) / 2

        truth = np.sqrt((slope(2, 1) - slope(1, 2)) ** 2 + (slope(0, 2) - slope(2, 0)) ** 2
                        + (slope(1, 0) - slope(0, 1)) ** 2)
        assert np.abs(grid["vorticity"] - truth).max() < 1e-6, step


def check_bricks(path, grid):
    """The grid's velocities, in which lines are traced, also out of the box on one side and in on the other."""
    entries = json.loads(path.read_text())["files"]
    assert [entry["time"] for entry in entries] == STEPS, entries
    for step, entry in zip(STEPS, entries):
        level = bricks_spec.read(path.parent / entry["name"])
        assert np.array_equal(level["values"], idx.open(grid).read(step=step)["velocity"]), step
    with flows.open(path) as series:
        places = np.linspace(0, SAMPLES - 0.5, 40)[:, None] * [1, 0.7, 0.4]
        lines = series.path_lines(places)
        assert set(lines.reasons) == {8}, lines.reasons  # all lines reach the end


def grains(path):
    particles = parabat.open(path).read()
    order = np.argsort(particles["id"])
    assert np.array_equal(particles["id"][order], np.arange(GRAINS)), path
    return particles.positions[order], particles["velocity"][order]


def main():
    scratch, vortex, *launcher = sys.argv[1:]
    scratch = pathlib.Path(scratch, "vortex")
    shutil.rmtree(scratch, ignore_errors=True)
    one, three = scratch / "1", scratch / "3"
    for folder, ranks in ((one, 1), (three, 3)):
        simulate(folder, vortex, launcher, ranks)
    check_flow(one / "flow.idx")
    check_bricks(one / "flow.bricks.series", one / "flow.idx")
    files = [p.relative_to(one) for p in [one / "flow.idx", *(one / "flow").rglob("*.bin"), *one.glob("flow*.bricks*")]]
    assert len(files) == 1 + len(STEPS) + 1 + len(STEPS), files
    _, wrong, missing = filecmp.cmpfiles(one, three, files, shallow=False)
    assert not wrong and not missing, (wrong, missing)
    for step in STEPS:
        name = f"dust_{step:06d}.bat"
        for own, other in zip(grains(one / name), grains(three / name)):
            assert np.array_equal(own, other), name
    shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
