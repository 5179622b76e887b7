"""What the ParaView tests share: particles with known values, and a look at what a source delivers."""
import os
import shutil
import sys
import tempfile

import numpy as np
from paraview import servermanager
from paraview.simple import *
from vtkmodules.numpy_interface import dataset_adapter as dsa
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkPoints
from vtkmodules.vtkCommonDataModel import vtkPolyData

BIG_ID = 9007199254740993  # 2**53 + 1 is no double


def points(n, seed=1):
    return np.random.default_rng(seed).random((n, 3)).astype("f4")


def arrays(n, seed=1, first=0):
    random = np.random.default_rng(seed + 100)
    return {
        "id": (BIG_ID + first + np.arange(n)).astype("i8"),
        "mass": random.random(n).astype("f4"),
        "velocity": random.normal(size=(n, 3)),
    }


def add_arrays(attributes, values):
    for name, value in values.items():
        array = numpy_to_vtk(np.ascontiguousarray(value), deep=True)
        array.SetName(name)
        attributes.AddArray(array)


def cloud(n, seed=1, first=0):
    data = vtkPolyData()
    p = vtkPoints()
    p.SetData(numpy_to_vtk(points(n, seed), deep=True))
    data.SetPoints(p)
    add_arrays(data.GetPointData(), arrays(n, seed, first))
    return data


def producer(data):
    """A pipeline source of the data set."""
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


def ids(source, time=None):
    array = fetch(source, time).GetPointData().GetArray("id")
    return np.sort(vtk_to_numpy(array)) if array else np.zeros(0, "i8")


def expect(actual, wanted, what):
    same = (
        np.array_equal(np.asarray(actual), np.asarray(wanted))
        if isinstance(actual, np.ndarray) or isinstance(wanted, np.ndarray)
        else actual == wanted
    )
    if not same:
        raise AssertionError("%s: %r instead of %r" % (what, actual, wanted))


def owners(source, ranks):
    """Particles on each rank."""
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
    """The reader has the particles of cloud(n), as many on each rank as on any other."""
    expect(ids(reader), arrays(n)["id"], what + ": the parts add up")
    counts = owners(reader, ranks)
    expect(len(counts), ranks, what + ": ranks")
    assert counts.min() >= n // ranks - 1 and counts.max() <= n // ranks + 1, (what, counts)
    reader.Quality = 0.1
    leaf_files = 16
    assert abs(len(ids(reader)) - n // 10) <= leaf_files, what
    assert owners(reader, ranks).min() > 0.3 * n / 10 / ranks, what
    reader.Quality = 1


def outside_mpi():
    """The environment without what MPI has put into it: mpiexec must not believe that it runs inside."""
    ours = ("OMPI_ALLOW", "OMPI_MCA_rmaps", "OMPI_MCA_btl", "PRTE_MCA_rmaps")
    return {name: value for name, value in os.environ.items()
            if not name.startswith(("PMIX", "PRTE", "ORTE", "OMPI")) or name.startswith(ours)}


class Folder:
    """A folder of its own, removed at the end."""

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix="bat_pv_")
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)

    def __call__(self, name):
        return os.path.join(self.path, name)


def finish():
    # The last line tells the test that nothing ended the script early.
    print("all checks passed")
    sys.stdout.flush()
