# SPDX-License-Identifier: BSD-3-Clause
"""Points with their data in VTK files, read by an installed VTK (from ParaView, PyVista or the package vtk).

Files of pieces (.pvtp .pvtu), of blocks (.vtm .vtpd .vtpc) and lists of files by time (.pvd, .vtp.series) only name
other files, which are read one by one. The time and the step number are field data: see vtk_headers.py. Times in a
list take precedence over those in its files.
"""

import contextlib
import json
import math
import os
import xml.etree.ElementTree

from .. import hdf5, vtk_headers, vtkhdf
from ..blocks import join_blocks
from ..model import ConvertError, Format, Step, listed
from ..vtk_points import read_file, read_points

READERS = {"PolyData": ("vtkIOXML", "vtkXMLPolyDataReader"), "UnstructuredGrid": ("vtkIOXML", "vtkXMLUnstructuredGridReader"),
           "StructuredGrid": ("vtkIOXML", "vtkXMLStructuredGridReader"),
           "PStructuredGrid": ("vtkIOXML", "vtkXMLPStructuredGridReader"),
           "legacy": ("vtkIOLegacy", "vtkGenericDataObjectReader")}
WITH_COUNTS = ("PolyData", "UnstructuredGrid")  # kinds whose pieces state their numbers of points
PIECES = ("PPolyData", "PUnstructuredGrid", "vtkPartitionedDataSet")
BLOCKS = ("vtkMultiBlockDataSet", "vtkPartitionedDataSetCollection")
COLLECTION = "Collection"  # .pvd
FILES = (".vtp", ".vtu", ".vts", ".vtk", ".pvtp", ".pvtu", ".pvts", ".vtm", ".vtmb", ".vtpd", ".vtpc")
LISTS = tuple(end + ".series" for end in FILES)
MAX_DEPTH = 8  # for nested lists


def steps(path, options):
    if _is_series(path, vtk_headers.read_head(path)):
        found = _entries_of_series(path)
    elif vtk_headers.kind_of(vtk_headers.read_head(path)) == COLLECTION:
        found = _entries_of_pvd(path)
    else:
        found = [(None, [("", path)])]
    for time, members in found:
        yield _step(members, time, options)


def _step(members, time, options):
    """Returns a Step that consists of files. members: (block name or "", file)."""
    named, number = _facts(members[0][1]) if members else (None, None)

    def read():
        leaves, are_blocks = [], False
        for name, file in members:
            is_blocks = vtk_headers.kind_of(vtk_headers.read_head(file)) in BLOCKS
            are_blocks = are_blocks or is_blocks
            leaves += _with_points(_leaves(name, file), options) if is_blocks else _leaves(name, file)
        facts = {}
        found = []
        for i, (name, file) in enumerate(leaves):
            found.append((name, _read(file, options, facts), file))
            options.at((i + 1) / len(leaves))
        step.time = facts.get("time") if step.time is None else step.time
        step.number = facts.get("number") if step.number is None else step.number
        if not found:
            raise ConvertError("names no files with points")
        return join_blocks(found, options, are_blocks)
    step = Step(read, number, named if time is None else time)
    return step


# --- Lists of files

def _entries_of_series(path):
    """Returns (time or None, members), in the order of the list."""
    try:
        with open(path, encoding="utf-8") as file:
            entries = json.load(file)["files"]
        found = [(each.get("time"), each["name"]) for each in entries]
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise ConvertError(f"is not a list of files: {error}") from None
    except KeyError as error:
        raise ConvertError(f"is not a list of files: an entry lacks {error}") from None
    result = []
    for time, name in found:
        if not isinstance(name, str) or isinstance(time, bool) or not isinstance(time, (int, float, type(None))):
            raise ConvertError(f"lists the file {json.dumps(name)[:80]} with time {json.dumps(time)[:40]}; allowed are a text "
                               "and a number")
        result.append((_as_time(time), [("", _beside(path, name))]))
    return result


def _as_time(number):
    try:
        return float(number) if number is not None and math.isfinite(number) else None
    except OverflowError:
        return None


def _entries_of_pvd(path):
    """Returns (time or None, members); entries with the same time are parts or blocks of one step."""
    found, has_parts = {}, False
    for entry in _parsed(path).iter("DataSet"):
        has_parts = has_parts or bool((entry.get("part") or "").strip())
        text, name = entry.get("timestep"), entry.get("file")
        try:
            time = None if text is None or not text.strip() else float(text)
        except ValueError:
            raise ConvertError(f"is not a list of files: the timestep '{text[:40]}' is not a number") from None
        found.setdefault(time, []).append((entry.get("name") or entry.get("group") or "", _beside(path, name)))
    if list(found) == [None] and not has_parts:
        return _by_times_of_files(found[None])
    return sorted(found.items(), key=lambda each: (each[0] is not None, each[0]))


def _by_times_of_files(members):
    """Returns (time or None, members) for entries without timesteps or parts: one step, unless all files have times, or step
    numbers, and these differ."""
    facts = [_facts_inside(file) for _, file in members] if len(members) > 1 else []
    for which in (0, 1):
        found = {}
        for fact, member in zip(facts, members):
            found.setdefault(fact[which], []).append(member)
        if len(found) > 1 and None not in found:
            return [(None if which else key, found[key]) for key in sorted(found)]
    return [(None, members)]


def _parsed(path):
    try:
        return xml.etree.ElementTree.parse(path).getroot()
    except (xml.etree.ElementTree.ParseError, ValueError, LookupError) as error:
        raise ConvertError(f"{path}: is not a list of files: {error}") from None


