# SPDX-License-Identifier: BSD-3-Clause
"""Converts files of other formats to .bat, grids to .idx, and gridded velocities to .bricks.series.

Exit codes: 0, everything was converted; 3, something was not, as one line on stderr explains; 2,
invalid arguments; 130, interrupted, also by SIGTERM.
"""

import argparse
import contextlib
import json
import re
import sys

from .._text import printable
from ..convert import ConvertError, convert, formats, option_types
from ..convert.model import Interrupted
from ..convert.order import ON_REPEAT
from ..convert.run import leads, print_news
from ..convert.running import REPORT
from ._common import INTERRUPTED, TROUBLE, USAGE, YES, progress
from ._temporary import interruptible

_OF_ARGUMENT = re.compile(r"(^|: )argument --")  # how argparse begins, also after a file name
_BRICKS = (".bricks", ".bricks.series")
KINDS = {".bat": "particles", ".idx": "grids", ".bricks": "velocity fields", ".bricks.series": "velocity fields"}
# Options that only some kinds of output have: their defaults, and the kinds that have them.
OPTIONS = {
    **{name: (None, (".bat",)) for name in ("species", "columns", "delimiter", "topology", "time_column", "decimal")},
    "sorted_index": ([], (".bat",)), "stable_samples": ([], (".bat",)), "jobs": (1, (".bat",)), "memory": (0, (".bat",)),
    "amrex_ids": ("unpack", (".bat",)), "part": (False, (".bat",)), "on_repeat": ("keep-last", (".bat",)), "follow_links": (False, tuple(KINDS)),
    **{name: (None, (".bat", ".idx", *_BRICKS)) for name in ("format", "arrays", "mapping")},
    "target_size": (0, (".bat", ".idx")),
    "codec": ("raw", (".idx",)), "layout": ("row_major", (".idx",)), "dialect": ("openvisus", (".idx",)),
    **{name: (standard, (".idx", *_BRICKS)) for name, standard in (
        ("dimensions", None), ("type", None), ("byte_order", "little"), ("skip", 0), ("origin", None), ("spacing", None))},
    "fill": (None, (".idx", *_BRICKS)), "group": (None, (".idx", *_BRICKS)), "stored": (False, (".idx",)),
    **{name: (None, _BRICKS) for name in ("times", "cyclic", "time_unit", "velocity_unit", "coordinate_unit", "vertical")},
    "ignore_units": (False, _BRICKS), "replace": (False, _BRICKS)}


class _List(argparse.Action):
    """Prints the formats instead of converting."""

    def __call__(self, parser, namespace, values, option_string=None):
        if values not in (None, "json"):
            parser.error(f"argument --list: '{values}'; allowed is json")
        _list_formats(values == "json")
        parser.exit(0)


