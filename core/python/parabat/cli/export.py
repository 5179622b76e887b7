# SPDX-License-Identifier: BSD-3-Clause
"""parabat export FILE OUT: writes particles, or samples of a grid, in the format that the extension of OUT
determines."""

import csv
import os
import re
import zipfile

import numpy as np

from .. import idx
from .._text import check_xml_names
from ..convert.text_tables import column_name
from ..errors import refuse
from ..export import columns, needed
from . import _grids
from ._common import (
    add_json, add_query_arguments, parse_attributes, count, open_one, print_json, progress, query_of, show)
from ._temporary import replacing

ROWS = 100000  # rows of text written at a time


def _npz(particles, path):
    if "positions" in particles:
        refuse("two arrays would be called 'positions'; exclude one with --attributes")
    write_npz({"positions": particles.positions, **particles}, path)


def write_npz(arrays, path):
    """Writes arrays by name."""
    # np.savez takes names as keyword arguments, some of which it uses itself.
    with zipfile.ZipFile(path, "w") as archive:
        for name, values in arrays.items():
            with archive.open(name + ".npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, np.asanyarray(values), allow_pickle=False)


def _csv(particles, path):
    write_csv(columns(particles), particles.count, path)


def write_csv(found, count, path):
    """Writes columns of `count` values by name, masked values as empty fields. Names that a spreadsheet program
    would take for a formula get a leading apostrophe, which `parabat convert` removes."""
    def texts(values):
        # Returns the shortest decimals that restore the number, for float32 those of float32.
        words = values.astype(str) if values.dtype == np.float32 else values
        return ["" if word is None else word for word in words.tolist()]

    def header(name):
        name = column_name(name)
        quotes = not re.fullmatch(r"[\w .:\[\]()/%^-]*", name)
        return '"' + name.replace('"', '""') + '"' if quotes else name

    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        file.write(",".join(map(header, found)) + "\n")
        for first in range(0, count, ROWS):
            writer.writerows(zip(*(texts(values[first:first + ROWS]) for values in found.values())))


def _parquet(particles, path):
    needed("pyarrow.parquet", "export to .parquet", "pyarrow").write_table(particles.to_arrow(), path)


def _vtp(particles, path):
    needed("pyvista", "export to .vtp")
    check_xml_names(particles)
    write_vtp(particles.to_pyvista(), path)


def write_vtp(mesh, path):
    """Writes PyVista PolyData."""
    # pylint: disable=import-outside-toplevel
    from vtkmodules.vtkCommonCore import vtkObject
    from vtkmodules.vtkCommonMisc import vtkErrorCode
    from vtkmodules.vtkIOXML import vtkXMLPolyDataWriter
    # PyVista's save() does not report that a file cannot be written.
    writer = vtkXMLPolyDataWriter()
    writer.SetFileName(path)
    writer.SetInputData(mesh)
    shown = vtkObject.GetGlobalWarningDisplay()
    vtkObject.GlobalWarningDisplayOff()  # VTK prints many lines
    try:
        done = writer.Write()
    finally:
        vtkObject.SetGlobalWarningDisplay(shown)
    code = writer.GetErrorCode()
    if code or not done:  # small numbers are errors of the system
        raise OSError(code if code < vtkErrorCode.FirstVTKErrorCode else None,
                      f"cannot be written: {vtkErrorCode.GetStringFromErrorCode(code)}")


FORMATS = {".npz": _npz, ".csv": _csv, ".parquet": _parquet, ".vtp": _vtp}


def add_arguments(parser):
    """Adds the arguments of `export`."""
    parser.add_argument("file", metavar="FILE", help=".bat, .pbat, .bat.series or .idx")
    parser.add_argument("out", metavar="OUT", help=f"ends in {', '.join(FORMATS)}; of a grid (.idx) in "
                        f"{', '.join(_grids.FORMATS)}")
    parser.add_argument("--level", type=count, metavar="N", help="for a grid: resolution level, where 0 is one sample (default: the finest; with "
                                                                 "--budget the finest with at most N samples)")
    add_query_arguments(parser)
    add_json(parser)


def run(arguments):
    """Returns the exit code."""
    if idx.can_open(arguments.file):
        return _grids.export(arguments)
    if arguments.level is not None:
        refuse(f"--level: {arguments.file} is not a structured grid")
    ending = os.path.splitext(arguments.out)[1]
    if ending not in FORMATS:
        refuse(f"{arguments.out} ends in '{ending}'; allowed: {', '.join(FORMATS)}")
    with open_one(arguments.file, arguments.step, "export") as dataset, progress("reading") as on_progress:
        query = query_of(arguments, dataset)
        particles = dataset.read(parse_attributes(arguments, dataset), progress=on_progress, **query)
    with replacing(arguments.out) as path:
        FORMATS[ending](particles, path)
    if arguments.json:
        print_json({"file": arguments.file, "out": arguments.out, "particles": particles.count, "quality": query["quality"]})
    else:
        show(f"{arguments.out}: {particles.count:,} particles")
    return 0
