# SPDX-License-Identifier: BSD-3-Clause
"""Unreadable or invalid input is reported once and shows nothing, and valid input after it is shown: in pictures, in
ParaView's data information, and in the reader's. Run by mpirun pvbatch. Arguments: the number of ranks, a folder into
which a single rank writes particles that several ranks use, too."""
from bat_test import *
from paraview.modules.vtkRemotingCore import vtkProcessModule
from vtkmodules.vtkCommonCore import vtkOutputWindow
from vtkmodules.vtkIOImage import vtkPNGReader

RANKS, FILES = int(sys.argv[1]), sys.argv[2]
N = 20000
MARK = np.float64(1234.56789) # for every particle
TIMES = [0.5, 0.75, 2.0, 2.25]
A = arrays(N)
expect(vtkProcessModule.GetProcessModule().GetNumberOfLocalPartitions(), RANKS, "ranks")

messages = []


def keep(window, event, text):
    messages.append(text)


keep.CallDataType = "string0"
vtkOutputWindow.GetInstance().AddObserver("ErrorEvent", keep)
view = CreateView("RenderView")
view.ViewSize = [200, 150]
view.OrientationAxesVisibility = 0


def lit(pixels):
    return (np.abs(pixels.astype(int) - pixels[0].astype(int)).max(1) > 5).mean()


def show(reader):
    display = Show(reader, view)
    display.SetRepresentationType("Point Gaussian")
    display.GaussianRadius = 0.02
    ResetCamera(view)
    return display


def check(reader, count, error, what):
    """The state of a picture, ParaView and the reader, and the messages since the last check: the text, or
    nothing."""
    Render(view)
    expect(reader.GetDataInformation().GetNumberOfPoints(), count, what + ": particles")
    share = lit(vtk_to_numpy(view.CaptureWindow(1).GetPointData().GetScalars()))
    assert (share > 0) == (count > 0), "%s: %g of the picture is lit" % (what, share)
    fields = reader.GetDataInformation().GetFieldDataInformation().GetNumberOfArrays()
    assert (fields > 0) == (count > 0), what + ": field data"
    reader.UpdatePropertyInformation()
    assert (reader.LoadedQuality > 0) == (count > 0), what + ": LoadedQuality"
    assert (error in reader.Error) if error else reader.Error == "", what + ": Error is " + reader.Error
    reported = [text for text in messages if error and error in text]
    expect(len(messages), len(reported), "%s: messages %r" % (what, messages))
    messages.clear()
    return len(reported)


def check_refused(reader, error, what):
    expect(check(reader, 0, error, what), 1, what + ": times that it was said")
    Render(view)
    expect(messages, [], what + ": said again")


def load_state(path):
    """Not LoadState(), which hangs on several ranks in ParaView 6.1."""
    state = servermanager.vtkPVXMLParser()
    state.SetFileName(path)
    state.Parse()
    RemoveViewsAndLayouts()
    servermanager.ProxyManager().SMProxyManager.LoadXMLState(state.GetRootElement())
    SetActiveView(GetRenderViews()[0])


