# SPDX-License-Identifier: BSD-3-Clause
"""Tests the Python package. Arguments: folder to write in, and "mpi" to use all ranks."""

import copy
import decimal
import fractions
import gc
import json
import os
import pickle
import sys
import types

import numpy as np
import parabat

FOLDER = sys.argv[1]
COMM = None
RANK, RANKS = 0, 1
if sys.argv[2:] == ["mpi"]:
    from mpi4py import MPI
    COMM = MPI.COMM_WORLD
    RANK, RANKS = COMM.rank, COMM.size
LAST = RANK == RANKS - 1
PATH = os.path.join(FOLDER, f"test_bat_py.{'alone' if COMM is None else RANKS}.bat")


def fails(call, error, word):
    try:
        call()
    except error as e:
        assert word in str(e), (word, str(e))
        return e
    raise AssertionError(f"no {error}")


def total(value):
    return value if COMM is None else COMM.allreduce(value)


def what_repeats_comes_back_by_every_name():
    n = 0 if RANK == 1 else 500
    random = np.random.default_rng(RANK)
    xyz, velocity = random.random((n, 3)), random.random((n, 3))
    attributes = {"y": xyz[:, 1].copy(), "speed": velocity[:, 2], "velocity": velocity,
                  "again": velocity.copy(), "id": np.arange(n) + 1000 * RANK}
    size = {}
    for repeats, names in (("store", set(attributes)), ("link", set(attributes)),
                           ("leave_out", {"velocity", "again", "id"})):
        report = parabat.write(PATH, xyz, attributes, comm=COMM, repeats=repeats, target_bytes=20000)
        size[repeats] = report.data_bytes
        with parabat.Dataset(PATH, COMM) as d:
            assert set(d.attributes) == names
            everything = d.read()
            assert everything.count == total(n)
            if "y" in names:
                np.testing.assert_array_equal(everything["y"], everything.positions[:, 1])
                np.testing.assert_array_equal(everything["speed"], everything["velocity"][:, 2])
                assert d.attributes["y"].range == (everything["y"].min(), everything["y"].max())
                some = d.read(["id"], ranges=[("y", 0.25, 0.5), ("speed", 0.1, 0.9)])
                y, speed = everything["y"], everything["speed"]
                good = (y >= 0.25) & (y <= 0.5) & (speed >= 0.1) & (speed <= 0.9)
                assert sorted(some["id"]) == sorted(everything["id"][good])
    assert size["store"] - size["link"] == 16 * total(n) and size["link"] == size["leave_out"]
    report = parabat.write(PATH, xyz, attributes, comm=COMM, repeats="link", compare_values=True)
    assert size["store"] - report.data_bytes == 40 * total(n)
    fails(lambda: parabat.write(PATH, xyz, attributes, comm=COMM, repeats="drop"), parabat.BatError, "leave_out")


def every_type_comes_back():
    n = 0 if RANK == 1 else 3000
    random = np.random.default_rng(RANK)
    ids = 2**62 + np.arange(n) + RANK * 3000
    positions = random.random((n, 3), dtype=np.float32)
    attributes = {"id": ids, "flag": random.random(n) < 0.5}
    for name in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"):
        info = np.iinfo(name)
        attributes[name] = random.integers(info.min, info.max, (n, 9), name, endpoint=True)
    attributes["float32"] = random.random((n, 2), dtype=np.float32)
    attributes["float64"] = random.random((2 * n, 3))[::2]  # not contiguous
    report = parabat.write(PATH, positions, attributes, comm=COMM, time=1.5, step=-3,
                       metadata='{"a":1}', target_bytes=400000, threads=1, sorted_indexes=["id"],
                       stable_samples=["id"])
    assert report.particles == total(n) and report.seconds_total > 0
    assert '"particles":' in report.json()
    with parabat.Dataset(PATH, COMM) as d:
        assert len(d) == total(n) and d.time == 1.5 and d.step == -3 and '"a"' in d.metadata
        assert d.position_dtype == np.float32 and d.file_bytes == report.file_bytes
        assert d.leaf_file_count == report.leaf_files and d.stable_samples == ["id"]
        assert d.attributes["int8"].components == 9
        assert np.all(d.bounds[:3] <= d.bounds[3:])
        everything = d.read()
        own = {int(i): k for k, i in enumerate(everything["id"])}
        rows = [own[int(i)] for i in ids]
        assert everything.count == total(n)
        np.testing.assert_array_equal(everything.positions[rows], positions)
        for name, values in attributes.items():
            np.testing.assert_array_equal(everything[name][rows], values)
            assert everything[name].dtype == (np.uint8 if name == "flag" else values.dtype)
        one = d.read(["id"], ranges=[("id", 2**62 + 7, 2**62 + 7)])
        assert list(one["id"]) == [2**62 + 7] and list(one) == ["id"]
        half = d.read([], box=[-np.inf] * 3 + [0.5, np.inf, np.inf], half_open=True)
        other = d.read([], box=[0.5, -np.inf, -np.inf] + [np.inf] * 3)
        assert half.count + other.count == total(n)
        assert total(d.read([], part=RANK, parts=RANKS).count) == total(n)
        some = d.read(["id"], values={"id": [2**62 + 9, 2**62 + 7, 2**62 + 9, -1]})
        assert sorted(some["id"]) == [2**62 + 7, 2**62 + 9]
        many = d.read(["id"], values={"id": everything["id"][::3]})
        assert set(many["id"]) == set(everything["id"][::3])
        assert d.read([], values={"id": []}).count == 0
        column = everything["uint64"][:, 1]
        both = d.read(["uint64"], values={("uint64", 1): column[:50], "id": everything["id"][20:]})
        assert set(both["uint64"][:, 1]) == set(column[20:50])
        large = d.read(["uint64"], ranges=[("uint64", 0, 0, 2**63)])
        assert np.all(large["uint64"][:, 0] <= 2**63)
        assert large.count == np.count_nonzero(everything["uint64"][:, 0] <= 2**63)


