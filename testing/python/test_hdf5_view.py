# SPDX-License-Identifier: BSD-3-Clause
"""The HDF5 view of .bat files (FORMAT.md section 20), read by h5py and, where they are installed, by the HDF5 tools and VTK.

    test_hdf5_view.py FOLDER GOLDEN MAKE_VIEW

FOLDER: for files. GOLDEN: folder with the golden files, whose contents are written again with a view. MAKE_VIEW: the program
make_view.
"""
import glob
import json
import os
import pathlib
import shutil
import subprocess
import sys

import h5py
import numpy as np
import parabat
from parabat import pure

from stock_vtk import every_type, make, parts_of, rows_in_view, same


def validate(path):
    with parabat.open(path) as dataset:
        dataset.validate()


def check_view(path, left_out=()):
    """Compares the view with what parabat reads, bit for bit. Returns the open file."""
    with parabat.open(path) as dataset:
        arrays, names = dataset.read(), list(dataset.attributes)
        time, step, metadata = dataset.time, dataset.step, dataset.metadata
        counts = [leaf.particles for leaf in dataset.leaves]
    n = sum(counts)
    order = rows_in_view(counts)
    file = h5py.File(path, "r")
    assert file.userblock_size == 512, file.userblock_size
    group = file["VTKHDF"]
    assert dict(group.attrs)["Type"] == b"UnstructuredGrid" and list(group.attrs["Version"]) == [1, 0], dict(group.attrs)
    same(group["Points"][...], arrays.positions[order], "positions")
    assert set(group["PointData"]) == set(names) - set(left_out), (set(group["PointData"]), names, left_out)
    for name in group["PointData"]:
        same(group["PointData"][name][...], arrays[name][order], name)
    sizes = [sum(end) - sum(first) for first, end in parts_of(counts)]
    for name in ("NumberOfPoints", "NumberOfCells", "NumberOfConnectivityIds"):
        assert list(group[name]) == sizes, (name, list(group[name]), sizes)
    same(group["Connectivity"][...], np.concatenate([np.arange(size) for size in sizes]), "Connectivity")
    same(group["Offsets"][...], np.concatenate([np.arange(size + 1) for size in sizes]), "Offsets")
    same(group["Types"][...], np.ones(n, "u1"), "Types")
    field = {name: values[...] for name, values in group["FieldData"].items()}
    own = dict(file["BAT"].attrs)
    for name, vtk_name, value in (("time", "TimeValue", time), ("step", "step", step)):
        assert (vtk_name in field) == (name in own) == (value is not None), (name, field, own)
        if value is not None:
            kind = "f8" if name == "time" else "i8"
            same(field[vtk_name], np.array([value], kind), vtk_name)
            same(np.asarray(own[name]), np.array(value, kind), name)
    text = file["BAT/metadata"][()].decode()
    assert json.loads(text) == json.loads(metadata), text
    return file


def info(path):
    run = subprocess.run([sys.executable, "-m", "parabat", "info", "--json", path], check=True, capture_output=True, text=True)
    found = json.loads(run.stdout)
    return (found[0] if isinstance(found, list) else found)["hdf5_view"]


def check_contents(folder):
    random = np.random.default_rng(43)
    for n, kind in ((0, "f4"), (0, "f8"), (1, "f4"), (2, "f8"), (999, "f4"), (1000, "f8"), (10000, "f4"), (10001, "f8"),
                    (123456, "f4")):
        positions = random.random((n, 3)).astype(kind)
        if n > 2:
            positions[1] = np.nan
            positions[2, 1] = np.inf
        path = folder / f"types_{n}_{kind}.bat"
        parabat.write(path, positions, every_type(random, n), time=0.1 if n else None, step=2**62 + n,
                      metadata=json.dumps({"units": {"positions": "kpc", "f4 1": "K"}, "note": "größer"}))
        with check_view(path) as file:
            assert file["VTKHDF/Points"].attrs["units"] == b"kpc" and file["VTKHDF/PointData/f4 1"].attrs["units"] == b"K"
            assert len(file["VTKHDF/Points"].attrs) == 1
        validate(path)
        if n < 1000:
            pure.open(path).validate()


