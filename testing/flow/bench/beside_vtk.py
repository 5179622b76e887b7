# SPDX-License-Identifier: BSD-3-Clause
"""Computes the same path lines with VTK's filter, which ParaView uses, and with this library: time, memory, bytes read,
and the distance of the ends.

    flow_bench make FOLDER --npy
    beside_vtk.py BUILD_FOLDER FOLDER [--python PYTHON] [--paraview] [--seeds N] [--region ball|cube|all] [--rounds R] [--warm]

Each line of both tables is a separate process; they alternate, with files that are not in the system's cache. PYTHON is
one that has vtk and numpy, or pvbatch; with --paraview ours is the plugin's filter, in the same program as theirs.
VTK's filter gets each step in blocks with a new image (for images that are not composite, VTK 9.7 uses one step for a
whole interval), read by one call from a file of raw values, and takes steps of half an interval by Runge-Kutta 4
without vorticity. Ours uses those steps too, and also its own, cell by cell.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np


def seeds_of(flow, count, region):
    """Positions (count, 3) in a twelfth of the domain, around its centre, or in all of it."""
    points, spacing, origin = (np.array(v, dtype=float) for v in (flow["points"], flow["spacing"], flow["origin"]))
    half = 0.5 * spacing * (points - 1)
    random = np.random.default_rng(1)
    if region == "cube":
        side = round(count ** (1 / 3))
        steps = np.linspace(-0.125, 0.125, side)
        places = np.stack(np.meshgrid(steps, steps, steps, indexing="ij"), -1).reshape(-1, 3)[:, ::-1]
    elif region == "all":
        places = random.uniform(-1, 1, (count, 3))
    else:
        places = random.uniform(-1, 1, (8 * count + 100, 3))
        places = 0.08 * places[(places ** 2).sum(1) <= 1][:count]
    # VTK's points are float32, so both begin at the same places.
    return np.float32(origin + half + half * places).astype(float)


def forget_files(folder):
    os.sync()
    for file in folder.iterdir():
        handle = os.open(file, os.O_RDONLY)
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(handle)


def peak_memory():
    """MB, of this process alone: children inherit their parent's peak until they exceed it."""
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM"))


def read_bytes():
    with open("/proc/self/io", encoding="ascii") as counts:
        return int(next(line for line in counts if line.startswith("rchar")).split()[1])


def theirs(folder, flow, seeds):
    from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy  # pylint: disable=import-outside-toplevel
    from vtkmodules.util.vtkAlgorithm import VTKPythonAlgorithmBase  # pylint: disable=import-outside-toplevel
    from vtkmodules.vtkCommonCore import vtkFloatArray, vtkPoints, vtkVersion  # pylint: disable=import-outside-toplevel
    from vtkmodules.vtkCommonDataModel import vtkImageData, vtkMultiBlockDataSet, vtkPolyData  # pylint: disable=import-outside-toplevel
    from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline as Pipeline  # pylint: disable=import-outside-toplevel
    from vtkmodules.vtkFiltersFlowPaths import vtkParticlePathFilter  # pylint: disable=import-outside-toplevel

    class Steps(VTKPythonAlgorithmBase):
        def __init__(self):
            super().__init__(nInputPorts=0, nOutputPorts=1, outputType="vtkMultiBlockDataSet")

        def RequestInformation(self, request, inputs, outputs):  # pylint: disable=invalid-name,unused-argument
            information = outputs.GetInformationObject(0)
            times = flow["times"]
            information.Set(Pipeline.TIME_STEPS(), times, len(times))
            information.Set(Pipeline.TIME_RANGE(), (times[0], times[-1]), 2)
            return 1

        def RequestData(self, request, inputs, outputs):  # pylint: disable=invalid-name,unused-argument
            information = outputs.GetInformationObject(0)
            at = flow["times"][0]
            if information.Has(Pipeline.UPDATE_TIME_STEP()):
                at = information.Get(Pipeline.UPDATE_TIME_STEP())
            level = int(np.abs(np.array(flow["times"]) - at).argmin())
            values = np.fromfile(folder / f"flow_{level:04d}.npy", np.float32, offset=128)
            array = vtkFloatArray()
            array.SetNumberOfComponents(3)
            array.SetName("velocity")
            array.SetVoidArray(values, values.size, 1)
            array.values = values  # keeps the memory
            image = vtkImageData()
            image.SetDimensions(*flow["points"])
            image.SetOrigin(*flow["origin"])
            image.SetSpacing(*flow["spacing"])
            image.GetPointData().SetVectors(array)
            data = vtkMultiBlockDataSet.GetData(information)
            data.Initialize()
            data.SetBlock(0, image)
            data.GetInformation().Set(data.DATA_TIME_STEP(), flow["times"][level])
            return 1

    source = Steps()
    points = vtkPoints()
    points.SetData(numpy_to_vtk(seeds.astype(np.float32), deep=1))
    places = vtkPolyData()
    places.SetPoints(points)
    lines = vtkParticlePathFilter()
    lines.SetInputConnection(source.GetOutputPort())
    lines.SetInputArrayToProcess(0, 0, 0, 0, "velocity")
    lines.SetSourceData(places) if hasattr(lines, "SetSourceData") else lines.SetInputDataObject(1, places)
    lines.SetComputeVorticity(False)
    if hasattr(lines, "SetTerminationTime"):
        lines.SetTerminationTime(flow["times"][-1])
    lines.SetIntegratorType(1)  # Runge-Kutta 4, half an interval per step
    if hasattr(lines, "SetMeshOverTimeToStatic"):
        lines.SetMeshOverTimeToStatic()
    else:
        lines.SetStaticMesh(True)
    lines.UpdateTimeStep(flow["times"][-1])
    output = lines.GetOutput()
    data = output.GetPointData()
    numbers = vtk_to_numpy(data.GetArray("InjectedPointId"))
    ages = vtk_to_numpy(data.GetArray("ParticleAge"))
    positions = vtk_to_numpy(output.GetPoints().GetData())
    ends = np.full_like(seeds, np.nan)
    order = np.argsort(ages, kind="stable")
    ends[numbers[order]] = positions[order]
    whole = np.zeros(len(seeds))
    np.maximum.at(whole, numbers, ages)
    ends[whole < 0.999999 * (flow["times"][-1] - flow["times"][0])] = np.nan
    return ends, {"program": f"VTK {vtkVersion().GetVTKVersion()}"}


