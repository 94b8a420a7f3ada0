"""The rho of known distributions: the supremum of D_a / a over all orders a, rounded up.

A pair of distributions P, Q has the privacy loss L = ln(P / Q). Let s(t) = ln E_P[exp(t L)] for the
order a = 1 + t, so that D_a = s(t) / t. Then rho is the supremum over t > 0 of s(t) / (t (1 + t)).

*When rho is the Kullback-Leibler divergence.* Let the pair be symmetric, s(t) = s(-1 - t), as for a
shift of a symmetric distribution. With u = t + 1/2, s is a function G of v = u^2. Also t (1 + t) =
v - 1/4, and G(1/4) = 0. If G is concave, G(v) <= (v - 1/4) G'(1/4). Here G'(1/4) = s'(0) is the
divergence, so the supremum is the limit for orders near 1. exp(s) is an even entire function of u.
If it has only imaginary zeros, it is a product of factors 1 + v / z^2. Each of these has a concave
logarithm, so G is concave.

*Laplace.* Consider integers with probabilities proportional to q^|z|, q = e^-h, shifted by m cells,
with E = h m. Up to a factor, exp(s) = w^-m (1 + c w^2 + c w^4 + ... + c w^(2 m - 2) + w^(2 m)) with
w = e^(u h) and c = 1 - q. The polynomial in z = w^2, times z - 1, is z^m (z - q) - (1 - q z). So
its zeros solve B(z) = z^m (z - q) / (1 - q z) = 1. B is a finite Blaschke product, whose absolute
value is 1 on the unit circle and nowhere else. So all zeros z are on this circle, and all zeros of
exp(s) are imaginary. Hence

    rho = E - (1 - e^-E) h / sinh(h),        h = E / m.

For m = 1 this rho is E tanh(E / 2), as for randomized response. It decreases with m, because h /
sinh(h) decreases with h. Its limit for m to infinity is the rho of continuous noise, E + e^-E - 1
(Harrison and Manurangsi, FORC 2026).

At a fixed h, rho is R(m) = h m - k (1 - e^(-h m)) with k <= 1. R is convex, increasing, and 0 at 0.
So smaller shifts cost less, and R(m) / m increases. Let several coordinates, each with independent
noise, be shifted by at most m each and n m together. They cost at most n R(m). Rounding the noisy
number to a grid is post-processing. For groups of g rows, m becomes g m, and R(g m) <= g^2 R(m).

*Bounded range.* Let L lie within [x - E, x] for some x. Then s(t) is largest if L is at one of the
two ends, because z -> z^a is convex. Of all such x, the largest is for e^x = t (1 + r) / ((1 + t)
r) with r = (1 - e^(-t E)) / (e^E - 1). With b(y) = ln(2 sinh(E y / 2) / y) this gives

    s(t) / (t (1 + t)) = (b(1 + t) - b(1)) / t + (b(1) - b(t)) / (1 + t).

b is a constant plus a sum of ln(1 + y^2 / T) over T = (2 pi n / E)^2, n = 1, 2, .... So it is
enough to let b be one of these terms. Let k = 1 / (1 + T). The right-hand side is at most its limit
for t to 0 if

    ln(1 + 2 k t + k t^2) <= 2 k t + t / (1 + t) (t ln(1 / (1 - k)) + ln(1 + t^2 / T)).

The left side is at most ln(1 + k t^2) + 2 k t / (1 + k t^2). The right side is at least 2 k t + t /
(1 + t) (k t + ln(1 + k t^2)). The inequality follows from ln(1 + k t^2) <= k t^2. So

    rho = b(1) - b(0) + b'(1) = ln x - 1 + 1 / x,        x = (e^E - 1) / E.

This is about E^2 / 8 for small E (Cesar and Rogers, ALT 2021) and never more. Dong, Durfee and
Rogers (ICML 2020) found the pair with the largest mean. rho is concave in E^2, as a sum over T of 2
/ (1 + T) + ln(1 + 1 / T). It is convex in E: for z = E / 2 it is z coth(z) - 1 + ln(sinh(z) / z),
with the second derivative (2 z coth(z) - 3) / sinh(z)^2 + 1 / z^2 >= 1 / z^2 - 1 / sinh(z)^2 > 0.

*One of k answers.* The truth has the probability e^E / N, where N = e^E + k - 1, and any other
answer 1 / N. So exp(s) = (2 e^(E / 2) cosh(u E) + c) / N with c = k - 2. It decreases with c at
each order.

For c <= 2 e^(E / 2) the zeros are imaginary, so rho = E (e^E - 1) / N. At equality this is E tanh(E
/ 4), which bounds rho for all larger c. For these, a search finds a smaller rho. s(t) = rho t (1 +
t) holds at the zeros v of N e^(rho (v - 1/4)) - exp(s) N, a power series in v. Its coefficients are
a log-convex sequence minus a constant, times positive numbers; the first one is smaller by c. So
their signs change at most as - + - +, and there are at most three positive zeros (Descartes). One
of these is v = 1/4. Hence s(t) / (t (1 + t)) takes no value three times: it rises to its supremum,
and then falls. Take a point with a lower point on either side. The supremum is between the two
lower points. It is at most D at the right point, divided by the order of the left point.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

from .conversions import LEAST_DELTA, rho_of_pure
from .enclosure import DOWN, UP, Interval, exp, expm1, log, log1p, up

#: The range of epsilon for which the formulas below are evaluated. Above it rho is epsilon to many
#: digits, and below it epsilon**2 / 2.
_LARGEST, _SMALLEST = 10**6, Fraction(1, 10**20)
_GOLDEN = Decimal("0.61803398874989484820458683436563811772")


@lru_cache(maxsize=1024)
def rho_of_laplace(epsilon: Fraction, cells: int) -> Fraction:
    """Return the rho of Laplace noise for a sensitivity of `cells`; 0 means continuous noise."""
    most = rho_of_pure(epsilon)
    if not _SMALLEST < epsilon < _LARGEST or cells == 1:
        return most
    x = Interval.of(epsilon)
    odds = exp(-x)
    lost = 1 - odds
    if cells:
        h = Interval.of(epsilon / cells)
        lost = lost * h * 2 * exp(h) / expm1(h * 2)
    return min(most, up((x - lost).high, LEAST_DELTA))


@lru_cache(maxsize=1024)
def rho_of_range(epsilon: Fraction) -> Fraction:
    """Return the rho of a draw with bounded range."""
    most = min(rho_of_pure(epsilon), epsilon**2 / 8)
    if not _SMALLEST < epsilon < _LARGEST:
        return most
    x = Interval.of(epsilon)
    ratio = expm1(x) / x
    return min(most, up((log(ratio) - 1 + 1 / ratio).high, LEAST_DELTA))


@lru_cache(maxsize=1024)
def rho_of_response(epsilon: Fraction, categories: int) -> Fraction:
    """Return the rho of randomized response with `categories` answers."""
    most = rho_of_pure(epsilon)
    if epsilon >= _LARGEST or categories <= 2:
        return most
    x, others = Interval.of(epsilon), categories - 2
    grown = expm1(x)
    if UP.multiply(Decimal(others), Decimal(others)) <= (4 * (grown + 1)).low:
        return min(most, up((x * grown / (grown + categories)).high, LEAST_DELTA))
    half = exp(x / 2)
    bound = (x * (half - 1) / (half + 1)).high  # epsilon tanh(epsilon / 4)
    supremum = _highest(x, categories) if epsilon > _SMALLEST else None
    return min(most, up(bound if supremum is None else min(supremum, bound), LEAST_DELTA))


def _highest(x: Interval, categories: int) -> Decimal | None:
    """Return the rho of randomized response by a search, or None if an end of the range is higher.

    Where the variance of the loss is at most twice its mean, D_a / a falls from the start, and the
    mean is the supremum.
    """
    grown, whole = expm1(x), expm1(x) + categories
    mean = x * grown / whole
    spread = x * x * (grown + 2) / whole - mean * mean
    if spread.high <= (2 * mean).low:
        return mean.high

    def renyi(t: Decimal) -> Interval:
        y = x * Interval.of(t)
        more = (grown + 1) * expm1(y) - expm1(y) / exp(y)
        return log1p(more / whole) / Interval.of(t)

    def ratio(t: Decimal) -> Interval:
        return renyi(t) / (Interval.of(t) + 1)

    # By the golden section, in the logarithm of t.
    with localcontext(UP):
        left = -9 - x.high.ln()
        right = (4 * (log(whole).high + 10)).ln() - x.high.ln()
        first, second = right - _GOLDEN * (right - left), left + _GOLDEN * (right - left)
        low, high = ratio(first.exp()).low, ratio(second.exp()).low
        while right - left > Decimal("1e-11"):
            if low > high:
                right, second, high = second, first, low
                first = right - _GOLDEN * (right - left)
                low = ratio(first.exp()).low
            else:
                left, first, low = first, second, high
                second = left + _GOLDEN * (right - left)
                high = ratio(second.exp()).low
        ends = left.exp(), right.exp()
    if max(low, high) <= max(ratio(end).high for end in ends):
        return None
    return UP.divide(renyi(ends[1]).high, DOWN.add(ends[0], Decimal(1)))
