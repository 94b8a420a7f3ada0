"""Sources: one verb, `reduce(summarise, merge)`, over arrays, columns and files."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._base import CHUNK_DTYPES, Chunk, RandomWords, Source, chunk_dtype
from .array import ArraySource, column

__all__ = [
    "CHUNK_DTYPES",
    "ArraySource",
    "Chunk",
    "RandomWords",
    "Source",
    "as_source",
    "chunk_dtype",
]


def as_source(data: Any, name: str = "data") -> Source:
    """The source that reads `data`: a source is taken as it is, anything array-like is wrapped."""
    if isinstance(data, np.ndarray) and not isinstance(data, np.ma.MaskedArray):
        return ArraySource(data, name=name)
    if isinstance(data, (ArraySource, Source)):  # in this order: a protocol is slow to tell
        return data
    return column(data, name)
