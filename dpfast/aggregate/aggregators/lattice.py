"""Block outputs as integers, so that sums are exact and a sensitivity is what it says.

A float64 sum depends on the order of its terms and may move by more than one term does. Here every
block output is clipped to the public bounds and put on the nearest cell of a public grid, each by
itself, so neighbours stay neighbours. Cells are numbered from 0 at the lower bound to `span`, and
the grid is so coarse that ``blocks * span < 2**53``: sums of cells are exact in int64 and in
float64 alike. Noise is added to such a sum in units of a cell (`noisy`), on whole cells; what
becomes of the result after that, dividing it and moving it back, is post-processing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..._core import checks
from ...noise import samplers as _noise
from ...noise.distributions import Distribution
from ...noise.grid import ends, public_grid
from ...rng import Generator

MOST_BLOCKS = 1 << 24
#: So many that sums of distances over coordinates are exact: 2**12 * 2**41 = 2**53.
MOST_COORDINATES = 1 << 12
#: Numbers that are worked on at a time, so that what lies between stays in a cache.
_AT_ONCE = 1 << 13
_PUBLIC_BITS = 41  # cells of `public_grid` between two bounds: at most 2**41


def check_blocks(blocks: object, least: int) -> int:
    """The number of blocks, public."""
    found = checks.whole("blocks", blocks, least)
    if found > MOST_BLOCKS:
        checks.fail("blocks", f"at most {MOST_BLOCKS}", blocks)
    return found


def outputs(z: NDArray[np.float64], blocks: int) -> NDArray[np.float64]:
    """The contract of every aggregator: one finite float64 a block."""
    assert z.dtype == np.float64 and z.shape == (blocks,), "one float64 a block"
    assert np.isfinite(z).all(), "what is not finite becomes the public default before this"
    return z


def check_coordinates(coordinates: int) -> int:
    """The length of a vector answer, public."""
    if not 1 <= coordinates <= MOST_COORDINATES:
        rule = f"a pair for each of 1 to {MOST_COORDINATES} coordinates"
        checks.fail("bounds", rule, f"{coordinates} pairs")
    return coordinates


def vectors(z: NDArray[np.float64], blocks: int, coordinates: int) -> NDArray[np.float64]:
    """The same contract for vectors: one row of finite float64 a block."""
    assert z.dtype == np.float64 and z.shape == (blocks, coordinates), "one float64 vector a block"
    assert np.isfinite(z).all(), "what is not finite becomes the public default before this"
    return z


@dataclass(frozen=True, slots=True)
class Lattice:
    """The cells between public bounds, for sums of up to `blocks` of them."""

    lo: float
    hi: float
    blocks: int
    grid: float = field(init=False)
    first: int = field(init=False)
    span: int = field(init=False)

    def __post_init__(self) -> None:
        lo, hi = checks.bounds((self.lo, self.hi))
        object.__setattr__(self, "lo", lo)
        object.__setattr__(self, "hi", hi)
        coarser = max(0, _PUBLIC_BITS + self.blocks.bit_length() - 52)
        grid = math.ldexp(public_grid(lo, hi), coarser)
        if lo < hi and hi - lo < grid:
            checks.fail("bounds", f"equal, or at least {grid:.3g} apart", (lo, hi))
        object.__setattr__(self, "grid", grid)
        first, last = (0, 0) if lo == hi else ends(lo, hi, grid)
        object.__setattr__(self, "first", first)
        object.__setattr__(self, "span", last - first)

    def cell(self, x: float) -> int:
        """The cell of one number."""
        return int(self.cells(np.array([x]))[0])

    def cells(
        self, z: NDArray[np.float64], out: NDArray[np.int64] | None = None
    ) -> NDArray[np.int64]:
        """The nearest cell of each number; division by a power of two is exact."""
        found = np.empty(z.shape, np.int64) if out is None else out
        for start in range(0, len(z), _AT_ONCE):
            found[start : start + _AT_ONCE] = self._cells(z[start : start + _AT_ONCE])
        return found

    def total(self, z: NDArray[np.float64], low: int = 0, high: int | None = None) -> int:
        """The exact sum of the cells, clipped to some of them and counted from the lowest."""
        most = self.span if high is None else high
        total = 0
        for start in range(0, len(z), _AT_ONCE):
            place = self._cells(z[start : start + _AT_ONCE])
            if (low, most) != (0, self.span):
                np.clip(place, low, most, out=place)
            total += int(place.sum()) - low * len(place)
        return total

    def _cells(self, z: NDArray[np.float64]) -> NDArray[np.int64]:
        if self.span == 0:
            return np.zeros(z.shape, np.int64)
        scaled = np.clip(z, self.lo, self.hi)
        scaled /= self.grid
        place = np.rint(scaled, out=scaled).astype(np.int64)
        place -= self.first
        return np.clip(place, 0, self.span, out=place)

    def number(self, cell: float) -> float:
        """The number at a place counted in cells, within the bounds. Post-processing."""
        if self.span == 0:
            return self.lo
        return min(max((self.first + cell) * self.grid, self.lo), self.hi)


def _whole_units(widest: float) -> float:
    return math.ldexp(1.0, max(0, math.frexp(widest)[1] - 49))


def noisy(
    law: Distribution, value: int, scale: float, widest: float, generator: Generator
) -> float:
    """``value + scale * Z``, rounded to whole units; coarser for very much noise.

    `widest`, the largest scale there can be, is public, and so the grid is.
    """
    grid = _whole_units(widest)
    return _noise.draw(law, value=float(value), scale=scale, granularity=grid, generator=generator)


def noisy_vector(
    law: Distribution, values: list[int], scales: list[float], generator: Generator
) -> NDArray[np.float64]:
    """`noisy` for each of some values, independently, where the scales themselves are public."""
    return _noise.draw_array(
        law,
        value=np.array(values, np.float64),
        scale=np.array(scales),
        granularity=np.array([_whole_units(scale) for scale in scales]),
        shape=(len(values),),
        generator=generator,
    )
