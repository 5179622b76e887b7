# SPDX-License-Identifier: BSD-3-Clause
"""AtomEye configurations (.cfg), also written by `dump cfg` of LAMMPS, in the standard and the extended format.

    Number of particles = 2
    A = 1 Angstrom (basic length-scale)
    H0(1,1) = 7.2 A                      rows of H0 are the edges of the cell, in units of A
    ...
    .NO_VELOCITY.                        extended format only, like the next two
    entry_count = 5
    auxiliary[0] = charge [e]
    63.546                               mass and element of the atoms that follow
    Cu
    0.1 0.2 0.3 0.5 ...                  cell fractions, their time derivatives unless .NO_VELOCITY., auxiliary values

In the standard format, a line is: mass, element, fractions, derivatives. Positions are A times H0 transposed times the
fractions. The format has no fields for steps, times and the origin of the cell.
"""

import re

import numpy as np

from .. import cells
from .._output import BadRow, parse_columns
from ..fixed_columns import take_until
from ..model import Collector, ConvertError, Format, Step, check_memory, codes_of
from ..streams import Stream
from .lammps import INTEGERS, VECTORS

FIRST = re.compile(rb"^(?!\s*#)[^=\n]*[^=\s][^=\n]*$", re.MULTILINE)  # a line other than "key = value"
NUMBER = r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"
FRACTIONS = ["s1", "s2", "s3"]
DERIVATIVES = ["ds1", "ds2", "ds3"]


class Top:
    """The lines before the atoms."""

    def __init__(self):
        self.count = None
        self.scale = 1.0
        self.cell = np.full((3, 3), np.nan)
        self.rate = None
        self.entries = None
        self.auxiliary = {}
        self.has_velocity = True

    def columns(self):
        """Returns the names of the columns of numbers, and the units of the auxiliary ones."""
        names, units = FRACTIONS + DERIVATIVES * self.has_velocity, {}
        for i in range((self.entries or 0) - len(names) if self.entries is not None else 0):
            name, _, unit = self.auxiliary.get(i, f"auxiliary_{i}").partition("[")
            name = name.strip()
            if unit.endswith("]"):
                units[name] = unit[:-1].strip()
            names.append(name)
        return names, units


def steps(path, options):
    with Stream(path) as stream:
        top = _read_top(stream)
        yield Step(lambda: [_read(stream, top, options)])


def _read_top(stream):
    top = Top()
    while True:
        text, found = take_until(stream, FIRST)
        for line in text.decode("utf-8", "replace").splitlines():
            if line.strip() and not line.strip().startswith("#"):
                _take(top, line)
        if not found or found[0].strip() != b".NO_VELOCITY.":
            break
        top.has_velocity = False
        stream.line()
    if top.count is None or not np.isfinite(top.cell).all():
        raise ConvertError("its header has no number of particles, or not all of H0(1,1) to H0(3,3)")
    return top


def _take(top, line):
    """Parses a line "key = value"."""
    key, _, value = (part.strip() for part in line.partition("="))
    number = re.match(NUMBER + r"(?:\s|$)", value)
    place = re.fullmatch(r"H0\(([123]),([123])\)", key.replace(" ", ""))
    strain = re.fullmatch(r"(Transform|eta)\(([123]),([123])\)", key.replace(" ", ""))
    auxiliary = re.fullmatch(r"auxiliary\[(\d{1,4})\]", key)
    whole = re.match(r"\d{1,18}\Z", value)
    if auxiliary:
        top.auxiliary[int(auxiliary[1])] = value
    elif key == "Number of particles" and whole:
        top.count = int(value)
    elif key == "entry_count" and whole and 3 <= int(value) <= 10000:
        top.entries = int(value)
    elif key == "A" and number:
        top.scale = float(number[1])
    elif key == "R":
        top.rate = value
    elif place and number:
        top.cell[int(place[1]) - 1, int(place[2]) - 1] = float(number[1])
    elif number and strain:
        if float(number[1]) != (strain[1] == "Transform" and strain[2] == strain[3]):
            raise ConvertError(f"'{line.strip()[:60]}': a cell that is transformed or strained is not supported")
    elif place or key in ("Number of particles", "entry_count", "A"):
        raise ConvertError(f"'{line.strip()[:60]}' has no valid number")


