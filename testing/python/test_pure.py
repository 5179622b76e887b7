# SPDX-License-Identifier: BSD-3-Clause
"""parabat.pure and the library read each other's files. Argument: folder to write in."""

import pathlib
import pickle
import subprocess
import sys
import unittest

import numpy as np
import parabat
from parabat import pure

FOLDER = pathlib.Path(sys.argv.pop(1)) / "python_pure"
N = 40000


def particles():
    random = np.random.default_rng(3)
    xyz = random.standard_normal((N, 3))
    xyz[17, 1], xyz[99] = np.nan, np.inf
    mass = random.lognormal(0, 2, N).astype(np.float32)
    mass[::1000] = np.nan
    return xyz, {"id": np.arange(N, dtype=np.uint64) + np.uint64(2**63), "mass": mass,
                 "flag": random.random(N) < 0.5, "velocity": random.standard_normal((N, 3))[:, ::-1]}


class Pure(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        FOLDER.mkdir(parents=True, exist_ok=True)
        cls.xyz, cls.columns = particles()
        cls.ours, cls.theirs = FOLDER / "pure.bat", FOLDER / "library.bat"
        pure.write(cls.ours, cls.xyz, cls.columns, time=0.5, step=-3, metadata='{"a": 1}')
        parabat.write(cls.theirs, cls.xyz, cls.columns, time=0.5, step=-3, metadata='{"a": 1}')

    def same(self, positions, columns):
        order = np.argsort(columns["id"])
        np.testing.assert_array_equal(positions[order], self.xyz)
        self.assertEqual(set(columns), set(self.columns))
        for name, values in self.columns.items():
            np.testing.assert_array_equal(columns[name][order], values)
            self.assertEqual(columns[name].dtype, values.dtype if values.dtype != bool else np.uint8)

    def test_the_library_reads_what_pure_writes(self):
        with parabat.open(self.ours) as dataset:
            dataset.validate()
            self.assertEqual((dataset.time, dataset.step, dataset.metadata), (0.5, -3, '{"a": 1}'))
            self.same(dataset.read().positions, dataset.read())
            coarse = dataset.read(quality=0.1)
            self.assertEqual(coarse.count, N // 10)
            self.assertLess(abs(np.mean(coarse.positions[:, 0] < 0) - 0.5), 0.05)
            box = [-1, -1, -1, 0.5, 1, 1]
            inside = np.all((self.xyz >= box[:3]) & (self.xyz <= box[3:]), axis=1) & (self.columns["mass"] >= 1)
            found = dataset.read(["id"], box=box, ranges={"mass": (1, None)})
            np.testing.assert_array_equal(np.sort(found["id"]), self.columns["id"][inside])

    def test_pure_reads_what_the_library_writes(self):
        bat = pure.open(self.theirs)
        bat.validate()
        self.same(bat.positions(), {name: bat.attribute(name) for name in self.columns})
        for path in (self.ours, self.theirs):
            bat = pure.open(path)
            question = {"quality": 0.5, "box": [-1, -1, -1, 0.5, 1, 1]}
            where = bat.query(**question)
            with parabat.open(path) as dataset:
                np.testing.assert_array_equal(bat.attribute("id")[where], dataset.read(["id"], **question)["id"])

    def test_files_without_particles_are_alike_to_all(self):
        xyz = np.zeros((0, 3), np.float32)
        columns = {"id": np.zeros(0, np.uint64), "v": np.zeros((0, 3)), "x": xyz[:, 0]}
        expected = {"id": ("uint64", 1), "v": ("float64", 3), "x": ("float32", 1)}
        for number, options in enumerate((
                {}, {"sorted_indexes": ["id", "v"]}, {"stable_samples": ["id"]}, {"compression": "lossless"},
                {"compression": "bounded", "error_bounds": ["v=0.5"]}, {"repeats": "link"})):
            path = FOLDER / f"empty{number}.bat"
            parabat.write(path, xyz, columns, **options)
            again = FOLDER / f"empty{number}_again.bat"
            parabat.repack(path, again, compression="lossless", sorted_indexes=["id"])
            for each in (path, again):
                with parabat.open(each) as dataset:
                    dataset.validate()
                    self.assertEqual({a.name: (a.dtype.name, a.components) for a in dataset.attributes.values()}, expected)
                bat = pure.open(each)
                bat.validate()
                self.assertEqual(bat.attribute("v").shape, (0, 3))
                self.assertEqual(bat.query(ranges=[("v", None, 0, 1)]).tolist(), [])
                # Missing values are empty.
                self.assertEqual(bat.attribute("mass").shape, (0,))
                self.assertEqual(bat.query(ranges=[("mass", 2, 0, 1)], values=[("kind", None, [1])]).tolist(), [])
                with self.assertRaises(parabat.BatValueError):
                    bat.query(ranges=[("mass", None, 1, 0)])
        with parabat.PieceWriter(FOLDER / "pieces.bat") as writer:
            for _ in range(2):
                writer.add(xyz, columns)
            writer.finish()
        pure.open(FOLDER / "pieces.bat").validate()
        pure.write(FOLDER / "ours.bat", xyz, columns)
        for name in ("pieces", "ours"):
            with parabat.open(FOLDER / f"{name}.bat") as dataset:
                dataset.validate()
                self.assertEqual({a.name: (a.dtype.name, a.components) for a in dataset.attributes.values()}, expected)
        with self.assertRaisesRegex(parabat.BatValueError, "no attribute 'nothing'"):
            pure.open(self.ours).attribute("nothing")

    def test_pure_reads_classes_of_blocks_that_the_library_writes(self):
        random = np.random.default_rng(4)
        size = np.repeat(10.0 ** np.arange(-5, 0), N // 5)  # clumps
        xyz = (random.standard_normal((N, 3)) * size[:, None] + 3 * size[:, None]).astype(np.float32)
        ids = random.permutation(N)
        columns = {"id": ids, "field": np.where(size < 1e-2, 5e6, xyz[:, 0]) + random.random(N)}
        for name, options in (("lossless", {"compression": "lossless"}),
                              ("bounded", {"compression": "bounded", "error_bounds": ["positions=1e-5"]})):
            path = FOLDER / f"{name}.bat"
            parabat.write(path, xyz, columns, **options)
            bat = pure.open(path)
            with parabat.open(path) as dataset:
                read = dataset.read()
            self.assertEqual(bat.positions().tobytes(), read.positions.tobytes())
            self.assertEqual(bat.attribute("id").tobytes(), read["id"].tobytes())
            self.assertEqual(bat.attribute("field").tobytes(), columns["field"][np.argsort(ids)][read["id"]].tobytes())
            self.assertLessEqual(np.abs(read.positions.astype(float) - xyz[np.argsort(ids)][read["id"]]).max(), 1e-5)

    def test_what_cannot_be_written_is_refused_and_leaves_nothing(self):
        before = sorted(FOLDER.iterdir())
        for word, error, arguments in (
                ("shape", parabat.BatValueError, (np.zeros((3, 2)),)),
                ("positions: type int64", parabat.BatValueError, (np.zeros((3, 3), int),)),
                ("'a': 2 values for 3", parabat.BatValueError, (np.zeros((3, 3)), {"a": np.zeros(2)})),
                ("complex", parabat.BatTypeError, (np.zeros((3, 3)), {"a": np.zeros(3, complex)}))):
            with self.assertRaisesRegex(error, word):
                pure.write(FOLDER / "no.bat", *arguments)
        with self.assertRaisesRegex(parabat.BatValueError, "JSON"):
            pure.write(FOLDER / "no.bat", np.zeros((3, 3)), metadata="[1]")
        with self.assertRaisesRegex(parabat.BatError, "cannot be written"):
            pure.write(FOLDER / "nowhere" / "no.bat", np.zeros((3, 3)))
        self.assertEqual(sorted(FOLDER.iterdir()), before)

    def test_the_reader_is_a_program(self):
        done = subprocess.run([sys.executable, "-W", "error", "-m", "parabat.pure", "validate", str(self.theirs)],
                              check=True, capture_output=True, text=True)
        self.assertEqual((done.stdout, done.stderr), ("ok\n", ""))

    def test_few_and_no_particles(self):
        for count in (0, 1, 2, 5):
            path = FOLDER / f"few_{count}.bat"
            pure.write(path, np.ones((count, 3), np.float32), {"a": np.arange(count)})
            with parabat.open(path) as dataset:
                dataset.validate()
                self.assertEqual(sorted(dataset.read()["a"]), list(range(count)))

    def test_errors_are_of_the_family(self):
        data = bytearray(self.ours.read_bytes())
        data[len(data) // 2] ^= 1
        (FOLDER / "broken.bat").write_bytes(data)
        for path, kind in ((FOLDER / "broken.bat", "corrupt"), (FOLDER / "none.bat", "not_found")):
            with self.assertRaises(parabat.BatError) as raised:
                pure.open(path)
            self.assertEqual(raised.exception.kind, kind)
            with self.assertRaises(parabat.BatError) as by_library:
                with parabat.open(path) as dataset:
                    dataset.read()
            self.assertEqual(raised.exception.status, by_library.exception.status)
            self.assertEqual(pickle.loads(pickle.dumps(raised.exception)).kind, kind)
        with self.assertRaises(parabat.BatValueError):
            pure.open(self.ours).query(quality=2)

    def test_without_xxhash_it_reads_and_says_so(self):
        code = ("import sys, warnings; sys.modules['xxhash'] = None\n"
                "import parabat; from parabat import pure\n"
                "with warnings.catch_warnings(record=True) as said:\n"
                "    warnings.simplefilter('always')\n"
                f"    assert pure.open({str(self.theirs)!r}).particle_count == {N}\n"
                "assert 'damage of' in str(said[0].message) and len(said) == 1\n"
                "try:\n"
                f"    pure.write({str(FOLDER / 'no.bat')!r}, [[0.0, 0, 0]])\n"
                "except parabat.BatImportError as error:\n"
                "    assert 'pip install xxhash' in str(error)\n"
                "else:\n"
                "    raise AssertionError\n"
                # The library is not loaded for it, either.
                "assert parabat._library._loaded is None\n")
        subprocess.run([sys.executable, "-c", code], check=True)
        self.assertFalse((FOLDER / "no.bat").exists())


if __name__ == "__main__":
    unittest.main()
