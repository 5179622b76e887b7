# SPDX-License-Identifier: BSD-3-Clause
"""Shared code of the ParaView grid tests: arrays with known values, written by a core program, and checks of what every
rank has."""
import os
import shutil
import subprocess

import numpy as np
from bat_server import outside_mpi
from bat_test import *
from idx_fields import SHAPE, TYPES, truth

def write_grid(program, path, fields, step=0, codec="raw", layout="row", bits=9, geometry=None):
    """Adds a step to an .idx; `geometry` is the six numbers of (physic_box)."""
    shape = next(iter(fields.values())).shape[:3]
    words = []
    for name, array in fields.items():
        raw = "%s.%s.raw" % (path, name)
        np.ascontiguousarray(array).tofile(raw)
        components = array.shape[3] if array.ndim == 4 else 1
        words.append("%s:%s:%d:%s" % (name, TYPES[array.dtype.str[1:]], components, raw))
    subprocess.run([program, path, *map(str, reversed(shape)), codec, layout, str(bits), str(step), *words],
                   check=True, env=outside_mpi())
    for word in words:
        os.remove(word.split(":", 3)[3])
    if geometry:
        with open(path) as file:
            text = file.read()
        with open(path, "w") as file:
            file.write(text + "(physic_box)\n" + " ".join("%r" % float(n) for n in geometry) + "\n")


def bits_of(path):
    with open(path) as file:
        words = file.read().split()
    return words[words.index("(bits)") + 1]


def strides(path, level):
    """Distance between samples along x, y, z at a level, from the text alone."""
    bits = bits_of(path)[1:]
    return [2 ** bits[level:].count(axis) for axis in "012"]


def at_level(arrays, path, level, lower=(0, 0, 0), upper=None):
    """Samples of the closed logical box that a level has, and the index of the first along x, y, z."""
    shape = next(iter(arrays.values())).shape[2::-1]
    upper = [n - 1 for n in shape] if upper is None else upper
    distance = strides(path, level)
    first = [-(-low // d) for low, d in zip(lower, distance)]
    cut = tuple(slice(f * d, u + 1, d) for f, d, u in zip(first, distance, upper))[::-1]
    return {name: array[cut] for name, array in arrays.items()}, first


# Inside a function, because such scripts share their names with the one that creates them.
PIECES = """
def all_samples(self):
    import numpy as np
    from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
    from vtkmodules.vtkCommonCore import vtkPoints
    from vtkmodules.vtkParallelCore import vtkMultiProcessController
    data = self.GetInputDataObject(0, 0)
    extent = data.GetExtent()
    count = data.GetNumberOfPoints()
    axes = [np.arange(extent[2 * a], extent[2 * a + 1] + 1) for a in range(3)]
    z, y, x = np.meshgrid(*axes[::-1], indexing="ij")
    index = np.stack([x.ravel(), y.ravel(), z.ravel()], 1)
    places = np.array(data.GetOrigin()) + index * np.array(data.GetSpacing())
    points = vtkPoints()
    points.SetDataTypeToDouble()
    points.SetData(numpy_to_vtk(places, deep=1))
    out = self.GetOutput()
    out.SetPoints(points)
    for i in range(data.GetPointData().GetNumberOfArrays()):
        out.GetPointData().AddArray(data.GetPointData().GetArray(i))
    rank = vtkMultiProcessController.GetGlobalController().GetLocalProcessId()
    for name, values in (("index", index.astype("i4")), ("rank", np.full(count, rank, "i4"))):
        array = numpy_to_vtk(np.ascontiguousarray(values), deep=1)
        array.SetName(name)
        out.GetPointData().AddArray(array)


all_samples(self)
"""


def pieces(reader, time=None):
    """All samples of all ranks, those on shared planes several times: {name: rows}, with index, rank and
    position."""
    each = ProgrammableFilter(Input=reader, OutputDataSetType="vtkPolyData", CopyArrays=0)
    each.Script = PIECES
    data = fetch(each, time)
    Delete(each)
    rows = {}
    if data.GetNumberOfPoints():
        rows["position"] = vtk_to_numpy(data.GetPoints().GetData()).copy()
    for i in range(data.GetPointData().GetNumberOfArrays()):
        array = data.GetPointData().GetArray(i)
        rows[array.GetName()] = vtk_to_numpy(array).copy()
    return rows


def check_image(reader, expected, first, origin, spacing, what, time=None, ranks=1):
    """Checks that each sample of `expected` ({name: [z, y, x(, c)]}), whose first has the index `first`, is on some
    rank, that every rank has the right values, and that nothing else exists."""
    found = pieces(reader, time)
    shape = next(iter(expected.values())).shape[2::-1]
    index = found.pop("index") - np.array(first)
    position = found.pop("position")
    rank = found.pop("rank")
    assert (index >= 0).all() and (index < np.array(shape)).all(), (what, index.min(0), index.max(0), shape)
    number = index[:, 0] + shape[0] * (index[:, 1] + shape[1] * index[:, 2])
    expect(np.unique(number), np.arange(np.prod(shape)), what + ": samples")
    expect(set(found), set(expected), what + ": fields")
    for name, values in found.items():
        flat = expected[name].reshape(len(np.unique(number)), -1)
        expect(values.dtype, flat.dtype, what + ": type of " + name)
        expect(values.reshape(len(values), -1), flat[number], what + ": " + name)
    places = np.array(origin) + (index + np.array(first)) * np.array(spacing)
    assert np.allclose(position, places, rtol=1e-14, atol=1e-12), (what, position, places)
    if ranks > 1 and np.prod(shape) >= 1000:
        counts = np.bincount(rank, minlength=ranks)
        assert counts.min() > 0.5 * len(rank) / ranks, (what, counts)
