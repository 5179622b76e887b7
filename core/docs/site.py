# SPDX-License-Identifier: BSD-3-Clause
"""Builds the documentation site from the Markdown in this repository, the docstrings of parabat and the public headers.

    python3 core/docs/site.py build/docs         build/docs/site/index.html is the first page
    python3 core/docs/site.py build/docs --serve  and shows it on this machine

Installs MkDocs from PyPI into OUT/venv, and exits with 77 if that fails. Broken links are errors. Needs numpy to run
`parabat --help`.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import venv

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
CANNOT_INSTALL = 77
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
CODE = re.compile(r"(^```.*?^```[^\n]*|^    [^\n]*$|`[^`\n]+`)", re.M | re.S)

# Title and file of each page, or the pages of a chapter. The first is the first page of the site.
PAGES = [
    ("Start here", "README.md"),
    ("ParaView", [
        ("Reader", "reader_plugin/README.md"),
        ("Writer and converter", "writer_plugin/README.md"),
        ("Plugin in Python", "reader_plugin/python/README.md"),
    ]),
    ("Python", [
        ("parabat", "core/python/README.md"),
        ("Converting", "core/python/parabat/convert/README.md"),
        ("Command line", "command.md"),
        ("Reference", "python.md"),
    ]),
    ("Simulations", [
        ("While it runs", "core/insitu/INSITU.md"),
        ("C, Fortran, Python", "core/capi/README.md"),
        ("Catalyst 2", "catalyst_adaptor/README.md"),
        ("LAMMPS", "catalyst_adaptor/examples/lammps/README.md"),
        ("Ascent", "catalyst_adaptor/examples/ascent/README.md"),
        ("Many ranks", "core/particles/parallel/MPI.md"),
    ]),
    ("Format", "core/particles/FORMAT.md"),
    ("The .idx format", "core/idx/IDX.md"),
    ("The .bricks format", "core/bricks/BRICKS.md"),
    ("How it works", [
        ("The tree", "core/particles/DESIGN.md"),
        ("The reader", "reader_plugin/DESIGN.md"),
        ("Glossary", "core/GLOSSARY.md"),
        ("Results", "testing/bench/RESULTS.md"),
        ("Benchmarks", "testing/bench/README.md"),
    ]),
    ("Headers", [
        ("C", "headers_c.md"),
        ("C++", "headers_cxx.md"),
    ]),
    ("Taking part", [
        ("Contributing", "CONTRIBUTING.md"),
        ("Rooms", "core/README.md"),
        ("The room particles", "core/particles/README.md"),
        ("The room parallel", "core/parallel/README.md"),
        ("Tests", "testing/README.md"),
        ("Changes", "CHANGELOG.md"),
    ]),
]
HEADERS = {
    "headers_c.md": ("The C API", "c", ["core/capi/include/bat/*.h", "core/libbat/api/include/bat_io.h"]),
    "headers_cxx.md": ("The C++ library", "cpp", ["core/particles/include/bat/*.hpp", "core/common/include/bat/*.hpp", "core/series/include/bat/*.hpp",
                                                  "core/parallel/include/bat/*.hpp",
                                                  "core/particles/parallel/include/bat/*.hpp",
                                                  "core/insitu/include/bat/*.hpp"]),
}
PYTHON = """# parabat

::: parabat
    options:
      show_root_heading: false
      show_source: false
      members_order: source
      show_signature_annotations: true
      separate_signature: true
      docstring_style: null
