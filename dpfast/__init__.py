"""dpfast: differential privacy that is really private and really fast on large arrays.

Chunks in, a noise-free mergeable summary out, one release at the end, after the budget is spent.
``dp.median(x, bounds=(0, 1e6), epsilon=1.0)`` is the whole of it for one column.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import _kernels, errors, rng  # noqa: F401  compiled, and for this processor, or an error

if TYPE_CHECKING:
    from . import audit, extend, noise, online, privacy, selection, sensitivity, sulq
    from ._core.include import get_include
    from ._core.threads import threads
    from .aggregate import estimators
    from .aggregate.api import sample_and_aggregate
    from .aggregate.block_count import suggest_blocks
    from .app import job
    from .app.mechanism import mechanism
    from .app.show_config import show_config
    from .budget.budget import Budget
    from .budget.expected import expected_error
    from .groups import stat
    from .groups.api import group_by, select_keys
    from .groups.distinct import count_distinct
    from .measurement.statistic import Measurement, Statistic
    from .measurement.unit import Unit
    from .sources.scan import scan
    from .sources.spark import spark
    from .sources.stream import stream
    from .statistics import ptr, response
    from .statistics.additive_release import additive_release
    from .statistics.bounded_release import bounded_release
    from .statistics.bounds import OuterBounds, bounds
    from .statistics.covariance import Covariance, covariance
    from .statistics.histogram import Histogram, histogram
    from .statistics.proportion import Proportion
    from .statistics.ptr import NO_ANSWER
    from .statistics.quantiles.api import (
        iqr,
        maximum,
        median,
        minimum,
        percentile,
        quantile,
        quantiles,
    )
    from .statistics.quantiles.interval import quantile_interval
    from .statistics.quantiles.statistic import (
        Iqr,
        Maximum,
        Median,
        Minimum,
        Percentile,
        Quantile,
        Quantiles,
    )
    from .statistics.smooth_release import smooth_beta, smooth_release
    from .statistics.totals.api import count, count_nonzero, mean, std, sum, variance
    from .statistics.totals.moments import Mean, Std, Sum, Variance
    from .statistics.tree.api import TreeHistogram, tree_histogram
    from .statistics.trimmed import (
        TrimmedMean,
        WinsorizedMean,
        trimmed_mean,
        winsorized_mean,
    )
    from .summaries import order

rng.above["generator"] = "dpfast.noise"  # which is where users look for it

__version__ = "0.2.0"

#: Which module has what is loaded when it is first asked for. Other public modules are their own.
_HOMES = {
    name: home
    for home, names in {
        "_core.include": "get_include",
        "_core.threads": "threads",
        "aggregate.api": "sample_and_aggregate",
        "aggregate.block_count": "suggest_blocks",
        "aggregate.estimators": "estimators",
        "app.job": "job",
        "app.mechanism": "mechanism",
        "app.show_config": "show_config",
        "budget.budget": "Budget",
        "budget.expected": "expected_error",
        "groups.api": "group_by select_keys",
        "groups.distinct": "count_distinct",
        "groups.stat": "stat",
        "measurement.statistic": "Measurement Statistic",
        "measurement.unit": "Unit",
        "sources.scan": "scan",
        "sources.spark": "spark",
        "sources.stream": "stream",
        "statistics.additive_release": "additive_release",
        "statistics.bounded_release": "bounded_release",
        "statistics.bounds": "OuterBounds bounds",
        "statistics.covariance": "Covariance covariance",
        "statistics.proportion": "Proportion",
        "statistics.histogram": "Histogram histogram",
        "statistics.ptr": "NO_ANSWER ptr",
        "statistics.quantiles.api": "iqr maximum median minimum percentile quantile quantiles",
        "statistics.quantiles.interval": "quantile_interval",
        "statistics.quantiles.statistic": (
            "Iqr Maximum Median Minimum Percentile Quantile Quantiles"
        ),
        "statistics.response": "response",
        "statistics.smooth_release": "smooth_beta smooth_release",
        "statistics.totals.api": "count count_nonzero mean std sum variance",
        "statistics.totals.moments": "Mean Std Sum Variance",
        "statistics.tree.api": "TreeHistogram tree_histogram",
        "statistics.trimmed": "TrimmedMean WinsorizedMean trimmed_mean winsorized_mean",
        "summaries.order": "order",
    }.items()
    for name in names.split()
}

__all__ = [
    "NO_ANSWER",
    "Budget",
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


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'dpfast' has no attribute {name!r}")
    home = _HOMES.get(name, name)
    module = import_module("." + home, __name__)
    is_module = home.rpartition(".")[2] == name and name not in vars(module)
    public = globals()[name] = module if is_module else getattr(module, name)
    return public


def __dir__() -> list[str]:
    return __all__
