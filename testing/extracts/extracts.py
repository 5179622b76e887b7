# SPDX-License-Identifier: BSD-3-Clause
# script-version: 2.0
"""The in situ output of mini_simulation; test_simulation.py knows which files it creates."""
import os

from paraview import catalyst
from paraview.simple import *

options = catalyst.Options()
options.ExtractsOutputDirectory = os.environ["BAT_TEST_FOLDER"]

points = PVTrivialProducer(registrationName="points")
CreateExtractor("BAT", points, registrationName="every step")

ghosts = CreateExtractor("BAT", points, registrationName="with ghosts")
ghosts.Writer.FileName = "ghosts_{timestep:06d}.bat"
ghosts.Writer.WriteGhostParticles = 1

chosen = CreateExtractor("BAT", points, registrationName="one array")
chosen.Writer.FileName = "chosen_{timestep:06d}.bat"
chosen.Writer.ChooseArraysToWrite = 1
chosen.Writer.PointDataArrays = ["id"]

partitioned = PVTrivialProducer(registrationName="partitioned")
second = CreateExtractor("BAT", partitioned, registrationName="every second step")
second.Trigger.Frequency = 2

collection = PVTrivialProducer(registrationName="collection")
late = CreateExtractor("BAT", collection, registrationName="from step 3 on, in several leaf files")
late.Trigger.UseStartTimeStep = 1
late.Trigger.StartTimeStep = 3
late.Writer.ChooseArraysToWrite = 1
late.Writer.PointDataArrays = ["velocity", "id"]
late.Writer.LeafFileSize = 0.01
late.Writer.Aggregation = "At Borders of Ranks"

blocks = PVTrivialProducer(registrationName="blocks")
timed = CreateExtractor("BAT", blocks, registrationName="named after the time")
timed.Writer.FileName = "blocks_{time:.2f}.bat"

beside = PVTrivialProducer(registrationName="beside")
CreateExtractor("BAT", beside, registrationName="particles beside a grid")
some = CreateExtractor("BAT", beside, registrationName="some of the values of cells")
some.Writer.FileName = "some_{timestep:06d}.bat"
some.Writer.ChooseArraysToWrite = 1
some.Writer.CellDataArrays = ["mass", "id"]
