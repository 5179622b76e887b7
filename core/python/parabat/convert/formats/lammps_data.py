# SPDX-License-Identifier: BSD-3-Clause
"""LAMMPS data files, as used by read_data and write_data: atoms, velocities and the box.

    LAMMPS data file via write_data, version 29 Sep 2021, timestep = 10
                                                   the first line is a comment; LAMMPS puts the step and the units there
    2 atoms
    1 atom types
    0 10 xlo xhi                                   also ylo yhi, zlo zhi; xy xz yz; avec, bvec, cvec, abc origin
    Atoms # full                                   the comment is the atom style
    1 1 1 -0.8 1.5 2.5 3.5 0 0 1                   id mol type q x y z, and optionally three image flags
    Velocities
    1 0.1 0.2 0.3

The atom style determines the columns. If the file does not name it, --columns must: --columns full, or --columns "hybrid
charge sphere". Positions are unchanged; ix, iy, iz are the image flags. Bonds and coefficients are left out.
"""

import copy
import dataclasses
import re

import numpy as np

from ..fixed_columns import take_until
from ..model import ConvertError, Format, Step, listed
from ..streams import Stream
from .lammps import Header, box_edges, check_count, find_texts, name_columns, read_rows

# Columns of the atom styles, as in the manual of read_data; columns that also occur in dumps have the same names.
STYLES = {name: columns.split() for name, columns in {
    "amoeba": "id mol type q x y z", "angle": "id mol type x y z", "apip": "id type x y z", "atomic": "id type x y z",
    "body": "id type bodyflag mass x y z", "bond": "id mol type x y z", "bpm/sphere": "id mol type diameter density x y z",
    "charge": "id type q x y z",
    "dielectric": "id type q x y z mux muy muz area ed em epsilon curvature", "dipole": "id type q x y z mux muy muz",
    "dpd": "id type theta x y z", "edpd": "id type edpd_temp edpd_cv x y z", "electron": "id type q espin eradius x y z",
    "ellipsoid": "id type ellipsoidflag density x y z", "full": "id mol type q x y z",
    "line": "id mol type lineflag density x y z", "mdpd": "id type rho x y z", "molecular": "id mol type x y z",
    "oxdna": "id type x y z", "peri": "id type volume density x y z",
    "rheo": "id type status rho x y z", "rheo/thermal": "id type status rho esph x y z",
    "smd": "id type mol volume mass kradius cradius x0 y0 z0 x y z", "sph": "id type rho esph cv x y z",
    "sphere": "id type diameter density x y z", "spin": "id type x y z spx spy spz sp",
    "tdpd": "id type x y z",  # and concentrations: _add_concentrations()
    "template": "id type mol template_index template_atom x y z", "tri": "id mol type triangleflag density x y z",
    "wavepacket": "id type q espin eradius etag cs_re cs_im x y z"}.items()}
IMAGES = ["ix", "iy", "iz"]
# Columns after the velocity in the section Velocities.
SPIN = {"sphere": "omega", "bpm/sphere": "omega", "line": "omega", "ellipsoid": "angmom", "tri": "angmom", "body": "angmom"}

NUMBER = r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"
COUNT = re.compile(r"(\d+)\s+(?!.*\b(?:[xyz](?:lo|hi)|x[yz]|yz|[abc]vec)\b)([a-z][a-z ]*)\Z")
BOUNDS = re.compile(rf"{NUMBER}\s+{NUMBER}\s+([xyz])lo\s+\3hi\Z")
TILT = re.compile(rf"{NUMBER}\s+{NUMBER}\s+{NUMBER}\s+xy\s+xz\s+yz\Z")
VECTOR = re.compile(rf"{NUMBER}\s+{NUMBER}\s+{NUMBER}\s+(avec|bvec|cvec|abc origin)\Z")
SECTION = re.compile(rb"^[ \t]*[A-Za-z]", re.MULTILINE)
TOPOLOGY = {"Bonds": "bonds", "Angles": "angles", "Dihedrals": "dihedrals", "Impropers": "impropers"}


class Uncommented(Stream):
    """A Stream that replaces comments with spaces in its blocks."""

    def block(self):
        return _without_comments(super().block())

    def peek(self, count):
        return _without_comments(super().peek(count))


