# SPDX-License-Identifier: BSD-3-Clause
"""convert.py on some ranks: inputs, outputs, and errors. Run by pvpython. Arguments: convert.py, number of ranks,
pvbatch, bat_info, python3, mpiexec (not for one rank). test_exact_reading.py covers what it reads itself. Steps of tables are compared
with those of `parabat convert`, if its library is next to the folder of convert.py."""
import glob
import json
import re
import subprocess

from bat_test import *
from vtkmodules.vtkCommonDataModel import vtkCellArray

convert, ranks, pvbatch, bat_info, python = sys.argv[1], int(sys.argv[2]), *sys.argv[3:6]
N = 5000

environment = outside_mpi()
del environment["PV_PLUGIN_PATH"]  # convert.py finds the plugins itself


def start(script, *words):
    """Status and output of a pvbatch on all ranks. The time limit is for a rank that hangs."""
    command = [pvbatch] if ranks == 1 else [sys.argv[6], "-np", str(ranks), pvbatch]
    done = subprocess.run([*command, script, *words], capture_output=True, text=True, timeout=500, env=environment)
    reported = done.stdout + done.stderr
    assert "Traceback" not in reported and "Loguru caught" not in reported, reported
    return done, reported


def run(*words, status=0, script=convert):
    """The lines that convert.py prints."""
    done, reported = start(script, *words)
    assert (done.returncode != 0) == (status != 0), (words, done.returncode, reported)
    return reported


def run_in_turn(*commands, status=0):
    """The lines that convert.py prints for each argument list, in one process."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "convert_in_turn.py")
    done, reported = start(script, os.path.dirname(convert), json.dumps(commands))
    expect(done.returncode, 0, "status; " + reported)
    reported, errors = (stream.split("\nnext in turn\n")[1:] for stream in (done.stdout, done.stderr))
    expect((len(reported), len(errors)), (len(commands), len(commands)), "conversions of " + str(commands))
    for words, text in zip(commands, errors):
        assert bool(re.search(r"^status [1-9]", text, re.MULTILINE)) == (status != 0), (words, text)
    return list(map("".join, zip(reported, errors)))


def reports(reported):
    """The output of --report -; MPI and graphics libraries may print more."""
    return [json.loads(line) for line in reported.splitlines() if line.startswith("{")]


def check_refusal(words, texts, reported):
    """Checks that it reports why it fails, once, in these words."""
    errors = re.findall(r"^(?:convert.py: )?error: .*", reported, re.MULTILINE)
    expect(len(errors), 1, "errors of %s, %s" % (words, reported))
    for text in texts:
        assert text in errors[0], (errors[0], text)


def refused(words, *texts, script=convert):
    check_refusal(words, texts, run(*words, status=1, script=script))


def refused_in_turn(*cases):
    """Each is an argument list and expected texts."""
    for (words, *texts), reported in zip(cases, run_in_turn(*(words for words, *_ in cases), status=1)):
        check_refusal(words, texts, reported)


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
    """cloud(N) with the arrays that VTK's reader adds."""
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


def steps_of(stem):
    """(time, step, positions, arrays in the order of ids) of OUT.bat or OUT_0000.bat ... by the number in the name."""
    steps = {}
    for path in glob.glob(stem + "_[0-9]*.bat") + glob.glob(stem + ".bat"):
        info = json.loads(subprocess.run([bat_info, "--json", path], stdout=subprocess.PIPE, check=True).stdout)
        positions, found = particles(path)
        steps[path[len(stem):]] = [info["time"], info["step"], positions.tolist(), {
            name: (str(values.dtype), str(values.tolist())) for name, values in sorted(found.items())}]
    return steps


