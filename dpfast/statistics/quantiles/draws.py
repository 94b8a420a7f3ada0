"""Exact draws of quantiles: the exponential mechanism over the cells of a public grid.

A cell ``o`` stands for the number ``o * grid``. Every row is on the cell at or next below its
value, or on the first or last cell if it is outside; so a tie of values is a tie on a cell. What
counts of a column are the numbers ``less(o)`` and ``leq(o)`` of rows on lower cells, and of these
and the rows on o. All cells between two neighboring rows have one utility, so they make one
weighted run, and `noise.choice.Weights` draws among runs exactly. What a cell weighs before
the data are seen is `noise.grid.Base`; the distributions below are relative to it.

Only the runs at ranks within some K of the target are looked at. The cells on either side of them
make one run each, a lump, with the least distance that any of its cells can have. A lump is
proposed about once in 2**40 draws; then one of its cells is picked, its rows are counted
by a pass, and it is kept with the probability that its own distance gives. That is rejection
sampling, so the distribution does not depend on K.

`choose` treats all ranks of a tie as one. `divide` also says where in a tie to divide it: it draws
a pair of a cell and one of its `parts` parts, over which the rows of the cell are spread evenly.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._kernels.rng import BitStream
from ..._kernels.statistics import cells as cells_of
from ..._kernels.statistics import draw_cell
from ...noise import grid as _grid
from ...noise.choice import Weights, below, decide
from ...noise.distributions.exact import Tail, nearest_double
from ...noise.grid import Base
from ...summaries.order import Ranks, Window
from ...summaries.order_statistics import least_from

#: What lies outside the window weighs at most exp(-CUT).
CUT = 40 * math.log(2)
#: The same for a window that is tried first.
HALF_CUT = CUT / 2
#: Parts of a cell among which `divide` draws.
PARTS = 1 << 40
#: Ranks by steps; see `choose`.
STEPS = -1
#: Stands for a number of ranks beyond all data.
FARTHEST = 1 << 60


def width(c: float, total: int, cut: float = CUT) -> int:
    """Return the ranks round the target beyond which cells of weight `total` come to exp(-cut)."""
    ranks = max(0.0, math.log(total) + cut) / c
    return FARTHEST if ranks >= FARTHEST else math.ceil(ranks) + 1


class Column:
    """Column of rows on the cells of a grid between `lo` and `hi`; NOT PRIVATE."""

    def __init__(
        self, ranks: Ranks, lo: float, hi: float, grid: float, base: Base | None = None
    ) -> None:
        self.ranks = ranks
        self.lo = lo
        self.hi = hi
        self.grid = grid
        #: What the cells weigh; all the same if it is left out.
        if base is None:
            # Equal bounds have one cell, where the grid need not have one.
            base = _grid.base(*(_grid.ends(lo, hi, grid) if lo < hi else (0, 0)))
        self.base = base
        self.first, self.last = self.base.first, self.base.last
        self._seen: tuple[int, int, Window] | None = None

    def cells(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """Return the cells of ascending values of any dtype, exactly."""
        if self.lo == self.hi:
            return np.zeros(len(values), np.int64)
        dtype = values.dtype
        if dtype.kind == "f":
            x = values.astype(np.float64, copy=False)
            return cells_of(x, self.lo, self.hi, self.grid, self.first, self.last)
        low, high = least_from(dtype, self.lo), math.floor(self.hi) + 1
        info = np.iinfo(dtype)
        i = j = len(values)
        if low is not None:
            i = int(np.searchsorted(values, low))
        if high <= info.max:
            j = int(np.searchsorted(values, dtype.type(max(high, info.min))))
        cells = np.full(len(values), self.first)
        cells[i:j] = _cells_of_integers(values[i:j], self.grid)
        cells[j:] = self.last
        inside: NDArray[np.int64] = np.minimum(np.maximum(cells, self.first), self.last)
        return inside

    def look(self, rule: Callable[[int], int], reach: int) -> Window:
        """Return the cells of the ranks round that of a rule; the last ones are cached."""
        if self._seen is not None:
            rank, width, window = self._seen
            if width == reach and (not window.n or rule(window.n) == rank):
                return window
        window = self.ranks.window(rule, reach, self.cells)
        self._seen = rule(window.n) if window.n else 0, reach, window
        return window

    def less(self, cell: int, n: int) -> int:
        """Count the rows, of `n`, on cells below `cell`."""
        if cell <= self.first or cell > self.last:
            return 0 if cell <= self.first else n
        return self.ranks.less(cell * self.grid)

    def counts(self, cell: int, n: int) -> tuple[int, int]:
        """Count the rows, of `n`, on cells below `cell`, and with those on it."""
        return self.less(cell, n), self.less(cell + 1, n)

    def halves(self, cell: int, n: int, share: int) -> tuple[int, int]:
        """Return the interval of ranks that a cell has, by halves (csrc/statistics/draw.h).

        `n` is the number of rows. It takes passes.
        """
        less, leq = self.counts(cell, n)
        if less < leq:
            return 2 * less + 2, 2 * leq
        low, high = self.first - 1, self.last + 1
        if less:
            low = int(self.ranks.window(lambda _: less, 0, self.cells).values[0])
        if less < n:
            high = int(self.ranks.window(lambda _: less + 1, 0, self.cells).values[0])
        near = min(share * (high - low) >> 20, (high - low - 1) // 2)
        rank = 2 * less + (0 if cell - low <= near else 2 if high - cell <= near else 1)
        return rank, rank

    def marks(self, value: Any) -> tuple[float, float]:
        """Return where the cell of a value begins and ends."""
        cell = int(self.cells(np.array([value]))[0])
        return cell * self.grid, (cell + 1) * self.grid


def _cells_of_integers(x: NDArray[Any], grid: float) -> NDArray[np.int64]:
    """Return the floors of x / grid, which are known to be below 2**53."""
    shift = math.frexp(grid)[1] - 1
    if shift <= 0:
        # Where the grid is very fine, 0 alone is within the bounds.
        return x.astype(np.int64) << min(-shift, 62)
    if shift >= 8 * x.dtype.itemsize:
        return np.where(x < 0, -1, 0)
    cells: NDArray[np.int64] = (x >> x.dtype.type(shift)).astype(np.int64)
    return cells


class _Runs(NamedTuple):
    """Runs of cells, ascending; run i is the cells from ``start[i]`` to ``end[i]``.

    At the first run if `low_lump`, and at the last if `high_lump`, the ranks are unknown: those
    told are the nearest to the target that any of the cells can have. `tie` are the runs of one
    cell that rows are at.
    """

    start: NDArray[np.int64]
    end: NDArray[np.int64]
    less: NDArray[np.int64]
    leq: NDArray[np.int64]
    tie: NDArray[np.bool_]
    low_lump: bool
    high_lump: bool
    n: int

    def lump(self, run: int) -> bool:
        return (self.low_lump and run == 0) or (self.high_lump and run == len(self.start) - 1)


class _Distances:
    """Distances ``max(0, less - target, target - leq)`` of ascending runs.

    Those of the runs before `under` are ``target - leq``, those of the runs from `over` on
    ``less - target``, and between them they are 0.
    """

    __slots__ = ("leq", "less", "over", "target", "under")

    def __init__(self, less: NDArray[np.int64], leq: NDArray[np.int64], target: Fraction) -> None:
        self.less, self.leq, self.target = less, leq, target
        whole = target.numerator // target.denominator
        self.under = int(leq.searchsorted(whole, "right"))
        self.over = int(less.searchsorted(whole, "right"))

    def exact(self, run: int) -> Fraction:
        """Return the distance of a run."""
        if run < self.under:
            return self.target - int(self.leq[run])
        return int(self.less[run]) - self.target if run >= self.over else Fraction(0)

    def least(self) -> Fraction | None:
        """Return the least distance, if there are any."""
        if self.under < self.over:
            return Fraction(0)
        ends = [i for i in (self.under - 1, self.over) if 0 <= i < len(self.less)]
        return min(map(self.exact, ends), default=None)

    def above(self, least: Fraction) -> NDArray[np.float64]:
        """Return the distances above `least`, to a relative 2**-51.

        Two numbers of one sign are added. None of them is below `least`, so where one is 0, `least`
        is 0.
        """
        out = np.zeros(len(self.less))
        if self.under:
            whole, rest = _split(self.target - least)
            np.subtract(whole, self.leq[: self.under], out=out[: self.under])
            out[: self.under] += rest
        if self.over < len(out):
            whole, rest = _split(-self.target - least)
            np.add(whole, self.less[self.over :], out=out[self.over :])
            out[self.over :] += rest
        return out


def _split(x: Fraction) -> tuple[int, float]:
    """Return the floor of a number, and the rest."""
    whole, rest = divmod(x.numerator, x.denominator)
    return whole, rest / x.denominator


def _survey(
    column: Column, target: Fraction, c: float, cells: tuple[int, int], cut: float
) -> _Runs:
    """Return the runs of cells, with the ranks of a tie that the window cuts."""
    a, b = cells
    middle = max(1, math.ceil(target))
    reach = width(c, column.base.weight(a, b), cut)
    window = column.look(lambda n: min(middle, n), reach)
    rows, before, n = window.values, window.first - 1, window.n
    # Where the rows on a cell begin, and where the last of them ends.
    new = np.empty(len(rows) + 1, np.bool_)
    new[0] = new[-1] = len(rows) > 0
    np.not_equal(rows[1:], rows[:-1], out=new[1:-1])
    edges = new.nonzero()[0]
    at = rows[edges[:-1]]
    rank = edges + before if len(edges) else np.zeros(1, np.int64)
    if len(at):
        # Ranks that the window cuts off the first and the last cell are counted, or if those are of
        # no interest, the cells are left to the lumps.
        if a <= at[-1] <= b and rank[-1] < n:
            if len(at) > 1 and rank[-2] >= target and (rank[-1] - rank[-2]) * c <= 1:
                at, rank = at[:-1], rank[:-1]
            else:
                rank[-1] = column.less(int(at[-1]) + 1, n)
        if a <= at[0] <= b and rank[0] > 0:
            if len(at) > 1 and rank[1] <= target and (rank[1] - rank[0]) * c <= 1:
                at, rank = at[1:], rank[1:]
            else:
                rank[0] = column.less(int(at[0]), n)
    # By turns the gap before a cell that rows are on, and that cell; at last the gap after all.
    cell, ranks = np.repeat(at, 2), np.repeat(rank, 2)
    start, end = np.concatenate([[a], cell]), np.concatenate([cell, [b]])
    start[2::2] += 1
    end[:-1:2] -= 1
    if len(at) and not a <= at[0] <= at[-1] <= b:
        np.maximum(start, a, out=start)
        np.minimum(end, b, out=end)
    some = start <= end
    low, high = bool(rank[0] > 0 and some[0]), bool(rank[-1] < n and some[-1])
    here = some.nonzero()[0]
    less, leq, tie = ranks[:-1], ranks[1:], here % 2 == 1
    return _Runs(start[here], end[here], less[here], leq[here], tie, low, high, n)


def inner(rows: int, at: int, reach: int) -> tuple[int, int]:
    """Return where the rows of a window that is tried first begin and end.

    They are those within `reach` ranks of row `at` (from 1) of a window of so many rows. Mostly
    they do: what lies beyond is a small share of all, where gaps are about even. The target lies
    between the rows at and before `at`, so both of them are here, if the window has them.
    """
    return max(0, at - 1 - reach), min(rows, at + reach)


def choose(
    column: Column,
    target: Fraction,
    c: float,
    cells: tuple[int, int],
    stream: BitStream,
    *,
    share: int = STEPS,
    reach: int | None = None,
    cut: float = CUT,
) -> int:
    """Draw a cell ``o`` of ``cells = (first, last)`` with probability proportional to exp(-c u(o)).

    By steps ``u(o) = max(0, less(o) - target, target - leq(o))``: the target is a rank position,
    from 0 to n, and not outside the ranks that the cells have. With a `share`, which takes all
    cells of the column, u is the distance from the target of the cell's interval of ranks
    (csrc/statistics/draw.h). `reach` is how many ranks either way to look at, if that is known.
    """
    a, b = cells
    if a == b:
        return a
    base, middle = column.base, max(1, math.ceil(target))
    if reach is None:
        reach = width(c, base.weight(a, b), cut)
    window = column.look(lambda n: min(middle, n), reach)
    rows, before, n = window.values, window.first - 1, window.n
    skip, stop = inner(len(rows), min(middle, n) - before, width(c, n + 1, HALF_CUT) + 1)
    narrow = cut == CUT and 4 * (stop - skip) < 3 * len(rows)
    unit = 1 if share < 0 else 2
    whole, rest = divmod(unit * target.numerator, target.denominator)
    one, rate = target.denominator, c / unit
    while True:
        seen = (rows[skip:stop], before + skip) if narrow else (rows, before)
        drawn = draw_cell(
            *seen, n, a, b, whole, rest / one, (one - rest) / one, rate, share, base, stream, narrow
        )
        if drawn is None:
            narrow = False
            continue
        cell, run = drawn
        if run is None:
            return cell
        low, high, mass, scale, bound, bottom, top, word = run
        if word is None:
            known = column.counts if share < 0 else partial(column.halves, share=share)
            low, high = known(cell, n)
            word = stream.word()
        aim = unit * target
        least = max(Fraction(0), bottom - aim, aim - top)
        distance = max(Fraction(0), low - aim, aim - high) - least
        if decide(word, rate, distance, stream, mass, bound, scale):
            return cell


def _keep(
    weights: Weights, proposal: NDArray[np.int64], distance: Fraction, stream: BitStream
) -> bool:
    near = np.array([nearest_double(distance)])
    return bool(weights.keep(proposal, near, lambda _: distance, stream)[0])


class _Block(NamedTuple):
    """Parts ``begin .. end - 1`` of a cell whose rows have the rank positions `low` to `high`."""

    cell: int
    low: Fraction
    high: Fraction
    begin: int
    end: int


def divide(
    column: Column,
    target: Fraction,
    c: float,
    cells: tuple[int, int],
    ends: tuple[Fraction, Fraction],
    stream: BitStream,
    *,
    parts: int = PARTS,
    cut: float = CUT,
) -> tuple[int, Fraction]:
    """Draw a cell ``o`` of `cells` and a rank position in it, to divide the rows at.

    Drawn are a cell and a part ``j`` of 0 .. parts - 1, with probability proportional to
    ``exp(-c |p - target|)``, where p is the position of the part:

        p = l + (j + 1/2) / parts (h - l),   l = max(less(o), ends[0]),   h = min(leq(o), ends[1])

    So a row at the cell ``o`` that is drawn counts as (j + 1/2) / parts of a row below p. What is
    returned is ``(o, p)``.
    """
    a, b = cells
    bottom, top = ends
    runs = _survey(column, target, c, cells, cut)

    def interval(less: int, leq: int) -> tuple[Fraction, Fraction]:
        return max(Fraction(less), bottom), min(Fraction(leq), top)

    # A tie of few ranks is one run, thinned. One of many ranks is cut up into blocks, and so is one
    # that the ends may have cut.
    edge = (runs.start == a) | (runs.start == b)
    apart = runs.tie & (edge | ((runs.leq - runs.less) * c > 2))
    blocks: list[_Block] = []
    for run in np.flatnonzero(apart).tolist():
        low, high = interval(int(runs.less[run]), int(runs.leq[run]))
        blocks += _blocks(int(runs.start[run]), low, high, target, c, parts)
    whole = np.flatnonzero(~apart)
    distances = _Distances(runs.less[whole], runs.leq[whole], target)

    def position(block: _Block, part: int) -> Fraction:
        return block.low + Fraction(2 * part + 1, 2 * parts) * (block.high - block.low)

    def nearest(block: _Block) -> Fraction:
        p, q = position(block, block.begin), position(block, block.end - 1)
        return max([Fraction(0), p - target, target - q])

    near = [nearest(block) for block in blocks]
    plain = distances.least()
    least = min(near if plain is None else [plain, *near])
    # A block has less than the weight of a cell. To `Weights` it is a cell that is farther away,
    # not quite as far as its true weight would have it, and a second coin makes up for the rest.
    share = [Fraction(block.end - block.begin, parts) for block in blocks]
    farther = [
        (nearest_double(d - least) + max(0.0, -math.log(s) - 2**-40) / c) * (1 - 2**-40)
        for d, s in zip(near, share, strict=True)
    ]
    start = np.concatenate([runs.start[whole], np.array([b.cell for b in blocks], np.int64)])
    end = np.concatenate([runs.end[whole], start[len(whole) :]])
    mass = column.base.mass(start, end)
    weights = Weights(np.concatenate([distances.above(least), farther]), c, mass)
    while True:
        proposal = weights.propose(1, stream)
        i = int(proposal[0])
        if i >= len(whole):
            i -= len(whole)
            block = blocks[i]
            p = position(block, block.begin + below(block.end - block.begin, stream))
            pretended = Fraction(farther[i])
            more = abs(p - target) - least - pretended
            if _keep(weights, proposal, pretended, stream) and _thin(c, more, share[i], stream):
                return block.cell, p
            continue
        run = int(whole[i])
        cell = column.base.draw(int(start[i]), int(end[i]), int(mass[i]), stream)
        less, leq = int(runs.less[run]), int(runs.leq[run])
        distance = distances.exact(i) - least
        p = Fraction(less)
        if runs.lump(run):
            less, leq = column.counts(cell, runs.n)
        if runs.lump(run) or runs.tie[run]:
            block = _Block(cell, *interval(less, leq), 0, parts)
            p = position(block, below(parts, stream))
            distance = abs(p - target) - least
        if _keep(weights, proposal, distance, stream):
            return cell, p


def _blocks(
    cell: int, low: Fraction, high: Fraction, target: Fraction, c: float, parts: int
) -> list[_Block]:
    """Return the parts of a cell, in blocks that grow with the distance from the target.

    The first has about 1 / c ranks, the next twice as many, and so on: the distances in a block are
    like the least of them, or have no weight.
    """
    ranks = high - low
    if ranks == 0:
        return [_Block(cell, low, high, 0, parts)]
    middle = min(max(math.ceil((target - low) / ranks * parts - Fraction(1, 2)), 0), parts)
    least = max(1, min(parts, math.ceil(parts / (Fraction(c) * ranks))))
    result = []
    for sign, size in ((-1, middle), (1, parts - middle)):
        done, step = 0, least
        while done < size:
            stop = min(done + step, size)
            span = (middle - stop, middle - done) if sign < 0 else (middle + done, middle + stop)
            result.append(_Block(cell, low, high, *span))
            done, step = stop, 2 * step
    return result


def _thin(c: float, distance: Fraction, share: Fraction, stream: BitStream) -> bool:
    """Flip a coin of probability share exp(-c distance); the distance may be below 0."""
    x = Fraction(c) * distance
    extra = (abs(x.numerator) // x.denominator).bit_length()

    def probability(mp: Any) -> Any:
        with mp.extraprec(extra):
            power = mp.exp(-mp.mpf(x.numerator) / x.denominator)
        return power * share.numerator / share.denominator

    return Tail(stream.word(), stream.word).below(probability)
