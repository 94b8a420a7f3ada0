"""Rows as float64 matrices, block by block, and sums of integers that may leave 64 bits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import checks, nan_policy
from ..errors import DataError
from ..sources.base import RowChunk, RowSource

Floats = NDArray[np.float64]

#: Rows that are converted at a time where they do not lie in memory as float64.
BLOCK = 1 << 12

F8 = np.dtype(np.float64)


def column_bounds(
    bounds: Any, width: int, bits: int | None = None
) -> tuple[tuple[float, float], ...]:
    """Return the public bounds of each of some columns: one pair for all, or a pair for each.

    With `bits` they are at most 2**bits in size, which leaves room in float64 for what is computed
    from them.
    """
    pairs, is_vector = checks.pairs(bounds)
    pairs = pairs if is_vector else pairs * width
    checks.columns("bounds", len(pairs), width)
    if bits is not None:
        expect_size(pairs, bits, "bounds", bounds)
    return pairs


def expect_size(pairs: Iterable[tuple[float, float]], bits: int, name: str, given: Any) -> None:
    """Refuse bounds above 2**bits in size."""
    if max(max(abs(lo), abs(hi)) for lo, hi in pairs) > 2.0**bits:
        checks.fail(name, f"at most 2**{bits} in size", given)


def expect_scale(name: str, value: Any) -> float:
    """Return a positive number that is neither too small nor too large to compute with."""
    number = checks.positive(name, value)
    if not 2.0**-900 <= number <= 2.0**900:
        checks.fail(name, "between 2**-900 and 2**900", value)
    return number


def nan_fills(nan: str | float, bounds: Iterable[tuple[float, float]]) -> tuple[list[float], bool]:
    """Return the number that a NaN of each column counts as, and whether its row is left out."""
    fills = [nan_policy.replacement(nan, lo, hi) for lo, hi in bounds]
    return [0.0 if isinstance(x, str) else x for x in fills], any(isinstance(x, str) for x in fills)


def matrices(chunk: RowChunk, width: int, most: int) -> Iterator[Floats]:
    """Yield the rows as matrices of at most `most` rows, each valid until the next is asked for."""
    rows = _plain(chunk.rows)
    names = rows.dtype.names
    if names is None and rows.dtype == F8 and rows.flags.c_contiguous:
        matrix = rows.reshape(len(rows), width)
        for at in range(0, len(rows), most):
            yield matrix[at : at + most]
        return
    step = min(BLOCK, most)
    buffer = np.empty((min(step, len(rows)), width))
    for at in range(0, len(rows), step):
        part = rows[at : at + step]
        matrix = buffer[: len(part)]
        if names is None:
            matrix[...] = part.reshape(len(part), width)
        else:
            for j, name in enumerate(names):
                matrix[:, j] = part[name]
        yield matrix


def _plain(rows: NDArray[Any]) -> NDArray[Any]:
    """Return records that begin with their fields, all float64, as a matrix without a copy."""
    kind = rows.dtype
    size, extra = divmod(kind.itemsize, F8.itemsize)
    if kind.names is None or extra or not rows.flags.c_contiguous:
        return rows
    if any(kind.fields[name] != (F8, 8 * j) for j, name in enumerate(kind.names)):  # type: ignore[index]
        return rows
    matrix = rows.view(F8).reshape(len(rows), size)[:, : len(kind.names)]
    return matrix if matrix.flags.aligned else rows


def each_row(
    source: RowSource, width: int, size: int, function: Callable[[Floats], Floats]
) -> Floats:
    """Return `size` numbers for each row, none of which may be NaN. This is not private."""

    def summarize(chunk: RowChunk) -> list[tuple[int, list[Floats]]]:
        with np.errstate(invalid="ignore"):  # of infinite numbers
            return [(chunk.start, [function(rows) for rows in matrices(chunk, width, 1 << 14)])]

    chunks = source.reduce(summarize, lambda a, b: a + b)
    blocks = [block for _, own in sorted(chunks, key=lambda chunk: chunk[0]) for block in own]
    numbers = np.concatenate([np.empty((0, size)), *blocks])
    refuse_nan(numbers)
    return numbers


def refuse_nan(answers: Floats) -> None:
    """Raise the error of rows that lead to no answer."""
    if np.isnan(answers).any():
        raise DataError("X holds NaN or infinite numbers, for which there is no answer")


# Sums of 64-bit integers that may need more bits. Each is two halves: an array of halves has one
# more dimension in front, for the high ones, in units of 2**32, and the low ones, to which kernels
# add.


def carry(halves: NDArray[np.int64]) -> None:
    """Leave numbers below 2**32 as the low halves, to which then 2**62 can be added."""
    halves[0] += halves[1] >> 32
    halves[1] &= (1 << 32) - 1


def added(a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the sum of two such arrays, ready for more."""
    halves = a + b
    carry(halves)
    return halves


def wholes(halves: NDArray[np.int64]) -> NDArray[Any]:
    """Return the integers, as Python's."""
    high, low = halves
    if np.abs(high).max(initial=0) >= 1 << 30:
        high, low = high.astype(object), low.astype(object)
    integers: NDArray[Any] = ((high << 32) + low).astype(object)
    return integers
