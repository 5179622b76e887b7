# SPDX-License-Identifier: BSD-3-Clause
"""Sequential reading of files, compressed or not, by lines and by blocks of whole lines."""

import bz2
import gzip
import importlib
import lzma
import os
import zlib

import numpy as np

from .._extras import install
from .model import ConvertError

BLOCK = 8 << 20  # small enough to be parsed while in the CPU cache

_MAGICS = ((b"\x1f\x8b", gzip.open), (b"BZh", bz2.open), (b"\xfd7zXZ\0", lzma.open))
_ZSTD = b"\x28\xb5\x2f\xfd"
_ZSTD_MODULES = ("compression.zstd", "zstandard", "pyzstd")


def open_stream(path):
    return Stream(path)


def _open(path):
    """Returns a file object, and whether it decompresses."""
    file = open(path, "rb")  # pylint: disable=consider-using-with
    magic = file.read(6)
    file.seek(0)
    for start, opener in _MAGICS:
        if magic.startswith(start):
            return opener(file, "rb"), True
    if not magic.startswith(_ZSTD):
        return file, False
    for name in _ZSTD_MODULES:
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        if name == "zstandard":
            return module.ZstdDecompressor().stream_reader(file, read_across_frames=True), True
        return module.open(file, "rb"), True
    raise ConvertError("is compressed with zstd, which requires zstandard: " + install("zstandard"))


class Stream:
    """An open file; `place` is the position of the next byte in the decompressed data."""

    def __init__(self, path):
        self.path = path
        self._size = os.stat(path).st_size
        self._file, self.is_compressed = _open(path)
        self._space = memoryview(bytearray())
        self._is_lent = False  # take() has returned a view of the space, so it must not be overwritten
        self._buffer = self._space
        self._is_over = False
        self.place = 0
        self.line_number = 0  # of the last line consumed by line() or used()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def close(self):
        self._file.close()

    def left(self):
        """Returns the number of remaining bytes, or None if it is unknown."""
        return None if self.is_compressed else self._size - self.place

    def peek(self, count):
        """Returns the next bytes without consuming them; fewer at the end of the file."""
        self._fill(count)
        return bytes(self._buffer[:count])

    def take(self, count):
        """Consumes and returns the next bytes as a view that stays valid; raises if the file has fewer."""
        self._need(count)
        self._is_lent = True
        return self._pass(count)

    def skip(self, count):
        """Skips bytes."""
        beyond = count - len(self._buffer)
        if beyond > 0 and not self.is_compressed and self.place + count <= self._size:
            self._file.seek(self.place + count)
            self._buffer = self._buffer[:0]
            self.place += count
            return
        while count:
            some = min(count, BLOCK)
            self._need(some)
            self._pass(some)
            count -= some

    def line(self):
        """Returns the next line as text, without its line end, or None at the end of the file."""
        want = 4096
        while True:
            self._fill(want)
            there = bytes(self._buffer[:want])
            end = there.find(b"\n")
            if end >= 0 or len(there) < want:
                break
            if want > 1 << 20:
                raise ConvertError(f"line {self.line_number + 1} does not end within a MiB, so the file is not text")
            want *= 4
        if not there:
            return None
        self.line_number += 1
        line = bytes(self._pass(end + 1 if end >= 0 else len(there)))
        return line.decode("utf-8", errors="replace").rstrip("\r\n")

    def block(self):
        """Returns whole lines, at most about BLOCK bytes, or nothing at the end of the file. used() then consumes some of
        them. The result is valid until the next read."""
        for minimum in (1, BLOCK):
            self._fill(minimum)
            end = _last_line_end(self._buffer)
            if end >= 0:
                return self._buffer[:end + 1]
            if self._is_over:
                return self._buffer
        raise ConvertError(f"line {self.line_number + 1} does not end within {BLOCK} bytes, so the file is not text")

    def used(self, count, lines):
        self._pass(count)
        self.line_number += lines

    def skip_lines(self, count):
        """Skips lines; returns their number, which is less than `count` only at the end of the file."""
        done = 0
        while done < count:
            block = bytes(self.block())
            if not block:
                break
            lines = block.count(b"\n")
            if lines <= count - done:
                lines += not block.endswith(b"\n")
                self.used(len(block), lines)
                done += lines
                continue
            ends = np.flatnonzero(np.frombuffer(block, np.uint8) == ord("\n"))
            place = int(ends[count - done - 1]) + 1
            self.used(place, count - done)
            done = count
        return done

    def _need(self, count):
        self._fill(count)
        if len(self._buffer) < count:
            raise ConvertError(f"ends at byte {self.place + len(self._buffer)}, within {count} bytes that start at {self.place}")

    def _fill(self, count):
        there = len(self._buffer)
        if there >= count or self._is_over:
            return
        if self._is_lent or len(self._space) < count:
            self._space = memoryview(np.empty(max(count, BLOCK) + (BLOCK >> 4), np.uint8))
            self._is_lent = False
        self._space[:there] = self._buffer
        self._buffer = self._space[:there]
        while there < count and not self._is_over:
            more = self._read(self._space[there:])
            self._is_over = not more
            there += more
            self._buffer = self._space[:there]

    def _read(self, space):
        try:
            return self._file.readinto(space)
        except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
            raise ConvertError(f"cannot be decompressed beyond byte {self.place + len(self._buffer)}: {error}") from None
        except OSError as error:
            if error.errno is None:  # bz2
                raise ConvertError(f"cannot be decompressed: {error}") from None
            raise
        except Exception as error:  # pylint: disable=broad-except
            if "zst" in type(error).__module__.lower() or "zst" in type(error).__name__.lower():
                raise ConvertError(f"cannot be decompressed: {error}") from None
            raise

    def _pass(self, count):
        taken, self._buffer = self._buffer[:count], self._buffer[count:]
        self.place += count
        return taken


def _last_line_end(text):
    window = 4096
    while True:
        start = max(0, len(text) - window)
        found = bytes(text[start:]).rfind(b"\n")
        if found >= 0:
            return start + found
        if start == 0:
            return -1
        window *= 16
