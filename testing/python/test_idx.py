# SPDX-License-Identifier: BSD-3-Clause
"""parabat.idx and the subcommands for .idx. Arguments: folder to write in, preceded by the word `ranks` on many
ranks."""

import contextlib
import io
import json
import os
import pathlib
import re
import shutil
import sys
import threading
import types
import unittest
import unittest.mock
import xml.etree.ElementTree

import numpy as np
import parabat
from parabat import _options, idx
from parabat.cli import main

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "testing" / "idx" / "spec_reader"))
import idx_spec

RANKS = sys.argv[1] == "ranks" and sys.argv.pop(1)
FOLDER = pathlib.Path(sys.argv.pop(1)) / "python_idx"
NX, NY, NZ = 37, 22, 29


def fields_of(shape, seed=3):
    random = np.random.default_rng(seed)
    return {"id": np.arange(np.prod(shape)).reshape(shape) + 2**60, "v": random.random((*shape, 3), np.float32),
            "d": np.floor(random.random(shape) * 7), "k": random.integers(0, 255, (*shape, 1), np.uint8)}


def part(values, level_distance, box, first=(0, 0, 0)):
    """The samples that a level has in a box, from the whole array."""
    slices = []
    for axis in (2, 1, 0):
        begin = -(-box[axis] // level_distance[axis]) * level_distance[axis]
        slices.append(slice(begin - first[axis], max(begin, box[axis + 3] + 1) - first[axis], level_distance[axis]))
    return values[tuple(slices)]


def run(*words):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([str(word) for word in words])
    return code, out.getvalue(), err.getvalue()


class Idx(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        shutil.rmtree(FOLDER, ignore_errors=True)
        FOLDER.mkdir(parents=True)
        os.chdir(FOLDER)
        cls.fields = fields_of((NZ, NY, NX))
        for step in (3, 8):
            cls.report = idx.write("a.idx", cls.fields, step=step, time=step / 4, codec="zip",
                                   bits_per_block=9, origin=(1, 0, -2.5), spacing=(0.5, 1, 0.25), flush=False)

    def setUp(self):
        self.a = idx.open("a.idx")

    def refused(self, kind, word, call, *arguments, **options):
        with self.assertRaises(kind) as caught:
            call(*arguments, **options)
        self.assertIn(word, str(caught.exception))

    def test_every_level_and_box_is_what_was_written(self):
        random, spec = np.random.default_rng(1), idx_spec.Dataset(FOLDER / "a.idx")
        for level in range(self.a.levels + 1):
            ends = np.sort(random.integers(0, (NX, NY, NZ), (2, 3)), axis=0)
            for box in (self.a.box, (*ends[0].tolist(), *ends[1].tolist())):
                grid = self.a.read(level=level, box=box, step=8)
                self.assertEqual((grid.level, grid.step, grid.time, grid.absent_blocks), (level, 8, 2.0, 0))
                for name, values in self.fields.items():
                    want = part(values, grid.lattice.distance, box).reshape(grid[name].shape)
                    self.assertEqual(grid[name].dtype, values.dtype)
                    self.assertEqual(grid[name].tobytes(), want.tobytes(), (level, box, name))
                    other = spec.read(name, 8, level, [(box[i], box[i + 3]) for i in range(3)])
                    self.assertEqual(grid[name].tobytes(), np.ascontiguousarray(other).tobytes())
                np.testing.assert_allclose(grid.coordinates(0), 1 + 0.5 * (grid.lattice.first[0] + np.arange(
                    grid.lattice.count[0]) * grid.lattice.distance[0]))

    def test_facts(self):
        self.assertEqual(self.a.box, (0, 0, 0, NX - 1, NY - 1, NZ - 1))
        self.assertEqual((self.a.steps, self.a.times, self.a.axes, self.a.version), ([3, 8], [0.75, 2.0], 3, "6"))
        self.assertEqual((self.a.origin.tolist(), self.a.spacing.tolist()), ([1, 0, -2.5], [0.5, 1, 0.25]))
        self.assertEqual(list(self.a.fields), ["id", "v", "d", "k"])
        self.assertEqual(self.a.fields["v"], ("v", np.dtype(np.float32), 3, None))
        self.assertEqual(self.a.fields["d"].range, (0, 6))
        self.assertIn("37 x 22 x 29 samples, 17 levels, 2 steps", repr(self.a))
        self.assertEqual(len(self.a.bits), self.a.levels + 1)
        self.assertTrue(self.a.text.startswith("(version)"))
        self.assertEqual(self.report.samples, NX * NY * NZ)
        self.assertEqual(self.a.validate()["samples"], 2 * 4 * NX * NY * NZ)
        cost = self.a.cost(["d", "k"])
        self.assertEqual((cost.samples, cost.bytes), (NX * NY * NZ, 9 * NX * NY * NZ))
        self.assertEqual(self.a.level_within(9 * NX * NY * NZ, ["d", "k"]), self.a.levels)
        self.assertEqual(self.a.level_within(9 * NX * NY * NZ - 1, ["d", "k"]), self.a.levels - 1)
        self.assertEqual(self.a.read("d", budget=1).level, 0)
        self.assertEqual(self.a.box_of([1.2, 1, -2.5, 3, 2, 100]), (1, 1, 0, 4, 2, NZ - 1))
        with self.assertRaisesRegex(parabat.BatValueError, "an end along y is NaN"):
            self.a.box_of([1.2, 1, -2.5, 3, np.nan, 100])
        self.assertEqual(self.a.first_level([1, 1, 1, 1, 1, 1]), self.a.levels)
        self.assertIsNone(self.a.first_level([100, 1, 1, 101, 1, 1]))

    def test_levels_one_after_the_other(self):
        grids = list(self.a.iter_levels(["d"], first=2, bounds=[1, 0, -2.5, 8, 20, 3]))
        self.assertEqual([grid.level for grid in grids], [2, 5, 8, 11, 14, 16])
        box = self.a.box_of([1, 0, -2.5, 8, 20, 3])
        for grid in grids:
            self.assertEqual(grid["d"].tobytes(), part(self.fields["d"], grid.lattice.distance, box).tobytes())
        direct = self.a.read("d", box=box)
        self.assertEqual(grids[-1]["d"].tobytes(), direct["d"].tobytes())
        marked = self.a.read("d", level=10)
        marked["d"][:] = -1
        self.assertEqual((self.a.read("d", coarse=marked)["d"] == -1).sum(), marked["d"].size)
        self.refused(parabat.BatValueError, "another", self.a.read, "d", coarse=grids[0])
        self.refused(parabat.BatValueError, "samples of 'k' were changed", self.a.read, "k", coarse=marked)

    def test_export_tells_of_a_place_that_it_cannot_say(self):
        idx.write("turned.idx", {"d": np.zeros((2, 3, 4))}, flush=False)
        with open("turned.idx", "a") as file:
            file.write("(logic_to_physic)\n0 -1 0 0 1 0 0 0 0 0 1 0 0 0 0 1\n")
        code, _, err = run("export", "turned.idx", "turned.vti")
        self.assertEqual(code, 0)
        self.assertIn("turned.idx: (logic_to_physic)", err)

    def test_fields_may_be_an_iterator(self):
        grids = list(self.a.iter_levels(iter(["d"]), first=14, bounds=None))
        self.assertEqual([list(grid) for grid in grids], [["d"]] * 2)

    def test_many_fields(self):
        names = [f"f{i}" for i in range(1500)]
        idx.write("many.idx", {name: np.full((2, 2, 2), i, np.int32) for i, name in enumerate(names)}, flush=False)
        with idx.open("many.idx") as many:
            self.assertEqual(list(many.fields), names)
            self.assertEqual({int(array[1, 1, 1]) for array in many.read().values()}, set(range(1500)))

    def test_what_does_not_fit_into_memory(self):
        pathlib.Path("huge.idx").write_text("(version)\n6\n(box)\n" + "0 1048575 " * 3 + "\n(fields)\np float64\n(bits)\nV" +
                                            "012" * 20 + "\n(bitsperblock)\n15\n(blocksperfile)\n256\n" +
                                            "(filename_template)\n./huge/%04x.bin\n")
        with idx.open("huge.idx") as huge:
            for level in (60, 32, 20):
                self.refused(parabat.BatNotFoundError, "time step 0 has not been written", huge.read, level=level)
            pathlib.Path("huge").mkdir()
            pathlib.Path("huge/0000.bin").write_bytes(bytes(40 + 40 * 256))
            for level in (60, 48):
                with self.assertRaises(parabat.BatError) as caught:
                    huge.read(level=level)
                self.assertEqual(caught.exception.status, parabat.errors.OUT_OF_MEMORY)
                for word in ("huge.idx", "memory"):
                    self.assertIn(word, str(caught.exception))
            self.assertEqual(huge.read(level=20).absent_blocks, 32)
        # Blocks that are absent are counted, not listed.
        for verb, lines in (("info", 5), ("validate", 1)):
            code, out, err = run(verb, "huge.idx")
            self.assertEqual((code, err, len(out.splitlines())), (0, "", lines))
        self.assertIn("35,184,372,088,832 of 35,184,372,088,832 blocks are missing", out)

    def test_all_reads_of_an_open_dataset_are_of_one_version(self):
        for mode in ("replace", "add_step"):
            idx.write("turn.idx", {"a": np.zeros((8, 8, 8)), "b": np.zeros((8, 8, 8))}, mode=mode, flush=False)
            with idx.open("turn.idx") as before:
                self.assertEqual(before.read("a")["a"].max(), 0)
                idx.write("turn.idx", {"a": np.ones((8, 8, 8)), "b": np.ones((8, 8, 8))}, mode=mode, flush=False)
                self.refused(parabat.BatError, "turn.idx: time step 0 was replaced", before.read, "b")
                self.refused(parabat.BatError, "turn.idx: time step 0 was replaced", before.read, level=0)
            with idx.open("turn.idx") as after:
                self.assertEqual(after.read("b")["b"].min(), 1)

    def test_threads_have_a_progress_of_their_own(self):
        failures, reported = [], []

        def plain():
            for _ in range(30):
                try:
                    self.a.read(threads=1)
                except parabat.BatError as error:
                    failures.append(error)

        def cancelled():
            for _ in range(30):
                reported.clear()
                # Continues with two of the four fields.
                with self.assertRaises(parabat.BatCancelledError):
                    self.a.read(threads=1, progress=lambda done: reported.append(done) or done < 0.6)
        threads = [threading.Thread(target=plain) for _ in range(2)]
        for thread in threads:
            thread.start()
        try:
            cancelled()
        finally:
            for thread in threads:
                thread.join()
        self.assertEqual(failures, [])

    def test_vectors_of_a_plane_have_its_axes(self):
        class Checked:
            def __init__(self, fields, coordinates, _about):
                for dims, values in fields.values():
                    for dim, size in zip(dims, values.shape):
                        assert dim.startswith("component") or len(coordinates[dim]) == size, (dims, values.shape)
        idx.write("plane.idx", {"v": np.zeros((4, 5, 3), np.float32)}, axes=2, flush=False)
        grid = idx.open("plane.idx").read()
        with unittest.mock.patch.dict(sys.modules, {"xarray": types.SimpleNamespace(Dataset=Checked)}):
            grid.to_xarray()

    def test_shapes(self):
        for shape, axes, count in (((5, 7), None, (7, 5, 1)), ((6,), None, (6, 1, 1)), ((5, 7, 3), 2, (7, 5, 1)),
                                   ((5, 7, 3), None, (3, 7, 5)), ((4, 5, 7, 2), None, (7, 5, 4)), ((1, 5, 7), None, (7, 5, 1))):
            values = np.random.default_rng(0).random(shape)
            idx.write("s.idx", {"f": values}, axes=axes, flush=False)
            with idx.open("s.idx") as dataset:
                self.assertEqual(dataset.lattice().count, count)
                grid = dataset.read()
                self.assertEqual(grid["f"].tobytes(), values.tobytes())
                if shape[0] != 1:
                    self.assertEqual(grid["f"].shape, shape)
                self.assertEqual(dataset.read(axes=3)["f"].shape[:3], count[::-1])
        # Other byte orders, other axis orders, and bool.
        values = np.asfortranarray(np.arange(60, dtype=">i2").reshape(3, 4, 5))
        idx.write("s.idx", {"f": values, "b": values % 2 == 0}, flush=False)
        grid = idx.open("s.idx").read()
        np.testing.assert_array_equal(grid["f"], values)
        self.assertEqual((grid["f"].dtype, grid["b"].dtype), (np.int16, np.uint8))

    def test_ghosts(self):
        inner = {name: values[2:-2, 2:-2, 2:-2] for name, values in self.fields.items()}
        idx.write("g.idx", self.fields, ghosts=2, first=(5, 5, 5), flush=False)
        grid = idx.open("g.idx").read()
        self.assertEqual(grid.lattice.first, (7, 7, 7))
        for name, values in inner.items():
            self.assertEqual(grid[name].tobytes(), np.ascontiguousarray(values).tobytes())
        idx.write("g.idx", {"d": self.fields["d"]}, ghosts=[(0, 1), (2, 0), (0, 0)], flush=False)
        np.testing.assert_array_equal(idx.open("g.idx").read()["d"], self.fields["d"][:, 2:, :-1])
        self.refused(parabat.BatValueError, "contains only ghosts", idx.write, "g.idx", {"d": np.zeros((4, 9, 9))}, ghosts=2)
        self.refused(parabat.BatValueError, "must not be negative", idx.write, "g.idx", {"d": np.zeros((4, 9, 9))}, ghosts=-1)

    def test_refusals(self):
        self.refused(FileNotFoundError, "nowhere.idx", idx.open, "nowhere.idx")
        pathlib.Path("not.idx").write_text("nothing")
        self.refused(parabat.BatError, "not.idx", idx.open, "not.idx")
        self.refused(parabat.BatValueError, "available: id, v, d, k", self.a.read, "w")
        self.refused(parabat.BatValueError, "level 17 is out of range; allowed are 0 to 16", self.a.read, level=17)
        self.refused(parabat.BatValueError, "time step 4", self.a.read, step=4)
        self.refused(parabat.BatValueError, "six whole numbers", self.a.read, box=[1, 2])
        self.refused(parabat.BatTypeError, "whole numbers", self.a.read, box=[1, 2, 3, 4, 5, 6.5])
        self.refused(parabat.BatValueError, "axes is 2", self.a.read, axes=2)
        self.refused(parabat.BatValueError, "samples, but the others have", idx.write, "n.idx",
                     {"a": np.zeros((2, 3, 4)), "b": np.zeros((2, 3, 5))})
        self.refused(parabat.BatTypeError, "type float16", idx.write, "n.idx", {"a": np.zeros((2, 3, 4), np.float16)})
        self.refused(parabat.BatTypeError, "unknown option 'target_bytes'", idx.write, "n.idx", {"a": np.zeros(3)}, target_bytes=1)
        self.refused(parabat.BatValueError, "codec is 'jpg'", idx.write, "n.idx", {"a": np.zeros(3)}, codec="jpg")
        self.refused(parabat.BatValueError, "step is -1", idx.write, "n.idx", {"a": np.zeros(3)}, step=-1)
        self.refused(parabat.BatValueError, "spacing", idx.write, "n.idx", {"a": np.zeros(3)}, spacing=(1, 0, 1))
        self.refused(parabat.BatValueError, "name", idx.write, "n.idx", {"a b": np.zeros(3)})
        self.refused(parabat.BatValueError, "2 pieces", idx.write, "n.idx", [idx.Piece({"a": np.zeros((2, 2, 2))})] * 2)
        self.refused(parabat.BatValueError, "its field list", idx.write, "a.idx", {"z": np.zeros((NZ, NY, NX))},
                     mode="add_step", step=9, time=1)
        self.refused(parabat.BatCancelledError, "cancelled", idx.write, "a.idx", self.fields, progress=lambda done: False)
        self.refused(ZeroDivisionError, "", idx.write, "a.idx", self.fields, progress=lambda done: 1 / 0)
        self.refused(parabat.BatCancelledError, "", self.a.read, progress=lambda done: False)
        self.assertFalse(os.path.exists("n.idx"))
        self.assertEqual(self.a.read("d", step=3)["d"].tobytes(), self.fields["d"].tobytes())
        self.a.close()
        self.assertIn("closed", repr(self.a))

    def test_steps_of_a_loop_stay(self):
        ones = np.ones((4, 5, 6), np.float32)
        for step in (1, 3, 2, 3):
            idx.write("loop.idx", {"p": ones * step}, step=step, flush=False)
        with idx.open("loop.idx") as dataset:
            self.assertEqual(dataset.steps, [1, 2, 3])
            for step in dataset.steps:
                self.assertEqual(dataset.read("p", step=step)["p"].tobytes(), (ones * step).tobytes())
        for fields, word in (({"p": ones[1:]}, "its box"), ({"p": ones, "q": ones}, "its field list"),
                             ({"p": ones.astype(float)}, "its field list")):
            for step in (3, 4):
                self.refused(parabat.BatValueError, f'loop.idx: the step cannot be added: in the dataset, {word}', idx.write,
                             "loop.idx", fields, step=step)
                self.refused(parabat.BatValueError, 'mode="replace"', idx.write, "loop.idx", fields, step=step)
        self.refused(parabat.BatValueError, 'have no times, but the new one has; mode="replace"', idx.write, "loop.idx",
                     {"p": ones}, step=4, time=0.5)
        with idx.open("loop.idx") as dataset:
            self.assertEqual(dataset.steps, [1, 2, 3])
        idx.write("loop.idx", {"p": ones[1:]}, step=4, mode="replace", flush=False)
        with idx.open("loop.idx") as dataset:
            self.assertEqual(dataset.steps, [4])
        idx.write("loop.idx", {"p": ones}, flush=False)  # without a step
        with idx.open("loop.idx") as dataset:
            self.assertEqual(dataset.steps, [0])
        pathlib.Path("torn.idx").write_text("no header")
        self.refused(parabat.BatValueError, 'mode="replace"', idx.write, "torn.idx", {"p": ones}, step=4)

    def test_every_door_has_every_option(self):
        names = {row["name"] for row in idx.options_table()}
        for text in (idx.write.__doc__, (TOP / "core" / "capi" / "include" / "bat" / "bat_idx.h").read_text()):
            self.assertEqual(names - set(re.findall(r"\w+", text)), set())

    def test_every_option_has_a_meaning(self):
        for table, meanings in ((parabat.options_table(), _options.PARTICLES), (idx.options_table(), _options.GRIDS)):
            self.assertEqual({row["name"] for row in table}, set(meanings))
            for row in table:
                self.assertEqual(list(row), ["name", "type", "default", "allowed", "meaning"])
                self.assertGreater(len(row["meaning"]), 10, row)

    def test_pidx(self):
        idx.write("p.idx", self.fields, dialect="pidx", flush=False)
        with idx.open("p.idx") as dataset:
            self.assertEqual(dataset.version, "6.1")
            self.assertEqual(dataset.read("v")["v"].tobytes(), self.fields["v"].tobytes())

    # --- the command

    def succeeds(self, *words):
        code, out, err = run(*words)
        self.assertEqual((code, err), (0, ""), out)
        return out

    def fails(self, expected, word, *words):
        code, out, err = run(*words)
        self.assertEqual(code, expected, err)
        self.assertIn(word, out + err)
        return out

    def test_info_and_validate(self):
        out = self.succeeds("info", "a.idx")
        for text in ("37 x 22 x 29 samples, 17 levels, 2 steps", "origin 1 0 -2.5, spacing 0.5 1 0.25", "v  float32[3]",
                     "step 3 to 8, time 0.75 to 2", "blocks of 2^9 samples"):
            self.assertIn(text, out)
        facts = json.loads(self.succeeds("info", "--json", "a.idx"))
        self.assertEqual((facts["dimensions"], facts["steps"], facts["fields"][1]["components"]), ([NX, NY, NZ], [3, 8], 3))
        self.assertIn("valid, 188,848 samples of all fields and 2 steps", self.succeeds("validate", "a.idx"))
        shutil.rmtree("b", ignore_errors=True)
        idx.write("b.idx", self.fields, codec="zip", bits_per_block=9, flush=False)
        files = sorted(pathlib.Path("b").rglob("*.bin"))
        data = bytearray(files[0].read_bytes())
        data[-30] ^= 255
        files[0].write_bytes(data)
        self.fails(1, ".bin", "validate", "b.idx")
        self.assertFalse(json.loads(run("validate", "--json", "b.idx", "a.idx")[1].splitlines()[0])["sound"])
        self.fails(3, "nowhere.idx", "validate", "nowhere.idx")

    def test_export(self):
        self.succeeds("export", "a.idx", "a.npz", "--step", 8)
        with np.load("a.npz") as found:
            self.assertEqual((found["step"], found["time"], found["spacing"].tolist()), (8, 2.0, [0.5, 1, 0.25]))
            for name, values in self.fields.items():
                self.assertEqual(found[name].tobytes(), values.tobytes())
        self.succeeds("export", "a.idx", "a.npy", "--step", 3, "--attributes", "v", "--level", 12, "--box", 2, 1, -2, 9, 9, 0)
        box = self.a.box_of([2, 1, -2, 9, 9, 0])
        np.testing.assert_array_equal(np.load("a.npy"), part(self.fields["v"], self.a.lattice(12).distance, box))
        out = self.succeeds("export", "a.idx", "a.vti", "--step", 3, "--budget", 5000)
        self.assertIn("a.vti: 19 x 11 x 15 samples of level 13", out)
        head, _, data = pathlib.Path("a.vti").read_bytes().partition(b'encoding="raw">\n_')
        piece = xml.etree.ElementTree.fromstring(head + b'encoding="raw">_</AppendedData></VTKFile>').find("ImageData")
        grid = self.a.read(level=13, step=3)
        self.assertEqual(piece.get("WholeExtent"), " ".join(f"0 {n - 1}" for n in grid.lattice.count))
        self.assertEqual(piece.get("Spacing"), " ".join(map(repr, grid.spacing.tolist())))
        types = {"int64": "Int64", "float32": "Float32", "float64": "Float64", "uint8": "UInt8"}
        for array in piece.find("Piece/PointData"):
            values, at = grid[array.get("Name")], int(array.get("offset"))
            self.assertEqual(array.get("type"), types[values.dtype.name])
            self.assertEqual(int.from_bytes(data[at:at + 8], "little"), values.nbytes)
            self.assertEqual(data[at + 8:at + 8 + values.nbytes], values.tobytes())
        self.fails(2, "2 time steps; choose one with --step: 3, 8", "export", "a.idx", "a.npz")
        self.fails(2, "4 fields", "export", "a.idx", "a.npy", "--step", 3)
        self.fails(2, "--quality: a.idx is a structured grid", "export", "a.idx", "a.npz", "--quality", 0.5)
        self.fails(2, "ends in '.csv'", "export", "a.idx", "a.csv", "--step", 3)

    def test_diff(self):
        idx.write("c.idx", self.fields, bits_per_block=12, layout="hz", origin=(1, 0, -2.5), spacing=(0.5, 1, 0.25), flush=False)
        idx.write("e.idx", self.fields, origin=(1, 0, -2.5), spacing=(0.5, 1, 0.25), flush=False)
        self.assertIn("the same 23,606 samples of 4 fields at 1 step", self.succeeds("diff", "c.idx", "e.idx"))
        other = dict(self.fields, d=self.fields["d"].copy())
        other["d"][4, 5, 6] = -0.0
        other["d"][20, 1, 2] = np.nan
        idx.write("e.idx", other, origin=(1, 0, -2.5), spacing=(0.5, 1, 0.25), flush=False)
        self.fails(1, "d: 2 of 23,606 samples differ", "diff", "c.idx", "e.idx")
        found = json.loads(run("diff", "--json", "c.idx", "e.idx")[1])
        self.assertEqual([one["sample"] for one in found["examples"]], [[6, 5, 4], [2, 1, 20]])
        self.succeeds("diff", "c.idx", "e.idx", "--attributes", "id,v")
        self.fails(2, "unknown field 'nope', neither in c.idx nor in e.idx", "diff", "c.idx", "e.idx", "--attributes", "id,nope")
        self.fails(1, "steps: 2 in a.idx, 1 in c.idx", "diff", "a.idx", "c.idx")
        idx.write("e.idx", {"d": self.fields["d"].astype(np.float32)}, flush=False)
        self.fails(1, "field d: float64[1] in c.idx, float32[1] in e.idx", "diff", "c.idx", "e.idx")


@unittest.skipUnless(RANKS, "of many ranks")
class Ranks(unittest.TestCase):
    def test_ranks_write_what_one_writes(self):
        from mpi4py import MPI
        comm = MPI.COMM_WORLD
        fields = fields_of((NZ, NY, NX))
        cuts = [NZ * i // comm.size for i in range(comm.size + 1)]
        first, end = cuts[comm.rank], cuts[comm.rank + 1]
        below, above = min(first, 1), min(NZ - end, 1)
        own = idx.Piece({name: values[first - below:end + above] for name, values in fields.items()},
                         (0, 0, first - below), [(0, 0), (0, 0), (below, above)])
        path = FOLDER / "ranks" / "m.idx"
        if comm.rank == 0:
            shutil.rmtree(path.parent, ignore_errors=True)
            path.parent.mkdir(parents=True)
            idx.write(path.with_name("one.idx"), fields, bits_per_block=10, file_bytes=50000, flush=False)
        comm.Barrier()
        report = idx.write(path, [own], comm=comm, bits_per_block=10, file_bytes=50000, exchange="leaders", ranks_per_node=2)
        self.assertEqual(report.samples, NX * NY * NZ)
        dataset = idx.open(path, comm)
        box = (0, 0, first, NX - 1, NY - 1, end - 1)
        self.assertEqual(dataset.read("v", box=box)["v"].tobytes(), fields["v"][first:end].tobytes())
        if comm.rank == 0:
            self.assertEqual(run("diff", path, path.with_name("one.idx"))[0], 0)
        comm.Barrier()
        with self.assertRaises(parabat.BatValueError) as caught:
            idx.write(path, [] if comm.rank else {"a": np.zeros((2, 2, 2)), "b": np.zeros((2, 2, 3))}, comm=comm)
        self.assertIn("the others have", str(caught.exception))
        with self.assertRaises(parabat.BatValueError):
            idx.write(path, [], comm=comm)


if __name__ == "__main__":
    unittest.main(defaultTest="Ranks" if RANKS else None)
