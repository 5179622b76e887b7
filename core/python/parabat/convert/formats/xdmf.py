# SPDX-License-Identifier: BSD-3-Clause
"""Particles in XDMF files (versions 2 and 3): the points of grids with their node data, at all times.

A Temporal collection of Grids contains the steps. A Spatial one contains pieces: they are joined if they have the same
attributes, and otherwise become species with their names. Other sibling grids become species. The time is <Time Value>,
or the Time of the collection; the step number is <Information Name="CYCLE" Value="100"/>, if present.
"""

import os
import xml.etree.ElementTree

import numpy as np

from .. import hdf5
from ..blocks import are_alike, join_blocks
from ..model import Collector, ConvertError, Format, Step
from ..xdmf_items import Items

NUMBERS = ("cycle", "step", "timestep")
GEOMETRIES = {"XYZ": 3, "XY": 2}
AXES = {"X_Y_Z": 3, "X_Y": 2}


def steps(path, options):
    try:
        root = xml.etree.ElementTree.parse(path).getroot()
    except (xml.etree.ElementTree.ParseError, ValueError, LookupError) as error:
        raise ConvertError(f"is not XML: {error}") from None
    items = Items(path, root, options)
    domain = root.find("Domain")
    if root.tag != "Xdmf" or domain is None:
        raise ConvertError("is not XDMF: it has no Domain")
    grids = [items.resolve(grid) for grid in domain.findall("Grid")]
    series = [grid for grid in grids if _is_temporal(grid)]
    if not grids or (series and len(grids) > 1):
        raise ConvertError(f"has {len(grids)} grids in its Domain, of which {len(series)} are series; allowed are one series, or "
                           "grids without time")
    if not series:
        times = {_time(grid) for grid in grids} - {None}
        yield _step(grids, times.pop() if len(times) == 1 else None, items, options)
        return
    children = [items.resolve(grid) for grid in series[0].findall("Grid")]
    times = _times_of(series[0], len(children), items)
    for grid, time in zip(children, times):
        own = _time(grid)
        yield _step([grid], time if own is None else own, items, options)


def _is_temporal(grid):
    return _kind(grid) == "collection" and (grid.get("CollectionType") or "").lower() == "temporal"


def _kind(grid):
    return (grid.get("GridType") or "Uniform").lower()


def _time(grid):
    """Returns <Time Value="0.5"/> of a grid or of its first piece, or None."""
    node = grid.find("Time")
    if node is not None and node.get("Value") is not None:
        try:
            return float(node.get("Value"))
        except ValueError:
            raise ConvertError(f"the time '{node.get('Value')[:40]}' is not a number") from None
    child = grid.find("Grid")
    return None if child is None or _kind(grid) == "uniform" else _time(child)


def _times_of(series, count, items):
    """Returns the times that a collection gives for its grids."""
    node = series.find("Time")
    kind = "" if node is None else (node.get("TimeType") or "Single").lower()
    if kind not in ("list", "hyperslab"):
        return [None] * count
    item = node.find("DataItem")
    numbers = items.read(item).reshape(-1).tolist() if item is not None else []
    if kind == "hyperslab" and len(numbers) == 3:
        numbers = [numbers[0] + i * numbers[1] for i in range(int(numbers[2]))]
    if len(numbers) != count:
        raise ConvertError(f"has {len(numbers)} times for {count} grids")
    return [float(number) for number in numbers]


def _number(grid):
    for node in grid.iter("Information"):
        if (node.get("Name") or "").lower() in NUMBERS:
            text = (node.get("Value") or node.text or "").strip()
            if text.lstrip("+-").isdecimal():
                return int(text)
    return None


def _step(grids, time, items, options):
    def read():
        leaves = [leaf for grid in grids for leaf in _leaves(grid, grid.get("Name") or "" if len(grids) > 1 else "", items)]
        found = []
        for i, (name, leaf) in enumerate(leaves):
            found.append((name, _particles(leaf, items, options), f"the grid '{leaf.get('Name') or i}'"))
            options.at((i + 1) / len(leaves))
        if not found:
            raise ConvertError("a step has no grids")
        if not any(name for name, _, _ in found) and not are_alike([(each, where) for _, each, where in found]):
            names = [leaf.get("Name") or f"block_{i}" for i, (_, leaf) in enumerate(leaves)]
            found = [(name, each, where) for name, (_, each, where) in zip(names, found)]
        return join_blocks(found, options)
    return Step(read, _number(grids[0]), time)


