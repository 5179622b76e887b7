# SPDX-License-Identifier: BSD-3-Clause
"""Runs simulations that call Catalyst, and checks their output.

Usage: test_hosts.py CASE RANKS CHECK_HOST MODULE MPIEXEC HOST...

HOST... is the command of the simulation; with RANKS 0 it runs without MPIEXEC. CHECK_HOST compares
a file with the simulation's data; MODULE is libcatalyst-bat.so.
"""

import ctypes
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SKIPPED = 77
BAD_NODE, BAD_OPTIONS, WRITE_FAILED, NO_SPACE, _, NO_CONDUIT, NO_MPI, NOT_INITIALIZED = range(100, 108)
MAX_SECONDS = 60


class Run:
    """One simulation: its statuses by rank and call, and its messages."""

    def __init__(self, test, *options, steps=3, environment=None):
        command = [*test.launcher, *test.host, str(test.folder), str(steps), *map(str, options)]
        settings = {**os.environ, "CATALYST_IMPLEMENTATION_NAME": "bat", **(environment or {})}
        result = subprocess.run(command, capture_output=True, text=True, timeout=MAX_SECONDS,
                                env={k: v for k, v in settings.items() if v is not None})
        self.returncode = result.returncode
        self.output = result.stdout + result.stderr
        self.messages = re.findall(r"^catalyst-bat: .*$", result.stderr, re.M)
        self.statuses = {}
        for rank, call, status in re.findall(r"rank (\d+) ([a-z]+) (\d+)", result.stdout):
            self.statuses.setdefault((int(rank), call), []).append(int(status))


class Test:
    def __init__(self, arguments):
        self.case, self.ranks, self.check, self.module, mpiexec, *self.host = arguments
        self.ranks = int(self.ranks)
        self.launcher = [] if self.ranks == 0 else [mpiexec, "-np", str(self.ranks)]
        self.ranks = max(self.ranks, 1)
        self.folder = None
        self.problems = 0

    def expect(self, claim, what):
        if not claim:
            self.problems += 1
            print(f"FAILED: {self.case}: {what}", flush=True)

    def expect_statuses(self, run, call, statuses):
        for rank in range(self.ranks):
            found = run.statuses.get((rank, call))
            self.expect(found == statuses, f"{call} on rank {rank}: {found}\n{run.output}")

    def expect_steps(self, steps, particles=100, others=()):
        names = sorted(p.name for p in self.folder.glob("*.bat"))
        expected = [f"host_{step:03d}.bat" for step in sorted([*steps, *others])]
        self.expect(names == expected, f"there are {names}")
        for step in steps:
            result = subprocess.run(
                [self.check, str(self.folder / f"host_{step:03d}.bat"), str(self.ranks), str(step),
                 str(particles)], capture_output=True, text=True, timeout=MAX_SECONDS)
            self.expect(result.returncode == 0, result.stderr)

    def expect_all_well(self, run):
        self.expect(run.returncode == 0, f"exit status {run.returncode}: {run.output}")
        self.expect_statuses(run, "initialize", [0])
        self.expect_statuses(run, "execute", [0, 0, 0])
        self.expect_statuses(run, "finalize", [0])
        self.expect(run.messages == [], f"messages {run.messages}")
        self.expect_steps([0, 1, 2])


def test_plain(test):
    test.expect_all_well(Run(test))


def test_mpi(test):
    test.expect_all_well(Run(test, "mpi"))


def test_serial(test):
    test.expect_all_well(Run(test, "--serial"))


def test_late(test):
    test.expect_all_well(Run(test, "--late"))


def test_late_bad_options(test):
    """One rank failed before MPI ran: all report it, and none waits for the others."""
    bad = test.ranks - 1
    run = Run(test, "--late", "--bad-options", bad)
    for rank in range(test.ranks):
        test.expect(run.statuses.get((rank, "initialize")) == [BAD_NODE if rank == bad else 0],
                    f"initialize on rank {rank}: {run.output}")
    test.expect_statuses(run, "execute", [BAD_NODE, NOT_INITIALIZED, NOT_INITIALIZED])
    test.expect_steps([])


def test_bad_node(test):
    """The field is left out on all ranks."""
    run = Run(test, "--bad-node", 0)
    test.expect(run.returncode == 0, run.output)
    test.expect_statuses(run, "execute", [0, 0, 0])
    test.expect(len(run.messages) == 1 and "fields/id/values has 99 values" in run.messages[0],
                f"messages {run.messages}")
    test.expect_steps([0, 2], others=[1])


def test_stop(test):
    run = Run(test, "--bad-node", 0, "--stop")
    test.expect(run.returncode != 0, "the simulation goes on")
    test.expect(len(run.messages) == 1, f"messages {run.messages}")
    test.expect((0, "finalize") not in run.statuses, run.output)
    test.expect_steps([0])


def test_bad_options_stop(test):
    """One rank fails before it has read its options: all stop, and none waits for it."""
    run = Run(test, "--bad-options", test.ranks - 1, "--stop")
    test.expect(run.returncode != 0, "the simulation goes on")
    test.expect(len(run.messages) == 1, f"messages {run.messages}")
    test.expect_steps([])


