# SPDX-License-Identifier: BSD-3-Clause
"""Tables of numbers in delimited text: .csv, .tsv, .txt.

Integers become 64-bit integers. Text columns are left out and reported. A column with times or step numbers splits one table
into several steps.
"""

import contextlib
import csv
import dataclasses
import functools
import os

import numpy as np

from .. import text_tables
from .._output import BadRow, parse_columns
from ..model import AXES, Collector, ConvertError, Divided, Format, Step, find_positions
from ..step_columns import KeyColumns, find_keys
from ..streams import Stream
from ..table_times import GroupedSteps
from ..text_tables import SINCE_1970, split_unit

KEPT = 8  # such a share of the memory may have the rows that the search for steps has read


def steps(path, options):
    with Stream(path) as stream:
        if stream.is_compressed:
            raise ConvertError("is compressed, but tables are read in parts: decompress it first")
        may_have_steps = options.time_column is not None or text_tables.MAY_HAVE_STEPS.search(stream.peek(1 << 16))
    remarks, dates = [], False
    if may_have_steps and options.time_column != "none":
        try:
            dates = True
            grouped = _Grouped(_Table(path, options, dates), dates)
        except text_tables.DateError as error:
            if options.time_column is not None:
                raise ConvertError(str(error)) from None
            dates = False
            grouped = _Grouped(_Table(path, options, dates), dates)
        if grouped.keys.groups:
            yield from GroupedSteps(grouped, grouped.keys).steps()
            return
        remarks = grouped.keys.remarks
    rows = functools.lru_cache(maxsize=None)(lambda: Rows(_Table(path, options, dates), remarks))
    yield Step(lambda: [_read(rows())], divided=lambda: [rows()])


def _read(rows):
    share = rows.read(0, 1)
    rows.settle([rows.facts(share)])
    return rows.conform(share)


class _Table:
    """A file with a table: its layout, and the columns to read."""

    def __init__(self, path, options, dates=False):
        """dates: convert dates in a time column to seconds."""
        self.path, self.options = path, options
        with _explained():
            self.layout = text_tables.look(path, options.delimiter, options.decimal, options.columns)
        if dates:
            self.layout.find_dates(options.time_column)
        self.texts = {self.layout.names[i]: value for i, value in self.layout.texts.items()}
        self.columns, self._unit = self._choose_positions()
        self._chosen = dataclasses.replace(options, columns=self.columns)
        self.requested = [name for name in self.layout.names if Collector(self._chosen).wants(name)]
        for name, value in self.texts.items():
            if name in (self.columns or ()):
                raise ConvertError(f"the column '{name}' is not numeric: '{value[:60]}'")

    def _choose_positions(self):
        """Returns the names of the position columns, or None to find them by name alone, and their unit."""
        names = self.layout.names
        columns = self.options.columns
        if columns is not None and len(columns) > 3 and set(columns) <= set(names):
            columns = None  # the option names all columns
        bare = {}
        for name in names:
            bare.setdefault(split_unit(name)[0], name)
        if columns is None and not any(set(axes) <= set(names) for axes in AXES):
            found = next((axes for axes in [*AXES, tuple("XYZ")] if set(axes) <= set(bare)), None)
            columns = [bare[axis] for axis in found] if found else None
        units = {split_unit(name)[1] for name in columns or () if name != "none"}
        return columns, units.pop() if len(units) == 1 else ""

    def share(self, part, parts, requested, span=None):
        with _explained():
            return text_tables.Share(self.path, self.layout, part, parts, requested, _parser(self.options), self.options.at,
                                     span)

    def agree(self, facts, requested):
        with _explained():
            return text_tables.agree(self.layout, facts, requested)

    def particles(self, rows, columns, remarks, left_out=()):
        """Returns Particles for `rows` rows. columns: arrays by name. left_out: names of columns that are not attributes."""
        collector = Collector(self._chosen, rows)
        collector.remarks += remarks
        collector.others |= {name for name in self.layout.names if not self.options.wants(name)} | set(left_out)
        for name, array in columns.items():
            collector.add(name, array)
        units = {"positions": self._unit} if self._unit else {}
        units.update({name: SINCE_1970 for name in columns if self.layout.has_dates(name)})
        self._check_positions(columns)
        return collector.particles(None, {"units": units} if units else None)

    def _check_positions(self, columns):
        """Appends hints to the error if no position columns are found."""
        if self.columns is not None:
            return
        try:
            find_positions({name: () for name in columns})
        except ConvertError as error:
            hints = []
            bare = {split_unit(name)[0]: name for name in [*columns, *self.texts]}
            plane = next((axes for axes in [*AXES, tuple("XYZ")] if set(axes[:2]) <= set(bare)), None)
            if plane is not None and plane[2] not in bare and not {bare[axis] for axis in plane[:2]} & set(self.texts):
                words = ",".join([*(bare[axis] for axis in plane[:2]), "none"])
                words = f"'{words}'" if " " in words else words
                hints.append(f"for positions in a plane, --columns {words}")
            if self.texts:
                hints.append("not numeric: " + ", ".join(
                    f"'{name}' ('{value[:30]}' ...)" for name, value in list(self.texts.items())[:4]))
            hints += [words for key, words in self.layout.remarks if key == "names"]
            raise ConvertError("; ".join([str(error), *hints])) from None


