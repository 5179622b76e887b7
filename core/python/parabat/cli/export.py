# SPDX-License-Identifier: BSD-3-Clause
"""parabat export FILE OUT: particles, or samples of a grid, as a file of another kind, which the ending of OUT, or --format,
says."""

import os

from .. import idx
from ..errors import refuse
from ..exporting import ENDINGS, FORMATS, Source
from . import _grids
from ._common import (
    add_json, add_query_arguments, parse_attributes, count, open_one, print_json, progress, query_of, say, show)
from ._temporary import replacing


def add_arguments(parser):
    """Adds the arguments of `export`."""
    parser.add_argument("file", metavar="FILE", help=".bat, .pbat, .bat.series or .idx")
    parser.add_argument("out", metavar="OUT", help=f"ends in {', '.join(ENDINGS)}; of a grid (.idx) in "
                        f"{', '.join(_grids.FORMATS)}")
    parser.add_argument("--format", metavar="NAME", help="format of OUT, if its ending does not say it: " + ", ".join(
        f"{name} ({', '.join(endings)})" for name, (endings, _) in FORMATS.items()))
    parser.add_argument("--level", type=count, metavar="N", help="for a grid: resolution level, where 0 is one sample (default: the finest; with "
                                                                 "--budget the finest with at most N samples)")
    add_query_arguments(parser, grids=True)
    add_json(parser)


def _writer(arguments):
    """The function that writes OUT."""
    if arguments.format is not None:
        if arguments.format not in FORMATS:
            refuse(f"--format: '{arguments.format}'; allowed: {', '.join(FORMATS)}")
        return FORMATS[arguments.format][1]
    ending = os.path.splitext(arguments.out)[1]
    if ending.lower() not in ENDINGS:
        refuse(f"{arguments.out} ends in '{ending}'; allowed: {', '.join(ENDINGS)}, or any with --format")
    return FORMATS[ENDINGS[ending.lower()]][1]


def run(arguments):
    """The exit code."""
    if idx.can_open(arguments.file):
        if arguments.format is not None:
            refuse(f"--format: {arguments.file} is a structured grid")
        return _grids.export(arguments)
    if arguments.level is not None:
        refuse(f"--level: {arguments.file} is not a structured grid")
    write = _writer(arguments)
    with open_one(arguments.file, arguments.step, "export") as dataset, progress("reading") as on_progress:
        query = query_of(arguments, dataset)
        particles = dataset.read(parse_attributes(arguments, dataset), progress=on_progress, **query)
        source = Source(particles, dataset.metadata, arguments.out)
    with replacing(arguments.out) as path:
        write(source, path)
    for note in source.notes:
        say(f"{arguments.out}: {note}")
    if arguments.json:
        print_json({"file": arguments.file, "out": arguments.out, "particles": particles.count, "quality": query["quality"],
                    "notes": source.notes})
    else:
        show(f"{arguments.out}: {particles.count:,} particles")
    return 0
