# SPDX-License-Identifier: BSD-3-Clause
"""Opens regular files only: what a name leads to may be a device without end, or a pipe that nobody writes to."""

from __future__ import annotations

import os
import stat
from typing import BinaryIO

from .errors import BatError, BatNotFoundError

NOT_FOUND, CANNOT_OPEN, NOT_A_BAT_FILE, TRUNCATED, CORRUPT = 1, 2, 3, 5, 6  # of bat_status in bat/bat.h


def open_regular(path: str | os.PathLike) -> BinaryIO:
    """Opens a regular file, also by a link, for reading.

    Raises BatNotFoundError; BatError for other kinds of files, and for those that cannot be opened.
    """
    name = os.fspath(path)
    try:
        _check_kind(name, os.stat(name))  # the mere opening of a device can have effects
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
