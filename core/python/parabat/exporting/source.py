# SPDX-License-Identifier: BSD-3-Clause
"""The particles to export with their metadata: time, step, units, periodic box, texts of codes."""

import collections
import json
import math

import numpy as np

from ..errors import refuse

Box = collections.namedtuple("Box", "origin edges periodic")
Box.__doc__ = """A simulation box: its origin (3,), its edge vectors (3, 3), one per row, and whether each axis is periodic, with
None for all axes if that is unknown."""
UNKNOWN = [None] * 3

IDS = ("id", "ids", "particleids", "particle_id", "id_particle")
VELOCITIES = ("velocity", "velocities", "v", "vel")
MASSES = ("mass", "masses")


class Source:
    """The input of a writer."""

    def __init__(self, particles, metadata="", name=""):
        """particles: as returned by Dataset.read(). metadata: the JSON text of the dataset. name: the file to write."""
        self.positions = particles.positions
        self.attributes = dict(particles.items())
        self.count = particles.count
        self.time, self.step = particles.time, particles.step
        self.target = name
        self.particles = particles
        self.notes = []
        try:
            self.metadata = json.loads(metadata) if metadata else {}
        except ValueError:
            self.metadata = {}
        if not isinstance(self.metadata, dict):
            self.metadata = {}

    def note(self, text):
        """Reports a line to the user, once."""
        if text not in self.notes:
            self.notes.append(text)

    def leave_out(self, name, why):
        self.note(f"'{name}' is not written: {why}")

    def has_no_place(self, format_name, *facts):
        """Reports which of "time", "step", "units", "periodic box" are known but not written."""
        box = self.box
        known = {"time": self.time is not None, "step": self.step is not None, "units": bool(self.units),
                 "periodic box": box is not None}
        lost = ["box" if fact == "periodic box" and not any(box.periodic) else fact for fact in facts if known[fact]]
        if lost:
            self.note(f"not written, since {format_name} has no place for it: {', '.join(lost)}")

    def find(self, names, width=1, kinds="iuf"):
        """Returns the first attribute whose name is among `names`, ignoring case, or None."""
        for requested in names:
            for name, values in self.attributes.items():
                own = 1 if values.ndim == 1 else values.shape[1]
                if name.lower() == requested and own == width and values.dtype.kind in kinds:
                    return name
        return None

    def program(self, name):
        """Returns the metadata that a converter kept from the file of another program."""
        found = self.metadata.get(name)
        return found if isinstance(found, dict) else {}

    @property
    def units(self):
        units = self.metadata.get("units")
        return units if isinstance(units, dict) else {}

    def texts(self, name):
        """Returns the texts of an attribute that is codes, if the metadata contain one for each particle."""
        values = self.attributes[name]
        if values.ndim > 1 or values.dtype.kind not in "iu":
            return None
        for about in self.metadata.values():
            texts = about.get("texts") if isinstance(about, dict) else None
            known = texts.get(name) if isinstance(texts, dict) else None
            if isinstance(known, list) and all(isinstance(text, str) for text in known) and (
                    not len(values) or (values.min() >= 0 and values.max() < len(known))):
                return known
        return None

    def has_only_codes(self, format_name, names=None):
        """Reports attributes, of `names` or all, whose texts are in the metadata but not in the file."""
        lost = [name for name in (self.attributes if names is None else names) if self._has_texts(name)]
        if lost:
            self.note(f"the texts of {', '.join(map(repr, lost))} are not written, since {format_name} "
                      "has only their codes")

    def _has_texts(self, name):
        for about in self.metadata.values():
            for key in ("texts", "enumerations", "type_labels") if isinstance(about, dict) else ():
                texts = about.get(key)
                if isinstance(texts, dict) and texts and (name == "type" if key == "type_labels" else texts.get(name)):
                    return True
        return name == "typeid" and bool(self.program("gsd").get("types"))

    @property
    def box(self):
        """Returns the box in the metadata, or None. Prefers that of another program, which includes the bounds of open axes,
        unless it contradicts `periodic_box`."""
        periodic, own = self._valid(self._periodic_box), None
        for find in (self._lammps_box, self._xyz_box, self._h5md_box, self._gsd_box, self._md_box, self._cfg_box, self._ase_box):
            own = own or self._valid(find)
        if own is None or periodic is None:
            return own or periodic
        return own._replace(periodic=periodic.periodic) if _agree(own, periodic) else periodic

    @property
    def pbc(self):
        """Returns whether each axis is periodic, for files that state this without a box; None if unknown."""
        found = self.program("xyz").get("pbc") or self.program("ase").get("pbc")
        return list(map(bool, found)) if isinstance(found, list) and len(found) == 3 else None

    @staticmethod
    def _valid(find):
        try:
            return find()
        except (KeyError, TypeError, ValueError, IndexError, ZeroDivisionError):
            return None

    def _periodic_box(self):
        about = self.metadata.get("periodic_box")
        if not about:
            return None
        ends = [[math.nan if number is None else float(number) for number in about[side]] for side in ("lower", "upper")]
        periodic = [math.isfinite(low) and math.isfinite(high) for low, high in zip(*ends)]
        if not any(periodic):
            return None
        low, high = self.bounds()
        for axis in range(3):  # an open axis spans the particles
            if periodic[axis]:
                low[axis], high[axis] = ends[0][axis], ends[1][axis]
        return Box(low, np.diag(high - low), periodic)

    @staticmethod
    def _of_edges(edges, origin, periodic):
        edges = np.array(edges, np.float64)
        edges = np.diag(edges) if edges.shape == (3,) else edges
        origin = np.zeros(3) if origin is None else np.array(origin, np.float64)
        is_whole = edges.shape == (3, 3) and origin.shape == (3,) and np.isfinite(edges).all()
        return Box(origin, edges, periodic) if is_whole else None

    def _lammps_box(self):
        about = self.program("lammps").get("box")
        if not about:
            return None
        return self._of_edges(about["edges"], about.get("origin"), self._of_words(about.get("boundary")))

    @staticmethod
    def _of_words(words):
        """Returns which axes are periodic, from keywords such as "pp ff ss"."""
        words = (words or "").split()
        return [word[:1] == "p" for word in words] if len(words) == 3 else UNKNOWN

    def _xyz_box(self):
        about = self.program("xyz").get("box")
        return about and self._of_edges(about["edges"], about.get("origin"), self.pbc or self._of_words(about.get("boundary")))

    def _cfg_box(self):
        cell = self.program("cfg").get("cell")  # AtomEye cells are periodic along all axes
        return cell and self._of_edges(cell, None, [True] * 3)

    def _ase_box(self):
        cell = self.program("ase").get("cell")
        return self._of_edges(cell, None, self.pbc or UNKNOWN) if cell and np.any(cell) else None

    def _h5md_box(self):
        about = self.program("h5md").get("box")
        if not about or "edges" not in about:
            return None
        boundary = about.get("boundary")
        boundary = [boundary] * 3 if isinstance(boundary, str) else boundary
        periodic = [each == "periodic" for each in boundary] if boundary and len(boundary) == 3 else UNKNOWN
        return self._of_edges(about["edges"], about.get("offset"), periodic)

    def _gsd_box(self):
        about = self.program("gsd").get("box")
        if not about:
            return None
        x, y, z, xy, xz, yz = map(float, about)
        edges = np.array([[x, 0, 0], [xy * y, y, 0], [xz * z, yz * z, z or 1.0]])
        return Box(-edges.sum(axis=0) / 2 if z else -edges[:2].sum(axis=0) / 2, edges, [True, True, z != 0])

    def _md_box(self):
        about = self.program("md").get("box")
        if not about or not any(about[:3]):
            return None
        if self.program("md").get("vectors"):
            return self._of_edges(self.program("md")["vectors"], None, [True] * 3)
        a, b, c, *angles = map(float, about)
        alpha, beta, gamma = (0.0 if angle == 90 else math.cos(math.radians(angle)) for angle in angles)
        sine = math.sqrt(1 - gamma * gamma)
        y = (alpha - beta * gamma) / sine
        edges = [[a, 0, 0], [b * gamma, b * sine, 0], [c * beta, c * y, c * math.sqrt(1 - beta * beta - y * y)]]
        return self._of_edges(edges, self.program("md").get("origin"), [True] * 3)

    def bounds(self):
        """Returns the bounds of the finite positions, or 0 and 1 without any."""
        with np.errstate(all="ignore"):
            finite = np.where(np.isfinite(self.positions), self.positions, np.nan).astype(np.float64)
        low, high = np.zeros(3), np.ones(3)
        for axis in range(3):
            column = finite[:, axis][~np.isnan(finite[:, axis])]
            if len(column):
                low[axis], high[axis] = column.min(), column.max()
        return low, high


