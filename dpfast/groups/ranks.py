"""Quantiles, medians and extremes by group: one exact draw of the exponential mechanism for each.

Rows are cells of a public grid (csrc/groups/sums.c). They are sorted by group with a counting sort,
and one compiled loop draws a cell for every group (csrc/groups/quantile.c). What a draw may cost is
said in `step`; its rate is that of the plain quantile under add-remove, by rows
(`statistics.quantiles.exponential.rate_of`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from .._core import checks, nan_policy
from .._kernels import aggregate as _scatter
from .._kernels import groups as _native
from ..privacy import ZCDP, Approx, Loss, Pure
from ..privacy.conversions import rho_within
from ..rng import Generator
from ..sources.batches import Piece, numbers
from ..statistics.quantiles.draws import width
from ..statistics.quantiles.exponential import INSIDE, LEAST_RATE, rate_of
from ..summaries.cells import Cells, cells
from .quantile import draw_quantiles
from .step import ROW, Step

#: Bits of a code that rows are placed by at once, and bits of the first step of two; see
#: csrc/aggregate/scatter.h.
DIRECT, COARSE = 11, 8
#: Most cells between the bounds, and the farthest from 0.
WIDEST, FAR = 1 << 40, 1 << 50
#: The code of rows of no group, until it is known how many groups there are.
NONE = (1 << 31) - 1


@dataclass(frozen=True, slots=True)
class Quantiles:
    """Quantiles of clamped numbers by group, each by a draw of its own; a share of the loss each.

    Parameters
    ----------
    column : str
    bounds : (float, float)
    nan : str or float
    qs : tuple of Fraction
    extreme : bool
        Whether each q is 0 or 1 and stands for the least or the largest row, as in
        `statistics.quantiles.exponential.ExponentialExtreme`.
    step : Step
    loss : Loss
        Of all quantiles of all groups; None until it is said.
    whole : bool
        Whether the column is one of integers, by its type.
    """

    column: str
    bounds: tuple[float, float]
    nan: str | float
    qs: tuple[Fraction, ...]
    extreme: bool = False
    step: Step = ROW
    loss: Loss = None  # type: ignore[assignment]

    whole: bool = False

    per_person: ClassVar[bool] = False

    @property
    def cells(self) -> Cells:
        """Return the candidates: whole numbers if rows are, else a fine grid."""
        lo, hi = self.bounds
        first, last = math.ceil(lo), math.floor(hi)
        if self.whole and first <= last and last - first <= WIDEST and max(-first, last) <= FAR:
            return Cells(1.0, first, last - first)
        return cells(lo, hi)

    def charged(self) -> Self:
        """Return the same with the loss that is used: without delta where it does not help."""
        loss = self.loss
        if isinstance(loss, Approx):
            pure, zcdp = Pure(loss.epsilon), ZCDP(rho_within(loss.epsilon, loss.delta))
            if min(map(self._rate_by(pure), self.qs)) >= min(map(self._rate_by(zcdp), self.qs)):
                return replace(self, loss=pure)
        return self

    def rate(self, q: Fraction) -> float:
        """Return the rate of the draws for one of the quantiles, rounded down."""
        loss = self.loss
        if isinstance(loss, Approx):
            loss = ZCDP(rho_within(loss.epsilon, loss.delta))
        return self._rate_by(loss)(q)

    def _rate_by(self, loss: Pure | ZCDP) -> Callable[[Fraction], float]:
        parts = len(self.qs)
        own = ZCDP(loss.rho / parts) if isinstance(loss, ZCDP) else Pure(loss.epsilon / parts)
        each = self.step.each(own)

        def rate(q: Fraction) -> float:
            place, relation = (Fraction(1, 2), "replace") if self.extreme else (q, "add-remove")
            found = rate_of(each, 1, place, relation, True)
            if self.step.rows > 1:
                found = math.nextafter(found / self.step.rows, 0.0)
            if found < LEAST_RATE:
                checks.fail("max_rows", "smaller for such a loss", self.step.rows)
            return found

        return rate

    @property
    def reading(self) -> tuple[Any, ...]:
        """Return the column, as `Sums.reading`."""
        return (self.column,)

    def read(self, piece: Piece) -> NDArray[Any]:
        """Return the numbers of a piece of the column."""
        return numbers(piece)

    def room(self, groups: int) -> Rows:
        """Return no rows."""
        return Rows()

    def add(self, rows: Rows, codes: NDArray[np.int32], values: Any) -> int:
        """Add the cells of rows; return how many of those of a group are NaN."""
        grid = self.cells
        value = nan_policy.replacement(self.nan, *self.bounds)
        filler = -1 if isinstance(value, str) else grid.cell(value)
        own, out = codes.copy(), np.empty(len(codes), np.int64)
        missing = _native.cells(
            values, own, NONE, 1.0 / grid.grid, grid.first, grid.span, filler, out
        )
        rows.codes.append(own)
        rows.cells.append(out)
        return missing

    def merge(self, room: Rows, more: Rows) -> None:
        """Add other rows."""
        room.codes += more.codes
        room.cells += more.cells

    def columns(
        self,
        name: str,
        room: Rows,
        groups: int,
        kept: NDArray[np.int64] | None,
        generator: Generator,
    ) -> dict[str, NDArray[Any]]:
        """Return the columns of the answer, for all groups or for those that are kept."""
        grid, bounds = self.cells, self.bounds
        rows, offsets = room.sorted(groups)
        if kept is not None:
            rows, offsets = _only(rows, offsets, kept)
        found = []
        for q in self.qs:
            rate = self.rate(q)
            inside = -(-INSIDE // Fraction(rate)) if self.extreme else 0
            ends, reach = (grid.first, grid.last), width(rate, grid.span + 1)
            stream = generator.stream()
            drawn = draw_quantiles(rows, offsets, q, rate, ends, reach, stream, int(inside))
            found.append(np.clip(drawn * grid.grid, *bounds))
        if len(found) == 1:
            return {name: found[0]}
        # Sorted as the quantiles are: that is post-processing.
        order = np.argsort(np.argsort([float(q) for q in self.qs], kind="stable"))
        every = np.sort(np.stack(found), axis=0)[order]
        return {f"{name} {float(q):g}": own for q, own in zip(self.qs, every, strict=True)}


@dataclass(slots=True)
class Rows:
    """Cells of rows and the codes of their groups, as they come."""

    codes: list[NDArray[np.int32]] = field(default_factory=list)
    cells: list[NDArray[np.int64]] = field(default_factory=list)

    def sorted(self, groups: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the cells of the rows that are of a group, by group, and where each begins.

        A counting sort, in one step or in two; rows of no group come last and are left out.
        """
        bits = groups.bit_length()
        shift = 0 if bits <= DIRECT else bits - COARSE
        counts = np.zeros((groups >> shift) + 1, np.int64)
        for codes in self.codes:
            np.minimum(codes, groups, out=codes)  # of no group: the last of all
            _scatter.count(codes.view(np.uint32), counts, shift)
        cuts = np.concatenate([[0], np.cumsum(counts)])
        rows, at = np.empty(int(cuts[-1]), np.int64), cuts[:-1].copy()
        low = np.empty(len(rows), np.uint8 if shift <= 8 else np.uint16) if shift else None
        while self.codes:  # what has been placed is let go
            codes, some = self.codes.pop(), self.cells.pop()
            _scatter.place(codes.view(np.uint32), some, at, rows, shift, low)
        if low is None:
            return rows[: cuts[groups]], cuts[: groups + 1]
        offsets = np.zeros(groups + 2, np.int64)
        for first in range(len(counts)):
            start, stop = int(cuts[first]), int(cuts[first + 1])
            least, most = first << shift, min(first + 1 << shift, groups + 1)
            own = np.empty(most - least + 1, np.int64)
            some = rows[start:stop]
            edges = cuts[first : first + 2]
            _scatter.refine(low[start:stop], shift, some.copy(), edges, own, some)
            np.add(own[1:], start, out=offsets[least + 1 : most + 1])
        return rows[: offsets[groups]], offsets[: groups + 1]


def _only(
    rows: NDArray[np.int64], offsets: NDArray[np.int64], kept: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows of some groups, and where each begins."""
    sizes = offsets[kept + 1] - offsets[kept]
    cuts = np.concatenate([[0], np.cumsum(sizes)])
    places = np.repeat(offsets[kept] - cuts[:-1], sizes) + np.arange(int(cuts[-1]))
    return rows[places], cuts