def columns_are_there_without_a_copy():
    with parabat.Dataset(PATH, COMM, map=True) as d, parabat.Dataset(PATH, COMM) as copied:
        everything = d.read()
        particles = copied.read()
        for name, values in particles.items():
            np.testing.assert_array_equal(everything[name], values)
        # Leaf files follow each other, and in each all particles are in the order of the file.
        leaves = range(d.leaf_file_count)
        np.testing.assert_array_equal(np.concatenate([d.map_positions(leaf) for leaf in leaves]),
                                      particles.positions)
        for name, values in particles.items():
            np.testing.assert_array_equal(
                np.concatenate([d.map_attribute(name, leaf) for leaf in leaves]), values)
        coarse = d.map_attribute("id", quality=0.25)
        whole = d.map_attribute("id")
        assert 0.25 <= len(coarse) / len(whole) < 0.26
        assert coarse.ctypes.data == whole.ctypes.data and not coarse.flags.writeable
        assert len(d.map_positions(quality=0.0)) == 0
        fails(lambda: d.map_attribute("nothing"), parabat.BatError, "'nothing'")
        fails(lambda: d.map_attribute("id", leaf=99), parabat.BatError, "99")
        fails(lambda: d.map_attribute("id", leaf=-1), parabat.BatError, "-1")
        fails(lambda: d.map_attribute("id", leaf=2**64), parabat.BatError, str(2**64))
        fails(lambda: d.map_attribute("id\0x"), ValueError, "zero character")
        fails(lambda: d.map_positions(quality=2.0), parabat.BatError, "quality")
        fails(lambda: setattr(whole.flags, "writeable", True), ValueError, "WRITEABLE")
        fails(lambda: copied.map_positions(), parabat.BatError, "map")
        expected = whole.copy()
        base = d.map_attribute("id")
    np.testing.assert_array_equal(base, expected)  # although the dataset is closed
    del whole, coarse, base
    with open("/proc/self/maps", encoding="utf-8") as maps:
        assert os.path.basename(PATH) not in maps.read()
    # As always, rank 0's path is used.
    with parabat.Dataset(PATH if RANK == 0 else PATH + ".none", COMM, map=True) as d:
        assert len(d) == len(everything["id"])
    fails(lambda: parabat.Dataset(PATH + ".none", COMM, map=True), parabat.BatError, ".none")


def errors_come_on_all_ranks():
    xyz = np.zeros((2, 3))
    refused = fails(lambda: parabat.Dataset("/nowhere/a.bat", COMM), parabat.BatError, "/nowhere/a.bat")
    assert refused.status == 1 and isinstance(refused, FileNotFoundError)
    fails(lambda: parabat.write("/nowhere/a.bat", xyz, comm=COMM), parabat.BatError, "/nowhere")
    fails(lambda: parabat.write(PATH, xyz, {"a": np.zeros(1 if LAST else 2)}, comm=COMM), Exception, "'a'")
    fails(lambda: parabat.write(PATH, xyz, {"a": np.zeros(2, complex if LAST else float)}, comm=COMM),
          Exception, "complex")
    fails(lambda: parabat.write(PATH, xyz, {"a": np.zeros(2)}, comm=COMM, sorted_indexes=["b"]), parabat.BatError, "'b'")
    fails(lambda: parabat.write(PATH, xyz, {"a": np.zeros(2)}, comm=COMM, sorted_indexes="a"), TypeError, "lists")
    with parabat.Dataset(PATH, COMM) as d:
        fails(lambda: d.read(["nothing"]), parabat.BatError, "nothing")
        fails(lambda: d.read(box=[np.nan if LAST else 0] * 6), parabat.BatError, "NaN")
        fails(lambda: d.read(ranges=[("nothing", 0, 1)] if LAST else None), parabat.BatError, "nothing")
        fails(lambda: d.read(values={"nothing": [1]} if LAST else None), parabat.BatError, "nothing")
        fails(lambda: d.read(values={"id": [1, np.nan] if LAST else [1]}), parabat.BatError, "NaN")
        for request in ([-1, 2**63 + 1], [0.5, 2**53 + 1]):  # no number is rounded to an existing one
            found = d.read(["id"], values={"id": request})["id"]
            assert set(found.tolist()) <= set(request)
        fails(lambda: d.read(quality=2), parabat.BatError, "quality")


