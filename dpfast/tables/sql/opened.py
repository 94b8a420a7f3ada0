"""`DatabaseTable`: a table of a database with the interface of `Files`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any, ClassVar

from ..._core import checks
from ..._core.extras import extra
from ..filtered import COMPARISONS, Condition
from ..key_words import key_kind
from ..opened import Files
from ..times import times_of
from .cells import exactly, without_nan
from .dialects import bytes_of
from .keys import exact
from .store import RULE, Database, sql_form
from .times import can_count, literal_of


class DatabaseTable(Files):
    """A table of a database that is used like `Files`; its rows stay in the database.

    Parameters
    ----------
    table : ibis table
    name : str
        A name that identifies the table in ledgers. Do not put a password into it.
    path : str or path-like, optional
        The file of the database, if the database is one file.

    Raises
    ------
    ArgumentTypeError
        If `table` is not a table, or its kind of database is not supported.

    Examples
    --------
    >>> import ibis
    >>> import dpfast as dp
    >>> ages = ibis.memtable({"age": [*range(18, 91)] * 400})
    >>> table = dp.extend.DatabaseTable(ages, "ages")
    >>> table.length, table.first(), table.holds_text("age"), table.key_kind("age")
    (None, 'age', False, 'integers')
    >>> table.names
    ('age',)
    >>> table.find("age"), table.has_sample(public=True), table.identity(), table.engine
    ('age', False, [('ages', 0, 0)], 'duckdb')
    >>> 50 < dp.mean(table.data(["age"]), bounds=(0, 120), epsilon=1) < 60
    True
    """

    def __init__(self, table: Any, name: str, path: Any = None) -> None:
        store = sql_form(table, "table").store
        if not isinstance(store, Database) or store.original is not table:
            checks.fail_kind("table", RULE, table)
        self._store = store
        self._name = checks.text("name", name)
        self._paths = [] if path is None else [Path(path)]

    @property
    def engine(self) -> str:
        return self._store.dialect

    length: ClassVar[None] = None

    @property
    def paths(self) -> list[Path]:
        return self._paths

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._store.original.columns)

    def identity(self) -> list[tuple[str, int, int]]:
        return [(self._name, 0, 0)]

    def find(self, column: str | None = None) -> str:
        only = column is None and len(self.names) == 1
        return self.names[0] if only else self._store.name_of(column, "column")

    def holds_text(self, column: str | None) -> bool:
        return bool(self._store.original[self.find(column)].type().is_string())

    def key_kind(self, column: str) -> str:
        return key_kind(self._store.typed(self.find(column), True), f"column {column!r}")

    def has_sample(self, *, public: bool) -> bool:
        return False

    def data(
        self,
        columns: Sequence[str | None],
        *,
        by: Sequence[str] = (),
        where: Sequence[Condition] = (),
        table: bool = False,
    ) -> Any:
        store = self._store
        if where:
            tests = [passes(condition, store) for condition in where]
            store = Database(store.original.filter(*tests), self.engine)
        names = [self.find(name) for name in (by or columns)]
        return store.table(names) if by or table else store.column(names[0])


def passes(condition: Condition, store: Database) -> Any:
    """Return a boolean expression that is true where a row passes a condition, NULL if missing.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If no value of the column's type can equal the values of the condition.
    """
    literal = extra("ibis", "data in a database").literal
    if not isinstance(condition, Condition):
        checks.fail_kind("where", "a table such as {column = 'delay', above = 0}", condition)
    test = condition.typed(store)
    column, dialect = store.expressions[test.column], store.dialect
    store.expect_declared(test.column)
    if test.of_times:
        times = times_of(store.typed(test.column))
        if times is None or not can_count(times, dialect):
            checks.fail_kind("where", f"a test of times that {dialect} compares exactly", column)
        x = exact(column, dialect, "where")
        values = [literal_of(value, times, "where") for value in test.values]
    elif test.is_text:
        x = exact(column, dialect, "where")
        values = [bytes_of(literal(value), dialect) for value in test.values]
    elif column.type().is_integer() and dialect != "sqlite":
        if test.test in COMPARISONS:
            return _is_between(column, test.test, test.values[0])
        x, values = column, list(map(int, test.values))
    else:
        x, values = without_nan(column, dialect), list(map(exactly, test.values))
    if test.test in COMPARISONS:
        return COMPARISONS[test.test][0](x, values[0])
    is_among = reduce(or_, (x == value for value in values))
    return ~is_among if test.test == "not_in" else is_among


def _is_between(column: Any, test: str, limit: float) -> Any:
    """Return a comparison of integers with a limit that their type may not hold."""
    low, high = column.type().bounds
    whole = COMPARISONS[test][1](limit)
    if test in ("above", "at_least"):
        low = max(low, whole + (test == "above"))
    else:
        high = min(high, whole - (test == "below"))
    none = extra("ibis", "data in a database").literal(False)
    return column.between(low, high) if low <= high else none
