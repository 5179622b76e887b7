# SPDX-License-Identifier: BSD-3-Clause
"""The order of a time series: of its inputs before the conversion, and of its steps in the list afterwards."""

import contextlib
import json
import os
import re

from .._arguments import by_numbers
from . import cf
from ._output import remove
from .model import ConvertError
from .step_order import choose_axis, is_finite

ON_REPEAT = ("keep-last", "keep-first", "fail")


def sort_inputs(inputs, options):
    """Returns inputs in ascending order of the times, or else the step numbers, with which they begin.

    If some begin with neither, and their names differ only in numbers, these numbers order them; otherwise the order
    remains. Reads the beginning of each input. An input that cannot be read leaves the order to the others' names: the
    conversion reports what is wrong with it.
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
    with contextlib.suppress(Exception):  # of libraries too; the conversion reports it
        with contextlib.closing(one.row.steps(one.path, options)) as steps:
            return next(steps, None)
    return None


def _keys(steps):
    """Returns (time, number) of each step, or None if some have neither a time nor a number."""
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
    if not all(map(is_finite, times)):
        return None
    if None not in clocks:
        try:
            return [cf.on_clock(time, clock, clocks[0]) for time, clock in zip(times, clocks)]
        except ConvertError:
            return None
    return times if all(clock is None for clock in clocks) else None


def check_repeats(walk):
    """Raises if two steps of a conversion have the same time, or the same number where there are no times."""
    steps = [{"time": step.time, "step": step.number, "index": index, "input": one.path} for index, one, step in walk]
    if steps:
        refuse_repeats(steps)


def refuse_repeats(steps):
    """Raises if choose_axis() finds steps that repeat."""
    key, _ = choose_axis(steps)
    seen = {}
    for step in steps:
        before = seen.setdefault(step[key], step)
        if before is not step:
            what = "step number" if key == "step" else "time"
            raise ConvertError(f"{step['input']}: the {what} {step[key]:.15g} occurs twice, first in {before['input']}; --on-repeat "
                               "keep-first or keep-last chooses one of them")


def write_list(name, steps, key):
    """Writes the list `name` of steps, and removes datasets of the list that it replaces which are not in it."""
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
    """Removes a list and its datasets, if it exists."""
    files = _listed_files(name)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(name)
        for file in files:
            remove(file)


def _listed_files(name):
    """Returns the datasets in a list that an earlier conversion to the same name wrote: NAME_0000.bat and so on."""
    stem = os.path.basename(name)[:-len(".bat.series")]
    own = re.compile(re.escape(stem) + r"_\d{4,}\.bat\Z")
    try:
        with open(name, encoding="utf-8") as file:
            names = [entry["name"] for entry in json.load(file)["files"]]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    return [os.path.join(os.path.dirname(name), each) for each in names if isinstance(each, str) and own.match(each)]
