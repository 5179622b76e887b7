# SPDX-License-Identifier: BSD-3-Clause
"""Finds libbat_capi.so, calls it, and frees what it gives."""

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
WHOLE = -1  # instead of a component


NAME = "libbat_capi.so"
_loaded = None


def _candidates():
    """Paths of libraries, in the order in which they are tried."""
    here = pathlib.Path(os.path.abspath(__file__))
    with contextlib.suppress(ImportError):
        from ._installed import LIBRARY  # only there where cmake --install has put the package
        yield str(here.parent / LIBRARY)
    folders = [here.parent]
    # Of a build tree, in which the package is a link; of an installation; of the source tree.
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
    """The system's library of the same version, where it is one with MPI that mpi4py can use; else
    `lib`, that of the wheel."""
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
    """The library, which is loaded when it is first needed."""
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
    """Returns an integer handle, which means the same to every version of mpi4py with the library's
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
    """Calls the collective function for a communicator, else the one for this process alone."""
    if comm is None:
        check(getattr(library(), "bat_" + name)(*arguments))
    else:
        handle = handle_of(comm)
        check(getattr(library(), f"bat_mpi_{name}_f")(handle, *arguments))


def describe_error(error):
    """Returns status and text for other ranks."""
    known = isinstance(error, BatError)
    status = OUT_OF_MEMORY if isinstance(error, MemoryError) else INVALID_ARGUMENT
    try:
        text = str(error) if known else f"{type(error).__name__}: {error}"
    except Exception:  # pylint: disable=broad-except
        text = f"{type(error).__name__} without a message"
    return error.status if known else status, text.replace("\0", "\\0").encode(errors="replace")


def collective(comm, failure):
    """Raises on all ranks if one failed: its own error there, that of the lowest elsewhere."""
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
    """Collective. Runs what a rank does by itself; afterwards all ranks continue, or none."""
    failure = None
    try:
        yield
    except Exception as error:  # pylint: disable=broad-except
        failure = error
    collective(comm, failure)


def _release(free, pointer, process):
    if process == os.getpid():  # a process that was forked has none of the threads to wait for
        free(pointer)
    pointer.value = None


class Owned:
    """A handle that is freed once: by close(), or when nothing refers to it any more. It is passed to
    functions of the library itself, not its pointer: so it lives until the call returns, whatever
    other threads do meanwhile."""

    def __init__(self, free, at_exit=False):
        """at_exit: also when Python ends, and then before it does; arrays may not lie in it."""
        self._free = free
        self.pointer = ctypes.c_void_p()
        self._finalizer = weakref.finalize(self, _release, free, self.pointer, os.getpid())
        self._finalizer.atexit = at_exit

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def close(self):
        """Closes a handle that only one thread uses."""
        self._finalizer()

    @property
    def _as_parameter_(self):  # what ctypes passes
        return self.pointer

    def closed(self):
        """An empty handle to take the place of this one, which is freed when the last call that uses
        it has returned."""
        return Owned(self._free)


def make(what, *arguments):
    lib = library()
    owned = Owned(getattr(lib, f"bat_{what}_free"))
    check(getattr(lib, f"bat_{what}_create")(*arguments, ctypes.byref(owned.pointer)))
    return owned
