# SPDX-License-Identifier: BSD-3-Clause
"""What users of OpenVisus have: mod_visus servers, and copies of blocks on disk (cached=arco). The answers are those of
local files; damaged answers are errors, and damaged copies are fetched again.

    test_visus.py FOLDER SERVER

FOLDER: for files. SERVER: the server of testing/common/remote.
"""
import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import parabat
import parabat.flow
import parabat.idx
from arco_grids import make_arco, make_grids, random_box, same_grids
from mod_visus_server import ModVisus
from remote_server import Server, expect

WRITTEN = 1700000000  # the time at which the server says that files were written
READ = "import parabat.idx, sys; parabat.idx.open(sys.argv[1]).read(step=3)"


def make_hz(folder):
    with parabat.idx.open(folder / "packed.idx") as packed:
        for step in packed.steps:
            values = packed.read(step=step)
            parabat.idx.write(folder / "hz.idx", {name: values[name] for name in packed.fields}, step=step,
                              bits_per_block=packed.bits_per_block, codec="zip", layout="hz")
    make_arco(folder, "hz", "arco_hz")


def same_everywhere(local, remote):
    random = np.random.default_rng(2)
    assert remote.steps == local.steps and list(remote.fields) == list(local.fields)
    for level in range(local.levels + 1):
        same_grids(remote.read(["float"], level=level, step=3), local.read(["float"], level=level, step=3))
    for _ in range(5):
        box, step = random_box(random, local.box), int(random.choice([0, 3]))
        level = int(random.integers(local.levels - 3, local.levels + 1))
        if np.prod(local.lattice(level, box).count):
            same_grids(remote.read(level=level, box=box, step=step), local.read(level=level, box=box, step=step))


