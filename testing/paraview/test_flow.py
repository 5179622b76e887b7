# SPDX-License-Identifier: BSD-3-Clause
"""A velocity field in bricks and its path lines in ParaView: equal to the library's traces, whatever is shown, on any
number of ranks; what is read; errors; state files and traces. Run by pvbatch. Arguments: the number of ranks."""
import glob
import json

import parabat.flow
from bat_test import *
from idx_grids import check_image
from paraview import smtrace
from paraview.modules.vtkRemotingCore import vtkProcessModule
from vtkmodules.util.misc import calldata_type
from vtkmodules.util.vtkConstants import VTK_STRING
from vtkmodules.vtkCommonCore import vtkOutputWindow
from vtkmodules.vtkCommonDataModel import vtkDataObject
from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline as Pipeline
from vtkmodules.vtkIOXML import vtkXMLImageDataWriter, vtkXMLMultiBlockDataWriter

ranks = int(sys.argv[1])
expect(vtkProcessModule.GetProcessModule().GetNumberOfLocalPartitions(), ranks, "ranks")
TIMES = [0, 0.25, 0.5, 1]
N, LENGTH = 41, 2 * np.pi
messages = []
window = vtkOutputWindow.GetInstance()


@calldata_type(VTK_STRING)
def keep(_, event, text):
    messages.append(text)


for kind in ("ErrorEvent", "WarningEvent"):
    window.AddObserver(kind, keep)


def reported():
    count = len(messages)
    messages.clear()
    return count


def abc(time):
    x = np.linspace(0, LENGTH, N)
    z, y, x = np.meshgrid(x, x, x, indexing="ij")
    a = np.sqrt(3) + 0.5 * np.sin(np.pi * time)
    v = np.stack([a * np.sin(z) + np.cos(y), np.sqrt(2) * np.sin(x) + a * np.cos(z), np.sin(y) + np.sqrt(2) * np.cos(x)], -1)
    return v.astype("f4")


# Each rank has its share of them.
SEEDS = """
import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk
from vtkmodules.vtkCommonCore import vtkPoints
from vtkmodules.vtkParallelCore import vtkMultiProcessController
controller = vtkMultiProcessController.GetGlobalController()
rank, ranks = controller.GetLocalProcessId(), controller.GetNumberOfProcesses()
positions = np.random.default_rng(1).uniform({low}, {high}, ({count}, 3))
share = slice({count} * rank // ranks, {count} * (rank + 1) // ranks)
points = vtkPoints()
points.SetData(numpy_to_vtk(positions[share], deep=1))
self.GetOutput().SetPoints(points)
colour = numpy_to_vtk(np.arange({count}, dtype="i4")[share] * 3, deep=1)
colour.SetName("colour")
self.GetOutput().GetPointData().AddArray(colour)
"""


def seeds_of(count, low=0.5, high=LENGTH - 0.5):
    source = ProgrammableSource(OutputDataSetType="vtkPolyData")
    source.Script = SEEDS.format(count=count, low=low, high=high)
    source.ScriptRequestInformation = """
from vtkmodules.vtkCommonExecutionModel import vtkAlgorithm
self.GetOutputInformation(0).Set(vtkAlgorithm.CAN_HANDLE_PIECE_REQUEST(), 1)
"""
    return source, np.random.default_rng(1).uniform(low, high, (count, 3))


def arrays_of(attributes):
    return {attributes.GetArrayName(i): vtk_to_numpy(attributes.GetArray(i)) for i in range(attributes.GetNumberOfArrays())}


def field_value(data, name):
    array = data.GetFieldData().GetArray(name)
    return array.GetValue(0)


def cells_of(data):
    """The points of each cell, in the order of the cell data."""
    cells = []
    for i in range(data.GetNumberOfCells()):
        ids = data.GetCell(i).GetPointIds()
        cells.append([ids.GetId(k) for k in range(ids.GetNumberOfIds())])
    return cells


def check_lines(data, reference, releases, what, stop_at=None, show=None):
    """The lines of `reference` from seeds released at `releases`, seed after seed; only those in
    `show`."""
    points = vtk_to_numpy(data.GetPoints().GetData())
    at, of = arrays_of(data.GetPointData()), arrays_of(data.GetCellData())
    found = {}
    for i, cell in enumerate(cells_of(data)):
        found[of["SeedIds"][i], of["ReleaseTime"][i]] = i, cell
    expect(len(found), data.GetNumberOfCells(), what + ": cells are there once")
    count = 0
    for k in range(len(reference)):
        key = k // len(releases), releases[k % len(releases)]
        first, end = reference.offsets[k], reference.offsets[k + 1]
        if first == end or (show is not None and not show[k]):
            assert key not in found, (what, key)
            continue
        i, cell = found[key]
        count += 1
        expect(points.dtype, np.dtype("f8"), "type of positions")
        expect(points[cell], reference.positions[first:end], f"{what}: positions of {key}")
        expect(at["SimulationTime"][cell], reference.times[first:end], f"{what}: times of {key}")
        expect(at["Velocity"][cell], reference.velocities[first:end], f"{what}: velocities of {key}")
        expect(at["ParticleAge"][cell], np.abs(reference.times[first:end] - key[1]), f"{what}: ages of {key}")
        expect(int(of["ReasonForTermination"][i]), int(reference.reasons[k]), f"{what}: end of {key}")
        expect(int(of["colour"][i]), 3 * key[0], f"{what}: array of the seed of {key}")
        assert np.array_equal(of["ArrivalTime"][i], reference.arrivals[k], equal_nan=True), (what, key)
    expect(len(found), count, what + ": lines")


def triangles_of(data):
    """{(line, place, release) of three particles: their positions}."""
    at, points = arrays_of(data.GetPointData()), vtk_to_numpy(data.GetPoints().GetData())
    names = list(zip(at["LineIds"].tolist(), at["LinePlace"].tolist(), at["ReleaseTime"].tolist()))
    return {tuple(names[p] for p in cell): points[cell] for cell in cells_of(data)}


def check_surface(surface, reference, what, time=None, shown=None):
    """The triangles of each line's surface in `reference`, bit by bit, once."""
    data = fetch(surface, time)
    found = triangles_of(data)
    expect(len(found), data.GetNumberOfCells(), what + ": triangles are there once")
    expect(len(found), int(np.sum([len(each.triangles) for each in reference])), what + ": triangles")
    for line, each in enumerate(reference):
        for triangle in each.triangles:
            key = tuple((line, each.line_places[p], each.release_times[p]) for p in triangle)
            expect(found[key], each.positions[triangle], f"{what}: {key}")
    at = arrays_of(data.GetPointData())
    assert np.allclose(np.linalg.norm(at["Normals"], axis=1), 1), what
    if shown is not None:
        expect(at["ParticleAge"], np.abs(shown - at["ReleaseTime"]), what + ": ages")
    expect(field_value(data, "particles"), int(np.sum([each.followed for each in reference])), what + ": particles")
    assert field_value(data, "bricks_touched") >= np.max([each.statistics["touched"] for each in reference])


def check_surfaces(reader, flow, seeds):
    """Streak surfaces of a line, at the end and at the present time, of several lines, of input without
    lines."""
    spacing = LENGTH / (N - 1)
    surface = FlowStreakSurface(Input=reader, SeedType="Line")
    assert abs(surface.MaximumEdge - spacing) < 1e-12, surface.MaximumEdge
    expect((surface.StartTime, surface.EndTime), (0.0, 1.0), "times of a surface")
    surface.SeedType.Point1, surface.SeedType.Point2, surface.SeedType.Resolution = [3, 2, 3], [3, 3, 3.5], 20
    ends = np.array([[3, 2, 3], [3, 3, 3.5]])
    # The line of ParaView's source, whose points are float32.
    line = vtk_to_numpy(fetch(surface.SeedType).GetPoints().GetData()).astype("f8")
    assert np.abs(line - np.linspace(*ends, 21)).max() < 1e-6
    surface.LimitTimes, surface.EndTime = 1, 0.6
    check_surface(surface, [flow.streak_surface(line, 0.6, max_edge=spacing)], "a surface", shown=0.6)
    surface.ShowSurfaceAt = "Present Time"
    for time in (0.1, 0.4):
        check_surface(surface, [flow.streak_surface(line, time, max_edge=spacing)], "the present time", time, time)
    # UpdatePipeline(0) is UpdatePipeline().
    expect(fetch(surface, -1).GetNumberOfPoints(), 0, "points of a surface that begins")
    surface.Direction, surface.StartTime, surface.MaximumEdge = "Backward", 0.3, 0.1
    check_surface(surface, [flow.streak_surface(line, 0.3, start=0.6, max_edge=0.1, backward=True)], "backward", -1)
    expect(reported(), 0, "messages of surfaces")
    assert field_value(fetch(surface, -1), "particles") > 200
    surface.MaximumParticles = 200
    for _ in range(2):
        data = fetch(surface, -1)
        assert 50 < field_value(data, "particles") <= 200 and data.GetNumberOfPolys() > 20
        expect(field_value(data, "is_refined"), 0, "whether it is refined")
    expect(reported(), 1, "warnings of too many particles")
    surface.MaximumParticles = 250000
    expect(field_value(fetch(surface, -1), "is_refined"), 1, "whether it is refined")
    surface.MaximumEdge = 0
    for _ in range(2):
        expect(fetch(surface).GetNumberOfPoints(), 0, "a surface without edges")
    expect(reported(), 1, "errors of edges")
    surface.MaximumEdge = 0.1
    assert fetch(surface, -1).GetNumberOfPoints() > 0

    lines = [Line(Point1=[3, 2, 3], Point2=[3, 3, 3], Resolution=4), Line(Point1=[2, 3, 2], Point2=[3, 3, 3], Resolution=3)]
    custom = FlowStreakSurfaceWithCustomSource(Input=reader, SeedSource=GroupDatasets(Input=lines))
    custom.MaximumEdge, custom.LimitTimes, custom.EndTime = 0.2, 1, 0.5
    each = [vtk_to_numpy(fetch(one).GetPoints().GetData()).astype("f8") for one in lines]
    check_surface(custom, [flow.streak_surface(one, 0.5, max_edge=0.2) for one in each], "two lines", shown=0.5)
    expect(reported(), 0, "messages of lines")
    custom.SeedSource = seeds
    expect(fetch(custom).GetNumberOfPoints(), 0, "a surface of points")
    expect(reported(), 1, "errors of points without lines")
    return surface


