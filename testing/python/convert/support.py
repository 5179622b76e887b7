# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of `parabat convert` share: running it, and comparing datasets with what was in the input, to the
last bit."""

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

SKIPPED = 77
folder = tempfile.mkdtemp(prefix="parabat_convert_")
atexit.register(shutil.rmtree, folder, True)
os.chdir(folder)


def command(*words):
    """Exit code, stdout and stderr of the verb."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(["convert", *map(str, words)])
    return code, out.getvalue(), err.getvalue()


def converted(*words):
    """What was said on the way of a conversion that succeeds."""
    code, _, err = command(*words)
    assert code == 0, (words, code, err)
    return err


def refused(*words, code=None, says=()):
    """One line, and nothing is left behind."""
    before = sorted(os.listdir("."))
    found, _, err = command(*words)
    assert found == (code or (2 if "argument --" in err else 3)), (words, found, err)
    if "all arguments" not in err:
        errors = [line for line in err.splitlines() if not line.startswith("note: ")]
        assert len(errors) == 1 and errors[0].startswith("error: "), err
        assert "Traceback" not in err and len(errors[0]) < 600, err
    for text in says:
        assert text in err, (text, err)
    assert sorted(os.listdir(".")) == before, (words, set(os.listdir(".")) - set(before))
    return err


def same(path, positions, attributes, key="id", time=None, step=None):
    """The dataset holds these particles, which `key` tells apart, and no others; returns its metadata."""
    with parabat.open(path) as dataset:
        found = dataset.read()
        assert dataset.time == time, (path, dataset.time, time)
        assert dataset.step == step, (path, dataset.step, step)
        metadata = dataset.metadata
    assert set(found) == set(attributes), (path, sorted(found), sorted(attributes))
    for order, mine in ((np.argsort(found[key], kind="stable"), np.argsort(attributes[key], kind="stable")),):
        assert len(order) == len(mine), (path, len(order), len(mine))
        equal(path, "positions", found.positions[order], np.asarray(positions)[mine])
        for name, values in attributes.items():
            equal(path, name, found[name][order], np.asarray(values)[mine])
    return metadata


def equal(path, name, found, wanted):
    wanted = wanted.astype(wanted.dtype.newbyteorder("="), copy=False)
    assert found.dtype == wanted.dtype, (path, name, found.dtype, wanted.dtype)
    assert found.shape == wanted.shape, (path, name, found.shape, wanted.shape)
    assert np.ascontiguousarray(found).tobytes() == np.ascontiguousarray(wanted).tobytes(), (path, name)


def put(path, content):
    with open(path, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())
    return path


def without(*modules):
    """Ends the test as skipped if one of these cannot be imported."""
    for module in modules:
        try:
            __import__(module)
        except ImportError as error:
            print(f"skipped: {error}")
            sys.exit(SKIPPED)
