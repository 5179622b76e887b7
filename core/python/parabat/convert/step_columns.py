# SPDX-License-Identifier: BSD-3-Clause
"""Columns with the time or the step number of each row: which ones a table has, and which rows form a step.

    names = KeyColumns.find(columns, texts, options)
    keys = find_keys(names, walk)              # groups of rows, each of which becomes a step
    codes = keys.codes(times, steps)           # the group of each row

Several processes each add their own rows to an Index, exchange facts(), and merge() those of all. Like text_tables.py, this
file is also one of those of convert.py, which pvbatch runs without the package.
"""

import dataclasses
import math
import typing

import numpy as np

try:
    from .model import ConvertError
    from .text_tables import STEP_NAME, TIME_NAME, listed, split_unit
except ImportError:  # outside the package
    from text_tables import STEP_NAME, TIME_NAME, listed, split_unit
    from text_tables import TableError as ConvertError

MAX_STEPS = 1_000_000  # a column with more values is not taken for times
MANY_STEPS = 10_000    # nor one with more, if most occur only once


@dataclasses.dataclass(frozen=True)
class KeyColumns:
    """Names of columns that may tell steps apart: with a time and with a step number, or None. chosen: the one that the user
    named, or "". without: what --time-column none does, in words."""

    time: typing.Optional[str] = None
    step: typing.Optional[str] = None
    chosen: str = ""
    without: str = "keeps such a column as an attribute"

    def __bool__(self):
        return self.time is not None or self.step is not None

    def of_dates(self):
        """Returns the same for a column with dates, which is no attribute in any case."""
        return dataclasses.replace(self, without="leaves such a column out")

    @staticmethod
    def find(names, texts, options):
        """names: of the columns; texts: those of them without numbers."""
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
    """Rows of a step: its time and number, how many there are, and the first and the last piece with some of them."""

    time: typing.Optional[float]
    number: typing.Optional[int]
    count: int
    first: int
    last: int


@dataclasses.dataclass
class Keys:
    """What an Index found. groups: in ascending order, none if the table is one step. by: "time" or "step". columns: those
    that are not attributes. remarks: pairs of a key and words."""

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
    """The pairs of times and steps in a table, and where they are."""

    def __init__(self, names):
        self._names = names
        self._pairs = {}  # (time, step) -> [rows, first piece, last piece]; None for a missing one
        self._rows = 0

    def add(self, piece, times, steps):
        """The times and steps of the rows of a piece, each an array, or None if there is no such column. Returns whether
        more pieces are needed."""
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
        return self.has_space

    @property
    def has_space(self):
        """Whether there are no more pairs than an index keeps."""
        return len(self._pairs) <= MAX_STEPS

    def facts(self):
        """What merge() needs from other processes; JSON can hold it."""
        return [self._rows, [[*pair, *entry] for pair, entry in self._pairs.items()]]

    def merge(self, facts):
        """Adds the rows of another process, facts() of its Index."""
        rows, entries = facts
        self._rows += rows
        for time, step, count, first, last in entries:
            entry = self._pairs.setdefault((time, step), [0, first, last])
            entry[:] = entry[0] + count, min(entry[1], first), max(entry[2], last)

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
        """Returns (groups, "") of the distinct values of a column, or ([], why it cannot tell steps apart, or "")."""
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
        """Returns a time that float64 does not hold exactly, or None."""
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
    """Returns why different values are not steps although a column has the name of one, or ""."""
    rows = sum(group.count for group in groups)
    if len(groups) == rows or (len(groups) > MANY_STEPS and rows < 2 * len(groups)):
        return f"has {len(groups)} different values in {rows} rows; --time-column '{name}' makes each a step"
    return ""


def find_keys(names, walk):
    """Returns the Keys of a table. walk(names): yields the times and the steps of the rows of each piece, arrays or None."""
    def make_index(each):
        index = Index(each)
        return index if all(index.add(piece, *values) for piece, values in enumerate(walk(each))) else None
    return choose_keys(names, make_index)


def choose_keys(names, make_index):
    """Returns the Keys of a table. make_index(names): returns an Index of all rows, or None if it has no space for them."""
    if not names:
        return Keys([])
    several = names.time is not None and names.step is not None
    single = [dataclasses.replace(names, step=None), dataclasses.replace(names, time=None)]
    single = [each for each in single if not names.chosen or names.chosen in (each.time, each.step)]
    for each in [names, *(single if several else [])]:
        index = make_index(each)
        if index is not None:
            return index.settle()
    if names.chosen:
        raise ConvertError(f"argument --time-column: the column '{names.chosen}' has more than {MAX_STEPS} different values")
    name = names.step if names.time is None else names.time
    why = f"the column '{name}' stays an attribute: it has more than {MAX_STEPS} different values"
    return Keys([], remarks=[(f"not steps {name}", why)])


def _is_number(value):
    """Whether a value can be a step number."""
    return float(value).is_integer() and -2 ** 63 <= value < 2 ** 63


def _coded(values, count):
    """Returns (different values as Python numbers, index of that of each row); None for those that are missing."""
    if values is None:
        return [None], np.zeros(count, np.int64)
    known, codes = np.unique(values, return_inverse=True)
    return [each if math.isfinite(each) else None for each in known.tolist()], codes.reshape(-1).astype(np.int64)
