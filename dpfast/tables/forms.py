"""Recognise the type of data once, without reading any row.

`column_form` recognises a column in the memory of this process, and `in_memory.local_form`
recognises data with named columns. No other function does this. The result is passed to functions
that read data. It is rows without a dtype (`Objects`), an array (`Values`), an Arrow column
(`Arrow`), a table, or an object that can be read directly (a file, a source). A column of pandas
keeps its index, as `row_index`.
"""

from __future__ import annotations

import functools
import math
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import chain
from typing import Any, NoReturn, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._core.checks import attribute, has
from .._core.extras import extra
from .._core.owner_log import hiding
from .arrow import arrow_numbers
from .base import Chunk, RandomWords, RowSource, Source, WithRows, native_dtype
from .memory import F8, ArraySource, Column, ColumnSource, MemorySource, array_column
from .untyped import fill_numbers, is_missing, refuse

COLUMN = "a one-dimensional array of numbers"

#: Attributes by which objects offer a typed array.
TYPED = ("__array__", "__array_interface__", "__array_struct__", "__dlpack__")
#: Attributes by which objects offer Arrow data.
SPEAKS_ARROW = ("__arrow_c_stream__", "__arrow_c_array__", "__arrow_array__")


#: The types of dict.keys() and dict.values(), which keep the order of the dict.
VIEWS: tuple[type[Any], ...] = tuple(
    map(type, (dict[str, str]().keys(), dict[str, str]().values()))
)
#: Hints how to convert an object to a column, by the name of its type or of a base class.
MENDS = {
    name: mend
    for names, mend in {
        "BaseGroupBy GroupBy DynamicGroupBy RollingGroupBy TableGroupBy": "use dpfast.group_by",
        "LazyFrame": ".collect() makes a table of it",
        "Expr": ".select() on a table makes a column of it",
        "MultiIndex": ".get_level_values(0) is a column",
        "spmatrix sparray": ".toarray() makes an array of it",
        "generator map filter zip": "list() makes a column of it",
        "set frozenset": "sorted() gives it an order",
    }.items()
    for name in names.split()
}


class Objects(MemorySource):
    """A list-like column of Python objects without a dtype, read as float64 with NaN in a pass."""

    nulls = 0
    width: int | None = None

    def __init__(self, rows: Sequence[Any], row_index: Any = None) -> None:
        self.rows = rows
        self.length = len(rows)
        self.row_index = row_index

    @functools.cached_property
    def _values(self) -> ArraySource:
        values = np.empty(self.length)
        fill_numbers(self.rows, values)
        return ArraySource(values)

    def cut(self, start: int, stop: int) -> Objects:
        """Return the rows `start` .. `stop` - 1 of this column."""
        return Objects(self.rows[start:stop])

    def column(self, name: str, rule: str, width: int | None = None) -> Column:
        rows, write = self.rows, fill_numbers if width is None else fill_matrix

        def fill(start: int, stop: int, out: NDArray[Any]) -> None:
            write(rows[start:stop], out)

        return Column(F8, self.length, fill, width)

    def chunks(self, start: int, stop: int) -> Iterator[Chunk]:
        return self._values.chunks(start, stop)

    def drawn(self, count: int, words: RandomWords) -> NDArray[Any]:
        return self._values.drawn(count, words)


