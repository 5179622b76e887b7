# SPDX-License-Identifier: BSD-3-Clause
"""Other .idx datasets, written by OpenVisus, PIDX or this library: rewrites the same samples in another layout."""

from ... import idx
from ..model import ConvertError, Fields, Format, Step, check_memory, part_of
from ...errors import BatError


def steps(path, options):
    with _errors(idx.open, path) as dataset:
        for number, time in zip(dataset.steps, dataset.times):
            yield Step(lambda number=number: _read(dataset, number, options), number, time)


def _errors(call, *arguments, **options):
    try:
        return call(*arguments, **options)
    except BatError as error:
        raise ConvertError(str(error)) from None


def _read(dataset, number, options):
    names = [name for name in dataset.fields if options.wants(name)]
    box, axis = list(dataset.box), 2
    begin, end = part_of(box[axis + 3] - box[axis] + 1, *options.slab)
    box[axis + 3], box[axis] = box[axis] + end - 1, box[axis] + begin
    check_memory(f"claims {' x '.join(map(str, dataset.lattice(box=box).count))} samples", dataset.cost(names, box=box).bytes)
    grid = _errors(dataset.read, names, step=number, axes=3, box=box, progress=lambda done: options.at(done))
    remarks = [("absent", f"{grid.absent_blocks} blocks are missing and have default values")] if grid.absent_blocks else []
    if dataset.warning:
        remarks.append(("place", dataset.warning))
    return Fields(dict(grid), dataset.origin, dataset.spacing, box[:3], remarks,
                  others=[name for name in dataset.fields if name not in names], options=options, is_part=True)


FORMAT = Format("idx", "other .idx datasets", steps, extensions=(".idx",),
                sniff=lambda head, path: path.lower().endswith(".idx") and b"(version)" in head, rank=5)
