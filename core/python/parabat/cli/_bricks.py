# SPDX-License-Identifier: BSD-3-Clause
"""Subcommands for velocities in bricks (.bricks, .bricks.series)."""

import dataclasses

from .. import bricks
from .._files import file_name
from ..errors import BatError
from ._common import NO, TROUBLE, YES, print_json, say, show


def is_bricks(path):
    """Returns whether the path is that of a level, or of a list of levels."""
    return file_name(path).endswith((".bricks", ".bricks.series"))


def _to_json(time, level):
    if isinstance(level, BatError):
        return {"time": time, "problem": str(level)}
    facts = {**dataclasses.asdict(level), "type": level.dtype.name, "time": time, "time_of_file": level.time}
    del facts["dtype"]
    if level.minimum[0] > level.maximum[0]:
        facts["minimum"] = facts["maximum"] = None
    return facts


def _numbers(values):
    return " ".join(f"{value:.6g}" for value in values)


def tell(path, as_json):
    """Prints what `info` shows."""
    found = bricks.describe(path)
    levels = [level for _, level in found if not isinstance(level, BatError)]
    problems = [str(level) for _, level in found if isinstance(level, BatError)]
    if as_json:
        print_json({"file": path, "levels": [_to_json(*each) for each in found]})
    elif levels:
        first, times = levels[0], [time for time, _ in found]
        when = f"time {times[0]:.6g}" + (f" to {times[-1]:.6g}" if len(times) > 1 else "")
        cyclic = " ".join(axis for axis, flag in zip("xyz", first.cyclic) if flag)
        show(f"{path}: {' x '.join(map(str, first.points))} points, {len(found):,} time step{'s' * (len(found) != 1)}, {when}")
        show(f"  origin {_numbers(first.origin)}, spacing {_numbers(first.spacing)}" + (f", periodic along {cyclic}" if cyclic else ""))
        show(f"  {', '.join(dict.fromkeys(level.field for level in levels))} {first.dtype}[{first.components}], speed up to "
              f"{max(level.max_speed for level in levels):.6g}")
        for axis in range(first.components):
            lower, upper = min(level.minimum[axis] for level in levels), max(level.maximum[axis] for level in levels)
            show(f"    {'xyz'[axis]} " + (f"{lower:.6g} to {upper:.6g}" if lower <= upper else "no flow"))
        counts = [sum(getattr(level, name) for level in levels) for name in ("bricks", "blank_bricks", "resting_bricks")]
        show(f"  {counts[0]:,} bricks of {first.brick_points} points along each axis, {counts[1]:,} without flow, {counts[2]:,} at rest")
        sizes = [sum(getattr(level, name) for level in levels) for name in ("file_bytes", "value_bytes")]
        show(f"  {sizes[0]:,} bytes for {sizes[1]:,} bytes of values")
    for problem in problems:
        say(problem)
    return TROUBLE if problems else YES


def validate(path, as_json):
    """Checks a file for `validate`."""
    problem, found = None, []
    try:
        bricks.validate(path)
        found = [level for _, level in bricks.describe(path)]
    except BatError as error:
        if error.status not in (3, 4, 5, 6):  # errors that are not the files'
            raise
        problem = str(error)
    stored, blank = (sum(getattr(level, name) for level in found) for name in ("bricks", "blank_bricks"))
    if as_json:
        print_json({"file": path, "sound": problem is None, "levels": len(found) or None, "bricks": stored if found else None,
                    "blank_bricks": blank if found else None, "problem": problem})
    elif problem is None:
        show(f"{path}: valid, {len(found):,} time step{'s' * (len(found) != 1)} of {found[0].bricks:,} bricks, {blank:,} in total without flow")
    else:
        say(problem)
    return YES if problem is None else NO
