"""The average of the block outputs, each clipped to the bounds, plus Laplace or Gaussian noise."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ...noise.additive import Additive, additive
from ...privacy import Loss
from ...rng import Generator
from .lattice import Lattice, check_blocks, check_coordinates, noisy, noisy_vector, outputs, vectors


@dataclass(frozen=True, slots=True)
class Mean:
    """Clipped average.

    Privacy: neighbours differ in one of the `blocks` outputs, replaced. The sum of their cells
    (`lattice`) is an exact integer that such a change moves by at most `span` cells, the range of
    the bounds; noise calibrated to that costs `loss`, by the theorems in `noise.additive`. Dividing
    by the public number of blocks is post-processing. So the noise is that of sensitivity (hi - lo)
    / blocks.

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
        found = self.lattice.total(outputs(z, self.blocks))
        if self.lattice.span == 0:
            return self.lattice.lo
        scale = self.noise.scale(self.lattice.span)
        total = noisy(self.noise.distribution, found, scale, scale, generator)
        return self.lattice.number(total / self.blocks)


@dataclass(frozen=True, slots=True)
class VectorMean:
    """Clipped averages of all coordinates in one joint release.

    Privacy: neighbours differ in one of the `blocks` output vectors, replaced. That may move the
    sum of cells of every coordinate at once, each by at most its own `span`. Noise of scale
    ``unit * span``, `unit` for the number of coordinates that can move, costs `loss` by the
    theorems in `noise.additive`. A coordinate whose bounds are equal cannot move and takes no
    share.

    Each coordinate's share, of d that can move: epsilon / d (Laplace) or rho / d, which is what one
    release a coordinate would have, too. With delta it is better than that: Gaussian noise for an
    l2 sensitivity of sqrt(d) ranges, where that is smaller than Laplace noise for epsilon / d.

    Parameters
    ----------
    blocks : int
        Number of block outputs, public, at least 1.
    bounds : tuple of pairs of float
        Public bounds of each coordinate.
    loss : Pure, Approx or ZCDP
        What the release may cost. Afterwards what it does cost: delta is left out where Laplace
        noise is smaller.
    """

    blocks: int
    bounds: tuple[tuple[float, float], ...]
    loss: Loss
    lattices: tuple[Lattice, ...] = field(init=False)
    noise: Additive = field(init=False)
    joint: ClassVar[bool] = True

    def __post_init__(self) -> None:
        blocks = check_blocks(self.blocks, 1)
        check_coordinates(len(self.bounds))
        lattices = tuple(Lattice(lo, hi, blocks) for lo, hi in self.bounds)
        moving = sum(lattice.span > 0 for lattice in lattices)
        noise = additive(self.loss, max(1, moving))
        object.__setattr__(self, "lattices", lattices)
        object.__setattr__(self, "noise", noise)
        object.__setattr__(self, "loss", noise.loss)

    def release(self, z: NDArray[np.float64], generator: Generator) -> NDArray[np.float64]:
        """The noisy averages of the columns of `z`, shape (blocks, d), within the bounds.

        O(blocks d).
        """
        vectors(z, self.blocks, len(self.lattices))
        found = np.array([lattice.lo for lattice in self.lattices])
        moving = [i for i, lattice in enumerate(self.lattices) if lattice.span > 0]
        if moving:
            totals = [self.lattices[i].total(z[:, i]) for i in moving]
            scales = [self.noise.scale(self.lattices[i].span) for i in moving]
            noisy_totals = noisy_vector(self.noise.distribution, totals, scales, generator)
            for i, total in zip(moving, noisy_totals.tolist(), strict=True):
                found[i] = self.lattices[i].number(total / self.blocks)
        return found
