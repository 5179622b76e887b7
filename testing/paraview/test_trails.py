# SPDX-License-Identifier: BSD-3-Clause
"""Trails of chosen particles, in this process and on a pvserver with two ranks; state files and traces. Arguments:
a folder to write to, and for the server mpiexec and pvserver."""
import parabat
from bat_server import running_server
from bat_test import *
from paraview import smtrace
from vtkmodules.vtkCommonCore import vtkOutputWindow

folder, *server = sys.argv[1:]
LoadPlugin(os.path.join(os.environ["PV_PLUGIN_PATH"], "BATReader", "BATReader.so"), ns=globals())
FIRST, STEPS, N = 2**53 + 1, 8, 500
IDS = [FIRST + 250, FIRST, FIRST + 499, FIRST + 3, FIRST - 9, FIRST + 120]
random = np.random.default_rng(5)
steps = []


def write():
    listed = []
    for i in range(STEPS):
        # Ids appear and disappear; every third is absent in some steps; one attribute is missing in
        # some of them.
        there = np.flatnonzero((np.arange(N) % 3 != 0) | (i not in (3, 5)))
        there = random.permutation(there[there >= 20 * i])
        values = {"id": FIRST + there, "speed": random.random(len(there)).astype("f4"), "kind": (there % 5).astype("i4")}
        if i == 6:
            del values["kind"]
        xyz = random.random((len(there), 3))
        parabat.write(os.path.join(folder, f"trails{i}.bat"), xyz, values, time=0.25 * i, flush=False,
                      sorted_indexes=["id"] if i != 4 else [])
        steps.append((xyz, values))
        listed.append({"name": f"trails{i}.bat", "time": 0.25 * i})
    path = os.path.join(folder, "trails.bat.series")
    with open(path, "w") as file:
        json.dump({"files": listed}, file)
    return path


def row(step, one):
    found = np.flatnonzero(steps[step][1]["id"] == one)
    return found[0] if len(found) else None


def expected(first, end):
    """Stretches of (step, id, row), as a set."""
    stretches = set()
    for one in IDS:
        stretch = []
        for step in range(first, end + 1):
            if step < end and row(step, one) is not None:
                stretch.append((step, one))
            elif stretch:
                stretches.add(tuple(stretch))
                stretch = []
    return stretches


def arrays_of(data):
    points = data.GetPointData()
    return {points.GetArrayName(i): vtk_to_numpy(points.GetArray(i)) for i in range(points.GetNumberOfArrays())}


def check_values(data, what):
    found = arrays_of(data)
    for i in range(data.GetNumberOfPoints()):
        step = int(found["step index"][i])
        xyz, values = steps[step]
        at = row(step, found["id"][i])
        assert data.GetPoint(i) == tuple(xyz[at]), what
        assert found["time"][i] == 0.25 * step and found["speed"][i] == values["speed"][at], what
        if "kind" in values:
            assert found["kind"][i] == values["kind"][at], what
        if "kind is missing" in found:
            expect(int(found["kind is missing"][i]), int("kind" not in values), what + ": kind is missing")


def check(source, time, first, end, what):
    """The steps from `first` to before `end` as trails, and the particles of the present."""
    trails = fetch(source, time)
    check_values(trails, what)
    found = arrays_of(trails)
    stretches, ids = [], vtk_to_numpy(trails.GetCellData().GetArray("id"))
    for i in range(trails.GetNumberOfCells()):
        points = trails.GetCell(i).GetPointIds()
        points = [points.GetId(k) for k in range(points.GetNumberOfIds())]
        stretches.append(tuple((int(found["step index"][p]), int(found["id"][p])) for p in points))
        expect({int(found["id"][p]) for p in points}, {int(ids[i])}, what + ": ids of a cell")
    expect(len(set(stretches)), len(stretches), what + ": trails are there once")
    expect(set(stretches), expected(first, end), what)
    present = servermanager.Fetch(source, idx=1)
    check_values(present, what + ", present")
    step = min(int(time / 0.25), STEPS - 1)
    expect(set(arrays_of(present).get("id", np.zeros(0)).tolist()), {one for one in IDS if row(step, one) is not None}, what + ", present")


def check_all(source, what, times):
    for time in times:
        step = min(int(time / 0.25), STEPS - 1)
        for show, first, end in (("Whole Trails", 0, STEPS), ("Up To The Present Time", 0, step + 1),
                                 ("The Last Steps", max(0, step - 2), step + 1)):
            source.Output = show
            source.NumberOfSteps = 3
            check(source, time, first, end, f"{what}, {show} at {time}")
    source.Output = "Whole Trails"


def format_text(ids):
    return ", ".join(map(str, ids))


