"""The demonstration: private medians of a public table, beside their costs and their errors."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...budget.budget import Budget
from ...sources.scan import scan
from ...statistics.quantiles.api import median

ATTRIBUTION = (
    "B. Becker and R. Kohavi (1996), Adult, UCI Machine Learning Repository, "
    "doi:10.24432/C5XW20, CC BY 4.0"
)
EPSILONS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
#: Limits of a human age in years: known without looking at the table.
BOUNDS = (0.0, 120.0)
#: Releases whose times are compared; the least disturbed one counts.
TIMED = 5


class Line(NamedTuple):
    """One private median: what was asked, the answer, and what only a public table may show."""

    epsilon: float
    value: float
    error: float
    seconds: float


def load() -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the ages of the embedded table."""
    parts = scan(Path(__file__).parents[2] / "data" / "adult.parquet", "age")
    return parts.reduce(
        lambda chunk: chunk.values.astype(np.int64), lambda a, b: np.concatenate([a, b])
    )


def demo(ages: np.ndarray[tuple[int], np.dtype[np.int64]], budget: Budget) -> Iterator[Line]:
    """Yield a private median at each of `EPSILONS`, paid for by `budget`.

    The error and the time are shown because the table is public. Beside private data neither may
    be: both depend on the rows.
    """
    middle = (len(ages) - 1) // 2
    truth = float(np.partition(ages, middle)[middle])
    for epsilon in EPSILONS:
        value = median(ages, bounds=BOUNDS, epsilon=epsilon, budget=budget)
        seconds = min(_timed(ages, epsilon) for _ in range(TIMED))
        yield Line(epsilon, value, abs(value - truth), seconds)


def _timed(ages: np.ndarray[tuple[int], np.dtype[np.int64]], epsilon: float) -> float:
    """Return the seconds of one more release, whose answer is discarded unseen."""
    start = time.perf_counter()
    median(ages, bounds=BOUNDS, epsilon=epsilon)
    return time.perf_counter() - start
