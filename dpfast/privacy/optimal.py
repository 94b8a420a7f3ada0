"""Optimal composition of equal losses.

It is the hockey-stick divergence of many randomized responses. Every (epsilon, 0) pair is a
post-processing of randomized response, so k of them together lose no more than k randomized
responses, of which the likelihood ratio depends on one count j alone: with p = e^epsilon / (1 +
e^epsilon), q = 1 - p and

    A(m) = sum over j >= m of C(k, j) p^j q^(k - j),    B(m) = the same with p and q exchanged,

delta(e) = max over m of A(m) - e^e B(m), and the maximum is at the least m with (2 m - k) epsilon
> e. So the least e for a delta is the largest ln((A(m) - delta) / B(m)).
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

from .._core import checks
from .._core.types import Number
from .conversions import LEAST_DELTA, LEAST_EPSILON
from .enclosure import DOWN, UP, Interval, down, exp, expm1, log, log1p, up
from .losses import Approx, Pure, _delta, _positive

# Beyond it exponentials leave the range of decimals, and the result is the plain sum.
_FARTHEST = 10**17

_Sums = tuple[int, Decimal, Decimal, Decimal, Decimal]


def _power(context: Any, x: Decimal, times: int) -> Decimal:
    """Return x**times by squaring, rounded by the context at each step."""
    result, square = Decimal(1), x
    while times:
        if times & 1:
            result = context.multiply(result, square)
        square = context.multiply(square, square)
        times >>= 1
    return result


def _tails(odds: Interval, times: int) -> Iterator[_Sums]:
    """Yield m, A(m) and B(m) rounded down, and both rounded up, for m = k, k - 1, ..., 0.

    All factors are positive, so the lower ends follow from lower ends. `odds` is e^-epsilon.
    """
    p, back = 1 / (odds + 1), 1 / odds
    terms: list[Decimal] = []
    factors: list[Decimal] = []
    for context, a, b, c in ((DOWN, p.low, odds.low, back.low), (UP, p.high, odds.high, back.high)):
        first = _power(context, a, times)
        terms += [first, context.multiply(first, _power(context, b, times))]
        factors += [b, c]
    a0, b0, a1, b1 = s0, r0, s1, r1 = terms
    yield times, s0, r0, s1, r1
    x0, y0, x1, y1 = factors
    for m in range(times - 1, -1, -1):
        more, less = Decimal(m + 1), Decimal(times - m)
        low, high = DOWN.divide(more, less), UP.divide(more, less)
        a0 = DOWN.multiply(a0, DOWN.multiply(low, x0))
        b0 = DOWN.multiply(b0, DOWN.multiply(low, y0))
        a1 = UP.multiply(a1, UP.multiply(high, x1))
        b1 = UP.multiply(b1, UP.multiply(high, y1))
        s0, r0 = DOWN.add(s0, a0), DOWN.add(r0, b0)
        s1, r1 = UP.add(s1, a1), UP.add(r1, b1)
        yield m, s0, r0, s1, r1


def _least_epsilon(epsilon: Fraction, times: int, delta: Fraction) -> Fraction:
    if times * epsilon > _FARTHEST:
        return times * epsilon
    x, allowed = Interval.of(epsilon), Interval.of(delta)
    odds = exp(-x)
    square = UP.multiply(odds.high, odds.high)
    corner = exp(x * (times - 2)).high  # e^((2 (m - 1) - k) epsilon), rounded up
    best = Decimal(0)
    for _, a_low, b_low, a_high, b_high in _tails(odds, times):
        room = UP.subtract(a_high, allowed.low)
        if room > 0:
            best = max(best, UP.divide(room, b_low))
        # Once delta at the corner is surely too much, the answer is above it, where lesser m do not
        # count; below e^0 there is nothing to look for.
        if corner <= 1 or a_low > UP.add(UP.multiply(corner, b_high), allowed.high):
            break
        corner = UP.multiply(corner, square)
    if best <= 1:
        return Fraction(LEAST_EPSILON)
    return min(times * epsilon, up(log(Interval.of(best)).high, LEAST_EPSILON))


def _least_delta(epsilon: Fraction, times: int, wanted: Fraction) -> Fraction:
    """Return the least delta, which is 0 if nothing is lost beyond `wanted`."""
    if wanted >= times * epsilon:
        return Fraction(0)
    if times * epsilon > _FARTHEST:
        return Fraction(1)
    odds, grown = exp(-Interval.of(epsilon)), exp(Interval.of(wanted)).low
    last = (wanted / epsilon + times) / 2 + 1  # the least m that counts is below it
    best = Decimal(0)
    for m, _, b_low, a_high, _ in _tails(odds, times):
        best = max(best, UP.subtract(a_high, DOWN.multiply(grown, b_low)))
        if m < last:
            break
    return up(best, LEAST_DELTA)


def optimal_composition(
    loss: Pure | Approx, times: int, *, delta: Number | None = None, epsilon: Number | None = None
) -> Approx:
    """Return the exact loss of `times` releases of one and the same loss.

    Parameters
    ----------
    loss : Pure or Approx
        Of each release, which may depend on earlier answers.
    times : int
        At least 1.
    delta : float, Fraction or Decimal, optional
        The total delta, those of the releases included. The least epsilon for it is returned.
    epsilon : float, Fraction or Decimal, optional
        The total epsilon, instead of `delta`. The least delta for it is returned.

    Returns
    -------
    Approx
        Rounded up at the 15th digit. No smaller number is true of all mechanisms with this loss.

    Raises
    ------
    ArgumentError
        If not exactly one of delta and epsilon is given, if delta is not above
        1 - (1 - loss.delta)**times, or if pure losses need no delta for `epsilon` (use `compose`).

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
        checks.fail("delta", "given, or epsilon instead, and not both", delta)
    # The deltas of the releases come to 1 - (1 - delta)^times; without cancellation.
    deltas = Interval.of(0)
    if isinstance(loss, Approx):
        grown = expm1(-log1p(Interval.of(-loss.delta)) * times)
        deltas = grown / (grown + 1)
    if delta is not None:
        total = _delta(delta)
        share = (Interval.of(total) - deltas) / (1 - deltas)
        if share.low <= 0:
            checks.fail("delta", "more than the deltas of the releases come to", delta)
        return Approx(_least_epsilon(loss.epsilon, times, down(share.low)), total)
    wanted = _positive("epsilon", epsilon)
    lost = deltas + (1 - deltas) * Interval.of(_least_delta(loss.epsilon, times, wanted))
    if lost.high <= 0:
        checks.fail("epsilon", "less than what the losses add up to: use compose", epsilon)
    least = up(lost.high, LEAST_DELTA)
    if least >= 1:
        checks.fail("epsilon", "larger, for a delta below 1", epsilon)
    return Approx(wanted, least)
