"""The private Pearson correlation of two columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._core import checks
from .._core.error_bars import ErrorBar
from ..budget.mechanism import Mechanism
from ..measurement.functions import public
from ..measurement.quotient import Floats, Quotient
from ..measurement.statistic import Statistic
from .correlation_bar import off_by
from .covariance import Covariance, OfSums

EVENLY = "a bound, for columns that vary as if spread evenly"


@dataclass(frozen=True, kw_only=True)
class Correlation(Quotient):
    """The Pearson correlation of two columns of clamped rows, as a statistic to measure.

    The correlation is between -1 and 1. It is 0 if the noisy variance of a column is not positive.

    Privacy
    -------
    Neighbors are datasets that differ in one row, which has a number in both columns. The row is
    added or removed, or it is replaced. The covariance matrix is one release, as in
    `dpfast.covariance`: exact integer sums get integer noise for their joint sensitivity (Hardt and
    Talwar, STOC 2010; Canonne, Kamath and Steinke, NeurIPS 2020). The correlation is
    post-processing.

    Parameters
    ----------
    column, other : str, optional
        The names of the two columns, for `GroupBy.agg`.
    bounds : sequence of two (float, float), or "auto"
        Public limits of each column, to which its numbers are clamped.
    nan : {"raise", "lower", "upper", "drop"} or float, optional
        As in `dpfast.covariance`. With "drop", a row that misses a number is left out of all sums.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks its rule.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> x = np.linspace(0, 1, 10_001)
    >>> dp.correlation(np.stack([x, 1 - x], axis=1), bounds=[(0, 1), (0, 1)], epsilon=1) < -0.9
    True
    """

    name: ClassVar[str] = "correlation"
    ends: ClassVar[tuple[float, float]] = (-1.0, 1.0)
    together: ClassVar[int] = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.is_auto and self.width != 2:
            checks.fail("bounds", "two pairs, one for each column", self.bounds)

    @property
    def inner(self) -> Statistic[Any]:
        return Covariance(bounds=self.bounds, nan=self.nan)

    def parts(self, answer: Floats, off: Floats) -> tuple[Floats, Floats]:
        first, second = (np.maximum((answer + off)[..., i, i], 0.0) for i in (0, 1))
        return answer[..., 0, 1], np.sqrt(first) * np.sqrt(second)

    def bar(self, inner: Mechanism[Any], rows: int, confidence: float) -> ErrorBar:
        assert isinstance(inner, OfSums)
        return ErrorBar(confidence, off_by(inner, rows, 1 - confidence), note=EVENLY)


correlation = public(Correlation)
