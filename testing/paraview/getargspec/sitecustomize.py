# SPDX-License-Identifier: BSD-3-Clause
"""Python of every process of ParaView has inspect.getargspec, for which ParaView 5.11 asks before it loads a plugin in
Python, and which Python 3.11 has no more."""
import inspect

if not hasattr(inspect, "getargspec"):
    inspect.getargspec = inspect.getfullargspec
