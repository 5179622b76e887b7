# SPDX-License-Identifier: BSD-3-Clause
"""VTK's files of pieces, blocks and lists, their times and step numbers, cell data of vertices, and VTKHDF with steps."""

import gzip
import importlib
import json
import os
import pathlib
import shutil

import numpy as np
import parabat
from support import alike_in_parts, converted, put, refused, same, without

from parabat.convert import registry

without("h5py", "vtkmodules.vtkIOXML", "vtkmodules.vtkIOLegacy")
# pylint: disable=wrong-import-position
import h5py
from vtkmodules.util.numpy_support import numpy_to_vtk
from vtkmodules.vtkCommonCore import vtkPoints
from vtkmodules.vtkCommonDataModel import vtkCellArray, vtkMultiBlockDataSet, vtkPolyData, vtkUnstructuredGrid
from vtkmodules.vtkIOLegacy import vtkPolyDataWriter
from vtkmodules.vtkIOXML import vtkXMLMultiBlockDataWriter, vtkXMLPolyDataWriter, vtkXMLUnstructuredGridWriter

CASES = pathlib.Path(__file__).parents[2] / "data" / "cases"
random = np.random.default_rng(5)


def named(name, values):
    array = numpy_to_vtk(np.ascontiguousarray(values), deep=True)
    array.SetName(name)
    return array


def poly(positions, points=None, cells=None, fields=None, order=None):
    """PolyData with a vertex for each point, in an order of its own."""
    data, vtk_points, verts = vtkPolyData(), vtkPoints(), vtkCellArray()
    vtk_points.SetData(numpy_to_vtk(np.ascontiguousarray(positions), deep=True))
    data.SetPoints(vtk_points)
    for i in range(len(positions)) if order is None else order:
        verts.InsertNextCell(1, [i])
    data.SetVerts(verts)
    for target, arrays in ((data.GetPointData(), points), (data.GetCellData(), cells), (data.GetFieldData(), fields)):
        for name, values in (arrays or {}).items():
            target.AddArray(named(name, values))
    return data


def write(data, path, setup=lambda writer: None):
    writer = {".vtp": vtkXMLPolyDataWriter, ".vtk": vtkPolyDataWriter, ".vtm": vtkXMLMultiBlockDataWriter,
              ".vtu": vtkXMLUnstructuredGridWriter}[os.path.splitext(path)[1]]()
    writer.SetFileName(path)
    writer.SetInputData(data)
    setup(writer)
    assert writer.Write()
    return path


def case(name):
    return shutil.copy(CASES / name, name)


N = 40
xyz = random.normal(size=(N, 3))
ids = 2 ** 53 + 1 + random.permutation(N)
with_time = {"TimeValue": np.array([2.5]), "CYCLE": np.array([700], "i4")}


# --- The reported files
big = np.arange(3) + 2 ** 53 + 1
for name in ("steps.vtkhdf", "steps.hdf"):
    shutil.copy(CASES / "steps.vtkhdf", name)
    converted(name, "hdf.bat")
    same("hdf_0000.bat", np.arange(9, dtype="f4").reshape(3, 3), {"id": np.array([10, 11, 12])}, time=0.5)
    same("hdf_0001.bat", np.arange(9, 15, dtype="f4").reshape(2, 3), {"id": np.array([10, 11])}, time=1.5)
for name in ("celldata.vtp", "piece_0.vtp", "piece_1.vtp", "pieces.pvtp"):
    case(name)
converted("celldata.vtp", "cells.bat")
same("cells.bat", np.arange(3)[:, None] * [1.0, 2.0, 3.0], {"id": big, "diameter": np.full(3, 0.5, "f4")})
converted("pieces.pvtp", "pieces.bat")
same("pieces.bat", np.arange(3)[:, None] * [1.0, 2.0, 3.0], {"id": big, "diameter": np.full(3, 0.5, "f4")})
put("lost.pvtp", (CASES / "pieces.pvtp").read_text().replace("piece_1", "piece_7"))
refused("lost.pvtp", "bad.bat", says=["lost.pvtp: lists piece_7.vtp, which does not exist"])


