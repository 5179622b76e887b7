# SPDX-License-Identifier: BSD-3-Clause
"""Writes the file that other tests read."""
from bat_test import *

SaveData(sys.argv[1], producer(cloud(20000)))
finish()
