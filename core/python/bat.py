"""ParaBAT for Python scripts: a thin layer of ctypes and numpy over libbat_capi.so.

    import bat
    bat.write(MPI.COMM_WORLD, "step.bat", positions, {"id": ids, "velocity": v}, time=0.5)
    bat.Series(MPI.COMM_WORLD, "out/dust_{timestep:06d}.bat").write(step, time, positions, {"id": ids})
    with bat.Dataset("step.bat", MPI.COMM_WORLD) as d:
        particles = d.read(part=rank, parts=ranks)
        particles.positions, particles["id"]

With a communicator of mpi4py, write(), Dataset() and read() are collective; with None they are not,
and mpi4py is not needed. The library is found through the environment variable BAT_LIBRARY (path of
the file), else beside this file, in lib/ and build/lib/ of the folders above it, and by the
system's loader.

Failures raise BatError, which pickles, and which is a ValueError, TypeError or FileNotFoundError
too where it says so in its name. A collective call fails on all ranks if it fails on one.
"""

import collections
import contextlib
import ctypes
import decimal
import fractions
import json
import numbers
import operator
import os
import pathlib
import sys
import weakref

import numpy as np

_TYPES = {"int8": 1, "uint8": 2, "int16": 3, "uint16": 4, "int32": 5, "uint32": 6, "int64": 7,
          "uint64": 8, "float32": 9, "float64": 10}
_DTYPES = {number: np.dtype(name) for name, number in _TYPES.items()}
MODES = {"adaptive": 0, "rank_border": 1, "aug": 2}
REPEATS = {"store": 0, "link": 1, "leave_out": 2}
_WHOLE = -1  # instead of a component


class BatError(Exception):
    """What the library, or this module, refused; `status` is a number of bat_status in bat/bat.h."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status = status

    def __reduce__(self):
        return type(self), (self.status, str(self))


class BatValueError(BatError, ValueError):
    """An argument, option or array that cannot be honoured."""


class BatTypeError(BatError, TypeError):
    """An argument of a type that cannot be honoured."""


class BatNotFoundError(BatError, FileNotFoundError):
    """The file does not exist."""


_INVALID_ARGUMENT = 9
_OUT_OF_MEMORY = 10


def _error(status, text):
    kind = {1: BatNotFoundError, _INVALID_ARGUMENT: BatValueError}.get(status, BatError)
    return kind(status, text)


def _refuse(text):
    raise BatValueError(_INVALID_ARGUMENT, text)


def _refuse_type(what, value, allowed):
    raise BatTypeError(_INVALID_ARGUMENT,
                       f"{what}: {_shown(value)} ({type(value).__name__}); allowed: {allowed}")


def _shown(value):
    try:
        text = repr(value)
    except ValueError:  # an integer with more digits than Python prints
        text = f"a number of {value.bit_length()} bits"
    return text if len(text) <= 100 else text[:100] + "..."


class Report(ctypes.Structure):
    """What a write did: bat_report in bat/bat.h."""

    _fields_ = (
        [(name, ctypes.c_uint64) for name in (
            "particles", "leaf_files", "target_bytes", "file_bytes", "data_bytes",
            "largest_leaf_bytes", "moved_bytes", "skipped")]
        + [("ranks", ctypes.c_int32), ("reserved", ctypes.c_int32)]
        + [("seconds_" + name, ctypes.c_double) for name in (
            "check", "plan", "exchange", "build", "write", "commit", "total")])

    def json(self):
        """One line of JSON."""
        text = ctypes.create_string_buffer(1024)
        _check(_lib().bat_report_json(ctypes.byref(self), text, ctypes.c_size_t(len(text))))
        return text.value.decode()

    def __repr__(self):
        return f"<bat.Report {self.json()}>"


def _candidates():
    name = "libbat_capi.so"
    here = pathlib.Path(__file__).resolve()
    above = [parent / lib for parent in here.parents for lib in ("lib", "build/lib")]
    for folder in (here.parent, *above):
        if (folder / name).exists():
            yield str(folder / name)
    yield name


_loaded = None


def _lib():
    global _loaded
    if _loaded is not None:
        return _loaded
    named = os.environ.get("BAT_LIBRARY")
    tried = []
    for candidate in [named] if named else _candidates():
        try:
            lib = ctypes.CDLL(candidate)
            break
        except OSError as error:
            tried.append(str(error))
    else:
        raise ImportError("libbat_capi.so cannot be loaded; set BAT_LIBRARY to its path. Tried: "
                          + "; ".join(tried))
    lib.bat_last_error.restype = ctypes.c_char_p
    _loaded = lib
    return lib


def _check(status):
    if status:
        raise _error(status, _lib().bat_last_error().decode(errors="replace"))


def _int(value, what):
    """A whole number as C takes it, which ctypes would cut to what fits."""
    try:
        number = operator.index(value)
    except TypeError:
        _refuse_type(what, value, "whole numbers")
    if not -2**63 <= number < 2**63:
        _refuse(f"{what}: {_shown(number)}; allowed are whole numbers of 64 bits")
    return ctypes.c_int64(number)


def _real(value, what):
    if isinstance(value, (str, bytes)):
        _refuse_type(what, value, "numbers")
    try:
        return ctypes.c_double(float(value))
    except (TypeError, ValueError):
        _refuse_type(what, value, "numbers")
    except OverflowError:
        _refuse(f"{what}: {_shown(value)}; allowed are numbers up to 1.8e308")


def _text(value, what):
    if not isinstance(value, str):
        _refuse_type(what, value, "texts")
    if "\0" in value:
        _refuse(f"{what}: {_shown(value)} has a zero character; allowed are texts without")
    try:
        return value.encode()
    except UnicodeEncodeError as error:
        _refuse(f"{what}: {_shown(value)} is no Unicode: {error.reason}")


def _path(value):
    """None, which only rank 0 may not have, stays."""
    if value is None:
        return None
    try:
        path = os.fsencode(value)
    except TypeError:
        _refuse_type("path", value, "texts and os.PathLike")
    except UnicodeEncodeError as error:
        _refuse(f"path: {_shown(value)} is no name of a file: {error.reason}")
    if b"\0" in path:
        _refuse(f"path: {_shown(value)} has a zero character, which no name of a file has")
    return path


def _handle(comm):
    """Integer handle, which means the same to every version of mpi4py with the library's MPI."""
    lib = _lib()
    if not hasattr(lib, "bat_mpi_write_f"):
        _refuse("this libbat_capi.so was built without MPI; pass None as communicator")
    if not hasattr(comm, "py2f"):
        _refuse_type("comm", comm, "communicators of mpi4py")
    library, runs = ctypes.c_char_p(), ctypes.c_int()
    _check(lib.bat_mpi_library(ctypes.byref(library), ctypes.byref(runs)))
    for kind in type(comm).__mro__ if not runs.value else ():
        mpi = sys.modules.get(kind.__module__)
        if hasattr(mpi, "Is_initialized") and mpi.Is_initialized() and not mpi.Is_finalized():
            first = mpi.Get_library_version().split(",")[0].split("\n")[0]
            _refuse(f"the communicator is one of {' '.join(first.split())}, which mpi4py uses; "
                    f"libbat_capi.so was built with {library.value.decode()}, which is not "
                    "initialized. Build it, or mpi4py, with the MPI of the other")
    return ctypes.c_int(comm.py2f())


