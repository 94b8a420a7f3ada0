"""Exact draws of quantiles: the exponential mechanism over the cells of a public grid.

A cell ``o`` stands for the number ``o * grid``. Every row is on the cell at or next below its
value, or on the first or last cell if it is outside; so a tie of values is a tie on a cell. What
counts of a column are the numbers ``less(o)`` and ``leq(o)`` of rows on lower cells, and of these
and the rows on o. All cells between two neighbouring rows have one utility, so they make one
weighted run, and `_choice.Weights` draws among runs exactly. What a cell weighs before
the data are seen is `_grid.Base`; the laws below are relative to it.

Only the runs at ranks within some K of the target are looked at. The cells on either side of them
make one run each, a lump, with the least distance that any of its cells can have. A lump is
proposed about once in 2**40 draws; then one of its cells is picked, its rows are counted
by a pass, and it is kept with the probability that its own distance gives. That is rejection
sampling, so the law does not depend on K.

`choose` treats all ranks of a tie as one. `divide` also says where in a tie to divide it: it draws
a pair of a cell and one of its `parts` parts, over which the rows of the cell are spread evenly.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._choice import Weights, below
from ._grid import Base
from ._laws._exact import Tail
from ._layout import least_from
from ._native.rng import BitStream
from .order import Ranks, Window

__all__ = ["CUT", "PARTS", "Column", "choose", "divide", "width"]

#: What lies outside the window weighs at most exp(-CUT).
CUT = 40 * math.log(2)
#: Parts of a cell among which `divide` draws.
PARTS = 1 << 40
#: Stands for a number of ranks beyond all data.
FARTHEST = 1 << 60


def width(c: float, total: int, cut: float = CUT) -> int:
    """Ranks on either side of the target beyond which cells of weight `total` come to exp(-cut)."""
    ranks = max(0.0, math.log(total) + cut) / c
    return FARTHEST if ranks >= FARTHEST else math.ceil(ranks) + 1


class Column:
    """One column, seen from the cells of a grid between `lo` and `hi`; NOT PRIVATE."""

    def __init__(
        self, ranks: Ranks, lo: float, hi: float, grid: float, base: Base | None = None
    ) -> None:
        self.ranks = ranks
        self.lo = lo
        self.hi = hi
        self.grid = grid
        self.first = math.ceil(lo / grid)
        self.last = math.floor(hi / grid)
        #: What the cells weigh; all the same if it is left out.
        self.base = Base(self.first, self.last, 0) if base is None else base

    def cells(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """The cells of ascending values of any dtype, exactly."""
        dtype = values.dtype
        if dtype.kind == "f":
            x = np.clip(values.astype(np.float64), self.lo, self.hi)
            cell = np.floor(x / self.grid)  # exact, or an underflow towards 0
            cell -= cell * self.grid > x
            found = cell.astype(np.int64)
        else:
            low, high = least_from(dtype, self.lo), math.floor(self.hi) + 1
            info = np.iinfo(dtype)
            i = j = len(values)
            if low is not None:
                i = int(np.searchsorted(values, low))
            if high <= info.max:
                j = int(np.searchsorted(values, dtype.type(max(high, info.min))))
            found = np.full(len(values), self.first)
            found[i:j] = _cells_of_integers(values[i:j], self.grid)
            found[j:] = self.last
        return np.clip(found, self.first, self.last)

    def window(self, rank: int, reach: int) -> Window:
        """The cells of the ranks round `rank`."""
        return self.ranks.window(lambda n: min(max(1, rank), n), reach, self.cells)

    def less(self, cell: int, n: int) -> int:
        """Rows, of `n`, on cells below `cell`."""
        if cell <= self.first or cell > self.last:
            return 0 if cell <= self.first else n
        return self.ranks.less(cell * self.grid)

    def marks(self, value: Any) -> tuple[float, float]:
        """Where the cell of a value begins and ends."""
        cell = int(self.cells(np.array([value]))[0])
        return cell * self.grid, (cell + 1) * self.grid


def _cells_of_integers(x: NDArray[Any], grid: float) -> NDArray[np.int64]:
    """Floors of x / grid, which are known to be below 2**53."""
    shift = math.frexp(grid)[1] - 1
    if shift <= 0:
        # Where the grid is very fine, 0 alone is within the bounds.
        return x.astype(np.int64) << min(-shift, 62)
    if shift >= 8 * x.dtype.itemsize:
        return np.where(x < 0, -1, 0)
    cells: NDArray[np.int64] = (x >> x.dtype.type(shift)).astype(np.int64)
    return cells


class _Runs(NamedTuple):
    """Runs of cells and their distances, each ``k + offset[side]``, above the target or below it.

    Run i has `size` cells from `start` on. `lump` are those for which the distance is only a lower
    bound and the ranks are unknown, `tie` those of one cell that rows are at.
    """

    start: NDArray[np.int64]
    size: NDArray[np.int64]
    k: NDArray[np.int64]
    side: NDArray[np.int8]
    less: NDArray[np.int64]
    leq: NDArray[np.int64]
    lump: NDArray[np.bool_]
    tie: NDArray[np.bool_]
    n: int


def _distances(
    less: NDArray[np.int64], leq: NDArray[np.int64], target: Fraction
) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
    """``max(0, less - target, target - leq)`` as an integer and a side."""
    whole = math.floor(target)
    under, over = leq <= whole, less > whole
    k = np.where(under, whole - leq, np.where(over, less - whole - 1, 0))
    return k, np.where(under, 1, np.where(over, 2, 0)).astype(np.int8)


def _offsets(target: Fraction) -> tuple[Fraction, Fraction, Fraction]:
    part = target - math.floor(target)
    return Fraction(0), part, 1 - part


def _survey(
    column: Column, target: Fraction, c: float, cells: tuple[int, int], cut: float, ties: bool
) -> _Runs:
    """The runs of cells; with `ties`, the ranks of a tie are known where the window cuts it."""
    a, b = cells
    window = column.window(math.ceil(target), width(c, column.base.weight(a, b), cut))
    rows, before, n = window.values, window.first - 1, window.n
    edges = np.flatnonzero(rows[1:] != rows[:-1]) + 1
    if len(rows):
        edges = np.concatenate([[0], edges, [len(rows)]])
    at = rows[edges[:-1]]
    less, leq = before + edges[:-1], before + edges[1:]
    if ties and len(at):
        # Ranks that the window cuts off the first and the last cell are counted, or if those are of
        # no interest, the cells are left to the lumps.
        if a <= at[-1] <= b and leq[-1] < n:
            if len(at) > 1 and less[-1] >= target and (leq[-1] - less[-1]) * c <= 1:
                at, less, leq = at[:-1], less[:-1], leq[:-1]
            else:
                leq[-1] = column.less(int(at[-1]) + 1, n)
        if a <= at[0] <= b and less[0] > 0:
            if len(at) > 1 and leq[0] <= target and (leq[0] - less[0]) * c <= 1:
                at, less, leq = at[1:], less[1:], leq[1:]
            else:
                less[0] = column.less(int(at[0]), n)
    # The gaps: before, between and after the cells that rows are on.
    rank = np.concatenate([less[:1], leq]) if len(at) else np.zeros(1, np.int64)
    first = np.maximum(np.concatenate([[a], at + 1]), a)
    last = np.minimum(np.concatenate([at - 1, [b]]), b)
    lump = np.zeros(len(rank), np.bool_)
    lump[0] |= rank[0] > 0
    lump[-1] |= rank[-1] < n
    gaps, here = np.flatnonzero(first <= last), np.flatnonzero((at >= a) & (at <= b))
    one = np.ones(len(here), np.int64)
    less, leq = np.concatenate([rank[gaps], less[here]]), np.concatenate([rank[gaps], leq[here]])
    return _Runs(
        np.concatenate([first[gaps], at[here]]),
        np.concatenate([(last - first + 1)[gaps], one]),
        *_distances(less, leq, target),
        less,
        leq,
        np.concatenate([lump[gaps], one < 0]),
        np.concatenate([gaps < 0, one > 0]),
        n,
    )


def _least(k: NDArray[np.int64], side: NDArray[np.int8], target: Fraction) -> Fraction | None:
    offsets = _offsets(target)
    found = [int(k[side == s].min()) + offsets[s] for s in range(3) if (side == s).any()]
    return min(found, default=None)


def _relative(
    k: NDArray[np.int64], side: NDArray[np.int8], target: Fraction, least: Fraction
) -> NDArray[np.float64]:
    """Distances above `least`, to a relative 2**-51: two numbers of one sign are added."""
    out = np.empty(len(k))
    for s, offset in enumerate(_offsets(target)):
        here = side == s
        whole = math.floor(offset - least)
        out[here] = (k[here] + whole) + float(offset - least - whole)
    return out


def _counts(column: Column, cell: int, n: int) -> tuple[int, int]:
    return column.less(cell, n), column.less(cell + 1, n)


def _far(less: int, leq: int, target: Fraction) -> Fraction:
    return max(Fraction(0), less - target, target - leq)


def _float(x: Fraction) -> float:
    try:
        return float(x)
    except OverflowError:
        return math.inf


def choose(
    column: Column,
    target: Fraction,
    c: float,
    cells: tuple[int, int],
    stream: BitStream,
    *,
    cut: float = CUT,
) -> int:
    """A cell ``o`` of ``cells = (first, last)`` with probability proportional to exp(-c u(o)).

    ``u(o) = max(0, less(o) - target, target - leq(o))``. The target is a rank position, from 0 to
    n, and not outside the ranks that the cells have.
    """
    a, b = cells
    if a == b:
        return a
    runs = _survey(column, target, c, cells, cut, ties=False)
    least = _least(runs.k, runs.side, target)
    assert least is not None
    offsets = _offsets(target)
    mass = column.base.mass(runs.start, runs.start + runs.size - 1)
    weights = Weights(_relative(runs.k, runs.side, target, least), c, mass)

    def exact(run: int) -> Fraction:
        return int(runs.k[run]) + offsets[int(runs.side[run])] - least

    while True:
        proposal = weights.propose(1, stream)
        run = int(proposal[0])
        start = int(runs.start[run])
        cell = column.base.draw(start, start + int(runs.size[run]) - 1, stream)
        distance = exact(run)
        if runs.lump[run]:
            distance = _far(*_counts(column, cell, runs.n), target) - least
        if _keep(weights, proposal, distance, stream):
            return cell


def _keep(
    weights: Weights, proposal: NDArray[np.int64], distance: Fraction, stream: BitStream
) -> bool:
    near = np.array([_float(distance)])
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
    """A cell ``o`` of `cells` and a rank position in it, to divide the rows at.

    Drawn are a cell and a part ``j`` of 0 .. parts - 1, with probability proportional to
    ``exp(-c |p - target|)``, where p is the position of the part:

        p = l + (j + 1/2) / parts (h - l),   l = max(less(o), ends[0]),   h = min(leq(o), ends[1])

    So a row at the cell ``o`` that is drawn counts as (j + 1/2) / parts of a row below p. What is
    returned is ``(o, p)``.
    """
    a, b = cells
    bottom, top = ends
    runs = _survey(column, target, c, cells, cut, ties=True)

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
    k, side = runs.k[whole], runs.side[whole]

    def position(block: _Block, part: int) -> Fraction:
        return block.low + Fraction(2 * part + 1, 2 * parts) * (block.high - block.low)

    def nearest(block: _Block) -> Fraction:
        p, q = position(block, block.begin), position(block, block.end - 1)
        return max([Fraction(0), p - target, target - q])

    near = [nearest(block) for block in blocks]
    plain = _least(k, side, target)
    least = min(near if plain is None else [plain, *near])
    # A block has less than the weight of a cell. To `Weights` it is a cell that is farther away,
    # not quite as far as its true weight would have it, and a second coin makes up for the rest.
    share = [Fraction(block.end - block.begin, parts) for block in blocks]
    farther = [
        (_float(d - least) + max(0.0, -math.log(s) - 2**-40) / c) * (1 - 2**-40)
        for d, s in zip(near, share, strict=True)
    ]
    start = np.concatenate([runs.start[whole], np.array([b.cell for b in blocks], np.int64)])
    end = start.copy()
    end[: len(whole)] += runs.size[whole] - 1
    weights = Weights(
        np.concatenate([_relative(k, side, target, least), farther]),
        c,
        column.base.mass(start, end),
    )
    offsets = _offsets(target)
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
        cell = column.base.draw(int(start[i]), int(end[i]), stream)
        less, leq = int(runs.less[run]), int(runs.leq[run])
        distance = int(runs.k[run]) + offsets[int(runs.side[run])] - least
        p = Fraction(less)
        if runs.lump[run]:
            less, leq = _counts(column, cell, runs.n)
        if runs.lump[run] or runs.tie[run]:
            block = _Block(cell, *interval(less, leq), 0, parts)
            p = position(block, below(parts, stream))
            distance = abs(p - target) - least
        if _keep(weights, proposal, distance, stream):
            return cell, p


def _blocks(
    cell: int, low: Fraction, high: Fraction, target: Fraction, c: float, parts: int
) -> list[_Block]:
    """The parts of a cell, in blocks that grow with the distance from the target.

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
    """A coin of probability share exp(-c distance), which may be a distance below 0."""
    x = Fraction(c) * distance
    extra = (abs(x.numerator) // x.denominator).bit_length()

    def probability(mp: Any) -> Any:
        with mp.extraprec(extra):
            power = mp.exp(-mp.mpf(x.numerator) / x.denominator)
        return power * share.numerator / share.denominator

    return Tail(stream.word(), stream.word).below(probability)
