"""Base of the sensitivities of statistics of one column, and exact sums of sorted rows."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core import checks, nan_policy
from .._core.types import Neighbors
from ..summaries.order import Ranks, Window
from ..tables import as_source
from .known import KnownSensitivity
from .ranks import FARTHEST
from .rounding import float_up

#: Why some statistics refuse "add-remove".
PRIVATE_ROWS = "(with a private number of rows no useful bound is known)"
#: Bits of a value: two parts of 30 bits, so that sums of fewer than 2**33 parts fit into 64 bits.
_BITS = 60


class Clamped(NamedTuple):
    """The checked arguments of a sensitivity: an unread column, bounds, neighboring relation."""

    ranks: Ranks
    lo: float
    hi: float
    neighbors: str
    nan: str | float

    def windows(self, rules: Sequence[Callable[[int], int]], width: int) -> list[Window]:
        """Return the rows around the ranks of each rule, in one pass; refuse missing rows."""
        self.ranks.prefetch([(rule, width) for rule in rules])
        windows = [self.ranks.window(rule, width) for rule in rules]
        nan_policy.refuse(self.nan, windows[0].nan)
        return windows

    def rows(self) -> int:
        """Return the number of rows that are not missing, by a pass over the data."""
        return self.windows([lambda n: 1], 0)[0].n


class ColumnSensitivity(KnownSensitivity):
    """Base of the sensitivities of a statistic of one clamped column."""

    bounds: Any
    nan: Any
    assume_sorted: bool = False

    @property
    @abstractmethod
    def limits(self) -> tuple[float, float] | None:
        """The public limits of the weights of rows; None without weights."""

    def largest_change(self, span: Fraction, rows: int | None, neighbors: str) -> Fraction:
        """Return the exact global sensitivity for bounds that are `span` apart."""
        return span

    @abstractmethod
    def local_of(self, column: Clamped, at_distance: int) -> float:
        """Return the largest local sensitivity within a distance of a column; NOT PRIVATE."""

    @abstractmethod
    def smooth_of(self, column: Clamped, beta: float) -> float:
        """Return a beta-smooth bound on the local sensitivity of a column; NOT PRIVATE."""

    def global_sensitivity(self, rows: int | None, neighbors: Neighbors) -> float:
        lo, hi = self._pair()
        return float_up(self.largest_change(Fraction(hi) - Fraction(lo), rows, neighbors))

    def local_sensitivity(self, data: Any, at_distance: int, neighbors: Neighbors) -> float:
        return self.local_of(self.clamped(data, neighbors), min(at_distance, FARTHEST))

    def smooth_sensitivity(self, data: Any, beta: float, neighbors: Neighbors) -> float:
        return self.smooth_of(self.clamped(data, neighbors), beta)

    def clamped(self, data: Any, neighbors: Neighbors) -> Clamped:
        """Return the data as a clamped column, without reading a row."""
        lo, hi = self._pair()
        missing_rule = nan_policy.of_rows(self.nan, is_private=neighbors == "add-remove")
        missing = nan_policy.replacement(missing_rule, lo, hi)
        ranks = Ranks(as_source(data), missing=missing, assume_sorted=self.assume_sorted)
        return Clamped(ranks, lo, hi, neighbors, missing_rule)

    def _pair(self) -> tuple[float, float]:
        if self.limits is not None:
            rule = "left out: the sensitivities of weighted rows are not known"
            checks.fail("weight_bounds", rule, self.limits)
        return checks.bounds(self.bounds)


def share(value: Any) -> Fraction:
    """Return the checked proportion of rows to cut off at each end, as an exact fraction."""
    proportion = checks.fraction("proportion", value)
    if not 0 <= 2 * proportion < 1:
        checks.fail("proportion", "a number that is at least 0 and less than 0.5", value)
    return proportion


class Cells:
    """NOT PRIVATE. A clamped ascending column as integers above `lo`, with exact sums.

    The unit of the integers, a cell, is ``2**-60`` of the power of two just above the range. With
    the rounding of ``x - lo``, a value is off by less than ``2**-52`` of the range.
    """

    def __init__(self, values: NDArray[Any], lo: float, hi: float) -> None:
        x = np.clip(values.astype(np.float64), lo, hi) - lo
        exponent = math.frexp(hi - lo)[1]
        self.unit = Fraction(2) ** (exponent - _BITS)
        self.span = int(Fraction(hi - lo) / self.unit)
        self.n = len(x)
        self._y = np.ldexp(x, -exponent)
        scaled = np.ldexp(self._y, _BITS // 2)
        high = np.floor(scaled)
        low = np.rint(np.ldexp(scaled - high, _BITS // 2))
        self._limbs = np.zeros((2, self.n + 1), np.int64)
        np.cumsum(high.astype(np.int64), out=self._limbs[0, 1:])
        np.cumsum(low.astype(np.int64), out=self._limbs[1, 1:])

    def below(self, i: int) -> int:
        """Return the exact sum of the `i` smallest values, in cells."""
        high, low = self._limbs[:, i]
        return (int(high) << _BITS // 2) + int(low)

    def at(self, i: int) -> int:
        """Return the value of rank `i`, counted from 1, in cells."""
        return self.below(i) - self.below(i - 1)

    def near(self, value: Fraction, most: int) -> range:
        """Return the ranks, up to `most`, of the values just below and above `value`."""
        cells = float(value * self.unit / (self.unit * (1 << _BITS)))
        i = int(np.searchsorted(self._y[:most], cells)) + 1
        return range(max(1, i - 2), min(most, i + 2) + 1)


class MirroredCells(Cells):
    """NOT PRIVATE. The cells of the mirrored column, in which each x is replaced by ``hi - x``."""

    def __init__(self, cells: Cells) -> None:
        self._cells = cells
        self.unit, self.span, self.n = cells.unit, cells.span, cells.n

    def below(self, i: int) -> int:
        return i * self.span - (self._cells.below(self.n) - self._cells.below(self.n - i))

    def near(self, value: Fraction, most: int) -> range:
        ranks = self._cells.near(self.span - value, self.n)
        first, last = (max(1, min(self.n + 1 - rank, most)) for rank in (ranks[-1], ranks[0]))
        return range(first, last + 1)


def both_sides(column: Clamped) -> tuple[Cells, Cells]:
    """Return the whole column as sorted cells and as mirrored cells; `hi` must be above `lo`."""
    (window,) = column.windows([lambda n: 1], FARTHEST)
    cells = Cells(window.values, column.lo, column.hi)
    return cells, MirroredCells(cells)
