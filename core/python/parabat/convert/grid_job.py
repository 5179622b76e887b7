# SPDX-License-Identifier: BSD-3-Clause
"""Conversion of grids: all steps go into one .idx dataset, one after the other; velocities become bricks, one file per
step. Each rank reads a slab of a step, and all ranks write the step together."""

import contextlib
import os
import pathlib

import numpy as np

from .. import BatError, bricks, idx
from . import cf
from .model import ConvertError, listed, stem
from .running import INTERRUPTED, Job, Outcome, about, agreed, in_turn, shares


class GridJob(Job):
    """A conversion of grids to .idx; settings: keywords of parabat.idx.write()."""

    is_collective = True
    comm = None  # communicator of the participating ranks
    _times = None  # override the times of the inputs
    advice = ""    # appended to errors about times that do not match

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.options.stems = tuple(stem(one.path) for one in self.inputs)
        self._clock = None  # (clock of the first step with a time,)

    def work(self, local, emit):
        with contextlib.closing(self.selected(emit)) as steps:
            self._write(steps, local, emit)

    def _write(self, steps, local, emit):
        if os.path.realpath(self.output) in {os.path.realpath(one.path) for one in self.inputs}:
            raise ConvertError(f"{self.output}: is an input and cannot be overwritten; choose another name")
        place, reported, has_time, numbers = 0, set(), None, set()
        for index, one, step, fields in self._read(steps, local, emit):
            time = self._time(one, step)
            self.note_units(fields)
            for key, words in fields.remarks:
                if key not in reported:
                    reported.add(key)
                    emit({"remark": f"{one.path}: {words}", "key": key})
            has_time = time is not None if has_time is None else has_time
            number = index if step.number is None or step.number < 0 else step.number
            if number in numbers:  # from another file: a step never overwrites an earlier one
                number = max(numbers) + 1
            if has_time and time is None:
                raise ConvertError(f"{one.path}: step {number} has no time, but earlier ones have")
            numbers.add(number)
            emit({"begin": self.output, "input": one.path})
            news = {"done": self.output, "input": one.path, "index": index, "species": "", "step": number,
                    "time": time if has_time else None, "dimensions": self._dimensions(fields),
                    "fields": sorted(fields.arrays), "series": False}

            def put(progress, one=one, fields=fields, news=news, place=place):
                try:
                    return self.put(fields, news, place, progress)
                except (BatError, ConvertError) as error:
                    text = str(error)
                    raise ConvertError(text if self.output in text or text.startswith(one.path) else f"{one.path}: {text}") from None
            if self.comm is None:
                self.write(self.output, put, lambda more, news=news: {**news, **more}, emit, lambda place=place: local(place))
            else:
                at = shares(emit, f"writing {self.output}", lambda place=place: local(place))
                more = self.collective(lambda at=at: put(at), one.path)
                emit({**news, **more})
            place += 1
        if place == 0:
            raise ConvertError(f"{self.inputs[0].path}: no steps" + ("" if self.steps == slice(None) else
                                                                     " selected by --steps"))
        self.finish()

    def _read(self, steps, local, emit):
        """Yields steps as in_turn() does. Each rank reads its slab; if one rank fails, all do."""
        if self.comm is None:
            for index, one, step, fields in in_turn(self, steps, local, emit):
                with about(one.path, self.options):
                    self.prepare(fields)
                yield index, one, step, fields
                del fields
            return
        while True:
            found = agreed(self.comm, lambda: local(0) or next(steps, None), self.inputs[0].path)  # local() may raise
            if found is None:
                return
            index, one, step = found

            def read(step=step):
                fields = step.read().cut(self.options.slab)
                self.prepare(fields)
                return fields
            fields = agreed(self.comm, read, one.path)
            fields.remarks = list(dict(remark for each in self.comm.allgather(fields.remarks) for remark in each).items())
            yield index, one, step, fields
            del fields

    def prepare(self, fields):
        """Prepares the fields of a step for writing: applies --fill and looks for absurd values."""
        for name, array in fields.arrays.items():
            if array.dtype.kind != "f":
                if self.options.fill:
                    fields.remarks.append((f"fill {name}", f"'{name}' keeps its integers, which cannot be NaN; not applied: --fill"))
                continue
            marks = [array.dtype.type(number) for number in self.options.fill or ()]
            if marks and np.isin(array, marks).any():
                array = fields.arrays[name] = np.where(np.isin(array, marks), array.dtype.type(np.nan), array)
            if self.is_suspicious(fields):
                found = cf.absurd(array)
                if found:
                    fields.remarks.append((f"absurd {name}", f"warning: '{name}' has {found[1]:,} values of {found[0]:.9g}, which may mark missing "
                                                             f"data; use --fill={found[0]:.9g} to replace them by NaN"))

    def note_units(self, fields):
        """Adds a remark if flow filters would misread the velocities, since an .idx file stores no units."""
        clock = self._clock[0] if self._clock else None
        rates = [name for name, about in fields.about.items() if cf.is_velocity(about.get("units"))]
        if rates and clock is not None and cf.unit(clock.unit) is not None and cf.seconds(clock) != 1:
            fields.remarks.append(("units", f"times are in '{clock}', but '{rates[0]}' in '{fields.about[rates[0]]['units']}': an .idx file has no "
                                            "units, and flow filters use its numbers unchanged; use OUT.bricks.series to convert them"))

    def is_suspicious(self, fields):
        """Returns whether to search for absurdly large values, which takes as long as reading them."""
        return bool(fields.axis)

    def _time(self, one, step):
        """Returns the time of a step on the clock of the first step."""
        if step.time is None or self._times:
            return step.time
        self._clock = self._clock or (step.clock,)
        first, own = self._clock[0], step.clock
        with about(one.path, self.options):
            try:
                if (first is None) != (own is None):
                    raise ConvertError(f"times are in '{own or first}' in some steps and have no units in others")
                return step.time if first is None else cf.on_clock(step.time, own, first)
            except ConvertError as error:
                raise ConvertError(str(error) + self.advice) from None

    def collective(self, do, path):
        """Returns do(). On many ranks, all raise if it fails on one."""
        return do() if self.comm is None else agreed(self.comm, do, path)

    def _dimensions(self, fields):
        """Returns the number of samples of the whole step along x, y, z."""
        if self.comm is None:
            return fields.dimensions
        ends = np.array([(*first, *np.add(first, count)) for first, count in self.comm.allgather(
            (tuple(fields.first), tuple(fields.dimensions))) if 0 not in count])
        return tuple((ends[:, 3:].max(0) - ends[:, :3].min(0)).tolist())

    def put(self, fields, news, place, progress):
        """Writes a step; returns further values to report."""
        settings = {"mode": "add_step" if place else "replace", "step": news["step"], "time": news["time"],
                    "progress": progress, "origin": fields.origin, "spacing": fields.spacing, "axes": fields.axes,
                    **self.settings}
        if self.comm is None:
            return {"bytes": idx.write(self.output, fields.arrays, first=fields.first, **settings).file_bytes}
        pieces = [] if 0 in fields.dimensions else [idx.Piece(fields.arrays, fields.first)]
        return {"bytes": idx.write(self.output, pieces, comm=self.comm, **settings).file_bytes}

    def finish(self):
        """Called after the last step."""


