# SPDX-License-Identifier: BSD-3-Clause
"""LAMMPS dumps: text (also .gz, .bz2, .xz, .zst) and binary, with boxes of any shape; also those of LIGGGHTS and SPARTA.

Columns that the manual of LAMMPS defines as integers are int64 (INTEGERS, i_name, i2_name), and so are those whose name
suggests ids (IDS) if they have integers in all steps of the file; others are float64. A column with texts (element, or any
other whose first row is not a number) becomes numbers, whose texts are in the metadata. Positions are x, y, z if the dump
has them, else xu, yu, zu (unwrapped), else xs, ys, zs or xsu, ysu, zsu, which are fractions of the box: they are multiplied
by it and also kept as attributes. vx, vy, vz become v, and so on. If a name occurs twice (LIGGGHTS writes "id type type x y
z"), the second column is called type_2, or left out if its values are those of the first.
"""

import contextlib
import copy
import dataclasses
import re
import struct

import numpy as np

from .._output import BadRow, parse_columns
from ..model import ConvertError, Divided, Format, Particles, Step, codes_of, listed, nobody, part_of
from ..streams import Stream

INTEGERS = {"id", "mol", "proc", "procp1", "type", "ix", "iy", "iz", "bodyflag", "ellipsoidflag", "lineflag", "triangleflag",
            "template_index", "template_atom", "etag", "espin", "status", "id_multisphere"}
IDS = re.compile(r"(.*_)?(ids?|tags?|index|mol|molecule|resids?)|ParticleIDs", re.IGNORECASE)  # integers in other columns
TEXTS = {"element", "typelabel"}
VECTORS = {"v": ("vx", "vy", "vz"), "f": ("fx", "fy", "fz"), "mu": ("mux", "muy", "muz"),
           "omega": ("omegax", "omegay", "omegaz"), "angmom": ("angmomx", "angmomy", "angmomz"),
           "tq": ("tqx", "tqy", "tqz")}
PLACES = (("x", "y", "z"), ("xu", "yu", "zu"), ("xs", "ys", "zs"), ("xsu", "ysu", "zsu"))
SCALED = PLACES[2:]
MAGICS = (b"DUMPATOM", b"DUMPCUSTOM")
# Units of distance, time, velocity and force in each unit style.
STYLES = {"real": ("angstrom", "fs", "angstrom/fs", "kcal/mol/angstrom"),
          "metal": ("angstrom", "ps", "angstrom/ps", "eV/angstrom"),
          "si": ("m", "s", "m/s", "N"), "cgs": ("cm", "s", "cm/s", "dyn"),
          "electron": ("bohr", "fs", "bohr/(1.03275e-15 s)", "hartree/bohr"),
          "micro": ("um", "us", "um/us", "pg um/us^2"), "nano": ("nm", "ns", "nm/ns", "ag nm/ns^2")}
MAX_TEXTS = 10000  # maximum distinct texts of a column that is not known to have texts

INTEGER = re.compile(r"[+-]?[0-9]+")
GROW = 1 << 20  # rows allocated at first if the size of the rest of the file is unknown (compressed files)


class Header:
    """The header of one step, which precedes its atoms."""

    def __init__(self):
        self.number = None
        self.section = None  # for a data file: the section with the atoms, for messages
        self.time = None
        self.units = None
        self.count = None
        self.boundary = None
        self.origin = None
        self.edges = None  # (3, 3): the vectors a, b, c
        self.columns = None
        self.repeats = {}  # renamed column -> its name in the file, shared with another column
        self.may_have_followers = False  # whether there may be more steps in the file
        self.texts = ()    # columns that have texts in the first row
        self.fractions = lambda header: ()  # finds columns that only seem to have integers
        self.first = 0     # for a part of a step: its first atom, and the number of atoms of the step
        self.total = None

    @property
    def name(self):
        """Describes the step in messages."""
        return self.section or f"timestep {self.number}"

    def original(self, name):
        """Returns the name that a column has in the file."""
        return self.repeats.get(name, name)

    def is_integer(self, name):
        original = self.original(name)
        return _is_always_integer(original) or (_is_guess(original) and name not in self.fractions(self))

    def is_text(self, name):
        return name in self.texts or self.original(name) in TEXTS

    def part(self, first, end):
        """Returns a header for some of the atoms."""
        result = copy.copy(self)
        result.first, result.count, result.total = first, end - first, self.count
        return result

    def place(self, done):
        """Describes the progress in messages."""
        return f"{self.first + done} of {self.count if self.total is None else self.total} atoms"


