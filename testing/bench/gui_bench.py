# SPDX-License-Identifier: BSD-3-Clause
"""Measures how ParaView's window responds to the mouse while it refines, as a line of JSON.

Usage: PV_PLUGIN_PATH=build/lib/paraview-plugins xvfb-run -a -s "-screen 0 1500x950x24 -noreset"
           python3 gui_bench.py [--budget N] [--drags N] [--server RANKS] FILE.bat

Opens the file, turns on "Refine While Idle", and repeatedly drags the mouse over the view for a second, with real X
server events (xdotool). `press` is the time until ParaView handles the button press, `picture` until the first picture
after it, `frames_per_second` the frame rate of a drag; medians and worst cases, separately for drags before everything
was loaded. `cancelled` counts pictures of steps that a press interrupted. With --server, a pvserver loads, and also
draws if there is much to draw. `memory` is the resident memory of all processes when all is loaded, in bytes.
"""

import argparse
import contextlib
import json
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve()
sys.path.insert(0, str(HERE.parents[1] / "paraview"))
SECONDS_TO_START = 120
SECONDS_TO_DRAW = 60
DRAG_SECONDS = 1.0
MAX_TRIES = 3


def in_window(options):
    """The script that ParaView runs: shows the file and logs events."""
    from paraview.simple import GetActiveViewOrCreate, OpenDataFile, Render, ResetCamera, Show

    def note(what, **more):
        with open(options["log"], "a", encoding="ascii") as log:
            log.write(json.dumps({"at": time.time(), "what": what, **more}) + "\n")

    view = GetActiveViewOrCreate("RenderView")
    reader = OpenDataFile(options["file"])
    reader.ParticleBudget = options["budget"]
    reader.RefineWhileIdle = 1
    Show(reader, view).SetRepresentationType("Point Gaussian")
    ResetCamera(view)
    Render(view)
    window = view.GetRenderWindow()

    def known(name):
        return reader.SMProxy.GetProperty(name).GetElement(0)  # contacts no server during a picture

    def drawn(*_):
        note("drawn", cancelled=window.GetAbortRender(), quality=known("LoadedQuality"),
             left=known("TargetQuality") - known("LoadedQuality"))

    view.GetInteractor().AddObserver("LeftButtonPressEvent", lambda *_: note("press"), 10.0)
    window.AddObserver("EndEvent", drawn)
    note("ready")


def resident(pid):
    with open("/proc/%d/status" % pid, encoding="ascii") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmRSS"))


def children_named(pid, name):
    found = []
    with contextlib.suppress(FileNotFoundError), open("/proc/%d/task/%d/children" % (pid, pid), encoding="ascii") as ids:
        for child in map(int, ids.read().split()):
            with contextlib.suppress(FileNotFoundError), open("/proc/%d/comm" % child, encoding="ascii") as comm:
                found += [child] if comm.read().strip() == name else []
            found += children_named(child, name)
    return found


class Window:
    def __init__(self, folder, options, arguments):
        self.log = folder / "log"
        self.log.touch()
        setup = {"log": str(self.log), "file": str(pathlib.Path(options.file).resolve()), "budget": options.budget}
        script = folder / "in_window.py"
        script.write_text("import sys\nsys.path.insert(0, %r)\nimport gui_bench\ngui_bench.in_window(%r)\n"
                          % (str(HERE.parent), setup))
        self.process = subprocess.Popen(["paraview", "--dr", "--script=%s" % script, *arguments],
                                        env={**os.environ, "HOME": str(folder)})

    def events(self, what, since=0.0):
        lines = self.log.read_text().splitlines()
        return [event for event in map(json.loads, lines) if event["what"] == what and event["at"] >= since]

    def wait(self, is_so, seconds):
        for _ in range(int(seconds / 0.1)):
            if is_so():
                return
            if self.process.poll() is not None:
                sys.exit("paraview ended with %d" % self.process.returncode)
            time.sleep(0.1)
        sys.exit("waited in vain for paraview")


def xdotool(*arguments):
    subprocess.run(["xdotool", *map(str, arguments)], check=True)


def drag(window):
    """Times of one drag, and whether anything was left to refine when it began."""
    xdotool("mousemove", 900, 500)
    before = window.events("drawn")[-1]
    start = time.time()
    xdotool("mousedown", 1)
    step = 0
    while time.time() - start < DRAG_SECONDS:
        step += 1
        xdotool("mousemove", 900 + 4 * step, 500 + 2 * step)
        time.sleep(0.01)
    end = time.time()
    xdotool("mouseup", 1)
    window.wait(lambda: window.events("press", start), SECONDS_TO_DRAW)
    press = window.events("press", start)[0]["at"]
    window.wait(lambda: window.events("drawn", press), SECONDS_TO_DRAW)
    drawn = [event["at"] for event in window.events("drawn", press)]
    return {"refining": before["left"] > 0, "press": press - start, "picture": drawn[0] - start,
            "frames_per_second": sum(at <= end for at in drawn) / DRAG_SECONDS}


def summary(drags):
    result = {"drags": len(drags)}
    for key, worst in (("press", max), ("picture", max), ("frames_per_second", min)):
        values = [one[key] for one in drags]
        if values:
            result[key] = {"median": round(statistics.median(values), 3), "worst": round(worst(values), 3)}
    return result


def measure(options, arguments):
    randomly = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        window = Window(pathlib.Path(folder), options, arguments)
        try:
            window.wait(lambda: window.events("ready"), SECONDS_TO_START)
            drags = []
            while len(drags) < options.drags or (drags[-1]["refining"] and len(drags) < MAX_TRIES * options.drags):
                time.sleep(randomly.uniform(0.5, 2.5))
                drags.append(drag(window))
            time.sleep(2)
            drawn = window.events("drawn")
            server = children_named(os.getpid(), "pvserver")
            print(json.dumps({
                "file": options.file, "quality": drawn[-1]["quality"],
                "refining": summary([one for one in drags if one["refining"]]),
                "afterwards": summary([one for one in drags if not one["refining"]]),
                "cancelled": sum(event["cancelled"] for event in drawn),
                "memory": {"client": resident(window.process.pid), "server": [resident(pid) for pid in server]}}))
        finally:
            window.process.kill()
            window.process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("file")
    parser.add_argument("--budget", type=lambda text: int(float(text)), default=5000000)
    parser.add_argument("--drags", type=int, default=20)
    parser.add_argument("--server", type=int, metavar="RANKS", default=0)
    options = parser.parse_args()
    if not options.server:
        measure(options, [])
        return
    from bat_server import running_server
    with running_server("mpiexec", str(options.server), shutil.which("pvserver")) as port:
        measure(options, ["--server-url=cs://127.0.0.1:%d" % port])


if __name__ == "__main__":
    main()
