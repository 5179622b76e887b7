# SPDX-License-Identifier: BSD-3-Clause
"""Times parallel writes through bat_io.h with this project's and the paper's own library, alternately.

    python3 bat_io_bench.py [--ranks 2 4] [--kind boiler] [--json OUT] LIBRARY LIBRARY...

Every library is a shared one with the functions of bat_io.h, for example build/lib/libbat_capi.so. Each writes the
same particles in its own processes, because the paper's library binds threads to processors. The output is read back
with BAT_LIBRARY (see parabat), which reads both formats, and must have the particles' checksum.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
sys.path.insert(0, str(SOURCE / "core" / "python"))

import parabat
import rank_particles


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("libraries", nargs="+", metavar="LIBRARY", help="ratios are to the first")
    parser.add_argument("--ranks", nargs="+", type=int, default=[2])
    parser.add_argument("--kind", choices=("boiler", "uniform", "clustered"), default="boiler")
    parser.add_argument("--particles", type=int, default=1_400_000, help="of all ranks")
    parser.add_argument("--attributes", type=int, default=7, help="doubles per particle")
    parser.add_argument("--target-size", type=float, default=0,
                        help="MiB of a leaf file (default: all particles / ranks)")
    parser.add_argument("--repeat", type=int, default=3, help="writes of a process")
    parser.add_argument("--rounds", type=int, default=5, help="processes of each library")
    parser.add_argument("--bat-plan", default=str(SOURCE / "build" / "bin" / "bat_plan"))
    parser.add_argument("--mpirun", default="mpirun -np", type=str.split,
                        help="what the number of ranks and a command are put behind")
    parser.add_argument("--folder", help="where to write (default: a temporary folder)")
    parser.add_argument("--json", metavar="FILE", help="file for the figures")
    return parser.parse_args()


def run(options, library, ranks, how):
    command = [*options.mpirun, str(ranks), sys.executable, str(HERE / "bat_io_writer.py"), library, json.dumps(how)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith('{"seconds"')]
    if done.returncode or not lines:
        raise SystemExit(f"{library} on {ranks} ranks failed:\n{done.stdout[-1000:]}\n{done.stderr[-2000:]}")
    return json.loads(lines[0])


def checksum_of(path):
    with parabat.Dataset(path) as dataset:
        particles = dataset.read()
        columns = dict(particles, positions=particles.positions)
        return f"{rank_particles.checksum(columns):016x}", dataset.leaf_file_count, dataset.file_bytes


def measure(options, ranks, folder):
    make = {"kind": options.kind, "particles": options.particles, "attributes": options.attributes}
    if options.kind == "boiler":
        make["points"] = str(folder / "points.f4")
        make["begins"] = rank_particles.pretended_points(options.bat_plan, ranks, make["points"],
                                                        particles=options.particles)
    row_bytes = 12 + 8 * options.attributes
    target = int(options.target_size * 2**20) or -(-options.particles * row_bytes // ranks)
    found = {library: {"bat_io": [], "raw": []} for library in options.libraries}
    for _ in range(options.rounds):
        for library, of_library in found.items():
            out = folder / "out"
            how = {"path": str(out / "particles"), "target_bytes": target, "repeat": options.repeat, "make": make}
            result = run(options, library, ranks, how)
            for way, seconds in result["seconds"].items():
                of_library[way].append(statistics.median(seconds))
            checksum, leaf_files, file_bytes = checksum_of(out / "particles.pbat")
            if checksum != result["checksum"]:
                raise SystemExit(f"{library}: checksum {checksum} was read back, {result['checksum']} was written")
            of_library.update(leaf_files=leaf_files, file_bytes=file_bytes, checksum=checksum)
            shutil.rmtree(out)
    first = found[options.libraries[0]]
    for of_library in found.values():
        of_library["seconds"] = statistics.median(of_library["bat_io"])
        of_library["over_raw"] = statistics.median(a / b for a, b in zip(of_library["bat_io"], of_library["raw"]))
        of_library["first_over_this"] = statistics.median(
            a / b for a, b in zip(first["bat_io"], of_library["bat_io"]))
    return {"ranks": ranks, "kind": options.kind, "particles": options.particles, "bytes_per_particle": row_bytes,
            "target_bytes": target, "libraries": found}


def main():
    options = parse()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="bat_io_bench_", dir=options.folder))
    try:
        results = []
        for ranks in options.ranks:
            results.append(measure(options, ranks, folder))
            for library, of_library in results[-1]["libraries"].items():
                print(f"{ranks} ranks, {os.path.basename(library)}: {of_library['seconds']:.3f} s, "
                      f"{of_library['over_raw']:.2f} x raw files, {of_library['leaf_files']} leaf files; "
                      f"the first takes {of_library['first_over_this']:.2f} x this", flush=True)
        if options.json:
            pathlib.Path(options.json).write_text(json.dumps(results, indent=1), encoding="utf-8")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