def numbers_and_texts_are_looked_at_as_they_are_passed():
    xyz = np.zeros((2, 3))
    small = PATH + ".small"
    parabat.write(small, xyz, {"a": np.arange(2)}, comm=COMM)
    with open(small, "rb") as file:
        before = file.read()

    def refused(word, base=ValueError, path=small, positions=xyz, attributes=None, **options):
        """An error on the last rank; the others pass valid arguments."""
        error = fails(lambda: parabat.write(path if LAST else small, positions if LAST else xyz,
                                        attributes if LAST else None, comm=COMM, **(options if LAST else {})),
                      parabat.BatError, word)
        assert error.status == 9 and (not LAST or isinstance(error, base)), error

    refused(f"step: {2**63};", step=2**63)
    refused(f"step: {-2**63 - 1};", step=-2**63 - 1)
    refused("step: 1.0 (float)", TypeError, step=1.0)
    refused("target_bytes is -1;", target_bytes=-1)
    refused(f"target_bytes: {2**64};", target_bytes=2**64)
    refused(f"threads is {2**32 + 1};", threads=2**32 + 1)
    refused(f"threads: {2**64 + 1};", threads=2**64 + 1)
    refused("threads is -1;", threads=-1)
    refused("a number of", threads=10**5000)
    refused('mode is "x"; one of adaptive, rank_border, aug is allowed', mode="x")
    refused("mode is 0; one of adaptive, rank_border, aug is allowed", mode=0)
    refused("threads: '2' (str)", TypeError, threads="2")
    refused("index_budget is nan;", index_budget=float("nan"))
    refused("unknown option 'treads'; did you mean 'threads'? Available: target_bytes, ", TypeError, treads=1)
    every = {option["name"]: option["default"] for option in parabat.options_table()}
    parabat.write(small, xyz, {"a": np.arange(2)}, comm=COMM, **every)
    refused("zero character", attributes={"a": np.zeros(2), "a\0b": np.ones(2)})
    refused("zero character", metadata="{}\0")
    refused("zero character", sorted_indexes=["a\0b"])
    refused("not valid Unicode", attributes={"\ud800": np.zeros(2)})
    refused("attribute name: 3 (int)", TypeError, attributes={3: np.zeros(2)})
    refused("time: '1' (str)", TypeError, time="1")
    refused("a box is six numbers", local_bounds=[0, 1])
    if not LAST or COMM is None:
        fails(lambda: parabat.write(f"{small}\0.x", xyz), ValueError, "zero character")
    fails(lambda: parabat.Dataset(f"{small}\0.x" if LAST else small, COMM), parabat.BatError, "zero character")
    fails(lambda: parabat.Dataset(3.5 if LAST else small, COMM), parabat.BatError, "path: 3.5 (float)")
    with open(small, "rb") as file:
        assert file.read() == before
    if COMM is not None:
        with parabat.Dataset(small if RANK == 0 else None, COMM) as d:  # rank 0's path counts
            assert len(d) == 2 * RANKS and f"{2 * RANKS} particles" in repr(d)

    # Arrays are stored exactly or rejected.
    masked = np.ma.masked_array([1, 2], [False, True])
    refused(".filled(value)", attributes={"a": masked})
    refused(".filled(value)", positions=np.ma.masked_less(xyz, 1))
    refused(".filled(value)", positions=[masked, masked])
    refused("shape (2, 2, 4); allowed: (n,) and (n, k)", attributes={"a": np.zeros((2, 2, 4))})
    refused("shape (2, 10)", attributes={"a": np.zeros((2, 10))})
    refused("shape (2, 0)", attributes={"a": np.zeros((2, 0))})
    refused("shape ()", attributes={"a": 5.0})
    refused("positions: shape (2, 2); allowed: (n, 3)", positions=np.zeros((2, 2)))
    refused("positions: shape (2, 3, 1); allowed: (n, 3)", positions=np.zeros((2, 3, 1)))
    refused("is not an array", attributes={"a": [[1, 2], [3]]})
    refused("type float16; convert with .astype()", TypeError, attributes={"a": np.zeros(2, "float16")})
    refused("attributes: [1, 2] (list)", TypeError, attributes=[1, 2])
    whole = np.ma.masked_array([1, 2], [False, False])
    window = np.lib.stride_tricks.sliding_window_view(np.arange(4.0), 3)
    parabat.write(small, window, {"a": whole, "same": np.broadcast_to(np.float32(7), 2),
                                    "back": np.arange(4)[::-2], "k": np.arange(2)[:, None]}, comm=COMM)
    with parabat.Dataset(small, COMM) as d:
        read = d.read()
        np.testing.assert_array_equal(np.sort(read["a"]), np.repeat([1, 2], RANKS))
        np.testing.assert_array_equal(read["same"], np.full(2 * RANKS, np.float32(7)))
        np.testing.assert_array_equal(read["back"], np.where(read["a"] == 1, 3, 1))
        np.testing.assert_array_equal(read["k"], read["a"] - 1)
        np.testing.assert_array_equal(read.positions, window[read["a"] - 1])
        assert f"{2 * RANKS} particles" in repr(d) and "same float32" in " ".join(repr(d).split())
        assert f"same float32[{2 * RANKS}]" in repr(read)
    assert "closed" in repr(d)

    with parabat.Dataset(small, COMM) as d:
        def not_read(word, base=ValueError, **question):
            error = fails(lambda: d.read(**(question if LAST else {})), parabat.BatError, word)
            assert error.status == 9 and (not LAST or isinstance(error, base)), error

        not_read(f"part {2**32} of 1;", part=2**32)
        not_read(f"part 1 of {2**32 + 2};", part=1, parts=2**32 + 2)
        not_read("part -1 of 3;", part=-1, parts=3)
        not_read(f"threads is {2**32 + 1};", threads=2**32 + 1)
        not_read(f"is {2**32};", ranges=[("a", 2**32, 0, 1)])
        not_read("component -1 of 'a'", ranges=[("a", -1, 0, 1)])
        not_read("component 1; allowed are 0 to 0", ranges=[("a", 1, 0, 1)])
        not_read(f"is {2**32};", values={("a", 2**32): [1]})
        not_read("component -1 of 'a'", values={("a", -1): [1]})
        not_read("zero character", ranges=[("a\0x", 0, 1)])
        not_read("zero character", values={"a\0x": [1]})
        not_read("zero character", attributes=["a\0x"])
        not_read("attributes: 'a' (str)", TypeError, attributes="a")
        not_read("ranges: 'a' (str)", TypeError, ranges=("a", 0, 1))
        not_read("ranges: ('a', 0) (tuple)", TypeError, ranges=[("a", 0)])
        not_read("range of 'a': '0' (str)", TypeError, ranges=[("a", "0", 1)])
        not_read(f"minimum {2**70} is above its maximum 3", ranges=[("a", 2**70, 3)])
        not_read("NaN", ranges=[("a", np.nan, 3)])
        not_read("values: [1] (list)", TypeError, values=[1])
        not_read("values of 'a': 1 (int)", TypeError, values={"a": 1})
        not_read(f"values of 'a': {2**64};", values={"a": [1, 2**64]})
        not_read(".filled(value)", values={"a": masked})
        not_read("quality: '1' (str)", TypeError, quality="1")
        not_read("a box is six numbers", box=[0, 1])
        assert d.read([], threads=2**31 - 1).count == 2 * RANKS


