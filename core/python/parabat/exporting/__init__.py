# SPDX-License-Identifier: BSD-3-Clause
"""Writers of `parabat export`, one module per family of formats.

A writer is a function (Source, path). It writes every value exactly, and reports what its format cannot store by
Source.leave_out() or Source.note(). It uses the format's own names for attributes, such as ParticleIDs for id.
"""

from . import gadget, lammps, las, openpmd, plain, vtk, xyz
from .source import Source

# name: (endings, writer). The first endings of a format are the usual ones.
FORMATS = {
    "npz": ((".npz",), plain.write_npz_file),
    "csv": ((".csv",), plain.write_csv_file),
    "parquet": ((".parquet",), plain.write_parquet),
    "vtp": ((".vtp",), vtk.write_vtp_file),
    "vtkhdf": ((".vtkhdf",), vtk.write_vtkhdf),
    "xyz": ((".xyz", ".extxyz"), xyz.write_xyz),
    "lammps-dump": ((".dump", ".lammpstrj"), lammps.write_dump),
    "lammps-data": ((".data", ".lmp"), lammps.write_data),
    "gadget": ((".hdf5",), gadget.write_gadget),
    "openpmd": ((".h5",), openpmd.write_openpmd),
    "las": ((".las",), las.write_las),
    "laz": ((".laz", ".copc.laz"), las.write_laz)}
ENDINGS = {ending: name for name, (endings, _) in FORMATS.items() for ending in endings}

__all__ = ["ENDINGS", "FORMATS", "Source"]
