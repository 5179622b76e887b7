# SPDX-License-Identifier: BSD-3-Clause
"""Extended XYZ: a comment line with the columns, the box and the time, and a line for each particle.

    3
    Lattice="10.0 0.0 0.0 0.0 9.0 0.0 0.0 0.0 8.0" pbc="T T F" Properties=pos:R:3:id:I:1:velocity:R:3 Time=0.5 Step=100
    1.0 2.0 3.0 7 0.1 0.2 0.3
"""

import re

import numpy as np

from ..errors import refuse
from .source import UNKNOWN, unique_names, write_rows

SPECIES = ("species", "element")
MAX_INT64 = 2 ** 63 - 1


def write_xyz(source, path):
    properties, columns = [], []
    names = unique_names(source, lambda name: re.sub(r"[\s:=\"'{}\[\]\\,]", "_", name), taken=("pos",))
    species = next((name for requested in SPECIES for _, name in names if name == requested and _words(source, name)), None)
    for written, name in sorted(names, key=lambda each: each[1] != species):
        if name == species:
            if written != SPECIES[0] and any(written == SPECIES[0] for written, _ in names):
                refuse(f"both '{name}' and '{SPECIES[0]}' would be the species; exclude one with --attributes")
            properties.append((SPECIES[0], "S", 1))
            columns.append(_words(source, name))
            properties.append(("pos", "R", 3))
            columns += [source.positions[:, i] for i in range(3)]
    if not properties:
        properties.append(("pos", "R", 3))
        columns += [source.positions[:, i] for i in range(3)]
    for written, name in names:
        values = source.attributes[name]
        if name == species:
            continue
        if _words(source, name):
            properties.append((written, "S", 1))
            columns.append(_words(source, name))
            continue
        source.has_only_codes("extended XYZ", [name])
        if values.dtype.kind == "u" and len(values) and int(values.max()) > MAX_INT64:
            source.leave_out(name, "it has integers of 2^63 and more, which extended XYZ cannot store")
        else:
            width = 1 if values.ndim == 1 else values.shape[1]
            if values.dtype.kind in "iu" and len(values) and not -2 ** 31 <= int(values.min()) <= int(values.max()) < 2 ** 31:
                source.note(f"'{name}' has integers of more than 32 bits, which ASE does not read")
            properties.append((written, "R" if values.dtype.kind == "f" else "I", width))
            columns += [values] if values.ndim == 1 else [values[:, i] for i in range(width)]
    source.has_no_place("extended XYZ", "units")
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(f"{source.count}\n{_comment(source, properties)}\n")
        write_rows(file, columns, source.count)


def _comment(source, properties):
    words = []
    box = source.box
    if box is not None:
        words.append(f'Lattice="{" ".join(map(repr, np.asarray(box.edges, float).reshape(-1).tolist()))}"')
        if np.any(box.origin):
            words.append(f'Origin="{" ".join(map(repr, np.asarray(box.origin, float).tolist()))}"')
    periodic = source.pbc or UNKNOWN if box is None else box.periodic
    if None not in periodic:
        words.append(f'pbc="{" ".join("T" if each else "F" for each in periodic)}"')
    elif box is not None:
        source.note("the dataset does not state along which axes its box is periodic, so the file has no pbc; without it, "
                    "extended XYZ assumes all axes")
    words.append("Properties=" + ":".join(f"{name}:{kind}:{width}" for name, kind, width in properties))
    if source.time is not None:
        words.append(f"Time={source.time!r}")
    if source.step is not None:
        words.append(f"Step={source.step}")
    return " ".join(words)


def _words(source, name):
    """Returns a function (first, end) -> list of texts for an attribute that is codes; None for others."""
    known = source.texts(name)
    if known is None or not all(re.fullmatch(r"\S+", text) for text in known):
        return None
    values = source.attributes[name]
    return lambda first, end: [known[code] for code in values[first:end].tolist()]