def ranges_are_those_of_real_numbers():
    ids = np.concatenate([np.arange(-10, 11), [-2**63, -2**53 - 1, 2**53, 2**53 + 1, 2**63 - 1]])
    large = np.array([0, 1, 5, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1] + [7] * 18, np.uint64)
    real = np.concatenate([[np.inf, -np.inf, np.nan, 2.0**70, -2.0**70, 1e308, 0.1, -0.0],
                           np.linspace(-3, 3, 18)])
    parabat.write(PATH + ".ranges", np.zeros((26, 3)), {"id": ids, "large": large, "real": real}, comm=COMM)
    ends = [None, -np.inf, -10**400, -2**70, -2**63 - 1, -2**63, -2.0**63, -2**53 - 1,
            -fractions.Fraction(2**54 + 1, 2), -5, -0.5, 0,
            decimal.Decimal("0.1"), fractions.Fraction(1, 10), 0.1, 3, np.float32(3.5), np.int8(4), 2**53,
            2.0**53, decimal.Decimal(2**53) + decimal.Decimal("0.5"), 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 2**64 + 8, 2**70 - 1, 2**70, 2**70 + 1,
            10**400, np.inf]

    def holds(lower, upper, value):
        if value != value:
            return False
        exact = value if np.isinf(value) else fractions.Fraction(value)
        return (lower is None or lower <= exact) and (upper is None or exact <= upper)

    def python(end):
        return end.item() if isinstance(end, np.generic) else (
            fractions.Fraction(end) if isinstance(end, decimal.Decimal) else end)

    with parabat.Dataset(PATH + ".ranges", COMM) as d:
        assert d.attributes["id"].range == (-2**63, 2**63 - 1)
        assert d.attributes["large"].range == (0, 2**64 - 1)
        assert d.attributes["real"].range == (-np.inf, np.inf)

        def count(name, lower, upper):
            return d.read([], ranges=[(name, lower, upper)], threads=1).count // RANKS

        assert count("id", -5, 2**63) == 16 + 3
        assert count("id", -2**70, 3) == 14 + 2
        assert count("id", 5, 2**64 + 8) == 6 + 3
        assert count("id", 2**53 + 1, np.inf) == 2
        for name, values in (("id", ids), ("large", large), ("real", real)):
            values = values.tolist()
            for i, lower in enumerate(ends):
                # All pairs in one process; some on many ranks, which need time to agree.
                for upper in ends[i::1 if COMM is None else 7]:
                    expected = sum(holds(python(lower), python(upper), v) for v in values)
                    assert count(name, lower, upper) == expected, (name, lower, upper, expected)


