"""Estimators for sample and aggregate: by name, compiled, or any callable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _check
from ._base import Estimator
from ._called import Called
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
    if not callable(estimator):
        _check.fail_type("estimator", "a name, an estimator or a function of a block", estimator)
    return Called(estimator, executor, time_limit)
