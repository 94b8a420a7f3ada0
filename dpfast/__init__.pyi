"""Made by tools/stubs.py."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpfast import audit as audit
from dpfast import errors as errors
from dpfast import extend as extend
from dpfast import learn as learn
from dpfast import noise as noise
from dpfast import online as online
from dpfast import privacy as privacy
from dpfast import rng as rng
from dpfast import selection as selection
from dpfast import sensitivity as sensitivity
from dpfast import sulq as sulq
from dpfast._core.include import get_include as get_include
from dpfast._core.threads import threads as threads
from dpfast._core.types import (
    Auto,
    Axis,
    Bounds,
    BoundsEach,
    NanPolicy,
    Neighbors,
    NoiseName,
    Number,
)
from dpfast.aggregate import estimators as estimators
from dpfast.aggregate.aggregators import AggregatorName
from dpfast.aggregate.api import PartitionName, Progress
from dpfast.aggregate.block_count import suggest_blocks as suggest_blocks
from dpfast.aggregate.estimators import EstimatorName
from dpfast.aggregate.estimators.base import Estimator
from dpfast.aggregate.estimators.functions import Executor
from dpfast.app import job as job
from dpfast.app.mechanism import mechanism as mechanism
from dpfast.app.session import session as session
from dpfast.app.show_config import show_config as show_config
from dpfast.budget.budget import Budget as Budget
from dpfast.budget.expected import expected_error as expected_error
from dpfast.budget.released import Release as Release
from dpfast.errors import PrivacyAdvice as PrivacyAdvice
from dpfast.groups import stat as stat
from dpfast.groups.api import group_by as group_by
from dpfast.groups.api import select_keys as select_keys
from dpfast.groups.distinct import CountDistinct as CountDistinct
from dpfast.groups.distinct import count_distinct as count_distinct
from dpfast.groups.marginals import Marginals as Marginals
from dpfast.groups.marginals import MarginalTables
from dpfast.measurement.columns_by_name import Answer
from dpfast.measurement.statistic import Measurement as Measurement
from dpfast.measurement.statistic import Statistic as Statistic
from dpfast.measurement.unit import Unit as Unit
from dpfast.rng import Generator
from dpfast.statistics import ptr as ptr
from dpfast.statistics import response as response
from dpfast.statistics.additive_release import additive_release as additive_release
from dpfast.statistics.bounded_release import bounded_release as bounded_release
from dpfast.statistics.bounds import OuterBounds as OuterBounds
from dpfast.statistics.consistent import consistent as consistent
from dpfast.statistics.correlation import Correlation as Correlation
from dpfast.statistics.covariance import Covariance as Covariance
from dpfast.statistics.describe import Describe as Describe
from dpfast.statistics.difference import Difference as Difference
from dpfast.statistics.histogram import Categories
from dpfast.statistics.histogram import Histogram as Histogram
from dpfast.statistics.kept_whole import KeptWhole as KeptWhole
from dpfast.statistics.proportion import Proportion as Proportion
from dpfast.statistics.ptr import NO_ANSWER as NO_ANSWER
from dpfast.statistics.quantiles.statistic import Iqr as Iqr
from dpfast.statistics.quantiles.statistic import IqrMethod, ManyMethod, Method
from dpfast.statistics.quantiles.statistic import Maximum as Maximum
from dpfast.statistics.quantiles.statistic import Median as Median
from dpfast.statistics.quantiles.statistic import Minimum as Minimum
from dpfast.statistics.quantiles.statistic import Percentile as Percentile
from dpfast.statistics.quantiles.statistic import Quantile as Quantile
from dpfast.statistics.quantiles.statistic import QuantileInterval as QuantileInterval
from dpfast.statistics.quantiles.statistic import Quantiles as Quantiles
from dpfast.statistics.ratio import Ratio as Ratio
from dpfast.statistics.smooth_release import smooth_beta as smooth_beta
from dpfast.statistics.smooth_release import smooth_release as smooth_release
from dpfast.statistics.table import STATISTICS as STATISTICS
from dpfast.statistics.totals.count import Count as Count
from dpfast.statistics.totals.count import CountNonzero as CountNonzero
from dpfast.statistics.totals.moments import Mean as Mean
from dpfast.statistics.totals.moments import Std as Std
from dpfast.statistics.totals.moments import Sum as Sum
from dpfast.statistics.totals.moments import Variance as Variance
from dpfast.statistics.tree.api import TreeHistogram as TreeHistogram
from dpfast.statistics.tree.counts import TreeCounts
from dpfast.statistics.trimmed import TrimmedMean as TrimmedMean
from dpfast.statistics.trimmed import WinsorizedMean as WinsorizedMean
from dpfast.statistics.workload.api import Workload as Workload
from dpfast.statistics.workload.api import workload as workload
from dpfast.summaries import order as order
from dpfast.tables.scan import scan as scan
from dpfast.tables.spark import spark as spark
from dpfast.tables.stream import stream as stream

__version__: str
__all__ = [
    "NO_ANSWER",
    "STATISTICS",
    "Budget",
    "Correlation",
    "Count",
    "CountDistinct",
    "CountNonzero",
    "Covariance",
    "Describe",
    "Difference",
    "Histogram",
    "Iqr",
    "KeptWhole",
    "Marginals",
    "Maximum",
    "Mean",
    "Measurement",
    "Median",
    "Minimum",
    "OuterBounds",
    "Percentile",
    "PrivacyAdvice",
    "Proportion",
    "Quantile",
    "QuantileInterval",
    "Quantiles",
    "Ratio",
    "Release",
    "Statistic",
    "Std",
    "Sum",
    "TreeHistogram",
    "TrimmedMean",
    "Unit",
    "Variance",
    "WinsorizedMean",
    "Workload",
    "additive_release",
    "audit",
    "bounded_release",
    "bounds",
    "consistent",
    "correlation",
    "count",
    "count_distinct",
    "count_nonzero",
    "covariance",
    "describe",
    "difference",
    "errors",
    "estimators",
    "expected_error",
    "extend",
    "get_include",
    "group_by",
    "histogram",
    "iqr",
    "job",
    "kept_whole",
    "learn",
    "marginals",
    "maximum",
    "mean",
    "mechanism",
    "median",
    "minimum",
    "noise",
    "online",
    "order",
    "percentile",
    "privacy",
    "proportion",
    "ptr",
    "quantile",
    "quantile_interval",
    "quantiles",
    "ratio",
    "response",
    "rng",
    "sample_and_aggregate",
    "scan",
    "select_keys",
    "selection",
    "sensitivity",
    "session",
    "show_config",
    "smooth_beta",
    "smooth_release",
    "spark",
    "stat",
    "std",
    "stream",
    "suggest_blocks",
    "sulq",
    "sum",
    "threads",
    "tree_histogram",
    "trimmed_mean",
    "variance",
    "winsorized_mean",
    "workload",
]

@overload
def count(
    data: Any,
    *,
    nan: Literal["keep", "drop", "only"] | None = None,
    per_unit: tuple[int, int] | Auto | None = None,
    nonnegative: bool = False,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    axis: None = None,
    where: Any = None,
    ids: Any = None,
    max_rows: int | Auto | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> int: ...
@overload
def count(
    data: Any,
    *,
    nan: Literal["keep", "drop", "only"] | None = None,
    per_unit: tuple[int, int] | Auto | None = None,
    nonnegative: bool = False,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    axis: Axis,
    where: Any = None,
    ids: Any = None,
    max_rows: int | Auto | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> NDArray[np.int64]: ...
@overload
def count_nonzero(
    data: Any,
    *,
    nan: Literal["keep", "drop"] = "keep",
    per_unit: tuple[int, int] | Auto | None = None,
    nonnegative: bool = False,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    axis: None = None,
    where: Any = None,
    ids: Any = None,
    max_rows: int | Auto | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> int: ...
@overload
def count_nonzero(
    data: Any,
    *,
    nan: Literal["keep", "drop"] = "keep",
    per_unit: tuple[int, int] | Auto | None = None,
    nonnegative: bool = False,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    axis: Axis,
    where: Any = None,
    ids: Any = None,
    max_rows: int | Auto | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> NDArray[np.int64]: ...
def kept_whole(
    data: Any,
    *,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    where: Any = None,
    ids: Any = None,
    max_rows: int | Auto | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> float: ...
@overload
def sum(
    data: Any,
    *,
    bounds: Bounds | Auto,
    nan: NanPolicy | None = None,
    weight_bounds: Bounds | None = None,
    per_unit: Bounds | Auto | None = None,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    axis: None = None,
    where: Any = None,
    ids: Any = None,
    max_rows: int | Auto | None = None,
    weights: Any = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> float: ...
@overload
def sum(
    data: Any,
    *,
    bounds: BoundsEach | Auto,
    nan: NanPolicy | None = None,
    weight_bounds: Bounds | None = None,
    per_unit: Bounds | Auto | None = None,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    axis: Axis,
    where: Any = None,
    ids: Any = None,
    max_rows: int | Auto | None = None,
    weights: Any = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> NDArray[np.float64]: ...
@overload
def mean(
    data: Any,
    *,
    bounds: Bounds | Auto,
    nan: NanPolicy | None = None,
    weight_bounds: Bounds | None = None,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    axis: None = None,
    where: Any = None,
    ids: Any = None,
    max_rows: int | Auto | None = None,
    weights: Any = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> float: ...
@overload
def mean(
    data: Any,
    *,
    bounds: BoundsEach | Auto,
    nan: NanPolicy | None = None,
    weight_bounds: Bounds | None = None,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    axis: Axis,
    where: Any = None,
    ids: Any = None,
    max_rows: int | Auto | None = None,
    weights: Any = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> NDArray[np.float64]: ...
@overload
def variance(
    data: Any,
    *,
    bounds: Bounds | Auto,
    nan: NanPolicy | None = None,
    ddof: int = 0,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    axis: None = None,
    where: Any = None,
    ids: Any = None,
    max_rows: int | Auto | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> float: ...
@overload
def variance(
    data: Any,
    *,
    bounds: BoundsEach | Auto,
    nan: NanPolicy | None = None,
    ddof: int = 0,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    axis: Axis,
    where: Any = None,
    ids: Any = None,
    max_rows: int | Auto | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> NDArray[np.float64]: ...
@overload
def std(
    data: Any,
    *,
    bounds: Bounds | Auto,
    nan: NanPolicy | None = None,
    ddof: int = 0,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    axis: None = None,
    where: Any = None,
    ids: Any = None,
    max_rows: int | Auto | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> float: ...
@overload
def std(
    data: Any,
    *,
    bounds: BoundsEach | Auto,
    nan: NanPolicy | None = None,
    ddof: int = 0,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    axis: Axis,
    where: Any = None,
    ids: Any = None,
    max_rows: int | Auto | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> NDArray[np.float64]: ...
@overload
def proportion(
    data: Any,
    *,
    weight_bounds: Bounds | None = None,
    equal: Any = True,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    axis: None = None,
    where: Any = None,
    ids: Any = None,
    max_rows: int | Auto | None = None,
    weights: Any = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> float: ...
@overload
def proportion(
    data: Any,
    *,
    weight_bounds: Bounds | None = None,
    equal: Any = True,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    axis: Axis,
    where: Any = None,
    ids: Any = None,
    max_rows: int | Auto | None = None,
    weights: Any = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> NDArray[np.float64]: ...
def ratio(
    data: Any,
    *,
    bounds: Sequence[Bounds] | Auto,
    nan: NanPolicy | None = None,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    where: Any = None,
    ids: Any = None,
    max_rows: int | Auto | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> Any: ...
def correlation(
    data: Any,
    *,
    bounds: Sequence[Bounds] | Auto,
    nan: NanPolicy | None = None,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    where: Any = None,
    ids: Any = None,
    max_rows: int | Auto | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> Any: ...
def difference(
    data: Any,
    *,
    of: Any,
    keys: Any = (True, False),
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    where: Any = None,
    ids: Any = None,
    max_rows: int | Auto | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> Any: ...
@overload
def median(
    data: Any,
    *,
    bounds: Bounds | Auto,
    nan: NanPolicy | None = None,
    granularity: Number | None = None,
    method: Method = "auto",
    noise: NoiseName = "auto",
    assume_sorted: bool = False,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    axis: None = None,
    where: Any = None,
    ids: Any = None,
    max_rows: int | Auto | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> float: ...
@overload
def median(
    data: Any,
    *,
    bounds: BoundsEach | Auto,
    nan: NanPolicy | None = None,
    granularity: Number | None = None,
    method: Method = "auto",
    noise: NoiseName = "auto",
    assume_sorted: bool = False,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    axis: Axis,
    where: Any = None,
    ids: Any = None,
    max_rows: int | Auto | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> NDArray[np.float64]: ...
@overload
def quantile(
    data: Any,
    q: Number,
    *,
    bounds: Bounds | Auto,
    nan: NanPolicy | None = None,
    granularity: Number | None = None,
    method: Method = "auto",
    noise: NoiseName = "auto",
    assume_sorted: bool = False,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    axis: None = None,
    where: Any = None,
    ids: Any = None,
    max_rows: int | Auto | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> float: ...
@overload
def quantile(
    data: Any,
    q: Number,
    *,
    bounds: BoundsEach | Auto,
    nan: NanPolicy | None = None,
    granularity: Number | None = None,
    method: Method = "auto",
    noise: NoiseName = "auto",
    assume_sorted: bool = False,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    axis: Axis,
    where: Any = None,
    ids: Any = None,
    max_rows: int | Auto | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> NDArray[np.float64]: ...
def quantiles(
    data: Any,
    qs: Sequence[Number] | NDArray[Any],
    *,
    bounds: BoundsEach | Auto,
    nan: NanPolicy | None = None,
    granularity: Number | None = None,
    method: ManyMethod = "auto",
    assume_sorted: bool = False,
    epsilon: Number | None = None,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    axis: Axis | None = None,
    where: Any = None,
    ids: Any = None,
    max_rows: int | Auto | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> NDArray[np.float64]: ...
def quantile_interval(
    data: Any,
    q: Number | Sequence[Number] | NDArray[Any],
    *,
    bounds: BoundsEach | Auto,
    nan: NanPolicy | None = None,
    granularity: Number | None = None,
    method: Method | ManyMethod = "auto",
    noise: NoiseName = "auto",
    coverage: float = 0.95,
    assume_sorted: bool = False,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    axis: Axis | None = None,
    where: Any = None,
    ids: Any = None,
    max_rows: int | Auto | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> NDArray[np.float64]: ...
@overload
def percentile(
    data: Any,
    q: Number,
    *,
    bounds: BoundsEach | Auto,
    nan: NanPolicy | None = None,
    granularity: Number | None = None,
    method: Method | ManyMethod = "auto",
    noise: NoiseName = "auto",
    assume_sorted: bool = False,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    axis: Axis | None = None,
    where: Any = None,
    ids: Any = None,
    max_rows: int | Auto | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> float | NDArray[np.float64]: ...
@overload
def percentile(
    data: Any,
    q: Sequence[Number] | NDArray[Any],
    *,
    bounds: BoundsEach | Auto,
    nan: NanPolicy | None = None,
    granularity: Number | None = None,
    method: Method | ManyMethod = "auto",
    noise: NoiseName = "auto",
    assume_sorted: bool = False,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    axis: Axis | None = None,
    where: Any = None,
    ids: Any = None,
    max_rows: int | Auto | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> NDArray[np.float64]: ...
@overload
def minimum(
    data: Any,
    *,
    bounds: Bounds | Auto,
    nan: NanPolicy | None = None,
    granularity: Number | None = None,
    method: Method = "auto",
    noise: NoiseName = "auto",
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    axis: None = None,
    where: Any = None,
    ids: Any = None,
    max_rows: int | Auto | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> float: ...
@overload
def minimum(
    data: Any,
    *,
    bounds: BoundsEach | Auto,
    nan: NanPolicy | None = None,
    granularity: Number | None = None,
    method: Method = "auto",
    noise: NoiseName = "auto",
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    axis: Axis,
    where: Any = None,
    ids: Any = None,
    max_rows: int | Auto | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> NDArray[np.float64]: ...
@overload
def maximum(
    data: Any,
    *,
    bounds: Bounds | Auto,
    nan: NanPolicy | None = None,
    granularity: Number | None = None,
    method: Method = "auto",
    noise: NoiseName = "auto",
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    axis: None = None,
    where: Any = None,
    ids: Any = None,
    max_rows: int | Auto | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> float: ...
@overload
def maximum(
    data: Any,
    *,
    bounds: BoundsEach | Auto,
    nan: NanPolicy | None = None,
    granularity: Number | None = None,
    method: Method = "auto",
    noise: NoiseName = "auto",
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    axis: Axis,
    where: Any = None,
    ids: Any = None,
    max_rows: int | Auto | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> NDArray[np.float64]: ...
@overload
def histogram(
    data: Any,
    *,
    bins: int | Sequence[Number] | None = None,
    bounds: Bounds | Auto | None = None,
    categories: Categories | None = None,
    nonnegative: bool = False,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    where: Any = None,
    ids: Any = None,
    max_rows: int | Auto | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> tuple[NDArray[np.int64], NDArray[Any]]: ...
@overload
def histogram(
    data: Any,
    *,
    bins: Sequence[int | Sequence[Number] | NDArray[Any] | None] | NDArray[Any] | None = None,
    bounds: BoundsEach | Sequence[Bounds | None] | None = None,
    categories: Sequence[Categories | NDArray[Any] | None] | NDArray[Any] | None = None,
    nonnegative: bool = False,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    where: Any = None,
    ids: Any = None,
    max_rows: int | Auto | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> tuple[NDArray[np.int64], NDArray[Any] | list[NDArray[Any]]]: ...
@overload
def histogram(
    data: Any,
    *,
    weights: Any,
    weight_bounds: Bounds,
    bins: Any = None,
    bounds: Any = None,
    categories: Any = None,
    nonnegative: bool = False,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    where: Any = None,
    ids: Any = None,
    max_rows: int | Auto | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> tuple[NDArray[np.float64], NDArray[Any] | list[NDArray[Any]]]: ...
@overload
def iqr(
    data: Any,
    *,
    bounds: Bounds | Auto,
    nan: NanPolicy | None = None,
    granularity: Number | None = None,
    method: IqrMethod = "auto",
    noise: NoiseName = "auto",
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    axis: None = None,
    where: Any = None,
    ids: Any = None,
    max_rows: int | Auto | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> float: ...
@overload
def iqr(
    data: Any,
    *,
    bounds: BoundsEach | Auto,
    nan: NanPolicy | None = None,
    granularity: Number | None = None,
    method: IqrMethod = "auto",
    noise: NoiseName = "auto",
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    axis: Axis,
    where: Any = None,
    ids: Any = None,
    max_rows: int | Auto | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> NDArray[np.float64]: ...
@overload
def trimmed_mean(
    data: Any,
    *,
    bounds: Bounds | Auto,
    nan: NanPolicy | None = None,
    proportion: Number = 0.1,
    noise: NoiseName = "auto",
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    axis: None = None,
    where: Any = None,
    ids: Any = None,
    max_rows: int | Auto | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> float: ...
@overload
def trimmed_mean(
    data: Any,
    *,
    bounds: BoundsEach | Auto,
    nan: NanPolicy | None = None,
    proportion: Number = 0.1,
    noise: NoiseName = "auto",
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    axis: Axis,
    where: Any = None,
    ids: Any = None,
    max_rows: int | Auto | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> NDArray[np.float64]: ...
@overload
def winsorized_mean(
    data: Any,
    *,
    bounds: Bounds | Auto,
    nan: NanPolicy | None = None,
    proportion: Number = 0.1,
    noise: NoiseName = "auto",
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    axis: None = None,
    where: Any = None,
    ids: Any = None,
    max_rows: int | Auto | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> float: ...
@overload
def winsorized_mean(
    data: Any,
    *,
    bounds: BoundsEach | Auto,
    nan: NanPolicy | None = None,
    proportion: Number = 0.1,
    noise: NoiseName = "auto",
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    axis: Axis,
    where: Any = None,
    ids: Any = None,
    max_rows: int | Auto | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> NDArray[np.float64]: ...
def covariance(
    data: Any,
    *,
    bounds: BoundsEach | Auto,
    nan: NanPolicy | None = None,
    ddof: int = 0,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    where: Any = None,
    ids: Any = None,
    max_rows: int | Auto | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> NDArray[np.float64]: ...
def tree_histogram(
    data: Any,
    *,
    bounds: Any = None,
    bins: Any = None,
    categories: Any = None,
    fan_out: int | None = None,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    where: Any = None,
    ids: Any = None,
    max_rows: int | Auto | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> TreeCounts: ...
def marginals(
    data: Any,
    *,
    ways: Any = 2,
    categories: Any = None,
    bins: Any = None,
    bounds: Any = None,
    importance: Any = None,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    where: Any = None,
    ids: Any = None,
    max_rows: int | Auto | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> MarginalTables: ...
@overload
def bounds(
    data: Any,
    *,
    q: Number = 0,
    nan: NanPolicy | None = None,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    axis: None = None,
    where: Any = None,
    ids: Any = None,
    max_rows: int | Auto | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> tuple[float, float]: ...
@overload
def bounds(
    data: Any,
    *,
    q: Number = 0,
    nan: NanPolicy | None = None,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    axis: Axis,
    where: Any = None,
    ids: Any = None,
    max_rows: int | Auto | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> NDArray[np.float64]: ...
def describe(
    data: Any,
    *,
    bounds: Mapping[str, Any] | None = None,
    categories: Mapping[str, Sequence[str]] | None = None,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    where: Any = None,
    ids: Any = None,
    max_rows: int | Auto | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> Answer: ...
@overload
def sample_and_aggregate(
    data: Any,
    estimator: EstimatorName | Estimator | Callable[[Any], object],
    *,
    blocks: int,
    bounds: Bounds,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    aggregator: AggregatorName = "mean",
    partition: PartitionName = "auto",
    ids: ArrayLike | str | None = None,
    nan: Literal["keep", "drop"] = "keep",
    default: Number | Sequence[Number] | NDArray[Any] | None = None,
    centres: ArrayLike | None = None,
    workers: int | None = None,
    executor: Executor = "auto",
    time_limit: Number | None = None,
    spill: str | PathLike[str] | None = None,
    progress: Progress = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> float: ...
@overload
def sample_and_aggregate(
    data: Any,
    estimator: EstimatorName | Estimator | Callable[[Any], object],
    *,
    blocks: int,
    bounds: Sequence[Bounds],
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    aggregator: AggregatorName = "mean",
    partition: PartitionName = "auto",
    ids: ArrayLike | str | None = None,
    nan: Literal["keep", "drop"] = "keep",
    default: Number | Sequence[Number] | NDArray[Any] | None = None,
    centres: ArrayLike | None = None,
    workers: int | None = None,
    executor: Executor = "auto",
    time_limit: Number | None = None,
    spill: str | PathLike[str] | None = None,
    progress: Progress = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> NDArray[np.float64]: ...
