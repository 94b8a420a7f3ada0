"""Keep the rows of files that pass public conditions on their columns.

A condition is a table, ``{column = "delay", above = 0}``, or an expression of Arrow (`ArrowTest`).
It depends on one row alone. So if a row is added to a file or removed, the kept rows differ in this
row, or not at all. A *replaced* row may enter or leave the kept rows. The number of kept rows is
private under both relations, and is never shown.

The condition and the declared type of a column determine how it is read; the rows never do. Nothing
is read before a pass requests rows.

No condition is passed to the library that reads Parquet, although it could skip row groups by their
statistics. These statistics may be wrong, or say nothing about NaN, and then a matching row would
be left out. Also, a damaged row group would be an error or not, depending on its rows. pyarrow
reads statistics of a damaged file without a check.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._core.owner_log import hide_error
from ..errors import ArgumentTypeError, SourceError
from .arrow import arrow_cast, arrow_numbers, arrow_present, arrow_values, without_views
from .base import T
from .columns import Columns, Store, Want
from .files import Convert, Reader
from .forms import Arrow, MemoryColumn, Values
from .ids import entries
from .public_values import expect_matches
from .sql.store import SqlRows
from .times import numbered, times_of
from .words import Words

#: Tests against a number: the comparison, and the function that rounds the number to an integer
#: without a change for integer values.
COMPARISONS: dict[str, tuple[Any, Any]] = {
    "above": (operator.gt, math.floor),
    "at_least": (operator.ge, math.ceil),
    "below": (operator.lt, math.ceil),
    "at_most": (operator.le, math.floor),
}
#: How errors describe a mask.
MASK = "rows that a mask keeps"
#: The signs of all tests in texts.
SIGNS = {
    **{"above": ">", "at_least": ">=", "below": "<", "at_most": "<=", "equal": "="},
    **{"in": "in", "not_in": "not in"},
}
#: Tests that take a list, and tests that take a single value.
LISTS = ("in", "not_in", "equal")
TESTS = (*COMPARISONS, *LISTS)
#: The types with which times can be compared, besides texts in ISO 8601.
TIMES = (date, timedelta, np.datetime64, np.timedelta64)

#: Texts in expressions that are refused: they name a column by number, draw random numbers, or take
#: an amount of memory that a row determines.
OTHERWISE = ("FieldPath(", "random(", "binary_repeat(")
RULE = 'a table such as {column = "delay", above = 0}, or a list of these'


@dataclass(frozen=True, slots=True)
class Condition:
    """One test of one column, such as above 0; a missing value does not pass.

    Parameters
    ----------
    column : str
    test : str
        One of `TESTS`.
    values : tuple
        One number or time for a comparison, otherwise numbers, times or texts.
    of_times : bool, default False
        Whether the values are whole numbers of the unit of a column of times.
    """

    column: str
    test: str
    values: tuple[Any, ...]
    of_times: bool = False

    def __str__(self) -> str:
        value = self.values[0] if self.test not in ("in", "not_in") else list(self.values)
        return f"{self.column} {SIGNS[self.test]} {value!r}"

    @property
    def is_text(self) -> bool:
        """Tell whether the column is compared with text."""
        return isinstance(self.values[0], str)

    def typed(self, store: Store) -> Condition:
        """Return this condition in the terms of its column's type, or refuse a wrong type."""
        name = store.name_of(self.column, "where")
        is_listed = self.is_text and self.test in LISTS
        typed = store.typed(name, is_listed)
        if times_of(typed) is not None:
            return self._typed_times(typed)
        for value in () if is_listed else self.values:
            checks.number(f"where.{self.test}", value)
        if not self.is_text:
            store.check_numbers(name)
        if self.test in LISTS:
            title = f"the column {self.column!r}"
            expect_matches("where", self.values, typed, title, store.cells(name))
        return self

    def _typed_times(self, typed: MemoryColumn) -> Condition:
        """Return this condition with values in units of a column of times; texts are ISO 8601."""
        times = times_of(typed)
        assert times is not None
        values = [_time(value) if isinstance(value, str) else value for value in self.values]
        counts = tuple(times.count(f"where.{self.test}", value) for value in values)
        return replace(self, values=counts, of_times=True)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns that the test reads."""
        return (self.column,)

    @property
    def texts(self) -> tuple[str, ...]:
        """The names of the columns that the test reads as text."""
        return (self.column,) if self.is_text else ()

    def keep(self, reader: Reader, columns: Sequence[MemoryColumn]) -> NDArray[np.bool_]:
        """Return a mask of the rows that pass the test, from the columns that the test reads."""
        (column,) = columns
        if not (self.is_text or self.of_times):
            column = reader.numbers_of(self.column, column)
        if self.is_text:
            holds, present = _among_words(self.values, column)
        else:
            holds, present = self._of_numbers(column)
        return ~holds & present if self.test == "not_in" else holds & present

    def _of_numbers(
        self, values_column: MemoryColumn
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        some = None
        if self.of_times:
            column = numbered(values_column, lambda counts: counts.astype(np.int64))
            assert column.mask is not None
            values, some = column.array, ~column.mask
        elif isinstance(values_column, Arrow):
            how = arrow_numbers(values_column.chunked.type)
            assert how is not None
            array = values_column.array
            values, some = arrow_values(array if how.cast is None else arrow_cast(array, how.cast))
        else:
            values = entries(values_column)
        is_whole = values.dtype.kind in "iu"
        if not is_whole:
            values = values.astype(np.float64, copy=False)  # in float32 the limit would be rounded
        present = values == values
        if some is not None:
            present &= some
        if self.test in COMPARISONS:
            compare, whole = COMPARISONS[self.test]
            (limit,) = self.values
            return compare(values, whole(limit) if is_whole else limit), present
        listed = list(self.values)
        if is_whole:
            ends = np.iinfo(values.dtype)
            listed = [int(v) for v in listed if v == int(v) and ends.min <= v <= ends.max]
        return np.isin(values, np.array(listed, values.dtype)), present


@dataclass(frozen=True, eq=False, slots=True)
class ArrowTest:
    """A test of each row by a pyarrow expression whose functions depend on single rows.

    A row passes if the expression is true. A row does not pass if the expression is null, or if a
    cast, a division or a sum fails. An error would reveal that row. So if a batch fails, it is
    halved until the failing rows are isolated.

    Parameters
    ----------
    expression : pyarrow.compute.Expression
        Its columns have the types of the file, and are text in a file of text.
    types : dict of str to pyarrow.DataType
        The columns that it names.
    """

    expression: Any
    types: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return str(self.expression)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns that the expression reads."""
        return tuple(self.types)

    @property
    def texts(self) -> tuple[str, ...]:
        """The names of the columns that are read as text where no type is declared."""
        return self.columns

    def typed(self, store: Store) -> ArrowTest:
        """Return this test with the types of the columns that its expression needs.

        The expression is tried on a row of nulls, which is public, to see whether it fits.
        """
        import pyarrow as pa

        types = {}
        for name in store.names if isinstance(store, Reader) else ():
            # Columns that cannot be read are left out.
            with suppress(SourceError, ArgumentTypeError):
                types[name] = _arrow_type(store.typed(name, True))
        nulls = pa.table({name: pa.nulls(1, kind) for name, kind in types.items()})
        used = {name: kind for name, kind in types.items() if not self._fits(nulls, without=name)}
        words = str(self.expression)
        if not (used and self._fits(nulls)) or any(word in words for word in OTHERWISE):
            rule = f"an expression of single rows that fits the columns {', '.join(types)}"
            checks.fail("where", rule, words)
        return ArrowTest(self.expression, used)

    def keep(self, reader: Reader, arrow_columns: Sequence[MemoryColumn]) -> NDArray[np.bool_]:
        """Return a mask of the rows that pass the test, from the columns that the test reads."""
        import pyarrow as pa

        columns = {
            name: (column.chunked if isinstance(column, Arrow) else pa.array(entries(column))).cast(
                kind
            )
            for (name, kind), column in zip(self.types.items(), arrow_columns, strict=True)
        }
        table = pa.table(columns)
        try:
            return self._true(table)
        except _arrow_errors() as error:
            hide_error(error)
        return self._passing(table)

    def _fits(self, nulls: Any, without: str | None = None) -> bool:
        try:
            (nulls if without is None else nulls.drop_columns(without)).filter(self.expression)
        except _arrow_errors():
            return False
        return True

    def _true(self, table: Any) -> NDArray[np.bool_]:
        """Return a mask of the rows for which the expression is true, or raise if a row fails."""
        import pyarrow as pa

        keep = np.zeros(table.num_rows, np.bool_)
        name = "".join(table.column_names) + "#"  # longer than every other name
        numbered = table.append_column(name, pa.array(np.arange(len(keep))))
        keep[numbered.filter(self.expression).column(table.num_columns).to_numpy()] = True
        return keep

    def _passing(self, table: Any) -> NDArray[np.bool_]:
        """Return a mask of the rows for which the expression is true; it may fail for others."""
        try:
            return self._true(table)
        except _arrow_errors():
            half = table.num_rows // 2
        if not half:
            return np.zeros(1, np.bool_)
        parts = table.slice(0, half), table.slice(half)
        return np.concatenate([self._passing(part) for part in parts])


