"""A pass over rows that returns exact integers, all functions at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from .._core import nan_policy
from ..tables.base import RowChunk, RowSource
from ..tables.labels import Labels, aligned
from ..tables.masked import refuse_mask
from ..tables.table import only
from .row_functions import MaskedChunk, union
from .terms import Exact

#: Integers, rows without a value, and rows read.
Sums = tuple[list[int], int, int]
#: A pass over a source that returns integers.
Total = Callable[[RowSource], list[int]]


def totals(
    functions: Sequence[Exact],
    nan: str | float,
    where: NDArray[np.bool_] | None = None,
    length: int | None = None,
    labels: Labels = (),
) -> Total:
    """Return a pass over a source: the integers of all functions, one after the other.

    Rows are as many as `where` has entries, or as `length` says, if one of these is given.
    """
    columns = union(function.columns for function in functions)
    expected = length if where is None else len(where)

    def summarize(chunk: RowChunk) -> Sums:
        rows, start = chunk.rows, chunk.start
        keep = None if where is None else where[start : start + len(rows)]
        if keep is not None and len(keep) != len(rows):
            refuse_mask()
        tallies = [function.tally(MaskedChunk(rows, start, keep)) for function in functions]
        return [x for sums, _ in tallies for x in sums], sum(lost for _, lost in tallies), len(rows)

    def merge(a: Sums, b: Sums) -> Sums:
        return [x + y for x, y in zip(a[0], b[0], strict=True)], a[1] + b[1], a[2] + b[2]

    def total(source: RowSource) -> list[int]:
        some: RowSource = aligned(only(source, columns), labels)
        sums, missing, read = some.reduce(summarize, merge)
        if expected not in (None, read):
            refuse_mask()
        nan_policy.refuse(nan, missing)
        return sums

    return total
