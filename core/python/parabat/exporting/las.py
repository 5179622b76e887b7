# SPDX-License-Identifier: BSD-3-Clause
"""LAS 1.4, LAZ and COPC through laspy. Attributes with the name and range of a standard dimension become it; others are extra
dimensions in their type.

LAS holds coordinates as 32-bit integers times a scale plus an offset. Scale and offset are those in the metadata of a
converted file if they give the same coordinates, else the finest power of ten that the integers can hold; if that rounds
coordinates, a note says by how much.
"""

import numpy as np

from ..errors import refuse
from ..export import needed
from . import copc
from .source import unique_names

MAX_INTEGER = 2 ** 31 - 1
MAX_NAME = 32           # maximum bytes in the name of an extra dimension
MAX_COMPONENTS = 3      # maximum components of an extra dimension
COLOURS = ("red", "green", "blue")


def write_las(source, path):
    _write(source, path, False)


def write_laz(source, path):
    lazrs = needed("lazrs", "export to .laz")
    if source.target.lower().endswith(".copc.laz"):
        laspy, header, record = _points(source)
        copc.write(laspy, lazrs, path, header, record)
        return
    _write(source, path, True)


def _write(source, path, is_compressed):
    laspy, header, record = _points(source)
    with laspy.open(path, mode="w", header=header, do_compress=is_compressed) as writer:
        writer.write_points(record)


def _points(source):
    """laspy, a header, and the record of all points."""
    laspy = needed("laspy", "export to LAS")
    source.has_no_place("LAS", "time", "step", "units", "periodic box")
    source.has_only_codes("LAS")
    point_format = _point_format(source)
    header = laspy.LasHeader(point_format=point_format, version="1.4")
    header.scales, header.offsets, integers = _integers(source)
    header.generating_software = "ParaBAT"
    _add_crs(laspy, header, source)
    standard, extra = _dimensions(laspy, source, header)
    header.add_extra_dims([laspy.ExtraBytesParams(name=name, type=_type(values)) for name, values in extra])
    record = laspy.ScaleAwarePointRecord.zeros(source.count, header=header)
    for i, axis in enumerate("XYZ"):
        record[axis] = integers[:, i]
    for name, values in standard + extra:
        record[name] = values
    return laspy, header, record


def _point_format(source):
    """Returns the point format that has the dimensions of the attributes: that of a converted file, or one with colours."""
    kept = source.program("las").get("point_format")
    if kept in (6, 7, 8):
        return kept
    names = {name.lower() for name in source.attributes}
    if "nir" in names:
        return 8
    return 7 if set(COLOURS) <= names else 6


def _integers(source):
    """Returns (scales, offsets, integers) for the coordinates."""
    positions = source.positions.astype(np.float64)
    if not np.isfinite(positions).all():
        refuse("LAS cannot store positions that are not finite; select others with --box")
    about = source.program("las")
    scales, offsets = (np.array(about.get(name, []), float) for name in ("scales", "offsets"))
    if scales.shape == offsets.shape == (3,) and (scales > 0).all():
        integers = np.rint((positions - offsets) / scales)
        if (np.abs(integers) <= MAX_INTEGER).all() and np.array_equal(integers * scales + offsets, positions):
            return scales, offsets, integers.astype(np.int32)
    low, high = (positions.min(axis=0), positions.max(axis=0)) if source.count else (np.zeros(3), np.zeros(3))
    offsets = np.where(np.maximum(np.abs(low), np.abs(high)) <= high - low, 0.0, np.floor(low))
    farthest = np.maximum(np.maximum(np.abs(low - offsets), np.abs(high - offsets)), 1e-300)
    powers = np.ceil(np.log10(farthest / MAX_INTEGER))
    scales = np.array([float(f"1e{int(power)}") for power in np.clip(powers, -300, 300)])
    integers = np.rint((positions - offsets) / scales)
    error = np.abs(integers * scales + offsets - positions).max() if source.count else 0.0
    if error:
        source.note(f"positions are rounded by at most {error:.3g}, since LAS stores 32-bit integers: scales "
                    + " ".join(f"{scale:g}" for scale in scales))
    return scales, offsets, integers.astype(np.int32)


def _add_crs(laspy, header, source):
    wkt = source.program("las").get("crs")
    if isinstance(wkt, str) and wkt:
        header.vlrs.append(laspy.vlrs.known.WktCoordinateSystemVlr(wkt))
        header.global_encoding.wkt = True


def _dimensions(laspy, source, header):
    """Returns pairs of a name and values, for standard dimensions and for extra ones."""
    standard, extra, taken = [], [], set(header.point_format.dimension_names) | {"X", "Y", "Z", "x", "y", "z"}
    for written, name in unique_names(source, lambda name: name.replace("\0", "_")):
        values = source.attributes[name]
        if _fits(laspy, header, written, values):
            standard.append((written, values))
            continue
        if len(written.encode()) > MAX_NAME:
            source.leave_out(name, f"LAS names have at most {MAX_NAME} bytes")
            continue
        parts = [(written, values)] if values.ndim == 1 or values.shape[1] <= MAX_COMPONENTS else [
            (f"{written}_{i}"[-MAX_NAME:], values[:, i]) for i in range(values.shape[1])]
        if len(parts) > 1:
            source.note(f"'{name}' has {len(parts)} components and becomes {parts[0][0]} ... {parts[-1][0]}")
        for part, column in parts:
            if part in taken:
                extra_name = f"{part}_"[-MAX_NAME:]
                source.note(f"'{part}' does not fit into the LAS dimension of that name; it is written as '{extra_name}'")
                part = extra_name
            if part in taken:
                refuse(f"two dimensions would be called '{part}'; exclude one with --attributes")
            taken.add(part)
            extra.append((part, np.ascontiguousarray(column)))
    return standard, extra


def _fits(laspy, header, name, values):
    """Returns whether an attribute has a standard dimension that can store all of its values."""
    if name not in header.point_format.standard_dimension_names or name in ("X", "Y", "Z") or values.ndim > 1:
        return False
    about = header.point_format.dimension_by_name(name)
    if about.kind == laspy.DimensionKind.FloatingPoint:
        return values.dtype == np.float64
    return values.dtype.kind in "iu" and (not len(values) or (about.min <= int(values.min()) and int(values.max()) <= about.max))


def _type(values):
    width = 1 if values.ndim == 1 else values.shape[1]
    return f"{width if width > 1 else ''}{values.dtype.kind}{values.dtype.itemsize}"
