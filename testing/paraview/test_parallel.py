"""Two ranks read one file: each its own part of space, together everything. Run by mpirun pvbatch."""
from bat_test import *
from paraview.modules.vtkRemotingCore import vtkProcessModule

ranks = vtkProcessModule.GetProcessModule().GetNumberOfLocalPartitions()
path = sys.argv[1]
N = 20000

reader = OpenDataFile(path)
per_rank = ProgrammableFilter(Input=reader, CopyArrays=1)
per_rank.Script = """
import numpy as np
from vtkmodules.vtkParallelCore import vtkMultiProcessController
rank = vtkMultiProcessController.GetGlobalController().GetLocalProcessId()
output.PointData.append(np.full(inputs[0].GetNumberOfPoints(), rank), "rank")
"""


def owners():
    """Particles on each rank."""
    data = fetch(per_rank)
    return np.bincount(vtk_to_numpy(data.GetPointData().GetArray("rank")), minlength=ranks)


expect(ids(reader), arrays(N)["id"], "the parts add up")
counts = owners()
expect(len(counts), ranks, "ranks")
assert counts.min() > 0.4 * N / ranks, "each rank has its share: %s" % counts
reader.Quality = 0.1
expect(len(ids(reader)), N // 10, "a tenth over all ranks")
assert owners().min() > 0.3 * N / 10 / ranks

# What cannot be written has no writer: images, and anything on several ranks.
refused = [Wavelet()] + ([reader] if ranks > 1 else [])
for source in refused:
    try:
        SaveData(path.replace(".bat", "_refused.bat"), source)
    except (RuntimeError, AttributeError): # ParaView 5.11 stumbles over its own refusal
        continue
    raise AssertionError("%s was written by %d ranks" % (source.GetXMLName(), ranks))
finish()
