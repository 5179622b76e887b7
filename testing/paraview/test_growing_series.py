# SPDX-License-Identifier: BSD-3-Clause
"""A series that a simulation writes while ParaView has it open, and a dataset of more leaf files than
ParaView may have descriptors. Arguments: python3, write_steps.py, test_many_leaf_files.py."""
import os
import resource
import subprocess

from bat_test import *

PYTHON, WRITE_STEPS, WRITE_MANY = sys.argv[1:]


def run(*arguments):
    # Not this interpreter's libraries, which are ParaView's.
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

    # Steps that the simulation has finished since come with Reload Files; one that is being written,
    # here a temporary beside the others, does not.
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
