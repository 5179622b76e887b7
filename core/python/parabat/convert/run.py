# SPDX-License-Identifier: BSD-3-Clause
"""The conversion as one function."""

import os
import secrets
import sys

from .._text import printable
from . import order, running
from .grid_job import BricksJob, GridJob, GridOutcome
from .model import ConvertError, Interrupted, Options, listed
from .option_types import MAX_JOBS
from .rows_by_step import Scratch
from .running import Job, Outcome


JOBS = {".bat": Job, ".idx": GridJob, ".bricks.series": BricksJob, ".bricks": BricksJob}


def convert(inputs, output, *, format=None, steps=slice(None), jobs=1, show=None,  # pylint: disable=redefined-builtin
            settings=None, apart=False, memory_bytes=0, on_repeat="keep-last", **options):
    """Converts particle files to a dataset, or to one for each step and species; grids to an .idx dataset with all
    steps; and velocities on grids to bricks.

    inputs: file names and patterns; several inputs form a time series, ordered by the time or step number of their
    first steps.
    output: OUT.bat. A time series becomes OUT_0000.bat, OUT_0001.bat ... and the list OUT.bat.series; species become
    OUT_NAME.bat. For grids: OUT.idx. For velocities: OUT.bricks.series with OUT_0000.bricks ..., or OUT.bricks for a
    single step.
    format: name of a format, or a file that defines one; None to detect it.
    steps: the steps to convert, as a slice.
    jobs: the number of processes that convert particle steps in parallel, sharing the processors; 0 for one per
    processor. Grids are converted by one process.
    show: called with a dict for each dataset written ("done": its name, and more), each remark ("remark") and each
    progress update ("share", 0 to 1, of "what").
    settings: keywords of parabat.write() or parabat.idx.write(), or those of parabat.flow.write_series() and `times`;
    flush defaults to False.
    apart: reads in a separate process, so that a library that crashes on a damaged file only causes an error. Uses
    fork(), so the program must not have threads.
    memory_bytes: memory limit per process; 0 for half of the free memory. Steps that need more are read and written
    in parts, if the format supports that; other formats reject a limit.
    on_repeat: what to do with particle steps that have equal times, or equal step numbers if times are missing:
    "keep-last", "keep-first" or "fail".
    options: fields of Options.

    Returns a list of dicts, one for each dataset. Raises ConvertError with a one-line message, which lists complete
    datasets of other inputs, since these are kept; those of the failed input are removed.

    Collective if several ranks were started (mpirun) and mpi4py is available: ranks share the steps, the particles of
    a single step, or the samples of each grid. Rank 0 calls show() and returns the list.
    """
    output = os.fspath(output)
    kind = next((end for end in JOBS if output.endswith(end)), None)
    if kind is None:
        raise ConvertError(f"{output}: the file to write must end in .bat, in .idx for grids, or in .bricks or .bricks.series for velocity fields")
    if on_repeat not in order.ON_REPEAT:
        raise ConvertError(f"argument --on-repeat: '{on_repeat}'; allowed are {listed(order.ON_REPEAT)}")
    grids = kind != ".bat"
    comm = running.world()
    if jobs == 0:
        jobs = 1 if grids else min(_processors(), MAX_JOBS)
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


def _processors():
    """Returns the number of processors that this process may use."""
    return len(os.sched_getaffinity(0))


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
        settings["threads"] = max(1, _processors() // shares)
    of_output = Options(threads=settings.get("threads", 0), slab=(comm.rank, comm.size) if comm else (0, 1), **options)
    return JOBS[kind](running.ordered(found, of_output, apart), output, of_output, steps, settings, memory_bytes, shares)


def _collective(comm, do):
    """Collective. Returns do(); if it raises on one rank, all ranks raise."""
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
    """Returns whether this process prints messages: it is rank 0, or the only process."""
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
    """Prints one of the dicts that convert() passes to show()."""
    if "remark" in news:
        print(f"note: {printable(news['remark'])}", file=sys.stderr, flush=True)
    elif "done" in news:
        if "dimensions" in news:
            print(f"{printable(news.get('level', news['done']))}: step {news['step']}, {' x '.join(map(str, news['dimensions']))} samples, "
                  f"{len(news['fields'])} field{'s' * (len(news['fields']) != 1)}, {news['bytes'] / 1e6:.1f} MB", flush=True)
            return
        print(f"{printable(news['done'])}: {news['particles']} particles, {len(news['attributes'])} attributes, "
              f"{news['bytes'] / 1e6:.1f} MB", flush=True)
