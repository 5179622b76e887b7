# SPDX-License-Identifier: BSD-3-Clause
"""DualSPHysics particles in .bi4 files (Part_0000.bi4 ...), which are trees of items in the layout JBinaryData:

    "#FileJBD ..." 60 bytes | byte order | 64-bit sizes | 2 bytes
    item   size of its definition | "\\nITEM\\n", name, hidden ..., numbers of arrays and items, bytes of values
           "\\nVALUES", number of values, each: name, type, value
           arrays, each: size of its definition | "\\nARRAY", name, hidden, type, number, bytes | values
           items

The item PART_... has the time, the step and the arrays: Idp, Posd or Pos, Vel, Rhop and others. Its parent describes the case;
its values go into the metadata.
"""

import os
import re
import struct

import numpy as np

from ..model import Collector, ConvertError, Format, Step, as_json, check_memory, listed

MAGIC = b"#FileJBD "
HEAD = 64
MAX_DEFINITION = 1 << 24
MAX_DEPTH = 16
TEXT = 1
TYPES = {2: ("i4", 1), 3: ("i1", 1), 4: ("u1", 1), 5: ("i2", 1), 6: ("u2", 1), 7: ("i4", 1), 8: ("u4", 1), 9: ("i8", 1),
         10: ("u8", 1), 11: ("f4", 1), 12: ("f8", 1), 20: ("i4", 3), 21: ("u4", 3), 22: ("f4", 3), 23: ("f8", 3)}
POSITIONS = ("Posd", "Pos")
PERIODIC = (("PeriXinc", 0, 1), ("PeriYinc", 1, 2), ("PeriZinc", 2, 4))  # name, axis, bit of PeriActive
PIECE = re.compile(r"(.*_p)(\d+)(\.bi4)\Z", re.IGNORECASE)


class Item:
    """A node of the tree. arrays: name -> (type, number of values, offset in the file)."""

    def __init__(self, name):
        self.name, self.values, self.arrays, self.items, self.texts = name, {}, {}, [], []


class Reader:
    """Reads the bytes of a file."""

    def __init__(self, path):
        self.path = path
        self.size = os.path.getsize(path)
        with open(path, "rb") as file:
            head = file.read(HEAD)
            if len(head) < HEAD or not head.startswith(MAGIC):
                raise ConvertError("is not a file of DualSPHysics: it does not begin with #FileJBD")
            self.is_wide = head[61] != 0
            order = head[60] - (10 if self.is_wide else 0)
            if order not in (0, 1):
                raise ConvertError(f"its header has the byte order {order}; allowed: 0 (little), 1 (big)")
            self.order = "<>"[order]
            self.title = head[len(MAGIC):58].decode("latin-1").strip()
            self._file = file
            self.root = self._item(0)

    def _take(self, count):
        place = self._file.tell()
        if count < 0 or place + count > self.size:
            raise ConvertError(f"ends at byte {self.size}, within {count} bytes that start at byte {place}")
        return self._file.read(count)

    def _numbers(self, form):
        return struct.unpack(self.order + form, self._take(struct.calcsize(self.order + form)))

    def _text(self):
        length, = self._numbers("I")
        if length > MAX_DEFINITION:
            raise ConvertError(f"has a text of {length} bytes at byte {self._file.tell()}")
        return self._take(length).decode("utf-8", "replace")

    def _expect(self, word):
        place = self._file.tell()
        found = self._text()
        if found != word:
            raise ConvertError(f"byte {place}: {word.strip()} is expected; found {found[:40].strip()!r}")

    def _item(self, depth):
        if depth > MAX_DEPTH:
            raise ConvertError(f"has items within items, deeper than {MAX_DEPTH}")
        self._numbers("I")
        self._expect("\nITEM\n")
        item = Item(self._text())
        self._numbers("2i")
        for _ in range(2):  # number formats
            self._text()
        arrays, items, values = self._numbers("3I")
        if values:
            self._expect("\nVALUES")
            for _ in range(*self._numbers("I")):
                name, kind = self._text(), self._numbers("i")[0]
                item.values[name] = self._text() if kind == TEXT else self._value(name, kind)
        for _ in range(arrays):
            self._array(item)
        for _ in range(items):
            item.items.append(self._item(depth + 1))
        return item

    def _value(self, name, kind):
        if kind not in TYPES:
            raise ConvertError(f"'{name}' has the unknown type {kind}; allowed: {', '.join(map(str, [TEXT, *TYPES]))}")
        dtype, count = TYPES[kind]
        values = np.frombuffer(self._take(count * int(dtype[1])), self.order + dtype).tolist()
        return values[0] if count == 1 else values

    def _array(self, item):
        self._numbers("I")
        self._expect("\nARRAY")
        name = self._text()
        _, kind = self._numbers("2i")
        count, size = self._numbers("2Q" if self.is_wide else "2I")
        place = self._file.tell()
        if place + size > self.size:
            raise ConvertError(f"'{name}' has {size} bytes from byte {place} on, but the file ends at byte {self.size}")
        if kind == TEXT:
            item.texts.append(name)
        elif kind not in TYPES:
            raise ConvertError(f"'{name}' has the unknown type {kind}; allowed: {', '.join(map(str, [TEXT, *TYPES]))}")
        else:
            dtype, components = TYPES[kind]
            if size != count * components * int(dtype[1]):
                raise ConvertError(f"'{name}' has {size} bytes for {count} values of {components * int(dtype[1])} bytes")
            if name in item.arrays:
                raise ConvertError(f"two arrays of {item.name} are named '{name}'")
            item.arrays[name] = kind, count, place
        self._file.seek(place + size)

    def read(self, kind, count, place):
        dtype, components = TYPES[kind]
        check_memory(f"claims {count} particles", count * components * int(dtype[1]))
        with open(self.path, "rb") as file:
            file.seek(place)
            values = np.fromfile(file, self.order + dtype, count * components)
        values = values.astype(dtype, copy=False)
        return values if components == 1 else values.reshape(count, components)


