# SPDX-License-Identifier: BSD-3-Clause
"""Tables with several times: a column with the time or step number of each row splits one table into several steps.

    names = KeyColumns.find(columns, texts, options)
    keys = find_keys(names, walk)                   # groups of rows, one for each step
    yield from GroupedSteps(source, keys).steps()   # each reads its rows

Rows of one time need not be adjacent: the index stores the first and last piece that contain rows of a step, and only these
pieces and those between them are read. They stay in memory for the next steps, which usually need the same pieces.
"""

import dataclasses
import math
import typing

import numpy as np

from . import cf
from .model import ConvertError, Divided, Step, listed
from .text_tables import STEP_NAME, TIME_NAME, split_unit

MAX_STEPS = 1_000_000  # a column with more distinct values is not used as times
MANY_STEPS = 10_000    # the same limit if most values occur only once


@dataclasses.dataclass(frozen=True)
class KeyColumns:
    """Names of the columns with a time and with a step number that may distinguish steps, or None. chosen: the column that the
    user named, or "". without: describes what --time-column none does."""

    time: typing.Optional[str] = None
    step: typing.Optional[str] = None
    chosen: str = ""
    without: str = "keeps such a column as an attribute"

    def __bool__(self):
        return self.time is not None or self.step is not None

    @staticmethod
    def find(names, texts, options):
        """names: all columns. texts: non-numeric columns."""
        given = options.time_column
        if given == "none":
            return KeyColumns()
        if given is not None and given not in names:
            raise ConvertError(f"argument --time-column: unknown column '{given}'; available: {listed(names)}, or none")
        if given in texts:
            raise ConvertError(f"argument --time-column: the column '{given}' is not numeric")
        if given is not None and given in (options.columns or ()):
            raise ConvertError(f"argument --time-column: the column '{given}' has positions")
        free = [name for name in names if name not in texts and name not in (options.columns or ())]
        time, step = (next((name for name in free if kind.match(split_unit(name)[0].strip())), None) for kind in (TIME_NAME, STEP_NAME))
        if given is None:
            return KeyColumns(time, step)
        if STEP_NAME.match(split_unit(given)[0].strip()):
            return KeyColumns(time, given, given)
        return KeyColumns(given, step, given)


@dataclasses.dataclass
class Group:
    """The rows of a step: its time and number, the number of rows, and the first and last piece that contain some."""

    time: typing.Optional[float]
    number: typing.Optional[int]
    count: int
    first: int
    last: int


@dataclasses.dataclass
class Keys:
    """The result of an Index. groups: in ascending order, empty if the table is one step. by: "time" or "step". columns: those
    that are not attributes. remarks: pairs of a key and a message."""

    groups: list
    by: str = ""
    columns: tuple = ()
    unit: str = ""
    calendar: str = "standard"
    remarks: list = dataclasses.field(default_factory=list)

    def codes(self, times, steps):
        """Returns the index of the group of each row, -1 for rows without one."""
        values = times if self.by == "time" else steps
        known = np.array([group.time if self.by == "time" else group.number for group in self.groups])
        is_known = np.isfinite(values)
        codes = np.full(len(values), -1, np.int64)
        codes[is_known] = np.searchsorted(known, values[is_known].astype(known.dtype))
        return codes


