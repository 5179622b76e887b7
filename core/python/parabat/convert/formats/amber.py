# SPDX-License-Identifier: BSD-3-Clause
"""Amber trajectories and restart files: netCDF with the conventions AMBER and AMBERRESTART (http://ambermd.org/netcdf), also
written by `dump netcdf` of LAMMPS, and text restart files.

    frame, atom, spatial = 3                             dimensions
    time(frame), coordinates(frame, atom, spatial)       ps, angstrom, unless `units` differs
    velocities, forces, cell_lengths, cell_angles        a variable may have a scale_factor for its values
    cell_origin, id(frame, atom), type, c_...            LAMMPS; its `time` has step numbers, with dt as scale_factor

Amber's own files have no step numbers. `index` is the index of an atom in the file.
"""

import math
import re
import struct

import numpy as np

from ..._extras import install
from .. import cells, hdf5
from ..fixed_columns import Rows, take_lines
from ..model import Collector, ConvertError, Format, Step, listed
from ..netcdf_classic import MAGICS, Classic, Nested
from ..streams import Stream

POSITIONS = ("coordinates", "unwrapped_coordinates", "scaled_coordinates")
OF_CELL = ("cell_lengths", "cell_angles", "cell_origin", "time")
FRAME, ATOM = "frame", "atom"
CONVENTIONS = ("AMBER", "AMBERRESTART")


def steps(path, options):
    with open(path, "rb") as file:
        magic = file.read(len(hdf5.MAGIC))
    if magic.startswith(MAGICS):
        with Classic(path) as file:
            yield from _steps(file, options)
    elif magic == hdf5.MAGIC:
        if hdf5_is_missing():
            raise ConvertError("is netCDF-4, which requires h5py: " + install("h5py"))
        with hdf5.opened(path, options) as file:
            yield from _steps(Nested(file, lambda name: name == FRAME), options)
    else:
        yield from text_steps(path, options)


def hdf5_is_missing():
    try:
        import h5py  # pylint: disable=import-outside-toplevel,unused-import
    except ImportError:
        return True
    return False


def _conventions(attributes):
    return re.split(r"[\s,;]+", str(attributes.get("Conventions", "")).strip("\0 "))


def _steps(file, options):
    if not set(_conventions(file.attributes)) & set(CONVENTIONS):
        raise ConvertError(f"its Conventions are '{file.attributes.get('Conventions', '')}'; allowed: AMBER, AMBERRESTART")
    if not any(name in file.variables for name in POSITIONS):
        raise ConvertError(f"has none of the variables {listed(POSITIONS)}; available: {listed(file.variables)}")
    first = next(file.variables[name] for name in POSITIONS if name in file.variables)
    count = file.records if first.has_records else 1
    time = file.variables.get("time")
    for i in range(count):
        number, when = _time(file, time, i)
        yield Step(lambda i=i: [_read(file, i, options)], number, when)


def _is_lammps(file):
    return str(file.attributes.get("program", "")).startswith("LAMMPS")


def _time(file, variable, i):
    """Returns (step number, time) of frame i."""
    if variable is None:
        return None, None
    stored = variable.read(i).reshape(-1)
    if stored.size != 1 or not np.isfinite(stored[0]):
        return None, None
    value = float(stored[0])
    factor = variable.attributes.get("scale_factor")
    if factor is None:
        return None, value
    number = int(value) if _is_lammps(file) and value.is_integer() else None
    return number, value * shortest(np.asarray(factor).reshape(-1)[0])


def shortest(value):
    """Returns the shortest decimal number that rounds to a float32: 0.001 for 0.0010000000475."""
    return float(str(value)) if isinstance(value, np.float32) else float(value)


def _value(variable, i):
    """Returns the values of frame i, multiplied by their scale_factor, which also determines the type."""
    values = variable.read(i)
    factor = variable.attributes.get("scale_factor")
    if factor is None or values.dtype.kind not in "iuf":
        return values
    factor = np.asarray(factor).reshape(-1)[0]
    dtype = np.result_type(values.dtype, factor.dtype) if factor.dtype.kind == "f" else np.float64
    return (values.astype(np.float64) * float(factor)).astype(dtype)


