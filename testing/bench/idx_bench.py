# SPDX-License-Identifier: BSD-3-Clause
"""Compares grids (.idx) with OpenVisus and raw files, in pairs: the tables of IDX.md.

Usage: idx_bench.py BUILD_FOLDER [--parts reads writes ranks figures] [--size N] [--rounds R] [--folder F] [--python P]
                    [--pvpython P] [--json FILE]

reads, writes: processor time of one thread, page cache warm, of this library and of OpenVisus in turn on the same
files; OpenVisus comes from PyPI into BUILD_FOLDER/idx_venv, unless --python names an interpreter that has it. Every
array that one of them reads is compared with the other's. ranks: wall and processor time of a write by 4 and 8 ranks
compared with one raw file per rank, from the same arrays. figures: measurements without a counterpart: bytes, memory,
opening, two threads, and pictures, which require --pvpython (ParaView's interpreter), BATReader.so in PV_PLUGIN_PATH,
and a display.
"""

import argparse
import json
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zlib

PINNED = ["OpenVisusNoGui==2.2.149", "numpy==2.2.6"]
FILES = (("raw", "row_major"), ("raw", "hz"), ("zip", "row_major"))
# The limit of each design target: the maximum ratio of our time to theirs.
BARS = {("raw", "row_major"): {"full": 0.8, "level M-3": 1, "level M-6": 1, "level M-9": 1, "box": 1, "slice z": 1, "slice x": 1,
                               "full, beside fromfile": 3, "write": 1.5},
        ("raw", "hz"): {"full": 0.2, "level M-3": 0.3, "level M-6": 0.3, "level M-9": 0.3, "box": 0.5, "write": 0.3},
        ("zip", "row_major"): {"full": 1, "box": 0.8, "write": 1}}
PARTS = ("reads", "writes", "ranks", "figures")
PROGRAM_BAR = 1.7  # a program that writes a grid compared with one that writes raw files


def reads_of(dataset_levels, n):
    """name -> (level, x, y, z), where each axis is a half-open range or None."""
    q, m = n // 4, n // 2 + 1
    every = (None, None, None)
    return {"full": (dataset_levels, *every), "level M-3": (dataset_levels - 3, *every),
            "level M-6": (dataset_levels - 6, *every), "level M-9": (dataset_levels - 9, *every),
            "box": (dataset_levels, (q + 3, 2 * q + 3), (q + 5, 2 * q + 5), (q + 7, 2 * q + 7)),
            "slice z": (dataset_levels, None, None, (m, m + 1)), "slice x": (dataset_levels, (m, m + 1), None, None)}


def openvisus(task):
    """Runs in its own process, which prints a lot and may crash; results are in a line that begins with RESULT."""
    os.environ["VISUS_DISABLE_WRITE_LOCK"] = "1"
    import numpy as np  # pylint: disable=import-outside-toplevel
    import OpenVisus  # pylint: disable=import-outside-toplevel
    db = OpenVisus.LoadDataset(task["path"])
    answer = {}
    if task["do"] == "write":
        values = np.fromfile(task["values"], np.float32).reshape([task["n"]] * 3)
        begin = time.process_time()
        db.write(values, field="p", time=0)
        answer["write"] = [1e3 * (time.process_time() - begin), ""]
    else:
        for name, (level, x, y, z) in reads_of(db.getMaxResolution(), task["n"]).items():
            times = []
            ends = {axis: list(ends) for axis, ends in zip("xyz", (x, y, z)) if ends}
            for _ in range(task["repeats"]):
                begin = time.process_time()
                values = db.read(field="p", max_resolution=level, **ends)
                times.append(1e3 * (time.process_time() - begin))
            answer[name] = [statistics.median(times), f"{zlib.crc32(np.ascontiguousarray(values)):08x}"]
    print("RESULT" + json.dumps(answer), flush=True)


def ask_openvisus(python, task):
    done = subprocess.run([python, __file__, "--openvisus", json.dumps(task)], capture_output=True, text=True, check=False)
    for line in done.stdout.splitlines():
        if line.startswith("RESULT"):
            return json.loads(line[6:])
    raise SystemExit(f"OpenVisus answers nothing: {done.stdout[-800:]}{done.stderr[-800:]}")


