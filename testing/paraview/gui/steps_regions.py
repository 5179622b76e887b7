# SPDX-License-Identifier: BSD-3-Clause
"""Checks for regions.xml and handles.xml."""
from bat_test import *
from paraview.selection import *

N = 5000
P = far_points(N)
ID = arrays(N)["id"]
MIDDLE = 0.5 * (P.min(axis=0) + P.max(axis=0))
kept = {}



def expect_ids(inside, what):
    """What the window has loaded, after checking that it is some, but not all."""
    assert 0 < inside.sum() < N, (what, inside.sum())
    expect(np.sort(vtk_to_numpy(servermanager.Fetch(GetActiveSource()).GetPointData().GetArray("id"))),
        ID[inside], what)


# The box of the selection and of the view.


def in_box(box):
    box = np.array(box).reshape(3, 2)
    return ((P >= box[:, 0]) & (P <= box[:, 1])).all(axis=1)


def select_frustum():
    view = GetActiveView()
    view.ResetCamera()
    width, height = view.ViewSize
    SelectPointsThrough(Rectangle=[width // 3, height // 3, width // 2, height // 2], View=view)
    reader = GetActiveSource()
    selected = servermanager.Fetch(ExtractSelection(Input=reader, Selection=reader.GetSelectionInput(0)))
    SetActiveSource(reader)
    kept["selected"] = np.isin(ID, vtk_to_numpy(selected.GetPointData().GetArray("id")))
    kept["box"] = list(reader.Box)


def check_not_applied():
    expect(list(GetActiveSource().Box), kept["box"], "the box, before Apply")


def check_selected():
    selected = P[kept["selected"]]
    box = np.stack([selected.min(axis=0), selected.max(axis=0)], axis=1).ravel()
    expect(np.array(GetActiveSource().Box), box, "the box of the selection")
    expect_ids(in_box(box), "what is in the box of the selection")


def place(view, position, focus, up, parallel, angle=12):
    view.CameraParallelProjection = parallel
    view.CameraPosition, view.CameraFocalPoint, view.CameraViewUp = list(position), list(focus), list(up)
    view.CameraViewAngle = angle
    view.CameraParallelScale = 0.3
    Render(view)


def in_view(points):
    """The camera by its definition."""
    view = GetActiveView()
    position = np.array(view.CameraPosition)
    ahead = np.array(view.CameraFocalPoint) - position
    ahead = ahead / np.linalg.norm(ahead)
    right = np.cross(ahead, view.CameraViewUp)
    right = right / np.linalg.norm(right)
    above = np.cross(right, ahead)
    away = points - position
    half = np.tan(np.radians(view.CameraViewAngle / 2)) * (away @ ahead)
    if view.CameraParallelProjection:
        half = np.full(len(points), view.CameraParallelScale)
    width, height = view.ViewSize
    return (half >= 0) & (np.abs(away @ above) <= half) & (np.abs(away @ right) <= half * width / height)


def move_display(displacement, scale, degrees):
    display = GetDisplayProperties(GetActiveSource(), GetActiveView())
    display.Scale = scale
    display.Orientation = degrees
    name = "Translation" if hasattr(display, "Translation") else "Position"  # since 5.13, and before
    setattr(display, name, displacement)
    Render()


def drawn(points, displacement=(0, 0, 0), scale=(1, 1, 1), degrees=(0, 0, 0)):
    return points * np.array(scale) @ turn(degrees).T + np.array(displacement)


MOVED = {"displacement": [-5e6, 3e6, 1e6], "scale": [1.0, 2.0, 4.0], "degrees": [10.0, 20.0, 30.0]}
INSIDE = MIDDLE + [0.3, -0.2, 0.05]


def look_from_outside():
    place(GetActiveView(), MIDDLE + [1.5, 1.0, 2.0], MIDDLE + [0.4, 0.2, 0], [0, 1, 0], 0)


def look_from_inside():
    place(GetActiveView(), INSIDE, INSIDE + [0.5, 0.6, 0.1], [0, 0, 1], 0)


def look_parallel():
    place(GetActiveView(), MIDDLE + [1.5, 1.0, 2.0], MIDDLE + [0.2, 0.2, 0], [0.2, 1, 0], 1)


def look_at_moved():
    move_display(**MOVED)
    focus = drawn(MIDDLE + [0.2, 0.2, 0], **MOVED)
    place(GetActiveView(), focus + [1.0, 2.0, 5.0], focus, [0, 1, 0], 0, angle=4)


def check_view(moved=False):
    """Nothing in view is lost, and the box is as small as possible."""
    box = np.array(GetActiveSource().Box).reshape(3, 2)
    seen = in_view(drawn(P, **MOVED) if moved else P)
    assert 5 < seen.sum() < 0.9 * N, seen.sum()
    assert in_box(box)[seen].all()
    expect_ids(in_box(box), "what is in the box of the view")
    # The whole of space in view, not only where particles are.
    ends = np.array(GetActiveSource().Bounds).reshape(3, 2)
    places = ends[:, 0] + np.random.default_rng(5).random((400000, 3)) * (ends[:, 1] - ends[:, 0])
    places = places[in_view(drawn(places, **MOVED) if moved else places)]
    slack = np.stack([places.min(axis=0) - box[:, 0], box[:, 1] - places.max(axis=0)])
    assert slack.min() >= 0, slack
    assert (slack < 0.08 * (box[:, 1] - box[:, 0])).all(), (slack, box)
    if moved:
        move_display([0, 0, 0], [1, 1, 1], [0, 0, 0])
        GetActiveView().ResetCamera()


# Regions.


def in_region(reader):
    """Evaluates the reader's properties, in the order of operations that the library's manual gives."""
    x, y, z = (P - np.array(reader.RegionCenter)).T
    if reader.Region == "Sphere":
        inside = (x * x + y * y) + z * z <= reader.RegionRadius ** 2
    elif reader.Region == "Slab":
        normal = np.array(reader.RegionNormal)
        along = (normal[0] * P[:, 0] + normal[1] * P[:, 1]) + normal[2] * P[:, 2]
        inside = (along >= reader.RegionLimits[0]) & (along <= reader.RegionLimits[1])
    else:
        expect(reader.Region, "Oriented Box", "Region")
        inside = (np.abs((P - np.array(reader.RegionCenter)) @ turn(reader.RegionRotation))
            <= np.array(reader.RegionHalfExtents)).all(axis=1)
    return inside != bool(reader.RegionOutside)


def check_region():
    reader = GetActiveSource()
    expect_ids(in_region(reader), "what is in the %s" % reader.Region)


def near(found, expected, tolerance, what):
    assert np.abs(np.array(found) - np.array(expected)).max() <= tolerance, (what, list(found), list(expected))


def check_slab(normal, position, thickness):
    reader = GetActiveSource()
    near(reader.RegionNormal, normal, 0, "normal")
    near(reader.RegionLimits, [position - thickness / 2, position + thickness / 2], 1e-8, "limits")
    check_region()


def check_slab_across_view():
    reader, view = GetActiveSource(), GetActiveView()
    ahead = np.array(view.CameraFocalPoint) - np.array(view.CameraPosition)
    near(reader.RegionNormal, ahead / np.linalg.norm(ahead), 1e-6, "normal")
    # Through the middle of the previous slab.
    near([np.mean(reader.RegionLimits)], [np.dot(reader.RegionNormal, kept["middle"])], 1e-4, "middle")
    near([np.ptp(reader.RegionLimits)], [kept["thickness"]], 1e-4, "thickness")
    check_region()


def keep_slab():
    reader = GetActiveSource()
    kept["thickness"] = np.ptp(reader.RegionLimits)
    box = np.array(reader.Bounds).reshape(3, 2)
    normal = np.array(reader.RegionNormal)
    kept["middle"] = box.mean(axis=1) + (np.mean(reader.RegionLimits) - normal @ box.mean(axis=1)) * normal


def set_auto_apply(on):
    GetSettingsProxy("GeneralSettings").AutoApply = on


# Handles in the view.


def visible_widgets():
    """Those of ParaView's 3D widgets that the panel has placed in the view."""
    hidden = GetActiveView().SMProxy.GetProperty("HiddenRepresentations")
    proxies = [hidden.GetProxy(i) for i in range(hidden.GetNumberOfProxies())]
    return [proxy for proxy in proxies if servermanager._getPyProxy(proxy).Visibility]


def expect_visible(*names):
    expect([proxy.GetXMLName() for proxy in visible_widgets()],
        [name + "WidgetRepresentation" for name in names], "widgets in the view")


class Information:
    """A widget's own state, which Python's proxies omit."""

    def __init__(self, proxy):
        proxy.UpdatePropertyInformation()
        self.proxy = proxy

    def __getattr__(self, name):
        values = servermanager.vtkSMPropertyHelper(self.proxy, name + "Info")
        return [values.GetAsDouble(i) for i in range(values.GetNumberOfElements())]


def widget(name):
    expect_visible(name)
    return Information(visible_widgets()[0])


def in_pixels(point):
    renderer = GetActiveView().GetRenderer()
    renderer.SetWorldPoint(*point, 1)
    renderer.WorldToDisplay()
    return [int(round(x)) for x in renderer.GetDisplayPoint()[:2]]


def drag(start, end, button="Left"):
    """Drags the mouse between the positions of two points in the view."""
    interactor = GetActiveView().GetInteractor()
    places = [in_pixels(start), in_pixels(end)]

    def event(place, name):
        interactor.SetEventInformation(*place, 0, 0, chr(0), 0, None)
        interactor.InvokeEvent(name)

    event(places[0], "MouseMoveEvent")
    event(places[0], button + "ButtonPressEvent")
    for share in np.linspace(0, 1, 4):
        event([int(round((1 - share) * a + share * b)) for a, b in zip(*places)], "MouseMoveEvent")
    event(places[1], button + "ButtonReleaseEvent")


CENTER = np.array([1000001.2, -1999999.6, 3000000.145])


def look_from_front():
    """z is upwards, x to the right, and no legend covers the handles."""
    for shown in GetActiveView().Representations:
        if shown.SMProxy.GetProperty("ColorArrayName") and shown.ColorArrayName[1]:
            shown.SetScalarBarVisibility(GetActiveView(), False)
    place(GetActiveView(), MIDDLE + [1.0, -6.0, 2.0], MIDDLE, [0, 0, 1], 0, angle=25)


def check_sphere_of_numbers():
    sphere = widget("Sphere")
    near(sphere.Center, CENTER, 1e-9, "center of the handles")
    expect(sphere.Radius, [0.4], "radius of the handles")


def drag_sphere():
    drag(CENTER, CENTER + [0.3, 0.05, 0])


def check_sphere_moved():
    reader = GetActiveSource()
    moved = np.array(reader.RegionCenter) - CENTER
    assert 0.2 < moved[0] < 0.4 and abs(moved[1]) < 0.1 and abs(moved[2]) < 0.1, moved
    expect(reader.RegionRadius, 0.4, "radius, which was not dragged")
    near(widget("Sphere").Center, reader.RegionCenter, 1e-9, "center of the handles")
    check_region()
    kept["center"] = list(reader.RegionCenter)


def enlarge_sphere():
    drag(kept["center"], np.array(kept["center"]) + [0, 0, 0.1], "Right")


def check_sphere_enlarged():
    reader = GetActiveSource()
    assert 0.42 < reader.RegionRadius < 0.8, reader.RegionRadius
    expect(list(reader.RegionCenter), kept["center"], "center, which was not dragged")
    near(widget("Sphere").Radius, [reader.RegionRadius], 1e-9, "radius of the handles")
    check_region()


def check_sphere_as_before():
    """Reset also resets the handles."""
    near(widget("Sphere").Center, GetActiveSource().RegionCenter, 1e-9, "center of the handles")
    near(widget("Sphere").Radius, [GetActiveSource().RegionRadius], 1e-9, "radius of the handles")


def check_plane():
    reader, plane = GetActiveSource(), widget("ImplicitPlane")
    normal = np.array(reader.RegionNormal)
    near(plane.Normal, normal / np.linalg.norm(normal), 1e-6, "normal of the plane")
    near([normal @ np.array(plane.Origin)], [np.mean(reader.RegionLimits)], 1e-3, "origin of the plane")


def move_plane():
    """By the plane itself: its ball moves within it."""
    place(GetActiveView(), MIDDLE + [4.0, -4.0, 2.0], MIDDLE, [0, 0, 1], 0, angle=25)
    held = np.array(widget("ImplicitPlane").Origin) + [0, 0.2, 0.06]
    drag(held, held + [0.25, 0, 0])


def check_plane_moved():
    reader = GetActiveSource()
    expect(list(reader.RegionNormal), [1, 0, 0], "normal, which was not dragged")
    assert 0.05 < np.mean(reader.RegionLimits) - kept["middle"][0] < 0.4, reader.RegionLimits
    near([np.ptp(reader.RegionLimits)], [kept["thickness"]], 1e-3, "thickness")
    check_plane()
    check_region()


def turn_plane():
    origin = np.array(widget("ImplicitPlane").Origin)
    drag(origin + [0.3, 0, 0], origin + [0.2, 0, 0.4])


def check_plane_turned():
    reader = GetActiveSource()
    normal = np.array(reader.RegionNormal)
    assert 0.3 < normal[0] < 0.999 and normal[2] > 0.05, normal
    near([np.ptp(reader.RegionLimits)], [kept["thickness"]], 1e-3, "thickness")
    check_plane()
    check_region()


def keep_box():
    reader = GetActiveSource()
    kept["center"], kept["half"] = list(reader.RegionCenter), list(reader.RegionHalfExtents)
    kept["rotation"] = list(reader.RegionRotation)
    box = widget("Box")
    near(box.Position, reader.RegionCenter, 1e-6, "center of the handles")
    near(box.Scale, reader.RegionHalfExtents, 1e-6, "half extents of the handles")
    near(turn(box.Rotation), turn(reader.RegionRotation), 1e-6, "rotation of the handles")


def drag_face():
    """The one at the right."""
    right = turn(kept["rotation"])[:, 0]
    face = np.array(kept["center"]) + kept["half"][0] * right
    drag(face, face - 0.2 * right)


def check_face_dragged():
    reader = GetActiveSource()
    right = turn(kept["rotation"])[:, 0]
    # The other face stays.
    assert 0.03 < kept["half"][0] - reader.RegionHalfExtents[0] < 0.15, (reader.RegionHalfExtents, kept["half"])
    near(np.array(reader.RegionCenter) - reader.RegionHalfExtents[0] * right,
        np.array(kept["center"]) - kept["half"][0] * right, 1e-3, "the face that was not dragged")
    expect(list(reader.RegionHalfExtents)[1:], kept["half"][1:], "half extents that were not dragged")
    expect(list(reader.RegionRotation), kept["rotation"], "rotation, which was not dragged")
    check_region()


def turn_box():
    towards = turn(kept["rotation"])
    face = np.array(kept["center"]) - kept["half"][1] * towards[:, 1]
    face = face + 0.6 * kept["half"][0] * towards[:, 0] + 0.6 * kept["half"][2] * towards[:, 2]
    drag(face, face + [0.1, 0, 0.1])


def check_box_turned():
    reader = GetActiveSource()
    assert np.abs(turn(reader.RegionRotation) - turn(kept["rotation"])).max() > 0.05, reader.RegionRotation
    near(reader.RegionHalfExtents, kept["half"], 1e-3, "half extents")
    near(reader.RegionCenter, kept["center"], 1e-3, "center")
    near(turn(widget("Box").Rotation), turn(reader.RegionRotation), 1e-3, "rotation of the handles")
    check_region()


def check_hidden():
    """There are no handles for a source that is not active, or is drawn elsewhere."""
    reader = GetActiveSource()
    other = Cone()
    SetActiveSource(other)
    Render()
    expect_visible()
    SetActiveSource(reader)
    Delete(other)
    SetActiveSource(reader)
    Render()
    expect_visible("Box")
    HideInteractiveWidgets(reader)
    expect_visible()
    ShowInteractiveWidgets(reader)
    expect_visible("Box")
    move_display(**MOVED)


def check_hidden_where_moved():
    expect_visible()
    move_display([0, 0, 0], [1, 1, 1], [0, 0, 0])


def check_shown():
    expect_visible("Box")
