"""A cache of function results for public values: checks, plans and mechanisms.

Nothing in this cache may hold rows or secrets: functions are called with public values alone. All
of its values together are bounded by the bytes that they take.
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

#: Types whose equal values are the same, and whose hash is Python's own.
PLAIN: frozenset[type] = frozenset((int, float, str, bool, Fraction, type(None)))
#: The most entries of one function, and about the most bytes of the entries of all.
MOST, MOST_BYTES = 1024, 1 << 26
#: Types of objects that exist once, however many refer to them, so their bytes are not counted.
_SHARED = (type, ModuleType, FunctionType)


class _Kept:
    """The cached entries of all functions, and about how many bytes they take."""

    def __init__(self) -> None:
        self.entries: list[dict[Any, Any]] = []
        self.bytes, self.lock = 0, Lock()

    def add(self, entries: dict[Any, Any], key: Any, value: Any) -> None:
        """Add an entry of a function, after removing all entries if there is no room."""
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
#: Forgets all that functions remember.
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
        A function of public values, which holds on to no others. The function is called again if a
        value has no hash or has a name, or if the result takes too many bytes.
    plain : bool, default False
        Whether only results of plain values are remembered, by their types as well: 1 is not True.

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
    """Return a check that is made only once for equal positional arguments of plain types."""
    return remembered(check, plain=True)


def bytes_of(value: Any, most: int = sys.maxsize) -> int:
    """Return about how many bytes an object takes with all that it holds; at least `most` if more.

    Functions, types and modules are not counted.
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
