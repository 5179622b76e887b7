# SPDX-License-Identifier: BSD-3-Clause
"""CreateExtractor("BAT", ...) and SaveExtracts: particles, times and steps are restored. Run by mpirun
pvbatch. Arguments: a folder to write to, bat_info."""
import glob

from bat_test import *
from paraview.modules.vtkRemotingCore import vtkProcessModule
from vtkmodules.vtkCommonDataModel import vtkDataObjectTypes

ranks = vtkProcessModule.GetProcessModule().GetNumberOfLocalPartitions()
folder, bat_info = sys.argv[1:3]
shutil.rmtree(folder, ignore_errors=True)


def moving(kind):
    """A source of time-dependent particles, with this type of data."""
    source = ProgrammableSource(registrationName=kind)
    source.OutputDataSetType = vtkDataObjectTypes.GetTypeIdFromClassName(kind)  # its names have changed
    source.ScriptRequestInformation = "import bat_clouds; bat_clouds.offer_times(self)"
    source.Script = "import bat_clouds; bat_clouds.fill(self, output.VTKObject)"
    return source


def check(name, steps=range(len(TIMES))):
    """Checks a series of these steps, each complete, with its time and number."""
    files = sorted(glob.glob(os.path.join(folder, name + "_*.bat")))
    expect([os.path.basename(f) for f in files], ["%s_%06d.bat" % (name, s) for s in steps], "files of " + name)
    reader = OpenDataFile(files)
    expect(list(reader.TimestepValues), [TIMES[s] for s in steps], "times of " + name)
    for step in steps:
        n = moving_count(step, ranks)
        what = "%s, step %d" % (name, step)
        check_particles(fetch(reader, TIMES[step]), points(n, step), arrays(n, step), what)
        expect(step_of(bat_info, files[list(steps).index(step)]), step, what + ": number")


KINDS = ("vtkPolyData", "vtkPartitionedDataSet", "vtkPartitionedDataSetCollection", "vtkMultiBlockDataSet")
sources = {kind: moving(kind) for kind in KINDS}
for source in sources.values():
    CreateExtractor("BAT", source)

second = CreateExtractor("BAT", sources["vtkPolyData"])
second.Writer.FileName = "second_{timestep:06d}.bat"
second.Trigger.Frequency = 2
late = CreateExtractor("BAT", sources["vtkPartitionedDataSet"])
late.Writer.FileName = "late_{timestep:06d}.bat"
late.Writer.LeafFileSize = 0.01
late.Writer.Aggregation = "At Borders of Ranks"
late.Trigger.UseStartTimeStep = 1
late.Trigger.StartTimeStep = 2

# Constant data still has the time at which it was written.
CreateExtractor("BAT", Sphere(registrationName="sphere"))

SaveExtracts(ExtractsOutputDirectory=folder)

for kind in KINDS:
    check(kind)
check("second", range(0, len(TIMES), 2))
check("late", range(2, len(TIMES)))
# One for each rank that has particles; in step 2, one of four ranks has none.
leaf_files = glob.glob(os.path.join(folder, "late_000002.bat.leaves", "*"))
expect(len(leaf_files), {1: 0, 2: 2, 4: 3}[ranks], "leaf files")
spheres = OpenDataFile(sorted(glob.glob(os.path.join(folder, "sphere_*.bat"))))
expect(list(spheres.TimestepValues), list(TIMES), "times of a source without time")
expect(glob.glob(os.path.join(folder, "**", "*.tmp*"), recursive=True), [], "temporary files")
finish()
