# SPDX-License-Identifier: BSD-3-Clause
"""Point clouds: PLY vertices, and PCD files of the Point Cloud Library."""

import io
import re

import numpy as np

from .. import ply_vertices
from ..model import Collector, ConvertError, Format, Step, check_memory

MAX_LZF_RATIO = 88  # LZF compresses at most 264 bytes into 3


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
    fields, points, has_points = _check_pcd(path)
    try:
        cloud = PointCloud.from_path(path) if has_points else PointCloud.from_fileobj(_with_points(path, points))
        data = np.atleast_1d(cloud.pc_data)  # pypcd4 returns a scalar for a single point in text
    except Exception as error:  # pylint: disable=broad-except
        text = " ".join(str(error).split())
        raise ConvertError(f"pypcd4 cannot read it: {text[:300] or type(error).__name__}") from None
    if len(data) != points:
        raise ConvertError(f"ends after {len(data)} of {points} points")
    collector = Collector(options, points)
    names = iter(data.dtype.names)
    for name, count in fields:
        parts = [next(names) for _ in range(count)]
        if name == "_" or not collector.wants(name):  # PCL calls the padding between fields "_"
            continue
        values = np.stack([data[part].reshape(points) for part in parts], axis=1)
        collector.add(name, _unpack_colours(name, values[:, 0], collector.remarks) if count == 1 else values)
    return collector.particles(None, {"pcd": {"viewpoint": list(cloud.metadata.viewpoint)}})


def _unpack_colours(name, values, remarks):
    """Unpacks `rgb` and `rgba` into uint8 components; PCL packs them into 32 bits of any type. Returns other arrays unchanged."""
    if name not in ("rgb", "rgba") or values.dtype.itemsize != 4:
        return values
    bits = np.ascontiguousarray(values).view(np.uint32)
    colours = np.stack([(bits >> shift & 255).astype(np.uint8) for shift in (16, 8, 0, 24)], axis=1)
    if name == "rgba":
        return colours
    if not np.isin(colours[:, 3], (0, 255)).all():  # PCL sets the first byte to 0 or 255
        is_plain = ((values >= 0) & ((values <= 1) | ((values <= 255) & (values == np.trunc(values))))).all()
        if values.dtype.kind != "f" or is_plain:
            remarks.append(("colours", "'rgb' is unchanged: its values are not colours packed as 0x00RRGGBB or 0xffRRGGBB"))
            return values
        remarks.append(("colours", "'rgb' is read as packed colours 0xXXRRGGBB, although their first byte is neither 0 nor 255"))
    return colours[:, :3]


def _whole(word):
    if not word.isascii() or not word.isdigit():
        raise ValueError
    return int(word)


def _check_pcd(path):
    """Returns pairs of a field and its number of values, the number of points, and whether the header has POINTS. Raises if the
    file is too small for the points."""
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
    names = [name for name in fields if name != "_"]
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
    return list(zip(fields, counts)), points, "POINTS" in header


def _with_points(path, points):
    """Returns the file with POINTS = WIDTH x HEIGHT added, which pypcd4 requires."""
    with open(path, "rb") as file:
        content = file.read()
    place = re.search(rb"^[ \t]*DATA\b", content, re.MULTILINE).start()
    return io.BytesIO(b"%sPOINTS %d\n%s" % (content[:place], points, content[place:]))


FORMATS = [
    Format("ply", "PLY vertices", ply_steps, extensions=(".ply",), sniff=lambda head, path: head[:4].strip() == b"ply"),
    Format("pcd", "PCD files of the Point Cloud Library", pcd_steps, extensions=(".pcd",),
           modules=(("pypcd4", "pypcd4", "points"),), options=("columns",),
           sniff=lambda head, path: head.startswith((b"# .PCD", b"VERSION .7", b"VERSION 0.7")))]
