# SPDX-License-Identifier: BSD-3-Clause
"""Grids in HDF5: arrays (nz, ny, nx), (nz, ny, nx, components) or (ny, nx) of one shape. --map NAME=PATH selects them, with
a * for the step numbers. Arrays with attributes of packed numbers (scale_factor, _FillValue ...) are unpacked."""

import numpy as np

from .. import cf, hdf5
from ..model import ConvertError, Fields, Format, Step, listed, part_of
from ..formats.hdf5_files import numbers_of

PACKED = ("scale_factor", "add_offset", "_FillValue", "missing_value", "valid_range", "valid_min", "valid_max")
MIN_AXES = 2  # minimum number of axes of a grid


def steps(path, options):
    with hdf5.opened(path, options) as file:
        if options.mapping:
            yield from _mapped(file, options)
        else:
            yield Step(lambda: _all(file, options))


def _mapped(file, options):
    for name, paths in options.mapping.items():
        if len(paths) != 1:
            raise ConvertError(f"argument --map: '{name}' has {len(paths)} paths; a field is one array")
    for number in numbers_of(file, options.mapping) or [None]:
        def read(number=number):
            fields = {}
            remarks = []
            for name, (path,) in options.mapping.items():
                if options.wants(name):
                    fields[name] = _slab(hdf5.node_of(file, path.replace("*", number or "")), options, remarks)
            return _fields(fields, options, remarks, [n for n in options.mapping if n not in fields])
        yield Step(read, None if number is None else int(number))


def _all(file, options):
    import h5py  # pylint: disable=import-outside-toplevel
    nodes = {path: node for path, node in file.walk()
             if isinstance(node, h5py.Dataset) and node.ndim >= MIN_AXES and node.dtype.kind in "iufb"}
    short = {}
    for path in nodes:
        short.setdefault(path.rpartition("/")[2], []).append(path)
    named = {last if len(paths) == 1 else path.replace("/", "_"): nodes[path]
             for last, paths in short.items() for path in paths}
    if not named:
        raise ConvertError(f"has no array with at least {MIN_AXES} axes; available: {listed(file)}")
    requested = {name: node for name, node in named.items() if options.wants(name)}
    remarks = []
    hdf5.check_all(requested.values(), options.slab[1])
    return _fields({name: _slab(node, options, remarks) for name, node in requested.items()}, options, remarks,
                   [name for name in named if name not in requested])


def _slab(node, options, remarks):
    """Returns the first row needed, the values from there on, and the number of rows, or None for a whole array."""
    if options.slab == (0, 1) or getattr(node, "ndim", 0) < MIN_AXES:
        return 0, _meant(node, hdf5.read(node, remarks=remarks), options, remarks), None
    begin, end = part_of(node.shape[0], *options.slab)
    return begin, _meant(node, hdf5.read(node, np.s_[begin:end], remarks, is_slab=True), options, remarks), node.shape[0]


def _meant(node, values, options, remarks):
    about = {key: node.attrs[key] for key in (*PACKED, "_Unsigned") if key in node.attrs}
    if options.stored or not any(key in about for key in PACKED):
        return values
    return cf.unpacked(node.name, values, {key: value.decode() if isinstance(value, bytes) else value for key, value in about.items()},
                       remarks)


def _fields(slabs, options, remarks, others):
    if len({whole for _, _, whole in slabs.values()}) > 1:
        raise ConvertError("arrays differ in shape, but a grid has one shape; choose with --arrays")
    found = Fields({name: values for name, (_, values, _) in slabs.items()}, options=options, remarks=remarks, others=others,
                   is_part=True)
    found.first = list(found.first)
    found.first[found.axes - 1] = next((begin for begin, _, _ in slabs.values()), 0)
    return found


FORMAT = Format("hdf5", "HDF5 arrays, with --map or all of one shape", steps, extensions=(".h5", ".hdf5", ".hdf"),
                modules=hdf5.MODULE, options=("mapping", "origin", "spacing", "stored", "follow_links"), rank=30,
                sniff=lambda head, path: head.startswith(hdf5.MAGIC) and not path.lower().endswith((".nc", ".nc4", ".cdf")))
