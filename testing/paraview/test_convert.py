"""convert.py on some ranks: what it reads, what it writes, what it refuses. Run by pvpython. Arguments:
convert.py, number of ranks, pvbatch, bat_info, mpiexec (not for one rank). test_exact_reading.py has more of what it
reads itself."""
import glob
import json
import re
import subprocess

from bat_test import *
from vtkmodules.vtkCommonDataModel import vtkCellArray

convert, ranks, pvbatch, bat_info = sys.argv[1], int(sys.argv[2]), *sys.argv[3:5]
N = 5000

environment = outside_mpi()
del environment["PV_PLUGIN_PATH"]  # convert.py finds the plugins itself


def run(*words, status=0, script=convert):
    """The lines that convert.py says; at most 100 s, so that a rank that waits for ever is seen."""
    command = [pvbatch] if ranks == 1 else [sys.argv[5], "-np", str(ranks), pvbatch]
    done = subprocess.run([*command, script, *words], capture_output=True, text=True, timeout=100, env=environment)
    said = done.stdout + done.stderr
    assert (done.returncode != 0) == (status != 0), (words, done.returncode, said)
    assert "Traceback" not in said and "Loguru caught" not in said, said
    return said


def reports(said):
    """What --report - prints; MPI and graphics libraries have their say beside it."""
    return [json.loads(line) for line in said.splitlines() if line.startswith("{")]


def refused(words, *texts, script=convert):
    """It fails, and says so once, in these words."""
    said = run(*words, status=1, script=script)
    errors = re.findall(r"^(?:convert.py: )?error: .*", said, re.MULTILINE)
    expect(len(errors), 1, "errors of %s, %s" % (words, said))
    for text in texts:
        assert text in errors[0], (errors[0], text)


def particles(path):
    data = fetch(OpenDataFile(path))
    order = np.argsort(vtk_to_numpy(data.GetPointData().GetArray("id")))
    point_data = data.GetPointData()
    found = {point_data.GetArrayName(i): vtk_to_numpy(point_data.GetArray(i))[order]
             for i in range(point_data.GetNumberOfArrays())}
    return vtk_to_numpy(data.GetPoints().GetData())[order], found


def check(path, seed=1, first=0, names=("id", "mass", "velocity")):
    """The particles of cloud(N, seed, first), bit for bit."""
    positions, found = particles(path)
    expect(positions, points(N, seed), path + ": positions")
    expect(set(found), set(names), path + ": arrays")
    for name in names:
        expect(found[name], arrays(N, seed, first)[name], path + ": " + name)


def times(path):
    reader = OpenDataFile(path)
    return list(reader.TimestepValues) if hasattr(reader.TimestepValues, "__len__") else [reader.TimestepValues]


def csv(path, ids):
    with open(path, "w") as file:
        file.write("name,px,py,pz,id,key\n")
        for p, id in zip(points(N).astype("f8").tolist(), ids.tolist()):
            file.write("n,%r,%r,%r,%d,%d\n" % (*p, id, 2**63 + id))


def ply(path):
    """cloud(N), and with it what VTK's reader knows."""
    values = arrays(N)
    vertices = np.zeros(N, [("x", "<f4"), ("y", "<f4"), ("z", "<f4"), ("nx", "<f4"), ("ny", "<f4"), ("nz", "<f4"),
                            ("red", "u1"), ("green", "u1"), ("blue", "u1"), ("mass", "<f4"), ("id", "<i8")])
    for i, axis in enumerate("xyz"):
        vertices[axis] = points(N)[:, i]
        vertices["n" + axis] = values["velocity"][:, i]
    for i, color in enumerate(("red", "green", "blue")):
        vertices[color] = (np.arange(N) + i) % 256
    vertices["mass"], vertices["id"] = values["mass"], values["id"]
    kinds = {"<f4": "float", "|u1": "uchar", "<i8": "int64"}
    with open(path, "wb") as file:
        file.write(b"ply\nformat binary_little_endian 1.0\nelement vertex %d\n" % N)
        for name in vertices.dtype.names:
            file.write(b"property %s %s\n" % (kinds[vertices.dtype[name].str].encode(), name.encode()))
        file.write(b"element face 1\nproperty list uchar int vertex_indices\nend_header\n")
        file.write(vertices.tobytes() + b"\3" + np.arange(3, dtype="<i4").tobytes())


