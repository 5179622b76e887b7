# SPDX-License-Identifier: BSD-3-Clause
"""Compares parabat.follow() and `parabat follow` with a scan of every step. Argument: folder to write
in."""

import contextlib
import csv
import io
import json
import pathlib
import shutil
import sys
import unittest

import numpy as np
import parabat
from parabat import pure
from parabat.cli import main

FOLDER = pathlib.Path(sys.argv.pop(1)) / "python_follow"
FIRST = 2**53 + 1
STEPS, N = 6, 1000


def run(*words):
    """Exit code, stdout, and stderr."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([str(word) for word in words])
    return code, out.getvalue(), err.getvalue()


class Follow(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        shutil.rmtree(FOLDER, ignore_errors=True)
        FOLDER.mkdir(parents=True)
        random = np.random.default_rng(3)
        cls.steps, listed = [], []
        for i in range(STEPS):
            # Particles appear and disappear; one attribute is missing in some steps.
            ids = random.permutation(np.arange(FIRST + 100 * i, FIRST + 100 * i + N))
            columns = {"id": ids, "velocity": random.standard_normal((N, 3)).astype(np.float32)}
            if i % 2:
                columns["mass"] = random.random(N)
            xyz = random.random((N, 3))
            parabat.write(FOLDER / f"step{i}.bat", xyz, columns, time=0.5 * i, step=10 * i, flush=False,
                          sorted_indexes=["id"] if i != 2 else [])
            cls.steps.append((xyz, columns))
            listed.append({"name": f"step{i}.bat", "time": 0.5 * i})
        cls.series = FOLDER / "steps.bat.series"
        cls.series.write_text(json.dumps({"files": listed}))
        cls.ids = [FIRST + 550, FIRST, FIRST - 1, FIRST + 999, FIRST + 1499, FIRST + 550]

    def scan(self, step, one):
        xyz, columns = self.steps[step]
        found = np.flatnonzero(columns["id"] == one)
        return (xyz[found[0]], {name: values[found[0]] for name, values in columns.items()}) if found.size else None

    def test_arrays_are_what_a_scan_finds(self):
        for mapped, series in enumerate((self.series, [FOLDER / f"step{i}.bat" for i in range(STEPS)], parabat.read_series(self.series))):
            trails = parabat.follow(series, self.ids, map=mapped == 1)
            self.assertEqual(trails.positions.shape, (STEPS, len(self.ids), 3))
            self.assertEqual(set(trails), {"velocity", "mass"})
            self.assertEqual(trails.times.tolist(), [0.5 * i for i in range(STEPS)])
            self.assertEqual(trails.steps.tolist(), [10 * i for i in range(STEPS)])
            for s in range(STEPS):
                for i, one in enumerate(self.ids):
                    found = self.scan(s, one)
                    self.assertEqual(trails.present[s, i], found is not None, (s, one))
                    self.assertEqual(bool(np.all(trails.positions.mask[s, i])), found is None)
                    self.assertEqual(bool(trails["mass"].mask[s, i]), found is None or s % 2 == 0)
                    if found is not None:
                        self.assertTrue(np.array_equal(trails.positions[s, i], found[0]))
                        self.assertTrue(np.array_equal(trails["velocity"][s, i], found[1]["velocity"]))
                    if found is not None and s % 2:
                        self.assertEqual(trails["mass"][s, i], found[1]["mass"])
            self.assertIn("1 of 6 steps", trails.advice)
            self.assertIn("6 ids in 6 steps", repr(trails))
            with self.assertRaises(ValueError):
                trails.positions.data[0] = 0
        kept = parabat.follow(self.series, np.array(self.ids), ["velocity"])["velocity"]
        self.assertTrue(np.array_equal(kept.filled(0), trails["velocity"].filled(0)))  # after its owner is gone

    def test_rows_are_id_by_id(self):
        rows = parabat.follow(self.series, self.ids[:3]).columns()
        expected = [(one, s) for one in self.ids[:3] for s in range(STEPS) if self.scan(s, one)]
        self.assertEqual(list(zip(rows["id"].tolist(), rows["step index"].tolist())), expected)
        self.assertEqual(rows["x"].tolist(), [self.scan(s, one)[0][0] for one, s in expected])
        self.assertEqual(np.ma.getmaskarray(rows["mass"]).tolist(), [s % 2 == 0 for _, s in expected])

    def test_pairs(self):
        path = FOLDER / "pairs.bat"
        parabat.write(path, np.arange(60.0).reshape(20, 3), {
            "id": np.arange(20, dtype=np.uint64) // 4, "cpu": np.arange(20, dtype=np.int32) % 4}, flush=False)
        pairs = [(3, 2), (4, 3), (3, 4)]
        for given in (pairs, np.array(pairs)):
            for names in (("id", "cpu"), (None, "cpu"), "id", None):
                trails = parabat.follow(path, given, id=names)
                self.assertEqual(trails.counts.tolist(), [[1, 1, 0]])
                self.assertEqual(trails.positions[0, :2, 0].tolist(), [42.0, 57.0])
        with self.assertRaisesRegex(parabat.BatValueError, "no attribute is the cpu of 'cpu'"):
            parabat.follow(path, pairs, id="cpu")
        self.assertEqual(parabat.follow(path, [3, 9]).counts.tolist(), [[4, 0]])
        for wrong in ([1, 2], [(1, 2, 3)], np.arange(3)):
            with self.assertRaises(parabat.BatError):
                parabat.follow(path, wrong, id=("id", "cpu"))

    def test_periodic_domains(self):
        paths = []
        for i, x in enumerate((0.7, 0.9, 0.1, 0.3, 0.95)):
            paths.append(FOLDER / f"walk{i}.bat")
            parabat.write(paths[-1], [[x, 0.5, 0.5]], {"id": [7]}, flush=False,
                          metadata='{"periodic_box": {"lower": [0, null, 0], "upper": [1, null, 1]}}')
        inf = np.inf
        for unwrap in ("files", [0, -inf, 0, 1, inf, 1]):
            places = parabat.follow(paths, [7], unwrap=unwrap).positions[:, 0, 0]
            self.assertTrue(np.allclose(places, [0.7, 0.9, 1.1, 1.3, 0.95], rtol=0, atol=1e-15), places)
        with self.assertRaisesRegex(parabat.BatValueError, "does not define a periodic box"):
            parabat.follow(self.series, self.ids, unwrap="files")
        with self.assertRaisesRegex(parabat.BatValueError, "allowed"):
            parabat.follow(paths, [7], unwrap="file")

    def test_missing_steps(self):
        paths = [FOLDER / "step0.bat", FOLDER / "none.bat", FOLDER / "step1.bat"]
        with self.assertRaisesRegex(parabat.BatNotFoundError, "none.bat"):
            parabat.follow(paths, self.ids)
        trails = parabat.follow(paths, self.ids, skip_damaged=True)
        self.assertEqual([problem.step for problem in trails.problems], [1])
        self.assertIsInstance(trails.problems[0].error, parabat.BatNotFoundError)
        self.assertFalse(trails.present[1].any())
        self.assertTrue(np.isnan(trails.times[1]))

    def test_progress(self):
        progress_seen = []
        parabat.follow(self.series, self.ids, progress=progress_seen.append)
        self.assertEqual((progress_seen[-1], sorted(progress_seen)), (1.0, progress_seen))
        with self.assertRaises(parabat.BatCancelledError):
            parabat.follow(self.series, self.ids, progress=lambda done: False)
        with self.assertRaises(ZeroDivisionError):
            parabat.follow(self.series, self.ids, progress=lambda done: 1 / 0)

    def test_wrong_arguments(self):
        for words, arguments in (("no ids", {"ids": []}), ("'none'", {"attributes": ["none"]}),
                                 ("unknown attribute 'number'", {"id": "number"}), ("3 components", {"id": "velocity"}),
                                 ("NaN", {"ids": [np.nan]}), ("threads", {"threads": -1}), ("pair", {"id": ("a", "b", "c")}),
                                 ("64-bit", {"ids": [2**64]})):
            with self.assertRaisesRegex(parabat.BatValueError, words):
                parabat.follow(self.series, **{"ids": self.ids, **arguments})

    def test_command(self):
        out = FOLDER / "trails.csv"
        code, reported, complaint = run("follow", self.series, "--ids", self.ids[1], f"{FIRST + 998}..{FIRST + 999}", "--out", out)
        self.assertEqual(code, 0, complaint)
        self.assertIn("3 of 3 ids in 6 steps", reported)
        self.assertIn("no sorted index", complaint)
        with out.open(newline="") as file:
            rows = list(csv.DictReader(file))
        expected = [(one, s) for one in (FIRST, FIRST + 998, FIRST + 999) for s in range(STEPS) if self.scan(s, one)]
        self.assertEqual([(int(row["id"]), int(row["step index"])) for row in rows], expected)
        for row, (one, s) in zip(rows, expected):
            xyz, columns = self.scan(s, one)
            self.assertEqual([float(row[axis]) for axis in "xyz"], xyz.tolist())
            self.assertEqual(np.float32(row["velocity[1]"]), columns["velocity"][1])
            self.assertEqual(row["mass"], repr(float(columns["mass"])) if s % 2 else "")

        listed = FOLDER / "ids.txt"
        listed.write_text(f"{self.ids[0]}, {self.ids[1]}\n{self.ids[2]}\n")
        out = FOLDER / "trails.npz"
        code, reported, complaint = run("follow", self.series, "--ids-file", listed, "--out", out, "--attributes", "velocity", "--json")
        self.assertEqual(code, 0, complaint)
        self.assertEqual(json.loads(reported)["found"], 2)
        trails = parabat.follow(self.series, self.ids[:3], ["velocity"])
        with np.load(out) as arrays:
            self.assertEqual(sorted(arrays), ["counts", "ids", "positions", "steps", "times", "velocity"])
            self.assertTrue(np.array_equal(arrays["velocity"], trails["velocity"].data, equal_nan=True))
            self.assertTrue(np.array_equal(arrays["counts"], trails.counts))

        for ids in (["-5..-3", "-7"], ["-5..-3,-7"], ["-7, -5..-3"], ["-7,", "-5..-3"]):
            code, reported, complaint = run("follow", self.series, "--ids", *ids, "--out", FOLDER / "none.csv", "--json")
            self.assertEqual((code, json.loads(reported)["ids"]), (0, 4), complaint)
        damaged = FOLDER / "ids.bin"
        damaged.write_bytes(b"12 \xff")
        for code, words, arguments in (
                (2, "ids.bin is not UTF-8 text (invalid start byte at byte 3)", ["--ids-file", damaged]),
                (2, "no ids", []), (2, "'x' is not a number", ["--ids", "x"]), (2, "ascending", ["--ids", "5..3"]),
                (2, "pair such as", ["--ids", "5", "--second", "cpu"]), (2, "'mess'", ["--ids", 1, "--attributes", "mess"]),
                (3, "No such file", ["--ids-file", FOLDER / "nothing.txt"])):
            found, _, complaint = run("follow", self.series, "--out", FOLDER / "other.npz", *arguments)
            self.assertEqual(found, code, complaint)
            self.assertIn(words, complaint)
        self.assertFalse((FOLDER / "other.npz").exists())
        self.assertIn("ends in '.txt'", run("follow", self.series, "--ids", 1, "--out", "a.txt")[2])


GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "particles" / "golden" / "tracks"


class Tracks(unittest.TestCase):
    def test_tracks_are_those_of_the_second_reader(self):
        for name in ("written", "written_finished", "spec", "spec_finished"):
            path = GOLDEN / f"{name}.tracks.bat"
            samples = pure.Tracks.open(path).samples
            tracks = parabat.Tracks(path)
            tracks.validate()
            self.assertEqual(tracks.steps.tolist(), [sample.step for sample in samples])
            self.assertEqual(tracks.particles.tolist(), [len(sample.ids) for sample in samples])
            pairs = isinstance(tracks.ids, tuple)
            self.assertEqual(tracks.id, ("id", "cpu") if pairs else "id")
            for one in (None, "id"):
                trails = parabat.follow(path, id=one)
                ids = list(zip(*map(np.ndarray.tolist, trails.ids))) if isinstance(trails.ids, tuple) else trails.ids.tolist()
                self.assertEqual(len(ids), len(set(ids)))
                for s, sample in enumerate(samples):
                    for i, reference in enumerate(ids):
                        keys = zip(sample.ids.tolist(), sample.second.tolist()) if isinstance(trails.ids, tuple) else sample.ids.tolist()
                        rows = [row for row, key in enumerate(keys) if key == reference]
                        self.assertEqual(trails.counts[s, i], len(rows))
                        if rows:
                            np.testing.assert_array_equal(trails.positions.data[s, i], sample.positions[rows[0]])
                            for key, values in sample.columns.items():
                                np.testing.assert_array_equal(trails[key].data[s, i], np.squeeze(values[rows[0]]))
                    self.assertEqual(sum(trails.counts[s]), len(sample.ids))

    def test_the_command_line_knows_tracks(self):
        FOLDER.mkdir(parents=True, exist_ok=True)
        path, out = GOLDEN / "spec.tracks.bat", FOLDER / "tracks.csv"
        code, printed, _ = run("info", path)
        self.assertEqual(code, 0)
        self.assertIn("tracks of", printed)
        self.assertIn("unfinished sample", printed)
        facts = json.loads(run("info", "--json", path)[1])
        self.assertEqual((facts["samples"], facts["id"]), (len(parabat.Tracks(path)), ["id", "cpu"]))
        self.assertEqual(run("validate", path)[0], 0)
        packed = FOLDER / "packed.tracks.bat"
        packed.unlink(missing_ok=True)
        self.assertEqual(run("repack", path, packed)[0], 0)
        self.assertEqual(packed.read_bytes(), (GOLDEN / "spec_finished.tracks.bat").read_bytes())
        code, _, reported = run("follow", packed, "--out", out)
        self.assertEqual(code, 0, reported)
        with open(out, encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), int(np.count_nonzero(parabat.follow(packed).present)))
        code, _, reported = run("follow", packed, "--id", "id", "--ids", "5", "777", "--out", out)
        self.assertEqual(code, 0)
        self.assertIn("1 of 2 ids are not in the tracks file", reported)
        self.assertEqual(run("follow", packed, packed, "--out", out)[0], 2)
        bad = FOLDER / "bad.tracks.bat"
        damaged = bytearray(packed.read_bytes())
        damaged[-100] ^= 1
        bad.write_bytes(damaged)
        self.assertEqual(run("validate", bad)[0], 1)
        self.assertEqual(run("repack", packed, FOLDER / "b.tracks.bat", "--compression", "lossless")[0], 2)
        self.assertEqual(run("query", packed)[0], 3)


if __name__ == "__main__":
    unittest.main()
