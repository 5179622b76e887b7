"""ParaBAT for Python scripts: a thin layer of ctypes and numpy over libbat_capi.so.

    import bat
    bat.write(MPI.COMM_WORLD, "step.bat", positions, {"id": ids, "velocity": v}, time=0.5)
    with bat.Dataset("step.bat", MPI.COMM_WORLD) as d:
        particles = d.read(part=rank, parts=ranks)
        particles.positions, particles["id"]

With a communicator of mpi4py, write(), Dataset() and read() are collective; with None they are not, and
mpi4py is not needed. The library is found through the environment variable BAT_LIBRARY (path of the file),
else beside this file, in lib/ and build/lib/ of the folders above it, and by the system's loader. Failures raise BatError.
"""

import collections
import ctypes
import math
import os
import pathlib

import numpy as np

_TYPES = {"int8": 1, "uint8": 2, "int16": 3, "uint16": 4, "int32": 5, "uint32": 6, "int64": 7,
          "uint64": 8, "float32": 9, "float64": 10}
_DTYPES = {number: np.dtype(name) for name, number in _TYPES.items()}
MODES = {"adaptive": 0, "rank_border": 1, "aug": 2}


class BatError(Exception):
    """What the library refused; `status` is a number of bat_status in bat/bat.h."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


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
        raise BatError(status, _lib().bat_last_error().decode(errors="replace"))


def _handle(comm):
    """Integer handle, which means the same to every MPI and version of mpi4py."""
    if not hasattr(_lib(), "bat_mpi_write_f"):
        raise BatError(9, "this libbat_capi.so was built without MPI; pass None as communicator")
    return ctypes.c_int(comm.py2f())


def _call(comm, name, *arguments):
    """The collective function for a communicator, else the one for this process alone."""
    if comm is None:
        _check(getattr(_lib(), "bat_" + name)(*arguments))
    else:
        _check(getattr(_lib(), f"bat_mpi_{name}_f")(_handle(comm), *arguments))


class _Owned:
    """A handle that is freed once."""

    def __init__(self, free):
        self.pointer = ctypes.c_void_p()
        self._free = free

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def close(self):
        pointer, self.pointer = self.pointer, ctypes.c_void_p()
        self._free(pointer)


def _make(what, *arguments):
    lib = _lib()
    owned = _Owned(getattr(lib, f"bat_{what}_free"))
    _check(getattr(lib, f"bat_{what}_create")(*arguments, ctypes.byref(owned.pointer)))
    return owned


def _box(box):
    values = np.asarray(box, dtype=np.float64).reshape(-1)
    if values.size != 6:
        raise ValueError("a box is lower x, y, z, upper x, y, z")
    return values


def _array(values, name, count=None):
    """Contiguous, native, of one of the ten types, and shape (count, components)."""
    array = np.asarray(values)
    array = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("="))
    if array.dtype == np.bool_:
        array = array.view(np.uint8)
    if array.dtype.name not in _TYPES:
        raise TypeError(f"{name}: type {array.dtype}; allowed: {', '.join(_TYPES)}")
    array = array.reshape(len(array), -1) if len(array) else array.reshape(
        0, math.prod(array.shape[1:]) or 1)
    if count is not None and len(array) != count:
        raise ValueError(f"{name}: {len(array)} values for {count} particles")
    return array


def write(comm, path, positions, attributes=None, *, time=None, step=None, metadata="",
          target_bytes=0, mode="adaptive", threads=0, local_bounds=None):
    """Writes the particles of all ranks of `comm` (mpi4py), or of this process (None), as one dataset.

    positions: (n, 3), float32 or float64. attributes: name -> (n,) or (n, components), at most 9 components.
    n may be 0 on some ranks. metadata: text of a JSON object. target_bytes, mode ("adaptive", "rank_border",
    "aug"), threads, local_bounds (6 numbers): as bat_options in bat/bat.h. Returns a Report.

    Collective if `comm` is given. An array that this function itself refuses fails on all ranks too.
    """
    lib = _lib()
    report = Report()
    failure = None
    keep = []  # arrays live until the write is over
    with _make("options") as options, _Owned(lib.bat_particles_free) as particles:
        try:
            xyz = _array(positions, "positions")
            if xyz.shape[1] != 3 and len(xyz):
                raise ValueError(f"positions: shape {np.shape(positions)}; allowed is (n, 3)")
            _check(lib.bat_particles_create(ctypes.c_uint64(len(xyz)), ctypes.byref(particles.pointer)))
            keep.append(xyz)
            _check(lib.bat_particles_set_positions(
                particles.pointer, _TYPES[xyz.dtype.name], ctypes.c_void_p(xyz.ctypes.data),
                ctypes.c_size_t(0)))
            for name, values in (attributes or {}).items():
                array = _array(values, f"attribute '{name}'", len(xyz))
                keep.append(array)
                _check(lib.bat_particles_set_attribute(
                    particles.pointer, name.encode(), _TYPES[array.dtype.name], array.shape[1],
                    ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(0)))
            if time is not None:
                _check(lib.bat_particles_set_time(particles.pointer, ctypes.c_double(time)))
            if step is not None:
                _check(lib.bat_particles_set_step(particles.pointer, ctypes.c_int64(step)))
            _check(lib.bat_particles_set_metadata(particles.pointer, metadata.encode()))
            _check(lib.bat_options_set_target_bytes(options.pointer, ctypes.c_uint64(target_bytes)))
            _check(lib.bat_options_set_mode(options.pointer, MODES[mode]))
            _check(lib.bat_options_set_threads(options.pointer, ctypes.c_int(threads)))
            if local_bounds is not None:
                box = _box(local_bounds)
                _check(lib.bat_options_set_local_bounds(
                    options.pointer, ctypes.c_void_p(box.ctypes.data)))
        except Exception as error:  # pylint: disable=broad-except
            if comm is None:
                raise
            failure = error
        _together(comm, failure)
        _call(comm, "write", os.fsencode(path), particles.pointer, options.pointer,
              ctypes.byref(report))
    return report


def _together(comm, failure):
    """Raises on all ranks if one failed: its own error there, a BatError elsewhere."""
    if comm is None:
        if failure is not None:
            raise failure
        return
    texts = comm.allgather(None if failure is None else f"{type(failure).__name__}: {failure}")
    if failure is not None:
        raise failure
    for rank, text in enumerate(texts):
        if text is not None:
            raise BatError(9, f"rank {rank}: {text}")


Attribute = collections.namedtuple("Attribute", "name dtype components range")


class Particles(dict):
    """Attributes by name, each (n,) or (n, components), and `positions`, (n, 3)."""

    positions = None

    def __init__(self, count):
        super().__init__()
        self.count = count


class Dataset:
    """An open dataset. With a communicator, opening and read() are collective."""

    def __init__(self, path, comm=None):
        lib = _lib()
        self._comm = comm
        self._owned = _Owned(lib.bat_close)
        _call(comm, "open", os.fsencode(path), ctypes.byref(self._owned.pointer))

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def close(self):
        self._owned.close()

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
        """Name -> Attribute; the range is that of the value, or of the magnitude of a vector."""
        result = {}
        for index in range(self._get("attribute_count", ctypes.c_int)):
            name, type_, components = ctypes.c_char_p(), ctypes.c_int(), ctypes.c_int()
            _check(_lib().bat_dataset_attribute(
                self._owned.pointer, index, ctypes.byref(name), ctypes.byref(type_),
                ctypes.byref(components)))
            low, high = ctypes.c_double(), ctypes.c_double()
            _check(_lib().bat_dataset_attribute_range(
                self._owned.pointer, index, -1, ctypes.byref(low), ctypes.byref(high)))
            text = name.value.decode()
            result[text] = Attribute(text, _DTYPES[type_.value], components.value,
                                     (low.value, high.value))
        return result

    def read(self, attributes=None, *, quality=1.0, after_quality=0.0, box=None, half_open=False,
             ranges=None, part=0, parts=1, threads=0):
        """The particles that match, as Particles.

        attributes: names; None for all. box: 6 numbers, closed, or without its upper faces if half_open.
        ranges: list of (name, lower, upper) or (name, component, lower, upper); integers are compared
        exactly. part, parts: this reader's equal share. Collective if the dataset was opened with a
        communicator; each rank asks its own question.
        """
        lib = _lib()
        comm = self._comm
        failure = None
        with _make("query") as query, _Owned(lib.bat_selection_free) as selection:
            try:
                self._fill(query, quality, after_quality, box, half_open, ranges, part, parts, threads)
            except Exception as error:  # pylint: disable=broad-except
                failure = error
            _together(comm, failure)
            _call(comm, "select", self._owned.pointer, query.pointer, ctypes.byref(selection.pointer))
            count = ctypes.c_uint64()
            _check(lib.bat_selection_count(selection.pointer, ctypes.byref(count)))
            particles = Particles(count.value)
            particles.positions = np.empty((count.value, 3), self.position_dtype)
            self._values("positions", selection, particles.positions)
            known = self.attributes
            for name in known if attributes is None else attributes:
                about = known.get(name, Attribute(name, np.dtype("float64"), 1, None))
                shape = (count.value, about.components) if about.components > 1 else count.value
                values = np.empty(shape, about.dtype)
                self._values("attribute", selection, values, name.encode())
                particles[name] = values
        return particles

    def _values(self, what, selection, out, *name):
        _call(self._comm, "read_" + what, self._owned.pointer, *name, selection.pointer,
              ctypes.c_void_p(out.ctypes.data), ctypes.c_size_t(out.nbytes))

    @staticmethod
    def _fill(query, quality, after_quality, box, half_open, ranges, part, parts, threads):
        lib = _lib()
        _check(lib.bat_query_set_quality(
            query.pointer, ctypes.c_double(quality), ctypes.c_double(after_quality)))
        if box is not None:
            values = _box(box)
            call = lib.bat_query_set_box_half_open if half_open else lib.bat_query_set_box
            _check(call(query.pointer, ctypes.c_void_p(values.ctypes.data)))
        for name, *component, lower, upper in ranges or []:
            if all(isinstance(end, (int, np.integer)) for end in (lower, upper)):
                beyond = max(lower, upper) > 2**63 - 1
                call = lib.bat_query_add_range_uint64 if beyond else lib.bat_query_add_range_int64
                number = ctypes.c_uint64 if beyond else ctypes.c_int64
                lower, upper = (max(int(lower), 0) if beyond else int(lower)), int(upper)
            else:
                call, number = lib.bat_query_add_range, ctypes.c_double
                lower, upper = float(lower), float(upper)
            _check(call(query.pointer, name.encode(), component[0] if component else -1,
                        number(lower), number(upper)))
        _check(lib.bat_query_set_part(query.pointer, ctypes.c_uint32(part), ctypes.c_uint32(parts)))
        _check(lib.bat_query_set_threads(query.pointer, ctypes.c_int(threads)))
