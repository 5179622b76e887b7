# SPDX-License-Identifier: BSD-3-Clause
"""Interprets attributes of the CF conventions (Climate and Forecast): packed numbers, missing values, units of length and
time, and clocks that differ between files."""

import dataclasses
import math
import re
import typing

import numpy as np

from .._extras import install
from .model import ConvertError, listed

EARTH_RADIUS = 6_371_000.0  # m, radius of the sphere used to convert velocities to degrees
ABSURD = 1e15               # larger values are reported as possible marks of missing data
SENTINEL = (999, 300)       # so is a repeated value of at least 999 that is at least 300 times larger than all others

# The default fill values of netCDF, by the kind and size of a type.
_NEVER_WRITTEN = {"f4": 9.969209968386869e36, "f8": 9.969209968386869e36, "i2": -32767, "i4": -2147483647,
                  "i8": -9223372036854775806, "u2": 65535, "u4": 4294967295, "u8": 18446744073709551614}


# --- Packed numbers

def _numbers(about, key):
    """Returns the numbers of an attribute as an array, empty if it has none."""
    found = np.ravel(np.asarray(about.get(key, [])))
    return found if found.dtype.kind in "iuf" else found[:0]


def _one(about, key):
    found = _numbers(about, key)
    if key in about and found.size != 1:
        raise ConvertError(f"its attribute {key} is {about[key]!r}; it must be a single number")
    return found[0] if found.size else None


def _unpacked_type(stored, scale, offset):
    """Returns the type for unpacked values: that of the attributes, as CF defines, or a wider one where that would round."""
    wide = stored.itemsize > 2 if stored.kind in "iu" else stored.itemsize > 4
    kinds = [number.dtype for number in (scale, offset) if number is not None and number.dtype.kind == "f"]
    return np.dtype(np.float64) if wide or any(kind.itemsize > 4 for kind in kinds) else np.dtype(np.float32)


def unpacked(name, values, about, remarks):
    """Returns the unpacked values, with NaN where they are missing according to the attributes. Integers that are not packed
    are unchanged; a remark lists the attributes that are not applied to them."""
    values = np.asarray(values)
    if values.dtype.kind not in "iuf":
        return values
    if str(about.get("_Unsigned", "")).lower() == "true" and values.dtype.kind == "i":
        values = values.view(values.dtype.str.replace("i", "u"))
    elif str(about.get("_Unsigned", "")).lower() == "false" and values.dtype.kind == "u":
        values = values.view(values.dtype.str.replace("u", "i"))
    try:
        scale, offset = _one(about, "scale_factor"), _one(about, "add_offset")
    except ConvertError as error:
        raise ConvertError(f"'{name}': {error}") from None
    is_packed = scale is not None or offset is not None
    marks = {key: _numbers(about, key) for key in ("_FillValue", "missing_value") if _numbers(about, key).size}
    limits = _limits(about)
    if values.dtype.kind != "f" and not is_packed:
        kept = [f"{key} {about[key]}" for key in (*marks, *(key for key in about if key.startswith("valid_")))]
        if kept:
            remarks.append((f"packed {name}", f"'{name}' keeps its integers, which cannot be NaN; not applied: " + ", ".join(kept)))
        return values
    none = _is_none(values, marks, limits, is_packed)
    result = values
    if is_packed:
        result = values.astype(_unpacked_type(values.dtype, scale, offset))
        result *= result.dtype.type(1 if scale is None else scale)
        result += result.dtype.type(0 if offset is None else offset)
        remarks.append((f"packed {name}", f"'{name}' is unpacked from {values.dtype.name} to {result.dtype.name}: " + ", ".join(
            f"{key} {about[key]}" for key in ("scale_factor", "add_offset") if key in about)))
        for bound, is_outside in limits:
            if bound.dtype.kind == "f" and values.dtype.kind != "f":  # bounds for unpacked values
                none |= is_outside(result, result.dtype.type(bound))
    if none.any():
        result = result if is_packed else result.copy()
        result[none] = np.nan
        shown = ", ".join(dict.fromkeys(f"{key} {about[key]}" for key in (*marks, *(k for k in about if k.startswith("valid_")))))
        remarks.append((f"none {name}", f"values of '{name}' marked as missing become NaN"
                        + (f": {shown}" if shown else ": netCDF fill values, where nothing was written")))
    return result


def _limits(about):
    """Returns pairs of a bound and the comparison that finds values outside it."""
    ends = _numbers(about, "valid_range")
    lower, upper = (ends[:1], ends[1:]) if ends.size == 2 else (_numbers(about, "valid_min"), _numbers(about, "valid_max"))
    return [(end[0], outside) for end, outside in ((lower, np.less), (upper, np.greater)) if end.size == 1]


