# SPDX-License-Identifier: BSD-3-Clause
"""Draws pictures and a table from the JSON files of parallel_bench.py and bat_plan.

    plot_bench.py --folder OUT RUN.json... [--plans PLAN.json...]

bandwidth.png: writing and reading against the number of ranks. phases.png: where a write spends its time.
sizes.png: sizes of leaf files, by how particles are divided; from the plans if there are any (bat_plan
--sizes), else from the files of the runs. table.md: medians of the ratios.
"""

import argparse
import json
import os
import statistics
import sys

import matplotlib

matplotlib.use("Agg")  # no display
import matplotlib.pyplot as plt
from matplotlib.ticker import FixedLocator, LogLocator, NullLocator, ScalarFormatter

PHASES = ("check", "plan", "exchange", "build", "write", "commit")
# Okabe and Ito's colours, which are distinguishable with colour vision deficiency.
PHASE_COLOURS = ("#999999", "#CC79A7", "#56B4E9", "#E69F00", "#0072B2", "#009E73")
LINES = {"raw": ("#999999", "raw files"), "bat": ("#0072B2", "BAT in ParaView"),
         "direct": ("#009E73", "BAT from arrays"),
         "vtk_raw": ("#E69F00", "VTK XML, uncompressed"), "vtk_zlib": ("#D55E00", "VTK XML, zlib")}
MODES = {"adaptive": ("#0072B2", "adaptive"), "rank-border": ("#E69F00", "rank borders"), "aug": ("#D55E00", "AUG")}


def set_of(run):
    """The common properties of runs that form one line: name, bytes per particle, deal, weak or
    strong."""
    kind = run["kind"]
    name = os.path.splitext(os.path.basename(kind[4:]))[0] if kind.startswith("npz:") else kind
    deal = "" if kind.startswith("npz:") else f", dealt by {run['deal']}"
    return f"{name}, {run['bytes_per_particle']} bytes a particle{deal}"


def grouped(runs):
    groups = {}
    for run in sorted(runs, key=lambda run: run["ranks"]):
        groups.setdefault(set_of(run), []).append(run)
    return groups


def bandwidths(run, what):
    """Name of a line -> GB/s."""
    found = {"raw": run["gb_per_s"]["raw_" + what], "bat": run["gb_per_s"]["bat_" + what]}
    if "gb_per_s" in run["direct"]:
        found["direct"] = run["direct"]["gb_per_s"]["bat_" + what]
    for name in ("vtk_raw", "vtk_zlib"):
        if "gb_per_s" in run["vtk"]:
            found[name] = run["vtk"]["gb_per_s"][f"{name}_{what}"]
    return found


def scaling(group):
    if len(group) > 1 and len({run["particles"] for run in group}) == 1:
        return f"{group[0]['particles'] / 1e6:.3g} million particles"
    per_rank = {round(run["particles"] / run["ranks"]) for run in group}
    return f"{per_rank.pop():,} particles per rank" if len(per_rank) == 1 else "particles differ"


def save(figure, path, handles=(), labels=()):
    """Adds one legend below all axes."""
    height = figure.get_size_inches()[1]
    if handles:
        figure.legend(handles, labels, loc="lower center", ncols=len(handles), frameon=False)
    figure.tight_layout(rect=(0, 0.35 / height if handles else 0, 1, 1))
    figure.savefig(path, dpi=120)