def add_arguments(parser):
    parser.add_argument("inputs", metavar="IN", nargs="+",
                        help="file to convert; several files, or a quoted pattern, form a time series")
    parser.add_argument("output", metavar="OUT",
                        help="NAME.bat, the file to write; for a time series NAME_0000.bat, NAME_0001.bat ... and NAME.bat.series, for species "
                             "NAME_SPECIES.bat. NAME.idx for grids, with all steps; NAME.bricks.series for velocity fields, NAME.bricks for a single "
                             "step")
    parser.add_argument("--list", metavar="json", nargs="?", action=_List,
                        help="list the formats, their requirements and what is installed, as text or JSON")
    parser.add_argument("--format", metavar="NAME", help="format of the inputs (default: detected). A FILE.py that defines a FORMAT is also accepted")
    parser.add_argument("--steps", metavar="A:B:C", type=option_types.steps, default=slice(None),
                        help="steps from A to before B, every C-th, counted from 0 as in Python; or a single number")
    parser.add_argument("--arrays", metavar="NAME,...", type=option_types.names, help="write only these attributes")
    parser.add_argument("--species", metavar="NAME,...", type=option_types.names, help="write only these species")
    parser.add_argument("--columns", metavar="X,Y,Z", type=option_types.columns,
                        help="columns or arrays with the positions; Z may be none; or one array with three components")
    parser.add_argument("--delimiter", metavar="C", type=option_types.delimiter,
                        help="character between the columns of a table, or comma, tab, semicolon, space (default: detected)")
    parser.add_argument("--decimal", metavar="C", type=option_types.decimal,
                        help="decimal separator of a table, comma or point (default: detected)")
    parser.add_argument("--time-column", metavar="NAME",
                        help="column of a table with the time of each row: its rows become one step per time; none keeps such a column as an "
                             "attribute (default: detected by name)")
    parser.add_argument("--part", action="store_true",
                        help="convert a single file of a snapshot that consists of several, without the others")
    parser.add_argument("--on-repeat", choices=ON_REPEAT, default="keep-last",
                        help="what to do with steps that have the same time, or the same number where there are no times (default: %(default)s)")
    parser.add_argument("--map", metavar="NAME=PATH,...", action="append", type=option_types.mapping, dest="mapping",
                        help="map an attribute, or `positions`, to arrays of an HDF5 file, with * in place of step numbers; repeat for each")
    parser.add_argument("--amrex-ids", choices=("unpack", "keep"), default="unpack",
                        help="packed AMReX ids: write id and cpu, or keep the packed idcpu (default: %(default)s)")
    grids = parser.add_argument_group("grids (OUT ends in .idx)")
    grids.add_argument("--codec", choices=("raw", "zip", "lz4"), default="raw", help="compression of blocks (default: %(default)s)")
    grids.add_argument("--layout", choices=("row_major", "hz"), default="row_major",
                       help="order of samples in a block (default: %(default)s)")
    grids.add_argument("--dialect", choices=("openvisus", "pidx"), default="openvisus",
                       help="program that reads the files; pidx also covers VisIt (default: %(default)s)")
    grids.add_argument("--dimensions", metavar="NX,NY,NZ", type=option_types.dimensions, help="raw binary data")
    grids.add_argument("--type", metavar="TYPE", type=option_types.find_number_type,
                       help="type of raw data: uint8, float32[3] ...")
    grids.add_argument("--byte-order", choices=("little", "big"), default="little", help="byte order of raw data (default: %(default)s)")
    grids.add_argument("--skip", metavar="BYTES", type=option_types.whole, default=0, help="number of bytes to skip at the start of raw data")
    grids.add_argument("--origin", metavar="X,Y,Z", type=option_types.three_numbers, help="position of the first sample")
    grids.add_argument("--spacing", metavar="X,Y,Z", type=option_types.three_numbers, help="distances between samples")
    grids.add_argument("--fill", metavar="NUMBER,...", type=option_types.numbers,
                       help="numbers to treat as missing and replace by NaN; missing values declared in netCDF files are replaced automatically")
    grids.add_argument("--group", metavar="NAME", help="group of a netCDF file that contains the variables")
    grids.add_argument("--stored", action="store_true",
                       help="write the numbers stored in a netCDF or HDF5 file, without unpacking them")
    velocities = parser.add_argument_group("velocity fields (OUT ends in .bricks or .bricks.series), in addition to the grid options for inputs")
    velocities.add_argument("--times", metavar="T,...", type=option_types.numbers,
                            help="times of the steps (default: those of the inputs, or 0, 1, 2, ...)")
    velocities.add_argument("--cyclic", metavar="AXES", type=option_types.axes,
                            help="periodic axes, such as xy, along which the flow repeats after the last cell, or none (default: longitudes that span "
                                 "the globe)")
    velocities.add_argument("--time-unit", metavar="UNIT", help="unit of the times in IN, for example days; replaces the one declared in a "
                                                                 "netCDF file (default: as declared)")
    velocities.add_argument("--velocity-unit", metavar="UNIT", help="unit of the velocities in IN, for example 'm s-1'; replaces the one "
                                                                     "declared in a netCDF file (default: as declared)")
    velocities.add_argument("--coordinate-unit", metavar="UNIT", help="unit of the coordinates in IN, for example m; replaces the one declared "
                                                                       "in a netCDF file (default: as declared)")
    velocities.add_argument("--vertical", choices=("up", "down"), help="direction in which the vertical velocity is positive")
    velocities.add_argument("--ignore-units", action="store_true", help="for .bricks output only: use all numbers unchanged, without converting between units")
    velocities.add_argument("--replace", action="store_true", help="replace an existing series")
    parser.add_argument("--follow-links", action="store_true",
                        help="read linked files, external storage and virtual datasets of HDF5 inputs in other files, too, reporting each by name; by "
                             "default, only the file itself is read")
    parser.add_argument("--topology", metavar="TOPOLOGY",
                        help="topology file (.psf, .pdb, .tpr ...) with the names, types, masses and charges of the atoms of a trajectory")
    parser.add_argument("--sorted-index", metavar="NAME,...", type=option_types.names, default=[],
                        help="attributes to index for queries by value, for example id; each index takes 12 bytes per particle")
    parser.add_argument("--stable-samples", metavar="NAME,...", type=option_types.names, default=[],
                        help="integer attributes, for example id, that make qualities such as 0.1 show the same particles in all steps")
    parser.add_argument("--target-size", metavar="SIZE", type=option_types.size, default=0,
                        help="target size of a leaf file, or of a file of a grid, for example 8M; a plain number is in MiB. auto (default) chooses it")
    parser.add_argument("--memory", metavar="SIZE", type=option_types.size, default=0,
                        help="memory limit per process, for example 2G; a plain number is in MiB. Particle steps that need more are converted in parts if their format can be "
                             "read that way. auto (default): half of the free memory")
    parser.add_argument("--jobs", metavar="N", type=option_types.jobs, default=1,
                        help="number of processes, 1 to 4096, that convert particle steps concurrently, sharing the processors; 0 for one per "
                             "processor (default: 1, which uses all processors). Not for grids")
    parser.add_argument("--flush", action="store_true", help="wait until each dataset is on disk")
    parser.add_argument("--quiet", action="store_true", help="print errors only, without a progress bar")
    parser.add_argument("--json", action="store_true", help="print one line of JSON per dataset")


