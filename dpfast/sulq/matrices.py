"""The rows of a chunk as matrices of float64, a stretch at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from ..errors import DataError
from ..sources.row_source import RowChunk, RowSource
from ..summaries.side_by_side import expect_columns, width_of

#: Rows that are converted at a time where they do not lie in memory as float64.
BLOCK = 1 << 12

F8 = np.dtype(np.float64)


def column_bounds(bounds: Any, source: RowSource, bits: int) -> tuple[tuple[float, float], ...]:
    """Public bounds of each column, one pair for all or a pair for each, below 2**bits in size.

    So much room is left for what is computed of them in float64.
    """
    pairs, is_vector = checks.pairs(bounds)
    if not is_vector:
        pairs *= width_of(source)
    expect_columns(source, len(pairs), "bounds")
    expect_size(pairs, bits, "bounds", bounds)
    return pairs


def expect_size(pairs: Iterable[tuple[float, float]], bits: int, name: str, given: Any) -> None:
    """Refuse bounds above 2**bits in size."""
    if max(max(abs(lo), abs(hi)) for lo, hi in pairs) > 2.0**bits:
        checks.fail(name, f"at most 2**{bits} in size", given)


def matrices(chunk: RowChunk, width: int, most: int) -> Iterator[NDArray[np.float64]]:
    """Of at most so many rows each; one is valid until the next is asked for."""
    rows = _plain(chunk.rows)
    names = rows.dtype.names
    if names is None and rows.dtype == F8 and rows.flags.c_contiguous:
        matrix = rows.reshape(len(rows), width)
        for at in range(0, len(rows), most):
            yield matrix[at : at + most]
        return
    step = min(BLOCK, most)
    out = np.empty((min(step, len(rows)), width))
    for at in range(0, len(rows), step):
        part = rows[at : at + step]
        own = out[: len(part)]
        if names is None:
            own[...] = part.reshape(len(part), width)
        else:
            for j, name in enumerate(names):
                own[:, j] = part[name]
        yield own


def _plain(rows: NDArray[Any]) -> NDArray[Any]:
    """Records that begin with their fields, all float64, as the matrix that these are."""
    kind = rows.dtype
    size, extra = divmod(kind.itemsize, F8.itemsize)
    if kind.names is None or extra or not rows.flags.c_contiguous:
        return rows
    if any(kind.fields[name] != (F8, 8 * j) for j, name in enumerate(kind.names)):  # type: ignore[index]
        return rows
    matrix = rows.view(F8).reshape(len(rows), size)[:, : len(kind.names)]
    return matrix if matrix.flags.aligned else rows


def each_row(
    source: RowSource,
    width: int,
    size: int,
    function: Callable[[NDArray[np.float64]], NDArray[np.float64]],
) -> NDArray[np.float64]:
    """`size` numbers for each row, none of which may be NaN. This is not private."""

    def summarise(chunk: RowChunk) -> list[tuple[int, list[NDArray[np.float64]]]]:
        with np.errstate(invalid="ignore"):  # of infinite numbers
            return [(chunk.start, [function(rows) for rows in matrices(chunk, width, 1 << 14)])]

    found = source.reduce(summarise, lambda a, b: a + b)
    parts = [part for _, own in sorted(found, key=lambda one: one[0]) for part in own]
    made = np.concatenate([np.empty((0, size)), *parts])
    refuse_nan(made)
    return made


def refuse_nan(answers: NDArray[np.float64]) -> None:
    """Raise the error of rows that lead to no answer."""
    if np.isnan(answers).any():
        raise DataError("X holds NaN, or infinite numbers, which lead to no answer")
