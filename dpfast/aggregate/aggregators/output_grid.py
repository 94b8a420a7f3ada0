"""Block outputs as integers on a public grid, so that sums and sensitivities are exact.

A float64 sum depends on the order of its terms. If one term changes, the sum may change by more
than this term. So each block output is clipped to the public bounds and rounded to the nearest cell
of a public grid, independently of the others. Neighbors remain neighbors. Cells are numbered from 0
at the lower bound to `span`. The grid is so coarse that ``blocks * span < 2**53``: sums of cells
are exact in int64 and in float64. Noise is added to such a sum in whole cells (`noisy`). Dividing
the result, and mapping it back to the units of the answer, is post-processing.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..._core import checks
from ...noise import samplers
from ...noise.distributions import Distribution
from ...noise.grid import ends, public_grid
from ...noise.smooth import Calibration, calibrate_loss
from ...privacy import Loss
from ...rng import Generator
from ...sensitivity.rounding import inflated, largest

MOST_BLOCKS = 1 << 24
#: With at most this many coordinates, sums of distances are exact: 2**12 * 2**41 = 2**53.
MOST_COORDINATES = 1 << 12
#: Numbers that are processed at a time, so that intermediate arrays stay in a cache.
_AT_ONCE = 1 << 13
_PUBLIC_BITS = 41  # `public_grid` has at most 2**41 cells between two bounds


def check_blocks(blocks: object) -> int:
    """Return the checked public number of blocks."""
    return checks.whole("blocks", blocks, 1, MOST_BLOCKS)


def check_coordinates(coordinates: int) -> int:
    """Return the checked public number of coordinates of a vector answer."""
    if not 1 <= coordinates <= MOST_COORDINATES:
        rule = f"a pair for each of 1 to {MOST_COORDINATES} coordinates"
        checks.fail("bounds", rule, f"{coordinates} pairs")
    return coordinates


def outputs(z: NDArray[np.float64], *shape: int) -> NDArray[np.float64]:
    """Return checked block outputs: a finite float64, or a row of them, for each block.

    `shape` is (blocks,), or (blocks, coordinates) for vectors.
    """
    assert z.dtype == np.float64 and z.shape == shape, "one float64, or one row, a block"
    assert np.isfinite(z).all(), "what is not finite becomes the public default before this"
    return z


@dataclass(frozen=True, slots=True)
class OutputGrid:
    """The public grid between two bounds, on which sums of up to `blocks` cells are exact."""

    lo: float
    hi: float
    blocks: int
    step: float = field(init=False)
    first: int = field(init=False)
    span: int = field(init=False)

    def __post_init__(self) -> None:
        lo, hi = checks.bounds((self.lo, self.hi))
        coarser = max(0, _PUBLIC_BITS + self.blocks.bit_length() - 52)
        step = math.ldexp(public_grid(lo, hi), coarser)
        if lo < hi and hi - lo < step:
            checks.fail("bounds", f"equal, or at least {step:.3g} apart", (lo, hi))
        first, last = (0, 0) if lo == hi else ends(lo, hi, step)
        checks.assign(self, lo=lo, hi=hi, step=step, first=first, span=last - first)

    def cell(self, x: float) -> int:
        """Return the grid cell nearest to one number."""
        return int(self.cells(np.array([x]))[0])

    def cells(
        self, z: NDArray[np.float64], out: NDArray[np.int64] | None = None
    ) -> NDArray[np.int64]:
        """Return the nearest cell of each number; division by a power of two is exact."""
        cells = np.empty(z.shape, np.int64) if out is None else out
        for start in range(0, len(z), _AT_ONCE):
            cells[start : start + _AT_ONCE] = self._cells(z[start : start + _AT_ONCE])
        return cells

    def total(self, z: NDArray[np.float64], low: int = 0, high: int | None = None) -> int:
        """Return the exact sum of the cells, clipped to ``low .. high`` and counted from `low`."""
        most = self.span if high is None else high
        total = 0
        for start in range(0, len(z), _AT_ONCE):
            cells = self._cells(z[start : start + _AT_ONCE])
            if (low, most) != (0, self.span):
                np.clip(cells, low, most, out=cells)
            total += int(cells.sum()) - low * len(cells)
        return total

    def _cells(self, z: NDArray[np.float64]) -> NDArray[np.int64]:
        if self.span == 0:
            return np.zeros(z.shape, np.int64)
        scaled = np.clip(z, self.lo, self.hi)
        scaled /= self.step
        cells = np.rint(scaled, out=scaled).astype(np.int64)
        cells -= self.first
        return np.clip(cells, 0, self.span, out=cells)

    def number(self, cell: float) -> float:
        """Return the number of a (fractional) cell, clamped to the bounds. Post-processing."""
        if self.span == 0:
            return self.lo
        return min(max((self.first + cell) * self.step, self.lo), self.hi)


@dataclass(frozen=True, slots=True)
class Aggregator(ABC):
    """A mechanism that releases one private number from one number for each block.

    Parameters
    ----------
    blocks : int
        The public number of block outputs, at least 1.
    lo, hi : float
        Public bounds, in the units of the outputs.
    loss : Pure, Approx or ZCDP
        The loss that the release may use; afterwards the loss that it does use, without an unused
        delta.
    """

    blocks: int
    lo: float
    hi: float
    loss: Loss

    @abstractmethod
    def release(self, z: NDArray[np.float64], generator: Generator) -> float:
        """Return a private number for the block outputs `z`, shape (blocks,), within the bounds."""


@dataclass(frozen=True, slots=True)
class OnGrid(Aggregator):
    """An aggregator that rounds block outputs to a grid and adds noise to a statistic of cells."""

    grid: OutputGrid = field(init=False)

    def __post_init__(self) -> None:
        grid = OutputGrid(self.lo, self.hi, check_blocks(self.blocks))
        checks.assign(self, grid=grid, **self.calibrated(grid))

    @abstractmethod
    def calibrated(self, grid: OutputGrid) -> dict[str, object]:
        """Return the noise calibrated to the loss and the exact `loss` of this noise, as fields."""

    @abstractmethod
    def noisy_cell(self, z: NDArray[np.float64], generator: Generator) -> float:
        """Return the noisy statistic of block outputs in cells, on a grid of at least one cell."""

    def release(self, z: NDArray[np.float64], generator: Generator) -> float:
        outputs(z, self.blocks)
        return self.grid.number(self.noisy_cell(z, generator)) if self.grid.span else self.grid.lo


def whole_units(widest: float) -> float:
    return math.ldexp(1.0, max(0, math.frexp(widest)[1] - 49))


def noisy(
    distribution: Distribution, value: int, scale: float, widest: float, generator: Generator
) -> float:
    """Return ``value + scale * Z`` with noise Z, rounded to a public grid of whole units or more.

    `widest` is the largest possible scale. It is public, and the grid depends on it alone.
    """
    grid = whole_units(widest)
    return samplers.draw(
        distribution, value=float(value), scale=scale, granularity=grid, generator=generator
    )


def noisy_vector(
    distribution: Distribution, values: list[int], scales: list[float], generator: Generator
) -> NDArray[np.float64]:
    """Return `noisy` of each value, with independent noise; the scales are public."""
    return samplers.draw_array(
        distribution,
        value=np.array(values, np.float64),
        scale=np.array(scales),
        granularity=np.array([whole_units(scale) for scale in scales]),
        shape=(len(values),),
        generator=generator,
    )


def sorted_cells(grid: OutputGrid, z: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return sorted cells x_1 .. x_k of outputs, between x_0 = 0 and x_(k+1) = span."""
    x = np.empty(len(z) + 2, np.int64)
    x[0], x[-1] = 0, grid.span
    inside = x[1:-1]
    grid.cells(z, out=inside)
    inside.sort()
    return x


