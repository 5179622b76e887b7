# SPDX-License-Identifier: BSD-3-Clause
"""XYZ and extended XYZ trajectories, compressed or not.

A frame is a line with the number of atoms, a comment, and a line for each atom. In extended XYZ the comment has
pairs key=value: Properties names the columns, Lattice, Origin and pbc describe the box.

Coordinates and other real numbers are float64, integers int64, logical values uint8. Texts become codes; the metadata
contains the texts. The time and the step number of a frame are those that its comment names, also in the comments of
CP2K ("i = 5, time = 2.5"), LAMMPS ("Atoms. Timestep: 5") and i-PI, whose cell and units are read, too (ipi.py).
"""

import copy
import re

import numpy as np

from .. import ipi
from .._output import BadRow, parse_columns
from ..model import Collector, ConvertError, Divided, Format, Step, check_memory, part_of
from ..streams import Stream

INTEGER = re.compile(r"[+-]?[0-9]+")
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
FORTRAN = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)[dD][+-]?[0-9]+")
FORTRAN_BYTES = re.compile(rb"([0-9.])[dD]([+-]?[0-9])")
COUNT = re.compile(r"([0-9]+)(?:\s+([A-Za-z]+))?")

# key=value; a value may be in quotes, braces or (nested) brackets.
_VALUE = r'"(?:[^"\\]|\\.)*"|\'[^\']*\'|\{[^}]*\}|\[[^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*\]|[^\s,"]+'
_KEY = r'"[^"]*"|[^\s=,"\[\]{}\\]+'
PAIR = re.compile(rf"({_KEY})\s*=\s*({_VALUE})")
WORD_OR_PAIR = re.compile(rf"({_KEY})(?:\s*=\s*({_VALUE}))?")
# The forms of other programs, such as "Timestep: 5" and "time = 2.5 fs".
LOOSE_PAIR = re.compile(rf"([A-Za-z_][\w.\-]*)\s*[=:]\s*({_VALUE})(?:[ \t]*\(?(fs|ps|ns|us|ms|s|au|a\.u\.)\)?(?![\w.]))?")

TIMES = ("time", "t")
NUMBERS = ("timestep", "step", "i", "iteration", "iter", "frame")
UNITS = {"angstrom": "angstrom", "angstroem": "angstrom", "angstroemd": "angstrom", "bohr": "bohr", "atomic": "bohr"}
KINDS = {"R": np.float64, "I": np.int64, "L": None, "S": None}
LOGICAL = {"T": 1, "F": 0, "True": 1, "False": 0, "true": 1, "false": 0, "TRUE": 1, "FALSE": 0, "t": 1, "f": 0, "1": 1, "0": 0}

MAX_TEXT = 256  # maximum bytes of a text in a column
GROW = 1 << 20  # memory for this many atoms is allocated even if the file may have fewer


class Ragged(ConvertError):
    """The columns after the coordinates of plain XYZ differ between lines; the stream is at the atom `done`."""

    def __init__(self, done, message):
        super().__init__(message)
        self.done = done


class Column:
    """A property of the atoms: `count` columns of the text, beginning with `first`, of the kind R, I, L or S."""

    def __init__(self, name, kind, first, count):
        self.name, self.kind, self.first, self.count = name, kind, first, count


class Frame:
    """The content of the first two lines of a frame."""

    def __init__(self, place, count):
        self.place = place     # number of the line with the number of atoms
        self.count = count
        self.first = 0         # first atom; total is the number of atoms of the frame, if this is a part of one
        self.total = count
        self.columns = None    # None if the comment does not name them
        self.box = None        # (origin, edges)
        self.pbc = None
        self.time = None
        self.number = None
        self.units = {}
        self.about = {}        # metadata
        self.remarks = []

    def part(self, first, end):
        result = copy.copy(self)
        result.first, result.count = first, end - first
        return result

    def where(self):
        """Describes the frame in messages."""
        return f"the frame at line {self.place}"


