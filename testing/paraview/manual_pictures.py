# SPDX-License-Identifier: BSD-3-Clause
"""Draws the pictures of the reader's manual that need no window: qualities.png, and the looks of clustered particles,
grains and a galaxy.

usage: pvbatch manual_pictures.py FOLDER   writes the particles and the pictures into FOLDER; needs a display

PV_PLUGIN_PATH has the plugins.
"""
import os
import sys

import numpy as np
from paraview.simple import *
from vtkmodules.util.numpy_support import numpy_to_vtk
from vtkmodules.vtkCommonCore import vtkPoints
from vtkmodules.vtkCommonDataModel import vtkPolyData

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "testing", "support"))
from picture_parts import LOWER_SIDES, add_bar, add_box, add_scale, add_title, fit  # noqa: E402

BACKGROUND = [0.04, 0.04, 0.06]
SIZE = 520


def write(path, places, **arrays):
    if os.path.exists(path):
        return
    data, points = vtkPolyData(), vtkPoints()
    points.SetData(numpy_to_vtk(np.ascontiguousarray(places, "f4"), deep=True))
    data.SetPoints(points)
    for name, values in arrays.items():
        array = numpy_to_vtk(np.ascontiguousarray(values, "f4"), deep=True)
        array.SetName(name)
        data.GetPointData().AddArray(array)
    source = TrivialProducer()
    source.GetClientSideObject().SetOutput(data)
    SaveData(path, source)


def web(n=128):
    """Particles of a grid that fall towards each other, within Zel'dovich's approximation; positions and velocities."""
    random = np.random.default_rng(11)
    k = 2 * np.pi * np.fft.fftfreq(n, 1 / n)
    kx, ky, kz = np.meshgrid(k, k, k, indexing="ij")
    square = kx ** 2 + ky ** 2 + kz ** 2
    square[0, 0, 0] = 1.0
    waves = np.fft.fftn(random.normal(size=(n, n, n))) * square ** -0.6 * np.exp(-square / (2 * np.pi * 30) ** 2)
    fall = np.stack([np.fft.ifftn(1j * one / square * waves).real for one in (kx, ky, kz)], -1)
    fall *= 0.032 / fall.std()
    at = (np.stack(np.meshgrid(*3 * [(np.arange(n) + 0.5) / n], indexing="ij"), -1) + fall) % 1.0
    return at.reshape(-1, 3), fall.reshape(-1, 3)


def heap(side=64):
    """Grains of several sizes under a dome; positions and radii."""
    random = np.random.default_rng(12)
    at = np.stack(np.meshgrid(*3 * [np.arange(side) + 0.5], indexing="ij"), -1).reshape(-1, 3) / side * 2 - 1
    at += random.uniform(-0.4, 0.4, at.shape) * 2 / side
    distance = np.hypot(at[:, 0], at[:, 1])
    at = at[(at[:, 2] > -1) & (at[:, 2] < -0.1 - 1.1 * distance ** 3)]
    return at, np.clip(random.lognormal(np.log(0.014), 0.25, len(at)), 0.008, 0.026)


