# SPDX-License-Identifier: BSD-3-Clause
"""Checks that every interface offers every write option of the core's table.

Argument: the top folder of the sources.
"""

import json
import pathlib
import re
import sys
import xml.etree.ElementTree

import parabat

TOP = pathlib.Path(sys.argv[1])
DEFAULTS = {row["name"]: row["default"] for row in parabat.options_table()}
OPTIONS = list(DEFAULTS)

# An interface's name for an option, if it differs.
CATALYST = {"target_bytes": "target_size", "repeats": "aliases"}
PARAVIEW = {"target_bytes": "LeafFileSize", "mode": "Aggregation"}
CONVERT = {"target_bytes": "target-size", "mode": "aggregation", "sorted_indexes": "sorted-index"}
# The options that convert.py leaves to scripts, and why.
NOT_OF_CONVERT = {
    "threads": "pvbatch has options of its own for them",
    "flush": "a conversion waits for the disk",
    "hdf5_view": "parabat repack removes a view",
    "repeats": "a conversion keeps the attributes that there are",
    "compare_values": "of repeats",
    "find_best_axis": "for comparisons with the paper's library",
    "max_split_imbalance_ratio": "for comparisons with the paper's library",
    "max_overfull_factor": "for comparisons with the paper's library",
    "index_budget": "block-particles says the same",
    "exchange": "the writer knows what pays",
    "leaders_per_node": "of exchange",
    "ranks_per_node": "of exchange",
}


def text(*path):
    return TOP.joinpath(*path).read_text(encoding="utf-8")


def check(door, names, offered):
    missing = [name for name in names if name not in offered]
    assert not missing, f"{door} lacks {', '.join(missing)}; it has {', '.join(sorted(offered))}"


def properties(proxy):
    """Names of the properties of a proxy, and of those that it exposes of others."""
    return {element.get("name") for element in proxy.iter()
            if element.tag.endswith("VectorProperty") or element.tag == "Property"}


assert OPTIONS
check("bat.h", OPTIONS, set(re.findall(r"\w+", text("core", "capi", "include", "bat", "bat.h"))))
check("parabat.write.__doc__", OPTIONS, set(re.findall(r"\w+", parabat.write.__doc__)))
check("the table of catalyst_adaptor/README.md", [CATALYST.get(name, name) for name in OPTIONS],
      set(re.findall(r"`(\w+)`", " ".join(
          line.split("|")[1] for line in text("catalyst_adaptor", "README.md").splitlines()
          if line.startswith("|")))))

elements = list(xml.etree.ElementTree.parse(TOP / "xml" / "BATWriter.xml").iter())
proxies = {proxy.get("name"): properties(proxy)
           for proxy in elements if proxy.tag.endswith("Proxy") and proxy.get("name")}
for name in ("BATWriterCore", "BATWriter", "BAT"):  # the writer, for SaveData, for extracts
    check(f"proxy {name} of xml/BATWriter.xml",
          [PARAVIEW.get(option, option.title().replace("_", "")) for option in OPTIONS], proxies[name])

for element in elements:  # properties that are set by name
    option = element.get("initial_string")
    if option:
        default = DEFAULTS[option]
        given = element.get("default_values")
        given = given if isinstance(default, str) else json.loads(given)
        if isinstance(default, str):
            given = given.lower()  # ParaView capitalises enumerations
        assert given == default, f"{element.get('name')} begins with {given}, {option} with {default}"

assert set(NOT_OF_CONVERT) <= set(OPTIONS), "an exception for an option that there is not"
check("convert.py",
      [CONVERT.get(name, name.replace("_", "-")) for name in OPTIONS if name not in NOT_OF_CONVERT],
      set(re.findall(r'add_argument\("--([\w-]+)"', text("writer_plugin", "convert", "convert.py"))))