def smooth_span(at: Callable[[int], int], steps: int, most: int, beta: float) -> float:
    """Return the largest of 1 and ``at(t) e^(-beta t)``, t = 0 .. steps - 1, rounded up.

    Every ``at(t)`` is an integer of at most `most`. The result is at least the exact number, and
    exceeds it by a factor below 1 + 2**-41, as `noise.smooth` requires. The lower limit of 1 unit
    is public, so the result remains smooth. `at` is not called for steps that cannot give the
    maximum.
    """
    return inflated(largest(at, beta=beta, most=most, stop=steps - 1, least=1.0))


@dataclass(frozen=True, slots=True)
class SmoothAggregator(OnGrid):
    """A statistic of the sorted block outputs plus noise scaled to its smooth sensitivity.

    Privacy: neighbors differ in one of the `blocks` outputs, which is replaced. `sensitivity` is a
    smooth upper bound, proved in the module of each subclass. `noise.smooth.calibrate` gives the
    noise for it.

    Parameters
    ----------
    blocks : int
        The public number of block outputs, at least 1.
    lo, hi : float
        Public bounds, in the units of the outputs.
    loss : Pure, Approx or ZCDP
        The loss that the release may use; afterwards the loss that it does use, without an unused
        delta.
    """

    calibration: Calibration = field(init=False)
    #: The sensitivity is at most this many times the range of the grid.
    spans: ClassVar[int] = 1

    def calibrated(self, grid: OutputGrid) -> dict[str, object]:
        calibration = calibrate_loss("auto", self.loss)
        return {"calibration": calibration, "loss": calibration.loss}

    @abstractmethod
    def statistic(self, x: NDArray[np.int64]) -> tuple[int, int]:
        """NOT PRIVATE. Return an integer and a public divisor, whose ratio is the statistic.

        `x` is the result of `sorted_cells`.
        """

    @abstractmethod
    def sensitivity(self, x: NDArray[np.int64]) -> float:
        """NOT PRIVATE. Return the smooth sensitivity of that integer, in cells, at least 1."""

    def noisy_cell(self, z: NDArray[np.float64], generator: Generator) -> float:
        """Return the noisy statistic.

        Cost: one sort, and O(blocks) for each of about ``ln(span) / beta`` distances.
        """
        x = sorted_cells(self.grid, z)
        value, divisor = self.statistic(x)
        distribution, alpha = self.calibration.distribution, self.calibration.alpha
        widest = 2.0 * self.spans * self.grid.span / alpha
        scale = self.sensitivity(x) / alpha
        return noisy(distribution, value, scale, widest, generator) / divisor
