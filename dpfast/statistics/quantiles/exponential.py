"""One private quantile by the exponential mechanism on an interpolated rank.

    ExponentialQuantile(lo, hi, neighbors, nan, loss, assume_sorted=False, lattice=None, q=q)
    ExponentialExtreme(lo, hi, neighbors, nan, loss, q=q), q = 0 or 1

`q` is a Fraction in [0, 1]; `lo <= hi` finite floats; `neighbors` "replace" or "add-remove"; `nan`
a policy as `_core.checks.nan_policy` returns it; `loss` a `privacy.Pure` or `privacy.ZCDP`, the
whole loss of the call. The constructors raise `ArgumentError` for bounds too close for a grid and a
loss too small for float64, so nothing has been spent by then. `cells` (first, last), `grid` and
`rate` are the public numbers that were chosen, for a comparison of methods.

Every row is first put on the cell of the public grid at or next below it, a change of each row
by itself and of at most about ``2**-40`` of the range; so ties of values are ties on a cell.

**Positions.** A node is the cells from a to b, its two ends, the rows on the cells between them,
and of the rows on an end a part. So a row has a mass s in the node: 1, or less on an end, or 0. For
one quantile the node has all cells and all rows; `recursive` uses other nodes. Let M(o) be the mass
on cells below o. The candidates are the cells of the node, and have these positions:

* an end, all from M(o) to M(o) and the mass on it;
* another cell that k rows are on, all from ``M + 1/2 + floor(2 q r') / 2`` to
  ``M + k - 1/2 - floor(2 (1 - q) r') / 2``, where ``r' = min(r, k - 1)`` for a public r: the
  middles of rows, but for some of each side;
* a cell in a gap, of s cells from a cell with rows or end a' to the next b', one position,
  ``M - 1/2`` if ``o - a' <= w``, ``M + 1/2`` if ``b' - o <= w``, and M between them, where
  ``w = min(floor(d s), floor((s - 1) / 2))`` for a public d below 1/2.

The utility is minus u(o), the distance of the positions from the target ``t = q m + z``, where m is
the mass of the node and z a public number. For one quantile that is ``q (n - 1) + 1/2``, the middle
of the row whose value numpy.quantile takes, or between two. The base measure, what cells weigh
whatever the data are, is that of `noise.grid.Base`.

If the node is to be divided, the candidates are pairs of a cell and a fraction f. An end has the
position that is f of its mass above M, another cell with rows ``M + 1/2 + f (k - 1)``, and in gaps
f makes no difference.

**Sensitivity.** *A row of mass s that comes raises the lowest and the highest position of every
candidate by something from 0 to s.* If it is on an end, M rises by s above, and on the end its own
mass; gaps are as they were, since an end is one whatever is on it. If it comes to a cell c between
the ends, s = 1. On a cell that rows are on already, k rises by 1, and f (k - 1) by f; 2 q r' and
2 (1 - q) r' rise by 2 at most, their floors, too, and the highest position by 1 less than half of
that. From a gap,
c = o goes to ``M + 1/2``, whatever f is, from that less 0, 1/2 or 1. Of the other cells those above
c have one more row below, and those in its gap may change their place in it. Let c < o, so that
instead of a' it is c that lies next below o. (1) If ``o - a' <= w``, then ``o - c <= w`` still:
w grows by 0 or 1 from one s to the next (floor(d s) does, as d < 1, and so does the other), so it
loses no more than ``c - a'``. (2) If ``b' - o <= w`` now, it was so before, as w does not fall
in s. So o, which has one row more below, does not go to a higher of the three places, and falls by
at most two if it was near b', to ``M + 1/2`` as before, by one if it was between, and by none if it
was near a'. It rises by something from 0 to 1. If c > o, M stays, and the same holds with sides and
signs exchanged.

t rises by q s. So with **D = max(q, 1 - q)** u changes by D s at most. A row that is replaced
leaves with s and comes with s', and ``position - t`` changes by something between
``-(1 - q) s - q s'`` and ``(1 - q) s' + q s``: u changes by at most
**b = D max(s, s') + (1 - D) min(s, s')**. For one quantile these are D and 1. (Nothing in this asks
for more of w than that it is a public function of s, and so.)

So probabilities proportional to ``base(o) exp(-c u(o))`` with c = epsilon / (2 D), or epsilon / 2,
are epsilon-DP (McSherry and Talwar, FOCS 2007), of range epsilon moreover, which costs less than
``epsilon**2 / 8`` in zCDP (Cesar and Rogers, ALT 2021; exactly: `privacy.Draws`). Where only some
rows are kept, a row that is replaced may also leave them or enter. That changes u by no more than
D <= 1 either.

**d** is what has the least expected distance where the target is a row's own rank, with a gap on
either side: cells with u = 0 have the weight 2 d, those with u = 1/2 the weight
``(1 - 2 d) exp(-c / 2)``, and the distances within add up to a minimum at
``d = 1 / (2 (1 + exp(c / 4)))``. It tends to a quarter for a small c, and for a large one the
answer lies ever nearer to the row.

**r** is 0 but for a lattice, where it is 6 / c. There a tied value has another one next to it, with
no gap between them. A target that lies x ranks within the one's rows is x ranks from the other's,
and more where these stop short of their ends; e^(-c x) is how often the wrong one would be drawn.
Cells of a gap, which are near the ends of a tie, would gain by it.

**Permute-and-flip.** On a lattice of at most `FLIPPED` numbers all cells weigh the same, and for a
pure loss the draw is McKenna and Sheldon's: the cell with the least u(o) - E(o) / c for independent
standard exponential E (Ding et al. 2021), where the exponential mechanism has Gumbel variables. Let
the E of all other cells be fixed. o is drawn if E(o) is not below x, the largest of
``c (u(o) - u(p)) + E(p)`` for other cells p. A row moves each c u by epsilon / 2 at most, and so x
by epsilon, and ``P(E >= x + epsilon) >= exp(-epsilon) P(E >= x)`` for any x: it is epsilon-DP for
the same c. Its range is no less than that of other pure losses, so in zCDP it costs as much as
they do. A cell with u(o) - u(p) = g for the best p needs E(o) >= c g, which has the
probability exp(-c g): the bound of an error is that of the exponential mechanism, and errors are
down to half of its where few numbers are near the target.

References
----------
A. Smith, "Privacy-preserving statistical estimation with optimal convergence rates", STOC 2011.

R. McKenna and D. Sheldon, "Permute-and-Flip: A new mechanism for differentially private selection",
NeurIPS 2020.

Z. Ding et al., "The permute-and-flip mechanism is identical to report-noisy-max with exponential
noise", 2021.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

from ..._core import checks
from ..._core.error_bars import RANKS, ErrorBar
from ..._core.roots import root_down
from ...noise.grid import Base
from ...privacy import ZCDP, Pure, float_down, range_within
from ...rng import Generator
from ...summaries.order import Window
from ...tables import Source
from ..ranked import Drawn
from .draws import PARTS, RANK, Column, DrawParams, draw, inside, width

#: The smallest rate c that is used: with a smaller one, products with ranks could be subnormal.
LEAST_RATE = 2.0**-900
#: The largest rate c that is used: float64 would not distinguish weights of a larger one, which
#: would not help either.
MOST_RATE = 2.0**29
#: In a draw of a minimum, a cell below all rows has the weight exp(-INSIDE). With a smaller INSIDE
#: the draw would often be from the gap below all rows, and with a larger one it would be a row too
#: far inside. For 20,000 evenly spread rows and an epsilon of 4, it is from the gap a few times in
#: a hundred (`benchmarks/crossings.py`).
INSIDE = 14
#: The r of a lattice, in units of 1 / c. Of two tied values, the wrong one is drawn with a
#: probability of about exp(-2 c x), where x is the number of ranks from the target to the start of
#: the other value. It is at most exp(-TIES / 2) times that for exp(-c x). A larger r makes error
#: bars wider.
TIES = 6
#: The most lattice points for permute-and-flip with a pure loss. If there are more, the bounds are
#: wide, and a draw with the base measure finds the data better.
FLIPPED = 1 << 17


def rate_of(
    loss: Pure | ZCDP, levels: int, fraction: Fraction, neighbors: str, alone: bool
) -> float:
    """Return the rate ``c = e / (2 k)`` of a node's draw, rounded down; `alone` on its level."""
    most = max(fraction, 1 - fraction)
    if isinstance(loss, Pure):
        k = most if neighbors == "add-remove" else 1 if alone else 2 * most
        rate = float_down(loss.epsilon / levels / (2 * k))
    else:
        k = most if neighbors == "add-remove" else Fraction(1)
        nodes, square = 1, k * k
        if neighbors == "replace" and not alone:
            nodes, square = 2, max(square, 2 * most * most)
        rate = float_down(
            root_down(nodes * range_within(loss.rho / levels / nodes) ** 2 / (4 * square))
        )
    if rate < LEAST_RATE:
        name = "rho" if isinstance(loss, ZCDP) else "epsilon"
        parts = f" for {levels} draws that share it" if levels > 1 else ""
        checks.fail(name, f"larger{parts}, because float64 cannot resolve ranks at this loss", loss)
    return min(rate, MOST_RATE)


