# SPDX-License-Identifier: BSD-3-Clause
"""LAMMPS: text dumps, and data files for read_data."""

import re

import numpy as np

from ..errors import refuse
from .source import IDS, MASSES, VELOCITIES, Box, components, unique_names, write_rows

VECTORS = {"v": "vx vy vz", "velocity": "vx vy vz", "velocities": "vx vy vz", "f": "fx fy fz", "force": "fx fy fz",
           "forces": "fx fy fz", "mu": "mux muy muz", "omega": "omegax omegay omegaz", "angmom": "angmomx angmomy angmomz",
           "tq": "tqx tqy tqz"}
IMAGES = ("ix", "iy", "iz")
# Columns of an atom style between its id and its position, with the attribute names accepted for each.
STYLES = (("full", (("mol", "molecule"), ("type",), ("q", "charge"))), ("sphere", (("type",), ("diameter",), ("density",))),
          ("charge", (("type",), ("q", "charge"))), ("molecular", (("mol", "molecule"), ("type",))), ("atomic", (("type",),)))
WHOLE = ("mol", "molecule", "type")


def _found_box(source, what):
    """Returns the box and its boundary keywords ("" if unknown). Without a box, returns the bounds of the particles."""
    box = source.box
    if _has_volume(source):
        words = (source.program("lammps").get("box") or {}).get("boundary") if "lammps" in source.metadata else None
        return box, words or (" ".join("pp" if each else "ff" for each in box.periodic) if None not in box.periodic else "")
    source.note(f"the dataset has no box{'' if box is None else ' with a volume'}, which {what} requires; the box spans the "
                "coordinates of the particles")
    low, high = _open_ends(source)
    return Box(low, np.diag(high - low), [False] * 3), "ss ss ss"


def _has_volume(source):
    box = source.box
    return box is not None and bool(np.linalg.det(box.edges))


def _open_ends(source):
    """Returns the bounds of the particles, extended by half a unit along axes on which all coordinates are equal."""
    low, high = source.bounds()
    return np.where(high > low, low, low - 0.5), np.where(high > low, high, high + 0.5)


def _form(box):
    """Returns "orthogonal", "triclinic" (lower triangular edges, as in LAMMPS) or "general"."""
    edges = np.asarray(box.edges)
    if (edges[~np.eye(3, dtype=bool)] == 0).all() and (np.diag(edges) > 0).all():
        return "orthogonal"
    return "triclinic" if edges[0, 1] == edges[0, 2] == edges[1, 2] == 0 and (np.diag(edges) > 0).all() else "general"


def _text(*numbers):
    return " ".join(repr(float(number)) for number in numbers)


# --- Dumps

def write_dump(source, path):
    box, boundary = _found_box(source, "a dump")
    if not boundary:
        source.note("the dataset does not state the boundaries of its box, so neither does the dump")
    if source.step is None:
        source.note("the dataset has no step number, which a dump requires; the timestep is 0")
    names, columns = _dump_columns(source)
    units = source.program("lammps").get("units")
    if not units:
        source.has_no_place("the dump without LAMMPS units", "units")
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        if units:
            file.write(f"ITEM: UNITS\n{units}\n")
        if source.time is not None:
            file.write(f"ITEM: TIME\n{_text(source.time)}\n")
        file.write(f"ITEM: TIMESTEP\n{source.step or 0}\nITEM: NUMBER OF ATOMS\n{source.count}\n"
                   f"{_dump_box(box, boundary, source)}ITEM: ATOMS {' '.join(names)}\n")
        write_rows(file, columns, source.count)


def _dump_box(box, boundary, source):
    low, edges = np.asarray(box.origin, float), np.asarray(box.edges, float)
    form, words = _form(box), boundary and f" {boundary}"
    if form == "general":
        rows = "".join(f"{_text(*edges[i], low[i])}\n" for i in range(3))
        return f"ITEM: BOX BOUNDS abc origin{words}\n{rows}"
    # Without a box, the bounds are exactly those of the particles.
    high = low + np.diag(edges) if _has_volume(source) else _open_ends(source)[1]
    if form == "orthogonal":
        return f"ITEM: BOX BOUNDS{words}\n" + "".join(f"{_text(low[i], high[i])}\n" for i in range(3))
    xy, xz, yz = edges[1, 0], edges[2, 0], edges[2, 1]
    low = low + [min(0, xy, xz, xy + xz), min(0, yz), 0]
    high = high + [max(0, xy, xz, xy + xz), max(0, yz), 0]
    return f"ITEM: BOX BOUNDS xy xz yz{words}\n" + "".join(
        f"{_text(low[i], high[i], tilt)}\n" for i, tilt in enumerate((xy, xz, yz)))


