# SPDX-License-Identifier: BSD-3-Clause
"""Checks for stop.xml."""
import time

from bat_test import *


def slow_down():
    """Delays reads, so that a load takes as long as one of a large file."""
    reader = GetActiveSource().SMProxy.GetProperty("Aborted").GetParent().GetClientSideObject()
    reader.AddObserver("ProgressEvent", lambda *_: time.sleep(0.3))


def count():
    return GetActiveSource().GetDataInformation().GetNumberOfPoints()


def check_box():
    expect(count(), (points(700000)[:, 0] >= 0.25).sum(), "particles in the box")
