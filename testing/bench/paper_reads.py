# SPDX-License-Identifier: BSD-3-Clause
"""Reads what paper_ranks.py wrote as a post-processing user would: in one process and one thread.

    PYTHON paper_reads.py '{"way": ..., "path": ..., "dtypes": [[name, dtype, components], ...], "question": ...}'

way: ours, raw, hdf5, vtk or shared. question: {"box": [6 numbers]}, {"share": 0.01}, or {"steps": 10} (ours), all
with "attributes". Prints one line of JSON: seconds, bytes from read(), number of particles, and their checksum for a
box. If a format has no index, positions are read first, and then the attribute rows from the first to the last
match, as a careful user would do.
"""

import glob
import json
import os
import sys
import time

import numpy as np

import rank_particles


def bytes_read():
    with open("/proc/self/io", encoding="ascii") as file:
        return int(next(line for line in file if line.startswith("rchar")).split()[1])


class Pieces:
    """Files or parts of one; each contains rows of columns."""

    def __init__(self, path, dtypes):
        self.path = path
        self.dtypes = {name: (np.dtype(dtype), components) for name, dtype, components in dtypes}

    def pieces(self):
        """Arguments for column(), with the number of rows of each."""
        raise NotImplementedError

    def column(self, piece, name, first=0, end=None, stride=1):
        raise NotImplementedError

    def _shape(self, rows, name):
        dtype, components = self.dtypes[name]
        return dtype, ((rows, components) if components > 1 else (rows,))


class Raw(Pieces):
    def pieces(self):
        size = sum(dtype.itemsize * components for dtype, components in self.dtypes.values())
        return [(name, os.path.getsize(name) // size) for name in sorted(glob.glob(glob.escape(self.path) + ".*"))]

    def column(self, piece, name, first=0, end=None, stride=1):
        path, rows = piece
        begin = 0
        for other, (dtype, components) in self.dtypes.items():
            if other == name:
                break
            begin += rows * dtype.itemsize * components
        dtype, components = self.dtypes[name]
        count = (rows if end is None else end) - first
        values = np.fromfile(path, dtype, count * components, offset=begin + first * dtype.itemsize * components)
        return values.reshape(self._shape(count, name)[1])[::stride]


class Hdf5(Pieces):
    def pieces(self):
        import h5py

        self.file = h5py.File(self.path, "r")
        return [(self.file, len(self.file["positions"]))]

    def column(self, piece, name, first=0, end=None, stride=1):
        return piece[0][name][first:end:stride]


class Vtk(Pieces):
    def pieces(self):
        return [(name, None) for name in sorted(glob.glob(glob.escape(self.path) + ".*.vtp"))]

    def column(self, piece, name, first=0, end=None, stride=1):
        from vtkmodules.util.numpy_support import vtk_to_numpy
        from vtkmodules.vtkIOXML import vtkXMLPolyDataReader

        reader = vtkXMLPolyDataReader()
        reader.SetFileName(piece[0])
        reader.UpdateInformation()
        selection = reader.GetPointDataArraySelection()
        selection.DisableAllArrays()
        if name != "positions":
            selection.EnableArray(name)
        reader.Update()
        data = reader.GetOutput()
        values = data.GetPoints().GetData() if name == "positions" else data.GetPointData().GetArray(name)
        return vtk_to_numpy(values)[first:end:stride].copy()


def in_box(pieces, box, names):
    lower, upper = np.reshape(box, (2, 3)).astype(np.float32)
    parts = []
    for piece in pieces.pieces():
        positions = pieces.column(piece, "positions")
        rows = np.flatnonzero(((positions >= lower) & (positions <= upper)).all(axis=1))
        if len(rows):
            first, end = rows[0], rows[-1] + 1
            parts.append({"positions": positions[rows], **{
                name: pieces.column(piece, name, first, end)[rows - first] for name in names}})
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def share_of(pieces, share, names):
    stride = round(1 / share)
    parts = [{name: pieces.column(piece, name, stride=stride) for name in ["positions", *names]}
             for piece in pieces.pieces()]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def ours(path, question, names):
    import parabat

    how = {"box": question["box"]} if "box" in question else {"quality": question["share"]}
    with parabat.Dataset(path) as dataset:
        particles = dataset.read(names, threads=1, **how)
    return {**particles, "positions": particles.positions}


def progressive(path, steps, names):
    """Tables I and II: milliseconds of processor time and particles of each step. The files are in the page cache, so
    the single thread never waits."""
    import parabat

    taken = []
    with parabat.Dataset(path) as dataset:
        begin = time.process_time()
        for particles in dataset.iter_quality(steps, names, threads=1):
            taken.append([1e3 * (time.process_time() - begin), len(particles.positions)])
            del particles
            begin = time.process_time()
    return taken


def main():
    how = json.loads(sys.argv[1])
    question, path = how["question"], how["path"]
    names = question.get("attributes", [])
    if "steps" in question:
        samples = [progressive(path, question["steps"], names) for _ in range(1 + question["repeat"])]
        print(json.dumps({"samples": samples[1:]}))
        return
    if how["way"] == "ours":
        import parabat  # noqa: F401  # pylint: disable=unused-import
        def work():
            return ours(path, question, names)
    else:
        kind = {"raw": Raw, "hdf5": Hdf5, "vtk": Vtk}[how["way"]]
        if kind is Hdf5:
            import h5py  # noqa: F401  # pylint: disable=unused-import
        if kind is Vtk:
            import vtkmodules.util.numpy_support  # noqa: F401  # pylint: disable=unused-import
            import vtkmodules.vtkIOXML  # noqa: F401  # pylint: disable=unused-import
        def work():
            find = in_box if "box" in question else share_of
            return find(kind(path, how["dtypes"]), question.get("box") or question["share"], names)
    if question.get("cold"):
        rank_particles.forget_pages(how["files"])
    before, begin = bytes_read(), time.perf_counter()
    found = work()
    seconds, taken = time.perf_counter() - begin, bytes_read() - before
    print(json.dumps({"seconds": seconds, "bytes": taken, "particles": len(found["positions"]),
                      "checksum": f"{rank_particles.checksum(found):016x}" if "box" in question else None}))


if __name__ == "__main__":
    main()
