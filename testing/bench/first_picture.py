# SPDX-License-Identifier: BSD-3-Clause
"""Measures seconds from Apply to the first picture, a line of JSON per run, to compare builds in pairs.

Usage: xvfb-run -a pvbatch first_picture.py --particles N [--plugin BATReader.so]... [--folder F] [--kind K]
       [--budget B]... [--look L]... [--repeat R] [--make-only]

Creates a file of N particles in the folder, which is kept and reused; with --make-only, does not time anything.
Then runs R rounds. In each round every plugin takes its turn in its own process, with every budget and look. A
plugin is the path of a BATReader.so, or of the folder that contains it; the BATWriter.so next to it writes the
file.

Seconds: `open` from the name to the filled panel; `picture` from Apply to the picture, that is, the reader, Show, and
the first Render, in Point Gaussian with the radius that the reader suggests; `read` is the reader's part of it.
`another` is one more picture from another side. `cpu` is the processor time of all threads of the process for
`picture`. `shown` is the number of particles in it. The budget is ParaView's own unless --budget sets others;
`--budget 0` is no limit, and `--budget refine` begins as Refine While Idle does. Looks are "default" (what Show gives,
radii by region as in the window if the plugin has them), "Spheres", "Density Glow", "Points".
"""

import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import time

CHUNK = 1 << 20  # particles per seed


def places(kind, count, random):
    """Some of the particles of a kind."""
    import numpy as np
    if kind == "uniform":
        return random.random((count, 3), dtype="f4")
    # A disc galaxy in its halo.
    radius, phase = random.exponential(1.0, count), 2 * np.pi * random.random(count)
    phase += np.where(random.random(count) < 0.5, 0, np.pi) + 2.2 * np.log(radius + 0.2)
    at = np.stack([radius * np.cos(phase), radius * np.sin(phase), 0.06 * random.normal(size=count)], axis=1)
    at[::8] = 4 * random.normal(size=at[::8].shape)
    return at.astype("f4")


def make(path, kind, particles):
    """40 bytes per particle: positions, id, velocity, temperature and density."""
    import numpy as np
    from paraview.simple import SaveData, TrivialProducer
    from vtkmodules.util.numpy_support import numpy_to_vtk
    from vtkmodules.vtkCommonCore import vtkPoints
    from vtkmodules.vtkCommonDataModel import vtkPolyData
    at = np.empty((particles, 3), "f4")
    columns = {"id": np.arange(particles, dtype="i8"), "velocity": np.empty((particles, 3), "f4"),
               "temperature": np.empty(particles, "f4"), "density": np.empty(particles, "f4")}
    for first in range(0, particles, CHUNK):
        random = np.random.default_rng(first)
        rows = slice(first, min(first + CHUNK, particles))
        count = rows.stop - rows.start
        at[rows] = places(kind, count, random)
        columns["velocity"][rows] = random.normal(size=(count, 3))
        columns["density"][rows] = np.exp(-np.abs(at[rows]).sum(1))
        columns["temperature"][rows] = random.random(count)
    points = vtkPoints()
    points.SetData(numpy_to_vtk(at))
    data = vtkPolyData()
    data.SetPoints(points)
    for name, values in columns.items():
        array = numpy_to_vtk(values)
        array.SetName(name)
        data.GetPointData().AddArray(array)
    source = TrivialProducer()
    source.GetClientSideObject().SetOutput(data)
    source.MarkModified(source)
    partial = path.with_name("part_of_" + path.name)
    SaveData(str(partial), proxy=source)
    # The top file names its leaf files after itself.
    if partial.with_name(partial.name + ".leaves").exists():
        for name in (partial, partial.with_name(partial.name + ".leaves")):
            subprocess.run(["rm", "-r", str(name)], check=True)
        SaveData(str(path), proxy=source)
    else:
        partial.rename(path)