def check_steady_exponents(folder, ranks):
    """Lines in a single time level, at any time: particles follow it for any duration, forwards and
    backwards."""
    flow, level = parabat.flow.open(folder("abc_0001.bricks")), OpenDataFile(folder("abc_0001.bricks"))
    bounds, start = list(level.Bounds), TIMES[1]
    ftle = FlowFTLE(Input=level)
    half = LENGTH / 2 / np.linalg.norm(abc(start), axis=-1).max()
    assert abs(ftle.Duration / half - 1) < 1e-5, (ftle.Duration, half)  # before the fastest has crossed half of the domain
    box, points = [2.5, 3.7, 2.5, 3.75, 2.4, 3.9], (13, 9, 11)
    ftle.UseBox, ftle.Box, ftle.Dimensions, ftle.Direction = 1, box, points, "Both"
    for length in (ftle.Duration, 0.7):
        ftle.Duration = length
        arrays = {}
        for way in ("forward", "backward"):
            found = flow.ftle(box[::2] + box[1::2], points, time=start, length=length, backward=way == "backward")
            assert np.isfinite(found.exponents).mean() > 0.9 and np.ptp(found.exponents[np.isfinite(found.exponents)]) > 0.1
            arrays.update({"FTLE_" + way: found.exponents, "FlowMap_" + way: found.flow_map, "EndTime_" + way: found.end_times})
        spacing = [(u - l) / (n - 1) for l, u, n in zip(box[::2], box[1::2], points)]
        for time in (None, 0.9):
            check_image(ftle, arrays, [0] * 3, box[::2], spacing, "exponents of a steady flow", time, ranks)
    if ranks == 1:
        steps = ftle.GetClientSideObject().GetOutputInformation(0)
        expect((steps.Get(Pipeline.TIME_STEPS()), steps.Get(Pipeline.TIME_RANGE())), ((start,), (start, start)), "steady times")
    ftle.Direction, ftle.UseStartTime, ftle.StartTime = "Forward", 1, start + 2
    found = flow.ftle(box[::2] + box[1::2], points, time=start + 2, length=0.7)
    arrays = {"FTLE_forward": found.exponents, "FlowMap_forward": found.flow_map, "EndTime_forward": found.end_times}
    check_image(ftle, arrays, [0] * 3, box[::2], spacing, "exponents of a later start", None, ranks)
    expect(reported(), 0, "messages of exponents of a steady flow")
    for name, right, wrong in (("Duration", 0.7, 0), ("StartTime", start, start - 1)):
        setattr(ftle, name, wrong)
        expect(fetch(ftle).GetPointData().GetNumberOfArrays(), 0, f"steady exponents with {name} {wrong}")
        expect(reported(), 1, f"errors of {name} {wrong}")
        setattr(ftle, name, right)
    assert fetch(ftle).GetNumberOfPoints() > 0 and list(level.Bounds) == bounds
    for proxy in (ftle, level):
        Delete(proxy)
    flow.close()


def check_exponents(reader, flow, ranks):
    """Finite-time Lyapunov exponents in a box, on slices, in the whole domain; at the present time and at another."""
    ftle = FlowFTLE(Input=reader)
    expect((ftle.Duration, ftle.StartTime, list(ftle.Box)), (0.5, 0.0, list(reader.Bounds)), "defaults")
    expect(list(ftle.Dimensions), [201, 201, 1], "nodes at first")
    ftle.UseBox, ftle.Box, ftle.Dimensions, ftle.Duration = 1, [2.5, 3.7, 2.5, 3.75, 2.4, 3.9], [13, 9, 11], 0.25

    def check_box(reference, what, time=None, **others):
        arrays = {}
        for way, found in dict(reference, **others).items():
            arrays.update({"FTLE_" + way: found.exponents, "FlowMap_" + way: found.flow_map, "EndTime_" + way: found.end_times})
        shape = reference[next(iter(reference))].exponents.shape[::-1]
        lower, upper = np.array(list(ftle.Box)[::2]), np.array(list(ftle.Box)[1::2])
        spacing = [(u - l) / (n - 1) if n > 1 else 1 for l, u, n in zip(lower, upper, shape)]
        origin = [l if n > 1 else (l + u) / 2 for l, u, n in zip(lower, upper, shape)]
        check_image(ftle, arrays, [0] * 3, origin, spacing, what, time, ranks)

    def reference(backward=False, time=0.0, length=0.25, points=(13, 9, 11)):
        box = list(ftle.Box)
        return flow.ftle(box[::2] + box[1::2], points, time=time, length=length, backward=backward)

    check_box({"forward": reference()}, "exponents")
    ftle.UpdatePropertyInformation()
    words = ftle.GetProperty("Estimate")[0].split()
    expect((words[:4], words[5:7]), (["reads", "at", "most", "about"], ["of", str(4 * 6 ** 3)]), "an estimate")
    assert ftle.BricksTouched / ranks <= int(words[4]) < 2 * 6 ** 3 + 1, words
    assert reference().statistics["touched"] <= ftle.BricksTouched <= ranks * reference().statistics["touched"]
    expect(field_value(fetch(ftle), "bricks_touched"), ftle.BricksTouched, "bricks in the field data")
    check_box({"forward": reference(time=0.3)}, "exponents of another time", 0.3)

    # The nearest time from which particles can be released, at which they are traced once.
    check_box({"forward": reference(time=0.75)}, "exponents of the last time", 1)
    expect(fetch(ftle, 0.9).GetInformation().Get(vtkDataObject.DATA_TIME_STEP()), 0.75, "time of what is shown")
    if ranks == 1:
        steps = ftle.GetClientSideObject().GetOutputInformation(0)
        expect(steps.Get(Pipeline.TIME_STEPS()), (0, 0.25, 0.5), "times of exponents")
        expect(steps.Get(Pipeline.TIME_RANGE()), (0, 0.75), "range of times of exponents")
    ftle.Direction = "Backward"
    check_box({"backward": reference(True, 0.25)}, "exponents of the first time", 0.1)
    ftle.Direction, ftle.Duration = "Both", 0.5
    check_box({"forward": reference(time=0.5, length=0.5)}, "exponents of the only time", 0.1,
              backward=reference(True, 0.5, 0.5))
    ftle.Duration = 0.25
    ftle.Direction, ftle.UseStartTime, ftle.StartTime = "Both", 1, 0.4
    check_box({"forward": reference(time=0.4)}, "both directions", 0.9, backward=reference(True, 0.4))
    ftle.Direction, ftle.Dimensions, ftle.Duration = "Backward", [13, 1, 11], 0.4
    check_box({"backward": reference(True, 0.4, 0.4, (13, 1, 11))}, "a slice", 0.9)
    ftle.Dimensions, ftle.Box = [13, 9, 11], [2.5, 3.7, 2.5, 3.75, 3, 3]
    check_box({"backward": reference(True, 0.4, 0.4, (13, 9, 11))}, "a flat box", 0.9)
    expect(reported(), 0, "messages of exponents")

    # Where particles leave the domain, there are no exponents, and nothing is drawn.
    ftle.UseBox, ftle.Direction, ftle.Dimensions, ftle.Duration = 0, "Forward", [9, 8, 7], 0.5
    bounds = list(reader.Bounds)
    found = flow.ftle(bounds[::2] + bounds[1::2], (9, 8, 7), time=0.4, length=0.5)
    data = fetch(ftle)
    at = arrays_of(data.GetPointData())
    gone = np.isnan(found.exponents.ravel())
    assert 50 < gone.sum() < 450, gone.sum()
    if ranks == 1:
        assert np.array_equal(at["FTLE_forward"], found.exponents.ravel(), equal_nan=True)
        expect(at["vtkGhostType"] != 0, gone, "hidden nodes")

    # An error is reported once.
    for name, right, wrong in (("Duration", 0.5, 0.7), ("Duration", 0.5, 0), ("StartTime", 0.4, 2), ("Dimensions", [9, 8, 7], [1, 1, 1])):
        setattr(ftle, name, wrong)
        for _ in range(2):
            expect(fetch(ftle).GetPointData().GetNumberOfArrays(), 0, f"exponents with {name} {wrong}")
        expect(reported(), 1, f"errors of {name} {wrong}")
        setattr(ftle, name, right)
    assert fetch(ftle).GetNumberOfPoints() > 0
    ftle.UseBox, ftle.Box = 1, [1, 0, 0, 1, 0, 1]
    expect(fetch(ftle).GetNumberOfPoints(), 0, "exponents of a box the wrong way round")
    expect(reported(), 1, "errors of a box")
    ftle.UseBox = 0
    return ftle


