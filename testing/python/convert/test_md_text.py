# SPDX-License-Identifier: BSD-3-Clause
"""Molecular dynamics without packages of PyPI: GRO, PDB, mmCIF, Amber netCDF of the classic formats and restart files become
datasets, every value as this file writes it; cut, damaged and empty ones are one line."""

import gzip
import json
import os
import struct

import numpy as np
import parabat
from parabat.convert import streams
from parabat.convert.formats import pdb
from support import converted, put, refused, same

random = np.random.default_rng(7)
cases = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../data/cases")


def case(name):
    return os.path.join(cases, name)


def listed(stem):
    with open(f"{stem}.bat.series", encoding="utf-8") as file:
        return [each["time"] for each in json.load(file)["files"]]


def about(path):
    with parabat.open(path) as dataset:
        return json.loads(dataset.metadata), dataset.time, dataset.step


# --- GRO: frames, times, steps, decimals, boxes
converted(case("multi.gro"), "case.bat")
assert listed("case") == [0, 1, 2]
for i in range(3):
    metadata = json.loads(same(f"case_{i:04}.bat", np.array([[(i + 1) / 10, 0.2, 0.3], [0.4, 0.5, 0.6], [0.7, 0.8, 0.9]]), {
        "index": np.arange(3), "ids": np.array([1, 2, 3]), "resids": np.ones(3, "i8"), "resnames": np.zeros(3, "i4"),
        "names": np.array([2, 0, 1], "i4"), "velocities": np.array([[0.1, 0.2, 0.3], [0, 0, 0], [0, 0, 0]])}, "index", i, 500 * i))
    assert metadata["units"] == {"positions": "nm", "velocities": "nm/ps", "time": "ps"}, metadata
    assert metadata["periodic_box"] == {"lower": [0, 0, 0], "upper": [3, 3.1, 3.2]}, metadata
    assert metadata["md"]["texts"] == {"resnames": ["SOL"], "names": ["HW1", "HW2", "OW"]}, metadata


def gro(title, places, decimals=3, velocities=None, box="1 2 3", ids=None):
    text = f"{title}\n{len(places)}\n"
    for i, place in enumerate(places):
        text += f"{(i // 3 + 1) % 100000:5}{'WAT':<5}{'O':>5}{(i + 1 if ids is None else ids[i]) % 100000:5}"
        text += "".join(f"{value:{decimals + 5}.{decimals}f}" for value in place)
        text += "" if velocities is None else "".join(f"{value:{decimals + 5}.{decimals + 1}f}" for value in velocities[i])
        text += "\n"
    return text + box + "\n"


def rounded(values, decimals):
    return np.array([[float(f"{value:.{decimals}f}") for value in row] for row in values]).reshape(-1, 3)


for decimals in (1, 3, 6, 9):
    places = random.normal(size=(500, 3)) * 100
    speeds = random.normal(size=(500, 3))
    put("some.gro", gro("a t=   2.5000 step= 7", places, decimals, speeds) + gro("b t= 1e1", places[:1], decimals, speeds[:1])
        + gro("salt= 3", places[:9] - 99, decimals))
    for block in (streams.BLOCK, 500):
        whole, streams.BLOCK = streams.BLOCK, block
        converted("some.gro", "gro.bat", "--arrays", "index,velocities", "--steps", ":2")
        streams.BLOCK = whole
        same("gro_0000.bat", rounded(places, decimals), {"index": np.arange(500), "velocities": rounded(speeds, decimals + 1)}, "index", 2.5, 7)
        same("gro_0001.bat", rounded(places[:1], decimals), {"index": np.arange(1), "velocities": rounded(speeds[:1], decimals + 1)}, "index", 10)

converted("some.gro", "last.bat", "--steps", "2", "--arrays", "index")
same("last.bat", rounded(places[:9] - 99, 9), {"index": np.arange(9)}, "index")
with open("some.gro", "rb") as file:
    text = file.read()
