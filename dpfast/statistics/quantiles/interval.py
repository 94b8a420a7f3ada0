"""An interval that holds a quantile of the data: two more private quantiles, one on either side.

The error bar of a drawn quantile is in ranks and public (`RecursiveQuantiles.error`). So quantiles
whose targets lie farther from q than their own bars lie on either side of the true one, with the
probability that those bars have. Of n rows or more, r ranks are at most a share r / n.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..._core import checks
from ..._core.types import Bounds, Number
from ...budget.mechanism import Mechanism
from ...measurement.functions import function_of
from ...measurement.statistic import Terms
from ...measurement.times import Answer
from ..ranked import OnGrid
from .statistic import Quantiles

#: Steps of a bisection: to a hundredth of the farthest.
STEPS = 8
#: How near a target may come to an end of all rows, from q on.
WIDEST = Fraction(9, 10)
#: The error bar in ranks of some quantiles, that holds with a probability.
Ranks = Callable[[tuple[Fraction, ...], float], Any]


@dataclass(frozen=True)
class QuantileInterval(OnGrid[NDArray[np.float64]]):
    """A quantile between two more that hold it, as a statistic to measure.

    Parameters
    ----------
    column : str, optional
        The column of a table, for `GroupBy.agg`.
    q : float or Fraction
    bounds : (float, float)
    least_rows : int
        By group, no more than the rows of any group.
    coverage : float, default 0.95
    nan : {"raise", "lower", "upper", "drop"} or float, optional
    granularity : float, Fraction or Decimal, optional
        As in `dpfast.quantile_interval`, which has the theorem and the errors.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks a rule of `dpfast.quantile_interval`.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.QuantileInterval(q=0.5, bounds=(0, 120), least_rows=1000).coverage
    0.95
    """

    q: Number | None = None
    bounds: Bounds = field(kw_only=True)
    least_rows: int = field(kw_only=True)
    coverage: float = field(default=0.95, kw_only=True)
    method: str = field(init=False, default="recursive")

    name: ClassVar[str] = "interval of a quantile"
    answer_of_times: ClassVar[Answer] = "point"
    methods: ClassVar[tuple[str, ...]] = ("recursive",)
    leaves_out: ClassVar[tuple[str, ...]] = ("delta", "axis")

    def __post_init__(self) -> None:
        super().__post_init__()
        place = checks.quantile(self.q)
        if not 0 < place < 1:
            checks.fail("q", "greater than 0 and less than 1", self.q)
        if self.is_auto:
            rule = "a pair of numbers: error bars of others are not known"
            checks.fail("bounds", rule, self.bounds)
        object.__setattr__(self, "q", place)
        object.__setattr__(self, "least_rows", checks.whole("least_rows", self.least_rows, 1))
        object.__setattr__(self, "coverage", checks.share("coverage", self.coverage))

    def better(self, terms: Terms) -> str:
        return self.method

    def mechanism(self, terms: Terms) -> Mechanism[NDArray[np.float64]]:
        shared: Any = {"bounds": self.bounds, "nan": self.nan, "granularity": self.granularity}

        def of(qs: tuple[Fraction, ...]) -> Mechanism[NDArray[np.float64]]:
            return Quantiles(qs=qs, **shared, method="recursive").mechanism(terms)

        return of(self.three(lambda qs, share: of(qs).error(self.least_rows, share).ranks))

    def three(self, ranks: Ranks) -> tuple[Fraction, ...]:
        """Return a lower quantile, this one and a higher one, whose bars keep them apart.

        Parameters
        ----------
        ranks : callable
            ``ranks(qs, confidence)`` returns the error bar in ranks of the draws of these.

        Returns
        -------
        tuple of Fraction
        """
        place, rows = checks.quantile(self.q), self.least_rows
        # Each of both ends has half of the failures.
        each = min((1 + self.coverage) / 2, math.nextafter(1, 0))

        def around(shift: Fraction) -> tuple[Fraction, ...]:
            return place - shift, place, place + shift

        def off(shift: Fraction) -> int:
            # A target between two rows may stand for either.
            return math.ceil(float(np.max(ranks(around(shift), each)))) + 1

        most = WIDEST * min(place, 1 - place)
        near, far = 0, int(most * rows)
        if not far or off(Fraction(far, rows)) > far:
            least = math.ceil((off(most) + 1) / most)
            checks.fail("least_rows", f"at least {least}, for this loss and coverage", rows)
        for _ in range(STEPS):  # that one is far enough, and hardly farther than needed
            middle = (near + far + 1) // 2
            enough = off(Fraction(middle, rows)) <= middle
            near, far = (near, middle) if enough else (middle, far)
        return around(Fraction(far, rows))


@function_of(QuantileInterval)
def quantile_interval(data: Any, **arguments: Any) -> Any:
    """Release a quantile of a column, between two more that are its error bar in units of the data.

    The three are `dpfast.quantiles` of q and of a lower and a higher number, which are as near to q
    as the error bars in ranks allow. With probability `coverage` the quantile of the clamped rows
    lies between the outer two. How far these are apart is a fact about the data, and paid for.

    Privacy
    -------
    Neighbors and loss are those of `dpfast.quantiles` for the recursive method (Kaplan, Schnapp and
    Stemmer, ICML 2022): which three quantiles are drawn depends on public numbers alone.

    Parameters
    ----------
    data : array_like, shape (n,), or source
        As in `dpfast.quantile`.
    q : float or Fraction
        The quantile, between 0 and 1.
    bounds : (float, float)
        As in `dpfast.quantile`.
    least_rows : int
        No more than the rows that count: of those that are kept by `where`, are not missing, and
        are kept of a person. It is public, or comes from a private count. With fewer rows than it
        says, the interval is wrong more often, and just as private.
    epsilon, rho : float, Fraction or Decimal, optional
        The loss of all answers: one of the two.
    coverage : float, default 0.95
        How often the interval holds the quantile, at least: greater than 0 and less than 1.
    granularity
        As in `dpfast.quantile`.
    neighbors : {"add-remove", "replace"}, optional
        The neighboring relation: by default that of the budget, else "add-remove".
    nan : {"raise", "lower", "upper", "drop"} or float, optional
        What becomes of NaN and null: an error after the spend, the lower or upper bound, no row at
        all, or a public number. By default "drop" where the number of rows is private, and "raise"
        where it is public.
    budget : Budget, optional
        Pays for the call before data or randomness are touched.
    rng : Generator, optional
        By default the secure one. `InsecureGenerator` is for tests; a budget refuses it.
    where : array_like of bool, shape (n,), optional
        The rows to use, each a function of that row alone. How many they are is private.
    ids : array_like of shape (n,), or str, optional
        Whose row each row is, or the name of the column that says so, which is then no part of the
        data. The loss is one of people then.
    max_rows : int or "auto", optional
        With `ids`, and only then: how many rows of a person count at most. "auto" draws it for a
        quarter of the loss (``dpfast/measurement/unit_bounds.py``).

    Returns
    -------
    ndarray of float64, shape (3,)
        The lower end, the private quantile, and the upper end.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument, or too few rows for the loss. Nothing has been spent.
    BudgetError, DataError
        As in `dpfast.quantiles`.

    See Also
    --------
    dpfast.expected_error : the error bar in ranks, which is free.

    Notes
    -----
    The interval is the wider the fewer rows lie near the quantile. It rests on a bound for the
    worst data, and mostly holds the quantile more often than it says.

    Cost: that of `dpfast.quantiles`.

    References
    ----------
    Kaplan, Schnapp and Stemmer, "Differentially private approximate quantiles", ICML 2022.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> ages = np.linspace(20, 80, 10_000)
    >>> low, middle, high = dp.quantile_interval(
    ...     ages, 0.5, bounds=(0, 120), least_rows=10_000, epsilon=1)
    >>> bool(46 < low < middle < high < 54)
    True
    """
