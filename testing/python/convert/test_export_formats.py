# SPDX-License-Identifier: BSD-3-Clause
"""`parabat export` to the formats of other programs: every value, read back by an independent reader and by `parabat
convert`. Readers that are not installed are skipped; in_venv.py has those of PyPI.

Usage: test_export_formats.py [LMP]
"""

import contextlib
import importlib
import importlib.util
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import parabat
from parabat.cli import main
from parabat.convert import registry
from parabat.exporting import FORMATS
from support import SKIPPED, converted, equal, same

random = np.random.default_rng(17)
N = 60
XYZ = random.random((N, 3)) * [10, 9, 8]
IDS = random.permutation(N) + 2 ** 53 + 1
COLUMNS = {"id": IDS, "velocity": random.normal(size=(N, 3)).astype("f4"), "mass": random.normal(size=N) * 10.0 ** random.integers(-300, 300, N),
           "kind": random.integers(0, 3, N).astype("u1"), "stress": random.normal(size=(N, 6)), "half": random.normal(size=(N, 2)).astype("f4"),
           "flag": random.integers(-9, 9, N).astype("i2")}
COLUMNS["mass"][3], COLUMNS["mass"][4] = np.nan, np.inf
BOX = {"lower": [0, 0, 0], "upper": [10, 9, 8]}
TIME, STEP = 0.1 + 0.2, 1234567890123
MANUAL = pathlib.Path(__file__).resolve().parents[3] / "core/python/README.md"
done = []


def module(name):
    try:
        return importlib.import_module(name)
    except ImportError as error:
        print(f"not tested with {name}: {error}")
        return None


def run(*words):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(["export", *map(str, words)])
    return code, out.getvalue(), err.getvalue()


def exported(*words, says=()):
    """What was reported on stderr of an export that succeeds."""
    code, _, err = run(*words)
    assert code == 0, (words, err)
    for text in says:
        assert text in err, (text, err)
    return err


def fails(code, text, *words):
    before = sorted(os.listdir("."))
    found, _, err = run(*words)
    assert found == code and text in err and err.count("\n") == 1, (found, err)
    assert sorted(os.listdir(".")) == before


def sorted_rows(ids, *arrays):
    order = np.argsort(np.asarray(ids))
    return [np.asarray(array)[order] for array in arrays]


def check(ids, positions, found, dtypes=True):
    """Positions and attributes by name, in any order."""
    own = np.argsort(IDS)
    for name, values, expected in (("positions", positions, XYZ), *((name, found[name], COLUMNS[name]) for name in found)):
        values, = sorted_rows(ids, values)
        if dtypes:
            equal("file", name, values, expected[own])
        else:
            np.testing.assert_array_equal(values, expected[own], err_msg=name)


def write(path, columns=None, xyz=XYZ, metadata=None, **facts):
    parabat.write(path, xyz, COLUMNS if columns is None else columns, metadata=json.dumps(metadata or {}), **facts)


def back(path, *words):
    """The dataset that `parabat convert` makes of the file."""
    for name in pathlib.Path(".").glob("back*"):
        os.remove(name)
    converted(path, "back.bat", *words)
    return next(str(name) for name in sorted(pathlib.Path(".").glob("back*.bat")))


write("a.bat", metadata={"periodic_box": BOX, "units": {"positions": "nm", "time": "ps", "velocity": "nm/ps"}}, time=TIME, step=STEP)
write("bare.bat", {"w": XYZ[:, 0]}, XYZ.astype("f4"))
write("none.bat", {"id": IDS[:0], "velocity": np.zeros((0, 3))}, XYZ[:0], time=1.5, step=2)

# --- Which format
fails(2, "ends in '.abc'; allowed: .npz, .csv, .parquet, .vtp, .vtkhdf", "a.bat", "o.abc")
fails(2, "--format: 'abc'; allowed: npz, csv", "a.bat", "o.abc", "--format", "abc")
exported("a.bat", "o.abc", "--format", "csv")
exported("a.bat", "o.csv")
assert pathlib.Path("o.abc").read_bytes() == pathlib.Path("o.csv").read_bytes()

# --- Arrays and tables: the time, the step and what else the dataset knows
exported("a.bat", "o.csv", says=["not written, since .csv has no place for it: time, step, units, periodic box"])
assert exported("bare.bat", "o.csv") == exported("bare.bat", "o.npz") == ""
assert ": units, periodic box" in exported("a.bat", "o.npz")
with np.load("o.npz") as found:
    assert set(found) == {"positions", "time", "step", *COLUMNS}
    assert (found["time"].shape, found["time"].dtype, found["time"], found["step"].dtype, found["step"]) == ((), "f8", TIME, "i8", STEP)
