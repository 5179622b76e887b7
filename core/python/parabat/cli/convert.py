# SPDX-License-Identifier: BSD-3-Clause
"""Converts files of other formats to .bat, grids to .idx, and velocities on grids to .bricks.series.

Exit codes: 0 all was converted; 3 something was not, which one line on stderr says; 2 what was asked
cannot be; 130 interrupted, also by SIGTERM.
"""

import argparse
import contextlib
import json
import re
import sys

from .._text import printable
from ..convert import ConvertError, convert, formats, option_types
from ..convert.model import Interrupted
from ..convert.run import leads, print_news
from ..convert.running import REPORT
from ._common import INTERRUPTED, TROUBLE, USAGE, YES, progress
from ._temporary import interruptible

_OF_ARGUMENT = re.compile(r"(^|: )argument --")  # as argparse begins, also behind the name of a file
_BRICKS = (".bricks", ".bricks.series")
KINDS = {".bat": "particles", ".idx": "grids", ".bricks": "velocities on a grid", ".bricks.series": "velocities on grids"}
# Options that not every kind of output has: what holds if nobody sets them, and for which they are.
OPTIONS = {
    **{name: (None, (".bat",)) for name in ("species", "columns", "delimiter", "topology")},
    "sorted_index": ([], (".bat",)), "stable_samples": ([], (".bat",)), "jobs": (1, (".bat",)), "memory": (0, (".bat",)),
    "amrex_ids": ("unpack", (".bat",)), "follow_links": (False, tuple(KINDS)),
    **{name: (None, (".bat", ".idx", *_BRICKS)) for name in ("format", "arrays", "mapping")},
    "target_size": (0, (".bat", ".idx")),
    "codec": ("raw", (".idx",)), "layout": ("row_major", (".idx",)), "dialect": ("openvisus", (".idx",)),
    **{name: (standard, (".idx", *_BRICKS)) for name, standard in (
        ("dimensions", None), ("type", None), ("byte_order", "little"), ("skip", 0), ("origin", None), ("spacing", None))},
    "fill": (None, (".idx", *_BRICKS)), "group": (None, (".idx", *_BRICKS)), "stored": (False, (".idx",)),
    **{name: (None, _BRICKS) for name in ("times", "cyclic", "time_unit", "velocity_unit", "coordinate_unit", "vertical")},
    "ignore_units": (False, _BRICKS), "replace": (False, _BRICKS)}


class _List(argparse.Action):
    """Shows the formats instead of a conversion."""

    def __call__(self, parser, namespace, values, option_string=None):
        if values not in (None, "json"):
            parser.error(f"argument --list: '{values}'; allowed is json")
        _list_formats(values == "json")
        parser.exit(0)


