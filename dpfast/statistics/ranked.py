"""Bases of rank statistics and of their mechanisms: a window of rows, then a draw or noise."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, Self

from .._core import checks, nan_policy
from .._core.types import NoiseName, Number
from ..budget.mechanism import Mechanism, Value
from ..measurement.statistic import Bounded, InUnits, Terms
from ..noise.grid import MIDDLE, Base, Lattice, base, ends, integers, lattice, public_grid
from ..noise.smooth import NOISES
from ..privacy import ZCDP, Draws, Pure
from ..sensitivity.column import Clamped
from ..summaries.order import Ranks, Window, ranks_of
from ..tables import Source
from ..tables.intake import View, each_column, read
from ..tables.times import Times


@dataclass(frozen=True, kw_only=True)
class Ranked(Bounded[Value]):
    """Base of statistics of a column's ranks; each of several columns takes a part of the loss."""

    joins_columns: ClassVar[bool] = False
    only_adds: ClassVar[bool] = True
    reads_numbers: ClassVar[bool] = True

    def read(self, data: Any, **rows: Any) -> View:
        return read(data, each_column, self.width, **rows)

    def column_of(self, terms: Terms) -> dict[str, Any]:
        """Return the arguments of each rank mechanism of a column: names and values."""
        lo, hi = self.pairs(None)[0]
        return {
            "lo": lo,
            "hi": hi,
            "neighbors": terms.neighbors,
            "nan": terms.missing_rule(self.nan),
        }


@dataclass(frozen=True, kw_only=True)
class OnGrid(Ranked[Value]):
    """Base of rank statistics that have answers on a public grid, and several methods.

    Parameters
    ----------
    granularity : float, Fraction or Decimal, optional
    method : str, default "auto"
    """

    granularity: Number | None = None
    method: str = "auto"

    reads_numbers: ClassVar[bool] = True
    chooses_by_type: ClassVar[bool] = True
    methods: ClassVar[tuple[str, ...]]

    def __post_init__(self) -> None:
        super().__post_init__()
        if type(self.method) is not str or self.method not in self.methods:
            word = checks.choice("method", self.method, self.methods)
            object.__setattr__(self, "method", word)
        if self.granularity is None:
            return
        if self.is_auto:
            rule = "left out with bounds='auto': drawn bounds may hold no multiple of it"
            checks.fail("granularity", rule, self.granularity)
        step = checks.fraction("granularity", self.granularity)
        if step <= 0:
            checks.fail("granularity", "greater than 0, or left out", self.granularity)
        object.__setattr__(self, "granularity", step)

    def read(self, data: Any, **rows: Any) -> View:
        view = super().read(data, **rows)
        if self.method == "joint" and view.adds:
            rule = "'recursive' for a database, because 'joint' reads all rows"
            checks.fail("method", rule, self.method)
        return view

    def chosen(self, terms: Terms) -> Self:
        statistic = super().chosen(terms)
        return (
            statistic
            if self.method != "auto"
            else replace(statistic, method=self.best_method(terms))
        )

    @abstractmethod
    def best_method(self, terms: Terms) -> str:
        """Return the method with less error for a loss, by public numbers alone."""

    def in_units(self, times: Times, data: Any) -> InUnits[Self] | None:
        if self.granularity is not None:
            rule = "left out for times: answers are in the unit of the column"
            checks.fail("granularity", rule, self.granularity)
        return super().in_units(times, data)

    def column_of(self, terms: Terms) -> dict[str, Any]:
        column, step = super().column_of(terms), self.granularity
        if step is not None:
            step = checks.fraction("granularity", step)
            column["lattice"] = lattice(column["lo"], column["hi"], step)
        elif terms.layout.is_whole:
            column["lattice"] = integers(column["lo"], column["hi"])
        return column


#: For each neighboring relation, the epsilon and the rho from which on smooth sensitivity noise is
#: better than a draw. The entry "two steps" is for rows that may enter by a mask.
Crossings = dict[str, tuple[Fraction, Fraction | float]]


