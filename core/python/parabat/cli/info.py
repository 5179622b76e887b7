# SPDX-License-Identifier: BSD-3-Clause
"""parabat info FILE...: describes files and series."""

import json

from .. import dataset as datasets
from .. import idx
from ..errors import BatError
from ..series import read_series
from ..tracks import Tracks, is_tracks
from ._bricks import is_bricks
from ._bricks import tell as tell_bricks
from ._common import YES, add_json, in_turn, is_series, print_json, naming_accepted_kinds, show
from ._grids import tell as tell_grid

TAKEN = (".bat", ".pbat", ".bat.series", ".tracks.bat", ".idx", ".bricks", ".bricks.series")


def add_arguments(parser):
    """Adds the arguments of `info`."""
    parser.add_argument("files", nargs="+", metavar="FILE", help=".bat, .pbat, .bat.series, .tracks.bat, .idx, .bricks or "
                        ".bricks.series")
    parser.add_argument("--leaves", action="store_true", help="list the leaf files with their boxes")
    add_json(parser)


def _box(ends):
    """Returns None if no coordinate is finite."""
    return ends if ends[0] <= ends[3] else None


def _storage(dataset):
    """Returns the answer of the first leaf file that has one; nothing if none does."""
    for leaf in range(dataset.leaf_file_count):
        try:
            return dataset.storage(leaf)
        except BatError:  # missing, damaged, or written by the paper's library
            continue
    return {}


def described(dataset, leaves):
    """Returns a description for JSON."""
    storage = _storage(dataset)

    def stored(name):
        return storage[name]._asdict() if storage else None

    facts = {"file": str(dataset.path), "particles": len(dataset), "time": dataset.time,
             "step": dataset.step, "file_bytes": dataset.file_bytes, "leaf_files": dataset.leaf_file_count,
             "position_type": dataset.position_dtype.name, "box": _box(dataset.box),
             "metadata": json.loads(dataset.metadata) if dataset.metadata else None,
             "attributes": [{"name": about.name, "type": about.dtype.name, "components": about.components,
                             "range": about.range if about.range[0] <= about.range[1] else None,
                             "storage": stored(about.name)}
                            for about in dataset.attributes.values()]}
    facts["position_storage"] = stored("")
    facts["hdf5_view"] = dataset.hdf5_view
    if leaves:
        facts["leaves"] = [{**leaf._asdict(), "box": _box(leaf.box)} for leaf in dataset.leaves]
    return facts


def _show(dataset, leaves):
    facts, rows = dataset._described()  # pylint: disable=protected-access
    show(f"{dataset.path}: {facts}", *(f"  {row}" for row in rows))
    show(f"  {dataset.file_bytes:,} bytes")
    for name, column in _storage(dataset).items():
        if column.compressed:
            kept = f"within {column.bound:.6g}" if column.bound else "lossless"
            show(f"  {name or 'positions'}: compressed, {kept}, {column.raw_bytes:,} to {column.stored_bytes:,} bytes")
    view = dataset.hdf5_view
    about_view = ["yes" if view["exists"] else "no", view["reason"]]
    about_view += [f"without {one['name']}: {one['reason']}" for one in view["left_out"]]
    show("  HDF5 view: " + ", ".join(filter(None, about_view)))
    if dataset.metadata:
        show(*f"  metadata {dataset.metadata}".split("\n"))
    for leaf in dataset.leaves if leaves else ():
        low, high = (", ".join(f"{end:.6g}" for end in ends) for ends in (leaf.box[:3], leaf.box[3:]))
        box = "no box" if _box(leaf.box) is None else f"box ({low}) to ({high})"
        show(f"  {leaf.path}: {leaf.particles:,} particles, {leaf.bytes:,} bytes, {box}")


def _tell_series(path, as_json):
    steps = read_series(path)
    if as_json:
        print_json({"file": path, "steps": [step._asdict() for step in steps]})
        return YES
    times = [step.time for step in steps]
    show(f"{path}: {len(steps):,} steps" + (f", time {min(times)} to {max(times)}" if times else ""))

    def tell(step):
        with datasets.open(step.path) as dataset:
            show(f"  time {step.time}: {step.path}, {len(dataset):,} particles")
        return YES

    return in_turn(steps, tell)


def _tell_tracks(path, as_json):
    tracks = Tracks(path)
    pairs = isinstance(tracks.ids, tuple)
    ids = len(tracks.ids[0] if pairs else tracks.ids)
    if as_json:
        print_json({"file": path, "ids": ids, "id": tracks.id, "samples": len(tracks), "steps": tracks.steps, "times": tracks.times,
                    "particles": tracks.particles, "position_type": tracks.position_dtype.name,
                    "attributes": [{"name": name, "type": dtype.name, "components": components}
                                   for name, (dtype, components) in tracks.attributes.items()],
                    "blocks": tracks.blocks, "file_bytes": tracks.file_bytes, "unfinished_bytes": tracks.unfinished_bytes})
        return YES
    show(f"{path}: tracks of {ids:,} ids ({' and '.join(tracks.id) if pairs else tracks.id}) in {len(tracks):,} samples")
    if len(tracks):
        show(f"  steps {tracks.steps[0]} to {tracks.steps[-1]}, times {tracks.times[0]:.6g} to {tracks.times[-1]:.6g}, "
              f"{tracks.particles.min():,} to {tracks.particles.max():,} particles in each")
    show(f"  positions {tracks.position_dtype.name}[3]" + "".join(
        f", {name} {dtype.name}" + (f"[{components}]" if components > 1 else "") for name, (dtype, components) in tracks.attributes.items()))
    order = "" if tracks.blocks < 2 else f" in {tracks.blocks:,} blocks; use 'parabat repack' to reorder them"
    show(f"  {tracks.file_bytes:,} bytes{order}")
    if tracks.unfinished_bytes:
        show(f"  of these, {tracks.unfinished_bytes:,} at the end belong to an unfinished sample")
    return YES


def run(arguments):
    """Returns the exit code."""
    def tell(path):
        if is_tracks(path):
            return _tell_tracks(path, arguments.json)
        if idx.can_open(path):
            return tell_grid(path, arguments.json)
        if is_bricks(path):
            return tell_bricks(path, arguments.json)
        if is_series(path):
            return _tell_series(path, arguments.json)
        with naming_accepted_kinds(path, "info", TAKEN), datasets.open(path) as dataset:
            if arguments.json:
                print_json(described(dataset, arguments.leaves))
            else:
                _show(dataset, arguments.leaves)
        return YES

    return in_turn(arguments.files, tell)
