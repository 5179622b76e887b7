# SPDX-License-Identifier: BSD-3-Clause
"""A dataset with more leaf files than the process may have descriptors.

Arguments: the dataset to write; and "write" to keep it without reading it.
"""

import os
import resource
import sys

import parabat
import numpy as np
from mpi4py import MPI

LEAVES, EACH = 300, 50


def main(path, *only):
    n = LEAVES * EACH
    positions = np.random.default_rng(1).random((n, 3), dtype=np.float32)
    parabat.write(path, positions, {"id": np.arange(n)}, comm=MPI.COMM_WORLD, target_bytes=20 * EACH, flush=False)
    if only == ("write",):
        return
    leaves = len(os.listdir(path + ".leaves"))
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (128, hard))
    assert leaves > 128, leaves
    with parabat.Dataset(path) as dataset:
        assert np.array_equal(np.sort(dataset.read(["id"])["id"]), np.arange(n))
        own = [open("/dev/null", "rb") for _ in range(32)]  # the program can still open files
        assert np.array_equal(np.sort(dataset.read(["id"])["id"]), np.arange(n))
        for file in own:
            file.close()


main(*sys.argv[1:])
