# SPDX-License-Identifier: BSD-3-Clause
"""Reads and writes large particle data with NumPy.

    import parabat

    parabat.write("step.bat", positions, {"id": ids, "velocity": v}, time=0.5)
    with parabat.open("step.bat") as dataset:
        particles = dataset.read(["id"], quality=0.01, box=[0, 0, 0, 1, 1, 1])
        particles.positions, particles["id"]

In parallel, all ranks call write(), open() and read() with `comm=MPI.COMM_WORLD` of mpi4py; the
calls are then collective. Without comm, mpi4py is not needed. Series writes the steps of a running
simulation; follow() follows chosen particles through all steps.

parabat.idx reads and writes multiresolution structured grids (.idx).

Failures raise BatError, which can be pickled. Its subclasses with such names are also ValueError,
TypeError or FileNotFoundError. If a collective call fails on one rank, it fails on all.

The library, libbat_capi.so, is loaded on first use: from the path in the environment variable
BAT_LIBRARY, else from the package's folder, from lib/ or build/lib/ in a folder above it, or by the
system's loader.
"""

from . import idx
from .dataset import (  # pylint: disable=redefined-builtin
    Attribute, Count, Dataset, Histogram, Leaf, Particles, Storage, open)
from .errors import (
    BatCancelledError, BatError, BatImportError, BatInternalError, BatMemoryError, BatNotFoundError, BatTypeError, BatValueError)
from .following import Problem, Trails, follow
from .regions import OrientedBox, Slab, Sphere
from .series import Series, Step, read_series
from .tracks import Tracks
from .writing import PieceWriter, RepackReport, Report, options_table, repack, write

__all__ = [
    "Attribute", "BatCancelledError", "BatError", "BatImportError", "BatInternalError", "BatMemoryError", "BatNotFoundError",
    "BatTypeError", "BatValueError", "Count", "Dataset", "Histogram", "Leaf", "OrientedBox",
    "Particles", "PieceWriter", "Problem", "RepackReport", "Report", "Series", "Slab", "Sphere",
    "Step", "Storage", "Tracks", "Trails", "follow", "idx", "open", "options_table", "read_series", "repack",
    "write"]


def __getattr__(name):
    if name == "__version__":  # the library's version
        from ._library import library  # pylint: disable=import-outside-toplevel
        return library().bat_version().decode()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
