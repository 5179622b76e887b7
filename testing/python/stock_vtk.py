# SPDX-License-Identifier: BSD-3-Clause
"""Files whose HDF5 view VTK's own reader must read bit for bit, without anything of this suite.

    stock_vtk.py make FOLDER GOLDEN    writes .bat files and what is in them; GOLDEN: folder with the golden files
    stock_vtk.py check FOLDER          reads them with VTK

The parts of a view are qualities 1, 0.1, 0.01 and so on; each begins with the particles that no coarser one has.
"""
import json
import math
import pathlib
import sys

import numpy as np

TYPES = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"]


def parts_of(counts):
    """Returns the parts of a view of leaf files with these numbers of particles: (first, end) in each leaf file."""
    def at(quality):
        return [min(n, math.ceil(quality * n)) for n in counts]
    ends, share = [list(counts)], 10.0
    while 1000 <= sum(at(1 / share)) <= sum(ends[0]) / 2:
        ends.insert(0, at(1 / share))
        share *= 10
    return list(zip([[0] * len(counts)] + ends, ends))


def rows_in_view(counts):
    """Returns which rows of a dataset the rows of its view are: parts come first, then leaf files."""
    begins = np.cumsum([0, *counts])
    return np.concatenate([np.arange(begins[i] + a, begins[i] + b) for first, end in parts_of(counts)
                           for i, (a, b) in enumerate(zip(first, end))] or [np.zeros(0, int)])


def every_type(random, n):
    """Returns attributes of all types, of 1, 2, 3 and 9 components, with random bits."""
    attributes = {}
    for kind in TYPES:
        for components in (1, 2, 3, 9):
            raw = random.integers(0, 256, (n, components * np.dtype(kind).itemsize), np.uint8)
            values = np.ascontiguousarray(raw).view("<" + kind)
            attributes[f"{kind} {components}"] = values[:, 0] if components == 1 else values
    return attributes


def same(found, expected, name):
    """Raises unless two arrays have the same type, shape and bits."""
    assert found.dtype == expected.dtype and found.shape == expected.shape, (name, found.dtype, found.shape, expected.dtype,
                                                                             expected.shape)
    assert found.tobytes() == expected.tobytes(), name


def make(folder, golden):
    """Writes the files."""
    import parabat  # pylint: disable=import-outside-toplevel  # check() does without
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(9)
    for n, kind in ((0, "f4"), (1, "f8"), (999, "f4"), (10000, "f8"), (123456, "f4")):
        positions = random.random((n, 3)).astype(kind)
        if n > 2:
            positions[1], positions[2, 1] = np.nan, np.inf
        parabat.write(folder / f"types {n} {kind}.bat", positions, every_type(random, n), time=0.5, step=2**62)
    with parabat.PieceWriter(folder / "leaves 100%.bat", target_bytes=1 << 20, time=2.5) as writer:
        for _ in range(20):
            writer.add(random.random((12000, 3)), {"id": random.integers(0, 2**63, 12000), "100%": random.random((12000, 2))})
        writer.finish()
    for source in sorted(golden.glob("*.bat")):
        parabat.repack(source, folder / f"golden {source.name}", compression="none", hdf5_view=True)
    for path in sorted(folder.glob("*.bat")):
        with parabat.open(path) as dataset:
            arrays, counts = dataset.read(), [leaf.particles for leaf in dataset.leaves]
            left_out = {row["name"] for row in dataset.hdf5_view["left_out"]}
            shown = [name for name in dataset.attributes if name not in left_out]
        rows = rows_in_view(counts)
        sizes = [sum(end) - sum(first) for first, end in parts_of(counts)]
        path.with_suffix(".json").write_text(json.dumps({"names": shown, "parts": sizes}), encoding="utf-8")
        np.savez(path.with_suffix(".npz"), arrays.positions[rows], *(arrays[name][rows] for name in shown))


def _arrays(grids):
    """Returns positions and point data of grids, one after another."""
    from vtkmodules.util.numpy_support import vtk_to_numpy  # pylint: disable=import-outside-toplevel,import-error
    positions, found = [], {}
    for grid in grids:
        assert grid.GetNumberOfCells() == grid.GetNumberOfPoints(), (grid.GetNumberOfCells(), grid.GetNumberOfPoints())
        positions.append(vtk_to_numpy(grid.GetPoints().GetData()))
        data = grid.GetPointData()
        for i in range(data.GetNumberOfArrays()):
            found.setdefault(data.GetArrayName(i), []).append(vtk_to_numpy(data.GetArray(i)))
    return np.concatenate(positions), {name: np.concatenate(values) for name, values in found.items()}


def check(folder):
    """Reads the files with VTK. Returns the number of values compared."""
    from vtkmodules.vtkCommonCore import vtkVersion  # pylint: disable=import-outside-toplevel,import-error
    from vtkmodules.vtkIOHDF import vtkHDFReader  # pylint: disable=import-outside-toplevel,import-error
    values = 0
    paths = sorted(folder.glob("*.bat"))
    assert len(paths) > 45, paths
    for path in paths:
        facts = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        with np.load(path.with_suffix(".npz")) as stored:
            positions, *expected = (stored[f"arr_{i}"] for i in range(1 + len(facts["names"])))
        reader = vtkHDFReader()
        assert reader.CanReadFile(str(path)), path
        reader.SetFileName(str(path))
        reader.Update()
        output = reader.GetOutputDataObject(0)
        is_grid = output.IsA("vtkUnstructuredGrid")
        grids = [output] if is_grid else [output.GetPartition(i) for i in range(output.GetNumberOfPartitions())]
        if not len(positions):
            assert sum(grid.GetNumberOfPoints() for grid in grids) == 0, path
            continue
        found_positions, found = _arrays(grids)
        same(found_positions, positions, (path.name, "positions"))
        assert set(found) == set(facts["names"]), (path.name, sorted(found), facts["names"])
        for name, array in zip(facts["names"], expected):
            same(found[name], array, (path.name, name))
            values += array.size
        values += positions.size
        # The first of as many pieces as there are parts is the coarsest part.
        reader.UpdatePiece(0, len(facts["parts"]), 0)
        assert reader.GetOutputDataObject(0).GetNumberOfPoints() == facts["parts"][0], path
    print(f"VTK {vtkVersion.GetVTKVersion()} read {len(paths)} files, {values} values, bit for bit")
    return values


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))
    else:
        check(pathlib.Path(sys.argv[2]))