def check_abort(reader):
    """An aborted run is not repeated by the next update, although that requests points which do not
    exist."""
    ftle = FlowFTLE(Input=reader, Dimensions=[31, 30, 1])
    filter = ftle.GetClientSideObject()
    watch = filter.AddObserver("ProgressEvent", lambda *_: filter.SetAbortExecute(1))
    expect(fetch(ftle).GetNumberOfPoints(), 0, "points of an aborted run")
    filter.RemoveObserver(watch)
    for _ in range(2):
        filter.Update()
        expect(filter.GetOutputDataObject(0).GetNumberOfPoints(), 0, "points after an aborted run")
    ftle.UpdatePropertyInformation()
    expect(ftle.Aborted, 1, "aborted")
    expect(ftle.GetProperty("Summary")[0], "Aborted: nothing is shown", "what the panel says")
    filter.Modified()
    ftle.MarkModified(ftle.SMProxy)
    expect(fetch(ftle).GetNumberOfPoints(), 31 * 30, "points of what is tried again")
    expect(reported(), 0, "messages of an aborted run")
    Delete(ftle)


# The field at all requested points; each generated time step adds a line to a file, written by the first rank.
IMAGES = """
import sys
import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk
from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline as Pipeline
from vtkmodules.vtkParallelCore import vtkMultiProcessController
info = self.GetOutputInformation(0)
time = info.Get(Pipeline.UPDATE_TIME_STEP()) if info.Has(Pipeline.UPDATE_TIME_STEP()) else 0
extent = [0] * 6
info.Get(Pipeline.UPDATE_EXTENT(), extent)
n, length = {n}, 2 * np.pi
x = np.linspace(0, length, n)
z, y, x = np.meshgrid(x[extent[4]:extent[5] + 1], x[extent[2]:extent[3] + 1], x[extent[0]:extent[1] + 1], indexing="ij")
a = np.sqrt(3) + 0.5 * np.sin(np.pi * time)
v = np.stack([a * np.sin(z) + np.cos(y), np.sqrt(2) * np.sin(x) + a * np.cos(z), np.sin(y) + np.sqrt(2) * np.cos(x)], -1)
array = numpy_to_vtk(v.astype("{type}").reshape(-1, 3), deep=1)
array.SetName("wind")
image = self.GetOutput()
image.SetExtent(*extent)
image.SetSpacing(length / (n - 1), length / (n - 1), length / (n - 1))
image.GetPointData().AddArray(array)
image.GetInformation().Set(image.DATA_TIME_STEP(), time)
if vtkMultiProcessController.GetGlobalController().GetLocalProcessId() == 0:
    with open("{log}", "a") as file:
        print(time, file=file)
"""
IMAGE_INFORMATION = """
import numpy as np
from vtkmodules.vtkCommonDataModel import vtkDataObject
from vtkmodules.vtkCommonExecutionModel import vtkAlgorithm, vtkStreamingDemandDrivenPipeline as Pipeline
info = self.GetOutputInformation(0)
step = 2 * np.pi / ({n} - 1)
info.Set(Pipeline.WHOLE_EXTENT(), 0, {n} - 1, 0, {n} - 1, 0, {n} - 1)
info.Set(vtkDataObject.SPACING(), step, step, step)
info.Set(vtkDataObject.ORIGIN(), 0, 0, 0)
info.Set(vtkAlgorithm.CAN_PRODUCE_SUB_EXTENT(), 1)
info.Remove(Pipeline.TIME_STEPS())
for time in {times}:
    info.Append(Pipeline.TIME_STEPS(), time)
info.Set(Pipeline.TIME_RANGE(), [{times}[0], {times}[-1]], 2)
"""


def check_images(folder, flow, ranks):
    """Images that are not in bricks: bitwise identical results from whole time steps, each requested about once
    per run."""
    log = folder("steps.txt")

    def images_of(kind="f4"):
        source = ProgrammableSource(OutputDataSetType="vtkImageData")
        source.Script = IMAGES.format(n=N, log=log, type=kind)
        source.ScriptRequestInformation = IMAGE_INFORMATION.format(n=N, times=TIMES)
        return source

    def steps():
        with open(log) as file:
            made = file.read().split()
        os.remove(log)
        return len(made)

    images = images_of()
    source, positions = seeds_of(60)
    lines = FlowPathLinesWithCustomSource(Input=images, SeedSource=source)
    expect((lines.StartTime, lines.EndTime), (0.0, 1.0), "times of images")
    check_lines(fetch(lines), flow.path_lines(positions, keep_faces=True), [0.0], "lines of images")
    expect(reported(), 1, "notes that whole steps are read")
    assert steps() <= len(TIMES) + 2
    lines.Direction, lines.PointsOnFaces = "Backward", 0
    check_lines(fetch(lines), flow.path_lines(positions, 1.0, backward=True), [1.0], "lines of images, backward")
    assert steps() <= len(TIMES) + 2
    lines.Direction, lines.Output = "Forward", "Particles"
    there = fetch(lines, 0.6)
    part = flow.path_lines(positions, end_time=0.6)
    expect(there.GetNumberOfPoints(), int((part.reasons == 8).sum()), "particles of images")

    spacing = LENGTH / (N - 1)
    surface = FlowStreakSurface(Input=images, SeedType="Line")
    surface.SeedType.Point1, surface.SeedType.Point2, surface.SeedType.Resolution = [3, 2, 3], [3, 3, 3.5], 20
    line = vtk_to_numpy(fetch(surface.SeedType).GetPoints().GetData()).astype("f8")
    check_surface(surface, [flow.streak_surface(line, max_edge=spacing)], "a surface of images")
    ftle = FlowFTLE(Input=images, UseBox=1, Box=[2.5, 3.7, 2.5, 3.75, 2.4, 3.9], Dimensions=[13, 9, 11], Direction="Both")
    ftle.Duration, ftle.UseStartTime, ftle.StartTime = 0.25, 1, 0.4
    reference = {}
    for way in ("forward", "backward"):
        found = flow.ftle([2.5, 2.5, 2.4, 3.7, 3.75, 3.9], (13, 9, 11), time=0.4, length=0.25, backward=way == "backward")
        reference.update({"FTLE_" + way: found.exponents, "FlowMap_" + way: found.flow_map, "EndTime_" + way: found.end_times})
    check_image(ftle, reference, [0] * 3, [2.5, 2.5, 2.4], [0.1, 1.25 / 8, 0.15], "exponents of images", None, ranks)
    expect(reported(), 2, "notes that whole steps are read")

    # These inputs are not a velocity.
    lines.Input = images_of("i4")
    expect(fetch(lines, 0.6).GetNumberOfPoints(), 0, "lines of integers")
    expect(reported(), 1, "errors of integers")
    lines.Input = images
    assert fetch(lines, 0.6).GetNumberOfPoints() > 0
    reported()
    for proxy in (lines, surface, ftle):
        Delete(proxy)


# Images of the velocity (0.1 x, 0, 0), which moves a particle from x to x exp(0.1 t); the body determines each rank's
# images.
PARTS = """
import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk
from vtkmodules.vtkCommonDataModel import vtkImageData, vtkPartitionedDataSet, vtkPolyData, vtkRectilinearGrid, vtkUnstructuredGrid
from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline as Pipeline
from vtkmodules.vtkFiltersSources import vtkSphereSource
from vtkmodules.vtkParallelCore import vtkMultiProcessController
controller = vtkMultiProcessController.GetGlobalController()
rank, ranks = controller.GetLocalProcessId(), controller.GetNumberOfProcesses()
info = self.GetOutputInformation(0)
time = info.Get(Pipeline.UPDATE_TIME_STEP()) if info.Has(Pipeline.UPDATE_TIME_STEP()) else 0


def image(first=0, last=10, origin=0.0, spacing=1.0, names=("U",), kind="f4", components=3, cells=False, shift=0):
    made = vtkImageData()
    made.SetExtent(first - shift, last - shift, 0, 4, 0, 4)
    made.SetOrigin(origin + shift * spacing, 0, 0)
    made.SetSpacing(spacing, 1, 1)
    x = origin + spacing * (np.arange(first, last) + 0.5 if cells else np.arange(first, last + 1))
    n = 4 if cells else 5
    v = np.zeros((n, n, len(x), components), kind)
    v[..., 0] = 0.1 * x
    for i, name in enumerate(names):
        array = numpy_to_vtk((v * (1 - i)).reshape(-1, components), deep=1)
        array.SetName(name)
        (made.GetCellData() if cells else made.GetPointData()).AddArray(array)
    return made


output = self.GetOutput()
{body}
output.GetInformation().Set(output.DATA_TIME_STEP(), time)
"""
PART_TIMES = """
from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline as Pipeline
info = self.GetOutputInformation(0)
if self.GetOutput().IsA("vtkImageData"):
    info.Set(Pipeline.WHOLE_EXTENT(), 0, 10, 0, 4, 0, 4)
info.Remove(Pipeline.TIME_STEPS())
for time in range(4):
    info.Append(Pipeline.TIME_STEPS(), time)
info.Set(Pipeline.TIME_RANGE(), [0, 3], 2)
"""


def parts_of(body, kind="vtkMultiblockDataSet", times=PART_TIMES):
    source = ProgrammableSource(OutputDataSetType=kind)
    source.Script = PARTS.format(body=body)
    source.ScriptRequestInformation = times
    return source


def one_image(call):
    return parts_of(f"output.ShallowCopy({call})", "vtkImageData")


