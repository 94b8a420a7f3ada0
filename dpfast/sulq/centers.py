"""Centers in a public box: exact sums of the rows that are nearest to each, and where to start.

Where k-means starts, public points that fill a box, and k centers for released, weighted points,
no row is looked at, and nothing is random: the same arguments lead to the same points.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._kernels.sulq import NEAREST_MOST_ROWS as MOST_ROWS
from .._kernels.sulq import NearestColumns as Columns
from ..summaries.cells import SQUARES, cells
from .columns import Floats, nan_fills
from .rows import Rows

#: Points of the sequence to choose from, for each that is wanted; and comparisons of two, at most.
CHOICE, MOST = 64, 1 << 26

#: Passes over all exchanges, and steps of k-means, at most.
PASSES, STEPS = 40, 30
#: An exchange has to help by this fraction, so that rounding does not make it go in circles.
LEAST = 1e-9


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

    def totals(self, rows: Rows, centers: Floats) -> list[list[int]]:
        """Count the rows of each center and sum their cells, column by column."""
        at, half = self._place(centers)
        k, d = centers.shape

        def add(x: Floats, _: Any, sums: NDArray[np.int64]) -> int:
            counts, cells = np.zeros(k + 1, np.uint64), np.zeros((k + 1, d), np.uint64)
            self._columns.totals(x, at, half, counts, cells)
            sums.reshape(1 + d, k)[...] += np.vstack([counts, cells.T]).astype(np.int64)[:, :k]
            return int(counts[k])

        totals = rows.sums((1 + d) * k, add, self.nan, MOST_ROWS)  # each below 2**62
        return [totals[i : i + k] for i in range(0, len(totals), k)]

    def labels(self, rows: Rows, centers: Floats) -> NDArray[np.int64]:
        """Return the number of each row's center; that of centers, where it has none."""
        at, half = self._place(centers)

        def nearest(x: Floats) -> Floats:
            labels = np.empty(len(x), np.int64)
            self._columns.labels(x, at, half, labels)
            return labels[:, None].astype(np.float64)  # of fewer centers than 2**53

        return rows.each(1, nearest)[:, 0].astype(np.int64)

    def _place(self, centers: Floats) -> tuple[Floats, Floats]:
        """Return coordinates of centers inside the box, and half of their squared lengths."""
        at = np.ascontiguousarray((centers - self.middle) * self.unit)
        return at, np.array([0.5 * math.fsum(squares) for squares in (at * at).tolist()])


def evenly(count: int, d: int) -> Floats:
    """Return points that fill the unit cube evenly, the same every time: an additive recurrence.

    Column j of point i is frac(1/2 + i / g**j) with g**(d + 1) = g + 1.
    """
    g = 2.0
    for _ in range(64):
        g = (1.0 + g) ** (1.0 / (d + 1))
    steps = g ** -np.arange(1.0, d + 1)
    points: Floats = 0.5 + np.arange(1, count + 1)[:, None] * steps
    points -= np.floor(points)  # exact, and much faster than a remainder
    return points


def spread(k: int, lo: Floats, hi: Floats) -> Floats:
    """Return k points of a box, the same every time, each as far as possible from those before it.

    They keep half of the distance from the walls that k points on a lattice have from each other.
    Very many points are not chosen, but all of the sequence.
    """
    d = len(lo)
    margin = 0.5 * k ** (-1.0 / d)
    wide = hi - lo
    unit = math.ldexp(1.0, -math.frexp(float(wide.max()))[1])  # squares neither overflow nor vanish
    choice = min(CHOICE, MOST // k**2)
    places = margin + (1 - 2 * margin) * evenly(max(1, choice) * k, d)
    points: Floats = lo + places * wide
    if choice < 2:
        return points
    inside = places * (wide * unit)
    taken = [int(np.argmin(((inside - wide * unit / 2) ** 2).sum(axis=1)))]
    nearest = np.full(len(inside), np.inf)
    for _ in range(k - 1):
        np.minimum(nearest, ((inside - inside[taken[-1]]) ** 2).sum(axis=1), out=nearest)
        taken.append(int(np.argmax(nearest)))
    return points[taken]


def centers_of(points: Floats, weights: Floats, k: int) -> Floats:
    """Return at most k centers for weighted points: all points, if they are no more than that.

    Greedy: the next center is the point that leaves the least sum of weighted squared distances.
    Then one center after the other is exchanged for a point as long as that helps, and k-means
    steps follow.

    Parameters
    ----------
    points : float64 array of shape (m, d)
        Not so far apart that a squared distance overflows.
    weights : float64 array of shape (m,)
        Positive.
    """
    if len(points) <= k:
        return points.copy()
    squares = squared_distances(points, points)
    chosen = _greedy(squares, weights, k)
    _exchange(squares, weights, chosen)
    return _steps(points, weights, points[chosen])


def squared_distances(a: Floats, b: Floats) -> Floats:
    """Return the squared distance of each row of a from each row of b, column after column."""
    squares = np.zeros((len(a), len(b)))
    for x, y in zip(a.T, b.T, strict=True):
        squares += (x[:, None] - y) ** 2
    return squares


def _greedy(squares: Floats, weights: Floats, k: int) -> NDArray[np.int64]:
    chosen: list[int] = []
    nearest = np.full(len(squares), np.inf)
    for _ in range(k):
        left = np.minimum(squares, nearest) @ weights
        left[chosen] = np.inf
        chosen.append(int(np.argmin(left)))
        nearest = np.minimum(nearest, squares[chosen[-1]])
    return np.array(chosen)


def _exchange(squares: Floats, weights: Floats, chosen: NDArray[np.int64]) -> None:
    """Exchange the center and the point that help most, until none help."""
    k, points = len(chosen), np.arange(len(squares))
    for _ in range(PASSES):
        distances = squares[chosen]
        first = distances.argmin(axis=0)
        least = distances[first, points]
        distances[first, points] = np.inf
        second = distances.min(axis=0)
        # Point c comes: what is left if none goes, and what more if the center j does.
        left = np.minimum(squares, least)
        more = (np.minimum(squares, second) - left) * weights
        loss = more @ (first[:, None] == np.arange(k)) + (left @ weights)[:, None]
        loss[chosen] = np.inf
        c, j = np.unravel_index(int(np.argmin(loss)), loss.shape)
        if loss[c, j] >= (1 - LEAST) * float(least @ weights):
            return
        chosen[j] = c


def _steps(points: Floats, weights: Floats, centers: Floats) -> Floats:
    labels = np.full(len(points), -1)
    for _ in range(STEPS):
        now = squared_distances(points, centers).argmin(axis=1)
        if (now == labels).all():
            break
        labels = now
        rows = np.bincount(labels, weights, len(centers))
        sums = np.stack([np.bincount(labels, weights * x, len(centers)) for x in points.T], axis=1)
        live = rows > 0
        centers = np.where(live[:, None], sums / np.where(live, rows, 1.0)[:, None], centers)
    return centers
