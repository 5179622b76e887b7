# SPDX-License-Identifier: BSD-3-Clause
"""Gives the Python of every ParaView process inspect.getargspec, which ParaView 5.11 requires before it loads a Python
plugin, and which Python 3.11 no longer has."""
import inspect

if not hasattr(inspect, "getargspec"):
    inspect.getargspec = inspect.getfullargspec
