# SPDX-License-Identifier: BSD-3-Clause
"""Checks the reader's manual: its Python runs, it describes every property, and the Help page every
control. Arguments: the source folder, a .bat file."""
import re
import xml.etree.ElementTree as ElementTree

from bat_test import *

source_folder, sample = sys.argv[1:]


def read(*path):
    with open(os.path.join(source_folder, *path), encoding="utf-8") as file:
        return file.read()


manual = read("reader_plugin", "README.md")
page = read("reader_plugin", "help", "sources.BATReader.html")
proxies = ElementTree.fromstring(read("xml", "BATReader.xml"))
core = proxies.find(".//SourceProxy[@name='BATReaderCore']")
for exposed in proxies.findall(".//SourceProxy//ExposedProperties//Property"):
    name = exposed.get("name")
    if name == "PointArrayInfo":  # serves PointArrayStatus
        continue
    assert f"`{name}`" in manual or f"`{name} = " in manual, f"README.md: nothing about {name}"
for element in core:
    label = element.get("label")
    if label and element.get("name") != "Box":
        assert f"<b>{label}</b>" in page, f"Help page: nothing about {label}"
        assert f"| {label}" in manual, f"README.md: nothing about {label}"
for picture in re.findall(r"[\w./]*pictures/\w+\.png", manual):
    assert os.path.exists(os.path.join(source_folder, "reader_plugin", picture)), picture

with Folder() as folder:
    for name in ("particles.bat", "step_0000.bat", "step_0001.bat"):
        shutil.copy(sample, folder(name))
    os.chdir(folder.path)
    names = {}
    snippets = re.findall(r"```python\n(.*?)```", manual, re.S)
    assert len(snippets) >= 7, "snippets in README.md"
    for snippet in snippets:
        exec(snippet, names)
    reader = names["reader"]
    expect(ids(reader)[0], 24, "smallest of the ids that the last snippet asks for")
    expect(reader.PointData.keys(), ["id", "velocity"], "its attributes")
finish()
