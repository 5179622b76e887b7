# SPDX-License-Identifier: BSD-3-Clause
"""Vertex cells: which cell a point is in, if cells and points correspond to each other."""

import numpy as np


def cell_of_each_point(connectivity, offsets, count):
    """The index of the cell that each of `count` points is in; None unless each point is in exactly one cell. offsets:
    where the points of each cell begin, and the end of the last."""
    sizes = np.diff(offsets)
    if len(connectivity) != count or (sizes <= 0).any() or int(sizes.sum()) != count:
        return None
    if count and (connectivity.min() < 0 or connectivity.max() >= count):
        return None
    cell = np.full(count, -1, np.int64)
    cell[connectivity] = np.repeat(np.arange(len(sizes)), sizes)
    return cell if (cell >= 0).all() else None


def cell_name(name, taken):
    """The name of an attribute made of a cell array, where point arrays have the names `taken`."""
    if name not in taken:
        return name
    name += "_cell"
    while name in taken:
        name += "_"
    return name
