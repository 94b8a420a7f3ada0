"""One quantile by the exponential mechanism.

    ExponentialQuantile(q, lo, hi, neighbors, nan, loss, assume_sorted=False, rounded=False)
    ExponentialExtreme(q, lo, hi, neighbors, nan, loss, rounded=False), q = 0 or 1

`q` is a Fraction in [0, 1]; `lo <= hi` finite floats; `neighbors` "replace" or "add-remove"; `nan`
a policy as `_core.checks.nan_policy` returns it; `loss` a `privacy.Pure` or `privacy.ZCDP`, the
whole of what the call costs. The constructors raise `ArgumentError` for bounds too close for a grid
and a loss too small for float64, so nothing has been spent by then. `cells` (first, last), `grid`
and `rate` tell the public numbers that were chosen, for a comparison of methods.

Every row is first put on the cell of the public grid at or next below it, a change of each row
by itself and of at most about ``2**-40`` of the range; so ties of values are ties on a cell. A
candidate is a cell ``o``, t = q n is the target. The utility is minus
``u(o) = max(0, #{x < o} - t, t - #{x <= o})``. The base measure, what cells weigh whatever the data
are, is uniform, or with `rounded` that of `grid.Base`, which favors round numbers. A row that is
added changes ``#{x < o} - t`` by ``1 - q`` or ``-q``, and ``t - #{x <= o}`` by ``q - 1`` or ``q``,
so u by D = max(q, 1 - q) at most; a row that is replaced leaves t and changes u by at most D = 1.
So probabilities proportional to ``exp(-c u)`` with c = epsilon / (2 D) are epsilon-DP (McSherry and
Talwar, FOCS 2007), of range epsilon moreover, which costs less than ``epsilon**2 / 8`` in zCDP
(Cesar and Rogers, ALT 2021; exactly: `privacy.Draws`). At the ends, q = 0 and q = 1, u is
``#{x < o}`` or ``#{x > o}``, which a row changes by 0 or 1 and in one direction for all cells. So
there the range of the changes is 1, and c = epsilon: D = 1/2.

Where only some rows are kept, a row that is replaced may also leave them or enter. That changes u
by no more than D = 1 either, or 1/2 at the ends, so nothing changes but that n is private.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

from ..._core import checks
from ..._core.error_bars import RANKS, Expected
from ..._core.roots import root_down
from ...privacy import ZCDP, Pure, float_down, range_within
from ...rng import Generator
from ...sources import Source
from ..ranked import Drawn
from .draws import Column, choose, width

#: The smallest rate in use: below it products with ranks would leave the normal float64.
LEAST_RATE = 2.0**-900
#: What a cell weighs that all rows are above, exp(-INSIDE), where the least of them is looked for:
#: less would find the gap below them instead, more a row too far inside. Of 20,000 even rows and
#: for an epsilon of 4 it is the gap about once in a hundred times (`benchmarks/crossings.py`).
INSIDE = 14


def rate_of(loss: Pure | ZCDP, levels: int, place: Fraction, neighbors: str, alone: bool) -> float:
    """Return ``c = e / (2 k)`` of a node, rounded down; `alone` if no other is on its level."""
    end = place in (0, 1)
    most = Fraction(1, 2) if end else max(place, 1 - place)
    both = Fraction(1, 2) if end else Fraction(1)
    if isinstance(loss, Pure):
        k = most if neighbors == "add-remove" else both if alone else 2 * most
        rate = float_down(loss.epsilon / levels / (2 * k))
    else:
        k = most if neighbors == "add-remove" else both
        nodes, square = 1, k * k
        if neighbors == "replace" and not alone:
            nodes, square = 2, max(square, 2 * most * most)
        rate = float_down(
            root_down(nodes * range_within(loss.rho / levels / nodes) ** 2 / (4 * square))
        )
    if rate < LEAST_RATE:
        name = "rho" if isinstance(loss, ZCDP) else "epsilon"
        parts = f" for {levels} draws that share it" if levels > 1 else ""
        checks.fail(name, f"larger{parts}: float64 cannot hold it beside ranks", loss)
    return rate


@dataclass(frozen=True, slots=True)
class ExponentialQuantile(Drawn):
    """One quantile: a cell of the grid, more probable the nearer its ranks are to ``q n``.

    All cells weigh the same before the data are seen, or if `rounded`, round numbers weigh more.
    """

    q: Fraction
    lo: float
    hi: float
    neighbors: str
    nan: str | float
    loss: Pure | ZCDP
    assume_sorted: bool = False
    rounded: bool = False
    grid: float = field(init=False)
    rate: float = field(init=False)

    def __post_init__(self) -> None:
        loss = self.loss
        self.prepare(1)
        object.__setattr__(self, "rate", rate_of(loss, 1, *self._worst, True))

    @property
    def _worst(self) -> tuple[Fraction, str]:
        """Return the quantile, and the relation, that the rate is for."""
        return self.q, self.neighbors

    @property
    def name(self) -> str:
        return f"quantile {self.q}"

    def reduce(self, source: Source) -> tuple[Column, int]:
        given = self.column(source)
        reach = width(self.rate, self.base.total) if self.lo < self.hi else 0
        column = Column(given.ranks, self.lo, self.hi, self.grid, self.base)
        window = column.look(lambda n: min(max(1, math.ceil(self.target(n))), n), reach)
        given.refuse(window.nan)
        return column, window.n

    def target(self, n: int) -> Fraction:
        """Return the target rank position, from 0 to n."""
        return self.q * n

    def finish(self, summary: tuple[Column, int], generator: Generator) -> float:
        column, n = summary
        if self.lo == self.hi:
            return self.lo
        cell = choose(column, self.target(n), self.rate, self.cells, generator.stream())
        return cell * self.grid

    def error(self, rows: int | None, confidence: float) -> Expected:
        """Return the error bar in ranks: McSherry and Talwar's bound, whatever the data.

        The quantile's own cell has u = 0 and a weight of at least 1. All cells with u > g together
        weigh at most ``total exp(-c g)``, which is the failure probability p for g = ln(total / p)
        / c.
        """
        if self.lo == self.hi:
            return Expected(confidence, 0.0, 0.0)
        ranks = math.log(self.base.total / (1 - confidence)) / self.rate
        return Expected(confidence, None, ranks, RANKS)


@dataclass(frozen=True, slots=True)
class ExponentialExtreme(ExponentialQuantile):
    """A low or a high quantile that stands for the least or the largest row.

    The one at a fixed number of ranks from that end, which depends on the loss alone.
    """

    @property
    def _worst(self) -> tuple[Fraction, str]:
        return Fraction(1, 2), "replace"

    @property
    def name(self) -> str:
        return "maximum" if self.q else "minimum"

    @property
    def ranks(self) -> int:
        """Return T, the ranks between the end and the target."""
        return math.ceil(INSIDE / Fraction(self.rate))

    def target(self, n: int) -> Fraction:
        inside = min(Fraction(self.ranks), Fraction(n, 2))
        return n - inside if self.q else inside
