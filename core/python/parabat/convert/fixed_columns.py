# SPDX-License-Identifier: BSD-3-Clause
"""Text with columns at fixed positions, such as GRO and PDB: numbers may touch each other, and fields may be blank."""

import re

import numpy as np

from ._output import BadRow, parse_columns
from .model import ConvertError, codes_of

SPACE, LINE_END = 32, 10


def take_lines(stream, count):
    """Returns the next `count` lines as bytes; fewer at the end of the file."""
    pieces, done = [], 0
    while done < count:
        block = bytes(stream.block())
        if not block:
            break
        ends = np.flatnonzero(np.frombuffer(block, np.uint8) == LINE_END)
        if len(ends) > count - done:
            block = block[:ends[count - done - 1] + 1]
        lines = min(len(ends), count - done) + (not block.endswith(b"\n"))
        pieces.append(block)
        stream.used(len(block), lines)
        done += lines
    return b"".join(pieces)


def take_until(stream, pattern, keep=True):
    """Returns (bytes, match): the bytes before the first match of `pattern`, which begins at the start of a line, and the
    match, which stays unread, or None at the end of the file. keep: False skips the bytes."""
    pieces = []
    while True:
        block = bytes(stream.block())
        found = pattern.search(block)
        before = block[:found.start()] if found else block
        if keep:
            pieces.append(before)
        stream.used(len(before), before.count(b"\n") + (not found and bool(before) and not before.endswith(b"\n")))
        if found or not block:
            return b"".join(pieces), found


class Rows:
    """Lines as a matrix of characters; shorter lines are padded with spaces."""

    def __init__(self, lines, place):
        """lines: bytes with line ends, or a list of lines. place(row): describes a row in messages."""
        self.place = place
        self._table = _matrix(lines)

    def __len__(self):
        return len(self._table)

    def field(self, begin, end):
        """Returns the characters of a field, (n, end - begin)."""
        missing = end - self._table.shape[1]
        part = self._table[:, begin:end]
        return part if missing <= 0 else np.pad(part, ((0, 0), (0, end - begin - part.shape[1])), constant_values=SPACE)

    def is_blank(self, begin, end):
        """Returns for each row whether the field is blank."""
        part = self.field(begin, end)
        return ((part == SPACE) | (part == 13)).all(axis=1)

    def numbers(self, fields, dtype, names):
        """Returns an array (n, k) with the numbers of k fields, given as pairs (begin, end); raises if one is not a number."""
        count = len(self)
        values = np.empty((count, len(fields)), dtype)
        width = sum(end - begin + 1 for begin, end in fields)
        text, place = np.full((count, width), SPACE, np.uint8), 0
        for begin, end in fields:
            text[:, place:place + end - begin] = self.field(begin, end)
            place += end - begin + 1
        text[text == 13] = SPACE
        text[:, -1] = LINE_END
        try:
            rows, _ = parse_columns(text.reshape(-1), [values[:, i] for i in range(len(fields))], " ", count) if count else (0, 0)
        except BadRow as bad:
            rows = bad.row
        if rows != count:
            self._explain(rows, fields, dtype, names)
        return values

    def _explain(self, row, fields, dtype, names):
        kind = "a number" if np.dtype(dtype).kind == "f" else "an integer of 64 bits"
        for (begin, end), name in zip(fields, names):
            word = self.field(begin, end)[row].tobytes().decode("utf-8", "replace").strip()
            try:
                one = np.empty(1, dtype)
                if word and " " not in word and parse_columns(word.encode() + b"\n", [one], " ", 1)[0] == 1:
                    continue
            except BadRow:
                pass
            raise ConvertError(f"{self.place(row)}: '{word}' in columns {begin + 1} to {end} ({name}) is not {kind}")
        raise ConvertError(f"{self.place(row)}: its numbers cannot be read")

    def optional_numbers(self, begin, end, dtype):
        """Returns a number for each row, or None if a field is not a number. Blank fields become NaN in float64."""
        blank = self.is_blank(begin, end)
        if blank.all() or (blank.any() and np.dtype(dtype).kind != "f"):
            return None
        part = self.field(begin, end)
        if blank.any():
            part = part.copy()
            part[blank, :3] = np.frombuffer(b"nan", np.uint8)
        try:
            return Rows([row.tobytes() for row in part], self.place).numbers([(0, end - begin)], dtype, [""])[:, 0]
        except ConvertError:
            return None

    def texts(self, begin, end):
        """Returns (codes, texts) of a field, without surrounding spaces."""
        part = np.ascontiguousarray(self.field(begin, end))
        if not len(part):
            return codes_of(np.array([], str))
        found, codes = np.unique(part.view(f"S{end - begin}")[:, 0], return_inverse=True)
        own, names = codes_of([name.decode("utf-8", "replace").strip() for name in found])
        return own[codes.reshape(-1)], names


def _matrix(lines):
    if isinstance(lines, bytes):
        table = np.frombuffer(lines, np.uint8)
        width = lines.find(b"\n") + 1
        if width and len(table) % width == 0:
            table = table.reshape(-1, width)
            if (table[:, -1] == LINE_END).all() and np.count_nonzero(table == LINE_END) == len(table):
                return table[:, :-1]
        lines = lines.splitlines()
    width = max(map(len, lines), default=0)
    return np.frombuffer(b"".join(line.ljust(width) for line in lines), np.uint8).reshape(len(lines), width)


def find_time(title):
    """Returns the (step, time) in a GROMACS title such as "water t= 1.5 step= 300", with None for a value it lacks."""
    times = re.findall(r"(?<![^\s,;(])t\s*=\s*([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)(?![0-9.eE])", title)
    numbers = re.findall(r"(?<![^\s,;(])step\s*=\s*([-+]?[0-9]+)(?![\w.])", title)
    number = int(numbers[-1]) if numbers and abs(int(numbers[-1])) < 2 ** 63 else None
    return number, float(times[-1]) if times and np.isfinite(float(times[-1])) else None