def _is_none(values, marks, limits, is_packed):
    kind = values.dtype
    own = []
    for mark in (number for numbers in marks.values() for number in numbers):
        if kind.kind == "f":
            own.append(kind.type(mark))
        elif kind.kind != "f" and float(mark).is_integer():
            whole = int(mark)
            ends = np.iinfo(kind)
            if kind.kind == "u" and -(2 ** (8 * kind.itemsize - 1)) <= whole < 0:  # with _Unsigned
                whole += 2 ** (8 * kind.itemsize)
            if ends.min <= whole <= ends.max:
                own.append(kind.type(whole))
    never = _NEVER_WRITTEN.get(f"{kind.kind}{kind.itemsize}")
    if "_FillValue" not in marks and never is not None:
        own.append(kind.type(never))
    none = np.isin(values, [number for number in own if number == number])
    for bound, is_outside in limits:
        if kind.kind == "f" or bound.dtype.kind != "f" or not is_packed:
            end = kind.type(bound) if kind.kind == "f" else int(bound)
            if kind.kind == "u" and end < 0:  # with _Unsigned
                end += 2 ** (8 * kind.itemsize)
            none |= is_outside(values, end)
    return none


def absurd(values):
    """Returns (value, count) of a number that is too large to belong to its field and may mark missing data, or None if
    the field has no such number."""
    if values.dtype.kind != "f" or not values.size:
        return None
    finite = np.isfinite(values)
    if not finite.any():
        return None
    minimum, maximum = (float(find(values, where=finite, initial=start)) for find, start in ((np.min, np.inf), (np.max, -np.inf)))
    value = maximum if abs(maximum) >= abs(minimum) else minimum
    if abs(value) < SENTINEL[0]:
        return None
    is_it = values == values.dtype.type(value)
    count = int(np.count_nonzero(is_it))
    if abs(value) < ABSURD:
        others = finite & ~is_it
        rest = float(np.max(np.abs(values), where=others, initial=0))
        if count < 2 or not others.any() or abs(value) < SENTINEL[1] * rest:
            return None
    return value, count


# --- Units

_LENGTHS = {"m": 1, "metre": 1, "meter": 1, "km": 1e3, "kilometre": 1e3, "kilometer": 1e3, "cm": 1e-2, "centimetre": 1e-2,
            "centimeter": 1e-2, "mm": 1e-3, "millimetre": 1e-3, "millimeter": 1e-3, "um": 1e-6, "micrometer": 1e-6,
            "micrometre": 1e-6, "micron": 1e-6, "nm": 1e-9, "nanometer": 1e-9, "nanometre": 1e-9, "dm": 0.1,
            "nautical_mile": 1852, "nmile": 1852, "nmi": 1852, "mile": 1609.344, "ft": 0.3048, "foot": 0.3048, "feet": 0.3048,
            "inch": 0.0254}
_TIMES = {"s": 1, "sec": 1, "second": 1, "ms": 1e-3, "msec": 1e-3, "millisecond": 1e-3, "us": 1e-6, "microsecond": 1e-6,
          "ns": 1e-9, "nanosecond": 1e-9, "min": 60, "minute": 60, "h": 3600, "hr": 3600, "hour": 3600, "d": 86400, "day": 86400,
          "week": 604800}
_ANGLES = {**dict.fromkeys(("degree", "deg", "degree_east", "degree_e", "degreee", "degree_north", "degree_n", "degreen",
                            "degree_west", "degree_south", "°"), 1), "radian": 180 / math.pi, "rad": 180 / math.pi}
_PRESSURES = {"pa": 1, "pascal": 1, "hpa": 100, "kpa": 1000, "mbar": 100, "millibar": 100, "mb": 100, "dbar": 1e4,
              "decibar": 1e4, "bar": 1e5}
_BASES = {**{name: ("m", factor) for name, factor in _LENGTHS.items()}, **{name: ("s", factor) for name, factor in _TIMES.items()},
          **{name: ("degree", factor) for name, factor in _ANGLES.items()},
          **{name: ("Pa", factor) for name, factor in _PRESSURES.items()}}
_WEST = ("degree_west", "degree_south")
_TOKEN = re.compile(r"\s*(?:(?P<sign>[/*.·])|(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\d.])"
                    r"|(?P<name>[^\W\d]+|°)(?:(?:\^|\*\*)?(?P<power>[+-]?\d+))?)")


