"""One quantile by the exponential mechanism on an interpolated rank.

    ExponentialQuantile(q, lo, hi, neighbors, nan, loss, assume_sorted=False)
    ExponentialExtreme(q, lo, hi, neighbors, nan, loss), q = 0 or 1

`q` is a Fraction in [0, 1]; `lo <= hi` finite floats; `neighbors` "replace" or "add-remove"; `nan`
a policy as `_core.checks.nan_policy` returns it; `loss` a `privacy.Pure` or `privacy.ZCDP`, the
whole of what the call costs. The constructors raise `ArgumentError` for bounds too close for a grid
and a loss too small for float64, so nothing has been spent by then. `cells` (first, last), `grid`
and `rate` tell the public numbers that were chosen, for a comparison of methods.

Every row is first put on the cell of the public grid at or next below it, a change of each row
by itself and of at most about ``2**-40`` of the range; so ties of values are ties on a cell. A
candidate is a cell ``o`` of ``first .. last``. It has an interval of ranks:

* where rows are on it, those of these rows, from ``#{x < o} + 1`` to ``#{x <= o}``;
* else one rank, ``i + h``, with i = ``#{x < o}``, and h = 0, 1/2 or 1 by its place in the gap from
  the next cell a below that rows are on to the next one b above (or ``first - 1`` and ``last + 1``
  beyond all rows): 0 if ``o - a <= w``, 1 if ``b - o <= w`` and 1/2 between, where
  ``w = min(floor(d s), floor((s - 1) / 2))`` for ``s = b - a`` and a public d below 1/2.

The utility is minus u(o), the distance of that interval from the target ``t = q (n - 1) + 1``, the
rank whose value numpy.quantile takes. The base measure, what cells weigh whatever the data are, is
that of `noise.grid.Base`.

**Sensitivity.** *A row that comes raises both ends of the interval of every cell by something from
0 to 1.* If it comes to a cell c < o it raises i by 1, or the ends for a cell with rows, and else
can only move a to the right, to a'. Then h does not rise: (1) if it was 0, it still is, for
``o - a' <= w(s) - (a' - a) <= w(s - (a' - a))``, since w grows by 0 or 1 from one s to the next
(floor(d s) does, as d < 1, and so does the other); (2) if it is 1 now it was 1 before, as w does
not fall in s. h falls by 1 at most, so the rank rises by something from 0 to 1. If c > o, then i
stays, and b moves to the left: the same with the sides exchanged, so h rises by something from 0 to
1. If c = o, the rank i + h becomes the interval from i + 1 to i + 1; or one more rank joins the
upper end. t rises by q. So ``lower end - t`` and ``t - upper end`` change by something from -q to
1 - q, or from q - 1 to q, and u by **D = max(q, 1 - q)** at most. A row that is replaced leaves and
comes, so each end changes by -1 to 1, while t stays: **D = 1**. (Nothing in this asks for more of w
than that it is a public function of s, and so.)

So probabilities proportional to ``base(o) exp(-c u(o))`` with c = epsilon / (2 D) are epsilon-DP
(McSherry and Talwar, FOCS 2007), of range epsilon moreover, which costs less than
``epsilon**2 / 8`` in zCDP (Cesar and Rogers, ALT 2021; exactly: `privacy.Draws`). Where only some
rows are kept, a row that is replaced may also leave them or enter. That changes u by no more than
D = 1 either.

**d** is what has the least expected distance where the target is a row's own rank, with a gap on
either side: cells with u = 0 have the weight 2 d, those with u = 1/2 the weight
``(1 - 2 d) exp(-c / 2)``, and the distances within add up to a minimum at
``d = 1 / (2 (1 + exp(c / 4)))``. It tends to a quarter for a small c, and for a large one the
answer lies ever nearer to the row.

References
----------
A. Smith, "Privacy-preserving statistical estimation with optimal convergence rates", STOC 2011.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

from ..._core import checks
from ..._core.error_bars import RANKS, Expected
from ..._core.roots import root_down
from ...noise.grid import Base
from ...privacy import ZCDP, Pure, float_down, range_within
from ...rng import Generator
from ...sources import Source
from ..ranked import Drawn
from .draws import Column, choose, width

#: The smallest rate in use: below it products with ranks would leave the normal float64.
LEAST_RATE = 2.0**-900
#: The largest: more is of no use, and weights beyond are not told apart.
MOST_RATE = 2.0**29
#: What a cell weighs that all rows are above, exp(-INSIDE), where the least of them is looked for:
#: less would find the gap below them instead, more a row too far inside. Of 20,000 even rows and
#: for an epsilon of 4 it is the gap a few times in a hundred (`benchmarks/crossings.py`).
INSIDE = 14

_HALF = Fraction(1, 2)


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
    """One quantile: a cell of the grid, more probable the nearer its rank is to that of q."""

    q: Fraction
    lo: float
    hi: float
    neighbors: str
    nan: str | float
    loss: Pure | ZCDP
    assume_sorted: bool = False
    grid: float = field(init=False)
    base: Base = field(init=False, repr=False, compare=False)
    rate: float = field(init=False)
    share: int = field(init=False, repr=False)
    reach: int = field(init=False, repr=False)
    ratio: tuple[int, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        loss = self.loss
        self.prepare(1)
        rate = min(rate_of(loss, 1, *self._worst, True), MOST_RATE)
        object.__setattr__(self, "rate", rate)
        # A rate as large as makes exp overflow puts all of h beside the rows.
        share = math.floor(2.0**19 / (1 + math.exp(min(rate / 4, 99.0))))
        object.__setattr__(self, "share", share)
        # One rank more, for the gaps beside the window are a rank nearer on one side.
        reach = width(rate, self.base.total) + 1 if self.lo < self.hi else 0
        object.__setattr__(self, "reach", reach)
        object.__setattr__(self, "ratio", self.q.as_integer_ratio())

    @property
    def _worst(self) -> tuple[Fraction, str]:
        """Return the quantile, and the relation, that the rate is for.

        `rate_of` takes less for the ends, where utilities change in one direction only: not these.
        """
        return (_HALF, "replace") if self.q in (0, 1) else (self.q, self.neighbors)

    @property
    def name(self) -> str:
        return f"quantile {self.q}"

    def reduce(self, source: Source) -> tuple[Column, int]:
        given = self.column(source)
        column = Column(given.ranks, self.lo, self.hi, self.grid, self.base)
        window = column.look(self.rank, self.reach)
        given.refuse(window.nan)
        return column, window.n

    def rank(self, n: int) -> int:
        """Return the rank of a row at or next above the target, from 1 to n."""
        p, r = self.ratio
        return -(-p * (n - 1) // r) + 1 if n else 0

    def target(self, n: int) -> Fraction:
        """Return the target rank."""
        p, r = self.ratio
        return Fraction(p * (n - 1) + r, r)

    def finish(self, summary: tuple[Column, int], generator: Generator) -> float:
        column, n = summary
        if self.lo == self.hi:
            return self.lo
        cell = choose(
            column,
            self.target(n),
            self.rate,
            self.cells,
            generator.stream(),
            share=self.share,
            reach=self.reach,
        )
        return cell * self.grid

    def error(self, rows: int | None, confidence: float) -> Expected:
        """Return the error bar in ranks: McSherry and Talwar's bound, whatever the data.

        Some cell has u of at most 1/2 and a weight of at least 1. All cells with u > g together
        weigh at most ``total exp(-c g)``, which is the failure probability p of that for
        g = ln(total / p) / c + 1/2.
        """
        if self.lo == self.hi:
            return Expected(confidence, 0.0, 0.0)
        ranks = math.log(self.base.total / (1 - confidence)) / self.rate + 0.5
        return Expected(confidence, None, ranks, RANKS)


@dataclass(frozen=True, slots=True)
class ExponentialExtreme(ExponentialQuantile):
    """A low or a high quantile that stands for the least or the largest row.

    The one at a fixed number of ranks from that end, which depends on the loss alone.
    """

    @property
    def _worst(self) -> tuple[Fraction, str]:
        return _HALF, "replace"

    @property
    def name(self) -> str:
        return "maximum" if self.q else "minimum"

    @property
    def ranks(self) -> int:
        """Return T, the ranks between the end and the target."""
        return math.ceil(INSIDE / Fraction(self.rate))

    def target(self, n: int) -> Fraction:
        """Return the target rank: it moves by 1 at most with a row, and so does u."""
        inside = min(Fraction(self.ranks), Fraction(n + 1, 2))
        return n + 1 - inside if self.q else inside

    def rank(self, n: int) -> int:
        """Return the rank of a row at or next above the target, from 1 to n."""
        return min(math.ceil(self.target(n)), n)