def ours(folder, flow, seeds, integrator, cache):
    del flow
    import parabat.flow  # pylint: disable=import-outside-toplevel
    with parabat.flow.open(folder / "flow.bricks.series", **({"cache_bytes": cache << 20} if cache else {})) as series:
        lines = series.path_lines(seeds, integrator=integrator, threads=1)
    return (np.where((lines.reasons == 8)[:, None], lines.ends, np.nan),
            {"program": "parabat.flow", "checksum": f"{lines.checksum:016x}", "bytes": lines.statistics["bytes_read"]})


def our_filter(folder, flow, seeds, integrator):
    del flow
    from paraview import simple  # pylint: disable=import-outside-toplevel
    from paraview import servermanager as sm  # pylint: disable=import-outside-toplevel
    from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy  # pylint: disable=import-outside-toplevel
    from vtkmodules.vtkCommonCore import vtkPoints  # pylint: disable=import-outside-toplevel
    from vtkmodules.vtkCommonDataModel import vtkPolyData  # pylint: disable=import-outside-toplevel
    points = vtkPoints()
    points.SetData(numpy_to_vtk(seeds, deep=1))
    places = vtkPolyData()
    places.SetPoints(points)
    producer = simple.TrivialProducer()
    producer.GetClientSideObject().SetOutput(places)
    reader = simple.OpenDataFile(str(folder / "flow.bricks.series"))
    lines = globals()["FlowPathLinesWithCustomSource"](Input=reader, SeedSource=producer)
    lines.Integrator = "Runge-Kutta 4" if integrator == "rk4" else "Cell By Cell"
    lines.UpdatePipeline()
    output = sm.Fetch(lines)
    data = output.GetCellData()
    numbers, reasons = (vtk_to_numpy(data.GetArray(name)) for name in ("SeedIds", "ReasonForTermination"))
    offsets = vtk_to_numpy(output.GetLines().GetOffsetsArray())
    connectivity = vtk_to_numpy(output.GetLines().GetConnectivityArray())
    positions = vtk_to_numpy(output.GetPoints().GetData())
    ends = np.full_like(seeds, np.nan)
    ends[numbers] = positions[connectivity[offsets[1:] - 1]]
    ends[numbers[reasons != 8]] = np.nan
    field = output.GetFieldData()
    return ends, {"program": "FlowPathLines", "bytes": int(field.GetArray("bytes_read").GetTuple1(0))}


