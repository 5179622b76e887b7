# SPDX-License-Identifier: BSD-3-Clause
"""Subcommands for structured grids (.idx)."""

import math
import os
import xml.sax.saxutils
import zipfile

import numpy as np

from .. import idx
from .._memory import free_memory
from .._text import check_xml_names, printable
from ..errors import OUT_OF_MEMORY, BatError, BatMemoryError, refuse
from ._common import NO, YES, print_json, progress, say, show
from ._temporary import replacing

SLAB = 1 << 26  # bytes compared at a time


def open_grid(path):
    """An open .idx dataset."""
    return idx.open(path)


def step_of(dataset, number):
    """Returns a time step by its number; with several, one must be chosen."""
    steps = dataset.steps
    if number is None and len(steps) != 1:
        shown = ", ".join(map(str, steps[:6])) + (f" ... {steps[-1]}" if len(steps) > 6 else "")
        refuse(f"{dataset.path}: {len(steps)} time steps; choose one with --step: {shown}")
    return steps[0] if number is None else number


# --- info

def described(dataset):
    """Returns a description for JSON."""
    lattice = dataset.lattice()
    return {"file": str(dataset.path), "dimensions": lattice.count, "first": lattice.first, "axes": dataset.axes,
            "origin": dataset.origin, "spacing": dataset.spacing, "steps": dataset.steps, "times": dataset.times,
            "levels": dataset.levels + 1, "bits": dataset.bits, "bits_per_block": dataset.bits_per_block,
            "blocks_per_file": dataset.blocks_per_file, "version": dataset.version,
            "warning": dataset.warning or None,
            "fields": [{"name": field.name, "type": field.dtype.name, "components": field.components,
                        "range": field.range} for field in dataset.fields.values()]}


def _numbers(values):
    return " ".join(f"{value:.6g}" for value in values)


def tell(path, as_json):
    """Prints what `info` shows."""
    with open_grid(path) as dataset:
        if as_json:
            print_json(described(dataset))
            return YES
        lattice, steps, times = dataset.lattice(), dataset.steps, dataset.times
        facts = [" x ".join(map(str, lattice.count)) + " samples"]
        facts += [f"from {_numbers(lattice.first)}"] * any(lattice.first)
        facts += [f"{dataset.levels + 1} levels", f"{len(steps):,} step" + "s" * (len(steps) != 1)]
        show(f"{path}: " + ", ".join(facts))
        show(f"  origin {_numbers(dataset.origin)}, spacing {_numbers(dataset.spacing)}"
              + (f"; {dataset.warning}" if dataset.warning else ""))
        fields = dataset.fields.values()
        types = [f"{field.dtype}" + f"[{field.components}]" * (field.components > 1) for field in fields]
        width, wide = max(len(printable(field.name)) for field in fields), max(map(len, types))
        for field, kind in zip(fields, types):
            ends = f"{_numbers(field.range[:1])} to {_numbers(field.range[1:])}" if field.range else ""
            show(f"  {printable(field.name):{width}} {kind:{wide}} {ends}".rstrip())
        if steps:
            last = f" to {steps[-1]}" if len(steps) > 1 else ""
            show(f"  step {steps[0]}{last}, time {times[0]:.6g}" + (f" to {times[-1]:.6g}" if last else ""))
        show(f"  version {dataset.version}, bits {dataset.bits}, blocks of 2^{dataset.bits_per_block} samples, {dataset.blocks_per_file:,} per field "
             "and file")
    return YES


# --- validate

def validate(path, as_json, on_progress):
    """Checks a dataset for `validate`."""
    with open_grid(path) as dataset:
        problem, found = None, {}
        try:
            found = dataset.validate(on_progress)
        except BatError as error:
            if error.status not in (1, 3, 4, 5, 6):  # errors that are not the files'
                raise
            problem = str(error)
        steps = len(dataset.steps)
    if as_json:
        print_json({"file": path, "sound": problem is None, "samples": found.get("samples"),
                    "blocks": found.get("blocks"), "absent_blocks": found.get("absent_blocks"), "problem": problem})
    elif problem is None:
        absent = f"; {found['absent_blocks']:,} of {found['blocks']:,} blocks are missing" if found["absent_blocks"] else ""
        show(f"{path}: valid, {found['samples']:,} samples of all fields and {steps:,} step" + "s" * (steps != 1) + absent)
    else:
        say(problem)
    return YES if problem is None else NO


# --- export

def _npy(grid, path):
    if len(grid) != 1:
        refuse(f"{len(grid)} fields; a .npy file has one: choose it with --attributes")
    with open(path, "wb") as file:
        np.lib.format.write_array(file, next(iter(grid.values())), allow_pickle=False)


