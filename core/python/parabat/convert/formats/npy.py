# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of numpy: .npy and .npz.

.npy: an array (n, 3) of positions, (steps, n, 3) of a time series, or of records. .npz: arrays by
name, one step; `time` and `step`, if they are single numbers, are those of the dataset. Arrays that
are texts, or of other lengths, are left out and said.
"""

import zipfile

import numpy as np

from ..model import Collector, ConvertError, Format, Step, find_positions, listed

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
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ConvertError(f"cannot be read as an array: {error}") from None
    if array.dtype.names:
        if array.ndim != 1:
            raise ConvertError(f"records of the shape {array.shape}; allowed is (n,)")
        yield Step(lambda: [_records(array, options)])
        return
    if array.ndim not in (2, 3) or array.shape[-1] != 3:
        raise ConvertError(f"an array of the shape {array.shape}; allowed are (n, 3), (steps, n, 3) and records")
    if options.columns:
        raise ConvertError("argument --columns: the array has no names")
    for positions in array if array.ndim == 3 else [array]:
        yield Step(lambda positions=positions: [Collector(options, len(positions)).particles(np.array(positions))])


def _records(array, options):
    collector = Collector(options, len(array))
    for name in array.dtype.names:
        if collector.wants(name):
            collector.add(name, np.ascontiguousarray(array[name]))
    return collector.particles()


def _npz_steps(path, options):
    try:
        archive = np.load(path, allow_pickle=False)
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise ConvertError(f"cannot be read as an archive of arrays: {error}") from None
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
                   known.get("time"))


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
        if array.ndim and len(array) == count:
            collector.add(name, array)
        elif array.ndim == 0 or len(array) == 1:
            collector.leave_out(name, "it is a single value")
        else:
            raise ConvertError(f"'{name}' has {len(array)} values for {count} particles; choose arrays by --arrays")
    return collector.particles()


def _count(arrays, options):
    """How many particles there are: as positions say."""
    shapes = {name: array.shape[1:] for name, array in arrays.items() if array.ndim and array.dtype.kind in "iufb"}
    names = [name for name in find_positions(shapes, options.columns) if name]
    counts = {len(arrays[name]) for name in names}
    if len(counts) > 1:
        raise ConvertError(f"{listed(names)} have different numbers of values: "
                           + ", ".join(str(len(arrays[name])) for name in names))
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


FORMAT = Format("npy", "arrays of numpy: .npy, .npz", steps, extensions=(".npy", ".npz"), sniff=_sniff,
                options=("columns",))
