# SPDX-License-Identifier: BSD-3-Clause
"""Protein Data Bank files: PDB, with columns at fixed positions, and mmCIF, whose table _atom_site names its columns.

Each model is a step. PDB has no field for times, but GROMACS writes them into TITLE ("t= 1.0 step= 500"). The number of a
model is not a step number. `index` is the index of an atom in its model.
"""

import re

import numpy as np

from .. import cells
from .._output import BadRow, parse_columns
from ..fixed_columns import Rows, find_time, take_until
from ..model import Collector, ConvertError, Format, Step, codes_of, listed
from ..streams import Stream
from .gro import add_integers, add_texts

UNITS = {"positions": "angstrom"}


# --- PDB

ATOM = re.compile(rb"^(?:ATOM  |HETATM)", re.MULTILINE)
END = re.compile(rb"^(?:ENDMDL|MODEL |END[ \t\r]*$)", re.MULTILINE)
ATOMS = re.compile(rb"^(?:ATOM  |HETATM)[^\r\n]*", re.MULTILINE)
RECORDS = re.compile(rb"^([A-Z][A-Z0-9 ]{0,5})", re.MULTILINE)
OTHERS = {"ATOM", "HETATM", "TER", "REMARK", "MASTER", "END", "ENDMDL", "MODEL"}
PLACES = [(30, 38), (38, 46), (46, 54)]
INTEGERS = (("ids", 6, 11), ("resids", 22, 26))
TEXTS = (("record_types", 0, 6), ("names", 12, 16), ("altLocs", 16, 17), ("resnames", 17, 21), ("chainIDs", 21, 22),
         ("icodes", 26, 27), ("segids", 72, 76), ("elements", 76, 78), ("formalcharges", 78, 80))
NUMBERS = (("occupancies", 54, 60), ("tempfactors", 60, 66))
# Characters 31 to 54 of an atom line: three numbers with three decimals.
LINE = re.compile(rb"^(?:ATOM  |HETATM).{24}(?:[ \d-]{4}\.\d{3}){3}", re.MULTILINE)


def pdb_steps(path, options):
    with Stream(path) as stream:
        index, cell = 0, None
        while True:
            before = stream.line_number
            header, found = take_until(stream, ATOM)
            if not found:
                if not index:
                    raise ConvertError(f"has no ATOM or HETATM records in {stream.line_number - before} lines")
                return
            lines = header.decode("utf-8", "replace").splitlines()
            title = " ".join(line[10:].strip() for line in lines if line.startswith("TITLE"))
            cell = _crystal(header) or cell
            model = Model(index, title, cell, re.search(rb"^MODEL ", header, re.MULTILINE) is not None)
            step = Step(lambda model=model: [_read_pdb(stream, model, options)], *find_time(title))
            yield step
            if not step.is_read:
                _, end = take_until(stream, END, keep=False)
                model.check_end(end)
            index += 1


class Model:
    """One model in a PDB file."""

    def __init__(self, index, title, cell, is_numbered):
        self.index = index
        self.title = title
        self.cell = cell
        self._is_numbered = is_numbered

    def check_end(self, end):
        if self._is_numbered and (end is None or not end[0].startswith(b"ENDMDL")):
            raise ConvertError(f"model {self.index}: ends without ENDMDL: the file is truncated or damaged")


def _crystal(header):
    """Returns the six numbers of CRYST1, or None. A cell of 1 x 1 x 1 means no cell."""
    found = re.findall(rb"^CRYST1([^\r\n]*)", header, re.MULTILINE)
    if not found:
        return None
    words = [found[-1][begin:end] for begin, end in ((0, 9), (9, 18), (18, 27), (27, 34), (34, 41), (41, 48))]
    try:
        cell = [float(word) for word in words]
    except ValueError:
        raise ConvertError(f"CRYST1 '{found[-1].decode('utf-8', 'replace').strip()[:60]}' is not three lengths and three "
                           "angles") from None
    return cell if np.isfinite(cell).all() and min(cell) > 0 and cell[:3] != [1, 1, 1] else None


