"""The median of block outputs, by smooth sensitivity or by the exponential mechanism."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..._core import checks
from ...budget.mechanism import Mechanism
from ...noise.additive import amount, without_delta
from ...noise.smooth import calibrate_loss
from ...rng import Generator
from ...statistics.quantiles.exponential import ExponentialQuantile
from ...statistics.quantiles.smooth import SmoothQuantile
from ...tables import as_source
from .output_grid import Aggregator, check_blocks, outputs

_HALF = Fraction(1, 2)


@dataclass(frozen=True, slots=True)
class _Median(Aggregator):
    """A private median of block outputs, released by a quantile mechanism."""

    quantile: SmoothQuantile | ExponentialQuantile = field(init=False)

    def __post_init__(self) -> None:
        check_blocks(self.blocks)
        quantile = self.mechanism(*checks.bounds((self.lo, self.hi)))
        checks.assign(self, quantile=quantile, loss=quantile.loss)

    @abstractmethod
    def mechanism(self, lo: float, hi: float) -> SmoothQuantile | ExponentialQuantile:
        """Return the quantile mechanism for checked bounds."""

    def release(self, z: NDArray[np.float64], generator: Generator) -> float:
        """Return a private median of the block outputs `z`, within the bounds; O(blocks)."""
        quantile: Mechanism[float] = self.quantile
        return quantile.finish(quantile.reduce(as_source(outputs(z, self.blocks))), generator)


@dataclass(frozen=True, slots=True)
class SmoothMedian(_Median):
    """The lower median of block outputs, plus noise scaled to its smooth sensitivity.

    Privacy: neighbors differ in one of the `blocks` outputs, which is replaced. The noise is scaled
    to the exact smooth sensitivity of an order statistic (Nissim, Raskhodnikova and Smith, STOC
    2007) by `noise.smooth.calibrate`, as in `dpfast.median`. The bounds may be wide, because they
    have an effect through ``(hi - lo) e^(-beta blocks / 2)`` only.

    Parameters
    ----------
    blocks : int
        The public number of block outputs, at least 1.
    lo, hi : float
        Public bounds.
    loss : Pure, Approx or ZCDP
        The loss that the release may use; afterwards the loss that it does use, without an unused
        delta.
    """

    def mechanism(self, lo: float, hi: float) -> SmoothQuantile:
        return SmoothQuantile(lo, hi, "replace", calibrate_loss("auto", self.loss), _HALF)


@dataclass(frozen=True, slots=True)
class ExponentialMedian(_Median):
    """A median drawn from a public grid by the exponential mechanism, likelier near the middle.

    Privacy: neighbors differ in one of the `blocks` outputs, which is replaced. The utility of a
    cell is minus the distance of its ranks from half of the number of blocks. Its sensitivity is 1.
    Probabilities proportional to ``exp(epsilon utility / 2)`` are epsilon-DP (McSherry and Talwar,
    FOCS 2007), and have bounded range (Cesar and Rogers, ALT 2021); see
    `statistics.quantiles.exponential`.

    Parameters
    ----------
    blocks : int
        The public number of block outputs, at least 1.
    lo, hi : float
        Public bounds.
    loss : Pure, Approx or ZCDP
        The loss that the release may use; afterwards without delta, which it does not need.
    """

    def mechanism(self, lo: float, hi: float) -> ExponentialQuantile:
        amount(self.loss)
        return ExponentialQuantile(lo, hi, "replace", "raise", without_delta(self.loss), q=_HALF)
