# SPDX-License-Identifier: BSD-3-Clause
"""A volume in ParaView's window, which refines while the user is idle: draws a picture of each level.

usage: pvpython refining.py FOLDER   writes fine.idx, which has the flow of pictures.py at 256^3 samples, and idx_refining.png
                                     into FOLDER. Needs a display, and takes turbulence.idx from there if it exists.
"""
import os
import subprocess
import sys
import traceback

# ParaView's window does not tell the script its own path.
HERE = os.environ.get("BAT_SCRIPTS") or os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "support")]
import numpy as np  # noqa: E402
import pictures  # noqa: E402
import turbulence  # noqa: E402
from paraview.simple import *  # noqa: E402
from picture_parts import add_ruler, fit  # noqa: E402
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy  # noqa: E402
from vtkmodules.vtkCommonDataModel import vtkImageData  # noqa: E402
from vtkmodules.vtkIOImage import vtkPNGWriter  # noqa: E402
from vtkmodules.vtkRenderingCore import vtkTextProperty, vtkTextRenderer, vtkWindowToImageFilter  # noqa: E402

SAMPLES = 256
MIDDLE = [1.4, 4.9] * 3  # the part of the volume that the pictures show


def make(folder):
    coarse = os.path.join(folder, "turbulence.idx")
    if not os.path.exists(coarse):
        pictures.compute(coarse, 128, 120)
    shown = servermanager.Fetch(OpenDataFile(coarse))
    n = shown.GetDimensions()[0]
    velocity = np.moveaxis(vtk_to_numpy(shown.GetPointData().GetArray("velocity")).reshape(n, n, n, 3), -1, 0)
    flow = turbulence.Turbulence(n)
    flow.modes = flow.forward(velocity)
    pictures.save(os.path.join(folder, "fine.idx"), turbulence.image(
        turbulence.finer(velocity, SAMPLES), turbulence.finer(flow.vorticity(), SAMPLES)))


def write_words(pixels, words):
    """Inserts into the upper left corner of pixels, whose first row is the lowest."""
    look, image = vtkTextProperty(), vtkImageData()
    look.SetFontSize(13)
    vtkTextRenderer.GetInstance().RenderString(look, words, image, [0, 0], 96)
    width, height, _ = image.GetDimensions()
    letters = vtk_to_numpy(image.GetPointData().GetScalars()).reshape(height, width, 4)
    share = letters[..., 3:] / 255
    place = pixels[-height - 8:-8, 10:10 + width]
    place[:] = letters[..., :3] * share + place * (1 - share)


class Pictures:
    """Pictures of a view, the last one of each level, until the finest one is reached; the square in the middle
    of each."""

    def __init__(self, reader, view, path):
        self.reader, self.window, self.path = reader, view.GetRenderWindow(), path
        self.taken = {}
        self.window.AddObserver("EndEvent", self.look)

    def look(self, *_):
        try:
            self.reader.UpdatePropertyInformation()
            level = int(self.reader.LoadedLevel)
            if level >= 0:
                grab = vtkWindowToImageFilter()
                grab.SetInput(self.window)
                grab.ShouldRerenderOff()
                grab.ReadFrontBufferOff()
                grab.Update()
                width, height, _ = grab.GetOutput().GetDimensions()
                pixels = vtk_to_numpy(grab.GetOutput().GetPointData().GetScalars()).reshape(height, width, 3)
                side = min(width, height)
                x, y = (width - side) // 2, (height - side) // 2
                self.taken[level] = pixels[y:y + side, x:x + side].copy()
                below = int(self.reader.Levels) - level
                write_words(self.taken[level], f"1/{2 ** below} of the samples" if below else f"all {SAMPLES}^3 samples")
                if level == int(self.reader.Levels):
                    self.write()
        except BaseException:  # raising in ParaView's callback would not stop it
            end(1, traceback.format_exc())

    def write(self):
        joined = np.concatenate([self.taken[level] for level in sorted(self.taken)], axis=1)
        image, values = vtkImageData(), np.ascontiguousarray(joined.reshape(-1, 3))
        image.SetDimensions(joined.shape[1], joined.shape[0], 1)
        image.GetPointData().SetScalars(numpy_to_vtk(values))
        writer = vtkPNGWriter()
        writer.SetInputData(image)
        writer.SetFileName(self.path)
        writer.Write()
        end(0, f"levels {sorted(self.taken)} of {int(self.reader.Levels)}")


def end(code, text):
    os.write(1, f"{text}\n".encode())  # printed text may go to the window's shell
    os._exit(code)


def in_window(folder):
    reader = OpenDataFile(os.path.join(folder, "fine.idx"))
    reader.RefineWhileIdle = 1
    view = GetActiveViewOrCreate("RenderView")
    pictures.show_volume(view, reader)
    in_window.kept = Pictures(reader, view, os.path.join(folder, "idx_refining.png"))
    Render(view)  # inspects the whole volume
    margin = (view.ViewSize[0] - view.ViewSize[1]) // 2
    fit(view, MIDDLE, pictures.TOWARDS, room=(margin, margin, 0, 0))
    add_ruler(view, 0.5, "0.5", (margin + 20, 150))
    Render(view)


if "BAT_REFINING" in os.environ:
    try:
        in_window(os.environ["BAT_REFINING"])
    except BaseException:
        end(1, traceback.format_exc())
elif __name__ == "__main__":
    to = os.path.abspath(sys.argv[1])
    if not os.path.exists(os.path.join(to, "fine.idx")):
        make(to)
    sys.exit(subprocess.run(["paraview", "--dr", f"--script={os.path.join(HERE, 'refining.py')}"], check=False,
                            env={**os.environ, "BAT_REFINING": to, "BAT_SCRIPTS": HERE}).returncode)
