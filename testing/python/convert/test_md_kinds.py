# SPDX-License-Identifier: BSD-3-Clause
"""Molecular dynamics with packages of PyPI: steps and times of DCD, XTC and TRR, files that MDAnalysis refuses, ASE's .traj,
and GRO, PDB, mmCIF and Amber files against MDAnalysis, gemmi and netCDF4."""

import json
import os
import struct
import subprocess
import sys
import warnings

import numpy as np
import parabat
from support import converted, put, refused, same, without

without("MDAnalysis", "netCDF4", "ase", "gemmi")
import ase  # pylint: disable=wrong-import-position
import ase.io  # pylint: disable=wrong-import-position
import gemmi  # pylint: disable=wrong-import-position
import MDAnalysis  # pylint: disable=wrong-import-position
import netCDF4  # pylint: disable=wrong-import-position
from MDAnalysis.lib.formats.libmdaxdr import TRRFile, XTCFile  # pylint: disable=wrong-import-position
from ase.calculators.singlepoint import SinglePointCalculator  # pylint: disable=wrong-import-position

warnings.simplefilter("ignore")
random = np.random.default_rng(11)
cases = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../data/cases")
N = 30
places = (random.random((3, N, 3)) * 30).astype("f4")
index = {"index": np.arange(N)}


def case(name):
    return os.path.join(cases, name)


def about(path):
    with parabat.open(path) as dataset:
        return json.loads(dataset.metadata), dataset.time, dataset.step


def content(path):
    with open(path, "rb") as file:
        return file.read()


def silent(*words):
    """What a conversion in a process of its own writes to stderr; it must fail."""
    done = subprocess.run([sys.executable, "-m", "parabat", "convert", *words, "bad.bat"], capture_output=True, text=True, check=False)
    assert done.returncode == 3, done
    return done.stderr


# --- DCD: steps from istart and nsavc, times from delta
converted(case("run.dcd"), "dcd.bat")
for i in range(3):
    metadata, time, step = about(f"dcd_{i:04}.bat")
    assert (step, time) == (i, 0.1 * i) and metadata["units"] == {"positions": "angstrom", "time": "ps"}, (step, time, metadata)
    assert metadata["periodic_box"] == {"lower": [0, 0, 0], "upper": [30, 31, 32]}, metadata
atoms = MDAnalysis.Universe.empty(N, trajectory=True, velocities=True)
atoms.dimensions = [30, 31, 32, 90, 90, 90]
for first, every, dt in ((0, 1, 1.0), (1000, 50, 0.002), (7, 3, 0.0005), (0, 10, 2.5e-5)):
    with MDAnalysis.Writer("some.dcd", N, dt=dt * every, nsavc=every, istart=first) as writer:
        for frame in places:
            atoms.atoms.positions = frame
            writer.write(atoms)
    converted("some.dcd", "dcd.bat")
    for i, frame in enumerate(places):
        number = first + every * i
        same(f"dcd_{i:04}.bat", frame, index, "index", number * dt, number)
whole = content("some.dcd")
put("free.dcd", whole[:44] + struct.pack("<f", 0) + whole[48:])  # without a time step
converted("free.dcd", "free.bat")
assert about("free_0001.bat")[1:] == (None, 10)
put("never.dcd", whole[:16] + struct.pack("<i", 0) + whole[20:])  # with NSAVC 0
for options in ((), ("--topology", "never.gro")):
    if options:
        rows = "".join(f"{1:5}SOL  {'OW':>5}{i:5}{0:8.3f}{0:8.3f}{0:8.3f}\n" for i in range(N))
        put("never.gro", f"none\n{N}\n{rows} 1 1 1\n")
    reported = converted("never.dcd", "never.bat", *options, "--arrays", "index")
    assert reported.count("neither a step nor a time") == 1 and "NSAVC" in reported, reported
    for i, frame in enumerate(places):
        same(f"never_{i:04}.bat", frame, index, "index")
    converted("never.dcd", "never.bat", *options, "--arrays", "index", "--jobs", 2)
    same("never_0002.bat", places[2], index, "index")
for end in (400, len(whole) - 10):
    refused(put("cut.dcd", content("never.dcd")[:end]), "bad.bat", says=["cut.dcd: "])


def dcd(order, is_charmm):
    def record(data):
        return struct.pack(order + "i", len(data)) + data + struct.pack(order + "i", len(data))

    delta = struct.pack(order + "fi", 0.02, 0) if is_charmm else struct.pack(order + "d", 0.02)
    head = b"CORD" + struct.pack(order + "9i", 2, 1000, 5, 10, *[0] * 5) + delta
    frames = [record(places[i, :, axis].astype(order + "f4").tobytes()) for i in (0, 1) for axis in range(3)]
    return record(head + struct.pack(order + "9i", *[0] * 8, 24 * is_charmm)) + record(struct.pack(order + "i80s", 1, b"made")) + \
        record(struct.pack(order + "i", N)) + b"".join(frames)