def _agree(own, periodic):
    """Returns whether a box matches the axis-aligned box `periodic` along the periodic axes of the latter."""
    axes = np.array(periodic.periodic, bool)
    return np.allclose(own.origin[axes], periodic.origin[axes], rtol=1e-6, atol=1e-6 * np.abs(periodic.edges).max()) and (
        np.allclose(own.edges[axes], periodic.edges[axes], rtol=1e-6, atol=0))


def unique_names(source, clean, taken=(), expected=()):
    """Returns pairs of the name in the file and the attribute name. clean(name): returns a name that the format allows.
    expected: names of the format for certain attributes; changes to these are not reported."""
    found, used = [], set(taken)
    for name in source.attributes:
        written = clean(name)
        if written in used:
            refuse(f"two arrays would be called '{written}'; exclude one with --attributes")
        used.add(written)
        if written != name and written not in expected:
            source.note(f"'{name}' is written as '{written}'")
        found.append((written, name))
    return found


def components(name, values, label="{}[{}]".format, first=0):
    """Returns pairs of a name and (n,) values, one for each component."""
    if values.ndim == 1:
        return [(name, values)]
    return [(label(name, i + first), values[:, i]) for i in range(values.shape[1])]


def number_texts(values):
    """Returns the decimal texts of numbers. A float32 is written with the decimals of its value as a double, so that every
    reader gets the exact value."""
    return list(map(repr, values.astype(np.float64).tolist() if values.dtype.kind == "f" else values.tolist()))


def write_rows(file, columns, count, rows=100000):
    """Writes columns as lines. columns: arrays of numbers, or functions (first, end) -> list of texts."""
    for first in range(0, count, rows):
        end = min(count, first + rows)
        parts = [column(first, end) if callable(column) else number_texts(column[first:end]) for column in columns]
        file.write("\n".join(map(" ".join, zip(*parts))) + "\n")


def hdf5_name(name):
    """Returns a name that does not create a group."""
    return name.replace("/", "_").strip(".") or "_"


def create_hdf5(h5py, path):
    """Opens an h5py.File for writing, without HDF5's lock, since replacing() holds one."""
    return h5py.File(path, "w", locking=False)