def galaxy(n=120000):
    """Two arms in a disc around a dense bulge; positions, in kpc, and velocities, in km/s."""
    random = np.random.default_rng(13)
    radius = random.gamma(2.0, 1.6, n)
    turn = np.pi * random.integers(0, 2, n) + 1.6 * np.log(radius + 0.05) + random.normal(size=n) * (0.28 + 0.25 / (radius + 0.3))
    spread = random.random(n) < 0.3
    turn[spread] = 2 * np.pi * random.random(spread.sum())
    at = np.stack([radius * np.cos(turn), radius * np.sin(turn), 0.12 * random.normal(size=n) * np.exp(-radius / 6)], -1)
    bulge = 0.25 * random.normal(size=(n // 4, 3))
    at = np.concatenate([at, bulge])
    radius, turn = np.hypot(at[:, 0], at[:, 1]), np.arctan2(at[:, 1], at[:, 0])
    at, radius, turn = (one[radius < 9] for one in (at, radius, turn))
    speed = 220 * radius / np.hypot(radius, 1.0)
    return at, np.stack([-speed * np.sin(turn), speed * np.cos(turn), 0 * speed], -1)


def new_view(width=SIZE, height=SIZE):
    view = CreateRenderView(ViewSize=[width, height])
    view.UseColorPaletteForBackground = 0
    view.Background = BACKGROUND
    view.OrientationAxesVisibility = 0
    return view


def shown(path, view, words, look, place, array="velocity", title="speed", by_region=1, high=None, unit="",
          **settings):
    """`place` is for fit(): the visible box, the viewing direction, the up direction, and the
    camera's angle."""
    reader = OpenDataFile(path)
    for name, value in settings.items():
        setattr(reader, name, value)
    reader.UpdatePipeline()
    reader.UpdatePropertyInformation()
    display = Show(reader, view)
    display.SetRepresentationType("Point Gaussian")
    display.ShaderPreset = "Sphere"
    display.Look, display.RadiusByRegion, display.GaussianRadius = look, by_region, reader.SuggestedRadius
    if look == "Points":
        display.PointSize = 1.5
    if look == "Density Glow":
        display.ColorArrayName = ["POINTS", ""]
        display.AmbientColor = display.DiffuseColor = [1.0, 1.0, 1.0]
        display.GlowLegend = 1
    else:
        ColorBy(display, ("POINTS", array))
        table = GetColorTransferFunction(array)
        table.ApplyPreset("Plasma (matplotlib)", True)
        low, top = reader.PointData[array].GetRange(-1 if array == "velocity" else 0)
        table.RescaleTransferFunction(low, high or top)
        add_bar(view, display, array, title)
    if place[1] == [0, 0, 1]:
        grid = add_scale(display, hide="z", sides=LOWER_SIDES)
        room = (75 if unit else 45, 125, 35, 130)  # on the right, for the legend of a glow
    else:
        grid = add_box(view, place[0], place[2], hide="y")
        room = (45, 45, 35, 120)
    for name in ("XTitle", "YTitle", "ZTitle"):
        if unit and getattr(grid, name):
            setattr(grid, name, "%s (%s)" % (getattr(grid, name), unit))
    fit(view, *place[:3], angle=place[3], room=room)
    add_title(view, words.format(count=reader.GetDataInformation().GetNumberOfPoints()))
    return display


def save(folder, name, views, columns):
    layout = CreateLayout(name)
    rows = [views[i:i + columns] for i in range(0, len(views), columns)]
    cell = 0
    for row, of_row in enumerate(rows):
        below = layout.SplitVertical(cell, 1 / (len(rows) - row)) + 1 if row + 1 < len(rows) else None
        here = below - 1 if below else cell
        for place, view in enumerate(of_row):
            if place + 1 < columns:
                left = layout.SplitHorizontal(here, 1 / (columns - place))
                layout.AssignView(left, view)
                here = left + 1
            else:
                layout.AssignView(here, view)
        cell = below
    size = [view_size * count for view_size, count in zip(views[0].ViewSize, (columns, len(rows)))]
    layout.SetSize(*size)
    SaveScreenshot(os.path.join(folder, name + ".png"), layout, SeparatorWidth=0, ImageResolution=size)
    print(name, flush=True)


def main(folder):
    def at(name):
        return os.path.join(folder, name + ".bat")

    places, velocities = web()
    write(at("web"), places, velocity=velocities)
    bounds = [0, 1, 0, 1, 0.42, 0.58]
    place = bounds, [0, 0, 1], [0, 1, 0], 0
    slab = dict(UseBox=1, Box=bounds, title="speed (box lengths / time)")
    save(folder, "looks_clustered", [
        shown_in(place, at("web"), "Spheres", "Spheres", **slab),
        shown_in(place, at("web"), "Points", "Points", **slab),
        shown_in(place, at("web"), "Density Glow", "Density Glow", **slab)], 3)

    places, radii = heap()
    write(at("heap"), places, radius=radii)
    place = [-0.95, 0.95, -0.95, 0.95, -1, -0.1], [0, -3.7, 1.2], [0, 0, 1], 32
    size = dict(array="radius", title="radius")
    save(folder, "looks_grains", [
        shown_in(place, at("heap"), "Spheres: {count:,} grains", "Spheres", **size),
        shown_in(place, at("heap"), "True Size: {count:,} grains", "True Size", **size),
        shown_in(place, at("heap"), "True Size, quality 0.1: {count:,} grains", "True Size", Quality=0.1, **size)], 3)

    places, velocities = galaxy()
    write(at("galaxy"), places, velocity=velocities)
    bounds = [-2, 2, -2, 2, -1, 0]  # cut open
    place = bounds, [0, 0, 1], [0, 1, 0], 0
    disc = dict(UseBox=1, Box=bounds, title="speed (km/s)", unit="kpc")
    save(folder, "looks_galaxy", [
        shown_in(place, at("galaxy"), "Spheres, one radius", "Spheres", by_region=0, **disc),
        shown_in(place, at("galaxy"), "Spheres, radius by region", "Spheres", **disc),
        shown_in(place, at("galaxy"), "Density Glow", "Density Glow", **disc)], 3)

    dam = os.path.join(ROOT, "testing", "data", "sph_dam_break.bat")
    place = [-0.05, 1.65, 0, 0.4, 0, 0.95], [0, -3.2, 0.76], [0, 0, 1], 33
    save(folder, "qualities", [
        shown_in(place, dam, "quality %g: {count:,} particles" % quality, "Spheres", title="speed (m/s)", Quality=quality,
                 size=(560, 400), high=5, unit="m") for quality in (0.01, 0.1, 0.3, 1.0)], 2)


def shown_in(place, path, words, look, size=(SIZE, SIZE), **settings):
    view = new_view(*size)
    shown(path, view, words, look, place, **settings)
    return view


if __name__ == "__main__":
    main(sys.argv[1])
