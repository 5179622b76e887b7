# SPDX-License-Identifier: BSD-3-Clause
"""Records the C++ library's answers to queries, for the tests of the TypeScript reader.

Usage: make_oracle.py OUT.json FILE.bat ...

Each answer is a number of particles and XXH64 of one run of bytes: the positions, then each attribute
in order. Real numbers are bit patterns in hexadecimal, integers are text.
"""

import json
import random
import struct
import sys

import numpy as np
import parabat
import xxhash

QUERIES = 24  # per file


def end(v):
    """An end of a range as JSON."""
    if v is None:
        return None
    return {"int": str(v)} if isinstance(v, int) else {"float": struct.pack(">d", v).hex()}


def one_query(dataset, chance):
    """Arguments of Dataset.read()."""
    query = {}
    if chance.random() < 0.5:
        qualities = sorted(chance.choice([0.0, 1.0, 0.01, 0.3, chance.random()]) for _ in range(2))
        query["after_quality"], query["quality"] = qualities
    lower, upper = dataset.box[:3], dataset.box[3:]
    if chance.random() < 0.6:
        sides = [sorted(chance.choice([lower[a], upper[a], chance.uniform(*sorted((lower[a], upper[a]))) if lower[a] <= upper[a] else 0.0])
                        for _ in range(2)) for a in range(3)]
        if chance.random() < 0.1:
            sides[0] = [float("-inf"), float("inf")]
        query["box"] = [float(v) for side in zip(*sides) for v in side]
        query["half_open"] = chance.random() < 0.3
    ranges, values = [], {}
    for name, about in dataset.attributes.items():
        if chance.random() > 1.2 / len(dataset.attributes):
            continue
        component = None if about.components == 1 or chance.random() < 0.5 else chance.randrange(about.components)
        read = dataset.read([name])[name]
        if component is not None:
            read = read[:, component]
        elif about.components > 1:
            with np.errstate(all="ignore"):
                read = np.sqrt((read.astype("f8") ** 2).sum(axis=1))
        found = [v for v in read[:200].tolist() if v == v] or [0]
        key = name if component is None else (name, component)
        if about.components == 1 and chance.random() < 0.3:
            values[key] = [chance.choice(found) for _ in range(chance.randrange(4))]
            continue
        ends = sorted(chance.choice(found) for _ in range(2))
        if chance.random() < 0.3 and abs(ends[0]) < 2**53:
            ends = [v + 0.25 for v in ends]
        if chance.random() < 0.2:
            ends[chance.randrange(2)] = None
        ranges.append((name, component, *ends) if component is not None else (name, *ends))
    if ranges:
        query["ranges"] = ranges
    if values:
        query["values"] = values
    if chance.random() < 0.3:
        query["parts"] = chance.randrange(1, 9)
        query["part"] = chance.randrange(query["parts"])
    return query


def as_json(query):
    """A query in the reader's form."""
    shown = {name: query[name] for name in ("quality", "part", "parts") if name in query}
    shown.update({other: query[name] for name, other in (("after_quality", "afterQuality"), ("half_open", "halfOpen")) if name in query})
    if "box" in query:
        shown["box"] = [end(v) for v in query["box"]]
    shown["ranges"] = [{"attribute": one[0], "component": one[1] if len(one) == 4 else None, "minimum": end(one[-2]), "maximum": end(one[-1])}
                       for one in query.get("ranges", [])]
    shown["lists"] = [{"attribute": key, "values": [end(v) for v in listed]} for key, listed in query.get("values", {}).items()]
    return shown


def main():
    answers = {}
    for path in sys.argv[2:]:
        chance = random.Random(path.rsplit("/", 1)[-1])
        answers[path] = []
        with parabat.open(path) as dataset:
            names = list(dataset.attributes)
            for number in range(QUERIES):
                query = one_query(dataset, chance) if number else {}
                found = dataset.read(**query)
                hashed = xxhash.xxh64(found.positions.tobytes())
                for name in names:
                    hashed.update(found[name].tobytes())
                answers[path].append({"query": as_json(query), "count": found.count, "hash": hashed.hexdigest()})
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(answers, file)


if __name__ == "__main__":
    main()
