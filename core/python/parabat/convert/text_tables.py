# SPDX-License-Identifier: BSD-3-Clause
"""Reads tables of numbers in delimited text (.csv, .tsv, .txt) exactly, in shares for several processes.

Integers become int64 or uint64; other numbers become float64, as Python parses them. Does not
depend on VTK or MPI.

    layout = look("particles.csv")
    share = Share("particles.csv", layout, part=0, parts=1)
    types, remarks = agree(layout, [share.facts])           # of all shares
    columns = share.columns(types)                          # arrays by name

A number that does not fit causes a remark or a TableError.
"""

import csv
import io
import os
import re
import warnings

import numpy as np

# Names of columns that may contain the time or the step number of each row.
TIME_NAME = re.compile(r"(time|TIME|Time|t)\Z")
STEP_NAME = re.compile(r"(time[ _-]?step|step|frame)\Z", re.IGNORECASE)

# Found in the first lines of every file that has such a column.
MAY_HAVE_STEPS = re.compile(rb"time|step|frame|(?<![A-Za-z0-9_])t(?![A-Za-z0-9_])", re.IGNORECASE)

SINCE_1970 = "seconds since 1970-01-01"  # the unit of dates

_UNIT = re.compile(r"(.*\S)\s*[(\[]\s*([^()\[\]]*[^\s()\[\]\d][^()\[\]]*?)\s*[)\]]\Z")

CHUNK = 8 << 20
HEAD = 1 << 20

INTEGER = re.compile(r"[+-]?[0-9]+\Z")
NUMBER = re.compile(r"[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?|inf(inity)?|nan)\Z", re.IGNORECASE)

# Texts that mark a missing value, in lower case; DASHES do so only in columns with numbers.
MISSING = frozenset(("", "na", "n/a", "<na>", "#n/a", "null", "none"))
DASHES = frozenset(("-", "--", "."))

# A line above the rows that begins with one of these is a comment.
COMMENTS = ("#", "%", "!", "//")

# These also mark comments among the rows, if the file has such comments above the rows.
_AMONG_ROWS = ("#", "%")

_FORTRAN = re.compile(r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))[dD]([+-]?[0-9]+)\Z")
_FORTRAN_SHORT = re.compile(r"([+-]?(?:[0-9]+\.[0-9]*|\.[0-9]+))([+-][0-9]{3})\Z")  # exponents with three digits
_FORTRAN_BYTES = re.compile(rb"([0-9.])[dD]([+-]?[0-9])")
_NO_NAMES = "its first line contains numbers instead of column names"
_OF_NUMBERS = b"0123456789+-.,;|dDeE \t\r\n"
_D_TO_E = bytes.maketrans(b"dD", b"ee")
_COMMA = re.compile(r"[+-]?([0-9]*,[0-9]+|[0-9]+,)([ed][+-]?[0-9]+)?\Z", re.IGNORECASE)
_INNER_COMMA = re.compile(r"[^,]*([0-9],[0-9][^,]*)?\Z")
_THOUSANDS = re.compile(r"[+-]?[0-9]{1,3}(,[0-9]{3})+\Z")
_POINT = re.compile(rb"[0-9]\.|\.[0-9]")
_NAME_WITH_UNIT = re.compile(r"[^\s(\[]\S*(?:\s+[(\[][^)\]]*[)\]])?")

_DATE = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[T ]([0-9]{2}:[0-9]{2}(?::[0-9]{2})?)(?:[.,]([0-9]{1,9}))?"
                   r"(?: ?(?:Z|([+-])([0-9]{2}):?([0-9]{2})?))?)?\Z")

INFINITY = re.compile(r"[+-]?inf(inity)?\Z", re.IGNORECASE)

# float64 represents integers up to this limit exactly.
EXACT = 2 ** 53
LONG_INTEGER = re.compile(rb"(?<![0-9.eE])[+-]?[0-9]{16,}(?![0-9.eE])")

# Earlier versions of loadtxt parse integers as floating-point numbers.
_FAST = tuple(int(part) for part in np.__version__.split(".")[:2]) >= (1, 23)


