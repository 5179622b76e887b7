# SPDX-License-Identifier: BSD-3-Clause
"""ParaView's window refines the data of the Python plugin while the user is idle. Run by paraview --script; ends
ParaView when all particles are shown. Environment: BAT_SAMPLE, a file of 20,000 particles."""
import os
import sys
import traceback


def ended(code, text):
    os.write(1, f"{text}\n".encode())  # printed text may go to the window's shell
    os._exit(code)


try:
    from paraview.simple import GetActiveViewOrCreate, OpenDataFile, Render, Show

    sys.modules["parabat_paraview"].STEP_PARTICLES = 4000
    reader = OpenDataFile(os.environ["BAT_SAMPLE"])
    reader.RefineWhileIdle = 1
    view = GetActiveViewOrCreate("RenderView")
    Show(reader, view).SetRepresentationType("Point Gaussian")
    drawn = []

    def look(*_):
        try:
            reader.UpdatePropertyInformation()
            drawn.append(int(reader.LoadedCount))
            if drawn[-1] == int(reader.ParticleCount):
                assert drawn == sorted(drawn) and drawn[0] <= 4000 and len(set(drawn)) == 5, drawn
                ended(0, "all checks passed")
        except BaseException:
            ended(1, traceback.format_exc())

    view.GetRenderWindow().AddObserver("EndEvent", look)
    Render(view)
except BaseException:
    ended(1, traceback.format_exc())