def follow(source, count=3, **options):
    """Filters on a source: path lines of seeds at x = 5 and 6, and, from x = 3, a surface and
    exponents."""
    lines = FlowPathLines(Input=source, SeedType="Line", **options)
    lines.SeedType.Point1, lines.SeedType.Point2, lines.SeedType.Resolution = [5, 2, 2], [6, 2, 2], 1
    if count == 1:
        return (lines,)
    surface = FlowStreakSurface(Input=source, SeedType="Line", **options)
    surface.SeedType.Point1, surface.SeedType.Point2, surface.SeedType.Resolution = [5, 1, 2], [5, 3, 2], 2
    surface.MaximumEdge = 1
    exponents = FlowFTLE(Input=source, Dimensions=[5, 4, 1], Duration=1, **options)
    return lines, surface, exponents


def check_followed(source, what, count=1, notes=1, **options):
    """The lines of a steady flow that is the same at all times."""
    proxies = follow(source, count, **options)
    data = fetch(proxies[0])
    ends = sorted(vtk_to_numpy(data.GetPoints().GetData())[cell[-1]][0] for cell in cells_of(data))
    assert np.allclose(ends, np.exp(0.3) * np.array([5, 6]), atol=1e-4), (what, ends)
    if count == 3:
        assert abs(fetch(proxies[1]).GetBounds()[1] - 5 * np.exp(0.3)) < 1e-4, what
        found = arrays_of(fetch(proxies[2]).GetPointData())["FTLE_forward"]
        assert len(found) >= 20 / ranks and np.isfinite(found).sum() > 4, (what, found)
        assert np.allclose(found[np.isfinite(found)], 0.1, atol=1e-3), (what, found)
    assert len(messages) == notes * count, (what, messages)
    messages.clear()
    for proxy in (*proxies, source):
        Delete(proxy)


def check_refused(source, *words, count=1, **options):
    """One error from each filter, with all these words, and nothing is shown."""
    proxies = follow(source, count, **options)
    for proxy in proxies:
        data = fetch(proxy)
        expect(data.GetPointData().GetNumberOfArrays(), 0, f"{proxy.GetXMLName()} of {words}")
        errors = [text for text in messages if "Whole time steps" not in text]
        missing = [word for word in words if not errors or word not in errors[0]]
        assert len(errors) == 1 and not missing, (proxy.GetXMLName(), missing, messages)
        messages.clear()
    for proxy in (*proxies, source):
        Delete(proxy)


def check_parts(folder, ranks):
    """Blocks of one lattice form one image; grids that move and anything else are rejected with a
    reason."""
    check_followed(one_image("image()"), "an image", count=3)
    halves = "output.SetBlock(0, image(0, 5)); output.SetBlock(1, image(5, 10, shift=5))"
    check_followed(parts_of(halves), "two blocks", count=3)
    for body, kind in (("output.SetBlock(0, image())", "vtkMultiblockDataSet"),
                       ("output.SetNumberOfBlocks(5); output.SetBlock(2, vtkImageData()); output.SetBlock(3, image(4, 10)); "
                        "output.SetBlock(4, image(0, 5))", "vtkMultiblockDataSet"),
                       ("output.SetNumberOfBlocks(3)\nfor i in range(rank, 3, ranks):\n"
                        "    output.SetBlock(i, image(3 * i, (4, 7, 10)[i]))", "vtkMultiblockDataSet"),
                       ("if rank == ranks - 1:\n    output.SetBlock(0, image())", "vtkMultiblockDataSet"),
                       ("output.SetNumberOfPartitionedDataSets(2)\nfor i, part in enumerate((image(0, 5), image(5, 10))):\n"
                        "    data = vtkPartitionedDataSet()\n    data.SetPartition(0, part)\n"
                        "    output.SetPartitionedDataSet(i, data)", "vtkPartitionedDataSetCollection")):
        check_followed(parts_of(body, kind), body)

    if ranks == 1:  # files, each with the blocks of one time step
        blocks = parts_of(halves)
        writer = vtkXMLMultiBlockDataWriter()
        writer.SetDataModeToAscii()
        files = [folder(f"halves_{time}.vtm") for time in range(4)]
        for time, file in enumerate(files):
            writer.SetInputDataObject(fetch(blocks, time))
            writer.SetFileName(file)
            writer.Write()
        Delete(blocks)
        check_followed(OpenDataFile(files), "files of blocks", count=3)

        # The series reader gives all images one grid, whatever their files contain.
        words = "of this time step has a grid with origin", "the reader of the series reports"
        for change in ("image(origin=time)", "image(spacing=1 + time)"):
            made = one_image(change)
            made.ScriptRequestInformation = PART_TIMES.replace("0, 10, 0", "0, 20, 0")
            writer = vtkXMLImageDataWriter()
            writer.SetDataModeToAscii()
            files = [folder(f"moved_{time}.vti") for time in range(4)]
            for time, file in enumerate(files):
                writer.SetInputDataObject(fetch(made, time))
                writer.SetFileName(file)
                writer.Write()
            Delete(made)
            reported()
            moved = OpenDataFile(files)
            SaveData(folder("moved.bricks"), proxy=moved, WriteAllTimeSteps=1)
            assert len(messages) == 1 and not [word for word in words if word not in messages[0]], messages
            messages.clear()
            check_refused(moved, "U at time", *words)

    # Grids that move or change, and arrays that are missing later.
    check_refused(one_image("image(origin=time)"), "U at time 1", "time 0", "origin 1 0 0", "origin 0 0 0", count=3)
    check_refused(one_image("image(spacing=1 + time / 4)"), "time 1", "time 0", "spacing 1.25 1 1", "spacing 1 1 1")
    check_refused(one_image("image(last=10 - int(time))"), "time 1", "10 x 5 x 5 points", "11 x 5 x 5 points")
    check_refused(one_image("image(names=('U' if time < 2 else 'V',))"), "U at time 2", "no point array 'U'")
    check_refused(one_image("image(kind='f4' if time < 2 else 'f8')"), "time 2", "type double", "type float")
    check_refused(one_image("image(components=3 if time < 2 else 2)"), "time 2", "2 components", "3 components")
    turn = "made = image()\nif time > 1:\n    made.SetDirectionMatrix(0, 1, 0, 1, 0, 0, 0, 0, 1)\noutput.ShallowCopy(made)"
    check_refused(parts_of(turn, "vtkImageData"), "U at time 2", "direction matrix")
    check_refused(parts_of("output.SetBlock(0, image(0, 5)); output.SetBlock(1, image(5, 10, origin=time))"), "time 1")
    check_refused(parts_of(halves + "\nif time > 0:\n    output.SetBlock(1, None)"), "time 1", "6 x 5 x 5", "11 x 5 x 5")

    # These inputs are not a velocity field on one lattice.
    check_refused(parts_of("output.SetBlock(0, image(0, 4)); output.SetBlock(1, image(6, 10))"), "is missing")
    check_refused(parts_of("output.SetBlock(0, image()); output.SetBlock(1, image(0, 5, spacing=0.5))"), "block 1", "spacing 0.5")
    check_refused(parts_of("output.SetBlock(0, image(0, 5)); output.SetBlock(1, image(5, 10, names=('V',)))"), "block 1", "'U'")
    sphere = "ball = vtkSphereSource()\nball.Update()\n"
    check_refused(parts_of(sphere + "output.SetBlock(0, image()); output.SetBlock(1, ball.GetOutput())"),
                  "block 1", "vtkPolyData", "vtkImageData", count=3)
    check_refused(parts_of("output.SetNumberOfBlocks(2)"), "no points")
    check_refused(parts_of("output.SetBlock(0, image(cells=True))"), "block 0", "Cell Data to Point Data")
    check_refused(one_image("image(cells=True)"), "Cell Data to Point Data")
    check_refused(parts_of(sphere + "output.ShallowCopy(ball.GetOutput())", "vtkPolyData"), "vtkPolyData", "Resample To Image", count=3)
    for kind in ("vtkUnstructuredGrid", "vtkRectilinearGrid", "vtkTable"):
        check_refused(parts_of("pass", kind), kind, "vtkImageData")

    # Several arrays: the property, else the vectors, else the first, which is reported.
    check_followed(one_image("image(names=('U', 'rest'))"), "a chosen array", Vectors=["POINTS", "U"])
    check_followed(one_image("image(names=('U', 'rest'))"), "no choice", notes=2)
    check_followed(one_image("image(components=2)"), "two components")
    check_refused(one_image("image()"), "no point array 'W'", Vectors=["POINTS", "W"])
    check_refused(one_image("image()"), "Cell Data to Point Data", Vectors=["CELLS", "U"])
    still = FlowPathLines(Input=one_image("image(names=('U', 'rest'))"), SeedType="Line", Vectors=["POINTS", "rest"])
    still.SeedType.Point1, still.SeedType.Point2, still.SeedType.Resolution = [5, 2, 2], [6, 2, 2], 1
    assert abs(fetch(still).GetBounds()[1] - 6) < 1e-12
    reported()
    Delete(still)

