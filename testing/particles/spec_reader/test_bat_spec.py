#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests bat_spec.py and bat_spec_write.py: round trips, damage, exact comparisons, command line."""

import contextlib
import io
import json
import math
import os
import struct
import tempfile
import unittest
import unittest.mock
from fractions import Fraction

import numpy as np

import bat_spec as spec
import bat_spec_write


def reseal(data):
    """Returns the file with all checksums corrected after a change of its content."""
    data = bytearray(data)
    table_offset, count = struct.unpack_from("<QI", data, 48)
    for at in range(table_offset, table_offset + 64 * count, 64):
        s = spec.Section(*spec.SECTION.unpack_from(data, at))
        raw = bytes(data[s.offset:s.offset + s.bytes])
        if s.flags & 1:
            stored, l2_bytes = spec.page_checksums(raw)
            data[s.checksums_offset:s.checksums_offset + len(stored)] = stored
            raw = stored[:l2_bytes]
        struct.pack_into("<Q", data, at + 40, spec.xxh64(raw))
    struct.pack_into("<Q", data, 80, spec.xxh64(data[table_offset:table_offset + 64 * count]))
    struct.pack_into("<Q", data, 120, spec.xxh64(data[:120]))
    return bytes(data)


def poke(data, kind, index, at, form, *values):
    """Returns the file with values packed at an offset of a section, with correct checksums."""
    s = (spec.BatDataset if data[24] & spec.SEVERAL_LEAF_FILES else spec.BatFile)(data).sections[kind, index]
    data = bytearray(data)
    struct.pack_into(form, data, s.offset + at, *values)
    return reseal(data)


def small_file():
    """Returns a file of 11 particles in three treelets, one of which has a NaN coordinate, with one attribute."""
    random = np.random.RandomState(1)
    xyz = random.uniform(0, 1, (11, 3)).astype("f4")
    xyz[6, 1] = np.nan
    return bat_spec_write.build(xyz, [("v", np.arange(11, dtype="f4"), 0, 0)], treelet_particles=6, block_particles=3, bins=4,
                                step=3)[0]


class Hashes(unittest.TestCase):
    def test_known_values_of_xxh64(self):
        for data, value in ((b"", 0xEF46DB3751D8E999), (b"a", 0xD24EC4F1A98C6E5B), (b"abc", 0x44BC2CF5AD770999),
                            (b"xxhash", 0x32DD38952C4BC720),
                            (b"Nobody inspects the spammish repetition", 0xFBCEA83C8A378BF1)):
            self.assertEqual(spec.xxh64(data), value)
            self.assertEqual(spec.xxh64(memoryview(data)), value)

    def test_known_values_of_xxh3(self):
        for data, value in ((b"", 0x2D06800538D394C2), (b"a", 0xE6C632B61E964E1F), (b"abc", 0x78AF5F94892F3950)):
            self.assertEqual(spec.xxh3(data), value)
            self.assertEqual(spec.xxh3(memoryview(data)), value)


class RoundTrip(unittest.TestCase):
    def test_examples(self):
        for name, data, content in bat_spec_write.examples():
            with self.subTest(name):
                bat = spec.BatFile(data, name)
                bat.validate()
                self.assertEqual(spec.content(bat), content)

    def test_command_line(self):
        def run(*args):
            out, err = io.StringIO(), io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = spec.main(list(args))
            return code, out.getvalue(), err.getvalue()

        with tempfile.TemporaryDirectory() as directory:
            bat_spec_write.main([directory])
            names = sorted(f[:-4] for f in os.listdir(directory) if f.endswith(".bat"))
            self.assertGreater(len(names), 15)
            for name in names:
                path, dump = os.path.join(directory, name + ".bat"), os.path.join(directory, "dump")
                self.assertEqual(run("validate", path), (0, "ok\n", ""))
                self.assertEqual(run("dump", path, "--json", dump)[0], 0)
                with open(dump, "rb") as found, open(path[:-4] + ".json", "rb") as expected:
                    self.assertEqual(found.read(), expected.read())
                code, out, _ = run("info", path)
                json.loads(out, parse_constant=spec.refuse_constant)
                self.assertEqual(code, 0)
            path = os.path.join(directory, "names.bat")
            code, out, _ = run("query", path, "--quality", "0.9", "--box", "-1", "-1e9", "-inf", "inf", "1", "1", "--range", "a:1",
                               "-5", "1e2", "--range", "two words:0", "0", "0x10")
            answer, bat = json.loads(out), spec.BatFile.open(path)
            where = bat.query(0.9, box=[-1, -1e9, -math.inf, math.inf, 1, 1],
                              ranges=[("a:1", None, -5, 100.0), ("two words", 0, 0, 16.0)])
            self.assertEqual((code, answer["positions"]), (0, where.tolist()))
            self.assertTrue(0 < answer["count"] < 20)
            code, out, _ = run("query", path, "--values", "two words:0", "6", "0", "2")
            self.assertEqual(json.loads(out)["positions"], bat.query(values=[("two words", None, [0, 2, 6])]).tolist())
            self.assertEqual(run("query", path, "--range", "nothing", "0", "1")[0], 2)
            self.assertEqual(run("validate", path + "x")[0], 1)


