# SPDX-License-Identifier: BSD-3-Clause
"""The command `parabat`: answers, exit codes, and errors of one line. Argument: folder to write in."""

import contextlib
import csv
import decimal
import fractions
import http.client
import io
import json
import os
import pathlib
import re
import resource
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import unittest
import unittest.mock

import numpy as np
import parabat
import parabat.idx
from parabat import errors
from parabat._sources import _leaves as leaves_in
from parabat.cli import diff, main, serve
from parabat.cli import web as web_verb
from parabat.cli._temporary import replacing, replacing_folder
from parabat.convert import text_tables
from parabat.pure.reader import LEAF_RECORD

FOLDER = pathlib.Path(sys.argv.pop(1)) / "python_cli"
N = 5000


def run(*words):
    """Exit code, what was printed, and what was complained of."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([str(word) for word in words])
    return code, out.getvalue(), err.getvalue()


class Cli(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        FOLDER.mkdir(parents=True, exist_ok=True)
        random = np.random.default_rng(11)
        cls.xyz = random.random((N, 3), dtype=np.float32)
        cls.columns = {"id": np.arange(N) + 2**60, "mass": random.lognormal(0, 2, N),
                       "v": random.standard_normal((N, 2)).astype(np.float32)}
        cls.columns["mass"][::7] = np.nan
        cls.a, cls.b, cls.series = (FOLDER / name for name in ("a.bat", "b.bat", "a.bat.series"))
        parabat.write(cls.a, cls.xyz, cls.columns, time=0.5, metadata='{"title": "ä"}')
        order = random.permutation(N)
        cls.other = {name: values[order] for name, values in cls.columns.items()}
        cls.other_xyz = cls.xyz[order]
        parabat.write(cls.b, cls.other_xyz, cls.other, sorted_indexes=["id"])
        cls.series.write_text('{"files": [{"name": "a.bat", "time": 0.5}, {"name": "b.bat", "time": 1}]}')
        data = bytearray(cls.a.read_bytes())
        data[len(data) // 2] ^= 4
        cls.broken = FOLDER / "broken.bat"
        cls.broken.write_bytes(data)

    def succeeds(self, *words, says=""):
        code, out, err = run(*words)
        self.assertEqual((code, err), (0, says), out)
        return out

    def fails(self, expected, word, *words):
        code, out, err = run(*words)
        self.assertEqual(code, expected, err)
        self.assertIn(word, err)
        self.assertEqual((err.count("\n"), "Traceback" in err), (1, False), err)
        return out

    def test_info_says_what_files_hold(self):
        out = self.succeeds("info", self.a, self.b)
        self.assertIn("a.bat: 5,000 particles, time 0.5", out)
        self.assertIn("b.bat: 5,000 particles\n", out)
        facts = json.loads(self.succeeds("info", "--json", "--leaves", self.a))
        self.assertEqual((facts["particles"], facts["time"], facts["step"]), (N, 0.5, None))
        self.assertEqual(facts["metadata"]["title"], "ä")
        self.assertEqual(facts["attributes"][0], {
            "name": "id", "type": "int64", "components": 1, "range": [2**60, 2**60 + N - 1],
            "storage": {"raw_bytes": 8 * N, "stored_bytes": 8 * N, "compressed": False, "bound": 0.0}})
        self.assertEqual(facts["leaves"][0]["particles"], N)
        self.assertEqual(self.succeeds("info", self.series).count("5,000 particles"), 2)
        self.assertEqual(len(json.loads(self.succeeds("info", "--json", self.series))["steps"]), 2)

    def test_validate_finds_what_is_damaged(self):
        self.assertEqual(self.succeeds("validate", self.series).count("valid, 5,000 particles"), 2)
        self.assertIn("valid", self.fails(1, "broken.bat", "validate", self.broken, self.a))
        code, out, _ = run("validate", "--json", self.broken)
        answer = json.loads(out)
        self.assertEqual((code, answer["sound"]), (1, False))
        self.fails(3, "none.bat", "validate", FOLDER / "none.bat")

    def test_query_counts_and_shows(self):
        mass, v = self.columns["mass"], self.columns["v"][:, 1]
        good = (mass >= 1) & (v <= 0) & np.all((self.xyz >= 0) & (self.xyz <= [1, 1, 0.5]), axis=1)
        words = ("query", self.a, "--box", "-1e9", "0", "0", "inf", "1", "0.5", "--range", "mass", "1", "*",
                 "--range", "v[1]", "-inf", "0")
        self.assertEqual(self.succeeds(*words, "--count"), f"{np.count_nonzero(good)}\n")
        answer = json.loads(self.succeeds(*words, "--json", "--rows", "3", "--attributes", "id,mass"))
        self.assertEqual((answer["matching"], answer["particles"]), (np.count_nonzero(good), N))
        self.assertEqual(answer["ranges"]["mass"], [mass[good].min(), mass[good].max()])
        self.assertEqual(answer["ranges"]["id"], [self.columns["id"][good].min(), self.columns["id"][good].max()])
        self.assertEqual([len(rows) for rows in answer["rows"].values()], [3] * 5)
        out = self.succeeds("query", self.series, "--step", "-1", "--values", "id", 2**60 + 7, 2**60 + 9)
        self.assertIn("2 of 5,000 particles match", out)
        self.assertIn(str(2**60 + 7), out)
        self.assertEqual(self.succeeds("query", self.a, "--budget", "777", "--count"), "777\n")
        self.assertEqual(self.succeeds("query", self.a, "--sphere", 0, 0, 0, 9, "--count"), f"{N}\n")
        inside = f"{np.count_nonzero(np.all(self.xyz <= 0.5, axis=1))}\n"
        for box in (["--box", "-1,-1,-1,.5,.5,.5"], ["--box=-1,-1,-1,.5,.5,.5"], ["--box", "-1, -1, -1, 0.5, 0.5, 0.5"]):
            self.assertEqual(self.succeeds("query", "--count", *box, self.a), inside)
        self.assertEqual(self.succeeds("query", "--sphere=0,0,0,9", self.a, "--sphere", "0,0,0,9", "--count"), f"{N}\n")
        self.fails(2, "--box: expected 6 arguments", "query", self.a, "--box", "0,0,0,1,1")
        out = self.succeeds("query", self.a, "--count", "--values", "id", f"{2**60 + 7},{2**60 + 9}", 2**60 + 11)
        self.assertEqual(out, "3\n")
        self.assertIn("no values", self.succeeds("query", self.a, "--values", "id", "5"))
        self.fails(2, "'heat'", "query", self.a, "--range", "heat", "0", "1")
        self.fails(2, "--range mass: 'warm' is not a number", "query", self.a, "--range", "mass", "0", "warm")
        self.fails(2, "quality 2", "query", self.a, "--quality", "2")
        self.fails(2, "choose one with --step 0 to 1", "query", self.series)
        for step in ("0", "-1"):
            self.assertEqual(self.succeeds("query", self.a, "--count", "--step", step), f"{N}\n")
        self.fails(2, "a single dataset; allowed are --step 0 or -1", "query", self.a, "--step", "1")
        single = FOLDER / "single.bat.series"
        single.write_text('{"files": [{"name": "a.bat", "time": 0}]}')
        for step in ((), ("--step", "0"), ("--step", "-1")):
            self.assertEqual(self.succeeds("query", single, "--count", *step), f"{N}\n")
        self.succeeds("diff", single, self.a)
        self.fails(2, "a series of one step; allowed are --step 0 or -1", "query", single, "--step", "1")
        for nothing in ([], [","]):
            self.fails(2, "no values after 'id'", "query", self.a, "--values", "id", *nothing)
        self.fails(3, "broken.bat", "query", self.broken)

    def test_numbers_mean_what_is_written(self):
        path, n = FOLDER / "whole.bat", 100
        parabat.write(path, self.xyz[:n], {
            "i": np.arange(n) + 2**53, "u": np.arange(n, dtype=np.uint64) + np.uint64(2**64 - n),
            "pair": np.arange(2 * n).reshape(n, 2) + 2**53, "real": np.full(n, 0.2), "a,b": np.zeros(n, np.int8)})
        for condition, expected in {
                "i 9007199254740992.5 *": 99, "i * 9007199254740993.5": 2, "i 9007199254740993.0 9007199254740993.0": 1,
                "i 9007199254740993.25 9007199254740993.75": 0, "u 18446744073709551614.5 1e30": 1, "i * 1e999999999": n,
                "u 1e-999999999 *": n, "u -1e999999999 -1e-999999999": 0, "pair[1] 9007199254740993.5 *": 99,
                "real 0.1 0.2": n, "real * 0.19999999999999998": 0, "a,b -0.5 0.5": n}.items():
            self.assertEqual(self.succeeds("query", path, "--count", "--range", *condition.split()), f"{expected}\n", condition)
        for condition, expected in {"i 9007199254740992.5 9007199254740993.0": 1, "i 1e999999999 0.5": 0,
                                    "pair[0] 9007199254740993 9007199254740994": 1}.items():
            self.assertEqual(self.succeeds("query", path, "--count", "--values", *condition.split()), f"{expected}\n", condition)
        self.assertEqual(set(json.loads(self.succeeds("query", path, "--json", "--attributes", "a,b,real"))["ranges"]),
                         {"x", "y", "z", "a,b", "real"})
        with parabat.open(path) as dataset:
            self.assertEqual(dataset.read([], ranges={"i": (fractions.Fraction(2**54 + 1, 2), None)}).count, n - 1)
            self.assertEqual(dataset.read([], values={"i": [(decimal.Decimal("1e999999999"),) * 2, 2**53]}).count, 1)

    def test_repacks_have_every_value(self):
        out = FOLDER / "repacked.bat"
        out.unlink(missing_ok=True)
        self.assertIn("5,000 particles, all verified", self.succeeds(
            "repack", self.b, out, "--compression", "lossless", "--no-flush"))
        self.succeeds("diff", self.b, out)
        with parabat.open(out) as dataset:
            self.assertTrue(dataset.storage()["id"].compressed)
        self.fails(2, "use --force to replace it", "repack", self.b, out)
        reported = json.loads(self.succeeds("repack", out, out, "--force", "--error-bounds", "v=0.01",
                                        "--no-sorted-indexes", "--json"))
        self.assertEqual((reported["particles"], reported["leaf_files"], reported["bytes_after"]), (N, 1, out.stat().st_size))
        with parabat.open(out) as dataset:
            self.assertEqual((dataset.storage()["v"].bound, dataset.storage()["mass"].bound), (0.01, 0))
        self.succeeds("diff", self.b, out, "--attributes", "id,mass")
        other = FOLDER / "repacked.bat.series"
        for path in FOLDER.glob("repacked*"):
            path.unlink()
        self.succeeds("repack", self.series, other, "--block-particles", 128)
        self.succeeds("diff", self.series, other, "--step", 1)
        self.fails(2, "repacked", "repack", self.series, other)
        new = FOLDER / "new.bat"
        self.fails(3, "broken.bat", "repack", self.broken, new)
        self.fails(2, "block_particles is 5", "repack", self.a, new, "--block-particles", 5)
        self.fails(2, "'heat'", "repack", self.a, new, "--sorted-indexes", "heat")
        self.fails(2, "'id,'; allowed are names separated by commas", "repack", self.a, new, "--sorted-indexes", "id,")
        sizes = []
        for source, names in ((self.a, ["id"]), (self.a, ["id", "mass"]), (self.a, ["id,mass"]), (new, ["id"])):
            given = [word for name in names for word in ("--sorted-indexes", name)]
            self.succeeds("repack", source, new, "--no-flush", "--force", *given)
            sizes.append(new.stat().st_size)
        self.assertGreaterEqual(sizes[1] - sizes[0], 12 * N)  # an index has 12 bytes per particle
        self.assertEqual(sizes[2:], [sizes[1], sizes[0]])  # the last call replaced the indexes
        new.unlink()
        with self.assertRaisesRegex(parabat.BatValueError, "target_bytes of an existing dataset cannot be changed"):
            parabat.repack(self.a, new, target_bytes=1000)
        with self.assertRaises(parabat.BatCancelledError):
            parabat.repack(self.a, new, progress=lambda done: done < 0.5)

        def interrupt(done):
            if done > 0.3:
                raise KeyboardInterrupt
        with self.assertRaises(KeyboardInterrupt):
            parabat.repack(self.a, new, progress=interrupt)
        with unittest.mock.patch("parabat.cli.repack.progress") as bar:
            bar.return_value.__enter__.return_value = lambda done: os.kill(os.getpid(), signal.SIGINT)
            bar.return_value.__exit__.return_value = False
            self.fails(130, "interrupted", "repack", self.a, new)
        self.assertFalse(list(FOLDER.glob("*new.bat*")))

    def test_exports_have_every_value(self):
        out = FOLDER / "out.npz"
        self.succeeds("export", self.a, out)
        with np.load(out) as found:
            order = np.argsort(found["id"])
            np.testing.assert_array_equal(found["positions"][order], self.xyz)
            self.assertEqual((set(found), found["time"]), ({"positions", "time", *self.columns}, 0.5))
            for name, values in self.columns.items():
                np.testing.assert_array_equal(found[name][order], values)
        reported = json.loads(self.succeeds("export", self.a, out, "--budget", 70, "--json"))
        self.assertEqual((reported["out"], reported["particles"], 0 < reported["quality"] < 1), (str(out), 70, True))
        out = FOLDER / "out.csv"
        self.succeeds("export", self.a, out, "--attributes", "id,v", says=f"parabat: {out}: not written, since .csv has no place for it: time\n")
        header, *lines = out.read_text().splitlines()
        self.assertEqual(header, "x,y,z,id,v[0],v[1]")
        ids = np.array([int(line.split(",")[3]) for line in lines])
        rest = np.array([[float(text) for i, text in enumerate(line.split(",")) if i != 3] for line in lines], np.float32)
        order = np.argsort(ids)
        np.testing.assert_array_equal(ids[order], self.columns["id"])
        np.testing.assert_array_equal(rest[order], np.concatenate([self.xyz, self.columns["v"]], axis=1))
        before = out.read_bytes()
        self.fails(3, "broken.bat", "export", self.broken, out)
        self.assertEqual(out.read_bytes(), before)
        self.fails(2, ".npz, .csv, .parquet, .vtp", "export", self.a, FOLDER / "out.abc")
        self.fails(3, f"{FOLDER}/nowhere/out.csv: ", "export", self.a, FOLDER / "nowhere" / "out.csv")
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        for name in ("large.csv", "large.npz"):
            resource.setrlimit(resource.RLIMIT_FSIZE, (5000, hard))
            try:
                self.fails(3, f"parabat: {FOLDER / name}: File too large", "export", self.a, FOLDER / name)
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)
        self.assertFalse(list(FOLDER.glob("large*")))
        # A link stays one.
        link, aim = FOLDER / "link.csv", FOLDER / "elsewhere" / "aim.csv"
        aim.parent.mkdir(exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(aim)
        self.succeeds("export", self.a, link, "--attributes", "id,v", says=f"parabat: {link}: not written, since .csv has no place for it: time\n")
        self.assertEqual((link.is_symlink(), aim.read_bytes()), (True, before))
        self.assertFalse([path for path in FOLDER.iterdir() if path.name.startswith(".parabat")])

    def test_diff_looks_at_particles_and_not_at_their_order(self):
        self.assertEqual(self.succeeds("diff", self.a, self.b), "the same 5,000 particles\n")
        changed = self.other["mass"].copy()
        changed[5] = np.nextafter(1, 2)
        changed[9] = -0.0
        parabat.write(FOLDER / "c.bat", self.other_xyz, {**self.other, "mass": changed})
        code, out, _ = run("diff", self.a, FOLDER / "c.bat")
        self.assertEqual(code, 1)
        self.assertIn("a.bat: 2 of 5,000", out)
        self.assertIn(f"id {self.other['id'][5]}", out)
        code, out, _ = run("diff", self.a, FOLDER / "c.bat", "--json")
        answer = json.loads(out)
        self.assertEqual((answer["same"], answer["only_a"], answer["only_b"]), (False, 2, 2))
        self.succeeds("diff", self.a, FOLDER / "c.bat", "--attributes", "id,v")
        parabat.write(FOLDER / "d.bat", self.xyz, {"id": self.columns["id"].astype(np.uint64)})
        code, out, _ = run("diff", self.a, FOLDER / "d.bat")
        self.assertEqual((code, "id: int64[1] in" in out, "mass: float64[1]" in out), (1, True, True))
        self.succeeds("diff", self.series, self.series, "--step", "1")
        # A row that occurs more often counts more often.
        a, b = diff.lone([np.array([1, 1, 2, 3, 1])], [np.array([2, 1, 4, 4])])
        self.assertEqual((len(a), set(a) - {0, 1, 3, 4}, b.tolist()), (3, set(), [2, 3]))
        none = np.zeros(0)
        self.assertEqual([len(one) for one in diff.lone([none], [none])], [0, 0])
        self.assertEqual(diff.lone([np.array([np.nan, 0.0])], [np.array([np.nan, -0.0])])[1].tolist(), [1])

    def test_a_file_that_cannot_be_read_keeps_no_other_from_its_turn(self):
        for verb in ("info", "validate"):
            self.assertIn("b.bat: ", self.fails(3, "none.bat", verb, FOLDER / "none.bat", self.b))
        series = FOLDER / "steps.bat.series"
        series.write_text('{"files": [{"name": "gone.bat", "time": 0}, {"name": "a.bat", "time": 1}]}')
        self.assertIn("a.bat, 5,000 particles", self.fails(3, "gone.bat", "info", series))
        for name in (r"a\u0000.bat", r"\ud800", "", "a/"):
            series.write_text('{"files": [{"name": "%s", "time": 0}]}' % name)
            for words in (("info",), ("validate",), ("query", "--step", "0")):
                self.fails(3, "steps.bat.series: is not a series list", *words, series)
        series.write_text('{"files": []}')
        self.fails(2, "a series without steps", "query", series, "--step", "0")

    def test_names_are_shown_as_they_are(self):
        odd = os.fsencode(FOLDER) + b"/\xff\n.bat"
        parabat.write(odd, np.zeros((0, 3)), {"c\nd": np.zeros(0)})
        command = [sys.executable, "-m", "parabat"]
        strict = dict(os.environ, PYTHONIOENCODING="utf-8:strict")
        done = subprocess.run([*command, "info", "--json", "--leaves", odd], env=strict, check=True, capture_output=True)
        facts = json.loads(done.stdout.decode(errors="surrogateescape"))
        self.assertEqual((os.fsencode(facts["file"]), facts["box"], facts["leaves"][0]["box"]), (odd, None, None))
        subprocess.run([*command, "validate", odd], env=dict(strict, PYTHONIOENCODING="ascii"), check=True, capture_output=True)
        parabat.write(odd, np.zeros((1, 3)), {"c\nd": np.zeros(1)})
        self.fails(2, "c\\nd", "query", os.fsdecode(odd), "--attributes", "heat")
        closed = subprocess.run(["sh", "-c", '"$@" >&-', "sh", *command, "info", self.a], stderr=subprocess.PIPE, check=False)
        self.assertEqual((closed.returncode, closed.stderr.count(b"\n")), (3, 1), closed.stderr)

    def test_names_in_tables_are_no_formulas(self):
        names = ["=cmd|'/c calc'!A0", "+1", "-x", "@SUM(1)", "'=x", "''-x", "'quoted'", 'a"b,c', "a;=1", "a\t\t=1", "a;'\t=1", "b| '+1", " =1", "\uff1dcmd()", "plain", "'"]
        columns = {name: np.arange(3.0) - i for i, name in enumerate(names)}
        path, out, back = FOLDER / "formulas.bat", FOLDER / "formulas.csv", FOLDER / "formulas_back.bat"
        parabat.write(path, -np.ones((3, 3)), {**columns, "\r=1": np.arange(3), "a\n=1": np.arange(3)})
        self.succeeds("export", path, out)
        with open(out, encoding="utf-8", newline="") as file:
            header, *rows = csv.reader(file)
        self.assertEqual([cell for cell in header if cell.strip()[0] in "=+-@\uff1d"], [])
        self.assertEqual(header[3:8], ["'" + name for name in names[:5]])
        self.assertEqual(rows[0][:3], ["-1.0"] * 3)  # numbers stay numbers
        for cell in re.split("[,;|\\t\\r\\n]", ",".join(header)):  # also of programs with other delimiters
            self.assertNotIn(cell.lstrip()[:1] or " ", "=+-@\uff1d")
        parabat.write(path, self.xyz[:3], columns)
        self.succeeds("export", path, out)
        self.assertEqual(run("convert", "--quiet", out, back)[0], 0)
        with parabat.open(back) as dataset:
            found = dataset.read()
        self.assertEqual(set(found), set(names))
        for name, values in columns.items():
            np.testing.assert_array_equal(found[name], values[::1])
        self.assertEqual(run("follow", path, "--id", "plain", "--ids", "0", "--out", out)[0], 0)
        self.assertIn(",'=cmd", out.read_text().replace('"', ""))
        random = np.random.default_rng(3)
        for _ in range(3000):
            name = "".join(random.choice(list("'=-;,\t a\n"), random.integers(0, 7)))
            self.assertEqual(text_tables.named_by(text_tables.column_name(name)), name)

    def test_verbs_say_what_they_take_and_what_memory_holds(self):
        folder, page = FOLDER / "kinds", FOLDER / "viewer.html"
        page.write_text('<script type="application/json" id="published">{}</script>')
        folder.mkdir(exist_ok=True)
        (folder / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(200))
        (folder / "a.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(200))
        (folder / "a.txt").write_text("text " * 100)
        parabat.idx.write(folder / "a.idx", {"p": np.zeros((2, 2, 2)), "v": np.zeros((2, 2, 2, 3))})
        (folder / "a.bricks.series").write_text('{"files": [{"name": "a.bricks", "time": 0}]}')
        (folder / "a.vtp.series").write_text('{"files": [{"name": "a.png", "time": 0}]}')
        (folder / "a.tracks.bat").write_bytes((folder / "a.txt").read_bytes())
        for name, word in (("a.png", "is an image (PNG)"), ("a.h5", "is an HDF5 file"), ("a.txt", "its first bytes are"),
                           ("a.idx", "is a structured grid (.idx)"), ("a.bricks.series", "is a series of velocity fields"),
                           ("a.tracks.bat", "is a tracks file"), ("", "is a folder")):
            for verb, words, taken in (("query", (), ".bat, .pbat and .bat.series"), ("web", (FOLDER / "other", "--viewer", page), ".bat and .bat.series"),
                                       ("serve", ("--viewer", page), ".bat and .bat.series")):
                code, out, err = run(verb, folder / name, *words)
                self.assertEqual((code in (2, 3), out, err.count("\n")), (True, "", 1), err)
                self.assertIn(f"{folder / name}: ", err)
                self.assertIn(word, err)
                self.assertIn(f"'parabat {verb}' supports {taken}", err)
        self.fails(3, f"{folder}/a.png: is an image (PNG); 'parabat info' supports .bat, .pbat, .bat.series, .tracks.bat, .idx", "info", folder / "a.png")
        self.fails(3, f"{folder}/a.png: is an image (PNG); 'parabat query' supports", "query", folder / "a.vtp.series", "--step", 0)
        # 2^60 samples, none of them stored, and memory for none of them.
        text = (folder / "a.idx").read_text().replace("0 1 0 1 0 1", " ".join(["0 1048575"] * 3)).replace("V012", "V" + "012" * 20)
        (folder / "large.idx").write_text(text)
        self.fails(3, "large.idx: 1048576 x 1048576 x 1048576 samples need 34,359,738,368.0 GiB, but ", "export", folder / "large.idx", folder / "o.npz")
        self.fails(3, "use --level, --budget, --box or --attributes to read less", "export", folder / "large.idx", folder / "o.npz")
        self.succeeds("export", folder / "large.idx", folder / "o.npz", "--level", 5)
        with parabat.idx.open(folder / "large.idx") as grid:
            for name in "pv":  # v: of more bytes than an address has
                with self.assertRaisesRegex(parabat.BatMemoryError, "large.idx: .* more than the available memory") as raised:
                    grid.read(name)
                self.assertIsInstance(raised.exception, (parabat.BatError, MemoryError))
        self.assertIs(type(errors.from_status(10, "out of memory")), parabat.BatMemoryError)
        for error in (MemoryError(), parabat.BatMemoryError(10, "out of memory")):
            with unittest.mock.patch.object(parabat.Dataset, "read", side_effect=error):
                self.fails(3, f"{self.a}: out of memory; use --quality, --box or --range to read less", "query", self.a)
                self.fails(3, f"{self.a}: out of memory; use --quality, --box or --range to read less", "export", self.a, FOLDER / "o.csv")
            with unittest.mock.patch.object(parabat.idx.Dataset, "read", side_effect=error):
                self.fails(3, "a.idx: out of memory; use --level, --budget", "export", folder / "a.idx", FOLDER / "o.npz")

    def test_texts_of_files_do_not_command_terminals(self):
        evil, good = "\x1b]0;owned\x07\x9b2J\u202ea\rb\x7f", "größe_\u03b1\u4e2d"
        folder = FOLDER / ("evil: \x1b[2J" + good)
        folder.mkdir(exist_ok=True)
        path, other, out = (folder / name for name in ("e\x9b.bat", "f.bat", "o\x07.csv"))
        columns = {evil: np.arange(5.0), good: np.zeros(5), "id": np.arange(5)}
        parabat.write(path, self.xyz[:5], columns, metadata=json.dumps({"by": evil + good}, ensure_ascii=False))
        parabat.write(other, self.xyz[:5], {**columns, evil: np.ones(5)})
        series, grid, table = folder / "e\x1b.bat.series", folder / "g.idx", folder / "t.csv"
        series.write_text(json.dumps({"files": [{"name": path.name, "time": 0}]}))
        parabat.idx.write(grid, {"p": np.zeros((2, 2, 2), np.float32)})
        table.write_text(f'x,y,z,"{evil}",t\n1,2,3,4,five\n', newline="")
        for words in (("info", path), ("info", "--json", path), ("info", series), ("info", grid), ("query", path),
                      ("query", "--json", path), ("query", path, "--attributes", evil + "?"), ("diff", path, other),
                      ("diff", "--json", path, other), ("diff", path, self.a), ("validate", path), ("validate", folder / "none\x1b.bat"),
                      ("export", path, out), ("export", path, folder / "o.\x1b"), ("follow", series, "--ids", 1, "--out", out),
                      ("convert", table, folder / "c\x1b.bat"), ("convert", "--json", table, folder / "c\x1b.bat"),
                      ("convert", table, folder / "d.bat", "--arrays", "\x1b?"), ("convert", table, folder / "d\x1b"),
                      ("convert", folder / "none\x1b", folder / "d.bat"), ("repack", path, folder / "r\x1b.bat"),
                      ("web", path, folder, "--viewer", path), ("info", "--\x1b")):
            _, out_, err = run(*words)
            self.assertTrue(out_ + err)
            for letter in (out_ + err).replace("\n", ""):
                self.assertTrue(letter.isprintable(), (words, out_, err))
        # No XML file can have them.
        grid.write_text(grid.read_text().replace("\np float32", "\np\x1b float32"))
        self.fails(2, "parabat: 'p\\x1b' contains characters that XML does not", "export", grid, folder / "g.vti")
        self.assertFalse((folder / "g.vti").exists())
        self.succeeds("export", grid, folder / "g.npz")
        shown = self.succeeds("info", path)
        self.assertTrue(shown.startswith(str(path).replace("\x1b", "\\x1b").replace("\x9b", "\\x9b") + ": 5 particles"), shown)
        for text in (good, "\\x1b]0;owned\\x07\\x9b2J\\u202ea\\rb\\x7f"):
            self.assertIn(text, shown)
            self.assertIn(text, self.succeeds("query", path))
        self.assertIn(evil, json.loads(self.succeeds("query", "--json", path))["ranges"])
        with parabat.open(path) as dataset:
            for text in (repr(dataset), repr(dataset.read())):
                self.assertTrue(text.replace("\n", "").isprintable(), text)

    def test_what_cannot_be_asked_is_said(self):
        for words in ((), ("bogus",), ("info",), ("info", "--bogus", self.a), ("query", self.a, "--rows", "-1"),
                      ("query", self.a, "--box", "0"), ("query", self.a, "--count", "--rows", "3"), ("convert",)):
            self.fails(2, " --help'", *words)
        self.assertIn("--bogus", run("info", "--bogus", self.a)[2])
        self.fails(3, "none.bat", "info", FOLDER / "none.bat")
        deep = FOLDER / "deep.bat.series"
        deep.write_text('{"files":' + "[" * 100000)
        self.fails(3, "deep.bat.series: is not a series list", "info", deep)
        self.assertIn(f"parabat {parabat.__version__}", self.succeeds("--version"))
        help_ = self.succeeds("--help")
        for word in ("info", "validate", "query", "export", "diff", "exit codes"):
            self.assertIn(word, help_)

    def test_output_that_cannot_be_written_fails(self):
        command = [sys.executable, "-m", "parabat", "info", str(self.a)]
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 3)
        self.assertIn("No space left", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        process.stdout.close()  # before anything is written
        self.assertEqual(process.stderr.read(), "")
        process.wait()

    def test_shells_complete_verbs_and_options(self):
        script = self.succeeds("completion", "bash")
        requested = script + ("COMP_WORDS=(parabat query --qu); COMP_CWORD=2; _parabat; echo ${COMPREPLY[@]}\n"
                          "COMP_WORDS=(parabat va); COMP_CWORD=1; _parabat; echo ${COMPREPLY[@]}\n")
        out = subprocess.run(["bash", "-c", requested], check=True, capture_output=True, text=True).stdout
        self.assertEqual(out.splitlines(), ["--quality", "validate"])
        spaced = FOLDER / "with space.csv"
        spaced.touch()
        requested = script + f"COMP_WORDS=(parabat info '{str(spaced)[:-5]}'); COMP_CWORD=2; _parabat; printf '%s|' \"${{COMPREPLY[@]}}\""
        out = subprocess.run(["bash", "-c", requested], check=True, capture_output=True, text=True).stdout
        self.assertEqual(out, f"{spaced}|")

    def test_web_publishes_what_the_page_needs_and_nothing_over(self):
        page, folder = FOLDER / "viewer.html", FOLDER / "published"
        shutil.rmtree(folder, ignore_errors=True)
        page.write_text('<script type="application/json" id="published">{}</script>')
        reported = json.loads(self.succeeds("web", "--json", "--viewer", page, self.series, folder))
        found = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
        self.assertEqual(found, {"index.html", "data/a.bat", "data/b.bat", "data/a.bat.series"})
        self.assertEqual((folder / "data/a.bat").read_bytes(), self.a.read_bytes())
        self.assertEqual((reported["files"], reported["bytes"]), (4, sum(path.stat().st_size for path in folder.rglob("*.bat")) +
                                                          (folder / "index.html").stat().st_size))
        self.assertIn('>{"data": "data/a.bat.series"}<', (folder / "index.html").read_text())
        self.fails(2, "already exists", "web", "--viewer", page, self.a, folder)
        self.fails(3, "parabat: /proc/site: No such file or directory", "web", "--viewer", page, self.a, "/proc/site")
        self.fails(3, "/dev/zero: is not a regular file", "web", "--viewer", "/dev/zero", self.a, FOLDER / "other")
        self.fails(2, "is not a viewer.html", "web", "--viewer", self.series, self.a, FOLDER / "other")
        self.fails(3, "nothing.bat", "web", "--viewer", page, FOLDER / "nothing.bat", FOLDER / "other")
        self.assertFalse((FOLDER / "other").exists())
        # Names are no HTML, and steps elsewhere get names inside.
        far = FOLDER / "far" / "x.bat.series"
        far.parent.mkdir(exist_ok=True)
        far.write_text('{"files": [{"name": "../a.bat", "time": 0}]}')
        shutil.rmtree(folder)
        self.succeeds("web", "--link", "--viewer", page, far, folder)
        self.assertEqual(json.loads((folder / "data/x.bat.series").read_text())["files"], [{"name": "00000-a.bat", "time": 0.0}])
        self.assertTrue(os.path.samefile(folder / "data/00000-a.bat", self.a))
        shutil.rmtree(folder)
        # A list of steps is text, which not all names are.
        shutil.copy(self.a, os.fsdecode(os.fsencode(far.parent) + b"/s\xff.bat"))
        far.write_text(json.dumps({"files": [{"name": os.fsdecode(b"s\xff.bat"), "time": 0}]}))
        self.succeeds("web", "--viewer", page, far, folder)
        self.assertEqual(json.loads((folder / "data/x.bat.series").read_text())["files"], [{"name": "00000-s_.bat", "time": 0.0}])
        self.assertEqual((folder / "data/00000-s_.bat").read_bytes(), self.a.read_bytes())
        shutil.rmtree(folder)
        odd = FOLDER / "<b>ä.bat"
        shutil.copy(self.a, odd)
        self.succeeds("web", "--viewer", page, odd, folder)
        self.assertIn('>{"data": "data/%3Cb%3E%C3%A4.bat"}<', (folder / "index.html").read_text())

    def test_serve_answers_ranges_of_its_file_only(self):
        page = FOLDER / "viewer.html"
        page.write_text('<script type="application/json" id="published">{}</script>')
        with subprocess.Popen([sys.executable, "-m", "parabat", "serve", "--port", "0", "--viewer", page, self.a],
                              stdout=subprocess.PIPE, text=True) as process:
            try:
                port = int(process.stdout.readline().rpartition(":")[2].strip("/\n"))

                def answer(path, **headers):
                    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port)) as connection:
                        connection.request("GET", path, headers=headers)
                        response = connection.getresponse()
                        return response.status, response.read(), response.getheader("Content-Range")

                data = self.a.read_bytes()
                self.assertEqual(answer("/")[0], 200)
                self.assertEqual(answer("/data/a.bat"), (200, data, None))
                self.assertEqual(answer("/data/a.bat", Range="bytes=5-9"), (206, data[5:10], f"bytes 5-9/{len(data)}"))
                self.assertEqual(answer("/data/a.bat", Range="bytes=-3"), (206, data[-3:], f"bytes {len(data) - 3}-{len(data) - 1}/{len(data)}"))
                self.assertEqual(answer("/data/a.bat", Range=f"bytes=0-{10 * len(data)}")[:2], (206, data))
                self.assertEqual(answer("/data/a.bat", Range=f"bytes={len(data)}-")[0], 416)
                self.assertEqual(answer("/data/a.bat", Range=f"bytes=0-{'9' * 5000}"), (200, data, None))
                for path in ("/data/b.bat", "/data/../a.bat", "/data/%2e%2e/a.bat", "/etc/passwd", "/data//a.bat"):
                    self.assertEqual(answer(path)[0], 404, path)
                self.assertEqual(answer("/", Host="other.example")[0], 403)
            finally:
                process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(), 0)

    def make_many(self, name):
        """A dataset of several leaf files, and the path of one."""
        path = FOLDER / name
        shutil.rmtree(FOLDER / (name + ".leaves"), ignore_errors=True)
        with parabat.PieceWriter(path, target_bytes=40000) as writer:
            writer.add(self.xyz, self.columns)
            writer.finish()
        leaf = sorted((FOLDER / (name + ".leaves")).iterdir())[1]
        return path, leaf

    def test_web_and_serve_publish_leaf_files_only(self):
        page, secret, folder = FOLDER / "viewer.html", FOLDER / "secret", FOLDER / "of_leaves"
        page.write_text('<script type="application/json" id="published">{}</script>')
        shutil.rmtree(folder, ignore_errors=True)
        path, leaf = self.make_many("many.bat")
        kept = leaf.with_name("kept")
        shutil.copy(leaf, kept)
        web = ("web", "--viewer", page, path, folder)

        def put(make):
            leaf.unlink()
            make(leaf)

        def same_size(at):
            at.write_bytes(b"private".ljust(kept.stat().st_size, b"!"))

        def other_leaf(at):
            at.symlink_to(next(one for one in sorted(leaf.parent.iterdir()) if one not in (leaf, kept)))

        secret.write_text("private")
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (10 << 20, hard))  # for /dev/zero
        try:
            for make, word in ((lambda at: at.symlink_to(secret), "is not a .bat file"), (same_size, "is not a .bat file"),
                               (lambda at: at.symlink_to("/dev/zero"), "is not a regular file"), (os.mkdir, "is not a regular file"),
                               (lambda at: at.symlink_to(self.a), "is not the leaf file referenced by"), (other_leaf, "is not the leaf file referenced by")):
                put(make)
                with self.serving(path) as answer:
                    self.assertEqual(self.fails(3, word, *web), "")
                    self.assertFalse(folder.exists())
                    self.fails(3, word, *web, "--link")
                    self.assertEqual(answer(f"/data/many.bat.leaves/{leaf.name}")[0], 404)
                    self.assertEqual(answer(f"/data/many.bat.leaves/{sorted(leaf.parent.iterdir())[0].name}")[0], 200)
                if leaf.is_dir() and not leaf.is_symlink():
                    leaf.rmdir()
                    leaf.touch()
            # A named pipe is not waited for.
            put(os.mkfifo)

            def feed():
                with contextlib.suppress(BrokenPipeError), open(leaf, "wb", buffering=0) as file:
                    file.write(b"private")
            writer = threading.Thread(target=feed)
            writer.start()
            self.fails(3, "is not a regular file", *web)
            while writer.is_alive():  # it has waited for a reader
                os.close(os.open(leaf, os.O_RDONLY | os.O_NONBLOCK))
                writer.join(0.01)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
            signal.signal(signal.SIGXFSZ, handler)
        # This file replaces a leaf file after it was checked.
        put(lambda at: at.symlink_to(kept))

        def swapped(into):
            put(lambda at: at.symlink_to(secret))
            return temporary(into)
        temporary = web_verb.replacing_folder
        for words in ((), ("--link",)):
            with unittest.mock.patch.object(web_verb, "replacing_folder", swapped):
                self.fails(3, "is not a .bat file", *web, *words)
            self.assertFalse(folder.exists())
        # A link to the leaf file itself is one.
        put(lambda at: at.symlink_to(kept))
        self.succeeds(*web)
        self.assertEqual((folder / "data/many.bat.leaves" / leaf.name).read_bytes(), kept.read_bytes())
        with self.serving(path) as answer:
            self.assertEqual(answer(f"/data/many.bat.leaves/{leaf.name}")[:2], (200, kept.read_bytes()))
            put(lambda at: at.symlink_to(secret))
            self.assertEqual(answer(f"/data/many.bat.leaves/{leaf.name}")[0], 404)

    def test_leaf_files_have_names_inside(self):
        path, leaf = self.make_many("names.bat")
        data = path.read_bytes()
        at = data.index(f"names.bat.leaves/{leaf.name}".encode())
        for name in (b"../a", b"/etc/passwd", b"a//b", b"./a", b"a/..", b"a\0b", b"", b"a"):
            record = np.zeros(1, LEAF_RECORD)
            record["name_bytes"] = len(name)
            raw = struct.pack("<II", 1, 0) + record.tobytes() + name
            with contextlib.nullcontext() if name == b"a" else self.assertRaisesRegex(parabat.BatError, "leaf file name"):
                list(leaves_in("x", raw))
            with self.assertRaises(parabat.BatError):
                list(leaves_in("x", raw[:80] if name == b"a" else raw))
        changed = bytearray(data)
        changed[at:at + 2] = b".."
        path.write_bytes(changed)
        self.fails(3, "names.bat", "web", "--viewer", FOLDER / "viewer.html", path, FOLDER / "of_names")

    def test_steps_do_not_take_names_of_others(self):
        page, folder = FOLDER / "viewer.html", FOLDER / "of_steps"
        page.write_text('<script type="application/json" id="published">{}</script>')
        shutil.rmtree(folder, ignore_errors=True)
        far = FOLDER / "steps" / "x.bat.series"
        far.parent.mkdir(exist_ok=True)
        shutil.copy(self.b, far.parent / "00000-a.bat")
        shutil.copy(self.b, far.parent / "x.bat")
        far.write_text(json.dumps({"files": [{"name": name, "time": i} for i, name in enumerate(
            ("../a.bat", "00000-a.bat", "x.bat", "./x.bat"))]}))
        self.succeeds("web", "--viewer", page, far, folder)
        names = [one["name"] for one in json.loads((folder / "data/x.bat.series").read_text())["files"]]
        self.assertEqual(names, ["00000-a.bat", "00001-00000-a.bat", "x.bat", "x.bat"])
        for name, source in zip(names, (self.a, self.b, self.b, self.b)):
            self.assertEqual((folder / "data" / name).read_bytes(), source.read_bytes())
        os.mkfifo(far.parent / "pipe.bat.series")
        self.fails(3, "is not a regular file", "info", far.parent / "pipe.bat.series")
        (far.parent / "pipe.bat.series").unlink()

    @contextlib.contextmanager
    def serving(self, path):
        """A server in this process; a function that asks it."""
        published = serve._Published(FOLDER / "viewer.html", str(path))  # pylint: disable=protected-access
        with serve._bound(0, type("Handler", (serve._Handler,), {"published": published})) as server:  # pylint: disable=protected-access
            thread = threading.Thread(target=server.serve_forever, args=(0.01,))
            thread.start()

            def answer(path, **headers):
                with contextlib.closing(http.client.HTTPConnection("127.0.0.1", server.server_port)) as connection:
                    connection.request("GET", path, headers=headers)
                    response = connection.getresponse()
                    return response.status, response.read(), response.getheader("Content-Range")
            answer.port = server.server_port
            try:
                yield answer
            finally:
                server.shutdown()
                thread.join()

    def test_serve_survives_clients_that_leave_or_do_nothing(self):
        large = FOLDER / "served.bat"
        parabat.write(large, np.zeros((400_000, 3)))
        (FOLDER / "viewer.html").write_text('<script type="application/json" id="published">{}</script>')
        err = io.StringIO()
        with contextlib.redirect_stderr(err), self.serving(large) as answer:
            request = b"GET /data/served.bat HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
            reset = struct.pack("ii", 1, 0)  # closing sends RST
            for sent, received in ((b"", 0), (b"GET /data/ser", 0), (request, 0), (request, 1000), (request * 3, 1000)):
                for _ in range(5):
                    with socket.create_connection(("127.0.0.1", answer.port)) as client:
                        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
                        client.sendall(sent)
                        if received:
                            client.recv(received)
            # Clients that ask nothing, half a request, or take no bytes: the server ends the connection.
            for sent in (b"", b"GET /data/ser", request):
                threads = threading.active_count()
                with unittest.mock.patch.object(serve._Handler, "timeout", 0.2), \
                        socket.create_connection(("127.0.0.1", answer.port)) as client:  # pylint: disable=protected-access
                    client.sendall(sent)
                    if sent == request:
                        while threading.active_count() > threads:  # the server gives up before anything is taken
                            time.sleep(0.01)
                    while client.recv(1 << 20):
                        pass
            # A body is not the next request.
            with socket.create_connection(("127.0.0.1", answer.port)) as client:
                client.sendall(b"GET /none HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99\r\n\r\nGET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
                found = b""
                with contextlib.suppress(ConnectionResetError):
                    while block := client.recv(1 << 20):
                        found += block
                self.assertEqual(found.count(b"HTTP/1.1 "), 1, found)
            self.assertEqual(answer("/data/served.bat")[:2], (200, large.read_bytes()))
        self.assertEqual(err.getvalue(), "")
        # More clients than are accepted at the same time.
        with serve._bound(0, serve._Handler) as server, contextlib.ExitStack() as stack:  # pylint: disable=protected-access
            for _ in range(50):
                client = stack.enter_context(socket.socket())
                client.setblocking(False)
                client.connect_ex(("127.0.0.1", server.server_port))
                self.assertTrue(select.select([], [client], [], 0.5)[1])

    def test_what_killed_commands_left_goes_with_the_next_one(self):
        page, folder = FOLDER / "viewer.html", FOLDER / "killed" / "site"
        page.write_text('<script type="application/json" id="published">{}</script>')
        shutil.rmtree(folder.parent, ignore_errors=True)
        folder.parent.mkdir()

        def left():
            return [one.name for one in folder.parent.iterdir() if one.name.startswith(".parabat-")]

        # Stops where the data is copied, in a process of its own.
        code = ("import sys, os, signal; from parabat import cli; from parabat.{module} import {name}; "
                "{name}.{function} = lambda *unused: os.kill(os.getpid(), signal.{signal}); sys.exit(cli.main(sys.argv[1:]))")
        for name, expected, remain in (("SIGKILL", -signal.SIGKILL, 1), ("SIGTERM", 130, 0), ("SIGHUP", 130, 0)):
            for module, file, function, words in (("cli", "web", "_copy", ["web", "--viewer", page, self.a, folder]),
                                                  ("exporting", "plain", "write_csv", ["export", self.a, folder.parent / "out.csv"])):
                killed = code.format(module=module, name=file, function=function, signal=name)
                done = subprocess.run([sys.executable, "-c", killed, *map(str, words)],
                                      capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, expected, done.stderr)
                self.assertEqual(len(left()), remain, name)
                # One that is at work keeps what it has, and what is not of a command stays.
                (folder.parent / ".parabat-ofauser").mkdir(exist_ok=True)
                (folder.parent / ".parabat-ofauser" / "file").touch()
                (folder.parent / ".parabat-ofausertoo").touch()
                with replacing(folder.parent / "other.csv") as temporary, replacing_folder(folder.parent / "other") as work:
                    self.succeeds("export", self.b, folder.parent / "next.csv", "--quality", "0.01")
                    self.assertTrue(os.path.exists(temporary) and os.path.exists(work))
                    self.assertEqual(len(left()), 4)
                self.assertEqual(sorted(left()), [".parabat-ofauser", ".parabat-ofausertoo"])
                shutil.rmtree(folder.parent / "other")
                shutil.rmtree(folder.parent / ".parabat-ofauser")
                (folder.parent / ".parabat-ofausertoo").unlink()

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh_completes_as_bash_does(self):
        script = f"autoload -U +X compinit && compinit -u -d {FOLDER}/zcompdump\n" + self.succeeds("completion", "zsh") + (
            "print $_comps[parabat]; emulate sh\n"  # as its bashcompinit has it; zsh itself leaves out what does not begin so
            "COMP_WORDS=(parabat query --qu); COMP_CWORD=2; _parabat; echo ${COMPREPLY[@]}\n"
            "COMP_WORDS=(parabat va); COMP_CWORD=1; _parabat; echo ${COMPREPLY[@]}\n")
        out = subprocess.run(["zsh", "-f", "-c", script], check=True, capture_output=True, text=True).stdout.splitlines()
        self.assertIn("-F _parabat", out[0])
        self.assertTrue({"--quality", "--box", "--json"} <= set(out[1].split()) and "--leaves" not in out[1], out)
        self.assertTrue({"info", "validate", "--version"} <= set(out[2].split()), out)


if __name__ == "__main__":
    unittest.main()
