# SPDX-License-Identifier: BSD-3-Clause
"""Converts the keyword arguments of a query to a library handle."""

import ctypes
import decimal
import math
import numbers

import numpy as np

from ._arguments import as_box, as_integer, as_list, as_numbers, as_real, as_text
from ._library import TYPES, WHOLE, check, library
from .errors import refuse, refuse_type, shown
from .regions import OrientedBox, Slab, Sphere


def exact_number(value, what):
    """Returns a number of a type that Python compares with others exactly."""
    one = isinstance(value, (np.generic, np.ndarray)) and np.size(value) == 1
    number = value.item() if one else value
    if isinstance(number, decimal.Decimal):
        return number if number.is_finite() else float(number)
    if not isinstance(number, numbers.Real):
        refuse_type(what, value, "numbers and None")
    return int(number) if isinstance(number, numbers.Integral) else number


def whole_end(number, is_lower):
    """Returns the nearest integer inside a range of integers for one of its ends."""
    if not -2**65 < number < 2**65:  # beyond all values, or NaN
        return number
    return math.ceil(number) if is_lower else math.floor(number)


def inner_end(number, is_lower):
    """Returns a number that the library can take in place of a range's end, with the same
    floating-point values on its inner side."""
    if isinstance(number, int) and -2**63 <= number < 2**64:
        return number
    try:
        end = float(number)
    except OverflowError:
        end = np.inf if number > 0 else -np.inf
    # Rounds inwards: no values lie between the number and the adjacent double.
    if is_lower and end < number:
        end = np.nextafter(end, np.inf)
    if not is_lower and end > number:
        end = np.nextafter(end, -np.inf)
    return float(end)


def typed(end):
    """Returns the type and number of an end in the form that the library takes."""
    if isinstance(end, float):
        return ctypes.c_int(TYPES["float64"]), ctypes.byref(ctypes.c_double(end))
    if end < 2**63:
        return ctypes.c_int(TYPES["int64"]), ctypes.byref(ctypes.c_int64(end))
    return ctypes.c_int(TYPES["uint64"]), ctypes.byref(ctypes.c_uint64(end))


def target_of(what, name, component=None):
    """Returns name and component in the form that the library takes."""
    text = as_text(name, what)
    if component is None:
        return text, ctypes.c_int64(WHOLE)
    number = as_integer(component, f"{what}: component of '{name}'")
    if number.value < 0:
        refuse(f"{what}: component {number.value} of '{name}'; components are numbered from 0")
    return text, number


_RANGES = ("lists of (name, lower, upper) and (name, component, lower, upper), and dicts of name, or "
           "(name, component), to (lower, upper)")


def _ranges(given):
    """Returns ranges as a list of tuples."""
    if not hasattr(given, "items"):
        return as_list(given, "ranges", _RANGES)
    listed = []
    for key, ends in given.items():
        if not isinstance(ends, (tuple, list)) or len(ends) != 2:
            refuse_type("ranges", ends, _RANGES)
        listed.append((*key, *ends) if isinstance(key, tuple) else (key, *ends))
    return listed


def _integers(kinds, name, component):
    """Returns the type of an attribute's values if they are integers and the component is not the
    magnitude; else None."""
    dtype, components = kinds.get(name, (None, 0))
    is_one = component.value >= 0 or components == 1
    return dtype if dtype is not None and dtype.kind in "iu" and is_one else None


def _add_range(query, given, kinds):
    if not isinstance(given, (tuple, list)) or len(given) not in (3, 4):
        refuse_type("ranges", given, _RANGES)
    *target, lower, upper = given
    name, component = target_of("ranges", *target)
    what = f"range of '{target[0]}'"
    low = -np.inf if lower is None else exact_number(lower, what)
    high = np.inf if upper is None else exact_number(upper, what)
    if low > high:
        refuse(f"{what}: its minimum {shown(lower)} is above its maximum {shown(upper)}")
    if _integers(kinds, target[0], component) is not None:
        low, high = whole_end(low, True), whole_end(high, False)
    ends = inner_end(low, True), inner_end(high, False)
    if ends[0] > ends[1]:  # a range that contains no 64-bit integer
        check(library().bat_query_add_values(query, name, component,
                                             ctypes.c_int(TYPES["int64"]), None, ctypes.c_uint64(0)))
    else:
        check(library().bat_query_add_range_mixed(
            query, name, component, *typed(ends[0]), *typed(ends[1])))


