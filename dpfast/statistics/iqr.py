"""The interquartile range: two quantiles and their difference, or its smooth sensitivity."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal, TypeAlias, Unpack, get_args, overload

from .._core.types import Axis, Bounds, BoundsEach, NanPolicy, Neighbors, NoiseName, Number
from ..budget.budget import Budget
from ..budget.release import Mechanism
from ..privacy import Loss
from ..rng import Generator
from ..sensitivity.iqr import QUARTILES, iqr_from_ranks
from ..sensitivity.rounding import rounded_up
from ..sources import Source
from ..summaries.cells import nearest
from .arguments import Arguments, Floats, NoiseKeywords
from .parts import calibrated, released
from .quantiles.api import MANY, chosen, pure, reaches
from .quantiles.exponential import RecursiveQuantiles
from .quantiles.joint import JointQuantiles
from .quantiles.smooth import Smooth

IqrMethod: TypeAlias = Literal["auto", "smooth", "recursive", "joint"]
#: From these losses (epsilon, rho) on "auto" means smooth sensitivity: where the errors cross for
#: even, uniform, normal and lognormal rows (`benchmarks/crossings.py`), of one step and of two (see
#: `quantile.TWO_STEPS_FROM`).
SMOOTH_FROM = Fraction(1, 2), Fraction(1, 4)
TWO_STEPS_FROM = Fraction(2), Fraction(6)


@dataclass(frozen=True, slots=True)
class ExponentialRange:
    """Distance of two quartiles that exponential mechanisms have drawn."""

    quartiles: RecursiveQuantiles | JointQuantiles
    loss: Loss
    neighbors: str

    name: ClassVar[str] = "interquartile range"

    def reduce(self, source: Source) -> Any:
        return self.quartiles.reduce(source)

    def finish(self, summary: Any, generator: Generator) -> float:
        lower, upper = self.quartiles.finish(summary, generator)
        return float(upper - lower)


@dataclass(frozen=True, slots=True)
class SmoothRange(Smooth):
    """Distance of the quartiles with noise for its smooth sensitivity.

    The distance is rounded to float64, by at most half a step of the public grid: that its
    neighbors differ by one step more is paid for.
    """

    name: ClassVar[str] = "interquartile range"

    def reduce(self, source: Source) -> tuple[float, float]:
        given, beta = self.column(source), self.calibration.beta
        bound = iqr_from_ranks(given.ranks, beta, self.lo, self.hi, self.neighbors)
        given.refuse(bound.missing)
        value = nearest(Fraction(bound.upper) - Fraction(bound.lower))
        return value, rounded_up(bound.sensitivity + self.grid)

    @property
    def limits(self) -> tuple[float, float]:
        return 0.0, self.hi - self.lo


class IqrKeywords(NoiseKeywords, total=False):
    """Keyword arguments of `iqr`."""

    method: IqrMethod


@overload
def iqr(
    data: Any, *, bounds: Bounds, axis: None = None, **others: Unpack[IqrKeywords]
) -> float: ...
@overload
def iqr(data: Any, *, bounds: BoundsEach, axis: Axis, **others: Unpack[IqrKeywords]) -> Floats: ...
def iqr(
    data: Any,
    *,
    bounds: BoundsEach,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors = "replace",
    axis: Axis | None = None,
    noise: NoiseName = "auto",
    method: IqrMethod = "auto",
    nan: NanPolicy = "raise",
    where: Any = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> float | Floats:
    """Release the interquartile range of a column.

    The statistic is the distance of the lower quartiles, of ranks ``ceil(n / 4)`` and
    ``ceil(3 n / 4)``, of the data clipped to `bounds`.

    Privacy
    -------
    Neighbors are datasets that differ in one row, replaced (`n` is public) or added or removed
    (`n` is private). The call satisfies the loss that it is asked for.

    ``method="recursive"`` and ``method="joint"`` release both quartiles as `quantiles` does, by
    exponential mechanisms (McSherry and Talwar, FOCS 2007), and what leaves is their difference.
    ``method="smooth"`` adds noise to the distance itself, for a smooth bound on its local
    sensitivity (Nissim, Raskhodnikova and Smith, STOC 2007): under "replace" the larger of those
    of the quartiles, since both change in the same direction, under "add-remove" their sum.

    Parameters
    ----------
    data : array_like, shape (n,) or, with `axis`, (n, d), table, or source
        As in `quantile`.
    bounds, epsilon, delta, rho, neighbors, axis, noise, nan, where, budget, rng
        As in `trimmed_mean`; `noise` is for ``method="smooth"``.
    method : {"auto", "smooth", "recursive", "joint"}, default "auto"
        "auto" is "recursive" for an epsilon below 1/2 or a rho below 1/4 (2 and 6 with `where`
        under "replace"), and "smooth" from there on or when a `noise` distribution is named. The
        rule knows nothing of the data. Where many rows share a value "recursive" finds the
        quartiles exactly at any loss; "joint" is better where they are spread out
        (``benchmarks/crossings.py``).

    Returns
    -------
    float, or ndarray of float64 with `axis`
        The private distance, from 0 to ``hi - lo``, on a public grid of about ``2**-40`` of that.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError, DataError
        As `trimmed_mean`.

    Notes
    -----
    Cost: one read of the data, but "joint" sorts them. `dpfast.ptr.iqr` answers without bounds.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> ages = np.repeat(np.arange(18, 91), 400)
    >>> 33 < dp.iqr(ages, bounds=(0, 120), epsilon=1.0) < 40
    True
    """
    loss = epsilon, delta, rho
    asked = Arguments(bounds, *loss, neighbors, axis, noise, method, nan, where, budget, rng)
    return released(data, asked, _range)


def _range(asked: Arguments) -> Mechanism[float]:
    """Make the mechanism from unchecked arguments."""
    lo, hi = asked.interval
    relation, policy, loss = asked.relation, asked.policy, asked.loss
    least = TWO_STEPS_FROM if asked.two_steps else SMOOTH_FROM
    automatic = "smooth" if reaches(loss, least) else "recursive"
    kind = chosen(asked.method, asked.noise, get_args(IqrMethod), automatic)
    if kind == "smooth":
        return calibrated(asked, SmoothRange)
    quartiles = MANY[kind](QUARTILES, lo, hi, relation, policy, pure(loss))
    return ExponentialRange(quartiles, quartiles.loss, relation)