def _read(file, i, options):
    variables = file.variables
    remarks = []
    name = next(name for name in POSITIONS if name in variables)
    lengths, angles, origin = (_of_cell(variables, name, i) for name in OF_CELL[:3])
    positions = _value(variables[name], i)
    if positions.ndim != 2 or positions.shape[1] != 3:
        raise ConvertError(f"variable '{name}' has the shape {positions.shape} in each frame; allowed: (atoms, 3)")
    collector = Collector(options, len(positions))
    collector.add("index", np.arange(len(positions), dtype=np.int64))
    if name != POSITIONS[0]:
        remarks.append(("positions", f"positions are the {name.replace('_', ' ')}" + (
            ", multiplied by the cell; they are also kept as an attribute" if name == POSITIONS[2] else "")))
    if name == POSITIONS[2]:
        collector.add(name, positions)
        positions = _unscaled(positions, lengths, angles, origin)
    units, values_of_frame = {"positions": _unit(variables.get(POSITIONS[0], variables[name]))}, {}
    for each in variables.values():
        _add(collector, each, i, name, units, values_of_frame)
    if "time" in variables:
        units["time"] = _unit(variables["time"])
    units = {key: unit for key, unit in units.items() if unit}
    box = None
    if lengths is not None and (lengths > 0).all():
        box = [*map(float, lengths), *map(float, angles if angles is not None else cells.RIGHT_ANGLES)]
    about = {"md": {"box": box, "origin": origin, "units": units, "frame": values_of_frame,
                    "file": {key: value for key, value in file.attributes.items() if isinstance(value, str)}}, "units": units}
    if lengths is not None:
        about.update(cells.periodic_box(lengths, cells.RIGHT_ANGLES if angles is None else angles,
                                        (0, 0, 0) if origin is None else origin))
    collector.remarks += remarks
    return collector.particles(positions, about)


def _add(collector, variable, i, positions, units, values_of_frame):
    """Adds one variable as an attribute, or to the metadata."""
    name, dims = variable.name, variable.dimensions[variable.has_records:]
    if name in (*OF_CELL, positions):
        return
    if ATOM not in dims:
        if variable.has_records and not dims:
            values_of_frame[name] = variable.read(i)
        return
    if dims[0] != ATOM or variable.dtype.kind in "SOU":
        collector.leave_out(name, f"its dimensions are {listed(dims)}" if dims[0] != ATOM else "it contains texts")
    elif collector.wants(name):
        collector.add(name, _value(variable, i))
        if _unit(variable):
            units[name] = _unit(variable)


def _unit(variable):
    unit = str(variable.attributes.get("units", "")).strip()
    return "ps" if unit == "picosecond" else unit


def _of_cell(variables, name, i):
    if name not in variables:
        return None
    values = _value(variables[name], i).reshape(-1)
    return values.astype(np.float64) if values.shape == (3,) and np.isfinite(values).all() else None


def _unscaled(fractions, lengths, angles, origin):
    if lengths is None or not (lengths > 0).all():
        raise ConvertError("has only scaled coordinates, but no cell by which to multiply them")
    vectors = cells.vectors_of(lengths, cells.RIGHT_ANGLES if angles is None else angles)
    start = np.zeros(3) if origin is None else origin
    return np.stack([start[k] + fractions[:, 0] * vectors[0, k] + fractions[:, 1] * vectors[1, k]
                     + fractions[:, 2] * vectors[2, k] for k in range(3)], axis=1)


def _sniff(head, path):
    if head.startswith(MAGICS):
        return any(_has_conventions(head, name.encode()) for name in CONVENTIONS)
    return _is_nested(head, path)


def _has_conventions(head, value):
    """Returns whether a header has the attribute Conventions with this text, which follows its length."""
    wide = head[3] == 5
    name = struct.pack(">q" if wide else ">i", 11) + b"Conventions\0" + struct.pack(">i", 2)
    return name + struct.pack(">q" if wide else ">i", len(value)) + value in head or (
        re.search(re.escape(name) + rb".{4,8}[ -~]*\b" + value + rb"\b", head, re.DOTALL) is not None)


_is_nested = hdf5.sniffer(lambda file: any(name in _conventions({"Conventions": _text(file.attrs.get("Conventions", ""))})
                                           for name in CONVENTIONS))


def _text(value):
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


# --- Text restart files: a title, "atoms [time]", and numbers of 12 characters, six per line

WIDTH, PER_LINE = 12, 6
NUMBERS = re.compile(rb"(?:[ \d-]{4}\.?[ \d.-]{0,2}[\d.]{6,8}){3,6}\s*$")
# Velocities are in angstrom per 1/20.455 ps.
UNITS = {"positions": "angstrom", "velocities": "20.455 angstrom/ps", "time": "ps"}


