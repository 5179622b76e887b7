# SPDX-License-Identifier: BSD-3-Clause
"""Makes the datasets that the viewer tests open, and the C++ library's answers to their queries.

Usage: make_data.py FOLDER GOLDEN
       make_data.py --answers OUT.json FILE.bat ... only the answers to queries on these files
"""

import json
import pathlib
import shutil
import sys
import urllib.parse

import numpy as np
import parabat

N = 60000
MAX_SHOWN = 10_000_000  # the viewer's limit
HOSTILE = '<img src=x onerror="window.hacked=1">'
GOLDEN = ["all_types", "ids_64bit", "aliases", "not_finite", "sorted_index", "dataset", "written_200", "written_3000", "written_aliases",
          "written_chunks", "written_bounded", "written_dataset", "bitmap_bytes_2", "several_pages"]


def cloud(seed, count=N):
    """Positions and attributes of clusters."""
    random = np.random.default_rng(seed)
    centres = random.random((20, 3)) * [4, 2, 1]
    of = random.integers(0, 20, count)
    positions = centres[of] + 0.12 * random.standard_normal((count, 3)) * random.random((count, 1))
    velocity = random.standard_normal((count, 3)).astype("f4") * 0.3 + (centres[of] - centres.mean(0)).astype("f4")
    return positions.astype("f4"), {
        "id": np.arange(count, dtype="i8") + 2**60 + 1, "mass": random.lognormal(0, 1, count), "velocity": velocity}


def answer(path, attribute, **query):
    """The number of matching particles, and the sum of an integer attribute over them."""
    with parabat.open(path) as dataset:
        found = dataset.read([attribute] if attribute else [], **query)
    total = sum(int(v) for v in found[attribute].tolist()) % 2**64 if attribute else 0
    return {"count": found.count, "sum": str(total)}


def answers(path):
    """An integer attribute of a file, and the answers to queries on it, which are written as in the viewer's URL."""
    with parabat.open(path) as dataset:
        if len(dataset) > MAX_SHOWN:
            return {"attribute": "", "queries": []}
        # The picture cannot show particles with non-finite positions, but they count.
        integers = [key for key, about in dataset.attributes.items() if about.dtype.kind in "iu" and about.components == 1]
        attribute = integers[0] if integers else ""
        bounds = dataset.box
        reals = [key for key, about in dataset.attributes.items() if about.dtype.kind == "f" and about.components == 1]
        values = dataset.read(reals[:1], quality=0.1)[reals[0]] if reals else np.zeros(0)
    queries = [{"hash": "", **answer(path, attribute)}]
    half = [float(v) for v in (*bounds[:3], *(0.5 * (bounds[:3] + bounds[3:])))]
    if np.isfinite(half).all():
        queries.append({"hash": "box=" + ",".join(map(repr, half)), **answer(path, attribute, box=half)})
    values = values[np.isfinite(values)]
    if len(values) > 0:
        low, high = (float(np.quantile(values, part, method="nearest")) for part in (0.2, 0.7))
        hashed = urllib.parse.urlencode({"filter": f"{low!r};{high!r};0:{reals[0]}"})
        queries.append({"hash": hashed, **answer(path, attribute, ranges=[(reals[0], low, high)])})
    return {"attribute": attribute, "queries": queries}


def main():
    if sys.argv[1] == "--answers":
        reported = {str(pathlib.Path(path).resolve()): answers(path) for path in sys.argv[3:]}
        pathlib.Path(sys.argv[2]).write_text(json.dumps(reported))
        return
    folder, golden = (pathlib.Path(one) for one in sys.argv[1:])
    folder.mkdir(parents=True, exist_ok=True)
    oracle = {}
    positions, attributes = cloud(1)
    parabat.write(folder / "cloud.bat", positions, attributes, time=0.5, metadata='{"title": "Clusters", "units": {"mass": "kg"}}')
    box = [0.5, 0.2, 0.1, 2.5, 1.5, 0.9]
    oracle["cloud"] = answer(folder / "cloud.bat", "id")
    oracle["range"] = answer(folder / "cloud.bat", "id", ranges=[("mass", 1.5, None), ("id", 2**60 + 1001, 2**60 + 30000)])
    oracle["box"] = answer(folder / "cloud.bat", "id", box=box)
    steps = []
    for number in range(3):
        moved = (positions + attributes["velocity"] * 0.2 * number)[::6 + number]
        name = f"step_{number}.bat"
        parabat.write(folder / name, moved, {key: values[::6 + number] for key, values in attributes.items()}, time=0.5 * number, step=number)
        oracle[name] = answer(folder / name, "id")
        steps.append({"name": name, "time": 0.5 * number})
    (folder / "steps.bat.series").write_text(json.dumps({"files": steps}))
    parabat.write(folder / "empty.bat", positions[:0], {key: values[:0] for key, values in attributes.items()}, time=0.5)
    pause = [steps[0], {"name": "empty.bat", "time": 0.5}, steps[2]]
    (folder / "pause.bat.series").write_text(json.dumps({"files": pause}))
    parabat.write(folder / "before.bat", positions[:0], {}, time=-0.5)
    late = [{"name": "before.bat", "time": -0.5}, *steps]
    (folder / "late.bat.series").write_text(json.dumps({"files": late}))
    parabat.write(folder / "names.bat", positions[:500], {HOSTILE: np.arange(500, dtype="f4")}, metadata=json.dumps({"title": HOSTILE}))

    data = bytearray((folder / "cloud.bat").read_bytes())
    data[4096 + 5 * 4096 + 100] ^= 1  # a page of the positions, which begin at the first multiple of 4096
    (folder / "damaged.bat").write_bytes(data)
    (folder / "truncated.bat").write_bytes(data[:len(data) // 2])

    # A dataset without one of its leaf files, and with a truncated one.
    shutil.copy(golden / "written_dataset.bat", folder / "holes.bat")
    leaves = folder / "written_dataset.bat.leaves"
    shutil.rmtree(leaves, ignore_errors=True)
    shutil.copytree(golden / leaves.name, leaves)
    with parabat.open(folder / "holes.bat") as dataset:
        names = [pathlib.Path(leaf.path) for leaf in dataset.leaves]
    rest = [answer(name, "id") for name in names[2:]]
    oracle["holes"] = {"count": sum(one["count"] for one in rest), "sum": str(sum(int(one["sum"]) for one in rest) % 2**64)}
    names[0].unlink()
    names[1].write_bytes(names[1].read_bytes()[:-100])

    oracle["golden"] = {name: answers(golden / f"{name}.bat") for name in GOLDEN}
    (folder / "oracle.json").write_text(json.dumps(oracle))


if __name__ == "__main__":
    main()
