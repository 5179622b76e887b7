# SPDX-License-Identifier: BSD-3-Clause
"""Checks counts that do not depend on the machine: bricks touched, reads of small caches, the
cache's budget, and identical results for every way of reading.

Usage: check_flow_bench.py FLOW_BENCH FOLDER"""

import json
import pathlib
import subprocess
import sys


def bench(*arguments):
    done = subprocess.run([sys.argv[1], *map(str, arguments)], check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def main():
    folder = sys.argv[2]
    pathlib.Path(folder, "wind.hints").unlink(missing_ok=True)
    made = bench("make", folder, "--points", 81, "--levels", 7, "--modes", 24, "--time", 0.25)
    series = made["series"]
    assert made["store_over_raw"] < 0.85, made

    first, again = bench("run", series, "--prefetch", "none", "--repeat", 2)
    assert first["touched_percent"] < 3, first
    assert first["reads"] == first["touched"], first  # nothing is read twice
    assert first["bytes_saved_percent"] > 97, first
    assert again["reads"] == 0 and again["checksum"] == first["checksum"]

    ahead, = bench("run", series, "--delay-us", 300)
    assert ahead["checksum"] == first["checksum"]
    assert ahead["prefetches_used"] > 0 and ahead["read_in_vain_percent"] < 40, ahead

    hints = f"{folder}/wind.hints"
    slow = ("run", series, "--delay-us", 300, "--hints-file", hints, "--hints")
    learned, = bench(*slow, "learn", "--fresh")
    read, = bench(*slow, "read")
    assert learned["checksum"] == read["checksum"] == first["checksum"]
    assert learned["hinted"] == 0 < read["hints_used"] <= read["hinted"] <= read["prefetched"], (learned, read)
    assert read["read_in_vain_percent"] < 40, read

    cube = ("run", series, "--region", "cube", "--seeds", 8000, "--ends-only", "--prefetch", "none")
    large, = bench(*cube)
    for cache, maximum in ((4, 1.4), (1, 3), (0.25, 3.5)):
        small, = bench(*cube, "--cache", cache)
        assert small["checksum"] == large["checksum"]
        assert small["cache_bytes"] <= small["max_cache_bytes"] <= max(cache * 2**20, 32 * 9500), small
        assert small["reads_per_touched"] <= maximum, (cache, small)

    # Most bricks are needed, and a third of those of two levels fit into memory.
    spread = ("run", series, "--region", "all", "--seeds", 5000, "--ends-only", "--threads", 1)
    large, = bench(*spread, "--prefetch", "none")
    assert large["reads"] == large["touched"] and large["touched_percent"] > 80, large
    for ahead, maximum in ("none", 1.2), ("velocity", 1.4):  # prefetched bricks may be dropped under load
        small, = bench(*spread, "--cache", 8, "--prefetch", ahead)
        assert small["checksum"] == large["checksum"]
        assert small["reads_per_touched"] <= maximum, (ahead, small)

    # Points exist once in memory, apart from an eighth and small overheads.
    many = ("run", series, "--region", "cube", "--seeds", 216000, "--threads", 1)
    (ends,), (lines,) = bench(*many, "--ends-only"), bench(*many)
    megabytes = 56e-6 * lines["points"]
    assert lines["peak_mb"] - ends["peak_mb"] < 1.5 * megabytes, (ends, lines)

    surface = bench("surface", series, "--prefetch", "none")
    small = bench("surface", series, "--cache", 1)
    assert surface["checksum"] == small["checksum"] and surface["is_refined"], (surface, small)
    assert surface["touched_percent"] < 5 and surface["reads"] == surface["touched"], surface
    assert surface["triangles"] > surface["vertices"] > 100, surface
    print("flow_bench:", first["touched"], "of", first["bricks"], "bricks for 200 lines")


if __name__ == "__main__":
    main()
