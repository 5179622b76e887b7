# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of numpy: .npy and .npz.

.npy: an array (n, 3) of positions, (steps, n, 3) of a time series, or of records. .npz: arrays by
name, one step; `time` and `step`, if they are single numbers, are those of the dataset. Arrays that
are texts, or of other lengths, are left out and said.
"""

import math
import zipfile

import numpy as np

from ..model import Collector, ConvertError, Divided, Format, Step, find_positions, listed, part_of

SKIP = 8 << 20  # bytes that are passed over at once
TIMES = {"time": float, "step": int, "timestep": int}


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
        if array.ndim != 1:
            raise ConvertError(f"records with shape {array.shape}; allowed is (n,)")
        yield Step(lambda: [_records(array, options)], divided=lambda: [Divided(
            array.nbytes, lambda i, n: _records(_mapped(path)[slice(*part_of(len(array), i, n))], options))])
        return
    if array.ndim not in (2, 3) or array.shape[-1] != 3:
        raise ConvertError(f"an array with shape {array.shape}; allowed are (n, 3), (steps, n, 3) and records")
    if options.columns:
        raise ConvertError("argument --columns: the array has no names")
    for number, positions in enumerate(array if array.ndim == 3 else [array]):
        def rows(i, n, number=number, count=len(positions)):
            whole = _mapped(path)  # anew for each part: what was mapped counts as memory of this process
            return _bare((whole[number] if whole.ndim == 3 else whole)[slice(*part_of(count, i, n))], options)
        yield Step(lambda positions=positions: [_bare(positions, options)],
                   divided=lambda positions=positions, rows=rows: [Divided(positions.nbytes, rows)])


def _mapped(path):
    return np.load(path, mmap_mode="r", allow_pickle=False)


def _bare(positions, options):
    return Collector(options, len(positions)).particles(np.array(positions))


def _records(array, options):
    collector = Collector(options, len(array))
    for name in array.dtype.names:
        if collector.wants(name):
            collector.add(name, np.array(array[name]))
    return collector.particles()


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
        known = {}
        for name, kind in TIMES.items():
            if name in archive.files:
                value = _array(archive, name)
                if value.size == 1 and value.dtype.kind in ("iuf" if kind is float else "iu"):
                    known[name] = kind(value.reshape(-1)[0])
        yield Step(lambda: [_archive(archive, options, known)], known.get("step", known.get("timestep")),
                   known.get("time"), lambda: _divided(archive, options, known))


def _array(archive, name):
    try:
        return archive[name]
    except (ValueError, EOFError, OSError, zipfile.BadZipFile, zipfile.zlib.error) as error:
        if "allow_pickle" in str(error):
            return np.array(["an object"])
        raise ConvertError(f"the array '{name}' cannot be read: {error}") from None


def _archive(archive, options, known):
    arrays = {}
    collector = Collector(options)
    for name in archive.files:
        if name not in known and collector.wants(name):
            arrays[name] = _array(archive, name)
    count = _count(arrays, options)
    collector.count = count
    for name, array in arrays.items():
        if _is_of_all(name, len(array) if array.ndim else -1, count, collector):
            collector.add(name, array)
    return collector.particles()


class Member:
    """An array of an archive, of which rows are read in their order."""

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
            while self._row < first:  # one buffer after the other
                some = min(first - self._row, max(1, SKIP // max(1, self.row_bytes)))
                self._take(some)
            return np.frombuffer(self._take(end - first), self.dtype).reshape(end - first, *self.shape[1:])
        except (EOFError, OSError, zipfile.BadZipFile, zipfile.zlib.error) as error:
            raise ConvertError(f"the array '{self._name}' cannot be read: {error}") from None

    def _take(self, count):
        """Bytes of the next rows."""
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


def _divided(archive, options, known):
    """In parts, if all arrays can be."""
    members = {name: Member(archive, name) for name in archive.files
               if name not in known and Collector(options).wants(name)}
    if not all(member.is_divisible for member in members.values()):
        for member in members.values():
            member.close()
        return None
    count = _count(members, options)

    def read(i, n):
        first, end = part_of(count, i, n)
        collector = Collector(options, end - first)
        for name, member in members.items():
            if _is_of_all(name, member.count, count, collector):
                collector.add(name, member.rows(first, end))
        return collector.particles()
    return [Divided(sum(count * member.row_bytes for member in members.values() if member.count == count), read)]


def _is_of_all(name, length, count, collector):
    """Whether an array has a value for each particle; what is single is left out."""
    if length == count:
        return True
    if length not in (-1, 1):
        raise ConvertError(f"'{name}' has {length} values for {count} particles; choose arrays with --arrays")
    collector.leave_out(name, "it is a single value")
    return False


def _count(arrays, options):
    """How many particles there are: as positions say."""
    shapes = {name: array.shape[1:] for name, array in arrays.items() if array.shape and array.dtype.kind in "iufb"}
    names = [name for name in find_positions(shapes, options.columns) if name]
    counts = {arrays[name].shape[0] for name in names}
    if len(counts) > 1:
        raise ConvertError(f"{listed(names)} differ in the number of values: "
                           + ", ".join(str(arrays[name].shape[0]) for name in names))
    return counts.pop()


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
                options=("columns",))
