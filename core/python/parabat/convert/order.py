# SPDX-License-Identifier: BSD-3-Clause
"""Orders a time series: its inputs before the conversion, and the steps in its list afterwards."""

import contextlib
import json
import math
import os
import re

from .._arguments import by_numbers
from .._list_lock import ListLock
from ..errors import BatError
from . import cf
from ._output import remove
from .model import ConvertError
from .step_order import choose_axis, is_finite

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
    if not all(map(is_finite, times)):
        return None
    if None not in clocks:
        try:
            return [cf.on_clock(time, clock, clocks[0]) for time, clock in zip(times, clocks)]
        except ConvertError:
            return None
    return times if all(clock is None for clock in clocks) else None


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


def list_name(output, species):
    """Returns the name of the list of a species, or of the only one, "", of a conversion to output."""
    return output[:-len(".bat")] + (f"_{species}" if species else "") + ".bat.series"


class Lists:
    """The lists of a conversion, each of which no other process changes from claim() to release()."""

    def __init__(self, output):
        self._output = output
        self._locks = {}

    def claim(self, species):
        """Raises if another process adds steps to the list of a species, or the file is not a list."""
        name = list_name(self._output, species)
        if name not in self._locks:
            try:
                self._locks[name] = ListLock(name)
            except BatError as error:
                raise ConvertError(str(error)) from None
            _read_entries(name)

    def release(self):
        while self._locks:
            self._locks.popitem()[1].close()


def write_list(name, steps, key):
    """Writes the list `name` of steps, and removes datasets that an earlier conversion wrote and which are not in it.
    Returns how many entries of others it keeps: those of a simulation, which have step numbers, and of files with other
    names."""
    written = {os.path.basename(step["done"]): step for step in steps}
    former, kept = _split_entries(name)
    kept = [entry for entry in kept if entry["name"] not in written]
    own = [({"name": file, "time": step[key]}, step["step"]) for file, step in written.items()]
    _replace_list(name, _merge(kept, own))
    for entry in former:
        if entry["name"] not in written:
            remove(os.path.join(os.path.dirname(name), entry["name"]))
    return len(kept)


def _merge(kept, own):
    """Returns the entries of a list. kept: those of others; own: pairs of an entry and its step number, or None, in order.
    As in the library's lists, step numbers order them if all have one, otherwise times, and times ascend."""
    pairs = [*((entry, entry.get("step")) for entry in kept), *own]
    if not kept:
        return [entry for entry, _ in pairs]
    if any(step is None for _, step in pairs):
        pairs.sort(key=lambda pair: pair[0]["time"])
    else:
        pairs.sort(key=lambda pair: pair[1])
    entries = []
    for entry, _ in pairs:
        if entries and entry["time"] <= entries[-1]["time"]:
            entry = {**entry, "time": math.nextafter(entries[-1]["time"], math.inf)}
        entries.append(entry)
    return entries


def _replace_list(name, entries):
    _write_json(name, {"file-series-version": "1.0", "files": entries})
    _update_stock_list(name, entries)


def _write_json(name, facts):
    target = os.path.realpath(name)
    with open(target + ".tmp", "w", encoding="utf-8") as file:
        file.write(json.dumps(facts, indent=1) + "\n")
    os.replace(target + ".tmp", target)


def _update_stock_list(name, entries):
    """Writes the same list as NAME.vtkhdf.series, by which ParaView opens it without a plugin, if all files have an HDF5
    view; removes it otherwise. As StockList of the library, it leaves alone a file that something else wrote."""
    stock = name[:-len(".bat.series")] + ".vtkhdf.series"
    try:
        with open(stock, encoding="utf-8") as file:
            known = json.load(file)
        if not isinstance(known, dict) or "same_as" not in known:
            return
    except FileNotFoundError:
        pass
    except (OSError, ValueError, RecursionError):
        return
    if entries and all(_has_view(os.path.join(os.path.dirname(name), entry["name"])) for entry in entries):
        _write_json(stock, {"file-series-version": "1.0", "files": entries, "same_as": os.path.basename(name)})
    else:
        with contextlib.suppress(OSError):
            os.unlink(stock)


def _has_view(path):
    """Returns whether a dataset has an HDF5 view (FORMAT.md section 20)."""
    with contextlib.suppress(OSError, ValueError), open(path, "rb") as file:
        file.seek(512)
        return file.read(8) == b"\x89HDF\r\n\x1a\n"
    return False


def remove_list(name):
    """Removes a list and its datasets, if it exists, apart from entries of others."""
    former, kept = _split_entries(name)
    if kept:
        _replace_list(name, kept)
    else:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        _update_stock_list(name, [])
    for entry in former:
        remove(os.path.join(os.path.dirname(name), entry["name"]))


def _split_entries(name):
    """Returns (entries of a list that an earlier conversion to the same name wrote: NAME_0000.bat and so on, without step
    numbers; those of others, whose files exist)."""
    stem = os.path.basename(name)[:-len(".bat.series")]
    own = re.compile(re.escape(stem) + r"_\d{4,}\.bat\Z")
    former, kept = [], []
    for entry in _read_entries(name):
        if own.match(entry["name"]) and "step" not in entry:
            former.append(entry)
        elif os.path.exists(os.path.join(os.path.dirname(name), entry["name"])):
            kept.append(entry)
    return former, kept


def _read_entries(name):
    """Returns the entries of a list, none if it does not exist."""
    try:
        with open(name, encoding="utf-8") as file:
            entries = json.load(file)["files"]
        for entry in entries:
            if not isinstance(entry["name"], str) or not is_finite(entry["time"]) or not isinstance(entry.get("step", 0), int):
                raise ValueError
        return entries
    except FileNotFoundError:
        return []
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ConvertError(f"{name}: is not a series list; it was not replaced, move it away") from None
    except OSError as error:
        raise ConvertError(f"{name}: cannot be read: {error.strerror}") from None
