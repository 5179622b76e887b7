# SPDX-License-Identifier: BSD-3-Clause
"""Finds libbat_capi.so, calls it, and frees its objects."""

import contextlib
import ctypes
import importlib.util
import os
import pathlib
import sys
import weakref

import numpy as np

from .errors import (
    INVALID_ARGUMENT, OUT_OF_MEMORY, BatError, BatImportError, from_status, refuse, refuse_type)

TYPES = {"int8": 1, "uint8": 2, "int16": 3, "uint16": 4, "int32": 5, "uint32": 6, "int64": 7,
         "uint64": 8, "float32": 9, "float64": 10}
DTYPES = {number: np.dtype(name) for name, number in TYPES.items()}
WHOLE = -1  # in place of a component


NAME = "libbat_capi.so"
_loaded = None


def _candidates():
    """Yields paths of libraries in the order in which they are tried."""
    here = pathlib.Path(os.path.abspath(__file__))
    with contextlib.suppress(ImportError):
        from ._installed import LIBRARY  # exists only if cmake --install installed the package
        yield str(here.parent / LIBRARY)
    folders = [here.parent]
    # For a build tree, in which the package is a link; for an installation; for the source tree.
    for start in dict.fromkeys((here, here.resolve())):
        folders += [parent / lib for parent in start.parents for lib in ("lib", "build/lib")]
    for folder in folders:
        if (folder / NAME).exists():
            yield str(folder / NAME)
    yield NAME
    yield NAME + ".1"


def _load(path):
    lib = ctypes.CDLL(path)
    lib.bat_last_error.restype = ctypes.c_char_p
    lib.bat_version.restype = ctypes.c_char_p
    lib.bat_options_table.restype = ctypes.c_char_p
    return lib


def _with_mpi(lib):
    """Returns the system's library of the same version if it has MPI that mpi4py can use; else
    `lib`, the one in the wheel."""
    if hasattr(lib, "bat_mpi_write_f") or importlib.util.find_spec("mpi4py") is None:
        return lib
    for path in (os.path.join(sys.prefix, "lib", NAME), "/usr/local/lib/" + NAME, NAME + ".1"):
        try:
            other = _load(path)
            if hasattr(other, "bat_mpi_write_f") and other.bat_version() == lib.bat_version():
                return other
        except (OSError, AttributeError):
            pass
    return lib


def library():
    """Returns the library, loading it on first use."""
    global _loaded  # pylint: disable=global-statement
    if _loaded is not None:
        return _loaded
    named = os.environ.get("BAT_LIBRARY")
    tried = []
    for candidate in [named] if named else _candidates():
        try:
            lib = _load(candidate)
            break
        except OSError as error:
            tried.append(str(error))
    else:
        raise BatImportError(INVALID_ARGUMENT, f"{NAME} cannot be loaded; set BAT_LIBRARY to its path. Tried: "
                             + "; ".join(tried))
    _loaded = lib if named else _with_mpi(lib)
    return _loaded


def check(status):
    if status:
        raise from_status(status, library().bat_last_error().decode(errors="replace"))


def handle_of(comm):
    """Returns an integer handle, which is valid for every version of mpi4py with the library's
    MPI."""
    lib = library()
    if not hasattr(lib, "bat_mpi_write_f"):
        refuse("this libbat_capi.so was built without MPI; pass None as communicator, or set BAT_LIBRARY to a library with MPI")
    if not hasattr(comm, "py2f"):
        refuse_type("comm", comm, "mpi4py communicators")
    mpi_name, runs = ctypes.c_char_p(), ctypes.c_int()
    check(lib.bat_mpi_library(ctypes.byref(mpi_name), ctypes.byref(runs)))
    for kind in type(comm).__mro__ if not runs.value else ():
        mpi = sys.modules.get(kind.__module__)
        if hasattr(mpi, "Is_initialized") and mpi.Is_initialized() and not mpi.Is_finalized():
            first = mpi.Get_library_version().split(",")[0].split("\n")[0]
            refuse(f"the communicator belongs to {' '.join(first.split())}, used by mpi4py, but libbat_capi.so was built with "
                   f"{mpi_name.value.decode()}, which is not initialized. Build both with the same MPI")
    return ctypes.c_int(comm.py2f())


def call(comm, name, *arguments):
    """Calls the collective function if there is a communicator, else the serial one."""
    if comm is None:
        check(getattr(library(), "bat_" + name)(*arguments))
    else:
        handle = handle_of(comm)
        check(getattr(library(), f"bat_mpi_{name}_f")(handle, *arguments))


def describe_error(error):
    """Returns status and text to report to other ranks."""
    known = isinstance(error, BatError)
    status = OUT_OF_MEMORY if isinstance(error, MemoryError) else INVALID_ARGUMENT
    try:
        text = str(error) if known else f"{type(error).__name__}: {error}"
    except Exception:  # pylint: disable=broad-except
        text = f"{type(error).__name__} without a message"
    return error.status if known else status, text.replace("\0", "\\0").encode(errors="replace")


def collective(comm, failure):
    """Raises on all ranks if one failed: a failed rank raises its own error, the others that of the
    lowest failed rank."""
    status = 0
    if comm is not None:
        handle = handle_of(comm)
        if failure is not None:
            status = library().bat_fail(*describe_error(failure))
        status = library().bat_mpi_agree_f(handle, status)
    if failure is not None:
        raise failure
    check(status)


@contextlib.contextmanager
def agreed(comm):
    """Collective. Runs the local work of a rank; afterwards either all ranks continue or none
    does."""
    failure = None
    try:
        yield
    except Exception as error:  # pylint: disable=broad-except
        failure = error
    collective(comm, failure)


def _release(free, pointer, process):
    if process == os.getpid():  # a forked process has none of the threads to wait for
        free(pointer)
    pointer.value = None


class Owned:
    """A handle that is freed once: by close(), or when nothing refers to it any more. Pass the object
    itself, not its pointer, to library functions: it then lives until the call returns, whatever
    other threads do meanwhile."""

    def __init__(self, free, at_exit=False):
        """at_exit: whether to free it also when the interpreter exits; arrays must not refer to its
        memory."""
        self._free = free
        self.pointer = ctypes.c_void_p()
        self._finalizer = weakref.finalize(self, _release, free, self.pointer, os.getpid())
        self._finalizer.atexit = at_exit

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def close(self):
        """Frees a handle that only one thread uses."""
        self._finalizer()

    @property
    def _as_parameter_(self):  # the value that ctypes passes
        return self.pointer

    def closed(self):
        """Returns an empty handle that replaces this one, which is freed when the last call that
        uses it has returned."""
        return Owned(self._free)


def make(what, *arguments):
    lib = library()
    owned = Owned(getattr(lib, f"bat_{what}_free"))
    check(getattr(lib, f"bat_{what}_create")(*arguments, ctypes.byref(owned.pointer)))
    return owned
