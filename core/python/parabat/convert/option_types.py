# SPDX-License-Identifier: BSD-3-Clause
"""Argument types for argparse, used by `parabat convert` and by convert.py, which pvbatch runs. Does not depend on NumPy or
the package."""

import argparse
import re

MAX_JOBS = 4096  # maximum number of processes
_NUMBER = re.compile(r"[+-]?[0-9]+")


def steps(text):
    """Parses A:B:C, or a single number, into a slice."""
    parts = [part.strip() for part in text.split(":")]
    if len(parts) > 3 or parts == [""] or not all(_NUMBER.fullmatch(part) for part in parts if part) or (
            len(parts) == 3 and parts[2] and not int(parts[2])):
        raise argparse.ArgumentTypeError(f"{text.strip()!r}; allowed is A:B:C or a number, C not 0")
    numbers = [int(part) if part else None for part in parts]
    if len(numbers) == 1:
        return slice(numbers[0], None if numbers[0] == -1 else numbers[0] + 1)
    return slice(*numbers)


def names(text):
    """Parses names separated by commas."""
    found = text.split(",")
    if not all(found):
        raise argparse.ArgumentTypeError(f"{text!r}; allowed are names separated by commas")
    return found


def any_names(text):
    """Parses names separated by commas; the text may be empty."""
    return names(text) if text else []


def columns(text):
    """Parses one or three names."""
    found = text.split(",")
    if len(found) not in (1, 3) or not all(found):
        raise argparse.ArgumentTypeError(f"{text!r}; allowed are one name, or three separated by commas")
    return found


def three_columns(text):
    """Parses three names."""
    found = text.split(",")
    if len(found) != 3 or not all(found):
        raise argparse.ArgumentTypeError(f"{text!r}; allowed are three names separated by commas")
    return found


def delimiter(text):
    """Parses a column delimiter: the character or its name."""
    character = {"tab": "\t", "comma": ",", "semicolon": ";", "space": " "}.get(text, text)
    if len(character) != 1 or character.isalnum() or character in "\r\n\"'.+-_#" or not character.isascii():
        raise argparse.ArgumentTypeError(f"{text!r}; allowed is an ASCII character that does not occur in numbers and names")
    return character


def decimal(text):
    """Parses a decimal separator: the character or its name."""
    separator = {"comma": ",", "point": "."}.get(text, text)
    if separator not in (",", "."):
        raise argparse.ArgumentTypeError(f"{text!r}; allowed are , and .")
    return separator


def size(text):
    """Parses 512M, 2G, 1.5T or a number of MiB into bytes; returns 0 for auto."""
    if text.strip() == "auto":
        return 0
    found = re.fullmatch(r"([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)? ?(?:([KMGT])(?:i?B)?)?", text.strip(), re.IGNORECASE | re.ASCII)
    number = float(found[1] + (found[2] or "")) if found else 0.0
    exact = number * 1024 ** ("KMGT".index((found[3] or "M").upper()) + 1) if found else 0.0
    if not 0 < exact < 2 ** 62:
        raise argparse.ArgumentTypeError(f"{text!r}; allowed is auto or a size above 0, such as 512M, 2G, or 512 for MiB")
    return max(1, int(exact))


def _words(text):
    """Splits numbers at commas, spaces, or both."""
    return re.split(r"\s*,\s*|\s+", text.strip())


def numbers(text):
    """Parses finite numbers separated by commas or spaces."""
    try:
        found = [float(word.replace("_", "?")) for word in _words(text)]
    except ValueError:
        found = [float("nan")]
    if not all(abs(number) < float("inf") for number in found):
        raise argparse.ArgumentTypeError(f"{text!r}; allowed are numbers separated by commas or spaces")
    return found


def axes(text):
    """Parses some of x, y, z, or none, into three booleans."""
    if text == "none":
        return [False] * 3
    if not text or set(text) - set("xyz"):
        raise argparse.ArgumentTypeError(f"{text!r}; allowed are some of x, y, z, such as xy, or none")
    return [axis in text for axis in "xyz"]


def mapping(text):
    """Parses NAME=PATH,... into the name and its paths."""
    name, equals, paths = text.partition("=")
    if not name or not equals or not all(paths.split(",")):
        raise argparse.ArgumentTypeError(f"{text!r}; allowed is NAME=PATH or NAME=PATH,PATH,...")
    return name, paths.split(",")


def dimensions(text):
    """Parses NX,NY,NZ or NX,NY, also with x or spaces between the numbers."""
    found = _words(text.replace("x", ","))
    if not 2 <= len(found) <= 3 or not all(each.isascii() and each.isdecimal() and int(each) for each in found):
        raise argparse.ArgumentTypeError(f"{text!r}; allowed are NX,NY,NZ or NX,NY, each at least 1")
    return (*map(int, found), *(1,) * (3 - len(found)))


def find_number_type(text):
    """Parses a type such as uint8 or float32[3] into its name and number of components."""
    found = re.fullmatch(r"(u?int(?:8|16|32|64)|float(?:32|64))(?:\[([0-9]{1,2})\])?", text)
    if not found or not 1 <= int(found[2] or 1) <= 64:
        raise argparse.ArgumentTypeError(f"{text!r}; allowed are int8 to int64, uint8 to uint64, float32 and float64, with components as in float32[3]")
    return found[1], int(found[2] or 1)


def three_numbers(text):
    """Parses X,Y,Z into three numbers."""
    try:
        found = [float(each.replace("_", "?")) for each in _words(text)]
    except ValueError:
        found = []
    if len(found) != 3:
        raise argparse.ArgumentTypeError(f"{text!r}; allowed are three numbers separated by commas or spaces")
    return found


def whole(text):
    """Parses an integer of at least 0."""
    if not text.isascii() or not text.isdecimal() or len(text) > 18:
        raise argparse.ArgumentTypeError(f"{text!r}; allowed are whole numbers of at least 0")
    return int(text)


def jobs(text):
    """Parses a number of processes."""
    if not text.isascii() or not text.isdecimal() or len(text) > 18 or int(text) > MAX_JOBS:
        raise argparse.ArgumentTypeError(f"{text!r}; allowed are 1 to {MAX_JOBS}, or 0 for one per processor")
    return int(text)
