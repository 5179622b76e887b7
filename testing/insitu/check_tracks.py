# SPDX-License-Identifier: BSD-3-Clause
"""Checks that tracks appended by parabat.Series on any number of ranks equal the trails of its steps. Argument: folder
to write in."""

import pathlib
import shutil
import sys

import numpy as np
import parabat
from mpi4py import MPI

COMM = MPI.COMM_WORLD
N = 2000


def particles(step):
    """On all ranks together: some of N ids, in another order in each step."""
    random = np.random.default_rng(step)
    ids = random.permutation(N)[:N - 300] + 2**60
    return random.random((len(ids), 3)), {"id": ids, "velocity": random.standard_normal((len(ids), 3)).astype("f4")}


def main():
    """Writes and compares."""
    folder = pathlib.Path(sys.argv[1])
    if COMM.rank == 0:
        shutil.rmtree(folder, ignore_errors=True)
    COMM.barrier()
    reference = np.array([2**60 + 3, 2**60 + 1999, 2**60 + 77, 5])
    for name, tracks in (("listed", {"ids": reference}), ("every", {"every_id": 128, "attributes": ["velocity"]}),
                         ("box", {"box": (0, 0, 0, 0.5, 0.25, 0.25), "every": 2})):
        with parabat.Series(folder / f"{name}_{{timestep:02d}}.bat", COMM, every=3, tracks=tracks, sorted_indexes=["id"], flush=False) as series:
            for step in range(10):
                xyz, columns = particles(step)
                local = slice(COMM.rank, None, COMM.size)
                series.write(step, step / 4, xyz[local], {key: values[local] for key, values in columns.items()})
        COMM.barrier()
        if COMM.rank:
            continue
        path = folder / f"{name}.tracks.bat"
        found = parabat.Tracks(path)
        found.validate()
        assert found.blocks == 1 and found.id == "id", found
        np.testing.assert_array_equal(found.steps, np.arange(0, 10, tracks.get("every", 1)))
        np.testing.assert_array_equal(found.times, found.steps / 4)
        trails = parabat.follow(path)
        np.testing.assert_array_equal(trails.ids, found.ids)
        first = particles(0)
        inside = np.all((first[0] >= 0) & (first[0] <= [0.5, 0.25, 0.25]), axis=1)
        expected = {"listed": np.sort(reference[:3]), "every": np.arange(N)[(np.arange(N) + 2**60) % 128 == 0] + 2**60,
                    "box": np.sort(first[1]["id"][inside])}[name]
        np.testing.assert_array_equal(found.ids, expected)
        for s, step in enumerate(found.steps):
            xyz, columns = particles(step)
            for i, one in enumerate(found.ids):
                where = np.flatnonzero(columns["id"] == one)
                assert trails.counts[s, i] == len(where)
                if len(where):
                    np.testing.assert_array_equal(trails.positions[s, i], xyz[where[0]])
                    np.testing.assert_array_equal(trails["velocity"][s, i], columns["velocity"][where[0]])
        listed = parabat.follow(folder / f"{name}.bat.series", found.ids)
        for s, step in enumerate(listed.steps):
            if step in found.steps:
                same = np.flatnonzero(found.steps == step)[0]
                np.testing.assert_array_equal(listed.positions[s], trails.positions[same])
                np.testing.assert_array_equal(listed["velocity"][s], trails["velocity"][same])
    # If the list cannot be replaced, no tracks are lost with it.
    if COMM.rank == 0:
        (folder / "kept.bat.series").write_text("not a list")
    COMM.barrier()
    with parabat.Series(folder / "kept_{timestep}.bat", COMM, tracks={"every_id": 128}, flush=False) as series:
        xyz, columns = particles(0)
        local = slice(COMM.rank, None, COMM.size)
        try:
            series.write(0, 0.0, xyz[local], {key: values[local] for key, values in columns.items()})
            raise AssertionError("the list was replaced")
        except parabat.BatError as error:
            assert "kept.bat.series" in str(error), error
    COMM.barrier()
    assert len(parabat.Tracks(folder / "kept.tracks.bat")) == 1
    # Species with different intervals, options, and tracks.
    with parabat.Series(folder / "kinds.bat", COMM, tracks={"every_id": 128}, flush=False, species={
            "dust": {"every": 2, "sorted_indexes": ["id"], "tracks": None}, "ions": {"tracks": {"every_id": 1, "every": 2}}}) as series:
        for step in range(3):
            xyz, columns = particles(step)
            series.begin(step, step)
            for species in ("dust", "ions", "gas"):
                series.add(xyz[local], {key: values[local] for key, values in columns.items()}, species=species)
            series.end()
    COMM.barrier()
    assert [len(parabat.read_series(folder / f"kinds_{one}.bat.series")) for one in ("dust", "ions", "gas")] == [2, 3, 3]
    assert not (folder / "kinds_dust.tracks.bat").exists()
    assert [len(parabat.Tracks(folder / f"kinds_{one}.tracks.bat")) for one in ("ions", "gas")] == [2, 3]
    followed = np.union1d(particles(0)[1]["id"], particles(2)[1]["id"])
    np.testing.assert_array_equal(parabat.Tracks(folder / "kinds_ions.tracks.bat").ids, followed)
    for bad in ({"dust": {"evry": 2}}, {"": {}}, {"dust": 3}, ["dust"], {"dust": {"every": 0.5}}):
        try:
            parabat.Series(folder / "bad.bat", COMM, species=bad)
            raise AssertionError(f"{bad} was taken")
        except (parabat.BatValueError, parabat.BatTypeError):
            pass
    failures = []
    for bad in ({"ids": [1], "every_id": 3}, {"id": "x"}, {"every_id": "k"}, ["ids"]):
        try:
            parabat.Series(folder / "bad.bat", COMM, tracks=bad)
        except (parabat.BatValueError, parabat.BatTypeError) as error:
            failures.append(error)
    assert len(failures) == 4, failures


if __name__ == "__main__":
    main()
