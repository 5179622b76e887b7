# SPDX-License-Identifier: BSD-3-Clause
"""A web server with faults, for tests of remote files.

    server.py FOLDER [--port N] [--host ADDRESS] [--tls CERTIFICATE KEY] [--latency SECONDS]
              [--bandwidth BYTES_PER_SECOND]

Prints its port, and serves the files of FOLDER with ranges and ETags. The first segment of a path
names a fault and its options: /status;code=503;after=2;times=1/data.bin answers the third request
with status 503. Requests are counted for each first segment; `id=...` makes segments different.

    after=N    the first N requests are answered without a fault (default 0)
    times=N    at most N requests are answered with it

Each request becomes a line of JSON in FOLDER/requests.log before it is answered.
"""

import argparse
import base64
import email.utils
import hashlib
import hmac
import http.server
import json
import os
import re
import socket
import ssl
import struct
import sys
import threading
import time
import urllib.parse

KEY_ID = "AKIDEXAMPLE"
SECRET = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
TOKEN = "session-token/with+characters=="
REGION = "eu-test-1"
DATE = 1700000000


def signature_fault(handler):
    """Returns the S3 code of a fault in the signature (AWS Signature Version 4), or None."""
    match = re.fullmatch(
        r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/s3/aws4_request, ?"
        r"SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})",
        handler.headers.get("Authorization", ""),
    )
    if not match:
        return "AccessDenied"
    key_id, day, region, names, signature = match.groups()
    if key_id != KEY_ID or region != REGION:
        return "InvalidAccessKeyId"
    signed = names.split(";")
    moment = handler.headers["x-amz-date"]
    required = {"host", "x-amz-date"} | {
        name.lower() for name in handler.headers if name.lower().startswith("x-amz-")
    }
    if not required <= set(signed) or signed != sorted(signed) or moment[:8] != day:
        return "SignatureDoesNotMatch"
    path, _, query = handler.path.partition("?")
    headers = "".join(
        f"{name}:{' '.join(handler.headers[name].split())}\n" for name in signed
    )
    payload = handler.headers.get("x-amz-content-sha256", hashlib.sha256(b"").hexdigest())
    canonical = "\n".join([handler.command, path, query, headers, names, payload])
    scope = f"{day}/{region}/s3/aws4_request"
    text = "\n".join(
        ["AWS4-HMAC-SHA256", moment, scope, hashlib.sha256(canonical.encode()).hexdigest()]
    )
    key = ("AWS4" + SECRET).encode()
    for part in (day, region, "s3", "aws4_request"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    if not hmac.compare_digest(hmac.new(key, text.encode(), hashlib.sha256).hexdigest(), signature):
        return "SignatureDoesNotMatch"
    return None


class Fault:
    """The first segment of a path."""

    def __init__(self, segment):
        self.name, *options = segment.split(";")
        self.options = dict(option.partition("=")[::2] for option in options)
        self.requests = 0

    def number(self, name, default):
        return int(self.options.get(name, default))

    def occurs(self, count):
        after = self.number("after", 0)
        return after < count <= after + self.number("times", 1 << 60)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *arguments):
        pass

    def do_GET(self):
        server = self.server
        with server.lock:
            server.active += 1
        try:
            if server.latency:
                time.sleep(server.latency)
            self.answer()
        except (BrokenPipeError, ConnectionResetError, ssl.SSLError):
            self.close_connection = True
        finally:
            with server.lock:
                server.active -= 1

    def answer(self):
        path = self.path.partition("?")[0]
        _, segment, *rest = path.split("/", 2)
        segment = urllib.parse.unquote(segment)
        name = urllib.parse.unquote(rest[0]) if rest else ""
        server = self.server
        with server.lock:
            fault = server.faults.setdefault(segment, Fault(segment))
            fault.requests += 1
            count = fault.requests
            line = {
                "path": self.path,
                "range": self.headers.get("Range", ""),
                "host": self.headers.get("Host", ""),
                "if_match": self.headers.get("If-Match", ""),
                "if_range": self.headers.get("If-Range", ""),
                "authorization": self.headers.get("Authorization", ""),
                "encodings": self.headers.get("Accept-Encoding", ""),
                "time": time.monotonic(),
                "active": server.active,
            }
            with open(os.path.join(server.folder, "requests.log"), "a") as log:
                log.write(json.dumps(line) + "\n")
        method = getattr(self, "fault_" + fault.name, None)
        if method and fault.occurs(count):
            method(fault, name)
        else:
            self.send_file(name)

    def status(self, code, headers=(), body=b""):
        self.send_response(code)
        for key, value in headers:
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def send_file(
        self, name, etag='"1"', modified=DATE, ranges=True, suffix=True, shift=0, share=1.0,
        encoding=None, stall=False, chunked=False, flip=False
    ):
        path = os.path.join(self.server.folder, name)
        try:
            size = os.path.getsize(path)
        except OSError:
            self.status(404)
            return
        versions = [("ETag", etag)] if etag else []
        if modified:
            versions.append(("Last-Modified", email.utils.formatdate(modified, usegmt=True)))
        expected = self.headers.get("If-Match")
        if expected and expected != etag:
            self.status(412)
            return
        requested = self.headers.get("Range") if ranges else None
        if requested and self.headers.get("If-Range", dict(versions).get("Last-Modified")) not in (
            dict(versions).get("Last-Modified"), etag
        ):
            requested = None
        first, last = 0, size - 1
        if requested:
            begin, end = re.fullmatch(r"bytes=(\d*)-(\d*)", requested).groups()
            if not begin and not suffix:
                self.status(416, [("Content-Range", f"bytes */{size}")])
                return
            first = int(begin) if begin else max(size - int(end), 0)
            last = min(int(end), size - 1) if begin and end else size - 1
            if first > last:
                self.status(416, [("Content-Range", f"bytes */{size}")])
                return
        with open(path, "rb") as file:
            file.seek(first)
            body = file.read(last + 1 - first)
        if flip:
            body = bytes([body[0] ^ 1]) + body[1:]
        self.send_response(206 if requested else 200)
        for key, value in versions:
            self.send_header(key, value)
        if encoding:
            self.send_header("Content-Encoding", encoding)
        if requested:
            self.send_header(
                "Content-Range", f"bytes {first + shift}-{last + shift}/{size}"
            )
        if chunked:
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if chunked:
            for at in range(0, len(body), 10000):
                part = body[at : at + 10000]
                self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
            self.wfile.write(b"0\r\n\r\n")
            return
        self.send_body(body[: int(len(body) * share)])
        if stall:
            self.wfile.flush()
            self.wait_for_client()
        if share != 1.0:
            self.close_connection = True

    def send_body(self, body):
        server = self.server
        if not server.bandwidth:
            self.wfile.write(body)
            return
        for at in range(0, len(body), 16384):
            part = body[at : at + 16384]
            with server.lock:  # one line for all connections
                begin = max(server.line_free, time.monotonic())
                server.line_free = begin + len(part) / server.bandwidth
                end = server.line_free
            time.sleep(max(0.0, end - time.monotonic()))
            self.wfile.write(part)

    def wait_for_client(self):
        """Waits until the client closes the connection."""
        try:
            self.connection.recv(1)
        except OSError:
            pass
        self.close_connection = True

    # Faults.

    def fault_status(self, fault, name):
        headers = [("Retry-After", fault.options["retry"])] if "retry" in fault.options else []
        body = fault.options.get("s3code", "")
        body = f"<Error><Code>{body}</Code></Error>" if body else ""
        self.status(fault.number("code", 503), headers, body.encode())

    def fault_noranges(self, fault, name):
        self.send_file(name, ranges=False)

    def fault_chunked(self, fault, name):
        self.send_file(name, ranges=False, chunked=True)

    def fault_nosuffix(self, fault, name):
        self.send_file(name, suffix=False)

    def fault_short(self, fault, name):
        self.send_file(name, share=0.5)

    def fault_shift(self, fault, name):
        self.send_file(name, shift=fault.number("by", 1))

    def fault_flip(self, fault, name):
        self.send_file(name, flip=True)

    def fault_gzip(self, fault, name):
        self.send_file(name, encoding="gzip")

    def fault_stall(self, fault, name):
        self.send_file(name, share=0.5, stall=True)

    def fault_silent(self, fault, name):
        self.wait_for_client()

    def fault_pause(self, fault, name):
        time.sleep(fault.number("ms", 100) / 1000)
        self.send_file(name)

    def fault_reset(self, fault, name):
        # A connection that is closed with lingering off is reset.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    def fault_changed(self, fault, name):
        """The object has another version. quiet: the server ignores If-Match."""
        if "quiet" in fault.options and "If-Match" in self.headers:
            del self.headers["If-Match"]
        self.send_file(name, etag='"2"', modified=DATE + 1)

    def fault_modified(self, fault, name):
        """Another version of a server that has no ETags."""
        self.send_file(name, etag=None, modified=DATE + fault.requests // 3)

    def fault_noetag(self, fault, name):
        self.send_file(name, etag=None)

    def fault_weak(self, fault, name):
        self.send_file(name, etag='W/"1"')

    def fault_noversion(self, fault, name):
        self.send_file(name, etag=None, modified=None)

    def fault_redirect(self, fault, name):
        target = fault.options["to"].replace("|", "/")
        location = f"{target}/{urllib.parse.quote(name)}"
        if "query" in fault.options:
            location += "?" + fault.options["query"]
        self.status(fault.number("code", 302), [("Location", location)])

    def fault_login(self, fault, name):
        expected = "Basic " + base64.b64encode(b"user:pass word").decode()
        if self.headers.get("Authorization") == expected:
            self.send_file(name)
        else:
            self.status(401, [("WWW-Authenticate", 'Basic realm="test"')])

    def fault_s3(self, fault, name):
        code = signature_fault(self)
        if "token" in fault.options and self.headers.get("x-amz-security-token") != TOKEN:
            code = code or "ExpiredToken"
        if code:
            self.status(403, (), f"<Error><Code>{code}</Code></Error>".encode())
        else:
            self.send_file(name.partition("/")[2])

    def fault_s3public(self, fault, name):
        if "Authorization" in self.headers:
            self.status(400)
        else:
            self.send_file(name.partition("/")[2])


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, options):
        self.address_family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
        super().__init__((options.host, options.port), Handler)
        self.folder = options.folder
        self.latency = options.latency
        self.bandwidth = options.bandwidth
        self.lock = threading.Lock()
        self.line_free = 0.0
        self.faults = {}
        self.active = 0

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], (OSError, ssl.SSLError)):
            super().handle_error(request, client_address)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--tls", nargs=2)
    parser.add_argument("--latency", type=float, default=0.0)
    parser.add_argument("--bandwidth", type=float, default=0.0)
    options = parser.parse_args()
    server = Server(options)
    if options.tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*options.tls)
        server.socket = context.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
    print(server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
