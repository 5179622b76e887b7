# SPDX-License-Identifier: BSD-3-Clause
"""Files at addresses in ParaView: the same data as of local files, state files without secrets, a server that dies, and
aborts. Arguments: python3, the server of testing/common/remote, a folder for files."""
import os
import shutil
import subprocess
import time

from bat_test import *
from remote_server import Server

PYTHON, SERVER, FOLDER = sys.argv[1:]
WRITE = """
import json, sys
import numpy as np, parabat, parabat.flow, parabat.idx
folder = sys.argv[1]
random = np.random.default_rng(4)
for step in range(3):
    parabat.write(f"{folder}/dust_{step}.bat", random.random((20000 + step, 3), dtype="f4"),
                  {"id": np.arange(20000 + step) + 2**53, "mass": random.lognormal(0, 1, 20000 + step)}, time=step / 2)
json.dump({"file-series-version": "1.0", "files": [{"name": f"dust_{step}.bat", "time": step / 2} for step in range(3)]},
          open(f"{folder}/dust.bat.series", "w"))
parabat.write(f"{folder}/large.bat", random.random((400000, 3)), {"id": np.arange(400000)})
parabat.idx.write(f"{folder}/grid.idx", {"pressure": random.random((30, 40, 50), dtype="f4")})
parabat.flow.write_series(f"{folder}/wind.bricks.series", [(0.0, random.random((9, 10, 11, 3), dtype="f4")), (1.0, random.random((9, 10, 11, 3), dtype="f4"))])
"""


def start_server(port=0):
    return Server(SERVER, FOLDER, "--port", str(port), python=PYTHON, env=outside_mpi())


def arrays_of(data):
    attributes = data.GetPointData()
    return {attributes.GetArrayName(i): vtk_to_numpy(attributes.GetArray(i)) for i in range(attributes.GetNumberOfArrays())}


def same(remote, local, what, time=None):
    a, b = fetch(remote, time), fetch(local, time)
    assert b.GetNumberOfPoints() > 0, what
    expect(a.GetNumberOfPoints(), b.GetNumberOfPoints(), what + ": points")
    if hasattr(b, "GetPoints") and b.GetPoints() is not None:
        expect(vtk_to_numpy(a.GetPoints().GetData()), vtk_to_numpy(b.GetPoints().GetData()), what + ": positions")
    found, expected = arrays_of(a), arrays_of(b)
    expect(list(found), list(expected), what + ": arrays")
    for name in expected:
        expect(found[name], expected[name], what + ": " + name)


def check_series(server):
    remote, local = OpenDataFile(server.address("dust.bat.series")), OpenDataFile(FOLDER + "/dust.bat.series")
    expect(remote.GetXMLName(), "BATSeriesReader", "reader of an address")
    remote.UpdatePipelineInformation()
    expect(list(remote.TimestepValues), [0, 0.5, 1], "times")
    for moment in (0, 1, 0.5):
        same(remote, local, f"time {moment}", moment)
    for reader in (remote, local):
        reader.Quality = 0.2
    same(remote, local, "quality", 0.5)
    for reader in (remote, local):
        reader.Quality = 1
        reader.UseBox = 1
        reader.Box = [0.2, 0.6, 0.1, 0.7, 0.3, 0.9]
    same(remote, local, "box", 1)
    for reader in (remote, local):
        reader.AttributeRanges = ["mass", "0.5", "1"]
    same(remote, local, "range", 1)
    return remote, local


def check_state(remote, local):
    state = FOLDER + "/remote.pvsm"
    SaveState(state)
    before = fetch(remote, 0.5).GetNumberOfPoints()
    ResetSession()
    LoadState(state)
    reader = next(source for source in GetSources().values() if "http://" in str(source.FileName))
    expect(fetch(reader, 0.5).GetNumberOfPoints(), before, "particles after loading a state")
    for source in list(GetSources().values()):
        Delete(source)


def check_others(server):
    for name, proxy in (("grid.idx", "IDXReader"), ("wind.bricks.series", "BricksReader"), ("large.bat", "BATReader")):
        remote, local = OpenDataFile(server.address(name)), OpenDataFile(f"{FOLDER}/{name}")
        expect(remote.GetXMLName(), proxy, "reader of " + name)
        same(remote, local, name)
        Delete(remote)
        Delete(local)


def error_of(reader):
    try:
        UpdatePipeline(proxy=reader)
    except RuntimeError:
        pass
    reader.UpdatePropertyInformation()
    return reader.Error


def check_errors(server):
    for address in (f"http://user:hunter2@127.0.0.1:{server.port}/plain/large.bat", server.address("large.bat?token=hunter2")):
        reader = BATReader(FileName=[address])
        text = error_of(reader)
        assert "secret" in text and "hunter2" not in text, text
        Delete(reader)
    reader = BATReader(FileName=[server.address("none.bat")])
    assert "none.bat" in error_of(reader), "a file that is not there"
    Delete(reader)
    # A server that dies, and one that is back.
    reader = BATReader(FileName=[server.address("large.bat", "dies")])
    reader.Quality = 0.01
    expect(fetch(reader).GetNumberOfPoints() > 0, True, "before the server dies")
    port = server.port
    server.stop()
    reader.Quality = 1
    assert "large.bat" in error_of(reader)
    server = start_server(port)
    ReloadFiles(reader)
    expect(fetch(reader).GetNumberOfPoints(), 400000, "after the server is back")
    Delete(reader)
    return server


def check_settings(server):
    """The page Remote Files of the settings: what another reader left in the folder is not requested again."""
    servermanager.vtkSMParaViewPipelineController().UpdateSettingsProxies(servermanager.ActiveConnection.Session)
    settings = GetSettingsProxy("RemoteFileSettings")
    cache = f"{FOLDER}/cache"
    settings.CacheFolder, settings.CacheSizeGiB, settings.TimeoutSeconds = cache, 1, 20
    # As an address of OpenVisus.
    reader = OpenDataFile(server.address("grid.idx?cached=idx", "cached"))
    expect(reader.GetXMLName(), "IDXReader", "reader of an address with a query")
    fetch(reader)
    Delete(reader)
    assert sum(os.path.getsize(f"{cache}/{name}") for name in os.listdir(cache)) > 60000, os.listdir(cache)
    settings.CacheFolder = ""


def check_abort(server):
    reader = BATReader(FileName=[server.address("large.bat", "stall;after=8")])
    inner = reader.GetClientSideObject().GetReader()
    events = []

    def abort(algorithm, event):
        events.append(event)
        if len(events) > 3:
            algorithm.SetAbortExecute(1)
    inner.AddObserver("ProgressEvent", abort)
    begin = time.monotonic()
    UpdatePipeline(proxy=reader)
    assert time.monotonic() - begin < 25, "an abort waited for the server"
    Delete(reader)


shutil.rmtree(FOLDER, ignore_errors=True)
os.makedirs(FOLDER)
subprocess.run([PYTHON, "-c", WRITE, FOLDER], check=True, env=outside_mpi())
server = start_server()
try:
    remote, local = check_series(server)
    check_state(remote, local)
    check_others(server)
    check_settings(server)
    check_abort(server)
    server = check_errors(server)
finally:
    server.stop()
finish()
