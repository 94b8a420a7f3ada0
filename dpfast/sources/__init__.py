"""Sources: one verb, `reduce(summarise, merge)`, over arrays, columns and files."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core import checks
from .array import ArraySource, column
from .base import CHUNK_DTYPES, Chunk, RandomWords, Source, chunk_dtype
from .forms import Named, form_of
from .masked import MaskedSource
from .row_source import RowSource, WithRows

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
    """The source that reads `data`: a source is taken as it is, anything array-like is wrapped."""
    if type(data) is np.ndarray and data.dtype.kind != "O":
        return ArraySource(data, name=name)
    rule = "a one-dimensional array of numbers"
    form = form_of(data, name, rule)
    if isinstance(form, (ArraySource, Source)):  # in this order: a protocol is slow to tell
        return form
    if isinstance(form, WithRows):
        form.refuse_column(name)
    if isinstance(form, Named):
        checks.fail_kind(name, "one column, not a table", data)
    if isinstance(form, RowSource):
        checks.fail_kind(name, rule, data)
    return column(form, name)
