# SPDX-License-Identifier: BSD-3-Clause
"""Files to be read from the beginning to the end, compressed or not, by lines and by blocks of whole lines."""

import bz2
import gzip
import importlib
import lzma
import os
import zlib

import numpy as np

from .model import ConvertError

BLOCK = 32 << 20

_MAGICS = ((b"\x1f\x8b", gzip.open), (b"BZh", bz2.open), (b"\xfd7zXZ\0", lzma.open))
_ZSTD = b"\x28\xb5\x2f\xfd"
_ZSTD_MODULES = ("compression.zstd", "zstandard", "pyzstd")


def open_stream(path):
    return Stream(path)


def _open(path):
    """A file object, and whether it decompresses."""
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
    raise ConvertError("is compressed by zstd, for which this Python has no module: pip install zstandard")


class Stream:
    """A file that was opened; `place` is the byte, of what was decompressed, that comes next."""

    def __init__(self, path):
        self._size = os.stat(path).st_size
        self._file, self.is_compressed = _open(path)
        self._buffer = memoryview(b"")
        self._is_over = False
        self.place = 0
        self.line_number = 0  # of the last line that line() gave, or block() had

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def close(self):
        self._file.close()

    def left(self):
        """Bytes that are to come, or None if nobody knows."""
        return None if self.is_compressed else self._size - self.place

    def peek(self, count):
        """The next bytes, fewer at the end of the file."""
        self._fill(count)
        return bytes(self._buffer[:count])

    def take(self, count):
        """The next bytes; a ConvertError if there are fewer."""
        self._fill(count)
        if len(self._buffer) < count:
            raise ConvertError(f"ends at byte {self.place + len(self._buffer)}, within {count} bytes that begin at "
                               f"{self.place}")
        return self._pass(count)

    def skip(self, count):
        """Passes over bytes."""
        while count:
            some = min(count, BLOCK)
            self.take(some)
            count -= some

    def line(self):
        """The next line without its end, as text; None at the end of the file."""
        want = 4096
        while True:
            self._fill(want)
            there = bytes(self._buffer[:want])
            end = there.find(b"\n")
            if end >= 0 or len(there) < want:
                break
            if want > 1 << 20:
                raise ConvertError(f"line {self.line_number + 1} has no end within a MiB, so it is no text")
            want *= 4
        if not there:
            return None
        self.line_number += 1
        line = bytes(self._pass(end + 1 if end >= 0 else len(there)))
        return line.decode("utf-8", errors="replace").rstrip("\r\n")

    def block(self):
        """Whole lines, at most about BLOCK bytes, of which used() says how many were taken; empty at the end."""
        for least in (1, BLOCK):
            self._fill(least)
            end = _last_line_end(self._buffer)
            if end >= 0:
                return self._buffer[:end + 1]
            if self._is_over:
                return self._buffer
        raise ConvertError(f"line {self.line_number + 1} has no end within {BLOCK} bytes, so it is no text")

    def used(self, count, lines):
        self._pass(count)
        self.line_number += lines

    def skip_lines(self, count):
        """Passes over lines; returns how many there were, `count` unless the file ends."""
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

    def _fill(self, count):
        while len(self._buffer) < count and not self._is_over:
            more = self._read(max(BLOCK, count - len(self._buffer)))
            if not more:
                self._is_over = True
            elif len(self._buffer):
                self._buffer = memoryview(bytes(self._buffer) + more)
            else:
                self._buffer = memoryview(more)

    def _read(self, count):
        try:
            return self._file.read(count)
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
