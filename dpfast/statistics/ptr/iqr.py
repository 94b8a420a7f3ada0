"""Propose-test-release for the interquartile range, with a proposed sensitivity or without.

*Proposed.* The larger local sensitivity of the two quartiles (under add-remove, their sum) bounds
that of their distance (`dpfast/sensitivity/iqr.py`). So the number of rows to change until the
bound is above the proposal is a distance for the test.

*Without a scale* (after Dwork and Lei, STOC 2009, who test whether the logarithm of the range stays
in its bin, for two sets of bins). Rows are replaced. Let m1, m3 be the ranks of the quartiles,
m3 > m1. Within k replacements the range is at most and at least

    M(k) = max_{p = 0..k} x_(m3 + k - p) - x_(m1 - p),
    m(k) = max(0, min_{p = 0..k} x_(m3 - k + p) - x_(m1 + p)):

p rows go to the lower end and k - p to the upper (taken from between), or p rows from below and
k - p from above go between. Let B > 1 be public, and

    D = max{d >= 0 : M(d) < B m(d)},   or for a range of 0   D = max{d >= 0 : M(d) = 0}.

M(k) of x is at most M(k + 1) of a neighbor and m(k) at least m(k + 1), so D differs by at most 1;
and if D >= 1, all neighbors have a range that differs by a factor below B, or is 0 with this one.
So the logarithm has the sensitivity ln B, and noise of that size is added to it: the range is
multiplied by B^Z, Z Laplace of scale 1 / epsilon2. This is the best that bins can do, whatever
their offset: M(d) < B m(d) if and only if some interval [v, B v) holds all ranges within d.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core import checks, nan_policy
from ..._core.types import Bounds, NanPolicy, Neighbors, Number
from ...budget.budget import Budget
from ...budget.release import release
from ...errors import ArgumentError
from ...noise import samplers as _noise
from ...noise.distributions import Laplace
from ...privacy import Approx
from ...rng import Generator
from ...sensitivity.iqr import QUARTILES, iqr_bound
from ...sensitivity.quantile import local_in_window
from ...sensitivity.ranks import column, rank_rule
from ...sensitivity.rounding import float_up
from ...sources import Source, as_source
from ...summaries.order import Ranks, Window
from ..arguments import Arguments
from .answer import NO_ANSWER, NoAnswer
from .proposal import DistanceTest, Measured, first_above, laplace_scale, proposal, split

#: Of the logarithm of the answer.
_LOG_GRID = 2.0**-40


@dataclass(frozen=True, slots=True)
class _Column:
    """Bounds of a column, and how it is read."""

    lo: float
    hi: float
    neighbors: str
    nan: str | float
    assume_sorted: bool

    def windows(self, source: Source, width: int) -> tuple[Window, Window]:
        """Return the order statistics about the two quartiles, in one pass."""
        missing = nan_policy.replacement(self.nan, self.lo, self.hi)
        ranks = Ranks(source, missing=missing, assume_sorted=self.assume_sorted)
        ranks.prefetch([(rank_rule(q), width) for q in QUARTILES])
        lower, upper = (ranks.window(rank_rule(q), width) for q in QUARTILES)
        nan_policy.refuse(self.nan, lower.nan)
        return lower, upper

    def range(self, windows: tuple[Window, Window]) -> float:
        """Return the interquartile range; for no rows, the distance of the bounds."""
        n = windows[0].n
        if n == 0:
            return self.hi - self.lo
        first, last = (
            column(w, self.lo, self.hi).value(rank_rule(q)(n))
            for w, q in zip(windows, QUARTILES, strict=True)
        )
        return last - first


@dataclass(frozen=True, slots=True)
class _Proposed:
    column: _Column
    proposed: float

    def __call__(self, source: Source, most: int) -> Measured:
        given = self.column
        windows = given.windows(source, most + 1)
        width = given.hi - given.lo

        def at(k: int) -> float:
            lower, upper = (
                local_in_window(w, q, given.lo, given.hi, k, given.neighbors)
                for w, q in zip(windows, QUARTILES, strict=True)
            )
            return iqr_bound(lower, upper, given.neighbors, width)

        return Measured(
            given.range(windows), first_above(at, self.proposed, most, windows[0].n + 1)
        )


class _Free(NamedTuple):
    """A range, its distance, and the public factor; NOT PRIVATE."""

    range: float
    distance: int
    ratio: Fraction


def scale_free_distance(
    lower: Callable[[NDArray[np.int64]], NDArray[np.float64]],
    upper: Callable[[NDArray[np.int64]], NDArray[np.float64]],
    n: int,
    ratio: Fraction,
    most: int,
) -> int:
    """Return D for n rows, at most `most`.

    `lower` and `upper` give x at ranks about the quartiles.
    """
    m1, m3 = (rank_rule(q)(n) for q in QUARTILES)
    if m1 == m3:
        return most  # the range of one row is 0 whatever it is
    here = float(upper(np.array([m3]))[0] - lower(np.array([m1]))[0])

    def leaves(k: int) -> float:
        """Tell whether k + 1 rows can take the range out of every interval that holds it."""
        k += 1
        p = np.arange(k + 1)
        highest = float((upper(m3 + k - p) - lower(m1 - p)).max())
        if here == 0:
            return highest > 0
        if k >= m3 - m1:
            return True
        lowest = max(0.0, float((upper(m3 - k + p) - lower(m1 + p)).min()))
        return Fraction(highest) >= ratio * Fraction(lowest)

    return first_above(leaves, 0.5, most, n)


@dataclass(frozen=True, slots=True)
class _ScaleFree:
    column: _Column
    ratio: Fraction | None
    test: DistanceTest
    rest: Fraction
    loss: Approx
    neighbors: Neighbors = "replace"
    name: str = "interquartile range by propose-test-release"

    def reduce(self, source: Source) -> _Free:
        most, given = self.test.farthest, self.column
        windows = given.windows(source, most + 2)
        n = windows[0].n
        ratio = self.ratio or Fraction(1 + 1 / math.log(max(n, 3)))
        if n == 0:
            return _Free(given.hi - given.lo, most, ratio)
        lower, upper = (_extended(w, given.lo, given.hi) for w in windows)
        return _Free(given.range(windows), scale_free_distance(lower, upper, n, ratio, most), ratio)

    def finish(self, summary: _Free, generator: Generator) -> float | NoAnswer:
        if not self.test.passes(summary.distance, generator):
            return NO_ANSWER
        if summary.range == 0:
            return 0.0  # so it is for all neighbors, but for those that delta pays for
        # The logarithm of a float64 is at most 745 in size, and off by less than 2**-42.
        noisy = _noise.draw(
            Laplace(),
            value=math.log(summary.range),
            scale=laplace_scale(_log_up(summary.ratio), 2.0**-42, self.rest),
            granularity=_LOG_GRID,
            generator=generator,
        )
        most = self.column.hi - self.column.lo
        return math.exp(noisy) if noisy < math.log(most) else most


def _log_up(ratio: Fraction) -> float:
    """Return the logarithm of a number above 1, rounded up.

    (A difference of logarithms would cancel.)
    """
    return math.nextafter(math.log1p(float_up(ratio - 1)), math.inf)


def _extended(
    window: Window, lo: float, hi: float
) -> Callable[[NDArray[np.int64]], NDArray[np.float64]]:
    """Return x as a function of ranks in the window, or beyond the first and the last row."""
    values = np.clip(window.values.astype(np.float64), lo, hi)
    padded = np.concatenate([[lo], values, [hi]])

    def at(ranks: NDArray[np.int64]) -> NDArray[np.float64]:
        values: NDArray[np.float64] = padded[np.clip(ranks - window.first + 1, 0, len(padded) - 1)]
        return values

    return at


def iqr(
    data: Any,
    *,
    bounds: Bounds,
    proposed: Number | None = None,
    ratio: Number | None = None,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    test_share: Number = 0.5,
    neighbors: Neighbors = "replace",
    nan: NanPolicy = "raise",
    assume_sorted: bool = False,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> float | NoAnswer:
    """Release the interquartile range, with noise of a proposed size or of its own, or nothing.

    The statistic is the distance of the values of ranks ``ceil(n / 4)`` and ``ceil(3 n / 4)``.
    Without `proposed` no scale has to be known: the noise multiplies the range by a power of
    `ratio`, if it takes many rows to change the range by that factor.

    Privacy
    -------
    Neighbors are datasets that differ in one row, replaced (`n` is public) or added or removed
    (`n` is private). The call is (`epsilon`, `delta`)-DP, whether there is an answer or not: the
    test spends the share `test_share` of epsilon and all of delta, the noise the rest (Dwork and
    Lei, STOC 2009; ``dpfast/statistics/ptr/proposal.py`` and ``dpfast/statistics/ptr/iqr.py`` have
    the proofs).

    Parameters
    ----------
    data : array_like, shape (n,), or source
        Any real dtype; values are compared as float64.
    bounds : (float, float)
        Public limits of the values, in the data's units; values outside are clipped. Without
        `proposed` they may be very wide: they do not enter the noise.
    proposed : float, optional
        The sensitivity that the noise is for, above 0, in the data's units; chosen without the
        data. An answer has noise of scale ``proposed / ((1 - test_share) epsilon)``.
    ratio : float or Fraction, optional
        Without `proposed`: a public factor above 1, by default ``1 + 1 / ln n``. An answer is off
        by ``ratio**Z`` with ``Z`` of scale ``1 / ((1 - test_share) epsilon)``; the larger it is,
        the fewer data are refused.
    epsilon, delta, test_share, nan, assume_sorted, budget, rng
        As in `dpfast.ptr.quantile`.
    neighbors : {"replace", "add-remove"}, default "replace"
        The neighboring relation; only "replace" without `proposed`.

    Returns
    -------
    float or NoAnswer
        The private range, from 0 to ``hi - lo``, or `dpfast.NO_ANSWER`. The range of no rows counts
        as ``hi - lo``.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError, DataError
        As `dpfast.ptr.quantile`.

    Notes
    -----
    Cost: one read of the data, and windows of some ``4 t`` ranks about the quartiles, where ``t``
    is about ``ln(1 / (2 delta)) / epsilon1``.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> x = np.linspace(0, 1000, 20_001)
    >>> found = dp.ptr.iqr(x, bounds=(-1e9, 1e9), epsilon=4.0, delta=1e-9)
    >>> 200 < found < 1200
    True
    >>> 300 < dp.ptr.iqr(x, bounds=(0, 1000), proposed=5, epsilon=1.0, delta=1e-9) < 700
    True
    """
    asked = Arguments(bounds, epsilon, delta, None, neighbors, nan=nan)
    lo, hi = asked.interval
    relation, policy = asked.relation, asked.policy
    trusted = checks.flag("assume_sorted", assume_sorted)
    column = _Column(lo, hi, relation, policy, trusted)
    if proposed is None:
        if relation != "replace":
            raise ArgumentError(
                "neighbors must be 'replace' when proposed is left out, got 'add-remove': the "
                "test without a scale is known for a public number of rows only"
            )
        factor = None if ratio is None else checks.fraction("ratio", ratio)
        if factor is not None and not factor > 1:
            checks.fail("ratio", "a finite number greater than 1", ratio)
        loss, test, rest = split(epsilon, delta, test_share)
        scale_free = _ScaleFree(column, factor, test, rest, loss)
        return release(as_source(data), scale_free, budget=budget, rng=rng)
    if ratio is not None:
        checks.fail("ratio", "left out when proposed is given", ratio)
    size = checks.positive("proposed", proposed)
    name, limits = "interquartile range by propose-test-release", (0.0, hi - lo)
    measure = _Proposed(column, size)
    mechanism = proposal(name, measure, asked, size, test_share, limits=limits)
    return release(as_source(data), mechanism, budget=budget, rng=rng)
