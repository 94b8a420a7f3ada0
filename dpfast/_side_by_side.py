"""Several columns of the same rows, stretch by stretch, each lying side by side in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _check
from ._totals import refuse_mask
from .sources import chunk_dtype
from .sources.table import RowChunk, RowSource

__all__ = ["expect_columns", "stretches"]

#: Rows of a stretch, of which every column stays in a cache.
BLOCK = 1 << 14


def expect_columns(source: RowSource, count: int, name: str) -> None:
    """Check that rows are `count` numbers each; `name` is the argument that says so."""
    names = source.dtype.names
    found = len(names) if names else source.width or 1
    if found != count:
        _check.fail(name, f"for as many columns as the data have, {found}", f"{count} of them")
    for kind in [source.dtype[field] for field in names] if names else [source.dtype]:
        chunk_dtype(kind)


def stretches(
    chunk: RowChunk, where: NDArray[np.bool_] | None
) -> Iterator[tuple[list[NDArray[Any]], int]]:
    """The columns of each stretch of a chunk, and how many rows were looked at."""
    rows = chunk.rows
    names = rows.dtype.names
    for at in range(0, max(1, len(rows)), BLOCK):
        part = rows[at : at + BLOCK]
        read = len(part)
        if where is not None:
            own = where[chunk.start + at : chunk.start + at + read]
            if len(own) != read:
                refuse_mask()
            part = part[own]
        if names is not None:
            columns = [part[name] for name in names]
        else:
            columns = [part] if part.ndim == 1 else list(part.T)
        yield [np.ascontiguousarray(c, chunk_dtype(c.dtype)) for c in columns], read
