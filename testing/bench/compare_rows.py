# SPDX-License-Identifier: BSD-3-Clause
"""Rows of the table of compare.py: our figure, a reference, and the target."""

import json
import os
import statistics

# Targets for our figures, on one thread unless stated otherwise, for 10 million particles of 68 bytes. A key that
# ends in `_over` is the ratio of our figure to the reference.
MUST = {
    "build": 4,                # million particles per second and core
    "threads": 1.8,            # speed on 2 threads over speed on 1
    "read_full": 300_000,      # particles per ms
    "read_mapped": 300_000,
    "read_again": 300_000,
    "progressive": 250_000,
    "progressive_mapped": 250_000,
    "first_million": 20,       # ms, for 100 million
    "box_0.1_over": 1 / 50,    # relative to a scan
    "box_1_over": 1 / 10,
    "box_10_over": 1 / 2,
    "correlated": 2,           # ms
    "correlated_mapped": 2,
    "correlated_again": 2,
    "uncorrelated": 36,
    "ids_indexed": 2,
    "index": 1,                # per cent of the data
    "parallel_write_over": 2,  # relative to raw files, one per rank
    "apply": 1,                # s, for 100 million
}


def spread(samples):
    """Median, extremes and the samples in the order of measurement."""
    return {"median": statistics.median(samples), "min": min(samples), "max": max(samples), "samples": samples}


def quotients(above, below):
    return spread([a / b for a, b in zip(above, below)])


def row(title, unit, higher_is_better, ours, reference, reference_name, must=None, must_ratio=None):
    """ours, reference: spreads. must: a limit for ours; must_ratio: a limit for the ratio of ours
    to the reference."""
    ratio = None if reference is None else quotients(ours["samples"], reference["samples"])
    reached = []
    if must is not None:
        reached.append(ours["median"] >= must if higher_is_better else ours["median"] <= must)
    if must_ratio is not None:
        reached.append(ratio["median"] >= must_ratio if higher_is_better else ratio["median"] <= must_ratio)
    return {"title": title, "unit": unit, "higher_is_better": higher_is_better, "ours": ours, "reference": reference,
            "reference_name": reference_name, "ratio": ratio, "must": must, "must_ratio": must_ratio,
            "reached": all(reached) if reached else None}


def rates(count, milliseconds):
    return spread([count / ms for ms in milliseconds])


def rows_of(own):
    """Key -> row."""
    figures = own["all"]
    n = figures["particles"]
    found = {}

    def beside_scan(key, title, of, ours="ms"):
        samples = of["samples"]
        found[key] = row(title, "ms", False, spread(samples[ours]), spread(samples["scan_ms"]), "scan",
                         must=MUST.get(key), must_ratio=MUST.get(f"{key}_over"))

    build = figures["build"]["samples"]
    found["build"] = row("build and encode, one thread", "million particles/s/core", True,
                         rates(n / 1000, build["ms"]), rates(n / 1000, build["limit_ms"]), "radix sort and gather",
                         must=MUST["build"])
    found["threads"] = row("build on 2 threads / on 1", "times as fast", True,
                           quotients(own["build_1"], own["build_2"]), quotients(own["copy_1"], own["copy_2"]),
                           "copy of all columns", must=MUST["threads"])
    for key, title in (("read_full", "full read, xyz and one attribute"),
                       ("read_mapped", "the same, from a newly opened mapped file"),
                       ("read_again", "the same, from a mapped file that was read before"),
                       ("progressive", "the same in ten steps of 10 %"),
                       ("progressive_mapped", "the same in ten steps of 10 %, from a newly opened mapped file"),
                       ("in_place", "the same, whole columns in place in a mapped file")):
        samples = figures[key]["samples"]
        found[key] = row(title, "particles/ms", True, rates(n, samples["ms"]), rates(n, samples["copy_ms"]), "copy",
                         must=MUST.get(key))
    if "large" in own:
        large, small = (own[name]["open"]["samples"]["with_first_million_ms"] for name in ("large", "small"))
        found["first_million"] = row("open 100 million, read xyz of 1 million", "ms", False, spread(large),
                                     spread(small), "a file of 1 million", must=MUST["first_million"])
    for share in ("0.1", "1", "10"):
        beside_scan(f"box_{share}", f"box with {share} % of the particles", figures["box"][f"share_{share}_percent"])
    for name in ("correlated", "uncorrelated"):
        of = figures["attribute"][name]
        if of:
            beside_scan(name, f"range that matches 1 %, {name} ({of['attribute']})", of)
            for key, ours, title in (("mapped", "mapped_anew_ms", "newly opened mapped file"),
                                     ("again", "mapped_again_ms", "mapped file that was queried before")):
                if ours in of:
                    beside_scan(f"{name}_{key}", f"range that matches 1 %, {name}, {title}", of, ours)
            if "sorted_index_ms" in of:
                beside_scan(f"{name}_indexed", f"range that matches 1 %, {name}, sorted index", of, "sorted_index_ms")
    ids = figures["attribute"]["list_of_ids"]
    if ids:
        beside_scan("ids", "101 ids, no sorted index", ids["of_101"])
        beside_scan("ids_indexed", "101 ids, sorted index", ids["of_101"], "sorted_index_ms")
    found["index"] = row("index and checksums", "% of the data", False, spread([100 * figures["index_ratio"]]), None, "",
                         must=MUST["index"])
    return found


def set_of_parallel(figures):
    """Rows from the JSON of parallel_bench.py: its first mode and leaf file size."""
    samples = figures["variants"][0]["samples"]
    write = row("parallel write", "s", False,
                spread([one["bat_write"] for one in samples]), spread([one["raw_write"] for one in samples]),
                "raw file per rank", must_ratio=MUST["parallel_write_over"] if figures["ranks"] > 1 else None)
    return {"kind": figures["kind"], "ranks": figures["ranks"], "particles": figures["particles"],
            "bytes_per_particle": figures["bytes_per_particle"], "rows": {"parallel_write": write}, "systems": {}}


def sets_of_reader(lines):
    """Rows from the lines of reader_bench.py, one set per file."""
    found = {}
    for line in lines:
        found.setdefault(line["file"], []).append(line)
    sets = []
    for file, of_file in found.items():
        loaded = of_file[0]["particles"]
        read = row(f"ParaView reads {loaded:,} of {of_file[0]['of']:,} particles at Apply", "s", False,
                   spread([line["read"] for line in of_file]), None, "", must=MUST["apply"])
        sets.append({"kind": os.path.splitext(os.path.basename(file))[0], "particles": of_file[0]["of"],
                     "rows": {"apply": read}, "systems": {}})
    return sets


def sets_of(text):
    """Rows from the output of compare.py, parallel_bench.py or reader_bench.py. Raises ValueError or
    KeyError."""
    if not text.strip():
        raise ValueError("is empty")
    try:
        result = json.loads(text)
    except ValueError:
        return sets_of_reader([json.loads(line) for line in text.splitlines()])
    if "sets" in result:
        return result["sets"]
    return [set_of_parallel(result)] if "variants" in result else sets_of_reader([result])
