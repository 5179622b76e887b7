# SPDX-License-Identifier: BSD-3-Clause
"""Writes and reads the particles of all ranks in several ways alternately; paper.py starts it on
ranks.

    mpirun -np 8 python3 paper_ranks.py '{"make": {...}, "ways": [...], "folder": ..., "repeat": 5, "json": ...}'

make: arguments of rank_particles.make(). ways: each {"name", "way", "file", "written_by", "write", "read"}, where the
last two are arguments of the Way; with written_by, the way only reads what another has written. In each round all ways
take turns, each round beginning with a different one. The first round is not timed; in it the particles read are
compared with those made. Rank r reads the particles of rank r + 1. Times are from the first rank's begin to the last
one's end: all ranks run on one machine and share its clock, and with more ranks than processors some begin when others
have ended.
"""

import glob
import json
import os
import shutil
import subprocess
import sys
import time

import numpy as np
from mpi4py import MPI

import rank_particles

COMM = MPI.COMM_WORLD
RANK, RANKS = COMM.rank, COMM.size
NEXT = (RANK + 1) % RANKS


class Way:
    """A way to store particles. Files have names that begin with `path`."""

    def __init__(self, local, path):
        self.local = local
        self.path = path
        self.rows = COMM.allgather(len(local["positions"]))
        self.first = sum(self.rows[:RANK])

    def write(self, flush, **options):
        """Collective. Returns a report, or None."""
        raise NotImplementedError

    def read(self, **options):
        """Collective. Returns name -> array for the next rank's particles, and a report or None."""
        raise NotImplementedError

    def close(self):
        pass

    def empty_of_next(self):
        return {name: np.empty((self.rows[NEXT], *values.shape[1:]), values.dtype)
                for name, values in self.local.items()}


class Raw(Way):
    """A file per process: arrays one after the other."""

    def write(self, flush):
        rank_particles.write_arrays(f"{self.path}.{RANK:05}", self.local, flush)

    def read(self):
        found = self.empty_of_next()
        rank_particles.read_arrays(f"{self.path}.{NEXT:05}", found)
        return found, None


class Shared(Way):
    """One file through MPI-IO: array by array, in each of them rank by rank."""

    def _places(self, rank):
        """For each array, the file offset at which that rank's values begin."""
        begin = 0
        for name, values in self.local.items():
            size = values.dtype.itemsize * (values.shape[1] if values.ndim > 1 else 1)
            yield name, begin + size * sum(self.rows[:rank])
            begin += size * sum(self.rows)

    def write(self, flush, collective=True):
        file = MPI.File.Open(COMM, self.path, MPI.MODE_CREATE | MPI.MODE_WRONLY)
        for name, place in self._places(RANK):
            (file.Write_at_all if collective else file.Write_at)(place, self.local[name])
        if flush:
            file.Sync()
        file.Close()

    def read(self, collective=True):
        found = self.empty_of_next()
        file = MPI.File.Open(COMM, self.path, MPI.MODE_RDONLY)
        for name, place in self._places(NEXT):
            (file.Read_at_all if collective else file.Read_at)(place, found[name])
        file.Close()
        return found, None


class Hdf5(Way):
    """One file through parallel HDF5, with a dataset per array, collectively."""

    def _open(self, mode):
        import h5py

        return h5py.File(self.path, mode, driver="mpio", comm=COMM)

    def write(self, flush):
        with self._open("w") as file:
            for name, values in self.local.items():
                dataset = file.create_dataset(name, (sum(self.rows), *values.shape[1:]), values.dtype)
                with dataset.collective:
                    dataset[self.first:self.first + len(values)] = values
        if flush and RANK == 0:
            rank_particles.flush(self.path)

    def read(self):
        found = self.empty_of_next()
        first = sum(self.rows[:NEXT])
        with self._open("r") as file:
            for name, values in found.items():
                with file[name].collective:
                    file[name].read_direct(values, np.s_[first:first + len(values)])
        return found, None