def steps(path, options):
    with Stream(path) as stream:
        yield from _all_steps(stream, options, Fractions(path, options).find)


def _all_steps(stream, options, fractions):
    return (_binary_steps if _is_binary(stream.peek(18)) else _text_steps)(stream, options, fractions)


class Fractions:
    """Finds the columns whose names suggest integers, but which have a fraction in some step of the file: a column has one
    type in all steps. This takes another pass over files that have such columns and more than one step."""

    MAX_STEP = 256 << 20  # bytes of a step that is read as a whole

    def __init__(self, path, options):
        self._path, self._options, self._found = path, options, None

    def find(self, header):
        names = [name for name in header.columns if _is_guess(header.original(name)) and self._options.wants(name)]
        if self._found is None:
            self._found = set()  # also while the steps are read for this
            if names and header.may_have_followers:
                self._found = self._scan(names)
        return self._found

    def _scan(self, names):
        found, options = set(), dataclasses.replace(self._options, arrays=names, at=nobody)
        # A damaged step is reported when it is converted.
        with contextlib.suppress(ConvertError), Stream(self._path) as stream:
            for step in _all_steps(stream, options, lambda header: found):
                for part in self._parts(step):
                    found |= {name for name, values in part.attributes.items() if values.dtype.kind == "f"}
                if found.issuperset(names):
                    break
        return found

    def _parts(self, step):
        divided, = step.divided()
        count = 1 + divided.size // self.MAX_STEP
        if count == 1:
            yield from step.read()
        else:
            yield from (divided.read(i, count) for i in range(count))


def sniff(head, _):
    return head.startswith((b"ITEM: TIMESTEP", b"ITEM: UNITS", b"ITEM: TIME\n")) or _is_binary(head)


# --- Text

def _text_steps(stream, options, fractions):
    units = before = None
    while True:
        header = _text_header(stream, before)
        if header is None:
            return
        header.fractions = fractions
        header.may_have_followers = before is not None or _may_have_followers(stream, header)
        header.units = units = header.units or units
        place, line = stream.place, stream.line_number
        step = Step(lambda header=header: [read_rows(stream, header, options)], header.number, header.time,
                    lambda header=header, place=place, line=line: [in_parts(
                        header, TextRows(stream.path, place, line, header, options).read)])
        yield step
        before = header.number
        if not step.is_read and stream.skip_lines(header.count) != header.count:
            raise ConvertError(f"timestep {header.number}: ends before its {header.count} atoms")


def _may_have_followers(stream, header):
    """Whether the rest of the file seems to be longer than the rows of this step."""
    left, some = stream.left(), stream.peek(1 << 14)
    lines = some.count(b"\n")
    return left is None or not lines or left > 1.5 * header.count * len(some) / lines


def _text_header(stream, before):
    header = Header()
    while True:
        line = stream.line()
        if line is None:
            if header.number is None:
                return None
            raise ConvertError(f"timestep {header.number}: ends within its header")
        where = f"line {stream.line_number}"
        if not line.strip() and header.number is None:
            continue
        item, _, rest = line.partition("ITEM: ")[2].partition(" ") if line.startswith("ITEM: ") else ("", "", "")
        if line == "ITEM: TIMESTEP":
            header.number = _integer(stream, "the timestep")
        elif line == "ITEM: UNITS":
            header.units = _next(stream, "units")
        elif line == "ITEM: TIME":
            header.time = _doubles(stream, 1)[0]
        elif line == "ITEM: NUMBER OF ATOMS":
            header.count = _integer(stream, "the number of atoms")
            if header.count < 0:
                raise ConvertError(f"line {stream.line_number}: {header.count} atoms")
        elif line.startswith("ITEM: BOX BOUNDS"):
            _box(stream, header, line.split()[3:])
        elif item == "ATOMS":
            header.columns = rest.split()
            break
        elif line.startswith("ITEM: "):
            raise ConvertError(f"{where}: '{line[:60]}'; a dump of atoms has TIMESTEP, NUMBER OF ATOMS, BOX BOUNDS, ATOMS, and "
                               "optionally UNITS and "
                               "TIME; only atoms have positions")
        else:
            raise ConvertError(f"{where}: '{line.strip()[:60]}' instead of an ITEM" + (
                f"; timestep {before} has more lines than atoms" if before is not None else ""))
    for what, value in (("TIMESTEP", header.number), ("NUMBER OF ATOMS", header.count), ("BOX BOUNDS", header.edges)):
        if value is None:
            raise ConvertError(f"line {stream.line_number}: ATOMS without {what} before them")
    name_columns(header)
    check_count(stream, header)
    find_texts(stream, header)
    return header