def add_arguments(parser):
    parser.add_argument("inputs", metavar="IN", nargs="+",
                        help="file to convert; several files, or a quoted pattern, are a time series")
    parser.add_argument("output", metavar="OUT",
                        help="NAME.bat, the file to write; of a time series NAME_0000.bat, NAME_0001.bat ... and "
                             "NAME.bat.series, of species NAME_SPECIES.bat. NAME.idx for grids, with all steps; "
                             "NAME.bricks.series for velocities on grids, NAME.bricks for one step of them")
    parser.add_argument("--list", metavar="json", nargs="?", action=_List,
                        help="show the formats, what they need and what is installed, as text or JSON")
    parser.add_argument("--format", metavar="NAME", help="format of the inputs; the default is found out. A FILE.py "
                        "with a FORMAT of your own is one too")
    parser.add_argument("--steps", metavar="A:B:C", type=option_types.steps, default=slice(None),
                        help="steps from A to before B, every C-th, counted from 0, as in Python; or one number")
    parser.add_argument("--arrays", metavar="NAME,...", type=option_types.names, help="write only these attributes")
    parser.add_argument("--species", metavar="NAME,...", type=option_types.names, help="write only these species")
    parser.add_argument("--columns", metavar="X,Y,Z", type=option_types.columns,
                        help="columns or arrays that are the positions; Z may be none; or one array of three components")
    parser.add_argument("--delimiter", metavar="C", type=option_types.delimiter,
                        help="character between the columns of a table, also comma, tab, semicolon, space")
    parser.add_argument("--map", metavar="NAME=PATH,...", action="append", type=option_types.mapping, dest="mapping",
                        help="an attribute, or `positions`, and the arrays of an HDF5 file that it is, with * for the "
                             "numbers of steps; once for each")
    parser.add_argument("--amrex-ids", choices=("unpack", "keep"), default="unpack",
                        help="ids of AMReX, which are packed: write id and cpu, or keep the packed number, idcpu (default: "
                             "%(default)s)")
    grids = parser.add_argument_group("of grids (OUT ends in .idx)")
    grids.add_argument("--codec", choices=("raw", "zip", "lz4"), default="raw", help="how blocks are packed (default: %(default)s)")
    grids.add_argument("--layout", choices=("row_major", "hz"), default="row_major",
                       help="order of samples in a block (default: %(default)s)")
    grids.add_argument("--dialect", choices=("openvisus", "pidx"), default="openvisus",
                       help="whom the files are for; pidx also for VisIt (default: %(default)s)")
    grids.add_argument("--dimensions", metavar="NX,NY,NZ", type=option_types.dimensions, help="of bare numbers (raw)")
    grids.add_argument("--type", metavar="TYPE", type=option_types.type_of_numbers,
                       help="of bare numbers: uint8, float32[3] ...")
    grids.add_argument("--byte-order", choices=("little", "big"), default="little", help="of bare numbers (default: %(default)s)")
    grids.add_argument("--skip", metavar="BYTES", type=option_types.whole, default=0, help="before bare numbers")
    grids.add_argument("--origin", metavar="X,Y,Z", type=option_types.three_numbers, help="where the first sample lies")
    grids.add_argument("--spacing", metavar="X,Y,Z", type=option_types.three_numbers, help="distances of samples")
    grids.add_argument("--fill", metavar="NUMBER,...", type=option_types.numbers,
                       help="numbers that stand for none and become NaN; those that netCDF tells of do by themselves")
    grids.add_argument("--group", metavar="NAME", help="group of a netCDF file that has the variables")
    grids.add_argument("--stored", action="store_true",
                       help="write the numbers that a netCDF or HDF5 file stores, packed ones too, not those that they mean")
    velocities = parser.add_argument_group("of velocities (OUT ends in .bricks or .bricks.series), with those of "
                                            "grids that tell of inputs")
    velocities.add_argument("--times", metavar="T,...", type=option_types.numbers,
                            help="times of the steps (default: those of the inputs, or 0, 1, 2, ...)")
    velocities.add_argument("--cyclic", metavar="AXES", type=option_types.axes,
                            help="axes, such as xy, along which the flow repeats after the last cell; none for none (default: "
                                 "longitudes that go round the globe)")
    velocities.add_argument("--time-unit", metavar="UNIT", help="of the times of a netCDF file, e.g. days (default: as it says)")
    velocities.add_argument("--velocity-unit", metavar="UNIT", help="of its velocities, e.g. 'm s-1'")
    velocities.add_argument("--coordinate-unit", metavar="UNIT", help="of its coordinates, e.g. m")
    velocities.add_argument("--vertical", choices=("up", "down"), help="where its vertical velocity is positive")
    velocities.add_argument("--ignore-units", action="store_true", help="take all its numbers as they are")
    velocities.add_argument("--replace", action="store_true", help="write over a series that is there")
    parser.add_argument("--follow-links", action="store_true",
                        help="of HDF5: read what links, external storage and virtual data sets have in other files, too, which is said "
                             "by name; without it, only what is in the file")
    parser.add_argument("--topology", metavar="FILE", help="what names the atoms of a trajectory")
    parser.add_argument("--sorted-index", metavar="NAME,...", type=option_types.names, default=[],
                        help="attributes to be looked up by value, e.g. id; each takes 12 bytes per particle")
    parser.add_argument("--stable-samples", metavar="NAME,...", type=option_types.names, default=[],
                        help="attributes of integers, e.g. id, by which all steps show the same particles at qualities such as 0.1")
    parser.add_argument("--target-size", metavar="MIB", type=option_types.size, default=0,
                        help="size of a leaf file, or of a file of a grid, to aim at, in MiB; auto (default) chooses it")
    parser.add_argument("--memory", metavar="SIZE", type=option_types.memory, default=0,
                        help="most memory of a process, e.g. 2G; a step of particles that needs more is converted in parts, "
                             "if its format can be read so. auto (default): half of what is free")
    parser.add_argument("--jobs", metavar="N", type=option_types.jobs, default=1,
                        help="processes that convert steps at the same time (default: 1, with all processors)")
    parser.add_argument("--flush", action="store_true", help="wait until each dataset is on the disk")
    parser.add_argument("--quiet", action="store_true", help="print errors only, and draw no bar")
    parser.add_argument("--json", action="store_true", help="print a line of JSON for each dataset")


