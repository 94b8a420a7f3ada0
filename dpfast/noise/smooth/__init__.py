"""Calibration of noise to smooth sensitivity: an admissible (alpha, beta) for each distribution.

The theorem, its proof and the choice of beta are in `pair`. Families have modules (`algebraic` is
three), and `calibration.finish` rounds towards privacy.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from ... import privacy
from ..._core import checks
from ..._core.types import NoiseName, Number
from . import algebraic, arsinh_normal, gaussian, laplace, polyplace
from .calibration import Calibration, Draft, finish, floats, pure_epsilon

__all__ = ["NOISES", "Calibration", "calibrate"]

# From this epsilon on, Cauchy noise has the smaller median error on evenly spread data. Below it
# PolyPlace noise has up to 12 % less. An exception is epsilon from 0.8 to 1.05: there it has up to
# 7 % more, but lighter tails, and is still chosen. Measured by
# tests/noise/test_smooth.py::test_the_crossovers_of_auto.
CAUCHY_FROM_EPSILON = 4.0
CAUCHY_FROM_RHO = 4.0

_PURE: dict[str, Callable[[float], Draft]] = {
    "polyplace": lambda epsilon: polyplace.polyplace(epsilon, polyplace.MEDIAN_SHARE),
    "polyplace-finite-variance": lambda e: polyplace.polyplace(e, polyplace.VARIANCE_SHARE),
    "cauchy": algebraic.cauchy.draft,
    "student-t": algebraic.student_t().draft,
    "generalized-cauchy": algebraic.generalized_cauchy().draft,
}
_APPROXIMATE: dict[str, Callable[[float, float], Draft]] = {
    "laplace": laplace.laplace,
    "gaussian": gaussian.gaussian,
}
_CONCENTRATED: dict[str, Callable[[float], Draft]] = {
    "arsinh-normal": arsinh_normal.arsinh_normal,
}

NOISES: tuple[str, ...] = ("auto", *_PURE, *_APPROXIMATE, *_CONCENTRATED)


def calibrate(
    noise: NoiseName,
    *,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
) -> Calibration:
    """Calibrate noise to a smooth sensitivity: an admissible (alpha, beta) and a distribution.

    If S is a beta-smooth upper bound of the local sensitivity under some neighboring relation,
    the release ``value + (S / alpha) * Z`` with Z from the distribution returned is epsilon-DP,
    (epsilon, delta)-DP or rho-zCDP under that relation. The result depends on public parameters
    only: calibrate once, before looking at the data.

    Parameters
    ----------
    noise : str
        Pure distributions, exact: ``"polyplace"`` (least median error for a small epsilon),
        ``"polyplace-finite-variance"``, ``"cauchy"``, ``"student-t"`` (3 degrees of freedom),
        ``"generalized-cauchy"`` (density 1/(1+z^4)). They are suitable for every kind of budget:
        delta is left unspent, and rho is spent as the epsilon with epsilon tanh(epsilon/2) = rho.
        For (epsilon, delta): ``"laplace"``, ``"gaussian"``. For rho: ``"arsinh-normal"``.
        ``"auto"``: PolyPlace for epsilon below 4 and arsinh-normal for rho below 4, Cauchy from
        there on.
    epsilon : real, optional
        At most 500. A float is read as the decimal it prints as, and rounded down.
    delta : real
        0, or from 1e-300 to below 1; only with epsilon.
    rho : real, optional
        At most 500; instead of epsilon.

    Returns
    -------
    Calibration

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If a parameter breaks its rule, the noise is not for this kind of budget, or the budget
        is too small for any smoothing.

    Notes
    -----
    Cost: under a microsecond for arguments seen before, otherwise 0.1 to 15 milliseconds.

    References
    ----------
    Nissim, Raskhodnikova and Smith, "Smooth sensitivity and sampling in private data analysis",
    STOC 2007. Bun and Steinke, "Average-case averages: private algorithms for smooth sensitivity
    and mean estimation", NeurIPS 2019. Hladik and Tetek, FORC 2025, arXiv 2407.05067. The exact
    constants are proved in the modules of this package.

    Examples
    --------
    >>> from dpfast.noise.smooth import calibrate
    >>> c = calibrate("cauchy", epsilon=1)
    >>> c.distribution, round(c.alpha, 4), round(c.beta, 4)
    (Cauchy(), 1.0422, 0.7353)
    """
    try:
        hash((noise, epsilon, delta, rho))
    except Exception:  # an object may raise any error here
        return _calibrate.__wrapped__(noise, epsilon, delta, rho)
    return _calibrate(noise, epsilon, delta, rho)


def calibrate_loss(noise: NoiseName, loss: privacy.Loss) -> Calibration:
    """Return the calibration of `noise` for a loss; its `loss` omits a delta it cannot use."""
    if isinstance(loss, privacy.ZCDP):
        return calibrate(noise, rho=loss.rho)
    delta = loss.delta if isinstance(loss, privacy.Approx) else 0
    return calibrate(noise, epsilon=loss.epsilon, delta=delta)


@lru_cache(maxsize=1024, typed=True)
def _calibrate(noise: Any, epsilon: Any, delta: Any, rho: Any) -> Calibration:
    name = checks.choice("noise", noise, NOISES)
    loss = privacy.loss(epsilon, delta, rho)
    amounts = floats(loss)
    if name == "auto":
        name = _auto(amounts)
    if name in _PURE and isinstance(loss, privacy.Approx):
        loss = privacy.Pure(loss.epsilon)
    return finish(name, _draft(name, amounts), loss)


def _auto(amounts: dict[str, float]) -> str:
    if "rho" in amounts:
        return "arsinh-normal" if amounts["rho"] < CAUCHY_FROM_RHO else "cauchy"
    return "polyplace" if amounts["epsilon"] < CAUCHY_FROM_EPSILON else "cauchy"


def _draft(name: str, amounts: dict[str, float]) -> Draft:
    if name in _PURE:
        return _PURE[name](pure_epsilon(amounts["rho"]) if "rho" in amounts else amounts["epsilon"])
    if name in _APPROXIMATE:
        if "delta" not in amounts:
            checks.fail("delta", f"greater than 0, together with epsilon, for noise={name!r}", 0.0)
        return _APPROXIMATE[name](amounts["epsilon"], amounts["delta"])
    if "rho" not in amounts:
        checks.fail("rho", f"given instead of epsilon for noise={name!r}", None)
    return _CONCENTRATED[name](amounts["rho"])
