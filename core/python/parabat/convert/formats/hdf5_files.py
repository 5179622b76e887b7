# SPDX-License-Identifier: BSD-3-Clause
"""Other particles in HDF5: H5Part, and any file, by --map or by the names of its arrays."""

import dataclasses
import posixpath
import re

import numpy as np

from .. import hdf5, layout
from ..model import Collector, ConvertError, Divided, Format, Step, as_json, listed, part_of

STEP = re.compile(r"Step#(\d+)\Z")
NUMBERED = re.compile(r"(.*?)(\d+)([^\d]*)")  # a group path with a number
STEP_GROUP = re.compile(r"(?:\A|[/_. #-])(?:time[ _-]?)?(?:step|iteration|iter|frame|cycle)s?[ _#.-]?\Z", re.IGNORECASE)
UNITS = ("units", "unit")  # attributes of arrays


# --- H5Part

def h5part_steps(path, options):
    with hdf5.opened(path, options) as file:
        found = sorted((int(match[1]), name) for name in file for match in [STEP.match(name)] if match)
        for number, name in found:
            group = file[name]
            time = next((hdf5.single(group, key) for key in ("TimeValue", "time", "Time", "TIME") if key in group.attrs),
                        None)
            about = {"h5part": {"file": hdf5.attributes(file), "step": hdf5.attributes(group)}}

            def found(group=group, about=about):
                members = _Members(file, group)
                arrays = layout.Layout(members, options, f"{group.name}/", can_move=False)
                arrays.remarks += members.remarks
                units = _units(arrays)
                return arrays, {**about, **({"units": units} if units else {})}

            def read(found=found):
                arrays, metadata = found()
                return [arrays.particles(metadata=metadata)]

            def divided(found=found):
                arrays, metadata = found()
                return [arrays.divided(metadata=metadata)]
            yield Step(read, number, time, divided)


class _Members(layout.Columns):
    """The arrays in one group."""

    def __init__(self, file, group, written=()):
        """written: names of groups and tables that are converted separately."""
        import h5py  # pylint: disable=import-outside-toplevel
        self.file, self.group = file, group
        self.shapes = {}
        others = []
        for name in group:
            node = group[name]
            if not isinstance(node, h5py.Dataset):
                if not any((each + "/").startswith(node.name + "/") for each in written):
                    others.append(name)
            elif node.name not in written:
                self.shapes[name] = (node.shape, node.dtype)
        self.remarks = []
        if others:
            self.remarks.append((f"groups in {group.name}", f"groups in {group.name} are not written: {listed(others)}"))

    def read(self, name, index, remarks):
        node = self.group[name]
        return np.asarray(hdf5.read(node, index if node.shape else ..., remarks))

    def prepare(self, names):
        hdf5.check_all(self.group[name] for name in names)

    def named(self, names, kinds):
        return _named(self.file, self.group, names, kinds)

    def units(self):
        return {name: _unit(self.group[name]) for name in self.shapes}


def _table(file, node):
    """Returns the fields of an array of records as Columns."""
    class Table(layout.Records):
        """An array of records in HDF5."""

        def named(self, names, kinds):
            return _named(file, node, names, kinds)

        def units(self):
            return {}
    return Table(node.dtype, node.shape, lambda index, remarks: hdf5.read(node, index, remarks))


def _unit(node):
    return next((as_json(node.attrs[name]) for name in UNITS if name in node.attrs), None)


def _named(file, node, names, kinds, top="/"):
    """Returns a single number with one of these names: an attribute of a node, or an attribute or array of one of its parent
    groups up to `top`."""
    import h5py  # pylint: disable=import-outside-toplevel
    path = node.name
    while True:
        if not isinstance(node, h5py.Dataset):
            for name in node:
                if name.lower() in names:
                    single = node[name]
                    if isinstance(single, h5py.Dataset) and single.size == 1 and single.dtype.kind in kinds:
                        return hdf5.read(single).reshape(-1)[0]
        for name in node.attrs:
            if name.lower() in names:
                value = np.asarray(node.attrs[name])
                if value.size == 1 and value.dtype.kind in kinds:
                    return value.reshape(-1)[0]
        if path in ("/", top):
            return None
        path = posixpath.dirname(path)
        node = file[path]