@dataclass(frozen=True, slots=True)
class Values:
    """A NumPy array of any shape and dtype, with the object from which it was made, and its mask.

    Times are `aware` if they have a time zone; the array has them in UTC.
    """

    array: NDArray[Any]
    original: Any
    mask: NDArray[np.bool_] | None = None
    aware: bool = False
    row_index: Any = None

    @property
    def length(self) -> int:
        return len(self.array) if self.array.ndim else 0

    def cut(self, start: int, stop: int) -> Values:
        """Return the rows `start` .. `stop` - 1 of this array."""
        mask = None if self.mask is None else self.mask[start:stop]
        array = self.array[start:stop]
        values = (
            self.original[start:stop] if isinstance(self.original, np.ma.MaskedArray) else array
        )
        return Values(array, values, mask, self.aware)

    def source(self, name: str) -> Source:
        return ArraySource(self.array, self.mask, name)

    def column(self, name: str, rule: str, width: int | None = None) -> Column:
        array, mask, ndim = self.array, self.mask, self.array.ndim
        if mask is None and isinstance(self.original, np.ma.MaskedArray):
            # A masked array can have missing values, even if this one has none.
            mask = np.broadcast_to(np.False_, array.shape)
        wrong = None
        if ndim not in (1, 2):
            wrong = f" of {ndim} dimensions"
        elif ndim == 2 and not array.shape[1]:
            wrong = " without columns"
        elif array.dtype.kind == "O" and ndim == 2:
            whole = array if mask is None else unmasked(np.ma.array(array, mask=mask))
            return Objects(whole.tolist()).column(name, rule, array.shape[1])
        elif native_dtype(array.dtype) is None:
            wrong = f" of dtype {array.dtype}"
        if wrong is not None:
            checks.fail_kind(name, rule, self.original, wrong)
        return array_column(array, mask)


@dataclass(frozen=True, slots=True)
class Arrow:
    """One Arrow column, as a `pyarrow.ChunkedArray`."""

    chunked: Any
    row_index: Any = None

    @classmethod
    def of(cls, array: Any) -> Arrow:
        """Return a `pyarrow.Array` as an `Arrow` column."""
        import pyarrow as pa

        return cls(pa.chunked_array([array]))

    @property
    def length(self) -> int:
        return len(self.chunked)

    @property
    def array(self) -> Any:
        """All rows as one `pyarrow.Array`, without a copy if the column has one chunk."""
        chunked = self.chunked
        return chunked.chunk(0) if chunked.num_chunks == 1 else chunked.combine_chunks()

    def cut(self, start: int, stop: int) -> Arrow:
        """Return the rows `start` .. `stop` - 1 of this column."""
        return Arrow(self.chunked.slice(start, stop - start))

    def source(self, name: str) -> Source:
        return ColumnSource(self.chunked, name)

    def column(self, name: str, rule: str, width: int | None = None) -> Column:
        kind = self.chunked.type
        if arrow_numbers(kind) is None:
            checks.fail_kind(name, rule, self.chunked, f" of Arrow type {kind}")
        return ColumnSource(self.chunked).column(name, rule)


#: A column in memory.
MemoryColumn: TypeAlias = Objects | Values | Arrow
Readable: TypeAlias = MemoryColumn | WithRows | RowSource | Source


def source_of(column: Readable, name: str = "data") -> Source:
    """Return a source that reads one column; a source is returned as it is."""
    if isinstance(column, (Values, Arrow, WithRows)):
        return column.source(name)
    # Checked last, because it is slow to check a protocol.
    if isinstance(column, (MemorySource, Source)):
        return column
    checks.fail_kind(name, COLUMN, column)


def as_column(data: Any, name: str, rule: str) -> Column:
    """Return the numbers of any column or matrix; of a list, one number for each row.

    Raises
    ------
    ArgumentTypeError, ArgumentError
        If its type or shape holds no numbers. The values of the numbers do not matter.
    """
    column = data if isinstance(data, MemorySource) else column_form(data, name, rule)
    return column.column(name, rule)


def is_readable(data: Any) -> TypeGuard[Readable]:
    """Tell whether data can be read in passes without a conversion."""
    if type(data) is dict:
        return False  # a dict of columns
    try:
        return isinstance(data, (MemorySource, Values, Arrow, WithRows, Source, RowSource))
    except Exception:  # checking a protocol looks up attributes, which may raise any error
        return False


