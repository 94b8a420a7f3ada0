"""Made by tools/stubs.py."""

from typing import Any

from dpfast._core.types import Auto, Bounds, NanPolicy, Neighbors, Number
from dpfast.budget.budget import Budget
from dpfast.rng import Generator
from dpfast.statistics.ptr.answer import NO_ANSWER as NO_ANSWER
from dpfast.statistics.ptr.answer import NoAnswer as NoAnswer
from dpfast.statistics.ptr.api import release as release
from dpfast.statistics.ptr.statistics import Iqr as Iqr
from dpfast.statistics.ptr.statistics import Mean as Mean
from dpfast.statistics.ptr.statistics import Quantile as Quantile

__all__ = [
    "NO_ANSWER",
    "Iqr",
    "Mean",
    "NoAnswer",
    "Quantile",
    "iqr",
    "mean",
    "quantile",
    "release",
]

def mean(
    data: Any,
    *,
    bounds: Bounds | Auto,
    nan: NanPolicy | None = None,
    proposed: Number | None,
    test_share: Number = 0.5,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    neighbors: Neighbors | None = None,
    ids: Any = None,
    max_rows: int | Auto | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> float | NoAnswer: ...
def quantile(
    data: Any,
    q: Number,
    *,
    bounds: Bounds | Auto,
    nan: NanPolicy | None = None,
    proposed: Number | None,
    test_share: Number = 0.5,
    assume_sorted: bool = False,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    neighbors: Neighbors | None = None,
    ids: Any = None,
    max_rows: int | Auto | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> float | NoAnswer: ...
def iqr(
    data: Any,
    *,
    bounds: Bounds | Auto,
    nan: NanPolicy | None = None,
    proposed: Number | None = None,
    test_share: Number = 0.5,
    assume_sorted: bool = False,
    ratio: Number | None = None,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    neighbors: Neighbors | None = None,
    ids: Any = None,
    max_rows: int | Auto | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> float | NoAnswer: ...
