# SPDX-License-Identifier: BSD-3-Clause
"""parabat follow SERIES --ids ... --out OUT: follows chosen particles through all steps and writes them in the format
that the extension determines."""

import contextlib
import os

import numpy as np

from .. import dataset as datasets
from .._text import check_xml_names
from ..errors import BatError, refuse
from ..export import needed
from ..exporting.plain import write_csv, write_npz
from ..exporting.vtk import write_vtp
from ..following import follow
from ..tracks import Tracks, is_tracks
from ._common import YES, add_json, count, names_of, number_of, print_json, progress, say, show, split_numbers, list_steps
from ._temporary import replacing

MAX_RANGE_IDS = 10_000_000  # maximum number of ids in a list


def _csv(trails, path):
    columns = trails.columns()
    write_csv(columns, len(columns["time"]), path)


def _npz(trails, path):
    pairs = isinstance(trails.ids, tuple)
    arrays = {"times": trails.times, "steps": trails.steps.filled(-1), "counts": trails.counts,
              **{"ids" if not pairs else f"ids[{i}]": part for i, part in enumerate(trails.ids if pairs else (trails.ids,))},
              "positions": trails.positions.data}
    for name in trails:
        if name in arrays:
            refuse(f"two arrays would be called '{name}'; exclude one with --attributes")
    write_npz({**arrays, **{name: values.data for name, values in trails.items()}}, path)


def _vtp(trails, path):
    needed("pyvista", "trails as .vtp")
    check_xml_names(trails)
    write_vtp(trails.to_pyvista(), path)


FORMATS = {".npz": _npz, ".csv": _csv, ".vtp": _vtp}


def add_arguments(parser):
    """Adds the arguments of `follow`."""
    parser.add_argument("series", nargs="+", metavar="SERIES", help=".bat.series, .tracks.bat, or .bat and .pbat in the order of their steps")
    which = parser.add_argument_group("particles to follow")
    which.add_argument("--ids", nargs="+", action="extend", default=[], metavar="ID",
                       help="numbers separated by spaces or commas, ranges such as 5..90 (with 90), and with --second pairs such as 5:0 (default: all of one "
                            ".tracks.bat)")
    which.add_argument("--ids-file", action="append", default=[], metavar="FILE", help="file with ids as in --ids, separated by spaces, commas or line ends")
    which.add_argument("--id", metavar="NAME", help="attribute with the ids (default: the one called id, ids, particle_id ...)")
    which.add_argument("--second", metavar="NAME", help="attribute that makes ids unique in combination with them, for example cpu")
    parser.add_argument("--out", required=True, metavar="OUT", help=f"ends in {', '.join(FORMATS)}")
    parser.add_argument("--attributes", metavar="A,B", help="names of the attributes to read (default: all)")
    domain = parser.add_mutually_exclusive_group()
    domain.add_argument("--unwrap", action="store_true", help="extend tracks beyond the periodic domain stored in the files")
    domain.add_argument("--unwrap-box", type=float, nargs=6, metavar=("X0", "Y0", "Z0", "X1", "Y1", "Z1"),
                        help="the same with this domain; use -inf and inf for axes that are not periodic")
    parser.add_argument("--skip-damaged", action="store_true", help="skip files that are missing or damaged, with a warning")
    parser.add_argument("--threads", type=count, default=0, metavar="N", help="maximum number of threads; 0 (default): all processors")
    add_json(parser)


def _words(arguments):
    yield from split_numbers(arguments.ids)
    for path in arguments.ids_file:
        with open(path, encoding="utf-8") as file:
            try:
                text = file.read()
            except UnicodeDecodeError as error:
                refuse(f"--ids-file: {path} is not UTF-8 text ({error.reason} at byte {error.start}); allowed are numbers separated by spaces, commas "
                       "or line ends")
        yield from split_numbers([text])


def _ids(arguments):
    """Returns numbers, or pairs of them."""
    found = []
    for word in _words(arguments):
        if arguments.second is not None:
            parts = word.split(":")
            if len(parts) != 2:
                refuse(f"--ids: '{word}'; with --second, an id is a pair such as 5:0")
            found.append(tuple(number_of(part, False, "--ids") for part in parts))
        elif ".." in word:
            ends = [number_of(end, False, "--ids") for end in word.split("..", 1)]
            if not all(isinstance(end, int) for end in ends) or not 0 <= ends[1] - ends[0] < MAX_RANGE_IDS:
                refuse(f"--ids: '{word}'; a range has two whole numbers in ascending order, and at most {MAX_RANGE_IDS:,} ids")
            found += range(ends[0], ends[1] + 1)
        else:
            found.append(number_of(word, False, "--ids"))
    if not found:
        if len(arguments.series) == 1 and is_tracks(arguments.series[0]):
            return None
        refuse("no ids; use --ids or --ids-file")
    return found


def _attributes(arguments, paths):
    if arguments.attributes is None:
        return None
    for path in paths:
        if is_tracks(path):
            with contextlib.suppress(BatError):
                return names_of(arguments.attributes, Tracks(path))
        with contextlib.suppress(BatError), datasets.open(path) as dataset:
            return names_of(arguments.attributes, dataset)
    return [name for name in arguments.attributes.split(",") if name]


def run(arguments):
    """Returns the exit code."""
    ending = os.path.splitext(arguments.out)[1]
    if ending not in FORMATS:
        refuse(f"{arguments.out} ends in '{ending}'; allowed: {', '.join(FORMATS)}")
    ids = _ids(arguments)
    if ending == ".vtp":
        needed("pyvista", "trails as .vtp")  # before any work
    paths = [step for path in arguments.series for step in list_steps(path)]
    name = (arguments.id, arguments.second) if arguments.second is not None else arguments.id
    unwrap = "files" if arguments.unwrap else arguments.unwrap_box
    with progress("following") as on_progress:
        trails = follow(arguments.series, ids, _attributes(arguments, paths), id=name, unwrap=unwrap,
                        skip_damaged=arguments.skip_damaged, threads=arguments.threads, progress=on_progress)
    with replacing(arguments.out) as path:
        FORMATS[ending](trails, path)
    for problem in trails.problems:
        say(f"skipped: {problem.error}")
    if trails.advice:
        say(trails.advice)
    several = int(np.count_nonzero(np.any(trails.counts > 1, axis=0)))
    if several:
        say(f"{several:,} ids belong to several particles in a step; only the first is used. Use --second to specify an attribute that distinguishes "
            "them")
    found = int(np.count_nonzero(np.any(trails.present, axis=0)))
    requested, steps = trails.counts.shape[1], trails.counts.shape[0]
    if arguments.json:
        print_json({"series": arguments.series, "out": arguments.out, "ids": requested, "found": found,
                    "steps": steps, "points": int(np.count_nonzero(trails.present)), "of_several": several,
                    "left_out": [str(problem.error) for problem in trails.problems], "advice": trails.advice})
    else:
        show(f"{arguments.out}: {found:,} of {requested:,} ids in {steps:,} steps")
    return YES
