# SPDX-License-Identifier: BSD-3-Clause
"""parabat.flow: a rotating flow that is written, read by another reader, and traced; and rejected
arguments.

Arguments: a folder for files, preceded by the word `ranks` on many ranks."""

import concurrent.futures
import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest
import unittest.mock

import numpy as np

import parabat
from parabat import bricks, flow

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "bricks"))
SCRATCH = sys.argv.pop() if len(sys.argv) > 1 else None


def rotation(n=17, dtype=np.float32):
    x = np.linspace(-1, 1, n)
    z, y, x = np.meshgrid(x, x, x, indexing="ij")
    return np.stack([-y, x, 0 * z], axis=-1).astype(dtype)


class Flow(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(dir=SCRATCH)
        self.addCleanup(self.folder.cleanup)
        self.series = pathlib.Path(self.folder.name) / "turn.bricks.series"
        flow.write_series(self.series, [(t, rotation()) for t in (0, 0.5, 2)], origin=(-1, -1, -1),
                          spacing=[0.125] * 3, field="wind", metadata={"units": "m/s"}, flush=False)

    def test_what_memory_does_not_hold_is_an_error_of_ours(self):
        with flow.open(self.series) as turn:
            box, refused = [-1, -1, -1, 1, 1, 1], unittest.mock.patch("numpy.empty", side_effect=MemoryError)
            with refused, self.assertRaisesRegex(parabat.BatMemoryError, "8 x 8 x 8 values .* more than the available memory"):
                turn.ftle(box, (8, 8, 8))
            with refused, self.assertRaises(parabat.BatMemoryError):
                turn.path_lines([[0.5, 0, 0.1]])

    def test_lines_turn(self):
        with flow.open(self.series, cache_bytes=1 << 20) as turn:
            self.assertEqual(turn.points, (17, 17, 17))
            self.assertEqual(turn.times.tolist(), [0, 0.5, 2])
            seeds = np.array([[0.5, 0, 0.1], [0, 0.25, -1], [5, 0, 0]])
            shares = []
            lines = turn.path_lines(seeds, progress=shares.append)
            self.assertEqual(shares[-1], 1)
            self.assertEqual(lines.reasons.tolist(), [8, 8, 11])
            self.assertEqual(lines.offsets.tolist(), [0, 3, 6, 6])
            angle = 2.0
            expected = [[0.5 * np.cos(angle), 0.5 * np.sin(angle), 0.1],
                        [-0.25 * np.sin(angle), 0.25 * np.cos(angle), -1]]
            np.testing.assert_allclose(lines.ends[:2], expected, atol=1e-6)
            np.testing.assert_array_equal(lines.line(0)[-1], lines.ends[0])
            np.testing.assert_array_equal(lines.line(-1), np.empty((0, 3)))
            np.testing.assert_allclose(lines.velocities[0], [0, 0.5, 0], atol=1e-6)
            self.assertEqual(lines.times[:3].tolist(), [0, 0.5, 2])
            self.assertGreater(lines.statistics["touched"], 0)
            back = turn.path_lines(lines.ends[:2], backward=True)
            np.testing.assert_allclose(back.ends, seeds[:2], atol=2e-6)
            with concurrent.futures.ThreadPoolExecutor(3) as pool:
                sums = {f.checksum for f in pool.map(lambda _: turn.path_lines(seeds), range(6))}
            self.assertEqual(sums, {lines.checksum})
            rk4 = turn.path_lines(seeds, integrator="rk4", step_share=0.01)
            np.testing.assert_allclose(rk4.ends[:2], expected, atol=1e-5)
        box = [-1, 0.4, -1, 0.3, 1, 1]
        found = flow.path_lines(self.series, seeds, destination=box, stop_on_arrival=True, threads=1)
        self.assertEqual(found.reasons.tolist(), [9, 8, 11])
        np.testing.assert_allclose(found.arrivals[0], np.arccos(0.6), atol=1e-5)
        self.assertTrue(np.isnan(found.arrivals[1]))
        self.assertEqual(found.destinations.tolist(), [0, -1, -1])
        found = flow.path_lines(self.series, seeds, destination=[[-1, -1, -1, -0.9, 1, 1], box], max_age=1)
        self.assertEqual(found.destinations.tolist(), [1, -1, -1])
        self.assertEqual(found.reasons.tolist(), [12, 12, 11])
        self.assertEqual(found.end_times[:2].tolist(), [1, 1])
        for wrong in ([box[:5]], [], "here"):
            with self.assertRaisesRegex(parabat.BatError, "destination"):
                flow.path_lines(self.series, seeds, destination=wrong)
        with self.assertRaisesRegex(parabat.BatError, "max_age is -1"):
            flow.path_lines(self.series, seeds, max_age=-1)

    def test_hints_are_written_by_who_learns_only(self):
        hints = self.series.with_name("turn.bricks.hints")
        seeds = np.random.default_rng(1).uniform(-0.6, 0.6, (300, 3))
        line = [[0.1, 0.1, 0], [0.5, 0.1, 0]]
        box = (-0.5, -0.5, 0, 0.5, 0.5, 0)

        def runs(mode):
            with flow.open(self.series) as turn:
                yield turn.path_lines(seeds, hints=mode)
            with flow.open(self.series) as turn:
                yield turn.streak_surface(line, max_edge=0.2, hints=mode)
            with flow.open(self.series) as turn:
                yield turn.ftle(box, (9, 9, 1), hints=mode)
        first = flow.path_lines(self.series, seeds)
        self.assertEqual(sum(run.statistics["hinted"] for mode in ("off", "read") for run in runs(mode)), 0)
        self.assertFalse(hints.exists())
        for run in runs("learn"):
            size = hints.stat().st_size
            self.assertEqual((size - 64) % 10, 0)
        self.assertGreater(size, 64)
        reported = hints.read_bytes()
        self.assertEqual(sum(run.statistics["hinted"] for run in runs("off")), 0)
        for run in runs("read"):
            self.assertLessEqual(run.statistics["hints_used"], run.statistics["hinted"])
            self.assertLessEqual(run.statistics["hinted"], run.statistics["prefetched"])
        lines = flow.path_lines(self.series, seeds)  # the default reads
        self.assertGreater(lines.statistics["hinted"], 0)
        self.assertEqual(lines.checksum, first.checksum)
        self.assertEqual(hints.read_bytes(), reported)
        with self.assertRaisesRegex(parabat.BatError, "hints: 'write'; allowed: off, read, learn"):
            flow.path_lines(self.series, seeds, hints="write")

    def test_lines_go_on_in_a_series_that_grows(self):
        grows = self.series.with_name("grows.bricks.series")
        levels = [(0.25 * i, rotation() * (1 + i)) for i in range(6)]
        place = {"origin": (-1, -1, -1), "spacing": [0.125] * 3, "flush": False}
        seeds = np.random.default_rng(1).uniform(-0.8, 0.8, (50, 3))
        times = np.where(np.arange(50) % 3 == 0, 0.9, np.where(np.arange(50) % 5 == 0, 0.5, 0.1))
        lines, kept = None, self.series.with_name("lines.npz")
        for count in (3, 4, 6):
            flow.write_series(grows, levels[:count], replace=True, **place)
            with flow.open(grows) as series:
                if lines is None:
                    lines = series.path_lines(seeds, times)
                    self.assertEqual(set(lines.reasons), {8, 11})
                else:  # like another process: from a file
                    old = np.load(kept)
                    lines = flow.PathLines(statistics={}, checksum=0, **old)
                    lines = series.path_lines(seeds, times, resume=lines)
            arrays = {name: value for name, value in vars(lines).items() if isinstance(value, np.ndarray)}
            np.savez(kept, **arrays)
        whole = flow.path_lines(grows, seeds, times)
        self.assertEqual(lines.checksum, whole.checksum)
        for name, value in arrays.items():
            np.testing.assert_array_equal(value, getattr(whole, name), name)
        self.assertLess(lines.statistics["steps"], whole.statistics["steps"])
        ends = flow.path_lines(grows, seeds, times, end_time=0.5, keep_points=False)
        self.assertEqual(ends.resting.shape, (0,))
        self.assertEqual((ends.positions.size, ends.times.size, ends.velocities.size, ends.ends.shape), (0, 0, 0, (len(seeds), 3)))
        on = flow.path_lines(grows, seeds, times, keep_points=False, resume=ends)
        np.testing.assert_allclose(on.ends, whole.ends, atol=1e-5)
        for change, reported in (({"reasons": 0 * whole.reasons}, "reason 0 of line 0"),
                             ({"offsets": whole.offsets[::-1]}, "shape"),
                             ({"offsets": whole.offsets + 1}, "shape"),
                             ({"offsets": np.r_[0, 99, whole.offsets[2:]]}, "offset [0-9]+ after 99 of line 1"),
                             ({"resting": whole.resting[1:]}, "saved trace state: .* bytes that were not written by this library"),
                             ({"ends": whole.ends[:, :2]}, "ends of the lines to extend")):
            with self.assertRaisesRegex(parabat.BatError, reported):
                flow.path_lines(grows, seeds, times, resume=dataclasses.replace(whole, **change))
        with self.assertRaisesRegex(parabat.BatError, "resume"):
            flow.path_lines(grows, seeds, times, resume=seeds)
        with self.assertRaisesRegex(parabat.BatTypeError, r"seeds: None .*\(n, 3\).*with resume, the seeds of the earlier call"):
            flow.path_lines(grows, None, resume=whole)
        with self.assertRaisesRegex(parabat.BatError, "3 seeds for 50 lines"):
            flow.path_lines(grows, seeds[:3], 0.1, resume=whole)

    def test_a_series_that_grows_is_one_wherever_the_process_is(self):
        folder = self.series.parent.resolve() / "one"
        (folder / "other").mkdir(parents=True)
        turn, before = rotation(), os.getcwd()
        place = {"flush": False}
        try:
            os.chdir(folder)
            flow.write_level("./w.bricks.series", turn, time=0, step=0, **place)
            os.chdir("other")
            flow.write_level(folder / "w.bricks.series", turn, time=1, step=1, **place)
            flow.write_level("./../w.bricks.series", turn, time=2, step=2, **place)
            with self.assertRaisesRegex(parabat.BatValueError, "a grid of 17 x 17 x 16 points.*one grid"):
                flow.write_level("../w.bricks.series", turn[1:], time=3, step=3, **place)
        finally:
            os.chdir(before)
        self.assertEqual(sorted(os.listdir(folder)), [".w.bricks.series.lock", "other", "w.bricks.series"]
                         + [f"w_{i:06}.bricks" for i in range(3)])
        self.assertEqual([entry["name"] for entry in json.loads((folder / "w.bricks.series").read_text())["files"]],
                         [f"w_{i:06}.bricks" for i in range(3)])
        flow.validate(folder / "w.bricks.series")

    def test_no_list_has_levels_of_two_series(self):
        path = self.series.with_name("again.bricks.series")
        levels = [(float(i), rotation() * (1 + i)) for i in range(3)]
        flow.write_series(path, levels, flush=False)
        listed = path.read_bytes()

        def cancels(_done):
            raise KeyboardInterrupt
        with self.assertRaises(KeyboardInterrupt):  # nothing was replaced
            flow.write_series(path, levels, replace=True, flush=False, progress=cancels)
        self.assertEqual(path.read_bytes(), listed)
        with unittest.mock.patch.object(bricks.SeriesWriter, "_list", side_effect=OSError("full")):
            with self.assertRaisesRegex(OSError, "full"):
                flow.write_series(path, levels[1:], replace=True, flush=False)
        self.assertFalse(path.exists())

    def test_streak_surface(self):
        line = np.array([[0.25, 0, 0], [0.5, 0, 0.25], [0.75, 0, 0]])
        with flow.open(self.series) as turn:
            shares = []
            found = turn.streak_surface(line, 1.5, start=0.25, max_edge=0.1, max_error=1e-9, progress=shares.append)
            self.assertEqual(shares[-1], 1)
            angle = 1.5 - found.release_times
            x, z = (np.interp(found.line_places, range(3), line[:, axis]) for axis in (0, 2))
            np.testing.assert_allclose(found.positions, np.stack([x * np.cos(angle), x * np.sin(angle), z], -1), atol=1e-6)
            np.testing.assert_allclose(np.linalg.norm(found.normals, axis=1), 1)
            corners = found.positions[found.triangles]
            area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1).sum() / 2
            np.testing.assert_allclose(area, 1.25 * 0.5 * 0.5 ** 0.5, rtol=5e-3)
            self.assertGreaterEqual(found.followed, len(found.positions))
            self.assertGreater(found.statistics["touched"], 0)
            back = turn.streak_surface(line, 1, max_edge=0.2, backward=True)
            self.assertEqual((back.release_times.min(), back.release_times.max()), (1, 2))
            for wrong in (dict(max_edge=0), dict(tear=0.5), dict(start=1.8), dict(time=3), dict(line=line[:1]),
                          dict(line=[1, 2, 3])):
                with self.assertRaises(parabat.BatValueError):
                    turn.streak_surface(**{"line": line, "time": 1.5, "max_edge": 0.1, **wrong})
            with self.assertRaises(parabat.BatCancelledError):
                turn.streak_surface(line, max_edge=0.1, progress=lambda done: False)

    def test_exponents(self):
        x = np.linspace(-2, 2, 9)
        z, y, x = np.meshgrid(x, x, x, indexing="ij")
        parts = np.stack([0.5 * x, -0.5 * y, 0 * z], axis=-1)
        path = self.series.with_name("parts.bricks.series")
        flow.write_series(path, [(1, parts), (3, parts)], origin=(-2, -2, -2), spacing=[0.5] * 3, flush=False)
        with flow.open(path) as field:
            found = field.ftle([-1, -1, 0.25, 1, 1, 0.25], (5, 4, 7), max_error=1e-9)
            self.assertEqual(found.exponents.shape, (1, 4, 5))
            e = np.e
            # From x = -1 and 1 on, particles leave, so their neighbours have no exponent either.
            np.testing.assert_array_equal(np.isnan(found.exponents), np.broadcast_to([1, 1, 0, 1, 1], (1, 4, 5)))
            np.testing.assert_allclose(found.exponents[:, :, 2], 0.5, atol=1e-8)
            np.testing.assert_allclose(found.flow_map[0, 1, 1:4], [[x * e, -1 / 3 / e, 0.25] for x in (-0.5, 0, 0.5)],
                                       atol=1e-8)
            np.testing.assert_allclose(found.end_times[0, 0], [1 + 2 * np.log(2), 3, 3, 3, 1 + 2 * np.log(2)])
            back = field.ftle([-1, -1, -1, 1, 1, 1], (3, 3, 3), time=2, length=0.5, backward=True)
            np.testing.assert_allclose(back.exponents, 0.5, atol=1e-5)
            self.assertEqual(set(back.end_times.ravel()), {1.5})
            self.assertGreater(back.statistics["touched"], 0)
            for wrong in (dict(length=3), dict(length=np.inf), dict(time=5), dict(points=(1, 1, 1)), dict(points=(3, 0, 3)),
                          dict(points=(3, 3)), dict(points=[10**6] * 3), dict(box=[1, 0, 0, 0, 1, 1])):
                with self.assertRaises(parabat.BatValueError):
                    field.ftle(**{"box": [-1, -1, -1, 1, 1, 1], **wrong})

    def test_other_sources_give_the_same_bits(self):
        seeds = np.random.default_rng(5).uniform(-0.9, 0.9, (50, 3))
        place = {"origin": (-1, -1, -1), "spacing": [0.125] * 3}
        expected = flow.path_lines(self.series, seeds)
        times, turn = [0, 0.5, 2], rotation()
        grid = self.series.with_name("turn.idx")
        for step, time in enumerate(times):
            parabat.idx.write(grid, {"p": turn[..., 0], "wind": turn, **dict(zip("uvw", np.moveaxis(turn, -1, 0)))},
                              mode="add_step" if step else "replace", step=step, time=time, flush=False, **place)
        found = {
            "arrays": flow.path_lines(list(zip(times, [turn] * 3)), seeds, **place),
            "swapped": flow.path_lines(zip(times, [turn.astype(">f4")] * 3), seeds, cache_bytes=1 << 20, **place),
            "idx": flow.path_lines(grid, seeds),
            "its fields": flow.path_lines(grid, seeds, fields=["u", "v", "w"], cache_bytes=1 << 20, io_threads=3)}
        with flow.from_function(lambda level, box: turn[box], times, (17, 17, 17), brick_points=5, **place) as source:
            found["function"] = source.path_lines(seeds)
            self.assertIn("a function", repr(source))
        self.assertEqual({name: lines.checksum for name, lines in found.items()},
                         {name: expected.checksum for name in found})
        self.assertEqual(found["arrays"].statistics["bytes_read"], 0)
        with flow.open(grid, fields="wind", cyclic=(True, False, False)) as source:
            self.assertEqual(source.cyclic, (True, False, False))

    def test_one_level_is_a_steady_flow(self):
        seeds = np.array([[0.5, 0, 0.1], [0, 0.25, -1], [0.1, -0.3, 0.2]])
        place = {"origin": (-1, -1, -1), "spacing": [0.125] * 3}

        def turned(angle):
            c, s = np.cos(angle), np.sin(angle)
            return seeds @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])
        level = self.series.with_name("turn_0001.bricks")  # at time 0.5
        with flow.open(level) as still:
            self.assertEqual(still.times.tolist(), [0.5])
            lines = still.path_lines(seeds, end_time=3)
            np.testing.assert_allclose(lines.ends, turned(2.5), atol=1e-6)
            self.assertGreater(len(lines.line(0)), 10)  # at the faces of cells
            radii = np.hypot(*lines.line(0)[:, :2].T)
            np.testing.assert_allclose(radii, 0.5, atol=1e-6)
            self.assertTrue((np.diff(lines.times[:len(radii)]) > 0).all())
            self.assertLess(lines.statistics["touched"], 28)  # only those of one level
            back = still.path_lines(lines.ends, end_time=-2, backward=True)
            np.testing.assert_allclose(back.ends, seeds, atol=2e-6)
            np.testing.assert_allclose(still.path_lines(seeds, 1.0, end_time=3).ends, turned(2), atol=1e-6)
            self.assertEqual(len(still.path_lines(seeds, end_time=3, keep_faces=False).line(0)), 2)
            rk4 = still.path_lines(seeds, end_time=3, integrator="rk4", step_share=0.002)
            np.testing.assert_allclose(rk4.ends, turned(2.5), atol=1e-6)
            for wrong in (None, 0.5, 0, np.inf):
                with self.assertRaisesRegex(parabat.BatValueError, "steady flow with one time step, at time 0.5; .*must be after that"):
                    still.path_lines(seeds, end_time=wrong)
            with self.assertRaisesRegex(parabat.BatValueError, "must be before that"):
                still.path_lines(seeds, end_time=3, backward=True)
            with self.assertRaisesRegex(parabat.BatValueError, "no later times"):
                still.path_lines(seeds, end_time=4, resume=lines)
            found = still.ftle((-0.5, -0.5, 0, 0.5, 0.5, 0), (9, 9, 1), length=2)
            np.testing.assert_allclose(found.exponents, 0, atol=1e-4)  # a rotation parts nothing
            surface = still.streak_surface([[0.2, 0, -0.5], [0.2, 0, 0.5]], 2, max_edge=0.1)
            np.testing.assert_allclose(np.hypot(*surface.positions[:, :2].T), 0.2, atol=1e-5)
            for call in (lambda: still.ftle((-0.5, -0.5, 0, 0.5, 0.5, 0), (9, 9, 1)),
                         lambda: still.streak_surface([[0.2, 0, -0.5], [0.2, 0, 0.5]], max_edge=0.1)):
                with self.assertRaises(parabat.BatValueError):
                    call()
        # Like two identical levels, and from other sources.
        two = flow.path_lines([(0.5, rotation()), (3, rotation())], seeds, keep_faces=True, **place)
        box = lambda level, at: rotation()[at]
        with flow.from_function(box, [0.5], (17, 17, 17), **place) as function:
            for other in (flow.path_lines([(0.5, rotation())], seeds, end_time=3, **place), function.path_lines(seeds, end_time=3)):
                self.assertEqual((other.checksum, other.checksum), (lines.checksum, two.checksum))

    def test_one_seed_and_none(self):
        with flow.open(self.series) as turn:
            whole = turn.path_lines([[0.5, 0, 0.1]])
            one = turn.path_lines([0.5, 0, 0.1])
            self.assertEqual((len(one), one.checksum), (1, whole.checksum))
            self.assertEqual(turn.path_lines((0.5, 0, 0.1), [0.25]).times[0], 0.25)
            self.assertEqual(flow.path_lines(turn, (0.5, 0, 0.1), release_times=0.5).times[0], 0.5)
            with self.assertRaisesRegex(parabat.BatValueError, "release_times: .*; allowed: one number, or one for each of 3 seeds"):
                turn.path_lines([[0.5, 0, 0.1]] * 3, release_times=[0, 0.5])
            for nothing in ([], np.empty((0, 3)), ()):
                none = turn.path_lines(nothing)
                self.assertEqual((len(none), none.ends.shape, none.offsets.tolist(), none.positions.shape), (0, (0, 3), [0], (0, 3)))
            self.assertEqual(len(turn.path_lines([], [])), 0)
            for wrong in ([0.5, 0], [[0.5, 0]], [[[0.5, 0, 0]]], 0.5, [[]]):
                with self.assertRaisesRegex(parabat.BatValueError, r"shape \(.*\(n, 3\), or \(3,\) for a single one"):
                    turn.path_lines(wrong)
            for line in ([0.5, 0, 0.1], []):
                with self.assertRaisesRegex(parabat.BatValueError, "a line needs at least 2 points, found [01]"):
                    turn.streak_surface(line, max_edge=0.1)
        self.assertEqual(len(flow.path_lines([(0, rotation()), (1, rotation())], [8, 8, 8])), 1)

    def test_caches_that_are_too_small_are_refused(self):
        seeds, levels, times = [[0.5, 0, 0.1]], [(0, rotation()), (1, rotation())], [0, 1]
        place = {"origin": (-1, -1, -1), "spacing": [0.125] * 3}
        box = lambda level, at: levels[level][1][at]
        sources = {"a series": lambda n: flow.open(self.series, cache_bytes=n),
                   "arrays": lambda n: flow.from_arrays(levels, cache_bytes=n, **place),
                   "a function": lambda n: flow.from_function(box, times, (17, 17, 17), cache_bytes=n, **place)}
        for name, source in sources.items():
            for tiny in (1, 4096, 100_000):
                with self.assertRaisesRegex(parabat.BatValueError, f"cache_bytes is {tiny}; allowed are ([0-9]+) or more.*or 0") as refused:
                    source(tiny)
            minimum = int(str(refused.exception).split("allowed are ")[1].split()[0])
            with self.assertRaisesRegex(parabat.BatValueError, f"cache_bytes is {minimum - 1}"):
                source(minimum - 1)
            with source(minimum) as small, source(0) as usual:
                found = [each.path_lines(seeds, threads=1) for each in (small, usual)]
                self.assertEqual(found[0].checksum, found[1].checksum, name)
                self.assertEqual(found[0].statistics["max_cache_bytes"], minimum)
                self.assertGreater(found[1].statistics["max_cache_bytes"], 500 << 20)

    def test_what_files_say_of_themselves(self):
        folder = pathlib.Path(self.folder.name)
        half = rotation()
        half[:, :, 9:] = np.nan
        still = np.zeros_like(half)
        flow.write_series(folder / "half.bricks.series", [(1, half), (4, still)], spacing=(1, 2, 3), cyclic=(True, False, False),
                          flush=False)
        (time, level), (_, rest) = flow.describe(folder / "half.bricks.series")
        self.assertEqual((time, level.time, level.step, level.field, level.metadata), (1, 1, 0, "velocity", None))
        self.assertEqual((level.points, level.spacing, level.cyclic, level.components), ((17, 17, 17), (1, 2, 3), (True, False, False), 3))
        self.assertEqual((level.bricks, level.blank_bricks, level.resting_bricks, rest.resting_bricks), (27, 9, 0, 27))
        self.assertEqual((level.minimum, level.maximum), ((-1, -1, 0), (1, 0, 0)))
        self.assertAlmostEqual(level.max_speed, 2 ** 0.5, 6)
        self.assertEqual((level.file_bytes, level.value_bytes), ((folder / "half_0000.bricks").stat().st_size, half.nbytes))
        self.assertEqual(flow.describe(self.series)[2][1].metadata, {"units": "m/s"})

        def run(*words):
            done = subprocess.run([sys.executable, "-m", "parabat", *map(str, words)], text=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, check=False)
            return done.returncode, done.stdout, done.stderr
        code, out, _ = run("info", folder / "half.bricks.series", self.series.with_name("turn_0000.bricks"))
        self.assertEqual(code, 0)
        for words in ("17 x 17 x 17 points, 2 time steps, time 1 to 4", "spacing 1 2 3, periodic along x", "velocity float32[3], speed up to 1.41421",
                      "54 bricks of 8 points along each axis, 9 without flow, 27 at rest", "wind float32[3]", "1 time step, time 0"):
            self.assertIn(words, out)
        code, out, _ = run("info", "--json", self.series)
        self.assertEqual((code, [each["time"] for each in json.loads(out)["levels"]]), (0, [0, 0.5, 2]))
        code, out, _ = run("validate", self.series)
        self.assertEqual(code, 0)
        self.assertIn("turn.bricks.series: valid, 3 time steps of 27 bricks, 0 in total without flow", out)
        damaged = folder / "turn_0001.bricks"
        whole = damaged.read_bytes()
        damaged.write_bytes(whole[:-100] + bytes([whole[-100] ^ 1]) + whole[-99:])
        self.assertEqual(run("info", self.series)[0], 0)  # no bricks are read
        for path in (self.series, damaged):
            code, out, err = run("validate", path)
            self.assertEqual((code, out), (1, ""))
            self.assertIn("turn_0001.bricks", err)
        damaged.write_bytes(b"\0" * 64 + whole[64:])
        code, out, err = run("info", self.series)
        self.assertEqual(code, 3)
        self.assertIn("3 time steps, time 0 to 2", out)
        self.assertIn("turn_0001.bricks", err)
        damaged.unlink()
        for verb in ("info", "validate"):
            self.assertEqual(run(verb, self.series)[0], 3)

    def test_what_other_sources_refuse(self):
        turn = rotation()
        grid = self.series.with_name("turn.idx")
        parabat.idx.write(grid, {"p": turn[..., 0], "n": turn.astype(np.int32), "time": turn[..., 0].astype(np.float64)},
                          flush=False)
        for fields, text in (((), "'n' int32"), ("n", "'n' int32"), (["p", "time"], "the same type"), ("q", "unknown field 'q'")):
            with self.assertRaisesRegex(parabat.BatValueError, text):
                flow.open(grid, fields=fields)
        with self.assertRaisesRegex(parabat.BatValueError, "apply to .idx"):
            flow.open(self.series, fields=["u", "v"])
        for levels, text in (([(0, turn), (0, turn)], "increase"), ([(0, turn), (1, rotation(9))], "one grid"),
                             ([], "none"), ([(0, turn[0]), (1, turn[0])], "shape")):
            with self.assertRaisesRegex(parabat.BatValueError, text):
                flow.from_arrays(levels)
        def fails(level, box):
            raise OSError(f"no level {level}")
        for read, kind, text in ((fails, parabat.BatError, "points from 8 8 8.*OSError: no level [01]"),
                                 (lambda level, box: turn[:1], parabat.BatValueError, r"expected \(8, 8, 8, 3\)"),
                                 (lambda level, box: turn[box].astype(float), parabat.BatValueError, "float64")):
            with flow.from_function(read, [0, 1], (17, 17, 17)) as source:
                with self.assertRaisesRegex(kind, text):
                    source.path_lines([[9, 9, 9]])
        for wrong, text in ((dict(times=[1, 0]), "increase"), (dict(points=(17, 17)), "three"),
                            (dict(dtype=int), "int64"), (dict(brick_points=40), "edge"), (dict(components=1), "components"),
                            (dict(spacing=(0, 1, 1)), "spacing along x")):
            with self.assertRaisesRegex(parabat.BatValueError, text):
                flow.from_function(**{"read": fails, "times": [0, 1], "points": (17, 17, 17), **wrong})

    def test_a_function_that_reads_ahead_ends_with_python(self):
        code = ("import time, numpy as np, parabat.flow as flow\n"
                "def read(level, box):\n"
                "    time.sleep(0.005)\n"
                "    return np.ones([b.stop - b.start for b in box] + [3], np.float32)\n"
                "wind = flow.from_function(read, range(9), (64, 64, 64))\n"
                "wind.path_lines(np.full((300, 3), 5.5) + np.arange(300)[:, None] / 20, end_time=1)\n")
        done = subprocess.run([sys.executable, "-c", code], stderr=subprocess.PIPE, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_a_failure_without_a_text_is_one(self):
        class Odd(Exception):
            def __str__(self):
                raise RuntimeError("no text")
        def read(level, box):
            if level == 1:
                raise Odd()
            return np.ones([one.stop - one.start for one in box] + [3], np.float32)
        with flow.from_function(read, [0, 1], (17, 17, 17)) as source:
            with self.assertRaisesRegex(parabat.BatError, "step 1.*Odd"):
                source.path_lines([[4, 4, 4]])

    def test_a_flow_that_nobody_has_is_freed_whoever_collects_it(self):
        code = ("import gc, time, numpy as np, parabat, parabat.flow as flow\n"
                "class Model:\n"
                "    def __init__(self):\n"
                "        self.reads = 0\n"
                "        self.flow = flow.from_function(self.read, range(3), (256, 256, 256), io_threads=1)\n"
                "    def read(self, level, box):\n"
                "        self.reads += 1\n"
                "        time.sleep(0.001)\n"
                "        return np.ones([one.stop - one.start for one in box] + [3], np.float32)\n"
                "model = Model()\n"
                "try:\n"
                "    model.flow.path_lines(np.random.default_rng(1).uniform(1, 250, (5000, 3)),\n"
                "                          progress=lambda done: model.reads < 300)\n"
                "except parabat.BatCancelledError:\n"
                "    pass\n"
                "gc.set_threshold(1, 1, 1)\n"
                "del model\n"
                "time.sleep(0.3)\n")
        done = subprocess.run([sys.executable, "-c", code], stderr=subprocess.PIPE, check=False, timeout=300)
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_a_process_that_was_forked_ends(self):
        code = ("import os, sys, numpy as np, parabat.flow as flow\n"
                "wind = flow.from_function(lambda level, box: np.ones([one.stop - one.start for one in box] + [3], 'f4'),\n"
                "                          range(3), (16, 16, 16))\n"
                "wind.path_lines([[1, 1, 1]])\n"
                "child = os.fork()\n"
                "if child == 0:\n"
                "    sys.exit()\n"
                "sys.exit(os.waitpid(child, 0)[1])\n")
        self.assertEqual(subprocess.run([sys.executable, "-c", code], check=False, timeout=300).returncode, 0)

    def test_who_closes_waits_for_no_more_than_what_is_being_read(self):
        begun, late, gate = [], [], threading.Event()
        def read(level, box):
            begun.append(level)
            if closing.is_set():
                late.append(level)
                gate.wait(60)
            return np.ones([one.stop - one.start for one in box] + [3], np.float32)
        closing = threading.Event()
        source = flow.from_function(read, range(3), (256, 256, 256), io_threads=1)
        seeds = np.random.default_rng(1).uniform(1, 250, (5000, 3))
        with self.assertRaises(parabat.BatCancelledError):
            source.path_lines(seeds, threads=1, progress=lambda done: len(begun) < 300)
        closing.set()
        threading.Timer(1, gate.set).start()
        source.close()
        self.assertLess(len(late), 3)

    def test_another_reader_reads_it(self):
        try:
            import bricks_spec  # pylint: disable=import-outside-toplevel
        except ImportError as error:
            self.skipTest(str(error))
        found = bricks_spec.read(self.series.with_name("turn_0001.bricks"))
        np.testing.assert_array_equal(found["values"], rotation())
        self.assertEqual(found["field"], "wind")
        self.assertEqual(found["metadata"], {"units": "m/s"})
        self.assertEqual(found["time"], 0.5)

    def test_levels_of_a_longer_series_go(self):
        folder = pathlib.Path(self.folder.name)
        other = folder / "turn_0007.bricks"  # not a level of the list
        flow.write_level(other, rotation(), flush=False)
        files = flow.write_series(self.series, [(0, rotation()), (1, rotation())], replace=True, flush=False)
        self.assertEqual(sorted(folder.glob("turn*.bricks")), [*files, other])
        with self.assertRaisesRegex(parabat.BatValueError, "increase"):  # a failure removes nothing
            flow.write_series(self.series, [(1, rotation()), (0, rotation())], replace=True, flush=False)
        self.assertEqual(sorted(folder.glob("turn*.bricks")), [*files, other])

    def test_npy_files(self):
        folder = pathlib.Path(self.folder.name)
        for number in range(3):
            np.save(folder / f"v_{number}.npy", rotation(dtype=np.float64))
        files = flow.convert(str(folder / "v_*.npy"), folder / "v.bricks.series", times=[1, 2, 4],
                             origin=(-1, -1, -1), spacing=(0.125, 0.125, 0.125))
        self.assertEqual(len(files), 3)
        flow.validate(folder / "v.bricks.series")
        with flow.open(folder / "v.bricks.series") as turn:
            self.assertEqual(turn.dtype, np.float64)
            self.assertEqual(turn.times.tolist(), [1, 2, 4])

    def test_the_command(self):
        folder = pathlib.Path(self.folder.name)
        for number in range(3):
            np.save(folder / f"w_{number}.npy", rotation())
        def run(*words):
            return subprocess.run([sys.executable, "-m", "parabat", "convert", *map(str, words)], text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        out = folder / "w.bricks.series"
        done = run(folder / "w_*.npy", out, "--times", "0,0.5,2", "--origin=-1,-1,-1", "--spacing",
                   "0.125,0.125,0.125", "--cyclic", "z", "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with flow.open(out) as turn:
            self.assertEqual((turn.origin, turn.cyclic), ((-1, -1, -1), (False, False, True)))
            self.assertEqual(turn.times.tolist(), [0, 0.5, 2])
        for words, code, text in (((folder / "w_*.npy", out), 3, "replace"),
                                  ((folder / "w_*.npy", out, "--columns", "x"), 2, "--columns"),
                                  ((folder / "w_*.npy", folder / "w.bat", "--spacing", "1,1,1"), 2, "--spacing"),
                                  ((folder / "none*.npy", folder / "n.bricks.series"), 3, "none"),
                                  ((folder / "w_*.npy", out, "--replace", "--times", "1,2"), 3, "times")):
            failed = run(*words)
            self.assertEqual(failed.returncode, code, failed.stderr)
            self.assertIn(text, failed.stderr)

    def test_patterns_are_in_the_order_of_numbers(self):
        folder = pathlib.Path(self.folder.name)
        for number in (1, 2, 10):
            np.save(folder / f"n_{number}.npy", np.full((1, 4, 4, 2), number, np.float32))
        flow.convert(str(folder / "n_*.npy"), folder / "n.bricks.series")
        subprocess.run([sys.executable, "-m", "parabat", "convert", str(folder / "n_*.npy"),
                        str(folder / "m.bricks.series"), "--quiet"], check=True)
        for name in "nm":
            # Along x: 1.5 in the first interval, 6 in the second.
            lines = flow.path_lines(folder / f"{name}.bricks.series", [[0, 0, 0]], end_time=1)
            np.testing.assert_allclose(lines.ends, [[1.5, 1.5, 0]])

    def test_masked_values_are_without_flow(self):
        masked = np.ma.masked_array(rotation(), mask=False)
        masked[:, :, 9:] = np.ma.masked
        flow.write_series(self.series, [(0, masked), (1, masked)], origin=(-1, -1, -1), spacing=[0.125] * 3,
                          replace=True)
        lines = flow.path_lines(self.series, [[-0.5, -0.1, 0], [0.9, 0, 0]])
        self.assertEqual(lines.reasons[1], 11)

    def test_what_is_refused(self):
        with self.assertRaisesRegex(parabat.BatValueError, "shape"):
            flow.write_level(self.series.with_suffix(""), np.zeros((3, 3, 3), np.float32))
        with self.assertRaisesRegex(parabat.BatValueError, "type int64"):
            flow.write_level(self.series.with_suffix(""), np.zeros((3, 3, 3, 3), np.int64))
        with self.assertRaisesRegex(parabat.BatValueError, "spacing along y"):
            flow.write_level(self.series.with_suffix(""), rotation(), spacing=(1, 0, 1))
        with self.assertRaisesRegex(parabat.BatValueError, "increase"):
            flow.write_series(self.series.with_name("other.bricks.series"), [(1, rotation()), (1, rotation())])
        with self.assertRaisesRegex(parabat.BatValueError, "replace=True"):
            flow.write_series(self.series, [(1, rotation()), (2, rotation())])
        folder = pathlib.Path(self.folder.name)
        with self.assertRaisesRegex(parabat.BatValueError, "step 1.*one grid"):
            flow.write_series(folder / "mixed.bricks.series", [(0, rotation()), (1, rotation(9))])
        with self.assertRaisesRegex(parabat.BatValueError, "step 1.*one grid"):
            flow.write_series(folder / "mixed2.bricks.series", [(0, rotation()), (1, rotation(dtype=np.float64))])
        flow.write_level(folder / "own_0000.bricks", rotation(), flush=False)
        before = (folder / "own_0000.bricks").read_bytes()
        with self.assertRaisesRegex(parabat.BatValueError, "own_0000.bricks: already exists"):
            flow.write_series(folder / "own.bricks.series", [(0, rotation()), (1, rotation())])
        self.assertEqual((folder / "own_0000.bricks").read_bytes(), before)
        np.save(folder / "i.npy", np.zeros((3, 3, 3, 3), np.int32))
        np.save(folder / "j.npy", rotation())
        with self.assertRaisesRegex(parabat.BatValueError, "i.npy: .*type int32"):
            flow.convert([folder / "i.npy"], folder / "i.bricks.series")
        with self.assertRaisesRegex(parabat.BatValueError, "0.5 after 1"):
            flow.convert([folder / "j.npy"] * 3, folder / "j.bricks.series", times=[0, 1, 0.5])
        with self.assertRaisesRegex(parabat.BatValueError, "Unicode"):
            flow.write_series(folder / "caf\udce9.bricks.series", [(0, rotation())])
        self.assertEqual([*folder.glob("[ij]*.bricks*"), *folder.glob("caf*")], [])
        with self.assertRaises(parabat.BatNotFoundError):
            flow.open("none.bricks.series")
        with flow.open(self.series) as turn:
            with self.assertRaisesRegex(parabat.BatValueError, "end_time"):
                turn.path_lines([[0, 0, 0]], end_time=3)
            with self.assertRaisesRegex(parabat.BatValueError, r"\(n, 3\)"):
                turn.path_lines([0, 0, 0, 0])
            with self.assertRaisesRegex(parabat.BatValueError, "integrator"):
                turn.path_lines([[0, 0, 0]], integrator="euler")
            with self.assertRaises(parabat.BatCancelledError):
                turn.path_lines([[0, 0, 0]], progress=lambda done: False)
        with self.assertRaisesRegex(parabat.BatValueError, "closed"):
            turn.path_lines([[0, 0, 0]])
        self.series.with_name("turn_0002.bricks").unlink()
        with self.assertRaises(parabat.BatNotFoundError):
            flow.path_lines(self.series, [[0, 0, 0.5], [0.5, 0, 0]])


def ranks():
    """Under mpiexec: the same bytes as one process writes; an error on one rank fails on all."""
    from mpi4py import MPI  # pylint: disable=import-outside-toplevel
    comm = MPI.COMM_WORLD
    folder = pathlib.Path(comm.bcast(tempfile.mkdtemp(dir=SCRATCH) if comm.rank == 0 else None))
    turn, times = rotation(20), [0, 0.5, 2]
    begin, end = (20 * n // comm.size for n in (comm.rank, comm.rank + 1))
    low = max(0, begin - 2)
    place = {"origin": (-1, -1, -1), "spacing": [0.125] * 3, "field": "wind", "flush": False}

    def pieces(values=turn):
        ghosts = [[0, 0], [0, 0], [begin - low, 0]]
        return [flow.Piece(values[low:end], (0, 0, low), ghosts)] if end > begin else []
    files = flow.write_series(folder / "all.bricks.series", ((t, pieces()) for t in times), comm=comm, **place)
    if comm.rank == 0:
        alone = flow.write_series(folder / "one.bricks.series", [(t, turn) for t in times], **place)
        assert [f.read_bytes() for f in files] == [f.read_bytes() for f in alone]
        assert flow.path_lines(folder / "all.bricks.series", [[0.5, 0, 0]]).reasons.tolist() == [8]

    def fails(levels, text, kind=parabat.BatError, **options):
        try:
            flow.write_series(folder / "bad.bricks.series", levels, comm=comm, **{**place, "replace": True, **options})
        except kind as error:
            assert text in str(error), str(error)
        else:
            raise AssertionError(text)
    last = comm.rank == comm.size - 1

    def breaks():
        yield 0, pieces()
        if last:
            raise parabat.BatValueError(9, "no more of it")
        yield 1, pieces()
    fails(breaks(), "no more of it")
    fails([(0, pieces())] * (2 if last else 1) if comm.size > 1 else [(1, pieces()), (0, pieces())],
          "different numbers of steps" if comm.size > 1 else "increase")
    fails([(0, pieces()), (1, pieces(turn.astype(float)) if last else pieces())], "float64" if comm.size > 1 else "one grid")
    fails([(0, pieces()), (1, pieces(rotation(20)[:, :, :-1]))], "one grid")
    fails([(0, [flow.Piece(turn[:5]), flow.Piece(turn[6:], (0, 0, 6))] if last else [])], "0 0 5")
    fails([(0, [])], "no rank has points")
    fails([(0, pieces())], "already exists", replace=False)
    # A simulation adds steps and returns to one; lines continue meanwhile.
    run, lines = folder / "run.bricks.series", None
    seeds = [[0.5, 0, 0], [0.2, 0.3, 0.1]]
    for step in (0, 1, 2, 3, 5, 3):
        flow.write_level(run, pieces(), comm=comm, time=0.3 * step, step=step, **place)
        if comm.rank == 0 and 1 < step < 5 and lines is not Ellipsis:
            with flow.open(run) as now:
                lines = flow.path_lines(now, seeds, resume=lines) if lines else flow.path_lines(now, seeds)
                whole = flow.path_lines(run, seeds)
                assert np.allclose(lines.ends, whole.ends, atol=1e-6) and (lines.reasons == whole.reasons).all()
        lines = Ellipsis if step == 5 else lines
    if comm.rank == 0:
        with flow.open(run) as now:
            assert np.allclose(now.times, [0, 0.3, 0.6, 0.9], atol=1e-15), now.times
        assert sorted(f.name for f in folder.glob("run_*")) == [f"run_{step:06d}.bricks" for step in range(4)]
    comm.Barrier()
    if comm.rank == 0:
        shutil.rmtree(folder)


if __name__ == "__main__":
    if "ranks" in sys.argv:
        ranks()
    else:
        unittest.main()
