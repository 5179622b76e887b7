# SPDX-License-Identifier: BSD-3-Clause
"""Lagrangian clouds in OpenFOAM cases: a folder, or CASE/NAME.foam in it.

    case/0.5/lagrangian/kinematicCloud/positions    times, clouds (species), fields
    case/0.5/uniform/time                           time and step number (index)
    case/processor0/0.5/...                         pieces, if the case is not reconstructed

VTK's reader converts all numbers to float32. Here they keep their precision: ASCII scalars become float64, and labels have
the size stated in the header. The cell of a particle becomes the attribute `cell`.
"""

import contextlib
import gzip
import os
import re

import numpy as np

from ..blocks import join_blocks
from ..model import Collector, ConvertError, Format, Step, check_memory, listed

COMPONENTS = {"scalarField": 1, "vectorField": 3, "tensorField": 9, "symmTensorField": 6, "sphericalTensorField": 1,
              "labelField": 1}
CASES = (".foam", ".openfoam")
MAX_HEADER = 1 << 16

_COMMENT = re.compile(rb"/\*.*?\*/|//[^\n]*", re.S)
_HEADER = re.compile(rb"\s*FoamFile\s*\{(.*?)\}", re.S)
_ENTRY = re.compile(rb"(\w+)\s+(\"[^\"]*\"|[^;]*);")
_TIME = re.compile(r"[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?\Z")


def steps(path, options):
    case = path if os.path.isdir(path) else os.path.dirname(path)
    folders = [case] if _times(case) else sorted(
        (os.path.join(case, name) for name in os.listdir(case or ".") if re.fullmatch(r"processor\d+", name)),
        key=lambda name: int(re.search(r"(\d+)\Z", name)[1]))
    times = {}
    for folder in folders:
        for name in _times(folder):
            times.setdefault(float(name), []).append(os.path.join(folder, name))
    if not times:
        raise ConvertError("has no lagrangian clouds: no folder TIME/lagrangian/CLOUD with a file positions")
    for value in sorted(times):
        number, exact = _time_file(times[value][0])
        yield Step(lambda pieces=times[value]: _read(pieces, options), number, value if exact is None else exact)


def _times(folder):
    """Returns the names of time folders that have clouds."""
    with contextlib.suppress(OSError), os.scandir(folder or ".") as entries:
        return [entry.name for entry in entries
                if _TIME.match(entry.name) and os.path.isdir(os.path.join(entry.path, "lagrangian"))]
    return []


def _time_file(folder):
    """Returns (step number, time) from TIME/uniform/time, each None if missing."""
    with contextlib.suppress(OSError, ConvertError, ValueError, KeyError):
        content = _content(os.path.join(folder, "uniform", "time"))
        header, body = _split(content)
        if header.get("format", "ascii") == "ascii":
            entries = {key.decode(): value for key, value in _ENTRY.findall(_COMMENT.sub(b"", body))}
            value = float(entries["value"])
            return int(entries["index"]), value if np.isfinite(value) else None
    return None, None


def _read(pieces, options):
    found = []
    clouds = sorted({name for piece in pieces for name in os.listdir(os.path.join(piece, "lagrangian"))
                     if os.path.isdir(os.path.join(piece, "lagrangian", name))})
    requested = [name for name in clouds if options.species is None or name in options.species or len(clouds) == 1]
    for i, name in enumerate(requested or clouds):
        for piece in pieces:
            folder = os.path.join(piece, "lagrangian", name)
            if os.path.isdir(folder):
                found.append((name, _cloud(folder, options), folder))
        options.at((i + 1) / len(requested or clouds))
    if not found:
        raise ConvertError(f"{pieces[0]}: has no clouds")
    return join_blocks(found, options)