def _call(comm, name, *arguments):
    """The collective function for a communicator, else the one for this process alone."""
    if comm is None:
        _check(getattr(_lib(), "bat_" + name)(*arguments))
    else:
        _check(getattr(_lib(), f"bat_mpi_{name}_f")(_handle(comm), *arguments))


def _told(error):
    """Status and text for other ranks."""
    known = isinstance(error, BatError)
    status = _OUT_OF_MEMORY if isinstance(error, MemoryError) else _INVALID_ARGUMENT
    text = str(error) if known else f"{type(error).__name__}: {error}"
    return error.status if known else status, text.replace("\0", "\\0").encode(errors="replace")


def _together(comm, failure):
    """Raises on all ranks if one failed: its own error there, that of the lowest elsewhere."""
    status = 0
    if comm is not None:
        if failure is not None:
            status = _lib().bat_fail(*_told(failure))
        status = _lib().bat_mpi_agree_f(_handle(comm), status)
    if failure is not None:
        raise failure
    _check(status)


@contextlib.contextmanager
def _agreed(comm):
    """Collective. What a rank does by itself, at the end of which all go on, or none."""
    failure = None
    try:
        yield
    except Exception as error:  # pylint: disable=broad-except
        failure = error
    _together(comm, failure)


def _release(free, pointer):
    free(pointer)
    pointer.value = None


class _Owned:
    """A handle that is freed once: by close(), or when nobody has it any more."""

    def __init__(self, free):
        self.pointer = ctypes.c_void_p()
        self._finalizer = weakref.finalize(self, _release, free, self.pointer)
        self._finalizer.atexit = False  # where arrays may still lie in it

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def close(self):
        self._finalizer()


def _make(what, *arguments):
    lib = _lib()
    owned = _Owned(getattr(lib, f"bat_{what}_free"))
    _check(getattr(lib, f"bat_{what}_create")(*arguments, ctypes.byref(owned.pointer)))
    return owned


def _list(items, what, allowed):
    if isinstance(items, (str, bytes)) or not hasattr(items, "__iter__"):
        _refuse_type(what, items, allowed)
    return list(items)


def _box(box, what):
    try:
        values = np.asarray(box, dtype=np.float64).reshape(-1)
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.size != 6:
        _refuse(f"{what}: {_shown(box)}; a box is six numbers: lower x, y, z, upper x, y, z")
    return values


