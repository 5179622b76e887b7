# SPDX-License-Identifier: BSD-3-Clause
"""Point clouds of laser scanners: LAS, LAZ, COPC, with all of their dimensions.

Positions are the stored integers times the scale plus the offset, in double precision."""

import contextlib
import os

import numpy as np

from ..model import Collector, ConvertError, Divided, Format, Step, check_memory, part_of

WKT = ("LASF_Projection", 2112)
GEOTIFF = ("LASF_Projection", 34735)


def steps(path, options):
    yield Step(lambda: [_read(path, options)], divided=lambda: [_divided(path, options)])


@contextlib.contextmanager
def _explained():
    """Turns errors of laspy into a ConvertError."""
    import laspy  # pylint: disable=import-outside-toplevel
    try:
        yield laspy
    except (laspy.LaspyException, ImportError) as error:
        raise ConvertError(f"cannot be read as LAS: {' '.join(str(error).split())[:300]}") from None


def _read(path, options):
    with _explained() as laspy, laspy.open(path) as reader:
        header = reader.header
        _check(path, header)
        check_memory(f"claims {header.point_count} points", header.point_format.size * header.point_count)
        points = reader.read_points(-1)
    if len(points) != header.point_count:
        raise ConvertError(f"ends after {len(points)} of {header.point_count} points")
    return _particles(points, header, options)


def _divided(path, options):
    """Reads a file in parts."""
    with _explained() as laspy, laspy.open(path) as reader:
        header = reader.header
        _check(path, header)
    points = Points(path, header, options)
    return Divided(header.point_count * (header.point_format.size + 24),
                   lambda i, n: points.read(*part_of(header.point_count, i, n)))


class Points:
    """The points of a file, read in ascending order, some at a time."""

    def __init__(self, path, header, options):
        self._path, self._header, self._options = path, header, options
        self._reader, self._at = None, 0

    def read(self, first, end):
        with _explained() as laspy:
            if self._reader is None or first != self._at:
                self._open(laspy, first)
            points = self._reader.read_points(end - first)
            self._at = end
            if len(points) != end - first:
                raise ConvertError(f"ends after {first + len(points)} of {self._header.point_count} points")
            return _particles(points, self._header, self._options)

    def _open(self, laspy, first):
        if self._reader is not None:
            self._reader.close()
        # With several threads, lazrs cannot continue from the middle of a compressed chunk.
        self._reader = laspy.open(self._path, laz_backend=laspy.LazBackend.Lazrs)
        if first:
            self._reader.seek(first)


def _particles(points, header, options):
    collector = Collector(options, len(points))
    for name in points.point_format.dimension_names:
        if name not in ("X", "Y", "Z") and collector.wants(name):
            collector.add(name, np.array(points[name]))
    positions = np.stack([np.array(points[name]) * header.scales[i] + header.offsets[i]
                          for i, name in enumerate("XYZ")], axis=1)
    wkt = [vlr.string for vlr in header.vlrs if (vlr.user_id, vlr.record_id) == WKT and hasattr(vlr, "string")]
    if not wkt and GEOTIFF in [(vlr.user_id, vlr.record_id) for vlr in header.vlrs]:
        collector.remarks.append(("crs", "the coordinate system is not written, since the file names it by GeoTIFF keys; only WKT "
                                         "is kept"))
    about = {"las": {"version": str(header.version), "point_format": header.point_format.id, "scales": header.scales,
                     "offsets": header.offsets, "crs": wkt[0] if wkt else None,
                     "system": header.system_identifier, "software": header.generating_software,
                     "date": str(header.creation_date) if header.creation_date else None}}
    return collector.particles(positions, about)


def _check(path, header):
    size = header.point_format.size * header.point_count
    left = os.path.getsize(path) - header.offset_to_point_data
    if not header.are_points_compressed and size > left:
        raise ConvertError(f"claims {header.point_count} points of {header.point_format.size} bytes, but only {left} bytes are left: the file is "
                           "truncated or damaged")
    if header.are_points_compressed:
        held = _points_in_chunks(path, header)
        if held < header.point_count:
            raise ConvertError(f"claims {header.point_count} points, but its chunks have at most {held}: the file is truncated or damaged")


def _points_in_chunks(path, header):
    """Returns the maximum number of points in the compressed chunks, since laspy would allocate memory for the claimed number."""
    import lazrs  # pylint: disable=import-outside-toplevel
    record = header.vlrs.get("LasZipVlr")
    if not record:
        raise ConvertError("is compressed, but has no LASzip record")
    with open(path, "rb") as file:
        file.seek(header.offset_to_point_data)
        try:
            table = lazrs.read_chunk_table(file, lazrs.LazVlr(record[0].record_data))
        except Exception as error:  # lazrs defines its own types  pylint: disable=broad-except
            raise ConvertError(f"the table of its compressed chunks cannot be read: {error}") from None
    return sum(points for points, _ in table)


FORMAT = Format("las", "LAS, LAZ and COPC files of laser scanners", steps, extensions=(".las", ".laz"),
                modules=(("laspy", "laspy[lazrs]", "lidar"), ("lazrs", "laspy[lazrs]", "lidar")),
                sniff=lambda head, path: head.startswith(b"LASF"))
