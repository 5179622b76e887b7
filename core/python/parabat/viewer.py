# SPDX-License-Identifier: BSD-3-Clause
"""The viewer for browsers, one HTML file, and the files that it needs beside it."""

from __future__ import annotations

import json
import os
import pathlib

from . import dataset as datasets
from .errors import refuse
from .series import read_series

PAGE = "viewer.html"
_PLACE = '<script type="application/json" id="published">{}</script>'


def page_path() -> pathlib.Path:
    """Where the page lies: in the package where it is installed, else in the source tree or a build tree.

    Raises BatValueError if it was not built.
    """
    here = pathlib.Path(os.path.abspath(__file__)).parent
    places = [here / PAGE]
    for start in dict.fromkeys((here, here.resolve())):
        places += [parent / folder / PAGE for parent in start.parents
                   for folder in ("web/core/web/dist", "core/web/dist", "build/web/core/web/dist")]
    for place in places:
        if place.is_file():
            return place
    refuse(f"{PAGE} is not in {here}: it is made where node and npm are when parabat is installed. With them, "
           "'bash core/web/make.sh build/web viewer' in a checkout makes it, and --viewer names it")
    return None


def page_of(viewer: str | os.PathLike, data: str | None) -> bytes:
    """The page, which opens `data`, an address relative to its own, by itself; None for nothing."""
    with open(viewer, encoding="utf-8") as file:
        page = file.read()
    if page.count(_PLACE) != 1:
        refuse(f"{os.fspath(viewer)}: is no {PAGE} of this version, which has '{_PLACE}' once")
    # In a script of HTML nothing but JSON may be: names have < too.
    told = json.dumps({} if data is None else {"data": data}).replace("<", "\\u003c")
    return page.replace(_PLACE, _PLACE.replace("{}", told)).encode()


def _beside(path, name):
    """A name relative to a folder, with / between its parts, or None if it is not inside."""
    relative = os.path.relpath(path, name)
    parts = relative.split(os.sep)
    return None if os.path.isabs(relative) or os.pardir in parts else "/".join(parts)


def _files_of_dataset(path, name):
    """Published name and path of a dataset's files."""
    with datasets.open(path) as dataset:
        leaves = dataset.leaves
    yield name, path
    real = os.path.realpath(path)
    folder = os.path.dirname(real)
    base = name.rpartition("/")[0]
    for leaf in leaves:
        if os.path.realpath(leaf.path) != real:
            own = _beside(os.path.join(os.path.realpath(os.path.dirname(leaf.path)), os.path.basename(leaf.path)), folder)
            own = own or _beside(os.path.abspath(leaf.path), os.path.dirname(os.path.abspath(path)))
            if own is None:
                refuse(f"{path}: its leaf file {leaf.path} is in another folder; allowed: beside it or below")
            yield (f"{base}/{own}" if base else own), leaf.path


def files_of(path: str | os.PathLike) -> tuple[str, dict[str, str | os.PathLike | bytes]]:
    """What has to be published for a .bat or .bat.series file: the name of the file to open, and of each name,
    which is relative and has / between its parts, the path of the file, or its bytes.

    Raises BatNotFoundError, BatError; BatValueError for a file that browsers cannot read.
    """
    path = os.fspath(path)
    name = os.path.basename(path)
    if name.endswith(".pbat"):
        refuse(f"{path}: browsers read .bat; 'parabat repack' makes one of a .pbat")
    if not name.endswith(".series"):
        return name, dict(_files_of_dataset(path, name))
    files, listed = {}, []
    for number, step in enumerate(read_series(path)):
        if step.path.endswith(".pbat"):
            refuse(f"{step.path}: browsers read .bat; 'parabat repack' makes one of a .pbat")
        own = _beside(step.path, os.path.dirname(path) or os.curdir) or f"{number:05}-{os.path.basename(step.path)}"
        text = "".join("_" if "\ud800" <= letter <= "\udfff" else letter for letter in os.path.basename(own))
        if own != os.fsencode(own).decode(errors="replace"):
            own = f"{number:05}-{text}"  # lists are text, and some bytes of names are none
        files.update(_files_of_dataset(step.path, own))
        listed.append({"name": own, "time": step.time})
    if not listed:
        refuse(f"{path}: a series without steps")
    files[name] = json.dumps({"file-series-version": "1.0", "files": listed}).encode()
    return name, files
