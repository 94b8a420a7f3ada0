"""Calibration of noise to a smooth sensitivity: an admissible (alpha, beta) for each distribution.

`pair` has the theorem, its proof and the choice of beta. Each family of distributions has a module
(`algebraic` has three families). `calibration.finish` rounds towards privacy.
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

# From this epsilon on, Cauchy noise has the smaller median error on evenly spread data. For a
# smaller epsilon, PolyPlace noise has up to 12 % less error. Only for an epsilon from 0.8 to 1.05
# PolyPlace noise has up to 7 % more error; it is used there too, because it has lighter tails.
# Measured by tests/noise/test_smooth.py::test_the_crossovers_of_auto.
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

    Let S be a beta-smooth upper bound of the local sensitivity, and draw Z from the returned
    distribution. Then the release ``value + (S / alpha) * Z`` is epsilon-DP, (epsilon, delta)-DP or
    rho-zCDP, under the neighboring relation of S. The result depends only on public parameters:
    calibrate before you read the data.

    Parameters
    ----------
    noise : str
        For every kind of loss: ``"polyplace"`` (least median error for a small epsilon),
        ``"polyplace-finite-variance"``, ``"cauchy"``, ``"student-t"`` (3 degrees of freedom) and
        ``"generalized-cauchy"`` (density 1/(1+z^4)). They are epsilon-DP, so they do not use a
        delta, and for a rho their epsilon has epsilon tanh(epsilon/2) = rho. Only for (epsilon,
        delta): ``"laplace"`` and ``"gaussian"``. Only for rho: ``"arsinh-normal"``. ``"auto"`` is
        PolyPlace for an epsilon below 4, arsinh-normal for a rho below 4, and Cauchy for more.
    epsilon : real, optional
        At most 500. A float means the decimal that Python prints for it, rounded down.
    delta : real
        0, or from 1e-300 to below 1; only together with `epsilon`.
    rho : real, optional
        At most 500; instead of `epsilon`.

    Returns
    -------
    Calibration

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If a parameter breaks its rule, if the noise is not for this kind of loss, or if the loss is
        too small for this noise.

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
    """Return the calibration of `noise` for a loss, without a delta that the noise does not use."""
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
