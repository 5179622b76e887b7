# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of the demo's .bat files, each read with the quality, box or range that it shows."""

import os

from paraview.simple import (
    BATReader,
    BATTrails,
    ColorBy,
    CreateLayout,
    CreateRenderView,
    Delete,
    GetColorTransferFunction,
    GetScalarBar,
    OutputPort,
    SaveScreenshot,
    Show,
    Text,
)

BACKGROUND = [0.13, 0.14, 0.17]
LAYER_NAMES = ["1", "bottom", "2", "", "3", "", "4", "top", "5", "projectile"]
LAYER_COLORS = [
    [0.20, 0.28, 0.50],
    [0.36, 0.56, 0.72],
    [0.88, 0.85, 0.77],
    [0.82, 0.58, 0.38],
    [0.92, 0.22, 0.20],
]
FROM_THE_FRONT = {"position": [46.0, -138.0, 88.0], "focus": [62.0, 37.0, 17.0]}


def read(bats, **properties):
    reader = BATReader(FileName=bats, **properties)
    reader.UpdatePipeline()
    reader.UpdatePropertyInformation()
    return reader


def new_view(camera):
    view = CreateRenderView()
    view.UseColorPaletteForBackground = 0
    view.Background = BACKGROUND
    view.OrientationAxesVisibility = 0
    view.CameraPosition = camera["position"]
    view.CameraFocalPoint = camera["focus"]
    view.CameraViewUp = [0.0, 0.0, 1.0]
    view.CameraViewAngle = 34.0
    return view


def add_text(view, words):
    display = Show(Text(Text=words), view)
    display.WindowLocation = "Upper Left Corner"
    display.FontSize = 20
    display.Color = [1.0, 1.0, 1.0]


def show_grains(reader, view, size=1.0):
    """Grains as shaded balls of their own radius, times `size`."""
    display = Show(reader, view)
    display.SetRepresentationType("Point Gaussian")
    display.ShaderPreset = "Sphere"
    display.ScaleByArray = 1
    display.SetScaleArray = ["POINTS", "radius"]
    display.UseScaleFunction = 0
    display.GaussianRadius = size
    return display


def show_bar(view, display, colors, title):
    display.SetScalarBarVisibility(view, True)
    bar = GetScalarBar(colors, view)
    bar.Title = title
    bar.ComponentTitle = ""
    bar.TitleColor = bar.LabelColor = [1.0, 1.0, 1.0]
    bar.TitleFontSize = bar.LabelFontSize = 18
    bar.AutoOrient = 0
    bar.Orientation = "Horizontal"
    bar.WindowLocation = "Any Location"
    bar.Position = [0.25, 0.05]
    bar.ScalarBarLength = 0.5
    bar.AddRangeLabels = 0
    return bar


def color_by_speed(display, view):
    ColorBy(display, ("POINTS", "velocity", "Magnitude"))
    colors = GetColorTransferFunction("velocity")
    colors.ApplyPreset("Plasma (matplotlib)", True)
    colors.RescaleTransferFunction(0.0, 12.0)
    bar = show_bar(view, display, colors, "speed")
    bar.UseCustomLabels = 1
    bar.CustomLabels = [0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0]


def color_by_layer(display, view):
    ColorBy(display, ("POINTS", "layer"))
    colors = GetColorTransferFunction("layer")
    colors.InterpretValuesAsCategories = 1
    colors.Annotations = LAYER_NAMES
    colors.IndexedColors = [part for color in LAYER_COLORS for part in color]
    show_bar(view, display, colors, "layer of the bed")


