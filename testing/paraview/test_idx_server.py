# SPDX-License-Identifier: BSD-3-Clause
"""Grids in a client of a pvserver with several ranks: every rank reads and writes its part, errors are reported once,
and a state file restores reader and writer. Arguments: write_grid, the number of ranks, mpiexec, pvserver."""
from bat_server import running_server
from idx_grids import *
from vtkmodules.vtkCommonCore import vtkOutputWindow

program, ranks, mpiexec, pvserver = sys.argv[1], int(sys.argv[2]), *sys.argv[3:]


def check(folder, port):
    Connect("127.0.0.1", port)
    messages = []
    vtkOutputWindow.GetInstance().AddObserver("ErrorEvent", lambda window, event: messages.append(event))
    steps = {0: truth(0), 3: truth(3)}
    path, copy = folder("grid.idx"), folder("copy.idx")
    for step, arrays in steps.items():
        write_grid(program, path, arrays, step)
    reader = OpenDataFile(path)
    check_image(reader, steps[3], (0, 0, 0), (0, 0, 0), (1, 1, 1), "on a server", time=3, ranks=ranks)
    reader.UpdatePropertyInformation()
    expect(reader.LoadedLevel, reader.Levels, "loaded level")

    level = reader.Levels - 2
    reader.Resolution = level
    reader.PointArrayStatus = ["id"]
    values = {step: {"id": at_level(arrays, path, level)[0]["id"]} for step, arrays in steps.items()}
    spacing = strides(path, level)
    reader.UpdatePipeline(0)
    SaveData(copy, reader, Compression="LZ4", Flush=0)
    check_image(OpenDataFile(copy), values[0], (0, 0, 0), (0, 0, 0), spacing, "saved by the server", ranks=ranks)

    # Both kinds of state files restore the reader, and an extractor with it.
    extractor = CreateExtractor("IDX", reader)
    extractor.Writer.FileName = "extract.idx"
    extractor.Writer.Layout = "HZ"
    for state in ("grid.pvsm", "grid.py"):
        SaveState(folder(state))
        for proxy in (*GetExtractors(), *GetSources().values()):
            Delete(proxy)
        expect(len(GetSources()), 0, "sources before the state file")
        LoadState(folder(state))
        expect([extractor.Writer.Layout for extractor in GetExtractors()], ["HZ"], "extractors of " + state)
        back = [source for source in GetSources().values() if source.Resolution == level]
        expect(len(back), 1, "readers of " + state)
        SaveExtracts(ExtractsOutputDirectory=folder(state + ".out"))
        extract = OpenDataFile(folder(state + ".out/extract.idx"))
        expect(list(extract.TimestepValues), [0.0, 3.0], "times of extracts")
        check_image(extract, values[3], (0, 0, 0), (0, 0, 0), spacing, "extracted by " + state, time=3, ranks=ranks)
        Delete(extract)
    expect(len(messages), 0, "messages")

    # These faults are on one rank.
    victim = sorted(os.path.join(top, file) for top, _, files in os.walk(path[:-4]) for file in files)[-1]
    with open(victim, "r+b") as file:
        file.truncate(os.path.getsize(victim) - 1000)
    broken = OpenDataFile(path)
    expect(len(pieces(broken, 3).get("rank", [])), 0, "samples of a file that is cut")
    broken.UpdatePropertyInformation()
    assert os.path.basename(victim) in broken.Error, broken.Error
    expect(len(messages), 1, "messages of a file that is cut")
    check_image(broken, steps[0], (0, 0, 0), (0, 0, 0), (1, 1, 1), "another step", time=1, ranks=ranks)


if __name__ == "__main__":
    # This is a separate module, because filter scripts import all names of NumPy into the main one.
    import test_idx_server
    with running_server(mpiexec, ranks, pvserver, client_leaves=False) as port, Folder() as folder:
        test_idx_server.check(folder, port)
    finish()
