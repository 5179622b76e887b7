# SPDX-License-Identifier: BSD-3-Clause
"""A simulation in Python that loads libcatalyst itself, outside of the global scope.

Usage: host.py LIBCATALYST FOLDER STEPS [mpi]

Without `mpi`, MPI is not initialized. Prints like host.c.
"""

import ctypes
import sys

MESH = "catalyst/channels/host/data"


class Catalyst:
    def __init__(self, path):
        self.library = ctypes.CDLL(path, mode=ctypes.RTLD_LOCAL)
        self.library.catalyst_conduit_node_create.restype = ctypes.c_void_p
        self.keep = []

    def call(self, name, fill):
        node = ctypes.c_void_p(self.library.catalyst_conduit_node_create())
        fill(node)
        status = getattr(self.library, f"catalyst_{name}")(node)
        self.library.catalyst_conduit_node_destroy(node)
        self.keep = []
        return status

    def text(self, node, path, text):
        self.library.catalyst_conduit_node_set_path_char8_str(node, path.encode(), text.encode())

    def array(self, node, path, kind, name, values):
        data = (kind * len(values))(*values)
        self.keep.append(data)
        set_array = getattr(
            self.library, f"catalyst_conduit_node_set_path_external_{name}_ptr_detailed")
        size = ctypes.sizeof(kind)
        set_array(node, path.encode(), ctypes.byref(data), ctypes.c_int64(len(values)),
                  ctypes.c_int64(0), ctypes.c_int64(size), ctypes.c_int64(size), ctypes.c_int64(0))


def fill_step(catalyst, node, rank, step):
    n = 0 if rank == 1 else 100 + 10 * rank
    library = catalyst.library
    library.catalyst_conduit_node_set_path_int64(
        node, b"catalyst/state/timestep", ctypes.c_int64(step))
    library.catalyst_conduit_node_set_path_float64(
        node, b"catalyst/state/time", ctypes.c_double(0.25 * step))
    for path, text in {"catalyst/channels/host/type": "mesh",
                       f"{MESH}/coordsets/c/type": "explicit",
                       f"{MESH}/topologies/mesh/type": "points",
                       f"{MESH}/topologies/mesh/coordset": "c",
                       f"{MESH}/fields/id/association": "vertex",
                       f"{MESH}/fields/id/topology": "mesh",
                       f"{MESH}/fields/mass/association": "vertex",
                       f"{MESH}/fields/mass/topology": "mesh"}.items():
        catalyst.text(node, path, text)
    axes = {"x": [rank + 0.001 * (i % 1009) for i in range(n)],
            "y": [0.5 * i for i in range(n)],
            "z": [step] * n}
    for axis, values in axes.items():
        catalyst.array(
            node, f"{MESH}/coordsets/c/values/{axis}", ctypes.c_double, "float64", values)
    catalyst.array(node, f"{MESH}/fields/id/values", ctypes.c_int64, "int64",
                   [1000000000 * (rank + 1) + i for i in range(n)])
    catalyst.array(node, f"{MESH}/fields/mass/values", ctypes.c_float, "float32",
                   [1.0 / (i + 1) for i in range(n)])


def main():
    path, folder, steps = sys.argv[1], sys.argv[2], int(sys.argv[3])
    rank = 0
    if sys.argv[4:] == ["mpi"]:
        from mpi4py import MPI
        rank = MPI.COMM_WORLD.rank
    catalyst = Catalyst(path)

    def say(name, status):
        # A single write, so that lines of several ranks do not mix.
        sys.stdout.write(f"rank {rank} {name} {status}\n")
        sys.stdout.flush()

    def options(node):
        catalyst.text(node, "catalyst/bat/output", f"{folder}/host_{{timestep:03d}}.bat")

    say("initialize", catalyst.call("initialize", options))
    for step in range(steps):
        say("execute", catalyst.call(
            "execute", lambda node, step=step: fill_step(catalyst, node, rank, step)))
    say("finalize", catalyst.call("finalize", lambda node: None))


if __name__ == "__main__":
    main()
