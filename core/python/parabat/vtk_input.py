# SPDX-License-Identifier: BSD-3-Clause
"""Reads particles from VTK data sets, with the same results and messages as ParaView's compiled writer.

For the Python plugin; the compiled one is writer_plugin/bat. Independent of files.
"""

import json
import re

import numpy as np
from vtkmodules.util.numpy_support import get_numpy_array_type, vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkBitArray, vtkDataArray, vtkUnsignedCharArray
from vtkmodules.vtkCommonDataModel import (
    vtkCompositeDataSet, vtkDataObject, vtkMultiBlockDataSet, vtkPartitionedDataSet,
    vtkPartitionedDataSetCollection, vtkPointSet, vtkPolyData, vtkTable, vtkUnstructuredGrid)

from .errors import refuse

GHOSTS = "vtkGhostType"
HIDDEN_OR_DUPLICATE = 1 | 2       # point ghost flags
CELL_TO_POINT = {1: 1, 32: 2}     # cell ghost flags: DUPLICATECELL, HIDDENCELL
MAX_COMPONENTS = 9
NAMES_OF_CELLS = {3: "lines", 4: "lines", 5: "triangles", 6: "triangles", 7: "polygons", 8: "quadrilaterals",
                  9: "quadrilaterals", 10: "tetrahedra", 11: "hexahedra", 12: "hexahedra", 13: "wedges",
                  14: "pyramids", 42: "polyhedra"}
USUAL_COLUMNS = [("x", "y", "z"), ("X", "Y", "Z"), *(tuple(usual % i for i in range(3)) for usual in (
    "Points:%d", "Points_%d", "Points[%d]"))]


def _quoted(names):
    return ", ".join(f"'{name}'" if name else "an unnamed array" for name in names) or "none"


def _cannot_be_written(class_name):
    return f"a {class_name} cannot be written; particles are points (vtkPointSet) or rows of a table (vtkTable)"


def _values(array):
    """Returns a VTK array as (n,) or (n, components); bits as bytes."""
    if isinstance(array, vtkBitArray):
        plain = vtkUnsignedCharArray()
    elif array.HasStandardMemoryLayout():
        plain = None
    else:
        plain = vtkDataArray.CreateDataArray(array.GetDataType())
    if plain is not None:
        plain.DeepCopy(array)
    components = array.GetNumberOfComponents()
    shape = (array.GetNumberOfTuples(), components) if components != 1 else (array.GetNumberOfTuples(),)
    if not array.GetNumberOfValues():
        return np.empty(shape, get_numpy_array_type((plain or array).GetDataType()))
    return vtk_to_numpy(plain or array).reshape(shape)


def leaves_of(data, name="", path=""):
    """Yields (data set, block name, path) of what has, or may have, particles, in order."""
    if data is None:
        return
    parts = None
    if isinstance(data, vtkMultiBlockDataSet):
        parts, get, deeper = data.GetNumberOfBlocks(), data.GetBlock, True
    elif isinstance(data, vtkPartitionedDataSetCollection):
        parts, get, deeper = data.GetNumberOfPartitionedDataSets(), data.GetPartitionedDataSet, True
    elif isinstance(data, vtkPartitionedDataSet):
        parts, get, deeper = data.GetNumberOfPartitions(), data.GetPartitionAsDataObject, False
    if parts is not None:
        for i in range(parts):
            about = data.GetMetaData(i) if data.HasMetaData(i) else None
            named = about.Get(vtkCompositeDataSet.NAME()) if about and about.Has(vtkCompositeDataSet.NAME()) else ""
            yield from leaves_of(get(i), named or name, f"{path}/{i}" if deeper else path)
    elif isinstance(data, vtkCompositeDataSet):
        iterator = data.NewIterator()
        iterator.UnRegister(None)
        iterator.InitTraversal()
        while not iterator.IsDoneWithTraversal():
            yield iterator.GetCurrentDataObject(), name, path
            iterator.GoToNextItem()
    else:
        yield data, name, path


def cells_beside_vertices(points):
    """Returns a description."""
    if isinstance(points, vtkPolyData):
        found = {"lines": points.GetNumberOfLines(), "polygons": points.GetNumberOfPolys(),
                 "triangles": points.GetNumberOfStrips()}
        return sorted(name for name, count in found.items() if count)
    if isinstance(points, vtkUnstructuredGrid):
        types = set(_values(points.GetDistinctCellTypesArray()).tolist()) if points.GetNumberOfCells() else set()
        return sorted({NAMES_OF_CELLS.get(kind, f"cells of VTK's type {kind}") for kind in types - {0, 1, 2}})
    return [f"cells of a {points.GetClassName()}"] if points.GetNumberOfCells() else []


