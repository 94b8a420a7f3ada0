"""Rows as coordinates in a public box, the nearest of some centres, and exact sums for each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import nan_policy
from .._kernels.sulq import NEAREST_MOST_ROWS as MOST_ROWS
from .._kernels.sulq import NearestColumns as Columns
from ..sources.row_source import RowChunk, RowSource
from ..summaries.cells import SQUARES, cells
from .matrices import matrices
from .wide_sums import carry, wholes


class Box:
    """Public bounds of each column, and the grid between them.

    Attributes
    ----------
    lo, hi, middle : float64 array of shape (d,)
        The first and the last cell of each column, and what lies between them.
    grid : float64 array of shape (d,)
        The width of a cell.
    span : list of int
        The last cell, counted from the first.
    """

    def __init__(self, bounds: Sequence[tuple[float, float]], nan: str | float) -> None:
        own = [cells(lo, hi, SQUARES) for lo, hi in bounds]
        self.grid = np.array([c.grid for c in own])
        self.span = [c.span for c in own]
        self.lo = np.array([c.first * c.grid for c in own])
        self.hi = np.array([c.last * c.grid for c in own])
        self.middle = np.array([(c.first + c.span / 2) * c.grid for c in own])
        half = float((self.hi - self.middle).max())
        self.unit = math.ldexp(1.0, -math.frexp(half)[1]) if half else 1.0
        fills = [nan_policy.replacement(nan, *pair) for pair in bounds]
        self.skip = any(isinstance(fill, str) for fill in fills)
        given = [0.0 if isinstance(fill, str) else fill for fill in fills]
        self._columns = Columns(
            1.0 / self.grid,
            np.array([c.first for c in own]),
            np.array(self.span),
            self.middle,
            np.array(given),
            self.unit,
            self.skip,
        )

    @property
    def width(self) -> int:
        return len(self.span)

    def totals(self, source: RowSource, centres: NDArray[np.float64]) -> tuple[list[Any], int]:
        """Rows of each centre, then their sums of cells, column by column; and rows without one."""
        at, half = self._place(centres)
        k, d = centres.shape

        def summarise(chunk: RowChunk) -> NDArray[np.int64]:
            found = np.zeros((2, 1 + d, k + 1), np.int64)
            for rows in matrices(chunk, self.width, MOST_ROWS):
                counts, sums = np.zeros(k + 1, np.uint64), np.zeros((k + 1, d), np.uint64)
                self._columns.totals(rows, at, half, counts, sums)
                found[1] += np.vstack([counts, sums.T]).astype(np.int64)  # below 2**62
                carry(found)
            return found

        found = wholes(source.reduce(summarise, np.add))
        return found[:, :k].tolist(), int(found[0, k])

    def labels(self, source: RowSource, centres: NDArray[np.float64]) -> NDArray[np.int64]:
        """The number of each row's centre; that of centres, where it has none."""
        at, half = self._place(centres)

        def summarise(chunk: RowChunk) -> list[tuple[int, NDArray[np.int64]]]:
            out, done = np.empty(len(chunk.rows), np.int64), 0
            for rows in matrices(chunk, self.width, MOST_ROWS):
                self._columns.labels(rows, at, half, out[done : done + len(rows)])
                done += len(rows)
            return [(chunk.start, out)]

        found = source.reduce(summarise, lambda a, b: a + b)
        return np.concatenate([labels for _, labels in sorted(found, key=lambda part: part[0])])

    def _place(self, centres: NDArray[np.float64]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Coordinates of centres inside the box, and half of their squared lengths."""
        at = np.ascontiguousarray((centres - self.middle) * self.unit)
        return at, np.array([0.5 * math.fsum(squares) for squares in (at * at).tolist()])
