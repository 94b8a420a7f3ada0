"""What the sensitivities of order statistics share: rank rules, float limits, a window's column."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from .._kernels.sensitivity import Column, rank_starts
from ..summaries.order import Window

#: Stands for a number of rows or ranks beyond all data.
FARTHEST = 1 << 60


def rank_rule(q: Fraction) -> Callable[[int], int]:
    """``m(n) = max(1, ceil(q n))`` in integers: a float product can be off by one row."""
    p, r = q.numerator, q.denominator

    def rule(n: int) -> int:
        return max(1, -(-p * n // r))

    return rule


def of_nothing(q: Fraction, lo: float, hi: float) -> float:
    """The quantile of no rows, a public value."""
    return lo if 2 * q <= 1 else hi


def effective_floor(floor: float, lo: float, hi: float) -> float:
    """The public floor in use: below it e^x and the products would leave the normal float64."""
    return max(floor, (hi - lo) * 2.0**-1000, 2.0**-1022)


def reach(beta: float, lo: float, hi: float, least: float) -> int:
    """A distance beyond which no pair of ranks is worth `least`; the slack covers the logarithm."""
    far = (math.log(hi - lo) - math.log(least)) / beta * (1 + 1e-9) + 1e-9
    return FARTHEST if far >= FARTHEST else max(0, math.floor(far)) + 1


def column(window: Window, lo: float, hi: float) -> Column:
    return Column(window.values, window.first, window.n, lo, hi)


def starts(q: Fraction, window: Window, margin: int) -> tuple[NDArray[np.int64], int]:
    """The least ``n' >= 1`` of each rank of the rule, for the window's ranks and `margin` beyond.

    Two more entries follow, which the kernel needs; rank 0 has the entry 0. Ranks that the rule
    never reaches (``q = 0``) have numbers beyond all data.
    """
    p, r = q.numerator, q.denominator
    first = max(0, window.first - 1 - margin)
    stop = window.first + len(window.values) + margin + 4
    if p == 0:
        found = np.arange(first, stop, dtype=np.int64) + FARTHEST
        found[: max(0, 2 - first)] = [0, 1][first:]
    elif stop * r < 1 << 62 and p < 1 << 62:
        found = rank_starts(p, r, first, stop)
    else:
        ranks = range(first, stop)
        exact = (min(max(0, (rank - 1) * r // p + 1), FARTHEST + rank) for rank in ranks)
        found = np.fromiter(exact, np.int64, stop - first)
    if first == 0:
        found[0] = 0
    return found, first