def check_count(stream, header):
    """Raises if the rest of the file is too short for the atoms."""
    minimum = 2 * len(header.columns) * header.count  # at least a character and a separator for each value
    left = stream.left()
    if left is not None and minimum > left + 1:
        raise ConvertError(f"{header.name}: claims {header.count} atoms of {len(header.columns)} columns, but only {left} bytes "
                           "are left: "
                           "the file is truncated or damaged")


def _next(stream, what):
    line = stream.line()
    if line is None:
        raise ConvertError(f"ends before {what}")
    return line.strip()


def _integer(stream, what):
    text = _next(stream, what)
    try:
        if not INTEGER.fullmatch(text):
            raise ValueError
        value = int(text)
        if not -2 ** 63 <= value < 2 ** 63:
            raise ValueError
    except ValueError:
        raise ConvertError(f"line {stream.line_number}: '{text[:60]}' is not {what}, a 64-bit number") from None
    return value


def _doubles(stream, count):
    text = _next(stream, "its numbers")
    try:
        values = [_float(word) for word in text.split()]
    except ValueError:
        values = []
    if len(values) != count:
        raise ConvertError(f"line {stream.line_number}: '{text[:60]}' instead of {count} numbers")
    return values


def _float(word):
    """Returns float(word); raises for 1_0, which float() accepts, and for 1e400, which it makes infinite."""
    value = float(word)
    if "_" in word or (np.isinf(value) and "n" not in word.lower()):
        raise ValueError
    return value


def _box(stream, header, words):
    if words[:2] == ["abc", "origin"]:
        rows = np.array([_doubles(stream, 4) for _ in range(3)])
        header.edges, header.origin, words = rows[:, :3], rows[:, 3], words[2:]
    elif words[:3] == ["xy", "xz", "yz"]:
        rows = np.array([_doubles(stream, 3) for _ in range(3)])
        header.edges, header.origin = tilted_box(rows[:, 0], rows[:, 1], rows[:, 2])
        words = words[3:]
    else:
        rows = np.array([_doubles(stream, 2) for _ in range(3)])
        header.edges, header.origin = np.diag(rows[:, 1] - rows[:, 0]), rows[:, 0]
    header.boundary = " ".join(words) or None


def tilted_box(low, high, tilt):
    """Returns edges and origin of a tilted box from the bounding box that LAMMPS writes."""
    xy, xz, yz = tilt
    low = low - np.array([min(0, xy, xz, xy + xz), min(0, yz), 0])
    high = high - np.array([max(0, xy, xz, xy + xz), max(0, yz), 0])
    return box_edges(high - low, tilt), low


def box_edges(length, tilt):
    """Returns the vectors a, b, c of a box with these lengths along x, y, z and the tilt factors xy, xz, yz."""
    xy, xz, yz = tilt
    return np.array([[length[0], 0, 0], [xy, length[1], 0], [xz, yz, length[2]]])


def name_columns(header):
    """Renames columns whose name has occurred before."""
    taken = set(header.columns)
    if len(taken) == len(header.columns):
        return
    names, header.repeats = [], {}
    for name in header.columns:
        own, number = name, 2
        while own in names or (own != name and own in taken):
            own, number = f"{name}_{number}", number + 1
        if own != name:
            header.repeats[own] = name
        names.append(own)
    header.columns = names


def find_texts(stream, header):
    """Finds columns with texts in the first row, which is next in the stream."""
    row, end, _ = stream.peek(1 << 14).partition(b"\n")
    words = row.decode("utf-8", "replace").split() if header.count and (end or stream.left() == len(row)) else []
    if len(words) == len(header.columns):
        header.texts = {name for name, word in zip(header.columns, words) if not _is_number(word)}


def _is_number(word):
    try:
        float(word)
    except ValueError:
        return False
    return True


