# SPDX-License-Identifier: BSD-3-Clause
"""Tables with several times: each group of rows that step_columns.py finds becomes a step.

    names = KeyColumns.find(columns, texts, options)
    keys = find_keys(names, walk)
    yield from GroupedSteps(source, keys).steps()   # which read the rows of a step

Rows of one time need not be adjacent: the index knows the first and the last piece with rows of a step, and only these
pieces are read for it. They stay in memory for the next steps, which usually need the same ones. If they do not fit in memory
and most steps have rows everywhere, rows_by_step.py sorts the rows on disk.
"""

import itertools

import numpy as np

from . import cf
from .model import Divided, Step, part_of
from .rows_by_step import write_rows


class GroupedSteps:
    """The steps of a table.

    source: has load(first, last, i, n), which returns (times, steps, content) of the i-th of n parts of some pieces;
    particles(content, rows), the Particles of some of these rows; size(first, last), about how many bytes they have; varies,
    of Divided. If it has a path and options, content is a dict of arrays by name, the same types in all pieces, and the rows
    can be sorted on disk.
    """

    def __init__(self, source, keys):
        self._source = source
        self._keys = keys
        self._window = None  # (first, last), content, rows sorted by step, end of each step in them
        self._sorted = None  # RowsByStep
        self._remarks = list(keys.remarks)

    def steps(self):
        """Yields the Steps."""
        clock = cf.clock({"units": self._keys.unit, "calendar": self._keys.calendar})
        try:
            for i, group in enumerate(self._keys.groups):
                yield Step(lambda i=i: [self._read(i)], number=group.number, time=group.time, clock=clock,
                           divided=lambda i=i: [self._divided(i)])
        finally:
            if self._sorted:
                self._sorted.close()

    def _read(self, i):
        group = self._keys.groups[i]
        if self._sorted:
            return self._read_sorted(i, 0, 1)
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
        if self._sorted:
            return Divided(group.count * self._sorted.row_bytes, lambda part, parts: self._read_sorted(i, part, parts))

        def read(part, parts):
            times, steps, content = self._source.load(group.first, group.last, part, parts)
            return self._particles(content, np.flatnonzero(self._keys.codes(times, steps) == i))
        return Divided(self._source.size(group.first, group.last), read, varies=self._source.varies, prepare=self._sort)

    def _read_sorted(self, i, part, parts):
        first, end = part_of(self._keys.groups[i].count, part, parts)
        return self._particles(self._sorted.read(i, first, end), np.arange(end - first))

    def _sort(self, memory_bytes):
        """Sorts the rows on disk if steps would be read from all over the table again and again. Returns whether it did."""
        scratch = getattr(self._source, "options", None) and self._source.options.scratch
        groups = self._keys.groups
        pieces = 1 + max(group.last for group in groups)
        spans = [1 + group.last - group.first for group in groups]
        if self._sorted or scratch is None or scratch.is_one or sum(span for span in spans if span > 2) <= 2 * pieces:
            return False
        self._window = None
        found = scratch.rows_of(self._source.path, lambda name: self._write_rows(name, pieces, memory_bytes))
        if isinstance(found, str):
            self._add_remark(f"the rows of each step are spread over the table, which does not fit in memory; the table is read once for each step, "
                             f"since sorting its rows on disk failed: {found}")
            self._source.options.scratch = None
            return False
        self._sorted = found
        size = sum(group.count for group in groups) * found.row_bytes
        self._add_remark("the rows of each step are spread over the table, which does not fit in memory; a temporary folder next to the output has "
                         f"the rows sorted by step, {size / 2 ** 20:.0f} MiB")
        return True

    def _add_remark(self, words):
        self._remarks.append(("sorted", words))

    def _write_rows(self, name, pieces, memory_bytes):
        options, kinds = self._source.options, []
        at = options.at

        def load():
            for piece in range(pieces):
                options.at = lambda share, piece=piece: at((piece + share) / pieces)
                times, steps, content = self._source.load(piece, piece, 0, 1)
                if not kinds:
                    kinds.extend([column, array.dtype.str, array.shape[1:]] for column, array in content.items())
                yield self._keys.codes(times, steps), content
        try:
            walk = load()
            first = next(walk)
            return write_rows(name, kinds, sum(group.count for group in self._keys.groups), itertools.chain([first], walk), memory_bytes)
        finally:
            options.at = at

    def _particles(self, content, rows):
        particles = self._source.particles(content, rows)
        particles.remarks += self._remarks
        if self._keys.unit:
            particles.metadata.setdefault("units", {})["time"] = self._keys.unit
        return particles
