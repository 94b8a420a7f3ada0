"""Error bars of future answers, from public numbers only.

An error bar is a half-width h. With a probability of at least `confidence`, the answer differs by
at most h from the statistic of the clamped rows. (How much clamping changes a statistic depends on
the data, so it is not part of the error bar.) For a vector this holds for each number separately.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
#: Notes of error bars: the assumption of the error bar, or why there is none.
NOISE = "by the distribution of the noise"
BOUND = "a bound, for the worst data with this number of rows"
RANKS = "a bound in ranks, for the worst data"
DIFFERENT = "a bound in ranks, if no two rows within the bounds are equal"
ENDS = "by two private ends, which a part of the loss pays for"
SCORES = "a bound in the units of the scores, for the worst scores"
COUNTS = "a bound in rows, for the worst numbers of rows of the keys"
SECRET = "noise is scaled to the smooth sensitivity, which is secret"
WEIGHTS = "the sum of the weights is private, and weight_bounds allow it to be 0"
ROWS = "the number of rows is not known: give it as rows"
PEOPLE = "the number of people is private, and does not follow from the number of rows"
BASE = "with a base measure the error depends on which candidate is the best"
ROWS_BEYOND = "the number of rows beyond the bounds is private: release it with a count"
KEYS = "which keys are shown depends on their private numbers of rows or people"
UNKNOWN = "no bound from public numbers is known"
#: The note on an error bar if the totals of privacy units are clamped.
CLAMPED = "the bias from clamping the totals of privacy units is not included"
#: The default confidence of error bars.
CONFIDENCE = 0.95
#: For a smaller failure probability, characteristic functions do not give the tail of a sum.
RAREST = 1e-9
#: The whole probability, as an exact fraction.
ALL = Fraction(1)
#: The share of the failure probability that is left for errors that are rarely large.
RARE = 1 / 16


@dataclass(frozen=True, slots=True)
class ErrorBar:
    """A bound on the error of an answer, which holds with probability `confidence`.

    Attributes
    ----------
    confidence : float
        The probability that the error is within the bound.
    half_width : float or list, optional
        The bound in the units of the answer. It is a list if the columns have different bounds. For
        a selection, it bounds how far the score of the drawn candidate is below the best score of
        all remaining candidates.
    ranks : float or list, optional
        For a quantile: the largest number of rows between the answer and the true quantile. For an
        interquartile range: the largest number of rows between each end and its true quartile.
    note : str
        The assumptions of the error bar, or why there is none.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.mechanism(dp.count, epsilon=1).expected_error().half_width
    3.0
    """

    confidence: float
    half_width: Any = None
    ranks: Any = None
    note: str = ""

    def __str__(self) -> str:
        """Return the error as text: "± 3", "within 33 rows in order", or why it is not known."""
        if isinstance(self.half_width, dict):
            sizes = self.half_width.items()
            return "; ".join(f"{name} {ErrorBar(0, h, self.ranks[name])}" for name, h in sizes)
        if self.half_width is not None:
            return f"± {_text(self.half_width, '{:.6g}'.format)}"
        if self.ranks is not None:
            rows = _text(self.ranks, lambda ranks: f"{math.ceil(ranks):,}")
            return f"within {rows} rows in order"
        return f"not known: {self.note}" if self.note else "not known"


def _text(size: Any, number: Callable[[float], str]) -> str:
    """Return a half-width or a number of ranks, or a list of these, as text."""
    if isinstance(size, list):
        return ", ".join(_text(some, number) for some in size)
    return number(size) if isinstance(size, (int, float)) else str(size)


def unknown(confidence: float, why: str) -> ErrorBar:
    """Return an error bar without a half-width, with the reason as its note."""
    return ErrorBar(confidence, note=why)


def shortfall(candidates: int, rate: float, confidence: float, note: str = SCORES) -> ErrorBar:
    """Return the error bar of a drawn candidate's score, by McSherry and Talwar's bound.

    Weights are ``exp(rate score)``. Take all candidates whose score is more than g below the best.
    Their weights add up to at most ``candidates exp(-rate g)`` times the weight of the best
    candidate.
    """
    size = (math.log(candidates) - math.log1p(-confidence)) / rate
    return ErrorBar(confidence, size, note=note)


def grown_error(error: Fraction, off: Fraction, rows: int, least: Fraction, ddof: int) -> Fraction:
    """Return the error of a variance v R / (R - ddof), in units of R / (R - ddof).

    v is at most 1/4, and its error is `error`. R is the noisy number of rows. It is at least
    `least`, and differs from `rows` by at most `off`.
    """
    return error + Fraction(ddof, 4) * off / (rows * (least - ddof)) if ddof else error


def normal(failure: float) -> float:
    """Return the t with P(|Z| > t) = `failure` for a standard normal Z."""
    from statistics import NormalDist  # imported here, because most programs do not need it

    return -NormalDist().inv_cdf(failure / 2)


def within_box(failure: float, dimensions: int) -> float:
    """Return the t with P(|z| > t) = `failure` for a coordinate z of box noise.

    Box noise has a density proportional to exp(-max |z_i|). A coordinate is r u, where r is a gamma
    number of shape k + 1 and u is uniform between -1 and 1. So its tail is E max(0, 1 - t / r) =
    Q(k + 1, t) - Q(k, t) t / k, where Q are the upper tails of gamma numbers.
    """
    k = dimensions
    return solve(lambda t: max(0.0, _upper(k + 1, t) - _upper(k, t) * t / k), failure)


def gamma_weights(shape: int, points: int = 4_000) -> tuple[Floats, Floats]:
    """Return a gamma distribution of a given shape on a grid: probabilities and values."""
    size = np.linspace(0.0, shape + 12 * math.sqrt(shape) + 40, points + 1)[1:]
    weight = np.exp((shape - 1) * np.log(size) - size - math.lgamma(shape))
    return np.asarray(weight * (size[1] - size[0])), size


def sum_of_uniforms(sides: Sequence[Floats], t: Any) -> Floats:
    """Return the probability that a sum of uniform numbers exceeds t, each from -side to side.

    It is the share of a box beyond a plane. With n sides a_i, it is the sum of prod(s) max(0,
    sum(s_i a_i) - t)^n / (n! 2^n prod(a)) over all signs s.
    """
    n, total = len(sides), np.zeros_like(sides[0])
    for signs in itertools.product((1, -1), repeat=n):
        corner = sum(sign * side for sign, side in zip(signs, sides, strict=True))
        total += math.prod(signs) * np.maximum(0, corner - t) ** n
    whole = math.factorial(n) * 2.0**n * np.prod(np.array(sides), axis=0)
    return np.asarray(np.clip(total / whole, 0, 1))


def laplace_and_uniform(scale: float, a: Floats, t: float) -> Floats:
    """Return P(X + a u > t), t >= 0, for a Laplace number X and a uniform number u from -1 to 1.

    Given a u = y, the sum exceeds t in size with the probability e^(-t / s) cosh(y / s) if |y| < t,
    and 1 - e^(-|y| / s) sinh(t / s) otherwise. The result is half of the mean of this over y.
    """
    ends = np.exp(-abs(a - t) / scale) - np.exp(-(a + t) / scale)
    return np.asarray((np.maximum(0, a - t) + scale / 2 * ends) / (2 * a))


def symmetric_sum(
    parts: Sequence[tuple[Callable[[Floats], Floats], Floats, Floats]],
    deviation: float,
    failure: float,
    most: float = math.inf,
) -> float:
    """Bound the size of a weighted sum of symmetric numbers, except with probability `failure`.

    Let S be the sum. Let N be an independent normal number with a 128th of the standard deviation
    of S, and c 3.3 times the standard deviation of N. If |S| > t + c and |N| <= c, then |S + N| >
    t. So P(|S| > t + c) is at most P(|S + N| > t) / P(|N| <= c). The characteristic function of S +
    N is the product of the functions of S and N, and is real. So P(|S + N| <= t) is the integral
    over u > 0 of 2 sin(u t) / (pi u) times this function (Gil-Pelaez, Biometrika 1951). It is
    computed by the midpoint rule. The rule is exact except for the part beyond 60 standard
    deviations, and for frequencies that N suppresses.

    Parameters
    ----------
    parts : sequence of (callable, ndarray, ndarray)
        For each distribution of numbers: its characteristic function, the weights, and how many
        numbers have each weight.
    deviation : float
        The standard deviation of the sum, or an upper bound of it. For sums on a lattice it must be
        at least the largest weight.
    failure : float
        At least `RAREST`.
    most : float, optional
        Another bound that holds except with probability `failure`; the smaller one is returned.

    Returns
    -------
    float
        An upper bound.
    """
    width = deviation / 128
    step = math.pi / (30 * deviation)
    u = step * (np.arange(math.ceil(7.5 / width / step)) + 0.5)
    whole = np.exp(-((width * u) ** 2) / 2) * (2 / np.pi * step) / u
    for waves, sizes, times in parts:
        for size, many in zip(sizes, times, strict=True):
            transform = waves(size * u)
            whole *= (
                transform
                if many == 1
                else np.abs(transform) ** many * np.sign(transform) ** (many % 2)
            )
    kept = math.erf(3.3 / math.sqrt(2))
    beyond = solve(lambda t: (1 - float((np.sin(u * t) * whole).sum())) / kept, failure)
    return min(most, beyond + 3.3 * width)


def sum_of_two(first: Floats, second: Floats, shares: Floats, failure: float) -> float:
    """Bound the sum of the sizes of two independent errors, except with probability `failure`.

    An error exceeds ``first[i]`` (or ``second[i]``) with a probability of at most ``shares[i +
    1]``. So it is stochastically no larger than a number that is ``first[i]`` with probability
    ``shares[i] - shares[i + 1]``, and infinite otherwise.

    Parameters
    ----------
    first, second : ndarray of shape (k,)
        The widths of the two errors, ascending.
    shares : ndarray of shape (k + 1,)
        Probabilities that fall from 1 to less than half of the failure probability.
    failure : float
    """
    probabilities = -np.diff(shares)
    sums, joint = (
        np.add.outer(first, second).ravel(),
        np.multiply.outer(probabilities, probabilities).ravel(),
    )
    order = np.argsort(sums)
    return float(sums[order][np.argmax(1 - np.cumsum(joint[order]) <= failure)])


def _upper(k: int, t: float) -> float:
    """Return the probability that a gamma number of shape k exceeds t."""
    term = total = math.exp(-t)
    for j in range(1, k):
        term *= t / j
        total += term
    return total


def solve(tail: Callable[[float], float], failure: float) -> float:
    """Return the t at which a decreasing tail function equals `failure`, rounded up."""
    low, high = 0.0, 1.0
    while tail(high) > failure:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(middle) > failure else (low, middle)
    return high
