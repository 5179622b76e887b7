# SPDX-License-Identifier: BSD-3-Clause
"""How the reader's Point Gaussian draws: like ParaView's own, step by step, and what is picked."""

from bat_test import *
from paraview.modules.vtkRemotingServerManager import vtkSMOrderedPropertyIterator
from vtkmodules.vtkRenderingCore import vtkWindowToImageFilter

# The first picture shows half a million of them.
COUNT = 900000


def particles():
    rng = np.random.default_rng(1)
    data = vtkPolyData()
    points = vtkPoints()
    points.SetData(numpy_to_vtk(rng.normal(size=(COUNT, 3)).astype("f4"), deep=True))
    data.SetPoints(points)
    index = np.arange(COUNT)
    add_arrays(data.GetPointData(), {
        "id": index, "value": rng.random(COUNT), "size": (0.6 + rng.random(COUNT)).astype("f4"),
        "opaque": (index % 2).astype("f4")})
    return data


def look(display, interactive=False):
    """The picture with only this display, or none."""
    for other in shown:
        other.Visibility = 0
    if display:
        display.Visibility = 1
    Render(view)
    if interactive:
        view.SMProxy.InteractiveRender()
    grab = vtkWindowToImageFilter()
    grab.SetInput(view.GetRenderWindow())
    grab.ReadFrontBufferOff()
    grab.ShouldRerenderOff()
    grab.Update()
    return vtk_to_numpy(grab.GetOutput().GetPointData().GetScalars()).astype(int)


def difference(a, b):
    """The share of the particles' light that differs, from 0 to 1."""
    return np.abs(a - b).sum() / max(1, np.abs(b - background).sum())


def expect_same(what, maximum=0.02):
    found = difference(look(own), look(standard))
    expect(found < maximum, True, f"{what}: pictures differ by {found:.4f}")


def in_panel(display):
    """Names of properties in the order of a panel."""
    each = vtkSMOrderedPropertyIterator()
    each.SetProxy(display.SMProxy)
    each.Begin()
    while not each.IsAtEnd():
        yield each.GetKey()
        each.Next()


def both(**values):
    for display in shown:
        for name, value in values.items():
            setattr(display, name, value)


def ask(**values):
    for source in readers:
        for name, value in values.items():
            setattr(source, name, value)


def color_by(array):
    for display in shown:
        display.ColorArrayName = array or [None, ""]
        if array:
            ColorBy(display, array)
            display.SetScalarBarVisibility(view, False)


def picked(source, display, rectangle):
    look(display)
    SelectSurfacePoints(Rectangle=rectangle, View=view)
    selected = ExtractSelection(Input=source)
    array = fetch(selected).GetPointData().GetArray("id")
    found = vtk_to_numpy(array).copy() if array else np.zeros(0, "i8")
    ClearSelection()
    Delete(selected)
    return np.sort(found)


