# SPDX-License-Identifier: BSD-3-Clause
"""Point clouds of Potree 2: a folder with metadata.json, hierarchy.bin and octree.bin, or its metadata.json. Converts the points
of all levels, with their attributes in the stored types. Encodings: DEFAULT, and BROTLI with the module brotli.

hierarchy.bin is a tree of nodes of 22 bytes: type, child mask, number of points, first byte and size in octree.bin. A node of
type 2 refers to a chunk of hierarchy.bin that begins with the same node. In octree.bin, the points of a node are records of all
attributes; with BROTLI, attributes follow each other, and positions and colours are Morton codes.
"""

import json
import os

import numpy as np

from ..._extras import install
from ..model import Collector, ConvertError, Divided, Format, Step, as_json, check_memory, part_of

NODE = np.dtype([("type", "u1"), ("children", "u1"), ("count", "<u4"), ("place", "<u8"), ("size", "<u8")])
PROXY = 2
FILES = ("metadata.json", "hierarchy.bin", "octree.bin")
TYPES = {"int8": "i1", "uint8": "u1", "int16": "<i2", "uint16": "<u2", "int32": "<i4", "uint32": "<u4", "int64": "<i8",
         "uint64": "<u8", "float": "<f4", "double": "<f8"}
MAX_METADATA = 64 << 20


class Cloud:
    """The content of the metadata and the hierarchy."""

    def __init__(self, path):
        self.folder = _folder(path)
        for name in FILES:
            if not os.path.isfile(os.path.join(self.folder, name)):
                raise ConvertError(f"is not a point cloud of Potree 2: {name} is missing")
        self.about = _metadata(os.path.join(self.folder, FILES[0]))
        try:
            self.version = str(self.about["version"])
            self.encoding = self.about.get("encoding", "DEFAULT")
            self.scale, self.offset = (np.array(self.about[name], float) for name in ("scale", "offset"))
            first = int(self.about["hierarchy"]["firstChunkSize"])
            self.columns = [(str(each["name"]), str(each["type"]), int(each["numElements"]), int(each["size"]))
                            for each in self.about["attributes"]]
        except (KeyError, TypeError, ValueError) as error:
            raise ConvertError(f"metadata.json has no valid {error}") from None
        if self.scale.shape != (3,) or self.offset.shape != (3,):
            raise ConvertError("metadata.json: scale and offset must have three numbers")
        names = {name for name, *_ in self.columns}
        if ("position", "int32", 3, 12) not in self.columns or len(names) < len(self.columns):
            raise ConvertError("metadata.json: attributes need distinct names, and 'position' must have three int32 values")
        if any(size <= 0 or elements <= 0 for *_, elements, size in self.columns):
            raise ConvertError("metadata.json: an attribute has no bytes")
        self.nodes = self._nodes(first)
        self._ends = np.cumsum(self.nodes["count"], dtype=np.int64)
        self.count = int(self._ends[-1]) if len(self._ends) else 0

    def _nodes(self, first):
        """Returns the nodes that have points."""
        data = np.fromfile(os.path.join(self.folder, FILES[1]), np.uint8)
        size = os.path.getsize(os.path.join(self.folder, FILES[2]))
        waiting, found, seen = [(0, first)], [], set()
        while waiting:
            place, length = waiting.pop()
            if place in seen or length <= 0 or length % NODE.itemsize or place + length > len(data):
                raise ConvertError(f"hierarchy.bin: has {len(data)} bytes, but a chunk has {length} bytes from byte {place} on")
            seen.add(place)
            chunk = data[place:place + length].view(NODE)
            is_proxy = chunk["type"] == PROXY
            if is_proxy[0]:
                raise ConvertError(f"hierarchy.bin: the chunk at byte {place} begins with a reference to another one")
            waiting += zip(chunk["place"][is_proxy].tolist(), chunk["size"][is_proxy].tolist())
            found.append(chunk[~is_proxy & (chunk["size"] > 0) & (chunk["count"] > 0)])
        nodes = np.concatenate(found)
        nodes = nodes[np.argsort(nodes["place"], kind="stable")]
        wrong = (nodes["place"] > size) | (nodes["size"] > size - np.minimum(nodes["place"], size))
        if wrong.any():
            node = nodes[wrong][0]
            raise ConvertError(f"octree.bin: has {size} bytes, but a node has {node['size']} bytes at byte {node['place']}")
        if (nodes["place"][1:] < nodes["place"][:-1] + nodes["size"][:-1]).any():
            raise ConvertError("hierarchy.bin: two nodes have the same points")
        return nodes

    def bytes(self):
        return self.count * (sum(size for *_, size in self.columns) + 12)

    def read(self, options, part=0, parts=1):
        first, end = part_of(self.count, part, parts)
        collector = Collector(options, end - first)
        kept = {}
        for name, kind, elements, size in self.columns:
            if name != "position" and not collector.wants(name):
                continue
            if kind not in TYPES or np.dtype(TYPES[kind]).itemsize * elements != size:
                collector.leave_out(name, f"it has {elements} values of type {kind} in {size} bytes")
                continue
            kept[name] = np.empty((end - first, elements)[:1 + (elements > 1)], np.dtype(TYPES[kind]).newbyteorder("="))
        place = 0
        with open(os.path.join(self.folder, FILES[2]), "rb") as file:
            for number in range(int(np.searchsorted(self._ends, first, "right")), len(self.nodes)):
                before = int(self._ends[number]) - int(self.nodes["count"][number])
                if before >= end:
                    break
                values = self._node(file, self.nodes[number], kept)
                taken = slice(max(0, first - before), min(int(self.nodes["count"][number]), end - before))
                for name, array in kept.items():
                    array[place:place + taken.stop - taken.start] = values[name][taken].reshape(-1, *array.shape[1:])
                place += taken.stop - taken.start
                options.at(place / max(1, end - first))
        positions = kept.pop("position") * self.scale + self.offset
        for name, array in kept.items():
            collector.add(name, array)
        claimed = self.about.get("points")
        if isinstance(claimed, int) and claimed != self.count:
            collector.remarks.append(("points", f"metadata.json claims {claimed} points; the octree has {self.count}"))
        about = {name: value for name, value in self.about.items() if name != "hierarchy"}
        return collector.particles(None if options.columns else positions, {"potree": as_json(about)})

    def _node(self, file, node, names):
        """Returns name -> values for the points of a node."""
        count, size = int(node["count"]), int(node["size"])
        file.seek(int(node["place"]))
        data = file.read(size)
        if self.encoding == "BROTLI":
            return self._unpacked(data, count, names)
        width = sum(column[3] for column in self.columns)
        if size != count * width or len(data) < size:
            raise ConvertError(f"octree.bin: a node has {size} bytes for {count} points of {width} bytes")
        rows = np.frombuffer(data, np.uint8).reshape(count, width)
        result, place = {}, 0
        for name, kind, _, bytes_ in self.columns:
            if name in names:
                result[name] = np.ascontiguousarray(rows[:, place:place + bytes_]).view(TYPES[kind])
            place += bytes_
        return result

    def _unpacked(self, data, count, names):
        try:
            import brotli  # pylint: disable=import-outside-toplevel
        except ImportError:
            raise ConvertError("its encoding is BROTLI, which requires brotli: " + install("brotli")) from None
        widths = [16 if name == "position" else 8 if name in ("rgb", "rgba") else size for name, _, _, size in self.columns]
        try:
            data = brotli.decompress(data)
        except brotli.error as error:
            raise ConvertError(f"octree.bin: a node cannot be decompressed: {error}") from None
        if len(data) < count * sum(widths):
            raise ConvertError(f"octree.bin: a node has {len(data)} bytes for {count} points of {sum(widths)} bytes")
        result, place = {}, 0
        for (name, kind, elements, _), width in zip(self.columns, widths):
            block = data[place:place + count * width]
            place += count * width
            if name == "position":
                high, low = np.frombuffer(block, "<u8").reshape(count, 2).T
                result[name] = (_unmixed(low) | _unmixed(high) << 16).view("i4")
            elif name in ("rgb", "rgba"):
                result[name] = _unmixed(np.frombuffer(block, "<u8")).astype("<u2")
            elif name in names:
                result[name] = np.frombuffer(block, TYPES[kind]).reshape(count, elements)
        return result


