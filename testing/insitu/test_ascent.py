# SPDX-License-Identifier: BSD-3-Clause
"""Runs the Ascent example as Ascent does: on each rank, in a persistent interpreter, with what Ascent
provides. Nodes have the functions of Conduit's Python module.

Usage: test_ascent.py FOLDER     on any number of ranks
"""

import contextlib
import io
import os
import pathlib
import shutil
import sys

import parabat
import bat_ascent
import numpy as np
from mpi4py import MPI

COMM = MPI.COMM_WORLD
FOLDER = pathlib.Path(sys.argv[1])
EXTRACT = pathlib.Path(bat_ascent.__file__).with_name("extract.py")


class Node:
    def __init__(self, content):
        self.content = content

    def number_of_children(self):
        return len(self.content) if isinstance(self.content, (dict, list)) else 0

    def child_names(self):
        return list(self.content) if isinstance(self.content, dict) else []

    def child(self, i):
        children = self.content.values() if isinstance(self.content, dict) else self.content
        return Node(list(children)[i])

    def has_path(self, path):
        found = self.content
        for name in path.split("/"):
            if not isinstance(found, dict) or name not in found:
                return False
            found = found[name]
        return True

    def fetch(self, path):
        found = self.content
        for name in path.split("/"):
            found = found[name]
        return Node(found)

    def value(self):
        values = self.content
        return values[0] if isinstance(values, np.ndarray) and len(values) == 1 else values

    def __getitem__(self, path):
        node = self.fetch(path)
        return node if isinstance(node.content, (dict, list)) else node.value()


def particles(number, step):
    """The particles of box `number`: none, one, or several."""
    n = (0, 1, 7, 12)[number % 4]
    random = np.random.default_rng(100 * step + number)
    return {"x": random.random((n, 3)), "id": np.arange(n, dtype=np.int32) + 1000 * number,
            "mass": random.random(n).astype(np.float32), "v": random.random((n, 3))}


def domain(number, step):
    p = particles(number, step)
    n = len(p["id"])
    backwards = np.arange(n)[::-1]
    field = lambda values, association="element": {
        "topology": "dust", "association": association, "values": values}
    return {
        "state": {"cycle": np.array([step]), "time": np.array([0.5 * step]),
                  "domain_id": np.array([number])},
        "coordsets": {"dust_coords": {"type": "explicit", "values": {
            axis: p["x"][:, i].copy() for i, axis in enumerate("xyz")}},
            "grid_coords": {"type": "uniform"}},
        "topologies": {"dust": {"type": "unstructured", "coordset": "dust_coords", "elements": {
            "shape": "point", "connectivity": backwards}},
            "grid": {"type": "uniform", "coordset": "grid_coords"}},
        "fields": {"id": field(p["id"], "vertex"), "mass": field(p["mass"][backwards]),
                   "v": field({axis: p["v"][:, i].copy() for i, axis in enumerate("uvw")}, "vertex"),
                   "ascent_ghosts": field((p["id"][backwards] % 5 == 4).astype(np.int32)),
                   "pressure": {"topology": "grid", "association": "element", "values": np.zeros(8)}}}


def run(data):
    """The output of rank 0."""
    reported = io.StringIO()
    names = {"ascent_data": lambda: Node(data), "ascent_mpi_comm_id": COMM.py2f}
    with contextlib.redirect_stderr(reported):
        exec(compile(EXTRACT.read_text(), EXTRACT, "exec"), names)  # pylint: disable=exec-used
    COMM.Barrier()
    return reported.getvalue()


def check(step, numbers):
    with parabat.Dataset(FOLDER / f"dust_{step:02d}.bat") as dataset:
        assert dataset.step == step and dataset.time == 0.5 * step
        found = dataset.read()
    expected = [particles(number, step) for number in numbers]
    order = np.argsort(found["id"])
    ids = np.concatenate([p["id"] for p in expected])
    stay = ids % 5 != 4
    assert np.array_equal(found["id"][order], ids[stay]) and found["id"].dtype == np.int32
    for name, values in (("mass", found["mass"]), ("v", found["v"]), ("x", found.positions)):
        whole = np.concatenate([p[name] for p in expected])[stay]
        assert np.array_equal(values[order], whole) and values.dtype == whole.dtype, name


def main():
    if COMM.rank == 0:
        shutil.rmtree(FOLDER, ignore_errors=True)
    COMM.Barrier()
    os.environ["BAT_ASCENT_FILES"] = str(FOLDER / "{name}_{timestep:02d}.bat")
    boxes = 6  # distributed: if there are several ranks, the first has none at first
    for step in (1, 2):
        dealt = max(1, COMM.size - (step == 1))
        local = [n for n in range(boxes) if COMM.size - 1 - n % dealt == COMM.rank]
        data = {f"domain_{n:06d}": domain(n, step) for n in local}
        assert run(data if step == 1 else list(data.values())) == "", step
        if COMM.rank == 0:
            check(step, range(boxes))
    # One rank's node is wrong: no rank waits, and the next step is written.
    data = {"domain_0": domain(2, 3)}
    if COMM.rank == COMM.size - 1:
        del data["domain_0"]["coordsets"]["dust_coords"]
    reported = run(data)
    assert reported.count("\n") == (1 if COMM.rank == 0 else 0), reported
    assert COMM.rank != 0 or "the step was not written" in reported and "dust_coords" in reported, reported
    assert run({"domain_0": domain(3 + 4 * COMM.rank, 4)}) == ""
    assert run({}) == ""
    if COMM.rank == 0:
        check(4, [3 + 4 * rank for rank in range(COMM.size)])
        names = sorted(p.name for p in FOLDER.iterdir() if p.suffix != ".lock")
        assert names == ["dust.bat.series", "dust.vtkhdf.series", "dust_01.bat", "dust_02.bat", "dust_04.bat"], names


if __name__ == "__main__":
    main()
