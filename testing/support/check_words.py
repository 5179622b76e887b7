# SPDX-License-Identifier: BSD-3-Clause
"""Fails if an identifier contains words for which the project has standard ones: max and min, resume, merge, release.

Usage: check_words.py SOURCE_DIR
Names of tests, which are sentences, and names from libraries are not checked.
"""

import pathlib
import re
import subprocess
import sys

# A word in an identifier, and its replacement.
WORDS = {"most": "max", "least": "min", "fewest": "min", "wanted": "requested, or expected in a test", "asked": "requested",
         "mine": "local, or own", "said": "reported", "told": "reported"}
PHRASES = {r"go(es)?_?on": "resume, or continues", r"put_?together": "merge", r"together": "collective, or combined", r"giv(e|es|en)_?back": "release",
           r"giv(e|es|en)_?up": "cancel", r"are_?there": "on_..._ready", r"goes_?well": "succeeds", r"has_?told": "has_reported"}
CONSTANTS = {"kClose", "kFar", "kSure", "kLooked", "kRoomy", "kOdd", "kEnough", "kEnoughCoarse", "kFew", "kMany", "kLittle", "kDense", "kShort",
             "kAtOnce", "kTogether", "kBeyond", "kSmallest", "kLargest", "kRarest"}
# Identifiers that are right as they are.
ALLOWED = {
    "need_at_most": "checks that a number is at most another",
    "is_most_recent": "English has no other word for it",
}
LANGUAGES = {
    (".cpp", ".hpp", ".h", ".cxx", ".c"): r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'',
    (".ts", ".js"): r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|`(?:\\.|[^`\\])*`',
    (".py",): r"\#[^\n]*|\'\'\'.*?\'\'\'|\"\"\".*?\"\"\"|'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"",
    (".f90", ".inc"): r"![^\n]*|'[^'\n]*'|\"[^\"\n]*\"",
}
PART = re.compile(r"[A-Z]+(?=[A-Z][a-z]|_|[0-9]|$)|[A-Z]?[a-z]+|[A-Z]|[0-9]+")
SENTENCE = 5  # underscores in a test's name


def problem(name, is_test):
    """Returns the problem with an identifier, or None."""
    if name in ALLOWED or name.count("_") >= SENTENCE or re.match(r"test_\w+_\w+_\w+", name):
        return None
    if name in CONSTANTS and not is_test:
        return "say what it is of, as kMaxActiveBuckets does"
    parts = [part.lower() for part in PART.findall(name)]
    joined = "_".join(parts)
    for phrase, use in PHRASES.items():
        if re.search(rf"(^|_){phrase}(_|$)", joined):
            return f"use {use}"
    for before, word in zip(["", *parts], parts):
        if word in WORDS and not (before == "at" and word in ("most", "least")):
            return f"use {WORDS[word]}"
    return None


def main():
    source = pathlib.Path(sys.argv[1]).resolve()
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=source, capture_output=True, text=True)
    paths = [source / name for name in listed.stdout.split("\0") if name] if listed.returncode == 0 else \
        [path for path in source.rglob("*") if not any(part.startswith((".", "build")) for part in path.relative_to(source).parts)]
    found = 0
    for path in paths:
        ending = path.name[:-3] if path.name.endswith(".in") else path.name
        skipped = next((skip for endings, skip in LANGUAGES.items() if ending.endswith(endings)), None)
        if skipped is None or not path.is_file() or path.name == "check_words.py":
            continue
        text = re.sub(skipped, lambda match: "\n" * match[0].count("\n") or " ", path.read_text(), flags=re.S)
        is_test = "testing" in path.relative_to(source).parts
        for number, line in enumerate(text.split("\n"), 1):
            for name in sorted(set(re.findall(r"[A-Za-z_]\w*", line))):
                wrong = problem(name, is_test)
                if wrong:
                    found += 1
                    print(f"{path.relative_to(source)}:{number}: {name}: {wrong}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
