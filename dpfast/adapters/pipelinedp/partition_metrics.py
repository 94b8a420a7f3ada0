"""What an aggregation of a whole table gives."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterator
from functools import lru_cache
from threading import Lock
from typing import Any


class Partitions:
    """Pairs of a partition key and its metrics, or keys alone.

    They are computed when they are read for the first time, after ``compute_budgets()``, and once.
    """

    def __init__(self, compute: Callable[[], list[Any]]) -> None:
        self._compute = compute
        self._found: list[Any] | None = None
        self._lock = Lock()

    def __iter__(self) -> Iterator[Any]:
        with self._lock:
            if self._found is None:
                self._found = self._compute()
        return iter(self._found)


@lru_cache(maxsize=64)
def metrics_tuple(fields: tuple[str, ...]) -> Any:
    """Return the type of the metrics of a partition."""
    return namedtuple("MetricsTuple", fields)
