# SPDX-License-Identifier: BSD-3-Clause
"""Fails if C++ is not as clang-format makes it, if a source file does not say what it is for or under which license it is, if a link in a Markdown file leads nowhere,
if a test is not named like Suite.words_with_underscores, or if a file does not include the headers of fmt that it uses.

Usage: check_style.py SOURCE_DIR format|openings|licenses|links|names|help|includes
Ends with 77 if clang-format 14 is not installed.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

SKIPPED = 77
CXX = (".cpp", ".hpp", ".cxx", ".h", ".c")
HASHED = (".py", ".sh", ".cmake", "CMakeLists.txt", "postinst", "prerm", ".ci/run")  # whose comments begin with #
SPDX = "SPDX-License-Identifier: BSD-3-Clause"
VERSION = "14."  # others break lines elsewhere
TEST = re.compile(r"^TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)", re.M)
CODE = re.compile(r"^```.*?^```|^    .*?$|`[^`\n]*`", re.M | re.S)
INCLUDE = re.compile(r'^#include [<"]([^>"]+)[>"]', re.M)
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
FMT = re.compile(r"\bfmt::(\w+)")
FMT_HEADERS = {"join": "fmt/ranges.h", "streamed": "fmt/ostream.h"}  # others: fmt/format.h
LINK = re.compile(r"\]\(([^)\s]+)\)")


def files(source, suffixes):
    """Yields the files of the project, without build folders."""
    for folder, below, names in os.walk(source):
        below[:] = sorted(d for d in below if not d.startswith((".", "build")) and d not in ("node_modules", "dist") and not (d == "found" and "fuzz" in folder))
        for name in sorted(names):
            if name.endswith(suffixes):
                yield pathlib.Path(folder, name)


def check_format(source):
    program = shutil.which("clang-format-14") or shutil.which("clang-format")
    if not program or f"version {VERSION}" not in subprocess.run([program, "--version"], capture_output=True, text=True).stdout:
        print(f"skipped: clang-format {VERSION}x is not installed")
        sys.exit(SKIPPED)
    found = subprocess.run([program, "--dry-run", *map(str, files(source, CXX))], capture_output=True, text=True)
    yield from sorted({line.split(":")[0] + " is not as clang-format makes it" for line in found.stderr.splitlines()
                       if "warning: code should be clang-formatted" in line})
    if found.returncode != 0:
        yield found.stderr


def sources(source):
    """Files that say under which license they are; configure_file() makes some, of what ends in .in."""
    plain = CXX + HASHED + (".f90",)
    yield from files(source, plain + tuple(ending + ".in" for ending in plain))
    yield source / ".ci" / "run"


def license_of(path, text):
    """The comment that says it, without the end of the line."""
    name = path.as_posix()
    name = name[:-3] if name.endswith(".in") else name
    if name.endswith(HASHED):
        return f"# {SPDX}"
    if name.endswith(".f90"):
        return f"! {SPDX}"
    return f"/* {SPDX} */" if text.startswith("/*") or name.endswith(".c") else f"// {SPDX}"


def license_line(path, text):
    """The line that says under which license a file is: its first, after a #! the second; else ""."""
    lines = text.split("\n", 2)[:2]
    line = lines[1] if lines[0].startswith("#!") and len(lines) > 1 else lines[0]
    return line + "\n" if line == license_of(path, text) else ""


def check_licenses(source):
    for path in sources(source):
        text = path.read_text()
        if not license_line(path, text):
            yield f"{path.relative_to(source)} does not begin with: {license_of(path, text)}"


def check_openings(source):
    """A file begins with a comment, or with the header of its name, which does."""
    for path in files(source, CXX):
        text = path.read_text()
        first = text[len(license_line(path, text)):].split("\n", 1)[0]
        own = re.match(r'#include "(?:.*/)?' + re.escape(path.stem) + r'\.h', first)
        if not first.startswith(("//", "/*")) and not own:
            yield f"{path.relative_to(source)} does not say what it is for"


def anchors(path):
    """The anchors that its headings have where Markdown is shown: lower case, without punctuation, with - for spaces."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```", "", path.read_text(), flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def check_links(source):
    for path in files(source, (".md",)):
        for link in LINK.findall(CODE.sub("", path.read_text())):
            if ":" in link:
                continue
            target, _, anchor = link.partition("#")
            aim = path.parent / target if target else path
            if not aim.exists():
                yield f"{path.relative_to(source)} links to {link}, which is not there"
            elif anchor and aim.suffix == ".md" and anchor not in anchors(aim):
                yield f"{path.relative_to(source)} links to {link}, where no such heading is"


def included(path):
    """The headers that a file includes, by itself or by the header of its own name."""
    headers = set()
    for source in {path, *path.parent.glob(path.stem + ".h*")}:
        headers.update(INCLUDE.findall(source.read_text()))
    return headers


def check_includes(source):
    """Releases of fmt differ in which of its headers include which others."""
    for path in files(source, CXX):
        code = COMMENT.sub("", path.read_text())
        used = set(FMT.findall(code))
        headers = included(path) if used else set()
        for name in sorted(used):
            header = FMT_HEADERS.get(name, "fmt/format.h")
            if header not in headers:
                yield f"{path.relative_to(source)} uses fmt::{name} and does not include <{header}>"


def check_names(source):
    for path in files(source / "testing", (".cpp", ".cxx")):
        for suite, name in TEST.findall(path.read_text()):
            if not re.fullmatch(r"[A-Z][A-Za-z0-9]*", suite) or not re.fullmatch(r"[a-z0-9_]+", name):
                yield f"{path.relative_to(source)}: {suite}.{name} is not named like Suite.words_with_underscores"


def check_help(source):
    """Pages of ParaView's Help: each internal proxy has one that takes the place of what ParaView would make of its
    properties, and no page and no tooltip names what only code knows."""
    internal = re.compile(r"InvokeCommand|\b[A-Z]\w*(?:Core|Base)\b|PassArrays|MaximumParticles|\bLoadMore\b")
    pages = {path.stem: path for path in source.glob("*_plugin/help/*.html")}
    for path in sorted((source / "xml").glob("*.xml")):
        text = path.read_text()
        for group, inside in re.findall(r'<ProxyGroup name="(internal_\w+)">(.*?)</ProxyGroup>', text, re.S):
            for name in re.findall(r'<(?:Source|Writer)Proxy name="(\w+)"', inside):
                page = group.replace("_", "_u") + "." + name
                if page not in pages:
                    yield f"{path.relative_to(source)}: {name} has no page {page}.html in a help folder"
        for told in re.findall(r"<Documentation[^>]*>(.*?)</Documentation>", text, re.S):
            for name in internal.findall(told):
                yield f"{path.relative_to(source)}: a tooltip says {name}"
    for path in pages.values():
        body = re.sub(r"<pre>.*?</pre>|<[^>]*>", "", re.search(r"<title>.*", path.read_text(), re.S).group(), flags=re.S)
        for name in internal.findall(body):
            yield f"{path.relative_to(source)} says {name}"


def main():
    source = pathlib.Path(sys.argv[1]).resolve()
    checks = {"format": check_format, "openings": check_openings, "licenses": check_licenses, "links": check_links, "names": check_names,
              "help": check_help, "includes": check_includes}
    problems = list(checks[sys.argv[2]](source))
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
