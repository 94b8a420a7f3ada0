"""Made by tools/stubs.py."""

from collections.abc import Sequence
from typing import Any, Literal

from .._core.types import Bounds, NanPolicy, Number
from ..statistics.histogram import Histogram as histogram
from ..statistics.quantiles.statistic import Maximum as maximum
from ..statistics.quantiles.statistic import Median as median
from ..statistics.quantiles.statistic import Minimum as minimum
from ..statistics.quantiles.statistic import Quantile as quantile
from ..statistics.quantiles.statistic import Quantiles as quantiles
from ..statistics.totals.moments import Mean as mean
from ..statistics.totals.moments import Std as std
from ..statistics.totals.moments import Sum as sum
from ..statistics.totals.moments import Variance as variance
from .sums import Count, Nonzero, People

__all__ = [
    "count",
    "count_distinct",
    "count_nonzero",
    "histogram",
    "maximum",
    "mean",
    "median",
    "minimum",
    "percentile",
    "quantile",
    "quantiles",
    "std",
    "sum",
    "variance",
]

def count() -> Count: ...
def count_distinct() -> People: ...
def count_nonzero(
    column: str,
    *,
    nan: Literal["keep", "drop"] = "keep",
) -> Nonzero: ...
def percentile(
    column: str,
    q: Number | Sequence[Number],
    *,
    bounds: Bounds,
    nan: NanPolicy = "raise",
    granularity: Number | None = None,
) -> Any: ...
