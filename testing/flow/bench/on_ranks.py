# SPDX-License-Identifier: BSD-3-Clause
"""Measures what ranks read of a series that they trace together, and how balanced their work is, as one
line of JSON.

    PV_PLUGIN_PATH=BUILD/lib/paraview-plugins mpiexec -n 8 pvbatch on_ranks.py SERIES [SEEDS]

Seeds form a cube of an eighth of each axis, SEEDS (64,000) in all. Reports the bricks read by all ranks compared with
those needed by a single rank; work is the number of points on lines.
"""

import json
import sys
import time

import numpy as np
from paraview import servermanager
from paraview.simple import *
from vtkmodules.util.numpy_support import vtk_to_numpy

SCRIPT = """
import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk
from vtkmodules.vtkCommonCore import vtkPoints
from vtkmodules.vtkParallelCore import vtkMultiProcessController
points = vtkPoints()
points.SetDataTypeToDouble()
if vtkMultiProcessController.GetGlobalController().GetLocalProcessId() == 0:
    steps = [np.linspace(low, high, {side}) for low, high in {box}]
    places = np.stack(np.meshgrid(*steps[::-1], indexing="ij"), -1).reshape(-1, 3)[:, ::-1]
    points.SetData(numpy_to_vtk(np.ascontiguousarray(places), deep=1))
self.GetOutput().SetPoints(points)
"""
WORK = """
import numpy as np
from vtkmodules.vtkParallelCore import vtkMultiProcessController
rank = vtkMultiProcessController.GetGlobalController().GetLocalProcessId()
output.PointData.append(np.full(inputs[0].GetNumberOfPoints(), rank, "i4"), "rank")
"""


def main():
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 64000
    reader = BricksReader(FileName=sys.argv[1])
    reader.UpdatePipeline()
    bounds = np.array(reader.GetDataInformation().GetBounds()).reshape(3, 2)
    middle, half = bounds.mean(1), (bounds[:, 1] - bounds[:, 0]) / 2
    seeds = ProgrammableSource(OutputDataSetType="vtkPolyData")
    seeds.Script = SCRIPT.format(side=round(count ** (1 / 3)), box=np.stack([middle - half / 8, middle + half / 8], 1).tolist())
    lines = FlowPathLinesWithCustomSource(Input=reader, SeedSource=seeds)
    begin = time.perf_counter()
    lines.UpdatePipeline()
    seconds = time.perf_counter() - begin
    fields = lines.FieldData
    found = {name: int(fields.GetArray(name).GetRange()[0]) for name in
             ("bricks", "bricks_touched", "reads", "prefetched", "bytes_read")}
    work = ProgrammableFilter(Input=lines, CopyArrays=1, Script=WORK)
    of_ranks = np.bincount(vtk_to_numpy(servermanager.Fetch(work).GetPointData().GetArray("rank")))
    print(json.dumps({"ranks": servermanager.vtkProcessModule.GetProcessModule().GetNumberOfLocalPartitions(),
                      "seconds": seconds, "bricks_read": found["reads"] + found["prefetched"], **found,
                      "max_work_over_mean": of_ranks.max() / of_ranks.mean(), "points": int(of_ranks.sum())}))


main()
