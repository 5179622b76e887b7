# SPDX-License-Identifier: BSD-3-Clause
"""Converts arguments for the library, and rejects those that it would truncate, round or ignore."""

import ctypes
import math
import numbers
import operator
import os
import re

import numpy as np

from ._library import TYPES
from ._remote import resolve
from .errors import INVALID_ARGUMENT, OUT_OF_MEMORY, BatMemoryError, BatTypeError, refuse, refuse_type, shown


def as_integer(value, what):
    """Returns an integer for C; ctypes alone would truncate it to the bits that fit."""
    try:
        number = operator.index(value)
    except TypeError:
        refuse_type(what, value, "whole numbers")
    if not -2**63 <= number < 2**63:
        refuse(f"{what}: {shown(number)}; allowed are 64-bit whole numbers")
    return ctypes.c_int64(number)


def as_real(value, what):
    if isinstance(value, (str, bytes)):
        refuse_type(what, value, "numbers")
    try:
        return ctypes.c_double(float(value))
    except (TypeError, ValueError):
        refuse_type(what, value, "numbers")
    except OverflowError:
        refuse(f"{what}: {shown(value)}; allowed are numbers up to 1.8e308")


def as_text(value, what):
    if not isinstance(value, str):
        refuse_type(what, value, "strings")
    if "\0" in value:
        refuse(f"{what}: {shown(value)} contains a zero character")
    try:
        return value.encode()
    except UnicodeEncodeError as error:
        refuse(f"{what}: {shown(value)} is not valid Unicode: {error.reason}")


def as_path(value, storage_options=None):
    """Keeps None, which is an error on rank 0 only. storage_options: for an address that is read through fsspec."""
    value = resolve(value, storage_options)
    if value is None:
        return None
    try:
        path = os.fsencode(value)
    except TypeError:
        refuse_type("path", value, "strings and os.PathLike")
    except UnicodeEncodeError as error:
        refuse(f"path: {shown(value)} is not a file name: {error.reason}")
    if b"\0" in path:
        refuse(f"path: {shown(value)} contains a zero character, which file names cannot have")
    return path


def as_list(items, what, allowed):
    if isinstance(items, (str, bytes)) or not hasattr(items, "__iter__"):
        refuse_type(what, items, allowed)
    return list(items)


def as_layers(ghosts):
    """Returns three pairs: ghost layers before and after along x, y, z."""
    if hasattr(ghosts, "__iter__"):
        pairs = [as_list(pair, "ghosts", "a number, three pairs of numbers") for pair in ghosts]
        if [len(pair) for pair in pairs] != [2, 2, 2]:
            refuse(f"ghosts: {shown(ghosts)}; allowed are a number, or three pairs of numbers for x, y, z")
    else:
        pairs = [[ghosts, ghosts]] * 3
    found = [[as_integer(number, "ghosts").value for number in pair] for pair in pairs]
    if any(number < 0 for pair in found for number in pair):
        refuse(f"ghosts: {shown(ghosts)}; numbers must not be negative")
    return found


def as_names(names, what):
    """Returns the UTF-8 of each name, without duplicates."""
    return list(dict.fromkeys(as_text(name, what) for name in as_list(names, what, "lists of names")))


def flat_numbers(values, count):
    """Returns `count` numbers as float64, with shape (count,), or None for anything else."""
    try:
        array = np.asarray(values, dtype=np.float64).reshape(-1)
    except (TypeError, ValueError):
        return None
    return array if array.size == count else None


def as_box(box, what):
    values = flat_numbers(box, 6)
    if values is None:
        refuse(f"{what}: {shown(box)}; a box is six numbers: lower x, y, z, upper x, y, z")
    return values


