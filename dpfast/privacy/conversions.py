"""The formulas of the conversions. They take exact fractions, and round results towards more loss.

Each formula is evaluated on intervals (`enclosure.py`), and the upper end is rounded up at the 15th
digit. The formulas hold for every value of their free parameter, so the search for its best value
needs no proof.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

from .enclosure import UP, Interval, down, exp, expm1, log1p, log_of, up

# The smallest loss that is returned: where a formula gives 0, the loss must still be positive.
LEAST_EPSILON = Decimal("1e-300")
LEAST_DELTA = Decimal("1e-9999")


def _mean_loss(epsilon: Fraction) -> Interval:
    """Return the mean loss of randomized response, epsilon tanh(epsilon / 2)."""
    x = Interval.of(epsilon)
    if x.high > 300:  # 1 - tanh(150) < 10**-129
        return x
    grown = expm1(x)
    return x * grown / (grown + 2)


@lru_cache(maxsize=1024)
def rho_of_pure(epsilon: Fraction) -> Fraction:
    """Return the tight rho of a pure loss, epsilon tanh(epsilon / 2), rounded up.

    Results are cached, because a budget in rho calls this at each spend.
    """
    return min(up(_mean_loss(epsilon).high, LEAST_DELTA), epsilon**2 / 2)


def _root(f: Callable[[Decimal], tuple[Decimal, Decimal]], low: Decimal, high: Decimal) -> Decimal:
    """Return the zero of an increasing function to 30 digits, by Newton's method in a bracket.

    `f` returns a value and the slope there.
    """
    x = high
    for _ in range(400):
        value, slope = f(x)
        low, high = (low, x) if value > 0 else (x, high)
        to = x - value / slope
        if not low < to < high:
            to = (low * high).sqrt()
        if (to - x).copy_abs() <= x * Decimal("1e-30"):
            return to
        x = to
    return x


def epsilon_of_rho(rho: Fraction, delta: Fraction) -> Fraction:
    """Return the least epsilon of rho-zCDP at delta, over all Renyi orders a = 1 + t.

    epsilon = (1 + t) rho + ln(t / (1 + t)) + (ln(1 / delta) - ln(1 + t)) / t. The slope of this in
    t is rho - (ln(1 / delta) - ln(1 + t)) / t**2.
    """
    r, bits = Interval.of(rho), -log_of(delta)
    most = bits.high

    def slope(t: Decimal) -> tuple[Decimal, Decimal]:
        return r.high * t * t + log1p(Interval.of(t)).high - most, 2 * r.high * t + 1 / (1 + t)

    with localcontext(UP):
        low, high = (
            min((part / r.high).sqrt(), expm1(Interval.of(part)).high) for part in (most / 2, most)
        )
        t = Interval.of(_root(slope, low, high))
    whole = (t + 1) * r - log1p(1 / t) + (bits - log1p(t)) / t
    return up(whole.high, LEAST_EPSILON)


def delta_of_rho(rho: Fraction, epsilon: Fraction) -> Fraction | None:
    """Return the least delta of rho-zCDP at epsilon over all Renyi orders, or None if 1 or more.

    For the order a = 1 + t, ln(delta) = t ((1 + t) rho - epsilon) - ln(1 + t) - t ln(1 + 1 / t).
    The slope of this in t is (1 + 2 t) rho - epsilon - ln(1 + 1 / t).
    """
    r, e = Interval.of(rho), Interval.of(epsilon)

    def slope(t: Decimal) -> tuple[Decimal, Decimal]:
        inverse = 1 / t
        value = (2 * t + 1) * r.high - log1p(Interval.of(inverse)).high - e.high
        return value, 2 * r.high + inverse / (t + 1)

    with localcontext(UP):
        high = max(Decimal(1), (e.high + 1) / r.high)
        low = Decimal(0)
        if r.high < 10**6:
            low = min(Decimal(1), 1 / expm1(r * 3).high)
        if epsilon > rho:
            low = max(low, (e.high - r.high) / (2 * r.high))
        if not low:
            return None
        t = Interval.of(_root(slope, low, high))
    whole = t * ((t + 1) * r - e) - log1p(t) - t * log1p(1 / t)
    delta = up(exp(whole).high, LEAST_DELTA)
    return delta if delta < 1 else None


@lru_cache(maxsize=256)
def rho_within(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return nearly the largest rho whose epsilon at `delta` is at most `epsilon`.

    `epsilon` is at least LEAST_EPSILON.
    """
    bits = -log_of(delta)
    root = (bits + Interval.of(epsilon)).sqrt() - bits.sqrt()
    # Start from the inverse of rho + 2 sqrt(rho ln(1 / delta)), but not below the least epsilon.
    low = down(max((root * root).low, LEAST_EPSILON))
    while epsilon_of_rho(low, delta) > epsilon:  # rounding may have made it too large
        low /= 2
    factor, high = 2, 2 * low
    while epsilon_of_rho(high, delta) <= epsilon:
        low, high, factor = high, high * factor, factor * factor
    while high - low > low / 2**44:
        middle = Interval.of((low + high) / 2)
        if high > 4 * low:
            middle = Interval.of(low * high).sqrt()
        between = down(middle.low)
        if not low < between < high:
            break
        fits = epsilon_of_rho(between, delta) <= epsilon
        low, high = (between, high) if fits else (low, between)
    return low


