"""dpfast: differential privacy that is really private and really fast on large arrays.

Chunks in, a noise-free mergeable summary out, one release at the end, through one door that spends
the budget first. ``dp.median(x, bounds=(0, 1e6), epsilon=1.0)`` is the whole of it for one column.
"""

from . import (
    audit,
    errors,
    estimators,
    job,
    noise,
    online,
    order,
    privacy,
    ptr,
    response,
    rng,
    selection,
    sensitivity,
    sulq,
)
from ._block_count import suggest_blocks
from .aggregate import sample_and_aggregate
from .budget import Budget
from .covariances import covariance
from .extremes import maximum, minimum
from .histograms import histogram
from .interquartile import iqr
from .ptr import NO_ANSWER
from .quantile import median, quantile, quantiles
from .smooth_release import smooth_beta, smooth_release
from .sources.scan import scan
from .totals import count, mean, sum, variance
from .trimmed import trimmed_mean, winsorized_mean

__version__ = "0.1.0"

__all__ = [
    "NO_ANSWER",
    "Budget",
    "audit",
    "count",
    "covariance",
    "errors",
    "estimators",
    "histogram",
    "iqr",
    "job",
    "maximum",
    "mean",
    "median",
    "minimum",
    "noise",
    "online",
    "order",
    "privacy",
    "ptr",
    "quantile",
    "quantiles",
    "response",
    "rng",
    "sample_and_aggregate",
    "scan",
    "selection",
    "sensitivity",
    "smooth_beta",
    "smooth_release",
    "suggest_blocks",
    "sulq",
    "sum",
    "trimmed_mean",
    "variance",
    "winsorized_mean",
]
