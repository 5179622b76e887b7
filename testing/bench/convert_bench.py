# SPDX-License-Identifier: BSD-3-Clause
"""Compares the time of `parabat convert` with the formats' own libraries, in pairs.

Each round runs all of them alternately in separate processes, so that other activity on the machine affects all.

    python3 testing/bench/convert_bench.py --folder build/bench/convert --particles 4000000 --rounds 5

Needs numpy, pandas, h5py and the package. LAMMPS: reading by pandas, reading by parabat convert alone, the whole
conversion. Gadget and SWIFT snapshots, plain and compressed: h5py and parabat.write() by hand, the whole conversion.
Prints the medians, and the median and range of the ratios to each file's first row.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time

import numpy as np

COLUMNS = ["id", "type", "x", "y", "z", "vx", "vy", "vz"]


def make(folder, count):
    """Creates the files if they do not exist."""
    import h5py
    import pandas
    random = np.random.default_rng(1)
    places, speeds = random.random((count, 3)) * 100, random.normal(size=(count, 3))
    ids = random.permutation(count) + 1
    if not os.path.exists("dump.lammpstrj"):
        table = pandas.DataFrame({"id": ids, "type": random.integers(1, 4, count), **dict(zip("xyz", places.T)),
                                  **dict(zip(("vx", "vy", "vz"), speeds.T))})
        with open("dump.lammpstrj", "w", encoding="ascii") as file:
            file.write(f"ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n{count}\nITEM: BOX BOUNDS pp pp pp\n0 100\n0 100\n0 100\n"
                       f"ITEM: ATOMS {' '.join(COLUMNS)}\n")
            table.to_csv(file, sep=" ", header=False, index=False, float_format="%.6g")
    for name, packed in (("plain.hdf5", {}), ("packed.hdf5", {"chunks": True, "compression": "gzip", "shuffle": True})):
        if os.path.exists(name):
            continue
        with h5py.File(name, "w") as file:
            about = file.create_group("Header").attrs
            about["NumPart_ThisFile"] = about["NumPart_Total"] = np.array([count, 0, 0, 0, 0, 0], "i4")
            about["MassTable"], about["Time"], about["NumFilesPerSnapshot"] = np.zeros(6), 0.5, 1
            fields = {"Coordinates": places, "Velocities": speeds.astype("f4"), "ParticleIDs": ids.astype("u8")}
            fields.update({key: random.random(count).astype("f4") for key in
                           ("Masses", "Density", "InternalEnergy", "SmoothingLength")})
            for key, values in fields.items():
                file.create_dataset(f"PartType0/{key}", data=values, **packed)


def by_pandas(path):
    import pandas
    start = time.perf_counter()
    pandas.read_csv(path, sep=" ", skiprows=9, header=None, names=COLUMNS)
    return time.perf_counter() - start


def by_hand(path):
    import h5py
    import parabat
    start = time.perf_counter()
    with h5py.File(path) as file:
        arrays = {name: node[...] for name, node in file["PartType0"].items()}
    parabat.write("by_hand.bat", arrays.pop("Coordinates"), arrays, flush=False)
    return time.perf_counter() - start


def reading(path):
    from parabat.convert import Options, registry
    row = registry.find_format(path)
    start = time.perf_counter()
    for step in row.steps(path, Options()):
        step.read()
    return time.perf_counter() - start


def converting(path):
    import h5py  # loaded before, as on the other side  pylint: disable=unused-import
    from parabat.convert import convert
    start = time.perf_counter()
    convert([path], "converted.bat")
    return time.perf_counter() - start


ROWS = {
    "dump.lammpstrj": {"pandas.read_csv": by_pandas,
                       "parabat convert, reading": reading, "parabat convert": converting},
    "plain.hdf5": {"h5py and parabat.write": by_hand, "parabat convert": converting},
    "packed.hdf5": {"h5py and parabat.write": by_hand, "parabat convert": converting}}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--folder", default="build/bench/convert")
    parser.add_argument("--particles", type=int, default=4_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--make", action="store_true", help="make the files and no more")
    parser.add_argument("--one", nargs=2, metavar=("FILE", "ROW"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    os.makedirs(arguments.folder, exist_ok=True)
    script = os.path.abspath(__file__)
    os.chdir(arguments.folder)
    if arguments.one:
        print(ROWS[arguments.one[0]][arguments.one[1]](arguments.one[0]))
        return
    make(arguments.folder, arguments.particles)
    if arguments.make:
        return
    times = {path: {row: [] for row in rows} for path, rows in ROWS.items()}
    for _ in range(arguments.rounds):
        for path, rows in times.items():
            for row, found in rows.items():
                found.append(float(subprocess.run([sys.executable, script, "--folder", ".", "--one", path, row], check=True,
                                                  stdout=subprocess.PIPE, text=True).stdout))
    for path, rows in times.items():
        first = next(iter(rows.values()))
        for row, found in rows.items():
            ratios = sorted(own / other for own, other in zip(found, first))
            print(f"{path:15} {row:26} {statistics.median(found):6.2f} s  {statistics.median(ratios):5.2f} "
                  f"({ratios[0]:.2f} to {ratios[-1]:.2f})")
    print(json.dumps(times))


if __name__ == "__main__":
    main()
