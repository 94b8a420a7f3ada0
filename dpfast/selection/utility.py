"""How good the answer of a selection is: bounds from public numbers, and probabilities."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._core import checks
from .._core.types import Number
from .api import Scores
from .arguments import PERMUTE, candidates_last, log_weights, selection
from .scores import distances
from .scores.distributed import FEW, DistributedScores
from .scores.stored import tilted
from .table import Rows, Table

#: The largest number of candidates for the probabilities of permute-and-flip.
EXACT = 1000

Mechanism: TypeAlias = Literal["exponential", "permute-and-flip"]
Floats: TypeAlias = NDArray[np.float64]


def probabilities(
    scores: Scores,
    *,
    sensitivity: Number,
    epsilon: Number | None = None,
    rho: Number | None = None,
    monotone: bool = False,
    base: ArrayLike | None = None,
    axis: int = -1,
    mechanism: Mechanism = "exponential",
) -> Floats:
    """NOT PRIVATE: return the probability that each candidate is drawn, computed in float64.

    Parameters
    ----------
    scores : array_like of real numbers
        As in `exponential`.
    sensitivity, epsilon, rho, monotone, base, axis
        As in `exponential`; `base` for the exponential mechanism only.
    mechanism : {"exponential", "permute-and-flip"}, default "exponential"
        Permute-and-flip takes at most 1000 candidates.

    Returns
    -------
    ndarray of float64
        The probabilities, in the shape of the scores. They sum to 1 along `axis`.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        As for `exponential` or `permute_and_flip`.

    Notes
    -----
    Cost: O(n) for the exponential mechanism, O(n**2) for permute-and-flip. Probabilities below
    about 1e-308 are returned as 0, although such candidates can be drawn.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.selection.probabilities([0, 1, 2], sensitivity=1, epsilon=2.0).round(3)
    array([0.09 , 0.245, 0.665])
    >>> dp.selection.probabilities([0, 1, 2], sensitivity=1, epsilon=2.0,
    ...                            mechanism="permute-and-flip").round(3)
    array([0.059, 0.176, 0.765])
    """
    terms = sensitivity, epsilon, rho, monotone
    return np.moveaxis(_probabilities(scores, terms, base, axis, mechanism)[0], -1, axis)


def expected_error(
    scores: Scores,
    *,
    sensitivity: Number,
    epsilon: Number | None = None,
    rho: Number | None = None,
    monotone: bool = False,
    base: ArrayLike | None = None,
    axis: int = -1,
    mechanism: Mechanism = "exponential",
) -> float | Floats:
    """NOT PRIVATE: return the mean difference between the best score and the score of the answer.

    Parameters
    ----------
    scores, sensitivity, epsilon, rho, monotone, base, axis, mechanism
        As in `probabilities`.

    Returns
    -------
    float or ndarray of float64
        The mean difference in the unit of the scores; for a table, an array with its shape without
        `axis`. Excluded candidates do not count for the best score.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        As for `probabilities`.

    Notes
    -----
    Cost: as for `probabilities`.

    Examples
    --------
    >>> import dpfast as dp
    >>> round(dp.selection.expected_error([0, 1, 2], sensitivity=1, epsilon=2.0), 3)
    0.425
    """
    terms = sensitivity, epsilon, rho, monotone
    p, below = _probabilities(scores, terms, base, axis, mechanism)
    error: Floats = np.multiply(p, below, out=np.zeros_like(p), where=p > 0).sum(axis=-1)
    return float(error) if error.ndim == 0 else error


def _probabilities(
    scores: Scores, terms: tuple[Any, ...], base: ArrayLike | None, axis: int, mechanism: Mechanism
) -> tuple[Floats, Floats]:
    """Return each candidate's probability and distance below the best score, candidates last."""
    checks.choice("mechanism", mechanism, get_args(Mechanism))
    ranged = mechanism != PERMUTE
    turned = candidates_last(scores, axis)
    if isinstance(turned, DistributedScores):
        checks.fail("scores", f"at most {FEW} scores from Dask or Spark", turned.count)
    plan = selection(mechanism, *terms, "add-remove", 1)
    table = Table(turned.reshape(-1, turned.shape[-1]))
    tilts = None
    if not ranged:
        if base is not None:
            checks.fail("base", "left out, because permute-and-flip has no base measure", base)
        if table.count > EXACT:
            checks.fail("scores", f"at most {EXACT} candidates for permute-and-flip", turned.shape)
    elif base is not None:
        tilts = Table(log_weights(base, turned).reshape(table.array.shape))
    below = distances(Rows(table, plan.c, tilts).best[:, None], table.array)
    weight = tilted(0.0 if tilts is None else tilts.array, plan.c, below)
    p: Floats = np.exp(weight - weight.max(axis=-1, keepdims=True))
    p = p / p.sum(axis=-1, keepdims=True) if ranged else np.array([_flips(row) for row in p])
    return p.reshape(turned.shape), below.reshape(turned.shape)


