"""diffprivlib's mechanisms: one number, label or choice a call, with a stated sensitivity.

`randomise` is a release of dpfast that no accountant pays for, as in diffprivlib: what it costs is
in the constructor. A mechanism is made once, and its arguments do not change.
"""

from __future__ import annotations

import copy
import inspect
from abc import ABC, abstractmethod
from numbers import Integral, Real
from typing import Any, NoReturn

from ...._core import checks
from ....budget.budget import quoted
from ....budget.release import release
from ....statistics.additive_release import additive_release
from ....statistics.bounded_release import bounded_release, folded
from ..refusals import generator_of, loss_amounts, payable, real, refuse


class DPMachine(ABC):
    """What randomises a value."""

    @abstractmethod
    def randomise(self, value: Any) -> Any:
        """Return a private value."""

    def copy(self) -> Any:
        """Return a copy."""
        return copy.copy(self)


class DPMechanism(DPMachine):
    """A machine with a loss.

    Parameters
    ----------
    epsilon, delta : float
    random_state : None
    """

    def __init__(self, *, epsilon: Any, delta: Any = 0.0, random_state: Any = None) -> None:
        loss_amounts(epsilon, delta)
        self.epsilon, self.delta, self.random_state = epsilon, delta, random_state
        self._rng = generator_of(random_state)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in vars(self) and not name.startswith("_"):
            refuse("fixed", name)  # the noise would stay what it is
        super().__setattr__(name, value)

    def __repr__(self) -> str:
        names = inspect.signature(type(self)).parameters
        shown = ", ".join(f"{n}={getattr(self, n, None)!r}" for n in names)
        return f"{type(self).__module__}.{type(self).__name__}({shown})"

    def bias(self, value: Any) -> Any:
        """Return how far answers are off on average, where that is known."""
        raise NotImplementedError

    def variance(self, value: Any) -> Any:
        """Return the variance of answers, where that is known."""
        raise NotImplementedError

    def mse(self, value: Any) -> Any:
        """Return the mean squared error, where that is known."""
        return self.variance(value) + self.bias(value) ** 2


class TruncationAndFoldingMixin:
    """Limits of the answers."""

    def __init__(self, *, lower: Any, upper: Any) -> None:
        if not isinstance(self, DPMechanism):
            checks.fail_type("self", "a DPMechanism", self)
        if real("lower", lower) > real("upper", upper):
            checks.fail("lower", "at most upper", lower)
        self.lower, self.upper = lower, upper


class _Additive(DPMechanism):
    """Noise on a number of a stated sensitivity."""

    _whole, _noise = False, "auto"
    _made: Any = None

    def _make(self, sensitivity: Any) -> None:
        """Check the sensitivity, and make the mechanism of all calls."""
        size = real("sensitivity", sensitivity)
        if self._whole and not isinstance(sensitivity, Integral):
            checks.fail_type("sensitivity", "an integer", sensitivity)
        if size < 0:
            checks.fail("sensitivity", "at least 0", sensitivity)
        payable(self.epsilon, self.delta)
        self.sensitivity = sensitivity
        if size:  # what no row moves is public
            self._made = self._mechanism()

    def _mechanism(self) -> Any:
        return quoted(
            additive_release,
            0,
            sensitivity=self.sensitivity,
            epsilon=self.epsilon,
            delta=self.delta,
            noise=self._noise,
            whole=self._whole,
            neighbors="replace",
        )

    def randomise(self, value: Any) -> Any:
        """Return a number with noise."""
        if not isinstance(value, Integral if self._whole else (float, Real)):
            checks.fail_kind("value", "an integer" if self._whole else "a number", value)
        if self._made is None:
            return self._within(value)
        return self._within(release(value, self._made, budget=None, rng=self._rng))

    def _within(self, answer: Any) -> Any:
        return answer

    def bias(self, value: Any) -> Any:
        """Return 0: noise is symmetric."""
        return 0.0

    def variance(self, value: Any) -> Any:
        """Return the variance of the noise."""
        if self._made is None:
            return 0.0
        return (self._made.noise.deviation * self._made.grid) ** 2


class Laplace(_Additive):
    """Exact Laplace noise on a grid; a delta may be spent on better noise.

    Examples
    --------
    >>> from dpfast.adapters.diffprivlib.mechanisms import Laplace
    >>> 60 < Laplace(epsilon=1, sensitivity=1).randomise(100) < 140
    True
    """

    _noise = "laplace"

    def __init__(
        self, *, epsilon: Any, delta: Any = 0.0, sensitivity: Any, random_state: Any = None
    ) -> None:
        super().__init__(epsilon=epsilon, delta=delta, random_state=random_state)
        self._make(sensitivity)


class Staircase(_Additive):
    """Staircase noise, whose step is the best for the epsilon."""

    _noise = "staircase"

    def __init__(
        self, *, epsilon: Any, sensitivity: Any, gamma: Any = None, random_state: Any = None
    ) -> None:
        super().__init__(epsilon=epsilon, random_state=random_state)
        if gamma is not None and not 0 <= real("gamma", gamma) <= 1:
            checks.fail("gamma", "between 0 and 1", gamma)
        self.gamma = gamma
        self._make(sensitivity)


class Gaussian(_Additive):
    """The least Gaussian noise for (epsilon, delta), for any epsilon."""

    _noise = "gaussian"

    def __init__(
        self, *, epsilon: Any, delta: Any, sensitivity: Any, random_state: Any = None
    ) -> None:
        super().__init__(epsilon=epsilon, delta=delta, random_state=random_state)
        if not (epsilon and delta):
            checks.fail("delta", "greater than 0, and epsilon too", delta)
        self._make(sensitivity)


class GaussianAnalytic(Gaussian):
    """The same as `Gaussian`."""


class GaussianDiscrete(_Additive):
    """Gaussian noise on integers."""

    _whole, _noise = True, "gaussian"

    def __init__(
        self, *, epsilon: Any, delta: Any, sensitivity: Any = 1, random_state: Any = None
    ) -> None:
        super().__init__(epsilon=epsilon, delta=delta, random_state=random_state)
        if not (epsilon and delta):
            checks.fail("delta", "greater than 0, and epsilon too", delta)
        self._make(sensitivity)


class Geometric(_Additive):
    """Discrete Laplace noise on integers."""

    _whole, _noise = True, "laplace"

    def __init__(self, *, epsilon: Any, sensitivity: Any = 1, random_state: Any = None) -> None:
        super().__init__(epsilon=epsilon, random_state=random_state)
        self._make(sensitivity)


class _Limited(_Additive, TruncationAndFoldingMixin):
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
        raise NotImplementedError

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
