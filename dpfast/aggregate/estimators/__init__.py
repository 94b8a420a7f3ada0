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

from ..._core import checks
from ..._kernels.jit import is_compiled
from .base import Estimator
from .extremes import Maximum, Minimum
from .linear import Correlation, LeastSquares
from .logistic import LogisticRegression
from .mode import Mode
from .moments import Mean, StandardDeviation, Variance
from .numba_function import NumbaFunction
from .order_statistics import Median, Quantile, TrimmedMean
from .python_function import PythonFunction, in_processes

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
    checks.fail("estimator", "dpfast.estimators.Quantile(q), which says the quantile", "quantile")


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


def _named(name: str) -> Estimator:
    plain = name.replace("_", "-")  # "least_squares" is "least-squares"
    return _NAMES[plain if plain in _NAMES else checks.choice("estimator", name, _NAMES)]()


def resolve(estimator: Any, executor: str = "auto", time_limit: float | None = None) -> Estimator:
    """The estimator that a name, an estimator object, or a function stands for.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For anything else, and for an `executor` or a `time_limit` that does not suit it.
    """
    apart = in_processes(executor, time_limit)
    if isinstance(estimator, type) and hasattr(estimator, "bind"):
        checks.fail_type("estimator", "an object of its class, made by calling that", estimator)
    if isinstance(estimator, str) or (hasattr(estimator, "bind") and not callable(estimator)):
        if time_limit is not None:
            checks.fail("time_limit", "None for an estimator of this library", time_limit)
        if apart:
            checks.fail("executor", "'auto' or 'threads' for such an estimator", executor)
        return _named(estimator) if isinstance(estimator, str) else estimator
    if is_compiled(estimator) and not apart:
        return NumbaFunction(estimator)
    if not callable(estimator):
        checks.fail_kind("estimator", "a name, an estimator or a function of a block", estimator)
    return PythonFunction(estimator, executor, time_limit)