def check_reader(folder, ranks):
    """Bricks show the whole domain, also when filters read them; level files form a series."""
    n, times = (20, 12, 9), [0, 0.5, 2]
    z, y, x = np.meshgrid(*(np.arange(count) for count in n[::-1]), indexing="ij")
    v = np.stack([0.25 + 0.01 * x, 0.02 * y, 0 * z], -1)
    v[8], v[:, 8:, 16:] = np.nan, np.nan
    path = folder("short.bricks.series")
    parabat.flow.write_series(path, [(time, v * (1 + time)) for time in times], origin=(1, 2, 3), spacing=(0.5, 1, 2), flush=False)
    domain = [1, 10.5, 2, 13, 3, 19]
    reader = OpenDataFile(path)

    def check_bounds(what):
        assert np.allclose(reader.GetDataInformation().GetBounds(), domain, atol=1e-12), (what, reader.GetDataInformation().GetBounds())

    if ranks == 1:
        data = fetch(reader)
        check_bounds("the domain")
        expect(data.GetDimensions(), (4, 3, 2), "points of a preview")
        preview = vtk_to_numpy(data.GetPointData().GetArray(0)).reshape(2, 3, 4, 3)
        at = np.arange(4) * 19 / 3
        # Along x up to the first points of the last bricks, and beyond them.
        assert np.allclose(preview[0, 0, :, 0], 0.25 + 0.01 * np.minimum(at, 16)), preview[0, 0, :, 0]
        assert np.allclose(preview[0, :, 0, 1], 0.02 * np.minimum(np.arange(3) * 5.5, 8)), preview[0, :, 0, 1]
        assert np.isnan(preview[1]).all()
        # Closer to points without flow than to others.
        expect(np.isnan(preview[0, ..., 2]), (np.arange(4) > 1) & (np.arange(3)[:, None] > 0), "points without flow")

    # The previous image stays, because the request is for an empty one.
    lines = FlowPathLines(Input=reader, SeedType="Line")
    lines.SeedType.Point1, lines.SeedType.Point2, lines.SeedType.Resolution = [2, 3, 4], [3, 9, 15], 5
    Show(reader)
    fetch(reader, 2)
    before = reader.GetDataInformation().GetNumberOfPoints()
    check_bounds("before a filter")
    for change in range(3):
        lines.MaximumError = 1e-5 / (change + 1)
        reference = vtk_to_numpy(fetch(lines).GetPoints().GetData())
        check_bytes_read(lines)
        assert change or lines.BytesRead > 0
        expect(reader.GetDataInformation().GetNumberOfPoints(), before, "points of the reader after a filter")
        check_bounds("after a filter")
        if ranks == 1 and change == 1:
            ReloadFiles(reader)
    other = FlowPathLines(Input=reader, SeedType="Line")
    ends = np.array([list(other.SeedType.Point1), list(other.SeedType.Point2)])
    assert (ends >= np.array(domain)[::2] - 1e-9).all() and (ends <= np.array(domain)[1::2] + 1e-9).all(), ends
    assert np.ptp(ends, axis=0).max() > 1, ends
    expect(reported(), 0, "messages of a reader")

    # The texts of the panel.
    lines.UseDestination, lines.Destination = 1, [3, 10.5, 2, 13, 3, 19]
    data = fetch(lines)
    text = summary(lines)
    arrive = field_value(data, "particles_that_arrive")
    words = f"6 lines, {arrive} arrive; {lines.BricksTouched:,} of {3 * 3 * 2 * 2} bricks"
    assert 0 < arrive < 6 + 1 and text.startswith(words), (words, text)
    check_bytes_read(lines)
    lines.UseDestination = 0

    # Colours of the first time apply to all.
    for show in ("Particles", "Streak Lines"):
        lines.Output = show
        for time in (1e-9, 0.5):
            fetch(lines, time)
            points = lines.GetDataInformation().GetPointDataInformation()
            expect(points.GetArrayInformation("ParticleAge").GetComponentRange(0), (0, 2), f"range of the age of {show}")
            expect(points.GetArrayInformation("SimulationTime").GetComponentRange(0), (0, 2), f"range of the time of {show}")
    lines.Output = "Path Lines"

    # Level files, as grouped by a dialog.
    files = [folder(f"short_{i:04d}.bricks") for i in range(3)]
    group = OpenDataFile(files)
    expect(list(group.TimestepValues), times, "times of files")
    lines.Input = group
    expect(vtk_to_numpy(fetch(lines).GetPoints().GetData()), reference, "lines of files")
    expect(reported(), 0, "messages of files")
    group.FileName = files[::-1]
    fetch(group)
    assert len(messages) == 1 and "times must increase" in messages[0] and "short_0001" in messages[0], messages
    reported()
    for proxy in (other, lines, group, reader):
        Delete(proxy)


def check_release_times(flow, reader):
    """Seeds with their own times release their particles then; seeds outside of the times release none."""
    source, positions = seeds_of(40)
    own = np.random.default_rng(5).uniform(-0.2, 1.2, 40)
    own[7] = np.nan
    source.Script = source.Script[:-1] + """
own = np.random.default_rng(5).uniform(-0.2, 1.2, 40)
own[7] = np.nan
times = numpy_to_vtk(own[share], deep=1)
times.SetName("ReleaseTime")
self.GetOutput().GetPointData().AddArray(times)
"""
    lines = FlowPathLinesWithCustomSource(Input=reader, SeedSource=source)
    inside = (own >= 0) & (own <= 1)

    def check_own(later, what, **options):
        """`later`: from a seed's time, the times of all its particles."""
        data = fetch(lines)
        points, of = vtk_to_numpy(data.GetPoints().GetData()), arrays_of(data.GetCellData())
        found = {(of["SeedIds"][i], of["ReleaseTime"][i]): points[cell] for i, cell in enumerate(cells_of(data))}
        names = [(seed, time) for seed in np.flatnonzero(inside) for time in later(own[seed])]
        reference = flow.path_lines(positions[[seed for seed, _ in names]], [time for _, time in names], keep_faces=True, **options)
        expect(set(found), set(names), what)
        expect(field_value(data, "particles"), len(names) + int((~inside).sum()), what + ": particles")
        expect(field_value(data, "particles_without_line"), int((~inside).sum()), what + ": seeds outside of the times")
        for i, name in enumerate(names):
            expect(found[name], reference.line(i), f"{what}: {name}")
        assert len(messages) == 1 and f"{(~inside).sum()} of 40 seeds have no line" in messages[0], messages
        messages.clear()

    check_own(lambda time: [time], "released at a time of their own")
    lines.Release = "At Each Time Step"
    check_own(lambda time: [time, *(t for t in TIMES if t > time)], "and at each time step")
    lines.Release, lines.ReleaseInterval, lines.Direction = "At Intervals", 0.2, "Backward"
    check_own(lambda time: [time - i * 0.2 for i in range(6) if time - i * 0.2 >= 0], "at intervals, backward", backward=True)
    lines.Output, lines.Direction, lines.Release = "Streak Lines", "Forward", "Once"
    at = arrays_of(fetch(lines, 0.5).GetPointData())
    assert len(at["ReleaseTime"]) and set(at["ReleaseTime"].tolist()) <= {*own[inside].tolist(), *TIMES}, at["ReleaseTime"]
    messages.clear()
    lines.Output, lines.MaximumAge = "Path Lines", 0.3
    check_own(lambda time: [time], "with a greatest age", max_age=0.3)
    assert 12 in arrays_of(fetch(lines).GetCellData())["ReasonForTermination"]
    messages.clear()
    lines.MaximumAge, lines.UseReleaseTimes = 0, 0
    check_lines(fetch(lines), flow.path_lines(positions, keep_faces=True), [0.0], "times that are not used")
    boxes = np.array([[2, 2, 1, 3.5, 3.5, 5], [4, 4, 0, 6, 6, 6], [0, 0, 0, 1.5, 1.5, 6]], float)
    lines.UseDestination, lines.Destination = 1, np.reshape([boxes[0, :3], boxes[0, 3:]], (2, 3)).T.ravel().tolist()
    lines.MoreDestinations = np.concatenate([np.reshape([box[:3], box[3:]], (2, 3)).T.ravel() for box in boxes[1:]]).tolist()
    reference = flow.path_lines(positions, keep_faces=True, destination=boxes)
    data = fetch(lines)
    check_lines(data, reference, [0.0], "several destinations")
    of = arrays_of(data.GetCellData())
    expect(of["Destination"], reference.destinations[of["SeedIds"]].astype("i4"), "destinations")
    expect(set(of["Destination"].tolist()), {-1, 0, 1, 2}, "destinations that are reached")
    expect(reported(), 0, "messages of times that are not used, and of destinations")
    lines.MaximumAge = -1
    expect(fetch(lines).GetNumberOfPoints(), 0, "lines of an age below 0")
    expect(reported(), 1, "errors of an age")
    expect(summary(lines), "Failed: Maximum Age is -1; allowed: 0, which means no limit, or above", "words of an age")
    lines.MaximumAge, lines.Release, lines.ReleaseInterval = 0, "At Intervals", 0
    fetch(lines)
    assert summary(lines).startswith("Failed: Release Interval is 0;"), summary(lines)
    lines.Release, lines.LimitTimes, lines.StartTime, lines.EndTime = "Once", 1, 1, 0
    fetch(lines)
    assert summary(lines).startswith("Failed: Start Time is 1 and End Time 0;"), summary(lines)
    expect(reported(), 2, "errors of times")
    Delete(lines)


def summary(lines):
    """The panel's text."""
    lines.UpdatePropertyInformation()
    return lines.GetProperty("Summary")[0]


def check_bytes_read(lines):
    """The panel shows them in a suitable unit."""
    text = summary(lines)
    number, unit, read = text.split()[-3:]
    found = float(number) * 1024 ** ("bytes", "KiB", "MiB").index(unit)
    assert read == "read" and abs(found - lines.BytesRead) <= 0.01 * lines.BytesRead, (text, lines.BytesRead)


