"""The proportion of rows that equal a public value."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from .._core import checks
from .._core.types import Neighbors
from ..measurement.matches import Matches
from ..measurement.times import Answer
from ..sensitivity.column import Clamped
from ..sources.intake import View, read_words
from ..summaries.cells import Cells
from ..summaries.totals import totals
from .histogram import categories_of
from .totals.moments import Mean


@dataclass(frozen=True, kw_only=True)
class Proportion(Mean):
    """The proportion of rows that are true, or equal a public value, as a statistic to measure.

    The answer is a share within [0, 1], and so is the half-width of its error bar: 0.03 is three
    percentage points. A missing row equals nothing; it counts among all rows, unless a mask leaves
    it out. A noisy number of rows that is not positive has the answer 1/2.

    Privacy
    -------
    It is the mean of rows of 0 and 1 (`dpfast.mean`). A row that comes or goes changes the number
    of rows that match or of those that do not, by 1; one that is replaced, where the number of rows
    is public, changes the number of those that match by at most 1. Integer noise for that satisfies
    the loss: discrete Laplace noise for `epsilon` (Ghosh, Roughgarden and Sundararajan, STOC 2009),
    discrete Gaussian noise for `rho` (Canonne, Kamath and Steinke, NeurIPS 2020), a staircase where
    it is less. `measurement.choice` chooses. The share is post-processing.

    Parameters
    ----------
    column : str, optional
        The column of a table, for `GroupBy.agg`.
    equal : bool, float or str, default True
        What a row has to equal. It must not come from the data.
    weights : str, optional
        The column of their weights, for `GroupBy.agg`.
    weight_bounds : (float, float), optional
        As in `dpfast.mean`, which has the proof of the error bar.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks its rule.

    Examples
    --------
    >>> import dpfast as dp
    >>> tea = dp.Proportion(equal="tea").measure(epsilon=1)
    >>> 0.7 < tea(["tea", "ale", "tea", "tea"] * 500) < 0.8
    True
    >>> round(tea.error(2000, 0.95).half_width, 4)
    0.0015
    """

    equal: Any = True
    bounds: Any = field(init=False, default=(0.0, 1.0))
    nan: Any = field(init=False, default="lower")

    name: ClassVar[str] = "proportion"
    reads_numbers: ClassVar[bool] = False
    answer_of_times: ClassVar[Answer | None] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.matches

    @cached_property
    def matches(self) -> Matches:
        if not isinstance(self.equal, (bool, np.bool_, str)):
            checks.number("equal", self.equal, "a truth value, a finite number or a text")
        bins = categories_of([self.equal], "equal")
        return Matches(axis=bins.native, words=bins.words, public=bins.numbers)

    def grid(self, lo: float, hi: float, is_public: bool) -> Cells:
        return self.matches

    def read(self, data: Any, *, axis: Any, **rows: Any) -> View:
        if self.matches.words is None:
            return super().read(data, axis=axis, **rows)
        return read_words(data, self.matches.words, axis, **rows)

    def clamped(self, data: Any, neighbors: Neighbors) -> Clamped:
        """Return a column of as many rows of 0 and of 1, for a sensitivity."""
        rows = {"relation": neighbors, "axis": None, "where": None, "ids": None, "weights": None}
        counts = totals(self.read(data, **rows).kept, self.matches, None)
        zeros = counts.rows + counts.missing - counts.sum
        return super().clamped(np.repeat([0.0, 1.0], [zeros, counts.sum]), neighbors)
