# SPDX-License-Identifier: BSD-3-Clause
"""Multiresolution grids: every level, box, field and step equals the input, on any number of ranks; the loaded level
follows the budget; a sphere that is divided among ranks has no seam. Run by pvbatch. Arguments: write_grid, the
number of ranks."""
from idx_grids import *
from paraview.modules.vtkRemotingCore import vtkProcessModule
from vtkmodules.vtkCommonCore import vtkOutputWindow

program, ranks = sys.argv[1], int(sys.argv[2])
expect(vtkProcessModule.GetProcessModule().GetNumberOfLocalPartitions(), ranks, "ranks")
messages = []
window = vtkOutputWindow.GetInstance()
for kind in ("ErrorEvent", "WarningEvent"):
    window.AddObserver(kind, lambda _, event: messages.append(event))


def reported():
    count = len(messages)
    messages.clear()
    return count


def check(folder):
    path = folder("grid.idx")
    steps = {0: truth(0), 3: truth(3), 4: truth(4)}
    write_grid(program, path, steps[0], 0, codec="zip")
    write_grid(program, path, steps[3], 3, codec="zip")
    # The keys of a text may be in any order: the last write has the geometry.
    lower, spacing = [-2.0, 10.0, 0.5], [0.5, 0.25, 2.0]
    upper = [low + n * d for low, n, d in zip(lower, SHAPE, spacing)]
    write_grid(program, path, steps[4], 4, codec="zip", geometry=[end for both in zip(lower, upper) for end in both])

    reader = OpenDataFile(path)
    levels = len(bits_of(path)) - 1
    expect(reader.Levels, levels, "levels")
    expect(list(reader.TimestepValues), [0.0, 3.0, 4.0], "times")
    expect(list(reader.FullDimensions), [float(n) for n in SHAPE], "dimensions")
    expect(list(reader.Bounds), [end for low, n, d in zip(lower, SHAPE, spacing) for end in (low, low + (n - 1) * d)], "bounds")
    expect(list(reader.GetProperty("PointArrayInfo")), [w for name in steps[0] for w in (name, "1")], "fields")
    expect(reader.Resolution, 62, "resolution at first")

    for level in (0, 7, *range(levels - 4, levels + 1)):
        reader.Resolution = level
        expected, first = at_level(steps[0], path, level)
        distance = strides(path, level)
        check_image(reader, expected, first, lower, [s * d for s, d in zip(spacing, distance)], "level %d" % level, ranks=ranks)
        reader.UpdatePropertyInformation()
        expect(reader.LoadedLevel, level, "loaded level")
    reader.Resolution = 62
    for time, step in ((3.9, 3), (100, 4), (-1, 0)):
        check_image(reader, steps[step], (0, 0, 0), lower, spacing, "time %g" % time, time=time, ranks=ranks)

    # All of several steps with the same time are reachable.
    with open(path) as text, open(folder("equal.idx"), "w") as copy:
        copy.write(text.read() + "(parabat_times)\n5 5 7\n")
    equal, later = OpenDataFile(folder("equal.idx")), float(np.nextafter(5, 6))
    expect(list(equal.TimestepValues), [5.0, later, 7.0], "times that were equal")
    check_image(equal, steps[3], (0, 0, 0), lower, spacing, "second of two equal times", time=later, ranks=ranks)
    Delete(equal)

    # Faces are inside; ends may be anywhere, at every level.
    reader.UseBox = 1
    random = np.random.default_rng(ranks)
    for level in (levels, levels - 1, levels - 5):
        low = np.array([random.integers(0, n // 2) for n in SHAPE])
        high = np.array([random.integers(a + n // 3, n) for a, n in zip(low, SHAPE)])
        reader.Box = [end for a, b, o, s in zip(low, high, lower, spacing) for end in (o + a * s, o + b * s)]
        reader.Resolution = int(level)
        expected, first = at_level(steps[0], path, level, low, high)
        check_image(reader, expected, first, lower, [s * d for s, d in zip(spacing, strides(path, level))],
                    "box %s to %s at level %d" % (low, high, level), ranks=ranks)
    reader.Resolution = 62
    expect(reported(), 0, "messages of boxes")
    # Between the samples of any level, or of this one; one sample.
    reader.Box = [-1.9, -1.6, 10, 11, 0.5, 2]
    expect(len(pieces(reader).get("rank", [])), 0, "samples between planes")
    expect(reported(), 1, "warnings of a box without samples")
    reader.Box = [-1.5, -1.5, 10.25, 10.25, 2.5, 2.5]
    one = {name: array[1:2, 1:2, 1:2] for name, array in steps[0].items()}
    check_image(reader, one, (1, 1, 1), lower, spacing, "one sample")
    reader.Resolution = levels - 3
    expect(len(pieces(reader).get("rank", [])), 0, "samples between planes of a level")
    expect(reported(), 1, "warnings of a box without samples at a level")
    reader.Box = [1, 0, 0, 1, 0, 1]
    expect(len(pieces(reader).get("rank", [])), 0, "samples of a box the wrong way round")
    reader.UpdatePropertyInformation()
    assert "from 1 to 0 along x" in reader.Error, reader.Error
    expect(reported(), 1, "errors of a box the wrong way round")
    reader.UseBox = 0
    reader.Resolution = 62

    # Fewer fields.
    reader.PointArrayStatus = ["id", "kind"]
    few = {name: steps[0][name] for name in ("id", "kind")}
    check_image(reader, few, (0, 0, 0), lower, spacing, "two fields", ranks=ranks)

    # A level that fits, over all ranks together; the cost predicts the read.
    bytes_of = lambda level: sum(a.nbytes for a in at_level(few, path, level)[0].values())
    for mebibytes in (0.25, 0.05, 1e-9):
        reader.MemoryPerProcess = mebibytes
        level = max([l for l in range(levels + 1) if bytes_of(l) <= mebibytes * 2 ** 20 * ranks], default=0)
        reader.UpdatePropertyInformation()
        cost = list(reader.LoadCost)
        shape = at_level(few, path, level)[0]["id"].shape[::-1]
        expect(cost[:5], [level, *shape, bytes_of(level)], "cost")
        expect(cost[6:], [levels, bytes_of(levels), levels, bytes_of(level + 1) if level < levels else 0], "cost of others")
        expected, first = at_level(few, path, level)
        check_image(reader, expected, first, lower, [s * d for s, d in zip(spacing, strides(path, level))], "within a budget")
        reader.UpdatePropertyInformation()
        expect((reader.LoadedLevel, reader.TargetLevel), (level, level), "levels within a budget")
    reported()  # pvbatch warns once that it is reduced
    reader.MemoryPerProcess = 0

    # Ghosts are the neighbours' samples, and marked.
    ghosts = ProgrammableFilter(Input=reader, OutputDataSetType="vtkPolyData", CopyArrays=0)
    ghosts.RequestUpdateExtentScript = """
from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline
self.GetInputInformation().Set(vtkStreamingDemandDrivenPipeline.UPDATE_NUMBER_OF_GHOST_LEVELS(), 1)
"""
    ghosts.Script = PIECES
    data = fetch(ghosts)
    marks = data.GetPointData().GetArray("vtkGhostType")
    count = int(np.prod(SHAPE))
    if ranks > 1:
        own = vtk_to_numpy(marks) & 1 == 0
        index = vtk_to_numpy(data.GetPointData().GetArray("index"))
        number = index[:, 0] + SHAPE[0] * (index[:, 1] + SHAPE[1] * index[:, 2])
        assert len(number) > count and len(np.unique(number)) == count
        expect(len(np.unique(number[own])), count, "owned samples")
        expect(vtk_to_numpy(data.GetPointData().GetArray("id")), few["id"].ravel()[number], "values of ghosts")
    Delete(ghosts)
    reader.PointArrayStatus = list(steps[0])

    # A surface that stays closed, wherever it is cut.
    contour = Contour(Input=reader, ContourBy=["POINTS", "radius"], Isosurfaces=[12.0])
    joined = fetch(Clean(Input=contour))
    from vtkmodules.vtkFiltersCore import vtkCleanPolyData, vtkFeatureEdges
    clean = vtkCleanPolyData()
    clean.SetInputData(joined)
    edges = vtkFeatureEdges()
    edges.SetInputConnection(clean.GetOutputPort())
    edges.FeatureEdgesOff()
    edges.NonManifoldEdgesOff()
    edges.Update()
    assert joined.GetNumberOfCells() > 1000
    expect(edges.GetOutput().GetNumberOfCells(), 0, "edges of a closed surface")
    Delete(contour)

    # Part of a loaded image, then all: ranks request different extents, and do not wait for one another.
    part = ExtractSubset(Input=reader, VOI=[3, 9, 0, SHAPE[1] - 1, 0, SHAPE[2] - 1])
    expect(len(np.unique(pieces(part)["id"])), 7 * SHAPE[1] * SHAPE[2], "samples of a subset")
    Delete(part)

    # Level by level.
    expect(reported(), 0, "messages before refining")
    reader.RefineWhileIdle = 1
    seen = []
    for _ in range(12):
        UpdatePipeline(proxy=reader)
        reader.UpdatePropertyInformation()
        seen.append(reader.LoadedLevel)
        expect(reader.TargetLevel, levels, "where refining leads to")
        if seen[-1] == levels:
            break
        reader.InvokeCommand("LoadMore")
        reader.MarkModified(reader.SMProxy)
    # All of it is less than the first step.
    expect(seen, [levels], "levels of refining")
    check_image(reader, steps[0], (0, 0, 0), lower, spacing, "refined", ranks=ranks)
    reader.RefineWhileIdle = 0

    # Field data, and a saved state.
    reader.Resolution = levels - 3
    data = fetch(reader, 3)
    about = {data.GetFieldData().GetArrayName(i): data.GetFieldData().GetArray(i).GetTuple1(0)
             for i in range(data.GetFieldData().GetNumberOfArrays())}
    shape = at_level(steps[0], path, levels - 3)[0]["id"].shape
    expect((about["level"], about["levels"], about["samples"], about["timestep"], about["absent_blocks"]),
           (levels - 3, levels, np.prod(shape), 3, 0), "field data")
    assert 0 < about["bytes_read"]
    expect(offered_by_field_data(reader), [], "field data to colour by")

    # Absent blocks, a truncated file, steps that are added later.
    short = folder("short.idx")
    arrays = {"id": steps[0]["id"]}
    write_grid(program, short, arrays, 0)
    files = sorted(os.path.join(at, name) for at, _, names in os.walk(folder("short")) for name in names if name.endswith(".bin"))
    assert len(files) > 3, files
    victim = files[-1]
    shutil.copy(victim, victim + ".kept")
    os.remove(victim)
    cut = OpenDataFile(short)
    values = pieces(cut)["id"]
    assert 0 < (values == 0).sum() < len(values), "default values"
    expect(np.unique(values[values != 0]).size, np.isin(arrays["id"], values).sum(), "samples that are there")
    expect(reported(), 1, "warnings of absent blocks")
    with open(victim + ".kept", "rb") as kept, open(victim, "wb") as file:
        file.write(kept.read()[:-1000])
    ReloadFiles(cut)
    expect(len(pieces(cut).get("rank", [])), 0, "samples of a file that is cut")
    cut.UpdatePropertyInformation()
    assert os.path.basename(victim) in cut.Error, cut.Error
    expect(reported(), 1, "errors of a file that is cut")
    os.rename(victim + ".kept", victim)
    ReloadFiles(cut)
    check_image(cut, arrays, (0, 0, 0), (0, 0, 0), (1, 1, 1), "as it was", ranks=ranks)
    write_grid(program, short, {"id": steps[4]["id"]}, 7)
    ReloadFiles(cut)
    expect(list(cut.TimestepValues), [0.0, 7.0], "times that have come")
    check_image(cut, {"id": steps[4]["id"]}, (0, 0, 0), (0, 0, 0), (1, 1, 1), "a step that has come", time=7, ranks=ranks)
    expect(reported(), 0, "messages in the end")

    # Another program replaces the files that were read, under the same text.
    for name, step in (("turn.idx", 3), ("second/turn.idx", 4)):
        os.makedirs(os.path.dirname(folder(name)), exist_ok=True)
        write_grid(program, folder(name), {"id": steps[step]["id"]}, 0)
    turn = OpenDataFile(folder("turn.idx"))
    check_image(turn, {"id": steps[3]["id"]}, (0, 0, 0), (0, 0, 0), (1, 1, 1), "files", ranks=ranks)
    shutil.rmtree(folder("turn"))
    shutil.copytree(folder("second/turn"), folder("turn"))
    ReloadFiles(turn)
    check_image(turn, {"id": steps[4]["id"]}, (0, 0, 0), (0, 0, 0), (1, 1, 1), "other files", ranks=ranks)
    expect(reported(), 0, "messages of other files")
    Delete(turn)

    # Fewer samples than ranks.
    tiny = folder("tiny.idx")
    write_grid(program, tiny, {"id": arrays["id"][:1, :1, :2]}, 0)
    check_image(OpenDataFile(tiny), {"id": arrays["id"][:1, :1, :2]}, (0, 0, 0), (0, 0, 0), (1, 1, 1), "two samples")
    flat = folder("flat.idx")
    write_grid(program, flat, {"id": arrays["id"][:1]}, 0)
    check_image(OpenDataFile(flat), {"id": arrays["id"][:1]}, (0, 0, 0), (0, 0, 0), (1, 1, 1), "two axes", ranks=ranks)

    # More samples than any memory holds, and than this process may have, are an error with both sizes.
    huge = folder("huge.idx")
    with open(huge, "w") as file:
        file.write("(version)\n6\n(box)\n" + "0 1048575 " * 3 + "\n(fields)\np float64 + v float32[3]\n(bits)\nV" + "012" * 20 +
                   "\n(bitsperblock)\n15\n(blocksperfile)\n256\n(filename_template)\n./huge/%04x.bin\n")
    big = OpenDataFile(huge)
    big.Resolution, big.MemoryPerProcess = 62, 0
    expect(len(pieces(big).get("rank", [])), 0, "samples that no memory holds")
    big.UpdatePropertyInformation()
    assert huge in big.Error and "level 60" in big.Error and "EiB; " in big.Error, big.Error
    assert ranks > 1 or "need 20.0 EiB" in big.Error, big.Error
    assert "of memory are free" in big.Error, big.Error
    expect(reported(), 1, "errors of samples that no memory holds")
    Delete(big)
    if ranks == 1:
        wide = folder("wide.idx")
        write_grid(program, wide, {"id": np.zeros((128, 128, 256), "f8")}, 0)
        limited = OpenDataFile(wide)
        with little_memory(16):
            expect(len(pieces(limited).get("rank", [])), 0, "samples that do not fit")
        limited.UpdatePropertyInformation()
        assert "need 32.0 MiB" in limited.Error and "MiB of memory are free" in limited.Error, limited.Error
        expect(reported(), 1, "errors of samples that do not fit")
        limited.Resolution = 21
        expect(len(pieces(limited)["id"]), 2 ** 21, "samples of half of them")
        Delete(limited)

    # Several files are one series.
    names = [folder("t%d.idx" % i) for i in range(3)]
    for i, name in enumerate(names):
        write_grid(program, name, {"id": steps[0]["id"] + i}, i)
    series = OpenDataFile(names)
    expect(list(series.TimestepValues), [0.0, 1.0, 2.0], "times of files")
    for i in (0, 2, 1):
        check_image(series, {"id": steps[0]["id"] + i}, (0, 0, 0), (0, 0, 0), (1, 1, 1), "file %d" % i, time=i, ranks=ranks)
    expect(reported(), 0, "messages of a series")

    # These contain no times, so step 0 is all they provide.
    names = [folder("one%d.idx" % i) for i in range(3)]
    for i, name in enumerate(names):
        write_grid(program, name, {"id": steps[0]["id"] + i}, 0)
    series = OpenDataFile(names)
    expect(list(series.TimestepValues), [0.0, 1.0, 2.0], "numbers of files")
    for i in (0, 2, 1):
        check_image(series, {"id": steps[0]["id"] + i}, (0, 0, 0), (0, 0, 0), (1, 1, 1), "numbered file %d" % i, time=i, ranks=ranks)
    expect(reported(), 0, "messages of numbered files")

    # A file that cannot be read does not hide the steps of the others.
    several = [folder("several%d.idx" % i) for i in range(2)]
    for step in range(4):
        write_grid(program, several[step // 2], {"id": steps[0]["id"] + step}, step)
    with open(folder("bad.idx"), "w") as file:
        file.write("(version)\n6\n(bits)\nV0\n")
    series = OpenDataFile(several + [folder("bad.idx")])
    expect(list(series.TimestepValues), [0.0, 1.0, 2.0, 3.0, 4.0], "times beside a file that cannot be read")
    reported()

if __name__ == "__main__":
    # This is a separate module, because filter scripts import all names of NumPy into the main one.
    import test_idx_reader
    with Folder() as folder:
        test_idx_reader.check(folder)
    finish()