def read_rows(stream, header, options):
    """Returns the Particles of the next rows in the stream."""
    names = header.columns
    chosen, scaled = _positions(header, options)
    kept = {}
    kinds = {}
    is_text = {name: name not in chosen and header.is_text(name) for name in names}
    for name in names:
        if is_text[name]:
            kinds[name] = None
        elif options.wants(name) or name in chosen or any(
                name in group and options.wants(vector) for vector, group in _vectors(names)):
            kinds[name] = np.int64 if header.is_integer(name) else np.float64
        else:
            kinds[name] = None
    texts = [name for name in names if is_text[name] and options.wants(name)]
    promised = stream.left() is not None
    capacity = header.count if promised else min(header.count, GROW)
    try:
        layout = Layout(names, kinds, chosen, capacity)
    except (MemoryError, ValueError):
        raise ConvertError(f"{header.name}: out of memory for {header.count} atoms") from None
    words = {name: [] for name in texts}
    remarks = [_remark_on_fractions(name) for name in names
               if kinds[name] == np.float64 and name not in chosen and _is_integer(header.original(name))]
    done = 0
    while done < header.count:
        block = stream.block()
        if not len(block):
            raise ConvertError(f"{header.name}: ends after {header.place(done)}")
        if done == layout.capacity:
            layout.grow(min(header.count, 2 * layout.capacity))
        try:
            rows, used = parse_columns(block, layout.columns(done), " ", min(header.count, layout.capacity) - done,
                                       options.threads)
        except BadRow as bad:
            _explain(stream, block, bad, header, done, layout, remarks)
            continue
        if not rows:  # blank lines
            if not used and len(block) and not bytes(block).strip():
                stream.used(len(block), bytes(block).count(b"\n"))
                continue
            raise ConvertError(f"{header.name}: ends after {header.place(done)}")
        layout.check_exact(block, used, done, rows, remarks)
        for name in texts:
            place = names.index(name)
            words[name] += [line.split()[place] for line in bytes(block[:used]).decode("utf-8", "replace").split("\n")
                            if line.strip()]
        stream.used(used, bytes(block[:used]).count(b"\n") if texts else rows)
        done += rows
        options.at(done / header.count)
    return _particles(header, layout.arrays(), layout.positions, chosen, scaled, words, remarks, options)


class Layout:
    """The arrays into which rows are parsed. Components of positions and vectors are interleaved."""

    def __init__(self, names, kinds, chosen, capacity):
        self.names = names
        self.kinds = kinds
        self.capacity = capacity
        self.chosen = chosen
        self.widened = set()
        self.positions = np.empty((capacity, 3), np.float64)
        alone = [name for name, kind in kinds.items() if kind is not None and name not in chosen]
        self.vectors = []  # pairs: names of components, and the array (n, k) with these columns
        for _, group in _vectors([name for name in alone if kinds[name] == np.float64]):
            self.vectors.append((group, np.empty((capacity, len(group)), np.float64)))
            alone = [name for name in alone if name not in group]
        self.alone = {name: np.empty(capacity, kinds[name]) for name in alone}

    def arrays(self):
        """Returns the arrays of the columns that are kept, except positions."""
        result = dict(self.alone)
        for group, table in self.vectors:
            result.update((name, table[:, i]) for i, name in enumerate(group))
        return {name: result[name] for name in self.names if name in result}

    def columns(self, first):
        arrays = self.arrays()
        arrays.update((name, self.positions[:, i]) for i, name in enumerate(self.chosen) if name is not None)
        return [arrays[name][first:] if name in arrays else None for name in self.names]

    def grow(self, capacity):
        self.capacity = capacity
        for array in (self.positions, *(table for _, table in self.vectors), *self.alone.values()):
            array.resize((capacity, *array.shape[1:]), refcheck=False)

    def widen(self, name, done, is_guess):
        """Converts a column of integers to float64 because a row has a fraction; returns remarks. is_guess: only the name of
        the column suggested integers."""
        self.kinds[name] = np.float64
        old = self.alone[name]
        new = np.empty(self.capacity, np.float64)
        new[:done] = old[:done]
        is_rounded = new[:done].astype(np.int64) != old[:done]
        if is_rounded.any() and not is_guess:
            raise ConvertError(f"column '{name}' has both integers beyond 2^53 and fractions, which no type can represent")
        self.alone[name] = new
        if not is_guess:
            self.widened.add(name)
        return [(f"rounded {name}", f"column '{name}' becomes float64, which rounds {old[:done][is_rounded][0]}")] if (
            is_rounded.any()) else []

    def check_exact(self, block, used, done, rows, remarks):
        """Checks float64 values beyond 2^53. A rounded integer is an error in a column that also has fractions, and a remark
        in others."""
        def is_large(values):
            return values.dtype == np.float64 and (np.abs(values[done:done + rows]) >= 2.0 ** 53).any()
        tables = [table for _, table in self.vectors]
        large = [name for name, values in self.arrays().items() if is_large(values)] if any(
            map(is_large, [*tables, *self.alone.values()])) else []
        for line in bytes(block[:used]).split(b"\n") if large else ():
            fields = line.split()
            for name in large if fields else ():
                word = fields[self.names.index(name)]
                if not INTEGER.fullmatch(word.decode("latin-1")) or int(float(word)) == int(word):
                    continue
                if name in self.widened:
                    raise ConvertError(f"column '{name}' has both fractions and the integer {word.decode()}, which no type can "
                                       "represent")
                remarks.append((f"rounded {name}", f"column '{name}' becomes float64, which rounds {word.decode()}"))
                large = [other for other in large if other != name]