def _units(found):
    """Units of the arrays of a Layout."""
    return {"positions" if name in found.positions else "time" if name == found.time_name else name: unit
            for name, unit in found.columns.units().items() if unit is not None}


def _about(found, node):
    """Returns metadata of a Layout: attributes of its group or table, and units."""
    units = _units(found)
    return {"hdf5": hdf5.attributes(node), **({"units": units} if units else {})}


# --- Any HDF5 file

def any_steps(path, options):
    with hdf5.opened(path, options) as file:
        if options.mapping:
            if options.time_column not in (None, "none"):
                raise ConvertError("argument --time-column: not allowed with --map")
            yield from _mapped_steps(file, options)
            return
        nodes = _positions_in(file, options)
        written = [node.name for node in nodes.values()]
        layouts = {}
        for species, node in nodes.items():
            layouts[species] = _layout(file, node, options, written)
        if options.species is not None:
            for name in options.species:
                if name not in layouts:
                    raise ConvertError(f"unknown species '{name}'; available: {listed(layouts)}")
            layouts = {name: layouts[name] for name in options.species}
        elif len(layouts) > 1 and options.time_column in (None, "none"):
            numbered = _numbered(layouts, nodes)
            if numbered and _are_steps(numbered, layouts):
                yield from _steps_of_groups(numbered, layouts, nodes)
                return
            if numbered:
                _suggest_steps(layouts, nodes)
        yield from layout.steps(layouts, lambda species: _about(layouts[species], nodes[species]))


# --- Groups that differ in a number: /step_0, /step_10

def _numbered(layouts, nodes):
    """Returns (number, species) for one-step groups with the same arrays whose paths differ only in the last number, or []."""
    found, alike = {}, set()
    for species, each in layouts.items():
        match = NUMBERED.fullmatch(nodes[species].name)
        if not match or each.steps is not None or int(match[2]) >= 2 ** 63:
            return []
        kinds = tuple(sorted((name, shape[1:], dtype.str) for name, (shape, dtype) in each.columns.shapes.items() if shape))
        alike.add((match[1], match[3], kinds, tuple(each.positions)))
        found[int(match[2])] = species
    return sorted(found.items()) if len(alike) == 1 and len(found) == len(layouts) else []


def _are_steps(numbered, layouts):
    """Returns whether the groups are steps, judged by their names or by ascending times; otherwise they may be species."""
    clocks = [layouts[species].frames[0] for _, species in numbered]
    if any(step not in (None, number) for (number, _), (step, _) in zip(numbered, clocks)):
        return False
    times = [time for _, time in clocks]
    if None not in times and all(a < b for a, b in zip(times, times[1:])):
        return True
    where = layouts[numbered[0][1]].where
    return times.count(None) == len(times) and bool(STEP_GROUP.search(re.split(r"\d+[^\d]*\Z", where)[0]))


def _steps_of_groups(numbered, layouts, nodes):
    first, last = (nodes[numbered[i][1]].name for i in (0, -1))
    remark = ("steps", f"groups {first} ... {last} are read as {len(numbered)} steps; convert one with --species")
    for number, species in numbered:
        each = layouts[species]
        each.remarks = [(key.replace(each.where, ""), words) for key, words in each.remarks] + [remark]

        def about(each=each, node=nodes[species]):
            return _about(each, node)
        yield Step(lambda each=each, about=about: [each.particles(metadata=about())], number, each.frames[0][1],
                   lambda each=each, about=about: [each.divided(metadata=about())])


def _suggest_steps(layouts, nodes):
    """Adds a remark on how to read groups as steps."""
    first = next(iter(layouts.values()))
    path = NUMBERED.sub(r"\1*\3", nodes[next(iter(layouts))].name)
    paths = ",".join(f"{path}/{name}" for name in first.positions if name)
    words = f"--map positions={paths}, and --map NAME={path}/NAME for each attribute"
    first.remarks.append(("steps", f"groups {path} become {len(layouts)} species; if they are steps, use {words}"))