def text_steps(path, options):
    with Stream(path) as stream:
        title, words = stream.line() or "", (stream.line() or "").split()
        if not words or not words[0].isdigit() or len(words[0]) > 12:
            raise ConvertError(f"line 2: '{' '.join(words)[:60]}' is not the number of atoms of an Amber restart file")
        try:
            time = float(words[1].replace("_", "?")) if len(words) > 1 else None
        except ValueError:
            raise ConvertError(f"line 2: '{words[1][:60]}' is not a time") from None
        count = int(words[0])
        left = stream.left()
        if left is not None and 3 * WIDTH * count > left:
            raise ConvertError(f"claims {count} atoms, but only {left} bytes are left: the file is truncated or damaged")
        yield Step(lambda: [_read_text(stream, title.strip(), count, options)], None,
                   time if time is not None and math.isfinite(time) else None)


def _read_text(stream, title, count, options):
    lines = -(-3 * count // PER_LINE)
    collector = Collector(options, count)
    collector.add("index", np.arange(count, dtype=np.int64))
    positions = _table(stream, lines, count)
    rest = take_lines(stream, 2 * lines + 2).rstrip().splitlines()
    box = None
    if rest and count <= 2:
        collector.remarks.append(("rest", "lines after the coordinates are not read: for one or two atoms, velocities and box "
                                          "look alike"))
        rest = []
    if len(rest) in (1, lines + 1):
        box = _box(rest.pop())
    if len(rest) not in (0, lines):
        raise ConvertError(f"has {len(rest)} lines after the coordinates of {count} atoms; allowed: 0 or {lines} of velocities, "
                           "and 1 of the box")
    if rest and collector.wants("velocities"):
        collector.add("velocities", _numbers(rest, count, 3 + lines))
    about = {"md": {"title": title, "box": box, "units": UNITS}, "units": UNITS,
             **(cells.periodic_box(box[:3], box[3:]) if box else {})}
    return collector.particles(positions, about)


def _table(stream, lines, count):
    first = stream.line_number + 1
    found = take_lines(stream, lines).splitlines()
    if len(found) != lines:
        raise ConvertError(f"ends after {len(found)} of {lines} lines of coordinates")
    return _numbers(found, count, first)


def _numbers(lines, count, first):
    """Returns an array (count, 3) from lines with six numbers each; the last line may have three."""
    fields = [(WIDTH * i, WIDTH * (i + 1)) for i in range(PER_LINE)]
    whole = len(lines) - count % 2
    rows = Rows(lines[:whole], lambda row: f"line {first + row}").numbers(fields, np.float64, ["a number"] * PER_LINE)
    last = Rows(lines[whole:], lambda row: f"line {first + whole}").numbers(fields[:3], np.float64, ["a number"] * 3)
    return np.concatenate([rows.reshape(-1), last.reshape(-1)]).reshape(count, 3)


def _box(line):
    try:
        numbers = [float(line[i:i + WIDTH].replace(b"_", b"?")) for i in range(0, len(line.rstrip()), WIDTH)]
    except ValueError:
        numbers = []
    if len(numbers) not in (3, 6) or not np.isfinite(numbers).all():
        raise ConvertError(f"its last line '{line.decode('utf-8', 'replace').strip()[:60]}' is not a box of 3 lengths and 3 "
                           "angles")
    box = numbers if len(numbers) == 6 else [*numbers, *cells.RIGHT_ANGLES]
    return box if min(box[:3]) > 0 else None


def _sniff_text(head, _):
    lines = head.split(b"\n", 3)
    return len(lines) > 2 and re.fullmatch(rb" *\d+( +[-+.\dEe]+){0,2}\s*", lines[1]) is not None and re.fullmatch(
        rb"(?:[ \d-]{4}\.\d{7}){3}(?:(?:[ \d-]{4}\.\d{7}){3})?\s*", lines[2]) is not None


FORMATS = [
    Format("amber", "Amber netCDF trajectories and restarts, LAMMPS dump netcdf", steps, extensions=(".ncdf", ".ncrst"),
           options=("follow_links",), sniff=_sniff, rank=5),
    Format("amber-restart", "Amber restart files as text", text_steps,
           extensions=(".rst7", ".inpcrd", ".restrt"), sniff=_sniff_text)]
