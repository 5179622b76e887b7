# SPDX-License-Identifier: BSD-3-Clause
"""Draws pictures of ParaView's window for the reader's manual: gui.png, panel.png, filters.png, box.png and
region.png.

usage: xvfb-run -s "-screen 0 1140x900x24 -noreset" python3 window_pictures.py FOLDER   writes the pictures into FOLDER

PV_PLUGIN_PATH must contain the plugins; xdotool fits the window to the screen, ImageMagick takes the pictures, and
Pillow reduces them.
"""
import os
import subprocess
import sys
import time
import traceback

HERE = os.environ.get("BAT_SCRIPTS") or os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
DAM = os.path.join(HERE, "..", "data", "sph_dam_break.bat")
SCREEN = (1140, 900)
# Regions of the window, which fills the screen: the panel, its filters, and the view. Width, height,
# left, top.
PARTS = {"panel": "366x275+0+300", "filters": "366x376+0+475", "box": "766x706+372+163", "region": "766x706+372+163"}
WORDS = {"gui": "A dam break: water that moves, in a box", "panel": "", "filters": "", "box": "Half of the water, in a box",
         "region": "A slab across the x axis"}


def scene(name):
    """Runs in the window: sets the reader and the view as in the picture."""
    from picture_parts import ALL_SIDES, add_bar, add_title
    from paraview.simple import (ColorBy, GetActiveViewOrCreate, GetColorTransferFunction, OpenDataFile, Render, SetActiveSource,
                                 Show)

    reader = OpenDataFile(DAM)
    if name in ("gui", "box", "filters"):
        reader.UseBox = 1
        reader.Box = [-0.02, 1.62, 0.2 if name == "box" else 0.0, 0.4, -0.02, 0.74]
    if name in ("gui", "filters"):
        reader.AttributeRanges = ["!type", "2", "2", "velocity", "0.4", ""]
    if name == "filters":
        reader.UseBox = 0
        reader.AttributeRanges = ["!type", "2", "2", "velocity", "", "0.4", "velocity", "2", "", "!rho", "995", "1010"]
    if name == "region":
        reader.Region, reader.RegionNormal, reader.RegionLimits = "Slab", [1, 0, 0], [0.3, 0.5]
    if name == "panel":
        reader.Region, reader.RegionCenter, reader.RegionRadius = "Sphere", [0.4, 0.2, 0.2], 0.25
    view = GetActiveViewOrCreate("RenderView")
    reader.UpdatePipeline()
    reader.UpdatePropertyInformation()
    display = Show(reader, view)
    display.SetRepresentationType("Point Gaussian")
    display.ShaderPreset, display.GaussianRadius = "Sphere", reader.SuggestedRadius
    ColorBy(display, ("POINTS", "velocity"))
    GetColorTransferFunction("velocity").RescaleTransferFunction(0.0, 5.0)
    add_bar(view, display, "velocity", "speed (m/s)")
    grid = view.AxesGrid
    grid.Visibility, grid.ShowGrid = 1, 0
    grid.XTitle, grid.YTitle, grid.ZTitle = "x (m)", "", "z (m)"
    grid.YAxisUseCustomLabels = 1  # none: y is short, and its numbers would overlap those of z
    grid.AxesToLabel = ALL_SIDES - 32  # not at the top
    add_title(view, WORDS[name])
    SetActiveSource(reader)
    view.CameraPosition, view.CameraFocalPoint = [1.5, -2.9, 1.6], [0.88, 0.2, 0.24]
    view.CameraViewUp, view.CameraViewAngle = [0, 0, 1], 38
    Render(view)


def take(name, folder):
    from small_picture import small

    ready = os.path.join(folder, name + ".ready")
    if os.path.exists(ready):
        os.remove(ready)
    window = subprocess.Popen(["paraview", "--dr", f"--script={os.path.abspath(__file__)}"],
                              env={**os.environ, "QT_FONT_DPI": "76", "BAT_SCENE": name, "BAT_READY": ready, "BAT_SCRIPTS": HERE})
    try:
        while not os.path.exists(ready):
            if window.poll() is not None:
                raise SystemExit(f"paraview ended before {name} was there")
            time.sleep(0.5)
        with open(ready) as file:
            problem = file.read()
        if problem:
            raise SystemExit(problem)
        subprocess.run(["xdotool", "search", "--sync", "--onlyvisible", "--name", "^ParaView", "windowmove", "0", "0",
                        "windowsize", *map(str, SCREEN)], check=True)
        time.sleep(3)
        # The panel takes the space of the pipeline browser, and is slightly wider.
        for start, end in (((140, 513), (140, 205)), ((284, 489), (369, 489))):
            middle = [(a + b) // 2 for a, b in zip(start, end)]
            subprocess.run(["xdotool", "mousemove", *map(str, start), "sleep", "0.5", "mousedown", "1", "sleep", "0.5", "mousemove",
                            *map(str, middle), "sleep", "0.5", "mousemove", *map(str, end), "sleep", "0.5", "mouseup", "1"],
                           check=True)
        time.sleep(8)  # histograms appear after the panel
        picture = os.path.join(folder, name + ".png")
        crop = ["-crop", PARTS[name], "+repage"] if name in PARTS else []
        subprocess.run(["import", "-window", "root", *crop, picture], check=True)
        small(picture, picture, 600 if name in ("box", "region") else 0)
        print(picture, flush=True)
    finally:
        window.kill()
        window.wait()
        if os.path.exists(ready):
            os.remove(ready)


if "BAT_SCENE" in os.environ:
    try:
        scene(os.environ["BAT_SCENE"])
        reported = ""
    except BaseException:
        reported = traceback.format_exc()
    with open(os.environ["BAT_READY"], "w") as file:
        file.write(reported)
elif __name__ == "__main__":
    for one in sys.argv[2:] or ("gui", "panel", "filters", "box", "region"):
        take(one, os.path.abspath(sys.argv[1]))
