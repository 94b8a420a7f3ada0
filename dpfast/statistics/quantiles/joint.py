"""Many quantiles in one draw (JointExp): an exact sample of the exponential mechanism.

The candidates are all ascending m-tuples of points of the public grid. A run is a range of grid
points between rows, which all have the same utility. The weights of candidates are summed over runs
by a recursion that adds and multiplies positive numbers only, so no small weight is lost
(``csrc/statistics/joint.h``). The remaining rounding changes the probability of an answer by a
factor within ``exp(+- ROUNDINGS 2**-53)`` for any data, and epsilon is reduced accordingly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..._core import checks
from ..._core.error_bars import DIFFERENT, ErrorBar
from ..._kernels.rng import BitStream
from ..._kernels.statistics import JOINT_POWERS as POWERS
from ..._kernels.statistics import JointTable as Table
from ...budget.mechanism import Mechanism
from ...errors import DataError
from ...noise.choice import below
from ...noise.distributions.base import context
from ...noise.distributions.exact import Tail
from ...noise.grid import Base, Lattice
from ...privacy import ZCDP, Loss, Pure, float_down, range_within
from ...rng import Generator
from ...tables import Source
from ..ranked import Drawn
from .draws import Column
from .recursive import RecursiveQuantiles

Wide = tuple[float, int]

#: A wide number is a pair (m, e), which stands for m 2**(512 e).
BITS = 512
#: The largest exponent for one rank. It already makes a rank count as a factor exp(-256), and more
#: would only make numbers longer.
STEEPEST = 256.0
MOST_ROWS = 2 ** (POWERS - 1) - 1
#: A window with this many ranks on each side contains all data.
EVERY = 1 << 60


def spread(qs: tuple[Fraction, ...], neighbors: str) -> Fraction:
    """Return the range of the utilities' changes between neighbors, which divides epsilon.

    `qs` ascend. Let g_1, ..., g_(m + 1) be the gaps between 0, the quantiles and 1. A candidate
    divides the rows into m + 1 intervals. Let x_j = count_j - g_j n, for the number count_j of rows
    in interval j. The utility is minus the sum of |x_j|. The x_j add up to 0, and x_j >= 0 where
    g_j = 0.

    *A row is added*, and falls into interval k. Its term changes by |x_k + 1 - g_k| - |x_k|, the
    others by |x_j - g_j| - |x_j|: between -2 (1 - g_k) and 2 (1 - g_k) in all.

    - The upper end is reached if x_k >= 0 >= x_j for all other j, which some candidate satisfies
      for every k. So the largest change is 2 (1 - g), where g is the least gap.
    - The lower end is reached if x_k <= g_k - 1, which needs g_k > 0, and x_j >= g_j for all other
      j. So the least change is -2 (1 - g'), where g' is the least gap that is not 0. If g' is 1,
      all rows belong into one interval, and the change is 0 there.
    - If g_k = 0, its term changes by 1, and the other terms together by at least -1. So the change
      is at least 0.

    *A row is replaced*, and goes from interval a to interval b. |x_a - 1| - |x_a| is between -1 and
    1, and is -1 if g_a = 0. |x_b + 1| - |x_b| is between -1 and 1, and is 1 if g_b = 0. Let the row
    move up, so a <= b for every candidate. (If it moves down, exchange the rows.) If a gap before
    the last is not 0, the sum of both is 2 for some candidate; otherwise it is at most 0. If a gap
    after the first is not 0, the sum is -2 for some candidate; otherwise it is at least 0. So the
    length is 4, but 2 if the quantiles are all 0 or all 1.
    """
    if neighbors == "replace":
        return Fraction(2 if qs[-1] == 0 or qs[0] == 1 else 4)
    gaps = [b - a for a, b in pairwise((Fraction(0), *qs, Fraction(1)))]
    return 2 * (1 - min(gaps)) + 2 * (1 - min(filter(None, gaps)))


def rounding(m: int) -> Fraction:
    """Return a bound on ``|ln(computed / exact)|`` for the probability of any answer.

    An answer is drawn in blocks, the last block first. A block is the quantiles that share a run. A
    block that ends with quantile s is drawn with a product that is rounded at most 4 s + 11 times,
    divided by sums that are rounded as often. Its size is drawn with terms that are rounded at most
    3 s + 3 times, divided by their sum. These are fewer than 14 s + 28 roundings for quantile s,
    and the sum over s = 1 .. m is below 8 (m + 2)**2. The recursions in two words have an error
    below 2**-64 for any number of rows that is allowed.
    """
    return Fraction(8 * (m + 2) ** 2, 2**53)


def _wide(mp: Any, x: Any) -> tuple[Any, int]:
    """Return the mantissa, in [2**-256, 2**256], and the exponent of a positive mpmath number."""
    e = (mp.mag(x) + 255) // BITS
    return mp.ldexp(x, -BITS * e), e


def _decay(mp: Any, c: float, distance: Fraction) -> Wide:
    """Return exp(-c distance) as a wide number."""
    x = mp.mpf(c) * distance.numerator / distance.denominator
    m, e = _wide(mp, mp.exp(-x))
    return float(m), e


@dataclass(frozen=True, slots=True)
class Joint:
    """NOT PRIVATE. Runs of grid points between the rows, and the sums of weights over runs."""

    first: NDArray[np.int64]  # the first cell of each run
    length: NDArray[np.int64]
    at: NDArray[np.int64]
    n: int
    table: Table


def summary(
    rows: NDArray[np.int64], ends: tuple[int, int], qs: tuple[Fraction, ...], c: float
) -> Joint:
    """NOT PRIVATE. Return the table of weights of m-tuples, from the ascending cells of rows."""
    n, m = len(rows), len(qs)
    edges = np.concatenate([[ends[0] - 1], rows, [ends[1]]])
    length = np.diff(edges)
    at = np.flatnonzero(length)
    length = length[at]
    first = edges[:-1][at] + 1
    mp = context(160)
    zero = (1.0, 0)
    cuts = (Fraction(0), *qs, Fraction(1))
    firsts, above, near = [1], [zero], [zero]
    for a, b in pairwise(cuts):
        t = (b - a) * n
        firsts.append(max(math.ceil(t), 1))
        above.append(_decay(mp, c, firsts[-1] - t))
        near.append(_decay(mp, c, max(t - (firsts[-1] - 1), Fraction(0))))
    stay = [
        [zero if r < 1 else _decay(mp, c, (cuts[s] - cuts[s - r + 1]) * n) for r in range(s + 1)]
        for s in range(m + 1)
    ]
    power = []
    for bit in range(POWERS):
        mantissa, e = (mp.one, 0)
        if bit <= n.bit_length():
            mantissa, e = _wide(mp, mp.exp(-mp.ldexp(mp.mpf(c), bit)))
        power.append((float(mantissa), float(mantissa - float(mantissa)), e))
    table = Table(at.astype(np.int64), length, m, n, firsts, above, near, stay, power)
    table.fill()
    return Joint(first, length, at, n, table)


def _coin(weight: Wide, scale: Wide, bound: int, stream: BitStream) -> bool:
    """Tell whether a uniform random number is below ``2**60 weight / (scale bound)``, exactly."""
    shift = 60 + BITS * (weight[1] - scale[1])

    def probability(mp: Any) -> Any:
        return mp.ldexp(mp.mpf(weight[0]) / mp.mpf(scale[0]) / bound, shift)

    return Tail(stream.word(), stream.word).below(probability)


def pick(weights: list[Wide], stream: BitStream) -> int:
    """Draw an index with probability proportional to its weight, exactly."""
    e = max(w[1] for w in weights if w[0])
    scale = max((w[0], w[1]) for w in weights if w[1] == e)
    bounds = []
    for mantissa, exponent in weights:
        # The ratio of two mantissas is below 2**512, and the ratio of two weights at most 1.
        ratio = math.ldexp(mantissa / scale[0], max(BITS * (exponent - e), -2000))
        bounds.append(int(ratio * 2.0**60 * (1 + 2.0**-40)) + 1 if mantissa else 0)
    total = sum(bounds)
    while True:
        mass, i = below(total, stream), 0
        while mass >= bounds[i]:
            mass -= bounds[i]
            i += 1
        if _coin(weights[i], scale, bounds[i], stream):
            return i


def together(length: int, r: int, stream: BitStream) -> list[int]:
    """Draw r of `length` cells, uniformly among all ascending choices with repeats."""
    # Ascending choices with repeats correspond to the r-subsets of length + r - 1 cells. Floyd's
    # algorithm draws one of these.
    chosen: set[int] = set()
    for top in range(length - 1, length + r - 1):
        candidate = below(top + 1, stream)
        chosen.add(top if candidate in chosen else candidate)
    return [candidate - k for k, candidate in enumerate(sorted(chosen))]


def draw(summary: Joint, m: int, stream: BitStream) -> list[int]:
    """Draw one ordered m-tuple of cells, exactly from the exponential mechanism."""
    table = summary.table
    out = [0] * m
    step, stop, rank = m + 1, len(summary.at), summary.n
    while step > 1:
        total, scale = table.look(step, stop, rank)
        while True:
            i, bound = table.find(below(total, stream))
            if _coin(table.weight(step, rank, i), scale, bound, stream):
                break
        last = step - 1
        r = 1 + pick(table.terms(last, i), stream)
        run = int(summary.first[i])
        out[last - r : last] = [run + k for k in together(int(summary.length[i]), r, stream)]
        step, stop, rank = last - r + 1, i, int(summary.at[i])
    return out


@dataclass(frozen=True, slots=True)
class JointQuantiles(Drawn[NDArray[np.float64]]):
    """The mechanism of quantiles drawn jointly as one tuple; see `dpfast.quantiles`."""

    qs: tuple[Fraction, ...] = field(kw_only=True)  # in the order of the call
    c: float = field(init=False)

    def __post_init__(self) -> None:
        loss = self.loss
        self.prepare(1)
        epsilon = loss.epsilon if isinstance(loss, Pure) else range_within(loss.rho)
        charge = 4 * rounding(len(self.qs))
        if epsilon < 2 * charge:
            name, least, size = "epsilon", 2 * charge, epsilon
            if isinstance(loss, ZCDP):
                name, least, size = "rho", least**2 / 8, loss.rho
            checks.fail(
                name,
                f"at least {math.nextafter(float(least), 1):.3g} for {len(self.qs)} quantiles with "
                "method='joint', because it also pays for rounding",
                float(size),
            )
        exponent = (epsilon - charge) / spread(tuple(sorted(self.qs)), self.neighbors)
        c = min(float_down(exponent), STEEPEST) if exponent < STEEPEST else STEEPEST
        object.__setattr__(self, "c", c)

    @property
    def name(self) -> str:
        return "quantiles " + ", ".join(str(q) for q in self.qs)

    def reduce(self, source: Source) -> Joint | None:
        ranks = self.ranks_of(source)
        column = Column(ranks, self.lo, self.hi, self.grid, Base(*self.cells), self.lattice)
        window = self.present(ranks.window(lambda n: 1, EVERY, column.cells))
        if self.lo == self.hi:
            return None
        if window.n > MOST_ROWS:
            raise DataError(
                f"method='joint' takes at most {MOST_ROWS} rows; use method='recursive'"
            )
        ends = column.first, column.last
        return summary(window.values, ends, tuple(sorted(self.qs)), self.c)

    def finish(self, summary: Joint | None, generator: Generator) -> NDArray[np.float64]:
        out = np.full(len(self.qs), self.lo)
        if summary is not None:
            cells = draw(summary, len(self.qs), generator.stream())
            order = sorted(range(len(self.qs)), key=lambda k: self.qs[k])
            out[order] = [self.value(cell) for cell in cells]
        return out

    def error(self, rows: int | None, confidence: float) -> ErrorBar:
        """Return the error bar of all quantiles in ranks, by McSherry and Talwar's bound.

        Let E_j be the error of answer j in ranks, so that x_j of `spread` is E_j - E_(j - 1). If no
        two rows are on one cell, some m-tuple of cells has |E_j| <= 1 for all j, and a utility of
        at least -2 m. An m-tuple with a sum of |x_j| above 2 m + g has at most exp(-c g) times its
        weight. The x_j add up to 0, so each |E_j| is at most half of this sum. If many rows are on
        one cell, every answer may be equally likely.
        """
        if self.lo == self.hi:
            return ErrorBar(confidence, 0.0, 0.0)
        m, (first, last) = len(self.qs), self.cells
        top = last - first + m
        tuples = sum(math.log((top - i) / (m - i)) for i in range(m))
        excess = (tuples + float(4 * rounding(m)) - math.log1p(-confidence)) / self.c
        return ErrorBar(confidence, None, [m + excess / 2] * m, DIFFERENT)


@dataclass(frozen=True, slots=True)
class ExponentialRange(Mechanism[float]):
    """The mechanism of an interquartile range: the distance of two drawn quartiles."""

    quartiles: RecursiveQuantiles | JointQuantiles
    loss: Loss
    neighbors: str

    name: ClassVar[str] = "interquartile range"

    def reduce(self, source: Source) -> Any:
        return self.quartiles.reduce(source)

    def finish(self, summary: Any, generator: Generator) -> float:
        lower, upper = self.quartiles.finish(summary, generator)
        distance, lattice = float(upper - lower), self.quartiles.lattice
        if lattice is None:
            return distance
        return Lattice(lattice.step, 0, lattice.last - lattice.first).nearest(distance)

    def error(self, rows: int | None, confidence: float) -> ErrorBar:
        """Return the error bar of both quartiles in ranks: each may fail half as often."""
        bar = self.quartiles.error(rows, min((1 + confidence) / 2, math.nextafter(1, 0)))
        return replace(bar, confidence=confidence, ranks=float(np.max(bar.ranks)))
