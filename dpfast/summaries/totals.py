"""Exact totals of columns: rows, missing rows, sums of cells and of their squares.

A `Totals` is a few integers that can be merged in any order. `where` is a mask as long as the
column. Rows that it leaves out are not counted at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from .._core import nan_policy
from ..tables.base import Chunk, RowSource, Source, Term
from ..tables.masked import kept, refuse_mask
from ..tables.memory import ArraySource
from ..tables.sql.store import SqlRows
from .cells import Cells
from .side_by_side import flat, summed


class Totals(NamedTuple):
    """Exact totals of some rows: `rows` with a number, and `missing` rows without a number."""

    rows: int = 0
    missing: int = 0
    sum: int = 0
    squares: int = 0
    read: int = 0  # the number of rows read, including those that `where` leaves out

    def merge(self, other: Totals) -> Totals:
        return Totals(*map(add, self, other))


class Summed(Protocol):
    """The interface of cells that count missing numbers and add up others and their squares."""

    def totals(self, values: NDArray[Any], squares: bool) -> tuple[int, int, int]: ...


class Celled(Protocol):
    """The interface of a function of a row that returns a cell 0 .. `span`, such as a grid."""

    @property
    def span(self) -> int: ...
    @property
    def native(self) -> Summed: ...
    def of_row(self, rows: SqlRows, column: int) -> Any:
        """Return the cell of each row in a column of a database."""


def totals(
    source: Source | SqlRows,
    cells: Celled | None,
    where: NDArray[np.bool_] | None,
    squares: bool = False,
) -> Totals:
    """Return the totals of the rows that `where` keeps. Without `cells`, rows are only counted.

    Raises
    ------
    DataError
        If the data turn out to be of another length than `where`.
    """
    if where is None and isinstance(source, ArraySource) and source.at_once:
        return totals_of(source.array, 0, source.length, cells, squares)
    if isinstance(source, SqlRows):
        return added(source, [cells], squares)[0]

    def summarise(chunk: Chunk) -> Totals:
        read = len(chunk.values) + chunk.nulls
        if where is None:
            return totals_of(chunk.values, chunk.nulls, read, cells, squares)
        sums = (totals_of(p.values, p.nulls, 0, cells, squares) for p in kept(chunk, where))
        return reduce(Totals.merge, sums)._replace(read=read)

    total = source.reduce(summarise, Totals.merge)
    if where is not None and total.read != len(where):
        refuse_mask()
    return total


def column_totals(
    source: RowSource | list[Source],
    cells: Sequence[Celled | None],
    where: NDArray[np.bool_] | None,
    squares: bool = False,
) -> list[Totals]:
    """Return the totals of each column, as `totals` does, in one read of all columns.

    Columns that are separate in memory are read in place, one after the other. Otherwise, as in
    files, rows are read a stretch at a time, and all columns of a stretch while it is in a cache.
    Both ways give the same integers.
    """
    if isinstance(source, SqlRows):
        return added(source, cells, squares)
    if isinstance(source, list):
        column_cells = zip(source, cells, strict=True)
        return [totals(column, grid, where, squares) for column, grid in column_cells]

    def part(columns: list[NDArray[Any]], read: int) -> list[Totals]:
        pairs = zip(columns, cells, strict=True)
        return [totals_of(flat(column), 0, read, grid, squares) for column, grid in pairs]

    return summed(source, where, part)


def added(rows: SqlRows, cells: Sequence[Celled | None], squares: bool) -> list[Totals]:
    """Return the totals of each column, summed by the database that holds the rows."""
    terms = [Term(rows.present(), 1)]
    for column, grid in enumerate(cells):
        if grid is None:
            u = rows.among(column, ()) if rows.names else rows.present()
            terms.append(Term(rows.present(u), 1))
            continue
        u = grid.of_row(rows, column)
        terms += [Term(rows.present(u), 1), Term(u, grid.span)]
        terms += [Term(u * u, grid.span**2)] if squares else []
    read, *sums = rows.sums(terms)
    columns, left = [], iter(sums)
    for grid in cells:
        present = next(left)
        total = 0 if grid is None else next(left)
        square = next(left) if squares and grid is not None else 0
        columns.append(Totals(present, read - present, total, square, read))
    return columns


def totals_of(
    values: NDArray[Any], nulls: int, read: int, cells: Celled | None, squares: bool
) -> Totals:
    """Return the totals of some values, and `nulls` null rows, out of `read` rows."""
    if cells is None:
        nan = int(np.count_nonzero(values != values)) if values.dtype.kind == "f" else 0
        return Totals(len(values) - nan, nulls + nan, 0, 0, read)
    nan, total, square = cells.native.totals(values, squares)
    return Totals(len(values) - nan, nulls + nan, total, square, read)


def with_missing(totals: Totals, rule: str | float, lo: float, hi: float, cells: Cells) -> Totals:
    """Return the totals after missing rows are refused, replaced or dropped by the policy.

    Raises
    ------
    DataError
        If there are missing rows under ``nan="raise"``.
    """
    if not totals.missing:
        return totals
    nan_policy.refuse(rule, totals.missing)
    value = nan_policy.replacement(rule, lo, hi)
    if isinstance(value, str):
        return totals
    u, more = cells.cell(value), totals.missing
    return totals.merge(Totals(more, -more, more * u, more * u * u))