same(back("o.npz"), XYZ, COLUMNS, time=TIME, step=STEP)
write("taken.bat", {"time": XYZ[:, 0], "id": IDS}, time=TIME, step=STEP)
exported("taken.bat", "taken.npz", says=["the time of the dataset is not written, since an attribute has that name"])
with np.load("taken.npz") as found:
    assert found["time"].shape == (N,) and found["step"] == STEP

# --- Texts of codes, which only some formats have
write("texts.bat", {"id": IDS, "names": np.arange(N, dtype="i4") % 2, "kinds": np.arange(N, dtype="i4") % 2},
      metadata={"md": {"texts": {"names": ["CA", "N"]}}, "other": {"texts": {"kinds": ["a b", "c"]}}})
for ending in ["csv", "npz", "hdf5", "h5", "vtkhdf", "vtp"]:
    if importlib.util.find_spec({"csv": "numpy", "npz": "numpy", "vtp": "vtkmodules"}.get(ending, "h5py")):
        exported("texts.bat", f"texts.{ending}", says=["the texts of 'names', 'kinds' are not written"])
for ending in ("xyz", "dump"):
    exported("texts.bat", f"texts.{ending}", says=["the texts of 'kinds' are not written"])

# --- HDF5: Gadget, openPMD, VTKHDF
h5py = module("h5py")
if h5py:
    done.append("hdf5")
    reported = exported("a.bat", "snap.hdf5", says=["not written, since a Gadget snapshot has no place for it: step"])
    with h5py.File("snap.hdf5") as file:
        header, group = file["Header"].attrs, file["PartType1"]
        assert list(header["NumPart_ThisFile"]) == list(header["NumPart_Total"]) == [0, N, 0, 0, 0, 0] and header["Time"] == TIME
        assert list(header["BoxSize"]) == [10, 9, 8] and header["NumFilesPerSnapshot"] == 1
        check(group["ParticleIDs"][()], group["Coordinates"][()], {"velocity": group["Velocities"][()], "mass": group["Masses"][()],
              **{name: group[name][()] for name in ("kind", "stress", "half", "flag")}})
    renamed = {{"id": "ParticleIDs", "velocity": "Velocities", "mass": "Masses"}.get(name, name): values for name, values in COLUMNS.items()}
    same(back("snap.hdf5"), XYZ, renamed, key="ParticleIDs", time=TIME)
    path = back("snap.hdf5")  # a converted snapshot keeps its header and type
    with h5py.File("snap.hdf5", "a") as file:
        file.move("PartType1", "PartType4")
        for name in ("NumPart_ThisFile", "NumPart_Total"):
            file["Header"].attrs[name] = np.array([0, 0, 0, 0, N, 0], "u4")
        file["Header"].attrs["Redshift"], file["Header"].attrs["Omega0"] = 0.5, 0.3
        file.create_group("Units").attrs["Unit length in cgs (U_L)"] = 3.0e24
    exported(back("snap.hdf5"), "again.hdf5")
    with h5py.File("again.hdf5") as file:
        assert file["Header"].attrs["Redshift"] == 0.5 and file["Header"].attrs["Omega0"] == 0.3 and "PartType4" in file
        assert file["Units"].attrs["Unit length in cgs (U_L)"] == 3.0e24 and list(file["Header"].attrs["NumPart_ThisFile"]) == [0, 0, 0, 0, N, 0]
    exported("bare.bat", "bare.hdf5", says=["the dataset has no time", "has no box; BoxSize is 0"])
    with h5py.File("bare.hdf5") as file:
        assert "Time" not in file["Header"].attrs and "ParticleIDs" not in file["PartType1"] and file["Header"].attrs["BoxSize"] == 0
        assert file["PartType1/Coordinates"].dtype == np.float32
    exported("none.bat", "none.hdf5")

    reported = exported("a.bat", "data.h5", says=["periodic box"])
    assert "the unit" not in reported and "units unknown; unitSI is 1: mass" in reported
    with h5py.File("data.h5") as file:
        assert file.attrs["openPMD"] == b"1.1.0" and file.attrs["basePath"] == b"/data/%T/"
        iteration = file[f"data/{STEP}"]
        assert iteration.attrs["time"] == TIME and iteration.attrs["timeUnitSI"] == 1e-12
        species = iteration["particles/particles"]
        assert species["velocity/x"].attrs["unitSI"] == 1000 and list(species["velocity"].attrs["unitDimension"]) == [1, 0, -1, 0, 0, 0, 0]
        assert species["position/x"].attrs["unitSI"] == 1e-9 and list(species["position"].attrs["unitDimension"]) == [1, 0, 0, 0, 0, 0, 0]
        check(species["id"][()], np.stack([species[f"position/{axis}"][()] for axis in "xyz"], axis=1), {
            "velocity": np.stack([species[f"velocity/{axis}"][()] for axis in "xyz"], axis=1), "mass": species["mass"][()],
            "stress": np.stack([species[f"stress/{i}"][()] for i in range(6)], axis=1), "flag": species["flag"][()]})
    metadata = json.loads(same(back("data.h5"), XYZ, COLUMNS, time=TIME * 1e-12, step=STEP))
    assert metadata["openPMD"]["unitSI"]["position"] == 1e-9
    exported(back("data.h5"), "again.h5")  # with the units of the first
    with h5py.File("again.h5") as file:
        assert file[f"data/{STEP}/particles/particles/position/x"].attrs["unitSI"] == 1e-9
        assert file[f"data/{STEP}"].attrs["timeUnitSI"] == 1 and file[f"data/{STEP}"].attrs["time"] == TIME * 1e-12
    exported("bare.bat", "bare.h5", says=["has no time, which openPMD requires", "has no step number", "units unknown; unitSI is 1: positions"])
    for length, velocity, metres, speed in (("angstrom", "angstrom/fs", 1e-10, 1e5), ("angstrom", "angstrom/ps", 1e-10, 100.0), ("um", "m/s", 1e-6, 1.0),
                                            ("kpc", "km/s", 3.0856775814913673e19, 1000.0), ("bohr", "kpc/h", 5.29177210544e-11, None)):
        write("units.bat", {"v": XYZ, "id": IDS}, metadata={"units": {"positions": length, "v": velocity}}, time=TIME, step=STEP)
        reported = exported("units.bat", "units.h5", says=["the time unit is unknown; timeUnitSI is 1"])
        assert ("the unit 'kpc/h' of 'v' is not converted" in reported) == (speed is None) and "units unknown" not in reported
        with h5py.File("units.h5") as file:
            species = file[f"data/{STEP}/particles/particles"]
            assert species["position/x"].attrs["unitSI"] == metres and species["v/x"].attrs["unitSI"] == (speed or 1.0), velocity
    exported("none.bat", "none.h5")

    exported("a.bat", "a.vtkhdf", says=["units, periodic box"])
    same(back("a.vtkhdf"), XYZ, COLUMNS, time=TIME, step=STEP)
    exported("bare.bat", "bare.vtkhdf")
    same(back("bare.vtkhdf"), XYZ.astype("f4"), {"w": XYZ[:, 0]}, key="w")
    exported("none.bat", "none.vtkhdf")
    same(back("none.vtkhdf"), XYZ[:0], {"id": IDS[:0], "velocity": np.zeros((0, 3))}, time=1.5, step=2)
    write("slash.bat", {"a/b": XYZ[:, 0]})
    exported("slash.bat", "slash.vtkhdf", says=["'a/b' is written as 'a_b'"])
    write("slashes.bat", {"a/b": XYZ[:, 0], "a_b": XYZ[:, 0]})
    fails(2, "two arrays would be called 'a_b'", "slashes.bat", "slash.vtkhdf")

