# SPDX-License-Identifier: BSD-3-Clause
"""The format without the library: a reader, and a writer of plain single files, in Python and NumPy.

    from parabat import pure

    pure.write("step.bat", positions, {"id": ids}, time=0.5)
    bat = pure.open("step.bat")                      # checks every checksum, if xxhash can be imported
    bat.positions(), bat.attribute("id")             # (n, 3) and (n,), coarse particles first
    where = bat.query(quality=0.1, box=[0, 0, 0, 1, 1, 1], ranges=[("id", None, 5, 90)])
    bat.positions()[where]
    pure.Tracks.open("run.tracks.bat").samples       # each with step, time, ids, positions, columns

For codes that cannot link a library, and as an independent implementation: both were written from
core/particles/FORMAT.md alone and serve the tests as a second reader. They favour simplicity over speed
and hold whole files in memory. Reading compressed columns requires Python 3.14, or the package
zstandard or pyarrow; written files are not compressed. If the library is available, parabat.open() and
parabat.write() do more, and faster.
"""

from .reader import BatDataset, BatError, BatFile, QueryError
from .reader import open_any as open  # pylint: disable=redefined-builtin
from .tracks import Tracks
from .writer import write

__all__ = ["BatDataset", "BatError", "BatFile", "QueryError", "Tracks", "open", "write"]
