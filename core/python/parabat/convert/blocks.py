# SPDX-License-Identifier: BSD-3-Clause
"""Blocks and pieces of one step: pieces are joined, and named blocks become species."""

import re

import numpy as np

from .model import ConvertError


def join_blocks(members, options, are_blocks=False):
    """Returns the list of Particles of a step. members: (block name or "", Particles, where they come from).

    Members with the same name are pieces of one block and are joined. If names differ, each becomes a species. If
    unnamed members are_blocks and their attributes differ, they become the species block_0, block_1 ...
    """
    groups = {}
    for name, particles, where in members:
        groups.setdefault(re.sub(r"[^\w.+-]+", "_", name), []).append((particles, where))
    if are_blocks and set(groups) == {""} and not are_alike(groups[""]):
        groups = {f"block_{i}": [one] for i, one in enumerate(groups[""])}
    if len(groups) > 1 and "" in groups:
        groups["block"] = groups.pop("") + groups.pop("block", [])
    found = []
    for name, parts in groups.items():
        joined = _join(parts)
        joined.species = name if len(groups) > 1 or options.species else ""
        found.append(joined)
    return found


def _kinds(part):
    return {name: (array.dtype.name, array.shape[1:]) for name, array in part.attributes.items()}


def are_alike(parts):
    """Returns whether all Particles have the same attributes, ignoring those without points. parts: pairs of Particles and
    where they come from."""
    filled = [_kinds(part) for part, _ in parts if len(part.positions)]
    return all(kinds == filled[0] for kinds in filled)


def _join(parts):
    """Joins pieces with the same attributes into Particles. Pieces without points may lack attributes."""
    filled = [i for i, (part, _) in enumerate(parts) if len(part.positions)] or [0]
    first, place = parts[filled[0]]
    for i in filled[1:]:
        part, where = parts[i]
        ours, theirs = _kinds(first), _kinds(part)
        if ours != theirs:
            name = next(name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name))
            raise ConvertError(f"{where}: '{name}' is {_described(theirs.get(name))}, but {_described(ours.get(name))} in "
                               f"{place}, a part of the same time")
    if filled[1:]:
        first.positions = np.concatenate([parts[i][0].positions for i in filled])
        first.attributes = {name: np.concatenate([parts[i][0].attributes[name] for i in filled]) for name in first.attributes}
    for part, _ in parts:
        if part is not first:
            first.remarks += part.remarks
            first.others |= part.others
    return first


def _described(kind):
    if kind is None:
        return "missing"
    dtype, shape = kind
    return dtype + "".join(f"[{size}]" for size in shape)

