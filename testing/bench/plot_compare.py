# SPDX-License-Identifier: BSD-3-Clause
"""Draws a table and pictures, one per row, from the results of compare.py, parallel_bench.py and
reader_bench.py.

    plot_compare.py [--folder OUT] COMPARE.json... [PARALLEL.json...] [READER.json...]

Sets of several files appear side by side.
"""

import argparse
import os
import sys
import textwrap

import matplotlib

matplotlib.use("Agg")  # no display
import matplotlib.pyplot as plt

from compare_rows import sets_of
from compare_table import about, name_of, number, table
from plot_bench import save

# Okabe and Ito's colours, which are distinguishable with colour vision deficiency.
OURS, REFERENCE, OTHERS, BAR = "#0072B2", "#999999", "#E69F00", "#D55E00"

INDEXED = "_indexed"  # suffix of the keys of rows with a sorted index
SAME_REFERENCE = (INDEXED, "_mapped", "_again")  # same as the row without it, if there is one
IN_PROCESS = "in bat_bench"
TO_ARRAYS = "from file to numpy arrays"
PICTURES = {
    "build": ("Build and encode, one thread", ("build",), None),
    "threads": ("Build on two threads", ("threads",), None),
    "read_full": ("Read positions and one attribute of all",
                  ("read_full", "read_mapped", "read_again", "in_place"), "read"),
    "progressive": ("Read positions and one attribute in ten steps of 10 %", ("progressive", "progressive_mapped"),
                    None),
    "first_million": ("Open 100 million particles, read the positions of 1 million", ("first_million",), None),
    "box": ("Box", ("box_0.1", "box_1", "box_10"), "box"),
    "correlated": ("Range that matches 1 %, correlated with place",
                   ("correlated", "correlated_mapped", "correlated_again"), "correlated"),
    "uncorrelated": ("Range that matches 1 %, not correlated", ("uncorrelated", "uncorrelated_indexed"), "uncorrelated"),
    "ids": ("101 ids from all over", ("ids", "ids_indexed"), "ids"),
    "id_range": ("A range of 101 ids", (), "id_range"),
    "index": ("Index and checksums", ("index",), None),
    "write": ("Write all, into the page cache", (), "write"),
    "parallel_write": ("Write on several ranks, flushed", ("parallel_write",), None),
    "apply": ("ParaView's reader at Apply", ("apply",), None),
}


# --- pictures: sections of bars, from top to bottom

def own_section(one, keys):
    """Bars as (label, spread or reason, colour), and targets as (first, last, value, label)."""
    bars, musts = [], []
    for key in keys:
        row = one["rows"].get(key)
        if row is None:
            continue
        indexed = key.endswith(INDEXED)
        title = "BAT"
        if indexed:
            title += ", sorted index"
        elif key.endswith("_mapped"):
            title += ", mapped"
        elif key.endswith("_again"):
            title += ", mapped, used before"
        elif key == "in_place":
            title += ", mapped, no copy"
        elif key.startswith("box_"):
            title += ", " + row["title"].replace("box with ", "").replace(" of the particles", "")
        first = len(bars)
        bars.append((title, row["ours"], OURS))
        if row["reference"]:
            beside = key.rsplit("_", 1)[0]
            if not (key.endswith(SAME_REFERENCE) and beside in one["rows"]):
                bars.append((row["reference_name"], row["reference"], REFERENCE))
        if row["must"] is not None:
            label = f"must: {number(row['must'])}"
            reported = any(label == other for *_, other in musts)
            musts.append((first, len(bars) - 1, row["must"], "" if reported else label))
        if row["must_ratio"] is not None:
            value = row["must_ratio"] * row["reference"]["median"]
            musts.append((first, len(bars) - 1, value, f"must: {row['must_ratio']:g} x"))
    return bars, musts


def system_section(one, operation, unit):
    bars = []
    for name, system in one["systems"].items():
        colour = OURS if name.startswith("bat") else OTHERS
        if "missing" in system:
            if name != "bat_indexed":
                bars.append((system["label"], system["missing"], colour))
        elif operation in system["operations"]:
            seconds = system["operations"][operation]["seconds"]
            factor = (lambda s: one["particles"] / s / 1000) if unit == "particles/ms" else (lambda s: 1000 * s)
            ends = sorted((factor(seconds["min"]), factor(seconds["max"])))
            spread = {"median": factor(seconds["median"]), "min": ends[0], "max": ends[1]}
            bars.append((system["label"], spread, colour))
    return bars


def sections_of(one, keys, operation):
    unit = next((one["rows"][key]["unit"] for key in keys if key in one["rows"]), "ms")
    found = []
    bars, musts = own_section(one, keys)
    if bars:
        found.append((IN_PROCESS if operation else "", bars, musts))
    if operation and (bars := system_section(one, operation, unit)):
        share = "1 %, " if operation == "box" else ""
        found.append((share + TO_ARRAYS if operation != "write" else "", bars, []))
    return unit, found


