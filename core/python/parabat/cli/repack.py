# SPDX-License-Identifier: BSD-3-Clause
"""parabat repack IN OUT: the same particles, stored in another way."""

import argparse
import contextlib
import os
import signal

from ..errors import refuse
from ..writing import repack
from ._common import YES, add_json, count, is_series, print_json, progress, show, steps_of

# Those of parabat.repack() that have a value only if they are given.
OPTIONS = ("compression", "error_bounds", "sorted_indexes", "stable_samples", "chunk_particles", "treelet_particles", "block_particles",
           "index_budget", "threads")


def add_arguments(parser):
    """Of `repack`."""
    parser.add_argument("file", metavar="IN", help=".bat, .pbat, .bat.series or .tracks.bat")
    parser.add_argument("out", metavar="OUT",
                        help="OUT.bat; of a series OUT.bat.series, beside which OUT_0000.bat, OUT_0001.bat ... will be")
    group = parser.add_argument_group("what changes (all else stays as it is in IN)")
    group.add_argument("--compression", metavar="HOW", help="none, lossless, or bounded")
    group.add_argument("--error-bounds", action="append", metavar="NAME=BOUND",
                       help="largest difference to what is in IN, in units of the array, or NAME=SHARE%% of its range; "
                            "positions are one, 0 gives a bound up; once for each array")
    indexes = group.add_mutually_exclusive_group()
    indexes.add_argument("--sorted-indexes", action="append", metavar="NAME",
                         help="to be looked up by value, e.g. id or velocity[2]; once for each")
    indexes.add_argument("--no-sorted-indexes", action="store_const", const=[], dest="sorted_indexes",
                         help="leave out those that are there")
    samples = group.add_mutually_exclusive_group()
    samples.add_argument("--stable-samples", action="append", metavar="NAME",
                         help="ids by which all steps show the same particles at qualities such as 0.1; once for each")
    samples.add_argument("--no-stable-samples", action="store_const", const=[], dest="stable_samples",
                         help="a quality shows the particles that are spread most evenly")
    group.add_argument("--chunk-particles", type=count, metavar="N", help="of a part of a compressed column; 0 chooses")
    group.add_argument("--treelet-particles", type=count, metavar="N", help="most particles of a treelet")
    group.add_argument("--block-particles", type=count, metavar="N", help="of a block; 0 chooses by --index-budget")
    group.add_argument("--index-budget", type=float, metavar="SHARE", help="of the data that the index may take")
    parser.add_argument("--threads", type=count, metavar="N", help="at most so many; 0 (default): as many as there are")
    parser.add_argument("--flush", action=argparse.BooleanOptionalAction, default=True,
                        help="wait until all is on the disk (default)")
    parser.add_argument("--force", action="store_true", help="replace what is at OUT")
    add_json(parser)


def _targets(arguments):
    """What is made, or replaced."""
    yield arguments.out
    if is_series(arguments.file) and is_series(arguments.out):
        stem = arguments.out[:-len(".series")].removesuffix(".bat")
        for number in range(len(set(steps_of(arguments.file)))):
            yield f"{stem}_{number:04}.bat"


@contextlib.contextmanager
def _interrupts():
    """A list, in which there is something once an interrupt has come; it raises nothing meanwhile, as what calls
    Python from C could not carry that everywhere."""
    came, before = [], {}
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            before[number] = signal.signal(number, lambda *unused: came.append(True))
    try:
        yield came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def run(arguments):
    """The exit code."""
    for path in () if arguments.force else _targets(arguments):
        if os.path.lexists(path):
            refuse(f"{path}: is there already; --force replaces it")
    given = {name: getattr(arguments, name) for name in OPTIONS if getattr(arguments, name) is not None}
    with progress("repacking") as told, _interrupts() as came:
        def go_on(done):
            if told:
                told(done)
            return not came

        report = repack(arguments.file, arguments.out, progress=go_on, flush=arguments.flush, **given)
    if arguments.json:
        print_json({"file": arguments.file, "out": arguments.out, **report.asdict()})
    else:
        show(f"{arguments.out}: {report.particles:,} particles, all compared; {report.bytes_after:,} bytes, "
              f"before {report.bytes_before:,}")
    return YES