# --- Times and step numbers, in every encoding of a file
def appended(writer):
    writer.SetDataModeToAppended()
    writer.EncodeAppendedDataOff()


SETUPS = {"ascii": lambda writer: writer.SetDataModeToAscii(), "binary": lambda writer: writer.SetDataModeToBinary(),
          "plain": lambda writer: (writer.SetDataModeToBinary(), writer.SetCompressorTypeToNone()),
          "base64": lambda writer: writer.SetDataModeToAppended(), "raw": appended,
          "rawplain": lambda writer: (appended(writer), writer.SetCompressorTypeToNone()),
          "wide": lambda writer: (appended(writer), writer.SetHeaderTypeToUInt64()),
          "big": lambda writer: (writer.SetDataModeToBinary(), writer.SetByteOrderToBigEndian()),
          "lz4": lambda writer: writer.SetCompressorTypeToLZ4()}
data = poly(xyz, {"id": ids}, None, with_time)
for name, setup in SETUPS.items():
    write(data, f"{name}.vtp", setup)
    if name == "lz4":  # found only when the file is read
        assert registry.named("vtk").steps
    else:
        step = next(iter(registry.named("vtk").steps(f"{name}.vtp", None)))
        assert (step.time, step.number) == (2.5, 700), (name, step.time, step.number)
    converted(f"{name}.vtp", "time.bat")
    same("time.bat", xyz, {"id": ids}, time=2.5, step=700)
for binary in (False, True):
    legacy = poly(xyz, {"id": ids}, None, {"note": np.arange(30.0), "TIME": np.array([0.125]), "CYCLE": np.array([12], "i4")})
    write(legacy, "time.vtk", lambda writer, binary=binary: binary and writer.SetFileTypeToBinary())
    step = next(iter(registry.named("vtk").steps("time.vtk", None)))
    assert (step.time, step.number) == (0.125, 12), (binary, step.time, step.number)
    if binary:
        converted("time.vtk", "time.bat")
        same("time.bat", xyz, {"id": ids}, time=0.125, step=12)
put("hand.vtk", "# vtk DataFile Version 2.0\nby hand\nASCII\nDATASET POLYDATA\nFIELD FieldData 2\nTIME 1 1 double\n1.5\nCYCLE 1 1 int\n9\n"
                "POINTS 1 double\n1 2 3\nPOINT_DATA 1\nSCALARS id long 1\nLOOKUP_TABLE default\n5\n")
converted("hand.vtk", "time.bat")
same("time.bat", np.array([[1.0, 2, 3]]), {"id": np.array([5])}, time=1.5, step=9)
write(poly(xyz, {"id": ids}, None, {"TimeValue": np.array([1.0, 2.0]), "TimeStep": np.array([0.001])}), "none.vtp")
converted("none.vtp", "time.bat")  # two times are none, and a TimeStep with a fraction is a length
same("time.bat", xyz, {"id": ids})
shutil.copy("raw.vtp", "raw.data")  # known by content
converted("raw.data", "time.bat")
same("time.bat", xyz, {"id": ids}, time=2.5, step=700)
put("none.vtp.gz", gzip.compress(pathlib.Path("none.vtp").read_bytes()))
refused("none.vtp.gz", "bad.bat", says=["is compressed, which VTK does not read"])


