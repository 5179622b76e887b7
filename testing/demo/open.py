# SPDX-License-Identifier: BSD-3-Clause
"""Opens the demo's .bat files with the ParaView reader, checks every result against the LAMMPS
dumps, and draws pictures. Run by pvbatch:

    PV_PLUGIN_PATH=build/lib/paraview-plugins pvbatch open.py PICTURE_FOLDER DUMP_FOLDER BAT...

Fails if any particle or value differs.
"""

import os
import sys
import time

import numpy as np
from paraview.simple import BATReader, Delete
from vtkmodules.util.numpy_support import vtk_to_numpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import pictures
from lammps_dump import Dump


SHOWN_STEPS = (0, 1, 2, -1)


class Loaded:
    """The output of a reader with these properties: arrays, bytes read from the file, seconds."""

    def __init__(self, path, attributes=None, **properties):
        reader = BATReader(FileName=[path], **properties)
        if attributes is not None:
            reader.PointArrayStatus = attributes
        start = time.perf_counter()
        reader.UpdatePipeline()
        self.seconds = time.perf_counter() - start
        reader.UpdatePropertyInformation()
        self.bytes = int(reader.GetPropertyValue("BytesRead"))
        self.times = np.atleast_1d(np.array(reader.TimestepValues, dtype=float))

        data = reader.GetClientSideObject().GetOutputDataObject(0)
        point_data = data.GetPointData()
        self.count = data.GetNumberOfPoints()
        self.arrays = {}
        if self.count > 0:
            self.arrays["positions"] = vtk_to_numpy(data.GetPoints().GetData()).copy()
        for index in range(point_data.GetNumberOfArrays()):
            array = point_data.GetArray(index)
            self.arrays[array.GetName()] = vtk_to_numpy(array).copy()
        Delete(reader)


def fail(text):
    sys.exit(f"error: {text}")


def expect(condition, text):
    if not condition:
        fail(text)


def check_values(what, dump, loaded, expected_rows, names):
    """Checks that the loaded particles are exactly the rows `expected_rows` of the dump (None: any
    rows, each at most once), and that every value of the attributes `names` equals the dump's, in
    the dump's type."""
    by_id = np.argsort(dump.attributes["id"])
    ids = loaded.arrays.get("id", np.empty(0, np.int64))
    rows = by_id[np.searchsorted(dump.attributes["id"], ids, sorter=by_id).clip(0, dump.count - 1)]
    expect(len(np.unique(ids)) == loaded.count, f"{what}: a particle came twice")
    if expected_rows is not None:
        expect(loaded.count == len(expected_rows),
               f"{what}: {loaded.count} particles, {len(expected_rows)} expected")
        expect(np.array_equal(np.sort(rows), np.sort(expected_rows)), f"{what}: wrong particles")

    expected = {"positions": dump.positions, **{name: dump.attributes[name] for name in names}}
    expect(set(loaded.arrays) == set(expected), f"{what}: attributes {sorted(loaded.arrays)}")
    for name, values in expected.items():
        found = loaded.arrays[name]
        expect(found.dtype == values.dtype, f"{what}: {name} is {found.dtype}, not {values.dtype}")
        expect(np.array_equal(found, values[rows]), f"{what}: values of {name} differ")


def print_row(step, what, loaded):
    print(f"{step:6}  {what:46} {loaded.count:11,} {loaded.bytes:13,} {loaded.seconds:9.3f}", flush=True)


def query_and_check(path, dump):
    """All kinds of queries on one file."""
    every = list(dump.attributes)
    speed = np.sqrt((dump.attributes["velocity"] ** 2).sum(axis=1))

    for quality in (0.01, 0.1, 1.0):
        loaded = Loaded(path, Quality=quality)
        print_row(dump.step, f"quality {quality:g}", loaded)
        rows = np.arange(dump.count) if quality == 1.0 else None
        check_values(f"{path}, quality {quality}", dump, loaded, rows, every)
        expect(loaded.count == np.ceil(quality * dump.count),
               f"{path}: quality {quality} gave {loaded.count} of {dump.count}")

    y = dump.positions[:, 1]
    middle = np.median(y)
    for what, lower, upper in ((f"y >= {middle:.1f}", middle, np.inf),
                               (f"{middle:.1f} <= y <= {middle + 4.0:.1f}", middle, middle + 4.0)):
        rows = np.flatnonzero((y >= lower) & (y <= upper))
        loaded = Loaded(path, UseBox=1, Box=[-np.inf, np.inf, lower, upper, -np.inf, np.inf])
        print_row(dump.step, f"box: {what}", loaded)
        check_values(f"{path}, box", dump, loaded, rows, every)

    rows = np.flatnonzero(speed >= 8.0)
    loaded = Loaded(path, AttributeRanges=["velocity", "8", ""])
    print_row(dump.step, "range: speed >= 8", loaded)
    check_values(f"{path}, range of velocity", dump, loaded, rows, every)

    rows = np.flatnonzero(dump.attributes["layer"] == 5)
    loaded = Loaded(path, AttributeRanges=["layer", "5", "5"])
    print_row(dump.step, "range: layer = 5 (the projectile)", loaded)
    check_values(f"{path}, range of layer", dump, loaded, rows, every)

    rows = np.flatnonzero((dump.attributes["layer"] <= 2) & (speed >= 2.0))
    loaded = Loaded(path, attributes=["id", "velocity"],
                    AttributeRanges=["layer", "1", "2", "velocity", "2", ""])
    print_row(dump.step, "layer <= 2 and speed >= 2; id, velocity only", loaded)
    check_values(f"{path}, two ranges", dump, loaded, rows, ["id", "velocity"])


def check_step(path, dump):
    """A whole file, and its time."""
    loaded = Loaded(path)
    print_row(dump.step, "everything", loaded)
    check_values(f"{path}, everything", dump, loaded, np.arange(dump.count), list(dump.attributes))
    expect(len(loaded.times) == 1 and loaded.times[0] == dump.time,
           f"{path}: time {loaded.times}, {dump.time} expected")


def main():
    picture_folder, dump_folder, paths = sys.argv[1], sys.argv[2], sys.argv[3:]
    dumps = []
    for path in paths:
        name = os.path.basename(path)[: -len(".bat")].replace("_", ".") + ".dump"
        dumps.append(Dump(os.path.join(dump_folder, name)))

    print("  step  what                                             particles    bytes read   seconds")
    for path, dump in zip(paths, dumps):
        check_step(path, dump)
    query_and_check(paths[-1], dumps[-1])
    print("Every particle and every value is the one in the LAMMPS dump.\n")

    middle = np.median(dumps[-1].positions[:, 1])
    pictures.qualities(os.path.join(picture_folder, "quality.png"), paths[-1])
    pictures.steps(os.path.join(picture_folder, "steps.png"),
                   [paths[i] for i in SHOWN_STEPS], [dumps[i].time for i in SHOWN_STEPS])
    pictures.box(os.path.join(picture_folder, "box.png"), paths[-1], middle)
    pictures.fast_grains(os.path.join(picture_folder, "range.png"), paths[-1])
    pictures.trails(os.path.join(picture_folder, "trails.png"), os.path.join(picture_folder, "tracked.tracks.bat"), paths[-1])


main()
