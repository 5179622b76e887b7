# SPDX-License-Identifier: BSD-3-Clause
"""Converts files of other formats to datasets.

    from parabat.convert import convert
    convert(["dump.lammpstrj.gz"], "water.bat")
    convert(["snapshot_*.hdf5"], "box.bat", species=["PartType0"], jobs=4)
    convert(["ocean.nc"], "ocean.idx", settings={"codec": "zip"})

On the command line: `parabat convert` (or python3 -m parabat.convert). Each format is a row of the
registry and lives in a file of its own; model.py describes what that file contains.
"""

from .model import Collector, ConvertError, Divided, Fields, Format, Options, Particles, Step
from .registry import formats
from .run import convert

__all__ = ["Collector", "ConvertError", "Divided", "Fields", "Format", "Options", "Particles", "Step", "convert",
           "formats"]
