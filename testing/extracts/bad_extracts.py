# SPDX-License-Identifier: BSD-3-Clause
# script-version: 2.0
"""Like extracts.py, but with obstacles that test_simulation.py creates."""
import os

from paraview import catalyst
from paraview.simple import *

options = catalyst.Options()
options.ExtractsOutputDirectory = os.environ["BAT_TEST_FOLDER"]

points = PVTrivialProducer(registrationName="points")
CreateExtractor("BAT", points, registrationName="a folder is in the way of one step")

nowhere = CreateExtractor("BAT", points, registrationName="a file is in the place of the folder")
nowhere.Writer.FileName = "occupied/points_{timestep:06d}.bat"
