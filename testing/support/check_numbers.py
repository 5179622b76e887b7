# SPDX-License-Identifier: BSD-3-Clause
"""Fails if the XML or a document states another number than the headers with the readers' numbers, or no longer states
one.

Usage: check_numbers.py SOURCE_DIR
"""

import pathlib
import re
import sys

HEADERS = ["reader_plugin/bat/module/ReaderNumbers.h", "reader_plugin/idx/module/IDXNumbers.h"]
CONSTANT = re.compile(r"constexpr [\w:]+ (\w+) = ([^;]+);")
XML = "xml/BATReader.xml"
CLASS = "reader_plugin/bat/module/vtkBATReader.h"
MANUAL = "reader_plugin/README.md"
HELP = "reader_plugin/help/sources.BATReader.html"
PYTHON = "reader_plugin/python/parabat_paraview.py"
IDX_XML = "xml/IDXReader.xml"
IDX_CLASS = "reader_plugin/idx/module/vtkIDXReader.h"
IDX_HELP = "reader_plugin/help/sources.IDXReader.html"

# Where a number appears, and in which words; blanks match any white space.
REPORTED = [
    ("DefaultBudget", XML, r'name="ParticleBudget" .{0,200}? default_values="(.+?)"'),
    ("DefaultBudget", "README.md", r"sample that fits a\s+budget \((\d+ million)"),
    ("DefaultBudget", MANUAL, r"(\d+ million) by default; 0 means no limit"),
    ("DefaultBudget", HELP, r"summed over all processes: (\d+ million) by default"),
    ("StepParticles", XML, r"Load (\S+ a million) particles immediately, then load more"),
    ("StepParticles", CLASS, r"loads only about (\S+ a million) particles"),
    ("StepParticles", CLASS, r"each LoadMore\(\) (\S+ a million) more"),
    ("StepParticles", MANUAL, r"load (\S+ a million) particles at first, then"),
    ("StepParticles", MANUAL, r"particles at first, then (\S+ a million) more"),
    ("StepParticles", HELP, r"Loads (\S+ a million) particles immediately"),
    ("StepParticles", PYTHON, r"STEP_PARTICLES, STEP_GROWTH, SMALL_REST = ([0-9_]+),"),
    ("StepGrowth", PYTHON, r"STEP_PARTICLES, STEP_GROWTH, SMALL_REST = [0-9_]+, ([0-9.]+),"),
    ("SmallRest", PYTHON, r"STEP_PARTICLES, STEP_GROWTH, SMALL_REST = [0-9_]+, [0-9.]+, ([0-9.]+)"),
    ("StepGrowth", CLASS, r"each LoadMore\(\) [\w ]+, or (a \w+) of the loaded ones"),
    ("StepGrowth", MANUAL, r"at first, then [\w ]+ \(or (a \w+) of the loaded particles"),
    ("RadiusOfSpacing", CLASS, r"shapes look closed at any quality: (\S+) times their spacing"),
    ("HistogramBins", XML, r"particle counts of (\d+) bins"),
    ("HistogramBins", CLASS, r"in each of (\d+) bins of equal width"),
    ("HistogramNumbers", XML, r"two histograms of (\d+) numbers for each"),
    ("BothHistograms", CLASS, r"Each is (\d+) numbers: smallest"),
    ("MaxListedValues", XML, r"integer attributes that have at most (\d+) different"),
    ("FinestResolution", IDX_XML, r'name="Resolution" .{0,200}? default_values="(\d+)"'),
    ("FinestResolution", IDX_XML, r"above the finest level of the file, such as (\d+),"),
    ("FinestResolution", IDX_CLASS, r"In 0 to (\d+)\. Default"),
    ("FinestResolution", IDX_CLASS, r"int Resolution = (\d+);"),
    ("DefaultMemoryBudget", IDX_XML, r'name="MemoryPerProcess" .{0,200}? default_values="(.+?)"'),
    ("DefaultMemoryBudget", IDX_HELP, r"much memory for the loaded\s+fields: (1 GiB) by default"),
    ("FirstMebibytes", IDX_XML, r"Load a coarse level of (\d+) MiB immediately"),
    ("FirstMebibytes", IDX_HELP, r"Loads a coarse level of (\d+) MiB immediately"),
    ("LevelsOfStep", IDX_XML, r"then load finer levels, (\d+) per step"),
    ("LevelsOfStep", IDX_HELP, r"then loads finer levels, (\d+) per step"),
    ("LevelsOfStep", IDX_CLASS, r"each LoadMore\(\) (\w+) levels more"),
    ("MaxListedValues", CLASS, r"no more than (\d+) integers from one to the other"),
]
WORDS = {"half a million": 500000, "a tenth": 0.1, "three": 3, "1 GiB": 1024}


def number(words):
    if words in WORDS:
        return WORDS[words]
    return float(words[:-len(" million")]) * 1e6 if words.endswith(" million") else float(words)


def problems(source):
    known = {}
    for header in HEADERS:
        for name, value in CONSTANT.findall((source / header).read_text()):
            known[name] = eval(value, {}, known)
    known["BothHistograms"] = 2 * known["HistogramNumbers"]
    for name, path, words in REPORTED:
        text = re.sub(r"[\s*]+", " ", (source / path).read_text())
        found = re.findall(words, text)
        if len(found) != 1:
            yield f"{path} says {len(found)} times, not once: {words}"
        else:
            try:
                reported = number(found[0])
            except ValueError:
                reported = None
            if reported != known[name]:
                yield f"{path} says '{found[0]}'; the header has {name} = {known[name]}"


if __name__ == "__main__":
    all_problems = list(problems(pathlib.Path(sys.argv[1])))
    print("\n".join(all_problems))
    sys.exit(1 if all_problems else 0)
