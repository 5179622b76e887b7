# SPDX-License-Identifier: BSD-3-Clause
"""A pvserver with several ranks that runs during a test. Independent of ParaView's modules."""
import contextlib
import os
import random
import socket
import subprocess
import time

SECONDS_TO_START = 60
SECONDS_TO_END = 30


def outside_mpi():
    """The environment without MPI's variables: mpiexec must not believe that it runs inside MPI."""
    ours = ("OMPI_ALLOW", "OMPI_MCA_rmaps", "OMPI_MCA_btl", "PRTE_MCA_rmaps")
    return {name: value for name, value in os.environ.items()
            if not name.startswith(("PMIX", "PRTE", "ORTE", "OMPI")) or name.startswith(ours)}


def free_port():
    """Below the ports that the kernel assigns automatically."""
    while True:
        port = random.randrange(20000, 32000)
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            return port


def wait_for(server, port):
    """Waits until the server listens. Reads the kernel's table, since the server accepts only one
    connection."""
    for _ in range(10 * SECONDS_TO_START):
        if server.poll() is not None:
            raise AssertionError("pvserver ended with %d" % server.returncode)
        for table in ("/proc/net/tcp", "/proc/net/tcp6"):
            with open(table) as lines:
                if any(":%04X" % port in line.split()[1] and line.split()[3] == "0A"
                        for line in list(lines)[1:]):
                    return
        time.sleep(0.1)
    raise AssertionError("pvserver does not listen after %d s" % SECONDS_TO_START)


@contextlib.contextmanager
def running_server(mpiexec, ranks, pvserver, client_leaves=True):
    """Yields its port. The server ends with its client and is waited for, unless the client stays until after the
    body; then ctest waits. After an exception it ends immediately."""
    port = free_port()
    server = subprocess.Popen(
        [mpiexec, "-np", str(ranks), pvserver, "--server-port=%d" % port, "--force-offscreen-rendering"],
        env=outside_mpi())
    try:
        wait_for(server, port)
        yield port
        if client_leaves:
            server.wait(SECONDS_TO_END)
    except BaseException:
        server.terminate()
        raise