# --- Cell data, ghosts
order = random.permutation(N)
data = poly(xyz, {"id": ids}, {"id": ids[order] * 2, "v": xyz[order]}, order=order)
assert "the cell array is written as 'id_cell'" in converted(write(data, "cells.vtp"), "cells.bat")
same("cells.bat", xyz, {"id": ids, "id_cell": ids * 2, "v": xyz})
converted("cells.vtp", "cells.bat", "--arrays", "id")
grid = vtkUnstructuredGrid()
grid.SetPoints(data.GetPoints())
grid.SetCells(1, data.GetVerts())
grid.GetCellData().AddArray(named("id", ids[order]))
converted(write(grid, "cells.vtu"), "cells.bat")
same("cells.bat", xyz, {"id": ids})
line = poly(xyz, {"id": ids}, {"w": np.arange(N)})
lines = vtkCellArray()
lines.InsertNextCell(2, [0, 1])
line.SetLines(lines)
line.GetCellData().GetArray("w").InsertNextTuple1(5)
assert "cell data is not written, since not every point is in exactly one vertex cell: w" in converted(write(line, "line.vtp"), "cells.bat")
same("cells.bat", xyz, {"id": ids})
marks = (np.arange(N) % 4 == 0).astype("u1")
for points, cells in (({"vtkGhostType": marks}, {}), ({}, {"vtkGhostType": marks[order], "w": ids[order]})):
    expected = {"id": ids[marks == 0], **({"w": ids[marks == 0]} if cells else {})}
    assert "duplicated" in converted(write(poly(xyz, {"id": ids, **points}, cells, order=order), "ghost.vtp"), "ghost.bat")
    same("ghost.bat", xyz[marks == 0], expected)


# --- Pieces, blocks, lists
half = N // 2
write(poly(xyz[:half], {"id": ids[:half]}, None, with_time), "half_0.vtp")
write(poly(xyz[half:], {"id": ids[half:]}), "half_1.vtp")
write(poly(xyz[:half], {"id": ids[:half], "mass": xyz[:half, 0]}), "other.vtp")
put("whole.pvtp", '<VTKFile type="PPolyData" version="1.0"><PPolyData GhostLevel="0"><PPointData><PDataArray type="Int64" Name="id"/></PPointData>'
    '<PPoints><PDataArray type="Float64" NumberOfComponents="3"/></PPoints><Piece Source="half_0.vtp"/><Piece Source="half_1.vtp"/></PPolyData></VTKFile>')
put("whole.vtpd", '<VTKFile type="vtkPartitionedDataSet" version="1.0"><vtkPartitionedDataSet><DataSet index="0" file="half_0.vtp"/>'
    '<DataSet index="1" file="half_1.vtp"/></vtkPartitionedDataSet></VTKFile>')
put("whole.vtpc", '<VTKFile type="vtkPartitionedDataSetCollection" version="1.0"><vtkPartitionedDataSetCollection><Partitions index="0">'
    '<DataSet index="0" file="half_0.vtp"/><DataSet index="1" file="half_1.vtp"/></Partitions></vtkPartitionedDataSetCollection></VTKFile>')
blocks = vtkMultiBlockDataSet()
blocks.SetBlock(0, poly(xyz[:half], {"id": ids[:half]}, None, with_time))
blocks.SetBlock(1, poly(xyz[half:], {"id": ids[half:]}))
write(blocks, "whole.vtm")
put("whole.pvd", '<VTKFile type="Collection"><Collection><DataSet part="0" file="half_0.vtp"/><DataSet part="1" file="half_1.vtp"/></Collection></VTKFile>')
for name in ("whole.pvtp", "whole.vtpd", "whole.vtpc", "whole.vtm", "whole.pvd"):
    converted(name, "whole.bat")
    same("whole.bat", xyz, {"id": ids}, time=2.5, step=700)
plain = '<VTKFile type="Collection"><Collection><DataSet file="half_0.vtp"/><DataSet file="half_{}.vtp"/></Collection></VTKFile>'
converted(put("plain.pvd", plain.format(1)), "plain.bat")  # parts, since one has no time
same("plain.bat", xyz, {"id": ids}, time=2.5, step=700)
for setup in (lambda writer: None, lambda writer: writer.SetDataModeToAscii()):
    write(poly(xyz[half:], {"id": ids[half:]}, None, {"TimeValue": np.array([0.5])}), "half_2.vtp", setup)
    converted(put("plain.pvd", plain.format(2)), "plain.bat")
    same("plain_0000.bat", xyz[half:], {"id": ids[half:]}, time=0.5)
    same("plain_0001.bat", xyz[:half], {"id": ids[:half]}, time=2.5, step=700)
