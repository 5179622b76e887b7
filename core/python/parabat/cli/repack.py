# SPDX-License-Identifier: BSD-3-Clause
"""parabat repack IN OUT: stores the same particles in another way."""

import argparse
import contextlib
import os
import signal

from ..convert import option_types
from ..errors import refuse
from ..writing import repack
from ._common import YES, add_json, count, is_series, print_json, progress, show, list_steps

# Options of parabat.repack() that have a value only if given.
OPTIONS = ("compression", "error_bounds", "sorted_indexes", "stable_samples", "chunk_particles", "hdf5_view", "treelet_particles",
           "block_particles", "index_budget", "threads")


def add_arguments(parser):
    """Adds the arguments of `repack`."""
    parser.add_argument("file", metavar="IN", help=".bat, .pbat, .bat.series or .tracks.bat")
    parser.add_argument("out", metavar="OUT",
                        help="OUT.bat; for a series OUT.bat.series, next to OUT_0000.bat, OUT_0001.bat ...")
    group = parser.add_argument_group("changes (everything else stays as in IN)")
    group.add_argument("--compression", metavar="HOW", help="none, lossless, or bounded")
    group.add_argument("--error-bounds", action="append", metavar="NAME=BOUND",
                       help="maximum error compared with IN, in units of the array, or NAME=SHARE%% of its range; NAME may be positions, 0 removes a "
                            "bound; repeat for each")
    indexes = group.add_mutually_exclusive_group()
    indexes.add_argument("--sorted-indexes", action="extend", type=option_types.names, metavar="NAME,...",
                         help="attributes to index for queries by value, for example id or velocity[2]; these replace the existing indexes")
    indexes.add_argument("--no-sorted-indexes", action="store_const", const=[], dest="sorted_indexes",
                         help="remove the existing ones")
    samples = group.add_mutually_exclusive_group()
    samples.add_argument("--stable-samples", action="append", metavar="NAME",
                         help="ids that make qualities such as 0.1 show the same particles in all steps; repeat for each")
    samples.add_argument("--no-stable-samples", action="store_const", const=[], dest="stable_samples",
                         help="use the most evenly spread particles for a quality")
    group.add_argument("--chunk-particles", type=count, metavar="N", help="number of particles in a chunk of a compressed column, 256 to 65536; 0 chooses it")
    group.add_argument("--hdf5-view", action=argparse.BooleanOptionalAction,
                       help="add or remove the HDF5 view, through which ParaView opens uncompressed files without a plugin")
    group.add_argument("--treelet-particles", type=count, metavar="N", help="maximum number of particles in a treelet, 256 to 65536")
    group.add_argument("--block-particles", type=count, metavar="N", help="maximum number of particles in a block, 16 to 65536; 0 chooses it by "
                                                                            "--index-budget")
    group.add_argument("--index-budget", type=float, metavar="FRACTION",
                       help="largest fraction of the data that the block index and checksums may take, above 0 to 1 (0.0075 in new files); "
                            "chooses the block size")
    parser.add_argument("--threads", type=count, metavar="N", help="maximum number of threads; 0 (default): all processors")
    parser.add_argument("--flush", action=argparse.BooleanOptionalAction, default=True,
                        help="wait until all data is on disk (default)")
    parser.add_argument("--force", action="store_true", help="replace an existing OUT")
    add_json(parser)


def _targets(arguments):
    """Returns the files that are created or replaced."""
    yield arguments.out
    if is_series(arguments.file) and is_series(arguments.out):
        stem = arguments.out[:-len(".series")].removesuffix(".bat")
        for number in range(len(set(list_steps(arguments.file)))):
            yield f"{stem}_{number:04}.bat"


@contextlib.contextmanager
def _interrupts():
    """Yields a list to which an interrupt appends; nothing is raised meanwhile, since callbacks from C could not
    propagate an exception everywhere."""
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
    """Returns the exit code."""
    for path in () if arguments.force else _targets(arguments):
        if os.path.lexists(path):
            refuse(f"{path}: already exists; use --force to replace it")
    given = {name: getattr(arguments, name) for name in OPTIONS if getattr(arguments, name) is not None}
    with progress("repacking") as on_progress, _interrupts() as came:
        def should_continue(done):
            if on_progress:
                on_progress(done)
            return not came

        report = repack(arguments.file, arguments.out, progress=should_continue, flush=arguments.flush, **given)
    if arguments.json:
        print_json({"file": arguments.file, "out": arguments.out, **report.asdict()})
    else:
        show(f"{arguments.out}: {report.particles:,} particles, all verified; {report.bytes_after:,} bytes, previously {report.bytes_before:,}")
    return YES
