"""Estimators for `dpfast.sample_and_aggregate`: statistics that are computed on each block.

No estimator is private by itself: `sample_and_aggregate` makes the answer private. An estimator is
passed by name, such as ``"var"``, or as an object with parameters, such as
``dp.estimators.Variance(ddof=1)``. The name stands for the object with default parameters. On one
column an estimator returns a number. On rows of m columns (a matrix, a structured array, a table)
it returns a vector, usually of m numbers.

Estimators that are functions of sums and extremes (`Mean`, `Variance`, `StandardDeviation`,
`Minimum`, `Maximum`, `Correlation`, `LeastSquares`) read the data in passes and move no row. They
need memory for the blocks only, for any number of rows. Sums are exact, so answers have the same
bits for any order of the rows, and for any chunks and threads.

Estimators that need all rows of a block at once (`Median`, `Quantile`, `TrimmedMean`, `Mode`,
`LogisticRegression`) sort the rows by block first. Their answers do not depend on chunks or threads
either.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NoReturn, TypeAlias

from ..._core import checks
from ..._kernels.jit import is_compiled
from .base import Estimator
from .functions import NumbaFunction, PythonFunction, in_processes
from .moments import Correlation, Maximum, Mean, Minimum, StandardDeviation, Variance
from .order_statistics import Median, Mode, Quantile, TrimmedMean
from .regression import LeastSquares, LogisticRegression

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


EstimatorName: TypeAlias = Literal[
    "mean",
    "var",
    "std",
    "min",
    "max",
    "correlation",
    "least-squares",
    "least_squares",
    "logistic-regression",
    "logistic_regression",
    "median",
    "mode",
    "trimmed-mean",
    "trimmed_mean",
]


def _quantile() -> NoReturn:
    rule = "dpfast.estimators.Quantile(q), because the name does not say which quantile"
    checks.fail("estimator", rule, "quantile")


#: The class of each named estimator.
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


def resolve(estimator: Any, executor: str = "auto", time_limit: Any = None) -> Estimator:
    """Return the estimator for a name, an estimator object, or a function.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For anything else, or if `executor` or `time_limit` does not suit the estimator.
    """
    processes = in_processes(executor, time_limit)
    if isinstance(estimator, type) and hasattr(estimator, "bind"):
        checks.fail_type("estimator", "an object: call the class, as in Mean()", estimator)
    if isinstance(estimator, str) or (checks.has(estimator, "bind") and not callable(estimator)):
        if time_limit is not None:
            checks.fail("time_limit", "None for an estimator of dpfast", time_limit)
        if processes:
            checks.fail("executor", "'auto' or 'threads' for an estimator of dpfast", executor)
        named: Estimator = estimator
        if isinstance(estimator, str):
            name = estimator.replace("_", "-")
            named = _NAMES[
                name if name in _NAMES else checks.choice("estimator", estimator, _NAMES)
            ]()
        return named
    if is_compiled(estimator) and not processes:
        return NumbaFunction(estimator)
    if not callable(estimator):
        checks.fail_kind("estimator", "a name, an estimator or a function of a block", estimator)
    return PythonFunction(estimator, executor, time_limit)
