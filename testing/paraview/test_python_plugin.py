# SPDX-License-Identifier: BSD-3-Clause
"""Checks that the Python plugin gives the same answers as the compiled ones, against a scan of all particles. Run by
mpirun pvbatch, without the compiled plugins. Arguments: the plugin's file, the number of ranks, a folder, the compiled
plugin."""
import gc

from bat_test import *
from idx_grids import SHAPE, at_level, check_image, strides, truth
from vtkmodules.vtkCommonCore import vtkOutputWindow
from vtkmodules.vtkCommonDataModel import vtkTable
from vtkmodules.vtkImagingCore import vtkRTAnalyticSource

PLUGIN, RANKS, FOLDER, COMPILED = sys.argv[1], int(sys.argv[2]), *sys.argv[3:]
N = 20000
P, A = points(N), arrays(N)
if "BATReader" not in globals():  # PV_PLUGIN_PATH may have loaded it
    LoadPlugin(PLUGIN, ns=globals())

messages = []


def keep(window, event, text):
    messages.append(text)


keep.CallDataType = "string0"
for event in ("ErrorEvent", "WarningEvent"):
    vtkOutputWindow.GetInstance().AddObserver(event, keep)


def path(name):
    return os.path.join(FOLDER, name)


def pieces(step=0):
    """cloud(N), distributed over the ranks."""
    source = ProgrammableSource(OutputDataSetType="vtkPolyData")
    source.Script = f"""
from bat_clouds import cloud
executive = self.GetExecutive()
information = executive.GetOutputInformation(0)
rank, ranks = information.Get(executive.UPDATE_PIECE_NUMBER()), information.Get(executive.UPDATE_NUMBER_OF_PIECES())
self.GetPolyDataOutput().ShallowCopy(cloud({N} + {step}, keep=slice(rank, None, ranks)))
"""
    source.ScriptRequestInformation = "self.GetExecutive().GetOutputInformation(0).Set(self.CAN_HANDLE_PIECE_REQUEST(), 1)"
    return source


def collects(phase, about):
    """While ranks wait for each other, Python must not delete proxies, as deleting them also waits for
    other ranks."""
    frame = sys._getframe()
    while frame:
        if frame.f_code.co_name.startswith("Request") and "parabat" in frame.f_code.co_filename:
            collected.append(frame.f_code)
        frame = frame.f_back


collected = []
gc.callbacks.append(collects)
gc.set_threshold(50)

# Save Data and open.
source = pieces()
SaveData(path("cloud.bat"), source)
reader = BATReader(FileName=[path("cloud.bat")])
reader.PointArrayStatus = ["id", "mass", "velocity"]
check_particles(fetch(reader), P, A, "round trip")
reader.UpdatePropertyInformation()
expect(int(reader.ParticleCount), N, "particles of the file")
expect(ids(reader), A["id"], "the parts add up")
counts = owners(reader, RANKS)
assert counts.min() >= N // RANKS - 1, counts

# Conditions, as in the compiled reader.
check_conditions(reader, N, "Python plugin")
reader.UseBox = 1
reader.Box = [0.25, 0.5, 0, 1, 0.125, 1]
inside = (P[:, 0] >= 0.25) & (P[:, 0] <= 0.5) & (P[:, 2] >= 0.125)
expect(ids(reader), np.sort(A["id"][inside]), "box")
reader.UseBox = 0

# Attributes that are not requested are absent.
reader.PointArrayStatus = ["id"]
expect([fetch(reader).GetPointData().GetArrayName(0)], ["id"], "one attribute")

# An unknown name of an array causes one warning.
reader.PointArrayStatus = ["id", "masss"]
for cells in ("None", "One per Particle"):
    reader.VertexCells = cells
    fetch(reader)
if os.environ.get("OMPI_COMM_WORLD_RANK", "0") == "0":
    expect([message.strip() for message in messages], [
        f"{path('cloud.bat')}: unknown attribute 'masss' in PointArrayStatus; available: id, mass, velocity"],
        "messages of an unknown array")
