# SPDX-License-Identifier: BSD-3-Clause
"""Fails if C++ is not formatted by clang-format, if a source file does not state its purpose or its license, if a link
in a Markdown file leads nowhere, if a manual's picture is large or unused, if a test is not named like
Suite.words_with_underscores, or if a file does not include the headers of fmt and of the standard library that it uses.

Usage: check_style.py SOURCE_DIR format|openings|licenses|links|names|help|pictures|includes
Ends with 77 if clang-format 14 is not installed.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
from xml.etree import ElementTree

SKIPPED = 77
CXX = (".cpp", ".hpp", ".cxx", ".h", ".c")
HASHED = (".py", ".sh", ".cmake", "CMakeLists.txt", "postinst", "prerm", ".ci/run")  # their comments begin with #
FORTRAN = (".f90", ".inc")
SPDX = "SPDX-License-Identifier: BSD-3-Clause"
VERSION = "14."  # others break lines differently
TEST = re.compile(r"^TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)", re.M)
CODE = re.compile(r"^```.*?^```|^    .*?$|`[^`\n]*`", re.M | re.S)
INCLUDE = re.compile(r'^#include [<"]([^>"]+)[>"]', re.M)
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
USED = re.compile(r"\b(fmt|std)::(\w+)")
# Header to names; the first header of a name is the one to include.
PROVIDED = {
    "algorithm": "adjacent_find all_of any_of binary_search clamp copy copy_if copy_n count_if equal equal_range fill fill_n find find_if "
                 "for_each generate includes is_sorted lower_bound max max_element merge min min_element minmax minmax_element mismatch "
                 "none_of nth_element partial_sort partition partition_point remove remove_if replace reverse rotate set_difference "
                 "set_intersection set_union shuffle sort stable_partition stable_sort transform unique upper_bound",
    "array": "array", "atomic": "atomic atomic_thread_fence memory_order_relaxed", "bitset": "bitset",
    "charconv": "from_chars to_chars", "chrono": "chrono",
    "cmath": "abs ceil cos exp exp2 fabs floor fmod hypot isfinite isinf isnan log log2 lround nextafter pow round signbit sin sqrt trunc",
    "condition_variable": "condition_variable", "cstdint": "int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t uintptr_t",
    "cstdio": "fclose fflush fopen fprintf fputs fread FILE fwrite printf snprintf", "cstdlib": "exit free getenv malloc strtod",
    "cstring": "memcmp memcpy memmove memset strcmp strerror strlen", "deque": "deque",
    "exception": "current_exception exception exception_ptr make_exception_ptr rethrow_exception terminate uncaught_exceptions",
    "filesystem": "filesystem", "fstream": "ifstream ofstream", "functional": "function greater less ref reference_wrapper",
    "future": "async future promise", "initializer_list": "initializer_list", "iostream": "cerr cin cout",
    "iterator": "advance back_inserter distance inserter istreambuf_iterator make_move_iterator next ostream_iterator prev",
    "limits": "numeric_limits", "list": "list", "map": "map multimap",
    "memory": "enable_shared_from_this make_shared make_unique shared_ptr static_pointer_cast unique_ptr weak_ptr",
    "mutex": "call_once lock_guard mutex once_flag recursive_mutex scoped_lock unique_lock", "new": "bad_alloc",
    "numeric": "accumulate exclusive_scan gcd iota partial_sum reduce", "optional": "nullopt nullopt_t optional",
    "queue": "priority_queue queue", "random": "mt19937 mt19937_64 uniform_int_distribution uniform_real_distribution",
    "regex": "regex regex_match regex_replace regex_search smatch", "set": "multiset set", "shared_mutex": "shared_lock shared_mutex",
    "sstream": "istringstream ostringstream stringstream",
    "stdexcept": "invalid_argument length_error logic_error out_of_range runtime_error", "string": "getline stod stoi stoll stoull string to_string",
    "string_view": "string_view", "system_error": "error_code errc generic_category system_category system_error", "thread": "this_thread thread",
    "tuple": "forward_as_tuple make_tuple tie tuple",
    "type_traits": "conditional_t decay_t enable_if_t false_type integral_constant invoke_result_t is_arithmetic_v is_const_v is_enum_v "
                   "is_floating_point_v is_integral_v is_same_v is_signed_v is_trivially_copyable_v is_unsigned_v is_void_v make_signed_t "
                   "make_unsigned_t remove_const_t remove_cv_t remove_reference_t true_type underlying_type_t void_t",
    "unordered_map": "unordered_map unordered_multimap", "unordered_set": "unordered_set", "variant": "get_if holds_alternative monostate variant visit",
    "vector": "vector",
}
ALSO = {"abs": ("cstdlib",), "initializer_list": ("map", "set", "string", "unordered_map", "vector"), "string_view": ("string",), "remove": ("cstdio",)}  # other headers that a standard says bring a name
HEADERS = {"fmt": {"join": ("fmt/ranges.h",)}, "std": {
    name: (header, *ALSO.get(name, ())) for header, names in PROVIDED.items() for name in names.split()}}  # other names of fmt: fmt/format.h
MAX_PICTURE = 360 * 1024  # bytes
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
    """Files that state their license; configure_file() creates some from files that end in .in."""
    plain = CXX + HASHED + FORTRAN
    yield from files(source, plain + tuple(ending + ".in" for ending in plain))
    yield source / ".ci" / "run"


def license_of(path, text):
    """The comment that states it, without the end of the line."""
    name = path.as_posix()
    name = name[:-3] if name.endswith(".in") else name
    if name.endswith(HASHED):
        return f"# {SPDX}"
    if name.endswith(FORTRAN):
        return f"! {SPDX}"
    return f"/* {SPDX} */" if text.startswith("/*") or name.endswith(".c") else f"// {SPDX}"


def license_line(path, text):
    """The line that states a file's license: its first, after a #! the second; else ""."""
    lines = text.split("\n", 2)[:2]
    line = lines[1] if lines[0].startswith("#!") and len(lines) > 1 else lines[0]
    return line + "\n" if line == license_of(path, text) else ""


