"""Bounds without answers: the loss of known distributions, and the recovery that a loss allows."""

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
#: Larger losses count as this one: they give the same bound in float64.
_MOST = Fraction(1000)
#: A bound on the rounding error of a sum of probabilities.
_ROUNDING = 1e-9


def recovery_bound(
    *, epsilon: Number | None = None, delta: Number = 0.0, rho: Number | None = None, steps: int = 1
) -> float:
    """Return the largest expected fraction of fair secret bits that can be recovered.

    Let each of n rows hold a bit, a fair coin, and let neighbors differ in one bit. An attacker who
    sees the answers of a private interface, with any method and any other knowledge about the rows,
    even all other bits, guesses a bit right with at most this probability:

    * pure epsilon: ``exp(epsilon) / (1 + exp(epsilon))``;
    * (epsilon, delta): ``(exp(epsilon) + delta) / (1 + exp(epsilon))``;
    * rho: as for the epsilon with ``epsilon tanh(epsilon / 2) = rho``.

    Randomized response of each bit attains the first and the third bound.

    Parameters
    ----------
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss of all answers together: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    steps : int, default 1
        How many neighboring steps change a bit. It is 1 under replace. Under add-remove it is 1 if
        the bit says whether a row is there, and 2 if the bit is part of the row, which is removed
        and added again.

    Returns
    -------
    float
        Between 1/2 and 1, rounded up.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks its rule.

    Notes
    -----
    A guess of a fair bit is a test between two neighbors, and is right with probability (1 + x - y)
    / 2, where x and y are the probabilities of the guess "1" on either neighbor. Under (epsilon,
    delta), x <= e^epsilon y + delta and 1 - y <= e^epsilon (1 - x) + delta; their sum bounds x - y.
    Under rho, the Kullback-Leibler divergences of x and y, both ways, add up to 2 rho at most. They
    are jointly convex and the same for 1 - y and 1 - x, so they do not grow if x and y are replaced
    by p = (1 + x - y) / 2 and 1 - p, where they add up to 2 (2 p - 1) ln(p / (1 - p)).

    The number of bits recovered under pure privacy is stochastically no larger than the number of
    heads of as many independent coins with this probability (Steinke, Nasr and Jagielski, NeurIPS
    2023), so limits of the binomial distribution apply to it. Cost: microseconds.

    Examples
    --------
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
        except ArgumentError:  # no delta below 1 is known for so many steps
            return 1.0
    size = loss.rho if isinstance(loss, ZCDP) else loss.epsilon
    # Randomized response with this epsilon reveals at least as much about bits.
    if isinstance(loss, ZCDP) and size < _MOST:
        size = privacy.pure_within(size)
    rare = math.exp(-float(min(size, _MOST)))
    return min(1.0, (1 + float(loss.delta) * rare) / (1 + rare) * _UP)


def expected_recovery(n: int, *, queries: int, deviation: Number) -> float:
    """Return the fraction of bits that least squares recovers from noisy sums over random subsets.

    Each of `queries` answers is the number of ones in a random subset, to which each row belongs
    with probability 1/2, plus normal noise. The estimate of a bit then has the standard deviation
    ``2 deviation / sqrt(queries - n)``, and is on the right side of 1/2 with the probability
    ``Phi(sqrt(queries - n) / (4 deviation))``.

    NOT PRIVATE, and no statement about privacy: it says when an interface without privacy can be
    broken.

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
        The expected fraction, up to terms that vanish as both numbers grow.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks its rule.

    Notes
    -----
    With the noise of a budget of rho for all answers, ``sqrt(queries / (2 rho))``, the fraction is
    at most ``Phi(sqrt(rho / 8))`` for any number of queries. Cost: microseconds.

    Examples
    --------
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
    """Return the least epsilon, at a delta, for two distributions over one set of answers.

    NOT PRIVATE: it is computed from two distributions, without data.

    Parameters
    ----------
    p, q : array_like of float, the same shape
        The probability of each answer on the first and on the second of two neighbors. Answers may
        be left out, such as those far in a tail; then the result is a lower bound.
    delta : float, Fraction or Decimal, default 0
        At least 0, and less than 1.

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
    exact_rho : the same in zCDP.
    measure : a bound from answers, where no distribution is known.

    Notes
    -----
    Among sets of k answers, those with the k largest likelihood ratios P / Q show the largest loss
    (Neyman and Pearson, 1933), so epsilon is the largest ln((P - delta) / Q) of these sets.
    Computed in float64: the result is as accurate as the probabilities. Cost: a sort.

    Examples
    --------
    Randomized response, and its smaller epsilon at a delta:

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
    """Return the least rho, at some Renyi orders, for two distributions over one set of answers.

    NOT PRIVATE: it is computed from two distributions, without data.

    Parameters
    ----------
    p, q : array_like of float, the same shape
        The probability of each answer on the first and on the second of two neighbors. The sum of
        each is 1, up to 1e-9; the result may be too small by that much.

    Returns
    -------
    float
        The largest Renyi divergence in either direction divided by its order, of twelve orders from
        1 to 64: a lower bound on the rho of zCDP.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks its rule.

    See Also
    --------
    exact_epsilon : the same for epsilon and delta.

    Notes
    -----
    Bun and Steinke, TCC 2016. Cost: some passes.

    Examples
    --------
    Two Gaussian distributions that are a standard deviation apart, on a grid:

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
        checks.fail("q", f"an array of the shape of p, {first.shape}", second.shape)
    seen = (first > 0) | (second > 0)
    return first[seen], second[seen]


def _probabilities(name: str, probabilities: Any, least: float) -> Floats:
    """Check that probabilities add up to more than `least` and at most 1; return them as floats."""
    rule = "probabilities, which add up to " + ("1" if least else "more than 0, and to 1 at most")
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
