# SPDX-License-Identifier: BSD-3-Clause
"""Converts LAMMPS text dumps to .bat files with pvbatch and the writer plugin.

    PV_PLUGIN_PATH=build/lib/paraview-plugins pvbatch convert.py OUTPUT_FOLDER DUMP...

A.00100.dump becomes OUTPUT_FOLDER/A_00100.bat.
"""

import os
import sys
import time

from paraview.simple import Delete, PVTrivialProducer, SaveData
from vtkmodules.util.numpy_support import get_vtk_array_type, numpy_to_vtk
from vtkmodules.vtkCommonCore import vtkPoints
from vtkmodules.vtkCommonDataModel import vtkDataObject, vtkPolyData

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from lammps_dump import Dump


def to_vtk(values, name):
    array = numpy_to_vtk(values, deep=True, array_type=get_vtk_array_type(values.dtype))
    array.SetName(name)
    return array


def to_polydata(dump):
    points = vtkPoints()
    points.SetData(to_vtk(dump.positions, "Points"))
    data = vtkPolyData()
    data.SetPoints(points)
    for name, values in dump.attributes.items():
        data.GetPointData().AddArray(to_vtk(values, name))
    return data


def convert(dump_path, bat_path):
    start = time.perf_counter()
    dump = Dump(dump_path)
    read = time.perf_counter()

    data = to_polydata(dump)
    data.GetInformation().Set(vtkDataObject.DATA_TIME_STEP(), dump.time)
    producer = PVTrivialProducer()
    producer.GetClientSideObject().SetOutput(data, dump.time)
    SaveData(bat_path, proxy=producer)
    Delete(producer)
    if not os.path.exists(bat_path):
        sys.exit(f"error: {bat_path} was not written")
    written = time.perf_counter()

    print(
        f"{dump.step:6} {dump.time:7.2f} {dump.count:11,} {os.path.getsize(dump_path):13,}"
        f" {os.path.getsize(bat_path):13,} {read - start:10.2f} {written - read:10.2f}",
        flush=True,
    )


def main():
    folder, dumps = sys.argv[1], sys.argv[2:]
    print("  step    time   particles    dump bytes     bat bytes     read s    write s")
    for dump_path in dumps:
        stem = os.path.basename(dump_path)[: -len(".dump")].replace(".", "_")
        bat_path = os.path.join(folder, stem + ".bat")
        convert(dump_path, bat_path)


main()