def check_names(folder):
    """Names that HDF5 cannot have, and long, strange and repeated ones."""
    n = 2000
    positions = np.random.default_rng(1).random((n, 3))
    names = ["a/b", ".", "..", " ", "größe", "100%", "%b", "%d%%", "x" * 300, "y" * 65535, "Points", "tab\tline\n"]
    attributes = {name: np.arange(n) + i for i, name in enumerate(names)}
    path = folder / "names.bat"
    parabat.write(path, positions, attributes)
    left_out = ["a/b", ".", "y" * 65535]
    check_view(path, left_out).close()
    view = info(path)
    assert view["exists"] and [row["name"] for row in view["left_out"]] == left_out, view
    attributes = {"id": np.arange(n), "again": np.arange(n), "where": positions, "height": positions[:, 2].copy()}
    parabat.write(path, positions, attributes, repeats="link", compare_values=True)
    with check_view(path, ["height"]) as file:
        assert file["VTKHDF/PointData/again"].id.get_offset() == file["VTKHDF/PointData/id"].id.get_offset()
    assert info(path)["left_out"] == [{"name": "height", "reason": "it repeats position[2]"}], info(path)


def check_compressed(folder):
    random = np.random.default_rng(2)
    n = 50000
    positions, noise, rest = random.random((n, 3)), random.integers(0, 2**63, n), np.zeros(n, "f4")
    path = folder / "compressed.bat"
    parabat.write(path, positions.round(2), {"noise": noise}, compression="lossless")
    assert info(path) == {"exists": False, "reason": "the positions are compressed", "left_out": []}, info(path)
    assert not h5py.is_hdf5(path)
    # Positions that do not shrink are not compressed.
    bits = random.integers(0, 2**64, (n, 3), np.uint64).view("f8")
    parabat.write(path, bits, {"noise": noise, "rest": rest}, compression="lossless")
    check_view(path, ["rest"]).close()
    assert info(path) == {"exists": True, "reason": "", "left_out": [{"name": "rest", "reason": "it is compressed"}]}, info(path)
    parabat.write(path, positions, {"noise": noise}, hdf5_view=False)
    assert info(path) == {"exists": False, "reason": "", "left_out": []} and not h5py.is_hdf5(path), info(path)
    parabat.repack(path, folder / "again.bat", hdf5_view=True)
    check_view(folder / "again.bat").close()
    parabat.repack(folder / "again.bat", path, hdf5_view=False)
    assert not h5py.is_hdf5(path)


def write_pieces(path, leaves, random, **options):
    """Writes a dataset of several leaf files."""
    with parabat.PieceWriter(path, target_bytes=1 << 20, **options) as writer:
        for _ in range(leaves):
            n = 12000
            writer.add(random.random((n, 3)), {"id": random.integers(0, 2**63, n), "100%": random.random((n, 2)).astype("f4")})
        writer.finish()


def check_leaf_files(folder):
    path = folder / "many 100%.bat"
    write_pieces(path, 20, np.random.default_rng(3), time=2.5, step=7)
    check_view(path).close()
    validate(path)
    with parabat.open(path) as dataset:
        leaves = [folder / leaf.path for leaf in dataset.leaves]
    assert len(leaves) > 3, leaves
    for leaf in leaves[:2]:
        check_view(leaf).close()
    moved = folder / "moved"
    moved.mkdir()
    for name in (path, pathlib.Path(f"{path}.leaves")):
        shutil.move(name, moved)
    with check_view(moved / path.name) as file:
        whole = file["VTKHDF/Points"][...]
    # A particle of a missing leaf file is nowhere.
    os.remove(moved / leaves[1].relative_to(folder))
    with h5py.File(moved / path.name) as file:
        points = file["VTKHDF/Points"][...]
    missing = np.isnan(points).all(axis=1)
    assert missing.any() and np.array_equal(points[~missing], whole[~missing])