class Rows(Divided):
    """Reads the rows of a one-step table; a part consists of the rows that begin in a share of the bytes."""

    def __init__(self, table, remarks):
        super().__init__(os.path.getsize(table.path), self._share, varies=True)
        self._table, self._others = table, remarks

    def _share(self, i, n):
        return self._table.share(i, n, self._table.requested)

    def facts(self, part):
        return part.facts

    def settle(self, facts):
        self._types, self._remarks = self._table.agree(facts, self._table.requested)

    def conform(self, part):
        return self._table.particles(part.rows, part.columns(self._types), [*self._remarks, *self._others])


class _Grouped:
    """The rows of a table with several steps, in pieces of a few MiB; the `source` of GroupedSteps. The pieces that the
    search for steps has read stay in memory if they are small."""

    varies = False  # types are determined from all rows

    def __init__(self, table, dates):
        self.path, self.options = table.path, table.options
        self._table = table
        first, end = table.layout.start, os.path.getsize(table.path)
        count = max(1, (end - first) // text_tables.CHUNK)
        self._ends = [first + max(0, end - first) * i // count for i in range(count + 1)]
        self._pieces = {}  # index -> Share
        status = os.stat(table.path)
        place = ("table", os.path.realpath(table.path), status.st_size, status.st_mtime_ns, count, dates)
        if place not in self.options.known:
            self.options.known[place] = self._find_keys()
        self.keys, self._names, self._types, self._remarks = self.options.known[place]
        self._read = [name for name in self._requested(self._names) if name in self._types]

    def _find_keys(self):
        """Returns (keys, names of their columns, types of all columns, remarks)."""
        layout = self._table.layout
        names = KeyColumns.find(layout.names, self._table.texts, self.options)
        if names.time and layout.has_dates(names.time):
            names = names.of_dates()
        keys = find_keys(names, self._walk)
        if names.time in keys.columns and layout.has_dates(names.time):
            keys.unit = SINCE_1970
        if not keys.groups:
            self._pieces = {}
            return keys, names, {}, []
        types, remarks = self._table.agree(self._facts, self._requested(names))
        own = [f"missing {name}" for name in keys.columns]  # these rows are left out and reported
        return keys, names, types, [(key, words) for key, words in remarks if key not in own]

    def _requested(self, names):
        own = [name for name in (names.time, names.step) if name and name not in self._table.requested]
        return self._table.requested + own

    def _walk(self, names):
        self._facts, self._pieces = [], {}
        requested, own = self._requested(names), [name for name in (names.time, names.step) if name]
        room = self.options.room() // KEPT if self.options.room else 0
        for i in range(len(self._ends) - 1):
            share = self._table.share(0, 1, requested, self._ends[i:i + 2])
            self._facts.append(share.facts)
            columns = share.columns(self._table.agree([share.facts], requested)[0], own)
            room -= share.nbytes
            if room >= 0:
                self._pieces[i] = share
            else:
                self._pieces = {}
            yield [columns.get(name) for name in (names.time, names.step)]

    def size(self, first, last):
        return self._ends[last + 1] - self._ends[first]

    def load(self, first, last, i, n):
        pieces = [self._pieces.get(piece) for piece in range(first, last + 1)]
        if n > 1 or None in pieces:
            share = self._table.share(i, n, self._read, (self._ends[first], self._ends[last + 1]))
            columns = share.columns(self._types)
        else:
            columns = {name: np.concatenate([piece.columns(self._types, [name])[name] for piece in pieces]) for name in self._read}
        keys = [columns.get(name) for name in (self._names.time, self._names.step)]
        kept = set(self._table.requested) - set(self.keys.columns)
        return *keys, {name: array for name, array in columns.items() if name in kept}

    def particles(self, content, rows):
        columns = {name: array[rows] for name, array in content.items()}
        return self._table.particles(len(rows), columns, self._remarks, self.keys.columns)


@contextlib.contextmanager
def _explained():
    """Turns errors of the table into a ConvertError."""
    try:
        yield
    except text_tables.DateError:
        raise
    except (text_tables.TableError, csv.Error) as error:
        raise ConvertError(str(error)) from None


def _parser(options):
    def parse(text, delimiter, types):
        """Returns arrays for the columns that have a type, or None if the text has unusual content."""
        delimiter = " " if delimiter is None else delimiter
        if not delimiter.isascii():
            return None
        rows = text.count(b"\n") + 1
        arrays = [None if kind is None else np.empty(rows, kind) for kind in types]
        try:
            count, _ = parse_columns(text, arrays, delimiter, threads=options.threads)
        except BadRow:
            return None
        return [array if array is None else array[:count] for array in arrays]
    return parse


FORMAT = Format("table", "numeric tables in text files", steps, extensions=(".csv", ".tsv", ".txt", ".xyz"),
                options=("columns", "delimiter", "decimal", "time_column"), rank=20)
