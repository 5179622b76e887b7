# SPDX-License-Identifier: BSD-3-Clause
"""The conversion as one function."""

import os
import secrets
import sys

from .._text import printable
from . import order, running
from .grid_job import BricksJob, GridJob, GridOutcome
from .model import ConvertError, Interrupted, Options, listed
from .rows_by_step import Scratch
from .running import Job, Outcome


JOBS = {".bat": Job, ".idx": GridJob, ".bricks.series": BricksJob, ".bricks": BricksJob}


def convert(inputs, output, *, format=None, steps=slice(None), jobs=1, show=None,  # pylint: disable=redefined-builtin
            settings=None, apart=False, memory_bytes=0, on_repeat="keep-last", **options):
    """Converts files to a dataset, or to one for each step and species; grids to an .idx dataset with all steps;
    velocities on grids to bricks.

    inputs: names of files and patterns; several are a time series, in the order of the times or steps with which they
    begin. output: OUT.bat; of a time
    series OUT_0000.bat, OUT_0001.bat ..., with the list OUT.bat.series; of species OUT_NAME.bat. Or OUT.idx, of
    grids; OUT.bricks.series, of velocities, with OUT_0000.bricks ..., or OUT.bricks of one step.
    format: name of a format, or a file with one; None to find it out. steps: those to convert, as a
    slice. jobs: processes that convert steps at the same time. show: called with a dict for each
    dataset that is written ("done": its name, and more), each remark ("remark"), and as it goes on
    ("share", from 0 to 1, of "what"). settings: keywords of parabat.write(), of
    parabat.idx.write(), or of parabat.flow.write_series() and `times`; flush is False if it is not among them. apart: reads in a process of its own,
    so that a library that does not survive a damaged file is an error and no more; fork() makes it,
    which is for programs without threads. memory_bytes: at most, of each process; 0 for half of what is
    free. A step that needs more
    is read and written in parts, if its format can be read so; other formats refuse a limit. on_repeat: what happens to
    steps of particles with equal times, or equal step numbers where there are no times: "keep-last", "keep-first", or
    "fail". options: fields of Options.

    Returns a list of dicts, one for each dataset. Raises ConvertError with one line; nothing is left
    then of the input that it is about; datasets of other inputs that are whole stay, which it says.

    Collective where several ranks were started (mpirun) and mpi4py is there: ranks share the steps, or
    the particles of the only one, or the samples of each grid; rank 0 shows and returns what was done.
    """
    output = os.fspath(output)
    kind = next((end for end in JOBS if output.endswith(end)), None)
    if kind is None:
        raise ConvertError(f"{output}: the file to write must end in .bat, in .idx for grids, or in .bricks or .bricks.series for velocity fields")
    if on_repeat not in order.ON_REPEAT:
        raise ConvertError(f"argument --on-repeat: '{on_repeat}'; allowed are {listed(order.ON_REPEAT)}")
    grids = kind != ".bat"
    comm = running.world()
    if grids and jobs > 1:
        raise ConvertError(f"{output}: grids are converted by one process, which uses all processors, or by ranks (mpirun); remove --jobs")
    apart = apart and not comm
    token = secrets.token_hex(4)
    token = comm.bcast(token) if comm else token
    try:
        job = _collective(comm, lambda: _prepare(inputs, output, format, steps, settings, options,
                                               comm.size if comm else jobs, apart, memory_bytes, kind, comm))
    except KeyboardInterrupt:
        raise Interrupted(running.INTERRUPTED) from None
    job.options.room = job.room
    job.options.scratch = scratch = Scratch(output, token, job.is_one())
    lists = order.Lists(output) if not grids and not job.is_one() and leads() else None
    try:
        _collective(comm, lambda: lists and lists.claim(""))
        return _run(job, output, comm, jobs, apart, on_repeat, show, lists)
    finally:
        if lists:
            lists.release()
        if leads():
            scratch.remove()


def _run(job, output, comm, jobs, apart, on_repeat, show, lists):
    """convert() of a Job."""
    grids = not output.endswith(".bat")
    if on_repeat == "fail" and not grids:
        _collective(comm, lambda: job.check_repeats(apart))
    outcome = (GridOutcome if grids else Outcome)(show or (lambda news: None), on_repeat, job.is_one(), lists)
    if comm:
        running.run_ranks(job, outcome, comm)
    elif jobs > 1 or apart:
        running.run_processes(job, outcome, jobs, apart)
    else:
        running.run_alone(job, outcome)
    lines = _collective(comm, lambda: outcome.settle(output) if not comm or comm.rank == 0 else [])
    if outcome.failure:
        kind = Interrupted if outcome.failure[0] == running.INTERRUPTED else ConvertError
        raise kind("; ".join([outcome.failure[0], *(comm.bcast(lines) if comm else lines)]))
    return sorted(outcome.done, key=lambda news: (news["index"], news["species"]))


def _prepare(inputs, output, format_name, steps, settings, options, shares, apart, memory_bytes, kind, comm):
    """Makes the Job."""
    folder = os.path.dirname(os.path.abspath(output))
    if not os.path.isdir(folder):
        raise ConvertError(f"{output}: the folder {folder} does not exist")
    words = [inputs] if isinstance(inputs, (str, os.PathLike)) else inputs
    grids = kind != ".bat"
    found = running.find_inputs(list(map(os.fspath, words)), format_name, apart, grids, options.get("part", False))
    _check_options(found, options, {"arrays", "fill"} if grids else {"arrays", "species"})
    settings = {"flush": False, **(settings or {})}
    if shares > 1 and not settings.get("threads"):
        settings["threads"] = max(1, len(os.sched_getaffinity(0)) // shares)
    of_output = Options(threads=settings.get("threads", 0), slab=(comm.rank, comm.size) if comm else (0, 1), **options)
    return JOBS[kind](running.ordered(found, of_output, apart), output, of_output, steps, settings, memory_bytes, shares)


def _collective(comm, do):
    """What do() returns; on many ranks all raise if one does. Collective."""
    result = failure = None
    try:
        result = do()
    except ConvertError as error:
        failure = str(error)
    except OSError as error:
        failure = f"{error.filename or 'a file'}: {error.strerror or error}"
    failures = [failure] if comm is None else comm.allgather(failure)
    failure = next((each for each in failures if each is not None), None)
    if failure is not None:
        raise ConvertError(failure)
    return result


def leads():
    """Returns whether this process is the one of many ranks that prints."""
    comm = running.world()
    return comm is None or comm.rank == 0


def _check_options(found, options, everywhere):
    defaults = Options()
    for name, value in options.items():
        if value == getattr(defaults, name) or name in everywhere:
            continue
        for one in found:
            if name not in one.row.options:
                raise ConvertError(f"argument --{name.replace('mapping', 'map').replace('_', '-')}: the format {one.row.name} of {one.path} does not "
                                   f"support it; it supports {listed(one.row.options)}")


def print_news(news):
    """One of the things that convert() shows, for people."""
    if "remark" in news:
        print(f"note: {printable(news['remark'])}", file=sys.stderr, flush=True)
    elif "done" in news:
        if "dimensions" in news:
            print(f"{printable(news.get('level', news['done']))}: step {news['step']}, {' x '.join(map(str, news['dimensions']))} samples, "
                  f"{len(news['fields'])} field{'s' * (len(news['fields']) != 1)}, {news['bytes'] / 1e6:.1f} MB", flush=True)
            return
        print(f"{printable(news['done'])}: {news['particles']} particles, {len(news['attributes'])} attributes, "
              f"{news['bytes'] / 1e6:.1f} MB", flush=True)
