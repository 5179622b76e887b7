# SPDX-License-Identifier: BSD-3-Clause
"""The small inputs of testing/data/cases: what becomes of each, or how it is refused. Kinds of files that people had
trouble with in other converters.

Without an argument, those that need nothing but h5py; "extras": those that need packages of PyPI; "vtk": those that need VTK.
"""

import ast
import glob
import importlib.util
import json
import math
import os
import re
import sys

import numpy as np
import parabat
from parabat._extras import EXTRAS, install
from parabat.convert import formats, model, registry
from support import SKIPPED, converted, refused

PACKAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../core/python/parabat")
CASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../data/cases")


def case(name):
    return os.path.join(CASES, name)


def found(stem="out"):
    """name -> (step, time, particles, metadata) of the datasets that a conversion has left, which are removed."""
    result = {}
    for path in sorted(glob.glob(f"{stem}*.bat")):
        with parabat.open(path) as dataset:
            result[path] = dataset.step, dataset.time, dataset.read(), dataset.metadata
        os.unlink(path)
    return result


def listed(name="out.bat.series"):
    """The times of a list, which is removed."""
    with open(name, encoding="utf-8") as file:
        times = [entry["time"] for entry in json.load(file)["files"]]
    os.unlink(name)
    return times


def rows(particles, *names):
    """Positions, and values of attributes, of all particles in ascending order."""
    columns = [particles.positions, *(particles[name].reshape(particles.count, -1) for name in names)]
    return sorted(tuple(value.item() for column in columns for value in column[i]) for i in range(particles.count))


def steps_of(datasets):
    return [(step, time) for step, time, _, _ in datasets.values()]


def check_hdf5():
    assert converted(case("grids.h5md"), "out.bat") == ""
    datasets = found()
    _, _, last, _ = datasets["out_b_0002.bat"]
    assert [(name, step, time) for name, (step, time, _, _) in datasets.items()] == [
        ("out_a_0000.bat", 0, 0.0), ("out_a_0001.bat", 10, 1.0), ("out_b_0000.bat", 0, 0.0), ("out_b_0002.bat", 20, 2.0)]
    assert rows(last) == [(120, 0, 0)]
    assert listed("out_b.bat.series") == [0, 2] and listed("out_a.bat.series") == [0, 1]

    assert "placeholders, not particles" in converted(case("grand.h5"), "out.bat")
    datasets = found()
    assert [sorted(particles["id"].tolist()) for _, _, particles, _ in datasets.values()] == [[5, 7], [5, 7, 9]]
    assert not any((particles.positions == 0).all(axis=1).any() for _, _, particles, _ in datasets.values())
    listed()

    for name in ("steps.vtkhdf", "copy.hdf"):
        if name == "copy.hdf":
            with open(case("steps.vtkhdf"), "rb") as file, open(name, "wb") as copy:
                copy.write(file.read())
        converted(case(name) if name != "copy.hdf" else name, "out.bat")
        datasets = found()
        assert steps_of(datasets) == [(None, 0.5), (None, 1.5)]
        assert [sorted(particles["id"].tolist()) for _, _, particles, _ in datasets.values()] == [[10, 11, 12], [10, 11]]
        assert listed() == [0.5, 1.5]

    assert "electrons has no positionOffset; 0 is used" in converted(case("nooffset.h5"), "out.bat")
    assert sorted(found()) == ["out_electrons.bat", "out_ions.bat"]

    reported = converted(case("flat.h5"), "out.bat")
    assert "'name'" in reported and "'box'" in reported
    (_, time, particles, metadata), = found().values()
    assert (time, particles.count, list(particles)) == (0.5, 4, ["vel"])
    assert json.loads(metadata)["single_values"] == {"box": [10.0, 10.0, 10.0], "name": "run"}
    assert "3 steps of 4 particles" in converted(case("flat_t.h5"), "out.bat")
    datasets = found()
    assert steps_of(datasets) == [(None, None)] * 3 and listed() == [0, 1, 2]
    assert [rows(particles)[0] for _, _, particles, _ in datasets.values()] == [(0, 1, 2), (12, 13, 14), (24, 25, 26)]

    converted(case("beam.h5"), "out.bat")
    (_, _, particles, _), = found().values()
    assert particles.count == 4 and sorted(particles) == ["momentum", "weight"]
    assert "'walls' does not change in time" in converted(case("fixed.h5md"), "out.bat")
    assert sorted(found()) == ["out_fluid_0000.bat", "out_fluid_0001.bat", "out_walls.bat"]
    listed("out_fluid.bat.series")

    converted(case("tng.hdf5"), "out.bat")
    assert [(name, each[2].count) for name, each in found().items()] == [("out_PartType0.bat", 3), ("out_PartType1.bat", 2)]
    converted(case("g4_6byte.hdf5"), "out.bat")
    (_, _, particles, _), = found().values()
    ids = particles["ParticleIDs"]
    assert sorted(ids.tolist()) == [2 ** 40 + i for i in range(4)] and ids.dtype.itemsize == 8


