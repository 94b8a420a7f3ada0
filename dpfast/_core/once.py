"""A cache for results of functions of public values: checks, plans and mechanisms.

No cached function may get rows or secrets. The total size of all results in bytes is limited.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from functools import update_wrapper
from threading import Lock
from types import FunctionType, ModuleType
from typing import Any, ParamSpec, Protocol, TypeVar, cast

Args = ParamSpec("Args")
Value = TypeVar("Value")

#: Types whose equal values are interchangeable, and whose hash is Python's own.
PLAIN: frozenset[type] = frozenset((int, float, str, bool, Fraction, type(None)))
#: The largest number of entries of one function, and about the largest size of all entries.
MOST, MOST_BYTES = 1024, 1 << 26
#: Types of objects that exist only once, so their bytes are not counted.
_SHARED = (type, ModuleType, FunctionType)


class _Kept:
    """The cached entries of all functions, and about their size in bytes."""

    def __init__(self) -> None:
        self.entries: list[dict[Any, Any]] = []
        self.bytes, self.lock = 0, Lock()

    def add(self, entries: dict[Any, Any], key: Any, value: Any) -> None:
        """Add an entry of a function. If there is no room, first remove all entries."""
        size = bytes_of((key, value), MOST_BYTES)
        if size >= MOST_BYTES:
            return
        with self.lock:
            if len(entries) >= MOST or self.bytes + size > MOST_BYTES:
                self.clear()
            entries[key] = value
            self.bytes += size

    def clear(self) -> None:
        """Forget the cached entries of all functions."""
        for entries in self.entries:
            entries.clear()
        self.bytes = 0


_kept = _Kept()
#: Removes all cached results.
forget = _kept.clear


class Remembered(Protocol[Args, Value]):
    """A function with a cache of its results."""

    __wrapped__: Callable[Args, Value]
    cache_clear: Callable[[], None]

    def __call__(self, *values: Args.args, **named: Args.kwargs) -> Value: ...


def remembered(make: Callable[Args, Value], *, plain: bool = False) -> Remembered[Args, Value]:
    """Return a function that caches its results by hashable public arguments.

    Parameters
    ----------
    make : callable
        A function of public values. It is called again if an argument is passed by name or has no
        hash, or if the result is too large.
    plain : bool, default False
        Whether to cache results only for plain values. Then the types of the values count too: 1 is
        not True.

    Returns
    -------
    callable
    """
    entries: dict[Any, Any] = {}
    _kept.entries.append(entries)

    def call(*values: Any, **named: Any) -> Any:
        if named:
            return cast(Any, make)(*values, **named)
        key: tuple[Any, ...] = values
        if plain:
            types = (*map(type, values),)
            if not PLAIN.issuperset(types):
                return cast(Any, make)(*values)
            key = *values, types
        try:
            return entries[key]
        except Exception:  # not made yet, or an object may raise anything here
            pass
        value = cast(Any, make)(*values)
        with suppress(Exception):  # it has no hash
            _kept.add(entries, key, value)
        return value

    update_wrapper(call, make)
    vars(call)["cache_clear"] = entries.clear
    return cast("Remembered[Args, Value]", call)


def once(check: Callable[Args, Value]) -> Remembered[Args, Value]:
    """Return a check that runs only once for equal positional arguments of plain types."""
    return remembered(check, plain=True)


def bytes_of(value: Any, most: int = sys.maxsize) -> int:
    """Return about the size in bytes of an object with all its contents.

    Functions, types and modules are not counted. The count stops at `most`.
    """
    total, seen, left = 0, set(), [value]
    while left and total < most:
        holder = left.pop()
        total += sys.getsizeof(holder)
        for item in gc.get_referents(holder):
            if type(item) in PLAIN:
                total += sys.getsizeof(item)
            elif id(item) not in seen and not isinstance(item, _SHARED):
                seen.add(id(item))
                left.append(item)
    return total
