# SPDX-License-Identifier: BSD-3-Clause
"""Shared code of the ParaView tests: particles with known values, and checks of a source's output."""
import contextlib
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile

import numpy as np
from bat_clouds import *
from bat_server import outside_mpi
from paraview import servermanager
from paraview.simple import *
from vtkmodules.numpy_interface import dataset_adapter as dsa
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy


@contextlib.contextmanager
def little_memory(mebibytes):
    """Within it, this process can take this much more memory than it has."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    with open("/proc/self/statm") as file:
        now = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + int(mebibytes * 2 ** 20), before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def producer(data):
    """A pipeline source for the data set."""
    source = TrivialProducer()
    source.GetClientSideObject().SetOutput(data)
    source.MarkModified(source)
    return source


def fetch(source, time=None):
    if time is None:
        UpdatePipeline(proxy=source)
    else:
        UpdatePipeline(time, source)
    return servermanager.Fetch(source)


def offered_by_field_data(source):
    """Names of field data that ParaView offers for colouring, without those that record the
    read."""
    field = source.GetClientSideObject().GetOutputDataObject(0).GetFieldData()
    arrays = [field.GetAbstractArray(i) for i in range(field.GetNumberOfArrays())]
    return [array.GetName() for array in arrays if not array.GetInformation().Has(array.GUI_HIDE())]


def ids(source, time=None):
    array = fetch(source, time).GetPointData().GetArray("id")
    return np.sort(vtk_to_numpy(array)) if array else np.zeros(0, "i8")


def expect(actual, expected, what):
    same = (
        np.array_equal(np.asarray(actual), np.asarray(expected))
        if isinstance(actual, np.ndarray) or isinstance(expected, np.ndarray)
        else actual == expected
    )
    if not same:
        raise AssertionError("%s: %r instead of %r" % (what, actual, expected))


def check_particles(data, positions, values, what):
    """Checks for these particles with these arrays, in any order, and nothing else."""
    expect(data.GetNumberOfPoints(), len(positions), what + ": particles")
    if len(positions) == 0:
        return
    found = {data.GetPointData().GetArrayName(i): vtk_to_numpy(data.GetPointData().GetArray(i))
             for i in range(data.GetPointData().GetNumberOfArrays())}
    expect(set(found), set(values), what + ": arrays")
    order, expected = np.argsort(found["id"]), np.argsort(values["id"])
    expect(vtk_to_numpy(data.GetPoints().GetData())[order], positions[expected], what + ": positions")
    for name in values:
        expect(found[name].dtype, values[name].dtype, what + ": type of " + name)
        expect(found[name][order], values[name][expected], what + ": " + name)


def owners(source, ranks):
    """The number of particles on each rank."""
    per_rank = ProgrammableFilter(Input=source, CopyArrays=1)
    per_rank.Script = """
