# SPDX-License-Identifier: BSD-3-Clause
"""Reads the kind, the time and the step number of VTK files without reading their points.

XML files name their kind in the first element, `<VTKFile type="PolyData">`, and store field data before the pieces;
legacy files store them between DATASET and POINTS. The time is a single value of field data named TimeValue or
TIME, and the step number one named TimeStep or CYCLE; case is ignored. Only this part of a file is read.
"""

import base64
import binascii
import contextlib
import mmap
import os
import re
import zlib

import numpy as np

from .model import ConvertError

HEAD_BYTES = 64 << 10
MAX_FIELD_DATA = 1 << 20  # bytes within which field data must end, before the points
MAX_INFLATION = 1040      # maximum compression ratio of zlib

TIMES = ("timevalue", "time")
NUMBERS = ("timestep", "cycle")
TYPES = {"Int8": "i1", "UInt8": "u1", "Int16": "i2", "UInt16": "u2", "Int32": "i4", "UInt32": "u4", "Int64": "i8",
         "UInt64": "u8", "Float32": "f4", "Float64": "f8"}
LEGACY_TYPES = {"char": "i1", "signed_char": "i1", "unsigned_char": "u1", "short": "i2", "unsigned_short": "u2", "int": "i4",
                "unsigned_int": "u4", "long": "i8", "unsigned_long": "u8", "vtktypeint64": "i8", "vtktypeuint64": "u8",
                "vtkidtype": "i4", "float": "f4", "double": "f8"}
LEGACY = b"# vtk DataFile"

_KIND = re.compile(rb"<VTKFile\b[^>]*?\btype\s*=\s*[\"'](\w+)[\"']")
_ARRAY = re.compile(rb"<DataArray\b([^>]*?)(/?)>")
_PIECE = re.compile(rb"<Piece\b[^>]*?\bNumberOfPoints\s*=\s*[\"']\s*(\d+)")
_WORD = re.compile(rb"([\w:]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")


def kind_of(head):
    """Returns the type of data in a VTK file that begins with these bytes: "PolyData", "legacy" ...; None for other files."""
    if head.startswith(LEGACY):
        return "legacy"
    found = _KIND.search(head)
    return found[1].decode("ascii", "replace") if found else None


def read_head(path):
    with open(path, "rb") as file:
        return file.read(HEAD_BYTES)


def read_facts(path):
    """Returns (time, step number) of a file with points, each None if missing."""
    head = read_head(path)
    kind = kind_of(head)
    if kind == "legacy":
        with contextlib.suppress(ValueError, LookupError, OverflowError):
            return facts_of(_legacy_fields(head))
    elif kind:
        with contextlib.suppress(ValueError, LookupError, OverflowError, zlib.error, binascii.Error):
            return facts_of(_xml_fields(path))
    return None, None


def facts_of(fields):
    """Returns (time, step number) from field data: name -> array of any shape."""
    time = number = None
    known = {}
    for name, array in fields.items():
        known.setdefault(name.lower(), np.asarray(array).reshape(-1))
    for name in TIMES:
        array = known.get(name)
        if time is None and array is not None and array.size == 1 and array.dtype.kind in "iuf":
            time = float(array[0])
    for name in NUMBERS:
        array = known.get(name)
        if number is None and array is not None and array.size == 1:
            number = _whole(array, name == "cycle")
    return time if time is None or np.isfinite(time) else None, number


def _whole(array, with_fractions):
    """Returns a step number, or None: a floating-point TimeStep is the length of a step."""
    value = array[0]
    if array.dtype.kind in "iu":
        return int(value) if value < 2 ** 63 else None
    return int(value) if with_fractions and array.dtype.kind == "f" and abs(value) < 2 ** 53 and value == int(value) else None


def claimed_points(path):
    """Returns the number of points that the pieces of an XML file claim. Raises for more than the file can hold, and for a
    truncated file."""
    size, claimed = os.path.getsize(path), 0
    with _mapped(path) as content:
        if content.rfind(b"</VTKFile", max(0, len(content) - HEAD_BYTES)) < 0:
            raise ConvertError("ends before </VTKFile>: the file is truncated")
        for match in _PIECE.finditer(content[:MAX_FIELD_DATA]):
            claimed += int(match[1])
    if claimed * 12 > MAX_INFLATION * size:
        raise ConvertError(f"claims {claimed} points, but has only {size} bytes: the file is truncated or damaged")
    return claimed


# --- XML

def _words(text):
    return {name.decode(): (one or other).decode("utf-8", "replace") for name, one, other in _WORD.findall(text)}


@contextlib.contextmanager
def _mapped(path):
    with open(path, "rb") as file:
        if not os.fstat(file.fileno()).st_size:
            yield b""
            return
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            yield content