def _cloud(folder, options):
    names = {name[:-3] if name.endswith(".gz") else name: os.path.join(folder, name) for name in sorted(os.listdir(folder))}
    if "positions" not in names:
        if not names:
            return Collector(options, 0).particles(np.empty((0, 3)))
        raise ConvertError(f"{folder}: has no file positions" + (
            "; its coordinates are relative to mesh cells" if "coordinates" in names else f"; available: {listed(names)}"))
    positions, cells = _positions(names.pop("positions"))
    collector = Collector(options, len(positions))
    for name, path in names.items():
        if name in ("coordinates", "cloudProperties") or os.path.isdir(path) or not collector.wants(name):
            continue
        array, why = _field(path)
        if array is not None and len(array) != len(positions):
            array, why = None, f"it has {len(array)} values for {len(positions)} particles"
        if array is None:
            collector.leave_out(name, why)
        else:
            collector.add(name, array)
    if "cell" not in collector.arrays and collector.wants("cell"):
        collector.add("cell", cells)
    return collector.particles(positions, {"openfoam": {"cloud": os.path.basename(folder)}})


# --- Files

def _content(path):
    size = os.path.getsize(path)
    check_memory(f"{path}: has {size} bytes", 4 * size)
    if not os.path.isfile(path):
        raise ConvertError(f"{path}: is not a regular file")
    try:
        with gzip.open(path) if path.endswith(".gz") else open(path, "rb") as file:
            return file.read()
    except (EOFError, gzip.BadGzipFile) as error:
        raise ConvertError(f"{path}: cannot be decompressed: {error}") from None


def _split(content):
    """Returns (header entries, bytes after the header)."""
    place = 0
    while True:  # skips comments before the header
        match = re.compile(rb"\s*(/\*.*?\*/|//[^\n]*)", re.S).match(content, place)
        if not match:
            break
        place = match.end()
    found = _HEADER.match(content, place, place + MAX_HEADER)
    if not found:
        raise ConvertError("has no FoamFile header")
    entries = {key.decode(): value.strip(b"\" ").decode("latin-1") for key, value in _ENTRY.findall(_COMMENT.sub(b"", found[1]))}
    return entries, content[found.end():]


class _List:
    """The list after the header of a file: N(...), N{value}, or (...)."""

    def __init__(self, path):
        self.path = path
        try:
            self.header, body = _split(_content(path))
        except ConvertError as error:
            raise ConvertError(str(error) if path in str(error) else f"{path}: {error}") from None
        arch = dict(word.split("=") for word in self.header.get("arch", "").split(";") if word.count("=") == 1)
        self.order = ">" if "MSB" in self.header.get("arch", "") else "<"
        self.label = np.dtype({"32": "i4"}.get(arch.get("label", ""), "i8" if "label" in arch else "i4"))
        self.scalar = np.dtype({"32": "f4"}.get(arch.get("scalar"), "f8"))
        self.is_binary = self.header.get("format") == "binary"
        match = re.compile(rb"(\s|/\*.*?\*/|//[^\n]*)*(\d+)?\s*([({])?", re.S).match(body)
        self.count = int(match[2]) if match[2] else None
        self.is_uniform = match[3] == b"{"
        self.body = body[match.end():]
        if match[3] is None:
            if self.count != 0:
                raise ConvertError(f"{path}: has no list after its header")
            self.body = b""
        if self.count is None:
            if self.is_binary:
                raise ConvertError(f"{path}: has no number of values")

    def fail(self, found):
        raise ConvertError(f"{self.path}: claims {self.count} values, but has {found}: the file is truncated or damaged")

    def words(self, width):
        """Returns the words of an ASCII list, `width` per value; for a uniform list, those of one value."""
        end = self.body.rfind(b"}" if self.is_uniform else b")")
        if end < 0 and self.body:
            raise ConvertError(f"{self.path}: the list does not end: the file is truncated or damaged")
        words = _COMMENT.sub(b"", self.body[:max(0, end)]).translate(bytes.maketrans(b"()", b"  ")).split()
        if self.is_uniform:
            if len(words) != width or self.count is None:
                raise ConvertError(f"{self.path}: a uniform value of {len(words)} numbers; expected {width}")
            check_memory(f"{self.path}: claims {self.count} values", 8 * width * self.count)
            return words
        if self.count is None:
            self.count = len(words) // width
        if len(words) != self.count * width:
            self.fail(f"{len(words)} numbers of {self.count * width}")
        return words


