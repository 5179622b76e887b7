# SPDX-License-Identifier: BSD-3-Clause
"""Measures one way to store particles in its own process, for compare.py.

    PYTHON compare_systems.py SYSTEM one question and one answer per line, as JSON; see SERVED
"""

import glob
import importlib.metadata
import json
import os
import shutil
import sys
import time

import numpy as np

AXES = ("x", "y", "z")


class System:
    """The particles, with each array in the layout that suits the system, prepared before timing
    starts."""

    packages = ("numpy",)

    def __init__(self):
        self.columns = {}

    def load(self, folder):
        for path in sorted(glob.glob(os.path.join(folder, "*.npy"))):
            values = np.load(path, mmap_mode="r").view(np.ndarray)
            values.sum()  # into memory
            self.columns[os.path.basename(path)[:-len(".npy")]] = values
        self.prepare()
        return {"versions": {name: importlib.metadata.version(name) for name in self.packages}}

    def prepare(self):
        pass

    def flat(self):
        """Name -> array of one component."""
        found = {}
        for name, values in self.columns.items():
            if values.ndim == 1:
                found[name] = values
            else:
                names = AXES if name == "pos" else [f"{name}_{i}" for i in range(values.shape[1])]
                found.update((part, np.ascontiguousarray(values[:, i])) for i, part in enumerate(names))
        return found

    # --- questions

    def write(self, path):
        """Writes to the page cache, then flushes to disk."""
        for old in glob.glob(glob.escape(path) + "*"):
            shutil.rmtree(old) if os.path.isdir(old) else os.remove(old)
        timed, _ = measure(lambda: self.write_file(path))
        start = time.perf_counter()
        files = [found for top in glob.glob(glob.escape(path) + "*")
                 for found in [top, *glob.glob(glob.escape(top) + "/**", recursive=True)] if os.path.isfile(found)]
        for name in files:
            descriptor = os.open(name, os.O_RDONLY)
            os.fsync(descriptor)
            os.close(descriptor)
        return {**timed, "flush_seconds": time.perf_counter() - start,
                "bytes": sum(os.path.getsize(name) for name in files)}

    def read(self, path, attribute):
        """Reads positions and one attribute of all particles into new arrays."""
        timed, found = measure(lambda: self.read_file(path, [attribute]))
        return {**timed, **answer(found, attribute, None)}

    def query(self, path, attribute, identity, question):
        """Reads positions, an attribute and the ids of the matching particles."""
        names = [attribute] if identity in (None, attribute) else [attribute, identity]
        timed, found = measure(lambda: self.query_file(path, names, question))
        return {**timed, **answer(found, attribute, identity)}

    # --- operations of a system; positions are "pos", or x, y and z

    def write_file(self, path):
        raise NotImplementedError(f"{type(self).__name__} does not write")

    def read_file(self, path, names):
        raise NotImplementedError(f"{type(self).__name__} does not read")

    def query_file(self, path, names, question):
        raise NotImplementedError(f"{type(self).__name__} has no queries")


def measure(work):
    """Wall and processor time; the latter is larger if several threads work."""
    wall, cpu = time.perf_counter(), time.process_time()
    found = work()
    return {"seconds": time.perf_counter() - wall, "cpu_seconds": time.process_time() - cpu}, found


