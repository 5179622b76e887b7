# SPDX-License-Identifier: BSD-3-Clause
"""Measures seconds to the first picture of 200 lines of a series that is not in the system's cache, and to those with
moved seeds.

    PV_PLUGIN_PATH=BUILD/lib/paraview-plugins xvfb-run pvpython --dr first_picture.py SERIES
"""

import pathlib
import sys
import time

import numpy as np
from beside_vtk import forget_files
from paraview.simple import *


def picture(change):
    begin = time.perf_counter()
    change()
    Render()
    return round(time.perf_counter() - begin, 3)


def main():
    forget_files(pathlib.Path(sys.argv[1]).resolve().parent)
    GetActiveViewOrCreate("RenderView")
    Render()
    reader = BricksReader(FileName=sys.argv[1])
    print("outline:", picture(lambda: Show(reader)))
    bounds = np.array(reader.GetDataInformation().GetBounds()).reshape(3, 2)
    middle, size = bounds.mean(1), bounds[0, 1] - bounds[0, 0]

    def first():
        lines = FlowPathLines(Input=reader, SeedType="Point Cloud")
        SetActiveSource(lines)
        lines.SeedType.NumberOfPoints, lines.SeedType.Center, lines.SeedType.Radius = 200, middle.tolist(), size / 25
        Hide(reader)
        Show(lines)

    def move():
        seeds = GetActiveSource().SeedType
        seeds.Center = (np.array(seeds.Center) + size / 128).tolist()

    print("lines:", picture(first))
    print("moved:", *(picture(move) for _ in range(4)))


main()
