"""What verbs share: datasets by path, arguments of queries, progress, files that appear when they are whole."""

import argparse
import contextlib
import json
import math
import os
import re
import sys
import tempfile

from .. import dataset as datasets
from ..errors import refuse
from ..regions import Sphere
from ..series import read_series


def is_series(path):
    """Whether the path is that of a list of steps."""
    return os.fspath(path).endswith(".series")


def steps_of(path):
    """Paths of the datasets that a path stands for."""
    return [step.path for step in read_series(path)] if is_series(path) else [path]


def open_one(path, number):
    """The dataset at a path, or step `number` of a series."""
    if not is_series(path):
        if number is not None:
            refuse(f"--step: {path} is no series")
        return datasets.open(path)
    steps = steps_of(path)
    if number is None or not -len(steps) <= number < len(steps):
        refuse(f"{path}: a series of {len(steps)} steps; choose one with --step "
               f"0 to {len(steps) - 1}, -1 for the last")
    return datasets.open(steps[number])


def number_of(text):
    """An integer exactly, else a float."""
    try:
        return int(text)
    except ValueError:
        return float(text)


def _end_of(text):
    return None if text.strip() == "*" else number_of(text)


def add_query_arguments(parser):
    """Those of Dataset.read()."""
    group = parser.add_argument_group("which particles (all, if nothing is said; all conditions hold together)")
    group.add_argument("--quality", type=float, default=1.0, metavar="Q",
                       help="share of the particles, 0 to 1, an even sample (default 1)")
    group.add_argument("--budget", type=int, metavar="N", help="at most N particles, at the finest quality")
    group.add_argument("--box", type=float, nargs=6, metavar=("X0", "Y0", "Z0", "X1", "Y1", "Z1"),
                       help="faces are inside")
    group.add_argument("--sphere", type=float, nargs=4, action="append", default=[],
                       metavar=("X", "Y", "Z", "RADIUS"), help="only what is in it")
    group.add_argument("--range", nargs=3, action="append", default=[],
                       metavar=("NAME", "LOWER", "UPPER"),
                       help="closed; * is no limit; velocity[2] is a component, velocity the magnitude")
    group.add_argument("--values", nargs="+", action="append", default=[], metavar=("NAME", "NUMBER"),
                       help="only particles whose value is one of these, e.g. ids")
    group.add_argument("--step", type=int, metavar="N", help="of a series: which of its steps, from 0")
    parser.add_argument("--attributes", type=lambda text: [name for name in text.split(",") if name],
                        metavar="A,B", help="names of those to read (default: all)")


def query_of(arguments, dataset):
    """Keyword arguments of Dataset.read()."""
    def target(text):
        found = re.fullmatch(r"(.+)\[(\d+)\]", text)
        return (text,) if text in dataset.attributes or not found else (found[1], int(found[2]))

    try:
        ranges = [(*target(name), _end_of(lower), _end_of(upper)) for name, lower, upper in arguments.range]
        values = {}
        for name, *listed in arguments.values:
            key = target(name)
            if (key if len(key) > 1 else name) in values:
                refuse(f"--values: '{name}' occurs twice; all numbers go behind one name")
            values[key if len(key) > 1 else name] = [number_of(text) for text in listed]
    except ValueError as error:
        refuse(str(error))
    query = {"quality": arguments.quality, "box": arguments.box, "ranges": ranges, "values": values,
             "shapes": [Sphere(sphere[:3], sphere[3]) for sphere in arguments.sphere]}
    if arguments.budget is not None:
        query["quality"] = dataset.quality_within(arguments.budget, **query)
    return query


@contextlib.contextmanager
def progress(what):
    """A function for `progress`, which draws a bar where stderr is a terminal; None elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    drawn = [None]

    def draw(done):
        share = int(100 * done)
        if share != drawn[0]:
            drawn[0] = share
            bar = "#" * (share // 4)
            print(f"\r{what} [{bar:25}] {share:3} %", end="", file=sys.stderr, flush=True)
    try:
        yield draw
    finally:
        if drawn[0] is not None:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


@contextlib.contextmanager
def replacing(path):
    """A path to write to; what is there when all went well takes the place of `path`."""
    folder = os.path.dirname(path) or "."
    suffix = os.path.splitext(path)[1]
    if os.path.exists(path) and not os.path.isfile(path):  # /dev/stdout
        yield path
        return
    handle, temporary = tempfile.mkstemp(prefix=".parabat-", suffix=suffix, dir=folder)
    os.close(handle)
    try:
        yield temporary
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def print_json(value):
    """One line; numbers that JSON has not are texts."""
    print(json.dumps(_plain(value), ensure_ascii=False))


def _plain(value):
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def add_json(parser):
    """For programs that read what is printed."""
    parser.add_argument("--json", action="store_true", help="one JSON object per line, for programs")


def count(text):
    """A whole number that is not negative."""
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{value} is negative")
    return value