# What spreadsheet programs interpret as a formula at the beginning of a cell, possibly after characters that they skip. A
# cell begins at the start of the text, and after anything that some program interprets as a delimiter.
_FORMULA = r"(?=['\s]*[=+\-@\uff1d\uff0b\uff0d\uff20])"
_CELL = r"(^|[,;|\t\r\n])"


def column_name(name):
    """Returns a name as written to a table: adds an apostrophe before anything that a spreadsheet program would interpret
    as a formula, and before text that already looks escaped in this way."""
    return re.sub(_CELL + _FORMULA, r"\1'", name)


def named_by(text):
    """Returns the name that column_name() turned into this text."""
    return re.sub(_CELL + "'" + _FORMULA, r"\1", text)


def split_unit(name):
    """Returns (name, unit) of a column such as `time (s)` or `x [mm]`; the unit is "" if there is none."""
    found = _UNIT.match(name)
    return (found[1], found[2]) if found else (name, "")


def listed(names, maximum=12):
    """Returns some names in words."""
    names = [str(name) for name in names]
    rest = f" and {len(names) - maximum} others" if len(names) > maximum else ""
    return (", ".join(f"'{name}'" for name in names[:maximum]) or "nothing") + rest


class TableError(Exception):
    """An invalid file; the message says why."""


class DateError(TableError):
    """A text in a column of dates is not a date."""


class Layout:
    """The layout of a file.

    delimiter: None for white space. names: of the columns. start: the byte where rows start. texts: index of each
    non-numeric column -> an example value. dates: indexes of columns that become seconds since 1970; the caller moves
    them here from texts. fractions: indexes of columns whose first rows have numbers that are not integers.
    decimal: "." or ",". is_fortran: whether the first rows have exponents with D, or without a letter. has_names: whether
    the file names the columns. comment: the prefix of comments among the rows, or "". remarks: pairs of a key and a
    message.
    """

    def __init__(self, delimiter, names, start, decimal="."):
        self.delimiter = delimiter
        self.names = names
        self.start = start
        self.decimal = decimal
        self.is_fortran = False
        self.has_names = True
        self.comment = ""
        self.texts = {}
        self.dates = set()
        self.fractions = set()
        self.remarks = []

    def has_dates(self, name):
        return any(self.names[i] == name for i in self.dates)

    def find_dates(self, given):
        """Moves columns with the time of each row from texts to dates. given: the name of the chosen column, or None to find
        it by name."""
        bare = [split_unit(name)[0].strip() for name in self.names]
        if given is None and any(TIME_NAME.match(name) for i, name in enumerate(bare) if i not in self.texts):
            return  # has times that are numbers
        for i, value in list(self.texts.items()):
            is_time = TIME_NAME.match(bare[i]) if given is None else self.names[i] == given and not STEP_NAME.match(bare[i])
            if is_time and seconds_of(value) is not None:
                del self.texts[i]
                self.dates.add(i)

    def number(self, value):
        """Returns a number in a form that Python parses, "" for a missing value, or None for any other text."""
        return _number(value, self.decimal)

    def without_comments(self, chunk):
        """Returns (rows with comments replaced by empty lines, number of comments)."""
        if not self.comment or self.comment.encode() not in chunk:
            return chunk, 0
        return re.subn(rb"^[ \t]*" + self.comment.encode() + rb"[^\r\n]*", b"", chunk, flags=re.MULTILINE)

    def translated(self, chunk):
        """Returns rows with numbers in a form that Python parses, or None if that requires splitting the fields."""
        if self.decimal == ",":
            if self.delimiter == "," or b'"' in chunk or (b"." in chunk and _POINT.search(chunk)):
                return None
            chunk = chunk.replace(b",", b".")
        if self.is_fortran:
            if not chunk.translate(None, _OF_NUMBERS):
                return chunk.translate(_D_TO_E)
            chunk = _FORTRAN_BYTES.sub(rb"\1e\2", chunk)
        return chunk


def _number(value, decimal):
    if decimal == "," and not INTEGER.match(value):
        if "." in value:
            return "" if value in DASHES else None
        value = value.replace(",", ".")
    if NUMBER.match(value):
        return value
    if value.lower() in MISSING or value in DASHES:
        return ""
    fortran = _FORTRAN.match(value) or _FORTRAN_SHORT.match(value)
    return f"{fortran[1]}e{fortran[2]}" if fortran else None


