"""Rows of a `Source` that is not of this library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ..errors import DataError
from .base import Chunk, Ids, RowChunk, Source

S = TypeVar("S")

#: Rows that kernels can number.
MOST = 1 << 62
NUMBERED = "number each row once from 0 in the starts of its chunks"


class ForeignRows:
    """One column, as float64: nobody but its pass can say whether it has nulls.

    Blocks are a function of row numbers, so it is checked that the chunks number their rows, and
    that nulls come with their places.
    """

    dtype: np.dtype[Any] = np.dtype(np.float64)
    width = None
    array = None

    def __init__(self, source: Source, ids: Ids | None) -> None:
        self._source = source
        self._ids = ids
        self.length = source.length

    def reduce(self, summarise: Callable[[RowChunk], S], merge: Callable[[S, S], S]) -> S:
        seen: list[tuple[int, int]] = []  # appending is safe from several threads

        def read(chunk: Chunk) -> S:
            rows = _rows(chunk)
            stop = chunk.start + len(rows)
            if not 0 <= chunk.start <= stop <= (MOST if self.length is None else self.length):
                _wrong(NUMBERED)
            seen.append((chunk.start, stop))
            ids = None if self._ids is None else self._ids.of(chunk.start, stop)
            return summarise(RowChunk(rows, chunk.start, ids))

        total = self._source.reduce(read, merge)
        at = 0
        for start, stop in sorted(span for span in seen if span[0] < span[1]):
            if start != at:
                _wrong(NUMBERED)
            at = stop
        if self.length is not None and at != self.length:
            _wrong("have as many rows as it says")
        if self._ids is not None:
            self._ids.check_end(at)
        return total


def _rows(chunk: Chunk) -> Any:
    values = np.asarray(chunk.values)
    if values.ndim != 1 or values.dtype.kind not in "biuf":
        _wrong("have one number a row in the values of its chunks")
    if not chunk.nulls:
        with np.errstate(invalid="ignore"):  # of a signalling NaN
            return np.ascontiguousarray(values, np.float64)
    present = getattr(chunk, "present", None)
    if present is None:
        _wrong("say which rows are null, in the field `present` of its chunks")
    present = np.asarray(present, np.bool_)
    rows = np.full(len(values) + chunk.nulls, np.nan)
    if present.shape != rows.shape or np.count_nonzero(present) != len(values):
        _wrong("say of each row in the field `present` of its chunks whether it has a value")
    with np.errstate(invalid="ignore"):
        rows[present] = values
    return rows


def _wrong(rule: str) -> None:
    raise DataError(f"a source must {rule}, and does not")
