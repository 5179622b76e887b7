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
    # MPI is called in core/mpi, core/insitu and core/capi, and named in their headers.
    ("core/mpi", r"^(vtk|pq|Q[A-Z])"),
    ("core/mpi/include", r"^(tbb/|nlohmann|fmt/|xxhash|CLI/)"),
    ("core/insitu", r"^(vtk|pq|Q[A-Z]|tbb/|format/|build/|query/|plan/|dataset/|file_impl)"),
    ("core/insitu/include", r"^(nlohmann|fmt/)"),
    # The C API is made of what everybody may call.
    ("core/capi", r"^(vtk|pq|Q[A-Z]|tbb/|nlohmann|xxhash|CLI/|format/|build/|query/|io/|plan/|dataset/"
                  r"|file_impl|levels\.hpp|bins\.hpp|numbers\.hpp|agreement|comm\.hpp|exchange|schema)"),
    # The adaptor is made of what everybody may call, and calls MPI in one file.
    ("catalyst_adaptor", r"^(vtk|pq|Q[A-Z]|mpi\.h|tbb/|xxhash|CLI/|format/|build/|query/|io/|plan/|dataset/"
                         r"|file_impl|agreement|comm\.hpp|exchange|schema)"),
    # Examples know what is installed.
    ("core/examples", r"^(vtk|tbb/|nlohmann|fmt/|xxhash|CLI/)"),
    ("reader_plugin", r"^(mpi\.h|format/|build/|query/|io/|file_impl|levels\.hpp|bins\.hpp)"),
    ("writer_plugin", r"^(mpi\.h|format/|build/|query/|io/|file_impl|levels\.hpp|bins\.hpp)"),
    # Bytes of a file are decoded in one place: queries see records, never offsets.
    ("core/src/build", r"^(query/|file_impl)"),
    ("core/src/format", r"^(query/|build/|file_impl)"),
    # A plan is a pure function of a summary.
    ("core/src/plan", r"^(query/|build/|format/|io/|file_impl)"),
    ("core/src/io", r"^(query/|build/|format/|file_impl)"),
]

# A file that may include what its folder may not.
ALLOWED = {("catalyst_adaptor/src/communicator.cpp", "mpi.h"),
           # Bounds that ranks declare are in the metadata, which is JSON.
           ("core/capi/src/bat_io.cpp", "nlohmann/json.hpp")}


def check_includes(source):
    checked = 0
    for folder, forbidden in RULES:
        pattern = re.compile(forbidden)
        for path in sorted((source / folder).rglob("*")):
            if path.suffix not in (".hpp", ".cpp", ".h", ".cxx"):
                continue
            checked += 1
            relative = path.relative_to(source)
            for name in INCLUDE.findall(path.read_text()):
                if pattern.match(name) and (str(relative), name) not in ALLOWED:
                    yield f"{relative} includes {name}"
    if checked == 0:
        yield "no file was checked"


def check_headers_alone(source, cxx, generated):
    include = source / "core/include"
    with tempfile.TemporaryDirectory() as folder:
        def problem_of(header, compiler, flags, suffix):
            unit = pathlib.Path(folder) / f"alone{suffix}"
            unit.write_text(f'#include "{header}"\n')
            command = [*compiler, "-fsyntax-only", "-Wall", "-Wextra", "-Werror", *flags,
                       f"-I{include}", f"-I{generated}", str(unit)]
            result = subprocess.run(command, capture_output=True, text=True)
            if result.returncode != 0:
                return f"{header} does not compile alone as {suffix}:\n{result.stderr}"
            return None

        def problems():
            for header in sorted(include.rglob("*.hpp")):
                yield problem_of(header.relative_to(include), [cxx], ["-std=c++17"], ".cpp")
            headers = [h.relative_to(include) for h in sorted(include.rglob("*.h"))]
            # Without mpi.h: the compatibility header names no MPI type.
            mpi_include = source / "core/mpi/include"
            headers.append(mpi_include / "bat_io.h")
            headers.append(source / "catalyst_adaptor/include/bat/catalyst_bat.h")
            for header in headers:
                yield problem_of(header, [cxx, "-x", "c"], ["-std=c99", "-Wpedantic"], ".c")
                yield problem_of(header, [cxx], ["-std=c++17", "-Wpedantic"], ".cpp")

        yield from filter(None, problems())


def main():
    source, compiler, generated = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    problems = list(check_includes(source)) + list(check_headers_alone(source, compiler, generated))
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
