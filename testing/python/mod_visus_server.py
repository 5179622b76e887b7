# SPDX-License-Identifier: BSD-3-Clause
"""A mod_visus server for tests, which answers block queries as OpenVisus 2.2.149 does.

It reads the blocks of an arco dataset. The first segment of a path names a fault: /cut/mod_visus.
"""
import http.server
import pathlib
import threading
import urllib.parse

import numpy as np
from arco_grids import BITS_PER_BLOCK, FIELDS


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 64


class ModVisus:
    """Serves the arco datasets of a folder. layouts: that of each dataset."""

    def __init__(self, folder, layouts):
        self.folder, self.layouts, self.requests = pathlib.Path(folder), layouts, []
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def log_message(self, *arguments):
                pass

            def do_GET(self):
                url = urllib.parse.urlsplit(self.path)
                query = dict(urllib.parse.parse_qsl(url.query, keep_blank_values=True))
                server.requests.append(query)
                status, headers, body = server.answer(url.path.split("/")[1], query)
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        self.http = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def address(self, name, fault="plain", more=""):
        return f"http://127.0.0.1:{self.http.server_port}/{fault}/mod_visus?dataset={urllib.parse.quote(name)}{more}"

    def queries(self):
        """Returns the block queries since the last call."""
        found, self.requests = [query for query in self.requests if query["action"] == "rangequery"], []
        return found

    def stop(self):
        self.http.shutdown()
        self.http.server_close()

    def answer(self, fault, query):
        text = self.folder / f"{query['dataset']}.idx"
        if not text.exists():
            return 404, {"visus-errormsg": "Cannot find dataset"}, b""
        if query["action"] == "readdataset":
            return 200, {"visus-typename": "IdxDataset"}, text.read_bytes()
        numbers = [int(number) for number in query["block"].split()]
        if fault == "old":
            numbers = numbers[:1]
        parts = [self.block(fault, query, number) for number in numbers]
        if fault == "old" or len(parts) == 1:
            return parts[0]
        headers = {"response-compose-num": str(len(parts))}
        for i, (status, more, body) in enumerate(parts):
            size = len(body) + (1 << 40 if fault == "long" else 0)
            headers |= {f"status-{i}": str(status), f"body-size-{i}": str(size)} | {f"{key}-{i}": more[key] for key in more}
        return 200, headers, b"".join(body for _, _, body in parts)

    def block(self, fault, query, number):
        digits = f"{number:016x}"
        path = self.folder / query["dataset"] / query["time"] / query["field"] / "/".join(digits[i:i + 4] for i in range(0, 16, 4))
        path = path.with_suffix(".bin")
        if not path.exists():
            return 404, {"visus-errormsg": "executeAndWait failed"}, b""
        body = path.read_bytes()
        dtype, components = FIELDS[query["field"]]
        raw = np.dtype(dtype).itemsize * components << BITS_PER_BLOCK
        headers = {"visus-compression": "raw" if len(body) == raw else "zip", "visus-dtype": dtype,
                   "visus-layout": self.layouts[query["dataset"]], "visus-nsamples": f"{1 << BITS_PER_BLOCK - 3} 4 2"}
        if fault == "failed" and number == 5:
            return 500, {"visus-errormsg": "failed"}, b""
        if fault == "samples":
            headers["visus-nsamples"] = "4 4"
        if fault == "codec":
            headers["visus-compression"] = "zfp"
        if fault == "cut":
            body = body[:-5]
        return 200, headers, body
