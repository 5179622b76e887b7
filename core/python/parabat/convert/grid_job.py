# SPDX-License-Identifier: BSD-3-Clause
"""Grids: all steps to an .idx dataset, one behind the other; velocities to bricks, a file for each step. Ranks read
slabs of each step and write it together."""

import contextlib
import os
import pathlib

import numpy as np

from .. import BatError, idx
from .model import ConvertError, listed
from .running import INTERRUPTED, Job, Outcome, agreed, in_turn, shares


class GridJob(Job):
    """A conversion of grids to .idx; settings: keywords of parabat.idx.write()."""

    is_collective = True
    comm = None  # of the ranks that take part

    def work(self, mine, tell):
        with contextlib.closing(self.selected(tell)) as steps:
            self._write(steps, mine, tell)

    def _write(self, steps, mine, tell):
        if os.path.realpath(self.output) in {os.path.realpath(one.path) for one in self.inputs}:
            raise ConvertError(f"{self.output}: is an input and is not written over; choose another name")
        place, told, has_time, numbers = 0, set(), None, set()
        for index, one, step, fields in self._read(steps, mine, tell):
            for key, words in fields.remarks:
                if key not in told:
                    told.add(key)
                    tell({"remark": f"{one.path}: {words}", "key": key})
            has_time = step.time is not None if has_time is None else has_time
            number = index if step.number is None or step.number < 0 else step.number
            if number in numbers:  # of another file: no step takes the place of one that was written before
                number = max(numbers) + 1
            if has_time and step.time is None:
                raise ConvertError(f"{one.path}: step {number} has no time; those before it have one")
            numbers.add(number)
            tell({"begin": self.output, "input": one.path})
            news = {"done": self.output, "input": one.path, "index": index, "species": "", "step": number,
                    "time": step.time if has_time else None, "dimensions": self._dimensions(fields),
                    "fields": sorted(fields.arrays), "series": False}

            def put(progress, one=one, fields=fields, news=news, place=place):
                try:
                    return self.put(fields, news, place, progress)
                except (BatError, ConvertError) as error:
                    text = str(error)
                    raise ConvertError(text if self.output in text or text.startswith(one.path) else f"{one.path}: {text}") from None
            if self.comm is None:
                self.write(self.output, put, lambda more, news=news: {**news, **more}, tell, lambda place=place: mine(place))
            else:
                at = shares(tell, f"writing {self.output}", lambda place=place: mine(place))
                more = self.together(lambda at=at: put(at), one.path)
                tell({**news, **more})
            place += 1
        if place == 0:
            raise ConvertError(f"{self.inputs[0].path}: no steps" + ("" if self.steps == slice(None) else
                                                                     " that --steps chooses"))
        self.finish()

    def _read(self, steps, mine, tell):
        """As in_turn(); of many ranks, each has its slab, and none goes on if one cannot."""
        if self.comm is None:
            yield from in_turn(self, steps, mine, tell)
            return
        while True:
            found = agreed(self.comm, lambda: mine(0) or next(steps, None), self.inputs[0].path)  # mine() may raise
            if found is None:
                return
            index, one, step = found
            fields = agreed(self.comm, lambda step=step: step.read().cut(self.options.part), one.path)
            fields.remarks = list(dict(remark for each in self.comm.allgather(fields.remarks) for remark in each).items())
            yield index, one, step, fields
            del fields

    def together(self, do, path):
        """What do() returns, which a rank does by itself, or at the end of which it may fail by itself."""
        return do() if self.comm is None else agreed(self.comm, do, path)

    def _dimensions(self, fields):
        """Of the whole step: samples along x, y, z."""
        if self.comm is None:
            return fields.dimensions
        ends = np.array([(*first, *np.add(first, count)) for first, count in self.comm.allgather(
            (tuple(fields.first), tuple(fields.dimensions))) if 0 not in count])
        return tuple((ends[:, 3:].max(0) - ends[:, :3].min(0)).tolist())

    def put(self, fields, news, place, progress):
        """Writes a step; returns what more there is to tell."""
        settings = {"mode": "add_step" if place else "replace", "step": news["step"], "time": news["time"],
                    "progress": progress, "origin": fields.origin, "spacing": fields.spacing, "axes": fields.axes,
                    **self.settings}
        if self.comm is None:
            return {"bytes": idx.write(self.output, fields.arrays, first=fields.first, **settings).file_bytes}
        pieces = [] if 0 in fields.dimensions else [idx.Piece(fields.arrays, fields.first)]
        return {"bytes": idx.write(self.output, pieces, comm=self.comm, **settings).file_bytes}

    def finish(self):
        """After the last step."""


