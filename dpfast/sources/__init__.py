"""Sources: one verb, `reduce(summarise, merge)`, over arrays, columns and files."""

from __future__ import annotations

from typing import Any

import numpy as np

from .array import ArraySource, column
from .base import CHUNK_DTYPES, Chunk, RandomWords, Source, chunk_dtype
from .masked import MaskedSource, mask

__all__ = [
    "CHUNK_DTYPES",
    "ArraySource",
    "Chunk",
    "MaskedSource",
    "RandomWords",
    "Source",
    "as_source",
    "chunk_dtype",
    "masked",
]


def as_source(data: Any, name: str = "data") -> Source:
    """The source that reads `data`: a source is taken as it is, anything array-like is wrapped."""
    if type(data) is np.ndarray and data.dtype.kind != "O":
        return ArraySource(data, name=name)
    if isinstance(data, (ArraySource, Source)):  # in this order: a protocol is slow to tell
        return data
    return column(data, name)


def masked(data: Any, where: Any, relation: str) -> Any:
    """The rows of one column that `where` keeps; the data as they are if it is None."""
    if where is None:
        return data
    source = as_source(data)
    keep = mask(where, source.length, relation)
    assert keep is not None
    return MaskedSource(source, keep)