openpmd_api = module("openpmd_api") if h5py else None
if openpmd_api:
    done.append("openpmd-api")
    series = openpmd_api.Series("data.h5", openpmd_api.Access.read_only)
    iteration = series.iterations[STEP]
    assert (iteration.time, iteration.time_unit_SI) == (TIME, 1e-12)
    particles = iteration.particles["particles"]
    loaded = {"id": particles["id"][openpmd_api.Record_Component.SCALAR].load_chunk(),
              "mass": particles["mass"][openpmd_api.Record_Component.SCALAR].load_chunk(),
              **{axis: particles["position"][axis].load_chunk() for axis in "xyz"}, **{f"v{axis}": particles["velocity"][axis].load_chunk() for axis in "xyz"}}
    offset = particles["positionOffset"]["x"].load_chunk()
    series.flush()
    assert particles["position"]["x"].unit_SI == 1e-9 and particles["mass"].unit_dimension == [0, 1, 0, 0, 0, 0, 0] and not offset.any()
    check(loaded["id"], np.stack([loaded[axis] for axis in "xyz"], axis=1), {
        "mass": loaded["mass"], "velocity": np.stack([loaded[f"v{axis}"] for axis in "xyz"], axis=1)})
    del series

# --- VTK
vtk = module("vtkmodules.vtkIOXML")
if vtk:
    from vtkmodules.util.numpy_support import vtk_to_numpy

    def read_vtk(reader, path):
        reader.SetFileName(path)
        reader.Update()
        data = reader.GetOutput()
        points, fields = data.GetPointData(), data.GetFieldData()
        found = {points.GetArrayName(i): vtk_to_numpy(points.GetArray(i)) for i in range(points.GetNumberOfArrays())}
        check(found["id"], vtk_to_numpy(data.GetPoints().GetData()), {name: values for name, values in found.items() if name != "id"})
        assert set(found) == set(COLUMNS) and data.GetNumberOfCells() == N, (sorted(found), data.GetNumberOfCells())
        assert fields.GetArray("TimeValue").GetValue(0) == TIME and fields.GetArray("timestep").GetValue(0) == STEP
    done.append("vtk")
    exported("a.bat", "a.vtp", says=["units, periodic box"])
    read_vtk(vtk.vtkXMLPolyDataReader(), "a.vtp")
    same(back("a.vtp"), XYZ, COLUMNS, time=TIME, step=STEP)
    exported("none.bat", "none.vtp")
    same(back("none.vtp"), XYZ[:0], {"id": IDS[:0], "velocity": np.zeros((0, 3))}, time=1.5, step=2)
    hdf = module("vtkmodules.vtkIOHDF")
    if hdf and h5py:
        read_vtk(hdf.vtkHDFReader(), "a.vtkhdf")

