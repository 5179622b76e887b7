# SPDX-License-Identifier: BSD-3-Clause
"""openpmd_to_bat.py: the .bat files contain the data of small openPMD files.

Usage: test_openpmd.py OPENPMD_TO_BAT [MPIEXEC_COMMAND...]     without one: in this process
"""

import contextlib
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import numpy as np

try:
    import h5py
except ImportError:
    print("skipped: no h5py (Debian: python3-h5py)")
    sys.exit(77)

import parabat

PROGRAM, MPIEXEC = sys.argv[1], sys.argv[2:]
if not MPIEXEC:  # an MPI process cannot start others
    sys.path.insert(0, str(pathlib.Path(PROGRAM).parent))
    import openpmd_to_bat

def component(parent, name, array, unit=1.0):
    """A dataset, or a constant record component if `array` is (value, n)."""
    if isinstance(array, tuple):
        node = parent.create_group(name)
        node.attrs["value"], node.attrs["shape"] = array[0], np.array([array[1]], np.uint64)
    else:
        node = parent.create_dataset(name, data=array)
    node.attrs["unitSI"] = unit
    return node


def record(species, name, components, unit=1.0, dimension=(0,) * 7):
    if isinstance(components, dict):
        node = species.create_group(name)
        for key, array in components.items():
            component(node, key, array, unit)
    else:
        node = component(species, name, components, unit)
    node.attrs["unitDimension"] = np.array(dimension, float)
    return node


def electrons(step, n=300):
    random = np.random.default_rng(step)
    return {"xyz": random.random((n, 3)).astype(np.float32), "momentum": random.normal(size=(n, 3)),
            "id": (np.uint64(1) << np.uint64(63)) + random.permutation(n).astype(np.uint64),
            "weighting": random.random(n).astype(np.float32), "level": random.integers(-3, 9, n).astype(np.int8)}


def ions(step, n=120):
    random = np.random.default_rng(step + 1000)
    return {"xz": random.random((n, 2)), "offset": random.integers(0, 50, (n, 2)).astype(np.int32),
            "id": np.arange(n, dtype=np.uint64)}


def add_iteration(file, step):
    """As written by a particle-in-cell code: electrons with constant offsets, ions in a plane."""
    file.attrs["openPMD"], file.attrs["openPMDextension"] = "1.1.0", np.uint32(0)
    file.attrs["basePath"], file.attrs["particlesPath"] = "/data/%T/", "particles/"
    iteration = file.create_group(f"data/{step}")
    iteration.attrs["time"], iteration.attrs["dt"], iteration.attrs["timeUnitSI"] = 0.5 * step, 0.5, 1e-3
    iteration.create_dataset("fields/rho", data=np.zeros((2, 2)))
    e, n = electrons(step), 300
    species = iteration.create_group("particles/electrons")
    record(species, "position", dict(zip("xyz", e["xyz"].T)), 1.0, (1, 0, 0, 0, 0, 0, 0))
    record(species, "positionOffset", {a: (0.0, n) for a in "xyz"}, 1.0, (1, 0, 0, 0, 0, 0, 0))
    record(species, "momentum", dict(zip("xyz", e["momentum"].T)), 1e-20, (1, 1, -1, 0, 0, 0, 0))
    for name in ("id", "weighting", "level"):
        record(species, name, e[name])
    record(species, "charge", (-1.5, n), 1.0, (0, 0, 1, 1, 0, 0, 0))
    record(species, "mixed", {"b": e["level"], "a": e["weighting"]})
    species.create_group("particlePatches").create_dataset("numParticles", data=np.array([n]))
    i, n = ions(step), 120
    species = iteration.create_group("particles/ions")
    record(species, "position", {"x": i["xz"][:, 0], "z": i["xz"][:, 1]}, 0.5)
    record(species, "positionOffset", {"x": i["offset"][:, 0], "z": i["offset"][:, 1]}, 0.25)
    record(species, "id", i["id"])