@dataclasses.dataclass(frozen=True)
class Unit:
    """A unit as a product of powers of base units, each with its factor."""

    text: str
    powers: tuple   # (base, power), sorted, without powers of 0
    factors: dict   # base -> factor; "" for plain numbers

    def factor(self, but=()):
        """Returns the factor to base units, except those named in `but`."""
        return math.prod(factor for base, factor in self.factors.items() if base not in but)

    def per_time(self):
        """Returns the powers of this unit times one second: those of m for m s-1."""
        powers = dict(self.powers)
        powers["s"] = powers.get("s", 0) + 1
        return _tidy(powers)


def _tidy(powers):
    return tuple(sorted((base, power) for base, power in powers.items() if power))


def _base(name):
    name = name.replace("degrees", "degree")
    for form in (name, name.lower()) if len(name) > 2 or name in ("°", "Pa", "mb", "Mb") else (name,):
        for each in (form, form[:-1] if form.endswith("s") and len(form) > 2 else form):
            if each in _BASES and each not in _WEST:
                return _BASES[each]
    return None


def unit(text):
    """Parses `m s-1`, `m/s`, `km h^-1`, `degrees_east`, `meters per second`, `knots` ...; returns None if the unit is unknown."""
    words = re.sub(r"\bper\b", "/", str(text).strip())
    words = words.replace("⁻", "-").replace("¹", "1").replace("−", "-")
    if not words:
        return None
    powers, factors, at, divides = {}, {}, 0, False
    while at < len(words):
        found = _TOKEN.match(words, at)
        if not found or found.end() == at:
            return None
        at = found.end()
        if found["sign"]:
            divides = found["sign"] == "/" or divides
            continue
        power = -1 if divides else 1
        divides = False
        if found["number"]:
            if float(found["number"]) == 0:
                return None
            factors[""] = factors.get("", 1.0) * float(found["number"]) ** power
            continue
        power *= int(found["power"] or 1)
        name = found["name"]
        parts = [("m", 1852.0, 1), ("s", 3600.0, -1)] if name.lower() in ("knot", "knots", "kt", "kts") else (
            [(*_base(name), 1)] if _base(name) else None)
        if parts is None:
            return None
        for base, factor, own in parts:
            powers[base] = powers.get(base, 0) + own * power
            factors[base] = factors.get(base, 1.0) * float(factor) ** (own * power)
    return Unit(str(text).strip(), _tidy(powers), factors)


def is_velocity(text):
    """Returns whether a unit is a length or an angle per second."""
    found = unit(text) if text else None
    return found is not None and found.per_time() in ((("m", 1),), (("degree", 1),)) and found.factors["s"] == 1


def need_unit(text, what, option):
    found = unit(text)
    if found is None:
        raise ConvertError(f"{what} has the unknown unit '{text}'; allowed are units of length, angle, pressure and time, such as m, km, degrees, hPa, "
                           f"s, days. Specify it with {option}, or use --ignore-units to use all numbers unchanged")
    return found


# --- Clocks

@dataclasses.dataclass(frozen=True)
class Clock:
    """The unit and calendar of times: `days since 2000-01-01`. since: "" for times without a date."""

    unit: str
    since: str = ""
    calendar: str = "standard"

    def __str__(self):
        return f"{self.unit} since {self.since}" if self.since else self.unit


def clock(about):
    """Returns the Clock that the attributes of a time variable describe, or None without units."""
    text = about.get("units")
    if not isinstance(text, str) or not text.strip():
        return None
    words, _, since = re.sub(r"\s+", " ", text.strip()).partition(" since ")
    return Clock(words, since.strip(), str(about.get("calendar", "standard")).lower() or "standard")


def seconds(given):
    """Returns the number of seconds in one unit of a clock."""
    name = given.unit.lower().rstrip("s")
    days = {"360_day": {"month": 30, "year": 360}, "noleap": {"year": 365}, "365_day": {"year": 365}, "all_leap": {"year": 366},
            "366_day": {"year": 366}}.get(given.calendar, {})
    if name in days or name == "common_year":
        return 86400.0 * days.get(name, 365)
    found = unit(given.unit)
    if found is None or found.powers != (("s", 1),):
        raise ConvertError(f"times are in '{given}' of the calendar {given.calendar}, which is not a fixed duration; allowed are seconds, minutes, "
                           "hours, days, weeks, and the like, such as ms")
    return found.factor()


def on_clock(time, own, first):
    """Converts a time from the clock `own` to the clock `first`."""
    if own == first or time is None:
        return time
    if bool(own.since) != bool(first.since):
        raise ConvertError(f"times are in '{own}', earlier ones in '{first}'")
    if own.since and own.calendar != first.calendar and {own.calendar, first.calendar} != {"standard", "gregorian"}:
        raise ConvertError(f"times use the calendar {own.calendar}, earlier ones {first.calendar}")
    time = time * seconds(own)
    if own.since != first.since:
        time += _between(first, own)
    return time / seconds(first)


