# SPDX-License-Identifier: BSD-3-Clause
"""parabat web FILE FOLDER: a folder to publish on any web server, with the viewer and the data."""

import os
import shutil
import tempfile
import urllib.parse

from ..errors import refuse
from ..viewer import files_of, page_of, page_path
from ._common import add_json, print_json, progress

BLOCK = 8 << 20


def add_arguments(parser):
    """Of `web`."""
    parser.add_argument("file", metavar="FILE", help=".bat or .bat.series")
    parser.add_argument("folder", metavar="FOLDER", help="to be made; the page is FOLDER/index.html, the data is in FOLDER/data")
    parser.add_argument("--link", action="store_true",
                        help="hard links in place of copies, for data in the same file system that nobody changes in place")
    parser.add_argument("--viewer", metavar="PATH", help="the page, where it is not that of this installation")
    parser.epilog = ("Any server that answers byte ranges serves the folder: GitHub Pages, S3, nginx, 'parabat serve FILE'. "
                     "Python's http.server does not.")
    add_json(parser)


def _copy(source, target, told):
    with open(source, "rb") as given, open(target, "xb") as made:
        while block := given.read(BLOCK):
            made.write(block)
            told(len(block))


def _fill(folder, files, is_linked, told):
    for name, source in files.items():
        target = os.path.join(folder, "data", *name.split("/"))
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if isinstance(source, bytes):
            with open(target, "xb") as file:
                file.write(source)
        elif is_linked:
            os.link(os.path.realpath(source), target)
        else:
            _copy(source, target, told)


def run(arguments):
    """The exit code."""
    viewer = arguments.viewer or page_path()
    name, files = files_of(arguments.file)
    page = page_of(viewer, "data/" + urllib.parse.quote(os.fsencode(name)))
    aim = os.path.realpath(arguments.folder)
    if os.path.lexists(aim) and (not os.path.isdir(aim) or os.listdir(aim)):
        refuse(f"{arguments.folder}: is there already; allowed is a folder that does not exist, or is empty")
    total = sum(os.path.getsize(one) for one in files.values() if not isinstance(one, bytes))
    os.makedirs(os.path.dirname(aim), exist_ok=True)
    work = tempfile.mkdtemp(prefix=".parabat-", dir=os.path.dirname(aim))  # it appears when it is whole
    try:
        with progress("copying") as bar:
            done = 0

            def told(count):
                nonlocal done
                done += count
                if bar:
                    bar(done / max(total, 1))

            _fill(work, files, arguments.link, told)
        with open(os.path.join(work, "index.html"), "xb") as file:
            file.write(page)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(work, 0o777 & ~mask)
        os.rename(work, aim)
    except BaseException:
        shutil.rmtree(work, ignore_errors=True)
        raise
    if arguments.json:
        print_json({"folder": arguments.folder, "files": len(files) + 1, "bytes": total + len(page)})
    else:
        print(f"{arguments.folder}: {len(files) + 1:,} files, {total + len(page):,} bytes")
    return 0