def _explain(stream, block, bad, header, done, layout, remarks):
    """Raises for an invalid row, or converts its column to float64."""
    text = bytes(block[bad.place:bad.place + 4096]).split(b"\n")[0].decode("utf-8", "replace").rstrip("\r")
    line = stream.line_number + 1 + bytes(block[:bad.place]).count(b"\n")
    fields = text.split()
    where = f"{header.name}, line {line}"
    if text.startswith("ITEM:"):
        raise ConvertError(f"{where}: '{text[:60]}' after {header.place(done + bad.row)}")
    if bad.column < 0:
        raise ConvertError(f"{where}: {len(fields)} values instead of {len(header.columns)}: '{text[:60]}'")
    name = header.columns[bad.column]
    word = fields[bad.column]
    if layout.kinds[name] == np.int64 and name not in layout.chosen:
        try:
            value = _float(word)
        except ValueError:
            value = None
        if value is not None and not INTEGER.fullmatch(word):
            remarks += layout.widen(name, done, not _is_always_integer(header.original(name)))
            remarks.append((f"fractions {name}", f"column '{name}' contains '{word}' and becomes float64"))
            return
    raise ConvertError(f"{where}: '{word[:60]}' in column '{name}' is not a valid "
                       f"{'integer of 64 bits' if layout.kinds[name] == np.int64 else 'number'}")


class DividedRows(Divided):
    """A step in parts. Whether a repeated column equals the first is known only after all parts have been read."""

    def __init__(self, size, read):
        super().__init__(size, read, varies=True)
        self._repeats = {}

    def facts(self, part):
        return (*super().facts(part), part.repeats)

    def settle(self, facts):
        super().settle([each[:2] for each in facts])
        for name, (original, _) in facts[0][2].items():
            is_same = all(each[2].get(name, (original, False))[1] for each in facts)
            self._remarks.append(_remark_on_repeat(name, original, is_same))
            if is_same:
                self._types.pop(name, None)
                self._texts.pop(name, None)

    def conform(self, part):
        for name in list(part.texts):
            if name not in self._texts:
                del part.texts[name]
        return super().conform(part)


def in_parts(header, read):
    """Returns a Divided. read(first, end): returns Particles of these atoms."""
    return DividedRows(8 * len(header.columns) * header.count, lambda i, n: read(*part_of(header.count, i, n)))


class TextRows:
    """Reads ranges of the atoms of a step, in ascending order without rereading."""

    def __init__(self, path, place, line, header, options, make_stream=Stream):
        self._path, self._place, self._line = path, place, line
        self._header, self._options, self._make_stream = header, options, make_stream
        self._stream, self._row = None, 0

    def read(self, first, end):
        if self._stream is None or first < self._row:
            self._open()
        if self._stream.skip_lines(first - self._row) != first - self._row:
            raise ConvertError(f"{self._header.name}: ends before its {self._header.count} atoms")
        self._row = end
        return read_rows(self._stream, self._header.part(first, end), self._options)

    def _open(self):
        if self._stream is not None:
            self._stream.close()
        self._stream, self._row = self._make_stream(self._path), 0
        self._stream.skip(self._place)
        self._stream.line_number = self._line


# --- Binary

def _is_binary(head):
    for order in ("little", "big"):
        length = -int.from_bytes(head[:8], order, signed=True)
        if any(length == len(magic) and head[8:8 + length] == magic for magic in MAGICS):
            return True
    return False


