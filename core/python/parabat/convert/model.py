# SPDX-License-Identifier: BSD-3-Clause
"""The interface between formats and `parabat convert`: a Format yields Steps, which have Particles or the Fields of a grid.

A format is a file in formats/ (or any file given by --format FILE.py) that defines FORMAT:

    FORMAT = Format("xyz", "positions in text", extensions=(".xyz",), steps=steps)

    def steps(path, options):
        yield Step(lambda: [Particles(positions, {"id": ids})], number=100, time=0.5)

Arrays keep their types. The functions below reject what a dataset cannot store, or leave it out
and report it. Errors in a file raise a ConvertError; the caller puts the file name before its text.
"""

import dataclasses
import importlib.util
import os
import re
import typing

import numpy as np

from .._memory import free_memory as memory
from .text_tables import listed

TYPES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64")
MAX_COMPONENTS = 9
HEAD = 4096

# Names of arrays of shape (n, 3), and of three arrays of shape (n,), that are positions unless --columns names others.
POSITIONS = ("positions", "position", "pos", "coordinates", "coords", "coord", "points", "point", "xyz", "r", "x")
AXES = (("x", "y", "z"), ("Points:0", "Points:1", "Points:2"), ("Points_0", "Points_1", "Points_2"),
        ("Points[0]", "Points[1]", "Points[2]"), ("pos_x", "pos_y", "pos_z"), ("position_x", "position_y", "position_z"),
        ("px", "py", "pz"), ("qx", "qy", "qz"), ("lon", "lat", "z"), ("lon", "lat", "depth"), ("longitude", "latitude", "depth"))


class ConvertError(Exception):
    """An input cannot be converted; the message says why."""


class Interrupted(ConvertError):
    """The conversion was interrupted, by Ctrl-C or SIGTERM."""


@dataclasses.dataclass(frozen=True)
class Format:
    """A row of the registry.

    name: value for --format. about: a short description. extensions: file name endings, in lower
    case. steps(path, options): yields a Step for each step of a file, in order; it should read
    little before it yields a step, since steps may be skipped. sniff(head, path): whether a file
    has this format, judged by its first bytes (decompressed) and, if necessary, by more of it; all
    formats are tried before extensions are compared. modules: imports other than numpy, as (module,
    package to install, extra of parabat or ""). options: names of the Options that it supports, of
    those that not all formats support. siblings(path): files that form one input, in order; the
    first one is passed to steps(). rank: formats with lower ranks are tried first.
    """

    name: str
    about: str
    steps: typing.Callable
    extensions: tuple = ()
    sniff: typing.Optional[typing.Callable] = None
    modules: tuple = ()
    options: tuple = ()
    siblings: typing.Optional[typing.Callable] = None
    rank: int = 10

    def missing(self):
        """Returns the rows of `modules` that cannot be imported; one of several alternatives (a|b) suffices."""
        return [row for row in self.modules if not any(map(_is_installed, row[0].split("|")))]


def _is_installed(name):
    """Returns whether a module can be found. For a submodule, this imports its parent packages."""
    try:
        return importlib.util.find_spec(name) is not None
    except ImportError:
        return False


def nobody(share):
    """Receives progress and ignores it."""


