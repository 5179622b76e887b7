# SPDX-License-Identifier: BSD-3-Clause
"""Compares ParaBAT with other ways to store particles, on the same particles: figures, a table and
pictures.

    compare.py [--kind KIND...] [--particles N] [--folder OUT]

Writes compare.json, table.md and one PNG for each row of the table to OUT. README.md explains the
measurements.
"""

import argparse
import importlib.util
import json
import os
import platform
import shlex
import shutil
import subprocess
import sys

import numpy as np

import compare_table
import vtk_xml_writer
import wheels
from compare_rows import MUST, quotients, rows_of, spread

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
LARGE = 100_000_000

# Packages, and the modules that must be importable.
ENVIRONMENTS = {
    "hdf5": (("h5py", "numpy"), ("h5py", "numpy")),
    "openpmd": (("openpmd-api", "numpy"), ("openpmd_api", "numpy")),
    "adios2": (("adios2", "numpy"), ("adios2", "numpy")),
    "parquet": (("pyarrow", "numpy"), ("pyarrow.parquet", "numpy")),
    "duckdb": (("duckdb", "numpy"), ("duckdb", "numpy")),
    "vtk": (vtk_xml_writer.PACKAGES, vtk_xml_writer.IMPORTS),
}
QUERIES = ("box", "correlated", "uncorrelated", "ids", "id_range")
SIMPLE = ("write", "read")


class System:
    def __init__(self, label, environment, suffix, operations, file_of=None):
        self.label = label
        self.environment = environment
        self.suffix = suffix
        self.operations = operations
        self.file_of = file_of  # written by another system


SYSTEMS = {
    "bat": System("BAT", None, ".bat", (*SIMPLE, *QUERIES)),
    "bat_indexed": System("BAT, sorted index of ids", None, ".bat", ("write", "ids", "id_range")),
    "bat_lossless": System("BAT, lossless", None, ".bat", (*SIMPLE, *QUERIES)),
    "raw": System("raw arrays (numpy)", None, ".raw", (*SIMPLE, *QUERIES)),
    "hdf5": System("HDF5 (h5py)", "hdf5", ".h5", (*SIMPLE, *QUERIES)),
    "openpmd_hdf5": System("openPMD, HDF5", "openpmd", ".h5", SIMPLE),
    "openpmd_bp5": System("openPMD, BP5", "openpmd", ".bp", SIMPLE),
    "adios2": System("ADIOS2 BP5", "adios2", ".bp", SIMPLE),
    "parquet": System("Parquet (pyarrow)", "parquet", ".parquet", SIMPLE),
    "parquet_sorted": System("Parquet, sorted by id", "parquet", ".parquet", ("write",)),
    "duckdb": System("DuckDB on Parquet", "duckdb", ".parquet", ("read", *QUERIES), "parquet"),
    "duckdb_sorted": System("DuckDB on Parquet sorted by id", "duckdb", ".parquet", ("read", *QUERIES),
                            "parquet_sorted"),
    "vtk_raw": System("VTK XML, raw", "vtk", ".vtp", SIMPLE),
    "vtk_zlib": System("VTK XML, zlib", "vtk", ".vtp", SIMPLE),
}


class CompareError(Exception):
    pass


class Missing(Exception):
    """A system that cannot be measured, and the reason."""


