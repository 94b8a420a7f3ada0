"""Estimators for `dpfast.sample_and_aggregate`: by name, compiled, or any callable.

An estimator is what is computed on each block; nothing here is private by itself. The classes
are the named ones, with their parameters: ``dp.estimators.Variance(ddof=1)`` where the name
``"var"`` stands for ``Variance()``. An estimator of one column answers with a number; of rows of m
columns (a matrix, a structured array, a table) it makes m answers, a vector.

Estimators that are functions of sums and extremes (`Mean`, `Variance`, `StandardDeviation`,
`Minimum`, `Maximum`, `Correlation`, `LeastSquares`) read the data in passes and move no row: they
need memory for the blocks only, however many rows there are. Sums are exact, so their answers do
not depend on the order of rows, on chunks or on threads, to the last bit.

Those that need a block side by side (`Median`, `Quantile`, `TrimmedMean`, `Mode`,
`LogisticRegression`) lay the rows out block by block first. Their answers do not depend on chunks
or threads either.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from .. import _check
from .._jit import is_compiled
from ._base import Estimator
from ._called import Called
from ._compiled import Compiled
from ._extremes import Maximum, Minimum
from ._linear import Correlation, LeastSquares
from ._logistic import LogisticRegression
from ._mode import Mode
from ._moments import Mean, StandardDeviation, Variance
from ._ordered import Median, Quantile, TrimmedMean

__all__ = [
    "Correlation",
    "LeastSquares",
    "LogisticRegression",
    "Maximum",
    "Mean",
    "Median",
    "Minimum",
    "Mode",
    "Quantile",
    "StandardDeviation",
    "TrimmedMean",
    "Variance",
]


def _quantile() -> NoReturn:
    _check.fail("estimator", "dpfast.estimators.Quantile(q), which says the quantile", "quantile")


#: What a name stands for.
_NAMES: dict[str, Callable[[], Estimator]] = {
    "mean": Mean,
    "var": Variance,
    "std": StandardDeviation,
    "min": Minimum,
    "max": Maximum,
    "correlation": Correlation,
    "least-squares": LeastSquares,
    "logistic-regression": LogisticRegression,
    "median": Median,
    "mode": Mode,
    "quantile": _quantile,
    "trimmed-mean": TrimmedMean,
}


def resolve(estimator: Any, executor: str = "auto", time_limit: float | None = None) -> Estimator:
    """The estimator that a name, an estimator object, or a function stands for."""
    if isinstance(estimator, str):
        name = estimator.replace("_", "-")  # "least_squares" is "least-squares"
        return _NAMES[name if name in _NAMES else _check.choice("estimator", estimator, _NAMES)]()
    if isinstance(estimator, type) and hasattr(estimator, "bind"):
        _check.fail_type("estimator", "an object of its class, made by calling that", estimator)
    if hasattr(estimator, "bind") and not callable(estimator):
        found: Estimator = estimator
        return found
    if is_compiled(estimator) and not _needs_processes(executor, time_limit):
        return Compiled(estimator)
    if not callable(estimator):
        _check.fail_kind("estimator", "a name, an estimator or a function of a block", estimator)
    return Called(estimator, executor, time_limit)


def _needs_processes(executor: str, time_limit: float | None) -> bool:
    """Whether a compiled function is to be called from worker processes, like any callable."""
    _check.choice("executor", executor, ("auto", "threads", "processes"))
    if executor == "threads" and time_limit is not None:
        rule = "None for a compiled function in threads; executor='processes' can stop it"
        _check.fail("time_limit", rule, time_limit)
    return executor == "processes" or time_limit is not None