class Vtk(Way):
    """A .vtp piece per process, appended and raw, written by VTK in a separate process per rank."""

    def __init__(self, local, path):
        super().__init__(local, path)
        self.server = None

    def _ask(self, **question):
        self.server.stdin.write(json.dumps(question) + "\n")
        self.server.stdin.flush()
        answer = json.loads(self.server.stdout.readline() or '{"error": "the process ended"}')
        if "error" in answer:
            raise RuntimeError("vtk_xml_writer.py: " + answer["error"])

    def _start(self, python):
        # Must not share a process with another VTK or with MPI; only variables of a login are
        # passed.
        clean = {name: os.environ[name] for name in ("PATH", "HOME", "LC_ALL", "TMPDIR") if name in os.environ}
        program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "vtk_xml_writer.py")
        self.server = subprocess.Popen([python, program, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       text=True, env=clean)
        raw = f"{self.path}.raw.{RANK}"
        rank_particles.write_arrays(raw, self.local, flush=False)
        self._ask(do="load", path=raw,
                  shapes=[[name, values.dtype.str, values.shape] for name, values in self.local.items()])
        os.remove(raw)
        COMM.Barrier()

    def prepare(self, python, **unused):
        if self.server is None:
            self._start(python)

    def write(self, flush, python):
        self._ask(do="write", path=f"{self.path}.{RANK:05}.vtp", compressor="none", flush=flush)

    def read(self):
        self._ask(do="read", path=f"{self.path}.{NEXT:05}.vtp")
        return None, None  # they are in the other process

    def close(self):
        if self.server is not None:
            self.server.stdin.close()
            self.server.wait()


class Ours(Way):
    """A dataset; the next rank's particles are requested by their box."""

    def __init__(self, local, path):
        super().__init__(local, path + ".bat")
        positions = local["positions"]
        box = np.concatenate((positions.min(axis=0), positions.max(axis=0))) if len(positions) else None
        self.box = COMM.allgather(box)[NEXT]

    def write(self, flush, **options):
        import parabat

        attributes = {name: values for name, values in self.local.items() if name != "positions"}
        report = parabat.write(self.path, self.local["positions"], attributes, comm=COMM, flush=int(flush), **options)
        return json.loads(report.json())

    def read(self, mode):
        import parabat

        with parabat.Dataset(self.path, COMM) as dataset:
            nothing = {} if self.box is not None else {"quality": 0.0}
            particles = dataset.read(box=self.box, mode=mode, report=True, **nothing)
        return {**particles, "positions": particles.positions}, particles.report


class Grid(Way):
    """Lattice points as a grid in one file, variable by variable; each rank has a block of each. The grid implies
    the positions, so only attributes are stored."""

    def __init__(self, local, path):
        super().__init__(local, path)
        lower = np.min(local["positions"], axis=0).astype(int)
        upper = np.max(local["positions"], axis=0).astype(int) + 1
        self.blocks = COMM.allgather((lower.tolist(), (upper - lower).tolist()))
        self.size = np.max([np.add(*block) for block in self.blocks], axis=0).tolist()

    def _each(self, file, rank, move):
        begin, size = self.blocks[rank]
        view = MPI.DOUBLE.Create_subarray(self.size, size, begin)
        view.Commit()
        for number, name in enumerate(name for name in self.local if name != "positions"):
            file.Set_view(number * 8 * int(np.prod(self.size)), MPI.DOUBLE, view)
            move(name)
        view.Free()
        file.Close()

    def write(self, flush):
        file = MPI.File.Open(COMM, self.path, MPI.MODE_CREATE | MPI.MODE_WRONLY)
        self._each(file, RANK, lambda name: file.Write_all(self.local[name]))

    def read(self, collective):
        found = self.empty_of_next()
        axes = (np.arange(begin, begin + size, dtype=np.float32) for begin, size in zip(*self.blocks[NEXT]))
        found["positions"] = np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)
        file = MPI.File.Open(COMM, self.path, MPI.MODE_RDONLY)
        self._each(file, NEXT, lambda name: (file.Read_all if collective else file.Read)(found[name]))
        return found, None


