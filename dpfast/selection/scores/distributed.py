"""Scores in the partitions of an engine (Dask or Spark): only summaries come to this process."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core import checks
from ..._kernels.selection import NAN
from ...errors import DataError
from ...tables import chunk_dtype
from ...tables.base import RowChunk, RowSource, S
from ...tables.columns import Columns, Rows, TableRows, chosen
from ...tables.data import form_of
from ...tables.engine import MOST_ROWS, Engine
from ...tables.forms import Arrow, Readable, Values
from ...tables.table import rows_of
from . import OneRow, aligned, block_maxima, refuse

#: With at most this many candidates, all scores are read once and stored.
FEW = 1 << 20

RULE = "an array of real numbers"

Slices = tuple[tuple[int, NDArray[Any]], ...]


class DistributedScores(OneRow):
    """Scores of one dimension in the partitions of an engine. Each access is a pass.

    Parameters
    ----------
    scores : collection
        A Dask array, series or table of one column, or one of Spark.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If the scores are not numbers in one column. The number of scores is public; counting them
        may take a pass.
    """

    def __init__(self, scores: Any) -> None:
        columns = form_of(scores, "scores", RULE)
        assert isinstance(columns, (Columns, TableRows)) and isinstance(columns.store, Engine)
        if isinstance(columns, TableRows) or len(columns.names) > 1:
            checks.fail_kind("scores", "of one dimension, if Dask or Spark holds them", scores)
        column = _Flat(columns.names or None)
        like = column.column(columns.store.like)
        if isinstance(like, Values) and isinstance(like.original, np.ma.MaskedArray):
            rule = "an array without a mask: use -inf to exclude a candidate"
            checks.fail_kind("scores", rule, scores)
        self._dtype = chunk_dtype(_array(like).dtype, "scores")
        self._rows = TableRows(columns.store, column)
        counts = self._rows.reduce(_count, operator.add)
        last: dict[int, int] = {}
        for part, stop in counts:
            last[part] = max(last.get(part, 0), stop)
        parts = sorted(last)
        ends = np.cumsum([last[part] for part in parts]).tolist()
        self.count = ends[-1] if ends else 0
        self._first = dict(zip(parts, [0, *ends], strict=False))

    def gathered(self) -> NDArray[Any]:
        """Return all scores as an array, for few candidates."""
        out = np.empty(self.count, self._dtype)
        for start, values in self._rows.reduce(partial(_slices, self._first), operator.add):
            out[start : start + len(values)] = values
        return out

    def peaks(self, block: int) -> NDArray[np.float64]:
        flags, blocks = self._rows.reduce(partial(_peaks, self._first, block, self._dtype), _joined)
        least = np.iinfo(self._dtype).min if self._dtype.kind in "iu" else -np.inf
        best = np.full(-(-self.count // block), least, self._dtype)
        for first, maxima in blocks:
            covered = best[first : first + len(maxima)]
            np.maximum(covered, maxima, out=covered)
        refuse(flags)
        return self._keep_peaks(block, best)

    def _look(self, index: NDArray[np.int64]) -> NDArray[Any]:
        wanted, back = np.unique(index, return_inverse=True)
        out = np.empty(len(wanted), self._dtype)
        for at, values in self._rows.reduce(partial(_values, self._first, wanted), operator.add):
            out[at : at + len(values)] = values
        if (out > self._maxima[wanted // self._block]).any():
            raise DataError("the scores changed between two reads: pass scores that do not change")
        return out[back]


@dataclass(frozen=True)
class _Flat(Rows):
    """A function from rows to the one column of scores, in its declared type."""

    def column(self, columns: Readable) -> Readable:
        """Return the column of scores."""
        return chosen(columns, self.names).held_columns[self.names[0]] if self.names else columns

    def __call__(self, columns: Readable) -> RowSource:
        column = self.column(columns)
        if isinstance(column, Arrow) and column.chunked.null_count:
            return _Nulls(column)
        array = _array(column)
        return rows_of(Values(array, array))


class _Nulls:
    """Rows with a null, which is not a score: they are refused when they are read."""

    array, width, length = None, None, None

    def __init__(self, column: Arrow) -> None:
        self.dtype = _array(Arrow(column.chunked.slice(0, 0))).dtype

    def reduce(self, summarise: Callable[[RowChunk], S], merge: Callable[[S, S], S]) -> S:
        refuse(NAN)
        raise AssertionError("a null is refused")

    def only(self, columns: Any) -> RowSource:
        return self


def _array(column: Readable) -> NDArray[Any]:
    """Return a column without nulls as an array."""
    if isinstance(column, Arrow):
        return np.asarray(column.chunked.to_numpy())
    if isinstance(column, Values) and column.mask is None:
        return column.array
    return np.empty(0, object)


def _start(first: Mapping[int, int], chunk: RowChunk) -> int:
    """Return the index of the first candidate of a chunk."""
    part, row = divmod(chunk.start, 1 << MOST_ROWS)
    return first.get(part, 0) + row


def _count(chunk: RowChunk) -> tuple[tuple[int, int], ...]:
    """Return the partition of a chunk, and the number of the row after the chunk."""
    part, row = divmod(chunk.start, 1 << MOST_ROWS)
    return ((part, row + len(chunk.rows)),)


def _slices(first: Mapping[int, int], chunk: RowChunk) -> Slices:
    """Return the scores of a chunk, with the index of the first candidate."""
    return ((_start(first, chunk), chunk.rows.reshape(-1).copy()),)


def _values(first: Mapping[int, int], wanted: NDArray[np.int64], chunk: RowChunk) -> Slices:
    """Return the scores of the wanted candidates in a chunk, with the index of the first."""
    start = _start(first, chunk)
    i, j = np.searchsorted(wanted, [start, start + len(chunk.rows)]).tolist()
    return ((i, chunk.rows.reshape(-1)[wanted[i:j] - start]),) if i < j else ()


def _peaks(
    first: Mapping[int, int], block: int, dtype: np.dtype[Any], chunk: RowChunk
) -> tuple[int, Slices]:
    """Return the flags of a chunk, and the best score of each block within the chunk."""
    start, values = _start(first, chunk), aligned(chunk.rows.reshape(-1), dtype)
    head = min(-start % block, len(values))
    flags, maxima = 0, []
    for at, some in ((start, values[:head]), (start + head, values[head:])):
        if len(some):
            best = np.empty(-(-len(some) // block), dtype)
            flags |= block_maxima(some, block, best)
            maxima.append((at // block, best))
    return flags, tuple(maxima)


def _joined(a: tuple[int, Slices], b: tuple[int, Slices]) -> tuple[int, Slices]:
    return a[0] | b[0], a[1] + b[1]
