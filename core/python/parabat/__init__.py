# SPDX-License-Identifier: BSD-3-Clause
"""Large particle data, written and read with numpy.

    import parabat

    parabat.write("step.bat", positions, {"id": ids, "velocity": v}, time=0.5)
    with parabat.open("step.bat") as dataset:
        particles = dataset.read(["id"], quality=0.01, box=[0, 0, 0, 1, 1, 1])
        particles.positions, particles["id"]

On many ranks, write(), open() and read() take part in it with `comm=MPI.COMM_WORLD` of mpi4py, and
are collective then; without, mpi4py is not needed. Series writes the steps of a running simulation;
follow() finds chosen particles in all steps.

Structured grids in many resolutions (.idx): parabat.idx.

Failures raise BatError, which pickles, and which is a ValueError, TypeError or FileNotFoundError
too where it says so in its name. A collective call fails on all ranks if it fails on one.

The library, libbat_capi.so, is loaded when it is first needed: the one that the environment
variable BAT_LIBRARY names, else the one beside the package, in lib/ or build/lib/ of a folder above
it, or that of the system's loader.
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
    if name == "__version__":  # of the library
        from ._library import library  # pylint: disable=import-outside-toplevel
        return library().bat_version().decode()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