def _parts(item, above=()):
    """Yields (item, its ancestors) for items that have positions."""
    if any(name in item.arrays for name in POSITIONS):
        yield item, above
    for each in item.items:
        yield from _parts(each, (*above, item))


def _opened(path):
    reader = Reader(path)
    found = list(_parts(reader.root))
    if not found:
        names = [reader.root.name, *(each.name for each in reader.root.items)]
        raise ConvertError(f"has no particles: no item has {' or '.join(POSITIONS)}, but {listed(names)}")
    return reader, found


def steps(path, options):
    paths = [path] if options.part else siblings(path)
    readers = [_opened(each) for each in paths]
    for place, (part, _) in enumerate(readers[0][1]):
        pieces = [(reader, found[place][0]) for reader, found in readers if place < len(found)]
        above = {name: value for item in readers[0][1][place][1] for name, value in item.values.items()}
        yield Step(lambda pieces=pieces, above=above: [_read(pieces, above, options)], number=_number(part, "Step", int),
                   time=_number(part, "TimeStep", float))


def siblings(path):
    """Returns the files of a step written by several processes: NAME_p0.bi4, NAME_p1.bi4 ..."""
    reader, _ = _opened(path)
    count = reader.root.values.get("Npiece", 1)
    match = PIECE.match(path)
    if not isinstance(count, int) or count <= 1:
        return [path]
    if not match:
        raise ConvertError(f"is one of {count} pieces of a step, which must be called NAME_p0.bi4, NAME_p1.bi4 ...; use --part "
                           "to convert it alone")
    width = len(match[2])
    names = []
    for i in range(count):
        names.append(f"{match[1]}{i:0{width}d}{match[3]}")
        if not os.path.exists(names[-1]):
            raise ConvertError(f"is one of {count} pieces of a step, but {names[-1]} is missing; use --part to convert it alone")
    return names


def _number(part, name, kind):
    value = part.values.get(name)
    return kind(value) if isinstance(value, (int, float)) else None


def _read(pieces, above, options):
    first = pieces[0][1]
    position = next(name for name in POSITIONS if name in first.arrays)
    total = sum(part.arrays[position][1] for _, part in pieces if position in part.arrays)
    collector = Collector(options, total)
    for name in first.texts:
        collector.leave_out(name, "it contains texts")
    for place, name in enumerate(first.arrays):
        options.at(place / len(first.arrays))
        if not collector.wants(name) and name != position:
            continue
        if any(name not in part.arrays or part.arrays[name][0] != first.arrays[name][0] for _, part in pieces):
            collector.leave_out(name, "some pieces do not have it in the same form")
            continue
        values = np.concatenate([reader.read(*part.arrays[name]) for reader, part in pieces])
        if len(values) != total and name != position:
            collector.leave_out(name, f"it has {len(values)} values for {total} particles")
            continue
        collector.add(name, values)
    about = {"dualsphysics": as_json({"case": above, "part": first.values})}
    box = _periodic_box(above)
    if box:
        about["periodic_box"] = box
    return collector.particles(None if options.columns else collector.arrays.pop(position), about)


def _periodic_box(values):
    """Returns the box of the periodic axes. Skips an axis at whose boundaries particles are also displaced along other axes."""
    lower, upper = [None] * 3, [None] * 3
    active = values.get("PeriActive", 0)
    smallest, largest = values.get("MapPosMin"), values.get("MapPosMax")
    if not isinstance(active, int) or not 0 < active < 8 or not smallest or not largest:
        return None
    for name, axis, bit in PERIODIC:
        moved = values.get(name)
        if not active & bit or not isinstance(moved, list) or any(moved[i] for i in range(3) if i != axis):
            continue
        length = abs(moved[axis])
        if 0 < length and abs(largest[axis] - smallest[axis] - length) <= 1e-6 * length:
            lower[axis], upper[axis] = smallest[axis], smallest[axis] + length
    return {"lower": lower, "upper": upper} if any(each is not None for each in lower) else None


FORMAT = Format("dualsphysics", "particles of DualSPHysics (.bi4)", steps, extensions=(".bi4",), siblings=siblings,
                options=("columns", "part"), sniff=lambda head, _: head.startswith(MAGIC))
