"""Rows as integer coordinates in a public cube or ball, and which of them a hyperplane has wrong.

Coordinate j of a row is its distance from the middle of its bounds, in 2**-29 of the most that can
be: an integer of -H .. H, H = 2**29. With a radius instead of bounds, numbers are clipped to
[-radius, radius] and rows that are longer than it are shortened to it; then rounding to integers
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
from .targets import Labelled, Piece

#: Narrower bounds, and radii, have no coordinates.
LEAST, MOST = 2.0**-900, 2.0**900


class Limits(NamedTuple):
    """Where the numbers of columns lie, as kernels read it: lo, hi, middle, scale, and for NaN.

    A coordinate is ``(x - middle) * scale``, before it is rounded; `scale` is 0 for a column that
    has one value. `skip` is for rows with a NaN that are left out.
    """

    columns: NDArray[np.float64]
    skip: bool

    @property
    def middle(self) -> NDArray[np.float64]:
        found: NDArray[np.float64] = self.columns[2]
        return found

    @property
    def scale(self) -> NDArray[np.float64]:
        found: NDArray[np.float64] = self.columns[3]
        return found


def limits(
    bounds: Sequence[tuple[float, float]],
    nan: str | float,
    centred: bool,
    reach: Sequence[int] | NDArray[Any],
    name: str = "bounds",
) -> Limits:
    """What makes coordinates of -reach .. reach of each column, from its middle or else from 0."""
    lo, hi = (np.array(ends, np.float64) for ends in zip(*bounds, strict=True))
    middle = lo / 2 + hi / 2 if centred else np.zeros(len(lo))
    half = np.maximum(hi - middle, middle - lo)
    if not ((half == 0) | (half >= LEAST)).all():
        checks.fail(name, "equal, or at least 2**-900 apart", bounds)
    live = half > 0
    scale = np.where(live, np.asarray(reach, np.float64) / np.where(live, half, 1.0), 0.0)
    fills = [nan_policy.replacement(nan, *pair) for pair in bounds]
    given = [0.0 if isinstance(fill, str) else fill for fill in fills]
    skip = any(isinstance(fill, str) for fill in fills)
    return Limits(np.array([lo, hi, middle, scale, given]), skip)


class Coordinates:
    """Public limits of each column.

    Parameters
    ----------
    bounds : sequence of pairs
    radius : float or None
        The length of a row; bounds are those of each coordinate then.
    nan : str or float
        What a NaN counts as.
    centred : bool
        Whether coordinates are counted from the middle of the bounds; else from 0.

    Attributes
    ----------
    middle, scale : float64 array of shape (d,)
        As in `Limits`.
    l1, l2_squared : int
        Of a row, at most.
    """

    def __init__(
        self,
        bounds: Sequence[tuple[float, float]],
        radius: float | None,
        nan: str | float,
        centred: bool,
    ) -> None:
        self.nan = nan
        self._limits = limits(bounds, nan, centred, [REACH] * len(bounds))
        self.middle, self.scale = self._limits.middle, self._limits.scale
        self._length = 0.0 if radius is None else float(REACH)
        d = self.width
        if radius is None:
            count = int(np.count_nonzero(self.scale))
            self.l1, self.l2_squared = count * REACH, count * REACH**2
        else:
            most = REACH + math.isqrt(d) // 2 + 2
            self.l1, self.l2_squared = most * (math.isqrt(d - 1) + 1), most**2

    @property
    def width(self) -> int:
        return len(self.middle)

    def wrong(
        self, rows: Labelled, w: NDArray[np.float64], bias: float
    ) -> tuple[int, int, list[int]]:
        """What is summed over the rows with ``y (w . z + bias) <= 0``: 1, y, and each y z.

        A row whose label y is neither -1 nor 1 is none of them, whatever else it holds.
        """
        columns, skip = self._limits

        def summarise(pieces: Iterator[Piece]) -> NDArray[Any]:
            found = np.zeros(3 + self.width, object)
            for x, y in pieces:
                sums = np.zeros(self.width)
                own = np.asarray(y, np.float64)
                known = np.abs(own) == 1
                if not known.all():
                    x, own = x[known], own[known]
                some = wrong(x, own, columns, w, bias, self._length, skip, sums)
                found += np.concatenate([np.array(some), sums.astype(np.int64)]).astype(object)
            return found

        count, labels, missing, *sums = rows.reduce(summarise, np.add)
        nan_policy.refuse(self.nan, int(missing))
        return int(count), int(labels), [int(one) for one in sums]
