# SPDX-License-Identifier: BSD-3-Clause
"""Flow in a client of a pvserver with several ranks: path lines, streak surfaces and exponents equal those of the
library, and a missing level leaves nothing. Arguments: the number of ranks, mpiexec, pvserver."""
import parabat.flow
from bat_server import running_server
from idx_grids import *

ranks, mpiexec, pvserver = int(sys.argv[1]), *sys.argv[2:]
N, TIMES = 25, [0, 0.5, 1.25, 2]


BLOCKS = """
import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk
from vtkmodules.vtkCommonDataModel import vtkImageData
from vtkmodules.vtkParallelCore import vtkMultiProcessController
rank = vtkMultiProcessController.GetGlobalController().GetLocalProcessId()
output = self.GetOutput()
output.SetNumberOfBlocks(2)
for block, (first, last) in enumerate(((0, 5), (5, 10))):
    if block % 2 == rank % 2:
        image = vtkImageData()
        image.SetExtent(first, last, 0, 4, 0, 4)
        v = np.zeros((5, 5, last - first + 1, 3), "f4")
        v[..., 0] = 0.1 * np.arange(first, last + 1)
        array = numpy_to_vtk(v.reshape(-1, 3), deep=1)
        array.SetName("U")
        image.GetPointData().AddArray(array)
        output.SetBlock(block, image)
"""
BLOCK_TIMES = """
from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline as Pipeline
info = self.GetOutputInformation(0)
info.Remove(Pipeline.TIME_STEPS())
for time in range(4):
    info.Append(Pipeline.TIME_STEPS(), time)
info.Set(Pipeline.TIME_RANGE(), [0, 3], 2)
"""


def velocity(time):
    x = np.linspace(-1, 1, N)
    z, y, x = np.meshgrid(x, x, x, indexing="ij")
    return np.stack([-y, x * (1 + 0.3 * time), 0.2 * np.sin(3 * x) + 0 * z], -1).astype("f4")


def arrays_of(attributes):
    return {attributes.GetArrayName(i): vtk_to_numpy(attributes.GetArray(i)) for i in range(attributes.GetNumberOfArrays())}


def check(folder, port):
    Connect("127.0.0.1", port)
    path = folder("turn.bricks.series")
    parabat.flow.write_series(path, [(t, velocity(t)) for t in TIMES], origin=(-1, -1, -1), spacing=[2 / (N - 1)] * 3, flush=False)
    flow = parabat.flow.open(path)
    reader = OpenDataFile(path)
    lines = FlowPathLines(Input=reader, SeedType="Line")
    ends = np.array([[0.1, 0, -0.2], [0.6, 0, 0.1]])
    lines.SeedType.Point1, lines.SeedType.Point2, lines.SeedType.Resolution = *ends.tolist(), 12
    seeds = vtk_to_numpy(fetch(lines.SeedType).GetPoints().GetData()).astype("f8")
    data = fetch(lines)
    points, of = vtk_to_numpy(data.GetPoints().GetData()), arrays_of(data.GetCellData())
    expected = flow.path_lines(seeds, keep_faces=True)
    expect(sorted(of["SeedIds"].tolist()), list(range(13)), "seeds")
    for i, seed in enumerate(of["SeedIds"]):
        ids = data.GetCell(i).GetPointIds()
        cell = [ids.GetId(k) for k in range(ids.GetNumberOfIds())]
        expect(points[cell], expected.line(seed), f"line {seed}")

    surface = FlowStreakSurface(Input=reader, SeedType=lines.SeedType)
    surface.MaximumEdge = 0.1
    data = fetch(surface)
    expected = flow.streak_surface(seeds, max_edge=0.1)
    expect(data.GetNumberOfPolys(), len(expected.triangles), "triangles")
    at = arrays_of(data.GetPointData())
    positions = dict(zip(zip(expected.line_places, expected.release_times), expected.positions.tolist()))
    points = vtk_to_numpy(data.GetPoints().GetData())
    for name, point in zip(zip(at["LinePlace"], at["ReleaseTime"]), points.tolist()):
        expect(point, positions[name], f"particle {name}")
    expect(len(set(zip(at["LinePlace"], at["ReleaseTime"]))), len(positions), "particles")

    ftle = FlowFTLE(Input=reader, Dimensions=[9, 8, 7], UseBox=1, Box=[-0.4, 0.4, -0.3, 0.4, -0.2, 0.2], Duration=1.5)
    found = flow.ftle([-0.4, -0.3, -0.2, 0.4, 0.4, 0.2], (9, 8, 7), length=1.5)
    assert not np.isnan(found.exponents).any()
    check_image(ftle, {"FTLE_forward": found.exponents, "FlowMap_forward": found.flow_map, "EndTime_forward": found.end_times},
                (0, 0, 0), (-0.4, -0.3, -0.2), (0.1, 0.1, 0.4 / 6), "exponents", ranks=ranks)

    # Blocks of images, each on one rank; and input that is not an image.
    blocks = ProgrammableSource(OutputDataSetType="vtkMultiblockDataSet", Script=BLOCKS, ScriptRequestInformation=BLOCK_TIMES)
    images = FlowPathLines(Input=blocks, SeedType="Line")
    images.SeedType.Point1, images.SeedType.Point2, images.SeedType.Resolution = [5, 2, 2], [6, 2, 2], 1
    assert abs(fetch(images).GetBounds()[1] - 6 * np.exp(0.3)) < 1e-4, fetch(images).GetBounds()
    images.UpdatePropertyInformation()
    assert images.GetProperty("Summary")[0].startswith("2 lines; "), images.GetProperty("Summary")[0]
    images.Input = Sphere()
    expect(fetch(images).GetNumberOfPoints(), 0, "lines of a sphere")
    images.UpdatePropertyInformation()
    assert images.GetProperty("Summary")[0].startswith("Failed: Input is a vtkPolyData"), images.GetProperty("Summary")[0]
    before = reader.GetDataInformation().GetNumberOfPoints()
    lines.MaximumError = 1e-5
    fetch(lines)
    expect(reader.GetDataInformation().GetNumberOfPoints(), before, "points of the reader after a filter")

    os.remove(folder("turn_0002.bricks"))
    reader.InvokeCommand("Reload")
    for source in (lines, surface, ftle):
        expect(fetch(source).GetPointData().GetNumberOfArrays(), 0, "what is there without a level")


if __name__ == "__main__":
    # This is a separate module, because filter scripts import all names of NumPy into the main one.
    import test_flow_server
    with running_server(mpiexec, ranks, pvserver, client_leaves=False) as port, Folder() as folder:
        test_flow_server.check(folder, port)
    finish()