def _beside(path, name):
    """Returns the path of a file that another one names."""
    file = os.path.join(os.path.dirname(path), name or "")
    if not name or not os.path.isfile(file):
        raise ConvertError(f"{path}: lists {name}, which does not exist or is not a regular file")
    return file


def _children(path, kind):
    """Returns (block name or "", file) for each entry in a file of pieces or blocks, or None for a file with points."""
    if kind in PIECES:
        return [("", _beside(path, each.get("Source") or each.get("file"))) for each in _parsed(path).iter()
                if each.tag == ("Piece" if kind != PIECES[2] else "DataSet")]
    if kind not in BLOCKS:
        return None
    found = []

    def walk(node, name):
        for each in node:
            if each.tag == "DataSet":
                if each.get("file"):
                    found.append((each.get("name") or name, _beside(path, each.get("file"))))
            elif each.tag in ("Block", "Piece", "Partitions"):
                walk(each, each.get("name") or name)
    for node in _parsed(path):
        if node.tag == kind:
            walk(node, "")
    return found


def _leaves(name, path, depth=0):
    """Returns (block name or "", file) for all files with points."""
    kind = vtk_headers.kind_of(vtk_headers.read_head(path))
    children = _children(path, kind)
    if children is None:
        return [(name, path)]
    if depth == MAX_DEPTH:
        raise ConvertError(f"{path}: lists of files are nested more than {MAX_DEPTH} times")
    return [leaf for child, file in children for leaf in _leaves(child or name, file, depth + 1)]


def _with_points(leaves, options):
    """Returns the blocks that may have points, and reports the others; returns all blocks if none may."""
    kinds = [vtk_headers.kind_of(vtk_headers.read_head(file)) for _, file in leaves]
    found = [leaf for leaf, kind in zip(leaves, kinds) if kind is None or kind in READERS]
    for (name, file), kind in zip(leaves, kinds):
        if found and kind is not None and kind not in READERS:
            block = name or file
            options.notes.setdefault(f"block {block}", f"the block {block} is not written: it is of the kind {kind}")
    return found or leaves


def _facts(path, depth=0):
    """Returns (time, step number) of a file, or of the first one that it names."""
    head = vtk_headers.read_head(path)
    if head.startswith(hdf5.MAGIC):
        return None, None  # found by reading the file
    time, number = vtk_headers.read_facts(path)
    if (time is None or number is None) and depth < MAX_DEPTH:
        children = _children(path, vtk_headers.kind_of(head))
        if children:
            others = _facts(children[0][1], depth + 1)
            time, number = others[0] if time is None else time, others[1] if number is None else number
    return time, number


def _facts_inside(path):
    """Like _facts(), but also finds values that only VTK can read."""
    time, number = _facts(path)
    kind = vtk_headers.kind_of(vtk_headers.read_head(path))
    if time is None and kind in READERS:
        with contextlib.suppress(ConvertError):  # reading the particles reports the error
            return _field_facts(read_file(path, *READERS[kind]))
    return time, number


# --- Files with points

def _read(path, options, facts):
    """Returns the Particles of a file. facts: receives the time and step number unless they are in its first part."""
    try:
        head = vtk_headers.read_head(path)
        if head.startswith(hdf5.MAGIC):
            return vtkhdf.read_only_step(path, options, facts)
        kind = vtk_headers.kind_of(head)
        if kind not in READERS:
            if kind is None and _is_compressed(head):
                raise ConvertError("is compressed, which VTK does not read; decompress it first")
            raise ConvertError(f"is {f'of the kind {kind}' if kind else 'not a VTK file'}; allowed are {listed(READERS)}")
        is_empty = kind != "legacy" and vtk_headers.claimed_points(path) == 0
        data = read_file(path, *READERS[kind], is_empty and kind in WITH_COUNTS)
    except ConvertError as error:
        raise ConvertError(f"{path}: {error}") from None
    for key, value in zip(("time", "number"), _field_facts(data)):
        if value is not None:
            facts.setdefault(key, value)
    return read_points(data, options)


def _field_facts(data):
    """Returns (time, step number) from field data that only VTK can read, because of their position or compression."""
    from vtkmodules.util.numpy_support import vtk_to_numpy  # pylint: disable=import-outside-toplevel
    fields = data.GetFieldData()
    arrays = [fields.GetArray(i) for i in range(fields.GetNumberOfArrays())]
    return vtk_headers.facts_of({array.GetName(): vtk_to_numpy(array) for array in arrays
                                 if array is not None and array.GetName() and array.GetNumberOfValues() == 1})


def _is_compressed(head):
    return head.startswith((b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd"))


def _is_series(path, head):
    return path.lower().endswith(LISTS) or (b'"file-series-version"' in head and head.lstrip().startswith(b"{")
                                            and any(f"{end}\"".encode() in head for end in FILES))


def sniff(head, path):
    kind = vtk_headers.kind_of(head)
    return kind is not None and kind in (*READERS, *PIECES, *BLOCKS, COLLECTION) or _is_series(path, head)


FORMAT = Format("vtk", "points in VTK files, with pieces, blocks and lists of files by time", steps,
                extensions=FILES + (".pvd",) + LISTS, modules=tuple(
                    (module, "vtk", "vtk") for module in ("vtkmodules.vtkIOXML", "vtkmodules.vtkIOLegacy")),
                options=("follow_links",), sniff=sniff)
