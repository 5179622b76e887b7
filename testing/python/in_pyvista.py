# SPDX-License-Identifier: BSD-3-Clause
"""The script that test_pyvista.py runs with PyVista, pandas and pyarrow. Argument: folder to write
in."""

import os
import pathlib
import subprocess
import sys
import unittest
import warnings

import numpy as np
import pandas
import parabat
import pyarrow.parquet
import pyvista
import vtkmodules.vtkCommonCore

FOLDER = pathlib.Path(sys.argv.pop(1))
N = 20000


class PyVista(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        FOLDER.mkdir(parents=True, exist_ok=True)
        os.chdir(FOLDER)
        random = np.random.default_rng(5)
        cls.xyz = random.random((N, 3), dtype=np.float32)
        cls.columns = {"id": np.arange(N) + 2**60, "mass": random.lognormal(0, 1, N),
                       "velocity": random.standard_normal((N, 3)).astype(np.float32), "kind": random.integers(0, 255, N, np.uint8)}
        parabat.write("x.bat", cls.xyz, cls.columns, time=0.5)

    def rows(self, points, data, which=slice(None)):
        order = np.argsort(data["id"])
        np.testing.assert_array_equal(np.asarray(points)[order], self.xyz[which])
        for name, values in self.columns.items():
            found = np.asarray(data[name])
            np.testing.assert_array_equal(found[order], values[which])
            self.assertEqual(found.dtype, values.dtype)

    def test_read(self):
        mesh = pyvista.read("x.bat")
        self.assertIsInstance(mesh, pyvista.PolyData)
        self.assertEqual((mesh.n_points, mesh.n_verts, mesh.field_data["TimeValue"].tolist()), (N, N, [0.5]))
        self.rows(mesh.points, mesh.point_data)
        self.assertEqual(pyvista.read("x.bat", quality=0.1).n_points, N // 10)
        self.assertEqual(pyvista.read("x.bat", budget=123).n_points, 123)
        box = [0, 0, 0, 1, 1, 0.5]
        inside = (self.xyz[:, 2] <= 0.5) & (self.columns["mass"] >= 1)
        some = pyvista.read("x.bat", box=box, ranges={"mass": (1, None)})
        self.rows(some.points, some.point_data, inside)
        self.assertEqual(pyvista.read("x.bat", attributes=["id"], values={"id": [2**60 + 7]}).point_data.keys(), ["id"])
        none = pyvista.read("x.bat", ranges={"mass": (-2, -1)})
        self.assertEqual((none.n_points, none.point_data["velocity"].shape), (0, (0, 3)))
        self.assertEqual(set(none.point_data.keys()), set(self.columns))
        with self.assertRaises(parabat.BatValueError):
            pyvista.read("x.bat", quality=2)

    def test_read_without_our_reader(self):
        parabat.write("y.vtkhdf", self.xyz, self.columns, time=0.5)
        parts = pyvista.read("y.vtkhdf")
        self.assertEqual([part.n_points for part in parts], [N // 10, N - N // 10])
        points = np.concatenate([part.points for part in parts])
        self.rows(points, {name: np.concatenate([part.point_data[name] for part in parts]) for name in self.columns})

    def test_grids(self):
        random = np.random.default_rng(6)
        fields = {"p": random.random((9, 12, 14), np.float32), "v": random.random((9, 12, 14, 3)),
                  "id": np.arange(9 * 12 * 14).reshape(9, 12, 14) + 2**60}
        parabat.idx.write("x.idx", fields, origin=(1, 2, 3), spacing=(0.5, 1, 0.25), first=(2, 0, 4), time=0.5)
        image = pyvista.read("x.idx")
        self.assertIsInstance(image, pyvista.ImageData)
        self.assertEqual((image.dimensions, image.spacing, image.origin), ((14, 12, 9), (0.5, 1, 0.25), (2, 2, 4)))
        self.assertEqual(image.field_data["TimeValue"].tolist(), [0.5])
        for name, values in fields.items():
            found = np.asarray(image.point_data[name])
            self.assertEqual(found.dtype, values.dtype)
            np.testing.assert_array_equal(found.reshape(values.shape), values)
        coarse = pyvista.read("x.idx", fields="p", level=7)
        grid = parabat.idx.open("x.idx").read("p", level=7)
        np.testing.assert_array_equal(np.asarray(coarse.point_data["p"]), grid["p"].reshape(-1))
        self.assertEqual((coarse.origin, coarse.spacing), (tuple(grid.origin), tuple(grid.spacing)))
        image.save("y.idx", codec="zip")
        back = parabat.idx.open("y.idx")
        self.assertEqual((back.origin.tolist(), back.spacing.tolist(), back.times), ([2, 2, 4], [0.5, 1, 0.25], [0.5]))
        for name, values in fields.items():
            np.testing.assert_array_equal(back.read(name)[name], values)
        cells = image.points_to_cells() if hasattr(image, "points_to_cells") else image.point_data_to_cell_data()
        cells.clear_point_data()
        cells.save("z.idx")
        self.assertEqual(parabat.idx.open("z.idx").lattice().count, tuple(cells.extent[1::2]))
        with self.assertRaises(parabat.BatTypeError):
            pyvista.Sphere().save("w.idx")

    def test_save(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            pyvista.read("x.bat").save("y.bat", sorted_indexes=["id"])
        with parabat.open("y.bat") as dataset:
            self.assertEqual(dataset.time, 0.5)
            self.rows(dataset.read().positions, dataset.read())
        with self.assertWarnsRegex(UserWarning, "not written: cells, cell data, the texts of 'names'"):
            sphere = pyvista.Sphere()
            sphere.point_data["names"] = np.array(["a"] * sphere.n_points)
            sphere.cell_data["c"] = np.arange(sphere.n_cells)
            sphere.save("sphere.bat")
        with parabat.open("sphere.bat") as dataset:
            self.assertEqual((len(dataset), list(dataset.attributes)), (sphere.n_points, ["Normals"]))
            order = np.lexsort(dataset.read().positions.T), np.lexsort(sphere.points.T)
            np.testing.assert_array_equal(dataset.read().positions[order[0]], sphere.points[order[1]])
        grid = pyvista.PolyData(self.xyz).cast_to_unstructured_grid()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            grid.save("grid.bat")

    def test_frames_and_tables_keep_types(self):
        with parabat.open("x.bat") as dataset:
            frame, table = dataset.to_pandas(), dataset.to_arrow(quality=0.5)
            particles = dataset.read()
        self.assertEqual(list(frame), ["x", "y", "z", "id", "mass", "velocity[0]", "velocity[1]", "velocity[2]", "kind"])
        frame = frame.sort_values("id")
        for name, values in {"x": self.xyz[:, 0], "velocity[2]": self.columns["velocity"][:, 2], "id": self.columns["id"]}.items():
            np.testing.assert_array_equal(frame[name], values)
            self.assertEqual(frame[name].dtype, values.dtype)
        self.assertEqual(table.num_rows, N // 2)
        self.assertEqual(str(table.schema.field("kind").type), "uint8")
        np.testing.assert_array_equal(table["id"].to_numpy(), particles["id"][:N // 2])
        parabat.write("frame.bat", frame[["x", "y", "z"]].to_numpy(), frame.drop(columns=["x", "y", "z"]))

    def test_the_command_exports_parquet_and_vtp(self):
        command = pathlib.Path(sys.executable).with_name("parabat")
        for out in ("o.parquet", "o.vtp"):
            subprocess.run([command, "export", "x.bat", out], check=True, stdout=subprocess.DEVNULL)
        table = pyarrow.parquet.read_table("o.parquet")
        np.testing.assert_array_equal(np.sort(table["id"]), self.columns["id"])
        self.assertEqual(pandas.read_parquet("o.parquet")["x"].dtype, np.float32)
        mesh = pyvista.read("o.vtp")
        self.rows(mesh.points, mesh.point_data)
        for out in ("large.parquet", "large.vtp"):
            full = subprocess.run(["sh", "-c", "trap '' XFSZ; ulimit -f 8; exec \"$@\"", "sh", command, "export", "x.bat", out],
                                  stderr=subprocess.PIPE, text=True, check=False)
            self.assertEqual((full.returncode, full.stderr.count("\n")), (3, 1), full.stderr)
            self.assertIn(f"parabat: {out}: ", full.stderr)
        self.assertFalse([name for name in os.listdir() if "large" in name or name.startswith(".parabat")])

    def test_threads_of_vtk_and_ours_are_in_one_process(self):
        vtkmodules.vtkCommonCore.vtkSMPTools.SetBackend("STDThread")
        for _ in range(3):
            mesh = pyvista.read("x.bat")
            self.assertEqual(mesh.elevation().n_points, N)
            self.rows(mesh.points, mesh.point_data)


if __name__ == "__main__":
    unittest.main()
