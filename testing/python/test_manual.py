# SPDX-License-Identifier: BSD-3-Clause
"""Runs the Python code in the manuals. Argument: a folder for scratch files. Code that needs PyVista is in
test_pyvista.py."""

import os
import pathlib
import re
import sys
import tempfile
import textwrap

import numpy as np
import parabat

TOP = pathlib.Path(__file__).resolve().parents[2]
N = 5000


def blocks(text):
    return re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)


def run(code, where):
    """With what the manuals presuppose, and fewer particles."""
    random = np.random.default_rng(1)
    names = {"np": np, "positions": random.random((N, 3)), "ids": np.arange(N), "v": random.random((N, 3))}
    lines = [line for line in code.replace("10_000_000", str(N)).splitlines() if "pyvista" not in line and "mesh" not in line]
    exec(compile("\n".join(lines), where, "exec"), names)  # pylint: disable=exec-used
    return names


def main():
    found = []
    with tempfile.TemporaryDirectory(dir=sys.argv[1]) as folder:
        os.chdir(folder)
        for file in ("README.md", "core/python/README.md"):
            for code in blocks((TOP / file).read_text(encoding="utf-8")):
                if "import" in code and "parabat.write(" in code:
                    found.append((file, run(code, file)))
        code = re.search(r"\n\n((?:    .*\n|\n)+)", parabat.__doc__)[1]
        found.append(("parabat.__doc__", run(textwrap.dedent(code), "parabat.__doc__")))
        os.chdir(TOP)
    assert [file for file, _ in found] == ["README.md", "core/python/README.md", "parabat.__doc__"], found
    for file, names in found:
        some = names.get("some", names.get("particles"))
        assert 0 < some.count <= N and set(some["id"]) <= set(range(N)), file
        assert np.array_equal(some.positions, names["positions"][some["id"]]), file


main()