def vertices(n):
    """cloud(n) with its arrays as cell data of vertices, the last point first."""
    data = cloud(n)
    cells = vtkCellArray()
    for i in range(n - 1, -1, -1):
        cells.InsertNextCell(1, [i])
    data.SetVerts(cells)
    data.GetPointData().Initialize()
    add_arrays(data.GetCellData(), {name: value[::-1] for name, value in arrays(n).items()})
    return data


def pieces(path, *names):
    """A file of several pieces, which different ranks read."""
    with open(path, "w") as file:
        file.write('''<VTKFile type="PPolyData" version="0.1"><PPolyData GhostLevel="0">
<PPointData><PDataArray type="Int64" Name="id"/><PDataArray type="Float32" Name="mass"/>
<PDataArray type="Float64" Name="velocity" NumberOfComponents="3"/></PPointData>
<PPoints><PDataArray type="Float32" NumberOfComponents="3"/></PPoints>
''' + "".join('<Piece Source="%s"/>' % name for name in names) + "</PPolyData></VTKFile>")


with Folder() as folder:
    for step in range(3):
        one = producer(cloud(N, seed=step + 1, first=100 * step))
        # Expat's update broke appended data, the default, in ParaView 5.11.
        SaveData(folder("in_%d.vtp" % (step + 9)), one, DataMode="Ascii")
        SaveData(folder("in_%d.bat" % step), one)
    SaveData(folder("in.vtm"), GroupDatasets(Input=[producer(cloud(N))]), DataMode="Ascii")
    SaveData(folder("in.vtk"), producer(cloud(N)))
    csv(folder("in.csv"), arrays(N)["id"])
    ply(folder("in.ply"))
    SaveData(folder("vertices.vtp"), producer(vertices(N)), DataMode="Ascii")
    SaveData(folder("image.vti"), Wavelet(), DataMode="Ascii")
    out = folder("out.bat")

    # Formats; none delivers a particle twice or loses one.
    report, = reports(run(folder("in_9.vtp"), out, "--report", "-", "--target-size", "0.05"))
    check(out)
    expect(report["particles"], N, "particles of the report")
    expect(report["write"]["ranks"], ranks, "ranks of the report")
    expect(report["write"]["leaf_files"], len(os.listdir(out + ".leaves")), "leaf files of the report")
    assert report["seconds_read"] > 0 and report["write"]["seconds"]["total"] > 0
    for name in ("in_0.bat", "in.vtk", "in.vtm") if ranks == 2 else ():
        run(folder(name), out)
        check(out)
    said = run(folder("in.csv"), out, "--columns", "px,py,pz")
    positions, found = particles(out)
    expect(positions, points(N).astype("f8"), "positions of a table")
    expect(found["id"], arrays(N)["id"], "ids of a table")
    expect(found["key"], (2**63 + arrays(N)["id"].astype("u8")), "keys of a table")
    expect(sorted(found), ["id", "key"], "attributes of a table")
    expect(len(re.findall("warning:.*'name'", said)), 1, "warnings: " + said)
    if ranks == 2:
        said = run(folder("in.ply"), out)
        positions, found = particles(out)
        expect(positions, points(N), "positions of a PLY")
        colors = (np.arange(N)[:, None] + np.arange(3)).astype("u1")
        for name, wanted in (("Normals", arrays(N)["velocity"].astype("f4")), ("RGB", colors),
                             ("id", arrays(N)["id"]), ("mass", arrays(N)["mass"])):
            expect((found[name].dtype, found[name].tobytes()), (wanted.dtype, wanted.tobytes()), name + " of a PLY")
        expect(sorted(found), ["Normals", "RGB", "id", "mass"], "attributes of a PLY")
        expect(len(re.findall(r"warning:.*face \(1\)", said)), 1, "warnings: " + said)

    # Some cell data of vertices; a grid beside particles.
    if ranks == 2:
        run(folder("vertices.vtp"), out, "--arrays", "id,mass")
        check(out, names=["id", "mass"])
        SaveData(folder("mixed.vtm"), GroupDatasets(Input=[Wavelet(), producer(cloud(N))]), DataMode="Ascii")
        said = run(folder("mixed.vtm"), out, "--arrays", "id")
        check(out, names=["id"])
        expect(len(re.findall("warning:.*vtkImageData", said)), 1, "warnings: " + said)

    # Options of the writer.
    said = run(folder("in_9.vtp"), out, "--arrays", "id", "--aggregation", "aug", "--block-particles", "64",
               "--treelet-particles", "1024", "--sorted-index", "id", "--progress")
    check(out, names=["id"])
    for leaf in glob.glob(out + ".leaves/*.bat") + [out]:
        info = json.loads(subprocess.run([bat_info, "--json", leaf], stdout=subprocess.PIPE, check=True).stdout)
        expect([key["has_sorted_index"] for a in info["attributes"] for key in a["keys"]], [True], "what bat_info says of " + leaf)
    assert "100%" in said, said

    # Time series: files, a pattern (9 before 10), some of the steps.
    series = folder("series.bat")
    lines = run(folder("in_*.vtp"), series, "--report", folder("report.jsonl"))
    assert not re.search(r"error:|warning:|\[[#.]+\]|\{", lines), lines  # MPI may have its say
    with open(folder("report.jsonl")) as file:
        expect([json.loads(line)["step"] for line in file], [0, 1, 2], "steps of the report")
    for step in range(3):
        check(folder("series_%04d.bat" % step), seed=step + 1, first=100 * step)
        expect(times(folder("series_%04d.bat" % step)), [float(step)], "time")
    run(folder("in_2.bat"), folder("in_0.bat"), folder("in_1.bat"), folder("some.bat"), "--steps", "::2")
    check(folder("some_0000.bat"), seed=3, first=200)
    check(folder("some_0002.bat"), seed=2, first=100)
    if ranks == 1:
        run(folder("in_*.vtp"), folder("last.bat"), "--steps", "-1")
        check(folder("last.bat"), seed=3, first=200)

    if ranks == 2:
        for step in range(3):
            with open(folder("t_%d.csv" % step), "w") as file:
                file.write("x;y;z;id\n" + "".join("%d;0;0;%d\n" % (i, BIG_ID + i) for i in range(4 * step)))
        said = run(folder("t_*.csv"), folder("t.bat"))
        expect(len(re.findall("warning:", said)), 1, "warnings: " + said)
        assert re.search("warning:.*t_0000.bat: no particles", said), said
        for step in range(3):
            expect(times(folder("t_%04d.bat" % step)), [float(step)], "time")
        expect(particles(folder("t_0002.bat"))[1]["id"], BIG_ID + np.arange(8), "ids of the last step")
    # Lists of files, and files of the paper's library.
    if ranks == 1:
        with open(folder("late.csv.series"), "w") as file:
            json.dump({"files": [{"name": "in.csv", "time": 7.5}]}, file)
        run(folder("late.csv.series"), out, "--columns", "px,py,pz")
        expect(times(out), [7.5], "time of a list of files")

        samples = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../data/libbat/lattice8")
        shutil.copytree(samples, folder("lattice"))
        lattice = folder("lattice/lattice8.pbat")
        reader = OpenDataFile(lattice)
        expect(reader.GetXMLName(), "BATReader", "reader of .pbat")
        n = fetch(reader).GetNumberOfPoints()
        assert n > 1000, n
        with open(folder("lattice/all.pbat.series"), "w") as file:
            json.dump({"file-series-version": "1.0", "files": [{"name": "lattice8.pbat", "time": 2.5},
                                                               {"name": "lattice8.pbat", "time": 3}]}, file)
        expect(times(folder("lattice/all.pbat.series")), [2.5, 3.0], "times of a list of .pbat")
        run(lattice, out)
        expect(fetch(OpenDataFile(out)).GetNumberOfPoints(), n, "particles of a .pbat")
        refused([lattice, folder("lattice/lattice83.bat")], "is an input")

    # What somebody has saved as defaults of the reader loses no particles.
    if ranks == 1:
        home = folder("home")
        os.makedirs(os.path.join(home, ".config/ParaView"))
        with open(os.path.join(home, ".config/ParaView/ParaView-UserSettings.json"), "w") as file:
            json.dump({"sources": {"BATReader": {"Quality": 0.1, "UseBox": 1, "Ids": "1"}}}, file)
        elsewhere, environment["HOME"] = environment.get("HOME", "/"), home
        run(folder("in_0.bat"), folder("all.bat"))
        check(folder("all.bat"))
        environment["HOME"] = elsewhere
        shutil.rmtree(home)

    # What is refused, nothing is written of; inputs stay.
    before = sorted(os.listdir(folder.path))
    with open(folder("in_9.vtp")) as file:
        text = file.read()
    with open(folder("cut.vtp"), "w") as file:
        file.write(text[:len(text) // 2])
    with open(folder("what.foo"), "w") as file:
        file.write("what")
    os.symlink(folder("in_0.bat"), folder("link.bat"))
    os.mkdir(folder("taken.bat"))
    bad = folder("bad.bat")
    refused([folder("cut.vtp"), bad], "cut.vtp")
    refused([folder("in_0.bat"), folder("taken.bat")], "taken.bat")
    if ranks == 2:
        refused([folder("image.vti"), bad], "vtkImageData", "vtkPointSet")
        refused([folder("in.csv"), bad], "'px'", "--columns X,Y,Z; Z may be none")
        with open(folder("bad.csv"), "w") as file:
            file.write("x,y,z\n" + "1,2,3\n" * 100 + "4,five,6\n")
        refused([folder("bad.csv"), bad], "bad.csv: line 102: 'five' in column 'y'")
        os.remove(folder("bad.csv"))
        pieces(folder("pieces.pvtp"), "in_9.vtp", "cut.vtp")
        refused([folder("pieces.pvtp"), bad], "rank 1", "pieces.pvtp")
        pieces(folder("pieces.pvtp"), "in_9.vtp", "in_10.vtp")
        run(folder("pieces.pvtp"), out)
        expect(len(particles(out)[0]), 2 * N, "particles of two pieces")
        os.remove(folder("pieces.pvtp"))
        refused([folder("in_0.bat"), bad, "--arrays", "id,mas"], "'mas'", "id, mass, velocity")
    if ranks == 1:  # rank 0 alone finds these
        refused([folder("in_0.bat"), folder("link.bat")], "is an input")
        refused([folder("nothing.vtp"), bad], "nothing.vtp", "no such file")
        refused([folder("nothing_*.vtp"), bad], "none matches")
        refused([folder("what.foo"), bad], "what.foo")
        refused([folder("in.csv"), bad, "--columns", "px,py,pq"], "Z of --columns is 'pq'", "'px'")
        refused([folder("in.csv"), bad, "--columns", "px,py,name"], "'name' holds no numbers: 'n'")
        refused([folder("in_0.bat"), bad, "--sorted-index", "mas"], "--sorted-index:", "'mas'")
        refused([folder("in.csv"), folder("in_9.vtp"), bad], "in.csv, ", "different kinds")
        refused([folder("in_0.bat"), bad, "--delimiter", "tab"], "--delimiter", "in_0.bat")
        with open(folder("empty.csv"), "w"):
            pass
        refused([folder("empty.csv"), bad], "empty.csv: is empty")
        os.remove(folder("empty.csv"))
        refused([folder("in_0.bat"), bad, "--steps", "5:"], "none of the 1 steps")
        refused([folder("in_0.bat"), bad, "--steps", "::0"], "'::0'")
        refused([folder("in_0.bat"), bad, "--arrays", "id,,mass"], "--arrays: 'id,,mass'")
        refused([folder("in_0.bat"), folder("in_0.bat")], "is an input")
        refused([folder("in_9.vtp"), bad, "--report", folder("in_9.vtp")], "is an input")
        refused([folder("in_0.bat"), folder("no/where.bat")], "does not exist")
        refused([folder("in_0.bat"), folder("out.vtp")], "must end in .bat")
        os.mkdir(folder("alone"))
        for name in glob.glob(os.path.join(os.path.dirname(convert), "*.py")):
            shutil.copy(name, folder("alone"))
        refused([folder("in_0.bat"), bad], "BATWriter is not found", "PV_PLUGIN_PATH",
                script=folder("alone/convert.py"))
        shutil.rmtree(folder("alone"))
    after = set(os.listdir(folder.path)) - {"cut.vtp", "what.foo", "link.bat", "taken.bat"}
    expect(sorted(after), before, "files after refusals")
    check(folder("in_0.bat"))
finish()
