# SPDX-License-Identifier: BSD-3-Clause
"""Checks for server.xml."""
from bat_test import *
from paraview.selection import QuerySelect

N = 700000


def check(mass):
    """The state that the window has caused, without an update."""
    reader = GetActiveSource()
    expect(reader.GetDataInformation().GetNumberOfPoints(), len(mass), "particles")
    shown = vtk_to_numpy(servermanager.Fetch(reader).GetPointData().GetArray("mass"))
    expect(np.sort(shown), np.sort(mass), "mass")


def check_all():
    expect(servermanager.ActiveConnection.GetNumberOfDataPartitions(), 2, "ranks")
    check(arrays(N)["mass"])


def check_light():
    mass = arrays(N)["mass"]
    check(mass[mass <= np.float32(0.25)])


def check_one():
    reader = GetActiveSource()
    reader.Ids = str(BIG_ID + 7)
    reader.AttributeRanges = []
    Render()
    check(arrays(N)["mass"][arrays(N)["id"] == BIG_ID + 7])


def select_lightest():
    QuerySelect(QueryString="mass < 0.0001", FieldType="POINT")


def select_heaviest():
    QuerySelect(QueryString="mass > 0.99999", FieldType="POINT")


def check_box_of_heaviest():
    """The selected particles are on both ranks."""
    mass, positions = arrays(N)["mass"], points(N)
    heaviest = positions[mass > np.float32(0.99999)]
    assert 2 < len(heaviest) < 20, len(heaviest)
    lower, upper = heaviest.min(axis=0), heaviest.max(axis=0)
    expect(np.array(GetActiveSource().Box), np.stack([lower, upper], axis=1).ravel().astype("f8"), "box")
    check(mass[(mass >= 0.0001) & ((positions >= lower) & (positions <= upper)).all(axis=1)])


def check_lightest_hidden():
    mass = arrays(N)["mass"]
    assert 20 < (mass < 0.0001).sum() < 200
    check(mass[mass >= 0.0001])
