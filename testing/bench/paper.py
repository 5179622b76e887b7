# SPDX-License-Identifier: BSD-3-Clause
"""Measures the figures in PAPER.md: each subcommand is one of its sections, and prints that section's
tables.

    python3 paper.py weak|nodes|pairs|series|plan|progressive|four|blocks|boiler|all [--out FOLDER] [--disk FOLDER] [--repeat N]

weak         Figures 5 to 7: writes and reads of the same number of particles per rank, compared with other ways
nodes        the same on four simulated nodes, flat and through leaders (root; nodes/nodes.sh)
pairs        whole writes there in which each rank has a little for each: flat, leaders, auto
series       Figures 9 to 12: adaptive, rank borders, AUG over steps of a boiler and of a breaking dam
plan         the same by the planner on the paper's ranks and particles: sizes of leaf files
progressive  Tables I and II, and the index's share of a file
four         four writers of the same boiler, and what it takes to read a box and 1 % of it afterwards
blocks       blocks of several variables: collective MPI-IO and aggregated reads, on simulated nodes
boiler       writes FOLDER/boiler.bat, from which paper_pictures.py draws Figure 13

Needs the build (bat_plan, bat_capi) and, for the comparisons, python3-h5py-mpi and network access for VTK's wheel.
FOLDER gets VERB.json, VERB.md and pictures.
"""

import argparse
import json
import math
import os
import pathlib
import shutil
import statistics
import subprocess
import sys

import rank_particles
import vtk_xml_writer
import wheels

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
MB = 10**6
STEPS = {"boiler": (501, 1501, 2501, 3501, 4501), "dam": (0, 1001, 2001, 3001, 4001)}
ATTRIBUTES = {"boiler": 7, "dam": 4, "uniform": 14}  # doubles, as in the paper
MODES = {"adaptive": "adaptive", "rank_border": "rank borders", "aug": "AUG"}
PHASES = ("check", "plan", "exchange", "build", "write", "commit")
COLOURS = ("#0072B2", "#009E73", "#E69F00", "#D55E00", "#56B4E9", "#CC79A7", "#999999", "#000000")


