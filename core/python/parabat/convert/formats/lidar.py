"""Clouds of points of laser scanners: LAS, LAZ, COPC, with all of their dimensions.

Positions are what the file means, its integers times the scale plus the offset, in double precision."""

import os

import numpy as np

from ..model import Collector, ConvertError, Format, Step, memory

WKT = ("LASF_Projection", 2112)


def steps(path, options):
    yield Step(lambda: [_read(path, options)])


def _read(path, options):
    import laspy  # pylint: disable=import-outside-toplevel
    try:
        with laspy.open(path) as reader:
            header = reader.header
            _check(path, header)
            points = reader.read_points(-1)
    except (laspy.LaspyException, ImportError) as error:
        raise ConvertError(f"cannot be read as LAS: {' '.join(str(error).split())[:300]}") from None
    if len(points) != header.point_count:
        raise ConvertError(f"ends after {len(points)} of {header.point_count} points")
    collector = Collector(options, len(points))
    for name in points.point_format.dimension_names:
        if name not in ("X", "Y", "Z") and collector.wants(name):
            collector.add(name, np.array(points[name]))
    positions = np.stack([np.array(points[name]) * header.scales[i] + header.offsets[i]
                          for i, name in enumerate("XYZ")], axis=1)
    wkt = [vlr.string for vlr in header.vlrs if (vlr.user_id, vlr.record_id) == WKT and hasattr(vlr, "string")]
    about = {"las": {"version": str(header.version), "point_format": header.point_format.id, "scales": header.scales,
                     "offsets": header.offsets, "crs": wkt[0] if wkt else None,
                     "system": header.system_identifier, "software": header.generating_software,
                     "date": str(header.creation_date) if header.creation_date else None}}
    return collector.particles(positions, about)


def _check(path, header):
    size = header.point_format.size * header.point_count
    left = os.path.getsize(path) - header.offset_to_point_data
    if not header.are_points_compressed and size > left:
        raise ConvertError(f"claims {header.point_count} points of {header.point_format.size} bytes; only {left} bytes "
                           "are left, so the file is cut or damaged")
    if size > memory():
        raise ConvertError(f"claims {header.point_count} points, more than the memory of this machine holds")


FORMAT = Format("las", "LAS, LAZ, COPC of laser scanners", steps, extensions=(".las", ".laz"),
                modules=(("laspy", "laspy[lazrs]", "lidar"),),
                sniff=lambda head, path: head.startswith(b"LASF"))