def column_form(data: Any, name: str, rule: str) -> Objects | Values | Arrow:
    """Return `data` as a column or matrix without names, by type; refuse a table."""
    if type(data) is np.ndarray and data.dtype.kind != "O":  # the most frequent type
        return Values(data, data)
    if isinstance(data, (Values, Arrow, Objects)):
        return data
    if is_distributed(data):
        checks.fail_kind(name, rule, data, ", which an engine holds: compute it first")
    if isinstance(data, WithRows):
        checks.fail_kind(name, rule, data, " (pass columns of the same table by name)")
    data = list(data) if isinstance(data, VIEWS) else data
    mend = "" if type(data) is list else mend_of(data)
    if mend:
        checks.fail_kind(name, rule, data, mend)
    aware, index = has_zone(data), index_of(data)
    data = unwrapped(data)
    if is_untyped(data):
        return Objects(untyped_rows(data, name), index)
    if isinstance(data, np.ma.MaskedArray):
        mask = None if data.mask is np.ma.nomask else np.ma.getmaskarray(data)
        return Values(np.ma.getdata(data), data, mask)
    if isinstance(data, np.ndarray):
        return Values(np.asarray(data), data, None, aware, index)
    if is_arrow(data):
        return Arrow(chunked(data, name, rule), index)
    array = converted(data, name, rule, numpy_array)
    if is_untyped(array):
        return Objects(untyped_rows(array, name), index)
    if array.ndim == 0:
        checks.fail_kind(name, rule, data)
    return Values(array, data, row_index=index)


def mend_of(data: Any) -> str:
    """Return a hint how to make a column of an object that is no column; "" if there is none."""
    if isinstance(data, (str, bytes, os.PathLike)):
        return "; for a file, dpfast.scan; for a column, table['name']"
    kinds = (kind.__name__ for kind in type(data).__mro__)
    return next((f"; {MENDS[kind]}" for kind in kinds if kind in MENDS), "")


def index_of(data: Any) -> Any:
    """Return the pandas index of a column, a frame, or a recognised one; None without an index."""
    kind = type(data)
    if hasattr(kind, "row_index"):
        return data.row_index
    return attribute(data, "index", data) if hasattr(kind, "iloc") else None


def title_of(column: Any) -> str:
    """Return the name of a column of pandas or Polars, or ""."""
    title = attribute(column, "name")
    return title if isinstance(title, str) else ""


def names_of(data: Any) -> tuple[str, ...]:
    """Return the names of the columns of data; empty if the columns have no names."""
    title = title_of(data)
    if title:
        return (title,)
    listed = [attribute(data, name) for name in ("names", "column_names", "columns")]
    listed += [
        attribute(attribute(data, "dtype"), "names"),
        data if isinstance(data, Mapping) else None,
    ]
    for names in listed:
        with suppress(Exception):  # the attributes of an object may be anything
            if names is not None and all(isinstance(name, str) for name in names):
                return tuple(names)
    return ()


def is_distributed(data: Any) -> bool:
    """Tell whether an engine or a database holds the data, by the attributes of their type."""
    kind = type(data)  # attributes are looked up in the type: an instance may answer to any name
    return (
        is_spark(data)
        or is_sql(data)
        or (hasattr(kind, "__dask_graph__") and hasattr(kind, "__dask_keys__"))
    )


def is_spark(data: Any) -> bool:
    """Tell whether data are a Spark dataframe, by the attributes of their type."""
    return hasattr(type(data), "mapInArrow") and hasattr(type(data), "sparkSession")


def is_sql(data: Any) -> bool:
    """Tell whether data are an Ibis expression, without importing Ibis."""
    core = sys.modules.get("ibis.expr.types")
    return core is not None and isinstance(data, core.Expr)


def is_lazy(data: Any) -> bool:
    """Tell whether data are a lazy frame of Polars, by the attributes of their type."""
    return hasattr(type(data), "collect_batches") and hasattr(type(data), "collect_schema")


def is_interchanged(data: Any) -> bool:
    """Tell whether data can be read by the dataframe interchange protocol alone."""
    kind = type(data)
    others = (*TYPED, *SPEAKS_ARROW, "iloc", "__len__")
    return hasattr(kind, "__dataframe__") and not any(
        hasattr(kind, attribute) for attribute in others
    )