def _plain(values, what):
    """Native, of one of the ten types. Copied only where it must be."""
    try:
        array = np.asarray(values)
    except (TypeError, ValueError) as error:
        _refuse(f"{what}: is no array: {error}")
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    if array.dtype == np.bool_:
        array = array.view(np.uint8)
    if array.dtype.name not in _TYPES:
        # E.g. of a column of pandas that can have gaps.
        given = getattr(values, "dtype", array.dtype)
        raise BatTypeError(_INVALID_ARGUMENT, f"{what}: type {given}; .astype() gives it one of "
                           f"those that are allowed: {', '.join(_TYPES)}")
    for part in values if isinstance(values, (list, tuple)) else [values]:
        if isinstance(part, np.ma.MaskedArray) and np.ma.is_masked(part):
            _refuse(f"{what}: some values are masked; give them a value (.filled(value)), or leave "
                    "their particles out of all arrays (.compressed() leaves them out of one)")
    return array


def _array(values, what, count=None, allowed="(n,) and (n, k) with k from 1 to 9"):
    """Plain, and of shape (n, components) with packed rows that do not overlap."""
    array = _plain(values, what)
    if array.ndim not in (1, 2) or (array.ndim == 2 and not 1 <= array.shape[1] <= 9):
        _refuse(f"{what}: shape {array.shape}; allowed: {allowed}")
    if count is not None and len(array) != count:
        _refuse(f"{what}: {len(array)} values for {count} particles")
    if array.ndim == 1:
        array = array[:, np.newaxis]
    row = array.shape[1] * array.itemsize
    if (array.shape[1] > 1 and array.strides[1] != array.itemsize) or (
            len(array) > 1 and array.strides[0] < row):
        array = np.ascontiguousarray(array)
    return array


def _columns(attributes):
    """Pairs of name and values of a dict, DataFrame, structured array, or what is like one."""
    names = getattr(getattr(attributes, "dtype", None), "names", None)
    if attributes is None:
        return []
    if names is not None:
        return [(name, attributes[name]) for name in names]
    if hasattr(attributes, "keys") and hasattr(attributes, "items"):
        return list(attributes.items())
    return _refuse_type("attributes", attributes,
                        "a dict or DataFrame of names and values, a structured array")


def _numbers(given, name):
    """Packed, of one of the ten types; a list of which numpy would round an integer is refused."""
    what = f"values of '{name}'"
    if isinstance(given, np.ndarray):
        return np.ascontiguousarray(_plain(given, what).reshape(-1))
    given = _list(given, what, "lists and arrays of numbers")
    for number in given:
        if isinstance(number, numbers.Integral) and not -2**63 <= number < 2**64:
            _refuse(f"{what}: {_shown(number)}; allowed are whole numbers of 64 bits")
    array = _plain(given, what).reshape(-1)
    for number, kept in zip(given, array.tolist()) if array.dtype == np.float64 else ():
        if isinstance(number, numbers.Integral) and int(number) != kept:
            _refuse(f"{what}: {number} among numbers of other types would be rounded; pass an "
                    "array of int64 or uint64")
    return array


def _passed(array):
    """Type, components, address and stride, as the library takes an array."""
    return (ctypes.c_int(_TYPES[array.dtype.name]), ctypes.c_int64(array.shape[1]),
            ctypes.c_void_p(array.ctypes.data), _stride(array))


def _stride(array):
    return ctypes.c_size_t(array.strides[0] if len(array) > 1 else 0)


def _describe(particles, positions, attributes, metadata):
    """Fills a handle of particles, to be freed by the caller. Returns the arrays that it borrows."""
    lib = _lib()
    xyz = _array(positions, "positions", allowed="(n, 3)")
    if xyz.shape[1] != 3 and len(xyz):
        _refuse(f"positions: shape {np.shape(positions)}; allowed: (n, 3)")
    _check(lib.bat_particles_create(ctypes.c_uint64(len(xyz)), ctypes.byref(particles.pointer)))
    type_, _, address, stride = _passed(xyz)
    _check(lib.bat_particles_set_positions(particles.pointer, type_, address, stride))
    arrays = {}
    for name, values in _columns(attributes):
        text = _text(name, "name of an attribute")
        if name in arrays:
            _refuse(f"attribute '{name}' occurs twice")
        arrays[name] = _array(values, f"attribute '{name}'", len(xyz))
        _check(lib.bat_particles_set_attribute(particles.pointer, text, *_passed(arrays[name])))
    _check(lib.bat_particles_set_metadata(particles.pointer, _text(metadata, "metadata")))
    return [xyz, *arrays.values()]


def _names(names, what):
    """UTF-8 of each name, once."""
    return list(dict.fromkeys(_text(name, what) for name in _list(names, what, "lists of names")))


