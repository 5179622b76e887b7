# SPDX-License-Identifier: BSD-3-Clause
"""Draws pictures of a turbulent flow at 1/512, 1/64, 1/8 and all of its samples, with both plugins.

usage: pvpython pictures.py FOLDER [SAMPLES STEPS]   writes turbulence.idx and idx_levels.png into FOLDER
"""
import os
import sys

import turbulence
from paraview.simple import *

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from picture_parts import add_bar, add_box, add_title, fit  # noqa: E402

LEVELS_BELOW = (9, 6, 3, 0)
SIZE = 480
BOUNDS, TOWARDS = [0, 6.28] * 3, [12.4, 8, 14.4]


def save(path, image):
    source = TrivialProducer()
    source.GetClientSideObject().SetOutput(image)
    SaveData(path, source)


def compute(path, samples, steps):
    flow = turbulence.Turbulence(samples)
    for _ in range(steps):
        flow.step()
    save(path, turbulence.image(flow.velocity(), flow.vorticity()))


def show_volume(view, shown):
    """Shows the strong vortices of `shown` as a volume with its colour bar. Returns its display."""
    view.UseColorPaletteForBackground = 0
    view.Background = [0.02, 0.02, 0.05]
    view.OrientationAxesVisibility = 0
    display = Show(shown, view, "UniformGridRepresentation")
    ColorBy(display, ("POINTS", "vorticity"))
    colors(2, 18)
    add_bar(view, display, "vorticity", "vorticity (1 / time)", labels=(2, 6, 10, 14, 18))
    display.SetRepresentationType("Volume")
    display.ScalarOpacityUnitDistance = 0.1
    return display


def colors(low, high):
    lut = GetColorTransferFunction("vorticity")
    lut.ApplyPreset("Inferno (matplotlib)", True)
    lut.RescaleTransferFunction(low, high)
    opacity = GetOpacityTransferFunction("vorticity")
    opacity.Points = [low, 0, 0.5, 0, low + 0.3 * (high - low), 0.04, 0.5, 0, high, 1, 0.5, 0]


def draw(path, picture):
    reader = OpenDataFile(path)
    reader.PointArrayStatus = ["vorticity"]
    layout = CreateLayout("levels")
    views = []
    for place, below in enumerate(LEVELS_BELOW):
        view = CreateRenderView(ViewSize=[SIZE, SIZE])
        if place:
            layout.SplitViewHorizontal(views[-1], 1 / (len(LEVELS_BELOW) - place + 1))
        AssignViewToLayout(view, layout)
        views.append(view)
        reader.Resolution = reader.Levels - below
        # A copy, since otherwise all four views would show the same level.
        shown = TrivialProducer()
        shown.GetClientSideObject().SetOutput(servermanager.Fetch(reader))
        grid = servermanager.Fetch(reader).GetDimensions()
        words = "all samples: " if below == 0 else "1/%d of the samples: " % 2 ** below
        show_volume(view, shown)
        add_box(view, BOUNDS)
        add_title(view, words + " x ".join("%d" % n for n in grid))
        fit(view, BOUNDS, TOWARDS, angle=33)
    SaveScreenshot(picture, layout, SeparatorWidth=0, ImageResolution=[SIZE * len(LEVELS_BELOW), SIZE])


if __name__ == "__main__":
    folder = sys.argv[1]
    samples, steps = map(int, sys.argv[2:4] or (128, 120))
    dataset = os.path.join(folder, "turbulence.idx")
    if not os.path.exists(dataset):
        compute(dataset, samples, steps)
    draw(dataset, os.path.join(folder, "idx_levels.png"))
