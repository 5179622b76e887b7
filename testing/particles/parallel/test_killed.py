# SPDX-License-Identifier: BSD-3-Clause
"""Kills one rank of a parallel write, or fills its disk, and checks what is left.

Usage: test_killed.py killed|full_disk MPIEXEC FAULT_WRITER

After each fault, mpirun must end within 10 s, the dataset must be the old or the new one, valid and
complete, and the next write must leave exactly its own files. Exit status 77: no small disk can be
mounted here.
"""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
PARTICLES = 20000  # 20 bytes each
SEVERAL = 70000  # target bytes: 6 leaf files
ONE = 1 << 30
MAX_SECONDS = 10
NO_SPACE = "7"  # bat::ErrorCode::NoSpace
PHASES = ["check", "plan", "exchange", "write", "commit"]


class Job:
    def __init__(self, mpiexec, writer, folder):
        self.mpiexec = mpiexec
        self.writer = writer
        self.path = pathlib.Path(folder) / "out.bat"
        self.step = "first write"
        self.problems = 0

    def write(self, seed, target, *fault, ranks=2):
        stamp = pathlib.Path(f"{self.path}.killed")
        stamp.unlink(missing_ok=True)
        command = [self.mpiexec, "--oversubscribe", "-np", str(ranks), self.writer, str(self.path),
                   str(PARTICLES), str(target), str(seed), *map(str, fault)]
        started = time.time()
        result = subprocess.run(command, capture_output=True, text=True, timeout=60)
        ended = time.time()
        result.killed = stamp.exists()
        result.seconds = ended - (float(stamp.read_text()) if result.killed else started)
        stamp.unlink(missing_ok=True)
        return result

    def check(self, *seeds):
        """Returns the seed of the dataset and its files, or the reason for an error."""
        result = subprocess.run([self.writer, "--check", str(self.path), str(PARTICLES),
                                 *map(str, seeds)], capture_output=True, text=True, timeout=60)
        return (json.loads(result.stdout), None) if result.returncode == 0 else (None, result.stderr)

    def begin(self, *words):
        self.step = " ".join(map(str, words))
        print(self.step, flush=True)

    def expect(self, claim, what):
        if not claim:
            self.problems += 1
            print(f"FAILED: {self.step}: {what}", flush=True)

    def expect_clean_write(self, seed, target):
        result = self.write(seed, target)
        self.expect(result.returncode == 0, f"the next write: {result.stdout}{result.stderr}")
        found, reason = self.check(seed)
        self.expect(found, f"the next dataset: {reason}")
        if found:
            there = {str(p) for p in self.path.parent.rglob("*") if not p.is_dir()}
            folders = {p.name for p in self.path.parent.rglob("*") if p.is_dir()}
            several = len(found["files"]) > 2
            self.expect(there == set(found["files"]), f"left behind: {there ^ set(found['files'])}")
            self.expect(folders == ({"out.bat.leaves"} if several else set()), f"folders {folders}")


def kill(job, target, before, *fault):
    """Returns false if the fault never occurred: the write has fewer such steps."""
    job.begin("kill", *fault, "one leaf file" if target == ONE else "several",
              "over nothing" if before is None else "over a dataset")
    if before is None:
        for file in sorted(job.path.parent.rglob("*"), reverse=True):
            file.rmdir() if file.is_dir() else file.unlink()
    result = job.write(2, target, *fault)
    if not result.killed:
        job.expect(result.returncode == 0, f"the write: {result.stdout}{result.stderr}")
        return False
    job.expect(result.returncode != 0, "mpirun says that all is well")
    job.expect(result.seconds < MAX_SECONDS, f"mpirun ended {result.seconds:.1f} s after the kill")
    found, reason = job.check(1, 2)
    if before is None and not job.path.exists():
        found = {"seed": None}
    job.expect(found, f"the dataset after the kill: {reason}")
    if found:
        job.expect(found["seed"] == before, f"the dataset is {found['seed']}, not {before}")
    job.expect_clean_write(1, SEVERAL)
    return True


def must_kill(job, *what):
    job.expect(kill(job, *what), "the fault never came")


def kill_in_phases(job):
    job.expect_clean_write(1, SEVERAL)
    for number, phase in enumerate(PHASES):
        must_kill(job, SEVERAL, 1, "--kill", phase, number % 2)
    must_kill(job, ONE, 1, "--kill", "commit", 1)


