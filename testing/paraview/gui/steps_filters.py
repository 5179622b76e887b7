# SPDX-License-Identifier: BSD-3-Clause
"""Checks for filters.xml."""
from bat_test import *
from paraview.selection import *

A = arrays(20000)
kept = []


def check():
    expect(ids(GetActiveSource()), A["id"][A["mass"] <= 0.25], "ids of what was dragged and typed")


def held_range():
    """Minimum and maximum of the mass, as texts, in the panel but not yet applied."""
    ranges = GetActiveSource().SMProxy.GetProperty("AttributeRanges")
    texts = [ranges.GetUncheckedElement(i) for i in range(ranges.GetNumberOfUncheckedElements())]
    assert len(texts) == 3 and texts[0] == "mass", texts
    minimum, maximum = map(float, texts[1:])
    # Both ends of the range from 0 to 0.25 were dragged by a quarter of the slider.
    assert abs(minimum - 0.25) < 0.05 and abs(maximum - minimum - 0.25) < 0.005, texts
    return texts[1:]


def held_count():
    minimum, maximum = map(float, held_range())
    mass = A["mass"].astype("f8")
    return f"{np.count_nonzero((mass >= minimum) & (mass <= maximum)):,} of {len(mass):,} match"


def select_query(text):
    QuerySelect(QueryString=text, FieldType="POINT")


def check_light_hidden():
    reader = GetActiveSource()
    expect(reader.IdsMode, "All But These", "IdsMode")
    expect(ids(reader), A["id"][A["mass"] >= 0.01], "without what is light")


def check_heavy_hidden():
    expect(ids(GetActiveSource()), A["id"][(A["mass"] >= 0.01) & (A["mass"] <= 0.99)], "without light and heavy")


def select_frustum():
    view = GetActiveView()
    view.ResetCamera()
    width, height = view.ViewSize
    SelectPointsThrough(Rectangle=[0, 0, width // 3, height // 2], View=view)
    reader = GetActiveSource()
    selected = servermanager.Fetch(ExtractSelection(Input=reader, Selection=reader.GetSelectionInput(0)))
    kept.append(np.sort(vtk_to_numpy(selected.GetPointData().GetArray("id"))))
    SetActiveSource(reader)
    assert 10 < len(kept[0]) < 19000, len(kept[0])


def check_frustum():
    reader = GetActiveSource()
    expect(reader.IdsMode, "Only These", "IdsMode")
    expect(ids(reader), kept[0], "what was in the frustum")


def color_by_kind():
    reader = GetActiveSource()
    ColorBy(GetDisplayProperties(reader), ("POINTS", "kind"))
    colors = GetColorTransferFunction("kind")
    colors.AutomaticRescaleRangeMode = "Never"
    colors.RGBPoints = [1, 1, 0, 0, 5, 0, 0, 1]  # value, red, green, blue
    Render()


def check_kinds(*expected):
    """For the loaded particles."""
    found = fetch(GetActiveSource()).GetPointData().GetArray("kind")
    expect(sorted(set(vtk_to_numpy(found))), sorted(expected), "kinds")
    return len(vtk_to_numpy(found))


def set_ranges(*texts):
    GetActiveSource().AttributeRanges = list(texts)


def check_ranges(*texts):
    expect(list(GetActiveSource().AttributeRanges), list(texts), "AttributeRanges")
