# SPDX-License-Identifier: BSD-3-Clause
"""Converts VTK point sets to Particles, and reads single VTK files through VTK."""

import contextlib

import numpy as np

from .model import Collector, ConvertError
from .vtk_cells import cell_name, cell_of_each_point

GHOSTS = "vtkGhostType"
DUPLICATE = 1  # ghost mark of points and cells


@contextlib.contextmanager
def messages():
    """Yields a list that collects the messages of VTK instead of printing them."""
    # pylint: disable-next=import-outside-toplevel
    from vtkmodules.vtkCommonCore import vtkLogger, vtkOutputWindow, vtkStringOutputWindow
    reported, found = vtkStringOutputWindow(), []
    before = vtkOutputWindow.GetInstance()
    vtkOutputWindow.SetInstance(reported)
    vtkLogger.SetStderrVerbosity(vtkLogger.VERBOSITY_OFF)
    try:
        yield found
    finally:
        vtkOutputWindow.SetInstance(before)
        vtkLogger.SetStderrVerbosity(vtkLogger.VERBOSITY_INFO)
        text = reported.GetOutput()
        text = " ".join((text.decode("utf-8", "replace") if isinstance(text, bytes) else text).split())
        if text:
            text = text[text.find("):") + 2 if "):" in text else 0:].partition(" ERROR: In ")[0]
            found.append(text[:300].strip())


def read_file(path, module, reader_name, is_empty=False):
    """Returns the point set in a file. is_empty: it has no points, so that warnings of VTK are ignored."""
    from vtkmodules.vtkCommonDataModel import vtkPointSet  # pylint: disable=import-outside-toplevel
    with messages() as reported:
        reader = getattr(__import__("vtkmodules." + module, fromlist=[reader_name]), reader_name)()
        reader.SetFileName(path)
        reader.Update()
        data = reader.GetOutputDataObject(0)
    # Warnings count as errors: some readers only warn about a truncated file.
    if reported and not (is_empty and isinstance(data, vtkPointSet) and data.GetNumberOfPoints() == 0):
        raise ConvertError(f"VTK reports: {reported[0]}")
    if not isinstance(data, vtkPointSet):
        raise ConvertError(f"contains {'a ' + data.GetClassName() if data else 'no data'}; particles are the points of a "
                           "vtkPointSet")
    return data


def read_points(data, options):
    """Returns the Particles of a point set: point data, and the cell data of vertices if each point is in one cell."""
    from vtkmodules.util.numpy_support import vtk_to_numpy  # pylint: disable=import-outside-toplevel
    count = data.GetNumberOfPoints()
    collector = Collector(options, count)
    positions = vtk_to_numpy(data.GetPoints().GetData()) if count else np.empty((0, 3))
    marks = _add_arrays(collector, data.GetPointData(), None)
    keep = None if marks is None else (marks & DUPLICATE) == 0
    cells = data.GetCellData()
    if cells.GetNumberOfArrays():
        cell_of = _vertices(data)
        if cell_of is not None:
            marks = _add_arrays(collector, cells, cell_of)
            if marks is not None:
                keep = ((marks & DUPLICATE) == 0) & (True if keep is None else keep)
        else:
            lost = [cells.GetArrayName(i) for i in range(cells.GetNumberOfArrays()) if cells.GetArrayName(i) != GHOSTS]
            leave_cells_out(collector, lost)
    skip_duplicates(collector, keep)
    return collector.particles(positions if keep is None else positions[keep])


def leave_cells_out(collector, names):
    """Reports cell data that are not written."""
    if names:
        collector.remarks.append(("cells", "cell data is not written, since not every point is in exactly one vertex cell: "
                                           + ", ".join(map(str, names))))


def skip_duplicates(collector, keep):
    """Removes rows that belong to another piece. keep: a boolean for each row, or None."""
    if keep is None or keep.all():
        return
    collector.remarks.append(("ghosts", "points duplicated from other pieces are skipped"))
    collector.count = int(keep.sum())
    collector.arrays = {name: array[keep] for name, array in collector.arrays.items()}


def _add_arrays(collector, fields, cell_of):
    """Adds arrays of points, or of the cells that points are in. Returns the ghost marks of the points, or None."""
    from vtkmodules.util.numpy_support import vtk_to_numpy  # pylint: disable=import-outside-toplevel
    marks, own, of_points = None, set(), set(collector.arrays)
    for i in range(fields.GetNumberOfArrays()):
        array = fields.GetAbstractArray(i)
        name = array.GetName()
        if name == GHOSTS:
            marks = vtk_to_numpy(array)
            marks = marks if cell_of is None else marks[cell_of]
        elif not name:
            collector.leave_out(f"{'' if cell_of is None else 'cell '}array {i}", "it has no name")
        elif not array.IsNumeric():
            collector.leave_out(name, "it contains texts or objects, not numbers")
        elif name in own:
            raise ConvertError(f"two arrays are named '{name}'")
        elif collector.wants(name):
            own.add(name)
            written = name if cell_of is None else cell_name(name, of_points)
            if written != name:
                collector.remarks.append((f"cell {name}", f"points and cells both have an array '{name}'; the cell array is "
                                                          f"written as '{written}'"))
            values = _values(array)
            collector.add(written, values if cell_of is None else values[cell_of])
    return marks


def _values(array):
    """Returns the values of a VTK array; bits become bytes."""
    from vtkmodules.util.numpy_support import vtk_to_numpy  # pylint: disable=import-outside-toplevel
    from vtkmodules.vtkCommonCore import vtkBitArray, vtkUnsignedCharArray  # pylint: disable=import-outside-toplevel
    if isinstance(array, vtkBitArray):
        plain = vtkUnsignedCharArray()
        plain.DeepCopy(array)
        array = plain
    return vtk_to_numpy(array)


def _vertices(data):
    """Returns the cell of each point if all cells are vertices and each point is in one, otherwise None."""
    from vtkmodules.util.numpy_support import vtk_to_numpy  # pylint: disable=import-outside-toplevel
    from vtkmodules.vtkCommonDataModel import vtkPolyData, vtkUnstructuredGrid  # pylint: disable=import-outside-toplevel
    if isinstance(data, vtkPolyData):
        if data.GetNumberOfCells() != data.GetNumberOfVerts():
            return None
        cells = data.GetVerts()
    elif isinstance(data, vtkUnstructuredGrid):
        types = vtk_to_numpy(data.GetCellTypesArray()) if data.GetNumberOfCells() else np.empty(0, np.uint8)
        if not np.isin(types, (1, 2)).all():  # VTK_VERTEX, VTK_POLY_VERTEX
            return None
        cells = data.GetCells()
    else:
        return None
    if not data.GetNumberOfPoints():
        return np.empty(0, np.int64)
    return cell_of_each_point(vtk_to_numpy(cells.GetConnectivityArray()), vtk_to_numpy(cells.GetOffsetsArray()),
                              data.GetNumberOfPoints())
