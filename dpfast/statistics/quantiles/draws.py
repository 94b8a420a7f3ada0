"""Exact draws of quantiles: the exponential mechanism over the cells of a public grid.

A cell ``o`` represents the number ``o * grid``. Every row is on the cell at or next below its
value, or on the first or last cell if its value is outside. So equal values are on the same cell. A
draw depends on a column only through two numbers for each cell o: ``less(o)``, the number of rows
on lower cells, and ``leq(o)``, the number of rows on lower cells and on o. A draw is made among the
cells of a node, a range of cells with its rows; ``csrc/statistics/draw.h`` defines the positions of
these cells and the draw. The base measure, the weight of a cell before the data are seen, is
`noise.grid.Base`.

Only the rows at ranks within some K of the target are read. All cells beyond them on one side are
proposed together, with the least distance that any of these cells can have. Such a proposal occurs
about once in 2**40 draws. Then one of these cells is picked, a pass counts the rows on it, and the
cell is kept with the probability for its distance. This is rejection sampling, so the distribution
does not depend on K.

**Permute-and-flip.** Permute-and-flip visits the cells in a random order. Each cell shows heads
with probability w / v, where ``w = exp(-c u)`` and v is the largest w. The first cell with heads is
drawn (McKenna and Sheldon, NeurIPS 2020).

An equal description: each cell is visited at the points of a Poisson process of rate v, and shows
heads or tails at each visit. The first visits come in a random order. The cell that is drawn is the
first cell to show heads that has not shown tails before. For each cell, visits with heads come at
the rate w, and independent visits with tails at the rate v - w.

Visits with heads are what the exponential mechanism proposes and keeps: proposals come at the rate
R of all bounds together, and each cell is kept at its rate w. So a cell whose proposal is kept is
drawn, unless it has shown tails before; then it is never drawn. To decide this for one cell, visits
at the rate V, an integer of at least v, are placed among the proposals so far. The next event is a
visit, not a proposal, with probability V / (R + V), and a visit shows tails with probability (v -
w) / V. Neither other cells nor times are needed for this.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._kernels.rng import BitStream
from ..._kernels.statistics import cells as cells_of
from ..._kernels.statistics import draw_node
from ...noise import grid as _grid
from ...noise.choice import Stream, below, decide
from ...noise.distributions.exact import Tail
from ...noise.grid import Base, Lattice
from ...summaries.order import Ranks, Window, window_of
from ...summaries.order_statistics import least_from

#: The cells outside the window have a total weight of at most exp(-CUT).
CUT = 40 * math.log(2)
#: The same for a smaller window, which is tried first.
HALF_CUT = CUT / 2
#: From this many rows on, a smaller window may be tried first.
SOME = 128
#: A fraction of a cell is ``part / PARTS``.
PARTS = 1 << 32
#: Target ranks are in units of 2**-RANK_BITS.
RANK_BITS = 64
RANK = 1 << RANK_BITS
#: If a coin of permute-and-flip is within this of its probability, floats do not decide it.
CLOSE = 2.0**-16
#: A number of ranks larger than that of any data.
FARTHEST = 1 << 60


class End(NamedTuple):
    """A cell at which a node (a range of cells with its rows) ends, and how its rows are divided.

    `less` is the number of rows on lower cells, and `leq` the number of rows on lower cells and on
    the cell. Both are -1 if they are unknown, which is so for the first and the last cell of a
    column. Of each row on the cell, `part` of `PARTS` is below the end.
    """

    cell: int
    less: int
    leq: int
    part: int

    @property
    def mass_below(self) -> int:
        """The number of rows below this end, in `PARTS` of a row."""
        if self.part in (0, PARTS):
            return (self.leq if self.part else self.less) * PARTS
        return self.less * PARTS + (self.leq - self.less) * self.part


class DrawParams(NamedTuple):
    """Public parameters of the draw of a quantile of a node's rows.

    The quantile is `fraction` / `PARTS`. `shift`, in units of 1 / `RANK`, is added to the target.
    In the terms of `statistics.quantiles.exponential`, `rate` is c, `share` is d times 2**20, and
    `ties` is r.
    """

    fraction: int
    shift: int
    rate: float
    share: int
    ties: int = 0

    def target(self, low: End, high: End) -> int:
        """Return the target rank, in `RANK`: between two ends, or up to half a rank beyond one."""
        a, b = low.mass_below, high.mass_below
        return a * PARTS + self.fraction * (b - a) + self.shift


def width(c: float, total: int, cut: float = CUT) -> int:
    """Return a distance in ranks from the target beyond which a cell weighs at most exp(-cut)."""
    ranks = max(0.0, math.log(total) + cut) / c
    return FARTHEST if ranks >= FARTHEST else math.ceil(ranks) + 1


class Column:
    """A column with its rows on the cells of a grid between `lo` and `hi`; NOT PRIVATE."""

    def __init__(
        self,
        ranks: Ranks,
        lo: float,
        hi: float,
        grid: float,
        base: Base | None = None,
        lattice: Lattice | None = None,
    ) -> None:
        self.ranks = ranks
        self.lo = lo
        self.hi = hi
        self.grid = grid
        #: The public lattice that the cells belong to, if it is not the grid.
        self.lattice = lattice
        #: The base measure of the cells. By default, all cells have equal weights.
        if base is None:
            # Equal bounds have one cell. The grid may have none there.
            base = _grid.base(*(_grid.ends(lo, hi, grid) if lo < hi else (0, 0)))
        self.base = base
        self.first, self.last = self.base.first, self.base.last
        self._seen: tuple[int, Window] | None = None

    def cells(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """Return the cells of ascending values of any dtype, exactly."""
        if self.lattice is not None:
            return self.lattice.cells(values)
        if self.lo == self.hi:
            return np.zeros(len(values), np.int64)
        dtype = values.dtype
        if dtype.kind == "f":
            x = values if dtype.char == "d" else values.astype(np.float64)
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
        return cells.clip(self.first, self.last)

    def look(self, rule: Callable[[int], int], reach: int) -> Window:
        """Return the cells of the rows within `reach` of a rule's rank; the last are cached."""
        if self._seen is not None:
            last_reach, window = self._seen
            n, count = window.n, len(window.values)
            if count == n:
                return window
            first, last = rule(n) - reach, rule(n) + reach
            ends = max(1, first), min(n, last) + 1
            if last_reach == reach and ends == (window.first, window.first + count):
                return window
        window = window_of(self.ranks, rule, reach, self.cells)
        self._seen = reach, window
        return window

    def less(self, cell: int, n: int) -> int:
        """Return how many of `n` rows are on cells below `cell`."""
        if cell <= self.first or cell > self.last:
            return 0 if cell <= self.first else n
        return self.ranks.less(self.edge(cell))

    def edge(self, cell: int) -> float:
        """Return the least number that is on a cell, or on a higher cell."""
        return cell * self.grid if self.lattice is None else self.lattice.edge(cell)

    def counts(self, cell: int, n: int) -> tuple[int, int]:
        """Return how many of `n` rows are on cells below `cell`, and on cells up to `cell`."""
        return self.less(cell, n), self.less(cell + 1, n)

    def ends(self, n: int) -> tuple[End, End]:
        """Return the two ends of the node that has all cells and all `n` rows."""
        return End(self.first, 0, -1, 0), End(self.last, -1, n, PARTS)

    def neighbor(self, rank: int) -> int:
        """Return the cell of the row of a rank, by a pass over the data."""
        return int(self.ranks.window(lambda _: rank, 0, self.cells).values[0])

    def edges_of(self, value: Any) -> tuple[float, float]:
        """Return the two numbers at which the cell of a value begins and ends."""
        cell = int(self.cells(np.array([value]))[0])
        return self.edge(cell), self.edge(cell + 1)


