# SPDX-License-Identifier: BSD-3-Clause
"""Shared code of the `parabat convert` tests: running it, and comparing datasets with the input, bit by bit."""

import atexit
import contextlib
import io
import os
import shutil
import sys
import tempfile

import numpy as np
import parabat
from parabat.cli import main
from parabat.convert import convert, running

SKIPPED = 77
folder = tempfile.mkdtemp(prefix="parabat_convert_")
atexit.register(shutil.rmtree, folder, True)
os.chdir(folder)


def command(*words):
    """Exit code, stdout and stderr of the subcommand."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(["convert", *map(str, words)])
    return code, out.getvalue(), err.getvalue()


def converted(*words):
    """The messages of a successful conversion."""
    code, _, err = command(*words)
    assert code == 0, (words, code, err)
    return err


def refused(*words, code=None, says=()):
    """Checks for one line, and that nothing is left behind."""
    before = sorted(os.listdir("."))
    found, _, err = command(*words)
    assert found == (code or (2 if "argument --" in err else 3)), (words, found, err)
    if " --help'" not in err:
        errors = [line for line in err.splitlines() if not line.startswith("note: ")]
        assert len(errors) == 1 and errors[0].startswith("error: "), err
        assert "Traceback" not in err and len(errors[0]) < 600, err
    for text in says:
        assert text in err, (text, err)
    assert sorted(os.listdir(".")) == before, (words, set(os.listdir(".")) - set(before))
    return err


def same(path, positions, attributes, key="id", time=None, step=None):
    """Checks that the dataset has exactly these particles, identified by `key`; returns its metadata."""
    with parabat.open(path) as dataset:
        found = dataset.read()
        assert dataset.time == time, (path, dataset.time, time)
        assert dataset.step == step, (path, dataset.step, step)
        metadata = dataset.metadata
    assert set(found) == set(attributes), (path, sorted(found), sorted(attributes))
    for order, own in ((np.argsort(found[key], kind="stable"), np.argsort(attributes[key], kind="stable")),):
        assert len(order) == len(own), (path, len(order), len(own))
        equal(path, "positions", found.positions[order], np.asarray(positions)[own])
        for name, values in attributes.items():
            equal(path, name, found[name][order], np.asarray(values)[own])
    return metadata


def equal(path, name, found, expected):
    expected = expected.astype(expected.dtype.newbyteorder("="), copy=False)
    assert found.dtype == expected.dtype, (path, name, found.dtype, expected.dtype)
    assert found.shape == expected.shape, (path, name, found.shape, expected.shape)
    assert np.ascontiguousarray(found).tobytes() == np.ascontiguousarray(expected).tobytes(), (path, name)


def put(path, content):
    with open(path, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())
    return path


def without(*modules):
    """Skips the test if one of these cannot be imported."""
    for module in modules:
        try:
            __import__(module)
        except ImportError as error:
            print(f"skipped: {error}")
            sys.exit(SKIPPED)


# --- Steps in parts

def rows_of(path):
    """Attributes of a dataset in the order of ids, and its other content."""
    with parabat.open(path) as dataset:
        found = dataset.read()
        key = found["id"] if "id" in found else found["ParticleIDs"] if "ParticleIDs" in found else found.positions[:, 0]
        order = np.argsort(key, kind="stable")
        columns = {"": found.positions, **found}
        return {name: values[order] for name, values in columns.items()}, (
            dataset.time, dataset.step, dataset.metadata, len(dataset))


@contextlib.contextmanager
def in_small_parts():
    """Steps of any size in parts of 1 MiB."""
    before = running.TIMES, running.PART
    running.TIMES = running.PART = 1 << 40
    try:
        yield
    finally:
        running.TIMES, running.PART = before


def alike_in_parts(inputs, names=("",), **options):
    """Converts as a whole and in parts, which must give the same. Returns the messages."""
    reported = ([], [])
    for i, (stem, way) in enumerate((("whole", contextlib.nullcontext), ("parts", in_small_parts))):
        with way():
            convert(inputs, stem + ".bat", show=lambda news, i=i: reported[i].append(news.get("remark")), **options)
    for name in names:
        whole, parts = rows_of(f"whole{name}.bat"), rows_of(f"parts{name}.bat")
        assert whole[1] == parts[1], (inputs, whole[1], parts[1])
        assert list(whole[0]) == list(parts[0]), (inputs, list(whole[0]), list(parts[0]))
        for key, values in whole[0].items():
            other = parts[0][key]
            assert values.dtype == other.dtype and values.tobytes() == other.tobytes(), (inputs, key)
    remarks = [{remark for remark in each if remark} for each in reported]
    assert remarks[0] == remarks[1], remarks
    return remarks[1]


def is_in_parts(format_name, path):
    """How often a step was read in parts, to ensure that the comparisons above are meaningful."""
    counted = []
    before = running._parts  # pylint: disable=protected-access

    def parts(*arguments):
        for part in before(*arguments):
            counted.append(len(part.positions))
            yield part
    running._parts = parts
    with in_small_parts():
        convert([path], "counted.bat", format=format_name)
    running._parts = before
    return len(counted) > 2