def check_damage(folder):
    """A flipped bit of the view is found by validation, and does not harm reading as .bat."""
    random = np.random.default_rng(5)
    path = folder / "damaged.bat"
    positions = np.random.default_rng(4).random((3000, 3))
    parabat.write(path, positions, {"id": np.arange(3000)})
    whole = path.read_bytes()
    records = [whole[i:i + 64] for i in range(int.from_bytes(whole[48:56], "little"), len(whole), 64)]
    view = [(int.from_bytes(r[16:24], "little"), int.from_bytes(r[24:32], "little")) for r in records if r[0] in (21, 22)]
    assert [offset for offset, _ in view][0] == 512 and len(view) == 2, view
    with parabat.open(path) as dataset:
        expected = dataset.read()
    for offset, size in view:
        for at in (offset, offset + size - 1, *(offset + random.integers(0, size, 20))):
            damaged = bytearray(whole)
            damaged[at] ^= 1 << random.integers(0, 8)
            path.write_bytes(damaged)
            for check in (validate, lambda path: pure.open(path).validate()):
                try:
                    check(path)
                except (parabat.BatError, pure.BatError) as error:
                    assert "HDF5_" in str(error), error
                else:
                    raise AssertionError(f"byte {at} is not checked")
            with parabat.open(path) as dataset:
                found = dataset.read()
            assert all(np.array_equal(found[name], expected[name]) for name in expected)
    path.write_bytes(whole)
    h5py.File(path, "r+").close()
    assert path.read_bytes() == whole, "HDF5 changed a file that it only opened"


def check_golden(folder, golden):
    for source in sorted(glob.glob(f"{golden}/*.bat")):
        path = folder / os.path.basename(source)
        parabat.repack(source, path, compression="none", hdf5_view=True)
        with parabat.open(path) as dataset:
            left_out = [row["name"] for row in dataset.hdf5_view["left_out"]]
        check_view(path, left_out).close()
        validate(path)


def check_deep_metadata(folder):
    """Metadata as deep as may be."""
    path = folder / "deep.bat"
    deep = '{"a":' * 900 + "1" + "}" * 900
    parabat.write(path, np.zeros((3, 3)), metadata=f'{{"deep":{deep},"units":{{"x":{deep},"positions":"m","n":5}}}}')
    with h5py.File(path) as file:
        assert dict(file["VTKHDF/Points"].attrs) == {"units": b"m"}, dict(file["VTKHDF/Points"].attrs)
    validate(path)


