# SPDX-License-Identifier: BSD-3-Clause
"""Grids (.idx) and velocity fields (.bricks) at an address: the answers of local files, few requests, and errors that
say what is wrong.

    test_remote_grids.py FOLDER SERVER

FOLDER: for files. SERVER: the server of testing/common/remote.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import threading
import time

import numpy as np
import parabat
import parabat.flow
import parabat.idx
from arco_grids import make_grids, random_box, same_grids
from remote_server import Server, expect


def check_grids(folder, server):
    random = np.random.default_rng(1)
    for name in ("plain", "packed", "arco"):
        with parabat.idx.open(folder / f"{name}.idx") as local, parabat.idx.open(server.address(f"{name}.idx", name)) as remote:
            assert remote.steps == local.steps == [0, 3] and list(remote.fields) == list(local.fields)
            for level in range(local.levels + 1):
                same_grids(remote.read(level=level, step=3), local.read(level=level, step=3))
            for _ in range(20):
                box, step = random_box(random, local.box), int(random.choice([0, 3]))
                level = int(random.integers(local.levels - 3, local.levels + 1))
                if local.lattice(level, box).count[0] * local.lattice(level, box).count[1] * local.lattice(level, box).count[2]:
                    same_grids(remote.read(level=level, box=box, step=step), local.read(level=level, box=box, step=step))
            checked, expected = remote.validate(), local.validate()
            del checked["bytes_read"], expected["bytes_read"]  # whole pages
            assert checked == expected, (name, checked, expected)


def check_grid_requests(server):
    server.requests()
    with parabat.idx.open(server.address("large.idx", "few")) as dataset:
        dataset.read(level=dataset.levels - 9)
    assert len(server.requests()) <= 4


def check_grid_errors(folder, server):
    expect(parabat.BatNotFoundError, lambda: parabat.idx.open(server.address("none.idx?token=secret")), "none.idx")
    expect(parabat.BatError, lambda: parabat.idx.open(server.address("arco.idx?access_key=secret&secret_key=secret")), "AWS_ACCESS_KEY_ID")
    # A block that is not there has the default value; a step without files is not there.
    lost = sorted((folder / "arco" / "3" / "float").rglob("*.bin"))[5]
    lost.rename(folder / "moved.bin")
    with parabat.idx.open(folder / "arco.idx") as local, parabat.idx.open(server.address("arco.idx", "lost")) as remote:
        same_grids(remote.read(["float"], step=3), local.read(["float"], step=3))
    (folder / "moved.bin").rename(lost)
    (folder / "arco" / "3" / "short").rename(folder / "moved")
    with parabat.idx.open(server.address("arco.idx", "gone")) as remote:
        expect(parabat.BatNotFoundError, lambda: remote.read(["short"], step=3), "time step 3 has not been written")
    (folder / "moved").rename(folder / "arco" / "3" / "short")
    # Cut short, and changed while open.
    file = next((folder / "plain").rglob("*.bin"))
    whole = file.read_bytes()
    file.write_bytes(whole[:-1000])
    with parabat.idx.open(server.address("plain.idx?token=secret", "cut")) as remote:
        expect(parabat.BatError, remote.validate, file.name, "block")
    file.write_bytes(whole)
    with parabat.idx.open(server.address("plain.idx", "changing")) as remote:
        remote.read(["float"], level=3)
        file.write_bytes(whole + b"more")
        expect(parabat.BatError, remote.read, "changed", file.name)
    file.write_bytes(whole)
    # Templates and lists that lead elsewhere.
    text = (folder / "plain.idx").read_text(encoding="utf-8")
    for place in ("../x/%04x.bin", "/etc/%04x.bin", "http://127.0.0.1:1/%04x.bin"):
        lines = text.splitlines()
        lines[lines.index("(filename_template)") + 1] = place
        (folder / "hostile.idx").write_text("\n".join(lines), encoding="utf-8")
        expect(parabat.BatError, lambda: parabat.idx.open(server.address("hostile.idx", f"h{len(place)}")).read(), "hostile.idx")


def make_flow(folder):
    random = np.random.default_rng(7)
    nz, ny, nx = 30, 40, 50
    z, y, x = np.meshgrid(*(np.linspace(-1, 1, n) for n in (nz, ny, nx)), indexing="ij")
    levels = []
    for level in range(4):
        swirl = np.stack([-y, x, 0.3 * np.sin(3 * x + level)], axis=-1).astype("f4")
        levels.append((level * 0.5, swirl + random.normal(0, 0.02, swirl.shape).astype("f4")))
    parabat.flow.write_series(folder / "wind.bricks.series", levels, origin=(-1, -1, -1), spacing=(2 / (nx - 1), 2 / (ny - 1), 2 / (nz - 1)))


def same_lines(a, b):
    assert np.array_equal(a.ends, b.ends) and np.array_equal(a.reasons, b.reasons)
    for line in range(len(a.reasons)):
        assert np.array_equal(a.line(line), b.line(line))


def check_flow(folder, server):
    seeds = np.random.default_rng(2).uniform(-0.7, 0.7, (200, 3))
    address = server.address("wind.bricks.series", "flow")
    with parabat.flow.open(folder / "wind.bricks.series") as local, parabat.flow.open(address) as remote:
        same_lines(remote.path_lines(seeds), local.path_lines(seeds))
        ftle = [flow.ftle((-0.5, -0.5, 0, 0.5, 0.5, 0), (15, 15, 1), length=0.5).exponents for flow in (remote, local)]
        assert np.array_equal(*ftle)
    with parabat.flow.open(folder / "plain.idx", fields="wind") as local, parabat.flow.open(server.address("plain.idx"), fields="wind") as remote:
        inside = np.random.default_rng(3).uniform(5, 35, (20, 3))
        same_lines(remote.path_lines(inside), local.path_lines(inside))
    parabat.flow.validate(address)
    for verb in (["info", "--json"], ["validate"]):
        done = subprocess.run([sys.executable, "-m", "parabat", *verb, address], capture_output=True, text=True)
        assert done.returncode == 0, (verb, done)


def check_flow_errors(folder, server):
    steps = json.loads((folder / "wind.bricks.series").read_text(encoding="utf-8"))["files"]
    name = steps[1]["name"]
    seeds = np.zeros((4, 3)) + [[0.1, 0.2, 0.3]]
    file, moved = folder / name, folder / "moved.bricks"
    file.rename(moved)
    with parabat.flow.open(server.address("wind.bricks.series?token=secret", "lost")) as remote:
        expect(parabat.BatNotFoundError, lambda: remote.path_lines(seeds), name)
    whole = bytearray(moved.read_bytes())
    for at in range(len(whole) // 2, len(whole), 64):
        whole[at] ^= 1
    file.write_bytes(whole)
    with parabat.flow.open(server.address("wind.bricks.series", "damaged")) as remote:
        expect(parabat.BatError, lambda: remote.path_lines(np.random.default_rng(2).uniform(-0.7, 0.7, (200, 3))), name, "brick")
    moved.replace(file)
    for place in ("../x.bricks", "/etc/passwd", "http://127.0.0.1:1/x.bricks"):
        (folder / "hostile.bricks.series").write_text(json.dumps({"file-series-version": "1.0", "files": [{"name": place, "time": 0}]}))
        expect(parabat.BatError, lambda: parabat.flow.open(server.address("hostile.bricks.series", f"f{len(place)}")), "hostile.bricks.series")


def check_cancel(server):
    """A read that waits for a silent server ends when its progress function returns False."""
    for name, read in (("wind.bricks.series", lambda path, stop: parabat.flow.open(path).path_lines(np.full((1, 3), 0.1), progress=stop)),
                       ("plain.idx", lambda path, stop: parabat.idx.open(path).read(progress=stop)),
                       ("one.bat", lambda path, stop: parabat.open(path).read(progress=stop))):
        begin, times = threading.Event(), []

        def stop(share, begin=begin, times=times):
            del share
            times.append(time.monotonic())
            return not begin.is_set() or len(times) < 3
        address = server.address(name, f"stall;after={6 if 'bricks' in name else 2};id={name}")
        begin.set()
        started = time.monotonic()
        expect(parabat.BatCancelledError, lambda a=address, r=read, s=stop: r(a, s))
        assert time.monotonic() - started < 25, "waited for the server's time-out"


def main():
    folder = pathlib.Path(sys.argv[1], "remote_grids")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    os.environ["VISUS_CACHE"] = str(folder / "copies")
    make_grids(folder)
    make_flow(folder)
    parabat.write(folder / "one.bat", np.random.default_rng(5).random((300_000, 3)))
    server = Server(sys.argv[2], folder)
    try:
        check_grids(folder, server)
        check_grid_requests(server)
        check_grid_errors(folder, server)
        check_flow(folder, server)
        check_flow_errors(folder, server)
        check_cancel(server)
    finally:
        server.stop()
    shutil.rmtree(folder)


os.environ.pop("PARABAT_CACHE", None)
main()
