"""Exact counts of the rows beyond each of some public numbers, in one pass.

The numbers are 0 and, with either sign, ``2**e (1 + j / 16)``: from ``2**-40`` to ``2**380``,
sixteen in each octave. Rows are counted by the cells between them
(``csrc/statistics/magnitudes.h``).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._kernels.statistics import MAGNITUDES, magnitudes
from ..summaries.side_by_side import tallied
from ..tables import Chunk, Source
from ..tables.base import RowSource
from ..tables.sql.store import SqlRows

Counts = NDArray[np.int64]

#: Cells of an octave, and the exponents of the smallest and the largest public number.
PER_OCTAVE, LEAST, LARGEST = 16, -40, 380
_FIRST, _LAST = ((e + 1023) * PER_OCTAVE for e in (LEAST, LARGEST))
_SIZE = _LAST - _FIRST + 1
_POSITIVE = (np.arange(_FIRST, _LAST + 1, dtype=np.uint64) << np.uint64(48)).view(np.float64)

#: The public numbers in ascending order: 2 * _SIZE + 1 of them.
NUMBERS = np.concatenate([-_POSITIVE[::-1], [0.0], _POSITIVE])

# A summary has a count for each public number. It counts the rows from a positive number up to the
# next, from a negative number down to the one below, and around 0. The last two entries count the
# missing rows, and the rows that were read.
MISSING, READ = -2, -1


def _summary(cells: Counts) -> Counts:
    """Return a summary of rows, from counts by a float64's upper 16 bits, missing rows last."""
    half = MAGNITUDES // 2
    summary = np.zeros(2 * _SIZE + 3, np.int64)
    for sign, side in ((0, summary[_SIZE + 1 : -2]), (half, summary[:_SIZE][::-1])):
        side[:] = cells[sign + _FIRST : sign + _LAST + 1]
        side[-1] += cells[sign + _LAST + 1 : sign + half].sum()
        summary[_SIZE] += cells[sign : sign + _FIRST].sum()
    summary[MISSING], summary[READ] = cells[-1], cells.sum()
    return summary


def _add(_: int, values: NDArray[Any], cells: Counts) -> None:
    cells[-1] += magnitudes(values, cells[:-1])


def of_chunk(chunk: Chunk) -> Counts:
    cells = np.zeros(MAGNITUDES + 1, np.int64)
    _add(0, chunk.values, cells)
    cells[-1] += chunk.nulls
    return _summary(cells)


def of_counts(numbers: NDArray[np.float64], counts: Counts) -> Counts:
    """Return a summary of rows, from numbers and the number of rows that have each of them."""
    cells = np.zeros(MAGNITUDES + 1, np.int64)
    np.add.at(cells, numbers.view(np.uint64) >> np.uint64(48), counts)
    return _summary(cells)


def counts(
    source: Source | RowSource | SqlRows | list[Source], where: NDArray[np.bool_] | None, width: int
) -> Counts:
    """Return a summary of each of the first `width` columns, of the rows that `where` keeps.

    Raises
    ------
    DataError
        If the data turn out to be of another length than `where`.
    """
    if isinstance(source, SqlRows):
        return np.stack([_of_column(source, i) for i in range(width)])
    columns: Any = [source] if isinstance(source, Source) else source
    return np.stack(list(map(_summary, tallied(columns, where, [MAGNITUDES + 1] * width, _add))))


def _of_column(rows: SqlRows, column: int) -> Counts:
    """Return a summary of the rows of a column of a database."""
    near, side, many = rows.leading(column)
    summary = of_counts(np.where(side == 1, np.nextafter(near, 0), near), many * (side < 2))
    summary[[MISSING, READ]] += many[side == 2].sum()
    return summary


def with_missing(summary: Counts, value: float) -> Counts:
    """Return a summary in which missing rows count as a public number."""
    counts: Counts = summary + of_chunk(Chunk(np.array([value]), 0)) * summary[MISSING]
    counts[MISSING] = 0
    return counts


def rows(summary: Counts) -> int:
    """Return the number of rows that are not missing."""
    return int(summary[:MISSING].sum())


def beyond(summary: Counts, *, above: bool) -> Counts:
    """Return how many rows lie above each public number or, if `above` is False, below.

    A row that equals a public number counts as above a positive number, as below a negative number,
    and as neither for 0. All numbers up to ``2**-40`` in absolute value count as 0.
    """
    held = summary[:MISSING] if above else summary[:MISSING][::-1]
    from_here = np.cumsum(held[::-1])[::-1]
    tail = np.concatenate([from_here[1 : _SIZE + 2], from_here[_SIZE + 1 :]])
    return np.asarray(tail if above else tail[::-1])
