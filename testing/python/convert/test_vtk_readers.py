# SPDX-License-Identifier: BSD-3-Clause
"""XDMF of particles and lagrangian clouds of OpenFOAM, against values by hand and VTK's own readers."""

import gzip
import os
import pathlib
import shutil

import numpy as np
import parabat
from support import converted, put, refused, same, without

without("h5py")
# pylint: disable=wrong-import-position
import h5py

try:
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules import vtkCommonDataModel  # pylint: disable=unused-import
    from vtkmodules.vtkIOGeometry import vtkOpenFOAMReader
    from vtkmodules.vtkIOXdmf2 import vtkXdmfReader
except ImportError as error:
    print(f"not compared with VTK: {error}")
    vtkOpenFOAMReader = None

random = np.random.default_rng(11)
N = 30
xyz = random.normal(size=(N, 3))
ids = 2 ** 53 + 1 + random.permutation(N)
expected = {"id": ids, "v": xyz * 2, "mass": xyz[:, 0].astype("f4")}


def leaves(data):
    """Point sets of a composite data set."""
    found = []
    iterator = data.NewIterator()
    iterator.InitTraversal()
    while not iterator.IsDoneWithTraversal():
        found.append(iterator.GetCurrentDataObject())
        iterator.GoToNextItem()
    return found


def content_of(path):
    with parabat.open(path) as dataset:
        return dataset.read()


# --- XDMF
with h5py.File("run.h5", "w") as file:
    for i in range(3):
        for name, values in (("x", xyz + i), ("id", ids), ("v", xyz * 2), ("mass", xyz[:, :1].astype("f4"))):
            file[f"s{i}/{name}"] = values
    file["flat"] = np.stack([xyz + i for i in range(3)])
    file["far/id"] = h5py.ExternalLink("other.h5", "/id")
with h5py.File("other.h5", "w") as file:
    file["id"] = ids


def item(path, shape, kind="Float", precision=8):
    return (f'<DataItem Format="HDF" Dimensions="{" ".join(map(str, shape))}" NumberType="{kind}" Precision="{precision}">'
            f'run.h5:/{path}</DataItem>')


def attribute(name, text, kind="Scalar", center="Node"):
    return f'<Attribute Name="{name}" AttributeType="{kind}" Center="{center}">{text}</Attribute>'


def grid(i, name="particles", time="", geometry=None, extra="", center="Node"):
    return (f'<Grid Name="{name}" GridType="Uniform">{time}<Topology TopologyType="Polyvertex" NumberOfElements="{N}"/>'
            f'<Geometry GeometryType="XYZ">{geometry or item(f"s{i}/x", (N, 3))}</Geometry>{extra}'
            + attribute("id", item(f"s{i}/id", (N,), "Int"), center=center) + attribute("v", item(f"s{i}/v", (N, 3)), "Vector")
            + attribute("mass", item(f"s{i}/mass", (N, 1), precision=4)) + "</Grid>")


def xdmf(content, name="run.xmf"):
    return put(name, f'<?xml version="1.0"?><!DOCTYPE Xdmf SYSTEM "Xdmf.dtd" []><Xdmf Version="2.0"><Domain>{content}</Domain></Xdmf>')


def temporal(content):
    return f'<Grid Name="all" GridType="Collection" CollectionType="Temporal">{content}</Grid>'


times = (0.25, 0.5, 2.0)
xdmf(temporal("".join(grid(i, time=f'<Time Value="{times[i]}"/>', extra=f'<Information Name="CYCLE" Value="{10 * i}"/>') for i in range(3))))
converted("run.xmf", "x.bat")
for i in range(3):
    metadata = same(f"x_000{i}.bat", xyz + i, expected, time=times[i], step=10 * i)
if vtkOpenFOAMReader:
    reader = vtkXdmfReader()
    reader.SetFileName("run.xmf")
    reader.UpdateInformation()
    about = reader.GetOutputInformation(0)
    key = reader.GetExecutive().TIME_STEPS()
    assert tuple(about.Get(key)) == times
    for i, time in enumerate(times):
        about.Set(reader.GetExecutive().UPDATE_TIME_STEP(), time)
        reader.Update()
        data = reader.GetOutputDataObject(0)
        data = data if hasattr(data, "GetPoints") else leaves(data)[0]
        read = content_of(f"x_000{i}.bat")
        order = np.argsort(read["id"])
        own = np.argsort(vtk_to_numpy(data.GetPointData().GetArray("id")))
        assert np.allclose(vtk_to_numpy(data.GetPoints().GetData())[own], read.positions[order], rtol=1e-6)
        assert np.array_equal(vtk_to_numpy(data.GetPointData().GetArray("v"))[own], read["v"][order])

