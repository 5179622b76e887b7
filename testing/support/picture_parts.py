# SPDX-License-Identifier: BSD-3-Clause
"""What every picture of a manual has beside its data: words, a colour bar, and a scale."""

from paraview.simple import GetColorTransferFunction, GetScalarBar, Outline, Show, Text

WHITE = [1.0, 1.0, 1.0]
GREY = [0.45, 0.45, 0.55]


def add_title(view, words, size=16):
    display = Show(Text(Text=words), view)
    display.WindowLocation = "Upper Left Corner"
    display.FontSize = size
    display.Color = WHITE


def add_bar(view, display, array, title, size=14, position=(0.25, 0.04), length=0.5):
    """A horizontal colour bar at the bottom."""
    display.SetScalarBarVisibility(view, True)
    bar = GetScalarBar(GetColorTransferFunction(array), view)
    bar.Title, bar.ComponentTitle = title, ""
    bar.TitleColor = bar.LabelColor = WHITE
    bar.TitleFontSize = bar.LabelFontSize = size
    bar.AutoOrient, bar.Orientation, bar.WindowLocation = 0, "Horizontal", "Any Location"
    bar.Position, bar.ScalarBarLength = list(position), length
    bar.AddRangeLabels = 0
    return bar


def add_scale(display, size=12, hide="", color=GREY):
    """Numbers along edges of the box of what is displayed, but for the axes in `hide`, such as "yz"."""
    grid = display.DataAxesGrid
    grid.GridAxesVisibility = 1
    grid.ShowGrid, grid.ShowTicks, grid.ShowEdges = 0, 1, 0
    grid.GridColor = color
    for name in ("X", "Y", "Z"):
        hidden = name.lower() in hide
        setattr(grid, name + "Title", "" if hidden else name.lower())
        setattr(grid, name + "AxisUseCustomLabels", int(hidden))
        for part in ("Title", "Label"):
            setattr(grid, name + part + "FontSize", size)
            setattr(grid, name + part + "Color", WHITE)
    return grid


def add_box(view, source, size=12, hide=""):
    """The edges of the box of a source, with numbers."""
    display = Show(Outline(Input=source), view)
    display.AmbientColor = display.DiffuseColor = GREY
    display.LineWidth = 1.5
    return add_scale(display, size, hide)