def plot_bandwidth(groups, path):
    figure, all_axes = plt.subplots(len(groups), 2, figsize=(10, 3.6 * len(groups)), squeeze=False)
    for row, (name, group) in zip(all_axes, groups.items()):
        ranks = [run["ranks"] for run in group]
        for axes, what in zip(row, ("write", "read")):
            for line, (colour, label) in LINES.items():
                points = [(run["ranks"], bandwidths(run, what)[line]) for run in group if line in bandwidths(run, what)]
                if points:
                    axes.plot(*zip(*points), marker="o", color=colour, label=label)
            axes.set_xscale("log", base=2)
            axes.set_yscale("log")
            axes.xaxis.set_major_locator(FixedLocator(sorted(set(ranks))))
            axes.xaxis.set_major_formatter(ScalarFormatter())
            axes.xaxis.set_minor_locator(NullLocator())
            axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axes.yaxis.set_major_formatter("{x:g}")
            axes.yaxis.set_minor_locator(NullLocator())
            axes.set_xlabel("ranks")
            axes.set_ylabel(f"{what}, GB/s (geometric mean)")
            axes.grid(True, which="major", color="#dddddd")
        row[0].set_title(f"{name}; {scaling(group)}", loc="left", fontsize="medium")
    handles = {label: handle for axes in all_axes.flat for handle, label in zip(*axes.get_legend_handles_labels())}
    save(figure, path, handles.values(), handles.keys())


def plot_phases(groups, path):
    figure, all_axes = plt.subplots(1, len(groups), figsize=(max(5.5, 4.5 * len(groups)), 4.2), squeeze=False)
    for axes, (name, group) in zip(all_axes.flat, groups.items()):
        labels = [str(run["ranks"]) for run in group]
        below = [0.0] * len(group)
        for phase, colour in zip(PHASES, PHASE_COLOURS):
            seconds = [run["phases"][phase] for run in group]
            axes.bar(labels, seconds, bottom=below, color=colour, label=phase, width=0.6)
            below = [a + b for a, b in zip(below, seconds)]
        for place, run in enumerate(group):
            raw = run["seconds"]["raw_write"]
            axes.plot([place - 0.4, place + 0.4], [raw, raw], color="black", linewidth=2,
                      label="raw files" if place == 0 else None)
        axes.set_xlabel("ranks")
        axes.set_ylabel("seconds of the slowest rank (median)")
        axes.set_title(f"{name}\n{scaling(group)}", loc="left", fontsize="medium")
    handles, labels = all_axes[0, 0].get_legend_handles_labels()
    save(figure, path, handles, labels)


def sizes_of_plans(plans):
    """Title -> mode -> MB of each leaf file."""
    found = {}
    for plan in plans:
        title = (f"{plan['kind']}, {plan['ranks']} ranks, {plan['particles'] / 1e6:.3g} million particles, "
                 f"target {plan['target_bytes'] / 1e6:.3g} MB")
        found.setdefault(title, {})[plan["mode"]] = [size / 1e6 for size in plan["sizes"]]
    return found


def sizes_of_runs(runs):
    found = {}
    for run in runs:
        for variant in run["variants"]:
            target = variant["target_size_mib"]
            title = f"{set_of(run)}, {run['ranks']} ranks, target {target if target == 'auto' else f'{target:g} MiB'}"
            found.setdefault(title, {})[variant["mode"]] = [size / 1e6 for size in variant["leaf_file_bytes"]]
    return {title: modes for title, modes in found.items() if len(modes) > 1}


def plot_sizes(found, path):
    figure, all_axes = plt.subplots(len(found), 1, figsize=(8, 0.9 + 2.3 * len(found)), squeeze=False)
    for axes, (title, modes) in zip(all_axes.flat, found.items()):
        names = [mode for mode in MODES if mode in modes]
        for place, mode in enumerate(names):
            sizes = modes[mode]
            colour = MODES[mode][0]
            mean = statistics.fmean(sizes)
            # Spread over a strip by rank of size, so that equal files do not hide each other.
            heights = [place + 0.5 * ((i * 0.618) % 1 - 0.5) for i in range(len(sizes))]
            axes.scatter(sizes, heights, s=9, color=colour, alpha=0.6, linewidths=0)
            axes.plot([mean, mean], [place - 0.35, place + 0.35], color="black", linewidth=1.5)
            axes.annotate(f"{len(sizes)} files, largest {max(sizes) / mean:.2f} x mean", (0.99, place - 0.42),
                          xycoords=("axes fraction", "data"), ha="right", va="center", fontsize="small")
        axes.set_yticks(range(len(names)), [MODES[mode][1] for mode in names])
        axes.set_ylim(len(names) - 0.4, -0.65)
        axes.set_xlim(left=0)
        axes.set_title(title, loc="left", fontsize="medium")
        axes.set_xlabel("MB of a leaf file; the line is the mean")
        axes.grid(True, axis="x", color="#dddddd")
        axes.set_axisbelow(True)
    save(figure, path)