def _layout(file, node, options, written=()):
    """Returns the Layout of a group or a table."""
    import h5py  # pylint: disable=import-outside-toplevel
    if isinstance(node, h5py.Dataset):
        return layout.Layout(_table(file, node), options, f"{node.name}: ")
    members = _Members(file, node, written)
    found = layout.Layout(members, options, f"{node.name.rstrip('/')}/")
    found.remarks += members.remarks
    return found


def _positions_in(file, options):
    """Returns the groups and tables that have positions, by species."""
    import h5py  # pylint: disable=import-outside-toplevel
    found, why = {}, None
    for node in [file, *(node for _, node in file.walk())]:
        if isinstance(node, h5py.Dataset) and not (node.dtype.names and node.shape):
            continue
        try:
            _layout(file, node, options)
        except ConvertError as error:
            why = why or (error if isinstance(error, layout.Uncertain) else None)
            continue
        species = node.name.strip("/").replace("/", "_")
        if species in found:
            raise ConvertError(f"{found[species].name} and {node.name} would both be the species '{species}'; convert one with "
                               "--map positions=PATH")
        found[species] = node
    if not found and why is not None:
        raise why
    if not found:
        raise ConvertError("no group has positions: arrays named x, y, z, or a position array of three coordinates; specify them "
                           "with --map positions=PATH, or with --columns")
    return {"": next(iter(found.values()))} if len(found) == 1 and not options.species else found


def _mapped_steps(file, options):
    if "positions" not in options.mapping:
        raise ConvertError(f"argument --map: positions is missing; found {listed(options.mapping)}")
    numbers = numbers_of(file, options.mapping)
    if numbers is None and len(options.mapping["positions"]) == 1:
        node = hdf5.node_of(file, options.mapping["positions"][0])
        if len(node.shape or ()) == 3 and node.shape[2] == 3:
            yield from _mapped_moving(file, node, options)
            return
    for number in [None] if numbers is None else numbers:
        step, time = (_mapped_clock(file, number, options, *names) for names in ((layout.NUMBERS, "iu"), (layout.TIMES, "iuf")))
        step = number or step
        yield Step(lambda number=number: [_mapped(file, number, options)], None if step is None else int(step),
                   None if time is None else float(time), divided=lambda number=number: [_mapped_divided(file, number, options)])


def _mapped_clock(file, number, options, names, kinds):
    """Returns the number or time of a step: a single value of the mapping, or one stored next to its positions."""
    for name in _clocks(options):
        if name in names:
            node = hdf5.node_of(file, options.mapping[name][0].replace("*", number or ""))
            if node.size != 1 or node.dtype.kind not in kinds:
                raise ConvertError(f"argument --map: {node.name} has shape {node.shape} and type {node.dtype}; '{name}' must be "
                                   "a single number")
            return hdf5.read(node).reshape(-1)[0]
    path = options.mapping["positions"][0]
    top = "/"
    if "*" in path:  # groups above it do not belong to one step
        before, _, after = path.partition("*")
        top = "/" + (before + number + after.partition("/")[0]).strip("/")
    return _named(file, hdf5.node_of(file, path.replace("*", number or "")), names, kinds, top)


def _clocks(options):
    """Returns the names in the mapping that are the time or number of the step instead of particle arrays."""
    return [name for name in options.mapping if name in layout.TIMES + layout.NUMBERS]


class _Mapped(layout.Columns):
    """The arrays of a mapping."""

    def __init__(self, file, mapping):
        self._nodes = {name: [hdf5.node_of(file, path) for path in paths] for name, paths in mapping.items()}
        self.shapes = {}
        for name, nodes in self._nodes.items():
            _check_alike(name, nodes)
            more = (len(nodes),) if len(nodes) > 1 else ()
            self.shapes[name] = ((*nodes[0].shape, *more), nodes[0].dtype)

    def read(self, name, index, remarks):
        arrays = [np.asarray(hdf5.read(node, index if node.shape else ..., remarks)) for node in self._nodes[name]]
        return arrays[0] if len(arrays) == 1 else np.stack(arrays, axis=-1)


def _check_alike(name, nodes):
    if len({(node.shape, node.dtype) for node in nodes}) > 1:
        raise ConvertError(f"argument --map: the arrays of '{name}' differ in shape or type: "
                           + ", ".join(f"{node.name} {node.shape} {node.dtype}" for node in nodes))


