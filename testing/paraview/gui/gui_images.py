# SPDX-License-Identifier: BSD-3-Clause
"""Compares pictures of ParaView's view with baselines and with each other."""
from bat_test import *
from vtkmodules.vtkIOImage import vtkPNGReader

FOLDER = os.environ["BAT_GUI_FOLDER"]
BASELINES = os.path.join(os.path.dirname(__file__), "baselines")
BACKGROUND = [0.0, 0.0, 0.2]
# Tolerances, of 255 and of the pixels: other versions of ParaView and Mesa round differently.
FUZZ = 5
SHARE = 0.02


def set_up_view():
    """Sets what differs between versions, and hides legends."""
    view = GetActiveView()
    for shown in view.Representations:
        if shown.SMProxy.GetProperty("ColorArrayName") and shown.ColorArrayName[1]:
            shown.SetScalarBarVisibility(view, False)
    view.UseColorPaletteForBackground = 0
    view.Background = BACKGROUND
    view.OrientationAxesVisibility = 0
    return view


def take(name):
    """Returns the view as an array of pixels, and saves it in the test's folder."""
    path = os.path.join(FOLDER, name)
    SaveScreenshot(path, GetActiveView(), ImageResolution=[320, 240])
    return read(path)


def read(path):
    reader = vtkPNGReader()
    reader.SetFileName(path)
    reader.Update()
    image = reader.GetOutput()
    width, height, _ = image.GetDimensions()
    return vtk_to_numpy(image.GetPointData().GetScalars()).reshape(height, width, -1)[:, :, :3].astype(int)


def difference(a, b):
    """The share of pixels that differ by more than a little."""
    expect(a.shape, b.shape, "size of the pictures")
    return (np.abs(a - b).max(2) > FUZZ).mean()


def expect_same(a, b, what):
    share = difference(a, b)
    assert share <= SHARE, "%s: %.1f %% of the pixels differ" % (what, 100 * share)


def expect_baseline(image, name):
    expect_same(image, read(os.path.join(BASELINES, name)), name)


def lit(image):
    """The share of pixels that are not background."""
    return (np.abs(image - np.round(255 * np.array(BACKGROUND))).max(2) > FUZZ).mean()