put("times.pvd", '<VTKFile type="Collection"><Collection><DataSet timestep="7" file="whole.vtm"/><DataSet timestep="3" file="whole.pvtp"/></Collection></VTKFile>')
converted("times.pvd", "times.bat")
same("times_0000.bat", xyz, {"id": ids}, time=3.0, step=700)
same("times_0001.bat", xyz, {"id": ids}, time=7.0, step=700)
blocks.SetBlock(1, poly(xyz[half:], {"mass": xyz[half:, 0]}))
converted(write(blocks, "differ.vtm"), "differ.bat")
same("differ_block_0.bat", xyz[:half], {"id": ids[:half]}, time=2.5, step=700)
same("differ_block_1.bat", xyz[half:], {"mass": xyz[half:, 0]}, key="mass", time=2.5, step=700)
for i, name in enumerate(("fluid", "solid/wall")):
    blocks.GetMetaData(i).Set(vtkMultiBlockDataSet.NAME(), name)
converted(write(blocks, "named.vtm"), "named.bat")
same("named_fluid.bat", xyz[:half], {"id": ids[:half]}, time=2.5, step=700)
same("named_solid_wall.bat", xyz[half:], {"mass": xyz[half:, 0]}, key="mass", time=2.5, step=700)
put("grid.vti", '<VTKFile type="ImageData"><ImageData WholeExtent="0 1 0 1 0 1"/></VTKFile>')
mixed = pathlib.Path("named.vtm").read_text().replace("</vtkMultiBlockDataSet>", '<DataSet index="2" name="air" file="grid.vti"/></vtkMultiBlockDataSet>')
assert "the block air is not written: it is of the kind ImageData" in converted(put("mixed.vtm", mixed), "mixed.bat")
same("mixed_fluid.bat", xyz[:half], {"id": ids[:half]}, time=2.5, step=700)
for i in range(2):
    part = vtkUnstructuredGrid()
    piece = poly(xyz[i * half:][:half], {"id": ids[i * half:][:half]})
    part.SetPoints(piece.GetPoints())
    part.GetPointData().AddArray(piece.GetPointData().GetArray("id"))
    write(part, f"part_{i}.vtu")
put("whole.pvtu", '<VTKFile type="PUnstructuredGrid"><PUnstructuredGrid GhostLevel="0"><Piece Source="part_0.vtu"/><Piece Source="part_1.vtu"/>'
    '</PUnstructuredGrid></VTKFile>')
converted("whole.pvtu", "whole.bat")
same("whole.bat", xyz, {"id": ids})
put("bad.pvtp", pathlib.Path("whole.pvtp").read_text().replace("half_1", "other"))
refused("bad.pvtp", "bad.bat", says=["other.vtp: 'mass' is float64, but missing in half_0.vtp"])
put("loop.vtpd", '<VTKFile type="vtkPartitionedDataSet"><vtkPartitionedDataSet><DataSet file="loop.vtpd"/></vtkPartitionedDataSet></VTKFile>')
refused("loop.vtpd", "bad.bat", says=["nested more than 8 times"])

for end in (".vtp", ".vtu", ".vtk"):
    files = [write({".vtu": grid}.get(end) or poly(xyz, {"id": ids}), f"s{i}{end}", lambda writer, end=end:
                   end == ".vtk" and writer.SetFileTypeToBinary()) for i in range(3)]
    put(f"run{end}.series", json.dumps({"file-series-version": "1.0", "files": [
        {"name": files[0], "time": 0}, {"name": files[1], "time": 0.25}, {"name": files[2], "time": 10}]}))
    converted(f"run{end}.series", "run.bat")
    for i, time in enumerate((0.0, 0.25, 10.0)):
        same(f"run_000{i}.bat", xyz, {"id": ids}, time=time)
