# SPDX-License-Identifier: BSD-3-Clause
"""Writes the files that the GUI tests open. Arguments: the output folder, the folder of the real
data."""
from bat_test import *
from vtkmodules.vtkCommonDataModel import vtkImageData

folder, data = sys.argv[1:]


def at(name):
    return os.path.join(folder, name)


SaveData(at("large.bat"), producer(cloud(700000)))
SaveData(at("sample.bat"), producer(cloud(20000)))
SaveData(at("leaves.bat"), producer(cloud(20000)), LeafFileSize=0.1)
assert len(os.listdir(at("leaves.bat.leaves"))) > 2
grains = cloud(2000)
add_arrays(grains.GetPointData(), {"Radius": np.full(2000, 0.02)})
SaveData(at("grains.bat"), producer(grains))

# A series whose kinds are 1 and 3, then also 5, then too many for check boxes.
for step, kinds in enumerate(([1, 3], [1, 3, 5], range(40))):
    particles = cloud(3000, seed=step)
    add_arrays(particles.GetPointData(), {"kind": np.resize(kinds, 3000).astype("i4")})
    SaveData(at("kinds_%d.bat" % step), producer(particles))
with open(at("kinds.bat.series"), "w") as series:
    json.dump({"file-series-version": "1.0",
               "files": [{"name": "kinds_%d.bat" % step, "time": step} for step in range(3)]}, series)


far = cloud(5000)
moved = vtkPoints()
moved.SetData(numpy_to_vtk(far_points(5000), deep=True))
far.SetPoints(moved)
SaveData(at("far.bat"), producer(far))

for name, places in galaxies(40000).items():
    SaveData(at(name + ".bat"), producer(cloud_at(places)))
shutil.copy(os.path.join(data, "sph_dam_break.bat"), at("dam_break.bat"))

# A series of four steps, and the temporary of a fifth.
times = [0.5, 0.75, 2.0, 2.25]
for step, time in enumerate(times):
    particles = cloud(1000 + step, seed=step)
    particles.GetInformation().Set(particles.DATA_TIME_STEP(), time)
    SaveData(at("steps_%04d.bat" % step), producer(particles))
files = [{"name": "steps_%04d.bat" % step, "time": time} for step, time in enumerate(times)]
with open(at("steps.bat.series"), "w") as series:
    json.dump({"file-series-version": "1.0", "files": files}, series)

# Particles with ids given by two ranks, in three steps.
for step in range(3):
    particles = cloud(1000)
    add_arrays(particles.GetPointData(), {"id": np.arange(1000) // 2, "cpu": np.arange(1000, dtype="i4") % 2})
    SaveData(at("pairs_%d.bat" % step), producer(particles))
with open(at("pairs.bat.series"), "w") as series:
    json.dump({"file-series-version": "1.0",
               "files": [{"name": "pairs_%d.bat" % step, "time": step} for step in range(3)]}, series)
# A run that injects its particles after its first step.
for step in range(2):
    particles = cloud(1000) if step else vtkPolyData()
    particles.GetInformation().Set(particles.DATA_TIME_STEP(), step + 0.5)
    SaveData(at("late_%d.bat" % step), producer(particles))
with open(at("late.bat.series"), "w") as series:
    json.dump({"file-series-version": "1.0",
               "files": [{"name": "late_%d.bat" % step, "time": step + 0.5} for step in range(2)]}, series)
SaveData(at("grid.idx"), Wavelet(WholeExtent=[0, 191, 0, 191, 0, 191]))

# A turning and rising flow of two steps; the list contains them in order.
for step in range(2):
    image = vtkImageData()
    image.SetDimensions(33, 33, 33)
    image.SetSpacing(1 / 32, 1 / 32, 1 / 32)
    z, y, x = np.meshgrid(*[np.linspace(0, 1, 33)] * 3, indexing="ij")
    add_arrays(image.GetPointData(), {"wind": np.stack([0.5 - y, x - 0.5, 0 * z + 0.1], -1).reshape(-1, 3)})
    image.GetInformation().Set(image.DATA_TIME_STEP(), float(step))
    SaveData(at("wind.bricks.series"), producer(image), OtherSteps="Keep" if step else "Remove")
with open(at(".steps_0004.bat.01234567.tmp"), "wb") as temporary:
    temporary.write(b"half a step")
finish()