def _cell_of_each_point(points):
    """Returns the cell of each point if all cells are vertices; None unless each point is in exactly one cell."""
    count = points.GetNumberOfPoints()
    cells = points.GetVerts() if isinstance(points, vtkPolyData) else getattr(points, "GetCells", lambda: None)()
    members = _values(cells.GetConnectivityArray()) if cells else np.empty(0, int)
    sizes = np.diff(_values(cells.GetOffsetsArray())) if cells else np.empty(0, int)
    if len(members) != count or (sizes == 0).any() or (count and (members.min() < 0 or members.max() >= count)):
        return None
    cell = np.full(count, -1)
    cell[members] = np.repeat(np.arange(len(sizes)), sizes)
    return cell if (cell >= 0).all() else None


def kind_of(leaf):
    if isinstance(leaf, vtkTable):
        return "particles" if leaf.GetNumberOfRows() else "nothing"
    if not isinstance(leaf, vtkPointSet):
        return leaf.GetClassName()
    if cells_beside_vertices(leaf):
        return "grid"
    return "particles" if leaf.GetNumberOfPoints() else "nothing"


def places_of(data):
    """Returns the kinds of leaves, with the paths at which they occur."""
    places = {}
    for leaf, _, path in leaves_of(data):
        places.setdefault(kind_of(leaf), []).append(path)
    return places


def leaves_out_grids(places, ranks):
    """Returns whether grid points are not particles, because the input has other particles. Collective; it fails on all
    ranks if it fails on one."""
    kinds = set(ranks.union(sorted(places)))
    grids, empties = ranks.union(places.get("grid", [])), ranks.union(places.get("nothing", []))
    if "particles" in kinds:
        return True
    if kinds and not {"nothing", "grid"} & kinds:
        refuse(_cannot_be_written(min(kinds)))
    # If one rank has an empty piece of a grid, another has a non-empty piece.
    return {"nothing", "grid"} <= kinds and not set(empties) <= set(grids)


class Remarks:
    """What is not written, each text once, with the first of its blocks."""

    def __init__(self):
        self._found = {}

    def add(self, label, text):
        """label: a block's label, or ""."""
        first, count = self._found.get(text, (label, 0))
        self._found[text] = first, count + 1

    def lines(self):
        """Returns pairs of a text and its message, each reported once."""
        return [(text, (label + (" and others: " if count > 1 else ": ") if label else "") + text)
                for text, (label, count) in self._found.items()]


