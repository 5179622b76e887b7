# SPDX-License-Identifier: BSD-3-Clause
"""parabat diff A B: compares two datasets bit by bit, regardless of the particles' order, or two grids (.idx),
regardless of how they are stored."""

import numpy as np

from .. import idx
from ..errors import refuse
from ..export import columns
from . import _grids
from ._common import add_json, add_step, parse_attributes, open_one, print_json, progress, show


def add_arguments(parser):
    """Adds the arguments of `diff`."""
    parser.add_argument("a", metavar="A")
    parser.add_argument("b", metavar="B")
    parser.add_argument("--attributes", metavar="X,Y", help="attributes to compare, and positions (default: all)")
    add_step(parser, "a step number that 'parabat info --json' lists (default: all)")
    add_json(parser)


def _bits(values):
    """Returns the values as unsigned integers, which distinguish all NaNs and both zeros."""
    return np.ascontiguousarray(values).view(f"u{values.dtype.itemsize}")


def lone(a, b):
    """Returns the indices of the rows of a, and of b, that the other lacks; a row that occurs n
    times more counts n times. a and b: lists of columns, (n,) each, of the same types."""
    count = len(a[0])
    both = [np.concatenate([_bits(one), _bits(other)]) for one, other in zip(a, b)]
    order = np.lexsort(both)
    if not len(order):
        return order, order
    new = np.zeros(len(order), bool)
    new[0] = True
    for column in both:
        ordered = column[order]
        new[1:] |= ordered[1:] != ordered[:-1]
    group = np.cumsum(new) - 1
    in_b = order >= count
    numbers = np.bincount(group, ~in_b).astype(np.int64), np.bincount(group, in_b).astype(np.int64)
    alone = []
    for rows, more, fewer in ((~in_b, *numbers), (in_b, *reversed(numbers))):
        own = np.flatnonzero(rows)
        starts = np.cumsum(more) - more
        rank = np.arange(len(own)) - starts[group[own]]
        alone.append(order[own[rank >= fewer[group[own]]]])
    return np.sort(alone[0]), np.sort(alone[1] - count)


def _read(path, arguments):
    with open_one(path, arguments.step, "diff") as dataset, progress(f"reading {path}") as on_progress:
        particles = dataset.read(parse_attributes(arguments, dataset), progress=on_progress)
        return particles, {"positions": f"{dataset.position_dtype}[3]", **{
            name: f"{about.dtype}[{about.components}]" for name, about in dataset.attributes.items()
            if name in particles}}


def _rows(found, numbers):
    return [{name: values[number] for name, values in found.items()} for number in numbers[:5]]


def run(arguments):
    """Returns the exit code."""
    if idx.can_open(arguments.a) or idx.can_open(arguments.b):
        if not (idx.can_open(arguments.a) and idx.can_open(arguments.b)):
            refuse(f"{arguments.a} and {arguments.b}: one is a grid, the other contains particles")
        return _grids.diff(arguments)
    (a, types_a), (b, types_b) = (_read(path, arguments) for path in (arguments.a, arguments.b))
    differences = [f"{name}: {types_a.get(name, 'missing')} in {arguments.a}, {types_b.get(name, 'missing')} in "
                   f"{arguments.b}" for name in sorted({*types_a, *types_b})
                   if types_a.get(name) != types_b.get(name)]
    answer = {"a": arguments.a, "b": arguments.b, "particles_a": a.count, "particles_b": b.count,
              "attributes": differences}
    if not differences:
        found = [columns(particles) for particles in (a, b)]
        names = sorted(found[0])
        only = lone(*([one[name] for name in names] for one in found))
        answer["only_a"], answer["only_b"] = map(len, only)
        answer["examples_a"], answer["examples_b"] = (_rows(*pair) for pair in zip(found, only))
    same = not differences and not answer["only_a"] and not answer["only_b"]
    if arguments.json:
        print_json({**answer, "same": same})
        return int(not same)
    if same:
        show(f"the same {a.count:,} particles")
        return 0
    show(*differences)
    for side in ("a", "b") if not differences else ():
        if answer["only_" + side]:
            show(f"only in {answer[side]}: {answer['only_' + side]:,} of {answer['particles_' + side]:,} particles")
        for row in answer["examples_" + side]:
            show("  " + ", ".join(f"{name} {value}" for name, value in row.items()))
    return 1
