"""Numbers of rows on each cell of each of several columns, in one read of all columns.

The sums, sums of squares and ranks of a clamped column are functions of these integers. A row is
clamped and rounded to the nearest cell, as in `summaries.cells`. There are a few thousand cells, so
that their counts stay in a cache.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._kernels.statistics import Axis
from ..tables import Source
from ..tables.base import RowSource, Term
from ..tables.sql.store import SqlRows
from .cells import Cells
from .side_by_side import BLOCK, tallied
from .totals import Totals

Counts = NDArray[np.int64]
Rows: TypeAlias = RowSource | SqlRows


@dataclass(frozen=True, eq=False)
class CellCounts:
    """The number of rows on each cell of a column, and of rows without a number; NOT PRIVATE.

    Parameters
    ----------
    cells : Cells
    held : int64 array of shape (span + 1,)
    missing : int
    """

    cells: Cells
    held: Counts
    missing: int

    @property
    def numbers(self) -> NDArray[np.float64]:
        """The number that each cell represents."""
        numbers = np.arange(len(self.held), dtype=np.float64) + self.cells.first
        return np.asarray(numbers * self.cells.grid)

    @property
    def totals(self) -> Totals:
        """The exact totals of the rows, in cells counted from the first."""
        held, u = self.held, np.arange(len(self.held))
        # A part of a count has 16 bits, the square of a cell number 30, and there are at most 2**15
        # cells. So no sum overflows int64.
        parts = [(held >> shift & (1 << 16) - 1, shift) for shift in range(0, 64, 16)]
        first, second = (sum(int(p @ power) << shift for p, shift in parts) for power in (u, u * u))
        rows = int(held.sum())
        return Totals(rows, self.missing, first, second, rows + self.missing)

    def clamped(self, lo: float, hi: float) -> CellCounts:
        """Return the counts of rows clamped once more, to the cells that hold `lo` and `hi`."""
        first, last, grid = self.cells.first, self.cells.last, self.cells.grid
        low = min(max(math.floor(lo / grid), first), last)
        high = min(max(math.ceil(hi / grid), low), last)
        i, j = low - first, high - first
        held = self.held[i : j + 1].copy()
        held[0] += self.held[:i].sum()
        held[-1] += self.held[j + 1 :].sum()
        return CellCounts(Cells(grid, low, high - low), held, self.missing)


def cell_counts(
    source: list[Source] | Rows, where: NDArray[np.bool_] | None, cells: Sequence[Cells]
) -> list[CellCounts]:
    """Return the counts of the cells of each column, for the rows that `where` keeps.

    Raises
    ------
    DataError
        If the data turn out to be of another length than `where`.
    """
    if isinstance(source, SqlRows):
        return [_counted(source, i, grid) for i, grid in enumerate(cells)]
    axes = []
    for grid in cells:
        edges = (np.arange(grid.span + 2, dtype=np.float64) + (grid.first - 0.5)) * grid.grid
        # Edges above even cells: a value on such an edge is rounded to the even cell.
        odd = edges[(grid.first + 1) % 2 :: 2]
        odd[:] = np.nextafter(odd, np.inf)
        axes.append(Axis(edges[:-1].copy(), float(edges[-1]), len(edges), False))
    ends = [np.array([grid.first, grid.last]) * grid.grid for grid in cells]

    def add(j: int, values: NDArray[Any], counts: Counts) -> None:
        for at in range(0, len(values), BLOCK):
            axes[j].histogram(np.clip(values[at : at + BLOCK], *ends[j]), counts)

    all_counts = tallied(source, where, [grid.span + 2 for grid in cells], add)
    return [
        CellCounts(grid, counts[:-1], int(counts[-1]))
        for grid, counts in zip(cells, all_counts, strict=True)
    ]


def _counted(rows: SqlRows, column: int, cells: Cells) -> CellCounts:
    """Return the counts of the cells of a column of a database."""
    counts, cell = np.zeros(cells.span + 2, np.int64), cells.of_row(rows, column)
    every = rows.sums_by([rows.filled(cell, cells.span + 1)], [Term(rows.present(), 1)])
    for (index,), (number,) in every.items():
        counts[index] = number
    return CellCounts(cells, counts[:-1], int(counts[-1]))