def check_large_views(folder, make_view):
    """Parts of many leaf files, and of more particles than a tree of two levels has chunks for."""
    path = folder / "large.h5"
    for counts in ([5000] * 1500, [2**32 + 2**31] * 2 + [7], [2**30 + 1], [0, 0]):
        subprocess.run([make_view, path, *map(str, counts)], check=True)
        sizes = [sum(end) - sum(first) for first, end in parts_of(counts)]
        with h5py.File(path) as file:
            group = file["VTKHDF"]
            assert list(group["NumberOfPoints"]) == sizes, (list(group["NumberOfPoints"]), sizes)
            assert group["Points"].shape == (sum(sizes), 3) and group["Types"].shape == (sum(sizes),)
            begin = 0
            for k, size in enumerate(sizes):
                for row in {0, size // 3, max(0, size - 1)} if size else ():
                    assert group["Connectivity"][begin + row] == row and group["Offsets"][begin + k + row] == row, (size, row)
                assert group["Offsets"][begin + k + size] == size
                begin += size
            numbers = file["BAT/numbers"]
            assert len(numbers) % 2**20 == 0 and max(sizes) < len(numbers) <= max(sizes) + 2**20, (len(numbers), sizes)
            assert numbers[-1] == len(numbers) - 1 and not np.any(np.isfinite(group["Points"][:5]))
    os.remove(path)


def check_file_names(folder):
    """Files with a name for ParaView, and lists of files."""
    positions = np.random.default_rng(6).random((500, 3))
    for name in ("a.bat", "a.vtkhdf"):
        parabat.write(folder / name, positions, {"id": np.arange(500)}, time=1)
    assert (folder / "a.bat").read_bytes() == (folder / "a.vtkhdf").read_bytes()
    assert len(parabat.open(folder / "a.vtkhdf")) == 500
    for options in ({"compression": "lossless"}, {"hdf5_view": False}):
        for write in (lambda path: parabat.write(path, positions, **options),  # pylint: disable=cell-var-from-loop
                      lambda path: parabat.repack(folder / "a.bat", path, **options),  # pylint: disable=cell-var-from-loop
                      lambda path: parabat.PieceWriter(path, **options)):  # pylint: disable=cell-var-from-loop
            try:
                write(folder / "b.vtkhdf")
            except parabat.BatError as error:
                assert ".vtkhdf" in str(error), error
            else:
                raise AssertionError(options)
    assert not (folder / "b.vtkhdf").exists()


def read_list(path):
    return [(entry["name"], entry["time"]) for entry in json.loads(path.read_text(encoding="utf-8"))["files"]]


def check_lists(folder):
    """A list of files with views has a second one, which ParaView opens."""
    names = []
    for step in range(3):
        names.append({"name": f"run_{step}.bat", "time": step / 2})
        parabat.write(folder / names[-1]["name"], np.random.default_rng(step).random((5000, 3)), time=step / 2)
    (folder / "run.bat.series").write_text(json.dumps({"file-series-version": "1.0", "files": names}), encoding="utf-8")
    parabat.repack(folder / "run.bat.series", folder / "again.bat.series")
    stock = folder / "again.vtkhdf.series"
    assert read_list(stock) == read_list(folder / "again.bat.series") == [(f"again_{step:04}.bat", step / 2) for step in range(3)]
    parabat.repack(folder / "run.bat.series", folder / "again.bat.series", compression="lossless")
    assert not stock.exists()
    parabat.repack(folder / "run.bat.series", folder / "again.bat.series")
    assert stock.exists()
    stock.write_text('{"files": []}', encoding="utf-8")
    parabat.repack(folder / "run.bat.series", folder / "again.bat.series")
    assert stock.read_text(encoding="utf-8") == '{"files": []}'


def check_tools(folder):
    path = folder / "types_10001_f8.bat"
    packed = folder / "packed.h5"
    for tool in (["h5dump", "-H", path], ["h5stat", path], ["h5ls", "-r", "-v", path], ["h5repack", path, packed],
                 ["h5diff", path, packed, "/VTKHDF"]):
        if shutil.which(tool[0]):
            run = subprocess.run(tool, capture_output=True, text=True)
            assert run.returncode == 0 and not run.stderr and "error" not in run.stdout.lower(), (tool, run.stdout, run.stderr)


def check_vtk(folder, golden):
    """VTK's own reader, where the interpreter has it; newer versions are tested by test_pyvista.py."""
    script = pathlib.Path(__file__).with_name("stock_vtk.py")
    if subprocess.run([sys.executable, "-c", "import vtkmodules.vtkIOHDF"], capture_output=True).returncode:
        return
    make(folder / "stock", pathlib.Path(golden))
    subprocess.run([sys.executable, script, "check", folder / "stock"], check=True)


def main():
    folder = pathlib.Path(sys.argv[1], "hdf5_view")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    check_contents(folder)
    check_names(folder)
    check_compressed(folder)
    check_leaf_files(folder)
    check_damage(folder)
    check_deep_metadata(folder)
    check_large_views(folder, sys.argv[3])
    check_file_names(folder)
    check_lists(folder)
    check_golden(folder, sys.argv[2])
    check_tools(folder)
    check_vtk(folder, sys.argv[2])
    shutil.rmtree(folder)


main()