for time in ('<Time TimeType="List"><DataItem Format="XML" Dimensions="3">0.25 0.5 2</DataItem></Time>',
             '<Time TimeType="HyperSlab"><DataItem Format="XML" Dimensions="3">0.25 0.5 3</DataItem></Time>'):
    xdmf(temporal(time + "".join(grid(i, center="Cell") for i in range(3))))
    converted("run.xmf", "x.bat")
    for i in range(3):
        same(f"x_000{i}.bat", xyz + i, expected, time=times[i] if "List" in time else 0.25 + 0.5 * i)
xdmf(temporal("".join(grid(i) for i in range(2))))  # no times
converted("run.xmf", "x.bat")
same("x_0001.bat", xyz + 1, expected)
spatial = '<Grid GridType="Collection" CollectionType="Spatial">{}{}{}</Grid>'
xdmf(temporal(spatial.format('<Time Value="3"/>', grid(0, "a"), grid(1, "b"))))
converted("run.xmf", "x.bat")
read = content_of("x.bat")
order, both = np.lexsort((read.positions[:, 1], read["id"])), np.concatenate([xyz, xyz + 1])
own = np.lexsort((both[:, 1], np.tile(ids, 2)))
assert read.time == 3.0 and np.array_equal(read.positions[order], both[own]) and np.array_equal(read["v"][order], np.tile(xyz * 2, (2, 1))[own])
xdmf(grid(0, "electrons", '<Time Value="1.5"/>') + grid(1, "ions"))
converted("run.xmf", "x.bat")
same("x_electrons.bat", xyz, expected, time=1.5)
same("x_ions.bat", xyz + 1, expected, time=1.5)
slab = ('<DataItem ItemType="HyperSlab" Dimensions="{0} 3"><DataItem Format="XML" Dimensions="3 3" NumberType="Int">1 0 0 1 1 1 1 {0} 3</DataItem>'
        + item("flat", (3, N, 3)).replace("{", "{{") + "</DataItem>").format(N)
axes = "".join(f'<DataItem Format="XML" Dimensions="{N}" Precision="8">{" ".join(map(repr, xyz[:, i].tolist()))}</DataItem>' for i in range(3))
xyz.astype(">f4").tofile("bare.bin")
bare = f'<DataItem Format="Binary" Endian="Big" Dimensions="{N} 3" Precision="4">bare.bin</DataItem>'
for geometry, positions in ((slab, xyz + 1), (bare, xyz.astype("f4"))):
    converted(xdmf(grid(0, geometry=geometry)), "x.bat")
    same("x.bat", positions, expected)
converted(xdmf(grid(0, geometry=axes).replace('"XYZ"', '"X_Y_Z"')), "x.bat")
same("x.bat", xyz, expected)
named = '<DataItem Name="place" Format="HDF" Dimensions="{0} 3" Precision="8">run.h5:/s0/x</DataItem>'.format(N)
converted(xdmf(named + grid(0, geometry="<DataItem Reference=\"XML\">/Xdmf/Domain/DataItem[@Name='place']</DataItem>")), "x.bat")
same("x.bat", xyz, expected)
far = xdmf(grid(0).replace("s0/id", "far/id"), "far.xmf")
found = converted(far, "x.bat")
assert "'id' is not written" in found and "external link to /id in the file other.h5" in found, found
same("x.bat", xyz, {name: values for name, values in expected.items() if name != "id"}, key="mass")
assert "which is read" in converted(far, "x.bat", "--follow-links")
same("x.bat", xyz, expected)
for content, text in ((grid(0).replace("run.h5:/s0/x", "none.h5:/x"), "none.h5, which does not exist"), (grid(0).replace("/s0/x", "/s9/x"), "/s9/x"),
                      (grid(0).replace(f'"{N} 3"', '"7 3"', 1), "has shape"),
                      (grid(0, extra=attribute("w", '<DataItem Format="XML" Dimensions="7">1 2 3 4 5 6 7</DataItem>')), "'w' has 7 values for 30"),
                      (grid(0).replace('"XYZ"', '"ORIGIN_DXDYDZ"'), "ORIGIN_DXDYDZ"), ("", "0 grids"),
                      (temporal("") + grid(0), "series")):
    refused(xdmf(content, "bad.xmf"), "bad.bat", says=["bad.xmf: ", text])
