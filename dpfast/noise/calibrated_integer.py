"""Integer noise on exact integers, calibrated to a loss and a sensitivity.

The noise consists of integers too, so no sum is rounded.

Let D1 and D2 be the L1 and the L2 sensitivity of a vector of integers.

* Discrete Laplace noise of scale D1 / epsilon is epsilon-DP (Ghosh, Roughgarden and Sundararajan,
  STOC 2009), so also (epsilon, delta)-DP. Let m be the L-infinity sensitivity. In zCDP the loss is
  that of D1 / m numbers with a sensitivity of m each: see `laplace_loss`.
* Discrete Gaussian noise of parameter D2 / sqrt(2 rho) is rho-zCDP (Canonne, Kamath and Steinke,
  NeurIPS 2020).
* Gaussian noise of standard deviation D2 / s, rounded to integers, is (epsilon, delta)-DP with the
  s of `additive`. An integer plus rounded noise is a rounded sum, and rounding is post-processing.
  (float64 holds a sample exactly up to 2**53, which is more than 2**13 standard deviations. The
  probability of a larger sample is far below every delta.)
* If only one integer differs, by at most D1, staircase noise is epsilon-DP and has the least
  variance of all noise (`stairs`). It is used if its standard deviation is at least a twentieth
  smaller: for a large D1, from an epsilon of about 1.6 on. In zCDP its loss is larger.
* Let the difference of neighbors consist of n moves, each of one coordinate by at most c. Then
  staircase noise for c and epsilon / n is epsilon-DP: a move takes a coordinate by at most one
  stair up or down, so n moves change no probability by more than a factor of e^epsilon. (L1 alone
  does not bound the number of stairs: many small moves cross many stairs.) In zCDP, let one
  coordinate have at most p moves. Its difference costs at most R(p epsilon / n), where R(e) = e
  tanh(e / 2) is the rho of any pure loss. R(e) / e grows with e, so all coordinates together cost
  at most as much as floor(n / p) draws with equal parts of epsilon.

If several distributions are suitable, the one with the smallest standard deviation is used. This
choice depends only on public numbers.

If the scale is too large for the samplers, the integers are first divided by a public power of two
and rounded down. `Sensitivity.coarsened` is their sensitivity after that. The noise grows very
little, because the power of two is far below the noise.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._core.error_bars import RAREST, normal, symmetric_sum
from .._core.roots import root_up
from ..privacy import ZCDP, Approx, Draws, Loss, Pure, float_down, laplace_within
from ..rng import Generator
from . import samplers
from .additive import amount, analytic, of_gaussian, without_delta
from .distributions import Gaussian
from .distributions.discrete import FewLaplace, gaussian_integers, laplace_noise
from .sensitivity import Sensitivity
from .stairs import Staircase

_MOST_SCALE = 1 << 40  # the largest scale that the samplers take
#: Staircase noise is used if its standard deviation is less than this fraction of the standard
#: deviation of any other noise.
WORTH = 0.95


@dataclass(frozen=True)
class IntegerNoise:
    """Independent integer noise for each coordinate of a vector of integers.

    Attributes
    ----------
    distribution : str
        "laplace", "gaussian", "rounded-gaussian" or "staircase".
    scale : Fraction
        The scale of the distribution, in units of ``2**shift``. It is 0, for no noise, if the
        sensitivity is 0. For staircase noise it is the sensitivity divided by epsilon, as for
        Laplace noise.
    shift : int
        The noise is a multiple of ``2**shift``. `shift` is 0, unless the noise is too large to be
        drawn in units of 1.
    loss : Loss
        The loss of the release of the whole vector.
    moves : int
        For staircase noise: how many moves of a coordinate the difference of neighbors consists of.

    Examples
    --------
    >>> import dpfast as dp
    >>> noise = dp.extend.integer_noise(dp.privacy.ZCDP(0.5))
    >>> noise.distribution, noise.deviation, noise.half_width(0.05)
    ('gaussian', 1.0, 2)
    >>> len(noise.add([3, 4], dp.rng.default_generator()))
    2
    >>> import numpy as np
    >>> noise.draw(3, dp.rng.default_generator()).shape
    (3,)
    >>> round(noise.weighted_half_width(np.array([1.0, -1.0]), 0.05), 2)
    3.03
    """

    distribution: str
    scale: Fraction
    shift: int
    loss: Loss
    moves: int = field(default=1, metadata={"later": True})

    @cached_property
    def _few(self) -> FewLaplace | None:
        """The sampler of small batches of Laplace noise; None for other noise and for no noise."""
        return FewLaplace(self.scale) if self.distribution == "laplace" and self.scale else None

    @property
    def staircase(self) -> Staircase | None:
        """The staircase distribution; None for other noise."""
        if self.distribution != "staircase":
            return None
        assert isinstance(self.loss, Pure)
        epsilon = self.loss.epsilon / self.moves
        return Staircase.of(epsilon, math.ceil(self.scale * epsilon))

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise in a coordinate; for a discrete Gaussian, a bound."""
        width = float(self.scale)
        staircase = self.staircase
        if staircase is not None:
            width = staircase.deviation
        elif self.distribution == "rounded-gaussian":
            width = math.hypot(width, math.sqrt(1.0 / 12.0))
        elif self.distribution == "laplace" and width:
            width = math.sqrt(2.0 * math.exp(-1.0 / width)) / -math.expm1(-1.0 / width)
        return math.ldexp(width, self.shift)

    def half_width(self, failure: float) -> int:
        """Return a bound that the noise in a coordinate exceeds with probability at most `failure`.

        The bound is valid but not always the smallest. Rounding changes a Gaussian number by at
        most 1/2. Beyond one standard deviation the normal density is convex, so a discrete Gaussian
        number is k or more with a smaller probability than a Gaussian number is k - 1/2 or more.

        Parameters
        ----------
        failure : float
            The probability, above 0 and below 1.

        Returns
        -------
        int
        """
        width = float(self.scale)
        if not width:
            return 0
        staircase = self.staircase
        if staircase is not None:
            size = staircase.half_width(failure)
        elif self.distribution != "laplace":
            size = math.ceil(width * normal(failure) - 0.5)
        else:  # for Laplace noise Z, P(|Z| > h) = 2 p^(h + 1) / (1 + p)
            p = math.exp(-1.0 / width)
            size = max(0, math.ceil(width * math.log(2.0 / (1.0 + p) / failure) - 1.0))
        return (size + bool(self.shift)) << self.shift

    def weighted_half_width(
        self, weights: NDArray[np.float64], failure: float, times: Any = 1.0
    ) -> float:
        """Return a bound that a weighted sum of noise exceeds with probability at most `failure`.

        The sum has one independent noise number for each weight, or `times` numbers. The bound is
        valid, but not always the smallest one.

        Parameters
        ----------
        weights : float64 array
        failure : float
            The probability, above 0 and below 1.
        times : float or array, default 1
            How many noise numbers get each weight.

        Returns
        -------
        float
        """
        size, indices = np.unique(np.abs(weights), return_inverse=True)
        every = np.broadcast_to(np.asarray(times, np.float64), indices.shape)
        many: NDArray[np.float64] = np.bincount(indices, every).astype(np.float64)
        many, size = many[size > 0], size[size > 0]
        if not self.scale or not size.size:
            return 0.0
        width, total = math.sqrt(float((many * size**2).sum())), float((many * size).sum())
        # A sum of Gaussian numbers is Gaussian, and rounding changes each by at most 1/2. A
        # discrete Gaussian number is k with at most exp(1 / (8 s^2)) times the probability of a
        # rounded one. Proof: for u from -1/2 to 1/2, exp(-(k + u)^2 / (2 s^2)) is a product of
        # three factors. The first is exp(-k^2 / (2 s^2)). The second, exp(-u^2 / (2 s^2)), is at
        # least exp(-1 / (8 s^2)). The third, exp(-k u / s^2), has a mean of at least 1. And the sum
        # of exp(-k^2 / (2 s^2)) over all k is at least s root(2 pi). So n discrete numbers exceed a
        # bound with at most exp(n / (8 s^2)) times the probability of n rounded ones. If that
        # factor is near 1, the bound for rounded numbers is used. Any other noise gets the smaller
        # of `symmetric_sum` and of a union bound over all numbers.
        excess = float(many.sum()) / (8 * float(self.scale) ** 2)
        if self.distribution == "gaussian" and excess < 2.0**-10:
            bound = float(self.scale) * width * normal(failure / math.exp(excess)) + total / 2
        elif self.distribution == "rounded-gaussian":
            bound = float(self.scale) * width * normal(failure) + total / 2
        else:
            unshifted = replace(self, shift=0)
            bound = total * unshifted.half_width(failure / float(many.sum()))
            if failure > RAREST:
                deviation = max(width * unshifted.deviation, float(size[-1]))
                bound = symmetric_sum([(self.waves, size, many)], deviation, failure, bound)
        return math.ldexp(bound + (total if self.shift else 0), self.shift)

    def waves(self, u: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the characteristic function of the noise, in units of ``2**shift``. It is real.

        The two Gaussian distributions on integers come from densities: the discrete Gaussian from
        the normal density, and the rounded one from the density of a normal number plus a uniform
        number from -1/2 to 1/2. Their characteristic function is the characteristic function of the
        density, summed over shifts by all multiples of 2 pi.

        Parameters
        ----------
        u : float64 array

        Returns
        -------
        float64 array
            For each u the mean of cos(u z), where z is the noise of a coordinate in units of
            ``2**shift``.

        Examples
        --------
        >>> import numpy as np, dpfast as dp
        >>> noise = dp.extend.integer_noise(dp.privacy.Pure(1))
        >>> noise.waves(np.array([0.0, np.pi])).round(3).tolist()
        [1.0, 0.214]
        """
        staircase, scale = self.staircase, float(self.scale)
        if staircase is not None:
            return staircase.waves(u)
        if not scale:  # no noise is added
            return np.ones(u.shape)
        if self.distribution == "laplace":
            p = math.exp(-1 / scale)
            return np.asarray((1 - p) ** 2 / ((1 - p) ** 2 + 4 * p * np.sin(u / 2) ** 2))
        is_rounded = self.distribution == "rounded-gaussian"
        few = math.ceil(6 / scale)  # further terms are below 1e-150
        moved = np.add.outer(2 * np.pi * np.arange(-few, few + 1), np.remainder(u, 2 * np.pi))
        density = np.exp(-((scale * moved) ** 2) / 2)
        cosines = (density * np.sinc(moved / (2 * np.pi)) if is_rounded else density).sum(axis=0)
        whole = 1.0 if is_rounded else np.exp(-2 * (np.pi * scale * np.arange(-few, few + 1)) ** 2)
        return np.asarray(np.clip(cosines / np.sum(whole), -1, 1))

    def add(self, values: Sequence[int], generator: Generator) -> list[int]:
        """Return the integers `values` with noise from a `generator`.

        Parameters
        ----------
        values : sequence of int
            Integers of any size; no sum overflows.
        generator : Generator

        Returns
        -------
        list of int
        """
        if self._few is None and not self.scale:
            return list(values)
        noise = self.draw(len(values), generator).tolist()
        if not self.shift:
            return list(map(operator.add, values, noise))
        half = 1 << self.shift >> 1  # dividing by 2**shift rounds down, by half a unit on average
        return [
            (((value >> self.shift) + z) << self.shift) + half
            for value, z in zip(values, noise, strict=True)
        ]

    def draw(self, size: int, generator: Generator) -> NDArray[np.int64]:
        """Return `size` integers of noise from a `generator`, in units of ``2**shift``.

        Parameters
        ----------
        size : int
        generator : Generator

        Returns
        -------
        int64 array of shape (size,)
        """
        few = self._few
        if few is not None and size <= few.MOST:
            return few.draw(size, generator.stream())
        out = np.zeros(size, np.int64)
        if not self.scale or not size:
            return out
        staircase = self.staircase if self.distribution == "staircase" else None
        if staircase is not None:
            out = staircase.draw(size, generator)
        elif self.distribution in ("laplace", "gaussian"):
            fill = laplace_noise if self.distribution == "laplace" else gaussian_integers
            samplers.in_chunks(
                size, generator.stream(), lambda i, j, stream: fill(out[i:j], self.scale, stream)
            )
        else:
            width = math.nextafter(float(self.scale), math.inf)
            if size == 1:  # draws the same noise, ten times as fast
                draw = samplers.draw
                out[0] = draw(
                    Gaussian(), value=0.0, scale=width, granularity=1.0, generator=generator
                )
                return out
            out[...] = samplers.draw_array(
                Gaussian(),
                value=np.zeros(1),
                scale=np.array([width]),
                granularity=np.ones(1),
                shape=(size,),
                generator=generator,
            )
        return out


def laplace_loss(epsilon: Fraction, draws: int, cells: int) -> Pure:
    """Return the loss of discrete Laplace noise on `draws` numbers of sensitivity `cells`."""
    # For one number of sensitivity 1, `Draws` gives no better loss than `Pure`.
    return Pure(epsilon) if draws == cells == 1 else Draws(epsilon, draws=draws, cells=cells)


@lru_cache(maxsize=1024)
def integer_noise(
    loss: Loss, sensitivity: Sensitivity, distribution: str | None = None
) -> IntegerNoise:
    """Return the least noise for a loss and the sensitivity of a vector of integers.

    Parameters
    ----------
    loss : Pure, Approx or ZCDP
        The loss of the whole vector.
    sensitivity : Sensitivity
        The sensitivity of the vector.
    distribution : str, optional
        The distribution to use, among those that `loss` allows.

    Returns
    -------
    IntegerNoise
        The noise. Its `loss` is the actual loss for this sensitivity; for Laplace noise it is
        `Draws`.

    Raises
    ------
    ArgumentError
        If the loss is so small that the noise cannot be sampled, even for integers of sensitivity
        1.
    """
    size = amount(loss)
    if not sensitivity.l1:
        return IntegerNoise("laplace", Fraction(0), 0, without_delta(loss))
    shift, noise = 0, _unshifted(loss, size, sensitivity, distribution)
    while noise.scale > _MOST_SCALE:
        shift += max(1, (int(noise.scale) // _MOST_SCALE).bit_length() - 1)
        unit = 1 << shift
        # A larger unit does not help here, because each of the l0 integers still changes by 1.
        if unit > _MOST_SCALE * sensitivity.l1:
            name = "rho" if isinstance(loss, ZCDP) else "epsilon"
            checks.fail(name, "larger, because so much noise cannot be drawn", float(size))
        noise = _unshifted(loss, size, sensitivity.coarsened(unit), distribution)
    return replace(noise, shift=shift)


def _unshifted(
    loss: Loss, size: Fraction, sensitivity: Sensitivity, distribution: str | None
) -> IntegerNoise:
    candidates = {noise.distribution: noise for noise in _candidates(loss, size, sensitivity)}
    if distribution is not None:
        return candidates.get(distribution, candidates["laplace"])
    return min(candidates.values(), key=lambda z: z.deviation / (WORTH if z.staircase else 1.0))


def _candidates(loss: Loss, size: Fraction, sensitivity: Sensitivity) -> Iterator[IntegerNoise]:
    """Yield the calibrated noise of each distribution that can satisfy a loss."""
    l1, l2_squared, shape = sensitivity.l1, Fraction(sensitivity.l2_squared), sensitivity.shape
    if isinstance(loss, ZCDP):
        yield IntegerNoise("laplace", l1 / laplace_within(size, *shape), 0, loss)
        yield IntegerNoise("gaussian", root_up(l2_squared / (2 * size)), 0, loss)
        return
    yield IntegerNoise("laplace", l1 / size, 0, laplace_loss(size, *shape))
    if isinstance(loss, Approx):
        unit = Fraction(analytic(float_down(size), float_down(loss.delta)))
        yield IntegerNoise("rounded-gaussian", root_up(l2_squared) * unit, 0, of_gaussian(loss))
    moves, step = sensitivity.moves or (0, 0)
    if step > 1 and moves * step <= _MOST_SCALE * size:
        draws = max(1, moves // -(-sensitivity.largest // step))
        spent = Pure(size) if draws == 1 else Draws(size, draws=draws)
        yield IntegerNoise("staircase", moves * step / size, 0, spent, moves)
