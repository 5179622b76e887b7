# SPDX-License-Identifier: BSD-3-Clause
"""H5MD: groups of particles in HDF5. Their elements are either fixed in time or have values at their own steps.

    particles/water/position/value   (frames, particles, dimensions)
                            /step    a number for each frame, or the increment with an offset attribute
                            /time    the same
    particles/walls/position         (particles, dimensions), fixed in time
    particles/*/box                  attributes dimension, boundary; edges, an element
    particles/*/id                   ids; entries with a fill value set by the writer are not particles
"""

import numpy as np

from .. import hdf5, timeline
from ..layout import STEP_BYTES
from ..model import Collector, ConvertError, Format, Step, as_json, check_memory, listed

OTHERS = ("observables", "connectivity", "parameters")  # other groups


class _Element:
    """Values at steps, or one value for all times."""

    def __init__(self, node):
        self.is_fixed = not hasattr(node, "keys")
        self.values = node if self.is_fixed else hdf5.node_of(node, "value")
        if not self.is_fixed and not self.values.shape:
            raise ConvertError(f"{self.values.name}: is a single value, not one for each frame")
        self.count = 0 if self.is_fixed else len(self.values)
        check_memory(f"{self.values.name}: claims {self.count} frames", self.count * STEP_BYTES)
        self.numbers = None if self.is_fixed else self._grid(node, "step", "iu")
        self.times = None if self.is_fixed else self._grid(node, "time", "iuf")
        self.time_unit = None if self.is_fixed or "time" not in node else node["time"].attrs.get("unit")
        self._places = None

    def _grid(self, group, key, kinds):
        """Returns the steps or times of the frames; a single value is the increment."""
        if key not in group:
            return None
        node = hdf5.node_of(group, key)
        if node.dtype.kind not in kinds:
            return None
        if node.shape:
            if len(node) < self.count:
                raise ConvertError(f"{node.name}: has {len(node)} values, fewer than the number of steps")
            return hdf5.read(node).reshape(len(node), int(np.prod(node.shape[1:])))[:self.count, 0]
        return np.arange(self.count) * node[()] + node.attrs.get("offset", 0)

    @property
    def is_named(self):
        return self.numbers is not None or self.times is not None

    @property
    def frames(self):
        """Returns (number, time) of each frame."""
        numbers = [None] * self.count if self.numbers is None else map(int, self.numbers)
        times = [None] * self.count if self.times is None else map(float, self.times)
        return list(zip(numbers, times))

    def find(self, i, other):
        """Returns the index of this element's value at the i-th frame of another one; Ellipsis for a fixed element, None if
        it has no value then."""
        if self.is_fixed:
            return ...
        if self is other:
            return i
        for own, theirs in ((self.numbers, other.numbers), (self.times, other.times)):
            if own is None or theirs is None:
                continue
            if self.count == other.count and own[i] == theirs[i]:
                return i
            if self._places is None:
                self._places = {value: place for place, value in reversed(list(enumerate(own.tolist())))}
            return self._places.get(theirs[i].item())
        return i if self.count == other.count else None

    def read(self, index, remarks):
        return hdf5.read(self.values, index, remarks)

    @property
    def fill(self):
        """Returns the fill value, if the writer of the file set one."""
        import h5py  # pylint: disable=import-outside-toplevel
        about = self.values.id.get_create_plist()
        if self.values.dtype.kind not in "iu" or about.fill_value_defined() != h5py.h5d.FILL_VALUE_USER_DEFINED:
            return None
        return self.values.fillvalue


