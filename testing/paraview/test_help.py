# SPDX-License-Identifier: BSD-3-Clause
"""Checks the plugins' pages in ParaView's Help as built: internal proxies are not in the table of contents and have no
list of properties, and every other proxy of the XML has a page. Arguments: the source folder, .qch files."""
import contextlib
import pathlib
import re
import sqlite3
import sys
import zlib

source, archives = pathlib.Path(sys.argv[1]), sys.argv[2:]
pages, contents = {}, ""
for archive in archives:
    with contextlib.closing(sqlite3.connect(f"file:{archive}?mode=ro", uri=True)) as database:
        for name, data in database.execute("SELECT Name, Data FROM FileNameTable JOIN FileDataTable ON FileId = Id"):
            if data:  # as qCompress() makes it: the size, and a zlib stream
                pages[name] = zlib.decompress(data[4:]).decode("utf-8")
        contents += "".join(data.decode("utf-16-be", "replace") for data, in database.execute("SELECT Data FROM ContentsTable"))

shown = 0
for path in sorted((source / "xml").glob("*.xml")):
    for group, inside in re.findall(r'<ProxyGroup name="(\w+)">(.*?)</ProxyGroup>', path.read_text(encoding="utf-8"), re.S):
        for name in re.findall(r'^    <(?:Source|Writer)Proxy\s+name="(\w+)"', inside, re.M):
            page = f"{group.replace('_', '_u')}.{name}.html"
            assert page in pages, f"{path.name}: {page} is missing"
            if group.startswith("internal"):
                assert page not in contents, f"{page} is in the table of contents"
                assert "<table" not in pages[page], f"{page} lists properties"
                assert re.search(r'href="(sources|filters|writers)\.\w+\.html"', pages[page]), f"{page} names no page for users"
            else:
                shown += page in contents
assert "internal" not in contents
assert shown == contents.count(".html") > 5, (shown, contents)
print("ok:", len(pages), "pages,", shown, "in the tables of contents")