class Damage(unittest.TestCase):
    def setUp(self):
        self.data = small_file()
        self.bat = spec.BatFile(self.data)
        self.bat.validate()

    def kind_of(self, data, validate=False):
        with self.assertRaises(spec.BatError) as caught:
            bat = spec.BatFile(data, "some.bat")
            if validate:
                bat.validate()
        self.assertIn("some.bat", caught.exception.message)
        return caught.exception.kind

    def test_cuts(self):
        for size in range(len(self.data)):
            self.assertEqual(self.kind_of(self.data[:size]), "truncated", size)
        self.assertEqual(self.kind_of(self.data + b"\0"), "corrupt")

    def test_flips(self):
        content, free = spec.content(self.bat), 0
        for i in range(8 * len(self.data)):
            data = bytearray(self.data)
            data[i // 8] ^= 1 << i % 8
            try:
                bat = spec.BatFile(data)
            except spec.BatError:
                continue
            free += 1
            self.assertEqual(spec.content(bat), content, i)
            self.assertEqual(self.kind_of(data, True), "corrupt")
        self.assertLess(free, 8 * 7 * 30)

    def test_opening(self):
        self.assertEqual(self.kind_of(b"\x89BAX"), "not_a_bat_file")
        self.assertEqual(self.kind_of(b"some text, and more"), "not_a_bat_file")
        for at, form, value, kind in ((8, "H", 2, "unsupported_version"), (24, "Q", 1, "unsupported_version"),
                                      (12, "I", 136, "corrupt"), (60, "I", 4, "corrupt"), (64, "d", 1.0, "corrupt"),
                                      (88, "B", 1, "corrupt"), (40, "Q", 1 << 32, "corrupt"), (40, "Q", 12, "corrupt"),
                                      (48, "Q", (1 << 64) - 64, "corrupt"), (56, "I", 3, "corrupt")):
            data = bytearray(self.data)
            struct.pack_into("<" + form, data, at, value)
            struct.pack_into("<Q", data, 120, spec.xxh64(data[:120]))
            self.assertEqual(self.kind_of(data), kind, (at, value))
        with tempfile.TemporaryDirectory() as directory:
            for path, kind in ((directory, "cannot_open"), (os.path.join(directory, "x"), "not_found")):
                with self.assertRaises(spec.BatError) as caught:
                    spec.BatFile.open(path)
                self.assertEqual(caught.exception.kind, kind)

    def test_rules(self):
        """Every change violates one rule while all checksums are correct."""
        double = struct.unpack("<d", struct.pack("<q", -1))[0]
        for change in ((spec.SCHEMA, 0, 8, "<I", 0), (spec.SCHEMA, 0, 24, "<I", 4), (spec.SCHEMA, 0, 28, "B", 10),
                       (spec.SCHEMA, 0, 29, "B", 1), (spec.SCHEMA, 0, 32, "<d", -1.0), (spec.SCHEMA, 0, 80, "B", 11),
                       (spec.SCHEMA, 0, 81, "B", 2), (spec.SCHEMA, 0, 92, "<I", 1), (spec.SCHEMA, 0, 100, "<h", -1),
                       (spec.SCHEMA, 0, 103, "B", 1), (spec.SCHEMA, 0, 112, "<d", 0.5), (spec.SCHEMA, 0, 120, "<d", 11.0),
                       (spec.SCHEMA, 0, 136, "B", 0), (spec.SCHEMA, 0, 136, "B", 255), (spec.TREELETS, 0, 0, "<I", 5),
                       (spec.TREELETS, 0, 4, "<I", 1), (spec.TREELETS, 0, 20, "<I", 0), (spec.SHALLOW_TREE, 0, 0, "<d", -9.0),
                       (spec.SHALLOW_TREE, 0, 0, "<d", double), (spec.SHALLOW_TREE, 0, 52, "<I", 0),
                       (spec.SHALLOW_TREE, 0, 52, "<I", 4), (spec.SHALLOW_TREE, 0, 104, "<I", 1),
                       (spec.BLOCK_BOXES, 0, 0, "B", 255), (spec.BLOCK_BOXES, 0, 3, "B", 0), (spec.BLOCK_BOXES, 0, 24, "B", 255),
                       (spec.BIN_EDGES, 0, 0, "<d", 10.0), (spec.BIN_EDGES, 0, 0, "<d", double),
                       (spec.TREELET_KEYS, 0, 0, "<d", -1.0), (spec.TREELET_KEYS, 0, 8, "<d", double),
                       (spec.TREELET_KEYS, 0, 16, "<I", 0), (spec.TREELET_KEYS, 0, 22, "<H", 4),
                       (spec.TREELET_KEYS, 0, 24, "<I", 1), (spec.TREELET_KEYS, 0, 28, "<I", 1),
                       (spec.BITMAP_DICTIONARY, 0, 0, "<I", 0), (spec.BITMAP_DICTIONARY, 0, 0, "<I", 9999),
                       (spec.BLOCK_BITMAPS, 0, 0, "B", 200), (spec.POSITIONS, 0, 0, "<f", 5.0), (spec.ATTRIBUTE, 0, 0, "<f", 50.0),
                       (spec.ATTRIBUTE, 0, 0, "<f", math.nan)):
            with self.subTest(change):
                self.assertEqual(self.kind_of(poke(self.data, *change), True), "corrupt")


    def test_rules_of_sorted_indexes(self):
        """Each change of a sorted index is detected."""
        data, _ = bat_spec_write.build(np.arange(1200, dtype="f8").reshape(400, 3), [("v", np.arange(400, dtype="i4"), 0, 0)],
                                       sorted_keys=(0,))
        spec.BatFile(data).validate()
        for change in ((0, "<q", 1), (8, "<q", 9), (16, "B", 1), (4096, "<q", 1), (4096 + 12, "<q", 5000), (4096 + 8, "<I", 399),
                       (4096 + 8, "<I", 400), (8191, "B", 1), (8192, "<q", 342), (8192 + 59 * 12 - 4, "<I", 0)):
            with self.subTest(change):
                self.assertEqual(self.kind_of(poke(data, spec.SORTED_INDEX, 0, *change), True), "corrupt")


class Chunks(unittest.TestCase):
    """Compressed columns: the rules of sections 6 and 12. Column 0 is on a grid, 1 is constant, 2 is in planes."""

    def setUp(self):
        folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "golden", "v1")
        with open(os.path.join(folder, "written_chunks_small.bat"), "rb") as stream:
            self.data = stream.read()

    def refusal(self, data):
        """Returns the error that rejects a file."""
        with self.assertRaises(spec.BatError) as caught:
            spec.BatFile(bytes(data)).validate()
        return caught.exception

    def test_content(self):
        bat = spec.BatFile(self.data)
        bat.validate()
        self.assertEqual([s.encoding for k, s in sorted(bat.sections.items()) if k[0] in (spec.POSITIONS, spec.ATTRIBUTE)], [1, 1, 1])
        self.assertGreater(bat.bounds[0], 0)
        self.assertEqual((bat.bounds[1], bat.bounds[2]), (0, 0))
        self.assertTrue(np.all(bat.attribute("same") == 5))

    def test_rules_of_chunk_tables(self):
        sizes = np.frombuffer(spec.BatFile(self.data).section(spec.CHUNK_TABLE, 2), "<u4", 2, 24).tolist()
        for index, at, form, *values in ((0, 0, "<I", 0), (0, 0, "<I", 65537), (0, 0, "<I", 259), (0, 0, "<I", 300), (0, 4, "<I", 1),
                                         (0, 4, "<I", 3), (0, 8, "<d", -1.0), (0, 8, "<d", math.nan), (0, 8, "<d", math.inf),
                                         (1, 8, "<d", 1.0), (0, 16, "<I", 1), (1, 16, "<I", 1), (0, 20, "<I", 1), (2, 24, "<II", sizes[0] - 1, sizes[1]),
                                         (2, 24, "<II", 0, sum(sizes)), (2, 24, "<II", sizes[0] + 1, sizes[1] - 1)):
            with self.subTest((index, at, values)):
                self.assertEqual(self.refusal(poke(self.data, spec.CHUNK_TABLE, index, at, form, *values)).kind, "corrupt")

    def test_rules_of_the_section_table(self):
        table_offset, count = struct.unpack_from("<QI", self.data, 48)
        records = {struct.unpack_from("<II", self.data, table_offset + 64 * i): table_offset + 64 * i for i in range(count)}
        for key, change, kind in (((spec.ATTRIBUTE, 0), [(8, "<I", 0)], "corrupt"), ((spec.ATTRIBUTE, 0), [(8, "<I", 2)], "unsupported_version"),
                                  ((spec.ATTRIBUTE, 0), [(32, "<Q", 1044)], "corrupt"), ((spec.ATTRIBUTE, 0), [(24, "<Q", 9)], "corrupt"),
                                  ((spec.CHUNK_TABLE, 2), [(8, "<I", 1)], "unsupported_version"), ((spec.CHUNK_TABLE, 2), [(4, "<I", 3)], "corrupt"),
                                  ((spec.CHUNK_TABLE, 1), [(24, "<QQ", 24, 24)], "corrupt"), ((spec.CHUNK_TABLE, 1), [(24, "<QQ", 30, 30)], "corrupt"),
                                  ((spec.CHUNK_TABLE, 1), [(24, "<QQ", 36, 36)], "corrupt")):
            with self.subTest((key, change)):
                data = bytearray(self.data)
                for at, form, *values in change:
                    struct.pack_into(form, data, records[key] + at, *values)
                self.assertEqual(self.refusal(reseal(data)).kind, kind)
        data = bytearray(self.data)
        struct.pack_into("<Q", data, 24, 0)
        self.assertEqual(self.refusal(reseal(data)).kind, "corrupt")

    def test_frames(self):
        for change in ((0, "B", 5), (0, "B", 0), (0, "B", 1), (1, "B", 8), (2, "B", 0), (6, "B", 0xE0)):
            with self.subTest(change):
                error = self.refusal(poke(self.data, spec.ATTRIBUTE, 1, *change))
                self.assertEqual(error.kind, "corrupt")
                self.assertIn("chunk 0 of section ATTRIBUTE 1", error.message)

    def test_a_missing_module_is_named(self):
        def missing():
            raise spec.codec.MissingModule("install this")
        with unittest.mock.patch.object(spec.codec, "_decompressor", missing):
            error = self.refusal(self.data)
        self.assertEqual(error.kind, "unsupported_version")
        self.assertIn("install this", error.message)
        with unittest.mock.patch.dict("sys.modules", {"compression": None, "zstandard": None, "pyarrow": None}):
            self.assertIn("pip install zstandard", self.refusal(self.data).message)


