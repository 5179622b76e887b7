# SPDX-License-Identifier: BSD-3-Clause
"""GSD files of HOOMD-blue: stored and logged values per particle, without the defaults of the schema."""

import numpy as np

from ..model import Collector, ConvertError, Format, Step

FIELDS = ("typeid", "mass", "charge", "diameter", "body", "moment_inertia", "orientation", "velocity", "angmom", "image")
MAGIC = (0x65DF65DF65DF65DF).to_bytes(8, "little")


def steps(path, options):
    import gsd.hoomd  # pylint: disable=import-outside-toplevel
    try:
        trajectory = gsd.hoomd.open(path, "r")
    except (RuntimeError, OSError) as error:
        if isinstance(error, OSError) and error.errno not in (None, 0):
            raise
        raise ConvertError(f"cannot be read as HOOMD GSD: {error}") from None
    with trajectory:
        for i in range(len(trajectory)):
            yield Step(lambda i=i: [_read(trajectory, i, options)], _number(trajectory, i))


def _number(trajectory, i):
    file = trajectory.file
    if file.chunk_exists(frame=i, name="configuration/step"):
        return int(file.read_chunk(frame=i, name="configuration/step")[0])
    return 0 if i == 0 else None


def _stored(file, i, name):
    """Returns the frame that stores a chunk of frame i: itself, or the first one if it has as many particles; or None."""
    name = f"particles/{name}"
    if file.chunk_exists(frame=i, name=name):
        return i
    return 0 if file.chunk_exists(frame=0, name=name) and (
        name == "particles/N" or _count(file, i) == _count(file, 0)) else None


def _count(file, i):
    of = _stored(file, i, "N")
    return 0 if of is None else int(file.read_chunk(frame=of, name="particles/N")[0])


def _read(trajectory, i, options):
    file = trajectory.file
    of = _stored(file, i, "position")
    if of is None:
        raise ConvertError(f"frame {i}: has no positions")
    found = len(file.read_chunk(frame=of, name="particles/position"))
    if found != _count(file, i):  # gsd would allocate memory for the claimed number
        raise ConvertError(f"frame {i}: claims {_count(file, i)} particles, but has {found} positions")
    frame = trajectory[i]
    particles = frame.particles
    collector = Collector(options, particles.N)
    for name in FIELDS:
        if _stored(file, i, name) is not None and collector.wants(name):
            collector.add(name, np.array(getattr(particles, name)))
    for name, values in (frame.log or {}).items():
        short = name.replace("particles/", "", 1)
        if name.startswith("particles/") and collector.wants(short):
            collector.add(short, np.array(values), f"frame {i}: {name}")
    collector.others.add("tag")
    if options.wants("tag"):
        collector.add("tag", np.arange(particles.N, dtype=np.uint32))  # HOOMD's name for the particle order, used by bonds
    lost = [name for name in ("bonds", "angles", "dihedrals", "impropers", "constraints", "pairs")
            if getattr(frame, name).N]
    if lost:
        collector.remarks.append(("bonds", f"only particles are written, not: {', '.join(lost)}"))
    about = {"gsd": {"box": frame.configuration.box, "dimensions": frame.configuration.dimensions,
                     "types": list(particles.types or [])}}
    return collector.particles(np.array(particles.position), about)


FORMAT = Format("gsd", "HOOMD-blue GSD", steps, extensions=(".gsd",), modules=(("gsd", "gsd", "md"),),
                sniff=lambda head, path: head.startswith(MAGIC))
