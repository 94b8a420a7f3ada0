"""The widened winsorized mean (Smith, STOC 2011), with a corrected account of its loss.

Two private quartiles a, b of the block outputs give a window: their midpoint, plus and minus
`widening` times their distance. The average of the outputs clipped to the window is released with
noise of the window's width over the number of blocks.

The usual description uses epsilon / 4 for each quartile, and Laplace noise of scale ``width / (2
epsilon blocks)``. It spends 3 epsilon. If an output is *replaced*, the rank utility of a point
changes by 1, and the normalizer may change in the opposite direction. So probabilities
``exp(-(epsilon/4) u)`` cost epsilon / 2 for each quartile. The average changes by width / blocks,
which costs 2 epsilon. `tests/aggregate/test_aggregators.py` finds neighbors and an outcome with
this loss. Here the quartiles use half of the exponent, and the noise is twice or four times as
large, depending on how the loss is split.

The loss is the loss of quartiles and average together, but only the average is released. The effect
of one output on the window is hardly visible in it, so audits of answers find about half of the
loss.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ...noise.additive import Additive, additive, amount
from ...privacy import ZCDP, Approx, Pure, compose
from ...rng import Generator
from ...statistics.quantiles.exponential import ExponentialQuantile
from ...tables import as_source
from .output_grid import OnGrid, OutputGrid, noisy

#: Half of the width of the window, in interquartile ranges. The window clips one of 1,300 normal
#: outputs. A window twice as wide would need twice the noise. With ``4 blocks**(1/3 + 1/10)`` the
#: answer would be asymptotically normal, as Smith proves.
WIDENING = 2.5
#: The part of the loss for each quartile.
SHARE = Fraction(1, 4)


@dataclass(frozen=True, slots=True)
class WidenedWinsorizedMean(OnGrid):
    """The average of block outputs clipped to a private window, plus noise for the window.

    Privacy: neighbors differ in one of the `blocks` outputs, which is replaced. Each quartile is a
    draw of the exponential mechanism that spends `SHARE` of the loss
    (`statistics.quantiles.exponential`). Given the quartiles, the window is a constant, and the
    clipped sum is an exact integer whose sensitivity is the width of the window. It gets noise as
    in `Mean` for the remaining loss. By adaptive composition the losses of two quartiles and of the
    sum add up: epsilon = 2 epsilon_q + epsilon_r, or rho = 2 rho_q + rho_r. All of delta is for the
    sum.

    Parameters
    ----------
    blocks : int
        The public number of block outputs, at least 1.
    lo, hi : float
        Public bounds. They may be wide, because only the logarithm of their width matters.
    loss : Pure, Approx or ZCDP
        The loss that the release may use; afterwards the loss that it does use, without an unused
        delta.
    """

    quartiles: tuple[ExponentialQuantile, ExponentialQuantile] = field(init=False)
    noise: Additive = field(init=False)

    def calibrated(self, grid: OutputGrid) -> dict[str, object]:
        size, loss = amount(self.loss), self.loss
        left = (1 - 2 * SHARE) * size
        kind = ZCDP if isinstance(loss, ZCDP) else Pure
        noise = additive(Approx(left, loss.delta) if isinstance(loss, Approx) else kind(left))
        lower, upper = (
            ExponentialQuantile(grid.lo, grid.hi, "replace", "raise", kind(SHARE * size), q=q)
            for q in (Fraction(1, 4), Fraction(3, 4))
        )
        if isinstance(loss, Approx):  # some of the delta may remain unspent
            loss = compose(lower.loss, upper.loss, noise.loss)
        return {"noise": noise, "loss": loss, "quartiles": (lower, upper)}

    def window(self, a: float, b: float) -> tuple[int, int]:
        """Return the window of cells to clip to, from two drawn quartiles. Post-processing."""
        middle, reach = 0.5 * a + 0.5 * b, WIDENING * abs(b - a)
        return self.grid.cell(middle - reach), self.grid.cell(middle + reach)

    def noisy_cell(self, z: NDArray[np.float64], generator: Generator) -> float:
        """Return the noisy average of outputs clipped to a drawn window; O(blocks)."""
        source = as_source(z)
        low, high = self.window(*(q.finish(q.reduce(source), generator) for q in self.quartiles))
        if low == high:
            return low
        scale = self.noise.scale(high - low)
        total = self.grid.total(z, low, high)
        return low + noisy(self.noise.distribution, total, scale, scale, generator) / self.blocks
