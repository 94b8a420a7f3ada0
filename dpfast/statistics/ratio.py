"""The private ratio of the sums of two columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._core.error_bars import ErrorBar, unknown
from ..budget.mechanism import Mechanism
from ..measurement.functions import public
from ..measurement.quotient import Floats, Quotient
from ..measurement.statistic import Statistic
from .totals.moments import Sum


@dataclass(frozen=True, kw_only=True)
class Ratio(Quotient):
    """The sum of a column divided by the sum of another column, as a statistic to measure.

    The last column of the data is the denominator, and each other column has a ratio. A ratio is 0
    if the 95 percent error bar of the denominator's noisy sum contains 0, because the sign and the
    size of the denominator are then unknown.

    Privacy
    -------
    Neighbors are datasets that differ in one row, which has a number in each column. The row is
    added or removed, or it is replaced. The sums of the clamped columns are one release, as in
    `dpfast.sum` with ``axis=0``: exact integers get integer noise for their joint sensitivity
    (Ghosh, Roughgarden and Sundararajan, STOC 2009; Canonne, Kamath and Steinke, NeurIPS 2020). The
    ratio is post-processing.

    Parameters
    ----------
    column, other : str, optional
        The names of the numerator's and the denominator's column, for `GroupBy.agg`.
    bounds : sequence of (float, float)
        Public limits of each column, to which its numbers are clamped.
    nan : {"raise", "lower", "upper", "drop"} or float, optional
        As in `dpfast.sum`. With "drop", a missing number adds nothing to the sum of its column.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks its rule.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> trips = np.tile([2.0, 10.0], (1000, 1))  # tips and fares
    >>> 0.18 < dp.ratio(trips, bounds=[(0, 5), (0, 20)], epsilon=1) < 0.22
    True
    """

    name: ClassVar[str] = "ratio"
    near: ClassVar[float] = 1.0

    @property
    def inner(self) -> Statistic[Any]:
        return Sum(bounds=self.bounds, nan=self.nan)

    def parts(self, answer: Floats, off: Floats) -> tuple[Floats, Floats]:
        *sums, total = np.moveaxis(answer, -1, 0)
        ratios = np.array(sums if len(sums) > 1 else sums[0]) * np.sign(total)
        return ratios, np.maximum(np.abs(total) + off[..., -1], 0.0)

    def bar(self, inner: Mechanism[Any], rows: int, confidence: float) -> ErrorBar:
        # Two error bars must hold: of a numerator and of the denominator.
        sums = inner.error(rows, 1 - (1 - confidence) / 2)
        if sums.half_width is None:
            return unknown(confidence, sums.note)
        widths = np.array(sums.half_width)
        *pairs, (lo, hi) = self.pairs(len(widths))
        least = min(abs(lo), abs(hi)) if lo * hi > 0 else abs(lo + hi) / 2
        worst = [*(rows * max(abs(lo), abs(hi)) for lo, hi in pairs), rows * least]
        note = f"a bound, where the mean denominator is at least {least:.6g} in size"
        return ErrorBar(confidence, self.half_widths(np.array(worst), widths).tolist(), note=note)


ratio = public(Ratio)
