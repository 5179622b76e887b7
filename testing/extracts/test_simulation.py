# SPDX-License-Identifier: BSD-3-Clause
"""mini_simulation writes .bat in situ; the files must contain its data. Arguments: the simulation, the number of
ranks, mpiexec, bat_info, the folder of the Catalyst scripts."""
import glob
import re
import subprocess

from bat_test import *

simulation, ranks, mpiexec, bat_info, scripts = sys.argv[1], int(sys.argv[2]), *sys.argv[3:]
STEPS = 6


def run(mode, what, folder):
    """The output of the simulation; limited to 150 s, so that a hanging rank is detected."""
    done = subprocess.run(
        [mpiexec, "-np", str(ranks), simulation, mode, str(STEPS), what], capture_output=True, text=True,
        timeout=150, env={**outside_mpi(), "BAT_TEST_FOLDER": folder.path})
    reported = done.stdout + done.stderr
    assert done.returncode == 0 and "simulation ended" in reported, reported
    assert "Traceback" not in reported, reported
    return reported


def errors(reported):
    """Errors of any origin, and warnings of the writer."""
    return re.findall(r".*(?:ERR\||WARN\|.*vtkBAT).*", reported)


def check_grid_is_reported(reported, writers):
    """Checks that each writer reports once that it leaves out the grid next to the particles."""
    complaints = errors(reported)
    expect(len(complaints), writers, "errors and warnings: %s" % complaints)
    for complaint in complaints:
        assert "block 0: is a grid, which is not written alongside particles: tetrahedra" in complaint, complaint


def expected(step, with_ghosts, names):
    """The particles of mini_simulation, by its formulas; all arrays or the named ones."""
    silent = step % (ranks + 1)
    others = [r for r in range(ranks) if r != silent]
    id = np.arange(1000 + step if others else 0, dtype="i8")
    flag = np.zeros(len(id), "u1")
    if with_ghosts:
        ghosts = [1000000 + 2 * r + kind for r in others for kind in (0, 1)]
        id = np.concatenate([id, np.array(ghosts, "i8")])
        flag = np.concatenate([flag, np.array([1, 2] * len(others), "u1")])
    x = id % 10 + 0.25 * step
    positions = np.stack([x, (id // 10 % 10).astype("f8"), (id // 100).astype("f8")], axis=1)
    velocity = np.stack([id, -id, np.full(len(id), step)], axis=1).astype("f4")
    values = {"id": id, "mass": (0.5 * id).astype("f4"), "velocity": velocity}
    if with_ghosts:
        values["vtkGhostType"] = flag
    return positions, {name: values[name] for name in names or values}


def check(folder, name, steps=range(STEPS), file_name="%s_%06d.bat", with_ghosts=False, with_numbers=True,
          names=None):
    """Checks a series of these steps, each complete, with its time and number."""
    files = [file_name % (name, step) for step in steps]
    found = sorted(f for f in os.listdir(folder.path) if f.startswith(name + "_") and f.endswith(".bat"))
    expect(found, sorted(files), "files of " + name)
    reader = OpenDataFile([folder(f) for f in files])
    expect(list(reader.TimestepValues), [0.5 * step for step in steps], "times of " + name)
    for step in steps:
        what = "%s, step %d" % (name, step)
        check_particles(fetch(reader, 0.5 * step), *expected(step, with_ghosts, names), what)
        if with_numbers:
            expect(step_of(bat_info, folder(file_name % (name, step))), step, what + ": number")


def check_no_temporary(folder):
    left = glob.glob(folder("**/*.tmp*"), recursive=True) + glob.glob(folder("**/.*"), recursive=True)
    expect(left, [], "temporary files")


with Folder() as folder:
    reported = run("script", os.path.join(scripts, "extracts.py"), folder)
    check_grid_is_reported(reported, 2)
    check(folder, "points")
    check(folder, "ghosts", with_ghosts=True)
    check(folder, "chosen", names=["id"])
    check(folder, "partitioned", range(0, STEPS, 2))
    check(folder, "collection", range(3, STEPS), names=["id", "velocity"])
    if ranks > 1:
        step = max(s for s in range(3, STEPS) if s % (ranks + 1) == ranks)  # all ranks have particles
        expect(len(os.listdir(folder("collection_%06d.bat.leaves" % step))), ranks, "leaf files")
    for step in range(STEPS):
        os.rename(folder("blocks_%.2f.bat" % (0.5 * step)), folder("blocks_%06d.bat" % step))
    check(folder, "blocks")
    check(folder, "beside")
    check(folder, "some", names=["id", "mass"])
    check_no_temporary(folder)

with Folder() as folder:
    reported = run("io", folder.path, folder)
    check_grid_is_reported(reported, 1)
    for name in ("points", "partitioned", "collection", "blocks", "beside"):
        # The io pipeline does not pass the number to its writer; only this channel includes it.
        check(folder, name, file_name="%s_%04d.bat", with_numbers=name == "partitioned")
    check_no_temporary(folder)

# Output that cannot be written is reported once per file, and affects neither the simulation nor
# other files.
with Folder() as folder:
    in_the_way = folder("points_%06d.bat" % 2)
    os.makedirs(os.path.join(in_the_way, "something"))
    open(folder("occupied"), "w").close()
    reported = run("script", os.path.join(scripts, "bad_extracts.py"), folder)
    complaints = errors(reported)
    expect(len([c for c in complaints if in_the_way in c]), 1, "errors about a folder in the way: %s" % complaints)
    for step in range(STEPS):
        path = folder("occupied/points_%06d.bat" % step)
        expect(len([c for c in complaints if path in c]), 1, "errors about %s: %s" % (path, complaints))
    expect(len(complaints), 1 + STEPS, "errors: %s" % complaints)
    expect(os.listdir(in_the_way), ["something"], "the folder in the way")
    shutil.rmtree(in_the_way)
    check(folder, "points", [step for step in range(STEPS) if step != 2])
    expect(os.path.getsize(folder("occupied")), 0, "bytes of the file in the place of a folder")
    expect(sorted(os.listdir(folder.path)),
           ["occupied"] + ["points_%06d.bat" % step for step in range(STEPS) if step != 2], "all files")
finish()
