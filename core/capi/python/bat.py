"""ParaBAT for Python scripts: a thin layer of ctypes and numpy over libbat_capi.so.

    import bat
    bat.write(MPI.COMM_WORLD, "step.bat", positions, {"id": ids, "velocity": v}, time=0.5)
    bat.Series(MPI.COMM_WORLD, "out/dust_{timestep:06d}.bat").write(step, time, positions, {"id": ids})
    with bat.Dataset("step.bat", MPI.COMM_WORLD) as d:
        particles = d.read(part=rank, parts=ranks)
        particles.positions, particles["id"]

With a communicator of mpi4py, write(), Dataset() and read() are collective; with None they are not, and
mpi4py is not needed. The library is found through the environment variable BAT_LIBRARY (path of the file),
else beside this file, in lib/ and build/lib/ of the folders above it, and by the system's loader. Failures raise BatError.
"""

import collections
import ctypes
import json
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
    """Native, of one of the ten types, and shape (count, components) with packed rows: a copy only
    where it must be."""
    array = np.asarray(values)
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    if array.ndim > 2 or (array.ndim == 2 and array.shape[1] > 1
                          and array.strides[1] != array.itemsize):
        array = np.ascontiguousarray(array)
    if array.dtype == np.bool_:
        array = array.view(np.uint8)
    if array.dtype.name not in _TYPES:
        raise TypeError(f"{name}: type {array.dtype}; allowed: {', '.join(_TYPES)}")
    array = array.reshape(len(array), -1) if len(array) else array.reshape(
        0, math.prod(array.shape[1:]) or 1)
    if len(array) > 1 and array.strides[0] <= 0:
        array = np.ascontiguousarray(array)
    if count is not None and len(array) != count:
        raise ValueError(f"{name}: {len(array)} values for {count} particles")
    return array


def _numbers(numbers, name):
    """Packed, of one of the ten types; a list of which numpy would round an integer is refused."""
    if not isinstance(numbers, np.ndarray):
        numbers = list(numbers)
        array = np.asarray(numbers)
        if array.dtype == np.float64:
            for given, rounded in zip(numbers, array.tolist()):
                if isinstance(given, (int, np.integer)) and int(given) != rounded:
                    raise ValueError(f"{name}: {given} among numbers of other types would be rounded; pass "
                                     "an array of int64 or uint64")
        numbers = array
    return np.ascontiguousarray(_array(numbers.reshape(-1), f"values of '{name}'"))


def _passed(array):
    """Type, components, address and stride, as the library takes an array."""
    return (ctypes.c_int(_TYPES[array.dtype.name]), ctypes.c_int(array.shape[1]),
            ctypes.c_void_p(array.ctypes.data), _stride(array))


def _stride(array):
    return ctypes.c_size_t(array.strides[0] if len(array) > 1 else 0)


def _describe(particles, positions, attributes, metadata):
    """Fills a handle of particles, to be freed by the caller. Returns the arrays that it borrows."""
    lib = _lib()
    xyz = _array(positions, "positions")
    if xyz.shape[1] != 3 and len(xyz):
        raise ValueError(f"positions: shape {np.shape(positions)}; allowed is (n, 3)")
    _check(lib.bat_particles_create(ctypes.c_uint64(len(xyz)), ctypes.byref(particles.pointer)))
    type_, _, address, stride = _passed(xyz)
    _check(lib.bat_particles_set_positions(particles.pointer, type_, address, stride))
    arrays = [xyz]
    for name, values in (attributes or {}).items():
        arrays.append(_array(values, f"attribute '{name}'", len(xyz)))
        _check(lib.bat_particles_set_attribute(
            particles.pointer, name.encode(), *_passed(arrays[-1])))
    _check(lib.bat_particles_set_metadata(particles.pointer, metadata.encode()))
    return arrays


def _set_options(options, target_bytes, mode, threads, flush, sorted_indexes, local_bounds=None):
    lib = _lib()
    _check(lib.bat_options_set_target_bytes(options.pointer, ctypes.c_uint64(target_bytes)))
    _check(lib.bat_options_set_mode(options.pointer, MODES[mode]))
    _check(lib.bat_options_set_threads(options.pointer, ctypes.c_int(threads)))
    _check(lib.bat_options_set_flush(options.pointer, ctypes.c_int(flush)))
    if isinstance(sorted_indexes, str):
        raise TypeError(f"sorted_indexes: '{sorted_indexes}'; allowed are lists of names")
    for name in sorted_indexes:
        _check(lib.bat_options_add_sorted_index(options.pointer, name.encode()))
    if local_bounds is not None:
        box = _box(local_bounds)
        _check(lib.bat_options_set_local_bounds(
            options.pointer, ctypes.c_void_p(box.ctypes.data)))