refused(put("cut.xmf", pathlib.Path("run.xmf").read_text()[:-50]), "bad.bat", says=["is not XML"])
refused(put("bomb.xmf", '<?xml version="1.0"?><Xdmf><Domain><Grid><Geometry GeometryType="XYZ"><DataItem Format="XML" Dimensions="99999999999999 3">1 2 3'
            '</DataItem></Geometry></Grid></Domain></Xdmf>'), "bad.bat", says=["claims 299999999999997 values"])


# --- OpenFOAM
def foam(path, kind, body, binary=False, label=32):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    head = ("/*---------- a banner (with) {brackets} ----------*\\\n  \\\\ /  F ield\n\\*-----*/\nFoamFile\n{\n    version 2.0;\n"
            f"    format {'binary' if binary else 'ascii'};\n    arch \"LSB;label={label};scalar=64\";\n    class {kind};\n"
            f"    location \"x\";\n    object {os.path.basename(path)};\n}}\n// * * * * * //\n\n")
    return put(path, head.encode() + (body if isinstance(body, bytes) else body.encode()) + b"\n\n// ***** //\n")


def cloud(folder, positions, labels, binary=False):
    n = len(positions)
    cells = np.arange(n, dtype="i4") + 100
    if binary:
        rows = b"".join(b"(" + p.tobytes() + c.tobytes() + b")\n" for p, c in zip(positions, cells))
        foam(f"{folder}/positions", "Cloud<basicKinematicCollidingParcel>", f"{n}\n(\n".encode() + rows + b")", True)
        foam(f"{folder}/origId", "labelField", f"{n}\n(".encode() + labels.astype("i4").tobytes() + b")", True)
        foam(f"{folder}/d", "scalarField", f"{n}\n(".encode() + positions[:, 0].tobytes() + b")", True)
        foam(f"{folder}/U", "vectorField", f"{n}\n(".encode() + (2 * positions).tobytes() + b")", True)
        return cells
    foam(f"{folder}/positions", "Cloud<basicKinematicCollidingParcel>", f"{n}\n(\n" + "\n".join(
        f"({p[0]!r} {p[1]!r} {p[2]!r}) {c}" for p, c in zip(positions.tolist(), cells)) + "\n)")
    foam(f"{folder}/origId", "labelField", f"{n}(" + " ".join(map(str, labels)) + ")")
    foam(f"{folder}/d", "scalarField", f"{n}\n(\n" + "\n".join(map(repr, positions[:, 0].tolist())) + "\n)")
    foam(f"{folder}/U", "vectorField", f"{n}\n(\n" + "\n".join(f"({p[0]!r} {p[1]!r} {p[2]!r})" for p in (2 * positions).tolist()) + "\n)")
    return cells


def mesh():
    """A cube, without which VTK does not read a case."""
    foam("case/constant/polyMesh/points", "vectorField", "8((0 0 0)(1 0 0)(1 1 0)(0 1 0)(0 0 1)(1 0 1)(1 1 1)(0 1 1))")
    foam("case/constant/polyMesh/faces", "faceList", "6(4(0 3 2 1)4(4 5 6 7)4(0 1 5 4)4(1 2 6 5)4(2 3 7 6)4(3 0 4 7))")
    foam("case/constant/polyMesh/owner", "labelList", "6(0 0 0 0 0 0)")
    foam("case/constant/polyMesh/neighbour", "labelList", "0()")
    foam("case/constant/polyMesh/boundary", "polyBoundaryMesh", "1(walls{type wall; nFaces 6; startFace 0;})")


def against_vtk(case, name, prefix, times, wants):
    """The clouds of a case as VTK reads them, in float32."""
    if not vtkOpenFOAMReader:
        return
    reader = vtkOpenFOAMReader()
    reader.SetFileName(case)
    reader.UpdateInformation()
    for i in range(reader.GetNumberOfPatchArrays()):
        reader.SetPatchArrayStatus(reader.GetPatchArrayName(i), int(reader.GetPatchArrayName(i) == f"lagrangian/{name}"))
    for i in range(reader.GetNumberOfLagrangianArrays()):
        reader.SetLagrangianArrayStatus(reader.GetLagrangianArrayName(i), 1)
    for time, path in zip(times, wants):
        reader.SetTimeValue(time)
        reader.Modified()
        reader.Update()
        data = [each for each in leaves(reader.GetOutputDataObject(0)) if each and each.GetNumberOfPoints()]
        assert len(data) == 1, (prefix, time, len(data))
        read = content_of(path)
        order, own = np.argsort(read["origId"]), np.argsort(vtk_to_numpy(data[0].GetPointData().GetArray("origId")))
        assert np.array_equal(vtk_to_numpy(data[0].GetPoints().GetData())[own], read.positions[order].astype("f4"))
        for field in ("d", "U"):
            assert np.array_equal(vtk_to_numpy(data[0].GetPointData().GetArray(field))[own], read[field][order].astype("f4")), field


