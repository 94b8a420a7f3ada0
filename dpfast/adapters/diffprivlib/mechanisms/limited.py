"""Mechanisms whose answers lie within limits."""

from __future__ import annotations

from numbers import Integral
from typing import Any, NoReturn

from dpfast.extend import checks

from ....budget.budget import quoted
from ....statistics.bounded_release import bounded_release, folded
from ..refusals import Untold, real, refuse
from .additive import Additive
from .base import DPMechanism, TruncationAndFoldingMixin


class _Limited(Additive, TruncationAndFoldingMixin):
    """Noise, and an answer that is brought to the nearest limit."""

    def _limit(self, lower: Any, upper: Any) -> None:
        TruncationAndFoldingMixin.__init__(self, lower=lower, upper=upper)
        if self._whole and not all(
            isinstance(one, Integral) or real("bounds", one) in (float("inf"), -float("inf"))
            for one in (lower, upper)
        ):
            checks.fail_type("bounds", "integers, or infinite", (lower, upper))

    def _within(self, answer: Any) -> Any:
        return min(max(answer, self.lower), self.upper)

    def bias(self, value: Any) -> NoReturn:
        """Do not tell."""
        raise Untold

    variance = bias


class LaplaceTruncated(_Limited):
    """Laplace noise, and the nearest limit."""

    _noise = "laplace"

    def __init__(
        self,
        *,
        epsilon: Any,
        delta: Any = 0.0,
        sensitivity: Any,
        lower: Any,
        upper: Any,
        random_state: Any = None,
    ) -> None:
        DPMechanism.__init__(self, epsilon=epsilon, delta=delta, random_state=random_state)
        self._limit(lower, upper)
        self._make(sensitivity)


class _Within(LaplaceTruncated):
    """A release within finite limits."""

    _method = "folded"

    def _mechanism(self) -> Any:
        if not abs(self.lower) < float("inf") > abs(self.upper):
            refuse("range")
        return quoted(
            bounded_release,
            0,
            bounds=(self.lower, self.upper),
            sensitivity=self.sensitivity,
            epsilon=self.epsilon,
            delta=self.delta,
            neighbors="replace",
            method=self._method,
        )


class LaplaceFolded(_Within):
    """Laplace noise, reflected at the limits."""


class LaplaceBoundedDomain(_Within):
    """Laplace noise that is drawn again until the answer is within the limits."""

    _method = "domain"

    def effective_epsilon(self) -> Any:
        """Return the loss, for which noise is made, if it is pure."""
        return None if self.delta else self.epsilon


class Snapping(LaplaceTruncated):
    """Laplace noise on a grid, which is exact without snapping, and the nearest limit."""

    def __init__(
        self, *, epsilon: Any, sensitivity: Any, lower: Any, upper: Any, random_state: Any = None
    ) -> None:
        super().__init__(
            epsilon=epsilon,
            sensitivity=sensitivity,
            lower=lower,
            upper=upper,
            random_state=random_state,
        )

    def effective_epsilon(self) -> Any:
        """Return the loss: nothing is lost to snapping."""
        return self.epsilon


class GeometricTruncated(_Limited):
    """Discrete Laplace noise, and the nearest limit."""

    _whole, _noise = True, "laplace"

    def __init__(
        self,
        *,
        epsilon: Any,
        sensitivity: Any = 1,
        lower: Any,
        upper: Any,
        random_state: Any = None,
    ) -> None:
        DPMechanism.__init__(self, epsilon=epsilon, random_state=random_state)
        self._limit(lower, upper)
        self._make(sensitivity)


class GeometricFolded(GeometricTruncated):
    """Discrete Laplace noise, reflected at the limits, which may lie between two integers."""

    def _limit(self, lower: Any, upper: Any) -> None:
        TruncationAndFoldingMixin.__init__(self, lower=lower, upper=upper)
        ends = real("lower", lower), real("upper", upper)
        if not abs(ends[0]) < float("inf") > abs(ends[1]):
            refuse("range")
        if any(2 * end != int(2 * end) for end in ends):
            checks.fail("bounds", "integers or halves of them", (lower, upper))

    def _within(self, answer: Any) -> Any:
        if self.lower == self.upper:
            return self.lower
        first, last = int(2 * self.lower), int(2 * self.upper)
        return (first + folded(2 * answer - first, last - first)) // 2