def answer(found, attribute, identity):
    """Values that must be equal for all systems, as texts: the number of particles, the sum of their ids modulo 2^64,
    and the sum of a hash of all bits of each particle."""
    places = [found["pos"][:, i] for i in range(3)] if "pos" in found else [found[axis] for axis in AXES]
    parts = places + [found[attribute]] + ([found[identity]] if identity else [])
    total = np.zeros(len(places[0]), np.uint64)
    for salt, values in enumerate(parts):
        values = np.ascontiguousarray(values)
        # splitmix64 (Steele et al. 2014)
        total ^= values.view(f"u{values.dtype.itemsize}")
        total += np.uint64((salt + 1) * 0x9E3779B97F4A7C15 % 2**64)
        total = (total ^ (total >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        total = (total ^ (total >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        total ^= total >> np.uint64(31)
    ids = str(int(found[identity].astype(np.uint64).sum(dtype=np.uint64))) if identity else "-"
    return {"answer": {"rows": len(total), "ids": ids, "bits": f"{int(total.sum(dtype=np.uint64)):016x}"}}


def scan(column, question):
    """Indices of the matching rows; column(name) is an array."""
    mask = None
    if question.get("box"):
        pos, (lower, upper) = column("pos"), np.reshape(question["box"], (2, 3)).astype(column("pos").dtype)
        mask = (pos[:, 0] >= lower[0]) & (pos[:, 0] <= upper[0])
        for axis in (1, 2):
            mask &= (pos[:, axis] >= lower[axis]) & (pos[:, axis] <= upper[axis])
    for name, lower, upper in question.get("ranges", ()):
        values = column(name)
        mask = (values >= lower) & (values <= upper)
    for name, expected in question.get("values", {}).items():
        values = column(name)
        mask = np.isin(values, np.array(expected, values.dtype))
    return np.flatnonzero(mask)


class Bat(System):
    options = {"sorted_indexes": ()}

    def prepare(self):
        import parabat

        self.parabat = parabat
        self.attributes = {name: values for name, values in self.columns.items() if name != "pos"}

    def write_file(self, path):
        self.parabat.write(path, self.columns["pos"], self.attributes, threads=1, flush=False, **self.options)

    def _read(self, path, names, **question):
        with self.parabat.Dataset(path) as dataset:
            particles = dataset.read(names, threads=1, **question)
        return {**particles, "pos": particles.positions}

    def read_file(self, path, names):
        return self._read(path, names)

    def query_file(self, path, names, question):
        return self._read(path, names, box=question.get("box"), ranges=question.get("ranges"),
                          values=question.get("values"))


class BatIndexed(Bat):
    options = {"sorted_indexes": ("id",)}


class BatLossless(Bat):
    options = {"compression": "lossless"}


class Raw(System):
    """One file per array; queries scan the arrays in memory."""

    def write_file(self, path):
        for name, values in self.columns.items():
            values.tofile(f"{path}.{name}")

    def read_file(self, path, names):
        return {name: np.fromfile(f"{path}.{name}", self.columns[name].dtype).reshape(self.columns[name].shape)
                for name in ["pos", *names]}

    def query_file(self, path, names, question):
        rows = scan(self.columns.__getitem__, question)
        return {name: self.columns[name][rows] for name in ["pos", *names]}


class Hdf5(System):
    packages = ("h5py", "numpy")

    def prepare(self):
        import h5py

        self.h5py = h5py

    def write_file(self, path):
        with self.h5py.File(path, "w", libver="latest") as file:
            for name, values in self.columns.items():
                file.create_dataset(name, data=values)

    def read_file(self, path, names):
        with self.h5py.File(path) as file:
            return {name: file[name][:] for name in ["pos", *names]}

    def query_file(self, path, names, question):
        with self.h5py.File(path) as file:
            read = {}

            def column(name):
                if name not in read:
                    read[name] = file[name][:]
                return read[name]

            rows = scan(column, question)
            return {name: column(name)[rows] for name in ["pos", *names]}


class OpenPmd(System):
    packages = ("openpmd-api", "numpy")
    options = "{}"

    def prepare(self):
        import openpmd_api

        self.io = openpmd_api
        self.arrays = {name: values.copy() for name, values in self.flat().items()}  # rejects read-only arrays

    def write_file(self, path):
        io = self.io
        series = io.Series(path, io.Access.create, self.options)
        particles = series.iterations[0].particles["particles"]
        for name, values in self.arrays.items():
            extent = io.Dataset(values.dtype, values.shape)
            if name in AXES:
                offset = particles["positionOffset"][name]
                offset.reset_dataset(extent)
                offset.make_constant(values.dtype.type(0))
                record = particles["position"][name]
            else:
                record = particles[name][io.Record_Component.SCALAR]
            record.reset_dataset(extent)
            record.store_chunk(values)
        series.close()

    def read_file(self, path, names):
        io = self.io
        series = io.Series(path, io.Access.read_only, self.options)
        particles = series.iterations[0].particles["particles"]
        found = {axis: particles["position"][axis].load_chunk() for axis in AXES}
        found.update((name, particles[name][io.Record_Component.SCALAR].load_chunk()) for name in names)
        series.flush()
        series.close()
        return found


class OpenPmdBp(OpenPmd):
    options = json.dumps({"backend": "adios2", "adios2": {"engine": {"type": "bp5", "parameters": {"Threads": "1"}}}})


class Adios2(System):
    packages = ("adios2", "numpy")

    def prepare(self):
        import adios2

        self.adios2 = adios2
        self.columns = {name: values.copy() for name, values in self.columns.items()}  # rejects read-only arrays

    def _stream(self, path, mode):
        self.adios = self.adios2.Adios()
        io = self.adios.declare_io("particles")
        io.set_engine("BP5")
        io.set_parameter("Threads", "1")
        return self.adios2.Stream(io, path, mode)

    def write_file(self, path):
        with self._stream(path, "w") as stream:
            stream.begin_step()
            for name, values in self.columns.items():
                stream.write(name, values, values.shape, [0] * values.ndim, values.shape)
            stream.end_step()

    def read_file(self, path, names):
        with self._stream(path, "r") as stream:
            stream.begin_step()
            found = {name: stream.read(name) for name in ["pos", *names]}
            stream.end_step()
        return found


class Parquet(System):
    packages = ("pyarrow", "numpy")

    def prepare(self):
        import pyarrow
        import pyarrow.parquet

        self.arrow = pyarrow
        pyarrow.set_cpu_count(1)
        pyarrow.set_io_thread_count(1)
        self.table = pyarrow.table(self.flat())

    def write_file(self, path):
        self.arrow.parquet.write_table(self.table, path)

    def read_file(self, path, names):
        table = self.arrow.parquet.read_table(path, columns=[*AXES, *names], use_threads=False, memory_map=True)
        return {name: table[name].to_numpy() for name in table.column_names}


class ParquetSorted(Parquet):
    """Sorted by id; sorting is part of the write."""

    def write_file(self, path):
        self.arrow.parquet.write_table(self.table.sort_by("id"), path)


class DuckDb(System):
    """Uses Parquet files."""

    packages = ("duckdb", "numpy")
    types = {"float32": "FLOAT", "float64": "DOUBLE", "int8": "TINYINT", "int16": "SMALLINT", "int32": "INTEGER",
             "int64": "BIGINT", "uint8": "UTINYINT", "uint16": "USMALLINT", "uint32": "UINTEGER", "uint64": "UBIGINT"}

    def prepare(self):
        import duckdb

        self.connection = duckdb.connect()
        self.connection.execute("SET threads = 1")

    def _value(self, name, value):
        dtype = self.columns["pos" if name in AXES else name].dtype
        return f"'{value!r}'::{self.types[dtype.name]}"

    def _fetch(self, path, names, condition):
        columns = ", ".join(f'"{name}"' for name in [*AXES, *names])
        return self.connection.execute(f"SELECT {columns} FROM read_parquet('{path}') {condition}").fetchnumpy()

    def read_file(self, path, names):
        return self._fetch(path, names, "")

    def query_file(self, path, names, question):
        ranges = list(question.get("ranges", ()))
        if question.get("box"):
            ranges += zip(AXES, question["box"][:3], question["box"][3:])
        conditions = [f'"{name}" BETWEEN {self._value(name, lower)} AND {self._value(name, upper)}'
                      for name, lower, upper in ranges]
        conditions += [f'"{name}" IN ({", ".join(self._value(name, value) for value in expected)})'
                       for name, expected in question.get("values", {}).items()]
        return self._fetch(path, names, "WHERE " + " AND ".join(conditions))


class VtkXml(System):
    packages = ("vtk", "numpy")
    compressor = "none"

    def prepare(self):
        import vtk_xml_writer

        self.server = vtk_xml_writer.Server()
        self.server.hold(("positions" if name == "pos" else name, values) for name, values in self.columns.items())

    def write_file(self, path):
        self.server.write_file(path, self.compressor)

    def read_file(self, path, names):
        from vtkmodules.util.numpy_support import vtk_to_numpy
        from vtkmodules.vtkIOXML import vtkXMLPolyDataReader

        reader = vtkXMLPolyDataReader()
        reader.SetFileName(path)
        reader.UpdateInformation()
        selection = reader.GetPointDataArraySelection()
        selection.DisableAllArrays()
        for name in names:
            selection.EnableArray(name)
        reader.Update()
        data = reader.GetOutput()
        found = {"pos": vtk_to_numpy(data.GetPoints().GetData())}
        found.update((name, vtk_to_numpy(data.GetPointData().GetArray(name))) for name in names)
        return found


class VtkZlib(VtkXml):
    compressor = "zlib"


SYSTEMS = {"bat": Bat, "bat_indexed": BatIndexed, "bat_lossless": BatLossless, "raw": Raw, "hdf5": Hdf5,
           "openpmd_hdf5": OpenPmd, "openpmd_bp5": OpenPmdBp, "adios2": Adios2, "parquet": Parquet,
           "parquet_sorted": ParquetSorted, "duckdb": DuckDb, "duckdb_sorted": DuckDb, "vtk_raw": VtkXml,
           "vtk_zlib": VtkZlib}
SERVED = ("load", "write", "read", "query")


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in SYSTEMS:
        sys.exit(f"{__doc__}\nSYSTEM: {', '.join(SYSTEMS)}")
    system = SYSTEMS[sys.argv[1]]()
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # keeps output of libraries out of the answers
    for line in sys.stdin:
        question = json.loads(line)
        do = question.pop("do")
        try:
            result = getattr(system, do)(**question) if do in SERVED else {"error": f"no such question: {do}"}
        except Exception as error:  # pylint: disable=broad-except
            result = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(result), file=answers, flush=True)


if __name__ == "__main__":
    main()
