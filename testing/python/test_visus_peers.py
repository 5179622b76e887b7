# SPDX-License-Identifier: BSD-3-Clause
"""OpenVisus, from PyPI, as the other side: its client and the library use each other's copies of blocks (cached=arco),
and its mod_visus server gives the values of the local file.

    test_visus_peers.py FOLDER SERVER VENV

FOLDER: for files. SERVER: the server of testing/common/remote. VENV: an environment that is created once. Ends with 77,
skipped, if PyPI cannot be reached.
"""
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import venv

import numpy as np
import parabat.idx
from arco_grids import make_arco, same_grids
from remote_server import Server

SKIPPED = 77
PINNED = ["OpenVisusNoGui==2.2.149", "numpy==2.2.6"]
READ = """
import sys, numpy, OpenVisus
dataset = OpenVisus.LoadDataset(sys.argv[1])
numpy.savez(sys.argv[2], **{name: dataset.read(field=name, time=3) for name in sys.argv[3:]})
"""
SERVE = """
import sys, OpenVisus
visus = OpenVisus.ModVisus()
visus.configureDatasets()
OpenVisus.NetServer(int(sys.argv[1]), visus).runInThisThread()
"""


def make_environment(folder):
    stamp = folder / "-".join(PINNED).replace("=", "")
    if not stamp.exists():
        shutil.rmtree(folder, ignore_errors=True)
        venv.create(folder, with_pip=True)
        done = subprocess.run([folder / "bin" / "pip", "--disable-pip-version-check", "--retries", "1", "--timeout", "30", "install", "--quiet",
                               "--only-binary", ":all:", *PINNED], capture_output=True, text=True)
        if done.returncode:
            print(f"skipped: pip fails here:\n{done.stderr[-2000:]}")
            sys.exit(SKIPPED)
        stamp.touch()
    return folder / "bin" / "python"


def make_grids(folder):
    """Blocks that packing shrinks, since OpenVisus reads no others from a web server, in both layouts."""
    z, y, x = np.meshgrid(*(np.linspace(0, 3, n, dtype="f4") for n in (40, 50, 60)), indexing="ij")
    for layout in ("row_major", "hz"):
        for step in (0, 3):
            values = {"float": np.sin(x + step) + np.round(y * 4) - z.round(), "short": (np.arange(z.size) % 999).reshape(z.shape).astype("i2")}
            values["float"] = np.round(values["float"] * 64).astype("f4")
            parabat.idx.write(folder / f"{layout}.idx", values, step=step, bits_per_block=12, codec="zip", layout=layout)
        make_arco(folder, layout, f"arco_{layout}")


def read_theirs(python, address, names, folder):
    done = subprocess.run([python, "-c", READ, address, folder / "theirs.npz", *names], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done
    return np.load(folder / "theirs.npz")


def check_copies(python, folder, server, copies):
    with parabat.idx.open(folder / "row_major.idx") as local:
        expected = local.read(["float", "short"], step=3)
    for first in ("ours", "theirs"):
        for codec in ("zip", "lz4", "raw"):
            address = server.address(f"arco_row_major.idx?cached=arco&cache_compression={codec}", first + codec)
            for reader in (first, "theirs" if first == "ours" else "ours"):
                server.requests()
                if reader == "ours":
                    with parabat.idx.open(address) as remote:
                        same_grids(remote.read(["float", "short"], step=3), expected)
                else:
                    theirs = read_theirs(python, address, expected, folder)
                    assert all(np.array_equal(theirs[name], expected[name]) for name in ("float", "short")), (first, codec)
                blocks = [request["path"] for request in server.requests() if ".bin" in request["path"]]
                assert bool(blocks) == (reader == first), (first, reader, codec, blocks)
    assert len(list(copies.rglob("*.idx"))) == 6


def check_server(python, folder, copies):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    datasets = "".join(f"<dataset name='{name}' url='{folder}/{name}.idx' permissions='public' />" for name in ("row_major", "hz", "arco_hz"))
    (folder / "visus.config").write_text(f"<visus>{datasets}</visus>", encoding="utf-8")
    visus = subprocess.Popen([python, "-c", SERVE, str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)
    try:
        for _ in range(300):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/mod_visus?action=ping"):
                    break
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.1)
        for name in ("row_major", "hz", "arco_hz"):
            with parabat.idx.open(folder / f"{name}.idx") as local, \
                    parabat.idx.open(f"http://127.0.0.1:{port}/mod_visus?action=readdataset&dataset={name}&cached=arco") as remote:
                assert remote.steps == local.steps
                for level in range(local.levels + 1):
                    same_grids(remote.read(level=level, step=3), local.read(level=level, step=3))
        for codec in ("lz4", "raw"):
            with parabat.idx.open(folder / "hz.idx") as local, \
                    parabat.idx.open(f"http://127.0.0.1:{port}/mod_visus?dataset=hz&compression={codec}") as remote:
                same_grids(remote.read(step=3), local.read(step=3))
        # Their client reads ours, with its own text.
        expected = parabat.idx.open(folder / "hz.idx").read(["float"], step=3)
        theirs = read_theirs(python, f"http://127.0.0.1:{port}/mod_visus?action=readdataset&dataset=hz&cached=arco", ["float"], folder)
        assert np.array_equal(theirs["float"], expected["float"])
        assert (copies / "DiskAccess" / "127.0.0.1" / str(port) / "zip" / "mod_visus" / "hz" / "visus.idx").is_file()
    finally:
        visus.kill()
        visus.wait()


def main():
    python = make_environment(pathlib.Path(sys.argv[3]))
    folder = pathlib.Path(sys.argv[1], "visus_peers").absolute()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    copies = folder / "copies"
    os.environ["VISUS_CACHE"] = str(copies)
    os.environ["VISUS_DISABLE_WRITE_LOCK"] = "1"
    make_grids(folder)
    server = Server(sys.argv[2], folder)
    try:
        check_copies(python, folder, server, copies)
        check_server(python, folder, copies)
    finally:
        server.stop()
    shutil.rmtree(folder)


os.environ.pop("PARABAT_CACHE", None)
main()
