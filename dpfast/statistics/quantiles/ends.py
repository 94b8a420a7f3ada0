"""An interval around a private quantile: one more draw, of how far its ends are from it.

    Between(ends, point, coverage)

Half of the loss is for a point v, by whichever mechanism, the other half for a distance w from it,
and v - w and v + w are the ends. Both are cells of the public grid or lattice of the column. Where
rows may lie between the numbers of cells, the interval has all that is on its cells. Of several
points each has ends of its own, for an equal part of that half.

*What is drawn.* Let ``t = q (n - 1) + 1`` be the rank of the quantile, of n rows: it lies between
the rows of the ranks next to t. Of the public distances w_0 < w_1 < ..., of which the last is that
of the bounds, a distance w has the margin

    g(w) = min(L(v + w) - t, t - 1 - B(v - w)),

L(o) rows that lie at o or below it, and B(o) that lie below. Where g(w) >= 0 both of those rows are
between the ends, and so is the quantile. (The numbers of rows are whole: ``L >= t`` is
``L >= ceil(t)``.) At a bound of the column, which no row is beyond, either of the two is m + h, a
public number, and all margins are clipped to it and to minus it. w_j is drawn with probability
proportional to

    b(w_j) exp(-c u_j),      u_j = max(m - g(w_j), g(w_(j-1)) - m, 0),      g(w_(-1)) = -m - h.

So u is 0 for the least distance that has a margin of m, and there is one, whatever the rows are.

*Loss.* A row that comes raises L(o) - t by 1 - q, or lowers it by q, and t - 1 - B(o) grows by q
or falls by 1 - q. One that is replaced changes either by 1 at most, and so does one that enters
the rows that count, or leaves them. A minimum, a clip and a maximum change by no more than what
they are of, so u changes by at most the D of `exponential`, max(q, 1 - q) or 1, and the draw with
its c = epsilon / (2 D) is epsilon-DP, of range epsilon (McSherry and Talwar, FOCS 2007; Cesar and
Rogers, ALT 2021). v has been released, and losses add up (Dwork, McSherry, Nissim and Smith,
TCC 2006). The margins are multiples of ``2**-32`` for a q that is one, and the draw is exact
(`noise.choice`).

*Coverage.* The ends miss the quantile for distances with g < 0 alone, which are shorter than the
one with u = 0, w_j, and have u >= m. So they do with a probability of at most
``exp(-c m) sum over i < j of b(w_i) / b(w_j)``. m makes that the failure probability for any j.
It is a bound for the worst rows, of any number; of few rows the ends are the bounds.

*b* doubles with each octave of distances, of which there are two in each: then the sum is 2.5 for
any number of distances, where equal weights would have made m twice as large. The h that margins
go beyond m, 28 / c, is more than all of that can outweigh.

*An end of all rows.* For q = 0 no margin of rows can tell that none lies below a number. So the
interval begins with the lower bound, and g is of the upper end alone; and so for q = 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import privacy
from ..._core.error_bars import Expected
from ...budget.mechanism import Mechanism
from ...measurement.around import Around
from ...measurement.outer_bounds import Draw, Side
from ...noise.additive import several
from ...noise.choice import Stream
from ...privacy import Loss, Pure
from ...rng import Generator
from ...summaries.order import Window
from ...tables import Source
from .draws import CUT, PARTS, Column
from .exponential import ExponentialQuantile

#: The logarithm of b falls by this with each shorter distance.
STEP = 3 / 16
#: Most ranks that are looked at on either side: for a smaller rate the ends are the bounds.
MOST = 1 << 28


def distances(span: int) -> NDArray[np.int64]:
    """Return public distances in cells, two in each octave: from 0 to so many."""
    some = [round(2 ** (j / 2)) for j in range(2 * span.bit_length())]
    return np.array(sorted({0, *(one for one in some if one < span), span}))


@dataclass(frozen=True, slots=True)
class Widths:
    """Draws of distances from points to both ends of intervals; public numbers.

    Parameters
    ----------
    place : int
        The quantile, in `PARTS`.
    rate : float
        c.
    first, last : int
        The cells of the bounds.
    failure : float
        The probability with which an interval may miss the quantile.
    are_numbers : bool
        Whether all rows are numbers of cells; else they may lie between these.
    """

    place: int
    rate: float
    first: int
    last: int
    failure: float
    are_numbers: bool
    steps: NDArray[np.int64] = field(init=False, repr=False, compare=False)
    prior: NDArray[np.float64] = field(init=False, repr=False, compare=False)
    margin: int = field(init=False)
    most: int = field(init=False)

    def __post_init__(self) -> None:
        steps = distances(self.last - self.first)
        prior = np.arange(len(steps))[::-1] * STEP
        weights = np.exp(-prior)
        shorter = float((np.cumsum(weights) / weights)[-1]) - 1
        margin = math.log(max(shorter, 1) / self.failure) / self.rate
        reach = margin + CUT / self.rate
        if reach >= MOST:
            steps, prior, margin, reach = steps[-1:], prior[-1:], 0.0, 1.0
        object.__setattr__(self, "steps", steps)
        object.__setattr__(self, "prior", prior)
        object.__setattr__(self, "margin", math.ceil(margin * PARTS))
        object.__setattr__(self, "most", math.ceil(reach) * PARTS)

    @property
    def reach(self) -> int:
        """How many ranks either way to look at."""
        return self.most // PARTS + 2

    def margins(self, cell: int, rows: NDArray[Any], before: int, n: int) -> NDArray[np.int64]:
        """NOT PRIVATE. Return g of each distance from a cell, in `PARTS`.

        `rows` are the cells, ascending, of the rows from the rank `before` + 1 on, of `n`.
        """
        whole, rest = divmod(self.place * (n - 1) + PARTS, PARTS)
        low, high = cell - self.steps, cell + self.steps
        upper = (np.searchsorted(rows, high, "right") + (before - whole)) * PARTS - rest
        lower = (whole - 1 - before - np.searchsorted(rows, low)) * PARTS + rest
        upper[(high >= self.last) | (self.place == PARTS)] = self.most
        lower[(low <= self.first) | (self.place == 0)] = self.most
        inside: NDArray[np.int64] = np.clip(np.minimum(upper, lower), -self.most, self.most)
        return inside

    def side(self, margins: NDArray[np.int64]) -> Side:
        """NOT PRIVATE. Return what the distances weigh."""
        before = np.append(-self.most, margins[:-1])
        return Side(before, margins, self.prior, Fraction(self.margin), 2 * self.rate / PARTS)

    def draw(self, cell: int, rows: NDArray[Any], before: int, n: int, stream: Stream) -> int:
        """Return the distance of the ends from a cell; the rows are those of `margins`."""
        side = self.side(self.margins(cell, rows, before, n))
        (j,) = Draw(side, len(self.steps)).draw(1, stream)
        return int(self.steps[j])

    def ends(self, cells: Any, sizes: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the cells that begin and end an interval; beyond all of them are the bounds.

        Where rows may lie between the numbers of cells, it ends where the next cell begins.
        """
        beyond = not self.are_numbers
        low, high = cells - np.asarray(sizes), cells + np.asarray(sizes) + beyond
        low = np.where((low <= self.first) | (self.place == 0), self.first - beyond, low)
        return low, np.where((high > self.last) | (self.place == PARTS), self.last + beyond, high)


