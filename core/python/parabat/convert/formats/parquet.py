# SPDX-License-Identifier: BSD-3-Clause
"""Arrow tables: Parquet, and Feather (Arrow IPC).

Lists of equal lengths become vectors. Timestamps become integers, with their unit in the metadata. Text columns are left out
and reported. A column with times or step numbers splits one table into several steps.
"""

import contextlib

import numpy as np

from ..model import Collector, ConvertError, Divided, Format, Step, check_memory, part_of
from ..step_columns import KeyColumns, find_keys
from ..table_times import GroupedSteps

EXACT = 2 ** 53
PIECE = 1 << 18  # rows
PER_SECOND = {"s": 1, "ms": 10 ** 3, "us": 10 ** 6, "ns": 10 ** 9}
SINCE_1970 = "seconds since 1970-01-01"


def steps(path, options):
    names, remarks = _key_columns(path, options), []
    if names:
        grouped = _Grouped(path, options, names)
        if grouped.keys.groups:
            yield from GroupedSteps(grouped, grouped.keys).steps()
            return
        remarks = grouped.keys.remarks
    yield Step(lambda: [_read(path, options, remarks)], divided=lambda: [_divided(path, options, remarks)])


def _key_columns(path, options):
    """Returns the KeyColumns of a file."""
    from pyarrow import types  # pylint: disable=import-outside-toplevel
    if options.time_column == "none":
        return KeyColumns()
    with _explained():
        schema = _open_file(path)[1]
    texts = [field.name for field in schema
             if not (types.is_integer(field.type) or types.is_floating(field.type) or _is_date(field.type))]
    return KeyColumns.find(schema.names, texts, options)


def _is_date(kind):
    from pyarrow import types  # pylint: disable=import-outside-toplevel
    return types.is_timestamp(kind) or types.is_duration(kind) or types.is_time(kind) or types.is_date(kind)