def shapes_and_lists_with_ranges_are_those_of_a_scan():
    random = np.random.default_rng(5)
    n = 3000
    xyz = random.random((n, 3))
    ids = random.permutation(n) + 2**60
    heat = random.standard_normal(n)
    heat[::50] = np.nan
    parabat.write(PATH + ".shapes", xyz, {"id": ids + RANK * n, "heat": heat, "v": xyz}, comm=COMM)
    with parabat.Dataset(PATH + ".shapes", COMM) as d:
        def found(**question):
            return np.sort(d.read(["id"], **question)["id"])

        def expect(mask, **question):
            every = np.sort(np.concatenate([ids[mask] + rank * n for rank in range(RANKS)]))
            np.testing.assert_array_equal(found(**question), every)

        d0 = xyz - xyz[7]
        near = (d0[:, 0] * d0[:, 0] + d0[:, 1] * d0[:, 1]) + d0[:, 2] * d0[:, 2] <= 0.3 * 0.3
        expect(near, shapes=[parabat.Sphere(xyz[7], 0.3)])
        expect(~near, shapes=[parabat.Sphere(tuple(xyz[7]), 0.3, outside=True)])
        along = (xyz[:, 0] * 1.0 + xyz[:, 1] * -2.0) + xyz[:, 2] * 0.5
        slab = (along >= -0.5) & (along <= 0.25)
        expect(slab & near, shapes=[parabat.Slab((1, -2, 0.5), -0.5, 0.25), parabat.Sphere(xyz[7], 0.3)])
        axes = np.array([[0.6, 0.8, 0], [-0.8, 0.6, 0], [0, 0, 1]])
        inside = np.ones(n, bool)
        for axis, half in zip(axes, (0.4, 0.1, np.inf)):
            at = (axis[0] * d0[:, 0] + axis[1] * d0[:, 1]) + axis[2] * d0[:, 2]
            inside &= np.abs(at) <= half
        expect(inside, shapes=[parabat.OrientedBox(xyz[7], axes, (0.4, 0.1, 10))])

        reference = np.isin(ids, [2**60 + 3, 2**60 + 7]) | ((ids >= 2**60 + 5) & (ids <= 2**60 + 90))
        if COMM is None:
            expect(reference, values={"id": [2**60 + 3, (2**60 + 5, 2**60 + 90), 2**60 + 7]})
            expect(~reference, not_values={"id": [2**60 + 3, (2**60 + 5, 2**60 + 90), 2**60 + 7]})
        warm = (heat >= 0.5) & (heat <= 1) | (heat >= 2)
        expect(warm, values={"heat": [(0.5, 1), (2, np.inf)]})
        expect(~warm, not_values={"heat": [(0.5, 1), (2, np.inf)]})  # NaN is among these
        expect((xyz[:, 1] <= 0.25) | (xyz[:, 1] == xyz[7, 1]), values={("v", 1): [(-1, 0.25), xyz[7, 1]]})

        def refused(word, **question):
            fails(lambda: d.read([], **question), ValueError, word)

        refused("the radius of the sphere is -1", shapes=[parabat.Sphere((0, 0, 0), -1)])
        refused("center of a sphere: 2 numbers; 3 are required", shapes=[parabat.Sphere((0, 0), 1)])
        refused("the normal of the slab is 0, 0, 0", shapes=[parabat.Slab((0, 0, 0), 0, 1)])
        refused("ends before it starts", values={"id": [(4, 3)]})
        refused("a range is a pair", values={"id": [(4, 3, 2)]})
        fails(lambda: d.read([], shapes=[3]), TypeError, "Sphere, Slab and OrientedBox")


