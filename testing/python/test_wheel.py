# SPDX-License-Identifier: BSD-3-Clause
"""Builds the wheel, and uses it without the rest of the project.

Arguments: folder to build in; a library with MPI and the system's oneTBB, or ""; mpiexec and its
arguments. Exits with 77 if PyPI or Debian's sources cannot be reached.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

from remote_server import Server

SKIPPED = 77
SOURCE = pathlib.Path(__file__).resolve().parents[2]
NEEDED = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "ld-linux-x86-64.so.2",
          "ld-linux-aarch64.so.1"}
UNREACHABLE = ("Could not resolve", "Temporary failure", "NewConnectionError", "No matching distribution",
               "Failed to fetch", "Unable to fetch", "Network is unreachable")

# The package's README.md, with an oracle.
USE = """
import numpy as np, os, sys
import parabat
assert os.path.dirname(parabat.__file__) == {package!r}, parabat.__file__
rng = np.random.default_rng(1)
positions, ids = rng.random((200000, 3)), np.arange(200000)
parabat.write("step.bat", positions, {{"id": ids}}, time=0.5)
with parabat.open("step.bat") as dataset:
    one = dataset.read(["id"], quality=0.01)
    assert one.count == 2000 and np.array_equal(positions[one["id"]], one.positions)
    assert np.array_equal(np.sort(dataset.read()["id"]), ids)
    dataset.validate()
# Exceptions and numbers in text are those of the wheel's own standard library.
try:
    parabat.open("none.bat")
    raise AssertionError
except parabat.BatNotFoundError:
    pass
tiny = ["5e-324", "2.2250738585072011e-308", "1e-400", "0.1", "1.7976931348623157e308", "inf"]
with open("table.csv", "w") as file:
    print("x,y,z,tiny", *("1,2,3," + text for text in tiny), sep=chr(10), file=file)
from parabat.convert import convert
convert(["table.csv"], "table.bat")
with parabat.open("table.bat") as dataset:
    assert sorted(dataset.read()["tiny"]) == sorted(map(float, tiny))
"""

# With the symbols of another, running oneTBB globally visible in the process.
BESIDE = """
import ctypes, threading
other = ctypes.CDLL({other!r}, mode=ctypes.RTLD_GLOBAL)
maps = open("/proc/self/maps").read()
assert "/libtbb.so" in maps, "the other library brings no oneTBB"
""" + USE + """
assert {package!r} + "/libbat_capi.so" in open("/proc/self/maps").read()
def work():
    for _ in range(5):
        handle = ctypes.c_void_p()
        assert other.bat_open(b"step.bat", ctypes.byref(handle)) == 0 and other.bat_validate(handle) == 0
        other.bat_close(handle)
threads = [threading.Thread(target=work) for _ in range(2)]
[thread.start() for thread in threads]
for _ in range(5):
    with parabat.open("step.bat") as dataset:
        assert np.array_equal(np.sort(dataset.read(threads=4)["id"]), ids)
[thread.join() for thread in threads]
"""

MPI = """
from mpi4py import MPI
import numpy as np, parabat
rank, ranks = MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size
parabat.write("ranks.bat", np.full((9, 3), rank, float), {"id": np.arange(9) + 9 * rank}, comm=MPI.COMM_WORLD)
with parabat.open("ranks.bat", MPI.COMM_WORLD) as dataset:
    assert sorted(dataset.read()["id"]) == list(range(9 * ranks)) and ranks == 2
"""

# An address is read through the system's libcurl, which no other code has loaded.
REMOTE = """
import ctypes, numpy as np, parabat, parabat._library
assert parabat._library.library().bat_has_libcurl() == {has}
assert ("libcurl" in open("/proc/self/maps").read()) == {has}
try:
    with parabat.open({address!r}) as remote, parabat.open("step.bat") as local:
        assert {has} and np.array_equal(remote.read()["id"], local.read()["id"])
except parabat.BatError as error:
    assert not {has} and "there is no libcurl on this system" in str(error), error
"""

NO_MPI = """
import parabat
class Comm:
    py2f = lambda self: 0
try:
    parabat.open("step.bat", Comm())
except parabat.BatValueError as error:
    assert "without MPI" in str(error) and "BAT_LIBRARY" in str(error)
else:
    raise AssertionError
