# SPDX-License-Identifier: BSD-3-Clause
"""A simulation that dies leaves a series that is valid up to its last complete step, and can be
continued there, or from an earlier step.

Usage: test_killed_series.py BAT_VALIDATE MPIEXEC [ARGUMENT...]

The command starts ranks of write_steps.py; all of them are killed after a random time.
"""

import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

import parabat
import numpy as np

VALIDATE, COMMAND = sys.argv[1], sys.argv[2:]
WRITER = pathlib.Path(__file__).with_name("write_steps.py")
ROUNDS = 6


def listed(folder):
    path = folder / "dust.bat.series"
    return json.loads(path.read_text())["files"] if path.exists() else []


def is_running(process):
    try:
        return pathlib.Path("/proc", process, "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def run_and_kill(folder, first, after):
    process = subprocess.Popen([*COMMAND, sys.executable, WRITER, folder, str(first), "100000"],
                               start_new_session=True)
    before = listed(folder)
    deadline = time.monotonic() + 60
    while listed(folder) == before and time.monotonic() < deadline:
        assert process.poll() is None, "the simulation ended by itself"
        time.sleep(0.01)
    time.sleep(after)
    # mpiexec starts its ranks in separate sessions.
    ranks = subprocess.run(["pgrep", "-f", f"{WRITER} {folder} "], capture_output=True, text=True,
                           check=False).stdout.split()
    assert ranks
    for rank in ranks:
        try:
            os.kill(int(rank), signal.SIGKILL)
        except ProcessLookupError:
            pass
    process.kill()
    process.wait(timeout=30)
    # A killed rank holds the lock of its list until it has ended.
    while any(is_running(rank) for rank in ranks):
        time.sleep(0.01)


def check(folder, steps):
    files = [folder / entry["name"] for entry in listed(folder)]
    assert [f.name for f in files] == [f"dust_{step:04d}.bat" for step in steps], files
    subprocess.run([VALIDATE, *files[-3:]], check=True, stdout=subprocess.DEVNULL)
    for step, file in list(zip(steps, files))[-3:]:
        with parabat.Dataset(file) as dataset:
            assert dataset.step == step and dataset.time == 1 + step / 4
            particles = dataset.read()
        assert np.array_equal(np.sort(particles["id"]), np.arange(1000))
        assert np.all(particles["step"] == step)


def main():
    seed = int(time.time())
    print(f"seed {seed}", flush=True)
    randomly = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="bat_killed_") as name:
        folder = pathlib.Path(name)
        last = -1
        for round_ in range(ROUNDS):
            # Every other run has lost written steps, as after a restart from a checkpoint.
            first = max(0, last + 1 - (randomly.randrange(10) if round_ % 2 else 0))
            run_and_kill(folder, first, randomly.uniform(0, 0.3))
            last = len(listed(folder)) - 1
            check(folder, range(last + 1))
            print(f"round {round_}: from {first} on, {last + 1} steps are whole", flush=True)
        # A complete run over the place where the last one died removes all remains of it.
        subprocess.run([*COMMAND, sys.executable, WRITER, folder, str(last + 1), str(last + 2)],
                       check=True, timeout=60)
        check(folder, range(last + 3))
        # So does one that returns to an earlier step.
        subprocess.run([*COMMAND, sys.executable, WRITER, folder, str(last), str(last)], check=True,
                       timeout=60)
        check(folder, range(last + 1))
        assert not (folder / f"dust_{last + 1:04d}.bat").exists()


if __name__ == "__main__":
    main()
