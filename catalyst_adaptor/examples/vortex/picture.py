# SPDX-License-Identifier: BSD-3-Clause
"""Three steps of the flow and its dust: pvbatch picture.py FOLDER PNG."""
import os
import sys

from paraview.simple import (
    ColorBy,
    CreateLayout,
    CreateRenderView,
    GetColorTransferFunction,
    GetOpacityTransferFunction,
    OpenDataFile,
    SaveScreenshot,
    Show,
)

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "..", "testing", "support"))
from picture_parts import add_bar, add_box, add_title, fit

SIZE, MAX_VORTICITY, MAX_SPEED = 480, 0.045, 0.08


def new_view(samples, time, words):
    view = CreateRenderView(ViewSize=[SIZE, SIZE])
    view.UseColorPaletteForBackground = 0
    view.Background = [0.02, 0.02, 0.05]
    view.OrientationAxesVisibility = 0
    view.ViewTime = time
    bounds, up = [0, samples] * 3, [0, 0, 1]
    add_box(view, bounds, up)
    add_title(view, words)
    fit(view, bounds, [1.9, -2.1, 1.2], up, angle=31)
    return view


def show_flow(grid, view):
    display = Show(grid, view)
    display.SetRepresentationType("Volume")
    ColorBy(display, ("POINTS", "vorticity"))
    lut = GetColorTransferFunction("vorticity")
    lut.ApplyPreset("Inferno (matplotlib)", True)
    lut.RescaleTransferFunction(0, MAX_VORTICITY)
    GetOpacityTransferFunction("vorticity").Points = [
        0.15 * MAX_VORTICITY, 0, 0.5, 0, 0.5 * MAX_VORTICITY, 0.12, 0.5, 0, MAX_VORTICITY, 0.9, 0.5, 0]
    display.ScalarOpacityUnitDistance = 3
    add_bar(view, display, "vorticity", "vorticity (1 / step)")


def show_dust(dust, samples, view):
    display = Show(dust, view)
    display.SetRepresentationType("Point Gaussian")
    display.ShaderPreset = "Sphere"
    display.GaussianRadius = samples / 230
    ColorBy(display, ("POINTS", "velocity", "Magnitude"))
    lut = GetColorTransferFunction("velocity")
    lut.ApplyPreset("Plasma (matplotlib)", True)
    lut.RescaleTransferFunction(0, MAX_SPEED)
    add_bar(view, display, "velocity", "speed (cells / step)", labels=[0, 0.02, 0.04, 0.06, MAX_SPEED])


def main():
    folder, picture = sys.argv[1:]
    grid = OpenDataFile(os.path.join(folder, "flow.idx"))
    dust = OpenDataFile(os.path.join(folder, "dust.bat.series"))
    grid.PointArrayStatus = ["vorticity"]
    times = list(grid.TimestepValues)
    assert times == list(dust.TimestepValues), "both have the same steps"
    times = [times[len(times) // 3], times[2 * len(times) // 3], times[-1]]
    grid.UpdatePipeline(times[0])
    samples = grid.GetDataInformation().GetExtent()[1] + 1
    # A slab: in the whole box, grains hide each other.
    dust.UseBox = 1
    dust.Box = [0, samples, 0.4 * samples, 0.6 * samples, 0, samples]
    layout = CreateLayout("vortex")
    layout.SplitVertical(0, 0.5)
    for row, cell in ((0, 1), (1, 2)):
        for column, time in enumerate(times):
            if column < 2:
                layout.SplitHorizontal(cell, 1 / (3 - column))
            view = new_view(samples, time, f"{'dust in a slab' if row else 'flow'}, step {time:g}")
            layout.AssignView(2 * cell + 1 if column < 2 else cell, view)
            cell = 2 * cell + 2
            if row == 0:
                show_flow(grid, view)
            else:
                show_dust(dust, samples, view)
    SaveScreenshot(picture, layout, ImageResolution=[3 * SIZE, 2 * SIZE], SeparatorWidth=0)


if __name__ == "__main__":
    main()