"""


def clean(**variables):
    kept = {name: value for name, value in os.environ.items()
            if name not in ("PYTHONPATH", "BAT_LIBRARY", "LD_LIBRARY_PATH", "PYTHONHOME")}
    return {**kept, **variables}


def main(folder, other, *mpiexec):
    folder = pathlib.Path(folder)
    built = subprocess.run(["bash", str(SOURCE / "core" / "python" / "wheel.sh"), str(folder)], text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=clean(PYTHON=sys.executable), check=False)
    if built.returncode:
        print(built.stdout)
        # Debian's sources may have been found elsewhere if an archive no longer has them.
        is_compiled = "FAILED:" in built.stdout
        return SKIPPED if not is_compiled and any(word in built.stdout for word in UNREACHABLE) else 1
    wheel, = folder.glob("*.whl")
    tag = re.fullmatch(r"parabat-\d+\.\d+\.\d+-py3-none-manylinux2014_\w+\.(manylinux_2_17_\w+)\.whl", wheel.name)
    assert tag, wheel.name
    assert wheel.stat().st_size < 5e6, wheel.stat().st_size
    with zipfile.ZipFile(wheel) as files:
        names = set(files.namelist())
    assert {name.split("/")[0] for name in names} == {"parabat", wheel.name.split("-py3")[0] + ".dist-info"}, names
    # The plugin is alone in its folder, because ParaView treats files next to it as plugins too.
    assert {name.split("/")[2] for name in names if name.startswith("parabat/paraview/")} - {""} == {
        "parabat_paraview.py", "proxies"}, names
    shown = subprocess.run([folder / "work" / "venv" / "bin" / "auditwheel", "show", wheel], check=True,
                           capture_output=True, text=True).stdout
    assert f'"{tag[1]}"' in " ".join(shown.split()), shown

    # A plain `pip install .`, with this machine's compiler and libraries, also contains its own oneTBB.
    plain = folder / "work" / "plain"
    subprocess.run(["cmake", "-S", SOURCE, "-B", plain, "-G", "Ninja", "-Wno-dev", "-DSKBUILD=2", "-DBAT_WITH_PARAVIEW=OFF",
                    "-DBAT_WITH_MPI=OFF", "-DBUILD_TESTING=OFF", f"-DBAT_ONETBB_SOURCE={folder / 'work' / 'onetbb'}"],
                   check=True, stdout=subprocess.DEVNULL, env=clean())
    linked = subprocess.run(["ninja", "-C", plain, "-t", "query", "lib/libbat_capi.so"], check=True, capture_output=True,
                            text=True).stdout
    assert re.search(r"\blibtbb\w*\.a\b", linked) and "libtbb.so" not in linked, linked

    with tempfile.TemporaryDirectory() as scratch:
        python = pathlib.Path(scratch, "venv", "bin", "python")
        # With the system's NumPy and mpi4py.
        subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", pathlib.Path(scratch, "venv")], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-index", "--no-deps",
                        wheel], check=True, env=clean())

        def run(code, *before, **variables):
            subprocess.run([*before, python, "-c", code], check=True, cwd=scratch, env=clean(**variables), timeout=120)

        package = subprocess.run([python, "-c", "import parabat, os; print(os.path.dirname(parabat.__file__))"], check=True,
                                 cwd=scratch, env=clean(), capture_output=True, text=True).stdout.strip()
        library = pathlib.Path(package, "libbat_capi.so")
        needed = set(re.findall(r"NEEDED.*\[(.*)\]", subprocess.run(
            ["readelf", "-dW", library], check=True, capture_output=True, text=True).stdout))
        assert needed <= NEEDED, needed
        symbols = subprocess.run(["nm", "-D", library], check=True, capture_output=True, text=True).stdout.splitlines()
        given = [line.split()[-1] for line in symbols if line[:16].strip()]
        assert given and all(name.startswith("bat_") for name in given), given
        requested = [line for line in symbols if " U " in line and re.search("3tbb|3fmt|XXH", line)]
        assert not requested, requested
        assert {path.stem for path in pathlib.Path(package, "licenses").iterdir()} >= {"oneTBB", "fmt", "xxHash", "libcxx"}
        assert not list(pathlib.Path(package).rglob("*test*"))

        run(USE.format(package=package))
        run(NO_MPI)
        server = Server(SOURCE / "testing" / "common" / "remote" / "server.py", scratch)
        try:
            for has in (True, False):
                # An empty file in place of the library cannot be loaded.
                hidden = pathlib.Path(scratch, "hidden")
                hidden.mkdir(exist_ok=True)
                for name in () if has else ("libcurl.so.4", "libcurl-gnutls.so.4", "libcurl.so"):
                    (hidden / name).touch()
                run(REMOTE.format(has=has, address=server.address("step.bat")), LD_LIBRARY_PATH=str(hidden))
        finally:
            server.stop()
        command = python.with_name("parabat")
        reported = subprocess.run([command, "info", "step.bat"], check=True, cwd=scratch, env=clean(), capture_output=True, text=True)
        assert "200,000 particles" in reported.stdout, reported.stdout
        if other:
            run(BESIDE.format(package=package, other=other))
        if other and mpiexec:
            # The system's library with MPI is used instead if mpi4py is available.
            run(MPI, *mpiexec, LD_LIBRARY_PATH=str(pathlib.Path(other).parent))
    shutil.rmtree(folder / "work" / "dist", ignore_errors=True)
    print(wheel.name, wheel.stat().st_size, "bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