def _settings(arguments, kind):
    if kind.startswith(".bricks"):
        return {"times": arguments.times, "cyclic": arguments.cyclic, "flush": arguments.flush, "replace": arguments.replace}
    size = max(1, int(arguments.target_size * (1 << 20))) if arguments.target_size else 0  # which chooses one
    if kind == ".bat":
        return {"sorted_indexes": arguments.sorted_index, "stable_samples": arguments.stable_samples,
                "flush": arguments.flush, "target_bytes": size}
    return {"codec": arguments.codec, "layout": arguments.layout, "dialect": arguments.dialect, "flush": arguments.flush,
            **({"file_bytes": size} if size else {})}


def run(arguments):
    kind = next((end for end in KINDS if arguments.output.endswith(end)), None)
    if kind is None:
        return _fail("the last argument is the file to write and must end in .bat, or of grids in .idx, or of velocities in "
                     f".bricks or .bricks.series; it is {arguments.output}", USAGE)
    for name, (standard, kinds) in OPTIONS.items():
        if kind not in kinds and getattr(arguments, name) != standard:
            option = "map" if name == "mapping" else name.replace("_", "-")
            return _fail(f"argument --{option}: is of {' and '.join(f'{KINDS[each]}, {each}' for each in kinds)}; the file to "
                         f"write is {arguments.output}", USAGE)
    mapping = dict(arguments.mapping) if arguments.mapping else None
    if mapping and len(mapping) != len(arguments.mapping):
        return _fail("argument --map: a name occurs twice", USAGE)
    try:
        with interruptible(), _shown(arguments) as show:
            convert(arguments.inputs, arguments.output, format=arguments.format, steps=arguments.steps,
                    jobs=arguments.jobs, show=show, apart=True, memory_bytes=arguments.memory, arrays=arguments.arrays,
                    species=arguments.species, columns=arguments.columns, delimiter=arguments.delimiter, mapping=mapping,
                    topology=arguments.topology, follow_links=arguments.follow_links, **{name: getattr(arguments, name) for name in (
                        "amrex_ids", "dimensions", "type", "byte_order", "skip", "origin", "spacing", "fill", "group", "stored", "time_unit",
                        "velocity_unit", "coordinate_unit", "vertical", "ignore_units")},
                    settings=_settings(arguments, kind))
    except Interrupted as error:
        return _fail(str(error), INTERRUPTED)
    except (ConvertError, ImportError) as error:
        return _fail(str(error), USAGE if _OF_ARGUMENT.search(str(error)) else TROUBLE)
    return YES


@contextlib.contextmanager
def _shown(arguments):
    """A function for `show`; a bar where stderr is a terminal."""
    with contextlib.ExitStack() as stack:
        bar = None if arguments.quiet or not leads() else stack.enter_context(progress("converting"))

        def show(news):
            if "share" in news:
                if bar:
                    bar(news["share"], news["what"])
                return
            if bar:
                bar.clear()
            try:
                if arguments.json and "done" in news:
                    print(json.dumps(news), flush=True)
                elif not arguments.quiet:
                    print_news(news)
            except OSError as error:
                raise ConvertError(f"standard output: cannot be written: {error.strerror}") from None
        yield show


def _fail(text, code):
    if code == USAGE or leads():
        lines = text.split("\n") if text.startswith(REPORT) else [text]
        print(f"error: {chr(10).join(map(printable, lines))}", file=sys.stderr, flush=True)
    return code


def _list_formats(as_json):
    for kind, row in [*(("particles", row) for row in formats()), *(("grids", row) for row in formats(grids=True))]:
        missing = row.missing()
        if as_json:
            print(json.dumps({"format": row.name, "of": kind, "about": row.about, "extensions": row.extensions,
                              "options": row.options, "missing": [module for module, _, _ in missing],
                              "extra": next((extra for _, _, extra in row.modules if extra), None)}))
            continue
        needs = " ".join(dict.fromkeys(f"'parabat[{extra}]'" if extra else package for _, package, extra in row.modules))
        state = f"needs pip install {needs}" if missing else "ready, by " + ", ".join(
            f"{module} ({needs})" for module, _, _ in row.modules) if row.modules else "ready"
        about = row.about if kind == "particles" else f"grids: {row.about}"
        print(f"{row.name:8} {about}: {' '.join(row.extensions) or 'known by content'}\n{'':8} {state}")
