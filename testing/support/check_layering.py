"""Fails if a file includes what its layer must not know, or if a public header does not compile alone.

Usage: check_layering.py SOURCE_DIR CXX GENERATED_INCLUDE_DIR
"""

import pathlib
import re
import subprocess
import sys
import tempfile

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)

# Folder, and what no file below it may include.
RULES = [
    ("core/include", r"^(vtk|pq|Q[A-Z]|mpi\.h|tbb/|nlohmann|fmt/|xxhash|CLI/)"),
    ("core/src", r"^(vtk|pq|Q[A-Z]|mpi\.h)"),
    ("core/tools", r"^(vtk|pq|Q[A-Z]|mpi\.h|format/|build/|query/|io/|plan/|file_impl)"),
    ("reader_plugin", r"^(mpi\.h|format/|build/|query/|io/|file_impl|levels\.hpp|bins\.hpp)"),
    ("writer_plugin", r"^(mpi\.h|format/|build/|query/|io/|file_impl|levels\.hpp|bins\.hpp)"),
    # Bytes of a file are decoded in one place: queries see records, never offsets.
    ("core/src/build", r"^(query/|file_impl)"),
    ("core/src/format", r"^(query/|build/|file_impl)"),
    # A plan is a pure function of a summary.
    ("core/src/plan", r"^(query/|build/|format/|io/|file_impl)"),
    ("core/src/io", r"^(query/|build/|format/|file_impl)"),
]


def check_includes(source):
    checked = 0
    for folder, forbidden in RULES:
        pattern = re.compile(forbidden)
        for path in sorted((source / folder).rglob("*")):
            if path.suffix not in (".hpp", ".cpp", ".h", ".cxx"):
                continue
            checked += 1
            for name in INCLUDE.findall(path.read_text()):
                if pattern.match(name):
                    yield f"{path.relative_to(source)} includes {name}"
    if checked == 0:
        yield "no file was checked"


def check_headers_alone(source, compiler, generated):
    include = source / "core/include"
    with tempfile.TemporaryDirectory() as folder:
        for header in sorted(include.rglob("*.hpp")):
            unit = pathlib.Path(folder) / "alone.cpp"
            unit.write_text(f'#include "{header.relative_to(include)}"\n')
            command = [compiler, "-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Werror",
                       f"-I{include}", f"-I{generated}", str(unit)]
            result = subprocess.run(command, capture_output=True, text=True)
            if result.returncode != 0:
                yield f"{header.relative_to(source)} does not compile alone:\n{result.stderr}"


def main():
    source, compiler, generated = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    problems = list(check_includes(source)) + list(check_headers_alone(source, compiler, generated))
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