def share_of(rate: float) -> int:
    """Return the d of this module's docstring, the share of a gap near a row, times 2**20."""
    # If the rate is so large that exp would overflow, all of h is next to the rows.
    return math.floor(2.0**19 / (1 + math.exp(min(rate / 4, 99.0))))


def aim_of(
    loss: Pure | ZCDP,
    levels: int,
    fraction: Fraction,
    neighbors: str,
    alone: bool,
    outer: tuple[bool, bool] = (True, True),
) -> DrawParams:
    """Return the parameters of a draw at a `fraction` of a node, whose `outer` ends are bounds.

    The `outer` ends are those of the column; others are quantiles that have been drawn. The
    fraction is rounded to `PARTS`, which moves the target by less than a billionth of the rows.
    """
    fraction = Fraction(round(fraction * PARTS), PARTS)
    return aim_at(fraction, rate_of(loss, levels, fraction, neighbors, alone), outer)


def aim_at(fraction: Fraction, rate: float, outer: tuple[bool, bool] = (True, True)) -> DrawParams:
    """Return the parameters of a draw at a `fraction` of a node, from the rate c of the draw."""
    parts = round(fraction * PARTS)
    # Half a rank, for an end that is not a row, weighted by the fraction.
    shift = (outer[0] * (PARTS - parts) - outer[1] * parts) * (PARTS // 2)
    return DrawParams(parts, shift, rate, share_of(rate))


def squeezed(params: DrawParams) -> DrawParams:
    """Return the parameters with the r of a lattice, on which values are tied and have no gaps."""
    return params._replace(ties=min(math.ceil(TIES / params.rate), 1 << 40))


def ranks_within(base: Base, params: DrawParams, failure: float) -> float:
    """Return a bound that a draw's error in ranks exceeds with at most a failure probability.

    McSherry and Talwar's bound: some cell has u of at most 1/2, or of what positions lack at the
    ends of a tie, D r, and a weight of at least `each`. All cells with u > g more than that weigh
    at most ``total exp(-c g)`` of it together, which is the failure probability p for
    g = ln(total / each / p) / c.
    """
    least = max(0.5, params.ties * max(params.fraction, PARTS - params.fraction) / PARTS)
    return math.log(base.total / base.uniform / failure) / params.rate + least


@dataclass(frozen=True, slots=True)
class ExponentialQuantile(Drawn[float]):
    """The mechanism of one quantile: draw a cell, with a high probability near the target rank."""

    q: Fraction = field(kw_only=True)
    params: DrawParams = field(init=False, repr=False)
    reach: int = field(init=False, repr=False)
    flips: bool = field(init=False, repr=False)
    #: Whether, on a lattice, the positions of ties end before those of their neighbors.
    squeezes: ClassVar[bool] = True

    def __post_init__(self) -> None:
        loss, lattice = self.loss, self.lattice
        is_small = lattice is not None and lattice.last - lattice.first < FLIPPED
        object.__setattr__(self, "flips", self.squeezes and is_small and isinstance(loss, Pure))
        self.prepare(1, self.q, self.flips)
        params = aim_of(loss, 1, self.q, self._relation, True)
        if lattice is not None and self.squeezes:
            params = squeezed(params)
        object.__setattr__(self, "params", params)
        # One rank more, because the gaps at the ends of the window are a rank nearer on one side.
        reach = width(params.rate, self.base.total) + 1 + params.ties if self.lo < self.hi else 0
        object.__setattr__(self, "reach", reach)

    @property
    def _relation(self) -> str:
        """The neighboring relation for which the rate is computed."""
        return self.neighbors

    @property
    def rate(self) -> float:
        """The rate c: probabilities are in proportion to ``base(o) exp(-c u(o))``."""
        return self.params.rate

    @property
    def noise_parameters(self) -> dict[str, Any]:
        return {"rate": self.rate}

    @property
    def name(self) -> str:
        return f"quantile {self.q}"

    @property
    def ranks(self) -> int:
        """The distance in ranks from the target to the quantile that is estimated."""
        return 0

    def reduce(self, source: Source) -> tuple[Column, Window]:
        ranks = self.ranks_of(source)
        column = Column(ranks, self.lo, self.hi, self.grid, self.base, self.lattice)
        return column, self.present(column.look(self.rank, self.reach))

    def rank(self, n: int) -> int:
        """Return the rank, from 1 to n, of the row nearest to the target of `n` rows."""
        return min(max(1, self.target(n) // RANK + 1), n)

    def target(self, n: int) -> int:
        """Return the target rank of the draw among `n` rows, in units of 1 / `RANK`."""
        params = self.params
        return params.fraction * n * PARTS + params.shift

    def finish(self, summary: tuple[Column, Window], generator: Generator) -> float:
        column, window = summary
        if self.lo == self.hi:
            return self.lo
        stream, n = generator.stream(), window.n
        public: dict[str, Any] = {"target": self.target(n), "window": window, "flips": self.flips}
        return self.value(draw(column, column.ends(n), self.params, n, stream, **public).cell)

    def error(self, rows: int | None, confidence: float) -> ErrorBar:
        """Return the error bar in ranks, which holds for all data."""
        if self.lo == self.hi:
            return ErrorBar(confidence, 0.0, 0.0)
        ranks = self.ranks + ranks_within(self.base, self.params, 1 - confidence)
        return ErrorBar(confidence, None, ranks, RANKS)


@dataclass(frozen=True, slots=True)
class ExponentialExtreme(ExponentialQuantile):
    """The mechanism of a minimum or maximum: a quantile a fixed number of ranks from that end.

    The number of ranks depends on the loss alone.
    """

    squeezes: ClassVar[bool] = False

    #: The relation for which the rate is computed: u changes by at most 1, as under "replace".
    _relation: ClassVar[str] = "replace"

    @property
    def name(self) -> str:
        return "maximum" if self.q else "minimum"

    @property
    def ranks(self) -> int:
        """The number of ranks T between the end of the rows and the target."""
        return math.ceil(INSIDE / Fraction(self.rate))

    def target(self, n: int) -> int:
        """Return the target rank of the draw among `n` rows, in units of 1 / `RANK`."""
        return inside(self.ranks, n, self.q > 0)
