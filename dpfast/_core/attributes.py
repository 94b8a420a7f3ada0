"""Properties that return an attribute of an inner object."""

from __future__ import annotations

from operator import attrgetter
from typing import Any


def same_as(path: str) -> Any:
    """Return a property that reads the attribute at a path, such as "inner.loss"."""
    return property(attrgetter(path))
