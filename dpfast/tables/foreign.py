"""Read the rows of a `Source` that is not defined in this library."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import DataError
from .base import Chunk, RowChunk, RowSource, Source
from .mapped import MappedRows, Spans

#: The most rows that kernels can number.
MOST = 1 << 62
NUMBERED = "number each row once, from 0, by the starts of its chunks"


def foreign_rows(source: Source) -> RowSource:
    """Return the column of a foreign source as rows of float64, in which a null is NaN.

    Blocks are a function of row numbers. So the source must number the rows of its chunks, and say
    which rows are null.
    """
    length = source.length

    def read(chunk: Chunk) -> RowChunk:
        rows = _rows(chunk)
        stop = chunk.start + len(rows)
        if not 0 <= chunk.start <= stop <= (MOST if length is None else length):
            _wrong(NUMBERED)
        return RowChunk(rows, chunk.start)

    def check(seen: Spans) -> None:
        at = 0
        for start, rows in sorted(span for span in seen if span[1]):
            if start != at:
                _wrong(NUMBERED)
            at += rows
        if length is not None and at != length:
            _wrong("have as many rows as it says")

    return MappedRows(source, read, after=check, dtype=np.dtype(np.float64))


def _rows(chunk: Chunk) -> Any:
    values = np.asarray(chunk.values)
    if values.ndim != 1 or values.dtype.kind not in "biuf":
        _wrong("have one number a row in the values of its chunks")
    if not chunk.nulls:
        with np.errstate(invalid="ignore"):  # a signaling NaN causes no warning
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
    raise DataError(f"a source must {rule}, but does not")
