"""The LAMMPS example: what it writes equals LAMMPS's own dumps; what it cannot write does not stop it.

Usage: test_lammps.py FOLDER COMMAND...     COMMAND starts LAMMPS on some ranks
"""

import os
import pathlib
import shutil
import subprocess
import sys

import compare

EXAMPLE = pathlib.Path(compare.__file__).parent
FOLDER, COMMAND = pathlib.Path(sys.argv[1]), sys.argv[2:]


def run(out, **variables):
    command = [*COMMAND, "-in", EXAMPLE / "in.collision", "-log", "none"]
    for name, value in {"out": FOLDER, "radius": 6, "steps": 40, "every": 10, **variables}.items():
        command += ["-var", name, str(value)]
    return subprocess.run(command, env={**os.environ, "BAT_OUT": str(out)}, capture_output=True,
                          text=True, timeout=200, stdin=subprocess.DEVNULL, check=False)


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    result = run(FOLDER, dump=1)
    assert result.returncode == 0, result.stdout[-2000:] + result.stderr[-2000:]
    assert len(list(FOLDER.glob("collision_*.bat"))) == 5
    compare.compare(FOLDER)

    # Where nothing can be written the simulation goes on, and says so once for every step.
    (FOLDER / "file").write_text("in the way")
    result = run(FOLDER / "file")
    assert result.returncode == 0, result.stdout[-2000:] + result.stderr[-2000:]
    lines = [line for line in result.stderr.splitlines() if "bat_lammps" in line]
    assert len(lines) == 5 and all(f"{FOLDER}/file" in line for line in lines), result.stderr
    assert "Total wall time" in result.stdout


if __name__ == "__main__":
    main()