@dataclass(frozen=True, slots=True)
class Between(Mechanism[NDArray[np.float64]]):
    """Quantiles between two ends each that hold them: the lower ends, the points, the upper ends.

    Parameters
    ----------
    ends : tuple of ExponentialQuantile
        Those of the same column, for the part of the loss that is for the ends of each.
    point : Mechanism
        Of the released quantile, or of as many as there are ends. It may be the only one of these.
    coverage : float
        Of the ends of each.
    are_numbers : bool
        As in `Widths`.
    """

    ends: tuple[ExponentialQuantile, ...]
    point: Mechanism[Any]
    coverage: float
    are_numbers: bool
    widths: tuple[Widths, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        failure = 1 - self.coverage
        widths = [
            Widths(one.aim.place, one.rate, *one.cells, failure, self.are_numbers)
            for one in self.ends
        ]
        object.__setattr__(self, "widths", tuple(widths))

    @property
    def loss(self) -> Loss:
        point, ends = self.point.loss, self.loss_of_ends
        if isinstance(ends, Pure) and point == ends:
            return several(ends, 2)
        return privacy.compose(point, ends)

    @property
    def loss_of_ends(self) -> Loss:
        """Return the loss of all distances."""
        each, many = self.ends[0].loss, len(self.ends)
        return several(each, many) if isinstance(each, Pure) else privacy.compose(*[each] * many)

    @property
    def neighbors(self) -> str:
        return self.ends[0].neighbors

    @property
    def name(self) -> str:
        return f"{self.point.name} between two ends"

    @property
    def missing(self) -> Any:
        return self.ends[0].missing

    @property
    def of_ranks(self) -> bool:
        return True

    @property
    def parts(self) -> dict[str, Loss]:
        """Return what the loss is made of."""
        return {self.point.name: self.point.loss, "ends": self.loss_of_ends}

    @property
    def noise_parameters(self) -> dict[str, Any]:
        return self.point.noise_parameters

    def reduce(self, source: Source) -> tuple[Column, list[Window], Any]:
        summary = self.point.reduce(source)
        drawn = isinstance(summary, tuple) and isinstance(summary[0], Column)
        column = summary[0] if drawn else self.ends[0].reduce(source)[0]
        pairs = zip(self.ends, self.widths, strict=True)
        return column, [column.look(one.rank, w.reach + one.ranks) for one, w in pairs], summary

    def finish(
        self, summary: tuple[Column, list[Window], Any], generator: Generator
    ) -> NDArray[np.float64]:
        column, windows, of_point = summary
        released = self.point.finish(of_point, generator)
        points, (first, *_) = np.ravel(released), self.ends
        answer = np.array([points] * 3, np.float64)
        cells = column.cells(points).tolist() if first.lo < first.hi else []
        for i, cell in enumerate(cells):
            rows, before, n, _ = windows[i]
            size = self.widths[i].draw(cell, rows, before - 1, n, generator.stream())
            number = first.value if self.are_numbers else column.edge
            low, high = (number(int(end)) for end in self.widths[i].ends(cell, size))
            answer[::2, i] = min(low, points[i]), max(high, points[i])
        answer = np.clip(answer, first.lo, first.hi)
        return answer if np.ndim(released) else answer[:, 0]

    def error(self, rows: int | None, confidence: float) -> Expected:
        """Return that of the points, in ranks: what ends are apart depends on the rows."""
        return self.point.error(rows, confidence)


class RangeBetween(Around[NDArray[np.float64]]):
    """The distance of two quantiles between two more: those of their nearer and farther ends."""

    __slots__ = ()

    @property
    def name(self) -> str:
        return "interquartile range between two ends"

    def finish(self, summary: Any, generator: Generator) -> NDArray[np.float64]:
        (low, _), (lower, upper), (_, high) = ends = self.inner.finish(summary, generator)
        return np.array([max(0.0, ends[0, 1] - ends[2, 0]), upper - lower, high - low])

    def error(self, rows: int | None, confidence: float) -> Expected:
        """Return that of both quantiles, in ranks, each with half of the failures."""
        bar = self.inner.error(rows, (1 + confidence) / 2)
        return replace(bar, confidence=confidence, ranks=float(np.max(bar.ranks)))