def steps(path, options):
    with Stream(path) as stream:
        while True:
            frame = _next_frame(stream)
            if frame is None:
                return
            place, line = stream.place, stream.line_number
            step = Step(lambda frame=frame: [_read(stream, frame, options)], frame.number, frame.time,
                        lambda frame=frame, place=place, line=line: [_in_parts(path, frame, place, line, options)])
            yield step
            if not step.is_read:
                done = stream.skip_lines(frame.count)
                if done != frame.count:
                    raise _cut(frame, done)


def _cut(frame, done):
    return ConvertError(f"{frame.where()} ends after {frame.first + done} of {frame.total} atoms: the file is truncated")


# --- The first two lines

def _next_frame(stream):
    """Returns the Frame that begins at the next nonblank line, or None at the end of the file."""
    while True:
        line = stream.line()
        if line is None:
            return None
        if line.strip():
            break
    match = COUNT.fullmatch(line.strip())
    if match is None or not _is_unit(match[2]):
        raise ConvertError(f"line {stream.line_number}: '{line.strip()[:60]}' is not a number of atoms, with which a frame begins"
                           + ("" if stream.line_number == 1 else "; the previous frame may have more lines than atoms"))
    frame = Frame(stream.line_number, int(match[1]))
    if match[2]:
        frame.units["positions"] = UNITS[match[2].lower()]
    comment = stream.line()
    if comment is None:
        raise ConvertError(f"{frame.where()} ends before its comment, the second line: the file is truncated")
    try:
        _read_comment(frame, comment)
    except ConvertError as error:
        raise ConvertError(f"line {stream.line_number}: {error}") from None
    width = sum(column.count for column in frame.columns) if frame.columns else 3
    left = stream.left()
    if left is not None and 2 * width * frame.count > left + 1:
        raise ConvertError(f"{frame.where()} claims {frame.count} atoms, but only {left} bytes follow: the file is truncated or "
                           "damaged")
    return frame


def _is_unit(word):
    return word is None or word.lower() in UNITS


def _read_comment(frame, comment):
    pairs, is_extended = _find_pairs(frame, comment)
    names = {name.lower(): name for name in reversed(pairs) if name != "T"}  # T is a temperature
    if is_extended:
        if "properties" in names:
            _take_properties(frame, pairs.pop(names["properties"]))
        try:
            _take_box(frame, pairs, names)
        except ConvertError as error:
            frame.box = frame.pbc = None
            frame.remarks.append(("box", f"the box of {frame.where()} is not written: {error}"))
    else:
        _take_ipi(frame, comment)
    for name in filter(names.__contains__, TIMES):
        value = pairs[names[name]]
        if isinstance(value, (int, float)) and not isinstance(value, bool) and np.isfinite(value):
            frame.time = float(pairs.pop(names[name]))
            break
    for name in filter(names.__contains__, NUMBERS):
        value = pairs[names[name]]
        if type(value) is int and -2 ** 63 <= value < 2 ** 63:  # pylint: disable=unidiomatic-typecheck
            frame.number = pairs.pop(names[name])
            break
    if pairs:
        frame.about["info"] = pairs
    if not is_extended and comment.strip():
        frame.about["comment"] = comment.strip()


def _find_pairs(frame, comment):
    """Returns the values by key, and whether the comment is that of extended XYZ."""
    found = {match[1].lower() for match in PAIR.finditer(comment)}
    if found & {"properties", "lattice"}:
        pairs = {}
        for match in WORD_OR_PAIR.finditer(comment):
            pairs[match[1].strip('"')] = True if match[2] is None else _value(match[2])
        return pairs, True
    pairs = {}
    for match in LOOSE_PAIR.finditer(comment):
        pairs.setdefault(match[1], _value(match[2]))
        if match[3] and match[1] != "T" and match[1].lower() in TIMES:
            frame.units["time"] = match[3]
    return pairs, False


def _value(text):
    """Parses a number, a logical value, a list of these, or a text."""
    if text[0] == "[":
        is_nested = text[1:].lstrip().startswith("[")
        return [_list(row) for row in re.findall(r"\[([^\[\]]*)\]", text[1:])] if is_nested else _list(text[1:-1])
    if text[0] == "{":
        return _list(text[1:-1])
    if text[0] in "\"'":
        text = text[1:-1].replace('\\"', '"').replace("\\\\", "\\")
        values = [_single(word) for word in text.split()]
        if len(values) > 1 and not any(isinstance(value, str) for value in values):
            return values
        return values[0] if len(values) == 1 else text
    return _single(text)


