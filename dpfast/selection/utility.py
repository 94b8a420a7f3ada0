"""What to expect of a selection: bounds from public numbers, and exact probabilities."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from . import pmf
from .arguments import candidates_last, log_weights, selection
from .scores.based import tilted
from .scores.numbers import distances
from .table import Rows, Table

#: Candidates of which permute-and-flip's probabilities are worked out.
EXACT = 1000


def probabilities(
    scores: Any,
    *,
    sensitivity: Any,
    epsilon: Any = None,
    rho: Any = None,
    monotone: bool = False,
    base: Any = None,
    axis: int = -1,
    mechanism: str = "exponential",
) -> NDArray[np.float64]:
    """NOT PRIVATE: the probability of each candidate, worked out in float64.

    Parameters
    ----------
    scores : array_like of real numbers
        As in `exponential`.
    sensitivity, epsilon, rho, monotone, base, axis
        As in `exponential`; `base` for the exponential mechanism only.
    mechanism : {"exponential", "permute-and-flip"}, default "exponential"
        Permute-and-flip for at most 1000 candidates.

    Returns
    -------
    ndarray of float64
        In the shape of the scores; the sums along `axis` are 1.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        As the mechanism itself.

    Notes
    -----
    Cost: O(n) for the exponential mechanism, O(n**2) for permute-and-flip. Probabilities below
    about 1e-308 are given as 0; the draws know better.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.selection.probabilities([0, 1, 2], sensitivity=1, epsilon=2.0).round(3)
    array([0.09 , 0.245, 0.665])
    >>> dp.selection.probabilities([0, 1, 2], sensitivity=1, epsilon=2.0,
    ...                            mechanism="permute-and-flip").round(3)
    array([0.059, 0.176, 0.765])
    """
    found, _ = _worked_out(scores, sensitivity, epsilon, rho, monotone, base, axis, mechanism)
    return np.moveaxis(found, -1, axis)


def expected_error(
    scores: Any,
    *,
    sensitivity: Any,
    epsilon: Any = None,
    rho: Any = None,
    monotone: bool = False,
    base: Any = None,
    axis: int = -1,
    mechanism: str = "exponential",
) -> Any:
    """NOT PRIVATE: by how much the score of the answer falls short of the best, on average.

    Parameters
    ----------
    scores, sensitivity, epsilon, rho, monotone, base, axis, mechanism
        As in `probabilities`.

    Returns
    -------
    float or ndarray of float64
        In the unit of the scores; an array of their shape without `axis` for a table. The best is
        the best among candidates that are not excluded.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        As `probabilities`.

    Notes
    -----
    Cost: that of `probabilities`.

    Examples
    --------
    >>> import dpfast as dp
    >>> round(dp.selection.expected_error([0, 1, 2], sensitivity=1, epsilon=2.0), 3)
    0.425
    """
    found, below = _worked_out(scores, sensitivity, epsilon, rho, monotone, base, axis, mechanism)
    error = np.multiply(found, below, out=np.zeros_like(found), where=found > 0).sum(axis=-1)
    return float(error) if error.ndim == 0 else error


def _worked_out(
    scores: Any,
    sensitivity: Any,
    epsilon: Any,
    rho: Any,
    monotone: Any,
    base: Any,
    axis: Any,
    mechanism: Any,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Probabilities, and how far each score is below the best; candidates last."""
    checks.choice("mechanism", mechanism, ("exponential", "permute-and-flip"))
    ranged = mechanism == "exponential"
    moved = candidates_last(scores, axis)
    plan = selection(mechanism, ranged, sensitivity, epsilon, rho, monotone, None, 1, 1)
    table = Table(moved.reshape(-1, moved.shape[-1]))
    tilts = None
    if not ranged:
        if base is not None:
            checks.fail("base", "left out: permute-and-flip has none", base)
        if table.count > EXACT:
            checks.fail("scores", f"at most {EXACT} candidates for permute-and-flip", moved.shape)
    elif base is not None:
        tilts = Table(log_weights(base, moved).reshape(table.array.shape))
    below = distances(Rows(table, plan.c, tilts).best[:, None], table.array)
    weight = tilted(0.0 if tilts is None else tilts.array, plan.c, below)
    if ranged:
        found = pmf.exponential(weight)
    else:
        found = np.array([pmf.permute_and_flip(row) for row in weight])
    return found.reshape(moved.shape), below.reshape(moved.shape)


def utility_bound(
    candidates: int,
    *,
    sensitivity: Any,
    epsilon: Any = None,
    rho: Any = None,
    monotone: bool = False,
    t: Any = None,
    beta: Any = None,
    optimal: int = 1,
) -> float:
    """How far below the best score the exponential mechanism may answer, whatever the data.

    With probability at least ``1 - exp(-t)`` the score of the answer is above ``best - gap`` for
    ``gap = (2 sensitivity / epsilon) (ln(candidates / optimal) + t)``, half of that for monotone
    scores. The same holds for `permute_and_flip`, whose error is nowhere likelier to
    be large. It speaks of public numbers only, so it may be published.

    Parameters
    ----------
    candidates : int
        Their number.
    sensitivity, epsilon, rho, monotone
        As in `exponential`.
    t : float, optional
        The bound fails with probability at most ``exp(-t)``.
    beta : float, optional
        That probability itself, instead of `t`.
    optimal : int, default 1
        How many candidates are known to share the best score.

    Returns
    -------
    float
        The gap, in the unit of the scores, rounded up.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument.

    Notes
    -----
    Cost: none to speak of. McSherry and Talwar, FOCS 2007; for permute-and-flip McKenna and
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
        checks.fail("t", "given, or beta instead", t)
    if t is None:
        chance = checks.positive("beta", beta)
        if chance >= 1:
            checks.fail("beta", "less than 1", beta)
        margin = -math.log(chance)
    else:
        margin = checks.number("t", t)
        if margin < 0:
            checks.fail("t", "at least 0", t)
    plan = selection("exponential", True, sensitivity, epsilon, rho, monotone, None, 1, 1)
    # ln of a ratio near 1 would lose its digits; a relative 2**-44 covers all the roundings.
    try:
        spread = math.log1p(float(Fraction(count - ties, ties)))
    except OverflowError:
        spread = math.log(-(-count // ties))  # of an integer of any length
    return math.nextafter((spread + margin) / plan.c * (1 + 2**-44), math.inf)
