# SPDX-License-Identifier: BSD-3-Clause
"""SaveData('x.bat', ...) from the kinds of sources in ParaView."""
from bat_test import *
from vtkmodules.vtkCommonDataModel import vtkPartitionedDataSetCollection, vtkTable, vtkUnstructuredGrid

N = 500


def table(n, names=("x", "y", "z"), keep=slice(None)):
    data = vtkTable()
    columns = {**arrays(n), **{name: points(n)[:, i] for i, name in enumerate(names)}}
    add_arrays(data.GetRowData(), {name: values[keep] for name, values in columns.items()})
    return data


def saved(folder, source, name="out.bat", **options):
    SaveData(folder(name), source, **options)
    return OpenDataFile(folder(name))


def check_cloud(reader, what, n=N):
    """The particles of cloud(n) and nothing else."""
    check_particles(fetch(reader), points(n), arrays(n), what)


with Folder() as folder:
    check_cloud(saved(folder, producer(cloud(N))), "vtkPolyData")

    # As in the panel, and as in the library.
    for word in ("Lossless", "lossless"):
        check_cloud(saved(folder, producer(cloud(N)), Compression=word), "compression " + word)
    bounded = saved(folder, producer(cloud(N)), Compression="Bounded", ErrorBounds=["mass=0.25"])
    expect(fetch(bounded).GetFieldData().GetAbstractArray("compression").GetValue(0), "mass within 0.25; all others exact",
           "bounded compression")

    grid = vtkUnstructuredGrid()
    grid.SetPoints(cloud(N).GetPoints())
    grid.GetPointData().ShallowCopy(cloud(N).GetPointData())
    check_cloud(saved(folder, producer(grid)), "vtkUnstructuredGrid")

    check_cloud(saved(folder, producer(table(N))), "vtkTable")
    check_cloud(
        saved(folder, producer(table(N, names=("a", "b", "c"))), XColumn="a", YColumn="b", ZColumn="c"),
        "vtkTable with chosen columns",
    )
    flat = fetch(saved(folder, producer(table(N)), XColumn="x", YColumn="y", ZColumn="none"))
    expect(flat.GetBounds()[4:6], (0.0, 0.0), "z of a flat table")
    expect(flat.GetPointData().HasArray("z"), 1, "z as an attribute")

    # Blocks: halves of the same cloud.
    def halves(kind):
        for keep in (slice(None, N // 2), slice(N // 2, None)):
            yield table(N, keep=keep) if kind == "table" else cloud(N, keep=keep)

    for kind in ("points", "table"):
        blocks = vtkMultiBlockDataSet()
        for i, part in enumerate(halves(kind)):
            blocks.SetBlock(i, part)
        check_cloud(saved(folder, producer(blocks)), "vtkMultiBlockDataSet of " + kind)

        collection = vtkPartitionedDataSetCollection()
        for i, part in enumerate(halves(kind)):
            partitions = vtkPartitionedDataSet()
            partitions.SetPartition(0, part)
            collection.SetPartitionedDataSet(i, partitions)
        check_cloud(saved(folder, producer(collection)), "vtkPartitionedDataSetCollection of " + kind)

    # Ghosts are still recognised when arrays are chosen.
    ghosts = cloud(N)
    add_arrays(ghosts.GetPointData(), {"vtkGhostType": (np.arange(N) % 2).astype("u1")})
    some = saved(folder, producer(ghosts), ChooseArraysToWrite=1, PointDataArrays=["id"])
    check_particles(fetch(some), points(N)[::2], {"id": arrays(N)["id"][::2]}, "one array, without ghosts")

    # Lists have a label in dialogs.
    for writer in (servermanager.writers.BATWriter(Input=producer(cloud(N))).SMProxy,
                   CreateExtractor("BAT", producer(cloud(N))).Writer.SMProxy):
        groups = list(map(writer.GetPropertyGroup, range(writer.GetNumberOfPropertyGroups())))
        labels = [group.GetXMLLabel() for group in groups if group.GetProperty("SortedIndexes")]
        expect(labels, ["Sorted Indexes"], "label of the list of sorted indexes")

    # Sources and filters without changes.
    reader = saved(folder, Sphere(), BlockParticles=16, TreeletParticles=256)
    expect(fetch(reader).GetNumberOfPoints(), 50, "a sphere")

    # Options that are set by their names in the core.
    twice = cloud(N)
    add_arrays(twice.GetPointData(), {"twice": arrays(N)["id"]})
    expected = {**arrays(N), "twice": arrays(N)["id"]}
    sizes = {}
    for repeats in ("store", "link"):
        reader = saved(folder, producer(twice), repeats + ".bat", Repeats=repeats, CompareValues=1, Threads=1, Flush=0,
                       FindBestAxis=0, MaxSplitImbalanceRatio=2, MaxOverfullFactor=2, IndexBudget=0.5)
        check_particles(fetch(reader), points(N), expected, "Repeats " + repeats)
        sizes[repeats] = os.path.getsize(folder(repeats + ".bat"))
    expect(sizes["link"] < sizes["store"], True, "an array that repeats another is stored once: %s" % sizes)

    csv = folder("t.csv")
    with open(csv, "w") as out:
        out.write("Points:0,Points:1,Points:2,value\n1,2,3,4\n5,6,7,8\n")
    expect(fetch(saved(folder, CSVReader(FileName=[csv]))).GetBounds(), (1, 5, 2, 6, 3, 7), "a CSV file")

    # A series over time: one file per step, each with its time.
    times = [0.0, 0.5, 2.0]
    names = []
    for step, time in enumerate(times):
        data = cloud(100 + step, seed=step)
        data.GetInformation().Set(data.DATA_TIME_STEP(), time)
        names.append(folder("in_%d.bat" % step))
        SaveData(names[-1], producer(data))
    SaveData(folder("out_series.bat"), OpenDataFile(names), Writetimestepsasfileseries=1)
    written = sorted(f for f in os.listdir(folder.path) if f.startswith("out_series"))
    expect(len([f for f in written if f.endswith(".bat")]), 3, "files of the series: %s" % written)
    series = OpenDataFile([folder(f) for f in written if f.endswith(".bat")])
    expect(list(series.TimestepValues), times, "times of the written series")
    expect(ids(series, 2.0), arrays(102, 2)["id"], "last step")
finish()
