"""Rows as 1 if they equal a public value, and as 0 if they do not: two cells of a column.

A row's cell is a function of that row alone. So all proofs about cells between the bounds 0 and 1
hold. A missing row equals no value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._kernels.statistics import Axis
from ..summaries.cells import SQUARES, Cells
from ..summaries.totals import totals
from ..tables.batches import MemoryColumn, numbers
from ..tables.intake import Public, View
from ..tables.sql.store import SqlRows
from ..tables.words import Words, words_column


@dataclass(frozen=True, slots=True, eq=False)
class Matches(Cells):
    """The cells 0 and 1 of rows that are compared with public values.

    Parameters
    ----------
    axis : Axis
        A bin for each value.
    words : Words, optional
        The values, if they are text.
    public : (str, sequence), optional
        The name of the argument and the values, if they are numbers.
    """

    grid: float = 1.0
    first: int = 0
    span: int = 1
    axis: Axis | None = None
    words: Words | None = None
    public: Public | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "native", Compared(self._axis, self.span))

    @property
    def _axis(self) -> Axis:
        assert self.axis is not None
        return self.axis

    @property
    def values(self) -> Sequence[Any]:
        """The public values that rows are compared with, as texts or numbers."""
        if self.words is not None:
            return self.words.words
        return () if self.public is None else self.public[1]

    def of_row(self, rows: SqlRows, column: int) -> Any:
        return self.span * rows.filled(rows.among(column, self.values), 0)

    @property
    def finer(self) -> Matches:
        """The cells 0 and 1 on a finer grid, on which a row may count in part."""
        return replace(self, grid=2.0**-SQUARES, span=1 << SQUARES)

    def cell(self, x: float) -> int:
        return self.span * int(x >= 1)

    def matched(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Return 1 for each number that equals a value, and 0 for others."""
        return Compared(self._axis).matched(values).astype(np.float64)

    def of(self, column: MemoryColumn, name: str) -> NDArray[np.float64]:
        """Return 1 for each row of a column that equals a value, and 0 for others."""
        values = numbers(column) if self.words is None else numbers_of(column, self.words, name)
        return self.matched(values)

    def rows(self, view: View) -> NDArray[np.float64]:
        """Return a 0 or a 1 for each row of a view, in ascending order."""
        counts = totals(view.kept, self, None)
        zeros = counts.rows + counts.missing - counts.sum
        return np.repeat([0.0, 1.0], [zeros, counts.sum])


def numbers_of(part: MemoryColumn, words: Words, name: str) -> NDArray[np.float64]:
    """Return the number of the public word that each row equals, NaN for any other row."""
    column = words_column(part, words, name)
    out = np.empty(column.length)
    column.fill(0, column.length, out)
    return out


@dataclass(frozen=True, slots=True)
class Compared:
    """A counter of rows that equal a public value, in place of a `Grid` that sums cells."""

    axis: Axis
    span: int = 1

    def matched(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Return whether each number equals a public value."""
        bins = np.zeros(len(values), np.uint32)
        self.axis.place(values, 1, bins)
        return bins < self.axis.bins

    def write_cells(
        self, values: NDArray[Any], cells: NDArray[np.uint32], gone: NDArray[np.uint8]
    ) -> None:
        """Write the cell of each row to `cells`, and mark in `gone` that no row is missing."""
        cells[:], gone[:] = self.matched(values), 0
        cells *= self.span

    def totals(self, values: NDArray[Any], squares: bool) -> tuple[int, int, int]:
        """Return the number of missing rows, the sum of all cells, and the sum of their squares."""
        counts = np.zeros(self.axis.bins + 1, np.int64)
        self.axis.histogram(values, counts)
        count = int(counts[:-1].sum())
        return 0, count, count
