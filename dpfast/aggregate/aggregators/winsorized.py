"""The widened winsorized mean (Smith, STOC 2011), with what it spends added up anew.

Two private quartiles a, b of the block outputs give a window: their midpoint, plus and minus
`widening` times their distance. The average of the outputs clipped to the window is released with
noise of the window's width over the number of blocks.

As it is mostly written, with epsilon / 4 a quartile and Laplace noise of scale
``width / (2 epsilon blocks)``, it spends 3 epsilon: an output that is *replaced* moves the rank
utility of a point by 1, and the normaliser against it, so probabilities ``exp(-(epsilon/4) u)``
cost epsilon / 2 a quartile; and the average moves by width / blocks, which costs 2 epsilon.
`tests/aggregate/test_aggregators.py` finds neighbours and an outcome for which that is so. Here the
quartiles use half the exponent, and the noise is twice or four times as much, by the split.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core import checks
from ...noise.additive import Additive, additive, amount
from ...privacy import ZCDP, Approx, Loss, Pure
from ...rng import Generator
from ...sources import as_source
from ...statistics.quantiles.exponential import ExponentialQuantile
from .lattice import Lattice, check_blocks, noisy, outputs


def smith_widening(blocks: int) -> float:
    """``4 blocks**(1/3 + 1/10)``, for which Smith proves that asymptotic normality is kept."""
    return 4.0 * math.pow(blocks, 1 / 3 + 1 / 10)


@dataclass(frozen=True, slots=True)
class WidenedWinsorizedMean:
    """The average inside a private window.

    Privacy: neighbours differ in one of the `blocks` outputs, replaced. Each quartile is a draw of
    the exponential mechanism that spends the share `quartile_share` of the loss
    (`dpfast.intervals`). Given the quartiles the window is a constant, and the clipped sum, an
    exact integer, moves by at most its width: noise as in `Mean` for what is left of the loss. By
    adaptive composition the loss is 2 quartiles and the rest: epsilon = 2 epsilon_q + epsilon_r,
    or rho = 2 rho_q + rho_r, and all of delta for the rest.

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

    blocks: int
    lo: float
    hi: float
    loss: Loss
    widening: float = 5.0
    quartile_share: Any = Fraction(1, 4)
    lattice: Lattice = field(init=False)
    quartiles: tuple[ExponentialQuantile, ExponentialQuantile] = field(init=False)
    noise: Additive = field(init=False)

    def __post_init__(self) -> None:
        blocks = check_blocks(self.blocks, 1)
        checks.positive("widening", self.widening)
        share = checks.fraction("quartile_share", self.quartile_share)
        if not 0 < share < Fraction(1, 2):
            checks.fail("quartile_share", "more than 0 and less than 1/2", self.quartile_share)
        size = amount(self.loss)
        rest = (1 - 2 * share) * size
        quartile: Pure | ZCDP
        if isinstance(self.loss, ZCDP):
            quartile, noise = ZCDP(share * size), additive(ZCDP(rest))
        elif isinstance(self.loss, Approx):
            quartile, noise = Pure(share * size), additive(Approx(rest, self.loss.delta))
            if isinstance(noise.loss, Pure):
                object.__setattr__(self, "loss", Pure(size))
        else:
            quartile, noise = Pure(share * size), additive(Pure(rest))
        lattice = Lattice(self.lo, self.hi, blocks)
        lower, upper = (
            ExponentialQuantile(q, lattice.lo, lattice.hi, "replace", "raise", quartile)
            for q in (Fraction(1, 4), Fraction(3, 4))
        )
        object.__setattr__(self, "quartile_share", share)
        object.__setattr__(self, "lattice", lattice)
        object.__setattr__(self, "quartiles", (lower, upper))
        object.__setattr__(self, "noise", noise)

    def window(self, a: float, b: float) -> tuple[int, int]:
        """The cells to clip to, from the quartiles that were drawn. Post-processing."""
        middle, reach = 0.5 * a + 0.5 * b, self.widening * abs(b - a)
        return self.lattice.cell(middle - reach), self.lattice.cell(middle + reach)

    def release(self, z: NDArray[np.float64], generator: Generator) -> float:
        """The noisy winsorized mean of `z`, within the bounds; O(blocks)."""
        source = as_source(outputs(z, self.blocks))
        if self.lattice.span == 0:
            return self.lattice.lo
        a, b = (one.finish(one.reduce(source), generator) for one in self.quartiles)
        low, high = self.window(a, b)
        if low == high:
            return self.lattice.number(low)
        total = self.lattice.total(z, low, high)
        scale = self.noise.scale(high - low)
        return self.lattice.number(
            low + noisy(self.noise.distribution, total, scale, scale, generator) / self.blocks
        )
