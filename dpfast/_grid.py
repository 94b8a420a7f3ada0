"""The public grid that answers lie on."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

__all__ = ["cells", "ends", "public_grid"]


def public_grid(lo: float, hi: float, widest: float) -> float:
    """The spacing of the output grid: a power of two made from public numbers only.

    About ``2**-40`` of the range; coarser where float64 could not hold the grid's multiples near
    the bounds, or where the widest possible noise `widest` could not be counted on it. (Were the
    grid to follow the secret noise scale, two neighbours whose scales straddle a power of two would
    have different supports.)
    """
    exponent = math.frexp(hi - lo)[1] - 1
    largest = math.frexp(max(abs(lo), abs(hi)))[1] - 1
    reach = math.frexp(widest)[1] - 1
    return math.ldexp(1.0, max(exponent - 40, largest - 52, reach - 48, -1000))


def ends(lo: float, hi: float, grid: float) -> tuple[int, int]:
    """The first and the last multiple of `grid` within the bounds."""
    return math.ceil(Fraction(lo) / Fraction(grid)), math.floor(Fraction(hi) / Fraction(grid))


def cells(values: NDArray[np.float64], grid: float, first: int, last: int) -> NDArray[np.int64]:
    """For each value the last multiple of `grid` that is not above it, from ``first - 1`` to `last`.

    A multiple k has as many values below it as have a cell below k. Values are finite or infinite.
    """
    scaled = np.clip(values, (first - 1) * grid, last * grid)
    scaled /= grid
    np.floor(scaled, out=scaled)
    return scaled.astype(np.int64)
