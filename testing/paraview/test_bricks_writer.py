# SPDX-License-Identifier: BSD-3-Clause
"""Save Data for velocity fields in bricks: for any distribution, the bytes equal those that parabat.flow writes for the
whole; time steps become a series, hidden points NaN; input that cannot be written. Run by pvbatch. Arguments: the
number of ranks."""
import json

import parabat.flow
from bat_test import *
from paraview.modules.vtkRemotingCore import vtkProcessModule
from vtkmodules.vtkCommonCore import vtkOutputWindow

ranks = int(sys.argv[1])
expect(vtkProcessModule.GetProcessModule().GetNumberOfLocalPartitions(), ranks, "ranks")
messages = []


def note(_, __, text):
    messages.append(text)


note.CallDataType = "string0"
for event in ("ErrorEvent", "WarningEvent"):
    vtkOutputWindow.GetInstance().AddObserver(event, note)
POINTS, ORIGIN, SPACING, TIMES = (33, 21, 70), (1, -2, 0.5), (0.25, 0.5, 1), [0, 0.5, 2]

# Slabs along z, three per rank, where neighbours share a layer; slab i belongs to rank i modulo the number of
# ranks.
FIELD = """
import numpy as np


def field(time, z0=0, z1=69):
    z, y, x = np.meshgrid(np.arange(z0, z1 + 1), np.arange(21), np.arange(33), indexing="ij")
    v = np.stack([np.sin(0.3 * x + time), np.cos(0.2 * y), np.sin(0.1 * z) + 0.01 * x * y], -1)
    return v.astype("%s")
"""
SOURCE = FIELD + """
from vtkmodules.util.numpy_support import numpy_to_vtk
from vtkmodules.vtkCommonDataModel import vtkImageData
from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline as P
from vtkmodules.vtkParallelCore import vtkMultiProcessController


def make(output, information):
    controller = vtkMultiProcessController.GetGlobalController()
    rank, ranks = controller.GetLocalProcessId(), controller.GetNumberOfProcesses()
    time = information.Get(P.UPDATE_TIME_STEP()) if information.Has(P.UPDATE_TIME_STEP()) else 0
    ends = np.linspace(0, 69, 3 * ranks + 1).astype(int)
    slabs = [(ends[i], ends[i + 1]) for i in range(3 * ranks) if i %% ranks == rank]
    output.SetNumberOfBlocks(len(slabs))
    for i, (z0, z1) in enumerate(slabs):
        image = vtkImageData()
        image.SetExtent(0, 32, 0, 20, int(z0), int(z1))
        image.SetOrigin(1, -2, 0.5)
        image.SetSpacing(0.25, 0.5, 1)
        v = field(time, z0, z1)
        array = numpy_to_vtk(v.reshape(-1, 3), deep=1)
        array.SetName("wind speed")
        image.GetPointData().AddArray(array)
        number = numpy_to_vtk(np.arange(v.size // 3), deep=1)
        number.SetName("number")
        image.GetPointData().AddArray(number)
        %s
        output.SetBlock(i, image)
    output.GetInformation().Set(output.DATA_TIME_STEP(), time)


make(self.GetOutput(), self.GetOutputInformation(0))
"""
STEPS = """
from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline as P
times = [0, 0.5, 2]
self.GetOutputInformation(0).Set(P.TIME_STEPS(), times, 3)
self.GetOutputInformation(0).Set(P.TIME_RANGE(), (0, 2), 2)
"""


def source(kind="f4", more="pass"):
    made = ProgrammableSource(OutputDataSetType="vtkMultiblockDataSet")
    made.Script = SOURCE % (kind, more)
    made.ScriptRequestInformation = STEPS
    made.UpdatePipelineInformation()
    return made


def field(time, kind="f4"):
    made = {}
    exec(FIELD % kind, made)  # pylint: disable=exec-used
    return made["field"](time)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def check_level(path, values, time, step=None, **options):
    expected = path + ".wanted.bricks"
    parabat.flow.write_level(expected, values, origin=ORIGIN, spacing=SPACING, time=time, step=step, field="wind speed", **options)
    assert read(path) == read(expected), path


def refused(path, word, what, **options):
    messages.clear()
    writer = servermanager.writers.BricksWriter(Input=what, FileName=path)
    for name, value in options.items():
        setattr(writer, name, value)
    writer.UpdatePipeline()
    assert any(word in message for message in messages), (word, messages)
    assert not os.path.exists(path)
    messages.clear()


