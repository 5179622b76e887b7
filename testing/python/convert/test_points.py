# SPDX-License-Identifier: BSD-3-Clause
"""PLY, and VTK's files if VTK is installed, become datasets, exact to the last bit."""

import struct

import numpy as np
from support import converted, put, refused, same

random = np.random.default_rng(2)
N = 500
xyz = random.normal(size=(N, 3)) * 10.0 ** random.integers(-30, 30, (N, 3))
ids = np.arange(N, dtype="u4") + 2 ** 31
colours = random.integers(0, 256, (N, 3)).astype("u1")

# --- PLY
header = (f"ply\nformat binary_little_endian 1.0\nelement vertex {N}\nproperty double x\nproperty double y\nproperty double z\n"
          "property uint id\nproperty uchar red\nproperty uchar green\nproperty uchar blue\n"
          "element face 1\nproperty list uchar int vertex_indices\nend_header\n")
rows = b"".join(struct.pack("<3dI3B", *xyz[i], ids[i], *colours[i]) for i in range(N))
face = struct.pack("<B3i", 3, 0, 1, 2)
put("cloud.ply", header.encode() + rows + face)
assert "only the vertices are written, not: face (1)" in converted("cloud.ply", "ply.bat")
same("ply.bat", xyz, {"id": ids, "RGB": colours})
text = header.replace("binary_little_endian", "ascii").split("element face")[0] + "end_header\n" + "".join(
    " ".join(map(repr, [*xyz[i].tolist(), int(ids[i]), *colours[i].tolist()])) + "\n" for i in range(N))
converted(put("text.ply", text), "text.bat", "--arrays", "id")
same("text.bat", xyz, {"id": ids})
refused(put("cut.ply", header.encode() + rows[:-1]), "bad.bat", says=["cut.ply: ", f"vertices"])
refused(put("cut.ply", text[:-40]), "bad.bat", says=["cut.ply: ", "vert"])
for content in (header.encode() + rows, text.encode()):
    content = content.replace(b"vertex 500", b"vertex 9000000000")
    refused(put("billions.ply", content), "bad.bat", says=["claims 9000000000 vertices"])
refused(put("twice.ply", header.replace("id", "x").encode() + rows), "bad.bat", says=["two properties with the same name"])
refused(put("places.ply", header.replace("double z", "double w").encode() + rows), "bad.bat", says=["no property 'z'"])

try:
    from vtkmodules.util.numpy_support import numpy_to_vtk
    from vtkmodules.vtkCommonCore import vtkPoints, vtkStringArray
    from vtkmodules.vtkCommonDataModel import vtkPolyData
    from vtkmodules.vtkIOLegacy import vtkPolyDataWriter
    from vtkmodules.vtkIOXML import vtkXMLPolyDataWriter
except ImportError as error:
    print(f"VTK's files are not tested: {error}")
    raise SystemExit(0) from None

# --- VTK
points = vtkPoints()
with np.errstate(all="ignore"):
    single = xyz.astype("f4")
points.SetData(numpy_to_vtk(single, deep=True))
data = vtkPolyData()
data.SetPoints(points)
big = 2 ** 53 + 1 + random.permutation(N)
for name, values in (("id", big), ("v", xyz), ("colour", colours)):
    array = numpy_to_vtk(values, deep=True)
    array.SetName(name)
    data.GetPointData().AddArray(array)
names = vtkStringArray()
names.SetName("names")
names.SetNumberOfValues(N)
data.GetPointData().AddArray(names)
expected = {"id": big, "v": xyz, "colour": colours}
for name, writer in (("a.vtp", vtkXMLPolyDataWriter()), ("a.vtk", vtkPolyDataWriter())):
    writer.SetFileName(name)
    writer.SetInputData(data)
    if name == "a.vtk":
        writer.SetFileTypeToBinary()
    writer.Write()
    assert "'names' is not written" in converted(name, "vtk.bat")
    same("vtk.bat", single, expected)
    with open(name, "rb") as file:
        whole = file.read()
    refused(put("cut" + name[1:], whole[:len(whole) // 2]), "bad.bat", says=[f"cut{name[1:]}: "])
put("back.ply", b"ply\nformat binary_little_endian 1.0\nelement face 999999999999\nproperty list char uchar v\nelement vertex 1\n"
    b"property float x\nproperty float y\nproperty float z\nend_header\n" + b"\xff" * 64)
refused("back.ply", "bad.bat", says=["back.ply: has a list of -1 values in its element 'face'"])
put("steps.pvd", '<?xml version="1.0"?><VTKFile type="Collection"><Collection>'
    '<DataSet timestep="0.5" file="a.vtp"/><DataSet timestep="2" file="a.vtp"/></Collection></VTKFile>')
converted("steps.pvd", "pvd.bat", "--jobs", "2")
same("pvd_0000.bat", single, expected, time=0.5)
same("pvd_0001.bat", single, expected, time=2.0)
def listed(*files):
    return put("parts.pvd", '<VTKFile type="Collection"><Collection>' + "".join(
        f'<DataSet timestep="3" part="{i}" file="{file}"/>' for i, file in enumerate(files)) + "</Collection></VTKFile>")


converted(listed("a.vtp", "a.vtk"), "parts.bat")  # the parts at one time are one step
same("parts.bat", np.concatenate([single, single]), {name: np.concatenate([values, values]) for name, values in expected.items()},
     time=3.0)
data.GetPointData().RemoveArray("v")
writer = vtkXMLPolyDataWriter()
writer.SetFileName("other.vtp")
writer.SetInputData(data)
writer.Write()
refused(listed("a.vtp", "other.vtp"), "bad.bat", says=["other.vtp: 'v' is not there, but", "in a.vtp, a part of the same time"])
# VTK follows HDF5 links to other files, so they are checked first.
try:
    import h5py
    from vtkmodules import vtkIOHDF  # pylint: disable=unused-import
except ImportError:
    h5py = None
if h5py is not None:
    with h5py.File("mass.h5", "w") as file:
        file["mass"] = xyz[:, 0]
    for is_linked in (False, True):
        with h5py.File("a.vtkhdf", "w") as file:
            group = file.create_group("VTKHDF")
            group.attrs["Version"] = [1, 0]
            group.attrs.create("Type", b"UnstructuredGrid", dtype=h5py.string_dtype("ascii", 16))
            for name in ("NumberOfPoints", "NumberOfConnectivityIds", "NumberOfCells"):
                group[name] = np.array([N])
            group["Points"], group["Types"] = xyz, np.ones(N, "u1")
            group["Connectivity"], group["Offsets"], group["PointData/id"] = np.arange(N), np.arange(N + 1), big
            group["PointData/mass"] = h5py.ExternalLink("mass.h5", "/mass") if is_linked else xyz[:, 0]
        if is_linked:
            for name in ("a.vtkhdf", listed("a.vtkhdf")):
                refused(name, "bad.bat", says=["a.vtkhdf: /VTKHDF/PointData/mass: is an external link to /mass in the file mass.h5"])
            assert "mass.h5, which is read" in converted("a.vtkhdf", "hdf.bat", "--follow-links")
        else:
            converted("a.vtkhdf", "hdf.bat")
        same("hdf.bat", xyz, {"id": big, "mass": xyz[:, 0]})
put("steps.pvd", '<VTKFile type="Collection"><Collection><DataSet timestep="1" file="b.vtp"/></Collection></VTKFile>')
refused("steps.pvd", "bad.bat", says=["steps.pvd: lists b.vtp, which does not exist"])
