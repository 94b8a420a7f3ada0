"""Intervals around a private answer, whose ends are released for half of the loss.

    Between(inner, ends, coverage, lie_between)     around a quantile, by one more draw
    SmoothBetween(inner, ends, coverage)            around an answer with smooth sensitivity noise

**Around a quantile.** Half of the loss is for a point v, a private quantile by any mechanism. The
other half is for a distance w from v. The ends are v - w and v + w, both cells of the public grid
or lattice of the column. If rows may lie between the numbers of cells, the interval contains all
rows on its cells. If there are several points, each has its own ends, for an equal part of the
second half.

*The drawn distance.* Let ``t = q (n - 1) + 1`` be the rank of the quantile of n rows. The quantile
lies between the rows of the two ranks next to t. There are public distances w_0 < w_1 < ..., the
last of which is the distance of the bounds. A distance w has the margin

    g(w) = min(L(v + w) - t, t - 1 - B(v - w)),

where L(o) is the number of rows at or below o, and B(o) the number below o. If g(w) >= 0, both of
those rows are between the ends, and so is the quantile. (The numbers of rows are whole, so ``L >=
t`` means ``L >= ceil(t)``.) No row is beyond a bound of the column. So for an end at a bound, its
term of the minimum is set to m + h, a public number. All margins are clamped to m + h and to -m -
h. w_j is drawn with probability proportional to

    b(w_j) exp(-c u_j),      u_j = max(m - g(w_j), g(w_(j-1)) - m, 0),      g(w_(-1)) = -m - h.

So u is 0 for the least distance with a margin of at least m. There is one, whatever the rows are.

*Loss.* An added row raises L(o) - t by 1 - q or lowers it by q. It raises t - 1 - B(o) by q or
lowers it by 1 - q. A replaced row changes each by at most 1, and so does a row that enters or
leaves by a mask. A minimum, a clipped number and a maximum change by no more than their arguments.
So u changes by at most the D of `exponential`, which is max(q, 1 - q) or 1. The draw with its c =
epsilon / (2 D) is epsilon-DP and has bounded range epsilon (McSherry and Talwar, FOCS 2007; Cesar
and Rogers, ALT 2021). v has already been released, and losses add up (Dwork, McSherry, Nissim and
Smith, TCC 2006). If q is a multiple of ``2**-32``, so are the margins, and the draw is exact
(`noise.choice`).

*Coverage.* The ends miss the quantile only for distances with g < 0. These are shorter than the
distance w_j with u = 0, and have u >= m. So the ends miss it with a probability of at most ``exp(-c
m) sum over i < j of b(w_i) / b(w_j)``. m is chosen so that this is at most the failure probability
for every j. The bound holds for the worst rows, and for any number of rows. If there are few rows,
the ends are the bounds.

*b* grows by a factor of e^(3/16) with each distance, and there are two distances in each octave.
Then the sum is below 4.9 for any number of distances (`SHORTER`). With equal weights, m would grow
with the logarithm of their number. h is 28 / c, so that even the weights of all shorter distances
together cannot outweigh it.

*An end of all rows.* For q = 0, no number of rows above a number shows that no row is below it. So
the interval begins with the lower bound, and g is the margin of the upper end alone. For q = 1 the
same holds with sides exchanged.

**Around an answer with smooth sensitivity noise.** The noise is ``(S / alpha) Z``, and its scale is
secret. But S is beta-smooth: ``|ln S(x) - ln S(x')| <= beta`` for neighbors. So ln S is rounded up
to k steps of a public size g, and the integer k is released with noise.

*Sensitivity.* `STEPS` times g is exactly beta + 2**-38. The 2**-38 covers two errors. S may fail to
be a smooth bound by 2**-41 (`noise.smooth.calibration`). And two float64 logarithms have errors of
2**-42 each, because they are below 2**10 in size and off by less than an ulp. So the computed
logarithms differ by at most `STEPS` steps, and so do their ceilings, which are exact. This remains
true if S is clipped to public limits, or if a public number is added to it.

*Loss.* k has the noise N of an integer of sensitivity `STEPS` (`noise.calibrated_integer`):

* discrete Laplace or staircase noise: epsilon-DP (Ghosh, Roughgarden and Sundararajan, STOC 2009);
* discrete Gaussian noise: rho-zCDP (Canonne, Kamath and Steinke, NeurIPS 2020);
* rounded Gaussian noise: (epsilon, delta)-DP.

Losses add up, as above. The ends are post-processing.

*Coverage.* S is at most ``exp(g k)``. So noise beyond ``t exp(g (k + N)) / alpha`` has ``|Z| > t
exp(g N)``. N is symmetric and independent of Z. So t is chosen such that the sum of ln |Z| and -g N
exceeds ln t only with the failure probability. t is public, and is computed from 64 quantiles of
each of the two (`sum_of_two`); N is below -w with at most half of the probability that ``|N|`` is
above w. ln t is much less than the sum of two quantiles for half of the failure probability each,
because both numbers are rarely large at once.

Rounding moves each end outwards: by half a cell and half a step of the grid for the statistic, by
half a step for the noisy number, by one step if the bounds are not multiples of it, and by half a
step of a lattice. A cell is no longer than a step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import privacy
from ..._core import checks
from ..._core.attributes import same_as
from ..._core.error_bars import CONFIDENCE, sum_of_two
from ...measurement.around import Around, OfKept
from ...measurement.equal_parts import part, together
from ...measurement.outer_bounds import Draw, Side
from ...measurement.statistic import Terms
from ...noise.calibrated_integer import IntegerNoise, integer_noise
from ...noise.choice import Stream
from ...noise.distributions import Distribution
from ...noise.distributions.base import context
from ...noise.sensitivity import Sensitivity
from ...privacy import ZCDP, Approx, Loss
from ...rng import Generator
from ...tables import Source
from ..ranked import Ranked
from .draws import CUT, PARTS, Column
from .exponential import ExponentialQuantile
from .smooth import Smooth

#: ln b falls by this with each smaller distance.
STEP = 3 / 16
#: The total weight of all smaller distances, relative to that of one distance, is at most this.
SHORTER = 1 / math.expm1(STEP)
#: The most ranks that are read on each side. If more are needed, the ends are the bounds.
MOST = 1 << 28
#: The most steps by which ln S of neighbors can differ, and an addition to beta for rounding.
STEPS, ROUNDED = 64, Fraction(1, 1 << 38)
OF_SCALE = Sensitivity.of_one(STEPS)
#: The noise of "auto" for intervals, unless the loss is a rho. Intervals are less than half as long
#: as with the noise of the least median error, and the median error is about the same.
LIGHT = "polyplace-finite-variance"


class Widths(NamedTuple):
    """Public parameters of a draw of the distance from a point to both ends of its interval.

    Attributes
    ----------
    fraction : int
        The quantile, in `PARTS`.
    rate : float
        c.
    first, last : int
        The cells of the bounds.
    lie_between : bool
        Whether rows may lie between the numbers of cells.
    steps : int64 array
        The distances in cells, two in each octave.
    margin : int
        m, in `PARTS`.
    reach : int
        The number of ranks that margins are clamped to.
    """

    fraction: int
    rate: float
    first: int
    last: int
    lie_between: bool
    steps: NDArray[np.int64]
    margin: int
    reach: int

    def side(self, cell: int, rows: NDArray[Any], before: int, n: int) -> Side:
        """NOT PRIVATE. Return the weights of all candidate distances from a cell.

        `rows` are the cells, ascending, of the rows from the rank `before` + 1 on, of `n`.
        """
        most, (whole, remainder) = (
            self.reach * PARTS,
            divmod(self.fraction * (n - 1) + PARTS, PARTS),
        )
        low, high = cell - self.steps, cell + self.steps
        upper = (np.searchsorted(rows, high, "right") + (before - whole)) * PARTS - remainder
        lower = (whole - 1 - before - np.searchsorted(rows, low)) * PARTS + remainder
        upper[(high >= self.last) | (self.fraction == PARTS)] = most
        lower[(low <= self.first) | (self.fraction == 0)] = most
        margins = np.clip(np.minimum(upper, lower), -most, most)
        prior = np.arange(len(margins), dtype=np.float64)[::-1] * STEP
        shorter, rate = np.append(-most, margins[:-1]), 2 * self.rate / PARTS
        return Side(shorter, margins, prior, Fraction(self.margin), rate)

    def draw(self, cell: int, rows: NDArray[Any], before: int, n: int, stream: Stream) -> int:
        """Draw the distance of the ends from a cell; `rows` and `before` are as in `side`."""
        (j,) = Draw(self.side(cell, rows, before, n), len(self.steps)).draw(1, stream)
        return int(self.steps[j])

    def ends(self, cells: Any, sizes: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the cells that begin and end intervals; a cell beyond all cells is a bound.

        If rows may lie between the numbers of cells, an interval ends where the next cell begins.
        """
        beyond = self.lie_between
        low, high = cells - np.asarray(sizes), cells + np.asarray(sizes) + beyond
        low = np.where((low <= self.first) | (self.fraction == 0), self.first - beyond, low)
        return low, np.where(
            (high > self.last) | (self.fraction == PARTS), self.last + beyond, high
        )


