# SPDX-License-Identifier: BSD-3-Clause
"""Checks for errors.xml."""
from gui_images import *
from vtkmodules.vtkCommonCore import vtkOutputWindow

messages = []
leaf = ""
before = None


def at(name):
    return os.path.join(FOLDER, name)


def keep(window, event, text):
    messages.append(text)


keep.CallDataType = "string0"


def start():
    shutil.copy(at("sample.bat"), at("gone.bat"))
    vtkOutputWindow.GetInstance().AddObserver("ErrorEvent", keep)


def remove(name):
    global before
    set_up_view()
    before = take("before.png")
    assert lit(before) > 0.01
    os.remove(at(name))


def put_back(name):
    shutil.copy(at("sample.bat"), at(name))


def expect_one_message(name):
    expect(len(messages), 1, "messages %r" % messages)
    assert name in messages.pop(), name


def expect_empty_picture():
    expect(lit(take("empty.png")), 0.0, "the lit part of the picture after an error")
    expect(GetActiveSource().GetDataInformation().GetNumberOfPoints(), 0, "particles after an error")


def expect_same_picture():
    expect_same(take("after.png"), before, "the picture after an error")


def skip_damaged():
    messages.clear()
    vtkOutputWindow.GetInstance().AddObserver("WarningEvent", keep)
    GetActiveSource().SkipDamaged = 1
    Render()
    expect_one_message(leaf)
    shown = vtk_to_numpy(servermanager.Fetch(GetActiveSource()).GetPointData().GetArray("id"))
    assert 10000 < len(shown) < 20000, len(shown)
    assert len(np.intersect1d(shown, arrays(20000)["id"])) == len(shown), "particles that are none"
    assert lit(take("torn.png")) > 0.01


def forget():
    messages.clear()
    Delete(GetActiveSource())


def remove_leaf():
    """In a copy in a separate folder."""
    global leaf
    shutil.rmtree(at("torn"), ignore_errors=True)
    shutil.copytree(at("leaves.bat.leaves"), at("torn/leaves.bat.leaves"))
    shutil.copy(at("leaves.bat"), at("torn"))
    leaf = sorted(os.listdir(at("torn/leaves.bat.leaves")))[1]
    os.remove(os.path.join(at("torn/leaves.bat.leaves"), leaf))