def _flips(p: Floats) -> Floats:
    """Return the probabilities of permute-and-flip with coins of probability `p`.

    Let each candidate have an independent uniform time instead of a place in a random order.
    Candidate i is the first with heads with probability ``p_i`` times the integral of ``prod_{j !=
    i} (1 - p_j t)`` over [0, 1]. The integrand is a polynomial of degree n - 1, for which a Gauss
    rule of n / 2 points is exact. All terms of the rule are positive, so nothing cancels.
    """
    nodes, weights = np.polynomial.legendre.leggauss(len(p) // 2 + 1)
    log = np.log1p(-np.outer(p, (nodes + 1) / 2))
    others = np.exp(log.sum(axis=0) - log)
    return np.asarray(p * (others @ weights) / 2)


def utility_bound(
    candidates: int,
    *,
    sensitivity: Number,
    epsilon: Number | None = None,
    rho: Number | None = None,
    monotone: bool = False,
    t: Number | None = None,
    beta: Number | None = None,
    optimal: int = 1,
) -> float:
    """Return a bound on how far the score of an exponential mechanism's answer is below the best.

    The bound is ``(2 sensitivity / epsilon) (ln(candidates / optimal) + t)``, and half of that for
    monotone scores. The score of the answer is above the best score minus this bound with a
    probability of at least ``1 - exp(-t)``. The same holds for `permute_and_flip`, whose large
    errors are never more likely. The bound depends only on public numbers, so it may be published.

    Parameters
    ----------
    candidates : int
        The number of candidates.
    sensitivity, epsilon, rho, monotone
        As in `exponential`.
    t : float, optional
        The bound fails with probability at most ``exp(-t)``.
    beta : float, optional
        Instead of `t`: the probability ``exp(-t)`` with which the bound may fail.
    optimal : int, default 1
        How many candidates have the best score; at least 1, and publicly known.

    Returns
    -------
    float
        The bound, in the unit of the scores, rounded up.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument.

    Notes
    -----
    Cost: negligible. McSherry and Talwar, FOCS 2007; for permute-and-flip McKenna and
    Sheldon, NeurIPS 2020.

    Examples
    --------
    >>> import dpfast as dp
    >>> round(dp.selection.utility_bound(4, sensitivity=1, epsilon=0.1, t=3), 2)
    87.73
    """
    count = checks.whole("candidates", candidates, 1)
    ties = checks.whole("optimal", optimal, 1)
    if ties > count:
        checks.fail("optimal", f"at most the number of candidates, {count}", optimal)
    if (t is None) == (beta is None):
        checks.fail("t", "given, or beta instead of it, but not both", t)
    if t is None:
        margin = -math.log(checks.share("beta", beta))
    else:
        margin = checks.number("t", t)
        if margin < 0:
            checks.fail("t", "at least 0", t)
    plan = selection("exponential", sensitivity, epsilon, rho, monotone, "add-remove", 1)
    # log1p keeps the digits if the ratio is near 1. The factor 1 + 2**-44 covers all roundings.
    try:
        spread = math.log1p(float(Fraction(count - ties, ties)))
    except OverflowError:
        spread = math.log(-(-count // ties))  # math.log takes an integer of any length
    return math.nextafter((spread + margin) / plan.c * (1 + 2**-44), math.inf)
