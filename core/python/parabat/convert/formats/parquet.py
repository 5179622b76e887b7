# SPDX-License-Identifier: BSD-3-Clause
"""Tables of Arrow: Parquet, and Feather (Arrow IPC). Lists of one length are vectors; times are integers, whose unit is in
the metadata; columns of texts are left out and said."""

import contextlib

import numpy as np

from ..model import Collector, ConvertError, Divided, Format, Step, check_memory, part_of

EXACT = 2 ** 53


def steps(path, options):
    yield Step(lambda: [_read(path, options)], divided=lambda: [_divided(path, options)])


@contextlib.contextmanager
def _explained():
    """What pyarrow says becomes a ConvertError."""
    import pyarrow  # pylint: disable=import-outside-toplevel
    try:
        yield
    except (pyarrow.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ConvertError(f"cannot be read: {' '.join(str(error).split())[:300]}") from None


def _read(path, options):
    with _explained():
        schema, rows, column_of = _open(path)
        names = _requested(schema, options)
        check_memory(f"claims {rows} rows of {len(names)} columns", _bytes(schema, names, rows))
        return _particles(schema, names, rows, column_of, options)


def _requested(schema, options):
    names = schema.names
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ConvertError(f"two columns are named '{twice}'")
    return [name for name in names if Collector(options).wants(name)]


def _bytes(schema, names, rows):
    return rows * sum(map(_min_bytes, map(schema.field, names)))


def _particles(schema, names, rows, column_of, options):
    collector = Collector(options, rows)
    collector.others |= {name for name in schema.names if not options.wants(name)}
    units = {}
    for name in names:
        array = _values(column_of(name), name, collector, units)
        if array is not None:
            collector.add(name, array)
    return collector.particles(None, {"units": units} if units else None)


def _divided(path, options):
    """In parts, of which those of Parquet are read from groups of rows, and those of Feather from batches."""
    with _explained():
        batches = Batches(path, options)

    def read(i, n):
        first, end = part_of(batches.rows, i, n)
        with _explained():
            table = batches.read(first, end)
            return _particles(batches.schema, batches.names, end - first, table.column, options)
    return Divided(batches.bytes, read, varies=True)  # what is missing decides on types


class Batches:
    """Rows of a file, of which some are read at a time, in their order."""

    def __init__(self, path, options):
        self._path = path
        self._is_parquet = _magic(path).startswith(b"PAR1")
        self._file = self._open()
        self.schema = self._file.schema_arrow if self._is_parquet else self._file.schema
        self.names = _requested(self.schema, options)
        self._counts = self._count_group_rows()
        self.rows = sum(self._counts)
        self.bytes = sum(map(_shown_bytes, map(self.schema.field, self.names))) * self.rows
        self._batches, self._row, self._rest = None, 0, []

    def _open(self):
        if self._is_parquet:
            from pyarrow import parquet  # pylint: disable=import-outside-toplevel
            return parquet.ParquetFile(self._path, memory_map=False, pre_buffer=False)
        from pyarrow import OSFile, ipc  # pylint: disable=import-outside-toplevel
        return ipc.open_file(OSFile(self._path))

    def _count_group_rows(self):
        if self._is_parquet:
            return [self._file.metadata.row_group(i).num_rows for i in range(self._file.num_row_groups)]
        from pyarrow import dataset  # pylint: disable=import-outside-toplevel
        return [dataset.dataset(self._path, format="ipc").count_rows()]  # of all batches, none of which is read

    def _from(self, row, size):
        """Batches that begin with the group that a row is in, and the row at which that begins."""
        group, start = 0, 0
        while group < len(self._counts) and start + self._counts[group] <= row:
            start += self._counts[group]
            group += 1
        if not self._is_parquet:
            return start, (self._file.get_batch(i) for i in range(self._file.num_record_batches))
        # Asked for by number where a name has dots, which would mean what is in a structure.
        columns = None if any("." in name for name in self.names) else self.names
        return start, self._file.iter_batches(batch_size=max(1, size), row_groups=list(range(group, len(self._counts))), columns=columns)

    def read(self, first, end):
        """A table of rows [first, end)."""
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


def _magic(path):
    with open(path, "rb") as file:
        return file.read(6)


def _shown_bytes(field):
    """About as many as a value has in memory."""
    from pyarrow import types  # pylint: disable=import-outside-toplevel
    kind = field.type
    if types.is_fixed_size_list(kind):
        return kind.list_size * 8
    return 24 if types.is_list(kind) or types.is_large_list(kind) else max(8, _min_bytes(field))


def _min_bytes(field):
    try:
        return field.type.bit_width // 8
    except ValueError:  # texts and lists have none
        return 0


def _open(path):
    """Schema, number of rows, and a function from a name to its column: one at a time is in memory."""
    magic = _magic(path)
    if magic.startswith(b"PAR1"):
        from pyarrow import parquet  # pylint: disable=import-outside-toplevel
        source = parquet.ParquetFile(path)
        names = source.schema_arrow.names

        def column_of(name):
            # Asked for by number: a name with dots would mean what is in a structure.
            column = source.read(columns=[name]) if "." not in name else source.read().select([names.index(name)])
            return column.column(name)
        return source.schema_arrow, source.metadata.num_rows, column_of
    if magic != b"ARROW1":
        raise ConvertError("does not start like a Parquet or Arrow file")
    from pyarrow import ipc, memory_map  # pylint: disable=import-outside-toplevel
    table = ipc.open_file(memory_map(path)).read_all()
    return table.schema, table.num_rows, table.column


def _values(column, name, collector, units):
    """An array of numpy, or None for what is left out, which is said."""
    import pyarrow.compute  # pylint: disable=import-outside-toplevel
    from pyarrow import types  # pylint: disable=import-outside-toplevel
    kind = column.type
    if types.is_fixed_size_list(kind) or types.is_list(kind) or types.is_large_list(kind):
        return _vectors(column, name, collector)
    if types.is_timestamp(kind) or types.is_duration(kind) or types.is_time(kind) or types.is_date(kind):
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
                modules=(("pyarrow", "pyarrow", "parquet"),), options=("columns",),
                sniff=lambda head, path: head.startswith((b"PAR1", b"ARROW1")))
