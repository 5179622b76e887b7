# SPDX-License-Identifier: BSD-3-Clause
"""Enables pyvista.read("x.bat") and mesh.save("x.bat"), and the same for "x.idx". PyVista 0.48 and newer find
it automatically.

    mesh = pyvista.read("x.bat", quality=0.1, box=[0, 0, 0, 1, 1, 1], ranges={"mass": (1, None)})
    mesh.save("y.bat", sorted_indexes=["id"])
    image = pyvista.read("x.idx", budget=1 << 30)
    image.save("y.idx", codec="zip")
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Iterable

import numpy as np

from . import dataset, idx, writing
from .errors import refuse, refuse_type

if TYPE_CHECKING:
    import pyvista


def read(path: str, attributes: Iterable[str] | None = None, *, budget: int | None = None,
         **query) -> pyvista.PolyData:
    """Reads the matching particles of a .bat or .pbat file as vertices with their attributes.

    attributes, quality, box, ranges, values, shapes, ...: as for parabat.Dataset.read(). budget:
    the maximum number of particles; reads the finest quality, up to `quality`, that satisfies it.
    """
    with dataset.open(path) as opened:
        if budget is not None:
            query["quality"] = opened.quality_within(budget, **query)
        return opened.to_pyvista(attributes, **query)


def write(mesh: Any, path: str, **options) -> writing.Report:
    """Writes the points and point data of a mesh as a .bat file. Cells other than vertices, cell
    data, and texts are not written, with a warning.

    options: those of parabat.write(); time is taken from the field data "TimeValue", if present.
    """
    if not hasattr(mesh, "points") or not hasattr(mesh, "point_data"):
        refuse_type("mesh", mesh, "datasets with points; combine() makes one of many blocks")
    left = []
    if mesh.n_cells > getattr(mesh, "n_verts", 0) and not _is_vertices(mesh):
        left.append("cells")
    if len(mesh.cell_data):
        left.append("cell data")
    columns = {}
    for name, values in mesh.point_data.items():
        if np.asarray(values).dtype.kind in "US":
            left.append(f"the texts of '{name}'")
        else:
            columns[name] = np.asarray(values)
    if left:
        warnings.warn(f"{path}: not written: {', '.join(left)}",
                      stacklevel=4)
    if "TimeValue" in mesh.field_data and options.get("time") is None:
        times = np.asarray(mesh.field_data["TimeValue"]).reshape(-1)
        if times.size != 1:
            refuse(f"TimeValue: {times.size} values; allowed: 1")
        options["time"] = float(times[0])
    return writing.write(path, np.asarray(mesh.points), columns, **options)


def _is_vertices(mesh):
    """Returns whether an unstructured grid contains only vertices (VTK's types 1 and 2)."""
    types = getattr(mesh, "celltypes", None)
    return types is not None and set(np.unique(types)) <= {1, 2}


def read_grid(path: str, fields: str | Iterable[str] | None = None, **query) -> pyvista.ImageData:
    """Reads a level of an .idx dataset, with its fields as point data.

    fields, level, box, bounds, step, budget (bytes), ...: as for parabat.idx.Dataset.read().
    """
    with idx.open(path) as opened:
        return opened.read(fields, axes=3, **query).to_pyvista()


def write_grid(mesh: Any, path: str, **options) -> idx.Report:
    """Writes the point data of an ImageData, or if it has none, cell data at the centres of cells, as an .idx
    dataset. Its samples are numbered from 0.

    options: those of parabat.idx.write(); time is taken from the field data "TimeValue", if present. Raises
    BatValueError if the input is not an ImageData along the axes, and for hidden points or cells.
    """
    if not hasattr(mesh, "GetSpacing") or not hasattr(mesh, "dimensions"):
        refuse_type("mesh", mesh, "ImageData; resample_to_image() and sample() make one")
    direction = np.asarray(getattr(mesh, "direction_matrix", np.eye(3)))
    if not np.array_equal(direction, np.eye(3)):
        refuse(f"{path}: the image is rotated; its axes must be x, y and z")
    is_points = len(mesh.point_data) > 0
    data = mesh.point_data if is_points else mesh.cell_data
    count = np.array(mesh.dimensions if is_points else np.maximum(1, np.array(mesh.dimensions) - 1))
    if is_points and len(mesh.cell_data):
        warnings.warn(f"{path}: not written: cell data", stacklevel=4)
    if "vtkGhostType" in data and np.any(data["vtkGhostType"]):
        refuse(f"{path}: some samples are hidden or ghosts, which grids cannot represent")
    origin, spacing = np.array(mesh.origin, float), np.array(mesh.spacing, float)
    extent = np.array(mesh.extent[::2])
    origin = origin + spacing * (extent + (0 if is_points else np.where(np.array(mesh.dimensions) > 1, 0.5, 0)))
    columns = {}
    for name, values in data.items():
        values = np.asarray(values)
        if name != "vtkGhostType":
            columns[name] = values.reshape(*count[::-1], *values.shape[1:])
    if "TimeValue" in mesh.field_data and options.get("time") is None:
        times = np.asarray(mesh.field_data["TimeValue"]).reshape(-1)
        if times.size != 1:
            refuse(f"TimeValue: {times.size} values; allowed: 1")
        options["time"] = float(times[0])
    return idx.write(path, columns, origin=origin, spacing=spacing, axes=3, **options)