class Paper:
    def __init__(self, options):
        self.options = options
        self.out = pathlib.Path(options.out)
        self.disk = pathlib.Path(options.disk or options.out) / "files"
        self.build = pathlib.Path(options.build)
        for folder in (self.out, self.disk):
            folder.mkdir(parents=True, exist_ok=True)
        self.environment = {**os.environ, "BAT_LIBRARY": str(self.build / "lib" / "libbat_capi.so"),
                            "PYTHONPATH": f"{SOURCE / 'core' / 'python'}:{HERE}", "PYTHONDONTWRITEBYTECODE": "1",
                            "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

    # --- running

    def ranks(self, name, ranks, make, ways, start=None, repeat=None, anew=False, **how):
        """Figures of paper_ranks.py; those of an earlier run unless its files are needed."""
        result = self.out / "runs" / f"{name}.json"
        if self.options.resume and result.exists() and not anew:
            return json.loads(result.read_text(encoding="utf-8"))
        result.parent.mkdir(exist_ok=True)
        result.unlink(missing_ok=True)
        question = {"make": make, "ways": ways, "folder": str(self.disk), "json": str(result), "flush": False,
                    "repeat": repeat or self.options.repeat, **how}
        command = start or ["mpirun", "--oversubscribe", "--bind-to", "none", "--mca", "btl", "self,vader",
                            "--mca", "btl_vader_single_copy_mechanism", "none", "-np", str(ranks)]
        done = subprocess.run([*command, sys.executable, str(HERE / "paper_ranks.py"), json.dumps(question)],
                              env=self.environment, capture_output=True, text=True, timeout=900, check=False)
        if done.returncode or not result.exists():
            raise SystemExit(f"{name} on {ranks} ranks failed:\n{done.stdout[-1000:]}\n{done.stderr[-3000:]}")
        return json.loads(result.read_text(encoding="utf-8"))

    def nodes(self, rate):
        return ["bash", str(HERE / "nodes" / "nodes.sh"), *(["--rate", rate] if rate != "unlimited" else []),
                *(part for name in ("BAT_LIBRARY", "PYTHONPATH") for part in ("-x", name))]

    def reads(self, question, python=sys.executable):
        done = subprocess.run([python, str(HERE / "paper_reads.py"), json.dumps(question)], env=self.environment,
                              capture_output=True, text=True, timeout=900, check=False)
        if done.returncode:
            raise SystemExit(f"{question} failed:\n{done.stderr[-3000:]}")
        return json.loads(done.stdout.splitlines()[-1])

    def pretended(self, kind, ranks, particles, step):
        """Arguments of rank_particles.make()."""
        points = str(self.disk / f"{kind}.f4")
        begins = rank_particles.pretended_points(str(self.build / "bin" / "bat_plan"), ranks, points, kind,
                                                 particles, step)
        return {"kind": kind, "particles": begins[-1], "attributes": ATTRIBUTES[kind], "points": points,
                "begins": begins}

    def planned(self, *arguments):
        done = subprocess.run([str(self.build / "bin" / "bat_plan"), *map(str, arguments), "--json", "-"],
                              capture_output=True, text=True, timeout=900, check=True)
        return json.loads(done.stdout)

    # --- printing and plotting

    def tell(self, name, figures, text):
        (self.out / f"{name}.json").write_text(json.dumps(figures), encoding="utf-8")
        (self.out / f"{name}.md").write_text(text, encoding="utf-8")
        print(text, flush=True)

    def plot(self, name, panels, x, y):
        """panels: title -> line -> [(x, y)]."""
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        figure, all_axes = plt.subplots(1, len(panels), figsize=(4.1 * len(panels), 4.4), squeeze=False)
        for axes, (title, lines) in zip(all_axes.flat, panels.items()):
            # One colour for both lines of a target; theirs is dashed.
            things = list(dict.fromkeys(map(thing_of, lines)))
            for line, points in lines.items():
                axes.plot(*zip(*points), marker="o", markersize=4, label=line, color=COLOURS[things.index(thing_of(line))],
                          linestyle="--" if "AUG" in line or "aggregated" in line else "-")
            axes.set_title(title, loc="left", fontsize="medium")
            axes.set_xlabel(x)
            axes.grid(True, color="#dddddd")
            if x == "ranks":
                axes.set_xscale("log", base=2)
                axes.set_yscale("log")
                axes.xaxis.set_major_formatter("{x:g}")
                axes.yaxis.set_major_formatter("{x:g}")
            else:
                axes.set_ylim(bottom=0)
            axes.legend(frameon=False, fontsize="x-small", loc="upper left", bbox_to_anchor=(-0.1, -0.14), ncols=2)
        all_axes[0, 0].set_ylabel(y)
        figure.tight_layout()
        figure.savefig(self.out / f"{name}.png", dpi=100)
        plt.close(figure)

    # --- the sections

    def weak(self):
        figures, text, panels = {}, "", {}
        for flush, words in ((False, "into the page cache"), (True, "flushed to disk")):
            found = figures[words] = {}
            for ranks in self.options.ranks:
                make = {"kind": "uniform", "particles": 32768 * ranks, "attributes": ATTRIBUTES["uniform"]}
                found[ranks] = self.ranks(f"weak_{ranks}_{flush}", ranks, make, weak_ways((4, 16, 64)), flush=flush)
            for what in ("write",) if flush else ("write", "read"):
                first = found[self.options.ranks[0]]["samples"]
                names = [name for name in first if what in first[name][0]]
                title = f"{what}, {words if what == 'write' else 'from the page cache'}"
                text += table([f"{title}: GB/s on ranks", *found], [
                    [name, *(gigabytes(run, name, what) for run in found.values())] for name in names])
                panels[title] = {name: [(ranks, gigabytes(run, name, what, text=False)) for ranks, run in found.items()]
                                 for name in names}
            ours = [name for name in first if name.startswith("ours") and not name.endswith("read")]
            text += table([f"{words}", "ranks", *(f"{phase}, %" for phase in PHASES), "total s"], [
                [name, ranks, *phases_of(run, name)] for name in ours for ranks, run in found.items()])
        self.tell("weak", figures, text)
        self.plot("weak", panels, "ranks", "GB/s, geometric mean")

    def simulated(self):
        make = {"kind": "uniform", "particles": 32768 * 16, "attributes": ATTRIBUTES["uniform"]}
        for rate in self.options.rate:
            ways = weak_ways((16, 64), exchanges=("flat", "leaders", "auto"), reads=("direct", "aggregated", "auto"))
            run = self.ranks(f"nodes_{rate}", 16, make, ways, start=self.nodes(rate))
            self.tell(f"nodes_{rate}", run, table(
                [f"{run['hosts']} nodes of 4 ranks, {rate}", "write s", "read s", "leaders",
                 "messages between nodes (write)", "MB between nodes (write)", "MB read / MB of the dataset"],
                [[name, *turn_of(run, name)] for name in run["samples"]]))

    def pairs(self):
        for rate in self.options.rate:
            found = {}
            for each in (1, 16, 241, 964):  # particles of 68 bytes per leaf file, with one leaf file per rank
                make = {"kind": "uniform", "deal": "rows", "particles": 256 * each, "attributes": 7}
                found[68 * each] = self.ranks(f"pairs_{rate}_{each}", 16, make, [
                    {"name": route, "way": "ours", "write": {"target_bytes": 16 * 68 * each, "exchange": route}}
                    for route in ("flat", "leaders", "auto")], start=self.nodes(rate))
            body = []
            for size, run in found.items():
                best = min(("flat", "leaders"), key=lambda route: median(run, route, "write"))  # pylint: disable=cell-var-from-loop
                body.append([size, *(f"{1e3 * median(run, route, 'write'):.1f}" for route in ("flat", "leaders", "auto")),
                             f"{ratio(run, 'auto', best, 'write'):.2f}",
                             *(f"{1e3 * exchange_of(run, route):.1f}" for route in ("flat", "leaders", "auto")),
                             *(turn_of(run, route)[3] for route in ("flat", "leaders"))])
            self.tell(f"pairs_{rate}", found, table(
                [f"bytes per pair, {rate}", "flat ms", "leaders ms", "auto ms", "auto / best", "exchange: flat ms",
                 "leaders ms", "auto ms", "messages between nodes: flat", "leaders"], body))

    def series(self):
        for kind in self.options.kind:
            particles, targets = {"boiler": (lambda step: 461 * step, (8,)), "dam": (lambda _: 2 * MB, (6,))}[kind]
            steps = STEPS[kind][::2]
            found = {step: self.ranks(f"series_{kind}_{step}", 16, self.pretended(kind, 16, particles(step), step),
                                      series_ways(targets)) for step in steps}
            names = list(found[steps[-1]]["samples"])
            text = table([f"{kind}, step", "million", "way", "write s", "read s", "files", "largest / mean",
                          *(f"{phase} s" for phase in PHASES)], [
                [step, f"{run['particles'] / MB:.2f}", name, *series_row(run, name)]
                for step, run in found.items() for name in names])
            for what in ("write", "read"):
                text += table([f"{kind}: {what}, adaptive / AUG", *found], [
                    [f"{target} MB", *(f"{ratio(run, f'adaptive {target} MB', f'AUG {target} MB', what):.2f}"
                                       for run in found.values())] for target in targets])
            self.tell(f"series_{kind}", found, text)
            self.plot(f"series_{kind}", {f"{kind}, {what}": {
                name: [(step, median(run, name, what)) for step, run in found.items()] for name in names
                if "borders" not in name} for what in ("write", "read")}, "time step", "seconds, median")

    def plan(self):
        found = []
        for kind, ranks, particles, bytes_each, target in (
                ("boiler", 1536, 0, 68, 8 * MB), ("dam", 1536, 2 * MB, 44, MB), ("dam", 6144, 8 * MB, 44, 3 * MB)):
            for step in STEPS[kind]:
                for mode in MODES:
                    found.append(self.planned(
                        "--kind", kind, "--ranks", ranks, "--particles", particles, "--bytes-per-particle", bytes_each,
                        "--target-size", target, "--mode", mode.replace("_", "-"), "--step", step))
        self.tell("plan", found, table(
            ["data", "ranks", "step", "mode", "files", "mean MB", "s.d. MB", "largest MB", "largest / mean"], [
                [f"{p['kind']}, {p['particles'] / MB:.1f} million", p["ranks"], p["step"],
                 MODES[p["mode"].replace("-", "_")], p["leaf_files"], *(f"{p[key + '_bytes'] / MB:.2f}" for key in (
                     "mean", "stddev", "largest")), f"{p['max_over_mean']:.2f}"] for p in found]))

    def progressive(self):
        found = []
        for kind, particles, targets in (("boiler", lambda step: 922 * step, (2, 4, 8, 16)),
                                         ("dam", lambda _: 2 * MB, (0, 1, 3)), ("dam", lambda _: 8 * MB, (0, 1, 3))):
            for target in targets:
                for step in STEPS[kind][::2]:
                    found.append(self.progressive_of(kind, particles(step), step, target))
        rows = {}
        for f in found:
            kind = f["kind"] + (f" {f['particles'] // MB} million" if f["kind"] == "dam" else "")
            rows.setdefault((kind, f["target"]), []).append(f)
        body = []
        for (kind, target), group in rows.items():
            cells = []
            for names in ("positions", "all"):
                steps = [step for f in group for sample in f[names] for step in sample]
                ms, points = (statistics.fmean(step[i] for step in steps) for i in (0, 1))
                cells += [f"{ms:.1f}", f"{points / ms:.0f}"]
            body.append([kind, f"{target} MB" if target else "one file per rank", round(statistics.fmean(
                f["leaf_files"] for f in group)), *cells,
                f"{100 * statistics.fmean(f['file_bytes'] / f['data_bytes'] - 1 for f in group):.2f}"])
        self.tell("progressive", found, table(
            ["data", "target", "files", "positions: ms", "points / ms", "all attributes: ms", "points / ms",
             "index and padding, %"], body))

    def progressive_of(self, kind, particles, step, target):
        """Ten reads of a tenth each, from a step's dataset."""
        target_bytes = target * MB or -(-particles * (12 + 8 * ATTRIBUTES[kind]) // 64)
        way = {"name": "ours", "way": "ours", "write": {"target_bytes": target_bytes}}
        run = self.ranks("progressive", 1, self.pretended(kind, 1, particles, step), [way], repeat=1, keep=True,
                         anew=True)
        report = run["samples"]["ours"][0]["write_report"]
        path = str(self.disk / "way0.bat")
        answers = {}
        for name, attributes in (("positions", []), ("all", None)):
            question = {"steps": 10, "repeat": self.options.repeat}
            question.update({} if attributes is None else {"attributes": attributes})
            question.setdefault("attributes", [f"attribute{i}" for i in range(ATTRIBUTES[kind])])
            answers[name] = self.reads({"way": "ours", "path": path, "question": question})["samples"]
        self.clear()
        return {"kind": kind, "particles": run["particles"], "step": step, "target": target, **answers, **{
            key: report[key] for key in ("leaf_files", "file_bytes", "data_bytes")}}

    def four(self):
        ranks, step, particles = 8, 4501, 2 * MB
        make = self.pretended("boiler", ranks, particles, step)
        python = wheels.install(str(self.out / "vtk"), vtk_xml_writer.PACKAGES, vtk_xml_writer.IMPORTS)
        ways = [{"name": "ours", "way": "ours", "write": {}, "read": {"mode": "auto"}},
                {"name": "parallel HDF5, one file", "way": "hdf5", "read": {}},
                {"name": "VTK XML pieces", "way": "vtk", "write": {"python": python}, "read": {}},
                {"name": "raw file per process", "way": "raw", "read": {}}]
        run = self.ranks("four", ranks, make, ways, flush=True, keep=True, anew=True)
        dtypes = [["positions", "<f4", 3], *([f"attribute{i}", "<f8", 1] for i in range(make["attributes"]))]
        names = [name for name, *_ in dtypes[1:]]
        questions = {"box": {"box": [2.0, 2.0, 9.0, 6.0, 6.0, 11.0], "attributes": names},
                     "share": {"share": 0.01, "attributes": names}}
        answers = {way["name"]: {what + temperature: [] for what in questions for temperature in ("", "_cold")}
                   for way in ways}
        for _ in range(self.options.repeat):
            for number, way in enumerate(ways):
                path = str(self.disk / f"way{number}") + (".bat" if way["way"] == "ours" else "")
                files = [str(file) for file in self.disk.glob(f"way{number}*") if file.is_file()]
                files += [str(file) for file in self.disk.glob(f"way{number}*/*")]
                for what, question in questions.items():
                    for cold in (True, False):
                        answers[way["name"]][what + ("_cold" if cold else "")].append(self.reads(
                            {"way": way["way"], "path": path, "dtypes": dtypes, "files": files,
                             "question": {**question, "cold": cold}}, python if way["way"] == "vtk" else sys.executable))
        self.clear()
        same = {answer[0]["checksum"] for answer in (of["box"] for of in answers.values())}
        if len(same) != 1:
            raise SystemExit(f"four: the box has different particles: {answers}")
        data = run["particles"] * run["bytes_per_particle"]
        body = []
        for name, of in answers.items():
            files = [size for size in run["samples"][name][0]["files"] if size > 4096 * 2]
            body.append([name, f"{median(run, name, 'write'):.3f}", f"{ratio(run, 'ours', name, 'write'):.2f}",
                         len(files), f"{max(files) / statistics.fmean(files):.2f}", f"{sum(files) / data:.3f}",
                         *(cell for what in questions for cell in (
                             f"{1e3 * middle(of[what], 'seconds'):.1f}", f"{1e3 * middle(of[what + '_cold'], 'seconds'):.1f}",
                             f"{middle(of[what], 'bytes') / MB:.2f}", of[what][0]["particles"]))])
        text = table(["writer", "write s", "ours / this", "files", "largest / mean", "files / data", "box ms",
                      "cold ms", "MB read", "particles", "1 % ms", "cold ms", "MB read", "particles"], body)
        self.tell("four", {"run": run, "answers": answers}, text)
        self.bars("four", [row[0] for row in body], {"write, s": [float(row[1]) for row in body],
                                                    "one box, MB read": [float(row[8]) for row in body],
                                                    "1 % of all, MB read": [float(row[12]) for row in body]})

    def bars(self, name, labels, panels):
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        figure, all_axes = plt.subplots(1, len(panels), figsize=(3.4 * len(panels), 2.4), sharey=True)
        for axes, (title, values) in zip(all_axes, panels.items()):
            bars = axes.barh(labels, values, color=COLOURS[:len(labels)])
            axes.bar_label(bars, padding=3, fontsize="small")
            axes.set_xlim(right=1.25 * max(values))
            axes.set_title(title, loc="left", fontsize="medium")
            axes.spines[["top", "right"]].set_visible(False)
        all_axes[0].invert_yaxis()
        figure.tight_layout()
        figure.savefig(self.out / f"{name}.png", dpi=100)
        plt.close(figure)

    def blocks(self):
        make = {"kind": "lattice", "particles": 96**3, "attributes": 8}
        ways = [{"name": "collective MPI-IO", "way": "grid", "read": {"collective": True}},
                {"name": "independent MPI-IO", "way": "grid", "written_by": "collective MPI-IO",
                 "read": {"collective": False}},
                {"name": "ours, aggregated", "way": "ours", "write": {"target_bytes": 16 * MB},
                 "read": {"mode": "aggregated"}},
                *({"name": f"ours, {mode}", "way": "ours", "written_by": "ours, aggregated", "read": {"mode": mode}}
                  for mode in ("direct", "auto"))]
        for rate in self.options.rate:
            run = self.ranks(f"blocks_{rate}", 16, make, ways, start=self.nodes(rate))
            self.tell(f"blocks_{rate}", run, table(
                [f"{run['hosts']} nodes of 4 ranks, {rate}", "write s", "read s", "read / collective",
                 "MB read / MB of the dataset"], [
                    [name, *turn_of(run, name)[:2], f"{ratio(run, name, 'collective MPI-IO', 'read'):.2f}",
                     turn_of(run, name)[-1]] for name in run["samples"]]))

    def boiler(self):
        way = {"name": "ours", "way": "ours", "file": "boiler", "write": {"target_bytes": 8 * MB}}
        self.ranks("boiler", 1, self.pretended("boiler", 1, 2 * MB, 4501), [way], repeat=1, keep=True,
                   anew=True, folder=str(self.out))

    def clear(self):
        shutil.rmtree(self.disk)
        self.disk.mkdir()


def weak_ways(targets, exchanges=("auto",), reads=("aggregated", "auto")):
    ways = [{"name": "raw file per process", "way": "raw", "read": {}},
            {"name": "MPI-IO, one file", "way": "shared", "read": {}},
            {"name": "parallel HDF5, one file", "way": "hdf5", "read": {}}]
    for target in targets:
        for exchange in exchanges:
            writer = f"ours {target} MB" + (f", {exchange}" if len(exchanges) > 1 else "")
            ways.append({"name": writer, "way": "ours", "write": {
                "target_bytes": math.ceil(target * 1.016 * MB), "exchange": exchange}})
        ways += [{"name": f"ours {target} MB, {mode} read", "way": "ours", "written_by": writer,
                  "read": {"mode": mode}} for mode in reads]
    return ways


def series_ways(targets):
    return [{"name": f"{words} {target} MB", "way": "ours", "read": {"mode": "aggregated"},
             "write": {"target_bytes": int(target * MB), "mode": mode}} for target in targets
            for mode, words in MODES.items()]


# --- figures of a run

def values_of(run, name, what):
    return [sample[what] for sample in run["samples"][name]]


def median(run, name, what):
    return statistics.median(values_of(run, name, what))


def middle(answers, key):
    return statistics.median(answer[key] for answer in answers)


def ratio(run, name, other, what):
    """Median over the pairs."""
    return statistics.median(a / b for a, b in zip(values_of(run, name, what), values_of(run, other, what)))


def gigabytes(run, name, what, text=True):
    data = run["particles"] * run["bytes_per_particle"]
    mean = math.exp(statistics.fmean(math.log(data / 1e9 / seconds) for seconds in values_of(run, name, what)))
    return f"{mean:.2f}" if text else mean


def thing_of(line):
    """The common part of lines in a plot that differ in how they are read, or how ranks are combined."""
    for word in ("adaptive ", "AUG ", ", aggregated read", ", auto read"):
        line = line.replace(word, "")
    return line


def phases_of(run, name):
    reports = [sample["write_report"]["seconds"] for sample in run["samples"][name]]
    seconds = {phase: statistics.median(report[phase] for report in reports) for phase in (*PHASES, "total")}
    whole = sum(seconds[phase] for phase in PHASES)
    return [*(f"{100 * seconds[phase] / whole:.0f}" for phase in PHASES), f"{seconds['total']:.3f}"]


def exchange_of(run, name):
    return statistics.median(sample["write_report"]["seconds"]["exchange"] for sample in run["samples"][name])


def turn_of(run, name):
    sample = run["samples"][name][0]
    data = run["particles"] * run["bytes_per_particle"]
    report = sample.get("write_report")
    return [f"{median(run, name, 'write'):.3f}" if "write" in sample else "",
            f"{median(run, name, 'read'):.3f}" if "read" in sample else "",
            report["leaders"] if report else "", report["messages_between_nodes"] if report else "",
            f"{report['bytes_between_nodes'] / MB:.2f}" if report else "",
            f"{sample['read_report']['read_bytes'] / data:.2f}" if "read_report" in sample else ""]


def series_row(run, name):
    sample = run["samples"][name][0]
    report = sample["write_report"]
    mean = report["data_bytes"] / report["leaf_files"]
    seconds = [statistics.median(s["write_report"]["seconds"][phase] for s in run["samples"][name])
               for phase in PHASES]
    return [f"{median(run, name, 'write'):.3f}", f"{median(run, name, 'read'):.3f}", report["leaf_files"],
            f"{report['largest_leaf_bytes'] / mean:.2f}", *(f"{s:.3f}" for s in seconds)]


def table(head, rows):
    """Markdown; all columns but the first are right-aligned."""
    lines = [head, ["---", *("--:" for _ in head[1:])], *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines) + "\n\n"


VERBS = {"weak": Paper.weak, "nodes": Paper.simulated, "pairs": Paper.pairs, "series": Paper.series, "plan": Paper.plan,
         "progressive": Paper.progressive, "four": Paper.four, "blocks": Paper.blocks, "boiler": Paper.boiler}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=[*VERBS, "all"])
    parser.add_argument("--build", default=str(SOURCE / "build"), help="build folder (default: build beside testing)")
    parser.add_argument("--out", default=str(SOURCE / "build" / "bench" / "paper"))
    parser.add_argument("--disk", help="where the measured files go (default: --out)")
    parser.add_argument("--repeat", type=int, default=7, help="rounds (default: 7)")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 4, 8, 16],
                        help="of weak (default: 1 2 4 8 16)")
    parser.add_argument("--resume", action="store_true",
                        help="what a run with this --out has measured is not measured again (weak, nodes, pairs, series)")
    parser.add_argument("--kind", nargs="+", choices=list(STEPS), default=list(STEPS), help="of series")
    parser.add_argument("--rate", nargs="+", default=["unlimited", "1gbit"],
                        help="of nodes, pairs and blocks: what a node may send and receive (default: unlimited 1gbit)")
    options = parser.parse_args()
    paper = Paper(options)
    for verb in VERBS if options.verb == "all" else [options.verb]:
        VERBS[verb](paper)
    paper.clear()


if __name__ == "__main__":
    main()