def _leaves(grid, name, items):
    """Returns (species or "", Grid with points)."""
    if _kind(grid) == "uniform":
        return [(name, grid)]
    if _is_temporal(grid):
        raise ConvertError("a series of times within a step, which is not supported")
    children = [items.resolve(child) for child in grid.findall("Grid")]
    with_names = _kind(grid) == "tree" and len(children) > 1
    return [leaf for child in children for leaf in _leaves(child, child.get("Name") or name if with_names else name, items)]


def _particles(grid, items, options):
    geometry = grid.find("Geometry")
    if geometry is None:
        raise ConvertError(f"the grid '{grid.get('Name')}' has no Geometry")
    remarks = []
    positions = _positions(items.resolve(geometry), items, remarks)
    collector = Collector(options, len(positions))
    collector.remarks += remarks
    topology = grid.find("Topology")
    topology = None if topology is None else items.resolve(topology)
    kind = "" if topology is None else (topology.get("TopologyType") or topology.get("Type") or "").lower()
    are_vertices = kind == "polyvertex" and _has_one_point_per_cell(topology, len(positions), items)
    if kind != "polyvertex":
        collector.remarks.append(("topology", f"cells are not written, only their points: {kind or 'no topology'}"))
    for node in map(items.resolve, grid.findall("Attribute")):
        _add(node, collector, items, are_vertices)
    about = {"xdmf": {"grid": grid.get("Name")}} if grid.get("Name") else {}
    return collector.particles(positions, about)


def _positions(geometry, items, remarks):
    kind = (geometry.get("GeometryType") or geometry.get("Type") or "XYZ").upper()
    arrays = [items.read(node, remarks) for node in geometry.findall("DataItem")]
    if kind in GEOMETRIES and len(arrays) == 1 and arrays[0].size % GEOMETRIES[kind] == 0:
        array = arrays[0].reshape(-1, GEOMETRIES[kind])
        axes = [array[:, i] for i in range(GEOMETRIES[kind])]
        if len(axes) == 3:
            return array
    elif kind in AXES and len(arrays) == AXES[kind] and len({array.size for array in arrays}) == 1:
        axes = [array.reshape(-1) for array in arrays]
    else:
        shapes = ", ".join(str(array.shape) for array in arrays)
        raise ConvertError(f"a Geometry of type {kind[:30]} with {len(arrays)} DataItems of {shapes}; particles need XYZ, XY, "
                           "X_Y_Z or X_Y")
    if len(axes) == 2:
        axes.append(np.zeros(len(axes[0]), axes[0].dtype))
    return np.stack(axes, axis=1)


def _has_one_point_per_cell(topology, count, items):
    """Returns whether cell i of a polyvertex topology is point i."""
    if (topology.get("NodesPerElement") or "1").strip() != "1":
        return False
    words = (topology.get("NumberOfElements") or topology.get("Dimensions") or str(count)).split()
    if words != [str(count)]:
        return False
    item = topology.find("DataItem")
    return item is None or np.array_equal(items.read(item).reshape(-1), np.arange(count))


def _add(node, collector, items, are_vertices):
    """Adds an Attribute if it has a value for each point."""
    name, center = node.get("Name") or "", (node.get("Center") or "Node").lower()
    if not name:
        collector.leave_out("an attribute", "it has no name")
        return
    if not (center == "node" or (center == "cell" and are_vertices)):
        collector.leave_out(name, f"it is {center} data")
        return
    if not collector.wants(name):
        return
    item = node.find("DataItem")
    try:
        array = None if item is None else items.read(item, collector.remarks)
    except _unreachable() as error:
        collector.leave_out(name, str(error))
        return
    count = collector.count
    if array is None or (array.size % count if count else array.size):
        raise ConvertError(f"'{name}' has {0 if array is None else array.size} values for {count} points")
    width = array.size // count if count else int(np.prod(array.shape[1:]))
    if name in collector.arrays:
        raise ConvertError(f"two attributes are named '{name}'")
    collector.add(name, array.reshape(count) if width == 1 else array.reshape(count, width))


def _unreachable():
    """Returns the error for an array whose link is not followed."""
    from ..hdf5_links import Unreachable  # pylint: disable=import-outside-toplevel
    return Unreachable


def _sniff(head, path):
    return b"<Xdmf" in head and os.path.isfile(path)


FORMAT = Format("xdmf", "particles in XDMF files", steps, extensions=(".xmf", ".xdmf"), modules=hdf5.MODULE,
                options=("follow_links",), sniff=_sniff)
