# SPDX-License-Identifier: BSD-3-Clause
"""Features of the package parabat beyond testing/capi/test_bat.py: one process, with oracles in
NumPy.

Argument: folder to write in.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import threading
import time
import unittest

import numpy as np
import parabat

FOLDER = pathlib.Path(sys.argv.pop(1)) / "python_dataset"
N = 30000


def particles(count=N):
    random = np.random.default_rng(7)
    xyz = random.random((count, 3), dtype=np.float32)
    return xyz, {"id": np.arange(count) + 2**60, "mass": random.lognormal(0, 2, count),
                 "velocity": random.standard_normal((count, 3))}


def damaged(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 16
    broken = path.with_name("broken.bat")
    broken.write_bytes(data)
    return broken


class Reading(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        FOLDER.mkdir(parents=True, exist_ok=True)
        cls.path = FOLDER / "cloud.bat"
        cls.xyz, cls.columns = particles()
        parabat.write(cls.path, cls.xyz, cls.columns, time=0.5, step=3)

    def setUp(self):
        self.dataset = parabat.open(self.path)
        self.addCleanup(self.dataset.close)

    def test_lists_of_integers_are_exact_whatever_numbers_ask(self):
        u = np.arange(5000).astype(np.uint64) + np.uint64(2**53 - 4)
        u[:8], u[-1] = range(8), 2**64 - 1
        i = np.arange(5000) - 10
        i[0], i[5], i[-1] = -2**63, 2**53 + 1, 2**63 - 1
        path = FOLDER / "integers.bat"
        parabat.write(path, np.random.default_rng(1).random((5000, 3)), {"u": u, "i": i})
        cases = [
            ((u == 1) | (u == 2**64 - 1), {"values": {"u": [1, 2**64 - 1]}}),
            (u >= 2**53, {"values": {"u": [(2**53, 2**64 - 1)]}}),
            ((u <= 1) | (u >= 2**63), {"values": {"u": [(-5, 1), (2**63, 2**70)]}}),
            (i <= 5.5, {"not_values": {"i": [(5.5, np.inf)]}}),
            ((i <= 1.5) | (i == 2**53 + 1), {"values": {"i": [(-np.inf, 1.5), (2**53 + 1, 2**53 + 1)]}}),
            (u < 0, {"values": {"u": [-3, 2.5, 2.0**64]}}),
            (u >= 0, {"not_values": {"u": [-3, 2.5]}}),
            ((i == 3) | (i == -9), {"values": {("i", 0): [3, -9]}}),
        ]
        with parabat.open(path) as dataset:
            for expected, query in cases:
                found = dataset.read(["i"], **query)
                np.testing.assert_array_equal(np.sort(found["i"]), np.sort(i[expected]), str(query))
                self.assertLessEqual(dataset.estimate(**query).minimum, found.count)

    def test_a_dataset_says_what_is_in_it(self):
        words = " ".join(repr(self.dataset).split())
        for part in ("cloud.bat", "30,000 particles, step 3, time 0.5", "positions float32[3] box (",
                     f"id int64 {2**60} to {2**60 + N - 1}", "velocity float64[3] magnitude 0."):
            self.assertIn(part, words)
        self.assertIn("30,000 particles", repr(self.dataset.read()))
        np.testing.assert_array_equal(self.dataset.box[3:], self.xyz.max(axis=0))
        (leaf,) = self.dataset.leaves
        self.assertEqual((leaf.path, leaf.particles, leaf.bytes),
                         (str(self.path), N, os.path.getsize(self.path)))
        np.testing.assert_array_equal(leaf.box, self.dataset.box)
        self.dataset.close()
        self.assertIn("closed", repr(self.dataset))
        self.assertRegex(parabat.__version__, r"^\d+\.\d+\.\d+$")

    def test_steps_of_quality_add_up(self):
        whole = self.dataset.read(["id"], quality=0.6, box=[0, 0, 0, 1, 1, 0.5])
        for steps in (5, [0.01, 0.2, 0.6]):
            pieces = list(self.dataset.iter_quality(steps, ["id"], quality=0.6, box=[0, 0, 0, 1, 1, 0.5]))
            self.assertEqual(len(pieces), 5 if steps == 5 else 3)
            ids = np.concatenate([piece["id"] for piece in pieces])
            self.assertEqual(len(set(ids.tolist())), len(ids))
            np.testing.assert_array_equal(np.sort(ids), np.sort(whole["id"]))
        for wrong in (0, [0.5, 0.2], -1):
            with self.assertRaises(parabat.BatValueError):
                self.dataset.iter_quality(wrong)
        with self.assertRaisesRegex(TypeError, "colour"):
            next(self.dataset.iter_quality(2, colour=1))

    def test_ranges_may_be_a_dict(self):
        mass, speed = self.columns["mass"], self.columns["velocity"][:, 1]
        good = (mass >= 1) & (mass <= 2) & (speed <= 0)
        found = self.dataset.read(["id"], ranges={"mass": (1, 2), ("velocity", 1): (None, 0)})
        np.testing.assert_array_equal(np.sort(found["id"]), self.columns["id"][good])
        with self.assertRaises(parabat.BatTypeError):
            self.dataset.read([], ranges={"mass": 1})

    def test_counts_are_bounds_and_estimates(self):
        question = {"box": [0.2, 0.2, 0.2, 0.6, 0.7, 0.9], "ranges": {"mass": (0.5, 3)}}
        exact = self.dataset.read([], **question).count
        estimate = self.dataset.estimate(**question)
        self.assertTrue(estimate.minimum <= exact <= estimate.maximum)
        self.assertTrue(estimate.minimum <= estimate.likely <= estimate.maximum)
        self.assertLess(abs(estimate.likely - exact), 0.1 * exact)
        self.assertTrue(exact <= self.dataset.upper_bound(**question) <= N)
        self.assertEqual(self.dataset.upper_bound(), N)
        for budget in (0, 1, 777, exact, N):
            quality = self.dataset.quality_within(budget, **question)
            count = self.dataset.read([], quality=quality, **question).count
            self.assertLessEqual(count, budget)
            self.assertGreaterEqual(count, 0.5 * min(budget, exact) - 1)
        self.assertEqual(self.dataset.quality_within(N), 1.0)
        self.assertEqual(self.dataset.read([], quality=self.dataset.quality_within(1234)).count, 1234)
        with self.assertRaisesRegex(parabat.BatValueError, "budget: -1"):
            self.dataset.quality_within(-1)

    def test_a_histogram_is_that_of_the_values_within_a_hundredth(self):
        for name, component, values in (("mass", None, self.columns["mass"]),
                                        ("velocity", 2, self.columns["velocity"][:, 2]),
                                        ("velocity", None, np.linalg.norm(self.columns["velocity"], axis=1))):
            for logarithmic in (False, True):
                counts, edges = self.dataset.histogram(name, component, bins=20, logarithmic=logarithmic)
                self.assertEqual((counts.shape, edges.shape), ((20,), (21,)))
                self.assertAlmostEqual(edges[0], values.min())
                self.assertAlmostEqual(edges[-1], values.max())
                below = np.searchsorted(np.sort(values), edges[1:-1]) / N
                self.assertLess(np.abs(np.cumsum(counts)[:-1] / counts.sum() - below).max(), 0.02)
        for word, arguments in (("'heat'", ("heat",)), ("component 3", ("velocity", 3)),
                                ("component -1", ("velocity", -1))):
            with self.assertRaisesRegex(parabat.BatValueError, word):
                self.dataset.histogram(*arguments)
        with self.assertRaisesRegex(parabat.BatValueError, "bins: 0"):
            self.dataset.histogram("mass", bins=0)
        parabat.write(FOLDER / "nan.bat", np.zeros((3, 3)), {"a": np.full(3, np.nan)})
        with parabat.open(FOLDER / "nan.bat") as dataset:
            counts, edges = dataset.histogram("a", bins=4)
            self.assertEqual((counts.tolist(), edges.size), ([0] * 4, 0))

    def test_a_dataset_without_particles_may_lack_columns(self):
        path = FOLDER / "before.bat"
        parabat.write(path, np.zeros((0, 3)), {"mass": np.zeros(0, np.float32)})
        with parabat.open(path, map=True) as dataset:
            read = dataset.read(["id", "mass"], ranges={"id": (0, 1), ("v", 2): (None, 3)}, not_values={"id": [1]})
            self.assertEqual((list(read), read["id"].shape, read["mass"].dtype), (["id", "mass"], (0,), np.float32))
            self.assertEqual(dataset.read()["id"].shape, (0,))
            self.assertEqual(dataset.estimate(values={"id": [1]}).maximum, 0)
            self.assertEqual(dataset.histogram("id", bins=4).counts.tolist(), [0] * 4)
            self.assertEqual(dataset.map_attribute("id").shape, (0,))
            self.assertEqual([step.count for step in dataset.iter_quality(2, ["id"])], [0, 0])
            with self.assertRaisesRegex(parabat.BatValueError, "above its maximum"):
                dataset.read(ranges={"id": (2, 1)})
        with self.assertRaises(KeyError):
            self.dataset.read(box=[9e9] * 6)["nothing"]
        with self.assertRaisesRegex(parabat.BatValueError, "unknown attribute 'nothing'"):
            self.dataset.read(["nothing"])

    def test_what_is_damaged_does_not_validate(self):
        self.dataset.validate()
        with parabat.open(damaged(self.path)) as broken:
            with self.assertRaisesRegex(parabat.BatError, "broken.bat"):
                broken.validate()

    def test_progress_is_told_and_can_stop(self):
        big = FOLDER / "big.bat"
        reported = []
        count = 2_500_000
        parabat.write(big, np.zeros((count, 3), np.float32), {"id": np.arange(count)},
                      progress=reported.append, flush=False)
        self.assertEqual((reported, reported[-1]), (sorted(reported), 1.0))
        before = big.stat()
        with self.assertRaises(parabat.BatCancelledError) as stopped:
            parabat.write(big, np.zeros((9, 3)), progress=lambda done: False)
        self.assertEqual(stopped.exception.status, 11)
        self.assertEqual(big.stat().st_mtime_ns, before.st_mtime_ns)
        with parabat.open(big) as dataset:
            reported = []
            read = dataset.read(progress=reported.append)
            self.assertTrue(reported == sorted(reported) and len(reported) > 4 and reported[-1] == 1.0, reported)
            np.testing.assert_array_equal(np.sort(read["id"]), np.arange(count))
            plain = dataset.read()
            np.testing.assert_array_equal(read["id"], plain["id"])
            with self.assertRaises(parabat.BatCancelledError):
                dataset.read(progress=lambda done: done < 0.5)

            def fails(done):
                if done > 0.5:
                    raise KeyboardInterrupt
            with self.assertRaises(KeyboardInterrupt):
                dataset.read(progress=fails)
            with self.assertRaisesRegex(parabat.BatTypeError, "progress: 5"):
                dataset.read(progress=5)
        big.unlink()

    def test_closing_while_threads_read_is_safe(self):
        for attempt in range(20):
            dataset, ends = parabat.open(self.path), []

            def read(which):
                try:
                    while True:
                        found = which.read(["id"])
                        ends.append(bool(found.count == N and found["id"].min() == 2**60))
                        which.attributes, which.metadata, which.leaves, which.estimate()  # pylint: disable=pointless-statement
                except parabat.BatValueError as error:
                    ends.append(str(error))

            threads = [threading.Thread(target=read, args=(dataset,)) for _ in range(4)]
            for thread in threads:
                thread.start()
            while len(ends) < 2 + attempt % 3:
                time.sleep(0.001)
            dataset.close()
            for thread in threads:
                thread.join()
            self.assertEqual([end for end in ends if end is not True],
                             ["the dataset is NULL: it was not opened, or was closed"] * 4)

    def test_a_writer_that_lost_a_piece_does_not_finish(self):
        path = FOLDER / "pieces.bat"
        path.unlink(missing_ok=True)
        for piece, error, text in ((np.zeros((3, 2)), parabat.BatValueError, "shape"),
                                   (["a", "b"], Exception, ""), (np.zeros((3, 3)), parabat.BatError, "mass")):
            with parabat.PieceWriter(path) as writer:
                writer.add(self.xyz, self.columns)
                with self.assertRaisesRegex(error, text):
                    writer.add(piece, {"mass": ["x"] * len(piece)} if text == "mass" else None)
                with self.assertRaisesRegex(parabat.BatValueError, "piece 1 was rejected"):
                    writer.finish()
            with self.assertRaisesRegex(parabat.BatValueError, "NULL"):
                writer.add(self.xyz, self.columns)
        self.assertFalse(path.exists())

    def test_two_processes_that_write_one_dataset_leave_one_of_them(self):
        code = ("import sys, numpy, parabat; seed = int(sys.argv[2]); done = []\n"
                "xyz = numpy.random.default_rng(seed).random((20000, 3)); sys.stdin.readline()\n"
                "for i in range(12):\n"
                "    try:\n"
                "        with parabat.PieceWriter(sys.argv[1], target_bytes=32768, flush=False) as writer:\n"
                "            writer.add(xyz, {'seed': numpy.full(20000, 100 * seed + i)}); writer.finish()\n"
                "        done.append(100 * seed + i)\n"
                "    except parabat.BatError as error:\n"
                "        assert 'another writer is writing this dataset' in str(error), error\n"
                "print(*done)")
        path = FOLDER / "shared.bat"
        shutil.rmtree(f"{path}.leaves", ignore_errors=True)
        writers = [subprocess.Popen([sys.executable, "-c", code, path, str(seed)], stdin=subprocess.PIPE,
                                    stdout=subprocess.PIPE, text=True) for seed in (1, 2)]
        for writer in writers:
            writer.stdin.write("go\n")
            writer.stdin.flush()
        done = [writer.communicate()[0].split() for writer in writers]
        self.assertEqual([writer.returncode for writer in writers], [0, 0])
        self.assertGreater(len(done[0] + done[1]), 0)
        with parabat.open(path) as dataset:
            dataset.validate()
            self.assertEqual(len(dataset), 20000)
            self.assertGreater(dataset.leaf_file_count, 5)
            seeds = np.unique(dataset.read(["seed"])["seed"])
            self.assertEqual(seeds.size, 1)
            self.assertIn(str(seeds[0]), done[0][-1:] + done[1][-1:])
            self.assertEqual(sorted(os.listdir(f"{path}.leaves")), sorted(os.path.basename(leaf.path) for leaf in dataset.leaves))

    def test_a_missing_package_is_named(self):
        for module, call, extra in (("pandas", "to_pandas", "pandas"), ("pyarrow", "to_arrow", "arrow"), ("pyvista", "to_pyvista", "pyvista")):
            kept = sys.modules.get(module)
            sys.modules[module] = None
            try:
                with self.assertRaisesRegex(parabat.BatImportError, rf"pip install 'parabat\[{extra}\]'"):
                    getattr(self.dataset, call)(quality=0.01)
            finally:
                del sys.modules[module]
                if kept is not None:
                    sys.modules[module] = kept

    def test_columns_are_named_once(self):
        read = self.dataset.read(quality=0.01)
        found = parabat.export.columns(read)
        self.assertEqual(list(found), ["x", "y", "z", "id", "mass", "velocity[0]", "velocity[1]", "velocity[2]"])
        np.testing.assert_array_equal(found["velocity[1]"], read["velocity"][:, 1])
        read["y"] = read["mass"]
        self.assertEqual(list(parabat.export.columns(read))[:3], [f"position[{i}]" for i in range(3)])
        read["velocity[0]"] = read["mass"]
        with self.assertRaisesRegex(parabat.BatValueError, r"velocity\[0\]"):
            parabat.export.columns(read)

    def test_a_list_of_steps_is_read(self):
        listed = FOLDER / "cloud.bat.series"
        listed.write_text('{"file-series-version": "1.0", "files": [{"name": "cloud.bat", "time": 0.5}]}')
        (step,) = parabat.read_series(listed)
        self.assertEqual((step.path, step.time), (str(self.path), 0.5))
        with self.assertRaises(parabat.BatNotFoundError):
            parabat.read_series(FOLDER / "none.bat.series")
        with self.assertRaisesRegex(parabat.BatError, "not a series list"):
            parabat.read_series(self.path)
        listed.write_text('{"files": [{"name": "cloud.bat", "time": NaN}]}')
        with self.assertRaisesRegex(parabat.BatError, "finite"):
            parabat.read_series(listed)

    def test_importing_brings_little_beyond_numpy(self):
        code = ("import sys, numpy; before = set(sys.modules); import parabat; "
                "print(*sorted(set(sys.modules) - before))")
        added = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
        others = [name for name in added if name.split(".")[0] != "parabat"]
        self.assertLess(len(others), 20, others)
        self.assertFalse({"mpi4py", "pandas", "pyarrow", "vtk", "pyvista", "argparse"} & set(added))


if __name__ == "__main__":
    unittest.main()
