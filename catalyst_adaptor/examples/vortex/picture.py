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
    Outline,
    SaveScreenshot,
    Show,
    Text,
)

SIZE, MOST_VORTICITY = 640, 0.045


def new_view(samples, time):
    view = CreateRenderView(ViewSize=[SIZE, SIZE])
    view.UseColorPaletteForBackground = 0
    view.Background = [0.02, 0.02, 0.05]
    view.OrientationAxesVisibility = 0
    half = samples / 2
    view.CameraFocalPoint = [half, half, half - 0.08 * samples]
    view.CameraPosition = [half + 1.9 * samples, half - 2.1 * samples, half + 1.15 * samples]
    view.CameraViewUp = [0, 0, 1]
    view.CameraViewAngle = 31
    view.ViewTime = time
    return view


def show_outline(grid, view):
    outline = Show(Outline(Input=grid), view)
    outline.AmbientColor = outline.DiffuseColor = [0.35, 0.35, 0.45]


def show_flow(grid, view):
    display = Show(grid, view)
    display.SetRepresentationType("Volume")
    ColorBy(display, ("POINTS", "vorticity"))
    lut = GetColorTransferFunction("vorticity")
    lut.ApplyPreset("Inferno (matplotlib)", True)
    lut.RescaleTransferFunction(0, MOST_VORTICITY)
    GetOpacityTransferFunction("vorticity").Points = [
        0.15 * MOST_VORTICITY, 0, 0.5, 0, 0.5 * MOST_VORTICITY, 0.12, 0.5, 0, MOST_VORTICITY, 0.9, 0.5, 0]
    display.ScalarOpacityUnitDistance = 3
    display.SetScalarBarVisibility(view, False)


def show_dust(dust, samples, view):
    display = Show(dust, view)
    display.SetRepresentationType("Point Gaussian")
    display.ShaderPreset = "Sphere"
    display.GaussianRadius = samples / 230
    ColorBy(display, ("POINTS", "velocity", "Magnitude"))
    lut = GetColorTransferFunction("velocity")
    lut.ApplyPreset("Plasma (matplotlib)", True)
    lut.RescaleTransferFunction(0, 0.08)
    display.SetScalarBarVisibility(view, False)


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
            view = new_view(samples, time)
            layout.AssignView(2 * cell + 1 if column < 2 else cell, view)
            cell = 2 * cell + 2
            show_outline(grid, view)
            if row == 0:
                show_flow(grid, view)
                label = Show(Text(Text=f"step {time:g}"), view)
                label.FontSize = 18
            else:
                show_dust(dust, samples, view)
    SaveScreenshot(picture, layout, ImageResolution=[3 * SIZE, 2 * SIZE], SeparatorWidth=0)


if __name__ == "__main__":
    main()
