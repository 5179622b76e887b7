# SPDX-License-Identifier: BSD-3-Clause
"""Fails if an include goes up or sideways between floors, if a file includes what its folder must
not know, if CONTRIBUTING.md draws other floors, or if a public header does not compile alone.

Usage: check_layering.py SOURCE_DIR CXX GENERATED_INCLUDE_DIR
       check_layering.py --draw SOURCE_DIR      prints the floors with the existing includes
       check_layering.py --write SOURCE_DIR     writes the floors to CONTRIBUTING.md
"""

import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)
SOURCES = (".hpp", ".cpp", ".h", ".cxx", ".c")

MPI = r"^mpi\.h$"
VTK = r"^(vtk|pq|Q[A-Z])"
LIBRARIES = r"^(tbb/|nlohmann|fmt/|xxhash|CLI/|zlib|lz4)"
OWN_PRIVATE = r"^(common|codec|series|parallel|particles/(format|tree|query|write|plan|dataset|validate|repack|tracks|parallel)|idx/(format|read|write|parallel)|bricks/(format|read|write)|flow/(cache|hints|schedule|products|walk)|insitu|libbat)/"

# A folder, and what no file below it may include, regardless of the floors.
FORBIDDEN = [
    ("core", VTK),
    ("core/(common|codec|series)", MPI),
    ("core/particles/[^p]", MPI),
    ("core/particles/plan", MPI),
    ("core/libbat/[^a]", MPI),
    ("core/idx/(include|format|read|write)", MPI),
    ("core/bricks/(include|format|read|write)", MPI),
    # Only brick sources: traces know no file except that of hints.
    ("core/flow", MPI + r"|^bat/(idx|bricks)/|^(idx|bricks)/|^(nlohmann|lz4)"),
    ("core/flow/(include|cache|schedule|products|walk)", r"^xxhash"),
    ("core/bricks/(read|write)", r"^(lz4|xxhash)"),
    # Zlib and LZ4 are used through one interface.
    ("core/idx/(read|write)", r"^(zlib|lz4)"),
    # Parallel code builds on writing, planning and datasets, not on bytes and trees.
    ("core/particles/parallel", r"^particles/(format|tree|query|validate|repack|tracks)/"),
    ("core/tools", MPI + "|" + OWN_PRIVATE),
    ("core/(common|series|parallel|particles|particles/parallel|idx|idx/parallel|bricks|bricks/parallel|flow|insitu|capi|libbat/api)/include", LIBRARIES),
    ("core/examples", LIBRARIES),
    # The C API and the adaptor build on the public interface; the adaptor calls MPI in one file.
    ("core/(capi|libbat/api)", r"^(tbb/|nlohmann|xxhash|CLI/)|" + OWN_PRIVATE),
    ("catalyst_adaptor", VTK + "|" + MPI + r"|^(tbb/|xxhash|CLI/)|" + OWN_PRIVATE),
    ("(reader|writer)_plugin", MPI + "|" + OWN_PRIVATE),
    # Series are JSON and steps: they only know the public interface to particles.
    ("core/insitu", r"^(tbb/|particles/(format|tree|query|write|plan|dataset|validate|repack|tracks)/)"),
]

# A file that may include what its folder may not.
ALLOWED = {("catalyst_adaptor/src/communicator.cpp", "mpi.h"),
           # A simulation.
           ("catalyst_adaptor/examples/vortex/vortex.cpp", "mpi.h"),
           # Bounds that ranks declare are in the metadata, which is JSON.
           ("core/libbat/api/bat_io.cpp", "nlohmann/json.hpp")}


def read_floors(source):
    """Returns {folder: (floor, what it knows)} and the arrows {(from, to)} that are allowed in addition to those that
    go down."""
    floors, arrows = {}, set()
    for line in (source / "testing/support/floors.txt").read_text().splitlines():
        words = line.split("#")[0].split(None, 2)
        if not words:
            continue
        if words[1] == "->":
            arrows.add((words[0], words[2].strip()))
        else:
            floors[words[1]] = (float(words[0]), words[2] if len(words) > 2 else "")
    return floors, arrows


