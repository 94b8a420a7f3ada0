"""Checks that are made once for equal values."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, update_wrapper
from typing import Any, TypeVar

Value = TypeVar("Value")


def once(check: Callable[[Any], Value]) -> Callable[[Any], Value]:
    """Return a check of one value, from a cache by the value and its type."""
    remembered = lru_cache(maxsize=1024, typed=True)(check)

    def call(value: Any) -> Value:
        try:
            return remembered(value)
        except TypeError:  # which says what is wrong, or that the value has no hash
            return check(value)

    return update_wrapper(call, check)