class Block:
    """The content of a point set or table: positions, attributes by name, and which of its particles are
    kept."""

    def __init__(self, data, label, columns, with_ghosts, remarks):
        self.label, self._where, self._remarks = label, label + ": " if label else "", remarks
        self.attributes, self._with_ghosts = {}, with_ghosts
        if isinstance(data, vtkTable):
            self._of_table(data, columns)
        elif isinstance(data, vtkPointSet):
            self._of_points(data)
        else:
            refuse(self._where + _cannot_be_written(data.GetClassName()))
        self.count = len(self.positions)
        if not with_ghosts and self._marks is not None:
            kept = (self._marks & HIDDEN_OR_DUPLICATE) == 0
            self.count = int(kept.sum())
            self.positions = self.positions[kept]
            self.attributes = {name: values[kept] for name, values in self.attributes.items()}

    def _of_points(self, data):
        count = data.GetNumberOfPoints()
        self.positions = np.empty((0, 3), np.float32)
        if data.GetPoints():
            values = _values(data.GetPoints().GetData())
            name = data.GetPoints().GetData().GetName() or ""
            self.positions = values if values.dtype.kind == "f" else self._from_axes(
                [(values[:, i], name) for i in range(3)], count)
        others, cells, cell_of = cells_beside_vertices(data), data.GetCellData(), None
        if others:
            self._remarks.add(self.label, f"cells are not written, only their points: {', '.join(others)}")
        elif cells.GetNumberOfArrays():
            cell_of = _cell_of_each_point(data)
        self._marks = self._ghosts(data.GetPointData(), count)
        cell_marks = None if cell_of is None else self._ghosts(cells, data.GetNumberOfCells())
        if cell_marks is not None:
            marks = np.zeros(count, np.uint8) if self._marks is None else self._marks.copy()
            for of_cell, of_point in CELL_TO_POINT.items():
                marks[(cell_marks[cell_of] & of_cell) != 0] |= of_point
            self._marks = marks
            if self._with_ghosts:
                self.attributes[GHOSTS] = marks
        self._read(data.GetPointData(), count, set(), None)
        if cell_of is not None:
            self._read(cells, data.GetNumberOfCells(), set(), cell_of)
            return
        lost = [array.GetName() for array in map(cells.GetAbstractArray, range(cells.GetNumberOfArrays()))
                if array.GetNumberOfTuples() and array.GetName() != GHOSTS]
        if lost:
            self._remarks.add(self.label, f"cell data is not written, only point data: {_quoted(lost)}" + (
                "" if others else "; this requires that every point is in exactly one vertex cell"))

    def _of_table(self, data, columns):
        count, rows, used = data.GetNumberOfRows(), data.GetRowData(), set()
        self.positions = np.empty((count, 3), np.float32)
        if rows.GetNumberOfArrays():
            found = self._coordinates(rows, columns)
            self.positions = self._from_axes(
                [one and (self._component(rows, *one), rows.GetAbstractArray(one[0]).GetName()) for one in found], count)
            # If only some components of a column are coordinates, the column is also an attribute.
            used = {one[0] for one in found if one and {(one[0], i) for i in range(
                rows.GetAbstractArray(one[0]).GetNumberOfComponents())} <= set(found)}
        self._marks = self._ghosts(rows, count)
        self._read(rows, count, used, None)

    @staticmethod
    def _component(rows, index, component):
        values = _values(rows.GetAbstractArray(index))
        return values if values.ndim == 1 else values[:, component]

    @staticmethod
    def _ghosts(fields, count):
        array = fields.GetAbstractArray(GHOSTS)
        is_one_each = isinstance(array, vtkUnsignedCharArray) and array.GetNumberOfValues() == count
        return _values(array).reshape(-1) if is_one_each else None

    @staticmethod
    def _from_axes(axes, count):
        """Returns positions from three (values, name), or None for zeros."""
        given = [axis for axis in axes if axis]
        dtype = np.float32 if all(values.dtype == np.float32 for values, _ in given) else np.float64
        positions = np.zeros((count, 3), dtype)
        for i, axis in enumerate(axes):
            if not axis:
                continue
            values, name = axis
            if len(values) != count:
                refuse(f"the coordinates contain {len(values)} values for {count} particles")
            if values.dtype.itemsize == 8 and values.dtype.kind in "iu":
                rounded = _first_rounded(values)
                if rounded is not None:
                    refuse(f"'{name}' is the {'xyz'[i]} of particle {rounded}: {values[rounded]}; coordinates are doubles, which cannot represent this "
                           "integer")
            positions[:, i] = values
        return positions

    def _coordinates(self, rows, columns):
        """Returns (index of the column, component) for x, y and z; None for zeros."""
        names = [rows.GetAbstractArray(i).GetName() for i in range(rows.GetNumberOfArrays())]
        there = "the table has the columns " + ", ".join(f"'{name}'" if name else "an unnamed column" for name in names)

        def column(text, axis):
            """Also returns the problem as text."""
            target = (text, None) if text in names else None
            parts = re.fullmatch(r"(.*)\[([0-9]+)\]", text, re.S)
            if not target and parts and parts[1] in names:
                target = parts[1], int(parts[2])
            if not target:
                return (None, "") if axis == 2 and text == "none" else (None, "the column does not exist")
            index = names.index(target[0])
            array = rows.GetAbstractArray(index)
            if not isinstance(array, vtkDataArray):
                return None, "the column is not numeric"
            components = array.GetNumberOfComponents()
            if (target[1] is None and components != 1) or (target[1] or 0) >= components:
                return None, (f"the column '{target[0]}' has {components} components; specify one, for example '{target[0]}[0]'")
            return (index, target[1] or 0), ""

        chosen = {}
        for axis in range(3):
            text = columns["xyz"[axis]]
            if text:
                chosen[axis], problem = column(text, axis)
                if problem:
                    refuse(f"{self._where}{'XYZ'[axis]}Column is '{text}', but {problem}; {there}")
        for usual in USUAL_COLUMNS:
            found = [(chosen[axis], "") if axis in chosen else column(usual[axis], axis) for axis in range(3)]
            if not any(problem for _, problem in found):
                return [one for one, _ in found]
        return refuse(f"{self._where}choose the coordinate columns (XColumn, YColumn, ZColumn; ZColumn may be 'none'): {there}")

    def _read(self, fields, tuples, used, cell_of):
        """Adds attributes of points or rows, or of cells."""
        of_cells = cell_of is not None
        arrays = [fields.GetAbstractArray(i) for i in range(fields.GetNumberOfArrays())]
        before = set(self.attributes)
        taken = before | {array.GetName() for array in arrays if array.GetName()}
        lost, own = [], set()
        for i, array in enumerate(arrays):
            is_marks = array.GetName() == GHOSTS and isinstance(array, vtkUnsignedCharArray)
            if i in used or (is_marks and not (self._with_ghosts and not of_cells and GHOSTS not in before)):
                continue
            name = array.GetName() or ""
            if not name:
                name = f"{'cell_array_' if of_cells else 'array_'}{i}"
                while name in taken:
                    name += "_"
                taken.add(name)
                self._remarks.add(self.label, f"{'cell array' if of_cells else 'array'} {i} has no name; it is written "
                                              f"as '{name}'")
            if not isinstance(array, vtkDataArray):
                lost.append(f"'{name}' ({array.GetDataTypeAsString()})")
                continue
            what, components = f"{self._where}array '{name}'", array.GetNumberOfComponents()
            if not 1 <= components <= MAX_COMPONENTS:
                refuse(f"{what} has {components} components; allowed are 1 to {MAX_COMPONENTS}")
            if array.GetNumberOfTuples() != tuples:
                refuse(f"{what} holds {array.GetNumberOfTuples()} values for {tuples} "
                       f"{'cells' if of_cells else 'particles'}")
            if name in own:
                refuse(f"{self._where}two arrays are named '{name}'")
            own.add(name)
            if of_cells and name in before:
                of_points, name = name, name + "_cell"
                while name in taken:
                    name += "_"
                taken.add(name)
                self._remarks.add(self.label, f"points and cells both have an array '{of_points}'; the cell array is written as '{name}'")
            values = _values(array)
            self.attributes[name] = values[cell_of] if of_cells else values
        if lost:
            self._remarks.add(self.label, f"non-numeric arrays are not written: {', '.join(lost)}")