def lengths(data):
    """The lines of each seed, combined."""
    points, seeds = vtk_to_numpy(data.GetPoints().GetData()), arrays_of(data.GetCellData())["SeedIds"]
    found = {}
    for seed, cell in zip(seeds.tolist(), cells_of(data)):
        found[seed] = found.get(seed, 0) + np.linalg.norm(np.diff(points[cell], axis=0), axis=1).sum()
    return found


def check_wrap(folder):
    """Lines shown across cyclic axes stay within the domain and keep their length."""
    spacing = LENGTH / (N - 1)
    parabat.flow.write_series(folder("round.bricks.series"), [(time, 4 * abc(time)[:-1, :-1, :-1]) for time in TIMES],
                              spacing=[spacing] * 3, cyclic=True)
    source, positions = seeds_of(40)
    lines = FlowPathLinesWithCustomSource(Input=OpenDataFile(folder("round.bricks.series")), SeedSource=source)
    for show, time in (("Path Lines", 0), ("Path Lines Up To The Present Time", 0.6), ("Streak Lines", 1)):
        lines.Output, lines.WrapAtCyclicBorders = show, 0
        whole = fetch(lines, time)
        ends = np.reshape(whole.GetPoints().GetBounds(), (3, 2))
        assert ends.min() < -1 and ends.max() > LENGTH + 1, ends
        lines.WrapAtCyclicBorders = 1
        cut = fetch(lines, time)
        points = vtk_to_numpy(cut.GetPoints().GetData())
        assert (points >= 0).all() and (points <= LENGTH * (1 + 1e-15)).all(), cut.GetPoints().GetBounds()
        assert cut.GetNumberOfCells() > whole.GetNumberOfCells() + 40, show
        found, reference = lengths(cut), lengths(whole)
        expect(set(found), set(reference), show + ": seeds")
        assert np.allclose([found[seed] for seed in reference], list(reference.values()), rtol=1e-12), show
        for name, values in arrays_of(whole.GetPointData()).items():
            of_cut = arrays_of(cut.GetPointData())[name]
            assert len(of_cut) == len(points), name
            if name != "ArrivalTime":  # outside of any destination
                assert of_cut.min() >= values.min() and of_cut.max() <= values.max(), name
    lines.Output, lines.WrapAtCyclicBorders = "Particles", 0
    whole = fetch(lines, 1)
    lines.WrapAtCyclicBorders = 1
    at = vtk_to_numpy(fetch(lines, 1).GetPoints().GetData())
    turns = (vtk_to_numpy(whole.GetPoints().GetData()) - at) / LENGTH
    assert (np.abs(turns - turns.round()) < 1e-12).all() and np.abs(turns).max() > 0.9, turns
    assert (at >= 0).all() and (at < LENGTH).all(), at
    Delete(lines)


def check_growing(folder, ranks):
    """A series that grows while it is open: lines continue as in one run, unless a file was replaced."""
    times = np.linspace(0, 1, 7).tolist()
    full, path = folder("full.bricks.series"), folder("grow.bricks.series")
    parabat.flow.write_series(full, [(time, abc(time)) for time in times], spacing=[LENGTH / (N - 1)] * 3, flush=False)
    entries = json.load(open(full))["files"]

    def grow(count):
        with open(path + ".new", "w") as file:
            json.dump({"file-series-version": "1.0", "files": entries[:count]}, file)
        os.replace(path + ".new", path)

    grow(4)
    reader = OpenDataFile(path)
    source, positions = seeds_of(40)
    lines = FlowPathLinesWithCustomSource(Input=reader, SeedSource=source)

    def run(count, what, release="Once"):
        flow = parabat.flow.open(path)
        releases = times[:count] if release != "Once" else [0.0]
        data = fetch(lines)
        repeated = np.repeat(positions, len(releases), 0)
        reference = flow.path_lines(repeated, releases * 40, keep_faces=True)
        check_lines(data, reference, releases, what)
        expect(field_value(data, "particles"), 40 * len(releases), what + ": particles")
        return field_value(data, "bricks_touched"), reference.statistics["touched"]

    run(4, "a series that grows")
    grow(6)
    fetch(lines)
    ReloadFiles(reader)
    expect(list(reader.TimestepValues), times[:6], "times after reloading")
    touched, whole = run(6, "lines that go on")
    assert touched < 0.7 * ranks * whole, (touched, whole)
    ReloadFiles(reader)
    run(6, "nothing new")
    lines.Release = "At Each Time Step"
    run(6, "released at each time step", "all")
    grow(7)
    ReloadFiles(reader)
    touched, whole = run(7, "releases that go on", "all")
    assert touched < 0.6 * ranks * whole, (touched, whole)
    lines.Release, lines.Direction = "Once", "Backward"
    fetch(lines)
    grow(6)
    ReloadFiles(reader)
    lines.Direction = "Forward"
    run(6, "a series that has become shorter")

    # The traced values are no longer in the files.
    parabat.flow.write_series(
        full, [(time, abc(time + 0.5)) for time in times], spacing=[LENGTH / (N - 1)] * 3, flush=False, replace=True)
    grow(7)
    ReloadFiles(reader)
    touched, whole = run(7, "files that were replaced")
    assert touched >= whole, (touched, whole)
    expect(reported(), 0, "messages of a series that grows")
    for proxy in (lines, source, reader):
        Delete(proxy)


def check_hints(folder, ranks):
    """Runs that learn leave a file, from which later runs with new readers prefetch; lines do not
    change."""
    path, hints = folder("hinted.bricks.series"), folder("hinted.bricks.hints")
    parabat.flow.write_series(path, ((time, abc(time)) for time in TIMES), spacing=[LENGTH / (N - 1)] * 3, flush=False)
    reader = OpenDataFile(path)
    source, positions = seeds_of(200)
    lines = FlowPathLinesWithCustomSource(Input=reader, SeedSource=source)
    surface = FlowStreakSurface(Input=reader, SeedType="Line")
    surface.SeedType.Point1, surface.SeedType.Point2, surface.SeedType.Resolution = [2, 2, 2], [2, 4, 2], 4
    exponents = FlowFTLE(Input=reader, Dimensions=[7, 6, 1], UseBox=1, Box=[1, 4, 1, 4, 3, 3])
    reference = parabat.flow.path_lines(path, positions, keep_faces=True)

    def hinted():
        data = fetch(lines)
        check_lines(data, reference, [0.0], "lines with hints")
        counts = [field_value(data, "hinted"), field_value(data, "hints_used")]
        lines.UpdatePropertyInformation()
        expect([lines.BricksHinted, lines.HintsUsed], counts, "hints in the panel")
        assert counts[1] <= counts[0] <= field_value(data, "prefetched"), counts
        return counts[0]
    expect(lines.Hints, "Read", "hints at first")
    expect(hinted(), 0, "hints that nobody has learned")
    triangles, nodes = triangles_of(fetch(surface, -1)), arrays_of(fetch(exponents).GetPointData())
    assert not os.path.exists(hints), "a file of who does not learn"
    sizes = []
    for proxy in (lines, surface, exponents):
        proxy.Hints = "Learn"
        fetch(proxy)
        sizes.append(os.path.getsize(hints))
    assert 64 < sizes[0] < sizes[1] < sizes[2], sizes
    for mode, has_some in (("Read", True), ("Off", False)):
        for proxy in (lines, surface, exponents):
            proxy.Hints = mode
        reader.CacheSize = 100 + has_some  # drops bricks from memory
        lines.TerminalSpeed = 1e-9 * has_some
        assert (hinted() > 0) == has_some, mode
        expect(set(triangles_of(fetch(surface, -1))), set(triangles), "triangles with hints")
        for name, values in arrays_of(fetch(exponents).GetPointData()).items():
            expect(values.tobytes(), nodes[name].tobytes(), name + " with hints")
    expect(os.path.getsize(hints), sizes[2], "a file that was read only")
    expect(reported(), 0, "messages of hints")
    for proxy in (exponents, surface, lines, reader):
        Delete(proxy)


def check_grid(folder, field, flow, source, positions):
    """The same velocities as time steps of an .idx give bitwise identical results, whatever is
    loaded."""
    path = folder("abc.idx")
    for step, (time, v) in enumerate(field.items() if not os.path.exists(path) else ()):
        parts = dict(zip("uvw", np.moveaxis(v, -1, 0)))
        parabat.idx.write(path, {"wind": v, **parts, "n": np.zeros(v.shape[:3], "i4")}, step=step, time=time, flush=False,
                          spacing=[LENGTH / (N - 1)] * 3, mode="add_step" if step else "replace")
    grid = OpenDataFile(path)
    grid.Resolution = 6
    grid.PointArrayStatus = ["wind"]
    lines = FlowPathLinesWithCustomSource(Input=grid, SeedSource=source)
    check_lines(fetch(lines), flow.path_lines(positions, keep_faces=True), [0.0], "lines of a grid")
    assert field_value(fetch(lines), "bytes_read") > 0
    assert 0 < fetch(grid, 1).GetNumberOfPoints() <= 27, "of level 6"
    lines.MaximumError = 1e-7
    check_lines(fetch(lines), flow.path_lines(positions, max_error=1e-7, keep_faces=True), [0.0], "exact lines of a grid")
    lines.MaximumError = 1e-6
    expect(field_value(fetch(lines), "reads"), 0, "reads of bricks that are in memory")
    grid.PointArrayStatus, grid.CacheSize = ["u", "v", "w"], 2
    check_lines(fetch(lines), flow.path_lines(positions, keep_faces=True), [0.0], "lines of three fields")
    exponents = FlowFTLE(Input=grid, Dimensions=[4, 4, 1])
    assert "FTLE_forward" in arrays_of(fetch(exponents).GetPointData())
    expect(reported(), 0, "messages of a grid")
    grid.PointArrayStatus = ["wind", "n", "u"]  # the only floating-point vector
    check_lines(fetch(lines), flow.path_lines(positions, keep_faces=True), [0.0], "lines of the only vector")
    grid.PointArrayStatus = ["u", "n"]
    expect(fetch(lines).GetNumberOfPoints(), 0, "lines of no velocity")
    assert len(messages) == 1 and "abc.idx: check one field with 2 or 3 components" in messages[0], messages
    reported()
    for proxy in (lines, exponents, grid):
        Delete(proxy)


