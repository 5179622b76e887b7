# SPDX-License-Identifier: BSD-3-Clause
"""Prints counts, times and errors of traces with their limits, as the table in
testing/bench/FLOW.md.

    flow_table.py BUILD_FOLDER FOLDER [--json FILE]

FOLDER gets two series of 161^3 points and 25 times, turbulence, packed and not (2.3 GB), unless they exist. Times are
the medians of separate processes, alternating if two are compared. Counts do not depend on the machine.
"""

import argparse
import json
import pathlib
import statistics
import subprocess

results = {}


def row(name, measured, target, met, **more):
    results[name] = {"measured": measured, "target": target, "met": met, **more}
    print(f"| {name} | {measured} | {target} | {'yes' if met else 'NO'} |", flush=True)


def hints_rows(run, folder, rounds=5):
    """Slow reads: hints learned from other seeds in the same region, and from seeds everywhere, compared with the first
    run."""
    slow = ("--delay-us", 5000, "--io-threads", 64)
    known = {"place": [("--random", n) for n in (2, 3, 4, 5)], "all over": [("--region", "all", "--seeds", 5000)]}
    files = {}
    for name, runs in known.items():
        files[name] = folder / f"{name}.hints"
        files[name].unlink(missing_ok=True)
        for words in runs:
            run("--hints", "learn", "--hints-file", files[name], *words)
    turns = [(run(*slow, "--prefetch", "none")[0], run(*slow)[0],
              *(run(*slow, "--hints", "read", "--hints-file", file)[0] for file in files.values()))
             for _ in range(rounds)]
    assert len({r["checksum"] for turn in turns for r in turn}) == 1
    seconds = [[r["seconds"] for r in turn] for turn in turns]

    def saved(against, of):
        return 100 * statistics.median(1 - turn[of] / turn[against] for turn in seconds)
    used = [100 * r["hints_used"] / r["hinted"] for r in turns[0][2:]]
    row("second run, hints from other seeds in the same region: time saved, share of used hints",
        f"{saved(1, 2):.0f} %, {used[0]:.0f} %", "0 %", saved(1, 2) >= 0, seconds=seconds)
    row("the same, hints from 5,000 seeds throughout the domain; relative to no prefetching",
        f"{saved(1, 3):.0f} %, {used[1]:.0f} %; {saved(0, 3):.0f} %", "-; 0 %", saved(0, 3) >= 0)
    warm = ("--region", "cube", "--seeds", 64000, "--ends-only", "--repeat", 3)
    ratios = []
    for _ in range(3):
        files["learned"] = folder / "learned.hints"
        files["learned"].unlink(missing_ok=True)
        off, learn = (run(*warm, *words)[-1]["cpu_seconds"] for words in
                      ((), ("--hints", "learn", "--hints-file", files["learned"])))
        ratios.append(learn / off)
    row("64,000 seeds, warm: processor time with reading and learning hints / without hints; file size, KB",
        f"{statistics.median(ratios):.2f} x; {files['learned'].stat().st_size / 1e3:.0f}", "-", True, ratios=ratios)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("folder")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    program = pathlib.Path(arguments.build) / "testing/flow_bench"
    folder = pathlib.Path(arguments.folder)

    def bench(*words):
        done = subprocess.run([str(program), *map(str, words)], check=True, stdout=subprocess.PIPE)
        return json.loads(done.stdout)

    def run(*words, series="packed"):
        return bench("run", folder / series / "flow.bricks.series", *words)

    def in_turns(first, second, key, rounds=5):
        """Medians of both, and of the ratios of pairs."""
        pairs = [(run(*first)[-1][key], run(*second)[-1][key]) for _ in range(rounds)]
        return (*(statistics.median(pair[i] for pair in pairs) for i in range(2)),
                statistics.median(b / a for a, b in pairs))

    made = {}
    for series, words in (("packed", ()), ("raw", ("--raw",))):
        notes = folder / f"{series}.json"
        if not notes.exists():
            notes.write_text(json.dumps(bench("make", folder / series, "--threads", 1, *words)), encoding="ascii")
        made[series] = json.loads(notes.read_text(encoding="ascii"))

    print("| figure | measured | target | met |\n|---|--:|--:|---|")
    cube = ("--region", "cube", "--seeds", 64000, "--ends-only")
    without = ("--prefetch", "none")

    # Exactness.
    lines = run("--compare-with", 1e-11)[0]
    row("200 lines over 24 intervals: largest distance between an end point and that of a trace with error 1e-11, cells",
        f"{lines['error_cells_largest']:.1e}", "1e-3", lines["error_cells_largest"] <= 1e-3, checksum=lines["checksum"])
    rk4 = run("--integrator", "rk4", "--compare-with", 1e-11)[0]
    results["rk4"] = rk4["error_cells_largest"]
    checksums = {run(*words, series=series)[0]["checksum"] for series, words in (
        *(("packed", ("--threads", threads)) for threads in (1, 2, 4)),
        *(("packed", ("--cache", cache, *ahead)) for cache in (0.25, 4, 64) for ahead in ((), without)),
        ("packed", ("--portable",)), ("raw", ()))}
    row("results are bit-identical in all configurations below",
        "yes" if len(checksums) == 1 else f"{len(checksums)} answers", "yes", checksums == {lines["checksum"]})

    # Reads.
    raw = run(*without, series="raw")[0]
    row("200 lines, unpacked: bricks touched, bytes saved", f"{raw['touched_percent']:.2f} %, {raw['bytes_saved_percent']:.1f} %",
        "0.5 %, 99.3 %", raw["touched_percent"] <= 0.5 and raw["bytes_saved_percent"] >= 99.3)
    box = run(*cube, *without, series="raw")[0]
    row("64,000 seeds in a box: bricks touched, bytes saved", f"{box['touched_percent']:.2f} %, {box['bytes_saved_percent']:.1f} %",
        "3.2 %, 96 %", box["touched_percent"] <= 3.2 and box["bytes_saved_percent"] >= 96, checksum=box["checksum"])
    stores = [made[series]["store_over_raw"] for series in ("packed", "raw")]
    row("file size / raw: packed, unpacked", f"{stores[0]:.2f}, {stores[1]:.2f}", "0.85, 1.01",
        stores[0] <= 0.85 and stores[1] <= 1.01)

    # Throughout the domain.
    spread = [run("--region", "all", "--seeds", count, "--cache", 32, "--threads", 1, "--ends-only")[0]
              for count in (1000, 8000, 64000, 512000)]
    ratio = spread[2]["reads_per_touched"]
    row("64,000 seeds throughout the domain, 32 MiB of cache: reads / bricks touched", f"{ratio:.2f}", "1.2", ratio <= 1.2,
        checksum=spread[2]["checksum"])
    seconds = [s["cpu_seconds"] for s in spread]
    row("1,000, 8,000, 64,000, 512,000 seeds throughout the domain, 32 MiB of cache, files in the page cache: processor s",
        ", ".join(f"{s:.1f}" for s in seconds), "at most 8 times as long for 8 times as many",
        all(b <= 8 * a for a, b in zip(seconds, seconds[1:])))

    # Memory.
    small = {cache: run(*cube, *without, "--cache", cache)[0] for cache in (4, 1, 0.25)}
    row("reads / bricks touched, 64,000 seeds, 4, 1, 0.25 MiB of cache", ", ".join(f"{s['reads_per_touched']:.2f}" for s in small.values()),
        "1.4, 3, 4", all(s["reads_per_touched"] <= bar for s, bar in zip(small.values(), (1.4, 3, 4))))
    over = max(s["cache_bytes"] - s["max_cache_bytes"] for s in small.values())
    row("cache above its budget, bytes", max(0, over), "0", over <= 0)
    one = run(*cube[:2], "--seeds", 8, "--ends-only", "--cache", 4)[0]
    row("memory of a process in addition to its cache, 8 seeds, MB", one["peak_mb"] - 4, "32", one["peak_mb"] - 4 <= 32)

    # Waiting for reads.
    slow = ("--delay-us", 5000, "--io-threads", 64)
    waits = [(run(*slow, *without)[0], run(*slow)[0]) for _ in range(5)]
    saved = statistics.median(1 - b["seconds"] / a["seconds"] for a, b in waits)
    vain = statistics.median(b["read_in_vain_percent"] for _, b in waits)
    row("first run, 5 ms per read, 64 in flight: time saved by prefetching, unused reads", f"{100 * saved:.0f} %, {vain:.0f} %",
        "45 %, 15 %", saved >= 0.45 and vain <= 15, seconds=[[a["seconds"], b["seconds"]] for a, b in waits])
    hints_rows(run, folder)

    # Speed.
    warm = (*cube, "--repeat", 3)
    fast, portable, _ = in_turns(warm, (*warm, "--portable"), "million_particle_intervals_per_cpu_s", 3)
    row("million particle-intervals/s per core, warm: with AVX2, without", f"{fast:.2f}, {portable:.2f}", "1.2, 0.6",
        fast >= 1.2 and portable >= 0.6)
    store = [bench("store") for _ in range(3)]
    put, got = (statistics.median(s[key] for s in store) for key in ("million_set_per_s", "million_get_per_s_two_at_once"))
    row("bricks inserted into the cache, bricks found in the cache; million/s, one thread",
        f"{put:.0f}, {got:.0f}", "8, 12", put >= 8 and got >= 12)
    reads = bench("reads", folder / "packed/flow.bricks.series", "--repeat", 5)
    ratio, rate = (statistics.median(r[key] for r in reads) for key in ("ratio", "bricks_per_s"))
    row("cold bricks/s, 64 in flight; relative to plain `pread` calls of the same size",
        f"{rate:,.0f}, {ratio:.2f} x", "0.85 x", ratio >= 0.85,
        ratios=[r["ratio"] for r in reads])
    one, two, ratio = in_turns((*warm, "--threads", 2), (*warm, "--threads", 1), "seconds")
    row("64,000 seeds: speedup from 1 to 2 threads, warm", f"{ratio:.2f} x", "1.8 x", ratio >= 1.8, seconds=[two, one])
    rate, whole = (made["packed"][f"write_mb_per_{part}_s"] for part in ("user", "cpu"))
    row("write speed, MB/s per core, packed; including system time", f"{rate:.0f}; {whole:.0f}", "600", rate >= 600)
    cold = [run("--cold", "--fresh", "--repeat", 3, series=series)[-1]["seconds"] for series in ("packed", "raw")]
    results["cold seconds, packed and unpacked"] = cold
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(results, indent=1), encoding="ascii")


if __name__ == "__main__":
    main()
