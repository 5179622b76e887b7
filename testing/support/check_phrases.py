# SPDX-License-Identifier: BSD-3-Clause
"""Fails if a message, label, tooltip or page contains a phrase that is not plain English. check_phrases.py SOURCE_DIR [--counts]

Strings of C, C++, Fortran, Python and TypeScript that have two words or more, texts of the ParaView XML, and the prose of Markdown
files. Comments and code in pages are not checked. phrases.txt lists the exceptions, one fragment a line. --counts prints how often
each phrase occurs in texts of programs and in pages, and does not fail.
"""

import pathlib
import re
import sys
from xml.etree import ElementTree

PHRASES = {
    "is no, are no": (r"(?<![Tt]here )\b(?:is|are|was|were) no (?!longer\b|more\b|such\b)(?!.{0,12}\bthan\b)\w+", "is not a"),
    "beside": (r"\b[Bb]eside\b", "next to, alongside, compared with"),
    "there, for existing": (r"\b(?:is|are|was|were) (?:already )?there\b|\bis there already\b|\bwhat (?:is|was) there\b|\bthere to\b", "exists, is available"),
    "told, says": (r"\b(?:is|are) told\b|\bis said\b|\btells? of\b|\bof which .{1,20} (?:is|are) told\b", "reports"),
    "looked at": (r"\blook(?:s|ed)? at\b|\bat a look\b", "checks, reads"),
    "go on": (r"\b(?:go|goes|going|went) on\b(?! to\b)|\bcarry on\b", "continue"),
    "nobody, somebody": (r"\b(?:nobody|somebody|whoever)\b", "name the actor"),
    "give up": (r"\b(?:gave|gives?|given)\b(?: \w+){0,3} up\b", "cancel"),
    "behind, for after": (r"\bbehind (?:it|them|the last|its|the value|the header|the first)\b", "after"),
    "most, least, for max": (r"\b[Mm]ost (?:MiB|bytes|particles (?:of|that)|threads of|error|files of)\b|\bthe least is\b|\bis the least\b", "maximum"),
    "room": (r"\bless room\b|\broom for\b|\btakes? (?:up )?(?:so much |as much |more |less )?room\b", "space"),
    "at once": (r"\bat once\b(?! or\b)", "immediately, together"),
    "of its own": (r"\bof (?:its|their|his|your|our) own\b", "its own"),
    "so many, as many": (r"\bso many\b|\bso old\b|\bso much\b", "this many"),
    "asked for": (r"\b(?:is|are|was|were) asked for\b", "requested"),
    "wanted": (r"\b(?:is|are) wanted\b", "requested"),
    "left over, left out": (r"\bleft over\b|\bwhat is left\b", "unused, remaining"),
    "which, after a semicolon": (r"; which \w+", "a new sentence"),
    "has to, have to": (r"\b(?:has|have) to (?:be|lie|end|have|increase)\b", "must"),
}
COMPILED = {name: re.compile(regex) for name, (regex, _) in PHRASES.items()}

CXX = re.compile(r'''//[^\n]*|/\*.*?\*/|R"(?P<d>[^()\\\s]{0,16})\(.*?\)(?P=d)"|"(?P<s>(?:[^"\\\n]|\\.)*)"|'(?:[^'\\\n]|\\.)+'|(?P<w>\s+)|\w+(?:'\w+)*|.''', re.S)
PYTHON = re.compile(r"""\#[^\n]*|[rRbBuUfF]{0,2}(?P<q>\"{3}|'{3})(?:[^\\]|\\.)*?(?P=q)|[rRbBuUfF]{0,2}"(?P<s>(?:[^"\\\n]|\\.)*)"|[rRbBuUfF]{0,2}'(?P<t>(?:[^'\\\n]|\\.)*)'|(?P<w>\s+)|\w+|.""", re.S)
SCRIPT = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?P<s>(?:[^"\\\n]|\\.)*)"|'(?:[^'\\\n]|\\.)*'|`(?P<t>(?:[^`\\]|\\.)*)`|(?P<w>\s+)|\w+|.""", re.S)
FORTRAN = re.compile(r"""![^\n]*|"(?P<s>[^"\n]*)"|'(?P<t>[^'\n]*)'|(?P<w>\s+)|\w+|.""", re.S)
LANGUAGES = {".cpp": CXX, ".hpp": CXX, ".cxx": CXX, ".h": CXX, ".c": CXX, ".py": PYTHON, ".ts": SCRIPT, ".mjs": SCRIPT, ".f90": FORTRAN, ".inc": FORTRAN}
PRODUCT = ("core", "reader_plugin", "writer_plugin", "catalyst_adaptor")
SKIPPED = ("build", "node_modules", "dist", ".git", "data")


def files(source):
    for path in sorted(source.rglob("*")):
        parts = path.relative_to(source).parts
        if path.is_file() and not any(part in SKIPPED or part.startswith((".", "build")) for part in parts):
            yield path, parts


def strings(text, language):
    """Yields line and text of each string; adjacent string literals are one."""
    joined, line = "", 0
    for found in language.finditer(text):
        parts = found.groupdict()
        piece = parts.get("s") if parts.get("s") is not None else parts.get("t")
        if piece is not None:
            line = line if joined else text.count("\n", 0, found.start()) + 1
            joined += piece
        elif parts["w"] is None and joined:
            yield line, joined
            joined = ""
    if joined:
        yield line, joined


def texts(path, parts):
    """Yields line and text of everything that users read."""
    if path.suffix == ".md":
        text = re.sub(r"^```.*?^```|`[^`\n]*`|^    [^\n]*$", lambda m: re.sub(r"[^\n]", " ", m[0]), path.read_text(encoding="utf-8"), flags=re.M | re.S)
        for number, paragraph in enumerate(text.split("\n\n")):
            yield text.count("\n", 0, text.find(paragraph)) + 1, " ".join(paragraph.split())
    elif parts[0] == "xml" and path.suffix == ".xml":
        for element in ElementTree.parse(path).iter():
            for text in (element.text if element.tag == "Documentation" else "", element.get("label"), element.get("short_help"), element.get("long_help")):
                if text and text.strip():
                    yield 0, " ".join(text.split())
    elif parts[0] in PRODUCT and path.suffix in LANGUAGES:
        for line, text in strings(path.read_text(encoding="utf-8"), LANGUAGES[path.suffix]):
            if " " in text.strip() and len(re.findall(r"[A-Za-z]{2,}", text)) > 1:
                yield line, text


def main():
    source = pathlib.Path(sys.argv[1])
    exceptions = pathlib.Path(__file__).with_name("phrases.txt")
    allowed = [line.rstrip("\n") for line in exceptions.open(encoding="utf-8") if line.strip() and not line.startswith("#")] if exceptions.exists() else []
    counts = {name: [0, 0] for name in PHRASES}
    found = []
    for path, parts in files(source):
        for line, text in texts(path, parts):
            for name, regex in COMPILED.items():
                for match in regex.finditer(text):
                    around = text[max(0, match.start() - 60):match.end() + 60]
                    if any(fragment in around for fragment in allowed):
                        continue
                    counts[name][path.suffix != ".md"] += 1
                    found.append(f"{path.relative_to(source)}:{line}: {name} (better: {PHRASES[name][1]}): {around}")
    if "--counts" in sys.argv:
        for name, (pages, programs) in counts.items():
            print(f"{name:24}{pages:6}{programs:6}")
        return
    print(*found, sep="\n")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
