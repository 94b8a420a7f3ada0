"""Errors and warnings by diffprivlib's names, and the reasons for which options are refused."""

from __future__ import annotations

import warnings
from typing import Any, NoReturn

from dpfast import errors
from dpfast.extend import checks
from dpfast.rng import Generator, InsecureGenerator, SecureGenerator

#: The reasons of refusals; the adapter's page has the same list.
REASONS = {
    "bounds": "bounds must be given, because bounds from the data would reveal rows",
    "classes": "classes= must be given, because the labels that occur would reveal rows",
    "infinite": "epsilon must be finite, because an infinite epsilon releases the rows",
    "zero": "epsilon must be greater than 0, or a row may be shown with probability delta",
    "size": "epsilon must be at least 2**-30 and at most 500",
    "fixed": "arguments of a mechanism cannot be changed: make another mechanism",
    "seeded": "random_state must be None: whoever knows a seed can subtract the noise",
    "weights": "weights must be left out, because diffprivlib gives them no public bounds",
    "slack": "slack must be 0, because advanced composition needs losses fixed in advance",
    "refit": "all data must be fitted in one call, because a second fit is a separate release",
    "sampler": "dpfast has no exact sampler for this noise",
    "range": "bounds must be finite if answers must lie within them",
    "scores": "sensitivity must be greater than 0: scores that no row changes need no noise",
    "formula": "dpfast has no formula for the bias and variance of these answers",
    "structure": "this option is not in the learner of dpfast",
}


class Refused(errors.ArgumentError):
    """An option or mechanism of diffprivlib that dpfast refuses; nothing has been spent.

    Attributes
    ----------
    reason : str
        A key of `REASONS`.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(REASONS[reason] + (f" ({detail})" if detail else ""))
        self.reason = reason


class NoFormulaError(Refused, NotImplementedError):
    """A bias or variance for which dpfast has no formula; also a `NotImplementedError`."""

    def __init__(self) -> None:
        super().__init__("formula")


class BudgetError(errors.BudgetError, ValueError):
    """An accountant refused a spend, before rows were read."""


class PrivacyLeakWarning(RuntimeWarning):
    """A warning of diffprivlib that is never shown: privacy leaks that it warns of are refused."""


class DiffprivlibCompatibilityWarning(RuntimeWarning):
    """The warning that an argument is ignored."""


class Budget(tuple[float, float]):
    """A pair (epsilon, delta); a pair is at most another if both of its amounts are."""

    __slots__ = ()

    def __new__(cls, epsilon: Any, delta: Any) -> Budget:
        """Make the pair after checking the ranges of epsilon and delta."""
        _checked(epsilon, delta)
        return tuple.__new__(cls, (epsilon, delta))

    def __ge__(self, other: Any) -> bool:
        return bool(self[0] >= other[0]) and bool(self[1] >= other[1])

    def __le__(self, other: Any) -> bool:
        return bool(self[0] <= other[0]) and bool(self[1] <= other[1])

    def __gt__(self, other: Any) -> bool:
        return bool(self >= other) and bool(self != other)

    def __lt__(self, other: Any) -> bool:
        return bool(self <= other) and bool(self != other)

    def __repr__(self) -> str:
        return f"(epsilon={self[0]}, delta={self[1]})"


def refuse(reason: str, detail: str = "") -> NoReturn:
    """Raise `Refused` for a reason, a key of `REASONS`."""
    raise Refused(reason, detail) from None


def real(name: str, value: Any) -> float:
    """Return a value as a float that may be infinite but not NaN, or raise an error."""
    number = checks.real(value)
    if number is None:
        checks.fail_type(name, "a number", value)
    if number != number:
        checks.fail(name, "a number", value)
    return number


def _checked(epsilon: Any, delta: Any) -> tuple[float, float]:
    size, share = real("epsilon", epsilon), real("delta", delta)
    if size < 0:
        checks.fail("epsilon", "at least 0", epsilon)
    if not 0 <= share <= 1:
        checks.fail("delta", "between 0 and 1", delta)
    return size, share


def loss_amounts(epsilon: Any, delta: Any = 0.0) -> tuple[float, float]:
    """Check an epsilon and a delta, not both 0, and return them as floats."""
    size, share = _checked(epsilon, delta)
    if size == share == 0:
        checks.fail("epsilon", "greater than 0, unless delta is", epsilon)
    return size, share


def payable(epsilon: Any, delta: Any = 0.0) -> None:
    """Refuse an epsilon and a delta that no release of dpfast can have."""
    size, share = loss_amounts(epsilon, delta)
    if size == float("inf"):
        refuse("infinite")
    if size == 0 or share == 1:
        refuse("zero")
    if not 2.0**-30 <= size <= 500:
        refuse("size")


def generator_of(random_state: Any) -> Generator | None:
    """Return the generator of a call, None for the secure one; refuse a seed as `random_state`."""
    if random_state is None:
        return None
    if isinstance(random_state, (SecureGenerator, InsecureGenerator)):
        return random_state
    refuse("seeded")


def ignored(names: Any) -> None:
    """Warn that these arguments are ignored."""
    for name in names:
        warnings.warn(f"{name} is ignored", DiffprivlibCompatibilityWarning, stacklevel=4)