@dataclass(frozen=True, kw_only=True)
class SmoothOrDrawn(OnGrid[Value]):
    """Base of rank statistics released with smooth sensitivity noise, or by a draw.

    Parameters
    ----------
    noise : str, default "auto"
        The distribution of noise, for the method "smooth" alone.
    """

    noise: NoiseName = "auto"

    #: The method of "auto" below the crossings, or for every loss if there are none.
    drawn: ClassVar[str] = "exponential"
    smooth_from: ClassVar[Crossings | None] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.noise, str):
            checks.choice("noise", self.noise, NOISES)
        object.__setattr__(self, "noise", str.__str__(self.noise))
        if self.noise == "auto":
            return
        if self.method not in ("auto", "smooth"):
            rule = f"left out with method={self.method!r}, which draws the answer without noise"
            checks.fail("noise", rule, self.noise)
        object.__setattr__(self, "method", "smooth")

    @property
    def covers_masks(self) -> bool:
        return self.method != "smooth"

    def best_method(self, terms: Terms) -> str:
        if self.smooth_from is None or terms.has_ids:
            return self.drawn
        way = "two steps" if terms.may_enter else terms.neighbors
        loss, (epsilon, rho) = terms.loss, self.smooth_from[way]
        is_large = loss.rho >= rho if isinstance(loss, ZCDP) else loss.epsilon >= epsilon
        return "smooth" if is_large else self.drawn


class OfRanks(Mechanism[Value]):
    """Base of rank mechanisms of one column with bounds, whose fields subclasses define."""

    __slots__ = ()
    of_ranks: ClassVar[bool] = True

    lo: float
    hi: float
    neighbors: str
    nan: str | float
    assume_sorted: bool

    @property
    def missing(self) -> str | float:
        return self.nan

    def ranks_of(self, source: Source) -> Ranks:
        """Return a reader of a column's rows by rank, without reading a row."""
        missing = None
        if self.nan not in ("raise", "drop"):
            number = nan_policy.replacement(self.nan, self.lo, self.hi)
            missing = None if isinstance(number, str) else number
        return ranks_of(source, missing, self.assume_sorted, (self.lo, self.hi))

    def present(self, window: Window) -> Window:
        """Return the window, or raise an error if it has missing rows and ``nan="raise"``."""
        if window.nan:
            nan_policy.refuse(self.nan, window.nan)
        return window

    def clamped(self, source: Source) -> Clamped:
        """Return the clamped column, unread, from which a sensitivity is computed."""
        return Clamped(self.ranks_of(source), self.lo, self.hi, self.neighbors, self.nan)


@dataclass(frozen=True, slots=True)
class Drawn(OfRanks[Value]):
    """Base of mechanisms that draw cells of the public grid; cell ``o`` is at ``o * grid``."""

    lo: float
    hi: float
    neighbors: str
    nan: str | float
    loss: Pure | ZCDP
    assume_sorted: bool = False
    lattice: Lattice | None = None
    grid: float = field(init=False)
    base: Base = field(init=False, repr=False, compare=False)

    def prepare(self, levels: int, q: Fraction = MIDDLE, flips: bool = False) -> None:
        """Set the grid, the base measure of its cells, and the loss, which `levels` draws share.

        For permute-and-flip all cells have the same weight, and the loss has a wider range.
        """
        lo, hi, loss, lattice = self.lo, self.hi, self.loss, self.lattice
        grid = public_grid(lo, hi) if lattice is None else float(lattice.step)
        if lattice is not None:
            cells = lattice.first, lattice.last
        elif lo < hi and hi - lo < grid:
            checks.fail("bounds", f"equal, or at least {grid:.3g} apart", (lo, hi))
        else:
            cells = ends(lo, hi, grid) if lo < hi else (0, 0)
        object.__setattr__(self, "grid", grid)
        object.__setattr__(self, "base", base(*cells, None if flips else grid, q))
        if isinstance(loss, Pure) and not flips:
            object.__setattr__(self, "loss", Draws(loss.epsilon, levels, bounded_range=True))

    def value(self, cell: int) -> float:
        """Return the number of a cell."""
        return cell * self.grid if self.lattice is None else self.lattice.value(cell)

    @property
    def cells(self) -> tuple[int, int]:
        """The first and the last cell of the grid."""
        return self.base.first, self.base.last
