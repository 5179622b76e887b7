# SPDX-License-Identifier: BSD-3-Clause
"""Converts files of other formats to .bat.

Exit codes: 0 all was converted; 1 something was not, which one line on stderr says; 2 the command is
wrong; 130 interrupted, also by SIGTERM.
"""

import argparse
import contextlib
import json
import signal
import sys

from ..convert import ConvertError, convert, formats, option_types
from ..convert.model import Interrupted
from ..convert.run import leads, print_news
from ._common import progress

INTERRUPTED = 130


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
    parser.add_argument("output", metavar="OUT.bat",
                        help="file to write; of a time series OUT_0000.bat, OUT_0001.bat ... and OUT.bat.series, of "
                             "species OUT_NAME.bat")
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
    parser.add_argument("--topology", metavar="FILE", help="what names the atoms of a trajectory")
    parser.add_argument("--sorted-index", metavar="NAME,...", type=option_types.names, default=[],
                        help="attributes to be looked up by value, e.g. id; each takes 12 bytes per particle")
    parser.add_argument("--target-size", metavar="MIB", type=option_types.size, default=0,
                        help="size of a leaf file to aim at, in MiB; auto (default) chooses it")
    parser.add_argument("--jobs", metavar="N", type=option_types.jobs, default=1,
                        help="processes that convert steps at the same time (default: 1, with all processors)")
    parser.add_argument("--flush", action="store_true", help="wait until each dataset is on the disk")
    parser.add_argument("--quiet", action="store_true", help="print errors only, and draw no bar")
    parser.add_argument("--json", action="store_true", help="print a line of JSON for each dataset")


def run(arguments):
    if not arguments.output.endswith(".bat"):
        return _fail(f"the last argument is the file to write and must end in .bat; it is {arguments.output}", 2)
    mapping = dict(arguments.mapping) if arguments.mapping else None
    if mapping and len(mapping) != len(arguments.mapping):
        return _fail("argument --map: a name occurs twice", 2)
    try:
        with _interruptible(), _shown(arguments) as show:
            convert(arguments.inputs, arguments.output, format=arguments.format, steps=arguments.steps,
                    jobs=arguments.jobs, show=show, apart=True, arrays=arguments.arrays, species=arguments.species,
                    columns=arguments.columns, delimiter=arguments.delimiter, mapping=mapping,
                    topology=arguments.topology,
                    settings={"sorted_indexes": arguments.sorted_index, "flush": arguments.flush,
                              "target_bytes": int(arguments.target_size * (1 << 20))})
    except Interrupted as error:
        return _fail(str(error), INTERRUPTED)
    except (ConvertError, ImportError) as error:
        return _fail(str(error), 1)
    return 0


@contextlib.contextmanager
def _interruptible():
    """SIGTERM and SIGHUP end a conversion as Ctrl-C does, so that nothing half is left."""
    def interrupt(*_):
        raise KeyboardInterrupt
    try:
        before = {number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGHUP)
                  if signal.getsignal(number) is signal.SIG_DFL}
    except ValueError:  # a thread of another program
        before = {}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


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
    if code == 2 or leads():
        print(f"error: {text}", file=sys.stderr, flush=True)
    return code


def _list_formats(as_json):
    for row in formats():
        missing = row.missing()
        if as_json:
            print(json.dumps({"format": row.name, "about": row.about, "extensions": row.extensions,
                              "options": row.options, "missing": [module for module, _, _ in missing],
                              "extra": next((extra for _, _, extra in row.modules if extra), None)}))
            continue
        needs = " ".join(dict.fromkeys(f"'parabat[{extra}]'" if extra else package for _, package, extra in row.modules))
        state = f"needs pip install {needs}" if missing else "ready, by " + ", ".join(
            f"{module} ({needs})" for module, _, _ in row.modules) if row.modules else "ready"
        print(f"{row.name:8} {row.about}: {' '.join(row.extensions) or 'known by content'}\n{'':8} {state}")