def _settings(arguments, kind):
    if kind.startswith(".bricks"):
        return {"times": arguments.times, "cyclic": arguments.cyclic, "flush": arguments.flush, "replace": arguments.replace}
    size = arguments.target_size  # 0 chooses one
    if kind == ".bat":
        return {"sorted_indexes": arguments.sorted_index, "stable_samples": arguments.stable_samples,
                "flush": arguments.flush, "target_bytes": size}
    return {"codec": arguments.codec, "layout": arguments.layout, "dialect": arguments.dialect, "flush": arguments.flush,
            **({"file_bytes": size} if size else {})}


def run(arguments):
    kind = next((end for end in KINDS if arguments.output.endswith(end)), None)
    if kind is None:
        return _fail("the last argument is the file to write and must end in .bat, in .idx for grids, or in .bricks or .bricks.series for velocity "
                     f"fields; found {arguments.output}", USAGE)
    for name, (standard, kinds) in OPTIONS.items():
        if kind not in kinds and getattr(arguments, name) != standard:
            option = "map" if name == "mapping" else name.replace("_", "-")
            return _fail(f"argument --{option}: applies to {' and '.join(f'{KINDS[each]}, {each}' for each in kinds)}; the file to write is "
                         f"{arguments.output}", USAGE)
    mapping = dict(arguments.mapping) if arguments.mapping else None
    if mapping and len(mapping) != len(arguments.mapping):
        return _fail("argument --map: a name occurs twice", USAGE)
    try:
        with interruptible(), _shown(arguments) as show:
            convert(arguments.inputs, arguments.output, format=arguments.format, steps=arguments.steps,
                    jobs=arguments.jobs, show=show, apart=True, memory_bytes=arguments.memory, on_repeat=arguments.on_repeat,
                    arrays=arguments.arrays,
                    species=arguments.species, columns=arguments.columns, delimiter=arguments.delimiter, mapping=mapping,
                    topology=arguments.topology, follow_links=arguments.follow_links, **{name: getattr(arguments, name) for name in (
                        "amrex_ids", "time_column", "decimal", "part", "dimensions", "type", "byte_order", "skip", "origin", "spacing", "fill", "group", "stored", "time_unit",
                        "velocity_unit", "coordinate_unit", "vertical", "ignore_units")},
                    settings=_settings(arguments, kind))
    except Interrupted as error:
        return _fail(str(error), INTERRUPTED)
    except (ConvertError, ImportError) as error:
        return _fail(str(error), USAGE if _OF_ARGUMENT.search(str(error)) else TROUBLE)
    return YES


@contextlib.contextmanager
def _shown(arguments):
    """Returns a function for `show`, with a bar if stderr is a terminal."""
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
    rows = [*(("particles", row) for row in formats()), *(("grids", row) for row in formats(grids=True))]
    width = max(len(row.name) for _, row in rows)
    for kind, row in rows:
        missing = row.missing()
        if as_json:
            print(json.dumps({"format": row.name, "of": kind, "about": row.about, "extensions": row.extensions,
                              "options": row.options, "missing": [module for module, _, _ in missing],
                              "extra": next((extra for _, _, extra in row.modules if extra), None)}))
            continue
        needs = " ".join(dict.fromkeys(f"'parabat[{extra}]'" if extra else package for _, package, extra in row.modules))
        state = f"requires pip install {needs}" if missing else "ready, by " + ", ".join(
            f"{module} ({needs})" for module, _, _ in row.modules) if row.modules else "ready"
        about = row.about if kind == "particles" else f"grids: {row.about}"
        print(f"{row.name:{width}} {about}: {' '.join(row.extensions) or 'known by content'}\n{'':{width}} {state}")
