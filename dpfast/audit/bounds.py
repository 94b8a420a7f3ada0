"""The fraction of secret bits that can be recovered, with and without privacy."""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist

from dpfast import privacy
from dpfast.errors import ArgumentError
from dpfast.extend import Number, checks
from dpfast.privacy import ZCDP, Loss

#: Covers rounding errors of the bound, and what `pure_within` rounds off its epsilon.
_UP = 1 + 2.0**-38
#: Larger losses give the same bound in float64.
_MOST = Fraction(1000)


def recovery_bound(
    *,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    steps: int = 1,
) -> float:
    """Return the largest expected fraction of fair secret bits that can be recovered.

    Let each of n rows hold a bit, a fair coin, and let neighbors differ in one bit. An attacker who
    sees the answers of a private interface, with any method and any other knowledge about the rows,
    even all other bits, guesses a bit right with at most this probability:

    * pure epsilon: ``exp(epsilon) / (1 + exp(epsilon))``;
    * (epsilon, delta): ``(exp(epsilon) + delta) / (1 + exp(epsilon))``;
    * rho: as for the epsilon with ``epsilon tanh(epsilon / 2) = rho``.

    Randomized response of each bit attains the first and the third.

    Parameters
    ----------
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss of all answers together: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    steps : int, default 1
        How many neighboring steps change a bit. One under replace. Under add-remove one if the bit
        says whether a row is there, and two if the bit is part of the row, which is removed and
        added again.

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
    A guess of a fair bit is a test between two neighbors, and is right with probability
    (1 + x - y) / 2, where x and y are the probabilities of "1" on either. Under (epsilon, delta),
    x <= e^epsilon y + delta and 1 - y <= e^epsilon (1 - x) + delta; their sum bounds x - y. Under
    rho, the Kullback-Leibler divergences of x and y, both ways, add up to 2 rho at most. They are
    jointly convex and the same for 1 - y and 1 - x, so they do not grow if x and y are replaced by
    p = (1 + x - y) / 2 and 1 - p, where they add up to 2 (2 p - 1) ln(p / (1 - p)).

    The number of bits recovered under pure privacy is no larger, in distribution, than that of so
    many independent coins with this probability (Steinke, Nasr and Jagielski, NeurIPS 2023), so
    limits of the binomial distribution apply to it. Cost: microseconds.

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
        except ArgumentError:  # no delta below 1 is known
            return 1.0
    rare = math.exp(-float(min(_epsilon(loss), _MOST)))
    return min(1.0, (1 + float(loss.delta) * rare) / (1 + rare) * _UP)


def _epsilon(loss: Loss) -> Fraction:
    """Return an epsilon for which randomized response tells bits apart no worse."""
    if not isinstance(loss, ZCDP):
        return loss.epsilon
    return privacy.pure_within(loss.rho) if loss.rho < _MOST else loss.rho


def expected_recovery(n: int, *, queries: int, deviation: Number) -> float:
    """Return the fraction of bits that least squares recovers from noisy sums over random subsets.

    Each of `queries` answers is the number of ones in a subset, to which every row belongs with
    probability 1/2, and normal noise. The estimate of a bit then has the standard deviation
    ``2 deviation / sqrt(queries - n)``, and is on the right side of 1/2 with the probability
    ``Phi(sqrt(queries - n) / (4 deviation))``.

    NOT PRIVATE, and not about privacy: it says when an interface without privacy is broken.

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
    With the noise of an allocation of rho for all answers, ``sqrt(queries / (2 rho))``, it is never
    more than ``Phi(sqrt(rho / 8))``, however many are asked. Cost: microseconds.

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