class Worker:
    """A system in its own process."""

    def __init__(self, name, python, options):
        self.name = name
        # Only the variables of a login, so that environments do not mix.
        clean = {key: os.environ[key] for key in ("PATH", "HOME", "LC_ALL", "TMPDIR") if key in os.environ}
        clean.setdefault("HOME", options.folder)
        for key in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "ARROW_NUM_THREADS",
                    "VTK_SMP_MAX_THREADS"):
            clean[key] = "1"
        clean["PYTHONDONTWRITEBYTECODE"] = "1"
        if SYSTEMS[name].environment is None:
            clean["PYTHONPATH"] = os.path.join(SOURCE, "core", "python")
            clean["BAT_LIBRARY"] = os.path.join(options.build, "lib", "libbat_capi.so")
        self.log = os.path.join(options.folder, f"{name}.log")
        with open(self.log, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen([python, os.path.join(HERE, "compare_systems.py"), name],
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True,
                                            env=clean)

    def ask(self, **question):
        try:
            self.process.stdin.write(json.dumps(question) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise Missing(f"{question['do']}: the process ended with status {self.process.wait()}; see {self.log}")
        answer = json.loads(line)
        if "error" in answer:
            raise Missing(f"{question['do']}: {answer['error'].strip()}")
        return answer

    def stop(self):
        self.process.stdin.close()
        self.process.wait()
        if os.path.getsize(self.log) == 0:
            os.remove(self.log)


def check_answer(kind, operation, name, found, expected):
    """Aborts the run if a system's answers differ from BAT's."""
    if found != expected:
        raise CompareError(f"{kind}, {operation}: {SYSTEMS[name].label} answers {json.dumps(found)}, "
                           f"BAT {json.dumps(expected)}")


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise CompareError(f"{shlex.join(command)}: {done.stderr.strip() or done.returncode}")
    return done.stdout


class Comparison:
    def __init__(self, options):
        self.options = options
        self.scratch = os.path.join(options.folder, "files")
        self.pythons = {}

    def say(self, text):
        print(text, file=sys.stderr, flush=True)

    # --- bat_bench

    def bench(self, *arguments):
        command = [os.path.join(self.options.build, "bin", "bat_bench"), "--folder", self.scratch, *arguments]
        return {"command": shlex.join(command), **json.loads(run(command))}

    def of_kind(self, kind):
        return ["--kind", kind, "--particles", str(self.options.particles), "--seed", str(self.options.seed)]

    def own_figures(self, kind):
        self.say(f"{kind}: bat_bench")
        found = {"all": self.bench(*self.of_kind(kind), "--threads", "1", "--repeat", str(self.options.repeat))}
        self.say(f"{kind}: building on one and on two threads")
        for name in ("build_1", "build_2", "copy_1", "copy_2"):
            found[name] = []
        for _ in range(self.options.repeat):
            for threads in (1, 2):
                figures = self.bench(*self.of_kind(kind), "--threads", str(threads), "--repeat", "1", "--only-build")
                found[f"build_{threads}"].append(figures["build"]["ms"])
                found[f"copy_{threads}"].append(figures["build"]["copy_ms"])
        if self.options.large and not kind.startswith("npz:"):
            self.say(f"{kind}: {LARGE:,} particles")
            for name, particles in (("large", LARGE), ("small", LARGE // 100)):
                found[name] = self.bench("--kind", kind, "--particles", str(particles), "--seed",
                                         str(self.options.seed), "--threads", "1", "--repeat",
                                         str(self.options.repeat), "--only-open")
        return found

    # --- other systems

    def python(self, environment):
        if environment is None:
            return sys.executable
        if environment not in self.pythons:
            self.say(f"virtual environment {environment}")
            try:
                packages, imports = ENVIRONMENTS[environment]
                self.pythons[environment] = wheels.install(
                    os.path.join(self.options.folder, "venv", environment), packages, imports)
            except RuntimeError as error:
                self.pythons[environment] = error
        if isinstance(self.pythons[environment], RuntimeError):
            raise Missing(str(self.pythons[environment]))
        return self.pythons[environment]

    def questions(self, columns, attributes, first):
        """Operation -> attribute to read (`first` if none is requested), and condition."""
        count = len(columns["pos"])

        def ends(name, start, rows):
            values = np.sort(columns[name])
            first = min(int(start * count), count - 1)
            return [name, values[first].item(), values[min(first + rows, count) - 1].item()]

        place = columns["pos"][count // 2]
        distance = np.abs(columns["pos"] - place).max(axis=1)
        half = np.partition(distance, count // 100)[count // 100]
        box = [*(place - half).tolist(), *(place + half).tolist()]
        request = {"box": (first, {"box": box})}
        for name in attributes:
            request[name] = (attributes[name], {"ranges": [ends(attributes[name], 0.5, max(1, count // 100))]})
        if "id" in columns:
            reference = columns["id"][::max(1, count // 101)][:101].tolist()
            request["ids"] = (first, {"values": {"id": reference}})
            request["id_range"] = (first, {"ranges": [ends("id", 0.5, 101)]})
        return request

    def path(self, name):
        writer = SYSTEMS[name].file_of or name
        return os.path.join(self.scratch, writer + SYSTEMS[name].suffix)

    def start(self, names, dump, has_ids, library_version):
        workers, systems = {}, {}
        for name in names:
            system = SYSTEMS[name]
            systems[name] = {"label": system.label}
            try:
                if not has_ids and name in ("bat_indexed", "parquet_sorted", "duckdb_sorted"):
                    raise Missing("the particles have no attribute 'id'")
                if system.file_of and "missing" in systems.get(system.file_of, {"missing": ""}):
                    reason = systems.get(system.file_of, {}).get("missing", "not among --systems")
                    raise Missing(f"its files are written by {SYSTEMS[system.file_of].label}: {reason}")
                workers[name] = Worker(name, self.python(system.environment), self.options)
                systems[name]["versions"] = workers[name].ask(do="load", folder=dump)["versions"]
                if system.environment is None and name != "raw":
                    systems[name]["versions"]["ParaBAT"] = library_version
            except Missing as error:
                self.lose(name, str(error), workers, systems)
        return workers, systems

    def lose(self, name, reason, workers, systems):
        if name == "bat":
            raise CompareError(f"BAT: {reason}")
        self.say(f"missing: {SYSTEMS[name].label}: {reason}")
        systems[name]["missing"] = reason
        systems[name].pop("operations", None)
        if name in workers:
            workers.pop(name).stop()

    def ask(self, worker, name, operation, request, attribute, identity):
        if operation == "write":
            return worker.ask(do="write", path=self.path(name))
        if operation == "read":
            return worker.ask(do="read", path=self.path(name), attribute=attribute)
        column, question = request[operation]
        return worker.ask(do="query", path=self.path(name), attribute=column, identity=identity, question=question)

    def others(self, kind, own):
        dump = os.path.join(self.scratch, "particles")
        shutil.rmtree(dump, ignore_errors=True)
        self.say(f"{kind}: the same particles for all")
        self.bench(*self.of_kind(kind), "--dump", dump)
        columns = {name[:-len(".npy")]: np.load(os.path.join(dump, name), mmap_mode="r") for name in os.listdir(dump)}
        attributes = {name: own["attribute"][name]["attribute"] for name in ("correlated", "uncorrelated")
                      if own["attribute"][name]}
        request = self.questions(columns, attributes, attributes.get("correlated", own["read_full"]["attribute"]))
        identity = "id" if "id" in columns else None
        workers, systems = self.start(self.options.systems, dump, identity, own["library_version"])
        answers, samples = {}, {name: {} for name in systems}
        try:
            for repeat in range(-1, self.options.repeat):
                self.say(f"{kind}: systems in turn, {repeat + 1} of {self.options.repeat}")
                for operation in [*SIMPLE, *(name for name in QUERIES if name in request)]:
                    names = [name for name in workers if operation in SYSTEMS[name].operations]
                    # BAT runs first, for its answer; then all alternate.
                    turn = (repeat + 1) * 3 % len(names)
                    for name in [*names[turn:], *names[:turn]]:
                        if name not in workers:
                            continue
                        try:
                            # The preceding system has filled memory and caches, so the second time counts.
                            for _ in range(1 if operation == "write" else 2):
                                figures = self.ask(workers[name], name, operation, request,
                                                   own["read_full"]["attribute"], identity)
                        except Missing as error:
                            self.lose(name, str(error), workers, systems)
                            continue
                        if "answer" in figures:
                            expected = answers.setdefault(operation, figures["answer"])
                            check_answer(kind, operation, name, figures["answer"], expected)
                        if repeat >= 0:
                            samples[name].setdefault(operation, []).append(figures)
        finally:
            for worker in workers.values():
                worker.stop()
            if not self.options.keep:
                shutil.rmtree(self.scratch)
                os.makedirs(self.scratch)
        for name in workers:
            systems[name]["operations"] = {operation: self.summary(samples[name][operation], samples["bat"][operation])
                                           for operation in samples[name]}
        return {"systems": systems, "answers": answers, "questions": {name: request[name][1] for name in request},
                "read_attribute": own["read_full"]["attribute"], "attributes": attributes}

    @staticmethod
    def summary(figures, ours):
        seconds = [one["seconds"] for one in figures]
        found = {"seconds": spread(seconds), "cpu_seconds": spread([one["cpu_seconds"] for one in figures]),
                 "over_bat": quotients(seconds, [one["seconds"] for one in ours])}
        if "bytes" in figures[0]:
            found["flush_seconds"] = spread([one["flush_seconds"] for one in figures])
            found["bytes"] = figures[-1]["bytes"]
        return found

    def measure(self, kind):
        own = self.own_figures(kind)
        return {"kind": kind, "particles": own["all"]["particles"],
                "bytes_per_particle": own["all"]["bytes_per_particle"], "own": own,
                "rows": rows_of(own), **self.others(kind, own["all"])}


def versions(options):
    info = {"python": platform.python_version(), "numpy": np.__version__, "system": platform.platform(),
            "processors": os.cpu_count()}
    info["commit"] = None  # in a copy without history, or on a machine without git
    if shutil.which("git"):
        commit = subprocess.run(["git", "-C", SOURCE, "describe", "--always", "--dirty"], capture_output=True, text=True)
        info["commit"] = commit.stdout.strip() or None
    info["compare.py"] = {"particles": options.particles, "repeat": options.repeat, "seed": options.seed}
    return info


def main():
    default_build = os.path.join(SOURCE, "build")
    parser = argparse.ArgumentParser(description="ParaBAT beside other ways to store particles.")
    parser.add_argument("--kind", nargs="+", default=["uniform", "clustered", "duplicates"],
                        help="uniform, clustered, duplicates, npz:FILE (default: the first three)")
    parser.add_argument("--particles", type=lambda text: int(float(text)), default=10_000_000,
                        help="not for npz: (default: 10 million)")
    parser.add_argument("--repeat", type=int, default=5, help="rounds, after one that is not counted (default: 5)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--large", action="store_true",
                        help=f"also opens {LARGE:,} particles of each kind that is generated (16 GB of memory, slow)")
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=list(SYSTEMS), metavar="SYSTEM",
                        help=f"BAT is always measured; the others: {', '.join(SYSTEMS)} (default: all)")
    parser.add_argument("--build", default=default_build, help="build folder (default: build/)")
    parser.add_argument("--folder", help="for results, virtual environments and measured files "
                                         "(default: bench/compare in the build folder)")
    parser.add_argument("--keep", action="store_true", help="keep the measured files")
    options = parser.parse_args()
    options.build = os.path.abspath(options.build)
    options.folder = os.path.abspath(options.folder or os.path.join(options.build, "bench", "compare"))
    options.systems = [name for name in SYSTEMS if name == "bat" or name in options.systems]
    if options.repeat < 1 or options.particles < 1000:
        parser.error("--repeat is at least 1, --particles at least 1000")

    comparison = Comparison(options)
    os.makedirs(comparison.scratch, exist_ok=True)
    result = {"command": shlex.join([os.path.basename(sys.argv[0]), *sys.argv[1:]]), "versions": versions(options),
              "must": MUST, "sets": []}
    try:
        for kind in options.kind:
            result["sets"].append(comparison.measure(kind))
            write(result, options.folder)
    except CompareError as error:
        sys.exit(f"error: {error}")
    print(compare_table.table(result["sets"]))


def write(result, folder):
    with open(os.path.join(folder, "compare.json"), "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)
    with open(os.path.join(folder, "table.md"), "w", encoding="utf-8") as file:
        file.write(compare_table.table(result["sets"]))
    if importlib.util.find_spec("matplotlib"):
        import plot_compare

        plot_compare.write(result, folder)
    else:
        print("no pictures: there is no matplotlib (python3-matplotlib)", file=sys.stderr)


if __name__ == "__main__":
    main()
