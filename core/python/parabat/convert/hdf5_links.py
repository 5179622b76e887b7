# SPDX-License-Identifier: BSD-3-Clause
"""HDF5 files without their links to other files.

A file can lead to others in three ways, which HDF5 follows silently: an external link in a group, an array whose values are
stored in other files (external storage), and an array that combines arrays of other files (a virtual data set). The other file
may be private. So a Group follows none of these without --follow-links, and notes each of them by name. It checks the kind of
every link on a path before it follows the link: HDF5 opens the other file even to find out whether an object exists.

Links within the file are followed. A link that leads back to itself, or nowhere, is left out of the members of its group.
"""

import os
import posixpath
import stat

import h5py
import numpy as np

from .model import ConvertError, listed

MAX_SOFT_LINKS = 16  # on the path to one object, as in HDF5
MAX_NOTES = 20       # about skipped links


class Unreachable(ConvertError):
    """A link is not followed, or leads nowhere."""


class _Loop(Unreachable):
    """A link leads back to itself."""


class _Links:
    """The treatment of a file's links: whether those to other files are followed, and the notes on them."""

    def __init__(self, follow, notes):
        """notes: a dict that receives a message for each link."""
        self.follow = follow
        self.notes = notes
        self._left_out = {}  # errors by group and name

    def note(self, error):
        """Notes that a link is left out."""
        if len(self.notes) < MAX_NOTES:
            self.notes.setdefault(f"link {error}", str(error))
        elif f"link {error}" not in self.notes:
            self.notes.setdefault("links", "more links are skipped and not listed")

    def find(self, group, path, budget=None):
        """Returns the object at a path. Raises KeyError if it does not exist, and Unreachable if a link on the path is not
        followed. budget: a list with the number of soft links that may still be followed."""
        budget = [MAX_SOFT_LINKS] if budget is None else budget
        node = _root_of(group) if path.startswith(b"/") else group
        for part in path.split(b"/"):
            if part in (b"", b"."):
                continue
            if not isinstance(node, h5py.Group):
                raise KeyError(path)
            node = self._child(node, part, budget)
        return self.wrapped(node, budget)

    def _child(self, group, name, budget):
        """Returns a member of a group."""
        links = group.id.links
        if not links.exists(name):
            raise KeyError(name)
        kind = links.get_info(name).type
        if kind == h5py.h5l.TYPE_HARD:
            return _object(group, name)
        key = *_key(group), name
        if key in self._left_out:
            kept = self._left_out[key]
            raise type(kept)(str(kept))
        before = budget[0]
        try:
            return self._linked(group, name, kind, budget)
        except Unreachable as error:
            if before == MAX_SOFT_LINKS or not isinstance(error, _Loop):  # otherwise an earlier link is the cause
                self._left_out[key] = error
            raise

    def _linked(self, group, name, kind, budget):
        """Returns the target of a link that is not a hard link."""
        links = group.id.links
        where = _shown(posixpath.join(_name_of(group), name))
        if kind == h5py.h5l.TYPE_SOFT:
            _spend(budget, where)
            try:
                return self.find(group, links.get_val(name), budget)
            except KeyError:
                raise Unreachable(f"{where}: is a broken link to {_shown(links.get_val(name))}") from None
            except _Loop:
                raise
            except Unreachable as error:
                raise Unreachable(f"{where}: is a link through {error}") from None
        if kind != h5py.h5l.TYPE_EXTERNAL:
            raise Unreachable(f"{where}: is a link of a kind unknown to HDF5")
        file, target = links.get_val(name)
        if _is_same(group, file):  # the link stays within the file
            _spend(budget, where)
            return self.find(_root_of(group), b"/" + target, budget)
        self._leave(where, f"is an external link to {_shown(target)} in the file {_shown(file)}", [(group, file)])
        try:
            return _object(group, name)
        except KeyError as error:
            raise ConvertError(f"{where}: is an external link to {_shown(target)} in the file {_shown(file)}, which cannot be "
                               f"opened: {str(error.args[0])[:200]}") from None

    def wrapped(self, node, budget):
        """Returns a Group that follows the same links, or an array whose values may be read."""
        if isinstance(node, Group):
            return node
        if isinstance(node, h5py.Group):
            return Group(node.id, self)
        if isinstance(node, h5py.Dataset):
            self._check_array(node, budget)
            return _typed(node)
        return node

    def _check_array(self, node, budget):
        about = node.id.get_create_plist()  # unlike the shape, this opens no other file
        layout = about.get_layout()
        if layout == h5py.h5d.CONTIGUOUS and about.get_external_count():
            files = [_bytes(about.get_external(i)[0]) for i in range(about.get_external_count())]
            self._leave(_shown(_name_of(node)), "has its values in " + _files(files), [(None, file) for file in files])
            return
        if layout != h5py.h5d.VIRTUAL:
            return
        others = []
        for i in range(about.get_virtual_count()):
            file, name = map(_bytes, (about.get_virtual_filename(i), about.get_virtual_dsetname(i)))
            if not _is_same(node, file) or b"%" in name:
                others.append(file)
                continue
            own = list(budget)
            _spend(own, _shown(_name_of(node)))
            try:
                self.find(_root_of(node), b"/" + name, own)
            except KeyError:
                pass  # the array has no values
            except _Loop:
                raise
            except Unreachable as error:
                raise Unreachable(f"{_shown(_name_of(node))}: combines {error}") from None
        if others:
            self._leave(_shown(_name_of(node)), "combines arrays in " + _files(others), [(node, file) for file in others])

    def _leave(self, where, what, files):
        """Notes that other files are read, or raises."""
        if not self.follow:
            raise Unreachable(f"{where}: {what}; use --follow-links to read it")
        for node, file in files:
            for place in _places(node, file):
                if os.path.exists(place):
                    if not stat.S_ISREG(os.stat(place).st_mode):  # opening a named pipe would block
                        raise ConvertError(f"{where}: {what}; {_shown(os.fsencode(place))} is not a regular file")
                    break
        self.notes.setdefault(f"link {where}", f"{where}: {what}, which is read")


