# SPDX-License-Identifier: BSD-3-Clause
"""Checks that the Python writer makes the same file from every input as the compiled one, or rejects it with
the same message.

Arguments: the Python plugin, a folder."""
import re

from bat_test import *
from vtkmodules.vtkCommonCore import (vtkBitArray, vtkFloatArray, vtkOutputWindow, vtkStringArray, vtkUnsignedCharArray)
from vtkmodules.vtkCommonDataModel import (vtkCellArray, vtkImageData, vtkMultiBlockDataSet, vtkPartitionedDataSet,
                                           vtkPartitionedDataSetCollection, vtkStructuredGrid, vtkTable,
                                           vtkUnstructuredGrid)

PLUGIN, FOLDER = sys.argv[1:]
LoadPlugin(PLUGIN, ns=globals())  # it gives way, but its classes are available
in_python = sys.modules["parabat_paraview"]
import parabat

messages = []


def keep(window, event, text):
    # Messages of VTK's classes begin with their origin; VTK itself reports that the pipeline ends.
    if "returned failure for request" not in text:
        messages.append(re.sub(r"^.*?\(0x[0-9a-f]+\): ", "", text, flags=re.S).strip())


keep.CallDataType = "string0"
for event in ("ErrorEvent", "WarningEvent"):
    vtkOutputWindow.GetInstance().AddObserver(event, keep)


def array(values, name=None, kind=None):
    made = kind() if kind else numpy_to_vtk(np.ascontiguousarray(values), deep=True)
    if kind:
        values = np.asarray(values)
        made.SetNumberOfComponents(values.shape[1] if values.ndim > 1 else 1)
        for value in values.reshape(-1):
            made.InsertNextValue(value)
    if name is not None:
        made.SetName(name)
    return made


def points_at(places):
    made = vtkPoints()
    made.SetData(array(places))
    return made


def fill(fields, arrays):
    for one in arrays:
        fields.AddArray(one)


def poly(places, *arrays, cells=(), verts=(), lines=()):
    """Verts and lines: lists of points of each cell; cells: arrays of cells."""
    data = vtkPolyData()
    data.SetPoints(points_at(places))
    for listed, set_cells in ((verts, data.SetVerts), (lines, data.SetLines)):
        if len(listed):
            made = vtkCellArray()
            for cell in listed:
                made.InsertNextCell(len(cell), cell)
            set_cells(made)
    fill(data.GetPointData(), arrays)
    fill(data.GetCellData(), cells)
    return data


def table(*arrays):
    data = vtkTable()
    fill(data.GetRowData(), arrays)
    return data


def image():
    data = vtkImageData()
    data.SetDimensions(2, 2, 2)
    return data


def grid(*arrays, size=2):
    """A structured grid."""
    data = vtkStructuredGrid()
    data.SetDimensions(size, size, size)
    at = np.stack(np.meshgrid(*3 * [np.arange(size, dtype="f4")]), -1).reshape(-1, 3)
    data.SetPoints(points_at(at))
    fill(data.GetPointData(), arrays)
    return data


def unstructured(kind, cells, *arrays, of_cells=()):
    data = vtkUnstructuredGrid()
    data.SetPoints(points_at(P[:8]))
    for cell in cells:
        data.InsertNextCell(kind, len(cell), cell)
    fill(data.GetPointData(), arrays)
    fill(data.GetCellData(), of_cells)
    return data


def multi(*blocks, names=None):
    data = vtkMultiBlockDataSet()
    for i, block in enumerate(blocks):
        data.SetBlock(i, block)
        if names:
            data.GetMetaData(i).Set(data.NAME(), names[i])
    return data


def collection(*lists):
    data = vtkPartitionedDataSetCollection()
    for i, partitions in enumerate(lists):
        part = vtkPartitionedDataSet()
        for j, partition in enumerate(partitions):
            part.SetPartition(j, partition)
        data.SetPartitionedDataSet(i, part)
    return data


def with_facts(data, time=None, **fields):
    if time is not None:
        data.GetInformation().Set(data.DATA_TIME_STEP(), time)
    for name, values in fields.items():
        data.GetFieldData().AddArray(array(np.atleast_1d(values), name))
    return data


