"""Laplace and Gaussian noise under the names of PyDP's numerical mechanisms."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..._core import checks
from ...budget.release import release
from ...noise.added import Added, gaussian, laplace, of_deviation
from ...rng import Generator


class Additive:
    """Noise for numbers and arrays; the accountant of PipelineDP has paid for it."""

    #: The secure one where it is None.
    rng: ClassVar[Generator | None] = None

    epsilon: float
    sensitivity: float
    _noise: Added

    def add_noise(self, value: Any) -> Any:
        """Return a number, or each number of an array, with noise; no value is an error."""
        if not isinstance(value, np.ndarray) and checks.real(value) is None:
            checks.fail_kind("value", "a number, or an array of numbers", value)
        return release(value, self._noise, budget=None, rng=self.rng)


class LaplaceMechanism(Additive):
    """Laplace noise, as of ``pydp.algorithms.numerical_mechanisms``.

    Privacy
    -------
    epsilon-DP for numbers that neighbors move by `sensitivity` in L1, all together (Dwork,
    McSherry, Nissim and Smith, TCC 2006). Number and noise are added before they are rounded to a
    public grid.

    Parameters
    ----------
    epsilon : float
        Of any size.
    sensitivity : float, default 1.0

    Raises
    ------
    ArgumentError
        If one of them is not a number above 0.

    Examples
    --------
    >>> from dpfast.adapters.pipelinedp import LaplaceMechanism
    >>> mechanism = LaplaceMechanism(epsilon=2.0, sensitivity=4.5)
    >>> mechanism.diversity, abs(mechanism.add_noise(100) - 100) < 100
    (2.25, True)
    """

    def __init__(self, epsilon: float, sensitivity: float = 1.0) -> None:
        self.epsilon = checks.positive("epsilon", epsilon)
        self.sensitivity = checks.positive("sensitivity", sensitivity)
        self._noise = laplace(self.sensitivity, self.epsilon)

    @property
    def diversity(self) -> float:
        """The scale of the noise."""
        return self._noise.scale


class GaussianMechanism(Additive):
    """Gaussian noise, as of ``pydp.algorithms.numerical_mechanisms``.

    Privacy
    -------
    (epsilon, delta)-DP for numbers that neighbors move by `sensitivity` in L2, all together (Balle
    and Wang, ICML 2018; above an epsilon of 500, Bun and Steinke, TCC 2016).

    Parameters
    ----------
    epsilon : float
    delta : float
    sensitivity : float, default 1.0

    Raises
    ------
    ArgumentError
        If one of them breaks its rule.

    Examples
    --------
    >>> from dpfast.adapters.pipelinedp import GaussianMechanism
    >>> round(GaussianMechanism(1.0, 1e-10, 15.0).std, 1)
    88.0
    """

    def __init__(self, epsilon: float, delta: float, sensitivity: float = 1.0) -> None:
        self.epsilon = checks.positive("epsilon", epsilon)
        self.delta = checks.number("delta", delta)
        self.sensitivity = checks.positive("sensitivity", sensitivity)
        self._noise = gaussian(self.sensitivity, self.epsilon, self.delta)

    @classmethod
    def create_from_standard_deviation(cls, stddev: float) -> GaussianMechanism:
        """Return noise of a standard deviation; what it costs, the accountant knows."""
        own = cls.__new__(cls)
        own._noise = of_deviation(checks.positive("stddev", stddev))
        own.epsilon, own.delta, own.sensitivity = 0.0, 0.0, 1.0
        return own

    @property
    def std(self) -> float:
        """The standard deviation of the noise."""
        return self._noise.scale