"""


def command_page():
    """Returns a page with the help texts of `parabat` and of its verbs."""
    environment = dict(os.environ, PYTHONPATH=str(SOURCE / "core/python"), COLUMNS="96")

    def help_of(*words):
        return subprocess.run([sys.executable, "-m", "parabat", *words, "--help"], env=environment, check=True,
                              capture_output=True, text=True).stdout.rstrip()

    whole = help_of()
    verbs = re.findall(r"^    ([a-z]+)\b", whole.split("VERB\n", 1)[1], re.M)
    pages = [f"## {verb}\n\n```\n{help_of(verb)}\n```\n" for verb in verbs]
    return "\n".join(["# parabat\n", f"```\n{whole}\n```\n", *pages])


def flat(pages):
    for title, entry in pages:
        if isinstance(entry, str):
            yield title, entry
        else:
            yield from flat(entry)


def page_of(file):
    """Where the page of a file is in the site: all in one folder, so that links stay short."""
    return "index.md" if file == "README.md" else file.replace("/README.md", ".md").replace("/", "_")


class Site:
    """The pages, links between which are made to lead to pages, and files that pages link to."""

    def __init__(self, pages):
        self.pages = pages
        self.known = {file for _, file in flat(PAGES) if file.endswith(".md")}

    def link(self, file, mark, text, target):
        if re.match(r"[a-z]+:", target) or target.startswith("#"):
            return f"{mark}[{text}]({target})"
        path, _, anchor = target.partition("#")
        aim = os.path.normpath(os.path.join(os.path.dirname(file), path))
        if not (SOURCE / aim).exists():
            raise SystemExit(f"error: {file} links to {target}, which is not there")
        if (SOURCE / aim).is_dir():
            aim = os.path.join(aim, "README.md")
        if aim in self.known:
            return f"{mark}[{text}]({page_of(aim)}{'#' + anchor if anchor else ''})"
        if not (SOURCE / aim).is_file():  # a folder without a page of its own
            return text if text.startswith("`") else f"`{text}`"
        copied = self.pages / "files" / aim
        if not copied.exists():
            copied.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(SOURCE / aim, copied)
        return f"{mark}[{text}](files/{aim})"

    def add(self, file):
        text = (SOURCE / file).read_text(encoding="utf-8")
        pieces = CODE.split(text)
        pieces[::2] = [LINK.sub(lambda found: self.link(file, *found.groups()), piece) for piece in pieces[::2]]
        (self.pages / page_of(file)).write_text("".join(pieces), encoding="utf-8")

    def add_headers(self, page):
        title, language, patterns = HEADERS[page]
        lines = [f"# {title}\n"]
        for pattern in patterns:
            for header in sorted(SOURCE.glob(pattern)):
                name = header.relative_to(header.parents[1] if header.parent.name == "bat" else header.parent)
                lines.append(f"## {name}\n\n```{language}\n{header.read_text(encoding='utf-8').rstrip()}\n```\n")
        (self.pages / page).write_text("\n".join(lines), encoding="utf-8")


def navigation(pages, indent):
    lines = []
    for title, entry in pages:
        if isinstance(entry, str):
            lines.append(f'{indent}- "{title}": {page_of(entry)}')
        else:
            lines += [f'{indent}- "{title}":', *navigation(entry, indent + "    ")]
    return lines


def install(folder):
    requested = (HERE / "requirements.txt").read_text()
    stamp = folder / "installed.txt"
    if not stamp.exists() or stamp.read_text() != requested:
        venv.create(folder, clear=True, with_pip=True)
        installed = subprocess.run([folder / "bin/pip", "install", "-q", "--disable-pip-version-check", "-r",
                                    HERE / "requirements.txt"], check=False)
        if installed.returncode != 0:
            raise SystemExit(CANNOT_INSTALL)
        stamp.write_text(requested)
    return folder / "bin/mkdocs"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path, help="the folder in which everything is made")
    parser.add_argument("--serve", action="store_true", help="show the site on this machine")
    options = parser.parse_args()
    out = options.out.resolve()
    pages = out / "pages"
    shutil.rmtree(pages, ignore_errors=True)
    pages.mkdir(parents=True)
    site = Site(pages)
    for _, file in flat(PAGES):
        if file in HEADERS:
            site.add_headers(file)
        elif file == "python.md":
            (pages / file).write_text(PYTHON, encoding="utf-8")
        elif file == "command.md":
            (pages / file).write_text(command_page(), encoding="utf-8")
        else:
            site.add(file)
    shutil.copy(HERE / "site.css", pages)
    settings = (HERE / "mkdocs.yml").read_text(encoding="utf-8").replace("SOURCE", str(SOURCE))
    (out / "mkdocs.yml").write_text(settings + "nav:\n" + "\n".join(navigation(PAGES, "  ")) + "\n", encoding="utf-8")
    program = install(out / "venv")
    # The theme's notice about its own future is not a warning about this site.
    environment = dict(os.environ, NO_MKDOCS_2_WARNING="1", DISABLE_MKDOCS_2_WARNING="true")
    command = [program, "serve" if options.serve else "build", "--strict", "--quiet", "--config-file", out / "mkdocs.yml"]
    status = subprocess.run(command, env=environment, check=False).returncode
    if status == 0 and not options.serve:
        print(out / "site" / "index.html")
    return status


if __name__ == "__main__":
    sys.exit(main())
