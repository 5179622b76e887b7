# SPDX-License-Identifier: BSD-3-Clause
"""Splits records with a column of times or step numbers into several steps: see table_times.py."""

from .model import Collector, ConvertError, check_memory, part_of, stack
from .step_columns import KeyColumns, find_keys
from .table_times import GroupedSteps

PIECE = 1 << 18  # rows


def split(layout, is_table, about, species=""):
    """Returns the steps of a one-step Layout by its column of times, or None without one. is_table: the arrays are columns of
    one table, whose times are used without --time-column. about: returns metadata."""
    given = layout.options.time_column
    if given in (None, "none") and not (is_table and given is None):
        return None
    if layout.steps is not None:
        if given is not None:
            raise ConvertError(f"argument --time-column: {layout.where or 'the file '}has arrays of several steps already")
        return None
    if given is None and any(value is not None for value in layout.frames[0]):
        return None
    if given in layout.positions:
        raise ConvertError(f"argument --time-column: the column '{given}' has positions")
    shapes = {name: layout.columns.shapes[name] for name in layout.fixed if name not in layout.positions}
    numeric = [name for name, (shape, dtype) in shapes.items() if shape == (layout.count,) and dtype.kind in "iuf"]
    names = KeyColumns.find(list(shapes), [name for name in shapes if name not in numeric], layout.options)
    if not names or not layout.count:
        return None
    check_memory(f"{layout.where}claims {layout.count} rows", 8 * layout.count)
    source = _Rows(layout, names, about, species)
    if source.keys.groups:
        layout.remarks = [remark for remark in layout.remarks if remark[0] not in [f"time {name}" for name in source.keys.columns]]
        return GroupedSteps(source, source.keys).steps()
    layout.remarks += source.keys.remarks
    return None


class _Rows:
    """Reads the rows of a Layout in pieces; a `source` for GroupedSteps."""

    varies = False

    def __init__(self, layout, names, about, species):
        self._layout, self._names, self._about, self._species = layout, names, about, species
        self._ends = [*range(0, layout.count, PIECE), layout.count]
        self.keys = find_keys(names, self._walk)
        self._requested = [name for name in layout.requested if name not in self.keys.columns]

    def _key_values(self, names, rows):
        return [self._layout.columns.read(name, rows, []) if name else None for name in (names.time, names.step)]

    def _walk(self, names):
        for first, end in zip(self._ends, self._ends[1:]):
            yield self._key_values(names, slice(first, end))
        self._layout.columns.forget()

    def _row_bytes(self):
        shapes = self._layout.columns.shapes
        size = 0
        for name in self._requested:
            shape, dtype = shapes[name]
            values = dtype.itemsize
            for length in shape[1:]:
                values *= length
            size += values
        return max(1, size)

    def size(self, first, last):
        return self._row_bytes() * (self._ends[last + 1] - self._ends[first])

    def load(self, first, last, i, n):
        first, end = (self._ends[first] + place for place in part_of(self._ends[last + 1] - self._ends[first], i, n))
        check_memory(f"claims {end - first} rows of {len(self._requested)} columns", self._row_bytes() * (end - first))
        rows, remarks = slice(first, end), []
        keys = self._key_values(self._names, rows)
        content = {name: self._layout.columns.read(name, rows, remarks) for name in self._requested}
        self._layout.columns.forget()
        return *keys, (content, remarks)

    def particles(self, content, rows):
        layout = self._layout
        arrays, remarks = content
        collector = Collector(layout.options, len(rows))
        collector.remarks += [*layout.remarks, *remarks]
        collector.others |= (set(layout.fixed) - set(self._requested)) | layout.unwanted
        for name in self._requested:
            collector.add(name, arrays[name][rows], f"{layout.where}{name}")
        positions = stack([None if name is None else collector.arrays.pop(name) for name in layout.positions])
        return collector.particles(positions, {**self._about(), **layout.kept(None)}, self._species)
