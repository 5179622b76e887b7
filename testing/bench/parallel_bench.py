# SPDX-License-Identifier: BSD-3-Clause
"""Writes and reads particles on many ranks, compared with raw files of the same bytes. Run by
pvbatch:

    mpirun -np 4 pvbatch parallel_bench.py --json out.json

The README.md in this folder explains what is measured, what the keys mean, and how to run it on a
cluster.
"""

import argparse
import glob
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(SOURCE, "writer_plugin", "convert")]

import bat_ranks
import parallel_ranks
import rank_particles

MIB = 1 << 20
AGGREGATIONS = {"adaptive": "Adaptive", "rank-border": "At Borders of Ranks", "aug": "Uniform Grid of Ranks"}
KINDS = ("boiler", "uniform", "clustered")
PHASES = ("check", "plan", "exchange", "build", "write", "commit", "total")

class BenchError(Exception):
    """Conditions that make the figures worthless, as text."""


def parse(words):
    parser = argparse.ArgumentParser(
        prog="parallel_bench.py", usage="[mpirun -np N] pvbatch parallel_bench.py --json FILE [options]")
    parser.add_argument("--json", metavar="FILE", required=True, help="file for the figures")
    parser.add_argument("--kind", default="boiler", type=_kind,
                        help="boiler (default), uniform, clustered, or npz:FILE: an array pos (n, 3), others of n rows")
    number = parser.add_mutually_exclusive_group()
    number.add_argument("--particles", type=_positive, help="of all ranks (default: 1,400,000)")
    number.add_argument("--particles-per-rank", type=_positive)
    parser.add_argument("--attributes", type=_positive, default=7, help="doubles per particle (default: 7)")
    parser.add_argument("--deal", choices=("space", "rows"), default="space",
                        help="space (default): each rank owns a box, as in a simulation; rows: equal shares of a "
                             "table whose rows are anywhere, as readers of other files deal them (npz: always)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mode", nargs="+", choices=AGGREGATIONS, default=["adaptive"])
    parser.add_argument("--target-size", nargs="+", type=_size, default=[0], metavar="MIB",
                        help="sizes of leaf files to aim at, in MiB, or auto (default)")
    parser.add_argument("--repeat", type=_positive, default=15, help="pairs (default: 15)")
    parser.add_argument("--vtk-venv", metavar="FOLDER",
                        help="compare with VTK's XML writer; its virtual environment is here or is made here")
    parser.add_argument("--vtk-repeat", type=_positive, default=5, help="pairs with VTK (default: 5)")
    parser.add_argument("--folder", help="where to write, on all ranks the same (default: a temporary one)")
    parser.add_argument("--cold", action="store_true", help="files leave the page cache before they are read")
    parser.add_argument("--bat-plan", metavar="FILE", help="the program that makes the particles of the boiler")
    options = parser.parse_args(words)
    if options.kind.startswith("npz:"):
        options.deal = "rows"
    return options


def _kind(text):
    if text not in KINDS and not (text.startswith("npz:") and os.path.isfile(text[4:])):
        raise argparse.ArgumentTypeError(f"{text!r}; allowed are {', '.join(KINDS)} and npz: with the name of a file")
    return text


def _positive(text):
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r}; allowed is a whole number above 0")
    return int(text)


def _size(text):
    try:
        size = 0.0 if text == "auto" else float(text)
    except ValueError:
        size = -1.0
    if not (0 < size < math.inf or text == "auto"):
        raise argparse.ArgumentTypeError(f"{text!r}; allowed is auto or a number of MiB above 0")
    return size


def built(name):
    """A file of the build tree whose plugins are used; None if it does not exist."""
    plugins = [os.path.dirname(os.path.dirname(folder)) for folder in
               filter(None, os.environ.get("PV_PLUGIN_PATH", "").split(os.pathsep))]
    files = [os.path.join(root, name) for root in (*plugins, os.path.join(SOURCE, "build"))]
    return next((file for file in files if os.path.exists(file)), None)


def remove(path):
    """The file, its companion files, and its leaf files."""
    for name in glob.glob(glob.escape(path) + "*"):
        if os.path.isdir(name):
            shutil.rmtree(name)
        else:
            os.remove(name)


def geometric_mean(values):
    return math.exp(statistics.fmean(map(math.log, values)))


