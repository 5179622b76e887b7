# SPDX-License-Identifier: BSD-3-Clause
"""All ranks write one dataset and read it: each its own region, together everything. Run by mpirun
pvbatch. Arguments: a .bat file, a folder to write to."""
import json
import os

from bat_test import *
from paraview.modules.vtkRemotingCore import vtkProcessModule

ranks = vtkProcessModule.GetProcessModule().GetNumberOfLocalPartitions()
path, folder = sys.argv[1:3]
N = 20000


def check(reader, what):
    check_spread(reader, N, ranks, what)


def leaves_of(name):
    return sorted(os.listdir(name + ".leaves")) if os.path.isdir(name + ".leaves") else []


sample = OpenDataFile(path)
check(sample, "one leaf file")
check_conditions(sample, N, "one leaf file")

# The default: one leaf file per rank, but none below 4 MiB.
one = os.path.join(folder, "parallel_one.bat")
SaveData(one, sample)
expect(leaves_of(one), [], "leaf files of a small dataset")
check(OpenDataFile(one), "written as one leaf file")

several = os.path.join(folder, "parallel.bat")
whole = 2 if ranks > 1 else 0 # an undivided rank makes one file, without a folder
for aggregation, minimum in (("Adaptive", 8), ("At Borders of Ranks", whole),
        ("Uniform Grid of Ranks", whole)):
    SaveData(several, sample, LeafFileSize=0.1, Aggregation=aggregation)
    assert minimum <= len(leaves_of(several)) <= 16, (aggregation, leaves_of(several))
    check(OpenDataFile(several), aggregation)

table = ProgrammableFilter(Input=sample, OutputDataSetType="vtkTable")
table.Script = """
for axis in range(3):
    output.RowData.append(inputs[0].Points[:, axis], "xyz"[axis])
for name in ("id", "mass", "velocity"):
    output.RowData.append(inputs[0].PointData[name], name)
"""
SaveData(several, table, LeafFileSize=0.1)
check(OpenDataFile(several), "a table")

# The proxy reports what the write did.
writer = servermanager.writers.BATWriter(Input=sample, FileName=several, LeafFileSize=0.1)
writer.UpdatePipeline()
writer.UpdatePropertyInformation()
report = json.loads(writer.GetProperty("Report")[0])
expect(report["particles"], N, "particles in the report")
expect(report["ranks"], ranks, "ranks in the report")
expect(report["leaf_files"], len(leaves_of(several)), "leaf files in the report")
assert 0 < report["seconds"]["total"] < 60

# Data that one rank cannot write is written by none, and existing files stay.
before = leaves_of(several)
broken = ProgrammableFilter(Input=sample, CopyArrays=1)
broken.Script = """
import numpy as np
from vtkmodules.vtkParallelCore import vtkMultiProcessController
rank = vtkMultiProcessController.GetGlobalController().GetLocalProcessId()
kind = "f4" if rank == %d else "f8"
output.PointData.append(np.zeros(inputs[0].GetNumberOfPoints(), kind), "kind")
""" % (ranks - 1)
if ranks > 1:
    SaveData(several, broken, LeafFileSize=0.1)
    expect(leaves_of(several), before, "leaf files after a write that failed")
    check(OpenDataFile(several), "after a write that failed")

# Data of other kinds have no writer.
try:
    SaveData(path.replace(".bat", "_refused.bat"), Wavelet())
except (RuntimeError, AttributeError): # ParaView 5.11 fails on its own error
    pass
else:
    raise AssertionError("an image was written")
finish()
