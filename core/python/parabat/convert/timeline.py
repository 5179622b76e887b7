# SPDX-License-Identifier: BSD-3-Clause
"""Merges the steps of a file in which each group of particles has its own steps and times.

    group a: steps 0, 10             step 0: a, b
    group b: steps 0, 20      ->     step 10: a
                                     step 20: b

Frames of different groups form one step if they have the same step number or, if some groups lack step numbers, the same
time. If a group has neither, its frames are matched one by one with those of the first group, provided that it has as many.
"""

NUMBER, TIME = 0, 1
DIGITS = 12  # significant digits in which times must agree, since programs compute them in different ways


def merge(groups):
    """Returns (steps, remarks, names of groups that are left out). groups: name -> [(number or None, time or None) for each
    frame]. steps: [(number, time, {name: index of the frame})]."""
    for key in (NUMBER, TIME):
        if all(frame[key] is not None for frames in groups.values() for frame in frames):
            return (*_by_key(groups, key), [])
    return _by_index(groups)


def _by_key(groups, key):
    steps, order, remarks = {}, [], []
    is_ascending = True
    for name, frames in groups.items():
        seen, before = {}, None
        for i, frame in enumerate(frames):
            value = frame[key] if key == NUMBER else float(f"{frame[key]:.{DIGITS}g}")
            occurrence = seen[value] = seen.get(value, -1) + 1
            is_ascending = is_ascending and (before is None or before < value)
            before = value
            if (value, occurrence) not in steps:
                steps[value, occurrence] = [*frame, {}]
                order.append((value, occurrence))
            step = steps[value, occurrence]
            step[2][name] = i
            for which in (NUMBER, TIME):
                if step[which] is None:
                    step[which] = frame[which]
            if key == NUMBER and frame[TIME] is not None and not _agree(frame[TIME], step[TIME]):
                remarks.append((f"times of {name}", f"the group '{name}' has time {frame[TIME]} for step {value}, other "
                                f"groups {step[TIME]}, which is used"))
    if is_ascending:
        order.sort()
    return [tuple(steps[each]) for each in order], remarks


def _agree(one, other):
    return f"{one:.{DIGITS}g}" == f"{other:.{DIGITS}g}"


def _by_index(groups):
    """Merges groups, some of which have no steps or times."""
    def is_named(frames):
        return any(all(frame[key] is not None for frame in frames) for key in (NUMBER, TIME))
    first = next((name for name, frames in groups.items() if is_named(frames)), next(iter(groups)))
    remarks, left_out = [], []
    steps = [(*frame, {first: i}) for i, frame in enumerate(groups[first])]
    for name, frames in groups.items():
        if name == first:
            continue
        if len(frames) != len(steps):
            left_out.append(name)
            remarks.append((f"frames of {name}", f"the group '{name}' is not written: its {len(frames)} frames cannot be matched "
                            f"with the {len(steps)} of '{first}', since it does not have the same kind of step or time; "
                            "select it with --species"))
            continue
        if is_named(groups[first]):
            remarks.append((f"frames of {name}", f"the group '{name}' has no steps and times; those of '{first}' are "
                            "used"))
        for i, step in enumerate(steps):
            step[2][name] = i
    return steps, remarks, left_out
