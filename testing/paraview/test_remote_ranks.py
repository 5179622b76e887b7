# SPDX-License-Identifier: BSD-3-Clause
"""Four ranks of ParaView that read from a server: the data of local files, at most 1.1 times the bytes that one rank
requests, and errors on all ranks. Arguments: the server of testing/common/remote, a folder for files, pvbatch, mpiexec."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np
import parabat
import parabat.flow
import parabat.idx
from remote_server import Server

SERVER, FOLDER, PVBATCH, MPIEXEC = sys.argv[1:]
SCRIPT = pathlib.Path(__file__).with_name("remote_ranks.py")
PARTICLES = {"RefineWhileIdle": 0}
CASES = [(name, {**PARTICLES, **properties}) for name in ("one.bat", "many.bat") for properties in (
    {"Quality": 1}, {"Quality": 0.2}, {"UseBox": 1, "Box": [0.2, 0.6, 0.1, 0.7, 0.3, 0.9]}, {"AttributeRanges": ["mass", "0.5", "0.6"]})]
CASES += [("grid.idx", {}), ("wind.bricks", {"FullResolution": 0}), ("wind.bricks", {"FullResolution": 1})]


def make_files(folder):
    random = np.random.default_rng(8)
    count = 400_000
    positions = random.random((count, 3), dtype="f4")
    arrays = {"id": random.permutation(count), "mass": random.lognormal(0, 1, count).astype("f4"), "velocity": random.standard_normal((count, 3)).astype("f4")}
    parabat.write(folder / "one.bat", positions, arrays)
    with parabat.PieceWriter(folder / "many.bat", target_bytes=2 << 20) as writer:
        for part in np.array_split(np.arange(count), 4):
            writer.add(positions[part], {name: values[part] for name, values in arrays.items()})
        writer.finish()
    parabat.idx.write(folder / "grid.idx", {"pressure": random.random((110, 120, 130), dtype="f4")})
    parabat.flow.write_level(folder / "wind.bricks", random.random((90, 100, 110, 3), dtype="f4"))


def read(folder, server, ranks, failing):
    """Returns the requested bytes of each case."""
    cases = [{"file": name, "properties": properties, "segment": f"plain;id={ranks}.{i}"} for i, (name, properties) in enumerate(CASES)]
    server.requests()
    command = [MPIEXEC, "-np", str(ranks), PVBATCH, str(SCRIPT), f"http://127.0.0.1:{server.port}/", str(folder), json.dumps(cases), json.dumps(failing)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env={**os.environ, "PARABAT_REMOTE_RETRIES": "0"})
    assert done.returncode == 0 and "done" in done.stdout, (done.stdout, done.stderr)
    sums = dict.fromkeys(range(len(CASES)), 0)
    for request in server.requests():
        match = re.match(rf"/plain;id={ranks}\.(\d+)/(.*)", request["path"])
        path = folder / match[2] if match else None
        if not path or not path.exists():
            continue
        size = path.stat().st_size
        first, last = re.fullmatch(r"bytes=(\d*)-(\d*)", request["range"]).groups()
        sums[int(match[1])] += min(int(last) + 1, size) - int(first) if first else min(int(last), size)
    return sums


def main():
    folder = pathlib.Path(FOLDER)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    make_files(folder)
    server = Server(SERVER, folder)
    failing = [f"status;code=503;after={after};id={name}/{name}" for name in ("one.bat", "many.bat", "grid.idx") for after in (0, 2, 4)]
    try:
        one, four = read(folder, server, 1, []), read(folder, server, 4, failing)
    finally:
        server.stop()
    for i, case in enumerate(CASES):
        print(case, one[i], four[i] / one[i])
    for i, case in enumerate(CASES):
        assert four[i] <= 1.1 * one[i], (case, one[i], four[i])
    shutil.rmtree(folder)


main()
