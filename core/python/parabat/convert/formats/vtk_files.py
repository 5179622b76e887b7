# SPDX-License-Identifier: BSD-3-Clause
"""Points of VTK's files with their data, through VTK where it is installed (that of ParaView, PyVista or the package vtk)."""

import os
import xml.etree.ElementTree

import numpy as np

from ..hdf5 import check_links
from ..model import Collector, ConvertError, Format, Step

READERS = {".vtp": ("vtkIOXML", "vtkXMLPolyDataReader"), ".vtu": ("vtkIOXML", "vtkXMLUnstructuredGridReader"),
           ".vts": ("vtkIOXML", "vtkXMLStructuredGridReader"), ".pvtp": ("vtkIOParallelXML", "vtkXMLPPolyDataReader"),
           ".pvtu": ("vtkIOParallelXML", "vtkXMLPUnstructuredGridReader"), ".vtk": ("vtkIOLegacy", "vtkGenericDataObjectReader"),
           ".vtkhdf": ("vtkIOHDF", "vtkHDFReader")}
DUPLICATE = 1  # of vtkDataSetAttributes


def steps(path, options):
    if not path.lower().endswith(".pvd"):
        yield Step(lambda: [_read(path, options)], time=None)
        return
    try:
        entries = [(float(each.get("timestep", i)), each.get("file"))
                   for i, each in enumerate(xml.etree.ElementTree.parse(path).iter("DataSet"))]
    except (xml.etree.ElementTree.ParseError, ValueError) as error:
        raise ConvertError(f"is not a list of files: {error}") from None
    list_steps = {}
    for time, name in entries:
        file = os.path.join(os.path.dirname(path), name or "")
        if not name or not os.path.isfile(file):
            raise ConvertError(f"lists {name}, which does not exist")
        list_steps.setdefault(time, []).append(file)
    for time in sorted(list_steps):
        yield Step(lambda files=list_steps[time]: [_joined([_read(file, options) for file in files], files)], time=time)


def _joined(parts, files):
    """Particles of the files of one time, which are its parts."""
    filled = [i for i, part in enumerate(parts) if len(part.positions)] or [0]
    first = parts[filled[0]]

    def kinds(part):
        return {name: (array.dtype.name, array.shape[1:]) for name, array in part.attributes.items()}
    for i in filled[1:]:
        if kinds(parts[i]) != kinds(first):
            names = {**kinds(first), **kinds(parts[i])}
            name = next(name for name in names if kinds(first).get(name) != kinds(parts[i]).get(name))
            raise ConvertError(f"{files[i]}: '{name}' is {kinds(parts[i]).get(name, 'not there')}, but "
                               f"{kinds(first).get(name, 'not there')} in {files[filled[0]]}, a part of the same time")
    if filled[1:]:
        first.positions = np.concatenate([parts[i].positions for i in filled])
        first.attributes = {name: np.concatenate([parts[i].attributes[name] for i in filled]) for name in first.attributes}
    for part in parts:
        if part is not first:
            first.remarks += part.remarks
            first.others |= part.others
    return first


def _read(path, options):
    from vtkmodules.vtkCommonCore import vtkLogger, vtkOutputWindow, vtkStringOutputWindow  # pylint: disable=import-outside-toplevel
    from vtkmodules.vtkCommonDataModel import vtkPointSet  # pylint: disable=import-outside-toplevel
    try:
        check_links(path, options)
    except ConvertError as error:
        raise ConvertError(f"{path}: {error}") from None
    module, name = READERS.get(os.path.splitext(path)[1].lower(), (None, None))
    if name is None:
        raise ConvertError(f"{path}: does not end in any of {' '.join(READERS)}")
    reported = vtkStringOutputWindow()
    before = vtkOutputWindow.GetInstance()
    vtkOutputWindow.SetInstance(reported)
    vtkLogger.SetStderrVerbosity(vtkLogger.VERBOSITY_OFF)  # it is said below, once
    try:
        reader = getattr(__import__("vtkmodules." + module, fromlist=[name]), name)()
        reader.SetFileName(path)
        reader.Update()
        data = reader.GetOutputDataObject(0)
    finally:
        vtkOutputWindow.SetInstance(before)
        vtkLogger.SetStderrVerbosity(vtkLogger.VERBOSITY_INFO)
    text = " ".join(reported.GetOutput().split())
    if text:  # also a warning: that is all that some readers have to say of a file that is cut
        raise ConvertError(f"{path}: VTK reports: {text[text.find('):') + 2 if '):' in text else 0:][:300].strip()}")
    if not isinstance(data, vtkPointSet):
        raise ConvertError(f"{path}: is a {data.GetClassName() if data else 'nothing'}; points must be in a vtkPointSet")
    return _particles(data, options)


def _particles(data, options):
    from vtkmodules.util.numpy_support import vtk_to_numpy  # pylint: disable=import-outside-toplevel
    count = data.GetNumberOfPoints()
    collector = Collector(options, count)
    positions = vtk_to_numpy(data.GetPoints().GetData()) if count else np.empty((0, 3))
    keep = None
    attributes = data.GetPointData()
    for i in range(attributes.GetNumberOfArrays()):
        array = attributes.GetAbstractArray(i)
        name = array.GetName()
        if name == "vtkGhostType":
            keep = (vtk_to_numpy(array) & DUPLICATE) == 0
        elif not name:
            collector.leave_out(f"array {i}", "it has no name")
        elif not array.IsNumeric():
            collector.leave_out(name, "it contains texts or objects, not numbers")
        elif name in collector.arrays:
            raise ConvertError(f"two arrays are named '{name}'")
        elif collector.wants(name):
            collector.add(name, vtk_to_numpy(array))
    cells = data.GetCellData()
    lost = [cells.GetArrayName(i) for i in range(cells.GetNumberOfArrays()) if cells.GetArrayName(i) != "vtkGhostType"]
    if lost:
        collector.remarks.append(("cells", f"cell data is not written: {', '.join(map(str, lost))}"))
    if keep is not None and not keep.all():
        collector.remarks.append(("ghosts", "points duplicated from other pieces are skipped"))
        positions = positions[keep]
        collector.count = len(positions)
        collector.arrays = {name: array[keep] for name, array in collector.arrays.items()}
    return collector.particles(positions)


FORMAT = Format("vtk", "points in VTK files", steps, extensions=tuple(READERS) + (".pvd",),
                modules=(("vtkmodules", "vtk", "vtk"),), options=("follow_links",),
                sniff=lambda head, path: path.lower().endswith((*READERS, ".pvd")) and (
                    b"<VTKFile" in head or head.startswith((b"# vtk DataFile", b"\x89HDF"))))
