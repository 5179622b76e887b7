# SPDX-License-Identifier: BSD-3-Clause
"""The Markdown table of compare.py."""

import os


def name_of(one):
    kind = one["kind"]
    return os.path.splitext(os.path.basename(kind[4:]))[0] if kind.startswith("npz:") else kind


def number(value):
    """Three significant digits, no exponent."""
    if value == 0 or value is None:
        return "0" if value == 0 else "-"
    if abs(value) >= 100:
        return f"{value:,.0f}" if abs(value) < 1000 else f"{float(f'{value:.3g}'):,.0f}"
    return f"{value:.3g}"


def about(one):
    """The number and size of the particles, and the number of ranks."""
    size = f" of {one['bytes_per_particle']} bytes" if "bytes_per_particle" in one else ""
    ranks = f" on {one['ranks']} rank{'s' * (one['ranks'] != 1)}" if "ranks" in one else ""
    return f"{one['particles']:,} particles{size}{ranks}"


def own_table(one):
    lines = ["| | | BAT | reference | BAT / reference | target | met |", "|---|---|--:|--:|--:|---|---|"]
    for row in one["rows"].values():
        musts = []
        if row["must"] is not None:
            musts.append(f"{'at least' if row['higher_is_better'] else 'at most'} {number(row['must'])}")
        if row["must_ratio"] is not None:
            musts.append(f"{'at least' if row['higher_is_better'] else 'at most'} {row['must_ratio']:g} x "
                         f"{row['reference_name']}")
        reference = f"{number(row['reference']['median'])} ({row['reference_name']})" if row["reference"] else ""
        ratio = "" if row["ratio"] is None else (f"{number(row['ratio']['median'])} "
                                                 f"[{number(row['ratio']['min'])}, {number(row['ratio']['max'])}]")
        reached = {None: "", True: "yes", False: "**no**"}[row["reached"]]
        lines.append(f"| {row['title']} | {row['unit']} | {number(row['ours']['median'])} | {reference} | {ratio} | "
                     f"{', '.join(musts)} | {reached} |")
    return lines


def cell(operations, operation, factor):
    if operation not in operations:
        return ""
    of = operations[operation]
    # A system that uses several threads although one is requested.
    threads = " (!)" if of["cpu_seconds"]["median"] > 1.3 * of["seconds"]["median"] else ""
    return f"{number(factor * of['seconds']['median'])} ({number(of['over_bat']['median'])}){threads}"


def system_table(one):
    data = one["particles"] * one["bytes_per_particle"]
    lines = ["| ms (ratio to BAT) | version | write | flush | file / data | read | box, 1 % | correlated | uncorrelated "
             "| 101 ids | range of 101 ids |", "|---|---|" + "--:|" * 9]
    for system in one["systems"].values():
        if "missing" in system:
            lines.append(f"| {system['label']} | missing: {system['missing']} |" + " |" * 9)
            continue
        found = system["operations"]
        version = ", ".join(f"{name} {value}" for name, value in system["versions"].items() if name != "numpy")
        write = found.get("write")
        cells = [cell(found, name, 1000) for name in ("read", "box", "correlated", "uncorrelated", "ids", "id_range")]
        lines.append(f"| {system['label']} | {version} | {cell(found, 'write', 1000)} | "
                     + (f"{number(1000 * write['flush_seconds']['median'])} | {write['bytes'] / data:.3f}" if write else " | ")
                     + f" | {' | '.join(cells)} |")
    return lines


def table(sets):
    lines = []
    for one in sets:
        lines += [f"**{name_of(one)}**, {about(one)}", "", *own_table(one), ""]
        lines += [*system_table(one), ""] if one["systems"] else []
    return "\n".join(lines)
