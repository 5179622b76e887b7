#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs random queries on golden files: the C++ core against a scan of every particle by the second
reader.

compare_queries.py QUERY_LINES GOLDEN_FOLDER [QUERIES_PER_FILE]
"""

import glob
import json
import math
import os
import subprocess
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "spec_reader"))
import bat_spec as spec


def near(random, value):
    """Returns a number at, next to or around a value, exactly or as a float."""
    if isinstance(value, int):
        ways = [value, value, value, value - 1, value + 1, value // 2, float(value), value + 0.5]
        return ways[random.randint(len(ways))]
    ways = [value, math.nextafter(value, math.inf), math.nextafter(value, -math.inf), value * random.uniform(0.5, 1.5)]
    if math.isfinite(value) and abs(value) < 1e15:
        ways.append(int(value))
    return ways[random.randint(len(ways))]


def text(value):
    """Returns a number as text that reads back as the same number; 64-bit integers stay integers."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 64:
        value = -math.inf if value < 0 else math.inf
    return repr(value), value


def ends(random, values):
    """Returns the ends of a range, as texts and as numbers, from stored values that are not NaN."""
    values = values[values == values]
    pick = [near(random, values[random.randint(len(values))].item()) if len(values) else random.uniform(-1, 1) for _ in "ab"]
    if random.rand() < 0.1:
        pick[random.randint(2)] = random.choice([-math.inf, math.inf, 0])
    if random.rand() < 0.2:
        pick[1] = pick[0]
    (a, x), (b, y) = sorted((text(v) for v in pick), key=lambda t: t[1])
    return (a, b), (x, y)


def random_query(random, bat):
    """Returns a query for query_lines and the same for bat_spec."""
    line = {"quality": "1", "after_quality": "0", "box": None, "ranges": [], "values": [], "rows": bool(random.rand() < 0.1), "part": 0, "parts": 1}
    query = {"quality": 1, "after_quality": 0, "box": None, "ranges": [], "values": []}
    if random.rand() < 0.2:
        parts = int(random.randint(1, 9))
        line.update(part=int(random.randint(parts)), parts=parts)
        query.update(part=line["part"], parts=parts)
    if random.rand() < 0.5:
        n = max(bat.particle_count, 1)
        a, b = sorted(random.choice([random.rand(), random.randint(n + 1) / n]) for _ in "ab")
        a = 0.0 if random.rand() < 0.6 else a
        query.update(quality=b, after_quality=a)
        line.update(quality=repr(float(b)), after_quality=repr(float(a)))
    if random.rand() < 0.5:
        sides = [ends(random, bat.positions()[:, axis].astype("f8")) for axis in range(3)]
        for axis in range(3):
            if random.rand() < 0.3:
                sides[axis] = ("-inf", "inf"), (-math.inf, math.inf)
        # A query's box is in doubles.
        query["box"] = [float(side[1][end]) for end in (0, 1) for side in sides]
        line["box"] = [repr(v) for v in query["box"]]
    for _ in range(random.choice([0, 1, 2, 3], p=[.2, .5, .2, .1]) if bat.keys else 0):
        number = random.randint(len(bat.keys))
        key = bat.keys[number]
        attribute = bat.attributes[key.attribute]
        component = None if key.component < 0 or (attribute.components == 1 and random.rand() < 0.5) else key.component
        if random.rand() < 0.3:
            known = bat._key_cache(number)
            known = known[known == known]
            picked = [text(near(random, known[random.randint(len(known))].item()) if len(known) else 0.5)
                      for _ in range(random.randint(40))]
            query["values"].append((attribute.name, component, [v for _, v in picked]))
            line["values"].append({"attribute": attribute.name, "component": component, "values": [t for t, _ in picked]})
            continue
        texts, numbers = ends(random, bat._key_cache(number))
        query["ranges"].append((attribute.name, component, *numbers))
        line["ranges"].append({"attribute": attribute.name, "component": component, "lower": texts[0], "upper": texts[1]})
    for _ in range(random.randint(3) if bat.aliases else 0):
        name = bat.aliases[random.randint(len(bat.aliases))].name
        component = int(random.randint(3)) if random.rand() < 0.5 and bat.attribute(name).ndim > 1 else None
        component = None if component is not None and component >= bat.attribute(name).shape[1] else component
        known = bat._key_cache(bat.key_number(name, component))
        if random.rand() < 0.3:
            known = known[known == known]
            picked = [text(near(random, known[random.randint(len(known))].item())) for _ in range(random.randint(40))]
            query["values"].append((name, component, [v for _, v in picked]))
            line["values"].append({"attribute": name, "component": component, "values": [t for t, _ in picked]})
            continue
        texts, numbers = ends(random, known)
        query["ranges"].append((name, component, *numbers))
        line["ranges"].append({"attribute": name, "component": component, "lower": texts[0], "upper": texts[1]})
    return line, query


def compare(program, path, count):
    """Compares `count` queries on one file; returns the number of results that were neither empty nor everything."""
    bat = spec.open_any(path)
    random = np.random.RandomState(bat.particle_count + 1)
    requested = [random_query(random, bat) for _ in range(count)]
    lines = "".join(json.dumps(line) + "\n" for line, _ in requested)
    run = subprocess.run([program, path], input=lines, stdout=subprocess.PIPE, encoding="utf-8", check=True)
    answers = [json.loads(line) for line in run.stdout.splitlines()]
    assert len(answers) == count, "%s: %d answers to %d queries" % (path, len(answers), count)
    telling = 0
    for (line, query), answer in zip(requested, answers):
        expected = bat.query(**query)
        found = np.concatenate([np.arange(0)] + [np.arange(first, first + n) for first, n in answer["spans"]])
        where = "%s: %s" % (path, json.dumps(line))
        assert np.array_equal(found, expected), "%s\nexpected %s\nfound %s" % (where, expected, found)
        assert answer["upper_bound"] >= len(expected), where + ": the upper bound is too low"
        if line["rows"]:
            rows = b"".join(c[expected].tobytes() for c in [bat.positions()] + [values for _, values in bat.listed()])
            assert answer["rows"] == rows.hex(), where + ": the rows differ"
        telling += 0 < len(expected) < bat.particle_count
    return telling


def main(argv):
    """Runs the comparison over all golden files."""
    program, folder = argv[:2]
    count = int(argv[2]) if len(argv) > 2 else 400
    paths = sorted(glob.glob(os.path.join(folder, "*.bat")))
    assert paths, "no golden files in %s" % folder
    telling = sum(compare(program, path, count) for path in paths)
    print("%d files, %d queries, %d of them neither empty nor everything: no difference" %
          (len(paths), count * len(paths), telling))
    assert telling > count * len(paths) // 5, "the queries tell too little"
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
