"""The loss between two distributions whose probabilities are known."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpfast.extend import Number, checks

from .binomial import renyi_rho

#: What a sum of probabilities may be off by.
_ROUNDING = 1e-9

Floats = NDArray[np.float64]


def exact_epsilon(p: Any, q: Any, *, delta: Number = 0.0) -> float:
    """Return the least epsilon, at a delta, of two distributions of the same answers.

    NOT PRIVATE: it is a number about two laws, and sees no data.

    Parameters
    ----------
    p, q : array_like of float, the same shape
        The probability of each answer on either of two neighbors. Answers that are left out, as
        those far out in a tail, count for nothing, and then it is a lower bound.
    delta : float, Fraction or Decimal, default 0
        At least 0, and less than 1.

    Returns
    -------
    float
        It holds both ways. Infinite if no epsilon is enough.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks its rule.

    See Also
    --------
    exact_rho : the same in zCDP.
    measure : a bound from answers, where no law is known.

    Notes
    -----
    The set of the k answers of the largest likelihood ratios P / Q is the most telling one of its
    size (Neyman and Pearson, 1933), so epsilon is the largest ln((P - delta) / Q) of these sets. In
    float64: what it is off by is that of the probabilities. Cost: a sort.

    Examples
    --------
    Randomized response, and what a delta takes off:

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
    return max(_epsilon(first, second, least), _epsilon(second, first, least))


def exact_rho(p: Any, q: Any) -> float:
    """Return the least rho of two distributions of the same answers, over some orders.

    NOT PRIVATE: it is a number about two laws, and sees no data.

    Parameters
    ----------
    p, q : array_like of float, the same shape
        The probability of each answer on either of two neighbors. They add up to 1, up to 1e-9,
        which is also what may be missing from the result.

    Returns
    -------
    float
        The largest Renyi divergence, either way, over its order, of twelve orders from 1 to 64: a
        lower bound of the rho of zCDP.

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
    Two Gaussian laws that are a deviation apart, on a grid:

    >>> import numpy as np, dpfast as dp
    >>> z = np.arange(-20, 20, 1 / 16)
    >>> p, q = np.exp(-z * z / 2), np.exp(-((z - 1) ** 2) / 2)
    >>> round(dp.audit.exact_rho(p / p.sum(), q / q.sum()), 6)
    0.5
    """
    first, second = _distributions(p, q, 1 - _ROUNDING)
    return float(max(renyi_rho(first, second), renyi_rho(second, first)))


def _distributions(p: Any, q: Any, least: float = 0.0) -> tuple[Floats, Floats]:
    """Return two distributions of mass above `least`, without answers that neither has."""
    first, second = _probabilities("p", p, least), _probabilities("q", q, least)
    if first.shape != second.shape:
        checks.fail("q", f"of the shape of p, {first.shape}", second.shape)
    seen = (first > 0) | (second > 0)
    return first[seen], second[seen]


def _probabilities(name: str, probabilities: Any, least: float) -> Floats:
    """Return probabilities as floats."""
    rule = "probabilities, which add up to " + ("1" if least else "more than 0, and to 1 at most")
    values = checks.array(name, probabilities, rule, "biuf").astype(np.float64)
    total = float(values.sum()) if (values >= 0).all() else math.nan
    if not least < total <= 1 + _ROUNDING:
        checks.fail(name, rule, f"a sum of {total:.9g}")
    return values


def _epsilon(p: Floats, q: Floats, delta: float) -> float:
    with np.errstate(divide="ignore"):
        ratio = np.log(p) - np.log(q)
        order = np.argsort(-ratio, kind="stable")
        if delta == 0:  # a single answer is the most telling set
            return max(0.0, float(ratio.max(initial=0.0)))
        likely, rare = np.cumsum(p[order]) - delta, np.cumsum(q[order])
        above = likely > 2.0**-50  # less may be nothing but rounding
        losses = np.log(likely[above]) - np.log(rare[above])
    return max(0.0, float(losses.max(initial=0.0)))