WAYS = {"grid": Grid, "raw": Raw, "shared": Shared, "hdf5": Hdf5, "vtk": Vtk, "ours": Ours}


def timed(work):
    """Seconds of all ranks together, and the result of `work` on this rank."""
    COMM.Barrier()
    begin = time.monotonic()
    result = work()
    end = time.monotonic()
    return COMM.allreduce(end, MPI.MAX) - COMM.allreduce(begin, MPI.MIN), result


def files_of(path):
    tops = glob.glob(glob.escape(path) + "*")
    inside = [name for top in tops for name in glob.glob(glob.escape(top) + "/**", recursive=True)]
    return [name for name in tops + inside if os.path.isfile(name)]


def remove(path):
    """Not timed: nothing is overwritten."""
    COMM.Barrier()
    if RANK == 0:
        for name in glob.glob(glob.escape(path) + "*"):
            shutil.rmtree(name) if os.path.isdir(name) else os.remove(name)
    COMM.Barrier()


def turn(way, spec, how, expected):
    """Writes, unless another way's file is read, and reads. `expected`: checksum of the particles made,
    or None."""
    sample = {}
    if "written_by" not in spec:
        remove(way.path)
        sample["write"], report = timed(lambda: way.write(how["flush"], **spec.get("write", {})))
        if report:
            sample["write_report"] = report
        if RANK == 0:
            sample["files"] = [os.path.getsize(name) for name in files_of(way.path)]
    if "read" in spec:
        sample["read"], (found, report) = timed(lambda: way.read(**spec["read"]))
        if report:
            sample["read_report"] = report
        if expected is not None and found is not None:
            got = COMM.allreduce(rank_particles.checksum(found)) % 2**64
            if got != expected:
                raise RuntimeError(f"{spec['name']}: {got:016x} was read, {expected:016x} was written")
    return sample


def run(how):
    local = rank_particles.make(RANK, RANKS, **how["make"])
    checksum = COMM.allreduce(rank_particles.checksum(local)) % 2**64
    os.makedirs(how["folder"], exist_ok=True)
    specs = {spec["name"]: spec for spec in how["ways"]}
    ways = {}
    for number, spec in enumerate(specs.values()):
        writer = spec.get("written_by")
        ways[spec["name"]] = ways[writer] if writer else WAYS[spec["way"]](
            local, os.path.join(how["folder"], spec.get("file", f"way{number}")))
        if spec["way"] == "vtk":
            ways[spec["name"]].prepare(**spec["write"])
    samples = {name: [] for name in specs}
    # Ways that read others' files run after them.
    groups = [[name, *(other for other, spec in specs.items() if spec.get("written_by") == name)]
              for name in specs if "written_by" not in specs[name]]
    for repeat in range(-1, how["repeat"]):
        places = [(place + repeat) % len(groups) for place in range(len(groups))]
        for name in (name for place in places for name in groups[place]):
            sample = turn(ways[name], specs[name], how, checksum if repeat < 0 else None)
            if repeat >= 0:
                samples[name].append(sample)
    for way in ways.values():
        way.close()
        if not how.get("keep"):
            remove(way.path)
    row_bytes = max(COMM.allgather(sum(a.dtype.itemsize * (a[:1].size if len(a) else 0) for a in local.values())))
    nodes = len(set(COMM.allgather(os.uname().nodename)))
    if RANK == 0:
        found = {"ranks": RANKS, "hosts": nodes, "particles": sum(next(iter(ways.values())).rows),
                 "bytes_per_particle": row_bytes, "flush": how["flush"], "samples": samples}
        with open(how["json"], "w", encoding="utf-8") as file:
            json.dump(found, file)


if __name__ == "__main__":
    try:
        run(json.loads(sys.argv[1]))
    except BaseException as error:  # pylint: disable=broad-except
        print(f"rank {RANK}: {error!r}", file=sys.stderr, flush=True)
        COMM.Abort(1)