class Array(h5py.Dataset):
    """Reads an array of a type that NumPy lacks. Integers of 3, 5, 6 or 7 bytes, such as the ids of Gadget-4, are read as 8
    bytes; other types are raw bytes, which no dataset can store."""

    @property
    def dtype(self):
        stored = self.id.get_type()
        if isinstance(stored, h5py.h5t.TypeIntegerID) and stored.get_size() < 8:
            return np.dtype("i8" if stored.get_sign() == h5py.h5t.SGN_2 else "u8")
        return np.dtype(f"V{stored.get_size()}")


def _typed(node):
    try:
        node.dtype  # pylint: disable=pointless-statement
        return node
    except TypeError:
        return Array(node.id)


class Group(h5py.Group):
    """A group that follows only the links that _Links allows, as do the groups in it."""

    def __init__(self, id_, links):
        super().__init__(id_)
        self._links = links

    def __getitem__(self, name):
        return self._links.find(self, _bytes(name))

    def __contains__(self, name):
        try:
            self[name]  # pylint: disable=pointless-statement
            return True
        except KeyError:
            return False
        except Unreachable as error:
            self._links.note(error)
            return False

    def __iter__(self):
        """Yields the names of reachable members."""
        for name in super().__iter__():
            if not isinstance(name, str):
                self._links.note(Unreachable(f"{_shown(posixpath.join(_name_of(self), name))}: is not valid UTF-8"))
            elif name in self:
                yield name

    def walk(self):
        """Yields (path, object) for all members of the group and of its groups, each object once. Skips soft links: their targets
        have paths of their own, or are not in the file."""
        seen = {_key(self)}
        waiting = [("", self)]
        while waiting:
            path, node = waiting.pop()
            if node is not self:
                yield path, node
            if not isinstance(node, Group):
                continue
            found = []
            for name in node:
                kind = node.id.links.get_info(_bytes(name)).type
                child = node[name] if kind != h5py.h5l.TYPE_SOFT else None
                if child is not None and _key(child) not in seen:
                    seen.add(_key(child))
                    found.append((posixpath.join(path, name), child))
            waiting += reversed(found)


def _spend(budget, where):
    budget[0] -= 1
    if budget[0] < 0:
        raise _Loop(f"{where}: is a circular link, or passes through more than {MAX_SOFT_LINKS} others")


def root(file, follow=False, notes=None):
    """Returns the root Group of an h5py.File."""
    return Group(h5py.h5g.open(file.id, b"/"), _Links(follow, {} if notes is None else notes))


def virtual_files(group, name):
    """Returns the names of the other files whose arrays a virtual array combines, in order, without opening them."""
    if not group.id.links.exists(_bytes(name)) or group.id.links.get_info(_bytes(name)).type != h5py.h5l.TYPE_HARD:
        return []
    node = _object(group, name)
    about = node.id.get_create_plist() if isinstance(node, h5py.Dataset) else None
    if about is None or about.get_layout() != h5py.h5d.VIRTUAL:
        return []
    files = dict.fromkeys(_bytes(about.get_virtual_filename(i)) for i in range(about.get_virtual_count()))
    return [os.fsdecode(file) for file in files if not _is_same(node, file)]


def _object(group, name):
    """Returns the h5py object of a member."""
    return h5py.Group(group.id)[name]


def _root_of(node):
    return h5py.Group(h5py.h5g.open(h5py.h5i.get_file_id(node.id), b"/"))


def _name_of(node):
    return h5py.h5i.get_name(node.id) or b"?"


def _key(node):
    about = h5py.h5o.get_info(node.id)
    return about.fileno, about.addr


def _bytes(name):
    return name if isinstance(name, bytes) else name.encode("utf-8", "surrogateescape")


def _shown(name):
    return name.decode("utf-8", "replace")


def _files(names):
    return "the file " * (len(set(names)) == 1) + listed(dict.fromkeys(map(_shown, names)), 3)


def _places(node, file):
    """Yields the paths where HDF5 looks for a file that an object names: in the folder of its file, then in the current one."""
    name = os.fsdecode(file)
    if node is not None:
        yield os.path.join(os.path.dirname(os.path.abspath(os.fsdecode(h5py.h5f.get_name(node.id)))), name)
    yield name


def _is_same(node, file):
    """Returns whether a file name is that of the object's own file."""
    if file == b".":
        return True
    own = os.path.realpath(os.fsdecode(h5py.h5f.get_name(node.id)))
    return os.path.realpath(next(_places(node, file))) == own
