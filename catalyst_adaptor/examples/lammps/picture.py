# SPDX-License-Identifier: BSD-3-Clause
"""Four steps of the collision side by side: pvbatch picture.py SERIES PNG [QUALITY]."""

import os
import sys

from paraview.simple import (
    ColorBy,
    CreateLayout,
    CreateRenderView,
    GetColorTransferFunction,
    OpenDataFile,
    SaveScreenshot,
    Show,
    UpdatePipeline,
)

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "..", "testing", "support"))
from picture_parts import add_bar, add_ruler, add_title, fit

WIDTH, HEIGHT = 480, 540  # of each of the four
BACKGROUND = [0.13, 0.14, 0.17]


def new_view(time, bounds):
    view = CreateRenderView(ViewSize=[WIDTH, HEIGHT])
    view.UseColorPaletteForBackground = 0
    view.Background = BACKGROUND
    view.OrientationAxesVisibility = 0
    view.ViewTime = time
    fit(view, bounds, [0, -1, 0], [0, 0, 1], room=(10, 10, 40, 110))
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
    return display


def main():
    series = OpenDataFile(sys.argv[1])
    if len(sys.argv) > 3:
        series.Quality = float(sys.argv[3])
    UpdatePipeline(proxy=series)
    times = list(series.TimestepValues)
    chosen = [times[round(i * (len(times) - 1) / 3)] for i in range(4)]
    bounds = list(series.GetDataInformation().GetBounds())
    side = bounds[1] - bounds[0]  # of the first step; later ones are higher
    bounds[4:] = [-side / 2, side / 2]
    layout = CreateLayout("collision")
    cell = 0
    for i, time in enumerate(chosen):
        view = new_view(time, bounds)
        add_bar(view, show_atoms(series, view), "v", "speed (sigma / tau)", labels=range(0, 9, 2))
        add_title(view, f"time {time:.2f} tau")
        add_ruler(view, 10, "10 sigma", (20, 115))
        place = cell
        if i < 3:
            place = layout.SplitHorizontal(cell, 1.0 / (4 - i))
            cell = place + 1
        layout.AssignView(place, view)
    size = [4 * WIDTH, HEIGHT]
    layout.SetSize(*size)
    SaveScreenshot(sys.argv[2], layout, SaveAllViews=1, ImageResolution=size)
    print(f"picture: {sys.argv[2]}")


if __name__ == "__main__":
    main()
