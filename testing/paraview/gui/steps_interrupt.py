# SPDX-License-Identifier: BSD-3-Clause
"""Checks for interrupt.xml."""
from bat_test import *

SEEN = []


def watch():
    view = GetActiveView()
    window = view.GetRenderWindow()
    window.AddObserver("EndEvent", lambda *_: SEEN.append("given up" if window.GetAbortRender() else "drawn"))
    view.GetInteractor().AddObserver("LeftButtonPressEvent", lambda *_: SEEN.append("press"), 10.0)


def check():
    assert SEEN.count("given up") == 1, SEEN
    after = SEEN[SEEN.index("given up") + 1:]
    assert "press" in after and "press" not in SEEN[:-len(after)], SEEN
    assert after[-1] == "drawn" and "drawn" in after[after.index("press"):], SEEN
