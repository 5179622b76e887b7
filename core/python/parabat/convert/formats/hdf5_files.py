# SPDX-License-Identifier: BSD-3-Clause
"""Other particles in HDF5: H5Part, H5MD, and any file, with a mapping or by the names of its arrays."""

import contextlib
import re

import numpy as np

from .. import hdf5
from ..model import Collector, ConvertError, Divided, Format, Step, find_positions, listed, part_of

STEP = re.compile(r"Step#(\d+)\Z")


# --- H5Part

def h5part_steps(path, options):
    with hdf5.opened(path, options) as file:
        found = sorted((int(match[1]), name) for name in file for match in [STEP.match(name)] if match)
        for number, name in found:
            group = file[name]
            time = next((hdf5.single(group, key) for key in ("TimeValue", "time", "Time", "TIME") if key in group.attrs),
                        None)
            about = {"h5part": {"file": hdf5.attributes(file), "step": hdf5.attributes(group)}}
            yield Step(lambda group=group, about=about: [_group(group, options, about)], number, time,
                       lambda group=group, about=about: [_divided(group, options, about)])


def _group(group, options, metadata, species="", written=(), part=None):
    """Arrays that lie side by side. written: names of other groups that become species. part: (i, n)."""
    collector = Collector(options)
    names = [name for name in hdf5.datasets(group, collector.remarks, written) if collector.wants(name)]
    if part is None:
        hdf5.check_all(group[name] for name in names)
    for i, name in enumerate(names):
        collector.add(name, _rows(group[name], part, collector.remarks), f"{group.name}/{name}")
        options.at((i + 1) / len(names))
    return collector.particles(None, metadata, species)


def _rows(node, part, remarks):
    """All values of an array, or those of a part (i, n)."""
    if part is None or not node.shape:
        return hdf5.read(node, remarks=remarks)
    return hdf5.read(node, slice(*part_of(len(node), *part)), remarks)


def _divided(group, options, metadata, species="", written=()):
    """The same in parts."""
    names = [name for name in hdf5.datasets(group, [], written) if Collector(options).wants(name)]
    count = None
    for name in names:
        length = len(group[name]) if group[name].shape else "no"
        if count is not None and length != count:
            raise ConvertError(f"{group.name}/{name}: {length} values, but the others have {count}")
        count = length
    return Divided(sum(group[name].size * group[name].dtype.itemsize for name in names), lambda i, n: _group(
        group, options, metadata, species, written, (i, n)), species)


# --- Any

def any_steps(path, options):
    with hdf5.opened(path, options) as file:
        if options.mapping:
            yield from _mapped_steps(file, options)
            return
        groups = _groups_with_positions(file, options)
        written = [group.name for group in groups.values()]

        def made_by(make):
            return lambda: [make(group, options, {"hdf5": hdf5.attributes(group)}, species, written)
                            for species, group in groups.items()]
        yield Step(made_by(_group), divided=made_by(_divided))


def _groups_with_positions(file, options):
    import h5py  # pylint: disable=import-outside-toplevel
    found = []

    for node in [file, *(node for _, node in file.walk() if isinstance(node, h5py.Group))]:
        shapes = {name: each.shape[1:] for name, each in node.items() if isinstance(each, h5py.Dataset) and each.shape}
        with contextlib.suppress(ConvertError):
            if find_positions(shapes, options.columns):
                found.append(node)
    groups = {}
    for node in found:
        species = node.name.strip("/").replace("/", "_")
        if species in groups:
            raise ConvertError(f"the groups {groups[species].name} and {node.name} would both be the species '{species}'; convert one with --map "
                               "positions=PATH")
        groups[species] = node
    if not groups:
        raise ConvertError("no group has positions: arrays named x, y, z, or a position array of three coordinates; specify them with --map "
                           "positions=PATH, or with --columns")
    return {"": next(iter(groups.values()))} if len(groups) == 1 and not options.species else groups


