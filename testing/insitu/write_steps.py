# SPDX-License-Identifier: BSD-3-Clause
"""Writes steps FIRST to LAST of a series of 1,000 particles: FOLDER/dust.bat.series. Step n is at time
1 + n / 4, or, if the clock begins at step CLOCK, at 1 + (n - CLOCK) / 4. Runs on one rank or several.

Usage: write_steps.py FOLDER FIRST LAST [CLOCK]
"""

import sys

import parabat
import numpy as np
from mpi4py import MPI

COUNT = 1000


def main():
    folder = sys.argv[1]
    first, last, clock = (int(text) for text in (sys.argv[2:] + ["0"])[:3])
    comm = MPI.COMM_WORLD
    ids = np.arange(COUNT)[comm.rank::comm.size]
    positions = np.random.default_rng(1).random((COUNT, 3))[comm.rank::comm.size]
    with parabat.Series(folder + "/dust_{timestep:04d}.bat", comm, target_bytes=10000) as series:
        for step in range(first, last + 1):
            series.write(step, 1 + (step - clock) / 4, positions + step,
                         {"id": ids, "step": np.full(len(ids), step)})


if __name__ == "__main__":
    main()
