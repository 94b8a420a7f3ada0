"""Propose-test-release: the test, its threshold, and the mechanism that all statistics share.

Let D(x) be a whole number for each dataset. It differs by at most 1 between neighbors, and is 0 for
every x with a neighbor x' such that |f(x) - f(x')| > b. (The smallest number of rows that have to
change until the local sensitivity is above b is such a number. So is every smaller number that
differs by at most 1 between neighbors.) Let K be discrete Laplace, P(K = k) ~ e^(-epsilon1 |k|),
and t a threshold. The release is

    if D(x) + K < t: no answer; else f(x) + Laplace noise of scale b / epsilon2.

Theorem. For neighbors this is (epsilon1 + epsilon2, delta)-DP with

    delta = P(K >= t) = e^(-epsilon1 t) / (1 + e^(-epsilon1)),  t >= 0,

and no smaller epsilon or delta holds for all data. (Dwork and Lei, STOC 2009; the constants are
derived here.)

Proof. There are two cases:

* D(x) > 0 or D(x') > 0. Then f(x) and f(x') are at most b apart. Whether there is an answer follows
  from D + K, which is epsilon1-DP. The answer itself is epsilon2-DP.
* D is 0 for both. Then each passes the test with probability delta, and "no answer" has the same
  probability for both.

Both bounds are attained: delta if D is 0 for x and x' and f(x) and f(x') are far apart, and
epsilon1 + epsilon2 for answers beyond f(x) and f(x') if these are b apart and D is d and d + 1,
both below t.

So the test needs the whole delta. Two values that are found in print are not enough: test noise of
scale 1 / (2 epsilon1) instead of 1 / epsilon1, and a threshold of ln(2 / delta) / (2 epsilon).

For a public c, min(D, c) is such a number, too. So distances are computed only up to c = 4 t. Data
at that distance are refused with a probability below delta**3.

Rounding to float64 changes f by at most `error`, so the noise is made for b + 2 error, rounded up.
The bound A(k) on the local sensitivity within k changed rows is rounded to the nearest float64
before it is compared with b. Rounding is nondecreasing, so the distance still differs by at most 1
between neighbors, and the sensitivity is at most the next float64 above b.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..._core import checks
from ..._core.error_bars import ErrorBar
from ...budget.mechanism import Mechanism
from ...noise import samplers as _noise
from ...noise.additive import amount
from ...noise.distributions import Laplace
from ...noise.distributions.base import context
from ...noise.distributions.discrete import laplace_integers
from ...noise.grid import public_grid
from ...privacy import Approx, Loss, float_down
from ...rng import Generator
from .answer import NO_ANSWER, NoAnswer

_FARTHEST = 4  # distances are read up to this many thresholds
_NOTE = "by the distribution of the noise, if there is an answer"


@lru_cache(maxsize=256)
def threshold(epsilon: Fraction, delta: Fraction) -> int:
    """Return the least threshold t >= 0 with ``e^(-epsilon t) / (1 + e^(-epsilon)) <= delta``."""
    mp = context(256)
    e, d = (mp.mpf(x.numerator) / x.denominator for x in (epsilon, delta))
    exact = -mp.log(d * (1 + mp.exp(-e))) / e
    # Rounded up if 256 bits do not decide. Too high a threshold is safe: it only costs answers.
    return max(0, int(mp.ceil(exact + mp.ldexp(1 + abs(exact), -200))))


@dataclass(frozen=True, slots=True)
class DistanceTest:
    """Private test whether the data are far from data of a larger sensitivity than proposed."""

    epsilon: Fraction
    delta: Fraction

    @property
    def threshold(self) -> int:
        return threshold(self.epsilon, self.delta)

    @property
    def farthest(self) -> int:
        """The public distance to which larger distances are clamped."""
        return _FARTHEST * max(self.threshold, 1)

    def passes(self, distance: int, generator: Generator) -> bool:
        """Tell whether the distance with discrete Laplace noise reaches the threshold."""
        noise = np.empty(1, np.int64)
        stream = generator.stream()
        laplace_integers(noise, 1 / self.epsilon, stream, None, stream.word)
        return min(distance, self.farthest) + int(noise[0]) >= self.threshold


class Measured(NamedTuple):
    """A statistic, and the distance to data with a larger sensitivity; NOT PRIVATE."""

    value: float
    distance: int


def with_noise(value: float, scale: float, grid: float, generator: Generator) -> float:
    """Return the value with Laplace noise of a scale, rounded to a grid."""
    return _noise.draw(Laplace(), value=value, scale=scale, granularity=grid, generator=generator)


@dataclass(frozen=True, slots=True)
class Proposal(Mechanism[float | NoAnswer]):
    """The mechanism: a statistic with noise for a proposed sensitivity, if the test passes."""

    name: str
    lo: float
    hi: float
    neighbors: str
    loss: Approx
    test: DistanceTest
    scale: float
    grid: float
    proposed: float
    measure: Callable[[Any, float, int], Measured]
    of_ranks: bool = False  # whether the statistic reads order statistics
    missing: str | float | None = None

    @property
    def noise_parameters(self) -> dict[str, Any]:
        return {"scale": self.scale}

    def reduce(self, source: Any) -> Measured:
        return self.measure(source, self.proposed, self.test.farthest)

    def finish(self, summary: Measured, generator: Generator) -> float | NoAnswer:
        if not self.test.passes(summary.distance, generator):
            return NO_ANSWER
        noisy = with_noise(summary.value, self.scale, self.grid, generator)
        return min(max(noisy, self.lo), self.hi)

    def error(self, rows: int | None, confidence: float) -> ErrorBar:
        """Return the error bar of an answer; the noise does not depend on the test's result."""
        size = self.scale * -math.log(1 - confidence) + self.grid
        return ErrorBar(confidence, min(size, self.hi - self.lo), note=_NOTE)


