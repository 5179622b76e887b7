# SPDX-License-Identifier: BSD-3-Clause
"""Files and folders that appear under their names when they are whole.

Until then they are .parabat-XXXXXXXX beside the target. The process that writes one holds a lock on it, so that the
next command which writes into the same folder knows those of killed processes, and removes them. SIGTERM and SIGHUP
end the command as Ctrl-C does.
"""

import contextlib
import fcntl
import os
import re
import shutil
import signal
import stat
import tempfile

from ..errors import BatError

_PREFIX = ".parabat-"
_NAME = re.compile(re.escape(_PREFIX) + r"[a-z0-9_]{8}(\.[a-z]+)?")  # files have the ending of the target
_LOCK, _CONTENT = "lock", "content"  # in a temporary folder


@contextlib.contextmanager
def interruptible():
    """SIGTERM and SIGHUP end what is done as Ctrl-C does, so that nothing half is left."""
    def interrupt(*_):
        raise KeyboardInterrupt
    try:
        before = {number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGHUP)
                  if signal.getsignal(number) is signal.SIG_DFL}
    except ValueError:  # a thread of another program
        before = {}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _has_lock(descriptor):
    """Whether this process has, or gets, the lock of a file."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except OSError:  # another process has it, or the file system has no locks
        return False


def _sweep(folder):
    """Removes what killed processes of this user left."""
    with contextlib.suppress(OSError), os.scandir(folder) as found:
        for entry in found:
            if _NAME.fullmatch(entry.name):
                with contextlib.suppress(OSError):
                    _remove_left(entry)


def _remove_left(entry):
    status = entry.stat(follow_symlinks=False)
    is_folder = stat.S_ISDIR(status.st_mode)
    kind = stat.S_ISDIR if "." not in entry.name[len(_PREFIX):] else stat.S_ISREG
    if status.st_uid != os.geteuid() or not kind(status.st_mode):
        return
    path = os.path.join(entry.path, _LOCK) if is_folder else entry.path
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        os.rmdir(entry.path)  # killed before there was a lock; what is not empty stays
        return
    try:
        if _has_lock(descriptor):
            if is_folder:
                _remove_folder(entry.path)
            else:
                os.unlink(entry.path)
    finally:
        os.close(descriptor)


def _remove_folder(work):
    """The lock last: with it, what is left of an interrupted removal is found again."""
    with contextlib.suppress(OSError):
        shutil.rmtree(os.path.join(work, _CONTENT), ignore_errors=True)
        os.unlink(os.path.join(work, _LOCK))
        os.rmdir(work)


def _temporary_folder(parent):
    """(path, descriptor of its lock) of a new folder."""
    while True:
        work = tempfile.mkdtemp(prefix=_PREFIX, dir=parent)
        try:
            descriptor = os.open(os.path.join(work, _LOCK), os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except FileNotFoundError:  # another process took the empty folder for one that was left
            continue
        _has_lock(descriptor)
        if _is_there(os.path.join(work, _LOCK), descriptor):
            return work, descriptor
        os.close(descriptor)


def _temporary_file(parent, ending):
    """(path, descriptor) of a new file."""
    while True:
        descriptor, path = tempfile.mkstemp(prefix=_PREFIX, suffix=ending, dir=parent)
        _has_lock(descriptor)
        if _is_there(path, descriptor):
            return path, descriptor
        os.close(descriptor)


def _is_there(path, descriptor):
    """Whether no other process took the file for one that was left, before it was locked."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False


@contextlib.contextmanager
def replacing_folder(path):
    """A new folder to write to, which becomes `path` when all went well: a folder that does not exist, or is empty.
    Errors of files name `path`."""
    aim = os.path.realpath(path)
    parent = os.path.dirname(aim)
    with _named(path), interruptible(), contextlib.ExitStack() as stack:
        os.makedirs(parent, exist_ok=True)
        _sweep(parent)
        work, descriptor = _temporary_folder(parent)
        stack.callback(os.close, descriptor)
        stack.callback(_remove_folder, work)
        content = os.path.join(work, _CONTENT)
        os.mkdir(content)
        yield content
        os.rename(content, aim)


@contextlib.contextmanager
def replacing(path):
    """A path to write to; what is there when all went well takes the place of `path`. Errors of files
    name `path`."""
    if os.path.exists(path) and not os.path.isfile(path):  # /dev/stdout
        yield path
        return
    aim = os.path.realpath(path)
    parent = os.path.dirname(aim)
    with _named(path), interruptible(), contextlib.ExitStack() as stack:
        _sweep(parent)
        temporary, descriptor = _temporary_file(parent, os.path.splitext(path)[1])
        stack.callback(os.close, descriptor)
        stack.callback(_unlink, temporary)
        yield temporary
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, aim)


def _unlink(path):
    with contextlib.suppress(OSError):
        os.unlink(path)


@contextlib.contextmanager
def _named(path):
    """Errors of the operating system become those of `path`."""
    try:
        yield
    except BatError:  # of a file that is read
        raise
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else re.sub(
            r"[^\s'\"]*" + _NAME.pattern, lambda found: path, error.strerror or str(error))
        raise OSError(error.errno, why, path) from error