class Index:
    """The distinct pairs of time and step number in a table, and their locations."""

    def __init__(self, names):
        self._names = names
        self._pairs = {}  # (time, step), None if missing -> [rows, first piece, last piece]
        self._rows = 0

    def add(self, piece, times, steps):
        """Adds the rows of a piece. times, steps: arrays, or None without such a column. Returns whether to continue with
        the next piece."""
        count = len(times if times is not None else steps)
        self._rows += count
        if not count:
            return True
        found = [_coded(values, count) for values in (times, steps)]
        codes, counts = np.unique(found[0][1] * len(found[1][0]) + found[1][1], return_counts=True)
        for code, rows in zip(codes.tolist(), counts.tolist()):
            key = found[0][0][code // len(found[1][0])], found[1][0][code % len(found[1][0])]
            entry = self._pairs.setdefault(key, [0, piece, piece])
            entry[0] += rows
            entry[2] = piece
        return len(self._pairs) <= MAX_STEPS

    def settle(self):
        """Returns the Keys."""
        names, remarks = self._names, []
        order = ("step", "time") if names.chosen and names.chosen == names.step else ("time", "step")
        for by in order:
            name = getattr(names, by)
            if name is None or (names.chosen and name != names.chosen):
                continue
            groups, why = self._groups(by)
            if groups and not (names.chosen or len(groups) == 1):
                why = _doubt(name, groups)
            if why:
                if names.chosen:
                    raise ConvertError(f"argument --time-column: the column '{name}' {why}")
                remarks.append((f"not steps {name}", f"the column '{name}' stays an attribute: it {why}"))
                continue
            if groups:
                return self._keys(by, name, groups, remarks)
        return Keys([], remarks=remarks)

    def _groups(self, by):
        """Returns (groups, "") for the distinct values of a column, or ([], why it cannot distinguish steps)."""
        place = 0 if by == "time" else 1
        groups = {}
        for pair, (rows, first, last) in self._pairs.items():
            if pair[place] is None:
                continue
            group = groups.setdefault(pair[place], [0, first, last, set()])
            group[:3] = group[0] + rows, min(first, group[1]), max(last, group[2])
            group[3].add(pair[1 - place])
        if by == "step" and not all(map(_is_number, groups)):
            return [], "has numbers that are not 64-bit integers"
        if by == "time" and len(set(map(float, groups))) < len(groups):
            return [], "has times that float64 cannot tell apart"
        shares = [group[3] for group in groups.values()]
        other = all(len(each) == 1 and None not in each for each in shares) and (
            by == "step" or all(_is_number(key) for each in shares for key in each))
        result = []
        for key in sorted(groups):
            rows, first, last, along = groups[key]
            along = next(iter(along)) if other else None
            time, number = (key, along) if by == "time" else (along, key)
            time, number = None if time is None else float(time), None if number is None else int(number)
            result.append(Group(time, number, rows, first, last))
        return result, ""

    def _rounded(self):
        """Returns a time that float64 cannot represent exactly, or None."""
        return next((time for time, _ in self._pairs if isinstance(time, int) and int(float(time)) != time), None)

    def _keys(self, by, name, groups, remarks):
        names = self._names
        other = names.step if by == "time" else names.time
        has_other = other is not None and (groups[0].number if by == "time" else groups[0].time) is not None
        columns = (name, other) if has_other else (name,)
        if other is not None and not has_other:
            why = f"the column '{other}' stays an attribute: it varies within a {'time' if by == 'time' else 'step'}"
            remarks = [*remarks, (f"not steps {other}", why)]
        if not names.chosen:
            shown = " and ".join(f"'{each}'" for each in columns)
            what = f"become {len(groups)} steps" if len(groups) > 1 else "are one step"
            remarks = [*remarks, ("steps", f"rows {what} by the column{'s' * has_other} {shown}; --time-column none "
                                           f"{names.without}")]
        missing = self._rows - sum(group.count for group in groups)
        if missing:
            remarks = [*remarks, ("no time", f"{missing} rows without a value in '{name}' are left out")]
        time = names.time if names.time in columns else None
        rounded = self._rounded() if time else None
        if rounded is not None:
            remarks = [*remarks, ("rounded time", f"times become float64; {rounded} is rounded to {int(float(rounded))}")]
        return Keys(groups, by, columns, split_unit(time)[1] if time else "", remarks=remarks)


def _doubt(name, groups):
    """Returns why the values of a column are not steps despite its name, or ""."""
    rows = sum(group.count for group in groups)
    if len(groups) == rows or (len(groups) > MANY_STEPS and rows < 2 * len(groups)):
        return f"has {len(groups)} different values in {rows} rows; --time-column '{name}' makes each a step"
    return ""


def find_keys(names, walk):
    """Returns the Keys of a table. walk(names): yields the times and steps of the rows of each piece, as arrays or None."""
    if not names:
        return Keys([])
    several = names.time is not None and names.step is not None
    single = [dataclasses.replace(names, step=None), dataclasses.replace(names, time=None)]
    single = [each for each in single if not names.chosen or names.chosen in (each.time, each.step)]
    for each in [names, *(single if several else [])]:
        index = Index(each)
        if all(index.add(piece, *values) for piece, values in enumerate(walk(each))):
            return index.settle()
    if names.chosen:
        raise ConvertError(f"argument --time-column: the column '{names.chosen}' has more than {MAX_STEPS} different values")
    name = names.step if names.time is None else names.time
    why = f"the column '{name}' stays an attribute: it has more than {MAX_STEPS} different values"
    return Keys([], remarks=[(f"not steps {name}", why)])


def _is_number(value):
    """Returns whether a value can be a step number."""
    return float(value).is_integer() and -2 ** 63 <= value < 2 ** 63


def _coded(values, count):
    """Returns (distinct values as Python numbers, index of each row's value); missing values are None."""
    if values is None:
        return [None], np.zeros(count, np.int64)
    known, codes = np.unique(values, return_inverse=True)
    return [each if math.isfinite(each) else None for each in known.tolist()], codes.reshape(-1).astype(np.int64)


class GroupedSteps:
    """The steps of a table.

    source: has load(first, last, i, n), which returns (times, steps, content) for the i-th of n parts of a range of pieces;
    particles(content, rows), which returns the Particles of some of these rows; and size(first, last), their approximate
    size in bytes.
    """

    def __init__(self, source, keys):
        self._source = source
        self._keys = keys
        self._window = None  # (first, last), content, rows sorted by step, end of each step in them

    def steps(self):
        """Yields the Steps."""
        clock = cf.clock({"units": self._keys.unit, "calendar": self._keys.calendar})
        for i, group in enumerate(self._keys.groups):
            yield Step(lambda i=i: [self._read(i)], number=group.number, time=group.time, clock=clock,
                       divided=lambda i=i: [self._divided(i)])

    def _read(self, i):
        group = self._keys.groups[i]
        place = (group.first, group.last)
        if self._window is None or self._window[0] != place:
            self._window = None  # frees the memory before the next read
            times, steps, content = self._source.load(*place, 0, 1)
            codes = self._keys.codes(times, steps)
            order = np.argsort(codes, kind="stable")
            ends = np.searchsorted(codes[order], np.arange(len(self._keys.groups) + 1))
            self._window = place, content, order, ends
        _, content, order, ends = self._window
        return self._particles(content, order[ends[i]:ends[i + 1]])

    def _divided(self, i):
        group = self._keys.groups[i]

        def read(part, parts):
            times, steps, content = self._source.load(group.first, group.last, part, parts)
            return self._particles(content, np.flatnonzero(self._keys.codes(times, steps) == i))
        return Divided(self._source.size(group.first, group.last), read, varies=self._source.varies)

    def _particles(self, content, rows):
        particles = self._source.particles(content, rows)
        particles.remarks += self._keys.remarks
        if self._keys.unit:
            particles.metadata.setdefault("units", {})["time"] = self._keys.unit
        return particles