def split(loss: Loss, test_share: Any) -> tuple[Approx, DistanceTest, Fraction]:
    """Return the whole loss, the test with its share of epsilon, and the epsilon for the noise."""
    if not isinstance(loss, Approx):
        checks.fail("delta", "greater than 0 and less than 1: the test needs it", 0)
    part = checks.fraction("test_share", test_share)
    if not 0 < part < 1:
        checks.fail("test_share", "more than 0 and less than 1", test_share)
    amount(loss)
    test = DistanceTest(part * loss.epsilon, loss.delta)
    for epsilon in (test.epsilon, loss.epsilon - test.epsilon):
        if epsilon < Fraction(1, 2**40):
            checks.fail("test_share", "such that each part of epsilon is at least 2**-40", part)
    return loss, test, loss.epsilon - test.epsilon


def laplace_scale(sensitivity: float, error: float, epsilon: Fraction) -> float:
    """Return the scale of Laplace noise for a sensitivity and rounding errors, rounded up."""
    wide = math.nextafter(sensitivity, math.inf) * (1 + 2.0**-50) + 2 * error
    return math.nextafter(wide / float_down(epsilon) * (1 + 2.0**-50), math.inf)


def proposal(
    name: str,
    measure: Callable[[Any, float, int], Measured],
    limits: tuple[float, float],
    loss: Loss,
    neighbors: str,
    proposed: Any,
    test_share: Any,
    of_ranks: bool = False,
    missing: str | float | None = None,
) -> Proposal:
    """Return the propose-test-release mechanism of a measured statistic, from checked arguments.

    Parameters
    ----------
    measure : callable
        ``measure(source, proposed, most)`` returns a statistic, and a distance up to `most`.
    limits : (float, float)
        The loss of an answer.
    """
    lo, hi = limits
    size, (whole, test, left) = checks.positive("proposed", proposed), split(loss, test_share)
    scale = laplace_scale(size, 2.0**-51 * max(abs(lo), abs(hi), hi - lo), left)
    if not 2.0**-900 < scale < 2.0**900:
        rule = "such that the noise, proposed / epsilon, lies between 2**-900 and 2**900"
        checks.fail("proposed", rule, proposed)
    fine = math.ldexp(1.0, max(math.frexp(scale)[1] - 31, -1000))
    grid = min(public_grid(lo, hi), fine) if lo < hi else fine
    of_rows: Any = {"measure": measure, "of_ranks": of_ranks, "missing": missing}
    return Proposal(name, lo, hi, neighbors, whole, test, scale, grid, size, **of_rows)


def first_above(at: Callable[[int], float], limit: float, most: int, stop: int) -> int:
    """Return the least k with ``at(k) > limit``, or `most` if that is less, by bisection.

    `at` increases, and is constant from `stop` on.
    """
    high = min(most, stop + 1)
    if high <= 0 or at(high - 1) <= limit:
        return most
    low, high = -1, high - 1  # invariant: at(low) <= limit < at(high)
    while high - low > 1:
        middle = (low + high) // 2
        if at(middle) > limit:
            high = middle
        else:
            low = middle
    return high
