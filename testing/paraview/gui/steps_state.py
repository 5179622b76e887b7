"""Of state.xml."""
from bat_test import *

FOLDER = os.environ["BAT_GUI_FOLDER"]


def start():
    for name in ("saved.pvsm", "saved.npy"):
        if os.path.exists(os.path.join(FOLDER, name)):
            os.remove(os.path.join(FOLDER, name))


def keep_ids():
    found = vtk_to_numpy(servermanager.Fetch(GetActiveSource()).GetPointData().GetArray("id"))
    np.save(os.path.join(FOLDER, "saved.npy"), np.sort(found))
