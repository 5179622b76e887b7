# SPDX-License-Identifier: BSD-3-Clause
"""Vertex cells: finds the cell of each point, if cells and points correspond one to one."""

import numpy as np


def cell_of_each_point(connectivity, offsets, count):
    """Returns the index of the cell of each of `count` points, or None unless each point is in exactly one cell. offsets:
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
    """Returns the attribute name for a cell array, given the names `taken` by point arrays."""
    if name not in taken:
        return name
    name += "_cell"
    while name in taken:
        name += "_"
    return name