def check(folder):
    wind = source()
    one = folder("one.bricks")
    SaveData(one, proxy=wind)
    check_level(one, field(0), 0)

    series = folder("all.bricks")
    SaveData(series, proxy=wind, WriteAllTimeSteps=1, Cyclic=[0, 0, 1])
    for number, time in enumerate(TIMES):
        check_level(folder(f"all_{number:04d}.bricks"), field(time), time, number, cyclic=(False, False, True))
    with parabat.flow.open(series + ".series") as flow:
        expect(flow.times.tolist(), TIMES, "times")
        lines = flow.path_lines([[3, 2, 30]])
        expect(lines.reasons.tolist(), [8], "reasons")
    reader = OpenDataFile(series + ".series")
    reader.UpdatePipelineInformation()
    expect(list(reader.TimestepValues), TIMES, "times of the reader")
    SaveData(folder("named.bricks.series"), proxy=wind, WriteAllTimeSteps=1)
    with parabat.flow.open(folder("named.bricks.series")) as flow:
        expect(flow.times.tolist(), TIMES, "times of a series of which the list is named")

    # One more with each write; raw values; doubles.
    double = source("f8")
    growing = folder("growing.bricks.series")
    for time in TIMES[:2]:
        double.UpdatePipeline(time)
        writer = servermanager.writers.BricksWriter(Input=double, FileName=growing, OtherSteps="Keep", Compression=0)
        writer.UpdatePipeline(time)
    check_level(folder("growing_0001.bricks"), field(0.5, "f8"), 0.5, 1, compress=False)
    with parabat.flow.open(growing) as flow:
        expect(flow.times.tolist(), TIMES[:2], "times")
    expect(messages, [], "messages")
    messages.clear()
    writer = servermanager.writers.BricksWriter(Input=double, FileName=growing, OtherSteps="Keep")
    writer.UpdatePipeline(0.25)
    assert any("times must increase" in message for message in messages), messages
    messages.clear()
    with parabat.flow.open(growing) as flow:
        expect(flow.times.tolist(), TIMES[:2], "times")

    # The extractor: a file for each step by its number, also repeated and from a later step on.
    extractor = CreateExtractor("BRICKS", wind)
    extractor.Writer.FileName = "run.bricks.series"
    extractor.Writer.Cyclic = [0, 0, 1]
    for first in (None, 1):
        extractor.Trigger.UseStartTimeStep = int(first is not None)
        extractor.Trigger.StartTimeStep = first or 0
        SaveExtracts(ExtractsOutputDirectory=folder(""))
        for number, time in enumerate(TIMES):
            check_level(folder(f"run_{number:06d}.bricks"), field(time), time, number, cyclic=(False, False, True))
        with parabat.flow.open(folder("run.bricks.series")) as flow:
            expect(flow.times.tolist(), TIMES, "times of the extractor's series")
        expect([message for message in messages if "returned to step 1: step 2" not in message], [], "messages")
        messages.clear()
    extractor.Trigger.UseEndTimeStep = 1
    extractor.Trigger.EndTimeStep = 1
    SaveExtracts(ExtractsOutputDirectory=folder(""))
    expect(sorted(name for name in os.listdir(folder("")) if name.startswith("run") and "wanted" not in name),
           ["run.bricks.series", "run_000000.bricks", "run_000001.bricks"], "files of the extractor")
    Delete(extractor)
    messages.clear()

    # Points that are hidden have no flow.
    hidden = source(more="""ghosts = image.AllocatePointGhostArray()
        for j in range(33 * 21):
            ghosts.SetValue(j, ghosts.GetValue(j) | (2 if z0 == 0 and j % 7 == 0 else 0))""")
    path = folder("hidden.bricks")
    SaveData(path, proxy=hidden)
    values = field(0)
    values[0].reshape(-1, 3)[::7] = np.nan
    check_level(path, values, 0)

    # A grid that moves, or another array, at a later step: the existing series is unchanged, byte by byte.
    before = {name: read(folder(name)) for name in os.listdir(folder("")) if name.startswith("all")}
    for change, words in (("image.SetOrigin(1 + time, -2, 0.5)", ("time 0.5", "origin 1.5 -2 0.5", "time 0)", "origin 1 -2 0.5")),
                          ("image.SetSpacing(0.25 + time / 4, 0.5, 1)", ("spacing 0.375 0.5 1", "spacing 0.25 0.5 1")),
                          ("array.SetName('wind' if time else 'wind speed')", ("'wind'", "'wind speed'", "one field"))):
        moving = source(more=change)
        for name in ("all.bricks", "moving.bricks"):
            writer = servermanager.writers.BricksWriter(Input=moving, FileName=folder(name), WriteAllTimeSteps=1, Cyclic=[0, 0, 1])
            writer.UpdatePipeline()
            assert len(messages) == 1 and all(word in messages[0] for word in words), (words, messages)
            messages.clear()
        with open(folder("moving.bricks.series")) as file:
            expect([entry["time"] for entry in json.load(file)["files"]], [0], "steps before the grid moved")
        extractor = CreateExtractor("BRICKS", moving)
        extractor.Writer.FileName = "extract.bricks.series"
        SaveExtracts(ExtractsOutputDirectory=folder(""))
        assert messages and any(all(word in message for word in words) for message in messages), (words, messages)
        messages.clear()
        Delete(extractor)
        for name in os.listdir(folder("")):
            if name.startswith(("moving", "extract")):
                os.remove(folder(name))
    after = {name: read(folder(name)) for name in os.listdir(folder("")) if name.startswith("all")}
    assert before == after, "a series that was not to be replaced"
    SaveData(series, proxy=wind, WriteAllTimeSteps=1)
    for number, time in enumerate(TIMES):
        check_level(folder(f"all_{number:04d}.bricks"), field(time), time, number)

    refused(folder("r.txt"), "must end in", wind)
    refused(folder("r.bricks"), "no point array 'nothing'", wind, Velocity="nothing")
    refused(folder("r.bricks"), "allowed are 2 or 3", wind, Velocity="number")
    cells = PointDatatoCellData(Input=wind)
    refused(folder("r.bricks"), "Cell Data to Point Data", cells)
    refused(folder("r.bricks"), "both possible", source(more="""other = numpy_to_vtk(v.reshape(-1, 3), deep=1)
        other.SetName("other")
        image.GetPointData().AddArray(other)"""))
    # A living extractor holds the lock of its list.
    expect([name for name in os.listdir(folder("")) if name.startswith(("r.", "."))],
           [".extract.bricks.series.lock"], "what is left")


if __name__ == "__main__":
    # This is a separate module, because filter scripts import all names of NumPy into the main one.
    import test_bricks_writer
    with Folder() as scratch:
        test_bricks_writer.check(scratch)
    finish()