# --- Parquet
parquet = module("pyarrow.parquet")
if parquet:
    done.append("parquet")
    exported("a.bat", "a.parquet")
    table = parquet.read_table("a.parquet")
    about = json.loads(table.schema.metadata[b"parabat"])
    assert (about["time"], about["step"], about["metadata"]["periodic_box"]) == (TIME, STEP, BOX)
    check(table["id"].to_numpy(), np.stack([table[axis].to_numpy() for axis in "xyz"], axis=1), {
        "mass": table["mass"].to_numpy(), "kind": table["kind"].to_numpy(), "stress": np.stack([table[f"stress[{i}]"].to_numpy() for i in range(6)], axis=1)})

# --- Extended XYZ
TEXTS = {"texts": {"element": ["H", "O", "Si"]}}
write("atoms.bat", {"id": IDS, "element": np.arange(N, dtype="i4") % 3, "velocity": COLUMNS["velocity"], "mass": COLUMNS["mass"]},
      metadata={"lammps": {"box": {"origin": [1, 2, 3], "edges": [[10, 0, 0], [2, 9, 0], [0, 0.5, 8]], "boundary": "pp pp ff"},
                           "units": "metal", **TEXTS}}, time=TIME, step=STEP)
exported("atoms.bat", "atoms.xyz", says=["'id' has integers of more than 32 bits"])
lines = pathlib.Path("atoms.xyz").read_text().splitlines()
assert lines[0] == str(N) and len(lines) == N + 2
assert lines[1] == ('Lattice="10.0 0.0 0.0 2.0 9.0 0.0 0.0 0.5 8.0" Origin="1.0 2.0 3.0" pbc="T T F" '
                    f'Properties=species:S:1:pos:R:3:id:I:1:velocity:R:3:mass:R:1 Time={TIME!r} Step={STEP}'), lines[1]
rows = [line.split() for line in lines[2:]]
check([int(row[4]) for row in rows], np.array([row[1:4] for row in rows], float), {
    "velocity": np.array([row[5:8] for row in rows], float).astype("f4"), "mass": np.array([row[8] for row in rows], float)})
texts = {int(row[4]): row[0] for row in rows}
assert all(texts[int(IDS[i])] == ("H", "O", "Si")[i % 3] for i in range(N))
exported("a.bat", "a.extxyz", says=["units"])
exported("bare.bat", "bare.xyz")
assert pathlib.Path("bare.xyz").read_text().splitlines()[1] == "Properties=pos:R:3:w:R:1"
exported("none.bat", "none.xyz")
assert pathlib.Path("none.xyz").read_text().startswith('0\nProperties=pos:R:3:id:I:1:velocity:R:3 Time=1.5 Step=2\n')
write("large.bat", {"id": IDS, "u": np.full(N, 2 ** 64 - 1, "u8"), "a b": XYZ[:, 0]})
exported("large.bat", "large.xyz", says=["'u' is not written", "'a b' is written as 'a_b'"])
ase_io = module("ase.io")
if ase_io:
    done.append("ase")
    for name in ("atoms", "a"):  # with ids of 32 bits, which is all that ASE reads
        with parabat.open(f"{name}.bat") as dataset:
            read, metadata = dataset.read(), dataset.metadata
        read["id"] = (read["id"] - 2 ** 53).astype("i4")
        parabat.write("ase.bat", read.positions, dict(read), metadata=metadata, time=TIME, step=STEP)
        assert "ASE" not in exported("ase.bat", "ase.xyz")
        atoms = ase_io.read("ase.xyz", format="extxyz")
        assert atoms.info["Time"] == TIME and atoms.info["Step"] == STEP
        own = {each: atoms.arrays[each].astype(COLUMNS[each].dtype) for each in ("mass", "velocity", "flag", "stress") if each in read and each in atoms.arrays}
        assert "mass" in own and "velocity" in own
        check(atoms.arrays["id"].astype("i8") + 2 ** 53, atoms.positions, own)
        if name == "a":
            assert atoms.cell.tolist() == np.diag([10.0, 9, 8]).tolist() and atoms.pbc.all()
            continue
        assert [atoms.symbols[i] for i in np.argsort(atoms.arrays["id"])] == [("H", "O", "Si")[i % 3] for i in np.argsort(IDS)]
        assert atoms.cell.tolist() == [[10, 0, 0], [2, 9, 0], [0, 0.5, 8]] and atoms.pbc.tolist() == [True, True, False]