@lru_cache(maxsize=256)
def widths(fraction: int, rate: float, cells: Any, failure: float, lie_between: bool) -> Widths:
    """Return the draw of a distance whose ends miss a quantile with probability <= `failure`."""
    first, last = cells
    octaves = np.rint(2 ** (np.arange(2 * (last - first).bit_length() + 1) / 2))
    steps = np.unique(np.append(np.minimum(octaves, last - first), 0)).astype(np.int64)
    margin = math.log(SHORTER / failure) / rate
    reach = margin + CUT / rate
    if reach >= MOST:
        steps, margin, reach = steps[-1:], 0.0, 1.0
    exact = math.ceil(margin * PARTS)
    return Widths(fraction, rate, first, last, lie_between, steps, exact, math.ceil(reach))


@dataclass(frozen=True, slots=True)
class WithEnds(Around[NDArray[np.float64]]):
    """Base of mechanisms whose answers are lower ends, private answers and upper ends.

    Parameters
    ----------
    inner : Mechanism
        The mechanism of the released answer or answers.
    ends : tuple
        For each point, the mechanism with the part of the loss for its ends.
    coverage : float
        The coverage of each interval by itself.
    """

    ends: tuple[Any, ...]
    coverage: float

    @property
    def loss(self) -> Loss:
        point, ends = self.parts.values()
        # (epsilon, delta) adds up in either case, but the ends may have a rho that the point lacks.
        is_alike = point == ends and not isinstance(point, Approx)
        return together(ends, 2) if is_alike else privacy.compose(point, ends)

    @property
    def name(self) -> str:
        return f"{self.inner.name} with an interval"

    @property
    def parts(self) -> dict[str, Loss]:
        """The loss of the private answer and the loss of the ends, by name."""
        ends = together(self.ends[0].loss, len(self.ends))
        return {self.inner.name: self.inner.loss, "ends": ends}


