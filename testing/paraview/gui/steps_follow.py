# SPDX-License-Identifier: BSD-3-Clause
"""Checks for follow.xml."""
from gui_images import *
from paraview import smtrace
from paraview.selection import *

SOME = "mass < 0.01"


def expected():
    data = fetch(FindSource("steps.bat.series"), 0.5)
    found = {name: vtk_to_numpy(data.GetPointData().GetArray(name)) for name in ("id", "mass")}
    return np.sort(found["id"][found["mass"] < 0.01])


def select():
    set_up_view()
    QuerySelect(QueryString=SOME, FieldType="POINT")
    smtrace.start_trace()


def check(times):
    found = [source for source in GetSources().values() if source.GetXMLName() == "BATTrails"]
    expect(len(found), times, "trails in the pipeline")
    trails = found[-1]
    data = fetch(trails, 0.5)
    expect(np.unique(vtk_to_numpy(data.GetPointData().GetArray("id"))), expected(), "ids that are followed")
    expect(data.GetNumberOfLines(), len(expected()), "lines")
    expect(data.GetNumberOfPoints(), 4 * len(expected()), "points")
    shown = GetRepresentation(trails, GetActiveView())
    expect(shown.Visibility, 1, "visibility")
    expect(GetActiveSource().GetXMLName(), "BATTrails", "active source")
    return trails


def check_first():
    trails = check(1)
    colors = list(GetRepresentation(trails, GetActiveView()).ColorArrayName)
    expect(colors, ["POINTS", "time"], "colours of trails")
    trace = smtrace.stop_trace()
    assert "BATTrails(" in trace and "FileNames=" in trace, trace
    assert lit(take("follow.png")) > 0.001
    Delete(trails)
    SetActiveSource(FindSource("steps.bat.series"))
    exec(compile(trace, "trace", "exec"), {})
    check(1)


def follow_again():
    """From here on, two trails are visible, each with other times."""
    SetActiveSource(FindSource("steps.bat.series"))
    QuerySelect(QueryString=SOME, FieldType="POINT")


def check_colors():
    expect(time_range(), (0.5, 2.25), "range of the colours of trails")


def time_range():
    points = GetColorTransferFunction("time").RGBPoints
    return points[0], points[-4]


def select_late():
    SetActiveSource(FindSource("late.bat.series"))
    QuerySelect(QueryString=SOME, FieldType="POINT")


def check_both():
    shown = [source for source in GetSources().values()
             if source.GetXMLName() == "BATTrails" and GetRepresentation(source, GetActiveView()).Visibility]
    expect(len(shown), 3, "trails that are seen")
    check_colors()


def begin_anew():
    for source in list(GetSources().values()):
        Delete(source)


def check_pairs():
    arrays = fetch(FindSource("pairs.bat.series"), 0).GetPointData()
    found = {name: vtk_to_numpy(arrays.GetArray(name)) for name in ("id", "cpu", "mass")}
    chosen = found["mass"] < 0.01
    pairs = sorted(zip(found["id"][chosen].tolist(), found["cpu"][chosen].tolist()))
    assert 0 < len(pairs) < np.isin(found["id"], found["id"][chosen]).sum()
    trails = GetActiveSource()
    expect(trails.GetXMLName(), "BATTrails", "active source")
    expect(trails.Ids, ", ".join("%d:%d" % pair for pair in pairs), "ids of pairs")
    data = fetch(trails, 0)
    cells = [vtk_to_numpy(data.GetCellData().GetArray(name)).tolist() for name in ("id", "cpu")]
    expect(sorted(zip(*cells)), pairs, "trails of pairs")
    expect(data.GetNumberOfPoints(), 3 * len(pairs), "points of pairs")