def _arrow_type(column: MemoryColumn) -> Any:
    """Return the Arrow type of a column in a test, from which pyarrow can pick rows."""
    import pyarrow as pa

    if not isinstance(column, Arrow):
        return pa.from_numpy_dtype(entries(column).dtype)
    kind = column.chunked.type
    if pa.types.is_string_view(kind):
        return pa.large_string()
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _arrow_errors() -> tuple[type[Exception], ...]:
    """Return the errors of pyarrow that a row may cause in an expression, which are not shown."""
    import pyarrow as pa

    return (pa.ArrowException,)


def is_expression(where: Any) -> bool:
    """Tell whether `where` is a pyarrow expression, without importing pyarrow."""
    compute = sys.modules.get("pyarrow.compute")
    return compute is not None and isinstance(where, compute.Expression)


def conditions(where: Any, name: str = "where") -> tuple[Condition | ArrowTest, ...]:
    """Return the conditions that dicts set on the rows to keep, as checked objects.

    Parameters
    ----------
    where : dict, pyarrow.compute.Expression, or list of these
        A dict names a ``column`` and its tests, such as ``{"column": "delay", "above": 0}``. The
        tests ``above``, ``at_least``, ``below`` and ``at_most`` take a number or a time. ``equal``
        takes a number, a time or a text. ``in`` and ``not_in`` take a list of these. A time is a
        date, time or duration of Python or NumPy, or a text such as ``"2024-01-31"``. For an
        expression of Arrow see `dpfast.scan`.
    name : str, default "where"
        The name of the argument in error messages.

    Returns
    -------
    tuple
        The conditions, for the argument `where` of `Files.data`. Each test of a dict is an object
        with a ``column``, a ``test`` and ``values``.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If `where` is anything else.

    Examples
    --------
    >>> import dpfast as dp
    >>> [test] = dp.extend.conditions({"column": "delay", "above": 0})
    >>> test.column, test.test, test.values
    ('delay', 'above', (0,))
    """
    parsed: list[Condition | ArrowTest] = []
    for table in where if isinstance(where, (list, tuple)) else [where]:
        if is_expression(table):
            parsed.append(ArrowTest(table))
            continue
        if not isinstance(table, dict):
            checks.fail_type(name, RULE, where)
        tests = {key: value for key, value in table.items() if key != "column"}
        column = checks.text(f"{name}.column", table.get("column"))
        if not tests:
            checks.fail(name, f"a column with at least one test: {', '.join(TESTS)}", where)
        for test, value in tests.items():
            if test not in TESTS:
                checks.fail(f"{name}.{test}", f"one of {', '.join(TESTS)}", test)
            parsed.append(Condition(column, test, _values(f"{name}.{test}", test, value)))
    return tuple(parsed)