def save(rows, path, width, height):
    """Saves rows of views as one picture and takes the views away."""
    layout = CreateLayout(os.path.basename(path))
    for row, row_cell in zip(rows, split(layout.SplitVertical, 0, len(rows))):
        for view, cell in zip(row, split(layout.SplitHorizontal, row_cell, len(row))):
            layout.AssignView(cell, view)
    layout.SetSize(width, height)
    SaveScreenshot(path, layout, SaveAllViews=1, ImageResolution=[width, height])
    if not os.path.exists(path):
        raise RuntimeError(f"{path} was not written")
    for row in rows:
        for view in row:
            Delete(view)
    print(f"picture: {path}", flush=True)


def split(split_cell, cell, parts):
    """Splits a cell of a layout into equal parts; returns their numbers."""
    cells = []
    for left in range(parts, 1, -1):
        first = split_cell(cell, 1.0 / left)
        cells.append(first)
        cell = first + 1
    return cells + [cell]


def qualities(path, bat):
    """1 %, 10 % and all of the grains; the fewer there are, the larger they are drawn."""
    views = []
    for quality in (0.01, 0.1, 1.0):
        reader = read([bat], Quality=quality)
        view = new_view(FROM_THE_FRONT)
        color_by_speed(show_grains(reader, view, quality ** (-1.0 / 3.0)), view)
        add_text(view, f"quality {quality:g}: {reader.LoadedCount:,} grains")
        views.append(view)
    save([views], path, 2400, 640)


def steps(path, bats, times):
    """What happens, by layer: four times out of a series."""
    series = read(bats)
    views = []
    for time in times:
        view = new_view(FROM_THE_FRONT)
        view.ViewTime = time
        color_by_layer(show_grains(series, view), view)
        add_text(view, f"time {time:.2f}")
        views.append(view)
    save([views[:2], views[2:]], path, 2100, 1400)


def box(path, bat, middle):
    """The half behind the plane y = middle: a cut through the crater."""
    infinite = float("inf")
    reader = read([bat], UseBox=1, Box=[-infinite, infinite, middle, infinite, -infinite, infinite])
    view = new_view({"position": [52.0, -95.0, 52.0], "focus": [55.0, 40.0, 24.0]})
    color_by_layer(show_grains(reader, view), view)
    add_text(view, f"box y >= {middle:.1f}: {reader.LoadedCount:,} grains")
    save([[view]], path, 1500, 900)


def fast_grains(path, bat):
    """Only the grains that are fast; 10 % of all the others as dots, to see where that is."""
    view = new_view({"position": [48.0, -105.0, 60.0], "focus": [62.0, 37.0, 26.0]})
    display = Show(read([bat], Quality=0.1), view)
    display.SetRepresentationType("Points")
    display.PointSize = 1.5
    display.ColorArrayName = [None, ""]
    display.AmbientColor = display.DiffuseColor = [0.45, 0.47, 0.52]
    reader = read([bat], AttributeRanges=["velocity", "8", ""])
    color_by_speed(show_grains(reader, view), view)
    add_text(view, f"speed >= 8: {reader.LoadedCount:,} grains")
    save([[view]], path, 1500, 900)


def trails(path, tracks, bat):
    """Where the grains of a tracks file have been, and where they are at the end; behind them 10 % of the bed."""
    view = new_view({"position": [52.0, -112.0, 62.0], "focus": [64.0, 37.0, 21.0]})
    bed = Show(read([bat], Quality=0.1), view)
    bed.SetRepresentationType("Points")
    bed.PointSize = 1.5
    bed.ColorArrayName = [None, ""]
    bed.AmbientColor = bed.DiffuseColor = [0.45, 0.47, 0.52]
    source = BATTrails(FileNames=[tracks])
    source.UpdatePipeline()
    source.UpdatePropertyInformation()
    times = list(source.TimestepValues)
    view.ViewTime = times[-1]
    lines = Show(source, view)
    lines.LineWidth = 1.6
    color_by_speed(lines, view)
    ends = show_grains(OutputPort(source, 1), view, 1.3)
    color_by_speed(ends, view)
    add_text(view, f"{source.FoundCount:,} grains at {len(times)} times")
    save([[view]], path, 1500, 900)