class OpenPMD(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.folder = pathlib.Path(self._folder.name)
        self.out = str(self.folder / "out" / "{name}_{timestep:04d}.bat")

    def convert(self, source, *options, fails=False):
        command = [PROGRAM, str(self.folder / source), self.out, "--no-flush", *options]
        if MPIEXEC:
            run = subprocess.run([*MPIEXEC, sys.executable, *command], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, encoding="utf-8", check=False)
            code, out, err = run.returncode, run.stdout, run.stderr
        else:
            out, err = io.StringIO(), io.StringIO()
            with unittest.mock.patch("sys.argv", command), contextlib.redirect_stdout(out), \
                    contextlib.redirect_stderr(err):
                code = openpmd_to_bat.main()
            out, err = out.getvalue(), err.getvalue()
        self.assertEqual(code != 0, fails, out + err)
        return err if fails else out

    def files(self):
        return sorted(p.name for p in (self.folder / "out").glob("*.bat"))

    def expect_electrons(self, step):
        e = electrons(step)
        with parabat.Dataset(self.folder / "out" / f"electrons_{step:04d}.bat") as dataset:
            self.assertEqual(dataset.step, step)
            self.assertEqual(dataset.time, 0.5 * step * 1e-3)
            described = json.loads(dataset.metadata)
            found = dataset.read()
        self.assertEqual(described["openPMD"]["unitSI"]["momentum"], 1e-20)
        self.assertEqual(described["units"]["charge"], "s A")
        order = np.argsort(e["id"])
        rows = np.argsort(found["id"])
        for name, expected in (("momentum", e["momentum"]), ("id", e["id"]), ("weighting", e["weighting"]),
                               ("level", e["level"]), ("charge", np.full(300, -1.5)), ("mixed_a", e["weighting"]),
                               ("mixed_b", e["level"])):
            self.assertEqual(found[name].dtype, expected.dtype, name)
            self.assertTrue(np.array_equal(found[name][rows], expected[order]), name)
        self.assertEqual(found.positions.dtype, np.float32)
        self.assertTrue(np.array_equal(found.positions[rows], e["xyz"][order]))

    def expect_ions(self, step, unit=0.5):
        i = ions(step)
        with parabat.Dataset(self.folder / "out" / f"ions_{step:04d}.bat") as dataset:
            found = dataset.read()
        self.assertEqual(found.positions.dtype, np.float64)
        rows = np.argsort(found["id"])
        xz = i["xz"] * (0.5 / unit) + i["offset"] * (0.25 / unit)
        self.assertTrue(np.array_equal(found.positions[rows], np.column_stack([xz[:, 0], np.zeros(120), xz[:, 1]])))

    def test_one_file_with_all_iterations_goes_on_where_it_has_stopped(self):
        for step in (0, 50):
            with h5py.File(self.folder / "run.h5", "a") as file:
                add_iteration(file, step)
        self.convert("run.h5")
        expected = ["electrons_0000.bat", "electrons_0050.bat", "ions_0000.bat", "ions_0050.bat"]
        self.assertEqual(self.files(), expected)
        for step in (0, 50):
            self.expect_electrons(step)
            self.expect_ions(step)
        before = {name: (self.folder / "out" / name).stat().st_mtime_ns for name in expected}
        self.assertEqual(self.convert("run.h5"), "")
        with h5py.File(self.folder / "run.h5", "a") as file:
            add_iteration(file, 100)
            add_iteration(file, 150)
            file["data/150"].attrs["closed"] = np.uint8(0)  # still being written
        self.assertEqual(self.convert("run.h5").count("iteration"), 1)
        self.assertEqual(self.files(), ["electrons_0000.bat", "electrons_0050.bat", "electrons_0100.bat",
                                        "ions_0000.bat", "ions_0050.bat", "ions_0100.bat"])
        self.expect_electrons(100)
        for name, written in before.items():
            self.assertEqual((self.folder / "out" / name).stat().st_mtime_ns, written, name)
        with open(self.folder / "out" / "electrons.bat.series", encoding="utf-8") as file:
            self.assertEqual([f["name"] for f in json.load(file)["files"]],
                             ["electrons_0000.bat", "electrons_0050.bat", "electrons_0100.bat"])

    @unittest.skipIf(MPIEXEC, "one process is enough")
    def test_links_to_other_files_are_followed_if_that_is_asked_for(self):
        with h5py.File(self.folder / "run.h5", "w") as file, h5py.File(self.folder / "other.h5", "w") as other:
            add_iteration(file, 7)
            other["secret"] = np.arange(300.0)
            file["data/7/particles/electrons/secret"] = h5py.ExternalLink("other.h5", "/secret")
            file["data/7/particles/electrons/loop"] = h5py.SoftLink("/data/7/particles/electrons/loop")
        for options, names in (((), set()), (("--follow-links",), {"secret"})):
            err = io.StringIO()
            with contextlib.redirect_stderr(err):
                command = [PROGRAM, str(self.folder / "run.h5"), str(self.folder / f"out{len(names)}" / "{name}.bat"), "--no-flush", *options]
                with unittest.mock.patch("sys.argv", command), contextlib.redirect_stdout(io.StringIO()):
                    self.assertEqual(openpmd_to_bat.main(), 0)
            reported = err.getvalue()
            self.assertEqual(reported.count("external link to /secret in the file other.h5"), 1, reported)
            self.assertEqual(reported.count("circular link"), 1, reported)
            with parabat.Dataset(next((self.folder / f"out{len(names)}").glob("electrons*.bat"))) as dataset:
                self.assertEqual(set(dataset.attributes) & {"secret", "loop"}, names)

    @unittest.skipIf(MPIEXEC, "one process is enough")
    def test_si_units(self):
        with h5py.File(self.folder / "run.h5", "w") as file:
            add_iteration(file, 7)
        self.convert("run.h5", "--si", "--sorted-index", "id")
        self.expect_ions(7, unit=1.0)
        with parabat.Dataset(self.folder / "out" / "electrons_0007.bat") as dataset:
            found = dataset.read()
            self.assertEqual(json.loads(dataset.metadata)["units"]["momentum"], "m kg s^-1")
        e = electrons(7)
        self.assertTrue(np.array_equal(found["momentum"][np.argsort(found["id"])],
                                       (e["momentum"] * 1e-20)[np.argsort(e["id"])]))

    @unittest.skipIf(MPIEXEC, "one process is enough")
    def test_files_that_come_are_followed(self):
        for step in (9, 10):  # not in the order of their names
            with h5py.File(self.folder / f"data_{step}.h5", "w") as file:
                add_iteration(file, step)
        with subprocess.Popen([sys.executable, PROGRAM, str(self.folder / "data_%T.h5"), self.out, "--follow", "3600",
                               "--poll", "0.1"], stdout=subprocess.PIPE, encoding="utf-8") as follower:
            try:
                self.assertIn("iteration 9: electrons, ions", follower.stdout.readline())
                self.assertIn("iteration 10:", follower.stdout.readline())
                (self.folder / "data_11.h5").write_bytes(b"\x89HDF\r\n\x1a\nnot all of it yet")
                with h5py.File(self.folder / "new.h5", "w") as file:
                    add_iteration(file, 11)
                (self.folder / "new.h5").rename(self.folder / "data_11.h5")
                self.assertIn("iteration 11:", follower.stdout.readline())
            finally:
                follower.terminate()
        for step in (9, 10, 11):
            self.expect_electrons(step)
            self.expect_ions(step)

    def test_what_is_not_allowed_is_named(self):
        def refusal(change):
            with h5py.File(self.folder / "run.h5", "w") as file:
                add_iteration(file, 3)
                change(file, file["data/3/particles/electrons"])
            text = self.convert("run.h5", fails=True)
            self.assertEqual(self.files(), [])
            self.assertIn(str(self.folder / "run.h5"), text)
            return text

        def replace(species, name, array):
            del species[name]
            record(species, name, array)

        cases = (
            (lambda f, s: replace(s, "id", np.zeros(300, np.float16)),
             "/data/3/particles/electrons/id: type float16; allowed: integers of 8 to 64 bits, float32, float64"),
            (lambda f, s: replace(s, "id", np.zeros(299)), "/id: 299 values; allowed: 300, like position"),
            (lambda f, s: replace(s, "id", np.zeros((300, 2))), "/id: 2 dimensions; allowed: 1"),
            (lambda f, s: record(s, "w", ("text", 300)), "/w: type"),
            (lambda f, s: replace(s, "position", {"r": np.zeros(300)}), "/position: components 'r'; allowed: x, y, z"),
            (lambda f, s: replace(s, "position", {"x": np.zeros(300, int)}), "allowed: float32, float64"),
            (lambda f, s: record(s, "mixed_a", np.zeros(300)), "'mixed_a', also the name of another record"),
            (lambda f, s: s["position"].__delitem__("y") or s["positionOffset/y"].attrs.update(value=1.0),
             "/positionOffset/y: an offset of a component missing from position; allowed: a constant of 0"),
            (lambda f, s: f.attrs.update(openPMD="2.0.0"), "openPMD 2.0.0; allowed: 1.x"),
            (lambda f, s: f.attrs.__delitem__("openPMD"), "no attribute 'openPMD'"),
            (lambda f, s: f.create_group("data/latest"), "iteration 'latest'; allowed: numbers"),
        )
        for change, words in cases[:1] if MPIEXEC else cases:
            with self.subTest(words):
                self.assertIn(words, refusal(change))
        (self.folder / "run.h5").write_bytes(b"no HDF5")
        self.assertIn("run.h5", self.convert("run.h5", fails=True))
        self.assertIn("none_%T.h5: no complete iteration", self.convert("none_%T.h5", fails=True))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
