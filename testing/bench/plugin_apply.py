# SPDX-License-Identifier: BSD-3-Clause
"""Measures the cost of Apply without drawing, with the Python and the compiled plugin, in pairs.

    /usr/bin/python3 plugin_apply.py FILE.bat --compiled BATReader.so --python parabat_paraview.py [--pairs N]

Each run is a separate pvpython: a reader with ParaView's own budget is opened (`open`), loads (`read`), and answers
what the window requests before it draws, the bounds and ranges of all arrays (`describe`); seconds, the minimum of
three readers. Prints a line of JSON for each pair and one for all. Fails if the two have different particles, or if the
median of the ratios of the sums is above 1.3. BAT_LIBRARY is the library of the Python plugin.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

MAX_RATIO, READERS = 1.3, 3
SUPPORT = pathlib.Path(__file__).resolve().parent.parent / "paraview" / "getargspec"  # for ParaView 5.11 of Debian 12


def seconds(path):
    """Times of one reader, and its content."""
    from paraview.simple import Delete
    from vtkmodules.util.numpy_support import vtk_to_numpy
    times = [time.perf_counter()]
    reader = globals()["BATReader"](FileName=[path])  # put there by LoadPlugin()
    reader.UpdatePipelineInformation()
    times.append(time.perf_counter())
    reader.UpdatePipeline()
    times.append(time.perf_counter())
    about = reader.GetDataInformation()
    found = [about.GetNumberOfPoints(), *about.GetBounds()]
    arrays = reader.PointData
    found += [arrays[i].GetRange(c) for i in range(len(arrays)) for c in range(-1, arrays[i].GetNumberOfComponents())]
    times.append(time.perf_counter())
    ids = reader.GetClientSideObject().GetOutputDataObject(0).GetPointData().GetArray("id")
    found.append(int(vtk_to_numpy(ids).sum()) if ids else None)
    Delete(reader)
    return [end - begin for begin, end in zip(times, times[1:])], found


def run(path, plugin):
    """Runs in pvpython."""
    from paraview.simple import LoadPlugin
    LoadPlugin(plugin, remote=False, ns=globals())
    runs = [seconds(path) for _ in range(READERS)]
    assert all(found == runs[0][1] for _, found in runs), runs
    print(json.dumps({"times": min((times for times, _ in runs), key=sum), "found": runs[0][1]}))


def measured(path, plugin):
    """Measured in its own process, without other plugins."""
    environment = {**os.environ, "PYTHONPATH": str(SUPPORT), "LC_ALL": "C.UTF-8"}
    environment.pop("PV_PLUGIN_PATH", None)
    done = subprocess.run(["pvpython", os.path.abspath(__file__), path, "--run", plugin], env=environment,
                          stdout=subprocess.PIPE, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or len(lines) != 1:
        raise SystemExit(f"{plugin}: failed\n{done.stdout}")
    return json.loads(lines[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("file", type=os.path.abspath)
    parser.add_argument("--compiled", type=os.path.abspath)
    parser.add_argument("--python", type=os.path.abspath)
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--run", metavar="PLUGIN", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        run(options.file, options.run)
        return 0
    ratios, names = [], ("compiled", "python")
    for number in range(options.pairs):
        turn = names[::-1] if number % 2 else names
        both = {name: measured(options.file, getattr(options, name)) for name in turn}
        if both["python"]["found"] != both["compiled"]["found"]:
            raise SystemExit(f"other particles: {both}")
        sums = {name: sum(both[name]["times"]) for name in names}
        ratios.append(sums["python"] / sums["compiled"])
        print(json.dumps({name: dict(zip(("open", "read", "describe"), (round(t, 4) for t in both[name]["times"])))
                          for name in names} | {"ratio": round(ratios[-1], 3)}), flush=True)
    median = statistics.median(ratios)
    print(json.dumps({"particles": both["python"]["found"][0], "pairs": len(ratios), "median": round(median, 3),
                      "min": round(min(ratios), 3), "max": round(max(ratios), 3)}))
    return int(median > MAX_RATIO)


if __name__ == "__main__":
    sys.exit(main())