def _without_comments(text):
    text = bytes(text)
    return re.sub(rb"#[^\n]*", lambda found: b" " * len(found[0]), text) if b"#" in text else text


class Top:
    """The header, which precedes the sections."""

    def __init__(self):
        self.comment = ""
        self.counts = {}
        self.bounds = {axis: (-0.5, 0.5) for axis in "xyz"}  # LAMMPS's defaults
        self.tilt = (0.0, 0.0, 0.0)
        self.vectors = {}

    def header(self):
        """Returns a Header for all atoms, without columns."""
        header = Header()
        step = re.search(r"\btimestep = (-?\d{1,18})\b", self.comment)
        units = re.search(r"\bunits = (\w+)", self.comment)
        header.number, header.units = step and int(step[1]), units and units[1]
        header.count, header.section = self.counts["atoms"], "section Atoms"
        if self.vectors:
            header.edges = np.array([self.vectors.get(name, row) for name, row in zip(
                ("avec", "bvec", "cvec"), np.eye(3).tolist())])
            header.origin = np.array(self.vectors.get("abc origin", (0.0, 0.0, 0.0)))
        else:
            bounds = np.array([self.bounds[axis] for axis in "xyz"])
            header.edges, header.origin = box_edges(bounds[:, 1] - bounds[:, 0], self.tilt), bounds[:, 0]
        return header


def steps(path, options):
    with Uncommented(path) as stream:
        top = _read_top(stream)
        header = top.header()
        yield Step(lambda: [_read(stream, top, header, options)], header.number)


def _read_top(stream):
    top = Top()
    top.comment = stream.line() or ""
    while True:
        ahead = Stream.peek(stream, 4096)
        if not ahead or SECTION.match(ahead):
            break
        line = stream.line().partition("#")[0].strip()
        if line:
            _take(top, line, stream.line_number)
    if "atoms" not in top.counts:
        raise ConvertError("its header lacks the number of atoms")
    return top


def _take(top, line, number):
    """Parses one line of the header."""
    for pattern, take in ((BOUNDS, lambda found: top.bounds.update({found[3]: (float(found[1]), float(found[2]))})),
                          (TILT, lambda found: setattr(top, "tilt", tuple(map(float, found.groups())))),
                          (VECTOR, lambda found: top.vectors.update({found[4]: tuple(map(float, found.groups()[:3]))})),
                          (COUNT, lambda found: top.counts.update({" ".join(found[2].split()): int(found[1])}))):
        found = pattern.match(line)
        if found:
            take(found)
            return
    raise ConvertError(f"line {number}: '{line[:60]}' is not a line of the header of a LAMMPS data file")


def _read(stream, top, header, options):
    atoms, style, velocities, others = None, None, {}, []
    about = {"masses": {}, "type_labels": {}}
    while True:
        before, found = take_until(stream, SECTION)
        if before.strip() and (not others or others[-1] is None):
            word = before.split(None, 1)[0].decode("utf-8", "replace")
            raise ConvertError(f"line {stream.line_number}: '{word[:60]}' after the {header.count} lines of a section")
        _check_topology(top, others[-1] if others else None, before, found)
        if not found:
            break
        name, _, comment = (part.strip() for part in stream.line().partition("#"))
        others.append(name if name not in ("Atoms", "Velocities") else None)
        if name == "Atoms":
            style = _style(comment or _style_in(top.comment), options)
            atoms = _read_atoms(stream, header, style, about, options)
        elif name == "Velocities":
            velocities = _read_velocities(stream, header, SPIN.get((style or "").split(" ")[-1]), options)
        elif name in ("Masses", "Atom Type Labels"):
            _read_types(stream, about["masses" if name == "Masses" else "type_labels"], top.counts.get("atom types", 0), name)
    for section, key in TOPOLOGY.items():
        if top.counts.get(key) and section not in others:
            raise ConvertError(f"claims {top.counts[key]} {key}, but has no section {section}: the file is truncated or damaged")
    if atoms is None:
        if header.count:
            raise ConvertError(f"claims {header.count} atoms, but has no section Atoms: the file is truncated or damaged")
        header.columns = STYLES["atomic"]
        atoms = read_rows(stream, header, dataclasses.replace(options, columns=None))
    _add_velocities(atoms, velocities, options)
    lost = [name for name in others if name and name not in ("Masses", "Atom Type Labels")]
    if lost:
        atoms.remarks.append(("sections", f"only atoms are written, not the sections {listed(lost)}"))
    atoms.metadata["lammps"].update({"style": style, "comment": top.comment})
    atoms.metadata["lammps"].update((key, value) for key, value in about.items() if value)
    return atoms


