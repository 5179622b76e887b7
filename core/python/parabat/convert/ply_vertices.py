# SPDX-License-Identifier: BSD-3-Clause
"""The vertices of PLY files with all their properties, and in shares of several processes.

Texts and both byte orders; every property in its own type. Knows neither VTK nor MPI.

    layout = look("scan.ply")
    vertices = read("scan.ply", layout, part=0, parts=1)    # arrays by property
"""

import io
import os
import warnings

import numpy as np

CHUNK = 8 << 20

TYPES = {"char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4", "float": "f4",
         "double": "f8", "int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2", "int32": "i4",
         "uint32": "u4", "float32": "f4", "float64": "f8", "int64": "i8", "uint64": "u8"}

# What properties of vertices together are called.
GROUPS = (("Normals", ("nx", "ny", "nz")), ("RGBA", ("red", "green", "blue", "alpha")),
          ("RGB", ("red", "green", "blue")))

ORDERS = {"binary_little_endian": "<", "binary_big_endian": ">"}

_FAST = tuple(int(part) for part in np.__version__.split(".")[:2]) >= (1, 23)


class PlyError(Exception):
    """What is wrong with a file, in words."""


class Element:
    """`properties`: pairs of name and type; of a list, its type is a pair of types."""

    def __init__(self, name, count):
        self.name = name
        self.count = count
        self.properties = []

    def lists(self):
        return [name for name, kind in self.properties if isinstance(kind, tuple)]


class Layout:
    """Of a file: `order` ("<", ">", or "" for text), `elements`, the byte where they start."""

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
    missing = [axis for axis in "xyz" if axis not in names]
    if missing:
        raise PlyError(f"has no property '{missing[0]}' in its element 'vertex'; available: {', '.join(names) or 'none'}")
    if layout.vertex.lists():
        raise PlyError(f"has a list, '{layout.vertex.lists()[0]}', in its element 'vertex'; lists cannot be particle attributes")
    return layout


def _add_property(element, words):
    types = words[2:4] if words[1:2] == ["list"] else words[1:2]
    unknown = [word for word in types if word not in TYPES]
    if len(words) != (5 if words[1:2] == ["list"] else 3) or unknown:
        raise PlyError(f"has an invalid property: '{' '.join(words)}'")
    kinds = tuple(TYPES[word] for word in types)
    element.properties.append((words[-1], kinds if len(kinds) > 1 else kinds[0]))


def read(path, layout, part=0, parts=1):
    """Arrays of the properties of the vertices number count * part / parts and so on."""
    vertex = layout.vertex
    first, last = (vertex.count * p // parts for p in (part, part + 1))
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        minimum = sum(np.dtype(kind).itemsize if layout.order else 2 for _, kind in vertex.properties)
        if vertex.count * minimum > size + 1:
            raise PlyError(f"claims {vertex.count} vertices, which do not fit in {size} bytes")
        if layout.order:
            rows = _read_binary(file, layout, first, last)
        else:
            rows = _read_text(file, layout, first, last)
    if len(rows) < last - first:
        raise PlyError(f"ends after {first + len(rows)} of {vertex.count} vertices")
    return {name: np.ascontiguousarray(rows[name], rows.dtype[name].newbyteorder("="))
            for name, _ in vertex.properties}


def grouped(values):
    """The same arrays; those of GROUPS, if they have one type, as one of shape (n, k)."""
    values = dict(values)
    for group, members in GROUPS:
        if group not in values and all(member in values for member in members) and \
                len({values[member].dtype for member in members}) == 1:
            values[group] = np.stack([values.pop(member) for member in members], axis=1)
    return values


def lost(layout):
    """What of a file are no vertices, in words; "" if nothing is."""
    others = [f"{element.name} ({element.count})" for element in layout.elements
              if element is not layout.vertex and element.count]
    return "only the vertices are written, not: " + ", ".join(others) if others else ""


def _read_binary(file, layout, first, last):
    file.seek(layout.start)
    for element in layout.before:
        _skip(file, layout.order, element)
    kind = np.dtype([(name, layout.order + kind) for name, kind in layout.vertex.properties])
    place = file.tell() + first * kind.itemsize
    there = max(0, os.fstat(file.fileno()).st_size - place) // kind.itemsize
    file.seek(place)
    return np.fromfile(file, kind, min(last - first, there))


def _skip(file, order, element):
    if not element.lists():
        file.seek(element.count * sum(np.dtype(kind).itemsize for _, kind in element.properties), os.SEEK_CUR)
        return
    for _ in range(element.count):
        for _, kind in element.properties:
            if isinstance(kind, tuple):
                length = np.frombuffer(_bytes(file, np.dtype(kind[0]).itemsize, element), order + kind[0])[0]
                if not 0 <= length < 2 ** 63:  # which would lead back
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
    kind = np.dtype([(name, kind) for name, kind in layout.vertex.properties])
    rows = np.empty(last - first, kind)
    done = 0
    while done < len(rows):
        lines = file.readlines(CHUNK)[:len(rows) - done]
        if not lines:
            break
        rows[done:done + len(lines)] = _parse(lines, kind, first + done)
        done += len(lines)
    return rows[:done]


def _parse(lines, kind, first):
    """The vertices in these lines, of which the first is vertex `first`."""
    if _FAST:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # also where 1.5 would become an integer
                found = np.loadtxt(io.StringIO(b"".join(lines).decode("latin-1")), kind, comments=None, ndmin=1)
            # Some may be numbers that are too large, which is to be said.
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
        if "_" in word:  # which Python takes between digits
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
