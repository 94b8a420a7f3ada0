"""The demonstration: private medians of a public table, with their privacy losses and errors."""

from __future__ import annotations

import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
from rich.table import Table

from ... import Budget, median, scan
from .shared import Terminal

ATTRIBUTION = (
    "B. Becker and R. Kohavi (1996), Adult, UCI Machine Learning Repository, "
    "doi:10.24432/C5XW20, CC BY 4.0"
)
EPSILONS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
#: Limits of a human age in years: known without looking at the table.
BOUNDS = (0.0, 120.0)
#: Releases whose times are compared; the least disturbed one counts.
TIMED = 5


def load() -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the 32,561 ages of the UCI Adult table, which comes with dpfast."""
    parts = scan(Path(__file__).parents[2] / "data" / "adult.parquet", "age")
    return parts.reduce(
        lambda chunk: chunk.values.astype(np.int64), lambda a, b: np.concatenate([a, b])
    )


def allocated() -> Budget:
    """Return a budget of the sum of `EPSILONS`, which pays for one median at each epsilon."""
    return Budget(epsilon=sum(Fraction(repr(epsilon)) for epsilon in EPSILONS))


def demo(
    ages: np.ndarray[tuple[int], np.dtype[np.int64]], budget: Budget
) -> Iterator[tuple[str, ...]]:
    """Yield each of `EPSILONS` with a private median that `budget` pays for, its error and time.

    The error and the time are shown because the table is public. For private data neither may be
    shown, because both depend on the rows.
    """
    middle = (len(ages) - 1) // 2
    truth = float(np.partition(ages, middle)[middle])
    for epsilon in EPSILONS:
        value = median(ages, bounds=BOUNDS, epsilon=epsilon, budget=budget)
        seconds = min(_timed(ages, epsilon) for _ in range(TIMED))
        yield f"{epsilon:g}", f"{value:.4f}", f"{abs(value - truth):.4f}", f"{1000 * seconds:.3f}"


def _timed(ages: np.ndarray[tuple[int], np.dtype[np.int64]], epsilon: float) -> float:
    """Return the time of one more private median in seconds; its answer is discarded unseen."""
    start = time.perf_counter()
    median(ages, bounds=BOUNDS, epsilon=epsilon)
    return time.perf_counter() - start


def show() -> None:
    """Print the private medians as a table, with the number of rows, bounds and loss below it."""
    ages, budget = load(), allocated()
    table = Table(title="Private median age of the UCI Adult table", title_justify="left")
    for heading in ("epsilon", "private median", "error (years)", "time (ms)"):
        table.add_column(heading, justify="right")
    for cells in demo(ages, budget):
        table.add_row(*cells)
    out = Terminal()
    out.print(table)
    lines = (
        f"{len(ages):,} rows; bounds {BOUNDS[0]:g} to {BOUNDS[1]:g}; neighbors differ in one row. "
        f"All of it together cost epsilon = {float(budget.spent['epsilon']):g}.",
        "The error and the time are shown because this table is public; for private data they "
        "would be answers too.",
        f"Data: {ATTRIBUTION}",
    )
    for line in lines:
        out.print(line, soft_wrap=True)
