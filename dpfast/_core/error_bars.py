"""Error bars of future answers, from public numbers only.

An error bar is a half-width h. With probability at least `confidence`, the answer is within h of
the statistic of the clamped rows. (How clamping changes a statistic cannot be known without the
data.) It holds for each number of a vector by itself.
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
#: What an error bar rests on, or why it is not known.
NOISE = "by the distribution of the noise"
BOUND = "a bound, for the worst data with this number of rows"
RANKS = "a bound in ranks, for the worst data"
DIFFERENT = "a bound in ranks, for rows of which no two are equal within the bounds"
ENDS = "ends that a part of the loss draws"
SCORES = "a bound in the units of the scores, for the worst of them"
COUNTS = "a bound in rows, for the worst counts of keys"
SECRET = "noise is scaled to the smooth sensitivity, which is secret"
WEIGHTS = "the sum of the weights is private, and may be 0 by weight_bounds"
ROWS = "the number of rows is not known: give it as rows"
PEOPLE = "the number of people is private, and that of rows says little about it"
BASE = "with a base it depends on which candidate is the best"
ROWS_BEYOND = "how many rows lie beyond is a fact about them: count these, for a loss of its own"
KEYS = "which keys are shown depends on how many rows or people have them"
UNKNOWN = "no bound of public numbers is known"
#: The note on an error bar where the totals of privacy units are clamped.
CLAMPED = "what clamping takes off the totals of units, a bias, is not in it"
#: The default confidence of error bars.
CONFIDENCE = 0.95
#: The least failure probability at which characteristic functions give the tail of a sum of noise.
RAREST = 1e-9
#: The whole probability, as an exact fraction.
ALL = Fraction(1)
#: The share of the failure probability that is reserved for parts of the error that are rarely
#: large.
RARE = 1 / 16


@dataclass(frozen=True, slots=True)
class ErrorBar:
    """A bound on the error that holds for a share `confidence` of all answers.

    Attributes
    ----------
    confidence : float
        The share of answers within the bound.
    half_width : float or list, optional
        In the units of the answer. A list if the bounds of the coordinates differ. For a selection,
        in the units of the scores: how far the score of a drawn candidate is below the best score
        of the candidates that remained.
    ranks : float or list, optional
        How many rows lie between the answer and the true quantile, at most. For a range, the number
        of rows between either end and its true quartile.
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
    """Return the text of one half-width or rank, or of a list of them."""
    if isinstance(size, list):
        return ", ".join(_text(some, number) for some in size)
    return number(size) if isinstance(size, (int, float)) else str(size)


def unknown(confidence: float, why: str) -> ErrorBar:
    """Return an error bar without a size, which states why none is known."""
    return ErrorBar(confidence, note=why)


def shortfall(candidates: int, rate: float, confidence: float, note: str = SCORES) -> ErrorBar:
    """Return the error bar of a drawn candidate's score, by McSherry and Talwar's bound.

    Weights are ``exp(rate score)``. All candidates whose score is farther below the best than g
    together have at most ``candidates exp(-rate g)`` times the weight of the best.
    """
    size = (math.log(candidates) - math.log1p(-confidence)) / rate
    return ErrorBar(confidence, size, note=note)


def grown_error(error: Fraction, off: Fraction, rows: int, least: Fraction, ddof: int) -> Fraction:
    """Return the error of a variance v R / (R - ddof), in units of R / (R - ddof).

    The variance v is at most 1/4 and has `error`.

    R is the noisy number of rows, which is off by at most `off`, and is at least `least`.
    """
    return error + Fraction(ddof, 4) * off / (rows * (least - ddof)) if ddof else error


def normal(failure: float) -> float:
    """Return the t that a standard normal number exceeds in size with probability `failure`."""
    from statistics import NormalDist  # imported here, because most programs do not need it

    return -NormalDist().inv_cdf(failure / 2)


def within_box(failure: float, dimensions: int) -> float:
    """Return the t that a coordinate of box noise exceeds in size with probability `failure`.

    The noise has density exp(-max |z_i|). A coordinate is r u, with r a gamma number of k + 1 and u
    uniform between -1 and 1, so its tail is E max(0, 1 - t / r) = Q(k + 1, t) - Q(k, t) t / k for
    the upper tails Q.
    """
    k = dimensions
    return solve(lambda t: max(0.0, _upper(k + 1, t) - _upper(k, t) * t / k), failure)


def gamma_weights(shape: int, points: int = 4_000) -> tuple[Floats, Floats]:
    """Return the probabilities and values of a gamma number of a given shape, on a grid."""
    size = np.linspace(0.0, shape + 12 * math.sqrt(shape) + 40, points + 1)[1:]
    weight = np.exp((shape - 1) * np.log(size) - size - math.lgamma(shape))
    return np.asarray(weight * (size[1] - size[0])), size


def sum_of_uniforms(sides: Sequence[Floats], t: Any) -> Floats:
    """Return the probability that a sum of uniform numbers, each of -side .. side, exceeds t.

    The volume beyond a plane in a box, by its corners: with n sides a_i it is the sum over signs s
    of prod(s) max(0, sum(s_i a_i) - t)^n / (n! 2^n prod(a)).
    """
    n, total = len(sides), np.zeros_like(sides[0])
    for signs in itertools.product((1, -1), repeat=n):
        corner = sum(sign * side for sign, side in zip(signs, sides, strict=True))
        total += math.prod(signs) * np.maximum(0, corner - t) ** n
    whole = math.factorial(n) * 2.0**n * np.prod(np.array(sides), axis=0)
    return np.asarray(np.clip(total / whole, 0, 1))


def laplace_and_uniform(scale: float, a: Floats, t: float) -> Floats:
    """Return the probability that a Laplace number plus `a` u exceeds t >= 0, u uniform in -1 .. 1.

    Given a u = y, the sum exceeds t in size with the probability e^(-t / s) cosh(y / s) for |y| <
    t, else 1 - e^(-|y| / s) sinh(t / s). Half of the mean of this over y is the probability of one
    side.
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

    Let S be the sum, and N a normal number of a 128th of its deviation, c 3.3 times that. If S
    exceeds t + c, then S + N exceeds t unless N exceeds c, so P(|S| > t + c) is at most P(|S + N| >
    t) / P(|N| <= c). The distribution of S + N has the density whose characteristic function is
    that of S, which is real, times that of N. So P(|S + N| <= t) is the integral over u > 0 of 2
    sin(u t) / (pi u) times this function (Gil-Pelaez, Biometrika 1951), computed here by the
    midpoint rule, which is exact except for the part beyond 60 standard deviations, and for
    frequencies that N suppresses.

    Parameters
    ----------
    parts : sequence of (callable, ndarray, ndarray)
        The characteristic function of numbers with the same distribution, their weights, and how
        many times each weight counts.
    deviation : float
        The standard deviation of the sum, or an upper bound: at least the largest weight, for sums
        on a lattice.
    failure : float
        At least `RAREST`.
    most : float, optional
        A bound that the sum is known to exceed with at most this probability.

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

    Each exceeds a width with at most the share behind it. So it is stochastically no larger than a
    number that takes each width with the difference of the shares around it, and is infinite
    otherwise.

    Parameters
    ----------
    first, second : ndarray of shape (k,)
        The widths of each, ascending.
    shares : ndarray of shape (k + 1,)
        From 1 on, and falling to less than half of the failure probability.
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
    """Return where a decreasing tail function equals a failure probability, rounded up."""
    low, high = 0.0, 1.0
    while tail(high) > failure:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(middle) > failure else (low, middle)
    return high
