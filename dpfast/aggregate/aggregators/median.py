"""The median of the block outputs: by smooth sensitivity, and by the exponential mechanism."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..._core import checks
from ...noise.additive import amount, without_delta
from ...privacy import Loss
from ...rng import Generator
from ...sources import as_source
from ...statistics.quantiles.exponential import ExponentialQuantile
from ...statistics.quantiles.smooth import SmoothQuantile, smooth_quantile
from .lattice import check_blocks, outputs
from .smooth import calibration

_HALF = Fraction(1, 2)


@dataclass(frozen=True, slots=True)
class SmoothMedian:
    """The lower median plus noise scaled to its smooth sensitivity.

    Privacy: neighbours differ in one of the `blocks` outputs, replaced. The bound is the exact
    smooth sensitivity of an order statistic (Nissim, Raskhodnikova and Smith, STOC 2007), the noise
    that of `noise.smooth.calibrate` beside it, all as in `dpfast.median`. The bounds may be wide:
    they enter through ``(hi - lo) e^(-beta blocks / 2)`` only.

    Parameters
    ----------
    blocks : int
        Number of block outputs, public, at least 1.
    lo, hi : float
        Public bounds.
    loss : Pure, Approx or ZCDP
        What the release may cost; afterwards what it does cost, without a delta left unspent.
    noise : str
        A name that `noise.smooth.calibrate` knows.
    """

    blocks: int
    lo: float
    hi: float
    loss: Loss
    noise: str = "auto"
    quantile: SmoothQuantile = field(init=False)

    def __post_init__(self) -> None:
        check_blocks(self.blocks, 1)
        found = calibration(self.noise, self.loss)
        bounds = checks.bounds((self.lo, self.hi))
        quantile = smooth_quantile(_HALF, bounds, found, "replace", "raise", False)
        object.__setattr__(self, "quantile", quantile)
        object.__setattr__(self, "loss", found.loss)

    def release(self, z: NDArray[np.float64], generator: Generator) -> float:
        """The noisy median of `z`, within the bounds; O(blocks)."""
        source = as_source(outputs(z, self.blocks))
        return self.quantile.finish(self.quantile.reduce(source), generator)


@dataclass(frozen=True, slots=True)
class ExponentialMedian:
    """A cell of a public grid, more probable the nearer its ranks are to the middle.

    Privacy: neighbours differ in one of the `blocks` outputs, replaced. That moves the utility of a
    cell, minus the distance of its ranks from half the blocks, by at most 1; probabilities
    proportional to ``exp(epsilon utility / 2)`` are epsilon-DP (McSherry and Talwar, FOCS 2007),
    of bounded range moreover (Cesar and Rogers, ALT 2021). See `dpfast.intervals`.

    Parameters
    ----------
    blocks : int
        Number of block outputs, public, at least 1.
    lo, hi : float
        Public bounds.
    loss : Pure, Approx or ZCDP
        What the release may cost; afterwards without delta, for which there is no use.
    """

    blocks: int
    lo: float
    hi: float
    loss: Loss
    quantile: ExponentialQuantile = field(init=False)

    def __post_init__(self) -> None:
        check_blocks(self.blocks, 1)
        amount(self.loss)
        loss = without_delta(self.loss)
        lo, hi = checks.bounds((self.lo, self.hi))
        quantile = ExponentialQuantile(_HALF, lo, hi, "replace", "raise", loss)
        object.__setattr__(self, "quantile", quantile)
        object.__setattr__(self, "loss", quantile.loss)

    def release(self, z: NDArray[np.float64], generator: Generator) -> float:
        """A private median of `z`, within the bounds; O(blocks)."""
        source = as_source(outputs(z, self.blocks))
        return self.quantile.finish(self.quantile.reduce(source), generator)
