# SPDX-License-Identifier: BSD-3-Clause
"""Measures the time from Apply to the picture with the ParaView reader, as JSON lines per file and step.

Usage: PV_PLUGIN_PATH=build/lib/paraview-plugins xvfb-run -a pvpython reader_bench.py [--budget N] [--refine]
       [--repeat R] FILE.bat...

Files take turns, R times. Seconds: `open` from the name to the filled panel, `read` the reader alone, `picture`
from there to the first picture with Point Gaussian, `turn` one more picture from another side, `drag` the longest
of ten pictures while the mouse turns the scene. `sum` is the sum of the loaded ids, if there is an attribute id,
so that runs can be compared. --refine begins with half a million particles and takes steps up to the budget.
Debian's ParaView is not optimised, and Xvfb draws on the CPU, so `picture`, `turn` and `drag` depend more on
these than on the reader.
"""

import argparse
import json
import sys
import time

from paraview.simple import (
    Delete, GetActiveCamera, GetActiveViewOrCreate, OpenDataFile, Render, Show)
from vtkmodules.util.numpy_support import vtk_to_numpy


def memory():
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmRSS"))


def drag(view):
    begin = time.perf_counter()
    GetActiveCamera().Azimuth(1)
    view.SMProxy.InteractiveRender()
    return time.perf_counter() - begin


def measure(path, options):
    view = GetActiveViewOrCreate("RenderView")
    view.ViewSize = [1000, 800]
    start = time.perf_counter()
    reader = OpenDataFile(path)
    reader.ParticleBudget = options.budget
    reader.RefineWhileIdle = options.refine
    reader.UpdatePipelineInformation()
    opened = time.perf_counter()
    display, line = None, {"file": path, "open": opened - start}
    while True:
        begin = time.perf_counter()
        reader.GetClientSideObject().Update()
        read = time.perf_counter()
        reader.UpdatePropertyInformation()
        if display is None:
            display = Show(reader, view)
            display.SetRepresentationType("Point Gaussian")
        display.GaussianRadius = reader.SuggestedRadius
        Render(view)
        drawn = time.perf_counter()
        GetActiveCamera().Azimuth(5)
        Render(view)
        turned = time.perf_counter()
        drags = [drag(view) for _ in range(10)]
        data = reader.GetClientSideObject().GetOutputDataObject(0)
        ids = data.GetPointData().GetArray("id")
        line.update(
            particles=data.GetNumberOfPoints(), of=reader.ParticleCount, quality=reader.LoadedQuality,
            read=read - begin, picture=drawn - read, turn=turned - drawn, drag=max(drags), memory=memory(),
            sum=int(vtk_to_numpy(ids).sum()) if ids else None)
        print(json.dumps({key: round(value, 4) if isinstance(value, float) else value
                          for key, value in line.items()}))
        sys.stdout.flush()
        if reader.LoadedQuality >= reader.TargetQuality:
            break
        reader.InvokeCommand("LoadMore")
    Delete(display)
    Delete(reader)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--budget", type=lambda text: int(float(text)), default=5000000)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--refine", action="store_true")
    options = parser.parse_args()
    for _ in range(options.repeat):
        for path in options.files:
            measure(path, options)


if __name__ == "__main__":
    main()