class Numbers:
    """Reads numbers of a binary stream in a given byte order."""

    def __init__(self, stream, order):
        self.stream = stream
        self.order = order

    def take(self, kinds):
        values = struct.unpack(self.order + kinds, self.stream.take(struct.calcsize("=" + kinds)))
        return values if len(kinds) > 1 else values[0]

    def text(self, maximum=1 << 16):
        length = self.take("i")
        if not 0 <= length <= maximum:
            raise ConvertError(f"byte {self.stream.place}: a string of {length} bytes; at most {maximum} are allowed")
        return bytes(self.stream.take(length)).decode("utf-8", "replace")


def _binary_steps(stream, options, fractions):
    units = None
    while stream.peek(1):
        start = stream.place
        if not _is_binary(stream.peek(18)):
            raise ConvertError(f"byte {start}: expected a step of a binary dump here, after the previous one")
        numbers = Numbers(stream, "<" if stream.peek(8)[7] == 0xff else ">")
        header = _binary_header(numbers, start)
        size, left = 8 * len(header.columns) * header.count, numbers.stream.left()
        header.fractions, header.may_have_followers = fractions, start > 0 or left is None or left > 1.5 * size
        header.units = units = header.units or units
        place = stream.place
        step = Step(lambda header=header, numbers=numbers: [_read_binary(numbers, header, options)], header.number,
                    header.time, lambda header=header, numbers=numbers, place=place: [in_parts(
                        header, BinaryRows(stream.path, place, numbers.order, header, options).read)])
        yield step
        if not step.is_read:
            for size in _chunks(numbers, header):
                stream.skip(8 * size)


def _binary_header(numbers, start):
    header = Header()
    numbers.stream.skip(-numbers.take("q"))
    endian, revision = numbers.take("ii")
    if endian != 1 or revision < 2:
        raise ConvertError(f"byte {start}: a binary dump with endian {endian}, revision {revision}; allowed are 1, and 2 or "
                           "later")
    header.number, header.count, triclinic = numbers.take("qqi")
    sides = numbers.take("6i")
    header.boundary = " ".join("".join("pfsm"[side] if 0 <= side < 4 else "?" for side in sides[i:i + 2])
                               for i in (0, 2, 4))
    if triclinic == 2:
        box = np.array(numbers.take("12d"))
        header.edges, header.origin = box[:9].reshape(3, 3), box[9:]
    else:
        box = np.array(numbers.take("6d")).reshape(3, 2)
        if triclinic:
            header.edges, header.origin = tilted_box(box[:, 0], box[:, 1], numbers.take("3d"))
        else:
            header.edges, header.origin = np.diag(box[:, 1] - box[:, 0]), box[:, 0]
    width = numbers.take("i")
    header.units = numbers.text() or None
    header.time = numbers.take("d") if numbers.take("b") else None
    header.columns = numbers.text().split()
    if width != len(header.columns) or width < 1:
        raise ConvertError(f"timestep {header.number}: {width} values for each atom, but {len(header.columns)} names: "
                           f"{listed(header.columns)}")
    left = numbers.stream.left()
    if header.count < 0 or (left is not None and header.count * width * 8 > left):
        raise ConvertError(f"timestep {header.number}: claims {header.count} atoms of {width} values, but only {left} bytes are "
                           "left: the file is "
                           "truncated or damaged")
    name_columns(header)
    return header


def _chunks(numbers, header):
    """Yields the number of values in each piece of a step, one for each process that wrote it. The stream is then at the
    values."""
    width = len(header.columns)
    total = 0
    for _ in range(numbers.take("i")):
        size = numbers.take("i")
        if size < 0 or size % width or total + size > header.count * width:
            raise ConvertError(f"timestep {header.number}: a piece has {size} values, but each of {header.count} atoms has "
                               f"{width}")
        total += size
        yield size
    if total != header.count * width:
        raise ConvertError(f"timestep {header.number}: {total // width} of {header.count} atoms")


def _read_binary(numbers, header, options):
    width = len(header.columns)
    pieces = [np.frombuffer(numbers.stream.take(8 * size), numbers.order + "f8").reshape(-1, width)
              for size in _chunks(numbers, header)]
    return _of_table(np.concatenate(pieces) if pieces else np.empty((0, width)), header, options)


