# SPDX-License-Identifier: BSD-3-Clause
"""Draws pictures of unsteady flows: path lines, streak surfaces and Lyapunov exponents, with the
plugin.

usage: pvpython pictures.py FOLDER   writes series of three flows and the pictures into FOLDER

PYTHONPATH has core/python, BAT_LIBRARY is libbat_capi.so, PV_PLUGIN_PATH has the plugin.
"""
import os
import sys

import numpy as np
import parabat.flow
from paraview.simple import *

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from picture_parts import LOWER_SIDES, add_bar, add_box, add_scale, add_title, fit  # noqa: E402

SIZE = 480
BACKGROUND = [0.02, 0.02, 0.05]
SMOKE, SMOKE_HEIGHT = [0, 8, -1.5, 1.5, 0, 3], 380  # the part of the vortex street that contains it


def grid(counts, lower, upper):
    axes = [np.linspace(l, u, n) for n, l, u in zip(counts, lower, upper)]
    z, y, x = np.meshgrid(*axes[::-1], indexing="ij")
    spacing = [(u - l) / max(n - 1, 1) or 1 for n, l, u in zip(counts, lower, upper)]
    return x, y, z, dict(origin=lower, spacing=spacing, flush=False)


def write(folder, name, times, velocity, options):
    path = os.path.join(folder, name + ".bricks.series")
    if not os.path.exists(path):
        levels = ((t, np.stack(np.broadcast_arrays(*velocity(t)), -1).astype("f4")) for t in times)
        parabat.flow.write_series(path, levels, **options)
    return OpenDataFile(path)


def double_gyre(folder):
    """Shadden, Lekien and Marsden 2005, section 6.1."""
    x, y, _, options = grid((201, 101, 1), (0, 0, 0), (2, 1, 0))

    def velocity(t):
        a = 0.25 * np.sin(np.pi / 5 * t)
        f, slope = a * x * x + (1 - 2 * a) * x, 2 * a * x + 1 - 2 * a
        u, v = -np.sin(np.pi * f) * np.cos(np.pi * y), np.cos(np.pi * f) * np.sin(np.pi * y) * slope
        return 0.1 * np.pi * u, 0.1 * np.pi * v, 0 * x
    return write(folder, "gyre", np.linspace(0, 20, 161), velocity, options)


def street(folder):
    """Vortices of alternating sign in a wind, which begin after x = 1 and wobble along z."""
    x, y, z, options = grid((193, 97, 33), (0, -2.5, 0), (12, 2.5, 3))

    def velocity(t):
        u, v = np.ones_like(x), np.zeros_like(x)
        for k in range(-14, 20):
            at = 1.0 * k + 0.8 * t + 0.25 * np.sin(2 * np.pi * z / 3 + 0.9 * k)
            side = 0.35 * (-1) ** k
            rise = np.clip((at - 1) / 2, 0, 1)
            strength = 0.45 * (-1) ** k * rise * rise * (3 - 2 * rise)
            dx, dy = x - at, y - side
            core = strength * np.exp(-(dx * dx + dy * dy) / 0.32)
            u, v = u + core * dy / 0.4, v - core * dx / 0.4
        return u, v, 0.15 * np.sin(np.pi * x / 3) * np.sin(np.pi * z / 3)
    return write(folder, "street", np.linspace(0, 12, 41), velocity, options)


def turbulence(folder):
    """Divergence-free random waves, whose energy falls as k^-5/3."""
    n, length = 65, 2 * np.pi
    x, y, z, options = grid((n, n, n), (0, 0, 0), (length, length, length))
    random = np.random.default_rng(4)
    modes = []
    for k in np.geomspace(1, 8, 60):
        wave = random.normal(size=3)
        wave *= k / np.linalg.norm(wave)
        swing = np.cross(wave, random.normal(size=3))
        swing *= k ** (-5 / 6) / np.linalg.norm(swing)
        modes.append((wave, swing, random.uniform(0, length), random.normal() * k ** (2 / 3)))

    def velocity(t):
        v = np.zeros((3, *x.shape), "f4")
        for wave, swing, phase, rate in modes:
            value = np.cos((wave[0] * x + wave[1] * y + wave[2] * z + phase + rate * t).astype("f4"))
            for c in range(3):
                v[c] += 0.4 * swing[c] * value
        return v
    return write(folder, "turbulence", np.linspace(0, 6, 25), velocity, options)


def views(name, count, width=SIZE, height=SIZE):
    layout = CreateLayout(name)
    made = []
    for place in range(count):
        view = CreateRenderView(ViewSize=[width, height])
        if place:
            layout.SplitViewHorizontal(made[-1], 1 / (count - place + 1))
        AssignViewToLayout(view, layout)
        view.UseColorPaletteForBackground = 0
        view.Background = BACKGROUND
        view.OrientationAxesVisibility = 0
        made.append(view)
    return layout, made