def ask_ours(program, *words):
    lines = subprocess.run([program, *map(str, words)], capture_output=True, text=True, check=True).stdout.splitlines()
    return {words[0]: (float(words[1]), *words[2:]) for words in (line.split(":") for line in lines)}


def text_for_openvisus(path, n, codec, layout):
    digits = (n - 1).bit_length()
    order = " default_layout(hzorder)" if layout == "hz" else ""
    path.write_text(f"(version)\n6\n(box)\n0 {n - 1} 0 {n - 1} 0 {n - 1}\n(fields)\np float32{order} default_compression({codec})\n"
                    f"(bits)\nV{'012' * digits}\n(bitsperblock)\n15\n(blocksperfile)\n512\n"
                    f"(filename_template)\n./{path.stem}/%04x.bin\n")


def table(rows, results):
    """Prints medians and ratios of pairs. rows: (what, name) -> list of (ours, theirs)."""
    for (what, name), pairs in rows.items():
        ratios = sorted(ours / theirs for ours, theirs in pairs)
        bar = BARS.get(tuple(what.split(" ", 1)), {}).get(name, PROGRAM_BAR if name.startswith("program") else None)
        ours, theirs = (statistics.median(pair[i] for pair in pairs) for i in range(2))
        ratio = statistics.median(ratios)
        results[f"{what} {name}"] = {"ours": ours, "other": theirs, "ratio": ratio, "ratios": ratios, "bar": bar}
        print(f"| {what} | {name} | {ours:.3g} | {theirs:.3g} | {ratio:.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f}) | "
              f"{'' if bar is None else bar} | {'' if bar is None else 'yes' if ratio <= bar else 'NO'} |", flush=True)


def plain_read(path):
    """Processor time to read a whole file."""
    code = ("import sys, time, numpy\nb = time.process_time()\nnumpy.fromfile(sys.argv[1], numpy.float32)\n"
            "print(1e3 * (time.process_time() - b))")
    return float(subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True).stdout)


def read_bench(arguments, program, python, folder, results):
    print(f"reads of {arguments.size}^3 float32, one thread, ms of processor time\n"
          "| file | read | here | OpenVisus | ratio | bar | |\n|---|---|--:|--:|--:|--:|---|")
    for codec, layout in FILES:
        path = folder / f"{codec}_{layout}.idx"
        ask_ours(program, "write", path, arguments.size, codec, layout, 1)
        rows, plain = {}, []
        for _ in range(arguments.rounds):
            theirs = ask_openvisus(python, {"do": "read", "path": str(path), "n": arguments.size, "repeats": 3})
            ours = ask_ours(program, "read", path, 1, 3)
            for name, (milliseconds, checksum) in theirs.items():
                if ours[name][2] != checksum:
                    raise SystemExit(f"{path.name} {name}: OpenVisus reads other values")
                rows.setdefault((f"{codec} {layout}", name), []).append((ours[name][0], milliseconds))
            if (codec, layout) == FILES[0]:
                plain.append((ours["full"][0], plain_read(folder / "values.raw")))
        table(rows, results)
        if plain:
            table({("raw row_major", "full, beside fromfile"): plain}, results)


def write_bench(arguments, program, python, folder, results):
    print(f"writes of {arguments.size}^3 float32, one thread, ms of processor time, not flushed\n"
          "| file | | here | OpenVisus | ratio | bar | |\n|---|---|--:|--:|--:|--:|---|")
    for codec, layout in FILES:
        rows = {}
        for round_ in range(arguments.rounds):
            theirs = folder / f"ov_{codec}_{layout}_{round_}.idx"
            text_for_openvisus(theirs, arguments.size, codec, layout)
            other = ask_openvisus(python, {"do": "write", "path": str(theirs), "n": arguments.size,
                                           "values": str(folder / "values.raw")})
            own = folder / f"own_{codec}_{layout}_{round_}.idx"
            ours = ask_ours(program, "write", own, arguments.size, codec, layout, 1)
            rows.setdefault((f"{codec} {layout}", "write"), []).append((ours["write"][0], other["write"][0]))
            for written in (theirs, own):
                shutil.rmtree(folder / written.stem)
        table(rows, results)


