# SPDX-License-Identifier: BSD-3-Clause
"""Provides the browser viewer, a single HTML file, and lists the files that it needs."""

from __future__ import annotations

import json
import os
import pathlib

from . import dataset as datasets
from ._files import open_regular
from ._sources import SourceFile, sources_of
from .errors import refuse
from .series import read_series

PAGE = "viewer.html"
TAKEN = (".bat", ".bat.series")  # readable by browsers
_PLACE = '<script type="application/json" id="published">{}</script>'


def page_path() -> pathlib.Path:
    """Returns the path of the page: in the installed package, else in the source tree or a build
    tree.

    Raises BatValueError if the page was not built.
    """
    here = pathlib.Path(os.path.abspath(__file__)).parent
    places = [here / PAGE]
    for start in dict.fromkeys((here, here.resolve())):
        places += [parent / folder / PAGE for parent in start.parents
                   for folder in ("web/core/web/dist", "core/web/dist", "build/web/core/web/dist")]
    for place in places:
        if place.is_file():
            return place
    refuse(f"{PAGE} is not in {here}: it is built if node and npm are available when parabat is installed. To build it in a checkout, run 'bash "
           "core/web/make.sh build/web viewer' and pass it with --viewer")
    return None


def page_of(viewer: str | os.PathLike, data: str | None) -> bytes:
    """Returns the page, set to open `data`, a URL relative to its own, automatically; None for
    nothing."""
    with open_regular(viewer) as file:
        page = file.read()
    if page.count(_PLACE.encode()) != 1:
        refuse(f"{os.fspath(viewer)}: is not a {PAGE} of this version, which has '{_PLACE}' once")
    # Inside an HTML script only valid JSON is safe: names may contain <.
    reported = json.dumps({} if data is None else {"data": data}).replace("<", "\\u003c")
    return page.replace(_PLACE.encode(), _PLACE.replace("{}", reported).encode())


def _beside(path, name):
    """Returns a name relative to a folder, with / as separator, or None if it is not inside."""
    relative = os.path.relpath(path, name)
    parts = relative.split(os.sep)
    return None if os.path.isabs(relative) or os.pardir in parts else "/".join(parts)


_CLASH = "its files cannot be published next to each other: two of them need one name, or the name of a folder"


class _Known(dict):
    """SourceFiles of datasets that were opened before, by path and file status."""

    def sources(self, path):
        """Opens, and thereby checks, a dataset that is new or has changed."""
        try:
            status = os.stat(path)
            key = path, status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
        except OSError:
            key = None  # opening it reports the problem
        if key not in self or key is None:
            with datasets.open(path) as dataset:
                _ = dataset.leaves  # this verifies their names
                self[key] = sources_of(path)
        return self[key]


def _files_of_dataset(path, name, known):
    """Returns (published name, SourceFile) of each file of a dataset that is published as
    `name`."""
    own, *leaves = known.sources(path)
    base, folder = os.path.dirname(name), os.path.dirname(os.path.realpath(path))
    return [(name, own), *((os.path.join(base, os.path.relpath(leaf.path, folder)), leaf) for leaf in leaves)]


def _is_same(one, other):
    return all(isinstance(each, SourceFile) for each in (one, other)) and (
        os.path.realpath(one.path) == os.path.realpath(other.path))


class _Site:
    """Files by published name; a name cannot be that of another file, or of a folder."""

    def __init__(self):
        self.files = {}
        self._folders = set()

    def take(self, found):
        """Adds (name, source) pairs, or none of them if a name is taken. Returns whether it did."""
        own, folders = {}, set()
        for name, source in found:
            other = own.get(name, self.files.get(name))
            if other is not None and not _is_same(other, source):
                return False
            own[name] = source
            while name := os.path.dirname(name):
                folders.add(name)
        if self._folders & own.keys() or folders & self.files.keys() or folders & own.keys():
            return False
        self.files.update(own)
        self._folders |= folders
        return True


def files_of(path: str | os.PathLike, known: dict | None = None) -> tuple[str, dict[str, SourceFile | bytes]]:
    """Returns what to publish for a .bat or .bat.series file: the name of the file to open, and a dict from
    names, which are relative and have / as separator, to files or their bytes.

    known: the result of an earlier call, or an empty known_files(), which this call fills. Raises
    BatNotFoundError, BatError; BatValueError for a file that browsers cannot read.
    """
    path = os.fspath(path)
    known = known_files() if known is None else known
    name = os.path.basename(path)
    if name.endswith(".pbat"):
        refuse(f"{path}: browsers read .bat; convert a .pbat with 'parabat repack'")
    if not name.endswith(".series"):
        site = _Site()
        if not site.take(_files_of_dataset(path, name, known)):
            refuse(f"{path}: {_CLASH}")
        return name, site.files
    site, listed = _Site(), []
    site.take([(name, b"")])
    for number, step in enumerate(read_series(path)):
        if step.path.endswith(".pbat"):
            refuse(f"{step.path}: browsers read .bat; convert a .pbat with 'parabat repack'")
        for own in _names_for(step.path, number, path):
            if site.take(_files_of_dataset(step.path, own, known)):
                break
        else:
            refuse(f"{step.path}: {_CLASH}")
        listed.append({"name": own, "time": step.time})
    if not listed:
        refuse(f"{path}: a series without steps")
    site.files[name] = json.dumps({"file-series-version": "1.0", "files": listed}).encode()
    return name, site.files


def _names_for(path, number, series):
    """Returns names under which a step can be published, the best one first. Lists are text, but
    some bytes of names are not."""
    own = _beside(path, os.path.dirname(series) or os.curdir)
    text = "".join("_" if "\ud800" <= letter <= "\udfff" else letter for letter in os.path.basename(path))
    if own is not None and own == os.fsencode(own).decode(errors="replace"):
        yield own
    yield from (f"{number:05}-{text}", f"{number:05}/{text}", f"{number:05}/{number:05}/{text}")


known_files = _Known
