# SPDX-License-Identifier: BSD-3-Clause
"""Extras of this package (pyproject.toml) that install what it imports on demand, for messages about a missing module."""

EXTRAS = {  # top-level module -> extra
    "MDAnalysis": "md", "ase": "md", "blosc": "blosc", "brotli": "brotli", "cftime": "netcdf", "fsspec": "remote", "gsd": "md", "h5py": "hdf5",
    "laspy": "lidar", "lazrs": "lidar", "netCDF4": "netcdf", "openpmd_api": "openpmd", "pandas": "pandas", "pyarrow": "arrow",
    "pye57": "e57", "pypcd4": "points", "pyvista": "pyvista", "vtkmodules": "vtk", "xarray": "netcdf", "xxhash": "checksums",
    "yt": "amrex", "zarr": "zarr", "zstandard": "zstd"}


def install(module):
    """Returns the command that installs a module."""
    return f"pip install 'parabat[{EXTRAS[module.partition('.')[0]]}]'"