def one(arguments):
    """A separate process: times one of them and writes its result."""
    flow = json.loads(arguments.flow)
    build, folder = pathlib.Path(arguments.build), pathlib.Path(arguments.folder)
    seeds = seeds_of(flow, arguments.seeds, arguments.region)
    if arguments.one.startswith("ours"):
        sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "core/python"))
        os.environ.setdefault("BAT_LIBRARY", str(build / "lib/libbat_capi.so"))
    # The first load is not part of the query.
    if arguments.one == "theirs" or arguments.paraview:
        import vtkmodules.vtkFiltersFlowPaths  # pylint: disable=import-outside-toplevel,unused-import
    if arguments.paraview:
        from paraview import simple  # pylint: disable=import-outside-toplevel
        simple.LoadPlugin(str(build / "lib/paraview-plugins/BATReader/BATReader.so"), ns=globals())
    begin, cpu, memory, read = time.perf_counter(), time.process_time(), peak_memory(), read_bytes()
    if arguments.one == "theirs":
        ends, more = theirs(folder, flow, seeds)
    elif arguments.paraview:
        ends, more = our_filter(folder, flow, seeds, arguments.one.split("-", 1)[1])
    else:
        ends, more = ours(folder, flow, seeds, arguments.one.split("-", 1)[1], arguments.cache)
    result = {"seconds": time.perf_counter() - begin, "cpu": time.process_time() - cpu,
              "mb": peak_memory() - memory, "bytes": read_bytes() - read, **more}
    np.save(arguments.answer, ends)
    pathlib.Path(arguments.answer + ".json").write_text(json.dumps(result), encoding="ascii")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("folder")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--paraview", action="store_true")
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--region", choices=("ball", "cube", "all"), default="ball")
    parser.add_argument("--cache", type=int, help="ours, MiB; else as much as it is without being asked")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--warm", action="store_true", help="files stay in the system's cache")
    parser.add_argument("--json")
    for name in ("--one", "--flow", "--answer"):
        parser.add_argument(name, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        return one(arguments)
    build, folder = pathlib.Path(arguments.build).resolve(), pathlib.Path(arguments.folder).resolve()
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "core/python"))
    os.environ.setdefault("BAT_LIBRARY", str(build / "lib/libbat_capi.so"))
    import parabat.flow  # pylint: disable=import-outside-toplevel
    with parabat.flow.open(folder / "flow.bricks.series") as series:
        flow = {"points": series.points, "spacing": series.spacing, "origin": series.origin, "times": series.times.tolist()}
    ways = ("theirs", "ours-rk4", "ours-cell-by-cell")
    runs = {way: [] for way in ways}
    with tempfile.TemporaryDirectory() as scratch:
        for _ in range(arguments.rounds):
            for way in ways:
                if not arguments.warm:
                    forget_files(folder)
                answer = str(pathlib.Path(scratch) / f"{way}.npy")
                subprocess.run([*arguments.python.split(), __file__, str(build), str(folder), "--one", way, "--flow", json.dumps(flow),
                                "--answer", answer, "--seeds", str(arguments.seeds), "--region", arguments.region,
                                *(["--cache", str(arguments.cache)] if arguments.cache else []),
                                *(["--paraview"] if arguments.paraview else [])], check=True)
                runs[way].append(json.loads(pathlib.Path(answer + ".json").read_text(encoding="ascii")))
        ends = {way: np.load(pathlib.Path(scratch) / f"{way}.npy") for way in ways}
    table = {}
    print(f"{arguments.seeds} lines, {' x '.join(map(str, flow['points']))} points, {len(flow['times'])} levels, "
          f"{'warm' if arguments.warm else 'cold'}; {arguments.rounds} rounds\n"
          "| | seconds | processor s | MB | MB read | lines to the end | ends apart from theirs, cells: median, largest |\n"
          "|---|--:|--:|--:|--:|--:|--:|")
    for way in ways:
        middle = {key: statistics.median(run[key] for run in runs[way]) for key in ("seconds", "cpu", "mb", "bytes")}
        apart = np.linalg.norm((ends[way] - ends["theirs"]) / np.array(flow["spacing"]), axis=1)
        apart = np.sort(apart[np.isfinite(apart)])
        table[way] = {**runs[way][0], **middle, "median": apart[len(apart) // 2], "largest": apart[-1]}
        name = runs[way][0]["program"] + {"theirs": "", "ours-rk4": ", Runge-Kutta 4", "ours-cell-by-cell": ""}[way]
        print(f"| {name} | {middle['seconds']:.3f} | {middle['cpu']:.3f} | {middle['mb']:.0f} | {middle['bytes'] / 1e6:.1f} | "
              f"{np.isfinite(ends[way][:, 0]).sum()} | {apart[len(apart) // 2]:.1e}, {apart[-1]:.1e} |")
    both = np.isfinite(ends["theirs"]).all(1) & np.isfinite(ends["ours-rk4"]).all(1)
    same = (np.float32(ends["ours-rk4"][both]) == np.float32(ends["theirs"][both])).all(1)
    table["ends of Runge-Kutta 4 that are theirs as float32"] = [int(same.sum()), len(same)]
    print(f"ends of Runge-Kutta 4 that are theirs, bit by bit, once they are float32 as VTK's points are: {same.sum()} of {len(same)}")
    for way in ways[1:]:
        ratios = {key: statistics.median(a[key] / b[key] for a, b in zip(runs["theirs"], runs[way])) for key in ("seconds", "cpu", "mb")}
        table[way]["ratios"] = ratios
        print(f"theirs / {way}, median of pairs: seconds {ratios['seconds']:.1f}, processor {ratios['cpu']:.1f}, memory {ratios['mb']:.1f}")
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(table, indent=1), encoding="ascii")
    return None


if __name__ == "__main__":
    main()