def _set_options(options, target_bytes, mode, threads, flush, sorted_indexes, repeats,
                 compare_values, local_bounds=None):
    lib = _lib()
    _check(lib.bat_options_set_target_bytes(options.pointer, _int(target_bytes, "target_bytes")))
    if not isinstance(mode, str) or mode not in MODES:
        _refuse(f"mode: {_shown(mode)}; allowed: {', '.join(map(repr, MODES))}")
    _check(lib.bat_options_set_mode(options.pointer, MODES[mode]))
    _check(lib.bat_options_set_threads(options.pointer, _int(threads, "threads")))
    _check(lib.bat_options_set_flush(options.pointer, ctypes.c_int(bool(flush))))
    for name in _names(sorted_indexes, "sorted_indexes"):
        _check(lib.bat_options_add_sorted_index(options.pointer, name))
    if not isinstance(repeats, str) or repeats not in REPEATS:
        _refuse(f"repeats: {_shown(repeats)}; allowed: {', '.join(map(repr, REPEATS))}")
    _check(lib.bat_options_set_repeats(
        options.pointer, REPEATS[repeats], ctypes.c_int(bool(compare_values))))
    if local_bounds is not None:
        box = _box(local_bounds, "local_bounds")
        _check(lib.bat_options_set_local_bounds(
            options.pointer, ctypes.c_void_p(box.ctypes.data)))


def write(comm, path, positions, attributes=None, *, time=None, step=None, metadata="",
          target_bytes=0, mode="adaptive", threads=0, flush=True, sorted_indexes=(),
          repeats="store", compare_values=False, local_bounds=None):
    """Writes the particles of all ranks of `comm` (mpi4py), or of this process (None), as a dataset.

    positions: (n, 3), float32 or float64. attributes: a dict, DataFrame or structured array of name
    -> (n,) or (n, k), with at most 9 components k; the index of a DataFrame is not written. n may
    be 0 on some ranks. Every value comes back as it was: arrays of other shapes or types, and
    arrays with masked values, are refused. step: a whole number of 64 bits. metadata: text of a
    JSON object. target_bytes, mode ("adaptive", "rank_border", "aug"), threads, flush,
    sorted_indexes (names, e.g. ["id"]), repeats ("store", "link", "leave_out": what becomes of
    attributes that repeat positions or each other), compare_values, local_bounds (6 numbers): as
    bat_options in bat/bat.h.
    Returns a Report.

    Collective if `comm` is given; what this function itself refuses fails on all ranks too.
    """
    lib = _lib()
    report = Report()
    arrays = []  # live until the write is over
    with _make("options") as options, _Owned(lib.bat_particles_free) as particles:
        with _agreed(comm):
            name = _path(path)
            arrays = _describe(particles, positions, attributes, metadata)
            if time is not None:
                _check(lib.bat_particles_set_time(particles.pointer, _real(time, "time")))
            if step is not None:
                _check(lib.bat_particles_set_step(particles.pointer, _int(step, "step")))
            _set_options(options, target_bytes, mode, threads, flush, sorted_indexes, repeats,
                         compare_values, local_bounds)
        _call(comm, "write", name, particles.pointer, options.pointer, ctypes.byref(report))
    del arrays
    return report


