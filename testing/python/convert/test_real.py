# SPDX-License-Identifier: BSD-3-Clause
"""Files of real simulations, as shipped with MDAnalysisTests, become datasets: equal to what their fields' libraries,
or a few lines of Python, read.

Usage: test_real.py FOLDER, the folder of the data."""

import bz2
import os
import sys
import warnings

import gsd.hoomd
import h5py
import laspy
import MDAnalysis
import numpy as np
import parabat
from support import converted, folder, same

warnings.simplefilter("ignore")
data = sys.argv[1]  # an absolute path: tests run in separate folders


def of(name):
    return os.path.join(data, name)


# LAMMPS: scaled in a tilted box, more columns, two files with chains, compressed with all kinds of coordinates
def dump(path):
    """(timestep, box lines, columns as texts) for each step."""
    with (bz2.open if path.endswith("bz2") else open)(path, "rt") as file:
        lines = file.read().split("\n")
    starts = [i for i, line in enumerate(lines) if line.startswith("ITEM: TIMESTEP")]
    for start in starts:
        count = int(lines[start + 3])
        names = lines[start + 8].split()[2:]
        rows = [line.split() for line in lines[start + 9:start + 9 + count]]
        yield int(lines[start + 1]), lines[start + 5:start + 8], dict(zip(names, zip(*rows)))


INTEGERS = ("id", "mol", "type", "ix", "iy", "iz")
VECTORS = {"v": "vx vy vz", "f": "fx fy fz"}
for name in ("albite_triclinic.dump", "additional_columns.lammpstrj", "chain_dump_1.lammpstrj",
             "image_vf.lammpstrj", "wat.lammpstrj.bz2", "spce_all_coords.lammpstrj.bz2"):
    steps = list(dump(of(name)))
    converted(of(name), "lammps.bat")
    for i, (number, box, texts) in enumerate(steps):
        columns = {key: np.array([int(word) if key in INTEGERS else float(word) for word in words])
                   for key, words in texts.items() if key != "element"}
        path = "lammps.bat" if len(steps) == 1 else f"lammps_{i:04}.bat"
        with parabat.open(path) as dataset:
            found = dataset.read()
        scaled = "x" not in columns and "xu" not in columns
        names = [axis + ("" if "x" in columns else "s" if scaled else "u") for axis in "xyz"]
        positions = np.stack([columns[key] for key in names], axis=1)
        if scaled:  # as close as doubles allow: our order of sums differs
            bounds = np.array([list(map(float, line.split())) for line in box])
            xy, xz, yz = bounds[:, 2] if bounds.shape[1] == 3 else (0, 0, 0)
            low = bounds[:, 0] - [min(0, xy, xz, xy + xz), min(0, yz), 0]
            size = bounds[:, 1] - [max(0, xy, xz, xy + xz), max(0, yz), 0] - low
            positions = low + positions @ np.array([[size[0], 0, 0], [xy, size[1], 0], [xz, yz, size[2]]])
        else:
            for key in names:
                columns.pop(key)
        for vector, members in VECTORS.items():
            if all(key in columns for key in members.split()):
                columns[vector] = np.stack([columns.pop(key) for key in members.split()], axis=1)
        if scaled:
            order, own = np.argsort(found["id"]), np.argsort(columns["id"])
            assert np.abs(found.positions[order] - positions[own]).max() < 1e-13 * np.abs(positions).max(), name
            positions = None
            for key, values in columns.items():
                assert (found[key][order] == values[own]).all() and found[key].dtype == values.dtype, (name, key)
        elif "element" in texts:
            columns["element"] = found["element"]
            assert (found["element"][np.argsort(found["id"])] == np.unique(texts["element"], return_inverse=True)[1].reshape(-1)[
                np.argsort(columns["id"])]).all()
            columns["element"] = np.unique(texts["element"], return_inverse=True)[1].reshape(-1).astype("i4")
        if positions is not None:
            same(path, positions, columns, step=number)