def folder_of(path, floors):
    """Returns the deepest folder of the table that contains the path."""
    parts = path.split("/")
    return next((folder for folder in ("/".join(parts[:i]) for i in range(len(parts) - 1, 0, -1)) if folder in floors), None)


def files_below(source, folders):
    for folder in sorted({folder.split("/")[0] for folder in folders}):
        for path in sorted((source / folder).rglob("*")):
            if path.suffix in SOURCES:
                yield path.relative_to(source).as_posix()


def resolver(source, files):
    """Returns a function that finds the project file to which a file's include refers, or None."""
    roots = ["core"] + sorted({f.split("/include/")[0] + "/include" for f in files if "/include/" in f})
    by_name = collections.defaultdict(list)
    for f in files:
        by_name[os.path.basename(f)].append(f)
    known = set(files)

    def resolve(file, name):
        for root in [os.path.dirname(file)] + roots:
            candidate = os.path.normpath(os.path.join(root, name))
            if candidate in known:
                return candidate
        # CMake gives modules of the plugins each other's folders.
        same_tree = [f for f in by_name.get(name, []) if f.split("/")[0] == file.split("/")[0]]
        anywhere = same_tree or ([] if file.startswith("core/") else by_name.get(name, []))
        return anywhere[0] if len(anywhere) == 1 else None
    return resolve


def arrows_between(source, floors):
    """Yields (from folder, to folder, file, include) of each include that leaves its folder."""
    files = list(files_below(source, floors))
    resolve = resolver(source, files)
    for file in files:
        here = folder_of(file, floors)
        for name in INCLUDE.findall((source / file).read_text()):
            target = resolve(file, name)
            there = target and folder_of(target, floors)
            if here and there and here != there:
                yield here, there, file, name


def check_floors(source):
    floors, allowed = read_floors(source)
    files = list(files_below(source, floors))
    for file in files:
        if folder_of(file, floors) is None:
            yield f"{file} is in no folder of testing/support/floors.txt"
    for folder in floors:
        if not any(folder_of(file, floors) == folder for file in files):
            yield f"testing/support/floors.txt has {folder}, where there is no file"
    used = set()
    for here, there, file, name in arrows_between(source, floors):
        if (here, there) in allowed:
            used.add((here, there))
        elif floors[there][0] >= floors[here][0]:
            yield f"{file} includes {name}: from {here} (floor {floors[here][0]:g}) to {there} (floor {floors[there][0]:g})"
    for here, there in sorted(allowed - used):
        yield f"testing/support/floors.txt allows {here} -> {there}, which nothing uses"


def check_circles(source):
    """A header and its source are one unit; units include each other in one direction only."""
    files = list(files_below(source, read_floors(source)[0]))
    resolve = resolver(source, files)
    unit = lambda file: os.path.splitext(file.replace("/include/bat/", "/"))[0]
    below = collections.defaultdict(set)
    for file in files:
        for name in INCLUDE.findall((source / file).read_text()):
            target = resolve(file, name)
            if target and unit(target) != unit(file):
                below[unit(file)].add(unit(target))

    def path_to(start):
        """Returns the shortest path from a unit back to itself, or None."""
        ways = collections.deque([[start]])
        seen = set()
        while ways:
            way = ways.popleft()
            for there in sorted(below[way[-1]]):
                if there == start:
                    return way
                if there not in seen:
                    seen.add(there)
                    ways.append(way + [there])
        return None

    reported = set()
    for start in sorted(below):
        way = path_to(start)
        if way and not reported & set(way):
            reported |= set(way)
            yield "a circle: " + " -> ".join(way + [start])


def check_forbidden(source):
    for folder, forbidden in FORBIDDEN:
        inside, pattern, checked = re.compile(folder), re.compile(forbidden), 0
        for file in files_below(source, ["core", "catalyst_adaptor", "reader_plugin", "writer_plugin"]):
            if not inside.match(file):
                continue
            checked += 1
            for name in INCLUDE.findall((source / file).read_text()):
                if pattern.match(name) and (file, name) not in ALLOWED:
                    yield f"{file} includes {name}"
        if checked == 0:
            yield f"no file was checked in {folder}"


