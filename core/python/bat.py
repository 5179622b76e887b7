# SPDX-License-Identifier: BSD-3-Clause
"""The former name of `parabat`, for programs that import it; it goes away with the next version.

What differs: write() and Series take the communicator first.
"""

import warnings

import parabat
from parabat import (  # pylint: disable=unused-import
    Attribute, BatError, BatNotFoundError, BatTypeError, BatValueError, Dataset, OrientedBox,
    Particles, Report, Slab, Sphere)

warnings.warn("the module `bat` is now called `parabat`, whose write() and Series() take the "
              "communicator after the path, as `comm`", DeprecationWarning, stacklevel=2)


MODES = {"adaptive": 0, "rank_border": 1, "aug": 2}
REPEATS = {"store": 0, "link": 1, "leave_out": 2}


def write(comm, path, positions, attributes=None, **options):
    """parabat.write(path, positions, attributes, comm=comm, ...)."""
    return parabat.write(path, positions, attributes, comm=comm, **options)


class Series(parabat.Series):
    """parabat.Series(files, comm, ...)."""

    def __init__(self, comm, files, **options):
        super().__init__(files, comm, **options)
