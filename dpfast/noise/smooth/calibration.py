"""Calibrations, and their rounding towards privacy.

`SLACK` is added to beta. A smooth sensitivity S that is computed in floating point may be too large
by a relative 2^-41, so it is only (beta + 2^-41)-smooth. A second 2^-41 covers the division S /
alpha. `MARGIN` is subtracted from alpha. It covers the rounding errors of that division and of
every formula here (each below a relative 1e-12, see the families).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from ... import privacy
from ..._core import checks
from ..additive import MOST, amount
from ..distributions import Distribution
from ..numeric import bisect

SLACK = 2.0**-40
MARGIN = 2.0**-38
_LEAST_BETA = 2.0**-36


class Draft(NamedTuple):
    """An (alpha, beta) that a family proves admissible for `distribution`, before rounding."""

    distribution: Distribution
    alpha: float
    beta: float
    theorem: str


@dataclass(frozen=True, slots=True)
class Calibration:
    """The calibration of noise to a smooth sensitivity.

    Let the computed S(x) be at least the local sensitivity at x, and let S(x) <= e^beta (1 + 2^-41)
    S(x') for all neighbors x, x'. Then the release ``value + (S / alpha) * Z``, with Z from
    `distribution`, has the loss `epsilon` and `delta`, or `rho`, under the neighboring relation of
    S.

    Attributes
    ----------
    distribution : frozen dataclass of `dpfast.noise.distributions`
        The standardized noise Z.
    alpha, beta : float
        The noise has the scale S / alpha, and S is beta-smooth.
    noise : str
        The name of the noise; for "auto", the name of the chosen noise.
    epsilon, delta, rho : float or None
        The loss that is proved, at most the requested one.
    loss : Pure, Approx or ZCDP
        The loss to charge, as exact fractions: the requested loss, without a delta that the
        distribution does not use.
    theorem : str
        The reference of the proof.
    """

    distribution: Distribution
    alpha: float
    beta: float
    noise: str
    epsilon: float | None
    delta: float
    rho: float | None
    loss: privacy.Loss
    theorem: str


def floats(loss: privacy.Loss) -> dict[str, float]:
    """Return the amounts of a loss as floats, rounded down; refuse amounts out of range."""
    amount(loss)  # raises for amounts so small that the rounding of S would matter
    return {name: privacy.float_down(getattr(loss, name)) for name in loss.amounts}


def pure_epsilon(rho: float) -> float:
    """Return the largest epsilon with epsilon tanh(epsilon / 2) <= rho, rounded down.

    An epsilon-DP pair is a post-processing of randomized response. The largest D_a / a of
    randomized response is its Kullback-Leibler divergence, epsilon tanh(epsilon / 2). So epsilon-DP
    gives rho-zCDP.
    """
    most = 1.0 + 2.0 * math.sqrt(rho) + rho  # an upper bound of the root
    allowed = rho * (1.0 - 1e-14)
    return min(bisect(lambda e: e * math.tanh(0.5 * e) <= allowed, 0.0, most, 120)[0], MOST)


def finish(noise: str, draft: Draft, loss: privacy.Loss) -> Calibration:
    """Return the calibration of a drafted (alpha, beta), rounded towards privacy."""
    sizes = floats(loss)
    if not (draft.beta >= _LEAST_BETA and draft.alpha > 0.0):
        name = "rho" if "rho" in sizes else "epsilon"
        checks.fail(
            name, f"larger: no scale of {noise!r} noise satisfies so small a loss", sizes[name]
        )
    return Calibration(
        draft.distribution,
        draft.alpha * (1.0 - MARGIN),
        math.nextafter(draft.beta - SLACK, 0.0),
        noise,
        sizes.get("epsilon"),
        sizes.get("delta", 0.0),
        sizes.get("rho"),
        loss,
        draft.theorem,
    )