def _between(first, own):
    """Returns the seconds from the date of the clock `first` to that of the clock `own`."""
    try:
        import cftime  # pylint: disable=import-outside-toplevel
    except ImportError:
        raise ConvertError(f"times are in '{own}', earlier ones in '{first}', which requires cftime: "
                           + install("cftime")) from None
    try:
        date = cftime.num2date(0, f"seconds since {own.since}", own.calendar)
        return float(cftime.date2num(date, f"seconds since {first.since}", first.calendar))
    except (ValueError, OverflowError) as error:
        raise ConvertError(f"times are in '{own}', earlier ones in '{first}': {error}") from None


# --- Axes and velocities

@dataclasses.dataclass
class Axis:
    """One of the axes x, y, z of a grid. kind: X, Y or Z as in CF, or "". positive: up, down or "". turns: 360 for longitudes
    that span the globe, 361 if the last sample repeats the first, otherwise 0."""

    name: str
    points: int = 1
    unit: str = ""
    kind: str = ""
    positive: str = ""
    has_coordinates: bool = False
    standard_name: str = ""
    turns: int = 0
    radius: float = EARTH_RADIUS

    def is_degrees(self):
        return self.kind in ("X", "Y") and unit(self.unit) is not None and unit(self.unit).powers == (
            ("degree", 1),) and unit(self.unit).factor() == 1


@dataclasses.dataclass
class Settled:
    """The result of settle(): arrays, factors for origin and spacing, and the time unit in seconds (None if unknown)."""

    arrays: list
    factors: list
    period: typing.Optional[float]
    remarks: list
    metadata: dict
    in_degrees: list = dataclasses.field(default_factory=list)  # components converted to degrees


_DIRECTIONS = (("eastward", "X"), ("northward", "Y"), ("upward", "Z"), ("downward", "Z"))


def settle(names, arrays, about, axes, latitudes, options):
    """Converts the components of a velocity, one for each of the first axes, to units that match those of the axes.

    names: of the components. about: their attributes. latitudes: those along each axis that has them, otherwise None. Raises
    ConvertError if units are missing, unknown or do not match.
    """
    done = Settled(list(arrays), [1.0] * 3, None, [], {})
    texts = [options.velocity_unit or str(each.get("units") or "").strip() for each in about]
    moved = [i for i in range(len(names)) if axes[i].points > 1]
    if options.ignore_units or not (any(texts) or options.time_unit or options.coordinate_unit or any(
            axes[i].unit for i in moved)):
        return done
    for name, text in zip(names, texts):
        if not text:
            raise ConvertError(f"'{name}' has no units, but others have; specify them with --velocity-unit, such as 'm s-1', or use --ignore-units to "
                               "use all numbers unchanged")
    units = [need_unit(text, f"'{name}'", "--velocity-unit") for name, text in zip(names, texts)]
    for name, each in zip(names, units):
        if dict(each.powers).get("s") != -1:
            raise ConvertError(f"'{name}' is in '{each.text}', which is not a velocity unit; specify it with --velocity-unit, or use --ignore-units to "
                               "use all numbers unchanged")
    done.period = 1 / units[0].factors["s"]
    for i, (name, own) in enumerate(zip(names, units)):
        _check_direction(name, about[i], axes[i])
        share = own.factors["s"] * done.period  # ratio of time units
        if i in moved:
            alike = next(each for each in units if each.per_time() == own.per_time())
            share *= _along(i, name, own, alike, axes, latitudes, done, options) * _sign(name, about[i], axes[i], options)
        if share != 1:
            done.arrays[i] = (done.arrays[i] * np.float64(share)).astype(done.arrays[i].dtype)
    for i in range(len(names), 3):  # no component moves along these; their distances use the same unit of length
        where = unit(axes[i].unit) if axes[i].unit and options.spacing is None else None
        alike = next((each for each in units if where and each.per_time() == where.powers), None)
        done.factors[i] = where.factor() / alike.factor(but=("s",)) if alike else 1.0
    _tell(done, names, units, axes)
    return done