class BinaryRows:
    """Reads ranges of the atoms of a step, in ascending order without rereading."""

    def __init__(self, path, place, order, header, options):
        self._path, self._place, self._order = path, place, order
        self._header, self._options = header, options
        self._numbers, self._chunks, self._row, self._left = None, None, 0, 0

    def read(self, first, end):
        if self._numbers is None or first < self._row:
            self._open()
        self._skip(first - self._row)
        rows = list(self._take(end - first))
        width = len(self._header.columns)
        table = np.concatenate(rows) if rows else np.empty((0, width))
        return _of_table(table, self._header.part(first, end), self._options)

    def _open(self):
        if self._numbers is not None:
            self._numbers.stream.close()
        stream = Stream(self._path)
        stream.skip(self._place)
        self._numbers = Numbers(stream, self._order)
        self._chunks = _chunks(self._numbers, self._header)
        self._row = self._left = 0

    def _pieces(self, count):
        """Yields the sizes of contiguous runs among the next `count` atoms."""
        while count:
            while not self._left:
                self._left = next(self._chunks) // len(self._header.columns)
            some = min(count, self._left)
            yield some
            self._left -= some
            self._row += some
            count -= some
        if not self._left and self._row == self._header.count:
            next(self._chunks, None)  # checks their sum

    def _skip(self, count):
        for some in self._pieces(count):
            self._numbers.stream.skip(8 * len(self._header.columns) * some)

    def _take(self, count):
        width = len(self._header.columns)
        for some in self._pieces(count):
            yield np.frombuffer(self._numbers.stream.take(8 * width * some), self._order + "f8").reshape(-1, width)


def _of_table(table, header, options):
    """Returns the Particles of a table (atoms, columns)."""
    table = table.astype("=f8", copy=False)
    chosen, scaled = _positions(header, options)
    arrays = {}
    remarks = []
    for i, name in enumerate(header.columns):
        if name in chosen:
            continue
        values = table[:, i]
        if _is_guess(header.original(name)) and not header.is_integer(name):
            remarks.append(_remark_on_fractions(name))
        elif header.original(name) in TEXTS or header.is_integer(name):  # in a binary dump, texts are stored as type numbers
            integers = np.where(np.abs(values) < 2 ** 63, values, 0).astype(np.int64)
            if (integers == values).all():
                values = integers
            else:
                remarks.append(_remark_on_fractions(name))
        arrays[name] = values
    positions = np.stack([table[:, header.columns.index(name)] if name else np.zeros(len(table)) for name in chosen],
                         axis=1)
    return _particles(header, arrays, positions, chosen, scaled, {}, remarks, options)


# --- Text and binary

def _is_always_integer(name):
    return name in INTEGERS or name.startswith(("i_", "i2_"))


def _remark_on_fractions(name):
    return f"fractions {name}", f"column '{name}' has fractions and becomes float64"


def _is_guess(name):
    """Whether only the name suggests integers: LAMMPS's d_name and d2_name have fractions."""
    return not _is_always_integer(name) and IDS.fullmatch(name) is not None and not name.startswith(("d_", "d2_"))


def _is_integer(name):
    return _is_always_integer(name) or _is_guess(name)


def _positions(header, options):
    """Returns the names of the three columns, and whether they are fractions of the box."""
    columns = header.columns
    if options.columns:
        if len(options.columns) != 3:
            raise ConvertError("argument --columns: a dump has three coordinate columns")
        for name in options.columns:
            if name not in columns and name != "none":
                raise ConvertError(f"unknown position column '{name}'; available: {listed(columns)}")
        chosen = tuple(name if name in columns else None for name in options.columns)
    else:
        chosen = next((names for names in PLACES if all(name in columns for name in names)), None)
    if chosen is None:
        raise ConvertError(f"{header.name}: no positions: none of x y z, xu yu zu, xs ys zs, xsu ysu zsu in {listed(columns)}")
    return chosen, chosen in SCALED


def _vectors(names):
    """Returns pairs of a vector name and the columns that are its components."""
    groups = [(vector, group) for vector, group in VECTORS.items() if vector not in names]
    bases = {}
    for name in names:
        base, bracket, rest = name.partition("[")
        if bracket and rest.endswith("]") and rest[:-1].isdigit():
            bases.setdefault(base, []).append((int(rest[:-1]), name))
    for base, members in bases.items():
        numbers = [number for number, _ in sorted(members)]
        if base not in names and numbers == list(range(1, len(numbers) + 1)) and 2 <= len(numbers) <= 9:
            groups.append((base, tuple(name for _, name in sorted(members))))
    return [(vector, group) for vector, group in groups if all(name in names for name in group)]


