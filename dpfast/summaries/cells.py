"""Rows as cells of a public grid, so that sums are exact integers with an exact sensitivity.

A float64 sum depends on the order of its terms, and may change by far more than one term when a row
changes (Casacuberta, Shoemate, Vadhan and Wagaman, CCS 2022). Here each row is clamped to public
bounds and rounded to the nearest cell of a public grid: cell `first` + u, where u is from 0 to
`span`. This is a nondecreasing function of the row alone. So a row that changes changes only its
own u, by at most `span`. All that is computed from the noisy sum of cells is post-processing.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._kernels.summaries import Grid
from ..tables.sql.store import SqlRows

#: The number of cells between the bounds is about 2**FINE for sums, and 2**SQUARES for sums of
#: products.
FINE, SQUARES = 40, 30
_REACH = 50


@dataclass(frozen=True, slots=True)
class Cells:
    """A public grid: the cells between public bounds, to which rows are rounded.

    Parameters
    ----------
    grid : float
        The width of a cell, a power of two.
    first, span : int
        Cells ``first .. first + span``. Cell c represents the number ``c * grid``.
    """

    grid: float
    first: int
    span: int
    native: Grid = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "native", Grid(1.0 / self.grid, self.first, self.span))

    @property
    def last(self) -> int:
        return self.first + self.span

    def of_row(self, rows: SqlRows, column: int) -> Any:
        """Return the cell u, from 0 to `span`, of each row in a column of a database."""
        return rows.cell(column, self)

    def cell(self, x: float) -> int:
        """Return the cell u, from 0 to `span`, of one number."""
        return self.native.totals(np.array([x], np.float64))[1]


@lru_cache(maxsize=1024)
def cells(lo: float, hi: float, bits: int = FINE, width: float | None = None) -> Cells:
    """Return a grid of about ``2**bits`` cells in `width`, by default the bounds' distance.

    The grid is coarser if the bounds are so far from 0 that float64 needs it. It depends on public
    numbers alone. A `width` above ``hi - lo`` may leave only one cell.
    """
    wide = hi - lo if width is None else width
    largest = max(abs(lo), abs(hi))
    if wide == 0.0:
        wide = largest
    if wide == 0.0:
        return Cells(1.0, 0, 0)
    fine = math.frexp(wide)[1] - 1 - bits
    grid = math.ldexp(1.0, max(fine, math.frexp(largest)[1] - 1 - _REACH, -1000))
    if lo == hi:
        return Cells(grid, round(lo / grid), 0)
    unit = Fraction(grid)  # lo / grid could underflow to 0, which would be on the wrong side of lo
    first, last = math.ceil(Fraction(lo) / unit), math.floor(Fraction(hi) / unit)
    if first >= last and width is not None:
        first = last = round(Fraction(lo) / unit)
    elif first >= last:
        checks.fail("bounds", f"equal, or at least {2 * grid:.3g} apart", (lo, hi))
    return Cells(grid, first, last - first)


def in_units(cells: NDArray[Any], width: float) -> NDArray[np.float64]:
    """Return numbers of cells times the width of a cell, a power of two, in float64.

    Like `nearest`, it returns the largest float64 in place of infinity.
    """
    most = sys.float_info.max / max(width, 1.0)
    cells = np.minimum(np.maximum(cells, -most), most)
    return cells * width


def nearest(value: Fraction) -> float:
    """Return the float64 nearest to a fraction; the largest float64 in place of infinity."""
    return quotient(value.numerator, value.denominator)


def quotient(numerator: int, denominator: int) -> float:
    """Return the float64 nearest to a quotient; the largest float64 in place of infinity."""
    try:
        return numerator / denominator
    except OverflowError:
        return math.copysign(sys.float_info.max, 1 if numerator > 0 else -1)