def number(value):
    return "-" if value is None else f"{value:.2f}"


def table(groups):
    """Markdown."""
    lines = []
    for name, group in groups.items():
        lines += [f"**{name}; {scaling(group)}**, {min(run['repeat'] for run in group)} pairs or more", "",
                  "| ranks | write / raw | write / raw, not flushed | from arrays / raw "
                  "| write / VTK raw | write / VTK zlib "
                  "| read / raw | from file to arrays / raw | read / VTK raw | read / VTK zlib "
                  "| raw, BAT write s | raw, BAT read s | exchange, build, write, commit s | leaf files |",
                  "|--:|" + "--:|" * 13]
        for run in group:
            seconds, phases = run["seconds"], run["phases"]
            lines.append("| " + " | ".join([
                str(run["ranks"]), number(run["write_over_raw"]), number(run["write_over_raw_unflushed"]),
                number(run["direct"].get("write_over_raw")), number(run["write_over_vtk_raw"]),
                number(run["write_over_vtk_zlib"]), number(run["read_over_raw"]),
                number(run["direct"].get("read_over_raw")), number(run["read_over_vtk_raw"]),
                number(run["read_over_vtk_zlib"]), f"{seconds['raw_write']:.3f}, {seconds['bat_write']:.3f}",
                f"{seconds['raw_read']:.3f}, {seconds['bat_read']:.3f}",
                ", ".join(f"{phases[phase]:.3f}" for phase in ("exchange", "build", "write", "commit")),
                str(run["variants"][0]["leaf_files"])]) + " |")
        lines.append("")
    for title, modes in sizes_of_runs([run for group in groups.values() for run in group]).items():
        for mode, sizes in modes.items():
            lines.append(f"- {title}, {MODES[mode][1]}: {len(sizes)} files, mean {statistics.fmean(sizes):.2f} MB, "
                         f"largest {max(sizes) / statistics.fmean(sizes):.3f} x mean")
    return "\n".join(lines) + "\n"


def load(names, key):
    found = []
    for name in names:
        try:
            with open(name, encoding="utf-8") as file:
                found.append(json.load(file))
        except (OSError, ValueError) as error:
            sys.exit(f"error: {name}: {error}")
        if key not in found[-1]:
            sys.exit(f"error: {name}: has no '{key}'; is it of the right program?")
    return found


def main():
    parser = argparse.ArgumentParser(description="Pictures and a table from JSON of parallel_bench.py and bat_plan.")
    parser.add_argument("runs", metavar="RUN.json", nargs="+", help="of parallel_bench.py")
    parser.add_argument("--plans", metavar="PLAN.json", nargs="+", default=[], help="of bat_plan --sizes")
    parser.add_argument("--folder", default=".", help="for the pictures and the table (default: this one)")
    options = parser.parse_args()
    groups = grouped(load(options.runs, "variants"))
    plot_bandwidth(groups, os.path.join(options.folder, "bandwidth.png"))
    plot_phases(groups, os.path.join(options.folder, "phases.png"))
    sizes = sizes_of_plans(load(options.plans, "sizes")) or sizes_of_runs(load(options.runs, "variants"))
    if sizes:
        plot_sizes(sizes, os.path.join(options.folder, "sizes.png"))
    with open(os.path.join(options.folder, "table.md"), "w", encoding="utf-8") as file:
        file.write(table(groups))


if __name__ == "__main__":
    main()