def _list(text):
    return [_single(word.strip("\"'")) for word in re.findall(r'"[^"]*"|[^\s,]+', text)]


def _single(word):
    if INTEGER.fullmatch(word):
        return int(word) if len(word) <= 20 and -2 ** 63 <= int(word) < 2 ** 63 else word
    if word in ("T", "True", "true", "TRUE"):
        return True
    if word in ("F", "False", "false", "FALSE"):
        return False
    if NUMBER.fullmatch(word) and np.isfinite(float(word)):
        return float(word)
    return word


def _take_properties(frame, text):
    words = str(text).split(":")
    if len(words) % 3:
        raise ConvertError(f"Properties: '{str(text)[:80]}' is not a list of name:kind:columns")
    frame.columns, first = [], 0
    for name, kind, count in zip(words[::3], words[1::3], words[2::3]):
        kind = kind.upper()
        if kind not in KINDS or not count.isdecimal() or not 0 < int(count) <= 1000 or not name:
            raise ConvertError(f"Properties: '{name}:{kind}:{count}'; allowed: a name, a kind, R, I, S or L, and a number of "
                               "columns")
        if any(name == column.name for column in frame.columns):
            raise ConvertError(f"Properties: two properties are called '{name}'")
        frame.columns.append(Column(name, kind, first, int(count)))
        first += int(count)


def _take_box(frame, pairs, names):
    """Parses Lattice, Origin and pbc; invalid ones stay in `pairs`."""
    frame.pbc = _booleans(pairs[names["pbc"]]) if "pbc" in names else None
    if "lattice" in names:
        edges = _edges(frame, pairs[names["lattice"]])
        origin = pairs[names["origin"]] if "origin" in names else [0, 0, 0]
        if not isinstance(origin, list) or len(origin) != 3 or not all(map(_is_number, origin)):
            raise ConvertError(f"Origin: '{str(origin)[:80]}'; allowed are 3 numbers")
        frame.box = np.array(origin, float), edges
        if frame.pbc is None:
            frame.pbc = [True] * 3
            frame.remarks.append(("pbc", "Lattice without pbc: all axes are periodic, as extended XYZ defines"))
    for name in ("pbc", "lattice", "origin") if frame.box is not None else ("pbc",):
        pairs.pop(names.get(name), None)


def _take_ipi(frame, comment):
    """The cell and the units that i-PI names."""
    found = ipi.read_comment(comment)
    if found is None:
        return
    edges, unit, remarks = found
    frame.remarks += remarks
    if unit:
        frame.units["positions"] = unit
    if edges is not None:
        frame.box, frame.pbc = (np.zeros(3), edges), [True] * 3


def _edges(frame, value):
    is_nested = isinstance(value, list) and all(isinstance(row, list) for row in value)
    numbers = [number for row in value for number in row] if is_nested else value
    if not isinstance(numbers, list) or len(numbers) not in (3, 9) or not all(map(_is_number, numbers)):
        raise ConvertError(f"Lattice: '{str(value)[:80]}'; allowed are the 9 numbers of its three vectors, or 3 lengths")
    edges = np.array(numbers, float)
    edges = np.diag(edges) if len(edges) == 3 else edges.reshape(3, 3)
    if is_nested and (edges != np.diag(np.diag(edges))).any():
        frame.remarks.append(("lattice", "Lattice is a nested list; its rows are used as the vectors of the box"))
    return edges


def _is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _booleans(value):
    values = value if isinstance(value, list) else [value] * 3
    if len(values) != 3 or not all(value in (True, False) for value in values):
        raise ConvertError(f"pbc: '{str(value)[:60]}'; allowed are 3 of T and F")
    return [bool(value) for value in values]


