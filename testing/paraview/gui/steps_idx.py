# SPDX-License-Identifier: BSD-3-Clause
"""Checks for idx.xml."""
from bat_test import *
from paraview import smtrace

FOLDER = os.environ["BAT_GUI_FOLDER"]


def start():
    for name in ("idx.pvsm", "idx.npy", "idx_trace.py"):
        if os.path.exists(os.path.join(FOLDER, name)):
            os.remove(os.path.join(FOLDER, name))
    smtrace.start_trace()


def check_slice(index):
    display = GetDisplayProperties()
    expect((display.Representation, display.Slice), ("Slice", index), "the first picture")
    expect(list(display.ColorArrayName), ["POINTS", "RTData"], "colours")
    expect(display.DataAxesGrid.GridAxesVisibility, 1, "the edges of the box")


def check_camera():
    middle = np.reshape(GetActiveSource().GetDataInformation().GetBounds(), (3, 2)).mean(axis=1)
    found = np.array(list(GetActiveView().CameraFocalPoint))
    assert np.abs(found - middle).max() < 1, (found, middle)


def keep_values():
    with open(os.path.join(FOLDER, "idx_trace.py"), "w") as file:
        file.write(smtrace.stop_trace())
    shown = servermanager.Fetch(GetActiveSource())
    expect(shown.GetExtent(), (0, 23, 0, 47, 0, 47), "extent")
    expect(shown.GetSpacing(), (4.0, 4.0, 4.0), "spacing")
    np.save(os.path.join(FOLDER, "idx.npy"), vtk_to_numpy(shown.GetPointData().GetArray("RTData")))
