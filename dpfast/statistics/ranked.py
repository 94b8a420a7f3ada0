"""Bases of mechanisms that read ranks of a column."""

from __future__ import annotations

from .._core import checks, nan_policy
from ..noise.grid import Base, Lattice, base, ends, public_grid
from ..privacy import ZCDP, Draws, Pure
from ..sensitivity.column import Given
from ..sources import Source
from ..summaries.order import Ranks


class Ranked:
    """A column with bounds; a mechanism that inherits this has these fields."""

    __slots__ = ()

    lo: float
    hi: float
    neighbors: str
    nan: str | float
    assume_sorted: bool

    def column(self, source: Source) -> Given:
        """Return the ranks of a column, of which nothing has been read."""
        missing = nan_policy.replacement(self.nan, self.lo, self.hi)
        ranks = Ranks(source, missing=missing, assume_sorted=self.assume_sorted)
        return Given(ranks, self.lo, self.hi, self.neighbors, self.nan)


class Drawn(Ranked):
    """Base of mechanisms that draw cells of the public grid; cell ``o`` is ``o * grid``."""

    __slots__ = ()

    loss: Pure | ZCDP
    lattice: Lattice | None
    grid: float
    base: Base

    def prepare(self, levels: int) -> None:
        """Set the grid, what cells weigh, and the loss of draws, whose levels share a pure loss."""
        lo, hi, loss, lattice = self.lo, self.hi, self.loss, self.lattice
        grid = public_grid(lo, hi) if lattice is None else float(lattice.step)
        if lattice is not None:
            cells = lattice.first, lattice.last
        elif lo < hi and hi - lo < grid:
            checks.fail("bounds", f"equal, or at least {grid:.3g} apart", (lo, hi))
        else:
            cells = ends(lo, hi, grid) if lo < hi else (0, 0)
        object.__setattr__(self, "grid", grid)
        object.__setattr__(self, "base", base(*cells, grid))
        if isinstance(loss, Pure):
            object.__setattr__(self, "loss", Draws(loss.epsilon, levels, bounded_range=True))

    def value(self, cell: int) -> float:
        """Return the number of a cell."""
        return cell * self.grid if self.lattice is None else self.lattice.value(cell)

    @property
    def cells(self) -> tuple[int, int]:
        """Return the first and last cell of the grid."""
        return self.base.first, self.base.last
