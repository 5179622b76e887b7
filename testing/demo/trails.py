# SPDX-License-Identifier: BSD-3-Clause
"""Writes tracks of the demo's grains as a simulation would append them: FOLDER/tracked.tracks.bat.

Usage: trails.py FOLDER DUMP..., of some of the grains at many times
"""

import os
import sys

import numpy as np
import parabat
from lammps_dump import Dump
from mpi4py import MPI


def main():
    folder, paths = sys.argv[1], sys.argv[2:]
    tracks = os.path.join(folder, "tracked.tracks.bat")
    dumps = sorted((Dump(path) for path in paths), key=lambda dump: dump.step)
    # One file of all these grains, then only tracks.
    with parabat.Series(os.path.join(folder, "tracked_{timestep:05d}.bat"), MPI.COMM_SELF, every=len(dumps),
                        tracks={"every_id": 1, "attributes": ["layer", "radius", "velocity"]}, flush=False) as series:
        for dump in dumps:
            series.write(dump.step, dump.time, dump.positions, dump.attributes)
    trails = parabat.follow(tracks)
    for i, dump in enumerate(dumps):
        order = np.searchsorted(trails.ids, dump.attributes["id"])
        if trails.present[i].sum() != dump.count or not (
                np.array_equal(trails.positions.data[i, order], dump.positions)
                and np.array_equal(trails["velocity"].data[i, order], dump.attributes["velocity"])):
            sys.exit(f"{tracks}: step {dump.step} is not that of {paths[i]}")
    print(f"{tracks}: {len(trails.ids):,} grains at {len(dumps)} times, all as in the dumps; {os.path.getsize(tracks):,} bytes")


main()
