# SPDX-License-Identifier: BSD-3-Clause
"""Runs a command while a web server serves a folder, and returns its exit code. ADDRESS in the event script is replaced by
the server's address.

    with_web_server.py SERVER FOLDER SCRIPT COMMAND...

SERVER: testing/common/remote/server.py. SCRIPT: also an argument of the command.
"""
import pathlib
import subprocess
import sys

SERVER, FOLDER, SCRIPT, *COMMAND = sys.argv[1:]
server = subprocess.Popen([sys.executable, SERVER, FOLDER], stdout=subprocess.PIPE, text=True)
try:
    address = f"http://127.0.0.1:{int(server.stdout.readline())}/plain"
    played = f"{SCRIPT}.played.xml"
    pathlib.Path(played).write_text(pathlib.Path(SCRIPT).read_text(encoding="utf-8").replace("ADDRESS", address), encoding="utf-8")
    status = subprocess.run([argument.replace(SCRIPT, played) for argument in COMMAND], check=False).returncode
finally:
    server.kill()
    server.wait()
sys.exit(status)
