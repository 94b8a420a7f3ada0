"""dpfast: differential privacy that is really private and really fast on large arrays.

A call first spends its privacy loss. It then reads the data in chunks, merges exact summaries of
the chunks, and draws the private answer from the merged summary. ``dp.median(x, bounds=(0, 1e6),
epsilon=1.0)`` is a complete call for one column.
"""

from importlib import import_module
from typing import Any

from . import _kernels  # noqa: F401  compiled, and for this processor, or an error
from .statistics.table import STATISTICS

__version__ = "0.2.0"

#: The module of each name that is loaded at first use. Other public names are modules.
_HOMES = {
    name: home
    for home, names in {
        "_core.include": "get_include",
        "_core.threads": "threads",
        "aggregate.block_count": "suggest_blocks",
        "aggregate.estimators": "estimators",
        "app.job": "job",
        "app.mechanism": "mechanism",
        "app.session": "session",
        "app.show_config": "show_config",
        "budget.budget": "Budget",
        "budget.expected": "expected_error",
        "errors": "PrivacyAdvice",
        "groups.api": "group_by select_keys",
        "groups.stat": "stat",
        "budget.released": "Release",
        "measurement.statistic": "Measurement Statistic",
        "measurement.unit": "Unit",
        "tables.scan": "scan",
        "tables.spark": "spark",
        "tables.stream": "stream",
        "statistics.additive_release": "additive_release",
        "statistics.bounded_release": "bounded_release",
        "statistics.consistent": "consistent",
        "statistics.proportion": "Proportion",
        "statistics.ptr": "NO_ANSWER ptr",
        "statistics.response": "response",
        "statistics.smooth_release": "smooth_beta smooth_release",
        "statistics.table": "STATISTICS",
        "summaries.order": "order",
    }.items()
    for name in names.split()
}
_HOMES |= {
    name: entry.home
    for word, entry in STATISTICS.items()
    for name in (word, entry.statistic)
    if name is not None and "." not in word
}
_MODULES = [
    "audit",
    "errors",
    "extend",
    "learn",
    "noise",
    "online",
    "privacy",
    "rng",
    "selection",
    "sensitivity",
    "sulq",
]

__all__ = sorted([*_HOMES, *_MODULES])


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
