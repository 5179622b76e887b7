# SPDX-License-Identifier: BSD-3-Clause
"""Draws pictures of the demo's .bat files, each read with the quality, box or range that it
shows."""

import os
import sys

from paraview.simple import (
    BATReader,
    BATTrails,
    ColorBy,
    CreateLayout,
    CreateRenderView,
    Delete,
    GetColorTransferFunction,
    OutputPort,
    SaveScreenshot,
    Show,
)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from picture_parts import add_bar, add_box, add_title, fit

BACKGROUND = [0.13, 0.14, 0.17]
LAYER_NAMES = ["1", "bottom", "2", "", "3", "", "4", "top", "5", "projectile"]
LAYER_COLORS = [
    [0.20, 0.28, 0.50],
    [0.36, 0.56, 0.72],
    [0.88, 0.85, 0.77],
    [0.82, 0.58, 0.38],
    [0.92, 0.22, 0.20],
]
# Region around the bed, in grain diameters, with space for flying grains.
BED = [0, 107.3, 0, 75.1, 0, 21]
AROUND = [0, 115, 0, 75, 0, 42]
HIGH = [0, 115, 0, 75, 0, 60]
FROM_THE_FRONT, FROM_NEAR = [-16, -175, 71], [-14, -142, 34]
UP = [0, 0, 1]


def read(bats, **properties):
    reader = BATReader(FileName=bats, **properties)
    reader.UpdatePipeline()
    reader.UpdatePropertyInformation()
    return reader


def new_view(words, size, towards=FROM_THE_FRONT, bounds=AROUND):
    view = CreateRenderView(ViewSize=size)
    view.UseColorPaletteForBackground = 0
    view.Background = BACKGROUND
    view.OrientationAxesVisibility = 0
    add_box(view, BED, UP, size=24, hide="z" if size[0] < 800 else "")  # the picture is twice as large
    add_title(view, words)
    fit(view, bounds, towards, UP, angle=34, room=(35, 25, 40, 105))
    return view


def show_grains(reader, view, size=1.0):
    """Grains as shaded balls with their own radii, times `size`."""
    display = Show(reader, view)
    display.SetRepresentationType("Point Gaussian")
    display.ShaderPreset = "Sphere"
    display.ScaleByArray = 1
    display.SetScaleArray = ["POINTS", "radius"]
    display.UseScaleFunction = 0
    display.GaussianRadius = size
    return display


def color_by_speed(display, view):
    ColorBy(display, ("POINTS", "velocity", "Magnitude"))
    colors = GetColorTransferFunction("velocity")
    colors.ApplyPreset("Plasma (matplotlib)", True)
    colors.RescaleTransferFunction(0.0, 12.0)
    add_bar(view, display, "velocity", "speed (diameters / time)", labels=range(0, 13, 2))


def color_by_layer(display, view):
    ColorBy(display, ("POINTS", "layer"))
    colors = GetColorTransferFunction("layer")
    colors.InterpretValuesAsCategories = 1
    colors.Annotations = LAYER_NAMES
    colors.IndexedColors = [part for color in LAYER_COLORS for part in color]
    add_bar(view, display, "layer", "layer of the bed", position=(0.25, 0.09))


def save(rows, path):
    """Saves rows of equally sized views as one picture, twice as large as they are, and deletes the views."""
    layout = CreateLayout(os.path.basename(path))
    size = [rows[0][0].ViewSize[0] * len(rows[0]), rows[0][0].ViewSize[1] * len(rows)]
    for row, row_cell in zip(rows, split(layout.SplitVertical, 0, len(rows))):
        for view, cell in zip(row, split(layout.SplitHorizontal, row_cell, len(row))):
            layout.AssignView(cell, view)
    layout.SetSize(*size)
    SaveScreenshot(path, layout, SaveAllViews=1, ImageResolution=[2 * part for part in size], SeparatorWidth=0)
    if not os.path.exists(path):
        raise RuntimeError(f"{path} was not written")
    for row in rows:
        for view in row:
            Delete(view)
    print(f"picture: {path}", flush=True)


def split(split_cell, cell, parts):
    """Splits a layout cell into equal parts; returns their numbers."""
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
        view = new_view(f"quality {quality:g}: {reader.LoadedCount:,} grains", [500, 440])
        color_by_speed(show_grains(reader, view, quality ** (-1.0 / 3.0)), view)
        views.append(view)
    save([views], path)


def steps(path, bats, times):
    """The impact, coloured by layer: four times of a series."""
    series = read(bats)
    views = []
    for time in times:
        view = new_view(f"time {time:.2f}", [600, 440])
        view.ViewTime = time
        color_by_layer(show_grains(series, view), view)
        views.append(view)
    save([views[:2], views[2:]], path)


def box(path, bat, middle):
    """The half behind the plane y = middle: a cut through the crater."""
    infinite = float("inf")
    reader = read([bat], UseBox=1, Box=[-infinite, infinite, middle, infinite, -infinite, infinite])
    view = new_view(f"box y >= {middle:.1f}: {reader.LoadedCount:,} grains", [1000, 640], FROM_NEAR, HIGH)
    color_by_layer(show_grains(reader, view), view)
    save([[view]], path)


def show_a_tenth(view, bat):
    """The whole bed as a few grey dots."""
    display = Show(read([bat], Quality=0.1), view)
    display.SetRepresentationType("Points")
    display.PointSize = 1.5
    display.ColorArrayName = [None, ""]
    display.AmbientColor = display.DiffuseColor = [0.45, 0.47, 0.52]


def fast_grains(path, bat):
    """Only fast grains; 10 % of all others as dots, for orientation."""
    reader = read([bat], AttributeRanges=["velocity", "8", ""])
    view = new_view(f"speed >= 8: {reader.LoadedCount:,} grains", [1000, 640], FROM_NEAR, HIGH)
    show_a_tenth(view, bat)
    color_by_speed(show_grains(reader, view), view)
    save([[view]], path)


def trails(path, tracks, bat):
    """The paths of a tracks file's grains, and their final positions, in front of 10 % of the bed."""
    source = BATTrails(FileNames=[tracks])
    source.UpdatePipeline()
    source.UpdatePropertyInformation()
    times = list(source.TimestepValues)
    words = f"{source.FoundCount:,} grains at {len(times)} times from {times[0]:.2f} to {times[-1]:.2f}"
    view = new_view(words, [1000, 640], [-12, -149, 41], HIGH)
    view.ViewTime = times[-1]
    show_a_tenth(view, bat)
    lines = Show(source, view)
    lines.LineWidth = 1.6
    color_by_speed(lines, view)
    ends = show_grains(OutputPort(source, 1), view, 1.3)
    color_by_speed(ends, view)
    save([[view]], path)
