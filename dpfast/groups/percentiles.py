"""Percentiles of one group of rows, out of a loss for all groups that another program divides up.

A person has at most k rows in each of L groups at most, and all groups together cost epsilon, or
(epsilon, delta). Quantiles that are e-DP for a row are (k e)-DP for k of them, and so L k e in all
groups; what is r-zCDP for a row is (k**2 r)-zCDP for k and L k**2 r in all groups (Bun and Steinke,
TCC 2016, for groups of rows and composition). So e = epsilon / (L k), and r = rho / (L k**2) with
the rho that is (epsilon, delta)-DP. With at most m rows of a person in all groups together, k_i of
them in group i, sum k_i <= m and sum k_i**2 <= m**2: as for L = 1 and k = m.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from .._core import checks
from ..noise.additive import MOST
from ..privacy.conversions import rho_within
from ..rng import Generator
from ..statistics.quantiles.api import quantiles


def of_partition(
    values: Any,
    qs: list[float],
    *,
    bounds: tuple[float, float],
    epsilon: float,
    delta: float,
    max_groups: int,
    max_rows: int,
    rng: Generator | None,
) -> list[float]:
    """Return quantiles of a group; values that are NaN do not count.

    Parameters
    ----------
    values : array of float64
    qs : list of float
    bounds : (float, float)
    epsilon, delta : float
        Of all groups; delta may be 0.
    max_groups, max_rows : int
        L and k.
    rng : Generator, optional
    """
    groups = checks.whole("max_groups", max_groups, 1)
    rows = checks.whole("max_rows", max_rows, 1)
    size = min(checks.fraction("epsilon", epsilon), Fraction(MOST))
    asked: dict[str, Any] = {"bounds": bounds, "neighbors": "add-remove", "nan": "drop", "rng": rng}
    if delta:
        own = rho_within(size, checks.fraction("delta", delta)) / (groups * rows**2)
        return list(map(float, quantiles(values, qs, rho=own, **asked)))
    return list(map(float, quantiles(values, qs, epsilon=size / (groups * rows), **asked)))
