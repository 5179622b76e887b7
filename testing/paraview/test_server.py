"""A client opens a file on pvserver with several ranks, and saves from there. Arguments: a .bat file, a
folder to write to, the number of ranks, mpiexec, pvserver."""
import socket
import subprocess
import time

from bat_test import *

path, folder, ranks, mpiexec, pvserver = *sys.argv[1:3], int(sys.argv[3]), *sys.argv[4:]
N = 20000
SECONDS_TO_START = 60


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(server, port):
    """Until the server listens. Looks into the kernel's table: a connection would be the only one it takes."""
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


port = free_port()
server = subprocess.Popen(
    [mpiexec, "-np", str(ranks), pvserver, "--server-port=%d" % port, "--force-offscreen-rendering"],
    env=outside_mpi())
try:
    wait_for(server, port)
    Connect("127.0.0.1", port)
    reader = OpenDataFile(path)
    check_spread(reader, N, ranks, "opened by a client")
    reader.ComputeHistograms = 1
    reader.UpdatePropertyInformation()
    numbers = np.array(reader.AttributeHistograms).reshape(-1, 2, 68)
    assert len(numbers) == len(reader.AttributeRangesInfo) // 3
    assert np.allclose(numbers[:, :, 4:].sum(2), N), "a histogram has all particles"
    saved = os.path.join(folder, "server.bat")
    SaveData(saved, reader, LeafFileSize=0.1)
    assert len(os.listdir(saved + ".leaves")) > 1
    check_spread(OpenDataFile(saved), N, ranks, "saved by the server")
    CreateExtractor("BAT", reader).Writer.FileName = "extract.bat"
    SaveExtracts(ExtractsOutputDirectory=folder)
    check_spread(OpenDataFile(os.path.join(folder, "extract.bat")), N, ranks, "extracted by the server")
except BaseException:
    server.terminate()
    raise
finish()
# pvserver ends with its client, and ctest waits for it.
