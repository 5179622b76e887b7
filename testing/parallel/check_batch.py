# SPDX-License-Identifier: BSD-3-Clause
"""Tests the batch scripts of core/parallel with stand-ins for the batch systems: they start every
rank in the job's folder, striped on Lustre, and return the program's exit status.

Argument: the folder of the scripts.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

SCRIPTS = pathlib.Path(sys.argv[1]).resolve()
LAUNCHER = """#!/bin/bash
# In place of srun and mpirun: a process per rank; options that they know are left out.
ranks=${SLURM_NTASKS:-0}
while [[ ${1-} == -* ]]; do
  case $1 in
    -np) ranks=$2; shift 2 ;;
    --hostfile | --map-by) shift 2 ;;
    --cpu-bind=cores) shift ;;
    *) echo "unknown option $1" >&2; exit 2 ;;
  esac
done
for ((rank = 0; rank != ranks; ++rank)); do RANK=$rank "$@" || exit; done
"""
LFS = """#!/bin/bash
[ "$1" = getstripe ] && exit "${NO_LUSTRE:-0}"
echo "$@" >>"$LFS_LOG"
"""


def run(script, program, **more):
    """Runs a script in a new folder; returns its status, the files in the job's folder and the arguments passed to
    lfs."""
    with tempfile.TemporaryDirectory() as name:
        top = pathlib.Path(name)
        for tool, text in (("srun", LAUNCHER), ("mpirun", LAUNCHER), ("lfs", LFS)):
            (top / tool).write_text(text)
            (top / tool).chmod(0o755)
        (top / "nodes").write_text("a\na\nb\nb\n")
        environment = dict(os.environ, PATH=f"{top}:{os.environ['PATH']}", LFS_LOG=str(top / "lfs.log"),
                           SLURM_NTASKS="4", SLURM_CPUS_PER_TASK="2", SLURM_SUBMIT_DIR=name, SLURM_JOB_ID="7",
                           PBS_O_WORKDIR=name, PBS_JOBID="7", PBS_NODEFILE=str(top / "nodes"), OMP_NUM_THREADS="2",
                           PROGRAM=" ".join(program), **more)
        arguments = program if script.suffix == ".slurm" else []
        status = subprocess.run(["bash", script, *arguments], env=environment, cwd=name, check=False).returncode
        log = top / "lfs.log"
        return (status, sorted(path.name for path in (top / "run-7").iterdir()),
                log.read_text().replace(name, "") if log.exists() else "")


scripts = sorted(SCRIPTS.iterdir())
assert [script.suffix for script in scripts] == [".pbs", ".slurm"], scripts
with tempfile.TemporaryDirectory() as folder:
    program = pathlib.Path(folder) / "program"
    program.write_text('#!/bin/bash\ntouch "$1.$RANK"\nexit ${STATUS:-0}\n')
    program.chmod(0o755)
    for script in scripts:
        everyone = [f"out.{rank}" for rank in range(4)]
        assert run(script, [str(program), "out"]) == (0, everyone, "setstripe --stripe-count 1 /run-7\n"), script
        assert run(script, [str(program), "out"], NO_LUSTRE="1") == (0, everyone, ""), script
        assert run(script, [str(program), "out"], STATUS="3")[0] == 3, script