def dataframes_and_structured_arrays_are_columns():
    n = 5
    table = np.zeros(n, [("mass", "f4"), ("id", "i8"), ("v", "f8", 3)])
    table["mass"], table["id"], table["v"] = np.arange(n), 2**60 + np.arange(n), np.arange(3 * n).reshape(n, 3)

    class Frame:  # as in pandas
        def __init__(self, *columns):
            self.columns = columns

        def __bool__(self):
            raise ValueError("The truth value of a DataFrame is ambiguous.")

        def keys(self):
            return [name for name, _ in self.columns]

        def items(self):
            return iter(self.columns)

    frame = Frame(*((name, table[name]) for name in table.dtype.names))
    tables = [table, table.view(np.recarray), frame]
    try:
        import pandas
        tables.append(pandas.DataFrame({"mass": table["mass"], "id": table["id"]}))
    except ImportError:
        pass
    for attributes in tables:
        parabat.write(PATH + ".table", np.zeros((n, 3)), attributes, comm=COMM)
        with parabat.Dataset(PATH + ".table", COMM) as d:
            read = d.read()
            order = read["id"] - 2**60
            np.testing.assert_array_equal(read["mass"], table["mass"][order])
            assert read["mass"].dtype == np.float32
            if "v" in read:
                np.testing.assert_array_equal(read["v"], table["v"][order])
    twice = Frame(("id", table["id"]), ("id", table["mass"]))
    fails(lambda: parabat.write(PATH + ".table", np.zeros((n, 3)), twice, comm=COMM), ValueError, "'id' occurs twice")


def who_is_told_of_progress_stops_all_ranks():
    n = 1000
    path = PATH + ".progress"
    parabat.write(path, np.zeros((n, 3)), {"id": np.arange(n)}, comm=COMM)
    reported = []
    parabat.write(path, np.zeros((n, 3)), {"id": np.arange(n)}, comm=COMM, progress=reported.append)
    assert reported == sorted(reported) and (reported[-1] == 1.0 if RANK == 0 else not reported), reported
    with open(path, "rb") as file:
        before = file.read()
    fails(lambda: parabat.write(path, np.ones((n, 3)), comm=COMM, progress=lambda done: False),
          parabat.BatCancelledError, "")
    with open(path, "rb") as file:
        assert file.read() == before

    def breaks(done):
        raise ZeroDivisionError(f"at {done}")
    fails(lambda: parabat.write(path, np.ones((n, 3)), comm=COMM, progress=breaks),
          ZeroDivisionError if RANK == 0 else parabat.BatCancelledError, "")
    with parabat.open(path, COMM) as d:
        fails(lambda: d.read(progress=(lambda done: np.bool_(False)) if LAST else None),
              parabat.BatCancelledError, "")
        assert d.read().count == n * RANKS
        steps = list(d.iter_quality(3, ["id"], part=RANK, parts=RANKS))
        assert total(sum(step.count for step in steps)) == n * RANKS


def reads_by_aggregators_are_those_of_each_rank():
    n = 2000
    path = PATH + ".modes"
    rng = np.random.default_rng(RANK)
    report = parabat.write(path, rng.random((n, 3)), {"id": np.arange(n) + n * RANK, "v": rng.random((n, 3))},
                           comm=COMM, target_bytes=30000)
    assert report.nodes == 1 and 1 <= report.aggregators <= RANKS and report.threads >= 0, report
    assert f"{report.leaf_files} leaf files by" in report.line() and json.loads(report.json())["advice"] == report.advice
    if COMM is None:
        with parabat.open(path) as d:
            fails(lambda: d.read(mode="direct"), ValueError, "communicator")
            assert d.read().report is None
        return
    with parabat.open(path, COMM) as d:
        for query in ({}, {"part": RANK, "parts": RANKS}, {"box": (0, 0, 0, 0.5, 1, 0.3 + 0.1 * RANK), "half_open": True}):
            plain = d.read(**query)
            assert plain.report is None and plain.report_line is None
            for options in ({"mode": "aggregated"}, {"mode": "direct"}, {"mode": "auto"} if LAST else {},
                            {"mode": "aggregated", "memory_bytes": 1}, {"report": LAST}):
                found = d.read(**query, **options)
                assert np.array_equal(found.positions, plain.positions)
                assert all(np.array_equal(found[name], plain[name]) for name in ("id", "v"))
        found = d.read(["v"], mode="aggregated", report=True)
        assert list(found) == ["v"] and found.report["mode"] == "aggregated" and "aggregated" in found.report_line
        assert found.report["opens"] == len(d.leaves) and found.report["particles"] == n * RANKS * RANKS
        fails(lambda: d.read(mode="collective" if LAST else "direct"), parabat.BatError, "'collective'")
        fails(lambda: d.read(mode="direct", memory_bytes=-1 if LAST else 0), parabat.BatError, "-1")


