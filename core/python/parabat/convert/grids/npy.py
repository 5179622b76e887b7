# SPDX-License-Identifier: BSD-3-Clause
"""NumPy arrays: .npy and .npz.

.npy: a field (nz, ny, nx), (nz, ny, nx, components) or (ny, nx), named after the file. .npz: a field for each array;
`origin`, `spacing`, `time` and `step`, as written by `parabat export`, describe the grid.
"""

import zipfile

import numpy as np

from ..model import ConvertError, Fields, Format, Step, stem

FACTS = {"origin": 3, "spacing": 3, "time": 1, "step": 1}


def steps(path, options):
    try:
        found = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise ConvertError(f"cannot be read as arrays: {error}") from None
    if isinstance(found, np.ndarray):
        yield Step(lambda: Fields({options.called(stem(path)): found}, options=options))
        return
    with found as archive:
        facts = {name: archive[name].reshape(-1) for name in FACTS if name in archive.files
                 and archive[name].size == FACTS[name] and archive[name].dtype.kind in "iuf"}
        yield Step(lambda: _archive(archive, facts, options), int(facts["step"][0]) if "step" in facts else None,
                   float(facts["time"][0]) if "time" in facts else None)


def _archive(archive, facts, options):
    fields, others = {}, []
    for name in archive.files:
        if name in facts:
            continue
        if not options.wants(name):
            others.append(name)
            continue
        try:
            fields[name] = archive[name]
        except (ValueError, EOFError, OSError, zipfile.BadZipFile, zipfile.zlib.error) as error:
            raise ConvertError(f"the array '{name}' cannot be read: {error}") from None
    return Fields(fields, facts.get("origin"), facts.get("spacing"), options=options, others=others)


def _sniff(head, path):
    return head.startswith(b"\x93NUMPY") or (head.startswith(b"PK\x03\x04") and path.lower().endswith(".npz"))


FORMAT = Format("npy", "NumPy arrays: .npy, .npz", steps, extensions=(".npy", ".npz"), sniff=_sniff,
                options=("origin", "spacing"))
