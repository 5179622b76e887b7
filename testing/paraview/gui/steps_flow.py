# SPDX-License-Identifier: BSD-3-Clause
"""Checks for flow.xml."""
import time

from bat_test import *


def show_exponents():
    ftle = FlowFTLE(Input=GetActiveSource(), Dimensions=[33, 33, 1])
    Show(ftle)
    Render()
    SetActiveSource(ftle)


def check_shown(expected):
    lines = GetActiveSource()
    expect(lines.GetXMLName(), "FlowPathLines", "filter")
    display = GetDisplayProperties(lines)
    expect(display.Representation, expected, "representation of %s" % lines.Output)
    assert lines.GetDataInformation().GetNumberOfPoints() > 0
    # As a share of the domain, whose edges are 1 long: visible balls that do not form a cloud.
    assert expected == "Surface" or 0.001 < display.GaussianRadius < 0.01, display.GaussianRadius


def remove_lines():
    lines = GetActiveSource()
    SetActiveSource(lines.Input)
    Delete(lines)


def slow_down():
    """Delays reads, so that a run takes as long as one of a large series."""
    GetActiveSource().GetClientSideObject().AddObserver("ProgressEvent", lambda *_: time.sleep(0.3))


def check(nodes):
    view = GetActiveView()
    for _ in range(2):
        view.SMProxy.MarkModified(view.SMProxy)
        Render()
    expect(GetActiveSource().GetDataInformation().GetNumberOfPoints(), 33 * nodes, "nodes")
