# SPDX-License-Identifier: BSD-3-Clause
"""parabat serve [FILE]: serves the viewer and a dataset to browsers on this machine."""

import contextlib
import http.server
import os
import re
import sys
import threading
import urllib.parse
import webbrowser

from .._files import NOT_FOUND
from ..errors import BatError, refuse
from ..viewer import TAKEN, files_of, known_files, page_of, page_path
from ._common import is_series, naming_accepted_kinds, say
from ._temporary import interruptible

FIRST_PORT, PORTS = 8010, 50
BLOCK = 1 << 18
IDLE_SECONDS = 60  # seconds until an idle connection, or a client that accepts no bytes, is disconnected
WAITING = 128      # connections that wait to be accepted
_RANGE = re.compile(r"bytes=([0-9]{0,20})-([0-9]{0,20})")


def add_arguments(parser):
    """Adds the arguments of `serve`."""
    parser.add_argument("file", nargs="?", metavar="FILE", help=".bat or .bat.series; without it, files can be dropped on the page")
    parser.add_argument("--port", type=int, metavar="N", help=f"port; 0: any free one (default: the first free one from {FIRST_PORT})")
    parser.add_argument("--open", action="store_true", help="open the page in the browser")
    parser.add_argument("--viewer", metavar="PATH", help="the viewer page, if not that of this installation")


class _Published:
    """The content that is served; no other path is accessible."""

    def __init__(self, viewer, path):
        self._path = path
        self._known = known_files()
        self._turn = threading.Lock()
        self._name, self._files = (None, {}) if path is None else files_of(path, self._known)
        data = None if path is None else "data/" + urllib.parse.quote(os.fsencode(self._name))
        self.page = page_of(viewer, data)

    def open(self, name):
        """Returns an open file, or bytes. Raises BatError if the file does not exist or another one is in its
        place."""
        found = self._files.get(name)
        # A series may have new steps, and a dataset may have been replaced.
        if self._path is not None and is_series(self._path) and (found is None or name == self._name):
            found = self._find_again(name)
        if found is None:
            raise BatError(NOT_FOUND, "file not found")
        if isinstance(found, bytes):
            return found
        try:
            return found.open()
        except BatError:
            again = self._find_again(name)
            if again is None or again is found:
                raise
            return again.open()

    def _find_again(self, name):
        with self._turn:
            try:
                self._files = files_of(self._path, self._known)[1]
            except BatError:
                pass  # while its next step is written
            return self._files.get(name)


def parse_range(text, size):
    """Returns the first byte and the end that a Range header requests; None if it has no valid range. Raises IndexError
    if it is outside."""
    match = _RANGE.fullmatch(text or "")
    if not match or match.groups() == ("", ""):
        return None
    first, last = match.groups()
    if not first:
        begin, end = max(size - int(last), 0), size
    else:
        begin, end = int(first), min(int(last) + 1, size) if last else size
        if last and int(last) < begin:
            return None
    if begin >= end:
        raise IndexError(text)
    return begin, end


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = IDLE_SECONDS
    published = None  # the server's subclass

    def log_message(self, *unused):  # pylint: disable=arguments-differ
        """Prints nothing."""

    def handle(self):
        """Runs until the client disconnects or the time for its next request is over."""
        try:
            super().handle()
        except (ConnectionError, TimeoutError):
            self.close_connection = True

    def finish(self):
        """Ignores clients that have disconnected."""
        try:
            super().finish()
        except (ConnectionError, TimeoutError):
            pass

    def do_HEAD(self):
        """Like GET, without the body."""
        self._answer(False)

    def do_GET(self):
        """Sends the page, or bytes of a file."""
        self._answer(True)

    def _fail(self, status, text):
        body = (text + "\n").encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _answer(self, has_body):
        if self.headers.get("Content-Length") or self.headers.get("Transfer-Encoding"):
            self.close_connection = True  # an unread body would be taken for the next request
        # If another site's name resolves to this machine, requests from its pages carry that name.
        host = (self.headers.get("Host") or "").rpartition(":")[0] or self.headers.get("Host")
        if host not in ("127.0.0.1", "localhost"):
            self._fail(403, "this server only accepts 127.0.0.1")
            return
        path = os.fsdecode(urllib.parse.unquote_to_bytes(self.path.partition("?")[0].partition("#")[0]))
        if path in ("/", "/index.html"):
            self._send(self.published.page, "text/html; charset=utf-8", has_body)
            return
        try:
            found = self.published.open(path.removeprefix("/data/") if path.startswith("/data/") else None)
        except BatError as error:
            self._fail(404, "file not found" if error.status == NOT_FOUND else os.fsencode(str(error)).decode(errors="replace"))
            return
        if isinstance(found, bytes):
            self._send(found, "application/json", has_body)
        else:
            with found:
                self._send_file(found, has_body)

    def _send(self, body, kind, has_body):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-cache")
        self.end_headers()
        for first in range(0, len(body) if has_body else 0, BLOCK):
            self.wfile.write(body[first:first + BLOCK])

    def _send_file(self, file, has_body):
        about = os.fstat(file.fileno())
        try:
            span = parse_range(self.headers.get("Range"), about.st_size)
        except IndexError:
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{about.st_size}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        begin, end = span or (0, about.st_size)
        self.send_response(206 if span else 200)
        if span:
            self.send_header("Content-Range", f"bytes {begin}-{end - 1}/{about.st_size}")
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(end - begin))
        self.send_header("ETag", f'"{about.st_mtime_ns:x}-{about.st_size:x}"')
        self.send_header("Cache-Control", "no-cache")
        self.end_headers()
        file.seek(begin)
        left = end - begin if has_body else 0
        while left > 0:
            block = file.read(min(BLOCK, left))
            if not block:  # the file was truncated meanwhile
                self.close_connection = True
                return
            self.wfile.write(block)
            left -= len(block)


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = WAITING

    def handle_error(self, request, client_address):
        """Prints one line."""
        error = sys.exc_info()[1]
        if not isinstance(error, (ConnectionError, TimeoutError)):  # from disconnected clients
            say(f"{type(error).__name__}: {error}")


def _bound(port, handler):
    for one in [port] if port is not None else range(FIRST_PORT, FIRST_PORT + PORTS):
        try:
            return _Server(("127.0.0.1", one), handler)
        except (OSError, OverflowError) as error:
            last = error
    return refuse(f"--port {one}: {getattr(last, 'strerror', None) or last}; use a free port, or 0 to choose one automatically")


def run(arguments):
    """Returns the exit code."""
    with naming_accepted_kinds(arguments.file, "serve", TAKEN) if arguments.file is not None else contextlib.nullcontext():
        published = _Published(arguments.viewer or page_path(), arguments.file)
    with _bound(arguments.port, type("Handler", (_Handler,), {"published": published})) as server:
        address = f"http://127.0.0.1:{server.server_port}/"
        print(address)
        if sys.stdout.isatty():
            print("press Ctrl-C to stop", file=sys.stderr)
        sys.stdout.flush()
        if arguments.open:
            webbrowser.open(address)
        try:
            with interruptible():
                server.serve_forever()
        except KeyboardInterrupt:
            pass  # the normal way to stop
    return 0
