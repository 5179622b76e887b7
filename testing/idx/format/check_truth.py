# SPDX-License-Identifier: BSD-3-Clause
"""Reads .idx datasets at every level, every field and step, in whole and in random boxes, and compares each result with
the original data.

Usage: check_truth.py READ_BOXES CASES.json [--boxes N] [--spec] [--earlier-pidx]
       --spec: idx_spec.py, the second reader, answers too
       --earlier-pidx: datasets of PIDX once more with the texts that it wrote before 2018
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "spec_reader"))


def full_box(case):
    dims, p1 = case["dims"], case["p1"]
    return [(p1[a], p1[a] + dims[a] - 1) if a < len(dims) else (0, 0) for a in range(3)]


def expected(truth, bits, level, box, p1):
    """truth: [z, y, x, component]. Returns the part of it that a level has in a box."""
    delta = [2 ** bits[1 + level:].count(str(axis)) for axis in range(3)]
    slices = []
    for axis in (2, 1, 0):
        lower, upper = box[axis]
        first = -(-lower // delta[axis]) * delta[axis]
        slices.append(slice(first - p1[axis], max(first - p1[axis], upper - p1[axis] + 1), delta[axis]))
    part = truth[tuple(slices)]
    return part if part.size else part[:0]


class Reader:
    def __init__(self, program, path):
        self.process = subprocess.Popen([program, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.about = self.process.stdout.readline().decode().split()

    def read(self, field, step, level, box, coarse=-1):
        """Returns the answer's shape (x, y, z) and its bytes, or the text of an error."""
        ends = " ".join(f"{lower} {upper}" for lower, upper in box)
        self.process.stdin.write(f"{field} {step} {level} {ends} {coarse}\n".encode())
        self.process.stdin.flush()
        words = self.process.stdout.readline().decode().rstrip("\n").split(" ", 1)
        if words[0] != "ok":
            return None, words[1]
        shape = [int(word) for word in words[1].split()]
        return shape[:3], self.process.stdout.read(shape[3])

    def close(self):
        self.process.stdin.close()
        assert self.process.wait() == 0


def check(case, folder, program, boxes, with_spec):
    text = (folder / case["idx"]).read_text()
    bits = text.split("(bits)")[1].split()[0]
    box, random = full_box(case), np.random.default_rng(len(case["name"]))
    reader = Reader(program, folder / case["idx"])
    if reader.about[0] != "ok":
        return 0, [f"{case['name']}: {' '.join(reader.about)}"]
    levels, problems, reads = int(reader.about[1]), [], 0
    for axis, world in enumerate([] if case["world"] == "any" else case["world"]):
        lower, _, origin, spacing = (float(word) for word in reader.about[2 + 4 * axis:6 + 4 * axis])
        if not np.allclose([origin + lower * spacing, spacing], world, rtol=1e-12, atol=1e-12):
            problems.append(f"{case['name']}: axis {axis} begins at {origin + lower * spacing} by {spacing}, not {world}")
    spec = None
    if with_spec:
        import idx_spec
        spec = idx_spec.Dataset(folder / case["idx"])
    with np.load(folder / case["truth"]) as arrays:
        for key in arrays.files:
            field, step = key.rsplit("@", 1)
            truth = arrays[key]
            dims = case["dims"]
            p1 = [lower for lower, _ in box]
            truth = truth.reshape([dims[a] if a < len(dims) else 1 for a in (2, 1, 0)] + [-1])
            requested = [(level, box, -1) for level in range(levels + 1)] + [(levels, box, levels - 3), (levels, box, levels // 2)]
            for _ in range(boxes):
                some = []
                for lower, upper in box:
                    a, b = sorted(int(v) for v in random.integers(lower, upper + 1, 2))
                    some.append((a, b))
                level = int(random.integers(0, levels + 1))
                requested.append((level, some, int(random.integers(-1, level + 1))))
            for level, some, coarse in requested:
                want = expected(truth, bits, level, some, p1)
                shape, got = reader.read(field, step, level, some, coarse)
                reads += 1
                if shape is None or got != np.ascontiguousarray(want).tobytes():
                    problems.append(f"{case['name']}: {key} level {level} box {some} after {coarse}: " + (got if shape is None else f"{shape} differ"))
                if spec is not None and spec.read(field, int(step), level, some).tobytes() != np.ascontiguousarray(want).tobytes():
                    problems.append(f"{case['name']}: {key} level {level} box {some}: the second reader differs")
    reader.close()
    return reads, problems


def rewritten(text, **keys):
    """A text of PIDX 0.9.3 with other values of keys, and without those that are None."""
    for key, value in keys.items():
        key = key.replace("_", " ")
        text = re.sub(rf"\({key}\)\n[^(]*", "" if value is None else f"({key})\n{value}\n", text)
    return text


def earlier_forms(cases, folder, to):
    """Copies of the PIDX datasets with the texts that PIDX wrote before 2018, in a separate folder."""
    forms = []
    for case in cases:
        path = folder / case["idx"]
        text = path.read_text()
        if "(io mode)" not in text:
            continue
        part = "l_part_idx" in text
        texts = {"2018": rewritten(text, version=6),
                 "2017": rewritten(text, version=6, io_mode=3 if part else 1, endian=1)}
        if not part:
            bare = ("io mode", "partition size", "partition offset", "partition index", "endian", "restructure box size",
                    "cores", "compression bit rate", "compression type")
            texts["2015"] = rewritten(text, version=6, **{key.replace(" ", "_"): None for key in bare})
            assert "(io mode)" not in texts["2015"] and "(endian)" not in texts["2015"]
        for year, old in texts.items():
            place = to / year / path.parent.name
            place.mkdir(parents=True, exist_ok=True)
            (place / path.name).write_text(old)
            for entry in path.parent.iterdir():
                if entry.is_dir():
                    (place / entry.name).symlink_to(entry)
            forms.append({**case, "name": f"{case['name']} as of {year}", "idx": place / path.name,
                          "truth": (folder / case["truth"]).resolve()})
    assert len(forms) >= 5, [form["name"] for form in forms]
    return forms


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("cases", type=pathlib.Path)
    parser.add_argument("--boxes", type=int, default=20)
    parser.add_argument("--spec", action="store_true")
    parser.add_argument("--earlier-pidx", action="store_true")
    arguments = parser.parse_args()
    total, failed = 0, 0
    cases, folder = json.loads(arguments.cases.read_text()), arguments.cases.resolve().parent
    with tempfile.TemporaryDirectory() as other:
        for case in cases + (earlier_forms(cases, folder, pathlib.Path(other)) if arguments.earlier_pidx else []):
            reads, problems = check(case, folder, arguments.program, arguments.boxes, arguments.spec)
            total, failed = total + reads, failed + len(problems)
            for problem in problems[:5]:
                print(problem)
    print(f"{total} reads, {failed} problems")
    return 1 if failed or not total else 0


if __name__ == "__main__":
    sys.exit(main())
