# SPDX-License-Identifier: BSD-3-Clause
"""E57 scans (ASTM E2807) with all of their fields. If a file has several scans, each becomes a species.

Integers get the smallest type that holds the range declared in the file. Positions are Cartesian coordinates. They are
computed from spherical coordinates if a scan has no others, and rotated and translated by the pose of the scan if it
has one, in double precision; otherwise they are unchanged.
"""

import numpy as np

from ..model import Collector, ConvertError, Format, Step, check_memory

MAGIC = b"ASTM-E57"
CARTESIAN = ("cartesianX", "cartesianY", "cartesianZ")
SPHERICAL = ("sphericalRange", "sphericalAzimuth", "sphericalElevation")
COLOURS = ("colorRed", "colorGreen", "colorBlue")
INTEGERS = tuple(map(np.dtype, ("u1", "i1", "u2", "i2", "u4", "i4", "i8")))


def steps(path, options):
    yield Step(lambda: _read(path, options))


def _read(path, options):
    import pye57  # pylint: disable=import-outside-toplevel
    from pye57 import libe57  # pylint: disable=import-outside-toplevel
    try:
        with pye57.E57(path) as file:
            count = file.scan_count
            if not count:
                raise ConvertError("has no scans")
            result = []
            for i in range(count):
                species = f"scan{i}" if count > 1 else ""
                if options.species is None or species in options.species:
                    result.append(_scan(libe57, file, i, species, options))
                options.at((i + 1) / count)
            if not result:
                raise ConvertError(f"unknown species {', '.join(options.species)}; available: scan0 ... scan{count - 1}"
                                   if count > 1 else "argument --species: a single scan has no name")
            return result
    except libe57.E57Exception as error:
        raise ConvertError(f"cannot be read as E57: {str(error).splitlines()[0][:300]}") from None


def _scan(libe57, file, i, species, options):
    header = file.get_header(i)
    prototype = libe57.StructureNode(header.points.prototype())
    nodes = {name: prototype[name] for name in header.point_fields}
    collector = Collector(options, header.point_count)
    axes = next((names for names in (CARTESIAN, SPHERICAL) if all(name in nodes for name in names)), None)
    if axes is None:
        raise ConvertError(f"scan {i}: no positions: neither {' '.join(CARTESIAN)} nor {' '.join(SPHERICAL)}")
    requested = [name for name in nodes if collector.wants(name) or name in axes
              or (name in COLOURS and collector.wants("RGB"))]
    values = _values(libe57, file, header, {name: nodes[name] for name in requested}, f"scan {i}")
    positions = [values.pop(name) for name in axes]
    if axes is SPHERICAL:
        values.update(zip(axes, positions))
        distance, azimuth, elevation = (array.astype(np.float64) for array in positions)
        positions = [distance * np.cos(elevation) * np.cos(azimuth), distance * np.cos(elevation) * np.sin(azimuth),
                     distance * np.sin(elevation)]
        collector.remarks.append(("spherical", "positions are computed from spherical coordinates, which are kept as attributes"))
    positions = _moved(header, np.stack(positions, axis=1), collector.remarks, i)
    for name in ("cartesianInvalidState", "sphericalInvalidState"):
        if name in values and values[name].any():
            collector.remarks.append((name, f"points without valid coordinates are also written, marked by '{name}'"))
    if all(name in values and values[name].dtype == values[COLOURS[0]].dtype for name in COLOURS):
        collector.add("RGB", np.stack([values.pop(name) for name in COLOURS], axis=1))
    for name, array in values.items():
        collector.add(name, array)
    about = {name: header[name].value() for name in ("guid", "name", "description", "sensorVendor", "sensorModel")
             if name in header.scan_fields}
    for name in ("acquisitionStart", "acquisitionEnd"):
        if name in header.scan_fields:
            about[name] = header[name]["dateTimeValue"].value()  # seconds of GPS
    pose = {"rotation": header.rotation, "translation": header.translation} if header.has_pose() else None
    return collector.particles(positions, {"e57": {"scan": i, **about, "pose": pose}, "units": {"positions": "m"}}, species)


def _values(libe57, file, header, nodes, where):
    """Returns the arrays by name."""
    count = header.point_count
    check_memory(f"{where}: claims {count} points of {len(nodes)} fields", 8 * count * len(nodes))
    arrays, buffers = {}, libe57.VectorSourceDestBuffer()
    for name, node in nodes.items():
        if isinstance(node, libe57.IntegerNode):
            kind = "q"
        elif isinstance(node, libe57.FloatNode) and node.precision() == libe57.E57_SINGLE:
            kind = "f"
        elif isinstance(node, (libe57.FloatNode, libe57.ScaledIntegerNode)):
            kind = "d"
        else:
            raise ConvertError(f"{where}: {name} is not numeric; choose others with --arrays")
        arrays[name] = np.empty(count, kind)
        buffers.append(libe57.SourceDestBuffer(file.image_file, name, arrays[name], count, True, True))
    if count:
        reader = header.points.reader(buffers)
        found = reader.read()
        reader.close()
        if found != count:
            raise ConvertError(f"{where}: ends after {found} of {count} points")
    for name, node in nodes.items():
        if isinstance(node, libe57.IntegerNode):
            arrays[name] = arrays[name].astype(next(
                kind for kind in INTEGERS if np.iinfo(kind).min <= node.minimum() and node.maximum() <= np.iinfo(kind).max))
    return arrays


def _moved(header, positions, remarks, number):
    """Applies the pose, one product after the other, since the summation order of a matrix product depends on the machine."""
    rotation, translation = (np.asarray(each, np.float64) for each in (header.rotation, header.translation))
    if not header.has_pose() or (not translation.any() and not rotation[1:].any() and rotation[0]):
        return positions
    length = np.sqrt((rotation ** 2).sum())
    if not 0 < length < np.inf or not np.isfinite(translation).all():
        raise ConvertError(f"scan {number}: its pose has rotation {rotation.tolist()} and translation {translation.tolist()}; they must be finite, and "
                           "the rotation must not be 0")
    remarks.append(("pose", "positions are rotated and translated by the pose of the scan, stored in the metadata"))
    w, x, y, z = rotation / length
    matrix = [[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
              [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
              [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]
    columns = positions.astype(np.float64).T
    return np.stack([row[0] * columns[0] + row[1] * columns[1] + row[2] * columns[2] + moved
                     for row, moved in zip(matrix, translation)], axis=1)


FORMAT = Format("e57", "E57 files of laser scanners", steps, extensions=(".e57",), modules=(("pye57", "pye57", "e57"),),
                sniff=lambda head, path: head.startswith(MAGIC))
