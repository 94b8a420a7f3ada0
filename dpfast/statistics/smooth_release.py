"""Release a value that the caller computed, with noise scaled to the caller's smooth bound."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

from .._core import checks
from .._core.types import Bounds, Neighbors, NoiseName, Number
from ..budget.budget import Budget
from ..budget.release import Prepared, relation_of_proof, releases
from ..errors import DataError
from ..noise.smooth import calibrate
from ..rng import Generator
from ..sensitivity.rounding import rounded_up
from .quantiles.smooth import Smooth


@dataclass(frozen=True, slots=True)
class _SmoothRelease(Smooth):
    name: ClassVar[str] = "smooth release"

    def reduce(self, source: tuple[Any, Any]) -> tuple[float, float]:
        """Return the caller's value, clamped to the bounds, and the caller's smooth bound."""
        value, bound = source
        bound = checks.real(bound(self.calibration.beta) if callable(bound) else bound)
        number = checks.real(value)
        if number is None or math.isnan(number):
            _refuse("value", "a number, not NaN")
        if bound is None or not bound >= 0:
            _refuse("smooth_sensitivity", "a number of at least 0")
        # The clipped value changes by no more than the bound, and by no more than the range. The
        # smaller of a smooth bound and a constant is smooth, and so is the larger of both.
        widest = rounded_up(self.hi - self.lo)
        return min(max(number, self.lo), self.hi), max(min(bound, widest), self.grid)


def _refuse(name: str, rule: str) -> NoReturn:
    raise DataError(f"{name} must be {rule}; its value is not shown")


def smooth_beta(
    *,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    noise: NoiseName = "auto",
) -> float:
    """Return the largest `beta` for which noise scaled to a smooth bound satisfies the loss.

    Parameters
    ----------
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss, as for `smooth_release`.
    noise : str, default "auto"
        The noise distribution, as for `smooth_release`.

    Returns
    -------
    float
        The `beta` to compute the bound with: a public number.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument.

    Notes
    -----
    Cost: some milliseconds for a new loss.

    Examples
    --------
    >>> import dpfast as dp
    >>> round(dp.smooth_beta(epsilon=1.0, noise="cauchy"), 4)
    0.7353
    """
    return calibrate(noise, epsilon=epsilon, delta=delta, rho=rho).beta


@releases
def smooth_release(
    value: Number,
    smooth_sensitivity: Number | Callable[[float], Number],
    *,
    bounds: Bounds,
    beta: Number | None = None,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    noise: NoiseName = "auto",
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> Prepared[float]:
    """Release a value that you computed, with noise scaled to its smooth sensitivity.

    Use it for a statistic that dpfast has no function for. The smooth sensitivity may come from
    `dpfast.sensitivity.smooth`, or from a proof of yours.

    Privacy
    -------
    Let f(x) be the value and S(x) the bound for data x, both as the float64 numbers that are
    passed. The call satisfies the requested loss if you have proved, for all neighbors x and x',
    that

    1. ``abs(f(x) - f(x'))`` is at most S(x), and
    2. S(x) is at most ``exp(beta) S(x')``, up to a rounding factor of ``1 + 2**-41``,

    for the `beta` that is passed, or with which `smooth_sensitivity` is called. dpfast cannot check
    this. The answer is ``f + (S / alpha) Z``, where Z has an admissible distribution (Nissim,
    Raskhodnikova and Smith, STOC 2007), correctly rounded to a public grid and clamped to `bounds`.
    Neighbors are the pairs of datasets for which the two properties hold. Neither f nor S may be
    revealed in any other way.

    Parameters
    ----------
    value : float
        The statistic of the data, which is clamped to `bounds`.
    smooth_sensitivity : float or callable
        The bound S: a number of at least 0, which needs a `beta`, or a function that returns the
        bound for a beta. The function is called once, after the spend.
    bounds : (float, float)
        Public limits of the answer, in its units. They must not come from the data. They determine
        the grid, and noise is never scaled to more than their distance.
    beta : float, optional
        The smoothness of a bound that is given as a number: at most ``dp.smooth_beta(...)`` for the
        same loss and noise. The noise is least if the two are equal.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    neighbors : {"add-remove", "replace"}, optional
        The relation for which the loss is proved: by default "add-remove"; in a budget for
        "replace" it must be given. The bound has to hold for this relation: for example
        "add-remove" if neighbors are graphs that differ in one edge, and "replace" if they differ
        in the weight of an edge.
    noise : str, default "auto"
        As in `dpfast.quantile`.
    budget : Budget, optional
        The budget that pays, before rows are read or random bits are drawn; by default the budget
        of the ``with`` block.
    rng : Generator, optional
        The source of random bits, by default the secure one. `InsecureGenerator` is for tests; a
        budget refuses it.

    Returns
    -------
    float
        The private value, within `bounds`, on a public grid of about ``2**-40`` of their distance.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument; nothing has been spent. No message shows the value or the bound.
    BudgetError
        If the budget has too little left; nothing has been spent.
    DataError
        If the value or the bound is NaN or not a number, such as None, or if the bound is negative.
        This depends on the data, so the spent budget is not refunded, also if `smooth_sensitivity`
        raises an exception.

    Notes
    -----
    Cost: one noise sample.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> i, j = np.indices((200, 200))
    >>> graph = (i * j % 5 == 1) & (i != j)
    >>> triangles = np.trace(np.linalg.matrix_power(graph.astype(float), 3)) / 6
    >>> found = dp.smooth_release(
    ...     triangles,
    ...     lambda beta: dp.sensitivity.smooth(dp.sensitivity.Triangles(), graph, beta=beta),
    ...     bounds=(0, 1_313_400), epsilon=2.0, delta=1e-9, noise="laplace")
    >>> bool(abs(found - triangles) < 5000)
    True
    """
    lo, hi = checks.bounds(bounds)
    relation = relation_of_proof(neighbors, budget)
    calibration = calibrate(noise, epsilon=epsilon, delta=delta, rho=rho)
    if callable(smooth_sensitivity):
        if beta is not None:
            checks.fail("beta", "left out if smooth_sensitivity is a function of it", beta)
    else:
        if beta is None:
            checks.fail("beta", "given, unless smooth_sensitivity is a function of it", beta)
        if not checks.positive("beta", beta) <= calibration.beta:
            rule = f"at most {calibration.beta!r} for this loss and noise"
            checks.fail("beta", rule, beta)
    mechanism = _SmoothRelease(lo, hi, relation, calibration)
    return Prepared(mechanism, (value, smooth_sensitivity), budget, rng)