class Datasets(unittest.TestCase):
    """A dataset of several leaf files: the rules of section 15."""

    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        bat_spec_write.main([self.directory.name])
        self.path = os.path.join(self.directory.name, "dataset.bat")
        with open(self.path, "rb") as stream:
            self.data = stream.read()
        self.bat = spec.open_any(self.path)

    def leaf_path(self, i):
        return os.path.join(self.directory.name, self.bat.leaf_names[i].decode())

    def kind_of(self, data, validate=False):
        with open(self.path, "wb") as stream:
            stream.write(data)
        with self.assertRaises(spec.BatError) as caught:
            bat = spec.open_any(self.path)
            if validate:
                bat.validate()
        self.assertIn("dataset.bat", caught.exception.message)
        return caught.exception.kind

    def test_examples(self):
        for name, _, _, content in bat_spec_write.dataset_examples():
            bat = spec.open_any(os.path.join(self.directory.name, name + ".bat"))
            bat.validate()
            self.assertEqual(spec.content(bat), content)

    def test_cuts(self):
        for size in range(len(self.data)):
            self.assertEqual(self.kind_of(self.data[:size]), "truncated", size)
        self.assertEqual(self.kind_of(self.data + b"\0"), "corrupt")

    def test_flips(self):
        for i in range(8 * len(self.data)):
            data = bytearray(self.data)
            data[i // 8] ^= 1 << i % 8
            try:
                spec.BatDataset(data)
            except spec.BatError:
                continue
            self.assertEqual(self.kind_of(data, True), "corrupt", i)

    def test_rules(self):
        nan, key, names = math.nan, 8 + 80 * 4, 8 + 80 * 4 + 24 * 4 * 5
        tree = [(spec.AGGREGATION_TREE, 0, at, form, value) for at, form, value in (
            (0, "<d", nan), (0, "<d", -9.0), (24, "<d", -9.0), (48, "<I", 1), (52, "<I", 0), (52, "<I", 6), (56 + 52, "<I", 1),
            (56 + 52, "<I", 9), (2 * 56, "<d", -math.inf), (2 * 56 + 52, "<I", 2), (6 * 56, "<d", 0.0))]
        for change in [(spec.LEAF_FILES, 0, at, form, value) for at, form, value in (
                (0, "<I", 0), (0, "<I", 3), (0, "<I", 5), (0, "<I", 1 << 24), (0, "<I", (1 << 32) - 1), (4, "<I", 1), (8, "<Q", 0),
                (8, "<Q", 51), (8, "<Q", 1 << 63), (16, "<Q", 7), (24, "<Q", 7), (32, "<d", nan), (32, "<d", -math.inf),
                (32, "<d", 9.0), (32, "<d", -5.0), (80, "<I", 0), (80, "<I", 1 << 31), (84, "<I", 1), (84, "<I", 2),
                (8 + 240 + 76, "<I", 0), (key, "<d", nan), (key, "<d", -50.0), (key + 16, "<I", 1), (key + 16, "<I", 2),
                (key + 20, "<I", 1), (names, "4s", b"/etc"), (names, "4s", b"../a"), (names, "4s", b"a/./"), (names, "4s", b"a//b"),
                (names, "B", 0), (names + 45, "45s", self.bat.leaf_names[0]))] + tree + [
                    (spec.SCHEMA, 0, at, form, value) for at, form, value in (
                        (8, "<I", 1), (12, "<I", 1), (16, "<Q", 1), (24, "<I", 1), (28, "B", 9), (32, "<d", -5.0), (80, "B", 9),
                        (128 + 6, "B", 1), (128 + 7, "B", 0), (128 + 8, "<I", 2), (128 + 12, "<I", 1), (128 + 16, "<d", -70.0))]:
            with self.subTest(change):
                self.assertEqual(self.kind_of(poke(self.data, *change), True), "corrupt")

    def test_missing_and_wrong_leaf_files(self):
        self.bat.leaves()
        os.rename(self.leaf_path(1), self.leaf_path(1) + "x")
        bat = spec.open_any(self.path)
        self.assertEqual(len(bat.query_index(box=[-1, -1, -1, 0.5, 1, 1])), len(self.bat.query(box=[-1, -1, -1, 0.5, 1, 1])))
        self.assertEqual(self.kind_of(self.data, True), "not_found")
        for other in (self.leaf_path(0), self.path, os.path.join(self.directory.name, "small.bat")):
            with open(other, "rb") as stream, open(self.leaf_path(1), "wb") as leaf:
                leaf.write(stream.read())
            self.assertIn(self.kind_of(self.data, True), ("corrupt", "unsupported_version"))

    def test_moves_and_links(self):
        with tempfile.TemporaryDirectory() as elsewhere:
            target = self.path
            for path in (os.path.join(elsewhere, "link.bat"), os.path.join(elsewhere, "twice.bat")):
                os.symlink(target, path)
                spec.open_any(path).validate()
                target = path
            renamed = os.path.join(self.directory.name, "renamed.bat")
            os.rename(self.path, renamed)
            spec.open_any(renamed).validate()


class Queries(unittest.TestCase):
    def test_exact_ends(self):
        """Both ways agree with a loop over Fractions for ends that doubles cannot represent."""
        big = 1 << 53
        values = {"i8": [big, big + 1, big + 2, -big - 1, (1 << 63) - 1, -(1 << 63), 0, 1],
                  "u8": [big, big + 1, (1 << 64) - 1, 1 << 63, 0, 1, 2, 3],
                  "f8": [big, big + 2, 0.1, -0.0, 1e308, -math.inf, math.inf, math.nan],
                  "f4": [big, 0.1, 0.0, -1.5, 3e38, -math.inf, math.inf, math.nan]}
        columns = [(name, np.array(v, name), 0, 0) for name, v in values.items()]
        data, _ = bat_spec_write.build(np.arange(24, dtype="f8").reshape(8, 3), columns, treelet_particles=3, block_particles=2)
        bat = spec.BatFile(data)
        ends = [-math.inf, -10 ** 400, -(1 << 63) - 1, -big - 1, 0, Fraction(1, 10), 0.1, 1.5, big, big + 1, 1 << 63, 2.0 ** 64,
                (1 << 64) - 1, 10 ** 400, math.inf]
        for name in values:
            column = bat.attribute(name).tolist()
            for lo in ends:
                for hi in ends:
                    ranges = [(name, None, lo, hi)]
                    if hi < lo:
                        self.assertRaises(spec.QueryError, bat.query, ranges=ranges)
                        continue
                    expected = [i for i, v in enumerate(column) if lo <= v <= hi]
                    self.assertEqual(bat.query(ranges=ranges).tolist(), expected, ranges)
                    self.assertEqual(bat.query_index(ranges=ranges).tolist(), expected, ranges)
            for listed in ([], ends[:1], ends, ends[3:8], [0, big + 1, 0]):
                expected = [i for i, v in enumerate(column) if v in listed]
                for query in (bat.query, bat.query_index):
                    self.assertEqual(query(values=[(name, None, listed)]).tolist(), expected, listed)

    def test_parts(self):
        """Parts add up to the whole, and contain the expected ordinals."""
        bat = spec.BatFile(small_file())
        order = bat.ordinal_to_position()
        for parts in (1, 2, 3, 11, 40):
            found = [bat.query(part=part, parts=parts).tolist() for part in range(parts)]
            self.assertEqual(sorted(sum(found, [])), list(range(11)))
            for part in range(parts):
                self.assertEqual(found[part], sorted(order[11 * part // parts:11 * (part + 1) // parts].tolist()))

    def test_progressive_steps(self):
        """With ascending qualities each particle occurs once, and count is exact at the tenths."""
        bat = spec.BatFile(small_file())
        qualities = [0, 0.1, 0.35, 0.35, 0.9, 1]
        steps = [bat.query(b, a).tolist() for a, b in zip(qualities, qualities[1:])]
        self.assertEqual(sum(steps, []), list(range(11)))
        self.assertEqual([bat.count(q) for q in qualities], [0, 2, 4, 4, 10, 11])

    def test_errors(self):
        bat = spec.BatFile(small_file())
        for wrong in (dict(quality=1.1), dict(quality=math.nan), dict(after_quality=-1), dict(quality=0.1, after_quality=0.2),
                      dict(box=[0, 0, 0, 1, 1, math.nan]), dict(box=[0, 0, 1, 1, 1, 0]), dict(ranges=[("w", None, 0, 1)]),
                      dict(values=[("w", None, [0])]), dict(values=[("v", None, [0, math.nan])]),
                      dict(ranges=[("v", 1, 0, 1)]), dict(ranges=[("v", -1, 0, 1)]), dict(part=3, parts=3), dict(parts=0)):
            self.assertRaises(spec.QueryError, bat.query, **wrong)
            self.assertRaises(spec.QueryError, bat.query_index, **wrong)


if __name__ == "__main__":
    unittest.main()
