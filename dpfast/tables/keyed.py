"""Select the rows of one group, whose last column equals a public number."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .base import RowChunk, RowSource, Source
from .mapped import MappedRows, expect_rows
from .masked import refuse_mask
from .table import only_column


def keyed(rows: RowSource, key: float, where: NDArray[np.bool_] | None) -> Source | RowSource:
    """Return the rows with `key` in the last column, without that column.

    The result is a source of the remaining column or columns. Its number of rows is known only
    after a pass.
    """
    names, width = rows.dtype.names, None if rows.width is None else rows.width - 1
    dtype = rows.dtype if names is None else rows.dtype[list(names[:-1])]

    def of_group(chunk: RowChunk) -> RowChunk:
        rows: NDArray[Any] = chunk.rows
        keep = (rows[:, -1] if names is None else rows[names[-1]]) == key
        if where is not None:
            kept = where[chunk.start : chunk.start + len(rows)]
            if len(kept) != len(rows):
                refuse_mask()
            keep &= kept
        rows = rows[keep]
        return RowChunk(rows[:, :-1] if names is None else rows[list(names[:-1])], chunk.start)

    after = None if where is None else expect_rows(len(where), refuse_mask)
    group = MappedRows(rows, of_group, after=after, dtype=dtype, width=width, length=None)
    is_alone = len(names) == 2 if names is not None else width == 1
    return only_column(group) if is_alone else group