def pure_epsilon(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return the least epsilon' of a pure loss at delta: ln(e^epsilon - delta (1 + e^epsilon)).

    Every pure-epsilon pair is a post-processing of randomized response, whose hockey-stick
    divergence at epsilon' is (e^epsilon - e^epsilon') / (1 + e^epsilon).
    """
    less = Interval.of(delta) * (exp(-Interval.of(epsilon)) + 1)
    if less.high >= 1:
        return Fraction(LEAST_EPSILON)
    return min(epsilon, up((Interval.of(epsilon) + log1p(-less)).high, LEAST_EPSILON))


def group_delta(epsilon: Fraction, delta: Fraction, size: int) -> Fraction | None:
    """Return delta for groups of `size` rows, or None if it is not below 1.

    It is delta (e^(size epsilon) - 1) / (e^epsilon - 1).
    """
    if size == 1:
        return delta
    if size * epsilon > 10**6:
        return None
    x = Interval.of(epsilon)
    grown = up((Interval.of(delta) * expm1(x * size) / expm1(x)).high, LEAST_DELTA)
    return grown if grown < 1 else None


def group_delta_within(epsilon: Fraction, delta: Fraction, size: int) -> Fraction:
    """Return nearly the largest delta for one row whose `group_delta` is at most `delta`.

    `group_delta` rounds up at the 15th digit, so the target has 15 digits. The margin of 10**-30 is
    far larger than the errors of both functions.
    """
    if size == 1:
        return delta
    epsilon_each = Interval.of(epsilon / size)
    target = Interval.of(down(Interval.of(delta).low)) * Interval.of(1 - Fraction(1, 10**30))
    return Fraction((target * expm1(epsilon_each) / expm1(epsilon_each * size)).low)


def advanced_epsilon(epsilons: list[Fraction], delta: Fraction) -> Fraction:
    """Return the epsilon of advanced composition, or the sum of all epsilons if that is less.

    The epsilon of advanced composition is sqrt(2 ln(1 / delta) sum e_i^2) + sum e_i tanh(e_i / 2).
    """
    squares = Interval.of(sum((e * e for e in epsilons), Fraction(0)))
    mean = Interval.of(0)
    for e in epsilons:
        mean = mean + _mean_loss(e)
    whole = (squares * (-log_of(delta)) * 2).sqrt() + mean
    return min(sum(epsilons, Fraction(0)), up(whole.high, LEAST_EPSILON))
