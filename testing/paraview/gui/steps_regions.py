"""Of regions.xml."""
from bat_test import *
from paraview.selection import *

N = 20000
P = far_points(N)
ID = arrays(N)["id"]
MIDDLE = 0.5 * (P.min(axis=0) + P.max(axis=0))
kept = {}



def expect_ids(inside, what):
    """What the window has loaded, and before that: that it is some, but not all."""
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
    """Nothing that is in view is lost, and the box is as small as can be."""
    box = np.array(GetActiveSource().Box).reshape(3, 2)
    seen = in_view(drawn(P, **MOVED) if moved else P)
    assert 10 < seen.sum() < 0.9 * N, seen.sum()
    assert in_box(box)[seen].all()
    expect_ids(in_box(box), "what is in the box of the view")
    # All of space in view, not only where particles are.
    ends = np.array(GetActiveSource().Bounds).reshape(3, 2)
    places = ends[:, 0] + np.random.default_rng(5).random((400000, 3)) * (ends[:, 1] - ends[:, 0])
    places = places[in_view(drawn(places, **MOVED) if moved else places)]
    slack = np.stack([places.min(axis=0) - box[:, 0], box[:, 1] - places.max(axis=0)])
    assert slack.min() >= 0, slack
    assert (slack < 0.08 * (box[:, 1] - box[:, 0])).all(), (slack, box)
    if moved:
        move_display([0, 0, 0], [1, 1, 1], [0, 0, 0])
        GetActiveView().ResetCamera()