import numpy as np
from vtkmodules.vtkParallelCore import vtkMultiProcessController
rank = vtkMultiProcessController.GetGlobalController().GetLocalProcessId()
output.PointData.append(np.full(inputs[0].GetNumberOfPoints(), rank), "rank")
"""
    data = fetch(per_rank)
    Delete(per_rank)
    return np.bincount(vtk_to_numpy(data.GetPointData().GetArray("rank")), minlength=ranks)


def check_spread(reader, n, ranks, what):
    """Checks that the reader has the particles of cloud(n), evenly distributed over the ranks."""
    expect(ids(reader), arrays(n)["id"], what + ": the parts add up")
    counts = owners(reader, ranks)
    expect(len(counts), ranks, what + ": ranks")
    assert counts.min() >= n // ranks - 1 and counts.max() <= n // ranks + 1, (what, counts)
    reader.Quality = 0.1
    leaf_files = 16
    assert abs(len(ids(reader)) - n // 10) <= leaf_files, what
    assert owners(reader, ranks).min() > 0.3 * n / 10 / ranks, what
    reader.Quality = 1


def turn(rotation):
    """The matrix of a rotation by degrees about y, then x, then z."""
    sx, sy, sz = np.sin(np.radians(rotation))
    cx, cy, cz = np.cos(np.radians(rotation))
    return (np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]])
        @ np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]])
        @ np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]]))


def check_conditions(reader, n, what):
    """Alternatives, negation, id ranges and regions on cloud(n), compared with a scan of all
    particles."""
    P, A = points(n).astype("f8"), arrays(n)
    ID, mass = A["id"], A["mass"]
    speed = np.sqrt((A["velocity"] ** 2).sum(1))

    def check(expected, text):
        assert 0 < expected.sum() < n, text
        expect(ids(reader), np.sort(ID[expected]), what + ": " + text)

    low, high = "%r" % float(np.quantile(speed, 0.2)), "%r" % float(np.quantile(speed, 0.9))
    ends = (speed <= float(low)) | (speed >= float(high))
    reader.AttributeRanges = ["velocity", "", low, "mass", "0.25", "", "velocity", high, ""]
    check(ends & (mass >= 0.25), "alternatives")
    reader.AttributeRanges = ["!velocity", "", low, "!velocity", high, "", "mass", "0.25", ""]
    check(~ends & (mass >= 0.25), "none of two")
    reader.AttributeRanges = ["!id", str(BIG_ID), str(BIG_ID), "mass", "0.25", "", "!mass", "0.5", "0.75"]
    check((ID != BIG_ID) & (mass >= 0.25) & ~((mass >= 0.5) & (mass <= 0.75)), "a part, and a hole in it")
    reader.AttributeRanges = []

    reader.Ids = f"{BIG_ID + 1}, {BIG_ID + 3}-{BIG_ID + 7} {BIG_ID + n - 5}.."
    some = (ID == BIG_ID + 1) | ((ID >= BIG_ID + 3) & (ID <= BIG_ID + 7)) | (ID >= BIG_ID + n - 5)
    check(some, "ids")
    reader.IdsMode = "All But These"
    check(~some, "all but ids")
    reader.AttributeRanges = ["!id", str(BIG_ID + 10), str(BIG_ID + 20), "!id", "", str(BIG_ID + 1)]
    outside = ((ID < BIG_ID + 10) | (ID > BIG_ID + 20)) & (ID > BIG_ID + 1)
    check(~some & outside, "all but ids and two ranges")
    reader.IdsMode = "Only These"
    check(some & outside, "ids outside of two ranges")
    reader.AttributeRanges = ["id", str(BIG_ID + 2), str(BIG_ID + 5), "id", str(BIG_ID + 7), str(BIG_ID + n - 4)]
    inside = ((ID >= BIG_ID + 2) & (ID <= BIG_ID + 5)) | ((ID >= BIG_ID + 7) & (ID <= BIG_ID + n - 4))
    check(some & inside, "ids in one of two ranges")
    reader.AttributeRanges = ["id", str(BIG_ID + 3), str(BIG_ID + n - 4)]
    check(some & (ID >= BIG_ID + 3) & (ID <= BIG_ID + n - 4), "ids in a range")
    reader.AttributeRanges = ["id", str(BIG_ID + 4), "", "id", "", str(BIG_ID + 2)]
    reader.Ids = str(BIG_ID + 3)
    expect(len(ids(reader)), 0, what + ": ids in none of two ranges")
    reader.AttributeRanges = []
    reader.Ids = ""

    reader.Region = "Sphere"
    reader.RegionCenter = [0.25, 0.5, 0.75]
    reader.RegionRadius = 0.375
    sphere = ((P - [0.25, 0.5, 0.75]) ** 2).sum(1) <= 0.375 ** 2
    check(sphere, "sphere")
    reader.RegionOutside = 1
    reader.AttributeRanges = ["mass", "0.25", ""]
    check(~sphere & (mass >= 0.25), "outside of a sphere, and a filter")
    reader.AttributeRanges = []
    reader.RegionOutside = 0
    reader.Region = "Slab"
    reader.RegionNormal = [1, -2, 0.5]
    reader.RegionLimits = [-0.5, 0.25]
    along = P @ [1, -2, 0.5]
    check((along >= -0.5) & (along <= 0.25), "slab")
    reader.Region = "Oriented Box"
    reader.RegionHalfExtents = [0.5, 0.25, 0.375]
    reader.RegionRotation = [20, 30, -50]
    box = (np.abs((P - [0.25, 0.5, 0.75]) @ turn([20, 30, -50])) <= [0.5, 0.25, 0.375]).all(1)
    check(box, "oriented box")
    reader.UseBox = 1
    reader.Box = [0, 0.25, 0, 1, 0, 1]
    check(box & (P[:, 0] <= 0.25), "oriented box in a box")
    reader.UseBox = 0
    reader.Region = "None"
    expect(len(ids(reader)), n, what + ": no condition")


def step_of(bat_info, path):
    """The number of the time step according to a file."""
    reported = subprocess.run([bat_info, "--json", path], capture_output=True, text=True, check=True, env=outside_mpi())
    return json.loads(reported.stdout)["step"]


class Folder:
    """A temporary folder, removed at the end."""

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix="bat_pv_")
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)

    def __call__(self, name):
        return os.path.join(self.path, name)


def finish():
    # The last line shows that nothing ended the script early.
    print("all checks passed")
    sys.stdout.flush()
