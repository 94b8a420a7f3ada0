"""Rows with weights: a row counts in every sum of a learner as often as its weight says.

A weight is clipped to public bounds, 0 <= lo <= hi, and rounded to the nearest cell k of a public
grid, a <= k <= b. There are 2**15 cells or more between 0 and hi. The weight is then k units, and
the unit is a power of two.

*Sensitivity.* A query of a round is a sum of vectors g(row) of integers over the rows, and may
depend on all earlier answers. With weights it is the sum of k g(row), as if each row were in the
data k times. Let noise be calibrated to added or removed rows. So in units of the noise the length
of g is at most 1, in the norm in which the loss is composed: L1, L2, or the nuclear norm of a
matrix.

* A row that is added or removed with its weight changes the sum by k g, whose length is at most b.
  So noise for parts that are b times as large is enough (`Rounds.noise`). All parts of a round are
  scaled by the same factor, so it does not matter how a learner divides the round among its parts.
* A row that is replaced with its weight changes the sum by k g - k' g', whose length is at most 2
  b, for any g' and k'. So under "replace" noise is also calibrated to added or removed rows, with
  parts that are 2 b times as large. (Without weights the number of rows is public under "replace".
  Here it is the sum of all weights, and it changes.)
* If integers are divided by a unit and rounded down, each integer that changes may change by 1
  more. An added or removed row changes as many integers as without a weight, and a replaced row
  twice as many.

So the noise is the noise of the unweighted learner for b times its sensitivity. In units of weights
the factor is hi, because b units are at most hi. Nothing else depends on the grid.

*How a row is counted k times.* For each bit j, the rows whose k has this bit are summed once, by
the kernels that sum rows without weights. These sums are added from the highest bit down, and
doubled in between (Horner). All sums are exact integers, so the result is the exact sum of k
g(row). This takes one pass over a block of rows for each bit that some k has, over half of the rows
on average. Weights of 0 and 1 take one pass.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._core import checks, nan_policy
from ..summaries.cells import Cells, cells
from ..summaries.side_by_side import beside_of, flat, refuse_length
from ..tables.base import RowChunk, RowSource, S
from ..tables.engine import of_engine
from ..tables.forms import as_column
from ..tables.memory import Column

#: The indices of some rows of a chunk.
RowIndices: TypeAlias = NDArray[np.intp]

#: There are about 2**BITS cells between 0 and hi, and hi is from 2**-SIZE to 2**SIZE.
BITS, SIZE = 15, 100
#: The number of rows that are processed together: the chosen rows of a block stay in a cache.
BLOCK = 1 << 16
RULE = "one number for each row"


@dataclass(frozen=True, slots=True)
class Weights:
    """A weight for each row, as an integer multiple of a public unit.

    Parameters
    ----------
    column : Column
    cells : Cells
        The cells between the bounds, counted from 0.
    nan : str or float
        How NaN is treated. With "drop" the row counts 0 times.
    """

    column: Column
    cells: Cells
    nan: str | float

    @property
    def most(self) -> int:
        """The largest count of a row, b."""
        return self.cells.last

    @property
    def unit(self) -> float:
        """The weight of a row that counts once: the width of a grid cell."""
        return self.cells.grid

    def times(self, start: int, stop: int) -> tuple[NDArray[np.uint32], int]:
        """Return the count of each row of a range, and the number of NaN weights."""
        values = flat(beside_of(self.column, start, stop, "sample_weight"))
        times, gone = np.empty(len(values), np.uint32), np.zeros(len(values), np.bool_)
        self.cells.native.write_cells(values, times, gone.view(np.uint8))
        times += np.uint32(self.cells.first)
        fill = self.nan
        times[gone] = 0 if isinstance(fill, str) else self.cells.first + self.cells.cell(fill)
        return times, int(np.count_nonzero(gone))

    def summarize(
        self,
        chunk: RowChunk,
        some: Callable[[RowChunk, RowIndices], S],
        merge: Callable[[S, S], S],
        keep: NDArray[np.bool_] | None = None,
    ) -> tuple[S, int]:
        """Return the weighted sum over a chunk, and the number of NaN weights.

        ``some(chunk, indices)`` sums the rows `indices` of a chunk once, and `merge` adds two such
        sums. Rows that `keep` leaves out count 0 times.
        """

        def summarize_block(at: int) -> tuple[S, int]:
            rows, start = chunk.rows[at : at + BLOCK], chunk.start + at
            times, missing = self.times(start, start + len(rows))
            if keep is not None:
                times[~keep[at : at + BLOCK]] = 0
            block = chunk._replace(rows=rows, start=start)
            return repeated(times, partial(some, block), merge), missing

        blocks = map(summarize_block, range(0, max(1, len(chunk.rows)), BLOCK))
        return reduce(lambda a, b: (merge(a[0], b[0]), a[1] + b[1]), blocks)

    def check(self, rows: int, missing: int) -> None:
        """Refuse weights that differ in number from the rows, and NaN unless allowed."""
        if rows != self.column.length:
            refuse_length("sample_weight")
        nan_policy.refuse("raise" if self.nan == "raise" else "drop", missing)


def repeated(
    times: NDArray[np.uint32],
    summarize: Callable[[RowIndices], S],
    merge: Callable[[S, S], S],
) -> S:
    """Return the sum over rows counted `times` times, from sums of sets of rows counted once."""
    bits = int(times.max(initial=0)).bit_length()
    summary = summarize(_with(times, max(bits - 1, 0)))
    for bit in reversed(range(bits - 1)):
        indices = _with(times, bit)
        summary = merge(summary, summary)
        if len(indices):
            summary = merge(summary, summarize(indices))
    return summary


def _with(times: NDArray[np.uint32], bit: int) -> RowIndices:
    """Return the indices of rows whose count has this bit set."""
    return np.flatnonzero(times & np.uint32(1 << bit))


def weights_of(
    sample_weight: Any, bounds: Any, source: RowSource, relation: str, nan: Any
) -> Weights:
    """Return the checked weights of the rows of a source.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If the weights cannot be read, or the bounds are invalid. No weight is read.
    """
    if bounds is None:
        checks.fail("weight_bounds", "given with sample_weight", None)
    lo, hi = checks.bounds(bounds, "weight_bounds")
    if not 0 <= lo <= hi or not 2.0**-SIZE <= hi <= 2.0**SIZE:
        rule = f"at least 0, with an upper bound from 2**-{SIZE} to 2**{SIZE}"
        checks.fail("weight_bounds", rule, bounds)
    if of_engine(source):
        rule = "left out for data of an engine, because its rows have no order"
        checks.fail_kind("sample_weight", rule, sample_weight)
    column = as_column(sample_weight, "sample_weight", RULE)
    if column.width is not None:
        checks.fail("sample_weight", RULE, f"{column.width} for each")
    checks.entries("sample_weight", column.length, source.length, relation)
    missing_rule = checks.nan_policy(nan, relation)
    fill = nan_policy.replacement(missing_rule, lo, hi)
    if missing_rule == "raise":
        fill = "raise"
    return Weights(column, cells(lo, hi, BITS, hi), fill)
