# SPDX-License-Identifier: BSD-3-Clause
"""Checks that several ranks together draw the same picture as one rank, whether particles are opaque, translucent,
opaque next to something translucent, sized by an attribute, or glowing around something opaque. Run by mpirun pvbatch.
Arguments: the number of ranks, a folder into which one rank writes particles and pictures, with which several ranks
compare theirs."""
from bat_test import *
from paraview.modules.vtkRemotingCore import vtkProcessModule
from vtkmodules.vtkCommonCore import vtkObject
from vtkmodules.vtkIOImage import vtkPNGReader
from vtkmodules.vtkIOXML import vtkXMLPolyDataReader, vtkXMLPolyDataWriter

COUNT = 30000

ranks = int(sys.argv[1])
folder = sys.argv[2]
expect(vtkProcessModule.GetProcessModule().GetNumberOfLocalPartitions(), ranks, "ranks")


def write_particles(path):
    """Three balls, one behind the other, so that ranks occlude each other's particles."""
    rng = np.random.default_rng(7)
    data = vtkPolyData()
    points = vtkPoints()
    places = 0.3 * rng.normal(size=(COUNT, 3))
    places[:, 2] += np.arange(COUNT) % 3
    places[:, 0] += 0.4 * (np.arange(COUNT) % 3)
    points.SetData(numpy_to_vtk(places.astype("f4"), deep=True))
    data.SetPoints(points)
    add_arrays(data.GetPointData(), {"id": np.arange(COUNT), "depth": places[:, 2].copy(),
                                     "radius": 0.01 + 0.02 * rng.random(COUNT)})
    SaveData(path, producer(data), LeafFileSize=0.2)


def can_be_sent():
    """ParaView 5.11 sends particles from rank to rank as VTK XML, which it cannot parse with Expat's latest update."""
    points = vtkPoints()
    points.InsertNextPoint(0, 0, 0)
    data = vtkPolyData()
    data.SetPoints(points)
    path = os.path.join(folder, f"sent_{ranks}.vtp")
    writer = vtkXMLPolyDataWriter()
    writer.SetInputData(data)
    writer.SetFileName(path)
    writer.EncodeAppendedDataOff()
    writer.Write()
    reader = vtkXMLPolyDataReader()
    reader.SetFileName(path)
    vtkObject.GlobalWarningDisplayOff()
    reader.Update()
    vtkObject.GlobalWarningDisplayOn()
    return reader.GetOutput().GetNumberOfPoints() == 1


def picture(name):
    """As 8-bit colours, also saved in the folder."""
    path = os.path.join(folder, f"{name}_{ranks}.png")
    SaveScreenshot(path, view)
    return load(path)


def load(path):
    image = vtkPNGReader()
    image.SetFileName(path)
    image.Update()
    return vtk_to_numpy(image.GetOutput().GetPointData().GetScalars()).astype(int)


def expect_same(name, maximum):
    """The shares of the light that particles change."""
    found = picture(name)
    if ranks == 1:
        return
    one = load(os.path.join(folder, f"{name}_1.png"))
    lit = np.abs(one - background).sum()
    assert lit > 0, name
    share = np.abs(found - one).sum() / lit
    expect(share <= maximum, True, f"{name}: {share:.5f} of the picture differs from that of one rank")


path = os.path.join(folder, "pictures.bat")
if ranks == 1:
    write_particles(path)
view = CreateRenderView()
view.ViewSize = [300, 300]
view.OrientationAxesVisibility = 0
view.UseColorPaletteForBackground = 0
view.Background = [0, 0, 0]
view.UseFXAA = 0
background = picture("empty")

particles = OpenDataFile(path)
display = Show(particles, view)
display.SetRepresentationType("Point Gaussian")
display.GaussianRadius = 0.02
ColorBy(display, ("POINTS", "depth"))
view.CameraPosition = [0.4, 0.2, 8]
view.CameraFocalPoint = [0.4, 0, 1]
expect_same("opaque", 0)
display.RadiusByRegion = 1
expect_same("radius_by_region", 0.002)
display.Look = "True Size"
expect_same("true_size", 0.005)
particles.Quality = 0.5
expect_same("true_size_of_a_sample", 0.05)  # ranks round their shares
particles.Quality = 1
display.Look = "Density Glow"
expect_same("glow_by_region", 0.005)
display.RadiusByRegion = 0
expect_same("glow", 0.005)
# Shows nothing rather than other particles: particles distributed over ranks are numbered
# differently.
SelectSurfacePoints(Rectangle=[100, 100, 200, 200], View=view)
selected = ExtractSelection(Input=particles)
selected.UpdatePipeline()
count = selected.GetDataInformation().GetNumberOfPoints()
expect(count > 0, ranks == 1, f"picked {count} of a glow")
Delete(selected)
ClearSelection(particles)
balls = [Sphere(Center=[0.3 * z, -0.2, z], Radius=0.2, ThetaResolution=30) for z in (-1, 1, 4)]
for ball in balls:
    Show(ball, view)
expect_same("glow_around_balls", 0.02)
for ball in balls:
    Delete(ball)
display.Look = "Spheres"

if ranks == 1 or can_be_sent():
    pane = Plane(Origin=[-1, -1, 1.5], Point1=[2, -1, 1.5], Point2=[-1, 1, 1.5])
    glass = Show(pane, view)
    glass.Opacity = 0.4
    expect_same("behind_glass", 0.01)
    Hide(pane, view)
    display.Opacity = 0.3
    expect_same("translucent", 0.05)
else:
    print("not compared: particles beside or behind something translucent, which this ParaView cannot send around")
finish()
