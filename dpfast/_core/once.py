"""Checks that are made once for equal values."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache, update_wrapper
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from ..errors import DpfastError

if TYPE_CHECKING:
    from functools import _lru_cache_wrapper

Args = ParamSpec("Args")
Value = TypeVar("Value")

#: Types whose equal values are the same, and whose hash is Python's own.
PLAIN: frozenset[type] = frozenset((int, float, str, bool, Fraction, type(None)))


def once(check: Callable[Args, Value]) -> Callable[Args, Value]:
    """Return a check of positional values, from a cache by plain ones and their types."""
    remembered = lru_cache(maxsize=1024, typed=True)(check)

    def call(*values: Args.args, **named: Args.kwargs) -> Value:
        if not named and {*map(type, values)} <= PLAIN:
            return remembered(*values)
        return check(*values, **named)

    return update_wrapper(call, check)


def known_or_made(cached: _lru_cache_wrapper[Value], *values: Any) -> Value:
    """Return what a function with a cache does, made anew if a public value has no hash."""
    try:
        return cached(*values)
    except DpfastError:
        raise
    except Exception:  # whatever an object thinks of being hashed, or compared
        return cached.__wrapped__(*values)