def _dump_columns(source):
    """Returns names and columns: id, type, x y z, and the others."""
    found, codes = [], []
    for written, name in unique_names(source, lambda name: re.sub(r"\s", "_", name) or "_"):
        values = source.attributes[name]
        texts = source.texts(name)
        if texts is not None and all(re.fullmatch(r"\S+", text) for text in texts):
            found.append((written, _words(texts, values)))
            continue
        codes.append(name)
        if values.ndim == 2 and values.shape[1] == 3 and written.lower() in VECTORS:
            found += zip(VECTORS[written.lower()].split(), values.T)
        else:
            found += components(written, values, first=1)
    source.has_only_codes("the dump", codes)
    id_name = source.find(IDS, kinds="iu")
    found = [("id" if name == id_name else name, values) for name, values in found]
    found.sort(key=lambda each: {"id": 0, "type": 1}.get(each[0], 3))
    first = sum(name in ("id", "type") for name, _ in found)
    found[first:first] = [(axis, source.positions[:, i]) for i, axis in enumerate("xyz")]
    names = [name for name, _ in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        refuse(f"two columns would be called '{twice}'; exclude one with --attributes")
    if id_name is None:
        source.note("the dataset has no integer id, so the dump has no column id")
    return names, [values for _, values in found]


def _words(texts, values):
    return lambda first, end: [texts[code] for code in values[first:end].tolist()]


# --- Data files

def write_data(source, path):
    box, _ = _found_box(source, "a data file")
    id_name, columns, used, style = _atom_columns(source)
    velocity = source.find(VELOCITIES, 3, "f")
    images = [source.find((axis,), kinds="iu") for axis in IMAGES]
    if all(images):
        columns += [source.attributes[name] for name in images]
    types = columns[1 + [names for name, names in STYLES if name == style][0].index(("type",))]
    mass_name, masses = _masses(source, types)
    written = (*used, id_name, velocity, mass_name, *(images if all(images) else ()))
    lost = [name for name in source.attributes if name not in written]
    if lost:
        source.note(f"not written, since a data file of atom style {style} has no place for them: {', '.join(lost)}")
    source.has_no_place("a LAMMPS data file", "time")
    source.has_only_codes("a LAMMPS data file", [name for name in source.attributes if name in written])
    ids = columns[0]
    units = source.program("lammps").get("units")
    if not units:
        source.has_no_place("a data file without LAMMPS units", "units")
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write("LAMMPS data file via ParaBAT" + (f", timestep = {source.step}" if source.step is not None else "")
                   + (f", units = {units}" if units else "")
                   + f"\n\n{source.count} atoms\n{int(types.max()) if len(types) else 1} atom types\n\n"
                   + _data_box(box) + masses + f"\nAtoms # {style}\n\n")
        write_rows(file, columns, source.count)
        if velocity is not None:
            file.write("\nVelocities\n\n")
            write_rows(file, [ids, *source.attributes[velocity].T], source.count)


def _masses(source, types):
    """Returns (attribute, section Masses) if all particles of a type have the same mass."""
    name = source.find(MASSES, kinds="f")
    if name is None or not source.count or int(types.max()) > source.count:
        return None, ""
    values = source.attributes[name].astype(np.float64)
    of_type = np.full(int(types.max()) + 1, np.nan)
    of_type[types] = values
    if not (np.isfinite(of_type[1:]) & (of_type[1:] > 0)).all() or not np.array_equal(of_type[types], values):
        return None, ""
    return name, "\nMasses\n\n" + "".join(f"{i + 1} {mass!r}\n" for i, mass in enumerate(of_type[1:].tolist()))


def _data_box(box):
    low, edges = np.asarray(box.origin, float), np.asarray(box.edges, float)
    form = _form(box)
    if form == "general":
        return "".join(f"{_text(*edges[i])} {'abc'[i]}vec\n" for i in range(3)) + f"{_text(*low)} abc origin\n"
    text = "".join(f"{_text(low[i], low[i] + edges[i, i])} {axis}lo {axis}hi\n" for i, axis in enumerate("xyz"))
    return text + (f"{_text(edges[1, 0], edges[2, 0], edges[2, 1])} xy xz yz\n" if form == "triclinic" else "")


def _atom_columns(source):
    """Returns (attribute with the ids or None, columns of the section Atoms, attributes in them, atom style)."""
    id_name = source.find(IDS, kinds="iu")
    ids = None if id_name is None else source.attributes[id_name]
    if ids is not None and len(ids) and (int(ids.min()) < 1 or len(np.unique(ids)) != len(ids)):
        source.note(f"'{id_name}' has values below 1 or repeated ones, which LAMMPS rejects; atoms are numbered from 1 instead")
        ids = None
    elif ids is None:
        source.note("the dataset has no integer id, which LAMMPS requires; atoms are numbered from 1")
    ids = np.arange(1, source.count + 1) if ids is None else ids
    for style, needed in STYLES:
        names = [source.find(options, kinds="iu" if options[0] in WHOLE else "f") for options in needed]
        if all(name is not None or options == ("type",) for name, options in zip(names, needed)):
            break
    columns, used = [ids], []
    for name, options in zip(names, needed):
        values = None if name is None else source.attributes[name]
        if options == ("type",) and (values is None or (len(values) and int(values.min()) < 1)):
            source.note("the dataset has no type with values from 1, which LAMMPS requires; all types are 1")
            values, name = np.ones(source.count, np.int64), None
        columns.append(values)
        used.append(name)
    return id_name, columns + [source.positions[:, i] for i in range(3)], [name for name in used if name], style
