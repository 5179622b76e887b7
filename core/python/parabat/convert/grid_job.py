# SPDX-License-Identifier: BSD-3-Clause
"""Grids to an .idx dataset: all steps, one behind the other."""

import contextlib
import os

from .. import BatError, idx
from .model import ConvertError
from .running import INTERRUPTED, Job, Outcome, in_turn


class GridJob(Job):
    """A conversion of grids; settings: keywords of parabat.idx.write()."""

    def work(self, mine, tell):
        with contextlib.closing(self.selected(tell)) as steps:
            self._write(steps, mine, tell)

    def _write(self, steps, mine, tell):
        if os.path.realpath(self.output) in {os.path.realpath(one.path) for one in self.inputs}:
            raise ConvertError(f"{self.output}: is an input and is not written over; choose another name")
        place, told, has_time, numbers = 0, set(), None, set()
        for index, one, step, fields in in_turn(self, steps, mine, tell):
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
            settings = {"mode": "add_step" if place else "replace", "step": number,
                        "time": step.time if has_time else None, **self.settings}
            self.write(self.output, lambda progress, one=one, fields=fields, settings=settings: self._step(
                one, fields, {"progress": progress, **settings}),
                       lambda report, one=one, index=index, fields=fields, settings=settings: {
                           "done": self.output, "input": one.path, "index": index, "species": "", "step": settings["step"],
                           "time": settings["time"], "dimensions": fields.dimensions, "fields": sorted(fields.arrays),
                           "bytes": report.file_bytes, "series": False}, tell, lambda place=place: mine(place))
            place += 1
        if place == 0:
            raise ConvertError(f"{self.inputs[0].path}: no steps" + ("" if self.steps == slice(None) else
                                                                     " that --steps chooses"))

    def _step(self, one, fields, settings):
        try:
            return idx.write(self.output, fields.arrays, first=fields.first, origin=fields.origin, spacing=fields.spacing,
                             axes=fields.axes, **settings)
        except BatError as error:
            text = str(error)
            raise ConvertError(text if self.output in text else f"{one.path}: {text}") from None


class GridOutcome(Outcome):
    """Steps that are whole stay: each appears by one rename."""

    def settle(self, output):
        done = [news["step"] for news in self.done]
        if self.failure is None or not done:
            return []
        what = "was interrupted" if self.failure[0] == INTERRUPTED else "failed"
        return [f"{output} has what was whole when it {what}: " + (f"step {done[0]}" if len(done) == 1 else
                                                                   f"steps {done[0]} to {done[-1]}")]