def _metadata(frame):
    about = dict(frame.about)
    result = {"xyz": about}
    if frame.box is not None:
        origin, edges = frame.box
        about["box"] = {"origin": origin, "edges": edges, "boundary": " ".join("pp" if each else "ff" for each in frame.pbc)}
        box = _periodic_box(origin, edges, frame.pbc)
        if box:
            result["periodic_box"] = box
    if frame.pbc is not None:
        about["pbc"] = frame.pbc
    if frame.units:
        result["units"] = dict(frame.units)
    return result


def _periodic_box(origin, edges, pbc):
    """Returns metadata with the periodic box, or None if a periodic edge is not along its axis."""
    lower, upper = [None] * 3, [None] * 3
    for axis in range(3):
        if not pbc[axis]:
            continue
        others = [other for other in range(3) if other != axis]
        if edges[axis, others].any() or not 0 < edges[axis, axis] < np.inf:
            return None
        lower[axis], upper[axis] = float(origin[axis]), float(origin[axis] + edges[axis, axis])
    return {"lower": lower, "upper": upper} if any(pbc) else None


# --- The atoms

def _guess_columns(stream, frame):
    """Returns the columns of plain XYZ, from the first atom: an element or its number, x, y, z, and any others."""
    head = stream.peek(4096)
    words = head.split(b"\n")[0].decode("utf-8", "replace").split() if head else []
    if not frame.count or not words:
        return [Column("species", "S", 0, 1), Column("pos", "R", 1, 3)]
    is_bare = len(words) == 3 or (NUMBER.fullmatch(words[0]) and not INTEGER.fullmatch(words[0]))
    columns = [] if is_bare else [Column("species", "I" if INTEGER.fullmatch(words[0]) else "S", 0, 1)]
    columns.append(Column("pos", "R", len(columns), 3))
    first = columns[-1].first + 3
    for i in range(first, len(words)):
        columns.append(Column(f"Field {i}", "R" if _is_real(words[i]) else "S", i, 1))
    if len(words) > first:
        frame.remarks.append(("names", "the columns after the coordinates have no names; they are called "
                              f"Field {first}, Field {first + 1} ..."))
    return columns


def _is_real(word):
    return NUMBER.fullmatch(word) is not None or FORTRAN.fullmatch(word) is not None or \
        word.lower().lstrip("+-") in ("nan", "inf", "infinity")


def _in_parts(path, frame, place, line, options):
    """Returns a Divided for the atoms of a frame."""
    rows = Rows(path, frame, place, line, options)
    width = sum(column.count for column in frame.columns) if frame.columns else 4
    return Divided(8 * width * frame.count, lambda i, n: rows.read(*part_of(frame.count, i, n)), varies=True)


class Rows:
    """The atoms of a frame, read in consecutive parts."""

    def __init__(self, path, frame, place, line, options):
        self._path, self._frame, self._place, self._line, self._options = path, frame, place, line, options
        self._stream, self._row, self._columns = None, 0, None

    def read(self, first, end):
        if self._stream is None or first < self._row:
            self._open()
        done = self._stream.skip_lines(first - self._row)
        if done != first - self._row:
            raise _cut(self._frame, self._row + done)
        self._row = end
        return _read(self._stream, self._frame.part(first, end), self._options, self._columns)

    def _open(self):
        if self._stream is not None:
            self._stream.close()
        self._stream, self._row = Stream(self._path), 0
        self._stream.skip(self._place)
        self._stream.line_number = self._line
        self._columns = self._frame.columns or _guess_columns(self._stream, self._frame)


def _read(stream, frame, options, columns=None):
    """Returns the Particles of the next atoms."""
    columns = columns or frame.columns or _guess_columns(stream, frame)
    place, line = stream.place, stream.line_number
    try:
        return _read_columns(stream, frame, options, columns)
    except Ragged as ragged:
        again = copy.copy(frame)
        again.remarks = [("columns", f"the columns after the coordinates are not written: {ragged}")]
        with Stream(stream.path) as other:
            other.skip(place)
            other.line_number = line
            particles = _read_columns(other, again, options, _core(columns), is_trimmed=True)
        stream.skip_lines(frame.count - ragged.done)
        return particles


def _core(columns):
    """Returns the element and coordinate columns of plain XYZ."""
    return columns[:1 + next(i for i, column in enumerate(columns) if column.name == "pos")]


