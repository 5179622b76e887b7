# SPDX-License-Identifier: BSD-3-Clause
"""VTK: .vtp, written with VTK, and .vtkhdf, written with h5py.

Both store the time as field data TimeValue and the step number as `timestep`. A .vtkhdf file is an unstructured grid of
vertices, since ParaView 5.11 does not read PolyData in VTKHDF.
"""

import numpy as np

from .._text import check_xml_names
from ..export import needed
from .source import create_hdf5, hdf5_name, unique_names

VERTEX = 1


def write_vtp_file(source, path):
    needed("vtkmodules.vtkIOXML", "export to .vtp")
    check_xml_names(source.attributes)
    source.has_no_place(".vtp", "units", "periodic box")
    source.has_only_codes(".vtp")
    write_vtp(_poly_data(source), path)


def _poly_data(source):
    """Returns PolyData with a vertex for each particle."""
    # pylint: disable=import-outside-toplevel
    from vtkmodules.util.numpy_support import numpy_to_vtk, numpy_to_vtkIdTypeArray
    from vtkmodules.vtkCommonCore import vtkPoints
    from vtkmodules.vtkCommonDataModel import vtkCellArray, vtkPolyData

    def array(values, name):
        result = numpy_to_vtk(np.ascontiguousarray(values), deep=True)
        result.SetName(name)
        return result
    mesh, points, vertices = vtkPolyData(), vtkPoints(), vtkCellArray()
    points.SetData(numpy_to_vtk(np.ascontiguousarray(source.positions), deep=True))
    numbers = np.arange(source.count + 1, dtype=np.int64)
    vertices.SetData(numpy_to_vtkIdTypeArray(numbers, deep=True), numpy_to_vtkIdTypeArray(numbers[:-1], deep=True))
    mesh.SetPoints(points)
    mesh.SetVerts(vertices)
    for name, values in source.attributes.items():
        mesh.GetPointData().AddArray(array(values, name))
    for name, value in _facts(source):
        mesh.GetFieldData().AddArray(array(value, name))
    return mesh


def _facts(source):
    """Adds field data with one value."""
    if source.time is not None:
        yield "TimeValue", np.array([source.time], np.float64)
    if source.step is not None:
        yield "timestep", np.array([source.step], np.int64)


def write_vtp(mesh, path):
    """Writes PolyData of VTK or PyVista."""
    # pylint: disable=import-outside-toplevel
    from vtkmodules.vtkCommonCore import vtkObject
    from vtkmodules.vtkCommonMisc import vtkErrorCode
    from vtkmodules.vtkIOXML import vtkXMLPolyDataWriter
    # PyVista's save() does not report that a file cannot be written.
    writer = vtkXMLPolyDataWriter()
    writer.SetFileName(path)
    writer.SetInputData(mesh)
    shown = vtkObject.GetGlobalWarningDisplay()
    vtkObject.GlobalWarningDisplayOff()  # VTK prints many lines
    try:
        done = writer.Write()
    finally:
        vtkObject.SetGlobalWarningDisplay(shown)
    code = writer.GetErrorCode()
    if code or not done:  # small codes are those of the operating system
        raise OSError(code if code < vtkErrorCode.FirstVTKErrorCode else None,
                      f"cannot be written: {vtkErrorCode.GetStringFromErrorCode(code)}")


def write_vtkhdf(source, path):
    """Writes VTKHDF: version 2.0 with the group Steps if the dataset has a time, otherwise 1.0."""
    h5py = needed("h5py", "export to VTKHDF")
    source.has_no_place("VTKHDF", "units", "periodic box")
    source.has_only_codes("VTKHDF")
    n = source.count
    with create_hdf5(h5py, path) as file:
        root = file.create_group("VTKHDF")
        root.attrs["Version"] = np.array([1 if source.time is None else 2, 0], np.int64)
        root.attrs.create("Type", np.bytes_("UnstructuredGrid"), dtype=h5py.string_dtype("ascii", 16))
        for name in ("NumberOfPoints", "NumberOfCells", "NumberOfConnectivityIds"):
            root[name] = np.array([n], np.int64)
        root["Points"] = source.positions
        root["Connectivity"], root["Offsets"] = np.arange(n, dtype=np.int64), np.arange(n + 1, dtype=np.int64)
        root["Types"] = np.full(n, VERTEX, np.uint8)
        points = root.create_group("PointData")
        root.create_group("CellData")
        names = unique_names(source, hdf5_name)
        for written, name in names:
            points[written] = source.attributes[name]
        fields = root.create_group("FieldData")
        facts = list(_facts(source))
        for name, value in facts:
            fields[name] = value
        if source.time is not None:
            _write_steps(root.create_group("Steps"), source.time, [written for written, _ in names], [name for name, _ in facts])


def _write_steps(steps, time, names, fields):
    """Adds the group for one step, which begins with the first value of each array."""
    steps.attrs["NSteps"] = np.int64(1)
    steps["Values"] = np.array([time], np.float64)
    steps["NumberOfParts"] = np.ones(1, np.int64)
    for name in ("PartOffsets", "PointOffsets"):
        steps[name] = np.zeros(1, np.int64)
    for name in ("CellOffsets", "ConnectivityIdOffsets"):
        steps[name] = np.zeros((1, 1), np.int64)
    steps.create_group("CellDataOffsets")
    for group, members in (("PointDataOffsets", names), ("FieldDataOffsets", fields)):
        offsets = steps.create_group(group)
        for name in members:
            offsets[name] = np.zeros(1, np.int64)
    sizes = steps.create_group("FieldDataSizes")
    for name in fields:
        sizes[name] = np.ones((1, 2), np.int64)
