"""Particles with known values. Knows no paraview.simple, so that sources inside ParaView's servers can use it."""
import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk
from vtkmodules.vtkCommonCore import vtkPoints
from vtkmodules.vtkCommonDataModel import vtkMultiBlockDataSet, vtkPartitionedDataSet, vtkPolyData

BIG_ID = 9007199254740993  # 2**53 + 1 is no double
TIMES = (0.0, 0.5, 2.0, 2.25)


def points(n, seed=1):
    return np.random.default_rng(seed).random((n, 3)).astype("f4")


def far_points(n, seed=1):
    """Of a flat piece of space, far from the origin, in float64: in float32 they would be other numbers."""
    return 1e6 * np.array([1.0, -2.0, 3.0]) + np.random.default_rng(seed).random((n, 3)) * np.array([2.0, 1.0, 0.25])


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


def cloud(n, seed=1, first=0, keep=slice(None)):
    """Those of n particles that the slice keeps."""
    data = vtkPolyData()
    p = vtkPoints()
    p.SetData(numpy_to_vtk(np.ascontiguousarray(points(n, seed)[keep]), deep=True))
    data.SetPoints(p)
    add_arrays(data.GetPointData(), {name: value[keep] for name, value in arrays(n, seed, first).items()})
    return data


def moving_count(step, ranks):
    """Particles of a step of offer_times() and fill(): one rank has none, and with one rank that is all."""
    return 1000 + step if ranks > 1 or step % 2 else 0


def offer_times(source):
    """For RequestInformation of a source."""
    executive = source.GetExecutive()
    information = executive.GetOutputInformation(0)
    information.Set(source.CAN_HANDLE_PIECE_REQUEST(), 1)
    information.Set(executive.TIME_STEPS(), TIMES, len(TIMES))
    information.Set(executive.TIME_RANGE(), (TIMES[0], TIMES[-1]), 2)


def fill(source, output):
    """For RequestData of a source: this rank's part of cloud(moving_count(step, ranks), step), in as many
    blocks as the output's type has room for, some of them empty or null."""
    executive = source.GetExecutive()
    information = executive.GetOutputInformation(0)
    step = TIMES.index(information.Get(executive.UPDATE_TIME_STEP()))
    rank = information.Get(executive.UPDATE_PIECE_NUMBER())
    ranks = information.Get(executive.UPDATE_NUMBER_OF_PIECES())
    others = [r for r in range(ranks) if r != step % (ranks + 1)]

    def part(first, stride=1):
        if rank not in others:
            return None
        keep = slice(others.index(rank) + first * len(others), None, stride * len(others))
        return cloud(moving_count(step, ranks), step, keep=keep)

    if output.IsA("vtkPolyData"):
        output.ShallowCopy(part(0) or vtkPolyData())
    elif output.IsA("vtkPartitionedDataSet"):
        for i, block in enumerate((None, part(0, 2), vtkPolyData(), part(1, 2))):
            output.SetPartition(i, block)
    elif output.IsA("vtkPartitionedDataSetCollection"):
        output.SetPartitionedDataSet(0, vtkPartitionedDataSet())
        output.SetPartition(1, 0, part(0, 2))
        output.SetPartition(2, 0, part(1, 2))
    else:
        inner = vtkMultiBlockDataSet()
        inner.SetNumberOfBlocks(2)
        inner.SetBlock(1, part(0, 2))
        output.SetNumberOfBlocks(3)
        output.SetBlock(0, inner)
        output.SetBlock(2, part(1, 2))
