# SPDX-License-Identifier: BSD-3-Clause
"""The right to change a series list, in the way of the library's writers (core/common/io/lock_file.cpp, core/series): an
exclusive flock() on .NAME.lock next to the list. The file is removed by its owner while the lock is held; that of a killed
process stays without a lock, and the next writer takes it over."""

import errno
import fcntl
import os
import time

from .errors import BatError

_CANNOT_OPEN = 2  # in bat_status
_ATTEMPTS, _SECONDS_BETWEEN = 10, 0.02  # as the library


def lock_path(path):
    """Returns the path of the lock file of a list."""
    folder, name = os.path.split(os.path.realpath(path))
    return os.path.join(folder, f".{name}.lock")


class ListLock:
    """Held until close(). Without effect if the folder does not exist, or its file system has no locks.

    Raises BatError if another process holds the lock, or the file cannot be created.
    """

    def __init__(self, path):
        self._path = lock_path(path)
        self._descriptor = None
        for attempt in range(_ATTEMPTS):
            if attempt:
                time.sleep(_SECONDS_BETWEEN)
            if self._try():
                return
        raise BatError(_CANNOT_OPEN, f"{path}: another process is adding steps to this list; only one can at a time, until it closes the series "
                       "or ends")

    def _try(self):
        """Returns whether the lock is held, or has no effect."""
        try:
            descriptor = self._open()
        except (FileNotFoundError, NotADirectoryError):
            return True
        except OSError as error:
            raise BatError(_CANNOT_OPEN, f"{self._path}: cannot be created: {error.strerror}") from None
        is_held = False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_held = self._is_same(descriptor)  # not removed by its owner meanwhile
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EINTR):  # the file system has no locks
                os.unlink(self._path)
                return True
        finally:
            if is_held:
                self._descriptor = descriptor
            else:
                os.close(descriptor)
        return is_held

    def _open(self):
        flags = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        try:
            return os.open(self._path, os.O_RDWR | os.O_CREAT | flags, 0o666)
        except PermissionError:  # belongs to another user
            return os.open(self._path, os.O_RDONLY | flags)

    def _is_same(self, descriptor):
        try:
            return os.path.samestat(os.fstat(descriptor), os.lstat(self._path))
        except FileNotFoundError:
            return False

    def close(self):
        if self._descriptor is not None:
            try:
                os.unlink(self._path)  # while the lock is held, so that it is still this file
            except FileNotFoundError:
                pass
            os.close(self._descriptor)
            self._descriptor = None