def as_plain(values, what):
    """Returns an array in native byte order, of one of the ten scalar types. Copies it only if
    necessary."""
    try:
        array = np.asarray(values)
    except (TypeError, ValueError) as error:
        refuse(f"{what}: is not an array: {error}")
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    if array.dtype == np.bool_:
        array = array.view(np.uint8)
    if array.dtype.name not in TYPES:
        # For example, a pandas column that can have gaps.
        given = getattr(values, "dtype", array.dtype)
        raise BatTypeError(INVALID_ARGUMENT, f"{what}: type {given}; convert with .astype() to one of the allowed types: {', '.join(TYPES)}")
    for part in values if isinstance(values, (list, tuple)) else [values]:
        if isinstance(part, np.ma.MaskedArray) and np.ma.is_masked(part):
            refuse(f"{what}: some values are masked; replace them (.filled(value)), or remove their particles from all arrays (.compressed() does so "
                   "for one)")
    return array


def new_array(shape, dtype, path):
    """Returns an array for values of a file, whatever size the file claims."""
    try:
        return np.empty(shape, dtype)
    except (MemoryError, ValueError) as error:  # ValueError: more bytes than the address space
        size = math.prod(map(int, shape)) * np.dtype(dtype).itemsize
        raise BatMemoryError(OUT_OF_MEMORY, f"{path}: an array of {' x '.join(map(str, shape))} values of type {np.dtype(dtype)} needs {size:,} bytes, "
                                            "more than the available memory") from error


def as_array(values, what, count=None, allowed="(n,) and (n, k) with k from 1 to 9"):
    """Returns a plain array of shape (n, components) with packed rows that do not overlap."""
    array = as_plain(values, what)
    if array.ndim not in (1, 2) or (array.ndim == 2 and not 1 <= array.shape[1] <= 9):
        refuse(f"{what}: shape {array.shape}; allowed: {allowed}")
    if count is not None and len(array) != count:
        refuse(f"{what}: {len(array)} values for {count} particles")
    if array.ndim == 1:
        array = array[:, np.newaxis]
    row = array.shape[1] * array.itemsize
    if (array.shape[1] > 1 and array.strides[1] != array.itemsize) or (
            len(array) > 1 and array.strides[0] < row):
        array = np.ascontiguousarray(array)
    return array


def columns_of(attributes):
    """Returns pairs of name and values from a dict, DataFrame, structured array, or similar
    object."""
    names = getattr(getattr(attributes, "dtype", None), "names", None)
    if attributes is None:
        return []
    if names is not None:
        return [(name, attributes[name]) for name in names]
    if hasattr(attributes, "keys") and hasattr(attributes, "items"):
        return list(attributes.items())
    return refuse_type("attributes", attributes,
                        "a dict or DataFrame of names and values, a structured array")


def as_numbers(given, name):
    """Returns a packed array of one of the ten scalar types. Rejects lists in which NumPy would
    round an integer."""
    what = f"values of '{name}'"
    if isinstance(given, np.ndarray):
        return np.ascontiguousarray(as_plain(given, what).reshape(-1))
    given = as_list(given, what, "lists and arrays of numbers")
    for number in given:
        if isinstance(number, numbers.Integral) and not -2**63 <= number < 2**64:
            refuse(f"{what}: {shown(number)}; allowed are 64-bit whole numbers")
    array = as_plain(given, what).reshape(-1)
    for number, kept in zip(given, array.tolist()) if array.dtype == np.float64 else ():
        if isinstance(number, numbers.Integral) and int(number) != kept:
            refuse(f"{what}: {number} would be rounded among numbers of other types; pass an array of int64 or uint64")
    return array


def as_reals(numbers_given, count, what):
    array = np.ascontiguousarray(as_plain(numbers_given, what), dtype=np.float64).reshape(-1)
    if array.size != count:
        refuse(f"{what}: {array.size} numbers; {count} are required")
    return array


def passed(array):
    """Returns type, components, address and stride in the form that the library takes."""
    return (ctypes.c_int(TYPES[array.dtype.name]), ctypes.c_int64(array.shape[1]),
            ctypes.c_void_p(array.ctypes.data), _stride(array))


def _stride(array):
    return ctypes.c_size_t(array.strides[0] if len(array) > 1 else 0)


def by_numbers(name):
    """Returns a key that sorts file names naturally: v_2 before v_10."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", os.fsdecode(name))]
