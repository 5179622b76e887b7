# SPDX-License-Identifier: BSD-3-Clause
"""Points of Houdini in .bgeo and .geo files: JSON, as text or binary, since Houdini 12, and the binary format of before, version
5. Primitives and texts are left out. Files may be compressed with gzip, or with Blosc (.sc):

    scf1, 8 bytes, chunk, chunk ..., index        each chunk begins with Blosc's header of 16 bytes, which has its sizes
"""

import struct

import numpy as np

from ..._extras import install
from .. import houdini_json
from ..houdini_json import pairs
from ..model import Collector, ConvertError, Format, Step, check_memory
from ..streams import BLOCK, open_stream

CLASSIC = b"BgeoV"
SCF = b"scf1"
SCF_HEADER, BLOSC_HEADER, BLOSC_VERSIONS = 12, 16, (1, 2)
REFUSED = {b"PGEOMETRY": "is a text file from before Houdini 12; save it as .bgeo"}
STORAGES = {"fpreal16": "f2", "fpreal32": "f4", "fpreal64": "f8", "int8": "i1", "int16": "i2", "int32": "i4", "int64": "i8",
            "uint8": "u1", "uint16": "u2", "bool": "u1"}
FLOAT, INTEGER, TEXT, VECTOR = 0, 1, 4, 5


def _content(path):
    """Returns all bytes of a file, decompressed."""
    with open_stream(path) as stream:
        parts, size = [], 0
        while True:
            part = stream.peek(BLOCK)
            if not part:
                return b"".join(parts)
            size += len(part)
            check_memory(f"has more than {size} bytes", 4 * size)
            parts.append(part)
            stream.skip(len(part))


def _decompressed(data):
    """The content of a .sc file."""
    try:
        import blosc  # pylint: disable=import-outside-toplevel
    except ImportError:
        raise ConvertError(f"is compressed with Blosc (.sc), which requires blosc: {install('blosc')}") from None
    parts, place, size = [], SCF_HEADER, 0
    while place + BLOSC_HEADER <= len(data) and data[place] in BLOSC_VERSIONS:
        whole, _, length = struct.unpack("<3I", data[place + 4:place + BLOSC_HEADER])
        if length < BLOSC_HEADER or place + length > len(data):
            raise ConvertError(f"ends within the {length} compressed bytes that start at byte {place}")
        size += whole
        check_memory(f"has {size} bytes, decompressed", 4 * size)
        try:
            part = blosc.decompress(data[place:place + length])
        except (blosc.error, ValueError, RuntimeError) as error:
            raise ConvertError(f"byte {place}: cannot be decompressed: {error}") from None
        if len(part) != whole:
            raise ConvertError(f"byte {place}: has {len(part)} bytes, decompressed, instead of {whole}")
        parts.append(part)
        place += length
    if not parts:
        raise ConvertError(f"byte {SCF_HEADER}: expected compressed data of Blosc")
    return b"".join(parts)


def steps(path, options):
    yield Step(lambda: [_read(path, options)])


def _read(path, options):
    data = _content(path)
    if data.startswith(SCF):
        data = _decompressed(data)
    for magic, words in REFUSED.items():
        if data.startswith(magic):
            raise ConvertError(words)
    if data.startswith(CLASSIC):
        return _read_classic(data, options)
    content = pairs(houdini_json.parse(data))
    count = content.get("pointcount")
    if not isinstance(count, int) or count < 0:
        raise ConvertError("has no pointcount")
    if not count:
        raise ConvertError("has no points")
    collector = Collector(options, count)
    positions = None
    for definition, block in _entries(pairs(content.get("attributes", [])).get("pointattributes", [])):
        name = str(definition.get("name"))
        if name != "P" and not collector.wants(name):
            continue
        values, why = _attribute(definition, block, count, name)
        if values is None:
            collector.leave_out(name, why)
        elif name == "P" and not options.columns:
            positions = values
        else:
            collector.add(name, values)
    if positions is None and not options.columns:
        raise ConvertError("has no point attribute P")
    primitives = content.get("primitivecount", 0)
    if primitives:
        collector.remarks.append(("primitives", f"{primitives} primitives are not written"))
    about = {"houdini": {"version": content.get("fileversion"), **_time(pairs(content.get("info", {})), collector)}}
    return _particles(collector, positions, about)


def _time(info, collector):
    """The time that the file names, for the metadata: many files have 0 in all frames, so that it is not the time of a step."""
    time = info.get("time")
    if not isinstance(time, (int, float)) or isinstance(time, bool) or not time:
        return {}
    collector.remarks.append(("time", f"the file names the time {time}, which is only kept in the metadata, since Houdini often "
                                      "writes 0"))
    return {"time": time}


def _particles(collector, positions, about):
    """Returns the Particles. Positions with 4 values are homogeneous; the last value is an attribute unless it is always 1."""
    if positions is not None and positions.ndim == 2 and positions.shape[1] == 4:
        if (positions[:, 3] != 1).any() and collector.wants("Pw"):
            collector.add("Pw", np.ascontiguousarray(positions[:, 3]))
        positions = np.ascontiguousarray(positions[:, :3])
    return collector.particles(positions, about)


def _entries(attributes):
    for each in attributes:
        if not isinstance(each, list) or len(each) != 2:
            raise ConvertError("a point attribute is not a pair of a definition and values")
        yield pairs(each[0]), pairs(each[1])


