"""k centres for weighted points that have been released: no row is looked at.

Greedy: the next centre is the point that leaves the least sum of weighted squared distances. Then
one centre after the other is exchanged for a point as long as that helps, and k-means steps follow.
Nothing is drawn, so the same points lead to the same centres.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: Passes over all exchanges, and steps of k-means, at most.
PASSES, STEPS = 40, 30
#: An exchange has to help by this part, so that rounding does not make it go in circles.
LEAST = 1e-9


def centres_of(points: Floats, weights: Floats, k: int) -> Floats:
    """At most k centres: all points, if they are no more than that.

    Parameters
    ----------
    points : float64 array of shape (m, d)
        Not so far apart that a squared distance overflows.
    weights : float64 array of shape (m,)
        Positive.
    """
    if len(points) <= k:
        return points.copy()
    squares = _squares(points, points)
    chosen = _greedy(squares, weights, k)
    _exchange(squares, weights, chosen)
    return _steps(points, weights, points[chosen])


def _squares(a: Floats, b: Floats) -> Floats:
    found = np.zeros((len(a), len(b)))
    for x, y in zip(a.T, b.T, strict=True):
        found += (x[:, None] - y) ** 2
    return found


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
    """Exchange the centre and the point that help most, until none help."""
    k, points = len(chosen), np.arange(len(squares))
    for _ in range(PASSES):
        own = squares[chosen]
        first = own.argmin(axis=0)
        least = own[first, points]
        own[first, points] = np.inf
        second = own.min(axis=0)
        # Point c comes: what is left if none goes, and what more if the centre j does.
        left = np.minimum(squares, least)
        more = (np.minimum(squares, second) - left) * weights
        loss = more @ (first[:, None] == np.arange(k)) + (left @ weights)[:, None]
        loss[chosen] = np.inf
        c, j = np.unravel_index(int(np.argmin(loss)), loss.shape)
        if loss[c, j] >= (1 - LEAST) * float(least @ weights):
            return
        chosen[j] = c


def _steps(points: Floats, weights: Floats, centres: Floats) -> Floats:
    labels = np.full(len(points), -1)
    for _ in range(STEPS):
        now = _squares(points, centres).argmin(axis=1)
        if (now == labels).all():
            break
        labels = now
        rows = np.bincount(labels, weights, len(centres))
        sums = np.stack([np.bincount(labels, weights * x, len(centres)) for x in points.T], axis=1)
        live = rows > 0
        centres = np.where(live[:, None], sums / np.where(live, rows, 1.0)[:, None], centres)
    return centres
