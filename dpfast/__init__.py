"""dpfast: differential privacy that is really private and really fast on large arrays.

Chunks in, a noise-free mergeable summary out, one release at the end, after the budget is spent.
``dp.median(x, bounds=(0, 1e6), epsilon=1.0)`` is the whole of it for one column.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import _kernels, errors  # noqa: F401  compiled, and for this processor, or an error

if TYPE_CHECKING:
    from . import audit, noise, online, privacy, rng, selection, sensitivity, sulq
    from .aggregate import estimators
    from .aggregate.api import sample_and_aggregate
    from .aggregate.block_count import suggest_blocks
    from .app import job
    from .budget.budget import Budget
    from .sources.scan import scan
    from .statistics import ptr, response
    from .statistics.covariance import covariance
    from .statistics.histogram import histogram
    from .statistics.ptr import NO_ANSWER
    from .statistics.quantiles.api import iqr, maximum, median, minimum, quantile, quantiles
    from .statistics.smooth_release import smooth_beta, smooth_release
    from .statistics.totals.api import count, mean, sum, variance
    from .statistics.trimmed import trimmed_mean, winsorized_mean
    from .summaries import order

__version__ = "0.1.0"

#: Which module has what is loaded when it is first asked for. A public module is its own home.
_HOMES = {
    "NO_ANSWER": "statistics.ptr",
    "Budget": "budget.budget",
    "audit": "audit",
    "count": "statistics.totals.api",
    "covariance": "statistics.covariance",
    "estimators": "aggregate.estimators",
    "histogram": "statistics.histogram",
    "iqr": "statistics.quantiles.api",
    "job": "app.job",
    "maximum": "statistics.quantiles.api",
    "mean": "statistics.totals.api",
    "median": "statistics.quantiles.api",
    "minimum": "statistics.quantiles.api",
    "noise": "noise",
    "online": "online",
    "order": "summaries.order",
    "privacy": "privacy",
    "ptr": "statistics.ptr",
    "quantile": "statistics.quantiles.api",
    "quantiles": "statistics.quantiles.api",
    "response": "statistics.response",
    "rng": "rng",
    "sample_and_aggregate": "aggregate.api",
    "scan": "sources.scan",
    "selection": "selection",
    "sensitivity": "sensitivity",
    "smooth_beta": "statistics.smooth_release",
    "smooth_release": "statistics.smooth_release",
    "suggest_blocks": "aggregate.block_count",
    "sulq": "sulq",
    "sum": "statistics.totals.api",
    "trimmed_mean": "statistics.trimmed",
    "variance": "statistics.totals.api",
    "winsorized_mean": "statistics.trimmed",
}

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


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'dpfast' has no attribute {name!r}")
    home = _HOMES[name]
    module = import_module("." + home, __name__)
    own = home.rpartition(".")[2] == name and name not in vars(module)
    found = globals()[name] = module if own else getattr(module, name)
    return found


def __dir__() -> list[str]:
    return __all__
