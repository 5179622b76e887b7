# SPDX-License-Identifier: BSD-3-Clause
"""Sources of convert.py for files that VTK's readers do not read in full: delimited text (64-bit integers, texts
among numbers) and PLY (most properties). Each rank reads its share.

A table with the time or the step number of each row becomes several steps. split() finds them before the conversion. Each
rank keeps its rows of the current file, and deliver() returns those of one step.
"""

import collections
import csv
import json
import os

from vtkmodules.util.numpy_support import get_vtk_array_type, numpy_to_vtk
from vtkmodules.vtkCommonCore import vtkPoints
from vtkmodules.vtkCommonExecutionModel import vtkAlgorithm, vtkStreamingDemandDrivenPipeline

import bat_ranks
import numpy as np
import ply_vertices
import step_columns
import step_order
import text_tables

# Types of data that files become, by the ends of their names.
TABLE, VERTICES = "vtkTable", "vtkPolyData"
KINDS = {".csv": TABLE, ".tsv": TABLE, ".txt": TABLE, ".ply": VERTICES}

# How a table is read. delimiter: None to choose it. requested: names of columns, None for all. columns: those chosen as
# coordinates. time_column: None to find it by name, or "none".
TableOptions = collections.namedtuple("TableOptions", "delimiter requested columns time_column")

# A step of tables: the index of its file, that of its group of rows, None for all rows, and what the file names, or None.
TableStep = collections.namedtuple("TableStep", "file group number time")

_problems = []
_others = []
_kept = {}  # path -> the _Table of the file that was read last
_steps = []  # the TableSteps that split() found


class Files:
    """`kind`, names and times of files that are read here. has_list: whether a list names them and their times."""

    def __init__(self, kind, names, times, has_list):
        self.kind = kind
        self.names = names
        self.times = times
        self.has_list = has_list


def find(inputs):
    """The Files, if they are all of one kind that is read here; None if none is. A .series names others."""
    names, times = list(inputs), [float(i) for i in range(len(inputs))]
    has_list = len(inputs) == 1 and inputs[0].endswith(".series") and bool(_kind(inputs[0][:-len(".series")]))
    if has_list:
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
    return Files(kind, names, times, has_list) if kind else None


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


def split(names, options):
    """Finds the steps of tables in the order of the series. Returns (number, time) of each; none if each file is a step that
    names neither. Collective."""
    _kept.clear()
    _steps.clear()
    options = TableOptions(*options)
    found = []
    for name in names:
        if _may_have_steps(name, options):
            table = _load(name, options)
            if table is None:
                return []
            found.append(table.steps)
        else:
            found.append([(None, None, None, "")])
    if any(group is not None for steps in found for group, *_ in steps):
        _steps.extend(TableStep(file, *step[:3]) for file in _sort_files(found) for step in found[file])
    return [(step.number, step.time) for step in _steps]


def _may_have_steps(name, options):
    """Returns whether some columns have the right names; what is wrong with a file is reported where it is read."""
    try:
        return bool(_look(name, options, True)[1])
    except Exception:  # pylint: disable=broad-except
        return True


def _sort_files(found):
    """Returns the indexes of files in the order of the times, or else of the step numbers, with which they begin; as they
    are if some begin with neither. found: (group, number, time, unit) of the steps of each."""
    order = range(len(found))
    firsts = [steps[0] for steps in found]
    numbers, times = [first[1] for first in firsts], [first[2] for first in firsts]
    if all(map(step_order.is_finite, times)) and len({first[3] for first in firsts}) == 1:
        return sorted(order, key=lambda i: (times[i], 0 if None in numbers else numbers[i]))
    return list(order) if None in numbers else sorted(order, key=numbers.__getitem__)


def deliver(program, names, times, kind, options, is_split=False):
    """Implements RequestData: delivers this rank's share of the file of the requested time. options: the TableOptions.
    is_split: times are the indexes of steps that split() found. Collective."""
    request = program.GetOutputInformation(0)
    time_key = vtkStreamingDemandDrivenPipeline.UPDATE_TIME_STEP()
    place = 0
    if times and request.Has(time_key):
        place = int(np.argmin(np.abs(np.array(times) - request.Get(time_key))))
    output = program.GetOutputDataObject(0)
    _others.clear()
    if kind == VERTICES:
        _deliver_vertices(output, names[place], bat_ranks.rank(), bat_ranks.ranks())
    elif is_split:
        _deliver_table(output, names[_steps[place].file], TableOptions(*options), _steps[place])
    else:
        _deliver_table(output, names[place], TableOptions(*options))


