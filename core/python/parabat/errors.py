# SPDX-License-Identifier: BSD-3-Clause
"""The exceptions of the package, which form one family."""

import decimal
import difflib

INVALID_ARGUMENT = 9
OUT_OF_MEMORY = 10
CANCELLED = 11
INTERNAL = 12


class BatError(Exception):
    """The base class of errors of the library and this package; `status` is a number of bat_status
    in bat/bat.h."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status = status

    def __reduce__(self):
        return type(self), (self.status, str(self))


class BatValueError(BatError, ValueError):
    """An argument, option or array has an invalid value."""


class BatTypeError(BatError, TypeError):
    """An argument has an invalid type."""


class BatNotFoundError(BatError, FileNotFoundError):
    """The file does not exist."""


class BatMemoryError(BatError, MemoryError):
    """There is not enough memory."""


class BatCancelledError(BatError):
    """A progress function cancelled the call."""


class BatInternalError(BatError):
    """A bug in the library; please report it."""


class BatImportError(BatError, ImportError):
    """The library, or a package that is needed, is not installed."""


def from_status(status, text):
    kind = {1: BatNotFoundError, INVALID_ARGUMENT: BatValueError, OUT_OF_MEMORY: BatMemoryError,
            CANCELLED: BatCancelledError, INTERNAL: BatInternalError}.get(status, BatError)
    return kind(status, text)


def available(name, names):
    """Returns what follows "unknown option 'treads'": the nearest names, if any, and all names."""
    names = list(map(str, names))
    near = difflib.get_close_matches(str(name), names, 3, 0.75)
    listed = ", ".join(names) or "none"
    if not near:
        return f"; available: {listed}"
    quoted = [f"'{one}'" for one in near]
    mean = " or ".join(filter(None, [", ".join(quoted[:-1]), quoted[-1]]))
    return f"; did you mean {mean}? Available: {listed}"


def refuse(text):
    raise BatValueError(INVALID_ARGUMENT, text)


def refuse_type(what, value, allowed):
    raise BatTypeError(INVALID_ARGUMENT,
                       f"{what}: {shown(value)} ({type(value).__name__}); allowed: {allowed}")


def shown(value):
    try:
        text = str(value) if isinstance(value, decimal.Decimal) else repr(value)
    except ValueError:  # an integer with more digits than Python prints
        text = f"a number of {value.bit_length()} bits"
    return text if len(text) <= 100 else text[:100] + "..."
