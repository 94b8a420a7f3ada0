"""Public points that keep away from one another and from the walls of a box."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

#: Points of the sequence to choose from, for each that is wanted; and comparisons of two, at most.
CHOICE, MOST = 64, 1 << 26


def evenly(count: int, d: int) -> NDArray[np.float64]:
    """Points that fill the unit cube evenly, the same every time: an additive recurrence.

    Column j of point i is frac(1/2 + i / g**j) with g**(d + 1) = g + 1.
    """
    g = 2.0
    for _ in range(64):
        g = (1.0 + g) ** (1.0 / (d + 1))
    steps = g ** -np.arange(1.0, d + 1)
    points: NDArray[np.float64] = 0.5 + np.arange(1, count + 1)[:, None] * steps
    points -= np.floor(points)  # exact, and much faster than a remainder
    return points


def spread(k: int, lo: NDArray[np.float64], hi: NDArray[np.float64]) -> NDArray[np.float64]:
    """k points of a box, the same every time: each as far as possible from those before it.

    They keep half of the distance from the walls that k points on a lattice have from each other.
    Very many points are not chosen, but all of the sequence.
    """
    d = len(lo)
    margin = 0.5 * k ** (-1.0 / d)
    wide = hi - lo
    unit = math.ldexp(1.0, -math.frexp(float(wide.max()))[1])  # squares neither overflow nor vanish
    choice = min(CHOICE, MOST // k**2)
    places = margin + (1 - 2 * margin) * evenly(max(1, choice) * k, d)
    found: NDArray[np.float64] = lo + places * wide
    if choice < 2:
        return found
    inside = places * (wide * unit)
    taken = [int(np.argmin(((inside - wide * unit / 2) ** 2).sum(axis=1)))]
    nearest = np.full(len(inside), np.inf)
    for _ in range(k - 1):
        np.minimum(nearest, ((inside - inside[taken[-1]]) ** 2).sum(axis=1), out=nearest)
        taken.append(int(np.argmax(nearest)))
    return found[taken]