def save(folder, name, layout, count, width=SIZE, height=SIZE):
    SaveScreenshot(os.path.join(folder, name + ".png"), layout, SeparatorWidth=0,
                   ImageResolution=[width * count, height])


def coloured(source, view, array, preset, low, high, title, labels=()):
    display = Show(source, view)
    ColorBy(display, ("POINTS", array))
    table = GetColorTransferFunction(array)
    table.ApplyPreset(preset, True)
    table.RescaleTransferFunction(low, high)
    add_bar(view, display, array, title, labels=labels)
    return display


def draw_lines(folder, flow):
    """Path lines of turbulence, and those that reach a box."""
    layout, both = views("lines", 2)
    lines = FlowPathLines(Input=flow, SeedType="Point Cloud")
    lines.SeedType.Center, lines.SeedType.Radius, lines.SeedType.NumberOfPoints = [3.1, 3.1, 3.1], 1.2, 400
    lines.Destination = [4.2, 5.4, 1, 2.2, 2.5, 3.7]
    found = FlowPathLines(Input=flow, SeedType=lines.SeedType)
    found.UseDestination, found.Destination, found.Keep = 1, lines.Destination, "Those That Arrive"
    for view, shown, words in zip(both, (lines, found), ("400 path lines", "those that reach the blue box")):
        display = coloured(shown, view, "ParticleAge", "Inferno (matplotlib)", 0, 6, "age (time since release)")
        display.LineWidth = 1.5
        add_box(view, list(flow.Bounds))
        add_title(view, words)
        fit(view, list(flow.Bounds), [12, 8, 14.4], angle=33)
    box = add_box(both[1], list(lines.Destination), color=[0.3, 0.9, 1])
    box.GridAxesVisibility = 0
    save(folder, "flow_path_lines", layout, 2)
    data = servermanager.Fetch(found).GetFieldData()
    print("path lines:", {data.GetArrayName(i): data.GetArray(i).GetValue(0) for i in range(data.GetNumberOfArrays())})


def draw_surface(folder, flow):
    """Smoke from a wire upstream of a vortex street, at three times."""
    layout, three = views("surface", 3, SIZE, SMOKE_HEIGHT)
    for view, time in zip(three, (4, 6, 7.5)):
        surface = FlowStreakSurface(Input=flow, SeedType="Line")
        surface.SeedType.Point1, surface.SeedType.Point2 = [0.5, 0.05, 0.3], [0.5, 0.05, 2.7]
        surface.MaximumEdge = 0.1
        surface.LimitTimes, surface.StartTime, surface.EndTime = 1, 0, time
        display = coloured(surface, view, "ParticleAge", "Viridis (matplotlib)", 0, 7.5, "age (time since release)",
                           labels=(0, 2.5, 5, 7.5))
        display.Specular = 0.5
        add_box(view, SMOKE)
        add_title(view, "time %g" % time)
        fit(view, SMOKE, [7, 7.5, 15], angle=26)
        data = servermanager.Fetch(surface)
        print("streak surface:", time, data.GetNumberOfPolys(), "triangles,",
              data.GetFieldData().GetArray("bricks_touched").GetValue(0), "of", flow.BrickCount, "bricks")
    save(folder, "flow_streak_surface", layout, 3, SIZE, SMOKE_HEIGHT)


def draw_exponents(folder, flow):
    """The repelling and attracting structures of the double gyre, and path lines over the
    former."""
    layout, both = views("exponents", 2, 640, 460)
    words = ("FTLE forward from time 0 to 10, and path lines (white)", "FTLE backward from time 10 to 0")
    for view, direction, time, title in zip(both, ("Forward", "Backward"), (0, 10), words):
        ftle = FlowFTLE(Input=flow, Direction=direction, Dimensions=[401, 201, 1], Duration=10)
        ftle.UseStartTime, ftle.StartTime = 1, time
        shown = coloured(ftle, view, "FTLE_" + direction.lower(), "Inferno (matplotlib)", 0, 0.5, "exponent (1 / time)")
        add_scale(shown, sides=LOWER_SIDES)
        add_title(view, title)
        fit(view, [0, 2, 0, 1, 0, 0], [0, 0, 1], angle=30)
    lines = FlowPathLines(Input=flow, SeedType="Line")
    lines.SeedType.Point1, lines.SeedType.Point2, lines.SeedType.Resolution = [1.02, 0.35, 0], [1.26, 0.35, 0], 9
    lines.LimitTimes, lines.EndTime = 1, 10
    display = Show(lines, both[0])
    ColorBy(display, None)
    display.AmbientColor = display.DiffuseColor = [1, 1, 1]
    setattr(display, "Translation" if hasattr(display, "Translation") else "Position", [0, 0, 0.01])
    display.LineWidth = 2
    save(folder, "flow_ftle", layout, 2, 640, 460)


if __name__ == "__main__":
    target = sys.argv[1]
    draw_exponents(target, double_gyre(target))
    draw_surface(target, street(target))
    draw_lines(target, turbulence(target))
