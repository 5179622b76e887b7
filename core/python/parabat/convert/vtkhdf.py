# SPDX-License-Identifier: BSD-3-Clause
"""Points of VTKHDF files (versions 1 and 2), read with h5py.

The group VTKHDF contains PolyData or an UnstructuredGrid, or groups of them (PartitionedDataSetCollection,
MultiBlockDataSet), which are blocks. The arrays of all steps and pieces are concatenated:

    NumberOfPoints   3 2 4 1          points of each piece
    Points           ...... ....      of all pieces
    Steps/PartOffsets   0 2           the first piece of each step
    Steps/PointOffsets  0 5           its first point
    Steps/PointDataOffsets/id  0 5    the first value of an array; PointOffsets if it is missing
    Steps/Values        0.5 1.5       the times

A file without Steps has one step. Stored types are kept. VTK is not used, since VTK 9.1 in ParaView 5.11 reads neither
PolyData nor Steps.
"""

import functools

import numpy as np

from . import hdf5, vtk_headers
from .blocks import join_blocks
from .model import Collector, ConvertError, Divided, Step, as_json, listed, part_of
from .vtk_cells import cell_name, cell_of_each_point
from .vtk_points import DUPLICATE, GHOSTS, leave_cells_out, skip_duplicates

ROOT = "VTKHDF"
WITH_POINTS = ("PolyData", "UnstructuredGrid", "PointSet")
WITH_BLOCKS = ("PartitionedDataSetCollection", "MultiBlockDataSet")
CELLS = ("Vertices", "Lines", "Polygons", "Strips")  # the order of cell data in PolyData
VERTICES = (1, 2)


def steps(path, options):
    with hdf5.opened(path, options) as file:
        yield from _steps(file, options)


def read_only_step(path, options, facts):
    """Returns the Particles of a file with one step; adds its time and step number to facts."""
    with hdf5.opened(path, options) as file:
        if ROOT not in file:
            raise ConvertError(f"is HDF5 without a group {ROOT}")
        found = list(_steps(file, options))
        if len(found) != 1:
            raise ConvertError(f"has {len(found)} steps, but is listed as the file of one")
        particles = found[0].read()
        if len(particles) != 1:
            raise ConvertError(f"has the blocks {listed(each.species for each in particles)}, but is listed as one of points")
    for key, value in (("time", found[0].time), ("number", found[0].number)):
        if value is not None:
            facts.setdefault(key, value)
    return particles[0]


def _steps(file, options):
    blocks = _blocks(file[ROOT], options)
    times = next((block.times for _, block in blocks if block.times is not None), None)
    root_times = _times(file[ROOT])
    times = times if root_times is None else root_times
    for _, block in blocks:
        if block.times is not None and len(block.times) != len(times):
            raise ConvertError(f"{block.where}: has {len(block.times)} steps, but others have {len(times)}")
    for i in range(1 if times is None else len(times)):
        facts = [block.facts(i) for _, block in blocks]
        time = next((time for time, _ in facts if time is not None), None) if times is None else float(times[i])
        number = next((number for _, number in facts if number is not None), None)
        yield Step(functools.partial(_read, blocks, i, options), number, time,
                   functools.partial(_divided, blocks, i, options) if _has_parts(blocks) else None)


def _has_parts(blocks):
    return len({name for name, _ in blocks}) == len(blocks)


def _read(blocks, i, options):
    return join_blocks([(name, block.read(i, options), block.where) for name, block in blocks], options, len(blocks) > 1)


def _divided(blocks, i, options):
    if any(block.cell_arrays() for _, block in blocks):  # a vertex and its point may be in different parts
        return None
    with_names = len(blocks) > 1 or options.species
    return [Divided(block.size(i, options), functools.partial(block.read_part, i, options, name if with_names else ""),
                    name if with_names else "") for name, block in blocks]


def _text(value):
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _blocks(root, options):
    """Returns (name or "", _Block) for each block with points."""
    kind = _text(root.attrs.get("Type", ""))
    if kind in WITH_POINTS:
        return [("", _Block(root))]
    if kind not in WITH_BLOCKS:
        raise ConvertError(f"{root.name}: is of type {kind or 'unknown'}; particles are the points of {', '.join(WITH_POINTS)}")
    found = []
    for name in root:
        node = root[name]
        if name in ("Assembly", "Steps") or "Type" not in getattr(node, "attrs", ()):
            continue
        kind = _text(node.attrs["Type"])
        if kind in WITH_POINTS:
            found.append((name, _Block(node)))
        else:
            options.notes.setdefault(f"block {name}", f"the block {name} is not written: it is of type {kind}")
    if not found:
        raise ConvertError(f"{root.name}: has no block of type {' or '.join(WITH_POINTS)}")
    found.sort(key=lambda each: int(hdf5.single(each[1].node, "Index", 0)))
    return found if len(found) > 1 else [("", found[0][1])]


