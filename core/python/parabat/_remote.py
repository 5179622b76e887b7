# SPDX-License-Identifier: BSD-3-Clause
"""Addresses that the library does not reach itself are read through fsspec: other stores (gs://, az://, sftp://), and all
addresses with storage_options. The library calls a function of this module for each part of a file."""

import atexit
import ctypes
import hashlib
import importlib.util
import os
import re
import threading
import urllib.parse

from ._extras import install
from ._files import CANNOT_OPEN, NOT_FOUND, SHOWN, display_name, is_address
from ._library import check, library
from .errors import INVALID_ARGUMENT, BatError, BatImportError, BatTypeError, refuse
from .errors import shown as shown_value

RETRY = -1  # BAT_READER_RETRY
_OWN = ("http", "https", "s3")  # schemes of the library
# What stores report about a file that differs for another version of it.
_VERSION = ("ETag", "etag", "content_md5", "Content-MD5", "md5Hash", "crc32c", "generation", "VersionId", "version_id", "LastModified",
            "Last-Modified", "last_modified", "updated", "mtime", "ino", "created")


class _Answer(ctypes.Structure):
    """bat_reader_answer of bat/bat.h."""
    _fields_ = [("bytes", ctypes.c_uint64), ("size", ctypes.c_uint64), ("version", ctypes.c_char * 256),
                ("message", ctypes.c_char * 1024)]


_READ = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int64, ctypes.c_uint64, ctypes.c_void_p,
                         ctypes.POINTER(_Answer))


class _File:
    """The version of one file of a store."""

    def __init__(self, ask):
        self._ask = ask
        self._lock = threading.Lock()
        self._begun = 0  # how many questions to the store have begun
        self._facts = None

    def facts(self):
        """Returns the size and the version of the file, from a question to the store that begins after this call. Threads
        that wait share one."""
        before = self._begun
        with self._lock:
            if self._begun == before or self._facts is None:
                self._begun += 1
                self._facts = None
                self._facts = self._ask()
            return self._facts


class _Reader:
    """Reads the files of one file system of fsspec for the library. root: the beginning of its paths that is not in
    addresses. shown: the beginning of its addresses in messages."""

    def __init__(self, system, root, shown):
        self._system, self._root = system, root
        self._files = {}
        self._function = _READ(self._read)  # the library keeps a pointer to it
        self._handle = ctypes.c_void_p()
        check(library().bat_reader_create(self._function, None, shown.encode(), ctypes.byref(self._handle)))
        library().bat_reader_address.restype = ctypes.c_char_p
        self.address = library().bat_reader_address(self._handle).decode()
        SHOWN[self.address] = shown

    def close(self):
        """Waits for requests that run."""
        library().bat_reader_free(self._handle)

    def _ask(self, path):
        self._system.invalidate_cache(path)
        info = self._system.info(path)
        if info.get("type") == "directory":
            raise IsADirectoryError("is a folder")
        if info.get("size") is None:
            raise ValueError("the store does not report the size of the file")
        facts = [f"{key}={info[key]}" for key in _VERSION if info.get(key) is not None]
        return int(info["size"]), hashlib.sha256("\n".join(facts).encode()).hexdigest() if facts else ""

    def _get(self, file, path, first, count):
        try:
            data = self._system.cat_file(path, start=first, end=None if first < 0 else first + count)
        except (OSError, ValueError):
            if first < 0 or first < file.facts()[0]:
                raise
            return b""  # the file has become shorter, which the library finds by its size
        if len(data) > count:
            raise ValueError(f"the store sent {len(data)} bytes instead of {count}; it does not support ranges")
        return data

    def _read(self, _data, path, first, count, to, answer):
        answer = answer.contents
        try:
            path = path.decode()
            path = self._root + (path if "://" in self._root else urllib.parse.unquote(path))
            file = self._files.setdefault(path, _File(lambda: self._ask(path)))
            data = self._get(file, path, first, count)
            # Asked for after the bytes, which therefore are of this version or of an older one.
            answer.size, version = file.facts()
            answer.version, answer.bytes = version.encode(), len(data)
            ctypes.memmove(to, bytes(data), len(data))
            return 0
        except FileNotFoundError:
            answer.message = b"does not exist in the store; check the address"
            return NOT_FOUND
        except BaseException as error:  # pylint: disable=broad-except
            answer.message = f"fsspec cannot read it: {_describe(error)}".encode()[:1023]
            return CANNOT_OPEN if _is_final(error) else RETRY