def check_text():
    converted(*(case(f"lmp.{step}.dump") for step in (0, 1000, 1200, 200)), "out.bat")
    assert steps_of(found()) == [(step, None) for step in (0, 200, 1000, 1200)] and listed() == [0, 200, 1000, 1200]
    assert "repeats the step number of another (10)" in converted(case("twice.dump"), "out.bat")
    assert steps_of(found()) == [(0, None), (10, None), (20, None)] and listed() == [0, 10, 20]
    refused(case("twice.dump"), "out.bat", "--on-repeat", "fail", says=["the step number 10 occurs twice"])
    converted(case("sparta.dump"), "out.bat")
    (_, _, _, metadata), = found().values()
    assert "oo oo pp" in metadata, metadata
    converted(case("liggghts_0.dump"), "out.bat")
    (_, _, particles, _), = found().values()
    assert particles.count == 2 and [name for name in particles if name.startswith("type")] == ["type"]

    converted(case("ext.xyz"), "out.bat")
    datasets = found()
    assert [time for _, time, _, _ in datasets.values()] == [0.5, 1.0] and listed() == [0.5, 1.0]
    _, _, particles, metadata = datasets["out_0001.bat"]
    assert particles.positions.dtype == np.float64 and 5.1 in particles.positions
    assert {"forces", "charge", "tags"} <= set(particles), list(particles)
    assert "pbc" in metadata

    assert "lacks values" in converted(case("na.csv"), "out.bat")
    (_, _, particles, _), = found().values()
    order = np.argsort(particles["id"]) if "id" in particles else np.argsort(particles.positions[:, 0])
    temperatures = [None if math.isnan(value) else value for value in particles["temp"][order]]
    assert temperatures == [None, 300.5, None, None], temperatures
    converted(case("euro.csv"), "out.bat")
    (_, _, particles, _), = found().values()
    assert sorted(particles.positions[:, 0].tolist())[:2] == [1.5, 4.5]
    converted(case("comsol.txt"), "out.bat")
    (_, _, particles, _), = found().values()
    assert particles.count > 0
    converted(case("traj.csv"), "out.bat")
    datasets = found()
    assert [(step, particles.count) for step, _, particles, _ in datasets.values()] == [(0, 2), (1, 2), (2, 1)] and listed() == [0, 1, 2]

    converted(case("gadget_000"), "out.bat")
    (_, time, particles, _), = found().values()
    assert time == 0.25 and rows(particles)[0][:3] == (0, 1, 2) and particles.count == 2
    assert "list" in converted(case("vlist.ply"), "out.bat")
    assert found()
    converted(case("multi.gro"), "out.bat")
    datasets = found()
    assert steps_of(datasets) == [(0, 0.0), (500, 1.0), (1000, 2.0)] and listed() == [0, 1, 2]
    assert [round(float(particles.positions[:, 0].min()), 3) for _, _, particles, _ in datasets.values()] == [0.1, 0.2, 0.3]


def check_extras():
    converted(case("run.dcd"), "out.bat")
    datasets = found()
    times = [time for _, time, _, _ in datasets.values()]
    assert all(abs(a - b) < 1e-6 for a, b in zip(np.diff(times), [0.1] * (len(times) - 1))), times
    assert all(json.loads(metadata)["units"]["time"] == "ps" for _, _, _, metadata in datasets.values())
    listed()
    converted(case("amber.nc"), "out.bat")
    assert [time for _, time, _, _ in found().values()] == [0, 0.5, 1.0] and listed() == [0, 0.5, 1.0]
    converted(case("padded.pcd"), "out.bat")
    (_, _, particles, _), = found().values()
    assert rows(particles, "intensity", "ring") == sorted(rows(particles, "intensity", "ring")) and sorted(particles) == ["intensity", "ring"]
    assert sorted(particles["intensity"].tolist()) == [0.5, 1.5] and sorted(particles["ring"].tolist()) == [7, 8]
    converted(case("parcels.parquet"), "out.bat")
    assert found() and len(listed()) > 1
    converted(case("plt_ids_checkpoint"), "out.bat")
    datasets = found()
    particles = next(iter(datasets.values()))[2]
    order = np.argsort(particles["id"])
    assert particles["id"][order].tolist() == [1, 2, 300, 5000000000] and particles["cpu"][order].tolist() == [0, 1, 0, 3]


