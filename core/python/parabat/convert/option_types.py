# SPDX-License-Identifier: BSD-3-Clause
"""What words of a command line mean, for argparse: of `parabat convert`, and of convert.py, which pvbatch runs. Knows
neither numpy nor the package."""

import argparse
import re

_NUMBER = re.compile(r"[+-]?[0-9]+")


def steps(text):
    """A:B:C as a slice, or one number."""
    parts = [part.strip() for part in text.split(":")]
    if len(parts) > 3 or parts == [""] or not all(_NUMBER.fullmatch(part) for part in parts if part) or (
            len(parts) == 3 and parts[2] and not int(parts[2])):
        raise argparse.ArgumentTypeError(f"{text.strip()!r}; allowed is A:B:C or a number, C not 0")
    numbers = [int(part) if part else None for part in parts]
    if len(numbers) == 1:
        return slice(numbers[0], None if numbers[0] == -1 else numbers[0] + 1)
    return slice(*numbers)


def names(text):
    """Names with commas between them."""
    found = text.split(",")
    if not all(found):
        raise argparse.ArgumentTypeError(f"{text!r}; allowed are names with commas between them")
    return found


def any_names(text):
    """The same, or none at all."""
    return names(text) if text else []


def columns(text):
    """One name, or three."""
    found = text.split(",")
    if len(found) not in (1, 3) or not all(found):
        raise argparse.ArgumentTypeError(f"{text!r}; allowed are one name, or three with commas between them")
    return found


def three_columns(text):
    """Three names."""
    found = text.split(",")
    if len(found) != 3 or not all(found):
        raise argparse.ArgumentTypeError(f"{text!r}; allowed are three names with commas between them")
    return found


def delimiter(text):
    """A character that may stand between columns, also by name."""
    character = {"tab": "\t", "comma": ",", "semicolon": ";", "space": " "}.get(text, text)
    if len(character) != 1 or character.isalnum() or character in "\r\n\"'.+-_#" or not character.isascii():
        raise argparse.ArgumentTypeError(f"{text!r}; allowed is a character of ASCII that is in no number and no name")
    return character


def size(text):
    """MiB above 0; 0 for auto."""
    try:
        found = 0.0 if text == "auto" else float(text.replace("_", "?"))
    except ValueError:
        found = -1.0
    if not (0 < found < float("inf") or text == "auto"):
        raise argparse.ArgumentTypeError(f"{text!r}; allowed is auto or a number of MiB above 0")
    return found


def mapping(text):
    """NAME=PATH,..."""
    name, equals, paths = text.partition("=")
    if not name or not equals or not all(paths.split(",")):
        raise argparse.ArgumentTypeError(f"{text!r}; allowed is NAME=PATH or NAME=PATH,PATH,...")
    return name, paths.split(",")


def jobs(text):
    """A number of processes."""
    if not text.isascii() or not text.isdecimal() or not 0 < int(text) <= 4096:
        raise argparse.ArgumentTypeError(f"{text!r}; allowed are 1 to 4096")
    return int(text)
