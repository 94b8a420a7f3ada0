"""What a mechanism is shown: the rows of a call, or data with a mask as one column."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from dpfast.budget.budget import _told
from dpfast.measurement.statistic import made
from dpfast.sources.intake import View, read_column


def prepared(function, /, *args, **kwargs) -> tuple[Any, Any]:
    """Return the mechanism of a call, and what it reads; nothing is spent or read."""
    told = _told(function, args, kwargs, None)
    assert told is not None
    return told


def view(data, where=None) -> View:
    """Return one column with a mask."""
    return read_column(data, "add-remove", where)


@contextmanager
def replaced(place: Any, name: str, by: Any) -> Iterator[None]:
    """Replace a name by another thing, for mechanisms that are made from now on until the end."""
    made.cache_clear()
    with patch.object(place, name, by):
        yield
    made.cache_clear()