def seconds_of(value):
    """Returns the seconds since 1970 of an ISO 8601 date (UTC without a time zone), or None for any other text."""
    found = _DATE.match(value)
    if not found:
        return None
    date, time, fraction, sign, hours, minutes = found.groups()
    try:
        seconds = int(np.datetime64(f"{date}T{time or '00:00'}", "s").astype(np.int64))
    except ValueError:
        return None
    offset = int(hours or 0) * 3600 + int(minutes or 0) * 60
    seconds += offset if sign == "-" else -offset
    return (seconds * 10 ** 9 + int((fraction or "").ljust(9, "0"))) / 10 ** 9


def look(path, delimiter=None, decimal=None, columns=None):
    """Determines the Layout of a file.

    The first line contains the column names, unless it is a row of numbers. In that case they come from the comment above it
    (after #, %, ! or //); without one, they are Field 0, Field 1 ... delimiter: None to detect it, " " for any white space.
    decimal: "." or ","; None to detect it. columns: names that the caller expects. A name like Field 1 implies that the file
    has no names; other names are given to the first columns of a file without names.
    """
    with open(path, "rb") as file:
        head = file.read(HEAD)
    lines, comment, sign = _first_lines(head, len(head) < HEAD)
    first = lines[0][0] if lines else comment
    given = decimal
    delimiter, decimal = _separators(first, delimiter, decimal)
    cells = [split(line, delimiter) for line, _, _ in lines]
    remarks = []
    decimal = decimal or _find_decimal(cells, delimiter)
    if decimal == "," and given is None:
        remarks.append(("decimal", "commas in numbers are read as decimal commas; --decimal . turns this off"))
    has_names = not lines or not _is_row(cells, decimal, columns)
    if not lines:
        names, start = split(comment, delimiter), len(head)
    elif has_names:
        names, start = cells[0], lines[0][2]
        cells = cells[1:]
        if cells and delimiter is None and len(names) != len(cells[0]):
            names = _split_names(first, delimiter, len(cells[0])) or names
    else:
        start = lines[0][1]
        names = _split_names(comment, delimiter, len(cells[0])) if comment else None
        has_names = names is not None
        if not has_names:
            names = _default_names(len(cells[0]), columns, remarks)
            if comment and split(comment, delimiter):
                key, words = remarks.pop()
                found = len(split(comment, delimiter))
                remarks.append((key, f"the comment above its rows has {found} names, but there are {len(names)} columns: "
                                     f"'{comment[:60]}'; {words}"))
    if cells and len(cells[0]) == len(names) + 1 and cells[0][-1] == "":
        names.append("")  # each row ends with a delimiter
    if cells and len(cells[0]) == len(names) - 1 and names[-1] == "":
        names.pop()
    layout = Layout(delimiter, _unique(list(map(named_by, names)), remarks), start, decimal)
    layout.remarks = remarks
    layout.has_names = has_names
    _classify(layout, names, cells)
    layout.comment = "" if 0 in layout.texts else sign
    return layout