def _attribute(definition, block, count, name):
    """Returns (values, None) for an attribute, or (None, why it is left out)."""
    if definition.get("type") != "numeric":
        return None, "it contains texts" if definition.get("type") == "string" else f"it is of type {definition.get('type')}"
    values = pairs(block.get("values", []))
    storage, size = values.get("storage", block.get("storage")), values.get("size", 1)
    if storage not in STORAGES or not isinstance(size, int) or not 0 < size <= 1000:
        return None, f"it has {size} values of type {storage}"
    dtype = np.dtype(STORAGES[storage])
    check_memory(f"'{name}' claims {count} values", count * size * dtype.itemsize)
    try:
        if "tuples" in values:
            array = np.array(values["tuples"], dtype)
        elif "arrays" in values:
            array = np.stack([np.array(each, dtype) for each in values["arrays"]], axis=-1)
        elif "rawpagedata" in values:
            array = _paged(values, count, size, dtype)
        else:
            return None, f"its values are stored in another form: {', '.join(values)}"
    except (ValueError, TypeError, OverflowError, KeyError, IndexError) as error:
        raise ConvertError(f"'{name}': its values are not {size} numbers of type {storage} for each point: {error}") from None
    if array.shape != (count, size):
        raise ConvertError(f"'{name}': has values of shape {array.shape} for {count} points of {size} values")
    return array[:, 0] if size == 1 else array, None


def _paged(values, count, size, dtype):
    """Decodes paged values. Each page stores the parts of a value one after the other; a part that is constant within a page
    is stored once."""
    raw = np.asarray(values["rawpagedata"], dtype).ravel()
    page_size, packing = int(values["pagesize"]), [int(each) for each in values.get("packing", [size])]
    flags = values.get("constantpageflags") or [[] for _ in packing]
    if page_size < 1 or sum(packing) != size or min(packing) < 1 or len(flags) != len(packing):
        raise ValueError(f"pages of {page_size} values in parts of {packing}")
    array, place = np.empty((count, size), dtype), 0
    for number, first in enumerate(range(0, count, page_size)):
        rows, column = min(page_size, count - first), 0
        for width, constant in zip(packing, flags):
            stored = 1 if len(constant) and constant[number] else rows
            part = raw[place:place + stored * width]
            if len(part) < stored * width:
                raise ValueError(f"the pages have {len(raw)} numbers")
            array[first:first + rows, column:column + width] = part.reshape(stored, width)
            place, column = place + stored * width, column + width
    if place != len(raw):
        raise ValueError(f"the pages have {len(raw)} numbers; needed: {place}")
    return array


class Classic:
    """Reads a file of version 5: big-endian, in words of 4 bytes."""

    def __init__(self, data):
        self._data, self._place = data, len(CLASSIC)
        (version, self.points, self.primitives, _, _, self.attributes, *_) = self.numbers("9i")
        if version != 5:
            raise ConvertError(f"is of version {version}; allowed: 5")

    def take(self, count):
        if count < 0 or self._place + count > len(self._data):
            raise ConvertError(f"ends at byte {len(self._data)}, within {count} bytes that start at byte {self._place}")
        self._place += count
        return self._data[self._place - count:self._place]

    def numbers(self, form):
        return struct.unpack(">" + form, self.take(struct.calcsize(">" + form)))

    def text(self):
        return self.take(*self.numbers("H")).decode("utf-8", "replace")

    def attribute(self):
        """Reads the name, type and size of an attribute."""
        name = self.text()
        size, kind = self.numbers("Hi")
        if kind in (FLOAT, INTEGER, VECTOR):
            self.take(4 * size)  # defaults
        elif kind == TEXT:
            for _ in range(*self.numbers("i")):
                self.text()
        else:
            raise ConvertError(f"'{name}' has the type {kind}; allowed: {FLOAT}, {INTEGER}, {TEXT}, {VECTOR}")
        return name, kind, size


def _read_classic(data, options):
    file = Classic(data)
    if file.points < 1 or file.attributes < 0:
        raise ConvertError(f"has {file.points} points" if file.points < 1 else f"claims {file.attributes} attributes")
    attributes = [file.attribute() for _ in range(file.attributes)]
    width = 4 + sum(size for _, _, size in attributes)
    rows = np.frombuffer(file.take(4 * width * file.points), ">u4").reshape(file.points, width).astype("u4")
    collector = Collector(options, file.points)
    place = 4
    for name, kind, size in attributes:
        values = np.ascontiguousarray(rows[:, place:place + size]).view("i4" if kind in (INTEGER, TEXT) else "f4")
        place += size
        if not collector.wants(name):
            continue
        if kind == TEXT:
            collector.leave_out(name, "it contains texts")
        elif size:
            collector.add(name, values[:, 0] if size == 1 else values)
    if file.primitives:
        collector.remarks.append(("primitives", f"{file.primitives} primitives are not written"))
    positions = np.ascontiguousarray(rows[:, :4]).view("f4")
    return _particles(collector, None if options.columns else positions, {"houdini": {"version": 5}})


def _sniff(head, _):
    if head[:5] in houdini_json.MAGICS or head.startswith((CLASSIC, SCF, *REFUSED)):
        return True
    return head.lstrip()[:1] == b"[" and b'"pointcount"' in head and b'"fileversion"' in head


FORMAT = Format("houdini", "points of Houdini (.bgeo, .geo, .bgeo.sc)", steps, extensions=(".bgeo", ".bgeo.sc"), sniff=_sniff,
                options=("columns",))
