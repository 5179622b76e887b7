"""What the formats inside HDF5 share: opening, telling them apart, reading arrays."""

import contextlib
import importlib.util
import os

import numpy as np

from .model import ConvertError, as_json, listed, memory

MAGIC = b"\x89HDF\r\n\x1a\n"
MODULE = (("h5py", "h5py", "hdf5"),)


@contextlib.contextmanager
def opened(path):
    """The file; what h5py says becomes a ConvertError."""
    import h5py  # pylint: disable=import-outside-toplevel
    try:
        with h5py.File(path, "r") as file:
            yield file
    except ConvertError:
        raise
    except (OSError, RuntimeError, KeyError, ValueError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ConvertError(f"cannot be read as HDF5: {str(error).splitlines()[0][:300]}") from None


def sniffer(is_it):
    """For `sniff` of a Format: whether it is HDF5 and is_it(file)."""
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
    """Of a group or data set, as JSON takes them."""
    return {name: as_json(node.attrs[name]) for name in node.attrs}


def single(node, name, default=None):
    """An attribute that is a number, or an array of one."""
    if name not in node.attrs:
        return default
    value = np.asarray(node.attrs[name])
    if value.size != 1 or value.dtype.kind not in "iufb":
        raise ConvertError(f"{node.name}: the attribute '{name}' is {as_json(node.attrs[name])}, no single number")
    return value.reshape(-1)[0].item()


def datasets(group, remarks):
    """Names of the data sets in it; groups among them are left out and said."""
    import h5py  # pylint: disable=import-outside-toplevel
    names, others = [], []
    for name in group:
        try:
            node = group[name]
        except KeyError:
            raise ConvertError(f"{group.name}/{name}: is a link that leads nowhere") from None
        (names if isinstance(node, h5py.Dataset) else others).append(name)
    if others:
        remarks.append((f"groups in {group.name}", f"groups in {group.name} are not written: {listed(others)}"))
    return names


def node_of(file, path):
    """A data set by its path."""
    import h5py  # pylint: disable=import-outside-toplevel
    if path not in file:
        raise ConvertError(f"there is no {path}; there are {listed(file)}")
    node = file[path]
    if not isinstance(node, h5py.Dataset):
        raise ConvertError(f"{path} is a group, no array; it has {listed(node)}")
    return node


def check(node):
    """Raises for an array of which values are not there, or not enough memory is."""
    if node.size and not node.is_virtual and node.external is None and node.id.get_storage_size() == 0:
        raise ConvertError(f"{node.name}: claims {node.shape} values, but none were ever written")
    if node.is_virtual:
        folder = os.path.dirname(os.path.abspath(node.file.filename))
        for source in node.virtual_sources():
            if source.file_name != "." and not os.path.exists(os.path.join(folder, source.file_name)):
                raise ConvertError(f"{node.name}: is put together from files of which {source.file_name} is not there")
    if node.size * node.dtype.itemsize > memory():
        raise ConvertError(f"{node.name}: claims {node.shape} values of {node.dtype}, more than the memory of this "
                           "machine holds")


def read(node, part=Ellipsis):
    """Its values, in the order of bytes of this machine."""
    check(node)
    try:
        values = node[part]
    except (OSError, RuntimeError) as error:
        raise ConvertError(f"{node.name}: cannot be read: {str(error).splitlines()[0][:300]}") from None
    return values.astype(values.dtype.newbyteorder("="), copy=False) if values.dtype.kind in "iuf" else values


def read_into(node, array):
    """Its values into an array of its shape, without another copy."""
    check(node)
    if not node.size:
        return
    try:
        node.read_direct(array)
    except (OSError, RuntimeError, TypeError) as error:
        raise ConvertError(f"{node.name}: cannot be read: {str(error).splitlines()[0][:300]}") from None