class Bench:
    """Particles on all ranks, and the ways to write and read them."""

    def __init__(self, options, folder):
        self.options = options
        self.folder = folder
        self.path = os.path.join(folder, "bench.bat")
        self.raw = os.path.join(folder, "raw.")
        self.run = bat_ranks.on_all_ranks
        self.made = self._make()
        self.particles = sum(m["particles"] for m in self.made)
        self.row_bytes = max(m["row_bytes"] for m in self.made)
        self.shapes = self.run(parallel_ranks.shapes)
        self.checksum = self._checksum(of_read=False)
        self.data = self._deliver()

    def _make(self):
        options = self.options
        ranks = bat_ranks.ranks()
        particles = options.particles or (options.particles_per_rank or 0) * ranks or 1_400_000
        how = {"kind": options.kind, "particles": particles, "attributes": options.attributes,
               "deal": options.deal, "seed": options.seed}
        if options.kind.startswith("npz:"):
            how.update(kind="npz", points=os.path.abspath(options.kind[4:]))
        if options.kind != "boiler":
            return self.run(parallel_ranks.make, **how)
        program = options.bat_plan or built("bin/bat_plan") or shutil.which("bat_plan")
        if not program:
            raise BenchError("the program bat_plan is not found; give its place with --bat-plan")
        points = os.path.join(self.folder, "points.f4")
        begins = rank_particles.pretended_points(program, ranks if options.deal == "space" else 1, points,
                                                 particles=particles)
        made = self.run(parallel_ranks.make, points=points, begins=begins, **how)
        os.remove(points)
        return made

    def _deliver(self):
        from paraview.simple import ProgrammableSource, UpdatePipeline

        data = ProgrammableSource()
        data.OutputDataSetType = "vtkPolyData"
        data.Script = bat_ranks.script(parallel_ranks, "parallel_ranks.deliver(self.GetPolyDataOutput())")
        UpdatePipeline(proxy=data)
        return data

    def _checksum(self, of_read):
        parts = self.run(parallel_ranks.checksum, of_read=of_read)
        return sum(int(text) for text, _ in parts) % 2**64, sum(rows for _, rows in parts)

    def check_read(self, what):
        """Checks that the particles read last are those that were made."""
        found = self._checksum(of_read=True)
        if found != self.checksum:
            raise BenchError(f"{what}: {found[1]} particles with checksum {found[0]:016x} came back instead of "
                             f"{self.checksum[1]} with {self.checksum[0]:016x}")

    def from_cache_or_disk(self, read):
        """Uses the second of two reads: the kernel may evict pages written a second ago."""
        if self.options.cold:
            patterns = ("bench.bat*", "bench.bat.leaves/*", "raw.*", "vtk.*")
            names = [name for pattern in patterns for name in glob.glob(os.path.join(glob.escape(self.folder), pattern))]
            self.run(rank_particles.forget_pages, names=list(filter(os.path.isfile, names)))
        else:
            read()
        return read()

    # Each of these returns seconds.

    def write_raw(self, flush):
        remove(self.raw)
        return max(self.run(parallel_ranks.write_raw, folder=self.folder, flush=flush))

    def read_raw(self):
        return self.from_cache_or_disk(lambda: max(self.run(
            parallel_ranks.read_raw, folder=self.folder, shapes_of_ranks=self.shapes)))

    def write_bat(self, mode, size):
        """Also returns the writer's report."""
        from paraview import servermanager
        from paraview.simple import Delete

        remove(self.path)
        writer = servermanager.writers.BATWriter(Input=self.data, FileName=self.path, LeafFileSize=size,
                                                 Aggregation=AGGREGATIONS[mode])
        start = time.perf_counter()
        writer.UpdatePipeline()
        seconds = time.perf_counter() - start
        writer.UpdatePropertyInformation()
        report = writer.GetProperty("Report")[0]
        Delete(writer)
        if not report:
            raise BenchError(f"{self.path}: was not written")
        return seconds, json.loads(report)

    def read_bat(self, check):
        return self.from_cache_or_disk(lambda: self._read_bat(check))

    def _read_bat(self, check):
        """Time from the name to particles on all ranks: opening, and the slowest rank's reading."""
        from paraview.simple import BATReader, Delete, ProgrammableFilter, UpdatePipeline

        self.run(parallel_ranks.forget)
        start = time.perf_counter()
        reader = BATReader(FileName=[self.path])
        reader.VertexCells = "None"
        reader.ParticleBudget = 0
        reader.UpdatePipelineInformation()
        seconds = time.perf_counter() - start
        taken = ProgrammableFilter(Input=reader)
        taken.RequestUpdateExtentScript = bat_ranks.script(parallel_ranks, "parallel_ranks.ask_next(self)")
        taken.Script = bat_ranks.script(parallel_ranks, "parallel_ranks.take(self)")
        UpdatePipeline(proxy=taken)
        seconds += max(self.run(parallel_ranks.read_seconds))
        if check:
            self.check_read("BATReader")
        self.run(parallel_ranks.forget)
        Delete(taken)
        Delete(reader)
        return seconds

    def leaf_file_bytes(self):
        names = sorted(glob.glob(os.path.join(glob.escape(self.path + ".leaves"), "*.bat"))) or [self.path]
        return [os.path.getsize(name) for name in names]

    def variant(self, mode, size):
        """Measures raw and BAT alternately; figures for one mode and leaf file size."""
        samples = []
        for repeat in range(-1, self.options.repeat):  # the first round has cold code and files
            sample = {"raw_write_unflushed": self.write_raw(flush=False),
                      "raw_write": self.write_raw(flush=True)}
            sample["bat_write"], report = self.write_bat(mode, size)
            sample["phases"] = report["seconds"]
            sample["raw_read"] = self.read_raw()
            if repeat < 0:
                self.check_read("raw files")
            sample["bat_read"] = self.read_bat(check=repeat < 0)
            if repeat >= 0:
                samples.append(sample)
        phases = {phase: statistics.median(sample["phases"][phase] for sample in samples) for phase in PHASES}
        return {
            "mode": mode, "target_size_mib": size or "auto", "target_bytes": report["target_bytes"],
            "write_over_raw": ratio(samples, "bat_write", "raw_write"),
            "write_over_raw_unflushed": ratio(samples, "bat_write", "raw_write_unflushed"),
            "read_over_raw": ratio(samples, "bat_read", "raw_read"),
            **self.summary(samples, ("raw_write", "raw_write_unflushed", "bat_write", "raw_read", "bat_read")),
            "phases": phases, "moved_bytes": report["moved_bytes"], "file_bytes": report["file_bytes"],
            "leaf_files": report["leaf_files"], "leaf_file_bytes": self.leaf_file_bytes(), "samples": samples}

    def summary(self, samples, names):
        """Medians of seconds; bandwidth as geometric mean (as in the paper)."""
        data = self.particles * self.row_bytes
        return {
            "seconds": {name: statistics.median(sample[name] for sample in samples) for name in names},
            "gb_per_s": {name: geometric_mean([data / 1e9 / sample[name] for sample in samples]) for name in names}}

    def direct(self, mode, size):
        """Measures core/particles/parallel without ParaView, from arrays to arrays."""
        reasons = self.run(parallel_ranks.start_direct, folder=os.path.join(SOURCE, "core", "python"),
                           library=built("lib/libbat_capi.so"))
        missing = next(filter(None, reasons), None)
        if missing:
            return {"missing": missing}
        samples = []
        for repeat in range(-1, self.options.repeat):
            sample = {"raw_write": self.write_raw(flush=True)}
            remove(self.path)
            sample["bat_write"] = max(self.run(parallel_ranks.write_direct, path=self.path,
                                               target_bytes=int(size * MIB), mode=mode))
            sample["raw_read"] = self.read_raw()
            sample["bat_read"] = self.from_cache_or_disk(
                lambda: max(self.run(parallel_ranks.read_direct, path=self.path)))
            if repeat < 0:
                self.check_read("parabat.Dataset.read")
            else:
                samples.append(sample)
        return {"write_over_raw": ratio(samples, "bat_write", "raw_write"),
                "read_over_raw": ratio(samples, "bat_read", "raw_read"),
                **self.summary(samples, ("raw_write", "bat_write", "raw_read", "bat_read")), "samples": samples}

    def vtk(self, mode, size):
        """Measures VTK's XML writer, one process and file per rank, uncompressed and with its default
        compression."""
        if not self.options.vtk_venv:
            return {"missing": "not asked for; see --vtk-venv"}
        program = os.path.join(HERE, "vtk_xml_writer.py")
        python = shutil.which("python3") or "python3"
        made = subprocess.run([python, program, "install", os.path.abspath(self.options.vtk_venv)],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if made.returncode:
            return {"missing": made.stderr.strip()}
        self.write_raw(flush=False)
        found = self.run(parallel_ranks.start_vtk, python=made.stdout.strip(), program=program, folder=self.folder)
        if sum(answer["points"] for answer in found) != self.particles:
            raise BenchError(f"vtk_xml_writer.py has {found}, {self.particles} particles are expected")
        samples = []
        for repeat in range(-1, self.options.vtk_repeat):
            sample = {}
            for name, compressor in (("vtk_raw", "none"), ("vtk_zlib", "default")):
                vtk = os.path.join(self.folder, "vtk.")
                remove(vtk)
                sample[name + "_write"] = max(self.run(
                    parallel_ranks.write_vtk, folder=self.folder, compressor=compressor))
                sample[name + "_bytes"] = sum(map(os.path.getsize, glob.glob(glob.escape(vtk) + "*")))
                sample[name + "_bat_write"], _ = self.write_bat(mode, size)
                sample[name + "_read"] = self.from_cache_or_disk(
                    lambda: max(self.run(parallel_ranks.read_vtk, folder=self.folder)))
                sample[name + "_bat_read"] = self.read_bat(check=False)
                remove(vtk)
            if repeat >= 0:
                samples.append(sample)
        self.run(parallel_ranks.stop_vtk)
        figures = {f"{what}_over_{name}": ratio(samples, f"{name}_bat_{what}", f"{name}_{what}")
                   for what in ("write", "read") for name in ("vtk_raw", "vtk_zlib")}
        names = [f"{name}_{what}" for what in ("write", "read") for name in ("vtk_raw", "vtk_zlib")]
        return {**figures, **self.summary(samples, names), "samples": samples}


def ratio(samples, above, below):
    """Median of the ratios of pairs, so that slowdowns of both cancel out."""
    return statistics.median(sample[above] / sample[below] for sample in samples)


def measure(options, folder):
    bench = Bench(options, folder)
    hosts = bench.run(parallel_ranks.host)
    variants = [bench.variant(mode, size) for mode in options.mode for size in options.target_size]
    first = variants[0]
    direct = bench.direct(first["mode"], options.target_size[0])
    vtk = bench.vtk(first["mode"], options.target_size[0])
    rows = [made["particles"] for made in bench.made]
    return {
        "write_over_raw": first["write_over_raw"], "read_over_raw": first["read_over_raw"],
        "write_over_raw_unflushed": first["write_over_raw_unflushed"],
        **{key: vtk.get(key) for key in ("write_over_vtk_raw", "write_over_vtk_zlib", "read_over_vtk_raw",
                                         "read_over_vtk_zlib")},
        "ranks": bat_ranks.ranks(), "nodes": len({host for host, _ in hosts}), "processors": hosts[0][1],
        "kind": options.kind, "deal": options.deal, "seed": options.seed, "repeat": options.repeat,
        "cold": options.cold, "flush": "fsync of every file, raw, BAT and VTK",
        "particles": bench.particles, "bytes_per_particle": bench.row_bytes,
        "particles_of_a_rank": {"min": min(rows), "max": max(rows)},
        "answer_checksum": f"{bench.checksum[0]:016x}",
        "seconds": first["seconds"], "gb_per_s": first["gb_per_s"], "phases": first["phases"],
        "leaf_file_bytes": first["leaf_file_bytes"],
        "variants": variants, "direct": direct, "vtk": vtk}


def say(figures):
    missing = [f"{name}: {figures[name]['missing']}" for name in ("direct", "vtk") if "missing" in figures[name]]
    ratios = ", ".join(f"{key} {value:.2f}" for key, value in figures.items()
                       if "_over_" in key and value is not None)
    print(f"{figures['ranks']} ranks, {figures['kind']} ({figures['deal']}), {figures['particles']:,} particles of "
          f"{figures['bytes_per_particle']} bytes: {ratios}" + "".join(f"; no {text}" for text in missing))


def main():
    from paraview.modules.vtkRemotingCore import vtkProcessModule

    if vtkProcessModule.GetProcessModule().GetSymmetricMPIMode():
        bat_ranks.tell("error: run pvbatch without --symmetric (--sym): rank 0 controls the others")
        bat_ranks.leave(2)
    status = 0
    folder = None
    try:
        options = parse(sys.argv[1:])
        bat_ranks.load_plugins()
        if not os.access(os.path.dirname(os.path.abspath(options.json)), os.W_OK):
            raise BenchError(f"{options.json}: cannot be written: no such folder, or permission denied")
        folder = tempfile.mkdtemp(prefix="bat_bench_", dir=options.folder)
        figures = measure(options, folder)
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(figures, file, indent=1)
        say(figures)
    except SystemExit as stop:  # argparse has printed the reason
        status = stop.code
    except (BenchError, bat_ranks.RankError, OSError, subprocess.CalledProcessError) as error:
        bat_ranks.tell(f"error: {error}")
        status = 1
    except BaseException:
        bat_ranks.tell(bat_ranks.traceback.format_exc())
        status = 1
    finally:
        if folder:
            shutil.rmtree(folder, ignore_errors=True)
    if status:
        bat_ranks.leave_all(status)


if __name__ == "__main__":
    # Programmable filters fill __main__ with NumPy's sum, max and others; a module keeps its own.
    import parallel_bench

    parallel_bench.main()