# Name, text of each file, options. Times in any order, numbers, units, dates, missing values, repeated steps.
ROWS_TWICE = "id,time,step,x,y,z\n1,0.5,100,1,0,0\n1,1,200,1,0,0\n2,0.5,100,2,0,0\n"
TABLES = {
    "far": (["t,x,y,z,id\n" + "".join(f"{t},{i},{t},0,{BIG_ID + i}\n" for i in range(7) for t in (1.5, 0.25, 4))], []),
    "unit": (["id,time (s),x,y,z\n1,1,1,0,0\n2,1,1,0,0\n1,2,1,0,0\n"], []),
    "both": ([ROWS_TWICE], []),
    "frames": (["id,frame,time,x,y,z\n1,3,0.5,1,0,0\n2,3,0.625,2,0,0\n1,1,1,3,0,0\n"], []),
    "dates": (["id,time,x,y,z\n1,2020-01-02,1,0,0\n2,2020-01-01,2,0,0\n3,2020-01-02,3,0,0\n"], []),
    "undated": (["id,time,x,y,z\n1,2020-01-02,1,0,0\n2,soon,2,0,0\n3,2020-01-02,3,0,0\n"], []),
    "missing": (["id,time,v,x,y,z\n1,NA,1,1,0,0\n2,1,0.5,2,0,0\n3,1,2,3,0,0\n4,2,NA,3,0,0\n"], []),
    "own": (["id,time,x,y,z\n1,2.5,1,0,0\n2,3.5,2,0,0\n"], []),
    "single": (["id,time,x,y,z\n1,2.5,1,0,0\n2,2.5,2,0,0\n"], []),
    "chosen": (["id,epoch,time,x,y,z\n1,5,0.5,1,0,0\n1,6,0.5,1,0,0\n2,5,0.75,2,0,0\n"], ["--time-column", "epoch"]),
    "kept": ([ROWS_TWICE], ["--time-column", "none"]),
    "some": ([ROWS_TWICE], ["--steps", "1", "--arrays", "id"]),
    "parts": (["id,t,x,y,z\n1,2,8,0,0\n1,3,8,0,0\n2,2,8,0,0\n", "id,t,x,y,z\n1,0,9,0,0\n1,2,9,0,0\n2,0,9,0,0\n"], []),
    "headed": (["x,y,z,id\n1,2,3,4\n", "x,y,z,id\n5,6,7,8\n"], []),
}
BY_PARABAT = """
import json, sys
from parabat.cli import main
sys.exit(max(main(["convert", *words]) for words in json.loads(sys.argv[1])))
"""


def check_tables(folder):
    """The steps of tables are those of `parabat convert`."""
    words = {"pv": [], "py": []}
    for name, (texts, options) in TABLES.items():
        files = [folder("%s_%d.csv" % (name, i)) for i in range(len(texts))]
        for file, text in zip(files, texts):
            with open(file, "w") as out:
                out.write(text)
        for of, commands in words.items():
            commands.append([*files, folder("%s_of_%s.bat" % (of, name)), *options])
    notes = dict(zip(TABLES, run_in_turn(*words["pv"])))
    found = {name: steps_of(folder("pv_of_" + name)) for name in TABLES}
    expect({of: (time, step) for of, (time, step, *_) in found["both"].items()},
           {"_0000.bat": (0.5, 100), "_0001.bat": (1, 200)}, "times and steps")
    expect(found["far"]["_0001.bat"], [1.5, None, [[i, 1.5, 0] for i in range(7)], {
        "id": ("int64", str([BIG_ID + i for i in range(7)]))}], "a step of rows that are not adjacent")
    assert "note: " in notes["both"] and "2 steps by the columns 'time' and 'step'" in notes["both"], notes["both"]
    assert "1 step repeats the time of another (2); the last of each is kept\n" in notes["parts"], notes["parts"]
    library = os.path.join(os.path.dirname(os.path.dirname(convert)), "libbat_capi.so")
    if os.path.exists(library):
        package = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../core/python")
        subprocess.run([python, "-c", BY_PARABAT, json.dumps(words["py"])], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       env={**outside_mpi(), "PYTHONPATH": package, "BAT_LIBRARY": library})
        for name in TABLES:
            expect(found[name], steps_of(folder("py_of_" + name)), "steps of the table " + name)
    for made in glob.glob(folder("p[vy]_of_*")) + [file for each in words["pv"] for file in each if file.endswith(".csv")]:
        (shutil.rmtree if os.path.isdir(made) else os.remove)(made)


