"""The common part of aggregators with noise scaled to a smooth sensitivity."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..._core.types import NoiseName
from ...noise.smooth import Calibration, calibrate_loss
from ...rng import Generator
from .output_grid import Aggregator, OutputGrid, assign, check_blocks, noisy, outputs

#: Covers the rounding of exp, of its argument (at most 64 here) and of the product: 2**-45 or less.
INFLATION = 1.0 + 2.0**-42


def sorted_cells(grid: OutputGrid, z: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return ascending cells x_1 .. x_k at places 1 .. k, between x_0 = 0 and x_(k+1) = span."""
    x = np.empty(len(z) + 2, np.int64)
    x[0], x[-1] = 0, grid.span
    inside = x[1:-1]
    grid.cells(z, out=inside)
    inside.sort()
    return x


def smooth_span(at: Callable[[int], int], steps: int, most: int, beta: float) -> float:
    """Return the largest of 1 and ``at(t) e^(-beta t)``, t = 0 .. steps - 1, rounded up.

    Every ``at(t)`` is an integer of at most `most`. The result is at least the exact number and
    exceeds it by a factor below 1 + 2**-41, as `noise.smooth` asks. The floor of 1 unit is public,
    so it keeps smoothness. `at` is not called for steps that cannot win.
    """
    best = 1.0
    for t in range(steps):
        weight = math.exp(-beta * t)
        if most * weight <= best:
            break
        best = max(best, at(t) * weight)
    return math.nextafter(best * INFLATION, math.inf)


@dataclass(frozen=True, slots=True)
class SmoothAggregator(Aggregator):
    """A statistic of the sorted block outputs plus noise scaled to its smooth sensitivity.

    Privacy: neighbors differ in one of the `blocks` outputs, replaced. `sensitivity` is a smooth
    upper bound, proved in the module of each subclass; the noise is that of
    `noise.smooth.calibrate` for it.

    Parameters
    ----------
    blocks : int
        Number of block outputs, public, at least 1.
    lo, hi : float
        Public bounds, in the units of the outputs.
    loss : Pure, Approx or ZCDP
        What the release may cost; afterwards what it does cost, without a delta left unspent.
    noise : str
        A name that `noise.smooth.calibrate` knows.
    """

    noise: NoiseName = "auto"
    grid: OutputGrid = field(init=False)
    calibration: Calibration = field(init=False)
    #: The sensitivity is at most this many spans of the grid.
    spans: ClassVar[int] = 1

    def __post_init__(self) -> None:
        blocks = check_blocks(self.blocks, 1)
        calibrated = calibrate_loss(self.noise, self.loss)
        grid = OutputGrid(self.lo, self.hi, blocks)
        assign(self, grid=grid, calibration=calibrated, loss=calibrated.loss)

    @abstractmethod
    def statistic(self, x: NDArray[np.int64]) -> tuple[int, int]:
        """NOT PRIVATE. Return an integer and its public divisor: their ratio is the statistic.

        `x` is what `sorted_cells` returns.
        """

    @abstractmethod
    def sensitivity(self, x: NDArray[np.int64]) -> float:
        """NOT PRIVATE. Return the smooth sensitivity of the integer, at least 1, in cells."""

    def release(self, z: NDArray[np.float64], generator: Generator) -> float:
        """Return the noisy statistic of `z`, within the bounds.

        One sort, and O(blocks) for each of about ``ln(span) / beta`` distances.
        """
        x = sorted_cells(self.grid, outputs(z, self.blocks))
        if self.grid.span == 0:
            return self.grid.lo
        value, divisor = self.statistic(x)
        distribution, alpha = self.calibration.distribution, self.calibration.alpha
        widest = 2.0 * self.spans * self.grid.span / alpha
        scale = self.sensitivity(x) / alpha
        return self.grid.number(noisy(distribution, value, scale, widest, generator) / divisor)