def _along(i, name, own, alike, axes, latitudes, done, options):
    """Returns the factor that converts the component along axis i to the unit of `alike`, and sets the factor of the axis."""
    axis, share = axes[i], own.factor(but=("s",)) / alike.factor(but=("s",))
    if options.spacing is not None:
        return share  # --spacing is in the length unit of the velocity
    if not axis.has_coordinates:
        raise ConvertError(f"'{name}' is in '{own.text}', but the axis '{axis.name}' has no coordinates; specify --spacing and --origin, or use "
                           "--ignore-units to use all numbers unchanged")
    text = options.coordinate_unit or axis.unit
    if not text:
        raise ConvertError(f"'{name}' is in '{own.text}', but the axis '{axis.name}' has no units; specify them with --coordinate-unit, such as m, or "
                           "use --ignore-units to use all numbers unchanged")
    where = need_unit(text, f"the axis '{axis.name}'", "--coordinate-unit")
    if own.per_time() == where.powers:
        done.factors[i] = where.factor() / alike.factor(but=("s",))
        return share
    if own.per_time() == (("m", 1),) and where.powers == (("degree", 1),) and axis.kind in ("X", "Y"):
        done.factors[i] = where.factor()
        return _to_degrees(i, name, own, axes, latitudes, done)
    raise ConvertError(f"'{name}' is in '{own.text}', but the axis '{axis.name}' in '{text}', which do not match; specify --velocity-unit and "
                       "--coordinate-unit, or use --ignore-units to use all numbers unchanged")


def _to_degrees(i, name, own, axes, latitudes, done):
    """Returns the factor from metres to degrees on a sphere. Along parallels, divides the array by the cosine of latitude."""
    axis = axes[i]
    if axis.kind == "X":
        along = next((j for j in range(3) if latitudes[j] is not None), None)
        if along is None:
            raise ConvertError(f"'{name}' is in '{own.text}', but the axis '{axis.name}' is in degrees without a latitude; use --ignore-units to use "
                               "all numbers unchanged")
        cosines = np.cos(np.radians(latitudes[along]))
        is_pole = np.abs(np.abs(latitudes[along]) - 90) < 1e-6
        shape = [1, 1, 1]
        shape[2 - along] = len(cosines)
        share = np.where(is_pole, np.nan, 1 / np.where(is_pole, 1, cosines)).reshape(shape)
        if is_pole.any():
            done.remarks.append(("poles", "the poles have no flow, since east is undefined there: lines end before them"))
        array = done.arrays[i]
        done.arrays[i] = (array * share.reshape(shape[3 - array.ndim:])).astype(array.dtype)
    done.in_degrees.append(i)
    return own.factor(but=("s",)) / axis.radius * 180 / math.pi


def _check_direction(name, about, axis):
    """Raises unless a component is along the axis that its CF standard name implies."""
    standard = str(about.get("standard_name", ""))
    for word, kind in _DIRECTIONS:
        if word in standard.split("_") and axis.points > 1:
            if axis.kind and axis.kind != kind:
                raise ConvertError(f"'{name}' is {standard}, but would be along the axis '{axis.name}'; list components with --arrays in the order of "
                                   "the axes x, y, z")
            if axis.standard_name.startswith("grid_") and "grid" not in standard.split("_"):
                raise ConvertError(f"'{name}' is {standard}, but the axis '{axis.name}' belongs to a rotated pole and has another direction; use "
                                   "--ignore-units to use all numbers unchanged")


def _sign(name, about, axis, options):
    """Returns -1 for a component whose positive direction is opposite to that of its axis, otherwise 1."""
    if axis.kind != "Z" or axis.positive not in ("up", "down") or unit(axis.unit) is None or unit(axis.unit).powers != (("m", 1),):
        return 1
    words = str(about.get("standard_name", "")).split("_")
    way = options.vertical or ("up" if "upward" in words else "down" if "downward" in words else None)
    if way is None and axis.positive == "down":
        raise ConvertError(f"'{name}' does not declare whether it is positive upward or downward, and the axis '{axis.name}' increases downward; use "
                           "--vertical up or --vertical down")
    return -1 if way is not None and way != axis.positive else 1


def _tell(done, names, units, axes):
    changed = [f"'{axes[i].name}' ({axes[i].unit})" for i in range(3) if done.factors[i] != 1]
    if changed:
        done.remarks.append(("lengths", f"coordinates of {', '.join(changed)} are converted to the unit of the velocity, {units[0].text}"))
    period = "s-1" if done.period == 1 else f"({done.period:g} s)-1"
    if done.in_degrees:
        first = done.in_degrees[0]
        done.remarks.append(("degrees", f"{listed(names[i] for i in done.in_degrees)} in {units[first].text} over degrees are converted to degree "
                                        f"{period} on a sphere of {axes[first].radius:.0f} m: u / (R cos latitude), v / R"))
    done.metadata["velocity_units"] = [f"degree {period}" if i in done.in_degrees else each.text for i, each in enumerate(units)]