def _values(name: str, test: str, value: Any) -> tuple[Any, ...]:
    """Return the values with which a column is compared: Python numbers, times or texts."""
    is_list = test in ("in", "not_in")
    rule = "a list of numbers, times or texts" if is_list else "a number, a time or a text"
    values = value if is_list else [value]
    if not isinstance(values, (list, tuple)) or not values:
        checks.fail_type(name, rule, value)
    if any(all(isinstance(test_value, kind) for test_value in values) for kind in (str, TIMES)):
        return tuple(values)
    plain = [
        int(test_value) if isinstance(test_value, bool) else test_value for test_value in values
    ]
    for test_value in plain:
        checks.number(name, test_value, *([] if test in COMPARISONS else [rule]))
    return tuple(plain)


def _time(text: str) -> Any:
    """Return the date or time of a text in ISO 8601, or the text if it has neither."""
    for read in (date.fromisoformat, datetime.fromisoformat):
        with suppress(ValueError):
            return read(text)
    return text


def filtered(reader: Reader, where: Sequence[Condition | ArrowTest]) -> Reader:
    """Return a reader of the rows that pass all conditions; their number is private.

    Conditions that the reader already has still apply. A column of a text file may be requested
    both as text and as numbers. Then it is read as text, and kept cells are converted to numbers.

    Raises
    ------
    SourceError, ArgumentTypeError
        For a column that does not exist, or a type that cannot be compared with the given values.
        No row is read.
    """
    if not where:
        return reader
    before = reader.keep.args[0] if isinstance(reader.keep, partial) else ()
    typed = (*before, *(condition.typed(reader) for condition in where))
    some = copy(reader)
    some.keep, some.length, some.samples = partial(_kept, typed), None, False
    return some


