# SPDX-License-Identifier: BSD-3-Clause
"""Interprets named arrays that follow no known format, in any HDF5 or .npz file.

    position (n, 3)                    particles of one step; or x, y, z (n)
    mass (n), velocity (n, 3)          their attributes
    time, step                         single numbers for the step

    position (steps, n, 3)             particles of several steps: the last axis is 3; or x, y, z (steps, n), if an array of
                                       times or steps shows which axis is which
    velocity (steps, n, 3)             attributes that vary in time; mass (steps, n)
    type (n)                           an attribute that does not
    time (steps), step (steps)         times and numbers of the steps

Other arrays are left out and reported; small ones are kept in the metadata.
"""

import numpy as np

from . import layout_times
from .model import (Collector, ConvertError, Divided, Step, as_json, check_memory, find_positions, listed, part_of, plain,
                    stack)
from .timeline import merge

TIMES = ("time", "times")
SHORT_TIMES = ("t",)  # used if it has a value for each step, or a single value
NUMBERS = ("step", "steps", "timestep", "timesteps", "time_step", "time_steps", "iteration", "iterations")
BOXES = ("box", "boxsize", "box_size", "box_length", "lattice", "cell", "pbc", "domain", "bounds", "origin")  # never attributes
STEP_BYTES = 300  # memory for the number and time of a step
MAX_KEPT = 64  # maximum values of an array in the metadata


class Uncertain(ConvertError):
    """It is ambiguous which arrays are positions, or what their axes mean."""


class Columns:
    """Named arrays that belong together. `shapes`: name -> (shape, dtype). read(name, index, remarks): returns values; index:
    ..., a slice of rows, a step, or (step, slice). read_all(name): returns a small array."""

    shapes: dict

    def read(self, name, index, remarks):
        raise NotImplementedError

    def read_all(self, name):
        return self.read(name, ..., [])

    def named(self, names, kinds):
        """Returns a number that belongs to the arrays without being one of them, such as an HDF5 attribute, or None."""
        del names, kinds

    def prepare(self, names):
        """Called before these arrays are read as a whole."""

    def forget(self):
        """Called between reads to release memory."""


class Records(Columns):
    """An array of records (n,) or (steps, n) whose fields are the arrays. load(index): returns records."""

    def __init__(self, dtype, shape, load):
        self._paths, self._load, self._last = {}, load, (None, None)
        self.shapes = {}
        self._flatten(dtype, shape, ())

    def _flatten(self, dtype, shape, path):
        """Adds the fields to `shapes`; the field b of a nested record a becomes a_b."""
        for name in dtype.names:
            field, here = dtype.fields[name][0], (*path, name)
            if field.names:
                self._flatten(field, shape, here)
            elif field.base.names:
                self.shapes["_".join(here)] = ((*shape, *field.shape), np.dtype(object))
            else:
                self.shapes["_".join(here)] = ((*shape, *field.shape), field.base)
                self._paths["_".join(here)] = here

    def read(self, name, index, remarks):
        if name not in self._paths:
            return np.array(["records in records"])
        if self._last[0] != repr(index):
            self._last = None, None  # frees the records read before
            self._last = repr(index), self._load(index, remarks)
        records = self._last[1]
        for part in self._paths[name]:
            records = records[part]
        return np.array(records)

    def forget(self):
        self._last = None, None