for binary in (False, True):
    shutil.rmtree("case", True)
    foam("case/system/controlDict", "dictionary", "application x; startTime 0; endTime 1; deltaT 0.1; writeInterval 1; writeControl runTime; writeFormat ascii;")
    labels = random.permutation(N)
    for i, name in enumerate(("0.5", "1", "1e-05")):
        cells = cloud(f"case/{name}/lagrangian/kinematicCloud", xyz + i, labels, binary)
    foam("case/0.5/uniform/time", "dictionary", "value 0.5000000001;\nname \"0.5\";\nindex 50;\ndeltaT 0.01;")
    foam("case/1/lagrangian/other/positions", "Cloud<x>", "0\n(\n)")
    foam("case/1/lagrangian/kinematicCloud/names", "wordField", f"{N}(a b c)")
    put("case/a.foam", "")
    for place in ("case", "case/a.foam"):
        found = converted(place, "foam.bat")
        assert "'names' is not written: it is a wordField" in found, found
        wants = {"origId": labels.astype("i4"), "d": xyz[:, 0], "U": 2 * xyz, "cell": cells}
        same("foam_0001.bat", xyz, wants, key="origId", time=0.5000000001, step=50)
        same("foam_0000.bat", xyz + 2, {**wants, "d": xyz[:, 0] + 2, "U": 2 * (xyz + 2)}, key="origId", time=1e-05)
        same("foam_kinematicCloud_0002.bat", xyz + 1, {**wants, "d": xyz[:, 0] + 1, "U": 2 * (xyz + 1)}, key="origId", time=1.0)
        converted(place, "only.bat", "--species", "kinematicCloud")
        same("only_0001.bat", xyz, wants, key="origId", time=0.5000000001, step=50)
    shutil.rmtree("case/1/lagrangian/other")
    os.remove("case/1/lagrangian/kinematicCloud/names")
    mesh()
    against_vtk("case/system/controlDict", "kinematicCloud", binary, (0.5,), ("foam_0001.bat",))
    path = pathlib.Path("case/0.5/lagrangian/kinematicCloud/positions")
    whole = path.read_bytes()
    for share in (0.4, 0.7, 0.9):
        path.write_bytes(whole[:int(share * len(whole))])
        refused("case", "bad.bat", says=["positions: "])
    path.write_bytes(whole.replace(f"\n{N}\n".encode(), b"\n99999999999\n"))
    refused("case", "bad.bat", says=["positions: claims 99999999999 values"])
    path.write_bytes(whole)

shutil.rmtree("case")
for i in range(2):  # not reconstructed, compressed
    folder = f"case/processor{i}/2.5/lagrangian/c"
    cells = cloud(folder, xyz[i * 15:][:15], labels[i * 15:][:15])
    for name in ("positions", "U"):
        put(f"{folder}/{name}.gz", gzip.compress(pathlib.Path(f"{folder}/{name}").read_bytes()))
        os.remove(f"{folder}/{name}")
    foam(f"{folder}/T", "scalarField", "15{300.5}")
put("case/case.foam", "")
converted("case/case.foam", "foam.bat")
same("foam.bat", xyz, {"origId": labels.astype("i4"), "d": xyz[:, 0], "U": 2 * xyz, "cell": np.tile(cells, 2), "T": np.full(N, 300.5)},
     key="origId", time=2.5)
os.remove("case/processor0/2.5/lagrangian/c/positions.gz")
foam("case/processor0/2.5/lagrangian/c/coordinates", "Cloud<x>", "0()")
refused("case", "bad.bat", says=["has no file positions; its coordinates are relative to mesh cells"])
shutil.rmtree("case")
foam("case/1/lagrangian/c/positions", "Cloud<x>", "1\n(\n(0.25 0.25 0.25 0.25) 7 1 2\n)")
refused("case", "bad.bat", says=["relative to mesh cells"])
shutil.rmtree("case")
put("empty.foam", "")
refused("empty.foam", "bad.bat", says=["has no lagrangian clouds"])