def check_headers_alone(source, cxx, generated):
    includes = [source / "catalyst_adaptor/include", *sorted(source.glob("core/**/include"))]
    with tempfile.TemporaryDirectory() as folder:
        def problem_of(header, compiler, flags, suffix):
            unit = pathlib.Path(folder) / f"alone{suffix}"
            unit.write_text(f'#include "{header}"\n')
            command = [*compiler, "-fsyntax-only", "-Wall", "-Wextra", "-Werror", *flags,
                       *(f"-I{include}" for include in includes), f"-I{generated}", str(unit)]
            result = subprocess.run(command, capture_output=True, text=True)
            if result.returncode != 0:
                return f"{header} does not compile alone as {suffix}:\n{result.stderr}"
            return None

        def problems():
            for path in (path for include in includes for path in sorted(include.rglob("*.h*"))):
                header = path.relative_to(next(i for i in includes if i in path.parents))
                # Headers that name MPI's types need more than this compiler.
                if path.suffix == ".in" or needs_mpi(path):
                    continue
                if path.suffix == ".h":
                    yield problem_of(header, [cxx, "-x", "c"], ["-std=c99", "-Wpedantic"], ".c")
                yield problem_of(header, [cxx], ["-std=c++17", "-Wpedantic"], ".cpp")

        def needs_mpi(path):
            names = INCLUDE.findall(path.read_text())
            found = [i / name for name in names for i in includes if (i / name).exists()]
            return "mpi.h" in names or any(needs_mpi(f) for f in found)

        yield from filter(None, problems())


def draw(source):
    floors, allowed = read_floors(source)
    found = collections.defaultdict(collections.Counter)
    for here, there, _, _ in arrows_between(source, floors):
        found[here][there] += 1
    for folder, (floor, knows) in sorted(floors.items(), key=lambda f: (-f[1][0], f[0])):
        print(f"{floor:4g}  {folder:30} {knows}")
        for there in sorted(found[folder], key=lambda f: (-floors[f][0], f)):
            mark = "  (allowed)" if (folder, there) in allowed else ""
            print(f"      {'':4}-> {there} {found[folder][there]}{mark}")


def drawing_of(source):
    """Returns the floors from the top down, one per line, as CONTRIBUTING.md shows them."""
    rooms = collections.defaultdict(list)
    for folder, (floor, _) in read_floors(source)[0].items():
        rooms[floor].append(folder)
    lines = ["```"]
    for floor, folders in sorted(rooms.items(), reverse=True):
        lines += textwrap.wrap("  ".join(sorted(folders)), width=100, initial_indent=f"{floor:<6g}", subsequent_indent=" " * 6,
                               break_long_words=False, break_on_hyphens=False)
    return "\n".join([*lines, "```"])


def with_drawing(source):
    """Returns CONTRIBUTING.md as it should be."""
    text = (source / "CONTRIBUTING.md").read_text()
    begin, end = "<!-- floors: check_layering.py --write -->\n", "\n<!-- end of floors -->"
    before, rest = text.split(begin)
    return before + begin + drawing_of(source) + end + rest.split(end)[1]


def check_drawing(source):
    if (source / "CONTRIBUTING.md").read_text() != with_drawing(source):
        yield "CONTRIBUTING.md draws other floors than testing/support/floors.txt has: python3 testing/support/check_layering.py --write ."


def main():
    if sys.argv[1] == "--draw":
        draw(pathlib.Path(sys.argv[2]))
        return 0
    if sys.argv[1] == "--write":
        source = pathlib.Path(sys.argv[2])
        (source / "CONTRIBUTING.md").write_text(with_drawing(source))
        return 0
    source, compiler, generated = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    problems = [*check_floors(source), *check_circles(source), *check_forbidden(source), *check_drawing(source),
                *check_headers_alone(source, compiler, generated)]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