def tables(path):
    """Rows of the tables of formats, by name: {column: cell}, one dict a table."""
    found, names = [], None
    with open(path, encoding="utf-8") as file:
        for line in file:
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else None
            if cells and cells[0] == "format":
                names = cells
                found.append({})
            elif cells and names and cells[0].startswith("`"):
                assert len(cells) == len(names), line
                found[-1][cells[0].strip("`")] = dict(zip(names, cells))
            elif not cells:
                names = None
    return found


def check_manual():
    """Each format has a row in the manual, which says for each fact whether it is taken, and names the extra."""
    particles, grids = tables(os.path.join(PACKAGE, "convert/README.md"))
    assert list(particles) and not set(particles) ^ {row.name for row in formats()}, set(particles) ^ {row.name for row in formats()}
    assert not set(grids) ^ {row.name for row in formats(True)}, set(grids) ^ {row.name for row in formats(True)}
    for table, rows, facts in ((particles, formats(), ("time", "step", "box", "units", "ids", "texts")),
                               (grids, formats(True), ("time", "step", "origin, spacing"))):
        for row in rows:
            cells = table[row.name]
            for fact in facts:
                assert cells[fact] in ("taken", "reported", "–"), (row.name, fact, cells[fact])
            for _, _, extra in row.modules:
                assert f"`{extra}`" in cells["extra"], (row.name, extra, cells["extra"])


def extras():
    """The packages of each extra of pyproject.toml."""
    with open(os.path.join(PACKAGE, "../../../pyproject.toml"), encoding="utf-8") as file:
        section = file.read().partition("[project.optional-dependencies]\n")[2].partition("\n[")[0]
    return {name: {re.match(r"[\w-]+", package)[0].lower() for package in ast.literal_eval(packages)} | (
        {"lazrs"} if "laspy[lazrs]" in packages else set()) for name, packages in re.findall(r"(\w+) = (\[.*\])", section)}


def imported():
    """Pairs of a file and a top-level module that it imports, also by name."""
    for folder, _, names in os.walk(PACKAGE):
        for path in (os.path.join(folder, name) for name in names if name.endswith(".py")):
            with open(path, encoding="utf-8") as file:
                tree = ast.parse(file.read())
            for node in ast.walk(tree):
                found = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                if isinstance(node, ast.ImportFrom) and not node.level:
                    found = [node.module]
                if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) in ("needed", "import_module"):
                    found = [node.args[0].value] if isinstance(node.args[0], ast.Constant) else []
                yield from ((path, name.partition(".")[0]) for name in found)


def check_missing_packages():
    """Each package that is imported on demand is in an extra, and messages name it."""
    known, packages = extras(), {"vtkmodules": "vtk", "openpmd_api": "openpmd-api"}
    for module, extra in EXTRAS.items():
        assert packages.get(module, module).lower() in known[extra], (module, extra, known)
        assert install(module) == f"pip install 'parabat[{extra}]'"
    always = {*sys.stdlib_module_names, "numpy", "parabat", "compression"}  # compression: of Python 3.14
    # In the environment that starts several ranks, in ParaView, and beside convert.py of pvbatch.
    others = {"mpi4py", "paraview", "text_tables", "step_columns", "step_order"}
    missing = {(path, module) for path, module in imported() if module not in always | others | set(EXTRAS)}
    assert not missing, missing
    rows = [row for grids in (False, True) for row in formats(grids)]
    before, model._is_installed = model._is_installed, lambda name: False  # pylint: disable=protected-access
    try:
        for row in rows:
            for _, package, extra in row.modules:
                assert re.match(r"[\w-]+", package)[0].lower() in known[extra], (row.name, package, extra)
            try:
                registry.require(row)
                assert not row.modules, row.name
            except model.ConvertError as error:
                assert f"pip install 'parabat[{row.modules[0][2]}]'" in str(error), (row.name, error)
    finally:
        model._is_installed = before  # pylint: disable=protected-access


def check_vtk():
    if importlib.util.find_spec("vtkmodules") is None:
        print("skipped: VTK is not installed")
        sys.exit(SKIPPED)
    for name in ("celldata.vtp", "pieces.pvtp"):
        converted(case(name), "out.bat")
        (_, _, particles, _), = found().values()
        assert particles.count == 3, name
        assert sorted(particles["id"].tolist()) == [9007199254740993 + i for i in range(3)], name


{"": lambda: (check_hdf5(), check_text(), check_manual(), check_missing_packages()), "extras": check_extras, "vtk": check_vtk}[sys.argv[1] if sys.argv[1:] else ""]()
