"""The private proportion of rows that equal a public value."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from .._core.once import PLAIN
from .._core.types import Neighbors
from ..measurement.functions import public
from ..measurement.matches import Matches
from ..measurement.times import Answer
from ..sensitivity.column import Clamped
from .histogram import one_category
from .totals.moments import Mean


@dataclass(frozen=True, kw_only=True)
class Proportion(Mean):
    """The proportion of rows that are true, or equal a public value, as a statistic to measure.

    The answer and the half-width of its error bar are shares between 0 and 1: 0.03 is three
    percentage points. A missing row counts as a row that does not match. If the noisy number of
    rows is not above 0, the proportion is 1/2.

    Privacy
    -------
    Neighbors are datasets that differ in one row. A row that is added or removed changes either the
    number of matching rows or the number of other rows by 1. If a row is replaced, the number of
    rows is public, and the number of matching rows changes by at most 1. So the proportion is the
    mean of a column of zeros and ones. It has the error bar of `dpfast.mean` and its integer noise,
    which satisfies the requested loss (Ghosh, Roughgarden and Sundararajan, STOC 2009; Canonne,
    Kamath and Steinke, NeurIPS 2020).

    Parameters
    ----------
    column, weights : str, optional
        Columns of a table, for `GroupBy.agg`.
    equal : bool, float or str, default True
        The public value that rows are compared with. The column's type must be able to hold it. An
        integer counts as the float64 nearest to it.
    weight_bounds : (float, float), optional
        As in `dpfast.mean`.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks its rule.

    Examples
    --------
    >>> import dpfast as dp
    >>> 0.7 < dp.proportion(["tea", "ale", "tea", "tea"] * 500, equal="tea", epsilon=1) < 0.8
    True
    """

    equal: Any = True
    bounds: Any = field(init=False, default=(0.0, 1.0))
    nan: Any = field(init=False, default="lower")

    name: ClassVar[str] = "proportion"
    reads_numbers: ClassVar[bool] = False
    answer_of_times: ClassVar[Answer | None] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        (plain,) = self.matches.values
        if type(self.equal) not in PLAIN:  # an object of another type may be equal to anything
            object.__setattr__(self, "equal", plain)

    @cached_property
    def matches(self) -> Matches:
        bins = one_category(self.equal, "equal")
        return Matches(axis=bins.native, words=bins.words, public=bins.numbers)

    def clamped(self, data: Any, neighbors: Neighbors) -> Clamped:
        rows: Any = dict.fromkeys(("axis", "where", "ids", "weights"))
        view = self.read(data, relation=neighbors, **rows)
        return super().clamped(self.matches.rows(view), neighbors)


proportion = public(Proportion)
