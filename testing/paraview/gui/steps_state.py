# SPDX-License-Identifier: BSD-3-Clause
"""Checks for state.xml."""
from bat_test import *
from paraview import smtrace

FOLDER = os.environ["BAT_GUI_FOLDER"]


def start():
    for name in ("saved.pvsm", "saved.npy", "trace.py"):
        if os.path.exists(os.path.join(FOLDER, name)):
            os.remove(os.path.join(FOLDER, name))
    smtrace.start_trace()


def keep_ids():
    with open(os.path.join(FOLDER, "trace.py"), "w") as file:
        file.write(smtrace.stop_trace())
    found = vtk_to_numpy(servermanager.Fetch(GetActiveSource()).GetPointData().GetArray("id"))
    np.save(os.path.join(FOLDER, "saved.npy"), np.sort(found))
