# SPDX-License-Identifier: BSD-3-Clause
"""Orders a time series: its inputs before the conversion, and the steps in its list afterwards."""

import contextlib
import json
import math
import os
import re

from .._arguments import by_numbers
from . import cf
from ._output import remove
from .model import ConvertError

ON_REPEAT = ("keep-last", "keep-first", "fail")


def sort_inputs(inputs, options):
    """Returns the inputs in ascending order of the time, or otherwise the step number, of their first steps.

    If some first steps have neither, or an input cannot be read, inputs whose names differ only in numbers are ordered by
    these numbers; otherwise the order is unchanged. Reads the beginning of each input. The conversion reports inputs that
    cannot be read.
    """
    if len(inputs) < 2:
        return inputs
    first = [_first_step(one, options) for one in inputs]
    keys = _keys(first)
    if keys is not None:
        return [one for _, one in sorted(zip(keys, inputs), key=lambda pair: pair[0])]
    if len({re.sub(r"\d+", "#", one.path) for one in inputs}) == 1:
        return sorted(inputs, key=lambda one: by_numbers(one.path))
    return inputs


def _first_step(one, options):
    """Returns the first step of an input, or None."""
    with contextlib.suppress(Exception):  # libraries raise errors of many types; the conversion reports them
        with contextlib.closing(one.row.steps(one.path, options)) as steps:
            return next(steps, None)
    return None


def _keys(steps):
    """Returns sort keys: (time, number) or the number of each step, or None if some steps lack both."""
    if None in steps:
        return None
    numbers = [step.number for step in steps]
    times = _times(steps)
    if times is not None:
        return list(zip(times, numbers if None not in numbers else [0] * len(steps)))
    return None if None in numbers else numbers


def _times(steps):
    """Returns the times of steps on the clock of the first, or None if they cannot be compared."""
    times, clocks = [step.time for step in steps], [step.clock for step in steps]
    if not all(map(_is_finite, times)):
        return None
    if None not in clocks:
        try:
            return [cf.on_clock(time, clock, clocks[0]) for time, clock in zip(times, clocks)]
        except ConvertError:
            return None
    return times if all(clock is None for clock in clocks) else None


def _is_finite(time):
    return time is not None and math.isfinite(time)


def choose_axis(steps):
    """Returns (key, note): which of "time", "step" and "index" orders the steps of a series, and a note if that may be
    unexpected, otherwise "".

    steps: dicts with "time" and "step", each a number or None. The key is the time if all steps have a finite one, not
    all are equal, and step numbers do not distinguish more steps. Otherwise it is the step number under the same
    conditions, and as a last resort the index in the order of the inputs.
    """
    distinct = {key: len({step[key] for step in steps}) for key in ("time", "step") if all(_is_finite(step[key]) for step in steps)}
    usable = {key: count for key, count in distinct.items() if count > 1 or len(steps) == 1}
    if "time" in usable and usable.get("step", 0) <= usable["time"]:
        return "time", ""
    if "step" in usable:
        return "step", f"{len(steps)} steps have only {distinct['time']} different times; the list of the series contains " \
            "their step numbers instead" if "time" in distinct else ""
    for key in distinct:
        what = "step number" if key == "step" else "time"
        return "index", f"all steps have the {what} {steps[0][key]:.15g}; the list of the series numbers them 0, 1, 2 ..."
    if any(step[key] is not None for step in steps for key in ("time", "step")):
        return "index", "only some steps have a finite time or a step number; the list of the series numbers them 0, 1, 2 ..."
    return "index", ""


def resolve_repeats(steps, key, on_repeat):
    """Resolves steps with equal `key`. Returns (kept, dropped), with `kept` in ascending order of the key. steps: in the
    order of the inputs. on_repeat: "keep-first"; any other value keeps the last of equal steps."""
    kept = {}
    dropped = []
    for step in steps:
        value = step[key]
        if value in kept and on_repeat == "keep-first":
            dropped.append(step)
            continue
        if value in kept:
            dropped.append(kept[value])
        kept[value] = step
    return [kept[value] for value in sorted(kept)], dropped


def describe_repeats(dropped, key, on_repeat):
    """Returns a note about dropped steps."""
    values = sorted({step[key] for step in dropped})
    shown = ", ".join(f"{value:.15g}" for value in values[:5]) + (" ..." if len(values) > 5 else "")
    which = "first" if on_repeat == "keep-first" else "last"
    what = "step number" if key == "step" else "time"
    count = "1 step repeats" if len(dropped) == 1 else f"{len(dropped)} steps repeat"
    return f"{count} the {what} of another ({shown}); the {which} of each is kept, as chosen by --on-repeat"


def check_repeats(walk):
    """Raises if two steps of a conversion have the same time, or the same number if times are missing."""
    steps = [{"time": step.time, "step": step.number, "index": index, "input": one.path} for index, one, step in walk]
    if steps:
        refuse_repeats(steps)


def refuse_repeats(steps):
    """Raises if two steps have the same value of the key from choose_axis()."""
    key, _ = choose_axis(steps)
    seen = {}
    for step in steps:
        before = seen.setdefault(step[key], step)
        if before is not step:
            what = "step number" if key == "step" else "time"
            raise ConvertError(f"{step['input']}: the {what} {step[key]:.15g} occurs twice, first in {before['input']}; --on-repeat "
                               "keep-first or keep-last chooses one of them")


def write_list(name, steps, key):
    """Writes the list `name` of steps. Removes datasets that are only in the list that it replaces."""
    former = _listed_files(name)
    text = json.dumps({"file-series-version": "1.0", "files": [
        {"name": os.path.basename(step["done"]), "time": step[key]} for step in steps]}, indent=1)
    with open(name + ".tmp", "w", encoding="utf-8") as file:
        file.write(text + "\n")
    os.replace(name + ".tmp", name)
    current = {os.path.basename(step["done"]) for step in steps}
    for file in former:
        if os.path.basename(file) not in current:
            remove(file)


def remove_list(name):
    """Removes a list, if it exists, and its datasets."""
    files = _listed_files(name)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(name)
        for file in files:
            remove(file)


def _listed_files(name):
    """Returns the datasets (NAME_0000.bat ...) in a list written by an earlier conversion to the same name."""
    stem = os.path.basename(name)[:-len(".bat.series")]
    own = re.compile(re.escape(stem) + r"_\d{4,}\.bat\Z")
    try:
        with open(name, encoding="utf-8") as file:
            names = [entry["name"] for entry in json.load(file)["files"]]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    return [os.path.join(os.path.dirname(name), each) for each in names if isinstance(each, str) and own.match(each)]