class Series:
    """Steps of a running simulation, each of which becomes a file: bat/bat_insitu.h.

        series = bat.Series(MPI.COMM_WORLD, "out/dust_{timestep:06d}.bat")
        series.write(step, time, positions, {"id": ids, "velocity": v})

    or, where a rank has several pieces or species, begin(), add() as often as needed, end(). comm
    is of mpi4py (MPI.COMM_SELF for one process) and must live as long as the series. Creating,
    write() and end() are collective. Only each `every`-th step is written; target_bytes, mode,
    threads, flush, sorted_indexes, repeats, compare_values: as write(). A step whose number is not greater than
    those in the list, as after a restart, replaces what was written from that number on; rank 0
    says so on stderr.
    """

    def __init__(self, comm, files, *, every=1, target_bytes=0, mode="adaptive", threads=0,
                 flush=True, sorted_indexes=(), repeats="store", compare_values=False):
        lib = _lib()
        self._comm = comm  # lives as long
        self._owned = _Owned(lib.bat_insitu_close)
        self._arrays = []  # live until the end of the step
        self._failure = None
        self._wanted = True
        with _make("options") as options:
            with _agreed(comm):
                _set_options(options, target_bytes, mode, threads, flush, sorted_indexes, repeats,
                             compare_values)
                name = _path(files)
            _check(lib.bat_insitu_open_f(_handle(comm), name, options.pointer,
                                         ctypes.byref(self._owned.pointer)))
        with _agreed(comm):
            _check(lib.bat_insitu_set_every(self._owned.pointer, _int(every, "every")))

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def close(self):
        """Not collective."""
        self._owned.close()

    def begin(self, step, time):
        """True if this step is written; what is added to another one is not looked at."""
        wanted = ctypes.c_int()
        self._arrays, self._failure = [], None
        number, seconds, failure = ctypes.c_int64(), ctypes.c_double(), None
        try:
            number, seconds = _int(step, "step"), _real(time, "time")
        except BatError as error:
            failure = error
        # A step that this rank cannot begin counts nevertheless, as it does on the others.
        _check(_lib().bat_insitu_begin_step(
            self._owned.pointer, number, seconds, ctypes.byref(wanted)))
        self._wanted = bool(wanted.value)
        if failure is not None:
            self.fail(failure)
            raise failure
        return self._wanted

    def add(self, positions, attributes=None, *, species=None, ghosts=None, metadata=""):
        """Adds particles of this rank: arrays as for write(), to stay unchanged until end().

        species: name of the series that they belong to. ghosts: (n,), integers or bool; particles
        whose value is not 0 are left out. What is refused here makes end() fail on all ranks.
        """
        lib = _lib()
        if not self._wanted:
            return
        try:
            name = None if species is None else _text(species, "species")
            with _Owned(lib.bat_particles_free) as particles:
                arrays = _describe(particles, positions, attributes, metadata)
                if ghosts is None:
                    _check(lib.bat_insitu_add(self._owned.pointer, name, particles.pointer))
                else:
                    marks = _array(ghosts, "ghosts", len(arrays[0]), "(n,)")
                    if marks.shape[1] != 1 and len(marks):
                        _refuse(f"ghosts: shape {np.shape(ghosts)}; allowed: (n,)")
                    arrays.append(marks)
                    type_, _, address, stride = _passed(marks)
                    _check(lib.bat_insitu_add_without_ghosts(
                        self._owned.pointer, name, particles.pointer, type_, address, stride))
                self._arrays += arrays
        except Exception as error:
            self.fail(error)
            raise

    def fail(self, error):
        """Makes end() raise on all ranks: for what kept a rank from adding its particles."""
        self._failure = self._failure or error
        _lib().bat_insitu_fail(self._owned.pointer, *_told(error))

    def end(self):
        """Collective. Writes the step; returns a Report, zero for a step that is not wanted."""
        report = Report()
        failure, self._failure = self._failure, None
        status = _lib().bat_insitu_end_step(self._owned.pointer, ctypes.byref(report))
        self._arrays = []
        if status and failure is not None:
            raise failure
        _check(status)
        return report

    def write(self, step, time, positions, attributes=None, *, species=None, ghosts=None,
              metadata=""):
        """Collective. A whole step: begin(), add() and end()."""
        try:
            if self.begin(step, time):
                self.add(positions, attributes, species=species, ghosts=ghosts, metadata=metadata)
        except Exception:  # pylint: disable=broad-except
            pass  # end() raises it, on all ranks
        return self.end()

    @property
    def written(self):
        """What the last step that was written has become: a list of dicts, one per file."""
        text = ctypes.c_char_p()
        _check(_lib().bat_insitu_written(self._owned.pointer, ctypes.byref(text)))
        return json.loads(text.value)


Attribute = collections.namedtuple("Attribute", "name dtype components range")


class Particles(dict):
    """Attributes by name, each (n,) or (n, components), and `positions`, (n, 3)."""

    positions = None

    def __init__(self, count):
        super().__init__()
        self.count = count

    def __repr__(self):
        columns = [("positions", self.positions), *self.items()]
        return f"<bat.Particles: {self.count} particles; " + ", ".join(
            f"{name} {values.dtype}{list(values.shape)}" for name, values in columns
            if values is not None) + ">"