class Layout:
    """Decides which of the Columns are positions, attributes, times or something else."""

    def __init__(self, columns, options, where="", can_move=True):
        """where: prefix of array names in errors. can_move: whether arrays may have several steps."""
        self.columns, self.options, self.where, self.can_move = columns, options, where, can_move
        self.fixed, self.moving, self.others, self.remarks, self.unwanted = [], [], [], [], set()
        self.steps = self.number_name = self.time_name = None
        self.refusal = None  # why a requested array cannot be an attribute
        shapes = {name: shape for name, (shape, dtype) in columns.shapes.items() if shape and _is_number(dtype)}
        flat, deep, error = self._find(shapes, can_move)
        if flat is None and deep is None:
            raise error
        if flat and deep:
            raise Uncertain(f"{listed(filter(None, flat))} and {listed(filter(None, deep))} could both be positions; choose with "
                               "--columns")
        self.positions = flat or deep
        requested = 1 if flat else 2  # leading axes in which position arrays must have equal lengths
        for name in filter(None, self.positions):
            others = shapes[self.positions[0]][:requested]
            if shapes[name][:requested] != others:
                raise Uncertain(f"{where}{name}: {_counted(shapes[name][:requested])} values, but the others have "
                                   f"{_counted(others)}")
        if deep:
            self.steps, self.count = shapes[deep[0]][:2]
            self._check_axes(shapes)
        else:
            self.count = shapes[flat[0]][0]
        self._sort()

    def _find(self, shapes, can_move):
        """Returns the names of position arrays of one step, those of several steps, and an error if neither exists."""
        flat = deep = error = None
        try:
            flat = find_positions({name: shape[1:] for name, shape in shapes.items()}, self.options.columns)
        except ConvertError as found:
            error = Uncertain(str(found)) if "could all be" in str(found) else found
        if can_move:
            try:
                deep = find_positions({name: shape[2:] for name, shape in shapes.items() if len(shape) > 1}, self.options.columns)
            except ConvertError as found:
                error = Uncertain(str(found)) if "could all be" in str(found) else error
        return flat, deep, error

    def _check_axes(self, shapes):
        """Raises if either axis of the positions could be the steps."""
        name = self.positions[0]
        lengths = {each: shape[0] for each, shape in shapes.items()
                   if len(shape) == 1 and each.lower() in TIMES + NUMBERS + SHORT_TIMES}
        is_shown = self.steps in lengths.values() and self.steps != self.count
        if self.count in lengths.values() and self.count != self.steps and not is_shown:
            other = next(each for each, length in lengths.items() if length == self.count)
            raise Uncertain(f"{self.where}{name}: has shape {shapes[name]}, which is read as {self.steps} steps of {self.count} "
                            f"particles, but '{other}' has {self.count} values; transpose the array")
        if len(shapes[name]) == 2 and not is_shown:
            raise Uncertain(f"{self.where}{name}: has shape {shapes[name]}, of which either axis could be the steps; an array "
                            "'time' with as many values as steps would show it")
        self._report_axes(name, shapes[name])

    def _report_axes(self, name, shape):
        self.remarks.append((f"axes of {self.where}{name}", f"'{name}' with shape {shape} is read as {self.steps} steps of "
                             f"{self.count} particles"))

    def _sort(self):
        for name, (shape, dtype) in self.columns.shapes.items():
            if name in self.positions:
                (self.fixed if self.steps is None else self.moving).append(name)
            elif not shape or (shape == (1,) and (self.count != 1 or self.steps is not None)):
                self._sort_single(name, dtype)
            elif not _is_number(dtype):
                self._leave_out(name, plain(np.empty(0, dtype))[1] or f"its type is {dtype}", False)
            elif name.lower() in BOXES and shape[:2] != (self.steps, self.count) and (
                    int(np.prod(shape[self._is_of_steps(name, shape):])) <= 9):
                self._leave_out(name, "it describes the box, not particles")
            elif self.steps is None:
                self._sort_flat(name, shape, dtype)
            else:
                self._sort_moving(name, shape, dtype)

    def _sort_single(self, name, dtype):
        if name.lower() in SHORT_TIMES and self._is_short_time(name, dtype):
            self.time_name = name
            self.remarks.append((f"time {name}", f"'{name}' with a single value is used as the time"))
        elif self.steps not in (None, 1) or not self._is_clock(name, dtype):
            self._leave_out(name, "it is a single value" if self.columns.shapes[name][0] is not None else "it is empty")

    def _is_short_time(self, name, dtype):
        """Returns whether a single value is the time of the step, for which no other value is named."""
        if self.steps is not None or not self.can_move or dtype.kind != "f" or self.columns.shapes[name][0] is None:
            return False
        return not any(each.lower() in TIMES for each in self.columns.shapes) and self.columns.named(TIMES, "iuf") is None

    def _is_clock(self, name, dtype):
        """Returns whether an array has the time or number of the step, or of all steps."""
        known = name.lower()
        if not self.can_move:
            return False
        if known in TIMES and dtype.kind in "iuf" and self.time_name is None:
            self.time_name = name
        elif known in NUMBERS and dtype.kind in "iu" and self.number_name is None:
            self.number_name = name
        else:
            return False
        return True

    def _sort_flat(self, name, shape, dtype):
        if shape[0] != self.count:
            self._leave_out(name, f"it has {shape[0]} values for {self.count} particles")
            return
        if shape == (1,) and self._is_clock(name, dtype):
            return
        if name.lower() in TIMES and len(shape) == 1:
            self.remarks.append((f"time {name}", f"'{name}' has a value for each particle and is an attribute, not the time of "
                                 "the step"))
        self.fixed.append(name)

    def _sort_moving(self, name, shape, dtype):
        if len(shape) == 1 and shape[0] == self.steps:
            if name.lower() in SHORT_TIMES and dtype.kind == "f" and self.steps != self.count and (
                    not any(each.lower() in TIMES for each in self.columns.shapes)):
                self.time_name = name
                self.remarks.append((f"time {name}", f"'{name}' with a value for each step is used as their times"))
                return
            if self._is_clock(name, dtype):
                return
        if shape[:2] == (self.steps, self.count):
            if len(shape) == 2 and self.steps == self.count:
                self._report_axes(name, shape)
            self.moving.append(name)
        elif shape[0] == self.count and self.count != self.steps:
            self.fixed.append(name)
        elif shape[0] == self.count:
            self._leave_out(name, f"its {shape[0]} values could be those of the steps or of the particles")
        elif shape[0] == self.steps:
            self._leave_out(name, "it has a value for each step, not for each particle")
        else:
            self._leave_out(name, f"it has {shape[0]} values for {self.steps} steps of {self.count} particles")

    def _is_of_steps(self, name, shape):
        """Returns whether an array that does not describe particles has a value for each step. If the steps are few, a box may be
        the same for all of them."""
        if self.steps is None or not shape or shape[0] != self.steps:
            return False
        return name.lower() not in BOXES or len(shape) == 3 or (len(shape) == 2 and self.steps > 6)

    def _leave_out(self, name, why, is_kept=True):
        if name in (self.options.arrays or ()):
            self.refusal = self.refusal or f"'{name}' cannot be an attribute: {why}"
        if not self.options.wants(name):
            self.unwanted.add(name)
            return
        shape, dtype = self.columns.shapes[name]
        is_kept = is_kept and shape is not None and (_is_number(dtype) or not shape) and (
            int(np.prod(shape[self._is_of_steps(name, shape):])) <= MAX_KEPT)
        self.others.append((name, is_kept))
        why += "; the metadata keeps it" if is_kept else ""
        self.remarks.append((f"left out {name}", f"'{name}' is not written: {why}"))

    @property
    def frames(self):
        """Returns (number, time) of each step."""
        check_memory(f"{self.where}{self.positions[0]}: claims {self.steps} steps", (self.steps or 0) * STEP_BYTES)
        clocks = []
        for name, kinds, names, kind in ((self.number_name, "iu", NUMBERS, int), (self.time_name, "iuf", TIMES, float)):
            if name is None:
                single = self.columns.named(names, kinds) if self.steps is None else None
                clocks.append([None if single is None else kind(single)] * (self.steps or 1))
                continue
            values = np.asarray(self.columns.read_all(name)).reshape(-1)
            clocks.append([kind(value) for value in values])
        return list(zip(*clocks))

    def kept(self, step):
        """Returns metadata: values that do not describe particles."""
        result = {}
        for name, is_kept in self.others:
            if is_kept:
                is_of_steps = self._is_of_steps(name, self.columns.shapes[name][0])
                result[name] = as_json(self.columns.read(name, step, []) if is_of_steps else self.columns.read_all(name))
        return {"single_values": result} if result else {}

    @property
    def requested(self):
        if self.refusal:
            raise ConvertError(self.refusal)
        collector = Collector(self.options)
        return [name for name in self.fixed + self.moving if collector.wants(name) or name in self.positions]

    def particles(self, step=None, part=None, metadata=None, species=""):
        """Returns the Particles of a step, or of a part (i, n) of it."""
        rows = ... if part is None else slice(*part_of(self.count, *part))
        collector = Collector(self.options, self.count if part is None else rows.stop - rows.start)
        collector.remarks += self.remarks
        names = self.requested
        collector.others |= (set(self.fixed + self.moving) - set(names)) | self.unwanted
        if part is None and step is None:
            self.columns.prepare(names)
        for i, name in enumerate(names):
            index = rows if name not in self.moving else step if part is None else (step, rows)
            collector.add(name, self.columns.read(name, index, collector.remarks), f"{self.where}{name}")
            self.options.at((i + 1) / len(names))
        self.columns.forget()
        positions = stack([None if name is None else collector.arrays.pop(name) for name in self.positions])
        return collector.particles(positions, {**(metadata or {}), **self.kept(step)}, species)

    def divided(self, step=None, metadata=None, species=""):
        size = 0
        for name in self.requested:
            shape, dtype = self.columns.shapes[name]
            size += int(np.prod(shape[1:] if name in self.moving else shape)) * dtype.itemsize
        return Divided(size, lambda i, n: self.particles(step, (i, n), metadata, species), species)


