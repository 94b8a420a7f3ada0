"""Attributes that are those of a part of an object."""

from __future__ import annotations

from operator import attrgetter
from typing import Any


def same_as(path: str) -> Any:
    """Return a property that is what the object has at a path, such as "inner.loss"."""
    return property(attrgetter(path))
