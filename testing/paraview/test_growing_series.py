# SPDX-License-Identifier: BSD-3-Clause
"""A series that a simulation writes while ParaView has it open, and a dataset with more leaf files
than ParaView may have descriptors. Arguments: python3, write_steps.py, test_many_leaf_files.py."""
import os
import resource
import subprocess

from bat_test import *

PYTHON, WRITE_STEPS, WRITE_MANY = sys.argv[1:]


def run(*arguments):
    # Without this interpreter's libraries, which are ParaView's.
    subprocess.run([PYTHON, *arguments], check=True, timeout=300)


def simulate(folder, first, last, clock=0):
    run(WRITE_STEPS, folder(""), *map(str, (first, last, clock)))


def times(reader):
    reader.UpdatePipelineInformation()
    return list(reader.TimestepValues)


def step_at(reader, time):
    data = fetch(reader, time)
    steps = np.unique(vtk_to_numpy(data.GetPointData().GetArray("step")))
    expect(data.GetNumberOfPoints(), 1000, f"particles at time {time}")
    expect(len(steps), 1, f"one step at time {time}")
    return int(steps[0])


with Folder() as folder:
    simulate(folder, 0, 1)
    reader = OpenDataFile(folder("dust.bat.series"))
    expect(reader.GetXMLName(), "BATSeriesReader", "proxy")
    expect(times(reader), [1.0, 1.25], "times at first")
    expect(step_at(reader, 1.25), 1, "step at time 1.25")

    # Reload Files adds steps that the simulation has completed since, but not one that is being
    # written, here a temporary next to the others.
    simulate(folder, 2, 5)
    open(folder(".dust_0006.bat.01234567.tmp"), "wb").write(b"half a step")
    expect(times(reader), [1.0, 1.25], "times before reloading")
    ReloadFiles(reader)
    expect(times(reader), [1.0, 1.25, 1.5, 1.75, 2.0, 2.25], "times after reloading")
    for step in range(6):
        expect(step_at(reader, 1 + step / 4), step, f"step {step}")
    reader.Quality = 0.1
    leaf_files = 4
    assert 100 <= fetch(reader, 2.0).GetNumberOfPoints() <= 100 + leaf_files, "quality 0.1"
    reader.Quality = 1
    reader.AttributeRanges = ["id", "10", "19"]
    expect(ids(reader, 1.5), np.arange(10, 20), "ids in a range")
    Delete(reader)

    # The same files without the list: their own times.
    reader = OpenDataFile([folder(f"dust_{step:04d}.bat") for step in range(6)])
    expect(times(reader), [1.0, 1.25, 1.5, 1.75, 2.0, 2.25], "times of the files")
    Delete(reader)

    # After a restart from a checkpoint, with a clock that begins again: one time for each file.
    simulate(folder, 3, 4, clock=3)
    reader = OpenDataFile(folder("dust.bat.series"))
    expect(times(reader), [1.0, 1.25, 1.5, 1.75, 2.0], "times after a restart")
    for step in range(5):
        expect(step_at(reader, 1 + step / 4), step, f"step {step} after a restart")
    expect(os.path.exists(folder("dust_0005.bat")), False, "a step of the run before is there")
    Delete(reader)

# A run that injects its particles after its first step, with or without declaring the later
# attributes.
WRITE_LATE = """
import json, sys
import numpy as np, parabat
folder, declares = sys.argv[1], sys.argv[2] == "1"
files = []
for step, n in enumerate((0, 100, 0)):
    values = {"id": np.arange(n), "temperature": np.arange(n, dtype=np.float32), "velocity": np.ones((n, 3))}
    parabat.write(f"{folder}/late_{step}.bat", np.random.default_rng(1).random((n, 3)), values if n or declares else {},
                  time=0.5 + step, step=step)
    files.append({"name": f"late_{step}.bat", "time": 0.5 + step})
json.dump({"file-series-version": "1.0", "files": files}, open(f"{folder}/late.bat.series", "w"))
"""


def kinds(data):
    arrays = [data.GetPointData().GetArray(i) for i in range(data.GetPointData().GetNumberOfArrays())]
    return {array.GetName(): (array.GetDataTypeAsString(), array.GetNumberOfComponents()) for array in arrays}


for declares in ("1", "0"):
    for as_list in (True, False):
        with Folder() as folder:
            run("-c", WRITE_LATE, folder(""), declares)
            files = folder("late.bat.series") if as_list else [folder(f"late_{step}.bat") for step in range(3)]
            reader = OpenDataFile(files)
            what = f"declared {declares}, list {as_list}"
            everything = kinds(fetch(reader, 1.5))
            expect(set(everything), {"id", "temperature", "velocity"}, what)
            Delete(reader)
            reader = OpenDataFile(files)
            empty = fetch(reader, 0.5)
            expect((empty.GetNumberOfPoints(), kinds(empty)), (0, everything), what + ": the first step")
            view = CreateView("RenderView")
            view.ViewTime = 0.5
            display = Show(reader, view)
            ColorBy(display, ("POINTS", "temperature"))
            Render(view)
            expect(list(display.ColorArrayName), ["POINTS", "temperature"], what + ": colours")
            view.ViewTime = 1.5
            Render(view)
            display.RescaleTransferFunctionToDataRange(False)
            table = GetColorTransferFunction("temperature")
            expect((table.RGBPoints[0], table.RGBPoints[-4]), (0.0, 99.0), what + ": range of the colours")
            # Conditions on attributes that the empty steps may lack.
            reader.AttributeRanges = ["temperature", "10", "19"]
            reader.Ids, reader.IdAttribute = "5-14", "id"
            expect(ids(reader, 1.5), np.arange(10, 15), what + ": ids in a range")
            for time in (0.5, 2.5):
                expect((len(ids(reader, time)), reader.GetClientSideObject().GetErrorCode()), (0, 0), what + f": time {time}")
            Delete(display)
            Delete(reader)
            Delete(view)

with Folder() as folder:
    many = folder("many.bat")
    run(WRITE_MANY, many, "write")
    leaf_files = len(os.listdir(many + ".leaves"))
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (200, hard))
    assert leaf_files > 200, leaf_files
    reader = OpenDataFile(many)
    reader.ParticleBudget = 0
    expect(ids(reader, 0.0), np.arange(15000), "ids of all leaf files")
    open(os.devnull).close()
    Delete(reader)

finish()