def kill_in_first_writes(job):
    for number, phase in enumerate(PHASES):
        must_kill(job, SEVERAL if number % 2 else ONE, None, "--kill", phase, 1 - number % 2)
    must_kill(job, SEVERAL, None, "--kill-rename", 7, 0)


def kill_inside_write(job):
    job.expect_clean_write(1, SEVERAL)
    # While rank 0 goes through its leaf files.
    for call in (6, 9, 12):
        must_kill(job, SEVERAL, 1, "--kill-progress", call)
    must_kill(job, SEVERAL, 1, "--kill-rename", 5, 1)


def kill_between_renames(job):
    job.expect_clean_write(1, SEVERAL)
    # Before every file gets its name: first each rank's first leaf file, then its last; then rank
    # 0's top file. The one after that does not exist.
    steps = 0
    while kill(job, SEVERAL, 1, "--kill-rename", steps + 1, 0):
        steps += 1
    job.expect(steps == 7, f"{steps} files got names on rank 0, not 2 x 3 and the top file")


def run_in_folder(test, mpiexec, writer):
    with tempfile.TemporaryDirectory() as folder:
        job = Job(mpiexec, writer, folder)
        test(job)
        return job.problems


def test_killed(mpiexec, writer):
    # In parallel: mpirun spends most of the time asleep.
    tests = [kill_in_phases, kill_in_first_writes, kill_inside_write, kill_between_renames]
    with concurrent.futures.ThreadPoolExecutor(len(tests)) as pool:
        running = [pool.submit(run_in_folder, test, mpiexec, writer) for test in tests]
        return sum(test.result() for test in running)


def fail(job, target, *fault):
    job.begin("full disk", *fault, "one leaf file" if target == ONE else "several")
    result = job.write(2, target, *fault)
    pathlib.Path(f"{job.path}.ballast").unlink(missing_ok=True)
    lines = [line.split("\t") for line in result.stdout.splitlines() if line.count("\t") == 2]
    job.expect(result.returncode == 3, f"exit status {result.returncode}: {result.stderr}")
    job.expect(sorted(line[0] for line in lines) == ["0", "1"], f"errors from {lines}")
    job.expect(len({tuple(line[1:]) for line in lines}) == 1, f"errors differ: {lines}")
    job.expect(all(line[1] == NO_SPACE and "No space left" in line[2] for line in lines),
               f"the error is {lines}")
    job.expect(result.seconds < MAX_SECONDS, f"it took {result.seconds:.1f} s")
    found, reason = job.check(1)
    job.expect(found, f"the dataset after the failure: {reason}")
    before = {str(p) for p in job.path.parent.rglob("*") if not p.is_dir()}
    if found:
        job.expect(before == set(found["files"]), f"left behind: {before ^ set(found['files'])}")
    job.expect_clean_write(1, SEVERAL)


def test_full_disk(job):
    job.expect_clean_write(1, SEVERAL)
    for target in (SEVERAL, ONE):
        fail(job, target, "--fill", "write")
    fail(job, SEVERAL, "--fill", "commit")
    # Half of the leaf files fit.
    with open(f"{job.path}.ballast", "wb") as ballast:
        ballast.write(bytes(600000))
    fail(job, SEVERAL)


def mount_small_disk(folder):
    command = ["mount", "-t", "tmpfs", "-o", "size=1200k", "tmpfs", folder]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def run_on_small_disk(job_of):
    with tempfile.TemporaryDirectory() as folder:
        if not mount_small_disk(folder):
            inside = "BAT_TEST_INSIDE_NAMESPACE"
            can = subprocess.run(["unshare", "-rm", "true"], capture_output=True, check=False)
            if inside in os.environ or can.returncode != 0:
                print("skipped: a tmpfs can be mounted neither here nor in a namespace of our own")
                return SKIPPED
            command = ["unshare", "-rm", sys.executable, *sys.argv]
            return subprocess.run(command, env={**os.environ, inside: "1"}, check=False).returncode
        try:
            job = job_of(folder)
            test_full_disk(job)
        finally:
            subprocess.run(["umount", "-l", folder], check=True)
    return 1 if job.problems else 0


def main():
    kind, mpiexec, writer = sys.argv[1:]
    if kind == "full_disk":
        return run_on_small_disk(lambda folder: Job(mpiexec, writer, folder))
    return 1 if test_killed(mpiexec, writer) else 0


if __name__ == "__main__":
    sys.exit(main())
