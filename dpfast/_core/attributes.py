"""Properties that are attributes of a part of an object."""

from __future__ import annotations

from operator import attrgetter
from typing import Any


def same_as(path: str) -> Any:
    """Return a property that reads another attribute by its path, such as "inner.loss"."""
    return property(attrgetter(path))