if any(row.name == "xyz" for row in registry.formats()):
    done.append("xyz")
    same(back("a.extxyz"), XYZ, {name: values.astype("f8" if values.dtype.kind == "f" else "i8") for name, values in COLUMNS.items()}, time=TIME, step=STEP)

# --- LAMMPS
exported("atoms.bat", "atoms.dump")
text = pathlib.Path("atoms.dump").read_text()
assert text.startswith(f"ITEM: UNITS\nmetal\nITEM: TIME\n{TIME!r}\nITEM: TIMESTEP\n{STEP}\nITEM: NUMBER OF ATOMS\n{N}\n"
                       "ITEM: BOX BOUNDS xy xz yz pp pp ff\n1.0 13.0 2.0\n2.0 11.5 0.0\n3.0 11.0 0.5\n"
                       "ITEM: ATOMS id x y z element vx vy vz mass\n"), text[:300]
path = back("atoms.dump")
with parabat.open(path) as dataset:
    found, about = dataset.read(), json.loads(dataset.metadata)["lammps"]
    assert (dataset.time, dataset.step) == (TIME, STEP)
check(found["id"], found.positions, {"velocity": found["v"].astype("f4"), "mass": found["mass"]})
assert about["units"] == "metal" and about["box"]["edges"] == [[10, 0, 0], [2, 9, 0], [0, 0.5, 8]] and about["texts"] == TEXTS["texts"]
exported("a.bat", "a.dump", says=["units"])
assert "BOX BOUNDS pp pp pp\n0.0 10.0\n0.0 9.0\n0.0 8.0\n" in pathlib.Path("a.dump").read_text()
exported("bare.bat", "bare.dump", says=["no step number", "no integer id", "the dataset has no box, which a dump requires; the box spans"])
with parabat.open(back("bare.dump")) as dataset:
    assert len(dataset) == N and json.loads(dataset.metadata)["lammps"]["box"]["boundary"] == "ss ss ss"
exported("none.bat", "none.dump")
write("turned.bat", metadata={"lammps": {"box": {"origin": [0, 0, 0], "edges": [[10, 1, 0], [2, 9, 0], [0, 0.5, 8]], "boundary": "pp pp pp"}}}, step=1)
exported("turned.bat", "turned.dump")
with parabat.open(back("turned.dump")) as dataset:
    assert json.loads(dataset.metadata)["lammps"]["box"]["edges"] == [[10, 1, 0], [2, 9, 0], [0, 0.5, 8]]

small = {"id": random.permutation(N) + 1, "type": random.integers(1, 4, N), "q": random.normal(size=N), "velocity": random.normal(size=(N, 3)), "extra": XYZ[:, 0]}
small["mass"] = np.array([1.5, 2.25, 0.1])[small["type"] - 1]
write("charges.bat", small, XYZ + [1, 2, 3], metadata={"lammps": {"box": {"origin": [1, 2, 3], "edges": [[10, 0, 0], [2, 9, 0], [0, 0.5, 8]],
                                                                       "boundary": "pp pp pp"}, "units": "metal"}}, time=TIME, step=STEP)
exported("charges.bat", "charges.data", says=["extra", "time"])
text = pathlib.Path("charges.data").read_text()
assert text.startswith(f"LAMMPS data file via ParaBAT, timestep = {STEP}, units = metal\n\n{N} atoms\n3 atom types\n\n1.0 11.0 xlo xhi\n2.0 11.0 ylo yhi\n"
                       "3.0 11.0 zlo zhi\n2.0 0.0 0.5 xy xz yz\n\nMasses\n\n1 1.5\n2 2.25\n3 0.1\n\nAtoms # charge\n\n"), text[:300]