def _read_columns(stream, frame, options, columns, is_trimmed=False):
    collector = Collector(options, frame.count)
    collector.remarks += frame.remarks
    is_given = options.columns is None and any(_is_position(column) for column in columns)
    requested = [column for column in columns if (is_given and _is_position(column)) or collector.wants(column.name)]
    table = Table(columns, requested, stream, frame, is_trimmed)
    try:
        table.read(options)
    except MemoryError:
        raise ConvertError(f"{frame.where()}: out of memory for {frame.count} atoms") from None
    positions, texts = None, {}
    for column in requested:
        for name, array, names in table.take(column):
            if is_given and _is_position(column):
                positions = array
                continue
            collector.add(name, array)
            if names is not None and options.wants(name):
                texts[name] = names
                remark = f"column '{name}' is converted to numbers; the metadata contains their texts"
                collector.remarks.append((f"texts {name}", remark))
    collector.remarks += table.remarks
    metadata = _metadata(frame)
    if texts:
        metadata["xyz"]["texts"] = texts
    particles = collector.particles(positions, metadata)
    particles.texts = texts
    return particles


def _is_position(column):
    return column.name == "pos" and column.count == 3 and column.kind in "RI"


class Table:
    """The columns of a frame's atoms. requested: the columns to keep. is_trimmed: lines may have more columns."""

    def __init__(self, columns, requested, stream, frame, is_trimmed=False):
        self._is_trimmed = is_trimmed
        self._columns, self._stream, self._frame = columns, stream, frame
        self._width = sum(column.count for column in columns)
        self._capacity = frame.count if stream.left() is not None else min(frame.count, GROW)
        numeric = [column for column in requested if KINDS[column.kind]]
        check_memory(f"{frame.where()} claims {frame.count} atoms", 8 * sum(column.count for column in numeric) * self._capacity)
        self._arrays = {column.name: np.empty((self._capacity, column.count), KINDS[column.kind]) for column in numeric}
        self._texts = {column.first + i: Texts(column) for column in requested if not KINDS[column.kind]
                       for i in range(column.count)}
        self._widened = set()
        self._is_fortran = False  # whether exponents with D have been found
        self.remarks = []

    def read(self, options):
        frame, stream, done = self._frame, self._stream, 0
        while done < frame.count:
            block = stream.block()
            if done == self._capacity:
                self._grow(min(frame.count, 2 * self._capacity))
            maximum = min(frame.count, self._capacity) - done
            whole = None
            if self._is_trimmed:
                whole = bytes(block).splitlines(keepends=True)[:maximum]
                block = b"".join(b" ".join(line.split()[:self._width]) + b"\n" for line in whole)
            try:
                numbers = FORTRAN_BYTES.sub(rb"\1e\2", bytes(block)) if self._is_fortran else block
                rows, used = parse_columns(numbers, self._targets(done), " ", maximum, options.threads)
            except BadRow as bad:
                self._explain(block, bad, done)
                continue
            text = bytes(block[:used])
            lines = np.count_nonzero(np.frombuffer(text, np.uint8) == ord("\n")) + (not text.endswith(b"\n") and rows > 0)
            if lines != rows or not rows:
                self._check_blank(text if rows else bytes(block), rows, done)
            self._take_texts(text, rows)
            self._check_exact(text, done, rows)
            stream.used(used if whole is None else sum(map(len, whole[:rows])), lines)
            done += rows
            options.at(done / frame.count)

    def take(self, column):
        """Returns triples of a name, an array, and its texts or None."""
        count = self._frame.count
        if KINDS[column.kind]:
            array = self._arrays.pop(column.name)[:count]
            return [(column.name, array if column.count > 1 else array[:, 0], None)]
        names = [column.name] if column.count == 1 else [f"{column.name}_{i}" for i in range(column.count)]
        return [(name, *self._texts.pop(column.first + i).values()) for i, name in enumerate(names)]

    def _targets(self, done):
        """Returns the destination array for each column of the text, from row `done` on."""
        result = []
        for column in self._columns:
            array = self._arrays.get(column.name)
            result += [None if array is None else array[done:, i] for i in range(column.count)]
        return result

    def _grow(self, capacity):
        self._capacity = capacity
        for array in self._arrays.values():
            array.resize((capacity, array.shape[1]), refcheck=False)

    def _take_texts(self, text, rows):
        if not self._texts:
            return
        letters = np.frombuffer(text, np.uint8)
        is_blank = np.concatenate([[True], letters <= 32, [True]])
        edges = np.flatnonzero(is_blank[1:] != is_blank[:-1])
        starts, ends = edges[::2], edges[1::2]
        if len(starts) != rows * self._width:
            raise ConvertError(f"{self._frame.where()} contains control characters")
        for index, texts in self._texts.items():
            row = texts.add(letters, starts[index::self._width], ends[index::self._width])
            if row is not None:
                raise ConvertError(f"line {self._stream.line_number + 1 + row}: the value in column '{texts.column.name}' is "
                                   + (f"longer than {MAX_TEXT} bytes" if texts.column.kind == "S"
                                   else "not a logical value, T or F"))

    def _check_exact(self, text, done, rows):
        """Reports large integers that float64 rounds."""
        for column in self._columns:
            array = self._arrays.get(column.name)
            if array is None or array.dtype != np.float64:
                continue
            for row in np.flatnonzero((np.abs(array[done:done + rows]) >= 2.0 ** 53).any(axis=1)):
                words = text.split(b"\n")[row].split() if rows < 1000 else _line(text, row).split()
                rounded = [word.decode() for word in words[column.first:column.first + column.count]
                           if INTEGER.fullmatch(word.decode("latin-1")) and int(float(word)) != int(word)]
                if rounded and column.name in self._widened:
                    raise ConvertError(f"column '{column.name}' has both fractions and the integer {rounded[0]}, which no type "
                                       "can represent")
                if rounded:
                    self.remarks.append((f"rounded {column.name}",
                                         f"column '{column.name}' becomes float64, which rounds {rounded[0]}"))
                    break

    def _explain(self, block, bad, done):
        """Raises for an invalid row, or converts its column to real numbers."""
        line = self._stream.line_number + 1 + bytes(block[:bad.place]).count(b"\n")
        text = bytes(block[bad.place:bad.place + 4096]).split(b"\n")[0].decode("utf-8", "replace").rstrip("\r")
        words = text.split()
        if bad.column < 0:
            found = f"line {line}: {len(words)} values instead of {self._width}: '{text.strip()[:60]}'"
            is_end = bytes(block[bad.place:]).rstrip(b"\r\n").count(b"\n") == 0 and not bytes(block[-1:]) == b"\n"
            if len(words) == 1 and INTEGER.fullmatch(words[0]):
                found += f"; the frame at line {self._frame.place} may have fewer than {self._frame.total} atoms"
            elif is_end:
                found += "; the file may be truncated"
            elif self._frame.columns is None and len(words) >= sum(column.count for column in _core(self._columns)):
                raise Ragged(done, found)
            raise ConvertError(found)
        column = next(column for column in self._columns if column.first <= bad.column < column.first + column.count)
        word = words[bad.column]
        if column.kind == "I" and self._arrays[column.name].dtype == np.int64 and _is_real(word) and not INTEGER.fullmatch(word):
            self._widen(column.name, done, word)
            return
        if self._arrays[column.name].dtype == np.float64 and not self._is_fortran and FORTRAN.fullmatch(word):
            self._is_fortran = True
            return
        kind = "an integer of 64 bits" if self._arrays[column.name].dtype == np.int64 else "a number"
        found = f"line {line}: '{word[:60]}' in column '{column.name}' is not {kind}"
        if self._frame.columns is None and column not in _core(self._columns):
            raise Ragged(done, found)
        raise ConvertError(found)

    def _widen(self, name, done, word):
        """Converts a column of integers to real numbers because a row has one."""
        old = self._arrays[name]
        new = np.empty(old.shape, np.float64)
        new[:done] = old[:done]
        if (new[:done] >= 2.0 ** 63).any() or (new[:done].astype(np.int64) != old[:done]).any():
            raise ConvertError(f"column '{name}' has both integers beyond 2^53 and fractions, which no type can represent")
        self._arrays[name] = new
        self._widened.add(name)
        self.remarks.append((f"fractions {name}", f"column '{name}' contains '{word}' and becomes float64"))

    def _check_blank(self, text, rows, done):
        """Raises for blank lines, unless they follow the last atom or end the file."""
        if not rows:
            raise _cut(self._frame, done)
        lines = text.rstrip().split(b"\n")
        is_over = done + rows == self._frame.count or len(text) == len(self._stream.peek(len(text) + 1))
        if len(lines) > rows or not is_over:
            row = next((i for i, line in enumerate(lines) if not line.strip()), len(lines))
            raise ConvertError(f"line {self._stream.line_number + 1 + row}: is blank, within {self._frame.total} atoms of "
                               f"{self._frame.where()}")


