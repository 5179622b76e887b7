"""Converts files of other formats to .bat.

Exit codes: 0 all was converted; 1 something was not, which one line on stderr says; 2 the command is
wrong.
"""

import argparse
import json
import sys

from ..convert import ConvertError, convert, formats
from ..convert.run import leads, print_news


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
    parser.add_argument("--steps", metavar="A:B:C", type=_steps, default=slice(None),
                        help="steps from A to before B, every C-th, counted from 0, as in Python; or one number")
    parser.add_argument("--arrays", metavar="NAME,...", type=_list, help="write only these attributes")
    parser.add_argument("--species", metavar="NAME,...", type=_list, help="write only these species")
    parser.add_argument("--columns", metavar="X,Y,Z", type=_columns,
                        help="columns or arrays that are the positions; Z may be none; or one array of three components")
    parser.add_argument("--delimiter", metavar="C", type=_delimiter,
                        help="character between the columns of a table, also comma, tab, semicolon, space")
    parser.add_argument("--map", metavar="NAME=PATH,...", action="append", type=_mapping, dest="mapping",
                        help="an attribute, or `positions`, and the arrays of an HDF5 file that it is, with * for the "
                             "numbers of steps; once for each")
    parser.add_argument("--topology", metavar="FILE", help="what names the atoms of a trajectory")
    parser.add_argument("--sorted-index", metavar="NAME,...", type=_list, default=[],
                        help="attributes to be looked up by value, e.g. id; each takes 12 bytes per particle")
    parser.add_argument("--target-size", metavar="MIB", type=_size, default=0,
                        help="size of a leaf file to aim at, in MiB; auto (default) chooses it")
    parser.add_argument("--jobs", metavar="N", type=_count, default=1,
                        help="processes that convert steps at the same time (default: 1, with all processors)")
    parser.add_argument("--flush", action="store_true", help="wait until each dataset is on the disk")
    parser.add_argument("--quiet", action="store_true", help="print errors only")
    parser.add_argument("--json", action="store_true", help="print a line of JSON for each dataset")


def run(arguments):
    if not arguments.output.endswith(".bat"):
        return _fail(f"the last argument is the file to write and must end in .bat; it is {arguments.output}", 2)
    mapping = dict(arguments.mapping) if arguments.mapping else None
    if mapping and len(mapping) != len(arguments.mapping):
        return _fail("argument --map: a name occurs twice", 2)
    try:
        convert(arguments.inputs, arguments.output, format=arguments.format, steps=arguments.steps, jobs=arguments.jobs,
                show=_show(arguments), arrays=arguments.arrays, species=arguments.species, columns=arguments.columns,
                delimiter=arguments.delimiter, mapping=mapping, topology=arguments.topology,
                settings={"sorted_indexes": arguments.sorted_index, "flush": arguments.flush,
                          "target_bytes": int(arguments.target_size * (1 << 20))})
    except ConvertError as error:
        return _fail(str(error), 1)
    except ImportError as error:
        return _fail(str(error), 1)
    return 0


def _show(arguments):
    def show(news):
        try:
            if arguments.json and "done" in news:
                print(json.dumps(news), flush=True)
            elif not arguments.quiet:
                print_news(news)
        except OSError as error:
            raise ConvertError(f"standard output: cannot be written: {error.strerror}") from None
    return show


def _fail(text, code):
    if code != 1 or leads():
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


def _steps(text):
    try:
        numbers = [int(part) if part else None for part in text.split(":")]
        if len(numbers) == 1:
            return slice(numbers[0], None if numbers[0] == -1 else numbers[0] + 1)
        range(1)[slice(*numbers)]  # pylint: disable=expression-not-assigned
        return slice(*numbers)
    except (TypeError, ValueError):
        raise argparse.ArgumentTypeError(f"{text!r}; allowed is A:B:C or a number, C not 0") from None


def _list(text):
    names = text.split(",")
    if not all(names):
        raise argparse.ArgumentTypeError(f"{text!r}; allowed are names with commas between them")
    return names


def _columns(text):
    names = _list(text)
    if len(names) not in (1, 3):
        raise argparse.ArgumentTypeError(f"{text!r}; allowed are one name, or three with commas between them")
    return names


def _delimiter(text):
    character = {"tab": "\t", "comma": ",", "semicolon": ";", "space": " "}.get(text, text)
    if len(character) != 1 or character.isalnum() or character in "\r\n\"'.+-_#" or not character.isascii():
        raise argparse.ArgumentTypeError(f"{text!r}; allowed is a character of ASCII that is in no number and no name")
    return character


def _mapping(text):
    name, equals, paths = text.partition("=")
    if not name or not equals or not all(paths.split(",")):
        raise argparse.ArgumentTypeError(f"{text!r}; allowed is NAME=PATH or NAME=PATH,PATH,...")
    return name, paths.split(",")


def _size(text):
    try:
        size = 0.0 if text == "auto" else float(text)
    except ValueError:
        size = -1.0
    if not (0 < size < float("inf") or text == "auto"):
        raise argparse.ArgumentTypeError(f"{text!r}; allowed is auto or a number of MiB above 0")
    return size


def _count(text):
    if not text.isdecimal() or not 0 < int(text) <= 4096:
        raise argparse.ArgumentTypeError(f"{text!r}; allowed are 1 to 4096")
    return int(text)
