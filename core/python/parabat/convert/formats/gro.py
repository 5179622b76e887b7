# SPDX-License-Identifier: BSD-3-Clause
"""GROMACS text structures and trajectories (.gro), with all frames and all decimals.

    water t= 1.00000 step= 500                                          title: time in ps, step
        3                                                               number of atoms
        1SOL     OW    1   0.100   0.200   0.300  0.1000  0.2000  0.3000
        ...                                                             residue, name, atom; nm, nm/ps
       3.00000   3.10000   3.20000                                      box, or its nine components

Numbers are at fixed positions. The distance between decimal points gives the width of a column. `index` is the index of an
atom in the file; the atom and residue numbers, `ids` and `resids`, have five digits and wrap around after 99999.
"""

import re

import numpy as np

from .. import cells
from ..fixed_columns import Rows, find_time, take_lines
from ..model import Collector, ConvertError, Format, Step, check_memory
from ..streams import Stream

SHORTEST = 21 + 3 * 2  # minimum characters in an atom line
FIRST = 20             # column where positions begin
ATOM = re.compile(rb"[ \d]{5}.{10}[ \d]{5}(?: *-?\d*\.\d+){3}")
UNITS = {"positions": "nm", "velocities": "nm/ps", "time": "ps"}


class Frame:
    """One frame: its title, number of atoms, and location in the file."""

    def __init__(self, index, title, count, first_line):
        self.index = index
        self.title = title
        self.count = count
        self.first_line = first_line
        self.step, self.time = find_time(title)

    def place(self, row):
        return f"frame {self.index}, line {self.first_line + row}"


def steps(path, options):
    with Stream(path) as stream:
        index = 0
        while True:
            frame = _next_frame(stream, index)
            if frame is None:
                return
            step = Step(lambda frame=frame: [_read(stream, frame, options)], frame.step, frame.time)
            yield step
            if not step.is_read:
                found = stream.skip_lines(frame.count)
                _box(stream, frame, found)
            index += 1


def _next_frame(stream, index):
    while True:
        title = stream.line()
        if title is None:
            return None
        if title.strip() or not index:
            break
        if not bytes(stream.peek(4096)).strip():  # blank lines at the end
            return None
        break
    text = stream.line()
    if text is None and not title.strip():
        return None
    word = (text or "").strip()
    if not (word.isascii() and word.isdecimal()):
        raise ConvertError(f"frame {index}: ends before the number of atoms" if text is None else
                           f"frame {index}, line {stream.line_number}: '{word[:60]}' is not the number of atoms")
    count, left = int(word), stream.left()
    if left is not None and count * SHORTEST > left:
        raise ConvertError(f"frame {index}: claims {count} atoms, but only {left} bytes are left: the file is truncated or "
                           "damaged")
    return Frame(index, title.strip(), count, stream.line_number + 1)


def _box(stream, frame, found):
    """Returns the three vectors of the box, which follows the atoms."""
    if found != frame.count:
        raise ConvertError(f"frame {frame.index}: ends after {found} of {frame.count} atoms")
    line = stream.line()
    if line is None:
        raise ConvertError(f"frame {frame.index}: ends before its box")
    try:
        numbers = [float(word.replace("_", "?")) for word in line.split()]
    except ValueError:
        numbers = []
    if len(numbers) not in (3, 9) or not np.isfinite(numbers).all():
        raise ConvertError(f"frame {frame.index}, line {stream.line_number}: '{line.strip()[:60]}' is not a box of 3 or 9 "
                           "numbers")
    a, b, c, a_y, a_z, b_x, b_z, c_x, c_y = numbers + [0.0] * (9 - len(numbers))
    return np.array([[a, a_y, a_z], [b_x, b, b_z], [c_x, c_y, c]])


def _width(line, frame):
    """Returns the width of a column of positions."""
    points = [place for place, character in enumerate(line) if character == ord(".") and place >= FIRST]
    if len(points) < 3 or points[2] - points[1] != points[1] - points[0]:
        raise ConvertError(f"{frame.place(0)}: '{line.decode('utf-8', 'replace').strip()[:60]}' has no three coordinates at "
                           "equal distances")
    return points[1] - points[0]


def _read(stream, frame, options):
    if stream.is_compressed:
        check_memory(f"frame {frame.index}: claims {frame.count} atoms", 100 * frame.count)
    text = take_lines(stream, frame.count)
    rows = Rows(text, frame.place)
    vectors = _box(stream, frame, len(rows))
    collector = Collector(options, frame.count)
    collector.add("index", np.arange(frame.count, dtype=np.int64))
    texts, positions = {}, np.empty((0, 3))
    first = text[:text.find(b"\n")] if frame.count else b""
    if frame.count:
        width = _width(first, frame)
        fields = [(FIRST + i * width, FIRST + (i + 1) * width) for i in range(6)]
        positions = rows.numbers(fields[:3], np.float64, "xyz")
        if len(first.rstrip()) > fields[3][0] and collector.wants("velocities"):
            collector.add("velocities", rows.numbers(fields[3:], np.float64, ("vx", "vy", "vz")))
        add_integers(collector, rows, (("resids", 0, 5), ("ids", 15, 20)))
    add_texts(collector, rows, (("resnames", 5, 10), ("names", 10, 15)), texts)
    if frame.count > 99999:
        collector.remarks.append(("five digits", "'ids' and 'resids' have five digits and repeat; 'index' is the index of an "
                                                 "atom in the file"))
    box = cells.lengths_and_angles(vectors)
    about = {"md": {"title": frame.title, "box": box, "vectors": vectors, "units": UNITS, "texts": texts}, "units": UNITS,
             **(cells.periodic_box(box[:3], box[3:]) if box else {})}
    return collector.particles(positions, about)


def add_integers(collector, rows, fields):
    """Adds columns of integers; a column with other content is left out."""
    for name, begin, end in fields:
        if not collector.wants(name) or rows.is_blank(begin, end).all():
            continue
        values = rows.optional_numbers(begin, end, np.int64)
        if values is None:
            collector.leave_out(name, "some of its values are blank or not decimal integers")
        else:
            collector.add(name, values)


def add_texts(collector, rows, fields, texts):
    """Adds columns of texts as codes."""
    for name, begin, end in fields:
        if not collector.wants(name) or (len(rows) and rows.is_blank(begin, end).all()):
            continue
        codes, texts[name] = rows.texts(begin, end)
        collector.add(name, codes)
        collector.remarks.append((f"texts {name}", f"'{name}' is converted to numbers; the metadata contains their texts"))


def _sniff(head, _):
    lines = head.split(b"\n", 3)
    return len(lines) > 2 and lines[1].strip().isdigit() and bool(ATOM.match(lines[2]))


FORMAT = Format("gro", "GROMACS .gro, all frames", steps, extensions=(".gro",), sniff=_sniff)
