# SPDX-License-Identifier: BSD-3-Clause
"""Tables of numbers in delimited text: .csv, .tsv, .txt. Integers stay integers of 64 bits; columns of texts are left
out and said."""

import csv

import numpy as np

from .. import text_tables
from .._output import BadRow, parse_columns
from ..model import Collector, ConvertError, Format, Step
from ..streams import Stream


def steps(path, options):
    with Stream(path) as stream:
        if stream.is_compressed:
            raise ConvertError("is compressed, and tables are read in pieces from their middle: unpack it")
    yield Step(lambda: [_read(path, options)])


def _read(path, options):
    try:
        layout = text_tables.look(path, options.delimiter)
        collector = Collector(options)
        wanted = [name for name in layout.names if collector.wants(name)]
        for i, value in layout.texts.items():
            if layout.names[i] in (options.columns or ()):
                raise ConvertError(f"the column '{layout.names[i]}' holds no numbers: '{value[:60]}'")
        share = text_tables.Share(path, layout, wanted=wanted, parser=_parser(options), told=options.at)
        types, remarks = text_tables.agree(layout, [share.facts], wanted)
    except (text_tables.TableError, csv.Error) as error:
        raise ConvertError(str(error)) from None
    collector.count = share.rows
    collector.remarks += remarks
    for name, array in share.columns(types).items():
        collector.add(name, array)
    return collector.particles()


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


FORMAT = Format("table", "tables of numbers in text", steps, extensions=(".csv", ".tsv", ".txt"),
                options=("columns", "delimiter"), rank=20)
