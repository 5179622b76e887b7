# SPDX-License-Identifier: BSD-3-Clause
"""Common parts of all pictures in the manuals: text, a colour bar and a scale, each with its own
space."""

import itertools

import numpy as np
from paraview.simple import Box, GetColorTransferFunction, GetScalarBar, Line, Outline, Show, Text

WHITE = [1.0, 1.0, 1.0]
GREY = [0.45, 0.45, 0.55]
# Pixels at the left, right, top and bottom of a view for numbers, text and the bar.
ROOM = (55, 45, 45, 110)
# Which sides of a box have numbers along their edges, as in ParaView's AxesToLabel.
ALL_SIDES, LOWER_SIDES = 63, 7


def unit(vector):
    return np.asarray(vector, float) / np.linalg.norm(vector)


def fit(view, bounds, towards, up=(0, 1, 0), angle=0, room=ROOM):
    """Sets the camera so that the box `bounds` fills the view except for the margins. `towards` points from the box to
    the camera; angle 0 is a parallel projection. Needs the size that the view has in the picture."""
    width, height = view.ViewSize
    left, right, top, bottom = room
    corners = np.array(list(itertools.product(*np.reshape(bounds, (3, 2)))))
    back = unit(towards)
    across = unit(np.cross(up, back))
    upward = np.cross(back, across)
    focus, distance = corners.mean(0), 3 * np.linalg.norm(np.ptp(corners, 0))
    half = np.tan(np.radians((angle or 30) / 2))
    for _ in range(50):
        depth = np.full(len(corners), distance) - ((corners - focus) @ back if angle else 0)
        pixels = np.stack([(corners - focus) @ across, (corners - focus) @ upward], 1) / (half * depth)[:, None] * height / 2
        low, high = pixels.min(0), pixels.max(0)
        scale = max((high - low) / [width - left - right, height - top - bottom])
        expected = np.array([left - right, bottom - top]) / 2
        off = ((low + high) / 2 - expected * scale) * 2 * half * distance / height
        focus = focus + off[0] * across + off[1] * upward
        distance *= scale
    view.CameraFocalPoint = list(focus)
    view.CameraPosition = list(focus + distance * back)
    view.CameraViewUp = list(up)
    view.CameraParallelProjection = int(not angle)
    view.CameraViewAngle = angle or 30
    view.CameraParallelScale = half * distance


def add_title(view, words, size=16, color=WHITE):
    display = Show(Text(Text=words), view)
    display.WindowLocation = "Upper Left Corner"
    display.FontSize = size
    display.Color = color


def add_bar(view, display, array, title, size=14, position=(0.25, 0.04), length=0.5, color=WHITE, labels=()):
    """A horizontal colour bar at the bottom."""
    display.SetScalarBarVisibility(view, True)
    bar = GetScalarBar(GetColorTransferFunction(array), view)
    bar.Title, bar.ComponentTitle = title, ""
    bar.TitleColor = bar.LabelColor = color
    bar.TitleFontSize = bar.LabelFontSize = size
    bar.AutoOrient, bar.Orientation, bar.WindowLocation = 0, "Horizontal", "Any Location"
    bar.Position, bar.ScalarBarLength = list(position), length
    bar.AddRangeLabels = 0
    if labels:
        bar.UseCustomLabels, bar.CustomLabels = 1, list(labels)
    return bar


def add_scale(display, size=12, hide="", sides=ALL_SIDES, color=GREY, labels=WHITE):
    """Numbers along edges of the box of the displayed data, except for the axes in `hide`, such as
    "yz"."""
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
            setattr(grid, name + part + "Color", labels)
    grid.AxesToLabel = sides
    return grid


def add_box(view, bounds, up=(0, 1, 0), size=12, hide="", color=GREY, labels=WHITE):
    """The edges of a box, with numbers except at its top."""
    low, high = np.reshape(bounds, (3, 2)).T
    box = Box(Center=list((low + high) / 2), **dict(zip(("XLength", "YLength", "ZLength"), high - low)))
    display = Show(Outline(Input=box), view)
    display.AmbientColor = display.DiffuseColor = color
    display.LineWidth = 1.5
    return add_scale(display, size, hide, ALL_SIDES - (8 << int(np.argmax(np.abs(up)))), color, labels)


def add_ruler(view, length, words, corner=(30, 30), color=WHITE):
    """A line of this length with text above it, at these pixels from the lower left corner. Call it after fit() with a
    parallel projection: only then it is correct at every depth."""
    width, height = view.ViewSize
    back = unit(np.subtract(view.CameraPosition, view.CameraFocalPoint))
    across = unit(np.cross(view.CameraViewUp, back))
    pixel = 2 * view.CameraParallelScale / height
    start = (np.array(view.CameraFocalPoint) + np.linalg.norm(np.subtract(view.CameraPosition, view.CameraFocalPoint)) / 2 * back
             + (corner[0] - width / 2) * pixel * across + (corner[1] - height / 2) * pixel * np.cross(back, across))
    display = Show(Line(Point1=list(start), Point2=list(start + length * across)), view)
    display.AmbientColor = display.DiffuseColor = color
    display.LineWidth = 3
    text = Show(Text(Text=words), view)
    text.WindowLocation, text.Position = "Any Location", [corner[0] / width, (corner[1] + 6) / height]
    text.FontSize, text.Color = 14, color