def _check_topology(top, name, text, found):
    """Raises for a section at the end that has fewer lines than the header claims."""
    if found or name not in TOPOLOGY:
        return
    lines, claimed = len(re.findall(rb"^[ \t]*\d", text, re.MULTILINE)), top.counts.get(TOPOLOGY[name], 0)
    if lines < claimed:
        raise ConvertError(f"section {name}: ends after {lines} of {claimed} lines: the file is truncated or damaged")


def _style_in(comment):
    """Returns the atom style in the first line of a file written by TopoTools, or ""."""
    found = re.search(r"\batom_style (\S+)", comment)
    return found[1] if found and found[1] in STYLES else ""


def _style(comment, options):
    """Returns the atom style, or the names of all columns, given by --columns."""
    chosen = options.columns
    if chosen and len(chosen) > 3:
        return " ".join(["columns", *chosen])
    if chosen and len(chosen) == 1:
        comment = chosen[0]
    return " ".join(word.strip() for word in comment.split())


def _columns_of(style, width):
    """Returns the column names of an atom style for rows of `width` values, or None if it is unknown."""
    words = style.split()
    if not words:
        return STYLES["atomic"] if width == 5 else None  # no other style has five columns
    if words[0] == "columns":
        return words[1:]
    if words[0] == "hybrid" and words[1:] and all(word in STYLES for word in words[1:]):
        columns = ["id", "type", "x", "y", "z"]
        for word in words[1:]:
            columns += [name for name in STYLES[word] if name not in columns]
        return columns
    return STYLES.get(style)


def _add_concentrations(columns, words):
    """Returns the columns of the style tdpd, whose rows end with the concentrations of all species. The file does not name
    the number of species: three integers at the end are taken as image flags, which write_data always writes."""
    count = len(words) - len(columns)
    if count >= 3 and all(re.fullmatch(rb"[-+]?\d+", word) for word in words[-3:]):
        count -= 3
    return columns + [f"cc[{i + 1}]" for i in range(count)]


def _read_atoms(stream, header, style, about, options):
    _skip_blanks(stream)
    words = stream.peek(1 << 14).split(b"\n")[0].split()
    width = len(words)
    columns = _columns_of(style, width)
    if style == "tdpd":
        columns = _add_concentrations(columns, words)
    if columns is None:
        what = (f"has the atom style '{style}', whose columns are not known" if style else
                f"does not name its atom style; its rows have {width} values")
        raise ConvertError(f"section Atoms {what}; name the style with --columns, for example --columns full or --columns "
                           "'hybrid charge "
                           f"sphere'; known: {listed(STYLES, 99)}")
    if header.count and width not in (len(columns), len(columns) + 3):
        raise ConvertError(f"section Atoms: its rows have {width} values; the columns {' '.join(columns)} are {len(columns)}, "
                           f"or {len(columns) + 3} "
                           "with image flags")
    header.columns = columns + IMAGES * (width == len(columns) + 3)
    name_columns(header)
    check_count(stream, header)
    find_texts(stream, header)
    atoms = read_rows(stream, header, dataclasses.replace(options, columns=None))
    if style == "tdpd":
        atoms.remarks.append(("tdpd", f"each row is read as {sum(name.startswith('cc[') for name in columns)} concentrations "
                                      f"(cc), {'and image flags' if 'ix' in header.columns else 'without image flags'}"))
    if "type" in atoms.texts:
        _use_numbers_of_types(atoms, about["type_labels"])
    return atoms


