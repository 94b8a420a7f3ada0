"""`bounds`: private bounds of a column, or of each of several columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from .._core import checks, nan_policy
from .._core.attributes import same_as
from .._core.types import Floats, NanPolicy, Number
from ..measurement.functions import function_of
from ..measurement.outer_bounds import MOST_SHARE, DrawnBounds, drawn_bounds
from ..measurement.statistic import InUnits, Statistic, Terms
from ..measurement.times import Units, clipped
from ..tables.intake import View, all_columns, read
from ..tables.times import Times


@dataclass(frozen=True, kw_only=True)
class OuterBounds(Statistic[tuple[float, float] | Floats]):
    """Bounds that contain nearly all rows of a column, as a statistic to measure.

    Parameters
    ----------
    column : str, optional
        The column of a table, for `GroupBy.agg`.
    q : float or Fraction, default 0
    nan : {"raise", "lower", "upper", "drop"} or float, optional
        As in `dpfast.bounds`, which has the theorem.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks a rule of `dpfast.bounds`.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.OuterBounds(q=0.01).measure(epsilon=1).name
    'bounds'
    """

    q: Number = 0
    nan: NanPolicy | None = None

    name: ClassVar[str] = "bounds"
    subtracts: ClassVar[bool] = False
    only_adds: ClassVar[bool] = True

    word = same_as("name")

    def __post_init__(self) -> None:
        share = checks.fraction("q", self.q)
        if not 0 <= share <= MOST_SHARE:
            checks.fail("q", "a number between 0 and 1/4", self.q)
        checks.assign(self, q=share, nan=nan_policy.checked(self.nan))

    def read(self, data: Any, **rows: Any) -> View:
        return read(data, all_columns, **rows)

    def in_units(self, times: Times, data: Any) -> InUnits[OuterBounds] | None:
        _, _, units = clipped(times, "span", "auto", "raise")
        return self, units

    def in_times(self, answer: Any, units: Units) -> Any:
        return tuple(map(units.back, answer))

    def mechanism(self, terms: Terms) -> DrawnBounds:
        missing_rule, share = terms.missing_rule(self.nan), checks.fraction("q", self.q)
        return drawn_bounds(terms.loss, terms.layout.columns, terms.neighbors, missing_rule, share)


@function_of(OuterBounds)
def bounds(data: Any, **arguments: Any) -> Any:
    """Release bounds that contain nearly all rows of a column, if no public bounds are known.

    Pass the answer as `bounds` to later calls. In other functions, ``bounds="auto"`` does both
    steps in one call, for one loss.

    Privacy
    -------
    Neighbors are datasets that differ in one row, added or removed (the number `n` of rows is
    private), or replaced (`n` is public). The call satisfies the requested loss. A pair of public
    numbers is drawn with probability proportional to ``w exp(-c (u + v))``. w is a public prior. u
    and v are the numbers of rows above the upper and below the lower number. If `q` is not 0, they
    are instead half the distances, in ranks, from each number to the rank with ``q n`` rows beyond
    it. A row that is added or removed lies beyond at most one of the two numbers, so all exponents
    change by amounts in an interval of length c. c is `epsilon`, or half of `epsilon` if a row is
    replaced. So the draw is `epsilon`-DP (exponential mechanism, McSherry and Talwar, FOCS 2007; in
    zCDP by its bounded range, Cesar and Rogers, ALT 2021; ``dpfast/measurement/outer_bounds.py``
    has the proof). Two separate draws would cost twice as much, and so would the sparse vector
    technique with growing guesses for each bound (Durfee, NeurIPS 2023).

    Parameters
    ----------
    data : array_like, shape (n,) or, with `axis`, (n, d), table, or source
        As in `sum`.
    q : float or Fraction, default 0
        The share of the rows, at most 1/4, that may lie beyond each bound. By default about ``1 /
        c`` rows lie beyond a bound, for any number of rows, because fewer rows cannot be
        distinguished from none.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss: `epsilon` alone, `epsilon` with `delta`, or `rho` alone. The draw is pure, so the
        budget is not charged `delta`.
    neighbors : {"add-remove", "replace"}, optional
        The neighboring relation: by default the relation of the budget, else "add-remove".
    axis : {None, 0, -2}, optional
        With 0 there is an answer for each column, and a row is one record; -2 means the same. Each
        column gets an equal part of the loss.
    nan : {"raise", "lower", "upper", "drop"} or float, optional
        How missing values (NaN and null) are treated: "raise" is an error after the spend, "lower"
        and "upper" replace them by that bound, "drop" leaves out their rows, and a public number
        replaces them by that number. By default "drop" where the number of rows is private, and
        "raise" where it is public. Here "lower" and "upper" leave missing values out, as "drop"
        does.
    where : array_like of bool, shape (n,), optional
        A mask of the rows to use; each entry must be a function of its row alone. The number of
        these rows is private.
    ids : array_like of shape (n,), or str, optional
        The id of the person that each row belongs to, or the name of the column of ids, which is
        then not part of the data. The privacy unit is a person: neighbors differ in all rows of one
        id.
    max_rows : int or "auto", optional
        With `ids` only: the largest number of rows of a person that count. "auto" draws the bound
        for a quarter of the loss (``dpfast/measurement/unit_bounds.py``).
    budget : Budget, optional
        The budget that pays, before rows are read or random bits are drawn; by default the budget
        of the ``with`` block.
    rng : Generator, optional
        The source of random bits, by default the secure one. `InsecureGenerator` is for tests; a
        budget refuses it.

    Returns
    -------
    (float, float), or float64 array of shape (d, 2)
        The lower and the upper bound; for a column of durations they are durations. Each is drawn
        among 0 and the numbers ``2**e (1 + j / 16)`` with either sign. Both are then moved outwards
        by an eighth of their distance, but not across 0.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError, DataError
        As `sum`.

    Notes
    -----
    If public bounds are known, pass them instead: they cost nothing.

    Numbers below ``2**-40`` (1e-12) in size count as 0, and no bound covers numbers of ``2**380``
    or more. With few rows (`n` times c below about a hundred) the prior decides, and the answer is
    near 0. Data far from 0 with a small spread, such as years, get wide bounds, because there are
    only 16 candidates between a number and its double.

    Cost: one read of the data, which takes about as long as to find the maximum.

    References
    ----------
    Durfee, "Unbounded Differentially Private Quantile and Maximum Estimation", NeurIPS 2023.
    Amin, Kulesza, Munoz and Vassilvitskii, "Bounding User Contributions: A Bias-Variance Trade-off
    in Differential Privacy", ICML 2019.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> ages = np.repeat(np.arange(18, 91), 400)
    >>> lo, hi = dp.bounds(ages, epsilon=1.0, q=0.01)
    >>> 8 < lo < 18 and 90 < hi < 110
    True
    """
