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
_MAX_CHANGES = 5  # of a file while one part of it is read
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
    """The size and the version of one file of a store. last: what the store reported last, None at first."""

    def __init__(self, ask):
        self._ask = ask
        self._lock = threading.Lock()
        self._begun = 0  # how many questions to the store have begun
        self._facts = self.last = None

    def facts(self):
        """Returns the size and the version of the file, from a question to the store that begins after this call. Threads
        that wait share one."""
        before = self._begun
        with self._lock:
            if self._begun == before or self._facts is None:
                self._begun += 1
                self._facts = None
                self._facts = self.last = self._ask()
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

    def _get_version(self, file, path, first, count):
        """Returns bytes with the size and the version of the file to which they belong: as the store reports them both
        before and after."""
        before = file.last or file.facts()
        for _ in range(_MAX_CHANGES):
            data = self._get(file, path, first, count)
            after = file.facts()
            if after == before:
                return data, *after
            before = after
        raise ConnectionError("the file changes all the time")

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
        status = CANNOT_OPEN
        try:  # what left this function would count as success
            try:
                path = path.decode()
                path = self._root + (path if "://" in self._root else urllib.parse.unquote(path))
                file = self._files.setdefault(path, _File(lambda: self._ask(path)))
                data, answer.size, version = self._get_version(file, path, first, count)
                answer.version, answer.bytes = version.encode(), len(data)
                ctypes.memmove(to, bytes(data), len(data))
                status = 0
            except BaseException as error:  # pylint: disable=broad-except
                status, cause = _judge(error)
                text = ("does not exist in the store; check the address" if status == NOT_FOUND
                        else f"fsspec cannot read it: {_describe(cause)}")
                answer.message = text.encode(errors="replace")[:1023]
        finally:
            return status  # pylint: disable=lost-exception,return-in-finally


def _describe(error):
    """Returns the text of an error, without the queries and users of addresses in it, which may be secrets."""
    text = re.sub(r"//[^\s'\"]*@", "//", re.sub(r"\?[^\s'\"]*=[^\s'\"]*", "?...", " ".join(str(error).split())))
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _http_status(error):
    """Returns the status of the answer of a server that an error of aiohttp, botocore or others is about, or None."""
    for name in ("status", "status_code", "code"):
        if isinstance(getattr(error, name, None), int):
            return getattr(error, name)
    response = getattr(error, "response", None)
    return response.get("ResponseMetadata", {}).get("HTTPStatusCode") if isinstance(response, dict) else None


def _judge(error):
    """Returns NOT_FOUND, CANNOT_OPEN, or RETRY if another attempt may succeed; and the error to describe."""
    if isinstance(error, FileNotFoundError):
        cause = error.__cause__  # of http, every failure becomes a FileNotFoundError
        if cause is None or isinstance(cause, (FileNotFoundError, KeyError)) or _http_status(cause) in (404, 410):
            return NOT_FOUND, error
        error = cause
    status = _http_status(error)
    if status is not None and 400 <= status < 500:
        return RETRY if status in (408, 429) else CANNOT_OPEN, error
    if isinstance(error, (PermissionError, IsADirectoryError)):
        return CANNOT_OPEN, error
    # Errors of packages that use the network, other than those that Python and fsspec raise for wrong calls.
    is_of_network = isinstance(error, (OSError, EOFError)) or type(error).__module__.partition(".")[0] not in ("builtins", "fsspec")
    return RETRY if is_of_network else CANNOT_OPEN, error


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
        scheme, user = re.match(r"([^:]*://)((?:[^/?]*@)?)", inner).groups()
        root = scheme + user
        rest = encoded = inner[len(root):]
        shown = scheme
    else:
        root = "/" if inner.startswith("/") else ""
        rest = inner[len(root):]
        encoded = urllib.parse.quote(rest, safe="/", errors="surrogatepass")
        shown = path[:-len(rest)] if rest and path.endswith(rest) else f"{path.partition('://')[0]}://{root}"
        shown = re.sub(r"://.*@", "://", shown)
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