@dataclass(frozen=True, slots=True)
class Between(WithEnds):
    """The mechanism of quantile intervals: private quantiles, each with an interval around it.

    Parameters
    ----------
    inner : Mechanism
    ends : tuple of ExponentialQuantile
        For each quantile, the mechanism that has the loss of its ends. A single one may be `inner`.
    coverage : float
    lie_between : bool
        As in `Widths`.
    """

    ends: tuple[ExponentialQuantile, ...]
    lie_between: bool

    @property
    def widths(self) -> list[Widths]:
        """The draw of the distance of the ends for each quantile."""
        failure, between = 1 - self.coverage, self.lie_between
        return [widths(q.params.fraction, q.rate, q.cells, failure, between) for q in self.ends]

    def reduce(self, source: Source) -> Any:
        summary = self.inner.reduce(source)
        drawn = isinstance(summary, tuple) and isinstance(summary[0], Column)
        column = summary[0] if drawn else self.ends[0].reduce(source)[0]
        pairs = zip(self.ends, self.widths, strict=True)
        return column, [column.look(end.rank, w.reach + 2 + end.ranks) for end, w in pairs], summary

    def finish(self, summary: Any, generator: Generator) -> NDArray[np.float64]:
        column, windows, of_point = summary
        released, first = self.inner.finish(of_point, generator), self.ends[0]
        points, number = np.ravel(released), column.edge if self.lie_between else first.value
        answer = np.array([points] * 3, np.float64)
        for i, cell in enumerate(column.cells(points).tolist()):
            (rows, before, n, _), of = windows[i], self.widths[i]
            size = of.draw(cell, rows, before - 1, n, generator.stream())
            low, high = (number(int(end)) for end in of.ends(cell, size))
            answer[::2, i] = min(low, points[i]), max(high, points[i])
        answer = np.clip(answer, first.lo, first.hi)
        return answer if np.ndim(released) else answer[:, 0]


