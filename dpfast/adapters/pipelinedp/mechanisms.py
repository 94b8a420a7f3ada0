"""Laplace and Gaussian noise under the names of PyDP's numerical mechanisms."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

import dpfast as dp
from dpfast.extend import checks
from dpfast.rng import Generator

from ..scaled_noise import ScaledNoise, finite

#: The largest epsilon of a release of dpfast. For a larger one, this one is used.
MOST = 500
#: The largest scale, as an exponent of two.
_LARGEST = 900


def _noise(distribution: str, scale: float) -> ScaledNoise:
    if not 2.0**-_LARGEST <= scale <= 2.0**_LARGEST:
        rule = f"such that noise has a scale between 2**-{_LARGEST} and 2**{_LARGEST}"
        checks.fail("sensitivity", rule, scale)
    return ScaledNoise(distribution, scale)


@lru_cache(maxsize=1024)
def noise_of_laplace(sensitivity: float, epsilon: float) -> ScaledNoise:
    """Return Laplace noise for an L1 sensitivity, of the least scale that float64 has."""
    scale = sensitivity / epsilon
    if Fraction(scale if scale < math.inf else 0) * Fraction(epsilon) < Fraction(sensitivity):
        scale = math.nextafter(scale, math.inf)
    return _noise("laplace", scale)


@lru_cache(maxsize=1024)
def noise_of_gaussian(sensitivity: float, epsilon: float, delta: float) -> ScaledNoise:
    """Return Gaussian noise for an L2 sensitivity and (epsilon, delta), for any epsilon."""
    scale = sensitivity * dp.noise.gaussian_scale(epsilon, delta)
    return _noise("gaussian", math.nextafter(scale, math.inf))


class Additive:
    """Additive noise for numbers and arrays, paid for by PipelineDP's accountant."""

    #: The generator of random bits; None for the secure one.
    rng: ClassVar[Generator | None] = None

    epsilon: float
    sensitivity: float
    _noise: ScaledNoise

    def add_noise(self, value: Any) -> Any:
        """Return a number or an array with noise on each number; NaN and infinity are no errors."""
        if not isinstance(value, np.ndarray):
            if checks.real(value) is None:
                checks.fail_kind("value", "a number, or an array of numbers", value)
            value = finite(value)
        return dp.extend.release(value, self._noise, read=False, rng=self.rng)


class LaplaceMechanism(Additive):
    """Laplace noise by the interface of ``pydp.algorithms.numerical_mechanisms``.

    Privacy
    -------
    epsilon-DP for numbers with a joint L1 sensitivity of `sensitivity` (Dwork, McSherry, Nissim and
    Smith, TCC 2006). Number and noise are added before they are rounded to a public grid.

    Parameters
    ----------
    epsilon : float
        A number above 0, of any size.
    sensitivity : float, default 1.0

    Raises
    ------
    ArgumentError
        If an argument is not a number above 0.

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
        self._noise = noise_of_laplace(self.sensitivity, self.epsilon)

    @property
    def diversity(self) -> float:
        """The scale of the Laplace noise."""
        return float(self._noise.scale)


class GaussianMechanism(Additive):
    """Gaussian noise by the interface of ``pydp.algorithms.numerical_mechanisms``.

    Privacy
    -------
    (epsilon, delta)-DP for numbers with a joint L2 sensitivity of `sensitivity` (Balle and Wang,
    ICML 2018; above an epsilon of 500, Bun and Steinke, TCC 2016).

    Parameters
    ----------
    epsilon : float
    delta : float
    sensitivity : float, default 1.0

    Raises
    ------
    ArgumentError
        If an argument breaks its rule.

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
        self._noise = noise_of_gaussian(self.sensitivity, self.epsilon, self.delta)

    @classmethod
    def create_from_standard_deviation(cls, stddev: float) -> GaussianMechanism:
        """Return Gaussian noise of a standard deviation; PipelineDP's accountant has the loss."""
        noise = cls.__new__(cls)
        noise._noise = _noise("gaussian", checks.positive("stddev", stddev))
        noise.epsilon, noise.delta, noise.sensitivity = 0.0, 0.0, 1.0
        return noise

    @property
    def std(self) -> float:
        """The standard deviation of the Gaussian noise."""
        return float(self._noise.scale)
