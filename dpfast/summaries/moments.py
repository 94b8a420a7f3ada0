"""Exact sums of the cells of several columns, and of the products of each two columns."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement, islice
from operator import add
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core import nan_policy
from .._kernels.summaries import products
from ..tables.base import RowSource, Term
from ..tables.memory import Column
from ..tables.sql.store import SqlRows
from .cells import Cells
from .side_by_side import flat, refuse_length, summed

Pairs = Sequence[tuple[float, float]]
#: The pairs of columns to be multiplied, by index.
IndexPairs = Sequence[tuple[int, int]]


class Moments(NamedTuple):
    """Exact sums, over some rows, of cells and of products of cells in the order of `two_of`."""

    rows: int
    missing: int
    sums: tuple[int, ...]
    products: tuple[int, ...]
    read: int

    def merge(self, other: Moments) -> Moments:
        return Moments(
            self.rows + other.rows,
            self.missing + other.missing,
            tuple(map(add, self.sums, other.sums)),
            tuple(map(add, self.products, other.products)),
            self.read + other.read,
        )


def two_of(columns: int) -> list[tuple[int, int]]:
    """Return each pair of columns, also each column with itself, as an upper triangle by rows."""
    return list(combinations_with_replacement(range(columns), 2))


def moments(
    source: RowSource,
    bounds: Pairs,
    cells: Sequence[Cells],
    nan: str | float,
    where: NDArray[np.bool_] | None,
) -> Moments:
    """Return the moments of the rows that `where` keeps, with a grid for each column.

    A missing number is treated by the policy `nan`; "drop" leaves out its whole row.

    Raises
    ------
    DataError
        If a number is missing under ``nan="raise"``, or if `where` has another length.
    """
    pairs = two_of(len(cells))
    if isinstance(source, SqlRows):
        (sums,) = added(source, [(range(len(cells)), pairs)], bounds, cells, nan)
        return sums

    def part(columns: list[NDArray[Any]], read: int) -> list[Moments]:
        return [moments_of(columns, read, bounds, cells, nan, pairs)]

    (sums,) = summed(source, where, part)
    nan_policy.refuse(nan, sums.missing)
    return sums


def weighted_moments(
    source: RowSource,
    weight_column: Column | None,
    bounds: Pairs,
    cells: Sequence[Cells],
    nan: str | float,
    where: NDArray[np.bool_] | None,
) -> list[Moments]:
    """Return the moments of each column with the weights: the last column, or `weight_column`.

    Each answer has one product: the column times the weights. A row is missing in a column if its
    number or its weight is missing.
    """
    if isinstance(source, SqlRows):
        last = len(cells) - 1
        terms = [((column, last), [(0, 1)]) for column in range(last)]
        return added(source, terms, bounds, cells, nan)

    def part(columns: list[NDArray[Any]], read: int) -> list[Moments]:
        *columns, last = columns
        weights = flat(last)
        bounded = zip(columns, bounds[:-1], cells[:-1], strict=True)
        return [
            moments_of(
                [column, weights], read, [pair, bounds[-1]], [grid, cells[-1]], nan, [(0, 1)]
            )
            for column, pair, grid in bounded
        ]

    total = summed(source, where, part, weight_column)
    if weight_column is not None and total[0].read != weight_column.length:
        refuse_length()
    for sums in total:
        nan_policy.refuse(nan, sums.missing)
    return total


def added(
    rows: SqlRows,
    parts: Sequence[tuple[Sequence[int], IndexPairs]],
    bounds: Pairs,
    cells: Sequence[Cells],
    nan: str | float,
) -> list[Moments]:
    """Return the moments of several sets of columns of a database, which adds up the rows.

    Parameters
    ----------
    rows : SqlRows
    parts : sequence of (sequence of int, sequence of (int, int))
        For each answer, the indices of its columns, and the pairs of them that are multiplied.
    """
    filled = cells_of(rows, bounds, cells, nan)
    terms = [Term(rows.present(), 1)]
    for columns, pairs in parts:
        kept = rows.present(*(filled[column] for column in columns))
        cols = [Term(filled[column] * kept, cells[column].span) for column in columns]
        terms += [Term(kept, 1), *cols]
        terms += [
            Term(cols[i].integer * cols[j].integer, cols[i].most * cols[j].most) for i, j in pairs
        ]
    read, *sums = rows.sums(terms)
    answers, left = [], iter(sums)
    for columns, pairs in parts:
        present, *others = islice(left, 1 + len(columns) + len(pairs))
        sums, products = others[: len(columns)], others[len(columns) :]
        answers.append(Moments(present, read - present, tuple(sums), tuple(products), read))
    for answer in answers:
        nan_policy.refuse(nan, answer.missing)
    return answers


def cells_of(rows: SqlRows, bounds: Pairs, cells: Sequence[Cells], nan: str | float) -> list[Any]:
    """Return the cell of each row of a database, by column, with missing numbers replaced."""
    filled = []
    for column, ((lo, hi), grid) in enumerate(zip(bounds, cells, strict=True)):
        value = nan_policy.replacement(nan, lo, hi)
        u = grid.of_row(rows, column)
        filled.append(u if isinstance(value, str) else rows.filled(u, grid.cell(value)))
    return filled


def moments_of(
    columns: list[NDArray[Any]],
    read: int,
    bounds: Pairs,
    cells: Sequence[Cells],
    nan: str | float,
    pairs: Sequence[tuple[int, int]],
) -> Moments:
    """Return the moments of some columns in memory; `nan` is as in `moments`."""
    rows = len(columns[0])
    on_cells, out = placed(columns, bounds, cells, nan)
    on_cells[:, out] = 0
    missing = int(np.count_nonzero(out))
    return Moments(
        rows - missing,
        missing,
        tuple(int(column.sum(dtype=np.uint64)) for column in on_cells),
        tuple(products(on_cells[i], on_cells[j]) for i, j in pairs),
        read,
    )


def placed(
    columns: list[NDArray[Any]], bounds: Pairs, cells: Sequence[Cells], nan: str | float
) -> tuple[NDArray[np.uint32], NDArray[np.bool_]]:
    """Return the cell of each row in each column, and which rows are left out because of NaN."""
    rows = len(columns[0])
    on_cells = np.empty((len(columns), rows), np.uint32)
    absent = np.empty((len(columns), rows), np.uint8)
    for column, grid, column_cells, gone in zip(columns, cells, on_cells, absent, strict=True):
        grid.native.write_cells(flat(column), column_cells, gone)
    out = np.zeros(rows, np.bool_)
    if absent.any():
        for (lo, hi), grid, column_cells, gone in zip(bounds, cells, on_cells, absent, strict=True):
            value = nan_policy.replacement(nan, lo, hi)
            if isinstance(value, str):
                out |= gone != 0
            else:
                column_cells[gone != 0] = grid.cell(value)
    return on_cells, out