messages.clear()
reader.PointArrayStatus = ["id"]

# Qualities are nested samples, whichever way they are reached.
reader.Quality = 0.1
coarse = ids(reader)
expect(len(coarse), N // 10, "a tenth")
reader.Quality = 0.35
finer = ids(reader)
expect(len(finer), round(N * 0.35), "35 %")
assert set(coarse) <= set(finer)
fresh = BATReader(FileName=[path("cloud.bat")], Quality=0.35)
expect(ids(fresh), finer, "a fresh reader")
reader.ParticleBudget = 1000
reader.Quality = 1
budget = ids(reader)
assert 900 <= len(budget) <= 1000, len(budget)
reader.ParticleBudget = 0
expect(len(ids(reader)), N, "no budget")
for cells, count in (("None", 0), ("One per Particle", N), ("One for All Particles", RANKS)):
    reader.VertexCells = cells
    expect(fetch(reader).GetNumberOfCells() if cells != "One for All Particles" else RANKS, count, "cells: " + cells)

# A series, of files and of a list.
times = [0.5, 1.5, 4.0]
steps = [path(f"step_{i}.bat") for i in range(3)]
for i, name in enumerate(steps):
    SaveData(name, pieces(i))
series = BATReader(FileName=steps)
series.UpdatePipelineInformation()
expect(list(series.TimestepValues), [0.0, 1.0, 2.0], "times of files without one")
for i in range(3):
    expect(len(ids(series, float(i))), N + i, f"step {i}")
if os.environ.get("OMPI_COMM_WORLD_RANK", "0") == "0":
    with open(path("steps.bat.series"), "w") as file:
        json.dump({"file-series-version": "1.0", "files": [
            {"name": os.path.basename(name), "time": time} for name, time in zip(steps, times)]}, file)
listed = BATSeriesReader(FileName=path("steps.bat.series"))
listed.UpdatePipelineInformation()
expect(list(listed.TimestepValues), times, "times of a list")
expect(len(ids(listed, 1.5)), N + 1, "second step of a list")
expect(len(ids(listed, 3.9)), N + 1, "between two steps: the one before")

# A run that injects its particles after its first step, without declaring them.
if RANKS == 1:
    import parabat  # the plugin has found it
    for i, n in enumerate((0, 100, 0)):
        values = {"id": np.arange(n), "heat": np.arange(n, dtype=np.float32), "v": np.ones((n, 3))} if n else {}
        parabat.write(path(f"late_{i}.bat"), np.random.default_rng(1).random((n, 3)), values, time=i + 0.5)
    late = BATReader(FileName=[path(f"late_{i}.bat") for i in range(3)])
    late.UpdatePipelineInformation()
    expect(sorted(late.PointArrayStatus), ["heat", "id", "v"], "arrays of the steps to come")
    late.AttributeRanges, late.Ids = ["heat", "10", "19"], "5-14"
    for time, n in ((0.5, 0), (1.5, 5), (2.5, 0)):
        data = fetch(late, time)
        expect(data.GetNumberOfPoints(), n, f"particles at {time}")
        kinds = {data.GetPointData().GetArrayName(i): data.GetPointData().GetArray(i).GetNumberOfComponents()
                 for i in range(data.GetPointData().GetNumberOfArrays())}
        expect(kinds, {"id": 1, "heat": 1, "v": 3}, f"arrays at {time}")
        expect(late.GetClientSideObject().GetErrorCode() if hasattr(late.GetClientSideObject(), "GetErrorCode") else 0, 0, "error")

# Steps are in time order whatever the order of files; a missing file only costs its own step; arrays of any step.
if RANKS == 1:
    for i, time in enumerate((4.0, 0.5, 2.0)):
        one = cloud(100 + i)
        if i == 2:
            add_arrays(one.GetPointData(), {"extra": np.arange(102.0)})
        one.GetInformation().Set(one.DATA_TIME_STEP(), time)
        SaveData(path(f"order_{i}.bat"), producer(one))
    order = BATReader(FileName=[path(f"order_{i}.bat") for i in range(3)])
    order.UpdatePipelineInformation()
    expect(list(order.TimestepValues), [0.5, 2.0, 4.0], "times of files that are not in order")
    expect([len(ids(order, time)) for time in (0.5, 2.0, 4.0)], [101, 102, 100], "particles of steps in order")
    assert fetch(order, 2.0).GetPointData().GetArray("extra"), "an array of a later step"
    gone = BATReader(FileName=[path("order_0.bat"), path("gone.bat")])
    expect(len(ids(gone, 0.0)), 100, "a step beside one that is gone")
    expect(messages, [], "messages")
    expect(len(ids(gone, 1.0)), 0, "a step that is gone")
    assert len(messages) == 1 and "gone.bat" in messages[0], messages
    messages.clear()

# A table; positions of two columns.
table = vtkTable()
for name, values in {"x": P[:, 0].astype("f8"), "y": P[:, 1].astype("f8"), "id": A["id"]}.items():
    array = numpy_to_vtk(np.ascontiguousarray(values), deep=True)
    array.SetName(name)
    table.AddColumn(array)
if RANKS == 1:
    SaveData(path("table.bat"), producer(table), ZColumn="none", SortedIndexes=["id"])
    flat = fetch(BATReader(FileName=[path("table.bat")]))
    found = vtk_to_numpy(flat.GetPoints().GetData())[np.argsort(vtk_to_numpy(flat.GetPointData().GetArray("id")))]
    expect(found, np.stack([P[:, 0], P[:, 1], 0 * P[:, 0]], 1).astype("f8"), "positions of a table")

# Input that is invalid or present on one rank only is written by none; it is reported once, and no
# file is left.
for name, values, why in (("ten", "np.ones((len(p), 10))", "array 'ten' has 10 components; allowed are 1 to 9"),
                          ("extra", "np.ones(len(p))", "rank 0 has no array 'extra', which is float64 in rank 1")):
    if RANKS == 1 and name == "extra":
        continue
    uneven = pieces()
    uneven.Script += f"""
if rank == ranks - 1:
    import numpy as np
    from bat_clouds import add_arrays, points
    p = points({N})[rank::ranks]
    add_arrays(self.GetPolyDataOutput().GetPointData(), {{"{name}": {values}}})
"""
    if os.path.exists(path("uneven.bat")):
        os.remove(path("uneven.bat"))  # from an earlier run
    SaveData(path("uneven.bat"), uneven)
    assert not os.path.exists(path("uneven.bat"))
    if os.environ.get("OMPI_COMM_WORLD_RANK", "0") == "0":
        expect([text.strip() for text in messages if "uneven.bat" in text], [f"{path('uneven.bat')}: {why}"], "uneven ranks")
    messages.clear()

# An invalid setting is reported once, by name, and shows nothing; the next valid one is shown.
expect(messages, [], "messages")
reader.VertexCells = "One per Particle"
reader.AttributeRanges = ["nothing", "0", "1"]
expect(len(fetch(reader).GetPointData().GetArray("id") or []), 0, "nothing is shown")
reader.UpdatePropertyInformation()
if os.environ.get("OMPI_COMM_WORLD_RANK", "0") == "0":
    expect(len(messages), 1, f"messages {messages}")
    assert "'nothing'" in messages[0] and "mass" in messages[0], messages
    assert "'nothing'" in reader.Error
reader.AttributeRanges = []
expect(len(ids(reader)), N, "after an error")
messages.clear()
for wrong, why in (("5-x", "'x'"), ("1_000", "'1_000'"), ("\u0663", "'\u0663'"), ("nan", "'nan'"), ("1e999", "'1e999'"), ("9-3", "'9-3'")):
    reader.Ids = wrong
    fetch(reader)
    if os.environ.get("OMPI_COMM_WORLD_RANK", "0") == "0":
        assert len(messages) == 1 and why in messages[0] and "Ids: " in messages[0], messages
    messages.clear()
reader.Ids = ""
expect(len(ids(reader)), N, "after wrong ids")

# VTK gets the correct ranges and bounds of the data.
for quality in (0.25, 1.0):
    fresh.Quality = quality
    fetched = fetch(fresh)
    about = fresh.GetDataInformation()
    xyz = vtk_to_numpy(fetched.GetPoints().GetData()).astype("f8")
    expect(list(about.GetBounds()), np.stack([xyz.min(0), xyz.max(0)], 1).ravel().tolist(), f"bounds at {quality}")
    for name in ("id", "mass", "velocity"):
        values = vtk_to_numpy(fetched.GetPointData().GetArray(name)).reshape(len(xyz), -1).astype("f8")
        reported = about.GetPointDataInformation().GetArrayInformation(name)
        for i in range(values.shape[1]):
            expect(list(reported.GetComponentRange(i)), [values[:, i].min(), values[:, i].max()], f"range of {name} {i}")
        sizes = np.sqrt((values ** 2).sum(1)) if name == "velocity" else values
        assert np.allclose(reported.GetComponentRange(-1), [sizes.min(), sizes.max()], rtol=1e-14), name

# Compression, as reported in the field data of the read.
SaveData(path("bounded.bat"), pieces(), Compression="bounded", ErrorBounds=["mass=0.25"], ChunkParticles=1024)
bounded = BATReader(FileName=[path("bounded.bat")])
expect(ids(bounded), A["id"], "compressed particles")
if RANKS == 1:
    expect(fetch(bounded).GetFieldData().GetAbstractArray("compression").GetValue(0), "mass within 0.25; all others exact",
           "field data")
    import parabat
    with parabat.open(path("bounded.bat")) as dataset:
        stored = dataset.storage()
    expect((stored["mass"].bound, stored["mass"].compressed, stored["id"].bound), (0.25, True, 0.0), "how it is stored")
Delete(bounded)

# Grids: levels, boxes, steps, a budget, refining; every rank has its extent.
def grids():
    idx, name = sys.modules["parabat"].idx, path("grid.idx")
    lower, spacing = (-2.0, 10.0, 0.5), (0.5, 0.25, 2.0)
    for step in (0, 3):
        idx.write(name, truth(step), mode="replace" if step == 0 else "add_step", step=step, origin=lower, spacing=spacing,
                  bits_per_block=9, codec="lz4", flush=False)
    grid = IDXReader(FileName=[name])
    grid.UpdatePipelineInformation()
    expect(list(grid.TimestepValues), [0.0, 3.0], "times")
    levels = int(grid.Levels)
    for level in (0, 8, levels - 3, levels):
        grid.Resolution = level
        expected, first = at_level(truth(3), name, level)
        check_image(grid, expected, first, lower, [a * b for a, b in zip(spacing, strides(name, level))], f"level {level}", time=3,
                    ranks=RANKS)
    expect(list(grid.Bounds), [end for low, n, d in zip(lower, SHAPE, spacing) for end in (low, low + (n - 1) * d)], "bounds")
    grid.UseBox, grid.Box, grid.PointArrayStatus = 1, [0, 20, 12, 15, 3, 40], ["id", "place"]
    inside = [[int(np.ceil((a - o) / s)) for a, o, s in zip((0, 12, 3), lower, spacing)],
              [int((b - o) // s) for b, o, s in zip((20, 15, 40), lower, spacing)]]
    expected, first = at_level({k: v for k, v in truth(0).items() if k in ("id", "place")}, name, levels, *inside)
    check_image(grid, expected, first, lower, spacing, "box", time=-1, ranks=RANKS)
    grid.UseBox, grid.MemoryPerProcess = 0, 0.1
    grid.UpdatePipeline(-1)
    grid.UpdatePropertyInformation()
    with idx.open(name) as dataset:
        expect(int(grid.LoadedLevel), dataset.level_within(int(0.1 * 2 ** 20) * RANKS, ["id", "place"]), "level in the budget")
    # From one level to the next, reusing loaded samples.
    sys.modules["parabat_paraview"].FIRST_MEBIBYTES = 1 / 64
    grid.MemoryPerProcess, grid.RefineWhileIdle = 0, 1
    seen = []
    while not seen or seen[-1] != levels:
        grid.UpdatePipeline(-1)
        grid.UpdatePropertyInformation()
        seen.append(int(grid.LoadedLevel))
        assert len(seen) < 9, seen
        grid.InvokeCommand("LoadMore")
    expect(seen, [*range(seen[0], levels, 3), levels], "levels one after the other")
    assert seen[0] < levels - 3, seen
    grid.RefineWhileIdle = 0
    check_image(grid, {k: v for k, v in truth(0).items() if k in ("id", "place")}, (0, 0, 0), lower, spacing, "refined", time=-1,
                ranks=RANKS)
    grid.FileName = [path("nowhere.idx")]
    grid.UpdatePipeline()
    grid.UpdatePropertyInformation()
    assert "nowhere.idx" in grid.Error, grid.Error
    Delete(grid)


def written_grids():
    """Images, and pieces of them, as the grid writer creates them."""
    idx = sys.modules["parabat"].idx

    def truth_of(extent):
        source = vtkRTAnalyticSource()
        source.SetWholeExtent(*extent)
        source.Update()
        shape = [extent[2 * axis + 1] - extent[2 * axis] + 1 for axis in (2, 1, 0)]
        return vtk_to_numpy(source.GetOutput().GetPointData().GetArray(0)).reshape(shape)

    def check(name, box, origin, values, steps=(0,)):
        with idx.open(path(name)) as dataset:
            expect((dataset.box, tuple(dataset.origin), tuple(dataset.steps)), (box, origin, steps), name)
            expect(dataset.read(step=steps[-1])["RTData"], values, name + ": samples")

    def refused(name, source, *words):
        if os.path.exists(path(name)):  # from an earlier run
            os.unlink(path(name))
        messages.clear()
        try:
            SaveData(path(name), source)
        except RuntimeError:
            pass  # in ParaView 5.13 and later
        assert any(all(word in message for word in words) for message in messages), messages
        assert not os.path.exists(path(name)), name
        messages.clear()

    whole = [2, 14, 0, 9, 3, 9]
    image = Wavelet(WholeExtent=whole)
    SaveData(path("wave.idx"), image, Compression="Zip", FileSize=0.01, BitsPerBlock=6)
    check("wave.idx", (2, 0, 3, 14, 9, 9), (0, 0, 0), truth_of(whole))
    SaveData(path("wave.idx"), image, OtherSteps="Keep", TimeStep=3, Compression="Zip", BitsPerBlock=6, FileSize=0.01)
    check("wave.idx", (2, 0, 3, 14, 9, 9), (0, 0, 0), truth_of(whole), (0, 3))
    usual = Wavelet()
    SaveData(path("usual.idx"), usual, Layout="HZ")
    check("usual.idx", (0, 0, 0, 20, 20, 20), (-10, -10, -10), truth_of([-10, 10] * 3))
    cells = PointDatatoCellData(Input=image)
    SaveData(path("cells.idx"), cells)
    values = truth_of(whole).astype("f8")
    for axis in range(3):
        values = (np.delete(values, 0, axis) + np.delete(values, -1, axis)) / 2
    with idx.open(path("cells.idx")) as dataset:
        expect((dataset.box, tuple(dataset.origin)), ((2, 0, 3, 13, 8, 8), (0.5, 0.5, 0.5)), "cells")
        assert np.allclose(dataset.read()["RTData"], values, rtol=1e-5), "values of cells"
    # Two blocks with common planes, with a gap, and of different kinds.
    center = {"Center": [4, 4, 4]}
    low, high = Wavelet(WholeExtent=[0, 5, 0, 8, 0, 8], **center), Wavelet(WholeExtent=[4, 8, 0, 8, 0, 8], **center)
    both = GroupDatasets(Input=[low, high])
    SaveData(path("both.idx"), both)
    with idx.open(path("both.idx")) as dataset:
        expect(dataset.box, (0, 0, 0, 8, 8, 8), "blocks")
    low.WholeExtent = [0, 2, 0, 8, 0, 8]
    refused("gap.idx", both, "no piece has the sample 3 0 0", "MissingSamples")
    SaveData(path("gap.idx"), both, MissingSamples="Zeros")
    with idx.open(path("gap.idx")) as dataset:
        expect(dataset.read(box=(3, 0, 0, 3, 8, 8))["RTData"].any(), np.False_, "a gap")
    refused("cloud.idx", GroupDatasets(Input=[Sphere()]), "block 0", "a vtkPolyData is not a grid with uniform spacing")
    refused("kinds.idx", GroupDatasets(Input=[low, cells]), "all blocks of a grid must have the same arrays")
    expect(messages, [], "messages of written grids")


if "IDXReader" in globals():
    grids()
    written_grids()

expect(collected, [], "collections of garbage while ranks wait for each other")
gc.callbacks.remove(collects)

# A deleted reader leaves nothing in memory.
if RANKS == 1:
    def loads():
        gc.collect()
        return len([one for one in gc.get_objects() if type(one).__name__ == "_Loaded"])

    before = loads()
    for _ in range(4):
        short = BATReader(FileName=[path("cloud.bat")])
        fetch(short)
        Delete(short)
    assert loads() <= before + 1, (before, loads())  # VTK drops the last one when it creates another

# Refining: some data first, then more while ParaView polls for updates (a live source).
if RANKS == 1:
    sys.modules["parabat_paraview"].STEP_PARTICLES = 4000
    live = BATReader(FileName=[path("cloud.bat")], RefineWhileIdle=1)
    seen = [ids(live)]
    assert 3900 <= len(seen[0]) <= 4000, len(seen[0])
    while len(seen[-1]) < N:
        live.InvokeCommand("LoadMore")
        seen.append(ids(live))
        assert set(seen[-2]) < set(seen[-1]), [len(some) for some in seen]
    expect(len(seen), 5, "steps")
    expect(seen[-1], A["id"], "all are there")

    # The same holds for a later step of a time series: loaded data is not read again.
    shutil.copy(path("cloud.bat"), path("later.bat"))
    dataset, begins = sys.modules["parabat"].Dataset, []
    whole = dataset.read
    dataset.read = lambda self, *names, **query: begins.append(query["after_quality"]) or whole(self, *names, **query)
    later = BATReader(FileName=[path("cloud.bat"), path("later.bat")], RefineWhileIdle=1)
    for _ in range(3):
        later.UpdatePipeline(1.0)
        later.InvokeCommand("LoadMore")
    dataset.read = whole
    assert len(begins) == 3 and begins == sorted(set(begins)), begins

    # If the compiled plugin is loaded, its proxies are used; also if it is loaded later.
    expect(BATReader().SMProxy.GetVTKClassName(), "parabat_paraview.BATReader", "class")
    LoadPlugin(COMPILED, ns=globals())
    expect(BATReader().SMProxy.GetVTKClassName(), "vtkBATFileSeriesReader", "class")
    LoadPlugin(PLUGIN, ns=globals())
    expect(BATReader().SMProxy.GetVTKClassName(), "vtkBATFileSeriesReader", "class")
finish()
