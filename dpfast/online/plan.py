"""The allocation of a loss to the noise of a stream of linear queries, and its accuracy.

A stream has `hard` answers with noise, and a noisy comparison that decides which queries are hard.
Let G bound ``abs(rho - nu)`` of the comparison for all queries together, and let H bound the noise
of all hard answers. Each bound fails with a third of the probability `failure`. The threshold is
``T = accuracy - G``. Then:

* an easy answer has an error below T + G = accuracy;
* a hard answer has an error of at most H, which must be at most the accuracy;
* a query is hard only if the error of its easy answer would be above T - G, which must be at least
  0.

So accuracies down to max(2 G, H) are possible. If also T - G is at least H, every hard answer is on
the same side of the guess as the data. Privacy does not depend on these bounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from .._core import checks
from ..errors import ArgumentError
from ..noise.additive import amount
from ..noise.calibrated_integer import IntegerNoise, integer_noise
from ..noise.sensitivity import Sensitivity
from ..privacy import Loss, Pure
from .noisy_comparison import Scales, allocate

#: The shares of the loss for hard answers that are tried. The best share is used.
SHARES = [Fraction(i, 16) for i in range(1, 16)]
LEAST_BITS, MOST_BITS = 4, 24


@dataclass(frozen=True, slots=True)
class Plan:
    """The noise in units of ``2**-bits`` rows, and its bounds G and H as fractions of the rows."""

    bits: int
    scales: Scales
    noise: IntegerNoise
    spent: Loss
    comparison: float
    answer: float

    def threshold(self, accuracy: float, rows: int) -> int:
        """Return the threshold T for an accuracy, in units."""
        return math.ceil((accuracy - self.comparison) * (rows << self.bits))

    @property
    def least(self) -> float:
        """The least accuracy that this plan allows."""
        return max(2 * self.comparison, self.answer)


class Doubt(NamedTuple):
    """The unit and the sensitivity of the integer that is compared with the threshold.

    The integer `units` stands for the number 1. To allocate the loss, the number 1 counts as the
    fraction `weight` of the rows.
    """

    sensitivity: int
    units: float
    weight: float


@lru_cache(maxsize=256)
def plan(
    loss: Loss,
    rows: int,
    hard: int,
    queries: int,
    failure: float,
    bits: int,
    doubt: Doubt | None = None,
) -> Plan:
    """Return the allocation of the loss with the least (best) possible accuracy.

    Queries are rounded to `bits` bits, or to fewer bits if the noise would be too large for the
    samplers. Without `doubt`, the distance in rows is compared with the threshold.
    """
    amount(loss)
    bits = min(bits, MOST_BITS, 52 - rows.bit_length())  # so that sums are exact in float64
    # Minus the logarithm of a third of the failure probability, for one draw.
    rare = math.log(3) - math.log(failure)

    def shared(share: Fraction) -> Plan:
        unit, whole = 1 << bits, float(rows << bits)
        sensitivity, units = (unit, whole) if doubt is None else (doubt.sensitivity, doubt.units)
        scales, spent, of_answer = allocate(loss, sensitivity, hard, False, share)
        assert of_answer is not None
        # The tail of staircase noise has no simple formula, but the stated accuracy needs one.
        laplace = "laplace" if isinstance(of_answer, Pure) else None
        noise = integer_noise(of_answer, Sensitivity.of_one(unit), laplace)
        draws = hard if scales.renewed else 1
        comparison = float(scales.threshold) * (math.log(draws) + rare)
        comparison += float(scales.query) * (math.log(queries) + rare)
        width = math.ldexp(float(noise.scale), noise.shift)
        if noise.distribution == "laplace":
            answer = width * (math.log(hard) + rare)
        else:  # P(|Z| > t) <= 2 exp(-t^2 / (2 sigma^2)) for a discrete Gaussian
            answer = width * math.sqrt(2 * (math.log(2 * hard) + rare))
        return Plan(bits, scales, noise, spent, comparison / units, answer / whole)

    while True:
        try:
            weight = 2 if doubt is None else doubt.weight
            return min(map(shared, SHARES), key=lambda p: weight * p.comparison + p.answer)
        except ArgumentError:
            if bits <= LEAST_BITS:
                rule = f"larger, because the noise of {hard} hard answers is too large"
                checks.fail("epsilon or rho", rule, float(amount(loss)))
            bits -= 1
