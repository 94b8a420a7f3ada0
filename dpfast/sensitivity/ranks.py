"""Helpers for sensitivities of order statistics: rank rules, float limits, kernel windows."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from .._kernels.sensitivity import Column, rank_starts
from ..summaries.order import Window

#: A number of rows, or a rank, that is larger than in any data.
FARTHEST = 1 << 60


def rank_rule(q: Fraction) -> Callable[[int], int]:
    """Return the rule of a quantile's rank among n rows, ``m(n) = max(1, ceil(q n))``, exactly."""
    p, r = q.numerator, q.denominator

    def rule(n: int) -> int:
        return max(1, -(-p * n // r))

    return rule


def kept_ends(proportion: Fraction) -> tuple[Callable[[int], int], Callable[[int], int]]:
    """Return two rules for the first and the last rank of n rows that a trimmed mean keeps."""
    return lambda n: math.floor(proportion * n) + 1, lambda n: n - math.floor(proportion * n)


def of_nothing(q: Fraction, lo: float, hi: float) -> float:
    """Return the public value that counts as the q-quantile of no rows, one of the bounds."""
    return lo if 2 * q <= 1 else hi


def effective_floor(floor: float, lo: float, hi: float) -> float:
    """Return the public floor of a smooth bound, so large that no product underflows in float64."""
    return max(floor, (hi - lo) * 2.0**-1000, 2.0**-1022)


def reach(beta: float, lo: float, hi: float, least: float) -> int:
    """Return a distance beyond which each pair of ranks contributes less than `least`."""
    distance = (math.log(hi - lo) - math.log(least)) / beta * (1 + 1e-9) + 1e-9
    return FARTHEST if distance >= FARTHEST else max(0, math.floor(distance)) + 1


def column(window: Window, lo: float, hi: float) -> Column:
    """Return the rows of a window, with n and the bounds, as the native kernel takes them."""
    return Column(window.values, window.first, window.n, lo, hi)


def starts(q: Fraction, window: Window, margin: int) -> tuple[NDArray[np.int64], int]:
    """Return, for each rank of a window, the least number of rows for which q has this rank.

    The window is extended by `margin` ranks at each end, and by two more for the kernel. Rank 0
    gets 0, and all other ranks get at least 1. Ranks that q never has (for ``q = 0``) get numbers
    that are larger than in any data.
    """
    p, r = q.numerator, q.denominator
    first = max(0, window.first - 1 - margin)
    stop = window.first + len(window.values) + margin + 4
    if p == 0:
        least = np.arange(first, stop, dtype=np.int64) + FARTHEST
        least[: max(0, 2 - first)] = [0, 1][first:]
    elif stop * r < 1 << 62 and p < 1 << 62:
        least = rank_starts(p, r, first, stop)
    else:
        ranks = range(first, stop)
        exact = (min(max(0, (rank - 1) * r // p + 1), FARTHEST + rank) for rank in ranks)
        least = np.fromiter(exact, np.int64, stop - first)
    if first == 0:
        least[0] = 0
    return least, first
