"""Optimal composition of equal losses.

Every (epsilon, 0)-DP pair of distributions is a post-processing of randomized response. So the loss
of k of them together is at most the loss of k randomized responses: their hockey-stick divergence.
The likelihood ratio of k randomized responses depends on one count j alone. With p = e^epsilon / (1
+ e^epsilon), q = 1 - p and

    A(m) = sum over j >= m of C(k, j) p^j q^(k - j),    B(m) = the same with p and q exchanged,

delta(e) is the maximum of A(m) - e^e B(m) over m, at the least m with (2 m - k) epsilon > e. So the
least e for a delta is the largest ln((A(m) - delta) / B(m)).
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Context, Decimal
from fractions import Fraction

from .._core import checks
from .._core.types import Number
from .conversions import LEAST_DELTA, LEAST_EPSILON
from .enclosure import DOWN, UP, Interval, down, exp, expm1, log, log1p, up
from .losses import Approx, Pure, _delta, _positive

# For a larger sum of the epsilons, exponentials leave the range of decimals. Then the sum itself is
# returned.
_FARTHEST = 10**17


def _power(context: Context, x: Decimal, times: int) -> Decimal:
    """Return x**times by squaring, rounded by the context at each step."""
    result, square = Decimal(1), x
    while times:
        if times & 1:
            result = context.multiply(result, square)
        square = context.multiply(square, square)
        times >>= 1
    return result


def _sums(
    context: Context, p: Decimal, odds: Decimal, back: Decimal, times: int
) -> Iterator[tuple[Decimal, Decimal]]:
    """Yield the tail sums A(m) and B(m), rounded by the context, for m = k, k - 1, ..., 0."""
    a = above = _power(context, p, times)
    b = below = context.multiply(a, _power(context, odds, times))
    yield above, below
    for m in range(times - 1, -1, -1):
        ratio = context.divide(Decimal(m + 1), Decimal(times - m))
        a = context.multiply(a, context.multiply(ratio, odds))
        b = context.multiply(b, context.multiply(ratio, back))
        above, below = context.add(above, a), context.add(below, b)
        yield above, below


def _tails(odds: Interval, times: int) -> Iterator[tuple[int, Interval, Interval]]:
    """Yield m and enclosures of the tail sums A(m) and B(m) for m = k, k - 1, ..., 0.

    `odds` is e^-epsilon. All factors are positive, so the lower ends follow from lower ends.
    """
    p, back = 1 / (odds + 1), 1 / odds
    low = _sums(DOWN, p.low, odds.low, back.low, times)
    high = _sums(UP, p.high, odds.high, back.high, times)
    for m, (a0, b0), (a1, b1) in zip(range(times, -1, -1), low, high, strict=True):
        yield m, Interval(a0, a1), Interval(b0, b1)


def _least_epsilon(epsilon: Fraction, times: int, delta: Fraction) -> Fraction:
    if times * epsilon > _FARTHEST:
        return times * epsilon
    x, allowed = Interval.of(epsilon), Interval.of(delta)
    odds = exp(-x)
    square = UP.multiply(odds.high, odds.high)
    corner = exp(x * (times - 2)).high  # e^((2 (m - 1) - k) epsilon), rounded up
    best = Decimal(0)
    for _, a, b in _tails(odds, times):
        room = UP.subtract(a.high, allowed.low)
        if room > 0:
            best = max(best, UP.divide(room, b.low))
        # If delta is surely too large at this corner, the epsilon sought is above it, and smaller m
        # no longer matter. Below e^0 there is nothing to search.
        if corner <= 1 or a.low > UP.add(UP.multiply(corner, b.high), allowed.high):
            break
        corner = UP.multiply(corner, square)
    if best <= 1:
        return Fraction(LEAST_EPSILON)
    return min(times * epsilon, up(log(Interval.of(best)).high, LEAST_EPSILON))


def _least_delta(epsilon: Fraction, times: int, wanted: Fraction) -> Fraction:
    """Return the least delta of the composition at an epsilon; 0 if no loss exceeds epsilon."""
    if wanted >= times * epsilon:
        return Fraction(0)
    if times * epsilon > _FARTHEST:
        return Fraction(1)
    odds, grown = exp(-Interval.of(epsilon)), exp(Interval.of(wanted)).low
    last = (wanted / epsilon + times) / 2 + 1  # no m below last - 1 counts
    best = Decimal(0)
    for m, a, b in _tails(odds, times):
        best = max(best, UP.subtract(a.high, DOWN.multiply(grown, b.low)))
        if m < last:
            break
    return up(best, LEAST_DELTA)


def optimal_composition(
    loss: Pure | Approx, times: int, *, delta: Number | None = None, epsilon: Number | None = None
) -> Approx:
    """Return the least total loss of `times` releases with the same loss.

    Parameters
    ----------
    loss : Pure or Approx
        The loss of each release. The releases may depend on earlier answers.
    times : int
        At least 1.
    delta : float, Fraction or Decimal, optional
        The total delta, including the deltas of the releases. The least epsilon for it is returned.
    epsilon : float, Fraction or Decimal, optional
        The total epsilon, instead of `delta`. The least delta for it is returned.

    Returns
    -------
    Approx
        The total loss, rounded up at the 15th digit. No smaller loss holds for all mechanisms.

    Raises
    ------
    ArgumentError
        If neither or both of `delta` and `epsilon` are given. If `delta` is not above 1 - (1 -
        loss.delta)**times. If `epsilon` is at least the sum of pure losses, which needs no delta:
        use `compose`.

    Notes
    -----
    Kairouz, Oh and Viswanath, ICML 2015 (Theorem 3.3 of arXiv:1311.0776). Cost: at most `times`
    steps of some microseconds.

    Examples
    --------
    >>> import dpfast as dp
    >>> total = dp.privacy.optimal_composition(dp.privacy.Pure(0.1), 100, delta=1e-6)
    >>> f"{float(total.epsilon):.4f}"
    '4.7746'
    """
    if not isinstance(loss, (Pure, Approx)):
        checks.fail_type("loss", "a Pure or Approx loss (ZCDP losses add up)", loss)
    checks.whole("times", times, 1)
    if (delta is None) == (epsilon is None):
        checks.fail("delta", "given, or epsilon instead, but not both", delta)
    # The failure probability of all releases together, 1 - (1 - delta)^times, computed without
    # cancellation.
    deltas = Interval.of(0)
    if isinstance(loss, Approx):
        grown = expm1(-log1p(Interval.of(-loss.delta)) * times)
        deltas = grown / (grown + 1)
    if delta is not None:
        total = _delta(delta)
        share = (Interval.of(total) - deltas) / (1 - deltas)
        if share.low <= 0:
            checks.fail("delta", "more than the deltas of the releases in total", delta)
        return Approx(_least_epsilon(loss.epsilon, times, down(share.low)), total)
    wanted = _positive("epsilon", epsilon)
    lost = deltas + (1 - deltas) * Interval.of(_least_delta(loss.epsilon, times, wanted))
    if lost.high <= 0:
        checks.fail("epsilon", "less than the sum of all epsilons, for which use compose", epsilon)
    least = up(lost.high, LEAST_DELTA)
    if least >= 1:
        checks.fail("epsilon", "larger, because its delta would be 1 or more", epsilon)
    return Approx(wanted, least)