for order in "<>":
    for is_charmm in (True, False):
        converted(put("made.dcd", dcd(order, is_charmm)), "made.bat")
        for i in (0, 1):
            time, step = about(f"made_{i:04}.bat")[1:]
            assert step == 1000 + 5 * i and abs(time - step * 0.02 * 4.888821e-2) < 1e-6, (order, is_charmm, time, step)
            with parabat.open(f"made_{i:04}.bat") as dataset:
                found = dataset.read()
                assert (found.positions[np.argsort(found["index"])] == places[i]).all()
converted(put("trajectory", whole), "content.bat", "--steps", "1")  # found by content
same("content.bat", places[1], index, "index", 10 * 2.5e-5, 10)
for end in (50, 200, 400, len(whole) - 10):
    refused(put("cut.dcd", whole[:end]), "bad.bat", says=["cut.dcd: "])
lines = silent(put("cut.dcd", whole[:50])).splitlines()
assert len(lines) == 1 and "cut.dcd: MDAnalysis cannot read it" in lines[0], lines
refused(put("billions.dcd", whole.replace(struct.pack("<iii", 4, N, 4), struct.pack("<iii", 4, 2 ** 30, 4), 1)), "bad.bat",
        says=["claims 1073741824 atoms, which do not fit"])

# --- XTC and TRR: what a frame says, before it is read; any order of files
for kind in ("xtc", "trr"):
    for number, frames in (("b", (2, 1)), ("a", (5, 9))):
        with (XTCFile if kind == "xtc" else TRRFile)(f"{number}.{kind}", "w") as writer:
            for k in frames:
                cell = np.diag([3, 3.1, 3.2]).astype("f4")
                if kind == "xtc":
                    writer.write(places[0] + k, cell, 100 * k, k / 4, 1000)
                else:
                    writer.write(places[0] + k, None, None, cell, 100 * k, k / 4, 0, N)
    converted(f"a.{kind}", f"b.{kind}", f"{kind}.bat", "--arrays", "index")
    with open(f"{kind}.bat.series", encoding="utf-8") as file:
        assert [each["time"] for each in json.load(file)["files"]] == [0.25, 0.5, 1.25, 2.25]
    metadata, time, step = about(f"{kind}_0002.bat")
    assert (time, step) == (1.25, 500) and metadata["units"]["positions"] == "nm" and metadata["units"]["time"] == "ps", (time, step, metadata)
    converted(put("trajectory", content(f"a.{kind}")), "content.bat", "--arrays", "index", "--steps", "1")
    assert about("content.bat")[1:] == (2.25, 900)
    refused(put(f"noise.{kind}", b"no trajectory" * 9), "bad.bat", says=[f"error: noise.{kind}: "])
assert silent("--format", "md", put("noise.mol2", "hello")).count("\n") == 1

# --- GRO, PDB, Amber through MDAnalysis's writers and readers
for name, values in (("names", ["OW", "HW1", "HW2"] * 10), ("types", ["O", "H", "H"] * 10), ("resnames", ["SOL"]), ("resids", [1]), ("elements", ["O", "H", "H"] * 10),
                     ("chainIDs", ["A"] * N), ("occupancies", [1.0] * N), ("tempfactors", [0.5] * N), ("record_types", ["ATOM"] * N)):
    atoms.add_TopologyAttr(name, values)
with MDAnalysis.Writer("some.pdb", multiframe=True) as writer, MDAnalysis.Writer("some.ncdf", N, velocities=True) as amber:
    for i, frame in enumerate(places):
        atoms.trajectory.ts.time = i / 2
        atoms.atoms.positions, atoms.atoms.velocities = frame, frame[::-1]
        writer.write(atoms)
        amber.write(atoms)
converted("some.pdb", "pdb.bat")
read = MDAnalysis.Universe("some.pdb", to_guess=())
for i, frame in enumerate(read.trajectory):
    with parabat.open(f"pdb_{i:04}.bat") as dataset:
        found = dataset.read()
        assert (dataset.time, dataset.step) == (None, None)  # MDAnalysis makes one up
        texts = json.loads(dataset.metadata)["md"]["texts"]
        own = np.argsort(found["index"])
        assert (found.positions[own].astype("f4") == frame.positions).all() and found.positions.dtype == np.float64
        for name in ("names", "resnames", "elements", "chainIDs", "record_types"):
            assert [texts[name][code] for code in found[name][own]] == list(getattr(read.atoms, name) if name != "resnames" else read.atoms.resnames), name
        for name in ("ids", "resids", "occupancies", "tempfactors"):
            assert (found[name][own] == getattr(read.atoms, name)).all(), name
for words in ([], ["--format", "md"]):
    converted("some.ncdf", "nc.bat", *words)
    for i, frame in enumerate(places):
        with netCDF4.Dataset("some.ncdf") as file:
            file.set_auto_maskandscale(True)
            assert abs(file["velocities"][i] - frame[::-1]).max() < 1e-5 * abs(frame).max()
            same(f"nc_{i:04}.bat", file["coordinates"][i].data, {**index, "velocities": file["velocities"][i].data.astype(
                parabat.open(f"nc_{i:04}.bat").read()["velocities"].dtype)}, "index", i / 2)
