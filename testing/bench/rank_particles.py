# SPDX-License-Identifier: BSD-3-Clause
"""The particles of one rank of a benchmark, as NumPy arrays, and their checksum."""

import json
import math
import os
import subprocess

import numpy as np


def pretended_points(program, ranks, path, kind="boiler", particles=0, step=4501):
    """Runs bat_plan to write the positions of a boiler or a breaking dam to `path`. Returns where those of each
    rank begin, followed by the end. particles: 0 for the number in the paper."""
    done = subprocess.run(
        [program, "--kind", kind, "--particles", str(particles), "--step", str(step), "--points", path, "--json", "-",
         "--ranks", str(ranks)], check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)["rank_begins"]


def make(rank, ranks, kind, particles=0, attributes=0, deal="space", seed=1, points=None, begins=None):
    """Name -> array; the positions are "positions". kind: boiler or dam (with what pretended_points() has made),
    uniform, clustered, lattice (the same number of points along each axis), or npz with the name of the file as points."""
    if kind == "npz":
        return _load_share(points, rank, ranks)
    make_positions = {"boiler": _pretended, "dam": _pretended, "uniform": _uniform, "clustered": _clustered,
                      "lattice": _lattice}[kind]
    positions = make_positions(rank, ranks, particles, deal, seed, points, begins)
    local = {"positions": positions}
    for number in range(attributes):
        local[f"attribute{number}"] = _attribute(positions, number)
    return local


def _share(count, rank, ranks):
    """First row and end of this rank if rows are dealt out in order."""
    return count * rank // ranks, count * (rank + 1) // ranks


def _load_share(path, rank, ranks):
    local = {}
    with np.load(path) as file:
        first, end = _share(len(file["pos"]), rank, ranks)
        for name in file.files:
            array = file[name]
            if array.ndim in (1, 2) and len(array) == len(file["pos"]):
                local["positions" if name == "pos" else name] = np.ascontiguousarray(array[first:end])
    return local


def _pretended(rank, ranks, particles, deal, seed, points, begins):
    first, end = begins[rank:][:2] if deal == "space" else _share(particles, rank, ranks)
    values = np.fromfile(points, np.float32, count=3 * (end - first), offset=12 * first)
    return values.reshape(-1, 3)


def _uniform(rank, ranks, particles, deal, seed, points, begins):
    first, end = _share(particles, rank, ranks)
    values = np.random.default_rng([seed, rank]).random((end - first, 3), np.float32)
    if deal == "space":
        cells = _grid(ranks)
        values = (values + np.unravel_index(rank, cells)) / cells
    return values.astype(np.float32)


def _lattice(rank, ranks, particles, deal, seed, points, begins):
    cells = _grid(ranks)
    side = round(particles ** (1 / 3))
    ends = [_share(side, place, parts) for place, parts in zip(np.unravel_index(rank, cells), cells)]
    axes = np.meshgrid(*(np.arange(*share, dtype=np.float32) for share in ends), indexing="ij")
    return np.stack([axis.ravel() for axis in axes], axis=1)


def _grid(ranks):
    """Three factors of `ranks`, as close to each other as possible."""
    best = min(((a, b, ranks // a // b) for a in range(1, ranks + 1) if ranks % a == 0
                for b in range(1, ranks // a + 1) if ranks // a % b == 0),
               key=lambda cells: max(cells) / min(cells))
    return np.array(best)


def _clustered(rank, ranks, particles, deal, seed, points, begins):
    clusters = 64
    everyone = np.random.default_rng(seed)
    centres = everyone.random((clusters, 3))
    widths = 0.1 * 10.0 ** -everyone.uniform(0, 2, clusters)
    random = np.random.default_rng([seed, rank])
    first, end = _share(particles, rank, ranks)
    owned = np.arange(clusters) if deal == "rows" else np.arange(*_share(clusters, rank, ranks))
    which = random.choice(owned if len(owned) else np.arange(clusters), end - first)
    return (centres[which] + widths[which, None] * random.normal(size=(end - first, 3))).astype(np.float32)


def _attribute(positions, number):
    """A spatially smooth double, with noise in its lower half so that compressors do not find it
    easy."""
    wave = positions @ np.array([1.0, 0.7, 0.3]) * (0.5 + number) + number
    return np.sin(wave) + 1e-4 * np.random.default_rng([number, len(positions)]).random(len(positions))


def write_arrays(path, columns, flush):
    """Writes arrays to a file, one after the other."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    try:
        for values in columns.values():
            left = memoryview(values).cast("B") if values.size else b""
            while len(left):
                left = left[os.write(descriptor, left):]
        if flush:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_arrays(path, columns):
    """Reads into existing arrays, one after the other."""
    with open(path, "rb", buffering=0) as file:
        for name, values in columns.items():
            left = memoryview(values).cast("B") if values.size else b""
            while len(left):
                got = file.readinto(left)
                if not got:
                    raise EOFError(f"{path}: ends inside {name}")
                left = left[got:]


def flush(path):
    """Flushes a file to disk, whichever process wrote it."""
    descriptor = os.open(path, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)


def forget_pages(names):
    """Evicts files from the page cache of this node; they are already on disk."""
    for name in names:
        descriptor = os.open(name, os.O_RDONLY)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)


def checksum(columns):
    """Sum over particles of a hash of all their bits, modulo 2^64: independent of their order, and
    additive over ranks."""
    rows = len(columns.get("positions", ()))
    total = np.zeros(rows, np.uint64)
    for number, name in enumerate(sorted(columns)):
        values = columns[name]
        values = values.reshape(rows, math.prod(values.shape[1:]))
        bits = values.view(f"u{values.dtype.itemsize}").astype(np.uint64)
        for component in range(bits.shape[1]):
            total = _mix(total ^ bits[:, component], number * 16 + component)
    return int(total.sum(dtype=np.uint64))


def _mix(x, salt):
    """splitmix64 (Steele et al. 2014)."""
    x = x + np.uint64((salt + 1) * 0x9E3779B97F4A7C15 % 2**64)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