def _xml_fields(path):
    """Returns field data with one value that can be a time or a step number: name -> array."""
    with _mapped(path) as content:
        begin = content.find(b"<FieldData", 0, MAX_FIELD_DATA)
        end = content.find(b"</FieldData>", begin, begin + MAX_FIELD_DATA) if begin >= 0 else -1
        if end < 0:
            return {}
        file_words = _words(content[:content.find(b">", content.find(b"<VTKFile"))])
        fields, area = {}, content[begin:end]
        for match in _ARRAY.finditer(area):
            about = _words(match[1])
            name = about.get("Name", "")
            count = int(about.get("NumberOfTuples", 1)) * int(about.get("NumberOfComponents", 1))
            if name.lower() not in TIMES + NUMBERS or count != 1 or about.get("type") not in TYPES:
                continue
            text = b"" if match[2] else area[match.end():area.find(b"</DataArray>", match.end())]
            array = _xml_array(content, file_words, about, text)
            if array is not None:
                fields[name] = array
        return fields


def _xml_array(content, file_words, about, text):
    """Decodes one value in any encoding of XML files; returns None for compressors other than zlib."""
    order = ">" if file_words.get("byte_order") == "BigEndian" else "<"
    dtype = np.dtype(order + TYPES[about["type"]])
    if about.get("format") == "ascii":
        text = text.split(b"<")[0].split()
        return np.array([int(text[0]) if dtype.kind in "iu" else float(text[0])]).astype(dtype)
    encoding = "base64"
    if about.get("format") == "appended":
        place = content.rfind(b"<AppendedData")
        encoding = _words(content[place:content.find(b">", place)]).get("encoding", "base64")
        start = content.find(b"_", content.find(b">", place)) + 1 + int(about["offset"])
        text = content[start:start + 256]
    compressor = file_words.get("compressor")
    if compressor not in (None, "", "vtkZLibDataCompressor"):
        return None
    header = np.dtype(order + {"UInt64": "u8"}.get(file_words.get("header_type"), "u4"))
    data = _unpacked(text.strip() if encoding == "base64" else text, encoding, header, bool(compressor))
    return np.frombuffer(data[:dtype.itemsize], dtype)


def _unpacked(text, encoding, header, is_compressed):
    """Returns the bytes of an array, which follow a header: one size, or (blocks, size, size of the last, compressed sizes)."""
    count = 4 if is_compressed else 1  # numbers in the header, for one block
    size = count * header.itemsize
    if encoding == "raw":
        numbers, rest = np.frombuffer(text[:size], header), text[size:]
    elif is_compressed:  # header and values are encoded one after the other
        letters = -(-size // 3) * 4
        numbers, rest = np.frombuffer(base64.b64decode(text[:letters])[:size], header), text[letters:]
        rest = base64.b64decode(rest[:-(-int(numbers[3]) // 3) * 4])
    else:
        data = base64.b64decode(text[:-(-(size + 8) // 3) * 4] if len(text) % 4 else text[:len(text) // 4 * 4])
        numbers, rest = np.frombuffer(data[:size], header), data[size:]
    if not is_compressed:
        return rest
    return zlib.decompress(rest[:int(numbers[3])])


# --- Legacy

def _legacy_fields(head):
    """Returns the field data before the points of a legacy file."""
    lines = _Lines(head)
    lines.next()
    lines.next()
    is_binary = lines.next().strip().upper() == b"BINARY"
    while True:
        words = lines.next().split()
        if not words:
            continue
        if words[0].upper() == b"FIELD":
            return _legacy_arrays(lines, int(words[2]), is_binary)
        if words[0].upper() not in (b"DATASET", b"DIMENSIONS"):
            return {}


class _Lines:
    """Reads lines, with values in between."""

    def __init__(self, text):
        self._text = text
        self._place = 0

    def next(self):
        end = self._text.index(b"\n", self._place)
        line, self._place = self._text[self._place:end], end + 1
        return line

    def take(self, count):
        if self._place + count > len(self._text):
            raise ValueError
        data = self._text[self._place:self._place + count]
        self._place += count
        return data


def _legacy_arrays(lines, count, is_binary):
    fields = {}
    with contextlib.suppress(ValueError, KeyError, IndexError):  # errors after the arrays that were read do not matter
        while len(fields) < count:
            words = lines.next().split()
            if not words:
                continue
            if words[0] == b"METADATA":
                while lines.next().strip():
                    pass
                continue
            name, values = words[0].decode("utf-8", "replace"), int(words[1]) * int(words[2])
            dtype = np.dtype(">" + LEGACY_TYPES[words[3].decode().lower()])
            if is_binary:
                fields[name] = np.frombuffer(lines.take(values * dtype.itemsize), dtype)
                continue
            found = []
            while len(found) < values:
                found += lines.next().split()
            fields[name] = np.array([int(word) if dtype.kind in "iu" else float(word) for word in found]).astype(dtype)
    return fields
