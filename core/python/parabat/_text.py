# SPDX-License-Identifier: BSD-3-Clause
"""Prints texts from files, such as names and metadata, safely in a terminal."""

import re
import unicodedata
from typing import Iterable

from .errors import refuse

_ESCAPED = ("Cc", "Cf", "Cn", "Co", "Zl", "Zp")  # categories of control, invisible and reordering characters


def _is_escaped(letter):
    return letter not in "\u200c\u200d" and unicodedata.category(letter) in _ESCAPED  # required by some scripts


def _map(text, escape):
    if text.isprintable():
        return text
    return "".join(escape(letter) if _is_escaped(letter) else letter for letter in text)


def printable(text: str) -> str:
    """Returns the text in one line, with control and invisible characters written as \\x1b, \\n or \\u202e. Other
    characters are kept, including bytes of file names that are not valid text (surrogates)."""
    return _map(text, lambda letter: letter.encode("unicode_escape").decode())


def check_xml_names(names: Iterable[str]) -> None:
    """Raises BatValueError for array names that XML files cannot contain."""
    for name in names:
        if re.search("[\x00-\x1f\ufffe\uffff\ud800-\udfff]", name):
            refuse(f"'{name}' contains characters that XML does not allow; exclude the array with --attributes, or use .npz")


def printable_json(text: str) -> str:
    """Returns JSON with the same characters written as \\u001b."""
    return _map(text, lambda letter: "".join(
        f"\\u{letter.encode('utf-16-be')[i:i + 2].hex()}" for i in range(0, 2 + 2 * (letter > "\uffff"), 2)))
