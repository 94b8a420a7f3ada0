"""Made by tools/stubs.py."""

from . import audit as audit
from . import errors as errors
from . import extend as extend
from . import noise as noise
from . import online as online
from . import privacy as privacy
from . import rng as rng
from . import selection as selection
from . import sensitivity as sensitivity
from . import sulq as sulq
from ._core.include import get_include as get_include
from ._core.threads import threads as threads
from .aggregate import estimators as estimators
from .aggregate.api import sample_and_aggregate as sample_and_aggregate
from .aggregate.block_count import suggest_blocks as suggest_blocks
from .app import job as job
from .app.mechanism import mechanism as mechanism
from .app.show_config import show_config as show_config
from .budget.budget import Budget as Budget
from .budget.expected import expected_error as expected_error
from .groups import stat as stat
from .groups.api import group_by as group_by
from .groups.api import select_keys as select_keys
from .groups.distinct import count_distinct as count_distinct
from .measurement.statistic import Measurement as Measurement
from .measurement.statistic import Statistic as Statistic
from .measurement.unit import Unit as Unit
from .sources.scan import scan as scan
from .sources.spark import spark as spark
from .sources.stream import stream as stream
from .statistics import ptr as ptr
from .statistics import response as response
from .statistics.additive_release import additive_release as additive_release
from .statistics.bounded_release import bounded_release as bounded_release
from .statistics.bounds import OuterBounds as OuterBounds
from .statistics.bounds import bounds as bounds
from .statistics.covariance import Covariance as Covariance
from .statistics.covariance import covariance as covariance
from .statistics.histogram import Histogram as Histogram
from .statistics.histogram import histogram as histogram
from .statistics.proportion import Proportion as Proportion
from .statistics.ptr import NO_ANSWER as NO_ANSWER
from .statistics.quantiles.api import iqr as iqr
from .statistics.quantiles.api import maximum as maximum
from .statistics.quantiles.api import median as median
from .statistics.quantiles.api import minimum as minimum
from .statistics.quantiles.api import percentile as percentile
from .statistics.quantiles.api import quantile as quantile
from .statistics.quantiles.api import quantiles as quantiles
from .statistics.quantiles.interval import quantile_interval as quantile_interval
from .statistics.quantiles.statistic import Iqr as Iqr
from .statistics.quantiles.statistic import Maximum as Maximum
from .statistics.quantiles.statistic import Median as Median
from .statistics.quantiles.statistic import Minimum as Minimum
from .statistics.quantiles.statistic import Percentile as Percentile
from .statistics.quantiles.statistic import Quantile as Quantile
from .statistics.quantiles.statistic import Quantiles as Quantiles
from .statistics.smooth_release import smooth_beta as smooth_beta
from .statistics.smooth_release import smooth_release as smooth_release
from .statistics.totals.api import count as count
from .statistics.totals.api import count_nonzero as count_nonzero
from .statistics.totals.api import mean as mean
from .statistics.totals.api import std as std
from .statistics.totals.api import sum as sum
from .statistics.totals.api import variance as variance
from .statistics.totals.count import Count as Count
from .statistics.totals.count import CountNonzero as CountNonzero
from .statistics.totals.moments import Mean as Mean
from .statistics.totals.moments import Std as Std
from .statistics.totals.moments import Sum as Sum
from .statistics.totals.moments import Variance as Variance
from .statistics.tree.api import TreeHistogram as TreeHistogram
from .statistics.tree.api import tree_histogram as tree_histogram
from .statistics.trimmed import TrimmedMean as TrimmedMean
from .statistics.trimmed import WinsorizedMean as WinsorizedMean
from .statistics.trimmed import trimmed_mean as trimmed_mean
from .statistics.trimmed import winsorized_mean as winsorized_mean
from .summaries import order as order

__version__: str
__all__ = [
    "NO_ANSWER",
    "Budget",
    "Count",
    "CountNonzero",
    "Covariance",
    "Histogram",
    "Iqr",
    "Maximum",
    "Mean",
    "Measurement",
    "Median",
    "Minimum",
    "OuterBounds",
    "Percentile",
    "Proportion",
    "Quantile",
    "Quantiles",
    "Statistic",
    "Std",
    "Sum",
    "TreeHistogram",
    "TrimmedMean",
    "Unit",
    "Variance",
    "WinsorizedMean",
    "additive_release",
    "audit",
    "bounded_release",
    "bounds",
    "count",
    "count_distinct",
    "count_nonzero",
    "covariance",
    "errors",
    "estimators",
    "expected_error",
    "extend",
    "get_include",
    "group_by",
    "histogram",
    "iqr",
    "job",
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
    "ptr",
    "quantile",
    "quantile_interval",
    "quantiles",
    "response",
    "rng",
    "sample_and_aggregate",
    "scan",
    "select_keys",
    "selection",
    "sensitivity",
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
]