def is_arrow(data: Any) -> bool:
    """Tell whether to read `data` through Arrow: it supports Arrow and has no NumPy dtype."""
    if isinstance(attribute(data, "dtype"), np.dtype):
        return False
    return type(data).__name__ == "Categorical" or any(has(data, name) for name in SPEAKS_ARROW)


def has_zone(data: Any) -> bool:
    """Tell whether a column of pandas declares a time zone for its times."""
    return attribute(attribute(data, "dtype"), "tz") is not None


def unwrapped(data: Any) -> Any:
    """Return the array that a pandas column holds, in a dtype that its declared type decides.

    If NumPy converted such a column, the dtype would depend on the rows: on a null among them, or
    on a gap in a sparse column. Any other object is returned unchanged.
    """
    dtype: Any = attribute(data, "dtype")
    if isinstance(dtype, np.dtype) or not has(dtype, "construct_array_type"):
        return data
    array = attribute(data, "array", data)  # a series or an index has its values in `array`
    if has_zone(data):  # NumPy has no time zones
        return np.asarray(array, f"M8[{dtype.unit}]")
    if hasattr(dtype, "subtype") and hasattr(dtype, "fill_value"):  # a sparse array
        return np.asarray(array, dtype.subtype)
    if is_arrow(array):  # the "python" storage holds Python objects, which need not be text
        return np.asarray(array, object) if getattr(dtype, "storage", "") == "python" else array
    return np.asarray(array, getattr(dtype, "numpy_dtype", object))


def is_untyped(data: Any) -> bool:
    """Tell whether `data` are Python objects without a dtype, such as a list, by their type."""
    if isinstance(data, (list, tuple)):
        return True
    dtype = attribute(data, "dtype")
    if isinstance(dtype, np.dtype):
        return dtype.kind == "O" and attribute(data, "ndim", 1) == 1 and has(data, "__len__")
    if dtype is not None and is_arrow(data) and find_spec("pyarrow") is None:
        return has(data, "__array__")
    if isinstance(data, (str, bytes, bytearray, memoryview, Mapping, Set)):
        return False
    if any(has(data, name) for name in TYPED) or is_arrow(data) or _is_buffer(data):
        return False
    return has(data, "__len__") and has(data, "__getitem__")


def _is_buffer(data: Any) -> bool:
    try:
        memoryview(data).release()
    except Exception:  # an object may raise any error here
        return False
    return True


def untyped_rows(data: Any, name: str = "data") -> Sequence[Any]:
    """Return the rows of data without a dtype as a sequence that can be sliced."""
    if type(data) is list or type(data) is tuple:  # a subclass could state a wrong length
        return data
    if isinstance(data, np.ma.MaskedArray):
        data = unmasked(data)
    try:
        return np.asarray(data, object).tolist() if has(data, "dtype") else checks.items(data)
    except Exception:  # an object may raise any error here
        checks.fail_kind(name, "a sequence that can be read", data)


def unmasked(data: Any) -> NDArray[Any]:
    """Return a masked array as an array of objects, with None for masked entries."""
    out: NDArray[Any] = np.ma.getdata(data).astype(object)
    out[np.ma.getmaskarray(data)] = None
    return out


def fill_matrix(some: Sequence[Any], out: NDArray[np.float64]) -> None:
    """Write rows to the matrix `out`, each of as many numbers as `out` has columns, or missing."""
    width = out.shape[1]
    if all(type(row) in (list, tuple) and len(row) == width for row in some):
        fill_numbers(list(chain.from_iterable(some)), out.reshape(-1))
        return
    for i, row in enumerate(some):
        if is_missing(row):
            out[i] = math.nan
        else:
            fill_numbers(_entries(row, width), out[i])