def cpu():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def run(options):
    """Measures one picture, in this process."""
    from paraview.simple import GetActiveCamera, GetActiveViewOrCreate, OpenDataFile, Render, Show
    (budget,), (look,) = options.budget, options.look
    view = GetActiveViewOrCreate("RenderView")
    view.ViewSize = [1000, 800]
    Render(view)  # an empty window, as ParaView has when a file is opened
    start = time.perf_counter()
    reader = OpenDataFile(str(options.file))
    reader.UpdatePipelineInformation()
    opened = time.perf_counter()
    if budget == "refine":
        reader.RefineWhileIdle = 1
    elif budget != "default":
        reader.ParticleBudget = int(float(budget))
    begin, used = time.perf_counter(), cpu()
    reader.UpdatePipeline()
    read = time.perf_counter()
    reader.UpdatePropertyInformation()
    display = Show(reader, view)
    display.SetRepresentationType("Point Gaussian")
    display.GaussianRadius = reader.SuggestedRadius
    if "RadiusByRegion" in display.ListProperties():
        display.RadiusByRegion = 1
    if look != "default":
        display.Look = look
    Render(view)
    drawn, used = time.perf_counter(), cpu() - used
    GetActiveCamera().Azimuth(5)
    Render(view)
    turned = time.perf_counter()
    line = {"plugin": options.plugin[0] if options.plugin else "", "particles": reader.ParticleCount,
            "kind": options.kind, "budget": budget, "look": look,
            "shown": reader.GetDataInformation().GetNumberOfPoints(), "quality": reader.LoadedQuality,
            "open": opened - start, "read": read - begin, "picture": drawn - begin, "another": turned - drawn,
            "cpu": used}
    print(json.dumps({key: round(value, 4) if isinstance(value, float) else value for key, value in line.items()}))


def load(plugin, name="BATReader"):
    """Does nothing if the plugin does not exist."""
    from paraview.simple import LoadPlugin
    path = pathlib.Path(plugin)
    found = [p for p in ([path] if path.is_file() else sorted(path.rglob(name + ".so"))) if p.exists()]
    if not found:
        raise SystemExit(f"{plugin}: no {name}.so in it")
    LoadPlugin(str(found[0]), remote=False, ns=globals())


def plugin_of(plugin, name):
    """The plugin of this name next to another."""
    path = pathlib.Path(plugin)
    return str(path.parent.parent / name / (name + ".so")) if path.is_file() else plugin


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--particles", type=lambda text: int(float(text)), required=True)
    parser.add_argument("--plugin", action="append", default=[])
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("."))
    parser.add_argument("--kind", choices=("galaxy", "uniform"), default="galaxy")
    parser.add_argument("--budget", action="append")
    parser.add_argument("--look", action="append")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--make-only", action="store_true")
    parser.add_argument("--step", choices=("make", "run"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.budget = options.budget or ["default", str(options.particles // 10)]
    options.look = options.look or ["default"]
    options.file = options.folder / f"first_picture_{options.kind}_{options.particles}.bat"
    if options.step:
        if options.plugin:
            load(options.plugin[0])
            if options.step == "make":
                load(plugin_of(options.plugin[0], "BATWriter"), "BATWriter")
        make(options.file, options.kind, options.particles) if options.step == "make" else run(options)
        return

    def step(name, plugin, budget="default", look="default"):
        arguments = ["--particles", str(options.particles), "--folder", str(options.folder), "--kind", options.kind,
                     "--budget", budget, "--look", look, "--step", name] + (["--plugin", plugin] if plugin else [])
        # An explicitly named plugin is the only one.
        environment = {key: value for key, value in os.environ.items() if not plugin or key != "PV_PLUGIN_PATH"}
        done = subprocess.run(["pvbatch", os.path.abspath(__file__)] + arguments, env=environment,
                              stdout=subprocess.PIPE, text=True, check=False)
        lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
        if done.returncode or (name == "run" and len(lines) != 1):
            raise SystemExit(f"{plugin}: {name} failed\n{done.stdout}")
        return lines

    plugins = options.plugin or [""]
    if not options.file.exists():
        step("make", plugins[0])
    if options.make_only:
        return
    for number in range(options.repeat + 1):
        # The first and last plugin alternate. The round before the first loads the file into the
        # page cache.
        for plugin in plugins if number % 2 else plugins[::-1]:
            for budget in options.budget:
                for look in options.look:
                    line = step("run", plugin, budget, look)[0]
                    if number:
                        print(line)
                        sys.stdout.flush()


if __name__ == "__main__":
    main()
