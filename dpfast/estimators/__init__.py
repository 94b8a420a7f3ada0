"""Estimators for sample and aggregate: by name, compiled, or any callable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _check
from .._jit import is_compiled
from ._base import Estimator
from ._called import Called
from ._compiled import Compiled
from ._moments import Mean

__all__ = ["Mean"]

_NAMES: dict[str, Callable[[], Estimator]] = {"mean": Mean}


def resolve(estimator: Any, executor: str = "auto", time_limit: float | None = None) -> Estimator:
    """The estimator that a name, an estimator object, or a function stands for."""
    if isinstance(estimator, str):
        return _NAMES[_check.choice("estimator", estimator, tuple(_NAMES))]()
    if hasattr(estimator, "bind"):
        found: Estimator = estimator
        return found
    if is_compiled(estimator) and not _needs_processes(executor, time_limit):
        return Compiled(estimator)
    if not callable(estimator):
        _check.fail_type("estimator", "a name, an estimator or a function of a block", estimator)
    return Called(estimator, executor, time_limit)


def _needs_processes(executor: str, time_limit: float | None) -> bool:
    """Whether a compiled function is to be called from worker processes, like any callable."""
    _check.choice("executor", executor, ("auto", "threads", "processes"))
    if executor == "threads" and time_limit is not None:
        rule = "None for a compiled function in threads; executor='processes' can stop it"
        _check.fail("time_limit", rule, time_limit)
    return executor == "processes" or time_limit is not None
