# SPDX-License-Identifier: BSD-3-Clause
"""Opening .bat files from Python: quality, box, ranges, arrays, series, state."""
from bat_test import *
from paraview import smstate, smtrace
from vtkmodules.util.misc import calldata_type
from vtkmodules.vtkCommonCore import VTK_STRING, vtkOutputWindow

N = 20000
P = points(N)
A = arrays(N)
ID = A["id"]
warnings = []


@calldata_type(VTK_STRING)
def keep(window, event, text):
    warnings.append(text)


with Folder() as folder:
    path = folder("sample.bat")
    SaveData(path, producer(cloud(N)))

    # Both ways to open it, one name or a list.
    for reader in (OpenDataFile(path), BATReader(FileName=path), BATReader(FileName=[path])):
        expect(reader.GetXMLName(), "BATReader", "proxy")
        expect(ids(reader), ID, "all ids")
        Delete(reader)

    stable = folder("stable.bat")
    SaveData(stable, producer(cloud(1000)), StableSamples=["id"])
    reader = OpenDataFile(stable)
    reader.UpdatePipelineInformation()
    expect(reader.StableSamples, "id", "StableSamples")
    Delete(reader)

    reader = OpenDataFile(path)
    reader.UpdatePipelineInformation()
    expect(reader.ParticleCount, N, "ParticleCount")
    expect(reader.FileVersion, "1.0", "FileVersion")
    expect(reader.StableSamples, "", "StableSamples of a file without")
    bounds = np.array(reader.Bounds)
    expect(bounds[0::2], P.min(0).astype("f8"), "lower ends of Bounds")
    expect(np.array(reader.Box), bounds, "the box starts as that of the file")
    info = list(reader.AttributeRangesInfo)
    ranges = {info[i]: (info[i + 1], info[i + 2]) for i in range(0, len(info), 3)}
    expect(sorted(ranges), ["id", "mass", "velocity", "velocity[0]", "velocity[1]", "velocity[2]"], "ranges")
    expect(ranges["id"], (str(BIG_ID), str(BIG_ID + N - 1)), "range of id")
    assert reader.BytesRead < 65536, "opening reads little"

    # Histograms, on request.
    expect(len(reader.AttributeHistograms), 0, "numbers of histograms that nobody wants")
    reader.ComputeHistograms = 1
    reader.UpdatePropertyInformation()
    numbers = np.array(reader.AttributeHistograms).reshape(-1, 2, 68)
    expect(len(numbers), 6, "histograms")
    assert np.allclose(numbers[:, :, 4:].sum(2), N), "a histogram has all particles"
    bins = numbers[info[0::3].index("mass"), 0, 4:]
    assert np.abs(bins.cumsum() - np.histogram(A["mass"], 64)[0].cumsum()).max() < 0.02 * N, "bins of mass"
    expect(list(reader.AttributeValues), [], "values of attributes that have many")
    reader.ComputeHistograms = 0

    # The estimated number of matches, before they are loaded.
    expect(len(reader.MatchEstimate), 0, "an estimate that nobody wants")
    reader.EstimateMatches = 1
    reader.AttributeRanges = ["mass", "0.25", "0.5"]
    reader.UpdatePropertyInformation()
    matches = int(((A["mass"] >= 0.25) & (A["mass"] <= 0.5)).sum())
    expect(list(reader.MatchEstimate), [matches] * 3, "of a small file the estimate is exact")
    reader.AttributeRanges = ["mass", "0.5", "0.25"]
    reader.UpdatePropertyInformation()
    expect(list(reader.MatchEstimate), [], "no estimate of what makes no sense")
    reader.AttributeRanges = []
    reader.EstimateMatches = 0

    # Quality.
    reader.Quality = 0.1
    tenth = ids(reader)
    expect(len(tenth), 2000, "particles at quality 0.1")
    reader.UpdatePropertyInformation()
    expect(reader.LoadedCount, 2000, "LoadedCount")
    reader.Quality = 0.2
    assert set(tenth) < set(ids(reader)), "a higher quality adds"
    reader.Quality = 1

    # Box.
    reader.UseBox = 1
    reader.Box = [0.2, 0.4, 0, 1, 0.5, 2]
    inside = (P[:, 0] >= 0.2) & (P[:, 0] <= 0.4) & (P[:, 2] >= 0.5)
    expect(ids(reader), ID[inside], "ids in the box")

    # Ranges: combined with the box, exact on 64-bit integers, magnitudes and components.
    reader.AttributeRanges = ["mass", "0.25", "0.5", "velocity[1]", "0", ""]
    expected = inside & (A["mass"] >= 0.25) & (A["mass"] <= 0.5) & (A["velocity"][:, 1] >= 0)
    expect(ids(reader), ID[expected], "ids in box and ranges")
    reader.UseBox = 0
    reader.AttributeRanges = ["velocity", "2", "inf"]
    expect(ids(reader), ID[np.sqrt((A["velocity"] ** 2).sum(1)) >= 2], "ids of fast particles")
    reader.AttributeRanges = ["id", str(BIG_ID), str(BIG_ID)]
    expect(ids(reader), np.array([BIG_ID]), "id == 2**53 + 1")
    expect(list(reader.AttributeRanges), ["id", "9007199254740993", "9007199254740993"], "exact texts")
    reader.AttributeRanges = []
    expect(len(ids(reader)), N, "no ranges")

    # Regions initially have the bounds of the data.
    expect(list(reader.RegionCenter), list(bounds[0::2] + 0.5 * (bounds[1::2] - bounds[0::2])), "center")
    expect(list(reader.RegionHalfExtents), list(0.5 * (bounds[1::2] - bounds[0::2])), "half extents")
    expect(reader.RegionRadius, max(reader.RegionHalfExtents), "radius")
    expect(list(reader.RegionLimits), list(bounds[4:]), "limits")
    check_conditions(reader, N, "one file")

    # Arrays.
    expect(list(reader.PointArrayStatus.Available), ["id", "mass", "velocity"], "arrays in the file")
    reader.PointArrayStatus = ["mass"]
    fetch(reader)
    expect(reader.PointData.keys(), ["mass"], "chosen arrays")
    window = vtkOutputWindow.GetInstance()
    observer = window.AddObserver("WarningEvent", keep)
    reader.PointArrayStatus = ["mass", "typo"]
    fetch(reader)
    reader.Quality = 0.5
    fetch(reader)
    reader.Quality = 1
    window.RemoveObserver(observer)
    expect(reader.PointData.keys(), ["mass"], "arrays beside one that is not there")
    expect(len(warnings), 1, "warnings of a name that is not there")
    assert "sample.bat: unknown attribute 'typo'" in warnings[0] and "available: id, mass, velocity" in warnings[0], warnings
    reader.PointArrayStatus = ["id", "mass", "velocity"]

    # Integers with few values.
    few = cloud(1000)
    kinds = np.random.default_rng(1).choice([3, 4, 6], 1000).astype("i4")
    add_arrays(few.GetPointData(), {"kind": kinds, "wide": (kinds * 1000).astype("i4")})
    SaveData(folder("few.bat"), producer(few))
    other = OpenDataFile(folder("few.bat"))
    other.ComputeHistograms = 1
    other.UpdatePipelineInformation()
    other.UpdatePropertyInformation()
    expect(list(other.AttributeValues),
           [text for v in (3, 4, 6) for text in ["kind", str(v)] + [str((kinds == v).sum())] * 3], "values of kind")
    # As set by the panel's check boxes.
    other.AttributeRanges = ["!kind", "3", "4", "!kind", "6", "6"]
    expect(len(ids(other)), 0, "particles of no kind")
    other.AttributeRanges = ["!kind", "4", "4"]
    expect(len(ids(other)), int((kinds != 4).sum()), "particles of two kinds")
    Delete(other)

    # Cells.
    for kind, cells in (("None", 0), ("One for All Particles", 1), ("One per Particle", N)):
        reader.VertexCells = kind
        expect(fetch(reader).GetNumberOfCells(), cells, "cells: " + kind)

    # State files of both kinds restore everything.
    reader.Quality = 0.5
    reader.UseBox = 1
    reader.Box = [0, 0.75, 0, 1, 0, 1]
    reader.AttributeRanges = ["id", str(BIG_ID + 1), str(BIG_ID + 10000), "mass", "0.125", "",
                              "id", str(BIG_ID + 11000), "", "!mass", "0.5", "0.625"]
    reader.Ids = f"{BIG_ID + 100}-{BIG_ID + 5000}"
    reader.IdsMode = "All But These"
    reader.Region = "Oriented Box"
    reader.RegionRotation = [10, 20, 30]
    reader.RegionOutside = 1
    reader.RegionHalfExtents = [0.25, 0.25, 0.25]
    reader.PointArrayStatus = ["id"]
    before = ids(reader)
    assert 0 < len(before) < N
    texts = list(reader.AttributeRanges)
    SaveState(folder("state.pvsm"))
    script = smstate.get_state()
    for state in ("XML state", "Python state"):
        ResetSession()
        if state == "XML state":
            LoadState(folder("state.pvsm"))
        else:
            exec(script)
        reader = [s for s in GetSources().values() if s.GetXMLName() == "BATReader"][0]
        expect(reader.Quality, 0.5, state + ": Quality")
        expect(list(reader.AttributeRanges), texts, state + ": AttributeRanges")
        expect((reader.IdsMode, reader.Region), ("All But These", "Oriented Box"), state + ": choices")
        expect(ids(reader), before, state + ": ids")
        expect(reader.PointData.keys(), ["id"], state + ": arrays")

    # A Python trace contains the filters.
    ResetSession()
    smtrace.start_trace()
    reader = OpenDataFile(path)
    applied = smtrace.PropertiesModified(reader.SMProxy)  # what Apply does
    reader.UseBox = 1
    reader.Box = [0, 0.75, 0, 1, 0, 1]
    reader.AttributeRanges = texts + ["mass", "", "0.875"]
    reader.Ids = f"{BIG_ID + 100}..{BIG_ID + 5000}"
    reader.IdsMode = "All But These"
    reader.Region = "Slab"
    reader.RegionNormal = [1, 1, 0]
    reader.RegionLimits = [0.5, 1]
    reader.RegionOutside = 1
    applied.finalize()
    trace = smtrace.stop_trace()
    assert "Histograms" not in trace, trace
    before = ids(reader)
    assert 0 < len(before) < N
    ResetSession()
    exec(trace)
    reader = [s for s in GetSources().values() if s.GetXMLName() == "BATReader"][0]
    expect(list(reader.AttributeRanges), texts + ["mass", "", "0.875"], "trace: AttributeRanges")
    expect(ids(reader), before, "trace: ids")

    # A series over time: the times are those in the files.
    times = [0.5, 0.75, 2.0]
    names = []
    for step, time in enumerate(times):
        data = cloud(100 + step, seed=step, first=1000 * step)
        data.GetInformation().Set(data.DATA_TIME_STEP(), time)
        names.append(folder("series_%04d.bat" % step))
        SaveData(names[-1], producer(data))
    series = OpenDataFile(names)
    expect(list(series.TimestepValues), times, "times of the series")
    for step, time in enumerate(times):
        expect(ids(series, time), arrays(100 + step, step, 1000 * step)["id"], "time %g" % time)
    series.Quality = 0.5
    expect(len(ids(series, 0.75)), 51, "half of the second file")
finish()