with Folder() as folder:
    path = folder("cloud.bat")
    SaveData(path, proxy=producer(particles()))

    view = CreateView("RenderView")
    view.ViewSize = [500, 400]
    view.OrientationAxesVisibility = 0
    view.UseFXAA = 0
    reader, other = readers = [OpenDataFile(path), OpenDataFile(path)]
    ask(RefineWhileIdle=1)
    own = Show(reader, view)
    expect(own.GetXMLName(), "BATRepresentation", "the reader's representation")
    expect(own.Representation, "Point Gaussian", "drawn first as")
    standard = Show(other, view, "GeometryRepresentation")
    standard.SetRepresentationType("Point Gaussian")
    expect(standard.GetXMLName(), "GeometryRepresentation", "ParaView's representation")
    shown = [own, standard]
    ours = ["Look", "SizeAttribute", "RadiusByRegion", "GlowLegend", "SampleFirst"]
    expect(list(in_panel(own)), list(in_panel(standard)) + ours, "properties")
    offered = own.GetProperty("ColorArrayName").SMProperty.GetDomain("array_list")
    expect({offered.GetString(i) for i in range(offered.GetNumberOfStrings())}, {"id", "value", "size", "opaque"},
           "what to colour by: not what the field data say of the load")
    expect({"quality", "quality_requested", "particle_count"} <= set(reader.FieldData.keys()), True, "field data")
    ResetCamera(view)
    background = look(None)

    both(GaussianRadius=0.1)
    color_by(None)
    expect_same("half a million")
    before = look(own)
    for source in readers:
        source.InvokeCommand("LoadMore")
    expect_same("all")
    expect(reader.GetDataInformation().GetNumberOfPoints(), COUNT, "particles")
    expect(difference(before, look(own)) > 0.05, True, "the step has changed the picture")

    color_by(("POINTS", "value"))
    expect_same("colours")
    both(GaussianRadius=0.06)
    expect_same("another radius")
    both(ShaderPreset="Plain circle", Opacity=0.3)
    expect_same("translucent", 0.05)  # the order in which they are drawn
    both(Opacity=1.0, ShaderPreset="Gaussian Blur", Emissive=1)
    expect_same("emissive")
    both(Emissive=0, ShaderPreset="Sphere", GaussianRadius=0.12, ScaleByArray=1, SetScaleArray=["POINTS", "size"],
         UseScaleFunction=0)
    expect_same("a radius for each")
    both(UseScaleFunction=1)
    for display in shown:
        display.ScaleTransferFunction.Points = [0, 0.2, 0.5, 0, 1, 1, 0.5, 0, 2, 0.5, 0.5, 0]
    expect_same("a radius of a function for each")
    both(ScaleByArray=0, GaussianRadius=0.06, ShaderPreset="Plain circle", OpacityByArray=1,
         OpacityArray=["POINTS", "opaque"])
    for display in shown:
        display.OpacityTransferFunction.Points = [0, 0.1, 0.5, 0, 1, 1, 0.5, 0]
    expect_same("an opacity for each", 0.05)
    expect(difference(look(own), background) > 0.1, True, "something is drawn")
    both(OpacityByArray=0, GaussianRadius=0.0)
    expect_same("points")

    # An array that appears and disappears.
    ask(PointArrayStatus=["id"])
    color_by(("POINTS", "id"))
    both(ShaderPreset="Plain circle", GaussianRadius=0.06)
    expect_same("one array")
    ask(PointArrayStatus=["id", "value"])
    color_by(("POINTS", "value"))
    expect_same("the array again")

    # Smaller than a pixel: ParaView's vanish, these are points.
    both(GaussianRadius=1e-6)
    points = np.abs(look(own) - background).sum()
    both(GaussianRadius=0.0)
    expected = np.abs(look(own) - background).sum()
    expect(0.5 < points / expected < 1.5, True, f"a tiny radius draws {points / expected:.2f} of the light of points")

    # Spheres of one pixel: ParaView's shading is noise.
    color_by(None)
    both(ShaderPreset="Sphere", GaussianRadius=0.02)
    smooth, noisy = (look(display)[:, 0] for display in shown)
    lit = np.all([smooth != background[:, 0], noisy != background[:, 0]], axis=0)
    expect(smooth[lit].std() < 0.5 * noisy[lit].std(), True, f"noise {smooth[lit].std()}, ParaView's {noisy[lit].std()}")
    both(ShaderPreset="Plain circle")

    # Ids count through all steps.
    both(GaussianRadius=0.06)
    rectangle = [240, 190, 260, 210]
    expected = picked(other, standard, rectangle)
    expect(len(expected) > 20, True, f"picked {len(expected)}")
    expect(picked(reader, own, rectangle), expected, "picked ids")

    # A lower level of detail is the same cloud, drawn faster.
    settings = GetSettingsProxy("RenderViewSettings")
    settings.LODThreshold = 1.0
    settings.LODResolution = 0.1
    whole = look(own)
    coarse = look(own, interactive=True)
    share = difference(coarse, whole)
    expect(0.02 < share < 0.9, True, f"coarse picture differs by {share:.3f}")
    lit = (np.abs(coarse - background).sum(axis=1) > 0).sum() / (np.abs(whole - background).sum(axis=1) > 0).sum()
    expect(0.5 < lit < 1.5, True, f"coarse picture covers {lit:.2f} of the whole one")
    expect(difference(look(own), whole), 0.0, "the whole picture again")

    # Another box requires another load.
    ask(UseBox=1)
    ask(Box=[0, 5, -5, 5, -5, 5])
    expect_same("a box")
    expect(reader.GetDataInformation().GetNumberOfPoints() < 500000, True, "particles in the box")
    ask(UseBox=0)
    expect_same("no box")
    Delete(reader)
    Delete(other)
print("ok")
