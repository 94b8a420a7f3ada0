"""What a mechanism is shown: the rows of a call, or data with a mask as one column."""

from __future__ import annotations

from typing import Any

from dpfast.budget.budget import _told
from dpfast.sources.intake import View, read_column


def prepared(function, /, *args, **kwargs) -> tuple[Any, Any]:
    """Return the mechanism of a call, and what it reads; nothing is spent or read."""
    told = _told(function, args, kwargs, None)
    assert told is not None
    return told


def view(data, where=None) -> View:
    """Return one column with a mask."""
    return read_column(data, "add-remove", where)