class Dataset:
    """An open dataset. With a communicator, opening and read() are collective.

    map=True maps the files into memory instead of reading them, so that map_positions() and
    map_attribute() give columns without a copy. Only for files that nobody changes in place: one
    that is cut short while it is looked at, or on a disk that fails, ends the process with SIGBUS.
    A page is checked when it is first used, and not again while the dataset is open.

    Files are closed by close(), at the end of a `with`, or when nobody has the dataset any more.
    """

    def __init__(self, path, comm=None, *, map=False):  # pylint: disable=redefined-builtin
        self._comm = comm
        self._mapped = bool(map)
        self._owned = _Owned(_lib().bat_close)
        with _agreed(comm):
            name = _path(path)
        _call(comm, "open_mapped" if map else "open", name, ctypes.byref(self._owned.pointer))

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def close(self):
        """Arrays of map_positions() and map_attribute() stay."""
        owned, self._owned = self._owned, _Owned(_lib().bat_close)
        if not self._mapped:
            owned.close()

    def __repr__(self):
        if not self._owned.pointer:
            return "<bat.Dataset, closed>"
        columns = [f"positions {self.position_dtype}[3]"] + [
            f"{a.name} {a.dtype}" + f"[{a.components}]" * (a.components > 1)
            for a in self.attributes.values()]
        return f"<bat.Dataset of {len(self)} particles: {', '.join(columns)}>"

    def _get(self, name, ctype):
        value = ctype()
        _check(getattr(_lib(), "bat_dataset_" + name)(self._owned.pointer, ctypes.byref(value)))
        return value.value

    def _optional(self, name, ctype):
        has, value = ctypes.c_int(), ctype()
        _check(getattr(_lib(), "bat_dataset_" + name)(
            self._owned.pointer, ctypes.byref(has), ctypes.byref(value)))
        return value.value if has.value else None

    def __len__(self):
        return self._get("count", ctypes.c_uint64)

    @property
    def time(self):
        return self._optional("time", ctypes.c_double)

    @property
    def step(self):
        return self._optional("step", ctypes.c_int64)

    @property
    def metadata(self):
        return self._get("metadata", ctypes.c_char_p).decode()

    @property
    def leaf_files(self):
        return self._get("leaf_files", ctypes.c_uint64)

    @property
    def file_bytes(self):
        return self._get("file_bytes", ctypes.c_uint64)

    @property
    def position_dtype(self):
        return _DTYPES[self._get("position_type", ctypes.c_int)]

    @property
    def bounds(self):
        """Lower x, y, z, upper x, y, z."""
        box = np.empty(6)
        _check(_lib().bat_dataset_bounds(self._owned.pointer, ctypes.c_void_p(box.ctypes.data)))
        return box

    @property
    def attributes(self):
        """Name -> Attribute; the range is that of the value, for integers two integers, exactly, or
        that of the magnitude of a vector. Without values its first end is above its second."""
        return {about.name: about for about in map(
            self._attribute, range(self._get("attribute_count", ctypes.c_int)))}

    def _attribute(self, index):
        name, type_, components = ctypes.c_char_p(), ctypes.c_int(), ctypes.c_int()
        number = ctypes.c_int64(index)
        _check(_lib().bat_dataset_attribute(
            self._owned.pointer, number, ctypes.byref(name), ctypes.byref(type_),
            ctypes.byref(components)))
        dtype = _DTYPES[type_.value]
        kind = dtype.kind if components.value == 1 else "f"
        call, end = {"i": ("_int64", ctypes.c_int64), "u": ("_uint64", ctypes.c_uint64)}.get(
            kind, ("", ctypes.c_double))
        low, high = end(), end()
        _check(getattr(_lib(), "bat_dataset_attribute_range" + call)(
            self._owned.pointer, number, ctypes.c_int64(_WHOLE), ctypes.byref(low),
            ctypes.byref(high)))
        return Attribute(name.value.decode(), dtype, components.value, (low.value, high.value))

    def _find(self, name):
        """The Attribute of a name in UTF-8."""
        index = ctypes.c_int()
        _check(_lib().bat_dataset_attribute_index(self._owned.pointer, name, ctypes.byref(index)))
        return self._attribute(index.value)

    def read(self, attributes=None, *, quality=1.0, after_quality=0.0, box=None, half_open=False,
             ranges=None, values=None, not_values=None, shapes=None, part=0, parts=1, threads=0):
        """The particles that match, as Particles.

        attributes: names; None for all. box: 6 numbers, closed, or without its upper faces if
        half_open. ranges: list of (name, lower, upper) or (name, component, lower, upper), closed;
        each end is any real number, however large, or None for no limit, and is compared without
        rounding. values: dict of name, or (name, component), to numbers of which the value must be
        one, e.g. {"id": ids}; 64-bit integers exactly, best as an array. A pair in a list is a closed
        range: {"id": [3, (5, 90)]}. not_values: the same of what the value must not be; NaN is
        nothing that is named. shapes: list of Sphere, Slab and OrientedBox, in all of which the
        particles are, or outside of which. part, parts: this reader's equal share.

        Collective if the dataset was opened with a communicator; each rank asks its own question,
        and all ranks name the same attributes.
        """
        lib = _lib()
        comm = self._comm
        with _make("query") as query, _Owned(lib.bat_selection_free) as selection:
            with _agreed(comm):
                names = [_text(name, "attributes") for name in self.attributes] if (
                    attributes is None) else _names(attributes, "attributes")
                found = [self._find(name) for name in names]
                _fill(query, quality, after_quality, box, half_open, ranges, shapes, part, parts,
                      threads)
                _add_values(query, values, "values", False)
                _add_values(query, not_values, "not_values", True)
            _call(comm, "select", self._owned.pointer, query.pointer,
                  ctypes.byref(selection.pointer))
            with _agreed(comm):
                count = ctypes.c_uint64()
                _check(lib.bat_selection_count(selection.pointer, ctypes.byref(count)))
                particles = Particles(count.value)
                particles.positions = np.empty((count.value, 3), self.position_dtype)
                for about in found:
                    shape = (count.value,) + (about.components,) * (about.components > 1)
                    particles[about.name] = np.empty(shape, about.dtype)
            xyz, arrays = particles.positions, particles.values()
            _call(comm, "read_positions", self._owned.pointer, selection.pointer,
                  ctypes.c_void_p(xyz.ctypes.data), ctypes.c_size_t(xyz.nbytes))
            _call(comm, "read_attributes", self._owned.pointer, ctypes.c_uint64(len(names)),
                  (ctypes.c_char_p * len(names))(*names), selection.pointer,
                  (ctypes.c_void_p * len(names))(*(array.ctypes.data for array in arrays)),
                  (ctypes.c_size_t * len(names))(*(array.nbytes for array in arrays)))
        return particles

    def map_positions(self, leaf=0, quality=1.0):
        """Positions of the coarse share `quality` of leaf file number `leaf`, below leaf_files,
        where they lie in a dataset that was opened with map=True: read-only, shape (n, 3). Nothing
        is copied; pages that were not used before are checked in the call. The array keeps the
        files open. Not collective."""
        return self._map("positions", (leaf, quality), (3,), self.position_dtype)

    def map_attribute(self, name, leaf=0, quality=1.0):
        """The same for an attribute: shape (n,), or (n, components); in the order of map_positions()."""
        text = _text(name, "name of an attribute")
        about = self._find(text)
        shape = (about.components,) if about.components > 1 else ()
        return self._map("attribute", (leaf, quality), shape, about.dtype, text)

    def _map(self, what, where, shape, dtype, *name):
        leaf, quality = _int(where[0], "leaf"), _real(where[1], "quality")
        values, count = ctypes.c_void_p(), ctypes.c_uint64()
        _check(getattr(_lib(), "bat_map_" + what)(
            self._owned.pointer, *name, leaf, quality, ctypes.byref(values), ctypes.byref(count)))
        if count.value == 0:
            return np.empty((0, *shape), dtype)
        size = int(count.value * dtype.itemsize * np.prod(shape, dtype=np.int64))
        memory = (ctypes.c_char * size).from_address(values.value)
        memory.dataset = self._owned
        return np.frombuffer(memoryview(memory).toreadonly(), dtype).reshape(count.value, *shape)


