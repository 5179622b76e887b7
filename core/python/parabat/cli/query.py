# SPDX-License-Identifier: BSD-3-Clause
"""parabat query FILE: prints the number of matching particles, their ranges, and the first of
them."""

import numpy as np

from .._text import printable
from ..export import columns
from ._common import add_json, add_query_arguments, parse_attributes, count, open_one, print_json, progress, query_of, show


def add_arguments(parser):
    """Adds the arguments of `query`."""
    parser.add_argument("file", metavar="FILE", help=".bat, .pbat or .bat.series")
    add_query_arguments(parser)
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--rows", type=count, default=10, metavar="N", help="number of rows (default 10)")
    shown.add_argument("--count", action="store_true", help="print only the count")
    add_json(parser)


def _range(values):
    """Returns the minimum and maximum of the values that are not NaN, or None."""
    values = values[values == values]
    return (values.min().item(), values.max().item()) if values.size else None


def run(arguments):
    """Returns the exit code."""
    with open_one(arguments.file, arguments.step, "query") as dataset, progress("reading") as on_progress:
        query = query_of(arguments, dataset)
        requested = [] if arguments.count else parse_attributes(arguments, dataset)
        particles = dataset.read(requested, progress=on_progress, **query)
        total = len(dataset)
    if arguments.count:
        if arguments.json:
            print_json({"file": arguments.file, "matching": particles.count, "particles": total})
        else:
            show(particles.count)
        return 0
    found = columns(particles)
    ranges = {name: _range(values) for name, values in found.items()}
    rows = {name: values[:arguments.rows] for name, values in found.items()}
    if arguments.json:
        print_json({"file": arguments.file, "matching": particles.count, "particles": total,
                    "quality": query["quality"], "ranges": ranges, "rows": rows})
        return 0
    show(f"{particles.count:,} of {total:,} particles match" + (
        f", at quality {query['quality']:.6g}" if query["quality"] != 1 else ""))
    width = max(len(printable(name)) for name in found)
    for name, ends in ranges.items():
        show(f"  {printable(name):{width}}  " + (f"{_text(ends[0])} to {_text(ends[1])}" if ends else "no values"))
    table = [[printable(name)] + [_text(value) for value in values.tolist()] for name, values in rows.items()]
    widths = [max(map(len, column)) for column in table]
    for row in zip(*table) if particles.count and arguments.rows else ():
        show("  ".join(f"{cell:>{width}}" for cell, width in zip(row, widths)))
    return 0


def _text(value):
    return f"{value:.7g}" if isinstance(value, (float, np.floating)) else str(value)
