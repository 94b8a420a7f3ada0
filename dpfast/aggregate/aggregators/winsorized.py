"""The widened winsorized mean (Smith, STOC 2011), with a corrected account of its loss.

Two private quartiles a, b of the block outputs give a window: their midpoint, plus and minus
`widening` times their distance. The average of the outputs clipped to the window is released with
noise of the window's width over the number of blocks.

As it is mostly written, with epsilon / 4 a quartile and Laplace noise of scale
``width / (2 epsilon blocks)``, it spends 3 epsilon. An output that is *replaced* changes the rank
utility of a point by 1, and the normalizer against it, so probabilities ``exp(-(epsilon/4) u)``
cost epsilon / 2 a quartile; and the average changes by width / blocks, which costs 2 epsilon.
`tests/aggregate/test_aggregators.py` finds neighbors and an outcome for which that is so. Here the
quartiles use half the exponent, and the noise is twice or four times as much, by the split.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..._core import checks
from ..._core.types import Number
from ...noise.additive import Additive, additive, amount
from ...privacy import ZCDP, Approx, Pure
from ...rng import Generator
from ...sources import as_source
from ...statistics.quantiles.exponential import ExponentialQuantile
from .output_grid import Aggregator, OutputGrid, assign, check_blocks, noisy, outputs


def smith_widening(blocks: int) -> float:
    """Return ``4 blocks**(1/3 + 1/10)``, which keeps asymptotic normality, as Smith proves."""
    return 4.0 * math.pow(blocks, 1 / 3 + 1 / 10)


@dataclass(frozen=True, slots=True)
class WidenedWinsorizedMean(Aggregator):
    """The average inside a private window.

    Privacy: neighbors differ in one of the `blocks` outputs, replaced. Each quartile is a draw of
    the exponential mechanism that spends the share `quartile_share` of the loss
    (`statistics.quantiles.exponential`). Given the quartiles the window is a constant, and the
    clipped sum is an exact integer whose sensitivity is the window's width: noise as in `Mean` for
    what is left of the loss. By adaptive composition the loss is 2 quartiles and the rest:
    epsilon = 2 epsilon_q + epsilon_r, or rho = 2 rho_q + rho_r, and all of delta for the rest.

    Parameters
    ----------
    blocks : int
        Number of block outputs, public, at least 1.
    lo, hi : float
        Public bounds. They may be wide: they enter through their logarithm.
    loss : Pure, Approx or ZCDP
        What the release may cost; afterwards what it does cost, without a delta left unspent.
    widening : float
        Half the width of the window, in distances of the quartiles, public, above 0. 5 clips
        hardly any of normal outputs; `smith_widening` is the rule of the theorem.
    quartile_share : float or Fraction
        Part of the loss for each quartile, between 0 and 1/2.
    """

    widening: float = 5.0
    quartile_share: Number = Fraction(1, 4)
    grid: OutputGrid = field(init=False)
    quartiles: tuple[ExponentialQuantile, ExponentialQuantile] = field(init=False)
    noise: Additive = field(init=False)

    def __post_init__(self) -> None:
        blocks = check_blocks(self.blocks, 1)
        checks.positive("widening", self.widening)
        share = checks.fraction("quartile_share", self.quartile_share)
        if not 0 < share < Fraction(1, 2):
            checks.fail("quartile_share", "more than 0 and less than 1/2", self.quartile_share)
        size, loss = amount(self.loss), self.loss
        rest = (1 - 2 * share) * size
        kind = ZCDP if isinstance(loss, ZCDP) else Pure
        quartile: Pure | ZCDP = kind(share * size)
        noise = additive(Approx(rest, loss.delta) if isinstance(loss, Approx) else kind(rest))
        if isinstance(loss, Approx) and isinstance(noise.loss, Pure):
            loss = Pure(size)  # a delta would be left unspent
        grid = OutputGrid(self.lo, self.hi, blocks)
        lower, upper = (
            ExponentialQuantile(q, grid.lo, grid.hi, "replace", "raise", quartile)
            for q in (Fraction(1, 4), Fraction(3, 4))
        )
        quartiles = lower, upper
        assign(self, quartile_share=share, loss=loss, grid=grid, quartiles=quartiles, noise=noise)

    def window(self, a: float, b: float) -> tuple[int, int]:
        """Return the cells to clip to, from the drawn quartiles. Post-processing."""
        middle, reach = 0.5 * a + 0.5 * b, self.widening * abs(b - a)
        return self.grid.cell(middle - reach), self.grid.cell(middle + reach)

    def release(self, z: NDArray[np.float64], generator: Generator) -> float:
        """Return the noisy winsorized mean of `z`, within the bounds; O(blocks)."""
        source = as_source(outputs(z, self.blocks))
        if self.grid.span == 0:
            return self.grid.lo
        a, b = (q.finish(q.reduce(source), generator) for q in self.quartiles)
        low, high = self.window(a, b)
        if low == high:
            return self.grid.number(low)
        total = self.grid.total(z, low, high)
        scale = self.noise.scale(high - low)
        noisy_total = noisy(self.noise.distribution, total, scale, scale, generator)
        return self.grid.number(low + noisy_total / self.blocks)
