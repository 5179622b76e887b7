# SPDX-License-Identifier: BSD-3-Clause
"""Processes that add steps to one series concurrently: every added step is listed, and every other one was
rejected. A killed process does not block others.

Usage: test_two_writers.py; test_two_writers.py add KIND FOLDER STEP ..., which runs one of its
processes
"""

import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import parabat
import parabat.flow
import parabat.idx

WRITERS, STEPS = 3, 12


def add_to_series(folder):
    from mpi4py import MPI  # pylint: disable=import-outside-toplevel
    series = parabat.Series(f"{folder}/a_{{timestep:04d}}.bat", MPI.COMM_SELF, flush=False)
    return lambda step: series.write(step, float(step), np.full((10, 3), step, "f4"))


def add_to_flow(folder):
    return lambda step: parabat.flow.write_level(
        f"{folder}/a.bricks.series", np.full((4, 4, 4, 3), step, "f4"), step=step, time=float(step), flush=False)


def add_to_grids(folder):
    return lambda step: parabat.idx.write(
        f"{folder}/a.idx", {"p": np.full((8, 8, 8), step, "f4")}, step=step, flush=False)


KINDS = {"series": add_to_series, "flow": add_to_flow, "grids": add_to_grids}


def add(kind, folder, steps):
    """Waits for a line before the first step, and for another one after the last."""
    add_step = KINDS[kind](folder)
    print("ready", flush=True)
    sys.stdin.readline()
    added, refused = [], []
    for step in steps:
        try:
            add_step(step)
            added.append(step)
        except parabat.BatError as error:
            refused.append(str(error))
    print(json.dumps([added, refused]), flush=True)
    sys.stdin.readline()


class Writer:
    def __init__(self, kind, folder, steps):
        self.process = subprocess.Popen([sys.executable, __file__, "add", kind, folder, *map(str, steps)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        self.hear()
        return self

    def __exit__(self, *unused):
        self.process.kill()
        self.process.communicate()

    def tell(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def hear(self):
        return self.process.stdout.readline()

    def results(self):
        added, refused = json.loads(self.hear())
        return added, refused

    def end(self):
        self.tell()
        return self.process.wait()


def listed(kind, folder):
    """The steps that readers find, each with its own values."""
    steps = []
    if kind == "series":
        for path in (step.path for step in parabat.read_series(folder / "a.bat.series")):
            with parabat.Dataset(path) as dataset:
                steps.append(dataset.step)
                assert np.all(dataset.read().positions == dataset.step)
    elif kind == "flow":
        for time, level in parabat.flow.describe(folder / "a.bricks.series"):
            steps.append(level.step)
            assert level.step == time
    else:
        with parabat.idx.open(folder / "a.idx") as grid:
            steps = [int(step) for step in grid.steps]
            for step in steps:
                assert np.all(grid.read("p", step=step)["p"] == step)
    return steps


class TwoWriters(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="bat_writers_")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_a_step_is_listed_or_refused(self):
        for kind in KINDS:
            with self.subTest(kind):
                folder = self.folder / kind
                folder.mkdir()
                writers = [Writer(kind, folder, range(first, WRITERS * STEPS, WRITERS)) for first in range(WRITERS)]
                for writer in writers:
                    self.enterContext(writer)
                for writer in writers:
                    writer.tell()
                results = [writer.results() for writer in writers]
                added = sorted(step for steps, _ in results for step in steps)
                refused = [text for _, texts in results for text in texts]
                self.assertEqual(listed(kind, folder), added)
                self.assertEqual(len(added) + len(refused), WRITERS * STEPS)
                self.assertGreaterEqual(len(added), 1)
                for text in refused:
                    self.assertRegex(text, "another process is (adding steps to this list|writing this dataset)")
                for writer in writers:
                    self.assertEqual(writer.end(), 0)
                self.assertEqual(list(folder.rglob("*.lock")), [])

    def test_a_writer_that_was_killed_keeps_nobody_out(self):
        for kind in KINDS:
            with self.subTest(kind):
                folder = self.folder / kind
                folder.mkdir()
                with Writer(kind, folder, [1]) as writer:
                    writer.tell()
                    self.assertEqual(writer.results(), ([1], []))
                    writer.process.send_signal(signal.SIGKILL)
                    writer.process.wait()
                with Writer(kind, folder, [2]) as writer:
                    writer.tell()
                    self.assertEqual(writer.results(), ([2], []))
                    self.assertEqual(writer.end(), 0)
                self.assertEqual(listed(kind, folder), [1, 2])


if __name__ == "__main__":
    if sys.argv[1:2] == ["add"]:
        add(sys.argv[2], sys.argv[3], [int(step) for step in sys.argv[4:]])
    else:
        unittest.main()