with Folder() as folder:
    check_tables(folder)
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

    # Formats; none duplicates or loses a particle.
    report, = reports(run(folder("in_9.vtp"), out, "--report", "-", "--target-size", "0.05"))
    check(out)
    expect(report["particles"], N, "particles of the report")
    expect(report["write"]["ranks"], ranks, "ranks of the report")
    expect(report["write"]["leaf_files"], len(os.listdir(out + ".leaves")), "leaf files of the report")
    assert report["seconds_read"] > 0 and report["write"]["seconds"]["total"] > 0

    # A table, all options of the writer, some of the steps.
    table, optional, some = folder("table.bat"), folder("optional.bat"), folder("some.bat")
    reported, progress, _ = run_in_turn(
        [folder("in.csv"), table, "--columns", "px,py,pz"],
        [folder("in_9.vtp"), optional, "--arrays", "id", "--aggregation", "aug", "--block-particles", "64",
         "--treelet-particles", "1024", "--sorted-index", "id", "--progress"],
        [folder("in_2.bat"), folder("in_0.bat"), folder("in_1.bat"), some, "--steps", "::2"])
    positions, found = particles(table)
    expect(positions, points(N).astype("f8"), "positions of a table")
    expect(found["id"], arrays(N)["id"], "ids of a table")
    expect(found["key"], (2**63 + arrays(N)["id"].astype("u8")), "keys of a table")
    expect(sorted(found), ["id", "key"], "attributes of a table")
    expect(len(re.findall("warning:.*'name'", reported)), 1, "warnings: " + reported)
    check(optional, names=["id"])
    for leaf in glob.glob(optional + ".leaves/*.bat") + [optional]:
        info = json.loads(subprocess.run([bat_info, "--json", leaf], stdout=subprocess.PIPE, check=True).stdout)
        expect([key["has_sorted_index"] for a in info["attributes"] for key in a["keys"]], [True], "what bat_info says of " + leaf)
    assert "100%" in progress, progress
    check(folder("some_0000.bat"), seed=1, first=0)  # in the order of the numbers in their names
    check(folder("some_0002.bat"), seed=3, first=200)

    # Time series: files, a pattern (9 before 10).
    series = folder("series.bat")
    lines = run(folder("in_*.vtp"), series, "--report", folder("report.jsonl"))
    assert not re.search(r"error:|warning:|\[[#.]+\]|\{", lines), lines  # MPI may print, too
    with open(folder("report.jsonl")) as file:
        expect([json.loads(line)["step"] for line in file], [0, 1, 2], "steps of the report")
    for step in range(3):
        check(folder("series_%04d.bat" % step), seed=step + 1, first=100 * step)
        expect(times(folder("series_%04d.bat" % step)), [], "time")  # the files name none

    # Times that files name, in the order of these; legacy files, whose times ParaView's reader ignores.
    if ranks == 1:
        for number, time in ((10, 2.5), (9, 0.5)):
            with open(folder("named_%d.vtk" % number), "w") as file:
                file.write("# vtk DataFile Version 3.0\nx\nASCII\nDATASET POLYDATA\nFIELD FieldData 2\nTIME 1 1 double\n%g\n"
                           "CYCLE 1 1 int\n%d\nPOINTS 1 float\n%d 0 0\n" % (time, 3000000 + number, number))
        run(folder("named_10.vtk"), folder("named_9.vtk"), folder("named.bat"))
        for step, number, time in ((0, 9, 0.5), (1, 10, 2.5)):
            info = json.loads(subprocess.run([bat_info, "--json", folder("named_%04d.bat" % step)], stdout=subprocess.PIPE, check=True).stdout)
            expect((info["time"], info["step"], info["bounds"]["lower"][0]), (time, 3000000 + number, number), "time, step and x of a legacy file")

    # Other formats; some cell data of vertices; a grid next to particles; steps without particles; two
    # pieces.
    if ranks == 2:
        SaveData(folder("mixed.vtm"), GroupDatasets(Input=[Wavelet(), producer(cloud(N))]), DataMode="Ascii")
        for step in range(3):
            with open(folder("t_%d.csv" % step), "w") as file:
                file.write("x;y;z;id\n" + "".join("%d;0;0;%d\n" % (i, BIG_ID + i) for i in range(4 * step)))
        pieces(folder("pieces.pvtp"), "in_9.vtp", "in_10.vtp")
        names = ("in_0.bat", "in.vtk", "in.vtm", "in.ply", "pieces.pvtp")
        *_, of_ply, _, _, of_mixed, of_series = run_in_turn(
            *([folder(name), folder("of_%s.bat" % name)] for name in names),
            [folder("vertices.vtp"), folder("vertices.bat"), "--arrays", "id,mass"],
            [folder("mixed.vtm"), folder("mixed.bat"), "--arrays", "id"],
            [folder("t_*.csv"), folder("t.bat")])
        for name in ("in_0.bat", "in.vtk", "in.vtm"):
            check(folder("of_%s.bat" % name))
        positions, found = particles(folder("of_in.ply.bat"))
        expect(positions, points(N), "positions of a PLY")
        colors = (np.arange(N)[:, None] + np.arange(3)).astype("u1")
        for name, expected in (("Normals", arrays(N)["velocity"].astype("f4")), ("RGB", colors),
                             ("id", arrays(N)["id"]), ("mass", arrays(N)["mass"])):
            expect((found[name].dtype, found[name].tobytes()), (expected.dtype, expected.tobytes()), name + " of a PLY")
        expect(sorted(found), ["Normals", "RGB", "id", "mass"], "attributes of a PLY")
        expect(len(re.findall(r"warning:.*face \(1\)", of_ply)), 1, "warnings: " + of_ply)
        expect(len(particles(folder("of_pieces.pvtp.bat"))[0]), 2 * N, "particles of two pieces")
        check(folder("vertices.bat"), names=["id", "mass"])
        check(folder("mixed.bat"), names=["id"])
        expect(len(re.findall("warning:.*vtkImageData", of_mixed)), 1, "warnings: " + of_mixed)
        expect(len(re.findall("warning:", of_series)), 1, "warnings: " + of_series)
        assert re.search("warning:.*t_0000.bat: the input has no particles", of_series), of_series
        for step in range(3):
            expect(times(folder("t_%04d.bat" % step)), [], "time")
        expect(particles(folder("t_0002.bat"))[1]["id"], BIG_ID + np.arange(8), "ids of the last step")

    # The last step, lists of files, and files of the paper's library.
    if ranks == 1:
        with open(folder("late.csv.series"), "w") as file:
            json.dump({"files": [{"name": "in.csv", "time": 7.5}]}, file)
        samples = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../data/libbat/lattice8")
        shutil.copytree(samples, folder("lattice"))
        lattice = folder("lattice/lattice8.pbat")
        run_in_turn([folder("in_*.vtp"), folder("last.bat"), "--steps", "-1"],
                    [folder("late.csv.series"), folder("late.bat"), "--columns", "px,py,pz"],
                    [lattice, folder("of_lattice.bat")])
        check(folder("last.bat"), seed=3, first=200)
        expect(times(folder("late.bat")), [7.5], "time of a list of files")
        reader = OpenDataFile(lattice)
        expect(reader.GetXMLName(), "BATReader", "reader of .pbat")
        n = fetch(reader).GetNumberOfPoints()
        assert n > 1000, n
        with open(folder("lattice/all.pbat.series"), "w") as file:
            json.dump({"file-series-version": "1.0", "files": [{"name": "lattice8.pbat", "time": 2.5},
                                                               {"name": "lattice8.pbat", "time": 3}]}, file)
        expect(times(folder("lattice/all.pbat.series")), [2.5, 3.0], "times of a list of .pbat")
        expect(fetch(OpenDataFile(folder("of_lattice.bat"))).GetNumberOfPoints(), n, "particles of a .pbat")

    # Saved user defaults of the reader do not lose particles.
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

    # Nothing is written for invalid input; inputs stay.
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
    cases = [([folder("in_0.bat"), folder("taken.bat")], "taken.bat")]
    made = []
    if ranks == 2:
        with open(folder("bad.csv"), "w") as file:
            file.write("x,y,z\n" + "1,2,3\n" * 100 + "4,five,6\n")
        pieces(folder("cut.pvtp"), "in_9.vtp", "cut.vtp")
        made = ["bad.csv", "cut.pvtp"]
        cases += [
            ([folder("image.vti"), bad], "vtkImageData", "vtkPointSet"),
            ([folder("in.csv"), bad], "'px'", "--columns X,Y,Z; Z may be none"),
            ([folder("bad.csv"), bad], "bad.csv: line 102: 'five' in column 'y'"),
            ([folder("cut.pvtp"), bad], "rank 1", "cut.pvtp"),
            ([folder("in_0.bat"), bad, "--arrays", "id,mas"], "'mas'", "id, mass, velocity")]
    if ranks == 1:  # only rank 0 finds these
        with open(folder("empty.csv"), "w"):
            pass
        made = ["empty.csv"]
        cases += [
            ([lattice, folder("lattice/lattice83.bat")], "is an input"),
            ([folder("in_0.bat"), folder("link.bat")], "is an input"),
            ([folder("nothing.vtp"), bad], "nothing.vtp", "no such file"),
            ([folder("nothing_*.vtp"), bad], "none matches"),
            ([folder("what.foo"), bad], "what.foo"),
            ([folder("in.csv"), bad, "--columns", "px,py,pq"], "Z of --columns is 'pq'", "'px'"),
            ([folder("in.csv"), bad, "--columns", "px,py,name"], "'name' is not numeric: 'n'"),
            ([folder("in_0.bat"), bad, "--sorted-index", "mas"], "--sorted-index:", "'mas'"),
            ([folder("in.csv"), folder("in_9.vtp"), bad], "in.csv, ", "different kinds"),
            ([folder("in_0.bat"), bad, "--delimiter", "tab"], "--delimiter", "in_0.bat"),
            ([folder("empty.csv"), bad], "empty.csv: is empty"),
            ([folder("in_0.bat"), bad, "--time-column", "t"], "--time-column", "in_0.bat is not a .csv"),
            ([folder("late.csv.series"), bad, "--time-column", "t"], "--time-column", "has the times of its files"),
            ([folder("in.csv"), bad, "--time-column", "tim"], "in.csv: argument --time-column: unknown column 'tim'", "'px'"),
            ([folder("in.csv"), bad, "--time-column", "name"], "the column 'name' is not numeric"),
            ([folder("in_0.bat"), bad, "--steps", "5:"], "none of the 1 steps"),
            ([folder("in_0.bat"), bad, "--steps", "::0"], "'::0'"),
            ([folder("in_0.bat"), bad, "--arrays", "id,,mass"], "--arrays: 'id,,mass'"),
            ([folder("in_0.bat"), folder("in_0.bat")], "is an input"),
            ([folder("in_9.vtp"), bad, "--report", folder("in_9.vtp")], "is an input"),
            ([folder("in_0.bat"), folder("no/where.bat")], "does not exist"),
            ([folder("in_0.bat"), folder("out.vtp")], "must end in .bat")]
        os.mkdir(folder("alone"))
        for name in glob.glob(os.path.join(os.path.dirname(convert), "*.py")):
            shutil.copy(name, folder("alone"))
        refused([folder("in_0.bat"), bad], "BATWriter was not found", "PV_PLUGIN_PATH",
                script=folder("alone/convert.py"))
        shutil.rmtree(folder("alone"))
    refused_in_turn(*cases)
    for name in made:
        os.remove(folder(name))
    after = set(os.listdir(folder.path)) - {"cut.vtp", "what.foo", "link.bat", "taken.bat"}
    expect(sorted(after), before, "files after refusals")
    check(folder("in_0.bat"))
finish()
