"""What an aggregation of a whole table gives."""

from __future__ import annotations

import os
from collections import namedtuple
from collections.abc import Callable, Iterator
from functools import lru_cache
from threading import Lock
from typing import Any

from dpfast.errors import BudgetError


class Once:
    """A release that its accountant has paid for once; copies of a result share it."""

    def __init__(self, ready: Callable[[], Any], compute: Callable[[Any], list[Any]]) -> None:
        self._ready, self._compute = ready, compute
        self._found: list[Any] | None = None
        self._begun, self._process, self._lock = False, os.getpid(), Lock()

    def value(self) -> list[Any]:
        """Return what was released, at first after a release."""
        with self._lock:
            if self._found is None:
                loss = self._ready()
                if self._begun or os.getpid() != self._process:
                    raise BudgetError(
                        "this aggregation was paid for once: it has failed, which is its answer, "
                        "or this process is a fork"
                    )
                self._begun = True
                self._found = self._compute(loss)
            return self._found


class Partitions:
    """Pairs of a partition key and its metrics, or keys alone.

    They are computed when they are read for the first time, after ``compute_budgets()``, and once.
    Where that fails, or in a process that is a fork, there is no second time.
    """

    def __init__(self, ready: Callable[[], Any], compute: Callable[[Any], list[Any]]) -> None:
        self._once = Once(ready, compute)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._once.value())


@lru_cache(maxsize=64)
def metrics_tuple(fields: tuple[str, ...]) -> Any:
    """Return the type of the metrics of a partition."""
    return namedtuple("MetricsTuple", fields)