def errors_pickle():
    for error in (fails(lambda: parabat.Dataset(PATH + ".none"), FileNotFoundError, ".none"),
                  fails(lambda: parabat.Dataset("/"), parabat.BatError, "/"),
                  fails(lambda: parabat.write(PATH, None, mode="x"), parabat.BatError, "positions"),
                  fails(lambda: parabat.write(PATH, np.zeros((1, 3)), threads=-1), ValueError, "-1")):
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error) and str(again) == str(error) and again.status == error.status
        assert str(copy.copy(error)) == str(error)


def descriptors_are_released():
    """Without `with`, and after errors."""
    parabat.write(PATH + ".open", np.zeros((1, 3)), {"a": np.zeros(1)})
    gc.collect()  # those of earlier errors
    before = os.listdir("/proc/self/fd")
    for _ in range(10):
        for mapped in (False, True):
            d = parabat.Dataset(PATH + ".open", map=mapped)
            fails(lambda d=d: d.read(["b"]), ValueError, "'b'")
            assert len(d.read()) == 1
            column = d.map_attribute("a") if mapped else None
    del d
    assert column[0] == 0
    del column
    assert len(os.listdir("/proc/self/fd")) == len(before)


def another_mpi_is_named():
    """Communicators of a running MPI that is not the library's."""
    other = types.ModuleType("other_mpi")
    other.Is_initialized, other.Is_finalized = lambda: True, lambda: False
    other.Get_library_version = lambda: "MPICH Version:\t4.0.2\nMPICH Release date: Thu Apr 7"
    comm = type("Intracomm", (), {"__module__": "other_mpi", "py2f": lambda self: 0})()
    sys.modules["other_mpi"] = other
    try:
        error = fails(lambda: parabat.Dataset(PATH, comm), parabat.BatError, "MPI")
        if "without MPI" not in str(error):
            assert "MPICH Version: 4.0.2, used by mpi4py" in str(error) and "not initialized" in str(error), error
        fails(lambda: parabat.write(PATH, np.zeros((1, 3)), comm=comm), parabat.BatError, "MPI")
    finally:
        del sys.modules["other_mpi"]
    error = fails(lambda: parabat.Dataset(PATH, "world"), parabat.BatError, "")
    assert "without MPI" in str(error) or isinstance(error, TypeError)


def ranks_that_ask_for_different_attributes_do_not_wait_for_each_other():
    with parabat.Dataset(PATH, COMM) as d:
        where = f"rank {RANKS - 1}: the attributes to read are 'id' here and 'flag', 'id' on rank 0"
        fails(lambda: d.read(["id"] if LAST else ["id", "flag"]), parabat.BatError, where)
        fails(lambda: d.read([] if LAST else ["id", "flag"]), parabat.BatError, "none here")
        fails(lambda: d.read(["id", "id\0"] if LAST else ["id", "flag"]), parabat.BatError, "zero")
        names = ["flag", "id"] if LAST else ["id", "flag"]
        assert list(d.read(names)) == names
        # Nor do they wait for one that lacks memory for its result.
        empty = np.empty

        def no_room(*_):
            raise MemoryError("no room")
        if LAST:
            np.empty = no_room
        try:
            error = fails(d.read, MemoryError if LAST else parabat.BatError, "more than the available memory")
        finally:
            np.empty = empty
        assert LAST or error.status == 10


def steps_without_particles_keep_columns(folder):
    """Attributes come from the ranks that declare them, or from the previous step; those missing in
    a step are empty."""
    none = np.empty((0, 3), np.float32)
    columns = {"id": np.empty(0, np.int64), "v": np.empty((0, 3), np.float32)}
    with parabat.Series(os.path.join(folder, "late_{timestep}.bat"), COMM, flush=False) as series:
        series.write(0, 0.0, none)
        series.write(1, 1.0, none, columns if LAST else None)
        series.begin(2, 2.0)
        series.end()
        if RANKS > 1:
            fails(lambda: series.write(3, 3.0, none, {"id": np.empty(0, np.float64 if LAST else np.int64)}), parabat.BatError,
                  f"'id' is 1 x int64 on rank 0 and 1 x float64 on rank {RANKS - 1}")
    for step in (1, 2):
        with parabat.Dataset(os.path.join(folder, f"late_{step}.bat"), COMM) as d:
            assert {a.name: (a.dtype.name, a.components) for a in d.attributes.values()} == {"id": ("int64", 1), "v": ("float32", 3)}
            read = d.read(ranges={"id": (0, 5)})
            assert read["v"].shape == (0, 3) and read["id"].dtype == np.int64
    with parabat.Dataset(os.path.join(folder, "late_0.bat"), COMM) as d:
        assert d.attributes == {} and d.read()["id"].shape == (0,)
        for mode in (None, "aggregated"):
            read = d.read(["id", "v"], ranges=[("id", 0, 5), ("v", 1, 0, 1)], values={"w": [1, (2, 3)]}, mode=mode)
            assert read.count == 0 and read["v"].shape == (0,) and list(read) == ["id", "v"]