rows = [line.split() for line in text.split("Atoms # charge\n\n")[1].split("\n\nVelocities")[0].splitlines()]
order, own = np.argsort([int(row[0]) for row in rows]), np.argsort(small["id"])
np.testing.assert_array_equal(np.array(rows, float)[order], np.column_stack([small["id"], small["type"], small["q"], XYZ + [1, 2, 3]])[own])
exported("bare.bat", "bare.data", says=["no box, which a data file requires", "atoms are numbered from 1", "all types are 1"])
exported("none.bat", "none.lmp")
lmp = sys.argv[1] if len(sys.argv) > 1 else shutil.which("lmp")
if lmp and os.path.exists(lmp):
    done.append("lammps")
    pathlib.Path("in.data").write_text("units metal\natom_style charge\nbox tilt large\nread_data charges.data\npair_style none\n"
                                       "dump d all custom 1 out.dump id type q x y z vx vy vz\ndump_modify d format float %.17g\nrun 0\n")
    subprocess.run([lmp, "-in", "in.data", "-log", "none"], check=True, stdout=subprocess.DEVNULL)
    with parabat.open(back("out.dump")) as dataset:
        found = dataset.read()
    assert np.array_equal(np.sort(found["id"]), np.arange(1, N + 1))
    order = np.argsort(found["id"])
    for name, values in (("q", small["q"]), ("v", small["velocity"]), ("type", small["type"])):
        np.testing.assert_array_equal(found[name][order], values[own], err_msg=name)
    inside = np.abs(found.positions[order] - (XYZ + [1, 2, 3])[own]).max(axis=1) < 1e-12  # LAMMPS wraps others
    assert inside.mean() > 0.5

# --- Boxes of converted files: extended XYZ, AtomEye, ASE, GROMACS, H5MD, and LAMMPS dumps without boundaries
EDGES = [[10.0, 0.0, 0.0], [2.0, 9.0, 0.0], [0.0, 0.5, 8.0]]
TURNED = 'Lattice="10.0 0.0 0.0 2.0 9.0 0.0 0.0 0.5 8.0"'


def comment(metadata, says=()):
    """The comment line of the .xyz that is made of a dataset with such metadata, without the properties; what is said."""
    write("boxed.bat", {"w": XYZ[:, 0]}, metadata=metadata)
    err = exported("boxed.bat", "boxed.xyz", says=says)
    return pathlib.Path("boxed.xyz").read_text().splitlines()[1].split("Properties")[0].strip(), err


for about, words in ((TURNED + ' Origin="1 2 3" pbc="T T F"', TURNED + ' Origin="1.0 2.0 3.0" pbc="T T F"'),
                     ('Lattice="10 0 0 0 9 0 0 0 80" pbc="T T F"', 'Lattice="10.0 0.0 0.0 0.0 9.0 0.0 0.0 0.0 80.0" pbc="T T F"'),
                     ('Lattice="10 0 0 0 9 0 0 0 80" pbc="F F F"', 'Lattice="10.0 0.0 0.0 0.0 9.0 0.0 0.0 0.0 80.0" pbc="F F F"'),
                     ('pbc="T F F"', 'pbc="T F F"')):
    pathlib.Path("boxed_in.xyz").write_text(f"2\n{about} Properties=pos:R:3:w:R:1\n1 2 3 4\n5 6 7 8\n")
    converted("boxed_in.xyz", "boxed_in.bat")
    exported("boxed_in.bat", "boxed_out.xyz")
    assert pathlib.Path("boxed_out.xyz").read_text().splitlines()[1].startswith(words + " Properties"), words
    if "Lattice" in about:
        assert ".npz has no place for it: " + ("box" if "F F F" in about else "periodic box") + "\n" in exported("boxed_in.bat", "boxed_out.npz")
        assert "no box" not in exported("boxed_in.bat", "boxed_out.data")
        err = exported("boxed_in.bat", "boxed_out.dump")
        expected = "xy xz yz pp pp ff\n1.0 13.0 2.0\n2.0 11.5 0.0\n3.0 11.0 0.5\n" if "Origin" in about else "0.0 9.0\n0.0 80.0\n"
        assert "no box" not in err and expected in pathlib.Path("boxed_out.dump").read_text()