def _mapped_steps(file, options):
    if "positions" not in options.mapping:
        raise ConvertError(f"argument --map: positions is missing; found {listed(options.mapping)}")
    numbers = numbers_of(file, options.mapping)
    for number in [None] if numbers is None else numbers:
        yield Step(lambda number=number: [_mapped(file, number, options)], number and int(number),
                   divided=lambda number=number: [_mapped_divided(file, number, options)])


def numbers_of(file, mapping):
    """What stands for the * in the paths of a mapping, ascending; None if no path has one."""
    numbers = None
    for paths in mapping.values():
        for path in paths:
            if path.count("*") > 1:
                raise ConvertError(f"argument --map: {path} has more than one *")
            if "*" in path:
                found = _numbers(file, path)
                if numbers is not None and found != numbers:
                    other = sorted(set(found) ^ set(numbers))[0]
                    raise ConvertError(f"{path}: its steps differ from those of earlier arrays, such as {other}")
                numbers = found
    return numbers


def _numbers(file, path):
    """What stands for the * in a path, ascending."""
    before, _, after = path.partition("*")
    folder, _, start = before.rpartition("/")
    end, _, rest = after.partition("/")
    pattern = re.compile(re.escape(start) + r"(\d+)" + re.escape(end) + r"\Z")
    parent = file[folder] if folder.strip("/") and folder in file else file
    if folder.strip("/") and folder not in file:
        raise ConvertError(f"{path}: unknown folder {folder}")
    found = [match[1] for name in parent for match in [pattern.match(name)] if match and (
        not rest or rest in parent[name])]
    if not found:
        raise ConvertError(f"{path}: no name in the file matches, with a number for the *")
    return sorted(found, key=int)


def _mapped_divided(file, number, options):
    nodes = [hdf5.node_of(file, path.replace("*", number or "")) for name, paths in options.mapping.items()
             if name == "positions" or options.wants(name) for path in paths]
    lengths = {len(node) if node.shape else -1 for node in nodes}
    if len(lengths) > 1:
        raise ConvertError("argument --map: the arrays have different numbers of values: "
                           + ", ".join(f"{node.name} {node.shape}" for node in nodes))
    return Divided(sum(node.size * node.dtype.itemsize for node in nodes),
                   lambda i, n: _mapped(file, number, options, (i, n)))


def _mapped(file, number, options, part=None):
    collector = Collector(options)
    positions = None
    for name, paths in options.mapping.items():
        if name != "positions" and not options.wants(name):
            collector.others.add(name)
            continue
        arrays = [_rows(hdf5.node_of(file, path.replace("*", number or "")), part, collector.remarks) for path in paths]
        if len({(array.shape, array.dtype) for array in arrays}) > 1:
            raise ConvertError(f"argument --map: the arrays of '{name}' differ in shape or type: "
                               + ", ".join(f"{path} {array.shape} {array.dtype}" for path, array in zip(paths, arrays)))
        array = arrays[0] if len(arrays) == 1 else np.stack(arrays, axis=1)
        if name == "positions":
            positions = array
            collector.count = len(array) if collector.count is None else collector.count
        else:
            collector.add(name, array, f"'{name}' of {', '.join(paths)}")
    return collector.particles(positions, {"hdf5": {"map": options.mapping}})


FORMATS = [
    Format("h5part", "H5Part, including files written by H5hut", h5part_steps, extensions=(".h5part",), modules=hdf5.MODULE,
           options=("columns", "follow_links"), sniff=hdf5.sniffer(lambda file: any(map(STEP.match, file)))),
    Format("hdf5", "any HDF5 file, with --map or by its array names", any_steps, extensions=(".h5", ".hdf5", ".hdf"),
           modules=hdf5.MODULE, options=("columns", "mapping", "follow_links"), rank=30,
           sniff=lambda head, path: head.startswith(hdf5.MAGIC))]
