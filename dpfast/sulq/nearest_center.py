"""Rows as coordinates in a public box, the nearest of some centers, and exact sums for each."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .._kernels.sulq import NEAREST_MOST_ROWS as MOST_ROWS
from .._kernels.sulq import NearestColumns as Columns
from ..sources.base import RowChunk, RowSource
from ..summaries.cells import SQUARES, cells
from .row_matrices import Floats, carry, matrices, nan_fills, wholes


class Box:
    """Public bounds of each column, and the grid between them.

    Attributes
    ----------
    lo, hi, middle : float64 array of shape (d,)
        The first and the last cell of each column, and the middle between them.
    grid : float64 array of shape (d,)
        The width of a cell.
    span : list of int
        The last cell, counted from the first.
    nan : str or float
        What a NaN counts as.
    """

    def __init__(self, bounds: Sequence[tuple[float, float]], nan: str | float) -> None:
        self.nan = nan
        columns = [cells(lo, hi, SQUARES) for lo, hi in bounds]
        self.grid = np.array([c.grid for c in columns])
        self.span = [c.span for c in columns]
        self.lo = np.array([c.first * c.grid for c in columns])
        self.hi = np.array([c.last * c.grid for c in columns])
        self.middle = np.array([(c.first + c.span / 2) * c.grid for c in columns])
        half = float((self.hi - self.middle).max())
        self.unit = math.ldexp(1.0, -math.frexp(half)[1]) if half else 1.0
        fills, skip = nan_fills(nan, bounds)
        self._columns = Columns(
            1.0 / self.grid,
            np.array([c.first for c in columns]),
            np.array(self.span),
            self.middle,
            np.array(fills),
            self.unit,
            skip,
        )

    @property
    def width(self) -> int:
        return len(self.span)

    def totals(self, source: RowSource, centers: Floats) -> tuple[list[list[int]], int]:
        """Count the rows of each center and sum their cells, column by column.

        Return these, and the number of rows without a center.
        """
        at, half = self._place(centers)
        k, d = centers.shape

        def summarize(chunk: RowChunk) -> NDArray[np.int64]:
            halves = np.zeros((2, 1 + d, k + 1), np.int64)
            for rows in matrices(chunk, self.width, MOST_ROWS):
                counts, sums = np.zeros(k + 1, np.uint64), np.zeros((k + 1, d), np.uint64)
                self._columns.totals(rows, at, half, counts, sums)
                halves[1] += np.vstack([counts, sums.T]).astype(np.int64)  # below 2**62
                carry(halves)
            return halves

        totals = wholes(source.reduce(summarize, np.add))
        return totals[:, :k].tolist(), int(totals[0, k])

    def labels(self, source: RowSource, centers: Floats) -> NDArray[np.int64]:
        """Return the number of each row's center; that of centers, where it has none."""
        at, half = self._place(centers)

        def summarize(chunk: RowChunk) -> list[tuple[int, NDArray[np.int64]]]:
            out, done = np.empty(len(chunk.rows), np.int64), 0
            for rows in matrices(chunk, self.width, MOST_ROWS):
                self._columns.labels(rows, at, half, out[done : done + len(rows)])
                done += len(rows)
            return [(chunk.start, out)]

        chunks = source.reduce(summarize, lambda a, b: a + b)
        return np.concatenate([labels for _, labels in sorted(chunks, key=lambda part: part[0])])

    def _place(self, centers: Floats) -> tuple[Floats, Floats]:
        """Return coordinates of centers inside the box, and half of their squared lengths."""
        at = np.ascontiguousarray((centers - self.middle) * self.unit)
        return at, np.array([0.5 * math.fsum(squares) for squares in (at * at).tolist()])
