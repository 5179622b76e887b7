# SPDX-License-Identifier: BSD-3-Clause
"""The looks of the reader's particles: what each draws, next to opaque objects, in samples, when picked, and from a
state file."""

from bat_test import *
from vtkmodules.vtkCommonCore import reference, vtkCollection, vtkOutputWindow
from vtkmodules.vtkRenderingCore import vtkWindowToImageFilter

WIDTH, HEIGHT = 400, 300
# Balls of Gaussian density, each with four times as many particles as its left neighbour.
CLUMPS = (2000, 8000, 32000)
COUNT = sum(CLUMPS)


def particles(scale=1.0):
    rng = np.random.default_rng(1)
    data = vtkPolyData()
    places = 0.05 * rng.normal(size=(COUNT, 3))
    places[:, 0] += np.repeat([-1.0, 0.0, 1.0], CLUMPS)
    points = vtkPoints()
    points.SetData(numpy_to_vtk((scale * places).astype("f4"), deep=True))
    data.SetPoints(points)
    sizes = 0.01 + 0.02 * rng.random(COUNT)
    add_arrays(data.GetPointData(), {
        "id": np.arange(COUNT), "Radius": sizes, "Outer_Diameter": (4 * sizes).astype("f4"),
        "velocity": rng.normal(size=(COUNT, 3))})
    return data


def look(*displays):
    """The picture with only these, as values of 0 to 255 by row, column and channel."""
    for display in shown:
        display.Visibility = 1 if display in displays else 0
    Render(view)
    return grab()


def grab():
    window = vtkWindowToImageFilter()
    window.SetInput(view.GetRenderWindow())
    window.ReadFrontBufferOff()
    window.ShouldRerenderOff()
    window.Update()
    return vtk_to_numpy(window.GetOutput().GetPointData().GetScalars()).reshape(HEIGHT, WIDTH, 3).astype(int)


def difference(a, b):
    """The share of the light that differs."""
    return np.abs(a - b).sum() / max(1, a.sum(), b.sum())


def expect_same(a, b, what, maximum=0.02):
    found = difference(a, b)
    expect(found <= maximum, True, f"{what}: pictures differ by {found:.4f}")
    expect(a.sum() > 0, True, f"{what}: something is drawn")