class BricksJob(GridJob):
    """A conversion of velocities to NAME.bricks.series, or of a single step to NAME.bricks. settings: keywords of
    parabat.flow.write_series(), and `times`."""

    advice = "; use --times to replace them"

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self._options = {name: value for name, value in self.settings.items() if name != "threads"}
        self._times = self._options.pop("times", None)
        self._replace = self._options.pop("replace", False)
        self._cyclic = self._options.pop("cyclic", None)
        self._writer = None
        self._name = None  # name of the velocity in all levels

    def work(self, local, emit):
        is_series = self.output.endswith(".series")
        for before, after in zip(self._times or (), (self._times or ())[1:]):
            if not before < after:
                raise ConvertError(f"times: {after} after {before}; they must increase")
        if self._times is not None or not is_series:
            count = self.collective(self._count, self.inputs[0].path)
            if self._times is not None and len(self._times) != count:
                raise ConvertError(f"times: {len(self._times)} for {count} steps")
            if not is_series and count > 1:
                raise ConvertError(f"{self.output}: {count} steps; a .bricks file has one, chosen by --steps; use .bricks.series for all")
        try:
            if is_series:
                self._writer = bricks.SeriesWriter(pathlib.Path(self.output), self.comm, self._replace, self._options)
            elif os.path.exists(self.output) and not self._replace:
                raise ConvertError(f"{self.output}: already exists; use --replace to replace it")
        except BatError as error:
            raise ConvertError(str(error).replace("replace=True", "--replace")) from None
        super().work(local, emit)

    def _count(self):
        with contextlib.closing(self.selected(lambda news: None)) as steps:
            return sum(1 for _ in steps)

    def put(self, fields, news, place, progress):
        name, velocity, settled = fields.velocity
        self._name = self._name or name
        place_of = {"origin": fields.origin, "spacing": fields.spacing, "field": self._options.get("field", self._name),
                    "step": news["step"], "cyclic": fields.cyclic}
        time = self._times[place] if self._times else self._time_of_level(news["time"], settled, place)
        metadata = self._metadata(settled)
        if metadata:
            place_of["metadata"] = metadata
        if self.comm is None:
            place_of["origin"] = [start + first * step for start, first, step in zip(*(
                map(float, each) for each in (fields.origin, fields.first, fields.spacing)))]
            pieces = velocity
        else:
            pieces = [bricks.Piece(velocity, fields.first)] if velocity.size else []
        is_untimed = not self._times and news["time"] is None
        news["fields"], news["time"] = [place_of["field"]], time
        if self._writer is None:
            news["time"] = None if is_untimed else time
            bricks.write_level(self.output, pieces, comm=self.comm, time=news["time"], progress=progress,
                             **{**self._options, **place_of})
            return {"bytes": self._size(self.output)}
        file = self._writer.add(news["time"], pieces, progress, **place_of)
        return {"bytes": self._size(file), "level": str(file)}

    def _time_of_level(self, time, settled, place):
        """Returns the time in the time unit of the velocity, if that is known."""
        clock = self._clock[0] if self._clock else None
        if time is None:
            if settled.period is not None and place:
                raise ConvertError("has no time, but the velocity has units; use --times to specify the times of all steps, in the time unit of the "
                                   "velocity")
            return float(place)
        clock = cf.Clock(self.options.time_unit) if self.options.time_unit else clock
        try:
            period = 1.0 if clock is None else cf.seconds(clock)
        except ConvertError as error:
            raise ConvertError(str(error) + self.advice) from None
        if settled.period is None:
            if clock is not None and not self.options.ignore_units and period != 1:
                raise ConvertError(f"times are in '{clock}', but the velocity has no units; specify them with --velocity-unit, such as 'm s-1', or use "
                                   "--ignore-units to use all numbers unchanged")
            return time
        if clock is None:
            raise ConvertError("times have no units, but the velocity has; specify them with --time-unit, such as s, or use --ignore-units to use all "
                               "numbers unchanged")
        return time * period / settled.period

    def _metadata(self, settled):
        """Returns metadata with the units of the level, or None."""
        if settled.period is None or "metadata" in self._options:
            return None
        clock = self._clock[0] if self._clock and not self._times else None
        about = {**settled.metadata, "time_units": "s" if settled.period == 1 else f"{settled.period:g} s"}
        if clock and clock.since:
            about["time_units"] += f" since {clock.since}"
            about["calendar"] = clock.calendar
        return about

    def _size(self, file):
        """Returns the size of a file on rank 0, which reports it; other ranks may not see the file yet."""
        return os.path.getsize(file) if self.comm is None or self.comm.rank == 0 else 0

    def note_units(self, fields):
        """Does nothing: bricks store units that match."""

    def is_suspicious(self, fields):
        return True

    def prepare(self, fields):
        super().prepare(fields)
        name, arrays, names = self._components(fields)
        fields.cyclic = [axis.turns > 0 for axis in fields.axis] if self._cyclic is None and fields.axis else self._cyclic or False
        settled = cf.Settled(arrays, [1.0] * 3, None, [], {})
        if fields.axis:
            self._close_globe(fields, arrays)
            latitudes = [None] * 3
            for i, axis in enumerate(fields.axis):
                if axis.kind == "Y" and axis.is_degrees() and axis.has_coordinates:
                    latitudes[i] = fields.origin[i] + (fields.first[i] + np.arange(fields.dimensions[i])) * fields.spacing[i]
            settled = cf.settle(names, arrays, [fields.about[each] for each in names], fields.axis, latitudes, self.options)
            fields.remarks += settled.remarks
            for key, given in (("origin", self.options.origin), ("spacing", self.options.spacing)):
                if given is None:
                    setattr(fields, key, [float(number) * factor for number, factor in zip(getattr(fields, key), settled.factors)])
        velocity = settled.arrays[0] if len(settled.arrays) == 1 else np.stack(settled.arrays, axis=-1)
        settled.arrays, fields.arrays = [], {}
        fields.velocity = name, velocity, settled

    def _close_globe(self, fields, arrays):
        """Drops the last sample of longitudes that span the globe if it repeats the first one."""
        for i, axis in enumerate(fields.axis):
            is_cyclic = bool(fields.cyclic and fields.cyclic[i])
            if axis.turns and not is_cyclic:
                fields.remarks.append((f"globe {axis.name}", f"'{axis.name}' spans the globe, but lines end at its ends; use --cyclic {'xyz'[i]} to "
                                                             "continue them"))
            elif axis.turns and self._cyclic is None:
                fields.remarks.append((f"globe {axis.name}", f"'{axis.name}' spans the globe: the flow is periodic along {'xyz'[i]}; use --cyclic none "
                                                             "to bound it"))
            if axis.turns == 361 and is_cyclic:
                fields.remarks.append((f"twice {axis.name}", f"the last sample along '{axis.name}' repeats the first one and is skipped"))
                cut = [slice(None)] * 3
                cut[2 - i] = slice(0, axis.points - 1)
                arrays[:] = [array[tuple(cut)] for array in arrays]
                fields.dimensions = tuple(count - (j == i) for j, count in enumerate(fields.dimensions))

    def _components(self, fields):
        """Returns (name, arrays, names in the file) of the arrays that form one velocity: components (nz, ny, nx), or one array
        (nz, ny, nx, components)."""
        order = self.options.arrays or []
        names = sorted(fields.arrays, key=lambda name: order.index(fields.names[name]) if order else 0)
        if self.options.spacing is None:
            for key, words in fields.remarks:
                if key.startswith("axis "):  # flow cannot be traced on uneven spacing
                    raise ConvertError(f"{words}; if intended, confirm with --spacing")
        arrays = [fields.arrays[name].reshape((1,) * (3 - fields.axes) + fields.arrays[name].shape) for name in names]
        kinds = [array.dtype.newbyteorder("=") for array in arrays]
        real = all(kind in (np.float32, np.float64) for kind in kinds)
        own = [fields.names[name] for name in names]
        if len(arrays) == 1 and real and arrays[0].ndim == 4 and arrays[0].shape[3] in (2, 3):
            return names[0], arrays, own
        if len(arrays) in (2, 3) and real and len(set(kinds)) == 1 and all(array.ndim == 3 for array in arrays):
            places = range(len(names)) if order else _as_components(names)
            if places is None:
                raise ConvertError(f"no velocity: {listed(names)} are not named like components of one, such as u, v, w or vel_x, vel_y, vel_z; specify "
                                   "them with --arrays, in the order x, y, z")
            return "velocity", [arrays[place] for place in places], [own[place] for place in places]
        shown = [f"{name} of type {array.dtype}" + (f"[{array.shape[3]}]" if array.ndim == 4 else "")
                 for name, array in zip(names, arrays)]
        raise ConvertError(f"no velocity among {listed(shown)}; a velocity is one array with 2 or 3 components, or two or three with one, of type "
                           "float32 or float64; choose with --arrays")

    def finish(self):
        if self._writer is not None:
            self._writer.finish()


def _as_components(names):
    """Returns the indexes of the x, y and z components, by the one letter or digit in which names differ, or None."""
    differ = [place for place, letters in enumerate(zip(*names)) if len(set(letters)) > 1]
    if len({len(name) for name in names}) > 1 or len(differ) != 1:
        return None
    letters = [name[differ[0]].lower() for name in names]
    known = any("".join(sorted(letters)) == series[:len(names)] for series in ("xyz", "uvw", "012", "123"))
    return sorted(range(len(names)), key=letters.__getitem__) if known else None


class GridOutcome(Outcome):
    """Keeps complete steps: each appears by one rename."""

    def settle(self, output):
        done = [news["step"] for news in self.done]
        if self.failure is None or not done:
            return []
        what = "was interrupted" if self.failure[0] == INTERRUPTED else "failed"
        return [f"{output} contains what was complete when it {what}: " + (f"step {done[0]}" if len(done) == 1 else
                                                                   f"steps {done[0]} to {done[-1]}")]
