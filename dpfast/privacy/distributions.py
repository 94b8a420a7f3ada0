"""Privacy-loss distributions, computed by dp-accounting.

Needs ``pip install dp-accounting``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any, NoReturn

from .._core import checks
from .._core.extras import extra
from .._core.types import Number
from .conversions import LEAST_DELTA, LEAST_EPSILON
from .enclosure import up
from .losses import Approx, Pure, _delta, _float_up, _positive

# dp-accounting rounds its distributions towards more loss when it puts them on a grid, and then
# convolves them in float64. This margin is far larger than the rounding errors of the convolution.
_MARGIN = Fraction(1, 10**12)
#: The most grid points for one release: an array of them takes 256 MB.
_MOST_PLACES = 1 << 25


class LossDistribution:
    """The distribution of the privacy loss of one or several releases.

    It composes any mix of mechanisms nearly exactly. If the distribution of the noise is known, it
    gives the least epsilon of all methods here: less than `ZCDP.to_approx` for many Gaussian
    releases, and the same as `optimal_composition` for equal pure losses. Make one with `of`,
    `gaussian`, `laplace`, `discrete_laplace` or `randomized_response`.

    Notes
    -----
    The neighboring relation of the result is the relation for which the sensitivities hold.
    dp-accounting rounds each distribution towards more loss, to a grid with steps of `interval`,
    and then convolves in float64. dpfast adds a margin of 1e-12 to delta, and a relative one to
    epsilon: far more than the rounding errors, but not a proof. So use a delta well above 1e-12.
    Sommer, Meiser and Mohammadi, PoPETs 2019; for the grid Doroshenko, Ghazi, Kamath, Kumar and
    Manurangsi, PoPETs 2022.

    Examples
    --------
    A hundred Gaussian releases, first by their loss distribution and then by their rho:

    >>> import dpfast as dp
    >>> one = dp.privacy.LossDistribution.gaussian(20.0)
    >>> round(float(one.times(100).to_approx(1e-6).epsilon), 2)
    2.25
    >>> round(float(dp.privacy.ZCDP(100 / (2 * 20**2)).to_approx(1e-6).epsilon), 2)
    2.42

    Mechanisms of several kinds, one after the other:

    >>> laplace = dp.privacy.LossDistribution.laplace(10.0)
    >>> several = laplace.compose(
    ...     dp.privacy.LossDistribution.discrete_laplace(10),
    ...     dp.privacy.LossDistribution.randomized_response(0.1),
    ...     dp.privacy.LossDistribution.of(dp.privacy.Pure(0.1)),
    ... )
    >>> round(float(several.to_approx_delta(0.3).delta), 3)
    0.007
    """

    __slots__ = ("_held", "_interval")

    def __init__(self, held: Any, interval: float) -> None:
        self._held = held
        self._interval = interval

    @classmethod
    def _of(cls, kind: str, step: float, *parameters: Any, **more: Any) -> LossDistribution:
        """Return the loss distribution that the function `kind` of dp-accounting computes."""
        module = "dp_accounting.pld.privacy_loss_distribution"
        make = getattr(extra(module, "a privacy-loss distribution"), kind)
        return cls(make(*parameters, value_discretization_interval=step, **more), step)

    @classmethod
    def of(cls, loss: Pure | Approx, *, interval: Number = 1e-4) -> LossDistribution:
        """Return the worst loss distribution of all mechanisms with a given loss.

        Parameters
        ----------
        loss : Pure or Approx
        interval : float
            The step of the grid of losses. A smaller step is more accurate and slower.

        Returns
        -------
        LossDistribution
        """
        if not isinstance(loss, (Pure, Approx)):
            checks.fail_type("loss", "a Pure or Approx loss", loss)
        common = extra("dp_accounting.pld.common", "a privacy-loss distribution")
        epsilon = _exponent(loss.epsilon)
        step = _step(interval, 2 * epsilon)
        both = common.DifferentialPrivacyParameters(epsilon, _float_up(loss.delta))
        return cls._of("from_privacy_parameters", step, both)

    @classmethod
    def gaussian(
        cls, scale: Number, *, sensitivity: Number = 1.0, interval: Number = 1e-4
    ) -> LossDistribution:
        """Return the loss distribution of Gaussian noise with standard deviation `scale`.

        Parameters
        ----------
        scale, sensitivity, interval : float
            The scale of the noise, the sensitivity, and the step of the grid of losses.

        Returns
        -------
        LossDistribution
        """
        unit = _unit(scale, sensitivity)
        # Beyond 10 deviations the probability is negligible.
        step = _step(interval, (20 + 1 / unit) / unit)
        return cls._of("from_gaussian_mechanism", step, unit)

    @classmethod
    def laplace(
        cls, scale: Number, *, sensitivity: Number = 1.0, interval: Number = 1e-4
    ) -> LossDistribution:
        """Return the loss distribution of Laplace noise with density ~ ``exp(-|z| / scale)``.

        Parameters
        ----------
        scale, sensitivity, interval : float
            The scale of the noise, the sensitivity, and the step of the grid of losses.

        Returns
        -------
        LossDistribution
        """
        unit = _unit(scale, sensitivity)
        return cls._of("from_laplace_mechanism", _step(interval, 2 / unit), unit)

    @classmethod
    def discrete_laplace(
        cls, scale: Number, *, sensitivity: int = 1, interval: Number = 1e-4
    ) -> LossDistribution:
        """Return the loss distribution of integer noise with probability ~ ``exp(-|z| / scale)``.

        Parameters
        ----------
        scale, interval : float
            The scale of the noise, and the step of the grid of losses.
        sensitivity : int

        Returns
        -------
        LossDistribution
        """
        size = checks.whole("sensitivity", sensitivity, 1)
        rate = 1 / checks.positive("scale", scale)  # the rounding error is far below the margin
        step = _step(interval, 2 * size * rate)
        return cls._of("from_discrete_laplace_mechanism", step, rate, sensitivity=size)

    @classmethod
    def randomized_response(
        cls, epsilon: Number, *, categories: int = 2, interval: Number = 1e-4
    ) -> LossDistribution:
        """Return the loss distribution of `dpfast.response.kary`, under "replace".

        Parameters
        ----------
        epsilon : float, Fraction or Decimal
        categories : int
            The number of possible answers, at least 2.
        interval : float
            The step of the grid of losses.

        Returns
        -------
        LossDistribution
        """
        amount = _exponent(_positive("epsilon", epsilon))
        k = checks.whole("categories", categories, 2)
        step = _step(interval, 2 * amount)
        # The library expects the probability of answering with a uniformly random category, which
        # may also be the true one.
        uniform = k / (math.exp(amount) + k - 1)
        return cls._of("from_randomized_response", step, uniform, k)

    def compose(self, *others: LossDistribution) -> LossDistribution:
        """Return the loss distribution of this and all `others`, released one after the other.

        Parameters
        ----------
        *others : LossDistribution
            Distributions with the same `interval`.

        Returns
        -------
        LossDistribution
        """
        held = self._held
        for other in others:
            if not isinstance(other, LossDistribution):
                checks.fail_type("others", "LossDistribution objects", other)
            if other._interval != self._interval:
                rule = f"on the same grid, with interval={self._interval!r}"
                checks.fail("others", rule, other._interval)
            held = held.compose(other._held)
        return LossDistribution(held, self._interval)

    def times(self, times: int) -> LossDistribution:
        """Return the loss distribution of `times` releases like this one.

        Parameters
        ----------
        times : int
            At least 1.

        Returns
        -------
        LossDistribution
        """
        held = self._held.self_compose(checks.whole("times", times, 1))
        return LossDistribution(held, self._interval)

    def to_approx(self, delta: Number) -> Approx:
        """Return the loss (epsilon, delta) with the least epsilon for `delta`.

        Parameters
        ----------
        delta : float, Fraction or Decimal
            Above 1e-12 and less than 1.

        Returns
        -------
        Approx

        Raises
        ------
        ArgumentError
            If `delta` is at most 1e-12, or not more than the deltas of the releases in total.
        """
        epsilon = least_epsilon(self._held.get_epsilon_for_delta, delta)
        if epsilon is None:
            checks.fail("delta", "more than the deltas of the releases in total", delta)
        return epsilon

    def to_approx_delta(self, epsilon: Number) -> Approx:
        """Return the loss (epsilon, delta) with the least delta for `epsilon`.

        Parameters
        ----------
        epsilon : float, Fraction or Decimal
            Greater than 0.

        Returns
        -------
        Approx
        """
        amount = _positive("epsilon", epsilon)
        least = float(amount * (1 - _MARGIN))
        exact = Decimal(float(self._held.get_delta_for_epsilon(least)))
        delta = up(max(Decimal(0), exact) + Decimal(1).scaleb(-12), LEAST_DELTA)
        if delta >= 1:
            checks.fail("epsilon", "larger, because its delta would be 1 or more", epsilon)
        return Approx(amount, delta)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a LossDistribution cannot be pickled: create it again where it is needed")


def least_epsilon(of: Callable[[float], float], delta: Number) -> Approx | None:
    """Return the least epsilon at `delta`, plus margins for float64; None if it is infinite.

    Parameters
    ----------
    of : callable
        The least epsilon at a delta, by dp-accounting.
    delta : float, Fraction or Decimal
        Above the margin.

    Returns
    -------
    Approx or None
    """
    amount = _delta(delta)
    if amount <= _MARGIN:
        checks.fail("delta", "greater than 1e-12, the margin for float64", delta)
    least = float(of(float(amount - _MARGIN)))
    if not math.isfinite(least):
        return None
    epsilon = Decimal(least) * (1 + Decimal(1).scaleb(-12))
    return Approx(up(epsilon, LEAST_EPSILON), amount)


def _step(interval: Any, range_of_losses: float) -> float:
    """Return the step of the grid of losses; refuse a step with too many grid points."""
    step = checks.positive("interval", interval)
    if not range_of_losses <= step * _MOST_PLACES:
        least = range_of_losses / _MOST_PLACES
        checks.fail("interval", f"at least {least:.3g} for losses as large as these", interval)
    return step


def _unit(scale: Any, sensitivity: Any) -> float:
    """Return the noise scale in units of the sensitivity, rounded by far less than the margins."""
    unit = checks.positive("scale", scale) / checks.positive("sensitivity", sensitivity)
    if not unit > 2.0**-500:
        checks.fail("scale", f"more than {2.0**-500:.3g} times the sensitivity", scale)
    return unit


def _exponent(epsilon: Fraction) -> float:
    """Return an epsilon as a float, rounded up; refuse one whose exponential overflows."""
    if epsilon > 700:
        checks.fail("epsilon", "at most 700, for float64", float(epsilon))
    return _float_up(epsilon)
