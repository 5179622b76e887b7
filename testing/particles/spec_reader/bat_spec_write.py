#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes example files of the BAT format, version 1.0, and next to each, NAME.json with its exact content.

The writer is parabat.pure.writer, which was written from core/particles/FORMAT.md alone.
"""

import argparse
import json
import math
import os
import sys

import numpy as np

import bat_spec as spec
from parabat.pure.writer import build, build_dataset


def bell(random, shape):
    """Returns bell-curve values from operations that every machine rounds alike."""
    return random.uniform(-1, 1, shape) + random.uniform(-1, 1, shape) + random.uniform(-1, 1, shape)


def random_values(random, name, shape):
    """Returns values of a scalar type, integers over the whole range of the type."""
    dtype = np.dtype(name)
    if dtype.kind == "f":
        return bell(random, shape).astype(dtype)
    return np.frombuffer(random.bytes(int(np.prod(shape)) * dtype.itemsize), dtype).reshape(shape).copy()


def examples():
    """Yields (name, bytes, content) of each file."""
    random = np.random.RandomState(20240613)

    def cloud(n, dtype="f4"):
        return random.uniform(-1, 1, (n, 3)).astype(dtype)

    def column(name, values):
        return name, values, 0, 0

    def wave(xyz):
        x = xyz[:, 0].astype("f8")
        return column("wave", x * (1 - x * x))

    yield ("empty",) + build(cloud(0), [column("mass", np.zeros(0, "f8")), column("velocity", np.zeros((0, 3), "f4")),
                                       column("id", np.zeros(0, "i8")), column("kind", np.zeros(0, "u1"))])
    yield ("one_particle",) + build(np.array([[1.5, -2.25, 1e-300]]), [("velocity", np.array([[3, 4, 0]], "f4"), 3, 10)],
                                    time=0.125, step=-7)
    xyz = cloud(17)
    yield ("seventeen",) + build(xyz, [wave(xyz), column("id", np.arange(17, dtype="i8"))], block_particles=4, treelet_particles=9)
    xyz = cloud(150, "f8")
    every = [column("%s_%d" % (name, 1 + i % 9), random_values(random, name, (150, 1 + i % 9) if i % 9 else 150))
             for i, name in enumerate(spec.SCALARS.values())]
    yield ("all_types",) + build(xyz, every + [column("nine", random_values(random, "float64", (150, 9)))], treelet_particles=40,
                                 bitmap_bytes=(4, 2, 0))
    for n, levels in ((300, [300]), (300, [0, 0, 1, 299, 300])):
        xyz = cloud(n)
        yield ("levels_%d" % len(levels),) + build(xyz, [wave(xyz)], level_ends=levels, treelet_particles=40)

    xyz = cloud(120)
    xyz[::7, 0], xyz[3::11, 1], xyz[5::13, 2], xyz[4] = np.nan, np.inf, -np.inf, -0.0
    values = bell(random, 120)
    values[::5], values[1::17], values[2::19], values[3] = np.nan, np.inf, -np.inf, -0.0
    values.view("u8")[::10] |= 0x8000000000001234
    values.view("u8")[5] = 0x7FF0000000000001
    narrow = bell(random, (120, 2)).astype("f4")
    narrow.view("u4")[6, 0], narrow[7, 1], narrow[8, 0] = 0x7F800055, np.nan, np.inf
    all_nan = np.full(120, np.nan)
    for name, width in (("not_finite", 4), ("not_finite_dictionary", 1)):
        yield (name,) + build(xyz, [column("values", values), column("narrow", narrow), column("all_nan", all_nan)],
                              treelet_particles=20, block_particles=4, bitmap_bytes=width)
    yield ("nowhere_finite",) + build(np.full((5, 3), np.nan), [column("v", np.arange(5, dtype="f4"))], bitmap_bytes=0)

    xyz = cloud(300, "f8")
    some = [wave(xyz), column("id", random.permutation(300).astype("i4")), column("kind", (xyz[:, 1] > 0).astype("u1")),
            column("velocity", random_values(random, "float32", (300, 3)))]
    for width in (0, 1, 2, 4):
        yield ("bitmap_bytes_%d" % width,) + build(xyz, some, bitmap_bytes=width, treelet_particles=70, block_particles=5,
                                                   bins=8 if width == 1 else 200)
    xyz = cloud(2400)
    yield ("dictionary",) + build(xyz, [column("noise", bell(random, 2400))], bitmap_bytes=2, bins=4096,
                                  treelet_particles=900, block_particles=6)
    ids = (1 << 53) + np.arange(90, dtype="i8")
    yield ("ids_64bit",) + build(cloud(90), [
        column("id", ids), column("negative", -ids), column("unsigned", (np.uint64(1) << np.uint64(63)) + ids.astype("u8")),
        column("ends", np.array([-(1 << 63), (1 << 63) - 1, 0] * 30, "i8")),
        column("pair", np.stack([ids, -ids], axis=1))], treelet_particles=16, bins=64)
    xyz = cloud(20)
    names = ["two words", "quote ' and \"", "Größe", "質量", "😀", " ", "a:1", "back\\slash", "line\nbreak"]
    yield ("names",) + build(xyz, [column(name, np.arange(20, dtype="i2") * i) for i, name in enumerate(names)])
    yield ("metadata",) + build(cloud(10), time=-1e300, step=(1 << 62) + 1, metadata={
        "writer": "bat_spec_write", "title": "ä title with \"quotes\"", "units": {"mass": "kg"}, "free": [1, 2.5, None, True, {}]})
    yield ("no_attributes",) + build(cloud(40))
    same = np.tile(np.array([[0.1, 0.2, -0.3]]), (50, 1))
    yield ("same_place",) + build(same, [column("constant", np.full(50, 7, "u2"))], treelet_particles=20)
    yield ("minor_version",) + build(cloud(30), [column("v", np.arange(30, dtype="f4"))], version_minor=3,
                                     optional_features=1 << 40, extra_sections=[(1000, 5, b"from a later minor version")])
    xyz = cloud(40)
    xyz[7, 2] = np.nan
    yield ("small",) + build(xyz, [wave(xyz), column("pair", random_values(random, "int16", (40, 2)))], treelet_particles=14,
                             block_particles=4, bins=6, bitmap_bytes=(1, 2, 4, 0), step=3, metadata={"title": "small"})
    n = 400
    value, pair = bell(random, n), random_values(random, "int16", (n, 2)) // 8192
    value[::9], value[4::50], value[5::60], value[::31] = np.nan, np.inf, -0.0, 0.25
    yield ("sorted_index",) + build(cloud(n), [column("value", value), column("pair", pair), column("id", (
        np.uint64(1) << np.uint64(63)) + random.permutation(n).astype("u8"))], treelet_particles=90, sorted_keys=(0, 3, 4))
    value = bell(random, 23)
    value[7] = np.nan
    yield ("sorted_index_small",) + build(cloud(23), [column("value", value), column("id", 7 - np.arange(23, dtype="i2"))],
                                          treelet_particles=9, sorted_keys=(0, 1))
    xyz = cloud(1300)
    yield ("several_pages",) + build(xyz, [wave(xyz), column("kind", (xyz[:, 1] > 0).astype("u1")), column("id", random.permutation(
        1300).astype("i2"))], treelet_particles=400, bitmap_bytes=(1, 4), sorted_keys=(2,))
    yield ("two_particles",) + build(cloud(2), [column("kind", np.array([3, 1], "u1")), column("pair", random_values(
        random, "int16", (2, 2))), column("triple", random_values(random, "float64", (2, 3)))])
    xyz = cloud(300, "f8")
    xyz[7], xyz[20, 1], xyz[31, 2] = np.nan, math.inf, -0.0
    yield ("aliases",) + build(xyz, [wave(xyz), column("triple", random_values(random, "int32", (300, 3))), column(
        "id", random.permutation(300).astype("u2"))], sorted_keys=(5,), aliases=ALIASES)
    xyz = cloud(300)
    xyz[9, 1] = np.inf
    yield ("stable",) + build(xyz, [wave(xyz), column("id", -(1 << 40) + random.permutation(300).astype("i8")), column(
        "kind", (xyz[:, 1] > 0).astype("u1"))], sorted_keys=(1,), sample_ids=[(1, -1)])
    pairs = np.stack([np.arange(41) // 4, np.arange(41) % 4], axis=1).astype("u2")[random.permutation(41)]
    yield ("stable_small",) + build(cloud(41), [column("pair", pairs), column("cpu", np.arange(41, dtype="i1") % 3)],
                                    treelet_particles=14, block_particles=4, sample_ids=[(0, -1), (0, 1), (1, 0)])


ALIASES = [("x", None, 0, 0, 11), ("height \u2191", None, 2, 0, 0), ("all of it", None, -1, 7, 0), ("number", 2, 0, 5, 0),
           ("middle", 1, 1, 0, 0), ("again", 1, -1, 0, 6)]


def dataset_examples():
    """Yields (name, bytes of the top file, {name: bytes of leaf file}, content) of each dataset of several leaf files."""
    random = np.random.RandomState(20261121)
    parts = []
    for i, n in enumerate((50, 3, 31, 2)):
        xyz = random.uniform(-1, 1, (n, 3)) + [2.0 * i, 0, 0]
        value = bell(random, n)
        if i == 2:
            xyz[4, 1], value[::3] = np.nan, np.nan
        if i == 3:
            xyz[:, 0], value[:] = np.inf, np.nan
        parts.append((xyz, [("value", value, 0, 0), ("id", (1 << 53) + 100 * i + random.permutation(n).astype("i8"), 5, 16),
                            ("pair", random_values(random, "int16", (n, 2)), 0, 0)]))
    yield ("dataset",) + build_dataset("dataset", parts, time=2.5, step=-3, metadata={"title": "four leaf files"},
                                       treelet_particles=14, block_particles=4, bins=8)
    one = (random.uniform(-1, 1, (9, 3)).astype("f4"), [])
    yield ("dataset_of_one",) + build_dataset("dataset_of_one", [one])
    parts = [(xyz, [("value", xyz[:, 0] * 2, 0, 0), ("triple", random_values(random, "int16", (len(xyz), 3)), 0, 0),
                    ("id", random.permutation(len(xyz)).astype("i4"), 0, 0)]) for xyz, _ in parts]
    yield ("dataset_aliases",) + build_dataset("dataset_aliases", parts, treelet_particles=14, block_particles=4, aliases=ALIASES)
    yield ("dataset_stable",) + build_dataset("dataset_stable", parts, treelet_particles=14, block_particles=4,
                                              sample_ids=[(2, -1)])


def main(argv):
    """Writes the files of examples and dataset_examples into a directory."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("directory")
    directory = parser.parse_args(argv).directory
    os.makedirs(directory, exist_ok=True)
    for name, data, content in examples():
        with open(os.path.join(directory, name + ".bat"), "wb") as stream:
            stream.write(data)
        with open(os.path.join(directory, name + ".json"), "w", encoding="utf-8") as stream:
            json.dump(content, stream, indent=0, ensure_ascii=False)
    for name, top, leaves, content in dataset_examples():
        os.makedirs(os.path.join(directory, name + ".bat.leaves"), exist_ok=True)
        for path, data in [(name + ".bat", top), *leaves.items()]:
            with open(os.path.join(directory, path), "wb") as stream:
                stream.write(data)
        with open(os.path.join(directory, name + ".json"), "w", encoding="utf-8") as stream:
            json.dump(content, stream, indent=0, ensure_ascii=False)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
