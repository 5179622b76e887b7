# SPDX-License-Identifier: BSD-3-Clause
"""Opens regular files only: a name may lead to an endless device, or to a pipe without a writer."""

from __future__ import annotations

import os
import re
import stat
import urllib.parse
from typing import BinaryIO

from .errors import BatError, BatNotFoundError

NOT_FOUND, CANNOT_OPEN, NOT_A_BAT_FILE, UNSUPPORTED_VERSION, TRUNCATED, CORRUPT = range(1, 7)  # bat_status in bat/bat.h


SHOWN = {}  # address of a reader (_remote.py) -> the beginning of its addresses in messages


def is_address(path: str | os.PathLike) -> bool:
    """Returns whether a path is an address: the library reads http, https and s3 (common/io/REMOTE.md), fsspec others."""
    return re.match(r"([a-z][a-z0-9+.\-]*::)*[a-z][a-z0-9+.\-]*://", os.fspath(path), re.IGNORECASE) is not None


def file_name(path: str | os.PathLike) -> str:
    """Returns a path, or an address without its query, whose end shows the kind of the file. A dataset of a
    mod_visus server (http://HOST/mod_visus?dataset=NAME) is called NAME.idx."""
    path = os.fspath(path)
    if not is_address(path):
        return path
    name, _, query = path.partition("?")
    dataset = urllib.parse.parse_qs(query).get("dataset")
    return f"{name}/{dataset[-1]}.idx" if name.endswith("/mod_visus") and dataset else name


def display_name(path: str | os.PathLike) -> str:
    """Returns a path for messages: of an address, without user, password and query."""
    path = os.fspath(path)
    if not is_address(path):
        return path
    path = file_name(path)
    for address, shown in list(SHOWN.items()):  # which another thread may extend
        if path.startswith(address):
            return shown + urllib.parse.unquote(path[len(address):])
    return "::".join(_without_user(part) for part in path.split("::"))


def _without_user(address):
    scheme, separator, rest = address.partition("://")
    authority, slash, path = rest.partition("/")
    if "@" not in authority and ":" in authority and "@" in path:
        return scheme + separator + "..."  # what follows ":" may be a password with a slash
    return scheme + separator + authority.rpartition("@")[2] + slash + path


def open_regular(path: str | os.PathLike) -> BinaryIO:
    """Opens a regular file for reading, following links.

    Raises BatNotFoundError; BatError for other kinds of files and those that cannot be opened.
    """
    name = os.fspath(path)
    try:
        _check_kind(name, os.stat(name))  # opening a device can have side effects
        descriptor = os.open(name, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    except FileNotFoundError:
        raise BatNotFoundError(NOT_FOUND, f"{name}: no such file") from None
    except OSError as error:
        raise BatError(CANNOT_OPEN, f"{name}: {error.strerror}") from error
    try:
        _check_kind(name, os.fstat(descriptor))
        return open(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def _check_kind(name, status):
    if not stat.S_ISREG(status.st_mode):
        raise BatError(CANNOT_OPEN, f"{name}: is not a regular file")


_BY_NAME = {".idx": "is a structured grid (.idx)", ".bricks": "is a velocity field (.bricks)",
            ".bricks.series": "is a series of velocity fields (.bricks.series)",
            ".tracks.bat": "is a tracks file (.tracks.bat)", ".pbat": "is a libbat file (.pbat)"}
_BY_START = {b"\x89PNG\r\n\x1a\n": "is an image (PNG)", b"\xff\xd8\xff": "is an image (JPEG)", b"GIF8": "is an image (GIF)",
             b"\x89HDF\r\n\x1a\n": "is an HDF5 file", b"CDF\x01": "is a netCDF file", b"CDF\x02": "is a netCDF file",
             b"CDF\x05": "is a netCDF file", b"\x93NUMPY": "is a NumPy array (.npy)", b"PK\x03\x04": "is an archive (zip, .npz)",
             b"\x1f\x8b": "is compressed (gzip)", b"<?xml": "is an XML file", b"%PDF": "is a PDF file"}


def other_kind(path: str | os.PathLike) -> str | None:
    """Describes what a file that is not a .bat is instead, as a phrase that begins with a verb; None if
    unknown."""
    name = os.fspath(path)
    if os.path.isdir(name):
        return "is a folder"
    for ending in sorted(_BY_NAME, key=len, reverse=True):
        if file_name(name).endswith(ending):
            return _BY_NAME[ending]
    if is_address(name):
        return None
    try:
        with open_regular(name) as file:
            start = file.read(16)
    except BatError:
        return None
    return next((kind for known, kind in _BY_START.items() if start.startswith(known)), None)