def _npz(grid, path):
    about = {"origin": grid.origin, "spacing": grid.spacing, "step": np.array(grid.step), "time": np.array(grid.time)}
    for name in about:
        if name in grid:
            refuse(f"two arrays would be called '{name}'; exclude one with --attributes")
    with zipfile.ZipFile(path, "w") as archive:
        for name, values in {**grid, **about}.items():
            with archive.open(name + ".npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, np.asanyarray(values), allow_pickle=False)


def _vti(grid, path):
    """Returns VTK ImageData, whose extent gives the indices of the samples."""
    check_xml_names(grid)
    lattice = grid.lattice
    begins = [first // distance for first, distance in zip(lattice.first, lattice.distance)]
    extent = " ".join(f"{begin} {begin + count - 1}" for begin, count in zip(begins, lattice.count))
    origin = " ".join(repr(float(place - begin * step)) for place, begin, step in zip(grid.origin, begins, grid.spacing))
    spacing = " ".join(repr(float(step)) for step in grid.spacing)
    arrays, at = [], 0
    for name, values in grid.items():
        plain = np.ascontiguousarray(values.astype(values.dtype.newbyteorder("<"), copy=False))
        components = values.size // max(1, int(np.prod(lattice.count)))
        kind = values.dtype.name.replace("uint", "UInt").replace("int", "Int").replace("float", "Float").replace("UIInt", "UInt")
        arrays.append((f'<DataArray type="{kind}" Name={xml.sax.saxutils.quoteattr(name)} '
                       f'NumberOfComponents="{components}" format="appended" offset="{at}"/>', plain))
        at += 8 + plain.nbytes
    head = ('<?xml version="1.0"?>\n<VTKFile type="ImageData" version="1.0" byte_order="LittleEndian" header_type="UInt64">\n'
            f'<ImageData WholeExtent="{extent}" Origin="{origin}" Spacing="{spacing}">\n'
            f'<FieldData><DataArray type="Float64" Name="TimeValue" NumberOfTuples="1" format="ascii">{grid.time!r}'
            f'</DataArray></FieldData>\n<Piece Extent="{extent}">\n<PointData>\n'
            + "\n".join(text for text, _ in arrays)
            + '\n</PointData>\n</Piece>\n</ImageData>\n<AppendedData encoding="raw">\n_')
    with open(path, "wb") as file:
        file.write(head.encode())
        for _, plain in arrays:
            file.write(np.array(plain.nbytes, "<u8").tobytes())
            file.write(plain.data)
        file.write(b"\n</AppendedData>\n</VTKFile>\n")


FORMATS = {".npy": _npy, ".npz": _npz, ".vti": _vti}
# Options that only apply to particles, with their defaults.
OF_PARTICLES = {"quality": 1.0, "range": [], "values": [], "sphere": []}


LESS = "use --level, --budget, --box or --attributes to read less"


def _without(error, path):
    return str(error).removeprefix(f"{path}: ") or "out of memory"


def _check_memory(dataset, path, fields, level, box):
    """Raises if the samples do not fit into free memory."""
    lattice = dataset.lattice(level, box)
    chosen = dataset.fields if fields is None else fields
    samples = math.prod(lattice.count)
    size = samples * sum(field.dtype.itemsize * field.components for name, field in dataset.fields.items() if name in chosen)
    if size > (free := free_memory()):
        raise BatMemoryError(OUT_OF_MEMORY, f"{path}: {' x '.join(map(str, lattice.count))} samples need {size / 2 ** 30:,.1f} GiB, but "
                                            f"{free / 2 ** 30:,.1f} GiB of memory are free; {LESS}")


def export(arguments):
    """Exports for `export`."""
    for name, standard in OF_PARTICLES.items():
        if getattr(arguments, name) != standard:
            refuse(f"--{name}: {arguments.file} is a structured grid; allowed are --level, --budget, --box, --step and "
                   "--attributes")
    ending = os.path.splitext(arguments.out)[1]
    if ending not in FORMATS:
        refuse(f"{arguments.out} ends in '{ending}'; allowed for grids: {', '.join(FORMATS)}")
    with open_grid(arguments.file) as dataset, progress("reading") as on_progress:
        fields = None if arguments.attributes is None else [name for name in arguments.attributes.split(",") if name]
        level, box = arguments.level, None
        if arguments.box is not None:
            box = dataset.box_of(arguments.box)
        if arguments.budget is not None:
            level = dataset.levels if level is None else level
            while level and int(np.prod(dataset.lattice(level, box).count)) > arguments.budget:
                level -= 1
        _check_memory(dataset, arguments.file, fields, level, box)
        try:
            grid = dataset.read(fields, level=level, box=box, step=step_of(dataset, arguments.step), progress=on_progress)
        except MemoryError as error:
            raise BatMemoryError(OUT_OF_MEMORY, f"{arguments.file}: {_without(error, arguments.file)}; {LESS}") from error
        warning = dataset.warning
    if not grid:
        refuse("no fields are selected")
    with replacing(arguments.out) as path:
        FORMATS[ending](grid, path)
    if warning:
        say(f"{arguments.file}: {warning}")
    count = " x ".join(map(str, grid.lattice.count))
    if arguments.json:
        print_json({"file": arguments.file, "out": arguments.out, "dimensions": grid.lattice.count, "level": grid.level,
                    "step": grid.step, "time": grid.time, "absent_blocks": grid.absent_blocks})
    else:
        show(f"{arguments.out}: {count} samples of level {grid.level}")
    return YES


# --- diff

def _facts(dataset):
    return {"samples": dataset.lattice(), "origin": tuple(dataset.origin), "spacing": tuple(dataset.spacing), **{
        f"field {field.name}": f"{field.dtype}[{field.components}]" for field in dataset.fields.values()}}


def _slabs(dataset, bytes_of_sample):
    """Yields boxes of at most SLAB bytes, or single planes."""
    lower, upper = dataset.box[:3], dataset.box[3:]
    plane = (upper[0] - lower[0] + 1) * (upper[1] - lower[1] + 1) * bytes_of_sample
    step = max(1, SLAB // plane)
    for first in range(lower[2], upper[2] + 1, step):
        yield (lower[0], lower[1], first, upper[0], upper[1], min(upper[2], first + step - 1))


def _differing(a, b, name, step, examples):
    """Counts the samples of a field that differ in any bit, and adds the first of them to
    `examples`."""
    about = a.fields[name]
    size, count = about.dtype.itemsize * about.components, 0
    for box in _slabs(a, size):
        ours, theirs = (each.read(name, box=box, step=step, axes=3)[name] for each in (a, b))
        bits = [np.ascontiguousarray(each).view(np.uint8).reshape(-1, size) for each in (ours, theirs)]
        found = np.flatnonzero((bits[0] != bits[1]).any(axis=1))
        count += len(found)
        shape = ours.shape[:3]
        for place in found[:5 - len(examples)]:
            z, y, x = np.unravel_index(place, shape)
            examples.append({"field": name, "step": step, "sample": [int(x) + box[0], int(y) + box[1], int(z) + box[2]],
                             "a": ours[z, y, x], "b": theirs[z, y, x]})
    return count


def diff(arguments):
    """Compares for `diff`."""
    with open_grid(arguments.a) as a, open_grid(arguments.b) as b:
        facts = _facts(a), _facts(b)
        names = None if arguments.attributes is None else list(dict.fromkeys(filter(None, arguments.attributes.split(","))))
        for name in names or ():
            if name not in a.fields and name not in b.fields:
                refuse(f"--attributes: unknown field '{name}', neither in {arguments.a} nor in {arguments.b}; available: "
                       + ", ".join(a.fields))
        if names == []:
            refuse("--attributes: no fields are selected")
        differences = [f"{what}: {facts[0].get(what, 'missing')} in {arguments.a}, {facts[1].get(what, 'missing')} in "
                       f"{arguments.b}" for what in {**facts[0], **facts[1]} if facts[0].get(what) != facts[1].get(what)
                       and (names is None or not what.startswith("field ") or what[6:] in names)]
        steps = a.steps if arguments.step is None else [arguments.step]
        if arguments.step is None and a.steps != b.steps:
            differences.append(f"steps: {len(a.steps)} in {arguments.a}, {len(b.steps)} in {arguments.b}; their numbers differ")
        counts, examples = {}, []
        if not differences:
            names = list(a.fields) if names is None else names
            with progress("comparing") as on_progress:
                for i, step in enumerate(steps):
                    for name in names:
                        counts[name] = counts.get(name, 0) + _differing(a, b, name, step, examples)
                    if on_progress:
                        on_progress((i + 1) / len(steps))
        samples = int(np.prod(facts[0]["samples"].count))
    same = not differences and not any(counts.values())
    if arguments.json:
        print_json({"a": arguments.a, "b": arguments.b, "same": same, "differences": differences, "samples": samples,
                    "steps": steps, "differing": counts, "examples": examples})
    elif same:
        show(f"the same {samples:,} samples of {len(counts)} field{'s' * (len(counts) != 1)} at {len(steps):,} "
              f"step{'s' * (len(steps) != 1)}")
    else:
        show(*differences, *(f"{name}: {count:,} of {samples * len(steps):,} samples differ"
                              for name, count in counts.items() if count))
        for one in examples:
            show(f"  {one['field']} at {' '.join(map(str, one['sample']))}, step {one['step']}: {one['a']} and {one['b']}")
    return YES if same else NO
