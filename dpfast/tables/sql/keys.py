"""Group keys and ids in a database, equal only if their bytes are equal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from functools import reduce
from operator import and_, eq, or_
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core import checks
from ..._core.extras import extra
from .dialects import DIALECTS, bytes_of, md5, text_of

#: The most public keys of a column that a statement lists.
LISTED = 1 << 12
#: The declared type of a column of an SQLite table.
DECLARED = "SELECT type FROM pragma_table_info(?, ?) WHERE name = ?"
DECLARES = "made of columns of SQLite that are declared with a type"
RULE = "a column of integers, text, bytes, booleans, dates or times"


class Listed(dict[str, Any]):
    """The public keys of each key column, or None, and how they combine to group keys.

    Attributes
    ----------
    others : mapping of str to ndarray
        One more key of each column, for all rows without a listed key; empty if there is none.
    is_product : bool
    """

    others: Mapping[str, Any] = MappingProxyType({})
    is_product = False


def exact(column: Any, dialect: str, name: str) -> Any:
    """Return a column whose entries the database calls equal only if their bytes are equal.

    Text becomes its bytes, so collations, and blanks at the end of CHAR, have no effect. A time
    that Python cannot hold is NULL. In SQLite an entry is NULL if its type differs from the type of
    its column, or if it is a boolean other than 0 and 1.

    Parameters
    ----------
    column : ibis column
    dialect : str
        The kind of the database, by Ibis's name.
    name : str
        The name of the column in errors.

    Raises
    ------
    ArgumentTypeError
        If equality of the type is unreliable, as for times in SQLite.
    """
    kind = column.type()
    facts, is_text = DIALECTS[dialect], kind.is_string()
    is_instant = kind.is_timestamp() and facts.has_times and (kind.scale or 0) <= 6
    is_time = (kind.is_date() and facts.has_dates) or is_instant
    is_bits = kind.is_integer() or kind.is_boolean() or kind.is_binary()
    if not (is_bits or is_text or is_time):
        checks.fail_kind(name, RULE, column, f" of type {kind} in {dialect}: cast it")
    comparable = column
    if is_text:
        comparable = bytes_of(column, dialect)
        if dialect == "duckdb":  # otherwise DuckDB is slow if a file has a large dictionary
            comparable = extra("ibis", "data in a database").coalesce(comparable, None)
    elif is_time:
        first, last = (datetime.min, datetime.max) if kind.is_timestamp() else (date.min, date.max)
        comparable = column.between(first, last).ifelse(column, None)
    if dialect == "sqlite":
        stored = "text" if is_text else "blob" if kind.is_binary() else "integer"
        is_kind = column.typeof() == stored
        # SQLite may store other integers, which would be separate keys there, but True in Python.
        if kind.is_boolean():
            is_kind &= column.cast("int64").isin([0, 1])
        comparable = is_kind.ifelse(comparable, None)
    return comparable


def expect_declared(column: Any, name: str) -> None:
    """Refuse an expression of a SQLite column that is declared without a type.

    For such a column, Ibis takes the type of the first row. So one row would determine which other
    rows have a key.

    Parameters
    ----------
    column : ibis column
    name : str
        The name of the column in errors.

    Raises
    ------
    ArgumentTypeError
    """
    ops = extra("ibis", "data in a database").expr.operations
    left, seen = [column.op()], set()
    while left:
        for field in left.pop().find(ops.Field, filter=ops.Value):
            table = field.rel
            if field in seen or isinstance(table, ops.InMemoryTable):
                continue
            seen.add(field)
            if isinstance(table, ops.DatabaseTable):
                address = table.name, table.namespace.database or "main", field.name
                declared = table.source.con.execute(DECLARED, address).fetchone()
                if declared is None or not declared[0]:
                    checks.fail_kind(name, DECLARES, column, f", of {field.name!r}")
            elif isinstance(table, (ops.SQLQueryResult, ops.SQLStringView)):
                checks.fail_kind(name, DECLARES, column, f", of {field.name!r} in your SQL")
            elif field.name in table.values:
                left.append(table.values[field.name])
            else:  # a relation that is derived from others
                tables = [arg for arg in table.__args__ if isinstance(arg, ops.Relation)]
                left += [ops.Field(arg, field.name) for arg in tables]


def is_listed(column: Any, keys: NDArray[Any]) -> Any:
    """Return a condition that all rows with public keys pass; None if it would be too long.

    The condition is only a filter, and may hold for other rows, too. It holds for all rows with
    public keys, because keys with equal bytes are equal in every database.
    """
    plain = _literals(column, keys)
    return column.isin(plain) if plain is not None and len(plain) <= LISTED else None


def _literals(column: Any, keys: NDArray[Any]) -> list[Any] | None:
    """Return public keys as literals of a statement; None if some have no literal."""
    kind, plain = column.type(), keys.tolist()
    if kind.is_date():
        return list(keys.astype("M8[D]").tolist())
    if kind.is_integer() or kind.is_boolean():
        return list(map(int if kind.is_integer() else bool, plain))
    is_text = all(isinstance(key, str) and "\0" not in key for key in plain)
    return plain if kind.is_string() and is_text else None


def others_apart(columns: Sequence[Any], listed: Listed, dialect: str) -> list[Any]:
    """Return key columns in which a row without a listed key has the key for others.

    Keys are compared as `exact` returns them. So the group of each row is known before units are
    bounded, whatever keys the database treats as equal.

    Raises
    ------
    ArgumentError
        If keys cannot be written in a statement, or there are too many keys.
    """
    ibis, keys, every = extra("ibis", "data in a database"), [], []
    for column, name in zip(columns, listed, strict=True):
        plain = _literals(column, np.append(listed[name], listed.others[name]))
        if plain is None or len(plain) > LISTED:
            rule = f"left out in a database, except for {LISTED} integers, texts, booleans or dates"
            checks.fail("other_key", rule, listed.others[name].tolist()[0])
        keys.append(exact(column, dialect, f"column {name!r}"))
        literals = list(map(ibis.literal, plain))
        is_text = column.type().is_string()
        every.append([bytes_of(text, dialect) for text in literals] if is_text else literals)
    if listed.is_product or len(keys) == 1:
        pairs = zip(keys, every, strict=True)
        is_listed = reduce(and_, (key.isin(public[:-1]) for key, public in pairs))
    else:
        rows = list(zip(*every, strict=True))[:-1]
        is_listed = any_of([reduce(and_, map(eq, keys, row)) for row in rows])
    return [is_listed.ifelse(key, more[-1]) for key, more in zip(keys, every, strict=True)]


def any_of(tests: list[Any]) -> Any:
    """Return the expression of whether any of `tests` holds, nested in few levels."""
    while len(tests) > 1:
        tests = [reduce(or_, tests[i : i + 2]) for i in range(0, len(tests), 2)]
    return tests[0]


def digest(secret: str, columns: Sequence[Any], dialect: str) -> Any:
    """Return a hash of a secret and of some columns, none of which is NULL.

    The digest of a row does not depend on other rows.
    """
    first = extra("ibis", "data in a database").literal(secret)
    words = (text_of(column, dialect) for column in columns)
    return md5(reduce(lambda so_far, word: so_far + "|" + word, words, first), dialect)
