# SPDX-License-Identifier: BSD-3-Clause
"""Follows chosen particles through time, compared with other tools that follow ids.

The others are h5py with NumPy, ParticleTracker of openPMD-viewer, and VTK's
vtkTemporalPathLineFilter with VTK's readers. All use the same particles and ids, one thread, and
files in the page cache, and run alternately; every result is compared with the truth.

    PYTHONPATH=core/python BAT_LIBRARY=build/lib/libbat_capi.so python3 testing/bench/follow_bench.py FOLDER \\
        [--particles 1000000] [--steps 4] [--repeat 25] [--ids 1000] [--type float64] [--id-range wide] [--choose box]

Writes `steps` files; every system reads each of them `repeat` times, or twice if it is slow. A particle has a position
and a velocity of `type` and an int64 id; the particles' order differs in every step. Ids are all numbers of a range
(`dense`, as in LAMMPS and Gadget), or arbitrary (`wide`, as in AMReX, which packs the creating rank into them). The
followed ids are chosen at random, the worst case for a file in spatial order, or are neighbours in the first step
(`box`), like an interactive selection.

Each tool reads the following from every step. parabat: the pages that contain the particles, from the index, the
positions and the velocities. h5py: id, position and velocity completely, from contiguous HDF5 datasets, its fastest
layout. openPMD-viewer: the same, from openPMD files that store each component separately. VTK: a whole .vtp (appended,
raw, not compressed, ParaView's default) with vtkXMLPolyDataReader, or a whole .vtkhdf (the defaults of vtkHDFWriter)
with vtkHDFReader; the particles have no vertex cells there, which takes less time.

Needs NumPy and h5py; openPMD-viewer and VTK take part if they can be imported. Prints milliseconds per step, the
minimum over the rounds: processor time, which other programs affect less, and wall time; and the ratio to
parabat.follow."""

import argparse
import importlib
import importlib.util
import os
import time

import h5py
import numpy as np
import parabat

ROUNDS = 3