class RangeBetween(Around[NDArray[np.float64]]):
    """The mechanism of an interval of an interquartile range, from intervals of both quartiles."""

    __slots__ = ()

    def finish(self, summary: Any, generator: Generator) -> NDArray[np.float64]:
        low, middle, high = self.inner.finish(summary, generator)
        near, farthest = max(0.0, low[1] - high[0]), high[1] - low[0]
        return np.array([near, middle[1] - middle[0], farthest])


@lru_cache(maxsize=256)
def reach(noise: Distribution, of_scale: IntegerNoise, step: float, failure: float) -> float:
    """Return t such that noise exceeds t released scales with probability at most `failure`."""
    shares, mp = np.append(1, np.geomspace(0.5, failure / 256, 64)), context(64)
    sizes = [float(noise.quantile(mp, mp.mpf(share / 2))) for share in shares[1:].tolist()]
    below = [of_scale.half_width(2 * share) for share in shares[1:].tolist()]
    return math.exp(sum_of_two(np.log(sizes), step * np.array(below), shares, failure))


@dataclass(frozen=True, slots=True)
class SmoothBetween(WithEnds):
    """The mechanism of an interval around an answer with noise for its smooth sensitivity.

    Parameters
    ----------
    inner : Smooth
    ends : (IntegerNoise,)
        The noise of an integer of sensitivity `STEPS`.
    coverage : float
    """

    inner: Smooth  # type: ignore[assignment]

    def finish(self, summary: tuple[float, float], generator: Generator) -> NDArray[np.float64]:
        inner, (noise,), failure = self.inner, self.ends, 1 - self.coverage
        answer, of = inner.finish(summary, generator), inner.calibration
        step = (Fraction(of.beta) + ROUNDED) / STEPS
        (k,) = noise.add([math.ceil(Fraction(math.log(summary[1])) / step)], generator)
        scale = math.exp(min(k * step, 700)) / of.alpha
        off = scale * reach(of.distribution, noise, float(step), failure) * (1 + 2.0**-30)
        off += 3 * inner.grid + (0 if inner.lattice is None else float(inner.lattice.step))
        return np.clip([answer - off, answer, answer + off], *inner.limits)


@dataclass(frozen=True, kw_only=True)
class SmoothInterval(Ranked[NDArray[np.float64]]):
    """An interval around an answer with smooth sensitivity noise, as a statistic to measure.

    Parameters
    ----------
    of : Ranked
        The statistic, with the same bounds.
    coverage : float
    """

    of: Any
    coverage: float

    name = same_as("of.name")
    answer_of_times = same_as("of.answer_of_times")
    chooses_by_type = same_as("of.chooses_by_type")
    covers_masks = same_as("of.covers_masks")

    def mechanism(self, terms: Terms) -> OfKept[NDArray[np.float64]]:
        half, of_answer = part(terms.loss, Fraction(1, 2)), self.of.noise
        if of_answer == "auto" and not isinstance(half, ZCDP):
            of_answer = LIGHT
        alike = replace(self.of, bounds=self.bounds, nan=self.nan, noise=of_answer)
        kept, noise = alike.mechanism(replace(terms, loss=half)), integer_noise(half, OF_SCALE)
        return OfKept(SmoothBetween(kept.inner, (noise,), self.coverage))


def smooth_interval(of: Any, coverage: float = CONFIDENCE) -> SmoothInterval:
    """Return the statistic of an interval around a statistic `of` with smooth sensitivity noise."""
    share = checks.share("coverage", coverage)
    return SmoothInterval(of.column, of=of, bounds=of.bounds, nan=of.nan, coverage=share)