def _mapped_moving(file, node, options):
    """Yields steps from positions (steps, n, 3)."""
    found = layout.Layout(_Mapped(file, options.mapping), dataclasses.replace(options, columns=["positions"]))
    yield from layout.steps({"": found}, lambda species: {"hdf5": {"map": options.mapping, **hdf5.attributes(node)}})


def numbers_of(file, mapping):
    """Returns the numbers that replace the * in the paths of a mapping, ascending, or None if no path has a *."""
    numbers = None
    for paths in mapping.values():
        for path in paths:
            if path.count("*") > 1:
                raise ConvertError(f"argument --map: {path} has more than one *")
            if "*" in path:
                found = _numbers(file, path)
                if numbers is not None and found != numbers:
                    other = sorted(set(found) ^ set(numbers))[0]
                    raise ConvertError(f"{path}: its steps differ from those of earlier arrays, such as {other}")
                numbers = found
    return numbers


def _numbers(file, path):
    """Returns the numbers that replace the * in a path, ascending."""
    before, _, after = path.partition("*")
    folder, _, start = before.rpartition("/")
    end, _, rest = after.partition("/")
    pattern = re.compile(re.escape(start) + r"(\d+)" + re.escape(end) + r"\Z")
    parent = file[folder] if folder.strip("/") and folder in file else file
    if folder.strip("/") and folder not in file:
        raise ConvertError(f"{path}: unknown folder {folder}")
    found = [match[1] for name in parent for match in [pattern.match(name)] if match and (
        not rest or rest in parent[name])]
    if not found:
        raise ConvertError(f"{path}: no name in the file matches, with a number for the *")
    return sorted(found, key=int)


def _mapped_divided(file, number, options):
    nodes = [hdf5.node_of(file, path.replace("*", number or "")) for name, paths in options.mapping.items()
             if (name == "positions" or options.wants(name)) and name not in _clocks(options) for path in paths]
    lengths = {len(node) if node.shape else -1 for node in nodes}
    if len(lengths) > 1:
        raise ConvertError("argument --map: the arrays have different numbers of values: "
                           + ", ".join(f"{node.name} {node.shape}" for node in nodes))
    return Divided(sum(node.size * node.dtype.itemsize for node in nodes),
                   lambda i, n: _mapped(file, number, options, (i, n)))


def _rows(node, part, remarks):
    """Returns all values of an array, or those of a part (i, n)."""
    if part is None or not node.shape:
        return hdf5.read(node, remarks=remarks)
    return hdf5.read(node, slice(*part_of(len(node), *part)), remarks)


def _mapped(file, number, options, part=None):
    collector = Collector(options)
    positions = None
    for name, paths in options.mapping.items():
        if name in _clocks(options):
            continue
        if name != "positions" and not options.wants(name):
            collector.others.add(name)
            continue
        arrays = [_rows(hdf5.node_of(file, path.replace("*", number or "")), part, collector.remarks) for path in paths]
        if len({(array.shape, array.dtype) for array in arrays}) > 1:
            raise ConvertError(f"argument --map: the arrays of '{name}' differ in shape or type: "
                               + ", ".join(f"{path} {array.shape} {array.dtype}" for path, array in zip(paths, arrays)))
        array = arrays[0] if len(arrays) == 1 else np.stack(arrays, axis=1)
        if name == "positions":
            positions = array
            collector.count = len(array) if collector.count is None else collector.count
        else:
            collector.add(name, array, f"'{name}' of {', '.join(paths)}")
    return collector.particles(positions, {"hdf5": {"map": options.mapping}})


FORMATS = [
    Format("h5part", "H5Part, including files written by H5hut", h5part_steps, extensions=(".h5part",), modules=hdf5.MODULE,
           options=("columns", "follow_links"), sniff=hdf5.sniffer(lambda file: any(map(STEP.match, file)))),
    Format("hdf5", "any HDF5 file, with --map or by its array names", any_steps, extensions=(".h5", ".hdf5", ".hdf"),
           modules=hdf5.MODULE, options=("columns", "mapping", "follow_links", "time_column"), rank=30,
           sniff=lambda head, path: head.startswith(hdf5.MAGIC))]