def _unmixed(codes):
    """Decodes Morton codes into (n, 3) values of 16 bits: the bits 0, 3, 6 ..., the bits 1, 4, 7 ... and the bits 2, 5, 8 ..."""
    result = np.zeros((len(codes), 3), np.uint32)
    for bit in range(16):
        for axis in range(3):
            result[:, axis] |= ((codes >> np.uint64(3 * bit + axis)).astype(np.uint32) & 1) << bit
    return result


def _metadata(path):
    if os.path.getsize(path) > MAX_METADATA:
        raise ConvertError(f"metadata.json has {os.path.getsize(path)} bytes; at most {MAX_METADATA} are allowed")
    try:
        with open(path, encoding="utf-8") as file:
            about = json.load(file)
    except (ValueError, RecursionError) as error:
        raise ConvertError(f"metadata.json is not valid JSON: {str(error)[:200]}") from None
    if not isinstance(about, dict) or not str(about.get("version", "")).startswith("2"):
        raise ConvertError("metadata.json was not written by Potree 2")
    return about


def _folder(path):
    return path if os.path.isdir(path) else os.path.dirname(path) or "."


def steps(path, options):
    cloud = Cloud(path)
    if not cloud.count:
        raise ConvertError("has no points")

    def whole():
        check_memory(f"claims {cloud.count} points", cloud.bytes())
        return [cloud.read(options)]

    yield Step(whole, divided=lambda: [Divided(cloud.bytes(), lambda i, n: cloud.read(options, i, n))])


def _sniff(_, path):
    """Recognizes a folder with the three files, or the metadata.json in it."""
    if not os.path.isdir(path) and os.path.basename(path) != FILES[0]:
        return False
    return all(os.path.isfile(os.path.join(_folder(path), name)) for name in FILES)


FORMAT = Format("potree", "point clouds of Potree 2 (folders)", steps, sniff=_sniff, options=("columns",))
