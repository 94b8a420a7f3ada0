"""The average of the clipped block outputs, plus noise for the sensitivity of the average."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..._core import checks
from ...noise.additive import Additive, additive
from ...noise.calibrated_integer import IntegerNoise, integer_noise
from ...noise.sensitivity import Sensitivity
from ...privacy import Loss
from ...rng import Generator
from .output_grid import (
    OnGrid,
    OutputGrid,
    check_blocks,
    noisy,
    noisy_vector,
    outputs,
    whole_units,
)

#: A sensitivity in cells that is so large that rounding to the grid does not matter.
_FINE = 1 << 32


def deviation_of(loss: Loss) -> float:
    """Return the standard deviation of the noise that a loss needs for a sensitivity of 1."""
    if _has_stairs(loss):
        return integer_noise(loss, Sensitivity.of_one(_FINE)).deviation / _FINE
    return additive(loss).deviation


def half_width(grid: OutputGrid, noise: Additive | IntegerNoise, failure: float) -> float:
    """Return the half-width of the error bar of a mean of block outputs.

    It includes that outputs are rounded to cells (by at most half a cell), and noise to its units.
    """
    if isinstance(noise, IntegerNoise):
        half: float = noise.half_width(failure)
    else:
        half = noise.half_width(grid.span, failure) + whole_units(noise.scale(grid.span)) / 2
    return (half / grid.blocks + 0.5) * grid.step if grid.span else 0.0


def _has_stairs(loss: Loss) -> bool:
    """Return whether the noise for a loss has a staircase distribution."""
    return integer_noise(loss, Sensitivity.of_one(_FINE)).distribution == "staircase"


@dataclass(frozen=True, slots=True)
class Mean(OnGrid):
    """The average of the clipped block outputs, plus noise.

    Privacy: neighbors differ in one of the `blocks` outputs, which is replaced. The sum of their
    cells (`OutputGrid`) is an exact integer of sensitivity `span`, the range of the bounds in
    cells. Noise that is calibrated to `span` has the loss `loss`, by the theorems in
    `noise.additive`, or for a large epsilon by the proof for staircase noise in `noise.stairs`.
    Dividing by the public number of blocks is post-processing. So the noise of the average is for
    the sensitivity (hi - lo) / blocks.

    Parameters
    ----------
    blocks : int
        The public number of block outputs, at least 1.
    lo, hi : float
        Public bounds, in the units of the outputs.
    loss : Pure, Approx or ZCDP
        The loss that the release may use; afterwards the loss that it does use. That has no delta
        if noise without a delta is smaller than Gaussian noise.
    """

    noise: Additive = field(init=False)
    staircase: IntegerNoise | None = field(init=False)

    def calibrated(self, grid: OutputGrid) -> dict[str, object]:
        noise, staircase = additive(self.loss), None
        if _has_stairs(self.loss) and grid.span > 1:
            staircase = integer_noise(self.loss, Sensitivity.of_one(grid.span), "staircase")
        return {"noise": noise, "staircase": staircase, "loss": (staircase or noise).loss}

    def half_width(self, failure: float) -> float:
        return half_width(self.grid, self.staircase or self.noise, failure)

    def noisy_cell(self, z: NDArray[np.float64], generator: Generator) -> float:
        """Return the noisy average of block outputs in cells; O(blocks)."""
        total = self.grid.total(z)
        if self.staircase is not None:
            return self.staircase.add([total], generator)[0] / self.blocks
        scale = self.noise.scale(self.grid.span)
        return noisy(self.noise.distribution, total, scale, scale, generator) / self.blocks


@dataclass(frozen=True, slots=True)
class VectorMean:
    """The averages of all clipped coordinates of block outputs, with noise in one joint release.

    Privacy: neighbors differ in one of the `blocks` output vectors, which is replaced. This may
    change the sum of cells of every coordinate at once, each by at most its `span`. Noise of scale
    ``unit * span`` costs `loss` by the theorems in `noise.additive`, where `unit` is for the number
    of coordinates that can change. A coordinate with equal bounds cannot change and gets no share.

    Each of the d coordinates that can change has the share epsilon / d (Laplace noise) or rho / d,
    as in separate releases. With delta there is less noise than in separate releases: Gaussian
    noise for an L2 sensitivity of sqrt(d) ranges is used if it is smaller than Laplace noise for
    epsilon / d.

    Parameters
    ----------
    blocks : int
        The public number of block outputs, at least 1.
    bounds : tuple of pairs of float
        Public bounds of each coordinate.
    loss : Pure, Approx or ZCDP
        The loss that the release may use; afterwards the loss that it does use. That has no delta
        if Laplace noise is smaller than Gaussian noise.
    """

    blocks: int
    bounds: tuple[tuple[float, float], ...]
    loss: Loss
    grids: tuple[OutputGrid, ...] = field(init=False)
    noise: Additive = field(init=False)

    def __post_init__(self) -> None:
        blocks = check_blocks(self.blocks)
        grids = tuple(OutputGrid(lo, hi, blocks) for lo, hi in self.bounds)
        noise = additive(self.loss, max(1, sum(grid.span > 0 for grid in grids)))
        checks.assign(self, grids=grids, noise=noise, loss=noise.loss)

    def half_width(self, failure: float) -> list[float]:
        return [half_width(grid, self.noise, failure) for grid in self.grids]

    def release(self, z: NDArray[np.float64], generator: Generator) -> NDArray[np.float64]:
        """Return the noisy averages of the columns of `z`, shape (blocks, d), within the bounds.

        O(blocks d).
        """
        outputs(z, self.blocks, len(self.grids))
        means = np.array([grid.lo for grid in self.grids])
        varying = [(i, grid) for i, grid in enumerate(self.grids) if grid.span > 0]
        if varying:
            totals = [grid.total(z[:, i]) for i, grid in varying]
            scales = [self.noise.scale(grid.span) for _, grid in varying]
            noisy_totals = noisy_vector(self.noise.distribution, totals, scales, generator)
            for (i, grid), total in zip(varying, noisy_totals.tolist(), strict=True):
                means[i] = grid.number(total / self.blocks)
        return means
