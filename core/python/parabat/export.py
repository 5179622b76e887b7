# SPDX-License-Identifier: BSD-3-Clause
"""Converts particles for other packages, which are imported on demand."""

import importlib

import numpy as np

from ._extras import install
from .errors import INVALID_ARGUMENT, BatImportError, refuse


def needed(module, what):
    """Imports and returns a module that `what` needs."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise BatImportError(INVALID_ARGUMENT, f"{what} requires {module}, which cannot be imported ({error}): {install(module)}") from error


def columns(particles):
    """Returns a dict of name to (n,): coordinates, then attributes, vectors component by component."""
    axes = ("x", "y", "z")
    if any(axis in particles for axis in axes):
        axes = tuple(f"position[{i}]" for i in range(3))
    found = {name: particles.positions[:, i] for i, name in enumerate(axes)}
    for name, values in particles.items():
        parts = [(name, values)] if values.ndim == 1 else [
            (f"{name}[{i}]", values[:, i]) for i in range(values.shape[1])]
        for column, one in parts:
            if column in found:
                refuse(f"two columns would be called '{column}'; exclude one attribute")
            found[column] = one
    return found


def to_pandas(particles):
    """See Particles.to_pandas()."""
    pandas = needed("pandas", "to_pandas()")
    return pandas.DataFrame(columns(particles))


def to_arrow(particles):
    """See Particles.to_arrow()."""
    pyarrow = needed("pyarrow", "to_arrow()")
    return pyarrow.table({name: pyarrow.array(np.ascontiguousarray(values))
                          for name, values in columns(particles).items()})


def to_pyvista(particles):
    """See Particles.to_pyvista()."""
    pyvista = needed("pyvista", "to_pyvista()")
    mesh = pyvista.PolyData(particles.positions) if particles.count else pyvista.PolyData()
    for name, values in particles.items():
        if particles.count:
            mesh.point_data[name] = values
        else:  # PyVista does not accept vectors of them
            array = pyvista.convert_array(values.reshape(-1), name=name)
            array.SetNumberOfComponents(values.shape[1] if values.ndim > 1 else 1)
            mesh.GetPointData().AddArray(array)
    if particles.time is not None:
        mesh.field_data["TimeValue"] = np.array([particles.time])
    if particles.step is not None:
        mesh.field_data["timestep"] = np.array([particles.step], np.int64)
    return mesh