def _read_pdb(stream, model, options):
    first = stream.line_number + 1
    text, end = take_until(stream, END)
    model.check_end(end)
    lines = ATOMS.findall(text)

    def place(row):
        start = [match.start() for match in ATOMS.finditer(text)][row]
        number = first + text[:start].count(b"\n")
        return f"model {model.index}, line {number}"
    rows = Rows(lines, place)
    collector = Collector(options, len(rows))
    collector.add("index", np.arange(len(rows), dtype=np.int64))
    texts = {}
    positions = rows.numbers(PLACES, np.float64, "xyz")
    add_integers(collector, rows, INTEGERS)
    for name, begin, end in NUMBERS:
        if not collector.wants(name) or rows.is_blank(begin, end).all():
            continue
        values = rows.optional_numbers(begin, end, np.float64)
        if values is None:
            collector.leave_out(name, "some of its values are not numbers")
        else:
            collector.add(name, values)
    add_texts(collector, rows, TEXTS, texts)
    others = sorted({name.decode().strip() for name in RECORDS.findall(text)} - OTHERS)
    if others:
        collector.remarks.append(("records", f"only atoms are written, not: {', '.join(others[:12])}"))
    return collector.particles(positions, _about(model.title, model.cell, texts))


def _about(title, cell, texts):
    about = {"md": {"title": title, "box": cell, "units": UNITS, "texts": texts}, "units": UNITS}
    if "t=" in title and find_time(title)[1] is not None:
        about["units"] = about["md"]["units"] = {**UNITS, "time": "ps"}
    return {**about, **(cells.periodic_box(cell[:3], cell[3:]) if cell else {})}


def _sniff_pdb(head, path):
    return not path.lower().endswith((".pqr", ".pdbqt")) and bool(LINE.search(head))


# --- mmCIF

TABLE = re.compile(rb"^[ \t]*_atom_site\.", re.MULTILINE)
TABLE_END = re.compile(rb"^[ \t]*(?:#|loop_|data_|_|;)", re.MULTILINE | re.IGNORECASE)
TOKENS = re.compile(rb"'(?:[^'\n]|'(?=\S))*'(?=\s|\Z)|\"(?:[^\"\n]|\"(?=\S))*\"(?=\s|\Z)|\S+")
CELL = [f"_cell.{name}" for name in ("length_a", "length_b", "length_c", "angle_alpha", "angle_beta", "angle_gamma")]
MISSING = (b"?", b".")
# A number with its uncertainty, such as 1.5(3).
UNCERTAIN = re.compile(rb"([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)\([0-9]+\)")
AXES = ("Cartn_x", "Cartn_y", "Cartn_z")
MODEL = "pdbx_PDB_model_num"
# Attribute names, as for PDB; other columns keep their names.
NAMES = {"id": "ids", "type_symbol": "elements", "label_atom_id": "names", "label_alt_id": "altLocs", "label_comp_id": "resnames",
         "auth_asym_id": "chainIDs", "auth_seq_id": "resids", "pdbx_PDB_ins_code": "icodes", "occupancy": "occupancies",
         "B_iso_or_equiv": "tempfactors", "pdbx_formal_charge": "formalcharges", "group_PDB": "record_types"}
FLOATS = ("occupancies", "tempfactors")  # even if all values in a file are whole numbers
LINES_AT_ONCE = 1 << 22  # bytes of text split at a time


def cif_steps(path, options):
    with Stream(path) as stream:
        index, before = 0, b""
        while True:
            header, found = take_until(stream, TABLE)
            if not found:
                break
            before += header
            columns = _column_names(stream)
            text, _ = take_until(stream, TABLE_END)
            table = _table(text, columns)
            cell = _cell(before)
            for rows in _models(table, columns):
                yield Step(lambda rows=rows, table=table, cell=cell, index=index: [_read_cif(table, rows, cell, index, options)])
                index += 1
        if not index:
            raise ConvertError("has no table _atom_site with Cartn_x, Cartn_y, Cartn_z")


def _column_names(stream):
    names = []
    while True:
        place = bytes(stream.peek(256)).lstrip()
        if not place.startswith(b"_atom_site."):
            return names
        words = (stream.line() or "").split()
        if len(words) != 1:
            raise ConvertError(f"line {stream.line_number}: _atom_site has a single row that is not a loop, which is not "
                               "supported")
        names.append(words[0].partition(".")[2])