assert comment({"cfg": {"cell": EDGES, "scale": 1.0}})[0] == TURNED + ' pbc="T T T"'
assert comment({"ase": {"cell": EDGES, "pbc": [True, False, True]}})[0] == TURNED + ' pbc="T F T"'
assert comment({"ase": {"cell": np.zeros((3, 3)).tolist(), "pbc": [False] * 3}})[0] == 'pbc="F F F"'
assert comment({"md": {"box": [10, 9, 8, 90, 90, 80], "vectors": EDGES}})[0] == TURNED + ' pbc="T T T"'
assert comment({"md": {"box": [10, 9, 8, 90, 90, 90], "origin": [1, 2, 3]}})[0].endswith('Origin="1.0 2.0 3.0" pbc="T T T"')
assert 'pbc="T F F"' in comment({"h5md": {"box": {"edges": [10, 9, 8], "boundary": ["periodic", "none", "none"]}},
                                 "periodic_box": {"lower": [0, None, None], "upper": [10, None, None]}})[0]
assert comment({"xyz": {"box": {"edges": EDGES, "boundary": "pp pp pp"}}, "periodic_box": BOX})[0].startswith('Lattice="10.0 0.0 0.0 0.0 9')
unknown = {"lammps": {"box": {"origin": [0, 0, 0], "edges": EDGES, "boundary": None}}}
assert comment(unknown, says=["does not state along which axes its box is periodic"])[0] == TURNED
exported("boxed.bat", "boxed.dump", says=["does not state the boundaries of its box"])
assert "BOX BOUNDS xy xz yz\n" in pathlib.Path("boxed.dump").read_text()
with parabat.open(back("boxed.dump")) as dataset:
    assert json.loads(dataset.metadata)["lammps"]["box"] == unknown["lammps"]["box"]
write("slab.bat", metadata={"ase": {"cell": [[10, 0, 0], [0, 9, 0], [0, 0, 0]], "pbc": [True, True, False]}})
exported("slab.bat", "slab.dump", says=["no box with a volume, which a dump requires"])

# --- LAS
laspy = module("laspy")
if laspy and module("lazrs"):
    done.append("laspy")
    COLOURED = {"id": IDS, "red": random.integers(0, 65536, N).astype("u2"), "green": random.integers(0, 65536, N).astype("u2"),
                "blue": random.integers(0, 65536, N).astype("u2"), "intensity": random.integers(0, 65536, N).astype("u2"), "gps_time": XYZ[:, 0] * 1e9,
                "classification": random.integers(0, 256, N).astype("u1"), "velocity": COLUMNS["velocity"], "stress": COLUMNS["stress"]}
    whole = random.integers(-2 ** 30, 2 ** 30, (N, 3))
    places = whole * np.array([0.001, 0.001, 0.01]) + [5e5, 4e6, 0]
    write("scan.bat", COLOURED, places, metadata={"las": {"point_format": 7, "scales": [0.001, 0.001, 0.01], "offsets": [5e5, 4e6, 0], "crs": "PROJCS[]"}})
    for end in (".las", ".laz"):
        reported = exported("scan.bat", "scan" + end, says=["'stress' has 6 components and becomes stress_0 ... stress_5"])
        assert "rounded" not in reported
        las = laspy.read("scan" + end)
        assert str(las.header.version) == "1.4" and las.header.point_format.id == 7 and las.header.are_points_compressed == (end == ".laz")
        order, own = np.argsort(las["id"]), np.argsort(IDS)
        np.testing.assert_array_equal(np.stack([las.X, las.Y, las.Z], axis=1)[order], whole[own])
        for name in COLOURED:
            values = np.stack([las[f"stress_{i}"] for i in range(6)], axis=1) if name == "stress" else np.asarray(las[name])
            np.testing.assert_array_equal(values[order], COLOURED[name][own], err_msg=name)
        assert las["id"].dtype == np.int64 and las["velocity"].dtype == np.float32
        assert "PROJCS[]" in [getattr(vlr, "string", None) for vlr in las.header.vlrs]
        # In a program of its own: the threads of lazrs in this one do not survive a fork.
        subprocess.run([sys.executable, "-m", "parabat", "convert", "--quiet", "scan" + end, "scan_back.bat"], check=True)
        path = "scan_back.bat"
        with parabat.open(path) as dataset:
            read = dataset.read()
        np.testing.assert_array_equal(read.positions[np.argsort(read["id"])], places[own])
    reported = exported("a.bat", "a.laz", says=["positions are rounded", "time, step, units, periodic box"])
    las = laspy.read("a.laz")
    order, own = np.argsort(las["id"]), np.argsort(IDS)
    assert np.abs(np.asarray(las.xyz)[order] - XYZ[own]).max() <= 0.5e-8
    for name in ("velocity", "mass", "kind", "flag", "half"):
        np.testing.assert_array_equal(np.asarray(las[name])[order], COLUMNS[name][own], err_msg=name)
    write("odd.bat", {"intensity": XYZ[:, 0], "classification": np.full(N, 300), "n" * 40: XYZ[:, 0], "id": IDS})
    exported("odd.bat", "odd.las", says=["'intensity' does not fit into the LAS dimension of that name; it is written as 'intensity_'",
                                         "'classification' does not fit", "' is not written: LAS names have at most 32 bytes"])
    exported("none.bat", "none.laz")
    # COPC: all points once, those of a box, and coarser ones first
    many = 150000
    places, names = np.rint(random.normal(size=(many, 3)) * [1e4, 8e3, 500]) / 100, random.permutation(many)
    write("many.bat", {"id": names + 2 ** 53, "intensity": (names % 65536).astype("u2"), "gps_time": names / 8}, places)
    for name, count in (("many", many), ("a", N), ("none", 0)):
        exported(name + ".bat", name + ".copc.laz")
        with laspy.CopcReader.open(name + ".copc.laz") as file:
            assert file.header.point_count == count
            read = file.query()
            assert len(read) == count and len(np.unique(np.asarray(read["id"]))) == count
            if name != "many":
                continue
            found = np.stack([np.asarray(read[axis]) for axis in "xyz"], axis=1)
            rows = np.asarray(read["id"]) - 2 ** 53
            assert np.abs(found - places[np.argsort(names)[rows]]).max() <= 1e-7
            np.testing.assert_array_equal(np.asarray(read["gps_time"]), rows / 8)
            counts = [len(file.query(resolution=resolution)) for resolution in (100, 4, 2, 1e-3)]
            assert counts == sorted(counts) and 0 < counts[0] < counts[2] == counts[3] == many, counts
            for low, high in (([-10, -10, -1], [10, 30, 1]), ([50, 0, -100], [60, 5, 100])):
                inside = file.query(bounds=laspy.copc.Bounds(mins=np.array(low, float), maxs=np.array(high, float)))
                assert len(inside) == ((found >= low) & (found <= high)).all(axis=1).sum() > 0
        subprocess.run([sys.executable, "-m", "parabat", "convert", "--quiet", "many.copc.laz", "many_back.bat"], check=True)
        with parabat.open("many_back.bat") as dataset:
            read = dataset.read()
        np.testing.assert_array_equal(read.positions[np.argsort(read["id"])], found[np.argsort(rows)])
    write("nan.bat", {"id": IDS}, np.where(np.arange(N)[:, None] == 5, np.nan, XYZ))
    fails(2, "positions that are not finite", "nan.bat", "nan.las")

