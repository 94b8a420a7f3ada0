"""One private quantile by the exponential mechanism on an interpolated rank.

    ExponentialQuantile(lo, hi, neighbors, nan, loss, assume_sorted=False, lattice=None, q=q)
    ExponentialExtreme(lo, hi, neighbors, nan, loss, q=q), q = 0 or 1

`q` is a Fraction in [0, 1], and `lo <= hi` are finite floats. `neighbors` is "replace" or
"add-remove", `nan` is a policy that `_core.checks.nan_policy` returns, and `loss` is a
`privacy.Pure` or `privacy.ZCDP`: the whole loss of the call. The constructors raise `ArgumentError`
for bounds that are too close for a grid, and for a loss that is too small for float64, before
anything is spent. The attributes `cells` (first, last), `grid` and `rate` are public numbers, with
which methods can be compared.

Every row is first moved to the cell of the public grid at or next below it. This is a function of
the row alone, and moves it by at most about ``2**-40`` of the range. Equal values are on the same
cell.

**Positions.** A node is a range of cells from a to b, the two ends of the node. It contains the
rows on the cells between the ends, and a part of each row on an end. So a row has a mass s in the
node: 1, or less on an end, or 0. For one quantile the node has all cells and all rows; `recursive`
uses other nodes. M(o) is the mass on cells below o.

The candidates are the cells of the node. A candidate o has one or more positions, which are ranks
of the rows at it. With M = M(o):

* An end has all positions from M to M plus the mass on it.
* Another cell with k rows has all positions from ``M + 1/2 + floor(2 q r') / 2`` to ``M + k - 1/2 -
  floor(2 (1 - q) r') / 2``. Here ``r' = min(r, k - 1)`` for a public r. These are the middles of
  the k rows, except some at each end.
* A cell in a gap has one position. Let a' be the next cell below o that has rows or is an end, b'
  the next such cell above o, and ``s = b' - a'``. The position is ``M - 1/2`` if ``o - a' <= w``,
  ``M + 1/2`` if ``b' - o <= w``, and M otherwise. Here ``w = min(floor(d s), floor((s - 1) / 2))``
  for a public d below 1/2.

The utility is minus u(o), the distance of these positions from the target ``t = q m + z``. Here m
is the mass of the node, and z is a public number. For one quantile the target is ``q (n - 1) +
1/2``. This is the middle of the row whose value numpy.quantile returns, or a point between the
middles of the two rows that it interpolates. The base measure, the weight of a cell before the data
are seen, is `noise.grid.Base`.

If the node is to be divided, the candidates are pairs of a cell and a fraction f. Each has one
position: on an end f of its mass above M, on another cell with rows ``M + 1/2 + f (k - 1)``, and in
a gap the one above, for every f.

**Sensitivity.** *An added row of mass s raises the lowest and the highest position of every
candidate by a number from 0 to s.*

If the row is on an end, M rises by s for the cells above it. The highest position of the end itself
rises by s. Gaps do not change, because an end bounds a gap whether or not rows are on it.

If the row is on a cell c between the ends, s = 1. The candidate o is c or another cell:

* o = c, with k rows so far. k rises by 1, and f (k - 1) by f. 2 q r' and 2 (1 - q) r' rise by at
  most 2, and so do their floors. The lowest position rises by half of the first increase, and the
  highest by 1 less half of the second.
* o = c, in a gap so far. The position was ``M + 1/2`` less 0, 1/2 or 1. Now it is ``M + 1/2``, for
  every f.
* o above c. M rises by 1. If o is in the gap of c, c is now the next cell below o instead of a',
  and the position relative to M may change. (1) If ``o - a' <= w`` before, then ``o - c <= w`` now:
  s falls by ``c - a'``, and w falls by no more. For w grows by 0 or 1 from each s to the next,
  because floor(d s) does (d < 1), and so does floor((s - 1) / 2). (2) If ``b' - o <= w`` now, this
  was so before, because w does not fall in s. So, relative to M, o does not move to a higher
  position. It falls by at most 1 if it was at ``M + 1/2``, by at most 1/2 if it was at M, and not
  at all if it was at ``M - 1/2``. With M itself, it rises by 0 to 1.
* o below c. M does not change. The same argument holds with sides and signs exchanged.

The target t rises by q s. So with **D = max(q, 1 - q)**, u changes by at most D s. Under "replace"
a row of mass s is removed and a row of mass s' is added. Then ``position - t`` changes by a number
between ``-(1 - q) s - q s'`` and ``(1 - q) s' + q s``, and u by at most **b = D max(s, s') + (1 -
D) min(s, s')**. For one quantile these two bounds are D and 1. (The proof needs only that w is a
public function of s that grows by 0 or 1.)

So probabilities proportional to ``base(o) exp(-c u(o))``, with c = epsilon / (2 D), or epsilon / 2
under "replace", are epsilon-DP (McSherry and Talwar, FOCS 2007). They also have bounded range
epsilon, which costs less than ``epsilon**2 / 8`` in zCDP (Cesar and Rogers, ALT 2021; exactly:
`privacy.Draws`). If a mask keeps some of the rows, a row that is replaced may also leave the kept
rows or enter them. That changes u by no more than D <= 1.

**d** minimizes the expected distance if the target is the rank of a row, with a gap on each side.
Cells with u = 0 have the weight 2 d, and those with u = 1/2 have the weight ``(1 - 2 d) exp(-c /
2)``. The expected distance from the row is least for ``d = 1 / (2 (1 + exp(c / 4)))``. For small c
this tends to 1/4. As c grows it tends to 0, and the answer gets nearer to the row.

**r** is 6 / c on a lattice, and otherwise 0. On a lattice a value that many rows share is next to
another such value, with no gap between them. Let the target be x ranks inside the rows of one
value. Then it is x ranks from the rows of the next value, which would be drawn in proportion to
e^(-c x). It is more ranks away if the positions of the next value stop short of its ends. Without a
lattice r must be 0, because otherwise the cells of a gap next to such a value would gain weight.

**Permute-and-flip.** On a lattice of at most `FLIPPED` numbers all cells have the same weight. For
a pure loss the draw is then permute-and-flip (McKenna and Sheldon): the cell with the least u(o) -
E(o) / c, for independent standard exponential variables E (Ding et al. 2021). The exponential
mechanism is the same with Gumbel variables.

Proof of epsilon-DP: let E be fixed for all other cells. o is drawn if E(o) is not below x, the
largest of ``c (u(o) - u(p)) + E(p)`` over other cells p. A row changes each c u by at most epsilon
/ 2, so x by at most epsilon. And ``P(E >= x + epsilon) >= exp(-epsilon) P(E >= x)`` for every x. So
permute-and-flip has the same c as the exponential mechanism. The range of its loss is not bounded,
so in zCDP it costs as much as any pure loss.

Let p be the best cell. A cell o with u(o) - u(p) = g is drawn only if E(o) >= c g, which has the
probability exp(-c g). So the bound on the error of the exponential mechanism holds, too. If few
numbers are near the target, the error can be as small as half of the exponential mechanism's error.

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
    """Return the rate ``c = e / (2 k)`` of a node's draw, rounded down; `alone` if on its level."""
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
    """Return d, the share of a gap that counts as near a row, times 2**20."""
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

    The `outer` ends are the bounds of the column; other ends are quantiles that have been drawn.
    The fraction is rounded to a multiple of 1 / `PARTS`, which moves the target by less than a
    billionth of the number of rows.
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
    """Return the parameters with the r of a lattice, on which many rows share a value."""
    return params._replace(ties=min(math.ceil(TIES / params.rate), 1 << 40))


def ranks_within(base: Base, params: DrawParams, failure: float) -> float:
    """Return a bound that a draw's error in ranks exceeds with at most a failure probability.

    McSherry and Talwar's bound: some cell has a base weight of at least `each` and a u of at most
    1/2, or at most D r if that is more. All cells whose u is larger by more than g have, compared
    with this cell, at most the weight ``total exp(-c g) / each`` together. This is the failure
    probability p for g = ln(total / each / p) / c.
    """
    least = max(0.5, params.ties * max(params.fraction, PARTS - params.fraction) / PARTS)
    return math.log(base.total / base.uniform / failure) / params.rate + least


@dataclass(frozen=True, slots=True)
class ExponentialQuantile(Drawn[float]):
    """The mechanism of one quantile: draw a cell, most likely near the target rank."""

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
    """The mechanism of a minimum or maximum: the target is a fixed number of ranks from it.

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
