# SPDX-License-Identifier: BSD-3-Clause
"""Tests paper.py: two ranks write and read a few particles in all its ways, and one process reads a box of
them.

    check_paper.py BUILD FOLDER

paper_ranks.py compares the particles read with those written, and fails if they differ.
"""

import argparse
import importlib.util
import shutil
import sys

import numpy as np

import paper
import rank_particles


def main():
    if importlib.util.find_spec("mpi4py") is None:
        print("there is no mpi4py")
        return 77
    build, folder = sys.argv[1:]
    shutil.rmtree(folder, ignore_errors=True)
    measured = paper.Paper(argparse.Namespace(build=build, out=folder, disk=None, repeat=1, resume=False))
    make = measured.pretended("boiler", 2, 3000, 4501)
    ways = [{"name": "raw", "way": "raw", "read": {}}, {"name": "shared", "way": "shared", "read": {}},
            {"name": "ours", "way": "ours", "write": {"target_bytes": 60000}, "read": {"mode": "aggregated"}},
            {"name": "again", "way": "ours", "written_by": "ours", "read": {"mode": "direct"}}]
    run = measured.ranks("check", 2, make, ways, keep=True)
    assert run["ranks"] == 2 and run["particles"] == 3000 and run["bytes_per_particle"] == 68, run
    for way in ways:
        sample, = run["samples"][way["name"]]
        assert sample["read"] > 0 and ("write" in sample) == ("written_by" not in way), (way, sample)
    assert run["samples"]["raw"][0]["files"] and sum(run["samples"]["shared"][0]["files"]) == 3000 * 68
    report = run["samples"]["ours"][0]["write_report"]
    assert report["leaf_files"] > 2 and report["data_bytes"] == 3000 * 68, report

    # Compares what is read afterwards with the points themselves.
    points = np.fromfile(make["points"], np.float32).reshape(-1, 3)
    box = [2.0, 2.0, 8.0, 6.0, 6.0, 20.0]
    expected = points[((points >= np.float32(box[:3])) & (points <= np.float32(box[3:]))).all(axis=1)]
    assert 0 < len(expected) < 3000
    dtypes = [["positions", "<f4", 3], *([f"attribute{i}", "<f8", 1] for i in range(7))]
    for way, name in (("raw", "way0"), ("ours", "way2.bat")):
        answer = measured.reads({"way": way, "path": f"{folder}/files/{name}", "dtypes": dtypes, "files": [],
                                 "question": {"box": box}})
        assert answer["particles"] == len(expected), (way, answer, len(expected))
        assert answer["checksum"] == f"{rank_particles.checksum({'positions': expected}):016x}", (way, answer)

    # A single flipped bit in one particle is detected.
    local = rank_particles.make(0, 2, **make)
    before = rank_particles.checksum(local)
    local["attribute6"].view(np.uint64)[7] ^= np.uint64(1)
    assert rank_particles.checksum(local) != before
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
