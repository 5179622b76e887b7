# SPDX-License-Identifier: BSD-3-Clause
"""Verifies that the files of a dataset are the intended ones. A name in a top file can lead to any file, such as a
link to a private one. A leaf file is therefore accepted only with the size and header checksum that its top file
states (core/particles/FORMAT.md, section 15), and is read through the descriptor on which they were checked.
"""

from __future__ import annotations

import contextlib
import os
from typing import BinaryIO

import numpy as np

from ._files import CORRUPT, NOT_A_BAT_FILE, TRUNCATED, open_regular
from .errors import BatError
from .pure.reader import HEADER, LEAF_FILES, LEAF_FILES_HEAD, LEAF_RECORD, MAGIC, SECTION, SEVERAL_LEAF_FILES


class SourceFile:
    """A file of a dataset: its path, and the size and header checksum that identify it."""

    def __init__(self, path: str, size: int, checksum: int, named_by: str | None = None):
        """named_by: the top file that lists it as a leaf file."""
        self.path = path
        self.size = size
        self._checksum = checksum
        self._named_by = named_by

    def open(self) -> BinaryIO:
        """Opens the file after checking that it is the intended one.

        Raises BatNotFoundError; BatError if another file is in its place.
        """
        with contextlib.ExitStack() as stack:
            file = stack.enter_context(open_regular(self.path))
            header, size = _header(self.path, file)
            if header[-1] != self._checksum or size != self.size:
                raise BatError(CORRUPT, f"{self.path}: " + (
                    "was changed" if self._named_by is None else f"is not the leaf file referenced by {self._named_by}") + (
                    f": header checksum {header[-1]:016x} and {size} bytes; allowed: {self._checksum:016x} and {self.size}"))
            stack.pop_all()
            return file


def _header(path, file):
    """Returns header fields and the size of a file, which must agree with the header. Leaves the file at its
    beginning."""
    start = file.read(HEADER.size)
    file.seek(0)
    if start[:len(MAGIC)] != MAGIC:
        raise BatError(NOT_A_BAT_FILE, f"{path}: is not a .bat file")
    if len(start) < HEADER.size:
        raise BatError(TRUNCATED, f"{path}: has {len(start)} bytes; at least {HEADER.size} are required")
    header, size = HEADER.unpack(start), os.fstat(file.fileno()).st_size
    if header[4] != size:
        raise BatError(TRUNCATED if size < header[4] else CORRUPT, f"{path}: has {size} bytes; expected {header[4]}")
    return header, size


def sources_of(path: str) -> list[SourceFile]:
    """Returns the file of a dataset that users name, and its leaf files if it is a top file. Their paths begin with
    the top file's folder, with links resolved.

    The dataset has been opened before, which checks it; damage found here is only a reason to fail.
    Raises BatNotFoundError and BatError.
    """
    with open_regular(path) as file:
        header, size = _header(path, file)
        own = SourceFile(path, size, header[-1])
        if not header[5] & SEVERAL_LEAF_FILES:
            return [own]
        raw = _leaf_section(path, file, header, size)
    folder = os.path.dirname(os.path.realpath(path))
    return [own, *(SourceFile(os.path.join(folder, name), size, checksum, path) for name, size, checksum in _leaves(path, raw))]


def _leaf_section(path, file, header, size):
    """Returns the bytes of LEAF_FILES."""
    offset, count = header[8:10]
    if offset + count * SECTION.size <= size:
        file.seek(offset)
        for section in SECTION.iter_unpack(file.read(count * SECTION.size)):
            if section[0] == LEAF_FILES and section[4] + section[5] <= size:
                file.seek(section[4])
                return file.read(section[5])
    raise BatError(CORRUPT, f"{path}: has no section LEAF_FILES")


def _leaves(path, raw):
    """Returns (name, size, header checksum) of each leaf file. Names come last in the section."""
    first = LEAF_FILES_HEAD.size
    count = LEAF_FILES_HEAD.unpack_from(raw)[0] if len(raw) >= first else 0
    if not 0 < count <= (len(raw) - first) // LEAF_RECORD.itemsize:
        raise BatError(CORRUPT, f"{path}: its section LEAF_FILES has {len(raw)} bytes, too few for {count} leaf files")
    records = np.frombuffer(raw, LEAF_RECORD, count, first)
    at = len(raw) - sum(records["name_bytes"].tolist())
    if at < first + records.nbytes:
        raise BatError(CORRUPT, f"{path}: the names of its leaf files are longer than its section LEAF_FILES")
    for record in records:
        name = raw[at:at + int(record["name_bytes"])]
        at += len(name)
        if b"\0" in name or {b"", b".", b".."} & set(name.split(b"/")):
            raise BatError(CORRUPT, f"{path}: the leaf file name {os.fsdecode(name)!r}; allowed: parts between slashes, none of "
                           "them empty, . or ..")
        yield os.fsdecode(name), int(record["file_bytes"]), int(record["header_checksum"])