path = write()
trails = BATTrails(FileNames=[path], Ids=format_text(IDS))
expect(list(trails.TimestepValues), [0.25 * i for i in range(STEPS)], "times")
expect(sorted(trails.Attributes), ["kind", "speed"], "attributes")
check_all(trails, "one process", (0.1, 1.3))
check(trails, 5, 0, STEPS, "after the last step")
trails.UpdatePropertyInformation()
expect(trails.FoundCount, 5, "ids that are somewhere")
trails.Attributes = ["speed"]
expect(sorted(arrays_of(fetch(trails, 0.1))), ["id", "speed", "step index", "time"], "arrays")
trails.Attributes = ["speed", "kind"]

# The files one by one, in any order, contain the times.
other = BATTrails(FileNames=[os.path.join(folder, f"trails{i}.bat") for i in (5, 1, 0, 2, 7, 3, 4, 6)], Ids=format_text(IDS))
check(other, 1.0, 0, STEPS, "files without a list")

# Id ranges; none; and errors, which are reported once.
other.Ids = f"{FIRST + 100}-{FIRST + 110} {FIRST + 7}"
expect(len(np.unique(arrays_of(fetch(other, 0.1))["id"])), 12, "ids of a range")
other.Ids = " "
expect(fetch(other, 0.1).GetNumberOfPoints(), 0, "no ids")
messages = []
window = vtkOutputWindow.GetInstance()
for event in ("ErrorEvent", "WarningEvent"):
    window.AddObserver(event, lambda caller, kind: messages.append(kind))
for ids, attribute in (("5..", ""), ("x", ""), ("9-3", ""), ("5", "speed of light"), ("1-9000000", "")):
    before = len(messages)
    other.Ids, other.IdAttribute = ids, attribute
    expect(fetch(other, 0.1).GetNumberOfPoints(), 0, f"Ids {ids!r}")
    assert len(messages) > before, f"Ids {ids!r}, {attribute!r}"
other.IdAttribute, other.Ids = "", format_text(IDS)
check(other, 1.0, 0, STEPS, "after errors")

# A missing file.
gone = os.path.join(folder, "trails2.bat")
os.rename(gone, gone + ".away")
before = len(messages)
trails.Reload()
expect(fetch(trails, 0.1).GetNumberOfPoints(), 0, "a file that is gone")
assert len(messages) > before
trails.SkipDamaged = 1
data = fetch(trails, 0.1)
assert data.GetNumberOfPoints() > 0 and 2 not in arrays_of(data)["step index"]
os.rename(gone + ".away", gone)
trails.SkipDamaged = 0
trails.Reload()
check(trails, 0.1, 0, STEPS, "after reloading")

# Periodic domains.
walk = [0.7, 0.9, 0.1, 0.3, 0.95]
for i, x in enumerate(walk):
    parabat.write(os.path.join(folder, f"walk{i}.bat"), [[x, 0, 0], [0, x, x]], {"id": [0, 0], "cpu": [1, 2]}, time=i, flush=False)
periodic = BATTrails(FileNames=[os.path.join(folder, f"walk{i}.bat") for i in range(5)], Ids="0:1", SecondIdAttribute="cpu",
                     PeriodicDomain="Box", PeriodicBox=[0, 1, -np.inf, np.inf, -np.inf, np.inf])
data = fetch(periodic, 0.1)
expect(data.GetNumberOfPoints(), 5, "points of a pair")
assert np.allclose(vtk_to_numpy(data.GetPoints().GetData())[:, 0], [0.7, 0.9, 1.1, 1.3, 0.95], atol=1e-14)
expect(vtk_to_numpy(data.GetCellData().GetArray("cpu")).tolist(), [1], "second id")

# If two ranks gave ids, they are combined with the rank automatically, in files and in tracks.
for i in range(3):
    parabat.write(os.path.join(folder, f"amrex{i}.bat"), [[i, 0.0, 0], [0, i, 1], [i, i, 2]],
                  {"gas_id": np.array([7, 7, 8]), "gas_cpu": np.array([1, 2, 1], "i4"), "mass": [0.5, 1.5, 2.5]}, time=i, flush=False)
files = [os.path.join(folder, f"amrex{i}.bat") for i in range(3)]
for ids, pairs in (("7", [(7, 1), (7, 2)]), ("7:2", [(7, 2)]), ("7-9", [(7, 1), (7, 2), (8, 1)])):
    amrex = BATTrails(FileNames=files, Ids=ids)
    data = fetch(amrex, 0.1)
    cells = data.GetCellData()
    expect(sorted(zip(*(vtk_to_numpy(cells.GetArray(name)).tolist() for name in ("gas_id", "gas_cpu")))), pairs, f"trails of {ids}")
    expect(data.GetNumberOfPoints(), 3 * len(pairs), f"points of {ids}")
    expect(list(amrex.Attributes), ["mass"], "attributes next to pairs")
    Delete(amrex)
