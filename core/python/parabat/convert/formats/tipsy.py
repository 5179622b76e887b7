# SPDX-License-Identifier: BSD-3-Clause
"""TIPSY snapshots (Gasoline, ChaNGa, pkdgrav): gas, dark matter and stars become the species gas, dark and star.

A header of 28 or 32 bytes is followed by records of gas, dark matter and stars, in big-endian order (the standard format) or
native order. Positions and velocities are float32 or float64, depending on the file size.
"""

import os

import numpy as np

from ..model import Collector, ConvertError, Divided, Format, Step, check_memory, listed, part_of

SPECIES = ("gas", "dark", "star")
FIELDS = {"gas": ("rho", "temp", "hsmooth", "metals", "phi"), "dark": ("eps", "phi"), "star": ("metals", "tform", "eps", "phi")}
PRECISIONS = (("f4", "f4"), ("f8", "f4"), ("f8", "f8"))  # types of positions and velocities


class Snapshot:
    """The header of a file, and the layout of its records."""

    def __init__(self, path):
        self.path = path
        size = os.path.getsize(path)
        with open(path, "rb") as file:
            head = file.read(32)
        for order in "><":
            self.time, counts, dimensions, top = _header(head, order)
            if dimensions not in (1, 2, 3):
                continue
            for self.counts in _counts(counts, top):
                for head_size in (32, 28):
                    for precision in PRECISIONS:
                        self.types = {name: _record(name, precision, order) for name in SPECIES}
                        if head_size + sum(self.counts[name] * kind.itemsize for name, kind in self.types.items()) == size:
                            self.head_size, self.dimensions, self.order, self.precision = head_size, dimensions, order, precision
                            return
        raise ConvertError(f"is not a TIPSY file, or is truncated: its {size} bytes do not match its header")

    def species(self, options):
        missing = [name for name in options.species or () if name not in SPECIES]
        if missing:
            raise ConvertError(f"unknown species '{missing[0]}'; available: {listed(SPECIES)}")
        found = [name for name in SPECIES if self.counts[name] and (options.species is None or name in options.species)]
        if not found:
            raise ConvertError("has no particles" + (f" of {listed(options.species)}" if options.species else ""))
        for name in found:
            check_memory(f"{name}: claims {self.counts[name]} particles", self.bytes(name))
        return found

    def bytes(self, name):
        return self.counts[name] * self.types[name].itemsize

    def read(self, name, options, part=0, parts=1):
        """Returns one of the parts of a species."""
        first, end = part_of(self.counts[name], part, parts)
        before = sum(self.bytes(each) for each in SPECIES[:SPECIES.index(name)])
        place = self.head_size + before + first * self.types[name].itemsize
        with open(self.path, "rb") as file:
            file.seek(place)
            rows = np.fromfile(file, self.types[name], end - first)
        if len(rows) < end - first:
            raise ConvertError(f"{self.path}: ends within the particles of {name}")
        collector = Collector(options, len(rows))
        for field in self.types[name].names:
            if collector.wants(field):
                collector.add(field, np.ascontiguousarray(rows[field]))
        about = {"tipsy": {"time": self.time, "dimensions": self.dimensions, "counts": self.counts,
                           "byte_order": "big (standard)" if self.order == ">" else "little (native)"}, "species": name}
        positions = None if options.columns else collector.arrays.pop("pos")
        return collector.particles(positions, about, name)


def _header(head, order):
    """Reads the time, the numbers of particles (all, gas, dark, star), the dimensions, and the upper bits of the numbers."""
    if len(head) < 28:
        raise ConvertError(f"has {len(head)} bytes; the header of TIPSY has 28")
    time, = np.frombuffer(head, order + "f8", 1)
    total, dimensions, *counts = np.frombuffer(head, order + "u4", 5, 8).tolist()
    return float(time), (total, *counts), dimensions, int(np.frombuffer(head.ljust(32, b"\0"), order + "u4", 1, 28)[0])


def _counts(counts, top):
    """Yields the numbers of gas, dark and star particles, unchanged and with the upper bits that pkdgrav keeps in the padding."""
    total, *each = counts
    if sum(each) == total:
        yield dict(zip(SPECIES, each))
    wide = [low + ((top >> shift & 0xFF) << 32) for low, shift in zip(each, (0, 8, 16))]
    if top and sum(wide) == total + ((top >> 24) << 32):
        yield dict(zip(SPECIES, wide))


def _record(name, precision, order):
    places, velocities = precision
    return np.dtype([("mass", order + "f4"), ("pos", order + places, (3,)), ("vel", order + velocities, (3,)),
                     *((field, order + "f4") for field in FIELDS[name])])


def steps(path, options):
    snapshot = Snapshot(path)
    yield Step(lambda: [snapshot.read(name, options) for name in snapshot.species(options)], time=snapshot.time,
               divided=lambda: [Divided(snapshot.bytes(name), lambda i, n, name=name: snapshot.read(name, options, i, n), name)
                                for name in snapshot.species(options)])


def _sniff(head, path):
    """Recognizes a header whose numbers match the file size."""
    if len(head) < 28 or not os.path.isfile(path):
        return False
    try:
        return sum(Snapshot(path).counts.values()) > 0
    except ConvertError:
        return False


FORMAT = Format("tipsy", "TIPSY snapshots, standard and native", steps, extensions=(".tipsy", ".std"), sniff=_sniff,
                options=("columns",), rank=20)