put("top.pdb", content("some.pdb"))
converted("some.ncdf", "named.bat", "--format", "md", "--topology", "top.pdb", "--arrays", "index,names")
assert about("named_0002.bat")[1:] == (1.0, None)
for number in (200, 1000):
    put(f"{number}.lammpsdump", content(case(f"lmp.{number}.dump")))
converted("200.lammpsdump", "1000.lammpsdump", "dump.bat", "--format", "md", "--topology", put("one.xyz", "1\n\nX 0 0 0\n"))
assert [about(f"dump_000{i}.bat")[1:] for i in range(2)] == [(None, 200), (None, 1000)]  # MDAnalysis makes up a time
converted(case("multi.gro"), "gro.bat", "--format", "md")
assert about("gro_0002.bat")[1:] == (2, 1000)


# netCDF-4, by h5py, as LAMMPS could write it
with netCDF4.Dataset("four.nc", "w", format="NETCDF4") as file:
    file.Conventions, file.program = "AMBER", "LAMMPS"
    for name, size in (("frame", None), ("atom", N), ("spatial", 3)):
        file.createDimension(name, size)
    file.createVariable("time", "f4", ("frame",)).setncatts({"units": "femtosecond", "scale_factor": np.float32(0.25)})
    file.createVariable("coordinates", "f4", ("frame", "atom", "spatial")).units = "Angstrom"
    file.createVariable("id", "i8", ("frame", "atom"))
    file.set_auto_maskandscale(False)
    for i, frame in enumerate(places):
        file["time"][i], file["coordinates"][i], file["id"][i] = 100 * i, frame, np.arange(N) + 2 ** 40
converted("four.nc", "four.bat")
for i, frame in enumerate(places):
    same(f"four_{i:04}.bat", frame, {**index, "id": np.arange(N) + 2 ** 40}, "index", 25.0 * i, 100 * i)
refused(put("cut.nc", content("four.nc")[:3000]), "bad.bat", "--format", "amber", says=["cut.nc: "])

# --- mmCIF and PDB that gemmi writes
structure = gemmi.Structure()
structure.cell, structure.spacegroup_hm = gemmi.UnitCell(10, 11, 12, 80, 90, 100), "P 1"
for number in (1, 2):
    model = gemmi.Model(number)
    chain = gemmi.Chain("B")
    residue = gemmi.Residue()
    residue.name, residue.seqid = "DA", gemmi.SeqId("7")
    for i, name in enumerate(("O5'", "C5'", 'H5"')):
        atom = gemmi.Atom()
        atom.name, atom.element, atom.serial, atom.occ, atom.b_iso = name, gemmi.Element(name[0]), i + 1, 1, 2.25
        atom.pos = gemmi.Position(*places[number, i].round(3).astype("f8").round(3))
        residue.add_atom(atom)
    chain.add_residue(residue)
    model.add_chain(chain)
    structure.add_model(model)
structure.setup_entities()
structure.write_pdb("gemmi.pdb")
structure.make_mmcif_document().write_file("gemmi.cif")
for name, reader in (("gemmi.pdb", gemmi.read_pdb), ("gemmi.cif", gemmi.read_structure)):
    converted(name, "gemmi.bat")
    for i, model in enumerate(reader(name)):
        with parabat.open(f"gemmi_{i:04}.bat") as dataset:
            found, metadata = dataset.read(), json.loads(dataset.metadata)
        own, listed = np.argsort(found["index"]), list(model.all())
        assert (found.positions[own] == [each.atom.pos.tolist() for each in listed]).all(), name
        assert [metadata["md"]["texts"]["names"][code] for code in found["names"][own]] == [each.atom.name for each in listed], name
        assert (found["ids"][own] == [each.atom.serial for each in listed]).all() and (found["tempfactors"] == 2.25).all(), name
        assert metadata["md"]["box"] == [10, 11, 12, 80, 90, 100] and "periodic_box" not in metadata, metadata

# --- ASE
frames = []
for i in range(3):
    one = ase.Atoms("CuO2", positions=random.normal(size=(3, 3)), cell=[10, 11, 12], pbc=[True, True, False], momenta=random.normal(size=(3, 3)), tags=[1, 2, 3])
    one.calc = SinglePointCalculator(one, energy=-1.5, forces=random.normal(size=(3, 3)), charges=random.normal(size=3))
    one.info.update({"time": i / 2} if i < 2 else {})
    frames.append(one)
ase.io.write("some.traj", frames)
converted("some.traj", "ase.bat")
for i, one in enumerate(ase.io.read("some.traj", ":")):
    metadata = json.loads(same(f"ase_{i:04}.bat", one.positions, {
        "index": np.arange(3), "numbers": one.numbers, "tags": one.arrays["tags"], "momenta": one.arrays["momenta"],
        "forces": one.get_forces(), "charges": one.get_charges()}, "index", i / 2 if i < 2 else None))
    assert metadata["periodic_box"] == {"lower": [0, 0, None], "upper": [10, 11, None]} and metadata["ase"]["results"] == {"energy": -1.5}, metadata
whole = content("some.traj")
for end in (30, 300, 900):
    refused(put("cut.traj", whole[:end]), "bad.bat", says=["cut.traj: "])
