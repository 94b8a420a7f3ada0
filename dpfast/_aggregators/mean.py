"""The average of the block outputs, each clipped to the bounds, plus Laplace or Gaussian noise."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..privacy import Loss
from ..rng import Generator
from ._additive import Additive, additive
from ._lattice import Lattice, check_blocks, noisy, outputs

__all__ = ["Mean"]


@dataclass(frozen=True, slots=True)
class Mean:
    """Clipped average.

    Privacy: neighbours differ in one of the `blocks` outputs, replaced. The sum of their cells
    (`_lattice`) is an exact integer that such a change moves by at most `span` cells, the range of
    the bounds; noise calibrated to that costs `loss`, by the theorems in `_additive`. Dividing by
    the public number of blocks is post-processing. So the noise is that of sensitivity
    (hi - lo) / blocks.

    Parameters
    ----------
    blocks : int
        Number of block outputs, public, at least 1.
    lo, hi : float
        Public bounds, in the units of the outputs.
    loss : Pure, Approx or ZCDP
        What the release may cost. Afterwards what it does cost: delta is left out where Laplace
        noise, which has no use for it, is smaller than Gaussian noise.
    """

    blocks: int
    lo: float
    hi: float
    loss: Loss
    lattice: Lattice = field(init=False)
    noise: Additive = field(init=False)

    def __post_init__(self) -> None:
        blocks = check_blocks(self.blocks, 1)
        noise = additive(self.loss)
        object.__setattr__(self, "lattice", Lattice(self.lo, self.hi, blocks))
        object.__setattr__(self, "noise", noise)
        object.__setattr__(self, "loss", noise.loss)

    def release(self, z: NDArray[np.float64], generator: Generator) -> float:
        """The noisy average of `z`, within the bounds; O(blocks)."""
        cells = self.lattice.cells(outputs(z, self.blocks))
        if self.lattice.span == 0:
            return self.lattice.lo
        scale = self.noise.scale(self.lattice.span)
        total = noisy(self.noise.law, int(cells.sum()), scale, scale, generator)
        return self.lattice.number(total / self.blocks)
