# SPDX-License-Identifier: BSD-3-Clause
"""Reads the vertices of PLY files with all their scalar properties, also in shares for several processes.

Supports text and both byte orders, and preserves the type of every property. List properties are skipped. Does
not depend on VTK or MPI.

    layout = look("scan.ply")
    vertices = read("scan.ply", layout, part=0, parts=1)    # arrays by property
"""

import io
import mmap
import os
import struct
import warnings

import numpy as np

CHUNK = 8 << 20

TYPES = {"char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4", "float": "f4",
         "double": "f8", "int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2", "int32": "i4",
         "uint32": "u4", "float32": "f4", "float64": "f8", "int64": "i8", "uint64": "u8"}

LENGTHS = {"i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I", "i8": "q", "u8": "Q"}  # list lengths, for struct

# Groups of properties that become one array, and its name.
GROUPS = (("Normals", ("nx", "ny", "nz")), ("RGBA", ("red", "green", "blue", "alpha")),
          ("RGB", ("red", "green", "blue")))

ORDERS = {"binary_little_endian": "<", "binary_big_endian": ">"}

_FAST = tuple(int(part) for part in np.__version__.split(".")[:2]) >= (1, 23)


class PlyError(Exception):
    """A file that is not a valid PLY file; the message says why."""


class Element:
    """properties: pairs of a name and a type; the type of a list is a pair, for its length and its values."""

    def __init__(self, name, count):
        self.name = name
        self.count = count
        self.properties = []

    def lists(self):
        return [name for name, kind in self.properties if isinstance(kind, tuple)]

    def scalars(self):
        return [(name, kind) for name, kind in self.properties if not isinstance(kind, tuple)]


class Layout:
    """A file's header: its byte order ("<", ">", or "" for text), its elements, and the byte where they start."""

    def __init__(self, order, elements, start):
        self.order = order
        self.elements = elements
        self.start = start
        self.vertex = next((each for each in elements if each.name == "vertex"), None)
        self.before = elements[:elements.index(self.vertex)] if self.vertex else elements


def look(path):
    """Reads the header."""
    order = None
    elements = []
    with open(path, "rb") as file:
        if file.readline(8).strip() != b"ply":
            raise PlyError("does not start with 'ply'")
        while True:
            line = file.readline(4096)
            words = line.decode("latin-1").split()
            if not line:
                raise PlyError("ends within its header")
            if words[:1] == ["end_header"]:
                break
            if words[:1] == ["format"] and len(words) == 3:
                if words[1] != "ascii" and words[1] not in ORDERS:
                    raise PlyError(f"has the format '{words[1]}'; allowed are ascii, {', '.join(ORDERS)}")
                order = ORDERS.get(words[1], "")
            elif words[:1] == ["element"] and len(words) == 3 and words[2].isdigit():
                elements.append(Element(words[1], int(words[2])))
            elif words[:1] == ["property"] and elements:
                _add_property(elements[-1], words)
            elif words and words[0] not in ("comment", "obj_info"):
                raise PlyError(f"has an invalid line in its header: '{' '.join(words)}'")
        layout = Layout(order, elements, file.tell())
    if order is None:
        raise PlyError("has no 'format' line in its header")
    if layout.vertex is None:
        raise PlyError("has no element 'vertex'; available: " + (", ".join(e.name for e in elements) or "none"))
    names = [name for name, _ in layout.vertex.properties]
    if len(set(names)) != len(names):
        raise PlyError("has two properties with the same name in its element 'vertex'")
    missing = [axis for axis in "xyz" if axis not in dict(layout.vertex.scalars())]
    if missing:
        raise PlyError(f"has no property '{missing[0]}' in its element 'vertex'; available: {', '.join(names) or 'none'}")
    return layout


def _add_property(element, words):
    types = words[2:4] if words[1:2] == ["list"] else words[1:2]
    unknown = [word for word in types if word not in TYPES]
    kinds = tuple(TYPES.get(word, "") for word in types)
    if len(words) != (5 if words[1:2] == ["list"] else 3) or unknown or (len(kinds) > 1 and kinds[0][0] == "f"):
        raise PlyError(f"has an invalid property: '{' '.join(words)}'")
    element.properties.append((words[-1], kinds if len(kinds) > 1 else kinds[0]))


