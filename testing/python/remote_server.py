# SPDX-License-Identifier: BSD-3-Clause
"""Starts the server of testing/common/remote for tests in Python."""
import json
import pathlib
import subprocess
import sys


class Server:
    """Serves a folder. Requests go to the log in it. python: the interpreter; env: its environment."""

    def __init__(self, script, folder, *options, python=sys.executable, env=None):
        self.log = pathlib.Path(folder, "requests.log")
        self.process = subprocess.Popen([python, script, folder, *options], stdout=subprocess.PIPE, text=True, env=env)
        self.port = int(self.process.stdout.readline())

    def address(self, name, fault="plain"):
        return f"http://127.0.0.1:{self.port}/{fault}/{name}"

    def requests(self):
        """Returns the requests since the last call."""
        lines = self.log.read_text(encoding="utf-8").splitlines() if self.log.exists() else []
        new, self.seen = lines[getattr(self, "seen", 0):], len(lines)
        return [json.loads(line) for line in new]

    def stop(self):
        self.process.kill()
        self.process.wait()


def expect(error, do, *words):
    try:
        do()
    except error as found:
        for word in words:
            assert word in str(found), (word, str(found))
        assert "secret" not in str(found), found
        return
    raise AssertionError(f"no error that has {words}")
