# SPDX-License-Identifier: BSD-3-Clause
"""Clouds of points: PLY (its vertices), PCD of the Point Cloud Library."""

import numpy as np

from .. import ply_vertices
from ..model import Collector, ConvertError, Format, Step, check_memory

MAX_LZF_RATIO = 88  # bytes that one compressed byte can become: 264 of 3


def ply_steps(path, options):
    yield Step(lambda: [_read_ply(path, options)])


def _read_ply(path, options):
    try:
        layout = ply_vertices.look(path)
        collector = Collector(options, layout.vertex.count)
        values = ply_vertices.read(path, layout)
    except ply_vertices.PlyError as error:
        raise ConvertError(str(error)) from None
    if ply_vertices.lost(layout):
        collector.remarks.append(("elements", ply_vertices.lost(layout)))
    positions = np.stack([values.pop(axis) for axis in "xyz"], axis=1)
    for name, array in ply_vertices.grouped(values).items():
        collector.add(name, array)
    return collector.particles(positions)


def pcd_steps(path, options):
    yield Step(lambda: [_read_pcd(path, options)])


def _read_pcd(path, options):
    from pypcd4 import PointCloud  # pylint: disable=import-outside-toplevel
    width = _check_pcd(path)
    cloud = PointCloud.from_path(path)
    data = cloud.pc_data
    if len(data) != width:
        raise ConvertError(f"ends after {len(data)} of {width} points")
    collector = Collector(options, len(data))
    for name in data.dtype.names:
        if name.startswith("_"):  # what fills gaps between fields
            continue
        if collector.wants(name):
            collector.add(name, np.ascontiguousarray(data[name]))
    return collector.particles(None, {"pcd": {"viewpoint": list(cloud.metadata.viewpoint)}})


def _whole(word):
    if not word.isascii() or not word.isdigit():
        raise ValueError
    return int(word)


def _check_pcd(path):
    """The number of points, which the file must be able to hold."""
    header = {}
    with open(path, "rb") as file:
        for _ in range(100):
            words = file.readline(4096).decode("latin-1").split()
            if words and not words[0].startswith("#"):
                header[words[0].upper()] = words[1:]
            if words[:1] == ["DATA"]:
                break
        else:
            raise ConvertError("has no DATA line in its header")
        start = file.tell()
        left = file.seek(0, 2) - start
        file.seek(start)
        compressed = int.from_bytes(file.read(4), "little")
    try:
        fields = header["FIELDS"]
        sizes = [_whole(size) for size in header["SIZE"]]
        counts = [_whole(count) for count in header.get("COUNT", ["1"] * len(sizes))]
        points = _whole(header["POINTS"][0]) if "POINTS" in header else \
            _whole(header["WIDTH"][0]) * _whole(header["HEIGHT"][0])
        kind = header["DATA"][0]
        if not len(fields) == len(sizes) == len(counts) == len(header["TYPE"]):
            raise ValueError
    except (KeyError, IndexError, ValueError):
        raise ConvertError("has a header whose FIELDS, SIZE, TYPE, COUNT, POINTS, DATA are incomplete or inconsistent") from None
    names = [name for name in fields if not name.startswith("_")]
    if len(set(names)) != len(names):
        raise ConvertError(f"two fields are named '{next(name for name in names if names.count(name) > 1)}'")
    size = sum(size * count for size, count in zip(sizes, counts)) * points
    minimum = {"ascii": 2 * sum(counts) * points - 1, "binary": size, "binary_compressed": compressed + 8}.get(kind)
    if minimum is None:
        raise ConvertError(f"has DATA {kind}; allowed are ascii, binary, binary_compressed")
    if minimum > left:
        raise ConvertError(f"claims {points} points, at least {minimum} bytes, but only {left} bytes are left: the file is truncated or damaged")
    if kind == "binary_compressed" and size > MAX_LZF_RATIO * compressed:
        raise ConvertError(f"claims {points} points, {size} bytes, but its {compressed} compressed bytes contain at most {MAX_LZF_RATIO * compressed}: "
                           "the file is truncated or damaged")
    check_memory(f"claims {points} points", size)
    return points


FORMATS = [
    Format("ply", "PLY vertices", ply_steps, extensions=(".ply",), sniff=lambda head, path: head[:4].strip() == b"ply"),
    Format("pcd", "PCD files of the Point Cloud Library", pcd_steps, extensions=(".pcd",),
           modules=(("pypcd4", "pypcd4", "points"),), options=("columns",),
           sniff=lambda head, path: head.startswith((b"# .PCD", b"VERSION .7", b"VERSION 0.7")))]
