# SPDX-License-Identifier: BSD-3-Clause
"""Arrays and tables: .npz, .csv, .parquet."""

import csv
import json
import re
import zipfile

import numpy as np

from ..convert.text_tables import column_name
from ..errors import refuse
from ..export import columns, needed

ROWS = 100000  # rows of text written at a time


def write_npz_file(source, path):
    if "positions" in source.attributes:
        refuse("two arrays would be called 'positions'; exclude one with --attributes")
    source.has_no_place(".npz", "units", "periodic box")
    source.has_only_codes(".npz")
    write_npz({"positions": source.positions, **source.attributes, **_facts(source)}, path)


def _facts(source):
    """Returns single values `time` and `step`, which `parabat convert` uses as those of the dataset."""
    taken, found = {name.lower() for name in source.attributes}, {}
    for name, value, dtype in (("time", source.time, np.float64), ("step", source.step, np.int64)):
        if value is not None and name in taken:
            source.note(f"the {name} of the dataset is not written, since an attribute has that name")
        elif value is not None:
            found[name] = np.array(value, dtype)
    return found


def write_npz(arrays, path):
    """Writes arrays by name."""
    # np.savez takes names as keyword arguments, which could clash with its own.
    with zipfile.ZipFile(path, "w") as archive:
        for name, values in arrays.items():
            with archive.open(name + ".npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, np.asanyarray(values), allow_pickle=False)


def write_csv_file(source, path):
    source.has_no_place(".csv", "time", "step", "units", "periodic box")
    source.has_only_codes(".csv")
    write_csv(columns(source.particles), source.count, path)


def write_csv(found, count, path):
    """Writes named columns of `count` values; masked values are empty. Names that a spreadsheet program would interpret as
    a formula get a leading apostrophe, which `parabat convert` removes."""
    def texts(values):
        # The shortest decimals that reproduce the number in its own type.
        words = values.astype(str) if values.dtype == np.float32 else values
        return ["" if word is None else word for word in words.tolist()]

    def header(name):
        name = column_name(name)
        quotes = not re.fullmatch(r"[\w .:\[\]()/%^-]*", name)
        return '"' + name.replace('"', '""') + '"' if quotes else name

    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        file.write(",".join(map(header, found)) + "\n")
        for first in range(0, count, ROWS):
            writer.writerows(zip(*(texts(values[first:first + ROWS]) for values in found.values())))


def write_parquet(source, path):
    """Stores the time, the step and the metadata as `parabat` in the metadata of the schema."""
    parquet = needed("pyarrow.parquet", "export to .parquet")
    about = {"time": source.time, "step": source.step, "metadata": source.metadata}
    table = source.particles.to_arrow()
    text = json.dumps({key: value for key, value in about.items() if value is not None})
    parquet.write_table(table.replace_schema_metadata({"parabat": text}), path)
