#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tracks files from core/particles/FORMAT.md section 19 alone: writes golden files, and checks them.

bat_spec_tracks.py write FOLDER    writes spec.tracks.bat and spec_finished.tracks.bat, and NAME.json with their content
bat_spec_tracks.py check FOLDER    all files of the folder have the content of NAME.json, and the two are written again
"""

import glob
import json
import os
import struct
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), *[os.pardir] * 3, "core", "python"))
from parabat.pure import tracks  # noqa: pylint: disable=wrong-import-position
from parabat.pure.reader import PAGE, SCALARS, BatError, xxh3, xxh64  # noqa: pylint: disable=wrong-import-position

CODES = {name: code for code, name in SCALARS.items()}


def padded(data, to):
    """Zeros up to a multiple."""
    return data + bytes(-len(data) % to)


def end_record(sequence, end, finished):
    """32 bytes."""
    record = tracks.END.pack(sequence, end, finished, 0, 0)[:24]
    return record + struct.pack("<Q", xxh64(record))


def header(ends):
    """128 bytes with two records of the end."""
    start = tracks.HEADER.pack(tracks.MAGIC, 1, 0, 128, 0, 0, bytes(24), 0)[:56]
    return start + struct.pack("<Q", xxh64(start)) + b"".join(ends)


def block(offset, samples):
    """A block of samples of one schema: dicts with step, time, metadata, id, second, positions, columns (name to array)."""
    schema = next((s for s in samples if len(s["id"])), samples[0])
    columns = [schema["positions"]] + list(schema["columns"].values())
    rows = []
    for number, sample in enumerate(samples):
        for i, one in enumerate(sample["id"]):
            second = sample["second"][1][i] if sample["second"] else 0
            values = [sample["positions"][i]] + [column[i] for column in sample["columns"].values()]
            rows.append((one + 0, second + 0, number, values))
    rows.sort(key=lambda row: row[:3])
    ids = sorted({row[:2] for row in rows})
    payload, counts = b"", []
    for one in ids:
        history = [row for row in rows if row[:2] == one]
        counts.append(len(history))
        payload += struct.pack("<%dI" % len(history), *(row[2] for row in history))
        for c, column in enumerate(columns):
            payload += np.array([row[3][c] for row in history], column.dtype).tobytes()
    names = [schema["id_name"], schema["second"][0] if schema["second"] else ""] + list(schema["columns"])
    texts = "".join(names)
    body = b""
    for name, values in schema["columns"].items():
        body += tracks.ATTRIBUTE.pack(CODES[values.dtype.name], 1 if values.ndim == 1 else values.shape[1], 0, 0, 0, len(name.encode()), 0)
    before = None
    for sample in samples:
        same = before is not None and before == sample["metadata"]
        before = sample["metadata"]
        texts += "" if same else before
        body += tracks.SAMPLE.pack(sample["step"], sample["time"] or 0.0, len(sample["id"]), (sample["time"] is not None) + 2 * same,
                                   0 if same else len(before.encode()))
    id_type = CODES[schema["id"].dtype.name]
    second_type = CODES[schema["second"][1].dtype.name] if schema["second"] else 0
    body += np.array([one[0] for one in ids], tracks.class_of(id_type)).tobytes()
    body += np.array([one[1] for one in ids], tracks.class_of(second_type)).tobytes() if second_type else b""
    body += struct.pack("<%dI" % len(counts), *counts)
    for i in range(0, len(payload), PAGE):
        body += struct.pack("<I", xxh3(payload[i:i + PAGE]) & 0xFFFFFFFF)
    texts = texts.encode()
    row_bytes = 4 + sum(column.dtype.itemsize * (1 if column.ndim == 1 else column.shape[1]) for column in columns)
    head = tracks.HEAD.pack(len(samples), len(schema["columns"]), len(ids), len(rows), row_bytes, CODES[schema["positions"].dtype.name],
                            id_type, second_type, 0, len(names[0].encode()), len(names[1].encode()), len(texts), bytes(16))
    head = padded(head + body + texts, 8)
    size = len(padded(bytes(64) + head + payload, 64))
    start = tracks.START.pack(1, 0, offset, size, len(head), len(payload), xxh64(head), 0, 0)[:56]
    return padded(start + struct.pack("<Q", xxh64(start)) + head + payload, 64)


def whole(blocks, finished):
    """A file of blocks, each a list of samples: either grown by them, or finished."""
    ends = [end_record(1, tracks.FIRST, 0)] * 2
    data = bytes(tracks.FIRST)
    for i, samples in enumerate(blocks):
        data += block(len(data), samples)
        ends[i % 2] = end_record(i + 2, len(data), 0)
    if finished:
        ends = [end_record(1, len(data), 1)] * 2
    return header(ends) + data[tracks.FIRST:]


def sample(step, ids, seconds=None, box=None, charge=True):
    """Values that encode their place."""
    random = np.random.default_rng(step)
    columns = {"velocity": random.standard_normal((len(ids), 3)).astype("f4")}
    if charge:
        columns["Ladung ü"] = random.integers(-2**62, 2**62, len(ids))
    if len(ids):
        columns["velocity"][0, 1] = np.nan
    return {"step": step, "time": None if step % 4 == 3 else step / 8, "metadata": json.dumps({"box": box}) if box else "",
            "id_name": "id", "id": np.array(ids, "i4"), "second": seconds and ("cpu", np.array(seconds, "u1")),
            "positions": random.standard_normal((len(ids), 3)), "columns": columns}


def some():
    """Samples with ids that appear, disappear, return and occur twice, another schema, a step back, and unfinished
    data."""
    first = [sample(0, [5, -3, 9], [0, 0, 1], [1, 2]), sample(1, [9, 5, 9], [1, 0, 0], [1, 2]), sample(2, [], []),
             sample(3, [5, 5, -3], [0, 0, 0], [1, 3])]
    second = [sample(5, [7], [2], charge=False), sample(8, [7, 5], [2, 0], charge=False)]
    back = sample(2, [-3], [0])
    many = [sample(step, list(range(40)), [step % 3] * 40) for step in range(10, 14)]
    growing = whole([[one] for one in first + second + [back] + many], False)
    finished = whole([first[:2] + [back] + many], True)
    return {"spec": growing + bytes(64) + b"half of a block", "spec_finished": finished}


def content(path):
    """content_of() for the file at a path."""
    return content_of(tracks.Tracks.open(path))


def content_of(found):
    """All samples, floating-point values as bit patterns."""
    def exact(values):
        return values.view("u%d" % values.dtype.itemsize).tolist() if values.dtype.kind == "f" else values.tolist()

    return [{"step": s.step, "time": s.time, "metadata": s.metadata, "id": [s.id_name, s.ids.dtype.name, exact(s.ids)],
             "second": s.second_name and [s.second_name, s.second.dtype.name, exact(s.second)],
             "positions": [s.positions.dtype.name, exact(s.positions)],
             "attributes": [[*a, exact(s.columns[a.name])] for a in s.attributes]} for s in found.samples]


def flipped(path):
    """Flips every bit of the header and of some bytes: an error, or the bit is ignored or stored twice. Truncated: an
    error if it ends before the end that the file records."""
    with open(path, "rb") as stream:
        data = stream.read()
    missed = 0
    end = len(data) - 79 if "spec.tracks" in path else len(data)
    found = content_of(tracks.Tracks(data, path))
    for at in [*range(128), *range(128, end, 13)]:
        changed = bytearray(data)
        changed[at] ^= 1 << at % 8
        try:
            same = content_of(tracks.Tracks(bytes(changed), path)) == found
            missed += not (24 <= at < 32 or 10 <= at < 12 or 64 <= at < 128 and same)
        except BatError:
            pass
    assert missed == 0, "%d flipped bits of %s go unnoticed" % (missed, path)
    known = tracks.Tracks(data, path).end
    changed = bytearray(data)
    at = tracks.FIRST
    while at < known:  # a block without a checksum does not end the file
        changed[at + 56:at + 64] = bytes(8)
        for damaged in (bytes(changed), data[:at], data[:at + 60], data[:known - 1]):
            try:
                tracks.Tracks(damaged, path)
                missed += 1
            except BatError:
                pass
        changed[at + 56:at + 64] = data[at + 56:at + 64]
        at += struct.unpack_from("<Q", data, at + 16)[0]
    assert missed == 0 and at == known, "%d cuts of %s go unnoticed" % (missed, path)


def main(argv):
    """Writes or checks."""
    what, folder = argv
    made = some()
    if what == "write":
        for name, data in made.items():
            with open(os.path.join(folder, name + ".tracks.bat"), "wb") as stream:
                stream.write(data)
    paths = sorted(glob.glob(os.path.join(folder, "*.tracks.bat")))
    for path in paths:
        listed = path[:-len(".tracks.bat")] + ".json"
        if what == "write":
            with open(listed, "w", encoding="utf-8") as stream:
                json.dump(content(path), stream)
            continue
        with open(listed, encoding="utf-8") as stream:
            assert json.load(stream) == json.loads(json.dumps(content(path))), path + ": the content differs"
        flipped(path)
    for name, data in made.items():
        with open(os.path.join(folder, name + ".tracks.bat"), "rb") as stream:
            assert stream.read() == data, name + ": the script makes other bytes"
    for name in ("spec", "written"):
        both = [content(os.path.join(folder, name + ending + ".tracks.bat")) for ending in ("", "_finished")]
        for samples in both:  # placeholders for ids without particles may differ
            for one in samples:
                if not one["id"][2]:
                    one.pop("attributes"), one.pop("id"), one.pop("second"), one.pop("positions")
        assert both[0] == both[1], name + ": finishing changes the content"
    print("%d files" % len(paths))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
