"""Times and errors of a query, with privacy and without."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import dpfast as dp

from ..conftest import fastest
from .queries import Query

#: A loss whose noise is nothing beside what bounding leaves out.
LARGE = 500.0


class Errors(NamedTuple):
    """Medians over keys and statistics of errors relative to the true numbers."""

    noise: float
    bounding: float


def plain(rows: Any, query: Query) -> Any:
    """Return the query without privacy, of the same rows, as an expression of Ibis."""

    def value(statistic: Any) -> Any:
        if isinstance(statistic, dp.Count):
            return rows.count()
        column = rows[statistic.column].cast("float64")
        return column.mean() if isinstance(statistic, dp.Mean) else column.sum()

    values = {name: value(statistic) for name, statistic in query.statistics().items()}
    return rows.group_by(query.by).aggregate(**values)


def truth(rows: Any, query: Query) -> dict[str, np.ndarray]:
    """Return the true numbers, in the order of the keys; a group without rows has 0."""
    by = [query.by] if isinstance(query.by, str) else list(query.by)
    found = plain(rows, query).to_pyarrow().to_pylist()
    groups = {tuple(group[name] for name in by): group for group in found}
    keys = [key if isinstance(key, tuple) else (key,) for key in query.keys]
    names = list(query.statistics())
    return {
        name: np.array([groups.get(key, {}).get(name, 0.0) for key in keys], float)
        for name in names
    }


def errors(data: Any, rows: Any, query: Query, is_customer: bool, runs: int = 5) -> Errors:
    """Return what noise adds to the bounded numbers at epsilon 1, and what bounding takes away."""
    true = truth(rows, query)
    bounded = query.ask(data, LARGE, is_customer)
    answers = [query.ask(data, 1.0, is_customer) for _ in range(runs)]

    def median(of: Callable[[str], Any]) -> float:
        each = [np.abs(of(name)) / np.maximum(np.abs(true[name]), 1e-9) for name in true]
        return float(np.median(np.concatenate([np.ravel(one) for one in each])))

    noise = median(lambda name: np.stack([np.ravel(a[name]) - bounded[name] for a in answers]))
    return Errors(noise, median(lambda name: np.ravel(bounded[name]) - true[name]))


def seconds(rows: Any, query: Query, is_customer: bool, rounds: int) -> float:
    """Return the seconds of the fastest of some releases."""
    return fastest(lambda: query.ask(rows, 1.0, is_customer), rounds)


def lines(query: Query) -> int:
    """Return how many lines a user writes: those of the rows, the statistics and the call."""
    own = [query.rows_of] + ([query.statistics] if query.statistics.__name__ != "<lambda>" else [])
    texts = [line for part in own for line in inspect.getsource(part).splitlines()]
    shared = 2 if len(own) == 2 else 3  # the call, and a statistic in it
    return len([line for line in texts if line.strip()]) - len(own) + shared