def check_grid_folder(folder, source):
    """Time steps that the .idx leaves to its folder; and an image whose damage is reported although lines came
    first."""
    first, path = folder("steps.idx"), folder("listed.idx")
    v = np.full((33, 33, 33, 3), 0.1, "f4")

    def add(step):
        parabat.idx.write(first, {"wind": v}, step=step, flush=False, mode="add_step" if step else "replace",
                          bits_per_block=9, file_bytes=1 << 14)

    for step in range(3):
        add(step)
    with open(first, encoding="ascii") as file:
        text = file.read()
    with open(path, "w", encoding="ascii") as file:
        file.write(text.replace("0 2 time", "* * time"))
    grid = OpenDataFile(path)
    lines = FlowPathLinesWithCustomSource(Input=grid, SeedSource=source)
    assert fetch(lines).GetNumberOfPoints() > 0
    add(3)
    grid.Resolution = 5  # this reads the folder again
    assert fetch(lines).GetNumberOfPoints() > 0, messages
    grid.UpdatePipelineInformation()
    expect(list(grid.TimestepValues), [0, 1, 2, 3], "time steps of a folder")
    expect(reported(), 0, "messages of a folder")
    for proxy in (lines, grid):
        Delete(proxy)

    last = sorted(glob.glob(folder("steps") + "/*/time_000000/*.bin"))[-1]
    os.truncate(last, 50)
    grid = OpenDataFile(first)
    lines = FlowPathLinesWithCustomSource(Input=grid, SeedSource=source)
    assert fetch(lines).GetNumberOfPoints() > 0
    expect(reported(), 0, "messages of lines that meet no damage")
    expect(fetch(grid).GetNumberOfPoints(), 0, "an image with damage")
    assert len(messages) == 1 and os.path.basename(last) in messages[0], messages
    reported()
    for proxy in (lines, grid):
        Delete(proxy)


def check_memory(folder):
    """Image points that do not fit are an error with both sizes, and are not requested from VTK."""
    path = folder("wide.bricks.series")
    parabat.flow.write_series(path, [(0, np.zeros((128, 128, 128, 3), "f4"))], flush=False)
    wide = OpenDataFile(path)
    wide.FullResolution, wide.MemoryPerProcess = 1, 0
    with little_memory(12):
        expect(fetch(wide).GetPointData().GetNumberOfArrays(), 0, "points that do not fit")
    assert len(messages) == 1 and "need 24.0 MiB" in messages[0] and "MiB of memory are free" in messages[0], messages
    reported()
    Delete(wide)