def _numbers(words, dtype, path):
    try:
        if dtype.kind == "f":
            return np.array(words, dtype="S").astype(np.float64) if words else np.empty(0)
        values = np.array([int(word) for word in words], np.int64)
    except (ValueError, OverflowError) as error:
        raise ConvertError(f"{path}: {error}") from None
    return values.astype(dtype) if dtype.itemsize == 4 and (np.abs(values) < 2 ** 31).all() else values


def _positions(path):
    """Returns (positions, cells)."""
    data = _List(path)
    if not data.is_binary:
        first = re.match(rb"\s*\(([^()]*)\)", data.body)
        if first and len(first[1].split()) == 4:
            raise ConvertError(f"{path}: the positions are relative to mesh cells (four numbers each), which requires the mesh")
        words = data.words(4) * (data.count if data.is_uniform else 1)
        xyz = [word for i in range(3) for word in words[i::4]]
        return _numbers(xyz, np.dtype("f8"), path).reshape(3, -1).T.copy(), _numbers(words[3::4], data.label, path)
    row = np.dtype([("position", data.order + "f8" if data.scalar.itemsize == 8 else data.order + "f4", 3),
                    ("cell", data.label.newbyteorder(data.order))])
    size = row.itemsize + 2  # each row is a list of bytes in brackets, followed by a line end
    raw = np.frombuffer(data.body, np.uint8)
    start = 1 if data.body.startswith(b"\n") else 0
    step = size + (1 if data.body[start + size:start + size + 1] == b"\n" else 0)
    if start + data.count * step > len(raw) + step - size:
        data.fail(f"{len(raw)} bytes")
    rows = np.zeros((data.count, step), np.uint8)
    flat = raw[start:start + data.count * step]
    rows.reshape(-1)[:len(flat)] = flat
    if data.count and ((rows[:, 0] != ord("(")).any() or (rows[:, size - 1] != ord(")")).any()):
        raise ConvertError(f"{path}: the binary positions are not as expected: the file is damaged or of an unknown version")
    values = np.ascontiguousarray(rows[:, 1:size - 1]).view(row).reshape(-1)
    return (values["position"].astype(values["position"].dtype.newbyteorder("=")), values["cell"].astype(data.label))


def _field(path):
    """Returns (values, None), or (None, why they are not read)."""
    data = _List(path)
    kind = data.header.get("class", "")
    width = COMPONENTS.get(kind)
    if width is None:
        return None, f"it is a {kind or 'file without a class'}"
    dtype = data.label if kind == "labelField" else data.scalar if data.is_binary else np.dtype("f8")
    if not data.is_binary or data.is_uniform:
        if data.is_binary:
            return None, "it is a uniform binary list"
        values = _numbers(data.words(width), dtype, path)
        if data.is_uniform:
            values = np.tile(values, data.count)
    else:
        need = data.count * width * dtype.itemsize
        if need > len(data.body):
            data.fail(f"{len(data.body)} bytes")
        values = np.frombuffer(data.body[:need], dtype.newbyteorder(data.order)).astype(dtype)
    return (values if width == 1 else values.reshape(-1, width)), None


def _sniff(_, path):
    """Returns whether a path is a case: a file CASE/NAME.foam, or a folder with clouds."""
    if os.path.isfile(path):
        return path.lower().endswith(CASES)
    if not os.path.isdir(path):
        return False
    return os.path.isfile(os.path.join(path, "system", "controlDict")) or bool(
        _times(path) or _times(os.path.join(path, "processor0")))


FORMAT = Format("openfoam", "lagrangian clouds of OpenFOAM cases (folders)", steps, extensions=CASES, sniff=_sniff)