def _number(value, what):
    """Of one of the kinds that Python compares with each other without rounding."""
    one = isinstance(value, (np.generic, np.ndarray)) and np.size(value) == 1
    number = value.item() if one else value
    if isinstance(number, decimal.Decimal):
        return fractions.Fraction(number) if number.is_finite() else float(number)
    if not isinstance(number, numbers.Real):
        _refuse_type(what, value, "numbers and None")
    return int(number) if isinstance(number, numbers.Integral) else number


def _end(number, is_lower):
    """Of a range: what the library knows as a number, with the same values on its inner side."""
    if isinstance(number, int) and -2**63 <= number < 2**64:
        return number
    try:
        end = float(number)
    except OverflowError:
        end = np.inf if number > 0 else -np.inf
    # Inwards: there are no values between the number and the double beside it.
    if is_lower and end < number:
        end = np.nextafter(end, np.inf)
    if not is_lower and end > number:
        end = np.nextafter(end, -np.inf)
    return float(end)


def _typed(end):
    """Type and number of an end, as the library takes them."""
    if isinstance(end, float):
        return ctypes.c_int(_TYPES["float64"]), ctypes.byref(ctypes.c_double(end))
    if end < 2**63:
        return ctypes.c_int(_TYPES["int64"]), ctypes.byref(ctypes.c_int64(end))
    return ctypes.c_int(_TYPES["uint64"]), ctypes.byref(ctypes.c_uint64(end))


def _target(what, name, component=None):
    """Name and component, as the library takes them."""
    text = _text(name, what)
    if component is None:
        return text, ctypes.c_int64(_WHOLE)
    number = _int(component, f"{what}: component of '{name}'")
    if number.value < 0:
        _refuse(f"{what}: component {number.value} of '{name}'; they are numbered from 0")
    return text, number


_RANGES = "lists of (name, lower, upper) and (name, component, lower, upper)"


def _add_range(query, given):
    if not isinstance(given, (tuple, list)) or len(given) not in (3, 4):
        _refuse_type("ranges", given, _RANGES)
    *target, lower, upper = given
    name, component = _target("ranges", *target)
    what = f"range of '{target[0]}'"
    low = -np.inf if lower is None else _number(lower, what)
    high = np.inf if upper is None else _number(upper, what)
    if low > high:
        _refuse(f"{what}: its minimum {_shown(lower)} is above its maximum {_shown(upper)}")
    ends = _end(low, True), _end(high, False)
    if ends[0] > ends[1]:  # numbers between which there is none of 64 bits
        _check(_lib().bat_query_add_values(query.pointer, name, component,
                                           ctypes.c_int(_TYPES["int64"]), None, ctypes.c_uint64(0)))
    else:
        _check(_lib().bat_query_add_range_mixed(
            query.pointer, name, component, *_typed(ends[0]), *_typed(ends[1])))