def check(folder):
    path = folder("abc.bricks.series")
    field = {time: abc(time) for time in TIMES}
    if not os.path.exists(path):
        parabat.flow.write_series(path, field.items(), spacing=[LENGTH / (N - 1)] * 3, flush=False)
    flow = parabat.flow.open(path)

    # The reader: an immediate preview, a whole box on demand.
    reader = OpenDataFile(path)
    expect(reader.GetXMLName(), "BricksReader", "reader")
    expect(list(reader.TimestepValues), TIMES, "times")
    expect(list(reader.FullDimensions), [N] * 3, "points")
    expect(reader.BrickCount, 4 * 6 ** 3, "bricks")
    assert np.allclose(list(reader.Bounds), [0, LENGTH] * 3, atol=1e-12)
    spacing = LENGTH / (N - 1)

    def check_field(values, time, stride, what, first=(0, 0, 0)):
        check_image(reader, {"velocity": values}, first, [0.0] * 3, [stride * spacing] * 3, what, time, ranks)

    check_field(field[0][::8, ::8, ::8], 0, 8, "preview")
    check_field(field[0.5][::8, ::8, ::8], 0.7, 8, "preview between times")
    reader.UseBox, reader.Box = 1, [1, 3, 0.1, 6, 2.5, 2.9]
    cut = tuple(slice(int(np.ceil(low / spacing)), int(np.floor(high / spacing)) + 1) for low, high in ((2.5, 2.9), (0.1, 6), (1, 3)))
    reader.FullResolution = 1
    check_field(field[1][cut], 1, 1, "a box", [part.start for part in cut[::-1]])
    reader.UseBox = 0
    check_field(field[0], 0, 1, "all points")
    expect(reported(), 0, "messages")
    reader.MemoryPerProcess = 0.1
    check_field(field[0][::8, ::8, ::8], 0, 8, "over the budget")
    assert reported() >= 1, "no warning"
    reader.FullResolution, reader.MemoryPerProcess = 0, 1024
    if ranks == 1:
        check_memory(folder)

    # Whole lines, bit by bit; and what was read.
    source, positions = seeds_of(60)
    lines = FlowPathLinesWithCustomSource(Input=reader, SeedSource=source)
    reference = flow.path_lines(positions, keep_faces=True)
    data = fetch(lines)
    check_lines(data, reference, [0.0], "path lines")
    expect(field_value(data, "particles"), 60, "particles")
    expect(field_value(data, "bricks"), 4 * 6 ** 3, "bricks")
    expect(offered_by_field_data(lines), [], "field data to colour by")
    touched = field_value(data, "bricks_touched")
    assert reference.statistics["touched"] <= touched <= ranks * reference.statistics["touched"], touched
    assert field_value(data, "bytes_read") > 0
    lines.UpdatePropertyInformation()
    expect(lines.BricksTouched, touched, "bricks in the panel")
    lines.PointsOnFaces = 0
    data = fetch(lines)
    check_lines(data, flow.path_lines(positions), [0.0], "without points on faces")
    expect(field_value(data, "bytes_read"), 0, "bytes read again")
    lines.PointsOnFaces = 1
    fetch(lines)

    # Another time requires no new run; a part that ends there.
    lines.Output = "Path Lines Up To The Present Time"
    for time in (0, 0.25, 0.6, 1, 7):
        data = fetch(lines, time)
        part = flow.path_lines(positions, keep_faces=True, end_time=time if time < 1 else 1) if time else None
        of, cells = arrays_of(data.GetCellData()), cells_of(data)
        points = vtk_to_numpy(data.GetPoints().GetData())
        expect(sorted(of["SeedIds"].tolist()), list(range(60)), "seeds")
        expect(field_value(data, "particles"), 60, "particles of the run")
        for i, cell in enumerate(cells):
            seed = of["SeedIds"][i]
            if part is None:
                expect(points[cell], positions[seed:seed + 1], "at the release")
                continue
            end = np.linalg.norm(points[cell[-1]] - part.ends[seed]) / spacing
            assert end < 1e-4, (time, seed, end)
            expect(len(cell), int(part.offsets[seed + 1] - part.offsets[seed]), "points")
    lines.Output = "Particles"
    data = fetch(lines, 0.6)
    part = flow.path_lines(positions, end_time=0.6)
    there = np.flatnonzero(part.reasons == 8)
    at = arrays_of(data.GetPointData())
    expect(sorted(at["SeedIds"].tolist()), there.tolist(), "particles")
    points = vtk_to_numpy(data.GetPoints().GetData())
    assert np.abs(points - part.ends[at["SeedIds"]]).max() / spacing < 1e-4
    expect(at["colour"], 3 * at["SeedIds"].astype("i4"), "arrays of seeds")
    expect(data.GetNumberOfVerts(), len(there), "vertices")

    # Streak lines: the particles of each seed in the order of their release.
    lines.Output, lines.Release, lines.ReleaseInterval = "Streak Lines", "At Intervals", 0.125
    releases = [0.125 * i for i in range(9)]
    data = fetch(lines, 0.5)
    at, of, points = arrays_of(data.GetPointData()), arrays_of(data.GetCellData()), vtk_to_numpy(data.GetPoints().GetData())
    ends = {r: flow.path_lines(positions, r, end_time=0.5) for r in releases[:4]}
    count = 0
    for i, cell in enumerate(cells_of(data)):
        seed = of["SeedIds"][i]
        expect(np.diff(at["ReleaseTime"][cell]).tolist(), [0.125] * (len(cell) - 1), "releases of a streak line")
        for p in cell:
            release = at["ReleaseTime"][p]
            end = positions[seed] if release == 0.5 else ends[release].ends[seed]
            assert np.abs(points[p] - end).max() / spacing < 1e-4
            count += 1
    expect(count, 60 + int(np.sum([(e.reasons == 8).sum() for e in ends.values()])), "points of streak lines")

    # Backwards from a part of the times, released at time steps, and a destination.
    lines.Output, lines.Direction, lines.Release = "Path Lines", "Backward", "At Each Time Step"
    lines.LimitTimes, lines.StartTime, lines.EndTime = 1, 0.1, 0.9
    releases = [0.9, 0.5, 0.25, 0.1]
    lines.UseDestination, lines.Destination = 1, [2, 3.5, 2, 3.5, 1, 5]
    options = dict(backward=True, end_time=0.1, destination=[2, 2, 1, 3.5, 3.5, 5], keep_faces=True)
    reference = flow.path_lines(np.repeat(positions, 4, 0), releases * 60, **options)
    arrive = ~np.isnan(reference.arrivals)
    assert 10 < arrive.sum() < 230, arrive.sum()
    data = fetch(lines)
    check_lines(data, reference, releases, "backwards")
    expect(field_value(data, "particles_that_arrive"), int(arrive.sum()), "arrivals")
    expect(field_value(data, "first_arrival"), np.nanmax(reference.arrivals), "first arrival")
    expect(field_value(data, "median_arrival"), float(np.nanmedian(reference.arrivals)), "median arrival")
    lines.Keep = "Those That Arrive"
    check_lines(fetch(lines), reference, releases, "those that arrive", show=arrive)
    lines.Keep = "Those That Do Not"
    check_lines(fetch(lines), reference, releases, "those that do not", show=~arrive)
    lines.Keep, lines.StopOnArrival = "All", 1
    check_lines(fetch(lines), flow.path_lines(np.repeat(positions, 4, 0), releases * 60, stop_on_arrival=True, **options),
                releases, "stopped on arrival")
    expect(reported(), 0, "messages of lines")

    # Runge-Kutta 4 as in ParaView; a small cache and no prefetching change nothing.
    lines.UseDestination, lines.Direction, lines.Release, lines.LimitTimes = 0, "Forward", "Once", 0
    lines.Integrator, lines.StepShare = "Runge-Kutta 4", 0.25
    check_lines(fetch(lines), flow.path_lines(positions, integrator="rk4", step_share=0.25, keep_faces=True), [0.0], "Runge-Kutta 4")
    lines.Integrator, reader.CacheSize, lines.Prefetch = "Cell By Cell", 0.3, 0
    lines.MaximumError = 1e-7
    data = fetch(lines)
    check_lines(data, flow.path_lines(positions, max_error=1e-7, keep_faces=True), [0.0], "a small cache")
    assert field_value(data, "cache_bytes") < ranks * 64 * 16 * 9500, field_value(data, "cache_bytes")
    expect(field_value(data, "prefetched"), 0, "prefetched")
    reader.CacheSize, lines.MaximumError = 0.01, 2e-7
    expect(fetch(lines).GetNumberOfPoints(), 0, "points of lines with a cache for one brick")
    expect(reported(), 1, "errors of a cache that is too small")
    reader.CacheSize, lines.MaximumError, lines.Prefetch = 512, 1e-6, 1

    # Seeds outside; one of ParaView's lines as seeds; composite data.
    outside, places = seeds_of(5, -3, 1)
    lines.SeedSource = outside
    data = fetch(lines)
    expect(field_value(data, "particles_without_line"), int((places < 0).any(1).sum()), "seeds outside")
    both = GroupDatasets(Input=[outside, source])
    lines.SeedSource = both
    expect(field_value(fetch(lines), "particles"), 65, "seeds of a group")
    own = FlowPathLines(Input=reader, SeedType="Line")
    assert np.allclose(list(own.Destination), np.array([2, 3, 1, 2, 1, 2]) * LENGTH / 3), list(own.Destination)
    own.SeedType.Point1, own.SeedType.Point2, own.SeedType.Resolution = [1, 1, 1], [5, 5, 5], 10
    data = fetch(own)
    reference = flow.path_lines(np.linspace([1, 1, 1], [5, 5, 5], 11))
    of = arrays_of(data.GetCellData())
    expect(sorted(of["SeedIds"].tolist()), list(range(11)), "seeds of a line")
    points = vtk_to_numpy(data.GetPoints().GetData())
    for i, cell in enumerate(cells_of(data)):
        assert np.abs(points[cell[-1]] - reference.ends[of["SeedIds"][i]]).max() < 1e-4
    expect(reported(), 0, "messages of seeds")

    # An error is reported once, and nothing is shown.
    own.LimitTimes, own.StartTime, own.EndTime = 1, 0.5, 3
    for _ in range(2):
        expect(fetch(own).GetNumberOfPoints(), 0, "lines of times outside")
    assert reported() == 1, "errors of times"
    own.LimitTimes = 0
    own.UseDestination, own.Destination = 1, [1, 0, 0, 1, 0, 1]
    expect(fetch(own).GetNumberOfPoints(), 0, "lines to a box the wrong way round")
    expect(reported(), 1, "errors of a box")
    own.UseDestination = 0
    assert fetch(own).GetNumberOfPoints() > 0
    wavelet = Wavelet()
    other = FlowPathLinesWithCustomSource(Input=wavelet, SeedSource=source)
    expect(fetch(other).GetNumberOfPoints(), 0, "lines of an image")
    expect(reported(), 1, "errors of an image")
    Delete(other)
    level = OpenDataFile(folder("abc_0000.bricks"))
    other = FlowPathLinesWithCustomSource(Input=level, SeedSource=source)
    expect(fetch(other).GetNumberOfPoints(), 0, "lines of one time step")
    assert len(messages) == 1 and "abc_0000.bricks: it is the only time step" in messages[0], messages
    reported()
    other.LimitTimes, other.StartTime, other.EndTime = 1, 0, 1.5
    check_lines(fetch(other), parabat.flow.path_lines(folder("abc_0000.bricks"), positions, end_time=1.5), [0.0], "a steady flow")
    other.Direction, other.StartTime, other.EndTime = "Backward", -1, 0
    reference = parabat.flow.path_lines(folder("abc_0000.bricks"), positions, end_time=-1, backward=True)
    check_lines(fetch(other), reference, [0.0], "a steady flow backwards")
    expect(reported(), 0, "messages of a steady flow")
    for proxy in (other, level):
        Delete(proxy)

    check_steady_exponents(folder, ranks)
    ftle = check_exponents(reader, flow, ranks)
    if ranks == 1:
        check_abort(reader)
    surface = check_surfaces(reader, flow, source)
    check_grid(folder, field, flow, source, positions)
    check_grid_folder(folder, source)

    check_images(folder, flow, ranks)
    check_parts(folder, ranks)
    check_release_times(flow, reader)

    # A missing time level leaves no partial result.
    lines.SeedSource = source
    gone = folder("abc_0002.bricks")
    os.rename(gone, gone + ".away")
    reader.InvokeCommand("Reload")
    expect(fetch(lines).GetNumberOfPoints(), 0, "lines without a level")
    expect(reported(), 1, "errors of a level")
    expect(fetch(ftle).GetPointData().GetNumberOfArrays(), 0, "exponents without a level")
    expect(reported(), 1, "errors of a level")
    expect(fetch(surface, -1).GetNumberOfPoints(), 0, "a surface without a level")
    expect(reported(), 1, "errors of a level")
    os.rename(gone + ".away", gone)
    reader.InvokeCommand("Reload")
    assert fetch(surface, -1).GetNumberOfPoints() > 0
    assert fetch(ftle).GetPointData().GetNumberOfArrays() > 0
    reference = flow.path_lines(positions, keep_faces=True)
    check_lines(fetch(lines), reference, [0.0], "with the level again")

    # State files and traces recreate the same.
    if ranks == 1:
        lines.Keep, own.Output, reader.CacheSize = "Those That Arrive", "Particles", 77
        ftle.Direction, ftle.StartTime, ftle.Dimensions, ftle.UseBox, ftle.Box = "Both", 0.5, [5, 6, 7], 1, [2, 3, 2, 3, 2, 4]
        exponents = arrays_of(fetch(ftle).GetPointData())
        surface.TearFactor, surface.StartTime = 3, 0.45
        triangles = triangles_of(fetch(surface, -1))
        state = folder("flow.pvsm")
        SaveState(state)
        smtrace.start_trace()
        FlowPathLines(registrationName="traced", Input=OpenDataFile(path), SeedType="Point Cloud", Direction="Backward")
        FlowFTLE(registrationName="traced exponents", Input=FindSource("traced").Input, Dimensions=[3, 4, 5])
        trace = smtrace.stop_trace()
        ResetSession()
        LoadState(state)
        sources = {source.GetXMLName(): source for source in GetSources().values()}
        expect(sources["BricksReader"].CacheSize, 77.0, "a state file's cache")
        expect(sources["FlowPathLines"].Output, "Particles", "what a state file shows")
        expect(list(sources["FlowPathLines"].SeedType.Point2), [5.0, 5.0, 5.0], "a state file's line")
        expect(fetch(sources["FlowPathLines"], 0).GetNumberOfPoints(), 11, "particles of a state file")
        again = triangles_of(fetch(sources["FlowStreakSurface"], -1))
        expect(set(again), set(triangles), "triangles of a state file")
        again = arrays_of(fetch(sources["FlowFTLE"]).GetPointData())
        for name, values in exponents.items():
            expect(again[name], values, name + " of a state file")
        ResetSession()
        exec(compile(trace, "trace", "exec"), {})
        traced = FindSource("traced")
        expect((traced.Direction, traced.SeedType.GetXMLName()), ("Backward", "PointSource"), "a trace")
        expect(fetch(traced).GetFieldData().GetArray("particles").GetValue(0), traced.SeedType.NumberOfPoints, "seeds of a trace")
        expect(fetch(FindSource("traced exponents"), 0).GetNumberOfPoints(), 60, "nodes of a trace")


with Folder() as folder:
    check_growing(folder, ranks)
    check_hints(folder, ranks)
    check_wrap(folder)
    check_reader(folder, ranks)
    check(folder)
finish()