class _Table:
    """This rank's rows of a table. names: of all columns of the file; columns: arrays by name; keys: the step_columns.Keys
    of the rows of all ranks."""

    def __init__(self, names, columns, keys, key_values):
        self.names = names
        self.keys = keys
        self._columns = columns
        if keys.groups:
            codes = keys.codes(*key_values)
            self._order = np.argsort(codes, kind="stable")
            self._ends = np.searchsorted(codes[self._order], np.arange(len(keys.groups) + 1))

    @property
    def steps(self):
        """(group, number, time, unit of the time) of each step."""
        groups = [(i, group.number, group.time, self.keys.unit) for i, group in enumerate(self.keys.groups)]
        return groups or [(None, None, None, "")]

    def columns(self, group):
        if group is None:
            return self._columns
        rows = self._order[self._ends[group]:self._ends[group + 1]]
        return {name: values[rows] for name, values in self._columns.items()}


def _look(name, options, dates):
    """Returns (layout, KeyColumns) of a table. dates: whether dates in a column of times become seconds."""
    layout = text_tables.look(name, options.delimiter)
    if dates and options.time_column != "none":
        layout.find_dates(options.time_column)
    texts = {layout.names[i]: value for i, value in layout.texts.items()}
    for column, value in texts.items():
        if column in options.columns:
            raise text_tables.TableError(f"the column '{column}' is not numeric: '{value[:60]}'")
    names = step_columns.KeyColumns.find(layout.names, texts, options)
    if names.time and layout.has_dates(names.time):
        names = names.of_dates()
    return layout, names


def _load(name, options):
    """Returns the _Table, or None after a failure, which is reported. Collective."""
    if name in _kept:
        return _kept[name]
    _kept.clear()
    for dates in (True, False):
        share = layout = problem = None
        has_bad_date = False
        try:
            layout, names = _look(name, options, dates)
            own = [each for each in (names.time, names.step) if each]
            requested = None if options.requested is None else options.requested + own
            share = text_tables.Share(name, layout, bat_ranks.rank(), bat_ranks.ranks(), requested)
        except Exception as error:  # pylint: disable=broad-except
            problem, has_bad_date = _words(error), isinstance(error, text_tables.DateError)
        found = bat_ranks.gather([share.facts if share else None, problem, has_bad_date])
        if not (any(is_bad for *_, is_bad in found) and options.time_column is None):
            break
    if _tell_failure(name, [failure for _, failure, _ in found]):
        return None
    try:
        _kept[name] = _group(name, layout, names, share, [facts for facts, *_ in found], requested, options)
    except text_tables.TableError as error:  # of all ranks
        _tell_failure(name, [str(error)])
        return None
    return _kept[name]


def _group(name, layout, names, share, facts, requested, options):
    """Returns the _Table of a share. Collective."""
    types, remarks = text_tables.agree(layout, facts, requested)
    columns = share.columns(types)

    def make_index(each):
        index = step_columns.Index(each)
        index.add(0, columns.get(each.time), columns.get(each.step))
        if not all(bat_ranks.gather(index.has_space)):
            return None
        merged = step_columns.Index(each)
        for facts_of_rank in bat_ranks.gather(index.facts()):
            merged.merge(facts_of_rank)
        return merged if merged.has_space else None
    keys = step_columns.choose_keys(names, make_index)
    if names.time in keys.columns and layout.has_dates(names.time):
        keys.unit = text_tables.SINCE_1970
    missing = [f"missing {column}" for column in keys.columns]  # rows that are left out, which is reported
    _tell(name, [(key, words) for key, words in remarks if key not in missing])
    _tell(name, keys.remarks, "note")
    key_values = columns.get(names.time), columns.get(names.step)
    kept = {column: values for column, values in columns.items()
            if column not in keys.columns and (options.requested is None or column in options.requested)}
    return _Table(layout.names, kept, keys, key_values)


def _deliver_table(output, name, options, step=None):
    table = _load(name, options)
    if table is None:
        return
    _others.extend(table.names)
    if step is None:
        _kept.clear()  # it is not needed again
    for column, values in table.columns(step and step.group).items():
        output.GetRowData().AddArray(_to_vtk(np.ascontiguousarray(values), column))
    for field, value, dtype in (("TimeValue", step and step.time, "f8"), ("CYCLE", step and step.number, "i8")):
        if value is not None:
            output.GetFieldData().AddArray(_to_vtk(np.array([value], dtype), field))


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


def _tell(name, remarks, kind="warning"):
    if bat_ranks.rank() == 0:
        _problems.extend([kind, key, f"{name}: {words}"] for key, words in remarks)


def _to_vtk(values, name):
    array = numpy_to_vtk(values, deep=False, array_type=get_vtk_array_type(values.dtype))
    array.SetName(name)
    return array
