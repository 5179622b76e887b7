# SPDX-License-Identifier: BSD-3-Clause
"""Compares compressed columns with Blosc2, pcodec and zlib on the same values, in file order.

    python3 testing/bench/compression_bench.py BUILD FOLDER [--kind clustered|npz:FILE ...] [--particles N] [--rounds N]

Each set is written as .bat; its columns are then compressed by codec_bench in chunks of 2,048 values, and in chunks of
65,536 by Blosc2 (bit shuffle, Zstandard 5 and 1), pcodec (level 8) and zlib (level 6, as VTK), all in one thread.
Positions are also rounded to grids of 1e-3, 1e-4 and 1e-5 of the extent, which pcodec gets as integers. Decoded values
are verified. Prints a table for each set: the ratio of the columns' bytes to the stored bytes, and the median speed
over the rounds in 10^9 bytes of values per second of processor time. Other packages are installed from PyPI into
FOLDER."""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import time
import zlib

import numpy as np

CHUNK = 65536
OWN_CHUNK = 2048
BOUNDS = (1e-3, 1e-4, 1e-5)


def blosc2_of(level):
    import blosc2
    blosc2.set_nthreads(1)

    def encode(part):
        return blosc2.compress2(part, codec=blosc2.Codec.ZSTD, clevel=level, filters=[blosc2.Filter.BITSHUFFLE],
                                typesize=part.dtype.itemsize)

    def decode(frame, part):
        return np.frombuffer(blosc2.decompress2(frame), part.dtype)
    return encode, decode


def pcodec():
    from pcodec import ChunkConfig, standalone

    def wide(part):  # does not support 1-byte numbers
        return part.astype(np.uint16) if part.dtype.itemsize == 1 else part

    def encode(part):
        return standalone.simple_compress(wide(part), ChunkConfig(compression_level=8))

    def decode(frame, part):
        out = np.empty_like(wide(part))
        standalone.simple_decompress_into(frame, out)
        return out.astype(part.dtype, copy=False)
    return encode, decode


def with_zlib():
    return (lambda part: zlib.compress(part, 6)), (lambda frame, part: np.frombuffer(zlib.decompress(frame), part.dtype))


METHODS = {"Blosc2, Zstandard 5, bit shuffle": lambda: blosc2_of(5), "Blosc2, Zstandard 1, bit shuffle": lambda: blosc2_of(1),
           "pcodec 8": pcodec, "zlib 6": with_zlib}


def parts_of(array):
    """One-dimensional runs of a column, with each component separate."""
    columns = [np.ascontiguousarray(array[:, i]) for i in range(array.shape[1])] if array.ndim == 2 else [array]
    return [column[i:i + CHUNK] for column in columns for i in range(0, len(column), CHUNK)]


def measured(parts, method, rounds, values_bytes=None):
    """Compression ratio, and 10^9 bytes of values per second, encoded and decoded. values_bytes: the bytes of the
    values that the parts represent."""
    encode, decode = method
    times = []
    for _ in range(rounds):
        begin = time.thread_time()
        frames = [encode(part) for part in parts]
        middle = time.thread_time()
        back = [decode(frame, part) for frame, part in zip(frames, parts)]
        times.append((middle - begin, time.thread_time() - middle))
        for part, found in zip(parts, back):
            if part.tobytes() != found.tobytes():
                raise SystemExit("other values come back")
    size = values_bytes or sum(part.nbytes for part in parts)
    return size / sum(map(len, frames)), *(size / 1e9 / statistics.median(column) for column in zip(*times))


def others(folder, rounds):
    """Runs in the environment with the packages: rows of all methods, as JSON."""
    arrays = {name[:-4]: np.load(os.path.join(folder, name)) for name in sorted(os.listdir(folder))}
    parts = [part for array in arrays.values() for part in parts_of(array)]
    rows = [["all, lossless", name, *measured(parts, make(), rounds)] for name, make in METHODS.items()]
    positions = arrays["positions"]
    low, extent = positions.min(axis=0).astype(float), float(np.ptp(positions, axis=0).max())
    for bound in BOUNDS:
        grid = np.rint((positions - low) / (2 * bound * extent)).astype(np.uint32)
        rows.append([f"positions within {bound:.0e}", "quantization and pcodec 8",
                     *measured(parts_of(grid), pcodec(), rounds, positions.nbytes)])
    json.dump(rows, sys.stdout)


def ours(build, folder, rounds):
    """Rows from codec_bench."""
    files = [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
    done = subprocess.run([os.path.join(build, "bin/codec_bench"), "--npy", *files, "--chunk", str(OWN_CHUNK), "--rounds",
                           str(rounds), "--bound", *map(str, BOUNDS)], check=True, stdout=subprocess.PIPE, text=True)
    found = re.findall(rf"^(all, lossless|positions \S+) +{OWN_CHUNK} +(\S+) +\S+ +(\S+) +(\S+)", done.stdout, re.MULTILINE)
    return [[name.replace("positions ", "positions within "), "ParaBAT", *map(float, numbers)] for name, *numbers in found]


def table(title, rows):
    print(f"| {title} | | ratio | encode GB/s | decode GB/s |\n|---|---|--:|--:|--:|")
    for what in sorted(dict.fromkeys(row[0] for row in rows)):
        for _, name, ratio, encode, decode in (row for row in rows if row[0] == what):
            print(f"| {what} | {name} | {ratio:.3f} | {encode:.2f} | {decode:.2f} |")
    print(flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("folder")
    parser.add_argument("--kind", nargs="+", default=["clustered"], help="as of bat_bench: clustered, npz:FILE ...")
    parser.add_argument("--particles", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    sys.path.insert(0, os.path.join(options.build, "python"))
    import parabat
    import wheels
    os.makedirs(options.folder, exist_ok=True)
    python = wheels.install(os.path.join(options.folder, "packages"), ["numpy==2.2.6", "blosc2==3.3.2", "pcodec==0.3.4"],
                            ["numpy", "blosc2", "pcodec"])
    for number, kind in enumerate(options.kind):
        given, ordered = (os.path.join(options.folder, f"{name}{number}") for name in ("given", "ordered"))
        for left in (given, ordered):
            shutil.rmtree(left, ignore_errors=True)
        subprocess.run([os.path.join(options.build, "bin/bat_bench"), "--kind", kind, "--particles", str(options.particles),
                        "--dump", given], check=True, stdout=subprocess.DEVNULL)
        arrays = {name[:-4]: np.load(os.path.join(given, name)) for name in os.listdir(given)}
        path = os.path.join(options.folder, f"set{number}.bat")
        parabat.write(path, arrays.pop("pos"), arrays, flush=False)
        os.makedirs(ordered, exist_ok=True)
        with parabat.open(path) as dataset:
            found = dataset.read()
            np.save(os.path.join(ordered, "positions.npy"), found.positions)
            for name in arrays:
                np.save(os.path.join(ordered, name + ".npy"), found[name])
        count = len(found.positions)
        rows = ours(options.build, ordered, options.rounds)
        done = subprocess.run([python, __file__, "--others", ordered, str(options.rounds)], check=True,
                              stdout=subprocess.PIPE, text=True)
        name = kind if kind == "clustered" else os.path.basename(kind)
        table(f"{name}, {count:,}", rows + json.loads(done.stdout))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--others"]:
        others(sys.argv[2], int(sys.argv[3]))
    else:
        main()
