"""Tables of a database as Ibis expressions, which the database evaluates.

Only declared types determine how columns are read. No row is read before the spend. After it, no
row leaves the database: only sums do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from operator import and_, or_
from types import MappingProxyType
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ..._core import checks
from ..._core.extras import extra
from ..base import NO_ROWS, Feature, Gridded, Groups, Near, RowChunk, S, Term, Units, named_dtype
from ..columns import Batch, Columns, Rows, Store, Table, Want
from ..forms import Arrow, MemoryColumn
from ..ids import no_column
from ..times import AsNumbers
from ..words import RULE as TEXT
from ..words import Words
from .cells import binary_search, cell, equal_bins, exactly, numbers, rounded, without_nan
from .counts import SqlNumbers, is_whole
from .dialects import DIALECTS, bytes_of
from .failures import expect_no_failures
from .groups import groups_of, selected
from .keys import Listed, exact, expect_declared, others_apart
from .sums import answer, linear, sums_by
from .times import counted
from .units import first_rows, totals_of, units_of

RULE = "a table of a database, or a column of one, as Ibis has them"
WHERE = "a condition of the same table, such as t['x'] > 3"
#: If products must not underflow, values below SPECK times the largest one count as 0. The largest
#: one must be at least SMALL.
SPECK, SMALL = 2.0**-100, 1e-100


class Database(Store):
    """A table of a database, as a store of columns.

    Parameters
    ----------
    table : ibis table
    dialect : str
        The kind of the database, by Ibis's name.
    made : mapping of str to ibis column
        Columns that are computed from columns of the table.
    """

    length = None
    has_order = False

    def __init__(self, table: Any, dialect: str, derived: Mapping[str, Any] | None = None) -> None:
        self.original, self.dialect = table, dialect
        self.engine = dialect
        self.expressions = {name: table[name] for name in table.columns} | dict(derived or {})
        self._is_plain = not derived

    def of_parent(self) -> Database | None:
        """Return these columns as expressions of the table from which they were selected.

        The result is None if there is no such table, or if a selected row depends on other rows.
        """
        ops, chosen = extra("ibis", "data in a database").expr.operations, self.original.op()
        if not (self._is_plain and isinstance(chosen, ops.Project)):
            return None
        if any(find_others(value) for value in chosen.values.values()):
            return None
        expressions = {name: value.to_expr() for name, value in chosen.values.items()}
        return Database(chosen.parent.to_expr(), self.dialect, expressions)

    def name_of(self, column: Any, argument: str) -> str:
        names = self.original.columns
        return str(column) if column in names else no_column(column, names, argument)

    def typed(self, name: str, is_text: bool = False) -> MemoryColumn:
        if is_text:
            self.expect_declared(name)
            exact(self.expressions[name], self.dialect, f"column {name!r}")
        kind = self.expressions[name].type().to_pyarrow()
        return Arrow(extra("pyarrow", "data in a database").chunked_array([], kind))

    def check_numbers(self, name: str) -> None:
        numbers(self.expressions[name], self.dialect)

    def expect_declared(self, name: str) -> None:
        """Refuse a column without a declared type, which SQLite takes from its first row."""
        if self.dialect == "sqlite":
            expect_declared(self.expressions[name], f"column {name!r}")

    def with_numbers(self, name: str, numbers: AsNumbers) -> Database:
        """Return these columns, with the column of times `name` read as whole numbers."""
        numbered = counted(self.expressions[name], *numbers, self.dialect)
        return Database(self.original, self.dialect, {**self.expressions, name: numbered})

    def column(self, name: str) -> SqlColumn:
        return SqlColumn(self, [name])

    def rows(self, make: Rows, ids: Any = None, workers: int | None = None) -> SqlRows:
        if ids is not None:
            checks.fail_kind("data", NO_ROWS, self.original)
        return SqlRows(self, make.names or (), make.words)

    def adding(self, names: Sequence[str]) -> SqlRows:
        return SqlRows(self, tuple(names))

    def reduce_batches(
        self, want: Want, summarise: Callable[[Batch], S], merge: Callable[[S, S], S]
    ) -> NoReturn:
        checks.fail_kind("data", NO_ROWS, self.original)


class SqlColumn(Columns):
    """One column of a table of a database, as data of a release."""

    is_table = False

    def source(self, name: str) -> Any:
        return self.rows()


class SqlRows:
    """Rows of a table of a database, which sums integers of the rows itself, so that no row leaves.

    Passes over this `RowSource` are refused. In its methods, an integer is an Ibis expression of a
    row, which is missing if the row has no number. Two integers can be multiplied. The product is
    missing if an integer is.

    Parameters
    ----------
    store : Database
    names : tuple of str
        The columns.
    words : mapping of str to Words, optional
        The words of each text column.
    where : ibis column of booleans, optional
        The condition that rows must pass.
    """

    length: int | None = None
    array = None
    width: int | None = None

    def __init__(
        self,
        store: Database,
        names: tuple[str, ...],
        words: Mapping[str, Words] | None = None,
        where: Any = None,
    ) -> None:
        self.store, self.names, self.where = store, names, where
        self.words: Mapping[str, Words] = {} if words is None else words
        for name in names:
            if name not in self.words:
                store.check_numbers(name)
                continue
            store.expect_declared(name)
            if not store.expressions[name].type().is_string():
                checks.fail_kind("data", TEXT, store.expressions[name])
        self._ibis = extra("ibis", "data in a database")

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of a row: float64, or a record of float64."""
        return named_dtype(self.names) if len(self.names) > 1 else np.dtype(np.float64)

    def reduce(self, summarise: Callable[[RowChunk], S], merge: Callable[[S, S], S]) -> NoReturn:
        checks.fail_kind("data", NO_ROWS, self)

    def filtered(self, where: Any) -> SqlRows:
        """Return the rows that pass a condition of their table, or refuse another `where`."""
        if where is None:
            return self
        types = self._ibis.expr.types
        if not isinstance(where, types.Column) or not where.type().is_boolean():
            checks.fail_kind("where", WHERE, where)
        store: Database | None = self.store
        if not _is_of(where, self.store.original):
            store = self.store.of_parent()
        if store is None or not _is_of(where, store.original):
            checks.fail("where", WHERE, "a condition of another table")
        expect_rows_alone(where, "where")
        expect_no_failures(where, store.dialect, "where")
        return SqlRows(store, self.names, self.words, where)

    def keyed(self, key: float) -> Columns:
        """Return the rows with a public number or word in the last column, without this column."""
        *names, last = self.names
        store, index = self.store, len(names)
        if last in self.words:
            is_key = self.word(index) == int(key)
        else:
            is_key = self.among(index, [key]) == 1
        rows = Database(self._rows.filter(is_key), store.dialect, store.expressions)
        return rows.table(names) if len(names) > 1 else rows.column(names[0])

    def cell(self, column: int, cells: Gridded) -> Any:
        """Return the grid cell of a column's number, or the word number of its text."""
        if self.names[column] in self.words:
            return self.word(column)
        return cell(self._column(column), cells, self.store.dialect)

    def number(
        self,
        column: int,
        bounds: tuple[float, float],
        missing: str | float,
        least: float = 0.0,
        size: float = 1.0,
    ) -> Any:
        """Return ``(x - least) / size`` of a column's numbers x, clamped to bounds, in float64.

        Such numbers can be added and multiplied. In some databases a product that is too small for
        float64 is an error. There, a number below 2**-100 of the largest counts as 0.

        Parameters
        ----------
        column : int
        bounds : (float, float)
        missing : str or float
            The replacement for a row without a number; a text if there is no replacement.
        least : float, default 0
        size : float, default 1
        """
        most = max(abs(bound - least) for bound in bounds)
        if 0 < most < SMALL:
            rule = f"at least {SMALL} in size, or so far apart, in a database"
            checks.fail("bounds", rule, bounds)
        dialect, (lo, hi) = self.store.dialect, bounds
        value = without_nan(self._column(column), dialect)
        if not isinstance(missing, str):
            value = value.fill_null(exactly(missing))
        x = self._ibis.greatest(self._ibis.least(value, exactly(hi)), exactly(lo))
        if dialect != "sqlite":  # some databases return a bound for NULL
            x = value.notnull().ifelse(x, None)
        x = x - exactly(least) if least else x
        if not DIALECTS[dialect].products_vanish:
            speck = exactly(most * SPECK)
            x = ((x > -speck) & (x < speck)).ifelse(exactly(0.0), x)
        return x if size == 1 else x / exactly(size)

    def leading(self, column: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Return a column's numbers rounded to 5 leading bits, and the number of rows with each.

        The second of three arrays is 1 if rounding went away from 0, 0 if it did not, and 2 for
        rows without a number. The first has the rounded numbers, and the third the numbers of rows.
        Numbers beyond 2**381 in size are clamped to it. The differences are exact (Dekker, 1971),
        so no number is on the wrong side.

        Raises
        ------
        DataError
            If the database fails.
        """
        is_text, most = self.names[column] in self.words, exactly(2.0**381)
        numbers = self.word(column).cast("float64") if is_text else self._column(column)
        x = without_nan(numbers, self.store.dialect)
        rows = self._rows.select(x=self._ibis.cases((x > most, most), (x < -most, -most), else_=x))
        rows = rows.mutate(far=rows.x * exactly(2.0**48 + 1))
        rows = rows.mutate(near=rows.far - (rows.far - rows.x))
        is_far = (rows.x.isnull(), 2), (rows.near.abs() > rows.x.abs(), 1)
        rows = rows.mutate(side=self._ibis.cases(*is_far, else_=0))
        counts = answer(rows.group_by(["near", "side"]).aggregate(rows=rows.count()))
        near, side, many = (counts[name].to_numpy() for name in ("near", "side", "rows"))
        return near, side, many

    def rounded(self, number: Any, cells: Gridded) -> Any:
        """Return the grid cell of a `number` that lies within the grid."""
        return rounded(number, cells, self.store.dialect)

    def among(self, column: int, values: Sequence[Any]) -> Any:
        """Return 1 where a column equals one of some public numbers, and else 0."""
        if self.names[column] in self.words:
            return self.word(column).notnull().ifelse(1, 0).cast("int64")
        x = without_nan(self._column(column), self.store.dialect)
        is_among = reduce(or_, (x == exactly(value) for value in values), self._ibis.literal(False))
        # Cast, because literals are integers of 32 bits, whose products may overflow.
        return self._ibis.cases((x.isnull(), None), (is_among, 1), else_=0).cast("int64")

    def bin_of(self, column: int, edges: Sequence[float], last: float | None) -> Any:
        """Return the bin of a column's number as an integer, missing where it is in no bin.

        Parameters
        ----------
        column : int
        edges : sequence of float
            The lower edge of each bin. A bin contains its lower edge, but not its upper edge.
        last : float or None
            The last number of the last bin. None for bins of single numbers.
        """
        x = without_nan(self._column(column), self.store.dialect)
        if last is not None and DIALECTS[self.store.dialect].products_vanish:
            index = equal_bins(x, edges, last)
            if index is not None:
                return index
        lower = list(map(exactly, edges))
        most = lower[-1] if last is None else exactly(last)
        index = binary_search(x, lower, last is None)
        return ((x >= lower[0]) & (x <= most)).ifelse(index, None)

    def word(self, column: int) -> Any:
        """Return the number of the word that a column of text equals, missing where none does."""
        text = exact(self._column(column), self.store.dialect, "data")
        words = self.words[self.names[column]]
        literals = [bytes_of(self._ibis.literal(word), self.store.dialect) for word in words.words]
        arms = [(text == word, i) for i, word in enumerate(literals)]
        arms += [(text.notnull(), len(literals))] if words.others else []
        return self._ibis.cases(*arms)

    def filled(self, integer: Any, value: int) -> Any:
        """Return an integer expression with `value` where it is missing."""
        return integer.fill_null(value)

    def there(self, name: str) -> Any:
        """Return 1 where a column of any type has a value, and else 0."""
        self.store.expect_declared(name)
        return self.store.expressions[name].notnull().ifelse(1, 0)

    def present(self, *integers: Any) -> Any:
        """Return 1 where none of the `integers` is missing, and else 0."""
        every = [linear(integer)[0].notnull() for integer in integers]
        return reduce(and_, every or [self._ibis.literal(True)]).ifelse(1, 0)

    def chosen(self, ids: str, most: int, secret: str) -> SqlRows:
        """Return at most `most` rows of each unit, chosen at random by a fresh secret.

        Rows without an id are left out.
        """
        store, values = self.store, {f"value{i}": self._column(i) for i in range(len(self.names))}
        unit = exact(store.expressions[ids], store.dialect, "ids")
        rows = self._rows.select(**values, unit=unit).drop_null(["unit"])
        rows = first_rows(rows, ["unit"], list(values), most, secret, store.dialect)
        columns = {name: rows[value] for name, value in zip(self.names, values, strict=True)}
        return SqlRows(Database(rows, store.dialect, columns), self.names, self.words)

    def unit_sizes(
        self,
        ids: str,
        by: Mapping[str, NDArray[Any] | None] = MappingProxyType({}),
        of_groups: bool = False,
        sizes: Sequence[tuple[Feature, float]] = (),
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the different numbers of rows of units, and the number of units with each.

        A row without an id belongs to no unit.

        Parameters
        ----------
        ids : str
        by : mapping of str to ndarray or None
            As in `groups`. With groups, the number of a unit is the largest number of its rows in
            one group.
        of_groups : bool, default False
            Whether the number of groups of a unit is counted, in place of its rows.
        sizes : sequence of (Feature, float), optional
            Features whose sums are taken in place of numbers of rows. The size of a sum is returned
            in multiples of the float, rounded up. With several sums or groups, the largest size
            counts.

        Raises
        ------
        DataError
            If the database fails.
        """
        sizes = sizes or [(Feature(0 * self.present(), 0, 1), 1.0)]
        dialect, features = self.store.dialect, [feature for feature, _ in sizes]
        columns = self.store.expressions
        rows, keys, features = selected(self._rows, columns, dialect, by, features, ids)
        pairs = units_of(rows, ["unit", *keys], features, dialect)
        totals = zip(totals_of(pairs, features, dialect), sizes, strict=True)
        needed = [-(total.abs() / exactly(-part)).floor() for total, (_, part) in totals]
        size = pairs.count() if of_groups else reduce(self._ibis.greatest, needed).max()
        units = pairs.group_by("unit").aggregate(size=size)
        counts = answer(units.group_by("size").aggregate(units=units.count()))
        size, many = (np.array(counts[name].to_pylist(), np.int64) for name in ("size", "units"))
        return size, many

    @property
    def is_whole(self) -> bool:
        """Tell whether all columns hold integers, by their types."""
        return all(is_whole(self._column(i), self.store.dialect) for i in range(len(self.names)))

    def counting(
        self, column: int, bounds: tuple[float, float], missing: float | None
    ) -> SqlNumbers:
        """Return the numbers of a column; a row without one counts as `missing`, or is dropped."""
        return SqlNumbers(self._rows, self._column(column), self.store.dialect, bounds, missing)

    def _column(self, index: int) -> Any:
        return self.store.expressions[self.names[index]]

    def counted(self, integer: Any) -> Any:
        """Return an integer expression that is missing where it is 0."""
        return integer.nullif(0)

    def check_others(self, listed: Listed) -> None:
        """Refuse public keys that cannot be written as literals of a statement."""
        columns = [self.store.expressions[name] for name in listed]
        others_apart(columns, listed, self.store.dialect)

    def groups(
        self,
        by: Mapping[str, NDArray[Any] | None],
        features: Sequence[Feature],
        units: Units | None = None,
        bins: Any = None,
        near: Sequence[Near] = (),
    ) -> Groups:
        """Return sums of features over the rows of each group, or over units after bounding.

        Parameters
        ----------
        by : mapping of str to ndarray or None
            The key columns, each with its public keys, or None. Groups with other keys may be left
            out of the result.
        features : sequence of Feature
        units : Units, optional
            The units that own the rows. Let a unit have c rows in a group, which add up to T. It
            counts as T min(c, rows) / c, rounded towards zero, or as T clamped to its ends.
        bins : integer, optional
            The bin of a row in its group. With units there is one feature, and each row adds the
            same to it. Of n rows in a bin, and c in all bins, n min(c, rows) / c count in the bin.
        near : sequence of Near, optional
            The ranks near which rows of each group are counted, in the order of the only feature.
            Each value is returned as a bin, with four sums: the number of rows with this value,
            with this value or less, with any value, and of all rows of the group. If units have
            more rows than the feature allows, that many are chosen. Rows without a value are in
            the bin -1.

        Raises
        ------
        DataError
            If the database fails.
        """
        columns, dialect = self.store.expressions, self.store.dialect
        return groups_of(self._rows, columns, dialect, by, features, units, bins, near)

    def sums(self, terms: Sequence[Term]) -> list[int]:
        """Return the exact sum of each term over all rows, where a missing integer adds 0.

        Raises
        ------
        DataError
            If the database fails.
        """
        return [total[0] for total in sums_by(self._rows, terms, ())[1]]

    def sums_by(
        self, group_keys: Sequence[Any], terms: Sequence[Term]
    ) -> dict[tuple[int, ...], list[int]]:
        """Return the exact sum of each term over the rows of each combination of keys."""
        by = {self._ibis.util.gen_name("key"): key for key in group_keys}
        keys, totals = sums_by(self._rows.mutate(**by), terms, list(by))
        entries = zip(*(key.to_pylist() for key in keys.columns), strict=True)
        groups = zip(entries, zip(*totals, strict=True), strict=True)
        return {key: list(sums) for key, sums in groups if None not in key}

    @property
    def _rows(self) -> Any:
        table = self.store.original
        return table if self.where is None else table.filter(self.where)


def sql_form(data: Any, name: str) -> Columns:
    """Return a table of a database, or one column of it, as data for a release, by type.

    Raises
    ------
    ArgumentTypeError
        If the expression is neither a table nor a column, uses several tables, or has no
        connection; or if its rows depend on other rows or on randomness.
    """
    ibis = extra("ibis", "data in a database")
    if isinstance(data, ibis.expr.types.Table):
        table = data
    elif isinstance(data, ibis.expr.types.Column) and len(data.op().relations) == 1:
        expect_rows_alone(data, name)
        (relation,) = data.op().relations
        table = relation.to_expr()
    else:
        checks.fail_kind(name, RULE, data)
    if table.op().find(ibis.expr.operations.Impure):
        checks.fail_kind(name, "rows that are the same in each read", data)
    try:
        dialect = table.get_backend().name
    except ibis.common.exceptions.IbisError:
        dialect = ""
    if dialect not in DIALECTS:
        checks.fail_kind(name, f"a table of one connection to one of: {', '.join(DIALECTS)}", data)
    expect_no_failures(data, dialect, name)
    if table is data:
        return Table(Database(table, dialect), table.columns)
    title, is_field = data.get_name(), isinstance(data.op(), ibis.expr.operations.Field)
    return Database(table, dialect, {} if is_field else {title: data}).column(title)


def expect_rows_alone(column: Any, argument: str) -> None:
    """Refuse an expression in which a row depends on other rows of its table, or on chance."""
    if find_others(column.op()):
        checks.fail_kind(argument, "a function of each row alone", column)


def find_others(value: Any) -> Any:
    """Return the parts of an expression that use other rows, other tables, or chance."""
    ops = extra("ibis", "data in a database").expr.operations
    return value.find((ops.Reduction, ops.Analytic, ops.Subquery, ops.Impure), filter=ops.Value)


def _is_of(column: Any, table: Any) -> bool:
    """Tell whether an expression uses the columns of one table, and of no other."""
    return set(column.op().relations) == {table.op()}
