# SPDX-License-Identifier: BSD-3-Clause
"""Shared code of the subcommands: datasets by path, query arguments, progress, and files that appear only when
complete."""

import argparse
import contextlib
import decimal
import json
import math
import os
import re
import sys

from .. import dataset as datasets
from .._files import CANNOT_OPEN, NOT_A_BAT_FILE, UNSUPPORTED_VERSION, display_name, file_name, other_kind
from .._text import printable, printable_json
from ..errors import BatCancelledError, BatError, BatTypeError, BatValueError, refuse
from ..regions import Sphere
from ..series import read_series


YES, NO, USAGE, TROUBLE, INTERRUPTED = 0, 1, 2, 3, 130  # exit codes


def explained(error, name=None):
    """Returns the exit code for an error, and its message or None; raises other errors. name: the file to name if
    memory is insufficient."""
    if isinstance(error, (BatCancelledError, KeyboardInterrupt)):
        return INTERRUPTED, "interrupted"
    if isinstance(error, (BatValueError, BatTypeError)):
        return USAGE, str(error)
    if isinstance(error, MemoryError):
        text = str(error) if isinstance(error, BatError) else "out of memory"
        if name and name not in text:
            text = f"{name}: {text}"
        return TROUBLE, text if "--" in text else text + "; use --quality, --box or --range to read less"
    if isinstance(error, BatError):
        return TROUBLE, str(error)
    if isinstance(error, BrokenPipeError):  # the reader has closed the pipe
        return TROUBLE, None
    if isinstance(error, OSError):
        name = f"{error.filename}: " if error.filename else ""
        return TROUBLE, f"{name}{error.strerror or error}"
    raise error


def say(text):
    """Prints one line to stderr, whatever characters are in it."""
    print(f"parabat: {printable(text)}", file=sys.stderr)


def show(*lines):
    """Prints lines that contain texts from files."""
    for line in lines:
        print(printable(str(line)))


def in_turn(items, act):
    """Calls act(item), which returns an exit code, for each item, even if earlier ones cannot be
    read. Returns the highest code."""
    code = YES
    for item in items:
        try:
            code = max(code, act(item))
        except BatError as error:
            own, why = explained(error)
            if own != TROUBLE:
                raise
            say(why)
            code = max(code, own)
    return code


def is_series(path):
    """Returns whether the path is that of a list of steps."""
    return file_name(path).endswith(".series")


def list_steps(path):
    """Returns the paths of the datasets that a path stands for."""
    return [step.path for step in read_series(path)] if is_series(path) else [path]


_OTHERS = {".idx": "grids are supported by 'parabat info', 'validate', 'export' and 'diff'",
           **dict.fromkeys((".bricks", ".bricks.series"), "velocity fields are supported by 'parabat info' and 'validate', and traced by parabat.flow"),
           ".tracks.bat": "tracks files are supported by 'parabat info', 'validate', 'follow' and 'repack'"}


@contextlib.contextmanager
def naming_accepted_kinds(path, verb, taken=(".bat", ".pbat", ".bat.series")):
    """An error about the kind of a file also names the kinds that the subcommand takes."""
    path = os.fspath(path)

    shown = display_name(path)

    def advice(kind):
        ending = next((each for each in sorted(_OTHERS, key=len, reverse=True) if file_name(path).endswith(each)), None)
        more = f"; {_OTHERS[ending]}" if ending else ""
        return f"{shown}: {kind}; 'parabat {verb}' supports {', '.join(taken[:-1])} and {taken[-1]}{more}"
    if path.endswith(".bricks.series") and os.path.exists(path):
        refuse(advice(other_kind(path)))
    try:
        yield
    except BatError as error:
        own = str(error).removeprefix(f"{shown}: ")
        if error.status not in (CANNOT_OPEN, NOT_A_BAT_FILE, UNSUPPORTED_VERSION) or own == str(error) or (
                f"'parabat {verb}' supports" in own):
            raise
        kind = other_kind(path) or (own if error.status == NOT_A_BAT_FILE else None)
        if kind is None:
            raise
        raise BatError(error.status, advice(kind)) from error


def open_one(path, number, verb):
    """Opens the dataset at a path, or step `number` of a series, where None is the only step; a dataset
    that is not in a series counts as one step."""
    if not is_series(path):
        if number not in (None, 0, -1):
            refuse(f"{path}: a single dataset; allowed are --step 0 or -1")
        with naming_accepted_kinds(path, verb):
            return datasets.open(path)
    with naming_accepted_kinds(path, verb):
        return _open_step(path, number, verb)


def _open_step(path, number, verb):
    steps = list_steps(path)
    if not steps:
        refuse(f"{path}: a series without steps")
    if number is None and len(steps) == 1:
        number = 0
    if number is None or not -len(steps) <= number < len(steps):
        refuse(f"{path}: a series of one step; allowed are --step 0 or -1" if len(steps) == 1 else
               f"{path}: a series of {len(steps)} steps; choose one with --step 0 to {len(steps) - 1}, -1 for the last")
    with naming_accepted_kinds(steps[number], verb):
        return datasets.open(steps[number])


def number_of(text, is_whole, what):
    """Returns an integer exactly; otherwise the text itself where integers are expected, and a float
    elsewhere."""
    if "_" in text:  # Python would read 1_0 as 10
        refuse(f"{what}: '{text.strip()}' is not a number")
    with contextlib.suppress(ValueError):
        return int(text)
    try:
        exact = decimal.Decimal(text.strip()) if is_whole else None
        return float(text) if exact is None or not exact.is_finite() else exact
    except (ValueError, decimal.InvalidOperation):
        return refuse(f"{what}: '{text.strip()}' is not a number")


