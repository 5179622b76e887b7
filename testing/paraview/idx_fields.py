# SPDX-License-Identifier: BSD-3-Clause
"""A grid with known values, and parts of it as images. Of ParaView's modules it only imports VTK's, since filter
scripts run it on every rank."""
import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk
from vtkmodules.vtkCommonDataModel import vtkImageData

SHAPE = (70, 45, 33)  # along x, y, z: not powers of two
TYPES = {"f4": "float32", "f8": "float64", "i8": "int64", "u1": "uint8", "i2": "int16"}


def truth(step=0, shape=SHAPE):
    """The fields as arrays [z, y, x(, component)], in their exact types."""
    z, y, x = np.meshgrid(*(np.arange(n) for n in reversed(shape)), indexing="ij")
    middle = [(n - 1) / 2 for n in shape]
    radius = np.sqrt((x - middle[0]) ** 2 + (y - middle[1]) ** 2 + (z - middle[2]) ** 2)
    return {
        "radius": radius.astype("f4"),
        "place": np.stack([x, y, z + 1000 * step], -1).astype("f8"),
        "id": (x + shape[0] * (y + shape[1] * z)).astype("i8") + 2 ** 53 + 1 + step,
        "kind": ((x + y + z) % 251).astype("u1"),
    }


def part(box, fields=None, origin=(0.0, 0.0, 0.0), spacing=(1.0, 1.0, 1.0), own=None, shifted=False):
    """The samples of a closed box (x0, x1, y0, ...) as an image. Samples outside of the box `own` are marked as
    duplicates, and have wrong values. `shifted`: the extent begins at 0, and the origin is where the box begins."""
    fields = fields or truth()
    x0, x1, y0, y1, z0, z1 = box
    image = vtkImageData()
    if shifted:
        image.SetExtent(0, x1 - x0, 0, y1 - y0, 0, z1 - z0)
        image.SetOrigin(*[o + s * low for o, s, low in zip(origin, spacing, (x0, y0, z0))])
    else:
        image.SetExtent(*box)
        image.SetOrigin(*origin)
    image.SetSpacing(*spacing)
    marks = np.zeros((z1 - z0 + 1, y1 - y0 + 1, x1 - x0 + 1), "u1")
    if own:
        marks[:] = 1
        marks[own[4] - z0:own[5] - z0 + 1, own[2] - y0:own[3] - y0 + 1, own[0] - x0:own[1] - x0 + 1] = 0
        array = numpy_to_vtk(marks.ravel(), deep=1)
        array.SetName("vtkGhostType")
        image.GetPointData().AddArray(array)
    for name, values in fields.items():
        cut = values[z0:z1 + 1, y0:y1 + 1, x0:x1 + 1].copy()
        cut[marks == 1] = 77
        array = numpy_to_vtk(np.ascontiguousarray(cut).reshape(marks.size, -1), deep=1)
        array.SetName(name)
        image.GetPointData().AddArray(array)
    return image


def slabs(axis, count, shape=SHAPE):
    """Boxes that cut the grid across an axis, without common samples."""
    ends = np.linspace(0, shape[axis], count + 1).astype(int)
    boxes = []
    for first, end in zip(ends, ends[1:]):
        box = [0, shape[0] - 1, 0, shape[1] - 1, 0, shape[2] - 1]
        box[2 * axis:2 * axis + 2] = [int(first), int(end) - 1]
        boxes.append(box)
    return boxes


def bricks(shape=SHAPE):
    """Eight boxes."""
    return [[a[0], a[1], b[2], b[3], c[4], c[5]] for a in slabs(0, 2, shape) for b in slabs(1, 2, shape)
            for c in slabs(2, 2, shape)]


def grown(box, by=2, shape=SHAPE):
    """With the neighbours' samples."""
    return [max(0, n - by) if i % 2 == 0 else min(shape[i // 2] - 1, n + by) for i, n in enumerate(box)]