def _line(text, row):
    """Returns a line by number without splitting all lines."""
    ends = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n"))
    start = 0 if row == 0 else int(ends[row - 1]) + 1
    return text[start:int(ends[row]) if row < len(ends) else len(text)]


class Texts:
    """The texts of a column, as codes."""

    def __init__(self, column):
        self.column = column
        self._codes = []  # codes of each block
        self._known = {}  # text -> code, in order of occurrence

    def add(self, letters, starts, ends):
        """Returns None, or the first row whose text is not allowed."""
        longest = int((ends - starts).max(initial=0))
        if longest > MAX_TEXT:
            return int(np.argmax(ends - starts > MAX_TEXT))
        width = 8 if longest <= 8 else longest
        places = starts[:, None] + np.arange(width)
        characters = letters[np.minimum(places, len(letters) - 1)]
        characters[places >= ends[:, None]] = 0
        keys = np.ascontiguousarray(characters).view(np.uint64 if width == 8 else f"S{width}").reshape(-1)
        found, inverse = np.unique(keys, return_inverse=True)
        codes = np.empty(len(found), np.int32)
        for i, key in enumerate(found):
            text = (key.tobytes() if width == 8 else bytes(key)).rstrip(b"\0").decode("utf-8", "replace")
            if self.column.kind == "L" and text not in LOGICAL:
                return int(np.argmax(inverse.reshape(-1) == i))
            codes[i] = self._known.setdefault(text, len(self._known))
        self._codes.append(codes[inverse.reshape(-1)])
        return None

    def values(self):
        """Returns (uint8, None) for logical values, otherwise (codes, texts in alphabetical order)."""
        codes = np.concatenate(self._codes) if self._codes else np.empty(0, np.int32)
        if self.column.kind == "L":
            values = np.array([LOGICAL[text] for text in self._known], np.uint8)
            return values[codes], None
        names = sorted(self._known)
        order = np.empty(len(names), np.int32)
        order[[self._known[name] for name in names]] = np.arange(len(names), dtype=np.int32)
        return order[codes], names