def make(folder, particles, steps, number="float32", id_range="dense"):
    random = np.random.default_rng(1)
    if id_range == "dense":
        ids = random.permutation(particles).astype(np.int64) + 2**40
    else:
        ids = random.permutation(np.unique(random.integers(0, 2**62, particles + particles // 100))[:particles])
    places = random.random((particles, 3)).astype(number)
    velocity = random.standard_normal((particles, 3)).astype(number) / 1000
    written = []
    for step in range(steps):
        places = (places + velocity) % 1
        order = random.permutation(particles)
        columns = {"id": ids[order], "velocity": velocity[order]}
        parabat.write(f"{folder}/step{step}.bat", places[order], columns, time=float(step), flush=False, sorted_indexes=["id"])
        with h5py.File(f"{folder}/step{step}.h5", "w") as file:
            file["position"], file["id"], file["velocity"] = places[order], columns["id"], columns["velocity"]
        openpmd(f"{folder}/openpmd/step{step:08d}.h5", step, places[order], columns)
        if path_line_filter():
            vtk_files(f"{folder}/step{step}", places[order], columns)
        written.append((places[order], columns))
    return written


def openpmd(path, step, places, columns):
    """An openPMD 1.1 species."""
    with h5py.File(path, "w") as file:
        file.attrs.update({"openPMD": np.bytes_("1.1.0"), "openPMDextension": np.uint32(0), "basePath": np.bytes_("/data/%T/"),
                           "particlesPath": np.bytes_("particles/"), "iterationEncoding": np.bytes_("fileBased"),
                           "iterationFormat": np.bytes_("step%08T.h5"), "meshesPath": np.bytes_("fields/")})
        data = file.create_group(f"data/{step}")
        data.attrs.update({"time": float(step), "dt": 1.0, "timeUnitSI": 1.0})
        species = data.create_group("particles/dust")
        for name, values in (("position", places), ("momentum", columns["velocity"])):
            record = species.create_group(name)
            for axis, label in enumerate("xyz"):
                record[label] = values[:, axis]
                record[label].attrs["unitSI"] = 1.0
            record.attrs.update({"unitDimension": np.zeros(7), "timeOffset": 0.0})
        offset = species.create_group("positionOffset")
        for label in "xyz":
            one = offset.create_group(label)
            one.attrs.update({"value": 0.0, "unitSI": 1.0, "shape": np.uint64([len(places)])})
        species["id"] = columns["id"].astype(np.uint64)
        species["id"].attrs["unitSI"] = 1.0
        for name in ("charge", "mass"):
            one = species.create_group(name)
            one.attrs.update({"value": 1.0, "unitSI": 1.0, "shape": np.uint64([len(places)])})


def by_parabat(folder, steps, ids, **how):
    trails = parabat.follow([f"{folder}/step{step}.bat" for step in steps], ids, ["velocity"], threads=1, **how)
    return trails.positions.data, trails["velocity"].data


def by_h5py(folder, steps, ids):
    order = np.argsort(ids)
    found = []
    for step in steps:
        with h5py.File(f"{folder}/step{step}.h5") as file:
            known = file["id"][:]
            rows = np.flatnonzero(np.isin(known, ids))
            place = order[np.searchsorted(ids[order], known[rows])]
            arrays = []
            for name in ("position", "velocity"):
                values = np.empty((len(ids), 3), np.float32)
                values[place] = file[name][:][rows]
                arrays.append(values)
            found.append(arrays)
    return np.array([one[0] for one in found]), np.array([one[1] for one in found])


def by_openpmd(folder, steps, ids):
    from openpmd_viewer import OpenPMDTimeSeries, ParticleTracker
    series = OpenPMDTimeSeries(f"{folder}/openpmd", check_all_files=False)
    chosen = ParticleTracker(series, iteration=0, species="dust", select=ids.astype(np.uint64), preserve_particle_index=True)
    found = [series.get_particle(["x", "y", "z", "ux", "uy", "uz"], species="dust", iteration=step, select=chosen) for step in steps]
    order = np.array([np.flatnonzero(chosen.selected_pid == one)[0] for one in ids])
    arrays = np.array(found)[:, :, order]
    return np.moveaxis(arrays[:, :3], 1, 2), np.moveaxis(arrays[:, 3:], 1, 2)


def path_line_filter():
    """The class, wherever VTK has it; None if VTK lacks it."""
    for module in ("vtkFiltersHybrid", "vtkFiltersGeneral"):
        try:
            found = getattr(importlib.import_module("vtkmodules." + module), "vtkTemporalPathLineFilter", None)
        except ImportError:
            found = None
        if found is not None:
            return found
    return None


def vtk_files(path, places, columns):
    from vtkmodules.util.numpy_support import numpy_to_vtk, numpy_to_vtkIdTypeArray
    from vtkmodules.vtkCommonCore import vtkPoints
    from vtkmodules.vtkCommonDataModel import vtkPolyData
    from vtkmodules.vtkIOHDF import vtkHDFWriter
    from vtkmodules.vtkIOXML import vtkXMLPolyDataWriter
    data, points = vtkPolyData(), vtkPoints()
    points.SetData(numpy_to_vtk(places))
    data.SetPoints(points)
    for name, array in (("id", numpy_to_vtkIdTypeArray(columns["id"])), ("velocity", numpy_to_vtk(columns["velocity"]))):
        array.SetName(name)
        data.GetPointData().AddArray(array)
    xml = vtkXMLPolyDataWriter()
    xml.SetDataModeToAppended()
    xml.EncodeAppendedDataOff()
    xml.SetCompressorTypeToNone()
    for writer, suffix in ((xml, "vtp"), (vtkHDFWriter(), "vtkhdf")):
        writer.SetInputData(data)
        writer.SetFileName(f"{path}.{suffix}")
        assert writer.Write(), path


def vtk_step(folder, step, suffix):
    """The reader's output, with ids of the type that the filter requires."""
    from vtkmodules.vtkCommonCore import vtkIdTypeArray
    from vtkmodules.vtkIOHDF import vtkHDFReader
    from vtkmodules.vtkIOXML import vtkXMLPolyDataReader
    reader = vtkXMLPolyDataReader() if suffix == "vtp" else vtkHDFReader()
    reader.SetFileName(f"{folder}/step{step}.{suffix}")
    reader.Update()
    data = reader.GetOutput()
    ids = data.GetPointData().GetArray("id")
    if not isinstance(ids, vtkIdTypeArray):
        same = vtkIdTypeArray()
        same.DeepCopy(ids)
        same.SetName("id")
        data.GetPointData().AddArray(same)
    return data


def by_vtk(folder, steps, ids, suffix):
    """The filter's lines for all particles whose ids are in the selection."""
    from vtkmodules.util.numpy_support import numpy_to_vtkIdTypeArray
    from vtkmodules.util.vtkAlgorithm import VTKPythonAlgorithmBase
    from vtkmodules.vtkCommonCore import vtkPoints
    from vtkmodules.vtkCommonDataModel import vtkPolyData
    from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline

    class Source(VTKPythonAlgorithmBase):
        def __init__(self):
            super().__init__(nInputPorts=0, nOutputPorts=1, outputType="vtkPolyData")
            self.steps = 0

        def RequestInformation(self, request, inputs, outputs):
            info, times = outputs.GetInformationObject(0), [float(i) for i in range(len(steps))]
            info.Set(vtkStreamingDemandDrivenPipeline.TIME_STEPS(), times, len(times))
            info.Set(vtkStreamingDemandDrivenPipeline.TIME_RANGE(), [times[0], times[-1]], 2)
            return 1

        def RequestData(self, request, inputs, outputs):
            info = outputs.GetInformationObject(0)
            at = int(info.Get(vtkStreamingDemandDrivenPipeline.UPDATE_TIME_STEP()))
            output = vtkPolyData.GetData(outputs)
            output.ShallowCopy(vtk_step(folder, steps[at], suffix))
            output.GetInformation().Set(output.DATA_TIME_STEP(), float(at))
            self.steps += 1
            return 1

    chosen = vtkPolyData()
    chosen.SetPoints(vtkPoints())
    chosen.GetPoints().SetNumberOfPoints(len(ids))
    expected = numpy_to_vtkIdTypeArray(ids, deep=True)
    expected.SetName("id")
    chosen.GetPointData().AddArray(expected)
    source = Source()
    lines = path_line_filter()()
    lines.SetInputConnection(0, source.GetOutputPort())
    lines.SetInputDataObject(1, chosen)
    lines.SetIdChannelArray("id")
    lines.SetMaskPoints(1)
    lines.SetMaxTrackLength(len(steps) + 1)
    lines.SetMaxStepDistance(2, 2, 2)
    for at in range(len(steps)):
        lines.UpdateTimeStep(float(at))
    assert source.steps == len(steps), source.steps
    return lines.GetOutput().GetNumberOfLines()


def chosen_ids(truth, count, how):
    places, columns = truth[0]
    if how == "random":
        return np.random.default_rng(2).choice(columns["id"], count, replace=False)
    return columns["id"][np.argsort(np.abs(places - 0.5).max(axis=1))[:count]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folder")
    for name, default in (("particles", 1000000), ("steps", 4), ("repeat", 25), ("ids", 1000)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--type", choices=("float32", "float64"), default="float32")
    parser.add_argument("--id-range", choices=("dense", "wide"), default="dense")
    parser.add_argument("--choose", choices=("random", "box"), default="random")
    arguments = parser.parse_args()
    folder = arguments.folder
    os.makedirs(f"{folder}/openpmd", exist_ok=True)
    truth = make(folder, arguments.particles, arguments.steps, arguments.type, arguments.id_range)
    ids = chosen_ids(truth, arguments.ids, arguments.choose)
    steps = [i % arguments.steps for i in range(arguments.steps * arguments.repeat)]
    few = steps[:2 * arguments.steps]
    places = [np.array([place[np.flatnonzero(columns["id"] == one)[0]] for one in ids[:20]]) for place, columns in truth]

    systems = {"parabat.follow": (by_parabat, steps), "parabat.follow, map": (lambda *a: by_parabat(*a, map=True), steps),
               "h5py and numpy": (by_h5py, few)}
    if importlib.util.find_spec("openpmd_viewer"):
        systems["openPMD-viewer"] = (by_openpmd, few)
    if path_line_filter():
        for suffix in ("vtp", "vtkhdf"):
            systems[f"vtkTemporalPathLineFilter, .{suffix}"] = (lambda *a, s=suffix: by_vtk(*a, s), few[:arguments.steps])
    best, minimum = dict.fromkeys(systems, np.inf), dict.fromkeys(systems, np.inf)
    for _ in range(ROUNDS):
        for name, (follow, which) in systems.items():
            begin, busy = time.perf_counter(), time.process_time()
            found = follow(folder, which, ids)
            minimum[name] = min(minimum[name], (time.process_time() - busy) / len(which) * 1000)
            best[name] = min(best[name], (time.perf_counter() - begin) / len(which) * 1000)
            if isinstance(found, tuple):
                for at, step in enumerate(which):
                    assert np.allclose(found[0][at][:20], places[step], rtol=0, atol=1e-6), (name, at)
            else:
                assert found == len(ids), (name, found)
    print(f"{arguments.ids:,} ids ({arguments.id_range}; {arguments.choose}), {arguments.particles:,} particles of {arguments.type}, "
          f"one thread; parabat {parabat.__version__}, {len(steps)} steps")
    for name, milliseconds in minimum.items():
        print(f"  {name:34} {milliseconds:9.2f} ms of the processor for a step, {milliseconds / minimum['parabat.follow']:7.1f} x; "
              f"{best[name]:9.2f} ms by the clock, {best[name] / best['parabat.follow']:7.1f} x")


if __name__ == "__main__":
    main()