def _is_number(dtype):
    return dtype.kind in "iufbc"


def _counted(lengths):
    return " x ".join(map(str, lengths))


def steps(layouts, about=lambda species: {}):
    """Yields the steps of Layouts by species, and after them one step for species that do not vary in time. about(species):
    returns metadata."""
    layouts = dict(layouts)
    found = _split(layouts, about)
    if found is not None:
        yield from found
        return
    moving = {name: layout.frames for name, layout in layouts.items() if layout.steps is not None}
    found, remarks, left_out = merge(moving) if moving else ([], [], [])
    if left_out and len(left_out) == len(moving):
        raise ConvertError(remarks[0][1])
    for layout in layouts.values():
        layout.remarks += remarks
    for number, time, frames in found:
        yield _step(layouts, frames, number, time, about)
    fixed = {name: None for name in layouts if name not in moving}
    if fixed:
        clocks = {name: layouts[name].frames[0] for name in fixed}
        numbers, times = ({clock[which] for clock in clocks.values() if clock[which] is not None} for which in (0, 1))
        if len(times) > 1 or len(numbers) > 1:
            some = ", ".join(f"{name} {clock}" for name, clock in list(clocks.items())[:4])
            layouts[next(iter(fixed))].remarks.append(("clocks", f"groups have different steps or times, {some}: none is used; "
                                                       "convert each with --species"))
        yield _step(layouts, fixed, numbers.pop() if len(numbers) == 1 else None, times.pop() if len(times) == 1 else None, about)


def _split(layouts, about):
    """Returns the steps of records with a column of times, or None without one."""
    (species, layout), is_single = next(iter(layouts.items())), len(layouts) == 1
    if is_single:
        return layout_times.split(layout, isinstance(layout.columns, Records), lambda: about(species), species)
    if layout.options.time_column not in (None, "none"):
        raise ConvertError(f"argument --time-column: the file has {listed(layouts)}; choose one with --species")
    for layout in layouts.values():
        times = [name for name in layout.fixed if name in SHORT_TIMES] if isinstance(layout.columns, Records) else []
        layout.remarks += [(f"time {name}", f"'{name}' has a value for each particle and is an attribute, not the time of the step")
                           for name in times]
    return None


def _step(layouts, frames, number, time, about):
    return Step(lambda: [layouts[name].particles(i, None, about(name), name) for name, i in frames.items()], number, time,
                lambda: [layouts[name].divided(i, about(name), name) for name, i in frames.items()])
