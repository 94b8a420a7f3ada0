"""Bounds from public numbers: the loss of known distributions, and what attacks can recover."""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np

from dpfast import privacy
from dpfast.errors import ArgumentError
from dpfast.extend import Number, checks
from dpfast.privacy import ZCDP

from .binomial import Floats, renyi_rho

#: A factor for rounding errors of the bound, and for the rounding of epsilon in `pure_within`.
_UP = 1 + 2.0**-38
#: A larger loss counts as this loss, because the bound in float64 is the same.
_MOST = Fraction(1000)
#: A bound on the rounding error of a sum of probabilities.
_ROUNDING = 1e-9


def recovery_bound(
    *, epsilon: Number | None = None, delta: Number = 0.0, rho: Number | None = None, steps: int = 1
) -> float:
    """Return the largest expected fraction of secret bits that any attack can recover.

    Let each of n rows hold a secret bit, drawn like a fair coin, and let neighbors differ in one
    bit. An attacker sees the answers of a private interface. The attacker may use any method and
    any other knowledge about the rows, even all other bits. The probability that the attacker
    guesses a bit right is at most:

    * pure epsilon: ``exp(epsilon) / (1 + exp(epsilon))``;
    * (epsilon, delta): ``(exp(epsilon) + delta) / (1 + exp(epsilon))``;
    * rho: as for the epsilon with ``epsilon tanh(epsilon / 2) = rho``.

    Under randomized response of each bit, an attacker attains the first and the third bound.

    Parameters
    ----------
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss of all answers together: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    steps : int, default 1
        How many steps between neighbors change one bit. Under "replace" this is 1. Under
        "add-remove" it is 1 if the bit says whether a row is in the data. It is 2 if the bit is a
        value in the row: the row is removed, and added with the other value.

    Returns
    -------
    float
        A fraction between 1/2 and 1, rounded up.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks its rule.

    Notes
    -----
    Cost: microseconds.

    A guess of a fair bit is a test between two neighbors. Let x and y be the probabilities of the
    guess "1" on the two neighbors. The guess is right with probability p = (1 + x - y) / 2.

    Under (epsilon, delta), x <= e^epsilon y + delta and 1 - y <= e^epsilon (1 - x) + delta. The sum
    of both bounds x - y.

    Under rho, the two Kullback-Leibler divergences between coins with the probabilities x and y add
    up to at most 2 rho. This sum is jointly convex, and the same for 1 - y and 1 - x. So it does
    not grow if x and y are replaced by p and 1 - p. For these it is 2 (2 p - 1) ln(p / (1 - p)).

    Under pure privacy the number of recovered bits is stochastically no larger than the number of
    heads of independent coins with this probability (Steinke, Nasr and Jagielski, NeurIPS 2023). So
    confidence limits of the binomial distribution apply to it.

    Examples
    --------
    The bound for an epsilon of 1, and for a rho of 0.5:

    >>> import dpfast as dp
    >>> round(dp.audit.recovery_bound(epsilon=1.0), 4)
    0.7311
    >>> round(dp.audit.recovery_bound(rho=0.5), 4)
    0.7395
    """
    loss = privacy.loss(epsilon, delta, rho)
    if checks.whole("steps", steps, 1) > 1:
        try:
            loss = privacy.group(loss, steps)
        except ArgumentError:  # for so many steps, no delta below 1 is known
            return 1.0
    size = loss.rho if isinstance(loss, ZCDP) else loss.epsilon
    # Randomized response with this epsilon reveals at least as much about bits.
    if isinstance(loss, ZCDP) and size < _MOST:
        size = privacy.pure_within(size)
    rare = math.exp(-float(min(size, _MOST)))
    return min(1.0, (1 + float(loss.delta) * rare) / (1 + rare) * _UP)


def expected_recovery(n: int, *, queries: int, deviation: Number) -> float:
    """Return the expected fraction of bits that `reconstruct` recovers by least squares.

    There are `queries` answers. Each is the number of ones in a random subset of the rows, plus
    normal noise, and the subset contains each row with probability 1/2. The least-squares estimate
    of a bit has the standard deviation ``2 deviation / sqrt(queries - n)``. With probability
    ``Phi(sqrt(queries - n) / (4 deviation))`` it is on the right side of 1/2.

    NOT PRIVATE: this is no statement about privacy. It tells how many noisy answers are enough to
    break an interface that is not private.

    Parameters
    ----------
    n : int
        The number of bits.
    queries : int
        The number of answers, more than n.
    deviation : float
        The standard deviation of the noise of an answer, 0 or more.

    Returns
    -------
    float
        The expected fraction, up to terms that vanish as `n` and `queries` grow.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks its rule.

    Notes
    -----
    Cost: microseconds.

    If a budget of rho pays for all answers, the noise has the standard deviation ``sqrt(queries /
    (2 rho))``. Then the fraction is at most ``Phi(sqrt(rho / 8))``, for any number of queries.

    Examples
    --------
    From 800 sums over 200 bits, with noise of 5, nine of ten bits are expected:

    >>> import dpfast as dp
    >>> round(dp.audit.expected_recovery(200, queries=800, deviation=5.0), 3)
    0.89
    """
    bits = checks.whole("n", n, 1)
    count = checks.whole("queries", queries, bits + 1, 1 << 62)
    sigma = checks.number("deviation", deviation)
    if sigma < 0:
        checks.fail("deviation", "a finite number of at least 0", deviation)
    return NormalDist().cdf(math.sqrt(count - bits) / 4 / sigma) if sigma else 1.0


