# SPDX-License-Identifier: BSD-3-Clause
"""Grids for tests of addresses."""
import numpy as np
import parabat.idx

FIELDS = {"float": ("f4", 1), "short": ("i2", 1), "wind": ("f8", 3)}  # type and components
BITS_PER_BLOCK = 12  # of packed and what is made of it


def make_grids(folder):
    random = np.random.default_rng(44)
    for step in (0, 3):
        values = {"float": random.random((40, 50, 60), dtype="f4"), "short": random.integers(-9, 9, (40, 50, 60), dtype="i2"),
                  "wind": random.random((40, 50, 60, 3))}
        parabat.idx.write(folder / "plain.idx", values, step=step, bits_per_block=9)
        parabat.idx.write(folder / "packed.idx", values, step=step, bits_per_block=BITS_PER_BLOCK, codec="zip")
    # The same as one file for each block, which most public datasets are.
    make_arco(folder, "packed", "arco")
    ramp = np.arange(128**3, dtype="f4").reshape(128, 128, 128)
    parabat.idx.write(folder / "large.idx", {"ramp": ramp})


def make_arco(folder, source, name):
    """Copies the blocks of an .idx to files of their own (IDX.md section 6)."""
    with parabat.idx.open(folder / f"{source}.idx") as dataset:
        text = dataset.text
        bits, count = dataset.bits_per_block, dataset.blocks_per_file
        fields, steps = list(dataset.fields), dataset.steps
    block_bytes = {field: np.dtype(FIELDS[field][0]).itemsize * FIELDS[field][1] << bits for field in fields}
    lines = [line for line in text.splitlines() if line.strip() != "(arco)"]
    (folder / f"{name}.idx").write_text("\n".join([*lines, "(arco)", str(max(block_bytes.values()))]) + "\n", encoding="utf-8")
    for step in steps:
        for file in sorted((folder / source).rglob("*.bin")):
            if f"time_{step:06d}" not in file.parts:
                continue
            data = file.read_bytes()
            for number, field in enumerate(fields):
                for row in range(count):
                    header = np.frombuffer(data, ">u4", 10, 40 + 40 * (number * count + row))
                    offset, size = int(header[2]) | int(header[3]) << 32, int(header[4])
                    if size == 0:
                        continue
                    digits = f"{row:016x}"
                    target = folder / name / str(step) / field / "/".join(digits[i:i + 4] for i in range(0, 16, 4))
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.with_suffix(".bin").write_bytes(data[offset:offset + size])


def random_box(random, box):
    lower = [int(random.integers(box[axis], box[axis + 3] + 1)) for axis in range(3)]
    return [*lower, *(int(random.integers(lower[axis], box[axis + 3] + 1)) for axis in range(3))]


def same_grids(a, b):
    for name in b.arrays if hasattr(b, "arrays") else b:
        assert a[name].dtype == b[name].dtype and np.array_equal(a[name], b[name]), name
