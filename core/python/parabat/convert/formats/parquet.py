# SPDX-License-Identifier: BSD-3-Clause
"""Tables of Arrow: Parquet, and Feather (Arrow IPC). Lists of one length are vectors; times are integers, whose unit is in
the metadata; columns of texts are left out and said."""

import numpy as np

from ..model import Collector, ConvertError, Format, Step, check_memory

EXACT = 2 ** 53


def steps(path, options):
    yield Step(lambda: [_read(path, options)])


def _read(path, options):
    import pyarrow  # pylint: disable=import-outside-toplevel
    try:
        schema, rows, column_of = _open(path)
        names = schema.names
        if len(set(names)) != len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ConvertError(f"two columns are named '{twice}'")
        collector = Collector(options, rows)
        units = {}
        wanted = [name for name in names if collector.wants(name)]
        check_memory(f"claims {rows} rows of {len(wanted)} columns", rows * sum(map(_least_bytes, map(schema.field, wanted))))
        for name in wanted:
            array = _values(column_of(name), name, collector, units)
            if array is not None:
                collector.add(name, array)
        return collector.particles(None, {"units": units} if units else None)
    except (pyarrow.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ConvertError(f"cannot be read: {' '.join(str(error).split())[:300]}") from None


def _least_bytes(field):
    try:
        return field.type.bit_width // 8
    except ValueError:  # texts and lists have none
        return 0


def _open(path):
    """Schema, number of rows, and a function from a name to its column: one at a time is in memory."""
    with open(path, "rb") as file:
        magic = file.read(6)
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
        raise ConvertError("does not begin as Parquet or Arrow files do")
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
        collector.remarks.append((f"missing {name}", f"'{name}' lacks {column.null_count} values; they become NaN"))
        nan = pyarrow.scalar(np.nan, "float64").cast(kind) if kind != pyarrow.float16() else None
        return column.to_numpy() if nan is None else pyarrow.compute.fill_null(column, nan).to_numpy()
    missing = column.is_null().to_numpy()
    filled = pyarrow.compute.fill_null(column, False if types.is_boolean(kind) else 0).to_numpy()
    doubles = filled.astype(np.float64)
    if filled.dtype.kind != "b" and (np.abs(doubles) >= EXACT).any():
        raise ConvertError(f"'{name}' lacks {column.null_count} values, which would become NaN, and has integers beyond "
                           "2^53, which no floating-point number holds; choose others by --arrays")
    doubles[missing] = np.nan
    collector.remarks.append((f"missing {name}", f"'{name}' lacks {column.null_count} values, becomes float64, and they NaN"))
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