def split_numbers(words):
    """Splits words at commas and spaces."""
    return [part for word in words for part in re.split(r"[\s,]+", word) if part]


def names_of(text, dataset):
    """Splits names separated by commas; a name may itself contain commas."""
    names, words = [], text.split(",")
    while words:
        lengths = [n for n in range(len(words), 0, -1) if ",".join(words[:n]) in dataset.attributes]
        length = lengths[0] if lengths else 1
        names.append(",".join(words[:length]))
        words = words[length:]
    return [name for name in names if name]


def parse_attributes(arguments, dataset):
    """Returns the names given by --attributes, or None."""
    return None if arguments.attributes is None else names_of(arguments.attributes, dataset)


def add_query_arguments(parser, grids=False):
    """Adds the options that correspond to Dataset.read(). grids: the verb also accepts grids."""
    group = parser.add_argument_group("particles to select (default: all; all conditions must hold)")
    group.add_argument("--quality", type=float, default=1.0, metavar="Q",
                       help="fraction of the particles, 0 to 1, sampled evenly (default 1)")
    group.add_argument("--budget", type=int, metavar="N",
                       help="at most N particles, at the highest quality" + ("; of a grid, at most N samples" if grids else ""))
    group.add_argument("--box", type=float, nargs=6, metavar=("X0", "Y0", "Z0", "X1", "Y1", "Z1"),
                       help="select the inside of a box, faces included; commas may separate the numbers")
    group.add_argument("--sphere", type=float, nargs=4, action="append", default=[],
                       metavar=("X", "Y", "Z", "RADIUS"), help="select the inside of a shape")
    group.add_argument("--range", nargs=3, action="append", default=[],
                       metavar=("NAME", "LOWER", "UPPER"),
                       help="select a range, ends included; * means no limit; velocity[2] is a component, velocity the magnitude")
    group.add_argument("--values", nargs="+", action="append", default=[], metavar=("NAME", "NUMBER"),
                       help="select particles whose value is one of these, for example ids, separated by spaces or commas")
    add_step(group, "a step number that 'parabat info --json' lists (default: the only one)" if grids else None)
    parser.add_argument("--attributes", metavar="A,B",
                        help=f"names of the attributes {'or fields ' if grids else ''}to read (default: all)")


def add_step(parser, of_grids=None):
    """Adds the option that selects a step of a series. of_grids: what the number is for grids, if the verb accepts
    them."""
    parser.add_argument("--step", type=int, metavar="INDEX",
                        help="index of the step, 0 is the first, -1 the last; required for a series of several steps" + (
                            f". For a grid: {of_grids}" if of_grids else ""))


def query_of(arguments, dataset):
    """Returns keyword arguments for Dataset.read()."""
    def target(text):
        found = re.fullmatch(r"(.+)\[(\d+)\]", text, re.ASCII | re.DOTALL)
        return (text,) if text in attributes or not found else (found[1], int(found[2]))

    def is_whole(name, *component):
        about = attributes.get(name)
        return about is not None and about.dtype.kind in "iu" and bool(component or about.components == 1)

    attributes = dataset.attributes
    ranges, values = [], {}
    for name, *ends in arguments.range:
        aim = target(name)
        ranges.append((*aim, *(None if end.strip() == "*" else number_of(end, is_whole(*aim), f"--range {name}")
                               for end in ends)))
    for name, *listed in arguments.values:
        aim = target(name)
        key = aim if len(aim) > 1 else name
        if key in values:
            refuse(f"--values: '{name}' occurs twice; give all its values after one name")
        values[key] = [number_of(text, is_whole(*aim), f"--values {name}") for text in split_numbers(listed)]
        if not values[key]:
            refuse(f"--values: no values after '{name}'")
    query = {"quality": arguments.quality, "box": arguments.box, "ranges": ranges, "values": values,
             "shapes": [Sphere(sphere[:3], sphere[3]) for sphere in arguments.sphere]}
    if arguments.budget is not None:
        query["quality"] = dataset.quality_within(arguments.budget, **query)
    return query


class _Bar:
    """A progress line on stderr, shown until something else is printed."""

    def __init__(self, what):
        self._what = what
        self._drawn = None

    def __call__(self, done, what=None):
        """what: a label for the share, if it has changed."""
        self._what = what or self._what
        state = (self._what, int(100 * done))
        if state == self._drawn:
            return
        clear = "" if self._drawn and self._drawn[0] == self._what else "\033[K"
        self._drawn = state
        print(f"\r{clear}{printable(state[0])} [{'#' * (state[1] // 4):25}] {state[1]:3} %", end="", file=sys.stderr, flush=True)

    def clear(self):
        """Clears the line."""
        if self._drawn is not None:
            self._drawn = None
            print("\r\033[K", end="", file=sys.stderr, flush=True)


@contextlib.contextmanager
def progress(what):
    """Returns a function for `progress` that draws a bar if stderr is a terminal, else None."""
    if not sys.stderr.isatty():
        yield None
        return
    bar = _Bar(what)
    try:
        yield bar
    finally:
        bar.clear()


def print_json(value):
    """Returns one line of JSON; numbers that JSON cannot express become texts."""
    print(printable_json(json.dumps(_plain(value), ensure_ascii=False)))


def _plain(value):
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def add_json(parser):
    """Adds the option for machine-readable output."""
    parser.add_argument("--json", action="store_true", help="print one JSON object per line, for programs")


def count(text):
    """Returns a non-negative integer."""
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{value} is negative")
    return value
