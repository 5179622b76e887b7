# SPDX-License-Identifier: BSD-3-Clause
"""Draws Figure 13 of the paper: the boiler at qualities 0.2, 0.4 and 0.8, with larger balls where particles
are fewer.

    pvbatch paper_pictures.py BOILER.bat quality.png

Needs a display, and PV_PLUGIN_PATH. `paper.py boiler` writes such a file.
"""

import os
import sys

from paraview.simple import (
    BATReader,
    ColorBy,
    CreateRenderView,
    GetColorTransferFunction,
    SaveScreenshot,
    Show,
    CreateLayout,
)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from picture_parts import add_bar, add_box, add_title, fit

QUALITIES = (0.2, 0.4, 0.8)
RADIUS = 0.04  # m, of all particles; the furnace is 8 m wide
SIZE = (400, 640)  # each of the three pictures
BLACK = [0.0, 0.0, 0.0]
UP = [0, 0, 1]


def view_of(path, quality):
    reader = BATReader(FileName=[path])
    reader.ParticleBudget = 0
    reader.Quality = quality
    reader.UpdatePipeline()
    view = CreateRenderView(ViewSize=SIZE)
    view.UseColorPaletteForBackground = 0
    view.Background = [1.0, 1.0, 1.0]
    view.OrientationAxesVisibility = 0
    display = Show(reader, view)
    display.SetRepresentationType("Point Gaussian")
    display.ShaderPreset = "Plain circle"
    display.ScaleByArray = 0
    display.GaussianRadius = RADIUS * quality ** (-1 / 3)  # the same total volume in all
    ColorBy(display, ("POINTS", "attribute0"))
    colors = GetColorTransferFunction("attribute0")
    colors.ApplyPreset("Viridis (matplotlib)", True)
    colors.RescaleTransferFunction(-1.0, 1.0)
    count = reader.GetDataInformation().GetNumberOfPoints()
    add_bar(view, display, "attribute0", "first attribute (no unit)", color=BLACK, labels=[-1, 0, 1])
    bounds = list(reader.GetDataInformation().GetBounds())
    add_box(view, bounds, UP, labels=BLACK)
    add_title(view, f"quality {quality}: {count / 1e6:.2f} million particles", color=BLACK)
    fit(view, bounds, [30, -50, 6], UP, angle=32)
    return view


def main():
    path, picture = sys.argv[1:]
    layout = CreateLayout("quality")
    cell = 0
    views = [view_of(path, quality) for quality in QUALITIES]
    for number, view in enumerate(views):
        left = len(views) - number
        if left > 1:
            layout.SplitHorizontal(cell, 1 / left)
            layout.AssignView(2 * cell + 1, view)
            cell = 2 * cell + 2
        else:
            layout.AssignView(cell, view)
    size = [len(views) * SIZE[0], SIZE[1]]
    layout.SetSize(*size)
    SaveScreenshot(picture, layout, SaveAllViews=1, ImageResolution=size)
    if not os.path.exists(picture):
        sys.exit(f"{picture} was not written")


if __name__ == "__main__":
    main()