def _entries(row: Any, width: int) -> Sequence[Any]:
    if isinstance(row, np.ndarray) and row.ndim == 1:
        row = row.tolist() if row.itemsize <= 8 or row.dtype.kind == "O" else list(row)
    elif not is_untyped(row):
        refuse()
    try:
        entries = list(row)
    except Exception:  # an object may raise any error here
        entries = []
    return entries if len(entries) == width else refuse()


def columns_of_table(data: Any, name: str) -> dict[str, Any] | None:
    """Return the columns of a table by name; None if `data` are not a table."""
    if isinstance(data, np.ndarray):
        return {key: data[key] for key in data.dtype.names} if data.dtype.names else None
    # Dict is checked first, because it is slow to check an abstract class.
    if isinstance(data, (dict, Mapping)):
        pairs = list(data.items())
    elif isinstance(data, type):
        return None
    elif has(data, "iloc") and has(data, "columns"):  # pandas stores columns as NumPy arrays
        pairs = [(key, data.iloc[:, i]) for i, key in enumerate(data.columns)]
    elif is_arrow(table := unwrapped(data)):
        return arrow_table(table, name)
    else:
        return None
    rule = "a table whose columns have different names, each a text"
    columns = dict(pairs)
    if len(columns) < len(pairs) or [key for key in columns if not isinstance(key, str)]:
        checks.fail_kind(name, rule, data)
    return columns


def arrow_table(data: Any, name: str) -> dict[str, Any] | None:
    """Return the columns of a table that Arrow can read, by name; None if `data` are one column."""
    pa = pyarrow_for(name)
    rule = "a table of numbers"
    if not isinstance(data, (pa.Table, pa.RecordBatch)):
        column = streamed(data, name, rule)
        if not pa.types.is_struct(column.type):
            return None
        batches = [pa.RecordBatch.from_struct_array(part) for part in column.chunks]
        data = pa.Table.from_batches(batches, pa.schema(list(column.type)))
    if len(set(data.schema.names)) < len(data.schema.names):
        checks.fail_kind(name, "a table whose columns have different names", data)
    return dict(zip(data.schema.names, data.columns, strict=True))


def chunked(data: Any, name: str, rule: str) -> Any:
    """Return a column as a `pyarrow.ChunkedArray`, or refuse a table."""
    # A table is refused first: a library might guess the types of its columns from the rows.
    column = None if has(data, "columns") else streamed(data, name, rule)
    if column is None or pyarrow_for(name).types.is_struct(column.type):
        checks.fail_kind(name, "one column, not a table", data)
    return column


def streamed(data: Any, name: str, rule: str) -> Any:
    """Return an object that exports Arrow data as a `pyarrow.ChunkedArray`; a table has structs."""
    pa = pyarrow_for(name)
    if not isinstance(data, (pa.Array, pa.ChunkedArray)):
        make = pa.chunked_array if has(data, "__arrow_c_stream__") else pa.array
        data = converted(data, name, rule, make)
    return data if isinstance(data, pa.ChunkedArray) else pa.chunked_array([data])


def pyarrow_for(name: str) -> Any:
    """Return the pyarrow module, or raise an error that says how to install it."""
    return extra("pyarrow", f"reading {name}")


def numpy_array(data: Any) -> NDArray[Any]:
    """Return the NumPy array of any object that holds one in this machine's memory."""
    if has(data, "__dlpack__") and not has(data, "__array__"):
        return np.from_dlpack(data)
    return np.asarray(data)


def converted(data: Any, name: str, rule: str, convert: Callable[[Any], Any]) -> Any:
    """Return ``convert(data)``, or raise that `name` must be `rule`, without a value of the data.

    Libraries often quote the value that they could not convert. This would be an answer about the
    data before anything is spent. So the new error is raised after the ``except`` block of the old
    one.
    """

    def refuse(kind: str) -> NoReturn:
        checks.fail_kind(name, rule, data, f", which cannot be converted ({kind})")

    return hiding(lambda: convert(data), refuse)
