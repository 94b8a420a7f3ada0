"""Private quantiles by smooth sensitivity: one pass, and one noise sample on a public grid."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

from ..._core import checks, nan_policy
from ..._core.attributes import same_as
from ..._core.error_bars import SECRET
from ...errors import ArgumentError
from ...noise import samplers as _noise
from ...noise.grid import Lattice, ends, public_grid
from ...noise.smooth import Calibration
from ...rng import Generator
from ...sensitivity.iqr import smooth_quartiles
from ...sensitivity.quantile import SmoothBound
from ...sensitivity.rounding import rounded_up
from ...summaries.cells import nearest
from ...tables import Source
from ..ranked import OfRanks


def grid_between(lo: float, hi: float, widest: float) -> float:
    """Return the public grid, which is coarser if the widest noise would have too many steps.

    The grid does not depend on the secret noise scale: otherwise neighbors with scales on either
    side of a power of two would have answers on different grids.
    """
    return max(public_grid(lo, hi), math.ldexp(1.0, math.frexp(widest)[1] - 49))


def answer_grid(bounds: tuple[float, float], calibration: Calibration) -> float:
    """Return the step of the public grid of an answer, which is also the least smooth bound."""
    lo, hi = bounds
    widest = (hi - lo) / calibration.alpha
    if not widest < 2.0**900:
        raise ArgumentError(
            f"bounds must be closer together, or the loss larger, so that noise of up to "
            f"(hi - lo) / {calibration.alpha:.3g} stays below 2**900, got {bounds!r}"
        )
    # S is private and at least the grid. This keeps S / alpha a normal float64 for any data.
    least = max(math.frexp(calibration.alpha)[1] - 1021, -1000)
    if hi > lo and hi - lo < 2.0**least:
        checks.fail("bounds", f"equal, or at least 2**{least} apart", bounds)
    grid = max(grid_between(lo, hi, widest), 2.0**least) if hi > lo else 1.0
    if hi > lo and hi - lo < grid:
        checks.fail("bounds", f"equal, or at least {grid:.3g} apart", bounds)
    return grid


@dataclass(frozen=True, slots=True)
class Smooth(OfRanks[float]):
    """Base of mechanisms that add noise scaled to a smooth bound on the local sensitivity.

    `reduce` returns the value and the bound.
    """

    lo: float
    hi: float
    neighbors: str
    calibration: Calibration
    nan: str | float = field(default="raise", kw_only=True)
    assume_sorted: bool = field(default=False, kw_only=True)
    lattice: Lattice | None = field(default=None, kw_only=True)
    grid: float = field(init=False)
    _no_bar: ClassVar[str] = SECRET

    def __post_init__(self) -> None:
        object.__setattr__(self, "grid", answer_grid(self.limits, self.calibration))

    loss = same_as("calibration.loss")

    @property
    def noise_parameters(self) -> dict[str, Any]:
        chosen = self.calibration
        return {"noise": chosen.noise, "alpha": chosen.alpha, "beta": chosen.beta}

    @property
    def limits(self) -> tuple[float, float]:
        """The public bounds of the answer."""
        return self.lo, self.hi

    def finish(self, summary: tuple[float, float], generator: Generator) -> float:
        """Return the statistic with noise scaled to its smooth bound, on the grid, clamped.

        With a granularity, return the nearest multiple, which is post-processing.
        """
        value, sensitivity = summary
        lo, hi = self.limits
        if lo == hi:
            return lo
        noisy = _noise.draw(
            self.calibration.distribution,
            value=value,
            scale=sensitivity / self.calibration.alpha,
            granularity=self.grid,
            generator=generator,
        )
        first, last = ends(lo, hi, self.grid)
        clamped = min(max(noisy, first * self.grid), last * self.grid)
        return clamped if self.lattice is None else self.lattice.nearest(clamped)


@dataclass(frozen=True, slots=True)
class SmoothQuantile(Smooth):
    """The mechanism of a lower q-quantile with smooth sensitivity noise; see `dpfast.quantile`."""

    q: Fraction
    smooth: SmoothBound = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        Smooth.__post_init__(self)
        limits = {"lo": self.lo, "hi": self.hi, "floor": self.grid}
        bound = SmoothBound(self.q, beta=self.calibration.beta, neighbors=self.neighbors, **limits)
        object.__setattr__(self, "smooth", bound)

    @property
    def name(self) -> str:
        return f"quantile {self.q}"

    def reduce(self, source: Source) -> tuple[float, float]:
        bound = self.smooth.of(self.ranks_of(source))
        nan_policy.refuse(self.nan, bound.missing)
        return bound.value, bound.sensitivity


@dataclass(frozen=True, slots=True)
class SmoothExtreme(SmoothQuantile):
    """The mechanism of the least or the largest row with smooth sensitivity noise."""

    @property
    def name(self) -> str:
        return "maximum" if self.q else "minimum"


@dataclass(frozen=True, slots=True)
class SmoothRange(Smooth):
    """The mechanism of an interquartile range with smooth sensitivity noise.

    The range is rounded to float64, by at most half a step of the public grid. So the ranges of
    neighbors may differ by one step more, which the noise also covers.
    """

    name: ClassVar[str] = "interquartile range"

    def reduce(self, source: Source) -> tuple[float, float]:
        quartiles = smooth_quartiles(self.clamped(source), self.calibration.beta)
        value = nearest(Fraction(quartiles.upper) - Fraction(quartiles.lower))
        return value, rounded_up(quartiles.sensitivity + self.grid)

    @property
    def limits(self) -> tuple[float, float]:
        return 0.0, self.hi - self.lo