@dataclasses.dataclass
class Options:
    """The options of a conversion; some only apply to certain formats()."""

    arrays: typing.Optional[list] = None    # names of requested attributes; None: all
    species: typing.Optional[list] = None   # names of requested Particles; None: all
    columns: typing.Optional[list] = None   # the positions: one array (n, 3), or three names, with "none" for no z
    delimiter: typing.Optional[str] = None
    mapping: typing.Optional[dict] = None   # name -> paths in an HDF5 file
    topology: typing.Optional[str] = None
    follow_links: bool = False              # follow HDF5 links to other files
    amrex_ids: str = "unpack"               # or "keep", to write them packed as AMReX does
    time_column: typing.Optional[str] = None  # table column with the time of each row; "none": such a column is an attribute
    decimal: typing.Optional[str] = None    # decimal separator of a table, "." or ","; None: detected
    part: bool = False                      # convert one file of a multi-file snapshot alone
    notes: dict = dataclasses.field(default_factory=dict)  # messages about links, by key, added when links are found
    # Options for grids.
    dimensions: typing.Optional[tuple] = None  # samples along x, y, z of raw data
    type: typing.Optional[tuple] = None        # type name and components of raw data
    byte_order: str = "little"
    skip: int = 0                              # bytes before raw data
    origin: typing.Optional[list] = None       # x, y, z, overriding the file
    spacing: typing.Optional[list] = None
    fill: typing.Optional[list] = None         # numbers that mark missing values
    group: typing.Optional[str] = None         # group in a netCDF file
    stored: bool = False                       # keep stored numbers, even packed ones
    time_unit: typing.Optional[str] = None     # of velocities, overriding the file, like the next two
    velocity_unit: typing.Optional[str] = None
    coordinate_unit: typing.Optional[str] = None
    vertical: typing.Optional[str] = None      # up or down: positive direction of the vertical component
    ignore_units: bool = False
    stems: tuple = ()                          # file name stems of all inputs
    slab: tuple = (0, 1)                       # (i, n): read only the i-th of n slabs of about equal size
    threads: int = 0
    at: typing.Callable = nobody            # called with the share of a step that has been read, 0 to 1
    room: typing.Optional[typing.Callable] = None  # returns how many bytes of memory particles may take
    scratch: typing.Any = None                 # rows_by_step.Scratch, or None
    known: dict = dataclasses.field(default_factory=dict)  # what formats found out about inputs, for the next look at them

    def wants(self, name):
        return self.arrays is None or name in self.arrays

    def called(self, name):
        """Returns a name from a file without the numbers in which the names of the inputs differ, so that all steps share it."""
        parts, others = re.split(r"(\d+)", name), [re.split(r"(\d+)", one) for one in self.stems]
        if len({(tuple(other[::2]), len(other)) for other in others}) != 1:
            return name
        differ = {i for i in range(1, len(parts), 2) if len({other[i] for other in others if i < len(other)}) > 1}
        if not differ:
            return name
        kept = ""
        for i, part in enumerate(parts):
            kept = kept.rstrip("_-. ") if i in differ else kept + part
        return kept.strip("_-. ") or "field"


class Step:
    """A step of a file.

    read(): returns a list of Particles, or the Fields of a grid. number, time: as given in the file, otherwise None.
    divided: for a step that can be read in parts, a function that returns a list of Divided. clock: the unit of the time,
    a cf.Clock, if the file has one. species: names of all species of the file, if this step may lack some of them.
    is_fixed: the particles do not vary in time, and the step is not part of a series.
    """

    def __init__(self, read, number=None, time=None, divided=None, clock=None, species=(), is_fixed=False):
        self._read = read
        self.number = number
        self.time = time
        self.clock = clock
        self.divided = divided
        self.species = species
        self.is_fixed = is_fixed
        self.is_read = False

    def read(self):
        self.is_read = True
        return self._read()


class Divided:
    """One species of a step, to be read in parts.

    size: about how many bytes its arrays have. read(i, n): Particles of the i-th of n parts of about
    equal size; called with ascending i, and again from the first on. varies: whether types, texts,
    or which attributes there are can be others in each part; then parts are read, settle() is told
    facts() of each, and Particles are what conform() makes of a part. prepare(memory_bytes): called before the first read()
    if the whole step does not fit in memory; returns whether the step's `divided` now returns something smaller.
    """

    def __init__(self, size, read, species="", varies=False, prepare=lambda memory_bytes: False):
        self.size = size
        self.read = read
        self.species = species
        self.varies = varies
        self.prepare = prepare
        self._types = self._texts = None
        self._remarks = []

    @property
    def texts(self):
        """The texts of each attribute that is codes, by code; available after settle()."""
        return self._texts or {}

    def facts(self, part):
        """Returns what settle() must know of a part; can be pickled."""
        return ({name: (array.dtype, array.shape[1:]) for name, array in part.attributes.items()},
                {name: list(texts) for name, texts in part.texts.items()})

    def settle(self, facts):
        """Chooses types that can store the values of all parts."""
        self._types, self._texts = {}, {}
        kinds = {}
        for types, texts in facts:
            for name, kind in types.items():
                kinds.setdefault(name, []).append(kind)
            for name, known in texts.items():
                self._texts.setdefault(name, set()).update(known)
        for name, found in kinds.items():
            dtypes, shapes = map(set, zip(*found))
            if len(found) < len(facts) or len(shapes) > 1:
                self._remarks.append((f"left out {name}", f"'{name}' is not written: some particles do not have it in the same form"))
            else:
                self._types[name] = (dtypes.pop() if len(dtypes) == 1 else np.dtype(np.float64), shapes.pop())
        self._texts = {name: sorted(texts) for name, texts in self._texts.items()}

    def conform(self, part):
        """Returns the part, converted to the types that settle() chose."""
        if not self.varies:
            return part
        for name, texts in self._texts.items():
            codes = np.searchsorted(self._texts[name], part.texts.get(name, [])).astype(np.int32)
            if name in part.attributes:
                part.attributes[name] = codes[part.attributes[name]] if len(codes) else part.attributes[name]
            part.texts[name] = texts
        attributes = {}
        for name, (dtype, _) in self._types.items():
            array = part.attributes[name]
            attributes[name] = array if array.dtype == dtype else _exact(array, dtype, name)
        part.attributes = attributes
        part.remarks += self._remarks
        return part


