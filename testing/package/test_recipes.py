# SPDX-License-Identifier: BSD-3-Clause
"""Checks that recipes and workflows that cannot be run here are at least up to date: test_recipes.py SOURCE
VERSION."""

import pathlib
import re
import sys

source, version = pathlib.Path(sys.argv[1]), sys.argv[2]
packaging = source / "core/packaging"
workflows = sorted((source / ".github/workflows").glob("*.yml"))
assert workflows
recipes = [packaging / "conda/meta.yaml", packaging / "spack/packages/parabat/package.py",
           packaging / "official_paraview.sh"]

for path in workflows + recipes:
    text = path.read_text(encoding="utf-8")
    assert re.search("Not run in this (project|repository)'s own", text), f"{path} does not say it"
    for name in re.findall(r"-D(BAT_\w+)", text) + re.findall(r'define\("(BAT_\w+)"', text):
        declared = "".join(cmake.read_text(encoding="utf-8") for cmake in
                           [source / "CMakeLists.txt", *(source / "core/cmake").glob("*.cmake")])
        assert re.search(rf"(option|set)\({name}\b", declared), f"{path}: CMake has no option {name}"

for path in workflows:
    text = path.read_text(encoding="utf-8")
    for action in re.findall(r"uses:\s*(\S+)", text):
        assert re.fullmatch(r"[\w.-]+/[\w.-]+@[0-9a-f]{40}", action), f"{path}: {action} is not pinned"
    for script in re.findall(r"(?:bash|\.) (?:/source/)?((?:core/packaging|testing|\.ci)/\S+)", text):
        assert (source / script).exists(), f"{path}: there is no {script}"

for path, pattern in ((packaging / "conda/meta.yaml", r'set version = "([^"]*)"'),
                      (source / ".github/CITATION.cff", r"(?m)^version: (\S+)$")):
    found = re.search(pattern, path.read_text(encoding="utf-8")).group(1)
    assert found == version, f"{path}: version {found}, not {version}"
