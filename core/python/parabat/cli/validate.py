# SPDX-License-Identifier: BSD-3-Clause
"""parabat validate FILE...: checks every checksum and every rule of the format; every block of .idx,
and every brick of .bricks."""

from .. import dataset as datasets
from .. import idx
from ..errors import BatError, BatNotFoundError
from ..tracks import Tracks, is_tracks
from ._bricks import is_bricks
from ._bricks import validate as validate_bricks
from ._common import NO, YES, add_json, in_turn, print_json, progress, say, show, list_steps
from ._grids import validate as validate_grid


def add_arguments(parser):
    """Adds the arguments of `validate`."""
    parser.add_argument("files", nargs="+", metavar="FILE", help=".bat, .pbat, .tracks.bat, .idx, .bricks, or .bat.series and "
                        ".bricks.series with all their steps")
    add_json(parser)


def _problem(path):
    """Returns the first problem, or None, and the number of particles."""
    try:
        if is_tracks(path):
            tracks = Tracks(path)
            tracks.validate()
            return None, int(tracks.particles.sum())
        with datasets.open(path) as dataset:
            dataset.validate()
            return None, len(dataset)
    except BatNotFoundError:
        raise
    except BatError as error:
        if error.status not in (3, 4, 5, 6):  # errors that are not the file's
            raise
        return str(error), None


def run(arguments):
    """Returns the exit code."""
    paths = []
    code = in_turn(arguments.files, lambda given: paths.extend([given] if is_bricks(given) else list_steps(given)) or YES)
    with progress("validating") as on_progress:
        def check(numbered):
            done, path = numbered
            if on_progress and len(paths) > 1:
                on_progress(done / len(paths))
            if idx.can_open(path):
                return validate_grid(path, arguments.json, on_progress if len(paths) == 1 else None)
            if is_bricks(path):
                return validate_bricks(path, arguments.json)
            problem, particles = _problem(path)
            if arguments.json:
                print_json({"file": path, "sound": problem is None, "particles": particles, "problem": problem})
            elif problem is None:
                show(f"{path}: valid, {particles:,} particles")
            else:
                say(problem)
            return YES if problem is None else NO

        return max(code, in_turn(enumerate(paths), check))
