# SPDX-License-Identifier: BSD-3-Clause
"""The work of each rank in parallel_bench.py: makes its particles, passes them to ParaView, writes and
reads them in other ways, and computes checksums. Functions are called through
bat_ranks.on_all_ranks()."""

import importlib
import json
import os
import socket
import subprocess
import sys
import time

import numpy as np
from vtkmodules.util.numpy_support import get_vtk_array_type, numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkPoints
from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline

import bat_ranks
import rank_particles

# This rank's particles: name -> array; the positions are "positions".
_local = {}
_read = {}


def make(**how):
    """Makes the particles of this rank with rank_particles.make(). Returns their number and the bytes of
    one."""
    _local.clear()
    _local.update(rank_particles.make(bat_ranks.rank(), bat_ranks.ranks(), **how))
    rows = len(_local["positions"])
    return {"particles": rows,
            "row_bytes": sum(a.dtype.itemsize * (a[:1].size if rows else 1) for a in _local.values())}


def deliver(output):
    """Fills a data set of this rank with its particles, without a copy."""
    points = vtkPoints()
    points.SetData(_to_vtk("positions"))
    output.SetPoints(points)
    for name in _local:
        if name != "positions":
            output.GetPointData().AddArray(_to_vtk(name))


def _to_vtk(name):
    values = _local[name]
    array = numpy_to_vtk(values, array_type=get_vtk_array_type(values.dtype))
    array.SetName(name)
    return array


# When this rank's reader began and ended. ParaView takes 0.03 s to prepare a programmable filter,
# which must not count as reading.
_reading = {}


def ask_next(program):
    """Asks the reader above the filter for the piece of the next rank."""
    Pipeline = vtkStreamingDemandDrivenPipeline
    request = program.GetInputInformation(0, 0)
    piece = request.Get(Pipeline.UPDATE_PIECE_NUMBER()) + 1
    request.Set(Pipeline.UPDATE_PIECE_NUMBER(), piece % request.Get(Pipeline.UPDATE_NUMBER_OF_PIECES()))
    reader = program.GetInputAlgorithm(0, 0)
    reader.AddObserver("EndEvent", _note_end)
    _reading["begin"] = _reading["end"] = time.perf_counter()


def _note_end(*_):
    _reading["end"] = time.perf_counter()


def read_seconds():
    """Result of the last read on this rank."""
    return _reading["end"] - _reading["begin"]


def take(program):
    """Keeps the reader's output on this rank."""
    data = program.GetInputDataObject(0, 0)
    _read.clear()
    if data.GetNumberOfPoints() == 0:
        return
    _read["positions"] = vtk_to_numpy(data.GetPoints().GetData())
    for index in range(data.GetPointData().GetNumberOfArrays()):
        array = data.GetPointData().GetArray(index)
        _read[array.GetName()] = vtk_to_numpy(array)


def _raw_file(folder, rank):
    return os.path.join(folder, f"raw.{rank:05}")


def _timed(work):
    """Seconds between two barriers around `work`; errors are raised after the second."""
    bat_ranks.barrier()
    start = time.perf_counter()
    failure = None
    try:
        work()
    except Exception as error:  # pylint: disable=broad-except
        failure = error
    bat_ranks.barrier()
    seconds = time.perf_counter() - start
    if failure is not None:
        raise failure
    return seconds


def _next():
    """The rank whose particles this one reads."""
    return (bat_ranks.rank() + 1) % bat_ranks.ranks()


def write_raw(folder, flush):
    """Each rank writes its arrays one after the other to its own file."""
    return _timed(lambda: rank_particles.write_arrays(_raw_file(folder, bat_ranks.rank()), _local, flush))


def read_raw(folder, shapes_of_ranks):
    """Each rank reads the file of the next."""
    def work():
        _read.update((name, np.empty(shape, dtype)) for name, dtype, shape in shapes_of_ranks[_next()])
        rank_particles.read_arrays(_raw_file(folder, _next()), _read)

    _read.clear()
    return _timed(work)


# --- core/particles/parallel without ParaView, through parabat

_direct = None


def start_direct(folder, library):
    """Loads parabat from its folder, and mpi4py; returns why not."""
    global _direct
    try:
        if library:
            os.environ["BAT_LIBRARY"] = library
        sys.path.append(folder)
        comm = importlib.import_module("mpi4py.MPI").COMM_WORLD
        _direct = importlib.import_module("parabat"), comm
        if (comm.rank, comm.size) != (bat_ranks.rank(), bat_ranks.ranks()):
            return "mpi4py and VTK use different MPIs"
    except (ImportError, OSError) as error:
        return str(error)
    return None


def write_direct(path, target_bytes, mode):
    """parabat.write(), collective."""
    parabat, comm = _direct
    attributes = {name: values for name, values in _local.items() if name != "positions"}
    return _timed(lambda: parabat.write(path, _local["positions"], attributes, comm=comm,
                                        target_bytes=target_bytes, mode=mode.replace("-", "_")))


def read_direct(path):
    """A restart on other ranks: each reads the share of the next."""
    parabat, comm = _direct

    def work():
        with parabat.Dataset(path, comm) as dataset:
            particles = dataset.read(part=_next(), parts=bat_ranks.ranks())
        _read.update(particles, positions=particles.positions)

    _read.clear()
    return _timed(work)


# --- VTK's XML writer, in a separate process per rank

_vtk = None


def start_vtk(python, program, folder):
    """Starts vtk_xml_writer.py on the particles of this rank, which it reads from the raw file."""
    global _vtk
    # Must not run in a process that has another VTK; only variables of a login are passed.
    clean = {name: os.environ[name] for name in ("PATH", "HOME", "LC_ALL", "TMPDIR") if name in os.environ}
    _vtk = subprocess.Popen([python, program, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            text=True, env=clean)
    return _ask_vtk(do="load", path=_raw_file(folder, bat_ranks.rank()), shapes=shapes())


def _ask_vtk(**question):
    _vtk.stdin.write(json.dumps(question) + "\n")
    _vtk.stdin.flush()
    line = _vtk.stdout.readline()
    answer = json.loads(line) if line else {"error": "the process ended"}
    if "error" in answer:
        raise RuntimeError("vtk_xml_writer.py: " + answer["error"])
    return answer


def _vtk_file(folder, rank):
    return os.path.join(folder, f"vtk.{rank:05}.vtp")


def write_vtk(folder, compressor):
    return _timed(lambda: _ask_vtk(do="write", path=_vtk_file(folder, bat_ranks.rank()), compressor=compressor))


def read_vtk(folder):
    return _timed(lambda: _ask_vtk(do="read", path=_vtk_file(folder, _next())))


def stop_vtk():
    if _vtk is not None:
        _vtk.stdin.close()
        _vtk.wait()


# --- results

def shapes():
    """The content of this rank's raw file: name, type and shape of each column."""
    return [[name, values.dtype.str, values.shape] for name, values in _local.items()]


def checksum(of_read):
    """rank_particles.checksum() and the number of particles, as texts for JSON."""
    columns = _read if of_read else _local
    return [str(rank_particles.checksum(columns)), len(columns.get("positions", ()))]


def forget():
    _read.clear()


def host():
    return socket.gethostname(), len(os.sched_getaffinity(0))
