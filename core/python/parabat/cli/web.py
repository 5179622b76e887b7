# SPDX-License-Identifier: BSD-3-Clause
"""parabat web FILE FOLDER: creates a folder to publish on any web server, with the viewer and the
data."""

import os
import urllib.parse

from .._files import CORRUPT, TRUNCATED
from ..errors import BatError, refuse
from ..viewer import TAKEN, files_of, page_of, page_path
from ._common import add_json, print_json, progress, naming_accepted_kinds, show
from ._temporary import replacing_folder

BLOCK = 8 << 20


def add_arguments(parser):
    """Adds the arguments of `web`."""
    parser.add_argument("file", metavar="FILE", help=".bat or .bat.series")
    parser.add_argument("folder", metavar="FOLDER", help="folder to create, with the page FOLDER/index.html and the data in FOLDER/data")
    parser.add_argument("--link", action="store_true",
                        help="use hard links instead of copies, for data on the same file system that is never modified in place")
    parser.add_argument("--viewer", metavar="PATH", help="the viewer page, if not that of this installation")
    parser.epilog = ("Serve the folder with any server that supports byte ranges: GitHub Pages, S3, nginx, 'parabat serve FILE'. Python's http.server "
                     "does not.")
    add_json(parser)


def _copy(source, target, on_progress):
    with source.open() as given, open(target, "xb") as made:
        left = source.size
        while left > 0:
            block = given.read(min(BLOCK, left))
            if not block:
                raise BatError(TRUNCATED, f"{source.path}: was truncated while being copied")
            made.write(block)
            left -= len(block)
            on_progress(len(block))


def _link(source, target):
    """Creates a hard link to the file whose descriptor was checked."""
    with source.open() as given:
        os.link(os.path.realpath(source.path), target)
        if not os.path.samestat(os.lstat(target), os.fstat(given.fileno())):
            raise BatError(CORRUPT, f"{source.path}: was replaced while being linked")


def _fill(folder, files, is_linked, on_progress):
    for name, source in files.items():
        target = os.path.join(folder, "data", *name.split("/"))
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if isinstance(source, bytes):
            with open(target, "xb") as file:
                file.write(source)
        elif is_linked:
            _link(source, target)
        else:
            _copy(source, target, on_progress)


def run(arguments):
    """Returns the exit code."""
    viewer = arguments.viewer or page_path()
    with naming_accepted_kinds(arguments.file, "web", TAKEN):
        name, files = files_of(arguments.file)
    page = page_of(viewer, "data/" + urllib.parse.quote(os.fsencode(name)))
    if os.path.lexists(arguments.folder) and (not os.path.isdir(arguments.folder) or os.listdir(arguments.folder)):
        refuse(f"{arguments.folder}: already exists; the folder must be new or empty")
    sources = [one for one in files.values() if not isinstance(one, bytes)]
    for source in sources:  # before anything is copied
        source.open().close()
    total = sum(source.size for source in sources)
    with replacing_folder(arguments.folder) as work, progress("copying") as bar:
        done = 0

        def on_progress(count):
            nonlocal done
            done += count
            if bar:
                bar(done / max(total, 1))

        _fill(work, files, arguments.link, on_progress)
        with open(os.path.join(work, "index.html"), "xb") as file:
            file.write(page)
    if arguments.json:
        print_json({"folder": arguments.folder, "files": len(files) + 1, "bytes": total + len(page)})
    else:
        show(f"{arguments.folder}: {len(files) + 1:,} files, {total + len(page):,} bytes")
    return 0
