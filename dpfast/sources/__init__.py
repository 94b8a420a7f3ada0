"""Sources: one verb, `reduce(summarise, merge)`, over arrays, columns and files."""

from __future__ import annotations

from typing import Any

import numpy as np

from .array import COLUMN, ArraySource, source_of
from .base import CHUNK_DTYPES, Chunk, RandomWords, Source, chunk_dtype
from .forms import form_of
from .masked import MaskedSource

__all__ = [
    "CHUNK_DTYPES",
    "ArraySource",
    "Chunk",
    "MaskedSource",
    "RandomWords",
    "Source",
    "as_source",
    "chunk_dtype",
]


def as_source(data: Any, name: str = "data") -> Source:
    """Return the source that reads `data`; a source is taken as it is."""
    if type(data) is np.ndarray and data.dtype.kind != "O":
        return ArraySource(data, name=name)
    return source_of(form_of(data, name, COLUMN), name)