class _Group:
    """A group of particles."""

    def __init__(self, node):
        self.node = node
        self.remarks = []
        self.position = _Element(node["position"])
        self.elements = {}
        for name in node:
            if name in ("position", "box"):
                continue
            if hasattr(node[name], "keys") and "value" not in node[name]:
                self._leave_out(name, "it is a group, but not an H5MD element")
                continue
            try:
                self.elements[name] = _Element(node[name])
            except ConvertError as error:
                self._leave_out(name, str(error))
        self.box = dict(hdf5.attributes(node["box"])) if "box" in node else None
        self.edges = _Element(node["box/edges"]) if "box" in node and "edges" in node["box"] else None
        self.clock = self._find_clock()

    def _leave_out(self, name, why):
        self.remarks.append((f"left out {name}", f"'{name}' is not written: {why}"))

    def _find_clock(self):
        """Returns the element whose frames are those of the group, or None if all are fixed."""
        changing = {name: each for name, each in self.elements.items() if not each.is_fixed}
        if self.position.is_fixed:
            return max(changing.values(), key=lambda each: (each.is_named, each.count), default=None)
        if not self.position.is_named:
            for name, each in {"box/edges": self.edges, **changing}.items():
                if each is not None and each.is_named and each.count == self.position.count:
                    self.remarks.append((f"steps of {self.node.name}", f"{self.node.name}/position has no steps or times; "
                                         f"those of '{name}' are used"))
                    return each
        return self.position

    def particles(self, i, options, species, about):
        """Returns the Particles of the i-th frame."""
        collector = Collector(options)
        collector.remarks += self.remarks
        at = self.position.find(i, self.clock)
        positions = _in_space(self.position, at, collector.remarks)
        collector.count = len(positions)
        real = self._real(i, len(positions), collector)
        units = {"positions": self.position.values.attrs.get("unit"), "time": self._time_unit()}
        texts = {}
        for name, element in self.elements.items():
            if not collector.wants(name):
                continue
            index = element.find(i, self.clock)
            if index is None:
                collector.others.add(name)
                number = None if self.clock.numbers is None else int(self.clock.numbers[i])
                collector.leave_out(name, "it has no value for " + (f"frame {i}" if number is None else f"step {number}"))
                continue
            self._add(collector, name, element, index, real, texts)
            units[name] = element.values.attrs.get("unit")
        metadata = {"h5md": {**about, "box": self._box(i, collector.remarks)}}
        if texts:
            metadata["h5md"]["enumerations"] = texts
        units = {name: as_json(unit) for name, unit in units.items() if unit is not None}
        if units:
            metadata["units"] = units
        if self.box is not None:
            periodic = _periodic_box(metadata["h5md"]["box"], collector.remarks)
            if periodic:
                metadata["periodic_box"] = periodic
        if real is not None:
            positions = positions[real]
            collector.count = len(positions)
        return collector.particles(positions, metadata, species)

    @staticmethod
    def _add(collector, name, element, index, real, texts):
        import h5py  # pylint: disable=import-outside-toplevel
        value = element.read(index, collector.remarks)
        if not value.ndim or len(value) != collector.count:
            collector.leave_out(name, "it does not have one value per particle")
            return
        names = h5py.check_enum_dtype(element.values.dtype)
        if names:
            texts[name] = names
        value = value if real is None else value[real]
        whole, collector.count = collector.count, len(value)
        collector.add(name, value)
        collector.count = whole

    def _time_unit(self):
        found = [each.time_unit for each in (self.clock, self.position) if each is not None and each.time_unit is not None]
        return found[0] if found else None

    def _real(self, i, count, collector):
        """Returns which entries are particles, or None if all are."""
        element = self.elements.get("id")
        fill = None if element is None else element.fill
        index = None if fill is None else element.find(i, self.clock)
        if index is None:
            return None
        ids = element.read(index, collector.remarks)
        if ids.shape != (count,) or not (ids == fill).any():
            return None
        name = self.node.name
        collector.remarks.append((f"placeholders {name}", f"{name}: entries whose id is the fill value {fill} are placeholders, "
                                  "not particles, and are not written"))
        return ids != fill

    def _box(self, i, remarks):
        """Returns the file's description of the box, with its edges at the i-th frame."""
        if self.box is None:
            return None
        box = dict(self.box)
        index = None if self.edges is None else self.edges.find(i, self.clock)
        if index is not None:
            edges = np.asarray(self.edges.read(index, remarks))
            if edges.shape == (2, 2):  # the file has a third edge, which is meaningless
                edges = np.array([[*edges[0], 0], [*edges[1], 0], [0, 0, 1]])
            box["edges"] = edges
        return box


def _in_space(element, index, remarks):
    """Returns positions (n, 3) of a frame."""
    positions = element.read(index, remarks)
    if positions.ndim != 2 or not 1 <= positions.shape[1] <= 3:
        raise ConvertError(f"{element.values.name}: has shape {element.values.shape}; allowed: "
                           f"{'' if element.is_fixed else 'frames, '}particles and 1 to 3 dimensions")
    missing = 3 - positions.shape[1]
    if missing:
        remarks.append((f"dimensions {element.values.name}", f"{element.values.name}: has {3 - missing} "
                        f"dimension{'s' if missing == 1 else ''}: {'z is' if missing == 1 else 'y and z are'} 0"))
        positions = np.concatenate([positions, np.zeros((len(positions), missing), positions.dtype)], axis=1)
    return positions