put("no.vtp.series", json.dumps({"file-series-version": "1.0", "files": [{"name": "half_0.vtp"}, {"name": "half_1.vtp"}]}))
converted("no.vtp.series", "no.bat")
same("no_0000.bat", xyz[:half], {"id": ids[:half]}, time=2.5, step=700)
same("no_0001.bat", xyz[half:], {"id": ids[half:]})
for text in ("", "{", "[]", '{"files": [{"time": 1}]}', '{"files": [{"name": 5}]}', '{"files": [{"name": "half_0.vtp", "time": "x"}]}',
             '{"files": [{"name": "nowhere.vtp", "time": 1}]}', '{"files": []}'):
    refused(put("broken.vtp.series", text), "bad.bat")
for text in ('<VTKFile type="PPolyData"><PPolyData></PPolyData></VTKFile>', '<VTKFile type="PPolyData"><PPoly',
             '<VTKFile type="vtkMultiBlockDataSet"><vtkMultiBlockDataSet/></VTKFile>', '<VTKFile type="ImageData"><ImageData/></VTKFile>',
             '<VTKFile type="PolyData"><PolyData><Piece NumberOfPoints="99999999999999" NumberOfVerts="0"></Piece></PolyData></VTKFile>'):
    refused(put("broken.vtp", text), "bad.bat", says=["broken.vtp: "])
for name in ("raw.vtp", "ascii.vtp", "base64.vtp"):
    whole = pathlib.Path(name).read_bytes()
    for share in (0.1, 0.4, 0.8, 0.97):
        refused(put("cut.vtp", whole[:int(share * len(whole))]), "bad.bat", says=["cut.vtp: "])


# --- VTKHDF
def hdf(group, kind, counts, positions, arrays, steps=None, cells=None, fields=None, offsets=True):
    """A data set of pieces with `counts` points; steps: (times, pieces of each)."""
    group.attrs["Version"] = [2, 0]
    group.attrs.create("Type", kind.encode(), dtype=h5py.string_dtype("ascii", len(kind)))
    counts = np.array(counts)
    group["NumberOfPoints"], group["Points"] = counts, positions
    for name, values in arrays.items():
        group[f"PointData/{name}"] = values
    topology = group.create_group("Vertices") if kind == "PolyData" else group
    topology["NumberOfCells"], topology["NumberOfConnectivityIds"] = counts, counts
    topology["Connectivity"] = np.concatenate([np.arange(n)[::-1] for n in counts])
    topology["Offsets"] = np.concatenate([np.arange(n + 1) for n in counts])
    if kind != "PolyData":
        group["Types"] = np.ones(counts.sum(), "u1")
    for name, values in (cells or {}).items():
        group[f"CellData/{name}"] = values
    for name, values in (fields or {}).items():
        group[f"FieldData/{name}"] = values
    if steps:
        times, parts = np.array(steps[0]), np.array(steps[1])
        about = group.create_group("Steps")
        about.attrs["NSteps"] = len(times)
        first = np.concatenate([[0], np.cumsum(parts)])
        start = np.concatenate([[0], np.cumsum(counts)])[first[:-1]]
        about["Values"], about["NumberOfParts"], about["PartOffsets"], about["PointOffsets"] = times, parts, first[:-1], start
        for name in arrays if offsets else ():
            about[f"PointDataOffsets/{name}"] = start
        wide = (len(times), 4 if kind == "PolyData" else 1)
        for name in ("CellOffsets", "ConnectivityIdOffsets"):
            about[name] = np.where(np.arange(wide[1]) == 0, start[:, None], 0)
    return start if steps else None


for kind in ("PolyData", "UnstructuredGrid"):
    for offsets in (True, False):
        with h5py.File("run.vtkhdf", "w") as file:
            counts, parts = [5, 7, 0, 3, 9, 16], [2, 1, 3]
            flipped = np.concatenate([np.arange(a, b)[::-1] for a, b in zip(np.cumsum([0] + counts), np.cumsum(counts))])
            hdf(file.create_group("VTKHDF"), kind, counts, xyz, {"id": ids}, ([1.0, 0.5, 4.0], parts),
                {"w": xyz[flipped]}, {"CYCLE": np.array([10, 20, 30])}, offsets)
        converted("run.vtkhdf", "hdf.bat")
        for i, (begin, end, time, number) in enumerate(((0, 12, 1.0, 10), (12, 12, 0.5, 20), (12, 40, 4.0, 30))):
            expected = {"id": ids[begin:end], "w": xyz[begin:end]}
            if begin != end:
                name = next(f"hdf_000{j}.bat" for j in range(3) if parabat.open(f"hdf_000{j}.bat").step == number)
                same(name, xyz[begin:end], expected, time=time, step=number)
