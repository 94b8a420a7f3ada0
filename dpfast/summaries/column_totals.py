"""Totals of each column of some rows, in one read of all of them.

Columns that lie apart in memory are read one after the other where they are; rows whose numbers lie
side by side, and files, are read stretch by stretch, all columns of a stretch while it is in a
cache. Either way gives the same integers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..sources.base import RowChunk, RowSource
from ..sources.columns import Apart
from ..sources.masked import refuse_mask
from .cells import Cells
from .side_by_side import flat, stretches
from .totals import Totals, totals, totals_of


def column_totals(
    source: Apart | RowSource,
    cells: Sequence[Cells | None],
    where: NDArray[np.bool_] | None,
    squares: bool = False,
) -> list[Totals]:
    """`totals` of each column, whose cells are given in order.

    Raises
    ------
    DataError
        If the data turn out to be of another length than `where`.
    """
    if isinstance(source, Apart):
        return [
            totals(column, own, where, squares)
            for column, own in zip(source.columns, cells, strict=True)
        ]

    def summarise(chunk: RowChunk) -> list[Totals]:
        found = [Totals()] * len(cells)
        for columns, read in stretches(chunk, where):
            each = zip(columns, cells, strict=True)
            found = _merged(found, [totals_of(flat(x), 0, read, own, squares) for x, own in each])
        return found

    found = source.reduce(summarise, _merged)
    if where is not None and found[0].read != len(where):
        refuse_mask()
    return found


def _merged(some: list[Totals], others: list[Totals]) -> list[Totals]:
    return [a.merge(b) for a, b in zip(some, others, strict=True)]