def _particles(header, arrays, positions, chosen, scaled, words, remarks, options):
    metadata = {"lammps": {"box": {"origin": header.origin, "edges": header.edges, "boundary": header.boundary},
                           "units": header.units, "columns": header.columns}}
    if header.units:
        metadata["units"] = {"style": header.units, **dict(zip(("positions", "time", "v", "f"), STYLES.get(header.units, ())))}
    positions = positions[:header.count]
    arrays = {name: array[:header.count] for name, array in arrays.items()}
    for i, name in enumerate(chosen):
        if name is None:
            positions[:, i] = 0
    texts = {}
    for name, found in words.items():
        codes, known = codes_of(found)
        if header.original(name) not in TEXTS and len(known) > MAX_TEXTS:
            remarks.append((f"left out {name}", f"column '{name}' is not written: it contains {len(known)} different texts, such "
                                                f"as '{known[0][:40]}'"))
            continue
        arrays[name], texts[name] = codes, known
        remarks.append((f"texts {name}", f"column '{name}' is converted to numbers; the metadata contains their texts"))
    repeats = _find_repeats(header, arrays, positions, chosen, texts)
    if header.total is None:
        for name, (original, is_same) in repeats.items():
            remarks.append(_remark_on_repeat(name, original, is_same))
            if is_same:
                del arrays[name]
                texts.pop(name, None)
    if chosen != PLACES[0]:
        positions = _place(header, arrays, positions, chosen, scaled, metadata, remarks)
    if texts:
        metadata["lammps"]["texts"] = texts
    for vector, group in _vectors([name for name in header.columns if name in arrays]):
        if len({arrays[name].dtype for name in group}) == 1 and (options.arrays is None or options.wants(vector)):
            arrays[vector] = _side_by_side([arrays.pop(name) for name in group])
    others = set(header.columns) | set(arrays) | {vector for vector, _ in _vectors(header.columns)}
    requested = {name: array for name, array in arrays.items() if options.wants(name)}
    found = Particles(positions, requested, metadata, remarks=remarks, others=others, texts=texts)
    found.repeats = repeats
    return found


def _find_repeats(header, arrays, positions, chosen, texts):
    """Returns name -> (name of the first column, whether its values are the same) of repeated columns."""
    found = {}
    for name, original in header.repeats.items():
        first = positions[:, chosen.index(original)] if original in chosen else arrays.get(original)
        if name in arrays and first is not None:
            own = arrays[name]
            found[name] = original, texts.get(name) == texts.get(original) and own.dtype == first.dtype and np.array_equal(
                own, first, equal_nan=own.dtype.kind == "f")
    return found


def _remark_on_repeat(name, original, is_same):
    if is_same:
        return f"repeated {name}", f"column '{original}' occurs again with the same values and is written once"
    return f"repeated {name}", f"two columns are named '{original}'; the second is called '{name}'"


def _place(header, arrays, positions, chosen, scaled, metadata, remarks):
    """Returns positions from coordinates other than x, y, z."""
    kind = {"xu": "unwrapped", "xs": "scaled", "xsu": "scaled and unwrapped"}.get(chosen[0], "chosen")
    remarks.append(("positions", f"positions are the {kind} coordinates {' '.join(filter(None, chosen))}" + (
        ", multiplied by the box; they are also kept as attributes" if scaled else "")))
    metadata["lammps"]["positions"] = [name or "0" for name in chosen]
    if not scaled:
        return positions
    for i, name in enumerate(chosen):
        arrays[name] = positions[:, i].copy()
    # One axis after the other, since the summation order of a matrix product depends on the machine.
    return np.stack([header.origin[axis] + positions[:, 0] * header.edges[0, axis] + positions[:, 1] * header.edges[1, axis]
                     + positions[:, 2] * header.edges[2, axis] for axis in range(3)], axis=1)


def _side_by_side(columns):
    """Returns k arrays as one (n, k), without a copy if they are the columns of one array."""
    table = columns[0].base
    if isinstance(table, np.ndarray) and table.shape[1:] == (len(columns),) and all(
            column.base is table and column.strides == table.strides[:1] and
            column.ctypes.data == table.ctypes.data + i * table.itemsize for i, column in enumerate(columns)):
        return table[:len(columns[0])]
    return np.stack(columns, axis=1)


FORMAT = Format(
    "lammps", "LAMMPS atom dumps: text, binary; .gz, .bz2, .xz, .zst", steps, extensions=(".lammpstrj", ".dump"),
    sniff=sniff, options=("columns",))
