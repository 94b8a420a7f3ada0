"""diffprivlib's mechanisms: one number, label or choice a call, with a stated sensitivity.

`randomise` is a release of dpfast that no accountant pays for, as in diffprivlib: what it costs is
in the constructor. A mechanism is made once, and its arguments do not change.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from dpfast.extend import checks

from ....budget.budget import quoted
from ....budget.release import release
from ....noise.samplers import saturated
from ....statistics.additive_release import additive_release
from ..refusals import payable, real
from .base import DPMechanism


class Additive(DPMechanism):
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
        if not self._whole:
            value = float(saturated(value))
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


class Laplace(Additive):
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


class Staircase(Additive):
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


class Gaussian(Additive):
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


class GaussianDiscrete(Additive):
    """Gaussian noise on integers."""

    _whole, _noise = True, "gaussian"

    def __init__(
        self, *, epsilon: Any, delta: Any, sensitivity: Any = 1, random_state: Any = None
    ) -> None:
        super().__init__(epsilon=epsilon, delta=delta, random_state=random_state)
        if not (epsilon and delta):
            checks.fail("delta", "greater than 0, and epsilon too", delta)
        self._make(sensitivity)


class Geometric(Additive):
    """Discrete Laplace noise on integers."""

    _whole, _noise = True, "laplace"

    def __init__(self, *, epsilon: Any, sensitivity: Any = 1, random_state: Any = None) -> None:
        super().__init__(epsilon=epsilon, random_state=random_state)
        self._make(sensitivity)
