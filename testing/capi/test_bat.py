"""The Python wrapper. Arguments: folder to write in, and "mpi" to use all ranks."""

import os
import sys

import bat
import numpy as np

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
    report = bat.write(COMM, PATH, positions, attributes, time=1.5, step=-3,
                       metadata='{"a":1}', target_bytes=400000, threads=1, sorted_indexes=["id"])
    assert report.particles == total(n) and report.seconds_total > 0
    assert '"particles":' in report.json()
    with bat.Dataset(PATH, COMM) as d:
        assert len(d) == total(n) and d.time == 1.5 and d.step == -3 and '"a"' in d.metadata
        assert d.position_dtype == np.float32 and d.file_bytes == report.file_bytes
        assert d.leaf_files == report.leaf_files
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
    with bat.Dataset(PATH, COMM, map=True) as d, bat.Dataset(PATH, COMM) as copied:
        everything = d.read()
        particles = copied.read()
        for name, values in particles.items():
            np.testing.assert_array_equal(everything[name], values)
        # Leaf files follow each other, and in each all particles are in the order of the file.
        leaves = range(d.leaf_files)
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
        fails(lambda: d.map_attribute("nothing"), bat.BatError, "'nothing'")
        fails(lambda: d.map_attribute("id", leaf=99), bat.BatError, "99")
        fails(lambda: d.map_attribute("id", leaf=-1), bat.BatError, "-1")
        fails(lambda: d.map_attribute("id", leaf=2**64), bat.BatError, str(2**64))
        fails(lambda: d.map_positions(quality=2.0), bat.BatError, "quality")
        fails(lambda: setattr(whole.flags, "writeable", True), ValueError, "WRITEABLE")
        fails(lambda: copied.map_positions(), bat.BatError, "map")
        expected = whole.copy()
        base = d.map_attribute("id")
    np.testing.assert_array_equal(base, expected)  # though the dataset is closed
    del whole, coarse, base
    with open("/proc/self/maps", encoding="utf-8") as maps:
        assert os.path.basename(PATH) not in maps.read()
    # As always, the path is that of rank 0.
    with bat.Dataset(PATH if RANK == 0 else PATH + ".none", COMM, map=True) as d:
        assert len(d) == len(everything["id"])
    fails(lambda: bat.Dataset(PATH + ".none", COMM, map=True), bat.BatError, ".none")


def errors_come_on_all_ranks():
    xyz = np.zeros((2, 3))
    refused = fails(lambda: bat.Dataset("/nowhere/a.bat", COMM), bat.BatError, "/nowhere/a.bat")
    assert refused.status == 1
    fails(lambda: bat.write(COMM, "/nowhere/a.bat", xyz), bat.BatError, "/nowhere")
    fails(lambda: bat.write(COMM, PATH, xyz, {"a": np.zeros(1 if LAST else 2)}), Exception, "'a'")
    fails(lambda: bat.write(COMM, PATH, xyz, {"a": np.zeros(2, complex if LAST else float)}),
          Exception, "complex")
    fails(lambda: bat.write(COMM, PATH, xyz, {"a": np.zeros(2)}, sorted_indexes=["b"]), bat.BatError, "'b'")
    fails(lambda: bat.write(COMM, PATH, xyz, {"a": np.zeros(2)}, sorted_indexes="a"), TypeError, "lists")
    with bat.Dataset(PATH, COMM) as d:
        fails(lambda: d.read(["nothing"]), bat.BatError, "nothing")
        fails(lambda: d.read(box=[np.nan if LAST else 0] * 6), bat.BatError, "NaN")
        fails(lambda: d.read(ranges=[("nothing", 0, 1)] if LAST else None), bat.BatError, "nothing")
        fails(lambda: d.read(values={"nothing": [1]} if LAST else None), bat.BatError, "nothing")
        fails(lambda: d.read(values={"id": [1, np.nan] if LAST else [1]}), bat.BatError, "NaN")
        fails(lambda: d.read(values={"id": [-1, 2**63 + 1]}), ValueError, "rounded")
        fails(lambda: d.read(values={"id": [0.5, 2**53 + 1]}), ValueError, "rounded")
        fails(lambda: d.read(quality=2), bat.BatError, "quality")


def steps_become_series():
    n = 0 if RANK == 1 else 1000
    both = np.random.default_rng(RANK).random((n, 8))  # positions and velocities side by side
    ids = np.arange(n) + RANK * 1000
    folder = f"{PATH}.series_test"
    with bat.Series(COMM, os.path.join(folder, "dust.bat"), target_bytes=40000, flush=False) as series:
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
        fails(lambda: series.write(5, np.nan, both[:, :3]), bat.BatError, "nan")
        fails(lambda: series.write(6, 1.0, both[:, :3], species=3 if LAST else None), Exception, "encode")
        assert not os.path.exists(os.path.join(folder, "dust_000006.bat"))
    with bat.Series(COMM, os.path.join(folder, "some"), every=2) as series:
        assert series.write(0, 0.0, both[:, :3]).particles == total(n)
        assert series.write(1, 1.0, both[:, :2]).particles == 0  # not wanted, and not looked at
    with bat.Dataset(os.path.join(folder, "dust_000002.bat"), COMM) as d:
        particles = d.read()
        own = {int(i): k for k, i in enumerate(particles["id"])}
        kept = [k for k in range(n) if ids[k] % 10]
        rows = [own[int(ids[k])] for k in kept]
        assert d.time == 1.0 and d.step == 2
        np.testing.assert_array_equal(particles.positions[rows], both[kept, :3])
        np.testing.assert_array_equal(particles["v"][rows], both[kept, 4:7])
    with bat.Dataset(os.path.join(folder, "dust_gas_000004.bat"), COMM) as d:
        assert len(d) == total(n)


if __name__ == "__main__":
    every_type_comes_back()
    columns_are_there_without_a_copy()
    errors_come_on_all_ranks()
    if COMM is not None:
        steps_become_series()