def _pairs(given, name):
    """Ends of ranges in a list of numbers and pairs, and the numbers."""
    what = f"values of '{name}'"
    if not isinstance(given, (list, tuple)) or not any(isinstance(one, tuple) for one in given):
        return [], given
    ends, single = [], []
    for one in given:
        if not isinstance(one, tuple):
            single.append(one)
            continue
        if len(one) != 2:
            _refuse(f"{what}: {one}; a range is a pair (lower, upper)")
        lower, upper = _number(one[0], what), _number(one[1], what)
        if lower > upper:
            _refuse(f"{what}: the range {one} ends before it begins")
        ends += [lower, upper]
    return ends, single


def _add_values(query, values, what, negated):
    if values is not None and not hasattr(values, "items"):
        _refuse_type(what, values, "a dict of names and numbers")
    for key, given in () if values is None else values.items():
        if not isinstance(key, str) and (not isinstance(key, tuple) or len(key) != 2):
            _refuse_type(what, key, "names and (name, component)")
        target = (key,) if isinstance(key, str) else key
        name, component = _target(what, *target)
        ends, single = _pairs(given, target[0])
        array = _numbers(ends + list(single) if ends else single, target[0])
        if not array.size:
            array = array.astype(np.int64)
        size = array.dtype.itemsize
        _check(_lib().bat_query_add_set(
            query.pointer, name, component, ctypes.c_int(_TYPES[array.dtype.name]),
            ctypes.c_void_p(array.ctypes.data + len(ends) * size),
            ctypes.c_uint64(array.size - len(ends)), ctypes.c_void_p(array.ctypes.data),
            ctypes.c_uint64(len(ends) // 2), ctypes.c_int(negated)))


def _reals(numbers_given, count, what):
    array = np.ascontiguousarray(_plain(numbers_given, what), dtype=np.float64).reshape(-1)
    if array.size != count:
        _refuse(f"{what}: {array.size} numbers; {count} are needed")
    return array


class Sphere(collections.namedtuple("Sphere", "center radius outside", defaults=(False,))):
    """What is within `radius` of `center`, (3,); or, if `outside`, what is not."""

    def _add(self, query):
        center = _reals(self.center, 3, "center of a sphere")
        _check(_lib().bat_query_add_sphere(
            query.pointer, ctypes.c_void_p(center.ctypes.data),
            _real(self.radius, "radius of a sphere"), ctypes.c_int(bool(self.outside))))


class Slab(collections.namedtuple("Slab", "normal lower upper outside", defaults=(False,))):
    """What lies between two planes: lower <= normal . position <= upper; or, if `outside`, what does
    not. normal: (3,), of any length but 0. The ends may be infinite."""

    def _add(self, query):
        normal = _reals(self.normal, 3, "normal of a slab")
        _check(_lib().bat_query_add_slab(
            query.pointer, ctypes.c_void_p(normal.ctypes.data),
            _real(self.lower, "lower end of a slab"), _real(self.upper, "upper end of a slab"),
            ctypes.c_int(bool(self.outside))))


class OrientedBox(collections.namedtuple(
        "OrientedBox", "center axes half_extents outside", defaults=(False,))):
    """A box around `center`, (3,), whose sides are 2 half_extents, (3,), long and point along the
    rows of axes, (3, 3), usually of length 1 and at right angles; or, if `outside`, what is not in
    it."""

    def _add(self, query):
        center = _reals(self.center, 3, "center of an oriented box")
        axes = _reals(self.axes, 9, "axes of an oriented box")
        half_extents = _reals(self.half_extents, 3, "half extents of an oriented box")
        _check(_lib().bat_query_add_oriented_box(
            query.pointer, ctypes.c_void_p(center.ctypes.data), ctypes.c_void_p(axes.ctypes.data),
            ctypes.c_void_p(half_extents.ctypes.data), ctypes.c_int(bool(self.outside))))


def _fill(query, quality, after_quality, box, half_open, ranges, shapes, part, parts, threads):
    lib = _lib()
    _check(lib.bat_query_set_quality(
        query.pointer, _real(quality, "quality"), _real(after_quality, "after_quality")))
    if box is not None:
        ends = _box(box, "box")
        call = lib.bat_query_set_box_half_open if half_open else lib.bat_query_set_box
        _check(call(query.pointer, ctypes.c_void_p(ends.ctypes.data)))
    for given in () if ranges is None else _list(ranges, "ranges", _RANGES):
        _add_range(query, given)
    for shape in () if shapes is None else _list(shapes, "shapes", "lists of shapes"):
        if not isinstance(shape, (Sphere, Slab, OrientedBox)):
            _refuse_type("shapes", shape, "Sphere, Slab and OrientedBox")
        shape._add(query)  # pylint: disable=protected-access
    _check(lib.bat_query_set_part(query.pointer, _int(part, "part"), _int(parts, "parts")))
    _check(lib.bat_query_set_threads(query.pointer, _int(threads, "threads")))