def steps_become_series():
    n = 0 if RANK == 1 else 1000
    both = np.random.default_rng(RANK).random((n, 8))  # positions and velocities side by side
    ids = np.arange(n) + RANK * 1000
    folder = f"{PATH}.series_test"
    with parabat.Series(os.path.join(folder, "dust.bat"), COMM, target_bytes=40000, flush=False) as series:
        for step in range(3):
            report = series.write(step, 0.5 * step, both[:, :3], {"v": both[:, 4:7], "id": ids},
                                  ghosts=ids % 10 == 0)
            assert report.particles == total(n) * 9 // 10 and report.skipped == total(n) // 10
        assert [w["file"] for w in series.written] == [os.path.join(folder, "dust_000002.bat")]
        series.begin(3, 1.5)
        series.add(both[:, :3], {"id": ids}, species="gas")
        series.add(both[:0, :3], {"id": ids[:0]}, species="gas")
        if LAST:
            fails(lambda: series.add(both[:, :3], {"id": np.zeros(n + 1)}, species="gas"), ValueError, "'id'")
        fails(series.end, Exception, "'id'")
        series.begin(4, 2.0)
        series.add(both[:, :3], {"id": ids}, species="gas")
        assert series.end().particles == total(n)
        fails(lambda: series.write(5, np.nan, both[:, :3]), parabat.BatError, "nan")
        fails(lambda: series.write(6, 1.0, both[:, :3], species=3 if LAST else None), parabat.BatError,
              "species: 3 (int)")
        fails(lambda: series.write(2**63 if LAST else 6, 1.0, both[:, :3]), parabat.BatError, f"step: {2**63};")
        fails(lambda: series.write(6, "1" if LAST else 1.0, both[:, :3]), parabat.BatError, "time: '1' (str)")
        fails(lambda: series.write(6, 1.0, both[:, :3], species="a\0b" if LAST else None), parabat.BatError,
              "zero character")
        assert not os.path.exists(os.path.join(folder, "dust_000006.bat"))
    steps_without_particles_keep_columns(folder)
    fails(lambda: parabat.Series(os.path.join(folder, "a\0b" if LAST else "a"), COMM), parabat.BatError, "zero")
    fails(lambda: parabat.Series(os.path.join(folder, "a"), COMM, every=2**64 + 1 if LAST else 1), parabat.BatError,
          f"every: {2**64 + 1};")
    fails(lambda: parabat.Series(os.path.join(folder, "a"), COMM, every=0 if LAST else 1), parabat.BatError, "every is 0")
    with parabat.Series(os.path.join(folder, "some"), COMM, every=2) as series:
        fails(lambda: series.keep_memory(-1), parabat.BatError, "-1 bytes")
        series.keep_memory(0)
        assert series.write(0, 0.0, both[:, :3]).particles == total(n)
        assert series.write(1, 1.0, both[:, :2]).particles == 0  # not written, and not checked
        # A step that one rank cannot begin counts on all.
        fails(lambda: series.write(0.5 if LAST else 2, 2.0, both[:, :3]), parabat.BatError, "step: 0.5 (float)")
        assert series.write(3, 3.0, both[:, :3]).particles == 0
        assert series.write(4, 4.0, both[:, :3]).particles == total(n)
    with parabat.Dataset(os.path.join(folder, "dust_000002.bat"), COMM) as d:
        particles = d.read()
        own = {int(i): k for k, i in enumerate(particles["id"])}
        kept = [k for k in range(n) if ids[k] % 10]
        rows = [own[int(ids[k])] for k in kept]
        assert d.time == 1.0 and d.step == 2
        np.testing.assert_array_equal(particles.positions[rows], both[kept, :3])
        np.testing.assert_array_equal(particles["v"][rows], both[kept, 4:7])
    with parabat.Dataset(os.path.join(folder, "dust_gas_000004.bat"), COMM) as d:
        assert len(d) == total(n)


if __name__ == "__main__":
    what_repeats_comes_back_by_every_name()
    every_type_comes_back()
    columns_are_there_without_a_copy()
    errors_come_on_all_ranks()
    numbers_and_texts_are_looked_at_as_they_are_passed()
    ranges_are_those_of_real_numbers()
    shapes_and_lists_with_ranges_are_those_of_a_scan()
    dataframes_and_structured_arrays_are_columns()
    who_is_told_of_progress_stops_all_ranks()
    reads_by_aggregators_are_those_of_each_rank()
    errors_pickle()
    descriptors_are_released()
    if COMM is None:
        another_mpi_is_named()
    if RANKS > 1:
        ranks_that_ask_for_different_attributes_do_not_wait_for_each_other()
    if COMM is not None:
        steps_become_series()