converted(put("some.gro.gz", gzip.compress(text.replace(b"\n", b"\r\n"))), "crlf.bat", "--steps", ":1")
same("crlf.bat", rounded(places, 9), {**{name: np.zeros(500, "i4") for name in ("names", "resnames")}, "index": np.arange(500), "velocities": rounded(speeds, 10), "ids": np.arange(500) + 1, "resids": np.arange(500) // 3 + 1}, "ids", 2.5, 7)
put("tilted.gro", gro("t= -1 step= -5", places[:2], box="3 3 2 0 0 1 0 1.5 1.5"))
converted("tilted.gro", "tilted.bat")
metadata, time, step = about("tilted.bat")
assert (time, step) == (-1, -5) and "periodic_box" not in metadata, (time, step, metadata)
assert metadata["md"]["vectors"] == [[3, 0, 0], [1, 3, 0], [1.5, 1.5, 2]] and metadata["md"]["box"][5] == np.degrees(np.arccos(1 / np.sqrt(10)))
for words, expected in (("step= 1e6", None), ("step= 12", 12), ("step= 12, x", 12), ("step= 1.5", None), ("step= 3x", None)):
    converted(put("step.gro", gro(f"t= 5e2 {words}", places[:2])), "step.bat")
    assert about("step.bat")[1:] == (500, expected), (words, about("step.bat"))
many = random.random((100002, 3))
assert "five digits" in converted(put("many.gro", gro("many", many)), "many.bat")
same("many.bat", rounded(many, 3), {**{name: np.zeros(100002, "i4") for name in ("names", "resnames")}, "resids": np.arange(100002) // 3 + 1,
    "index": np.arange(100002), "ids": (np.arange(100002) + 1) % 100000}, "index")
converted(put("none.gro", gro("t= 1", [])), "none.bat")
with parabat.open("none.bat") as dataset:
    assert len(dataset) == 0 and dataset.time == 1 and set(dataset.attributes) == {"index", "names", "resnames"}
good = gro("t= 0", [[1, 2, 3], [4, 5, 6]]) + gro("t= 1", [[1, 2, 3], [4, 5, 6]])
for name, content, says in (
        ("cut", good[:-40], ["frame 1: ends before its box"]), ("box", good[:-6], ["frame 1: ends before its box"]),
        ("count", good.replace("\n2\n", "\ntwo\n", 1), ["line 2: 'two' is not the number of atoms"]),
        ("claim", good.replace("\n2\n", "\n99999999999\n", 1), ["claims 99999999999 atoms, but only"]),
        ("word", good.replace("5.000", "5.0x0", 1), ["frame 0, line 4: '5.0x0' in columns 29 to 36 (y) is not a number"]),
        ("under", good.replace("5.000", "5_000", 1), ["is not a number"]),
        ("short", good.replace("   6.000", "", 1), ["frame 0, line 4: '' in columns 37 to 44 (z)"]),
        ("no_box", good.replace("1 2 3\n", "one\n", 1), ["'one' is not a box"])):
    refused(put(f"{name}.gro", content), "bad.bat", says=[f"{name}.gro: ", *says])
refused(put("empty.gro", ""), "bad.bat", says=["is empty"])
converted("cut.gro", "whole.bat", "--steps", ":1", "--arrays", "index")
same("whole.bat", np.array([[1, 2, 3], [4, 5, 6.0]]), {"index": np.arange(2)}, "index", 0)
converted(put("b.gro", gro("t= 2", [[1, 2, 3]])), put("a.gro", gro("t= 3", [[1, 2, 3]])), put("c.gro", gro("t= 1", [[1, 2, 3]])), "order.bat")
assert listed("order") == [1, 2, 3]

# --- PDB: models, fields that touch, blank ones, titles of GROMACS
LINE = "{kind:<6}{id:>5} {name:<4}{alt}{res:<4}{chain}{resid:>4}{code}   {x:8.3f}{y:8.3f}{z:8.3f}{occ:>6}{temp:>6}      {seg:<4}{element:>2}{charge:<2}\n"
row = {"kind": "ATOM", "alt": " ", "res": "ALA", "chain": "A", "code": " ", "occ": "1.00", "temp": "20.50", "seg": "", "element": "C", "charge": ""}


def model(number, places, title="", end="ENDMDL\n", **more):
    text = title + (f"MODEL     {number:>4}\n" if number else "")
    for i, place in enumerate(places):
        text += LINE.format(**{**row, "id": i + 1, "name": "CA" if i % 2 else " N", "resid": i // 2, **dict(zip("xyz", place)), **more})
    return text + "TER\n" + end


places = random.normal(size=(40, 3)) * 50 - 500
titles = ["TITLE     x t= {:8.5f} step= {}\nREMARK    THIS IS A SIMULATION BOX\nCRYST1   30.000   31.000   32.000  90.00  90.00  90.00 P 1           1\n".format(i / 2, i * 250)
          for i in range(3)]
put("some.pdb", "".join(model(i + 1, places + i, titles[i]) for i in range(3)) + "END\n")
for name in ("some.pdb", put("some.pdb.gz", gzip.compress(open("some.pdb", "rb").read()))):
    for block in (streams.BLOCK, 300):
        whole, streams.BLOCK = streams.BLOCK, block
        converted(name, "pdb.bat")
        streams.BLOCK = whole
        for i in range(3):
            metadata = json.loads(same(f"pdb_{i:04}.bat", rounded(places + i, 3), {
                "index": np.arange(40), "ids": np.arange(40) + 1, "resids": np.arange(40) // 2, "names": 1 - np.arange(40, dtype="i4") % 2,
                "occupancies": np.ones(40), "tempfactors": np.full(40, 20.5),
                **{key: np.zeros(40, "i4") for key in ("record_types", "resnames", "chainIDs", "elements")}}, "index", i / 2, 250 * i))
            assert metadata["units"] == {"positions": "angstrom", "time": "ps"} and metadata["periodic_box"]["upper"] == [30, 31, 32], metadata
            assert metadata["md"]["texts"]["names"] == ["CA", "N"], metadata
assert listed("pdb") == [0, 0.5, 1]
# One model without MODEL and END; serials that are no numbers, blank values, other records, ensembles of other sizes.
put("one.pdb", model(0, places[:3], "HEADER    X\n", "CONECT    1    2\n", occ="", temp="") + model(0, places[3:4], "", "", id="A0000", occ="0.5"))
reported = converted("one.pdb", "one.bat")
assert "not: CONECT" in reported and "'ids' is not written" in reported, reported
metadata, time, step = about("one.bat")
assert (time, step) == (None, None) and metadata["units"] == {"positions": "angstrom"} and "periodic_box" not in metadata
with parabat.open("one.bat") as dataset:
    found = dataset.read()
    assert "ids" not in found and np.nansum(found["occupancies"]) == 0.5 and np.isnan(found["occupancies"]).sum() == 3, found["occupancies"]
put("sizes.pdb", "".join(model(i + 1, places[:2 + i]) for i in range(2)))
converted("sizes.pdb", "sizes.bat", "--arrays", "index")
for i in range(2):
    same(f"sizes_{i:04}.bat", rounded(places[:2 + i], 3), {"index": np.arange(2 + i)}, "index")
good = model(1, places[:2]) + model(2, places[:2])
line = good.splitlines()[1]
for name, content, says in (
        ("cut", good[:-20], ["model 1: "]), ("cut_line", good[:good.rindex("ATOM") + 40], ["model 1: ends without ENDMDL"]),
        ("cut_short", good[:good.rindex("ATOM") + 40] + "\nENDMDL\n", ["model 1, line 8: '' in columns 47 to 54 (z) is not a number"]),
        ("word", good.replace(line[30:38], "  1.2x3 ", 1), ["model 0, line 2: '1.2x3' in columns 31 to 38 (x) is not a number"]),
        ("cell", "CRYST1   30.000 x\n" + good, ["CRYST1 '30.000 x'"]), ("none", "HEADER    X\nEND\n", ["has no ATOM or HETATM"])):
    refused(put(f"{name}.pdb", content), "bad.bat", says=[f"{name}.pdb: ", *says])

# --- mmCIF: models, quotes, missing values, other columns
CIF = """data_X
_cell.length_a 10.0
_cell.length_b 11.5
_cell.length_c 12
_cell.angle_alpha 90
_cell.angle_beta 90.0
_cell.angle_gamma 90
loop_
_atom_site.group_PDB
_atom_site.id
_atom_site.label_atom_id
_atom_site.Cartn_x
_atom_site.Cartn_y
_atom_site.Cartn_z
_atom_site.occupancy
_atom_site.label_seq_id
_atom_site.label_alt_id
_atom_site.pdbx_PDB_model_num
{rows}#
_other.item 1
"""
rows = [f"ATOM {i + 1} {name} {x!r} {y!r} {z!r} 1 {i or '.'} ? {1 + i // 4}\n" for i, (name, (x, y, z)) in enumerate(
    zip(["C1", '"O5\'"', "'H A'", "N"] * 2, (places[:8] / 7).tolist()))]
for lines in (pdb.LINES_AT_ONCE, 100):
    pdb.LINES_AT_ONCE = lines
    converted(put("some.cif", CIF.format(rows="".join(rows))), "cif.bat")
    for i in range(2):
        metadata = json.loads(same(f"cif_{i:04}.bat", places[4 * i:4 * i + 4] / 7, {
            "index": np.arange(4), "ids": np.arange(4) + 4 * i + 1, "record_types": np.zeros(4, "i4"), "names": np.array([0, 3, 1, 2], "i4"),
            "occupancies": np.ones(4), "label_seq_id": np.array([np.nan, 1, 2, 3]) if not i else np.arange(4, 8),
            "pdbx_PDB_model_num": np.full(4, i + 1)}, "index"))
        assert metadata["md"]["texts"]["names"] == ["C1", "H A", "N", "O5'"] and metadata["periodic_box"]["upper"] == [10, 11.5, 12], metadata
few = [f"ATOM {i} C1 {place} 2.0 {occupancy} {i} ? 1\n" for i, place, occupancy in (
    (1, "-1.5(3)", "3.25(12) 0.5(1)"), (2, "2.5", "4 1"))]
assert "'occupancies' is written without the uncertainties" in converted(put("few.cif", CIF.format(rows="".join(few))), "few.bat")
with parabat.open("few.bat") as dataset:
    found = dataset.read()
    order = np.argsort(found["ids"])
    assert found.positions[order].tolist() == [[-1.5, 2, 3.25], [2.5, 2, 4]] and found["occupancies"][order].tolist() == [0.5, 1]
for name, content, says in (
        ("brackets", CIF.format(rows=few[0].replace("1.5(3)", "1.5(x)")), ["Cartn_x has values that are not numbers"]),
        ("cut", CIF.format(rows="".join(rows)[:-20])[:CIF.format(rows="").index("#") + len("".join(rows)) - 20], ["not a multiple of its 10 columns"]),
        ("word", CIF.format(rows=rows[0].replace("ATOM 1 C1 ", "ATOM 1 C1 x")), ["Cartn_x has values that are not numbers"]),
        ("axes", CIF.replace("Cartn_x", "fract_x").format(rows=rows[0]), ["has no column Cartn_x"]),
        ("none", "data_x\n_entry.id x\n", ["has no table _atom_site"])):
    refused(put(f"{name}.cif", content), "bad.bat", says=[f"{name}.cif: ", *says])

# --- Amber netCDF: the three classic formats, scale factors, what LAMMPS writes
refused(case("amber.nc"), "bad.idx", says=["contains particles, in the format amber: name an output that ends in .bat"])
refused(case("amber.nc"), "bad.bricks.series", says=["contains particles"])
converted(case("amber.nc"), "amber.bat")
assert listed("amber") == [0, 0.5, 1]
for i in range(3):
    metadata, time, step = about(f"amber_{i:04}.bat")
    assert (time, step, metadata["units"]) == (i / 2, None, {"positions": "angstrom", "time": "ps"}), (time, step, metadata)
    assert metadata["periodic_box"] == {"lower": [0, 0, 0], "upper": [30, 31, 32]}, metadata

TYPES = {"S1": 2, "i4": 4, "f4": 5, "f8": 6, "i8": 10}


def netcdf(dims, attributes, variables, records, version=2):
    """A file of a classic format; dims: name -> size, None for records. variables: name -> (dims, attributes, array)."""
    count = ">q" if version == 5 else ">i"

    def number(value):
        return struct.pack(count, value)

    def name_of(name):
        return number(len(name)) + name.encode() + b"\0" * (-len(name) % 4)

    def list_of(tag, items):
        return struct.pack(">i", tag if items else 0) + number(len(items)) + b"".join(items)

    def attributes_of(found):
        items = []
        for name, value in found.items():
            data = value.encode() if isinstance(value, str) else value.astype(value.dtype.newbyteorder(">")).tobytes()
            kind = "S1" if isinstance(value, str) else value.dtype.str[1:]
            items.append(name_of(name) + struct.pack(">i", TYPES[kind]) + number(len(data) // np.dtype(kind).itemsize) + data + b"\0" * (-len(data) % 4))
        return list_of(12, items)
    names = list(dims)
    is_record = {name: dims[found[0][0]] is None if found[0] else False for name, found in variables.items()}
    sizes = {name: array[:1].nbytes if is_record[name] else array.nbytes for name, (_, _, array) in variables.items()}
    padded = {name: -(-size // 4) * 4 for name, size in sizes.items()}

    def head(begins):
        rows = []
        for name, (own, about_it, array) in variables.items():
            rows.append(name_of(name) + number(len(own)) + b"".join(number(names.index(dim)) for dim in own) + attributes_of(about_it)
                        + struct.pack(">i", TYPES[array.dtype.str[1:]]) + number(padded[name])
                        + struct.pack(">i" if version == 1 else ">q", begins.get(name, 0)))
        return (b"CDF" + bytes([version]) + number(records) + list_of(10, [name_of(name) + number(size or 0) for name, size in dims.items()])
                + attributes_of(attributes) + list_of(11, rows))
    place = len(head({}))
    begins = {}
    for name in sorted(variables, key=lambda each: is_record[each]):
        begins[name] = place
        place += padded[name]

    def data(array, name):
        raw = array.astype(array.dtype.newbyteorder(">")).tobytes()
        return raw + b"\0" * (padded[name] - len(raw))
    fixed = [name for name in variables if not is_record[name]]
    moving = [name for name in variables if is_record[name]]
    return head(begins) + b"".join(data(variables[name][2], name) for name in fixed) + b"".join(
        data(variables[name][2][i:i + 1], name) for i in range(records) for name in moving)


N = 7
xyz = random.normal(size=(3, N, 3)).astype("f4")
speeds = random.normal(size=(3, N, 3))
ids = np.stack([random.permutation(N) for _ in range(3)]).astype("i4")
dims = {"frame": None, "atom": N, "spatial": 3, "cell_spatial": 3, "cell_angular": 3}
for version in (1, 2, 5):
    content = netcdf(dims, {"Conventions": "AMBER", "ConventionVersion": "1.0", "program": "LAMMPS"}, {
        "spatial": (["spatial"], {}, np.array(list("xyz"), "S1")),
        "time": (["frame"], {"units": "picosecond", "scale_factor": np.array([0.001], "f4")}, np.array([0, 50, 100], "f4")),
        "cell_origin": (["frame", "cell_spatial"], {}, np.array([[1, 2, 3]] * 3, "f4")),
        "cell_lengths": (["frame", "cell_spatial"], {}, np.array([[4, 0, 6]] * 3, "f4")),
        "cell_angles": (["frame", "cell_angular"], {}, np.full((3, 3), 90, "f4")),
        "coordinates": (["frame", "atom", "spatial"], {"units": "Angstrom"}, xyz),
        "velocities": (["frame", "atom", "spatial"], {"units": "angstrom/ps", "scale_factor": np.array([20.455])}, speeds),
        "id": (["frame", "atom"], {}, ids), "mass": (["atom"], {}, np.arange(N) + 0.5), "PotEng": (["frame"], {}, np.array([1, 2, 3.0]))},
        3, version)
    converted(put("lammps.nc", content), "nc.bat")
    for i in range(3):
        metadata = json.loads(same(f"nc_{i:04}.bat", xyz[i], {"index": np.arange(N), "id": ids[i], "velocities": speeds[i] * 20.455,
                                                             "mass": np.arange(N) + 0.5}, "index", 50 * i * 0.001, 50 * i))
        assert metadata["periodic_box"] == {"lower": [1, None, 3], "upper": [5, None, 9]} and metadata["md"]["frame"] == {"PotEng": i + 1}, metadata
        assert metadata["units"] == {"positions": "Angstrom", "time": "ps", "velocities": "angstrom/ps"}, metadata
    refused(put("cut.nc", content[:-100]), "bad.bat", says=["cut.nc: variable '", "record 2: ends at byte", "truncated or damaged"])
    converted("cut.nc", "part.bat", "--steps", ":2")
    for end in (3, 40, 300, 600):
        refused(put("cut.nc", content[:end]), "bad.bat", "--format", "amber", says=["cut.nc: "])
scaled = netcdf({**dims, "frame": None}, {"Conventions": "CF-1.6, AMBER"}, {
    "cell_lengths": (["frame", "cell_spatial"], {}, np.array([[4, 5, 6.0]])), "cell_angles": (["frame", "cell_angular"], {}, np.array([[90, 90, 60.0]])),
    "scaled_coordinates": (["frame", "atom", "spatial"], {}, speeds[:1])}, 1)
assert "scaled coordinates, multiplied by the cell" in converted(put("scaled.nc", scaled), "scaled.bat")
with parabat.open("scaled.bat") as dataset:
    found = dataset.read()
    expected = speeds[0] @ np.array([[4, 0, 0], [2.5, 5 * np.sqrt(0.75), 0], [0, 0, 6]])
    assert np.abs(found.positions[np.argsort(found["index"])] - expected).max() < 1e-14 and (found["scaled_coordinates"][np.argsort(found["index"])] == speeds[0]).all()
restart = netcdf({"atom": N, "spatial": 3, "cell_spatial": 3, "cell_angular": 3}, {"Conventions": "AMBERRESTART"}, {
    "time": ([], {"units": "picosecond"}, np.array(12.5)), "coordinates": (["atom", "spatial"], {"units": "angstrom"}, speeds[0]),
    "cell_lengths": (["cell_spatial"], {}, np.array([1, 2, 3.0])), "cell_angles": (["cell_angular"], {}, np.array([90, 90, 90.0]))}, 0)
converted(put("some.ncrst", restart), "rst.bat")
same("rst.bat", speeds[0], {"index": np.arange(N)}, "index", 12.5)
refused(put("none.ncrst", netcdf(dims, {"Conventions": "AMBER"}, {"time": (["frame"], {}, np.array([1.0]))}, 1)), "bad.bat", says=["has none of the variables"])
refused(put("ocean.nc", netcdf(dims, {"Conventions": "CF-1.6"}, {"time": (["frame"], {}, np.array([1.0]))}, 1)), "bad.bat", says=["ocean.nc: "])

# --- Restart files as text
for n in (1, 2, 3, 8):
    places, speeds = (random.normal(size=(n, 3)) * 100 for _ in range(2))

    def table(values):
        flat = values.reshape(-1)
        return "".join("".join(f"{value:12.7f}" for value in flat[i:i + 6]) + "\n" for i in range(0, len(flat), 6))
    box = f"{30:12.7f}{31:12.7f}{32:12.7f}" + f"{90:12.7f}" * 3 + "\n"
    put("a.rst7", f"title\n{n:6} 0.125E+02 0.3E+03\n" + table(places) + table(speeds) + box)
    put("b.inpcrd", f"title\n{n:6}\n" + table(places))
    put("c.rst7", f"title\n{n:6} 7.5\n" + table(places) + box)
    for name, time, has_velocities, has_box in (("a.rst7", 12.5, n > 2, n > 2), ("b.inpcrd", None, False, False), ("c.rst7", 7.5, False, n > 2)):
        reported = converted(name, "text.bat")
        assert ("look alike" in reported) == (n <= 2 and name != "b.inpcrd"), reported
        expected = {"index": np.arange(n), **({"velocities": rounded(speeds, 7)} if has_velocities else {})}
        metadata = json.loads(same("text.bat", rounded(places, 7), expected, "index", time))
        assert (metadata["md"]["box"] == [30, 31, 32, 90, 90, 90]) == has_box and ("periodic_box" in metadata) == has_box, metadata
refused(put("cut.rst7", f"title\n{8:6} 1.5\n" + table(places)[:-5]), "bad.bat", says=["cut.rst7: claims 8 atoms"])
refused(put("cut.rst7", f"title\n{8:6} 1.5\n" + table(places) + table(speeds)[:-80]), "bad.bat", says=["has 3 lines after the coordinates"])
refused(put("word.rst7", f"title\n{8:6} 1.5\n" + table(places).replace(".", "x", 1)), "bad.bat", "--format", "amber-restart", says=["line 3: "])