def passing(data: Any, where: Any) -> Columns:
    """Return columns of files with only the rows that pass a pyarrow expression.

    Raises
    ------
    ArgumentTypeError
        If data are not columns of files.
    """
    if not (isinstance(data, Columns) and isinstance(data.store, Reader)):
        rule = "an array of booleans (an expression is for data from dp.scan)"
        checks.fail_kind("where", rule, where)
    some = copy(data)
    some.store = filtered(data.store, conditions(where))
    some.length = some.store.length
    return some


def condition_of(data: Any) -> str | None:
    """Return the conditions on the rows of files or of a database, as text; None without any.

    Parameters
    ----------
    data : Columns, SqlRows or object

    Returns
    -------
    str or None
    """
    if isinstance(data, SqlRows):
        return None if data.where is None else str(data.where.get_name())
    keep = data.store.keep if isinstance(data, Columns) else None
    return " and ".join(map(str, keep.args[0])) if isinstance(keep, partial) else None


def _kept(
    where: Sequence[Condition | ArrowTest], reader: Reader, want: Want, convert: Convert[T]
) -> tuple[Want, Convert[T]]:
    """Return the columns and the conversion of a pass, changed to rows that pass `where`."""
    texts = frozenset(name for condition in where for name in condition.texts)
    more = dict.fromkeys(name for condition in where for name in condition.columns)
    names = tuple(dict.fromkeys([*want.names, *more]))
    index_of = {name: i for i, name in enumerate(names)}
    number = 0  # the number of the next row that passes

    def kept(start: int, columns: Sequence[MemoryColumn]) -> Iterator[T]:
        nonlocal number
        keep = np.ones(columns[0].length, np.bool_)
        for condition in where:
            keep &= condition.keep(reader, [columns[index_of[name]] for name in condition.columns])
        if len(keep) and not keep.any():
            return
        some = [_picked(columns[index_of[name]], keep) for name in want.names]
        first, number = number, number + int(np.count_nonzero(keep))
        yield from convert(
            first,
            [
                column if name in want.text else reader.numbers_of(name, column)
                for name, column in zip(want.names, some, strict=True)
            ],
        )

    return Want(names, want.text | texts, want.words | texts), kept


def _among_words(
    words: Sequence[str], column: MemoryColumn
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return two masks of the rows of a text column: is one of `words`, and is not missing."""
    import pyarrow as pa

    is_word = ~np.isnan(Words(words).of(column))
    if not isinstance(column, Arrow):
        return is_word, np.ones(column.length, np.bool_)
    array = column.array
    if pa.types.is_dictionary(array.type) and array.dictionary.null_count:
        array = array.dictionary.take(array.indices)
    return is_word, arrow_present(array)


def _picked(column: MemoryColumn, keep: NDArray[np.bool_]) -> MemoryColumn:
    """Return the rows of a column that the mask `keep` selects."""
    import pyarrow as pa

    if keep.all():
        return column
    if not isinstance(column, Arrow):
        array = entries(column)[keep]
        return Values(array, array)
    array = without_views(column.array)
    bits = pa.py_buffer(np.packbits(keep, bitorder="little"))
    return Arrow.of(array.filter(pa.Array.from_buffers(pa.bool_(), len(keep), [None, bits])))