def _first_lines(head, whole):
    """Returns ((text, first byte, end) of the first lines, the last comment above them or None, the prefix of comments among
    them or ""). head: the first bytes of a file. whole: whether they are the whole file."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise TableError("is UTF-16; save it as UTF-8")
    if b"\0" in head:
        raise TableError("contains zero bytes, so it is not text")
    if b"\r" in head and b"\n" not in head:
        raise TableError("has single carriage returns as line ends; save it with line feeds")
    place = 3 if head.startswith(b"\xef\xbb\xbf") else 0
    lines = []
    comment, sign = None, ""
    while place < len(head) and len(lines) < 1000:
        end = head.find(b"\n", place) + 1 or len(head)
        if end == len(head) and not whole and not head.endswith(b"\n"):
            break
        line = _decode(head[place:end]).rstrip("\r\n")
        if not lines and line.lstrip().startswith(COMMENTS):
            text = line.strip().lstrip("#%!/ \t")
            comment = text if comment is None or re.search(r"\w", text) else comment
            sign = line.lstrip()[0] if line.lstrip()[0] in _AMONG_ROWS else sign
        elif line.strip() and not (sign and line.lstrip().startswith(sign)):
            lines.append((line, place, end))
        place = end
    if not lines and not whole:
        raise TableError(f"has no line end in its first {HEAD} bytes, so it is not a table")
    if not lines and comment is None:
        raise TableError("is empty")
    return lines, comment, sign


def _separators(first, delimiter, decimal):
    """Returns the delimiter, and the decimal separator if the first line determines it."""
    if delimiter is not None:
        return (None if delimiter == " " else delimiter), decimal
    bare = re.sub('"[^"]*"', "", first)
    delimiter = next((each for each in "\t;," if each in bare), None)
    if delimiter == "," and decimal != ".":
        words = bare.split()
        if len(words) > 1 and all(_number(word, ",") and _INNER_COMMA.match(word) for word in words):
            return None, ","  # 1,5 2,5 3
        if decimal == "," and '"' not in first and len(words) > 1:
            return None, decimal
    return delimiter, decimal


def _find_decimal(cells, delimiter):
    """Returns the decimal separator of fields: a comma if some have one and none has a point."""
    values = [value for row in cells for value in row]
    commas = [value for value in values if "," in value and _COMMA.match(value)]
    if not commas or any("." in value and (NUMBER.match(value) or _FORTRAN.match(value)) for value in values):
        return "."
    if delimiter == "," and all(map(_THOUSANDS.match, commas)):
        return "."
    return ","


def _is_row(cells, decimal, columns):
    """Returns whether the first line is a row instead of names. A row has only numbers and missing values, or numbers with a
    fraction, and texts in the same columns as the next line."""
    first = [_number(value, decimal) for value in cells[0]]
    if any(re.fullmatch(r"Field \d+", name or "") and name not in cells[0] for name in columns or ()):
        return True
    if None not in first:
        return any(first)
    if len(cells) < 2 or len(cells[1]) != len(first):
        return False
    texts = [_number(value, decimal) is None for value in cells[1]]
    return texts == [value is None for value in first] and len(list(filter(None, first))) > 2 and any(
        value and not INTEGER.match(value) for value in first)


def _split_names(text, delimiter, count):
    """Returns the `count` column names in a line, or None. Names without a delimiter may have units in parentheses."""
    ways = [each for each in "\t;," if each in text and each != delimiter] if delimiter is None else []
    found = [split(text, each) for each in [*ways, delimiter]]
    if delimiter is None:
        found += [re.split(r"\s{2,}|\t", text.strip()), [name.strip() for name in _NAME_WITH_UNIT.findall(text)]]
    else:
        found.append(split(text, None))
    return next((names for names in found if len(names) == count), None)


def _default_names(count, columns, remarks):
    """Returns column names for a file without names."""
    names = [f"Field {i}" for i in range(count)]
    own = [name for name in columns or () if name is not None and name != "none"]
    if len(own) < 2 or len(own) > count or set(own) & set(names):
        remarks.append(("names", f"{_NO_NAMES}; columns are called Field 0, Field 1 ..."))
        return names
    names[:len(own)] = own
    others = f", the others Field {len(own)} ..." if count > len(own) else ""
    remarks.append(("names", f"{_NO_NAMES}; the first columns are {', '.join(own)}{others}"))
    return names


def _classify(layout, names, cells):
    """Finds the columns that have texts, and those that have fractions, in the first rows."""
    for i, name in enumerate(names):
        known = [row[i] for row in cells if i < len(row) and row[i]]
        first = next((value for value in known if value.lower() not in MISSING), None)
        if first in DASHES:
            first = next((value for value in known if layout.number(value)), first)
        is_text = cells and (first in DASHES or layout.number(first) is None if first is not None else not (known or name))
        if is_text:
            layout.texts[i] = first or ""
        elif not all(INTEGER.match(value) for value in known):
            layout.fractions.add(i)
            layout.is_fortran |= any(_FORTRAN.match(value) or _FORTRAN_SHORT.match(value) for value in known)


def split(line, delimiter):
    """Returns the fields of a line."""
    if delimiter is None:
        if '"' not in line:
            return line.split()
        return [field for field in next(csv.reader([line.strip()], delimiter=" ", skipinitialspace=True)) if field]
    return [field.strip() for field in next(csv.reader([line], delimiter=delimiter, skipinitialspace=True))]


def _decode(line):
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        return line.decode("latin-1")


def _unique(names, remarks):
    taken = set()
    result = []
    for i, name in enumerate(names):
        own = name or "Field %d" % i
        number = 2
        while own in taken:
            own = "%s_%d" % (name or "Field %d" % i, number)
            number += 1
        if own != name and name:
            remarks.append(("twice " + own, f"two columns are named '{name}'; the second is called '{own}'"))
        taken.add(own)
        result.append(own)
    return result


class Share:
    """The rows for one of `parts` processes: those that begin in its share of the bytes."""

    def __init__(self, path, layout, part=0, parts=1, requested=None, parser=None, on_progress=lambda share: None, span=None):
        """`requested`: names of the columns to read; None: all numeric ones. `parser(chunk, delimiter, types)`: a faster
        parser than NumPy's, which returns arrays for the columns that have a type, or None if the chunk has unusual
        content. `on_progress`: called with the share that has been read, 0 to 1. `span`: begin and end of the bytes with
        the rows to share, instead of all."""
        self.rows = 0
        self._parser = parser
        self._path = path
        self._layout = layout
        self._read = [i for i, name in enumerate(layout.names)
                      if i not in layout.texts and (requested is None or name in requested)]
        self._dates = [i for i in sorted(layout.dates) if requested is None or layout.names[i] in requested]
        self._read = [i for i in self._read if i not in layout.dates]
        self._seconds = {}  # cache: text -> seconds
        self._chunks = {i: [] for i in self._read + self._dates}
        # For each column: minimum and maximum integer, whether it has other numbers, a line without a value,
        # an integer that float64 rounds, and the number of comments among the rows.
        self.facts = {layout.names[i]: [None, None, i in layout.fractions, None, None, 0] for i in self._chunks}
        with open(path, "rb") as file:
            first, end = span or (layout.start, os.fstat(file.fileno()).st_size)
            ends = [first + max(0, end - first) * p // parts for p in (part, part + 1)]
            if ends[0] > layout.start:
                file.seek(ends[0] - 1)
                file.readline()
            else:
                file.seek(ends[0])
            while file.tell() < ends[1]:
                place = file.tell()
                chunk = file.read(min(CHUNK, ends[1] - place))
                if not chunk.endswith(b"\n"):
                    chunk += file.readline()
                self._take(chunk, place)
                on_progress((place - ends[0]) / (ends[1] - ends[0]))

    @property
    def nbytes(self):
        return sum(chunk.nbytes for chunks in self._chunks.values() for chunk in chunks)

    def columns(self, types, names=None):
        """Arrays by name, of the types of agree(). names: only these, which can be asked for again."""
        arrays = {}
        for i in self._read + self._dates:
            name = self._layout.names[i]
            if names is not None and name not in names:
                continue
            chunks = self._chunks.pop(i) if names is None else self._chunks[i]
            arrays[name] = np.empty(self.rows, types[name])
            place = 0
            for chunk in chunks:
                arrays[name][place:place + len(chunk)] = chunk
                place += len(chunk)
        return arrays

    def _take(self, chunk, place):
        chunk, comments = self._layout.without_comments(chunk)
        for facts in self.facts.values():
            facts[5] += comments
        if b'"' in chunk:
            self._check_quotes(chunk, place)
        if not chunk.strip():
            return
        text = self._layout.translated(chunk)
        columns = None if text is None else self._parse_fast(text)
        if columns is not None and any(
                column.dtype == np.float64 and (np.abs(column) >= EXACT).any() for column in columns.values()) and \
                LONG_INTEGER.search(text):
            columns = None  # some may be rounded, which _parse() reports
        if columns is None:
            columns = self._parse(chunk.decode("utf-8", errors="replace"), place)
        rows = {len(column) for column in columns.values()}
        self.rows += rows.pop() if rows else 0
        columns.update(self._parse_dates(chunk, place))
        for i, column in columns.items():
            self._chunks[i].append(column)
            facts = self.facts[self._layout.names[i]]
            if column.dtype == np.float64:
                continue
            if len(column):
                low, high = int(column.min()), int(column.max())
                facts[0] = low if facts[0] is None else min(facts[0], low)
                facts[1] = high if facts[1] is None else max(facts[1], high)
                facts[4] = facts[4] or _inexact(column)

    def _parse_fast(self, chunk):
        """Returns the columns of a chunk, or None if it has unusual content."""
        if not self._read:
            return None
        types = []
        for i, name in enumerate(self._layout.names):
            if i not in self._chunks or i in self._dates:
                types.append(None)  # skipped, but counted as a field
                continue
            low, high, fraction = self.facts[name][:3]
            integer = "u8" if high is not None and high >= 2 ** 63 and low >= 0 else "i8"
            types.append("f8" if fraction else integer)
        if self._parser and b'"' not in chunk:
            arrays = self._parser(chunk, self._layout.delimiter, types)
            if arrays is not None:
                return {i: arrays[i] for i in self._read}
        return self._parse_by_numpy(chunk, types) if _FAST else None

    def _parse_by_numpy(self, chunk, types):
        types = [("f%d" % i, kind or "U1") for i, kind in enumerate(types)]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # also if 1.5 would become an integer
                table = np.loadtxt(io.StringIO(chunk.decode("utf-8", errors="replace")), dtype=types,
                                   delimiter=self._layout.delimiter, comments=None, quotechar='"', ndmin=1)
        except (ValueError, OverflowError, Warning):
            return None
        columns = {i: table["f%d" % i].copy() for i in self._read}
        # Infinity may be a number beyond the range, which _parse() reports.
        return None if any(np.isinf(each).any() for each in columns.values()) else columns

    def _parse(self, text, place):
        rows = []
        count = len(self._layout.names)
        for number, line in enumerate(text.split("\n")):
            if not line.strip():
                continue
            fields = split(line.rstrip("\r"), self._layout.delimiter)
            if len(fields) != count:
                raise TableError(f"line {self._line(place, number)} has {len(fields)} fields instead of {count}: "
                                 f"'{line.strip()[:60]}'{_comment_hint(line)}")
            rows.append((number, fields))
        columns = {i: self._column(i, rows, place) for i in self._read}
        if not columns:
            self.rows += len(rows)
        return columns

    def _column(self, i, rows, place):
        name = self._layout.names[i]
        facts = self.facts[name]
        values = [fields[i] for _, fields in rows]
        others = [place for place, value in enumerate(values) if not INTEGER.match(value)]
        for at in others:
            value, values[at] = values[at], self._layout.number(values[at])
            if values[at] is None:
                raise TableError(f"line {self._line(place, rows[at][0])}: '{value[:60]}' in column '{name}' is not a number, "
                                 f"although earlier values are{self._hint(value)}")
            if not values[at] and facts[3] is None:
                facts[3] = self._line(place, rows[at][0])
            facts[2] = facts[2] or bool(values[at])
        for (number, fields), value in zip(rows, values):
            if value and np.isinf(float(value)) and not INFINITY.match(value):
                raise TableError(f"line {self._line(place, number)}: '{fields[i][:60]}' in column '{name}' exceeds the range of "
                                 "float64, 1.8e308")
        integers = [int(value) for value in values if INTEGER.match(value)]
        for low, high, kind in ((-2 ** 63, 2 ** 63 - 1, "i8"), (0, 2 ** 64 - 1, "u8")):
            if not others and integers and low <= min(integers) and max(integers) <= high:
                return np.array(integers, kind)
        if integers:
            facts[0] = min([*integers, facts[0]] if facts[0] is not None else integers)
            facts[1] = max([*integers, facts[1]] if facts[1] is not None else integers)
            facts[4] = facts[4] or next((value for value in integers if int(float(value)) != value), None)
        return np.array([float(value) if value else np.nan for value in values], "f8")

    def _parse_dates(self, chunk, place):
        """Returns the columns with dates, in seconds. The rows have been checked."""
        columns = {i: [] for i in self._dates}
        lines = chunk.decode("utf-8", errors="replace").split("\n") if columns else ()
        for number, line in enumerate(lines):
            if not line.strip():
                continue
            simple = '"' not in line
            fields = line.split(self._layout.delimiter) if simple else split(line.rstrip("\r"), self._layout.delimiter)
            for i, column in columns.items():
                seconds = self._seconds.get(fields[i])
                column.append(self._to_seconds(i, fields[i], place, number) if seconds is None else seconds)
        return {i: np.array(column, "f8") for i, column in columns.items()}

    def _to_seconds(self, i, field, place, number):
        value, facts = field.strip(), self.facts[self._layout.names[i]]
        if _number(value, ".") == "" or value.lower() in ("nan", "nat"):
            facts[3] = self._line(place, number) if facts[3] is None else facts[3]
            return np.nan
        seconds = seconds_of(value)
        if seconds is None:
            raise DateError(f"line {self._line(place, number)}: '{value[:60]}' in column '{self._layout.names[i]}' is not a "
                            "date, although earlier values are")
        facts[2] = True
        if len(self._seconds) < 100_000:
            self._seconds[field] = seconds
        return seconds

    def _hint(self, value):
        """Returns a hint for a text that is not a number, or ""."""
        if value.startswith(_AMONG_ROWS):
            return _comment_hint(value)
        other = "." if self._layout.decimal == "," else ","
        return f"; with --decimal {other} it is one" if other in value and _number(value, other) else ""

    def _check_quotes(self, chunk, place):
        for number, line in enumerate(chunk.split(b"\n")):
            if line.count(b'"') % 2:
                raise TableError(f"line {self._line(place, number)} has an odd number of quotation marks; texts that contain line ends are not supported")

    def _line(self, place, number):
        """Returns the line number in the file for a line of the chunk that begins at byte `place`."""
        lines = number + 1
        with open(self._path, "rb") as file:
            while place > 0:
                block = file.read(min(CHUNK, place))
                lines += block.count(b"\n")
                place -= len(block) or place
        return lines


def _comment_hint(line):
    if not line.lstrip().startswith(_AMONG_ROWS):
        return ""
    return (f"; it looks like a comment, but those are skipped only if one with {line.lstrip()[0]} is above the rows, and the "
            "first column has numbers")


def _inexact(integers):
    """Returns an integer that float64 cannot represent exactly, or None."""
    large = integers > EXACT
    if integers.dtype.kind == "i":
        large |= integers < -EXACT
    large = integers[large]
    rounded = large.astype("f8")
    top = 2.0 ** (63 if integers.dtype.kind == "i" else 64)
    wrong = large[np.where(rounded < top, rounded, 0).astype(large.dtype) != large]
    return int(wrong[0]) if len(wrong) else None


def agree(layout, facts, requested=None):
    """Returns the type of each numeric column, from the facts of all shares, and remarks, each a key and a
    message."""
    types = {}
    remarks = list(layout.remarks)
    texts = [f"'{layout.names[i]}'" + (f" ('{value[:60]}' ...)" if value else "")
             for i, value in layout.texts.items() if requested is None or layout.names[i] in requested]
    if texts:
        remarks.append(("texts", "non-numeric columns are not written: " + ", ".join(texts)))
    comments = max((sum(each[name][5] for each in facts) for name in facts[0]), default=0)
    if comments:
        remarks.append(("comments", f"comments among the rows, beginning with {layout.comment}, are skipped: {comments}"))
    for name in facts[0]:
        low = min((each[name][0] for each in facts if each[name][0] is not None), default=None)
        high = max((each[name][1] for each in facts if each[name][1] is not None), default=None)
        fraction = any(each[name][2] for each in facts)
        missing = min((each[name][3] for each in facts if each[name][3] is not None), default=None)
        inexact = next((each[name][4] for each in facts if each[name][4] is not None), None)
        types[name] = np.dtype("f8")
        if low is not None and not fraction and missing is None:
            if -2 ** 63 <= low and high < 2 ** 63:
                types[name] = np.dtype("i8")
            elif 0 <= low and high < 2 ** 64:
                types[name] = np.dtype("u8")
        if missing is not None:
            remarks.append(("missing " + name,
                            f"column '{name}' lacks values, the first in line {missing}; they become NaN"))
        if types[name] == np.dtype("f8") and inexact is not None:
            why = ("it lacks values" if missing is not None else "it has fractions" if fraction
                   else "no 64-bit type can represent its integers")
            remarks.append(("rounded " + name, f"column '{name}' becomes float64, because {why}; its integer {inexact} is rounded to "
                                               f"{int(float(inexact))}"))
    return types, remarks
