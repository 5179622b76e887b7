# SPDX-License-Identifier: BSD-3-Clause
"""Writes datasets with the library and reads each level of them with the second reader, or with OpenVisus.

Usage: check_written.py WRITE_GRID [--openvisus | --programs BAT_INFO BAT_VALIDATE]
       --programs: which have to tell the same
       --openvisus: in a Python that has OpenVisus (pip install OpenVisusNoGui), which then answers instead
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "spec_reader"))

FIELDS = [("p", "float32", 1), ("v", "float64", 3), ("m", "uint8", 1), ("i", "int16", 2), ("k", "uint64", 1)]
CASES = [  # samples, codec, layout, bits per block
    ((61, 50, 37), "raw", "row", 0), ((61, 50, 37), "zip", "row", 11), ((33, 100, 20), "lz4", "row", 10), ((33, 100, 20), "raw", "hz", 10),
    ((32, 32, 32), "zip", "hz", 9), ((100, 37, 1), "raw", "row", 8), ((30, 22, 28), "raw", "pidx", 8)]


def arrays_of(dims, random):
    shape = dims[::-1]
    for name, kind, components in FIELDS:
        ramp = np.arange(np.prod(shape) * components).reshape(shape + (components,)) // 50
        noise = random.integers(0, 3, ramp.shape)
        yield name, (ramp + noise).astype(kind)


def spec_reader(path):
    import idx_spec
    dataset = idx_spec.Dataset(path)
    box = dataset.box
    return dataset.levels, lambda name, step, level: dataset.read(name, step, level, box)


def openvisus_reader(path):
    os.environ["VISUS_DISABLE_WRITE_LOCK"] = "1"
    import OpenVisus
    dataset = OpenVisus.LoadDataset(str(path))
    return dataset.getMaxResolution(), lambda name, step, level: dataset.read(field=name, time=step, max_resolution=level)


def reported(path, dims):
    """Returns the errors in the output of bat_info and bat_validate."""
    info, validate = sys.argv[sys.argv.index("--programs") + 1:]
    about = json.loads(subprocess.run([info, "--json", path], check=True, stdout=subprocess.PIPE).stdout)
    fields = [(field["name"], field["type"], field["components"]) for field in about["fields"]]
    if (about["dimensions"], about["steps"], fields) != (list(dims), [3, 4], FIELDS):
        yield f"bat_info: {about}"
    text = subprocess.run([validate, path], check=True, stdout=subprocess.PIPE, text=True).stdout
    if f"valid, {np.prod(dims) * len(FIELDS) * 2} samples of all fields, 2 steps" not in text:
        yield f"bat_validate: {text}"
    damaged = max(path.parent.glob(path.stem + "/**/*.bin"), key=lambda file: file.stat().st_size)
    whole = damaged.read_bytes()
    damaged.write_bytes(whole[:len(whole) // 2])
    if subprocess.run([validate, path], check=False, stderr=subprocess.PIPE).returncode != 1:
        yield f"bat_validate: {damaged} is cut and sound"
    damaged.write_bytes(whole)


def main():
    program, reader_of = sys.argv[1], openvisus_reader if "--openvisus" in sys.argv else spec_reader
    problems, reads, random = [], 0, np.random.default_rng(3)
    with tempfile.TemporaryDirectory() as folder:
        for number, (dims, codec, layout, bits) in enumerate(CASES):
            path = pathlib.Path(folder) / f"w{number}.idx"
            truth = {}
            for step in (3, 4):
                words = []
                for name, values in arrays_of(dims, random):
                    raw = pathlib.Path(folder) / f"{name}.raw"
                    values.tofile(raw)
                    truth[name, step] = values
                    words.append(f"{name}:{values.dtype}:{values.shape[-1]}:{raw}")
                subprocess.run([program, path, *map(str, dims), codec, layout, str(bits), str(step), *words], check=True)
            digits = path.read_text().split("(bits)")[1].split()[0][1:]
            levels, read = reader_of(path)
            for level in range(levels + 1):
                delta = [2 ** digits[level:].count(str(axis)) for axis in range(3)]
                for (name, step), values in truth.items():
                    # The first field at every level; the others, which share its blocks, at some.
                    if name != "p" and (levels - level) % 4:
                        continue
                    want = values[::delta[2], ::delta[1], ::delta[0]]
                    got = np.asarray(read(name, step, level))
                    reads += 1
                    if got.dtype != want.dtype or got.tobytes() != np.ascontiguousarray(want).tobytes():
                        problems.append(f"{dims} {codec} {layout}: {name} step {step} level {level}: {got.shape} of {want.shape} differs")
            if "--programs" in sys.argv and number < 2:
                problems += reported(path, dims)
    for problem in problems[:20]:
        print(problem)
    print(f"{reads} reads, {len(problems)} problems")
    return 1 if problems or not reads else 0


if __name__ == "__main__":
    sys.exit(main())