def read(path, layout, part=0, parts=1):
    """Returns the arrays of the scalar properties, by name, of one of `parts` shares of the vertices."""
    vertex = layout.vertex
    first, last = (vertex.count * p // parts for p in (part, part + 1))
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        minimum = sum(_min_size(kind) if layout.order else 2 for _, kind in vertex.properties)
        if vertex.count * minimum > size + 1:
            raise PlyError(f"claims {vertex.count} vertices, which do not fit in {size} bytes")
        if layout.order:
            rows = _read_binary(file, layout, first, last)
        else:
            rows = _read_text(file, layout, first, last)
    if len(rows) < last - first:
        raise PlyError(f"ends after {first + len(rows)} of {vertex.count} vertices")
    return {name: np.ascontiguousarray(rows[name], rows.dtype[name].newbyteorder("="))
            for name, _ in vertex.scalars()}


def _min_size(kind):
    """Returns the bytes of a property in a binary file; for a list, those of an empty one."""
    return np.dtype(kind[0] if isinstance(kind, tuple) else kind).itemsize


def grouped(values):
    """Joins the arrays of each of the GROUPS into one of shape (n, k), if they have one type; returns all arrays."""
    values = dict(values)
    for group, members in GROUPS:
        if group not in values and all(member in values for member in members) and \
                len({values[member].dtype for member in members}) == 1:
            values[group] = np.stack([values.pop(member) for member in members], axis=1)
    return values


def lost(layout):
    """Describes what a file contains beyond scalar properties of vertices; "" if nothing."""
    others = [f"{element.name} ({element.count})" for element in layout.elements
              if element is not layout.vertex and element.count]
    words = ["only the vertices are written, not: " + ", ".join(others)] if others else []
    if layout.vertex.lists():
        words.append("list properties of vertices are not written: " + ", ".join(layout.vertex.lists()))
    return "; ".join(words)


def _read_binary(file, layout, first, last):
    file.seek(layout.start)
    for element in layout.before:
        _skip(file, layout.order, element)
    if layout.vertex.lists():
        return _read_between_lists(file, layout, first, last)
    kind = _record(layout.vertex.properties, layout.order)
    place = file.tell() + first * kind.itemsize
    there = max(0, os.fstat(file.fileno()).st_size - place) // kind.itemsize
    file.seek(place)
    return np.fromfile(file, kind, min(last - first, there))


def _record(properties, order=""):
    return np.dtype([(name, order + kind) for name, kind in properties])


def _read_between_lists(file, layout, first, last):
    """Reads the scalars of vertices with lists, whose lengths determine where the next vertex begins."""
    runs = [[]]  # scalars before, between and after the lists
    lists = []
    for name, kind in layout.vertex.properties:
        if isinstance(kind, tuple):
            lists.append((struct.Struct(layout.order + LENGTHS[kind[0]]), np.dtype(kind[1]).itemsize, name))
            runs.append([])
        else:
            runs[-1].append((name, kind))
    kinds = [_record(run, layout.order) for run in runs]
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        places = _find_runs(content, file.tell(), (first, last), lists, kinds)
        bytes_ = np.frombuffer(content, np.uint8)
        rows = np.empty(len(places), _record(layout.vertex.scalars(), layout.order))
        for i, kind in enumerate(kinds):
            for begin in range(0, len(places) if runs[i] else 0, CHUNK // 64):
                some = places[begin:begin + CHUNK // 64, i]
                found = bytes_[some[:, None] + np.arange(kind.itemsize)].view(kind)[:, 0]
                for name in kind.names:
                    rows[name][begin:begin + len(some)] = found[name]
        del bytes_  # otherwise the map cannot be closed
    return rows


def _find_runs(content, place, share, lists, kinds):
    """Returns where the runs of scalars begin, for each vertex of the share."""
    first, last = share
    places = np.empty((last - first, len(kinds)), np.int64)
    sizes = [kind.itemsize for kind in kinds]
    row = [0] * len(kinds)
    for vertex in range(last):
        for i, (length, size, name) in enumerate(lists):
            row[i] = place
            place += sizes[i]
            if place + length.size > len(content):
                return places[:max(0, vertex - first)]
            count, = length.unpack_from(content, place)
            if count < 0:
                raise PlyError(f"vertex {vertex}: the list '{name}' has {count} values; lengths must not be negative")
            place += length.size + count * size
        row[-1] = place
        place += sizes[-1]
        if place > len(content):
            return places[:max(0, vertex - first)]
        if vertex >= first:
            places[vertex - first] = row
    return places


def _skip(file, order, element):
    if not element.lists():
        file.seek(element.count * sum(np.dtype(kind).itemsize for _, kind in element.properties), os.SEEK_CUR)
        return
    for _ in range(element.count):
        for _, kind in element.properties:
            if isinstance(kind, tuple):
                length = np.frombuffer(_bytes(file, np.dtype(kind[0]).itemsize, element), order + kind[0])[0]
                if not 0 <= length < 2 ** 63:  # seeking would move backwards
                    raise PlyError(f"has a list of {length} values in its element '{element.name}'; lengths must not be negative")
                file.seek(int(length) * np.dtype(kind[1]).itemsize, os.SEEK_CUR)
            else:
                file.seek(np.dtype(kind).itemsize, os.SEEK_CUR)


def _bytes(file, count, element):
    found = file.read(count)
    if len(found) < count:
        raise PlyError(f"ends within its element '{element.name}'")
    return found


def _read_text(file, layout, first, last):
    file.seek(layout.start)
    before = sum(element.count for element in layout.before) + first
    while before > 0:
        place = file.tell()
        block = file.read(CHUNK)
        if not block:
            raise PlyError(f"ends before vertex {first} of {layout.vertex.count}")
        lines = block.count(b"\n")
        if lines >= before:
            file.seek(place)
            for _ in range(before):
                file.readline()
            break
        before -= lines
    kind = _record(layout.vertex.scalars())
    rows = np.empty(last - first, kind)
    done = 0
    while done < len(rows):
        lines = file.readlines(CHUNK)[:len(rows) - done]
        if not lines:
            break
        if layout.vertex.lists():
            lines = [_without_lists(line, layout.vertex, first + done + i) for i, line in enumerate(lines)]
        rows[done:done + len(lines)] = _parse(lines, kind, first + done)
        done += len(lines)
    return rows[:done]


def _without_lists(line, vertex, number):
    """Returns the scalars in the line that describes the vertex `number`."""
    words = line.split()
    kept, place = [], 0
    for name, kind in vertex.properties:
        if isinstance(kind, tuple):
            word = words[place].decode("latin-1") if place < len(words) else ""
            if not word.isdecimal():
                raise PlyError(f"vertex {number}: '{word[:60]}' is not a length of the list '{name}'")
            place += 1 + int(word)
        else:
            kept += words[place:place + 1]
            place += 1
    if place != len(words):
        raise PlyError(f"vertex {number} has {len(words)} values instead of {place}: '{line.decode('latin-1').strip()[:60]}'")
    return b" ".join(kept) + b"\n"


def _parse(lines, kind, first):
    """Returns the vertices in the lines, the first of which is the vertex `first`."""
    if _FAST:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # for example for 1.5 in an integer property
                found = np.loadtxt(io.StringIO(b"".join(lines).decode("latin-1")), kind, comments=None, ndmin=1)
            # Infinity may be a number beyond the range, which the loop below reports.
            if len(found) == len(lines) and not any(np.isinf(found[name]).any() for name in kind.names):
                return found
        except (ValueError, OverflowError, Warning):
            pass
    found = np.empty(len(lines), kind)
    for i, line in enumerate(lines):
        words = line.split()
        if len(words) != len(kind.names):
            raise PlyError(f"vertex {first + i} has {len(words)} values instead of {len(kind.names)}: "
                           f"'{line.decode('latin-1').strip()[:60]}'")
        for name, word in zip(kind.names, words):
            found[name][i] = _value(word.decode("latin-1"), kind[name], f"vertex {first + i}, property '{name}'")
    return found


def _float(word, kind):
    with np.errstate(over="ignore"):
        value = kind.type(float(word))
    if np.isinf(value) and "n" not in word.lower():
        raise ValueError
    return value


def _value(word, kind, where):
    try:
        if "_" in word:  # Python allows it between digits
            raise ValueError
        if kind.kind == "f":
            return _float(word, kind)
        value = int(word)
        limits = np.iinfo(kind)
    except ValueError:
        raise PlyError(f"{where}: '{word[:60]}' is not a valid {kind}") from None
    if not limits.min <= value <= limits.max:
        raise PlyError(f"{where}: {value} is out of range for {kind}, from {limits.min} to {limits.max}")
    return value
