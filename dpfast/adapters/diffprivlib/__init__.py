"""The tools, models and mechanisms of IBM's diffprivlib, run by releases of dpfast.

    import dpfast.adapters.diffprivlib as diffprivlib

    with diffprivlib.BudgetAccountant(epsilon=1.0) as accountant:
        diffprivlib.tools.mean(ages, epsilon=0.5, bounds=(0, 120))

Neighbors differ in one replaced row, as in diffprivlib. Some arguments of diffprivlib cannot be
private: bounds or classes from the data, an infinite epsilon, seeded noise. They are refused before
a row is read, and `refusals` has the reasons. `tools` and `mechanisms` need NumPy only, `models`
need scikit-learn.
"""

from importlib import import_module
from typing import Any

from . import mechanisms, tools
from .accountant import BudgetAccountant
from .refusals import (
    REASONS,
    Budget,
    BudgetError,
    DiffprivlibCompatibilityWarning,
    PrivacyLeakWarning,
    Refused,
)

__all__ = [
    "REASONS", "Budget", "BudgetAccountant", "BudgetError", "DiffprivlibCompatibilityWarning",
    "PrivacyLeakWarning", "Refused", "mechanisms", "models", "tools",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name == "models":
        return import_module(".models", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