class BricksJob(GridJob):
    """A conversion of velocities to NAME.bricks.series, or of the only step to NAME.bricks; settings: keywords of
    parabat.flow.write_series(), and `times`."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self._options = {name: value for name, value in self.settings.items() if name != "threads"}
        self._times = self._options.pop("times", None)
        self._replace = self._options.pop("replace", False)
        self._writer = None

    def work(self, mine, tell):
        from .. import flow  # pylint: disable=import-outside-toplevel
        is_series = self.output.endswith(".series")
        for before, after in zip(self._times or (), (self._times or ())[1:]):
            if not before < after:
                raise ConvertError(f"times: {after} behind {before}; they must increase")
        if self._times is not None or not is_series:
            count = self.together(self._count, self.inputs[0].path)
            if self._times is not None and len(self._times) != count:
                raise ConvertError(f"times: {len(self._times)} for {count} steps")
            if not is_series and count > 1:
                raise ConvertError(f"{self.output}: {count} steps; a .bricks has one, which --steps chooses, and all are of "
                                   ".bricks.series")
        try:
            if is_series:
                self._writer = flow.SeriesWriter(pathlib.Path(self.output), self.comm, self._replace, self._options)
            elif os.path.exists(self.output) and not self._replace:
                raise ConvertError(f"{self.output}: is there already; --replace writes over it")
        except BatError as error:
            raise ConvertError(str(error).replace("replace=True", "--replace")) from None
        super().work(mine, tell)

    def _count(self):
        with contextlib.closing(self.selected(lambda news: None)) as steps:
            return sum(1 for _ in steps)

    def put(self, fields, news, place, progress):
        from .. import flow  # pylint: disable=import-outside-toplevel
        name, velocity = self.together(lambda: self._velocity(fields), news["input"])
        place_of = {"origin": fields.origin, "spacing": fields.spacing, "field": self._options.get("field", name),
                    "step": news["step"]}
        if self.comm is None:
            place_of["origin"] = [start + first * step for start, first, step in zip(*(
                map(float, each) for each in (fields.origin, fields.first, fields.spacing)))]
            pieces = velocity
        else:
            pieces = [flow.Piece(velocity, fields.first)] if velocity.size else []
        news["fields"] = [name]
        if self._writer is None:
            news["time"] = self._times[0] if self._times else news["time"]
            flow.write_level(self.output, pieces, comm=self.comm, time=news["time"], progress=progress,
                             **{**self._options, **place_of})
            return {"bytes": self._size(self.output)}
        news["time"] = self._times[place] if self._times else float(place) if news["time"] is None else news["time"]
        file = self._writer.add(news["time"], pieces, progress, **place_of)
        return {"bytes": self._size(file), "level": str(file)}

    def _size(self, file):
        """Of whom it is told; other ranks may not see the file yet."""
        return os.path.getsize(file) if self.comm is None or self.comm.rank == 0 else 0

    def _velocity(self, fields):
        """(name, (nz, ny, nx, components)) of arrays that can be one."""
        order = self.options.arrays or []
        names = sorted(fields.arrays, key=lambda name: order.index(fields.names[name]) if order else 0)
        if self.options.spacing is None:
            for key, words in fields.remarks:
                if key.startswith("axis "):  # flow cannot be traced in it
                    raise ConvertError(f"{words}, which --spacing says is meant")
        arrays = [_with_nan(fields.arrays[name], fields.absent.get(fields.names[name], ())).reshape((1,) * (3 - fields.axes) + fields.arrays[name].shape) for name in names]
        kinds = [array.dtype.newbyteorder("=") for array in arrays]
        real = all(kind in (np.float32, np.float64) for kind in kinds)
        if len(arrays) == 1 and real and arrays[0].ndim == 4 and arrays[0].shape[3] in (2, 3):
            return names[0], arrays[0]
        if len(arrays) in (2, 3) and real and len(set(kinds)) == 1 and all(array.ndim == 3 for array in arrays):
            places = range(len(names)) if order else _as_components(names)
            if places is None:
                raise ConvertError(f"no velocity: {listed(names)} are not named like components of one, such as u, v, w or "
                                   "vel_x, vel_y, vel_z; --arrays says which are, in order of x, y, z")
            return "velocity", np.stack([arrays[place] for place in places], axis=-1)
        shown = [f"{name} of type {array.dtype}" + (f"[{array.shape[3]}]" if array.ndim == 4 else "")
                 for name, array in zip(names, arrays)]
        raise ConvertError(f"no velocity: there are {listed(shown)}; a velocity is one array with 2 or 3 components, or two or "
                           "three with one, of type float32 or float64, which --arrays chooses")

    def finish(self):
        if self._writer is not None:
            self._writer.finish()


def _as_components(names):
    """Places of those for x, y, z, by the one letter or number in which names differ; None if they are no components."""
    differ = [place for place, letters in enumerate(zip(*names)) if len(set(letters)) > 1]
    if len({len(name) for name in names}) > 1 or len(differ) != 1:
        return None
    letters = [name[differ[0]].lower() for name in names]
    known = any("".join(sorted(letters)) == series[:len(names)] for series in ("xyz", "uvw", "012", "123"))
    return sorted(range(len(names)), key=letters.__getitem__) if known else None


def _with_nan(array, absent):
    """Where numbers are that stand for none, there is no flow."""
    if array.dtype.kind != "f" or not np.isin(array, absent).any():
        return array
    return np.where(np.isin(array, absent), array.dtype.type(np.nan), array)


class GridOutcome(Outcome):
    """Steps that are whole stay: each appears by one rename."""

    def settle(self, output):
        done = [news["step"] for news in self.done]
        if self.failure is None or not done:
            return []
        what = "was interrupted" if self.failure[0] == INTERRUPTED else "failed"
        return [f"{output} has what was whole when it {what}: " + (f"step {done[0]}" if len(done) == 1 else
                                                                   f"steps {done[0]} to {done[-1]}")]
