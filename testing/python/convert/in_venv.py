# SPDX-License-Identifier: BSD-3-Clause
"""Runs a test with PyPI packages, in pinned versions (extras.txt), in a separate environment that is created once;
FOLDER/data contains real files from MDAnalysisTests and the sources of laspy.

Usage: in_venv.py FOLDER TEST.py [ARGUMENT...]
Ends with 77, skipped, if the index cannot be reached.
"""

import hashlib
import pathlib
import shutil
import subprocess
import sys
import tarfile
import venv

SKIPPED = 77
DATA = ("MDAnalysisTests==2.9.0", "laspy==2.5.4")
NEEDED = ("simple.copc.laz", "simple_with_page.copc.laz", "adk_oplsaa.xtc", "adk_oplsaa.trr", "adk_oplsaa.gro", "adk_dims.dcd", "adk.psf", "example.gsd", "cobrotoxin.h5md")

here = pathlib.Path(__file__).parent
folder = pathlib.Path(sys.argv[1])
expected = (here / "extras.txt").read_bytes()
stamp = folder / hashlib.sha256(expected + sys.version.encode() + pathlib.Path(__file__).read_bytes()).hexdigest()


def pip(*words):
    done = subprocess.run([folder / "bin" / "pip", "--disable-pip-version-check", "--retries", "1", "--timeout", "30", *words],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"skipped: pip {' '.join(map(str, words))} fails here:\n{done.stderr[-2000:]}")
        sys.exit(SKIPPED)


if not stamp.exists():
    shutil.rmtree(folder, ignore_errors=True)
    venv.create(folder, with_pip=True)
    pip("install", "--quiet", "--no-deps", "--no-compile", "--only-binary", ":all:", "--requirement", here / "extras.txt")
    pip("download", "--quiet", "--no-deps", "--no-binary", "laspy,MDAnalysisTests", "--dest", folder, *DATA)
    (folder / "data").mkdir()
    for source in folder.glob("*.tar.gz"):
        with tarfile.open(source) as archive:
            for member in archive:
                name = pathlib.PurePath(member.name)
                if member.isfile() and (name.name in NEEDED or name.parts[-2] == "lammps"):
                    (folder / "data" / name.name).write_bytes(archive.extractfile(member).read())
        source.unlink()
    stamp.touch()
sys.exit(subprocess.run([folder / "bin" / "python", *sys.argv[2:]], check=False).returncode)