def exact_epsilon(p: Any, q: Any, *, delta: Number = 0.0) -> float:
    """Return the least epsilon, at a delta, for two known distributions of answers.

    They are the distributions of a mechanism's answers on two neighboring datasets.

    NOT PRIVATE: the result is computed from the two distributions, without data.

    Parameters
    ----------
    p, q : array_like of float, the same shape
        The probability of each answer on the first and on the second of two neighbors. If answers
        are left out, for example far in a tail, the result is a lower bound.
    delta : float, Fraction or Decimal, default 0
        The delta of the loss (epsilon, delta), at least 0 and less than 1.

    Returns
    -------
    float
        The least epsilon that holds in both directions. Infinite if no epsilon is enough.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks its rule.

    See Also
    --------
    exact_rho : The rho of zCDP for two distributions.
    measure : A lower bound from answers, if the distributions are not known.

    Notes
    -----
    Cost: a sort. The result is computed in float64, and is as accurate as the probabilities.

    Among all sets of k answers, the set of the k largest likelihood ratios P / Q shows the largest
    loss (Neyman and Pearson, 1933). So epsilon is the largest ln((P - delta) / Q) of these sets,
    over all k.

    Examples
    --------
    Randomized response has an epsilon of 1, and at a delta of 0.1 a smaller epsilon:

    >>> import math, dpfast as dp
    >>> yes = math.e / (1 + math.e)
    >>> round(dp.audit.exact_epsilon([yes, 1 - yes], [1 - yes, yes]), 9)
    1.0
    >>> dp.audit.exact_epsilon([yes, 1 - yes], [1 - yes, yes], delta=0.1) < 1
    True
    """
    first, second = _distributions(p, q)
    least = checks.number("delta", delta)
    if not 0 <= least < 1:
        checks.fail("delta", "at least 0 and less than 1", delta)
    return max(_directed_epsilon(first, second, least), _directed_epsilon(second, first, least))


def exact_rho(p: Any, q: Any) -> float:
    """Return a lower bound on rho for two known distributions of answers.

    They are the distributions of a mechanism's answers on two neighboring datasets.

    NOT PRIVATE: the result is computed from the two distributions, without data.

    Parameters
    ----------
    p, q : array_like of float, the same shape
        The probability of each answer on the first and on the second of two neighbors. Each array
        adds up to 1, up to an error of 1e-9. The result may be too small by this error.

    Returns
    -------
    float
        The Renyi divergence divided by its order: the largest of both directions and of twelve
        orders from 1 to 64. The rho of zCDP is at least this number.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks its rule.

    See Also
    --------
    exact_epsilon : The epsilon for two distributions, at a delta.

    Notes
    -----
    Cost: some passes over the probabilities. Bun and Steinke, TCC 2016, define rho.

    Examples
    --------
    Two Gaussian distributions, one standard deviation apart, on a grid:

    >>> import numpy as np, dpfast as dp
    >>> z = np.arange(-20, 20, 1 / 16)
    >>> p, q = np.exp(-z * z / 2), np.exp(-((z - 1) ** 2) / 2)
    >>> round(dp.audit.exact_rho(p / p.sum(), q / q.sum()), 6)
    0.5
    """
    first, second = _distributions(p, q, 1 - _ROUNDING)
    return float(max(renyi_rho(first, second), renyi_rho(second, first)))


def _distributions(p: Any, q: Any, least: float = 0.0) -> tuple[Floats, Floats]:
    """Check two distributions, of mass above `least`; drop the answers that neither can have."""
    first, second = _probabilities("p", p, least), _probabilities("q", q, least)
    if first.shape != second.shape:
        checks.fail("q", f"an array of the same shape as p, {first.shape}", second.shape)
    seen = (first > 0) | (second > 0)
    return first[seen], second[seen]


def _probabilities(name: str, probabilities: Any, least: float) -> Floats:
    """Check that probabilities add up to more than `least` and at most 1; return them as floats."""
    rule = "probabilities with a sum of " + ("1" if least else "more than 0 and at most 1")
    values = checks.array(name, probabilities, rule, "biuf").astype(np.float64)
    total = float(values.sum()) if (values >= 0).all() else math.nan
    if not least < total <= 1 + _ROUNDING:
        checks.fail(name, rule, f"a sum of {total:.9g}")
    return values


def _directed_epsilon(p: Floats, q: Floats, delta: float) -> float:
    with np.errstate(divide="ignore"):
        ratio = np.log(p) - np.log(q)
        order = np.argsort(-ratio, kind="stable")
        if delta == 0:  # the set with the largest ratio is a single answer
            return max(0.0, float(ratio.max(initial=0.0)))
        likely, rare = np.cumsum(p[order]) - delta, np.cumsum(q[order])
        above = likely > 2.0**-50  # smaller values may be rounding errors
        losses = np.log(likely[above]) - np.log(rare[above])
    return max(0.0, float(losses.max(initial=0.0)))