def _exact(array, dtype, name):
    """Converts values to `dtype`, which is float64 where some parts of a column have integers and others fractions."""
    result = array.astype(dtype)
    if array.dtype.kind in "iu" and (np.abs(result) >= 2.0 ** 53).any():
        raise ConvertError(f"column '{name}' has both integers beyond 2^53 and fractions, which no type can represent")
    return result


class Particles:
    """One species of a step.

    positions: (n, 3), float32 or float64. attributes: name -> (n,) or (n, k), k up to 9. metadata:
    values that become JSON. species: "" if the format does not name them. remarks: pairs of a key
    and a message, reported once for all steps. others: names of attributes that were not requested.
    texts: attribute that is codes -> its texts by code, in alphabetical order; the metadata has the
    same dict.
    """

    def __init__(self, positions, attributes, metadata=None, species="", remarks=(), others=(), texts=None):
        self.positions = positions
        self.texts = {} if texts is None else texts
        self.attributes = attributes
        self.metadata = metadata or {}
        self.species = species
        self.remarks = list(remarks)
        self.others = set(others)


class Fields:
    """A step of a grid.

    arrays: name -> (nz, ny, nx), optionally followed by components, or (ny, nx) for a plane. origin: position of sample
    (0, 0, 0). spacing: distances of samples. first: index of the first sample. All three are in the order x, y, z. remarks,
    others: as in Particles. axes: 2 or 3; None: the minimum over the arrays. options: their origin and spacing take
    precedence, if given. is_part: the arrays are the slab options.slab along their first axis, and `first` is its start.
    """

    def __init__(self, arrays, origin=None, spacing=None, first=(0, 0, 0), remarks=(), others=(), axes=None, options=None,
                 is_part=False):
        self._is_part = is_part
        self.remarks, self.others = list(remarks), set(others)
        self.axis, self.about = [], {}  # for files with units: a cf.Axis for x, y, z; attributes by name in the file
        chosen = options or Options()
        self.remarks += chosen.notes.items()
        self.origin = chosen.origin or ((0, 0, 0) if origin is None else [float(number) for number in origin])
        self.spacing = chosen.spacing or ((1, 1, 1) if spacing is None else [float(number) for number in spacing])
        self.first = first
        if chosen.arrays is not None:
            known = set(arrays) | self.others
            missing = [name for name in chosen.arrays if name not in known]
            if missing:
                raise ConvertError(f"unknown field '{missing[0]}'; available: {listed(sorted(known))}")
        self.arrays, self.names = {}, {}  # names: field -> name in the file
        for name, array in arrays.items():
            if not chosen.wants(name):
                continue
            array, why = plain(array)
            if array is None:
                self.remarks.append((f"left out {name}", f"'{name}' is not written: {why}"))
                continue
            known = re.sub(r"[\x00-\x20\x7f+#()\[\]/\"\\]+", "_", name) or "field"
            if known != name:
                self.remarks.append((f"name {name}", f"'{name}' becomes the field '{known}'"))
            if known in self.arrays:
                raise ConvertError(f"two fields would be called '{known}'")
            self.arrays[known], self.names[known] = array, name
        if not self.arrays:
            raise ConvertError("none of its arrays can be a field of a grid")
        self.axes = axes or min(3, min(array.ndim for array in self.arrays.values()))
        shapes = {name: array.shape[:self.axes] for name, array in self.arrays.items()}
        if len(set(shapes.values())) > 1:
            raise ConvertError("arrays differ in shape, but a grid has one shape: "
                               + ", ".join(f"'{name}' {self.arrays[name].shape}" for name in list(shapes)[:6])
                               + "; choose with --arrays")
        self.dimensions = (*next(iter(shapes.values()))[::-1], *(1,) * (3 - self.axes))

    def cut(self, part):
        """Returns itself, reduced to a slab, without reading the rest of arrays in a file."""
        if not self._is_part and part != (0, 1):
            begin, end = part_of(self.dimensions[self.axes - 1], *part)
            self.arrays = {name: array[begin:end] for name, array in self.arrays.items()}
            self.first, self.dimensions = list(self.first), list(self.dimensions)
            self.first[self.axes - 1] += begin
            self.dimensions[self.axes - 1] = end - begin
        return self


