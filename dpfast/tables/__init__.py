"""Sources of rows: arrays, columns and files, all read by `reduce(summarise, merge)`."""

from __future__ import annotations

from .base import CHUNK_DTYPES, Chunk, RandomWords, Source, chunk_dtype
from .data import as_source
from .masked import MaskedSource
from .memory import ArraySource

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