def _pairs(given, name):
    """Returns the ends of the ranges in a list of numbers and pairs, and the single numbers."""
    what = f"values of '{name}'"
    if not isinstance(given, (list, tuple)) or not any(isinstance(one, tuple) for one in given):
        return [], given
    ends, single = [], []
    for one in given:
        if not isinstance(one, tuple):
            single.append(one)
            continue
        if len(one) != 2:
            refuse(f"{what}: {one}; a range is a pair (lower, upper)")
        lower, upper = exact_number(one[0], what), exact_number(one[1], what)
        if lower > upper:
            refuse(f"{what}: the range {one} ends before it starts")
        ends += [lower, upper]
    return ends, single


def _parse_integers(given, dtype):
    """Converts a list of numbers and pairs to values of the integer type `dtype`, and drops those that no such
    integer can match. Returns None and other types unchanged."""
    if dtype is None or not isinstance(given, (list, tuple)):
        return given
    limits = np.iinfo(dtype)
    kept = []
    for one in given:
        pair = isinstance(one, tuple)
        if pair and len(one) != 2:
            return given
        exact = [exact_number(end, "values") for end in (one if pair else (one,))]
        if any(end != end for end in exact) or (pair and exact[0] > exact[1]) or (
                not pair and isinstance(one, numbers.Integral) and not -2**63 <= one < 2**64):
            return given  # rejected below
        low = limits.min if exact[0] <= limits.min else (limits.max + 1 if exact[0] > limits.max else math.ceil(exact[0]))
        high = limits.max if exact[-1] >= limits.max else (limits.min - 1 if exact[-1] < limits.min else math.floor(exact[-1]))
        if low <= high:
            kept.append((low, high) if pair else low)
    if any(isinstance(one, tuple) for one in kept):
        return kept
    return np.array(kept, dtype=np.uint64 if dtype.kind == "u" else np.int64)


def _add_values(query, values, what, negated, kinds):
    if values is not None and not hasattr(values, "items"):
        refuse_type(what, values, "a dict of names and numbers")
    for key, given in () if values is None else values.items():
        if not isinstance(key, str) and (not isinstance(key, tuple) or len(key) != 2):
            refuse_type(what, key, "names and (name, component)")
        target = (key,) if isinstance(key, str) else key
        name, component = target_of(what, *target)
        dtype = _integers(kinds, target[0], component)
        ends, single = _pairs(_parse_integers(given, dtype), target[0])
        if ends and dtype is not None:
            array = np.array(ends + list(single), dtype=np.uint64 if dtype.kind == "u" else np.int64)
        else:
            array = as_numbers(ends + list(single) if ends else single, target[0])
        if not array.size:
            array = array.astype(np.int64)
        size = array.dtype.itemsize
        check(library().bat_query_add_set(
            query, name, component, ctypes.c_int(TYPES[array.dtype.name]),
            ctypes.c_void_p(array.ctypes.data + len(ends) * size),
            ctypes.c_uint64(array.size - len(ends)), ctypes.c_void_p(array.ctypes.data),
            ctypes.c_uint64(len(ends) // 2), ctypes.c_int(negated)))


def fill(query, quality=1.0, after_quality=0.0, box=None, half_open=False, ranges=None,
         values=None, not_values=None, shapes=None, part=0, parts=1, threads=0, *, kinds):
    """Sets the keyword arguments of Dataset.read() in a handle. kinds: the types and component counts
    of the attributes, by name."""
    lib = library()
    check(lib.bat_query_set_quality(
        query, as_real(quality, "quality"), as_real(after_quality, "after_quality")))
    if box is not None:
        ends = as_box(box, "box")
        set_box = lib.bat_query_set_box_half_open if half_open else lib.bat_query_set_box
        check(set_box(query, ctypes.c_void_p(ends.ctypes.data)))
    for given in () if ranges is None else _ranges(ranges):
        _add_range(query, given, kinds)
    for shape in () if shapes is None else as_list(shapes, "shapes", "lists of shapes"):
        if not isinstance(shape, (Sphere, Slab, OrientedBox)):
            refuse_type("shapes", shape, "Sphere, Slab and OrientedBox")
        shape._add(query)  # pylint: disable=protected-access
    check(lib.bat_query_set_part(
        query, as_integer(part, "part"), as_integer(parts, "parts")))
    check(lib.bat_query_set_threads(query, as_integer(threads, "threads")))
    _add_values(query, values, "values", False, kinds)
    _add_values(query, not_values, "not_values", True, kinds)
