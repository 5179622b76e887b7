# SPDX-License-Identifier: BSD-3-Clause
"""Writes with VTK's XML writer from the wheel vtk==9.2.6 on PyPI, which is compiled with optimisation
(Debian's is not).

    vtk_xml_writer.py install FOLDER    makes a virtual environment there, prints its Python
    PYTHON vtk_xml_writer.py serve      one question, one answer in each line, as JSON; see SERVED

parallel_bench.py starts one process of the second kind per rank.
"""

import json
import os
import sys
import time

import wheels

PACKAGES = ("vtk==9.2.6", "numpy")
IMPORTS = ("vtkmodules.vtkIOXML", "numpy")


class Server:
    """The particles of one rank."""

    def __init__(self):
        self._data = None
        self._keep = []

    def load(self, path, shapes):
        import numpy as np

        with open(path, "rb") as file:
            return self.hold((name, np.fromfile(file, dtype, int(np.prod(shape))).reshape(shape))
                             for name, dtype, shape in shapes)

    def hold(self, columns):
        """Names and arrays, where "positions" are the points."""
        from vtkmodules.util.numpy_support import get_vtk_array_type, numpy_to_vtk
        from vtkmodules.vtkCommonCore import vtkPoints
        from vtkmodules.vtkCommonDataModel import vtkPolyData

        self._data = vtkPolyData()
        for name, values in columns:
            array = numpy_to_vtk(values, array_type=get_vtk_array_type(values.dtype))
            array.SetName(name)
            self._keep.append(values)
            if name == "positions":
                points = vtkPoints()
                points.SetData(array)
                self._data.SetPoints(points)
            else:
                self._data.GetPointData().AddArray(array)
        return {"points": self._data.GetNumberOfPoints()}

    def write_file(self, path, compressor):
        from vtkmodules.vtkIOXML import vtkXMLPolyDataWriter

        writer = vtkXMLPolyDataWriter()
        writer.SetInputData(self._data)
        writer.SetFileName(path)
        writer.SetDataModeToAppended()
        writer.EncodeAppendedDataOff()
        if compressor == "none":
            writer.SetCompressorTypeToNone()  # otherwise the default, zlib
        if not writer.Write():
            raise RuntimeError(f"{path}: cannot be written")

    def write(self, path, compressor, flush=True):
        start = time.perf_counter()
        self.write_file(path, compressor)
        written = time.perf_counter()
        if flush:
            descriptor = os.open(path, os.O_RDONLY)
            os.fsync(descriptor)
            os.close(descriptor)
        return {"seconds_write": written - start, "seconds_flush": time.perf_counter() - written}

    def read(self, path):
        from vtkmodules.vtkIOXML import vtkXMLPolyDataReader

        reader = vtkXMLPolyDataReader()
        reader.SetFileName(path)
        reader.Update()
        return {"points": reader.GetOutput().GetNumberOfPoints()}


SERVED = ("load", "write", "read")


def serve():
    server = Server()
    for line in sys.stdin:
        question = json.loads(line)
        do = question.pop("do")
        try:
            answer = getattr(server, do)(**question) if do in SERVED else {"error": f"no such question: {do}"}
        except Exception as error:  # pylint: disable=broad-except
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


def main():
    words = sys.argv[1:]
    if len(words) == 2 and words[0] == "install":
        try:
            print(wheels.install(words[1], PACKAGES, IMPORTS))
        except RuntimeError as error:
            sys.exit(str(error))
    elif words == ["serve"]:
        serve()
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
