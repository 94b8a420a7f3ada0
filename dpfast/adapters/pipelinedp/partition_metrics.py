"""What an aggregation of a whole table gives."""

from __future__ import annotations

import os
from collections import namedtuple
from collections.abc import Callable, Iterator
from functools import lru_cache
from threading import Lock
from typing import Any

from dpfast.errors import BudgetError


def once(ready: Callable[[], Any], compute: Callable[[Any], list[Any]]) -> Callable[[], list[Any]]:
    """Return a release that its accountant has paid for once; copies of a result share it."""
    released: list[Any] | None = None
    begun, process, lock = False, os.getpid(), Lock()

    def release() -> list[Any]:
        nonlocal released, begun
        with lock:
            if released is None:
                loss = ready()
                if begun or os.getpid() != process:
                    raise BudgetError(
                        "this aggregation was paid for once: it has failed, which is its answer, "
                        "or this process is a fork"
                    )
                begun = True
                released = compute(loss)
            return released

    return release


class Partitions:
    """Pairs of a partition key and its metrics, or keys alone.

    They are computed when they are read for the first time, after ``compute_budgets()``, and once.
    Where that fails, or in a process that is a fork, there is no second time.
    """

    def __init__(self, ready: Callable[[], Any], compute: Callable[[Any], list[Any]]) -> None:
        self._release = once(ready, compute)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._release())


@lru_cache(maxsize=64)
def metrics_tuple(fields: tuple[str, ...]) -> Any:
    """Return the type of the metrics of a partition."""
    return namedtuple("MetricsTuple", fields)
