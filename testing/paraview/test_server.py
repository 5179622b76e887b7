# SPDX-License-Identifier: BSD-3-Clause
"""A client opens a file on pvserver with several ranks, and saves from there. Arguments: a .bat file, a
folder to write to, the number of ranks, mpiexec, pvserver."""
from bat_server import running_server
from bat_test import *
from vtkmodules.vtkCommonCore import vtkOutputWindow

path, folder, ranks, mpiexec, pvserver = *sys.argv[1:3], int(sys.argv[3]), *sys.argv[4:]
N = 20000

with running_server(mpiexec, ranks, pvserver, client_leaves=False) as port:
    Connect("127.0.0.1", port)
    reader = OpenDataFile(path)
    check_spread(reader, N, ranks, "opened by a client")
    check_conditions(reader, N, "by a client")
    reader.ComputeHistograms = 1
    reader.UpdatePropertyInformation()
    numbers = np.array(reader.AttributeHistograms).reshape(-1, 2, 68)
    assert len(numbers) == len(reader.AttributeRangesInfo) // 3
    assert np.allclose(numbers[:, :, 4:].sum(2), N), "a histogram has all particles"
    reader.EstimateMatches = 1
    reader.AttributeRanges = ["mass", "0.25", ""]
    reader.UpdatePropertyInformation()
    expect(list(reader.MatchEstimate), [int((arrays(N)["mass"] >= 0.25).sum())] * 3, "particles that will match")
    reader.AttributeRanges = []
    reader.EstimateMatches = 0
    # A fault is reported once, whichever rank has it, and valid data is loaded afterwards.
    messages = []
    vtkOutputWindow.GetInstance().AddObserver("ErrorEvent", lambda window, event: messages.append(event))
    reader.AttributeRanges = ["mass", "5"]
    expect(fetch(reader).GetNumberOfPoints(), 0, "particles of an incomplete range")
    reader.UpdatePropertyInformation()
    assert "'mass', '5'; each range has three" in reader.Error, reader.Error
    expect(len(messages), 1, "messages")
    reader.AttributeRanges = []
    expect(fetch(reader).GetNumberOfPoints(), N, "particles after an error")
    saved = os.path.join(folder, "server.bat")
    SaveData(saved, reader, LeafFileSize=0.1)
    assert len(os.listdir(saved + ".leaves")) > 1
    check_spread(OpenDataFile(saved), N, ranks, "saved by the server")
    CreateExtractor("BAT", reader).Writer.FileName = "extract.bat"
    SaveExtracts(ExtractsOutputDirectory=folder)
    check_spread(OpenDataFile(os.path.join(folder, "extract.bat")), N, ranks, "extracted by the server")
    expect(len(messages), 1, "messages in the end")
finish()
