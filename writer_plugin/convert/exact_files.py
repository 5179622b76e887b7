# SPDX-License-Identifier: BSD-3-Clause
"""Sources of convert.py for files that VTK's readers do not read in full: delimited text (64-bit integers, texts
among numbers) and PLY (most properties). Each rank reads its share."""

import csv
import json
import os

from vtkmodules.util.numpy_support import get_vtk_array_type, numpy_to_vtk
from vtkmodules.vtkCommonCore import vtkPoints
from vtkmodules.vtkCommonExecutionModel import vtkAlgorithm, vtkStreamingDemandDrivenPipeline

import bat_ranks
import numpy as np
import ply_vertices
import text_tables

# Types of data that files become, by the ends of their names.
TABLE, VERTICES = "vtkTable", "vtkPolyData"
KINDS = {".csv": TABLE, ".tsv": TABLE, ".txt": TABLE, ".ply": VERTICES}

_problems = []
_others = []


class Files:
    """`kind`, names and times of files that are read here."""

    def __init__(self, kind, names, times):
        self.kind = kind
        self.names = names
        self.times = times


def find(inputs):
    """The Files, if they are all of one kind that is read here; None if none is. A .series names others."""
    names, times = list(inputs), [float(i) for i in range(len(inputs))]
    if len(inputs) == 1 and inputs[0].endswith(".series") and _kind(inputs[0][:-len(".series")]):
        try:
            with open(inputs[0], encoding="utf-8") as file:
                entries = json.load(file)["files"]
            folder = os.path.dirname(inputs[0])
            names = [os.path.join(folder, entry["name"]) for entry in sorted(entries, key=lambda e: e["time"])]
            times = sorted(float(entry["time"]) for entry in entries)
        except (ValueError, KeyError, TypeError) as error:
            raise text_tables.TableError(f"{inputs[0]}: is not a list of files: {error!r}") from None
    elif len(inputs) == 1:
        times = []
    kinds = {_kind(name) for name in names}
    if len(kinds) > 1 or (len(inputs) > 1 and any(_kind(name[:-len(".series")]) for name in inputs
                                                  if name.endswith(".series"))):
        raise text_tables.TableError(f"{', '.join(names[:3])}: are different kinds of files, or include lists; convert them one by one")
    kind = kinds.pop()
    return Files(kind, names, times) if kind else None


def _kind(name):
    return KINDS.get(os.path.splitext(name)[1].lower())


# --- on every rank

def problems():
    """Returns the problems of this rank, the first, since the last call: kind, key, text."""
    result = list(_problems)
    _problems.clear()
    return result


def others():
    """Names of columns of the last file that were not wanted."""
    return list(_others)


def offer(program, times):
    """Implements RequestInformation of a source."""
    information = program.GetOutputInformation(0)
    information.Set(vtkAlgorithm.CAN_HANDLE_PIECE_REQUEST(), 1)
    if times:
        information.Set(vtkStreamingDemandDrivenPipeline.TIME_STEPS(), times, len(times))
        information.Set(vtkStreamingDemandDrivenPipeline.TIME_RANGE(), (min(times), max(times)), 2)


def deliver(program, names, times, kind, requested, coordinates, delimiter):
    """Implements RequestData: delivers this rank's share of the file of the requested time. `requested`: columns, or None
    for all; `coordinates`: those chosen as coordinates. Collective."""
    request = program.GetOutputInformation(0)
    time_key = vtkStreamingDemandDrivenPipeline.UPDATE_TIME_STEP()
    name = names[0]
    if times and request.Has(time_key):
        name = names[int(np.argmin(np.abs(np.array(times) - request.Get(time_key))))]
    output = program.GetOutputDataObject(0)
    part, parts = bat_ranks.rank(), bat_ranks.ranks()
    _others.clear()
    if kind == VERTICES:
        _deliver_vertices(output, name, part, parts)
    else:
        _deliver_table(output, name, part, parts, requested, coordinates, delimiter)


def _deliver_table(output, name, part, parts, requested, coordinates, delimiter):
    share = layout = problem = None
    try:
        layout = text_tables.look(name, delimiter)
        for i, value in layout.texts.items():
            if layout.names[i] in coordinates:
                raise text_tables.TableError(f"the column '{layout.names[i]}' is not numeric: '{value[:60]}'")
        _others.extend(layout.names)
        share = text_tables.Share(name, layout, part, parts, requested)
    except Exception as error:  # pylint: disable=broad-except
        problem = _words(error)
    facts = bat_ranks.gather([share.facts if share else None, problem])
    if _tell_failure(name, [failure for _, failure in facts]):
        return
    types, remarks = text_tables.agree(layout, [each for each, _ in facts], requested)
    _tell(name, remarks)
    columns = share.columns(types)
    _warn_of_steps(name, columns)
    for column, values in columns.items():
        output.GetRowData().AddArray(_to_vtk(values, column))


def _warn_of_steps(name, columns):
    """Warns of a table with several steps. Collective."""
    for column in filter(text_tables.may_tell_steps, columns):
        values = columns[column][np.isfinite(columns[column])]
        ends = [each for each in bat_ranks.gather([values.min().item(), values.max().item()] if len(values) else None) if each]
        if ends and min(low for low, _ in ends) < max(high for _, high in ends):
            _tell(name, [("steps", f"the rows have different values of '{column}', but become one step; `parabat convert` makes a step of "
                                   "each value")])
            return


def _deliver_vertices(output, name, part, parts):
    layout = values = problem = None
    try:
        layout = ply_vertices.look(name)
        values = ply_vertices.read(name, layout, part, parts)
    except Exception as error:  # pylint: disable=broad-except
        problem = _words(error)
    if _tell_failure(name, bat_ranks.gather(problem)):
        return
    if ply_vertices.lost(layout):
        _tell(name, [("elements", ply_vertices.lost(layout))])
    axes = [values.pop(axis) for axis in "xyz"]
    single = all(axis.dtype == np.float32 for axis in axes)
    points = vtkPoints()
    points.SetData(_to_vtk(np.stack(axes, axis=1).astype("f4" if single else "f8", copy=False), "Points"))
    output.SetPoints(points)
    for attribute, array in ply_vertices.grouped(values).items():
        output.GetPointData().AddArray(_to_vtk(array, attribute))


def _words(error):
    if isinstance(error, OSError):
        return f"cannot be read: {error.strerror}"
    if isinstance(error, MemoryError):
        return "out of memory"
    if isinstance(error, (text_tables.TableError, ply_vertices.PlyError, csv.Error)):
        return str(error)
    return repr(error)


def _tell_failure(name, problems):
    """Reports the problem of the first rank that has one."""
    problem = next((each for each in problems if each), None)
    if problem and bat_ranks.rank() == 0:
        _problems.append(["error", "", f"{name}: {problem}"])
    return problem is not None


def _tell(name, remarks):
    if bat_ranks.rank() == 0:
        _problems.extend(["warning", key, f"{name}: {words}"] for key, words in remarks)


def _to_vtk(values, name):
    array = numpy_to_vtk(values, deep=False, array_type=get_vtk_array_type(values.dtype))
    array.SetName(name)
    return array