def _describe(error):
    """Returns the text of an error, without the queries and users of addresses in it, which may be secrets."""
    text = re.sub(r"//[^\s'\"]*@", "//", re.sub(r"\?[^\s'\"]*=[^\s'\"]*", "?...", " ".join(str(error).split())))
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _is_final(error):
    """Returns whether another attempt would fail, too."""
    status = getattr(error, "status", None) or getattr(error, "code", None)
    if isinstance(status, int):
        return 400 <= status < 500 and status not in (408, 429)
    return not isinstance(error, (OSError, TimeoutError)) or isinstance(error, (PermissionError, IsADirectoryError))


_readers = {}  # by file system, root and shown beginning; each lives as long as the process
_making = threading.Lock()


@atexit.register
def _close():
    """No request may run when the interpreter ends. A store that does not answer cannot delay that for long."""
    def close():
        for reader in _readers.values():
            reader.close()
    if _readers:
        thread = threading.Thread(target=close, daemon=True)
        thread.start()
        thread.join(5)


def _open(path, options):
    """Returns the file system of fsspec for an address, and the path in it."""
    try:
        import fsspec  # pylint: disable=import-outside-toplevel
    except ImportError:
        raise BatImportError(INVALID_ARGUMENT, f"{display_name(path)}: is read through fsspec, which is not installed: {install('fsspec')}") \
            from None
    try:
        return fsspec.core.url_to_fs(path, **options)
    except ImportError as error:
        raise BatImportError(INVALID_ARGUMENT, f"{display_name(path)}: fsspec needs another package: {_describe(error)}") from None
    except Exception as error:  # pylint: disable=broad-except
        raise BatError(CANNOT_OPEN, f"{display_name(path)}: fsspec cannot open it: {_describe(error)}") from None


def _through_fsspec(path, options):
    system, inner = _open(path, options)
    if "://" in inner:  # of http, whose paths are addresses
        root = inner[:inner.index("://") + 3]
        rest = encoded = inner[len(root):]
        shown = root
    else:
        root = "/" if inner.startswith("/") else ""
        rest = inner[len(root):]
        encoded = urllib.parse.quote(rest, safe="/")
        shown = path[:-len(rest)] if rest and path.endswith(rest) else f"{path.partition('://')[0]}://{root}"
    if not rest:
        refuse(f"{display_name(path)}: is not the address of a file")
    with _making:
        key = (system, root, shown)
        if key not in _readers:
            _readers[key] = _Reader(system, root, shown)
        return _readers[key].address + encoded


def resolve(value, storage_options=None):
    """Returns the path or address by which the library opens a file: of a store that it does not reach, or with
    storage_options, an address that is read through fsspec. The options may contain secrets; they stay in this process."""
    if storage_options is not None and not isinstance(storage_options, dict):
        raise BatTypeError(  # without the value, which may be a secret
            INVALID_ARGUMENT, f"storage_options: a {type(storage_options).__name__}; allowed: dicts, and None")
    path = os.fspath(value) if isinstance(value, (str, os.PathLike)) else None
    if not isinstance(path, str) or not is_address(path):
        if storage_options is not None:
            refuse(f"storage_options apply to addresses, such as s3://bucket/x.bat; found {shown_value(value)}")
        return value
    scheme = path.partition("://")[0].lower()
    if scheme in ("reader", "file"):
        return value
    if storage_options is None and scheme in _OWN:
        if library().bat_has_libcurl() or importlib.util.find_spec("fsspec") is None:
            return value
    return _through_fsspec(path, storage_options or {})


def agree(comm, name):
    """Raises on all ranks if they do not read by the same address. Collective with a communicator. Only rank 0's path is
    used, and the addresses of readers are valid on ranks that made them in the same order."""
    if comm is None or not hasattr(comm, "allgather"):
        return
    names = comm.allgather(name)
    if names[0] and names[0].startswith(b"reader://") and any(other != names[0] for other in names):
        refuse("all ranks must pass the path and the storage_options of a dataset that is read through fsspec, and open such "
               "datasets in the same order")
