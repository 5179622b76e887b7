# SPDX-License-Identifier: BSD-3-Clause
"""How much the reader loads through its proxy: particle budget, refining from a script, what it reports,
and pvbatch's message about a sample. Arguments: pvbatch, convert.py."""
import re
import time

from bat_test import *

pvbatch, convert = sys.argv[1:]
COUNT = 5200000  # more than the default budget


def information(reader, name):
    reader.UpdatePropertyInformation()
    return reader.GetPropertyValue(name)


def is_open(path):
    links = [os.path.join("/proc/self/fd", fd) for fd in os.listdir("/proc/self/fd")]
    return os.path.realpath(path) in [os.path.realpath(link) for link in links if os.path.islink(link)]


def batch(*words):
    done = subprocess.run([pvbatch, "--dr", *words], capture_output=True, text=True, timeout=300, env=outside_mpi())
    return done.stdout + done.stderr


with Folder() as folder:
    path = folder("large.bat")
    data = vtkPolyData()
    grid = np.arange(COUNT, dtype="f4")
    xyz = vtkPoints()
    xyz.SetData(numpy_to_vtk(np.column_stack([grid % 1000, grid // 1000, 0 * grid]), deep=True))
    data.SetPoints(xyz)
    add_arrays(data.GetPointData(), {"id": BIG_ID + np.arange(COUNT)})
    SaveData(path, proxy=producer(data))

    # The default budget applies; the panel's numbers.
    reader = OpenDataFile(path)
    expect(reader.ParticleBudget, 5000000, "default budget")
    reader.UpdatePipeline()
    loaded = reader.GetDataInformation().GetNumberOfPoints()
    expect(loaded, 5000000, "particles within the budget")
    expect(information(reader, "ParticleCount"), COUNT, "particles in the file")
    expect(abs(information(reader, "LoadedQuality") - 5000000 / COUNT) < 1e-6, True, "quality")
    expect(information(reader, "LeafFileCount"), 1, "leaf files")
    expect(information(reader, "FileBytes"), os.path.getsize(path), "bytes on disk")
    expect(list(information(reader, "ParticleBytesInfo")), ["", "12", "id", "8"], "bytes of a particle")
    # Rows of a plane, one apart.
    radius = information(reader, "SuggestedRadius")
    expect(0.4 < radius < 0.9, True, f"suggested radius {radius}")

    # A box reduces what must fit.
    reader.UseBox = 1
    reader.Box = [0, 999, 0, 999.5, 0, 0]
    expect(len(ids(reader)), 1000000, "particles in the box")
    expect(information(reader, "LoadedQuality"), 1.0, "quality in the box")
    reader.UseBox = 0

    # Refining from a script, and the same in a state.
    reader.RefineWhileIdle = 1
    reader.VertexCells = "None"
    counts = []
    while True:
        UpdatePipeline(proxy=reader)
        counts.append(reader.GetDataInformation().GetNumberOfPoints())
        if information(reader, "LoadedQuality") == information(reader, "TargetQuality"):
            break
        reader.InvokeCommand("LoadMore")
    expect(counts, sorted(set(counts)), "counts grow")
    expect(counts[0] <= 500000 and counts[-1] == 5000000 and len(counts) < 15, True, f"steps {counts}")
    reader.ParticleBudget = 0
    UpdatePipeline(proxy=reader)
    expect(reader.GetDataInformation().GetNumberOfPoints(), counts[-1], "particles before the next step")
    reader.InvokeCommand("LoadMore")
    expect(ids(reader), BIG_ID + np.arange(COUNT), "ids after all steps")
    Delete(reader)

    # From the second step on, the next file of a series is opened in advance.
    for step in range(4):
        SaveData(folder("dust_%d.bat" % step), proxy=producer(cloud(1000 + step)))
    series = OpenDataFile([folder("dust_%d.bat" % step) for step in range(4)])
    series.UpdatePipeline(0)  # simple.UpdatePipeline takes 0 for no time
    expect(is_open(folder("dust_1.bat")), False, "read ahead before the first step")
    for step, ahead in ((1, 2), (2, 3), (1, 0)):
        UpdatePipeline(step, series)
        expect(series.GetDataInformation().GetNumberOfPoints(), 1000 + step, "particles of step %d" % step)
        for _ in range(100):
            if is_open(folder("dust_%d.bat" % ahead)):
                break
            time.sleep(0.1)
        else:
            raise AssertionError("step %d is not read ahead at step %d" % (ahead, step))
    series.UpdatePipeline(0)  # simple.UpdatePipeline takes 0 for no time
    found = series.GetClientSideObject().GetOutputDataObject(0).GetPointData().GetArray("id")
    expect(np.sort(vtk_to_numpy(found)), arrays(1000)["id"], "ids of a step that was read ahead")
    Delete(series)

    # pvbatch reports once that it has a sample; a conversion takes everything.
    script = folder("read.py")
    with open(script, "w") as file:
        file.write(f"""
from paraview.simple import *
reader = OpenDataFile({path!r})
reader.UpdatePipeline()
reader.VertexCells = "None"
reader.UpdatePipeline()
print("loaded", reader.GetDataInformation().GetNumberOfPoints())
""")
    reported = batch(script)
    assert "loaded 5000000" in reported, reported
    expect(len(re.findall("of its 5,200,000 particles, to stay within Particle Budget = 5000000", reported)), 1,
           "warnings in " + reported)
    reported = batch(convert, path, folder("again.bat"))
    again = OpenDataFile(folder("again.bat"))
    again.ParticleBudget = 0
    expect(ids(again), BIG_ID + np.arange(COUNT), "ids after conversion; " + reported)
finish()