def _times(node):
    steps_node = node.get("Steps")
    if steps_node is None or "Values" not in steps_node:
        return None
    values = hdf5.read(hdf5.node_of(steps_node, "Values")).reshape(-1)
    count = hdf5.single(steps_node, "NSteps", len(values))
    if count != len(values):
        raise ConvertError(f"{steps_node.name}: has {count} steps, but {len(values)} times")
    return values


class _Block:
    """A data set with its steps."""

    def __init__(self, node):
        self.node = node
        self.where = node.name
        self.times = _times(node)
        self._steps = node.get("Steps") if self.times is not None else None
        self._counts = self._whole_numbers("NumberOfPoints")
        self._points = hdf5.node_of(node, "Points")
        if len(self._points.shape) != 2 or self._points.shape[1] != 3:
            raise ConvertError(f"{self._points.name}: has shape {self._points.shape}; allowed are (n, 3)")
        if (self._counts > len(self._points)).any():
            raise ConvertError(f"{self.where}/NumberOfPoints: claims {self._counts.max()} points, but Points has {len(self._points)}: the "
                               "file is truncated or damaged")
        fields = node.get("PointData")
        self._fields = {} if fields is None else {name: fields[name] for name in fields}

    def _whole_numbers(self, path, default=None):
        node = self.node.get(path)
        if node is None:
            if default is not None:
                return default
            raise ConvertError(f"{self.where}: has no {path}")
        values = np.atleast_1d(hdf5.read(node))
        if values.dtype.kind not in "iu" or (values.astype(np.int64) < 0).any():
            raise ConvertError(f"{node.name}: must contain non-negative integers")
        return values.astype(np.int64)

    def _of_step(self, path, i, default):
        """Returns a value of the group Steps for step i."""
        if self._steps is None or path not in self._steps:
            return default
        values = self._whole_numbers("Steps/" + path)
        if i >= len(values):
            raise ConvertError(f"{self.where}/Steps/{path}: has {len(values)} values for {len(self.times)} steps")
        return values[i] if values.ndim == 1 else values[i].reshape(-1)

    def _pieces(self, i):
        """Returns the range of pieces of step i."""
        if self._steps is None:
            return 0, len(self._counts)
        steps_count = len(self.times)
        count = int(self._of_step("NumberOfParts", i, max(1, len(self._counts) // steps_count)))
        first = int(self._of_step("PartOffsets", i, i * count if len(self._counts) >= steps_count * count else 0))
        if first + count > len(self._counts):
            raise ConvertError(f"{self.where}/Steps: step {i} has the pieces {first} to {first + count}, but NumberOfPoints has "
                               f"{len(self._counts)}")
        return first, first + count

    def _rows(self, i):
        """Returns the first point and the number of points of step i."""
        first, end = self._pieces(i)
        before = int(self._counts[:first].sum())
        return int(self._of_step("PointOffsets", i, before)), int(self._counts[first:end].sum())

    def facts(self, i):
        """Returns (time, step number) from the field data."""
        fields = self.node.get("FieldData")
        found = {}
        for name in fields if fields is not None else ():
            node = fields[name]
            if name.lower() not in vtk_headers.TIMES + vtk_headers.NUMBERS or not getattr(node, "size", 0):
                continue
            values = hdf5.read(node).reshape(-1)
            place = int(self._of_step(f"FieldDataOffsets/{name}", i, i if self._steps is not None and len(values) > 1 else 0))
            if values.dtype.kind in "iuf" and place < len(values) and (len(values) == 1 or self._steps is not None):
                found[name] = values[place:place + 1]
        return vtk_headers.facts_of(found)

    def cell_arrays(self):
        fields = self.node.get("CellData")
        return [] if fields is None else [name for name in fields if name != GHOSTS]

    def size(self, i, options):
        """Returns the size of a step in memory, in bytes."""
        nodes = [self._points, *(node for name, node in self._fields.items() if options.wants(name))]
        return self._rows(i)[1] * sum(node.dtype.itemsize * int(np.prod(node.shape[1:])) for node in nodes if node.shape)

    def read_part(self, i, options, species, part, count):
        return self.read(i, options, species, (part, count))

    def read(self, i, options, species="", part=(0, 1)):
        """Returns the Particles of step i, or of the part (i, n) of it."""
        first, count = self._rows(i)
        begin, end = part_of(count, *part)
        collector = Collector(options, end - begin)
        positions = self._slice(self._points, first, begin, end, collector)
        if positions.dtype.kind != "f":
            raise ConvertError(f"{self._points.name}: has type {positions.dtype}; allowed are float32 and float64")
        keep = None
        for j, (name, node) in enumerate(self._fields.items()):
            offset = self._data_offset("Point", name, i, first)
            if name == GHOSTS:
                keep = (self._slice(node, offset, begin, end, collector) & DUPLICATE) == 0
            elif collector.wants(name) and self._is_array(node, name, collector):
                collector.add(name, self._slice(node, offset, begin, end, collector), node.name)
            options.at((j + 1) / len(self._fields))
        if part == (0, 1):
            keep = self._add_cells(i, count, collector, keep)
        skip_duplicates(collector, keep)
        return collector.particles(positions if keep is None else positions[keep], self._metadata(), species)

    def _metadata(self):
        about = {name: as_json(self.node.attrs[name]) for name in self.node.attrs if name not in ("Version", "Type", "Index")}
        return {"vtkhdf": about} if about else {}

    @staticmethod
    def _is_array(node, name, collector):
        if getattr(node, "shape", None):
            return True
        collector.leave_out(name, "it is not an array")
        return False

    def _data_offset(self, kind, name, i, default):
        return int(self._of_step(f"{kind}DataOffsets/{name}", i, default))

    @staticmethod
    def _slice(node, first, begin, end, collector):
        if first + end > node.shape[0]:
            raise ConvertError(f"{node.name}: has {node.shape[0]} values, but a step needs those up to {first + end}: the file "
                               "is truncated or damaged")
        return hdf5.read(node, slice(first + begin, first + end), collector.remarks)

    # --- Cell data of vertices

    def _add_cells(self, i, count, collector, keep):
        """Adds cell data if each point is in exactly one vertex cell. Returns which points are kept."""
        fields = self.node.get("CellData")
        if fields is None or not list(fields):
            return keep
        first_cell, cell_of = self._vertices(i, count)
        if cell_of is None:
            leave_cells_out(collector, self.cell_arrays())
            return keep
        taken, cells = set(collector.arrays), int(cell_of.max()) + 1 if count else 0
        for name in fields:
            node = fields[name]
            if not self._is_array(node, name, collector) or not (name == GHOSTS or collector.wants(name)):
                continue
            values = self._slice(node, self._data_offset("Cell", name, i, first_cell), 0, cells, collector)[cell_of]
            if name == GHOSTS:
                keep = ((values & DUPLICATE) == 0) & (True if keep is None else keep)
                continue
            written = cell_name(name, taken)
            if written != name:
                collector.remarks.append((f"cell {name}", f"points and cells both have an array '{name}'; the cell array is "
                                                          f"written as '{written}'"))
            collector.add(written, values, node.name)
        return keep

    def _vertices(self, i, count):
        """Returns the first cell of step i, and the cell of each point relative to it; None unless each point has one cell."""
        is_poly = _text(self.node.attrs["Type"]) == "PolyData"
        prefix = "Vertices/" if is_poly else ""
        first, end = self._pieces(i)
        if prefix + "NumberOfCells" not in self.node:
            return 0, None
        counts = self._whole_numbers(prefix + "NumberOfCells")
        ids = self._whole_numbers(prefix + "NumberOfConnectivityIds")
        cell_offset = np.atleast_1d(self._row("CellOffsets", i, counts[:first].sum()))
        id_offset = np.atleast_1d(self._row("ConnectivityIdOffsets", i, ids[:first].sum()))
        none = np.zeros(1, np.int64)
        if is_poly and any(self._whole_numbers(f"{each}/NumberOfCells", none)[first:end].any() for each in CELLS[1:]):
            return 0, None
        start, at_id, point, members, sizes = int(cell_offset[0]) + first, int(id_offset[0]), 0, [], [0]
        for piece in range(first, end):
            offsets = hdf5.read(self.node[prefix + "Offsets"], slice(start, start + int(counts[piece]) + 1))
            linked = hdf5.read(self.node[prefix + "Connectivity"], slice(at_id, at_id + int(ids[piece])))
            members.append(linked.astype(np.int64) + point)
            sizes += np.diff(offsets.astype(np.int64)).tolist()
            start, at_id = start + int(counts[piece]) + 1, at_id + int(ids[piece])
            point += int(self._counts[piece])
        first_cell = int(cell_offset.sum())
        if not is_poly:
            types = hdf5.read(self.node["Types"], slice(first_cell, first_cell + int(counts[first:end].sum())))
            if not np.isin(types, VERTICES).all():
                return first_cell, None
        return first_cell, cell_of_each_point(np.concatenate(members), np.cumsum(sizes), count)

    def _row(self, path, i, default):
        """Returns a row of an array in Steps, which has a number for each kind of cell."""
        if self._steps is None or path not in self._steps:
            return default
        return hdf5.read(self._steps[path], i).astype(np.int64)