def _cells_of_integers(x: NDArray[Any], grid: float) -> NDArray[np.int64]:
    """Return floor(x / grid) for integers x, if all quotients are known to be below 2**53."""
    shift = math.frexp(grid)[1] - 1
    if shift <= 0:
        # With so fine a grid, 0 is the only integer within the bounds.
        return x.astype(np.int64) << min(-shift, 62)
    if shift >= 8 * x.dtype.itemsize:
        return np.where(x < 0, -1, 0)
    return np.asarray(x >> x.dtype.type(shift), np.int64)


def inside(ranks: int, n: int, high: bool) -> int:
    """Return the target rank, in `RANK`, that is `ranks` from an end of `n` rows, or their middle.

    A row that is added or removed moves the target by at most half a rank.
    """
    ranks_inside = min(ranks * RANK, (n + 1) * RANK // 2) - RANK // 2
    return n * RANK - ranks_inside if high else ranks_inside


def inner(rows: int, at: int, reach: int) -> tuple[int, int]:
    """Return the start and stop of the part of a window's rows that is tried first.

    The part has the rows within `reach` ranks of row `at` (from 1) of a window of `rows` rows. It
    is usually enough, because cells beyond it have little weight if gaps are about even. The target
    lies between row `at` and the row before it, so the part has both rows if the window has them.
    """
    return max(0, at - 1 - reach), min(rows, at + reach)


def draw(
    column: Column,
    ends: tuple[End, End],
    params: DrawParams,
    n: int,
    stream: BitStream,
    *,
    divides: bool = False,
    target: int | None = None,
    reach: int | None = None,
    window: Window | None = None,
    cut: float = CUT,
    flips: bool = False,
) -> End:
    """Draw a cell of a node for a quantile of `n` rows; if it `divides`, also a part of the cell.

    `target`, in units of 1 / `RANK`, is by default the target of the params. `reach` is the number
    of ranks on either side of it to read, and `window` the rows there, if they are known. The
    returned end has ranks only if it divides the node. With `flips` the draw is by
    permute-and-flip, for which all cells must have the same base weight.
    """
    low, high = ends
    if low.cell == high.cell:
        part = low.part + (params.fraction * (high.part - low.part) >> 32)
        return End(low.cell, max(low.less, high.less), max(low.leq, high.leq), part)
    if target is None:
        target = params.target(low, high)
    whole, fraction = target >> RANK_BITS, target & RANK - 1
    middle = min(max(1, whole + 1), n)
    if window is None:
        if reach is None:
            reach = width(params.rate, column.base.total, cut) + 1 + params.ties
        window = column.look(lambda n: min(middle, n), reach)
    some = cut == CUT and len(window.values) > SOME
    few = width(params.rate, n + 1, HALF_CUT) + 1 + params.ties if some else 0
    for view in _views(column, window, ends, middle, few, divides):
        node = view.rows, view.before, n, view.low, view.high, whole, fraction, params.rate / 2
        more = view.narrow, view.under, view.over, params.fraction, params.ties, flips
        tries, tails = 0, set[int]()
        while True:
            drawn = draw_node(*node, params.share, divides, column.base, stream, *more)
            if drawn is None:
                break
            cell, part, less, leq, counts, undecided = drawn
            end = End(cell, less, leq, part)
            is_kept, distance = undecided is None, counts[-1] if counts else 0
            if undecided is not None:
                mass, scale, bound, distance, word = undecided
                if word is None:
                    ends = view.low, view.high
                    end, distance = counted(column, ends, params, target, cell, n, divides, stream)
                    word = stream.word()
                far_ranks = Fraction(distance, RANK)
                is_kept = decide(word, params.rate, far_ranks, stream, mass, bound, scale)
            if counts is not None:
                tries += counts[0]
                if is_kept and (
                    cell in tails or shows_tails(tries, counts, distance, params.rate, stream)
                ):
                    is_kept = False
                    tails.add(cell)
            if is_kept:
                return end
    raise AssertionError("the last view must be narrow")


def shows_tails(
    tries: int, counts: tuple[int, int, int, int, int], distance: int, rate: float, stream: Stream
) -> bool:
    """Tell whether a cell at a `distance` has shown tails before its last try."""
    _, proposals, scale, near, _ = counts
    least, more = rate * (near / RANK), rate * ((distance - near) / RANK)
    # The v of the module's docstring, in the units of the bounds. Exponents are below 2**31, with
    # rounding errors below 2**-20.
    most = math.exp(scale * math.log(2) - least)
    visits = math.ceil(most * (1 + 2.0**-10))
    chance = -most * math.expm1(-more) / visits

    def exactly(mp: Any) -> Any:
        with mp.extraprec(64):
            least, more = (mp.mpf(u) * rate / RANK for u in (near, distance - near))
            return mp.ldexp(-mp.exp(-least) * mp.expm1(-more), scale) / visits

    for _ in range(tries if distance > near else 0):
        while below(proposals + visits, stream) < visits:
            word = stream.word()
            beyond = word * 2.0**-64 - chance
            if abs(beyond) > CLOSE * chance + 2.0**-60:
                is_tails = beyond < 0
            else:
                is_tails = Tail(word, stream.word).below(exactly)
            if is_tails:
                return True
    return False


class _View(NamedTuple):
    """The rows of a column that a draw reads, with the node's ends; see `draw_node`."""

    low: End
    high: End
    rows: NDArray[np.int64]
    before: int
    narrow: bool = False
    under: int = -1
    over: int = -1


def _views(
    column: Column,
    window: Window,
    ends: tuple[End, End],
    middle: int,
    few: int,
    divides: bool,
) -> Iterator[_View]:
    """Yield views for a draw: rows near the target, the window, and with all equal rows counted."""
    rows, before, n = window.values, window.first - 1, window.n
    low, high = ends
    if few:
        skip, stop = inner(len(rows), middle - before, few)
        if 4 * (stop - skip) < 3 * len(rows):
            yield _View(low, high, rows[skip:stop], before + skip, True)
    after = before + len(rows)
    if not divides or len(rows) == n:
        yield _View(low, high, rows, before)
        return
    yield _View(low, high, rows, before, True)
    first, last = int(rows[0]), int(rows[-1])
    under = column.less(first, n) if before else -1
    over = column.less(last + 1, n) if after < n else -1
    if last == low.cell and low.leq < 0:
        low = low._replace(leq=over)
    if first == high.cell and high.less < 0:
        high = high._replace(less=under)
    yield _View(low, high, rows, before, False, under, over)


def counted(
    column: Column,
    ends: tuple[End, End],
    params: DrawParams,
    target: int,
    cell: int,
    n: int,
    divides: bool,
    stream: Stream,
) -> tuple[End, int]:
    """Return a cell beyond the window as an end, with its distance from the target, by a pass."""
    low, high = ends
    less, leq = column.counts(cell, n)
    outer = cell in (low.cell, high.cell)
    if not outer and less == leq:
        a = max(column.neighbor(less), low.cell) if less else low.cell
        b = min(column.neighbor(less + 1), high.cell) if less < n else high.cell
        near = min(params.share * (b - a) >> 20, (b - a - 1) // 2)
        half = -1 if cell - a <= near else int(b - cell <= near)
        return End(cell, less, leq, 0), abs((2 * less + half) * RANK // 2 - target)
    first = low.part if cell == low.cell else 0
    stop = high.part if cell == high.cell else PARTS
    start, ranks = (2 * less, leq - less) if outer else (2 * less + 1, leq - less - 1)
    if divides:
        first = stop = first + below(max(1, stop - first), stream)
    lacking = 0 if outer else min(leq - less - 1, params.ties)
    nearest = (start + (lacking * params.fraction >> 31)) * RANK // 2 + ranks * first * PARTS
    farthest = (
        start - (lacking * (PARTS - params.fraction) >> 31)
    ) * RANK // 2 + ranks * stop * PARTS
    distance = max(0, nearest - target, target - farthest)
    return End(cell, less, leq, first if divides else 0), distance
