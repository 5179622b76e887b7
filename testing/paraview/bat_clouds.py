# SPDX-License-Identifier: BSD-3-Clause
"""Particles with known values. Does not import paraview.simple, so that sources inside ParaView's servers can use
it."""
import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk
from vtkmodules.vtkCommonCore import vtkPoints
from vtkmodules.vtkCommonDataModel import vtkMultiBlockDataSet, vtkPartitionedDataSet, vtkPolyData

BIG_ID = 9007199254740993  # 2**53 + 1 is not a double
TIMES = (0.0, 0.5, 2.0, 2.25)


def points(n, seed=1):
    return np.random.default_rng(seed).random((n, 3)).astype("f4")


def far_points(n, seed=1):
    """Positions in a flat region far from the origin, in float64; float32 would change them."""
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
    """The particles of n that the slice keeps."""
    data = vtkPolyData()
    p = vtkPoints()
    p.SetData(numpy_to_vtk(np.ascontiguousarray(points(n, seed)[keep]), deep=True))
    data.SetPoints(p)
    add_arrays(data.GetPointData(), {name: value[keep] for name, value in arrays(n, seed, first).items()})
    return data


def moving_count(step, ranks):
    """Particles in a step of offer_times() and fill(): one rank has none, and with one rank that is all."""
    return 1000 + step if ranks > 1 or step % 2 else 0


def offer_times(source):
    """The RequestInformation of a source."""
    executive = source.GetExecutive()
    information = executive.GetOutputInformation(0)
    information.Set(source.CAN_HANDLE_PIECE_REQUEST(), 1)
    information.Set(executive.TIME_STEPS(), TIMES, len(TIMES))
    information.Set(executive.TIME_RANGE(), (TIMES[0], TIMES[-1]), 2)


def fill(source, output):
    """The RequestData of a source: this rank's part of cloud(moving_count(step, ranks), step), in as many
    blocks as the output's type supports, some of them empty or null."""
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


def galaxies(n):
    """A disc in its halo, and clusters with filaments between them in sparse space: positions by
    name."""
    random = np.random.default_rng(5)
    radius, phase = random.exponential(1.0, n), 2 * np.pi * random.random(n)
    disc = np.stack([radius * np.cos(phase), radius * np.sin(phase), 0.05 * random.normal(size=n)], axis=1)
    disc[::8] = 8 * random.normal(size=disc[::8].shape)
    middles, of = random.random((30, 3)), random.integers(0, 30, n)
    distance = 0.03 * random.random(n) ** 1.5
    direction = random.normal(size=(n, 3))
    clusters = middles[of] + (distance / np.linalg.norm(direction, axis=1))[:, None] * direction
    share, to = random.random((n, 1)), (of + random.integers(1, 3, n)) % 30
    filaments = middles[of] * share + middles[to] * (1 - share) + 0.004 * random.normal(size=(n, 3))
    clusters[::4] = filaments[::4]
    clusters[1::4] = random.random((len(clusters[1::4]), 3))
    return {"galaxy": disc, "clusters": clusters}


def shapes(n):
    """Particles that fill a shape evenly: positions by name."""
    random = np.random.default_rng(6)
    side = round(n ** (1 / 3))
    grains = np.stack(np.meshgrid(*3 * [np.arange(side)], indexing="ij"), -1).reshape(-1, 3)
    grains = grains + 0.2 * random.normal(size=grains.shape)
    # A twentieth flies away from an impact in the middle of the top.
    flung = grains[::20] - side / 2
    grains[::20] = [side / 2, side / 2, side] + 3 * flung * random.random((len(flung), 1)) + [0, 0, 2 * side]
    sheet = random.random((n, 3))
    sheet[:, 2] = 0.02 * np.sin(10 * sheet[:, 0])
    return {"grains": grains, "cube": random.random((n, 3)), "sheet": sheet}


def cloud_at(places):
    data = vtkPolyData()
    p = vtkPoints()
    p.SetData(numpy_to_vtk(np.ascontiguousarray(places, "f4"), deep=True))
    data.SetPoints(p)
    add_arrays(data.GetPointData(), {"id": np.arange(len(places))})
    return data