def draw(axes, sections, log):
    """Horizontal bars with their values at their ends; thin lines from minimum to maximum."""
    place, ticks, labels = 0.0, [], []
    values = [spread[end] for _, bars, _ in sections for _, spread, _ in bars if not isinstance(spread, str)
              for end in ("median", "max", "min")]
    values += [value for _, _, musts in sections for _, _, value, _ in musts]
    if log:
        low, high = min(values) / 2, max(values) * 6
        axes.set_xscale("log")
    else:
        low, high = 0, max(values) * 1.6
        axes.xaxis.set_major_formatter("{x:,.0f}" if high > 10_000 else "{x:g}")
        if high > 1_000_000:
            axes.locator_params(axis="x", nbins=4)
    axes.set_xlim(low, high)
    for title, bars, musts in sections:
        if title:
            axes.annotate(title, (0.01, place), xycoords=("axes fraction", "data"), fontsize="small", va="center",
                          style="italic")
            place += 0.9
        start = place
        for label, spread, colour in bars:
            ticks.append(place)
            labels.append(label)
            if isinstance(spread, str):
                axes.annotate(textwrap.shorten("missing: " + spread, 48), (0.01, place),
                              xycoords=("axes fraction", "data"), fontsize="small", va="center", color="#777777")
            else:
                axes.barh(place, spread["median"], height=0.7, color=colour)
                if spread["max"] > spread["min"]:
                    axes.plot([spread["min"], spread["max"]], [place, place], color="black", linewidth=1)
                axes.annotate(number(spread["median"]), (spread["max"], place), xytext=(4, 0),
                              textcoords="offset points", fontsize="small", va="center", zorder=5,
                              bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5})
            place += 1
        for first, last, value, label in musts:
            axes.plot([value, value], [start + first - 0.5, start + last + 0.5], color=BAR, linewidth=1.6,
                      linestyle="--", label="target")
            axes.annotate(label, (0.99, start + first), xycoords=("axes fraction", "data"), fontsize="small", color=BAR,
                          ha="right", va="center")
        place += 0.3
    axes.set_yticks(ticks, labels)
    axes.set_ylim(place - 0.4, -0.8)
    axes.grid(True, axis="x", color="#dddddd")
    axes.set_axisbelow(True)


def plot(key, sets, path):
    title, keys, operation = PICTURES[key]
    panels = []
    for one in sets:
        unit, sections = sections_of(one, keys, operation)
        if any(not isinstance(spread, str) for _, bars, _ in sections for _, spread, _ in bars):
            panels.append((one, unit, sections))
    if not panels:
        return None
    lines = max(sum(len(bars) + 1.5 for _, bars, _ in sections) for _, _, sections in panels)
    columns = min(2, len(panels))
    rows = -(-len(panels) // columns)
    figure, all_axes = plt.subplots(rows, columns, squeeze=False,
                                    figsize=(6.8 * columns, 0.5 + rows * (1.1 + 0.27 * lines)))
    for axes in all_axes.flat[len(panels):]:
        axes.set_visible(False)
    for axes, (one, unit, sections) in zip(all_axes.flat, panels):
        medians = [spread["median"] for _, bars, _ in sections for _, spread, _ in bars if not isinstance(spread, str)]
        draw(axes, sections, log=max(medians) > 8 * min(medians))
        better = unit.startswith(("million", "particles", "times"))
        axes.set_xlabel(f"{unit}; {'more' if better else 'less'} is better")
        particles = "" if key == "first_million" else f", {about(one)}"
        axes.set_title(f"{title}\n{name_of(one)}{particles}", loc="left", fontsize="medium")
    save(figure, path)
    plt.close(figure)
    return path


def write(result, folder):
    for key in PICTURES:
        plot(key, result["sets"], os.path.join(folder, f"{key}.png"))


def main():
    parser = argparse.ArgumentParser(description="A table and pictures of what benchmarks have found.")
    parser.add_argument("results", metavar="RESULT.json", nargs="+",
                        help="of compare.py, parallel_bench.py or reader_bench.py")
    parser.add_argument("--folder", default=".", help="for the pictures and the table (default: this one)")
    options = parser.parse_args()
    sets = []
    for name in options.results:
        try:
            with open(name, encoding="utf-8") as file:
                sets += sets_of(file.read())
        except (OSError, KeyError, TypeError, ValueError) as error:
            sys.exit(f"error: {name}: is not of compare.py, parallel_bench.py or reader_bench.py: {error!r}")
    os.makedirs(options.folder, exist_ok=True)
    with open(os.path.join(options.folder, "table.md"), "w", encoding="utf-8") as file:
        file.write(table(sets))
    write({"sets": sets}, options.folder)


if __name__ == "__main__":
    main()
