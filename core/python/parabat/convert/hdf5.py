# SPDX-License-Identifier: BSD-3-Clause
"""Functions shared by the HDF5 formats: opening and recognizing files, and reading arrays."""

import contextlib
import dataclasses
import functools
import importlib.util
import itertools
import math
import os
import posixpath

import numpy as np

from .._extras import install
from .model import ConvertError, as_json, check_memory, listed

MAGIC = b"\x89HDF\r\n\x1a\n"
MODULE = (("h5py", "h5py", "hdf5"),)
MAX_FILE_NODES = 1 << 63  # bytes: external storage of unlimited size


@contextlib.contextmanager
def opened(path, options=None):
    """Opens a file and yields its root group. Links to other files are followed only if the options allow it. Errors of h5py
    become ConvertErrors."""
    import h5py  # pylint: disable=import-outside-toplevel
    from . import hdf5_links  # pylint: disable=import-outside-toplevel
    try:
        with h5py.File(path, "r") as file:
            yield hdf5_links.root(file, options is not None and options.follow_links, None if options is None else options.notes)
    except ConvertError:
        raise
    except (OSError, RuntimeError, KeyError, ValueError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ConvertError(f"cannot be read as HDF5: {str(error).splitlines()[0][:300]}") from None


def check_links(path, options):
    """Checks a file for another library, which follows all links: raises if a link leads out of the file, unless the options
    allow it. In that case, a note names the link."""
    with open(path, "rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            return
    if importlib.util.find_spec("h5py") is None:
        if not options.follow_links:
            raise ConvertError(f"may have links to other files, which h5py must check: {install('h5py')}. Use --follow-links to skip the check")
        return
    notes = dict(options.notes)
    with opened(path, dataclasses.replace(options, notes=notes)) as file:
        for _ in file.walk():
            pass
    left = [words for key, words in notes.items() if words.endswith(" to read it")]
    if left and not options.follow_links:
        raise ConvertError(left[0] + (f"; {len(left) - 1} more" if left[1:] else ""))
    options.notes.update(notes)


def sniffer(is_it):
    """Returns a `sniff` function for a Format: whether a file is HDF5 and is_it(file) is true."""
    def sniff(head, path):
        if not head.startswith(MAGIC) or importlib.util.find_spec("h5py") is None:
            return False
        try:
            with opened(path) as file:
                return bool(is_it(file))
        except ConvertError:
            return False
    return sniff


def attributes(node):
    """Returns the attributes of a group or array, in types that JSON allows."""
    return {name: as_json(node.attrs[name]) for name in node.attrs}


def single(node, name, default=None):
    """Returns the value of an attribute that is a number or an array of one number."""
    if name not in node.attrs:
        return default
    value = np.asarray(node.attrs[name])
    if value.size != 1 or value.dtype.kind not in "iufb":
        raise ConvertError(f"{node.name}: the attribute '{name}' is {as_json(node.attrs[name])}, not a single number")
    return value.reshape(-1)[0].item()


def has_link(group, name):
    """Returns whether a group has a member of this name, even a link that is not followed."""
    return group.id.links.exists(name.encode())


def virtual_files(group, name):
    """Calls hdf5_links.virtual_files()."""
    from . import hdf5_links  # pylint: disable=import-outside-toplevel
    return hdf5_links.virtual_files(group, name)


def datasets(group, remarks, written=()):
    """Returns the names of the arrays in a group. Groups in it are reported as left out, unless they or groups in them are
    among the `written` names."""
    import h5py  # pylint: disable=import-outside-toplevel
    names, others = [], []
    for name in group:
        node = group[name]
        if isinstance(node, h5py.Dataset) and node.shape:
            names.append(name)
        elif isinstance(node, h5py.Dataset):
            remarks.append((f"left out {name}", f"'{name}' is not written: it is "
                            + ("empty" if node.shape is None else "a single value")))
        elif not any((each + "/").startswith(node.name + "/") for each in written):
            others.append(name)
    if others:
        remarks.append((f"groups in {group.name}", f"groups in {group.name} are not written: {listed(others)}"))
    return names


def node_of(file, path):
    """Returns the array at a path."""
    import h5py  # pylint: disable=import-outside-toplevel
    try:
        node = file[path]
    except KeyError:
        raise ConvertError(f"unknown path {path}; available: {listed(file)}") from None
    if not isinstance(node, h5py.Dataset):
        raise ConvertError(f"{path} is a group, not an array; it has {listed(node)}")
    return node


def check(node, part=Ellipsis, remarks=None, whole=True):
    """Raises if the values of `part` of an array were never written. part: all, an index or slice of rows, or (index, slice)
    of an array of steps. If only some values are missing, adds a line to `remarks`. If the part is read as a `whole`, also
    raises if memory cannot hold it."""
    chunks, lost = _chunks(node, part)
    if lost == chunks and lost:
        raise ConvertError(f"{node.name}: claims {node.shape} values, but none were ever written")
    if 2 * lost > chunks:
        raise ConvertError(f"{node.name}: claims {node.shape} values, most of which were never written: {lost} of {chunks} chunks are missing from the "
                           "file")
    if lost and remarks is not None:
        remarks.append((f"holes {node.name}", f"{node.name}: {lost} of {chunks} chunks of the array were never written; their values are "
                                              f"{as_json(node.fillvalue)}"))
    if node.is_virtual:
        folder = os.path.dirname(os.path.abspath(node.file.filename))
        for source in node.virtual_sources():
            if source.file_name != ".":
                _check_source(node.name, os.path.join(folder, source.file_name), source.file_name, source.dset_name)
    for file, begin, size in node.external or ():  # HDF5 reads missing bytes as zeros
        file = os.fsdecode(file)
        if os.path.exists(file) and size < MAX_FILE_NODES and os.path.getsize(file) < begin + size:
            raise ConvertError(f"{node.name}: has {size} of its bytes in {file}, from byte {begin}, but that file has {os.path.getsize(file)} bytes")
    if not whole:
        return
    share = 1 if part is Ellipsis or not node.shape or not node.shape[0] else _rows(node, part) / node.shape[0]
    check_memory(f"{node.name}: claims {node.shape} values of {node.dtype}", node.size * node.dtype.itemsize * share)


def _check_source(name, path, shown, array):
    """Raises if a source file of a virtual array, or the array in it, is missing: HDF5 would read zeros."""
    if not os.path.exists(path):
        raise ConvertError(f"{name}: combines files, but {shown} does not exist")
    if not _has_array(path, array, os.stat(path).st_mtime_ns):
        raise ConvertError(f"{name}: combines arrays, but {array} is not in {shown}")


@functools.lru_cache(maxsize=4096)
def _has_array(path, array, _):
    import h5py  # pylint: disable=import-outside-toplevel
    with h5py.File(path, "r") as file:
        return array in file


def _rows(node, part):
    if isinstance(part, tuple):
        return len(range(*part[1].indices(node.shape[1]))) / max(1, node.shape[1])
    return len(range(*part.indices(node.shape[0]))) if isinstance(part, slice) else 1


def _chunks(node, part):
    """Returns the number of chunks that store the values, and how many of them were never written."""
    if not node.size or node.is_virtual or node.external is not None:
        return 0, 0
    if node.chunks is None:
        return 1, int(node.id.get_storage_size() == 0)
    counts = [-(-size // chunk) for size, chunk in zip(node.shape, node.chunks)]
    total = math.prod(counts)
    lost = total - node.id.get_num_chunks()
    if lost <= 0 or part is Ellipsis:
        return total, max(0, lost)
    if isinstance(part, tuple):
        part = part[0]
    first, last = (part.start or 0, part.stop - 1) if isinstance(part, slice) else (part, part)
    if last < first:
        return 0, 0
    requested = (last // node.chunks[0] + 1 - first // node.chunks[0]) * math.prod(counts[1:])
    if requested > 2 * (total - lost):  # more than half of them must be missing
        return requested, requested - (total - lost)
    # Looks up only the chunks of this part: a file with many steps has too many.
    places = itertools.product(range(first // node.chunks[0], last // node.chunks[0] + 1), *map(range, counts[1:]))
    found = [node.id.get_chunk_info_by_coord(tuple(i * chunk for i, chunk in zip(place, node.chunks))).byte_offset is None
             for place in places]
    return len(found), sum(found)


def check_all(nodes, parts=1):
    """Calls check() for the arrays of one step, and check_memory() for all of them, of which one of `parts` is read."""
    nodes = list(nodes)
    for node in nodes:
        check(node, whole=parts == 1)
    if nodes:
        check_memory(f"{posixpath.dirname(nodes[0].name)}: claims {nodes[0].shape[:1]} values in each of {len(nodes)} arrays",
                     sum(node.size * node.dtype.itemsize for node in nodes) // parts)


def read(node, part=Ellipsis, remarks=None, is_slab=False):
    """Returns the values of an array, in native byte order. is_slab: other ranks read the rest; missing values are checked
    and reported for the whole array."""
    if is_slab:
        check(node, Ellipsis, remarks, whole=False)
        check_memory(f"{node.name}: claims {node.shape} values of {node.dtype}",
                     node.size * node.dtype.itemsize * _rows(node, part) // node.shape[0] if node.size else 0)
    else:
        check(node, part, remarks)
    try:
        values = node[part]
    except (OSError, RuntimeError) as error:
        raise ConvertError(f"{node.name}: cannot be read: {str(error).splitlines()[0][:300]}") from None
    return values.astype(values.dtype.newbyteorder("="), copy=False) if values.dtype.kind in "iuf" else values


def read_into(node, array, first=0):
    """Reads rows from `first` on into an array, without an intermediate copy. The caller has called check()."""
    import h5py  # pylint: disable=import-outside-toplevel
    if not array.size:
        return
    try:
        if isinstance(node.id.get_type(), h5py.h5t.TypeArrayID):  # each value has a shape
            array[...] = node[first:first + len(array)]
            return
        node.read_direct(array, np.s_[first:first + len(array)])
    except (OSError, RuntimeError, TypeError) as error:
        raise ConvertError(f"{node.name}: cannot be read: {str(error).splitlines()[0][:300]}") from None
