# SPDX-License-Identifier: BSD-3-Clause
"""Checks for series.xml."""
from gui_images import *
from vtkmodules.vtkCommonCore import vtkOutputWindow

TIMES = [0.5, 0.75, 2.0, 2.25]
seen = []
radii = {}
suggested = []
messages = []
whole = None


def path_of(step):
    return os.path.join(FOLDER, "steps_%04d.bat" % step)


def cut(step):
    global whole
    set_up_view()
    assert lit(take("step.png")) > 0.001
    vtkOutputWindow.GetInstance().AddObserver("ErrorEvent", lambda window, event: messages.append(event))
    with open(path_of(step), "r+b") as file:
        whole = file.read()
        file.truncate(len(whole) // 2)


def check_empty(step):
    expect(GetAnimationScene().TimeKeeper.Time, TIMES[step], "time")
    expect(GetActiveSource().GetDataInformation().GetNumberOfPoints(), 0, "particles of a damaged step")
    expect(lit(take("step.png")), 0.0, "the lit part of the picture of a damaged step")
    check_one_message()


def check_one_message():
    expect(len(messages), 1, "messages")


def mend(step):
    with open(path_of(step), "wb") as file:
        file.write(whole)


def check(step):
    reader = GetActiveSource()
    expect(reader.GetXMLName(), "BATSeriesReader", "proxy")
    expect(list(reader.TimestepValues), TIMES, "times")
    expect(GetAnimationScene().TimeKeeper.Time, TIMES[step], "time")
    # The information of the shown step, without an update.
    expect(reader.GetDataInformation().GetNumberOfPoints(), 1000 + step, "particles")
    expect(np.sort(vtk_to_numpy(servermanager.Fetch(reader).GetPointData().GetArray("mass"))),
           np.sort(arrays(1000 + step, step)["mass"]), "mass")
    # Particles neither grow nor shrink if those of each step are slightly closer together or farther apart.
    reader.UpdatePropertyInformation()
    suggested.append(reader.SuggestedRadius)
    radius = GetDisplayProperties(reader).GaussianRadius
    expect(radius, radii.setdefault(reader.SMProxy.GetGlobalID(), radius), "radius")


def check_box(step):
    reader, places = GetActiveSource(), points(1000 + step, step).astype("f8")
    expect(np.array(reader.Box)[1::2], places.max(0), "largest ends of the box")
    half = (places.max(0) - places.min(0)) / 2
    expect(np.array(reader.RegionHalfExtents), half, "half extents of the region")
    expect(np.array(reader.RegionCenter), places.min(0) + half, "center of the region")
    expect(list(reader.RegionLimits), [places[:, 2].min(), places[:, 2].max()], "limits of the slab")
    expect(reader.RegionRadius, half.max(), "radius of the sphere")


def watch():
    keeper = GetTimeKeeper()
    keeper.SMProxy.GetProperty("Time").AddObserver("ModifiedEvent", lambda *_: seen.append(keeper.Time))


def check_played():
    expect(len(set(suggested)) > 1, True, "suggested radii %r" % suggested)
    expect(seen[-3:], TIMES[1:], "times that were played")


def begin_anew():
    for source in list(GetSources().values()):
        Delete(source)
    messages.clear()


def check_before():
    reader = GetActiveSource()
    expect(reader.GetDataInformation().GetNumberOfPoints(), 0, "particles before the first")
    expect("velocity" in list(reader.PointArrayStatus), True, "arrays of the steps to come")
    expect(list(messages), [], "messages")


def check_late():
    display = GetDisplayProperties(GetActiveSource())
    expect(list(display.ColorArrayName), ["POINTS", "velocity"], "colours")
    speed = np.sqrt((arrays(1000)["velocity"].astype("f8") ** 2).sum(1))
    table = GetColorTransferFunction("velocity")
    np.testing.assert_allclose((table.RGBPoints[0], table.RGBPoints[-4]), (speed.min(), speed.max()), rtol=1e-5)
    assert lit(take("late.png")) > 0.001
    expect(list(messages), [], "messages")
