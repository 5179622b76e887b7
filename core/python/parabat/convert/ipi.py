# SPDX-License-Identifier: BSD-3-Clause
"""Comments of XYZ files that i-PI writes: the cell, and the units of the cell and of the coordinates.

    # CELL(abcABC):   10.0   11.0   12.0   90.0   90.0   90.0  Traj: positions{angstrom} Step: 5 Bead: 0 cell{atomic_unit}

abcABC are lengths and angles in degrees, H is a matrix whose columns are the vectors of the cell, GENH one whose rows are.
"""

import re

import numpy as np

from . import cells
from .model import ConvertError

CELL = re.compile(r"CELL[(\[{](abcABC|H|GENH)[)\]}]:([-+0-9.eE\s]*)")
UNIT = re.compile(r"(?<![\w.])([A-Za-z_]\w*)\{(\w*)\}")
SIZES = {"abcABC": 6, "H": 9, "GENH": 9}
POSITIONS = ("positions", "x_centroid", "x_centroid_even", "x_centroid_odd")
DEFAULT = "atomic_unit"
ANGSTROMS = {DEFAULT: 0.529177210903, "angstrom": 1.0, "picometer": 1e-2, "nanometer": 10.0, "micrometer": 1e4, "meter": 1e10}
NAMES = {DEFAULT: "bohr", "nanometer": "nm"}


def read_comment(comment):
    """Returns (edges, unit of the positions or None, remarks); edges is None if the file has no cell. None if i-PI did not
    write this comment."""
    found = CELL.search(comment)
    if found is None:
        return None
    rest = comment[:found.start()] + comment[found.end():]
    units = {name: unit if unit not in ("", "automatic") else DEFAULT for name, unit in UNIT.findall(rest)}
    cell_unit, remarks = units.pop("cell", None), []
    kind, unit = next(iter(units.items()), (None, None))
    if kind is not None and kind not in POSITIONS:
        remarks.append(("kind", f"the coordinates are called '{kind}' by i-PI; they are converted as positions, without box and "
                                "unit"))
        return None, None, remarks
    try:
        edges = _edges(found[1], found[2].split())
        if edges is not None:
            edges = _converted(edges, cell_unit, unit, remarks)
    except ConvertError as error:
        edges = None
        remarks.append(("box", f"the box is not written: {error}"))
    return edges, NAMES.get(unit, unit), remarks


def _edges(form, words):
    """Returns the vectors of the cell as rows, or None for a cell without volume, which stands for none."""
    try:
        numbers = np.array(words, float)
    except ValueError:
        numbers = np.empty(0)
    if len(numbers) != SIZES[form] or not np.isfinite(numbers).all():
        raise ConvertError(f"CELL({form}): '{' '.join(words)[:80]}' is not {SIZES[form]} numbers")
    if form == "abcABC":
        if min(numbers[:3]) <= 0 or min(numbers[3:]) <= 0 or max(numbers[3:]) >= 180:
            return None
        edges = cells.vectors_of(numbers[:3], numbers[3:])
    else:
        edges = numbers.reshape(3, 3).T if form == "H" else numbers.reshape(3, 3)
    return edges if np.isfinite(edges).all() and np.linalg.det(edges) > 0 else None


def _converted(edges, own, unit, remarks):
    """Returns the vectors in the unit of the positions."""
    if own is None and unit is not None:
        own = DEFAULT
        remarks.append(("cell unit", "the comment does not name the unit of the cell, which is atomic_unit then"))
    if own == unit:
        return edges
    if own not in ANGSTROMS or unit not in ANGSTROMS:
        raise ConvertError(f"its cell is in '{own}', the positions in '{unit or 'a unit that is not named'}'; known: "
                           + ", ".join(ANGSTROMS))
    return edges * (ANGSTROMS[own] / ANGSTROMS[unit])
