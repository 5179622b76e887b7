# SPDX-License-Identifier: BSD-3-Clause
"""Checks that an installed package and its library come from the prefix: test_installed.py
FOLDER."""

import pathlib
import sys

import parabat

work = pathlib.Path(sys.argv[1]).resolve()
prefix = work / "prefix"
assert prefix in pathlib.Path(parabat.__file__).resolve().parents, parabat.__file__

parabat.write(str(work / "one.bat"), [[1.0, 2.0, 3.0]], {"id": [7]})
with parabat.open(str(work / "one.bat")) as dataset:
    particles = dataset.read(["id"])
    assert particles.positions.tolist() == [[1, 2, 3]] and particles["id"].tolist() == [7]

with open("/proc/self/maps", encoding="utf-8") as maps:
    loaded = {line.split()[-1] for line in maps if "libbat_capi" in line}
assert len(loaded) == 1 and prefix in pathlib.Path(loaded.pop()).parents, loaded
