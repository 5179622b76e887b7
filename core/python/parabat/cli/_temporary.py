# SPDX-License-Identifier: BSD-3-Clause
"""Files and folders that appear under their final names only when complete.

Until then they are called .parabat-XXXXXXXX, next to the target. The writing process holds a lock on each, so that
the next command that writes into the same folder can identify and remove those of killed processes. SIGTERM and
SIGHUP end the command like Ctrl-C.
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
_NAME = re.compile(re.escape(_PREFIX) + r"[a-z0-9_]{8}(\.[a-z]+)?")  # files end in the target's extension
_LOCK, _CONTENT = "lock", "content"  # in a temporary folder


@contextlib.contextmanager
def interruptible():
    """Treats SIGTERM and SIGHUP like Ctrl-C, so that no incomplete output remains."""
    def interrupt(*_):
        raise KeyboardInterrupt
    try:
        before = {number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGHUP)
                  if signal.getsignal(number) is signal.SIG_DFL}
    except ValueError:  # in a thread of another program
        before = {}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _has_lock(descriptor):
    """Returns whether this process holds, or obtains, the lock of a file."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except OSError:  # another process holds it, or the file system does not support locks
        return False


def _sweep(folder):
    """Removes what killed processes of this user left behind."""
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
        os.rmdir(entry.path)  # killed before locking; non-empty folders stay
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
    """Removes the lock last, so that the rest of an interrupted removal is found again."""
    with contextlib.suppress(OSError):
        shutil.rmtree(os.path.join(work, _CONTENT), ignore_errors=True)
        os.unlink(os.path.join(work, _LOCK))
        os.rmdir(work)


def _temporary_folder(parent):
    """Returns (path, descriptor of its lock) of a new folder."""
    while True:
        work = tempfile.mkdtemp(prefix=_PREFIX, dir=parent)
        try:
            descriptor = os.open(os.path.join(work, _LOCK), os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except FileNotFoundError:  # another process took the empty folder for an abandoned one
            continue
        _has_lock(descriptor)
        if _is_there(os.path.join(work, _LOCK), descriptor):
            return work, descriptor
        os.close(descriptor)


def _temporary_file(parent, ending):
    """Returns (path, descriptor) of a new file."""
    while True:
        descriptor, path = tempfile.mkstemp(prefix=_PREFIX, suffix=ending, dir=parent)
        _has_lock(descriptor)
        if _is_there(path, descriptor):
            return path, descriptor
        os.close(descriptor)


def _is_there(path, descriptor):
    """Returns whether the file was locked before another process took it for an abandoned one."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False


@contextlib.contextmanager
def replacing_folder(path):
    """Yields a new folder to write to, which becomes `path` on success; `path` must not exist, or be an empty
    folder. File errors name `path`."""
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
    """Yields a path to write to; on success the file replaces `path`. File errors name `path`."""
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
    """Turns errors of the operating system into errors for `path`."""
    try:
        yield
    except BatError:  # concerns a file that is read
        raise
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else re.sub(
            r"[^\s'\"]*" + _NAME.pattern, lambda found: path, error.strerror or str(error))
        raise OSError(error.errno, why, path) from error