# Trajectories
for name, topology in (("adk_oplsaa.xtc", None), ("adk_oplsaa.trr", None), ("adk_dims.dcd", "adk.psf"), ("adk_oplsaa.gro", None)):
    words = ["--arrays", "index,velocities" if name.endswith("trr") else "index", "--steps", ":3"]
    converted(of(name), "md.bat", *words, *(["--topology", of(topology)] if topology else []))
    os.symlink(os.path.abspath(of(name)), os.path.join(folder, name))  # MDAnalysis writes next to it
    read = MDAnalysis.Universe(of(topology or "adk_oplsaa.gro"), name, convert_units=False, to_guess=())
    for i, frame in enumerate(read.trajectory[:3]):
        expected = {"index": np.arange(frame.n_atoms)}
        if frame.has_velocities:
            expected["velocities"] = frame.velocities.copy()
        positions, number, time = frame.positions.copy(), frame.data.get("step"), float(frame.time)
        if name.endswith("dcd"):
            header = read.trajectory._file.header  # pylint: disable=protected-access
            number = header["istart"] + i * header["nsavc"]
            with parabat.open(f"md_{i:04}.bat") as dataset:  # the time step is a decimal number again
                assert abs(dataset.time - time) < 1e-6 * max(1, time), (dataset.time, time)
                time = dataset.time
        if name.endswith("gro"):  # as the file has them
            rows = [line for line in open(of(name), encoding="ascii").read().splitlines()[2:-1]]
            positions = np.array([[float(row[k:k + 8]) for k in (20, 28, 36)] for row in rows])
            number = time = None
        same("md.bat" if len(read.trajectory) == 1 else f"md_{i:04}.bat", positions, expected, "index", time, number)

# GSD and H5MD
with gsd.hoomd.open(of("example.gsd"), "r") as file:
    frames = list(file)
converted(of("example.gsd"), "gsd.bat", "--arrays", "tag,typeid")
for i, frame in enumerate(frames):
    same(f"gsd_{i:04}.bat", frame.particles.position, {
        "tag": np.arange(frame.particles.N, dtype="u4"), "typeid": frame.particles.typeid}, "tag", step=frame.configuration.step)
with h5py.File(of("cobrotoxin.h5md"), "r") as file:
    group = file["particles/trajectory"]
    converted(of("cobrotoxin.h5md"), "h5md.bat")
    for i, step in enumerate(group["position/step"]):
        with parabat.open(f"h5md_{i:04}.bat") as dataset:
            found = dataset.read()
            assert dataset.step == step and dataset.time == group["position/time"][i]
        own = {"positions": group["position/value"][i]}
        for key in found:
            at = np.flatnonzero(group[key]["step"][...] == step) if "step" in group[key] else [0]
            own[key] = group[key]["value"][int(at[0])]
        theirs = {"positions": found.positions, **found}
        order, expected = (np.lexsort([np.ascontiguousarray(each[key]).view("u4").reshape(len(each[key]), -1)[:, j]
                                     for key in own for j in range(3)]) for each in (theirs, own))
        for key, values in own.items():
            assert (theirs[key][order] == values[expected]).all() and theirs[key].dtype == values.dtype, key

# COPC, with one page of its hierarchy and with several
scans = ("simple.copc.laz", "simple_with_page.copc.laz")
for name in scans:  # before lazrs has threads in this process, for which its forked children would wait
    converted(of(name), name + ".bat")
for name in scans:
    with laspy.CopcReader.open(of(name)) as reader:
        points = reader.query()  # through its hierarchy, not piece by piece as in the conversion
    expected = {key: np.array(points[key]) for key in points.point_format.dimension_names if key not in "XYZ"}
    places = np.stack([np.array(points[key]) * points.scales[i] + points.offsets[i] for i, key in enumerate("XYZ")], axis=1)
    with parabat.open(name + ".bat") as dataset:
        found = dataset.read()
    assert set(found) == set(expected) and len(found.positions) == len(points) == 1065, name
    table = [np.rec.fromarrays([*each.T, *(array[key] for key in sorted(expected))]) for each, array in (
        (found.positions, found), (places, expected))]
    assert table[0].dtype == table[1].dtype and np.sort(table[0]).tobytes() == np.sort(table[1]).tobytes(), name
