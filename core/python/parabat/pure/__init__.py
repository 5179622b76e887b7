# SPDX-License-Identifier: BSD-3-Clause
"""The format without the library: a reader, and a writer of plain single files, in Python and numpy.

    from parabat import pure

    pure.write("step.bat", positions, {"id": ids}, time=0.5)
    bat = pure.open("step.bat")                      # checks every checksum, if xxhash can be imported
    bat.positions(), bat.attribute("id")             # (n, 3) and (n,), coarse particles first
    where = bat.query(quality=0.1, box=[0, 0, 0, 1, 1, 1], ranges=[("id", None, 5, 90)])
    bat.positions()[where]
    pure.Tracks.open("run.tracks.bat").samples       # each with step, time, ids, positions, columns

For codes that will not link anything, and as a second opinion: both were written from
core/particles/FORMAT.md alone and are the tests' second reader. They favour plainness over speed: whole
files in memory. Compressed columns are read with Python 3.14, or the package zstandard or pyarrow;
what is written is not compressed. Where the library is, parabat.open() and parabat.write() do
more, and faster.
"""

from .reader import BatDataset, BatError, BatFile, QueryError
from .reader import open_any as open  # pylint: disable=redefined-builtin
from .tracks import Tracks
from .writer import write

__all__ = ["BatDataset", "BatError", "BatFile", "QueryError", "Tracks", "open", "write"]
