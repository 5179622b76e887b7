# SPDX-License-Identifier: BSD-3-Clause
"""Houdini's JSON: text, or a binary form in which a byte before each value gives its kind.

In the binary form, strings can be defined once and referenced by number, and arrays of one numeric type are stored as raw values;
these become NumPy arrays.
"""

import json
import struct

import numpy as np

from .model import ConvertError

MAGICS = {b"\x7fNSJb": "<", b"\x7fbJSN": ">"}
MAX_DEPTH = 64
NUMBERS = {0x11: "i1", 0x12: "i2", 0x13: "i4", 0x14: "i8", 0x18: "f2", 0x19: "f4", 0x1A: "f8", 0x21: "u1", 0x22: "u2"}
BOOL, STRING, TOKEN, DEFINE, UNDEFINE, UNIFORM = 0x10, 0x27, 0x26, 0x2B, 0x2D, 0x40
WIDE_LENGTHS = {0xF2: "H", 0xF4: "I", 0xF8: "q"}
CONSTANTS = {0x00: None, 0x30: False, 0x31: True}
ENDS = {0x5B: 0x5D, 0x7B: 0x7D}  # end marks of arrays and maps


class Reader:
    """Reads the binary form."""

    def __init__(self, data):
        self._data, self._place, self._tokens = data, 5, {}
        self._order = MAGICS[data[:5]]

    def value(self, depth=0):
        return self._value(self._kind(), depth)

    def _take(self, count):
        if count < 0 or self._place + count > len(self._data):
            raise ConvertError(f"ends at byte {len(self._data)}, within {count} bytes that start at byte {self._place}")
        self._place += count
        return self._data[self._place - count:self._place]

    def _numbers(self, form):
        return struct.unpack(self._order + form, self._take(struct.calcsize("=" + form)))[0]

    def _length(self):
        code = self._take(1)[0]
        if code in WIDE_LENGTHS:
            return self._numbers(WIDE_LENGTHS[code])
        if code > 0xF0:
            raise ConvertError(f"byte {self._place - 1}: a length begins with {code}")
        return code

    def _text(self):
        return self._take(self._length()).decode("utf-8", "replace")

    def _kind(self):
        """Returns the kind of the next value, after any string definitions."""
        while True:
            kind = self._take(1)[0]
            if kind == DEFINE:
                number = self._length()
                self._tokens[number] = self._text()
            elif kind == UNDEFINE:
                self._tokens.pop(self._length(), None)
            else:
                return kind

    def _token(self):
        number = self._length()
        if number not in self._tokens:
            raise ConvertError(f"byte {self._place}: refers to the text {number}, which is not defined")
        return self._tokens[number]

    def _value(self, kind, depth):
        if depth > MAX_DEPTH:
            raise ConvertError(f"has arrays within arrays, deeper than {MAX_DEPTH}")
        if kind in CONSTANTS:
            return CONSTANTS[kind]
        if kind in NUMBERS:
            dtype = np.dtype(self._order + NUMBERS[kind])
            return np.frombuffer(self._take(dtype.itemsize), dtype)[0].item()
        if kind == BOOL:
            return self._take(1)[0] != 0
        if kind == STRING:
            return self._text()
        if kind == TOKEN:
            return self._token()
        if kind == UNIFORM:
            return self._uniform()
        if kind not in ENDS:
            raise ConvertError(f"byte {self._place - 1}: a value begins with the unknown byte {kind}")
        return self._array(depth) if kind == 0x5B else self._map(depth)

    def _array(self, depth):
        values = []
        while (kind := self._kind()) != ENDS[0x5B]:
            values.append(self._value(kind, depth + 1))
        return values

    def _map(self, depth):
        values = {}
        while (kind := self._kind()) != ENDS[0x7B]:
            key = self._value(kind, depth + 1)
            values[str(key)] = self.value(depth + 1)
        return values

    def _uniform(self):
        kind, count = self._take(1)[0], None
        count = self._length()
        if kind == BOOL:
            words = np.frombuffer(self._take((count + 31) // 32 * 4), self._order + "u4")
            return np.unpackbits(words.astype("<u4").view("u1"), bitorder="little")[:count].astype(bool)
        if kind in NUMBERS:
            dtype = np.dtype(self._order + NUMBERS[kind])
            return np.frombuffer(self._take(count * dtype.itemsize), dtype).astype(dtype.newbyteorder("="))
        if kind in (STRING, TOKEN):
            return [self._text() if kind == STRING else self._token() for _ in range(count)]
        raise ConvertError(f"byte {self._place}: an array has values of the unknown kind {kind}")


def parse(data):
    """Returns the value in a file of either form."""
    if data[:5] in MAGICS:
        return Reader(data).value()
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ConvertError(f"is not valid JSON: {str(error)[:200]}") from None


def pairs(values):
    """Returns a map that Houdini writes as an array of alternating keys and values."""
    if isinstance(values, dict):
        return values
    if not isinstance(values, list) or len(values) % 2:
        raise ConvertError("an array of names and values is expected")
    return {str(key): value for key, value in zip(values[::2], values[1::2])}
