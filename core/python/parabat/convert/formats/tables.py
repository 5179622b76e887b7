# SPDX-License-Identifier: BSD-3-Clause
"""Tables of numbers in delimited text: .csv, .tsv, .txt. Integers stay integers of 64 bits; columns of texts are left
out and said."""

import contextlib
import csv
import functools
import os

import numpy as np

from .. import text_tables
from .._output import BadRow, parse_columns
from ..model import Collector, ConvertError, Divided, Format, Step
from ..streams import Stream


def steps(path, options):
    with Stream(path) as stream:
        if stream.is_compressed:
            raise ConvertError("is compressed, but tables are read in parts: decompress it first")
    rows = functools.lru_cache(maxsize=None)(lambda: Rows(path, options))
    yield Step(lambda: [_read(rows())], divided=lambda: [rows()])


def _read(rows):
    share = rows.read(0, 1)
    rows.settle([rows.facts(share)])
    return rows.conform(share)


class Rows(Divided):
    """The rows of a table; parts are those that begin in a share of its bytes."""

    def __init__(self, path, options):
        super().__init__(os.path.getsize(path), self._share, varies=True)
        self._path, self._options = path, options
        with _explained():
            self._layout = text_tables.look(path, options.delimiter)
        self._requested = [name for name in self._layout.names if Collector(options).wants(name)]
        for i, value in self._layout.texts.items():
            if self._layout.names[i] in (options.columns or ()):
                raise ConvertError(f"the column '{self._layout.names[i]}' is not numeric: '{value[:60]}'")

    def _share(self, i, n):
        with _explained():
            return text_tables.Share(self._path, self._layout, i, n, self._requested, _parser(self._options),
                                     self._options.at)

    def facts(self, part):
        return part.facts

    def settle(self, facts):
        with _explained():
            self._types, self._remarks = text_tables.agree(self._layout, facts, self._requested)

    def conform(self, part):
        collector = Collector(self._options, part.rows)
        collector.remarks += self._remarks
        collector.others |= {name for name in self._layout.names if not self._options.wants(name)}
        for name, array in part.columns(self._types).items():
            collector.add(name, array)
        return collector.particles()


@contextlib.contextmanager
def _explained():
    """What is wrong with the table becomes a ConvertError."""
    try:
        yield
    except (text_tables.TableError, csv.Error) as error:
        raise ConvertError(str(error)) from None


def _parser(options):
    def parse(text, delimiter, types):
        """Arrays of the columns that have a type, or None if something in the text is unusual."""
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
                options=("columns", "delimiter"), rank=20)
