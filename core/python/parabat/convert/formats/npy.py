# SPDX-License-Identifier: BSD-3-Clause
"""NumPy arrays: .npy and .npz.

.npy: positions (n, 3), a time series (steps, n, 3), or records (n) or (steps, n). .npz: named arrays of one or several steps,
as described in layout.py, or records; `time` and `step` are those of the dataset. Text arrays and arrays of other lengths are
left out and reported.
"""

import math
import zipfile

import numpy as np

from .. import layout
from ..model import Collector, ConvertError, Divided, Format, Step, listed, part_of

SKIP = 8 << 20  # bytes skipped at a time
PYSPH = {"particles", "solver_data", "version"}  # members of PySPH archives, which are pickled


def steps(path, options):
    with open(path, "rb") as file:
        magic = file.read(4)
    if magic.startswith(b"PK"):
        yield from _npz_steps(path, options)
    else:
        yield from _npy_steps(path, options)


def _npy_steps(path, options):
    try:
        array = _mapped(path)
    except (ValueError, EOFError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ConvertError(f"cannot be read as an array: {error}") from None
    if array.dtype.names:
        if array.ndim not in (1, 2):
            raise ConvertError(f"records with shape {array.shape}; allowed are (n,) and (steps, n)")
        records = layout.Records(array.dtype, array.shape, lambda index, _: np.array(_mapped(path)[index]))
        yield from layout.steps({"": layout.Layout(records, options)})
        return
    if array.ndim not in (2, 3) or array.shape[-1] != 3:
        raise ConvertError(f"an array with shape {array.shape}; allowed are (n, 3), (steps, n, 3) and records")
    for name, value in (("columns", options.columns), ("time-column", options.time_column)):
        if value:
            raise ConvertError(f"argument --{name}: the array has no names")
    remarks = []
    if array.ndim == 3:
        count, each, _ = array.shape
        remarks.append(("axes", f"an array with shape {array.shape} is read as {count} steps of {each} particles"))
    for number, positions in enumerate(array if array.ndim == 3 else [array]):
        def rows(i, n, number=number, count=len(positions)):
            whole = _mapped(path)  # mapped again for each part, since mapped pages count as process memory
            return _bare((whole[number] if whole.ndim == 3 else whole)[slice(*part_of(count, i, n))], options, remarks)
        yield Step(lambda positions=positions: [_bare(positions, options, remarks)],
                   divided=lambda positions=positions, rows=rows: [Divided(positions.nbytes, rows)])


def _mapped(path):
    return np.load(path, mmap_mode="r", allow_pickle=False)


def _bare(positions, options, remarks):
    collector = Collector(options, len(positions))
    collector.remarks += remarks
    return collector.particles(np.array(positions))


def _npz_steps(path, options):
    try:
        archive = np.load(path, allow_pickle=False)
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise ConvertError(f"cannot be read as an array archive: {error}") from None
    with archive:
        if not archive.files:
            raise ConvertError("has no arrays")
        if len(set(archive.files)) != len(archive.files):
            twice = next(name for name in archive.files if archive.files.count(name) > 1)
            raise ConvertError(f"two arrays are named '{twice}'")
        if PYSPH <= set(archive.files):
            raise ConvertError("is an archive of PySPH, whose arrays are pickled objects, which can run code and are not read; "
                               "write HDF5 with pysph.solver.utils.dump('NAME.hdf5', ...)")
        yield from layout.steps(_layouts(archive, options))


def _layouts(archive, options):
    """Returns Layouts by species: one for the arrays, or one for each array of records."""
    members = _Members(archive)
    try:
        return {"": layout.Layout(members, options)}
    except ConvertError as error:
        if isinstance(error, layout.Uncertain):
            raise
        why = error
    found = {}
    for name, (shape, dtype) in members.shapes.items():
        if dtype.names and len(shape) in (1, 2):
            records = _Fields(members, name)
            try:
                found[name] = layout.Layout(records, options, f"{name}: ")
            except layout.Uncertain:
                raise
            except ConvertError:
                continue
    if not found:
        raise why
    others = [name for name in members.shapes if name not in found and name.lower() not in layout.TIMES + layout.NUMBERS]
    if others:
        first = next(iter(found.values()))
        first.remarks.append(("others", f"arrays next to those of records are not written: {listed(others)}"))
    return {"": next(iter(found.values()))} if len(found) == 1 and not options.species else found


def _array(archive, name):
    try:
        return archive[name]
    except (ValueError, EOFError, OSError, zipfile.BadZipFile, zipfile.zlib.error) as error:
        if "allow_pickle" in str(error):
            return np.array(["an object"])
        raise ConvertError(f"the array '{name}' cannot be read: {error}") from None


class _Members(layout.Columns):
    """The arrays of an archive."""

    def __init__(self, archive):
        self._archive, self._open = archive, {}
        self._whole = None, None  # the Fortran-order array that was read last
        self.shapes = {}
        for name in archive.files:
            member = Member(archive, name)
            self.shapes[name] = (member.shape, member.dtype)
            member.close()

    def read(self, name, index, remarks):
        if index is ...:
            return _array(self._archive, name)
        member = self._open.get(name) or self._open.setdefault(name, Member(self._archive, name))
        if not member.is_divisible:
            if self._whole[0] != name:
                self._whole = name, _array(self._archive, name)
            return np.array(self._whole[1][index])
        if isinstance(index, slice):
            return member.rows(index.start, index.stop)
        step, rows = index if isinstance(index, tuple) else (index, ...)
        return np.asarray(member.rows(step, step + 1)[0])[rows]

    def named(self, names, kinds):
        for name, (shape, dtype) in self.shapes.items():
            if name.lower() in names and math.prod(shape) == 1 and dtype.kind in kinds:
                return self.read_all(name).reshape(-1)[0]
        return None


class _Fields(layout.Records):
    """The fields of an array of records."""

    def __init__(self, members, name):
        self.named = members.named
        shape, dtype = members.shapes[name]
        super().__init__(dtype, shape, lambda index, remarks: members.read(name, index, remarks))


class Member:
    """An array in an archive, whose rows are read in ascending order."""

    def __init__(self, archive, name):
        self._archive, self._name = archive, name
        self._file = None
        self._open()

    def _open(self):
        try:
            self.close()
            self._file = self._archive.zip.open(self._name + ".npy")
            version = np.lib.format.read_magic(self._file)
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            self.shape, is_fortran, self.dtype = read(self._file)
            size = self._archive.zip.getinfo(self._name + ".npy").file_size
            if not self.dtype.hasobject and self.dtype.itemsize * math.prod(self.shape) > size:
                raise ValueError(f"its header claims {self.shape} values of {self.dtype}, more than its {size} bytes")
        except (KeyError, ValueError, EOFError, OSError, zipfile.BadZipFile, zipfile.zlib.error) as error:
            raise ConvertError(f"the array '{self._name}' cannot be read: {error}") from None
        self.is_divisible = not self.dtype.hasobject and (not is_fortran or len(self.shape) < 2)
        self._row = 0

    def close(self):
        if self._file is not None:
            self._file.close()

    @property
    def count(self):
        return self.shape[0] if self.shape else -1

    @property
    def row_bytes(self):
        return self.dtype.itemsize * math.prod(self.shape[1:])

    def rows(self, first, end):
        if first < self._row:
            self._open()
        try:
            while self._row < first:  # one buffer at a time
                some = min(first - self._row, max(1, SKIP // max(1, self.row_bytes)))
                self._take(some)
            return np.frombuffer(self._take(end - first), self.dtype).reshape(end - first, *self.shape[1:])
        except (EOFError, OSError, zipfile.BadZipFile, zipfile.zlib.error) as error:
            raise ConvertError(f"the array '{self._name}' cannot be read: {error}") from None

    def _take(self, count):
        """Returns the bytes of the next rows."""
        requested = count * self.row_bytes
        buffer = bytearray(requested)
        there = 0
        while there < requested:
            some = self._file.readinto(memoryview(buffer)[there:])
            if not some:
                raise EOFError(f"it ends after {self._row} of {self.count} rows")
            there += some
        self._row += count
        return buffer


def _sniff(head, path):
    if head.startswith(b"\x93NUMPY"):
        return True
    if not head.startswith(b"PK\x03\x04"):
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            return all(name.endswith(".npy") for name in archive.namelist())
    except (OSError, zipfile.BadZipFile):
        return path.lower().endswith(".npz")


FORMAT = Format("npy", "NumPy arrays: .npy, .npz", steps, extensions=(".npy", ".npz"), sniff=_sniff,
                options=("columns", "time_column"))
