"""Rows as integer coordinates in a public cube or ball, and which of them a hyperplane misplaces.

Coordinate j of a row is its distance from the middle of its bounds, in units of 2**-29 of the
largest distance: an integer of -H .. H, H = 2**29. With a radius instead of bounds, numbers are
clipped to [-radius, radius] and longer rows are shortened to the radius. Rounding to integers then
adds sqrt(d) / 2 to a length of H at most (and the arithmetic, less than 1).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core import checks, nan_policy
from .._kernels.sulq import MARGIN_REACH as REACH
from .._kernels.sulq import margin_wrong as wrong
from .labeled_rows import LabeledRows, Piece
from .row_matrices import nan_fills

#: Narrower bounds have no coordinates.
LEAST = 2.0**-900


class Limits(NamedTuple):
    """Public limits of columns, as kernels read them: lo, hi, middle, scale, and what NaN is.

    A coordinate is ``(x - middle) * scale``, before it is rounded; `scale` is 0 for a column that
    has one value. With `skip`, rows with a NaN are left out.
    """

    columns: NDArray[np.float64]
    skip: bool

    @property
    def middle(self) -> NDArray[np.float64]:
        middle: NDArray[np.float64] = self.columns[2]
        return middle

    @property
    def scale(self) -> NDArray[np.float64]:
        scale: NDArray[np.float64] = self.columns[3]
        return scale


def limits(
    bounds: Sequence[tuple[float, float]],
    nan: str | float,
    centered: bool,
    reach: Sequence[int] | NDArray[Any],
) -> Limits:
    """Return limits for coordinates of -reach .. reach, counted from the middle or else from 0."""
    lo, hi = (np.array(ends, np.float64) for ends in zip(*bounds, strict=True))
    middle = lo / 2 + hi / 2 if centered else np.zeros(len(lo))
    half = np.maximum(hi - middle, middle - lo)
    if not ((half == 0) | (half >= LEAST)).all():
        checks.fail("bounds", "equal, or at least 2**-900 apart", bounds)
    live = half > 0
    scale = np.where(live, np.asarray(reach, np.float64) / np.where(live, half, 1.0), 0.0)
    fills, skip = nan_fills(nan, bounds)
    return Limits(np.array([lo, hi, middle, scale, fills]), skip)


class Coordinates:
    """Integer coordinates of rows within public limits.

    Parameters
    ----------
    bounds : sequence of pairs
    radius : float or None
        The length of a row. Bounds are those of each coordinate then.
    nan : str or float
        What a NaN counts as.
    centered : bool
        Whether coordinates are counted from the middle of the bounds; else from 0.

    Attributes
    ----------
    middle, scale : float64 array of shape (d,)
        As in `Limits`.
    l1, l2_squared : int
        Upper bounds of the L1 norm of a row, and of its squared L2 norm.
    """

    def __init__(
        self,
        bounds: Sequence[tuple[float, float]],
        radius: float | None,
        nan: str | float,
        centered: bool,
    ) -> None:
        self.nan = nan
        self._limits = limits(bounds, nan, centered, [REACH] * len(bounds))
        self.middle, self.scale = self._limits.middle, self._limits.scale
        self.width = len(bounds)
        self._length = 0.0 if radius is None else float(REACH)
        count = int(np.count_nonzero(self.scale))
        self.l1, self.l2_squared = count * REACH, count * REACH**2
        if radius is not None:
            most = REACH + math.isqrt(self.width) // 2 + 2
            self.l1, self.l2_squared = most * (math.isqrt(self.width - 1) + 1), most**2

    def wrong(
        self, rows: LabeledRows, w: NDArray[np.float64], bias: float
    ) -> tuple[int, int, list[int]]:
        """Sum 1, y, and each y z over the rows with ``y (w . z + bias) <= 0``.

        A row whose label y is neither -1 nor 1 is none of them, whatever else it holds.
        """
        columns, skip = self._limits

        def summarize(pieces: Iterator[Piece]) -> NDArray[Any]:
            total = np.zeros(3 + self.width, object)
            for x, labels in pieces:
                sums = np.zeros(self.width)
                y = np.asarray(labels, np.float64)
                known = np.abs(y) == 1
                if not known.all():
                    x, y = x[known], y[known]
                some = wrong(x, y, columns, w, bias, self._length, skip, sums)
                total += [*some, *map(int, sums)]
            return total

        count, label_sum, missing, *sums = rows.reduce(summarize, np.add).tolist()
        nan_policy.refuse(self.nan, missing)
        return count, label_sum, sums