def write(comm, path, positions, attributes=None, *, time=None, step=None, metadata="",
          target_bytes=0, mode="adaptive", threads=0, flush=True, sorted_indexes=(), local_bounds=None):
    """Writes the particles of all ranks of `comm` (mpi4py), or of this process (None), as one dataset.

    positions: (n, 3), float32 or float64. attributes: name -> (n,) or (n, components), at most 9 components.
    n may be 0 on some ranks. metadata: text of a JSON object. target_bytes, mode ("adaptive", "rank_border",
    "aug"), threads, flush, sorted_indexes (names, e.g. ["id"]), local_bounds (6 numbers): as bat_options in
    bat/bat.h. Returns a Report.

    Collective if `comm` is given. An array that this function itself refuses fails on all ranks too.
    """
    lib = _lib()
    report = Report()
    failure = None
    arrays = []  # live until the write is over
    with _make("options") as options, _Owned(lib.bat_particles_free) as particles:
        try:
            arrays = _describe(particles, positions, attributes, metadata)
            if time is not None:
                _check(lib.bat_particles_set_time(particles.pointer, ctypes.c_double(time)))
            if step is not None:
                _check(lib.bat_particles_set_step(particles.pointer, ctypes.c_int64(step)))
            _set_options(options, target_bytes, mode, threads, flush, sorted_indexes, local_bounds)
        except Exception as error:  # pylint: disable=broad-except
            if comm is None:
                raise
            failure = error
        _together(comm, failure)
        _call(comm, "write", os.fsencode(path), particles.pointer, options.pointer,
              ctypes.byref(report))
    del arrays
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


class Series:
    """Steps of a running simulation, each of which becomes a file: bat/bat_insitu.h.

        series = bat.Series(MPI.COMM_WORLD, "out/dust_{timestep:06d}.bat")
        series.write(step, time, positions, {"id": ids, "velocity": v})

    or, where a rank has several pieces or species, begin(), add() as often as needed, end(). comm is of
    mpi4py (MPI.COMM_SELF for one process) and must live as long as the series. Creating, write() and
    end() are collective. Only each `every`-th step is written; target_bytes, mode, threads, flush, sorted_indexes: as write().
    """

    def __init__(self, comm, files, *, every=1, target_bytes=0, mode="adaptive", threads=0,
                 flush=True, sorted_indexes=()):
        lib = _lib()
        self._comm = comm
        self._owned = _Owned(lib.bat_insitu_close)
        self._arrays = []  # live until the end of the step
        self._failure = None
        self._wanted = True
        failure = None
        with _make("options") as options:
            try:
                _set_options(options, target_bytes, mode, threads, flush, sorted_indexes)
            except Exception as error:  # pylint: disable=broad-except
                failure = error
            _together(comm, failure)
            _check(lib.bat_insitu_open_f(_handle(comm), os.fsencode(files), options.pointer,
                                         ctypes.byref(self._owned.pointer)))
        _check(lib.bat_insitu_set_every(self._owned.pointer, ctypes.c_int64(every)))

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
        _check(_lib().bat_insitu_begin_step(self._owned.pointer, ctypes.c_int64(step),
                                            ctypes.c_double(time), ctypes.byref(wanted)))
        self._wanted = bool(wanted.value)
        return self._wanted

    def add(self, positions, attributes=None, *, species=None, ghosts=None, metadata=""):
        """Adds particles of this rank: arrays as for write(), which must stay unchanged until end().

        species: name of the series that they belong to. ghosts: (n,), integers or bool; particles whose
        value is not 0 are left out. What is refused here makes end() fail on all ranks.
        """
        lib = _lib()
        if not self._wanted:
            return
        try:
            name = None if species is None else species.encode()
            with _Owned(lib.bat_particles_free) as particles:
                arrays = _describe(particles, positions, attributes, metadata)
                if ghosts is None:
                    _check(lib.bat_insitu_add(self._owned.pointer, name, particles.pointer))
                else:
                    marks = _array(ghosts, "ghosts", len(arrays[0]))
                    if marks.shape[1] != 1 and len(marks):
                        raise ValueError(f"ghosts: shape {np.shape(ghosts)}; allowed is (n,)")
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
        self._failure = error

    def end(self):
        """Collective. Writes the step; returns a Report, zero for a step that is not wanted."""
        report = Report()
        failure, self._failure = self._failure, None
        _together(self._comm, failure)
        try:
            _check(_lib().bat_insitu_end_step(self._owned.pointer, ctypes.byref(report)))
        finally:
            self._arrays = []
        return report

    def write(self, step, time, positions, attributes=None, *, species=None, ghosts=None,
              metadata=""):
        """Collective. A whole step: begin(), add() and end()."""
        if self.begin(step, time):
            try:
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


class _Mapped(_Owned):
    """A dataset that stays open as long as an array lies in it."""

    def __del__(self):
        self.close()