def whole_process(command):
    """Wall and processor seconds of a program and its children."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(list(map(str, command)), capture_output=True, check=True)
    wall, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def extents_of_ranks(n, ranks):
    """The half-open boxes that ParaView requests on ranks: axes are halved cyclically, the last one first, with a
    shared plane."""
    boxes = [[[0, n]] * 3]
    axis = 2
    while len(boxes) < ranks:
        boxes = [[*box[:axis], part, *box[axis + 1:]] for box in boxes
                 for low, high in (box[axis],) for part in ([low, (low + high) // 2], [(low + high) // 2 - 1, high])]
        axis = (axis + 2) % 3
    return boxes


def picture(task):
    """Runs in pvpython: time from a changed Resolution to the picture, and memory of a read with a budget. Prints
    RESULT."""
    from paraview.simple import (GetActiveViewOrCreate, IDXReader, Show, ColorBy)  # pylint: disable=import-outside-toplevel,import-error

    def memory(key):
        line = next(line for line in pathlib.Path("/proc/self/status").read_text().splitlines() if line.startswith(key))
        return 1024 * int(line.split()[1])

    answer = {"pictures": {}}
    reader = IDXReader(FileName=[task["path"]])
    reader.Resolution = 0
    reader.UpdatePipeline()
    for kind in ("Surface", "Volume"):
        view = GetActiveViewOrCreate("RenderView")
        display = Show(reader, view, "UniformGridRepresentation")
        ColorBy(display, ("POINTS", "p"))
        display.SetRepresentationType(kind)
        view.StillRender()
        times = []
        for below in [12, 9] * task["repeats"]:
            reader.Resolution = reader.Levels - below
            begin = time.monotonic()
            view.StillRender()
            times.append(1e3 * (time.monotonic() - begin))
        answer["pictures"][kind] = statistics.median(times[1::2])
    budgeted = IDXReader(FileName=[task["path"]])
    budgeted.MemoryPerProcess = 8 * task["n"] ** 3 / 2 ** 20
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    before = memory("VmRSS:")
    budgeted.UpdatePipeline()
    answer["memory"] = (memory("VmHWM:") - before) / (4 * task["n"] ** 3)
    print("RESULT" + json.dumps(answer), flush=True)


def figure_bench(arguments, program, folder, results):
    print("figures of one dataset\n| figure | here | bar | |\n|---|--:|--:|---|")

    def row(name, value, maximum, unit="", minimum=False):
        is_well = value >= maximum if minimum else value <= maximum
        results[name] = {"value": value, "bar": maximum}
        print(f"| {name} | {value:.3g}{unit} | {maximum:.3g}{unit} | {'yes' if is_well else 'NO'} |", flush=True)

    n, path, packed = arguments.size, folder / "figures.idx", folder / "packed.idx"
    ask_ours(program, "write", path, n, "raw", "row_major", 1)
    reads = ask_ours(program, "read", path, 1, 3)
    for below in (3, 6, 9):
        row(f"bytes read of level M-{below} / bytes of the field", 100 * int(reads[f"level M-{below}"][1]) / (4 * n ** 3),
            1.05 * 100 / 2 ** below, " %")
    large = folder / "large.idx"
    text_for_openvisus(large, 8192, "raw", "row_major")
    opened = ask_ours(program, "open", large)["open"]
    row(f"opening of {int(opened[1]) / 2 ** 40:.3g} TiB, wall", opened[0], 5, " ms")
    ask_ours(program, "write", packed, n, "zip", "row_major", 1)
    walls = [[float(ask_ours(program, "read", packed, threads, 3)["full"][3]) for threads in (1, 2)]
             for _ in range(arguments.rounds)]
    row("full read, zip, wall of one thread / of two", statistics.median(one / two for one, two in walls), 1.7, minimum=True)
    sys.path.insert(0, str(arguments.build / "python"))
    import parabat.idx  # pylint: disable=import-outside-toplevel,import-error
    with parabat.idx.open(path) as dataset:
        whole = dataset.read().bytes_read
        shared = sum(dataset.read(box=[ends[0] for ends in box] + [ends[1] - 1 for ends in box]).bytes_read
                     for box in extents_of_ranks(n, 4))
    row("bytes that 4 ranks of a server read / one process", shared / whole, 1.3)
    done = subprocess.run([*arguments.mpirun.split(), "8", str(arguments.build / "testing" / "idx_ranks"), "idx", str(folder),
                           str(n), "4", "1", "0"], capture_output=True, text=True, check=True)
    row("memory of a rank beyond its input, of 8 that write 4 fields", int(done.stdout.split()[4]) / 2 ** 20, 64 + 16, " MiB")
    if arguments.pvpython:
        task = json.dumps({"path": str(path), "n": n, "repeats": 9})
        done = subprocess.run([arguments.pvpython, __file__, "--picture", task], capture_output=True, text=True, check=False)
        answer = next((json.loads(line[6:]) for line in done.stdout.splitlines() if line.startswith("RESULT")), None)
        if not answer:
            raise SystemExit(f"ParaView answers nothing: {done.stdout[-800:]}{done.stderr[-800:]}")
        for kind, milliseconds in answer["pictures"].items():
            row(f"level M-9 on screen after another one, {kind.lower()}", milliseconds, 50, " ms")
        row("memory that a read with a budget takes / the arrays it gives", answer["memory"], 2)


def rank_bench(arguments, build, folder, results):
    print(f"writes of {arguments.size}^3 x 4 float32 by ranks, beside a raw file of each rank: seconds; within one program, and "
          "of programs as a whole\n| write | | here | raw files | ratio | bar | |\n|---|---|--:|--:|--:|--:|---|")
    for ranks in (4, 8):
        start = [*arguments.mpirun.split(), str(ranks), build / "testing" / "idx_ranks"]
        for flush in (0, 1):
            words = [folder, arguments.size, 4]
            done = subprocess.run(list(map(str, [*start, "both", *words, arguments.rounds + 1, flush])), capture_output=True,
                                  text=True, check=True)
            lines = [line.split() for line in done.stdout.splitlines()]
            found = {kind: [list(map(float, line[1:3])) for line in lines if line[0] == kind][1:] for kind in ("idx", "raw")}
            whole = {"idx": [], "raw": []}
            for _ in range(arguments.rounds):
                for kind in ("raw", "idx"):
                    whole[kind].append(whole_process([*start, kind, *words, 1, flush]))
            what = f"{ranks} ranks{', flushed' if flush else ''}"
            for i, name in enumerate(("wall", "processors")):
                table({(what, f"write, {name}"): [(a[i], b[i]) for a, b in zip(found["idx"], found["raw"])]}, results)
                table({(what, f"program, {name}"): [(a[i], b[i]) for a, b in zip(whole["idx"], whole["raw"])]}, results)


def environment(build):
    """The interpreter that has OpenVisus."""
    folder = build / "idx_venv"
    stamp = folder / "installed"
    if not stamp.exists() or stamp.read_text() != repr(PINNED):
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        subprocess.run([folder / "bin" / "pip", "install", "-q", "--disable-pip-version-check", *PINNED], check=True)
        stamp.write_text(repr(PINNED))
    return folder / "bin" / "python"


def main():
    for name, task in (("--openvisus", openvisus), ("--picture", picture)):
        if sys.argv[1:2] == [name]:
            task(json.loads(sys.argv[2]))
            return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--size", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder")
    parser.add_argument("--python")
    parser.add_argument("--pvpython")
    parser.add_argument("--mpirun", default="mpirun --oversubscribe -np")
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    program, results = arguments.build / "testing" / "idx_time", {}
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        folder = pathlib.Path(name)
        if {"reads", "writes"} & set(arguments.parts):
            python = arguments.python or environment(arguments.build)
            ask_ours(program, "values", folder / "values.raw", arguments.size)
        if "reads" in arguments.parts:
            read_bench(arguments, program, python, folder, results)
        if "writes" in arguments.parts:
            write_bench(arguments, program, python, folder, results)
        if "ranks" in arguments.parts:
            rank_bench(arguments, arguments.build, folder, results)
        if "figures" in arguments.parts:
            figure_bench(arguments, program, folder, results)
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