def cut(path):
    with open(path, "r+b") as file:
        whole = file.read()
        file.truncate(len(whole) // 2)
    return whole


def put(path, content):
    with open(path, "wb") as file:
        file.write(content)


def damage(path):
    """One bit of the last values of "mark" in the file."""
    with open(path, "r+b") as file:
        whole = file.read()
        place = whole.rfind(8 * MARK.tobytes())
        assert place > 0
        file.seek(place)
        file.write(bytes([whole[place] ^ 1]))
    return whole


def write_files():
    """One file, and steps that contain their times."""
    marked = cloud(N)
    add_arrays(marked.GetPointData(), {"mark": np.full(N, MARK)})
    SaveData(os.path.join(FILES, "sample.bat"), producer(marked))
    for step, time in enumerate(TIMES):
        particles = cloud(1000 + step, seed=step)
        particles.GetInformation().Set(particles.DATA_TIME_STEP(), time)
        SaveData(os.path.join(FILES, "step_%d.bat" % step), producer(particles))


if RANKS == 1:
    write_files()

with Folder() as folder:
    shutil.copytree(FILES, folder.path, dirs_exist_ok=True)
    path = folder("sample.bat")

    # Queries.
    reader = OpenDataFile(path)
    show(reader)
    check(reader, N, "", "all")
    P = points(N)
    half = (P[:, 0] >= 0.5).sum()
    reader.UseBox = 1
    reader.Box = [5, 1, 0, 1, 0, 1]
    check_refused(reader, "minimum 5 above its maximum 1", "a box without an inside")
    reader.Box = [0.5, 1, 0, 1, 0, 1]
    check(reader, half, "", "half")
    reader.Ids = "12x"
    check_refused(reader, "'12x' is not a number", "a typo in Ids")
    reader.Ids = str(BIG_ID)
    check(reader, int(P[0, 0] >= 0.5), "", "one id")
    reader.Ids = ""
    reader.UseBox = 0
    check(reader, N, "", "all after it")
    reader.AttributeRanges = ["mass", "1", "0"]
    check_refused(reader, "mass", "a range without an inside")
    reader.AttributeRanges = ["mass", "", "0.5"]
    light = (A["mass"] <= 0.5).sum()
    check(reader, light, "", "light ones")

    # A list that ends too early, also from a state file, which preserves it unchanged.
    reader.AttributeRanges = ["mass", "0.25"]
    check_refused(reader, "'mass', '0.25'; each range has three", "an incomplete range")
    SaveState(folder("incomplete.pvsm"))
    reader.AttributeRanges = ["mass", "", "0.5", "id"]
    check_refused(reader, "AttributeRanges has 4 texts", "an incomplete second range")
    reader.AttributeRanges = ["mass", "", "0.5"]
    check(reader, light, "", "light ones again")
    Delete(reader)
    ResetSession()
    load_state(folder("incomplete.pvsm"))
    reader = [s for s in GetSources().values() if s.GetXMLName() == "BATReader"][0]
    expect(list(reader.AttributeRanges), ["mass", "0.25"], "AttributeRanges of the state file")
    view = GetRenderView()
    check(reader, 0, "each range has three", "an incomplete range of a state file")
    reader.AttributeRanges = []
    check(reader, N, "", "all after the state file")

    # A file that is damaged in one place, which only one rank reads.
    whole = damage(path)
    reader.Quality = 0.001
    Render(view)
    messages.clear()
    reader.Quality = 1
    check_refused(reader, "attribute 'mark'", "a damaged attribute")
    reader.PointArrayStatus = ["id"]
    check(reader, N, "", "without the attribute")
    reader.SkipDamaged = 1
    reader.PointArrayStatus = ["id", "mark"]
    expect(fetch(reader).GetNumberOfPoints(), 0, "particles of a file that is left out by all ranks")
    reader.PointArrayStatus = ["id"]
    check(reader, N, "", "all ranks without the attribute")
    reader.SkipDamaged = 0
    put(path, whole)
    reader.PointArrayStatus = ["id", "mass", "velocity", "mark"]
    check(reader, N, "", "after the repair")

    # A file that disappears and returns.
    os.remove(path)
    reader.Quality = 0.5
    check_refused(reader, "sample.bat: cannot open", "a missing file")
    put(path, whole)
    reader.Quality = 1
    check(reader, N, "", "a file that is back")
    Hide(reader, view)

    # Steps: files that contain their times, and a list.
    names = [folder("step_%d.bat" % step) for step in range(len(TIMES))]
    steps = [{"name": os.path.basename(name), "time": time} for name, time in zip(names, TIMES)]
    series = folder("step.bat.series")
    with open(series, "w") as file:
        json.dump({"file-series-version": "1.0", "files": steps}, file)

    def animate(files, broken, times):
        reader = OpenDataFile(files)
        show(reader)
        reported = len(messages) # while times are looked up
        messages.clear()
        expect(list(reader.TimestepValues), times, "times with step %d broken" % broken)
        for step in (1, 2, 3, 2):
            view.ViewTime = times[step]
            missing = step == broken
            reported += check(reader, 0 if missing else 1000 + step, "step_%d.bat" % step if missing else "",
                          "step %d with %d broken" % (step, broken))
        return reader, reported

    whole = cut(names[2])
    for files, times in ((names, [0.5, 0.75, 1.5, 2.25]), (series, TIMES)):
        reader, reported = animate(files, 2, times)
        expect(reported, 1, "times that a broken step was said")
        if files is series:
            scene = GetAnimationScene()
            scene.UpdateAnimationUsingDataTimeSteps()
            SaveAnimation(folder("frame.png"), view, ImageResolution=[200, 150])
            frames = []
            for step in range(4):
                image = vtkPNGReader()
                image.SetFileName(folder("frame.%04d.png" % step))
                image.Update()
                frames.append(lit(vtk_to_numpy(image.GetOutput().GetPointData().GetScalars())) > 0)
            expect(frames, [True, True, False, True], "frames with particles")
            expect(messages, [], "a step that is known to be broken")
        Delete(reader)
    put(names[2], whole)
    messages.clear()

    # The first and the last have times consistent with the others.
    for broken, times in ((0, [-0.5, 0.75, 2.0, 2.25]), (3, [0.5, 0.75, 2.0, 3.25])):
        whole = cut(names[broken])
        reader = OpenDataFile(names)
        expect(list(reader.TimestepValues), times, "times with step %d broken" % broken)
        expect(len(messages), 1, "messages %r" % messages)
        messages.clear()
        Delete(reader)
        put(names[broken], whole)

    # Before the first update, the information is that of the first step.
    for files in (names, series):
        reader = OpenDataFile(files)
        expect(reader.ParticleCount, 1000, "ParticleCount of the first step")
        ends = np.array(reader.Box)
        expect(ends[0::2], points(1000, 0).min(0).astype("f8"), "Box of the first step")
        info = list(reader.AttributeRangesInfo)
        lightest = float(info[info.index("mass") + 1])
        expect(np.float32(lightest), arrays(1000, 0)["mass"].min(), "lightest of the first step")
        reader.UpdatePipeline(2.0)
        reader.Quality = 0.5
        reader.UpdatePipelineInformation()
        reader.UpdatePropertyInformation()
        expect(reader.ParticleCount, 1002, "ParticleCount of the step that was asked for")
        Delete(reader)
    expect(messages, [], "messages of sound files")

    # Lists.
    for content, error in ((b"[]", "allowed is"), (b"{", "parse error"), (b'{"files": [{"name": "step_0.bat"}]}', "'time'"),
                           (b'{"files": []}', "no files"), (None, "cannot open")):
        put(series, content or b"")
        if content is None:
            os.remove(series)
        reader = BATSeriesReader(FileName=series)
        show(reader)
        check_refused(reader, error, "the list %r" % content)
        assert "step.bat.series" in reader.Error, reader.Error
        Delete(reader)

    # Particles that do not fit into memory.
    if RANKS == 1:
        many = folder("many.bat")
        SaveData(many, producer(cloud(300000)))
        reader = OpenDataFile(many)
        reader.UpdatePipelineInformation()
        with little_memory(6):
            expect(fetch(reader).GetNumberOfPoints(), 0, "particles that do not fit")
        expect(len(messages), 1, "messages %r" % messages)
        assert "300000 particles need " in messages[0] and "MiB of memory are free" in messages[0], messages
        messages.clear()
        reader.Quality = 0.1
        assert 20000 < fetch(reader).GetNumberOfPoints() < 40000
        expect(messages, [], "messages of particles that fit")
finish()