class Dataset:
    """An open dataset. With a communicator, opening and read() are collective.

    map=True maps the files into memory instead of reading them, so that map_positions() and map_attribute()
    give columns without a copy. Only for files that nobody changes in place: one that is cut short while it
    is looked at, or on a disk that fails, ends the process with SIGBUS. A page is checked when it is first
    used, and not again while the dataset is open.
    """

    def __init__(self, path, comm=None, *, map=False):  # pylint: disable=redefined-builtin
        self._comm = comm
        self._owned = (_Mapped if map else _Owned)(_lib().bat_close)
        _call(comm, "open_mapped" if map else "open", os.fsencode(path),
              ctypes.byref(self._owned.pointer))

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def close(self):
        """Arrays of map_positions() and map_attribute() stay."""
        owned, self._owned = self._owned, _Owned(_lib().bat_close)
        if not isinstance(owned, _Mapped):
            owned.close()

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
             ranges=None, values=None, part=0, parts=1, threads=0):
        """The particles that match, as Particles.

        attributes: names; None for all. box: 6 numbers, closed, or without its upper faces if half_open.
        ranges: list of (name, lower, upper) or (name, component, lower, upper); integers are compared
        exactly. values: dict of name, or (name, component), to numbers of which the value must be one, e.g.
        {"id": ids}; 64-bit integers exactly, best as an array. part, parts: this reader's equal share. Collective if the dataset was opened with a
        communicator; each rank asks its own question.
        """
        lib = _lib()
        comm = self._comm
        failure = None
        with _make("query") as query, _Owned(lib.bat_selection_free) as selection:
            try:
                self._fill(query, quality, after_quality, box, half_open, ranges, values, part, parts,
                           threads)
            except Exception as error:  # pylint: disable=broad-except
                failure = error
            _together(comm, failure)
            _call(comm, "select", self._owned.pointer, query.pointer, ctypes.byref(selection.pointer))
            count = ctypes.c_uint64()
            _check(lib.bat_selection_count(selection.pointer, ctypes.byref(count)))
            particles = Particles(count.value)
            particles.positions = np.empty((count.value, 3), self.position_dtype)
            self._fetch("positions", selection, particles.positions)
            known = self.attributes
            for name in known if attributes is None else attributes:
                about = known.get(name, Attribute(name, np.dtype("float64"), 1, None))
                shape = (count.value, about.components) if about.components > 1 else count.value
                particles[name] = np.empty(shape, about.dtype)
                self._fetch("attribute", selection, particles[name], name.encode())
        return particles

    def map_positions(self, leaf=0, quality=1.0):
        """Positions of the coarse share `quality` of leaf file number `leaf`, below leaf_files, where they lie
        in a dataset that was opened with map=True: read-only, shape (n, 3). Nothing is copied; pages that
        were not used before are checked in the call. The array keeps the files open. Not collective."""
        return self._map("positions", (leaf, quality), (3,), self.position_dtype)

    def map_attribute(self, name, leaf=0, quality=1.0):
        """The same for an attribute: shape (n,), or (n, components); in the order of map_positions()."""
        about = self.attributes.get(name, Attribute(name, np.dtype("float64"), 1, None))
        shape = (about.components,) if about.components > 1 else ()
        return self._map("attribute", (leaf, quality), shape, about.dtype, name.encode())

    def _map(self, what, where, shape, dtype, *name):
        leaf, quality = where
        if not 0 <= leaf < 2**64:
            raise BatError(9, f"leaf file number {leaf}")
        values, count = ctypes.c_void_p(), ctypes.c_uint64()
        _check(getattr(_lib(), "bat_map_" + what)(
            self._owned.pointer, *name, ctypes.c_uint64(leaf), ctypes.c_double(quality), ctypes.byref(values),
            ctypes.byref(count)))
        if count.value == 0:
            return np.empty((0, *shape), dtype)
        size = int(count.value * dtype.itemsize * np.prod(shape, dtype=np.int64))
        memory = (ctypes.c_char * size).from_address(values.value)
        memory.dataset = self._owned
        return np.frombuffer(memoryview(memory).toreadonly(), dtype).reshape(count.value, *shape)

    def _fetch(self, what, selection, out, *name):
        _call(self._comm, "read_" + what, self._owned.pointer, *name, selection.pointer,
              ctypes.c_void_p(out.ctypes.data), ctypes.c_size_t(out.nbytes))

    @staticmethod
    def _fill(query, quality, after_quality, box, half_open, ranges, values, part, parts, threads):
        lib = _lib()
        _check(lib.bat_query_set_quality(
            query.pointer, ctypes.c_double(quality), ctypes.c_double(after_quality)))
        if box is not None:
            ends = _box(box)
            call = lib.bat_query_set_box_half_open if half_open else lib.bat_query_set_box
            _check(call(query.pointer, ctypes.c_void_p(ends.ctypes.data)))
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
        for key, numbers in (values or {}).items():
            name, *component = (key,) if isinstance(key, str) else key
            array = _numbers(numbers, name)
            _check(lib.bat_query_add_values(
                query.pointer, name.encode(), component[0] if component else -1,
                ctypes.c_int(_TYPES[array.dtype.name]), ctypes.c_void_p(array.ctypes.data),
                ctypes.c_uint64(array.size)))
        _check(lib.bat_query_set_part(query.pointer, ctypes.c_uint32(part), ctypes.c_uint32(parts)))
        _check(lib.bat_query_set_threads(query.pointer, ctypes.c_int(threads)))
