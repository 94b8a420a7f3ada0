"""Quantiles, medians and extremes by group: one exact draw of the exponential mechanism for each.

Rows are read as cells of a public grid (csrc/groups/sums.c), and sorted by group with a counting
sort. One compiled loop draws a cell for every group (csrc/groups/quantile.c). `step` has the loss
of a draw. The rate of a draw is the rate of a quantile without groups under add-remove, for rows as
the privacy unit (`statistics.quantiles.exponential.rate_of`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._core import checks, nan_policy
from .._core.error_bars import CONFIDENCE, RANKS, ErrorBar
from .._core.threads import run_in_threads, threads
from .._kernels import groups as _native
from ..measurement.columns_by_name import labels
from ..measurement.times import Units
from ..noise.grid import Base, Lattice, base
from ..privacy import ZCDP, Approx, Loss, Pure
from ..privacy.conversions import rho_within
from ..rng import Generator, branch
from ..statistics.quantiles.draws import PARTS, DrawParams, width
from ..statistics.quantiles.ends import Widths, widths
from ..statistics.quantiles.exponential import (
    INSIDE,
    LEAST_RATE,
    aim_at,
    ranks_within,
    rate_of,
    squeezed,
)
from ..summaries.cells import Cells, cells
from ..tables.base import Feature, Near
from ..tables.sql.store import SqlRows
from .of_column import DatabaseSums, Integers, Kept, OfColumn
from .quantile import draw_quantiles, draw_widths
from .rows import NONE, Rows, RowsNear
from .step import ROW, Step

#: There are about 2**BITS cells between the bounds, so that they fit in int32. More cells would
#: hardly give better answers, because twice as many cells cost ln(2) / rate ranks.
BITS = 30
#: With fewer draws and fewer bytes of rows than these, a second thread costs more than it saves.
FEW, LITTLE = 1 << 13, 1 << 21
#: The most whole numbers between the bounds, and the largest distance of a bound from 0.
WIDEST, FARTHEST = (1 << 31) - 1, 1 << 50


@dataclass(frozen=True, slots=True)
class Quantiles(OfColumn):
    """Quantiles of clamped numbers by group; each draw gets an equal share of the loss.

    Parameters
    ----------
    column : str
    bounds : (float, float)
    nan : str or float
    qs : tuple of Fraction
    extreme : bool
        Whether each q is 0 or 1, and stands for the least or the largest row, as in
        `statistics.quantiles.exponential.ExponentialExtreme`.
    step : Step
    loss : Loss
        The loss of all quantiles of all groups; None until it is known.
    whole : bool
        Whether the column has an integer type.
    units : Units, optional
        How a column of times is read.
    lattice : Lattice, optional
        The candidates, if a granularity is given.
    coverage : float, optional
        The confidence of an interval around each quantile. The interval takes half of the loss.
    """

    column: str
    bounds: tuple[float, float]
    nan: str | float
    qs: tuple[Fraction, ...]
    extreme: bool = False
    step: Step = ROW
    loss: Loss = None  # type: ignore[assignment]

    whole: bool = False
    units: Units | None = None
    lattice: Lattice | None = None
    coverage: float | None = None

    @property
    def cells(self) -> Cells:
        """Return the grid of candidates: whole numbers if rows are integers, else a fine grid."""
        lo, hi = self.bounds
        if self.lattice is not None:
            first, last = self.lattice.first, self.lattice.last
            return Cells(float(self.lattice.step), first, last - first)
        first, last = math.ceil(lo), math.floor(hi)
        if (
            self.whole
            and first <= last
            and last - first <= WIDEST
            and max(-first, last) <= FARTHEST
        ):
            return Cells(1.0, first, last - first)
        return cells(lo, hi, BITS)

    def calibrated(self) -> Self:
        """Return this mechanism with the loss it needs: without delta where delta does not help."""
        loss = self.loss
        if isinstance(loss, Approx):
            pure, zcdp = Pure(loss.epsilon), ZCDP(rho_within(loss.epsilon, loss.delta))
            if min(map(self._rate_by(pure), self.qs)) >= min(map(self._rate_by(zcdp), self.qs)):
                return replace(self, loss=pure)
            return replace(self, loss=loss.of_zcdp())
        return self

    @property
    def noise_parameters(self) -> dict[str, Any]:
        rates = list(map(self.rate, self.qs))
        return {"rate": rates if rates[1:] else rates[0]}

    def rate(self, q: Fraction) -> float:
        """Return the rate of the draws for quantile `q`, rounded down."""
        loss = self.loss
        if isinstance(loss, Approx):
            loss = ZCDP(rho_within(loss.epsilon, loss.delta))
        return self._rate_by(loss)(q)

    def _rate_by(self, loss: Pure | ZCDP) -> Callable[[Fraction], float]:
        parts = len(self.qs) * (1 if self.coverage is None else 2)
        one_loss = ZCDP(loss.rho / parts) if isinstance(loss, ZCDP) else Pure(loss.epsilon / parts)
        group_loss = self.step.draw_loss(one_loss)

        def rate(q: Fraction) -> float:
            relation = "replace" if self.extreme else "add-remove"
            rounded_rate = rate_of(group_loss, 1, Fraction(round(q * PARTS), PARTS), relation, True)
            if self.step.rows > 1:
                rounded_rate = math.nextafter(rounded_rate / self.step.rows, 0.0)
            if rounded_rate < LEAST_RATE:
                checks.fail("max_rows", "smaller for this loss", self.step.rows)
            return rounded_rate

        return rate

    def target(self, q: Fraction) -> DrawParams:
        """Return the parameters of the draw for quantile `q`."""
        target = aim_at(q, self.rate(q))
        is_lattice = self.lattice is not None or (self.whole and self.cells.grid == 1)
        return squeezed(target) if is_lattice and not self.extreme else target

    def _look(self, q: Fraction) -> tuple[DrawParams, int, int]:
        """Return the draw for `q`, its target's ranks inside an extreme, and the ranks it reads."""
        target = self.target(q)
        inside = int(-(-INSIDE // Fraction(target.rate))) if self.extreme else 0
        reach = width(target.rate, self.base(q).total) + 1 + target.ties
        widths = self.widths(q)
        return target, inside, max(reach, widths.reach + 2 + inside if widths else 0)

    def widths(self, q: Fraction) -> Widths | None:
        """Return the draws of the ends of an interval around quantile `q`; None without one."""
        if self.coverage is None:
            return None
        target, cells = self.target(q), (0, self.cells.span)
        lie_between = self.lattice is not None or not self.whole or self.cells.grid != 1
        return widths(target.fraction, target.rate, cells, 1 - self.coverage, lie_between)

    def base(self, q: Fraction) -> Base:
        """Return the base measure of the candidates for quantile `q`."""
        return base(self.cells.first, self.cells.last, self.cells.grid, q)

    def expected(self, rows: int | None, confidence: float) -> ErrorBar:
        """Return the error bar of a group in ranks, which is valid for any rows of the group.

        For an extreme, the bar also includes the ranks between the target and the end. Draws are
        sorted, so no draw has a larger error than the least accurate draw. All quantiles have the
        bar of this draw.
        """
        if self.cells.span == 0:
            return ErrorBar(confidence, 0.0, 0.0)
        failure = (1 - confidence) / len(self.qs)
        ranks = max(
            self._look(q)[1] + ranks_within(self.base(q), self.target(q), failure) for q in self.qs
        )
        return ErrorBar(confidence, None, ranks, RANKS)

    def names(self, name: str) -> list[str]:
        """Return the names of the columns of the answer."""
        if self.coverage is not None:
            return [f"{q}{end}" for q in self._names(name) for end in (" low", "", " high")]
        return [*self._names(name), f"{name} error in ranks"]

    def _names(self, name: str) -> list[str]:
        """Return the names of the columns of the quantiles."""
        if len(self.qs) == 1:
            return [name]
        return [f"{name} {label}" for label in labels(list(map(float, self.qs)))]

    @property
    def nan_cell(self) -> int:
        """Return the cell that replaces missing rows, or -1 if no cell does."""
        value = nan_policy.replacement(self.nan, *self.bounds)
        return -1 if isinstance(value, str) else self.cells.cell(value)

    @property
    def near(self) -> list[Near]:
        """Return the ranks of a group's rows that each draw uses, and a few more."""
        looks = [self._look(q) for q in self.qs]
        return [
            Near(target.fraction / PARTS, inside + reach + 3) for target, inside, reach in looks
        ]

    def integers(self, rows: SqlRows) -> Integers:
        grid = self.cells
        cell = rows.cell(rows.names.index(self.column), grid)
        cell = cell if self.nan_cell < 0 else rows.filled(cell, self.nan_cell)
        return Integers([Feature(cell, grid.span, 0, self.step.rows)], near=self.near)

    def gathered(self, answer: DatabaseSums) -> RowsNear:
        """Return the rows near the ranks of the draws, as a database has counted them."""
        return RowsNear(answer, self.near)

    def room(self, groups: int) -> Rows:
        """Return an empty store of rows."""
        return Rows()

    def add(self, rows: Rows, codes: NDArray[np.int32], values: Any) -> int:
        """Add the cells of rows to a store; return how many rows of a group are NaN."""
        grid = self.cells
        row_codes, out = rows.room(len(codes))
        row_codes[...] = codes
        missing = _native.cells(
            values, row_codes, NONE, 1.0 / grid.grid, grid.first, grid.span, self.nan_cell, out
        )
        rows.add(row_codes, out)
        return missing

    def merge(self, room: Rows, more: Rows) -> None:
        """Move the rows of another store, `more`, into `room`."""
        room.merge(more)

    def columns(
        self, name: str, room: Rows | RowsNear, groups: int, kept: Kept, generator: Generator
    ) -> dict[str, NDArray[Any]]:
        """Return the columns of the answer, for all groups, or for the kept groups."""
        final, count = None, groups
        if kept is not None:
            count = len(kept)
            final = np.full(groups, count, np.int32)
            final[kept] = np.arange(count, dtype=np.int32)
        stream = generator.stream()
        drawn, sizes = np.empty((2, len(self.qs), count), np.int32)
        widths: list[Any] = [self.widths(q) for q in self.qs]
        few = isinstance(room, RowsNear) or (len(self.qs) * count < FEW and room.size < LITTLE)
        with closing(room.by_group(count, final)) as parts:
            # Each part has a random stream of its own, so the result does not depend on the number
            # of threads.
            streams = [branch(stream) for _ in range(len(parts))]

            def draw(part: int) -> None:
                first, stop = parts.ends(part)
                for i, (q, rows) in enumerate(zip(self.qs, parts.by_draw(part), strict=False)):
                    target, inside, reach = self._look(q)
                    cells, offsets, others = rows
                    points = drawn[i, first:stop] = draw_quantiles(
                        cells, offsets, target, self.base(q), reach, streams[part], inside, others
                    )
                    if self.coverage is not None:
                        near = widths[i], points.tolist(), rows
                        sizes[i, first:stop] = draw_widths(*near, streams[part])

            run_in_threads(draw, range(len(parts)), 1 if few else threads())
        # The draws of a group are sorted by quantile. This is post-processing.
        order = np.argsort(np.argsort([float(q) for q in self.qs], kind="stable"))
        cell = np.sort(drawn, axis=0)[order].astype(np.int64)
        every = list(self._numbers(cell))
        # Each quantile has its own ends, whether or not the draws were sorted.
        if self.coverage is not None:
            of_each = zip(every, widths, drawn.astype(np.int64), sizes, strict=True)
            every = []
            for point, ends, cells, size in of_each:
                low, high = self._numbers(np.array(ends.ends(cells, size)), begin=ends.lie_between)
                every += [np.minimum(low, point), point, np.maximum(high, point)]
        if self.units is not None:
            every = [np.asarray(self.units.back(numbers)) for numbers in every]
        bar = np.full(count, self.expected(None, CONFIDENCE).ranks)
        return dict(zip(self.names(name), [*every, bar], strict=self.coverage is None))

    def _numbers(self, cells: NDArray[np.int64], begin: bool = False) -> NDArray[np.float64]:
        """Return the numbers of cells, or with `begin` the lower edges of cells."""
        grid, step = self.cells, None if self.lattice is None else self.lattice.step
        halves = 2 * (cells + grid.first) - begin
        if step is None:
            return np.clip(halves * (grid.grid / 2), *self.bounds)
        # This division is exact up to one rounding.
        return np.clip(halves * step.numerator / (2 * step.denominator), *self.bounds)