# --- Detection by content

def _sniff(head, path):
    lines = head.decode("latin-1").split("\n")
    match = COUNT.fullmatch(lines[0].strip())
    if match is None or not _is_unit(match[2]) or len(lines) < 2:
        return False
    if re.search(r"\b(Properties|Lattice)\s*=", lines[1]):
        return True
    whole = lines[2:] if len(head) < 4096 else lines[2:-1]
    rows = [line.split() for line in whole[:min(int(match[1]), 20)]]
    if _has_points(lines[1].split(), rows):
        return False
    if re.search(r"\.e?(xt)?xyz(\.\w+)?$", path.lower()):
        return True
    return bool(rows) and all(len(row) >= 4 and all(map(_is_real, row[1:4])) for row in rows) and \
        (INTEGER.fullmatch(rows[0][0]) is not None or not _is_real(rows[0][0]))


def _has_points(comment, rows):
    """Returns whether the second line is a point like the others, as in .pts files, which have a count but no comment."""
    return len(comment) >= 3 and all(map(_is_real, comment)) and bool(rows) and \
        all(len(row) == len(comment) and all(map(_is_real, row)) for row in rows if row)


FORMAT = Format("xyz", "XYZ, extended XYZ; .gz, .bz2, .xz, .zst", steps, extensions=(".extxyz",), sniff=_sniff,
                options=("columns",))