def _table(text, columns):
    """Returns column name -> array of bytes."""
    for name in AXES:
        if name not in columns:
            raise ConvertError(f"_atom_site has no column {name}; available: {listed(columns)}")
    pieces, begin = [], 0
    while begin < len(text):
        end = text.find(b"\n", begin + LINES_AT_ONCE) + 1 or len(text)
        part = text[begin:end]
        tokens = TOKENS.findall(part) if b"'" in part or b'"' in part else part.split()
        if len(tokens) % len(columns):
            raise ConvertError(f"_atom_site has {len(tokens)} values, not a multiple of its {len(columns)} columns: the file is "
                               "truncated or damaged")
        if tokens:
            pieces.append(np.array(tokens).reshape(-1, len(columns)))
        begin = end
    return {name: np.concatenate([piece[:, i] for piece in pieces]) if pieces else np.array([], "S1")
            for i, name in enumerate(columns)}


def _models(table, columns):
    """Returns the rows of each model."""
    if MODEL not in columns:
        return [slice(None)]
    numbers = table[MODEL]
    starts = [0, *(np.flatnonzero(numbers[1:] != numbers[:-1]) + 1).tolist(), len(numbers)]
    return [slice(begin, end) for begin, end in zip(starts, starts[1:])]


def _cell(text):
    """Returns the six numbers of the _cell items, or None."""
    found = [re.findall(rb"^[ \t]*" + re.escape(name.encode()) + rb"[ \t]+([0-9.eE+-]+)", text, re.MULTILINE) for name in CELL]
    if not all(found):
        return None
    try:
        cell = [float(values[-1]) for values in found]
    except ValueError:
        return None
    return cell if min(cell) > 0 and cell[:3] != [1, 1, 1] else None


def _read_cif(table, rows, cell, index, options):
    collector = Collector(options, len(table[AXES[0]][rows]))
    collector.add("index", np.arange(collector.count, dtype=np.int64))
    texts = {}
    positions = np.empty((collector.count, 3))
    for i, name in enumerate(AXES):
        values = _numbers(_certain(table[name][rows], name, collector.remarks), np.float64)
        if values is None:
            raise ConvertError(f"model {index}: {name} has values that are not numbers")
        positions[:, i] = values
    for name, column in table.items():
        own = NAMES.get(name, name)
        column = column[rows]
        missing = np.isin(column, MISSING)
        if name in AXES or not collector.wants(own) or (len(column) and missing.all()):
            continue
        column = _certain(column, own, collector.remarks)
        values = None if own in FLOATS or missing.any() else _numbers(column, np.int64)
        if values is None:
            values = _numbers(np.where(missing, b"nan", column), np.float64)
        if values is None:
            values, texts[own] = codes_of([_text(word) for word in column.tolist()])
            collector.remarks.append((f"texts {own}", f"'{own}' is converted to numbers; the metadata contains their texts"))
        collector.add(own, values)
    return collector.particles(positions, _about("", cell, texts))


def _certain(column, name, remarks):
    """Returns numbers without their uncertainties, or the unchanged column if it has none or contains other texts."""
    words = column.tolist()
    if not any(word.endswith(b")") for word in words):
        return column
    cut = np.array([UNCERTAIN.sub(rb"\1", word) if UNCERTAIN.fullmatch(word) else word for word in words])
    if (cut == column).all() or _numbers(np.where(np.isin(cut, MISSING), b"nan", cut), np.float64) is None:
        return column
    remarks.append((f"uncertainties {name}", f"'{name}' is written without the uncertainties in parentheses, as in 1.5(3)"))
    return cut


def _text(word):
    text = word.decode("utf-8", "replace")
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text


def _numbers(column, dtype):
    """Returns the values as numbers, or None if one is not."""
    values = np.empty(len(column), dtype)
    try:
        if len(column) and parse_columns(b"\n".join(column.tolist()) + b"\n", [values], " ", len(column))[0] != len(column):
            return None
    except BadRow:
        return None
    return values


def _sniff_cif(head, _):
    text = re.sub(rb"^(?:\s*#[^\n]*\n|\s+)+", b"", head)
    return text[:5].lower() == b"data_" and (b"_atom_site." in text or b"_entry.id" in text or b"_entry." in text)


FORMATS = [
    Format("pdb", "Protein Data Bank .pdb, all models", pdb_steps, extensions=(".pdb", ".ent"), sniff=_sniff_pdb),
    Format("mmcif", "macromolecular CIF, all models", cif_steps, extensions=(".cif", ".mmcif"), sniff=_sniff_cif)]
