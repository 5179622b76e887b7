# SPDX-License-Identifier: BSD-3-Clause
"""For any distribution of a grid, the bytes equal those that the core writes for the whole. Layouts, packing, cells,
time steps, errors, and extracts. Run by pvbatch. Arguments: write_grid, the number of ranks."""
import filecmp
import json

from idx_grids import *
from paraview.modules.vtkRemotingCore import vtkProcessModule
from vtkmodules.vtkCommonCore import vtkOutputWindow

program, ranks = sys.argv[1], int(sys.argv[2])
expect(vtkProcessModule.GetProcessModule().GetNumberOfLocalPartitions(), ranks, "ranks")
messages = []
for kind in ("ErrorEvent", "WarningEvent"):
    vtkOutputWindow.GetInstance().AddObserver(kind, lambda _, event: messages.append(event))
FILE_SIZE = 100000 / 2 ** 20  # as in write_grid

# Each rank has its parts; a rank may have none.
PARTS = """
def make(output):
    import idx_fields as f
    from vtkmodules.vtkParallelCore import vtkMultiProcessController
    controller = vtkMultiProcessController.GetGlobalController()
    rank, ranks = controller.GetLocalProcessId(), controller.GetNumberOfProcesses()
    parts = [%s]
    output.SetNumberOfBlocks(len(parts))
    for i, image in enumerate(parts):
        output.SetBlock(i, image)


make(self.GetOutput())
"""
DECOMPOSITIONS = {
    "slabs": "f.part(box) for i, box in enumerate(f.slabs(2, 3 * ranks)) if i % ranks == rank",
    "pencils with ghosts": "f.part(f.grown(box), own=box) for i, box in enumerate(f.slabs(1, 5)) if i % ranks == rank",
    "bricks that overlap, each from 0 on":
        "f.part(f.grown(box), shifted=True) for i, box in enumerate(f.bricks()) if (i // 3) % ranks == rank",
    "all on the last rank": "f.part(box) for box in f.slabs(0, 1) if rank == ranks - 1",
    "all on all ranks": "f.part(box) for box in f.slabs(0, 1)",
}


def source(parts):
    made = ProgrammableSource(OutputDataSetType="vtkMultiblockDataSet")
    made.Script = PARTS % parts
    return made


def tree(path):
    """Names of a dataset's files, below its folder."""
    return sorted(os.path.relpath(os.path.join(at, name), os.path.dirname(path))
                  for at, _, names in os.walk(path[:-len(".idx")]) for name in names)


def check_same(path, expected, what):
    with open(path) as one, open(expected) as other:
        expect(one.read(), other.read(), what + ": text")
    expect(tree(path), tree(expected), what + ": files")
    for name in tree(path):
        same = filecmp.cmp(*(os.path.join(os.path.dirname(p), name) for p in (path, expected)), shallow=False)
        assert same, (what, name)


def failure(path, what, **options):
    """The message of a failed save; nothing is left behind."""
    messages.clear()
    writer = servermanager.writers.IDXWriter(Input=what, FileName=path)
    for name, value in options.items():
        setattr(writer, name, value)
    writer.UpdatePipeline()
    assert messages, path
    expect(tree(path), [], "files after a failure")
    assert not os.path.exists(path)
    messages.clear()