def _read(stream, top, options):
    names, units = top.columns()
    left = stream.left()
    if left is not None and 2 * len(names) * top.count > left + 1:
        raise ConvertError(f"claims {top.count} atoms of {len(names)} columns, but only {left} bytes are left: the file is "
                           "truncated or damaged")
    check_memory(f"claims {top.count} atoms", 8 * len(names) * top.count)
    first = stream.line_number + 1
    text = take_until(stream, re.compile(rb"(?!)"))[0]
    lines, masses, elements = (_extended if top.entries is not None else _standard)(text, first)
    if len(lines) != top.count:
        raise ConvertError(f"has {len(lines)} of {top.count} atoms")
    table = _numbers(lines, names)
    collector = Collector(options, top.count)
    positions = _positions(np.stack([table.pop(name) for name in FRACTIONS], axis=1), top)
    for name, values in {"mass": masses, **_vectors(table)}.items():
        if collector.wants(name):
            collector.add(name, values)
    texts = {}
    if collector.wants("element"):
        codes, texts["element"] = codes_of(elements)
        collector.add("element", codes)
        collector.remarks.append(("texts element", "'element' is converted to numbers; the metadata contains their texts"))
    if top.has_velocity:
        collector.remarks.append(("derivatives", "'ds' contains time derivatives of cell fractions, as stored in the file"))
    vectors = top.cell * top.scale
    about = {"cfg": {"cell": vectors, "scale": top.scale, "rate": top.rate, "texts": texts},
             "units": {"positions": "angstrom", **units}}
    if top.scale == 1 and np.count_nonzero(vectors) == 3:
        about.update(cells.periodic_box(np.diag(vectors)))
    return collector.particles(positions, about)


def _extended(text, first):
    """Returns the lines with numbers, and the mass and element of each."""
    lines, masses, elements, mass, element = [], [], [], None, None
    for number, line in enumerate(text.split(b"\n"), first):
        words = line.split(None, 2)
        if len(words) > 1:
            if element is None:
                raise ConvertError(f"line {number}: an atom without preceding lines with its mass and element")
            lines.append(line)
            masses.append(mass)
            elements.append(element)
        elif words and element is None and mass is not None:
            element = words[0].decode("utf-8", "replace")
        elif words:
            mass, element = _mass(words[0], number), None
    return lines, np.array(masses, np.float64), elements


def _standard(text, first):
    lines, masses, elements = [], [], []
    for number, line in enumerate(text.split(b"\n"), first):
        words = line.split(None, 2)
        if words and len(words) < 3:
            raise ConvertError(f"line {number}: '{line.decode('utf-8', 'replace')[:60]}' is not mass, element, and six numbers")
        if words:
            masses.append(_mass(words[0], number))
            elements.append(words[1].decode("utf-8", "replace"))
            lines.append(words[2])
    return lines, np.array(masses, np.float64), elements


def _mass(word, number):
    try:
        return float(word.replace(b"_", b"?"))
    except ValueError:
        raise ConvertError(f"line {number}: '{word.decode('utf-8', 'replace')[:60]}' is not a mass") from None


def _numbers(lines, names):
    """Returns name -> array. Columns that are integers in LAMMPS become int64 if they have no fractions."""
    text = b"\n".join(lines) + b"\n"
    integers = {name for name in names if name in INTEGERS}
    while True:
        table = {name: np.empty(len(lines), np.int64 if name in integers else np.float64) for name in names}
        try:
            rows = parse_columns(text, list(table.values()), " ", len(lines))[0] if lines else 0
        except BadRow as bad:
            line = lines[bad.row].decode("utf-8", "replace")
            if bad.column < 0:
                raise ConvertError(f"atom {bad.row}: {len(line.split())} values instead of {len(names)}: "
                                   f"'{line.strip()[:60]}'") from None
            if names[bad.column] in integers:
                integers.remove(names[bad.column])
                continue
            raise ConvertError(f"atom {bad.row}: '{line.split()[bad.column][:60]}' in column '{names[bad.column]}' is not a "
                               "valid number") from None
        if rows != len(lines):
            raise ConvertError(f"ends after {rows} of {len(lines)} atoms")
        return table


def _vectors(table):
    """Returns the columns, with components combined into vectors."""
    found = dict(table)
    for vector, group in {"ds": DERIVATIVES, **VECTORS}.items():
        if vector not in found and all(name in found and found[name].dtype == np.float64 for name in group):
            found[vector] = np.stack([found.pop(name) for name in group], axis=1)
    return found


def _positions(fractions, top):
    return np.stack([top.scale * (fractions[:, 0] * top.cell[0, k] + fractions[:, 1] * top.cell[1, k]
                                  + fractions[:, 2] * top.cell[2, k]) for k in range(3)], axis=1)


FORMAT = Format("cfg", "AtomEye configurations, LAMMPS dump cfg", steps, extensions=(".cfg",),
                sniff=lambda head, path: head.lstrip().startswith(b"Number of particles"))