def open_all(paths, opener):
    """Returns opener(path) for each file of one input; with several files, errors name the file."""
    opened = []
    for path in paths:
        try:
            opened.append(opener(path))
        except ConvertError as error:
            raise ConvertError(str(error) if len(paths) == 1 else f"{path}: {error}") from None
    return opened


def stem(path):
    """Returns a file name without folder and extension."""
    return os.path.splitext(os.path.basename(path))[0]


class Collector:
    """Makes Particles from named arrays: chooses the positions and checks types and shapes."""

    def __init__(self, options, count=None):
        self._options = options
        self.count = count
        self.arrays = {}
        self.remarks = []
        self.others = set()

    def wants(self, name):
        """Returns whether an array must be read because it is requested or may be positions."""
        if self._options.wants(name) or name in (self._options.columns or ()):
            return True
        self.others.add(name)
        return self._options.columns is None and (
            name.lower() in POSITIONS or any(name in axes for axes in _axes()))

    def add(self, name, array, what=None):
        """Adds an array of any kind; leaves out and reports what no dataset can store."""
        array, why = plain(array)
        if array is None:
            self.leave_out(name, why)
            return
        if self.count is None and array.ndim:
            self.count = len(array)
        if array.ndim == 0 or len(array) != self.count:
            raise ConvertError(f"{what or name}: {len(array) if array.ndim else 'no'} values, but the others have {self.count}")
        self.arrays[name] = array

    def leave_out(self, name, why):
        self.remarks.append((f"left out {name}", f"'{name}' is not written: {why}"))

    def particles(self, positions=None, metadata=None, species=""):
        """Returns the Particles. positions: an array, or None to choose among the added arrays."""
        attributes = dict(self.arrays)
        if positions is None:
            positions = self._take_positions(attributes)
        if len(positions) != (self.count or 0):
            raise ConvertError(f"{len(positions)} positions for {self.count} particles")
        result = {}
        for name, array in attributes.items():
            if not self._options.wants(name):
                self.others.add(name)
                continue
            for part, values in in_parts(name, array, self.remarks):
                if part in result:
                    raise ConvertError(f"two attributes would be called '{part}'")
                result[part] = values
        return Particles(as_positions(positions), result, metadata, species, [*self.remarks, *self._options.notes.items()], self.others)

    def _take_positions(self, attributes):
        names = find_positions({name: array.shape[1:] for name, array in attributes.items()}, self._options.columns)
        arrays = [None if name is None else attributes.pop(name) for name in names]
        return stack(arrays)


def _axes():
    for axes in AXES:
        yield axes
        yield tuple(axis.upper() for axis in axes)


def find_positions(shapes, chosen=None):
    """Returns the names of the arrays that are positions: one, or three of which the last may be None. shapes: array name ->
    shape of one value."""
    if chosen:
        names = [None if name == "none" and i == 2 else name for i, name in enumerate(chosen)]
        for name in names:
            if name is not None and name not in shapes:
                raise ConvertError(f"unknown position array '{name}'; available: {listed(shapes)}")
        requested = () if len(names) == 3 else (3,)
        for name in names:
            if name is not None and tuple(shapes[name]) not in (requested, (1,) if requested == () else requested):
                raise ConvertError(f"'{name}' cannot be positions: each value has shape {tuple(shapes[name])}, but must be "
                                   f"{'one number' if requested == () else '(3,)'}")
        return names
    for axes in _axes():
        if all(name in shapes and tuple(shapes[name]) == () for name in axes):
            return list(axes)
    for requested in POSITIONS:
        found = [name for name, shape in shapes.items() if name.lower() == requested and tuple(shape) == (3,)]
        if len(found) == 1:
            return found
        if found:
            raise ConvertError(f"{listed(found)} could all be positions; choose with --columns")
    raise ConvertError(f"no positions: no x, y, z and no position array of three coordinates in {listed(shapes)}; choose with --columns")


def part_of(count, i, n):
    """Returns the begin and end of the i-th of n parts of `count`."""
    return count * i // n, count * (i + 1) // n


