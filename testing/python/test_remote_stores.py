# SPDX-License-Identifier: BSD-3-Clause
"""Files in stores: S3 with signatures, by the library and through fsspec; other file systems of fsspec; storage_options.
The answers are those of local files, and no error or list contains a secret.

    test_remote_stores.py FOLDER SERVER

FOLDER: for files. SERVER: the server of testing/common/remote. Needs fsspec, aiohttp, s3fs, and moto with its server.
"""
import json
import logging
import os
import pathlib
import shutil
import subprocess
import sys

import boto3
import fsspec
import numpy as np
import parabat
import parabat.flow
import parabat.idx
from fsspec.implementations.memory import MemoryFileSystem
from moto.server import ThreadedMotoServer
from remote_server import Server, expect

BUCKET = "simulations"
KEY, SECRET = "some-key", "some/secret+value"


def make_files(folder):
    random = np.random.default_rng(7)
    n = 50_000
    positions = random.random((n, 3), dtype=np.float32)
    arrays = {"id": np.arange(n) + 2**53, "mass": random.random(n)}
    parabat.write(folder / "one.bat", positions, arrays, sorted_indexes=["id"])
    with parabat.PieceWriter(folder / "many leaves.bat", target_bytes=1 << 18) as writer:
        for piece in range(4):
            at = slice(piece * n // 4, (piece + 1) * n // 4)
            writer.add(positions[at], {name: values[at] for name, values in arrays.items()})
        writer.finish()
    files = []
    for step in range(3):
        parabat.write(folder / f"step {step}.bat", positions[:500] + np.float32(step), {"id": arrays["id"][:500]})
        files.append({"name": f"step {step}.bat", "time": step / 4})
    (folder / "run.bat.series").write_text(json.dumps({"file-series-version": "1.0", "files": files}), encoding="utf-8")
    parabat.idx.write(folder / "grid.idx", {"density": random.random((20, 30, 40), dtype=np.float32)})
    velocities = [(step, random.random((12, 12, 12, 3), dtype=np.float32)) for step in range(2)]
    parabat.flow.write_series(folder / "wind.bricks.series", velocities)


def files_in(folder):
    return [path for path in sorted(folder.rglob("*")) if path.is_file()]


def same(a, b):
    assert a.positions.tobytes() == b.positions.tobytes() and list(a) == list(b)
    assert all(a[name].tobytes() == b[name].tobytes() for name in a)


def check_answers(folder, address, **options):
    """address: a function from file names to addresses. The files are read with these options."""
    for name in ("one.bat", "many leaves.bat"):
        with parabat.open(folder / name) as local, parabat.open(address(name), **options) as remote:
            for query in ({}, {"quality": 0.1}, {"box": [0.2, 0.2, 0.2, 0.5, 0.6, 0.7]}, {"ranges": {"mass": (0.1, 0.2)}},
                          {"values": {"id": [2**53 + 5, 2**53 + 40_000]}}):
                same(remote.read(**query), local.read(**query))
            remote.validate()
    steps = parabat.read_series(address("run.bat.series"), **options)
    for step, local in zip(steps, parabat.read_series(folder / "run.bat.series"), strict=True):
        assert step.time == local.time and SECRET not in step.path
        same(parabat.open(step.path).read(), parabat.open(local.path).read())
    grid, expected = (parabat.idx.open(path, **given).read("density")
                      for path, given in ((address("grid.idx"), options), (folder / "grid.idx", {})))
    assert np.array_equal(grid["density"], expected["density"])
    seeds = np.random.default_rng(1).random((20, 3)) * 8 + 1
    lines, expected = (parabat.flow.open(path, **given).path_lines(seeds)
                       for path, given in ((address("wind.bricks.series"), options), (folder / "wind.bricks.series", {})))
    assert np.array_equal(lines.ends, expected.ends) and all(np.array_equal(lines.line(i), expected.line(i)) for i in range(len(seeds)))


def check_s3(folder, endpoint):
    client = boto3.client("s3", endpoint_url=endpoint, aws_access_key_id=KEY, aws_secret_access_key=SECRET, region_name="eu-west-1")
    client.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
    for path in files_in(folder):
        client.upload_file(str(path), BUCKET, f"deep folder/{path.relative_to(folder)}")

    def address(name):
        return f"s3://{BUCKET}/deep folder/{name}"
    # By the library, with what the environment says.
    given = {"AWS_ENDPOINT_URL": endpoint, "AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_REGION": "eu-west-1"}
    os.environ.update(given)
    check_answers(folder, address)
    expect(parabat.BatNotFoundError, lambda: parabat.open(address("none.bat")), "none.bat")
    for name in given:
        del os.environ[name]
    # Through s3fs.
    options = {"key": KEY, "secret": SECRET, "endpoint_url": endpoint, "client_kwargs": {"region_name": "eu-west-1"}}
    check_answers(folder, address, storage_options=options)
    expect(parabat.BatNotFoundError, lambda: parabat.open(address("none.bat"), storage_options=options),
           "s3://simulations/deep folder/none.bat: does not exist")
    client.upload_file(str(folder / "one.bat"), BUCKET, "deep folder/changing.bat")
    with parabat.open(address("changing.bat"), storage_options=options) as dataset:
        assert SECRET not in repr(dataset)
        client.upload_file(str(folder / "many leaves.bat"), BUCKET, "deep folder/changing.bat")
        expect(parabat.BatError, dataset.read, "s3://simulations/deep folder/changing.bat", "changed")
    expect(parabat.BatError, lambda: parabat.open(address("one.bat"), storage_options={**options, "wrong_option": SECRET}), "wrong_option")


def check_other_stores(folder, server):
    memory = fsspec.filesystem("memory")
    for path in files_in(folder):
        memory.pipe(f"/a b#?%20/{path.relative_to(folder)}", path.read_bytes())
    check_answers(folder, lambda name: f"memory://a b#?%20/{name}")
    check_answers(folder, lambda name: f"local://{folder}/{name}")
    check_answers(folder, server.address, storage_options={"headers": {"X-Token": SECRET}})
    expect(parabat.BatNotFoundError, lambda: parabat.open("memory://none.bat"), "memory://none.bat: does not exist in the store")
    expect(parabat.BatNotFoundError, lambda: parabat.open(server.address("none.bat?token=secret"), storage_options={}), "none.bat")
    expect(parabat.BatError, lambda: parabat.open(server.address("one.bat?token=secret", "status;code=403"), storage_options={}), "one.bat")
    expect(parabat.BatError, lambda: parabat.open("nonsense://x.bat"), "nonsense://x.bat: fsspec cannot open it", "nonsense")
    expect(parabat.BatError, lambda: parabat.open("memory://"), "is not the address of a file")
    expect(parabat.BatValueError, lambda: parabat.open(folder / "one.bat", storage_options={"key": "secret"}), "apply to addresses")
    expect(parabat.BatTypeError, lambda: parabat.open("memory://one.bat", storage_options="key=secret"), "storage_options")
    # The command line takes what needs no options.
    found = subprocess.run([sys.executable, "-m", "parabat", "info", f"local://{folder}/one.bat"], capture_output=True, text=True, check=False)
    assert found.returncode == 0 and "50,000 particles" in found.stdout, found


def check_changes(folder):
    """A file that is replaced between two reads is an error; opened again, the new one is read."""
    memory = fsspec.filesystem("memory")
    memory.pipe("/changing.bat", (folder / "one.bat").read_bytes())
    with parabat.open("memory://changing.bat") as dataset:
        dataset.read(quality=0.01)
        parabat.write(folder / "new.bat", np.ones((70_000, 3)))
        memory.pipe("/changing.bat", (folder / "new.bat").read_bytes())
        expect(parabat.BatError, dataset.read, "memory://changing.bat", "changed")
    with parabat.open("memory://changing.bat") as dataset:
        assert len(dataset.read().positions) == 70_000


class Unsteady(MemoryFileSystem):
    """Fails when it is first asked for a part of a file, and at last always."""
    protocol = "unsteady"
    store, pseudo_dirs = {}, [""]
    cachable = False
    seen, lost = set(), False

    @classmethod
    def _strip_protocol(cls, path):
        return super()._strip_protocol(path.replace("unsteady://", "memory://"))

    def cat_file(self, path, start=None, end=None, **kwargs):
        is_new = (path, start, end) not in Unsteady.seen
        Unsteady.seen.add((path, start, end))
        if Unsteady.lost or is_new:
            raise ConnectionError(f"no answer from //user:{SECRET}@host/?token={SECRET}")
        return super().cat_file(path, start=start, end=end, **kwargs)


def check_failures(folder):
    fsspec.register_implementation("unsteady", Unsteady)
    Unsteady().pipe("/one.bat", (folder / "one.bat").read_bytes())
    with parabat.open("unsteady://one.bat") as dataset, parabat.open(folder / "one.bat") as local:
        same(dataset.read(), local.read())
    Unsteady.lost = True
    expect(parabat.BatError, lambda: parabat.open("unsteady://one.bat"), "unsteady://one.bat", "ConnectionError", "failed 2 times")


class Odd(Unsteady):
    """Reports failures as fsspec's http does, and changes while it is opened. what: the failure."""
    protocol = "odd"
    store, pseudo_dirs, seen, what = {}, [""], set(), ""

    @classmethod
    def _strip_protocol(cls, path):
        return MemoryFileSystem._strip_protocol(path.replace("odd://user:" + SECRET + "@", "").replace("odd://", ""))

    def info(self, path, **kwargs):
        if Odd.what == "busy":
            raise FileNotFoundError(path) from TimeoutError("no answer")
        return super().info(path, **kwargs)

    def cat_file(self, path, start=None, end=None, **kwargs):
        if Odd.what == "surrogate":
            raise ValueError("wrong \udcff")
        data = MemoryFileSystem.cat_file(self, path, start=start, end=end, **kwargs)
        if Odd.what == "changes":
            Odd.what = ""
            self.pipe(path, Odd.new)
        return data


def check_odd_stores(folder):
    fsspec.register_implementation("odd", Odd)
    old, Odd.new = (folder / "one.bat").read_bytes(), (folder / "new.bat").read_bytes()
    Odd().pipe("/one.bat", old)
    Odd.what = "busy"
    for path in ("odd://one.bat", f"odd://user:{SECRET}@one.bat"):
        try:
            parabat.open(path)
            raise AssertionError(path)
        except parabat.BatError as error:
            assert not isinstance(error, FileNotFoundError) and "no answer" in str(error) and SECRET not in str(error), error
    Odd.what = "surrogate"
    expect(parabat.BatError, lambda: parabat.open("odd://one.bat"), "odd://one.bat", "wrong")
    Odd.what = "changes"
    with parabat.open("odd://one.bat") as dataset, parabat.open(folder / "new.bat") as local:
        same(dataset.read(), local.read())


def main():
    folder = pathlib.Path(sys.argv[1], "remote_stores")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    os.environ.update({"PARABAT_REMOTE_RETRIES": "1", "AWS_CONFIG_FILE": os.devnull, "AWS_SHARED_CREDENTIALS_FILE": os.devnull})
    make_files(folder)
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    store = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    store.start()
    server = Server(sys.argv[2], folder)
    try:
        host, port = store.get_host_and_port()
        check_other_stores(folder, server)
        check_changes(folder)
        check_failures(folder)
        check_odd_stores(folder)
        check_s3(folder, f"http://{host}:{port}")
    finally:
        server.stop()
        store.stop()
    shutil.rmtree(folder)


os.environ.pop("PARABAT_CACHE", None)
main()
