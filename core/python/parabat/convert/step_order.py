# SPDX-License-Identifier: BSD-3-Clause
"""What orders the steps of a series, and which steps repeat others.

Also one of the files of convert.py, which pvbatch runs without the package.
"""

import math


def is_finite(time):
    """Returns whether there is a time, and it is a finite number."""
    return time is not None and math.isfinite(time)


def choose_axis(steps):
    """Returns (key, note): which of "time", "step" and "index" orders the steps of a series, and a note if it is not what
    the files suggest, or "".

    steps: dicts with "time" and "step", each a number or None. Times order a series if all steps have a finite one and
    not all are equal, unless step numbers tell more steps apart; else step numbers do, else the order of the inputs.
    """
    distinct = {key: len({step[key] for step in steps}) for key in ("time", "step") if all(is_finite(step[key]) for step in steps)}
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
    """Returns (kept, dropped) of steps with equal `key`, in the order of their places in the inputs; `kept` in ascending
    order of the key. on_repeat: "keep-first", otherwise the last ones are kept."""
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


def describe_repeats(dropped, key, on_repeat="keep-last", chosen_by=""):
    """Returns a note on steps that were left out. chosen_by: the option that decides on them, or ""."""
    values = sorted({step[key] for step in dropped})
    shown = ", ".join(f"{value:.15g}" for value in values[:5]) + (" ..." if len(values) > 5 else "")
    which = "first" if on_repeat == "keep-first" else "last"
    what = "step number" if key == "step" else "time"
    count = "1 step repeats" if len(dropped) == 1 else f"{len(dropped)} steps repeat"
    return f"{count} the {what} of another ({shown}); the {which} of each is kept" + (f", as chosen by {chosen_by}" if chosen_by else "")
