# SPDX-License-Identifier: BSD-3-Clause
"""Particles at an address: the answers of local files, few requests, and errors that say what is wrong.

    test_remote.py FOLDER SERVER

FOLDER: for files. SERVER: the server of testing/common/remote.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import threading

import numpy as np
import parabat
from remote_server import Server, expect


def make_files(folder):
    random = np.random.default_rng(44)
    n = 200_000
    positions = random.random((n, 3), dtype=np.float32)
    arrays = {"id": random.permutation(n) + 2**53, "mass": random.lognormal(0, 1, n), "noise": random.random(n, dtype=np.float32),
              "velocity": random.standard_normal((n, 3)).astype("f4")}
    parabat.write(folder / "one.bat", positions, arrays, sorted_indexes=["id"], time=1.5)
    parabat.write(folder / "packed.bat", positions.round(3), arrays, compression="lossless")
    with parabat.PieceWriter(folder / "many leaves.bat", target_bytes=1 << 20) as writer:
        for i in range(10):
            at = slice(i * n // 10, (i + 1) * n // 10)
            writer.add(positions[at] + np.float32([i, 0, 0]), {name: values[at] for name, values in arrays.items()})
        writer.finish()
    files = []
    for step in range(3):
        parabat.write(folder / f"step {step}.bat", positions[:1000] + np.float32(step), {"id": arrays["id"][:1000]}, time=step / 2)
        files.append({"name": f"step {step}.bat", "time": step / 2})
    (folder / "run.bat.series").write_text(json.dumps({"file-series-version": "1.0", "files": files}), encoding="utf-8")


def random_query(random):
    query = {"quality": random.choice([1, 0.3, 0.01])}
    if random.random() < 0.6:
        corner = random.random(3) * [10, 1, 1]
        query["box"] = [*corner, *(corner + random.random(3) * [2, 0.4, 0.4])]
    if random.random() < 0.4:
        low = random.lognormal(0, 1)
        query["ranges"] = {"mass": (low, low * 1.2)}
    if random.random() < 0.2:
        query["values"] = {"id": random.integers(0, 200_000, 20) + 2**53}
    if random.random() < 0.5:
        query["attributes"] = [str(name) for name in random.choice(["id", "mass", "noise", "velocity"], 2, replace=False)]
    return query


def same(a, b):
    assert a.positions.tobytes() == b.positions.tobytes() and list(a) == list(b), (len(a.positions), len(b.positions))
    for name in a:
        assert a[name].dtype == b[name].dtype and a[name].tobytes() == b[name].tobytes(), name


def check_answers(folder, server):
    random = np.random.default_rng(1)
    for name in ("one.bat", "packed.bat", "many leaves.bat"):
        with parabat.open(folder / name) as local, parabat.open(server.address(name)) as remote:
            assert len(local) == len(remote) and local.attributes == remote.attributes and local.metadata == remote.metadata
            for _ in range(60):
                query = random_query(random)
                same(remote.read(**query), local.read(**query))
            remote.validate()


def check_requests(server):
    """No page twice, and few requests."""
    server.requests()
    with parabat.open(server.address("one.bat", "requests")) as dataset:
        assert len(server.requests()) <= 3
        dataset.read(quality=0.01)
        first = server.requests()
        dataset.read(quality=0.01)
        assert not server.requests(), "a page was requested twice"
        dataset.read(box=[0.4, 0.4, 0.4, 0.6, 0.6, 0.6])
        box = server.requests()
    assert len(first) <= 25 and len(box) <= 130, (len(first), len(box))


def check_series(folder, server):
    address = server.address("run.bat.series")
    steps = parabat.read_series(address)
    assert [step.time for step in steps] == [0, 0.5, 1]
    for step, local in zip(steps, parabat.read_series(folder / "run.bat.series")):
        with parabat.open(step.path) as a, parabat.open(local.path) as b:
            same(a.read(), b.read())
    for arguments in (["info", "--json"], ["validate"], ["query", "--step", "-1", "--count"]):
        outputs = [subprocess.run([sys.executable, "-m", "parabat", *arguments, path], capture_output=True, text=True)
                   for path in (address, folder / "run.bat.series")]
        assert outputs[0].returncode == outputs[1].returncode == 0, (arguments, outputs)
    ids = parabat.open(folder / "step 0.bat").read(["id"])["id"][:5]
    found, expected = (parabat.follow(path, ids) for path in (address, folder / "run.bat.series"))
    assert np.array_equal(found.positions, expected.positions)


def check_errors(folder, server):
    # A local list without a folder cannot make the reader ask a server.
    (folder / "asks.bat.series").write_text(json.dumps({"files": [{"name": server.address("one.bat"), "time": 0}]}), encoding="utf-8")
    before = os.getcwd()
    os.chdir(folder)
    try:
        assert not parabat.read_series("asks.bat.series")[0].path.startswith("http")
    finally:
        os.chdir(before)
    expect(parabat.BatNotFoundError, lambda: parabat.open(server.address("none.bat?token=secret")), "none.bat")
    expect(parabat.BatError, lambda: parabat.open(server.address("one.bat", "status;code=403")), "403", "one.bat")
    shutil.copytree(folder / "many leaves.bat.leaves", folder / "lost.bat.leaves")
    shutil.copy(folder / "many leaves.bat", folder / "lost.bat")
    # Leaf files are named in the top file, so only a copy in another folder can lack one.
    other = folder / "other"
    other.mkdir()
    shutil.copy(folder / "many leaves.bat", other)
    shutil.copytree(folder / "many leaves.bat.leaves", other / "many leaves.bat.leaves")
    lost = sorted((other / "many leaves.bat.leaves").iterdir())[3]
    lost.unlink()
    with parabat.open(server.address("other/many leaves.bat?token=secret")) as dataset:
        expect(parabat.BatError, dataset.read, lost.name, "leaf file 4 of")
    # Wrong bytes.
    whole = bytearray((folder / "one.bat").read_bytes())
    whole[200_000] ^= 1
    (folder / "damaged.bat").write_bytes(whole)
    with parabat.open(server.address("damaged.bat")) as dataset:
        expect(parabat.BatError, dataset.read, "does not match its checksum", "damaged.bat")
    # A change between two requests.
    shutil.copy(folder / "one.bat", folder / "changing.bat")
    with parabat.open(server.address("changing.bat")) as dataset:
        parabat.write(folder / "changing.bat", np.random.default_rng(3).random((300_000, 3)))
        expect(parabat.BatError, dataset.read, "changing.bat", "changed")
    with parabat.open(server.address("changing.bat")) as dataset:
        assert dataset.read().positions.shape == (300_000, 3)


def check_threads(folder, server):
    """Concurrent readers of one dataset."""
    failures = []
    with parabat.open(folder / "many leaves.bat") as local, parabat.open(server.address("many leaves.bat", "threads")) as remote:
        def run(seed):
            random = np.random.default_rng(seed)
            try:
                for _ in range(5):
                    query = random_query(random)
                    same(remote.read(**query), local.read(**query))
            except BaseException as error:  # pylint: disable=broad-exception-caught
                failures.append(error)
        threads = [threading.Thread(target=run, args=(seed,)) for seed in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not failures, failures


def main():
    folder = pathlib.Path(sys.argv[1], "remote")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    make_files(folder)
    server = Server(sys.argv[2], folder)
    try:
        check_answers(folder, server)
        check_requests(server)
        check_series(folder, server)
        check_errors(folder, server)
        check_threads(folder, server)
    finally:
        server.stop()
    shutil.rmtree(folder)


os.environ.pop("PARABAT_CACHE", None)
main()
