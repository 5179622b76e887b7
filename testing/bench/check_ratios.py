# SPDX-License-Identifier: BSD-3-Clause
"""Fails if building, reading or a query has become much slower relative to its reference in the same
process.

    check_ratios.py BAT_BENCH            runs it on a million particles of each kind
    check_ratios.py --json FILE...       judges what bat_bench wrote, once
    check_ratios.py --self-test          every row fails where it should

Uses medians of alternately measured pairs; a failing row is measured once more. Absolute times never
decide.
"""

import copy
import json
import os
import statistics
import subprocess
import sys
import tempfile

PARTICLES = 1_000_000
REPEAT = 7
# The ratio of our time to the reference: its value on a quiet machine, and the maximum allowed.
# Reads take twice as long if the system provides no large pages.
#  what                                    in the JSON of bat_bench             our time           reference   clustered        uniform
ROWS = (
    ("build / radix sort and gather",      "build",                             "ms",              "limit_ms", (1.4, 2.8),      (1.4, 2.8)),
    ("full read / copy",                   "read_full",                         "ms",              "copy_ms",  (1.15, 3.6),     (1.2, 3.6)),
    ("ten progressive steps / copy",       "progressive",                       "ms",              "copy_ms",  (1.15, 3.6),     (1.2, 3.6)),
    ("full read of a mapped file / copy",  "read_mapped",                       "ms",              "copy_ms",  (1.05, 2.4),     (1.05, 2.4)),
    ("ten steps of a mapped file / copy",  "progressive_mapped",                "ms",              "copy_ms",  (1.05, 2.4),     (1.05, 2.4)),
    ("full read of it once more / copy",   "read_again",                        "ms",              "copy_ms",  (0.6, 2.0),      (0.6, 2.0)),
    ("columns in place / copy",            "in_place",                          "ms",              "copy_ms",  (0.5, 2.2),      (0.5, 2.2)),
    ("box of 0.1 % / scan",                "box/share_0.1_percent",             "ms",              "scan_ms",  (0.045, 0.1),    (0.068, 0.15)),
    ("box of 1 % / scan",                  "box/share_1_percent",               "ms",              "scan_ms",  (0.06, 0.13),    (0.095, 0.2)),
    ("box of 10 % / scan",                 "box/share_10_percent",              "ms",              "scan_ms",  (0.1, 0.2),      (0.2, 0.4)),
    ("correlated range of 1 % / scan",     "attribute/correlated",              "ms",              "scan_ms",  (0.29, 0.6),     (0.49, 1.0)),
    ("the same again / of a file anew",    "attribute/correlated",              "mapped_again_ms", "mapped_anew_ms", (0.75, 1.1),     (0.75, 1.1)),
    ("heavy-tailed range of 1 % / scan",   "attribute/heavy_tailed",            "ms",              "scan_ms",  (0.44, 0.9),     (0.74, 1.5)),
    ("uncorrelated range of 1 % / scan",   "attribute/uncorrelated",            "ms",              "scan_ms",  (1.0, 3.0),      (0.54, 1.6)),
    ("101 ids / scan",                     "attribute/list_of_ids/of_101",      "ms",              "scan_ms",  (0.18, 0.45),    (0.17, 0.45)),
    ("101 ids with a sorted index / scan", "attribute/list_of_ids/of_101",      "sorted_index_ms", "scan_ms",  (0.004, 0.02),   (0.0037, 0.02)),
)
KINDS = ("clustered", "uniform")  # the columns of the table


def figure(figures, path):
    for key in path.split("/"):
        figures = figures[key]
    return figures


def judge(figures):
    """Prints every ratio and returns those above their limit."""
    wrong = []
    column = 4 + KINDS.index(figures["kind"])
    for row in ROWS:
        what, path, ours, reference = row[:4]
        usual, limit = row[column]
        samples = figure(figures, path)["samples"]
        ratio = statistics.median(a / b for a, b in zip(samples[ours], samples[reference]))
        good = ratio <= limit
        print(f"{'ok      ' if good else 'WRONG   '}{figures['kind']}: {what} {ratio:.3g}, usually {usual:g}, at most {limit:g}")
        if not good:
            wrong.append(f"{figures['kind']}: {what}")
    return wrong


def run(program, kind):
    command = [program, "--kind", kind, "--particles", str(PARTICLES), "--threads", "1", "--repeat", str(REPEAT),
               "--processor-time"]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def measure(program):
    failed = []
    for kind in KINDS:
        wrong = judge(run(program, kind))
        if wrong:
            print("once more")
            again = judge(run(program, kind))
            wrong = [what for what in wrong if what in again]
        failed += wrong
    return failed


def self_test():
    """Files in which one row is twice as slow as allowed, and one in which all are as usual."""
    failed = []
    for kind in KINDS:
        usual = {"kind": kind}
        for row in ROWS:
            place = usual
            for key in row[1].split("/"):
                place = place.setdefault(key, {})
            samples = place.setdefault("samples", {})
            samples.setdefault(row[3], [10.0] * 3)
            samples[row[2]] = [10 * row[4 + KINDS.index(kind)][0]] * 3
        cases = [("as usual", usual, None)]
        for row in ROWS:
            slow = copy.deepcopy(usual)
            # One of three repetitions is fast; the median decides.
            figure(slow, row[1])["samples"][row[2]] = [0.001] + [20 * row[4 + KINDS.index(kind)][1]] * 2
            cases.append((f"slow: {row[0]}", slow, f"{kind}: {row[0]}"))
        for name, figures, expected in cases:
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "figures.json")
                with open(path, "w", encoding="utf-8") as file:
                    json.dump(figures, file)
                done = subprocess.run([sys.executable, __file__, "--json", path], stdout=subprocess.PIPE, text=True)
            wrong = [line for line in done.stdout.splitlines() if line.startswith("WRONG")]
            good = (done.returncode == 0 and not wrong) if expected is None else (
                done.returncode == 1 and len(wrong) == 1 and f"{expected} " in wrong[0])
            print(f"{'ok      ' if good else 'WRONG   '}{kind}, {name}: status {done.returncode}, {len(wrong)} beyond a limit")
            if not good:
                failed.append(name)
    return failed


def main():
    words = sys.argv[1:]
    if words == ["--self-test"]:
        failed = self_test()
    elif len(words) > 1 and words[0] == "--json":
        failed = []
        for path in words[1:]:
            with open(path, encoding="utf-8") as file:
                failed += judge(json.load(file))
    elif len(words) == 1 and not words[0].startswith("-"):
        failed = measure(words[0])
    else:
        sys.exit(__doc__)
    print(f"{len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