def _periodic_box(box, remarks):
    """Returns metadata with the periodic box, or None for a box of another shape, or if the file does not state whether it is
    periodic."""
    edges = box.get("edges")
    boundary = np.atleast_1d(box.get("boundary", []))
    if edges is None or not len(boundary) or edges.dtype.kind not in "iuf":
        return None
    if edges.ndim == 2:
        if (edges != np.diag(np.diag(edges))).any():
            return None
        edges = np.diag(edges)
    if len(boundary) == 1:
        boundary = np.repeat(boundary, len(edges))
    upper = [None, None, None]
    for axis in range(min(3, len(edges), len(boundary))):
        if str(boundary[axis]) != "periodic":
            continue
        if edges[axis] > 0 and np.isfinite(edges[axis]):
            upper[axis] = float(edges[axis])
        else:
            remarks.append(("box", f"axis {axis} of the box is periodic, but its length is {edges[axis]}; it is not used as "
                            "periodic"))
    return {"lower": [None if each is None else 0.0 for each in upper], "upper": upper}


def _groups(file, options):
    """Returns the groups by name, and remarks about groups that are not written."""
    groups, others, remarks = {}, [], []
    for name, node in file["particles"].items():
        position = node["position"] if hasattr(node, "keys") and "position" in node else None
        if position is not None and (not hasattr(position, "keys") or "value" in position):
            groups[name] = _Group(node)
        else:
            others.append(name)
    if not groups:
        raise ConvertError("no group in /particles has a position, an array or a group with an array 'value'; available: "
                           f"{listed(file['particles'])}")
    if others:
        remarks.append(("groups in /particles", f"groups in /particles without a position are not written: {listed(others)}"))
    others = [name for name in OTHERS if name in file and len(file[name])]
    if others:
        remarks.append(("others", f"{listed(others)} {'are' if others[1:] else 'is'} not written: only /particles is"))
    for name in options.species or ():
        if name not in groups:
            raise ConvertError(f"unknown species '{name}'; available: {listed(groups)}")
    return groups, remarks


def steps(path, options):
    with hdf5.opened(path, options) as file:
        groups, remarks = _groups(file, options)
        is_alone = len(groups) == 1 and not options.species
        groups = {name: group for name, group in groups.items() if options.species is None or name in options.species}
        empty = [name for name, group in groups.items() if group.clock is not None and not group.clock.count]
        if empty and len(empty) < len(groups):
            groups = {name: group for name, group in groups.items() if name not in empty}
            remarks.append(("empty", f"{listed(empty)} {'are' if empty[1:] else 'is'} not written: no steps"))
        moving = {name: group.clock.frames for name, group in groups.items() if group.clock is not None}
        found, news, _ = timeline.merge(moving) if moving else ([], [], [])
        about = {"file": hdf5.attributes(file["h5md"])} if len(file["h5md"].attrs) else {}
        if "h5md/modules/units" in file:
            about["unit_system"] = hdf5.attributes(file["h5md/modules/units"]).get("system")

        def read(frames):
            result = [groups[name].particles(i, options, "" if is_alone else name, about) for name, i in frames.items()]
            result[0].remarks += remarks + news
            return result
        for number, time, frames in found:
            yield Step(lambda frames=frames: read(frames), number, time, species=tuple(groups))
        fixed = {name: None for name in groups if name not in moving}
        if fixed:  # one dataset without a time replaces a copy for each step
            if moving:
                remarks.append(("fixed", f"{listed(fixed)} {'do' if len(fixed) > 1 else 'does'} not change in time and "
                                f"{'become datasets' if len(fixed) > 1 else 'becomes one dataset'} without a time"))
            yield Step(lambda: read(fixed), species=tuple(groups), is_fixed=bool(moving))


FORMAT = Format("h5md", "H5MD molecular data in HDF5", steps, extensions=(".h5md",), modules=hdf5.MODULE,
                options=("follow_links",), sniff=hdf5.sniffer(lambda file: "h5md" in file and "particles" in file))
