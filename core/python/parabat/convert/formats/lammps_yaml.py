# SPDX-License-Identifier: BSD-3-Clause
"""LAMMPS `dump yaml`: one YAML document per step, read as text, so that numbers are exact and steps may have any size.

    ---
    creator: LAMMPS
    timestep: 100
    units: metal                          optional, like `time` and `thermo`
    natoms: 2
    boundary: [ p, p, p, p, f, f, ]
    box:
      - [ 0, 10 ]                         for a tilted box, the bounding box and a fourth line: xy, xz, yz
      ...
    keywords: [ id, x, y, z, ]
    data:
      - [ 1 , 0.5 , 0.5 , 0.5, ]
    ...

Columns, types and positions are as in other LAMMPS dumps.
"""

import re

import numpy as np

from ..model import ConvertError, Format, Step, listed
from ..streams import Stream
from .lammps import Header, TextRows, check_count, find_texts, in_parts, name_columns, read_rows, tilted_box

ROW_START = b"\n  - ["
OTHER_START = re.compile(rb"^[ \t]*-[ \t]*\[", re.MULTILINE)
SPACES = bytes.maketrans(b",]", b"  ")
WORDS = {"timestep", "natoms", "boundary", "box", "keywords", "data", "units", "time", "creator", "thermo"}


class RowStream(Stream):
    """A Stream that turns lines like "  - [ 1 , 2 , ]" into "      1   2    "."""

    def block(self):
        return _without_brackets(bytes(super().block()))

    def peek(self, count):
        return _without_brackets(super().peek(count))


def _without_brackets(text):
    if text.startswith(ROW_START[1:]):
        text = b" " * (len(ROW_START) - 1) + text[len(ROW_START) - 1:]
    text = text.replace(ROW_START, b"\n" + b" " * (len(ROW_START) - 1))
    if b"[" in text:
        text = OTHER_START.sub(lambda found: b" " * len(found[0]), text)
    return text.translate(SPACES)


def steps(path, options):
    with RowStream(path) as stream:
        while True:
            header = _header(stream)
            if header is None:
                return
            place, line = stream.place, stream.line_number
            step = Step(lambda header=header: [read_rows(stream, header, options)], header.number, header.time,
                        lambda header=header, place=place, line=line: [in_parts(
                            header, TextRows(path, place, line, header, options, RowStream).read)])
            yield step
            if not step.is_read and stream.skip_lines(header.count) != header.count:
                raise ConvertError(f"{header.name}: ends before its {header.count} atoms")


def _header(stream):
    """Returns the Header of the next document, or None at the end."""
    header, rows, key, found = Header(), {}, None, set()
    while True:
        line = stream.line()
        if line is None:
            if not found:
                return None
            raise ConvertError(f"{header.name}: ends within its header")
        text = line.strip()
        if not text or text.startswith("#") or text in ("---", "..."):
            continue
        if text.startswith("-") and key in ("box", "thermo"):
            rows.setdefault(key, []).append(text)
            continue
        key, colon, value = (part.strip() for part in text.partition(":"))
        if not colon or key not in WORDS:
            raise ConvertError(f"line {stream.line_number}: '{text[:60]}' is not part of a LAMMPS yaml dump"
                               + (f"; {header.name} has more lines than atoms" if text.startswith("-") else ""))
        found.add(key)
        _take(header, key, value, stream)
        if key == "data":
            break
    for name, value in (("timestep", header.number), ("natoms", header.count), ("keywords", header.columns)):
        if value is None:
            raise ConvertError(f"line {stream.line_number}: data without {name} before them")
    _box(header, rows.get("box", []))
    name_columns(header)
    check_count(stream, header)
    find_texts(stream, header)
    return header


def _take(header, key, value, stream):
    """Parses one line of the header."""
    where = f"line {stream.line_number}"
    if key in ("timestep", "natoms"):
        if not re.fullmatch(r"-?[0-9]{1,19}", value) or (key == "natoms" and int(value) < 0) or abs(int(value)) >= 2 ** 63:
            raise ConvertError(f"{where}: '{value[:60]}' is not a 64-bit number for {key}")
        if key == "timestep":
            header.number = int(value)
        else:
            header.count = int(value)
    elif key == "time":
        header.time = _numbers(value, where)[0]
    elif key == "units":
        header.units = value.strip("'\"")
    elif key == "keywords":
        header.columns = _words(value)
    elif key == "boundary":
        ends = _words(value)
        header.boundary = " ".join(first + second for first, second in zip(ends[::2], ends[1::2])) or None


def _words(text):
    return [word.strip(" '\"") for word in text.strip("[] ").split(",") if word.strip()]


def _numbers(text, where):
    try:
        return [float(word.replace("_", "?")) for word in _words(text)] or [float("?")]
    except ValueError:
        raise ConvertError(f"{where}: '{text[:60]}' instead of numbers") from None


def _box(header, rows):
    numbers = [_numbers(row.lstrip("- "), f"{header.name}, box") for row in rows]
    lengths = [len(row) for row in numbers]
    if lengths == [2, 2, 2]:
        header.edges = np.diag([high - low for low, high in numbers])
        header.origin = np.array([low for low, _ in numbers])
    elif lengths == [2, 2, 2, 3]:
        bounds = np.array(numbers[:3])
        header.edges, header.origin = tilted_box(bounds[:, 0], bounds[:, 1], numbers[3])
    elif lengths == [4, 4, 4]:  # general form: a vector and a component of the origin in each row
        table = np.array(numbers)
        header.edges, header.origin = table[:, :3], table[:, 3]
    else:
        raise ConvertError(f"{header.name}: its box has rows of {listed(lengths)} numbers; allowed are three rows of 2, "
                           "followed by one of 3 if "
                           "the box is tilted")


def _sniff(head, _):
    return b"creator: LAMMPS" in head[:200] and b"\nnatoms:" in head


FORMAT = Format("lammps-yaml", "LAMMPS dump yaml", steps, extensions=(".yaml", ".yml"), sniff=_sniff, options=("columns",))
