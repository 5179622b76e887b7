# SPDX-License-Identifier: BSD-3-Clause
"""Tables with several times: each group of rows that step_columns.py finds becomes a step.

    names = KeyColumns.find(columns, texts, options)
    keys = find_keys(names, walk)
    yield from GroupedSteps(source, keys).steps()   # which read the rows of a step

Rows of one time need not be adjacent: the index knows the first and the last piece with rows of a step, and only these
pieces are read for it. They stay in memory for the next steps, which usually need the same ones.
"""

import numpy as np

from . import cf
from .model import Divided, Step


class GroupedSteps:
    """The steps of a table.

    source: has load(first, last, i, n), which returns (times, steps, content) of the i-th of n parts of some pieces;
    particles(content, rows), the Particles of some of these rows; size(first, last), about how many bytes they have.
    """

    def __init__(self, source, keys):
        self._source = source
        self._keys = keys
        self._window = None  # (first, last), content, order of the rows by step, ends of the steps in it

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
            self._window = None  # before more is read
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