def tooltip():
    """ParaView's tooltip for the particle in the middle of the picture; empty if this version lacks Python access to
    it."""
    try:
        from paraview.modules.vtkRemotingMisc import vtkSMTooltipSelectionPipeline
    except ImportError:
        return ""
    pipeline, text, plain = vtkSMTooltipSelectionPipeline.GetInstance(), reference(""), reference("")
    displays, sources = vtkCollection(), vtkCollection()
    view.SMProxy.SelectSurfacePoints([WIDTH // 2, HEIGHT // 2] * 2, displays, sources)
    pipeline.Show(displays.GetItemAsObject(0), sources.GetItemAsObject(0), view.SMProxy)
    expect(pipeline.GetTooltipInfo(0, text, plain), True, "a tooltip")
    pipeline.Hide(view.SMProxy)
    return str(plain)


def set_quality(quality):
    """The loaded share of all particles."""
    for source in readers:
        source.Quality = quality
        source.UpdatePipeline()
        source.UpdatePropertyInformation()
    return reader.LoadedQuality


def brightness(picture):
    """For the centres of the clumps: the blue of a blue glow is its brightness, from 0 to 1."""
    columns = [WIDTH // 2 + round(place * HEIGHT / (2 * view.CameraParallelScale)) for place in (-1, 0, 1)]
    return np.array([picture[HEIGHT // 2 - 2:HEIGHT // 2 + 3, c - 2:c + 3, 2].mean() for c in columns]) / 255


with Folder() as folder:
    path = folder("clumps.bat")
    SaveData(path, proxy=producer(particles()))
    view = CreateRenderView()
    view.ViewSize = [WIDTH, HEIGHT]
    view.OrientationAxesVisibility = 0
    view.UseFXAA = 0
    view.UseColorPaletteForBackground = 0
    view.Background = [0, 0, 0]
    view.CameraParallelProjection = 1
    reader, other = readers = [OpenDataFile(path), OpenDataFile(path)]
    own = Show(reader, view)
    standard = Show(other, view, "GeometryRepresentation")
    wall = Show(Plane(Origin=[-0.4, -1, 0.5], Point1=[0.4, -1, 0.5], Point2=[-0.4, 1, 0.5]), view)
    shown = [own, standard, wall]
    for display in (own, standard):
        display.SetRepresentationType("Point Gaussian")
        display.ColorArrayName = [None, ""]
        display.GaussianRadius = 0.02
    Render(view)  # the first moves the camera
    view.CameraPosition, view.CameraFocalPoint, view.CameraParallelScale = [0, 0, 5], [0, 0, 0], 1
    expect(own.Look, "Spheres", "the first look")
    spheres = look(own)
    expect_same(spheres, look(standard), "spheres")

    # A tooltip shows data of the particle, but not of the load.
    tip = tooltip()
    expect([name for name in ("quality", "particle_count", "format_version", "provenance") if name in tip], [],
           "bookkeeping in " + tip)
    expect(not tip or "velocity" in tip and "Outer_Diameter" in tip, True, tip)
    described = {a.GetName() for a in reader.FieldData}
    expect({"quality", "quality_requested", "particle_count", "format_version", "provenance"} <= described, True,
           f"field data {described}")
    expect_same(look(own), spheres, "after a tooltip", 0)

    # Sizes given by an attribute; an attribute that is not a one-component radius is an error, and
    # gives spheres.
    own.Look = "True Size"
    standard.ScaleByArray, standard.UseScaleFunction = 1, 0
    standard.SetScaleArray, standard.GaussianRadius = ["POINTS", "Radius"], 1.0
    true = look(own)
    expect_same(true, look(standard), "true size")
    expect(difference(true, spheres) > 0.1, True, "true sizes are others than that of spheres")
    own.SizeAttribute = "Outer_Diameter"
    standard.GaussianRadius = 2.0
    expect_same(look(own), look(standard), "diameters")
    reported = []
    vtkOutputWindow.GetInstance().AddObserver("ErrorEvent", lambda *_: reported.append("error"))
    own.SizeAttribute = "velocity"
    expect_same(look(own), spheres, "a vector is no size", 0)
    expect(len(reported), 1, "errors")
    vtkOutputWindow.GetInstance().RemoveAllObservers()
    own.SizeAttribute = ""
    expect_same(look(own), true, "the radius again", 0)
    quality = set_quality(0.2)
    standard.GaussianRadius = quality ** (-1 / 3)
    sample = look(own)
    expect_same(sample, look(standard), "a sample is larger")
    covered = (sample.max(2) > 0).sum() / (true.max(2) > 0).sum()
    expect(0.8 < covered < 1.25, True, f"a sample covers {covered:.2f} of what all particles do")
    set_quality(1)

    # Radii by region are smaller where particles are dense, as in the middle of the clump on the right, and never
    # larger.
    own.Look = "Spheres"
    reader.UseBox, reader.Box = 1, [-2, 2, -1, 1, -1, 0]
    half = look(own)
    own.RadiusByRegion = 1
    regions = look(own)
    own.RadiusByRegion = 0
    expect_same(look(own), half, "one radius again", 0)
    found = difference(regions[:, 300:], half[:, 300:]), difference(regions[:, :100], half[:, :100])
    expect(found[0] > 0.04 and found[0] > 5 * found[1], True, f"differences on the right and on the left {found}")
    covers = (regions.max(2) > 0).sum() / (half.max(2) > 0).sum()
    expect(0.8 < covers <= 1, True, f"covers {covers:.2f} of what one radius does")
    own.RadiusByRegion, own.ScaleByArray, own.UseScaleFunction = 1, 1, 0
    own.SetScaleArray = ["POINTS", "Radius"]
    by_array = look(own)
    own.RadiusByRegion = 0
    expect_same(look(own), by_array, "Scale by Array is all there is of radii", 0)
    own.ScaleByArray = 0
    offered = own.GetProperty("ColorArrayName").SMProperty.GetDomain("array_list")
    own.RadiusByRegion = 1
    expect_same(look(own), regions, "radii by region again", 0)
    names = {offered.GetString(i) for i in range(offered.GetNumberOfStrings())}
    expect(names, {"id", "Radius", "Outer_Diameter", "velocity"}, "what to colour by")
    # The same for all particles as for a sample, and for a part of them.
    quality = set_quality(0.4)
    own.GaussianRadius = 0.02 * quality ** (-1 / 3)
    sample = look(own)
    covered = (sample.max(2) > 0).sum() / (regions.max(2) > 0).sum()
    expect(0.8 < covered < 1.25, True, f"radii of a sample cover {covered:.2f} of what those of all particles do")
    set_quality(1)
    own.GaussianRadius = 0.02
    expect_same(look(own), regions, "nearly the same for the same particles", 0.05)
    own.RadiusByRegion = 0
    reader.UseBox = 0

    own.Look = "Points"
    standard.ScaleByArray, standard.GaussianRadius = 0, 0.0
    expect_same(look(own), look(standard), "points")

    # Each factor of four increases the brightness by about the same amount, not by a factor of
    # four.
    own.Look = "Density Glow"
    own.DiffuseColor = own.AmbientColor = [0, 0, 1]
    glow = look(own)
    bright = brightness(glow)
    steps = np.diff(bright)
    expect(steps.min() > 0.1 and steps.max() < 2.5 * steps.min(), True, f"steps of brightness {steps}")
    own.GaussianRadius = 0.03
    expect(difference(look(own), glow) > 0.02, True, "splats are larger")
    own.GaussianRadius = 0.02
    set_quality(0.3)
    change = np.abs(brightness(look(own)) - bright).max()
    expect(change < 0.06, True, f"brightness changes by {change:.3f} with quality")
    set_quality(1)
    view.CameraParallelScale = 2
    change = np.abs(brightness(look(own)) - bright).max()
    expect(change < 0.1, True, f"brightness changes by {change:.3f} with zoom")
    view.CameraParallelScale = 1
    view.CameraParallelProjection = 0
    view.CameraViewAngle = 2 * np.degrees(np.arctan(1 / 5))
    perspective = look(own)
    expect_same(perspective, glow, "in perspective", 0.1)
    view.CameraParallelProjection = 1

    # Opaque objects in front hide it, and not vice versa.
    both, alone = look(own, wall), look(wall)
    expect_same(both[:, 150:250], alone[:, 150:250], "a wall in front", 0)
    expect_same(both[:, 300:], glow[:, 300:], "beside the wall", 0)
    view.CameraPosition = [0, 0, -5]
    expect(difference(look(own, wall)[:, 150:250], look(wall)[:, 150:250]) > 0.01, True, "it shines over a wall behind")
    view.CameraPosition = [0, 0, 5]

    own.ColorArrayName = ["POINTS", "id"]
    ColorBy(own, ("POINTS", "id"))
    own.SetScalarBarVisibility(view, False)
    colored = look(own)
    left, right = colored[:, :WIDTH // 3], colored[:, -WIDTH // 3:]
    expect(left[..., 2].sum() > left[..., 0].sum() and right[..., 0].sum() > right[..., 2].sum(), True, "its colours")
    own.ColorArrayName = [None, ""]

    # While the scene turns, a sample has the same brightness.
    settings = GetSettingsProxy("RenderViewSettings")
    settings.LODThreshold, settings.LODResolution = 0.1, 0.01
    whole = look(own)
    view.SMProxy.InteractiveRender()
    coarse = grab()
    expect(difference(coarse, whole) > 0, True, "a sample is drawn")
    change = np.abs(brightness(coarse) - brightness(whole)).max()
    expect(change < 0.1, True, f"brightness changes by {change:.3f} while the scene turns")

    # Particles can be picked.
    look(own)
    SelectSurfacePoints(Rectangle=[0, 0, WIDTH // 4, HEIGHT - 1], View=view)
    picked = fetch(ExtractSelection(Input=reader)).GetPointData().GetArray("id")
    expect(picked and vtk_to_numpy(picked).max() < CLUMPS[0], True, "picked in the first clump")
    ClearSelection(reader)
    expect_same(look(own), glow, "the glow again", 0)

    # Clustered particles are distinguished from those that fill a shape, also with few particles or several leaf
    # files. 2 is in between; a script has the same initial look for both.
    for n, size, maximum in ((40000, 0, 3), (5000, 0, 1), (80000, 0.2, 1)):
        for kind, clouds in (("clustered", galaxies(n)), ("even", shapes(n))):
            for name, places in list(clouds.items())[:maximum]:
                SaveData(folder(name + ".bat"), proxy=producer(cloud_at(places)), LeafFileSize=size or 64)
                cloud_reader = OpenDataFile(folder(name + ".bat"))
                cloud_reader.UpdatePipeline()
                cloud_reader.UpdatePropertyInformation()
                expect(cloud_reader.LeafFileCount > 2, size > 0, "leaf files")
                spread = cloud_reader.SpacingSpread
                expect(spread > 9 if kind == "clustered" else 1 <= spread < 1.7, True, f"{n} of {name}: {spread}")
                Delete(cloud_reader)

    # Neither metres nor light years exceed the range of a graphics card's floating-point numbers.
    for scale in (1e25, 1e-12):
        SaveData(folder("scaled.bat"), proxy=producer(particles(scale)))
        scaled = OpenDataFile(folder("scaled.bat"))
        other_size = Show(scaled, view)
        other_size.Look, other_size.GaussianRadius = "Density Glow", 0.02 * scale
        other_size.ColorArrayName = [None, ""]
        other_size.DiffuseColor = other_size.AmbientColor = [0, 0, 1]
        view.CameraPosition, view.CameraParallelScale = [0, 0, 5 * scale], scale
        own.Visibility = 0
        for parallel, expected in ((0, perspective), (1, glow)):
            view.CameraParallelProjection = parallel
            Render(view)
            expect_same(grab(), expected, f"particles of {scale}, parallel {parallel}", 0.05)
        Delete(scaled)
    view.CameraPosition, view.CameraParallelScale = [0, 0, 5], 1

    own.DiffuseColor = own.AmbientColor = [1, 1, 1]
    own.Look = "Spheres"
    expect_same(look(own), spheres, "spheres again", 0)

    # A single colour stays the same, whether or not another was chosen before.
    again = OpenDataFile(path)
    fresh = Show(again, view)
    fresh.Look, fresh.GaussianRadius = "Density Glow", 0.02
    shown.append(fresh)
    embers = look(fresh)
    fresh.ColorArrayName = [None, ""]
    expect_same(look(fresh), embers, "embers", 0)
    shown.remove(fresh)
    Delete(again)

    own.Look, own.SizeAttribute = "True Size", "Outer_Diameter"
    state = folder("looks.pvsm")
    SaveState(state)
    ResetSession()
    LoadState(state)
    found = [display for display in GetRepresentations().values() if display.GetXMLName() == "BATRepresentation"]
    expect([(d.Look, d.SizeAttribute) for d in found], [("True Size", "Outer_Diameter")], "from a state file")
print("ok")