# --- The table of the manual: what a file has no place for is reported, and nothing else
with open(MANUAL, encoding="utf-8") as file:
    lines = file.read().partition("| format | extensions | time |")[2].split("\n\n")[0].split("\n")[2:]
table = {name.strip("` "): cells for names, *cells in ([cell.strip() for cell in line.split("|")[1:-1]] for line in lines)
         for name in names.partition(" (")[0].split(", ")}
assert set(table) == set(FORMATS), set(table) ^ set(FORMATS)
codes = {"id": IDS, "element": (np.arange(N) % 2).astype("i4")}
write("facts.bat", codes, metadata={"periodic_box": BOX, "units": {"positions": "angstrom"},
                                    "lammps": {"units": "metal", "texts": {"element": ["H", "O"]}}}, time=TIME, step=STEP)
for name, (endings, _) in FORMATS.items():
    extensions, *places = table[name][:5]
    assert set(endings) <= set(extensions.strip("`").split()), (name, extensions)
    code, _, reported = run("facts.bat", "facts" + endings[0], "--format", name)
    if code:
        assert "pip install 'parabat[" in reported and table[name][-1].strip("`") in reported, (name, reported)
        continue
    lost = [fact for line in reported.splitlines() if "has no place for it" in line for fact in line.rpartition(": ")[2].split(", ")]
    expected = [fact for fact, place in zip(("time", "step", "periodic box", "units"), places) if place == "reported"]
    assert sorted(lost) == sorted(expected), (name, lost, expected, reported)
    assert ("the texts of 'element' are not written" in reported) == ("texts" in table[name][6]) or name == "lammps-data", (name, reported)

# --- Nothing is left of an export that fails
for ending in [".xyz", ".dump", ".data", *([".hdf5", ".h5", ".vtkhdf"] if h5py else []), *([".laz"] if "laspy" in done else [])]:
    fails(3, "nowhere/o" + ending, "a.bat", "nowhere/o" + ending)
print("tested:", ", ".join(done))
if not done:
    sys.exit(SKIPPED)