with h5py.File("run.vtkhdf", "w") as file:
    hdf(file.create_group("VTKHDF"), "PolyData", [N], xyz, {"id": ids, "vtkGhostType": marks}, None, None,
        {"TimeValue": np.array([0.75]), "TimeStep": np.array([3])})
converted("run.vtkhdf", "hdf.bat")
same("hdf.bat", xyz[marks == 0], {"id": ids[marks == 0]}, time=0.75, step=3)
with h5py.File("blocks.vtkhdf", "w") as file:
    group = file.create_group("VTKHDF")
    group.attrs["Version"] = [2, 1]
    group.attrs.create("Type", b"PartitionedDataSetCollection", dtype=h5py.string_dtype("ascii", 28))
    for i, name in enumerate(("fluid", "wall")):
        hdf(group.create_group(name), "PolyData", [half], xyz[i * half:][:half], {"id": ids[i * half:][:half]}, ([5.0], [1]))
        group[name].attrs["Index"] = i
        group[f"Assembly/{name}"] = h5py.SoftLink(f"/VTKHDF/{name}")
converted("blocks.vtkhdf", "hdf.bat")
same("hdf_fluid.bat", xyz[:half], {"id": ids[:half]}, time=5.0)
same("hdf_wall.bat", xyz[half:], {"id": ids[half:]}, time=5.0)
with h5py.File("large.vtkhdf", "w") as file:
    many = 200000
    hdf(file.create_group("VTKHDF"), "PolyData", [many], random.normal(size=(many, 3)), {"id": np.arange(many)}, ([1.5], [1]))
alike_in_parts(["large.vtkhdf"])


def damaged(change, *says):
    with h5py.File("bad.vtkhdf", "w") as file:
        hdf(file.create_group("VTKHDF"), "PolyData", [20, 20], xyz, {"id": ids}, ([1.0, 2.0], [1, 1]))
        change(file["VTKHDF"])
    refused("bad.vtkhdf", "bad.bat", says=["bad.vtkhdf: ", *says])


def replaced(name, values):
    def change(group):
        del group[name]
        if values is not None:
            group[name] = values
    return change


damaged(replaced("NumberOfPoints", [20, 2 ** 40]), "truncated or damaged")
damaged(replaced("NumberOfPoints", [20, -5]), "non-negative")
damaged(replaced("NumberOfPoints", None), "has no NumberOfPoints")
damaged(replaced("Points", xyz[:, :2]), "allowed are (n, 3)")
damaged(replaced("Points", xyz[:30]), "truncated or damaged")
damaged(replaced("PointData/id", ids[:30]), "truncated or damaged")
damaged(replaced("Steps/PartOffsets", [0, 5]), "pieces")
damaged(replaced("Steps/Values", [1.0]), "2 steps, but 1 times")
damaged(lambda group: group.attrs.__setitem__("Type", b"ImageData"), "of type ImageData")
put("cut.vtkhdf", pathlib.Path("run.vtkhdf").read_bytes()[:2000])
refused("cut.vtkhdf", "bad.bat", says=["cut.vtkhdf: "])


# --- What --list says of VTK
from parabat.convert.formats import vtk_files  # pylint: disable=wrong-import-position
for module, reader in vtk_files.READERS.values():  # every class that is named exists where it is looked for
    assert hasattr(importlib.import_module("vtkmodules." + module), reader), (module, reader)
    assert any(row[0] == f"vtkmodules.{module}" for row in vtk_files.FORMAT.modules), module
