# SPDX-License-Identifier: BSD-3-Clause
"""Runs ParaView's window with a server. Arguments: mpiexec, ranks, pvserver, then the client and its arguments."""
import subprocess
import sys

from bat_server import running_server

mpiexec, ranks, pvserver, *client = sys.argv[1:]
with running_server(mpiexec, ranks, pvserver) as port:
    sys.exit(subprocess.run([*client, "--server-url=cs://127.0.0.1:%d" % port], check=False).returncode)