def _first_rounded(values):
    """Returns the index of the first 64-bit integer that float64 cannot represent; None if there is
    none."""
    sizes = np.where(values < 0, np.zeros(1, np.uint64) - values.astype(np.uint64), values.astype(np.uint64))
    large = np.flatnonzero(sizes > 2**53)
    odd = sizes[large]
    odd //= odd & (~odd + np.uint64(1))  # without factors of two
    rounded = large[odd > 2**53]
    return int(rounded[0]) if len(rounded) else None


def _schema(block):
    """Returns name, type and components of all columns, positions first with an empty name."""
    return [["", block.positions.dtype.name, 3], *([name, values.dtype.name, values.shape[1] if values.ndim > 1 else 1]
                                                   for name, values in block.attributes.items())]


def check_same(one, other, first, second):
    """Compares the attributes of two schemas, whose origins are called `first` and `second`."""
    def described(dtype, components):
        return dtype if components == 1 else f"{dtype} x {components}"

    ours, theirs = ({name: described(*rest) for name, *rest in schema if name} for schema in (one, other))
    for name, what in ours.items():
        if name not in theirs:
            refuse(f"{second} has no array '{name}', which is {what} in {first}")
        if theirs[name] != what:
            refuse(f"array '{name}' is {theirs[name]} in {second} but {what} in {first}")
    for name, what in theirs.items():
        if name not in ours:
            refuse(f"{first} has no array '{name}', which is {what} in {second}")


def joined(blocks):
    """Returns (particles, schema, columns by name) for all blocks."""
    filled = [block for block in blocks if block.count] or blocks[:1]
    if not filled:
        return 0, [["", "float32", 3]], {"": np.empty((0, 3), np.float32)}
    first = filled[0]
    for other in filled[1:]:
        check_same(_schema(first), _schema(other), first.label, other.label)
    columns = {"": np.concatenate([block.positions for block in filled]) if filled[1:] else first.positions}
    for name, values in first.attributes.items():
        columns[name] = np.concatenate([block.attributes[name] for block in filled]) if filled[1:] else values
    schema = _schema(first)
    schema[0][1] = columns[""].dtype.name
    return sum(block.count for block in filled), schema, columns


def collect_facts(data, leaves, remarks):
    """Returns keyword arguments for parabat.write(): time, step and the file that the particles are a
    sample of."""
    def numbers(one, name):
        array = one.GetFieldData().GetArray(name) if one.GetFieldData() else None
        return _values(array).reshape(-1).tolist() if array else []

    found = {}
    for one in [data, *leaves]:
        if "time" not in found and one.GetInformation().Has(vtkDataObject.DATA_TIME_STEP()):
            found["time"] = one.GetInformation().Get(vtkDataObject.DATA_TIME_STEP())
        for name in ("timestep", "cycle"):
            if "step" not in found and len(numbers(one, name)) == 1:
                found["step"] = int(numbers(one, name)[0])
    for leaf in leaves:
        reported = [numbers(leaf, name) for name in ("quality", "quality_requested", "particle_count")]
        quality, requested, count = (each[0] if len(each) in (1, 2) else -1.0 for each in reported)
        if 0 <= quality < 1 and count >= 0 and "metadata" not in found:
            found["metadata"] = json.dumps({"sample": {"quality": quality, "particle_count": int(count)}})
            if quality < requested:
                remarks.add("", f"only a sample is written, quality {quality:g} of {count:.0f} particles; to write all, set Particle Budget of the BAT "
                                "reader to 0 and wait until it has refined")
    return found