def _use_numbers_of_types(atoms, labels):
    """Replaces type labels by type numbers."""
    numbers = {label: number for number, label in labels.items()}
    texts = atoms.texts["type"]
    missing = [text for text in texts if text not in numbers]
    if missing:
        raise ConvertError(f"section Atoms: unknown type label '{missing[0]}'; available: {listed(numbers)}")
    del atoms.texts["type"]
    atoms.metadata["lammps"].pop("texts")
    if atoms.texts:
        atoms.metadata["lammps"]["texts"] = atoms.texts
    atoms.remarks = [remark for remark in atoms.remarks if remark[0] != "texts type"]
    if len(atoms.positions):
        atoms.attributes["type"] = np.array([int(numbers[text]) for text in texts], np.int64)[atoms.attributes["type"]]


def _skip_blanks(stream):
    while True:
        text = Stream.peek(stream, 4096)
        blank = text[:len(text) - len(text.lstrip())]
        end = blank.rfind(b"\n") + 1
        if not end:
            return
        stream.used(end, blank[:end].count(b"\n"))


def _read_velocities(stream, header, spin, options):
    """Returns name -> array, with the ids."""
    _skip_blanks(stream)
    width = len(stream.peek(1 << 14).split(b"\n")[0].split())
    names = {4: [], 5: ["ervel"], 7: ["wx", "wy", "wz"]}.get(width)
    if names is None and header.count:
        raise ConvertError(f"section Velocities: its rows have {width} values; allowed: id vx vy vz, and 1 or 3 more")
    own = copy.copy(header)
    own.section, own.columns, own.texts, own.repeats = "section Velocities", ["id", "vx", "vy", "vz", *(names or [])], (), {}
    check_count(stream, own)
    found = read_rows(stream, own, dataclasses.replace(options, columns=["vx", "vy", "vz"], arrays=None))
    result = {"id": found.attributes["id"], "v": found.positions}
    if names == ["ervel"]:
        result["ervel"] = found.attributes["ervel"]
    elif names:
        result[spin or "omega"] = np.stack([found.attributes[name] for name in names], axis=1)
    return result


def _add_velocities(atoms, velocities, options):
    """Adds velocities in the order of the atoms."""
    if not velocities:
        return
    ids = velocities.pop("id")
    atoms.others |= set(velocities)
    requested = {name: values for name, values in velocities.items() if options.wants(name)}
    own = atoms.attributes.get("id")
    if own is None and requested:
        atoms.remarks.append(("velocities", "velocities are not written without 'id', since ids match them to atoms"))
        return
    if not requested:
        return
    order = slice(None)
    if not np.array_equal(own, ids):
        places = np.argsort(ids, kind="stable")
        order = places[np.minimum(np.searchsorted(ids[places], own), max(0, len(ids) - 1))]
        if len(np.unique(ids)) != len(ids) or not np.array_equal(ids[order], own):
            raise ConvertError("section Velocities: its ids are not those of section Atoms")
    atoms.attributes.update((name, values[order]) for name, values in requested.items())


def _read_types(stream, found, count, section):
    """Reads lines with a type and its mass or label."""
    _skip_blanks(stream)
    while len(found) < count:
        line = stream.line()
        words = (line or "").partition("#")[0].split()
        if line is None or (words and len(words) != 2):
            raise ConvertError(f"section {section}: '{(line or '').strip()[:60]}' after {len(found)} of {count} lines")
        if words:
            found[words[0]] = words[1] if section != "Masses" else _mass(words[1])


def _mass(word):
    try:
        return float(word.replace("_", "?"))
    except ValueError:
        raise ConvertError(f"section Masses: '{word[:60]}' is not a number") from None


def _sniff(head, _):
    text = head.partition(b"\n")[2]
    return re.search(rb"^[ \t]*\d+[ \t]+atoms[ \t\r]*(?:#.*)?$", text, re.MULTILINE) is not None and (
        re.search(rb"^[ \t]*\d+[ \t]+atom types|[xyz]lo [xyz]hi|^Atoms\b", text, re.MULTILINE) is not None)


FORMAT = Format("lammps-data", "LAMMPS data files (read_data, write_data)", steps, extensions=(".lmp", ".lmpdat", ".lammps"),
                sniff=_sniff, options=("columns",))
