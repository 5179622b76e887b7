# SPDX-License-Identifier: BSD-3-Clause
"""The available formats, from the files in formats/ and grids/."""

import importlib
import importlib.util
import os
import pkgutil

from . import formats as _folder
from . import grids as _grids
from .model import HEAD, ConvertError, Format, listed
from .streams import open_stream

# Formats of particles whose files the readers of grids would otherwise accept: netCDF and HDF5.
NEVER_GRIDS = ("amber", "gadget", "h5md", "osiris", "parcels", "pysph")


def formats(grids=False):
    """Returns all formats of particles or grids, in the order in which they are tried."""
    rows, folder = [], _grids if grids else _folder
    for module in pkgutil.iter_modules(folder.__path__):
        found = importlib.import_module(f"{folder.__name__}.{module.name}")
        rows += getattr(found, "FORMATS", None) or [found.FORMAT]
    return sorted(rows, key=lambda row: (row.rank, row.name))


def named(name, grids=False):
    """Returns the format with this name, or the one defined in this file."""
    if name.endswith(".py"):
        return _in_file(name)
    for row in formats(grids):
        if row.name == name:
            return row
    raise ConvertError(f"argument --format: '{name}'; allowed are {listed((row.name for row in formats(grids)), 99)}, and a FILE.py that defines a "
                       "FORMAT")


def _in_file(path):
    spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-len(".py")], path)
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # pylint: disable=broad-except
        raise ConvertError(f"{path}: cannot be run: {error!r}") from None
    if not isinstance(getattr(module, "FORMAT", None), Format):
        raise ConvertError(f"{path}: does not define a FORMAT of type parabat.convert.Format")
    return module.FORMAT


def find_format(path, grids=False):
    """Returns the format of a file, found by content or, failing that, by the extension."""
    try:
        with open_stream(path) as stream:
            head = stream.peek(HEAD)
    except IsADirectoryError:
        head = b""
    rows = formats(grids)
    if grids:
        _refuse_particles(head, path, NEVER_GRIDS)
    for row in rows:
        if row.sniff and row.sniff(head, path):
            return row
    if not head and not os.path.isdir(path):
        raise ConvertError("is empty")
    name = path.lower()
    for end in (".gz", ".bz2", ".xz", ".zst"):
        if name.endswith(end):
            name = name[:-len(end)]
    for row in rows:
        if name.endswith(row.extensions):
            return row
    if grids:
        _refuse_particles(head, path)
    raise ConvertError("has no format known by its content or name; `parabat convert --list` shows them, and --format selects one")


def _refuse_particles(head, path, names=None):
    """Raises for a file that a format of particles knows by its content. names: the only formats that are asked."""
    for row in formats():
        if (names is None or row.name in names) and row.sniff and row.sniff(head, path):
            raise ConvertError(f"contains particles, in the format {row.name}: name an output that ends in .bat, or the format of a "
                               "grid with --format")


def require(row):
    """Raises if a module that the format needs is not installed."""
    for module, package, extra in row.missing():
        raise ConvertError(f"the format {row.name} requires {module.replace('|', ' or ')}: pip install "
                           + (f"'parabat[{extra}]'" if extra else package))