def test_unprintable(test):
    """A message that cannot be printed prevents no rank from writing the step."""
    test.host = ["sh", "-c", 'exec "$0" "$@" 2>/dev/full', *test.host]
    config = test.folder / "options.json"
    config.write_text('{"fields": ["id", "mass", "nothing"]}')
    run = Run(test, environment={"CATALYST_BAT_CONFIG": str(config)})
    config.unlink()
    test.expect_statuses(run, "execute", [BAD_OPTIONS] * 3)  # no species has 'nothing'
    test.expect_steps([0, 1, 2])


def test_after_finalize(test):
    run = Run(test, "--after-finalize")
    test.expect(run.returncode == 0, run.output)
    test.expect_statuses(run, "execute", [0, 0, 0, NO_MPI])
    test.expect_steps([0, 1, 2])


def test_loader(test):
    """Which implementation is loaded, and the result for an unknown one."""
    run = Run(test, "--implementation", "paraview",
              environment={"CATALYST_IMPLEMENTATION_PREFER_ENV": "1"})
    test.expect_all_well(run)
    for file in test.folder.glob("*"):
        file.unlink()
    run = Run(test, "--implementation", "paraview")
    test.expect_statuses(run, "initialize", [3])
    run = Run(test, "--implementation", "bat", environment={"CATALYST_IMPLEMENTATION_NAME": None})
    test.expect_all_well(run)


def test_config(test):
    config = test.folder / "config.json"
    config.write_text('{ "every": 2 }')
    run = Run(test, environment={"CATALYST_BAT_CONFIG": str(config)})
    test.expect_statuses(run, "execute", [0, 0, 0])
    test.expect_steps([0, 2])


def test_no_conduit(test):
    """The module alone, in a process without libcatalyst."""
    module = ctypes.CDLL(test.module)
    call = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)

    class Table(ctypes.Structure):
        _fields_ = [("version", ctypes.c_int)] + [
            (name, call) for name in ("initialize", "execute", "finalize", "about", "results")]
    table = Table.in_dll(module, "catalyst_api_impl")
    test.expect(table.version == 1, f"version {table.version}")
    test.expect(table.initialize(None) == NO_CONDUIT, "initialize")
    test.expect(table.about(None) == NO_CONDUIT, "about")
    test.expect(table.results(None) == NO_CONDUIT, "results")
    test.expect(table.finalize(None) == 0, "finalize")
    test.expect(table.execute(None) == NOT_INITIALIZED, "execute")


def test_exports(test):
    result = subprocess.run(["nm", "--dynamic", "--defined-only", test.module],
                            capture_output=True, text=True, check=True)
    names = [line.split()[-1] for line in result.stdout.splitlines()]
    test.expect(names == ["catalyst_api_impl"], f"exports {names}")
    result = subprocess.run(["ldd", test.module], capture_output=True, text=True, check=True)
    test.expect("catalyst.so" not in result.stdout and "conduit" not in result.stdout,
                f"is linked with {result.stdout}")


def test_full_disk(test):
    """Three steps fit; the rest fail, and the three are complete. Once there is space, steps are written
    again."""
    particles = 10000
    run = Run(test, "--particles", particles, steps=6)
    test.expect(run.returncode == 0, run.output)
    statuses = run.statuses.get((0, "execute"), [])
    written = [step for step, status in enumerate(statuses) if status == 0]
    test.expect(0 < len(written) < 6 and set(statuses) == {0, NO_SPACE}, f"statuses {statuses}")
    test.expect_statuses(run, "execute", statuses)
    test.expect(len(run.messages) == 6 - len(written), f"messages {run.messages}")
    test.expect(all(re.match(r"catalyst-bat: step \d: ", m) for m in run.messages),
                f"messages {run.messages}")
    test.expect_steps(written, particles)
    left = {p.name for p in test.folder.rglob("*")}
    left -= {"host.vtkhdf.series"}  # absent if the disk was too full for it
    test.expect(left == {"host.bat.series", *(f"host_{s:03d}.bat" for s in written)}, f"left {left}")
    for file in test.folder.glob("*"):
        file.unlink()
    run = Run(test, "--particles", particles, steps=2)
    test.expect_statuses(run, "execute", [0, 0])
    test.expect_steps([0, 1], particles)


def mount_small_disk(folder):
    command = ["mount", "-t", "tmpfs", "-o", "size=1200k", "tmpfs", folder]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def on_small_disk(test, run):
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
            test.folder = pathlib.Path(folder)
            run(test)
        finally:
            subprocess.run(["umount", "-l", folder], check=True)
    return 1 if test.problems else 0


def main():
    test = Test(sys.argv[1:])
    run = globals()[f"test_{test.case}"]
    if test.case == "full_disk":
        return on_small_disk(test, run)
    with tempfile.TemporaryDirectory() as folder:
        test.folder = pathlib.Path(folder)
        run(test)
    return 1 if test.problems else 0


if __name__ == "__main__":
    sys.exit(main())