before = len(messages)
refused = BATTrails(FileNames=[path], Ids="5:1")
expect(fetch(refused, 0.1).GetNumberOfPoints(), 0, "pairs where ids have no cpu")
assert len(messages) > before
Delete(refused)
reader = BATReader(FileName=files[:1])
reader.UpdatePipeline()
expect(reader.SecondIdAttributeInfo, "gas_cpu", "the second attribute of a reader")

# Plots over time use the particles of the present: the selected one at all times.
chosen = SelectionQuerySource(QueryString=f"id == {IDS[0]}", ElementType="Point Data")
plot = PlotSelectionOverTime(Input=OutputPort(trails, 1), Selection=chosen, OnlyReportSelectionStatistics=0)
UpdatePipeline(0.1, plot)
tables = servermanager.Fetch(plot)
table = next(tables.GetBlock(i) for i in range(tables.GetNumberOfBlocks()) if tables.GetBlock(i))
speed = vtk_to_numpy(table.GetColumnByName("avg(speed)"))
expect(speed.astype("f4"), np.array([steps[i][1]["speed"][row(i, IDS[0])] for i in range(STEPS)]), "a plot over time")
Delete(plot)

# State files and traces recreate the same.
trails.Output = "The Last Steps"
trails.NumberOfSteps = 4
state = os.path.join(folder, "trails.pvsm")
SaveState(state)
smtrace.start_trace()
BATTrails(registrationName="traced", FileNames=[path], Ids=format_text(IDS), Output="Up To The Present Time")
trace = smtrace.stop_trace()
ResetSession()
LoadState(state)
again = [source for (name, _), source in GetSources().items() if source.GetXMLName() == "BATTrails" and len(source.FileNames) == 1]
expect(len(again), 1, "trails of a state file")
expect(again[0].NumberOfSteps, 4, "steps of a state file")
check(again[0], 1.5, 3, 7, "from a state file")
ResetSession()
exec(compile(trace, "trace", "exec"), {})
check(FindSource("traced"), 1.0, 0, 5, "from a trace")
ResetSession()

# Tracks files are followed completely if no ids are given, and open accordingly.
tracks = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "particles", "golden", "tracks", "written.tracks.bat")
truth = parabat.follow(tracks)


def check_tracks(source, what, ids, steps):
    """Points equal those of parabat.follow()."""
    data = fetch(source, 5.0)
    found = arrays_of(data)
    keys = {(int(step), int(one)): i for i, (step, one) in enumerate(zip(found["step index"], found["id"]))}
    where = [(s, i) for s, i in zip(*np.nonzero(truth.present)) if s in steps and truth.ids[i] in ids]
    expect(set(keys), {(int(s), int(truth.ids[i])) for s, i in where}, what)
    for s, i in where:
        at = keys[int(s), int(truth.ids[i])]
        assert np.array_equal(data.GetPoint(at), truth.positions.data[s, i].astype(float), equal_nan=True), what
        assert np.array_equal(found["velocity"][at], truth["velocity"].data[s, i], equal_nan=True), what
        assert found["particles with id"][at] == truth.counts[s, i], what


opened = OpenDataFile(tracks)
expect(opened.SMProxy.GetXMLName(), "BATTrails", "what a tracks file opens as")
expect(len(opened.TimestepValues), len(truth.steps), "samples")
check_tracks(opened, "tracks", truth.ids, range(99))
opened.Output = "Up To The Present Time"
check_tracks(opened, "tracks up to step 5", truth.ids, range(6))
opened.Output = "Whole Trails"
opened.Ids = format_text(truth.ids[3:9])
check_tracks(opened, "some of the tracks", truth.ids[3:9], range(99))
paired = os.path.join(os.path.dirname(tracks), "spec_finished.tracks.bat")
for ids, pairs in (("5", [(5, 0), (5, 1), (5, 2)]), ("5:1, 7:2", [(5, 1), (7, 2)])):
    cells = fetch(BATTrails(FileNames=[paired], Ids=ids), 0.1).GetCellData()
    expect(sorted(set(zip(*(vtk_to_numpy(cells.GetArray(name)).tolist() for name in ("id", "cpu"))))), pairs, f"tracks of {ids}")
before = len(messages)
mixed = BATTrails(FileNames=[tracks, path], Ids="1")
expect(fetch(mixed, 0.1).GetNumberOfPoints(), 0, "a tracks file among others")
assert len(messages) > before
ResetSession()

if server:
    mpiexec, pvserver = server
    with running_server(mpiexec, 2, pvserver, client_leaves=False) as port:
        Connect("127.0.0.1", port)
        remote = BATTrails(FileNames=[path], Ids=format_text(IDS))
        check_all(remote, "two ranks", (1.3,))
        remote.Ids = str(IDS[0])  # one rank has none
        IDS[:] = IDS[:1]
        check(remote, 1.0, 0, STEPS, "one id on two ranks")
        check_tracks(BATTrails(FileNames=[tracks]), "tracks on two ranks", truth.ids, range(99))
finish()