def check_licenses(source):
    for path in sources(source):
        text = path.read_text()
        if not license_line(path, text):
            yield f"{path.relative_to(source)} does not begin with: {license_of(path, text)}"


def check_openings(source):
    """A file must begin with a comment, or with its own header, which does."""
    for path in files(source, CXX):
        text = path.read_text()
        first = text[len(license_line(path, text)):].split("\n", 1)[0]
        own = re.match(r'#include "(?:.*/)?' + re.escape(path.stem) + r'\.h', first)
        if not first.startswith(("//", "/*")) and not own:
            yield f"{path.relative_to(source)} does not say what it is for"


def anchors(path):
    """The anchors of its headings as Markdown viewers create them: lower case, without punctuation, with - for
    spaces."""
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


def check_pictures(source):
    """A manual's picture must be small and shown by a page. Pictures for tests are elsewhere."""
    shown = {(path.parent / link).resolve() for path in files(source, (".md",))
             for link in [*LINK.findall(path.read_text()), *re.findall(r'<img src="([^"]+)"', path.read_text())]}
    for path in files(source, (".png",)):
        if path.parent.name == "baselines" or path.is_relative_to(source / "testing" / "web"):
            continue
        name, size = path.relative_to(source), path.stat().st_size
        if path.resolve() not in shown:
            yield f"{name} is shown by no page"
        if size > MAX_PICTURE:
            yield f"{name} has {size:,} bytes; at most {MAX_PICTURE:,} (testing/support/small_picture.py)"


def check_includes(source):
    """A file must include, itself or in included project headers, what it uses of fmt and of the standard library:
    releases of both differ in which of their headers include which others."""
    texts = {path: path.read_text() for path in files(source, CXX)}
    by_name = {}
    for path in texts:
        by_name.setdefault(path.name, []).append(path)
    reached = {}

    def headers(path):
        if path not in reached:
            reached[path] = found = set()
            for name in INCLUDE.findall(texts[path]):
                found.add(name)
                for other in by_name.get(name.rsplit("/", 1)[-1], ()):
                    if other.as_posix().endswith("/" + name.replace("../", "")):
                        found |= headers(other)
        return reached[path]

    for path, text in texts.items():
        for space, name in sorted(set(USED.findall(COMMENT.sub("", text)))):
            allowed = HEADERS[space].get(name, ("fmt/format.h",) if space == "fmt" else ())
            if allowed and not headers(path).intersection(allowed):
                yield f"{path.relative_to(source)} uses {space}::{name} and does not include <{allowed[0]}>"


def check_names(source):
    for path in files(source / "testing", (".cpp", ".cxx")):
        for suite, name in TEST.findall(path.read_text()):
            if not re.fullmatch(r"[A-Z][A-Za-z0-9]*", suite) or not re.fullmatch(r"[a-z0-9_]+", name):
                yield f"{path.relative_to(source)}: {suite}.{name} is not named like Suite.words_with_underscores"


def check_help(source):
    """Pages of ParaView's Help: each internal proxy has one that replaces ParaView's generated list of its properties,
    and no page and no tooltip contains names from the code. Lists typed in a panel are in a group, which has a
    label."""
    internal = re.compile(r"InvokeCommand|\b[A-Z]\w*(?:Core|Base)\b|PassArrays|MaximumParticles|\bLoadMore\b")
    pages = {path.stem: path for path in source.glob("*_plugin/help/*.html")}
    for path in sorted((source / "xml").glob("*.xml")):
        text = path.read_text()
        for group, inside in re.findall(r'<ProxyGroup name="(internal_\w+)">(.*?)</ProxyGroup>', text, re.S):
            for name in re.findall(r'<(?:Source|Writer)Proxy name="(\w+)"', inside):
                page = group.replace("_", "_u") + "." + name
                if page not in pages:
                    yield f"{path.relative_to(source)}: {name} has no page {page}.html in a help folder"
        for reported in re.findall(r"<Documentation[^>]*>(.*?)</Documentation>", text, re.S):
            for name in internal.findall(reported):
                yield f"{path.relative_to(source)}: a tooltip says {name}"
        root = ElementTree.fromstring(text)
        grouped = {one.get("name") for group in root.iter("PropertyGroup") for one in group.iter("Property")}
        for one in root.iter():
            typed = one.get("repeat_command") == "1" and not {"panel_widget", "information_property"} & set(one.keys())
            hidden = one.get("panel_visibility") == "never" or one.find("FileListDomain") is not None
            if typed and not hidden and one.get("name") not in grouped:
                yield f"{path.relative_to(source)}: the list {one.get('name')} has no label, which is that of a PropertyGroup"
    for path in pages.values():
        body = re.sub(r"<pre>.*?</pre>|<[^>]*>", "", re.search(r"<title>.*", path.read_text(), re.S).group(), flags=re.S)
        for name in internal.findall(body):
            yield f"{path.relative_to(source)} says {name}"


def main():
    source = pathlib.Path(sys.argv[1]).resolve()
    checks = {"format": check_format, "openings": check_openings, "licenses": check_licenses, "links": check_links, "names": check_names,
              "help": check_help, "pictures": check_pictures, "includes": check_includes}
    problems = list(checks[sys.argv[2]](source))
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
