"""Made by tools/stubs.py."""

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from dpfast._core.types import Auto, BoundsEach, NanPolicy, NoiseName, Number
from dpfast.groups.distinct import CountDistinct as count_distinct
from dpfast.statistics.correlation import Correlation as correlation
from dpfast.statistics.histogram import Histogram as histogram
from dpfast.statistics.proportion import Proportion as proportion
from dpfast.statistics.quantiles.statistic import ManyMethod, Method
from dpfast.statistics.quantiles.statistic import Maximum as maximum
from dpfast.statistics.quantiles.statistic import Median as median
from dpfast.statistics.quantiles.statistic import Minimum as minimum
from dpfast.statistics.quantiles.statistic import Quantile as quantile
from dpfast.statistics.quantiles.statistic import QuantileInterval as quantile_interval
from dpfast.statistics.quantiles.statistic import Quantiles as quantiles
from dpfast.statistics.ratio import Ratio as ratio
from dpfast.statistics.totals.count import Count as count
from dpfast.statistics.totals.count import CountNonzero as count_nonzero
from dpfast.statistics.totals.moments import Mean as mean
from dpfast.statistics.totals.moments import Std as std
from dpfast.statistics.totals.moments import Sum as sum
from dpfast.statistics.totals.moments import Variance as variance

__all__ = [
    "correlation",
    "count",
    "count_distinct",
    "count_nonzero",
    "histogram",
    "maximum",
    "mean",
    "median",
    "minimum",
    "percentile",
    "proportion",
    "quantile",
    "quantile_interval",
    "quantiles",
    "ratio",
    "std",
    "sum",
    "variance",
]

def percentile(
    column: str | None = None,
    q: Number | Sequence[Number] | NDArray[Any] | None = None,
    *,
    bounds: BoundsEach | Auto,
    nan: NanPolicy | None = None,
    granularity: Number | None = None,
    method: Method | ManyMethod = "auto",
    noise: NoiseName = "auto",
    assume_sorted: bool = False,
) -> Any: ...