N = 50
P = np.random.default_rng(3).random((N, 3)).astype("f4")
ID = array(np.arange(N), "id")
HALF = array(np.arange(N // 2), "id")
MARKS = np.random.default_rng(4).integers(0, 64, N).astype("u1")
ONE_EACH = [[i] for i in range(N)]
BIG = [[0, 0, 0], [1, 2**53 + 1, 2], [3, 4, 5]]

MANY = poly(np.random.default_rng(5).random((9000, 3)).astype("f4"), array(np.arange(9000), "id"),
            array(np.sin(np.arange(9000) / 100), "wave"))
LISTS = {"SortedIndexes": "AddSortedIndex", "StableSamples": "AddStableSample", "ErrorBounds": "AddErrorBound"}
NAMED = {"Compression": "compression", "ChunkParticles": "chunk_particles"}

CASES = {
    # Bits, and other non-plain arrays.
    "bits": (poly(P, ID, array(MARKS & 1, "bit", vtkBitArray)), {}),
    "bits in threes": (poly(P, ID, array(np.stack([MARKS & 1, MARKS >> 1 & 1, MARKS >> 2 & 1], 1), "bits", vtkBitArray)), {}),
    "bits of nothing": (poly(P[:0], array([], "bit", vtkBitArray)), {}),
    "no names": (poly(P, array(np.arange(N)), array(np.ones(N), "array_0"), array(np.zeros(N, "f4"))), {}),
    "texts": (poly(P, ID, array(["a"] * N, "name", vtkStringArray)), {}),
    "nine and ten components": (poly(P, array(np.ones((N, 9)), "nine"), array(np.ones((N, 10)), "ten")), {}),
    "too few values": (poly(P, array(np.ones(N - 1), "few")), {}),
    # Ghosts.
    "ghosts": (poly(P, ID, array(MARKS, "vtkGhostType")), {}),
    "ghosts that are written": (poly(P, ID, array(MARKS, "vtkGhostType")), {"WriteGhostParticles": 1}),
    "ghosts of two components": (poly(P, ID, array(np.stack([MARKS, MARKS], 1), "vtkGhostType")), {}),
    "ghosts of two components, written": (
        poly(P, ID, array(np.stack([MARKS, MARKS], 1), "vtkGhostType")), {"WriteGhostParticles": 1}),
    "ghosts of another type": (poly(P, ID, array(MARKS.astype("i4"), "vtkGhostType")), {}),
    "ghosts of cells": (poly(P, ID, verts=ONE_EACH, cells=[array(MARKS, "vtkGhostType")]), {}),
    "ghosts of points and cells, written": (
        poly(P, ID, array(MARKS, "vtkGhostType"), verts=ONE_EACH[::-1], cells=[array(MARKS, "vtkGhostType")]),
        {"WriteGhostParticles": 1}),
    "nothing but ghosts": (poly(P, ID, array(np.full(N, 1, "u1"), "vtkGhostType")), {}),
    "a table's ghosts": (table(array(P[:, 0], "x"), array(P[:, 1], "y"), array(P[:, 2], "z"),
                               array(MARKS, "vtkGhostType")), {}),
    # Positions.
    "integer points": (poly((100 * P).astype("i4"), ID), {}),
    "short points": (poly((100 * P).astype("i2"), ID), {}),
    "points of 64 bits": (poly((2.0**60 * P).astype("i8"), ID), {}),
    "points of unsigned 64 bits": (poly((2.0**63 * (1 + P)).astype("u8"), ID), {}),
    "negative points of 64 bits": (poly(-(2.0**60 * P).astype("i8"), ID), {}),
    "points that no double holds": (poly(np.array(BIG, "i8")), {}),
    "negative points that no double holds": (poly(-np.array(BIG, "i8")), {}),
    "unsigned points that no double holds": (poly(np.array(BIG, "u8") + np.uint64(2**63)), {}),
    "double points": (poly(P.astype("f8") + 1e-9, ID), {}),
    # Cells.
    "lines": (poly(P, ID, lines=[[0, 1, 2], [3, 4]]), {}),
    "lines with data": (poly(P, ID, lines=[[0, 1]], cells=[array([1.0], "length")]), {}),
    "data of vertices": (poly(P, ID, verts=ONE_EACH, cells=[array(np.arange(N) * 2.0, "twice"), array(np.ones(N))]), {}),
    "data of vertices in another order": (
        poly(P, ID, verts=ONE_EACH[::-1], cells=[array(np.arange(N) * 2.0, "twice"), array(-np.arange(N), "id")]), {}),
    "data of clusters": (poly(P, ID, verts=[list(range(20)), list(range(20, N))], cells=[array([1, 2], "cluster")]), {}),
    "a point without a vertex": (poly(P, ID, verts=ONE_EACH[1:], cells=[array(np.arange(N - 1), "of_cell")]), {}),
    "a point in two vertices": (
        poly(P, ID, verts=[*ONE_EACH, [0]], cells=[array(np.arange(N + 1), "of_cell"), array([1.0] * (N + 1))]), {}),
    "an unstructured grid of vertices": (
        unstructured(1, [[i] for i in range(8)], array(np.arange(8), "id"), of_cells=[array(np.arange(8.0), "of_cell")]), {}),
    "tetrahedra": (unstructured(10, [[0, 1, 2, 3]], array(np.arange(8), "id")), {}),
    "quadratic tetrahedra": (unstructured(24, [[0, 1, 2, 3, 4, 5, 6, 7, 0, 1]], array(np.arange(8), "id")), {}),
    "a structured grid": (grid(array(np.arange(8), "id")), {}),
    # Composites.
    "blocks": (multi(poly(P[:20], array(np.arange(20), "id")), None, poly(P[20:], array(np.arange(20, N), "id"))), {}),
    "blocks within blocks": (
        multi(multi(poly(P[:20], array(np.arange(20), "id"))), poly(P[20:], array(np.arange(20, N), "id")), names="ab"), {}),
    "an image beside points": (multi(poly(P, ID), image(), names=["gas", "field"]), {}),
    "two images beside points": (multi(image(), poly(P, ID), image()), {}),
    "nothing but images": (multi(image(), image()), {}),
    "an image and nothing": (multi(image(), poly(P[:0])), {}),
    "a grid beside points": (multi(poly(P, ID), grid(), names=["stars", "mesh"]), {}),
    "a grid beside nothing": (multi(poly(P[:0]), grid()), {}),
    "grids": (multi(grid(), grid(size=3)), {}),
    "partitions": (collection([poly(P[:20], array(np.arange(20), "id")), None, poly(P[:0])],
                              [poly(P[20:], array(np.arange(20, N), "id"))]), {}),
    "blocks of both precisions": (multi(poly(P), poly(P.astype("f8") + 1e-9)), {}),
    "an array that a block has not": (multi(poly(P, ID), poly(P), names=["one", "other"]), {}),
    "an array that only the second has": (multi(poly(P), poly(P, ID)), {}),
    "arrays of two types": (multi(poly(P, ID), poly(P, array(np.arange(N, dtype="f4"), "id"))), {}),
    "arrays of two shapes": (multi(poly(P, array(np.ones((N, 3)), "v")), poly(P, array(np.ones((N, 2)), "v"))), {}),
    "a block without particles has other arrays": (multi(poly(P[:0], array(np.ones(0), "other")), poly(P, ID)), {}),
    "ghosts of one block": (multi(poly(P, ID, array(MARKS, "vtkGhostType")), poly(P, ID)), {}),
    "remarks of two blocks": (
        multi(poly(P, ID, lines=[[0, 1]]), poly(P, ID, lines=[[0, 1]]), poly(P, array(np.arange(N), "id"))), {}),
    "a table beside points": (multi(poly(P.astype("f8")), table(*(array(P[:, i].astype("f8"), "xyz"[i]) for i in range(3)))), {}),
    # Compression.
    "lossless": (MANY, {"Compression": "lossless", "ChunkParticles": 1024}),
    "within bounds": (MANY, {"Compression": "bounded", "ErrorBounds": ["positions=1%", "wave=0.25"]}),
    "chunks of nothing": (MANY, {"ChunkParticles": 1024}),
    "bounds without a number": (MANY, {"Compression": "bounded", "ErrorBounds": ["wave=x"]}),
    "bounds without compression": (MANY, {"ErrorBounds": ["wave=1"]}),
    # Nothing.
    "nothing": (vtkPolyData(), {}),
    "no points": (poly(P[:0]), {}),
    "no points in double": (poly(P[:0].astype("f8"), array(np.ones((0, 3)), "velocity"), array(np.ones(0, "u1"), "kind")), {}),
    "an empty table": (vtkTable(), {}),
    "a table without rows": (table(*(array(np.ones(0), name) for name in ("x", "y", "z", "mass"))), {}),
    "a table without rows or coordinates": (table(array(np.ones(0), "mass")), {}),
    "no blocks": (multi(), {}),
    "blocks without particles": (multi(poly(P[:0], array(np.ones(0), "mass")), poly(P[:0])), {}),
    "no partitions": (collection([]), {}),
    # Tables.
    "capital columns": (table(ID, *(array(P[:, i], "XYZ"[i]) for i in range(3))), {}),
    "columns of points": (table(ID, *(array(P[:, i], f"Points:{i}") for i in range(3))), {}),
    "one column with components": (table(ID, array(P, "Points")), {}),
    "components by name": (table(array(np.hstack([P, P]), "at"), ID),
                           {"XColumn": "at[4]", "YColumn": "at[0]", "ZColumn": "at[5]"}),
    "all components of a column": (table(array(P, "at"), ID), {"XColumn": "at[2]", "YColumn": "at[0]", "ZColumn": "at[1]"}),
    "a component twice": (table(array(P, "at"), ID), {"XColumn": "at[0]", "YColumn": "at[0]", "ZColumn": "none"}),
    "some columns by name": (table(*(array(P[:, i], name) for i, name in enumerate(("x", "y", "height")))),
                             {"ZColumn": "height"}),
    "mixed usual columns": (table(array(P[:, 0], "x"), array(P[:, 1], "Y"), array(P[:, 2], "z")), {}),
    "integer columns": (table(*(array((100 * P[:, i]).astype("i4"), "xyz"[i]) for i in range(3))), {}),
    "columns of two types": (table(array(P[:, 0], "x"), array(P[:, 1].astype("f8"), "y"), array(MARKS, "z")), {}),
    "a column that no double holds": (table(array(P[:3, 0], "x"), array(np.array([1, 2, 2**53 + 1]), "y"), array(P[:3, 2], "z")), {}),
    "a column of bits": (table(array(P[:, 0], "x"), array(P[:, 1], "y"), array(MARKS & 1, "z", vtkBitArray)), {}),
    "the column does not exist": (table(array(P, "at"), ID), {"XColumn": "where"}),
    "no such component": (table(array(P, "at"), ID), {"XColumn": "at[3]"}),
    "a column with components": (table(array(P, "at"), ID), {"XColumn": "at"}),
    "a column of texts": (table(array(["a"] * N, "x", vtkStringArray), ID), {"XColumn": "x"}),
    "no columns of coordinates": (table(ID, array(P[:, 0], "x")), {}),
    # Other content of a data set.
    "time": (with_facts(poly(P, ID), 2.5), {}),
    "step": (with_facts(poly(P, ID), timestep=np.array([2**60 + 1])), {}),
    "cycle of a block": (multi(with_facts(poly(P, ID), 0.25, cycle=np.array([7], "i4"))), {}),
    "several steps": (with_facts(poly(P, ID), timestep=np.array([1, 2])), {}),
    "a sample": (with_facts(poly(P, ID), quality=[0.25, 0.25], quality_requested=[0.25, 0.25], particle_count=[200, 200]), {}),
    "a part of a sample": (with_facts(poly(P, ID), quality=[0.25, 0.25], quality_requested=[1.0, 1.0],
                                      particle_count=[200, 200]), {}),
    "a sorted index": (poly(P, ID), {"SortedIndexes": ["id"]}),
    "stable samples": (MANY, {"StableSamples": ["id"]}),
    "stable samples of nothing": (poly(P, ID), {"StableSamples": ["mass"]}),
    "an index of nothing": (poly(P, ID), {"SortedIndexes": ["mass"]}),
}


def rows_of(path):
    """Everything in a file, with its particles in an order that does not depend on the file; None if there is none."""
    if not os.path.exists(path):
        return None
    with parabat.open(path) as dataset:
        particles = dataset.read()
        columns = {"": particles.positions, **particles}
        bytes_of = [np.ascontiguousarray(columns[name]).view(np.uint8).reshape(particles.count, -1)
                    for name in sorted(columns)] if particles.count else []
        rows = sorted(map(bytes, np.hstack(bytes_of))) if bytes_of else []
        kinds = {name: (values.dtype.name, values.shape[1:]) for name, values in columns.items()}
        return kinds, dataset.time, dataset.step, json.loads(dataset.metadata or "{}"), rows, dataset.storage()


def reported():
    found = sorted(messages)
    messages.clear()
    return found


for number, (name, (data, options)) in enumerate(CASES.items()):
    # The same name in two folders: messages name the file.
    for folder in ("compiled", "python"):
        os.makedirs(os.path.join(FOLDER, folder), exist_ok=True)
    os.chdir(os.path.join(FOLDER, "compiled"))
    path = f"{number}.bat"
    for folder in ("compiled", "python"):
        if os.path.exists(os.path.join(FOLDER, folder, path)):
            os.remove(os.path.join(FOLDER, folder, path))
    writer = servermanager.writers.BATWriter(Input=producer(data), FileName=path, **options)
    writer.UpdatePipeline()
    compiled = rows_of(path), reported()
    Delete(writer)

    os.chdir(os.path.join(FOLDER, "python"))
    writer = in_python.BATWriter()
    writer.SetInputDataObject(data)
    writer.SetFileName(path)
    for option, value in options.items():
        if option in LISTS:
            for one in value:
                getattr(writer, LISTS[option])(one)
        elif option in NAMED:
            (writer.SetTextOption if isinstance(value, str) else writer.SetIntegerOption)(NAMED[option], value)
        else:
            getattr(writer, "Set" + option)(value)
    writer.Write()
    found = rows_of(path), reported()
    expect(found[1], compiled[1], f"{name}: messages")
    expect(found[0], compiled[0], name)
expect(len(CASES), number + 1, "cases")
finish()