def check(folder):
    fields = truth()
    os.makedirs(folder("core"))
    os.makedirs(folder("here"))
    for codec, layout, options in (("zip", "row", {"Compression": "Zip"}),
                                   ("lz4", "hz", {"Compression": "LZ4", "Layout": "HZ"}),
                                   ("raw", "pidx", {"Layout": "HZ for PIDX and VisIt"})):
        expected, path = folder("core/grid.idx"), folder("here/grid.idx")
        write_grid(program, expected, fields, 0, codec=codec, layout=layout)
        for what, parts in DECOMPOSITIONS.items() if layout == "row" else [("slabs", DECOMPOSITIONS["slabs"])]:
            made = source(parts)
            SaveData(path, made, BitsPerBlock=9, FileSize=FILE_SIZE, Flush=0, **options)
            check_same(path, expected, "%s, %s, %s" % (what, codec, layout))
            Delete(made)
            shutil.rmtree(folder("here"))
            os.makedirs(folder("here"))
        shutil.rmtree(folder("core"))
        os.makedirs(folder("core"))
    expect(len(messages), 0, "messages")

    # The writer reproduces what the reader has read, with geometry, types and times.
    steps = {2: truth(2), 5: truth(5)}
    original = folder("core/series.idx")
    for step, values in steps.items():
        write_grid(program, original, values, step, geometry=[-1, 6, 0, 9, 1, 12] if step == 5 else None)
    copy = folder("here/series.idx")
    SaveData(copy, OpenDataFile(original), WriteAllTimeSteps=1, Flush=0)
    reader = OpenDataFile(copy)
    expect(list(reader.TimestepValues), [2.0, 5.0], "times")
    spacing = [7 / SHAPE[0], 9 / SHAPE[1], 11 / SHAPE[2]]
    for step, values in steps.items():
        check_image(reader, values, (0, 0, 0), (-1, 0, 1), spacing, "copy at %d" % step, time=step, ranks=ranks)
    data = fetch(reader, 5)
    expect(int(data.GetFieldData().GetArray("timestep").GetTuple1(0)), 5, "number of a step")
    fetch(reader, 2)  # the saved time
    other = folder("here/other.idx")
    SaveData(other, reader, ChooseArraysToWrite=1, PointDataArrays=["id"], Flush=0)
    again = OpenDataFile(other)
    expect(list(again.TimestepValues), [2.0], "times of one step")
    check_image(again, {"id": steps[2]["id"]}, (0, 0, 0), (-1, 0, 1), spacing, "one array", ranks=ranks)

    # Files with one step each, which is step 0 in all of them.
    names = [folder("core/one%d.idx" % i) for i in range(3)]
    for i, name in enumerate(names):
        write_grid(program, name, {"id": steps[2]["id"] + i}, 0)
        with open(name, "a") as file:
            file.write("(parabat_times)\n%g\n" % (i / 2))
    ones = OpenDataFile(names)
    expect(list(ones.TimestepValues), [0.0, 0.5, 1.0], "times of files")
    SaveData(other, ones, WriteAllTimeSteps=1, Flush=0)
    every = OpenDataFile(other)
    expect(list(every.TimestepValues), [0.0, 0.5, 1.0], "times of all files")
    for i in range(3):
        check_image(every, {"id": steps[2]["id"] + i}, (0, 0, 0), (0, 0, 0), (1, 1, 1), "of file %d" % i, time=i / 2,
                    ranks=ranks)

    part = ExtractSubset(Input=reader, VOI=[8, 40, 3, 30, 2, 20])
    SaveData(other, part, Flush=0)
    inside = {name: array[2:21, 3:31, 8:41] for name, array in steps[2].items()}
    check_image(OpenDataFile(other), inside, (8, 3, 2), (-1, 0, 1), spacing, "a part keeps its place", ranks=ranks)

    # Invalid field names, one of which has a taken replacement, are replaced, with one message each.
    blanks = Calculator(Input=reader, ResultArrayName="Tiff Scalars", Function="radius + 1")
    blanks = Calculator(Input=blanks, ResultArrayName="Tiff_Scalars", Function="radius + 2")
    expect(len(messages), 0, "messages before names")
    SaveData(other, blanks, ChooseArraysToWrite=1, PointDataArrays=["Tiff Scalars", "Tiff_Scalars"], Flush=0)
    expect(len(messages), 1, "warnings of names")
    messages.clear()
    renamed = OpenDataFile(other)
    named = {"Tiff_Scalars" + end: steps[2]["radius"].astype("f8") + more for end, more in (("_2", 1), ("", 2))}
    check_image(renamed, named, (0, 0, 0), (-1, 0, 1), spacing, "names with blanks", ranks=ranks)

    # Extents below 0; cells.
    wavelet = Wavelet(WholeExtent=[-10, 9, -7, 8, -5, 6])
    SaveData(other, wavelet, Flush=0)
    back = OpenDataFile(other)
    truly = pieces(wavelet)
    order = np.lexsort(truly["index"].T)
    first = truly["index"][order][np.r_[True, np.any(np.diff(truly["index"][order], axis=0), 1)]]
    values = truly["RTData"][order][np.r_[True, np.any(np.diff(truly["index"][order], axis=0), 1)]]
    expect(len(first), 20 * 16 * 12, "samples of the wavelet")
    check_image(back, {"RTData": values.reshape(12, 16, 20)}, (0, 0, 0), (-10, -7, -5), (1, 1, 1), "a wavelet", ranks=ranks)
    cells = PointDatatoCellData(Input=wavelet)
    SaveData(other, cells, Flush=0)
    back = OpenDataFile(other)
    found = pieces(back)
    expect(found["index"].max(0).tolist(), [18, 14, 10], "cells")
    assert np.allclose(found["position"].min(0), [-9.5, -6.5, -4.5]), "centres of cells"
    cube = values.reshape(12, 16, 20).astype("f8")
    mean = sum(cube[a:11 + a, b:15 + b, c:19 + c] for a in (0, 1) for b in (0, 1) for c in (0, 1)) / 8
    number = found["index"] @ [1, 19, 19 * 15]
    assert np.allclose(found["RTData"], mean.ravel()[number], rtol=1e-5), "values of cells"
    expect(len(messages), 0, "messages so far")

    # The proxy reports what the write did.
    writer = servermanager.writers.IDXWriter(Input=reader, FileName=other)
    writer.UpdatePipeline()
    writer.UpdatePropertyInformation()
    expect(json.loads(writer.GetProperty("Report")[0])["samples"], int(np.prod(SHAPE)), "samples in the report")

    # A file cannot represent these.
    failure(folder("hole.idx"), source("f.part(box) for i, box in enumerate(f.slabs(2, 3)) if i != 1 and i % ranks == rank"))
    failure(folder("beside.idx"), source("f.part(box, origin=(0.25 * i, 0, 0), shifted=True)"
        " for i, box in enumerate(f.slabs(0, 2)) if i % ranks == rank"))
    failure(folder("other.idx"), source("f.part(box, dict(list(f.truth().items())[:4 - i]))"
        " for i, box in enumerate(f.slabs(0, 2)) if i % ranks == rank"))
    failure(folder("cone.idx"), GroupDatasets(Input=[Cone()]))
    failure(folder("name.dat"), wavelet)
    holes = folder("here/hole.idx")
    SaveData(holes, source("f.part(box) for i, box in enumerate(f.slabs(2, 3)) if i != 1 and i % ranks == rank"),
             MissingSamples="Zeros")
    cut = dict(fields)
    low, high = [(b[4], b[5]) for b in __import__("idx_fields").slabs(2, 3)][1]
    for name in cut:
        cut[name] = cut[name].copy()
        cut[name][low:high + 1] = 0
    check_image(OpenDataFile(holes), cut, (0, 0, 0), (0, 0, 0), (1, 1, 1), "with zeros", ranks=ranks)

    # Extracts: one dataset that grows.
    extractor = CreateExtractor("IDX", reader)
    extractor.Writer.FileName = "extract.idx"
    SaveExtracts(ExtractsOutputDirectory=folder("here"))
    extracted = OpenDataFile(folder("here/extract.idx"))
    expect(list(extracted.TimestepValues), [2.0, 5.0], "times of extracts")
    check_image(extracted, steps[5], (0, 0, 0), (-1, 0, 1), spacing, "an extract", time=5, ranks=ranks)
    expect(len(messages), 0, "messages in the end")


if __name__ == "__main__":
    # This is a separate module, because filter scripts import all names of NumPy into the main one.
    import test_idx_writer
    with Folder() as folder:
        test_idx_writer.check(folder)
    finish()