def plain(array):
    """Returns (array of one of the types, None), or (None, why it cannot be converted)."""
    array = np.asarray(array)
    if array.dtype.names:
        return None, f"it is a record of {listed(array.dtype.names)}"
    if array.dtype == bool:
        return array.view(np.uint8), None
    if array.dtype == np.float16:
        return array.astype(np.float32), None
    if array.dtype in (np.complex64, np.complex128):
        array = np.ascontiguousarray(array)
        return array.view(array.real.dtype).reshape(*array.shape, 2), None
    if array.dtype.kind in "SUO":
        return None, "it contains texts or objects, not numbers"
    if array.dtype.newbyteorder("=").name not in TYPES:
        return None, f"its type is {array.dtype}"
    return array, None


def in_parts(name, array, remarks):
    """Returns pairs of a name and an array of at most 9 components that together hold an array of any shape."""
    if array.ndim > 2:
        array = array.reshape(len(array), int(np.prod(array.shape[1:])))
    if array.ndim == 2 and array.shape[1] == 0:
        remarks.append((f"left out {name}", f"'{name}' is not written: it has no components"))
        return []
    if array.ndim == 1 or array.shape[1] <= MAX_COMPONENTS:
        return [(name, array)]
    if array.shape[1] > 1000:
        raise ConvertError(f"'{name}' has {array.shape[1]} components; at most 1000 are allowed. Exclude it with --arrays")
    remarks.append((f"parts of {name}", f"'{name}' has {array.shape[1]} components and becomes {name}_0 ... "
                    f"{name}_{array.shape[1] - 1}"))
    return [(f"{name}_{i}", array[:, i]) for i in range(array.shape[1])]


def exact_doubles(integers, what):
    """Returns the values as float64, without rounding."""
    doubles = integers.astype(np.float64)
    top = 2.0 ** (64 if integers.dtype.kind == "u" else 63)
    wrong = (doubles >= top) if integers.dtype.itemsize == 8 else np.zeros(len(doubles), bool)
    wrong |= np.where(wrong, 0, doubles).astype(integers.dtype) != integers
    if wrong.any():
        raise ConvertError(f"{what}: the integer {integers[wrong][0]} cannot be represented as float64, the type of positions")
    return doubles


def stack(axes):
    """Returns positions (n, 3) from one array of that shape, or from three of which the last may be None."""
    if len(axes) == 1:
        return axes[0]
    axes = [axis if axis is None else axis.reshape(len(axis)) for axis in axes]
    if axes[2] is None:
        axes[2] = np.zeros(len(axes[0]), axes[0].dtype)
    return np.stack([axis if axis.dtype.kind == "f" else exact_doubles(axis, "positions") for axis in axes], axis=1)


def as_positions(array):
    """Returns positions (n, 3) as float32 or float64."""
    array = np.asarray(array)
    if array.ndim != 2 or array.shape[1] != 3:
        raise ConvertError(f"positions with shape {array.shape}; allowed are (n, 3)")
    if array.dtype.kind in "iu":
        return np.stack([exact_doubles(array[:, i], "positions") for i in range(3)], axis=1)
    if array.dtype.kind != "f" or array.dtype.itemsize not in (4, 8):
        raise ConvertError(f"positions with type {array.dtype}; allowed are float32, float64 and integers")
    return array


def codes_of(texts):
    """Returns (int32 codes, list of the texts by code), with texts in alphabetical order."""
    names, codes = np.unique(np.asarray(texts), return_inverse=True)
    return codes.reshape(-1).astype(np.int32), [str(name) for name in names]


def as_json(value):
    """Returns an object that json.dumps() accepts."""
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="replace")
    if isinstance(value, np.ndarray):
        return as_json(value.item()) if value.size == 1 else [as_json(each) for each in value.tolist()]
    if isinstance(value, np.generic):
        return as_json(value.item())
    if isinstance(value, dict):
        return {str(key): as_json(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(each) for each in value]
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)  # JSON has no NaN or infinity
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    return str(value)


def resident():
    """Returns the resident memory of this process in bytes."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def check_memory(claim, needed):
    """Raises if memory cannot hold the `needed` bytes that a file claims to have. claim: describes them in the error."""
    free = memory()
    if needed > free:
        raise ConvertError(f"{claim}, {needed / 2 ** 30:.1f} GiB: more than the free memory of this machine, {free / 2 ** 30:.1f} GiB")