def check_server(folder, visus):
    for name in ("arco", "arco_hz"):
        with parabat.idx.open(folder / f"{name}.idx") as local, parabat.idx.open(visus.address(name)) as remote:
            same_everywhere(local, remote)
    # A server that answers the first block of a list only.
    with parabat.idx.open(folder / "arco.idx") as local, parabat.idx.open(visus.address("arco", "old")) as remote:
        same_grids(remote.read(["float"], step=3), local.read(["float"], step=3))
    with parabat.idx.open(visus.address("arco")) as remote:
        visus.queries()
        remote.read(["float"], step=3)
        queries = visus.queries()
        assert len(queries) == -(-sum(len(query["block"].split()) for query in queries) // 8)
        assert remote.validate()["absent_blocks"] == 0
    with parabat.flow.open(folder / "arco.idx", fields="wind") as local, parabat.flow.open(visus.address("arco"), fields="wind") as remote:
        inside = np.random.default_rng(3).uniform(5, 35, (20, 3))
        assert np.array_equal(remote.path_lines(inside).ends, local.path_lines(inside).ends)
    for verb in (["info", "--json"], ["validate"]):
        done = subprocess.run([sys.executable, "-m", "parabat", *verb, visus.address("arco")], capture_output=True, text=True)
        assert done.returncode == 0, (verb, done)


def check_server_errors(folder, visus):
    expect(parabat.BatValueError, lambda: parabat.idx.open(visus.address("")), "name a dataset", "mod_visus")
    expect(parabat.BatNotFoundError, lambda: parabat.idx.open(visus.address("none", more="&token=secret")), "mod_visus")
    expect(parabat.BatError, lambda: parabat.idx.open(visus.address("arco", more="&access_key=secret")), "AWS_ACCESS_KEY_ID")
    for fault, word in (("failed", "block 5"), ("samples", "'4 4' samples"), ("codec", "zfp"), ("cut", "block"), ("long", "answer of")):
        with parabat.idx.open(visus.address("arco", fault, "&token=secret")) as remote:
            expect(parabat.BatError, lambda r=remote: r.read(["short"], step=3), "dataset=arco", "field 'short'" if fault != "codec" else "", word)
    # An absent block has the default value; a step without blocks does not exist.
    lost = sorted((folder / "arco" / "3" / "float").rglob("*.bin"))[5]
    lost.rename(folder / "moved.bin")
    with parabat.idx.open(folder / "arco.idx") as local, parabat.idx.open(visus.address("arco")) as remote:
        same_grids(remote.read(["float"], step=3), local.read(["float"], step=3))
    (folder / "moved.bin").rename(lost)
    (folder / "arco" / "3" / "short").rename(folder / "moved")
    with parabat.idx.open(visus.address("arco")) as remote:
        expect(parabat.BatNotFoundError, lambda: remote.read(["short"], step=3), "time step 3 has not been written")
    (folder / "moved").rename(folder / "arco" / "3" / "short")


def copies_of(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def read_again(address, server, expected):
    """Reads in another dataset object. Returns the paths of the requests."""
    server.requests()
    with parabat.idx.open(address) as remote:
        same_grids(remote.read(step=3), expected)
    return [request["path"] for request in server.requests()]


def check_copies(folder, server, copies):
    with parabat.idx.open(folder / "arco.idx") as local:
        expected = local.read(step=3)
        names = sorted(path.relative_to(folder / "arco") for path in (folder / "arco" / "3").rglob("*.bin"))
    for name in ("arco", "arco_hz"):
        for compression in ("", "&cache_compression=lz4", "&cache_compression=raw"):
            address = server.address(f"{name}.idx?cached=arco{compression}", f"{name}{compression[-3:]}")
            home = copies / "DiskAccess" / "127.0.0.1" / str(server.port) / (compression[-3:] or "zip") / f"{name}{compression[-3:]}"
            assert len(read_again(address, server, expected)) == len(names) + 1
            assert copies_of(home) == sorted([home / f"{name}.idx"] + [home / name / path for path in names])
            assert len(read_again(address, server, expected)) == 1
            # Copies have the time of the version that they are copies of, whenever they were made.
            assert {int(path.stat().st_mtime) for path in copies_of(home)} == {WRITTEN}
            # The folder is an arco dataset.
            with parabat.idx.open(home / f"{name}.idx") as local:
                if compression == "&cache_compression=raw":
                    same_grids(local.read(step=3), expected)
    # Damaged copies are fetched again, and replaced.
    address = server.address("arco.idx?cached=arco", "arco")
    home = copies / "DiskAccess" / "127.0.0.1" / str(server.port) / "zip" / "arco"
    damaged = [home / "arco" / path for path in names[:6]]
    whole = [path.read_bytes() for path in damaged]
    for i, path in enumerate(damaged):
        data = bytearray(whole[i])
        data[len(data) // 2] ^= 1
        path.write_bytes([b"", bytes(data), whole[i][:-1], whole[i][:10], b"\0" * len(data), bytes(100_000_000)][i])
    assert len(read_again(address, server, expected)) == 7
    assert [path.read_bytes() for path in damaged] == whole
    damaged[0].unlink()
    damaged[0].mkdir()  # no file can be left there
    for _ in range(2):
        assert len(read_again(address, server, expected)) == 2
    damaged[0].rmdir()
    # Copies older than the text on the server are not used: it was written in 2023.
    for path in damaged[1:3]:
        os.utime(path, (1600000000, 1600000000))
    assert len(read_again(address, server, expected)) == 1 + 1 + 2
    assert len(read_again(address, server, expected)) == 1
    # The text of another grid: its copies are not used, unless the server has a newer text.
    text = home / "arco.idx"
    good = text.read_text(encoding="utf-8")
    text.write_text(good.replace("0 59 0 49 0 39", "0 57 0 49 0 39"), encoding="utf-8")
    assert text.read_text(encoding="utf-8") != good
    assert len(read_again(address, server, expected)) == len(names) + 1
    os.utime(text, (1600000000, 1600000000))
    assert len(read_again(address, server, expected)) == 1 and text.read_text(encoding="utf-8") == good
    # validate() checks the server.
    with parabat.idx.open(address) as remote:
        server.requests()
        remote.validate()
        assert len(server.requests()) > len(names)


def check_no_copies(folder, server, copies):
    with parabat.idx.open(folder / "arco.idx") as local:
        expected = local.read(step=3)
    shutil.rmtree(copies)
    for i, query in enumerate(("", "?cached=idx", "?cached=disabled", "?cached=arco&token=secret", "?cached=arco&cache_compression=zfp")):
        read_again(server.address(f"arco.idx{query}", f"none{i}"), server, expected)
        assert not copies.exists(), query
    # A field whose name leads out of the folder.
    text = (folder / "packed.idx").read_text(encoding="utf-8")
    hostile = text.replace("(fields)\nfloat ", "(fields)\n../../../../../../../../evil ")
    assert hostile != text
    (folder / "hostile.idx").write_text(hostile, encoding="utf-8")
    with parabat.idx.open(folder / "hostile.idx") as local:
        read_again(server.address("hostile.idx?cached=arco", "hostile"), server, local.read(step=3))
    assert not copies.exists() and not list(folder.rglob("evil"))
    # No folder can be made: the values are the same.
    os.environ["VISUS_CACHE"] = str(folder / "arco.idx")
    read_again(server.address("arco.idx?cached=arco", "nofolder"), server, expected)
    os.environ["VISUS_CACHE"] = str(copies)


def check_processes(folder, server, copies):
    """Processes that read the same copies at the same time, one of which is killed."""
    address = server.address("arco.idx?cached=arco", "many")
    readers = [subprocess.Popen([sys.executable, "-c", READ, address]) for _ in range(4)]
    readers[0].kill()
    assert [reader.wait() for reader in readers[1:]] == [0, 0, 0]
    readers[0].wait()
    with parabat.idx.open(folder / "arco.idx") as local:
        assert len(read_again(address, server, local.read(step=3))) == 1


def check_server_copies(folder, visus, copies):
    with parabat.idx.open(folder / "arco.idx") as local:
        expected = local.read(step=3)
    address = visus.address("arco", more="&cached=arco")
    for left in (True, False):
        visus.queries()
        with parabat.idx.open(address) as remote:
            same_grids(remote.read(step=3), expected)
        assert bool(visus.queries()) == left
    home = copies / "DiskAccess" / "127.0.0.1" / str(visus.http.server_port) / "zip" / "plain" / "mod_visus" / "arco"
    assert (home / "visus.idx").is_file() and len(copies_of(home / "visus" / "3")) > 10
    for hostile in ("../../arco", "/arco", "a//arco"):
        expect(parabat.BatNotFoundError, lambda h=hostile: parabat.idx.open(visus.address(h, more="&cached=arco")))


def main():
    folder = pathlib.Path(sys.argv[1], "visus")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    copies = folder / "copies"
    os.environ["VISUS_CACHE"] = str(copies)
    make_grids(folder)
    make_hz(folder)
    server, visus = Server(sys.argv[2], folder), ModVisus(folder, {"arco": "", "arco_hz": "hzorder"})
    try:
        check_server(folder, visus)
        check_server_errors(folder, visus)
        check_copies(folder, server, copies)
        check_no_copies(folder, server, copies)
        check_processes(folder, server, copies)
        check_server_copies(folder, visus, copies)
        assert not any("secret" in str(path) for path in folder.rglob("*"))
    finally:
        server.stop()
        visus.stop()
    shutil.rmtree(folder)


os.environ.pop("PARABAT_CACHE", None)
main()
