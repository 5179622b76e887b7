# SPDX-License-Identifier: BSD-3-Clause
"""Four steps of the collision side by side: pvbatch picture.py SERIES PNG [QUALITY]."""

import sys

from paraview.simple import (
    ColorBy,
    CreateLayout,
    CreateRenderView,
    GetColorTransferFunction,
    GetScalarBar,
    OpenDataFile,
    SaveScreenshot,
    Show,
    Text,
    UpdatePipeline,
)

WIDTH, HEIGHT = 2400, 640
BACKGROUND = [0.13, 0.14, 0.17]


def new_view(time, half_width):
    view = CreateRenderView()
    view.UseColorPaletteForBackground = 0
    view.Background = BACKGROUND
    view.OrientationAxesVisibility = 0
    view.CameraParallelProjection = 1
    view.CameraFocalPoint = [0.0, 0.0, 0.0]
    view.CameraPosition = [0.0, -10.0 * half_width, 0.0]
    view.CameraViewUp = [0.0, 0.0, 1.0]
    view.CameraParallelScale = half_width * HEIGHT / (WIDTH / 4)
    view.ViewTime = time
    return view


def show_atoms(series, view):
    display = Show(series, view)
    display.SetRepresentationType("Point Gaussian")
    display.ShaderPreset = "Sphere"
    display.GaussianRadius = 0.6
    ColorBy(display, ("POINTS", "v", "Magnitude"))
    colors = GetColorTransferFunction("v")
    colors.ApplyPreset("Plasma (matplotlib)", True)
    colors.RescaleTransferFunction(0.0, 8.0)
    return display, colors


def show_bar(view, display, colors):
    display.SetScalarBarVisibility(view, True)
    bar = GetScalarBar(colors, view)
    bar.Title = "speed"
    bar.ComponentTitle = ""
    bar.TitleColor = bar.LabelColor = [1.0, 1.0, 1.0]
    bar.TitleFontSize = bar.LabelFontSize = 16
    bar.AutoOrient = 0
    bar.Orientation = "Horizontal"
    bar.WindowLocation = "Any Location"
    bar.Position = [0.15, 0.03]
    bar.ScalarBarLength = 0.7
    bar.UseCustomLabels = 1
    bar.CustomLabels = [0.0, 2.0, 4.0, 6.0, 8.0]
    bar.AddRangeLabels = 0


def add_title(view, words):
    display = Show(Text(Text=words), view)
    display.WindowLocation = "Upper Left Corner"
    display.FontSize = 18
    display.Color = [1.0, 1.0, 1.0]


def main():
    series = OpenDataFile(sys.argv[1])
    if len(sys.argv) > 3:
        series.Quality = float(sys.argv[3])
    UpdatePipeline(proxy=series)
    times = list(series.TimestepValues)
    chosen = [times[round(i * (len(times) - 1) / 3)] for i in range(4)]
    bounds = series.GetDataInformation().GetBounds()
    half_width = 0.52 * (bounds[1] - bounds[0])
    layout = CreateLayout("collision")
    cell = 0
    for i, time in enumerate(chosen):
        view = new_view(time, half_width)
        display, colors = show_atoms(series, view)
        add_title(view, f"time {time:.2f}")
        if i == 0:
            show_bar(view, display, colors)
        place = cell
        if i < 3:
            place = layout.SplitHorizontal(cell, 1.0 / (4 - i))
            cell = place + 1
        layout.AssignView(place, view)
    layout.SetSize(WIDTH, HEIGHT)
    SaveScreenshot(sys.argv[2], layout, SaveAllViews=1, ImageResolution=[WIDTH, HEIGHT])
    print(f"picture: {sys.argv[2]}")


if __name__ == "__main__":
    main()