@contextlib.contextmanager
def _explained():
    """Turns errors of pyarrow into a ConvertError."""
    import pyarrow  # pylint: disable=import-outside-toplevel
    try:
        yield
    except (pyarrow.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ConvertError(f"cannot be read: {' '.join(str(error).split())[:300]}") from None


def _read(path, options, remarks):
    with _explained():
        schema, rows, column_of = _open(path)
        names = _requested(schema, options)
        check_memory(f"claims {rows} rows of {len(names)} columns", _bytes(schema, names, rows))
        return _particles(schema, names, rows, column_of, options, remarks)


def _requested(schema, options):
    names = schema.names
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ConvertError(f"two columns are named '{twice}'")
    return [name for name in names if Collector(options).wants(name)]


def _bytes(schema, names, rows):
    return rows * sum(map(_min_bytes, map(schema.field, names)))


def _particles(schema, names, rows, column_of, options, remarks=(), left_out=()):
    """Returns Particles from the columns `names`. left_out: names of columns that are not attributes."""
    collector = Collector(options, rows)
    collector.remarks += remarks
    collector.others |= {name for name in schema.names if not options.wants(name)} | set(left_out)
    units = {}
    for name in names:
        array = _values(column_of(name), name, collector, units)
        if array is not None:
            collector.add(name, array)
    return collector.particles(None, {"units": units} if units else None)


def _divided(path, options, remarks):
    """Returns a Divided, whose parts are read from row groups (Parquet) or batches (Feather)."""
    with _explained():
        batches = Batches(path, options)

    def read(i, n):
        first, end = part_of(batches.rows, i, n)
        with _explained():
            table = batches.read(first, end)
            return _particles(batches.schema, batches.names, end - first, table.column, options, remarks)
    return Divided(batches.bytes, read, varies=True)  # types depend on missing values


class _Grouped:
    """Reads the rows of a table with several steps in pieces; a `source` for GroupedSteps."""

    varies = True  # types depend on missing values

    def __init__(self, path, options, names):
        self._path, self._options, self._names = path, options, names
        with _explained():
            self._batches = Batches(path, options, [names.time, names.step])
        rows = self._batches.rows
        self._ends = [*range(0, max(rows, 1), PIECE), rows]
        self.keys = find_keys(names, self._walk)
        if names.time in self.keys.columns:
            self.keys.unit = self._find_unit(self._batches.schema.field(names.time)) or self.keys.unit
        self._requested = [name for name in _requested(self._batches.schema, options) if name not in self.keys.columns]

    def _find_unit(self, field):
        from pyarrow import types  # pylint: disable=import-outside-toplevel
        if types.is_timestamp(field.type) or types.is_date(field.type):
            return SINCE_1970
        return "s" if _is_date(field.type) else (field.metadata or {}).get(b"units", b"").decode(errors="replace")

    def _walk(self, names):
        """Yields the times and steps of each piece, reading only their columns."""
        with _explained():
            own = [name for name in (names.time, names.step) if name]
            batches = Batches(self._path, self._options, own, only=True)
            for first, end in zip(self._ends, self._ends[1:]):
                table = batches.read(first, end)
                yield [_key_values(table.column(name), name) if name else None for name in (names.time, names.step)]

    def size(self, first, last):
        return max(1, self._batches.bytes // max(1, self._batches.rows)) * (self._ends[last + 1] - self._ends[first])

    def load(self, first, last, i, n):
        first, end = (self._ends[first] + place for place in part_of(self._ends[last + 1] - self._ends[first], i, n))
        names = self._batches.names
        check_memory(f"claims {end - first} rows of {len(names)} columns", _bytes(self._batches.schema, names, end - first))
        with _explained():
            table = self._batches.read(first, end)
            keys = [_key_values(table.column(name), name) if name else None for name in (self._names.time, self._names.step)]
        return *keys, table

    def particles(self, content, rows):
        with _explained():
            if len(rows) and rows[-1] - rows[0] + 1 == len(rows):
                content = content.slice(int(rows[0]), len(rows))
            else:
                content = content.take(rows)
            return _particles(content.schema, self._requested, len(rows), content.column, self._options, (), self.keys.columns)


def _key_values(column, name):
    """Returns times or step numbers as an array, with dates and durations in seconds, and NaN for missing values."""
    import pyarrow.compute  # pylint: disable=import-outside-toplevel
    from pyarrow import types  # pylint: disable=import-outside-toplevel
    kind, missing = column.type, column.is_null().to_numpy()
    if _is_date(kind):
        per_second = 1000 if types.is_date64(kind) else 1 if types.is_date32(kind) else PER_SECOND[kind.unit]
        seconds = 86400 if types.is_date32(kind) else 1
        column = column.cast("int32" if kind.bit_width == 32 else "int64")
        ticks = pyarrow.compute.fill_null(column, 0).to_numpy().astype(np.int64)
        values = (ticks // per_second * seconds) + (ticks % per_second) / per_second
    elif types.is_floating(kind):
        return column.to_numpy()  # missing values become NaN
    else:
        values = pyarrow.compute.fill_null(column, 0).to_numpy()
        if not missing.any():
            return values
        if (np.abs(values.astype(np.float64)) >= EXACT).any():
            raise ConvertError(f"'{name}' lacks values and has integers beyond 2^53, so it cannot tell steps apart; use "
                               "--time-column none")
        values = values.astype(np.float64)
    values[missing] = np.nan
    return values


class Batches:
    """The rows of a file, read in ascending order, some at a time."""

    def __init__(self, path, options, others=(), only=False):
        """others: names of columns to read in addition. only: read no other columns."""
        self._path = path
        self._file, self.schema, self._is_parquet = _open_file(path)
        self.names = [] if only else _requested(self.schema, options)
        self.names += [name for name in others if name and name not in self.names]
        self._counts = self._count_group_rows()
        self.rows = sum(self._counts)
        self.bytes = sum(map(_shown_bytes, map(self.schema.field, self.names))) * self.rows
        self._batches, self._row, self._rest = None, 0, []

    def _count_group_rows(self):
        if self._is_parquet:
            return [self._file.metadata.row_group(i).num_rows for i in range(self._file.num_row_groups)]
        from pyarrow import dataset  # pylint: disable=import-outside-toplevel
        return [dataset.dataset(self._path, format="ipc").count_rows()]  # counts the rows of all batches without reading them

    def _from(self, row, size):
        """Returns the first row of the group that contains a row, and the batches from there on."""
        group, start = 0, 0
        while group < len(self._counts) and start + self._counts[group] <= row:
            start += self._counts[group]
            group += 1
        if not self._is_parquet:
            return start, (self._file.get_batch(i) for i in range(self._file.num_record_batches))
        # A name with dots would select a field of a structure, so columns are then selected by index.
        columns = None if any("." in name for name in self.names) else self.names
        return start, self._file.iter_batches(batch_size=max(1, size), row_groups=list(range(group, len(self._counts))), columns=columns)

    def read(self, first, end):
        """Returns a table of the rows [first, end)."""
        import pyarrow  # pylint: disable=import-outside-toplevel
        if self._batches is None or first != self._row:
            start, self._batches = self._from(first, end - first)
            self._rest, self._row = [], first
            self._skip(first - start)
        taken, missing = [], end - first
        while missing:
            batch = self._next()
            some = min(missing, batch.num_rows)
            taken.append(batch.slice(0, some))
            if some < batch.num_rows:
                self._rest.append(batch.slice(some))
            missing -= some
        self._row = end
        fields = [self.schema.field(name) for name in self.names]
        if not taken:
            return pyarrow.schema(fields).empty_table()
        return pyarrow.Table.from_batches([pyarrow.RecordBatch.from_arrays(
            [batch.column(batch.schema.get_field_index(name)) for name in self.names], self.names) for batch in taken])

    def _next(self):
        if self._rest:
            return self._rest.pop()
        batch = next(self._batches, None)
        if batch is None:
            raise ConvertError(f"ends before its {self.rows} rows")
        return batch

    def _skip(self, count):
        while count:
            batch = self._next()
            if batch.num_rows > count:
                self._rest.append(batch.slice(count))
            count -= min(count, batch.num_rows)


def _open_file(path):
    """Returns (file, schema, whether it is Parquet); its rows are not read yet."""
    magic = _magic(path)
    if magic.startswith(b"PAR1"):
        from pyarrow import parquet  # pylint: disable=import-outside-toplevel
        file = parquet.ParquetFile(path, memory_map=False, pre_buffer=False)
        return file, file.schema_arrow, True
    if magic != b"ARROW1":
        raise ConvertError("does not start like a Parquet or Arrow file")
    from pyarrow import OSFile, ipc  # pylint: disable=import-outside-toplevel
    file = ipc.open_file(OSFile(path))
    return file, file.schema, False


def _magic(path):
    with open(path, "rb") as file:
        return file.read(6)


def _shown_bytes(field):
    """Returns the approximate bytes per value in memory."""
    from pyarrow import types  # pylint: disable=import-outside-toplevel
    kind = field.type
    if types.is_fixed_size_list(kind):
        return kind.list_size * 8
    return 24 if types.is_list(kind) or types.is_large_list(kind) else max(8, _min_bytes(field))


def _min_bytes(field):
    try:
        return field.type.bit_width // 8
    except ValueError:  # texts and lists have no width
        return 0


def _open(path):
    """Returns the schema, the number of rows, and a function from a name to its column; one column at a time is in memory."""
    magic = _magic(path)
    if magic.startswith(b"PAR1"):
        from pyarrow import parquet  # pylint: disable=import-outside-toplevel
        source = parquet.ParquetFile(path)
        names = source.schema_arrow.names

        def column_of(name):
            # Selected by index, since a name with dots would select a field of a structure.
            column = source.read(columns=[name]) if "." not in name else source.read().select([names.index(name)])
            return column.column(name)
        return source.schema_arrow, source.metadata.num_rows, column_of
    if magic != b"ARROW1":
        raise ConvertError("does not start like a Parquet or Arrow file")
    from pyarrow import ipc, memory_map  # pylint: disable=import-outside-toplevel
    table = ipc.open_file(memory_map(path)).read_all()
    return table.schema, table.num_rows, table.column


def _values(column, name, collector, units):
    """Returns a NumPy array, or None for a column that is left out and reported."""
    import pyarrow.compute  # pylint: disable=import-outside-toplevel
    from pyarrow import types  # pylint: disable=import-outside-toplevel
    kind = column.type
    if types.is_fixed_size_list(kind) or types.is_list(kind) or types.is_large_list(kind):
        return _vectors(column, name, collector)
    if _is_date(kind):
        units[name] = str(kind)
        column = column.cast("int32" if kind.bit_width == 32 else "int64")
    elif not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
        collector.leave_out(name, f"its type is {kind}")
        return None
    if not column.null_count:
        return column.to_numpy()
    if types.is_floating(kind):
        collector.remarks.append((f"missing {name}", f"'{name}' lacks {column.null_count} values, which become NaN"))
        nan = pyarrow.scalar(np.nan, "float64").cast(kind) if kind != pyarrow.float16() else None
        return column.to_numpy() if nan is None else pyarrow.compute.fill_null(column, nan).to_numpy()
    missing = column.is_null().to_numpy()
    filled = pyarrow.compute.fill_null(column, False if types.is_boolean(kind) else 0).to_numpy()
    doubles = filled.astype(np.float64)
    if filled.dtype.kind != "b" and (np.abs(doubles) >= EXACT).any():
        raise ConvertError(f"'{name}' lacks {column.null_count} values, which would become NaN, but has integers beyond 2^53, which floating-point "
                           "numbers cannot represent; choose others with --arrays")
    doubles[missing] = np.nan
    collector.remarks.append((f"missing {name}", f"'{name}' lacks {column.null_count} values and becomes float64 with NaN"))
    return doubles


def _vectors(column, name, collector):
    import pyarrow.compute  # pylint: disable=import-outside-toplevel
    from pyarrow import types  # pylint: disable=import-outside-toplevel
    inner = column.type.value_type
    if not (types.is_integer(inner) or types.is_floating(inner) or types.is_boolean(inner)):
        collector.leave_out(name, f"its type is {column.type}")
        return None
    lengths = pyarrow.compute.unique(pyarrow.compute.list_value_length(column)).to_pylist()
    if not lengths:
        size = column.type.list_size if types.is_fixed_size_list(column.type) else 1
        return np.empty((0, size), inner.to_pandas_dtype())
    if len(lengths) != 1 or lengths[0] is None:
        collector.leave_out(name, "its lists have different lengths, or are missing")
        return None
    values = pyarrow.compute.list_flatten(column)
    if values.null_count:
        collector.leave_out(name, f"{values.null_count} values in its lists are missing")
        return None
    return values.to_numpy().reshape(len(column), lengths[0])


FORMAT = Format("parquet", "Parquet and Feather (Arrow)", steps, extensions=(".parquet", ".feather", ".arrow"),
                modules=(("pyarrow", "pyarrow", "parquet"),), options=("columns", "time_column"),
                sniff=lambda head, path: head.startswith((b"PAR1", b"ARROW1")))
